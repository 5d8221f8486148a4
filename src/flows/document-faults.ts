/** What the flows that read a DPS share about its faults: the layout version, and where in the text a fault stands. */
import type { XmlReading } from '../documents/xml.ts';
import type { Aviso, Fault } from '../fiscal/fault.ts';
import { DPS_VERSAO } from '../fiscal/layout/dps.ts';
import { layoutOf, VERSOES } from '../fiscal/layout/layouts.ts';
import { isSpellingOf } from '../fiscal/layout/read.ts';
import { attributeOf, type Elemento, locate } from '../fiscal/layout/tree.ts';

/** E110: only what is in `LAYOUTS` is issued. The reader of the structure judges a root that is no DPS. */
export function versionFault(root: Elemento): Fault | undefined {
  if (root.name !== 'DPS' || layoutOf(root) !== undefined) return undefined;
  const versao = attributeOf(root, 'versao');
  const problem =
    versao === undefined
      ? 'A DPS não traz o atributo versao.'
      : `A DPS é do leiaute ${versao}; este endereço emite só o ${VERSOES}.`;
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
