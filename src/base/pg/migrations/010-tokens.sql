-- Tokens by which a provider, a taker or an intermediary asks without its certificate. The token itself is kept nowhere: SHA-256 of it is.
create table tokens (
  tenant text not null,
  id text not null,
  documento text not null check (length(documento) in (11, 14)),
  impressao bytea not null check (length(impressao) = 32),
  escopos text[] not null,
  criado_em timestamptz not null,
  expira_em timestamptz not null,
  revogado_em timestamptz,
  -- By what it was given: a signed request, the certificate of the connection, or nothing, in a sandbox.
  por text not null check (por in ('assinatura', 'certificado', 'ensaio')),
  -- Identifier of the signed request, which serves once.
  pedido text,
  primary key (tenant, id)
);

create unique index tokens_impressao on tokens (tenant, impressao);
create unique index tokens_pedido on tokens (tenant, documento, pedido);
create index tokens_documento on tokens (tenant, documento, criado_em);

alter table tokens alter column tenant set statistics 0;
