/**
 * The clients in PHP, Python, Java and C# (`packages/clientes`) against the service in production. A program like an integrator's drives
 * each, over TLS, with the certificates of `nfse pki`. The ADN simulator authorises the notes. The strict verifier judges their signatures
 * of unusual documents. A bad network shows that a repetition makes no second note. The programs of the page run unchanged.
 */
import assert from 'node:assert/strict';
import { type SpawnOptions, spawn, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { pemOf } from '../src/documents/pki.ts';
import { DPS_PROFILE } from '../src/documents/signature-shape.ts';
import { checkSignature } from '../src/documents/signed.ts';
import { readXml } from '../src/documents/xml.ts';
import { dpsIdOf } from '../src/fiscal/chave.ts';
import { exampleXml } from '../src/fiscal/rules/example.ts';
import { type NomeDeCliente, writeCliente } from '../src/published/clientes/modelos.ts';
import { makePki } from '../src/subjects/municipios/make-pki.ts';
import { Transmissions } from '../src/wiring/adn-access.ts';
import { onEnd } from './support/cleanup.ts';
import { readyKeys } from './support/keys.ts';
import { lineBefore } from './support/linha.ts';
import { addPrestador } from './support/municipio.ts';
import { freshFolder, openssl } from './support/openssl.ts';
import { ROOT } from './support/process.ts';
import { secureDoor } from './support/secure-door.ts';
import { NOON, startTestService } from './support/service.ts';
import { DECADES, DRESSES, PROVIDER_CNPJ, signedBy, testParties } from './support/signatures.ts';
import { montarPalco, simuladorAqui } from './support/simulador.ts';
import { installed, toolOr } from './support/tools.ts';

const HERE = path.join(import.meta.dirname, 'clientes-linguagens');
const SENHA = 'Segredo 1';
const SENHA_COM_ACENTO = 'Ção 1';
const MUNICIPIO = 'sao-paulo';
const PATIENCE_MS = 600_000;

const { root, provider } = await testParties(NOON, DECADES);
const folder = freshFolder();
const inFolder = (name: string, content: string | Buffer): string => {
  const file = path.join(folder, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, content);
  return file;
};
const ca = pemOf('CERTIFICATE', root.certificate);
const caFile = inFolder('raiz.pem', ca);

/** The PKI of `nfse pki`: the provider's certificate includes the authorities between it and the root. */
const pki = path.join(folder, 'pki');
await makePki({ pasta: pki, senha: SENHA, recusados: false, agora: NOON, makeKeys: readyKeys });
const PRESTADOR = path.join(pki, 'prestadores', PROVIDER_CNPJ);
const PFX = `${PRESTADOR}.pfx`;

/** The same PKCS#12 as other programs write it. */
function pfxOf(name: string, senha: string): string {
  const out = path.join(folder, name);
  const files = ['-in', `${PRESTADOR}.pem`, '-inkey', `${PRESTADOR}.key`, '-out', out, '-passout', `pass:${senha}`];
  openssl('pkcs12', '-export', ...files, '-keypbe', 'PBE-SHA1-3DES', '-certpbe', 'PBE-SHA1-3DES', '-macalg', 'sha1');
  return out;
}

/** A PKCS#12 with the ciphers that the authorities have used for twenty years. */
const PFX_3DES = pfxOf('antigo.pfx', SENHA);
const PFX_COM_ACENTO = pfxOf('acento.pfx', SENHA_COM_ACENTO);

/** Notes go to the simulator of the national environment, over mutual TLS. */
const palco = await montarPalco();
const simulador = await simuladorAqui(palco);
const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };
const transmissions = new Transmissions(quiet);
onEnd(() => transmissions.close());
const adn = {
  url: simulador.address,
  ca: palco.caFile,
  chaves: { certificado: palco.municipio.certFile, chave: palco.municipio.keyFile },
};

const { address, pool, store, world, clock } = await startTestService({ transmission: transmissions.of });
const confianca = { ancoras: path.join(pki, 'ancoras'), revogados: undefined };
await store.municipios.create(
  { tenant: MUNICIPIO, ambiente: 'producao', codigoIbge: '3550308', confianca, adn },
  clock.now,
);
await addPrestador(pool, MUNICIPIO, PROVIDER_CNPJ);
const door = await secureDoor(world, root, provider);

let last = 0;
/** A DPS with an unused number, as XML. */
function xmlOf(): string {
  last += 1;
  const nDPS = last;
  const id = dpsIdOf({ cLocEmi: '3550308', documento: PROVIDER_CNPJ, serie: '1', nDPS: String(nDPS) });
  const xml = readFileSync(path.join(ROOT, 'examples/dps-producao.xml'), 'utf8');
  return xml.replace(/Id="[^"]*"/, `Id="${id}"`).replace(/<nDPS>\d+/, `<nDPS>${nDPS}`);
}

/** Another DPS, as JSON. */
function jsonOf(): string {
  last += 1;
  const json = readFileSync(path.join(ROOT, 'examples/dps-producao.json'), 'utf8');
  return json.replace(/("numero_dps": ")\d+/, `$1${last}`);
}

/** The way to run a program of a language. */
type Linguagem = {
  readonly nome: string;
  /** The client, as the service hands it out. */
  readonly cliente: NomeDeCliente;
  /** The program of the test, and the name of that of the page, whose language stands beside its block. */
  readonly programa: string;
  readonly exemplo: readonly [bloco: string, arquivo: string];
  readonly falta: string;
  /** Whether the runtime is installed, in a version that works. */
  readonly isHere: () => boolean;
  /** The command of a program in a folder, with the client that it is to use. */
  readonly prepare: (programa: string, cliente: string, where: string) => Promise<readonly string[]>;
  readonly env?: NodeJS.ProcessEnv;
  /** A PKCS#12 that the runtime can open: Mono can open none of those that openssl makes today. */
  readonly pfx?: string;
  /** Whether the runtime opens a PKCS#12 with a non-ASCII password: the JDK and Mono cannot. */
  readonly abreComAcento: boolean;
  /** Whether the connection presents the certificate: Mono's does not. */
  readonly mostraCertificado?: false;
};

type Ended = { readonly code: number | null; readonly out: string; readonly err: string };

/** The service runs in this process, so a program must not block it. */
async function run(command: readonly string[], options: SpawnOptions = {}): Promise<Ended> {
  const [program, ...args] = command;
  const child = spawn(program!, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'], timeout: PATIENCE_MS });
  const ended = new Promise<number | null>((resolve, reject) => child.on('close', resolve).on('error', reject));
  const [out, err] = await Promise.all([child.stdout!, child.stderr!].map((stream) => stream.toArray()));
  return { code: await ended, out: Buffer.concat(out!).toString(), err: Buffer.concat(err!).toString() };
}

const isFine = (command: string, ...args: readonly string[]): boolean =>
  spawnSync(command, args, { stdio: 'ignore', timeout: PATIENCE_MS }).status === 0;

/** Debian's own Python, because Debian's packages are for it. */
const PYTHON = '/usr/bin/python3';
/** No program of the test runs long enough to need Java's optimising compiler. */
const JAVA_ENV = { ...process.env, JAVA_TOOL_OPTIONS: '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC' };

const MONO_PACKAGES =
  'mono-mcs mono-runtime libmono-system-net-http4.0-cil libmono-system-core4.0-cil libmono-system-security4.0-cil';
const MONO_LIBRARIES = ['-r:System.Net.Http.dll', '-r:System.Security.dll'];

/** Compiles the program, if its language needs that. */
async function compile(command: readonly string[], env = process.env): Promise<void> {
  const { code, out, err } = await run(command, { env });
  assert.equal(code, 0, out + err);
}

const LINGUAGENS: readonly Linguagem[] = [
  {
    nome: 'PHP',
    cliente: 'php/EmissorNfse.php',
    programa: 'cliente.php',
    exemplo: ['php', 'exemplo.php'],
    falta: 'no PHP from 8.1 on with its extensions curl and dom (Debian packages php-cli php-curl php-xml)',
    isHere: () => {
      const php = toolOr('php', 'php-cli php-curl php-xml');
      const script = 'exit(PHP_VERSION_ID >= 80100 && extension_loaded("curl") && extension_loaded("dom") ? 0 : 1);';
      const has = (): boolean => php !== undefined && isFine(php, '-r', script);
      return has() || (installed('php-curl php-xml') && has());
    },
    prepare: async (programa) => ['php', '-d', 'display_errors=stderr', programa],
    abreComAcento: true,
  },
  {
    nome: 'Python',
    cliente: 'python/emissor_nfse.py',
    programa: 'cliente.py',
    exemplo: ['python', 'exemplo.py'],
    falta: 'no Python with cryptography (Debian packages python3 python3-cryptography)',
    isHere: () => {
      const has = (): boolean => existsSync(PYTHON) && isFine(PYTHON, '-c', 'import cryptography');
      return has() || (installed('python3 python3-cryptography') && has());
    },
    prepare: async (programa) => [PYTHON, programa],
    abreComAcento: true,
  },
  {
    nome: 'Java',
    cliente: 'java/EmissorNfse.java',
    programa: 'Cliente.java',
    exemplo: ['java', 'Exemplo.java'],
    falta: 'no Java from 11 on with its compiler (Debian package default-jdk-headless)',
    isHere: () => {
      const [javac, java] = ['javac', 'java'].map((name) => toolOr(name, 'default-jdk-headless'));
      return javac !== undefined && java !== undefined && isFine(javac, '--release', '11', '-version');
    },
    prepare: async (programa, cliente, where) => {
      const strict = ['--release', '11', '-encoding', 'UTF-8', '-Xlint:all', '-Werror'];
      await compile(['javac', ...strict, '-d', where, cliente, programa], JAVA_ENV);
      return ['java', '-Dfile.encoding=UTF-8', '-cp', where, path.basename(programa, '.java')];
    },
    env: JAVA_ENV,
    abreComAcento: false,
  },
  {
    // Debian has no .NET, and Mono has no System.Text.Json: our own substitute is compiled too.
    nome: 'C#',
    cliente: 'csharp/EmissorNfse.cs',
    programa: 'Cliente.cs',
    exemplo: ['csharp', 'Program.cs'],
    falta: `no Mono with its libraries (Debian packages ${MONO_PACKAGES})`,
    isHere: () => {
      const [mcs, mono] = ['mcs', 'mono'].map((name) => toolOr(name, MONO_PACKAGES));
      if (mcs === undefined || mono === undefined) return false;
      const empty = inFolder('A.cs', 'class A { static void Main() { } }');
      const has = (): boolean => isFine(mcs, `-out:${folder}/A.exe`, ...MONO_LIBRARIES, empty);
      return has() || (installed(MONO_PACKAGES) && has());
    },
    prepare: async (programa, cliente, where) => {
      const stand = path.join(ROOT, 'test/fixtures/SystemTextJson.cs');
      const out = path.join(where, 'programa.exe');
      const isOfPage = path.basename(programa) === 'Program.cs';
      const entry = isOfPage ? ['-main:Entrada', path.join(HERE, 'Entrada.cs')] : [];
      const options = ['-langversion:latest', `-out:${out}`, ...MONO_LIBRARIES, ...entry];
      await compile(['mcs', ...options, cliente, programa, stand]);
      return ['mono', out];
    },
    pfx: PFX_3DES,
    abreComAcento: false,
    mostraCertificado: false,
  },
];

async function countNotas(): Promise<number> {
  return (await pool.query('select count(*)::int as count from notas')).rows[0].count;
}

const TEXTS = ['Maria & João S/A', 'Conceição <Ltda>', 'D\'Ávila "Ótica" ]]> fim', 'De  duas\nlinhas € 😀'];

/** The example in every spelling that can be signed as it is. */
const DRESSED = Object.entries(DRESSES).map(([name, wear], at): readonly [string, string] => [
  name,
  wear(exampleXml({ 'serv/cServ/xDescServ': TEXTS[at % TEXTS.length]! })),
]);
/** Markup that hardly any program writes, and that an element of a DPS never has. */
const ODD: readonly string[] = [
  exampleXml().replace('<infDPS', '<infDPS xml:lang="pt" xmlns:b="urn:b" xmlns:a="urn:z" b:c="1" a:d="2"'),
  exampleXml().replace('<DPS ', '<DPS xmlns:b="urn:b" xml:space="preserve" ').replace('<serv>', '<serv b:c="1">'),
  exampleXml().replace('<infDPS', '<infDPS a="&#9;"'),
  exampleXml().replace('<xDescServ>', '<xDescServ>a&#13;b&#10;&#9;c&#xa0;'),
  exampleXml().replace('<xDescServ>', '<x:xDescServ xmlns:x="urn:x">').replace('</xDescServ>', '</x:xDescServ>'),
  exampleXml().replace('<toma>', '<toma xmlns="">').replace('<xDescServ>', '<xDescServ xmlns="urn:x">'),
];

/** Documents that the clients refuse to sign. */
const UNSIGNABLE: readonly string[] = [
  exampleXml().replace('<infDPS', '<!-- a --><infDPS'),
  exampleXml().replace('<xDescServ>', '<xDescServ><!-- a -->'),
  exampleXml().replace('<infDPS', '<?a b?><infDPS'),
  `${exampleXml()}<!-- a -->`,
  exampleXml().replace('<DPS', '<!DOCTYPE DPS [<!ENTITY a "b">]><DPS'),
  exampleXml().replace('</infDPS>', ''),
  exampleXml().replaceAll('infDPS', 'infDps'),
  exampleXml().replace('</DPS>', '<a/></DPS>'),
  exampleXml().replace('</DPS>', 'texto</DPS>'),
  exampleXml().replace(/ Id="[^"]*"/, ''),
  `<?xml version="1.0" encoding="ISO-8859-1"?>${exampleXml().replace(/^<\?.*?\?>\s*/, '')}`,
  signedBy(exampleXml(), provider),
];

function faultsOf(xml: Buffer): readonly string[] {
  const reading = readXml(xml);
  const faults = 'fault' in reading ? [reading.fault] : checkSignature(reading, DPS_PROFILE).faults;
  return faults.map(({ codigo, mensagem }) => `${codigo} ${mensagem}`);
}

const PAGE = readFileSync(path.join(ROOT, 'docs/site/clientes.md'), 'utf8');

for (const linguagem of LINGUAGENS) {
  const { nome, cliente, programa, exemplo, falta, prepare, env = process.env, abreComAcento } = linguagem;
  const { pfx = PFX, mostraCertificado = true } = linguagem;
  const skip = linguagem.isHere() ? false : falta;
  const folderOf = (name: string): string => {
    const own = path.join(folder, `${nome}-${name}`);
    mkdirSync(own);
    return own;
  };

  describe(nome, async () => {
    const own = folderOf('programa');
    const sources = [path.join(own, programa), path.join(own, path.basename(cliente))] as const;
    copyFileSync(path.join(HERE, programa), sources[0]);
    writeFileSync(sources[1], writeCliente(cliente));
    const command = skip === false ? await prepare(...sources, own) : [];
    const ask = async (...args: readonly string[]): Promise<readonly string[]> => {
      const { code, out, err } = await run([...command, ...args], { env });
      assert.equal(code, 0, out + err);
      return out.trimEnd().split('\n');
    };

    test('issues, is refused, asks, prints and cancels, in production', { skip }, async () => {
      const wrong = jsonOf().replace('52998224725', '52998224726');
      const files = [inFolder('dps.xml', xmlOf()), inFolder('dps.json', jsonOf()), inFolder('errada.json', wrong)];
      const key = `pedido ${nome} ${last}`;
      const said = await ask('historia', door.address, MUNICIPIO, pfx, SENHA, caFile, ...files, key);
      const chaveOf = (step: string): string =>
        new RegExp(`^${step} (\\d{50}) `).exec(said.find((line) => line.startsWith(`${step} `)) ?? '')?.[1] ??
        assert.fail(said.join('\n'));
      const [deXml, deJson] = [chaveOf('xml'), chaveOf('json')];
      assert.deepEqual(said, [
        `xml ${deXml} false true`,
        `repetida ${deXml} true`,
        `conhecida ${deXml} true -`,
        `json ${deJson} false`,
        said[4],
        'nota autorizada 20.00 -',
        `protocolo ${deJson}`,
        `dps ${mostraCertificado ? deJson : 'E9007'}`,
        'existe true false',
        'danfse %PDF-',
        'evento cancelamento 1 false',
        'fim processado',
        'eventos 1 cancelamento',
        'situacao cancelada',
        'validada 20.00 valores/vBC',
      ]);
      assert.match(said[4]!, /^recusa Recusado E\d{3,4} 422 tomador_cpf_cnpj 1 true true true$/);
    });

    test('signs for a token in production, and with it lists and follows', { skip }, async () => {
      // A signed request must be recent by the clock of the signer.
      const usual = clock.now;
      clock.now = Date.now();
      try {
        const said = await ask('token', door.address, MUNICIPIO, pfx, SENHA, caFile);
        assert.deepEqual(said, [`token ${PROVIDER_CNPJ} consultar 1`, 'mudancas 2', 'Recusado E9002']);
      } finally {
        clock.now = usual;
      }
    });

    test('repeats under the same key whatever the line does, and issues once', { skip }, async () => {
      const before = await countNotas();
      const busy = { status: 429, headers: { 'Retry-After': '1' } };
      for (const script of [['lose'], ['truncate', { status: 409 }], [busy, 'lose'], [{ status: 503 }]] as const) {
        const { url, keys } = await lineBefore(address, script);
        const [emitida] = await ask('emitir', url, MUNICIPIO, pfx, SENHA, inFolder('dps.xml', xmlOf()));
        const isRepeated = script.some((one) => one === 'lose' || one === 'truncate');
        assert.match(emitida!, new RegExp(`^emitida \\d{50} ${isRepeated}$`), JSON.stringify(script));
        assert.deepEqual([keys.length, new Set(keys).size], [script.length + 1, 1]);
      }
      assert.equal((await countNotas()) - before, 4);
    });

    test('gives up at once where the service asks for more time than there is', { skip }, async () => {
      const busy = { status: 429, headers: { 'Retry-After': '3600' } };
      const { url } = await lineBefore(address, [busy, busy]);
      assert.deepEqual(await ask('espera', url, MUNICIPIO), ['NaoEntregue 1 3600', 'AindaEmAndamento']);
    });

    test('says what it does not know, and takes it up again with what it kept', { skip }, async () => {
      const before = await countNotas();
      const { url, keys } = await lineBefore(address, ['lose', { status: 502 }, { status: 502 }]);
      const files = [inFolder('duvida.json', jsonOf()), address];
      const [end, later] = await ask('emitir', url, MUNICIPIO, pfx, SENHA, ...files);
      assert.equal(end, 'Indeterminado 3 502 true');
      assert.match(later!, /^retomada \d{50} true$/);
      assert.deepEqual([keys.length, new Set(keys).size, (await countNotas()) - before], [3, 1, 1]);
    });

    test('says what surely was not done, and why it asks no more', { skip }, async () => {
      const elsewhere = await lineBefore(address, [{ status: 302, headers: { Location: 'https://entrada.exemplo/' } }]);
      for (const [url, said] of [
        [elsewhere.url, 'NaoEntregue 1 302 false'],
        [`${address}/docs`, 'Recusado 1 404 false'],
        ['http://127.0.0.1:1', 'NaoEntregue 3 - false'],
        // The system does not trust the authority of this server.
        [door.address, 'NaoEntregue 3 - false'],
      ] as const) {
        const [end] = await ask('emitir', url, MUNICIPIO, pfx, SENHA, inFolder('nada.xml', xmlOf()));
        assert.equal(end, said, url);
      }
    });

    test('signs what it is given as it is, and refuses what a signature does not cover', { skip }, async () => {
      const given = [...DRESSED, ...ODD.map((xml, at) => [`odd ${at}`, xml] as const)];
      const pairs = given.map(([, xml], at) => [inFolder(`${nome}/${at}.xml`, xml), `${folder}/${nome}/${at}-out.xml`]);
      const said = await ask('assinar', PFX_3DES, SENHA, ...pairs.flat());
      assert.deepEqual(said, Array(given.length).fill('assinada'));
      for (const [at, [name, xml]] of given.entries()) {
        const signed = readFileSync(pairs[at]![1]!);
        assert.deepEqual(faultsOf(signed), [], name);
        assert.equal(signed.toString().replace(/<Signature .*<\/Signature>/s, ''), xml, name);
      }
      const bad = UNSIGNABLE.flatMap((xml, at) => [inFolder(`${nome}/r${at}.xml`, xml), `${folder}/nada.xml`]);
      assert.deepEqual(await ask('assinar', pfx, SENHA, ...bad), Array(UNSIGNABLE.length).fill('XmlRecusado'));
      const comAcento = await ask('assinar', PFX_COM_ACENTO, SENHA_COM_ACENTO, ...pairs[0]!);
      assert.deepEqual(comAcento, [abreComAcento ? 'assinada' : 'CertificadoRecusado']);
      assert.deepEqual(await ask('assinar', pfx, 'outra', ...bad), ['CertificadoRecusado']);
      assert.deepEqual(await ask('assinar', caFile, SENHA, ...bad), ['CertificadoRecusado']);
    });

    test('the program of the page runs as it stands, with the file that the service hands out', { skip }, async () => {
      const own = folderOf('pagina');
      const [bloco, arquivo] = exemplo;
      for (const name of [path.basename(cliente), 'dps.json']) {
        const answer = await fetch(`${address}/docs/arquivos/${name}`);
        writeFileSync(path.join(own, name), await answer.text());
      }
      const [, text] = new RegExp(`^\`\`\`${bloco}\\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(PAGE)!;
      writeFileSync(path.join(own, arquivo), text!.replaceAll('{{site}}', address));
      const shown = await prepare(path.join(own, arquivo), path.join(own, path.basename(cliente)), own);
      const issued = await run(shown, { cwd: own, env });
      assert.equal(issued.out, 'autorizada, ISSQN 20.00\n', issued.err);
      assert.equal(readFileSync(path.join(own, 'nota.pdf')).toString('latin1', 0, 5), '%PDF-');
      const dps = readFileSync(path.join(own, 'dps.json'), 'utf8').replace('52998224725', '52998224726');
      writeFileSync(path.join(own, 'dps.json'), dps);
      const refused = await run(shown, { cwd: own, env });
      assert.match(refused.out, /^E0003 tomador_cpf_cnpj:? /, refused.err);
    });
  });
}
