/**
 * Servers of a distributed schema that do not answer the coordinator, as far as one process has seen. Their tenants are left out, so that
 * no other tenant waits for them. One tenant of each server serves to ask now and then whether its server is back.
 */

import { ENSAIO_PREFIX } from '../../fiscal/ambiente.ts';
import { findPlaces, nameNo } from './distributed.ts';
import type { Db } from './open.ts';

/** Time for which a list of all tenants is valid. */
const TENANTS_KEPT_MS = 60_000;
/** Interval between two queries to a lost server. */
const ASK_AGAIN_MS = 2_000;
/** Limit of a read: a server that hangs blocks the answers of the others. */
const READ_MAX_MS = 5_000;

/** Tenants of the shards whose server answers, as JSON. */
const TENANTS = `select result as tenants from run_command_on_shards('municipios', 'select json_agg(tenant) from %s')
  where success and result <> ''`;

export class LostNodes {
  private readonly pool: Db;
  private readonly ask: (tenant: string) => Promise<void>;
  /** Known tenants, with the server of each; empty: not looked up yet. */
  private readonly nodeOf = new Map<string, string>();
  private listAt = Number.NEGATIVE_INFINITY;
  /** The moment of the next query to each lost server, and the tenant for it. */
  private readonly lost = new Map<string, { at: number; readonly tenant: string }>();
  private readonly passed = { others: 0, sandboxes: 0 };

  /** `ask`: a query to the server of a tenant, which fails if the server does not answer. */
  constructor(pool: Db, ask: (tenant: string) => Promise<void>) {
    this.pool = pool;
    this.ask = ask;
  }

  isAny(): boolean {
    this.askAgain();
    return this.lost.size > 0;
  }

  /** Whether the server of a tenant is lost. */
  has(tenant: string): boolean {
    return this.lost.has(this.nodeOf.get(tenant) ?? '');
  }

  /** Adds tenants to the known ones. */
  know(tenants: readonly string[]): void {
    for (const tenant of tenants) this.nodeOf.getOrInsert(tenant, '');
  }

  /** Notes that the server of a tenant did not answer. The coordinator itself knows the places of tenants. */
  async note(tenant: string): Promise<void> {
    this.know([tenant]);
    for (const place of await findPlaces(this.pool, [...this.nodeOf.keys()]))
      this.nodeOf.set(place.tenant, nameNo(place));
    this.lost.set(this.nodeOf.get(tenant)!, { at: performance.now() + ASK_AGAIN_MS, tenant });
  }

  /** Reads the list of tenants if the last one is old. Tenants that cannot be read stay as they were. */
  async listTenants(): Promise<void> {
    if (performance.now() < this.listAt) return;
    this.listAt = performance.now() + TENANTS_KEPT_MS;
    type Shard = { readonly tenants: string };
    const asked = { text: TENANTS, query_timeout: READ_MAX_MS };
    const { rows } = await this.pool.query<Shard>(asked).catch(() => ({ rows: [] }));
    for (const { tenants } of rows) this.know(JSON.parse(tenants) as string[]);
  }

  /** The next tenants whose servers answer, in turn: `count` sandboxes of users, of which there may be thousands, and `count` others. */
  nextOfOthers(count: number): readonly string[] {
    const here = [...this.nodeOf.keys()].filter((tenant) => !this.has(tenant));
    const [sandboxes, others] = [true, false].map((isOne) =>
      here.filter((tenant) => tenant.startsWith(ENSAIO_PREFIX) === isOne),
    ) as [string[], string[]];
    return [...this.nextOf('others', others, count), ...this.nextOf('sandboxes', sandboxes, count)];
  }

  private nextOf(which: keyof LostNodes['passed'], all: readonly string[], count: number): readonly string[] {
    const from = all.length === 0 ? 0 : this.passed[which] % all.length;
    this.passed[which] = from + count;
    return [...all.slice(from), ...all.slice(0, from)].slice(0, count);
  }

  private askAgain(): void {
    for (const [node, one] of this.lost) {
      if (performance.now() < one.at) continue;
      one.at = Number.POSITIVE_INFINITY;
      this.ask(one.tenant).then(
        () => this.lost.delete(node),
        () => {
          one.at = performance.now() + ASK_AGAIN_MS;
        },
      );
    }
  }
}
