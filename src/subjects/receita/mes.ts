/** The ISSQN of a month: of a competence, or of the month of issue; against the twelve months before. All figures are sums of notes. */
import { municipalMoment } from '../../base/world/gather-facts.ts';
import { municipioNamed } from '../../base/world/municipios.ts';
import type { World } from '../../base/world/world.ts';
import { writeCsv } from '../../documents/write-csv.ts';
import { servicoOf } from '../../fiscal/catalogs/catalogs.ts';
import { type ClasseIssqn, REGIMES, SITUACOES_ISSQN, type SituacaoIssqn } from '../../fiscal/classe-issqn.ts';
import { add, type Decimal, formatDecimal, ZERO } from '../../fiscal/decimal.ts';
import { brazilianDate, brazilianMes, daysIn, isoMes } from '../../fiscal/moment.ts';
import { POR, type Por, type SomaDoMes, VALORES, type Valores, type Visao } from './somas.rows.ts';

export { type Por, VISOES } from './somas.rows.ts';

export type MesWorld = Pick<World, 'store' | 'now'>;

/** `mes`: 202611. */
export type MesPedido = { readonly visao: Visao; readonly mes: number };

/** Sums of some notes. */
type Somada = Valores & { readonly notas: number };

/** The notes of one class of the ISSQN. */
type SomaDaClasse = Somada & { readonly classe: SituacaoIssqn };

/** The notes of one key that stand. `apurado`, `retido`: their ISSQN due here; `canceladas`: notes that were cancelled since. */
export type SomaDaChave = Somada & {
  readonly chave: string;
  readonly nome: string;
  readonly apurado: Decimal;
  readonly retido: Decimal;
  readonly canceladas: number;
};

export type ResumoDoMes = {
  /** The notes that stand, and each class that has notes, in the order of the classes; cancelled notes last. */
  readonly total: SomaDaChave;
  readonly classes: readonly SomaDaClasse[];
  /** This month and the twelve before it, the oldest first. `chave`: the month. */
  readonly meses: readonly SomaDaChave[];
  /** ISSQN due here: the average of the months before that come after the first one with notes; undefined: there is none. */
  readonly media: Decimal | undefined;
  /** The days of issue, in their order. `chave`: `20261130`. */
  readonly dias: readonly SomaDaChave[];
  readonly tabelas: Readonly<Record<Exclude<Por, 'dia'>, readonly SomaDaChave[]>>;
  /** Local time of the municipality until which notes are in the sums. */
  readonly contadoAte: { readonly date: string; readonly time: string };
  /** This month, or one that lends notes to it, is still to be counted from its notes. */
  readonly isPartial: boolean;
  /** Notes of some month were issued since, and are not in the sums yet. */
  readonly isBehind: boolean;
};

/** Providers and takers of a page. */
export const MAIORES = 50;
const BEFORE = 12;
const SMALL = ['dia', 'servico', 'regime', 'aliquota'] as const satisfies readonly Por[];
const LARGE = ['prestador', 'tomador'] as const satisfies readonly Por[];

/** Reads `11/2026` or `2026-11`; undefined: it is no month. */
export function readMes(text: string): number | undefined {
  const [, year, month] = /^(\d{4})-(\d{2})$/.exec(isoMes(text)) ?? [];
  return daysIn(Number(year), Number(month)) === undefined || Number(year) < 2000
    ? undefined
    : Number(`${year}${month}`);
}

/** `2026-11`. */
export function writeMes(mes: number): string {
  return `${String(mes).slice(0, 4)}-${String(mes).slice(4)}`;
}

/** The month so many months later, or earlier if negative. */
export function shiftMes(mes: number, months: number): number {
  const counted = Math.floor(mes / 100) * 12 + (mes % 100) - 1 + months;
  return Math.floor(counted / 12) * 100 + (counted % 12) + 1;
}

/** The current month of a municipality. Throws an Error in Portuguese when there is no such municipality. */
export async function currentMes(world: MesWorld, slug: string): Promise<number> {
  const { codigoIbge } = await municipioNamed(world, slug);
  const { date } = municipalMoment(codigoIbge, world.now());
  return Number(date.slice(0, 4) + date.slice(5, 7));
}

/** The month of a municipality. Throws an Error in Portuguese when there is no such municipality. */
export async function summariseMes(world: MesWorld, slug: string, { visao, mes }: MesPedido): Promise<ResumoDoMes> {
  const { codigoIbge } = await municipioNamed(world, slug);
  const { somas } = world.store;
  const primeiro = shiftMes(mes, -BEFORE);
  const [contagem, small, history, ...large] = await Promise.all([
    somas.readContagem(slug),
    somas.list(slug, SMALL, { visao, primeiro: mes, ultimo: mes }),
    somas.list(slug, ['regime'], { visao, primeiro, ultimo: mes }),
    ...LARGE.map((por) => somas.listHighest(slug, por, { visao, mes, max: MAIORES })),
  ]);
  const names = await Promise.all(
    LARGE.map((por, place) => nameParties(world, slug, por, { visao, mes }, large[place]!)),
  );
  const tabelas = Object.fromEntries([
    ...SMALL.map((por) => [por, tabelaOf(por, small)] as const),
    ...LARGE.map((por, place) => [por, tabelaOf(por, large[place]!, names[place])] as const),
  ]) as Record<Por, readonly SomaDaChave[]>;
  const ofRegime = small.filter(({ por }) => por === 'regime');
  const meses = Array.from({ length: BEFORE + 1 }, (_, place) => {
    const periodo = shiftMes(primeiro, place);
    return pivot(
      String(periodo),
      brazilianMes(periodo),
      history.filter((soma) => soma.periodo === periodo),
    );
  });
  const { contadaAte = world.now(), porContar } = contagem;
  return {
    total: pivot('', 'Todas', ofRegime),
    classes: classesOf(ofRegime),
    meses,
    media: averageOf(meses.slice(0, -1)),
    dias: fillDays(mes, tabelas.dia),
    tabelas,
    contadoAte: municipalMoment(codigoIbge, contadaAte),
    isBehind: contagem.contadaAte !== undefined,
    isPartial: porContar.some((one) => (visao === 'emissao' ? one === mes : one >= mes)),
  };
}

/** Names that one statement looks up. */
const NAMES_MAX = 2_000;

/** Names of the parties of some sums of a month, by their documents. */
async function nameParties(
  { store }: MesWorld,
  slug: string,
  por: (typeof LARGE)[number],
  pedido: MesPedido,
  somas: readonly SomaDoMes[],
): Promise<ReadonlyMap<string, string>> {
  const all = [...new Set(somas.map(({ chave }) => chave))];
  const names = new Map<string, string>();
  for (let first = 0; first < all.length; first += NAMES_MAX) {
    const chaves = all.slice(first, first + NAMES_MAX);
    for (const [chave, nome] of await store.somas.listNames(slug, por, { ...pedido, chaves })) names.set(chave, nome);
  }
  return names;
}

const NOTHING: Somada = { notas: 0, ...(Object.fromEntries(VALORES.map((name) => [name, ZERO])) as Valores) };

function join<One extends Somada>(one: One, other: Somada): One {
  const valores = Object.fromEntries(VALORES.map((name) => [name, add(one[name], other[name])]));
  return { ...one, notas: one.notas + other.notas, ...valores };
}

function classesOf(somas: readonly SomaDoMes[]): readonly SomaDaClasse[] {
  const byClass = Map.groupBy(somas, ({ classe }) => classe);
  return (Object.keys(SITUACOES_ISSQN) as SituacaoIssqn[]).flatMap((classe) => {
    const own = byClass.get(classe);
    return own === undefined ? [] : [own.reduce<SomaDaClasse>(join, { classe, ...NOTHING })];
  });
}

const RETIDO: ReadonlySet<string> = new Set<ClasseIssqn>(['retido', 'retido_interm']);
const APURADO: ReadonlySet<string> = new Set<ClasseIssqn>(['apurado']);
const CANCELADA: ReadonlySet<string> = new Set<SituacaoIssqn>(['cancelada']);

function pivot(chave: string, nome: string, somas: readonly SomaDoMes[]): SomaDaChave {
  const sumOf = (classes: ReadonlySet<string>): Somada =>
    somas.filter(({ classe }) => classes.has(classe)).reduce<Somada>(join, NOTHING);
  const standing = somas.filter(({ classe }) => !CANCELADA.has(classe)).reduce<Somada>(join, NOTHING);
  const { notas: canceladas } = sumOf(CANCELADA);
  return { ...standing, chave, nome, apurado: sumOf(APURADO).issqn, retido: sumOf(RETIDO).issqn, canceladas };
}

/** The ISSQN due here of some notes. */
export function owedOf({ apurado, retido }: Pick<SomaDaChave, 'apurado' | 'retido'>): Decimal {
  return add(apurado, retido);
}

/** The average, down to the cent; months before the first one with notes do not count. */
function averageOf(meses: readonly SomaDaChave[]): Decimal | undefined {
  const first = meses.findIndex(({ notas }) => notas > 0);
  if (first === -1) return undefined;
  const counted = meses.slice(first);
  return (counted.reduce<Decimal>((sum, one) => add(sum, owedOf(one)), ZERO) / BigInt(counted.length)) as Decimal;
}

function tabelaOf(por: Por, somas: readonly SomaDoMes[], names?: ReadonlyMap<string, string>): readonly SomaDaChave[] {
  const byKey = Map.groupBy(
    somas.filter((soma) => soma.por === por),
    ({ chave }) => chave,
  );
  const rows = [...byKey].map(([chave, own]) => pivot(chave, names?.get(chave) ?? nameKey(por, chave), own));
  return rows.toSorted(por === 'dia' ? byChave : byIssqn);
}

const byChave = (one: SomaDaChave, other: SomaDaChave): number => (one.chave < other.chave ? -1 : 1);
const descending = (one: bigint, other: bigint): number => (one === other ? 0 : one > other ? -1 : 1);
const byIssqn = (one: SomaDaChave, other: SomaDaChave): number =>
  descending(owedOf(one), owedOf(other)) || descending(one.servicos, other.servicos) || byChave(one, other);

/** The name of a key; of a party it is its document. */
function nameKey(por: Por, chave: string): string {
  if (chave === '') return por === 'aliquota' ? 'Sem alíquota na nota' : 'Não informado';
  switch (por) {
    case 'dia':
      return brazilianDate(dayOf(chave));
    case 'regime':
      return REGIMES[chave] ?? SITUACOES_ISSQN.sem_classe;
    case 'servico':
      return servicoOf(chave)?.descricao ?? chave;
    case 'aliquota':
      return `${chave.replace('.', ',')} %`;
    default:
      return chave;
  }
}

/** `2026-11-30` of a key by days. */
export function dayOf(chave: string): string {
  return `${chave.slice(0, 4)}-${chave.slice(4, 6)}-${chave.slice(6)}`;
}

/** The days of a month, and those outside it that have notes. */
function fillDays(mes: number, dias: readonly SomaDaChave[]): readonly SomaDaChave[] {
  const known = new Map(dias.map((dia) => [dia.chave, dia]));
  const count = daysIn(Math.floor(mes / 100), mes % 100) ?? 0;
  for (let day = 1; day <= count; day += 1) {
    const chave = `${mes}${String(day).padStart(2, '0')}`;
    if (!known.has(chave)) known.set(chave, pivot(chave, nameKey('dia', chave), []));
  }
  return [...known.values()].toSorted(byChave);
}

/** Tables of a month that can be exported. */
export const PLANILHAS = ['classe', 'meses', ...POR] as const;
export type Planilha = (typeof PLANILHAS)[number];

type Colunas = Readonly<Record<string, (row: SomaDaChave) => string>>;

/** Columns of a key by their headings. A party is written as in the tables of notes, so that the two are joined. */
const CHAVES: Readonly<Record<Exclude<Planilha, 'classe'>, Colunas>> = {
  meses: { Mês: ({ nome }) => nome },
  dia: { Dia: ({ nome }) => nome },
  servico: { 'Código do serviço': ({ chave }) => chave, Serviço: ({ nome }) => nome },
  regime: { Regime: ({ nome }) => nome },
  aliquota: { 'Alíquota (%)': ({ chave, nome }) => chave || nome },
  prestador: { 'CNPJ ou CPF': ({ chave }) => chave, Prestador: ({ nome }) => nome },
  tomador: { 'CNPJ ou CPF': ({ chave }) => chave, Tomador: ({ nome }) => nome },
};

const TITULOS = {
  apurado: 'ISSQN apurado (R$)',
  retido: 'ISSQN retido (R$)',
  servicos: 'Serviços (R$)',
  base: 'Base (R$)',
  issqn: 'ISSQN (R$)',
  ibs: 'IBS (R$)',
  cbs: 'CBS (R$)',
} as const;
const NUMEROS: ReadonlySet<string> = new Set([...Object.values(TITULOS), 'Notas', 'Canceladas', 'Alíquota (%)']);

/** A table of a month as CSV, with all of its rows. Throws an Error in Portuguese when there is no such municipality. */
export async function exportPlanilha(
  world: MesWorld,
  slug: string,
  { visao, mes }: MesPedido,
  planilha: Planilha,
): Promise<AsyncIterable<string>> {
  const titlesOf = (names: readonly (keyof typeof TITULOS)[]): readonly string[] => names.map((name) => TITULOS[name]);
  if (planilha === 'classe') {
    const { classes } = await summariseMes(world, slug, { visao, mes });
    const rows = classes.map((one) => [SITUACOES_ISSQN[one.classe], ...cellsOf(one, VALORES), String(one.notas)]);
    return writeCsv(['Situação', ...titlesOf(VALORES), 'Notas'], rows, NUMEROS);
  }
  const columns = ['apurado', 'retido', ...VALORES] as const;
  const chaves = Object.entries(CHAVES[planilha]);
  const head = [...chaves.map(([titulo]) => titulo), ...titlesOf(columns), 'Notas', 'Canceladas'];
  const list = async (): Promise<readonly SomaDaChave[]> => {
    if (planilha === 'meses') return (await summariseMes(world, slug, { visao, mes })).meses;
    await municipioNamed(world, slug);
    const somas = await world.store.somas.list(slug, [planilha], { visao, primeiro: mes, ultimo: mes });
    const party = LARGE.find((por) => por === planilha);
    return tabelaOf(planilha, somas, party && (await nameParties(world, slug, party, { visao, mes }, somas)));
  };
  const rows = (await list()).map((one) => [
    ...chaves.map(([, write]) => write(one)),
    ...cellsOf(one, columns),
    String(one.notas),
    String(one.canceladas),
  ]);
  return writeCsv(head, rows, NUMEROS);
}

function cellsOf<Name extends string>(row: Readonly<Record<Name, Decimal>>, names: readonly Name[]): readonly string[] {
  return names.map((name) => formatDecimal(row[name]));
}
