/** The report on a service that cannot see: moments last for ever, values for two minutes, and unknown never counts as well. */
import assert from 'node:assert/strict';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { CHECKS } from '../../base/measures/checks.ts';
import { gauges } from '../../base/measures/counters.ts';
import type { Sample } from '../../base/measures/metrics.ts';
import { PRESENCE } from '../../base/measures/presence.ts';
import { tabelaEmbarcada } from '../../fiscal/aliquotas-ibs-cbs.ts';
import { MINUTE_MS } from '../../fiscal/moment.ts';
import { SAUDE } from './saude.command.ts';
import { openSaude, type Saude } from './saude.ts';
import { openVigia } from './vigiar.ts';

const NOW = Date.parse('2026-11-29T12:00:00-03:00');

/** Samples that the parts of a service add. */
const PARTS: readonly Sample[] = [
  { name: 'nfse_parte_responde', labels: { processo: '1', parte: 'requisicoes' }, value: 1 },
  { name: 'nfse_laco_atraso_seconds', labels: { processo: '1', parte: 'requisicoes' }, value: 0 },
  { name: 'nfse_banco_conexoes_esperando', labels: { processo: '1', parte: 'requisicoes' }, value: 0 },
];

const MUNICIPIO = { tenant: 'a', ambiente: 'producao', confianca: {}, adn: undefined };
const ESPERA = {
  ...{ tenant: 'a', notas: 3, eventos: 0, lotes: 0, notasTomadas: 0, eventosTomados: 0, lotesTomados: 0, retidas: 0 },
  ...{ analises: 0, rejeicoes: 0, recusadas: 0 },
  ...{ notaDesde: NOW - 90_000, eventoDesde: undefined, loteDesde: undefined, circuitoAberto: false, impedido: false },
};

/** A database whose rates are unreadable while it is silent; everything else of it answers. `wait`: advances the clock. */
function openBlind(t: { mock: { method: typeof test.mock.method } }) {
  let [passed, isSilent, isLost] = [0, false, false];
  t.mock.method(performance, 'now', () => 1_000_000 + passed);
  const answer = async <One>(found: One): Promise<One> => {
    if (isSilent) throw Object.assign(new Error('Query read timeout'), { code: '57014' });
    return found;
  };
  const store = {
    ping: async () => undefined,
    municipios: { list: () => answer([MUNICIPIO]) },
    vigia: {
      countMesesAfter: () => answer(2),
      lookAtEsperas: () => answer(isLost ? [] : [ESPERA]),
      lookAtAuditoria: () => answer(isLost ? [] : [{ tenant: 'a' }]),
    },
    aliquotas: { readTabela: () => answer(tabelaEmbarcada()) },
    banco: { readBytes: () => answer(1) },
  };
  const log = { warn: () => undefined, error: () => undefined, info: () => undefined };
  const trust = () => ({ lists: () => undefined });
  const world = { store, log, trust, now: () => NOW + passed } as never;
  const look = openVigia(world);
  const saude = openSaude({
    ...{ now: () => NOW + passed, look, versao: 'x', inicio: NOW },
    collect: async () => gauges(PARTS),
  });
  return {
    look,
    judge: () => saude.judge(),
    wait: (ms: number) => {
      passed += ms;
    },
    silence: (is: boolean) => {
      isSilent = is;
    },
    lose: (is: boolean) => {
      isLost = is;
    },
  };
}

const statusOf = ({ verificacoes }: Saude, nome: string): string | undefined =>
  verificacoes.find((one) => one.nome === nome)?.status;
const problemsOf = ({ problemas }: Saude): readonly string[] =>
  problemas.map(({ nome, gravidade, rotulos }) => [nome, gravidade, ...Object.values(rotulos)].join(' '));
/** Rates that the law does not give yet are outside this test. */
const isOther = (one: string): boolean => !one.startsWith('NfseAliquotaEmFalta');

/** The exit code and the output of `nfse saude` for a judgement. */
async function monitor(saude: Saude): Promise<{ readonly code: number; readonly out: string }> {
  const server = http.createServer((_request, response) => response.end(JSON.stringify(saude))).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  let out = '';
  const world = {
    out: (text: string): void => {
      out += text;
    },
    vigia: () => ({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, certificado: undefined }),
  };
  const code = await SAUDE.run(world as never, {}, []);
  server.close();
  return { code: code as number, out };
}

test('a database that is silent for minutes: values go, moments stay, and nothing is called well that is not seen', async (t) => {
  const blind = openBlind(t);
  const seen = await blind.judge();
  assert.deepEqual(problemsOf(seen).filter(isOther), []);
  assert.equal(statusOf(seen, 'NfseNotasEsperando'), 'ok');
  assert.equal(statusOf(seen, 'NfseCertificadoVence'), 'inaplicavel');
  blind.silence(true);
  const told: (readonly [minutes: number, banco: number | undefined, waits: number | undefined, problems: string])[] =
    [];
  for (const minutes of [1, 3, 7]) {
    blind.wait(minutes * MINUTE_MS - told.reduce((sum, [before]) => Math.max(sum, before), 0) * MINUTE_MS);
    const samples = await blind.look();
    const sampleOf = (name: string): number | undefined => samples.find((one) => one.name === name)?.value;
    const problems = problemsOf(await blind.judge())
      .filter(isOther)
      .join('; ');
    const read = sampleOf('nfse_banco_lido_timestamp_seconds');
    told.push([minutes, read && read * 1_000 - NOW, sampleOf('nfse_espera_mais_antiga_seconds'), problems]);
  }
  const unread = 'NfseLeituraEmFalta desconhecido';
  assert.deepEqual(told, [
    [1, 0, 90, ''],
    [3, 0, undefined, `${unread} banco; ${unread} tamanho; ${unread} arquivos`],
    [7, 0, undefined, `NfseBancoNaoLido aviso; ${unread} banco; ${unread} tamanho; ${unread} arquivos`],
  ]);
  const silent = await blind.judge();
  for (const { nome, medida } of CHECKS) {
    const { quando = [] } = PRESENCE[medida] as { quando?: readonly (readonly [string, Record<string, string>])[] };
    const isRead = quando.some(([, { leitura }]) => leitura === 'banco' || leitura === 'arquivos');
    if (isRead && nome !== 'NfseBancoNaoLido') assert.equal(statusOf(silent, nome), 'desconhecido', nome);
  }
  blind.silence(false);
  blind.wait(MINUTE_MS);
  assert.deepEqual(problemsOf(await blind.judge()).filter(isOther), []);
});

test('nfse saude exits 3, as UNKNOWN, where nothing graver is known', async (t) => {
  const blind = openBlind(t);
  const known = await blind.judge();
  const well: Saude = { ...known, status: 'ok', problemas: [] };
  assert.deepEqual((await monitor(well)).code, 0);
  blind.silence(true);
  blind.wait(3 * MINUTE_MS);
  const problemas = (await blind.judge()).problemas.filter(({ nome }) => !nome.startsWith('NfseDisco'));
  const { code, out } = await monitor({
    ...(await blind.judge()),
    status: problemas[0]!.gravidade as never,
    problemas,
  });
  assert.equal(code, 3);
  assert.match(out, /^NFSE UNKNOWN - Há mais de dois minutos.+«banco».+ \(e mais 2\)/);
  assert.match(out, /\nUNKNOWN: .+«arquivos».+\n {2}Veja o registro/);
  assert.doesNotMatch(out, /nada a fazer/);
});

test('a measure that has to be there and is not is told by its name; a municipality that is not read, by their number', async (t) => {
  const blind = openBlind(t);
  await blind.look();
  blind.lose(true);
  blind.wait(MINUTE_MS);
  const lost = await blind.judge();
  assert.ok(problemsOf(lost).includes('NfseMunicipiosNaoLidos aviso'));
  assert.deepEqual(
    problemsOf(lost).filter((one) => one.startsWith('NfseMedidaAusente')),
    [
      'NfseMedidaAusente desconhecido nfse_adn_circuito_aberto',
      'NfseMedidaAusente desconhecido nfse_municipio_impedido',
      'NfseMedidaAusente desconhecido nfse_espera_mais_antiga_seconds',
      'NfseMedidaAusente desconhecido nfse_notas_retidas',
      'NfseMedidaAusente desconhecido nfse_pendencias',
      'NfseMedidaAusente desconhecido nfse_auditoria_espera_seconds',
      'NfseMedidaAusente desconhecido nfse_trabalho_espera_seconds',
      'NfseMedidaAusente desconhecido nfse_mudancas_sem_lugar',
    ],
  );
  assert.equal(statusOf(lost, 'NfseNotasEsperando'), 'desconhecido');
});
