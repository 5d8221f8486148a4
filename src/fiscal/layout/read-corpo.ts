/**
 * Reads the JSON body of issuance. It becomes the same tree of the DPS as XML, and later code does not know the original form (D-24). The
 * values that only a body can declare are returned beside it.
 *
 * Only errors that XML cannot have are judged here: an unknown property, an object in the place of a text, a number for a code. `read.ts`
 * judges the rest, and its faults get the names of the properties. Both together are one answer, and one mistake is one fault. Defaults are
 * technical only and stand in the table; null counts as absent.
 */
import { dpsIdOf } from '../chave.ts';
import { type Decimal, parseDecimal } from '../decimal.ts';
import { type Declarado, NADA_DECLARADO } from '../declarado.ts';
import { type Fault, quoted, unlistedOf } from '../fault.ts';
import { forget, forgetWhole } from '../unknown.ts';
import { checkText, sayFault } from './check-text.ts';
import type { Campo, Declaracao } from './corpo.ts';
import { BodyPlaces } from './corpo-places.ts';
import { numberForText, propertyText, wrongKind } from './correct-json.ts';
import { REMOVAL } from './correct-xml.ts';
import { decimalText } from './decimal-text.ts';
import { DEFAULT_SERIE, DPS_NAMESPACE, DPS_VERSAO, type Dps } from './dps.ts';
import {
  documentKind,
  type JsonDocument,
  type JsonMember,
  type JsonObject,
  type JsonPlace,
  type JsonValue,
  kindOf,
} from './json-value.ts';
import { refusePackedDps } from './national-envelope.ts';
import { inLayoutOrder } from './order.ts';
import {
  BODY,
  BODY_PARTS,
  campoAt,
  campoOf,
  DPS_BASE,
  type Host,
  joinCampo,
  type LeafPart,
  layoutPathOf,
  NAMES,
  NOTE_BASE,
  type OwnPart,
  type Part,
} from './plan-corpo.ts';
import { readDps } from './read.ts';
import { FAULTS_MAX, listFaults, type Words } from './reading.ts';
import type { SimpleType } from './simple-types.ts';
import { isFlatAbroad, strangeProperty } from './strange-property.ts';
import type { Elemento } from './tree.ts';
import { inNamesOfBody } from './words-corpo.ts';

/** Values that the body may omit, because the request address implies them. */
export type CorpoContext = {
  readonly tpAmb: '1' | '2';
  /** A `tpAmb` in the body is ignored: the value above is read. */
  readonly forcesTpAmb?: boolean;
  /** The properties that a signed body must state about its place, so that it is valid at no other (D-227). */
  readonly lugar?: Readonly<Record<string, string>>;
};

/** The place of a fault or a remark in the body. */
type Placed = Partial<JsonPlace> & { readonly campo?: string };

/** The content of a fault or a remark at a place. */
type Told = { readonly xpath: string; readonly mensagem: string; readonly esperado?: string };

export type CorpoReading =
  | {
      /** The DPS as a tree, in the order of the layout: the input of `readDps`. */
      readonly root: Elemento;
      readonly dps: Dps;
      /** Identifier of the DPS; a placeholder if the service assigns the number. */
      readonly id: string;
      readonly declarado: Declarado;
      readonly place: PlaceInBody;
    }
  | {
      readonly faults: readonly Fault[];
      /** The readable part, as in `DpsReading`, and the places of further faults; undefined if too little could be read. */
      readonly rest?: { readonly marked: Dps; readonly declarado: Declarado; readonly place: PlaceInBody };
    };

/** The same faults or remarks, each with its property, line and column, in the names of the body. */
type PlaceInBody = <T extends Told>(found: readonly T[]) => readonly (T & Placed)[];

/** The DPS of a body with its further declarations. Otherwise every fault of its structure, each with property, line and column. */
export function readCorpo(document: JsonDocument, context: CorpoContext): CorpoReading {
  const { value } = document;
  if (value.kind !== 'object') {
    const mensagem = `O corpo é ${kindOf(value)}; a emissão pede um objeto JSON, que começa com {.`;
    const place = document.positionOf(value.offset);
    return {
      faults: [{ codigo: 'E003', xpath: '', mensagem, encontrado: kindOf(value), esperado: 'um objeto', ...place }],
    };
  }
  const packed = refusePackedDps(document);
  if (packed !== undefined) return { faults: [packed] };
  const body = new Body(context);
  const children = body.childrenOf(BODY_PARTS, body.open(BODY, value, DPS_BASE), DPS_BASE);
  const infDPS = body.element('infDPS', '', children, [{ name: 'Id', namespace: '', value: identifierOf(children) }]);
  const root = body.element('DPS', '', [infDPS], [{ name: 'versao', namespace: '', value: DPS_VERSAO }]);

  const read = readDps(root, { words: WORDS });
  const place = <T extends Told>(found: readonly T[]): readonly (T & Placed)[] =>
    found.map((one) => ({ ...one, ...wordsOf(one), ...placeOf(one.xpath, body, document) }));
  const own = body.faults
    .toSorted((a, b) => a.offset - b.offset)
    .map(({ fault, offset }) => ({
      ...fault,
      ...(fault.campo === undefined ? {} : { campo: body.places.asSent(fault.campo) }),
      ...document.positionOf(offset),
    }));
  const ofReader = 'faults' in read ? read.faults : [];
  const unlisted = unlistedOf(ofReader);
  // A body without any known name gets the faults of the names alone; the missing elements would repeat them.
  const structural = body.isNothingKnown
    ? []
    : (unlisted === 0 ? ofReader : ofReader.slice(0, -1)).filter(({ xpath }) => !body.places.isExplained(xpath));
  const faults = inLayoutOrder([...own, ...place(structural.map((fault) => body.asWritten(fault)))]);
  if (faults.length > 0) {
    const left = body.unlisted + unlisted;
    const marked = left > 0 || body.lost.has('') ? undefined : 'faults' in read ? read.marked : read.dps;
    if (marked === undefined) return { faults: listFaults(faults, left, 'E0010') };
    for (const path of body.places.explained()) forget(marked, path.slice(DPS_BASE.length + 1));
    for (const path of body.lost) forgetWhole(marked, path);
    return { faults, rest: { marked, declarado: body.declarado(), place } };
  }
  // Every explanation of a structural fault is a fault itself.
  if ('faults' in read) return { faults: place(read.faults) };
  return { root, dps: read.dps, id: read.id, declarado: body.declarado(), place };
}

function wordsOf({ xpath, mensagem, esperado }: Told): Pick<Told, 'mensagem' | 'esperado'> {
  return {
    mensagem: inNamesOfBody(mensagem, xpath),
    ...(esperado === undefined ? {} : { esperado: inNamesOfBody(esperado, xpath) }),
  };
}

function placeOf(xpath: string, body: Body, document: JsonDocument): Placed {
  if (xpath === '') return {};
  const campo = body.places.isUndeclared(xpath) ? undefined : campoOf(xpath);
  return { ...(campo === undefined ? {} : { campo }), ...document.positionOf(body.places.offsetOf(xpath)) };
}

/** The faults of the reader in the words of the body. */
const WORDS: Words = {
  element: 'campo',
  name: (xpath, { name }) => NAMES.get(layoutPathOf(xpath))?.name ?? name,
  group: (xpath, name) => {
    if (xpath === DPS_BASE) return undefined;
    const host = NAMES.get(layoutPathOf(xpath))?.host ?? name;
    return host === '' ? undefined : campoAt(xpath, host);
  },
  corrected: (xpath, { name, max }, text) => {
    const value = JSON.stringify(text);
    return max > 1 ? value : propertyText(NAMES.get(layoutPathOf(xpath))?.name ?? name, value);
  },
};

/** One object of the body during reading: its values under known names, nulls left out. */
type Opened = { readonly host: Host; readonly members: ReadonlyMap<string, JsonValue> };

/** The object that contains an unknown property. */
type Around = {
  readonly host: Host;
  readonly known: Map<string, JsonValue>;
  /** Names that are present or are meant by another name: no correction may use them. */
  readonly taken: Set<string>;
  readonly xpath: string;
  readonly abroad: boolean;
};

/** The state of one reading of a body. */
class Body {
  readonly faults: { readonly fault: Fault; readonly offset: number }[] = [];
  /** The number of faults beyond the listed ones. */
  unlisted = 0;
  readonly #context: CorpoContext;
  readonly places = new BodyPlaces();
  /** Paths below `infDPS` with content under an unknown name. */
  readonly lost = new Set<string>();
  /** Whether the body has names, and none of them is known or resembles a known one. */
  isNothingKnown = false;
  /** The sent text of an element whose text was converted to another spelling. */
  readonly #written = new Map<string, string>();
  readonly #declared = new Map<Declaracao, string>();
  #index = 0;

  constructor(context: CorpoContext) {
    this.#context = context;
  }

  element(
    name: string,
    text: string,
    children: readonly Elemento[] = [],
    attributes: Elemento['attributes'] = [],
  ): Elemento {
    const index = this.#index;
    this.#index += 1;
    return { name, namespace: DPS_NAMESPACE, text, children, attributes, index };
  }

  /** Examines every name of an object: declared values are kept, unknown names are reported. */
  open(host: Host, { members, offset }: JsonObject, xpath: string): Opened {
    this.places.set(xpath, offset);
    const known = new Map<string, JsonValue>();
    const strange: JsonMember[] = [];
    for (const member of members) {
      const item = host.items.get(member.name);
      if (item === undefined) strange.push(member);
      else if (member.value.kind === 'null') continue;
      else if (item.kind === 'declaracao') this.#declare(item, host, member);
      else known.set(member.name, member.value);
    }
    if (strange.length === 0) return { host, members: known };
    const abroad = isFlatAbroad(host, members);
    // Present names, which no correction can use, and the names that unknown ones mean.
    const taken = new Set(members.map(({ name }) => name));
    for (const member of strange) this.#strange(member, { host, known, taken, xpath, abroad });
    // The meant content is present under other names or elsewhere: an empty group or a missing choice is no second mistake.
    if (host !== BODY && (abroad || known.size === 0)) this.places.explainEmptiness(xpath);
    if (host === BODY) this.isNothingKnown = known.size + this.#declared.size + this.lost.size === 0;
    return { host, members: known };
  }

  /** E0010; the property that a name evidently means counts as sent, so that it is not also missing. */
  #strange({ name, offset, value }: JsonMember, { host, known, taken, xpath, abroad }: Around): void {
    if (this.faults.length >= FAULTS_MAX) {
      this.unlisted += 1;
      return;
    }
    const { fault, meant, explains, perhaps } = strangeProperty(name, value, host, { taken, abroad });
    if (meant !== undefined) taken.add(meant.name);
    const place = campoAt(xpath, host.campo);
    const campo = place === undefined || place === '' ? quoted(name) : `${place}.${quoted(name)}`;
    for (const path of explains ?? []) this.places.explain(path === '' ? DPS_BASE : `${DPS_BASE}/${path}`);
    for (const path of [...(explains ?? []), ...(perhaps ?? [])]) this.lost.add(path);
    let at = xpath;
    if (meant?.kind === 'declaracao') {
      at = `${NOTE_BASE}/${meant.note}`;
    } else if (meant !== undefined) {
      const paths = meant.kind === 'campo' ? meant.paths : [meant.path];
      at = `${xpath}/${paths[0]}`;
      // A value under its correct name has faults of its own.
      if (!known.has(meant.name)) {
        if (value.kind !== 'null') known.set(meant.name, value);
        if (meant.kind === 'grupo') {
          const right = campoAt(xpath, joinCampo(host.campo, meant.name))!;
          this.places.misname(right, campo);
        }
        for (const path of paths) {
          if (meant.kind === 'grupo') this.places.explainEmptiness(`${xpath}/${path}`);
          else this.places.explain(`${xpath}/${path}`);
        }
      }
    }
    // Removing the last property would leave an empty object, which is a fault as well.
    const { correcao, ...uncorrected } = fault;
    const isOffered = correcao !== REMOVAL || host.path === '' || known.size > 0;
    this.#tell({ ...(isOffered ? fault : uncorrected), xpath: at, campo }, offset);
  }

  #tell(fault: Fault, offset: number): void {
    if (this.faults.length < FAULTS_MAX) this.faults.push({ fault, offset });
    else this.unlisted += 1;
  }

  childrenOf(parts: readonly Part[], object: Opened, base: string): Elemento[] {
    const children: Elemento[] = [];
    for (const part of parts) {
      if (part.kind === 'leaf') {
        this.#leaf(part, object, base, children);
      } else if (part.kind === 'own') {
        this.#own(part, object, base, children);
      } else {
        const { name } = part.group;
        const inside = this.childrenOf(part.parts, object, `${base}/${name}`);
        if (inside.length > 0 || part.required) children.push(this.element(name, '', inside));
      }
    }
    return children;
  }

  #leaf(part: LeafPart, { members }: Opened, base: string, into: Elemento[]): void {
    const { leaf, campo, inChoice } = part;
    const isForced = campo.padrao === 'ambiente' && this.#context.forcesTpAmb === true;
    const value = isForced ? undefined : members.get(campo.name);
    const due = value === undefined ? this.#context.lugar?.[campo.name] : undefined;
    if (value === undefined && campo.padrao === undefined && due === undefined) return;
    const xpath = `${base}/${leaf.name}`;
    if (due !== undefined) {
      this.#tell(unplace(campo.name, due, xpath), this.places.offsetOf(DPS_BASE));
      into.push(this.#spoken(leaf.name, due, xpath));
      return;
    }
    if (value === undefined) {
      const text = this.#padrao(campo);
      // A default is no second member of a choice that was made.
      const isFree = !inChoice || members.size === 0;
      if (text !== undefined && isFree) into.push(this.#spoken(leaf.name, text, xpath));
      return;
    }
    if (campo.many) {
      if (value.kind !== 'array') {
        this.places.explain(xpath);
        this.#wrongKind(campo.name, value, `uma lista de textos: [${JSON.stringify(leaf.type.expected)}]`, xpath);
        into.push(this.element(leaf.name, ''));
        return;
      }
      value.items.slice(0, leaf.max + 1).forEach((item, place) => {
        const at = `${xpath}[${place + 1}]`;
        into.push(this.#spoken(leaf.name, this.#textOf(part, item, at), at, item.offset));
      });
      return;
    }
    if (campo.paths.length > 1 && documentKind(value) !== leaf.name) return;
    into.push(this.#spoken(leaf.name, this.#textOf(part, value, xpath), xpath, value.offset));
  }

  #spoken(name: string, text: string, xpath: string, offset?: number): Elemento {
    if (offset !== undefined) this.places.set(xpath, offset);
    return this.element(name, text);
  }

  #padrao({ padrao }: Campo): string | undefined {
    if (padrao === 'ambiente') return this.#context.tpAmb;
    return padrao?.texto;
  }

  /** The text of the element; empty for an invalid value, which gets a fault. */
  #textOf({ leaf, campo }: LeafPart, value: JsonValue, xpath: string): string {
    const { type } = leaf;
    if (value.kind !== 'string' && value.kind !== 'number') {
      this.places.explain(xpath);
      this.#wrongKind(campo.name, value, type.expected, xpath);
      return '';
    }
    if (type.kind === 'decimal') {
      const text = decimalText(value, type);
      if (text !== value.text) this.#written.set(xpath, value.text);
      return text;
    }
    if (value.kind === 'string' || (campo.integer && /^[0-9]+$/.test(value.text))) return value.text;
    this.places.explain(xpath);
    this.#tell(this.#numberForCode(campo.name, value.text, type, xpath, campo.integer), value.offset);
    return '';
  }

  #numberForCode(name: string, text: string, type: SimpleType, xpath: string, integer = false): Fault {
    const { correcao, ...said } = numberForText(name, text, type, integer);
    // A member of a list has no name in its correction.
    const right = xpath.endsWith(']') ? correcao?.slice(propertyText(name, '').length) : correcao;
    return {
      codigo: 'E0001',
      xpath,
      ...campoIn(xpath),
      ...said,
      ...(right === undefined ? {} : { correcao: right }),
    };
  }

  #wrongKind(name: string, value: JsonValue, esperado: string, xpath: string): void {
    this.#tell({ codigo: 'E0001', xpath, ...campoIn(xpath), ...wrongKind(name, value, esperado) }, value.offset);
  }

  #own(part: OwnPart, { members }: Opened, base: string, into: Elemento[]): void {
    const { group, grupo, host, parts, isFilledIn } = part;
    const value = members.get(grupo.name);
    if (value === undefined && !isFilledIn) return;
    const xpath = `${base}/${group.name}`;
    if (value === undefined) {
      const nothing = { host, members: new Map() };
      into.push(this.element(group.name, '', this.childrenOf(parts, nothing, xpath)));
      return;
    }
    if (grupo.many) {
      if (value.kind !== 'array') {
        this.places.explain(xpath);
        this.#wrongKind(grupo.name, value, `uma lista de objetos ${fieldsOf(host)}`, xpath);
        into.push(this.element(group.name, ''));
        return;
      }
      // One item beyond the maximum suffices for the fault of too many.
      value.items.slice(0, group.max + 1).forEach((item, place) => {
        into.push(this.#object(part, item, `${xpath}[${place + 1}]`));
      });
      return;
    }
    into.push(this.#object(part, value, xpath));
  }

  #object({ group, grupo, host, parts }: OwnPart, value: JsonValue, xpath: string): Elemento {
    this.places.set(xpath, value.offset);
    if (value.kind !== 'object') {
      this.places.explain(xpath);
      this.#wrongKind(grupo.name, value, `um objeto ${fieldsOf(host)}`, xpath);
      return this.element(group.name, '');
    }
    return this.element(group.name, '', this.childrenOf(parts, this.open(host, value, xpath), xpath));
  }

  /** A fault quotes the sent text, not the converted one. */
  asWritten(fault: Fault): Fault {
    const written = this.#written.get(fault.xpath);
    return written === undefined ? fault : { ...fault, encontrado: quoted(written) };
  }

  #declare(declaracao: Declaracao, host: Host, { name, value }: JsonMember): void {
    const xpath = `${NOTE_BASE}/${declaracao.note}`;
    this.places.set(xpath, value.offset);
    const { type } = declaracao;
    const campo = joinCampo(host.campo, name);
    if (value.kind !== 'string' && value.kind !== 'number') {
      this.#wrongKind(name, value, type.expected, xpath);
      return;
    }
    if (value.kind === 'number' && type.kind !== 'decimal') {
      this.#tell(this.#numberForCode(name, value.text, type, xpath), value.offset);
      return;
    }
    const text = type.kind === 'decimal' ? decimalText(value, type) : value.text;
    const problem = checkText(type, text);
    if (problem === undefined) {
      this.#declared.set(declaracao, text);
      return;
    }
    const codigo = { vazio: 'E0003', tipo: 'E0001', valor: 'E0002', formato: 'E0003' }[problem.kind];
    const advice = problem.kind === 'vazio' ? ' Informe o valor ou retire o campo.' : '';
    const fix =
      problem.kind === 'vazio'
        ? { correcao: REMOVAL }
        : problem.fix === undefined
          ? {}
          : { correcao: propertyText(name, JSON.stringify(problem.fix)) };
    const mensagem = `${name} ${sayFault(type, problem)}${advice}`;
    const fault = { codigo, xpath, campo, mensagem, encontrado: quoted(value.text), esperado: type.expected, ...fix };
    this.#tell(fault, value.offset);
  }

  /** The declarations of the body besides the DPS. */
  declarado(): Declarado {
    if (this.#declared.size === 0) return NADA_DECLARADO;
    const outside: Record<string, string | Decimal> = {};
    const ibscbs: Record<string, Decimal> = {};
    for (const [{ name, note, type }, text] of this.#declared) {
      const value = type.kind === 'decimal' ? parseDecimal(text)! : text;
      if (note.startsWith('IBSCBS/')) ibscbs[name] = value as Decimal;
      else outside[name] = value;
    }
    return Object.keys(ibscbs).length > 0 ? { ...outside, ibscbs } : outside;
  }
}

/** The national identifier if all its parts are known; otherwise any other of its form. */
function identifierOf(infDps: readonly Elemento[]): string {
  const said = (path: string): string => {
    let [inside, text]: [readonly Elemento[], string] = [infDps, ''];
    for (const step of path.split('/'))
      ({ children: inside, text } = inside.find(({ name }) => name === step) ?? NOTHING);
    return text;
  };
  const [cLocEmi, serie, nDPS] = [said('cLocEmi'), said('serie') || DEFAULT_SERIE, said('nDPS')];
  const documento = said('prest/CNPJ') || said('prest/CPF');
  const isWhole =
    /^[0-9]{7}$/.test(cLocEmi) &&
    /^(?:[0-9]{11}|[0-9A-Z]{14})$/.test(documento) &&
    /^[0-9]{1,5}$/.test(serie) &&
    /^[1-9][0-9]{0,14}$/.test(nDPS);
  return isWhole ? dpsIdOf({ cLocEmi, documento, serie, nDPS }) : STAND_IN_ID;
}

const NOTHING = { children: [], text: '' };
const STAND_IN_ID = 'DPS0';

/** E002 with the line to add. */
function unplace(name: string, text: string, xpath: string): Fault {
  const line = propertyText(name, JSON.stringify(text));
  const mensagem = `Falta ${name}. Em produção o corpo assinado diz para que município e ambiente foi feito, e assim não serve em outro. Acrescente ao corpo, antes de assinar: ${line}`;
  return { codigo: 'E002', xpath, campo: name, mensagem, esperado: text };
}

function fieldsOf({ items }: Host): string {
  return `com ${[...items.keys()].join(', ')}`;
}

function campoIn(xpath: string): { campo?: string } {
  const campo = campoOf(xpath);
  return campo === undefined ? {} : { campo };
}
