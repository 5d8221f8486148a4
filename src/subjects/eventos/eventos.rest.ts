/**
 * The addresses of the events: registration by key or protocol number, and the queries. The event types are in
 * `../../fiscal/tipos-evento.ts`.
 */

import { headerOf } from '../../base/http/content.ts';
import { avisosOf } from '../../base/http/envelope.ts';
import { refuseMissingNota, refuseMissingProtocolo } from '../../base/http/refusals.ts';
import { headersOfRepetition, readKey, refuseAsFlow } from '../../base/http/repetition.ts';
import type { Accepted, Call, Refused } from '../../base/http/route.ts';
import { retryAfter } from '../../base/http/route.ts';
import { EVENTO_SIGNATURE_HEADER } from '../../base/world/sent-documents.ts';
import type { World } from '../../base/world/world.ts';
import { parseChave } from '../../fiscal/chave.ts';
import { ACOES_SUGERIDAS, DESFECHOS_EVENTO, EVENTO_ESTADOS } from '../../fiscal/evento.ts';
import { NUMERO_SEQUENCIAL_MAX } from '../../fiscal/layout/evento.ts';
import { SIMULAR_HEADER } from '../../fiscal/simular.ts';
import { TIPOS_EVENTO } from '../../fiscal/tipos-evento.ts';
import { type FieldsOf, field, orNull } from '../../published/openapi/field.ts';
import { type EventoPublico, type EventosLidos, eventoOfNota, eventosOfNota, tipoNamed } from './queries.ts';
import { type NotaNamed, registerEvento } from './register.ts';

export const EVENTOS_PATH = '/api/v1/nfse/:chave_acesso/eventos';

/** The order of the specification's table. The answer to a registration also has `mensagem` and `avisos`. */
export const EVENTO_FIELDS = {
  id_evento: field.integer(
    'Identificador do evento neste município. Dá saltos e não segue o tempo: para ordenar use data_hora_evento, ou numero_sequencial entre os do mesmo tipo.',
  ),
  codigo_tipo_evento: field.choice(
    TIPOS_EVENTO.map(({ codigo }) => codigo),
    'Código nacional do tipo, 6 dígitos.',
  ),
  tipo_evento: field.choice(
    TIPOS_EVENTO.map(({ slug }) => slug),
    'Nome do tipo, como em tipo_evento da requisição.',
  ),
  numero_sequencial: field.integer('Sequência entre os eventos do tipo na nota, a partir de 1.'),
  numero_protocolo: field.text('Protocolo da nota.'),
  chave_acesso: field.accessKey('Chave da nota.'),
  data_hora_evento: field.moment('Quando foi registrado, ISO 8601.'),
  data_hora_processamento: orNull(field.moment('Quando o ADN deu a palavra final; null até lá.')),
  aguardando_desde: orNull(field.moment('Desde quando espera a autorização da nota; null se não espera.')),
  status_evento: field.choice(Object.keys(EVENTO_ESTADOS), 'Estado do evento.'),
  protocolo: orNull(field.text('Número com que o ADN o recebeu; null até lá e na integração.')),
  codigo_retorno: orNull(field.text('Código do primeiro motivo do ADN, ou null.')),
  mensagem_retorno: orNull(field.text('O que o ADN disse, ou null.')),
  erros_adn: orNull(
    field.shape('ErrosAdn', 'Os motivos do ADN, sem segredos, cortados em 1000 caracteres e 3 níveis.'),
  ),
  reprocessamentos_count: field.integer('Novas tentativas automáticas feitas, de 0 a 3.'),
  ultimo_reprocessamento_em: orNull(field.moment('Quando foi a última; null sem nenhuma.')),
  acao_sugerida: field.choice(ACOES_SUGERIDAS, 'aguardar, retentar, consultar_suporte ou cancelado_ok.'),
  proxima_consulta: orNull(
    field.moment(
      'Quando vale a pena perguntar de novo, ISO 8601; null quando nada mais muda por si. Retry-After diz o mesmo em segundos.',
    ),
  ),
  desfecho: field.choice(
    Object.keys(DESFECHOS_EVENTO),
    'O que foi feito do evento; distingue o que cancelado_ok, em acao_sugerida, diz de uma só maneira.',
  ),
  descricao_evento: field.text('Nome nacional do tipo.'),
} as const satisfies FieldsOf<EventoPublico>;

export async function postByChave(call: Call) {
  const chave = call.params['chave_acesso']!;
  return post(call, { chave }, `/api/v1/nfse/${chave}/eventos`);
}

export async function postByProtocolo(call: Call) {
  const protocolo = call.params['numero_protocolo']!;
  return post(call, { protocolo }, `/api/v1/nfse/protocolo/${protocolo}/eventos`);
}

/** `rota`: the address below the municipality. */
async function post(call: Call, named: NotaNamed, rota: string) {
  const { world, municipio, body, site, quota } = call;
  const sent = {
    kind: 'json' as const,
    body,
    quota,
    assinatura: headerOf(call, EVENTO_SIGNATURE_HEADER),
    simular: headerOf(call, SIMULAR_HEADER),
  };
  const registered = await registerEvento(world, municipio, named, sent, readKey(call, rota));
  if (registered === 'not_found')
    return 'chave' in named ? refuseMissingNota(named.chave) : refuseMissingProtocolo(municipio);
  if ('faults' in registered) return refuseAsFlow(registered);
  const { evento, avisos } = registered;
  const { chave_acesso, tipo_evento, numero_sequencial } = evento;
  return {
    registro: { nota: parseChave(chave_acesso)!.nNFSe, evento: String(evento.id_evento) },
    headers: {
      Location: `${site}/${municipio.tenant}/api/v1/nfse/${chave_acesso}/eventos/${tipo_evento}/${numero_sequencial}`,
      ...headersOfRepetition(registered),
    },
    body: {
      ...evento,
      mensagem: `Evento registrado; acompanhe status_evento na consulta até que ele conclua.`,
      avisos: avisosOf(avisos, site),
      status: 'OK',
    },
  };
}

export async function listAll({ world, municipio, params }: Call) {
  const chave = params['chave_acesso']!;
  const found = parseChave(chave) === undefined ? undefined : await eventosOfNota(world, municipio, chave);
  return found === undefined ? refuseMissingNota(chave) : answerList(world, found, {});
}

export async function listOfTipo({ world, municipio, params }: Call) {
  const chave = params['chave_acesso']!;
  const tipo = tipoNamed(params['tipo_evento']!);
  if (tipo === undefined) return refuseUnknownTipo(params['tipo_evento']!);
  const found = parseChave(chave) === undefined ? undefined : await eventosOfNota(world, municipio, chave, tipo);
  return found === undefined ? refuseMissingNota(chave) : answerList(world, found, { tipo_evento: tipo.slug });
}

/** `of`: the limits of the list. */
function answerList<Of extends object>(world: World, { eventos, proxima }: EventosLidos, of: Of) {
  const body = { total: eventos.length, ...of, eventos: eventos.map(markEvento), status: 'OK' };
  return { headers: retryAfter(world, proxima), body };
}

export async function showOne({ world, municipio, params }: Call): Promise<Refused | Accepted<OneEvento>> {
  const chave = params['chave_acesso']!;
  const tipo = tipoNamed(params['tipo_evento']!);
  if (tipo === undefined) return refuseUnknownTipo(params['tipo_evento']!);
  const [sequencial] = /^0{0,2}[1-9][0-9]{0,2}$/.exec(params['num_seq_evento']!) ?? [];
  if (parseChave(chave) === undefined) return refuseMissingNota(chave);
  const found =
    sequencial === undefined || Number(sequencial) > NUMERO_SEQUENCIAL_MAX
      ? ('no_evento' as const)
      : await eventoOfNota(world, municipio, chave, tipo, Number(sequencial));
  if (found === 'no_nota') return refuseMissingNota(chave);
  if (found === 'no_evento') {
    const mensagem = `A nota existe, mas não tem evento ${tipo.slug} com o número que o endereço traz. Os que ela tem estão em …/eventos/${tipo.slug}.`;
    // A missing note has the same code (D-42): the first word tells a program which of the two is missing.
    const detalhes = `evento_inexistente: a nota existe, e o evento ${tipo.slug} com este número não.`;
    const fault = { codigo: 'E301', xpath: '', mensagem, detalhes };
    return { refusal: { faults: [fault] }, campo: 'num_seq_evento' };
  }
  const [evento] = found.eventos;
  return { headers: retryAfter(world, found.proxima), body: { evento: markEvento(evento!), status: 'OK' } };
}

type OneEvento = { readonly evento: object; readonly status: string };

/** The marker is part of every event object (specification, "Event object"). */
function markEvento(evento: EventoPublico): object {
  return { ...evento, status: 'OK' };
}

function refuseUnknownTipo(text: string): Refused {
  const slugs = TIPOS_EVENTO.map(({ slug }) => slug);
  const mensagem = `Não há tipo de evento com o nome que o endereço traz. Existem: ${slugs.join(', ')}.`;
  const fault = {
    codigo: 'E601',
    xpath: '',
    mensagem,
    encontrado: text.slice(0, 80),
    detalhes: { valores_validos: slugs },
  };
  return { refusal: { faults: [fault] }, campo: 'tipo_evento' };
}
