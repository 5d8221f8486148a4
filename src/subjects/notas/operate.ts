/**
 * Actions of a municipality on a note: show it with its trail, and withdraw one that would wait for ever. These work beside a running
 * service or without one.
 */

import { needOpen } from '../../base/world/fechado.ts';
import { municipioNamed, type RegistryWorld } from '../../base/world/municipios.ts';
import {
  lowerFirst,
  noNota,
  type Passo,
  type PorMao,
  type Problem,
  presentTrail,
  readMotivo,
} from '../../base/world/operator.ts';
import { whyNoChave } from '../../fiscal/chave.ts';
import { NOTA_ESTADOS, type NotaEstado, notaMove } from '../../fiscal/nota.ts';
import { tipoByCodigo } from '../../fiscal/tipos-evento.ts';
import type { NotaStep } from './notas.rows.ts';
import type { RetiradaResult } from './withdraw.rows.ts';

export type NotaDoOperador = {
  readonly chave_acesso: string;
  readonly numero_protocolo: string;
  readonly estado: NotaEstado;
  /** `nota.status` and `protocolo.status`, as the integrator reads them. */
  readonly status: string;
  readonly protocolo: string;
  readonly mensagem_retorno: string | null;
  /** Key of the note that this one replaces. */
  readonly substitui: string | null;
  /** Version of the IBS and CBS rates that judged the note; null for old notes. */
  readonly tabela_aliquotas: number | null;
  readonly trilha: readonly Passo<NotaStep>[];
  /** Whether the state machine allows a withdrawal now. */
  readonly podeRetirar: boolean;
};

/** One note with its trail. Throws an Error in Portuguese when there is no such municipality. */
export async function showNota(world: RegistryWorld, slug: string, chave: string): Promise<NotaDoOperador | Problem> {
  const { tenant } = await municipioNamed(world, slug);
  const problem = whyNoChave(chave);
  if (problem !== undefined) return { problem };
  const row = await world.store.notas.findByChave(tenant, chave);
  if (row === undefined) return { problem: noNota(slug) };
  const { estado, numero_protocolo, mensagem_retorno, substitui, tabela_aliquotas } = row;
  const { status, protocolo } = NOTA_ESTADOS[estado];
  return {
    chave_acesso: chave,
    numero_protocolo,
    estado,
    status,
    protocolo,
    mensagem_retorno,
    substitui,
    tabela_aliquotas,
    trilha: presentTrail(chave, await world.store.notas.listTrail(tenant, row)),
    podeRetirar: substitui !== null && notaMove(estado, 'retirada') !== undefined,
  };
}

/**
 * Withdraws a substitute that was never transmitted and whose event will not come. It ends like a refused note, and its series and number
 * are free. Undefined: done.
 */
export async function retirarNota(
  world: RegistryWorld,
  slug: string,
  chave: string,
  by: PorMao,
): Promise<Problem | undefined> {
  const read = readMotivo({ ...by, motivo: by.motivo ?? '' }, NO_MOTIVO);
  if ('problem' in read) return read;
  const { motivo } = read;
  if (motivo === undefined) return { problem: `O motivo está vazio. ${NO_MOTIVO}` };
  const municipio = await municipioNamed(world, slug);
  needOpen(municipio);
  const { tenant } = municipio;
  const problem = whyNoChave(chave);
  if (problem !== undefined) return { problem };
  const mensagem = `Retirada pelo município antes da transmissão ao ADN: ${motivo}`;
  const result = await world.store.notas.withdraw(tenant, chave, world.now(), { ...by, mensagem, motivo });
  return result === 'retirada' ? undefined : { problem: whyNot(slug, result) };
}

const NO_MOTIVO = 'Escreva-o: o integrador o lê.';

function whyNot(slug: string, result: Exclude<RetiradaResult, 'retirada'>): string {
  if (result === 'desconhecida') return noNota(slug);
  if (result === 'nao_substitui') {
    return 'A nota não substitui outra, e segue sozinha assim que o ADN responder; só se retira a substituta cujo evento não virá.';
  }
  if (result === 'ocupada')
    return 'A nota está sendo examinada para envio neste instante. Tente de novo em alguns segundos.';
  if ('found' in result) {
    const { found } = result;
    const { significado, rests } = NOTA_ESTADOS[found];
    return `A nota está ${found}, e só se retira a que está emitida. ${found}: ${lowerFirst(significado)} ${rests ? 'Não há o que retirar.' : 'Espere a resposta do ADN, e tente de novo.'}`;
  }
  if ('substituida' in result) {
    return `A nota que ela substitui está ${result.substituida}: esta já não espera, e o ADN a decide em instantes.`;
  }
  const { id, codigo_tipo_evento, numero_sequencial, estado } = result.evento;
  const { slug: tipo } = tipoByCodigo(codigo_tipo_evento)!;
  return `O evento ${id} (${tipo} nº ${numero_sequencial}), na nota que ela substitui, traz a chave desta e está ${estado}: pode cancelar aquela, e esta é a que fica. Espere que ele conclua, ou encerre-o antes (nfse evento mostrar ${id} --municipio ${slug}).`;
}
