-- Which provider is in which special regime (regEspTrib), and what the municipality does not tax. An empty document is every provider.
create table regimes_especiais (
  tenant text not null references municipios,
  regime text not null check (regime in ('1', '2', '3', '4', '5', '6', '9')),
  documento text not null check (documento = '' or length(documento) in (11, 14)),
  inicio date not null,
  fim date check (fim >= inicio),
  -- National codes; empty: all of them.
  servicos text[] not null,
  primary key (tenant, regime, documento, inicio)
);

create table nao_incidencias (
  tenant text not null references municipios,
  codigo_tributacao_nacional text not null check (codigo_tributacao_nacional ~ '^[0-9]{6}$'),
  documento text not null check (documento = '' or length(documento) in (11, 14)),
  inicio date not null,
  fim date check (fim >= inicio),
  primary key (tenant, codigo_tributacao_nacional, documento, inicio)
);

-- See 002: without statistics of the tenant the longest key always wins.
alter table regimes_especiais alter column tenant set statistics 0;
alter table nao_incidencias alter column tenant set statistics 0;
