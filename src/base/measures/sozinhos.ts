/** Work that runs by itself, each with its measure, its alert and its page. */
import type { MetricName } from './metrics.ts';

export type Sozinho = {
  /** Name of the work in the worker, or in the code that does it. */
  readonly trabalho: string;
  readonly oQue: string;
  readonly medida: MetricName;
  readonly alerta: string;
  /** Page in `docs/site`, with its section. */
  readonly pagina: string;
};

const row = (trabalho: string, oQue: string, medida: MetricName, alerta: string, pagina: string): Sozinho => ({
  ...{ trabalho, oQue, medida, alerta, pagina },
});
/** Periodic work has one measure, with its name as a label. */
const repetido = (trabalho: string, oQue: string, pagina: string): Sozinho =>
  row(trabalho, oQue, 'nfse_trabalho_atraso_seconds', 'NfseTrabalhoAtrasado', pagina);

export const SOZINHOS: readonly Sozinho[] = [
  row(
    'notas',
    'leva notas ao ADN',
    'nfse_espera_mais_antiga_seconds',
    'NfseNotasEsperando',
    'operacao.md#acompanhar-a-transmissão',
  ),
  row(
    'eventos',
    'leva eventos ao ADN',
    'nfse_espera_mais_antiga_seconds',
    'NfseNotasEsperando',
    'operacao.md#acompanhar-a-transmissão',
  ),
  row(
    'lotes',
    'julga os lotes do serviço SOAP',
    'nfse_espera_mais_antiga_seconds',
    'NfseNotasEsperando',
    'operacao.md#o-serviço-soap-legado',
  ),
  row(
    'retidas',
    'solta notas quando a alíquota chega',
    'nfse_notas_retidas',
    'NfseNotasRetidas',
    'operacao.md#as-alíquotas-do-ibs-e-da-cbs',
  ),
  row(
    'mudancas',
    'dá às mudanças o seu lugar na ordem',
    'nfse_mudancas_sem_lugar',
    'NfseMudancasSemLugar',
    'mudancas.md',
  ),
  row(
    'auditoria',
    'dá às entradas o seu lugar na corrente',
    'nfse_auditoria_espera_seconds',
    'NfseAuditoriaParada',
    'auditoria.md',
  ),
  row(
    'selos',
    'sela o dia que passou',
    'nfse_auditoria_selo_timestamp_seconds',
    'NfseAuditoriaSemSelo',
    'auditoria.md#selos',
  ),
  row(
    'avisos',
    'leva avisos a webhooks',
    'nfse_trabalho_espera_seconds',
    'NfseTrabalhoEsperando',
    'webhooks.md#quando-um-aviso-não-é-aceito',
  ),
  row(
    'avisos_lentos',
    'leva avisos a endereços que demoram',
    'nfse_trabalho_espera_seconds',
    'NfseTrabalhoEsperando',
    'webhooks.md#quando-um-aviso-não-é-aceito',
  ),
  row(
    'avisos mortos',
    'desiste de um aviso que ninguém aceita',
    'nfse_entregas',
    'NfseAvisosDesistidos',
    'webhooks.md#quando-um-aviso-não-é-aceito',
  ),
  row(
    'exportacoes',
    'faz os arquivos pedidos',
    'nfse_trabalho_espera_seconds',
    'NfseTrabalhoEsperando',
    'listas.md#o-mês-do-contador-zip-de-xml-ou-pdf',
  ),
  repetido('esperas', 'adianta o que um relógio atrasado deixou longe', 'operacao.md#acompanhar-a-transmissão'),
  repetido('guarda', 'apaga o que passou do prazo de guarda', 'operacao.md#limites-e-a-guarda-dos-ensaios'),
  repetido('compressao', 'comprime documentos de notas no fim', 'crescer.md'),
  repetido('nomes', 'aprende os nomes que a busca acha', 'painel.md'),
  repetido('nomes_antigos', 'aprende os nomes que um outro programa deixou', 'painel.md'),
  repetido('receita', 'soma as notas nos seus meses', 'painel.md'),
  repetido('aliquotas', 'avisa da alíquota que falta', 'operacao.md#as-alíquotas-do-ibs-e-da-cbs'),
  repetido('meses_fechados', 'avisa o município do mês que se fechou', 'webhooks.md#o-mês-que-se-fechou'),
  repetido('meses', 'cria as tabelas dos próximos meses', 'operacao.md#as-tabelas-de-cada-mês'),
  row(
    'meses feitos',
    'os que já têm tabelas',
    'nfse_meses_adiante',
    'NfseMesesPorCriar',
    'operacao.md#as-tabelas-de-cada-mês',
  ),
  repetido('auditoria', 'abre as correntes', 'auditoria.md#selos'),
  row(
    'transmissão',
    'o laço que faz tudo isto',
    'nfse_transmissor_volta_timestamp_seconds',
    'NfseTransmissaoParada',
    'operacao.md#acompanhar-a-transmissão',
  ),
  row(
    'cópia',
    'a última, que um agendador pede',
    'nfse_copia_base_timestamp_seconds',
    'NfseCopiaVelha',
    'copias.md#vigiar',
  ),
  row(
    'cópia conferida',
    'a última que voltou inteira, que um agendador pede',
    'nfse_copia_conferida_timestamp_seconds',
    'NfseCopiaSemConferir',
    'copias.md#vigiar',
  ),
  row(
    'cópia contínua',
    'leva o WAL do banco embutido à pasta das cópias; o de um PostgreSQL seu, é ele que leva',
    'nfse_copia_espera_seconds',
    'NfseCopiaParada',
    'copias.md#vigiar',
  ),
  row(
    'cópia inteira',
    'confere que nenhum segmento falta',
    'nfse_copia_faltas',
    'NfseCopiaComBuraco',
    'copias.md#vigiar',
  ),
  row(
    'vigia',
    'lê o que estas medidas dizem',
    'nfse_leitura_em_dia',
    'NfseLeituraEmFalta',
    'vigiar.md#o-que-não-se-vê-não-está-bem',
  ),
  row(
    'município fechado',
    'uma mudança, ou uma restauração, que ficou no meio',
    'nfse_municipio_fechado',
    'NfseMunicipioFechado',
    'copias.md#restaurar',
  ),
];
