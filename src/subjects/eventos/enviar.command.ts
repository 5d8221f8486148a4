/** `nfse evento enviar`: registers an event as an integrator would, and polls until its end. */
import type { Evento, EventoRegistrado, Recusado } from '../../../packages/cliente/src/index.ts';
import { askedWrongly, type Command, type Terminal, textOf, type Values } from '../../base/terminal/command.ts';
import {
  type Asked,
  DESTINATION,
  followOptions,
  REFUSED,
  REPETITION,
  readSending,
  readSentFile,
  type SentFile,
  signatureOf,
  tellFailure,
  WAITING,
  waitForRest,
} from '../../base/terminal/follow.ts';
import { eventoLines, faultLines, printable } from '../../base/terminal/text.ts';
import { EVENTO_SIGNATURE_HEADER } from '../../base/world/sent-documents.ts';
import { EVENTO_RETRIES_MAX, type EventoEstado, eventoRests, standsOnNota } from '../../fiscal/evento.ts';
import { type TipoEvento, tipoBySlug } from '../../fiscal/tipos-evento.ts';
import { hasKeyOptions, KEY_OPTIONS, readKeyFiles } from '../assinatura/assinar.command.ts';
import { signDocument } from '../assinatura/sign.ts';
import { CORPO_OPTIONS, corpoOf, faultsOfOptions, tiposHelp } from './corpo.command.ts';

export const ENVIAR: Command = {
  name: 'evento enviar',
  arguments: 'CHAVE',
  summary: 'Registra um evento na nota de uma chave de acesso, como um integrador, e o acompanha até que conclua.',
  options: {
    ...CORPO_OPTIONS,
    corpo: { takes: 'ARQUIVO', help: 'em vez de --tipo e --campo: o corpo JSON, enviado como está' },
    ...DESTINATION,
    ...KEY_OPTIONS,
    cms: {
      takes: 'ARQUIVO',
      help: `com --corpo: o valor de ${EVENTO_SIGNATURE_HEADER}, como nfse assinar o grava`,
    },
    simular: {
      takes: 'VALORES',
      help: 'na integração, o que o ADN deve ensaiar: adn:rejeita=E1234, adn:atraso=30s, …',
    },
    ...REPETITION,
  },
  moreHelp: () => tiposHelp(({ porOficio }) => !porOficio),
  run: (terminal, values, [chave]) => enviar(terminal, values, chave!),
};

async function enviar(terminal: Terminal, values: Values, chave: string): Promise<number> {
  const sending = readSending(terminal, values);
  if (typeof sending === 'string') return askedWrongly(terminal, sending);
  const body = await signBody(terminal, values, chave);
  if (typeof body === 'string') return askedWrongly(terminal, body);
  try {
    const registered = await sending.cliente.registrarEvento(chave, body.body, {
      ...signatureOf(body),
      simular: textOf(values, 'simular'),
      ...sending.repeticao,
    });
    const { avisos, tipo_evento, numero_sequencial } = registered;
    terminal.out(
      `Evento ${registered.repetida ? 'já registrado antes' : 'registrado'}: ${tipo_evento} nº ${numero_sequencial}; falta a conclusão\n`,
    );
    for (const { codigo, mensagem } of avisos) terminal.out(`  aviso      ${codigo}  ${mensagem}\n`);
    return await followEvento(terminal, sending, registered);
  } catch (error) {
    return tellFailure(terminal, error, { base: sending.base, refusal: (refused) => refusal(refused, values) });
  }
}

/** The body of the request, signed when the options name a certificate; a text: the wrong usage. */
async function signBody(terminal: Terminal, values: Values, chave: string): Promise<SentFile | string> {
  const [file, cms] = [textOf(values, 'corpo'), textOf(values, 'cms')];
  if (file !== undefined && (values['tipo'] !== undefined || values['campo'] !== undefined)) {
    return 'Use --corpo, ou --tipo com --campo; não os dois.\n';
  }
  if (cms !== undefined && file === undefined) {
    return '--cms é a assinatura de um arquivo: indique o arquivo em --corpo. Para assinar na hora, use --pfx.\n';
  }
  if (cms !== undefined && hasKeyOptions(values)) return 'Use --cms, ou os arquivos do certificado; não os dois.\n';
  const sent = file === undefined ? readBody(values, chave) : await readSentFile(file, cms);
  if (typeof sent === 'string') return sent;
  if (sent.kind === 'xml') return `${file} não é JSON: um evento se registra com um corpo JSON.\n`;
  if (!hasKeyOptions(values)) return sent;
  const files = readKeyFiles(values);
  if (files === undefined) return 'Para assinar: --pfx ARQUIVO, ou --certificado ARQUIVO e --chave ARQUIVO.\n';
  const { text, avisos } = await signDocument(sent.body, files, Date.now());
  for (const aviso of avisos) terminal.err(`Aviso: ${aviso}\n`);
  return { ...sent, assinatura: text };
}

/** The body from the options, with the key of its note, so that it fits no other note. */
function readBody(values: Values, chave: string): SentFile | string {
  const body = corpoOf(values, { chave_acesso: chave });
  return typeof body === 'string' ? body : { kind: 'json', body, assinatura: undefined };
}

function refusal({ status, envelope, erros }: Recusado, values: Values): string {
  const shown = values['corpo'] === undefined ? faultsOfOptions(erros) : erros;
  const details = shown.length > 0 ? `\n${faultLines(shown)}` : ` ${envelope?.mensagem}`;
  return `Recusado (HTTP ${status}, ${envelope?.codigo_erro}):${details}\n`;
}

async function followEvento(
  terminal: Terminal,
  { cliente, base }: Asked,
  registered: EventoRegistrado,
): Promise<number> {
  const { chave_acesso, tipo_evento, numero_sequencial } = registered;
  const query = `${base}/api/v1/nfse/${chave_acesso}/eventos/${tipo_evento}/${numero_sequencial}`;
  const late = `Ainda não concluído; o evento está registrado e segue sozinho. Não o envie de novo; consulte mais tarde: ${query}\n`;
  const following = followOptions<Evento>(terminal);
  const found = await waitForRest(terminal, cliente.acompanharEvento(registered, following), late);
  if (found === undefined) return WAITING;
  const { status, ...evento } = found;
  terminal.out(eventoLines(evento, [['consulta', query]]));
  const estado: EventoEstado = evento.status_evento;
  const tipo: TipoEvento = tipoBySlug(evento.tipo_evento)!;
  if (standsOnNota(estado, tipo)) {
    if (estado === 'processado' && tipo.cancela) terminal.out('A nota está cancelada.\n');
    if (estado === 'dispensado') terminal.out('O ADN não recebe este tipo de um município: o evento vale neste.\n');
    return 0;
  }
  if (!isAtRest(evento)) {
    terminal.err(late);
    return WAITING;
  }
  const motivo = printable(evento.mensagem_retorno ?? 'sem motivo informado');
  terminal.err(`${WITHOUT_EFFECT[estado] ?? `O evento está ${estado}`}: ${motivo}\n`);
  return REFUSED;
}

/** Messages for events that ended without effect on their note. */
const WITHOUT_EFFECT: Readonly<Partial<Record<EventoEstado, string>>> = {
  rejeitado: 'O ADN recusou o evento',
  erro: `O ADN não decidiu o evento, e as ${EVENTO_RETRIES_MAX} novas tentativas acabaram; a prefeitura pode mandar enviá-lo de novo`,
  erro_reprocessamento: 'O evento foi separado para análise da prefeitura',
  cancelado: 'A prefeitura retirou o evento antes do envio',
  dispensado: 'O envio do evento ao ADN foi dispensado, e ele não tem efeito na nota',
};

/** Whether an event has ended. An event in `erro` that can still be retried has the public advice `retentar`. */
function isAtRest({ status_evento, acao_sugerida }: Pick<Evento, 'status_evento' | 'acao_sugerida'>): boolean {
  return eventoRests(status_evento, acao_sugerida === 'retentar');
}
