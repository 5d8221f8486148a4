/** `nfse transmitir` as a separate, watched process: a real Prometheus sees its transmissions at its own listener, and nowhere else. */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import { before, describe, test } from 'node:test';
import { type Running, start } from '../../../scripts/stage.ts';
import { onEnd } from '../../../test/support/cleanup.ts';
import { ownPort } from '../../../test/support/ports.ts';
import { nfse, readyDataDir } from '../../../test/support/process.ts';
import { watchWithPrometheus } from '../../../test/support/prometheus.ts';
import { createAuthority, SERVER_EXTENSIONS } from '../../../test/support/tls.ts';
import { toolOr } from '../../../test/support/tools.ts';
import { until } from '../../../test/support/until.ts';
import { openVigiado, type Vigiado } from '../../../test/support/vigiado.ts';
import type { Saude } from './saude.ts';

const NOTES = 5;
const WATCHED = ['/metrics', '/health/live', '/health/detalhe'];

describe('nfse transmitir, watched', () => {
  let vigiado: Vigiado;
  let env: NodeJS.ProcessEnv;
  let port: number;
  let transmitter: Running;

  const transmit = async (more: NodeJS.ProcessEnv = {}): Promise<Running> => {
    const own = { ...env, ...more };
    const one = await start(['transmitir'], own, /Transmitindo o que está em (\S+)\. Ctrl-C encerra/);
    onEnd(() => one.end('SIGKILL'));
    return one;
  };
  const ask = (url: string, options: http.RequestOptions = {}): Promise<{ status: number; text: string }> =>
    new Promise((resolve, reject) => {
      const asked = http.request({ host: '127.0.0.1', port, path: url, agent: false, ...options }, (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (chunk) => (text += chunk));
        answer.on('end', () => resolve({ status: answer.statusCode!, text }));
      });
      asked.on('error', reject).end();
    });

  before(async () => {
    vigiado = await openVigiado();
    // The service stops with waiting notes; the transmitter alone sends from now on.
    await vigiado.adn.kill();
    for (let note = 0; note < NOTES; note += 1) assert.equal(await vigiado.issue(), 201);
    await vigiado.end();
    await vigiado.adn.begin();
    port = await ownPort();
    env = { ...vigiado.env, NFSE_TRANSMITIR_PORTA: String(port) };
    transmitter = await transmit();
  });

  test('says where it is watched', () => {
    assert.match(transmitter.output(), new RegExp(`Vigiado em http://127\\.0\\.0\\.1:${port}/metrics`));
  });

  test('its answers of the ADN, lanes, loop and memory are in Prometheus', async (t) => {
    const prometheus = toolOr('prometheus', 'prometheus');
    if (prometheus === undefined) return t.skip('prometheus is not here');
    const watching = await watchWithPrometheus(prometheus, [`127.0.0.1:${port}`]);
    const readValue = async (expr: string): Promise<number | undefined> => (await watching.query(expr))[0]?.value;
    await until(
      async () =>
        (await readValue('sum(nfse_adn_respostas_total{municipio="exemplo",resposta="aceita"})')) === NOTES ||
        undefined,
      'all are authorised',
    );
    assert.equal(await readValue('sum(nfse_notas_total{municipio="exemplo",estado="autorizada"})'), NOTES);
    assert.ok((await readValue('sum(nfse_adn_chamada_duracao_seconds_count{operacao="envio",classe="2xx"})'))! >= 1);
    assert.ok(
      (await readValue('histogram_quantile(0.95, sum by (le) (nfse_adn_chamada_duracao_seconds_bucket))'))! > 0,
    );
    assert.ok((await readValue('sum(nfse_faixas_lugares)'))! > 0);
    assert.ok((await readValue('max(nfse_laco_atraso_seconds)'))! >= 0);
    assert.ok((await readValue('max(nfse_memoria_residente_bytes)'))! > 50e6);
    assert.ok((await readValue('time() - max(nfse_transmissor_volta_timestamp_seconds)'))! < 120);
    assert.equal(await readValue('min(nfse_parte_responde)'), 1);
    assert.equal(await readValue('min(nfse_banco_disponivel)'), 1);
    assert.ok((await readValue('min(nfse_certificado_vence_timestamp_seconds{uso="adn"}) - time()'))! > 0);
    // The service alone reports values from the database; a sum over two processes would double them.
    for (const name of ['nfse_em_espera', 'nfse_notas_retidas', 'nfse_adn_circuito_aberto', 'nfse_banco_tamanho_bytes'])
      assert.equal(await readValue(name), undefined, name);
    assert.equal(await readValue('up'), 1);
  });

  test('nfse saude --transmitir judges it, and nfse saude the service, which is down', async () => {
    const { code, out } = await nfse(['saude', '--transmitir'], env);
    assert.equal(code, 0, out);
    assert.match(out, /^NFSE OK - \d+ verificações, nada a fazer/);
    const saude: Saude = JSON.parse((await nfse(['saude', '--transmitir', '--json'], env)).out);
    const statusOf = (nome: string) => saude.verificacoes.find((one) => one.nome === nome)!.status;
    assert.equal(statusOf('NfseTransmissaoParada'), 'ok');
    assert.equal(statusOf('NfseArquivosEmFalta'), 'ok');
    assert.equal(statusOf('NfseNotasEsperando'), 'inaplicavel');
    const service = await nfse(['saude'], env);
    assert.equal(service.code, 2);
    assert.match(service.out, /O serviço não responde/);
    const off = await nfse(['saude', '--transmitir'], { ...env, NFSE_TRANSMITIR_PORTA: '' });
    assert.equal(off.code, 2);
    assert.match(off.out, /NFSE_TRANSMITIR_PORTA=0/);
    assert.match(off.out, /Dê-lhe uma porta em NFSE_TRANSMITIR_PORTA/);
  });

  test('strangers get what an address gets that there is not', async () => {
    const strangers: readonly http.RequestOptions[] = [
      { headers: { 'X-Forwarded-For': '127.0.0.1' } },
      { headers: { Via: '1.1 proxy' } },
      { headers: { Host: 'atacante.exemplo' } },
      { headers: { Host: `127.0.0.1.nip.io:${port}` } },
      ...['POST', 'PUT', 'DELETE', 'OPTIONS', 'TRACE'].map((method) => ({ method })),
    ];
    for (const options of strangers) {
      const unknown = await ask('/nao-existe', options);
      assert.equal(unknown.status, 404);
      for (const url of WATCHED)
        assert.deepEqual(await ask(url, options), unknown, `${url} ${JSON.stringify(options)}`);
    }
    for (const url of WATCHED) assert.equal((await ask(url)).status, 200, url);
    // The listener has nothing else: no page of the console, no public interface.
    for (const url of ['/', '/entrar', '/docs', '/exemplo/api/v1/nfse', `/${'x'.repeat(20_000)}`])
      assert.equal((await ask(url)).status, 404, url);
  });

  test('a port that is taken is told, and the other one transmits all the same', async () => {
    const other = await transmit();
    assert.match(other.output(), /Não é vigiado: a porta \d+ já está em uso\. Escolha outra com NFSE_TRANSMITIR_PORTA/);
    await other.end('SIGTERM');
    const unwatched = await transmit({ NFSE_TRANSMITIR_PORTA: '' });
    assert.doesNotMatch(unwatched.output(), /igiado/);
    await unwatched.end('SIGTERM');
    assert.equal((await ask('/health/live')).status, 200);
  });

  test('it ends in order while somebody keeps a connection', async () => {
    const agent = new http.Agent({ keepAlive: true });
    assert.equal((await ask('/metrics', { agent })).status, 200);
    await transmitter.end('SIGTERM');
    assert.match(transmitter.output(), /Encerrando/);
    agent.destroy();
  });
});

test('with a TLS of its own it is asked by the certificate of its settings, and no other one is believed', async () => {
  const { certFile, keyFile } = createAuthority('servidores').issue('nfse.exemplo.gov.br', SERVER_EXTENSIONS);
  const port = await ownPort();
  const env = {
    NFSE_DATA_DIR: await readyDataDir(),
    NFSE_TRANSMITIR_PORTA: String(port),
    NFSE_TLS_CERTIFICADO: certFile,
    NFSE_TLS_CHAVE: keyFile,
  };
  const transmitter = await start(['transmitir'], env, /Transmitindo o que está em (\S+)\. Ctrl-C encerra/);
  onEnd(() => transmitter.end('SIGKILL'));
  assert.match(transmitter.output(), new RegExp(`Vigiado em https://127\\.0\\.0\\.1:${port}/metrics`));
  // The part that reads the value may be late on a slow machine.
  const valor = await until(async () => {
    const { verificacoes }: Saude = JSON.parse((await nfse(['saude', '--transmitir', '--json'], env)).out);
    return verificacoes.find(({ nome }) => nome === 'NfseCertificadoVence')?.valor ?? undefined;
  }, 'the certificate is read');
  const end = Date.parse(new X509Certificate(readFileSync(certFile)).validTo);
  assert.ok(Math.abs(valor - (end - Date.now()) / 1_000) < 600, `${valor}`);
  const other = createAuthority('outros').issue('nfse.exemplo.gov.br', SERVER_EXTENSIONS);
  const deceived = { ...env, NFSE_TLS_CERTIFICADO: other.certFile, NFSE_TLS_CHAVE: other.keyFile };
  const { code, out } = await nfse(['saude', '--transmitir'], deceived);
  assert.equal(code, 2);
  assert.match(out, /outro certificado/);
  await transmitter.end('SIGTERM');
});
