/**
 * The address of layout 1.00 answers every request that it is closed. A DPS of 1.01 has only the wrong address, and the answer says so
 * (D-14). Nothing is stored.
 */

import { placeFaults } from '../../base/world/sent-documents.ts';
import { readXml } from '../../documents/xml.ts';
import type { Fault, Refusal } from '../../fiscal/fault.ts';
import { DPS_VERSAO } from '../../fiscal/layout/dps.ts';
import { layoutOf } from '../../fiscal/layout/layouts.ts';

/** `endpointCorreto`: path of the address that issues. */
export function refuseLegacy(body: Uint8Array, endpointCorreto: string): Refusal {
  const closed: Fault = {
    codigo: 'E111',
    xpath: '',
    mensagem: `A emissão pelo leiaute 1.00 foi encerrada. Envie a DPS do leiaute ${DPS_VERSAO} para ${endpointCorreto}.`,
    detalhes: { endpoint_correto: endpointCorreto },
  };
  return { faults: [closed, ...refuseAddress(body, endpointCorreto)] };
}

/** E110 with its place: the layout of the document is current, and only the address is wrong. */
function refuseAddress(body: Uint8Array, endpointCorreto: string): readonly Fault[] {
  if (body.length === 0) return [];
  const reading = readXml(body);
  if ('fault' in reading || reading.root.name !== 'DPS') return [];
  const layout = layoutOf(reading.root);
  if (layout === undefined) return [];
  const fault: Fault = {
    codigo: 'E110',
    xpath: '/DPS/@versao',
    mensagem: `A DPS já é do leiaute ${layout.versao}, mas veio ao endereço do 1.00. Envie o mesmo documento para ${endpointCorreto}.`,
    encontrado: layout.versao,
  };
  return placeFaults([fault], reading);
}
