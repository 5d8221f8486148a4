/** The REST door's own data for the public description (`published/openapi`). */

import { ENVELOPE_FIELDS, envelopeOf } from '../../base/http/envelope.ts';
import { envelopeNacionalOf } from '../../base/http/envelope-nacional.ts';
import { MISSES_MAX } from '../../base/http/misses.ts';
import { refuseTooMuch } from '../../base/http/quotas.ts';
import {
  refuseAfterBug,
  refuseForStore,
  refuseMissingNota,
  refuseRange,
  refuseTooManyMisses,
  refuseTrouble,
  refuseUnknownMunicipio,
} from '../../base/http/refusals.ts';
import { refuseAsFlow } from '../../base/http/repetition.ts';
import type { Refused } from '../../base/http/route.ts';
import { NAO_AUTORIZADO } from '../../base/world/gather-facts.ts';
import { IN_PROGRESS } from '../../base/world/idempotency.ts';
import { troubleOfStore } from '../../base/world/store-trouble.ts';
import { AMBIENTES } from '../../fiscal/ambiente.ts';
import type { DescribedDoor, MadeRefusal } from '../../published/openapi/described.ts';
import { EXAMPLE_SITE } from '../../published/openapi/examples.ts';
import type { GuardedDoor } from '../../published/security.ts';
import { SOAP_PATH } from '../../subjects/lotes/nfes.soap.ts';
import { NAO_CONFERIDO_FIELDS } from '../../subjects/notas/validacao.rest.ts';
import { PARAMS, ROUTES } from './routes.ts';
import { SHAPES } from './shapes.ts';

/** The moment of the recorded examples. */
const EXAMPLE_MOMENT = '2026-11-21T12:00:00-03:00';
/** No request has this identifier. */
const EXAMPLE_REQUEST_ID = '7c9e6679-7425-40de-944b-e07fc1f90ae7';

function makeExample(status: number, titulo: string, { refusal, campo }: Refused, name?: string): MadeRefusal {
  const envelope = envelopeOf(refusal, EXAMPLE_SITE, EXAMPLE_MOMENT, campo);
  return {
    ...(name === undefined ? {} : { name }),
    titulo,
    status,
    codigo: refusal.faults[0].codigo,
    // Undefined fields are left out, as in an answer.
    value: JSON.parse(JSON.stringify(envelope)),
  };
}

const SPENT = refuseTooMuch({ ambiente: 'homologacao' }, 'endereco', AMBIENTES.homologacao.limites.endereco, 12);

const VAIN = { waitS: 1, cota: { nome: 'consultas', max: MISSES_MAX, janelaS: 60 } };

const REFUSALS: readonly MadeRefusal[] = [
  makeExample(400, 'O endereço não se decodifica', refuseTrouble('bad_url', undefined)),
  makeExample(404, 'O município do endereço não é atendido', refuseUnknownMunicipio('cidade')),
  makeExample(408, 'O corpo não chegou inteiro', refuseTrouble('timeout', undefined)),
  makeExample(413, 'O corpo é grande demais', refuseTrouble('body_too_large', undefined)),
  makeExample(414, 'O endereço é longo demais', refuseTrouble('url_too_long', undefined)),
  makeExample(416, 'A faixa começa depois do fim do arquivo', refuseRange(1_024)),
  makeExample(417, 'Um Expect que não se atende', refuseTrouble('expectation', undefined)),
  makeExample(429, 'Consultas demais ao que não existe', refuseTooManyMisses(VAIN)),
  makeExample(429, 'Documentos demais de um endereço de rede', refuseAsFlow(SPENT), 'DocumentosDemais'),
  makeExample(431, 'Os cabeçalhos são grandes demais', refuseTrouble('headers_too_large', undefined)),
  makeExample(500, 'O serviço falhou', refuseAfterBug(EXAMPLE_REQUEST_ID)),
  makeExample(503, 'O banco de dados não responde', refuseForStore(troubleOfStore(undefined))),
  makeExample(
    403,
    'O prestador não está autorizado',
    { refusal: { faults: [NAO_AUTORIZADO] } },
    'PrestadorNaoAutorizado',
  ),
  makeExample(
    409,
    'A primeira requisição com a chave ainda está em andamento',
    { refusal: IN_PROGRESS },
    'RepeticaoEmAndamento',
  ),
];

/** The data for the page on security. */
export const GUARDED_DOOR: GuardedDoor = { routes: ROUTES, soapPath: SOAP_PATH, missesMax: MISSES_MAX };

const PLACE = { site: EXAMPLE_SITE, timestamp: EXAMPLE_MOMENT, ambiente: 'homologacao' } as const;

export const DESCRIBED_DOOR: DescribedDoor = {
  // Undefined fields are left out, as in an answer.
  recusaNacional: JSON.parse(JSON.stringify(envelopeNacionalOf(refuseMissingNota(''.padEnd(50, '1')).refusal, PLACE))),
  routes: ROUTES,
  params: PARAMS,
  shapes: SHAPES,
  envelope: { ...ENVELOPE_FIELDS, ...NAO_CONFERIDO_FIELDS },
  refusals: REFUSALS,
};
