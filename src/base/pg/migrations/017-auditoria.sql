-- The audit chain: what was written of a municipality, a row a transaction, each with a digest of every row that it wrote. Transactions that
-- overlap are committed in any order, so an entry is written without a place; who finds it committed gives it one, and with that the hash
-- that ties it to the one before.
create table auditoria (
  tenant text not null,
  id uuid not null,
  -- By the clock of the database, when the entry was written: after the rows that it speaks of were locked.
  em timestamptz not null default statement_timestamp(),
  -- Why rows are told that nobody wrote just then, as when the chain began; null of what was written.
  sobre text,
  -- The rows by their keys, a line each.
  itens text not null,
  -- SHA-256 of what each says, 32 octets a line.
  resumos bytea not null,
  -- From here on null without a place. The seed of what keeps a digest from being guessed, the root of the tree of all, the hash of the chain.
  lugar bigint,
  sal bytea,
  raiz bytea,
  elo bytea,
  primary key (tenant, id)
);

create unique index auditoria_lugar on auditoria (tenant, lugar) where lugar is not null;
create index auditoria_sem_lugar on auditoria (tenant, em) where lugar is null;

-- The end of the chain. Whoever gives places holds the row until his commit.
create table auditoria_ate (
  tenant text primary key,
  lugar bigint not null default 0,
  elo bytea,
  -- How far the rows have come that were there before the chain, and when all of them were told; null: they are not yet.
  abrindo text,
  aberta_em timestamptz,
  -- The last verification, and how much it found.
  conferida_em timestamptz,
  conferida_ate bigint,
  achados integer
);

-- The end of the chain of a day, signed by the municipality.
create table auditoria_selos (
  tenant text not null,
  dia date not null,
  lugar bigint not null,
  -- What was signed, as it was signed, and the detached CMS over it, in DER.
  texto text not null,
  assinatura bytea not null,
  em timestamptz not null,
  primary key (tenant, dia)
);

alter table auditoria alter column tenant set statistics 0;
alter table auditoria_selos alter column tenant set statistics 0;
