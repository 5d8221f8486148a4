/**
 * The behaviour of the local authority that a sender of the sandbox requests (D-60). The request is in the header `X-NFSe-Simular` or in a
 * free text of the document. The values are `adn:rejeita=E1234`, `adn:atraso=30s`, `adn:indisponivel=5m` and `adn:resposta-perdida`;
 * several may be combined.
 *
 * This file reads and writes the values; `../adn/local.ts` acts on them. An unknown value is ignored with a remark: nothing here refuses.
 */
import { AMBIENTES, type Ambiente } from './ambiente.ts';
import { type Aviso, quoted } from './fault.ts';
import { nearestName } from './layout/strange-tag.ts';

export type Simulacao = {
  /** The code with which the document is refused. */
  readonly rejeita?: string;
  /** The time that the authority takes to decide. */
  readonly atrasoMs?: number;
  /** The time that the authority is unreachable. */
  readonly indisponivelMs?: number;
  /** The document is accepted and the answer is lost: only a query reveals it. */
  readonly respostaPerdida?: true;
};

/** The magic values, each with an example and its effect, for the public documentation. */
const VALORES = {
  rejeita: {
    valor: 'adn:rejeita=E1234',
    significado:
      'O ADN recusa o documento com este código. Com E1217, E999 ou RNG9999 não o decide, e o envio é repetido; em uma nota, E1308 a faz esperar, como a substituta antes do evento da substituída; em um evento, E1831 diz que a nota não é conhecida e E1818 que o tipo não é recebido de um município.',
  },
  atraso: {
    valor: 'adn:atraso=30s',
    significado: 'O ADN decide depois deste tempo, contado do recebimento: de 1s a 1h (s, m, h).',
  },
  indisponivel: {
    valor: 'adn:indisponivel=5m',
    significado:
      'O ADN não atende por este tempo, contado do recebimento: de 1s a 1h (s, m, h). O envio é repetido e vai até um minuto além.',
  },
  'resposta-perdida': {
    valor: 'adn:resposta-perdida',
    significado:
      'O ADN recebe o documento e a resposta se perde: o serviço pergunta por ele antes de o enviar de novo.',
  },
} as const;

type Name = keyof typeof VALORES;

const NAMES = Object.keys(VALORES) as Name[];
export const VALORES_MAGICOS = Object.values(VALORES);
const EXAMPLES = VALORES_MAGICOS.map(({ valor }) => valor).join(', ');

export const SIMULAR_HEADER = 'X-NFSe-Simular';

/** A longer rehearsal would be forgotten before its end, and would hold a place in the queue until then. */
export const SIMULAR_MAX_MS = 3_600_000;
const SIMULAR_MIN_MS = 1_000;
/** Characters of a header or a text that are read; the longest text of a DPS has 2,000. */
const TEXT_MAX = 4_000;
const PROBLEMS_MAX = 5;

const UNITS_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, min: 60_000, h: 3_600_000 };
const CODE = /^(?:E\d{3,4}|RNG\d{4})$/;

/** The magic values in a text. `problemas`: invalid values that were meant as such, in Portuguese. */
export function readSimular(
  text: string,
  reading: Reading = 'ignored',
): {
  readonly simulacao: Simulacao | undefined;
  readonly problemas: readonly string[];
} {
  const found = new Map<Name, Simulacao>();
  const problemas: string[] = [];
  for (const [token] of text.slice(0, TEXT_MAX).matchAll(/(?<![\p{L}\p{N}:])adn:[^\s,;"'()<>]*/giu)) {
    const read = tokenOf(token.replace(/[.!?]+$/, ''), reading);
    if ('problema' in read) problemas.push(read.problema);
    else if (!found.has(read.name)) {
      found.set(read.name, read.simulacao);
      if (read.remark !== undefined) problemas.push(read.remark);
    } else problemas.push(`adn:${read.name} veio mais de uma vez; vale o primeiro.`);
  }
  const simulacao = found.size === 0 ? undefined : Object.assign({}, ...found.values());
  return { simulacao, problemas: problemas.slice(0, PROBLEMS_MAX) };
}

type Token =
  | { readonly name: Name; readonly simulacao: Simulacao; readonly remark?: string }
  | { readonly problema: string };

/** The treatment of an unknown value in its remark: the value is ignored, or the request is refused. */
type Reading = 'ignored' | 'refused';

function tokenOf(token: string, reading: Reading): Token {
  const [, written = '', , value] = /^adn:([^=]*)(=(.*))?$/is.exec(token) ?? [];
  const plain = written.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().replaceAll('_', '-');
  const name = NAMES.find((one) => one === plain);
  const shown = quoted(token);
  if (name === undefined) {
    const near = nearestName(plain, NAMES);
    const advice =
      near === undefined ? `Existem: ${EXAMPLES}.` : `O parecido que existe é ${VALORES[near as Name].valor}.`;
    return { problema: `${shown} não é um valor de simulação${ALSO[reading]}. ${advice}` };
  }
  const outcome = { ignored: 'foi ignorado', refused: 'não se entende' }[reading];
  const wrong = { problema: `${shown} ${outcome}: escreva ${VALORES[name].valor}.` };
  if (name === 'resposta-perdida') return value === undefined ? { name, simulacao: { respostaPerdida: true } } : wrong;
  if (name === 'rejeita') {
    const codigo = (value ?? '').toUpperCase();
    return CODE.test(codigo) ? { name, simulacao: { rejeita: codigo } } : wrong;
  }
  const [, amount, unit] = /^(\d{1,9})(s|m|min|h)$/i.exec(value ?? '') ?? [];
  if (amount === undefined) return wrong;
  const asked = Number(amount) * UNITS_MS[unit!.toLowerCase()]!;
  const ms = Math.min(Math.max(asked, SIMULAR_MIN_MS), SIMULAR_MAX_MS);
  const simulacao = name === 'atraso' ? { atrasoMs: ms } : { indisponivelMs: ms };
  if (ms === asked) return { name, simulacao };
  return { name, simulacao, remark: `${shown}: a duração vai de 1s a 1h; vale ${durationOf(ms)}.` };
}

const ALSO: Readonly<Record<Reading, string>> = { ignored: ' e foi ignorado', refused: '' };

/** The text that is stored with a note or an event; {@link readSimular} reads it back. */
export function writeSimular({ rejeita, atrasoMs, indisponivelMs, respostaPerdida }: Simulacao): string {
  const values = [
    rejeita === undefined ? [] : [`adn:rejeita=${rejeita}`],
    atrasoMs === undefined ? [] : [`adn:atraso=${durationOf(atrasoMs)}`],
    indisponivelMs === undefined ? [] : [`adn:indisponivel=${durationOf(indisponivelMs)}`],
    respostaPerdida === undefined ? [] : ['adn:resposta-perdida'],
  ];
  return values.flat().join(' ');
}

function durationOf(ms: number): string {
  const [unit, length] = (['h', 'm', 's'] as const)
    .map((one) => [one, UNITS_MS[one]!] as const)
    .find(([, whole]) => ms % whole === 0) ?? ['s', 1_000];
  return `${Math.round(ms / length)}${unit}`;
}

/** The rehearsal that a sender of the sandbox requested. `simular`: the text that is stored with the note or the event. */
export type SimulacaoPedida = { readonly simular: string | undefined; readonly avisos: readonly Aviso[] };

const NOT_ASKED: SimulacaoPedida = { simular: undefined, avisos: [] };

/**
 * The rehearsal that a request asks for; none in production, which ignores these values. The header precedes the texts for a value that
 * both have. `xpath`: the place of the texts, if there is one; `reading`: the treatment of unknown values.
 */
export function findRehearsal(
  ambiente: Ambiente,
  [cabecalho, ...texts]: readonly (string | undefined)[],
  { xpath = '', reading = 'ignored' }: { readonly xpath?: string; readonly reading?: Reading } = {},
): SimulacaoPedida {
  if (AMBIENTES[ambiente].transmits) return NOT_ASKED;
  const texto = texts.filter((one) => one !== undefined).join(' ');
  if (cabecalho === undefined && !/adn:/i.test(texto)) return NOT_ASKED;
  const header = cabecalho === undefined ? undefined : readSimular(cabecalho, reading);
  const text = readSimular(texto, reading);
  const isVain = header !== undefined && header.simulacao === undefined && header.problemas.length === 0;
  const avisos = [
    ...(isVain ? [headerRemark(` não traz um valor de simulação${ALSO[reading]}. Existem: ${EXAMPLES}.`)] : []),
    ...(header?.problemas ?? []).map((mensagem) => headerRemark(`: ${mensagem}`)),
    ...text.problemas.map((mensagem) => ({ codigo: 'E003', xpath, mensagem })),
  ];
  const simular = writeSimular({ ...text.simulacao, ...header?.simulacao });
  return { simular: simular === '' ? undefined : simular, avisos };
}

function headerRemark(say: string): Aviso {
  return { codigo: 'E003', xpath: '', campo: SIMULAR_HEADER, mensagem: `${SIMULAR_HEADER}${say}` };
}
