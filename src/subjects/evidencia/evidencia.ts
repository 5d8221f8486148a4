/**
 * The evidence bundle of a note: all its stored data, with a page of checks by `openssl` and `xmlsec1` alone. The digest of every file is
 * signed by the municipality, if it has a certificate. The trail records the operator who makes a bundle.
 */
import { hash, sign as signBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { PLACED_MAX } from '../../base/book/auditoria-elos.ts';
import type { Municipio } from '../../base/book/municipios.ts';
import type { NotaRow } from '../../base/book/nota-columns.ts';
import { momentOfNota, tellMoment } from '../../base/world/gather-facts.ts';
import { municipioNamed, type RegistryWorld } from '../../base/world/municipios.ts';
import { noNota, type PorMao, type Problem, readMotivo } from '../../base/world/operator.ts';
import type { World } from '../../base/world/world.ts';
import { loadSigner } from '../../documents/key-files.ts';
import { readOwnNote, UNSIGN_BY_SED } from '../../documents/own-note.ts';
import type { Signer } from '../../documents/signing.ts';
import { makeZipEnd, makeZipPiece } from '../../documents/zip-pieces.ts';
import { whyNoChave } from '../../fiscal/chave.ts';
import { groupDecimal } from '../../fiscal/group-digits.ts';
import { NOTA_ESTADOS } from '../../fiscal/nota.ts';
import type { NotaStep } from '../notas/notas.rows.ts';
import { gatherAuditoria, type LinhaProvada, type Trazido } from './auditoria.ts';
import { type Cadeia, gatherCadeia } from './cadeia.ts';
import { contradicoesOf, parteOf } from './contradicoes.ts';
import { type EventoComTrilha, gatherEventos, pastaOfEvento } from './eventos.ts';
import { type LeiaMe, leiaMeHtml, leiaMeText, type Resumo } from './leia-me.ts';
import { gatherCalculo, gatherDeclaracao, gatherNfse, gatherTroca, guardadoNome } from './nota.ts';
import { type ArquivoDoConjunto, jsonFile, type Parte, type Respostas, respostaNome } from './partes.ts';
import { gatherTrilha } from './trilha.ts';

/** `arquivos`: number of files; `contradicoes`: one sentence for each contradiction between its documents and the database. */
export type Evidencia = {
  readonly nome: string;
  readonly zip: Buffer;
  readonly arquivos: number;
  readonly contradicoes: readonly string[];
};

type EvidenciaWorld = RegistryWorld & Pick<World, 'programa'>;

/** Throws an Error in Portuguese when there is no such municipality. */
export async function makeEvidencia(
  world: EvidenciaWorld,
  slug: string,
  chave: string,
  by: PorMao,
): Promise<Evidencia | Problem> {
  const read = readMotivo(by);
  if ('problem' in read) return read;
  const municipio = await municipioNamed(world, slug);
  const problem = whyNoChave(chave);
  if (problem !== undefined) return { problem };
  const row = await world.store.notas.findByChave(municipio.tenant, chave);
  if (row === undefined) return { problem: noNota(slug) };
  await placeAll(world, municipio.tenant);
  const { recebido } = (await world.store.evidencia.readRecebida(municipio.tenant, row))!;
  const contradicoes = contradicoesOf(municipio, row, recebido);
  const partes = [...describeContradicoes(contradicoes), ...(await gatherPartes(world, municipio, row))];
  const feito = { em: tellMoment(chave, new Date(world.now())), por: by.quem };
  const signer = await signerOf(world, municipio);
  const entries = assemble(
    { chave, dados: dadosOf(municipio, row, feito), partes },
    signer && { signer, cadeia: await cadeiaOf(world, municipio, signer) },
  );
  const ato = {
    objeto: 'nota',
    chave,
    acao: 'evidência extraída',
    depois: { arquivos: entries.length, ...(contradicoes.length > 0 && { contradicoes }) },
  } as const;
  const { quem, via } = by;
  await world.store.atos.record(municipio.tenant, [{ em: world.now(), quem, via, motivo: read.motivo, ...ato }]);
  const piece = makeZipPiece(entries, 0, momentOfNota(chave, world.now()));
  const totals = { entradas: piece.entradas, bytes: piece.conteudo.length, diretorio: piece.diretorio.length };
  const zip = Buffer.concat([piece.conteudo, piece.diretorio, makeZipEnd(totals)]);
  return { nome: `evidencia-${chave}.zip`, zip, arquivos: entries.length, contradicoes };
}

/** The page tells contradictions first: not all the data below them can be true. */
function describeContradicoes(contradicoes: readonly string[]): readonly Parte[] {
  if (contradicoes.length === 0) return [];
  const titulo = 'ATENÇÃO: este conjunto se contradiz';
  const paragrafos = [CONTRADICTED, ...contradicoes.map((one) => `Contradição. ${one}.`), CONTRADICTED_WHY];
  return [{ titulo, paragrafos, arquivos: [], conferencias: [] }];
}

const CONTRADICTED =
  'A NFS-e, o que o prestador declarou e a linha do banco deviam dizer o mesmo, e não dizem. O que está assinado (a declaração, pelo prestador; a NFS-e autorizada, pelo município) vale mais do que o que não está; de cada assinatura há a conferência abaixo.';
const CONTRADICTED_WHY =
  'Documentos e banco são escritos juntos quando a nota é emitida: um deles foi mudado depois, por fora do serviço. O que a corrente de auditoria prova de cada linha está no fim desta página, e o município diz o resto com nfse auditoria verificar.';

/** Attempts to place rows in the audit chain, whose end the service may have locked. */
const PLACED_TRIES = 20;
const PLACED_AGAIN_MS = 100;

/** Rows written a moment ago still wait for their place in the audit chain. */
async function placeAll({ store }: RegistryWorld, tenant: string): Promise<void> {
  for (let tries = 0; tries < PLACED_TRIES; tries += 1) {
    while ((await store.auditoria.place(tenant)) === PLACED_MAX);
    const state = await store.auditoria.readState(tenant);
    if (state === undefined || state.semLugarDesde === null) return;
    await wait(PLACED_AGAIN_MS);
  }
}

async function gatherPartes(world: EvidenciaWorld, municipio: Municipio, row: NotaRow): Promise<readonly Parte[]> {
  const { store } = world;
  const { tenant } = municipio;
  const on = { world, municipio, row };
  const [respostas, trilha, eventos, substitutas, lote] = await Promise.all([
    store.evidencia.readRespostas(tenant, 'nota', row),
    store.notas.listTrail(tenant, row),
    store.eventos.listOf(tenant, row.chave_acesso, {}),
    store.evidencia.listSubstitutas(tenant, row.chave_acesso),
    store.evidencia.findLote(tenant, row.id),
  ]);
  const inOrder: EventoComTrilha[] = [];
  for (const one of (eventos ?? []).toSorted((one, other) => Number(one.id) - Number(other.id))) {
    const [moves, answers] = await Promise.all([
      store.eventos.listTrail(tenant, one),
      store.evidencia.readRespostas(tenant, 'evento', one),
    ]);
    inOrder.push({ row: one, trilha: moves, respostas: answers });
  }
  const partes = [
    await gatherDeclaracao(on),
    await gatherNfse(on),
    await gatherCalculo(on, trilha, respostas),
    await gatherTroca(on, trilha, respostas),
    ...(await gatherEventos(world, municipio, inOrder)),
    ...substituicaoOf(row, substitutas),
    await gatherTrilha(world, municipio, row, { trilha, eventos: inOrder.map((one) => one.row.id) }),
  ];
  const files = new Map(partes.flatMap(({ arquivos }) => arquivos.map(({ nome, conteudo }) => [nome, conteudo])));
  const linhas = [
    ...linhasOf(row, { trilha, respostas }, inOrder, files),
    ...(lote === undefined
      ? []
      : [
          {
            ...{ tabela: 'documentos_lotes' as const, chave: [lote.id, String(lote.mes)], desde: lote.recebido_em },
            ...{ oQue: 'O documento do lote, pelo seu resumo', traz: [{ nome: '1-declaracao/lote.xml' }] },
          },
        ]),
  ];
  return [...partes, await gatherAuditoria(world, municipio, linhas)];
}

/** The rows that the audit chain proves: the note, its documents, each move, and the same of its events. `files`: of the bundle. */
function linhasOf(
  { id, mes, data_emissao, nfse }: NotaRow,
  { trilha, respostas }: Movida,
  eventos: readonly EventoComTrilha[],
  files: ReadonlyMap<string, Buffer>,
): readonly LinhaProvada[] {
  const chave = [id, String(mes)];
  const received = (nome: string): readonly Trazido[] =>
    ['xml', 'json'].flatMap((ending) => (files.has(`${nome}.${ending}`) ? [{ nome: `${nome}.${ending}` }] : []));
  const moved = trilha.at(-1)?.em ?? data_emissao;
  return [
    { tabela: 'notas', chave, oQue: 'A nota, como foi emitida', desde: data_emissao },
    { tabela: 'notas_estado', chave, oQue: 'A situação da nota', desde: moved },
    {
      ...{ tabela: 'documentos', chave, oQue: 'Os documentos da nota, pelos seus resumos', desde: data_emissao },
      traz: [...received('1-declaracao/declaracao'), ...notaOf(files, Buffer.from(nfse))],
    },
    ...movesOf('trilha_notas', chave, { trilha, respostas }, { nomeOf: guardadoNome, of: 'da nota' }),
    ...eventos.flatMap(({ row, trilha: moves, respostas: answers }, place): readonly LinhaProvada[] => {
      const [ofEvento, pasta] = [[row.id, String(row.mes)], pastaOfEvento(row, place + 1)];
      const of = `evento ${place + 1}`;
      const nomeOf: NomeOf = (movimento, passo) => respostaNome(pasta, movimento, passo);
      return [
        { tabela: 'eventos', chave: [row.id], oQue: `O ${of}`, desde: moves.at(-1)?.em ?? row.criado_em },
        {
          ...{ tabela: 'documentos_eventos', chave: ofEvento, oQue: `Os documentos do ${of}`, desde: row.criado_em },
          traz: received(`${pasta}/pedido/pedido`),
        },
        ...movesOf('trilha_eventos', ofEvento, { trilha: moves, respostas: answers }, { nomeOf, of: `do ${of}` }),
      ];
    }),
  ];
}

const NOTA = '2-nota/nfse.xml';
const UNSIGNED = 'nota-sem-assinatura.xml';

/** The note as in its row, without the municipality's later signature. */
function notaOf(files: ReadonlyMap<string, Buffer>, nfse: Buffer): readonly Trazido[] {
  const nota = files.get(NOTA)!;
  if (nota.equals(nfse)) return [{ nome: NOTA }];
  const end = '</NFSe>';
  if (!nota.toString().startsWith(`${nfse.toString().slice(0, -end.length)}<Signature `)) return [];
  const feitoPor = `sed '${UNSIGN_BY_SED}' ${NOTA} > ${UNSIGNED}`;
  return [{ nome: UNSIGNED, oQue: `${NOTA}, sem a assinatura do município, que veio depois`, feitoPor }];
}

/** Moves, with the answers to them. */
type Movida = {
  readonly trilha: readonly (NotaStep | EventoComTrilha['trilha'][number])[];
  readonly respostas: Respostas;
};

/** The file name of the document that is stored with a move. */
type NomeOf = (movimento: number, passo: { readonly gatilho: string }) => string;

function movesOf(
  tabela: 'trilha_notas' | 'trilha_eventos',
  chave: readonly string[],
  { trilha, respostas }: Movida,
  { nomeOf, of }: { readonly nomeOf: NomeOf; readonly of: string },
): readonly LinhaProvada[] {
  return trilha.map((passo, place) => ({
    ...{ tabela, chave: [...chave, String(place + 1)], oQue: `O movimento ${place + 1} ${of}`, desde: passo.em },
    traz: respostas.has(place + 1) ? [{ nome: nomeOf(place + 1, passo) }] : undefined,
  }));
}

/** The replaced notes and the substitutes, which have bundles of their own. */
function substituicaoOf({ substitui }: NotaRow, substitutas: readonly string[]): readonly Parte[] {
  if (substitui === null && substitutas.length === 0) return [];
  const arquivo = jsonFile(
    '5-eventos/substituicao.json',
    { substitui, substituida_por: substitutas },
    'As chaves das notas que esta substitui ou que a substituem. Cada uma tem o seu próprio conjunto, que se pede ao município.',
  );
  return [{ titulo: 'Substituição', paragrafos: [], arquivos: [arquivo], conferencias: [] }];
}

function dadosOf(
  { tenant, codigoIbge, ambiente }: Municipio,
  row: NotaRow,
  feito: { readonly em: string; readonly por: string },
): LeiaMe['dados'] {
  const nfse = Buffer.from(row.nfse);
  const ler = readOwnNote(nfse);
  return [
    ['Município', `${tenant}${codigoIbge === undefined ? '' : ` (código IBGE ${codigoIbge})`}`],
    ['Ambiente', ambiente === 'producao' ? 'produção' : 'ensaio: não é documento fiscal'],
    ['Protocolo', row.numero_protocolo],
    ['Emitida em', tellMoment(row.chave_acesso, row.data_emissao)],
    // The values of the note itself, since no signature covers the columns beside it.
    ['Prestador', parteOf(nfse, 'emit') ?? 'não informado'],
    ['Tomador', parteOf(nfse, 'DPS/infDPS/toma') ?? 'não informado'],
    ['Valor do serviço', `R$ ${groupDecimal(ler('DPS/infDPS/valores/vServPrest/vServ') ?? row.valor_servico)}`],
    ['Situação', `${row.estado}: ${NOTA_ESTADOS[row.estado].significado}`],
    ['Conjunto feito em', `${feito.em}, por ${feito.por}`],
  ];
}

/**
 * The signer of a municipality; undefined: it has no certificate, or none that is valid now. Throws when the certificate cannot be read.
 */
async function signerOf({ now }: RegistryWorld, { adn }: Municipio): Promise<Signer | undefined> {
  if (adn === undefined) return undefined;
  const signer = await loadSigner(adn.chaves);
  const { inicio, fim } = signer.certificate;
  return inicio <= now() && now() <= fim ? signer : undefined;
}

/** The trust behind the signature of the bundle. */
function cadeiaOf(world: EvidenciaWorld, municipio: Municipio, { certificate }: Signer): Promise<Cadeia> {
  return gatherCadeia(world, municipio, { pasta: 'municipio', certificate, at: world.now(), confianca: 'própria' });
}

type Assinante = { readonly signer: Signer; readonly cadeia: Cadeia };

type Entry = Pick<ArquivoDoConjunto, 'nome' | 'conteudo'>;

const SUMS = 'SHA256SUMS';

function assemble(leiaMe: LeiaMe, by: Assinante | undefined): readonly Entry[] {
  const resumo = resumoOf(by?.cadeia);
  const pages = [
    { nome: 'LEIA-ME.html', conteudo: Buffer.from(leiaMeHtml(leiaMe, resumo)) },
    { nome: 'LEIA-ME.txt', conteudo: Buffer.from(leiaMeText(leiaMe, resumo)) },
  ];
  const inside = [...(by === undefined ? [] : [by.cadeia]), ...leiaMe.partes].flatMap(({ arquivos }) => arquivos);
  const files: readonly Entry[] = [...pages, ...inside];
  const sums = Buffer.from(files.map(({ nome, conteudo }) => `${hash('sha256', conteudo)}  ${nome}\n`).join(''));
  const signature =
    by === undefined ? [] : [{ nome: `${SUMS}.assinatura`, conteudo: signBytes('sha256', sums, by.signer.key) }];
  return [...files, { nome: SUMS, conteudo: sums }, ...signature].map(({ nome, conteudo }) => ({ nome, conteudo }));
}

function resumoOf(cadeia: Cadeia | undefined): Resumo {
  const whole = {
    oQue: 'Nenhum arquivo falta nem mudou',
    comando: `sha256sum --strict -c ${SUMS}`,
    resposta: 'OK',
  };
  const signed = {
    oQue: 'A lista dos resumos é a que o município assinou',
    comando: `openssl x509 -in municipio/signatario.pem -pubkey -noout > publica.pem && openssl dgst -sha256 -verify publica.pem -signature ${SUMS}.assinatura ${SUMS}`,
    resposta: 'Verified OK',
  };
  return {
    titulo: 'Primeiro: o conjunto está inteiro',
    paragrafos: [
      `${SUMS} traz o SHA-256 de cada arquivo deste conjunto, também desta página. Uma linha para cada arquivo, e todas terminam com OK (ou SUCESSO).`,
      ...(cadeia === undefined
        ? [
            'Este município não tem certificado com que assinar o conjunto: quem o entrega responde por ele. Anote o SHA-256 do ZIP quando o receber.',
          ]
        : [
            `${SUMS}.assinatura é a assinatura do município sobre essa lista, feita quando o conjunto foi feito; o certificado dele e quem responde por ele estão em municipio.`,
            ...cadeia.paragrafos,
          ]),
    ],
    conferencias: cadeia === undefined ? [whole] : [whole, signed, ...cadeia.conferencias],
  };
}
