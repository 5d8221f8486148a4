/** The trail of a municipality for its readers: the author, the time and the reason of each manual act. */

import { type Ato, type FiltroDeAtos, OBJETOS, type Objeto } from '../../base/book/atos.ts';
import { writeTabela } from '../../base/world/escrever-tabela.ts';
import { municipalMoment } from '../../base/world/gather-facts.ts';
import { municipioNamed } from '../../base/world/municipios.ts';
import { isPapel, PAPEIS_NAMES } from '../../base/world/papeis.ts';
import type { World } from '../../base/world/world.ts';
import { zoneOf } from '../../fiscal/catalogs/catalogs.ts';
import { bareDocumento, documentoKind } from '../../fiscal/chave.ts';
import { addDays, brazilianMoment, isDay, isoMoment, startOfDay } from '../../fiscal/moment.ts';
import { ownOf } from '../../fiscal/own.ts';
import {
  describeColumn,
  describeStored,
  REGISTERS,
  type RegisterName,
  withoutInvented,
} from '../../fiscal/registers.ts';
import { tipoByCodigo } from '../../fiscal/tipos-evento.ts';

export { OBJETOS };

type TrilhaWorld = Pick<World, 'store' | 'now'>;

/** A search as it is typed; empty texts are no condition. Days in the time of the municipality, the last one included. */
export type BuscaNaTrilha = {
  readonly quem?: string;
  readonly objeto?: string;
  readonly chave?: string;
  readonly de?: string;
  readonly ate?: string;
};

type Mudado = readonly [nome: string, antes: string, depois: string];

export type AtoLido = Omit<Ato, 'em' | 'objeto'> & {
  /** `DD/MM/YYYY HH:MM:SS` of the municipality. */
  readonly em: string;
  /** The same as ISO 8601. */
  readonly instante: string;
  readonly objeto: string;
  /** Name and value, before and after, of each change. */
  readonly mudancas: readonly Mudado[];
};

export type PaginaDaTrilha = {
  readonly atos: readonly AtoLido[];
  /** The start of the next page; undefined: there is none. */
  readonly seguinte: string | undefined;
};

const PAGE = 50;

/** A page of the trail, the newest first, or the faults of the search by field. `depois`: `seguinte` of the page before. */
export async function listTrilha(
  world: TrilhaWorld,
  slug: string,
  busca: BuscaNaTrilha,
  depois?: string,
): Promise<PaginaDaTrilha | { readonly problems: Readonly<Partial<Record<keyof BuscaNaTrilha, string>>> }> {
  const { codigoIbge } = await municipioNamed(world, slug);
  const filtro = readFiltro(busca, codigoIbge);
  if ('problems' in filtro) return filtro;
  const found = await world.store.atos.list(slug, { ...filtro, before: readCursor(depois) }, PAGE + 1);
  const atos = found.slice(0, PAGE);
  const last = atos.at(-1);
  return {
    atos: atos.map((ato) => readAto(ato, codigoIbge)),
    seguinte: found.length > PAGE && last !== undefined ? `${+last.em}_${last.id}` : undefined,
  };
}

/** All results of a search, as CSV. Undefined: the search cannot be read. */
export async function exportTrilha(
  world: TrilhaWorld,
  slug: string,
  busca: BuscaNaTrilha,
): Promise<AsyncIterable<string> | undefined> {
  const first = await listTrilha(world, slug, busca);
  return 'problems' in first ? undefined : writeTabela(COLUNAS, readRows(world, slug, busca, first));
}

const COLUNAS = ['em', 'quem', 'via', 'objeto', 'chave', 'acao', 'motivo', 'mudancas'];

async function* readRows(
  world: TrilhaWorld,
  slug: string,
  busca: BuscaNaTrilha,
  first: PaginaDaTrilha,
): AsyncGenerator<readonly string[]> {
  let page = first;
  for (;;) {
    for (const { instante, quem, via, objeto, chave, acao, motivo, mudancas } of page.atos) {
      const changed = mudancas.map(([nome, antes, depois]) => `${nome}: ${antes} → ${depois}`);
      yield [instante, quem, via, objeto, chave, acao, motivo ?? '', changed.join('; ')];
    }
    const next = page.seguinte === undefined ? undefined : await listTrilha(world, slug, busca, page.seguinte);
    if (next === undefined || 'problems' in next) return;
    page = next;
  }
}

function readFiltro(
  { quem, objeto, chave, de, ate }: BuscaNaTrilha,
  codigoIbge: string | undefined,
): FiltroDeAtos | { readonly problems: Readonly<Partial<Record<keyof BuscaNaTrilha, string>>> } {
  const problems = {
    ...(objeto && !Object.hasOwn(OBJETOS, objeto) ? { objeto: 'Escolha um da lista.' } : {}),
    ...(de && !isDay(de) ? { de: NO_DAY } : {}),
    ...(ate && !isDay(ate) ? { ate: NO_DAY } : {}),
  };
  if (Object.keys(problems).length > 0) return { problems };
  return {
    quem: quem?.trim() || undefined,
    objeto: objeto || undefined,
    chave: bareCnpj(chave?.trim() ?? '') || undefined,
    desde: de ? startOfDay(zoneOf(codigoIbge), de) : undefined,
    ate: ate ? startOfDay(zoneOf(codigoIbge), addDays(ate, 1)) : undefined,
  };
}

/** Documents stand in the trail without their points. */
function bareCnpj(chave: string): string {
  const bare = bareDocumento(chave);
  return documentoKind(bare) === undefined ? chave : bare;
}

const NO_DAY = 'Escreva o dia como AAAA-MM-DD, por exemplo 2026-11-30.';

const CURSOR = /^(\d{1,15})_([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

/** A cursor that the service did not give starts at the newest act. */
function readCursor(text: string | undefined): FiltroDeAtos['before'] {
  const [, em, id] = CURSOR.exec(text ?? '') ?? [];
  return em === undefined || id === undefined ? undefined : { em: Number(em), id };
}

function readAto({ em, objeto, ...ato }: Ato, codigoIbge: string | undefined): AtoLido {
  const moment = municipalMoment(codigoIbge, +em);
  const registro = registerOf(objeto, ato.chave);
  const shown = (value: unknown) => (value instanceof Object ? withoutInvented(value) : value);
  const mudancas = listChanges(shown(ato.antes), shown(ato.depois));
  return {
    ...ato,
    em: brazilianMoment(moment),
    instante: isoMoment(moment),
    objeto: registro === undefined ? OBJETOS[objeto] : REGISTERS[registro].titulo,
    mudancas: mudancas.map((one) => (registro === undefined ? describeOther(one) : describeChange(registro, one))),
  };
}

/** Names of the values of an act on an event. */
const VALORES: Readonly<Record<string, string>> = { codigo_tipo_evento: 'Tipo do evento', chave_acesso: 'Nota' };

function describeOther([name, antes, depois]: Mudado): Mudado {
  const shown = (text: string): string => {
    if (name === 'codigo_tipo_evento') return tipoByCodigo(text)?.descricao ?? text;
    return isPapel(text) ? PAPEIS_NAMES[text] : text;
  };
  return [ownOf(VALORES, name) ?? name, shown(antes), shown(depois)];
}

function describeChange(registro: RegisterName, [name, antes, depois]: Mudado): Mudado {
  const shown = (text: string): string => describeStored(registro, name, text);
  return [describeColumn(registro, name).label, shown(antes), shown(depois)];
}

/** The register that an act changed; its name begins the key of a line. */
function registerOf(objeto: Objeto, chave: string): RegisterName | undefined {
  if (objeto === 'prestador') return 'prestadores';
  const named = objeto === 'correlacao' ? 'correlacao' : objeto === 'lista' ? chave.split(' ', 1)[0] : undefined;
  return named !== undefined && Object.hasOwn(REGISTERS, named) ? (named as RegisterName) : undefined;
}

/** Names whose value changed; a value within a value has both names. */
function listChanges(antes: unknown, depois: unknown): AtoLido['mudancas'] {
  const [was, is] = [antes, depois].map((value) => new Map(flatten(value, '')));
  return [...new Set([...was!.keys(), ...is!.keys()])]
    .map((name) => [name, was!.get(name) ?? '', is!.get(name) ?? ''] as const)
    .filter(([, before, after]) => before !== after);
}

function flatten(value: unknown, name: string): readonly (readonly [name: string, text: string])[] {
  if (value === undefined || value === null) return [];
  if (typeof value === 'boolean') return [[name, value ? 'sim' : 'não']];
  if (Array.isArray(value)) return [[name, value.map(String).join(', ')]];
  if (typeof value !== 'object') return [[name, String(value)]];
  return Object.entries(value).flatMap(([own, inner]) => flatten(inner, name === '' ? own : `${name}: ${own}`));
}
