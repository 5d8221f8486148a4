/** Tokens for requests without a certificate. */
import { folhasApagadas, insertEntrada, insertRegistradas, takeAway } from '../../base/book/auditoria-entradas.ts';
import { insertRows } from '../../base/pg/mergeable.ts';
import { type Db, runTransaction } from '../../base/pg/open.ts';
import type { PoolClient } from '../../base/pg/pg.ts';
import { planOnce } from '../../base/pg/planned.ts';
import { inTurn } from '../../base/pg/turn.ts';

/** Moments in milliseconds. `pedido`: identifier of the signed request behind the token. */
export type NovoToken = {
  readonly id: string;
  readonly documento: string;
  readonly impressao: Buffer;
  readonly escopos: readonly string[];
  readonly criadoEm: number;
  readonly expiraEm: number;
  readonly por: 'assinatura' | 'certificado' | 'ensaio';
  readonly pedido?: string | undefined;
};

export type TokenRow = {
  readonly id: string;
  readonly documento: string;
  readonly escopos: readonly string[];
  readonly criado_em: Date;
  readonly expira_em: Date;
  readonly revogado_em: Date | null;
  readonly por: NovoToken['por'];
};

const COLUMNS = 'id, documento, escopos, criado_em, expira_em, revogado_em, por';

const INSERT = insertRows<NovoToken>(
  'insert_token',
  'tokens',
  [
    ['id text', ({ id }) => id],
    ['documento text', ({ documento }) => documento],
    ['impressao bytea', ({ impressao }) => impressao],
    ['escopos text[]', ({ escopos }) => `{${escopos.join(',')}}`],
    ['criado_em timestamptz', ({ criadoEm }) => new Date(criadoEm).toISOString()],
    ['expira_em timestamptz', ({ expiraEm }) => new Date(expiraEm).toISOString()],
    ['por text', ({ por }) => por],
    ['pedido text', ({ pedido }) => pedido ?? null],
  ],
  'on conflict (tenant, documento, pedido) do nothing',
);

const FIND = planOnce('find_token', `select ${COLUMNS} from tokens where tenant = $1 and impressao = $2`);

const LIST_OF = `select ${COLUMNS} from tokens where tenant = $1 and documento = $2 and expira_em > $3 and revogado_em is null
  order by criado_em desc limit $4`;
const LIST = `select ${COLUMNS} from tokens where tenant = $1 and expira_em > $2 and revogado_em is null
  order by criado_em desc limit $3`;
const FIND_BY_ID = `select ${COLUMNS} from tokens where tenant = $1 and id = $2 and expira_em > $3 and revogado_em is null`;
const REVOKE = `update tokens set revogado_em = coalesce(revogado_em, $3) where tenant = $1 and id = $2
  and ($4::text is null or documento = $4) returning ${COLUMNS}`;
const COUNT = `select count(*)::int as total, min(expira_em) as primeiro from tokens where tenant = $1 and documento = $2 and expira_em > $3 and revogado_em is null`;
/** Tokens are kept long after they expire, so that a repeated request is still recognised. */
const FORGET = takeAway('tokens', 'delete from tokens t where tenant = $1 and documento = $2 and expira_em < $3');

/** Tokens shown in one list. */
export const TOKENS_MAX = 1_000;

/** Records a new token in the audit chain. */
function tellToken(client: PoolClient, tenant: string, id: string): Promise<void> {
  return insertRegistradas(client, tenant, 'tokens', { which: 't.id = $6', values: [id] });
}

export function tokenStore(pool: Db) {
  return {
    /** `used`: the signed request was used before. `livreEm`: the document has the maximum of valid tokens until then (milliseconds). */
    insert: (tenant: string, token: NovoToken, max: number): Promise<'made' | 'used' | { readonly livreEm: number }> =>
      inTurn(pool, `tokens ${tenant} ${token.documento}`, async (client) => {
        const asked = [tenant, token.documento, new Date(token.criadoEm)];
        const { rows } = await client.query<{ total: number; primeiro: Date }>(COUNT, asked);
        if (rows[0]!.total >= max) return { livreEm: +rows[0]!.primeiro };
        if ((await client.query(INSERT(tenant, [token]))).rowCount !== 1) return 'used';
        await tellToken(client, tenant, token.id);
        return 'made';
      }),
    /** The token in any state. */
    find: async (tenant: string, impressao: Buffer): Promise<TokenRow | undefined> =>
      (await pool.query<TokenRow>(FIND([tenant, impressao]))).rows[0],
    /** The tokens in force, of a document or of all, the newest first. */
    list: async (tenant: string, documento: string | undefined, now: number): Promise<readonly TokenRow[]> => {
      const at = new Date(now);
      const asked =
        documento === undefined
          ? pool.query<TokenRow>(LIST, [tenant, at, TOKENS_MAX])
          : pool.query<TokenRow>(LIST_OF, [tenant, documento, at, TOKENS_MAX]);
      return (await asked).rows;
    },
    /** A token that is in force. */
    findById: async (tenant: string, id: string, now: number): Promise<TokenRow | undefined> =>
      (await pool.query<TokenRow>(FIND_BY_ID, [tenant, id, new Date(now)])).rows[0],
    /** Revokes the token and returns it. Undefined: the document has no such token, or the tenant has none when no document is named. */
    revoke: (tenant: string, id: string, documento: string | undefined, now: number): Promise<TokenRow | undefined> =>
      runTransaction(pool, async (client) => {
        const { rows } = await client.query<TokenRow>(REVOKE, [tenant, id, new Date(now), documento ?? null]);
        if (rows[0] !== undefined) await tellToken(client, tenant, id);
        return rows[0];
      }),
    forget: (tenant: string, documento: string, before: number): Promise<void> =>
      runTransaction(pool, async (client) => {
        const { rows } = await client.query<{ item: string }>(FORGET, [tenant, documento, new Date(before)]);
        await insertEntrada(client, tenant, folhasApagadas(rows));
      }),
  };
}
