/** The alerts of Prometheus: those derived from the checks, and those that need a series over time. */
import { CHECKS, type Check, GRAVIDADES, type Gravidade } from './checks.ts';
import type { Labels } from './metrics.ts';
import { AUSENTE, absences } from './presence.ts';

export type Alert = {
  readonly nome: string;
  readonly gravidade: Gravidade;
  /** Expression in PromQL. */
  readonly expr: string;
  readonly durante: string;
  readonly oQue: string;
  readonly fazer: string;
  /** Labels of the rule, beside its severity. */
  readonly rotulos?: Labels;
};

/** The share of requests that were answered with 5xx. A stranger's query that finds nothing is no such error. */
const ERROS = 'sum(rate(nfse_requisicoes_total{status=~"5.."}[5m])) / sum(rate(nfse_requisicoes_total[5m]))';
const EMISSAO = `rota=~".*/nfse(/v101)?",metodo="POST"`;

const OVER_TIME: readonly Alert[] = [
  {
    nome: 'NfseForaDoAr',
    gravidade: 'critico',
    expr: 'up{job="nfse"} == 0 or absent(up{job="nfse"})',
    durante: '1m',
    oQue: 'O serviço, ou um nfse transmitir, não responde a quem o vigia ({instance}).',
    fazer:
      'Veja se está no ar (nfse saude, ou nfse saude --transmitir, na máquina dele) e se NFSE_VIGIA_REDES admite o Prometheus.',
  },
  {
    nome: 'NfseErros',
    gravidade: 'critico',
    expr: `${ERROS} > 0.01`,
    durante: '5m',
    oQue: 'Mais de 1 % das requisições acabam em erro do serviço (5xx).',
    fazer: 'Se o banco está bem, o registro traz cada falha: procure as linhas de nível error.',
  },
  {
    nome: 'NfseEmissaoLenta',
    gravidade: 'aviso',
    expr: `histogram_quantile(0.99, sum by (le) (rate(nfse_requisicao_duracao_seconds_bucket{${EMISSAO}}[5m]))) > 2`,
    durante: '10m',
    oQue: 'Uma emissão em cem demora mais de 2 s.',
    fazer:
      'Compare com nfse_gravacao_duracao_seconds: se o banco é que demora, procure o que o ocupa; se não, falta processador.',
  },
  {
    nome: 'NfseAdnFalha',
    gravidade: 'aviso',
    expr: 'sum(rate(nfse_adn_chamada_duracao_seconds_count{classe!~"[24].."}[10m])) / sum(rate(nfse_adn_chamada_duracao_seconds_count[10m])) > 0.5',
    durante: '5m',
    oQue: 'Mais da metade das chamadas ao ADN não traz resposta que sirva.',
    fazer: 'O serviço pergunta e tenta de novo sozinho. Veja o registro: ele diz o que o ADN respondeu.',
  },
  {
    nome: 'NfseAdnRecusa',
    gravidade: 'aviso',
    expr: 'sum by (municipio) (rate(nfse_adn_respostas_total{resposta="recusada"}[15m])) / sum by (municipio) (rate(nfse_adn_respostas_total[15m])) > 0.2',
    durante: '15m',
    oQue: 'Mais de 20 % do que {municipio} leva ao ADN é recusado.',
    fazer:
      'As notas recusadas dizem o código em mensagem_retorno. Se é sempre o mesmo, uma regra do ADN mudou, ou um emissor erra.',
  },
  {
    nome: 'NfseReinicios',
    gravidade: 'aviso',
    expr: 'sum by (parte) (increase(nfse_reinicios_total[15m])) > 2',
    durante: '0s',
    oQue: 'A parte {parte} do serviço morre repetidamente.',
    fazer: 'O registro traz de que ela morreu. Cada vez ela é iniciada de novo, e nada se perde.',
  },
  {
    nome: 'NfseAvisosDesistidos',
    gravidade: 'aviso',
    expr: 'delta(nfse_entregas{estado="morta"}[1h]) > 100',
    durante: '0s',
    oQue: 'Em {municipio} o serviço desistiu na última hora de mais de cem avisos a webhooks.',
    fazer:
      'Os endereços não aceitam o que se lhes envia: nfse webhook listar diz quais, e por quê. Quem os recebe acha tudo na lista de mudanças.',
  },
  {
    nome: 'NfseDiscoEnche',
    gravidade: 'aviso',
    expr: 'predict_linear(nfse_disco_livre_bytes[6h], 86400) < 0',
    durante: '1h',
    oQue: 'Neste passo o disco do banco acaba em menos de um dia.',
    fazer: 'Aumente o disco, ou arquive meses encerrados (nfse arquivo fechar AAAA-MM).',
  },
];

/** One rule for each measure. A missing measure is not judged by the alert of its name. */
const ABSENT: readonly Alert[] = absences().map(({ medida, expr }) => ({
  ...AUSENTE,
  ...{ gravidade: 'desconhecido', expr, durante: '5m', rotulos: { medida } },
}));

export const ALERTS: readonly Alert[] = [...CHECKS.flatMap(alertsOf), ...OVER_TIME, ...ABSENT];

function alertsOf(check: Check): readonly Alert[] {
  const { nome, durante, oQue, fazer, lado, ...limits } = check;
  const sign = lado === 'acima' ? '>' : '<';
  return GRAVIDADES.flatMap((gravidade) => {
    const limit = limits[gravidade];
    if (limit === undefined) return [];
    return [{ nome, gravidade, expr: `${exprOf(check)} ${sign} ${limit}`, durante, oQue, fazer }];
  });
}

function exprOf(check: Check): string {
  const { medida, como } = check;
  if (como === 'idade') return `time() - ${medida}`;
  if (como === 'prazo') return `${medida} - time()`;
  return como === 'parte' ? `${medida} / ${check.de}` : medida;
}

/** The rules of Prometheus, as a file. */
export function alertRules(): string {
  const rules = ALERTS.map(
    ({ nome, gravidade, expr, durante, oQue, fazer, rotulos = {} }) => `      - alert: ${nome}
        expr: ${JSON.stringify(expr)}
        for: ${durante}
        labels:
          severity: ${severityOf(gravidade)}
${Object.entries(rotulos)
  .map(([label, value]) => `          ${label}: ${value}\n`)
  .join('')}        annotations:
          summary: ${JSON.stringify(templateOf(oQue))}
          description: ${JSON.stringify(fazer)}
`,
  );
  return `# Gerado de src/base/measures/checks.ts e alerts.ts por npm run generate. O que fazer em cada um: /docs/vigiar.
groups:
  - name: nfse
    rules:
${rules.join('')}`;
}

/** Severity in the terms of Alertmanager's users. An unknown state is a warning, and calls nobody at night. */
export function severityOf(gravidade: Gravidade): 'critical' | 'warning' {
  return gravidade === 'critico' ? 'critical' : 'warning';
}

/** A text with label placeholders in the form of Prometheus. */
function templateOf(text: string): string {
  return text.replaceAll(/\{(\w+)\}/g, '{{ $labels.$1 }}');
}
