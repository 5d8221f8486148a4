-- The request of an event that does not name its note is refused: signed once, it would serve on any other of its author.
alter table municipios add column exige_nota_no_evento boolean not null default false;
