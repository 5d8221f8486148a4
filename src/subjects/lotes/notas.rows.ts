/** The notes for answers of the legacy port: of a lot, of an RPS, or of a provider. They are found first, then read by month. */

import { readEventoArquivado } from '../../base/book/arquivo.ts';
import { NFSE, type NfseColumns, withNfse } from '../../base/book/documentos.ts';
import { groupByMes, type Ref } from '../../base/book/fila.ts';
import type { NotaRow } from '../../base/book/nota-columns.ts';
import { type Db, ONE_BY_ONE } from '../../base/pg/open.ts';
import { planMonthly, planOnce } from '../../base/pg/planned.ts';
import type { Guardado, IdentificacaoRps } from '../../fiscal/abrasf/rps.ts';
import { mesOfChave } from '../../fiscal/chave.ts';
import { LOTE_SITUACAO, type LoteSituacao } from '../../fiscal/lote.ts';
import type { NotaEstado } from '../../fiscal/nota.ts';

/** A note with the data of the model's answers. */
export type NotaDoPorto = Pick<NotaRow, OfNota | 'prestador_cpf_cnpj' | 'tomador_cpf_cnpj'> & {
  readonly nfse: Buffer;
  /** The cancelling event: its type, its fields, and the received request of a plain cancellation. */
  readonly cancelamento_tipo: string | null;
  readonly cancelamento_campos: Readonly<Record<string, string>> | null;
  readonly cancelamento_recebido: Buffer | null;
  /** State of the substitute; null: there is none, or it is not stored here. */
  readonly substituta_estado: NotaEstado | null;
  /** Fields of a refused note: the note that now has its number, and the state of the note that it was meant to replace. */
  readonly numero_em: string | null;
  readonly substituida_estado: NotaEstado | null;
  /** Its number among those of the provider. */
  readonly ordem: string;
  /** The RPS in its lot; null: the note came otherwise. */
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

/** The columns of a note's row and of its direct joins. */
type Read = Ref &
  NfseColumns &
  Omit<NotaDoPorto, 'nfse' | keyof Cancelamento | 'substituta_estado' | 'numero_em' | 'substituida_estado'> &
  Pick<NotaRow, 'id_dps' | 'substitui'>;

const NOTAS = planMonthly(
  'notas_do_porto',
  `select n.id, n.mes, n.chave_acesso, n.numero_protocolo, n.id_dps, n.estado, n.prestador_cpf_cnpj, n.tomador_cpf_cnpj,
      n.data_emissao, n.data_cancelamento, n.mensagem_retorno, n.substitui, ${NFSE}, n.numero_dps as ordem,
      r.serie, r.numero, r.tipo, r.guardado
    from unnest($3::bigint[]) as x (id) join notas n on n.tenant = $1 and n.mes = $2 and n.id = x.id
      left join documentos d on d.tenant = $1 and d.mes = $2 and d.nota = x.id
      left join lotes_rps r on r.tenant = $1 and r.nota = x.id
    ${ONE_BY_ONE}`,
);

/** Reads these notes, in this order. */
export async function readNotas(pool: Db, tenant: string, refs: readonly Ref[]): Promise<readonly NotaDoPorto[]> {
  const ofMonths = [...groupByMes(refs)].map(([mes, some]) =>
    pool.query<Read>(NOTAS([tenant, mes, some.map(({ id }) => id)])),
  );
  const rows = (await Promise.all(ofMonths)).flatMap((one) => one.rows);
  const gone = rows.filter(({ estado }) => estado === ('recusada' satisfies NotaEstado));
  const [cancelamentos, numeros] = await Promise.all([
    readCancelamentos(pool, tenant, rows),
    readNumbers(pool, tenant, gone),
  ]);
  const named = [...cancelamentos.values()].map(({ cancelamento_campos: campos }) => campos?.[SUBSTITUTA]);
  const estados = await readEstados(pool, tenant, [...named, ...gone.map(({ substitui }) => substitui)]);
  const whole = rows.map(async (row) => ({ row, nota: await withNfse({ pool, tenant }, row, row.chave_acesso) }));
  const found = new Map((await Promise.all(whole)).map((one) => [one.row.id, one]));
  return refs.flatMap(({ id }): readonly NotaDoPorto[] => {
    const one = found.get(id);
    if (one === undefined) return [];
    const { row } = one;
    const { id: _id, mes: _mes, id_dps, substitui, ...nota } = one.nota;
    const cancelamento = cancelamentos.get(id) ?? NO_CANCELAMENTO;
    const isGone = gone.includes(row);
    return [
      {
        ...nota,
        ...cancelamento,
        substituta_estado: estados.get(cancelamento.cancelamento_campos?.[SUBSTITUTA] ?? '') ?? null,
        numero_em: (isGone && numeros.get(id_dps)) || null,
        substituida_estado: (isGone && estados.get(substitui ?? '')) || null,
      },
    ];
  });
}

type Cancelamento = Pick<NotaDoPorto, 'cancelamento_tipo' | 'cancelamento_campos' | 'cancelamento_recebido'>;
const NO_CANCELAMENTO: Cancelamento = {
  cancelamento_tipo: null,
  cancelamento_campos: null,
  cancelamento_recebido: null,
};
/** The field of a substitution event with the substitute's key. */
const SUBSTITUTA = 'chave_acesso_substituta';

/**
 * The cancelling events. The stored request of a substitution may be a whole lot, and is not read. The state is an expression, so that the
 * planner does not use the index on processed events: an event is found by its nota.
 */
const CANCELAMENTOS = planOnce(
  'cancelamentos_do_porto',
  `select e.nota, e.codigo_tipo_evento as cancelamento_tipo, e.campos as cancelamento_campos,
      o.recebido as cancelamento_recebido, e.id, e.mes,
      e.codigo_tipo_evento = '101101' and o.evento is null as arquivado
    from unnest($2::bigint[]) as x (id)
      join eventos e on e.tenant = $1 and e.nota = x.id and e.cancela and e.estado || '' = 'processado'
      left join documentos_eventos o on e.codigo_tipo_evento = '101101' and o.tenant = $1 and o.mes = e.mes and o.evento = e.id
    ${ONE_BY_ONE} order by e.ordem`,
);

async function readCancelamentos(
  pool: Db,
  tenant: string,
  notas: readonly Pick<Read, 'id' | 'data_cancelamento'>[],
): Promise<ReadonlyMap<string, Cancelamento>> {
  const cancelled = notas.flatMap(({ id, data_cancelamento }) => (data_cancelamento === null ? [] : [id]));
  if (cancelled.length === 0) return new Map();
  type Row = Cancelamento & Ref & { readonly nota: string; readonly arquivado: boolean };
  const { rows } = await pool.query<Row>(CANCELAMENTOS([tenant, cancelled]));
  const whole = rows.map(async ({ nota, id, mes, arquivado, ...cancelamento }) => {
    if (!arquivado) return [nota, cancelamento] as const;
    const { recebido } = await readEventoArquivado(pool, tenant, { id, mes });
    return [nota, { ...cancelamento, cancelamento_recebido: recebido }] as const;
  });
  // The last of several events counts.
  return new Map(await Promise.all(whole));
}

const NUMBERS = `select i.id_dps, n.chave_acesso from identidades i
  join notas n on n.tenant = $1 and n.mes = i.mes and n.id = i.nota where i.tenant = $1 and i.id_dps = any ($2)`;

/** The notes that now hold these identifiers of DPS. */
async function readNumbers(
  pool: Db,
  tenant: string,
  gone: readonly Pick<Read, 'id_dps'>[],
): Promise<ReadonlyMap<string, string>> {
  if (gone.length === 0) return new Map();
  const values = [tenant, gone.map(({ id_dps }) => id_dps)];
  const { rows } = await pool.query<{ id_dps: string; chave_acesso: string }>(NUMBERS, values);
  return new Map(rows.map(({ id_dps, chave_acesso }) => [id_dps, chave_acesso]));
}

const ESTADOS = 'select chave_acesso, estado from notas where tenant = $1 and mes = $2 and chave_acesso = any ($3)';

/** The states of notes, by key. */
async function readEstados(
  pool: Db,
  tenant: string,
  named: readonly (string | null | undefined)[],
): Promise<ReadonlyMap<string, NotaEstado>> {
  const chaves = named.filter((chave) => chave !== null && chave !== undefined);
  const ofMonths = [...Map.groupBy(chaves, mesOfChave)].map(([mes, some]) =>
    pool.query<{ chave_acesso: string; estado: NotaEstado }>(ESTADOS, [tenant, mes, some]),
  );
  const rows = (await Promise.all(ofMonths)).flatMap((one) => one.rows);
  return new Map(rows.map(({ chave_acesso, estado }) => [chave_acesso, estado]));
}

const OF_LOTE = planOnce(
  'notas_de_lote',
  `select r.nota as id, r.mes_nota as mes from lotes l join lotes_rps r on r.tenant = $1 and r.lote = l.id
    where l.tenant = $1 and l.protocolo = $2 and r.nota is not null order by r.ordem`,
);

/** The notes of a lot, in its order. */
export async function listNotasOfLote(pool: Db, tenant: string, protocolo: string): Promise<readonly NotaDoPorto[]> {
  return readNotas(pool, tenant, (await pool.query<Ref>(OF_LOTE([tenant, protocolo]))).rows);
}

/** An RPS by its identification: in a waiting lot, in a refused lot, or as a note. */
export type RpsRow = { readonly situacao: LoteSituacao; readonly nota: NotaDoPorto | undefined };

/** The most advanced of several lots with this RPS; a note that the national environment refused does not count as progress. */
const OF_RPS = planOnce(
  'nota_de_rps',
  `select l.situacao, r.nota as id, r.mes_nota as mes from lotes_rps r
    join lotes l on l.tenant = $1 and l.id = r.lote
    left join notas n on n.tenant = $1 and n.mes = r.mes_nota and n.id = r.nota
    where r.tenant = $1 and r.prestador = $2 and r.numero = $3 and r.serie = $4 and r.tipo = $5
    order by (l.situacao = ${LOTE_SITUACAO.processado} and n.estado <> 'recusada') desc, l.situacao = ${LOTE_SITUACAO.recebido} desc,
      l.situacao = ${LOTE_SITUACAO.processado} desc, l.recebido_em desc limit 1`,
);

export async function findRps(
  pool: Db,
  tenant: string,
  prestador: string,
  { numero, serie, tipo }: IdentificacaoRps,
): Promise<RpsRow | undefined> {
  type Row = { readonly situacao: LoteSituacao; readonly id: string | null; readonly mes: number | null };
  const [row] = (await pool.query<Row>(OF_RPS([tenant, prestador, numero, serie, tipo]))).rows;
  if (row === undefined) return undefined;
  const { situacao, id, mes } = row;
  if (situacao !== LOTE_SITUACAO.processado || id === null || mes === null) return { situacao, nota: undefined };
  const [nota] = await readNotas(pool, tenant, [{ id, mes }]);
  return { situacao, nota };
}
