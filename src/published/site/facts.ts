/**
 * Facts of the tables for the documentation pages: dates, limits, tables, names. A page names one of these in double braces
 * (`{{limite-corpo}}`) and never repeats it. A name outside these facts and the door's is an error, and so is a fact that no page uses.
 *
 * Each is Markdown. Nothing is decided here.
 */

import { ALERTS } from '../../base/measures/alerts.ts';
import { METRICS, type Metric, MUNICIPIOS_MAX } from '../../base/measures/metrics.ts';
import { SOZINHOS } from '../../base/measures/sozinhos.ts';
import { IDEMPOTENCY_HEADER, REPEATED_HEADER } from '../../base/world/idempotency.ts';
import { PROXIMA_MAX_MS } from '../../base/world/proxima-consulta.ts';
import { DPS_SIGNATURE_HEADER, EVENTO_SIGNATURE_HEADER } from '../../base/world/sent-documents.ts';
import { LOTE_RPS_MAX } from '../../fiscal/abrasf/lote.ts';
import { MENSAGENS_MAX } from '../../fiscal/abrasf/mensagens.ts';
import {
  type Aliquota,
  AVISO_DIAS,
  aliquotaGeral,
  type TabelaIbsCbs,
  tabelaEmbarcada,
} from '../../fiscal/aliquotas-ibs-cbs.ts';
import {
  AMBIENTES,
  type Ambiente,
  ANSWERS_KEPT_MIN_HOURS,
  BYTES_POR_DOCUMENTO,
  CADASTRO_LIDO_MS,
  SANDBOX_SLUG,
} from '../../fiscal/ambiente.ts';
import { aliquotasIbsCbs, municipioInWords } from '../../fiscal/catalogs/catalogs.ts';
import { CRONOGRAMA } from '../../fiscal/cronograma.ts';
import { type Decimal, formatDecimal, formatRate, parseRate } from '../../fiscal/decimal.ts';
import { ERRORS } from '../../fiscal/errors.ts';
import { DEPTH_MAX, TEXT_LENGTH_MAX } from '../../fiscal/erros-adn.ts';
import {
  AGUARDANDO_MAX_MS,
  DESFECHOS_EVENTO,
  EVENTO_ESTADOS,
  EVENTO_RETRIES_MAX,
  PENDENTE_MAX_MS,
} from '../../fiscal/evento.ts';
import { LISTED_MAX } from '../../fiscal/fault.ts';
import { groupDigits } from '../../fiscal/group-digits.ts';
import { FOREIGN_TAGS } from '../../fiscal/layout/dps.ts';
import { VERSOES } from '../../fiscal/layout/layouts.ts';
import { FAULTS_MAX } from '../../fiscal/layout/reading.ts';
import type { Leaf } from '../../fiscal/layout/vocabulary.ts';
import { brazilianDate } from '../../fiscal/moment.ts';
import { NOTA_ESTADOS } from '../../fiscal/nota.ts';
import { TOLERANCIA } from '../../fiscal/rules/ibscbs-declarado.ts';
import { ME_EPP_COMPETENCIA_MIN, ME_EPP_FONTE, MEI_COMPETENCIA_MAX } from '../../fiscal/rules/prest.ts';
import { PISCOFINS_TOLERANCE } from '../../fiscal/rules/trib-fed.ts';
import { SIMULAR_HEADER, valoresDe } from '../../fiscal/simular.ts';
import { type AutorEvento, exemploDe, TIPOS_EVENTO, type TipoEvento } from '../../fiscal/tipos-evento.ts';
import { upperFirst } from '../../fiscal/words.ts';
import { AVISO_GUARDA_DIAS } from '../../subjects/avisos/tempos.ts';
import { SEGREDO_ANTERIOR_HORAS } from '../../subjects/avisos/webhooks.ts';
import { OPERACOES } from '../../subjects/lotes/porto.ts';
import { RPS_SIGNATURES_MAX } from '../../subjects/lotes/porto-assinaturas.ts';
import { NOTAS_MAX } from '../../subjects/lotes/porto-consultas.ts';
import { DIFERENCAS } from '../api-nacional.ts';
import { elementAt } from '../layout/elements.ts';
import { layoutMarkdown } from '../layout/markdown.ts';
import { code, fenceCode, joinItems, nameTable, table } from '../markdown.ts';
import { projectText } from '../project-text.ts';
import { soapMarkdown } from '../soap.ts';
import { ACOES } from '../states.ts';
import { programVersion, versionOf } from '../versao.ts';
import { ATAQUES } from './files.ts';
import { mudancasMarkdown, regrasMarkdown } from './mudancas.ts';

/** Facts by their name in the pages. `tabela`: the rates in force. */
export type Facts = Readonly<Record<string, (tabela?: TabelaIbsCbs) => string>>;

export const LAW_FACTS: Facts = {
  integracao: () => SANDBOX_SLUG,
  'versoes-da-dps': () => VERSOES,
  'me-epp-desde': () => brazilianDate(ME_EPP_COMPETENCIA_MIN),
  'me-epp-fonte': () => ME_EPP_FONTE,
  'mei-ate': () => brazilianDate(MEI_COMPETENCIA_MAX),
  versao: () => versionOf().version,

  // Headers
  'cabecalho-assinatura-dps': () => code(DPS_SIGNATURE_HEADER),
  'cabecalho-assinatura-evento': () => code(EVENTO_SIGNATURE_HEADER),
  'cabecalho-chave': () => code(IDEMPOTENCY_HEADER),
  'cabecalho-repetida': () => code(REPEATED_HEADER),
  'cabecalho-simular': () => code(SIMULAR_HEADER),

  // Limits
  'limite-documento': () => `${BYTES_POR_DOCUMENTO / 1024} KiB`,
  'tabela-limites-envio': () => ambientesTable('Documentos enviados', LIMITES_ROWS),
  'guarda-ensaio': () => `${AMBIENTES.homologacao.guardaDias} dias`,
  'cadastro-lido-ha-pouco': () => `${CADASTRO_LIDO_MS / 1_000} segundos`,
  'limite-repeticao': () => `${ANSWERS_KEPT_MIN_HOURS} horas`,
  'limite-faltas': () => String(FAULTS_MAX),
  'limite-erros': () => String(LISTED_MAX),
  'limite-tentativas-evento': () => String(EVENTO_RETRIES_MAX),
  'limite-pendente': () => `${PENDENTE_MAX_MS / 60_000} minutos`,
  'limite-aguardando': () => `${AGUARDANDO_MAX_MS / 3_600_000} horas`,
  'limite-texto-adn': () => `${TEXT_LENGTH_MAX} caracteres`,
  'limite-niveis-adn': () => `${DEPTH_MAX} níveis`,
  'tolerancia-aliquota': () => TOLERANCIA.aliquota.texto,
  'tolerancia-valor': () => TOLERANCIA.valor.texto,
  'tolerancia-piscofins': () => `R$ ${writeComma(PISCOFINS_TOLERANCE)}`,
  'espera-consulta': () =>
    `de 1 segundo a ${PROXIMA_MAX_MS === 3_600_000 ? 'uma hora' : `${PROXIMA_MAX_MS / 60_000} minutos`}`,
  'quantos-codigos': () => String(ERRORS.length),
  'tabela-comprimentos': () =>
    table(
      ['Campo da DPS', 'O que se espera'],
      COMPRIMENTOS.map((path) => [code(path), (elementAt(path) as Leaf).type.expected]),
    ),

  // Monitoring
  'municipios-com-nome': () => String(MUNICIPIOS_MAX),
  'tabela-metricas': () =>
    table(
      ['Métrica', 'Rótulos', 'O que diz'],
      Object.entries<Metric>(METRICS).map(([name, { labels, help }]) => [
        code(name),
        labels.map(code).join(', '),
        help,
      ]),
    ),
  'tabela-alertas': () =>
    table(
      ['Alerta', 'Quando', 'O que há', 'O que fazer'],
      [...Map.groupBy(ALERTS, ({ nome }) => nome)].map(([nome, some]) => [
        code(nome),
        some.map(({ gravidade, expr, durante }) => `${gravidade}: ${code(expr)} por ${durante}`).join('<br>'),
        some[0]!.oQue.replaceAll(/\{(\w+)\}/g, '*$1*'),
        some[0]!.fazer,
      ]),
    ),

  'tabela-sozinhos': () =>
    table(
      ['O que', 'Como se vê', 'O alerta', 'Onde se lê'],
      SOZINHOS.map(({ oQue, medida, alerta, pagina }) => [
        oQue,
        code(medida),
        code(alerta),
        `[${pagina.replace(/\.md.*/, '')}](${pagina})`,
      ]),
    ),

  'tabela-ataques': () =>
    table(
      ['Arquivo', 'O que há nele', 'Casos'],
      ATAQUES.map((name) => {
        const { titulo, casos } = JSON.parse(projectText(`test/ataques/${name}.json`));
        return [`[${name}](ataques-${name}.json)`, titulo, String(casos.length)];
      }),
    ),

  // States
  'tabela-estados-nota': () =>
    table(
      [
        'No desenho',
        'O que significa',
        '`nota.status`',
        '`protocolo.status`',
        '`chave_acesso_provisoria`',
        'Ainda muda por si',
      ],
      Object.entries(NOTA_ESTADOS).map(
        ([estado, { status, protocolo, chave_acesso_provisoria, significado, rests }]) => {
          const values = [status, protocolo, String(chave_acesso_provisoria)];
          return [code(estado), significado, ...values.map(code), yesOrNo(!rests)];
        },
      ),
    ),
  'tabela-estados-evento': () =>
    table(
      ['`status_evento`', 'O que significa'],
      Object.entries(EVENTO_ESTADOS).map(([estado, { significado }]) => [code(estado), significado]),
    ),
  'tabela-acoes': () => nameTable(['`acao_sugerida`', 'Quando'], ACOES),
  'tabela-desfechos-evento': () => nameTable(['`desfecho`', 'O que foi feito do evento'], DESFECHOS_EVENTO),

  // Events
  'tabela-eventos': () =>
    table(
      ['`tipo_evento`', 'Código', 'Quem registra', 'Campos além do tipo'],
      TIPOS_EVENTO.filter(({ porOficio }) => !porOficio).map((tipo) => [
        code(tipo.slug),
        tipo.codigo,
        tipo.autor === undefined ? '' : AUTORES[tipo.autor],
        fieldsOf(tipo),
      ]),
    ),
  'tabela-eventos-oficio': () =>
    table(
      ['Tipo', 'Código', 'Campos'],
      TIPOS_EVENTO.filter(({ porOficio }) => porOficio).map((tipo) => [code(tipo.slug), tipo.codigo, fieldsOf(tipo)]),
    ),
  'eventos-que-cancelam': () => joinItems(TIPOS_EVENTO.filter(({ cancela }) => cancela).map(({ slug }) => code(slug))),
  'exemplo-cancelamento': () => fenceCode('json', JSON.stringify(exemploDe(CANCELAMENTO), undefined, 2)),

  // Sandbox
  'tabela-ensaios': () =>
    table(
      ['Valor', 'O que o ADN faz'],
      valoresDe('adn').map(({ valor, significado }) => [code(valor), significado]),
    ),
  'tabela-provocacoes': () =>
    table(
      ['Valor', 'O que a API faz'],
      valoresDe('api').map(({ valor, significado }) => [code(valor), significado]),
    ),
  'tabela-ambientes': () => ambientesTable('', AMBIENTES_ROWS),

  // IBS and CBS
  'tabela-cronograma': () =>
    table(
      ['De quem é a nota, e de que serviço', 'Exigido a partir da competência'],
      CRONOGRAMA.map(({ descricao, desde }) => [upperFirst(descricao), brazilianDate(desde)]),
    ),
  'avisos-tentar': () => `${AVISO_GUARDA_DIAS.tentar} dias`,
  'avisos-segredo-anterior': () => `${SEGREDO_ANTERIOR_HORAS} horas`,
  'aviso-aliquotas': () => `${AVISO_DIAS} dias`,
  'tabela-aliquotas': (tabela = tabelaEmbarcada()) =>
    table(
      ['Tributo', 'De quem', 'De', 'Até', 'Alíquota', 'Base legal'],
      [...tabela.linhas.map(aliquotaRow), ...unpublishedRows(tabela)].toSorted(([, , a], [, , b]) =>
        compareDays(a!, b!),
      ),
    ),

  // Differences
  'tabela-api-nacional': () =>
    table(
      ['O quê', 'Na API nacional', 'Aqui'],
      Object.values(DIFERENCAS).map(({ titulo, nacional, aqui }) => [titulo, nacional, aqui]),
    ),
  'tabela-tags-antigas': () =>
    table(
      ['Tag', 'O que fazer'],
      FOREIGN_TAGS.map(({ name, within, say }) => [code(within === undefined ? name : `${within}/${name}`), say]),
    ),
  'tabela-mesmo-numero': () =>
    table(
      ['Código', 'Aqui', 'No padrão nacional'],
      ERRORS.filter(({ nacional, situacao }) => nacional !== undefined && situacao === 'enviado').map(
        ({ codigo, mensagem, nacional }) => [code(codigo), mensagem, nacional!],
      ),
    ),
  'quantas-nacionais': () => String(ERRORS.filter(({ alcance }) => alcance === 'nacional').length),

  // Legacy port
  'limite-lote-soap': () => String(LOTE_RPS_MAX),
  'limite-mensagens-soap': () => String(MENSAGENS_MAX),
  'limite-notas-soap': () => String(NOTAS_MAX),
  'limite-assinaturas-soap': () => String(RPS_SIGNATURES_MAX),
  'tabela-soap': () =>
    table(
      ['Operação', 'Documento em `parameters`', 'Documento em `return`'],
      OPERACOES.map(({ operacao, pedido, resposta }) => [operacao, pedido, resposta].map(code)),
    ),

  // Texts with a page of their own
  seguranca: () => projectText('docs/seguranca.md').replaceAll('(site/', '('),
  confiabilidade: () => projectText('docs/confiabilidade.md'),
  suites: () => projectText('docs/suites.md'),
  'soap-tabelas': () => soapMarkdown().replace(/\(erros\/[a-z-]+\.md#(E\d+)\)/g, '(/docs/erros/$1)'),
  leiaute: layoutMarkdown,
  // Files for an operator to copy, read from the tested originals
  'deploy-nginx': () => fenceCode('nginx', projectText('deploy/nginx.conf')),
  'deploy-haproxy': () => fenceCode('haproxy', projectText('deploy/haproxy.cfg')),
  'deploy-caddy': () => fenceCode('caddy', projectText('deploy/Caddyfile')),
  'deploy-servico': () => fenceCode('ini', projectText('deploy/nfse.service')),
  'deploy-socket': () => fenceCode('ini', projectText('deploy/nfse.socket')),
  'deploy-compose': () => fenceCode('yaml', projectText('deploy/compose.yaml')),
  'regras-com-data': regrasMarkdown,
  'mudancas-da-api': mudancasMarkdown,
  programa: () => code(programVersion()),
  mudancas: () => projectText('CHANGELOG.md').replaceAll('(docs/', '('),
};

/** Fields whose lengths the specification names, and fields that senders often look up. */
const COMPRIMENTOS = [
  'serie',
  'nDPS',
  'toma/NIF',
  'toma/end/endExt/cEndPost',
  'serv/locPrest/cLocPrestacao',
  'serv/cServ/cTribNac',
  'serv/cServ/xDescServ',
  'serv/cServ/cNBS',
  'serv/obra/cObra',
  'serv/obra/inscImobFisc',
  'serv/obra/cCIB',
  'serv/infoCompl/idDocTec',
  'serv/infoCompl/docRef',
  'serv/infoCompl/xInfComp',
  'valores/trib/tribMun/exigSusp/nProcesso',
  'IBSCBS/valores/trib/gIBSCBS/CST',
  'IBSCBS/valores/trib/gIBSCBS/cClassTrib',
] as const;

/** The subject of a row, and its text for an environment. */
type AmbienteRow = readonly [about: string, of: (one: (typeof AMBIENTES)[Ambiente]) => string];

function ambientesTable(head: string, rows: readonly AmbienteRow[]): string {
  return table(
    [head, 'Integração', 'Produção'],
    rows.map(([about, of]) => [about, of(AMBIENTES.homologacao), of(AMBIENTES.producao)]),
  );
}

/** The limits of the two environments, as an integrator meets them. */
const LIMITES_ROWS: readonly AmbienteRow[] = [
  ['de um endereço de rede, também os recusados', ({ limites }) => quotaText(limites.endereco, limites.janelaS)],
  ['de um prestador, de quem se sabe que é ele', ({ limites }) => quotaText(limites.prestador, limites.janelaS)],
];

/** `10.000 por dia` */
function quotaText(count: number, janelaS: number): string {
  return `${groupDigits(count)} por ${janelaS === 60 ? 'minuto' : 'dia'}`;
}

const AMBIENTES_ROWS: readonly AmbienteRow[] = [
  ['`tpAmb` da nota, qualquer que seja o enviado', ({ tpAmb }) => tpAmb],
  ['Vai ao ADN', ({ transmits }) => yesOrNo(transmits)],
  ['Sem assinatura, ou com uma errada', ({ signatureRefuses }) => (signatureRefuses ? 'recusa' : 'aceita, com aviso')],
  [
    'Prestador sem cadastro',
    ({ registersPrestador }) => (registersPrestador ? 'é criado pela DPS' : 'recusa (`E101`)'),
  ],
  [
    'Prestador não autorizado, inscrição errada',
    ({ checksAuthorization }) => (checksAuthorization ? 'recusa (`E102`, `E103`)' : 'não se confere'),
  ],
  [
    'Município de `cLocEmi`',
    ({ ownMunicipioOnly }) => (ownMunicipioOnly ? 'só o próprio (`E403`)' : 'qualquer um do país'),
  ],
  ['O que se emitiu é guardado', ({ guardaDias }) => (guardaDias === undefined ? 'sempre' : `${guardaDias} dias`)],
  [
    'Alíquota do ISSQN que ninguém informou',
    ({ fallbackAliquota }) =>
      fallbackAliquota === undefined ? 'recusa (`E0619`, `E0640`)' : `${writeComma(fallbackAliquota)} %, com um aviso`,
  ],
  [
    'Regra nacional que a especificação não nomeia',
    ({ regrasNacionais }) => (regrasNacionais === 'recusa' ? 'recusa' : 'aviso'),
  ],
  ['`GET` por identificador da DPS', ({ dpsQueryIsOpen }) => (dpsQueryIsOpen ? 'aberto' : 'só com certificado')],
  ['Marca-d’água no DANFSe', ({ watermark }) => yesOrNo(watermark)],
];

const AUTORES: Readonly<Record<AutorEvento, string>> = {
  prestador: 'prestador',
  tomador: 'tomador',
  intermediario: 'intermediário',
};

const CANCELAMENTO = TIPOS_EVENTO.find(({ slug }) => slug === 'cancelamento')!;

function fieldsOf({ campos }: TipoEvento): string {
  if (campos.length === 0) return 'nenhum';
  return campos
    .map(({ nome, obrigatorio, obrigatorioCom, opcoes }) => {
      const valores = opcoes === undefined ? '' : `: ${opcoes.map(({ codigo }) => codigo).join(', ')}`;
      const when =
        obrigatorioCom === undefined
          ? obrigatorio
            ? ''
            : ' (opcional)'
          : ` (obrigatório com ${code(obrigatorioCom.campo)} ${obrigatorioCom.valor})`;
      return `${code(nome)}${valores}${when}`;
    })
    .join('; ');
}

function aliquotaRow({ tributo, uf, municipio, cClassTrib, inicio, fim, aliquota, ato }: Aliquota): readonly string[] {
  const place = municipio === '' ? uf : municipioInWords(municipio);
  const whose = [cClassTrib === '' ? '' : `cClassTrib ${code(cClassTrib)}`, place].filter((text) => text !== '');
  const rate = formatRate(parseRate(aliquota)!).replace('.', ',');
  const until = fim === undefined ? '' : brazilianDate(fim);
  return [tributo, whose.join(', ') || 'todos', brazilianDate(inicio), until, `${rate} %`, ato];
}

/** Rates that the law leaves to an authority, and that the table lacks. */
function unpublishedRows(tabela: TabelaIbsCbs): readonly (readonly string[])[] {
  return aliquotasIbsCbs()
    .filter(
      ({ aliquota, tributo, inicio }) =>
        aliquota === undefined && aliquotaGeral(tabela, tributo, { data: inicio }) === undefined,
    )
    .map(({ tributo, inicio, fim, baseLegal }) => [
      tributo,
      'todos',
      brazilianDate(inicio),
      fim === undefined ? '' : brazilianDate(fim),
      'não publicada',
      baseLegal,
    ]);
}

/** The order of days written `DD/MM/YYYY`. */
function compareDays(a: string, b: string): number {
  const [one, other] = [a, b].map((day) => Number(day.split('/').reverse().join('')));
  return one! - other!;
}

function yesOrNo(value: boolean): string {
  return value ? 'sim' : 'não';
}

function writeComma(value: Decimal): string {
  return formatDecimal(value).replace('.', ',');
}
