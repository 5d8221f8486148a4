/**
 * Reads a tree of elements against a layout: the typed document, and **all** its structural faults in one pass.
 *
 * Each fault has its code, its xpath, the found and the expected value. The corrected text is added if the correction is mechanical (D-12).
 * One mistake is one fault: a misspelt tag is not also a missing element. The rules judge a value beside other values. The caller, which
 * knows the text, fills in line and column.
 */
import { municipioOf } from '../catalogs/catalogs.ts';
import { type Fault, quoted } from '../fault.ts';
import { correctedTo, forget, UNKNOWN } from '../unknown.ts';
import { lowerFirst } from '../words.ts';
import { checkText, isBlank, readValue, sayFault, type TypeFault } from './check-text.ts';
import { elementWith, nationalNamespace, REMOVAL, type Source } from './correct-xml.ts';
import { type Ordered, orderFault } from './disorder.ts';
import { DPS_NAMESPACE, DPS_VERSAO, type Dps } from './dps.ts';
import { type Compiled, compile, LAYOUTS, type Layout, layoutOf, type Porta, type Slot } from './layouts.ts';
import { inLayoutOrder } from './order.ts';
import { readRight } from './read-right.ts';
import {
  FAULTS_MAX,
  type Found,
  ID_FORM,
  type Level,
  listFaults,
  nothingFound,
  SIGNATURE_NAMESPACE,
  strayAttributes,
  type Words,
} from './reading.ts';
import { expectedInSentence } from './simple-types.ts';
import { type Meant, NOTHING_STRANGE, type Strange, tellStrange } from './strange-tag.ts';
import { attributeOf, type Elemento } from './tree.ts';
import type { Choice, Leaf } from './vocabulary.ts';

/** Whether a tag is one of the spellings of an element of the DPS (D-15). */
export function isSpellingOf(tag: string, name: string): boolean {
  return tag === name || (name === 'IBSCBS' && tag === 'ibscbs') || (name === 'BM' && tag === 'bM');
}

/** The names of the DPS itself; corrections copy prefixes, comments and spaces from the text, if it is known. */
function tagsOf(source: Source | undefined): Words {
  return {
    element: 'elemento',
    name: (_xpath, { name }) => name,
    group: (_xpath, name) => name,
    corrected: (_xpath, _leaf, text, element) => elementWith(element, text, source),
  };
}

type How = { readonly source?: Source; readonly words?: Words; readonly porta?: Porta };

export type DpsReading =
  | { readonly dps: Dps; readonly id: string }
  | {
      readonly faults: readonly Fault[];
      /** The readable part, with marks for unknown values; undefined if too little could be read. */
      readonly marked?: Dps;
    };

/**
 * The DPS in a tree whose root should be `DPS`, or every structural fault of it. The codes are E0001, E0002, E0003, E0010, E002, E203 and
 * those that the specification gives to single elements. The layout version is judged before (E110). `how`: the text that the tree was read
 * from, or the words of another form that it was made of.
 */
export function readDps(root: Elemento, how: How = {}): DpsReading {
  const layout = layoutOf(root, how.porta) ?? LAYOUTS[0];
  return readRight(layout, root) ?? explainDps(layout, root, how);
}

/** The same with explanations, whether or not there is a fault. */
export function explainDps(layout: Layout, root: Elemento, { source, words = tagsOf(source) }: How = {}): DpsReading {
  const found = nothingFound({ layout, words, source, zone: zoneNamedIn(root) });
  const { faults } = found;
  if (root.name !== 'DPS') {
    const expected = `<DPS xmlns="${DPS_NAMESPACE}" versao="${DPS_VERSAO}">`;
    const message = `O elemento raiz é ${quoted(root.name)}; o documento de emissão começa com DPS.${EVENT_ROOTS.has(root.name) ? ' Um evento se registra em JSON, em /nfse/{chave_acesso}/eventos; /docs/migrar recebe este XML e o passa para JSON.' : ''}`;
    return {
      faults: [
        {
          codigo: 'E203',
          xpath: `/${quoted(root.name)}`,
          mensagem: message,
          encontrado: quoted(root.name),
          esperado: expected,
        },
      ],
    };
  }
  if (root.namespace !== DPS_NAMESPACE) faults.push(namespaceFault('/DPS', root, source));
  attributeFaults(root, '/DPS', found, 'versao');
  let infDps: Elemento | undefined;
  let bodies = 0;
  let signatures = 0;
  const strange: Strange[] = [];
  for (const child of root.children) {
    if (child.name === 'infDPS') {
      infDps ??= child;
      bodies += 1;
      if (bodies === 2) faults.push(repeatedFault('/DPS/infDPS[2]', 'infDPS', 1));
    } else if (child.name === 'Signature' && child.namespace === SIGNATURE_NAMESPACE) {
      signatures += 1;
      if (signatures === 2) faults.push(repeatedFault('/DPS/Signature[2]', 'Signature', 1));
    } else strange.push({ child, before: '/DPS' });
  }
  const level = { compiled: COMPILED_ROOT, element: root, base: '/DPS', parent: 'DPS' };
  const misspelt = strange.length > 0 && tellStrange(strange, level, found).explained.has('infDPS');
  looseText(root, '/DPS', faults);
  if (infDps === undefined) {
    if (!misspelt)
      faults.push({ codigo: 'E002', xpath: '/DPS/infDPS', mensagem: 'Falta o grupo infDPS dentro de DPS.' });
    return { faults: listInOrder(found) };
  }
  if (isForeign(infDps, root)) faults.push(namespaceFault('/DPS/infDPS', infDps, source));
  attributeFaults(infDps, '/DPS/infDPS', found, 'Id');
  const id = attributeOf(infDps, 'Id') ?? '';
  checkId(id, faults);
  const read = readGroup(layout.compiled, infDps, INF_DPS_XPATH, 'infDPS', found);
  if (faults.length === 0) return { dps: layout.toDps(read), id };
  // The meaning of two bodies, or of a thousand unknown tags, is undecidable.
  if (bodies > 1 || found.unlisted > 0 || faults.length > FAULTS_MAX) return { faults: listInOrder(found) };
  for (const path of [...found.meant, ...found.perhaps]) {
    if (path.startsWith(`${INF_DPS_XPATH}/`)) forget(read, path.slice(INF_DPS_XPATH.length + 1));
  }
  return { faults: listInOrder(found), marked: layout.toDps(read) };
}

const INF_DPS_XPATH = '/DPS/infDPS';

/** The zone of the issuing municipality: a day that was sent as an instant is converted in it. */
function zoneNamedIn({ children }: Elemento): string | undefined {
  const cLocEmi = children.find(({ name }) => name === 'infDPS')?.children.find(({ name }) => name === 'cLocEmi');
  return cLocEmi && municipioOf(cLocEmi.text.trim())?.fusoHorario;
}

/**
 * The faults of the answer, in the order of the layout. A mistake already named by its wrong tag is not named again as a missing element.
 */
function listInOrder({ faults, unlisted, places, withheld, missing, meant }: Found): readonly Fault[] {
  const said = faults.filter((fault) => !(missing.has(fault) && meant.has(fault.xpath)));
  const ordered = inLayoutOrder(said, (fault) => places.get(fault) ?? fault.xpath);
  return listFaults(
    withheld.size === 0 ? ordered : ordered.map((fault) => (withheld.has(fault) ? withoutCorrection(fault) : fault)),
    unlisted,
    'E203',
  );
}

function withoutCorrection({ correcao: _withheld, ...fault }: Fault): Fault {
  return fault;
}

/** Roots of the national documents of an event. */
const EVENT_ROOTS: ReadonlySet<string> = new Set(['pedRegEvento', 'evento']);

const COMPILED_ROOT = compile([{ kind: 'group', name: 'infDPS', items: [], min: 1, max: 1, doc: 'DPS' }]);

function checkId(id: string, faults: Fault[]): void {
  const xpath = '/DPS/infDPS/@Id';
  const esperado = 'DPS seguido de dígitos (o identificador nacional tem 45 posições)';
  if (id === '') {
    faults.push({ codigo: 'E002', xpath, mensagem: 'Falta o atributo Id de infDPS.', esperado });
  } else if (!ID_FORM.test(id)) {
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
  const twins = new Set<string>();
  const [first, level] = [faults.length, { compiled, element, base, parent }];
  let strange: Strange[] | undefined;
  let last = -1;
  let disordered = false;
  let before = base;
  for (const child of element.children) {
    const slot = compiled.slots.get(child.name);
    if (slot === undefined) {
      strange ??= [];
      strange.push({ child, before });
      continue;
    }
    const name = slot.item.name;
    // An unknown element is listed after the whole content of the known element before it.
    before = `${base}/${name}/-`;
    if (slot.order !== undefined) {
      if (slot.order < last) disordered = true;
      else last = slot.order;
    }
    if (isForeign(child, element)) faults.push(namespaceFault(`${base}/${name}`, child, found.source));
    if (slot.item.max === 1) {
      if (name in value) {
        if (!twins.has(name)) {
          twins.add(name);
          const count = element.children.filter((twin) => compiled.slots.get(twin.name) === slot).length;
          faults.push(repeatedFault(`${base}/${name}[2]`, name, 1, count));
        }
        continue;
      }
      value[name] = readItem(slot, child, `${base}/${name}`, found) ?? UNKNOWN;
    } else {
      const list = (value[name] ?? []) as unknown[];
      value[name] = list;
      list.push(readItem(slot, child, `${base}/${name}[${list.length + 1}]`, found) ?? UNKNOWN);
      if (list.length === slot.item.max + 1) {
        const xpath = `${base}/${name}[${list.length}]`;
        faults.push(repeatedFault(xpath, found.words.name(xpath, slot.item), slot.item.max));
      }
    }
  }
  looseText(element, base, faults);
  const stranger = strange === undefined ? NOTHING_STRANGE : tellStrange(strange, level, found);
  const { explained, meant } = stranger;
  if (meant.size > 0) readMeant(stranger, level, value, found);
  if (disordered) {
    const siblings = element.children.map((child) =>
      orderedAs(child, compiled.slots.get(child.name) ?? meant.get(child)),
    );
    const fault = orderFault(element, siblings, base, parent, found.source);
    if (fault !== undefined) faults.push(fault);
  }
  for (const slot of compiled.required) {
    if (slot.item.name in value || explained.has(slot.item.name)) continue;
    const fault = missingFault(slot, base, parent, found.words);
    found.missing.add(fault);
    faults.push(fault);
  }
  for (const choice of compiled.choices) checkChoice(choice, value, explained, base, parent, found);
  if (faults.length > first) {
    markUnknown(level, value, twins);
    keepOne(level, first, found);
  }
  return value;
}

/**
 * Marks the values that a faulty group leaves unknown: copies, missing elements, and all absent elements if loose text stands in the group.
 */
function markUnknown({ compiled, element }: Level, value: Record<string, unknown>, twins: ReadonlySet<string>): void {
  for (const name of twins) value[name] = UNKNOWN;
  for (const { item } of compiled.slots.values()) {
    const list = value[item.name];
    if (!Array.isArray(list)) continue;
    if (list.length > item.max || list.every((one) => one === UNKNOWN)) value[item.name] = UNKNOWN;
  }
  const isLoose = !isBlank(element.text);
  for (const { item, required } of compiled.slots.values()) if (required || isLoose) value[item.name] ??= UNKNOWN;
  for (const { items, min } of compiled.choices) {
    const present = items.filter(({ name }) => value[name] !== undefined).length;
    if (present > 1 || (present === 0 && min === 1)) for (const { name } of items) value[name] = UNKNOWN;
  }
}

/** Reads the content under a misspelt name; the content of other strange elements stays unknown. */
function readMeant({ meant, misspelt }: Meant, { base }: Level, value: Record<string, unknown>, found: Found): void {
  const free = new Set([...meant.values()].map(({ item }) => item.name).filter((name) => !(name in value)));
  for (const [child, slot] of meant) {
    const { item, choice } = slot;
    const { name, max } = item;
    const isAlone = choice === undefined || choice.items.every((other) => !(other.name in value));
    const isRead = free.has(name) && !(name in value) && max === 1 && isAlone && misspelt.has(child);
    value[name] = isRead ? readMisspelt(slot, child, base, found) : UNKNOWN;
  }
}

/** The faults in a misspelt group use its sent name; the text of a leaf is corrected with its name. */
function readMisspelt(slot: Slot, child: Elemento, base: string, found: Found): unknown {
  const { faults, places } = found;
  const { item } = slot;
  if (item.kind === 'leaf') {
    const isRight = child.children.length === 0 && checkText(item.type, child.text) === undefined;
    return isRight ? correctedTo(readValue(item.type, child.text)) : UNKNOWN;
  }
  const [first, sent, right] = [faults.length, `${base}/${child.name}`, `${base}/${item.name}`];
  const value = readItem(slot, child, sent, found);
  for (const fault of faults.slice(first)) {
    const place = places.get(fault) ?? fault.xpath;
    places.set(fault, place.startsWith(sent) ? right + place.slice(sent.length) : place);
  }
  return value ?? UNKNOWN;
}

function orderedAs({ name }: Elemento, slot: Slot | undefined): Ordered {
  return { name: slot?.item.name ?? name, order: slot?.order };
}

/** A group whose whole content is to be removed would be empty, which is a fault too; the sender must decide then. */
function keepOne({ element, base }: Level, first: number, { faults, withheld }: Found): void {
  const removals = faults
    .slice(first)
    .filter(({ correcao, xpath }) => correcao === REMOVAL && xpath.lastIndexOf('/') === base.length)
    .filter(({ xpath }) => xpath.startsWith(base) && xpath[base.length + 1] !== '@');
  if (removals.length >= element.children.length) for (const fault of removals) withheld.add(fault);
}

/** The value of an element; undefined if its text or its content leaves it unknown. */
function readItem(slot: Slot, element: Elemento, xpath: string, found: Found): unknown {
  const { faults } = found;
  attributeFaults(element, xpath, found);
  if (slot.inside !== undefined) {
    const before = faults.length;
    const value = readGroup(slot.inside, element, xpath, slot.item.name, found);
    // A group with required fields has a fault for each of them already.
    if (element.children.length === 0 && faults.length === before) faults.push(emptyGroup(slot, xpath, found.words));
    return element.children.length === 0 || Object.keys(value).length === 0 ? undefined : value;
  }
  const leaf = slot.item as Leaf;
  if (element.children.length > 0) {
    const inner = element.children[0]!.name;
    const mensagem = `${leaf.name} é um campo simples e traz o elemento ${inner} dentro.`;
    faults.push({ codigo: 'E203', xpath, mensagem, encontrado: `<${inner}>`, esperado: leaf.type.expected });
    return undefined;
  }
  const problem = checkText(leaf.type, element.text, found.zone);
  if (problem === undefined) return readValue(leaf.type, element.text);
  if (problem.kind === 'vazio' && leaf.emptyIsRead) return '';
  faults.push(valueFault(slot, leaf, element, problem, xpath, found.words));
  return problem.fix === undefined ? undefined : correctedTo(readValue(leaf.type, problem.fix));
}

function valueFault(
  slot: Slot,
  leaf: Leaf,
  sent: Elemento,
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
        ? ` Informe o valor: ${expectedInSentence(leaf.type)}.`
        : ` Informe o valor ou retire o ${element}: ${element} vazio não é aceito.`
      : '';
  return {
    codigo,
    xpath,
    mensagem: `${name(xpath, leaf)} ${sayFault(leaf.type, problem)}${advice}`,
    encontrado: quoted(sent.text),
    esperado: leaf.type.expected,
    ...(problem.kind === 'vazio' && !required ? { correcao: REMOVAL } : {}),
    ...(problem.fix === undefined ? {} : { correcao: corrected(xpath, leaf, problem.fix, sent) }),
  };
}

/** D-34: the national reception accepts no empty element and no empty group. */
function emptyGroup({ item, inside, required, choice }: Slot, xpath: string, { name }: Words): Fault {
  const members = [...(inside?.slots.values() ?? [])].map((slot) => slot.item);
  const names = [...new Set(members.map((member) => name(`${xpath}/${member.name}`, member)))];
  return {
    codigo: 'E0003',
    xpath,
    mensagem: `O grupo ${name(xpath, item)} está vazio. Preencha-o ou retire-o: grupo vazio não é aceito.`,
    esperado: `ao menos um de: ${names.join(', ')}`,
    ...(required || choice?.min === 1 ? {} : { correcao: REMOVAL }),
  };
}

function missingFault(slot: Slot, base: string, parent: string, words: Words): Fault {
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
      mensagem: `${group ?? 'O corpo'} traz ${found.join(' e ')}; aceita ${rule} de: ${list}.${choice.advice === undefined ? '' : ` ${choice.advice}`}`,
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

function repeatedFault(xpath: string, name: string, max: number, count?: number): Fault {
  const times = count === undefined ? `mais de ${max === 1 ? 'uma vez' : `${max} vezes`}` : `${count} vezes`;
  const mensagem = `${name} aparece ${times}; o máximo é ${max}.`;
  return { codigo: 'E203', xpath, mensagem, esperado: `no máximo ${max}` };
}

/** Whether an element leaves the national namespace. Its content only inherits the mistake. */
function isForeign(element: Elemento, parent: Elemento): boolean {
  return element.namespace !== DPS_NAMESPACE && element.namespace !== parent.namespace;
}

function namespaceFault(xpath: string, element: Elemento, source: Source | undefined): Fault {
  const found = element.namespace === '' ? 'sem namespace' : element.namespace;
  const right = nationalNamespace(element, source);
  return {
    codigo: 'E203',
    xpath: right === undefined ? xpath : `${xpath}/@${right.attribute}`,
    mensagem: `${element.name} está fora do namespace nacional da NFS-e.`,
    encontrado: quoted(found),
    esperado: DPS_NAMESPACE,
    ...(right === undefined ? {} : { correcao: right.correction }),
  };
}

function attributeFaults(
  element: Elemento,
  xpath: string,
  { faults, layout }: Found,
  ...allowed: readonly string[]
): void {
  for (const attribute of strayAttributes(element, ...allowed)) {
    const mensagem = `O atributo ${attribute.name} não existe em ${element.name} no leiaute ${layout.versao}; retire-o.`;
    faults.push({
      codigo: 'E0010',
      xpath: `${xpath}/@${attribute.name}`,
      mensagem,
      encontrado: quoted(attribute.value),
      correcao: REMOVAL,
    });
  }
}

function looseText(element: Elemento, xpath: string, faults: Fault[]): void {
  if (isBlank(element.text)) return;
  const mensagem = `${element.name} é um grupo e traz texto solto entre os seus elementos.`;
  faults.push({ codigo: 'E203', xpath, mensagem, encontrado: quoted(element.text.trim()) });
}
