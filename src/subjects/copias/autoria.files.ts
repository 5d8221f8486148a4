/** Authenticates statements of copies by a key of the service: a foreign author is reported, a changed statement is refused (D-655). */
import { type Autoria, autenticadorOfCopia, autoriaOfCopia } from '../../base/book/auditoria-chave.ts';

/** Hexadecimal; null: written without a key. */
type Autenticado = { readonly autenticador: string | null };

/** Kind of a statement; it is authenticated too, so that no kind passes for another. */
type Genero = 'manifesto' | 'resumo' | 'conferida';

const textOf = (genero: Genero, dito: object): string => `${genero}\n${JSON.stringify(dito)}`;

export function authenticate<Dito extends object>(genero: Genero, dito: Dito): Dito & Autenticado {
  return { ...dito, autenticador: autenticadorOfCopia(textOf(genero, dito))?.toString('hex') ?? null };
}

/** `dito`: the statement with its fields in the order in which they were written. */
export function autoriaOfDito(genero: Genero, lido: object): Autoria {
  const { autenticador, ...dito } = lido as Partial<Autenticado>;
  const given = typeof autenticador === 'string' ? Buffer.from(autenticador, 'hex') : null;
  return autoriaOfCopia(textOf(genero, dito), given);
}
