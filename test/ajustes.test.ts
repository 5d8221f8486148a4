/**
 * The settings file and `nfse config`: the syntax of a line, and the same reading by systemd. The precedence of file and environment, and
 * the secrecy of secrets. `ajustes.maquina.test.ts` tests that the file reaches every process.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, test } from 'node:test';
import { faultText, readSettingsText } from '../src/base/terminal/settings-file.ts';
import { VARIABLES } from '../src/base/terminal/variables.ts';
import { nfseBeside } from './support/cli.ts';
import { freshFolder } from './support/openssl.ts';
import { nfse } from './support/process.ts';
import { toolOr } from './support/tools.ts';

const TMPFILES = toolOr('systemd-tmpfiles', 'systemd');

const read = (text: string) => {
  const { assignments, faults } = readSettingsText(Buffer.from(text));
  return { assignments, faults: faults.map(faultText) };
};
const valuesOf = (text: string) => {
  const { assignments, faults } = read(text);
  assert.deepEqual(faults, []);
  return Object.fromEntries(assignments.map(({ name, value }) => [name, value]));
};

/** The text after the equals sign, and its value. */
const VALUES: readonly (readonly [text: string, value: string])[] = [
  ['', ''],
  ['valor', 'valor'],
  ['  com espaços  dentro\t ', 'com espaços  dentro'],
  ['a=b&c=d', 'a=b&c=d'],
  ['$HOME $(id) `id` ~ *', '$HOME $(id) `id` ~ *'],
  ['d\'água "e" tal', 'd\'água "e" tal'],
  ['x#y', 'x#y'],
  ['x;y', 'x;y'],
  ["''", ''],
  ['\'a \\ # "b" $c\'', 'a \\ # "b" $c'],
  ['""', ''],
  ['"a \\" \\\\ \\` \\$ \\n \\c # \'x\'"', "a \" \\ ` $ \\n \\c # 'x'"],
  ["  ' x '  ", ' x '],
  ['çãé 漢字', 'çãé 漢字'],
];

/** Invalid lines, and their error messages. */
const FAULTS: readonly (readonly [line: string, fault: RegExp])[] = [
  ['NFSE_BASEURL=x', /^linha 1: não existe o ajuste NFSE_BASEURL\. Seria NFSE_BASE_URL\?/],
  ['NFSE_ABRACADABRA=x', /^linha 1: não existe o ajuste NFSE_ABRACADABRA\. nfse config/],
  ['PORT', /^linha 1: falta o sinal de igual/],
  ['export PORT=1', /^linha 1: export não se usa aqui/],
  ['1A=b', /^linha 1: antes do sinal de igual não está um nome/],
  ['A B=c', /não está um nome/],
  ['=c', /não está um nome/],
  ['NODE_OPTIONS=--x', /é do Node.*systemctl edit nfse/],
  ["A='x", /^linha 1: A: as aspas não fecham na mesma linha/],
  ['A="x\\"', /as aspas não fecham/],
  ["A='x'y", /mais texto depois das aspas/],
  ["A='x' # nota", /mais texto depois das aspas/],
  ['A=x # nota', /tem um #/],
  ['A=# nota', /tem um #/],
  ['A=x\\y', /fora de aspas/],
  ['A=x\\', /fora de aspas/],
  ['# nota \\', /comentário termina em/],
  ['A=x\u0007', /caractere de controle/],
  ['A=x\0', /caractere de controle/],
];

describe('a line of the file', () => {
  test('is a name and a value, a comment, or empty', () => {
    assert.deepEqual(valuesOf('\n# PORT=1\n  ; PORT=2\n PORT = 3 \r\n\t\nNFSE_HOST=::1'), {
      PORT: '3',
      NFSE_HOST: '::1',
    });
    for (const [text, value] of VALUES) assert.deepEqual(valuesOf(`A=${text}`), { A: value }, text);
  });

  test('that is neither is told by its number, and its value by nobody', () => {
    for (const [line, fault] of FAULTS) {
      const { faults, assignments } = read(line);
      assert.deepEqual([faults.length, assignments.length], [1, 0], line);
      assert.match(faults[0]!, fault, line);
    }
    const { faults } = read("A=1\nDATABASE_URL=postgres://u:segredo@h/b # x\nA=2\n\nNFSE_OIDC_SEGREDO='segredo");
    assert.deepEqual(
      faults.map((fault) => fault.split(':')[0]),
      ['linha 2', 'linha 3', 'linha 5'],
    );
    assert.match(faults[1]!, /A já está na linha 1/);
    assert.doesNotMatch(faults.join(), /segredo[^,]*@|'segredo/);
  });

  test('in another encoding is a fault of the whole file', () => {
    for (const bytes of [Buffer.from('A=\xe7', 'latin1'), Buffer.from('\uFEFFA=1'), Buffer.from('A=1', 'utf16le')]) {
      const { faults, assignments } = readSettingsText(bytes);
      assert.deepEqual([faults.length, assignments.length], [1, 0]);
    }
  });

  test('means to systemd what it means here', {
    skip: TMPFILES === undefined ? 'there is no systemd here' : false,
  }, () => {
    const root = mkdtempSync(path.join(tmpdir(), 'nfse-systemd-'));
    mkdirSync(path.join(root, 'etc'));
    // systemd reads its os-release by the same rules, and writes the value of a name into a file.
    writeFileSync(path.join(root, 'escreve.conf'), 'f+ /valor - - - - %B\n');
    for (const [text, value] of VALUES) {
      writeFileSync(path.join(root, 'etc/os-release'), `ID=x\n# nota\nBUILD_ID=${text}\nNAME=y\n`);
      writeFileSync(path.join(root, 'valor'), '');
      execFileSync(TMPFILES!, [`--root=${root}`, '--create', path.join(root, 'escreve.conf')], { stdio: 'pipe' });
      assert.equal(readFileSync(path.join(root, 'valor'), 'utf8'), value, text);
    }
  });
});

function fileOf(text: string, mode = 0o600): string {
  const file = path.join(freshFolder(), 'nfse.env');
  writeFileSync(file, text);
  chmodSync(file, mode);
  return file;
}

/** The environment of these tests, without the settings under test. */
const BARE = Object.fromEntries([...Object.keys(VARIABLES)].map((name) => [name, '']));

describe('nfse config', () => {
  test('says what counts, whence and what for, and what else there is', async () => {
    const file = fileOf(
      'PORT=9001\nNFSE_BASE_URL=https://nfse.exemplo.gov.br\nPGPASSFILE=/etc/nfse.pgpass\nDATABSE_URL=x\n',
    );
    const env = { ...BARE, NFSE_BASE_URL: 'https://outro.exemplo.gov.br' };
    const said = await nfse(['config', '--config', file, '--json'], env);
    assert.equal(said.code, 0, said.err);
    const { arquivo, ajustes, outras, problemas } = JSON.parse(said.out);
    assert.deepEqual(arquivo, { caminho: file, existe: true });
    assert.deepEqual(
      ajustes.map(({ nome }: { nome: string }) => nome),
      Object.keys(VARIABLES),
    );
    const of = (name: string) => ajustes.find(({ nome }: { nome: string }) => nome === name);
    assert.deepEqual([of('PORT').valor, of('PORT').origem, of('PORT').linha], ['9001', 'arquivo', 1]);
    assert.deepEqual([of('NFSE_BASE_URL').valor, of('NFSE_BASE_URL').origem], [env.NFSE_BASE_URL, 'ambiente']);
    assert.deepEqual([of('NFSE_HOST').valor, of('NFSE_HOST').origem], ['127.0.0.1', 'padrao']);
    assert.deepEqual([of('NFSE_ARQUIVO').valor, of('NFSE_ARQUIVO').origem], [null, null]);
    assert.ok(ajustes.every(({ para_que }: { para_que: string }) => para_que.length > 5));
    assert.deepEqual(
      [outras.map(({ nome }: { nome: string }) => nome), problemas],
      [['PGPASSFILE', 'DATABSE_URL'], []],
    );
    const text = (await nfseBeside(['config', '--config', file], env)).out;
    assert.match(text, /^PORT: 9001 {2}\(linha 1 do arquivo\)\n {4}porta do serviço$/m);
    assert.match(text, /^ {2}DATABSE_URL \(linha 4\) Seria DATABASE_URL\?$/m);
  });

  test('shows no secret, be it well written or not', async () => {
    const secrets = [
      'DATABASE_URL=postgres://nfse:xyzzy@h1,h2:5433/nfse?password=xyzzy',
      'AWS_SECRET_ACCESS_KEY=xyzzy',
      'AWS_SESSION_TOKEN=xyzzy',
      'NFSE_OIDC_SEGREDO=xyzzy',
      'AWS_ENDPOINT_URL_S3=https://u:xyzzy@minio.exemplo.gov.br',
      'NFSE_OIDC_EMISSOR=https://xyzzy@sso.exemplo.gov.br/realms/a',
      'OTEL_EXPORTER_OTLP_ENDPOINT=https://coletor.exemplo.gov.br/?token=xyzzy',
      'NFSE_ARQUIVO=s3://AKIA:xyzzy@balde/producao',
      'NFSE_COPIAS=s3://AKIA:xyzzy@balde/copias',
    ].join('\n');
    for (const text of [secrets, secrets.replaceAll(':xyzzy@', ':/xyzzy#/@').replace('_S3=', '_S3=x')]) {
      for (const args of [[], ['--json']]) {
        const { out, err } = await nfseBeside(['config', '--config', fileOf(text), ...args], BARE);
        assert.doesNotMatch(out + err, /xyzzy/, out);
      }
    }
    const { out } = await nfseBeside(['config', '--config', fileOf(secrets)], BARE);
    assert.match(out, /^DATABASE_URL: postgres:\/\/h1,h2:5433\/nfse {2}\(linha 1/m);
    assert.match(out, /^AWS_ENDPOINT_URL_S3: https:\/\/\(oculto\)@minio\.exemplo\.gov\.br /m);
  });

  test('no declared name that sounds of a secret is shown', () => {
    for (const [name, row] of Object.entries(VARIABLES)) {
      if (/SECRET|SEGREDO|SENHA|PASSWORD|TOKEN|DATABASE_URL/.test(name)) assert.ok('mask' in row, name);
    }
  });

  test('names all that is wrong, each by its line, and ends with 1', async () => {
    const file = fileOf('PORT=99999\nNFSE_BASEURL=x\nNFSE_TRUST_PROXY=talvez\n');
    const said = await nfseBeside(['config', '--config', file], BARE);
    assert.equal(said.code, 1);
    assert.match(
      said.out,
      /O que corrigir:\n {2}linha 1: PORT=99999.*\n {2}linha 2: .*NFSE_BASE_URL\?.*\n {2}linha 3: NFSE_TRUST/,
    );
    const together = await nfseBeside(['config', '--config', fileOf('NFSE_TLS_CHAVE=/x\n')], BARE);
    assert.deepEqual([together.code, /NFSE_TLS_CHAVE veio sem/.test(together.out)], [1, true]);
    const other = await nfse(['municipio', 'listar', '--config', file], BARE);
    assert.equal(other.code, 1);
    assert.match(other.err, /tem o que corrigir:\n {2}linha 2: não existe o ajuste NFSE_BASEURL/);
  });

  test('warns of a file with a secret that others may read', { skip: process.platform === 'win32' }, async () => {
    const text = 'NFSE_OIDC_SEGREDO=x\n';
    const folder = path.dirname(fileOf(text));
    chmodSync(folder, 0o755);
    const file = path.join(folder, 'nfse.env');
    const warned = async (): Promise<boolean> =>
      /chmod o= \S+nfse\.env$/m.test((await nfseBeside(['config', '--config', file], BARE)).out);
    chmodSync(file, 0o640);
    assert.equal(await warned(), false);
    chmodSync(file, 0o644);
    assert.equal(await warned(), true);
    writeFileSync(file, 'PORT=1\n');
    assert.equal(await warned(), false);
  });

  test('says of a file that cannot be read why', async () => {
    const folder = freshFolder();
    for (const [file, why] of [
      [path.join(folder, 'nada.env'), /nada\.env: o arquivo de ajustes não existe/],
      [folder, /é uma pasta/],
    ] as const) {
      for (const args of [['config'], ['municipio', 'listar']]) {
        const { code, err } = await nfseBeside([...args, '--config', file], BARE);
        assert.equal(code, 1);
        assert.match(err, why);
      }
    }
    const { code, err } = await nfseBeside(['--config', 'x', 'serve'], BARE);
    assert.deepEqual([code, err], [2, '--config vem depois do comando: nfse COMANDO --config ARQUIVO.\n']);
    // A command that needs no setting needs no file.
    assert.equal((await nfseBeside(['explicar', 'E0370', '--config', folder], BARE)).code, 0);
  });

  test('writes a file that sets nothing, and sets what it may when it is no comment', async () => {
    const { out } = await nfseBeside(['config', '--exemplo'], BARE);
    assert.deepEqual(read(out), { assignments: [], faults: [] });
    const all = read(out.replaceAll(/^#(?=[A-Z])/gm, ''));
    assert.deepEqual([all.faults, all.assignments.map(({ name }) => name)], [[], Object.keys(VARIABLES)]);
    const usual = Object.values(VARIABLES).map((row) => ('usual' in row ? row.usual : ''));
    assert.deepEqual(
      all.assignments.map(({ value }) => value),
      usual,
    );
  });
});
