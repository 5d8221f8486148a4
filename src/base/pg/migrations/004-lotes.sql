-- Lots of the legacy port.
create table lotes (
  tenant text not null references municipios,
  id bigint not null,
  -- When it was received, by which its protocol number begins.
  mes integer not null,
  protocolo text not null,
  prestador text not null check (length(prestador) in (11, 14)),
  numero_lote text not null,
  -- SHA-256 of the canonical form of the lot: the same lot sent again is the same row, unless it was refused.
  impressao bytea not null check (length(impressao) = 32),
  -- Of the model: 2 received, 3 processed with error, 4 processed with success.
  situacao smallint not null check (situacao in (2, 3, 4)),
  -- Something is left to do of it: it has a row in the queue. One that is done is open once more where its notes replace others.
  aberto boolean not null,
  recebido_em timestamptz not null,
  processado_em timestamptz,
  -- What the model answers of a lot with errors.
  mensagens json,
  -- What the local authority is asked to play with the notes of a lot, in the sandbox (D-60).
  simular text,
  -- A lot whose notes the national environment refused, every one, and that was sent again: it is another lot from then on.
  refeito boolean not null default false,
  primary key (tenant, id),
  constraint lotes_aberto check (
    case situacao when 2 then aberto when 3 then not aberto else true end and (situacao = 3) = (mensagens is not null)
  )
);

create unique index lotes_protocolo on lotes (tenant, protocolo);
create unique index lotes_impressao on lotes (tenant, prestador, impressao) where situacao <> 3 and not refeito;

-- Written once: the document that was received, with its signatures, is the evidence (D-34).
create table documentos_lotes (
  tenant text not null,
  mes integer not null,
  lote bigint not null,
  recebido bytea not null,
  primary key (tenant, lote, mes)
) partition by list (mes);

alter table documentos_lotes alter recebido set storage external;

-- The RPS of each lot; the note is set by the transaction that stores it.
create table lotes_rps (
  tenant text not null,
  lote bigint not null,
  ordem integer not null,
  prestador text not null,
  serie text not null,
  numero text not null,
  tipo text not null,
  nota bigint,
  mes_nota integer,
  -- What an RPS said that the NFS-e has no place for, so that its note gives it back.
  guardado json,
  primary key (tenant, lote, ordem)
);

create index lotes_rps_identificacao on lotes_rps (tenant, prestador, numero, serie, tipo);
create index lotes_rps_nota on lotes_rps (tenant, nota) where nota is not null;

alter table lotes alter column tenant set statistics 0;
alter table documentos_lotes alter column tenant set statistics 0;
alter table lotes_rps alter column tenant set statistics 0;
