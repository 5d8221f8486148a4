-- By which authorities and revocation lists a signature was judged as it came, and what keeps a month from being eliminated.

-- A list as it was when a signature was first judged by it: few a day, whatever the number of notes.
create table listas_revogados (
  tenant text not null references municipios,
  -- SHA-256 of the list.
  impressao bytea not null check (length(impressao) = 32),
  der bytea not null,
  primary key (tenant, impressao)
);

-- What a signature was judged by: authorities (`certificados`) from the one that issued the signer's certificate to the anchor, and their
-- lists. Documents name it, and the signer's certificate is in them.
create table fundamentos (
  tenant text not null references municipios,
  id integer not null,
  -- SHA-256 of what it has.
  impressao bytea not null check (length(impressao) = 32),
  -- When it was judged by first.
  em timestamptz not null,
  cadeia bytea[] not null,
  listas bytea[] not null,
  primary key (tenant, id)
);

-- Months of a municipality of which nothing is eliminated, whatever its age, until somebody takes this away.
create table retencoes (
  tenant text not null references municipios,
  mes integer not null,
  motivo text not null,
  quem text not null,
  desde timestamptz not null,
  primary key (tenant, mes)
);

create unique index fundamentos_impressao on fundamentos (tenant, impressao);

alter table fundamentos alter column tenant set statistics 0;

-- passo
-- Null: before this was kept, or nobody was judged.
alter table documentos add column confianca integer;

-- passo
alter table documentos_eventos add column confianca integer;

-- passo
alter table documentos_lotes add column confianca integer;

-- passo
-- When a month was eliminated, and on whose authority; its rows and files are gone.
alter table meses add column eliminado_em timestamptz;

-- passo
alter table meses add column eliminado_por text;
