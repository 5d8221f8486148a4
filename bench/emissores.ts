/** `npm run bench -- --emissores N`: N municipalities that issue, beside the largest one alone, in the same seconds. */
import { comparePlaces, OWN, type Pair, placesOf, tablesOfLoads, type WindowOptions } from './comparar.ts';
import type { Issuers } from './issuers.ts';
import { describeConditions, printTables, writeTables } from './report.ts';
import { openScene, type Path, preparePlace } from './scene.ts';

export type IssuersOptions = WindowOptions & {
  readonly path: Path;
  readonly issuers: Issuers;
  readonly saves: boolean;
};

export async function benchIssuers(dataDir: string, options: IssuersOptions): Promise<void> {
  const { issuers, providers, path, saves } = options;
  if (path.isSandbox) throw new Error('--emissores é da produção: a integração é um município só.');
  const scene = await openScene(dataDir, 2 * providers);
  try {
    const [one, other] = placesOf(dataDir, scene, [OWN, OWN], providers);
    const places: Pair<typeof one> = [{ ...one, issuers }, other];
    for (const place of places) await preparePlace(place, scene);
    const { windows, foreign } = await comparePlaces(scene, places, options);
    const beside = `${issuers.count.toLocaleString('pt-BR')} municípios ao lado de um só`;
    const tables = tablesOfLoads(windows, beside, ['muitos', 'um']);
    const conditions = describeConditions(options, foreign);
    printTables(tables, conditions);
    if (saves) writeTables(`emissores-${issuers.count}`, tables, conditions);
  } finally {
    await scene.end();
  }
}
