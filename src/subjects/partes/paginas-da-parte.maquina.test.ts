/**
 * The pages on tokens and on webhooks, tried word by word beyond `journeys/site.maquina.test.ts`. A request that openssl signs as the page
 * says gets a token in production, once. The function that verifies a message is tried in each language against another implementation.
 */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import path from 'node:path';
import { describe, test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { request } from '../../../test/support/http.ts';
import { freshFolder } from '../../../test/support/openssl.ts';
import { ROOT } from '../../../test/support/process.ts';
import { startTestService } from '../../../test/support/service.ts';
import { DECADES, PROVIDER_CNPJ, testParties } from '../../../test/support/signatures.ts';
import { toolOr } from '../../../test/support/tools.ts';
import { until } from '../../../test/support/until.ts';
import { pemOf } from '../../documents/pki.ts';

const pageOf = (name: string): Promise<string> => readFile(path.join(ROOT, 'docs/site', name), 'utf8');

/** The blocks of code of a page in one language, in their order. */
async function blocksOf(name: string, language: string): Promise<readonly string[]> {
  const blocks = (await pageOf(name)).matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'));
  return [...blocks].map(([, block]) => block!);
}

function run(program: string, args: readonly string[], cwd: string, env = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const own = { ...process.env, no_proxy: '*', NO_PROXY: '*', ...env };
    execFile(program, args, { cwd, env: own, timeout: 600_000 }, (error, out, err) =>
      error === null ? resolve(out) : reject(new Error(`${program} ${args.join(' ')}\n${out}\n${err}`)),
    );
  });
}

const SHELL = [toolOr('bash', 'bash'), toolOr('curl', 'curl'), toolOr('openssl', 'openssl')].every(Boolean);

test('a request that openssl signed, as the page says, is a token in production, and serves once', {
  skip: SHELL ? false : 'bash, curl or openssl is not here',
}, async () => {
  const municipio = 'exemplo';
  const { address, store, clock } = await startTestService({ worker: false, clock: { now: Date.now() } });
  const { root, provider } = await testParties(clock.now, DECADES);
  const [ancoras, folder] = [freshFolder(), freshFolder()];
  writeFileSync(path.join(ancoras, 'raiz.pem'), pemOf('CERTIFICATE', root.certificate));
  const confianca = { ancoras, revogados: undefined };
  const novo = { tenant: municipio, ambiente: 'producao', codigoIbge: '3550308', confianca } as const;
  await store.municipios.create(novo, clock.now);
  await writeFile(path.join(folder, 'certificado.pem'), provider.pem);
  await writeFile(path.join(folder, 'chave.pem'), provider.keyPem);
  const signed = (await blocksOf('identidade.md', 'sh')).find((block) => block.includes('openssl cms'))!;
  const script = signed
    .replaceAll('{{site}}', address)
    .replaceAll('{{integracao}}', municipio)
    .replaceAll('11222333000181', PROVIDER_CNPJ);
  const out = await run('bash', ['-euo', 'pipefail', '-c', script], folder, { AMBIENTE: 'producao' });
  const { token } = JSON.parse(out);
  assert.match(token, /^nfse_/);
  const asked = await request(address, `/${municipio}/api/v1/notas`, { headers: { Authorization: `Bearer ${token}` } });
  assert.deepEqual([asked.status, asked.body.notas], [200, []]);
  // The same request again, and the same request for another purpose, get nothing.
  const body = await readFile(path.join(folder, 'pedido.json'));
  const headers = {
    'Content-Type': 'application/json',
    'X-Token-Assinatura': await readFile(path.join(folder, 'pedido.cms'), 'utf8'),
  };
  const again = await request(address, `/${municipio}/api/v1/token`, { method: 'POST', headers, body });
  assert.deepEqual([again.status, again.body.codigo_erro], [409, 'E703']);
  const other = await request(address, `/${municipio}/api/v1/token/lista`, { method: 'POST', headers, body });
  assert.deepEqual([other.status, other.body.campo], [400, 'acao']);
});

/** A port without a listener. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

const SEGREDO = `whsec_${Buffer.from('trinta e dois octetos de segredo').toString('base64')}`;
const ID = 'exemplo.nota-1-3';

/** The arguments of the function, and the answer that is due. */
type Case = { readonly args: readonly [string, string, string, string, string]; readonly isTrue: boolean };

function cases(): readonly Case[] {
  const now = new Date();
  const corpo = JSON.stringify({
    type: 'nota.autorizada',
    data: { mensagem: 'Autorizada à força de “aspas”, ç e 😀' },
  });
  const sign = (at: Date, segredo = SEGREDO): string => new Webhook(segredo).sign(ID, at, corpo);
  const em = (at: Date): string => String(Math.floor(+at / 1_000));
  const old = new Date(+now - 400_000);
  const soon = new Date(+now + 400_000);
  const other = sign(now, `whsec_${Buffer.from('outro segredo de trinta e dois o').toString('base64')}`);
  return [
    { args: [SEGREDO, ID, em(now), sign(now), corpo], isTrue: true },
    { args: [SEGREDO, ID, em(now), `${other} ${sign(now)}`, corpo], isTrue: true },
    { args: [SEGREDO, ID, em(now), other, corpo], isTrue: false },
    { args: [SEGREDO, ID, em(old), sign(old), corpo], isTrue: false },
    { args: [SEGREDO, ID, em(soon), sign(soon), corpo], isTrue: false },
    { args: [SEGREDO, ID, em(now), sign(now), `${corpo} `], isTrue: false },
    { args: [SEGREDO, 'exemplo.nota-1-4', em(now), sign(now), corpo], isTrue: false },
    { args: [SEGREDO, ID, 'ontem', sign(now), corpo], isTrue: false },
    { args: [SEGREDO, ID, em(now), sign(now).replace('v1,', 'v2,'), corpo], isTrue: false },
    { args: [SEGREDO, ID, em(now), '', corpo], isTrue: false },
  ];
}

/** A program around the function of the page: it reads lines of Base64, five per case, and prints each verdict. */
const LANGUAGES = {
  js: {
    file: 'confere.mjs',
    command: [process.execPath],
    more: `const [, , ...all] = process.argv;
const text = (one) => Buffer.from(one, 'base64');
console.log(confere(...all.slice(0, 4).map((one) => text(one).toString()), text(all[4])));`,
  },
  python: {
    file: 'confere.py',
    command: [toolOr('python3', 'python3')],
    more: `
import sys
args = [base64.b64decode(one) for one in sys.argv[1:]]
print(str(confere(*[one.decode() for one in args[:4]], args[4])).lower())`,
  },
  php: {
    file: 'confere.php',
    command: [toolOr('php', 'php-cli')],
    more: `
$args = array_map('base64_decode', array_slice($argv, 1));
echo confere(...$args) ? 'true' : 'false';`,
  },
  java: {
    file: 'Aviso.java',
    command: [toolOr('java', 'default-jdk-headless'), '-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC'],
    more: '',
  },
} as const;

const JAVA_MAIN = `
    public static void main(String[] sent) throws Exception {
        byte[][] all = new byte[5][];
        for (int i = 0; i < 5; i++) all[i] = Base64.getDecoder().decode(sent[i]);
        String[] text = new String[4];
        for (int i = 0; i < 4; i++) text[i] = new String(all[i], StandardCharsets.UTF_8);
        System.out.println(confere(text[0], text[1], text[2], text[3], all[4]));
    }
}
`;

describe('a message is verified by what the page on webhooks shows', () => {
  for (const [language, { file, command, more }] of Object.entries(LANGUAGES)) {
    const [program, ...options] = command;
    test(language, { skip: program === undefined ? `what runs ${file} is not here` : false }, async () => {
      const [block, receptor, ...others] = await blocksOf('webhooks.md', language);
      assert.ok(block !== undefined && receptor !== undefined && others.length === 0);
      const folder = freshFolder();
      const whole = language === 'java' ? block.replace(/\}\s*$/, JAVA_MAIN) : block + more;
      await writeFile(path.join(folder, file), language === 'php' ? `<?php\n${whole}` : whole);
      for (const place of cases().keys()) {
        // The case is made now, so its moment is fresh however slow the one before was.
        const { args, isTrue } = cases()[place]!;
        const sent = args.map((one) => Buffer.from(one).toString('base64'));
        const said = await run(program!, [...options, file, ...sent], folder);
        assert.equal(said.trim(), String(isTrue), args.slice(1).join(' | '));
      }
    });

    test(`${language}, by an address that receives`, {
      skip: program === undefined ? `what runs ${file} is not here` : false,
    }, async (t) => {
      const [block, receptor] = await blocksOf('webhooks.md', language);
      const folder = freshFolder();
      const port = await freePort();
      const own = path.join(folder, file);
      if (language === 'java') {
        await writeFile(own, block!);
        await writeFile(path.join(folder, 'Receptor.java'), receptor!);
        await run('javac', ['-encoding', 'UTF-8', file, 'Receptor.java'], folder);
      } else await writeFile(own, `${language === 'php' ? '<?php\n' : ''}${block}${receptor}`);
      const started = {
        php: ['-S', `127.0.0.1:${port}`, file],
        java: [...options, '-cp', folder, 'Receptor', SEGREDO, String(port)],
      };
      const command = started[language as keyof typeof started] ?? [...options, file, SEGREDO, String(port)];
      const child = spawn(program!, command, { cwd: folder, env: { ...process.env, SEGREDO } });
      t.after(() => child.kill());
      let said = '';
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += chunk));
      const send = async ([, id, momento, assinaturas, corpo]: Case['args']) => {
        const headers = { 'webhook-id': id, 'webhook-timestamp': momento, 'webhook-signature': assinaturas };
        const sent = { method: 'POST', headers, body: corpo };
        const response = await fetch(`http://127.0.0.1:${port}/`, sent).catch(() => undefined);
        return response && `${response.status} ${await response.text()}`;
      };
      await until(() => send(cases()[0]!.args), 'the receiver answers');
      const [good, , bad] = cases();
      assert.deepEqual([await send(good!.args), await send(bad!.args)], ['200 ', '400 ']);
      // The endpoint returns the value of the confirmation, and answers nothing to an unknown sender.
      const asks = JSON.stringify({
        type: 'confirmacao',
        timestamp: 'x',
        data: { desafio: 'confirma_a-B_9', mensagem: '' },
      });
      const at = new Date();
      const question = (by: string): Case['args'] => {
        const signed = new Webhook(by).sign(ID, at, asks);
        return [SEGREDO, ID, String(Math.floor(+at / 1_000)), signed, asks];
      };
      assert.equal(await send(question(SEGREDO)), '200 confirma_a-B_9');
      assert.equal(await send(question(`whsec_${Buffer.alloc(32).toString('base64')}`)), '400 ');
      await until(async () => said.includes('nota.autorizada') || undefined, 'it shows what came');
    });
  }
});
