/** Elements copied, moved, wrapped, renamed, removed, or given attributes and namespaces: every form of signature wrapping. */
import { DOMParser, XMLSerializer } from '@xmldom/xmldom';
import { type Chance, DSIG, idOf } from './signatures.ts';
import { NAMESPACE } from './signed-documents.ts';

/** A signed document after one to three of these changes. */
export function rearranged(signed: string, chance: Chance): string {
  const tree = new DOMParser().parseFromString(signed, 'text/xml');
  for (let change = chance.below(3); change >= 0; change -= 1) rearrange(tree, chance);
  return new XMLSerializer().serializeToString(tree);
}

const NEW_NAMES = ['infDPS', 'Signature', 'Object', 'SignedInfo', 'Reference', 'Extensions', 'vServ', 'KeyInfo'];
const NEW_ATTRIBUTES = ['Id', 'ID', 'id', 'xml:id', 'URI', 'Algorithm', 'versao', 'a'];

function rearrange(tree: Document, chance: Chance): void {
  const all = tree.getElementsByTagName('*');
  const any = (): Element => all[chance.below(all.length)]!;
  // The important parts are chosen more often than leaves.
  const large = (): Element =>
    chance.pick([
      any(),
      ...['infDPS', 'Signature', 'SignedInfo', 'Reference', 'KeyInfo'].flatMap((name) => named(tree, name)),
    ]);
  const [what, where] = [large(), large()];
  if (what === tree.documentElement) return;
  const isInside = (one: Node | null, other: Node): boolean =>
    one !== null && (one === other || isInside(one.parentNode, other));
  const put = (one: Element): void => {
    one.parentNode?.removeChild(one);
    if (chance.below(2) === 0 || where === tree.documentElement)
      where.insertBefore(one, chance.below(2) === 0 ? where.firstChild : null);
    else where.parentNode!.insertBefore(one, chance.below(2) === 0 ? where : where.nextSibling);
  };
  const other = tree.createElementNS(chance.pick([DSIG, NAMESPACE, 'urn:x', null]), chance.pick(NEW_NAMES));
  const ways: readonly (() => void)[] = [
    () => put(what.cloneNode(true) as Element),
    () => {
      if (!isInside(where, what)) put(what);
    },
    () => what.parentNode!.removeChild(what),
    () => {
      what.parentNode!.replaceChild(other, what);
      other.appendChild(what);
    },
    () => put(other),
    () =>
      what.setAttribute(
        chance.pick(NEW_ATTRIBUTES),
        chance.pick(['x1', '', idOf(new XMLSerializer().serializeToString(tree)), what.getAttribute('Id') ?? 'y']),
      ),
    () => tree.documentElement!.setAttribute(chance.pick(['xmlns:q', 'xmlns:xsi', 'a']), 'urn:q'),
    () => what.parentNode!.insertBefore(tree.createTextNode(chance.pick([' ', '\n', '1'])), what),
  ];
  chance.pick(ways)();
}

function named(tree: Document, name: string): Element[] {
  const found = tree.getElementsByTagNameNS('*', name);
  return [...Array(found.length).keys()].map((place) => found[place]!);
}
