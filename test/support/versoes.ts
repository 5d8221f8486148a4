/** Other versions of the program than the one that is tested, each in a folder of its own that runs as the program does. */
import { execFile, spawn } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { onEnd } from './cleanup.ts';
import { ROOT } from './process.ts';

const run = promisify(execFile);

/** What the next version brings: a step of each kind, on the tables that are full. */
export const NEXT = `
alter table notas add column proxima text not null default 'a', add column proxima_id bigint;

-- passo
-- lotes: notas id
update notas set proxima_id = id where tenant = $1 and id > $2 and id <= $3;

-- passo
alter table notas add constraint notas_proxima check (proxima <> '') not valid;

-- passo
alter table notas validate constraint notas_proxima;

-- passo
create unique index concurrently notas_proxima on notas (tenant, proxima, id);

-- passo
create index concurrently trilha_notas_proxima on trilha_notas (tenant, em);

-- passo
alter table documentos add column proxima text;
alter table documentos alter column proxima set storage external;

-- passo
create table proximas (tenant text not null, id bigint not null, primary key (tenant, id));
create index proximas_id on proximas (tenant, id);

-- passo
drop index concurrently if exists notas_retidas;

-- passo
create index concurrently notas_retidas on notas (tenant, tabela_aliquotas, id) where estado = 'retida';
`;

/** The program of today with one migration more. */
export async function nextVersion(): Promise<string> {
  const root = await folder();
  await cp(path.join(ROOT, 'src'), path.join(root, 'src'), { recursive: true });
  for (const name of ['node_modules', 'packages', 'docs', 'package.json']) {
    await symlink(path.join(ROOT, name), path.join(root, name));
  }
  await writeFile(path.join(root, 'src/store/migrations/999-proxima.sql'), NEXT);
  return root;
}

/** The program of a commit with the libraries of today; undefined where its history is not at hand, as in a clone of one commit. */
export async function versionOf(commit: string): Promise<string | undefined> {
  const isHere = await run('git', ['cat-file', '-e', `${commit}^{commit}`], { cwd: ROOT }).then(
    () => true,
    () => false,
  );
  if (!isHere) return undefined;
  const root = await folder();
  const archive = path.join(root, 'programa.tar');
  await run('git', ['archive', '-o', archive, commit], { cwd: ROOT });
  await run('tar', ['-xf', archive, '-C', root]);
  await symlink(path.join(ROOT, 'node_modules'), path.join(root, 'node_modules'));
  return root;
}

async function folder(): Promise<string> {
  const root = await mkdtemp(path.join(tmpdir(), 'nfse-versao-'));
  await mkdir(root, { recursive: true });
  onEnd(() => rm(root, { recursive: true, force: true }));
  return root;
}

export type Migrated = { readonly code: number | NodeJS.Signals | null; readonly told: readonly string[] };

/** `nfse migrar` of a version, to its end, or until a line that it tells makes `isEnough` say that it is killed. */
export function migrarOf(
  root: string,
  env: NodeJS.ProcessEnv,
  isEnough: (line: string) => boolean = () => false,
): Promise<Migrated> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [path.join(root, 'src/main.ts'), 'migrar'], {
      cwd: root,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const told: string[] = [];
    let rest = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop()!;
      told.push(...lines);
      if (lines.some(isEnough)) child.kill('SIGKILL');
    });
    child.once('error', reject);
    child.once('close', (code, by) => resolve({ code: code ?? by, told }));
  });
}
