/**
 * Sends one operation and repeats it with the same bytes under the same key, until one of three outcomes. A doubt
 * remains until the service settles it (D-164).
 */
import { type Circunstancias, Indeterminado, NaoEntregue, Recusado, SemResposta } from './erros.ts';
import { esperar, pausaMs, retryAfterMs, TIMER_MAX_MS } from './espera.ts';
import { type EnvelopeDeErro, OPERACOES, type Operacao } from './tipos.ts';
import {
  codigoDaFalha,
  isPortaProibida,
  isSemTls,
  naoSaiu,
  type Resposta,
  RespostaLonga,
  type Transporte,
} from './transporte.ts';

/** Quanto se insiste em uma chamada. */
export type Insistencia = {
  /** Quantas vezes a requisição pode sair. */
  readonly tentativas: number;
  /** Tempo de uma chamada com todas as suas tentativas. */
  readonly prazoMs: number;
  /** Tempo de uma tentativa. */
  readonly tempoLimiteMs: number;
  /** Entre duas tentativas, se o serviço não diz outra coisa: um tempo que dobra, até um máximo. */
  readonly primeiraEsperaMs: number;
  readonly esperaMaximaMs: number;
  /** false: quem não alcança o serviço é avisado logo. Uma dúvida se tira sempre. */
  readonly semConexao: boolean;
};

/** O que `aoRepetir` recebe antes de cada espera. */
export type AvisoDeRepeticao = {
  readonly operacao: Operacao;
  /** A que acabou de falhar, a partir de 1. */
  readonly tentativa: number;
  readonly esperaMs: number;
  readonly motivo: string;
};

export type Chamada = {
  readonly operacao: Operacao;
  readonly url: string;
  readonly cabecalhos: Readonly<Record<string, string>>;
  readonly corpo?: Uint8Array;
  /** The key of a repetition, for an operation with an effect. */
  readonly repeticao?: { readonly chave: string; readonly assinatura: string | undefined };
  /** The content of the next attempt, for a request that is valid once. */
  readonly renovar?: () => Pick<Chamada, 'cabecalhos' | 'corpo'>;
  /** True: every attempt does it anew, so a doubtful one is not repeated. */
  readonly isOnce?: boolean;
  /** Statuses besides 2xx that count as an answer. */
  readonly aceita?: readonly number[];
  /** True: the body is JSON, parsed as a check that the answer is whole. */
  readonly isJson: boolean;
  /** Um campo de texto sem o qual a resposta não é deste serviço. */
  readonly exige?: string;
  /** Octets of the longest answer, unless it is the usual limit. */
  readonly respostaMax?: number;
  readonly signal: AbortSignal | undefined;
};

export type Respondida = Resposta & { readonly json: unknown };

/** The result of a failed attempt. */
type Falha = {
  readonly kind: 'recusado' | 'nao_entregue' | 'indeterminado';
  readonly motivo: string;
  /** True: the same request may succeed later. */
  readonly isRepeatable: boolean;
  readonly resposta?: Resposta;
  readonly envelope?: EnvelopeDeErro | undefined;
  readonly error?: unknown;
};

/** Chama até haver resposta; rejeita com {@link Recusado}, {@link NaoEntregue} ou {@link Indeterminado}. */
export async function chamar(
  transporte: Transporte,
  chamada: Chamada,
  insistencia: Insistencia,
  aoRepetir: (aviso: AvisoDeRepeticao) => void,
): Promise<Respondida> {
  const { operacao, signal } = chamada;
  const end = performance.now() + insistencia.prazoMs;
  let inDoubt: Falha | undefined;
  signal?.throwIfAborted();
  for (let tentativa = 1; ; tentativa += 1) {
    const sent = { ...chamada, ...chamada.renovar?.() };
    const tried = await tentar(transporte, sent, Math.min(insistencia.tempoLimiteMs, end - performance.now()));
    if (!('motivo' in tried)) return tried;
    if (tried.kind === 'indeterminado') inDoubt = tried;
    // A read leaves no doubt: it may be repeated after any failure.
    const isOnce = chamada.isOnce === true;
    const hasDoubt = inDoubt !== undefined && (chamada.repeticao !== undefined || isOnce);
    if (signal?.aborted) {
      if (hasDoubt)
        throw describeEnd(chamada, tried, tentativa, hasDoubt, 'A chamada foi interrompida depois de sair.');
      signal.throwIfAborted();
    }
    const esperaMs = retryAfterMs(tried.resposta?.cabecalhos ?? new Headers()) ?? pausaMs(tentativa, insistencia);
    const isGivenUp =
      !hasDoubt && !insistencia.semConexao && tried.resposta === undefined && tried.kind === 'nao_entregue';
    const isLast = tentativa >= insistencia.tentativas || performance.now() + esperaMs >= end || isGivenUp;
    if (!tried.isRepeatable || isLast || (isOnce && hasDoubt))
      throw describeEnd(chamada, tried, tentativa, hasDoubt, tried.motivo);
    try {
      aoRepetir({ operacao, tentativa, esperaMs, motivo: tried.motivo });
      await esperar(esperaMs, signal);
    } catch (error) {
      if (hasDoubt)
        throw describeEnd(chamada, { ...tried, error }, tentativa, hasDoubt, 'A chamada foi interrompida em dúvida.');
      throw error;
    }
  }
}

async function tentar(transporte: Transporte, chamada: Chamada, limitMs: number): Promise<Respondida | Falha> {
  const { operacao, url, cabecalhos, corpo, respostaMax, signal } = chamada;
  const timeout = AbortSignal.timeout(Math.min(Math.max(1, Math.floor(limitMs)), TIMER_MAX_MS));
  let resposta: Resposta;
  try {
    resposta = await transporte({
      metodo: OPERACOES[operacao].metodo,
      url,
      cabecalhos,
      corpo,
      respostaMax,
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    });
  } catch (error) {
    return describeSilence(error, timeout.aborted);
  }
  return lerResposta(resposta, chamada);
}

function describeSilence(error: unknown, isLate: boolean): Falha {
  const code = codigoDaFalha(error);
  if (isPortaProibida(error)) {
    const motivo = 'Não houve conexão: a fetch não fala com essa porta. Confira url.';
    return { kind: 'nao_entregue', motivo, isRepeatable: false, error };
  }
  if (naoSaiu(error)) {
    const why = isLate ? 'o tempo se esgotou' : (code ?? 'sem código');
    const hint = isSemTls(error) ? ' Nessa porta não se fala TLS: confira o https de url.' : '';
    return { kind: 'nao_entregue', motivo: `Não houve conexão (${why}).${hint}`, isRepeatable: true, error };
  }
  if (error instanceof RespostaLonga) {
    const motivo = `Não houve resposta deste serviço: ${error.message}. Confira url.`;
    return { kind: 'indeterminado', motivo, isRepeatable: false, error };
  }
  const how = isLate ? 'o tempo se esgotou' : `a conexão caiu${code === undefined ? '' : ` (${code})`}`;
  return { kind: 'indeterminado', motivo: `Não houve resposta: ${how}.`, isRepeatable: true, error };
}

/** The table of the page "Os desfechos de um envio", row by row. */
function lerResposta(resposta: Resposta, { aceita = [], isJson, exige, operacao }: Chamada): Respondida | Falha {
  const { status, cabecalhos } = resposta;
  if (aceita.includes(status)) return { ...resposta, json: undefined };
  const json = jsonOf(resposta);
  if (status >= 200 && status < 300) {
    const isWhole = !isJson || (typeof json === 'object' && json !== null);
    const isOurs = exige === undefined || typeof (json as Readonly<Record<string, unknown>>)?.[exige] === 'string';
    if (isWhole && isOurs) return { ...resposta, json };
    const motivo = isWhole
      ? `A resposta (HTTP ${status}) não é deste serviço: falta ${exige}. Confira url.`
      : `A resposta (HTTP ${status}) não é JSON inteiro.`;
    return { kind: 'indeterminado', motivo, isRepeatable: true, resposta };
  }
  const envelope = isEnvelope(json) ? json : undefined;
  const about = { resposta, envelope };
  const said =
    envelope === undefined ? `HTTP ${status}` : `HTTP ${status}, ${envelope.codigo_erro}: ${envelope.mensagem}`;
  if (status >= 500) {
    const isRepeatable = status !== 501 && status !== 505;
    return { kind: 'indeterminado', motivo: `O serviço falhou (${said}).`, isRepeatable, ...about };
  }
  if (status === 409) {
    return { kind: 'indeterminado', motivo: `Há outra igual em andamento (${said}).`, isRepeatable: true, ...about };
  }
  if (status === 408 || status === 429) {
    return { kind: 'nao_entregue', motivo: `O serviço não atendeu (${said}).`, isRepeatable: true, ...about };
  }
  if (envelope === undefined || status === 413) {
    const motivo =
      status >= 300 && status < 400
        ? `O endereço leva a outro (HTTP ${status}, ${cabecalhos.get('location')?.replace(/[?#].*/s, '') ?? 'sem Location'}): corrija url.`
        : status === 413
          ? `O corpo é grande demais (${said}).`
          : `Respondeu algo que não é deste serviço (HTTP ${status}, em ${operacao}). Confira url.`;
    return { kind: 'nao_entregue', motivo, isRepeatable: false, ...about };
  }
  return { kind: 'recusado', motivo: `${envelope.codigo_erro}: ${envelope.mensagem}`, isRepeatable: false, ...about };
}

/** The error that ends the call. A doubt that another attempt settled is no doubt any more. */
function describeEnd(chamada: Chamada, falha: Falha, tentativas: number, hasDoubt: boolean, mensagem: string): Error {
  const { operacao, repeticao, corpo } = chamada;
  const { resposta, envelope, error } = falha;
  const circunstancias: Circunstancias = {
    operacao,
    tentativas,
    status: resposta?.status,
    envelope,
    requisicao: resposta?.cabecalhos.get('x-request-id') ?? undefined,
    esperaMs: resposta && retryAfterMs(resposta.cabecalhos),
    cause: error,
  };
  if (falha.kind === 'recusado' && envelope !== undefined && (!hasDoubt || settles(falha))) {
    return new Recusado(mensagem, { ...circunstancias, envelope });
  }
  if (hasDoubt && chamada.isOnce) {
    return new SemResposta(
      `${mensagem} Não se sabe se ${operacao} foi feita, e repetida faria outra: confira antes o que há.`,
      circunstancias,
    );
  }
  if (!hasDoubt || repeticao === undefined || corpo === undefined) return new NaoEntregue(mensagem, circunstancias);
  return new Indeterminado(
    `${mensagem} Não se sabe se ${operacao} foi feita: repita com a mesma chave, ${repeticao.chave}.`,
    circunstancias,
    { ...repeticao, corpo },
  );
}

/**
 * True when a refusal proves that the first attempt did nothing either. A refusal of the document repeats the first
 * answer under the key. A refusal before the look-up of the key (address, signature) proves nothing about earlier
 * attempts.
 */
function settles({ resposta, envelope }: Falha): boolean {
  const isOfTheDocument = resposta?.status === 400 || resposta?.status === 422;
  return isOfTheDocument && !SIGNATURE_CODES.test(envelope?.codigo_erro ?? '');
}

/** Codes of an XML signature; faults of a JSON signature are answered with 401. */
const SIGNATURE_CODES = /^E90[1-6]$/;

function jsonOf({ corpo }: Resposta): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(corpo));
  } catch {
    return undefined;
  }
}

function isEnvelope(json: unknown): json is EnvelopeDeErro {
  const { codigo_erro, mensagem, erros } = (json ?? {}) as Partial<EnvelopeDeErro>;
  return typeof codigo_erro === 'string' && typeof mensagem === 'string' && Array.isArray(erros);
}
