/**
 * Notes that wait for a rate are judged again when a newer table exists. The missing group is calculated and added, and the note goes on.
 * Otherwise the note ends, or waits for the next table (D-201).
 *
 * Only the parts that depend on the rates are judged again. All else stays as the note was answered, even if the registry has changed.
 */

import type { Municipio } from '../../base/book/municipios.ts';
import { type Delivered, NOTHING } from '../../base/delivery/deliver.ts';
import { inTraces } from '../../base/traces/traces.ts';
import { openDps, sentAsStored } from '../../base/world/sent-documents.ts';
import type { World } from '../../base/world/world.ts';
import { readOwnNote } from '../../documents/own-note.ts';
import type { TabelaIbsCbs } from '../../fiscal/aliquotas-ibs-cbs.ts';
import { AMBIENTES } from '../../fiscal/ambiente.ts';
import { formatDecimal, parseDecimal, sum } from '../../fiscal/decimal.ts';
import { type IbsCbsFacts, type IssqnForIbsCbs, judgeIbsCbs } from '../../fiscal/judge.ts';
import type { Dps } from '../../fiscal/layout/dps.ts';
import { withIbsCbs } from '../../fiscal/layout/write.ts';
import type { NotaRetida, SaidaDeRetida } from './retidas.rows.ts';

/** Notes calculated and written together: some tens of milliseconds. */
const BATCH_MAX = 200;
/** Notes calculated between two turns of the event loop. */
const PER_TURN = 25;

/** Releases one batch of a tenant's notes, as far as the table in force allows. */
export async function releaseNotas(world: World, municipio: Municipio): Promise<Delivered> {
  const { tenant } = municipio;
  const tabelaIbsCbs = await world.store.aliquotas.readTabela(municipio.aliquotasIbsCbs);
  const notas = await world.store.retidas.list(tenant, tabelaIbsCbs.versao, BATCH_MAX);
  if (notas.length === 0) return NOTHING;
  const about = { 'nfse.municipio': tenant, 'nfse.documentos': notas.length };
  return inTraces('soltar', notas, about, () => releaseListed(world, municipio, notas, tabelaIbsCbs));
}

async function releaseListed(
  world: World,
  municipio: Municipio,
  notas: readonly NotaRetida[],
  tabelaIbsCbs: TabelaIbsCbs,
): Promise<Delivered> {
  const { tenant, ambiente } = municipio;
  const regrasNacionais = municipio.regrasNacionais ?? AMBIENTES[ambiente].regrasNacionais;
  const facts = { ambiente, regrasNacionais, tabelaIbsCbs };
  const saidas: SaidaDeRetida[] = [];
  for (const nota of notas) {
    saidas.push(saidaOf(world, municipio, nota, facts));
    if (saidas.length % PER_TURN === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  const julgadas = { tabela: tabelaIbsCbs.versao, programa: world.programa };
  const written = await world.store.retidas.release(tenant, world.now(), julgadas, saidas);
  const released = saidas.filter((saida) => 'nfse' in saida).length;
  world.log.info(
    { tenant, tabela: tabelaIbsCbs.versao, notas: notas.length, seguem: released, gravadas: written },
    'notas retidas foram vistas com a tabela de alíquotas nova',
  );
  if (released > 0) world.wake(tenant);
  return { delivered: notas.length, isFull: notas.length === BATCH_MAX, pauseMs: 0 };
}

function saidaOf(world: World, municipio: Municipio, nota: NotaRetida, facts: IbsCbsFacts): SaidaDeRetida {
  const { id, mes, recebido } = nota;
  try {
    const opened = openDps(sentAsStored(recebido), municipio);
    const read = 'faults' in opened ? opened : opened.read();
    if ('faults' in opened || 'faults' in read) throw new Error('a DPS that was accepted does not read');
    const nfse = nota.nfse.toString('utf8');
    const judged = judgeIbsCbs(read.dps, issqnOf(nota.nfse, read.dps), facts, read.declarado);
    if (judged.retencao !== undefined) return { id, mes, espera: judged.retencao };
    if (judged.faults.length > 0) {
      const reasons = judged.faults.map(({ codigo, mensagem }) => `${codigo}: ${mensagem}`);
      return { id, mes, recusa: `${DIVERGES} ${reasons.join(' | ')}` };
    }
    const { gIBS, gCBS } = judged.ibscbs!.totCIBS;
    const valores = { ibs: formatDecimal(gIBS.vIBSTot), cbs: formatDecimal(gCBS.vCBS) };
    return { id, mes, nfse: withIbsCbs(nfse, judged.ibscbs!), ...valores };
  } catch (error) {
    // The failure is logged, and only the next table tries this note again; the others go on.
    world.log.error({ err: error, tenant: municipio.tenant, nota: id }, 'uma nota retida não pôde ser recalculada');
    return { id, mes, espera: NOT_RECKONED };
  }
}

const DIVERGES =
  'As alíquotas desta competência foram publicadas, e com o cálculo oficial esta nota não se emite; ela não foi ao ADN, e a série e o número estão livres.';
const NOT_RECKONED =
  'Retida: as alíquotas foram importadas, mas o IBS e a CBS desta nota não puderam ser calculados. Fale com o município.';

/** Amounts of an issued note, from its own text. */
function issqnOf(nfse: Uint8Array, dps: Dps): IssqnForIbsCbs {
  const inNota = readOwnNote(nfse);
  const documentos = dps.IBSCBS?.valores.gReeRepRes?.documentos ?? [];
  return {
    vLiq: parseDecimal(inNota('valores/vLiq')!)!,
    vISSQN: parseDecimal(inNota('valores/vISSQN') ?? ''),
    vCalcReeRepRes: documentos.length === 0 ? undefined : sum(documentos.map(({ vlrReeRepRes }) => vlrReeRepRes)),
  };
}
