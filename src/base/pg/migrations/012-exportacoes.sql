-- Notes of a CNPJ or CPF as one file, made a part at a time for who asks for it, kept for some days. The row is the job.
create table exportacoes (
  tenant text not null,
  id text not null,
  documento text not null check (length(documento) in (11, 14)),
  formato text not null check (formato in ('xml', 'pdf', 'csv')),
  -- What is asked of the notes, as the list of notes takes it.
  pedida jsonb not null,
  estado text not null check (estado in ('em_andamento', 'pronta', 'falhou')),
  criada_em timestamptz not null,
  pronta_em timestamptz,
  expira_em timestamptz not null,
  -- When it wants attention: a part, or its end. Whoever has it pushes it ahead.
  due_at timestamptz,
  claims uuid,
  -- Of the part that comes next.
  tentativas integer not null default 0,
  -- Where the search goes on; null: at its beginning.
  cursor text,
  partes integer not null default 0,
  notas integer not null default 0,
  -- Entries of the ZIP, bytes of all parts, and bytes of their directory.
  entradas integer not null default 0,
  bytes bigint not null default 0,
  diretorio bigint not null default 0,
  -- Why there is no file.
  motivo text,
  primary key (tenant, id)
);

create unique index exportacoes_em_andamento on exportacoes (tenant, documento) where estado = 'em_andamento';
create index exportacoes_documento on exportacoes (tenant, documento, criada_em);
create index exportacoes_due on exportacoes (tenant, due_at) where due_at is not null;

-- The file is the contents of all parts in their order, and of a ZIP then the directories.
create table exportacoes_partes (
  tenant text not null,
  exportacao text not null,
  parte integer not null,
  conteudo bytea not null,
  diretorio bytea not null,
  -- Notes of the part that have no file, and why: a line each.
  fora text not null,
  primary key (tenant, exportacao, parte)
);

-- It is compressed already, and read by pieces.
alter table exportacoes_partes alter column conteudo set storage external;
alter table exportacoes alter column tenant set statistics 0;
alter table exportacoes_partes alter column tenant set statistics 0;
