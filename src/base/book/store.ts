/** The store: tables that several subjects share, and the part of each subject, which its `store.rows.ts` adds to the interface. */
import type { Db } from '../pg/open.ts';
import { atoStore } from './atos.ts';
import { brasaoStore } from './brasoes.ts';
import { circuitoStore } from './circuitos.ts';
import type { Announce } from './claim-notas.ts';
import { contagemStore } from './contagens.ts';
import { documentoStore } from './documentos.ts';
import { esperaStore } from './esperas.ts';
import { fundamentoStore } from './fundamentos.ts';
import { gravacaoStore } from './gravacao.ts';
import { idempotenciaStore } from './idempotencia.ts';
import { importacaoStore } from './importacoes.ts';
import { linhasStore } from './linhas.ts';
import { listaStore } from './listas.ts';
import { ensureMesesAhead } from './meses.ts';
import { movimentoStore } from './movimento.ts';
import { municipioStore } from './municipios.ts';
import { dicionarios } from './pacote.ts';
import type { OnStored, Recent } from './recent.ts';

export type StoreSetup = {
  readonly pool: Db;
  /** Documents that wait in this process for its worker. */
  readonly recent: Recent;
  /** Receives the documents of each commit. */
  readonly onStored: OnStored;
  /** Permission of another worker to announce the notas of a commit. */
  readonly announce: Announce | undefined;
};

/** The part of the store that belongs to no subject. */
export function createBook({ pool }: StoreSetup) {
  return {
    municipios: municipioStore(pool),
    brasoes: brasaoStore(pool),
    listas: listaStore(pool),
    importacoes: importacaoStore(pool),
    esperas: esperaStore(pool),
    idempotencia: idempotenciaStore(pool),
    fundamentos: fundamentoStore(pool),
    linhas: linhasStore(pool),
    gravacao: gravacaoStore(pool),
    contagens: contagemStore(pool),
    documentos: documentoStore(pool),
    dicionarios,
    atos: atoStore(pool),
    movimento: movimentoStore(pool),
    circuitos: circuitoStore(pool),
    ensureMesesAhead: (now: number): Promise<void> => ensureMesesAhead(pool, now),
  };
}

export interface Store extends ReturnType<typeof createBook> {
  /** Throws the reason why the database cannot be written to: the readiness check. */
  ping(): Promise<void>;
  close(): Promise<void>;
}
