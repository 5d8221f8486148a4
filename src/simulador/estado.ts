/** What a running simulator knows besides its documents: how it shall misbehave, what it shall refuse, what it counted. */
import type { Configuracao, NomeDeFalta } from './faltas.ts';
import type { Recusa } from './recusas.ts';
import type { Registro } from './registro.ts';

export type Log = {
  info(about: object, message: string): void;
  warn(about: object, message: string): void;
  error(about: object, message: string): void;
};

export type Contagens = {
  envios: number;
  consultas: number;
  documentos_recebidos: number;
  documentos_aceitos: number;
  /** Of these, events. */
  eventos_aceitos: number;
  /** Connections that did not show an accepted certificate. */
  conexoes_recusadas: number;
  /** Errors answered, by code, whether or not the answer arrived. */
  readonly erros: Map<string, number>;
  /** Faults that struck. */
  readonly faltas: Map<NomeDeFalta, number>;
};

export type Estado = {
  readonly registro: Registro;
  readonly log: Log;
  configuracao: Configuracao;
  recusas: Recusa[];
  /** Requests since the seed was set. */
  numero: number;
  contagens: Contagens;
  /** How often each event was told that its note is not known, by its `Id`. */
  readonly desconhecidas: Map<string, number>;
};

export function novasContagens(): Contagens {
  return {
    envios: 0,
    consultas: 0,
    documentos_recebidos: 0,
    documentos_aceitos: 0,
    eventos_aceitos: 0,
    conexoes_recusadas: 0,
    erros: new Map(),
    faltas: new Map(),
  };
}

export function count<K>(counts: Map<K, number>, key: K): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
