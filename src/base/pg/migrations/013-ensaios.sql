-- Sandboxes of one's own: tenants that somebody made for himself, with a clock of their own, and that end by themselves.

alter table municipios add column ensaio_ate timestamptz;

-- passo
-- How far the clock of a tenant is ahead of that of the machine; below 0: behind.
alter table municipios add column relogio_ms bigint not null default 0;

-- passo
-- What is due of all tenants is asked by the clock of each, without a look at their settings.
create index concurrently municipios_relogio on municipios (tenant, relogio_ms);

-- passo
-- In a sandbox of one's own: whether providers must be in its register, and be authorised, as in production.
alter table municipios add column exige_cadastro boolean not null default false;

-- passo
create table ensaios (
  tenant text primary key references municipios,
  -- SHA-256 of what its owner shows.
  chave bytea not null check (length(chave) = 32),
  nome text,
  -- Network address from which it was made, as a digest: so many a day.
  rede bytea not null,
  criado_em timestamptz not null,
  reiniciado_em timestamptz
);

create index ensaios_rede on ensaios (rede, criado_em);

-- The last requests to a sandbox of one's own, whole, for its owner.
create table ensaio_requisicoes (
  tenant text not null references municipios,
  em timestamptz not null,
  id uuid not null,
  metodo text not null,
  caminho text not null,
  tipo text,
  corpo bytea,
  status smallint not null,
  ms integer not null,
  resposta text,
  primary key (tenant, em, id)
);

alter table ensaio_requisicoes alter column tenant set statistics 0;
