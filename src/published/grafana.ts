/**
 * The Grafana dashboard: its panels, a row each, and the JSON that Grafana imports. The tests try every query on a real
 * Prometheus.
 */

import { CHECKS } from '../base/measures/checks.ts';

type Kind = 'timeseries' | 'stat' | 'state-timeline';
type Panel = {
  readonly title: string;
  /** The unit of the values, as Grafana names it. */
  readonly unit: string;
  readonly kind: Kind;
  /** PromQL, and the legend of its lines. */
  readonly queries: readonly (readonly [expr: string, legend: string])[];
  /** The colour from each value on, for a stat or a row of a timeline. */
  readonly steps?: readonly Step[];
  /** Red lines: their values are a fault in any amount. */
  readonly red?: RegExp;
  /** Names of values that are no quantities. */
  readonly words?: Readonly<Record<string, string>>;
};
type Step = { readonly color: 'green' | 'orange' | 'red'; readonly value: number | null };

const stat = (title: string, unit: string, expr: string, steps: readonly Step[], words?: Panel['words']): Panel => ({
  ...{ title, unit, steps, kind: 'stat', queries: [[expr, '']] },
  ...(words && { words }),
});
const lines = (title: string, unit: string, ...queries: Panel['queries'][number][]): Panel => ({
  title,
  unit,
  kind: 'timeseries',
  queries,
});
const quantile = (q: number, metric: string, by: string, where = ''): string =>
  `histogram_quantile(${q}, sum by (${by}) (rate(${metric}_bucket${where}[5m])))`;

/**
 * The limits of a check as colours; `unit`: how many units of the check make one of the panel. A count is a fault from
 * one on.
 */
function stepsOf(name: string, unit = 1): readonly Step[] {
  const { lado, aviso, critico } = CHECKS.find(({ nome }) => nome === name)!;
  const at = (limit: number | undefined, color: Step['color']): readonly Step[] =>
    limit === undefined ? [] : [{ color, value: limit === 0 ? 1 : limit / unit }];
  return lado === 'acima'
    ? [{ color: 'green', value: null }, ...at(aviso, 'orange'), ...at(critico, 'red')]
    : [
        { color: critico === undefined ? 'orange' : 'red', value: null },
        ...(aviso === undefined ? [] : at(critico, 'orange')),
        ...at(aviso ?? critico, 'green'),
      ];
}

const EMISSAO = '{metodo="POST",rota=~".*/nfse(/v101)?"}';
const DAY = 86_400;
const YES_NO = { 0: 'não', 1: 'sim' };
const WELL_AT_ONE: readonly Step[] = [
  { color: 'red', value: null },
  { color: 'green', value: 1 },
];
const firing = (severity: string): string =>
  `max by (alertname) (ALERTS{alertname=~"Nfse.+",alertstate="firing",severity="${severity}"})`;
/** Several services on one database report the same value: it is shown once for each municipality. */
const once = (metric: string, by = 'municipio'): string => `max by (${by}) (${metric})`;

/** The order is that of reading: health, input, output, obstacles. */
export const PANELS: readonly Panel[] = [
  stat('No ar', 'percentunit', 'avg(up{job="nfse"}) or vector(0)', WELL_AT_ONE),
  stat('Alertas', 'short', 'count(ALERTS{alertname=~"Nfse.+",alertstate="firing"}) or vector(0)', [
    { color: 'green', value: null },
    { color: 'red', value: 1 },
  ]),
  stat('Banco disponível', 'short', 'min(nfse_banco_disponivel)', stepsOf('NfseBancoIndisponivel'), YES_NO),
  stat('Partes no ar', 'percentunit', 'avg(nfse_parte_responde)', stepsOf('NfseParteNaoResponde')),
  stat('Municípios sem ADN', 'short', `sum(${once('nfse_adn_circuito_aberto')})`, stepsOf('NfseAdnNaoResponde')),
  stat('Espera mais antiga', 's', 'max(nfse_espera_mais_antiga_seconds)', stepsOf('NfseNotasEsperando')),
  stat(
    'Certificado vence',
    'd',
    `(min(nfse_certificado_vence_timestamp_seconds) - time()) / ${DAY}`,
    stepsOf('NfseCertificadoVence', DAY),
  ),
  stat('Disco livre', 'percentunit', 'min(nfse_disco_livre_bytes / nfse_disco_total_bytes)', stepsOf('NfseDiscoCheio')),
  {
    title: 'Alertas que disparam',
    unit: 'short',
    kind: 'state-timeline',
    queries: [
      [`2 * ${firing('critical')}`, '{{alertname}} (crítico)'],
      [firing('warning'), '{{alertname}}'],
    ],
    steps: [
      { color: 'orange', value: null },
      { color: 'red', value: 2 },
    ],
    words: { 1: 'aviso', 2: 'crítico' },
  },
  {
    ...lines('Requisições por status', 'reqps', ['sum by (status) (rate(nfse_requisicoes_total[5m]))', '{{status}}']),
    red: /^5/,
  },
  lines(
    'Duração de uma emissão',
    's',
    [quantile(0.5, 'nfse_requisicao_duracao_seconds', 'le', EMISSAO), 'mediana'],
    [quantile(0.95, 'nfse_requisicao_duracao_seconds', 'le', EMISSAO), '95 %'],
    [quantile(0.99, 'nfse_requisicao_duracao_seconds', 'le', EMISSAO), '99 %'],
  ),
  {
    ...lines('Notas por estado em que entram', 'cps', ['sum by (estado) (rate(nfse_notas_total[5m]))', '{{estado}}']),
    red: /^recusada$/,
  },
  lines(
    'Em espera',
    'short',
    [`sum by (documento) (${once('nfse_em_espera', 'municipio, documento')})`, '{{documento}}'],
    [`sum by (documento) (${once('nfse_em_transmissao', 'municipio, documento')})`, '{{documento}} em transmissão'],
    [`sum(${once('nfse_notas_retidas')})`, 'notas retidas'],
  ),
  lines('O que espera pela prefeitura', 'short', [
    `sum by (tipo) (${once('nfse_pendencias', 'municipio, tipo')})`,
    '{{tipo}}',
  ]),
  lines('Há quanto tempo espera o mais antigo', 's', [
    `topk(10, ${once('nfse_espera_mais_antiga_seconds')})`,
    '{{municipio}}',
  ]),
  {
    ...lines('Respostas do ADN', 'cps', ['sum by (resposta) (rate(nfse_adn_respostas_total[5m]))', '{{resposta}}']),
    red: /^recusada$/,
  },
  lines('Chamadas ao ADN por classe', 'cps', [
    'sum by (operacao, classe) (rate(nfse_adn_chamada_duracao_seconds_count[5m]))',
    '{{operacao}} {{classe}}',
  ]),
  lines(
    'ADN que não responde, municípios impedidos',
    'short',
    [`sum(${once('nfse_adn_circuito_aberto')})`, 'ADN não responde'],
    [`sum(${once('nfse_municipio_impedido')})`, 'impedidos'],
  ),
  lines('Duração das chamadas ao ADN (95 %)', 's', [
    quantile(0.95, 'nfse_adn_chamada_duracao_seconds', 'le, operacao'),
    '{{operacao}}',
  ]),
  lines(
    'O que falta',
    'short',
    [once('nfse_aliquotas_em_falta', 'tributo'), 'alíquota {{tributo}}'],
    [`sum(${once('nfse_arquivos_em_falta')})`, 'municípios sem arquivos'],
  ),
  // A scale of years would hide days.
  lines(
    'Vence em menos de 90 dias',
    'd',
    [
      `bottomk(10, (min by (municipio, uso) (nfse_certificado_vence_timestamp_seconds) - time()) / ${DAY} < 90)`,
      'certificado {{uso}} de {{municipio}}',
    ],
    [
      `bottomk(10, (min by (municipio) (nfse_lista_revogados_vence_timestamp_seconds) - time()) / ${DAY} < 90)`,
      'lista de {{municipio}}',
    ],
  ),
  lines(
    'Partes sem resposta, e reiniciadas na última hora',
    'short',
    ['sum by (parte) (increase(nfse_reinicios_total[1h]))', 'reinícios: {{parte}}'],
    ['1 - nfse_parte_responde > 0', 'sem resposta: {{instance}} {{processo}} {{parte}}'],
  ),
  lines('Transmissão: desde a última volta', 's', [
    'time() - nfse_transmissor_volta_timestamp_seconds',
    '{{instance}} processo {{processo}}',
  ]),
  lines('Faixas da transmissão ocupadas', 'percentunit', [
    'sum by (fila) (nfse_faixas_ocupadas) / sum by (fila) (nfse_faixas_lugares)',
    '{{fila}}',
  ]),
  lines('Requisições por rota', 'reqps', [
    'topk(10, sum by (metodo, rota) (rate(nfse_requisicoes_total[5m])))',
    '{{metodo}} {{rota}}',
  ]),
  lines('Emissões por município', 'cps', [
    'topk(10, sum by (municipio) (rate(nfse_notas_total{estado="emitida"}[5m])))',
    '{{municipio}}',
  ]),
  lines('Eventos por estado em que entram', 'cps', ['sum by (estado) (rate(nfse_eventos_total[5m]))', '{{estado}}']),
  lines('Documentos por gravação (média)', 'short', [
    'sum by (documento) (rate(nfse_gravacao_grupo_documentos_sum[5m])) / sum by (documento) (rate(nfse_gravacao_grupo_documentos_count[5m]))',
    '{{documento}}',
  ]),
  lines('Duração de uma gravação (95 %)', 's', [
    quantile(0.95, 'nfse_gravacao_duracao_seconds', 'le, documento'),
    '{{documento}}',
  ]),
  lines(
    'Conexões com o banco',
    'short',
    ['sum by (parte, estado) (nfse_banco_conexoes)', '{{parte}} {{estado}}'],
    ['sum by (parte) (nfse_banco_conexoes_esperando)', '{{parte}} à espera de uma'],
  ),
  lines('Banco: desde a última leitura da vigia', 's', [
    'time() - max(nfse_banco_lido_timestamp_seconds)',
    'segundos desde a leitura',
  ]),
  lines('Atraso do laço de eventos (99 %)', 's', ['nfse_laco_atraso_seconds', '{{instance}} {{processo}} {{parte}}']),
  lines('Processador', 'none', ['rate(nfse_processador_seconds[5m])', '{{instance}} processo {{processo}}']),
  lines('Avisos a webhooks', 'short', [
    `sum by (estado) (${once('nfse_entregas', 'municipio, estado')})`,
    '{{estado}}',
  ]),
  lines(
    'Cópias: horas desde a última, e desde o último segmento',
    'h',
    ['(time() - max(nfse_copia_base_timestamp_seconds)) / 3600', 'última cópia'],
    ['(time() - max(nfse_copia_continua_timestamp_seconds)) / 3600', 'último segmento'],
  ),
  lines('Cópias: WAL que espera', 'bytes', ['max(nfse_copia_espera_bytes)', 'por levar']),
  lines('Memória', 'bytes', ['nfse_memoria_residente_bytes', '{{instance}} processo {{processo}}']),
  lines(
    'Banco e disco',
    'bytes',
    ['max(nfse_banco_tamanho_bytes)', 'banco'],
    ['min(nfse_disco_livre_bytes)', 'livre no disco'],
  ),
  lines(
    'Corrente de auditoria',
    'short',
    [`sum(${once('nfse_auditoria_achados')})`, 'entradas alteradas'],
    ['max(nfse_auditoria_espera_seconds)', 'espera por um lugar (s)'],
    ['max(time() - nfse_auditoria_selo_timestamp_seconds) / 3600', 'horas desde o selo'],
  ),
  lines('Municípios', 'short', [once('nfse_municipios', 'ambiente'), '{{ambiente}}']),
];

const COLUMNS = 24;
const STAT = { w: 3, h: 4 };
/** Nine panels fit on a screen beneath the stats. */
const LINES = { w: 8, h: 7 };

export function grafanaBoard(): string {
  const source = { type: 'prometheus', uid: '$fonte' };
  let [x, y, height] = [0, 0, 0];
  const panels = PANELS.map((panel, place) => {
    const { w, h } = panel.kind === 'stat' ? STAT : LINES;
    if (x + w > COLUMNS) [x, y] = [0, y + height];
    const gridPos = { x, y, w, h };
    [x, height] = [x + w, h];
    return {
      ...{ id: place + 1, title: panel.title, type: panel.kind, datasource: source, gridPos },
      fieldConfig: { defaults: fieldOf(panel), overrides: redOf(panel) },
      options: OPTIONS[panel.kind],
      targets: panel.queries.map(([expr, legendFormat], one) => ({
        refId: String.fromCharCode(65 + one),
        datasource: source,
        expr,
        legendFormat,
        // A range query would show the last value for hours after the service has gone.
        ...(panel.kind === 'stat' && { instant: true, range: false }),
      })),
    };
  });
  const board = {
    uid: 'nfse',
    title: 'NFS-e',
    tags: ['nfse'],
    timezone: 'browser',
    schemaVersion: 39,
    refresh: '30s',
    time: { from: 'now-6h', to: 'now' },
    templating: { list: [{ name: 'fonte', label: 'Prometheus', type: 'datasource', query: 'prometheus' }] },
    panels,
  };
  return `${JSON.stringify(board, null, 1)}\n`;
}

const OPTIONS: Readonly<Record<Kind, object>> = {
  stat: { reduceOptions: { calcs: ['lastNotNull'] }, colorMode: 'background', graphMode: 'none' },
  timeseries: { legend: { displayMode: 'list' }, tooltip: { mode: 'multi' } },
  'state-timeline': { showValue: 'never', legend: { displayMode: 'hidden', showLegend: false } },
};

function fieldOf({ unit, kind, steps, words }: Panel): object {
  return {
    unit,
    noValue: kind === 'stat' ? 'sem dados' : '',
    // An ended validity is below zero.
    ...(kind === 'timeseries' && unit !== 'd' && { min: 0 }),
    ...(steps && { color: { mode: 'thresholds' }, thresholds: { mode: 'absolute', steps } }),
    ...(words && { mappings: [{ type: 'value', options: mapEach(words) }] }),
  };
}

function redOf({ red }: Panel): readonly object[] {
  if (red === undefined) return [];
  const properties = [{ id: 'color', value: { mode: 'fixed', fixedColor: 'red' } }];
  return [{ matcher: { id: 'byRegexp', options: String(red) }, properties }];
}

function mapEach(words: NonNullable<Panel['words']>): object {
  return Object.fromEntries(Object.entries(words).map(([value, text]) => [value, { text }]));
}
