/** The store as the flows see it: what we remember, by subject. */
import { type AliquotaStore, aliquotaStore } from './aliquotas.ts';
import { type CadastroStore, cadastroStore } from './cadastros.ts';
import { type EsperaStore, esperaStore } from './esperas.ts';
import { type EventoStore, eventoStore } from './eventos.ts';
import { type GuardaStore, guardaStore } from './guarda.ts';
import { type IdempotenciaStore, idempotenciaStore } from './idempotencia.ts';
import { type PrestadorImport, prestadorImport } from './import-prestadores.ts';
import { type ListaStore, listaStore, listasMantidas } from './listas.ts';
import { type LoteStore, loteStore } from './lotes.ts';
import { type MunicipioStore, municipioStore } from './municipios.ts';
import { type NotaStore, notaStore } from './notas.ts';
import { type NotaRetidaStore, notaRetidaStore } from './notas-retidas.ts';
import type { Db } from './open.ts';
import { type PrestadorStore, prestadorStore } from './prestadores.ts';
import { checkWriting } from './readiness.ts';
import type { OnStored } from './recent.ts';
import { type ServicoStore, servicoStore } from './servicos.ts';
import { StoreUnavailable } from './unavailable.ts';

export type Store = {
  readonly municipios: MunicipioStore;
  readonly prestadores: PrestadorStore & PrestadorImport;
  readonly servicos: ServicoStore;
  readonly aliquotas: AliquotaStore;
  readonly cadastros: CadastroStore;
  readonly listas: ListaStore;
  readonly notas: NotaStore;
  readonly retidas: NotaRetidaStore;
  readonly eventos: EventoStore;
  readonly esperas: EsperaStore;
  readonly idempotencia: IdempotenciaStore;
  readonly guarda: GuardaStore;
  readonly lotes: LoteStore;
  /** Throws what keeps the database from being written to: the readiness check. */
  ping(): Promise<void>;
  close(): Promise<void>;
};

/** A group of issuances takes milliseconds; one that takes this long waits for a database that is not well. */
const ISSUING_MAX_MS = 5_000;

/** `onStored`: see {@link notaStore}. */
export function createStore(pool: Db, onStored?: OnStored): Store {
  const notas = notaStore(pool, onStored);
  const mantidas = listasMantidas(pool);
  return {
    municipios: municipioStore(pool),
    prestadores: { ...prestadorStore(pool), ...prestadorImport(pool) },
    servicos: servicoStore(pool, mantidas),
    aliquotas: aliquotaStore(pool),
    cadastros: cadastroStore(pool, mantidas),
    listas: listaStore(pool),
    notas,
    retidas: notaRetidaStore(pool),
    eventos: eventoStore(pool),
    esperas: esperaStore(pool),
    idempotencia: idempotenciaStore(pool),
    guarda: guardaStore(pool),
    lotes: loteStore(pool, onStored ?? notas.keepForTransmission),
    ping: async () => {
      await checkWriting(pool);
      if (notas.issuingFor() > ISSUING_MAX_MS) throw new StoreUnavailable('slow', 'a group is under way for too long');
    },
    close: () => pool.end(),
  };
}
