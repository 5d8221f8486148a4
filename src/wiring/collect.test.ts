import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { gauges, type Snapshot, samplesIn } from '../base/measures/counters.ts';
import { Collector } from './collect.ts';

/** The snapshot of a process of this name that has counted so many requests, with one gauge. */
function snapshotOf(processo: string, requests: number): Snapshot {
  const labels = { porta: 'publica', metodo: 'GET', rota: '/x', status: '200' };
  const counted = { name: 'nfse_requisicoes_total', help: 'x', type: 'counter', values: [{ value: requests, labels }] };
  const seen = gauges([{ name: 'nfse_memoria_residente_bytes', labels: { processo }, value: requests }]);
  return [{ ...counted, aggregator: 'sum' } as Snapshot[number], ...seen];
}

function requestsIn(snapshot: Snapshot): number {
  const found = snapshot.find(({ name }) => name === 'nfse_requisicoes_total');
  return found?.values.find(({ labels }) => (labels as { rota?: string }).rota === '/x')?.value ?? 0;
}

function answersIn(snapshot: Snapshot, processo: string): number | undefined {
  return samplesIn(snapshot).find(
    ({ name, labels }) => name === 'nfse_parte_responde' && labels['processo'] === processo && labels['parte'] === 'x',
  )?.value;
}

describe('what all have counted', () => {
  test('is added up, and does not fall when one is silent, answers late, or is gone', async () => {
    const collector = new Collector('principal', 'conexoes');
    let late: ((snapshot: Snapshot) => void) | undefined;
    let [asked, isSilent] = [0, false];
    collector.add({ processo: '1', parte: 'x', ask: async () => snapshotOf('1', 5) });
    const leave = collector.add({
      processo: '2',
      parte: 'x',
      ask: () => {
        asked += 1;
        if (!isSilent) return Promise.resolve(snapshotOf('2', 7));
        return new Promise((resolve) => {
          late = resolve;
        });
      },
    });
    const first = await collector.collect();
    assert.deepEqual([requestsIn(first), answersIn(first, '1'), answersIn(first, '2')], [12, 1, 1]);
    isSilent = true;
    const silent = await Promise.all([collector.collect(), collector.collect()]);
    for (const one of silent) {
      assert.deepEqual([requestsIn(one), answersIn(one, '1'), answersIn(one, '2')], [12, 1, 0]);
      // The gauge of a silent process is unknown.
      assert.deepEqual(
        samplesIn(one)
          .filter(({ labels }) => labels['processo'] === '2')
          .map(({ name }) => name),
        ['nfse_parte_responde'],
      );
    }
    // A source that owes an answer is not asked again.
    await collector.collect();
    assert.equal(asked, 2);
    late!(snapshotOf('2', 9));
    isSilent = false;
    const again = await collector.collect();
    assert.deepEqual([requestsIn(again), answersIn(again, '2')], [14, 1]);
    leave();
    const gone = await collector.collect();
    assert.deepEqual([requestsIn(gone), answersIn(gone, '2')], [14, undefined]);
    // Its successor begins at zero.
    collector.add({ processo: '2', parte: 'x', ask: async () => snapshotOf('2', 1) });
    assert.equal(requestsIn(await collector.collect()), 15);
  });

  test('is told with nought for what may die, so that the first death is seen', async () => {
    const deaths = (await new Collector('principal', 'conexoes').collect()).find(
      ({ name }) => name === 'nfse_reinicios_total',
    );
    assert.deepEqual(
      deaths!.values.map(({ value }) => value),
      [0, 0, 0],
    );
  });
});
