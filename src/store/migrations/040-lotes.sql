-- Lots of the legacy port. As with a note, the row is the job: due_at says when it wants attention, claims who has it.
create table lotes (
  tenant text not null references municipios,
  protocolo text not null,
  prestador text not null check (length(prestador) in (11, 14)),
  numero_lote text not null,
  -- SHA-256 of the canonical form of the lot: the same lot sent again is the same row, unless it was refused.
  impressao bytea not null check (length(impressao) = 32),
  -- Of the model: 2 received, 3 processed with error, 4 processed with success.
  situacao smallint not null check (situacao in (2, 3, 4)),
  recebido_em timestamptz not null,
  processado_em timestamptz,
  due_at timestamptz,
  claims uuid,
  tentativas integer not null default 0,
  -- What the model answers of a lot with errors.
  mensagens json,
  primary key (tenant, protocolo),
  -- One that is done is due once more where its notes replace others.
  constraint lotes_due check (case situacao when 2 then due_at is not null when 3 then due_at is null else true end
    and (situacao = 3) = (mensagens is not null))
);

create unique index lotes_impressao on lotes (tenant, prestador, impressao) where situacao <> 3;
create index lotes_due on lotes (tenant, due_at) where due_at is not null;

-- Written once: the document that was received, with its signatures, is the evidence (D-34).
create table documentos_lotes (
  tenant text not null,
  protocolo text not null,
  recebido bytea not null,
  primary key (tenant, protocolo)
);

alter table documentos_lotes alter recebido set storage external;

-- The RPS of each lot; the note is set by the transaction that stores it.
create table lotes_rps (
  tenant text not null,
  protocolo text not null,
  ordem integer not null,
  prestador text not null,
  serie text not null,
  numero text not null,
  tipo text not null,
  nota bigint,
  primary key (tenant, protocolo, ordem)
);

create index lotes_rps_identificacao on lotes_rps (tenant, prestador, numero, serie, tipo);
create index lotes_rps_nota on lotes_rps (tenant, nota) where nota is not null;

-- What a municipality adds to an item of the list of services, or to one of its own codes, for clients that cannot say it.
create table correlacoes_legadas (
  tenant text not null references municipios,
  -- `01.01`
  item text not null check (item ~ '^[0-9]{2}[.][0-9]{2}$'),
  -- Empty: whatever the code is.
  codigo_municipal text not null default '',
  codigo_tributacao_nacional text check (codigo_tributacao_nacional ~ '^[0-9]{6}$'),
  nbs text check (nbs ~ '^[0-9]{9}$'),
  cst text check (cst ~ '^[0-9]{3}$'),
  c_class_trib text check (c_class_trib ~ '^[0-9]{6}$'),
  c_ind_op text check (c_ind_op ~ '^[0-9]{6}$'),
  tp_imunidade text check (tp_imunidade ~ '^[1-5]$'),
  n_bm text check (n_bm ~ '^[0-9]{14}$'),
  primary key (tenant, item, codigo_municipal)
);

alter table municipios
  -- RSA-SHA1 with inclusive canonicalisation is accepted on the legacy port (D-70).
  add column soap_sha1 boolean not null default false,
  -- Target namespace of its description; null: the one of the service of this name in the wild.
  add column soap_namespace text;

-- See 002: without statistics of the tenant the longest key always wins.
alter table lotes alter column tenant set statistics 0;
alter table documentos_lotes alter column tenant set statistics 0;
alter table lotes_rps alter column tenant set statistics 0;
alter table correlacoes_legadas alter column tenant set statistics 0;
