/**
 * The faults of a `pedRegEvento` against its layout (Anexo II): each element once and in the national namespace, one group. The `Id` names
 * this note and type (D-923). A request with two readings would cancel a note for one of its readers alone.
 */
import { type Fault, quoted } from './fault.ts';
import { checkText, sayFault } from './layout/check-text.ts';
import { DPS_NAMESPACE } from './layout/dps.ts';
import { pedidoId } from './layout/evento.ts';
import { T } from './layout/simple-types.ts';
import { attributeOf, childOf, type Elemento } from './layout/tree.ts';
import { BASE } from './pedido-names.ts';
import type { TipoEvento } from './tipos-evento.ts';

const NEEDED = ['tpAmb', 'verAplic', 'dhEvento', 'chNFSe'] as const;
/** `nPedRegEvento` is in requests of the layout before. */
const OPTIONAL = ['CNPJAutor', 'CPFAutor', 'nPedRegEvento'] as const;

/** `root`: a `pedRegEvento` with a group of this type. */
export function faultsOfPedido(root: Elemento, { codigo, descricao, campos }: TipoEvento): readonly Fault[] {
  const inf = childOf(root, 'infPedReg')!;
  const name = `e${codigo}`;
  const group = childOf(inf, name)!;
  const signed = root.children.filter(({ name: one }) => one !== 'Signature');
  const within = `${BASE}/${name}`;
  return [
    ...namespaceFaults('/pedRegEvento', [root]),
    ...childFaults('/pedRegEvento', signed, ['infPedReg']),
    ...nestingFaults(
      BASE,
      inf.children.filter((child) => child !== group),
    ),
    ...nestingFaults(within, group.children),
    ...childFaults(BASE, inf.children, [...NEEDED, ...OPTIONAL, name]),
    ...childFaults(within, group.children, ['xDesc', ...campos.map(({ elemento }) => elemento)]),
    ...NEEDED.flatMap((one) => (childOf(inf, one) === undefined ? [refuse(`${BASE}/${one}`, `Falta ${one}.`)] : [])),
    ...momentFaults(childOf(inf, 'dhEvento')?.text.trim()),
    ...descriptionFaults(within, childOf(group, 'xDesc')?.text.trim(), descricao),
    ...idFaults(attributeOf(inf, 'Id') ?? '', pedidoId(childOf(inf, 'chNFSe')?.text.trim() ?? '', codigo)),
  ];
}

function refuse(xpath: string, mensagem: string, more: Pick<Fault, 'encontrado' | 'esperado'> = {}): Fault {
  return { codigo: 'E203', xpath, mensagem: `${mensagem} Corrija, e assine de novo.`, ...more };
}

function namespaceFaults(path: string, elements: readonly Elemento[]): readonly Fault[] {
  return elements.flatMap(({ name, namespace }) => {
    if (namespace === DPS_NAMESPACE) return [];
    const mensagem = `O elemento ${quoted(name)} não é do espaço de nomes nacional.`;
    return [refuse(path, mensagem, { encontrado: quoted(namespace), esperado: DPS_NAMESPACE })];
  });
}

/** Children that are strange, repeated, or of another namespace. */
function childFaults(path: string, children: readonly Elemento[], known: readonly string[]): readonly Fault[] {
  return children.flatMap((child, place) => {
    const here = `${path}/${quoted(child.name)}`;
    if (!known.includes(child.name)) return [refuse(here, `O elemento ${quoted(child.name)} não tem lugar aqui.`)];
    const isAgain = children.findIndex(({ name }) => name === child.name) < place;
    return [
      ...namespaceFaults(here, [child]),
      ...(isAgain ? [refuse(here, `O elemento ${child.name} aparece mais de uma vez.`)] : []),
    ];
  });
}

/** Elements inside a value: its text alone is read. */
function nestingFaults(path: string, leaves: readonly Elemento[]): readonly Fault[] {
  return leaves.flatMap(({ name, children }) =>
    children.length === 0 ? [] : [refuse(`${path}/${quoted(name)}`, `O elemento ${quoted(name)} traz outros dentro.`)],
  );
}

function momentFaults(said: string | undefined): readonly Fault[] {
  if (said === undefined) return [];
  const fault = checkText(T.dataHora, said);
  if (fault === undefined) return [];
  return [refuse(`${BASE}/dhEvento`, `dhEvento ${sayFault(T.dataHora, fault)}`, { encontrado: quoted(said) })];
}

function descriptionFaults(within: string, said: string | undefined, descricao: string): readonly Fault[] {
  if (said === descricao) return [];
  const mensagem = said === undefined ? 'Falta xDesc.' : 'xDesc não é a descrição deste tipo.';
  return [refuse(`${within}/xDesc`, mensagem, { encontrado: quoted(said ?? ''), esperado: descricao })];
}

/** The layout before adds the number of the request. */
function idFaults(said: string, expected: string): readonly Fault[] {
  if (said === expected || (said.startsWith(expected) && /^\d{3}$/.test(said.slice(expected.length)))) return [];
  const mensagem = 'O Id do pedido não é PRE, a chave da nota e o código do tipo.';
  return [refuse(`${BASE}/@Id`, mensagem, { encontrado: quoted(said), esperado: quoted(expected) })];
}
