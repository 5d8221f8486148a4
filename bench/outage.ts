/**
 * `npm run bench -- --fora N`: the environment is away while N notes are issued. The measure shows the loss of the
 * issuing rate, and the speed at which the backlog drains.
 */
import { WARMUP_NOTES } from './comparar.ts';
import type { MeasureOptions } from './medir.ts';
import { onService, runLoads, waitReceived } from './scene.ts';
import { printRows } from './tables.ts';

/** Notes that measure the issuing rate while the environment is reachable. */
const PEAK_NOTES = 10_000;

export async function benchOutage(dataDir: string, options: MeasureOptions, notes: number): Promise<void> {
  const { path: sent, connections, rate, burst } = options;
  if (sent.isSandbox) throw new Error('--fora é da produção: no ambiente de integração nada é transmitido.');
  await onService(dataDir, options, async ({ scene, side, load }) => {
    await runLoads(scene, [{ ...load, command: { kind: 'open', count: WARMUP_NOTES, rate, burst } }]);
    const before = Math.min(notes, PEAK_NOTES);
    const command = { kind: 'closed', count: before, connections } as const;
    const [up] = await runLoads(scene, [{ ...load, command }]);
    const setAway = (fora_do_ar: boolean): Promise<unknown> =>
      scene.simulator.ask('/faltas', { method: 'PUT', body: JSON.stringify({ fora_do_ar }) });
    await setAway(true);
    await side.sender.make(notes, sent.documento);
    const down = await side.sender.send({ ...command, count: notes });
    const returned = performance.now();
    await setAway(false);
    await waitReceived(scene, WARMUP_NOTES + before + notes);
    await side.waitAuthorised(down);
    const drained = (performance.now() - returned) / 1000;
    const rateOf = ({ notes: answered, seconds }: { notes: number; seconds: number }) => answered / seconds;
    printRows([
      ['notas por segundo com o ADN no ar', rateOf(up!).toFixed(0)],
      ['notas por segundo com o ADN fora', rateOf(down).toFixed(0)],
      ['fora / no ar', (rateOf(down) / rateOf(up!)).toFixed(2)],
      [
        `as ${notes} autorizadas após a volta do ADN`,
        `${drained.toFixed(1)} s, ${(notes / drained).toFixed(0)} por segundo`,
      ],
      ['escoadas / emitidas com o ADN no ar', (notes / drained / rateOf(up!)).toFixed(2)],
    ]);
  });
}
