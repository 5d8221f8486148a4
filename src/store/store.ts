/** The store as the flows see it: what we remember, by subject. */
import { aliquotaStore } from './aliquotas.ts';
import { arquivoStore } from './arquivar.ts';
import { atoStore } from './atos.ts';
import { auditoriaStore } from './auditoria.ts';
import { bancoStore } from './banco.ts';
import { buscaStore } from './buscar-notas.ts';
import { cadastroStore } from './cadastros.ts';
import { circuitoStore } from './circuitos.ts';
import type { Announce } from './claim-notas.ts';
import { contagemStore } from './contagens.ts';
import { contaStore, passkeyStore } from './contas.ts';
import { documentoStore } from './documentos.ts';
import { dueLister } from './due.ts';
import { eliminacaoStore } from './eliminar.ts';
import { ensaioStore } from './ensaios.ts';
import { entregaStore } from './entregas.ts';
import { esperaStore } from './esperas.ts';
import { eventoStore } from './eventos.ts';
import { evidenciaStore } from './evidencia.ts';
import { exportacaoStore } from './exportacoes.ts';
import { fundamentoStore } from './fundamentos.ts';
import { gravacaoStore } from './gravacao.ts';
import { guardaStore } from './guarda.ts';
import { idempotenciaStore } from './idempotencia.ts';
import { prestadorImport } from './import-prestadores.ts';
import { importacaoStore } from './importacoes.ts';
import { linhasStore } from './linhas.ts';
import { listaStore, listasMantidas } from './listas.ts';
import { loteStore } from './lotes.ts';
import { ensureMesesAhead } from './meses.ts';
import { movimentoStore } from './movimento.ts';
import { mudancaStore } from './mudancas.ts';
import { municipioStore } from './municipios.ts';
import { nomeStore } from './nomes.ts';
import { notaStore } from './notas.ts';
import { notaRetidaStore } from './notas-retidas.ts';
import type { Db } from './open.ts';
import { dicionarios } from './pacote.ts';
import { prestadorStore } from './prestadores.ts';
import { procuraPrestadorStore } from './procurar-prestadores.ts';
import { checkWriting } from './readiness.ts';
import type { OnStored } from './recent.ts';
import { servicoStore } from './servicos.ts';
import { sessaoStore } from './sessoes.ts';
import { titularStore } from './titular.ts';
import { tokenStore } from './tokens.ts';
import { StoreUnavailable } from './unavailable.ts';
import { vigiaStore } from './vigia.ts';
import { webhookStore } from './webhooks.ts';

/** What is remembered, by subject. */
export type Store = ReturnType<typeof createStore>;

/** A group of issuances takes milliseconds; one that takes this long waits for a database that is not well. */
const ISSUING_MAX_MS = 5_000;

/** `onStored`, `announce`: see {@link notaStore}. */
export function createStore(pool: Db, onStored?: OnStored, announce?: Announce) {
  const notas = notaStore(pool, onStored, announce);
  const mantidas = listasMantidas(pool);
  return {
    municipios: municipioStore(pool),
    prestadores: { ...prestadorStore(pool), ...prestadorImport(pool), ...procuraPrestadorStore(pool) },
    servicos: servicoStore(pool, mantidas),
    aliquotas: aliquotaStore(pool),
    cadastros: cadastroStore(pool, mantidas),
    listas: listaStore(pool),
    importacoes: importacaoStore(pool),
    notas,
    retidas: notaRetidaStore(pool),
    eventos: eventoStore(pool),
    esperas: esperaStore(pool),
    vigia: vigiaStore(pool),
    idempotencia: idempotenciaStore(pool),
    eliminacao: eliminacaoStore(pool),
    evidencia: evidenciaStore(pool),
    fundamentos: fundamentoStore(pool),
    guarda: guardaStore(pool),
    linhas: linhasStore(pool),
    gravacao: gravacaoStore(pool),
    busca: buscaStore(pool),
    nomes: nomeStore(pool),
    contagens: contagemStore(pool),
    contas: contaStore(pool),
    passkeys: passkeyStore(pool),
    sessoes: sessaoStore(pool),
    titular: titularStore(pool),
    tokens: tokenStore(pool),
    listDue: dueLister(pool),
    documentos: documentoStore(pool),
    dicionarios,
    banco: bancoStore(pool),
    arquivo: arquivoStore(pool),
    atos: atoStore(pool),
    auditoria: auditoriaStore(pool),
    movimento: movimentoStore(pool),
    circuitos: circuitoStore(pool),
    mudancas: mudancaStore(pool),
    webhooks: webhookStore(pool),
    entregas: entregaStore(pool),
    ensaios: ensaioStore(pool),
    exportacoes: exportacaoStore(pool),
    ensureMesesAhead: (now: number): Promise<void> => ensureMesesAhead(pool, now),
    lotes: loteStore(pool, onStored ?? notas.keepForTransmission),
    /** Throws what keeps the database from being written to: the readiness check. */
    ping: async (): Promise<void> => {
      await checkWriting(pool);
      if (notas.issuingFor() > ISSUING_MAX_MS) throw new StoreUnavailable('slow', 'a group is under way for too long');
    },
    close: (): Promise<void> => pool.end(),
  };
}
