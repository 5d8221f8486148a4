/** Two processes on one database, tenants of one test in it, and rows of notes that no service made. */

import type { NotaNova } from '../../src/base/book/nota-columns.ts';
import { type Db, openPool } from '../../src/base/pg/open.ts';
import { migrate } from '../../src/wiring/migrate.ts';
import { createStore, type Store } from '../../src/wiring/store.ts';
import { onEnd } from './cleanup.ts';
import { freshDatabase } from './database.ts';
import { keysOf } from './nota-keys.ts';

export const NOW = Date.parse('2026-11-21T12:00:00-03:00');
export const CNPJ = '11222333000181';

export type Process = { readonly pool: Db; readonly store: Store };

let shared: Promise<readonly [Process, Process]> | undefined;
let opened = 0;

/** The tests of a file share them: the server has few connections for all files. */
export function sharedProcesses(): Promise<readonly [Process, Process]> {
  shared ??= openProcesses();
  return shared;
}

async function openProcesses(): Promise<readonly [Process, Process]> {
  onEnd(() => (shared = undefined));
  const connection = await freshDatabase();
  const [a, b] = [1, 2].map(() => {
    const pool = openPool(connection, () => undefined);
    onEnd(() => pool.end());
    return { pool, store: createStore(pool) };
  });
  await migrate(a!.pool);
  return [a!, b!];
}

type Tenants = { readonly alfa: string; readonly beta: string; readonly gama: string };

/** The two processes, and tenants of the test's own. */
export async function twoProcesses(): Promise<{ readonly a: Process; readonly b: Process } & Tenants> {
  const [a, b] = await sharedProcesses();
  opened += 1;
  const tenants = { alfa: `alfa${opened}`, beta: `beta${opened}`, gama: `gama${opened}` };
  await openTenants(a.store, Object.values(tenants));
  return { a, b, ...tenants };
}

export async function oneProcess(): Promise<Process & Tenants> {
  const { a, b: _other, ...tenants } = await twoProcesses();
  return { ...a, ...tenants };
}

export async function openTenants(store: Store, tenants: readonly string[]): Promise<void> {
  for (const tenant of tenants) {
    await store.municipios.create({ tenant, ambiente: 'homologacao', codigoIbge: undefined }, NOW);
  }
}

let made = 0;

/** The row of a note. Its unique values are new each time, except the identifier of the DPS. */
export function rowOf(idDps: string, more: Partial<NotaNova> = {}): NotaNova {
  made += 1;
  return {
    ...keysOf(made),
    id_dps: idDps,
    serie_dps: '1',
    numero_dps_nacional: '1',
    data_emissao: NOW,
    data_competencia: '2026-11-20',
    prestador_razao_social: 'Empresa Exemplo Ltda',
    prestador_inscricao_municipal: undefined,
    tomador_cpf_cnpj: undefined,
    tomador_razao_social: undefined,
    valor_servico: '1000.00',
    valor_issqn: '20.00',
    valor_base_calculo: '1000.00',
    aliquota_issqn: '2.00',
    recebido: Buffer.from(`<DPS>${made}</DPS>`),
    recebido_assinatura: undefined,
    nfse: `<NFSe>${made}</NFSe>`,
    ...more,
  };
}

export async function rows<Row extends object>(pool: Db, text: string, values: unknown[] = []): Promise<Row[]> {
  return (await pool.query<Row>(text, values)).rows;
}

export const upTo = (count: number): number[] => Array.from({ length: count }, (_, place) => place + 1);
