/**
 * Opens many municipalities by one file, a line each, with settings and the files of its registers. The same file again skips what is
 * done already (D-933).
 */
import path from 'node:path';
import { unavailabilityOf } from '../../base/pg/unavailable.ts';
import {
  type Asked,
  alterMunicipio,
  type Configured,
  changesOf,
  createMunicipio,
  findMunicipio,
  type Recusa,
  type RegistryWorld,
} from '../../base/world/municipios.ts';
import type { PorMao } from '../../base/world/operator.ts';
import { isSlug } from '../../base/world/slugs.ts';
import { storeTroubleOf } from '../../base/world/store-trouble.ts';
import { unmarkText } from '../../documents/write-csv.ts';
import { groupDigits } from '../../fiscal/group-digits.ts';
import { REGISTERS, type RegisterName } from '../../fiscal/registers.ts';
import { SETTINGS, type SettingName } from '../../fiscal/settings.ts';
import { type Columns, HeadingsUnknown } from '../cadastros/headings.ts';
import { openTable } from '../cadastros/import-csv.ts';
import { type Conta, importInto, type RegistroImported } from '../cadastros/registros.ts';

/** Refused lines of a register that are shown for one municipality. */
const RECUSADAS_SHOWN = 3;

const REGISTROS = Object.keys(REGISTERS) as readonly RegisterName[];

/** The columns of the file. A register's column names its file. */
export const COLUNAS: Columns = {
  required: ['slug'],
  optional: [...SETTINGS.map(([, { option }]) => option), ...REGISTROS],
};

export type AbrirRequest = {
  readonly arquivo: string;
  /** Everything is checked, and nothing stored. */
  readonly previa: boolean;
  /** Lines of registers are stored in spite of their questions. */
  readonly confirmado: boolean;
};

/** One line of the file, as it was carried out. */
export type LinhaAberta = {
  readonly linha: number;
  readonly slug: string;
  /** Undefined: nothing of the settings was stored. */
  readonly feito: 'criado' | 'alterado' | 'igual' | undefined;
  /** Rows of its registers that were changed, or would be. */
  readonly contas: readonly Conta[];
  /** Sentences; each is about a part of the line that was not stored. */
  readonly problemas: readonly string[];
  readonly avisos: readonly string[];
};

type Pedido = {
  readonly linha: number;
  readonly slug: string;
  readonly asked: Asked;
  readonly arquivos: readonly (readonly [RegisterName, string])[];
  readonly problemas: readonly string[];
};

/** Carries out the lines of the file, one after the other. Throws an Error in Portuguese if the whole file is refused. */
export async function* abrirMunicipios(
  world: RegistryWorld,
  request: AbrirRequest,
  by: PorMao,
): AsyncGenerator<LinhaAberta, void> {
  const lineOfSlug = new Map<string, number>();
  for await (const pedido of readPedidos(request.arquivo)) {
    const { linha, slug } = pedido;
    const earlier = lineOfSlug.get(slug);
    lineOfSlug.set(slug, earlier ?? linha);
    const repeated = earlier === undefined ? [] : [`a linha ${earlier} já diz este município.`];
    yield await abrir(world, request, by, { ...pedido, problemas: [...pedido.problemas, ...repeated] });
  }
}

async function abrir(
  world: RegistryWorld,
  { previa, confirmado }: AbrirRequest,
  by: PorMao,
  { linha, slug, asked, arquivos, problemas: refused }: Pedido,
): Promise<LinhaAberta> {
  const nothing = { linha, slug, feito: undefined, contas: [], avisos: [] };
  if (refused.length > 0) return { ...nothing, problemas: refused };
  const isThere = isSlug(slug) && (await findMunicipio(world, slug)) !== undefined;
  const configured = await (isThere ? alterMunicipio : createMunicipio)(world, slug, asked, by, previa);
  if ('problems' in configured) return { ...nothing, problemas: configured.problems.map(describeRecusa) };
  const contas: Conta[] = [];
  const problemas: string[] = [];
  const avisos = [...configured.avisos];
  for (const [nome, arquivo] of arquivos) {
    const request = { arquivo, erros: undefined, previa, confirmado, by, onProgress: () => undefined };
    try {
      const imported = await importInto(world, configured.municipio, nome, request);
      contas.push(...(imported.counts ?? imported.previa?.counts ?? []));
      avisos.push(...imported.reparos.map((reparo) => `${nome}: ${reparo}`));
      problemas.push(...problemsOf(imported).map((problema) => `${nome}: ${problema}`));
    } catch (error) {
      problemas.push(`${nome}: ${tellError(error)}`);
    }
  }
  return { linha, slug, feito: feitoOf(configured), contas, problemas, avisos };
}

function feitoOf({ antes, municipio }: Exclude<Configured, { problems: unknown }>): LinhaAberta['feito'] {
  if (antes === undefined) return 'criado';
  return changesOf(antes, municipio).length === 0 ? 'igual' : 'alterado';
}

function problemsOf({ linhas, recusadas, primeiras, perguntas }: RegistroImported): readonly string[] {
  if (linhas === 0) return ['o arquivo só tem o cabeçalho.'];
  const first = primeiras.slice(0, RECUSADAS_SHOWN).map(({ linha, motivo }) => `linha ${linha}: ${motivo}`);
  const rest = recusadas - first.length;
  return [
    ...first,
    ...(rest > 0 ? [`… e mais ${groupDigits(rest)} linhas recusadas.`] : []),
    ...perguntas.map((pergunta) => `confirme com --confirmar: ${pergunta}`),
  ];
}

/** The sentence of an error about this line. An obstacle of the whole service is thrown again. */
function tellError(error: unknown): string {
  if (unavailabilityOf(error) === 'closed') return storeTroubleOf(error)!.mensagem;
  if (error instanceof Error && (error.constructor === Error || error instanceof HeadingsUnknown)) return error.message;
  throw error;
}

function describeRecusa({ campo, texto }: Recusa): string {
  const option = SETTINGS.find(([name]) => name === campo)?.[1].option;
  return option === undefined ? texto : `${option} ${texto}`;
}

async function* readPedidos(arquivo: string): AsyncGenerator<Pedido, void> {
  const table = await openTable({ arquivo }, COLUNAS);
  const folder = path.dirname(path.resolve(arquivo));
  try {
    for await (const { records } of table.csv.records()) {
      for (const record of records) {
        if ('problem' in record) yield { linha: record.linha, problemas: [record.problem], ...BLANK };
        else {
          const text = (column: string): string =>
            unmarkText((record.cells[table.places.get(column)?.[0] ?? -1] ?? '').normalize('NFC').trim());
          yield readPedido(record.linha, text, folder);
        }
      }
    }
  } finally {
    await table.close();
  }
}

const BLANK = { slug: '', asked: { written: {}, without: [] }, arquivos: [] };

/** The request of a line. A path begins at the folder of the file; an empty cell asks for nothing. */
function readPedido(linha: number, text: (column: string) => string, folder: string): Pedido {
  const written: Partial<Record<SettingName, string | true>> = {};
  const without: SettingName[] = [];
  const problemas: string[] = [];
  for (const [name, { option, takes, isPath }] of SETTINGS) {
    const cell = text(option);
    if (cell === '') continue;
    if (takes !== undefined) written[name] = isPath ? path.resolve(folder, cell) : cell;
    else if (cell === 'sim') written[name] = true;
    else if (/^n[aã]o$/.test(cell)) without.push(name);
    else problemas.push(`${option} pede sim ou nao; veio "${cell.slice(0, 40)}".`);
  }
  const arquivos = REGISTROS.flatMap((nome) => {
    const cell = text(nome);
    return cell === '' ? [] : [[nome, path.resolve(folder, cell)] as const];
  });
  return { linha, slug: text('slug'), asked: { written, without }, arquivos, problemas };
}
