/**
 * The troubles and their limits: one row each. `nfse saude`, `/health/detalhe` and the alerts of `deploy/alertas.yml` are all derived from
 * these rows, so that all know the same troubles. A trouble that only shows over time is an alert alone.
 */
import type { GaugeName, Labels, Sample } from './metrics.ts';

/** `desconhecido`: the state cannot be determined. */
export type Gravidade = 'aviso' | 'critico' | 'desconhecido';
/** Severities in descending order. */
export const GRAVIDADES: readonly Gravidade[] = ['critico', 'aviso', 'desconhecido'];

const MINUTE_S = 60;
const HOUR_S = 60 * MINUTE_S;
const DAY_S = 24 * HOUR_S;
const DISCO_AVISO = 0.1;
const DISCO_CRITICO = 0.05;
const CERTIFICADO_AVISO_DIAS = 30;
const CERTIFICADO_CRITICO_DIAS = 7;
const LISTA_AVISO_DIAS = 3;

/** Ways of judging a value. */
type Way =
  /** The value of the gauge. */
  | { readonly como: 'valor' }
  /** Seconds since the moment in the gauge, or until that moment. */
  | { readonly como: 'idade' | 'prazo' }
  /** The ratio of the gauge to another one. */
  | { readonly como: 'parte'; readonly de: GaugeName };

/** `acima`, `abaixo`: the bad side of the limit. */
type Limits = { readonly lado: 'acima' | 'abaixo' } & Readonly<Partial<Record<Gravidade, number>>>;

export type Check = Way &
  Limits & {
    /** Name of the check, and of the alert derived from it. */
    readonly nome: string;
    readonly medida: GaugeName;
    /** Duration of the trouble before the alert fires. */
    readonly durante: string;
    /** Description of the trouble; `{municipio}` is the label of that name. */
    readonly oQue: string;
    readonly fazer: string;
    /** Unit in which the value is shown. */
    readonly unidade: 's' | '%' | '';
  };

export const CHECKS: readonly Check[] = [
  {
    nome: 'NfseBancoIndisponivel',
    medida: 'nfse_banco_disponivel',
    como: 'valor',
    lado: 'abaixo',
    critico: 1,
    durante: '1m',
    unidade: '',
    oQue: 'O banco de dados não aceita gravações: nada é emitido, e quem envia recebe 503.',
    fazer:
      'Veja o registro do serviço, que diz por quê: o servidor fora do ar, o disco cheio, as conexões esgotadas, uma réplica que não aceita gravações. O serviço volta sozinho com o banco.',
  },
  {
    nome: 'NfseBancoNaoLido',
    medida: 'nfse_banco_lido_timestamp_seconds',
    como: 'idade',
    lado: 'acima',
    aviso: 5 * MINUTE_S,
    durante: '1m',
    unidade: 's',
    oQue: 'O banco não responde a tempo às perguntas da vigia: filas, ADN e tamanhos não são conhecidos.',
    fazer: 'Se o banco também atende devagar às emissões, procure o que o ocupa (pg_stat_activity, disco).',
  },
  {
    nome: 'NfseLeituraEmFalta',
    medida: 'nfse_leitura_em_dia',
    como: 'valor',
    lado: 'abaixo',
    desconhecido: 1,
    durante: '1m',
    unidade: '',
    oQue: 'Há mais de dois minutos, ou desde o início, a leitura «{leitura}» não se faz: do que se vigia por ela nada se sabe, nem que está bem.',
    fazer:
      'Veja o registro do serviço. Se é a do banco, ele responde devagar ou está preso: procure o que o ocupa (pg_stat_activity, disco); se é a dos arquivos ou do disco, a pasta não se pode ler. O que falta volta com a leitura.',
  },
  {
    nome: 'NfseMunicipiosNaoLidos',
    medida: 'nfse_municipios_nao_lidos',
    como: 'valor',
    lado: 'acima',
    aviso: 0,
    durante: '5m',
    unidade: '',
    oQue: 'De algum município a vigia nada lê: a fila, as notas retidas e o ADN dele não são conhecidos.',
    fazer:
      'Num banco distribuído, um nó não responde: veja qual (select * from citus_check_cluster_node_health()) e ponha-o no ar.',
  },
  {
    nome: 'NfseParteNaoResponde',
    medida: 'nfse_parte_responde',
    como: 'valor',
    lado: 'abaixo',
    critico: 1,
    durante: '1m',
    unidade: '',
    oQue: 'A parte {parte} do processo {processo} não responde.',
    fazer:
      'Uma parte que morre é iniciada de novo em segundos; se isto dura, ela está parada ou sem processador. Veja o registro e, se preciso, reinicie o serviço: nada se perde, e o que esperava segue na fila.',
  },
  {
    nome: 'NfseTransmissaoParada',
    medida: 'nfse_transmissor_volta_timestamp_seconds',
    como: 'idade',
    lado: 'acima',
    critico: 2 * MINUTE_S,
    durante: '1m',
    unidade: 's',
    oQue: 'A transmissão do processo {processo} não olha há minutos o que há a fazer.',
    fazer: 'Veja no registro o que a deteve. Reiniciar o serviço não perde nada: o que esperava segue na fila.',
  },
  {
    nome: 'NfseAdnNaoResponde',
    medida: 'nfse_adn_circuito_aberto',
    como: 'valor',
    lado: 'acima',
    aviso: 0,
    durante: '2m',
    unidade: '',
    oQue: 'O ADN não responde a {municipio}: as notas são emitidas e esperam.',
    fazer:
      'Nada se perde, e o serviço tenta de novo sozinho. Se dura, teste a conexão no console (Município), que diz em que passo ela para; e veja se o ADN está no ar para os outros.',
  },
  {
    nome: 'NfseMunicipioImpedido',
    medida: 'nfse_municipio_impedido',
    como: 'valor',
    lado: 'acima',
    critico: 0,
    durante: '10m',
    unidade: '',
    oQue: 'As notas de {municipio} não seguem ao ADN.',
    fazer: 'O console (Hoje) e nfse municipio mostrar dizem o motivo: um certificado, um endereço, uma permissão.',
  },
  {
    nome: 'NfseNotasEsperando',
    medida: 'nfse_espera_mais_antiga_seconds',
    como: 'valor',
    lado: 'acima',
    aviso: 10 * MINUTE_S,
    critico: HOUR_S,
    durante: '1m',
    unidade: 's',
    oQue: 'Em {municipio} o mais antigo ({documento}) espera há tempo demais.',
    fazer:
      'Se o ADN não responde, espere por ele. Se responde, a página da nota no console diz o que ela espera: pode ser uma substituta, que espera o evento da nota que substitui.',
  },
  {
    nome: 'NfseDiscoCheio',
    medida: 'nfse_disco_livre_bytes',
    como: 'parte',
    de: 'nfse_disco_total_bytes',
    lado: 'abaixo',
    aviso: DISCO_AVISO,
    critico: DISCO_CRITICO,
    durante: '5m',
    unidade: '%',
    oQue: 'O disco do banco está quase cheio. Sem espaço nada é emitido.',
    fazer: 'Aumente o disco, ou arquive meses encerrados (nfse arquivo fechar AAAA-MM).',
  },
  {
    nome: 'NfseCertificadoVence',
    medida: 'nfse_certificado_vence_timestamp_seconds',
    como: 'prazo',
    lado: 'abaixo',
    aviso: CERTIFICADO_AVISO_DIAS * DAY_S,
    critico: CERTIFICADO_CRITICO_DIAS * DAY_S,
    durante: '5m',
    unidade: 's',
    oQue: 'O certificado ({uso}) de {municipio} venceu ou está por vencer. Vencido, nada é transmitido.',
    fazer:
      'Compre outro, do mesmo CNPJ (e-CNPJ ICP-Brasil), e ponha-o no lugar: no console, Município, Certificados; ou nfse municipio alterar MUNICÍPIO --adn-pfx ARQUIVO. O de tls é o de NFSE_TLS_CERTIFICADO: ponha o novo no arquivo e troque os processos.',
  },
  {
    nome: 'NfseListaRevogadosVence',
    medida: 'nfse_lista_revogados_vence_timestamp_seconds',
    como: 'prazo',
    lado: 'abaixo',
    aviso: LISTA_AVISO_DIAS * DAY_S,
    durante: '5m',
    unidade: 's',
    oQue: 'Uma lista de revogados de {municipio} venceu ou está por vencer.',
    fazer:
      'Ponha a lista nova na pasta de revogados. Sem ela, um certificado revogado há pouco ainda seria aceito. nfse municipio conferir diz qual é.',
  },
  {
    nome: 'NfseArquivosEmFalta',
    medida: 'nfse_arquivos_em_falta',
    como: 'valor',
    lado: 'acima',
    critico: 0,
    durante: '5m',
    unidade: '',
    oQue: 'Falta nesta máquina um arquivo que {municipio} indica, ou não se pode lê-lo.',
    fazer: 'nfse municipio conferir diz qual, e por quê. O que depende dele espera.',
  },
  {
    nome: 'NfseAliquotaEmFalta',
    medida: 'nfse_aliquotas_em_falta',
    como: 'valor',
    lado: 'acima',
    aviso: 0,
    durante: '10m',
    unidade: '',
    oQue: 'Falta na tabela de alíquotas a linha {tributo} de uma competência que chegou, ou chega em 60 dias.',
    fazer:
      'Importe a tabela assim que o ato que fixa as alíquotas é publicado: nfse aliquotas importar ARQUIVO. Até lá as notas são emitidas e ficam retidas.',
  },
  {
    nome: 'NfseNotasRetidas',
    medida: 'nfse_notas_retidas',
    como: 'valor',
    lado: 'acima',
    aviso: 0,
    durante: '10m',
    unidade: '',
    oQue: 'Há notas de {municipio} retidas, à espera de uma alíquota.',
    fazer: 'Com a alíquota importada (nfse aliquotas importar ARQUIVO) elas seguem sozinhas.',
  },
  {
    nome: 'NfsePendencias',
    medida: 'nfse_pendencias',
    como: 'valor',
    lado: 'acima',
    aviso: 0,
    durante: '24h',
    unidade: '',
    oQue: 'Em {municipio} algo espera pela prefeitura ({tipo}).',
    fazer:
      'O console (Pendências) e nfse pendencia listar dizem o quê, desde quando, e o que se pode fazer. De uma nota recusada avisa-se o prestador, que emite de novo.',
  },
  {
    nome: 'NfseAuditoriaQuebrada',
    medida: 'nfse_auditoria_achados',
    como: 'valor',
    lado: 'acima',
    critico: 0,
    durante: '0s',
    unidade: '',
    oQue: 'Na corrente de auditoria de {municipio} há entradas alteradas, faltando ou fora de ordem.',
    fazer:
      'Alguém mudou o banco por fora do serviço. nfse auditoria verificar diz o que e onde; guarde o banco como está antes de mexer nele. Achado que se esclarece aceita-se com nfse auditoria aceitar.',
  },
  {
    nome: 'NfseAuditoriaParada',
    medida: 'nfse_auditoria_espera_seconds',
    como: 'valor',
    lado: 'acima',
    aviso: HOUR_S,
    durante: '5m',
    unidade: 's',
    oQue: 'As entradas de auditoria de {municipio} esperam há mais de uma hora pelo seu lugar na corrente.',
    fazer:
      'Quem lhes dá lugar é o serviço (a transmissão): veja no registro o que o impede. Nada se perde enquanto isso.',
  },
  {
    nome: 'NfseAuditoriaSemSelo',
    medida: 'nfse_auditoria_selo_timestamp_seconds',
    como: 'idade',
    lado: 'acima',
    aviso: 3 * DAY_S,
    durante: '5m',
    unidade: 's',
    oQue: 'A corrente de auditoria de {municipio} não é selada há mais de três dias.',
    fazer: 'Ela é selada todo dia com o certificado do município: confira se ele está no lugar e em vigor.',
  },
  {
    nome: 'NfseTrabalhoAtrasado',
    medida: 'nfse_trabalho_atraso_seconds',
    como: 'valor',
    lado: 'acima',
    aviso: HOUR_S,
    durante: '5m',
    unidade: 's',
    oQue: 'O trabalho «{trabalho}», que a transmissão repete por si, devia ter sido feito há mais de uma hora.',
    fazer: 'Veja no registro o que o impede: cada tentativa que falha é dita. Nada se perde; o que ele faria espera.',
  },
  {
    nome: 'NfseTrabalhoEsperando',
    medida: 'nfse_trabalho_espera_seconds',
    como: 'valor',
    lado: 'acima',
    aviso: HOUR_S,
    durante: '5m',
    unidade: 's',
    oQue: 'Em {municipio} o mais antigo de «{trabalho}» espera há mais de uma hora.',
    fazer: 'Veja se há um processo que transmite, se lhe sobra processador, e no registro o que o detém.',
  },
  {
    nome: 'NfseMudancasSemLugar',
    medida: 'nfse_mudancas_sem_lugar',
    como: 'valor',
    lado: 'acima',
    aviso: 1_000,
    durante: '5m',
    unidade: '',
    oQue: 'Em {municipio} mais de mil gravações esperam que as suas mudanças ganhem lugar: quem as segue não as vê ainda.',
    fazer: 'Quem lhes dá lugar é a transmissão: veja se está no ar, e no registro o que a impede. Nada se perde.',
  },
  {
    nome: 'NfseMesesPorCriar',
    medida: 'nfse_meses_adiante',
    como: 'valor',
    lado: 'abaixo',
    aviso: 1,
    durante: '1h',
    unidade: '',
    oQue: 'O mês que vem ainda não tem as suas tabelas.',
    fazer:
      'O serviço as cria por si, se a conta dele pode; se o registro diz que não, dê o comando que ele indica como dono do banco (nfse migrar).',
  },
  {
    nome: 'NfseMunicipioFechado',
    medida: 'nfse_municipio_fechado',
    como: 'valor',
    lado: 'acima',
    aviso: 0,
    durante: '1h',
    unidade: '',
    oQue: '{municipio} está fechado: nada se emite nele.',
    fazer:
      'Se a mudança, ou a restauração, por que foi fechado já terminou, reabra-o: nfse municipio alterar MUNICÍPIO --sem-fechar.',
  },
  {
    nome: 'NfseCopiaVelha',
    medida: 'nfse_copia_base_timestamp_seconds',
    como: 'idade',
    lado: 'acima',
    aviso: 8 * DAY_S,
    durante: '5m',
    unidade: 's',
    oQue: 'A última cópia do banco tem mais de oito dias.',
    fazer: 'nfse copia fazer faz uma, com o serviço no ar; ponha-o num agendador (cron, timer do systemd).',
  },
  {
    nome: 'NfseCopiaSemConferir',
    medida: 'nfse_copia_conferida_timestamp_seconds',
    como: 'idade',
    lado: 'acima',
    aviso: 15 * DAY_S,
    durante: '24h',
    unidade: 's',
    oQue: 'Nenhuma cópia do banco foi conferida nos últimos quinze dias: não se sabe se voltam.',
    fazer:
      'nfse copia conferir põe a última a rodar à parte, confere-a e joga-a fora; faça-o a cada semana, num agendador.',
  },
  {
    nome: 'NfseCopiaParada',
    medida: 'nfse_copia_espera_seconds',
    como: 'valor',
    lado: 'acima',
    critico: 15 * MINUTE_S,
    durante: '5m',
    unidade: 's',
    oQue: 'A cópia contínua não é levada a NFSE_COPIAS: o que se emitiu desde então se perde com o disco dos dados.',
    fazer:
      'O registro diz por quê: o disco das cópias cheio, ausente, ou sem permissão. O WAL espera no disco dos dados, e o enche.',
  },
  {
    nome: 'NfseCopiaComBuraco',
    medida: 'nfse_copia_faltas',
    como: 'valor',
    lado: 'acima',
    critico: 0,
    durante: '0s',
    unidade: '',
    oQue: 'Falta um segmento da cópia contínua: por ela não se volta ao que veio depois dele.',
    fazer:
      'Faça já outra cópia (nfse copia fazer): dela em diante a contínua volta a servir. nfse copia listar diz qual falta.',
  },
  {
    nome: 'NfseConexoesEsgotadas',
    medida: 'nfse_banco_conexoes_esperando',
    como: 'valor',
    lado: 'acima',
    aviso: 50,
    durante: '5m',
    unidade: '',
    oQue: 'No processo {processo} ({parte}) muitos esperam por uma conexão com o banco.',
    fazer:
      'Se o banco responde depressa, dê mais conexões (NFSE_CONEXOES, NFSE_CONEXOES_TRANSMISSAO); se devagar, procure o que o ocupa.',
  },
  {
    nome: 'NfseProcessadorEsgotado',
    medida: 'nfse_laco_atraso_seconds',
    como: 'valor',
    lado: 'acima',
    aviso: 1,
    durante: '5m',
    unidade: 's',
    oQue: 'A parte {parte} do processo {processo} demora a dar atenção a quem chega.',
    fazer: 'Falta processador: dê mais núcleos e processos (NFSE_PROCESSOS), ou veja o que mais roda na máquina.',
  },
];

/** A trouble that was found. `valor`: the judged value. */
export type Finding = {
  readonly check: Check;
  readonly gravidade: Gravidade;
  readonly labels: Labels;
  readonly valor: number;
};

/** The value by which a check judges a gauge; undefined: another gauge that it needs is missing. `now`: milliseconds. */
export function judgedValue(
  check: Check,
  { value, labels }: Sample,
  all: readonly Sample[],
  now: number,
): number | undefined {
  if (check.como !== 'parte') {
    if (check.como === 'valor') return value;
    return check.como === 'idade' ? now / 1_000 - value : value - now / 1_000;
  }
  const whole = all.find((one) => one.name === check.de && isSame(one.labels, labels));
  return whole === undefined || whole.value === 0 ? undefined : value / whole.value;
}

function isSame(one: Labels, other: Labels): boolean {
  return Object.keys(one).every((name) => one[name] === other[name]);
}

/** All troubles, the most severe first. */
export function judge(samples: readonly Sample[], now: number): readonly Finding[] {
  const found = CHECKS.flatMap((check) =>
    samples
      .filter(({ name }) => name === check.medida)
      .flatMap((sample): readonly Finding[] => {
        const valor = judgedValue(check, sample, samples, now);
        const gravidade = valor === undefined ? undefined : GRAVIDADES.find((one) => isBeyond(check, one, valor));
        return gravidade === undefined ? [] : [{ check, gravidade, labels: sample.labels, valor: valor! }];
      }),
  );
  return GRAVIDADES.flatMap((gravidade) => found.filter((one) => one.gravidade === gravidade));
}

function isBeyond({ lado, ...limits }: Check, gravidade: Gravidade, valor: number): boolean {
  const limit = limits[gravidade];
  if (limit === undefined) return false;
  return lado === 'acima' ? valor > limit : valor < limit;
}

/** A text with its label placeholders filled in. */
export function fillLabels(text: string, labels: Labels): string {
  return text.replaceAll(/\{(\w+)\}/g, (whole, name) => labels[name] ?? whole);
}
