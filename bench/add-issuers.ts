/** Many municipalities in the database of a place, made within one process. */
import { openPool } from '../src/base/pg/open.ts';
import { createStore } from '../src/wiring/store.ts';
import { type Issuer, listIssuers } from './issuers.ts';
import { columnsOf, type Located, useClient, useServer } from './servidor.ts';

const AT_ONCE = 8;

/** Creates the other municipalities, set up like the first one and with its providers. */
export async function addIssuers(place: Located, count: number): Promise<void> {
  const [{ slug: first }, ...others] = listIssuers(count) as [Issuer, ...Issuer[]];
  await useServer(place, async (connection) => {
    const pool = openPool(connection, () => undefined);
    const store = createStore(pool);
    const model = (await store.municipios.findBySlug(first))!;
    const waiting = others.values();
    const create = async (): Promise<void> => {
      for (const { slug: tenant, ibge: codigoIbge } of waiting)
        await store.municipios.create({ ...model, tenant, codigoIbge }, Date.now());
    };
    await Promise.all(Array.from({ length: AT_ONCE }, create));
    await pool.end();
    await useClient(connection, async (client) => {
      const { names, values } = await columnsOf(client, 'prestadores', { tenant: 'x.tenant' });
      await client.query(
        `insert into prestadores (${names}) select ${values} from prestadores m, unnest($2::text[]) x (tenant) where m.tenant = $1`,
        [first, others.map(({ slug }) => slug)],
      );
      await client.query('analyze');
    });
  });
}
