/**
 * Reads a tree of elements against a layout: the typed document, and **all** structural faults of it in one pass.
 *
 * Each fault has its code, its xpath, what was found, what was expected and, where the step is mechanical, the
 * corrected text (D-12). One mistake is one fault: a misspelt tag is not also a missing element. What a value means
 * beside other values is the rules' affair, and line and column are filled in by who knows the text.
 */
import { type Fault, quoted } from '../fault.ts';
import { checkText, isBlank, readValue, sayFault, type TypeFault } from './check-text.ts';
import { DPS_NAMESPACE, type Dps, FOREIGN_TAGS, type ForeignTag, INF_DPS } from './dps.ts';
import { escapeText } from './escape.ts';
import { inLayoutOrder } from './order.ts';
import { attributeOf, type Elemento } from './tree.ts';
import { type Choice, elementsOf, type Group, type Item, isRequiredOfSender, type Leaf } from './vocabulary.ts';

export const SIGNATURE_NAMESPACE = 'http://www.w3.org/2000/09/xmldsig#';
const SCHEMA_INSTANCE = 'http://www.w3.org/2001/XMLSchema-instance';

/** More faults than this are not listed: the answer says how many there were in all. */
export const FAULTS_MAX = 200;

type Slot = {
  readonly item: Leaf | Group;
  /** Place in the national order; undefined when the element may stand anywhere. */
  readonly order: number | undefined;
  readonly choice: Choice | undefined;
  readonly required: boolean;
  readonly inside: Compiled | undefined;
};

/** A list of items, prepared once so that reading is a look-up an element. */
type Compiled = {
  readonly slots: ReadonlyMap<string, Slot>;
  readonly required: readonly Slot[];
  readonly choices: readonly Choice[];
};

function compile(items: readonly Item[]): Compiled {
  const slots = new Map<string, Slot>();
  let order = 0;
  for (const item of items) {
    for (const member of item.kind === 'choice' ? item.items : [item]) {
      const slot: Slot = {
        item: member,
        order: member.anywhere ? undefined : order,
        choice: item.kind === 'choice' ? item : undefined,
        required: item.kind !== 'choice' && isRequiredOfSender(member),
        inside: member.kind === 'group' ? compile(member.items) : undefined,
      };
      if (member.sent === 'refused') continue;
      slots.set(member.name, slot);
      if (member.alias !== undefined) slots.set(member.alias, slot);
    }
    order += 1;
  }
  return {
    slots,
    required: [...slots.values()].filter((slot, place, all) => slot.required && all.indexOf(slot) === place),
    choices: items.filter((item) => item.kind === 'choice'),
  };
}

const COMPILED_INF_DPS = compile(INF_DPS);
const PATHS_BY_NAME = pathsByName(INF_DPS, '', new Map());

function pathsByName(items: readonly Item[], base: string, into: Map<string, string[]>): Map<string, string[]> {
  for (const item of elementsOf(items)) {
    const path = base === '' ? item.name : `${base}/${item.name}`;
    into.set(item.name, [...(into.get(item.name) ?? []), path]);
    if (item.kind === 'group') pathsByName(item.items, path, into);
  }
  return into;
}

/** Whether a tag is one of the spellings of an element of the DPS (D-15). */
export function isSpellingOf(tag: string, name: string): boolean {
  return tag === name || (name === 'IBSCBS' && tag === 'ibscbs') || (name === 'BM' && tag === 'bM');
}

/** How faults name what they speak of: by the tags of the DPS, or as the body calls it that the tree was made of. */
export type Words = {
  readonly element: 'elemento' | 'campo';
  /** What the sender calls an element. */
  name(xpath: string, item: Leaf | Group): string;
  /** What the sender calls the group around it; undefined for the body as a whole. */
  group(xpath: string, name: string): string | undefined;
  /** An element with its right text, to be copied. */
  corrected(xpath: string, leaf: Leaf, text: string): string;
};

const TAGS: Words = {
  element: 'elemento',
  name: (_xpath, { name }) => name,
  group: (_xpath, name) => name,
  corrected: (_xpath, { name }, text) => `<${name}>${escapeText(text)}</${name}>`,
};

export type DpsReading = { readonly dps: Dps; readonly id: string } | { readonly faults: readonly Fault[] };

/**
 * The DPS in a tree whose root should be `DPS`, or every structural fault of it (E0001, E0002, E0003, E0010, E002,
 * E203 and the codes that the specification gives to single elements). The layout version is judged before (E110).
 */
export function readDps(root: Elemento, words: Words = TAGS): DpsReading {
  const found: Found = { words, faults: [], unlisted: 0, places: new Map(), missing: new Set(), meant: new Set() };
  const { faults } = found;
  if (root.name !== 'DPS') {
    const expected = '<DPS xmlns="http://www.sped.fazenda.gov.br/nfse" versao="1.01">';
    const message = `O elemento raiz é ${root.name}; o documento de emissão começa com DPS.`;
    return {
      faults: [
        { codigo: 'E203', xpath: `/${root.name}`, mensagem: message, encontrado: root.name, esperado: expected },
      ],
    };
  }
  if (root.namespace !== DPS_NAMESPACE) faults.push(namespaceFault('/DPS', root));
  attributeFaults(root, '/DPS', ['versao'], faults);
  let infDps: Elemento | undefined;
  let bodies = 0;
  let signatures = 0;
  let misspelt = false;
  for (const child of root.children) {
    if (child.name === 'infDPS') {
      infDps ??= child;
      bodies += 1;
      if (bodies === 2) faults.push(repeated('/DPS/infDPS[2]', 'infDPS', 1));
    } else if (child.name === 'Signature' && child.namespace === SIGNATURE_NAMESPACE) {
      signatures += 1;
      if (signatures === 2) faults.push(repeated('/DPS/Signature[2]', 'Signature', 1));
    } else {
      if (faults.length > FAULTS_MAX) {
        found.unlisted += 1;
        continue;
      }
      const unknown = unknownTag('/DPS', child, COMPILED_ROOT, root);
      misspelt ||= unknown.meant === 'infDPS';
      faults.push(unknown.fault);
    }
  }
  looseText(root, '/DPS', faults);
  if (infDps === undefined) {
    if (!misspelt)
      faults.push({ codigo: 'E002', xpath: '/DPS/infDPS', mensagem: 'Falta o grupo infDPS dentro de DPS.' });
    return { faults: told(found) };
  }
  if (isForeign(infDps, root)) faults.push(namespaceFault('/DPS/infDPS', infDps));
  attributeFaults(infDps, '/DPS/infDPS', ['Id'], faults);
  const id = attributeOf(infDps, 'Id') ?? '';
  checkId(id, faults);
  const dps = readGroup(COMPILED_INF_DPS, infDps, '/DPS/infDPS', 'infDPS', found);
  if (faults.length > 0) return { faults: told(found) };
  return { dps: dps as Dps, id };
}

/** What one reading has found so far. */
type Found = {
  readonly words: Words;
  readonly faults: Fault[];
  /** Faults that are counted and not described: a thousand unknown tags are not each compared. */
  unlisted: number;
  /** Where those stand in the layout whose own path is in none. */
  readonly places: Map<Fault, string>;
  /** The faults that say that something is missing. */
  readonly missing: Set<Fault>;
  /** Absolute paths that a misplaced or misspelt element evidently meant. */
  readonly meant: Set<string>;
};

/**
 * What is answered, in the order of the layout. A mistake already named by its wrong tag is not named again as a missing
 * element.
 */
function told({ faults, unlisted, places, missing, meant }: Found): readonly Fault[] {
  const said = faults.filter((fault) => !(missing.has(fault) && meant.has(fault.xpath)));
  return cut(
    inLayoutOrder(said, (fault) => places.get(fault) ?? fault.xpath),
    unlisted,
  );
}

const COMPILED_ROOT = compile([{ kind: 'group', name: 'infDPS', items: [], min: 1, max: 1, doc: 'DPS' }]);

function cut(faults: readonly Fault[], unlisted: number): readonly Fault[] {
  const left = faults.length + unlisted - FAULTS_MAX;
  if (left <= 0) return faults;
  const mensagem = `Há mais ${left} erro(s) de estrutura além dos ${FAULTS_MAX} listados; corrija estes e envie de novo.`;
  return [
    ...faults.slice(0, FAULTS_MAX),
    { codigo: 'E203', xpath: '/DPS/infDPS', mensagem, detalhes: { nao_listados: left } },
  ];
}

/** D-16: any `DPS` and digits; letters only where an alphanumeric CNPJ puts them. */
function checkId(id: string, faults: Fault[]): void {
  const xpath = '/DPS/infDPS/@Id';
  const esperado = 'DPS seguido de algarismos (o identificador nacional tem 45 posições)';
  if (id === '') {
    faults.push({ codigo: 'E002', xpath, mensagem: 'Falta o atributo Id de infDPS.', esperado });
  } else if (!/^DPS[0-9]{1,60}$|^DPS[0-9]{8}[0-9A-Z]{14}[0-9]{20}$/.test(id)) {
    const mensagem = 'O atributo Id de infDPS não tem o formato pedido.';
    faults.push({ codigo: 'E0003', xpath, mensagem, encontrado: quoted(id), esperado });
  }
}

function readGroup(
  compiled: Compiled,
  element: Elemento,
  base: string,
  parent: string,
  found: Found,
): Record<string, unknown> {
  const { faults } = found;
  const value: Record<string, unknown> = {};
  const explained = new Set<string>();
  const twins = new Set<string>();
  let last = -1;
  let disordered = false;
  let before = base;
  for (const child of element.children) {
    const slot = compiled.slots.get(child.name);
    if (slot === undefined) {
      if (faults.length > FAULTS_MAX) {
        found.unlisted += 1;
        continue;
      }
      const unknown = unknownTag(base, child, compiled, element, parent);
      if (unknown.meant?.startsWith('/')) {
        found.meant.add(unknown.meant);
      } else if (unknown.meant !== undefined) {
        explained.add(unknown.meant.split('/')[0]!);
        found.meant.add(`${base}/${unknown.meant}`);
      }
      const isHere = unknown.meant !== undefined && !unknown.meant.startsWith('/');
      found.places.set(unknown.fault, isHere ? `${base}/${unknown.meant}` : before);
      faults.push(unknown.fault);
      continue;
    }
    const name = slot.item.name;
    // What the layout does not have is told behind all that is in the element before it.
    before = `${base}/${name}/-`;
    if (slot.order !== undefined) {
      if (slot.order < last) disordered = true;
      else last = slot.order;
    }
    if (isForeign(child, element)) faults.push(namespaceFault(`${base}/${name}`, child));
    if (slot.item.max === 1) {
      if (name in value) {
        if (!twins.has(name)) {
          twins.add(name);
          const count = element.children.filter((twin) => compiled.slots.get(twin.name) === slot).length;
          faults.push(repeated(`${base}/${name}[2]`, name, 1, count));
        }
        continue;
      }
      value[name] = readItem(slot, child, `${base}/${name}`, found);
    } else {
      const list = (value[name] ?? []) as unknown[];
      value[name] = list;
      list.push(readItem(slot, child, `${base}/${name}[${list.length + 1}]`, found));
      if (list.length === slot.item.max + 1) {
        const xpath = `${base}/${name}[${list.length}]`;
        faults.push(repeated(xpath, found.words.name(xpath, slot.item), slot.item.max));
      }
    }
  }
  looseText(element, base, faults);
  if (disordered) orderFaults(compiled, element, base, faults);
  for (const slot of compiled.required) {
    if (slot.item.name in value || explained.has(slot.item.name)) continue;
    const fault = missing(slot, base, parent, found.words);
    found.missing.add(fault);
    faults.push(fault);
  }
  for (const choice of compiled.choices) checkChoice(choice, value, explained, base, parent, found);
  return value;
}

function readItem(slot: Slot, element: Elemento, xpath: string, found: Found): unknown {
  const { faults } = found;
  attributeFaults(element, xpath, [], faults);
  if (slot.inside !== undefined) {
    const before = faults.length;
    const value = readGroup(slot.inside, element, xpath, slot.item.name, found);
    // Of a group that must hold something its own fields have been missed.
    if (element.children.length === 0 && faults.length === before) faults.push(emptyGroup(slot, xpath, found.words));
    return value;
  }
  const leaf = slot.item as Leaf;
  if (element.children.length > 0) {
    const inner = element.children[0]!.name;
    const mensagem = `${leaf.name} é um campo simples e traz o elemento ${inner} dentro.`;
    faults.push({ codigo: 'E203', xpath, mensagem, encontrado: `<${inner}>`, esperado: leaf.type.expected });
    return undefined;
  }
  const problem = checkText(leaf.type, element.text);
  if (problem === undefined) return readValue(leaf.type, element.text);
  if (problem.kind === 'vazio' && leaf.emptyIsRead) return '';
  faults.push(valueFault(slot, leaf, element.text, problem, xpath, found.words));
  return undefined;
}

function valueFault(
  slot: Slot,
  leaf: Leaf,
  text: string,
  problem: TypeFault,
  xpath: string,
  { name, corrected, element }: Words,
): Fault {
  const required = slot.required || slot.choice?.min === 1;
  const codigo = {
    vazio: leaf.codes?.empty ?? (required ? 'E002' : 'E0003'),
    tipo: 'E0001',
    valor: leaf.codes?.value ?? 'E0002',
    formato: leaf.codes?.format ?? 'E0003',
  }[problem.kind];
  const advice =
    problem.kind === 'vazio'
      ? required
        ? ` Informe o valor: ${leaf.type.expected.replace(/^um de: /, 'um de ')}.`
        : ` Informe o valor ou retire o ${element}: ${element} vazio não é aceito.`
      : '';
  return {
    codigo,
    xpath,
    mensagem: `${name(xpath, leaf)} ${sayFault(leaf.type, problem)}${advice}`,
    encontrado: quoted(text),
    esperado: leaf.type.expected,
    ...(problem.fix === undefined ? {} : { correcao: corrected(xpath, leaf, problem.fix) }),
  };
}

/** D-34: what is empty the national reception does not take, be it an element or a group. */
function emptyGroup({ item }: Slot, xpath: string, { name }: Words): Fault {
  const inside = item.kind === 'group' ? elementsOf(item.items) : [];
  const names = [...new Set(inside.map((member) => name(`${xpath}/${member.name}`, member)))];
  return {
    codigo: 'E0003',
    xpath,
    mensagem: `O grupo ${name(xpath, item)} está vazio. Preencha-o ou retire-o: grupo vazio não é aceito.`,
    esperado: `ao menos um de: ${names.join(', ')}`,
  };
}

function missing(slot: Slot, base: string, parent: string, words: Words): Fault {
  const { item } = slot;
  const xpath = `${base}/${item.name}`;
  const name = words.name(xpath, item);
  const expected = item.kind === 'leaf' ? item.type.expected : `grupo ${name}`;
  return {
    codigo: item.codes?.missing ?? 'E002',
    xpath,
    mensagem: `Falta ${name}${within(words.group(base, parent))}: ${lowerFirst(item.doc)}.`,
    esperado: expected,
  };
}

function within(group: string | undefined): string {
  return group === undefined ? '' : ` em ${group}`;
}

function checkChoice(
  choice: Choice,
  value: Record<string, unknown>,
  explained: ReadonlySet<string>,
  base: string,
  parent: string,
  { faults, words }: Found,
): void {
  const names = choice.items.map((item) => item.name);
  const present = names.filter((name) => name in value);
  if (present.length === 1 || (present.length === 0 && choice.min === 0)) return;
  const called = (items: Choice['items']): string[] => [
    ...new Set(items.map((item) => words.name(`${base}/${item.name}`, item))),
  ];
  const list = called(choice.items).join(', ');
  const group = words.group(base, parent);
  if (present.length > 1) {
    const rule = choice.min === 1 ? 'exatamente um' : 'no máximo um';
    const found = called(choice.items.filter(({ name }) => name in value));
    faults.push({
      codigo: choice.codes?.many ?? 'E203',
      xpath: `${base}/${present[1]}`,
      mensagem: `${group ?? 'O corpo'} traz ${found.join(' e ')}; aceita ${rule} de: ${list}.`,
      encontrado: found.join(', '),
      esperado: `${rule} de: ${list}`,
    });
  } else if (!names.some((name) => explained.has(name))) {
    faults.push({
      codigo: choice.codes?.missing ?? 'E002',
      xpath: base,
      mensagem: `Falta${within(group)} um dos ${words.element}s: ${list}.`,
      esperado: `exatamente um de: ${list}`,
    });
  }
}

/**
 * Which elements are out of order: those outside the longest run that is in order, so that one moved element is one
 * fault however many others it passed. A repeated element has its fault already, and which of its copies is the right
 * one is not known: it is not asked for its place.
 */
function orderFaults(compiled: Compiled, element: Elemento, base: string, faults: Fault[]): void {
  const ordered = element.children.flatMap((child) => {
    const slot = compiled.slots.get(child.name);
    return slot?.order === undefined ? [] : [{ name: slot.item.name, order: slot.order }];
  });
  const copies = new Map<string, number>();
  for (const { name } of ordered) copies.set(name, (copies.get(name) ?? 0) + 1);
  const placed = ordered.filter(({ name }) => copies.get(name) === 1);
  const kept = longestOrderedRun(placed.map((child) => child.order));
  const right = placed.toSorted((a, b) => a.order - b.order).map((child) => child.name);
  placed.forEach((child, place) => {
    if (kept.has(place)) return;
    const passed = placed.find((other, at) => at < place && kept.has(at) && other.order > child.order);
    const awaited = placed.findLast((other, at) => at > place && kept.has(at) && other.order < child.order);
    const rule =
      passed !== undefined
        ? `${child.name} deve vir antes de ${passed.name}`
        : `${child.name} deve vir depois de ${awaited?.name ?? right.at(-1)}`;
    faults.push({
      codigo: 'E203',
      xpath: `${base}/${child.name}`,
      mensagem: `Ordem errada: ${rule}.`,
      encontrado: placed.map((other) => other.name).join(', '),
      esperado: right.join(', '),
      correcao: `ordem: ${right.join(', ')}`,
    });
  });
}

/** Places of a longest non-decreasing subsequence (patience sorting, n log n). */
function longestOrderedRun(orders: readonly number[]): ReadonlySet<number> {
  const tails: number[] = [];
  const before: number[] = [];
  orders.forEach((order, place) => {
    let low = 0;
    let high = tails.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (orders[tails[middle]!]! <= order) low = middle + 1;
      else high = middle;
    }
    before[place] = low > 0 ? tails[low - 1]! : -1;
    tails[low] = place;
  });
  const kept = new Set<number>();
  for (let place = tails.at(-1) ?? -1; place >= 0; place = before[place]!) kept.add(place);
  return kept;
}

/** E0010, naming the right form; `meant` is the path that the sender evidently meant, below `base` or absolute. */
function unknownTag(
  base: string,
  element: Elemento,
  compiled: Compiled,
  around: Elemento,
  parent = around.name,
): { fault: Fault; meant: string | undefined } {
  const name = element.name;
  const found = { codigo: 'E0010', xpath: `${base}/${name}`, encontrado: `<${name}>` };
  const foreign = foreignTagAt(name, base);
  if (foreign !== undefined) return foreignFault(foreign, found, base, element, around, parent);
  const near = nearestName(name, [...compiled.slots.keys()]);
  if (near !== undefined) {
    const mensagem = `${name} não é um elemento de ${parent}; o nome parecido que existe ali é ${near}.`;
    const meant = compiled.slots.get(near)!.item.name;
    const correcao = isShort(element) ? { correcao: `<${near}>${escapeText(element.text)}</${near}>` } : {};
    return { fault: { ...found, mensagem, esperado: near, ...correcao }, meant };
  }
  const places = placesNear(name, base);
  const listed = places.slice(0, PLACES_MAX).join(' ou ');
  const mensagem =
    places.length === 0
      ? `${name} não é um elemento do leiaute nacional 1.01.`
      : `${name} não pertence a ${parent}; no leiaute 1.01 está em ${listed}.`;
  const allowed = [...new Set([...compiled.slots.values()].map((slot) => slot.item.name))];
  return {
    fault: { ...found, mensagem, esperado: places.length > 0 ? listed : `em ${parent}: ${allowed.join(', ')}` },
    // One place in the whole layout: evidently that one was meant.
    meant: PATHS_BY_NAME.get(name)?.length === 1 ? `${BASE}/${places[0]}` : undefined,
  };
}

const BASE = '/DPS/infDPS';
const PLACES_MAX = 3;

/** The row for a tag of earlier layouts, or one that the service writes, in the group where it stands. */
function foreignTagAt(name: string, base: string): ForeignTag | undefined {
  const group = base.replace(/\[\d+\]/g, '');
  return FOREIGN_TAGS.find((tag) => {
    if (tag.name !== name) return false;
    return tag.within === undefined || group === tag.within || group.endsWith(`/${tag.within}`);
  });
}

/** What stands in the place of a foreign tag, if that place is here; else where in the layout it is. */
function foreignFault(
  foreign: ForeignTag,
  found: Pick<Fault, 'codigo' | 'xpath' | 'encontrado'>,
  base: string,
  element: Elemento,
  around: Elemento,
  parent: string,
): { fault: Fault; meant: string | undefined } {
  const { name, say } = foreign;
  const right = foreign.rename ?? foreign.replaces?.split('/').at(-1);
  if (right === undefined) {
    return {
      fault: { ...found, mensagem: `${name} não é um elemento do leiaute 1.01 em ${parent}: ${say}.` },
      meant: undefined,
    };
  }
  const group = base.slice(BASE.length + 1).replace(/\[\d+\]/g, '');
  const places = foreign.replaces === undefined ? placesNear(right, base) : [foreign.replaces];
  const isBody = base === BASE;
  const isHere = (place: string): boolean =>
    foreign.replaces === undefined
      ? place === (isBody ? right : `${group}/${right}`)
      : isBody || place.startsWith(`${group}/`);
  const here = places.find(isHere);
  if (here === undefined) {
    const listed = places.slice(0, PLACES_MAX).join(' ou ');
    const mensagem = `${name} não é um elemento do leiaute 1.01 em ${parent}: o nome certo é ${right}, e o lugar dele é ${listed}.`;
    return {
      fault: { ...found, mensagem, esperado: listed },
      meant: places.length === 1 ? `${BASE}/${places[0]}` : undefined,
    };
  }
  const steps = here.slice(group === '' ? 0 : group.length + 1).split('/');
  const mensagem = `${name} não é um elemento do leiaute 1.01 em ${parent}: ${say}.`;
  const correcao = isShort(element) ? wrapped(steps, element.text, around) : undefined;
  return {
    fault: {
      ...found,
      mensagem,
      ...(foreign.replaces === undefined ? {} : { esperado: foreign.replaces }),
      ...(correcao === undefined ? {} : { correcao }),
    },
    meant: steps.join('/'),
  };
}

/** An element inside the groups that lead to it; undefined where there is such a group already, in which it belongs. */
function wrapped([first, ...rest]: readonly string[], text: string, around: Elemento): string | undefined {
  if (rest.length > 0 && around.children.some((child) => child.name === first)) return undefined;
  const inside =
    rest.length === 0
      ? escapeText(text)
      : rest.reduceRight((inner, step) => `<${step}>${inner}</${step}>`, escapeText(text));
  return `<${first}>${inside}</${first}>`;
}

/** Where in the layout an element of this name stands: in the groups around this place when it does there, else anywhere. */
function placesNear(name: string, base: string): readonly string[] {
  const paths = PATHS_BY_NAME.get(name) ?? [];
  const here = base
    .slice(BASE.length + 1)
    .replace(/\[\d+\]/g, '')
    .split('/');
  const shared = paths.map((path) => {
    const steps = path.split('/');
    const parted = steps.findIndex((step, place) => step !== here[place]);
    return parted === -1 ? steps.length : parted;
  });
  const most = Math.max(0, ...shared);
  return most === 0 ? paths : paths.filter((_path, place) => shared[place] === most);
}

/** A correction repeats what was sent; a long text is not sent back. */
function isShort({ children, text }: Elemento): boolean {
  return children.length === 0 && text.length <= CORRECTION_MAX;
}

const CORRECTION_MAX = 300;

/** A name cut short or drawn out (`opSimpNacional`) is recognised from this many letters on. */
const PREFIX_MIN = 5;

function isPrefixed(a: string, b: string): boolean {
  return b.length >= PREFIX_MIN && (a.startsWith(b) || b.startsWith(a));
}

/** The one of the names that a misspelt name was evidently meant to be. */
export function nearestName(name: string, names: readonly string[]): string | undefined {
  const lower = name.toLowerCase();
  const same = names.find((candidate) => candidate.toLowerCase() === lower);
  if (same !== undefined) return same;
  const whole = lower.length < PREFIX_MIN ? undefined : names.find((one) => isPrefixed(lower, one.toLowerCase()));
  if (whole !== undefined) return whole;
  const limit = Math.min(2, Math.floor(name.length / 3));
  let best: string | undefined;
  let bestDistance = limit + 1;
  for (const candidate of names) {
    const distance = editDistance(lower, candidate.toLowerCase(), bestDistance);
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

function editDistance(a: string, b: string, stop: number): number {
  if (Math.abs(a.length - b.length) >= stop) return stop;
  let row = Array.from({ length: b.length + 1 }, (_, place) => place);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const change = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      next[j] = Math.min(change, row[j]! + 1, next[j - 1]! + 1);
    }
    row = next;
  }
  return row[b.length]!;
}

function repeated(xpath: string, name: string, max: number, count?: number): Fault {
  const times = count === undefined ? `mais de ${max === 1 ? 'uma vez' : `${max} vezes`}` : `${count} vezes`;
  const mensagem = `${name} aparece ${times}; o máximo é ${max}.`;
  return { codigo: 'E203', xpath, mensagem, esperado: `no máximo ${max}` };
}

/** Whether an element leaves the national namespace. What stands inside one that has left it only inherits the mistake. */
function isForeign(element: Elemento, parent: Elemento): boolean {
  return element.namespace !== DPS_NAMESPACE && element.namespace !== parent.namespace;
}

function namespaceFault(xpath: string, element: Elemento): Fault {
  const found = element.namespace === '' ? 'sem namespace' : element.namespace;
  return {
    codigo: 'E203',
    xpath,
    mensagem: `${element.name} está fora do namespace nacional da NFS-e.`,
    encontrado: quoted(found),
    esperado: DPS_NAMESPACE,
    ...(xpath === '/DPS' ? { correcao: `<DPS xmlns="${DPS_NAMESPACE}" versao="1.01">` } : {}),
  };
}

function attributeFaults(element: Elemento, xpath: string, allowed: readonly string[], faults: Fault[]): void {
  if (element.attributes.length === 0) return;
  for (const attribute of element.attributes) {
    if (attribute.namespace === SCHEMA_INSTANCE) continue;
    if (attribute.namespace === '' && allowed.includes(attribute.name)) continue;
    const mensagem = `O atributo ${attribute.name} não existe em ${element.name} no leiaute 1.01; retire-o.`;
    faults.push({
      codigo: 'E0010',
      xpath: `${xpath}/@${attribute.name}`,
      mensagem,
      encontrado: quoted(attribute.value),
    });
  }
}

function looseText(element: Elemento, xpath: string, faults: Fault[]): void {
  if (isBlank(element.text)) return;
  const mensagem = `${element.name} é um grupo e traz texto solto entre os seus elementos.`;
  faults.push({ codigo: 'E203', xpath, mensagem, encontrado: quoted(element.text.trim()) });
}

/** A name of two words keeps its letters: `Simples Nacional`. */
function lowerFirst(text: string): string {
  return /^[A-ZÀ-Ý](?:[A-ZÀ-Ý]|\S* [A-ZÀ-Ý][a-zà-ÿ])/.test(text) ? text : text.charAt(0).toLowerCase() + text.slice(1);
}
