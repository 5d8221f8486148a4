/** What a sender of the sandbox asks the local authority to play (D-60): in a header, or in a free text of the document. */
import { AMBIENTES } from '../fiscal/ambiente.ts';
import { NOT_ASKED, type PedidoDeSimulacao, readPedidoDeSimulacao, type SimulacaoPedida } from '../fiscal/simular.ts';
import type { Municipio } from '../store/municipios.ts';

/**
 * Nothing in production, where none of it means anything. `header`: the value of `X-NFSe-Simular`, which goes before the
 * texts; `xpath`: where these stand, when they are one; `reading`: what becomes of what is not understood.
 */
export function rehearsalIn(
  { ambiente }: Pick<Municipio, 'ambiente'>,
  [header, ...texts]: readonly (string | undefined)[],
  more: Pick<PedidoDeSimulacao, 'xpath' | 'reading'> = {},
): SimulacaoPedida {
  if (AMBIENTES[ambiente].transmits) return NOT_ASKED;
  const texto = texts.filter((one) => one !== undefined).join(' ');
  return readPedidoDeSimulacao({ cabecalho: header, texto, ...more });
}
