/** The board of Grafana: its panels, a row each, and the JSON that Grafana imports. Every query is tried on a real Prometheus in the tests. */

type Panel = {
  readonly title: string;
  /** Of Grafana: what the values are. */
  readonly unit: string;
  readonly kind: 'timeseries' | 'stat';
  /** PromQL, with how a line is called. */
  readonly queries: readonly (readonly [expr: string, legend: string])[];
};

const stat = (title: string, unit: string, expr: string): Panel => ({
  title,
  unit,
  kind: 'stat',
  queries: [[expr, '']],
});
const lines = (title: string, unit: string, ...queries: Panel['queries'][number][]): Panel => ({
  title,
  unit,
  kind: 'timeseries',
  queries,
});
const quantile = (q: number, metric: string, by: string, where = ''): string =>
  `histogram_quantile(${q}, sum by (${by}) (rate(${metric}_bucket${where}[5m])))`;

const EMISSAO = '{metodo="POST",rota=~".*/nfse(/v101)?"}';
const DAY = 86_400;

/** In the order in which they are looked at: is it well, what goes in, what goes out, what holds it up. */
export const PANELS: readonly Panel[] = [
  stat('Banco disponível', 'bool_yes_no', 'min(nfse_banco_disponivel)'),
  stat('Partes que respondem', 'percentunit', 'avg(nfse_parte_responde)'),
  stat('Municípios sem ADN', 'short', 'sum(nfse_adn_circuito_aberto)'),
  stat('Espera mais antiga', 's', 'max(nfse_espera_mais_antiga_seconds)'),
  stat('Primeiro certificado a vencer', 'd', `(min(nfse_certificado_vence_timestamp_seconds) - time()) / ${DAY}`),
  stat('Disco livre', 'percentunit', 'min(nfse_disco_livre_bytes / nfse_disco_total_bytes)'),
  lines('Requisições por status', 'reqps', ['sum by (status) (rate(nfse_requisicoes_total[5m]))', '{{status}}']),
  lines('Requisições por rota', 'reqps', [
    'topk(10, sum by (metodo, rota) (rate(nfse_requisicoes_total[5m])))',
    '{{metodo}} {{rota}}',
  ]),
  lines(
    'Duração de uma emissão',
    's',
    [quantile(0.5, 'nfse_requisicao_duracao_seconds', 'le', EMISSAO), 'mediana'],
    [quantile(0.95, 'nfse_requisicao_duracao_seconds', 'le', EMISSAO), '95 %'],
    [quantile(0.99, 'nfse_requisicao_duracao_seconds', 'le', EMISSAO), '99 %'],
  ),
  lines('Notas por estado em que entram', 'cps', ['sum by (estado) (rate(nfse_notas_total[5m]))', '{{estado}}']),
  lines('Emissões por município', 'cps', [
    'topk(10, sum by (municipio) (rate(nfse_notas_total{estado="emitida"}[5m])))',
    '{{municipio}}',
  ]),
  lines('Eventos por estado em que entram', 'cps', ['sum by (estado) (rate(nfse_eventos_total[5m]))', '{{estado}}']),
  lines(
    'Em espera',
    'short',
    ['sum by (documento) (nfse_em_espera)', '{{documento}}'],
    ['sum(nfse_notas_retidas)', 'retidas'],
  ),
  lines('Há quanto tempo espera o mais antigo', 's', [
    'topk(10, max by (municipio) (nfse_espera_mais_antiga_seconds))',
    '{{municipio}}',
  ]),
  lines('Respostas do ADN', 'cps', ['sum by (resposta) (rate(nfse_adn_respostas_total[5m]))', '{{resposta}}']),
  lines('Chamadas ao ADN por classe', 'cps', [
    'sum by (operacao, classe) (rate(nfse_adn_chamada_duracao_seconds_count[5m]))',
    '{{operacao}} {{classe}}',
  ]),
  lines('Duração das chamadas ao ADN (95 %)', 's', [
    quantile(0.95, 'nfse_adn_chamada_duracao_seconds', 'le, operacao'),
    '{{operacao}}',
  ]),
  lines(
    'ADN que não responde, municípios impedidos',
    'short',
    ['sum(nfse_adn_circuito_aberto)', 'circuito aberto'],
    ['sum(nfse_municipio_impedido)', 'impedidos'],
  ),
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
  lines('Faixas da transmissão ocupadas', 'percentunit', [
    'sum by (fila) (nfse_faixas_ocupadas) / sum by (fila) (nfse_faixas_lugares)',
    '{{fila}}',
  ]),
  lines('Atraso do laço de eventos (99 %)', 's', ['nfse_laco_atraso_seconds', '{{processo}} {{parte}}']),
  lines('Memória', 'bytes', ['nfse_memoria_residente_bytes', 'processo {{processo}}']),
  lines('Banco e disco', 'bytes', ['nfse_banco_tamanho_bytes', 'banco'], ['nfse_disco_livre_bytes', 'livre no disco']),
  lines('Transmissão: desde a última volta', 's', [
    'time() - nfse_transmissor_volta_timestamp_seconds',
    'processo {{processo}}',
  ]),
  lines(
    'Dias até vencer',
    'd',
    [
      `bottomk(10, (nfse_certificado_vence_timestamp_seconds - time()) / ${DAY})`,
      'certificado {{uso}} de {{municipio}}',
    ],
    [`bottomk(10, (nfse_lista_revogados_vence_timestamp_seconds - time()) / ${DAY})`, 'lista de {{municipio}}'],
  ),
  lines(
    'O que falta',
    'short',
    ['nfse_aliquotas_em_falta', 'alíquota {{tributo}}'],
    ['sum(nfse_arquivos_em_falta)', 'municípios sem arquivos'],
  ),
  lines(
    'Corrente de auditoria',
    'short',
    ['sum(nfse_auditoria_achados)', 'entradas alteradas'],
    ['max(nfse_auditoria_espera_seconds)', 'espera por um lugar (s)'],
    ['max(time() - nfse_auditoria_selo_timestamp_seconds) / 3600', 'horas desde o selo'],
  ),
  lines('Partes reiniciadas', 'short', ['sum by (parte) (increase(nfse_reinicios_total[1h]))', '{{parte}}']),
  lines('Municípios', 'short', ['nfse_municipios', '{{ambiente}}']),
];

const COLUMNS = 24;
const STAT = { w: 4, h: 4 };
const LINES = { w: 12, h: 8 };

export function grafanaBoard(): string {
  const source = { type: 'prometheus', uid: '$fonte' };
  let [x, y, height] = [0, 0, 0];
  const panels = PANELS.map(({ title, unit, kind, queries }, place) => {
    const { w, h } = kind === 'stat' ? STAT : LINES;
    if (x + w > COLUMNS) [x, y] = [0, y + height];
    const gridPos = { x, y, w, h };
    [x, height] = [x + w, h];
    return {
      id: place + 1,
      title,
      type: kind,
      datasource: source,
      gridPos,
      fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
      options: kind === 'stat' ? { reduceOptions: { calcs: ['lastNotNull'] } } : { legend: { displayMode: 'list' } },
      targets: queries.map(([expr, legendFormat], one) => ({
        refId: String.fromCharCode(65 + one),
        datasource: source,
        expr,
        legendFormat,
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
