/**
 * The faults of the simulator as one table: each with its name, its effect on the other side, and its moment.
 *
 * The seed, the number of the request and the name of the fault alone decide whether the fault occurs. The same requests under the same
 * seed therefore fail alike. Adding or removing a fault changes no other.
 */
import { hash } from 'node:crypto';

/**
 * The moment of a fault. `antes`: it replaces the processing. `depois`: a lot is processed, and the fault replaces the answer; queries have
 * no such fault. `resposta`: it modifies the answer. A request meets at most one fault of the first two moments, the first that is drawn.
 * Faults of the third moment may combine.
 */
type Momento = 'antes' | 'depois' | 'resposta';

type Falta = {
  readonly momento: Momento;
  /** The only requests that it affects; absent: lots and queries. */
  readonly em?: 'envio' | 'consulta';
  /** The meaning in Portuguese, for the help and the state. */
  readonly significado: string;
};

export const FALTAS = {
  'atraso-antes': { momento: 'resposta', significado: 'espera até atraso_ms antes de processar' },
  atraso: { momento: 'resposta', significado: 'processa e espera até atraso_ms antes de responder' },
  'pedido-perdido': { momento: 'antes', significado: 'não processa nem responde; desiste em perdida_ms' },
  'reinicio-antes': { momento: 'antes', significado: 'derruba a conexão sem processar' },
  erro5xx: { momento: 'antes', significado: 'responde 500, 502, 503 ou 504 sem processar' },
  erro429: { momento: 'antes', significado: 'responde 429 com Retry-After sem processar' },
  html: { momento: 'antes', significado: 'responde 200 com uma página HTML sem processar' },
  manutencao: { momento: 'antes', em: 'envio', significado: 'recusa o lote com E1217, serviço parado' },
  e999: { momento: 'antes', em: 'envio', significado: 'responde 201 com E999 em cada documento sem processar' },
  'lote-parcial': {
    momento: 'depois',
    significado: 'processa só os primeiros documentos e responde só por eles, ou derruba a conexão',
  },
  'reinicio-depois': { momento: 'depois', significado: 'processa e derruba a conexão' },
  'resposta-perdida': { momento: 'depois', significado: 'processa e nunca responde; desiste em perdida_ms' },
  'erro5xx-depois': { momento: 'depois', significado: 'processa e responde 500, 502, 503 ou 504' },
  'html-depois': { momento: 'depois', significado: 'processa e responde 200 com uma página HTML' },
  'sem-lote': { momento: 'resposta', significado: 'a resposta vem sem o campo Lote (na consulta, LoteDFe)' },
  'resposta-dupla': { momento: 'resposta', significado: 'entradas da resposta vêm em dobro' },
  reordena: { momento: 'resposta', significado: 'as entradas da resposta vêm em outra ordem' },
  'base64-duplo': {
    momento: 'resposta',
    em: 'consulta',
    significado: 'ArquivoXml vem codificado duas vezes em Base64',
  },
  'nomes-camel': { momento: 'resposta', significado: 'os campos vêm com inicial minúscula' },
  'corpo-cortado': { momento: 'resposta', significado: 'o corpo da resposta vem pela metade' },
  'resposta-enorme': { momento: 'resposta', significado: 'a resposta vem inchada até enorme_bytes' },
} as const satisfies Record<string, Falta>;

export type NomeDeFalta = keyof typeof FALTAS;

/** A fault that replaces the processing or the answer. */
export type NomeDeDesvio = {
  [Nome in NomeDeFalta]: (typeof FALTAS)[Nome]['momento'] extends 'resposta' ? never : Nome;
}[NomeDeFalta];

/** The settings of the faults and of the reception of events, each with its default and its maximum. */
export const AJUSTES = {
  atraso_ms: { significado: 'maior espera de atraso e atraso-antes', padrao: 2_000, max: 600_000 },
  perdida_ms: { significado: 'quanto se segura uma conexão sem resposta', padrao: 120_000, max: 600_000 },
  enorme_bytes: { significado: 'tamanho de uma resposta-enorme', padrao: 64 * 1024 * 1024, max: 1024 * 1024 * 1024 },
  nota_desconhecida: {
    significado: 'quantas vezes cada evento é respondido com E1831, como se a sua nota ainda não fosse conhecida',
    padrao: 0,
    max: 1_000,
  },
  manifestacoes: {
    significado: '1 recebe do município confirmações e rejeições das partes, que o ADN recusa com E1818',
    padrao: 0,
    max: 1,
  },
} as const;

type NomeDeAjuste = keyof typeof AJUSTES;

/** The probability of each fault, from 0 to 1, and the settings. */
export type Configuracao = {
  readonly semente: number;
  readonly partes: { readonly [nome in NomeDeFalta]?: number };
  readonly ajustes: { readonly [nome in NomeDeAjuste]: number };
};

export const SEM_FALTAS: Configuracao = {
  semente: 1,
  partes: {},
  ajustes: Object.fromEntries(
    Object.entries(AJUSTES).map(([nome, { padrao }]) => [nome, padrao]),
  ) as Configuracao['ajustes'],
};

const SEMENTE_MAX = Number.MAX_SAFE_INTEGER;

/** The configuration with some changes, or the problem of a wrong name or value, in Portuguese. */
export function changeConfiguracao(
  before: Configuracao,
  changes: Readonly<Record<string, unknown>>,
): Configuracao | { readonly problema: string } {
  let { semente } = before;
  const partes: Record<string, number> = { ...before.partes };
  const ajustes: Record<string, number> = { ...before.ajustes };
  for (const [nome, value] of Object.entries(changes)) {
    if (typeof value !== 'number' || !Number.isFinite(value) || value < 0) {
      return { problema: `${nome} ${whyNoNumber(nome, value)}` };
    }
    if (nome === 'semente') {
      if (!Number.isInteger(value) || value > SEMENTE_MAX) return { problema: 'semente pede um número inteiro.' };
      semente = value;
    } else if (Object.hasOwn(AJUSTES, nome)) {
      const { max } = AJUSTES[nome as NomeDeAjuste];
      if (!Number.isInteger(value) || value > max) return { problema: `${nome} pede um inteiro de 0 a ${max}.` };
      ajustes[nome] = value;
    } else if (Object.hasOwn(FALTAS, nome)) {
      if (value > 1) return { problema: `${nome} pede uma fração de 0 a 1; 0.05 é uma vez em vinte.` };
      if (value === 0) delete partes[nome];
      else partes[nome] = value;
    } else {
      const known = [...Object.keys(FALTAS), ...Object.keys(AJUSTES), 'semente'].join(', ');
      return { problema: `${nome} não é uma falta. Existem: ${known}.` };
    }
  }
  return { semente, partes, ajustes: ajustes as Configuracao['ajustes'] };
}

function whyNoNumber(nome: string, value: unknown): string {
  const example = Object.hasOwn(FALTAS, nome) ? `{"${nome}":0.1}` : '{"atraso":0.1,"atraso_ms":500}';
  return typeof value === 'object' && value !== null
    ? `veio com um objeto ou lista dentro. As faltas vão direto no corpo, cada uma com o seu número: ${example}.`
    : `pede um número, zero ou maior.`;
}

/** Reads `atraso=0.1,html=0.02`, the form of a command line. */
export function readFaltas(text: string): Record<string, unknown> {
  const pairs = text.split(',').filter((pair) => pair.trim() !== '');
  return Object.fromEntries(
    pairs.map((pair) => {
      const [nome, value, ...rest] = pair.split('=').map((part) => part.trim());
      const isNumber = value !== undefined && rest.length === 0 && /^\d+(\.\d+)?$|^\.\d+$/.test(value);
      return [nome ?? '', isNumber ? Number(value) : undefined];
    }),
  );
}

/** The faults for one request. */
export type Sorte = {
  readonly desvio: NomeDeDesvio | undefined;
  /** The faults that modify the answer. */
  readonly estragos: ReadonlySet<NomeDeFalta>;
  /** A number from 0 to 1 for a choice within a fault; the same request and purpose always give the same number. */
  draw(purpose: string): number;
};

/** Draws the faults of a request. `numero`: its place since the seed was set, from 1. */
export function drawSorte({ semente, partes }: Configuracao, numero: number, em: 'envio' | 'consulta'): Sorte {
  const draw = (purpose: string): number => drawNumber(`${semente} ${numero} ${purpose}`);
  let desvio: NomeDeDesvio | undefined;
  const estragos = new Set<NomeDeFalta>();
  for (const [nome, falta] of ENTRIES) {
    const parte = partes[nome];
    const only = falta.momento === 'depois' ? 'envio' : falta.em;
    if (parte === undefined || (only !== undefined && only !== em) || draw(nome) >= parte) continue;
    if (falta.momento === 'resposta') estragos.add(nome);
    else desvio ??= nome as NomeDeDesvio;
  }
  return { desvio, estragos, draw };
}

const ENTRIES = Object.entries(FALTAS) as readonly (readonly [NomeDeFalta, Falta])[];

/** A number from 0 to below 1, the same for the same text on every machine. */
export function drawNumber(text: string): number {
  return Number.parseInt(hash('sha256', text, 'hex').slice(0, 12), 16) / 2 ** 48;
}

/** The same entries in another order. */
export function shuffle<T>(list: readonly T[], draw: (purpose: string) => number): T[] {
  const mixed = [...list];
  for (let last = mixed.length - 1; last > 0; last -= 1) {
    const other = Math.floor(draw(`ordem ${last}`) * (last + 1));
    [mixed[last], mixed[other]] = [mixed[other]!, mixed[last]!];
  }
  return mixed;
}
