/**
 * Conditions under which a measure that an alert needs must exist. A vanished series keeps its alert quiet, so its absence is judged as
 * well. `nfse saude` and `/health/detalhe` report it as unknown, and Prometheus as an alert (D-800).
 */
import type { Check } from './checks.ts';
import { type GaugeName, type Labels, METRICS, type MetricName, type Sample } from './metrics.ts';

/** A gauge that is above zero, under labels. */
type Condition = readonly [medida: GaugeName, rotulos: Labels];
const read = (leitura: string): Condition => ['nfse_leitura_em_dia', { leitura }];
const ofProducao: Condition = ['nfse_municipios', { ambiente: 'producao' }];
const ofAnybody: Condition = ['nfse_municipios', {}];

/**
 * `quando`: the measure must exist if all of these hold; without conditions, in every watched process. `pode`: reason why it may be missing
 * at any time.
 */
export type Presence =
  | { readonly quando: readonly Condition[] }
  | { readonly leitura?: Condition; readonly pode: string };

export const PRESENCE: Readonly<Partial<Record<MetricName, Presence>>> = {
  nfse_banco_disponivel: { quando: [] },
  nfse_leitura_em_dia: { quando: [] },
  nfse_parte_responde: { quando: [] },
  nfse_laco_atraso_seconds: { quando: [] },
  nfse_banco_conexoes_esperando: { quando: [] },
  nfse_reinicios_total: { quando: [] },
  nfse_transmissor_volta_timestamp_seconds: { quando: [['nfse_parte_responde', { parte: 'transmissao' }]] },
  nfse_banco_lido_timestamp_seconds: { quando: [read('banco')] },
  nfse_municipios: { quando: [read('banco')] },
  nfse_municipios_nao_lidos: { quando: [read('banco')] },
  nfse_aliquotas_em_falta: { quando: [read('banco')] },
  nfse_espera_mais_antiga_seconds: { quando: [read('banco'), ofProducao] },
  nfse_adn_circuito_aberto: { quando: [read('banco'), ofProducao] },
  nfse_pendencias: { quando: [read('banco'), ofProducao] },
  nfse_municipio_impedido: { quando: [read('banco'), ofProducao] },
  nfse_notas_retidas: { quando: [read('banco'), ofAnybody] },
  nfse_arquivos_em_falta: { quando: [read('arquivos'), ofAnybody] },
  nfse_disco_livre_bytes: { quando: [read('disco')] },
  nfse_disco_total_bytes: { quando: [read('disco')] },
  nfse_auditoria_espera_seconds: { quando: [read('banco'), ofAnybody] },
  nfse_meses_adiante: { quando: [read('banco')] },
  nfse_municipio_fechado: { quando: [read('banco'), ofAnybody] },
  nfse_mudancas_sem_lugar: { quando: [read('banco'), ofAnybody] },
  nfse_entregas: { quando: [read('banco'), ofAnybody] },
  nfse_trabalho_espera_seconds: { quando: [read('banco'), ofAnybody] },
  nfse_trabalho_atraso_seconds: { quando: [['nfse_parte_responde', { parte: 'transmissao' }]] },
  nfse_copia_base_timestamp_seconds: { pode: 'falta sem NFSE_COPIAS, e até a primeira cópia' },
  nfse_copia_conferida_timestamp_seconds: { pode: 'falta sem NFSE_COPIAS, e até a primeira cópia' },
  nfse_copia_espera_seconds: { pode: 'falta sem NFSE_COPIAS, ou com um PostgreSQL que não é o embutido' },
  nfse_copia_faltas: { pode: 'falta sem NFSE_COPIAS, e até a primeira cópia' },
  nfse_auditoria_achados: { leitura: read('banco'), pode: 'falta enquanto ninguém verificou a corrente' },
  nfse_auditoria_selo_timestamp_seconds: {
    leitura: read('banco'),
    pode: 'falta enquanto a corrente não tem nada a selar, ou o município não tem certificado',
  },
  nfse_certificado_vence_timestamp_seconds: {
    leitura: read('arquivos'),
    pode: 'falta sem certificado; de um que não se pode ler avisa NfseArquivosEmFalta',
  },
  nfse_lista_revogados_vence_timestamp_seconds: {
    leitura: read('arquivos'),
    pode: 'falta sem listas de revogados; de uma pasta que não se pode ler avisa NfseArquivosEmFalta',
  },
  nfse_requisicoes_total: { pode: 'falta até a primeira requisição' },
  nfse_requisicao_duracao_seconds: { pode: 'falta até a primeira requisição' },
  nfse_adn_chamada_duracao_seconds: {
    pode: 'falta até a primeira chamada; do que espera sem chamada avisa NfseNotasEsperando',
  },
  nfse_adn_respostas_total: {
    pode: 'falta até a primeira resposta; do que espera sem resposta avisa NfseNotasEsperando',
  },
};

/** Texts about a missing measure. */
export const AUSENTE = {
  nome: 'NfseMedidaAusente',
  oQue: 'A medida {medida} falta, e devia ser dita: o alerta que depende dela não dispara, nem que haja motivo.',
  fazer:
    'Veja o registro do serviço, e se uma parte dele ou um nfse transmitir parou (nfse_parte_responde). Se a medida falta depois de uma atualização, use o deploy/alertas.yml da versão que roda.',
} as const;

const isAbove = (samples: readonly Sample[], [medida, rotulos]: Condition): boolean =>
  samples.some(
    ({ name, labels, value }) =>
      name === medida && value > 0 && Object.entries(rotulos).every(([label, one]) => labels[label] === one),
  );

/** Whether the reading that yields a measure fails. A reading that this process does not perform is ignored. */
function isUnread(check: Check, samples: readonly Sample[]): boolean {
  return neededBy(check.medida).some(
    ([name, { leitura }]) =>
      name === 'nfse_leitura_em_dia' &&
      samples.some((one) => one.name === name && one.labels['leitura'] === leitura && one.value === 0),
  );
}

/** Whether a measure is unknown: it is missing although required, or its reading fails. */
export function isUnseen(check: Check, samples: readonly Sample[]): boolean {
  return absentOf(check, samples) !== undefined || (!isThere(check.medida, samples) && isUnread(check, samples));
}

/** The required measure of a check that is missing. */
export function absentOf(check: Check, samples: readonly Sample[]): GaugeName | undefined {
  const needed = check.como === 'parte' ? [check.medida, check.de] : [check.medida];
  return needed.find((medida) => {
    const presence = PRESENCE[medida]!;
    const isDue = 'quando' in presence && presence.quando.every((one) => isAbove(samples, one));
    return isDue && !isThere(medida, samples);
  });
}

function isThere(medida: GaugeName, samples: readonly Sample[]): boolean {
  return samples.some(({ name }) => name === medida);
}

function neededBy(medida: GaugeName): readonly Condition[] {
  const presence = PRESENCE[medida]!;
  if ('quando' in presence) return presence.quando;
  return presence.leitura === undefined ? [] : [presence.leitura];
}

/** The required measures, each with a PromQL expression for the processes without it. Each process is judged by itself. */
export function absences(): readonly { readonly medida: MetricName; readonly expr: string }[] {
  return Object.entries(PRESENCE).flatMap(([name, presence]) => {
    if (!('quando' in presence)) return [];
    const medida = name as MetricName;
    const [first = `up{job="nfse"} == 1`, ...others] = presence.quando.map(
      ([gauge, rotulos]) => `${gauge}${selectorOf(rotulos)} > 0`,
    );
    const needed = [first, ...others.map((one) => `and on (instance) ${one}`)].join(' ');
    // Each process that transmits has a worker of its own.
    const labels: readonly string[] = METRICS[medida].labels;
    const isOfProcess =
      presence.quando.some(([gauge]) => gauge === 'nfse_parte_responde') && labels.includes('processo');
    return [{ medida, expr: `${needed} unless on (instance${isOfProcess ? ', processo' : ''}) ${medida}` }];
  });
}

function selectorOf(rotulos: Labels): string {
  const each = Object.entries(rotulos).map(([label, one]) => `${label}="${one}"`);
  return each.length === 0 ? '' : `{${each.join(',')}}`;
}
