/** Parts of route descriptions that several subjects share. */
import { ESPERA_MAX_S } from './espera.ts';

/** A note that the service is sending is answered when it is decided. */
export const ESPERA_PARAM = {
  espera: `Segundos, até ${ESPERA_MAX_S}, que a resposta espera pela decisão do ADN quando a nota ainda não a tem; sem ele, nenhum.`,
};

/** Hint for a client that sends the body of the national API. */
export const DPS_NACIONAL =
  'O envelope da API nacional vai, como está, a POST /{municipio}/SefinNacional/nfse; ou se abre em /docs/migrar, que diz o que muda no documento.';

export const SIGNATURE_CODES = [
  'E901',
  'E902',
  'E903',
  'E904',
  'E905',
  'E906',
  'E9002',
  'E9003',
  'E9006',
  'E9007',
] as const;
