/**
 * Checks that a statement means the same to Citus as to PostgreSQL. It reads the syntax tree of PostgreSQL's own parser. The rules stand in
 * src/base/pg/README.md. Every statement that the code sends in a test is checked at the end of its file.
 */
import { loadModule, parseSync } from 'libpg-query';
import { shippedMigrations, statementsOf } from '../../src/base/pg/migrations.ts';

await loadModule();

/** A node of the syntax tree; its only key names its kind, such as `SelectStmt`. */
type Node = { readonly [key: string]: unknown };

/** Statements of one message. */
export function parseSql(text: string): readonly Node[] {
  const { stmts = [] } = parseSync(text) as { stmts?: readonly { stmt: Node }[] };
  return stmts.map(({ stmt }) => stmt);
}

/** Tables whose primary key has the tenant, as the migrations make them. */
export async function tenantTables(): Promise<ReadonlySet<string>> {
  const tables = new Set<string>();
  for (const { sql } of await shippedMigrations()) {
    for (const stmt of parseSql(sql)) {
      const create = stmt['CreateStmt'] as Node | undefined;
      if (create !== undefined && isKeyOf(create, 'tenant')) tables.add(nameOf(create['relation'] as Node));
    }
  }
  return tables;
}

function isKeyOf(create: Node, column: string): boolean {
  const columns = nodesOf(create, 'ColumnDef').filter(({ colname }) => colname === column);
  return [...columns, create].some((part) =>
    nodesOf(part, 'Constraint').some(
      ({ contype, keys }) =>
        contype === 'CONSTR_PRIMARY' && (keys === undefined ? part !== create : stringsOf(keys).includes(column)),
    ),
  );
}

/** Names of the temporary tables that a message creates. */
export function temporaryTables(text: string): readonly string[] {
  return nodesOf(parseSql(text), 'CreateStmt')
    .map(({ relation }) => relation as Node)
    .filter(({ relpersistence }) => relpersistence === 't')
    .map(nameOf);
}

/** Sentences on the faults of a message. `temporaries`: temporary tables of the session that other messages create. */
export function faultsOf(
  text: string,
  tables: ReadonlySet<string>,
  temporaries: ReadonlySet<string> = new Set(),
): readonly string[] {
  const work = parseSql(text).filter((stmt) => !('TransactionStmt' in stmt) && !('VariableSetStmt' in stmt));
  const faults = work.flatMap((stmt) => [...faultsOfStatement(stmt), ...tenantFaults(stmt, tables)]);
  if (work.length > 1) faults.unshift('one statement a message');
  const names = ['RangeVar', 'relation'].flatMap((kind) => nodesOf(work, kind)).map(nameOf);
  if (names.some((name) => temporaries.has(name)) && names.some((name) => tables.has(name)))
    faults.push('no temporary table beside one of ours');
  return [...new Set(faults)];
}

export const ROWS_APART = 'rows that a select gives are inserted by a statement of their own, not inside a WITH';
export const ONE_MOMENT =
  'no arithmetic with an interval and no now() in CASE, COALESCE or ON CONFLICT: the moment is a parameter';

export const RETURNS_PLAIN =
  'what RETURNING says depends on no setting: it is made of what was returned, outside of it';
export const VALUES_PLAIN = 'no value of an INSERT is a question: INSERT … SELECT asks it';

/**
 * Sentences on statements of a migration that a distributed table does not accept. Tables that the migration itself creates are not
 * distributed yet.
 */
export function migrationFaultsOf(sql: string, tables: ReadonlySet<string>): readonly string[] {
  const own = new Set<string>();
  const faults = statementsOf(sql).flatMap((text) => {
    const [stmt] = parseSql(text) as [Node];
    const { CreateStmt: create, AlterTableStmt: alter, UpdateStmt: update } = stmt as Readonly<Record<string, Node>>;
    if (create !== undefined) own.add(nameOf(create['relation'] as Node));
    const found = [...faultsOf(text, new Set([...tables].filter((table) => !own.has(table))))];
    if (update !== undefined && callsOverJoined(update))
      found.push('no function over columns of another table in an UPDATE');
    if (alter === undefined || own.has(nameOf(alter['relation'] as Node))) return found;
    if (nodesOf(alter['cmds'], 'AlterTableCmd').length > 1) found.push('one change an ALTER TABLE');
    if (nodesOf(alter, 'Constraint').some(isNameless)) found.push('a constraint has a name');
    return found;
  });
  return [...new Set(faults)];
}

/** A constraint written inside of the definition of a column has no name. */
function isNameless({ contype, conname }: Node): boolean {
  return conname === undefined && !['CONSTR_NOTNULL', 'CONSTR_NULL', 'CONSTR_DEFAULT'].includes(String(contype));
}

function callsOverJoined({ relation, fromClause, targetList }: Node): boolean {
  if (fromClause === undefined) return false;
  const own = aliasOf(relation as Node);
  return nodesOf(targetList, 'FuncCall').some((call) =>
    nodesOf(call, 'ColumnRef').some(({ fields }) => stringsOf(fields)[0] !== own),
  );
}

type Rule = { readonly says: string; readonly breaks: (stmt: Node) => boolean };

const RULES: readonly Rule[] = [
  {
    says: ROWS_APART,
    breaks: (stmt) =>
      nodesOf(stmt, 'CommonTableExpr').some((cte) => {
        const insert = (cte['ctequery'] as Node)['InsertStmt'] as Node | undefined;
        const select = (insert?.['selectStmt'] as Node | undefined)?.['SelectStmt'] as Node | undefined;
        return select !== undefined && select['valuesLists'] === undefined;
      }),
  },
  {
    says: ONE_MOMENT,
    breaks: (stmt) =>
      (changesRows(stmt) && ['CaseExpr', 'CoalesceExpr'].some((kind) => nodesOf(stmt, kind).some(isStable))) ||
      nodesOf(stmt, 'InsertStmt').some(
        ({ onConflictClause }) => onConflictClause !== undefined && isStable(onConflictClause),
      ),
  },
  {
    says: RETURNS_PLAIN,
    breaks: (stmt) =>
      ['InsertStmt', 'UpdateStmt', 'DeleteStmt'].some((kind) =>
        nodesOf(stmt, kind).some(({ returningClause }) => isSettingBound(returningClause)),
      ),
  },
  {
    says: VALUES_PLAIN,
    breaks: (stmt) =>
      nodesOf(stmt, 'InsertStmt').some(
        ({ selectStmt }) =>
          nodesOf((selectStmt as Node | undefined)?.['SelectStmt'], 'SubLink').length > 0 &&
          ((selectStmt as Node)['SelectStmt'] as Node)['valuesLists'] !== undefined,
      ),
  },
  {
    says: 'no advisory lock: a row of ours is locked',
    breaks: (stmt) => nodesOf(stmt, 'FuncCall').some((call) => /^pg_(try_)?advisory_/.test(functionOf(call))),
  },
  {
    says: 'no trigger, and no block or function that hides what it does',
    breaks: (stmt) => ['CreateTrigStmt', 'DoStmt', 'CreateFunctionStmt'].some((kind) => kind in stmt),
  },
];

function faultsOfStatement(stmt: Node): string[] {
  return RULES.filter(({ breaks }) => breaks(stmt)).map(({ says }) => says);
}

function changesRows(stmt: Node): boolean {
  return ['UpdateStmt', 'DeleteStmt', 'InsertStmt'].some((kind) => nodesOf(stmt, kind).length > 0);
}

/** The value differs between calls: Citus does not push such an expression down to a node. */
function isStable(part: unknown): boolean {
  const calls = nodesOf(part, 'FuncCall').some((call) =>
    /^(now|make_interval|age|clock_timestamp)$/.test(functionOf(call)),
  );
  if (calls || nodesOf(part, 'SQLValueFunction').length > 0) return true;
  return nodesOf(part, 'A_Expr').some(
    (one) => /^[-+*/]$/.test(stringsOf(one['name']).join('')) && nodesOf(one, 'TypeCast').some(isInterval),
  );
}

/** Functions used for answers that PostgreSQL declares stable because they depend on settings. */
function isSettingBound(part: unknown): boolean {
  const names = /^(to_json|to_jsonb|to_char|json_.*|jsonb_build_.*|row_to_json|concat|concat_ws|format)$/;
  return isStable(part) || nodesOf(part, 'FuncCall').some((call) => names.test(functionOf(call)));
}

function isInterval(cast: Node): boolean {
  return stringsOf((cast['typeName'] as Node)['names']).includes('interval');
}

const ONE_TENANT = 'what writes or locks names exactly one tenant';

/**
 * Every written or locking level binds each tenant table that it uses to one parameter: by `tenant = $1`, or by the `tenant` of another
 * table that is bound.
 */
function tenantFaults(stmt: Node, tables: ReadonlySet<string>): string[] {
  const changes = ['UpdateStmt', 'DeleteStmt'].flatMap((kind) => nodesOf(stmt, kind));
  const locks = nodesOf(stmt, 'SelectStmt').filter(({ lockingClause }) => lockingClause !== undefined);
  const levels = [...changes, ...locks].map((level) => [level, boundOf(level)] as const);
  const isLoose = levels.some(([level, { aliases }]) =>
    [...targetOf(level), ...rangesOf([level['fromClause'], level['usingClause']])]
      .filter((one) => tables.has(nameOf(one)))
      .some((one) => !aliases.has(aliasOf(one))),
  );
  const inserts = nodesOf(stmt, 'InsertStmt').filter(({ relation }) => tables.has(nameOf(relation as Node)));
  const found = [...levels.flatMap(([, { params }]) => [...params]), ...inserts.flatMap(tenantsInserted)];
  return isLoose || found.includes(undefined) || new Set(found).size > 1 ? [ONE_TENANT] : [];
}

function targetOf({ relation }: Node): readonly Node[] {
  return relation === undefined ? [] : [relation as Node];
}

function rangesOf(part: unknown): readonly Node[] {
  return nodesOf(part, 'RangeVar', ['RangeSubselect', 'SubLink']);
}

/** The bindings of one level: aliases whose tenant is a parameter, directly or through another alias. */
function boundOf(level: Node): { readonly aliases: ReadonlySet<string>; readonly params: ReadonlySet<string> } {
  const aliases = new Set<string>();
  const params = new Set<string>();
  const pairs: (readonly [string, string])[] = [];
  const only = rangesOf([level['fromClause'], level['usingClause']]);
  const alone = 'relation' in level ? aliasOf(level['relation'] as Node) : only[0] && aliasOf(only[0]);
  const equalities = nodesOf([level['whereClause'], level['fromClause']], 'A_Expr', ['RangeSubselect', 'SubLink']);
  for (const { lexpr, rexpr, name } of equalities) {
    if (stringsOf(name).join('') !== '=') continue;
    const [left, right] = [lexpr, rexpr].map((side) => tenantColumnOf(side as Node, alone));
    const param = [lexpr, rexpr].map((side) => paramOf(side as Node)).find((one) => one !== undefined);
    if (left !== undefined && right !== undefined) pairs.push([left, right]);
    const column = left ?? right;
    if (column === undefined || param === undefined) continue;
    aliases.add(column);
    params.add(param);
  }
  for (let size = -1; size !== aliases.size; ) {
    size = aliases.size;
    for (const [left, right] of pairs) {
      if (aliases.has(left)) aliases.add(right);
      if (aliases.has(right)) aliases.add(left);
    }
  }
  return { aliases, params };
}

/** The alias whose `tenant` this is. */
function tenantColumnOf(side: Node | undefined, alone: string | undefined): string | undefined {
  const fields = stringsOf((side?.['ColumnRef'] as Node | undefined)?.['fields']);
  if (fields.at(-1) !== 'tenant') return undefined;
  return fields.length > 1 ? fields[0] : alone;
}

function paramOf(side: Node | undefined): string | undefined {
  const inner = (side?.['TypeCast'] as Node | undefined)?.['arg'] as Node | undefined;
  const param = (inner ?? side)?.['ParamRef'] as Node | undefined;
  // A literal is a tenant as well, such as the empty one for rows of no municipality.
  return param === undefined ? literalOf(inner ?? side) : `$${param['number']}`;
}

function literalOf(side: Node | undefined): string | undefined {
  const literal = (side?.['A_Const'] as Node | undefined)?.['sval'] as Node | undefined;
  return literal === undefined ? undefined : `'${literal['sval'] ?? ''}'`;
}

/** The tenants of an insert's rows, each a parameter, or the tenant of a table that is bound to one. Undefined: something else. */
function tenantsInserted(insert: Node): readonly (string | undefined)[] {
  const columns = nodesOf(insert['cols'], 'ResTarget').map(({ name }) => name);
  const place = columns.indexOf('tenant');
  return selectsOf((insert['selectStmt'] as Node | undefined)?.['SelectStmt'] as Node).flatMap((select) => {
    if (select['valuesLists'] !== undefined) {
      return nodesOf(select['valuesLists'], 'List').map(({ items }) => paramOf((items as Node[])[place]));
    }
    const target = ((select['targetList'] as Node[] | undefined)?.[place]?.['ResTarget'] as Node | undefined)?.[
      'val'
    ] as Node;
    const { aliases, params } = boundOf(select);
    const [from, ...others] = rangesOf(select['fromClause']);
    const column = tenantColumnOf(target, from !== undefined && others.length === 0 ? aliasOf(from) : undefined);
    return column !== undefined && aliases.has(column) ? [...params] : [paramOf(target)];
  });
}

/** The parts of a union. */
function selectsOf(select: Node): readonly Node[] {
  const { larg, rarg } = select as { larg?: Node; rarg?: Node };
  return larg === undefined || rarg === undefined ? [select] : [...selectsOf(larg), ...selectsOf(rarg)];
}

function nameOf(range: Node): string {
  return String((range['RangeVar'] as Node | undefined)?.['relname'] ?? range['relname']);
}

function aliasOf(range: Node): string {
  const { alias } = (range['RangeVar'] ?? range) as { alias?: Node };
  return alias === undefined ? nameOf(range) : String(alias['aliasname']);
}

function functionOf(call: Node): string {
  return stringsOf(call['funcname']).at(-1) ?? '';
}

function stringsOf(names: unknown): readonly string[] {
  return Array.isArray(names) ? names.map((one) => String((one as { String?: Node }).String?.['sval'] ?? '')) : [];
}

/** Every node of a kind below a part, itself included; `except`: kinds whose subtrees are skipped. */
export function nodesOf(part: unknown, kind: string, except: readonly string[] = []): readonly Node[] {
  const found: Node[] = [];
  const walk = (one: unknown): void => {
    if (typeof one !== 'object' || one === null) return;
    for (const key in one) {
      const value = (one as Node)[key];
      if (key === kind) found.push(value as Node);
      if (!except.includes(key)) walk(value);
    }
  };
  walk(part);
  return found;
}
