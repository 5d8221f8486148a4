/** The rows of an archived month: read from its tables in the order of a file, and written back into them. */
import { certificateId, linhasOf } from '../../base/book/arquivo.ts';
import { ArquivoDanificado, type Linha, type Registro } from '../../base/book/arquivo-formato.ts';
import { compressPapers } from '../../base/book/documentos.ts';
import { MENSAIS } from '../../base/book/meses.ts';
import { DICIONARIO } from '../../base/book/pacote.ts';
import type { Db } from '../../base/pg/open.ts';
import type { PoolClient } from '../../base/pg/pg.ts';

/** The tables of a month in its file, with their document columns. The first table of a kind has one row for each record. */
const TABELAS = MENSAIS.flatMap(({ tabela, familia, chave, documentos }) =>
  familia && documentos ? [{ tabela, tipo: familia, chave, documentos }] : [],
);

export const NAMES: readonly string[] = TABELAS.map(({ tabela }) => tabela);

/** Rows by table. */
export type Linhas = Readonly<Record<string, number>>;

/** Rows of the month in each of its tables, by tenant. */
export async function countLinhas(db: Pick<PoolClient, 'query'>, mes: number): Promise<ReadonlyMap<string, Linhas>> {
  const counts = new Map<string, Record<string, number>>();
  for (const table of NAMES) {
    const text = `select tenant, count(*)::int as count from ${table}_${mes} group by tenant order by tenant`;
    for (const { tenant, count } of (await db.query<{ tenant: string; count: number }>(text)).rows) {
      counts.set(tenant, { ...counts.get(tenant), [table]: count });
    }
  }
  return counts;
}

/** Records read together: a lot may have a megabyte. */
export const STEP = 100;
/** All rows of a tenant in a month's tables, in the order of a file, and the named certificates. */
export async function* registrosOf(pool: Db, tenant: string, mes: number): AsyncGenerator<Registro> {
  /** Certificates by digest; the bytes are present when the database may lack them. */
  const certificados = new Map<string, Buffer | undefined>();
  for (const [tipo, tables] of Map.groupBy(TABELAS, (one) => one.tipo)) {
    for (let after = '-1'; ; ) {
      const ids = await idsAfter(pool, { tipo, tables, tenant, mes, after });
      const rows: Record<string, ReadonlyMap<string, readonly Linha[]>> = {};
      for (const table of tables) rows[table.tabela] = await readLinhas(pool, { table, tenant, mes, ids });
      for (const id of ids) {
        const linhas = Object.fromEntries(Object.entries(rows).map(([table, of]) => [table, of.get(id) ?? []]));
        if (tipo === 'nota') linhas['documentos'] = linhas['documentos']!.map((one) => compressed(one, certificados));
        yield { tipo, id: BigInt(id), linhas };
      }
      if (ids.length < STEP) break;
      after = ids.at(-1)!;
    }
  }
  const prints = [...certificados.keys()].map((hex) => Buffer.from(hex, 'hex'));
  prints.sort((one, other) => Buffer.compare(one, other));
  const text = 'select der from certificados where tenant = $1 and impressao = $2';
  for (const impressao of prints) {
    const hex = impressao.toString('hex');
    const der = certificados.get(hex) ?? (await pool.query<{ der: Buffer }>(text, [tenant, impressao])).rows[0]?.der;
    if (der === undefined) throw new Error(`o certificado ${hex} de ${tenant} não está no banco`);
    const linha = { colunas: { impressao: `\\x${hex}` }, bytes: { der } };
    yield { tipo: 'certificado', id: certificateId(impressao), linhas: { certificados: [linha] } };
  }
}

/** Compresses the documents of a row together, if they can be restored exactly. */
function compressed(linha: Linha, certificados: Map<string, Buffer | undefined>): Linha {
  const { recebido, nfse } = linha.bytes;
  const { certificado: named } = linha.colunas;
  if (typeof named === 'string' && !certificados.has(named.slice(2))) certificados.set(named.slice(2), undefined);
  if (recebido === undefined || nfse === undefined) return linha;
  const inside = compressPapers({ recebido, nfse });
  if (inside === undefined) return linha;
  const { bytes: pacote, certificado, partes } = inside;
  const hex = certificado?.impressao.toString('hex');
  if (hex !== undefined) certificados.set(hex, certificado!.der);
  const impressao = hex === undefined ? null : `\\x${hex}`;
  return { colunas: { ...linha.colunas, dicionario: DICIONARIO, certificado: impressao, partes }, bytes: { pacote } };
}

type Table = (typeof TABELAS)[number];
type Asked = { readonly tenant: string; readonly mes: number };
type After = Asked & { readonly tipo: string; readonly tables: readonly Table[]; readonly after: string };

async function idsAfter(pool: Db, { tipo, tables, tenant, mes, after }: After): Promise<readonly string[]> {
  const each = tables.map(
    ({ tabela }) =>
      `(select distinct ${tipo} as id from ${tabela} where tenant = $1 and mes = ${mes} and ${tipo} > $2 order by 1 limit ${STEP})`,
  );
  const text = `select id from (${each.join(' union ')}) x order by id limit ${STEP}`;
  return (await pool.query<{ id: string }>(text, [tenant, after])).rows.map(({ id }) => id);
}

async function readLinhas(
  pool: Db,
  { table, tenant, mes, ids }: Asked & { readonly table: Table; readonly ids: readonly string[] },
): Promise<ReadonlyMap<string, readonly Linha[]>> {
  const { tabela, tipo, chave, documentos } = table;
  const apart = documentos.map((name) => `, t.${name}`).join('');
  const whole = documentos.length === 0 ? 'to_jsonb(t)' : `to_jsonb(t) - '{${documentos.join(',')}}'::text[]`;
  const order = chave.flatMap((column) => (column === 'mes' ? [] : `t.${column}`)).join(', ');
  const text = `select t.${tipo}::text as id, ${whole} as colunas${apart} from unnest($2::bigint[]) as x (id)
    join ${tabela} t on t.tenant = $1 and t.mes = ${mes} and t.${tipo} = x.id order by ${order}`;
  type Row = { readonly id: string; readonly colunas: Linha['colunas'] } & Readonly<Record<string, Buffer | null>>;
  const { rows } = await pool.query(text, [tenant, ids]);
  const found = new Map<string, Linha[]>();
  for (const { id, colunas, ...parts } of rows as Row[]) {
    const has = Object.entries(parts).filter((part): part is [string, Buffer] => part[1] !== null);
    found.getOrInsertComputed(id, () => []).push({ colunas, bytes: Object.fromEntries(has) });
  }
  return found;
}

/** Bytes of its documents. */
export function bytesOf({ linhas }: Registro): number {
  const parts = Object.values(linhas).flatMap((rows) => rows.flatMap(({ bytes }) => Object.values(bytes)));
  return parts.reduce((sum, { length }) => sum + length, 0);
}

/** The bases on which the signatures of its documents were judged. */
export function fundamentosOf({ linhas }: Registro): readonly number[] {
  const named = Object.values(linhas).flatMap((rows) => rows.map(({ colunas }) => colunas['confianca']));
  return named.filter((one) => typeof one === 'number');
}

export async function insertRegistros(
  client: PoolClient,
  tenant: string,
  registros: readonly Registro[],
): Promise<void> {
  for (const table of ['certificados', ...NAMES]) {
    const linhas = registros.flatMap((registro) => linhasOf(registro, table));
    if (linhas.length === 0) continue;
    const rows = linhas.map(({ colunas, bytes }) => {
      const parts = Object.entries(bytes).map(([name, value]) => [name, `\\x${value.toString('hex')}`]);
      const { tenant: _tenant, ...others } = colunas;
      return { ...others, ...Object.fromEntries(parts) };
    });
    const columns = [...new Set(rows.flatMap(Object.keys))];
    // The column names come from a file.
    if (columns.some((column) => !/^[a-z_]+$/.test(column))) throw new ArquivoDanificado('uma coluna não tem nome');
    const text = `insert into ${table} (${['tenant', ...columns].join(', ')})
      select ${['m.tenant', ...columns.map((column) => `r.${column}`)].join(', ')} from municipios m
      cross join jsonb_populate_recordset(null::${table}, $2) r where m.tenant = $1 on conflict do nothing`;
    await client.query(text, [tenant, JSON.stringify(rows)]);
  }
}
