/**
 * `npm run bench -- --partes`: today's service beside itself without one wing, in the same seconds. The difference is the
 * bill of the wing: microseconds of each note, and its share. Work that comes by minutes is in it as far as a window has it.
 */
import path from 'node:path';
import { comparePlaces, OWN, placesOf, type WindowOptions } from './comparar.ts';
import { LOAD_NAMES, titleOfLoad } from './loads.ts';
import { type RowName, spreadOf, type Window } from './ratios.ts';
import { describeConditions, printTables, type Table, writeTables } from './report.ts';
import { openScene, type Path, preparePlace } from './scene.ts';
import { useClient, useServer } from './servidor.ts';
import type { Row } from './tables.ts';
import { WING_NAMES, WINGS, WITHOUT, type WingName } from './wings.ts';

export type WingsOptions = WindowOptions & {
  readonly path: Path;
  readonly saves: boolean;
  /** Only wings with this text in their name; undefined: all. */
  readonly only: string | undefined;
};

const PRELOAD = path.join(import.meta.dirname, 'wings.ts');

export async function benchWings(dataDir: string, options: WingsOptions): Promise<void> {
  const { only = '', saves } = options;
  const rows: Row[] = [];
  let conditions: readonly string[] = [];
  for (const wing of WING_NAMES.filter((name) => name.includes(only))) {
    const { windows, foreign } = await measureWithout(path.join(dataDir, wing), wing, options);
    for (const load of LOAD_NAMES) rows.push([`${WINGS[wing].title}, ${titleOfLoad(load)}`, ...cellsOf(windows[load])]);
    conditions = describeConditions(options, foreign);
    console.error(`medida: ${WINGS[wing].title}`);
  }
  const head = ['', 'serviço, µs', 'banco, µs', 'ao todo, µs', 'da nota, %', 'erro, %'];
  const tables: Table[] = [{ title: 'O que cada parte toma de cada nota', head, rows }];
  printTables(tables, conditions);
  if (saves) writeTables('partes', tables, conditions);
}

async function measureWithout(dataDir: string, wing: WingName, options: WingsOptions) {
  const { providers } = options;
  const scene = await openScene(dataDir, 2 * providers);
  try {
    const places = placesOf(dataDir, scene, [OWN, OWN], providers);
    for (const place of places) await preparePlace(place, scene);
    const one = WINGS[wing];
    if ('sql' in one) {
      await useServer(places[1], (connection) => useClient(connection, (client) => client.query(one.sql)));
    }
    const without = { NODE_OPTIONS: `--import=${PRELOAD}`, [WITHOUT]: wing };
    return await comparePlaces(scene, places, options, { envs: [{}, without] });
  } finally {
    await scene.end();
  }
}

/** Medians of the differences within the windows, and the share of the whole note with its standard error. */
function cellsOf(windows: readonly Window[]): Row {
  const less = (row: RowName): string =>
    spreadOf(windows.map(({ own, other }) => own[row] - other[row])).median.toFixed(0);
  const { median, error } = spreadOf(windows.map(({ own, other }) => 100 * (1 - other.tudo / own.tudo)));
  return [less('servico'), less('banco'), less('tudo'), median.toFixed(1), `± ${error.toFixed(1)}`];
}
