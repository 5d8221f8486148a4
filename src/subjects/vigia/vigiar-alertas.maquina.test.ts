/**
 * The alerts of `deploy/alertas.yml` on a real Prometheus that watches a real service: each fires for its fault alone. Only waits and
 * thresholds of an operator are shortened in the rules. Conditions that take hours are tried by promtool.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createPublicKey } from 'node:crypto';
import { copyFileSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { onEnd } from '../../../test/support/cleanup.ts';
import { runBeside } from '../../../test/support/cli.ts';
import { pace } from '../../../test/support/pace.ts';
import { ifThere, ROOT, serverProcesses } from '../../../test/support/process.ts';
import { type Watching, watchWithPrometheus } from '../../../test/support/prometheus.ts';
import { IS_RECORDED, showFault } from '../../../test/support/quadro.ts';
import { toolOr } from '../../../test/support/tools.ts';
import { until } from '../../../test/support/until.ts';
import { openVigiado, SLUG, type Vigiado } from '../../../test/support/vigiado.ts';
import { ALERTS, type Alert, severityOf } from '../../base/measures/alerts.ts';
import { METRICS } from '../../base/measures/metrics.ts';
import { PRESENCE } from '../../base/measures/presence.ts';
import { companyCertificate, pemOf, revocationList } from '../../documents/pki.ts';
import { DAY_MS } from '../../fiscal/moment.ts';
import { PANELS } from '../../published/grafana.ts';

const prometheus = toolOr('prometheus', 'prometheus');
const promtool = toolOr('promtool', 'prometheus');
const skip = prometheus === undefined || promtool === undefined ? 'prometheus is not here' : false;

const FILE = path.join(ROOT, 'deploy/alertas.yml');

const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600 };
const secondsOf = (text: string): number => Number.parseInt(text, 10) * SECONDS[text.at(-1)!]!;

/** Limits of minutes become seconds, and no disk is ever free enough: the rehearsal alert stands beside the real one. */
const SHORTENED: readonly (readonly [RegExp, string])[] = [
  [/for: \w+/g, 'for: 1s'],
  // A scrape with a limit of one second can wait longer for a process that stands still: that is no outage.
  [/(alert: NfseForaDoAr\n.*\n\s+for: )1s/, '$15s'],
  [/\[\d+[mh]\]/g, '[20s]'],
  [/(nfse_espera_mais_antiga_seconds > )600/, '$15'],
  [/(time\(\) - nfse_banco_lido_timestamp_seconds > )300/, '$120'],
  [/(time\(\) - nfse_transmissor_volta_timestamp_seconds > )120/, '$15'],
  [/alert: NfseDiscoCheio\n(\s+expr: "[^"]*< )0\.1"/, 'alert: NfseDiscoCheioEnsaio\n$12"'],
];

/** A forecast over a day needs hours of data: promtool tries that rule. */
const rules = (): string => {
  const [shown, foretold] = readFileSync(FILE, 'utf8').split(/(?= {6}- alert: NfseDiscoEnche\n)/);
  const short = SHORTENED.slice(0, IS_RECORDED ? -1 : undefined).reduce((text, [from, to]) => {
    assert.match(text, from);
    return text.replace(from, to);
  }, shown!);
  return `${short}${foretold}`;
};

/** Alerts that a stalled machine causes in truth, however well the service works. */
const OF_THE_MACHINE = /^Nfse(?:ForaDoAr|ParteNaoResponde|ProcessadorEsgotado|EmissaoLenta)\//;

/** The alert for a disk that is never free enough always fires. */
const ALWAYS = IS_RECORDED ? [] : ['NfseDiscoCheioEnsaio/warning'];

describe('the alerts, on a service under fault', { skip }, () => {
  let vigiado: Vigiado;
  let watching: Watching;

  const fires = (name: string): Promise<true> =>
    until(async () => (await watching.firing()).includes(name) || undefined, `${name} fires`);
  const isQuiet = (name: string): Promise<true> =>
    until(async () => !(await watching.firing()).includes(name) || undefined, `${name} is quiet again`);
  /** All quiet alerts stay quiet. */
  const allQuiet = (): Promise<true> =>
    until(async () => {
      const firing = await watching.firing();
      return JSON.stringify(firing) === JSON.stringify(ALWAYS) || undefined;
    }, 'all alerts are quiet');

  before(async () => {
    vigiado = await openVigiado();
    watching = await watchWithPrometheus(prometheus!, [`127.0.0.1:${vigiado.vigia}`], rules());
    // Each picture begins and ends with a service at work.
    if (IS_RECORDED) onEnd(vigiado.keepIssuing());
  });

  test('a rate that is missing, until it is imported', async () => {
    await fires('NfseAliquotaEmFalta/warning');
    const file = path.join(vigiado.dataDir, 'aliquotas.csv');
    writeFileSync(file, 'tributo,inicio,aliquota,fonte,ato\nCBS,2027-01-01,8.80,ensaio,ensaio\n');
    await runBeside(['aliquotas', 'importar', file], vigiado.env);
    await isQuiet('NfseAliquotaEmFalta/warning');
  });

  test('none while all is well and notes are issued', async () => {
    const stop = vigiado.keepIssuing();
    try {
      await allQuiet();
      await showFault(watching, 'bem', async (worst) => {
        for (let looks = 0; looks < 20; looks += 1) {
          await pace(1_000);
          const firing = await watching.firing();
          // A late reading removes the series of the disk, and its alert.
          assert.deepEqual(
            firing.filter((one) => !OF_THE_MACHINE.test(one) && !ALWAYS.includes(one)),
            [],
          );
        }
        await allQuiet();
        await worst();
      });
    } finally {
      await stop();
    }
    const [issued] = await watching.query('sum(nfse_notas_total{estado="emitida",municipio="exemplo"})');
    assert.ok(issued!.value > 0 && issued!.value <= vigiado.issued(), `${issued!.value} of ${vigiado.issued()}`);
  });

  test('the ADN is away', async () => {
    await showFault(watching, 'adn-fora', async (worst) => {
      await vigiado.adn.kill();
      const stop = vigiado.keepIssuing();
      try {
        await fires('NfseAdnNaoResponde/warning');
        await fires('NfseNotasEsperando/warning');
        await fires('NfseAdnFalha/warning');
        await worst();
      } finally {
        await stop();
      }
      await vigiado.adn.begin();
      await allQuiet();
    });
  });

  test('the ADN refuses', async () => {
    const recusas = [{ codigo: 'E1289', descricao: 'vISSQN não confere', parte: 1 }];
    await showFault(watching, 'adn-recusa', async (worst) => {
      await vigiado.adn.ask('/recusas', { method: 'PUT', body: JSON.stringify(recusas) });
      const stop = vigiado.keepIssuing();
      try {
        await fires('NfseAdnRecusa/warning');
        await worst();
        await vigiado.adn.ask('/recusas', { method: 'PUT', body: '[]' });
        await isQuiet('NfseAdnRecusa/warning');
      } finally {
        await stop();
      }
      await fires('NfsePendencias/warning');
      // A refused note asks for its provider until it is issued again.
      const client = await vigiado.connect();
      await client.query('delete from notas_recusadas');
      await client.end();
      await isQuiet('NfsePendencias/warning');
    });
  });

  test('a rate of today is not in the table: notes are held, until it is imported', async () => {
    await showFault(watching, 'aliquota-falta', async (worst) => {
      const client = await vigiado.connect();
      const stop = vigiado.keepIssuing();
      try {
        // No command removes a rate: the next table is made without it.
        await client.query(`insert into tabelas_aliquotas (versao, em, novas, alteradas, retroativas)
          select max(versao) + 1, now(), 0, 0, 0 from tabelas_aliquotas`);
        const { rows } = await client.query<Readonly<Record<'inicio' | 'fim' | 'aliquota', string>>>(
          `update aliquotas_ibs_cbs set substituida = (select max(versao) from tabelas_aliquotas)
           where tributo = 'CBS' and c_class_trib = '' and current_date between inicio and coalesce(fim, current_date)
           returning inicio::text, fim::text, aliquota::text`,
        );
        await fires('NfseAliquotaEmFalta/warning');
        await fires('NfseNotasRetidas/warning');
        await worst();
        const [{ inicio, fim, aliquota }] = rows as [(typeof rows)[0]];
        const file = path.join(vigiado.dataDir, 'de-volta.csv');
        writeFileSync(
          file,
          `tributo,inicio,fim,aliquota,fonte,ato\nCBS,${inicio},${fim ?? ''},${aliquota},ensaio,ensaio\n`,
        );
        await runBeside(['aliquotas', 'importar', file], vigiado.env);
        await isQuiet('NfseNotasRetidas/warning');
      } finally {
        await stop();
        await client.end();
      }
      await allQuiet();
    });
  });

  test('a process stands still, and others die again and again', async () => {
    await showFault(watching, 'processo-parado', async (worst) => {
      const [, second] = vigiado.answering();
      process.kill(second!, 'SIGSTOP');
      try {
        await fires('NfseParteNaoResponde/critical');
        await worst();
      } finally {
        process.kill(second!, 'SIGCONT');
      }
      await isQuiet('NfseParteNaoResponde/critical');
    });
    await showFault(watching, 'processos-morrem', dieAgainAndAgain);
  });

  const dieAgainAndAgain = async (worst: () => Promise<void>): Promise<void> => {
    const [total] = await watching.query('sum(nfse_notas_total{estado="emitida"})');
    for (let deaths = 0; deaths < 3; deaths += 1) {
      const dead = vigiado.answering().at(-1)!;
      process.kill(dead, 'SIGKILL');
      await until(
        async () => (vigiado.answering().length === 2 && !vigiado.answering().includes(dead)) || undefined,
        'another process',
      );
    }
    await fires('NfseReinicios/warning');
    await worst();
    // The counts of dead processes are kept, or the next rate would include every note ever counted.
    const [after] = await watching.query('sum(nfse_notas_total{estado="emitida"})');
    assert.ok(after!.value >= total!.value, `${after!.value} after ${total!.value}`);
    await allQuiet();
  };

  test('the database keeps the worker and who watches waiting', async () => {
    await showFault(watching, 'banco-preso', async (worst) => {
      const client = await vigiado.connect();
      await client.query('begin; lock table fila in access exclusive mode');
      const stop = vigiado.keepIssuing();
      try {
        await fires('NfseEmissaoLenta/warning');
        await fires('NfseTransmissaoParada/critical');
        await fires('NfseBancoNaoLido/warning');
        await worst();
      } finally {
        await client.query('rollback');
        await client.end();
        await stop();
      }
      await allQuiet();
    });
  });

  test('the database is away: requests fail too, and who watches is answered all the same', async () => {
    await showFault(watching, 'banco-fora', async (worst) => {
      const server = serverProcesses(vigiado.dataDir);
      for (const pid of server) ifThere(() => process.kill(pid, 'SIGSTOP'));
      const stop = vigiado.keepIssuing();
      try {
        await fires('NfseBancoIndisponivel/critical');
        await fires('NfseErros/critical');
        await worst();
      } finally {
        for (const pid of server) ifThere(() => process.kill(pid, 'SIGCONT'));
        await stop();
      }
      await allQuiet();
    });
  });

  test('a certificate and a list that are close to their end, and files that are gone', async () => {
    const { emissora, dataDir, stage } = vigiado;
    const { municipio, ancoras, revogados: lists } = stage.pki;
    const soon = { inicio: Date.now() - DAY_MS, fim: Date.now() + 5 * DAY_MS };
    const responsavel = { nome: 'Pessoa de Teste', cpf: '11144477735', nascimento: '1980-01-31' };
    const company = { razaoSocial: 'Município de Teste', cnpj: '99999999000191', responsavel };
    const own = createPublicKey(readFileSync(municipio.chave));
    const files = { certificado: path.join(dataDir, 'breve.pem'), chave: path.join(dataDir, 'breve.key') };
    const ending = companyCertificate(emissora, company, own, soon);
    writeFileSync(files.certificado, pemOf('CERTIFICATE', ending, emissora.certificate));
    copyFileSync(municipio.chave, files.chave);
    const revogados = path.join(dataDir, 'revogados');
    cpSync(lists, revogados, { recursive: true });
    const day = { inicio: Date.now() - DAY_MS, fim: Date.now() + DAY_MS };
    writeFileSync(path.join(revogados, 'ac-de-teste.crl'), pemOf('X509 CRL', revocationList(emissora, [], day)));
    const alter = (keysAt: typeof files, revogadosAt: string): Promise<string> =>
      runBeside(
        [
          ...['municipio', 'alterar', SLUG, '--adn-certificado', keysAt.certificado, '--adn-chave', keysAt.chave],
          ...['--ancoras', ancoras, '--revogados', revogadosAt],
        ],
        vigiado.env,
      );
    const restore = () => alter({ certificado: municipio.certificado, chave: municipio.chave }, lists);
    await showFault(watching, 'vencimentos', async (worst) => {
      await alter(files, revogados);
      await fires('NfseCertificadoVence/critical');
      await fires('NfseCertificadoVence/warning');
      await fires('NfseListaRevogadosVence/warning');
      await worst();
      await restore();
      await allQuiet();
    });
    await showFault(watching, 'arquivo-falta', async (worst) => {
      await alter(files, lists);
      rmSync(files.chave);
      await fires('NfseArquivosEmFalta/critical');
      // A note issued now cannot be signed.
      assert.equal(await vigiado.issue(), 201);
      await fires('NfseMunicipioImpedido/critical');
      await worst();
      await restore();
      await allQuiet();
    });
  });

  test('every query of the board is one, and every metric that there is was told', async () => {
    for (const { queries } of PANELS) for (const [expr] of queries) await watching.query(expr);
    const names = await watching.query('count by (__name__) ({__name__=~"nfse_.+"})');
    const told = new Set(names.map(({ metric }) => metric['__name__']!.replace(/_(?:bucket|sum|count)$/, '')));
    const missing = Object.keys(METRICS).filter((name) => !told.has(name) && !NEVER_HERE.has(name));
    assert.deepEqual(missing, []);
  });

  test('the service itself is away', async () => {
    await showFault(watching, 'servico-fora', async (worst) => {
      await vigiado.end();
      await fires('NfseForaDoAr/critical');
      await worst();
      await vigiado.begin();
      await isQuiet('NfseForaDoAr/critical');
    });
  });
});

/** Metrics that no service of this test has: it registers no event, and nobody verifies its audit chain. */
const NEVER_HERE: ReadonlySet<string> = new Set([
  'nfse_eventos_total',
  ...Object.keys(METRICS).filter((name) => name.startsWith('nfse_copia_')),
  ...Object.keys(METRICS).filter((name) => name.startsWith('nfse_auditoria_')),
]);

describe('the rules, by promtool', { skip }, () => {
  test('are rules', () => {
    const { status, stdout, stderr } = spawnSync(promtool!, ['check', 'rules', FILE], { encoding: 'utf8' });
    assert.equal(status, 0, stdout + stderr);
    assert.match(stdout, new RegExp(`${ALERTS.length} rules found`));
  });

  test('each fires when what it names has lasted as long as it says, not before, and not where all is well', () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'nfse-promtool-'));
    onEnd(() => rmSync(folder, { recursive: true, force: true }));
    const file = path.join(folder, 'ensaio.yml');
    // Conditions that last for days are evaluated less often, because each evaluation costs the same.
    for (const [evaluation_interval, alerts] of [
      ['1m', ALERTS.filter((one) => !isOfAbsence(one) && delayOf(one) <= DAY_S)],
      ['10m', ALERTS.filter((one) => !isOfAbsence(one) && delayOf(one) > DAY_S)],
    ] as const) {
      writeFileSync(file, JSON.stringify({ rule_files: [FILE], evaluation_interval, tests: alerts.flatMap(testsOf) }));
      const { status, stdout, stderr } = spawnSync(promtool!, ['test', 'rules', file], { encoding: 'utf8' });
      assert.equal(status, 0, stdout + stderr);
    }
  });

  test('each series that is taken away has its alert, and what may be missing has its reason', () => {
    const gauges = new Set(ALERTS.filter((one) => !isOfAbsence(one)).flatMap(({ expr }) => metricsIn(expr)));
    assert.deepEqual(
      [...gauges].filter((name) => !(name in PRESENCE)),
      [],
    );
    const must = Object.entries(PRESENCE).flatMap(([name, one]) => ('quando' in one ? [name] : []));
    assert.deepEqual(
      must.filter((name) => !(name in THERE)),
      [],
    );
    // Two processes are watched: a measure that one of them lacks is noticed although the other has it.
    const seriesOf = (without: string | undefined): object[] =>
      ['a:8083', 'b:8083'].flatMap((instance) =>
        Object.entries({ up: '', ...THERE })
          .filter(([name]) => name !== without || instance === 'a:8083')
          .flatMap(([name, each]) => [each].flat().map((labels) => ({ name, labels })))
          .map(({ name, labels }) => {
            const all = [`job="nfse"`, `instance="${instance}"`, ...(labels === '' ? [] : [labels])];
            return {
              series: `${name}{${all.join(',')}}`,
              values: name.endsWith('_timestamp_seconds') ? '0+60x60' : '1x60',
            };
          }),
      );
    const absent = (expected: readonly string[]): object => ({
      eval_time: '30m',
      expr: 'count by (medida, instance) (ALERTS{alertname="NfseMedidaAusente",alertstate="firing"})',
      exp_samples: expected.map((medida) => ({ labels: `{medida="${medida}",instance="b:8083"}`, value: 1 })),
    });
    const folder = mkdtempSync(path.join(tmpdir(), 'nfse-promtool-'));
    onEnd(() => rmSync(folder, { recursive: true, force: true }));
    const file = path.join(folder, 'ausencias.yml');
    const tests = [undefined, ...must].map((without) => ({
      interval: '1m',
      input_series: seriesOf(without),
      promql_expr_test: [absent(without === undefined ? [] : [without])],
    }));
    writeFileSync(file, JSON.stringify({ rule_files: [FILE], evaluation_interval: '1m', tests }));
    const { status, stdout, stderr } = spawnSync(promtool!, ['test', 'rules', file], { encoding: 'utf8' });
    assert.equal(status, 0, stdout + stderr);
  });
});

/** Rules that judge an absence are tried alone. */
const isOfAbsence = ({ nome }: Alert): boolean => nome === 'NfseMedidaAusente';
const metricsIn = (expr: string): readonly string[] =>
  (expr.match(/nfse_\w+/g) ?? []).map((name) => name.replace(/_(?:bucket|sum|count)$/, ''));

/** A complete service of a municipality in production: the labels of each measure that has to be there. */
const THERE: Readonly<Record<string, string | readonly string[]>> = {
  nfse_banco_disponivel: '',
  nfse_leitura_em_dia: ['leitura="banco"', 'leitura="arquivos"', 'leitura="disco"'],
  nfse_parte_responde: 'parte="transmissao",processo="1"',
  nfse_laco_atraso_seconds: 'parte="transmissao",processo="1"',
  nfse_banco_conexoes_esperando: 'parte="transmissao",processo="1"',
  nfse_reinicios_total: 'parte="painel"',
  nfse_transmissor_volta_timestamp_seconds: 'processo="1"',
  nfse_banco_lido_timestamp_seconds: '',
  nfse_municipios: 'ambiente="producao"',
  nfse_municipios_nao_lidos: '',
  nfse_aliquotas_em_falta: 'tributo="CBS"',
  nfse_espera_mais_antiga_seconds: 'municipio="a",documento="nota"',
  nfse_adn_circuito_aberto: 'municipio="a"',
  nfse_municipio_impedido: 'municipio="a"',
  nfse_notas_retidas: 'municipio="a"',
  nfse_pendencias: 'municipio="a",tipo="rejeicao"',
  nfse_arquivos_em_falta: 'municipio="a"',
  nfse_disco_livre_bytes: '',
  nfse_disco_total_bytes: '',
  nfse_auditoria_espera_seconds: 'municipio="a"',
  nfse_meses_adiante: '',
  nfse_municipio_fechado: 'municipio="a"',
  nfse_mudancas_sem_lugar: 'municipio="a"',
  nfse_entregas: 'municipio="a",estado="pendente"',
  nfse_trabalho_espera_seconds: 'municipio="a",trabalho="avisos"',
  nfse_trabalho_atraso_seconds: 'trabalho="meses"',
};

/** Healthy and faulty series, by the alert and its severity, as an operator would describe them; a value a minute. */
type Series = Readonly<Record<string, string>>;
const steady = (value: number, minutes = 900): string => `${value}x${minutes}`;
const DAY_S = 86_400;
const CASES: Readonly<Record<string, readonly [well: Series, wrong: Series]>> = {
  'NfseBancoIndisponivel/critico': [{ nfse_banco_disponivel: steady(1) }, { nfse_banco_disponivel: steady(0) }],
  'NfseBancoNaoLido/aviso': [
    { nfse_banco_lido_timestamp_seconds: '0+60x900' },
    { nfse_banco_lido_timestamp_seconds: steady(0) },
  ],
  'NfseLeituraEmFalta/desconhecido': [
    { 'nfse_leitura_em_dia{leitura="banco"}': steady(1) },
    { 'nfse_leitura_em_dia{leitura="banco"}': steady(0) },
  ],
  'NfseMunicipiosNaoLidos/aviso': [{ nfse_municipios_nao_lidos: steady(0) }, { nfse_municipios_nao_lidos: steady(1) }],
  'NfseParteNaoResponde/critico': [
    { 'nfse_parte_responde{parte="painel",processo="1"}': steady(1) },
    { 'nfse_parte_responde{parte="painel",processo="1"}': steady(0) },
  ],
  'NfseTransmissaoParada/critico': [
    { 'nfse_transmissor_volta_timestamp_seconds{processo="1"}': '0+60x900' },
    { 'nfse_transmissor_volta_timestamp_seconds{processo="1"}': steady(0) },
  ],
  'NfseAdnNaoResponde/aviso': [
    { 'nfse_adn_circuito_aberto{municipio="a"}': steady(0) },
    { 'nfse_adn_circuito_aberto{municipio="a"}': steady(1) },
  ],
  'NfseMunicipioImpedido/critico': [
    { 'nfse_municipio_impedido{municipio="a"}': steady(0) },
    { 'nfse_municipio_impedido{municipio="a"}': steady(1) },
  ],
  'NfseNotasEsperando/critico': [
    { 'nfse_espera_mais_antiga_seconds{municipio="a",documento="nota"}': steady(3_600) },
    { 'nfse_espera_mais_antiga_seconds{municipio="a",documento="nota"}': steady(3_601) },
  ],
  'NfseNotasEsperando/aviso': [
    { 'nfse_espera_mais_antiga_seconds{municipio="a",documento="nota"}': steady(600) },
    { 'nfse_espera_mais_antiga_seconds{municipio="a",documento="nota"}': steady(601) },
  ],
  'NfseDiscoCheio/critico': [
    { nfse_disco_livre_bytes: steady(5), nfse_disco_total_bytes: steady(100) },
    { nfse_disco_livre_bytes: steady(4), nfse_disco_total_bytes: steady(100) },
  ],
  'NfseDiscoCheio/aviso': [
    { nfse_disco_livre_bytes: steady(10), nfse_disco_total_bytes: steady(100) },
    { nfse_disco_livre_bytes: steady(9), nfse_disco_total_bytes: steady(100) },
  ],
  'NfseCertificadoVence/critico': [
    { 'nfse_certificado_vence_timestamp_seconds{municipio="a",uso="adn"}': steady(8.5 * DAY_S) },
    { 'nfse_certificado_vence_timestamp_seconds{municipio="a",uso="adn"}': steady(7 * DAY_S) },
  ],
  'NfseCertificadoVence/aviso': [
    { 'nfse_certificado_vence_timestamp_seconds{municipio="a",uso="adn"}': steady(31.5 * DAY_S) },
    { 'nfse_certificado_vence_timestamp_seconds{municipio="a",uso="adn"}': steady(30 * DAY_S) },
  ],
  'NfseListaRevogadosVence/aviso': [
    { 'nfse_lista_revogados_vence_timestamp_seconds{municipio="a"}': steady(4.5 * DAY_S) },
    { 'nfse_lista_revogados_vence_timestamp_seconds{municipio="a"}': steady(3 * DAY_S) },
  ],
  'NfseArquivosEmFalta/critico': [
    { 'nfse_arquivos_em_falta{municipio="a"}': steady(0) },
    { 'nfse_arquivos_em_falta{municipio="a"}': steady(1) },
  ],
  'NfseAliquotaEmFalta/aviso': [
    { 'nfse_aliquotas_em_falta{tributo="CBS"}': steady(0) },
    { 'nfse_aliquotas_em_falta{tributo="CBS"}': steady(1) },
  ],
  'NfseNotasRetidas/aviso': [
    { 'nfse_notas_retidas{municipio="a"}': steady(0) },
    { 'nfse_notas_retidas{municipio="a"}': steady(3) },
  ],
  'NfsePendencias/aviso': [
    { 'nfse_pendencias{municipio="a",tipo="nota_recusada"}': steady(0, 3_000) },
    { 'nfse_pendencias{municipio="a",tipo="nota_recusada"}': steady(1, 3_000) },
  ],
  'NfseAuditoriaQuebrada/critico': [
    { 'nfse_auditoria_achados{municipio="a"}': steady(0) },
    { 'nfse_auditoria_achados{municipio="a"}': steady(1) },
  ],
  'NfseAuditoriaParada/aviso': [
    { 'nfse_auditoria_espera_seconds{municipio="a"}': steady(3_600) },
    { 'nfse_auditoria_espera_seconds{municipio="a"}': steady(3_601) },
  ],
  'NfseAuditoriaSemSelo/aviso': [
    { 'nfse_auditoria_selo_timestamp_seconds{municipio="a"}': '0+60x9000' },
    { 'nfse_auditoria_selo_timestamp_seconds{municipio="a"}': steady(0, 9_000) },
  ],
  'NfseTrabalhoAtrasado/aviso': [
    { 'nfse_trabalho_atraso_seconds{trabalho="meses"}': steady(3_600) },
    { 'nfse_trabalho_atraso_seconds{trabalho="meses"}': steady(3_601) },
  ],
  'NfseTrabalhoEsperando/aviso': [
    { 'nfse_trabalho_espera_seconds{municipio="a",trabalho="avisos"}': steady(3_600) },
    { 'nfse_trabalho_espera_seconds{municipio="a",trabalho="avisos"}': steady(3_601) },
  ],
  'NfseMudancasSemLugar/aviso': [
    { 'nfse_mudancas_sem_lugar{municipio="a"}': steady(1_000) },
    { 'nfse_mudancas_sem_lugar{municipio="a"}': steady(1_001) },
  ],
  'NfseMesesPorCriar/aviso': [{ nfse_meses_adiante: steady(1) }, { nfse_meses_adiante: steady(0) }],
  'NfseMunicipioFechado/aviso': [
    { 'nfse_municipio_fechado{municipio="a"}': steady(0) },
    { 'nfse_municipio_fechado{municipio="a"}': steady(1) },
  ],
  'NfseCopiaVelha/aviso': [
    { nfse_copia_base_timestamp_seconds: '0+60x14000' },
    { nfse_copia_base_timestamp_seconds: steady(0, 14_000) },
  ],
  'NfseCopiaSemConferir/aviso': [
    { nfse_copia_conferida_timestamp_seconds: '0+60x30000' },
    { nfse_copia_conferida_timestamp_seconds: steady(0, 30_000) },
  ],
  'NfseCopiaParada/critico': [{ nfse_copia_espera_seconds: steady(900) }, { nfse_copia_espera_seconds: steady(901) }],
  'NfseCopiaComBuraco/critico': [{ nfse_copia_faltas: steady(0) }, { nfse_copia_faltas: steady(1) }],
  'NfseAvisosDesistidos/aviso': [
    { 'nfse_entregas{municipio="a",estado="morta"}': '0+1x900' },
    { 'nfse_entregas{municipio="a",estado="morta"}': '0+3x900' },
  ],
  'NfseConexoesEsgotadas/aviso': [
    { 'nfse_banco_conexoes_esperando{processo="1",parte="requisicoes"}': steady(50) },
    { 'nfse_banco_conexoes_esperando{processo="1",parte="requisicoes"}': steady(51) },
  ],
  'NfseProcessadorEsgotado/aviso': [
    { 'nfse_laco_atraso_seconds{processo="1",parte="requisicoes"}': steady(1) },
    { 'nfse_laco_atraso_seconds{processo="1",parte="requisicoes"}': steady(2) },
  ],
  'NfseForaDoAr/critico': [{ 'up{job="nfse"}': steady(1) }, { 'up{job="nfse"}': steady(0) }],
  'NfseErros/critico': [
    {
      'nfse_requisicoes_total{status="201"}': '0+1000x900',
      'nfse_requisicoes_total{status="503"}': '0+10x900',
      'nfse_requisicoes_total{status="404"}': '0+500x900',
    },
    { 'nfse_requisicoes_total{status="201"}': '0+1000x900', 'nfse_requisicoes_total{status="503"}': '0+20x900' },
  ],
  'NfseEmissaoLenta/aviso': [latencies(2), latencies(10)],
  'NfseAdnFalha/aviso': [calls(50, 50), calls(40, 60)],
  'NfseAdnRecusa/aviso': [answers(80, 20), answers(70, 30)],
  'NfseReinicios/aviso': [
    { 'nfse_reinicios_total{parte="processo"}': `${steady(0)} 1x900` },
    { 'nfse_reinicios_total{parte="processo"}': '0+1x900' },
  ],
  'NfseDiscoEnche/aviso': [
    { nfse_disco_livre_bytes: '10000000-100x900' },
    { nfse_disco_livre_bytes: '1000000-1000x900' },
  ],
};

/** One in fifty issuances takes longer than two seconds if `slow` is above 2. */
function latencies(slow: number): Series {
  const of = 'metodo="POST",rota="/:municipio/api/v1/nfse/v101"';
  const beyond = slow > 2 ? 20 : 0;
  return {
    [`nfse_requisicao_duracao_seconds_bucket{${of},le="1"}`]: `0+${1_000 - beyond}x900`,
    [`nfse_requisicao_duracao_seconds_bucket{${of},le="2.5"}`]: `0+${1_000 - beyond}x900`,
    [`nfse_requisicao_duracao_seconds_bucket{${of},le="10"}`]: '0+1000x900',
    [`nfse_requisicao_duracao_seconds_bucket{${of},le="+Inf"}`]: '0+1000x900',
  };
}

function calls(well: number, lost: number): Series {
  return {
    'nfse_adn_chamada_duracao_seconds_count{operacao="envio",classe="2xx"}': `0+${well}x900`,
    'nfse_adn_chamada_duracao_seconds_count{operacao="envio",classe="sem_resposta"}': `0+${lost}x900`,
  };
}

function answers(taken: number, refused: number): Series {
  return {
    'nfse_adn_respostas_total{municipio="a",documento="nota",resposta="aceita"}': `0+${taken}x900`,
    'nfse_adn_respostas_total{municipio="a",documento="nota",resposta="recusada"}': `0+${refused}x900`,
  };
}

/** Seconds until the moment in the faulty series is as old as the rule demands. */
function delayOf({ expr }: Pick<Alert, 'expr'>): number {
  return Math.max(0, ...[...expr.matchAll(/time\(\) - \w+ > (\d+)/g)].map(([, limit]) => Number(limit) + 600));
}

/** The faulty series of a growing wait begin at the first minute, and those of a window do so too. */
function testsOf({ nome, gravidade, durante, expr }: Alert): readonly object[] {
  const [well, wrong] = CASES[`${nome}/${gravidade}`] ?? assert.fail(`${nome}/${gravidade} has no case`);
  const window = Math.max(0, ...[...expr.matchAll(/\[(\d+[smh])\]/g)].map(([, text]) => secondsOf(text!)));
  const late = delayOf({ expr });
  const lasts = secondsOf(durante);
  const count = (at: number, isFiring: boolean): object => ({
    eval_time: `${at}s`,
    expr: `count(ALERTS{alertname="${nome}",alertstate="firing",severity="${severityOf(gravidade)}"}) or vector(0)`,
    exp_samples: [{ labels: '{}', value: isFiring ? 1 : 0 }],
  });
  const seriesOf = (series: Series): object[] =>
    Object.entries(series).map(([name, values]) => ({ series: name, values }));
  const end = window + late + lasts + 5 * 60;
  return [
    { interval: '1m', input_series: seriesOf(well), promql_expr_test: [count(end, false), count(2 * end, false)] },
    {
      interval: '1m',
      input_series: seriesOf(wrong),
      promql_expr_test: [...(lasts > 60 ? [count(lasts - 60, false)] : []), count(end, true)],
    },
  ];
}
