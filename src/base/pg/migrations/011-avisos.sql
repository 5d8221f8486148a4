-- Where changes are told to: addresses of a CNPJ or CPF, or of the municipality itself, and what is told to each.
create table webhooks (
  tenant text not null,
  id text not null,
  -- Empty: of the municipality, for the notes of everybody.
  documento text not null check (documento = '' or length(documento) in (11, 14)),
  url text not null,
  -- Names of changes; empty: all of them.
  tipos text[] not null,
  descricao text,
  segredo bytea not null,
  -- The secret before it was changed, and until when it signs as well.
  segredo_anterior bytea,
  anterior_ate timestamptz,
  ativo boolean not null default true,
  criado_em timestamptz not null,
  -- Failures in a row of whatever is told, and when the next one is worth it. Null: there is nothing to tell.
  falhas integer not null default 0,
  proxima timestamptz,
  -- Who is telling just now, and until when nobody else is.
  claims uuid,
  reservado_ate timestamptz,
  -- The last thing that went wrong, and when.
  problema text,
  problema_em timestamptz,
  primary key (tenant, id)
);

create index webhooks_documento on webhooks (tenant, documento);
create index webhooks_proxima on webhooks (tenant, proxima) where ativo and proxima is not null;

-- What is to be told to an address, in the order of the changes (`ordem`: block and place in it).
create table entregas (
  tenant text not null,
  webhook text not null,
  ordem bigint not null,
  nota bigint not null,
  -- The change, as a line of `mudancas`; null of a trial.
  mudanca text,
  -- Place of its reader once he has it; null where the address is the municipality's.
  cursor text,
  estado text not null check (estado in ('pendente', 'entregue', 'morta')),
  tentativas integer not null default 0,
  due_at timestamptz not null,
  criada_em timestamptz not null,
  entregue_em timestamptz,
  -- What came of each attempt.
  registro jsonb not null default '[]',
  primary key (tenant, webhook, ordem)
) with (fillfactor = 70);

-- The oldest first, and of a note whether an earlier one waits.
create index entregas_ordem on entregas (tenant, webhook, ordem) where estado = 'pendente';
create index entregas_nota on entregas (tenant, webhook, nota, ordem) where estado = 'pendente';
create index entregas_mortas on entregas (tenant, webhook, ordem) where estado = 'morta';

alter table webhooks alter column tenant set statistics 0;
alter table entregas alter column tenant set statistics 0;
