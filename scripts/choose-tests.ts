/** Which test files run: a circle, or what belongs to a place of the tree. The name of a file tells its circle. */
import { existsSync, globSync } from 'node:fs';
import path from 'node:path';

const ROOT = path.resolve(import.meta.dirname, '..');
const TESTS = ['test/**/*.test.ts', 'src/**/*.test.ts', 'packages/*/{src,test}/**/*.test.ts'];
const OF_MACHINE = '.maquina.test.ts';

export type Circle = 'first' | 'machine' | 'both';

/** Test files, as paths from the root, that run: sorted, each once. */
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

/** Whether a test file needs a process of its own. Other files share processes that have already loaded the service. */
export function hasOwnProcess(file: string): boolean {
  return file.endsWith(OF_MACHINE);
}

/**
 * Whether a test file belongs to a folder or to a file of the source: it stands in it or beside it, or its name begins with the name of the
 * folder or of a file in it, as `test/painel-jornadas.test.ts` belongs to `src/doors/painel`.
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
