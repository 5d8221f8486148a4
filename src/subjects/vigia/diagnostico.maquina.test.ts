/**
 * `nfse diagnostico` as an operator runs it: the contents of the file, and above all its omissions. Personal data is put wherever a person
 * could have written text. Another program then looks for it in every byte of the file and of its unpacked members.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { test } from 'node:test';
import { onEnd } from '../../../test/support/cleanup.ts';
import { databaseUrlOf, freshDatabase, poolOn } from '../../../test/support/database.ts';
import { CANCELAMENTO } from '../../../test/support/eventos.ts';
import { request } from '../../../test/support/http.ts';
import { ownPort } from '../../../test/support/ports.ts';
import { freshDataDir, nfse, readyDataDir } from '../../../test/support/process.ts';
import { loteXml, sendLote } from '../../../test/support/rps.ts';
import { SERVING, said, start } from '../../../test/support/started.ts';
import type { Db } from '../../base/pg/open.ts';
import { Client, escapeIdentifier } from '../../base/pg/pg.ts';
import { exampleXml } from '../../fiscal/rules/example.ts';

/** Text that a person may have written anywhere: a name, documents with and without points, an address, a token, a password. */
const SEEDS = [
  'Maria Aparecida Sigilosa',
  '52998224725',
  '529.982.247-25',
  '11222333000181',
  '11.222.333/0001-81',
  'Rua das Acácias Secretas',
  'maria@sigilosa.example',
  'nfse_tk_7f3a9c0b51',
  'S3nh4-Mu1t0-S3cr3t4',
  'AKIAIOSFODNN7SIGILO',
] as const;
const SEEDED = SEEDS.join(' ; ');

const XML = { method: 'POST', headers: { 'Content-Type': 'application/xml' } };

/** Notes, events and refusals as clients make them, in a separate database. */
async function openTown() {
  const connection = await freshDatabase();
  const pool = await poolOn(connection);
  const service = start(['bin/nfse', 'serve'], {
    DATABASE_URL: databaseUrlOf(connection),
    PORT: '0',
    NFSE_PAINEL_PORTA: '0',
    NFSE_ESPERA_AO_ENCERRAR: '0',
  });
  const address = (await said(service, SERVING))[1]!;
  for (const numero of ['1', '2', '3']) {
    const body = exampleXml({ serie: '1', nDPS: numero });
    assert.equal((await request(address, '/integracao/api/v1/nfse/v101', { ...XML, body })).status, 201);
  }
  await request(address, '/integracao/api/v1/nfse/v101', { ...XML, body: '<DPS/>' });
  const { rows } = await pool.query<{ chave_acesso: string }>('select chave_acesso from notas limit 1');
  const evento = await request(address, `/integracao/api/v1/nfse/${rows[0]!.chave_acesso}/eventos`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ chave_acesso: rows[0]!.chave_acesso, ...CANCELAMENTO }),
  });
  assert.equal(evento.status, 201);
  await sendLote(address, loteXml([{ numero: 1 }]));
  service.child.kill('SIGTERM');
  await service.ended;
  return { connection, pool };
}

/** Writes the seeds into each column that takes text, in each table that has rows or takes one. */
async function seedEverywhere(pool: Db): Promise<number> {
  const { rows } = await pool.query<{ tabela: string; coluna: string; tipo: string }>(
    `select table_name as tabela, column_name as coluna, data_type as tipo from information_schema.columns
     where table_schema = current_schema() and data_type in ('text', 'json', 'jsonb', 'bytea', 'ARRAY') and column_name <> 'tenant'`,
  );
  let seeded = 0;
  for (const { tabela, coluna, tipo } of rows) {
    // The program alone writes the names of migrations, and a changed name would be applied again.
    if (tabela.startsWith('migracoes')) continue;
    const value =
      { json: JSON.stringify({ nome: SEEDED }), jsonb: JSON.stringify({ nome: SEEDED }), ARRAY: `{"${SEEDED}"}` }[
        tipo
      ] ?? SEEDED;
    const [table, column] = [escapeIdentifier(tabela), escapeIdentifier(coluna)];
    const text = `update ${table} set ${column} = $1${tipo === 'bytea' ? '::text::bytea' : ''}`;
    const done = await pool.query(text, [value]).catch(() => undefined);
    seeded += done?.rowCount ?? 0;
  }
  return seeded;
}

const READABLE = ['unzip', 'python3'].every((program) => spawnSync(program, ['--help']).error === undefined);
const SKIPPED = { skip: !READABLE && 'unzip or python3 is not there' };

/** Members by name, unpacked by another program. */
function membersOf(file: string): ReadonlyMap<string, Buffer> {
  assert.match(execFileSync('unzip', ['-tq', file], { encoding: 'utf8' }), /No errors/);
  const names = execFileSync('unzip', ['-Z1', file], { encoding: 'utf8' }).trim().split('\n');
  return new Map(names.map((name) => [name, execFileSync('unzip', ['-p', file, name])]));
}

// biome-ignore lint/suspicious/noExplicitAny: looked at field by field
const jsonOf = (members: ReadonlyMap<string, Buffer>, name: string): any =>
  JSON.parse(members.get(`${name}.json`)!.toString('utf8'));

function assertClean(file: string, members: ReadonlyMap<string, Buffer>, secrets: readonly string[]): void {
  const all = [['the file itself', readFileSync(file)] as const, ...members];
  for (const secret of secrets) {
    const forms = [
      Buffer.from(secret, 'utf8'),
      Buffer.from(secret, 'latin1'),
      Buffer.from(secret, 'utf16le'),
      Buffer.from(JSON.stringify(secret).slice(1, -1)),
      Buffer.from(encodeURIComponent(secret)),
      Buffer.from(Buffer.from(secret).toString('hex')),
      Buffer.from(Buffer.from(secret).toString('base64').slice(0, -4)),
    ];
    for (const [name, bytes] of all)
      for (const form of forms) assert.ok(!bytes.includes(form), `${name} has ${secret}, as ${form}`);
  }
}

test(
  'the file says how the service is, and nothing personal or secret, whatever was written where',
  SKIPPED,
  async () => {
    const { connection, pool } = await openTown();
    await pool.query(
      `insert into municipios (tenant, ambiente, codigo_ibge, criado_em) values ('exemplo', 'producao', '3550308', now())`,
    );
    await pool.query(
      `insert into transmissoes (tenant, problema, desde, visto_em) values ('exemplo', $1, now(), now())`,
      [SEEDED],
    );
    await pool.query(
      `insert into circuitos (tenant, aberto_em, motivo, visto_em) values ('exemplo', now(), $1, now())`,
      [SEEDED],
    );
    await pool.query(
      `insert into recusas (tenant, hora, codigo, quantas) values ('exemplo', now(), $1, 7), ('exemplo', now(), 'E0370', 3)`,
      [SEEDED],
    );
    await pool.query(
      `insert into webhooks (tenant, id, documento, url, tipos, descricao, segredo, criado_em, falhas, problema)
     values ('exemplo', $1, '52998224725', $1, array[$1], $1, $1::text::bytea, now(), 3, $1)`,
      [SEEDED],
    );
    await pool.query(`create table "${SEEDED.slice(0, 60)}" (a text)`);
    await pool.query(`comment on table notas is '${SEEDED}'`);
    await pool.query(`alter database ${escapeIdentifier(connection.database!)} set "pessoa.cpf" = '${SEEDED}'`);
    await pool.query(`insert into migracoes (nome, aplicada_em) values ($1, now())`, [`999-${SEEDED}.sql`]);
    const seeded = await seedEverywhere(pool);
    assert.ok(seeded > 30, `${seeded} rows took the seeds`);
    const busy = new Client({ ...connection, application_name: SEEDED.slice(0, 60) });
    await busy.connect();
    onEnd(() => busy.end());
    await busy.query(`select '${SEEDED}'`);

    const folder = path.join(await freshDataDir(), 'Maria Aparecida Sigilosa');
    mkdirSync(folder);
    const file = path.join(folder, 'd.zip');
    const password = 'S3nh4-Mu1t0-S3cr3t4';
    const url = new URL(databaseUrlOf(connection));
    url.searchParams.set('application_name', SEEDED.slice(0, 40));
    const { code, out, err } = await nfse(['diagnostico', file], {
      DATABASE_URL: url.href,
      NFSE_BASE_URL: `https://maria:${password}@nfse.exemplo.gov.br/?t=nfse_tk_7f3a9c0b51`,
      NFSE_DATA_DIR: path.join(folder, 'dados'),
      NFSE_TLS_CERTIFICADO: path.join(folder, 'c.pem'),
      NFSE_TLS_CHAVE: path.join(folder, 'k.pem'),
      NFSE_OIDC_EMISSOR: `https://maria:${password}@sso.exemplo.gov.br/realms/52998224725`,
      NFSE_OIDC_CLIENTE: '52998224725',
      NFSE_OIDC_SEGREDO: password,
      NFSE_ARQUIVO: 's3://arquivo/52998224725',
      AWS_ACCESS_KEY_ID: 'AKIAIOSFODNN7SIGILO',
      AWS_SECRET_ACCESS_KEY: password,
      AWS_SESSION_TOKEN: 'nfse_tk_7f3a9c0b51',
      OTEL_EXPORTER_OTLP_HEADERS: `authorization=${password}`,
      OTEL_RESOURCE_ATTRIBUTES: `quem=Maria Aparecida Sigilosa`,
      // Nothing listens on this port.
      PORT: '9',
      NFSE_CONEXOES: '7',
    });
    assert.deepEqual([code, err], [0, ''], out);

    const members = membersOf(file);
    const { rows } = await pool.query<{ chave_acesso: string; numero_protocolo: string }>(
      'select chave_acesso, numero_protocolo from notas',
    );
    const secrets = [...SEEDS, 'Acácias', 'Sigilosa', 'sigilosa', ...rows.flatMap((row) => Object.values(row))];
    assertClean(file, members, [...secrets, ...(connection.password ? [String(connection.password)] : [])]);

    const { version } = JSON.parse(readFileSync(path.join(import.meta.dirname, '../../../package.json'), 'utf8'));
    assert.equal(jsonOf(members, 'programa').versao, version);
    assert.equal(jsonOf(members, 'programa').node, process.versions.node);
    assert.ok(jsonOf(members, 'maquina').disco.livres > 0);
    const ajustes = jsonOf(members, 'ajustes');
    assert.equal(ajustes.NFSE_CONEXOES, '7');
    assert.equal(ajustes.NFSE_BASE_URL, 'https://nfse.exemplo.gov.br');
    assert.equal(ajustes.NFSE_OIDC_SEGREDO, '(definida)');
    assert.equal(ajustes.DATABASE_URL, '(definida)');
    assert.deepEqual(jsonOf(members, 'servico').live, { falhou: 'ECONNREFUSED' });

    const banco = jsonOf(members, 'banco');
    const failed = Object.entries(banco).filter(([, answer]) => !Array.isArray(answer));
    assert.deepEqual(failed, []);
    const { rows: counted } = await pool.query(
      'select estado, count(*)::int as quantas from notas group by estado order by estado',
    );
    assert.deepEqual(
      banco.notas.map(({ estado, quantas }: Record<string, unknown>) => ({ estado, quantas })),
      counted,
    );
    const { rows: server } = await pool.query(`select current_setting('server_version_num')::int as versao`);
    assert.equal(banco.servidor[0].versao, server[0].versao);
    assert.ok(
      banco.tabelas.some(({ tabela, partes }: Record<string, unknown>) => tabela === 'notas' && Number(partes) > 1),
    );
    const codes = banco.recusas.map(({ codigo }: Record<string, unknown>) => codigo);
    assert.ok(codes.includes('outro'), String(codes));
    const [municipio] = banco.municipios.filter((one: Record<string, unknown>) => one['municipio'] === 'exemplo');
    assert.ok(municipio.sem_transmitir_desde !== null && municipio.circuito_aberto_desde !== null);
    const ours = banco.migracoes.filter(({ aplicada_em }: Record<string, unknown>) => aplicada_em === null);
    assert.deepEqual(ours, []);
    assert.ok(
      banco.migracoes.some(
        ({ nome, quantas }: Record<string, unknown>) => nome === '(de outra versão)' && quantas === 1,
      ),
    );
  },
);

test(
  'the certificate of a municipality is seen by its days and its authority, never by its holder',
  SKIPPED,
  async () => {
    const { pool, connection } = await openTown();
    const folder = await freshDataDir();
    const key = path.join(folder, 'k.pem');
    const cert = path.join(folder, 'c.pem');
    const subject = '/C=BR/O=Maria Aparecida Sigilosa/CN=MARIA APARECIDA SIGILOSA:52998224725';
    const made = [
      'req',
      '-x509',
      '-newkey',
      'rsa:2048',
      '-nodes',
      '-days',
      '45',
      '-subj',
      subject,
      '-keyout',
      key,
      '-out',
      cert,
    ];
    execFileSync('openssl', made, { stdio: 'ignore' });
    await pool.query(
      `insert into municipios (tenant, ambiente, codigo_ibge, adn_url, adn_certificado, adn_chave, criado_em)
     values ('exemplo', 'producao', '3550308', 'https://maria:S3nh4-Mu1t0-S3cr3t4@adn.exemplo.gov.br', $1, $2, now())`,
      [cert, key],
    );
    const file = path.join(folder, 'd.zip');
    const { code, err } = await nfse(['diagnostico', file], { DATABASE_URL: databaseUrlOf(connection) });
    assert.deepEqual([code, err], [0, '']);
    const members = membersOf(file);
    assertClean(file, members, [...SEEDS, 'MARIA', 'SIGILOSA']);
    const [seen] = jsonOf(members, 'municipios').filter(
      (one: Record<string, unknown>) => one['municipio'] === 'exemplo',
    );
    assert.deepEqual(
      [seen.certificado.dias, seen.certificado.emissor, seen.certificado.chave],
      [44, '(nenhuma das que este programa traz)', 'rsa'],
    );
  },
);

test(
  'a database that is away is told of, inside and at the terminal, and all else is in the file',
  SKIPPED,
  async () => {
    const folder = await freshDataDir();
    const closed = net.createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => closed.once('listening', resolve));
    const { port } = closed.address() as net.AddressInfo;
    await new Promise((resolve) => closed.close(resolve));
    const cases: readonly (readonly [string, NodeJS.ProcessEnv, string])[] = [
      ['refused', { DATABASE_URL: `postgres://maria:S3nh4-Mu1t0-S3cr3t4@127.0.0.1:${port}/nfse` }, 'ECONNREFUSED'],
      ['without data', { NFSE_DATA_DIR: path.join(folder, 'nada') }, 'SEM_DADOS'],
      ['a wrong setting', { PORT: 'S3nh4-Mu1t0-S3cr3t4' }, 'CONFIG'],
    ];
    for (const [name, env, falhou] of cases) {
      const file = path.join(folder, `${falhou}.zip`);
      const { code, out, err } = await nfse(['diagnostico', file], env);
      assert.deepEqual([code, err], [0, ''], `${name}: ${out}`);
      assert.match(out, new RegExp(`O banco não foi alcançado \\(${falhou}\\)`), name);
      const members = membersOf(file);
      assert.deepEqual(jsonOf(members, 'banco'), { falhou }, name);
      assert.ok(jsonOf(members, 'maquina').memoria.total > 0, name);
      assertClean(file, members, SEEDS);
    }
    assert.ok(!existsSync(path.join(folder, 'nada')), 'no database was made');
    assert.equal(jsonOf(membersOf(path.join(folder, 'CONFIG.zip')), 'ajustes').PORT, '(definida, e não serve)');
  },
);

test('the settings file counts as for every command, and one that is refused is told of', SKIPPED, async () => {
  const folder = await freshDataDir();
  const settings = path.join(folder, 'nfse.env');
  const dataDir = await readyDataDir();
  writeFileSync(settings, `NFSE_DATA_DIR=${dataDir}\nNFSE_CONEXOES=7\n`);
  const file = path.join(folder, 'lido.zip');
  const { code, out } = await nfse(['diagnostico', file, '--config', settings], {});
  assert.equal(code, 0);
  assert.doesNotMatch(out, /não foi alcançado/);
  const members = membersOf(file);
  assert.ok(jsonOf(members, 'banco').migracoes.length > 10);
  const { arquivo_de_ajustes, NFSE_CONEXOES } = jsonOf(members, 'ajustes');
  assert.deepEqual([arquivo_de_ajustes, NFSE_CONEXOES], ['lido', '7']);

  writeFileSync(settings, `NFSE_OIDC_SEGRED=${SEEDED}\n`);
  const refused = path.join(folder, 'recusado.zip');
  const told = await nfse(['diagnostico', refused, '--config', settings], {});
  assert.match(told.out, /O banco não foi alcançado \(CONFIG\)/);
  assert.equal(jsonOf(membersOf(refused), 'ajustes').arquivo_de_ajustes, 'recusado');
  assertClean(refused, membersOf(refused), SEEDS);
});

test(
  'the embedded database is read beside a running service, and a schema of another version is left as it is',
  SKIPPED,
  async () => {
    const dataDir = await readyDataDir();
    const PORT = String(await ownPort());
    const env = { NFSE_DATA_DIR: dataDir, PORT, NFSE_PAINEL_PORTA: '0', NFSE_ESPERA_AO_ENCERRAR: '0' };
    const service = start(['bin/nfse', 'serve'], env);
    await said(service, SERVING);
    const file = path.join(dataDir, 'd.zip');
    const { code, err } = await nfse(['diagnostico', file], env);
    assert.deepEqual([code, err], [0, '']);
    assert.ok(jsonOf(membersOf(file), 'banco').migracoes.length > 10);
    const { live, ready } = jsonOf(membersOf(file), 'servico');
    assert.deepEqual([live.status, ready.status], [200, 200]);
    service.child.kill('SIGTERM');
    await service.ended;

    const connection = await freshDatabase();
    const pool = await poolOn(connection);
    await pool.query(`delete from migracoes where nome like '018%'`);
    await pool.query('alter table fila drop column traceparent');
    await pool.query('drop table circuitos');
    const older = path.join(dataDir, 'older.zip');
    assert.equal((await nfse(['diagnostico', older], { DATABASE_URL: databaseUrlOf(connection) })).code, 0);
    const { municipios, migracoes, fila } = jsonOf(membersOf(older), 'banco');
    // undefined_table, as PostgreSQL numbers it.
    assert.deepEqual(municipios, { falhou: '42P01' });
    assert.equal(migracoes.find(({ nome }: Record<string, unknown>) => nome === '018-rastros.sql').aplicada_em, null);
    assert.ok(Array.isArray(fila));
    const { rowCount } = await pool.query(`select 1 from migracoes where nome like '018%'`);
    assert.equal(rowCount, 0);
  },
);

test('a file that is there is never written over', SKIPPED, async () => {
  const folder = await freshDataDir();
  const there = path.join(folder, 'ha.zip');
  writeFileSync(there, 'de alguém');
  const link = path.join(folder, 'elo.zip');
  symlinkSync(path.join(folder, 'alvo.zip'), link);
  const env = { NFSE_DATA_DIR: path.join(folder, 'nada') };
  for (const file of [there, link]) {
    const { code, err } = await nfse(['diagnostico', file], env);
    assert.equal(code, 1);
    assert.match(err, /já existe, e não é trocado\. Dê outro nome\.$/m);
  }
  assert.equal(readFileSync(there, 'utf8'), 'de alguém');
  assert.ok(!existsSync(path.join(folder, 'alvo.zip')));
  const { code, err } = await nfse(['diagnostico', path.join(folder, 'sem', 'pasta.zip')], env);
  assert.equal(code, 1);
  assert.match(err, /fica numa pasta que não existe/);
});
