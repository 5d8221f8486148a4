/** The arms of municipalities: small images of our own making. The row of the municipality has their digest, which every page knows. */
import { type Db, runTransaction } from '../pg/open.ts';
import { planOnce } from '../pg/planned.ts';
import { insertAtos, type NovoAto } from './atos.ts';
import { tellMunicipio } from './municipios.ts';

/** `impressao`: SHA-256 in hexadecimal digits. */
export type Brasao = { readonly impressao: string; readonly png: Buffer };

const FIND = planOnce('find_brasao', 'select impressao, png from brasoes where tenant = $1');
const KEEP = `insert into brasoes (tenant, impressao, png) values ($1, $2, $3)
  on conflict (tenant) do update set impressao = excluded.impressao, png = excluded.png`;

export function brasaoStore(pool: Db) {
  return {
    find: async (tenant: string): Promise<Brasao | undefined> => (await pool.query<Brasao>(FIND([tenant]))).rows[0],
    /** Replaces the arms of a municipality, or removes them. False: it is closed, or not there. */
    set: (tenant: string, brasao: Brasao | undefined, atos: readonly NovoAto[]): Promise<boolean> =>
      runTransaction(pool, async (client) => {
        const text = 'update municipios set brasao = $2 where tenant = $1 and not fechado';
        const { rowCount } = await client.query(text, [tenant, brasao?.impressao ?? null]);
        if (rowCount === 0) return false;
        if (brasao === undefined) await client.query('delete from brasoes where tenant = $1', [tenant]);
        else await client.query(KEEP, [tenant, brasao.impressao, brasao.png]);
        await tellMunicipio(client, tenant);
        await insertAtos(client, tenant, atos);
        return true;
      }),
  };
}
