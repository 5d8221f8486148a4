-- Imports of registers of a municipality, each with what it changed, so that the last one of a register can be undone.

create table importacoes (
  tenant text not null,
  id uuid not null,
  em timestamptz not null,
  -- 'prestadores', the name of a list, 'correlacao'.
  registro text not null,
  -- Among those of the register, whatever the clock says.
  ordem bigint not null,
  arquivo text not null,
  quem text not null,
  via text not null,
  desfeita_em timestamptz,
  primary key (tenant, id)
);

create unique index importacoes_ordem on importacoes (tenant, registro, ordem);

-- A row as it was before the import (null: it was not there) and as the import left it (null: it took it away), whole.
create table mudancas_importadas (
  tenant text not null,
  importacao uuid not null,
  tabela text not null,
  -- What the row is known by, with spaces between.
  chave text not null,
  antes jsonb,
  depois jsonb,
  primary key (tenant, importacao, tabela, chave)
);

alter table mudancas_importadas alter column tenant set statistics 0;
