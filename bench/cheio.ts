/**
 * `npm run bench -- --cheio N`: a database with N notes beside an almost empty one, both with this service, in the same
 * seconds. The measure covers the cost of issuing, sending a backlog, queries and lists, and the size of the rows.
 */
import { openEmbedded } from '../src/base/pg/embedded.ts';
import { openPool } from '../src/base/pg/open.ts';
import { createStore, type Store } from '../src/wiring/store.ts';
import {
  comparePlaces,
  look,
  OWN,
  type Pair,
  placesOf,
  rowsOfLoads,
  tableOf,
  tablesOfLoads,
  type WindowOptions,
} from './comparar.ts';
import { type Fill, fillPlace, issueModels, type Sample, type Size, sampleNotes, sizesOf } from './fill.ts';
import { compareWindows, costOf, type RowName, type Window } from './ratios.ts';
import { type ComparedRow, describeConditions, printTables, saveComparison, type Table } from './report.ts';
import {
  countReceived,
  openScene,
  type Path,
  type Place,
  preparePlace,
  type Scene,
  type Side,
  SLUG,
  waitReceived,
} from './scene.ts';
import { QUIET, useServer } from './servidor.ts';

export type FullOptions = WindowOptions & Fill & { readonly path: Path; readonly saves: boolean };

/** Requests to each service in a window, and the number in progress at once. */
const ASKED = 1_000;
const AT_ONCE = 8;
/** Notes of the backlog in each start. */
const BACKLOG = 1_000;
/** Notes that are read again and again. */
const KNOWN = 100;
/** Notes of an answer with several. */
const PAGE = 10;
const MONTH_MS = 30 * 86_400_000;
const IBGE = '3550308';

/** One of the two services, with its samples. */
type Seat = {
  readonly side: Side;
  readonly store: Store;
  /** The next of its old notes; each note of the full one comes once. */
  next(): Sample;
  readonly known: readonly Sample[];
};

type Question = {
  readonly title: string;
  /** The reported rows: only the database's part of the store's queries belongs to the service. */
  readonly rows: readonly RowName[];
  readonly ask: (seat: Seat, place: number) => Promise<unknown>;
};

const BOTH = ['servico', 'banco', 'tudo'] as const;

const QUESTIONS: readonly Question[] = [
  {
    title: 'consulta por chave, uma nota qualquer',
    rows: BOTH,
    ask: ({ side, next }) => get(side, `nfse/${next().chave_acesso}`),
  },
  {
    title: 'consulta por chave, as mesmas 100 notas',
    rows: BOTH,
    ask: ({ side, known }, place) => get(side, `nfse/${known[place % known.length]!.chave_acesso}`),
  },
  {
    title: 'existe nota da DPS, uma qualquer',
    rows: BOTH,
    ask: ({ side, next }) => get(side, `dps/${next().id_dps}`, 'HEAD'),
  },
  {
    title: 'período de um prestador, primeiras 10 notas',
    rows: ['banco'],
    ask: ({ store, next }) => {
      const { prestador_cpf_cnpj: prestador, data_emissao } = next();
      return list(store, { prestador, de: +data_emissao, ate: +data_emissao + MONTH_MS });
    },
  },
  {
    title: 'busca por tomador nas notas de um prestador, primeiras 10',
    rows: ['banco'],
    ask: ({ store, next }) => {
      const { prestador_cpf_cnpj: prestador, tomador_cpf_cnpj: documento } = next();
      return list(store, { prestador, partes: [{ grupo: 'toma', documento: documento ?? undefined }] });
    },
  },
  {
    title: 'quem tem o que transmitir, de todos os municípios',
    rows: ['banco'],
    ask: ({ store }) => store.listDue(Date.now(), 1),
  },
  {
    title: 'reservar o que venceu, quando nada venceu',
    rows: ['banco'],
    ask: ({ store }) => store.notas.claim(SLUG, Date.now(), Date.now(), 1),
  },
];

async function get({ address }: Side, path: string, method = 'GET'): Promise<void> {
  const response = await fetch(`${address}/api/v1/${path}`, { method });
  if (response.status !== 200) throw new Error(`${path}: HTTP ${response.status}`);
  await response.arrayBuffer();
}

async function list(
  store: Store,
  asked: Omit<Parameters<Store['lotes']['listNotasOfPrestador']>[1], 'codigoIbge'>,
): Promise<void> {
  const of = { codigoIbge: IBGE, ...asked };
  const counted = await store.lotes.countNotasOfPrestador(SLUG, of, PAGE + 1);
  const found = await store.lotes.listNotasOfPrestador(SLUG, of, counted, PAGE);
  if (found.length === 0) throw new Error('uma lista de notas que existem veio vazia');
}

export async function benchFull(dataDir: string, options: FullOptions): Promise<void> {
  const { providers, total, tenants } = options;
  if (options.path.isSandbox) throw new Error('--cheio é da produção: no ambiente de integração nada é transmitido.');
  const scene = await openScene(dataDir, 2 * providers);
  try {
    const places = placesOf(dataDir, scene, [OWN, OWN], providers);
    for (const place of places) {
      await preparePlace(place, scene);
      await issueModels(place, scene);
    }
    const began = performance.now();
    const full = await fillPlace(places[0], options);
    console.error(`${total} notas de ${tenants} municípios em ${((performance.now() - began) / 1000).toFixed(0)} s`);
    const empty = await useServer(places[1], sampleNotes);
    await measureFull(scene, places, [full, empty], options);
  } finally {
    await scene.end();
  }
}

/** Measures a full place beside an almost empty one. `samples`: notes of each that nobody has read recently. */
export async function measureFull(
  scene: Scene,
  places: Pair<Place>,
  samples: Pair<readonly Sample[]>,
  options: FullOptions,
): Promise<void> {
  const { total, tenants, saves } = options;
  const sizes = await useServer(places[0], sizesOf);
  const asked = new Map<string, Window[]>();
  const { windows, foreign } = await comparePlaces(scene, places, options, {
    further: (sides) => measureFurther(scene, sides, samples, options, asked),
  });
  const questions = rowsOfQuestions(asked);
  const title = `com ${total.toLocaleString('pt-BR')} notas de ${tenants === 1 ? 'um município' : `${tenants.toLocaleString('pt-BR')} municípios`}, ao lado de um banco quase vazio`;
  const conditions = describeConditions(options, foreign);
  const names = ['cheio', 'vazio'] as const;
  const tables = [
    ...tablesOfLoads(windows, title, names),
    tableOf(questions, `Perguntas, ${title}`, names),
    tableOfSizes(sizes, total),
  ];
  printTables(tables, conditions);
  const rows = [...rowsOfLoads(windows), ...questions];
  if (saves) saveComparison(tenants === 1 ? 'cheio' : 'cheio-municipios', title, rows, tables, conditions);
}

/** Windows of each query and of a backlog, added to those of earlier starts. */
async function measureFurther(
  scene: Scene,
  sides: Pair<Side>,
  samples: Pair<readonly Sample[]>,
  { windows }: FullOptions,
  asked: Map<string, Window[]>,
): Promise<void> {
  const measure = async (title: string, count: number, work: () => Promise<unknown>): Promise<void> => {
    const before = look(sides);
    await work();
    const after = look(sides);
    const window = { own: costOf(before[0], after[0], count), other: costOf(before[1], after[1], count) };
    asked.set(title, [...(asked.get(title) ?? []), window]);
  };
  await sendBacklog(scene, sides, (work) => measure(BACKLOG_TITLE, BACKLOG, work));
  const seats = await Promise.all(sides.map((side, place) => openSeat(side, samples[place]!)));
  try {
    const askBoth = (ask: Question['ask']) => Promise.all(seats.map((seat) => askAll((place) => ask(seat, place))));
    for (const { ask } of QUESTIONS) await askBoth(ask);
    for (let window = 0; window < windows; window += 1) {
      for (const { title, ask } of QUESTIONS) await measure(title, ASKED, () => askBoth(ask));
    }
  } finally {
    for (const { end } of seats) await end();
  }
}

const BACKLOG_TITLE = 'o que esperava pelo ADN';

/** Notes issued while the environment is away; the measure covers their transmission after its return. */
async function sendBacklog(
  scene: Scene,
  sides: Pair<Side>,
  measure: (work: () => Promise<void>) => Promise<void>,
): Promise<void> {
  const setAway = (fora_do_ar: boolean): Promise<unknown> =>
    scene.simulator.ask('/faltas', { method: 'PUT', body: JSON.stringify({ fora_do_ar }) });
  const received = await countReceived(scene);
  await setAway(true);
  const sent = await Promise.all(
    sides.map(async ({ sender }) => {
      await sender.make(BACKLOG, 'comum');
      return sender.send({ kind: 'closed', count: BACKLOG, connections: AT_ONCE });
    }),
  );
  await measure(async () => {
    await setAway(false);
    await waitReceived(scene, received + sides.length * BACKLOG);
    await Promise.all(sides.map((side, place) => side.waitAuthorised(sent[place]!)));
  });
}

async function openSeat(side: Side, sample: readonly Sample[]): Promise<Seat & { end(): Promise<void> }> {
  const server = await openEmbedded({ dataDir: side.dataDir, log: QUIET });
  const pool = openPool(server.connection, () => undefined);
  let place = 0;
  return {
    side,
    store: createStore(pool),
    next: () => sample[place++ % sample.length]!,
    known: sample.slice(-KNOWN),
    end: async () => {
      await pool.end();
      await server.stop();
    },
  };
}

async function askAll(ask: (place: number) => Promise<unknown>): Promise<void> {
  let place = 0;
  const askOn = async (): Promise<void> => {
    while (place < ASKED) await ask(place++);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, askOn));
}

function rowsOfQuestions(asked: ReadonlyMap<string, readonly Window[]>): readonly ComparedRow[] {
  const named = {
    servico: 'serviço',
    banco: 'banco',
    tudo: 'serviço + banco',
    transmissor: 'fio que transmite',
  } as const;
  return [...asked].flatMap(([title, windows]) => {
    const rows = QUESTIONS.find((one) => one.title === title)?.rows ?? (['transmissor', 'banco', 'tudo'] as const);
    return rows.map((row) => ({
      title: `${title}: ${named[row as keyof typeof named]}`,
      ...compareWindows(windows, row),
    }));
  });
}

function tableOfSizes(sizes: readonly Size[], total: number): Table {
  const cells = (bytes: number): readonly string[] => [(bytes / 2 ** 20).toFixed(0), (bytes / total).toFixed(0)];
  return {
    title: 'O que pesam as linhas',
    head: ['', 'MiB', 'bytes por nota'],
    rows: [
      ...sizes.map(({ name, bytes }) => [name, ...cells(bytes)]),
      ['ao todo', ...cells(sizes.reduce((sum, { bytes }) => sum + bytes, 0))],
    ],
  };
}
