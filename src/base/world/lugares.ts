/**
 * Rooms for expensive or long work, with a limited number of places: those of production, and those of rehearsals. Anybody can create
 * sandboxes for free. Real work therefore never waits in a line whose length depends on their number (D-810).
 */
import type { Ambiente } from '../../fiscal/ambiente.ts';

type Lugares = Readonly<Record<Ambiente, number>>;

/**
 * Queues of the worker, in simultaneous batches, and that of notas in documents. A batch that waits for an answer holds no database
 * connection, and the writes of several municipalities share one (`base/pg/together.ts`).
 */
export const FILAS = {
  /** Documents under way (D-882). A batch has the places of a full one until it has claimed its notas; then it has theirs. */
  notas: { producao: 4_000, homologacao: 800 },
  eventos: { producao: 6, homologacao: 2 },
  lotes: { producao: 2, homologacao: 1 },
  retidas: { producao: 1, homologacao: 1 },
  mudancas: { producao: 16, homologacao: 4 },
  auditoria: { producao: 16, homologacao: 4 },
  avisos: { producao: 8, homologacao: 8 },
  avisos_lentos: { producao: 8, homologacao: 8 },
  exportacoes: { producao: 1, homologacao: 1 },
} as const satisfies Readonly<Record<string, Lugares>>;
export type Fila = keyof typeof FILAS;

/** All rooms of a process. */
export const SALAS = {
  ...FILAS,
  /** Simultaneous requests with a flow. More would only wait for the database, each with its body in memory. */
  pedidos: { producao: 1_000, homologacao: 500 },
  /** Requests that wait for an event, for each kind of event; each also holds a place for requests. */
  esperas: { producao: 250, homologacao: 150 },
  /** Answers that their senders in private sandboxes hold back; each has its connection and no other place. */
  respostas_retidas: { producao: 0, homologacao: 50 },
  /** Large bodies that wait for the thread that answers them one after the other, from the two sides in turn. */
  corpos_grandes: { producao: 32, homologacao: 32 },
  /** Hundredths of the processor for the signature debugger. */
  verificacoes: { producao: 10, homologacao: 10 },
  /** Municipalities whose new names one turn of the upkeep learns, chosen at random. */
  nomes: { producao: 4, homologacao: 2 },
  /** Municipalities whose notes one turn adds to the sums of their months, chosen at random. */
  receita: { producao: 8, homologacao: 4 },
} as const satisfies Readonly<Record<string, Lugares>>;

/** Counts the taken places of a room. */
export class Sala {
  private readonly taken: Record<Ambiente, number> = { producao: 0, homologacao: 0 };
  private readonly lugares: Lugares;

  constructor(lugares: Lugares) {
    this.lugares = lugares;
  }

  /** Takes places; false: all places of that side are taken. The last to enter may take more than are left. */
  enter(ambiente: Ambiente, places = 1): boolean {
    if (this.left(ambiente) <= 0) return false;
    this.taken[ambiente] += places;
    return true;
  }

  leave(ambiente: Ambiente, places = 1): void {
    this.taken[ambiente] -= places;
  }

  count(ambiente: Ambiente): number {
    return this.taken[ambiente];
  }

  left(ambiente: Ambiente): number {
    return this.lugares[ambiente] - this.taken[ambiente];
  }
}
