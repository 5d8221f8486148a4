/** The statements that a store sends, and the server's plans for them: does it read more than it needs to? */
import assert from 'node:assert/strict';
import type { Db } from '../../src/base/pg/open.ts';

/** Statements with their values, by text. */
export type Statements = Map<string, readonly unknown[]>;

/** The same pool; every statement that goes through it is recorded. */
export function recorded(pool: Db, statements: Statements): Db {
  const note = (config: unknown, values: unknown): void => {
    const text = typeof config === 'string' ? config : (config as { text: string }).text;
    const own = typeof config === 'string' ? values : (config as { values?: unknown[] }).values;
    if (!/^\s*(begin|commit|rollback)/i.test(text)) statements.set(text, (own as unknown[] | undefined) ?? []);
  };
  const wrap = <Target extends object>(target: Target): Target =>
    new Proxy(target, {
      get: (of, name) => {
        const value = Reflect.get(of, name) as unknown;
        if (typeof value !== 'function') return value;
        if (name === 'connect') return async () => wrap(await (of as unknown as Db).connect());
        if (name !== 'query') return value.bind(of);
        return (config: unknown, values?: unknown) => {
          note(config, values);
          return value.call(of, config, values);
        };
      },
    });
  return wrap(pool);
}

type Plan = {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Index Cond'?: string;
  readonly Plans?: readonly Plan[];
};

type ExecutedPlan = Plan & {
  readonly 'Actual Loops': number;
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
};

/** The plans of statements, for another tenant than the recorded one. */
async function plansOf(
  pool: Db,
  statements: Statements,
  [recordedTenant, tenant]: readonly [string, string],
): Promise<{ nodes: Plan[]; told: string }[]> {
  const plans = [];
  for (const [text, values] of statements) {
    const own = values.map((value) => (value === recordedTenant ? tenant : asBatch(value)));
    const { rows } = await pool.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(`explain (format json) ${text}`, own);
    const plan = rows[0]!['QUERY PLAN'][0].Plan;
    plans.push({ nodes: nodesOf(plan), told: `${tenant}: ${text}: ${JSON.stringify(plan)}` });
  }
  return plans;
}

/** A list as long as in a busy hour: a plan that is right for one value may be wrong for two hundred. */
function asBatch(value: unknown): unknown {
  return Array.isArray(value) && value.length > 0
    ? Array.from({ length: 200 }, (_, place) => value[place % value.length])
    : value;
}

function nodesOf(plan: Plan): Plan[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];
}

/** The access to a table: the index, and the columns that its conditions use. */
export type Access = { readonly index: string; readonly by: readonly string[] };

/** The table accesses of a statement's generic plan, or of a plan that a connection has prepared under a name. */
export async function accessesOf(db: Pick<Db, 'query'>, explained: string): Promise<readonly Access[]> {
  const { rows } = await db.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(explained);
  const plan = rows[0]!['QUERY PLAN'][0].Plan;
  return nodesOf(plan).flatMap((node) => {
    assert.notEqual(node['Node Type'], 'Seq Scan', `${explained}: ${JSON.stringify(plan)}`);
    const index = node['Index Name'];
    if (index === undefined) return [];
    const columns = (node['Index Cond'] ?? '').matchAll(/\((\w+) (?:[<>=]|IS )/g);
    return [{ index, by: [...new Set(columns.map(([, column]) => column!))] }];
  });
}

/** The pages and tables that a statement read, and all tables of its plan. Months are tables. */
export type TablesRead = {
  readonly pages: number;
  readonly tables: readonly string[];
  readonly planned: readonly string[];
};

/** Executes a statement, and reports what it read. */
export async function tablesReadBy(db: Pick<Db, 'query'>, statement: string): Promise<TablesRead> {
  const { rows } = await db.query<{ 'QUERY PLAN': [{ Plan: ExecutedPlan }] }>(
    `explain (analyze, buffers, format json) ${statement}`,
  );
  const plan = rows[0]!['QUERY PLAN'][0].Plan;
  const nodes = nodesOf(plan) as ExecutedPlan[];
  const namesOf = (some: readonly Plan[]): string[] => [
    ...new Set(some.flatMap((node) => node['Relation Name'] ?? [])),
  ];
  return {
    pages: plan['Shared Hit Blocks'] + plan['Shared Read Blocks'],
    tables: namesOf(nodes.filter((node) => node['Actual Loops'] > 0)),
    planned: namesOf(nodes),
  };
}

/** The number of executions of the plan node that runs most often. */
export async function loopsOf(db: Pick<Db, 'query'>, text: string, values: readonly unknown[]): Promise<number> {
  const { rows } = await db.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(`explain (analyze, format json) ${text}`, [
    ...values,
  ]);
  const nodes = nodesOf(rows[0]!['QUERY PLAN'][0].Plan) as ExecutedPlan[];
  return Math.max(...nodes.map((node) => node['Actual Loops']));
}

export async function noneScans(pool: Db, statements: Statements, tenants: readonly [string, string]): Promise<void> {
  for (const { nodes, told } of await plansOf(pool, statements, tenants)) {
    assert.ok(!nodes.some((node) => node['Node Type'] === 'Seq Scan'), told);
  }
}

/** `whole`: tables and indexes that may be read for more than one row, or whose whole key is the tenant. */
export async function allLookUp(
  pool: Db,
  statements: Statements,
  tenants: readonly [string, string],
  whole: RegExp,
): Promise<void> {
  for (const { nodes, told } of await plansOf(pool, statements, tenants)) {
    for (const node of nodes.filter((one) => /Index/.test(one['Node Type']))) {
      if (whole.test(node['Relation Name'] ?? '') || whole.test(node['Index Name'] ?? '')) continue;
      assert.match(node['Index Cond'] ?? '', /tenant.* AND /, `more than the tenant is looked up: ${told}`);
    }
  }
}
