/** The addresses of the national contract: each unwraps, hands on to the flow of its subject, and wraps the answer (D-911). */
import { headerOf } from '../../base/http/content.ts';
import { alertasOf, headNacional } from '../../base/http/envelope-nacional.ts';
import { askerOf } from '../../base/http/espera.ts';
import { refuseMissingNota, refuseWith } from '../../base/http/refusals.ts';
import { refuseAsFlow } from '../../base/http/repetition.ts';
import type { Call, Refused } from '../../base/http/route.ts';
import { municipalMoment } from '../../base/world/gather-facts.ts';
import { parseChave } from '../../fiscal/chave.ts';
import { type Aviso, quoted } from '../../fiscal/fault.ts';
import { isoMoment } from '../../fiscal/moment.ts';
import { SIMULAR_HEADER } from '../../fiscal/simular.ts';
import { NACIONAL_PATH } from '../../published/paths.ts';
import { type EventoPublico, eventoOfNota, eventosOfNota, tipoNamed } from '../eventos/queries.ts';
import { registerEvento } from '../eventos/register.ts';
import { issueNota } from '../notas/issue.ts';
import { askWhetherIssued, queryByDps } from '../notas/notas.rest.ts';
import { documentoByChave, type NotaDocumento } from '../notas/queries.ts';
import { documentsOf, readDhEmi } from './documentos.ts';
import { makeEmbrulho, openEmbrulho } from './embrulho.ts';

export const DPS_EMBRULHO = 'dpsXmlGZipB64';
export const PEDIDO_EMBRULHO = 'pedidoRegistroEventoXmlGZipB64';

/** Seconds that an answer waits for the decision of the ADN (D-912). */
export const ESPERA_S = 15;

/** The head of an answer; `em`: milliseconds, by default now. */
function headOf({ world, municipio }: Call, em = world.now()) {
  const { ambiente, codigoIbge } = municipio;
  return headNacional({ ambiente, timestamp: isoMoment(municipalMoment(codigoIbge, em)) });
}

export async function issue(call: Call) {
  const { world, municipio, body, quota, requisicao } = call;
  const opened = openEmbrulho(body, DPS_EMBRULHO);
  if ('fault' in opened) return { refusal: { faults: [opened.fault] } } satisfies Refused;
  const simular = headerOf(call, SIMULAR_HEADER);
  const issued = await issueNota(world, municipio, { kind: 'nacional', body: opened.xml, simular, quota, requisicao });
  if ('faults' in issued) return refuseAsFlow(issued);
  const { chave_acesso: chave, avisos } = issued;
  return { pendente: { chave, avisos } };
}

type NotaPendente = { readonly chave: string; readonly avisos: readonly Aviso[] };

/** The answer once the ADN has decided on the note, or the wait is over (D-912). */
export async function settleIssue(call: Call, { chave, avisos }: NotaPendente) {
  const { world, municipio, site, waits } = call;
  await waits.notas.wait(municipio, chave, { ms: ESPERA_S * 1_000, ...askerOf(call, chave) });
  const nota = (await documentoByChave(world, municipio, chave))!;
  if (nota.estado === 'recusada') return refuseByAdn(nota);
  return {
    registro: { nota: parseChave(chave)!.nNFSe },
    headers: { Location: `${site}/${municipio.tenant}${NACIONAL_PATH}/nfse/${chave}` },
    body: {
      ...headOf(call, nota.emissao),
      idDps: nota.id_dps,
      chaveAcesso: chave,
      nfseXmlGZipB64: makeEmbrulho(nota.nfse),
      alertas: alertasOf([...avisos, ...warnOfWaiting(nota)], site),
    },
  };
}

/** The ADN refused the note: it is none, and its series and number are free again. */
function refuseByAdn({ chave_acesso, mensagem_retorno }: NotaDocumento): Refused {
  const mensagem = `O ambiente nacional recusou a nota ${chave_acesso}, que não vale; a série e o número da DPS estão livres. ${mensagem_retorno ?? ''}`;
  return { refusal: { faults: [{ codigo: 'E1831', xpath: '', mensagem: mensagem.trim() }] } };
}

function warnOfWaiting({ isProvisoria, chave_acesso, mensagem_retorno }: NotaDocumento): readonly Aviso[] {
  if (!isProvisoria) return [];
  const why = mensagem_retorno === null ? '' : ` ${mensagem_retorno}`;
  const mensagem = `A nota foi emitida e tem número e chave definitivos; o ambiente nacional ainda não a autorizou.${why} Não a envie de novo: consulte GET …${NACIONAL_PATH}/nfse/${chave_acesso} até que este aviso não venha.`;
  return [{ codigo: 'E703', xpath: '', mensagem }];
}

export async function queryByChave(call: Call) {
  const { world, municipio, params, site } = call;
  const chave = params['chave_acesso']!;
  const nota = parseChave(chave) === undefined ? undefined : await documentoByChave(world, municipio, chave);
  if (nota === undefined) return refuseMissingNota(chave);
  if (nota.estado === 'recusada') return refuseByAdn(nota);
  return {
    body: {
      ...headOf(call, nota.emissao),
      chaveAcesso: chave,
      nNFSe: parseChave(chave)!.nNFSe,
      dhEmi: readDhEmi(nota.nfse),
      nfseXmlGZipB64: makeEmbrulho(nota.nfse),
      alertas: alertasOf(warnOfWaiting(nota), site),
    },
  };
}

/** Programs write the digit of a CPF before a CNPJ. The door takes such an Id of a DPS, and must find its note by it. */
function withOwnId(call: Call): Call {
  const id = call.params['id']!.replace(/^(DPS\d{7})1(?!000\d{11})/, (_whole, place) => `${place}2`);
  return { ...call, params: { ...call.params, id } };
}

/** Whether an Id as the sender wrote it has become a note. */
export function askByIdDps(call: Call) {
  return askWhetherIssued(withOwnId(call));
}

export async function queryByIdDps(call: Call) {
  const found = await queryByDps(withOwnId(call));
  if ('refusal' in found) return found;
  const { id_dps, chave_acesso } = found.body;
  return { body: { ...headOf(call), idDps: id_dps, chaveAcesso: chave_acesso } };
}

export async function registerPedido(call: Call) {
  const { world, municipio, params, body, quota } = call;
  const chave = params['chave_acesso']!;
  const opened = openEmbrulho(body, PEDIDO_EMBRULHO);
  if ('fault' in opened) return { refusal: { faults: [opened.fault] } } satisfies Refused;
  const sent = { kind: 'nacional', body: opened.xml, simular: headerOf(call, SIMULAR_HEADER), quota } as const;
  const registered = await registerEvento(world, municipio, { chave }, sent);
  if (registered === 'not_found') return refuseMissingNota(chave);
  if ('faults' in registered) return refuseAsFlow(registered);
  const { evento, avisos } = registered;
  return { pendente: { evento, avisos } };
}

type EventoPendente = { readonly evento: EventoPublico; readonly avisos: readonly Aviso[] };

/** The answer once the ADN has decided on the event, or the wait is over. */
export async function settlePedido(call: Call, { evento: first, avisos }: EventoPendente) {
  const { world, municipio, site, waits } = call;
  const chave = first.chave_acesso;
  const id = String(first.id_evento);
  await waits.eventos.wait(municipio, id, { ms: ESPERA_S * 1_000, ...askerOf(call, chave) });
  const evento = await eventoNow(world, municipio, first);
  if (evento.status_evento === 'rejeitado') return refuseEventoByAdn(evento);
  const [xml] = await documentsOf(world, municipio, [evento]);
  return {
    registro: { nota: parseChave(chave)!.nNFSe, evento: id },
    headers: {
      Location: `${site}/${municipio.tenant}${NACIONAL_PATH}/nfse/${chave}/eventos/${evento.codigo_tipo_evento}/${evento.numero_sequencial}`,
    },
    body: {
      ...headOf(call),
      eventoXmlGZipB64: makeEmbrulho(xml!),
      alertas: alertasOf([...avisos, ...(evento.desfecho === 'em_andamento' ? [EM_ANDAMENTO] : [])], site),
    },
  };
}

/** An event as it stands now. */
async function eventoNow(
  world: Call['world'],
  municipio: Call['municipio'],
  { chave_acesso, tipo_evento, numero_sequencial }: EventoPublico,
): Promise<EventoPublico> {
  const found = await eventoOfNota(world, municipio, chave_acesso, tipoNamed(tipo_evento)!, numero_sequencial);
  if (typeof found === 'string') throw new Error('an event that was registered is not there');
  return found.eventos[0]!;
}

function refuseEventoByAdn({ codigo_retorno, mensagem_retorno }: EventoPublico): Refused {
  const mensagem = `O ambiente nacional recusou o evento, que não tem efeito. ${mensagem_retorno ?? ''}`.trim();
  return { refusal: { faults: [{ codigo: codigo_retorno ?? 'E1831', xpath: '', mensagem }] }, status: 400 };
}

const EM_ANDAMENTO: Aviso = {
  codigo: 'E703',
  xpath: '',
  mensagem:
    'O evento está registrado, e o ambiente nacional ainda o decide; a nota muda quando ele o processar. Não o envie de novo: consulte o evento (GET …/eventos/{tipo}/{sequência}) até que este aviso não venha.',
};

/** The list of the national API tells no state, so that an event without effect is left out. */
const SEM_EFEITO: ReadonlySet<string> = new Set(['recusado', 'retirado', 'dispensado']);

const withoutZeros = (digits: string): string => digits.replace(/^0+(?=\d)/, '');

export async function listEventos(call: Call) {
  const { world, municipio, params } = call;
  const { tipo_evento: codigo, num_seq_evento: sequencial } = params;
  const chave = params['chave_acesso']!;
  const tipo = codigo === undefined ? undefined : tipoNamed(codigo);
  if (codigo !== undefined && tipo === undefined) {
    return refuseWith('E601', `Não há tipo de evento com o código ${quoted(codigo)}.`, { campo: 'tipo_evento' });
  }
  const found = parseChave(chave) === undefined ? undefined : await eventosOfNota(world, municipio, chave, tipo);
  if (found === undefined) return refuseMissingNota(chave);
  const named = found.eventos.filter(
    ({ numero_sequencial }) => sequencial === undefined || String(numero_sequencial) === withoutZeros(sequencial),
  );
  const refused = named.find(({ desfecho }) => desfecho === 'recusado');
  if (sequencial !== undefined && refused !== undefined) return refuseEventoByAdn(refused);
  const wanted = named.filter(({ desfecho }) => !SEM_EFEITO.has(desfecho));
  if (sequencial !== undefined && wanted.length === 0) {
    const mensagem = `A nota existe, mas não tem evento ${tipo!.slug} com o número ${quoted(sequencial)}.`;
    return refuseWith('E301', mensagem, { campo: 'num_seq_evento' });
  }
  const documents = await documentsOf(world, municipio, wanted);
  const eventos = wanted.map((evento, place) => ({
    chaveAcesso: evento.chave_acesso,
    tipoEvento: Number(evento.codigo_tipo_evento),
    numeroPedidoRegistroEvento: evento.numero_sequencial,
    dataHoraRecebimento: evento.data_hora_evento,
    arquivoXml: makeEmbrulho(documents[place]!),
  }));
  const isWaiting = wanted.some(({ desfecho }) => desfecho === 'em_andamento' || desfecho === 'parado');
  const alertas = alertasOf(isWaiting ? [EM_ANDAMENTO] : [], call.site);
  return { body: { ...headOf(call), eventos, eventoXmlGZipB64: eventos[0]?.arquivoXml, alertas } };
}
