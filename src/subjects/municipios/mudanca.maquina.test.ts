/** A municipality moves from one service to another by a file, and a whole database moves to another one. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import http from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { fillNotas } from '../../../test/support/cheio.ts';
import { onEnd } from '../../../test/support/cleanup.ts';
import { nfseBeside } from '../../../test/support/cli.ts';
import { databaseUrlOf, emptyDatabase, freshDatabase, pidOf, untilAwaited } from '../../../test/support/database.ts';
import { balcao, CANCELAMENTO, type NotaEmitida } from '../../../test/support/eventos.ts';
import { request } from '../../../test/support/http.ts';
import { MES } from '../../../test/support/nota-keys.ts';
import {
  nfse,
  readyDataDir,
  type Said,
  type ServiceProcess,
  startServiceProcess,
} from '../../../test/support/process.ts';
import { start } from '../../../test/support/started.ts';
import { until } from '../../../test/support/until.ts';
import { openPool } from '../../base/pg/open.ts';
import { Client, type ClientConfig } from '../../base/pg/pg.ts';
import { TAR_END, tarFile } from '../../documents/tar.ts';
import { exampleXml } from '../../fiscal/rules/example.ts';

/** The municipality of the example DPS. */
const IBGE = '3550308';
const dps = (number: string) => ({
  headers: { 'Content-Type': 'application/xml' },
  body: exampleXml({ serie: '1', nDPS: number }),
});
const BASE_URL = 'https://nfse.exemplo.gov.br';

type Place = { readonly connection: ClientConfig; readonly env: NodeJS.ProcessEnv };

async function openPlace(database: Promise<ClientConfig> = freshDatabase()): Promise<Place> {
  const connection = await database;
  return { connection, env: { DATABASE_URL: databaseUrlOf(connection), NFSE_BASE_URL: BASE_URL } };
}

async function freshFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'nfse-mudanca-'));
  onEnd(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

async function run(args: readonly string[], { env }: Place, code = 0): Promise<Said> {
  // A new process costs most of a second; only `banco mudar` gets one, since it listens for signals.
  const said = await (args[0] === 'banco' ? nfse : nfseBeside)(args, env);
  assert.equal(said.code, code, `nfse ${args.join(' ')}\n${said.out}${said.err}`);
  return said;
}

async function inDatabase<Result>({ connection }: Place, work: (client: Client) => Promise<Result>): Promise<Result> {
  const client = new Client(connection);
  await client.connect();
  return work(client).finally(() => client.end());
}

async function fill({ connection }: Place, tenant: string, count: number, meses = [MES]): Promise<void> {
  const pool = openPool(connection, () => undefined);
  await fillNotas(pool, tenant, count, meses).finally(() => pool.end());
}

const ask = (
  place: Place,
  text: string,
  values: readonly unknown[] = [],
): Promise<readonly Record<string, unknown>[]> =>
  inDatabase(place, async (client) => (await client.query(text, [...values])).rows);

/** Blocks writers of a table in one of the databases. */
async function holdWriters({ connection }: Place, table: string) {
  // Connections with this name survive the closing of the database.
  const own = { ...connection, application_name: 'teste-presente' };
  const [holder, onlooker] = [new Client(own), new Client(own)];
  await Promise.all([holder.connect(), onlooker.connect()]);
  // A closed database takes writes only from transactions that declare them.
  await holder.query(`begin read write; lock table ${table} in share mode`);
  const letGo = async (): Promise<void> => {
    await Promise.all([holder.end(), onlooker.end()]);
  };
  return {
    untilHeld: async () => untilAwaited(onlooker, await pidOf(holder)),
    letGo,
    /** Resolves after the blocked backends have ended. */
    end: async (held: readonly number[]): Promise<void> => {
      await onlooker.query('select pg_terminate_backend(pid, 600000) from unnest($1::int[]) pid', [held]);
      await letGo();
    },
  };
}

/** An answer as raw bytes. */
function bytesAt(url: string): Promise<{ readonly status: number; readonly bytes: Buffer }> {
  return new Promise((resolve, reject) => {
    http
      .get(url, { agent: false }, (answer) => {
        const pieces: Buffer[] = [];
        answer.on('data', (piece) => pieces.push(piece));
        answer.on('end', () => resolve({ status: answer.statusCode!, bytes: Buffer.concat(pieces) }));
      })
      .on('error', reject);
  });
}

const untilStatus = (address: string, tenant: string, nota: NotaEmitida, status: string): Promise<true> =>
  until(async () => (await balcao(address, tenant).nota(nota)).body.nota?.status === status || undefined, status);

const numberOf = ({ xml_nfse }: NotaEmitida & { readonly xml_nfse?: string }): number =>
  Number(/<nNFSe>(\d+)<\/nNFSe>/.exec(xml_nfse!)![1]);

/** All public answers about a note, byte by byte; the last is its trail, which the operator reads. */
async function readAll(place: Place, address: string, tenant: string, { chave_acesso, numero_protocolo }: NotaEmitida) {
  const api = `${address}/${tenant}/api/v1`;
  const paths = [
    `nfse/${chave_acesso}`,
    `nfse/protocolo/${numero_protocolo}`,
    `danfse/${chave_acesso}`,
    `nfse/${chave_acesso}/eventos`,
  ];
  const answers = [];
  for (const one of paths) {
    const { status, bytes } = await bytesAt(`${api}/${one}`);
    answers.push(`${status} ${createHash('sha256').update(bytes).digest('hex')} ${bytes.length}`);
  }
  const { out } = await run(['nota', 'mostrar', chave_acesso, '--municipio', tenant], place);
  return [...answers, out.replaceAll(tenant, 'SLUG')];
}

const criar = (place: Place, slug: string, ...more: readonly string[]): Promise<Said> =>
  run(['municipio', 'criar', slug, '--ibge', IBGE, '--ambiente', 'homologacao', ...more], place);

describe('a municipality moves to another service', () => {
  let [old, other]: [Place, Place] = [] as never;
  let [from, to]: [ServiceProcess, ServiceProcess] = [] as never;
  let file = '';

  before(async () => {
    [old, other] = [await openPlace(), await openPlace()];
    await criar(old, 'origem');
    [from, to] = [await startServiceProcess(old.env), await startServiceProcess(other.env)];
    file = path.join(await freshFolder(), 'origem.nfse');
  });

  test('its notes, events and trails are the same to the byte, and it goes on where it stood', async () => {
    const here = balcao(from.address, 'origem');
    const notas: NotaEmitida[] = [];
    for (let number = 1; number <= 5; number += 1) notas.push(await here.issue({ serie: '1', nDPS: String(number) }));
    for (const nota of notas) await untilStatus(from.address, 'origem', nota, 'autorizada');
    await here.registered(notas[0]!, { ...CANCELAMENTO, chave_acesso: notas[0]!.chave_acesso });
    await untilStatus(from.address, 'origem', notas[0]!, 'cancelada');
    const last = await here.issue({ serie: '1', nDPS: '6' }, { 'X-NFSe-Simular': 'adn:atraso=15s' });
    const told = await Promise.all(notas.map((nota) => readAll(old, from.address, 'origem', nota)));

    await run(['municipio', 'alterar', 'origem', '--fechar'], old);
    const refused = await until(async () => {
      const answer = await request(from.address, '/origem/api/v1/nfse/v101', { method: 'POST', ...dps('3') });
      return answer.status === 503 ? answer : undefined;
    }, 'the refusal');
    assert.match(refused.body.erros[0].mensagem, /fechado por quem o opera/);
    assert.ok(Number(refused.headers.get('retry-after')) > 0);
    const evento = { ...CANCELAMENTO, chave_acesso: notas[1]!.chave_acesso };
    assert.equal((await here.register(notas[1]!, evento)).status, 503);
    assert.equal((await here.nota(notas[1]!)).status, 200);
    // True, unless a stalled machine gave the national environment time to decide.
    const isPending = (await here.nota(last)).body.nota.status !== 'autorizada';

    const exported = await run(['municipio', 'exportar', 'origem', '--para', file], old);
    assert.match(exported.out, /notas +6 /);
    assert.match(exported.out, /continua fechado/);
    const imported = await run(['municipio', 'importar', file, '--como', 'destino'], other);
    assert.match(imported.out, /notas +6 /);
    const sum = /SHA-256 do arquivo: (\w{64})/;
    assert.equal(sum.exec(imported.out)![1], sum.exec(exported.out)![1]);
    assert.equal(
      sum.exec(exported.out)![1],
      createHash('sha256')
        .update(await readFile(file))
        .digest('hex'),
    );

    const there = balcao(to.address, 'destino');
    const again = await Promise.all(notas.map((nota) => readAll(other, to.address, 'destino', nota)));
    assert.deepEqual(again, told);
    const closed = await request(to.address, '/destino/api/v1/nfse/v101', { method: 'POST', ...dps('3') });
    assert.equal(closed.status, 503);

    await run(['municipio', 'alterar', 'destino', '--sem-fechar'], other);
    const next = await until(async () => {
      const asked = await there.issue({ serie: '1', nDPS: '7' }).catch(() => undefined);
      return asked;
    }, 'the opening');
    assert.equal(numberOf(next), numberOf(last) + 1);
    // A number used before the move is still taken.
    await assert.rejects(there.issue({ serie: '1', nDPS: '3' }), /E0014/);
    await untilStatus(to.address, 'destino', last, 'autorizada');
    // The original service has sent nothing more.
    if (isPending) assert.notEqual((await here.nota(last)).body.nota.status, 'autorizada');
  });

  test('the file is read by programs that everybody has', async () => {
    const folder = await freshFolder();
    await writeFile(path.join(folder, 'x.tar'), zstdDecompressSync(await readFile(file)));
    execFileSync('tar', ['-xf', 'x.tar'], { cwd: folder });
    const { tabelas, municipio } = JSON.parse(await readFile(path.join(folder, 'municipio.json'), 'utf8'));
    assert.equal(municipio, 'origem');
    const lines = (await readFile(path.join(folder, 'notas/000001.tsv'), 'utf8')).split('\n');
    const { colunas } = tabelas.find(({ nome }: { nome: string }) => nome === 'notas');
    assert.deepEqual(
      lines[0]!.split('\t'),
      colunas.map(({ nome }: { nome: string }) => nome),
    );
    assert.equal(lines.length, 1 + 6 + 1);
    assert.match(await readFile(path.join(folder, 'LEIA-ME.txt'), 'utf8'), /COPY do PostgreSQL/);
    // The tables of the export are those of the database's own catalogue.
    const rows = await ask(old, `select tablename from pg_tables where schemaname = 'public'`);
    const own = rows
      .map(({ tablename }) => String(tablename))
      .filter(
        (name) =>
          !/^(migracoes|meses$|contagens|contas$|papeis$|passkeys$|sessoes$|tabelas_al|aliquotas_|codigos_)|_\d{6}$/.test(
            name,
          ),
      );
    assert.deepEqual(tabelas.map(({ nome }: { nome: string }) => nome).sort(), own.sort());
  });

  test('who does not fit is refused with a sentence, and nothing is left', async () => {
    const importing = async (place: Place, args: readonly string[], why: RegExp): Promise<void> => {
      const { err } = await run(['municipio', 'importar', ...args], place, 1);
      assert.match(err, why);
    };
    await importing(other, [file, '--como', 'destino'], /já existe o município destino/);
    await importing(other, [file, '--como', 'docs'], /reservado/);
    await importing(other, [import.meta.filename], /danificado/);
    const folder = await freshFolder();
    const whole = await readFile(file);
    const damaged = path.join(folder, 'damaged');
    for (const at of [0.2, 0.5, 0.9]) {
      const bytes = Buffer.from(whole);
      bytes[Math.floor(bytes.length * at)]! ^= 1;
      await writeFile(damaged, bytes);
      await importing(other, [damaged, '--como', 'outro'], /danificado|não confere/);
    }
    await writeFile(damaged, whole.subarray(0, whole.length - 1));
    await importing(other, [damaged, '--como', 'outro'], /danificado/);
    // The archive is well-formed, but lacks one of its rows.
    await writeFile(damaged, zstdCompressSync(withoutRow(zstdDecompressSync(whole))));
    await importing(
      other,
      [damaged, '--como', 'outro'],
      /a tabela notas não confere: lidas 5 linhas, e o arquivo diz 6/,
    );
    await ask(other, `insert into migracoes (nome, aplicada_em) values ('000-outra.sql', now())`);
    try {
      const { err } = await run(['municipio', 'importar', file, '--como', 'outro'], other, 1);
      assert.match(err, /versão/);
    } finally {
      await ask(other, `delete from migracoes where nome = '000-outra.sql'`);
    }
    assert.deepEqual(await ask(other, `select 1 from municipios where tenant = 'outro'`), []);
    assert.deepEqual(await ask(other, `select 1 from notas where tenant = 'outro'`), []);
  });

  test('two in production under one code are refused', async () => {
    const producao = ['--ibge', '3304557', '--ambiente', 'producao'];
    await run(['municipio', 'criar', 'rio', ...producao], old);
    const rio = path.join(await freshFolder(), 'rio.nfse');
    const { out } = await run(['municipio', 'exportar', 'rio', '--para', rio], old);
    assert.match(out, /continua aberto/);
    await run(['municipio', 'criar', 'rio-de-janeiro', ...producao], other);
    const { err } = await run(['municipio', 'importar', rio], other, 1);
    assert.match(err, /3304557 já está em produção neste banco, no endereço rio-de-janeiro/);
    assert.deepEqual(await ask(other, `select 1 from municipios where tenant = 'rio'`), []);
    await run(['municipio', 'excluir', 'rio-de-janeiro', '--confirmar'], other);
    const imported = await run(['municipio', 'importar', rio], other);
    assert.match(imported.out, /ATENÇÃO +rio estava aberto/);
    const existing = await run(['municipio', 'exportar', 'rio', '--para', rio], old, 1);
    assert.match(existing.err, /já existe/);
  });

  test('an import that is killed leaves nothing, and is done when it is asked for again', async () => {
    const many = 500;
    await criar(old, 'grande');
    await fill(old, 'grande', many);
    const grande = path.join(await freshFolder(), 'grande.nfse');
    await run(['municipio', 'exportar', 'grande', '--para', grande], old);
    const copying = await holdWriters(other, 'documentos');
    const importing = start(['bin/nfse', 'municipio', 'importar', grande], other.env);
    const held = await copying.untilHeld();
    process.kill(-importing.child.pid!, 'SIGKILL');
    await importing.ended;
    await copying.end(held);
    const left = `select pid from pg_stat_activity where datname = current_database() and application_name = 'nfse-migrar'`;
    await until(async () => (await ask(other, left)).length === 0 || undefined, 'its end');
    assert.deepEqual(await ask(other, `select 1 from municipios where tenant = 'grande'`), []);
    assert.equal((await request(to.address, '/grande/api/v1/nfse/x')).status, 404);
    await run(['municipio', 'importar', grande], other);
    const counts = `select (select count(*)::int from notas where tenant = 'grande') as notas,
      (select count(*)::int from trilha_notas where tenant = 'grande') as trilha`;
    assert.deepEqual(await ask(other, counts), [{ notas: many, trilha: 3 * many }]);
  });
});

describe('a database becomes another one', () => {
  const MUDAR = ['banco', 'mudar', '--para'];
  const urlOf = ({ connection }: Place): string => databaseUrlOf(connection);
  const isClosed = async (place: Place): Promise<boolean> =>
    (await ask(place, "select 1 where current_setting('default_transaction_read_only') = 'on'")).length === 1;

  /** A database with a large and a small municipality. */
  async function filled(many = 500): Promise<Place> {
    const place = await openPlace();
    await criar(place, 'grande');
    await criar(place, 'pequeno');
    await fill(place, 'grande', many);
    await fill(place, 'pequeno', 20);
    return place;
  }

  /** The row counts and sums of both databases, by table, in plain SQL. */
  async function assertSame(one: Place, other: Place): Promise<void> {
    const tables = (await ask(one, `select tablename from pg_tables where schemaname = 'public' order by 1`)).map(
      (row) => row['tablename'],
    );
    assert.ok(tables.length > 20);
    for (const table of tables.filter((name) => !/^(migracoes|meses)/.test(String(name)))) {
      const text = `select count(*)::int as rows, md5(string_agg(md5(t::text), '' order by md5(t::text))) as sum from ${table} t`;
      assert.deepEqual(await ask(other, text), await ask(one, text), String(table));
    }
  }

  test('a service that is up answers questions meanwhile, and goes on with the other', async () => {
    const [old, fresh] = [await openPlace(), await openPlace(emptyDatabase())];
    await criar(old, 'cidade');
    const service = await startServiceProcess(old.env);
    const here = balcao(service.address, 'cidade');
    const nota = await here.issue({ serie: '1', nDPS: '1' });
    await untilStatus(service.address, 'cidade', nota, 'autorizada');
    const told = await readAll(old, service.address, 'cidade', nota);

    const asked = await run([...MUDAR, urlOf(fresh), '--ensaio'], old);
    assert.match(asked.out, /Seria feita a mudança: 2 municípios, .* min em que só se consulta/);
    assert.equal(await isClosed(old), false);
    const { out } = await run([...MUDAR, urlOf(fresh)], old);
    assert.match(out, /Mudado e conferido/);

    const refused = await until(async () => {
      const answer = await request(service.address, '/cidade/api/v1/nfse/v101', { method: 'POST', ...dps('2') });
      return answer.status === 503 && /só aceita leituras/.test(answer.body.erros[0].mensagem) ? answer : undefined;
    }, 'the refusal');
    assert.ok(refused.headers.get('retry-after'));
    assert.deepEqual(await readAll(old, service.address, 'cidade', nota), told);
    assert.equal((await request(service.address, '/health/ready')).status, 503);
    await assertSame(old, fresh);

    const next = await startServiceProcess(fresh.env);
    assert.deepEqual(await readAll(fresh, next.address, 'cidade', nota), told);
    const second = await balcao(next.address, 'cidade').issue({ serie: '1', nDPS: '2' });
    assert.equal(numberOf(second), numberOf(nota) + 1);
    const again = await run([...MUDAR, urlOf(fresh)], old, 1);
    assert.match(again.err, /já tem municípios/);
    const back = await run([...MUDAR, urlOf(fresh), '--desistir'], old, 1);
    assert.match(back.err, /a mudança terminou/);
    const closed =
      /banco está fechado a gravações, como nfse banco mudar o deixa\. Se a mudança terminou, ponha em DATABASE_URL/;
    for (const args of [['serve'], ['municipio', 'alterar', 'cidade', '--aliquota', '5.00']]) {
      const { code, err } = await nfse(args, { ...old.env, PORT: '0' });
      assert.equal(code, 1, err);
      assert.match(err, closed);
    }
  });

  test('killed, it goes on; what is there and the same is left as it is', async () => {
    const [old, fresh] = [await filled(), await openPlace()];
    const copying = await holdWriters(fresh, 'documentos');
    const moving = start(['bin/nfse', ...MUDAR, urlOf(fresh)], old.env);
    const held = await copying.untilHeld();
    process.kill(-moving.child.pid!, 'SIGKILL');
    await moving.ended;
    await copying.end(held);
    assert.equal(await isClosed(old), true);
    assert.equal(await isClosed(fresh), true);
    assert.deepEqual(await ask(fresh, 'select tenant from municipios'), []);
    const { out } = await run([...MUDAR, urlOf(fresh)], old);
    assert.match(out, /Continua a mudança/);
    await assertSame(old, fresh);
    assert.equal(await isClosed(fresh), false);
    assert.equal(await isClosed(old), true);
  });

  test('broken off by a signal it gives the writes back; what has changed by the next time is moved anew', async () => {
    const [old, fresh] = [await filled(), await openPlace()];
    // All rows are there already, in their earlier state.
    await run([...MUDAR, urlOf(fresh)], old);
    const name = fresh.connection.database;
    await ask(fresh, `alter database ${name} set default_transaction_read_only = on`);
    await run([...MUDAR, urlOf(fresh), '--desistir'], old);
    assert.equal(await isClosed(old), false);
    await ask(old, `update notas set mensagem_retorno = 'outra' where tenant = 'pequeno' and id = 7`);
    await ask(
      old,
      `insert into tabelas_aliquotas (versao, em, novas, alteradas, retroativas) values (99, now(), 0, 0, 0)`,
    );

    const copying = await holdWriters(fresh, 'notas');
    const moving = start(['bin/nfse', ...MUDAR, urlOf(fresh)], old.env);
    await copying.untilHeld();
    assert.equal(await isClosed(old), true);
    process.kill(-moving.child.pid!, 'SIGINT');
    await copying.letGo();
    assert.equal(await moving.ended, 1, moving.output());
    assert.match(moving.output(), /interrompida, e o banco de origem aceita gravações de novo/);
    assert.equal(await isClosed(old), false);

    const before = await ask(fresh, `select xmin::text from notas where tenant = 'grande' limit 1`);
    await run([...MUDAR, urlOf(fresh)], old);
    await assertSame(old, fresh);
    assert.deepEqual(await ask(fresh, `select xmin::text from notas where tenant = 'grande' limit 1`), before);
  });

  test('a database in use, or of others, is no target', async () => {
    const [old, used, mixed] = [await filled(), await openPlace(), await openPlace()];
    await criar(used, 'alheio');
    const inUse = await run([...MUDAR, urlOf(used)], old, 1);
    assert.match(inUse.err, /já tem municípios \(alheio\)/);
    await criar(mixed, 'alheio');
    await ask(mixed, `alter database ${mixed.connection.database} set default_transaction_read_only = on`);
    const stranger = await run([...MUDAR, urlOf(mixed)], old, 1);
    assert.match(stranger.err, /que o de origem não tem: alheio/);
    assert.equal(await isClosed(old), false);
    const full = await openPlace(emptyDatabase());
    await ask(full, 'create table notas ()');
    const foreign = await run([...MUDAR, urlOf(full)], old, 1);
    assert.match(foreign.err, /tem tabelas de outro programa \(relation "notas" already exists\)\. Indique um vazio/);
  });

  test('an address that leads nowhere is named, and what to do', async () => {
    const [old, fresh] = [await openPlace(), await openPlace(emptyDatabase())];
    const urlWith = (more: ClientConfig): string => databaseUrlOf({ ...fresh.connection, ...more });
    const errOf = async (url: string): Promise<string> => (await run([...MUDAR, url], old, 1)).err;
    assert.match(await errOf('http://127.0.0.1'), /--para não é um endereço válido/);
    assert.match(await errOf(urlWith({ database: 'nenhum' })), /o banco de dados de --para não existe\. Crie-o antes/);
    assert.match(await errOf(urlWith({ user: 'ninguem' })), /recusou o usuário ou a senha de --para/);
    const { database, password } = fresh.connection;
    await ask(fresh, `create role de_fora login password '${password ?? 'de_fora'}'`);
    onEnd(() => inDatabase(old, (client) => client.query('drop role de_fora')));
    const denied = await errOf(urlWith({ user: 'de_fora' }));
    assert.match(denied, /o usuário de_fora não pode fazer as tabelas no banco/);
    assert.match(denied, new RegExp(`alter database ${database} owner to de_fora`));
  });

  test('months that the target does not have are made there, with what theirs are set to', async () => {
    const [old, fresh, other] = [await openPlace(), await openPlace(), await openPlace()];
    const AFAR = 202402;
    const isThere = `select 1 from meses where mes = ${AFAR}`;
    for (const place of [old, fresh, other]) assert.deepEqual(await ask(place, isThere), []);
    await criar(old, 'pequeno');
    await fill(old, 'pequeno', 20, [AFAR, MES]);

    const file = path.join(await freshFolder(), 'pequeno.nfse');
    await run(['municipio', 'exportar', 'pequeno', '--para', file], old);
    await run(['municipio', 'importar', file], other);
    await run([...MUDAR, urlOf(fresh)], old);
    await assertSame(old, fresh);
    const stored = `select c.relname as nome, c.reloptions as opcoes, a.attstattarget as estatisticas from pg_class c
      join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant' where c.relname like '%_${AFAR}' and c.relkind = 'r' order by 1`;
    const rows = `select count(*)::int as notas from notas where mes = ${AFAR}`;
    for (const place of [fresh, other]) {
      assert.deepEqual(await ask(place, stored), await ask(old, stored));
      assert.deepEqual(await ask(place, rows), [{ notas: 10 }]);
      assert.equal((await ask(place, isThere)).length, 1);
    }
  });

  test('from the embedded database, without an address', async () => {
    const [dataDir, fresh] = [await readyDataDir(), await openPlace()];
    const env = { NFSE_DATA_DIR: dataDir, DATABASE_URL: '', NFSE_BASE_URL: BASE_URL };
    const place = { connection: fresh.connection, env };
    await criar(place, 'cidade');
    const { out } = await run([...MUDAR, urlOf(fresh)], place);
    assert.match(out, /municipios +1\n/);
    assert.deepEqual(await ask(fresh, 'select tenant from municipios'), [{ tenant: 'cidade' }]);
  });
});

/** The archive without the last row of the notes. */
function withoutRow(tar: Buffer): Buffer {
  const files: Uint8Array[] = [];
  for (let at = 0; tar[at] !== 0; ) {
    const name = tar.toString('utf8', at, tar.indexOf(0, at));
    const size = Number.parseInt(tar.toString('latin1', at + 124, at + 136), 8);
    let bytes = tar.subarray(at + 512, at + 512 + size);
    if (name === 'notas/000001.tsv') bytes = bytes.subarray(0, bytes.lastIndexOf('\n', -2) + 1);
    files.push(...tarFile(name, bytes, 0));
    at += 512 + size + ((512 - (size % 512)) % 512);
  }
  return Buffer.concat([...files, TAR_END]);
}
