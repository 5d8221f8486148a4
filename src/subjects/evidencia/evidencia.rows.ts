/** The data behind a note, for its proof: the received document, the basis of its judgement, and the exchange with the ADN. */
import { linhasOf, readArquivado } from '../../base/book/arquivo.ts';
import type { Item } from '../../base/book/claims.ts';
import { PAPERS, type PapersColumns, withPapers } from '../../base/book/documentos.ts';
import type { Ref } from '../../base/book/fila.ts';
import type { Db } from '../../base/pg/open.ts';
import { planMonthly, planOnce } from '../../base/pg/planned.ts';

/** `confianca`: the basis of the signature's judgement, see `fundamentos.ts`. */
type Recebida = {
  readonly recebido: Buffer;
  /** The value of the signature header of a JSON body. */
  readonly recebido_assinatura: string | null;
  readonly confianca: number | null;
};

/** The legacy port's lot of a note. `ordem`: place of its RPS, from 0. */
type LoteDaNota = Ref & {
  readonly protocolo: string;
  readonly numero_lote: string;
  readonly ordem: number;
  readonly recebido_em: Date;
  readonly recebido: Buffer;
  readonly confianca: number | null;
};

/** The stored exchange with the ADN: reception numbers, authorisation and cancellation. */
type TrocaDaNota = {
  readonly nsu_antes: string | null;
  readonly nsu_recepcao: string | null;
  readonly data_autorizacao: Date | null;
  readonly data_cancelamento: Date | null;
};

const RECEBIDA = planMonthly(
  'evidencia_recebida',
  `select n.id, n.mes, ${PAPERS}, d.recebido_assinatura, d.confianca
    from notas n left join documentos d on d.tenant = $1 and d.mes = $2 and d.nota = n.id
    where n.tenant = $1 and n.mes = $2 and n.id = $3`,
);

const TROCA = planMonthly(
  'evidencia_troca',
  `select nsu_antes, nsu_recepcao, data_autorizacao, data_cancelamento from notas
    where tenant = $1 and mes = $2 and id = $3`,
);

const RESPOSTAS = {
  nota: planMonthly(
    'evidencia_respostas_nota',
    `select movimento, resposta from trilha_notas where tenant = $1 and mes = $2 and nota = $3 and resposta is not null`,
  ),
  evento: planMonthly(
    'evidencia_respostas_evento',
    `select movimento, resposta from trilha_eventos where tenant = $1 and mes = $2 and evento = $3 and resposta is not null`,
  ),
};

const LOTE = planOnce(
  'evidencia_lote',
  `select l.id, l.mes, l.protocolo, l.numero_lote, r.ordem, l.recebido_em from lotes_rps r
    join lotes l on l.tenant = $1 and l.id = r.lote where r.tenant = $1 and r.nota = $2`,
);

const DOCUMENTO_LOTE = planMonthly(
  'evidencia_documento_lote',
  'select recebido, confianca from documentos_lotes where tenant = $1 and mes = $2 and lote = $3',
);

const DOCUMENTO_EVENTO = planMonthly(
  'evidencia_documento_evento',
  'select confianca from documentos_eventos where tenant = $1 and mes = $2 and evento = $3',
);

const SUBSTITUTAS = planOnce(
  'evidencia_substitutas',
  `select n.chave_acesso from substituicoes s join notas n on n.tenant = $1 and n.mes = s.mes and n.id = s.nota
    where s.tenant = $1 and s.substituida = $2 order by s.nota`,
);

type DocumentoDoLote = Pick<LoteDaNota, 'recebido' | 'confianca'>;

export function evidenciaStore(pool: Db) {
  return {
    readRecebida: async (tenant: string, { id, mes }: Ref): Promise<Recebida | undefined> => {
      type Row = PapersColumns & Ref & Pick<Recebida, 'recebido_assinatura' | 'confianca'>;
      const [row] = (await pool.query<Row>(RECEBIDA([tenant, mes, id]))).rows;
      if (row === undefined) return undefined;
      const { recebido } = await withPapers({ pool, tenant }, row, id);
      const { recebido_assinatura, confianca } = row;
      if (row.nfse !== null || row.pacote !== null) return { recebido, recebido_assinatura, confianca };
      return { recebido, ...(await readArchived(pool, tenant, { id, mes })) };
    },
    readTroca: async (tenant: string, { id, mes }: Ref): Promise<TrocaDaNota | undefined> =>
      (await pool.query<TrocaDaNota>(TROCA([tenant, mes, id]))).rows[0],
    /**
     * The answers by number of the move. They are the ADN's; the first move has this service's program and remarks instead. Old moves have
     * none.
     */
    readRespostas: async (tenant: string, item: Item, { id, mes }: Ref): Promise<ReadonlyMap<number, string>> => {
      type Row = { readonly movimento: number; readonly resposta: string };
      const { rows } = await pool.query<Row>(RESPOSTAS[item]([tenant, mes, id]));
      const archived = linhasOf(await readArquivado(pool, tenant, item, { id, mes }), `trilha_${item}s`);
      const found = new Map(rows.map(({ movimento, resposta }) => [movimento, resposta]));
      for (const { colunas } of archived) {
        const resposta = textOf(colunas['resposta']);
        if (resposta !== null) found.set(Number(colunas['movimento']), resposta);
      }
      return found;
    },
    findLote: async (tenant: string, nota: string): Promise<LoteDaNota | undefined> => {
      type Row = Omit<LoteDaNota, keyof DocumentoDoLote>;
      const [lote] = (await pool.query<Row>(LOTE([tenant, nota]))).rows;
      if (lote === undefined) return undefined;
      const { id, mes } = lote;
      const [there] = (await pool.query<DocumentoDoLote>(DOCUMENTO_LOTE([tenant, mes, id]))).rows;
      return { ...lote, ...(there ?? (await readArchivedLote(pool, tenant, { id, mes }))) };
    },
    /** The basis on which the signature of an event's request was judged. */
    readConfiancaDoEvento: async (tenant: string, { id, mes }: Ref): Promise<number | null> => {
      const [row] = (await pool.query<Pick<Recebida, 'confianca'>>(DOCUMENTO_EVENTO([tenant, mes, id]))).rows;
      if (row !== undefined) return row.confianca;
      const [found] = linhasOf(await readArquivado(pool, tenant, 'evento', { id, mes }), 'documentos_eventos');
      return numberOf(found?.colunas['confianca']);
    },
    /** Keys of the notes that replace another. */
    listSubstitutas: async (tenant: string, chave: string): Promise<readonly string[]> =>
      (await pool.query<{ chave_acesso: string }>(SUBSTITUTAS([tenant, chave]))).rows.map((row) => row.chave_acesso),
  };
}

/** Files from before these columns lack them. */
const numberOf = (value: unknown): number | null => (typeof value === 'number' ? value : null);
const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);

async function readArchived(pool: Db, tenant: string, ref: Ref): Promise<Omit<Recebida, 'recebido'>> {
  const [found] = linhasOf(await readArquivado(pool, tenant, 'nota', ref), 'documentos');
  const { recebido_assinatura, confianca } = found?.colunas ?? {};
  return { recebido_assinatura: textOf(recebido_assinatura), confianca: numberOf(confianca) };
}

async function readArchivedLote(pool: Db, tenant: string, ref: Ref): Promise<DocumentoDoLote> {
  const [found] = linhasOf(await readArquivado(pool, tenant, 'lote', ref), 'documentos_lotes');
  const recebido = found?.bytes['recebido'];
  if (recebido === undefined) {
    throw new Error(`o documento do lote ${ref.id} não está no banco nem num arquivo; restaure-o de uma cópia`);
  }
  return { recebido, confianca: numberOf(found?.colunas['confianca']) };
}
