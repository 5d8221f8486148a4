/**
 * Clients that nobody here wrote drive all six operations from the description alone: PHP's SoapClient in both versions of SOAP,
 * node-soap, and Java with the port that wsimport of the JAX-WS reference implementation generates (Debian has no Apache CXF).
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { before, describe, test } from 'node:test';
import { createClientAsync } from 'soap';
import { onEnd } from './support/cleanup.ts';
import { request } from './support/http.ts';
import { cancelamentoXml, consultaXml, first, loteXml, porProtocolo, porRpsXml } from './support/rps.ts';
import { startTestService } from './support/service.ts';
import { toolOr } from './support/tools.ts';

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
): Call {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'] });
  onEnd(() => void child.kill());
  let complaint = '';
  child.stderr.on('data', (chunk: Buffer) => {
    complaint += chunk.toString();
  });
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
  for (let turns = 0; ; turns += 1) {
    const answer = await ask('ConsultarSituacaoLoteRps', porProtocolo('ConsultarSituacaoLoteRpsEnvio', protocolo));
    if (first(answer, 'Situacao') === '4') break;
    assert.ok(turns < 100, answer);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
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

describe('the six operations from the description alone', () => {
  let address: string;
  let wsdl: string;
  before(async () => {
    ({ address } = await startTestService());
    wsdl = `${address}/integracao/soap/nfes?wsdl`;
  });

  test('by the SoapClient of PHP, in SOAP 1.1 and 1.2', async (context) => {
    const php = toolOr('php', 'php-cli');
    if (php === undefined) return context.skip('no PHP');
    const hasSoap = (): boolean => /^soap$/m.test(spawnSync(php, ['-m'], { encoding: 'utf8' }).stdout);
    if (!hasSoap()) spawnSync('apt-get', ['install', '-y', '-qq', 'php-soap'], { stdio: 'ignore', timeout: 120_000 });
    if (!hasSoap()) return context.skip('PHP without its SOAP extension (Debian package php-soap)');
    for (const versao of ['1.1', '1.2']) {
      const call = driven(
        php,
        [path.join(HERE, 'cliente.php'), wsdl, versao],
        (operacao, documento) => JSON.stringify([operacao, documento]),
        (line) => JSON.parse(line),
      );
      await tellsTheWholeStory(address, call);
    }
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
    const java = toolOr('java', 'default-jre-headless');
    if (wsimport === undefined || javac === undefined || java === undefined) return context.skip('no JAX-WS');
    const folder = mkdtempSync(path.join(tmpdir(), 'nfse-wsimport-'));
    onEnd(() => rmSync(folder, { recursive: true, force: true }));
    const run = (command: string, args: readonly string[]): void => {
      const { status, stderr, stdout } = spawnSync(command, args, { cwd: folder, encoding: 'utf8' });
      assert.equal(status, 0, `${command}: ${stdout}${stderr}`);
    };
    // The service answers in this very process, so wsimport must not keep it waiting.
    const generated = spawn(wsimport, ['-p', 'cliente', '-d', folder, wsdl], { stdio: 'ignore' });
    assert.equal(await new Promise((resolve) => generated.on('close', resolve)), 0, 'wsimport reads the description');
    copyFileSync(path.join(HERE, 'Cliente.java'), path.join(folder, 'Cliente.java'));
    const classpath = `${folder}:/usr/share/java/jaxws-rt.jar:/usr/share/java/*`;
    run(javac, ['-cp', classpath, '-d', folder, 'Cliente.java']);
    const call = driven(
      java,
      ['-cp', classpath, 'Cliente', wsdl],
      (operacao, documento) => `${operacao} ${Buffer.from(documento, 'utf8').toString('base64')}`,
      (line) => Buffer.from(line, 'base64').toString('utf8'),
    );
    await tellsTheWholeStory(address, call);
  });
});
