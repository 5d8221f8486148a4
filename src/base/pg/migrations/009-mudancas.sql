-- What becomes of notes and events, in an order that is told once and stays: who keeps a place in it misses nothing.

alter table notas add column intermediario_cpf_cnpj text;

-- passo
create index concurrently notas_intermediario on notas (tenant, intermediario_cpf_cnpj, data_emissao) where intermediario_cpf_cnpj is not null;

-- passo
-- Changes that have no place yet: a row a transaction, written in it, and gone when they have one. `mudancas`: a line each.
create table mudancas_novas (
  tenant text not null,
  id uuid not null,
  mudancas text not null,
  primary key (tenant, id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

-- The last block of places that a tenant has given, and the oldest that is kept. Whoever gives places holds the row until his commit, so
-- that a block is never seen before one with a lower number.
create table mudancas_ate (
  tenant text primary key,
  bloco bigint not null,
  mais_antigo bigint not null default 1
);

-- The changes of a block that are of one CNPJ or CPF, as provider, taker or intermediary, in their order: a line each.
create table mudancas (
  tenant text not null,
  documento text not null,
  bloco bigint not null,
  em timestamptz not null,
  mudancas text not null,
  primary key (tenant, documento, bloco)
);

-- Which are old. Not by the block: who looks for those of a document would seem to find them as well by that.
create index mudancas_em on mudancas (tenant, em);

alter table mudancas_novas alter column tenant set statistics 0;
alter table mudancas alter column tenant set statistics 0;
