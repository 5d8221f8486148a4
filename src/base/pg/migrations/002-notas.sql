-- What grows with every note is kept by month (`mes`, as 202611: when it was issued, for good): a partition a month, made ahead by
-- `meses.ts`, which also says how each is stored. The access key has the month (AAMM), the protocol number begins with it. `mes` stands
-- behind what tells rows apart in the indexes of these tables, which must have it: where it came first, a table without statistics would
-- seem to have one row a tenant and month, and any index would do.

-- Months that have partitions.
create table meses (
  mes integer primary key check (mes between 200001 and 299912 and mes % 100 between 1 and 12),
  -- Since when the documents and moves of the month stand in files.
  arquivado_em timestamptz
);

-- Last NFS-e number of each provider; taken in the transaction that stores the note, so that there are no gaps.
create table numeracao (
  tenant text not null references municipios,
  prestador text not null,
  ultimo bigint not null,
  primary key (tenant, prestador)
);

-- Where the automatic numbers of a series have got ahead of the NFS-e number, because those between were taken by the sender's own hand:
-- the next to try. Read and written under the lock of the provider's row in numeracao; a series that never was ahead has no row.
create table numeracao_dps (
  tenant text not null references municipios,
  -- What the identifiers of the DPS of one series begin with: municipality, provider and series.
  serie text not null,
  proximo bigint not null,
  primary key (tenant, serie)
);

-- Numbers that may have gaps (the document number of the environment, nDFSe), taken in blocks by each process.
create table sequencias (
  tenant text not null references municipios,
  nome text not null,
  proximo bigint not null,
  primary key (tenant, nome)
);

-- The DPS that are notes, of all times: a refused note sets series and number free (D-20) and has no row; every other one holds them
-- (E0014). Key and protocol number have their month inside, so that the months' own indexes keep them apart for ever.
create table identidades (
  tenant text not null,
  id_dps text not null,
  nota bigint not null,
  mes integer not null,
  primary key (tenant, id_dps)
);

create table notas (
  tenant text not null,
  mes integer not null,
  id bigint not null,
  chave_acesso text not null,
  numero_protocolo text not null,
  id_dps text not null,
  estado text not null check (estado in ('emitida', 'retida', 'transmitida', 'autorizada', 'recusada', 'cancelada')),
  movimentos integer not null default 1,
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
  -- Key of the note that it replaces.
  substitui text,
  -- What the local authority is asked to play with a note (D-60); null for nearly all, and always in production.
  simular text,
  -- The version of the rates by which the note was judged.
  tabela_aliquotas integer,
  -- What the national environment was sent and has answered. The signature alone is kept, because the rest of the signed
  -- document is the NFS-e as it was written; the certificates are few and stand apart.
  -- The highest reception number known when the note was first announced: a lost answer is looked for from there on.
  nsu_antes bigint,
  nsu_recepcao bigint,
  assinatura bytea,
  -- SHA-256 of the certificate that signed.
  certificado bytea,
  primary key (tenant, id, mes),
  -- One key in a month is one key for ever.
  constraint notas_mes check (mes = 200000 + substr(chave_acesso, 37, 4)::integer and mes = left(numero_protocolo, 6)::integer)
) partition by list (mes);

create unique index notas_chave on notas (tenant, chave_acesso, mes);
create unique index notas_protocolo on notas (tenant, numero_protocolo, mes);
-- Of a provider, in a period.
create index notas_periodo on notas (tenant, prestador_cpf_cnpj, data_emissao);

-- Written once, read seldom: kept apart so that a move of the note copies a short row. The documents of a note some days after its end are
-- compressed together (pacote) with the dictionary of a number (dicionario), instead of whole; the signer's certificate stands once for
-- all notes, and beside them what a search looks for in the note (partes). Where the month was archived there is no row.
create table documentos (
  tenant text not null,
  mes integer not null,
  nota bigint not null,
  -- The exact bytes that were received, with the provider's signature: the evidence (D-34).
  recebido bytea,
  nfse bytea,
  -- The signature that came in the header of a JSON body: with the body's bytes it is the evidence, as an XML has its own
  -- inside. Null for an XML, and for a body that came unsigned in the sandbox.
  recebido_assinatura text,
  pacote bytea,
  dicionario smallint,
  certificado bytea,
  partes text,
  primary key (tenant, nota, mes),
  constraint documentos_inteiros check (num_nonnulls(recebido, nfse) = case when pacote is null then 2 else 0 end)
) partition by list (mes);

-- Compressing on the way costs more than all the rest of storing a note (measured: 50 of 80 microseconds), and saves less than half.
alter table documentos alter recebido set storage external, alter nfse set storage external, alter pacote set storage external;

-- Up to which note the documents of a tenant were looked at, in a month.
create table documentos_comprimidos (
  tenant text not null references municipios,
  mes integer not null,
  ate bigint not null,
  primary key (tenant, mes)
);

-- The files that months were archived in, a row each; of a month that was brought back and archived again there are several, and the
-- last one counts. Files and rows stay for good.
create table arquivos (
  tenant text not null,
  mes integer not null,
  geracao integer not null,
  -- Below the folder of the archive, or the prefix of its bucket.
  nome text not null,
  bytes bigint not null,
  -- Of the whole file.
  sha256 bytea not null check (length(sha256) = 32),
  -- Of the file of the tenant that was written before this one: a chain, of which this table has the end.
  anterior bytea,
  -- SHA-256 of the certificate by which the municipality has signed.
  certificado bytea,
  -- Rows by their tables.
  linhas jsonb not null,
  criado_em timestamptz not null,
  -- When it was read back, and signed. It is told before it lies in its place: until then it may be there or not, whole or by halves.
  pronto_em timestamptz,
  -- When all of it was in the database again.
  trazido_em timestamptz,
  constraint arquivos_pkey primary key (tenant, mes, geracao),
  -- A chain has no branches.
  constraint arquivos_elo unique nulls not distinct (tenant, anterior)
);

-- The moves that each nota has made; who made one by hand, by their name on the machine, and why; null where the service moved by itself.
create table trilha_notas (
  tenant text not null,
  mes integer not null,
  nota bigint not null,
  movimento integer not null,
  em timestamptz not null,
  de text,
  gatilho text not null,
  para text not null,
  mensagem text,
  quem text,
  primary key (tenant, nota, mes, movimento)
) partition by list (mes);

-- Notes that replace another of their own party, by the key of that one: few.
create table substituicoes (
  tenant text not null,
  substituida text not null,
  nota bigint not null,
  mes integer not null,
  primary key (tenant, substituida, nota)
);

-- Notes that are held until a table of rates is published that is newer than the one that judged them. Empty nearly always.
create table retidas (
  tenant text not null,
  nota bigint not null,
  mes integer not null,
  tabela_aliquotas integer not null,
  primary key (tenant, nota)
);

create index retidas_tabela on retidas (tenant, tabela_aliquotas, nota);

-- What the worker has to do: a row for each note, event and lot that is not at rest, which is gone when it is. due_at says when it wants
-- attention, claims who has it. Apart from what it speaks of, whose rows and indexes a claim then leaves as they are.
create table fila (
  tenant text not null,
  tipo text not null check (tipo in ('nota', 'evento', 'lote')),
  id bigint not null,
  -- Of what it speaks of.
  mes integer not null,
  due_at timestamptz not null,
  claims uuid,
  tentativas integer not null default 0,
  primary key (tenant, id, tipo)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

-- Who looks for a row by its id asks for the kind by an expression (`isOfTipo`), so that this index does not look as good as the key.
create index fila_due on fila (tenant, tipo, due_at);

-- Answers to requests that came with a key of their sender's (D-19), kept for some hours. A row is written in the transaction that stores
-- the note or the event, so that there are both or neither; refusals, which store nothing else, are kept after the fact.
create table idempotencia (
  tenant text not null references municipios,
  -- SHA-256 of whose the key is and of the key: the key itself is of no use here.
  impressao bytea not null check (length(impressao) = 32),
  -- Address below the municipality, and SHA-256 of the body: what a repetition must be the same in.
  rota text not null,
  corpo bytea not null check (length(corpo) = 32),
  status smallint not null,
  nota bigint,
  -- Of the note.
  mes integer,
  evento bigint,
  -- The remarks of a positive answer, the faults of a refusal. As text, so that they are told in the order in which they were.
  avisos json,
  recusa json,
  criado_em timestamptz not null,
  primary key (tenant, impressao),
  constraint idempotencia_resposta check (
    num_nonnulls(nota, evento, recusa) = 1 and (avisos is null) = (recusa is not null) and (nota is null) = (mes is null)
  )
);

-- What is past its time.
create index idempotencia_antigas on idempotencia (tenant, criado_em);

alter table numeracao alter column tenant set statistics 0;
alter table numeracao_dps alter column tenant set statistics 0;
alter table identidades alter column tenant set statistics 0;
alter table notas alter column tenant set statistics 0;
alter table documentos alter column tenant set statistics 0;
alter table documentos_comprimidos alter column tenant set statistics 0;
alter table trilha_notas alter column tenant set statistics 0;
alter table substituicoes alter column tenant set statistics 0;
alter table retidas alter column tenant set statistics 0;
alter table fila alter column tenant set statistics 0;
alter table idempotencia alter column tenant set statistics 0;
