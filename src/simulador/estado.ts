/** The state of a running simulator besides its documents: its faults, the requested refusals, and its counts. */
import type { Configuracao, NomeDeFalta } from './faltas.ts';
import type { Recusa } from './recusas.ts';
import type { Registro } from './registro.ts';

export type Log = {
  info(about: object, message: string): void;
  warn(about: object, message: string): void;
  error(about: object, message: string): void;
};

type Contagens = ReturnType<typeof newContagens>;

export type Estado = {
  readonly registro: Registro;
  readonly log: Log;
  configuracao: Configuracao;
  recusas: Recusa[];
  /** Requests since the seed was set. */
  numero: number;
  contagens: Contagens;
  /** `traceparent` of the last requests that brought one. */
  readonly rastros: string[];
  /** The number of answers with E1831 for each event, by its `Id`. */
  readonly desconhecidas: Map<string, number>;
};

export function newContagens() {
  return {
    envios: 0,
    consultas: 0,
    documentos_recebidos: 0,
    documentos_aceitos: 0,
    /** The events among the accepted documents. */
    eventos_aceitos: 0,
    /** Connections without an accepted certificate. */
    conexoes_recusadas: 0,
    /** Errors answered, by code, whether or not the answer arrived. */
    erros: new Map<string, number>(),
    /** The number of each fault that occurred. */
    faltas: new Map<NomeDeFalta, number>(),
  };
}

export function count<K>(counts: Map<K, number>, key: K): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
