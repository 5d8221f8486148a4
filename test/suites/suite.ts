/**
 * Public third-party test suites against our verdicts. A suite is never part of this repository: NFSE_SUITES names a folder that contains
 * it, as its makers publish it. The test is skipped with a message if the variable is absent.
 *
 * Every case with a different verdict needs an explanation, and every explanation a case. The counts are in `docs/suites.md`:
 * NFSE_GRAVAR_SUITES=1 writes them there.
 */
import assert from 'node:assert/strict';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

const SUITES = process.env['NFSE_SUITES'] ?? '';
const PAGE = path.join(import.meta.dirname, '../../docs/suites.md');

export type Caso = {
  readonly nome: string;
  /** The verdict of the suite; `livre`: the suite leaves it open. */
  readonly deles: 'aceita' | 'recusa' | 'livre';
  readonly nosso: 'aceita' | 'recusa';
  /** Our reason for refusing it. */
  readonly motivo?: string;
};

/** The reason for a different verdict on a group of cases. It is in Portuguese, as a row of the page. */
export type Explicacao = {
  readonly porque: string;
  /** A pattern for the name of a case and our reason, joined by a space. */
  readonly casos: RegExp;
};

export type Suite = {
  /** The heading of its section of the page. */
  readonly nome: string;
  /** The end of a path that marks the folder of the suite, which is the part before it. */
  readonly marca: string;
  /** The minimum number of cases; fewer mean that they were not found. */
  readonly casosMin: number;
  /** Refused here and accepted there. */
  readonly estritos: readonly Explicacao[];
  /** Accepted here and refused there, without harm. */
  readonly frouxos: readonly Explicacao[];
  /** Cases of another subject, which are left out: the reasons, and their numbers. */
  readonly fora?: (folder: string) => Readonly<Record<string, number>>;
  run(folder: string): readonly Caso[] | Promise<readonly Caso[]>;
};

/** Declares the test of a suite. */
export function trySuite(suite: Suite): void {
  const { nome, marca } = suite;
  const skip = SUITES === '' && 'NFSE_SUITES não diz em que pasta estão as suítes públicas (docs/suites.md)';
  test(`suite: ${nome}`, { skip }, async (context) => {
    const [found] = globSync(`**/${marca}`, { cwd: SUITES });
    if (found === undefined) return context.skip(`não há ${marca} abaixo de ${SUITES} (docs/suites.md)`);
    const folder = path.join(SUITES, found.slice(0, -marca.length));
    const casos = await suite.run(folder);
    assert.ok(casos.length >= suite.casosMin, `${casos.length} cases`);
    tell(nome, rowsOf(suite, casos, suite.fora?.(folder) ?? {}));
  });
}

type Row = readonly [what: string, count: number, why: string];

function rowsOf(suite: Suite, casos: readonly Caso[], fora: Readonly<Record<string, number>>): readonly Row[] {
  const differing = (nosso: Caso['nosso']): readonly Caso[] =>
    casos.filter((one) => one.deles !== 'livre' && one.deles !== one.nosso && one.nosso === nosso);
  const [strict, lax] = [differing('recusa'), differing('aceita')];
  const open = casos.filter(({ deles }) => deles === 'livre');
  const taken = open.filter(({ nosso }) => nosso === 'aceita').length;
  return [
    ['concordam', casos.length - strict.length - lax.length - open.length, ''],
    ...explained('mais estrito aqui', strict, suite.estritos),
    ...explained('mais frouxo aqui', lax, suite.frouxos),
    ...(open.length === 0 ? [] : [['a suíte deixa em aberto', open.length, `aceitos aqui: ${taken}`] as const]),
    ...Object.entries(fora).map(([why, count]): Row => ['não se pergunta', count, why]),
  ];
}

function explained(what: string, casos: readonly Caso[], explanations: readonly Explicacao[]): readonly Row[] {
  const text = ({ nome, motivo = '' }: Caso): string => `${nome} ${motivo}`;
  const groups = Map.groupBy(casos, (one) => explanations.find((each) => each.casos.test(text(one))));
  const unexplained = groups.get(undefined) ?? [];
  assert.equal(unexplained.length, 0, `${what}, and nobody says why:\n${unexplained.map(text).join('\n')}`);
  return explanations.map((one): Row => {
    const count = groups.get(one)?.length ?? 0;
    assert.ok(count > 0, `${what}: no case is explained by "${one.porque}"`);
    return [what, count, one.porque];
  });
}

/** Compares the counts with the section of the page, or writes them there. */
function tell(nome: string, rows: readonly Row[]): void {
  const lines = rows.map(([what, count, why]) => `| ${what} | ${count} | ${why} |`);
  const table = ['| Veredito | Casos | Porquê |', '| --- | ---: | --- |', ...lines].join('\n');
  const page = readFileSync(PAGE, 'utf8');
  const [begin, end] = [`<!-- suíte: ${nome} -->`, '<!-- fim -->'];
  const from = page.indexOf(begin);
  const to = page.indexOf(end, from);
  assert.ok(from >= 0 && to > from, `docs/suites.md has no place for ${nome}: ${begin} … ${end}`);
  const written = `${page.slice(0, from + begin.length)}\n\n${table}\n\n${page.slice(to)}`;
  if (process.env['NFSE_GRAVAR_SUITES'] === '1') writeFileSync(PAGE, written);
  else assert.equal(page, written, 'docs/suites.md tells other figures; NFSE_GRAVAR_SUITES=1 writes these');
}
