/**
 * Compares PostgreSQL's own catalog rows in a copy with those of a new cluster of the same programs. A superuser can change these rows in
 * place, and then an ordinary function or type runs foreign code. The rows are therefore read from their files, before any session starts
 * (D-804).
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { giveTo, type Programa } from './arquivos.files.ts';
import { CopiaRecusada } from './cifra.files.ts';
import { askSingle } from './codigo.rows.ts';
import { type Coluna, type Linha, readFora, readLinhas } from './paginas.files.ts';

/** Objects from this number on belong to the users of the server. */
const OWN = 16_384;
/** Numbers from here to {@link OWN} are assigned by initdb in its own order. A machine with other collations has other ones. */
const DRAWN = 12_000;
const PG_CATALOG = 11;
/** The folder of `template1`. */
const TEMPLATE = '1';
const [OID, REGPROC, NAME, TEXT, NODES, OIDS, ACL] = [26, 24, 19, 25, 194, 30, 1_034];

type Catalogo = {
  readonly id: string;
  /** Columns with the row's name and schema. A user's row is suspect only within PostgreSQL's own schema. */
  readonly nome?: string;
  readonly esquema?: string;
  readonly tipo: string;
  /** The columns that are compared; undefined: all but those that an administrator may lawfully change. */
  readonly so?: readonly string[];
  /** Whether a foreign row would take the place of a row of PostgreSQL. */
  readonly estranho?: (linha: Linha) => boolean;
};

const CLASS = 'oid relname relnamespace reltype relowner relam relkind relhasrules relhastriggers relrowsecurity';
const ATTRIBUTE = 'attrelid attname atttypid attlen attnum attalign attbyval attisdropped atthasdef attgenerated';
const INDEX = 'indexrelid indrelid indkey indclass indcollation indexprs indpred';
/** Columns of functions and languages that an administrator may alter. */
const LAWFUL = ['procost', 'prorows', 'proparallel', 'lanpltrusted'];

const CATALOGOS: Readonly<Record<string, Catalogo>> = {
  pg_proc: {
    id: 'oid',
    nome: 'proname',
    esquema: 'pronamespace',
    tipo: 'função',
    estranho: (linha) => !isOfProgram(linha),
  },
  pg_type: { id: 'oid', nome: 'typname', esquema: 'typnamespace', tipo: 'tipo', estranho: () => true },
  pg_class: {
    id: 'oid',
    nome: 'relname',
    esquema: 'relnamespace',
    tipo: 'tabela, visão ou índice',
    so: CLASS.split(' '),
    estranho: () => true,
  },
  pg_attribute: { id: 'attrelid', nome: 'attname', tipo: 'coluna', so: ATTRIBUTE.split(' ') },
  pg_operator: { id: 'oid', nome: 'oprname', esquema: 'oprnamespace', tipo: 'operador', estranho: () => true },
  pg_conversion: {
    id: 'oid',
    nome: 'conname',
    esquema: 'connamespace',
    tipo: 'conversão de letras',
    estranho: () => true,
  },
  pg_cast: {
    id: 'oid',
    tipo: 'conversão de tipo',
    estranho: (linha) => numberOf(linha['castsource']) < OWN && numberOf(linha['casttarget']) < OWN,
  },
  pg_opclass: { id: 'oid', nome: 'opcname', tipo: 'classe de operadores' },
  pg_opfamily: { id: 'oid', nome: 'opfname', tipo: 'família de operadores' },
  pg_amproc: { id: 'oid', tipo: 'função de índice', estranho: (linha) => numberOf(linha['amprocfamily']) < OWN },
  pg_amop: { id: 'oid', tipo: 'operador de índice', estranho: (linha) => numberOf(linha['amopfamily']) < OWN },
  pg_am: { id: 'oid', nome: 'amname', tipo: 'método de acesso' },
  pg_aggregate: { id: 'aggfnoid', tipo: 'agregação' },
  pg_language: { id: 'oid', nome: 'lanname', tipo: 'linguagem' },
  pg_range: { id: 'rngtypid', tipo: 'tipo de intervalo' },
  pg_ts_parser: { id: 'oid', nome: 'prsname', tipo: 'leitor de textos' },
  pg_ts_template: { id: 'oid', nome: 'tmplname', tipo: 'modelo de dicionário' },
  pg_index: { id: 'indexrelid', tipo: 'índice', so: INDEX.split(' ') },
  pg_rewrite: {
    id: 'ev_class',
    nome: 'rulename',
    tipo: 'regra',
    so: ['ev_class', 'rulename', 'ev_type', 'ev_enabled', 'is_instead'],
  },
  pg_trigger: { id: 'tgrelid', nome: 'tgname', tipo: 'gatilho' },
  pg_attrdef: { id: 'adrelid', tipo: 'valor padrão' },
};

/** Temporary name of a table that `vacuum full` rewrites. */
const MEANWHILE = /^_?pg_temp_\d+$/;

const numberOf = (value: Buffer | undefined): number => value?.readUInt32LE(0) ?? 0;
const textOf = (value: Buffer | undefined): string => (value?.toString('utf8') ?? '').replace(/\0+$/, '');
/** Whether a function is written in C and belongs to a library of the programs. */
const isOfProgram = ({ prolang, probin }: Linha): boolean =>
  numberOf(prolang) === 13 && /^\$libdir\/[a-z0-9_-]+$/.test(textOf(probin));

type Colunas = ReadonlyMap<string, { readonly oid: number; readonly columns: readonly Coluna[] }>;
/** PostgreSQL's own rows of each catalog, each as a text. */
type Originais = ReadonlyMap<string, ReadonlySet<string>>;

/** `chamadas`: functions that PostgreSQL's own views call. */
export type Mudados = { readonly achados: readonly string[]; readonly chamadas: readonly string[] };

/** Kinds and names of rows that differ from PostgreSQL's own, in any database of a cluster without a running server. */
export async function findMudados(programa: Programa, cluster: string): Promise<Mudados> {
  const fresh = `${cluster}.novo`;
  await rm(fresh, { recursive: true, force: true });
  try {
    await makeFresh(programa, fresh);
    const said = await askSingle(programa, { cluster: fresh, banco: 'template1', args: [] }, [ABOUT, CHAMADAS]);
    const colunas = readColunas(said.filter((line) => line.includes(' ')));
    const originais = new Map<string, Set<string>>();
    for (const [name, catalogo] of Object.entries(CATALOGOS)) {
      const rows = new Set<string>();
      for (const linha of await linhasOf(path.join(fresh, 'base', TEMPLATE), name, colunas)) {
        if (numberOf(linha[catalogo.id]) < OWN) rows.add(sayLinha(catalogo, colunas.get(name)!.columns, linha));
      }
      originais.set(name, rows);
    }
    const found = new Set<string>();
    for (const folder of await databasesOf(cluster)) {
      for (const one of await compare(folder, colunas, originais)) found.add(one);
    }
    return { achados: [...found], chamadas: said.filter((line) => !line.includes(' ')) };
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
}

async function compare(folder: string, colunas: Colunas, originais: Originais): Promise<readonly string[]> {
  const found: string[] = [];
  for (const [name, catalogo] of Object.entries(CATALOGOS)) {
    const { id, nome, esquema, tipo, estranho } = catalogo;
    for (const linha of await linhasOf(folder, name, colunas)) {
      const number = numberOf(linha[id]);
      const called = nome === undefined ? String(number) : textOf(linha[nome]);
      if (number >= OWN) {
        const isThere = esquema === undefined || numberOf(linha[esquema]) === PG_CATALOG;
        if (isThere && !MEANWHILE.test(called) && estranho?.(linha) === true) {
          found.push(`${tipo} ${called}, entre os nomes do PostgreSQL`);
        }
      } else if (!originais.get(name)!.has(sayLinha(catalogo, colunas.get(name)!.columns, linha))) {
        found.push(`${tipo} ${called} do PostgreSQL, com mudança`);
      }
    }
  }
  return found;
}

/** The text of a row; all numbers that initdb assigns become equal. */
function sayLinha({ so }: Catalogo, columns: readonly Coluna[], linha: Linha): string {
  const compared = columns.filter(({ nome, tipo }) => so?.includes(nome) ?? (tipo !== ACL && !LAWFUL.includes(nome)));
  return compared.map(({ nome, tipo }) => sayValue(tipo, linha[nome])).join('|');
}

function sayValue(tipo: number, value: Buffer | undefined): string {
  if (value === undefined) return '';
  if (tipo === OID || tipo === REGPROC || tipo === OIDS) {
    const numbers = Array.from({ length: value.length >> 2 }, (_, at) => value.readUInt32LE(4 * at));
    return numbers.map((one) => (one >= DRAWN && one < OWN ? 'n' : one)).join(' ');
  }
  if (tipo === NAME || tipo === TEXT || tipo === NODES) {
    const text = value.toString('latin1').replace(/\0+$/, '');
    return text.replaceAll(/(?<!\d)1[2-6]\d{3}(?!\d)/g, (digits) => (Number(digits) < OWN ? 'n' : digits));
  }
  return value.toString('hex');
}

async function databasesOf(cluster: string): Promise<readonly string[]> {
  const base = path.join(cluster, 'base');
  return (await readdir(base)).filter((name) => /^\d+$/.test(name)).map((name) => path.join(base, name));
}

/** Rows of a catalog in all of its files, past and present, that still exist. */
async function linhasOf(folder: string, name: string, colunas: Colunas): Promise<readonly Linha[]> {
  const { oid, columns } = colunas.get(name)!;
  const { oid: pgClass, columns: ofClass } = colunas.get('pg_class')!;
  const mapped = await readMap(folder);
  const tables = await readLinhas(folder, String(mapped.get(pgClass)), ofClass);
  const filesOf = (table: number): readonly string[] => {
    const place = mapped.get(table);
    const found = tables
      .filter((linha) => numberOf(linha['oid']) === table)
      .map(({ relfilenode }) => numberOf(relfilenode));
    const files = [...new Set(place === undefined ? found : [place])].map(String);
    return files.filter((file) => existsSync(path.join(folder, file)));
  };
  const files = filesOf(oid);
  if (files.length === 0) throw new CopiaRecusada(`${folder} não tem o catálogo ${name} do PostgreSQL.`);
  const outside = new Set(
    tables.filter((linha) => numberOf(linha['oid']) === oid).map(({ reltoastrelid }) => numberOf(reltoastrelid)),
  );
  const fora = new Map<number, Buffer>();
  for (const file of [...outside].flatMap(filesOf)) for (const one of await readFora(folder, file)) fora.set(...one);
  return (await Promise.all(files.map((file) => readLinhas(folder, file, columns, fora)))).flat();
}

const MAP_MAGIC = 0x592717;
const MAP_MAX = 64;

/** The files of the catalogs that name the files of all others. */
async function readMap(folder: string): Promise<ReadonlyMap<number, number>> {
  const file = path.join(folder, 'pg_filenode.map');
  const data = await readFile(file);
  const count = data.length < 512 ? -1 : data.readInt32LE(4);
  if (data.readUInt32LE(0) !== MAP_MAGIC || count < 0 || count > MAP_MAX) {
    throw new CopiaRecusada(`${file}, da cópia, não se lê.`);
  }
  return new Map(
    Array.from({ length: count }, (_, at) => [data.readUInt32LE(8 + 8 * at), data.readUInt32LE(12 + 8 * at)] as const),
  );
}

const CHAMADAS = `select distinct a.m[1] from pg_rewrite r
  cross join lateral regexp_matches(r.ev_action::text, ':(?:funcid|opfuncid|aggfnoid|winfnoid) (\\d+)', 'g') as a (m)
  where r.ev_class < ${OWN}`;
const ABOUT = `select c.relname || ' ' || c.oid || ' ' || a.attname || ' ' || a.atttypid || ' ' || a.attlen || ' ' || a.attalign::text
  from pg_attribute a join pg_class c on c.oid = a.attrelid
  where c.relname in (${Object.keys(CATALOGOS)
    .map((name) => `'${name}'`)
    .join(', ')}) and c.oid < ${DRAWN} and a.attnum > 0 order by c.oid, a.attnum`;

function readColunas(said: readonly string[]): Colunas {
  const colunas = new Map<string, { oid: number; columns: Coluna[] }>();
  for (const line of said) {
    const [table, oid, nome, tipo, len, align] = line.split(' ') as [string, string, string, string, string, string];
    const { columns } = colunas.getOrInsert(table, { oid: Number(oid), columns: [] });
    columns.push({ nome, tipo: Number(tipo), len: Number(len), align });
  }
  return colunas;
}

/** Makes a new cluster with the same programs; no server runs on it. */
async function makeFresh({ program, spawnOptions, account }: Programa, fresh: string): Promise<void> {
  await mkdir(fresh, { mode: 0o700 });
  await giveTo(fresh, account);
  const initdb = path.join(path.dirname(program), 'initdb');
  const args = ['-D', fresh, '--encoding=UTF8', '--locale=C', '--auth=reject', '--no-sync', '--no-instructions'];
  const child = spawn(initdb, args, { ...spawnOptions, stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const code = await new Promise((resolve) => {
    child.once('error', ({ message }) => resolve(message)).once('close', resolve);
  });
  if (code === 0) return;
  throw new CopiaRecusada(
    `${initdb} não fez o banco novo com que os catálogos da cópia se comparam (${code}): ${said.trim().slice(-500)}`,
  );
}
