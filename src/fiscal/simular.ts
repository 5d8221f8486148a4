/**
 * The behaviour that a sender of the sandbox requests (D-60). The request is in the header `X-NFSe-Simular` or in a free text of the
 * document. The values of `adn:` ask the local authority: `adn:rejeita=E1234`, `adn:atraso=30s`. Those of `api:` ask this service itself,
 * in the header alone and in a private sandbox alone: `api:recusa=429` (D-914). Several may be combined.
 *
 * This file reads and writes the values; `../adn/local.ts` and `../subjects/ensaios/provocar.rest.ts` act on them. An unknown value is
 * ignored with a remark: nothing here refuses.
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

/** The answer that a sender in a private sandbox requests of this service. */
export type Provocacao = {
  /** The status with which the request is refused; nothing is done. */
  readonly recusa?: 429 | 503;
  /** The time for which the answer is held back. */
  readonly demoraMs?: number;
  /** The answer of an issue or an event brings one remark more. */
  readonly aviso?: true;
  /** The answer says that its address will be withdrawn. */
  readonly obsoleto?: true;
  /** The connection ends before anything is done. */
  readonly queda?: true;
  /** All is done, and the connection ends in place of the answer. */
  readonly semResposta?: true;
};

/** The magic values, each with an example and its effect, for the public documentation. */
const VALORES = {
  'adn:rejeita': {
    valor: 'adn:rejeita=E1234',
    significado:
      'O ADN recusa o documento com este código. Com E1217, E999 ou RNG9999 não o decide, e o envio é repetido; em uma nota, E1308 a faz esperar, como a substituta antes do evento da substituída; em um evento, E1831 diz que a nota não é conhecida e E1818 que o tipo não é recebido de um município.',
  },
  'adn:atraso': {
    valor: 'adn:atraso=30s',
    significado: 'O ADN decide depois deste tempo, contado do recebimento: de 1s a 1h (s, m, h).',
  },
  'adn:indisponivel': {
    valor: 'adn:indisponivel=5m',
    significado:
      'O ADN não atende por este tempo, contado do recebimento: de 1s a 1h (s, m, h). O envio é repetido e vai até um minuto além.',
  },
  'adn:resposta-perdida': {
    valor: 'adn:resposta-perdida',
    significado:
      'O ADN recebe o documento e a resposta se perde: o serviço pergunta por ele antes de o enviar de novo.',
  },
  'api:recusa': {
    valor: 'api:recusa=429',
    significado:
      'A requisição é recusada por excesso, com `Retry-After` e `RateLimit`; com `503`, porque o serviço não pode atender, com `Retry-After`. Nada é feito.',
  },
  'api:demora': {
    valor: 'api:demora=5s',
    significado: 'O que se pede é feito, e a resposta sai depois deste tempo: de 1s a 10s.',
  },
  'api:aviso': {
    valor: 'api:aviso',
    significado: 'A resposta da emissão ou do evento traz um aviso a mais (em `alertas`, na porta nacional).',
  },
  'api:obsoleto': {
    valor: 'api:obsoleto',
    significado:
      'A resposta diz, em `Deprecation`, `Sunset` e `Link`, que o endereço será retirado: foi obsoleto hoje, e some daqui a três meses.',
  },
  'api:queda': { valor: 'api:queda', significado: 'A conexão se fecha sem resposta, e nada é feito.' },
  'api:resposta-perdida': {
    valor: 'api:resposta-perdida',
    significado: 'O que se pede é feito, e a conexão se fecha sem resposta.',
  },
} as const;

type Name = keyof typeof VALORES;
/** The side that values ask: the authority, or this service. */
type Lado = 'adn' | 'api';

/** The values of a side. */
export function valoresDe(lado: Lado): readonly { readonly valor: string; readonly significado: string }[] {
  return NAMES.filter((name) => name.startsWith(lado)).map((name) => VALORES[name]);
}

const NAMES = Object.keys(VALORES) as Name[];
const EXAMPLES = valoresDe('adn')
  .map(({ valor }) => valor)
  .join(', ');

export const SIMULAR_HEADER = 'X-NFSe-Simular';

/** A longer rehearsal would be forgotten before its end, and would hold a place in the queue until then. */
export const SIMULAR_MAX_MS = 3_600_000;
const SIMULAR_MIN_MS = 1_000;
/** A client waits longer than this before it gives up, and a held answer takes no place for long. */
const DEMORA_MAX_MS = 10_000;
/** Characters of a header or a text that are read; the longest text of a DPS has 2,000. */
const TEXT_MAX = 4_000;
const PROBLEMS_MAX = 5;

const UNITS_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, min: 60_000, h: 3_600_000 };
const CODE = /^(?:E\d{3,4}|RNG\d{4})$/;

/** The values of the authority in a text. `problemas`: invalid values that were meant as such, in Portuguese. */
export function readSimular(text: string, reading: Reading = 'ignored'): Read<Simulacao> {
  return readSide<Simulacao>('adn', text, reading);
}

/** The values of this service in a header. */
export function readProvocacao(text: string, reading: Reading = 'ignored'): Read<Provocacao> {
  return readSide<Provocacao>('api', text, reading);
}

type Read<Asked> = { readonly simulacao: Asked | undefined; readonly problemas: readonly string[] };

const TOKENS: Readonly<Record<Lado, RegExp>> = {
  adn: /(?<![\p{L}\p{N}:])adn:[^\s,;"'()<>]*/giu,
  api: /(?<![\p{L}\p{N}:])api:[^\s,;"'()<>]*/giu,
};

function readSide<Asked extends object>(lado: Lado, text: string, reading: Reading): Read<Asked> {
  const found = new Map<Name, object>();
  const problemas: string[] = [];
  for (const [token] of text.slice(0, TEXT_MAX).matchAll(TOKENS[lado])) {
    const read = tokenOf(lado, token.replace(/[.!?]+$/, ''), reading);
    if ('problema' in read) problemas.push(read.problema);
    else if (!found.has(read.name)) {
      found.set(read.name, read.simulacao);
      if (read.remark !== undefined) problemas.push(read.remark);
    } else problemas.push(`${read.name} veio mais de uma vez; vale o primeiro.`);
  }
  const simulacao = found.size === 0 ? undefined : (Object.assign({}, ...found.values()) as Asked);
  return { simulacao, problemas: problemas.slice(0, PROBLEMS_MAX) };
}

type Token =
  | { readonly name: Name; readonly simulacao: Asked; readonly remark?: string }
  | { readonly problema: string };

/** The treatment of an unknown value in its remark: the value is ignored, or the request is refused. */
type Reading = 'ignored' | 'refused';

function tokenOf(lado: Lado, token: string, reading: Reading): Token {
  const [, written = '', , value] = /^([^=]*)(=(.*))?$/.exec(token) ?? [];
  const plain = written.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().replaceAll('_', '-');
  const name = NAMES.find((one) => one === plain);
  const shown = quoted(token);
  if (name === undefined) {
    const near = nearestName(
      plain,
      NAMES.filter((one) => one.startsWith(lado)),
    );
    const known = valoresDe(lado).map(({ valor }) => valor);
    const advice =
      near === undefined ? `Existem: ${known.join(', ')}.` : `O parecido que existe é ${VALORES[near as Name].valor}.`;
    return { problema: `${shown} não é um valor de simulação${ALSO[reading]}. ${advice}` };
  }
  const read = READERS[name](value);
  if (read === undefined) {
    const outcome = { ignored: 'foi ignorado', refused: 'não se entende' }[reading];
    return { problema: `${shown} ${outcome}: escreva ${VALORES[name].valor}.` };
  }
  const { simulacao, bounded } = read;
  return bounded === undefined ? { name, simulacao } : { name, simulacao, remark: `${shown}: ${bounded}` };
}

type Asked = Simulacao | Provocacao;
/** `bounded`: the duration that counts in place of the one that was asked for. */
type Meaning = { readonly simulacao: Asked; readonly bounded?: string };

/** The meaning of the text after the equals sign; undefined: it has none. */
const READERS: Readonly<Record<Name, (value: string | undefined) => Meaning | undefined>> = {
  'adn:rejeita': (value = '') => when(CODE.test(value.toUpperCase()), { rejeita: value.toUpperCase() }),
  'adn:atraso': (value) => readDuration(value, SIMULAR_MAX_MS, (atrasoMs) => ({ atrasoMs })),
  'adn:indisponivel': (value) => readDuration(value, SIMULAR_MAX_MS, (indisponivelMs) => ({ indisponivelMs })),
  'adn:resposta-perdida': alone({ respostaPerdida: true }),
  'api:recusa': (value) => when(value === '429' || value === '503', { recusa: value === '429' ? 429 : 503 }),
  'api:demora': (value) => readDuration(value, DEMORA_MAX_MS, (demoraMs) => ({ demoraMs })),
  'api:aviso': alone({ aviso: true }),
  'api:obsoleto': alone({ obsoleto: true }),
  'api:queda': alone({ queda: true }),
  'api:resposta-perdida': alone({ semResposta: true }),
};

function when(isMeant: boolean, simulacao: Asked): Meaning | undefined {
  return isMeant ? { simulacao } : undefined;
}

function alone(asked: Asked): (value: string | undefined) => Meaning | undefined {
  return (value) => when(value === undefined, asked);
}

function readDuration(value = '', max: number, ask: (ms: number) => Asked): Meaning | undefined {
  const [, amount, unit] = /^(\d{1,9})(s|m|min|h)$/i.exec(value) ?? [];
  if (amount === undefined) return undefined;
  const asked = Number(amount) * UNITS_MS[unit!.toLowerCase()]!;
  const ms = Math.min(Math.max(asked, SIMULAR_MIN_MS), max);
  if (ms === asked) return { simulacao: ask(ms) };
  return { simulacao: ask(ms), bounded: `a duração vai de 1s a ${durationOf(max)}; vale ${durationOf(ms)}.` };
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

/** The municipality of a sender; `ensaioAte`: present in a private sandbox. */
type Lugar = { readonly ambiente: Ambiente; readonly ensaioAte?: unknown };

/**
 * The rehearsal that a request asks for; none in production, which ignores these values. The header precedes the texts for a value that
 * both have. `xpath`: the place of the texts, if there is one; `reading`: the treatment of unknown values.
 */
export function findRehearsal(
  { ambiente, ensaioAte }: Lugar,
  [cabecalho, ...texts]: readonly (string | undefined)[],
  { xpath = '', reading = 'ignored' }: { readonly xpath?: string; readonly reading?: Reading } = {},
): SimulacaoPedida {
  if (AMBIENTES[ambiente].transmits) return NOT_ASKED;
  const texto = texts.filter((one) => one !== undefined).join(' ');
  if (cabecalho === undefined && !/adn:/i.test(texto)) return NOT_ASKED;
  const header = cabecalho === undefined ? undefined : readSimular(cabecalho, reading);
  const text = readSimular(texto, reading);
  const api = readProvocacao(cabecalho ?? '', reading);
  const asked = [header?.simulacao, api.simulacao].some((one) => one !== undefined);
  const problemas = [...(header?.problemas ?? []), ...api.problemas];
  const isVain = header !== undefined && !asked && problemas.length === 0;
  const isOwn = ensaioAte !== undefined && reading === 'ignored';
  const avisos = [
    ...(isVain ? [headerRemark(` não traz um valor de simulação${ALSO[reading]}. Existem: ${EXAMPLES}.`)] : []),
    ...problemas.map((mensagem) => headerRemark(`: ${mensagem}`)),
    ...(api.simulacao === undefined || isOwn ? [] : [headerRemark(ONLY_IN_OWN)]),
    ...(api.simulacao?.aviso && isOwn ? [headerRemark(': este aviso é um ensaio, e nada há de errado.')] : []),
    ...text.problemas.map((mensagem) => ({ codigo: 'E003', xpath, mensagem })),
  ];
  const simular = writeSimular({ ...text.simulacao, ...header?.simulacao });
  return { simular: simular === '' ? undefined : simular, avisos };
}

const ONLY_IN_OWN = ': os valores de api: só valem num ambiente próprio, na API REST e na porta nacional.';

function headerRemark(say: string): Aviso {
  return { codigo: 'E003', xpath: '', campo: SIMULAR_HEADER, mensagem: `${SIMULAR_HEADER}${say}` };
}
