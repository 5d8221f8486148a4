/**
 * The lots of the legacy port as they are received and read, and the notes of which its answers are made. How a lot is claimed and issued
 * stands in `claim-lotes.ts`.
 */
import type { Mensagem } from '../fiscal/abrasf/mensagens.ts';
import type { Guardado, IdentificacaoRps } from '../fiscal/abrasf/rps.ts';
import { LOTE_SITUACAO, type LoteSituacao } from '../fiscal/lote.ts';
import type { NotaEstado } from '../fiscal/nota.ts';
import { loteClaims } from './claim-lotes.ts';
import { correlacaoStore } from './correlacoes.ts';
import { NFSE, type NfseColumns, SEARCHED, withNfse } from './documentos.ts';
import type { NotaRow } from './nota-columns.ts';
import { type Db, runTransaction, writeAlone } from './open.ts';
import type { OnStored } from './recent.ts';
import { unnestRows } from './sql.ts';

type LoteNovo = Pick<LoteRow, 'protocolo' | 'prestador' | 'numero_lote'> & {
  /** SHA-256 of what the lot says. */
  readonly impressao: Buffer;
  /** Milliseconds. */
  readonly recebido_em: number;
  readonly recebido: Uint8Array;
  readonly rps: readonly (IdentificacaoRps & { readonly guardado: Guardado })[];
  /** What the local authority is asked to play with its notes, in the sandbox (D-60). */
  readonly simular: string | undefined;
};

type LoteRow = {
  readonly protocolo: string;
  readonly prestador: string;
  readonly numero_lote: string;
  readonly situacao: LoteSituacao;
  readonly recebido_em: Date;
  readonly mensagens: readonly Mensagem[] | null;
};

/** A note as the answers of the model are made of it. */
export type NotaDoPorto = Pick<NotaRow, OfNota | 'prestador_cpf_cnpj' | 'tomador_cpf_cnpj'> & {
  readonly nfse: Buffer;
  /** Of the event that cancelled it: its type, what it says, and of a plain cancellation the request as it was received. */
  readonly cancelamento_tipo: string | null;
  readonly cancelamento_campos: Readonly<Record<string, string>> | null;
  readonly cancelamento_recebido: Buffer | null;
  /** Of the note that took its place; null where there is none, or it is not here. */
  readonly substituta_estado: NotaEstado | null;
  /** Of one that was refused: the note that its number has now, and what became of the note that it was to replace. */
  readonly numero_em: string | null;
  readonly substituida_estado: NotaEstado | null;
  /** Its number among those of the provider. */
  readonly ordem: string;
  /** Of the lot that it came in, where it came in one. */
  readonly serie: string | null;
  readonly numero: string | null;
  readonly tipo: string | null;
  readonly guardado: Guardado | null;
};

type OfNota =
  | 'chave_acesso'
  | 'numero_protocolo'
  | 'estado'
  | 'data_emissao'
  | 'data_cancelamento'
  | 'mensagem_retorno';

/** An RPS by its identification: waiting in a lot, refused with it, or a note. */
type RpsRow = { readonly situacao: LoteSituacao; readonly nota: NotaDoPorto | undefined };

/** What is asked of the notes of a provider. */
export type NotasAsked = {
  readonly prestador: string;
  /** Where all its notes were issued, which is how their keys begin; undefined: anywhere. */
  readonly codigoIbge: string | undefined;
  /** Of the NFS-e. */
  readonly numero?: string | undefined;
  /** Milliseconds, both inside. */
  readonly de?: number | undefined;
  readonly ate?: number | undefined;
  readonly tomador?: string | undefined;
  /** Parties that the NFS-e names, all of them. */
  readonly partes?: readonly ParteAsked[];
};

/** A party by its group in the DPS. What is undefined may be anything. */
type ParteAsked = {
  readonly grupo: 'toma' | 'interm';
  readonly documento?: string | undefined;
  readonly im?: string | undefined;
};

export function loteStore(pool: Db, onStored: OnStored) {
  return {
    ...loteClaims(pool, onStored),
    ...correlacaoStore(pool),
    /** Stores a lot, or answers the one that said the same before, unless it was refused or each of its notes was. */
    receive: receive.bind(null, pool),
    findByProtocolo: async (tenant: string, prestador: string, protocolo: string): Promise<LoteRow | undefined> => {
      const text = `select ${LOTE} from lotes where tenant = $1 and protocolo = $2 and prestador = $3`;
      return (await pool.query<LoteRow>(text, [tenant, protocolo, prestador])).rows[0];
    },
    listNotas: async (tenant: string, protocolo: string): Promise<readonly NotaDoPorto[]> => {
      const text = `select ${NOTA} from lotes_rps r join notas n on n.tenant = $1 and n.id = r.nota ${PAPEIS}
        where r.tenant = $1 and r.protocolo = $2 order by r.ordem`;
      return readNotas(pool, text, [tenant, protocolo]);
    },
    findRps: readRpsRow.bind(null, pool),
    /** Notes of a provider in the order of their numbers, after one of them, without those that the national environment refused. */
    listNotasOfPrestador: notasOf.bind(null, pool),
    /** How many they are; counted up to `max`. */
    countNotasOfPrestador: countNotas.bind(null, pool),
  };
}

const LOTE = 'protocolo, prestador, numero_lote, situacao, recebido_em, mensagens';

const NOTA = `n.chave_acesso, n.numero_protocolo, n.estado, n.prestador_cpf_cnpj, n.tomador_cpf_cnpj, n.data_emissao,
  n.data_cancelamento, c.tipo as cancelamento_tipo, c.campos as cancelamento_campos,
  c.recebido as cancelamento_recebido, n.mensagem_retorno,
  (select o.estado from notas o where o.tenant = $1 and o.chave_acesso = c.campos->>'chave_acesso_substituta') as substituta_estado,
  case when n.estado = 'recusada' then (select o.chave_acesso from notas o
    where o.tenant = $1 and o.id_dps = n.id_dps and o.estado <> 'recusada' limit 1) end as numero_em,
  case when n.estado = 'recusada' then (select o.estado from notas o
    where o.tenant = $1 and o.chave_acesso = n.substitui) end as substituida_estado, ${NFSE}, n.numero_dps as ordem, r.serie, r.numero, r.tipo, r.guardado`;

/** The documents of a note, and of what cancelled it. The evidence of a substitution may be a whole lot, and is not read. */
const PAPEIS = `join documentos d on d.tenant = $1 and d.nota = n.id
  left join lateral (
    select e.codigo_tipo_evento as tipo, e.campos, case when e.codigo_tipo_evento = '101101' then o.recebido end as recebido
    from eventos e
    join documentos_eventos o on o.tenant = $1 and o.evento = e.id
    where e.tenant = $1 and e.nota = n.id and e.cancela and e.estado = 'processado' and n.data_cancelamento is not null
    order by e.ordem desc limit 1) c on true`;

/** `isSpent`: nothing of it is left to do, and of its notes none stands. A refused note is so for good. */
const SAME = `select ${LOTE}, situacao = ${LOTE_SITUACAO.processado} and due_at is null and not exists (select 1 from lotes_rps r
    join notas n on n.tenant = $1 and n.id = r.nota
    where r.tenant = $1 and r.protocolo = lotes.protocolo and n.estado <> 'recusada') as "isSpent"
  from lotes where tenant = $1 and prestador = $2 and impressao = $3 and situacao <> ${LOTE_SITUACAO.com_erros} and not refeito`;

const RPS = unnestRows<LoteNovo['rps'][number]>(
  [
    ['ordem int', (_rps, place) => place],
    ['serie text', ({ serie }) => serie],
    ['numero text', ({ numero }) => numero],
    ['tipo text', ({ tipo }) => tipo],
    ['guardado json', ({ guardado }) => JSON.stringify(guardado)],
  ],
  4,
);
const INSERT_RPS = `insert into lotes_rps (tenant, protocolo, prestador, ${RPS.names.join(', ')})
  select $1, $2, $3, x.* from ${RPS.relation}`;

/** The unique index says which of two that come at once is the first; the other one finds it. */
async function receive(pool: Db, tenant: string, lote: LoteNovo): Promise<LoteRow> {
  const { protocolo, prestador, numero_lote, impressao, recebido, rps, simular } = lote;
  const em = new Date(lote.recebido_em);
  const stored = await runTransaction(pool, async (client) => {
    const text = `insert into lotes (tenant, protocolo, prestador, numero_lote, impressao, situacao, recebido_em, due_at, simular)
      values ($1, $2, $3, $4, $5, ${LOTE_SITUACAO.recebido}, $6, $6, $7)
      on conflict (tenant, prestador, impressao) where situacao <> ${LOTE_SITUACAO.com_erros} and not refeito do nothing returning ${LOTE}`;
    const values = [tenant, protocolo, prestador, numero_lote, impressao, em, simular ?? null];
    const { rows } = await client.query<LoteRow>(text, values);
    if (rows[0] === undefined) return undefined;
    const document = 'insert into documentos_lotes (tenant, protocolo, recebido) values ($1, $2, $3)';
    await client.query(document, [tenant, protocolo, recebido]);
    await client.query(INSERT_RPS, [tenant, protocolo, prestador, ...RPS.valuesOf(rps)]);
    return rows[0];
  });
  if (stored !== undefined) return stored;
  const [before] = (await pool.query<LoteRow & { isSpent: boolean }>(SAME, [tenant, prestador, impressao])).rows;
  // The earlier lot was refused between the two statements, so this one is new after all.
  if (before === undefined) return receive(pool, tenant, lote);
  const { isSpent, ...row } = before;
  if (!isSpent) return row;
  // After a crash here the next sender finds no equal lot; of two at once one stores the lot and the other finds it.
  const spend = 'update lotes set refeito = true where tenant = $1 and protocolo = $2';
  await writeAlone(pool, { text: spend, values: [tenant, row.protocolo] });
  return receive(pool, tenant, lote);
}

/** Of several lots that named it, the one that came furthest; a note that the national environment refused went nowhere. */
async function readRpsRow(
  pool: Db,
  tenant: string,
  prestador: string,
  { numero, serie, tipo }: IdentificacaoRps,
): Promise<RpsRow | undefined> {
  const text = `select l.situacao, r.protocolo, r.ordem from lotes_rps r
    join lotes l on l.tenant = $1 and l.protocolo = r.protocolo
    left join notas n on n.tenant = $1 and n.id = r.nota
    where r.tenant = $1 and r.prestador = $2 and r.numero = $3 and r.serie = $4 and r.tipo = $5
    order by (l.situacao = ${LOTE_SITUACAO.processado} and n.estado <> 'recusada') desc, l.situacao = ${LOTE_SITUACAO.recebido} desc, l.situacao = ${LOTE_SITUACAO.processado} desc, l.recebido_em desc limit 1`;
  const values = [tenant, prestador, numero, serie, tipo];
  const { rows } = await pool.query<{ situacao: LoteSituacao; protocolo: string; ordem: number }>(text, values);
  const [row] = rows;
  if (row === undefined) return undefined;
  if (row.situacao !== LOTE_SITUACAO.processado) return { situacao: row.situacao, nota: undefined };
  const ofNota = `select ${NOTA} from lotes_rps r join notas n on n.tenant = $1 and n.id = r.nota ${PAPEIS}
    where r.tenant = $1 and r.protocolo = $2 and r.ordem = $3`;
  const [nota] = await readNotas(pool, ofNota, [tenant, row.protocolo, row.ordem]);
  return { situacao: LOTE_SITUACAO.processado, nota };
}

async function readNotas(pool: Db, text: string, values: readonly unknown[]): Promise<readonly NotaDoPorto[]> {
  type Row = Omit<NotaDoPorto, 'nfse'> & NfseColumns;
  const { rows } = await pool.query<Row>(text, [...values]);
  return rows.map((row) => withNfse(row, row.chave_acesso));
}

/** The first seven characters of the keys of a tenant, one probe of the index each. */
const LUGARES = `with recursive lugares(codigo) as (
    (select left(n.chave_acesso, 7) from notas n where n.tenant = $1 order by n.chave_acesso limit 1)
    union all
    select (select left(n.chave_acesso, 7) from notas n where n.tenant = $1 and n.chave_acesso > l.codigo || '9'
      order by n.chave_acesso limit 1)
    from lugares l where l.codigo is not null
  )
  select codigo from lugares where codigo is not null`;

/** By the key, in which the place, the provider and the number of the note stand in this order. */
async function notasOf(
  pool: Db,
  tenant: string,
  asked: NotasAsked,
  max: number,
  after?: string,
): Promise<readonly NotaDoPorto[]> {
  const values = await rangesOf(pool, tenant, asked, after);
  if (values === undefined) return [];
  const text = `select x.* from ${LUGAR} cross join lateral (
      select ${NOTA} from notas n left join lotes_rps r on r.tenant = $1 and r.nota = n.id ${PAPEIS}
      where ${ASKED} and ${MATCHES} order by n.chave_acesso limit $9) x
    order by x.ordem limit $9`;
  return readNotas(pool, text, [...values, max]);
}

async function countNotas(pool: Db, tenant: string, asked: NotasAsked, max: number): Promise<number> {
  const values = await rangesOf(pool, tenant, asked);
  if (values === undefined) return 0;
  const text = `select count(*)::int as notas from (select 1 from ${LUGAR}
    join notas n on ${ASKED} left join documentos d on $8::text[] <> '{}' and d.tenant = $1 and d.nota = n.id
    where ${MATCHES} limit $9) x`;
  return (await pool.query<{ notas: number }>(text, [...values, max])).rows[0]!.notas;
}

const LUGAR = 'unnest($2::text[]) as l (codigo)';
const ASKED = `n.tenant = $1 and n.chave_acesso between l.codigo || $3 and l.codigo || $4 and n.estado <> 'recusada'
  and ($5::timestamptz is null or n.data_emissao >= $5) and ($6::timestamptz is null or n.data_emissao <= $6)
  and ($7::text is null or n.tomador_cpf_cnpj = $7)`;
const MATCHES = `($8::text[] = '{}' or ${SEARCHED} ~ all ($8))`;

/** Values of the statements above; undefined: nothing can be found. */
async function rangesOf(
  pool: Db,
  tenant: string,
  { prestador, codigoIbge, numero, de, ate, tomador, partes = [] }: NotasAsked,
  after?: string,
): Promise<readonly unknown[] | undefined> {
  const begin = `12${prestador}`;
  const rest = CHAVE_LENGTH - CODIGO_IBGE_LENGTH - begin.length - NUMERO_LENGTH;
  const first = numero ?? (after === undefined ? '' : String(BigInt(after) + 1n));
  // A longer number than a key has room for is nobody's.
  if (first.length > NUMERO_LENGTH) return undefined;
  const lugares =
    codigoIbge === undefined
      ? (await pool.query<{ codigo: string }>(LUGARES, [tenant])).rows.map(({ codigo }) => codigo)
      : [codigoIbge];
  return [
    tenant,
    lugares,
    begin + first.padStart(NUMERO_LENGTH, '0') + '0'.repeat(rest),
    begin + (numero?.padStart(NUMERO_LENGTH, '0') ?? '9'.repeat(NUMERO_LENGTH)) + '9'.repeat(rest),
    de === undefined ? null : new Date(de),
    ate === undefined ? null : new Date(ate),
    tomador ?? null,
    partes.flatMap(patternsOf),
  ];
}

/** What a note is matched with that names a party: its document, which stands first in its group, and its registration. */
function patternsOf({ grupo, documento, im }: ParteAsked): readonly string[] {
  const text = im?.replace(/[^0-9A-Za-z]/g, '.');
  return [
    ...(documento === undefined ? [] : [`<${grupo}><(CNPJ|CPF)>${documento}<`]),
    ...(text === undefined ? [] : [`<${grupo}>(<[A-Za-z]+>[^<]*</[A-Za-z]+>){0,2}<IM>${text}</IM>`]),
  ];
}

/** Parts of the access key, in characters. */
const CODIGO_IBGE_LENGTH = 7;
const NUMERO_LENGTH = 13;
const CHAVE_LENGTH = 50;
