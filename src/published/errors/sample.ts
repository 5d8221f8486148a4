/**
 * An example as the pages show it: the relevant lines of the XML and of the JSON body, and `…` for the others.
 *
 * A form is left out when it cannot express the example, or when the answer differs. JSON has one property for the two documents of a
 * party, and fills in technical fields.
 */
import type { Facts } from '../../fiscal/facts.ts';
import { judge } from '../../fiscal/judge.ts';
import type { JsonDocument, JsonValue } from '../../fiscal/layout/json-value.ts';
import { DECLARED, HOSTS, NAMES } from '../../fiscal/layout/plan-corpo.ts';
import { readCorpo } from '../../fiscal/layout/read-corpo.ts';
import { applyPatch, exampleJson, exampleXml } from '../../fiscal/rules/example.ts';
import type { Patch } from '../../fiscal/rules/rule.ts';
import { type ExampleLine, isJsonOnly, linesOf } from '../../fiscal/rules/trial.ts';
import { elementAt } from '../layout/elements.ts';

/** `marked`: the line that the answer concerns. */
type FragmentLine = { readonly text: string; readonly marked: boolean };
export type Fragment = readonly FragmentLine[];

/** The relevant lines of an example, as it is sent. */
export type Sample = { readonly xml: Fragment | undefined; readonly json: Fragment | undefined };

/** The layout paths that decide the shown lines. */
export type View = {
  /** Shown besides the paths of the patch. */
  readonly about: readonly string[];
  readonly marked: ReadonlySet<string>;
  /** Needed by the example, and folded when a group holds nothing else. */
  readonly context: ReadonlySet<string>;
  /** The facts under which the law answers. */
  readonly facts: Facts;
};

/** `codes`: the answer of the law to the example; empty when it is accepted. */
export function sampleOf(patch: Patch, view: View, codes: readonly string[]): Sample {
  return { xml: isJsonOnly(patch) ? undefined : xmlOf(patch, view), json: jsonOf(patch, view, codes) };
}

/** The patch, which also removes the element at `at` when the example lacks it: its absence is then shown. */
export function addAbsent(patch: Patch, at: string | undefined): Patch {
  if (at === undefined || elementAt(at)?.kind !== 'leaf') return patch;
  const leaves = applyPatch(patch);
  const group = at.slice(0, at.lastIndexOf('/') + 1);
  const isAbsent = !leaves.has(at) && [...leaves.keys()].some((leaf) => leaf.startsWith(group));
  return isAbsent ? { ...patch, [at]: null } : patch;
}

/** The notation of XML or JSON for an absent element, and for a folded group. */
type Form = { writeAbsent(name: string): string; writeFolded(line: ExampleLine, name: string): string };

const XML: Form = {
  writeAbsent: (name) => `<!-- sem ${name} -->`,
  writeFolded: (_line, name) => `<${name}>…</${name}>`,
};

function xmlOf(patch: Patch, { about, marked, context }: View): Fragment {
  const lines = linesOf(exampleXml(addPlaceholders(patch)));
  return fragmentOf(lines, { set: pathsSetBy(patch), removed: pathsRemovedBy(patch), about, marked, context }, XML);
}

function pathsRemovedBy(patch: Patch): string[] {
  return Object.keys(patch).filter((path) => patch[path as keyof Patch] === null);
}

function pathsSetBy(patch: Patch): string[] {
  return Object.keys(patch)
    .filter((path) => typeof patch[path as keyof Patch] === 'string' && !path.startsWith('@') && !path.startsWith('='))
    .map((path) => path.replace(/^\+/, ''));
}

type Chosen = Omit<View, 'facts'> & { readonly set: readonly string[]; readonly removed: readonly string[] };

/**
 * The relevant lines inside their groups: those that the patch sets or removes, and those that the case concerns. A removed element leaves
 * a comment in its place, and a group of context alone becomes one line.
 */
function fragmentOf(
  all: readonly ExampleLine[],
  { set, removed, about, marked, context }: Chosen,
  form: Form,
): Fragment {
  const isGone = (path: string): boolean =>
    removed.some((one) => isWithin(path, one)) && !set.some((one) => isWithin(one, path) || isWithin(path, one));
  const lines = all.filter(({ path, kind }) => !isGone(path) || (removed.includes(path) && kind !== 'end'));
  const wanted = [...set, ...removed, ...about];
  const isShown = ({ path }: ExampleLine): boolean => wanted.some((one) => isWithin(path, one) || isWithin(one, path));
  const isMarked = ({ path }: ExampleLine): boolean => [...marked].some((one) => isWithin(path, one));

  const fragment: FragmentLine[] = [];
  let left: ExampleLine | undefined;
  for (let place = 0; place < lines.length; place += 1) {
    const line = lines[place]!;
    if (!isShown(line)) {
      left ??= line;
      continue;
    }
    if (left !== undefined && fragment.length > 0) fragment.push({ text: indentLine(left.path, '…'), marked: false });
    left = undefined;
    const name = line.path.split('/').at(-1)!;
    const end = line.kind === 'start' ? endOfContext(lines, place, context, isMarked) : undefined;
    if (end !== undefined) {
      fragment.push({ text: indentLine(line.path, form.writeFolded(lines[end]!, name)), marked: false });
      place = end;
    } else {
      const text = isGone(line.path) ? form.writeAbsent(name) : line.source.trim();
      fragment.push({ text: indentLine(line.path, text), marked: isMarked(line) });
    }
  }
  return fragment;
}

/** A group with fewer lines is shown whole. */
const CONTEXT_MIN = 3;

/** The end of the group that starts here, when it holds only leaves of context. */
function endOfContext(
  lines: readonly ExampleLine[],
  start: number,
  context: ReadonlySet<string>,
  isMarked: (line: ExampleLine) => boolean,
): number | undefined {
  const length = lines.slice(start + 1).findIndex(({ path, kind }) => kind !== 'leaf' || !context.has(path));
  const end = lines[start + 1 + length];
  if (length < CONTEXT_MIN || end?.kind !== 'end') return undefined;
  return lines.slice(start, start + length + 2).some(isMarked) ? undefined : start + 1 + length;
}

function isWithin(path: string, group: string): boolean {
  return path === group || path.startsWith(`${group}/`);
}

function indentLine(path: string, text: string): string {
  return '  '.repeat(path.split('/').length - 1) + text;
}

/** The patch with placeholders for the removed elements, so that their places are known. */
function addPlaceholders(patch: Patch): Patch {
  return Object.fromEntries(
    Object.entries(patch).flatMap(([path, text]) => {
      if (text !== null) return [[path, text]];
      return elementAt(path)?.kind === 'leaf' ? [[path, '-']] : [];
    }),
  );
}

// The JSON body.

const JSON_FORM: Form = {
  writeAbsent: (name) => `// sem ${name}`,
  writeFolded: ({ source }, name) => `"${name}": {…}${source.endsWith(',') ? ',' : ''}`,
};

function jsonOf(patch: Patch, { about, marked, context, facts }: View, codes: readonly string[]): Fragment | undefined {
  const text = exampleJson(patch);
  if (text === undefined || codesOf(text, facts).join() !== codes.toSorted().join()) return undefined;
  const kept = pathsSetBy(patch).flatMap((path) => camposAt(path));
  const declared = Object.keys(patch).flatMap((path) => (path.startsWith('=') ? [writeSlashes(path.slice(1))] : []));
  const set = [...kept, ...declared];
  // One property may stand for both the removed element and its replacement.
  const removed = pathsRemovedBy(patch)
    .flatMap(camposAt)
    .filter((campo) => !set.includes(campo));
  // The removed and the present document of a party share a property, so both cannot be shown.
  const whole = Object.values(patch).includes(null) ? exampleJson(addPlaceholders(patch)) : text;
  const chosen = {
    set,
    removed: whole === undefined ? [] : removed,
    about: about.flatMap(camposAt),
    marked: new Set([...marked].flatMap(camposAt)),
    context: new Set([...context].flatMap(camposAt)),
  };
  return fragmentOf(jsonLinesOf(whole ?? text), chosen, JSON_FORM);
}

/** The codes of the answer to a body, sorted; empty when it is accepted. */
function codesOf(text: string, facts: Facts): readonly string[] {
  const read = readCorpo(documentOf(text), { tpAmb: '2' });
  const judged = 'faults' in read ? read : judge(read.dps, facts, read.declarado);
  return 'faults' in judged ? judged.faults.map(({ codigo }) => codigo).toSorted() : [];
}

/** The body of an example in the form of the reader. An example has texts, lists and objects only; positions do not matter. */
function documentOf(text: string): JsonDocument {
  const toJsonValue = (value: unknown): JsonValue => {
    if (typeof value === 'string') return { kind: 'string', offset: 0, text: value };
    if (Array.isArray(value)) return { kind: 'array', offset: 0, items: value.map(toJsonValue) };
    const members = Object.entries(value as object).map(([name, one]) => ({
      name,
      offset: 0,
      value: toJsonValue(one),
    }));
    return { kind: 'object', offset: 0, members };
  };
  return { value: toJsonValue(JSON.parse(text)), positionOf: () => ({ linha: 1, coluna: 1 }) };
}

/** The body properties for a path of the DPS or of the note: several when the body has no object for a group. */
function camposAt(path: string): readonly string[] {
  let campos = CAMPOS.get(path);
  if (campos === undefined) {
    campos = findCampos(path);
    CAMPOS.set(path, campos);
  }
  return campos;
}

const CAMPOS = new Map<string, readonly string[]>();

function findCampos(path: string): readonly string[] {
  if (path.startsWith(NOTE)) {
    const declared = DECLARED.get(path.slice(NOTE.length));
    return declared === undefined ? [] : [writeSlashes(declared.campo)];
  }
  const named = NAMES.get(path);
  if (named === undefined) return camposOfStranger(path);
  if (!isShared(path)) return [writeSlashes(named.campo)];
  const within = [...NAMES]
    .filter(([below]) => below.startsWith(`${path}/`))
    .map(([, { campo }]) => writeSlashes(campo));
  // An object is removed with all its content.
  return [...new Set(within)].filter((campo, _place, all) => !all.some((one) => campo.startsWith(`${one}/`)));
}

/** A group without an object of its own: its members stand in the object around it. */
function isShared(path: string): boolean {
  return elementAt(path)?.kind === 'group' && !HOSTS.some((host) => host.path === path);
}

const NOTE = 'NFSe/infNFSe/';

/** An element outside the layout keeps its name, in the object of its group. */
function camposOfStranger(path: string): readonly string[] {
  const place = path.lastIndexOf('/');
  const name = path.slice(place + 1);
  const above = place < 0 ? '' : path.slice(0, place);
  const named = NAMES.get(above);
  const object = named === undefined ? '' : writeSlashes(isShared(above) ? named.host : named.campo);
  return [object === '' ? name : `${object}/${name}`];
}

/** A place of the body in the notation of the line paths. */
function writeSlashes(campo: string): string {
  return campo.replaceAll('[]', '').replaceAll('.', '/');
}

const JSON_LINE = /^ *(?:"([^"]+)": )?(.*?),?$/;

/** The lines inside the object of a body, one value per line; members of a list have its path. */
function jsonLinesOf(text: string): readonly ExampleLine[] {
  const open: string[] = [];
  const lines: ExampleLine[] = [];
  for (const source of text.split('\n').slice(1, -1)) {
    const [, name, value] = JSON_LINE.exec(source)!;
    const isEnd = value === '}' || value === ']';
    const path = isEnd ? open.pop()! : [open.at(-1), name].filter(Boolean).join('/');
    const isStart = value === '{' || value === '[';
    if (isStart) open.push(path);
    lines.push({ kind: isEnd ? 'end' : isStart ? 'start' : 'leaf', path, source });
  }
  return lines;
}
