/** The headers of requests and of answers, in words. */

import { IDEMPOTENCY_HEADER, REPEATED_HEADER } from '../../base/world/idempotency.ts';
import { DPS_SIGNATURE_HEADER, EVENTO_SIGNATURE_HEADER } from '../../base/world/sent-documents.ts';
import { SIMULAR_HEADER, valoresDe } from '../../fiscal/simular.ts';
import { TOKEN_SIGNATURE_HEADER } from '../../subjects/partes/tokens.ts';
import type { DescribedRoute, Json } from './described.ts';

type HeaderWords = {
  readonly about: string;
  /** The format of the value; absent: any text. */
  readonly schema?: Json;
  /** True: a refusal carries the header too, if the route announces it. */
  readonly ofRefusals?: true;
};

const TEXT: Json = { type: 'string' };

/** Headers of a request that have a meaning for the service. */
const REQUEST_HEADERS: Readonly<Record<string, HeaderWords>> = {
  'X-Request-Id': {
    about: 'Identificador seu da requisição: vai para o registro do serviço, ao lado do que ele dá a cada uma.',
    schema: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,64}$' },
  },
  [DPS_SIGNATURE_HEADER]: describeSignature('do corpo JSON', 'do prestador'),
  [EVENTO_SIGNATURE_HEADER]: describeSignature('do corpo', 'do autor do evento'),
  [TOKEN_SIGNATURE_HEADER]: describeSignature(
    'do corpo',
    'do dono do documento',
    'Em produção, sem ela vale o certificado da conexão.',
  ),
  [SIMULAR_HEADER]: {
    about: `Só na integração: o que o ADN simulado faz com o documento. ${listValores('adn')} Num ambiente próprio, em todo endereço: o que a própria API faz. ${listValores('api')}`,
    schema: { type: 'string', maxLength: 4000 },
  },
  [IDEMPOTENCY_HEADER]: {
    about:
      'Um texto de 1 a 255 caracteres, um para cada requisição e o mesmo em cada repetição dela, como um UUID: a repetição recebe a resposta da primeira e nada faz de novo.',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  },
  Range: {
    about:
      'Uma faixa de bytes do arquivo, como bytes=1048576-: um download interrompido continua daí. A resposta é 206.',
    schema: { type: 'string', pattern: '^bytes=(\\d+-\\d*|-\\d+)$' },
  },
  'If-Range': { about: 'O ETag da parte que já se tem: se o arquivo é outro, vem inteiro (200), e não a faixa.' },
  'If-None-Match': {
    about: 'O ETag da resposta que já se tem: se ela ainda vale, a resposta é 304, sem corpo.',
  },
};

function listValores(lado: 'adn' | 'api'): string {
  return valoresDe(lado)
    .map(({ valor, significado }) => `\`${valor}\`: ${significado}`)
    .join(' ');
}

function describeSignature(whole: string, who: string, need = 'Obrigatória em produção.'): HeaderWords {
  const about = `Assinatura ${whole}: CMS destacado em Base64, sobre os bytes exatos do corpo, com o certificado ${who}. ${need}`;
  return { about, schema: { type: 'string', description: 'Base64.' } };
}

export function headerParameters({ reads = [], takesKey, headers }: DescribedRoute): readonly Json[] {
  const names = [
    ...reads,
    ...(takesKey ? [IDEMPOTENCY_HEADER] : []),
    ...(headers.includes('ETag') ? ['If-None-Match'] : []),
    ...(headers.includes('Accept-Ranges') ? ['Range', 'If-Range'] : []),
    'X-Request-Id',
  ];
  return names.map(headerParameter);
}

export function headerParameter(name: string): Json {
  const { about, schema = TEXT } = wordsOf(REQUEST_HEADERS, name);
  return { name, in: 'header', description: about, schema };
}

function wordsOf(words: Readonly<Record<string, HeaderWords>>, name: string): HeaderWords {
  const found = words[name];
  if (found === undefined) throw new RangeError(`the header ${name} has no words`);
  return found;
}

export const EVERY_HEADER = ['X-Request-Id', 'X-NFSe-Ambiente', 'Cache-Control', 'X-Content-Type-Options'] as const;

const ANSWER_HEADERS: Readonly<Record<string, HeaderWords>> = {
  'X-Request-Id': {
    about: 'Identificador que o serviço dá à requisição, também quando ela traz um seu. Informe-o ao suporte.',
    schema: { type: 'string', format: 'uuid' },
  },
  'X-NFSe-Ambiente': {
    about: 'Ambiente do município do endereço; falta quando o município não é conhecido.',
    schema: { type: 'string', enum: ['producao', 'homologacao'] },
  },
  'Cache-Control': {
    about:
      'no-store, ou por quanto tempo a resposta se pode guardar; com no-cache, só depois de perguntar com If-None-Match.',
  },
  'X-Content-Type-Options': { about: 'Sempre nosniff.', schema: { type: 'string', const: 'nosniff' } },
  Location: { about: 'Endereço do que foi criado.', schema: { type: 'string', format: 'uri' } },
  'Retry-After': {
    ofRefusals: true,
    about:
      'Segundos até que valha a pena perguntar de novo: o que falta para a próxima tentativa, onde há uma marcada; com 429, até que o que se enviou caiba no limite, o que no de tokens são dias. Falta quando nada mais muda por si.',
    schema: { type: 'integer', minimum: 0 },
  },
  'WWW-Authenticate': {
    about:
      'Com que este endereço deixa perguntar, um ou mais: Bearer, um token (ou a chave do ambiente), e error diz o que há com o que veio (invalid_token, insufficient_scope); Certificado, o certificado de cliente da conexão; Assinatura, a do corpo, no cabeçalho que cabecalho nomeia.',
  },
  [REPEATED_HEADER]: {
    ofRefusals: true,
    about: `true: a resposta é a da primeira requisição com a mesma ${IDEMPOTENCY_HEADER}; nada foi feito agora.`,
    schema: { type: 'string', const: 'true' },
  },
  'RateLimit-Policy': {
    ofRefusals: true,
    about:
      'Os limites que valem aqui, do endereço de rede (em IPv6, também da rede /48) e, quando se sabe de quem é, do prestador: q documentos em w segundos (draft-ietf-httpapi-ratelimit-headers). Numa recusa (429) por outro limite, ele também; sem w, o que conta é o que há ao mesmo tempo. Falta onde não há limite.',
  },
  RateLimit: {
    ofRefusals: true,
    about:
      'O que resta de cada um: r documentos, e t segundos até que haja de novo todos. Numa recusa (429) o que recusou vem primeiro.',
  },
  'X-Cursor': { about: 'O lugar depois da última mudança da resposta, para desde.' },
  'X-Mais': { about: 'true: já há mais a contar.', schema: { type: 'string', enum: ['true', 'false'] } },
  ETag: { about: 'Identifica a resposta como está agora, para If-None-Match.' },
  'Accept-Ranges': { about: 'bytes: aceita Range.', schema: { type: 'string', const: 'bytes' } },
  'Content-Range': { about: 'A faixa que veio, e o tamanho do arquivo; numa recusa (416), só o tamanho.' },
  Deprecation: {
    ofRefusals: true,
    about: 'true: o endereço será retirado no futuro, sem data marcada.',
  },
  Link: {
    ofRefusals: true,
    about: 'Onde a nota se consulta no portal nacional.',
  },
  Warning: {
    ofRefusals: true,
    about: 'O mesmo aviso em uma frase.',
  },
  'Content-Disposition': { about: 'Nome do arquivo.' },
};

/** Headers of the answers whose requests count against a limit. */
export const RATE_LIMIT_HEADERS = ['RateLimit-Policy', 'RateLimit'] as const;

export function isOfRefusals(name: string): boolean {
  return ANSWER_HEADERS[name]?.ofRefusals === true;
}

/** The headers of answers as components. */
export function headerComponents(): Json {
  return Object.fromEntries(
    Object.entries(ANSWER_HEADERS).map(([name, { about, schema = TEXT }]) => [
      headerKey(name),
      { description: about, schema },
    ]),
  );
}

export function headerRefs(names: readonly string[]): Json {
  return Object.fromEntries(
    [...new Set(names)].map((name) => {
      wordsOf(ANSWER_HEADERS, name);
      return [name, { $ref: `#/components/headers/${headerKey(name)}` }];
    }),
  );
}

function headerKey(name: string): string {
  return name.replaceAll('-', '');
}
