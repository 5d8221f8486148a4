-- The events of the notes. As with a note, the row is the job: due_at says when it wants attention, claims who has it.
create table eventos (
  tenant text not null,
  -- Of the sequence of documents of the environment (nDFSe), which notes and events share.
  id bigint not null,
  nota bigint not null,
  -- Place among all the events of its note: the order in which they are sent.
  ordem integer not null,
  codigo_tipo_evento text not null check (codigo_tipo_evento ~ '^[0-9]{6}$'),
  -- Among the events of its type on the note; its identifier has room for three digits.
  numero_sequencial smallint not null check (numero_sequencial between 1 and 999),
  -- Processed, it makes the note `cancelada`.
  cancela boolean not null,
  estado text not null,
  -- Since when it is in its state.
  desde timestamptz not null,
  movimentos integer not null default 1,
  due_at timestamptz,
  claims uuid,
  tentativas integer not null default 0,
  reprocessamentos_count smallint not null default 0 check (reprocessamentos_count between 0 and 3),
  ultimo_reprocessamento_em timestamptz,
  aguardando_desde timestamptz,
  criado_em timestamptz not null,
  processado_em timestamptz,
  codigo_retorno text,
  mensagem_retorno text,
  erros_adn jsonb,
  autor text not null check (length(autor) in (11, 14)),
  -- What the request says beside author and type, by the names of its JSON body.
  campos jsonb not null,
  -- What the local authority is asked to play (D-60).
  simular text,
  -- The highest reception number known when the event was first announced, and the one that it was given.
  nsu_antes bigint,
  nsu_recepcao bigint,
  assinatura bytea,
  -- SHA-256 of the certificate that signed.
  certificado bytea,
  primary key (tenant, id),
  constraint eventos_estado check (
    estado in ('pendente', 'enviado', 'aguardando_autorizacao_nota', 'processado', 'rejeitado', 'erro',
      'erro_reprocessamento', 'cancelado', 'dispensado')
  ),
  -- What rests is never due, what does not rest always is; an error is due while it has a retry left.
  constraint eventos_due check (case
    when estado in ('pendente', 'enviado', 'aguardando_autorizacao_nota') then due_at is not null
    when estado = 'erro' then due_at is null or reprocessamentos_count < 3
    else due_at is null
  end)
);

create unique index eventos_sequencia on eventos (tenant, nota, codigo_tipo_evento, numero_sequencial);
create unique index eventos_ordem on eventos (tenant, nota, ordem);
-- One cancellation of a note at a time, of whatever type, until it is at its end.
create unique index eventos_cancelamento_aberto on eventos (tenant, nota) where cancela and due_at is not null;
create index eventos_due on eventos (tenant, due_at) where due_at is not null;
-- Whether an earlier event of the note is still under way.
create index eventos_abertos on eventos (tenant, nota, ordem) where due_at is not null;
-- Empty for nearly every tenant at nearly every moment: a settlement of notes looks here for what it wakes.
create index eventos_antes_do_envio on eventos (tenant, estado, nota)
  where estado in ('pendente', 'aguardando_autorizacao_nota');

-- Written once, read seldom, never changed.
create table documentos_eventos (
  tenant text not null,
  evento bigint not null,
  -- The exact bytes that were received and the signature of their header: the evidence (D-34). Null by office.
  recebido bytea,
  recebido_assinatura text,
  -- The event with its request inside, as the municipality signs it.
  xml bytea not null,
  primary key (tenant, evento)
);

alter table documentos_eventos alter recebido set storage external, alter xml set storage external;

-- The moves that each event has made.
create table trilha_eventos (
  tenant text not null,
  evento bigint not null,
  movimento integer not null,
  em timestamptz not null,
  de text,
  gatilho text not null,
  para text not null,
  mensagem text,
  primary key (tenant, evento, movimento)
);

-- See 002: without statistics of the tenant the longest key always wins.
alter table eventos alter column tenant set statistics 0;
alter table documentos_eventos alter column tenant set statistics 0;
alter table trilha_eventos alter column tenant set statistics 0;
