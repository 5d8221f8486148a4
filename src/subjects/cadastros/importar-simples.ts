/**
 * The options of the Simples Nacional as the Receita Federal publishes them with the CNPJ (file SIMPLES): seven columns without a heading,
 * in ISO-8859-1. The roots of the municipality's providers are kept, and their periods become an import of the register (D-852).
 */
import { createReadStream } from 'node:fs';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { writeTabela } from '../../base/world/escrever-tabela.ts';
import { municipioNamed, type RegistryWorld } from '../../base/world/municipios.ts';
import { raizOf } from '../../fiscal/chave.ts';
import { bareIm } from '../../fiscal/facts.ts';
import { isDay } from '../../fiscal/moment.ts';
import type { ImportRequest } from './import-csv.ts';
import type { PrestadorListado } from './procurar-prestadores.rows.ts';
import { importRegistro, type RegistroImported } from './registros.ts';

type Periodo = PrestadorListado['simples'][number];

/** CNPJ root, Simples, its option and exclusion, MEI, its option and exclusion. */
const LINE = /^"?([0-9A-Z]{8})"?;"?([SN]?)"?;"?(\d{8}|)"?;"?(\d{8}|)"?;"?[SN]?"?;"?(?:\d{8}|)"?;"?(?:\d{8}|)"?\r?$/;
const COLUMNS = ['documento', 'razao_social', 'inscricao_municipal', 'simples_inicio', 'simples_fim'];
/** Providers read at a time. */
const BLOCK = 5_000;
/** Lines between two tellings of the progress. */
const TOLD_EVERY = 100_000;

/** Imports the periods, or previews the changes. Throws an Error in Portuguese. */
export async function importSimples(world: RegistryWorld, request: ImportRequest): Promise<RegistroImported> {
  const { tenant } = await municipioNamed(world, request.municipio);
  const prestadores = await listOptants(world, tenant);
  const { options, linhas } = await readOptions(request, new Set(prestadores.keys()));
  const rows = [...options].flatMap(([raiz, option]) =>
    prestadores.get(raiz)!.flatMap((prestador) => rowsOf(prestador, option)),
  );
  const read = { lido: 'o arquivo SIMPLES dos dados abertos do CNPJ', linhas, reparos: [] };
  if (rows.length === 0) return { ...NOTHING, ...read };
  const folder = await mkdtemp(path.join(tmpdir(), 'nfse-simples-'));
  try {
    const arquivo = path.join(folder, 'simples.csv');
    await writeFile(arquivo, writeTabela(COLUMNS, rows), { mode: 0o600 });
    const asked = { ...request, arquivo, nome: path.basename(request.arquivo) };
    return { ...(await importRegistro(world, 'prestadores', asked)), ...read };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The outcome of a file that changes no period. */
const NOTHING = { recusadas: 0, primeiras: [], perguntas: [], consertos: [], counts: [], previa: undefined } as const;

/** The establishments of legal entities, by the root of their CNPJ. */
async function listOptants(
  { store }: RegistryWorld,
  tenant: string,
): Promise<ReadonlyMap<string, readonly PrestadorListado[]>> {
  const all: PrestadorListado[] = [];
  for (let place: readonly [string, string] | undefined; ; ) {
    const found = await store.prestadores.search(tenant, {}, place, BLOCK);
    all.push(...found.filter(({ documento }) => documento.length === 14));
    const last = found.at(-1);
    if (last === undefined || found.length < BLOCK) return Map.groupBy(all, ({ documento }) => raizOf(documento));
    place = [last.documento, bareIm(last.inscricao_municipal)];
  }
}

/** The option of each of these roots that ever had one. */
async function readOptions(
  { arquivo, onProgress }: ImportRequest,
  raizes: ReadonlySet<string>,
): Promise<{ readonly options: ReadonlyMap<string, Periodo>; readonly linhas: number }> {
  const options = new Map<string, Periodo>();
  const bytesTotal = (await stat(arquivo)).size;
  const stream = createReadStream(arquivo, 'latin1');
  let linhas = 0;
  for await (const line of createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY })) {
    linhas += 1;
    if (linhas % TOLD_EVERY === 0) onProgress({ etapa: 'lendo', linhas, bytes: stream.bytesRead, bytesTotal });
    const [, raiz, optante, opcao, exclusao] = LINE.exec(line) ?? [];
    if (raiz === undefined) throw new Error(`a linha ${linhas} não é do arquivo SIMPLES dos dados abertos do CNPJ.`);
    if (!raizes.has(raiz)) continue;
    const inicio = readDay(opcao!, linhas);
    if (inicio === null) continue;
    const fim = optante === 'S' ? null : readDay(exclusao!, linhas);
    if (optante === 'S' || fim !== null) options.set(raiz, [inicio, fim]);
  }
  return { options, linhas };
}

/** `2026-11-30` of `20261130`; null: none is given. */
function readDay(text: string, linha: number): string | null {
  if (text === '' || text === '00000000') return null;
  const day = `${text.slice(0, 4)}-${text.slice(4, 6)}-${text.slice(6)}`;
  if (!isDay(day)) throw new Error(`a linha ${linha} tem um dia que não existe: ${text}.`);
  return day;
}

/** The lines of an establishment whose periods change. The file has the last option alone: earlier periods stay. */
function rowsOf(prestador: PrestadorListado, option: Periodo): readonly (readonly string[])[] {
  const [inicio] = option;
  const earlier = prestador.simples.filter(([, fim]) => fim !== null && fim < inicio);
  const periods = [...earlier, option];
  if (JSON.stringify(periods) === JSON.stringify(prestador.simples)) return [];
  const { documento, razao_social, inscricao_municipal } = prestador;
  return periods.map(([from, until]) => [documento, razao_social, inscricao_municipal, from, until ?? '']);
}
