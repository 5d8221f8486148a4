/** What the flows that read a DPS share about its faults: the layout version, and where in the text a fault stands. */
import type { XmlReading } from '../documents/xml.ts';
import type { Aviso, Fault } from '../fiscal/fault.ts';
import { DPS_VERSAO } from '../fiscal/layout/dps.ts';
import { isSpellingOf } from '../fiscal/layout/read.ts';
import { attributeOf, type Elemento, locate } from '../fiscal/layout/tree.ts';

/** E110: only the layout 1.01 is issued. A root that is no DPS is structure, and is judged there. */
export function versionFault(root: Elemento): Fault | undefined {
  if (root.name !== 'DPS') return undefined;
  const versao = attributeOf(root, 'versao');
  if (versao === DPS_VERSAO) return undefined;
  const problem =
    versao === undefined
      ? 'A DPS não traz o atributo versao.'
      : `A DPS é do leiaute ${versao}; este endereço emite só o ${DPS_VERSAO}.`;
  return {
    codigo: 'E110',
    xpath: '/DPS/@versao',
    mensagem: `${problem} Envie o leiaute ${DPS_VERSAO} completo, com versao="${DPS_VERSAO}".`,
    ...(versao === undefined ? {} : { encontrado: versao }),
    esperado: DPS_VERSAO,
    correcao: `versao="${DPS_VERSAO}"`,
  };
}

/** The same faults with line and column of the element they are about, or of the one that misses it. */
export function placedFaults<Told extends Fault | Aviso>(
  faults: readonly Told[],
  reading: Extract<XmlReading, { root: Elemento }>,
): readonly Told[] {
  return faults.map((fault) =>
    !fault.xpath.startsWith('/DPS')
      ? fault
      : { ...fault, ...reading.positionOf(locate(reading.root, fault.xpath, isSpellingOf)) },
  );
}
