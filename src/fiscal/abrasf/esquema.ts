/**
 * What may stand in a document of the model, by local names, and what of one does not belong there. An element that nobody reads is told
 * with its path and the nearest name that there is, never passed over: it may be a misspelt one.
 */
import type { Elemento } from '../layout/tree.ts';

/** What may stand in an element. A leaf has nothing inside. */
export type Esquema = {
  /** The name as it is shown, its letters in any case where `qualquerCaixa`. */
  readonly nome: string;
  readonly qualquerCaixa: boolean;
  /** Anything may stand in it. */
  readonly aberto: boolean;
  readonly filhos: readonly Esquema[];
  /** Many of them may stand side by side. */
  readonly lista: boolean;
};

export type Caminho = {
  /** Below the root of the schema; a list is `Rps*`. */
  readonly path: string;
  readonly qualquerCaixa?: boolean;
  readonly aberto?: boolean;
};

/** The schema of these paths, whose order does not matter. */
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

/** An element that does not belong where it stands. */
export type Estranho = { readonly path: string; readonly detalhe: string };

/** A document may have sixty thousand of them. */
const ESTRANHOS_MAX = 50;
const NOME_MAX = 40;

/** Every element inside this one that its schema does not have, and every group that stands there twice. */
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
      // Twice the same leaf is told by whoever reads it.
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
      // A name inside the other is meant, however much stands around it.
      const isInside = one.length > 2 && (one.includes(wanted) || wanted.includes(one));
      return { nome, distance: isInside ? 1 : distance(one, wanted), max: Math.max(2, Math.floor(one.length / 3)) };
    })
    .filter((one) => one.distance <= one.max)
    .toSorted((a, b) => a.distance - b.distance || b.nome.length - a.nome.length);
  const [best] = scored;
  return best === undefined ? 'Não há nome parecido.' : `O nome mais próximo é ${best.nome}.`;
}

/** Edits between two short words. */
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
