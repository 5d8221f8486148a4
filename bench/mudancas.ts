/**
 * `npm run bench -- --mudancas N`: the speed at which one party reads N changes, as lines in the largest pages over
 * HTTP. The speed at which the changes got their places is measured too.
 */
import { startService } from '../scripts/stage.ts';
import { ensureMeses } from '../src/base/book/meses.ts';
import { openEmbedded } from '../src/base/pg/embedded.ts';
import { openPool } from '../src/base/pg/open.ts';
import type { Client } from '../src/base/pg/pg.ts';
import { migrate } from '../src/wiring/migrate.ts';
import { createStore } from '../src/wiring/store.ts';
import { cnpjsOf } from './documents.ts';
import { QUIET, useClient } from './servidor.ts';
import { printRows } from './tables.ts';

const TENANT = 'integracao';
const PAGE = 10_000;
/** Changes that get their places in one transaction, and changes that one transaction has written. */
const [AT_ONCE, OF_A_TRANSACTION] = [20_000, 60];
const ESTADOS = ['emitida', 'transmitida', 'autorizada'] as const;

const FILL = `insert into notas (tenant, mes, id, chave_acesso, numero_protocolo, id_dps, estado, numero_dps, serie_dps, numero_dps_nacional,
    data_emissao, data_competencia, prestador_cpf_cnpj, prestador_razao_social, valor_servico)
  select '${TENANT}', $3::int, n, '3550308' || lpad(n::text, 29, '0') || to_char($4::timestamptz, 'YYMM') || repeat('0', 10),
    $3::int || lpad(n::text, 28, '0'), 'DPS' || n, 'autorizada', n, '1', n::text, $4::timestamptz, $4::timestamptz::date, $5, 'Prestador Ltda', 100
  from generate_series($1::bigint, $2::bigint) n`;

/** The changes of the notes $1 to $2; those of one transaction form a row. */
const CHANGED = `insert into mudancas_novas (tenant, id, mudancas)
  select '${TENANT}', gen_random_uuid(), string_agg('n ' || n || ' ' || $3::int || ' ' || m || ' ' || $4::bigint + n * 10 + m || ' ' || p, chr(10) order by n, m)
  from generate_series($1::bigint, $2::bigint) n cross join unnest('{${ESTADOS}}'::text[]) with ordinality as x (p, m)
  group by n * ${ESTADOS.length} / ${OF_A_TRANSACTION}`;

export async function benchMudancas(dataDir: string, total: number): Promise<void> {
  const [documento] = cnpjsOf(1) as [string];
  const placed = await place(dataDir, documento, Math.ceil(total / ESTADOS.length));
  const service = await startService({ NFSE_DATA_DIR: dataDir, PORT: '0', NFSE_LOG_LEVEL: 'warn' });
  try {
    const { changes, seconds, bytes, pages } = await catchUp(`${service.address}/${TENANT}/api/v1`, documento);
    printRows([
      ['mudanças postas em ordem por segundo', placed.toFixed(0)],
      ['mudanças lidas', `${changes} em ${pages} respostas, ${seconds.toFixed(1)} s`],
      ['mudanças lidas por segundo', (changes / seconds).toFixed(0)],
      ['bytes de cada uma', (bytes / changes).toFixed(0)],
    ]);
  } finally {
    await service.end('SIGINT');
  }
}

/** Fills the database; returns the changes per second that got their places. */
async function place(dataDir: string, documento: string, notas: number): Promise<number> {
  const server = await openEmbedded({ dataDir, log: QUIET });
  try {
    const pool = openPool(server.connection, () => undefined, true);
    await migrate(pool);
    const store = createStore(pool);
    const now = Date.now();
    await store.municipios.create({ tenant: TENANT, ambiente: 'homologacao', codigoIbge: undefined }, now);
    await ensureMeses(pool, [mesNow(now)]);
    let seconds = 0;
    await useClient(server.connection, async (client) => {
      await client.query('set synchronous_commit = off');
      for (let first = 1; first <= notas; first += AT_ONCE / ESTADOS.length) {
        await fill(
          client,
          [Math.ceil(first), Math.min(notas, Math.ceil(first + AT_ONCE / ESTADOS.length) - 1)],
          documento,
          now,
        );
        const began = performance.now();
        await store.mudancas.append(TENANT, now);
        seconds += (performance.now() - began) / 1000;
      }
      await client.query('vacuum analyze notas');
    });
    await pool.end();
    return (notas * ESTADOS.length) / seconds;
  } finally {
    await server.stop();
  }
}

function mesNow(now: number): number {
  return Number(new Date(now).toISOString().slice(0, 7).replace('-', ''));
}

async function fill(client: Client, notas: readonly [number, number], documento: string, now: number): Promise<void> {
  await client.query(FILL, [...notas, mesNow(now), new Date(now), documento]);
  await client.query(CHANGED, [...notas, mesNow(now), now]);
}

async function catchUp(api: string, documento: string) {
  const headers = { 'Content-Type': 'application/json' };
  const asked = await fetch(`${api}/token`, { method: 'POST', headers, body: JSON.stringify({ documento }) });
  const { token } = (await asked.json()) as { token: string };
  let [cursor, isMore, changes, bytes, pages] = ['', true, 0, 0, 0];
  const began = performance.now();
  while (isMore) {
    const accept = { Authorization: `Bearer ${token}`, Accept: 'application/x-ndjson' };
    const page = await fetch(`${api}/mudancas?desde=${cursor}&limite=${PAGE}`, { headers: accept });
    const text = await page.text();
    if (page.status !== 200) throw new Error(`as mudanças não foram lidas: ${page.status} ${text}`);
    changes += text.split('\n').length - 1;
    bytes += text.length;
    pages += 1;
    cursor = page.headers.get('X-Cursor')!;
    isMore = page.headers.get('X-Mais') === 'true';
  }
  return { changes, bytes, pages, seconds: (performance.now() - began) / 1000 };
}
