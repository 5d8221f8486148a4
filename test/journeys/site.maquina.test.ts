/**
 * The documentation, tested literally. A shell runs the commands of each page in order and unchanged, beside a separate service. The
 * programs of the first page run as well, also when the first answer to them is lost.
 */
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { copyFile, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { createServer, request as forward } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { readXml } from '../../src/documents/xml.ts';
import { PAGES } from '../../src/published/site/frame.ts';
import { makePki } from '../../src/subjects/municipios/make-pki.ts';
import { onEnd } from '../support/cleanup.ts';
import { databaseUrlOf, emptyDatabase, poolOn } from '../support/database.ts';
import { request } from '../support/http.ts';
import { readyKeys } from '../support/keys.ts';
import { freshFolder } from '../support/openssl.ts';
import { nfse, ROOT, startServiceProcess } from '../support/process.ts';
import { toolOr } from '../support/tools.ts';
import { until } from '../support/until.ts';

const SITE = path.join(ROOT, 'docs/site');
const SLUG = 'exemplo';
const CNPJ = '11222333000181';

/** The limit allows for a slow or busy machine. */
const PATIENCE_MS = 900_000;

// Third-party programs are looked for before any test begins, because a test has no time for an installation.
const SHELL = [toolOr('bash', 'bash'), toolOr('curl', 'curl'), toolOr('openssl', 'openssl')].every(Boolean);
const XMLSEC = toolOr('xmlsec1', 'xmlsec1');
const noShell = SHELL ? false : 'bash, curl or openssl is not here';
const noXmlsec = noShell || (XMLSEC === undefined ? 'xmlsec1 is not here' : false);

let address: string;
/** The address of a server that answers when no work is under way in the service. */
let settled: string;
let env: NodeJS.ProcessEnv;
/** A folder with a PKI whose authorities the municipality `exemplo` trusts. */
let pki: string;

before(async () => {
  const database = await emptyDatabase();
  env = { DATABASE_URL: databaseUrlOf(database) };
  ({ address } = await startServiceProcess(env));
  settled = await settledAt(await poolOn(database));
  pki = path.join(freshFolder(), 'pki');
  await makePki({ pasta: pki, recusados: false, agora: Date.now(), makeKeys: readyKeys });
  for (const args of [
    ['municipio', 'criar', SLUG, '--ibge', '3550308', '--aliquota', '5.00', '--ancoras', `${pki}/ancoras`],
    ['prestador', 'importar', path.join(ROOT, 'examples/prestadores.csv'), '--municipio', SLUG],
  ]) {
    const { code, err } = await nfse(args, env);
    assert.equal(code, 0, err);
  }
});

/** Work that is claimed now, or will be within five seconds; requested delays are not waited for. */
const UNDER_WAY = `select 1 from fila
  where tipo <> 'lote' and (claims is not null or due_at < clock_timestamp() + interval '5 seconds')
  union all select 1 from exportacoes where estado = 'em_andamento'`;

/** The address of a server of this test. */
async function settledAt(pool: Awaited<ReturnType<typeof poolOn>>): Promise<string> {
  const server = createServer((_, response) => {
    const look = async (): Promise<void> => {
      await until(async () => (await pool.query(UNDER_WAY)).rows.length === 0 || undefined, 'nothing is under way');
      response.writeHead(204).end();
    };
    look().catch((error: Error) => response.destroy(error));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

type Shell = { readonly statuses: readonly number[]; readonly out: string };

/**
 * Every curl also prints its status on a separate line. A pause of a second or two in a page is enough for a reader; here it lasts as long
 * as a slow machine needs.
 */
const SAME_AS_TYPED = `curl() { command curl --max-time 600 -w '%{stderr}STATUS %{http_code}\\n' "$@"; }
sleep() { command sleep "$1"; command curl -s --max-time 600 "$SETTLED"; }
`;
/** A proxy of the machine must not be used between its own programs. */
const NO_PROXY = { no_proxy: '*', NO_PROXY: '*' };

function shell(script: string, folder: string): Promise<Shell> {
  return new Promise((resolve, reject) => {
    const own = { ...process.env, ...NO_PROXY, SETTLED: settled };
    const options = { cwd: folder, env: own, maxBuffer: 16 * 1024 * 1024 };
    execFile('bash', ['-euo', 'pipefail', '-c', SAME_AS_TYPED + script], options, (error, out, err) => {
      if (error !== null) return reject(new Error(`${script}\n${out}\n${err}`));
      resolve({ statuses: [...err.matchAll(/^STATUS (\d+)$/gm)].map(([, status]) => Number(status)), out });
    });
  });
}

/** The command blocks of a page, in order. `municipio`: replaces the sandbox. */
async function commandsOf(file: string, municipio = 'integracao'): Promise<readonly string[]> {
  const text = await readFile(path.join(SITE, file), 'utf8');
  return [...text.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block]) =>
    block!.replaceAll('{{site}}', address).replaceAll('{{integracao}}', municipio),
  );
}

/** The status of each request of a page; 422 where the page shows a refusal, 304 for a cached answer. */
const STATUSES: Readonly<Record<string, readonly number[]>> = {
  'inicio.md': [200, 201, 200],
  'clientes.md': [200, 200, 200, 200, 200],
  'primeira-nota.md': [201, 200, 200, 200, 201, 200, 422, 200, ...Array(7).fill(200)],
  'surpresas.md': [200, 422, 200, 201, 200],
  'assinatura.md': [200, 200, 200, 200, 200, 200, 200, 201],
  'ensaios.md': [200, 201, 200, 201, 200, 201, 201, 429, 201],
  'ambientes.md': [201, 200, 201, 200, 201, 200, 200, 200, 200, 200, 200, 200, 200],
  'desfechos.md': [200, 422, 201, 201, 422, 200, 200],
  'estados.md': [200, 201, 200, 200],
  'identidade.md': [201, 200, 401, 200, 200, 401],
  'listas.md': [200, 201, 201, 200, 200, 200, 200, 201, 200, 200, 200],
  'seguir.md': [201, 200, 200, 201, 200, 200],
  'webhooks.md': [201, 201, 200, 200],
  'danfse.md': [200, 201, 200],
  'eventos.md': [200, 201, 200, 201, 200, 200, 200, 201, 201, 201, 200, 200, 200],
  'catalogos.md': [200, 200, 200, 200, 200, 304],
};

const results = new Map<string, { readonly folder: string; readonly out: string }>();

describe('the commands of a page, in their order', async () => {
  test('no page has a curl outside of them, but what src/subjects/eventos/evento-cli.maquina.test.ts types', async () => {
    for (const { file } of PAGES) {
      const text = await readFile(path.join(SITE, file), 'utf8');
      const [before = '', chapter = ''] = text.split('\n## Pela linha de comando\n');
      const rest = file === 'eventos.md' ? before + chapter.slice(chapter.indexOf('\n## ')) : text;
      assert.doesNotMatch(rest.replace(/^```sh\n[\s\S]*?^```$/gm, ''), /\bcurl -/, file);
      assert.equal(/^```sh$/m.test(text), file in STATUSES, file);
    }
  });

  // Each page has its own notes and folder, and mostly waits as long as it says.
  describe('are answered as it says', { concurrency: true }, () => {
    for (const [file, statuses] of Object.entries(STATUSES)) {
      const skip = file === 'assinatura.md' ? noXmlsec : noShell;
      test(file, { timeout: PATIENCE_MS, skip }, async () => {
        const folder = freshFolder();
        const done = await shell((await commandsOf(file)).join('\n'), folder);
        assert.deepEqual(done.statuses, statuses);
        results.set(file, { folder, out: done.out });
      });
    }
  });

  const json = async (file: string, name: string) =>
    JSON.parse(await readFile(path.join(results.get(file)!.folder, name), 'utf8'));
  const skip = noShell;

  test('the first note is authorised, and the refusal says where it is', { skip }, async () => {
    assert.match(results.get('inicio.md')!.out, /"status":"autorizada"/);
    const { nota } = await json('primeira-nota.md', 'nota.json');
    assert.equal(nota.status, 'autorizada');
    assert.ok('root' in readXml(Buffer.from(nota.xml_nota)));
    const recusa = await json('primeira-nota.md', 'recusa.json');
    assert.equal(recusa.erros[0].campo, 'tomador_cpf_cnpj');
    for (const campo of ['linha', 'coluna', 'mensagem', 'doc_url']) assert.ok(recusa.erros[0][campo], campo);
  });

  test('of the rehearsals the refused one is rejected, and the late one asks for patience', { skip }, async () => {
    const { protocolo } = await json('ensaios.md', 'recusada-nota.json');
    assert.equal(protocolo.status, 'rejeitado');
    assert.match(protocolo.mensagem_retorno, /E1234/);
    const { out } = results.get('ensaios.md')!;
    assert.match(out, /^retry-after: \d+/im);
    assert.match(out, /^ratelimit: "ensaio";r=0/im);
  });

  test('a repetition is the first answer, and a duplicate says whose the number is', { skip }, async () => {
    const { folder } = results.get('desfechos.md')!;
    const bodyOf = async (name: string) =>
      JSON.parse((await readFile(path.join(folder, name), 'utf8')).split('\r\n\r\n')[1]!);
    const first = await bodyOf('primeira.txt');
    assert.deepEqual(await bodyOf('repetida.txt'), first);
    const [duplicate] = (await json('desfechos.md', 'duplicada.json')).erros;
    assert.deepEqual([duplicate.codigo, duplicate.mesmo_conteudo], ['E0014', true]);
    assert.equal(duplicate.chave_acesso, first.chave_acesso);
    assert.equal((await json('desfechos.md', 'achada.json')).chave_acesso, first.chave_acesso);
  });

  test('the PDF is one', { skip }, async () => {
    const pdf = await readFile(path.join(results.get('danfse.md')!.folder, 'nota.pdf'), 'latin1');
    assert.match(pdf, /^%PDF-/);
  });

  test('the file of the month is a ZIP, with the note that was issued', { skip }, async () => {
    const { exportacao } = await json('listas.md', 'exportacao.json');
    assert.ok(exportacao.pronta && exportacao.notas > 0, JSON.stringify(exportacao));
    const zip = await readFile(path.join(results.get('listas.md')!.folder, 'notas.zip'), 'latin1');
    assert.match(zip, /^PK.*\d{50}\.xml/s);
  });

  test('the cancellation is processed', { skip }, async () => {
    const { evento } = JSON.parse(await readFile(path.join(results.get('eventos.md')!.folder, 'evento.txt'), 'utf8'));
    assert.deepEqual([evento.status_evento, evento.acao_sugerida], ['processado', 'cancelado_ok']);
  });

  test('the replaced note is cancelled and its substitute authorised; until then the registration warned', {
    skip,
  }, async () => {
    const [antiga, nova, registro] = await Promise.all(
      ['antiga-nota.json', 'nova-nota.json', 'substituicao-registrada.json'].map((name) => json('eventos.md', name)),
    );
    assert.deepEqual([antiga.nota.status, nova.nota.status], ['cancelada', 'autorizada']);
    assert.match(nova.nota.xml_nota, new RegExp(`<chSubstda>${antiga.nota.chave_acesso}</chSubstda>`));
    assert.deepEqual(
      registro.avisos.map(({ codigo }: { codigo: string }) => codigo),
      ['E1308'],
    );
  });

  test('a signature of the rehearsal lacks nothing but an authority', { skip: noXmlsec }, async () => {
    for (const [name, codigo] of [
      ['conferencia.json', 'E904'],
      ['conferencia-openssl.json', 'E904'],
      ['conferencia-json.json', 'E9003'],
    ] as const) {
      const { erros } = await json('assinatura.md', name);
      assert.deepEqual(
        erros.map((erro: { codigo: string }) => erro.codigo),
        [codigo],
        name,
      );
      assert.match(erros[0].mensagem, /autoassinado/, name);
    }
  });
});

describe('the page on signatures, with a certificate of an authority and in production', () => {
  test('everything verifies, and the note is issued, once', { timeout: PATIENCE_MS, skip: noXmlsec }, async () => {
    const folder = freshFolder();
    await copyFile(`${pki}/prestadores/${CNPJ}.pfx`, path.join(folder, 'certificado.pfx'));
    await copyFile(`${pki}/senha.txt`, path.join(folder, 'senha.txt'));
    // The commands that split a certificate ask for its password; here a file has it.
    const page = await readFile(path.join(SITE, 'assinatura.md'), 'utf8');
    const [, split] = /^```console\n([\s\S]*?)^```$/m.exec(page)!;
    const commands = await commandsOf('assinatura.md', SLUG);
    const own = commands.filter((block) => !block.startsWith('openssl req'));
    assert.equal(own.length, commands.length - 1);
    const { statuses } = await shell(
      [split!.replaceAll('openssl pkcs12', 'openssl pkcs12 -passin file:senha.txt'), ...own].join('\n'),
      folder,
    );
    assert.deepEqual(statuses, STATUSES['assinatura.md']);
    for (const name of ['conferencia.json', 'conferencia-openssl.json', 'conferencia-json.json']) {
      const { valida, veredito } = JSON.parse(await readFile(path.join(folder, name), 'utf8'));
      assert.deepEqual([valida, veredito], [true, 'A produção aceitaria esta assinatura.'], name);
    }
    const [issued, again] = await Promise.all(
      ['assinada.xml', 'assinada-openssl.xml'].map(async (name) => {
        const body = (await readFile(path.join(folder, name))) as Uint8Array<ArrayBuffer>;
        const headers = { 'Content-Type': 'application/xml' };
        return request(address, `/${SLUG}/api/v1/nfse/v101`, { method: 'POST', headers, body });
      }),
    ).then((answers) => answers.toSorted((one, other) => one.status - other.status));
    assert.equal(issued?.status, 201, JSON.stringify(issued?.body));
    // The example has a number, so the second signature over it is of the same DPS. An invalid signature would be refused before that
    // check.
    const [known] = again?.body.erros ?? [];
    assert.deepEqual(
      [again?.status, known?.codigo, known?.chave_acesso, known?.mesmo_conteudo],
      [422, 'E0014', issued?.body.chave_acesso, true],
    );
  });
});

type Program = {
  readonly file: string;
  /** The command, before the arguments of the program; undefined if the runtime is missing. */
  readonly prepare: (file: string, folder: string) => Promise<readonly string[] | undefined>;
};

const run = (
  program: string,
  args: readonly string[],
  cwd: string,
): Promise<{ code: number; out: string; err: string }> =>
  new Promise((resolve) => {
    execFile(program, args, { cwd, timeout: PATIENCE_MS, env: { ...process.env, ...NO_PROXY } }, (error, out, err) =>
      resolve({ code: error === null ? 0 : ((error.code as unknown as number) ?? 1), out, err }),
    );
  });

const scratch = mkdtempSync(path.join(tmpdir(), 'nfse-serve-'));

/** Whether a runtime runs a small program of ours, in the language version that the page requires. */
function does(name: string, text: string, options: readonly string[] = []): (place: string) => boolean {
  return (place) => {
    const file = path.join(scratch, name);
    writeFileSync(file, text);
    return spawnSync(place, [...options, file], { cwd: scratch, stdio: 'ignore', timeout: PATIENCE_MS }).status === 0;
  };
}

const MONO_PACKAGES = 'mono-mcs mono-runtime libmono-system-net-http4.0-cil libmono-system-core4.0-cil';
const PYTHON = toolOr(
  'python3',
  'python3',
  does('A.py', 'import sys, urllib.request\nsys.exit(sys.version_info < (3, 8))\n'),
);
const PHP = toolOr(
  'php',
  'php-cli',
  does('A.php', '<?php exit(PHP_VERSION_ID < 70400 || !ini_get("allow_url_fopen") ? 1 : 0);'),
);
/** No program here runs long enough to need Java's optimising compiler. */
const JAVA_OPTIONS = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC'];
// Java runs the program from its source, which a runtime without a compiler cannot do.
const JAVA = toolOr(
  'java',
  'default-jdk-headless',
  does(
    'A.java',
    'class A { public static void main(String[] a) { var client = java.net.http.HttpClient.newHttpClient(); } }',
    JAVA_OPTIONS,
  ),
);
const MCS = toolOr('mcs', MONO_PACKAGES, (place) => {
  writeFileSync(path.join(scratch, 'A.cs'), 'class A { static void Main() { new System.Net.Http.HttpClient(); } }');
  const args = ['-langversion:latest', '-r:System.Net.Http.dll', 'A.cs'];
  return spawnSync(place, args, { cwd: scratch, stdio: 'ignore', timeout: PATIENCE_MS }).status === 0;
});
const MONO =
  MCS && toolOr('mono', MONO_PACKAGES, (place) => spawnSync(place, [path.join(scratch, 'A.exe')]).status === 0);
rmSync(scratch, { recursive: true, force: true });

const PROGRAMS: readonly Program[] = [
  { file: 'primeira-nota.mjs', prepare: async (file) => [process.execPath, file] },
  { file: 'primeira-nota-cliente.mjs', prepare: withCliente },
  { file: 'primeira_nota.py', prepare: async (file) => command(PYTHON, file) },
  { file: 'primeira-nota.php', prepare: async (file) => command(PHP, file) },
  {
    file: 'PrimeiraNota.java',
    prepare: async (file) => (JAVA === undefined ? undefined : [JAVA, ...JAVA_OPTIONS, file]),
  },
  {
    file: 'PrimeiraNota.cs',
    prepare: async (file, folder) => {
      const [compiler, mono] = [MCS, MONO];
      if (compiler === undefined || mono === undefined) return undefined;
      const stand = path.join(ROOT, 'test/fixtures/SystemTextJson.cs');
      const exe = path.join(folder, 'programa.exe');
      const args = ['-langversion:latest', '-r:System.Net.Http.dll', `-out:${exe}`, file, stand];
      const { code, out, err } = await run(compiler, args, folder);
      assert.equal(code, 0, out + err);
      return [mono, exe];
    },
  },
];

const PDF_PROGRAMS: readonly Program[] = [
  { file: 'danfse.mjs', prepare: async (file) => [process.execPath, file] },
  { file: 'danfse.py', prepare: async (file) => command(PYTHON, file) },
  { file: 'danfse.php', prepare: async (file) => command(PHP, file) },
  { file: 'Danfse.java', prepare: async (file) => (JAVA === undefined ? undefined : [JAVA, ...JAVA_OPTIONS, file]) },
];

function command(program: string | undefined, file: string): string[] | undefined {
  return program === undefined ? undefined : [program, file];
}

/** Prepares a folder like an integrator's, with the client installed. */
async function withCliente(file: string, folder: string): Promise<string[]> {
  await mkdir(path.join(folder, 'node_modules/@emissor-nfse'), { recursive: true });
  await symlink(path.join(ROOT, 'packages/cliente'), path.join(folder, 'node_modules/@emissor-nfse/cliente'));
  const copy = path.join(folder, path.basename(file));
  await copyFile(file, copy);
  return [process.execPath, copy];
}

/** A proxy between a program and the service: it passes the first note on and loses the answer. */
async function lossyLine(): Promise<{ readonly base: string; readonly issued: readonly string[] }> {
  const issued: string[] = [];
  const server = createServer((incoming, outgoing) => {
    const { method, url, headers } = incoming;
    const onward = forward(address + url, { method, headers }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk) => chunks.push(chunk));
      answer.on('end', () => {
        const body = Buffer.concat(chunks);
        if (method === 'POST') {
          issued.push(JSON.parse(body.toString()).chave_acesso);
          if (issued.length === 1) return void incoming.socket.destroy();
        }
        outgoing.writeHead(answer.statusCode!, answer.headers).end(body);
      });
    });
    incoming.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  return { base: `http://127.0.0.1:${(server.address() as AddressInfo).port}/integracao`, issued };
}

describe('the programs of the page of the PDF', { concurrency: true }, () => {
  for (const { file, prepare } of PDF_PROGRAMS) {
    test(file, { timeout: 2 * PATIENCE_MS }, async (t) => {
      const folder = freshFolder();
      await mkdir(folder, { recursive: true });
      const command = await prepare(path.join(SITE, 'exemplos', file), folder);
      if (command === undefined) return t.skip(`what runs ${file} is not here`);
      const [program, ...args] = command;
      // The query follows at once: the note may not be authorised yet.
      const dps = await readFile(path.join(ROOT, 'examples/dps.xml'), 'utf8');
      const headers = { 'Content-Type': 'application/xml' };
      const issued = await request(address, '/integracao/api/v1/nfse/v101', { method: 'POST', headers, body: dps });
      const { chave_acesso: chave } = issued.body;
      const { code, out, err } = await run(program!, [...args, chave, `${address}/integracao`], folder);
      assert.equal(code, 0, out + err);
      assert.equal(out.trim(), `Gravado: ${chave}.pdf`);
      assert.match(await readFile(path.join(folder, `${chave}.pdf`), 'latin1'), /^%PDF-[\s\S]*%%EOF\s*$/);

      const unknown = await run(program!, [...args, '0'.repeat(50), `${address}/integracao`], folder);
      assert.equal(unknown.code, 1, unknown.out);
      assert.match(unknown.err, /E301/);
    });
  }
});

describe('the programs of the first page', { concurrency: true }, () => {
  test('are all tried here', async () => {
    // The program of the whole path is tested by test/percurso.maquina.test.ts.
    const isTried = (name: string): boolean => !/\.xml$|^percurso\./i.test(name);
    const files = (await readdir(path.join(SITE, 'exemplos'))).filter(isTried);
    assert.deepEqual(files.sort(), [...PROGRAMS, ...PDF_PROGRAMS].map(({ file }) => file).sort());
  });

  for (const { file, prepare } of PROGRAMS) {
    test(file, { timeout: 2 * PATIENCE_MS }, async (t) => {
      const folder = freshFolder();
      await mkdir(folder, { recursive: true });
      const command = await prepare(path.join(SITE, 'exemplos', file), folder);
      if (command === undefined) return t.skip(`what runs ${file} is not here`);
      const [program, ...args] = command;
      await copyFile(path.join(ROOT, 'examples/dps.json'), path.join(folder, 'dps.json'));
      const { base, issued } = await lossyLine();
      const { code, out, err } = await run(program!, [...args, 'dps.json', base], folder);
      assert.equal(code, 0, out + err);
      const [, chave] = /^Emitida: (\d{50})$/m.exec(out)!;
      // The program got the note of the lost answer: there is no second one.
      assert.deepEqual(issued, [chave, chave]);
      assert.match(out, /^Autorizada, ISSQN 20\.00: /m);
      const { body } = await request(address, `/integracao/api/v1/nfse/${chave}`);
      assert.equal(await readFile(path.join(folder, `${chave}.xml`), 'utf8'), body.nota.xml_nota);

      const wrong = (await readFile(path.join(ROOT, 'examples/dps.json'), 'utf8')).replace('1000.00', '0');
      await writeFile(path.join(folder, 'errada.json'), wrong);
      const refused = await run(program!, [...args, 'errada.json', `${address}/integracao`], folder);
      assert.equal(refused.code, 1, refused.out);
      assert.match(refused.err, /E401/);
    });
  }
});
