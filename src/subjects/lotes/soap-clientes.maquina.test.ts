/**
 * Independent clients run all six operations from the description alone, in both forms of the model. They read the notes by the schemas.
 * These are PHP's SoapClient in both versions of SOAP, node-soap, Python's zeep, and Java. The Java client uses the port from wsimport
 * (JAX-WS reference implementation) and the classes from xjc; Debian has no Apache CXF.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { before, describe, test } from 'node:test';
import { DOMParser } from '@xmldom/xmldom';
import { createClientAsync } from 'soap';
import { DOCUMENTOS, type Forma, inSpeedGov, SPEEDGOV, writeEsquemas } from '../../../test/support/abrasf-xsd.ts';
import { onEnd } from '../../../test/support/cleanup.ts';
import { request } from '../../../test/support/http.ts';
import { ROOT } from '../../../test/support/process.ts';
import {
  ABRASF,
  cancelamentoXml,
  consultaXml,
  first,
  loteXml,
  porProtocolo,
  porRpsXml,
} from '../../../test/support/rps.ts';
import { startTestService } from '../../../test/support/service.ts';
import { installed, toolOr } from '../../../test/support/tools.ts';
import { until } from '../../../test/support/until.ts';

const HERE = path.resolve(import.meta.dirname, '../../../test/soap-clientes');
const NAMES =
  'RecepcionarLoteRps ConsultarSituacaoLoteRps ConsultarLoteRps ConsultarNfsePorRps ConsultarNfse CancelarNfse';

/** Calls an operation with its document and returns the text of `return`. */
type Call = (operacao: string, documento: string) => Promise<string>;

/** The namespaces of the answer with a note. */
type Espacos = { readonly resposta: string; readonly tipos: string };

/** `ler`: strictly reads the note of `ConsultarNfseRpsResposta`: number, code, competence, and values of service, base and tax. */
type Cliente = { readonly pedir: Call; readonly ler: (documento: string, espacos: Espacos) => Promise<string> };

const ESPACOS: Readonly<Record<Forma, Espacos>> = {
  abrasf: { resposta: ABRASF, tipos: ABRASF },
  speedgov: { resposta: `${SPEEDGOV}consultar_nfse_rps_resposta_v1.xsd`, tipos: `${SPEEDGOV}tipos_v1.xsd` },
};

/** A client in another language: one line of input for each question, one line of output for each answer. */
function driven<Asked extends readonly string[]>(
  command: string,
  args: readonly string[],
  write: (...asked: Asked) => string,
  read: (line: string) => string,
  env: NodeJS.ProcessEnv = process.env,
): (...asked: Asked) => Promise<string> {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'], env });
  onEnd(() => void child.kill());
  let complaint = '';
  child.stderr.on('data', (chunk: Buffer) => {
    complaint += chunk.toString();
  });
  // The next question reports a client that did not start, or ended.
  for (const one of [child, child.stdin]) {
    one.on('error', (error) => {
      complaint += `${error}\n`;
    });
  }
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return async (...asked) => {
    child.stdin.write(`${write(...asked)}\n`);
    const { value, done } = await lines.next();
    assert.ok(!done, `${command} ended: ${complaint}`);
    return read(value);
  };
}

let turn = 0;

/** A lot of two RPS in the form of a 2010 program, its results, and the cancellation of one note; in both forms. */
async function tellsTheWholeStory(address: string, cliente: Cliente): Promise<void> {
  for (const forma of ['abrasf', 'speedgov'] as const) await tells(address, cliente, forma);
}

async function tells(address: string, { pedir, ler }: Cliente, forma: Forma): Promise<void> {
  turn += 1;
  const serie = String(turn);
  const used: string[] = [];
  const ask = async (operacao: string, documento: string): Promise<string> => {
    used.push(operacao);
    return pedir(operacao, forma === 'abrasf' ? documento : inSpeedGov(documento));
  };
  const puro = { serie, nbs: '', extensao: '' };
  const xml = loteXml(
    [
      { ...puro, numero: 1, discriminacao: 'Análise &amp; programação' },
      { ...puro, numero: 2 },
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
  // Number and code are in the key: 13 digits from the 24th on, and 9 from the 41st.
  const numero = chaves[0]!.slice(23, 36).replace(/^0+/, '');
  const competencia = forma === 'abrasf' ? '2026-11-20T00:00:00' : '2026-11-20';
  assert.equal(
    await ler(byRps, ESPACOS[forma]),
    `${numero} ${chaves[0]!.slice(40, 49)} ${competencia} 1000.00 1000.00 20.00`,
  );
  const byNumber = await ask('ConsultarNfse', consultaXml(`<NumeroNfse>${numero}</NumeroNfse>`));
  assert.match(byNumber, new RegExp(`Id="NFS${chaves[0]}"`));
  const cancelled = await ask('CancelarNfse', cancelamentoXml(numero));
  assert.equal(first(cancelled, 'Sucesso'), 'true', cancelled);
  const { body } = await request(address, `/integracao/api/v1/nfse/${chaves[0]}/eventos`);
  assert.equal(body.eventos[0].tipo_evento, 'cancelamento');
  assert.deepEqual([...new Set(used)].sort(), NAMES.split(' ').sort());
}

/** Reads only by the names and namespaces of the schema. */
function lerWithDom(documento: string, { resposta, tipos }: Espacos): string {
  const at = (from: Element | undefined, ...path: readonly [namespace: string, name: string][]): Element | undefined =>
    path.reduce<Element | undefined>(
      (place, [namespace, name]) =>
        Array.from(place?.childNodes ?? [], (one) => one as Element).find(
          (one) => one.localName === name && one.namespaceURI === namespace,
        ),
      from,
    );
  const root = new DOMParser().parseFromString(documento, 'text/xml').documentElement;
  const nota = at(root, [resposta, 'CompNfse'], [tipos, 'Nfse'], [tipos, 'InfNfse']);
  const valores = at(nota, [tipos, 'Servico'], [tipos, 'Valores']);
  const said = (from: Element | undefined, names: readonly string[]): string[] =>
    names.map((name) => at(from, [tipos, name])?.textContent ?? '');
  return [
    ...said(nota, ['Numero', 'CodigoVerificacao', 'Competencia']),
    ...said(valores, ['ValorServicos', 'BaseCalculo', 'ValorIss']),
  ].join(' ');
}

/** The schemas of the model, from which a client makes its classes; both forms share the schema of signatures. */
function esquemasIn(folder: string) {
  const of = (forma: Forma) => writeEsquemas(folder, forma, ABRASF);
  return { abrasf: of('abrasf'), speedgov: of('speedgov') };
}

const base64 = (text: string): string => Buffer.from(text, 'utf8').toString('base64');

const NO_PHP = 'no PHP with its extensions soap and SimpleXML (Debian packages php-cli php-soap php-xml)';

/** PHP's warnings stay out of the answers. */
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

/** Debian's own Python, for which its packages are built. */
const PYTHON = '/usr/bin/python3';

function pythonWithZeep(): string | undefined {
  const hasZeep = (): boolean => spawnSync(PYTHON, ['-c', 'import zeep']).status === 0;
  return hasZeep() || (installed('python3-zeep') && hasZeep()) ? PYTHON : undefined;
}

function temporary(name: string): string {
  const folder = mkdtempSync(path.join(tmpdir(), `nfse-${name}-`));
  onEnd(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const JAXWS = '/usr/share/java/jaxws-rt.jar';

/** The programs of the test are too short-lived for Java's optimizing compiler. */
const JAVA_ENV = { ...process.env, JAVA_TOOL_OPTIONS: '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC' };

/** Whether these are Debian's JAX-WS and a suitable Java: one that compiles, and that wsimport runs on. */
function goTogether(wsimport: string, java: string): boolean {
  // The release file of a JDK saves a start of Java.
  const release = path.join(path.dirname(realpathSync(java)), '../release');
  const modules = existsSync(release)
    ? readFileSync(release, 'utf8')
    : spawnSync(java, ['--list-modules'], { encoding: 'utf8', env: JAVA_ENV }).stdout;
  return (
    existsSync(JAXWS) &&
    /\bjdk\.compiler\b/.test(modules) &&
    spawnSync(wsimport, ['-version'], { env: JAVA_ENV }).status === 0
  );
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
        (...asked: string[]) => JSON.stringify(asked),
        (line) => JSON.parse(line),
      );
      await tellsTheWholeStory(address, {
        pedir: call,
        ler: (documento, { resposta, tipos }) => call('ler', documento, resposta, tipos),
      });
    }
  });

  test('by the program of the documentation, as it stands there', async (context) => {
    const php = phpWithSoap();
    if (php === undefined) return context.skip(NO_PHP);
    const folder = temporary('porto-php');
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
    await tellsTheWholeStory(address, {
      pedir: async (operacao, documento) => {
        const [answer] = await client[`${operacao}Async`]({ header: '', parameters: documento });
        return answer.return;
      },
      ler: async (documento, espacos) => lerWithDom(documento, espacos),
    });
  });

  test('by zeep, with the types that it makes of the schemas', async (context) => {
    const python = pythonWithZeep();
    if (python === undefined) return context.skip('no zeep (Debian package python3-zeep)');
    const esquemas = esquemasIn(temporary('zeep'));
    const files = [
      `${ABRASF}=${esquemas.abrasf('')}`,
      ...Object.entries(DOCUMENTOS).map(
        ([stem, { resposta }]) => `${SPEEDGOV}${stem}_resposta_v1.xsd=${esquemas.speedgov(resposta[0])}`,
      ),
    ];
    const call = driven(
      python,
      [path.join(HERE, 'cliente.py'), wsdl, ...files],
      (...asked: string[]) => JSON.stringify(asked),
      (line) => JSON.parse(line),
    );
    await tellsTheWholeStory(address, {
      pedir: (operacao, documento) => call('pedir', operacao, documento),
      ler: (documento) => call('ler', documento),
    });
  });

  test('by Java, with the port that wsimport generates and the classes that xjc does', async (context) => {
    const wsimport = toolOr('wsimport', 'jaxws');
    const xjc = toolOr('xjc', 'jaxb');
    const javac = toolOr('javac', 'default-jdk-headless');
    const java = toolOr('java', 'default-jdk-headless');
    if (!wsimport || !xjc || !javac || !java || !goTogether(wsimport, java)) {
      return context.skip('no Java with JAX-WS and JAXB (Debian packages jaxws jaxb default-jdk-headless)');
    }
    const folder = temporary('wsimport');
    // The service answers in this same process, so a wait for wsimport must not block it.
    const run = async (command: string, ...args: string[]): Promise<void> => {
      const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'], env: JAVA_ENV });
      const complaint = child.stderr.toArray();
      const code = await new Promise((resolve) => child.on('close', resolve));
      assert.equal(code, 0, `${command}: ${Buffer.concat(await complaint)}`);
    };
    await run(wsimport, '-Xnocompile', '-p', 'cliente', '-d', folder, wsdl);
    const esquemas = esquemasIn(folder);
    const roots = Object.values(DOCUMENTOS).flatMap(({ envio, resposta }) => [envio[0], resposta[0]]);
    await run(xjc, '-quiet', '-d', folder, esquemas.abrasf(''), ...roots.map((root) => esquemas.speedgov(root)));
    const sources = globSync('{br,org,cliente}/**/*.java', { cwd: folder }).map((file) => path.join(folder, file));
    // All programs are compiled together: each start of a compiler costs as much as all the classes.
    const programs = ['Cliente.java', 'Leitor.java'].map((file) => path.join(HERE, file));
    await run(javac, '-nowarn', '-cp', '/usr/share/java/*', '-d', folder, ...sources, ...programs);
    const packages = globSync('br/**/ObjectFactory.java', { cwd: folder }).map((file) =>
      path.dirname(file).replaceAll('/', '.'),
    );
    const classpath = `${folder}:${JAXWS}:/usr/share/java/*`;
    const call = driven(
      java,
      ['-cp', classpath, 'Cliente', wsdl],
      (operacao: string, documento: string) => `${operacao} ${base64(documento)}`,
      (line) => Buffer.from(line, 'base64').toString('utf8'),
      JAVA_ENV,
    );
    const leitor = ['-cp', classpath, 'Leitor', ...packages];
    const read = driven(java, leitor, base64, (line) => line, JAVA_ENV);
    await tellsTheWholeStory(address, { pedir: call, ler: (documento) => read(documento) });
    // Generated classes ignore elements of another namespace without an error.
    const strange = await call('ConsultarNfsePorRps', porRpsXml(2, String(turn)));
    assert.match(await read(strange.replace(ABRASF, ESPACOS.speedgov.resposta)), /^null null null/);
  });
});
