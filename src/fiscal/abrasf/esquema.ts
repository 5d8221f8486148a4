/**
 * The elements that a document of the model may hold, by local name, and the search for all others. An unknown element is reported with its
 * path and the nearest known name, never skipped: it may be misspelt (D-177).
 */
import type { Elemento } from '../layout/tree.ts';

/** An element of the schema. A leaf has no children. */
export type Esquema = {
  /** The name for messages; `qualquerCaixa` accepts it in upper or lower case. */
  readonly nome: string;
  readonly qualquerCaixa: boolean;
  /** The element may hold anything. */
  readonly aberto: boolean;
  readonly filhos: readonly Esquema[];
  /** The element may be repeated. */
  readonly lista: boolean;
};

export type Caminho = {
  /** Path below the root of the schema; a list is `Rps*`. */
  readonly path: string;
  readonly qualquerCaixa?: boolean;
  readonly aberto?: boolean;
};

/** The schema of these paths, in any order. */
export function esquemaOf(caminhos: readonly Caminho[], nome = ''): Esquema {
  const byStep = Map.groupBy(caminhos, ({ path }) => path.split('/', 1)[0]!);
  const filhos = [...byStep].map(([step, all]) => {
    const here = all.filter(({ path }) => path === step);
    const below = all.filter(({ path }) => path !== step);
    const inside = esquemaOf(
      below.map((one) => ({ ...one, path: one.path.slice(step.length + 1) })),
      step.replace('*', ''),
    );
    return {
      ...inside,
      lista: step.endsWith('*'),
      aberto: here.some(({ aberto }) => aberto === true),
      qualquerCaixa: all.every(({ qualquerCaixa }) => qualquerCaixa === true),
    };
  });
  return { nome, filhos, lista: false, aberto: false, qualquerCaixa: false };
}

/** An element that does not belong in its place. */
export type Estranho = { readonly path: string; readonly detalhe: string };

/** A document may have sixty thousand of them. */
const ESTRANHOS_MAX = 50;
const NOME_MAX = 40;

/** Every child element that the schema does not have, and every group that is repeated. */
export function listEstranhos(element: Elemento, esquema: Esquema): readonly Estranho[] {
  const found: Estranho[] = [];
  const walk = (one: Elemento, { filhos, nome }: Esquema, base: string): void => {
    const seen = new Set<Esquema>();
    for (const child of one.children) {
      if (found.length >= ESTRANHOS_MAX) return;
      const path = `${base}${child.name.slice(0, NOME_MAX)}`;
      const known = filhos.find((filho) => isNamed(filho, child.name));
      if (known === undefined) {
        found.push({ path, detalhe: `${path} não existe. ${nearestTo(child.name, filhos, nome)}` });
        continue;
      }
      // A repeated leaf is reported by the reader of the leaf.
      if (seen.has(known) && !known.lista && known.filhos.length > 0) {
        found.push({ path, detalhe: `${path} aparece mais de uma vez.` });
      }
      seen.add(known);
      if (!known.aberto) walk(child, known, `${path}/`);
    }
  };
  walk(element, esquema, '');
  return found;
}

function isNamed({ nome, qualquerCaixa }: Esquema, name: string): boolean {
  return qualquerCaixa ? nome.toLowerCase() === name.toLowerCase() : nome === name;
}

function nearestTo(name: string, filhos: readonly Esquema[], parent: string): string {
  if (filhos.length === 0) return `${parent} leva só texto.`;
  const wanted = name.slice(0, NOME_MAX).toLowerCase();
  const scored = filhos
    .map(({ nome }) => {
      const one = nome.toLowerCase();
      // A name that contains the other is the closest match, even if it is much longer.
      const isInside = one.length > 2 && (one.includes(wanted) || wanted.includes(one));
      return { nome, distance: isInside ? 1 : distance(one, wanted), max: Math.max(2, Math.floor(one.length / 3)) };
    })
    .filter((one) => one.distance <= one.max)
    .toSorted((a, b) => a.distance - b.distance || b.nome.length - a.nome.length);
  const [best] = scored;
  return best === undefined ? 'Não há nome parecido.' : `O nome mais próximo é ${best.nome}.`;
}

/** Edit distance between two short words. */
function distance(a: string, b: string): number {
  let before = Array.from({ length: b.length + 1 }, (_, place) => place);
  for (let row = 1; row <= a.length; row += 1) {
    const now = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const isSame = a[row - 1] === b[column - 1];
      now.push(Math.min(now[column - 1]! + 1, before[column]! + 1, before[column - 1]! + (isSame ? 0 : 1)));
    }
    before = now;
  }
  return before[b.length]!;
}
