/**
 * A property that the JSON body does not have: the fault names the existing one that its sender meant (E0010, D-24).
 *
 * The search order: a group that the flat body does not have; the same name in another spelling (`valorServico`); a name that senders are
 * likely to try; the same words in another order; the tag of the DPS; a property of another group; a misspelling; half of the same words.
 */
import { type Fault, quoted } from '../fault.ts';
import { ownOf } from '../own.ts';
import { type Grupo, type Item, LIKELY, NEEDLESS, SYNONYMS } from './corpo.ts';
import { jsonText, propertyText, rightValue } from './correct-json.ts';
import { REMOVAL } from './correct-xml.ts';
import { FOREIGN_TAGS, type ForeignTag, INF_DPS } from './dps.ts';
import { isAbroad, nameAbroad, saysBrazil } from './endereco-plano.ts';
import { documentKind, type JsonMember, type JsonValue } from './json-value.ts';
import { BODY, DECLARED, HOSTS, type Host, NAMES } from './plan-corpo.ts';
import type { SimpleType } from './simple-types.ts';
import { nearestName } from './strange-tag.ts';
import { type Choice, elementsOf, type Group, type Item as LayoutItem, type Leaf } from './vocabulary.ts';

export type Strange = {
  readonly fault: Fault;
  /** The property of the same object that was meant. */
  readonly meant?: Item | undefined;
  /** Paths of the DPS, below `infDPS`, that are not missing either: the meant content stands elsewhere. */
  readonly explains?: readonly string[];
  /** Paths one of which may have been meant. */
  readonly perhaps?: readonly string[];
};

/** A longer name is not compared. */
const NAME_MAX = 80;

/** The groups that other services send as objects, and that this flat body does not have. */
const FLAT: Readonly<Record<string, string>> = {
  prestador: 'prest',
  tomador: 'toma',
  tom: 'toma',
  intermediario: 'interm',
  servico: 'serv',
  dps: '',
  inf_dps: '',
  infDPS: '',
  nfse: '',
};

/** Whether the other properties of the address with the unknown one mean a place abroad. */
export function isFlatAbroad({ items }: Host, members: readonly JsonMember[]): boolean {
  return items.has('exterior') && isAbroad(members, (name) => (name.length > NAME_MAX ? '' : snakeOf(name)));
}

/**
 * `taken`: names that the object has, or that another name means; no correction may use them. `abroad`: the result of {@link isFlatAbroad}
 * for the object.
 */
export function strangeProperty(
  name: string,
  value: JsonValue,
  host: Host,
  { taken, abroad }: { readonly taken: ReadonlySet<string>; readonly abroad: boolean },
): Strange {
  const where = host.campo === '' ? 'do corpo JSON' : `de ${dropBrackets(host.campo)}`;
  const shown = quoted(name);
  const fault = (say: string, esperado?: string, correcao?: string): Fault => ({
    codigo: 'E0010',
    xpath: '',
    mensagem: `${subjectOf(shown)} não é um campo ${where}: ${say}.`,
    encontrado: `"${shown}"`,
    ...(esperado === undefined ? {} : { esperado }),
    ...(correcao === undefined ? {} : { correcao }),
  });
  const allowed = [...host.items.keys()].join(', ');
  if (name.length > NAME_MAX) return { fault: fault('retire-o', allowed, REMOVAL) };

  const snake = snakeOf(name);
  const flat = host.path === '' ? flatGroup(name, snake) : undefined;
  if (flat !== undefined) {
    const names = namesBelow(flat).join(', ');
    return { fault: fault(`os campos desse grupo ficam no próprio corpo: ${names}`, names), explains: [flat] };
  }
  const outside = abroad ? nameAbroad(snake) : undefined;
  if (outside !== undefined && namesAbroad(host).includes(outside)) {
    const place = `${dropBrackets(host.campo)}.exterior.${outside}`;
    return { fault: fault(`num endereço no exterior ele fica em ${place}`, place), explains: [`${host.path}/endExt`] };
  }
  if (host.items.has('exterior') && saysBrazil(snake, value)) {
    return { fault: fault('um endereço no Brasil não traz país; retire-o', undefined, REMOVAL) };
  }
  const rightly = (right: string): Strange => {
    const meant = host.items.get(right)!;
    const isFree = !taken.has(right) && !rivalsOf(host, meant).some((rival) => taken.has(rival));
    return { fault: fault(adviceFor(meant), right, isFree ? correctName(value, meant, host) : undefined), meant };
  };
  const right = rightNameIn(name, snake, host);
  if (right !== undefined) return rightly(right);
  const ofWork = MUNICIPAL.has(snake) ? foreignTag('cMun', host) : undefined;
  if (ofWork !== undefined) return { fault: fault(ofWork.say, undefined, REMOVAL) };
  const needless = ownOf(NEEDLESS, snake);
  if (needless !== undefined) return { fault: fault(needless, undefined, REMOVAL) };
  const foreign = foreignTag(name, host);
  if (foreign?.replaces === undefined && foreign?.rename === undefined && foreign !== undefined) {
    return { fault: fault(inNamesOfTheBody(foreign.say), undefined, foreign.carries ? undefined : REMOVAL) };
  }
  const elsewhere = placesOf(foreign?.rename ?? name, snake, foreign, host);
  if (elsewhere.length > 0) {
    const places = elsewhere
      .slice(0, ELSEWHERE_MAX)
      .map(({ campo }) => dropBrackets(campo))
      .join(' ou ');
    const paths = elsewhere.flatMap(({ paths }) => paths);
    const meaning = elsewhere.length === 1 ? { explains: paths } : { perhaps: paths };
    return { fault: fault(`o que existe é ${places}`, places), ...meaning };
  }
  const names = [...host.items.keys()];
  const begun = names.filter((one) => one.startsWith(`${snake}_`) && host.items.get(one)!.kind === 'declaracao');
  // Several amounts fit the name, and the wrong one would be refused for its value.
  if (begun.length > 1) return { fault: fault(`o que existe ali é ${begun.join(', ')}`, begun.join(', ')) };
  const near = nearestName(snake, names) ?? halfTheWords(snake, names);
  if (near !== undefined) return rightly(near);
  const [afar, ...others] = placesOfMeaning(snake);
  if (afar !== undefined && others.length === 0) {
    return {
      fault: fault(`o que existe é ${dropBrackets(afar.campo)}`, dropBrackets(afar.campo)),
      explains: afar.paths,
    };
  }
  const which = names.length <= NAMES_TOLD_MAX ? `: ${allowed}` : ', listados em esperado no primeiro destes erros';
  const perhaps = others.length === 0 ? [] : [afar!, ...others].flatMap(({ paths }) => paths);
  return { fault: fault(`retire-o, ou use um dos nomes que existem ali${which}`, allowed), perhaps };
}

/** The maximum number of names in a sentence. */
const NAMES_TOLD_MAX = 10;

/** The fields of an address abroad at the place of this one. */
function namesAbroad({ items }: Host): readonly string[] {
  const exterior = items.get('exterior');
  return exterior?.kind === 'grupo' ? exterior.items.map(({ name }) => name) : [];
}

/** Properties that senders add to an address besides its CEP, although it has no municipality. */
const MUNICIPAL: ReadonlySet<string> = new Set([
  'codigo_municipio',
  'municipio',
  'codigo_ibge',
  'cidade',
  'uf',
  'estado',
]);

/** White space in a name is visible only between quotation marks. */
function subjectOf(shown: string): string {
  if (shown === '') return 'A propriedade de nome vazio';
  return /^\S+$/.test(shown) ? shown : `A propriedade "${shown}"`;
}

const ELSEWHERE_MAX = 3;

/** Advice about tags, rewritten for the properties that become them. */
function inNamesOfTheBody(say: string): string {
  return say.replace(/\b[a-z]+[A-Z]\w*/g, (tag) => {
    const [only, ...others] = [...NAMES].filter(([path]) => lastOf(path) === tag);
    return only === undefined || others.length > 0 ? tag : dropBrackets(only[1].campo);
  });
}

function adviceFor(item: Item): string {
  if (item.kind !== 'declaracao') return `o nome certo é ${item.name}`;
  return `o valor é calculado pelo serviço; para tê-lo comparado, declare-o em ${item.name}`;
}

/** The property of the same object that a name evidently meant. */
function rightNameIn(name: string, snake: string, host: Host): string | undefined {
  const names = [...host.items.keys()];
  const same = names.find((one) => one.toLowerCase() === snake);
  if (same !== undefined) return same;
  const likely = ownOf(LIKELY, snake);
  if (likely !== undefined && host.items.has(likely)) return likely;
  const sent = wordsOf(snake);
  const [reordered, another] = names.filter((one) => sent !== '' && meaningOf(one) === sent);
  if (reordered !== undefined && another === undefined) return reordered;
  const byTag = names.find((one) => tagsOf(host, one).includes(name));
  if (byTag !== undefined) return byTag;
  const renamed = foreignTag(name, host);
  const replaced = renamed?.replaces === undefined ? undefined : NAMES.get(renamed.replaces);
  return replaced?.host === host.campo && host.items.has(replaced.name) ? replaced.name : undefined;
}

/** The tags that a property stands for: that of its element, or of the field of the note. */
function tagsOf(host: Host, name: string): readonly string[] {
  const item = host.items.get(name)!;
  const paths = item.kind === 'campo' ? item.paths : [item.kind === 'grupo' ? item.path : item.note];
  return paths.map(lastOf);
}

/** A name of old layouts, or one that the service fills in, in the group that contains it. */
function foreignTag(name: string, { path }: Host): ForeignTag | undefined {
  return FOREIGN_TAGS.find(({ name: tag, within }) => {
    if (tag !== name) return false;
    if (within === undefined || path === within || path.endsWith(`/${within}`)) return true;
    return path === '' && !HOSTS.some((host) => host.path === within || host.path.endsWith(`/${within}`));
  });
}

/** The words of a name in one spelling and one order; `ibs` is omitted if a state or a municipality is named. */
function wordsOf(snake: string): string {
  const words = new Set(
    snake
      .split('_')
      .map((word) => ownOf(SYNONYMS, word) ?? word)
      .filter((word) => word !== ''),
  );
  if (words.has('uf') || words.has('municipal')) words.delete('ibs');
  return [...words].toSorted().join(' ');
}

/** The cache holds names of the body only, which are few; sent names are not kept. */
const meanings = new Map<string, string>();

function meaningOf(name: string): string {
  const known = meanings.get(name) ?? wordsOf(name.toLowerCase());
  meanings.set(name, known);
  return known;
}

/** The places of properties with the same words in the body; one word alone is not enough. */
function placesOfMeaning(snake: string): readonly PlaceOfBody[] {
  const sent = wordsOf(snake);
  return sent.includes(' ') ? listProperties().filter(({ item }) => meaningOf(item) === sent) : [];
}

/** A name that shares half of the words of both names, if no other name shares as many. */
function halfTheWords(snake: string, names: readonly string[]): string | undefined {
  const words = new Set(snake.split('_').filter((word) => word.length > 2));
  if (words.size === 0) return undefined;
  const shared = names.map((one) => {
    const others = one
      .toLowerCase()
      .split('_')
      .filter((word) => word.length > 2);
    const both = others.filter((word) => words.has(word)).length;
    return { one, share: both / (words.size + others.length - both) };
  });
  const [best, second] = shared.toSorted((a, b) => b.share - a.share);
  if (best === undefined || best.share < SHARE_MIN || best.share === second?.share) return undefined;
  return best.one;
}

const SHARE_MIN = 0.5;

type PlaceOfBody = { readonly campo: string; readonly paths: readonly string[] };

/** Other places in the body of a property with this name or tag; those of the same party are preferred. */
function placesOf(name: string, snake: string, foreign: ForeignTag | undefined, host: Host): readonly PlaceOfBody[] {
  const party = /^(?:prestador|tomador|intermediario)_/.exec(host.campo)?.[0];
  const ofParty = party === undefined ? [] : listProperties().filter(({ campo }) => campo === party + snake);
  if (ofParty.length > 0) return ofParty;
  const byName = listProperties().filter(({ item, joined }) => item === snake || joined.includes(snake));
  if (byName.length > 0) return byName;
  const byTag = [...NAMES].filter(([path]) => lastOf(path) === name);
  if (byTag.length > 0) {
    const group = `${host.path.split('/')[0]}/`;
    const near = host.path === '' ? [] : byTag.filter(([path]) => path.startsWith(group));
    return (near.length > 0 ? near : byTag).map(([path, { campo }]) => ({ campo, paths: [path] }));
  }
  const replaced = foreign?.replaces;
  const named = replaced === undefined ? undefined : NAMES.get(replaced);
  if (named !== undefined) return [{ campo: named.campo, paths: [replaced!] }];
  const note = [...DECLARED].find(([path]) => lastOf(path) === name);
  return note === undefined ? [] : [{ campo: note[1].campo, paths: [] }];
}

type PlacedProperty = {
  readonly campo: string;
  readonly paths: readonly string[];
  readonly item: string;
  /** The names that a sender without groups would use: `tomador_endereco_cep`, `tomador_cep`. */
  readonly joined: readonly string[];
};

let placed: readonly PlacedProperty[] | undefined;

function listProperties(): readonly PlacedProperty[] {
  placed ??= HOSTS.flatMap((host) =>
    [...host.items.values()].map((item) => {
      const below = host.path === '' ? '' : `${host.path}/`;
      const own = item.kind === 'campo' ? item.paths : item.kind === 'grupo' ? [item.path] : [];
      const paths = own.map((path) => below + path);
      const campo = host.campo === '' ? item.name : `${host.campo}.${item.name}`;
      const whole = dropBrackets(campo).replaceAll('.', '_').toLowerCase();
      return { campo, paths, item: item.name, joined: [whole, whole.replace(/_(endereco|exterior)(?=_)/g, '')] };
    }),
  );
  return placed;
}

/** The path of a group of the DPS whose fields stand in the body itself. */
function flatGroup(name: string, snake: string): string | undefined {
  const known = [name, snake].find((one) => Object.hasOwn(FLAT, one));
  if (known !== undefined) return FLAT[known];
  return [...NAMES].find(
    ([path, { host }]) => host === '' && lastOf(path) === name && namesBelow(path).length > 0,
  )?.[0];
}

/** The properties of the body that become something inside a group of the DPS. */
function namesBelow(path: string): string[] {
  const prefix = path === '' ? '' : `${path}/`;
  return [...BODY.items.values()]
    .filter((item) => item.kind !== 'declaracao')
    .filter((item) => (item.kind === 'campo' ? item.paths[0] : item.path).startsWith(prefix))
    .map(({ name }) => name);
}

function lastOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** `valorServico`, `Valor Serviço` and `valor-servico` are one name. */
function snakeOf(name: string): string {
  return name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/[\s.-]+/g, '_')
    .toLowerCase();
}

/** A place of the body without its list marks. */
export function dropBrackets(campo: string): string {
  return campo.replaceAll('[]', '');
}

/** The sent value under the correct name, if that property accepts it. */
function correctName(value: JsonValue, meant: Item, host: Host): string | undefined {
  const right = valueFor(value, meant, host);
  return right === undefined ? undefined : propertyText(meant.name, right);
}

function valueFor(value: JsonValue, meant: Item, host: Host): string | undefined {
  if (meant.kind === 'declaracao') return rightValue(value, meant.type);
  if (meant.kind === 'grupo' || meant.many) {
    return value.kind === (meant.many ? 'array' : 'object') ? jsonText(value) : undefined;
  }
  const path = meant.paths.find((one) => lastOf(one) === documentKind(value)) ?? meant.paths[0];
  const type = typeAt(pathIn(host, path));
  return type === undefined ? undefined : rightValue(value, type, meant.integer);
}

function pathIn({ path }: Host, below: string): string {
  return path === '' ? below : `${path}/${below}`;
}

function typeAt(path: string): SimpleType | undefined {
  const element = elementsTo(path).at(-1)?.element;
  return element?.kind === 'leaf' ? element.type : undefined;
}

/** The elements on the way to a path of the DPS, each with the choice that contains it. */
function elementsTo(path: string): readonly { readonly element: Leaf | Group; readonly choice: Choice | undefined }[] {
  let items: readonly LayoutItem[] = INF_DPS;
  return path.split('/').flatMap((name) => {
    const element = elementsOf(items).find((item) => item.name === name);
    if (element === undefined) return [];
    const choice = items.find((item): item is Choice => item.kind === 'choice' && item.items.includes(element));
    items = element.kind === 'group' ? element.items : [];
    return [{ element, choice }];
  });
}

/** The properties of an object that cannot stand beside a given one, because the layout has a choice between them. */
function rivalsOf(host: Host, meant: Item): readonly string[] {
  if (meant.kind === 'declaracao') return [];
  const whole = pathIn(host, meant.kind === 'campo' ? meant.paths[0] : meant.path);
  const others = elementsTo(whole).flatMap(({ element, choice }, place) => {
    const above = whole.split('/').slice(0, place);
    return (choice?.items ?? []).filter((item) => item !== element).map(({ name }) => [...above, name].join('/'));
  });
  return [...host.items.values()]
    .filter((item) => item !== meant && item.kind !== 'declaracao')
    .filter((item) => {
      const path = pathIn(host, item.kind === 'campo' ? item.paths[0] : (item as Grupo).path);
      return others.some((other) => path === other || path.startsWith(`${other}/`));
    })
    .map(({ name }) => name);
}
