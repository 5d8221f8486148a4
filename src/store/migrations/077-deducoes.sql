-- Of which services a municipality admits a deduction, and in which forms; a service that is not here admits none.
create table deducoes_admitidas (
  tenant text not null references municipios,
  codigo_tributacao_nacional text not null check (codigo_tributacao_nacional ~ '^[0-9]{6}$'),
  inicio date not null,
  fim date check (fim >= inicio),
  formas text[] not null check (formas <> '{}' and formas <@ '{valor,documentos,percentual}'),
  primary key (tenant, codigo_tributacao_nacional, inicio)
);

-- See 002: without statistics of the tenant the longest key always wins.
alter table deducoes_admitidas alter column tenant set statistics 0;
