/** Rows of a municipality's correlation table, stored as an import stores them. */
import type { Store } from '../../src/wiring/store.ts';

export async function storeCorrelacao(
  store: Store,
  tenant: string,
  linhas: readonly Readonly<Record<string, string | undefined>>[],
): Promise<void> {
  await store.lotes.importCorrelacao(tenant, async (staging) => {
    await staging.add(linhas.map((linha, place) => ({ ...linha, linha: place + 1 })));
    await staging.check();
    await staging.merge();
  });
}
