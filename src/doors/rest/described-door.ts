/** What this door says of itself; the public description is made of it (`published/openapi`). */
import { AMBIENTES } from '../../fiscal/ambiente.ts';
import { NAO_AUTORIZADO } from '../../flows/gather-facts.ts';
import { IN_PROGRESS } from '../../flows/idempotency.ts';
import type { DescribedDoor, MadeRefusal } from '../../published/openapi/described.ts';
import { EXAMPLE_SITE } from '../../published/openapi/examples.ts';
import type { Refused } from './answers.ts';
import { ENVELOPE_FIELDS, envelopeOf } from './envelope.ts';
import { tooMuch } from './quotas.ts';
import { internal, storeGone, tooManyMisses, troubled, unknownMunicipio } from './refusals.ts';
import { refusedAs } from './repetition.ts';
import { PARAMS, ROUTES } from './routes.ts';
import { SHAPES } from './shapes.ts';
import { NAO_CONFERIDO_FIELDS } from './validacao.ts';

/** When the recorded examples were made. */
const EXAMPLE_MOMENT = '2026-11-21T12:00:00-03:00';
/** It belongs to no request. */
const EXAMPLE_REQUEST_ID = '7c9e6679-7425-40de-944b-e07fc1f90ae7';

function made(status: number, titulo: string, { refusal, campo }: Refused, name?: string): MadeRefusal {
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

const SPENT = tooMuch({ ambiente: 'homologacao' }, 'endereco', AMBIENTES.homologacao.limites.endereco, 12);

const REFUSALS: readonly MadeRefusal[] = [
  made(400, 'O endereço não se decodifica', troubled('bad_url', undefined)),
  made(404, 'O município do endereço não é atendido', unknownMunicipio('cidade')),
  made(408, 'O corpo não chegou inteiro', troubled('timeout', undefined)),
  made(413, 'O corpo é grande demais', troubled('body_too_large', undefined)),
  made(414, 'O endereço é longo demais', troubled('url_too_long', undefined)),
  made(417, 'Um Expect que não se atende', troubled('expectation', undefined)),
  made(429, 'Consultas demais ao que não existe', tooManyMisses(1)),
  made(429, 'Documentos demais de um endereço de rede', refusedAs(SPENT), 'DocumentosDemais'),
  made(431, 'Os cabeçalhos são grandes demais', troubled('headers_too_large', undefined)),
  made(500, 'O serviço falhou', internal(EXAMPLE_REQUEST_ID)),
  made(503, 'O banco de dados não responde', storeGone()),
  made(403, 'O prestador não está autorizado', { refusal: { faults: [NAO_AUTORIZADO] } }, 'PrestadorNaoAutorizado'),
  made(
    409,
    'A primeira requisição com a chave ainda está em andamento',
    { refusal: IN_PROGRESS },
    'RepeticaoEmAndamento',
  ),
];

export const DESCRIBED_DOOR: DescribedDoor = {
  routes: ROUTES,
  params: PARAMS,
  shapes: SHAPES,
  envelope: { ...ENVELOPE_FIELDS, ...NAO_CONFERIDO_FIELDS },
  refusals: REFUSALS,
};
