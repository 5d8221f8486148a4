/**
 * The metrics of the service, one row each: name by the conventions of Prometheus, kind, labels, and meaning. `/metrics`, the page for
 * operators and the checks are derived from these rows. Every label is bounded: a route is its pattern, never an address.
 */

type Kind = 'counter' | 'gauge' | 'histogram';

export type Metric = {
  readonly kind: Kind;
  readonly labels: readonly string[];
  /** Text for the operator in Portuguese, also the HELP of the metric. */
  readonly help: string;
  /** Upper bounds of a histogram. */
  readonly buckets?: readonly number[];
};

/** Seconds, from a look into memory to the longest wait that a query may ask for. */
const REQUEST_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const ADN_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const COMMIT_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5];
const GROUP_BUCKETS = [1, 2, 5, 10, 20, 50, 100, 200];

/** Counters in memory, in each part of the service. */
const COUNTED = {
  nfse_requisicoes_total: {
    kind: 'counter',
    labels: ['porta', 'metodo', 'rota', 'status'],
    help: 'Requisições respondidas. porta: publica ou painel; rota: o padrão do caminho.',
  },
  nfse_requisicao_duracao_seconds: {
    kind: 'histogram',
    labels: ['porta', 'metodo', 'rota'],
    buckets: REQUEST_BUCKETS,
    help: 'Da chegada de uma requisição até a resposta estar pronta. Quem pede para esperar (espera) conta com a espera.',
  },
  nfse_notas_total: {
    kind: 'counter',
    labels: ['municipio', 'estado'],
    help: 'Vezes em que uma nota entrou num estado. emitida conta as emissões; de uma retida, quando ela segue.',
  },
  nfse_eventos_total: {
    kind: 'counter',
    labels: ['municipio', 'estado'],
    help: 'Vezes em que um evento entrou num estado.',
  },
  nfse_gravacao_grupo_documentos: {
    kind: 'histogram',
    labels: ['documento'],
    buckets: GROUP_BUCKETS,
    help: 'Documentos gravados juntos, numa só transação.',
  },
  nfse_gravacao_duracao_seconds: {
    kind: 'histogram',
    labels: ['documento'],
    buckets: COMMIT_BUCKETS,
    help: 'Duração de cada uma dessas transações.',
  },
  nfse_adn_chamada_duracao_seconds: {
    kind: 'histogram',
    labels: ['operacao', 'classe'],
    buckets: ADN_BUCKETS,
    help: 'Chamadas ao ADN. operacao: envio ou consulta; classe: a do status HTTP, ou nao_enviada, sem_resposta, certificado_recusado.',
  },
  nfse_adn_respostas_total: {
    kind: 'counter',
    labels: ['municipio', 'documento', 'resposta'],
    help: 'O que foi feito de cada nota e evento levados ao ADN, ou à autoridade dos ensaios.',
  },
  nfse_reinicios_total: {
    kind: 'counter',
    labels: ['parte'],
    help: 'Partes do serviço que morreram e foram iniciadas de novo.',
  },
} as const satisfies Readonly<Record<string, Metric>>;

/** Gauges that a part of the service reads on request; every part names itself in labels. */
const OF_PARTS = {
  nfse_parte_responde: {
    kind: 'gauge',
    labels: ['processo', 'parte'],
    help: '1 quando a parte respondeu a esta leitura, 0 quando não.',
  },
  nfse_memoria_residente_bytes: {
    kind: 'gauge',
    labels: ['processo'],
    help: 'Memória (RSS) de cada processo do serviço; a do PostgreSQL não entra.',
  },
  nfse_processador_seconds: {
    kind: 'gauge',
    labels: ['processo'],
    help: 'Tempo de processador que cada processo do serviço já tomou; cresce até ele acabar. O do PostgreSQL não entra.',
  },
  nfse_trabalho_atraso_seconds: {
    kind: 'gauge',
    labels: ['trabalho'],
    help: 'Há quanto tempo devia ter sido feito, e não foi, um trabalho que a transmissão repete por si; 0 em dia.',
  },
  nfse_copia_base_timestamp_seconds: {
    kind: 'gauge',
    labels: [],
    help: 'Quando terminou a última cópia (nfse copia fazer) em NFSE_COPIAS; falta sem NFSE_COPIAS ou sem cópia nenhuma.',
  },
  nfse_copia_conferida_timestamp_seconds: {
    kind: 'gauge',
    labels: [],
    help: 'Quando uma cópia foi conferida pela última vez (nfse copia conferir) e voltou inteira; 0 se nenhuma foi; falta sem NFSE_COPIAS ou sem cópia nenhuma.',
  },
  nfse_copia_continua_timestamp_seconds: {
    kind: 'gauge',
    labels: [],
    help: 'De quando é o último segmento do WAL que a cópia contínua levou.',
  },
  nfse_copia_espera_bytes: { kind: 'gauge', labels: [], help: 'WAL arquivado que ainda não foi levado às cópias.' },
  nfse_copia_espera_seconds: {
    kind: 'gauge',
    labels: [],
    help: 'Há quanto tempo espera o mais antigo desses segmentos; 0 sem nenhum.',
  },
  nfse_copia_faltas: {
    kind: 'gauge',
    labels: [],
    help: 'Buracos da cópia contínua depois da última cópia: o que veio depois deles não se alcança.',
  },
  nfse_laco_atraso_seconds: {
    kind: 'gauge',
    labels: ['processo', 'parte'],
    help: 'Atraso do laço de eventos (percentil 99 do último minuto inteiro ou do que corre, o maior): quanto uma parte demora a dar atenção a quem chega.',
  },
  nfse_banco_conexoes: {
    kind: 'gauge',
    labels: ['processo', 'parte', 'estado'],
    help: 'Conexões com o banco, em_uso ou ociosa.',
  },
  nfse_banco_conexoes_esperando: {
    kind: 'gauge',
    labels: ['processo', 'parte'],
    help: 'Quem espera por uma conexão com o banco neste momento.',
  },
  nfse_faixas_ocupadas: {
    kind: 'gauge',
    labels: ['processo', 'fila'],
    help: 'Lugares tomados pelos lotes de trabalho a caminho, por fila da transmissão.',
  },
  nfse_faixas_lugares: {
    kind: 'gauge',
    labels: ['processo', 'fila'],
    help: 'Lugares de cada fila: um por lote; nas notas, um por documento.',
  },
  nfse_transmissor_volta_timestamp_seconds: {
    kind: 'gauge',
    labels: ['processo'],
    help: 'Quando a transmissão olhou pela última vez o que há a fazer.',
  },
} as const satisfies Readonly<Record<string, Metric>>;

/** Gauges of the whole service, read from the database, the files and the disk. */
const OF_ALL = {
  nfse_versao_info: { kind: 'gauge', labels: ['versao'], help: 'Sempre 1; a versão está no rótulo.' },
  nfse_inicio_timestamp_seconds: { kind: 'gauge', labels: [], help: 'Quando o serviço foi iniciado.' },
  nfse_banco_disponivel: { kind: 'gauge', labels: [], help: '1 quando o banco aceita gravações, 0 quando não.' },
  nfse_leitura_em_dia: {
    kind: 'gauge',
    labels: ['leitura'],
    help: '1 enquanto o que se lê do banco, dos arquivos, do disco e do tamanho do banco (leitura) foi lido há no máximo dois minutos. Com 0 os valores dessa leitura faltam, e só os momentos (…_timestamp_seconds) continuam ditos.',
  },
  nfse_banco_lido_timestamp_seconds: {
    kind: 'gauge',
    labels: [],
    help: 'Quando foi lido do banco o que está abaixo; dito também enquanto o banco não responde. Falta só enquanto nada foi lido.',
  },
  nfse_banco_tamanho_bytes: { kind: 'gauge', labels: [], help: 'Tamanho do banco de dados.' },
  nfse_disco_livre_bytes: {
    kind: 'gauge',
    labels: [],
    help: 'Espaço livre no disco do PostgreSQL embutido; de um banco em outra máquina falta.',
  },
  nfse_disco_total_bytes: { kind: 'gauge', labels: [], help: 'Tamanho desse disco.' },
  nfse_municipios: { kind: 'gauge', labels: ['ambiente'], help: 'Municípios, sem os ambientes próprios de ensaio.' },
  nfse_municipios_nao_lidos: {
    kind: 'gauge',
    labels: [],
    help: 'Municípios dos quais a última leitura do banco nada trouxe, como os de um nó que não responde.',
  },
  nfse_em_espera: {
    kind: 'gauge',
    labels: ['municipio', 'documento'],
    help: 'Notas, eventos e lotes que esperam na fila; conta até 100 mil de cada.',
  },
  nfse_em_transmissao: {
    kind: 'gauge',
    labels: ['municipio', 'documento'],
    help: 'Desses, os que um transmissor tem em mãos agora; conta até 100 mil de cada.',
  },
  nfse_espera_mais_antiga_seconds: {
    kind: 'gauge',
    labels: ['municipio', 'documento'],
    help: 'Há quanto tempo espera o mais antigo, em municípios que transmitem; 0 sem nenhum.',
  },
  nfse_notas_retidas: {
    kind: 'gauge',
    labels: ['municipio'],
    help: 'Notas à espera de uma alíquota que ninguém publicou; conta até 100 mil.',
  },
  nfse_pendencias: {
    kind: 'gauge',
    labels: ['municipio', 'tipo'],
    help: 'O que espera pela prefeitura, em municípios que transmitem. tipo: analise_fiscal, pedidos sem resposta; rejeicao, de tomador ou intermediário; nota_recusada, depois de emitida, em 30 dias. Conta até 1.001 de cada.',
  },
  nfse_adn_circuito_aberto: {
    kind: 'gauge',
    labels: ['municipio'],
    help: '1 enquanto o ADN não responde a quem transmite pelo município, ou depois de uma pergunta ou um teste que não deu certo, até a próxima resposta.',
  },
  nfse_municipio_impedido: {
    kind: 'gauge',
    labels: ['municipio'],
    help: '1 enquanto há um motivo pelo qual as notas do município não seguem.',
  },
  nfse_arquivos_em_falta: {
    kind: 'gauge',
    labels: ['municipio'],
    help: '1 quando um certificado ou uma pasta que o município indica não pode ser lido nesta máquina.',
  },
  nfse_certificado_vence_timestamp_seconds: {
    kind: 'gauge',
    labels: ['municipio', 'uso'],
    help: 'Quando vence o certificado. uso: adn, o do município; tls, o do próprio serviço.',
  },
  nfse_lista_revogados_vence_timestamp_seconds: {
    kind: 'gauge',
    labels: ['municipio'],
    help: 'Quando vence a primeira das listas de revogados do município.',
  },
  nfse_auditoria_achados: {
    kind: 'gauge',
    labels: ['municipio'],
    help: 'Entradas alteradas, faltando ou fora de ordem que a última verificação da corrente de auditoria encontrou.',
  },
  nfse_auditoria_espera_seconds: {
    kind: 'gauge',
    labels: ['municipio'],
    help: 'Há quanto tempo a mais antiga entrada de auditoria espera pelo seu lugar na corrente; 0 sem nenhuma.',
  },
  nfse_auditoria_selo_timestamp_seconds: {
    kind: 'gauge',
    labels: ['municipio'],
    help: 'Quando a corrente de auditoria foi selada pela última vez; de uma nunca selada cujo município tem certificado, quando começou.',
  },
  nfse_entregas: {
    kind: 'gauge',
    labels: ['municipio', 'estado'],
    help: 'Avisos a webhooks. estado: pendente, à espera; morta, desistidos. Conta até 100 mil de cada.',
  },
  nfse_trabalho_espera_seconds: {
    kind: 'gauge',
    labels: ['municipio', 'trabalho'],
    help: 'Há quanto tempo espera o mais antigo. trabalho: avisos, desde que devia ser levado; exportacoes, desde que foi pedida.',
  },
  nfse_mudancas_sem_lugar: {
    kind: 'gauge',
    labels: ['municipio'],
    help: 'Gravações cujas mudanças ainda não têm lugar na ordem em que se leem; conta até 100 mil.',
  },
  nfse_meses_adiante: { kind: 'gauge', labels: [], help: 'Meses depois deste que já têm as suas tabelas.' },
  nfse_municipio_fechado: {
    kind: 'gauge',
    labels: ['municipio'],
    help: '1 enquanto o município está fechado a gravações (uma mudança de servidor, ou uma restauração).',
  },
  nfse_aliquotas_em_falta: {
    kind: 'gauge',
    labels: ['tributo'],
    help: '1 quando falta na tabela uma alíquota de uma competência que chegou, ou chega em 60 dias.',
  },
} as const satisfies Readonly<Record<string, Metric>>;

export const METRICS = { ...COUNTED, ...OF_PARTS, ...OF_ALL } as const;

export type MetricName = keyof typeof METRICS;
export type CountedName = keyof typeof COUNTED;
export type GaugeName = keyof typeof OF_PARTS | keyof typeof OF_ALL;
export type Labels = Readonly<Record<string, string>>;

/** Groups of gauges that one reading finds together. */
export type Leitura = 'banco' | 'tamanho' | 'arquivos' | 'disco';

/** Whether a gauge is a moment. An old reading of a moment stays true. */
export function isMoment(name: GaugeName): boolean {
  return name.endsWith('_timestamp_seconds');
}

/** A gauge as it was read. */
export type Sample = { readonly name: GaugeName; readonly labels: Labels; readonly value: number };

/** Municipalities with a label of their own. All others share one, so that a scrape does not grow with their number. */
export const MUNICIPIOS_MAX = 200;
/** Labels for all further municipalities, and for all personal sandboxes. */
export const OUTROS = 'outros';
export const ENSAIOS = 'ensaios';
