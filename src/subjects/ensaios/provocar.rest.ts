/**
 * Answers that the sender in a private sandbox provokes by `X-NFSe-Simular` (D-914): refusals, late and lost answers, and the headers of
 * an address that will be withdrawn. No other municipality reads these values.
 */

import { setTimeout as pause } from 'node:timers/promises';
import { refuse } from '../../base/http/attend.ts';
import { headerOf } from '../../base/http/content.ts';
import type { HttpAnswer, HttpRequest } from '../../base/http/message.ts';
import { writeExcess } from '../../base/http/rate-limit.ts';
import { refuseUnavailable, refuseWith } from '../../base/http/refusals.ts';
import { type Door, siteOf, type Visit } from '../../base/http/visit.ts';
import { SALAS, Sala } from '../../base/world/lugares.ts';
import { worldOf } from '../../base/world/relogio.ts';
import { DAY_MS } from '../../fiscal/moment.ts';
import { type Provocacao, readProvocacao, SIMULAR_HEADER } from '../../fiscal/simular.ts';
import { MUDANCAS_PATH } from '../../published/paths.ts';
import type { Municipio } from '../notas/queries.ts';

const NOTHING: Provocacao = {};

/** The seconds that a provoked refusal asks its sender to wait. */
const ESPERA_S = 2;
/** The days until a provoked withdrawal. */
const SUNSET_DAYS = 90;

/** Late answers of this process. One beyond the places is not held back. */
const late = new Sala(SALAS.respostas_retidas);

/** The provocation of a request, in a private sandbox alone. */
export function provocationIn({ ensaioAte }: Municipio, request: HttpRequest): Provocacao {
  const header = ensaioAte === undefined ? undefined : headerOf(request, SIMULAR_HEADER);
  return (header === undefined ? undefined : readProvocacao(header).simulacao) ?? NOTHING;
}

/** The answer in place of everything else: nothing is read or written. */
export function answerProvoked(door: Door, visit: Visit, { recusa, queda }: Provocacao): HttpAnswer | undefined {
  if (queda) return { status: GONE, headers: {}, body: '', isLost: true };
  if (recusa === undefined) return undefined;
  const reason = `Esta recusa é um ensaio, pedido por ${SIMULAR_HEADER}.`;
  if (recusa === 503) return refuse(door, visit, refuseUnavailable(reason, ESPERA_S));
  const mensagem = `${reason} Nada foi feito. Envie de novo em ${ESPERA_S} s, sem o pedir.`;
  const headers = writeExcess({ nome: 'ensaio', max: 1, janelaS: ESPERA_S }, ESPERA_S);
  return refuse(door, visit, refuseWith('E703', mensagem, { status: 429, headers }));
}

/** The status in the log of a connection without an answer. */
const GONE = 499;

/** The answer as its sender wants to get it: late, lost, or of an address that will be withdrawn. */
export async function alterAnswer(
  door: Door,
  { request }: Visit,
  municipio: Municipio,
  answer: HttpAnswer,
  { demoraMs, obsoleto, semResposta }: Provocacao,
): Promise<HttpAnswer> {
  if (demoraMs !== undefined) await holdBack(municipio, demoraMs);
  const lost: HttpAnswer = semResposta ? { ...answer, isLost: true } : answer;
  if (!obsoleto) return lost;
  const now = worldOf(door.world, municipio).now();
  const withdrawn = {
    Deprecation: `@${Math.floor(now / 1_000)}`,
    Sunset: new Date(now + SUNSET_DAYS * DAY_MS).toUTCString(),
    Link: `<${siteOf(door, request)}${MUDANCAS_PATH}>; rel="deprecation"; type="text/html"`,
  };
  return { ...lost, headers: { ...answer.headers, ...withdrawn } };
}

async function holdBack({ ambiente }: Municipio, ms: number): Promise<void> {
  if (!late.enter(ambiente)) return;
  try {
    await pause(ms);
  } finally {
    late.leave(ambiente);
  }
}
