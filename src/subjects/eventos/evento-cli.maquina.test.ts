/**
 * Runs the commands chapter of the events page line by line beside the program's own service. The ADN is simulated, and the signatures are
 * the municipality's.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, test } from 'node:test';
import { signedDps } from '../../../bench/documents.ts';
import { openStage, registerTenant, startSimulator } from '../../../scripts/stage.ts';
import { onEnd } from '../../../test/support/cleanup.ts';
import { nfseBeside, runBeside } from '../../../test/support/cli.ts';
import { linesOf, wordsOf } from '../../../test/support/console.ts';
import { request } from '../../../test/support/http.ts';
import { readyKeys } from '../../../test/support/keys.ts';
import { ROOT, readyDataDir, type Said, startServiceProcess } from '../../../test/support/process.ts';
import { until } from '../../../test/support/until.ts';
import { EVENTO_PROFILE } from '../../documents/signature-shape.ts';
import { checkSignature } from '../../documents/signed.ts';
import { readXml, xsdErrors } from '../../documents/xml.ts';
import { eventoRests } from '../../fiscal/evento.ts';
import { exampleXml } from '../../fiscal/rules/example.ts';
import type { EventoPublico } from './queries.ts';

/** The CNPJ of the municipality's certificate in the private PKI. */
const MUNICIPIO_CNPJ = '99999999000191';
const EXAMPLE = await readFile(path.join(ROOT, 'examples/dps.xml'));
const EVENTO_XSD = await readFile(path.join(ROOT, 'docs/evento-1.01.xsd'), 'utf8');

const told = ({ code, out, err }: Said): string => `ended with ${code}\n${out}${err}`;

describe('the chapter on commands of the page on events', async () => {
  const chapter = await chapterOf('## Pela linha de comando');

  test('is done line by line, in the sandbox and in production', async () => {
    const dataDir = await readyDataDir();
    const env = { NFSE_DATA_DIR: dataDir };
    const cnpj = '11222333000181';
    const stage = await openStage(dataDir, [cnpj], Date.now(), readyKeys);
    const simulator = await startSimulator(stage);
    onEnd(() => simulator.end('SIGINT'));
    const service = await startServiceProcess(env);
    const { address } = service;
    const providers = [{ documento: cnpj, razaoSocial: 'Prestador de Teste Ltda' }];
    await registerTenant(
      stage,
      { slug: 'exemplo', ibge: '3550308', adn: simulator.address, providers },
      env,
      runBeside,
    );

    // The notes of the chapter: two in production, one in the sandbox.
    const template = exampleXml({ tpAmb: '1', serie: '1', nDPS: '1' });
    const signed = signedDps(template, stage.pki.prestadores.slice(0, 1), 1, 2);
    const issued = async (tenant: string, document: Buffer): Promise<string> => {
      const init = { method: 'POST', headers: XML, body: document as Uint8Array<ArrayBuffer> };
      const { status, body } = await request(address, `/${tenant}/api/v1/nfse/v101`, init);
      assert.equal(status, 201, JSON.stringify(body));
      return body.chave_acesso;
    };
    const notas: Readonly<Record<string, readonly string[]>> = {
      exemplo: [await issued('exemplo', signed[0]!), await issued('exemplo', signed[1]!)],
      integracao: [await issued('integracao', EXAMPLE)],
    };
    // The page has addresses and folders of one machine; the test replaces them by its own.
    const lines = linesOf(chapter).map((line) => {
      const [chave, outra] = notas[/exemplo\b|^sed /.test(line) ? 'exemplo' : 'integracao']!;
      return line
        .replaceAll('CHAVE_DE_ACESSO', chave!)
        .replaceAll('OUTRA_CHAVE', outra ?? '')
        .replaceAll('http://127.0.0.1:8080', address)
        .replaceAll(/\bdata\//g, `${dataDir}/`);
    });
    assert.ok(lines.length >= 9, lines.join('\n'));
    for (const line of lines) {
      if (line.startsWith('sed ')) {
        execFileSync('sh', ['-c', line]);
        continue;
      }
      const [program, ...args] = await wordsOf(line);
      if (program === 'curl') {
        const { status, text } = await curl(args);
        assert.ok(status === 200 || status === 201, `${line}\n${status} ${text}`);
        continue;
      }
      const [command, ...rest] = args.slice(args.indexOf('--') + 1) as [string, ...string[]];
      const isSent = rest[0] === 'enviar';
      const said = await nfseBeside([command, ...rest, ...(isSent ? ['--url', address] : [])], env);
      assert.equal(said.code, line.includes('adn:rejeita') ? 1 : 0, `${line}\n${told(said)}`);
    }

    // The results are those that the chapter describes.
    const eventosOf = async (tenant: string, chave: string): Promise<readonly EventoPublico[]> =>
      (await request(address, `/${tenant}/api/v1/nfse/${chave}/eventos`)).body.eventos;
    const [cancelada, bloqueada] = notas['exemplo'] as readonly [string, string];
    const cancelamento = await settled(async () => (await eventosOf('exemplo', cancelada))[0]!);
    assert.equal(cancelamento.status_evento, 'processado');
    assert.equal((await request(address, `/exemplo/api/v1/nfse/${cancelada}`)).body.nota.status, 'cancelada');
    assert.deepEqual(
      (await eventosOf('integracao', notas['integracao']![0]!)).map((evento) => [
        evento.tipo_evento,
        evento.codigo_retorno,
      ]),
      [
        ['rejeicao_prestador', 'E1833'],
        ['confirmacao_tomador', null],
      ],
    );

    // The author is the holder of the certificate, which signs the event when it is sent.
    const bloqueio = await settled(async () => (await eventosOf('exemplo', bloqueada))[0]!);
    assert.deepEqual([bloqueio.tipo_evento, bloqueio.status_evento], ['bloqueio_por_oficio', 'processado']);
    const mostrar = ['evento', 'mostrar', `${bloqueio.id_evento}`, '--municipio', 'exemplo', '--xml'];
    const xml = (await nfseBeside(mostrar, env)).out;
    assert.match(xml, new RegExp(`<CNPJAutor>${MUNICIPIO_CNPJ}</CNPJAutor>`));
    assert.deepEqual(xsdErrors(EVENTO_XSD, Buffer.from(xml)), []);
    const reading = readXml(Buffer.from(xml));
    assert.ok('root' in reading);
    const signature = checkSignature(reading, EVENTO_PROFILE);
    assert.deepEqual(signature.faults, []);
    assert.equal(signature.certificate?.holder?.documento, MUNICIPIO_CNPJ);

    const asked = ['evento', 'registrar', bloqueada, '--municipio', 'exemplo', '--tipo', 'confirmacao_tacita'];
    const stranger = await nfseBeside([...asked, '--cnpj', '88888888000191'], env);
    assert.equal(stranger.code, 1, told(stranger));
    assert.match(stranger.err, /--cnpj 88888888000191 não é o do certificado com que exemplo assina/);

    // A request without a signature, or with another party's, registers nothing.
    const target = ['evento', 'enviar', bloqueada, '--tipo', 'rejeicao_tomador', '--campo', 'codigo_motivo_rejeicao=3'];
    const at = ['--municipio', 'exemplo', '--url', address];
    assert.match((await nfseBeside([...target, ...at], {})).err, /^Recusado \(HTTP 401, E9002\)/);
    const { pfx, senha } = { pfx: `${dataDir}/pki/prestadores/${cnpj}.pfx`, senha: `${dataDir}/pki/senha.txt` };
    const other = await nfseBeside([...target, ...at, '--pfx', pfx, '--senha-arquivo', senha], {});
    assert.match(other.err, /^Recusado \(HTTP 401, E9007\)/);
  });
});

const XML = { 'Content-Type': 'application/xml' };

/** Waits until an event has ended. */
function settled(read: () => Promise<EventoPublico>): Promise<EventoPublico> {
  return until(async () => {
    const evento = await read();
    return eventoRests(evento.status_evento, true) ? evento : undefined;
  }, 'the event comes to its end');
}

/** The part of curl that the page uses. */
async function curl(args: readonly string[]): Promise<{ readonly status: number; readonly text: string }> {
  const headers: Record<string, string> = {};
  let [method, url, body]: [string, string | undefined, string | Uint8Array | undefined] = [
    'GET',
    undefined,
    undefined,
  ];
  for (const [place, arg] of args.entries()) {
    const value = args[place + 1]!;
    if (arg === '-X') method = value;
    else if (arg === '-H') headers[value.slice(0, value.indexOf(':'))] = value.slice(value.indexOf(':') + 1).trim();
    else if (arg === '-d') body = value;
    else if (arg === '--data-binary') body = await readFile(path.resolve(ROOT, value.slice(1)));
    else if (/^http/.test(arg)) url = arg;
  }
  const response = await fetch(url!, { method, headers, body: (body ?? null) as BodyInit | null });
  return { status: response.status, text: await response.text() };
}

/** The text from a heading to the next one of its rank. */
async function chapterOf(heading: string): Promise<string> {
  const page = await readFile(path.join(ROOT, 'docs/site/eventos.md'), 'utf8');
  const from = page.indexOf(`\n${heading}\n`);
  return page.slice(from, page.indexOf('\n## ', from + heading.length));
}
