-- Answers to requests that came with a key of their sender's (D-19). A row is written in the transaction that stores the
-- note or the event, so that there are both or neither; refusals, which store nothing else, are kept after the fact.
create table idempotencia (
  tenant text not null references municipios,
  -- SHA-256 of whose the key is and of the key: the key itself is of no use here.
  impressao bytea not null check (length(impressao) = 32),
  -- Address below the municipality, and SHA-256 of the body: what a repetition must be the same in.
  rota text not null,
  corpo bytea not null check (length(corpo) = 32),
  status smallint not null,
  nota bigint,
  evento bigint,
  -- The remarks of a positive answer, the faults of a refusal. As text, so that they are told in the order in which they were.
  avisos json,
  recusa json,
  criado_em timestamptz not null,
  primary key (tenant, impressao),
  constraint idempotencia_resposta check (num_nonnulls(nota, evento, recusa) = 1 and (avisos is null) = (recusa is not null))
);

-- What is past its time.
create index idempotencia_antigas on idempotencia (tenant, criado_em);

-- See 002: without statistics of the tenant the longest key always wins.
alter table idempotencia alter column tenant set statistics 0;
