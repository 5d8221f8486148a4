/**
 * Rooms of work, in which what is dear or long has a bounded number of places: those of production, and those of rehearsals. Sandboxes are
 * free and anybody makes them, so that nothing real waits in a line in which their number counts (D-810).
 */
import type { Ambiente } from '../../fiscal/ambiente.ts';

type Lugares = Readonly<Record<Ambiente, number>>;

/** Queues of the worker, in batches at once. A batch that waits for an answer holds no database connection. */
export const FILAS = {
  notas: { producao: 20, homologacao: 4 },
  eventos: { producao: 6, homologacao: 2 },
  lotes: { producao: 2, homologacao: 1 },
  retidas: { producao: 1, homologacao: 1 },
  mudancas: { producao: 2, homologacao: 1 },
  auditoria: { producao: 2, homologacao: 1 },
  avisos: { producao: 8, homologacao: 8 },
  avisos_lentos: { producao: 8, homologacao: 8 },
  exportacoes: { producao: 1, homologacao: 1 },
} as const satisfies Readonly<Record<string, Lugares>>;
export type Fila = keyof typeof FILAS;

/** All rooms of a process. */
export const SALAS = {
  ...FILAS,
  /** Requests with a flow at once; more would only wait in line for the database, each with its body in memory. */
  pedidos: { producao: 1_000, homologacao: 500 },
  /** Requests that wait for something to happen, of each kind of thing: each holds a place for requests. */
  esperas: { producao: 250, homologacao: 150 },
  /** Large bodies that wait for the thread that answers them one after the other, the two sides in turn. */
  corpos_grandes: { producao: 32, homologacao: 32 },
  /** Of the signature debugger: hundredths of the processor. */
  verificacoes: { producao: 10, homologacao: 10 },
  /** Municipalities whose new names are learned in one turn of the upkeep, by chance. */
  nomes: { producao: 4, homologacao: 2 },
} as const satisfies Readonly<Record<string, Lugares>>;

/** Counts the taken places of a room. */
export class Sala {
  private readonly taken: Record<Ambiente, number> = { producao: 0, homologacao: 0 };
  private readonly lugares: Lugares;

  constructor(lugares: Lugares) {
    this.lugares = lugares;
  }

  /** Takes a place; false: all of that side are taken. */
  enter(ambiente: Ambiente): boolean {
    if (this.left(ambiente) <= 0) return false;
    this.taken[ambiente] += 1;
    return true;
  }

  leave(ambiente: Ambiente): void {
    this.taken[ambiente] -= 1;
  }

  count(ambiente: Ambiente): number {
    return this.taken[ambiente];
  }

  left(ambiente: Ambiente): number {
    return this.lugares[ambiente] - this.taken[ambiente];
  }
}
