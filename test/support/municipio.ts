/** A municipality for tests of what does not hang on its settings. */
import type { Municipio } from '../../src/store/municipios.ts';

/** As the sandbox is, whatever its name: nobody signs, nothing is set, and who may issue is not asked. */
export function asSandbox(tenant: string): Municipio {
  return {
    tenant,
    ambiente: 'homologacao',
    codigoIbge: undefined,
    aliquotaPadrao: undefined,
    confianca: { ancoras: undefined, revogados: undefined },
    adn: undefined,
    regrasNacionais: undefined,
    consultaDps: undefined,
  };
}
