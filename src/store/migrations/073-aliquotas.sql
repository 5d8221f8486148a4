-- The rates of the IBS and the CBS are national law and no tenant's: the same two small tables wherever a tenant lies (reference
-- tables, where the schema is distributed). They are written by imports alone, and nothing in them is ever taken away.

-- One state of the rates, from 1 on: what an import made of the one before.
create table tabelas_aliquotas (
  versao integer primary key check (versao > 0),
  em timestamptz not null,
  -- Name of the file, and who imported it, by their name on the machine; null: the table that the program ships.
  arquivo text,
  quem text,
  novas integer not null,
  alteradas integer not null,
  -- Of those, the ones that speak of days that had already passed.
  retroativas integer not null
);

-- Of uf, municipio and c_class_trib empty text means all. Who was judged by version v was judged by the rows that came with v or
-- before, and were not replaced with v or before.
create table aliquotas_ibs_cbs (
  tributo text not null check (tributo in ('IBS-UF', 'IBS-MUN', 'CBS')),
  c_class_trib text not null default '' check (c_class_trib ~ '^([0-9]{6})?$'),
  uf text not null default '' check (uf ~ '^([A-Z]{2})?$' and (uf = '' or tributo = 'IBS-UF')),
  municipio text not null default '' check (municipio ~ '^([0-9]{7})?$' and (municipio = '' or tributo = 'IBS-MUN')),
  inicio date not null,
  fim date check (fim >= inicio),
  -- Percent.
  aliquota numeric(7, 4) not null check (aliquota between 0 and 100),
  fonte text not null,
  ato text not null,
  versao integer not null references tabelas_aliquotas,
  substituida integer references tabelas_aliquotas check (substituida > versao),
  primary key (tributo, c_class_trib, uf, municipio, inicio, versao)
);

-- The version by which the note was judged; null of those that came before there were any.
alter table notas add column tabela_aliquotas integer;
