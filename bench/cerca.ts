/**
 * `npm run bench -- --cerca`: this service beside that of the reference, in the same seconds. It fails when a note costs
 * more under any load, or when the reference and the page have become old.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from '../scripts/stage.ts';
import { git, nameOfCommit } from './commit.ts';
import { benchComparison, type ComparisonOptions } from './comparar.ts';
import { LOAD_NAMES, type LoadName, titleOfLoad } from './loads.ts';
import { compareWindows, type Spread, type Window } from './ratios.ts';
import { printRows, type Row } from './tables.ts';

/** A commit, and what a note cost there as a multiple of the floor, under each load. */
export type Reference = { readonly commit: string; readonly vezesPiso: Readonly<Record<LoadName, number>> };

/** A note may cost this multiple of the reference, and the noise of the measure besides: two standard errors. */
const BOUND = 1.03;
const ERRORS = 2;
/** Commits of the service after which the page and the reference are measured anew. */
const AGE_MAX = 150;
const FILE = path.join(ROOT, 'docs/desempenho/referencia.json');

export function saveReference(reference: Reference): void {
  writeFileSync(FILE, `${JSON.stringify(reference, null, 2)}\n`);
}

/** Whether the cost of a note is within the bound. `ratio`: of its windows, this service over the reference. */
export function isWithin({ median, error }: Pick<Spread, 'median' | 'error'>): boolean {
  return median <= BOUND + ERRORS * error;
}

/** False: a load costs too much, or the reference is old. */
export async function benchFence(
  dataDir: string,
  options: Omit<ComparisonOptions, 'ref' | 'saves' | 'traced'>,
): Promise<boolean> {
  const { commit, vezesPiso } = JSON.parse(readFileSync(FILE, 'utf8')) as Reference;
  const age = Number(await git('rev-list', '--count', `${await nameOfCommit(commit)}..HEAD`, '--', 'src'));
  if (age > AGE_MAX) {
    console.error(
      `A referência (${commit}) está ${age} commits atrás, e o limite são ${AGE_MAX}: refaça-a, e a página, com --graficos.`,
    );
    return false;
  }
  const windows = await benchComparison(dataDir, { ...options, ref: commit, saves: false, traced: undefined });
  const judged = LOAD_NAMES.map((load) => ({ load, ...judgeLoad(windows[load]) }));
  console.log(`\nA cerca: até ${BOUND} da referência, mais ${ERRORS} erros padrão`);
  printRows(
    judged.map(({ load, ratio: { median, error }, isFine }): Row => {
      const noise = `${median.toFixed(3)}, e até ${(BOUND + ERRORS * error).toFixed(3)}`;
      return [
        titleOfLoad(load),
        `${noise}: ${isFine ? 'dentro' : 'FORA'} (a referência é ${vezesPiso[load]} vezes o piso)`,
      ];
    }),
  );
  return judged.every(({ isFine }) => isFine);
}

function judgeLoad(windows: readonly Window[]) {
  const { ratio } = compareWindows(windows, 'tudo');
  return { ratio, isFine: isWithin(ratio) };
}
