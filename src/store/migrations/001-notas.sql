-- Every key begins with the tenant, and every statement that writes or locks names one tenant, so that the whole
-- schema distributes by tenant. Published names are columns with the same spelling.

create table municipios (
  tenant text primary key check (tenant ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
  ambiente text not null check (ambiente in ('producao', 'homologacao')),
  -- Null for the sandbox, which is every municipality's.
  codigo_ibge text check (codigo_ibge ~ '^[0-9]{7}$'),
  criado_em timestamptz not null
);

-- The municipal registry: one row an establishment, of which a document may have several.
create table prestadores (
  tenant text not null references municipios,
  documento text not null check (length(documento) in (11, 14)),
  inscricao_municipal text not null default '',
  razao_social text not null,
  nome_fantasia text,
  autorizado boolean not null,
  logradouro text not null,
  numero text not null,
  complemento text,
  bairro text not null,
  cep text not null,
  fone text,
  email text,
  -- 'cadastro' by the municipality, 'dps' by the first DPS in the sandbox.
  origem text not null check (origem in ('cadastro', 'dps')),
  criado_em timestamptz not null,
  primary key (tenant, documento, inscricao_municipal)
);

-- The municipal service list; a municipality without one administers every national code.
create table servicos_municipais (
  tenant text not null references municipios,
  codigo text not null,
  inicio date not null,
  fim date,
  descricao text not null,
  codigo_tributacao_nacional text not null,
  cnae_codigo text,
  aliquota numeric(5, 2),
  primary key (tenant, codigo, inicio)
);

-- Last NFS-e number of each provider; taken in the transaction that stores the note, so that there are no gaps.
create table numeracao (
  tenant text not null references municipios,
  prestador text not null,
  ultimo bigint not null,
  primary key (tenant, prestador)
);

-- Numbers that may have gaps (the document number of the environment, nDFSe), taken in blocks by each process.
create table sequencias (
  tenant text not null references municipios,
  nome text not null,
  proximo bigint not null,
  primary key (tenant, nome)
);

-- The row is the job: due_at says when it wants attention, claims who has it.
create table notas (
  tenant text not null,
  id bigint not null,
  chave_acesso text not null,
  numero_protocolo text not null,
  id_dps text not null,
  estado text not null check (estado in ('emitida', 'transmitida', 'autorizada', 'recusada', 'cancelada')),
  movimentos smallint not null default 1,
  due_at timestamptz,
  claims uuid,
  tentativas integer not null default 0,
  numero_dps bigint not null,
  serie_dps text not null,
  numero_dps_nacional text not null,
  data_emissao timestamptz not null,
  data_competencia date not null,
  data_autorizacao timestamptz,
  data_cancelamento timestamptz,
  mensagem_retorno text,
  prestador_cpf_cnpj text not null,
  prestador_razao_social text not null,
  prestador_inscricao_municipal text,
  tomador_cpf_cnpj text,
  tomador_razao_social text,
  valor_servico numeric(17, 2) not null,
  valor_issqn numeric(17, 2),
  valor_base_calculo numeric(17, 2),
  aliquota_issqn numeric(5, 2),
  primary key (tenant, id)
);

create unique index notas_chave on notas (tenant, chave_acesso);
create unique index notas_protocolo on notas (tenant, numero_protocolo);
-- A refused note sets series and number free (D-20); every other one holds them (E0014).
create unique index notas_dps on notas (tenant, id_dps) where estado <> 'recusada';
create index notas_due on notas (tenant, due_at) where due_at is not null;

-- Written once, read seldom, never changed: kept apart so that a move of the note copies a short row.
create table documentos (
  tenant text not null,
  nota bigint not null,
  -- The exact bytes that were received, with the provider's signature: the evidence (D-34).
  recebido bytea not null,
  nfse bytea not null,
  primary key (tenant, nota)
);

-- Compressing costs more than all the rest of storing a note (measured: 50 of 80 microseconds), and saves less than half.
alter table documentos alter recebido set storage external, alter nfse set storage external;

-- The moves that each nota has made.
create table trilha_notas (
  tenant text not null,
  nota bigint not null,
  movimento smallint not null,
  em timestamptz not null,
  de text,
  gatilho text not null,
  para text not null,
  primary key (tenant, nota, movimento)
);
