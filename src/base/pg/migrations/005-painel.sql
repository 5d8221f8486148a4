-- Who works in the console, what each may do, and what was done by hand.

-- Accounts are the installation's, not a tenant's: one may work for several municipalities (reference tables, where the schema is
-- distributed). The password is a hash of argon2id as a PHC string; invitations are kept as SHA-256.
create table contas (
  id uuid primary key,
  -- In lower case.
  login text not null check (login = lower(login) and length(login) between 3 and 100),
  nome text not null,
  -- Null: nobody has accepted the invitation, or the person enters by the identity provider alone.
  senha text,
  senha_em timestamptz,
  -- Secret of the one-time codes (RFC 6238), in Base32.
  totp text,
  -- Wrong ones in a row: who has the password must not guess on.
  codigos_errados smallint not null default 0,
  oidc_emissor text,
  oidc_sujeito text,
  bloqueada_em timestamptz,
  convite bytea check (length(convite) = 32),
  convite_expira_em timestamptz,
  criada_em timestamptz not null,
  constraint contas_convidadas check ((convite is null) = (convite_expira_em is null)),
  constraint contas_oidc check ((oidc_emissor is null) = (oidc_sujeito is null))
);

create unique index contas_login on contas (login);
create unique index contas_convite on contas (convite);
create unique index contas_sujeito on contas (oidc_emissor, oidc_sujeito);

-- Keys of WebAuthn by their credential identifiers, in Base64url.
create table passkeys (
  id text primary key,
  conta uuid not null references contas,
  chave bytea not null,
  contador bigint not null,
  transportes text[] not null,
  nome text not null,
  criada_em timestamptz not null
);

create index passkeys_conta on passkeys (conta);

create table papeis (
  conta uuid not null references contas,
  municipio text not null,
  papel text not null check (papel in ('leitura', 'atendimento', 'operacao', 'administracao')),
  primary key (conta, municipio)
);

-- Who is inside, by SHA-256 of the cookie. Not kept over a crash of the database, nor on a replica: everybody then enters again.
create unlogged table sessoes (
  impressao bytea primary key check (length(impressao) = 32),
  -- Null: somebody who is on the way from the identity provider.
  conta uuid,
  etapa text not null check (etapa in ('identidade', 'segundo_fator', 'inteira')),
  criada_em timestamptz not null,
  vista_em timestamptz not null,
  rede text not null,
  navegador text not null,
  -- What the browser or the identity provider has yet to answer.
  desafio text,
  -- The step of the one-time code that was used: no code serves twice.
  passo bigint,
  -- By what the second factor was given; null: by none.
  fator text check (fator in ('codigo', 'passkey', 'provedor')),
  -- What the next page says once.
  recado text,
  encerrada_em timestamptz
);

create index sessoes_conta on sessoes (conta);
create unique index sessoes_passo on sessoes (conta, passo);

-- What was done by hand, in the console or by a command, and who was refused: the trail of all but notes and events, which have their own.
create table atos (
  tenant text not null,
  em timestamptz not null,
  id uuid not null,
  quem text not null,
  via text not null check (via in ('painel', 'comando')),
  -- What it was done to: a kind of thing, and which.
  objeto text not null,
  chave text not null,
  acao text not null,
  motivo text,
  antes jsonb,
  depois jsonb,
  primary key (tenant, em, id)
);

create index atos_objeto on atos (tenant, objeto, chave, em);

alter table atos alter column tenant set statistics 0;
