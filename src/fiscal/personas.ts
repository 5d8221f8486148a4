/**
 * The personas of a sandbox: invented providers, each with documents for the scenarios of its kind, as data and as ready texts. The creator
 * of a sandbox imports the registers and issues the documents like any integrator (D-601).
 */
import { dpsIdOf } from './chave.ts';
import { linhaDe } from './cronograma.ts';
import type { DpsPath } from './layout/dps.ts';
import { addDays, BRASILIA, momentIn } from './moment.ts';
import { GERAIS } from './personas/gerais.ts';
import { COM_GRUPO } from './personas/grupos.ts';
import {
  type CadastroDePersona,
  type Cenario,
  type LinhaPrestador,
  MUNICIPIO_DAS_PERSONAS,
  type Persona,
} from './personas/persona.ts';
import { DO_SIMPLES } from './personas/simples.ts';
import { exampleJson, exampleXml, VALID_DPS } from './rules/example.ts';
import type { Patch } from './rules/rule.ts';

export type { Cenario, Persona } from './personas/persona.ts';
export { MUNICIPIO_DAS_PERSONAS };

export const PERSONAS: readonly Persona[] = [...DO_SIMPLES, ...GERAIS, ...COM_GRUPO];

/** First competence without PIS and COFINS (ADCT, art. 126, II). */
const SEM_PIS_COFINS = '2027-01-01';

/** The series and number in the identifier of an XML without number; the service computes those of the note. */
const SEM_NUMERO = { serie: '70000', nDPS: '1' };

/**
 * A scenario as a DPS in XML, for a moment (milliseconds since 1970): its competence is that day. `propria`: series, number and environment,
 * where a municipality asks for them.
 */
export function xmlDe(cenario: Cenario, at: number, propria: Readonly<Partial<Record<DpsPath, string>>> = {}): string {
  const patch: Patch = { ...patchDe(cenario, at), ...propria };
  const documento = (patch['prest/CPF'] ?? patch['prest/CNPJ'])!;
  const { serie = SEM_NUMERO.serie, nDPS = SEM_NUMERO.nDPS } = propria;
  const id = dpsIdOf({ cLocEmi: MUNICIPIO_DAS_PERSONAS, documento, serie, nDPS });
  return exampleXml({ ...patch, '@Id': id });
}

/** The same scenario as a JSON body. */
export function jsonDe(cenario: Cenario, at: number): string {
  const body = exampleJson(patchDe(cenario, at));
  if (body === undefined) throw new Error(`the scenario ${cenario.id} has no JSON body`);
  return body;
}

/** Keys of the notes of an event: the one on which it is registered, and the one that replaces it. */
type NotasDoEvento = { readonly nota: string; readonly substituta?: string | undefined };

/** The body of the event of a scenario. Undefined: the scenario has none. */
export function eventoDe({ evento }: Cenario, { nota, substituta }: NotasDoEvento): string | undefined {
  if (evento === undefined) return undefined;
  const replaced = substituta === undefined ? {} : { chave_acesso_substituta: substituta };
  return JSON.stringify({ tipo_evento: evento.tipo, chave_acesso: nota, ...evento.corpo, ...replaced }, null, 2);
}

/** The scenario of the note that replaces one with this key. Undefined: that note is not replaced. */
export function substitutaDe(cenario: Cenario, chave: string): Cenario | undefined {
  const { substituta, evento, ...own } = cenario;
  if (substituta === undefined || evento === undefined) return undefined;
  const { codigo_motivo_cancelamento: cMotivo, descricao_motivo_cancelamento: xMotivo } = evento.corpo;
  const subst: Patch = { 'subst/chSubstda': chave, 'subst/cMotivo': cMotivo!, 'subst/xMotivo': xMotivo! };
  const dps: Patch = { ...own.dps, ...substituta, ...subst };
  // The substitute waits for the event, like every substitute.
  return { ...own, id: `${own.id}-substituta`, dps, avisos: [...own.avisos, 'E1308'] };
}

function patchDe({ dps, dias = {}, desde2027 = {} }: Cenario, at: number): Patch {
  const { date: dCompet } = momentIn(BRASILIA, at);
  const dates = Object.entries(dias).map(([path, days]) => [path, addDays(dCompet, days)]);
  const later = dCompet < SEM_PIS_COFINS ? {} : desde2027;
  const patch: Patch = { ...withoutTaken(dps, later), ...later, dCompet, ...Object.fromEntries(dates) };
  return owesIbsCbs(patch, dCompet) ? patch : { ...withoutTaken(patch, { IBSCBS: null }), IBSCBS: null };
}

/** A patch without the elements that another removes. */
function withoutTaken(patch: Patch, taking: Patch): Patch {
  const gone = Object.entries(taking).flatMap(([path, text]) => (text === null ? [path] : []));
  const isGone = (path: string): boolean => gone.some((one) => path === one || path.startsWith(`${one}/`));
  return Object.fromEntries(Object.entries(patch).filter(([path]) => !isGone(path)));
}

/** Whether the group is due (D-601): a persona omits it before that day. */
function owesIbsCbs(patch: Patch, dCompet: string): boolean {
  const of = (path: DpsPath): string => patch[path] ?? VALID_DPS[path] ?? '';
  const isOptante = of('prest/regTrib/opSimpNac') !== '1';
  return dCompet >= linhaDe(of('serv/cServ/cTribNac'), isOptante).desde;
}

export type RegistroDePersonas = 'prestadores' | CadastroDePersona;

const TODOS: readonly RegistroDePersonas[] = [
  'prestadores',
  'servicos',
  'beneficios',
  'deducoes',
  'regimes',
  'nao_incidencias',
];

/** The registers that have lines of personas: a register without lines is not kept, and nothing is judged by it. */
export const REGISTROS_DAS_PERSONAS: readonly RegistroDePersonas[] = TODOS.filter((one) => linhasDe(one).length > 0);

function linhasDe(registro: RegistroDePersonas): readonly (LinhaPrestador | Readonly<Record<string, string>>)[] {
  return registro === 'prestadores'
    ? PERSONAS.map(({ prestador }) => prestador)
    : PERSONAS.flatMap(({ cadastros }) => cadastros[registro] ?? []);
}

/** The lines of all personas in a register, in the format of its importer. Empty: no persona needs it. */
export function csvDe(registro: RegistroDePersonas): string {
  const [first, ...others] = linhasDe(registro);
  if (first === undefined) return '';
  const columns = Object.keys(first);
  const rows = [first, ...others].map((row) =>
    columns.map((column) => cellOf(new Map(Object.entries(row)).get(column))),
  );
  return [columns, ...rows].map((cells) => `${cells.join(';')}\n`).join('');
}

function cellOf(text = ''): string {
  return /[;"\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
