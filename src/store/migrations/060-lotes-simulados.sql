-- What the local authority is asked to play with the notes of a lot, in the sandbox (D-60).
alter table lotes add column simular text;

-- passo
-- Whether somebody has replaced a note is asked for each that a lot replaces; few notes replace another.
create index concurrently notas_substitui on notas (tenant, substitui) where substitui is not null;
