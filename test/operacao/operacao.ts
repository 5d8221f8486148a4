/**
 * A municipality's life on a clean Debian, by the commands of the pages and the real programs. It is installed from the archive without a
 * network, opened, put behind nginx with mutual TLS, and watched by Prometheus. Then it is backed up, destroyed, restored, updated to a
 * version with a migration, and taken back. The script prints the minutes of each step. It needs root, debootstrap, systemd-container and
 * util-linux.
 *
 *     npm run test:operacao
 */
import { mkdtemp, rm } from 'node:fs/promises';
import path from 'node:path';
import { makeArchives } from './arquivos.ts';
import { GO_BACK, UPDATE } from './atualizar.ts';
import { issueNotes } from './emitir.ts';
import { COPY, DESTROY, RESTORE } from './guardar.ts';
import { INSTALL, OPEN } from './instalar.ts';
import { bootMachine, type Machine, makeDebian } from './maquina.ts';
import { PROXY } from './proxy.ts';
import type { Life, Step } from './vida.ts';
import { WATCH } from './vigiar.ts';

const NOTES = 10;
const ISSUE: Step = { name: `${NOTES} notas assinadas, emitidas`, run: (life) => issueNotes(life, NOTES) };
const STEPS: readonly Step[] = [INSTALL, OPEN, PROXY, ISSUE, WATCH, COPY, DESTROY, RESTORE, UPDATE, GO_BACK];

const rows: { readonly name: string; readonly said: string }[] = [];

async function timed<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
  process.stderr.write(`${name}…\n`);
  const began = performance.now();
  try {
    const result = await work();
    rows.push({ name, said: minutesText(performance.now() - began) });
    return result;
  } catch (error) {
    rows.push({ name, said: `FALHOU depois de ${minutesText(performance.now() - began)}` });
    throw error;
  }
}

function minutesText(ms: number): string {
  const seconds = Math.round(ms / 1_000);
  return `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, '0')} s`;
}

async function live(folder: string): Promise<void> {
  const root = path.join(folder, 'maquina');
  let machine: Machine | undefined;
  try {
    const archives = await timed('(fazer os dois arquivos)', () => makeArchives(folder));
    machine = await timed('(um Debian limpo, sem rede)', async () => {
      await makeDebian(root);
      return bootMachine(root);
    });
    const life: Life = { machine, archives, notes: [] };
    for (const step of STEPS) {
      const missing = await step.needs?.(life);
      if (missing !== undefined) rows.push({ name: step.name, said: `não há ${missing}` });
      else await timed(step.name, () => step.run(life));
    }
    process.stdout.write(`\n${life.notes.length} notas emitidas, e nenhuma perdida.\n`);
  } catch (error) {
    const log = await machine?.try('journalctl -q --no-pager -n 40 -u nfse').catch(() => undefined);
    process.stderr.write(`\n${error instanceof Error ? error.message : error}\n\n${log?.out ?? ''}\n`);
    process.exitCode = 1;
  } finally {
    await machine?.end();
  }
}

if (process.getuid?.() !== 0) throw new Error('Pede root: monta um Debian e o põe a rodar.');
const folder = await mkdtemp('/var/tmp/nfse-operacao-');
const began = performance.now();
try {
  await live(folder);
} finally {
  await rm(folder, { recursive: true, force: true });
}
const width = Math.max(...rows.map(({ name }) => name.length));
for (const { name, said } of [...rows, { name: 'Ao todo', said: minutesText(performance.now() - began) }])
  process.stdout.write(`${name.padEnd(width)}  ${said}\n`);
