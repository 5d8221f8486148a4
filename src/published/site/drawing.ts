/**
 * The state machines as pictures: each state is a card with its moves, and each move a line to the card of its target. A second picture
 * shows the way of a note between its three participants. Both are drawn from the tables of the machines, in the width of a phone; the same
 * stands beside the picture in words.
 */
import { EVENTO_ESTADOS, EVENTO_MOVES, type EventoEstado } from '../../fiscal/evento.ts';
import { type Move, requireMove } from '../../fiscal/machine.ts';
import { NOTA_ESTADOS, NOTA_MOVES, type NotaEstado, type NotaMove, type NotaTrigger } from '../../fiscal/nota.ts';
import { EVENTO_TRIGGERS, NOTA_TRIGGERS } from '../states.ts';
import { type Html, html } from './page-shell.ts';

/** The colour of a state: it goes on by itself, ended well, ended badly, or rests in another way. */
type Tone = 'curso' | 'bom' | 'erro' | 'fim';

type Machine = {
  /** Prefix of the ids of its elements. */
  readonly id: string;
  readonly title: string;
  readonly moves: readonly Move[];
  readonly tones: Readonly<Record<string, Tone>>;
  /** The text of a state beside its name. */
  readonly shown: (estado: string) => string;
  readonly triggers: Readonly<Record<string, string>>;
};

export const NOTA_MACHINE: Machine = {
  id: 'desenho-nota',
  title: 'Os estados de uma nota e o que leva de um a outro',
  moves: NOTA_MOVES,
  tones: Object.fromEntries(
    Object.entries(NOTA_ESTADOS).map(([estado, { rests, protocolo }]) => {
      if (!rests) return [estado, 'curso'];
      return [estado, protocolo === 'autorizado' ? 'bom' : protocolo === 'rejeitado' ? 'erro' : 'fim'];
    }),
  ) satisfies Record<string, Tone>,
  shown: (estado) => NOTA_ESTADOS[estado as NotaEstado].status,
  triggers: NOTA_TRIGGERS,
};

const TONE_OF_DESFECHO: Readonly<Record<(typeof EVENTO_ESTADOS)[EventoEstado]['desfecho'], Tone>> = {
  em_andamento: 'curso',
  registrado: 'bom',
  valido_no_municipio: 'bom',
  recusado: 'erro',
  parado: 'erro',
  retirado: 'fim',
  dispensado: 'fim',
};

export const EVENTO_MACHINE: Machine = {
  id: 'desenho-evento',
  title: 'Os estados de um evento e o que leva de um a outro',
  moves: EVENTO_MOVES,
  tones: Object.fromEntries(
    Object.entries(EVENTO_ESTADOS).map(([estado, { desfecho }]) => [estado, TONE_OF_DESFECHO[desfecho]]),
  ),
  shown: () => '',
  triggers: EVENTO_TRIGGERS,
};

// Cards and lines, in pixels.

const WIDTH = 352;
const CARD_WIDTH = 212;
const HEAD_HEIGHT = 26;
const ROW_HEIGHT = 19;
const CARD_GAP = 16;
const EDGE = 2;
/** The position of the first line, and the largest distance of two; many lines stand closer. */
const FIRST_LANE = EDGE + CARD_WIDTH + 18;
const LANE_WIDTH_MAX = 14;

type Row = { readonly on: string; readonly to: string; readonly isLoop: boolean; readonly y: number };
type Card = {
  readonly estado: string | undefined;
  readonly y: number;
  readonly height: number;
  readonly rows: readonly Row[];
};

/** The cards one below the other, the beginning first, the states in the order of their life. */
function placeCards({ moves, tones }: Machine): readonly Card[] {
  let y = EDGE;
  return [undefined, ...Object.keys(tones)].map((estado) => {
    const own = moves.filter(({ from }) => from === estado);
    const rows = own.map(({ on, to }, place) => ({
      on,
      to,
      isLoop: to === estado,
      y: y + HEAD_HEIGHT + ROW_HEIGHT * (place + 0.5),
    }));
    const card = { estado, y, height: HEAD_HEIGHT + ROW_HEIGHT * rows.length + (rows.length > 0 ? 4 : 0), rows };
    y += card.height + CARD_GAP;
    return card;
  });
}

/** A line that joins all moves to one state. */
type Lane = {
  readonly to: string;
  readonly target: number;
  readonly sources: readonly number[];
  readonly top: number;
  readonly bottom: number;
};

/** A short line stands near the cards; two lines that never meet share a position. */
function placeLanes(cards: readonly Card[]): readonly (Lane & { readonly x: number })[] {
  const rows = cards.flatMap((card) => card.rows.filter(({ isLoop }) => !isLoop));
  const spans: readonly Lane[] = [...Map.groupBy(rows, ({ to }) => to)].map(([to, those]) => {
    const target = cards.find(({ estado }) => estado === to)!.y + HEAD_HEIGHT / 2;
    const sources = those.map(({ y }) => y);
    return { to, target, sources, top: Math.min(target, ...sources), bottom: Math.max(target, ...sources) };
  });
  const places: Lane[][] = [];
  for (const lane of spans.toSorted((one, other) => one.bottom - one.top - (other.bottom - other.top))) {
    const isApart = ({ top, bottom }: Lane): boolean =>
      bottom + ROW_HEIGHT < lane.top || top - ROW_HEIGHT > lane.bottom;
    const free = places.find((those) => those.every(isApart));
    if (free === undefined) places.push([lane]);
    else free.push(lane);
  }
  const apart = Math.min(LANE_WIDTH_MAX, (WIDTH - EDGE - FIRST_LANE) / Math.max(1, places.length - 1));
  return places.flatMap((those, place) => those.map((lane) => ({ ...lane, x: FIRST_LANE + apart * place })));
}

export function drawMachine(machine: Machine): Html {
  const { id, title, tones } = machine;
  const cards = placeCards(machine);
  const lanes = placeLanes(cards);
  const last = cards.at(-1)!;
  const right = EDGE + CARD_WIDTH;
  const toneOf = (estado: string | undefined): Tone => (estado === undefined ? 'curso' : tones[estado]!);
  // Upper layers are drawn later: the long lines, the ways to them with a border of paper, the points where they meet.
  const verticals = lanes.map(({ to, target, sources, x }) =>
    line(`M${x} ${Math.min(target, ...sources)}V${Math.max(target, ...sources)}`, toneOf(to)),
  );
  const ways = lanes.flatMap(({ to, target, sources, x }) => [
    ...sources.map((y) => way(`M${right} ${y}H${x}`, toneOf(to))),
    way(`M${right + 5} ${target}H${x}`, toneOf(to)),
    html`<path class="seta ${toneOf(to)}" d="M${String(right + 1)} ${String(target)}l8 -4.5v9z"></path>`,
  ]);
  const points = lanes.flatMap(({ to, sources, x }) =>
    sources.map((y) => html`<circle class="ponto ${toneOf(to)}" cx="${String(x)}" cy="${String(y)}" r="2.5"></circle>`),
  );
  return figure(
    { id, title, height: last.y + last.height + EDGE },
    html`${verticals}${ways}${points}${cards.map((card) => drawCard(card, toneOf(card.estado), card.estado === undefined ? '' : machine.shown(card.estado)))}`,
    html`<ul>
${machine.moves.map(({ from, on, to }) => html`<li>${from === undefined ? 'No começo' : html`De <code>${from}</code>`}, <code>${on}</code> (${machine.triggers[on]!.replaceAll('`', '')}): ${from === to ? 'fica' : 'passa'} ${from === to ? 'em' : 'a'} <code>${to}</code>.</li>\n`)}</ul>`,
  );
}

function line(d: string, tone: Tone): Html {
  return html`<path class="fio ${tone}" d="${d}"></path>`;
}

/** A line that crosses others without touching them. */
function way(d: string, tone: Tone): Html {
  return html`<path class="folga" d="${d}"></path>${line(d, tone)}`;
}

function drawCard({ estado, y, height, rows }: Card, tone: Tone, shown: string): Html {
  const middle = y + HEAD_HEIGHT / 2;
  const head =
    estado === undefined
      ? html`<circle class="comeco" cx="${String(EDGE + 14)}" cy="${String(middle)}" r="6"></circle>${text('começo', 28, middle, 'estado')}`
      : html`<rect class="cabeca ${tone}" x="${String(EDGE)}" y="${String(y)}" width="${String(CARD_WIDTH)}" height="${String(HEAD_HEIGHT)}" rx="5"></rect>${text(estado, 10, middle, 'estado')}${shown === '' ? undefined : html`<text class="mostra" text-anchor="end" x="${String(EDGE + CARD_WIDTH - 8)}" y="${String(middle + 4)}">${shown}</text>`}`;
  return html`<rect class="cartao" x="${String(EDGE)}" y="${String(y)}" width="${String(CARD_WIDTH)}" height="${String(height)}" rx="5"></rect>${head}${rows.map(
    ({ on, isLoop, y: at }) => text(isLoop ? `${on} ↻` : on, 18, at, 'gatilho'),
  )}`;
}

function text(said: string, x: number, y: number, kind: string): Html {
  return html`<text class="${kind}" x="${String(x)}" y="${String(y + 4)}">${said}</text>`;
}

/** A picture with its name, and the same in words for readers who cannot see it. */
function figure({ id, title, height }: { id: string; title: string; height: number }, drawn: Html, words: Html): Html {
  return html`<figure class="desenho">
<svg role="img" aria-labelledby="${id}-nome" viewBox="0 0 ${String(WIDTH)} ${String(height)}">
<title id="${id}-nome">${title}; em palavras, logo abaixo.</title>
${drawn}</svg>
<details><summary>O desenho em palavras</summary>
${words}
</details>
</figure>
`;
}

// The way of a note.

const PARTES = [
  { nome: 'Seu sistema', x: 52 },
  { nome: 'Este serviço', x: 176 },
  { nome: 'ADN', x: 300 },
] as const;

type Passo = {
  readonly de: 0 | 1 | 2;
  readonly a: 0 | 1 | 2;
  readonly diz: string;
  /** The note's move at this step. */
  readonly on?: NotaTrigger;
  readonly emPalavras: string;
};

const CAMINHO: readonly Passo[] = [
  { de: 0, a: 1, diz: 'a DPS', emPalavras: 'O seu sistema envia a DPS.' },
  {
    de: 1,
    a: 0,
    diz: '201, com a chave',
    on: 'emissao',
    emPalavras:
      'O serviço a confere, calcula e numera, e responde 201 com a chave de acesso, já definitiva; com erros, 422 com todos eles.',
  },
  {
    de: 1,
    a: 2,
    diz: 'a nota',
    on: 'anuncio',
    emPalavras: 'O serviço transmite a nota ao ADN; se ele não responde, pergunta antes de enviar de novo.',
  },
  {
    de: 2,
    a: 1,
    diz: 'autorização',
    on: 'autorizacao',
    emPalavras: 'O ADN autoriza; se recusa, a nota fica recusada e o motivo está no protocolo.',
  },
  {
    de: 0,
    a: 1,
    diz: 'consulta',
    emPalavras: 'O seu sistema consulta a nota pela chave, com os intervalos de Retry-After.',
  },
  {
    de: 1,
    a: 0,
    diz: 'a NFS-e',
    emPalavras: 'O serviço responde com a NFS-e autorizada, que é o documento que se guarda.',
  },
];

const STEP_HEIGHT = 40;
const STATE_HEIGHT = 56;

/** The way of a note from the declaration to the authorised document, with its states. */
export function drawNotaRoad(): Html {
  let y = 44;
  let estado: NotaEstado | undefined;
  const drawn: Html[] = [];
  const words: Html[] = [];
  for (const { de, a, diz, on, emPalavras } of CAMINHO) {
    const move = on && requireMove<NotaMove>(NOTA_MOVES, estado, on);
    // The state is that of the service before it answers, and after it has heard.
    if (move !== undefined && de === 1) y += drawState(drawn, move.to, y);
    y += STEP_HEIGHT;
    const [from, to] = [PARTES[de].x, PARTES[a].x];
    const back = to > from ? -1 : 1;
    drawn.push(html`<path class="fio curso" d="M${String(from)} ${String(y)}H${String(to + 8 * back)}"></path><path class="seta curso" d="M${String(to)} ${String(y)}l${String(8 * back)} -4.5v9z"></path>
<text class="dito" text-anchor="middle" x="${String((from + to) / 2)}" y="${String(y - 7)}">${diz}</text>`);
    if (move !== undefined && de !== 1) y += drawState(drawn, move.to, y);
    estado = move?.to ?? estado;
    words.push(html`<li>${emPalavras}${move && html` Estado: <code>${move.to}</code>.`}</li>\n`);
  }
  const height = y + 20;
  const lives = PARTES.map(({ x }) => html`<path class="vida" d="M${String(x)} 30V${String(height - 4)}"></path>`);
  const heads = PARTES.map(
    ({ nome, x }) =>
      html`<rect class="cabeca curso" x="${String(x - 50)}" y="2" width="100" height="28" rx="5"></rect><text class="dito forte" text-anchor="middle" x="${String(x)}" y="20">${nome}</text>`,
  );
  const about = { id: 'desenho-caminho', title: 'O caminho de uma nota', height };
  return figure(about, html`${lives}${heads}${drawn}`, html`<ol>\n${words}</ol>`);
}

/** Draws a state on the line of the service, with its name for an integrator; returns its height. */
function drawState(drawn: Html[], estado: NotaEstado, y: number): number {
  const { x } = PARTES[1];
  const tone = NOTA_MACHINE.tones[estado]!;
  drawn.push(html`<rect class="cabeca ${tone}" x="${String(x - 84)}" y="${String(y + 14)}" width="168" height="40" rx="5"></rect>
<text class="estado" text-anchor="middle" x="${String(x)}" y="${String(y + 31)}">${estado}</text>
<text class="dito" text-anchor="middle" x="${String(x)}" y="${String(y + 47)}">nota.status: ${NOTA_ESTADOS[estado].status}</text>`);
  return STATE_HEIGHT;
}
