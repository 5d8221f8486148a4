/** Checks the places of the signature and the signed element: one of each, side by side below the root, with nothing beside them. */
import { describeFault, type Fault, quoted } from '../fiscal/fault.ts';
import { isBlank } from '../fiscal/layout/check-text.ts';
import { SIGNATURE_NAMESPACE } from '../fiscal/layout/reading.ts';
import type { Elemento } from '../fiscal/layout/tree.ts';
import { type Accepted, STRICT } from './algorithms.ts';
import type { XmlDocumentReading } from './xml.ts';

export const DSIG = SIGNATURE_NAMESPACE;

/** The signed element, the root of its document, and the algorithms of its signature. */
export type SignedProfile = { readonly root: string; readonly signed: string; readonly accepted: Accepted };

export const DPS_PROFILE: SignedProfile = { root: 'DPS', signed: 'infDPS', accepted: STRICT };
export const NFSE_PROFILE: SignedProfile = { root: 'NFSe', signed: 'infNFSe', accepted: STRICT };
export const EVENTO_PROFILE: SignedProfile = { root: 'evento', signed: 'infEvento', accepted: STRICT };
export const PEDIDO_PROFILE: SignedProfile = { root: 'pedRegEvento', signed: 'infPedReg', accepted: STRICT };

/** True when an element is an XML signature, by name and namespace. */
export function isSignature({ name, namespace }: Elemento): boolean {
  return name === 'Signature' && namespace === DSIG;
}

/** The number of reported faults. A document may have sixty thousand elements, each of them in a wrong place. */
const SHAPE_FAULTS_MAX = 20;
const NESTED_TOLD_MAX = 5;

type Shape = {
  readonly faults: readonly Fault[];
  /** The signed element and its signature; undefined unless the document has exactly one of each. */
  readonly element?: Elemento | undefined;
  readonly signature?: Elemento | undefined;
};

/** Checks the places of the elements of a document in one walk over it. */
export function shapeOf(reading: XmlDocumentReading, profile: SignedProfile): Shape {
  const { root } = reading;
  const { signed } = profile;
  const found = scanTree(root, signed);
  if (!found.hasSignature) return { faults: [describeUnsigned(root, profile)] };
  const elements = root.children.filter((child) => child.name === signed);
  const signatures = root.children.filter(isSignature);
  const faults = concatenate([
    found.twins,
    listNested(found.nested, profile),
    listSurplus(root, elements.length, signatures.length, profile),
    listStrange(root, profile),
    listMisplaced(reading, elements[0], signatures[0], profile),
  ]).take(SHAPE_FAULTS_MAX);
  const [element] = elements;
  const [signature] = signatures;
  const isAlone = elements.length === 1 && signatures.length === 1 && found.nested.length === 0;
  return { faults: [...faults], ...(isAlone ? { element, signature } : {}) };
}

function* concatenate(lists: readonly Iterable<Fault>[]): Generator<Fault> {
  for (const one of lists) yield* one;
}

type Nested = { readonly path: string; readonly what: 'signature' | 'signed' };

/** Finds repeated identifiers, and signatures and signed elements that stand too deep; tells if any signature exists. */
function scanTree(
  root: Elemento,
  signed: string,
): { readonly twins: readonly Fault[]; readonly nested: readonly Nested[]; readonly hasSignature: boolean } {
  const twins: Fault[] = [];
  const nested: Nested[] = [];
  let hasSignature = false;
  const ids = new Map<string, readonly Elemento[]>();
  /** The elements from the root to the current one. */
  const trail: Elemento[] = [];
  const walk = (element: Elemento): void => {
    trail.push(element);
    for (const { name, value } of element.attributes) {
      if (!/^id$/i.test(name)) continue;
      const before = ids.get(value);
      if (before === undefined) ids.set(value, trail.slice());
      else if (twins.length < SHAPE_FAULTS_MAX) twins.push(describeTwin(value, pathOf(before), pathOf(trail), signed));
    }
    const isOne = trail.length > 1 && isSignature(element);
    hasSignature ||= isOne;
    if (trail.length > 2 && (isOne || element.name === signed) && nested.length < NESTED_TOLD_MAX) {
      nested.push({ path: pathOf(trail), what: isOne ? 'signature' : 'signed' });
    }
    for (const child of element.children) walk(child);
    trail.pop();
  };
  walk(root);
  return { twins, nested, hasSignature };
}

function makeFault(xpath: string, fault: Omit<Fault, 'codigo' | 'xpath'>): Fault {
  return { codigo: 'E902', xpath, ...fault };
}

function describeTwin(id: string, before: string, here: string, signed: string): Fault {
  return makeFault(here, {
    mensagem: `O identificador ${quoted(id)} aparece em dois elementos: ${before} e ${here}.`,
    change: `Dê a cada elemento um identificador só seu; o de ${signed} é o que se assina.`,
  });
}

function describeUnsigned(root: Elemento, { root: rootName, signed }: SignedProfile): Fault {
  const other = root.children.find((child) => child.name === 'Signature');
  const mensagem =
    other === undefined
      ? `O documento não está assinado: falta o elemento Signature depois de ${signed}, dentro de ${rootName}.`
      : `O elemento Signature não é uma assinatura XML: o seu espaço de nomes deve ser ${DSIG}.`;
  return { codigo: 'E901', xpath: `/${quoted(root.name)}/Signature`, mensagem, ...showNamespace(other?.namespace) };
}

function adviseOnlyOne({ root, signed }: SignedProfile): string {
  return `Deixe um só ${signed}, diretamente dentro de ${root}.`;
}

function* listNested(nested: readonly Nested[], profile: SignedProfile): Generator<Fault> {
  const { root, signed } = profile;
  for (const { path, what } of nested) {
    yield what === 'signature'
      ? makeFault(path, {
          mensagem: `A assinatura está em ${path}; o seu lugar é depois de ${signed}, dentro de ${root}, e só uma é aceita.`,
          change: `Ponha a assinatura depois de ${signed}, dentro de ${root}, e só ali.`,
        })
      : makeFault(path, {
          mensagem: `Há um ${signed} em ${path}; o documento só pode ter um, diretamente dentro de ${root}.`,
          change: adviseOnlyOne(profile),
        });
  }
}

function* listSurplus(
  { name }: Elemento,
  elements: number,
  signatures: number,
  profile: SignedProfile,
): Generator<Fault> {
  const { signed } = profile;
  if (elements !== 1) {
    const xpath = `/${name}/${signed}${elements === 0 ? '' : '[2]'}`;
    const mensagem = `O documento assinado deve ter um só ${signed}, e traz ${elements === 0 ? 'nenhum' : elements}.`;
    yield makeFault(xpath, { mensagem, change: adviseOnlyOne(profile) });
  }
  if (signatures > 1) {
    const mensagem = `O documento deve ter uma só Signature, e traz ${signatures}.`;
    yield makeFault(`/${name}/Signature[2]`, { mensagem, change: 'Deixe uma só Signature: a do prestador.' });
  }
}

/** Elements beside the signed one and the signature. */
function* listStrange(root: Elemento, { root: rootName, signed }: SignedProfile): Generator<Fault> {
  for (const child of root.children) {
    if (child.name === signed || isSignature(child)) continue;
    yield makeFault(pathOf([root, child]), {
      mensagem: `O elemento ${child.name} está fora do que a assinatura cobre: dentro de ${rootName} só podem vir ${signed} e Signature.`,
      change: `Tire ${child.name} de ${rootName}.`,
      encontrado: quoted(child.name),
    });
  }
}

/** Wrong order of the two, loose text, comments, and attributes that other programs take for the identifier. */
function* listMisplaced(
  reading: XmlDocumentReading,
  element: Elemento | undefined,
  signature: Elemento | undefined,
  { root: rootName, signed }: SignedProfile,
): Generator<Fault> {
  const { root } = reading;
  const base = `/${root.name}`;
  if (element !== undefined && signature !== undefined && signature.index < element.index) {
    const found = `A Signature está antes de ${signed}; o seu lugar é depois dele.`;
    const change = `Ponha Signature no fim de ${rootName}: a mudança de lugar não desfaz a assinatura.`;
    yield makeFault(`${base}/Signature`, { ...describeFault(found, change), kind: 'signature_misplaced' });
  }
  if (!isBlank(root.text))
    yield makeFault(base, { mensagem: `Há texto solto em ${rootName}, fora do que a assinatura cobre; retire-o.` });
  const stray = reading.strayMarkup();
  if (stray !== undefined) {
    const { what, change } = STRAY[stray.kind];
    const mensagem = `O documento traz ${what}, que a assinatura não cobre; retire antes de assinar.`;
    yield makeFault('', { mensagem, change, ...stray.position });
  }
  const other = element?.attributes.find(
    ({ name, namespace }) => /^id$/i.test(name) && (name !== 'Id' || namespace !== ''),
  );
  if (other !== undefined) {
    const mensagem = `${signed} traz, além de Id, o atributo ${other.name}, que outros programas tomariam pelo identificador; retire-o.`;
    yield makeFault(`${base}/${signed}/@${other.name}`, { mensagem, encontrado: quoted(other.value) });
  }
}

const STRAY = {
  comentário: { what: 'um comentário', change: 'Tire todo comentário do documento.' },
  'instrução de processamento': {
    what: 'uma instrução de processamento',
    change: 'Tire toda instrução de processamento do documento (<?…?>, menos a declaração <?xml …?>).',
  },
} as const;

/** The XPath of an element, with its position if it has siblings of its name. */
function pathOf(trail: readonly Elemento[]): string {
  const steps = trail.map((element, depth) => {
    const twins = trail[depth - 1]?.children.filter(({ name }) => name === element.name) ?? [];
    const name = quoted(element.name);
    return twins.length > 1 ? `${name}[${twins.indexOf(element) + 1}]` : name;
  });
  return `/${steps.join('/')}`;
}

function showNamespace(found: string | undefined): { encontrado: string } | Record<string, never> {
  return found === undefined ? {} : { encontrado: quoted(found) };
}
