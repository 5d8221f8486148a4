/** Chooses the test files of a run: those of a circle, or of a folder. The ending of a file's name tells its circle. */
import { existsSync, globSync } from 'node:fs';
import path from 'node:path';

const ROOT = path.resolve(import.meta.dirname, '..');
const TESTS = ['test/**/*.test.ts', 'src/**/*.test.ts', 'packages/*/{src,test}/**/*.test.ts'];
const OF_MACHINE = '.maquina.test.ts';

export type Circle = 'first' | 'machine' | 'both';

/** The chosen test files, as sorted paths from the root, each once. */
export function chooseFiles({
  places,
  circle,
}: {
  readonly places: readonly string[];
  readonly circle: Circle;
}): readonly string[] {
  const all = globSync(TESTS, { cwd: ROOT, exclude: (name) => name.endsWith('node_modules') }).sort();
  const ofCircle = all.filter((file) => circle === 'both' || file.endsWith(OF_MACHINE) === (circle === 'machine'));
  if (places.length === 0) return ofCircle;
  const chosen = places.flatMap((place) => {
    const from = path.relative(ROOT, path.resolve(place));
    const files = all.includes(from) ? [from] : ofCircle.filter(belongsTo(from));
    if (files.length === 0) throw new Error(`${place}: nenhum teste é daí. Diga uma pasta ou um arquivo do projeto.`);
    return files;
  });
  return [...new Set(chosen)].sort();
}

/** True when a test file needs a separate process. Other files share processes that have already loaded the service. */
export function hasOwnProcess(file: string): boolean {
  return file.endsWith(OF_MACHINE);
}

/**
 * True when a test file belongs to a folder or to a source file. The file stands in the folder, or beside the source.
 * Its name may also begin with the name of the folder or of a file in it: `test/painel-jornadas.test.ts` belongs to
 * `src/doors/painel`.
 */
function belongsTo(place: string): (file: string) => boolean {
  if (!existsSync(path.join(ROOT, place))) return () => false;
  const isFile = place.endsWith('.ts');
  const names = new Set(
    (isFile ? [place] : [place, ...globSync('*.ts', { cwd: path.join(ROOT, place) })]).map(
      (name) => path.basename(name).split('.')[0]!,
    ),
  );
  return (file) => {
    const words = path.basename(file).split('.')[0]!.split('-');
    const isNamed = words.some((_, index) => names.has(words.slice(0, index + 1).join('-')));
    if (isFile) return path.dirname(file) === path.dirname(place) ? isNamed : isNamed && file.startsWith('test/');
    return file.startsWith(`${place}/`) || (isNamed && file.startsWith('test/'));
  };
}
