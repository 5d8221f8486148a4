/** Authenticates statements of copies by a key of the service: another author is told, a change is refused (D-805). */
import { type Autoria, autenticadorOfCopia, autoriaOfCopia } from '../../base/book/auditoria-chave.ts';

/** In hexadecimal; null: written without a key. */
type Autenticado = { readonly autenticador: string | null };

/** One is never taken for the other. */
type Genero = 'manifesto' | 'resumo' | 'conferida';

const textOf = (genero: Genero, dito: object): string => `${genero}\n${JSON.stringify(dito)}`;

export function authenticate<Dito extends object>(genero: Genero, dito: Dito): Dito & Autenticado {
  return { ...dito, autenticador: autenticadorOfCopia(textOf(genero, dito))?.toString('hex') ?? null };
}

/** `dito`: as it was read, in the order in which it was written. */
export function autoriaOfDito(genero: Genero, lido: object): Autoria {
  const { autenticador, ...dito } = lido as Partial<Autenticado>;
  const given = typeof autenticador === 'string' ? Buffer.from(autenticador, 'hex') : null;
  return autoriaOfCopia(textOf(genero, dito), given);
}
