-- The events of the notes.
create table eventos (
  tenant text not null,
  -- Of the sequence of documents of the environment (nDFSe), which notes and events share.
  id bigint not null,
  -- When it was registered: the month of its document and its moves.
  mes integer not null,
  nota bigint not null,
  mes_nota integer not null,
  -- Place among all the events of its note: the order in which they are sent.
  ordem integer not null,
  codigo_tipo_evento text not null check (codigo_tipo_evento ~ '^[0-9]{6}$'),
  -- Among the events of its type on the note; its identifier has room for three digits.
  numero_sequencial smallint not null check (numero_sequencial between 1 and 999),
  -- Processed, it makes the note `cancelada`.
  cancela boolean not null,
  estado text not null,
  -- Something more happens by itself: it has a row in the queue.
  aberto boolean not null,
  -- Since when it is in its state.
  desde timestamptz not null,
  movimentos integer not null default 1,
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
  -- When an operator has seen to a refused event: it is not shown among the problems any more, and is refused all the same.
  arquivado_em timestamptz check (arquivado_em is null or estado = 'rejeitado'),
  -- A refusal that follows from what another party has registered is between the two: it is not shown among the problems.
  entre_partes boolean not null default false check (not entre_partes or estado = 'rejeitado'),
  primary key (tenant, id),
  constraint eventos_estado check (
    estado in ('pendente', 'enviado', 'aguardando_autorizacao_nota', 'processado', 'rejeitado', 'erro',
      'erro_reprocessamento', 'cancelado', 'dispensado')
  ),
  -- What rests is never open, what does not rest always is; an error is open while it has a retry left.
  constraint eventos_aberto check (case
    when estado in ('pendente', 'enviado', 'aguardando_autorizacao_nota') then aberto
    when estado = 'erro' then not aberto or reprocessamentos_count < 3
    else not aberto
  end)
);

create unique index eventos_sequencia on eventos (tenant, nota, codigo_tipo_evento, numero_sequencial);
create unique index eventos_ordem on eventos (tenant, nota, ordem);
-- One cancellation of a note at a time, of whatever type, until it is at its end.
create unique index eventos_cancelamento_aberto on eventos (tenant, nota) where cancela and aberto;
-- Whether an earlier event of the note is still under way.
create index eventos_abertos on eventos (tenant, nota, ordem) where aberto;
-- The events of a note that others are judged by: few, however many are on their way.
create index eventos_na_nota on eventos (tenant, nota) where estado in ('processado', 'dispensado');
-- Empty for nearly every tenant at nearly every moment: a settlement of notes looks here for what it wakes.
create index eventos_antes_do_envio on eventos (tenant, estado, nota) where estado in ('pendente', 'aguardando_autorizacao_nota');
-- Events that rest without having come to anything: few, and those that an operator looks for, the newest first.
create index eventos_com_problema on eventos (tenant, desde desc)
  where not aberto and estado in ('rejeitado', 'erro', 'erro_reprocessamento') and arquivado_em is null and not entre_partes;
create index eventos_entre_partes on eventos (tenant, codigo_retorno) where entre_partes and arquivado_em is null;

-- Written once, read seldom, never changed.
create table documentos_eventos (
  tenant text not null,
  mes integer not null,
  evento bigint not null,
  -- The exact bytes that were received and the signature of their header: the evidence (D-34). Null by office.
  recebido bytea,
  recebido_assinatura text,
  -- The event with its request inside, as the municipality signs it.
  xml bytea not null,
  primary key (tenant, evento, mes)
) partition by list (mes);

alter table documentos_eventos alter recebido set storage external, alter xml set storage external;

-- The moves that each event has made; who made one by hand, by their name on the machine.
create table trilha_eventos (
  tenant text not null,
  mes integer not null,
  evento bigint not null,
  movimento integer not null,
  em timestamptz not null,
  de text,
  gatilho text not null,
  para text not null,
  mensagem text,
  quem text,
  primary key (tenant, evento, mes, movimento)
) partition by list (mes);

alter table eventos alter column tenant set statistics 0;
alter table documentos_eventos alter column tenant set statistics 0;
alter table trilha_eventos alter column tenant set statistics 0;
