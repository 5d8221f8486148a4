/**
 * The parts of a bundle about the note itself: the received document, the authorised note, the calculation, and the exchange with the ADN.
 */

import type { Municipio } from '../../base/book/municipios.ts';
import type { NotaRow } from '../../base/book/nota-columns.ts';
import { momentOfNota } from '../../base/world/gather-facts.ts';
import { sentAsStored } from '../../base/world/sent-documents.ts';
import type { World } from '../../base/world/world.ts';
import { readOwnNote } from '../../documents/own-note.ts';
import { readOwnXml, readXml } from '../../documents/xml.ts';
import { readLote } from '../../fiscal/abrasf/lote.ts';
import { attributeOf } from '../../fiscal/layout/tree.ts';
import { isoMoment } from '../../fiscal/moment.ts';
import { NOTA_ESTADOS } from '../../fiscal/nota.ts';
import type { NotaStep } from '../notas/notas.rows.ts';
import { notaByChave } from '../notas/queries.ts';
import { judgeAgain } from '../notas/validate.ts';
import { findAssinado } from './assinado-xml.ts';
import { gatherCadeia } from './cadeia.ts';
import { type ArquivoDoConjunto, jsonFile, type Parte, type Respostas, respostaNome, respostasOf } from './partes.ts';
import { gatherRecebido } from './recebido.ts';

type On = {
  readonly world: Pick<World, 'store' | 'now' | 'programa'>;
  readonly municipio: Municipio;
  readonly row: NotaRow;
};

const refOf = ({ id, mes }: NotaRow) => ({ id, mes });

/** The provider's document, and its signer. */
export async function gatherDeclaracao({ world, municipio, row }: On): Promise<Parte> {
  const { tenant } = municipio;
  const at = row.data_emissao.getTime();
  const [recebida, lote] = await Promise.all([
    world.store.evidencia.readRecebida(tenant, refOf(row)),
    world.store.evidencia.findLote(tenant, row.id),
  ]);
  const { recebido, recebido_assinatura, confianca } = recebida!;
  const titulo = 'O que o prestador declarou, como chegou';
  if (lote === undefined) {
    const oQue = 'A declaração (DPS), byte a byte como foi recebida.';
    const declaracao = { pasta: '1-declaracao', nome: 'declaracao', oQue, bytes: recebido };
    const made = await gatherRecebido(world, municipio, {
      ...declaracao,
      assinatura: recebido_assinatura,
      confianca,
      at,
    });
    return { titulo, ...made };
  }
  const { ordem, protocolo, numero_lote } = lote;
  const made = await gatherRecebido(world, municipio, {
    pasta: '1-declaracao',
    nome: 'lote',
    oQue: `O lote de RPS número ${numero_lote}, protocolo ${protocolo}, como foi recebido no serviço SOAP legado: esta nota é a do RPS de número de ordem ${ordem + 1} nele.`,
    bytes: lote.recebido,
    assinatura: null,
    confianca: lote.confianca,
    at: lote.recebido_em.getTime(),
    choose: (parents) => {
      const root = readLoteRoot(lote.recebido);
      const rps = root?.[ordem];
      return (
        parents.find(({ name }) => name === 'EnviarLoteRpsEnvio') ??
        parents.find(({ index }) => index === rps) ??
        parents[0]
      );
    },
  });
  const declaracao = {
    nome: '1-declaracao/declaracao.xml',
    conteudo: recebido,
    oQue: 'A declaração (DPS) que o serviço fez desse RPS. Não é assinada: a assinatura do prestador está no lote.',
  };
  return { titulo, ...made, arquivos: [...made.arquivos, declaracao] };
}

/** Places of the elements of a lot's RPS, in their order. */
function readLoteRoot(recebido: Buffer): readonly number[] | undefined {
  const reading = readXml(recebido);
  const lote = 'fault' in reading ? undefined : readLote(reading.root);
  return lote === undefined || 'mensagens' in lote ? undefined : lote.rps.map(({ elemento }) => elemento.index);
}

/** The NFS-e, with the signature of the municipality after it was sent. */
export async function gatherNfse({ world, municipio, row }: On): Promise<Parte> {
  const titulo = 'A nota (NFS-e)';
  const { nota } = (await notaByChave(world, municipio, row.chave_acesso))!;
  const isAuthorised = !NOTA_ESTADOS[row.estado].chave_acesso_provisoria;
  const conteudo = Buffer.from(isAuthorised ? nota.xml_nota : row.nfse);
  const arquivo = {
    nome: '2-nota/nfse.xml',
    conteudo,
    oQue: isAuthorised
      ? row.assinatura === null
        ? 'A NFS-e, como foi autorizada no ensaio.'
        : 'A NFS-e, como o ambiente nacional (ADN) a guarda.'
      : 'A NFS-e, como o serviço a fez. O ADN não a autorizou, ou ainda não respondeu.',
  };
  const found = findAssinado(conteudo, (parents) => parents.find(({ name }) => name === 'NFSe'));
  if (found === undefined) {
    const paragrafos = [
      isAuthorised
        ? 'Esta nota não traz assinatura do município: foi emitida num ambiente de ensaio, de que nada sai.'
        : 'Só a nota autorizada traz a assinatura do município.',
    ];
    return { titulo, paragrafos, arquivos: [arquivo], conferencias: [] };
  }
  const pasta = '2-nota';
  const at = (row.data_autorizacao ?? row.data_emissao).getTime();
  const cadeia = await gatherCadeia(world, municipio, {
    pasta,
    certificate: found.certificate,
    at,
    confianca: 'própria',
  });
  return {
    titulo,
    paragrafos: ['A assinatura é a do município que emitiu a nota.', ...cadeia.paragrafos],
    arquivos: [arquivo, ...cadeia.arquivos],
    conferencias: [found.conferencia(arquivo.nome, `${pasta}/signatario.pem`), ...cadeia.conferencias],
  };
}

/** The calculation of the amounts, with the versions of rules and rates and the remarks. */
export async function gatherCalculo(
  { world, municipio, row }: On,
  trilha: readonly NotaStep[],
  respostas: Respostas,
): Promise<Parte> {
  const { store } = world;
  const { recebido } = (await store.evidencia.readRecebida(municipio.tenant, refOf(row)))!;
  const { programa, avisos } = readJulgamento(respostas.get(1));
  const segundo = findSegundoJulgamento(trilha, respostas);
  const ended = row.estado === 'recusada' ? trilha.at(-1)?.gatilho : undefined;
  const [judged, imports] = await Promise.all([
    judgeAgain(world, municipio, sentAsStored(recebido), row.data_emissao.getTime()),
    store.aliquotas.listImports(),
  ]);
  const versao = row.tabela_aliquotas;
  const tabela = imports.find((one) => one.versao === versao);
  const rows = versao === null ? [] : await store.aliquotas.readVersao(versao);
  const { mensagem_retorno } = row;
  const isRefused = 'faults' in judged;
  const nfse = Buffer.from(row.nfse);
  const ler = readOwnNote(nfse);
  const calculo = {
    valores_da_nota: {
      valor_servico: ler('DPS/infDPS/valores/vServPrest/vServ') ?? null,
      valor_base_calculo: ler('valores/vBC') ?? null,
      aliquota_issqn: ler('valores/pAliqAplic') ?? null,
      valor_issqn: ler('valores/vISSQN') ?? null,
    },
    versoes: {
      programa_que_emitiu: programa,
      ...(segundo && { programa_que_a_completou: segundo.programa }),
      programa_escrito_na_nota: ler('verAplic') ?? null,
      leiaute: attributeOf(readOwnXml(nfse), 'versao') ?? null,
      tabela_de_aliquotas_ibs_cbs: versao,
      tabela_importada_em: tabela?.em.toISOString() ?? null,
      arquivo_da_tabela: tabela?.arquivo ?? null,
    },
    erros_na_emissao: [],
    avisos_na_emissao: programa === null ? null : avisos,
    recusa_do_adn: ended === 'recusa' ? mensagem_retorno : null,
    recusa_pelo_calculo: ended === 'divergencia' ? mensagem_retorno : null,
    refeito_hoje: {
      programa: world.programa ?? null,
      ...(isRefused ? { erros: judged.faults } : { avisos: judged.avisos, passos: judged.calculo }),
    },
  };
  return {
    titulo: 'Como se chegou aos valores',
    paragrafos: [
      'Os valores são os que estão na nota, e foram calculados quando ela foi emitida. Nada se emite com erro: se há nota, nenhuma regra a recusou naquele momento. Uma declaração recusada não vira nota, e dela não se guarda documento.',
      programa === null ? NOT_KEPT : KEPT,
      ...(trilha[0]?.gatilho === 'retencao' ? [describeRetida(segundo)] : []),
      isRefused
        ? 'O cálculo não se refaz hoje: o cadastro ou as regras do programa mudaram desde então, e o que hoje se diria está no arquivo, em refeito_hoje. Vale o que está na nota.'
        : 'Os passos, em refeito_hoje, foram refeitos para este conjunto, com o que o cadastro e as tabelas dizem hoje do dia da emissão.',
    ],
    arquivos: [
      jsonFile(
        '3-calculo/calculo.json',
        calculo,
        'Valores, versões de regras e tabelas, avisos da emissão, e cada passo do cálculo.',
      ),
      ...julgamentosOf(trilha, respostas),
      ...(versao === null
        ? []
        : [
            jsonFile(
              '3-calculo/aliquotas.json',
              rows,
              `As alíquotas do IBS e da CBS da versão ${versao} da tabela, por que a nota foi julgada, com a fonte e o ato de cada uma.`,
            ),
          ]),
    ],
    conferencias: [],
  };
}

/** Moves by a later judgement of this service: the rates for a held note were published. */
const JULGADA_OUTRA_VEZ: ReadonlySet<string> = new Set(['publicacao', 'divergencia']);

type Passo = { readonly gatilho: string };

/** Whether the document of a move is this service's judgement rather than the ADN's answer. */
function isJulgamento(movimento: number, { gatilho }: Passo): boolean {
  return movimento === 1 || JULGADA_OUTRA_VEZ.has(gatilho);
}

/** The file name of the document that is stored with a move of a note. */
export function guardadoNome(movimento: number, passo: Passo): string {
  if (!isJulgamento(movimento, passo)) return respostaNome('4-adn', movimento, passo);
  return `3-calculo/julgamento${movimento === 1 ? '' : `-${movimento}`}.txt`;
}

function julgamentosOf(trilha: readonly NotaStep[], respostas: Respostas): readonly ArquivoDoConjunto[] {
  return trilha.flatMap((passo, place) => {
    const movimento = place + 1;
    const text = respostas.get(movimento);
    if (text === undefined || !isJulgamento(movimento, passo)) return [];
    const oQue =
      movimento === 1
        ? 'O programa que a emitiu e os avisos, como se guardaram.'
        : `O programa que a julgou outra vez, como se guardou com o movimento ${movimento}.`;
    return [{ nome: guardadoNome(movimento, passo), conteudo: Buffer.from(text), oQue }];
  });
}

type SegundoJulgamento = { readonly movimento: number; readonly programa: string | null };

/** Undefined: the note was not held, is still held, or was withdrawn. */
function findSegundoJulgamento(trilha: readonly NotaStep[], respostas: Respostas): SegundoJulgamento | undefined {
  const place = trilha.findIndex(({ gatilho }) => JULGADA_OUTRA_VEZ.has(gatilho));
  return place < 0 ? undefined : { movimento: place + 1, programa: respostas.get(place + 1) ?? null };
}

function describeRetida(segundo: SegundoJulgamento | undefined): string {
  if (segundo === undefined) {
    return 'A nota foi retida: faltava uma alíquota, que ninguém tinha publicado, e não chegou a ser julgada outra vez. O que está em julgamento.txt é de quando foi emitida; do IBS e da CBS, o documento não traz o que dependia dessa alíquota.';
  }
  const { movimento, programa } = segundo;
  const second =
    programa === null
      ? 'De que programa fez esse segundo julgamento não há registro: a nota é de antes de se guardar.'
      : `O programa que fez esse segundo julgamento está em julgamento-${movimento}.txt, e em programa_que_a_completou.`;
  return `A nota foi retida, porque faltava uma alíquota que ninguém tinha publicado, e julgada duas vezes. Quando foi emitida (movimento 1), em tudo o que não dependia dessa alíquota: disso falam julgamento.txt, programa_que_emitiu e os avisos. E quando a alíquota foi importada (movimento ${movimento}), só no IBS e na CBS, pela versão da tabela dita em calculo.json. ${second}`;
}

/** The document of a note's first move, written by `describeJulgamento`. */
function readJulgamento(text: string | undefined): { readonly programa: string | null; readonly avisos: unknown } {
  const [programa = null, avisos = '[]'] = text?.split('\n') ?? [];
  return { programa, avisos: JSON.parse(avisos) };
}

const KEPT =
  'Com a nota se guardou o programa que a julgou: versão e commit, o código com que se acha, no repositório público, o texto das regras, do leiaute e dos catálogos nacionais daquele dia; e os avisos que a emissão respondeu, como foram ditos (avisos_na_emissao; vazio: não houve nenhum). Estão entre as linhas provadas no histórico de auditoria, no fim desta página.';
const NOT_KEPT =
  'Esta nota é de antes de se guardar com ela o commit do programa e os avisos da emissão: do programa fica o que está escrito na nota.';

/** The exchange with the national environment. */
export async function gatherTroca(
  { world, municipio, row }: On,
  trilha: readonly NotaStep[],
  answers: Respostas,
): Promise<Parte> {
  const troca = (await world.store.evidencia.readTroca(municipio.tenant, refOf(row)))!;
  const moment = (instant: Date | null): string | null =>
    instant && isoMoment(momentOfNota(row.chave_acesso, instant.getTime()));
  const passos = trilha.filter(({ gatilho }) => EXCHANGE.has(gatilho));
  const isLocal = row.assinatura === null && row.data_autorizacao !== null;
  const respostas = respostasOf('4-adn', trilha, ofTheAdn(trilha, answers));
  return {
    titulo: 'O que se trocou com o ambiente nacional (ADN)',
    paragrafos: isLocal
      ? ['Neste ambiente de ensaio quem autoriza é o próprio serviço: nada foi enviado ao ADN.']
      : passos.length === 0
        ? ['Nada foi enviado ao ADN ainda.']
        : [SENT, respostas.length > 0 ? ANSWERED : UNANSWERED],
    arquivos: [
      jsonFile(
        '4-adn/troca.json',
        {
          numero_de_recepcao: troca.nsu_recepcao,
          maior_numero_conhecido_antes_do_envio: troca.nsu_antes,
          autorizada_em: moment(troca.data_autorizacao),
          cancelada_em: moment(troca.data_cancelamento),
          mensagem_de_retorno: row.mensagem_retorno,
          assinatura_enviada: row.assinatura?.toString('base64') ?? null,
          passos: passos.map(({ em, ...passo }) => ({ em: moment(em), ...passo })),
        },
        'Os envios e as respostas, com os seus momentos e números.',
      ),
      ...respostas,
    ],
    conferencias: [],
  };
}

function ofTheAdn(trilha: readonly NotaStep[], respostas: Respostas): Respostas {
  return new Map([...respostas].filter(([movimento]) => !isJulgamento(movimento, trilha[movimento - 1]!)));
}

const SENT =
  'O que se envia ao ADN é o documento 2-nota/nfse.xml, byte a byte, comprimido (gzip) e em Base64, num lote com outras notas (POST /adn/DFe), numa conexão TLS em que o município mostra o certificado com que também assina.';
const ANSWERED =
  'De cada resposta está aqui o texto, como veio, com o que ele dizia das outras notas do lote retirado da lista Lote. A primeira linha de cada arquivo é do serviço: o status HTTP e o endereço que respondeu; um traço onde não veio resposta, e abaixo o porquê; ou «consulta», onde o ADN, perguntado, mostrou o documento. Cada texto está na linha do seu movimento, provada no histórico de auditoria, no fim desta página. O ADN tem o seu próprio registro, que se pede a ele pela chave de acesso e pelo número de recepção.';
const UNANSWERED =
  'O texto de uma resposta não está guardado: ou não veio ainda nenhuma, ou a nota é de antes de se guardarem. Ficam a decisão, o número de recepção, o momento e, na recusa, os códigos e os textos. O ADN tem o seu próprio registro, que se pede a ele pela chave de acesso e pelo número de recepção.';

/** Moves that record a transmission to the ADN or its answer. */
const EXCHANGE: ReadonlySet<string> = new Set([
  'anuncio',
  'autorizacao',
  'recusa',
  'adiamento',
  'espera',
  'cancelamento',
]);
