/** Exports of the notes of one CNPJ or CPF, for its bookkeeping: requested, read while the worker makes them, and downloaded. */
import { randomBytes } from 'node:crypto';
import type { Municipio } from '../../base/book/municipios.ts';
import { type Campo, oneOf, readCampos, required, textOf } from '../../base/world/campos.ts';
import { refuseExcess } from '../../base/world/excess.ts';
import { municipalMoment } from '../../base/world/gather-facts.ts';
import type { Refused } from '../../base/world/idempotency.ts';
import type { World } from '../../base/world/world.ts';
import { makeZipEnd } from '../../documents/zip-pieces.ts';
import { DAY_MS, isoMoment } from '../../fiscal/moment.ts';
import { type ExportacaoRow, FORMATOS_EXPORTACAO, type FormatoExportacao } from './exportacoes.rows.ts';
import { CAMPOS_DA_LISTA, type CampoDaLista, type ListaPedida, listNotasOf } from './notas.ts';

export { ESTADOS_EXPORTACAO, FORMATOS_EXPORTACAO } from './exportacoes.rows.ts';

/** Exports of one document at once, the one in progress included. */
export const EXPORTACOES_MAX = 5;
/** Days that a file is kept. */
export const EXPORTACAO_DIAS = 7;
/** The end of an export in progress is not known; asking again is worth while after this time. */
const LOOK_AGAIN_MS = 5_000;
/** Notes of one file. */
export const EXPORTACAO_NOTAS_MAX = 200_000;

/** Characters of a filter: a key has 50. */
const FILTRO_MAX = 200;

const filtro: Campo<string> = {
  esperado: `um texto de até ${FILTRO_MAX} caracteres, como o parâmetro de mesmo nome de GET …/api/v1/notas`,
  read: (value) => {
    const text = textOf(value);
    return text !== undefined && text.length <= FILTRO_MAX && !text.includes('\0') ? text : undefined;
  },
};

const FILTROS = Object.fromEntries(CAMPOS_DA_LISTA.map((campo) => [campo, filtro])) as Record<
  CampoDaLista,
  Campo<string>
>;
const CAMPOS = { formato: required(oneOf(FORMATOS_EXPORTACAO)), ...FILTROS };

/** The fields have the names and the order of the public answer. */
export type ExportacaoPublica = {
  readonly id: string;
  readonly documento: string;
  readonly formato: FormatoExportacao;
  readonly filtros: ListaPedida;
  readonly estado: ExportacaoRow['estado'];
  readonly pronta: boolean;
  /** Notes in the file so far, and notes without a file of their own. */
  readonly notas: number;
  readonly sem_arquivo: number;
  readonly bytes: number | null;
  readonly criada_em: string;
  readonly pronta_em: string | null;
  readonly expira_em: string;
  readonly motivo: string | null;
};

/** Begins an export; a fault in the filters is answered at once, as the list of notes does. */
export async function createExportacao(
  world: World,
  municipio: Municipio,
  documento: string,
  body: Uint8Array,
): Promise<ExportacaoPublica | Refused> {
  const read = readCampos(body, CAMPOS);
  if ('faults' in read) return read;
  const { formato, ...filtros } = read.lidos;
  const given = Object.entries(filtros).filter((one): one is [string, string] => (one[1] ?? '') !== '');
  const pedida: Readonly<Record<string, string>> = Object.fromEntries(given);
  const first = await listNotasOf(world, municipio, documento, pedida, { max: 1, isCounted: false });
  if ('faults' in first) return { ...first, status: 400 };
  const { store, now, wake } = world;
  const { tenant } = municipio;
  const at = now();
  const id = `exp_${randomBytes(9).toString('base64url')}`;
  const nova = { id, documento, formato, pedida, criadaEm: at, expiraEm: at + EXPORTACAO_DIAS * DAY_MS };
  if (!(await store.exportacoes.insert(tenant, nova, EXPORTACOES_MAX))) {
    const mensagem =
      'Uma exportação deste documento está em andamento, e faz-se uma de cada vez. Espere que ela termine (GET …/api/v1/exportacoes).';
    return refuseExcess(mensagem, { nome: 'exportacoes', max: 1 }, LOOK_AGAIN_MS);
  }
  wake(tenant);
  return (await findExportacao(world, municipio, { id, documento }))!;
}

/** The exports of a document, the newest first. */
export async function listExportacoes(
  { store, now }: Pick<World, 'store' | 'now'>,
  municipio: Municipio,
  documento: string,
): Promise<readonly ExportacaoPublica[]> {
  const rows = await store.exportacoes.list(municipio.tenant, documento, now());
  return rows.map((row) => exportacaoPublica(municipio, row));
}

type Named = { readonly id: string; readonly documento: string };

/** Undefined: the document has no export of this `id`, or it has expired. */
export async function findExportacao(
  { store, now }: Pick<World, 'store' | 'now'>,
  municipio: Municipio,
  { id, documento }: Named,
): Promise<ExportacaoPublica | undefined> {
  const row = await store.exportacoes.find(municipio.tenant, id, documento, now());
  return row && exportacaoPublica(municipio, row);
}

export type ArquivoExportado = {
  readonly nome: string;
  readonly tipo: 'application/zip' | 'text/csv; charset=utf-8';
  /** Its size, a tag of its bytes, and the bytes from a place to the end before another. */
  readonly file: {
    readonly bytes: number;
    readonly tag: string;
    read(from: number, to: number): AsyncIterable<Buffer>;
  };
};

/** The file of an export, or the state of the export while it has no file. */
export async function openArquivo(
  { store, now }: Pick<World, 'store' | 'now'>,
  { tenant }: Municipio,
  { id, documento }: Named,
): Promise<ArquivoExportado | Pick<ExportacaoRow, 'estado' | 'motivo'> | undefined> {
  const row = await store.exportacoes.find(tenant, id, documento, now());
  if (row === undefined || row.estado !== 'pronta') return row;
  const nome = `notas-${documento}-${id}`;
  const isTable = row.formato === 'csv';
  const end = isTable ? Buffer.alloc(0) : makeZipEnd(row);
  const bytes = lengthOf(row);
  const read = async function* (from: number, to: number): AsyncGenerator<Buffer> {
    const after = row.bytes + row.diretorio;
    yield* store.exportacoes.read(tenant, row, 'conteudo', from, Math.min(to, row.bytes));
    if (isTable) return;
    yield* store.exportacoes.read(tenant, row, 'diretorio', from - row.bytes, Math.min(to, after) - row.bytes);
    yield end.subarray(Math.max(0, from - after), Math.max(0, to - after));
  };
  const tipo = isTable ? 'text/csv; charset=utf-8' : 'application/zip';
  // A finished file does not change.
  return { nome: `${nome}.${isTable ? 'csv' : 'zip'}`, tipo, file: { bytes, tag: `"${id}"`, read } };
}

function lengthOf({ formato, bytes, diretorio, entradas }: ExportacaoRow): number {
  return formato === 'csv' ? bytes : bytes + diretorio + makeZipEnd({ bytes, diretorio, entradas }).length;
}

/** Notes are the entries of a ZIP, except for its summary, which is its last entry. */
function countNotas({
  formato,
  estado,
  notas,
  entradas,
}: ExportacaoRow): Pick<ExportacaoPublica, 'notas' | 'sem_arquivo'> {
  const inside = formato === 'csv' ? notas : entradas - (estado === 'pronta' ? 1 : 0);
  return { notas: inside, sem_arquivo: notas - inside };
}

function exportacaoPublica({ codigoIbge }: Municipio, row: ExportacaoRow): ExportacaoPublica {
  const at = (moment: Date): string => isoMoment(municipalMoment(codigoIbge, +moment));
  const { id, documento, formato, pedida, estado, motivo } = row;
  const isReady = estado === 'pronta';
  return {
    ...{ id, documento, formato, filtros: pedida, estado, pronta: isReady, ...countNotas(row) },
    bytes: isReady ? lengthOf(row) : null,
    criada_em: at(row.criada_em),
    pronta_em: row.pronta_em && at(row.pronta_em),
    expira_em: at(row.expira_em),
    motivo,
  };
}
