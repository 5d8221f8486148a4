/**
 * Clients that nobody here wrote drive all six operations from the description alone: PHP's SoapClient in both versions of SOAP,
 * node-soap, and Java with the port that wsimport of the JAX-WS reference implementation generates (Debian has no Apache CXF).
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { before, describe, test } from 'node:test';
import { createClientAsync } from 'soap';
import { onEnd } from './support/cleanup.ts';
import { request } from './support/http.ts';
import { ROOT } from './support/process.ts';
import { cancelamentoXml, consultaXml, first, loteXml, porProtocolo, porRpsXml } from './support/rps.ts';
import { startTestService } from './support/service.ts';
import { installed, toolOr } from './support/tools.ts';
import { until } from './support/until.ts';

const HERE = path.join(import.meta.dirname, 'soap-clientes');
const NAMES =
  'RecepcionarLoteRps ConsultarSituacaoLoteRps ConsultarLoteRps ConsultarNfsePorRps ConsultarNfse CancelarNfse';

/** Calls an operation with its document and gives what stands in `return`. */
type Call = (operacao: string, documento: string) => Promise<string>;

/** A client in another language: a question a line on its input, an answer a line on its output. */
function driven(
  command: string,
  args: readonly string[],
  write: (operacao: string, documento: string) => string,
  read: (line: string) => string,
  env: NodeJS.ProcessEnv = process.env,
): Call {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'], env });
  onEnd(() => void child.kill());
  let complaint = '';
  child.stderr.on('data', (chunk: Buffer) => {
    complaint += chunk.toString();
  });
  // Of one that cannot be started, or ended, the next question tells.
  for (const one of [child, child.stdin]) {
    one.on('error', (error) => {
      complaint += `${error}\n`;
    });
  }
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return async (operacao, documento) => {
    child.stdin.write(`${write(operacao, documento)}\n`);
    const { value, done } = await lines.next();
    assert.ok(!done, `${command} ended: ${complaint}`);
    return read(value);
  };
}

let turn = 0;

/** A lot of two, what becomes of it, and the end of one of its notes. */
async function tellsTheWholeStory(address: string, call: Call): Promise<void> {
  turn += 1;
  const serie = String(turn);
  const used: string[] = [];
  const ask = async (operacao: string, documento: string): Promise<string> => {
    used.push(operacao);
    return call(operacao, documento);
  };
  const xml = loteXml(
    [
      { numero: 1, serie, discriminacao: 'Análise &amp; programação' },
      { numero: 2, serie },
    ],
    { numero: serie },
  );
  const received = await ask('RecepcionarLoteRps', xml);
  const protocolo = first(received, 'Protocolo');
  assert.ok(protocolo, received);
  const situacao = await until(async () => {
    const answer = await ask('ConsultarSituacaoLoteRps', porProtocolo('ConsultarSituacaoLoteRpsEnvio', protocolo));
    const said = first(answer, 'Situacao') ?? answer;
    return said === '2' ? undefined : said;
  }, 'the end of a lot');
  assert.equal(situacao, '4');
  const lote = await ask('ConsultarLoteRps', porProtocolo('ConsultarLoteRpsEnvio', protocolo));
  const chaves = [...lote.matchAll(/Id="NFS(\d{50})"/g)].map(([, chave]) => chave!);
  assert.equal(chaves.length, 2, lote);
  const byRps = await ask('ConsultarNfsePorRps', porRpsXml(1, serie));
  assert.equal(first(byRps, 'Discriminacao'), 'Análise &amp; programação');
  const numero = first(byRps, 'Numero')!;
  const byNumber = await ask('ConsultarNfse', consultaXml(`<NumeroNfse>${numero}</NumeroNfse>`));
  assert.match(byNumber, new RegExp(`Id="NFS${chaves[0]}"`));
  const cancelled = await ask('CancelarNfse', cancelamentoXml(numero));
  assert.equal(first(cancelled, 'Sucesso'), 'true', cancelled);
  const { body } = await request(address, `/integracao/api/v1/nfse/${chaves[0]}/eventos`);
  assert.equal(body.eventos[0].tipo_evento, 'cancelamento');
  assert.deepEqual([...new Set(used)].sort(), NAMES.split(' ').sort());
}

const NO_PHP = 'no PHP with its extensions soap and SimpleXML (Debian packages php-cli php-soap php-xml)';

/** What PHP has to remark on stays out of the answers. */
const PHP_QUIET = ['-d', 'display_errors=stderr', '-d', 'display_startup_errors=0'];

function phpWithSoap(): string | undefined {
  const php = toolOr('php', 'php-cli php-soap php-xml');
  if (php === undefined) return undefined;
  const isWhole = (): boolean => {
    const { stdout } = spawnSync(php, ['-m'], { encoding: 'utf8' });
    return /^soap$/m.test(stdout) && /^SimpleXML$/m.test(stdout);
  };
  return isWhole() || (installed('php-soap php-xml') && isWhole()) ? php : undefined;
}

const JAXWS = '/usr/share/java/jaxws-rt.jar';

/** Whether these are Debian's JAX-WS and a Java that compiles what it runs and that wsimport itself runs on. */
function goTogether(wsimport: string, java: string): boolean {
  const modules = spawnSync(java, ['--list-modules'], { encoding: 'utf8' }).stdout;
  return existsSync(JAXWS) && /^jdk\.compiler\b/m.test(modules) && spawnSync(wsimport, ['-version']).status === 0;
}

describe('the six operations from the description alone', () => {
  let address: string;
  let wsdl: string;
  before(async () => {
    ({ address } = await startTestService());
    wsdl = `${address}/integracao/soap/nfes?wsdl`;
  });

  test('by the SoapClient of PHP, in SOAP 1.1 and 1.2', async (context) => {
    const php = phpWithSoap();
    if (php === undefined) return context.skip(NO_PHP);
    for (const versao of ['1.1', '1.2']) {
      const call = driven(
        php,
        [...PHP_QUIET, path.join(HERE, 'cliente.php'), wsdl, versao],
        (operacao, documento) => JSON.stringify([operacao, documento]),
        (line) => JSON.parse(line),
      );
      await tellsTheWholeStory(address, call);
    }
  });

  test('by the program of the documentation, as it stands there', async (context) => {
    const php = phpWithSoap();
    if (php === undefined) return context.skip(NO_PHP);
    const folder = mkdtempSync(path.join(tmpdir(), 'nfse-porto-php-'));
    onEnd(() => rmSync(folder, { recursive: true, force: true }));
    const page = readFileSync(path.join(ROOT, 'docs/site/soap.md'), 'utf8');
    const [, program] = /^```php\n([\s\S]*?)^```$/m.exec(page)!;
    const here = program!.replaceAll('{{site}}', address).replaceAll('{{integracao}}', 'integracao');
    writeFileSync(path.join(folder, 'lote.php'), here);
    const lote = readFileSync(path.join(ROOT, 'docs/site/exemplos/lote-rps.xml'), 'utf8');
    const run = async (xml: string): Promise<{ code: number | null; out: string; err: string }> => {
      writeFileSync(path.join(folder, 'lote-rps.xml'), xml);
      const child = spawn(php, [...PHP_QUIET, 'lote.php'], { cwd: folder });
      const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
      const [out, err] = await Promise.all([child.stdout, child.stderr].map((stream) => stream.toArray()));
      const code = await ended;
      return { code, out: Buffer.concat(out!).toString(), err: Buffer.concat(err!).toString() };
    };
    const issued = await run(lote);
    assert.match(issued.out, /^NFS-e \d+, ISS 20\.00\. Chave de acesso da NFS-e: \d{50}\n$/, issued.err);
    const chave = /\d{50}/.exec(issued.out)![0];
    assert.equal((await request(address, `/integracao/api/v1/nfse/${chave}`)).status, 200);
    const refused = await run(lote.replace('<QuantidadeRps>1<', '<QuantidadeRps>2<'));
    assert.deepEqual([refused.code, refused.err.split(' ', 1)[0]], [1, 'E69']);
  });

  test('by node-soap', async () => {
    const client = await createClientAsync(wsdl);
    const { Nfes } = client.describe();
    assert.deepEqual(Object.keys(Nfes.NfesPort).sort(), NAMES.split(' ').sort());
    await tellsTheWholeStory(address, async (operacao, documento) => {
      const [answer] = await client[`${operacao}Async`]({ header: '', parameters: documento });
      return answer.return;
    });
  });

  test('by Java, with the port that wsimport generates', async (context) => {
    const wsimport = toolOr('wsimport', 'jaxws');
    const javac = toolOr('javac', 'default-jdk-headless');
    const java = toolOr('java', 'default-jdk-headless');
    if (wsimport === undefined || javac === undefined || java === undefined || !goTogether(wsimport, java)) {
      return context.skip('no Java with JAX-WS (Debian packages jaxws default-jdk-headless)');
    }
    const folder = mkdtempSync(path.join(tmpdir(), 'nfse-wsimport-'));
    onEnd(() => rmSync(folder, { recursive: true, force: true }));
    // Neither lives long enough for the better of its compilers.
    const env = { ...process.env, JAVA_TOOL_OPTIONS: '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC' };
    // The service answers in this very process, so wsimport must not keep it waiting.
    const generated = spawn(wsimport, ['-p', 'cliente', '-d', folder, wsdl], { stdio: 'ignore', env });
    assert.equal(await new Promise((resolve) => generated.on('close', resolve)), 0, 'wsimport reads the description');
    const classpath = `${folder}:${JAXWS}:/usr/share/java/*`;
    const call = driven(
      java,
      ['-cp', classpath, path.join(HERE, 'Cliente.java'), wsdl],
      (operacao, documento) => `${operacao} ${Buffer.from(documento, 'utf8').toString('base64')}`,
      (line) => Buffer.from(line, 'base64').toString('utf8'),
      env,
    );
    await tellsTheWholeStory(address, call);
  });
});
