/**
 * An example under the law: the document of a patch, read and judged as in the sandbox.
 *
 * The pages of the codes quote these answers, so that a page always shows the real behaviour. Only the text that `example.ts` writes is
 * read, one tag per line. External documents are XML and are read by `../../documents/xml.ts`, with which the tests run the same examples.
 */

import { tabelaEmbarcada } from '../aliquotas-ibs-cbs.ts';
import { SEM_CADASTROS } from '../cadastros.ts';
import { decimal } from '../decimal.ts';
import type { Declarado } from '../declarado.ts';
import { ENDERECO_NAO_INFORMADO, type Facts } from '../facts.ts';
import type { Aviso, Fault } from '../fault.ts';
import { judge } from '../judge.ts';
import { type DpsReading, readDps } from '../layout/read.ts';
import type { Atributo, Elemento } from '../layout/tree.ts';
import { exampleXml } from './example.ts';
import { EXAMPLE_CADASTROS } from './example-cadastros.ts';
import type { AnyRule, Patch } from './rule.ts';

/** The sandbox on the competence of the valid DPS, with no service list and no rates of its own (D-61). */
export const EXAMPLE_FACTS: Facts = {
  ambiente: 'homologacao',
  cMun: undefined,
  hoje: '2026-10-05',
  agora: Date.parse('2026-10-05T12:00:00-03:00'),
  prestador: {
    documento: '11222333000181',
    razaoSocial: 'Empresa Exemplo Ltda',
    autorizado: true,
    endereco: ENDERECO_NAO_INFORMADO,
    simples: [],
  },
  // The rules refuse as in production, so that an example shows its refusal there.
  regrasNacionais: 'recusa',
  exigeNumero: false,
  administers: () => true,
  servicoMunicipal: () => 'sem_lista',
  aliquotaRegistrada: () => undefined,
  tabelaIbsCbs: tabelaEmbarcada(),
  cadastros: SEM_CADASTROS,
  substituida: undefined,
};

/** The facts of the examples of a rule: those of a municipality with registers, if the rule needs them. */
export function factsOf({ given }: { readonly given?: AnyRule['given'] | undefined }): Facts {
  return given === undefined ? EXAMPLE_FACTS : { ...EXAMPLE_FACTS, cadastros: EXAMPLE_CADASTROS };
}

/** The document of a patch; one with `dhEmi` comes through the national door. */
function readExample(patch: Patch): DpsReading {
  return readDps(treeOf(exampleXml(patch)), { porta: patch.dhEmi === undefined ? 'rest' : 'nacional' });
}

/** Every fault of the document of a patch: those of its structure, or those of the rules. Empty if it is accepted. */
export function faultsOf(patch: Patch, facts: Facts = EXAMPLE_FACTS): readonly Fault[] {
  const read = readExample(patch);
  if ('faults' in read) return read.faults;
  const judged = judge(read.dps, facts, declaredBy(patch));
  return 'faults' in judged ? judged.faults : [];
}

/** The remarks on an example that is accepted. */
export function avisosOn(patch: Patch, facts: Facts = EXAMPLE_FACTS): readonly Aviso[] {
  const read = readExample(patch);
  const judged = 'faults' in read ? read : judge(read.dps, facts, declaredBy(patch));
  return 'faults' in judged ? [] : judged.avisos;
}

/** The declarations that only the JSON body of an example has: the `=` entries of the patch. */
export function declaredBy(patch: Patch): Declarado {
  const declared: Record<string, unknown> = {};
  const ibscbs: Record<string, unknown> = {};
  for (const [path, text] of Object.entries(patch)) {
    if (!path.startsWith('=') || typeof text !== 'string') continue;
    const name = path.slice(1);
    if (name.startsWith('ibscbs.')) ibscbs[name.slice('ibscbs.'.length)] = decimal(text);
    else declared[name] = name === 'municipio_incidencia' ? text : decimal(text);
  }
  return Object.keys(ibscbs).length > 0 ? { ...declared, ibscbs } : declared;
}

/** Whether the example cannot be sent as XML. */
export function isJsonOnly(patch: Patch): boolean {
  return Object.keys(patch).some((path) => path.startsWith('='));
}

/** One line of an example: a whole leaf, or the start or the end of a group. `path` is below `infDPS`. */
export type ExampleLine = {
  readonly kind: 'leaf' | 'start' | 'end';
  readonly path: string;
  readonly source: string;
};

const LINE = /^\s*<(\/)?([^\s>]+)((?:\s[^>]*)?)>(?:([^<]*)<\/[^>]+>)?$/;

/** The lines of the text of an example inside `infDPS`. */
export function linesOf(xml: string): readonly ExampleLine[] {
  const names: string[] = [];
  const lines: ExampleLine[] = [];
  for (const source of xml.split('\n')) {
    const match = LINE.exec(source);
    if (match === null || match[2]!.startsWith('?')) continue;
    const isEnd = match[1] !== undefined;
    const kind = isEnd ? 'end' : match[4] === undefined ? 'start' : 'leaf';
    if (!isEnd) names.push(match[2]!);
    if (names.length > 2) lines.push({ kind, path: names.slice(2).join('/'), source });
    if (kind !== 'start') names.pop();
  }
  return lines;
}

/** The text of an example as the tree that the reader takes. */
export function treeOf(xml: string): Elemento {
  type Growing = Elemento & { readonly children: Elemento[] };
  const open: Growing[] = [];
  let root: Growing | undefined;
  let index = 0;
  for (const source of xml.split('\n')) {
    const match = LINE.exec(source);
    if (match === null || match[2]!.startsWith('?')) continue;
    if (match[1] !== undefined) {
      open.pop();
      continue;
    }
    const declared = attributesOf(match[3]!);
    const element: Growing = {
      name: match[2]!,
      namespace: declared.find(({ name }) => name === 'xmlns')?.value ?? root?.namespace ?? '',
      text: unescapeText(match[4] ?? ''),
      children: [],
      attributes: declared.filter(({ name }) => name !== 'xmlns'),
      index,
    };
    index += 1;
    root ??= element;
    open.at(-1)?.children.push(element);
    if (match[4] === undefined) open.push(element);
  }
  if (root === undefined) throw new RangeError('Not the text of an example');
  return root;
}

function attributesOf(source: string): readonly Atributo[] {
  return [...source.matchAll(/([\w:]+)="([^"]*)"/g)].map(([, name, value]) => ({
    name: name!,
    namespace: '',
    value: unescapeText(value!),
  }));
}

function unescapeText(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}
