/** The store in the view of the flows: the stored data, by subject. */

import { atoStore } from '../base/book/atos.ts';
import { circuitoStore } from '../base/book/circuitos.ts';
import type { Announce } from '../base/book/claim-notas.ts';
import { contagemStore } from '../base/book/contagens.ts';
import { documentoStore } from '../base/book/documentos.ts';
import { esperaStore } from '../base/book/esperas.ts';
import { fundamentoStore } from '../base/book/fundamentos.ts';
import { gravacaoStore } from '../base/book/gravacao.ts';
import { idempotenciaStore } from '../base/book/idempotencia.ts';
import { importacaoStore } from '../base/book/importacoes.ts';
import { linhasStore } from '../base/book/linhas.ts';
import { listaStore, listasMantidas } from '../base/book/listas.ts';
import { ensureMesesAhead } from '../base/book/meses.ts';
import { movimentoStore } from '../base/book/movimento.ts';
import { municipioStore } from '../base/book/municipios.ts';
import { dicionarios } from '../base/book/pacote.ts';
import { prestadorStore } from '../base/book/prestadores.ts';
import type { OnStored } from '../base/book/recent.ts';
import type { Db } from '../base/pg/open.ts';
import { checkWriting } from '../base/pg/readiness.ts';
import { StoreUnavailable } from '../base/pg/unavailable.ts';
import { auditoriaStore } from '../subjects/auditoria/auditoria.rows.ts';
import { entregaStore } from '../subjects/avisos/entregas.rows.ts';
import { mudancaStore } from '../subjects/avisos/mudancas.rows.ts';
import { webhookStore } from '../subjects/avisos/webhooks.rows.ts';
import { aliquotaStore } from '../subjects/cadastros/aliquotas.rows.ts';
import { cadastroStore } from '../subjects/cadastros/cadastros.rows.ts';
import { prestadorImport } from '../subjects/cadastros/import-prestadores.rows.ts';
import { procuraPrestadorStore } from '../subjects/cadastros/procurar-prestadores.rows.ts';
import { servicoStore } from '../subjects/cadastros/servicos.rows.ts';
import { bancoStore } from '../subjects/citus/banco.rows.ts';
import { contaStore, passkeyStore } from '../subjects/contas/contas.rows.ts';
import { sessaoStore } from '../subjects/contas/sessoes.rows.ts';
import { ensaioStore } from '../subjects/ensaios/ensaios.rows.ts';
import { dueLister } from '../subjects/envio/due.rows.ts';
import { eventoStore } from '../subjects/eventos/eventos.rows.ts';
import { evidenciaStore } from '../subjects/evidencia/evidencia.rows.ts';
import { arquivoStore } from '../subjects/guarda/arquivar.rows.ts';
import { eliminacaoStore } from '../subjects/guarda/eliminar.rows.ts';
import { guardaStore } from '../subjects/guarda/guarda.rows.ts';
import { loteStore } from '../subjects/lotes/lotes.rows.ts';
import { buscaStore } from '../subjects/notas/buscar.rows.ts';
import { nomeStore } from '../subjects/notas/nomes.rows.ts';
import { notaStore } from '../subjects/notas/notas.rows.ts';
import { notaRetidaStore } from '../subjects/notas/retidas.rows.ts';
import { exportacaoStore } from '../subjects/partes/exportacoes.rows.ts';
import { titularStore } from '../subjects/partes/titular.rows.ts';
import { tokenStore } from '../subjects/partes/tokens.rows.ts';
import { vigiaStore } from '../subjects/vigia/vigia.rows.ts';

/** Rows by subject. */
export type Store = ReturnType<typeof createStore>;

/** A group of issuances takes milliseconds; one that takes this long waits for an unhealthy database. */
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
    /** Throws the reason why the database cannot be written to: the readiness check. */
    ping: async (): Promise<void> => {
      await checkWriting(pool);
      if (notas.issuingFor() > ISSUING_MAX_MS) throw new StoreUnavailable('slow', 'a group is under way for too long');
    },
    close: (): Promise<void> => pool.end(),
  };
}
