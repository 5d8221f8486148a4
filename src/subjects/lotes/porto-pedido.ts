/** Common parts of the legacy port's operations: the request, the answer, and the forms of a moment and of a note's number. */

import type { Municipio } from '../../base/book/municipios.ts';
import type { Presented } from '../../base/world/caller.ts';
import { momentOfNota } from '../../base/world/gather-facts.ts';
import type { Refused as Recusado } from '../../base/world/idempotency.ts';
import type { Quota } from '../../base/world/quota.ts';
import type { World } from '../../base/world/world.ts';
import type { SoapDocumento } from '../../documents/soap.ts';
import { type PrestadorAsked, plainRegistration } from '../../fiscal/abrasf/lote.ts';
import { type Mensagem, mensagemOf, mensagemOfFault } from '../../fiscal/abrasf/mensagens.ts';
import { type Modelo, xmlnsTipos } from '../../fiscal/abrasf/modelo.ts';
import { nestLeaves } from '../../fiscal/abrasf/nota.ts';
import { bare } from '../../fiscal/abrasf/rps.ts';
import { AMBIENTES } from '../../fiscal/ambiente.ts';
import type { Moment } from '../../fiscal/moment.ts';
import type { NotaDoPorto } from './notas.rows.ts';

export type Pedido = {
  readonly world: World;
  readonly municipio: Municipio;
  readonly documento: SoapDocumento;
  /** The shape of the answer. */
  readonly modelo: Modelo;
  readonly shown: () => Presented;
  /** Value of `X-NFSe-Simular` (D-60). */
  readonly simular: string | undefined;
  /** The `X-Request-Id` of the answer. */
  readonly requisicao: string | undefined;
  readonly quota?: Quota | undefined;
};

/** The content of the answering document, or the faults. `isMiss`: a guess without result (D-40). */
export type Resposta =
  | { readonly xml: string | AsyncIterable<string> }
  | { readonly mensagens: readonly Mensagem[]; readonly isMiss?: boolean };

export function listaMensagem(mensagens: readonly Mensagem[], modelo: Modelo): string {
  const each = mensagens.map(({ codigo, mensagem, correcao }) => {
    const leaves: [string, string][] = [
      ['Codigo', codigo],
      ['Mensagem', mensagem],
    ];
    if (correcao !== undefined && correcao !== '') leaves.push(['Correcao', correcao]);
    return `<MensagemRetorno>${nestLeaves(leaves)}</MensagemRetorno>`;
  });
  return `<ListaMensagemRetorno${xmlnsTipos(modelo)}>${each.join('')}</ListaMensagemRetorno>`;
}

/** The answer that refuses a request with one code of the model. */
export function refuseWith(codigo: string, detalhe = ''): { readonly mensagens: readonly Mensagem[] } {
  return { mensagens: [mensagemOf(codigo, '', detalhe)] };
}

/** The answer that refuses a request with the service's faults, as codes of the model. */
export function refuseFaults({ faults }: Recusado): { readonly mensagens: readonly Mensagem[] } {
  return { mensagens: faults.map((fault) => mensagemOfFault(fault)) };
}

/** A fault (E142) for a registration that the provider does not have, when registrations are known. */
export async function registrationMensagens(
  world: World,
  { tenant, ambiente }: Municipio,
  { cnpj, inscricaoMunicipal: im }: PrestadorAsked,
): Promise<readonly Mensagem[]> {
  if (im === undefined || !AMBIENTES[ambiente].checksAuthorization) return [];
  const registered = (await world.store.prestadores.listOf(tenant, cnpj)).flatMap(
    (one) => one.inscricaoMunicipal ?? [],
  );
  // The rules judge a provider without registration.
  if (registered.length === 0 || registered.some((one) => plainRegistration(one) === plainRegistration(im))) return [];
  return [mensagemOf('E142', '', `(${im.slice(0, 40)})`)];
}

/** The model's number has the year before eleven digits; clients may send our numbers in this form too. */
export function numeroAsked(numero: string | undefined): { readonly sequencia?: string; readonly ano?: string } {
  if (numero === undefined) return {};
  const [, ano, sequencia] = /^([1-9]\d{3})(\d{11})$/.exec(numero) ?? [];
  return ano === undefined ? { sequencia: bare(numero) } : { sequencia: bare(sequencia!), ano };
}

/** Whether a note was issued in the year of its requested number. */
export function isOfYear({ chave_acesso, data_emissao }: NotaDoPorto, ano: string | undefined): boolean {
  return ano === undefined || momentOfNota(chave_acesso, data_emissao.getTime()).date.startsWith(ano);
}

/** A moment in the form of the model: without offset. */
export function formatMoment({ date, time }: Moment): string {
  return `${date}T${time}`;
}
