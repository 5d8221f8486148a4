/**
 * The lot of RPS and the questions of ABRASF 1.00 read from their documents, with what the model finds wrong in them before
 * anything is judged.
 */
import type { Elemento } from '../layout/tree.ts';
import { ownOf } from '../own.ts';
import { type Esquema, esquemaOf, estranhos } from './esquema.ts';
import { MENSAGENS_MAX, type Mensagem, mensagemOf, mensagemOfFalta, rpsNamed } from './mensagens.ts';
import { bare, type IdentificacaoRps, identificacaoOf, type Rps, readRps } from './rps.ts';

/** More are not taken in one lot: all of them are issued in one transaction. */
export const LOTE_RPS_MAX = 500;

/** `QuantidadeRps` has room for 4 digits. */
const QUANTIDADE = /^\d{1,4}$/;

export type RpsDoLote = {
  /** `Rps`, in which the signature of the RPS stands. */
  readonly elemento: Elemento;
  readonly infRps: Elemento;
  readonly rps: Rps;
  readonly identificacao: IdentificacaoRps;
};

export type Lote = {
  readonly loteRps: Elemento;
  readonly numero: string;
  readonly cnpj: string;
  readonly inscricaoMunicipal: string | undefined;
  readonly rps: readonly RpsDoLote[];
};

const ASSINATURA = { path: 'Signature', aberto: true } as const;
const PRESTADOR = [{ path: 'Prestador/Cnpj' }, { path: 'Prestador/InscricaoMunicipal' }] as const;
const CPF_CNPJ = ['CpfCnpj/Cpf', 'CpfCnpj/Cnpj', 'InscricaoMunicipal'] as const;
const RPS = ['Numero', 'Serie', 'Tipo'].map((name) => ({ path: `IdentificacaoRps/${name}` }));

/** What may stand in each document that is sent here; what may stand in an `InfRps` is told of each RPS. */
const ESQUEMAS: Readonly<Record<string, Esquema>> = {
  EnviarLoteRpsEnvio: esquemaOf([
    ...['NumeroLote', 'Cnpj', 'InscricaoMunicipal', 'QuantidadeRps'].map((name) => ({ path: `LoteRps/${name}` })),
    { path: 'LoteRps/ListaRps/Rps*/InfRps', aberto: true },
    { path: 'LoteRps/ListaRps/Rps*/Signature', aberto: true },
    ASSINATURA,
  ]),
  ConsultarSituacaoLoteRpsEnvio: esquemaOf([...PRESTADOR, { path: 'Protocolo' }, ASSINATURA]),
  ConsultarLoteRpsEnvio: esquemaOf([...PRESTADOR, { path: 'Protocolo' }, ASSINATURA]),
  ConsultarNfseRpsEnvio: esquemaOf([...RPS, ...PRESTADOR, ASSINATURA]),
  ConsultarNfseEnvio: esquemaOf([
    ...PRESTADOR,
    { path: 'NumeroNfse' },
    { path: 'PeriodoEmissao/DataInicial' },
    { path: 'PeriodoEmissao/DataFinal' },
    ...CPF_CNPJ.map((path) => ({ path: `Tomador/${path}` })),
    ...CPF_CNPJ.map((path) => ({ path: `IntermediarioServico/${path}` })),
    { path: 'IntermediarioServico/RazaoSocial' },
    ASSINATURA,
  ]),
  CancelarNfseEnvio: esquemaOf([
    ...['Numero', 'Cnpj', 'InscricaoMunicipal', 'CodigoMunicipio'].map((name) => ({
      path: `Pedido/InfPedidoCancelamento/IdentificacaoNfse/${name}`,
    })),
    { path: 'Pedido/InfPedidoCancelamento/CodigoCancelamento' },
    { path: 'Pedido/Signature', aberto: true },
    ASSINATURA,
  ]),
};

/** What of a document does not belong there, by the schema of its name. */
export function estranhosOf(root: Elemento): readonly Mensagem[] {
  const esquema = ownOf(ESQUEMAS, root.name);
  if (esquema === undefined) return [];
  return estranhos(root, esquema).map(({ detalhe }) => mensagemOf('E160', '', detalhe));
}

/** Reads `EnviarLoteRpsEnvio`. */
export function readLote(root: Elemento): Lote | { readonly mensagens: readonly Mensagem[] } {
  const mensagens: Mensagem[] = [];
  const [loteRps, ...others] = childrenOf(root, 'LoteRps');
  if (root.name !== 'EnviarLoteRpsEnvio' || loteRps === undefined || others.length > 0) {
    return { mensagens: [mensagemOf('E160', '', `Esperava-se EnviarLoteRpsEnvio com um LoteRps; veio ${root.name}.`)] };
  }
  const say = (codigo: string, sobre?: string, detalhe?: string): void => {
    if (mensagens.length < MENSAGENS_MAX) mensagens.push(mensagemOf(codigo, sobre, detalhe));
  };
  const [numero, cnpj, im, quantidade] = ['NumeroLote', 'Cnpj', 'InscricaoMunicipal', 'QuantidadeRps'].map((name) =>
    textOf(loteRps, name),
  );
  if (numero === undefined) say('E88');
  else if (!/^\d{1,15}$/.test(numero)) say('E160', '', `NumeroLote: ${numero.slice(0, 40)}.`);
  if (cnpj === undefined) say('E46');
  else if (!CNPJ.test(cnpj)) say('E149', '', `(${cnpj.slice(0, 40)})`);
  const elements = childrenOf(loteRps, 'ListaRps').flatMap((lista) => childrenOf(lista, 'Rps'));
  if (elements.length === 0) say('E160', '', 'ListaRps não traz nenhum Rps.');
  if (elements.length > LOTE_RPS_MAX)
    say('E160', '', `Um lote leva até ${LOTE_RPS_MAX} RPS, e este traz ${elements.length}.`);
  if (quantidade === undefined) say('E151');
  else if (!QUANTIDADE.test(quantidade)) say('E72', '', `(${quantidade.slice(0, 40)})`);
  else if (Number(quantidade) !== elements.length) {
    say('E69', '', `QuantidadeRps é ${bare(quantidade)}, e a lista tem ${elements.length}.`);
  }
  if (mensagens.length > 0) return { mensagens };

  const seen = new Set<string>();
  const replaced = new Set<string>();
  const rps: RpsDoLote[] = [];
  for (const [place, elemento] of elements.entries()) {
    const [infRps, more] = childrenOf(elemento, 'InfRps');
    const where = `RPS na posição ${place + 1} do lote`;
    if (infRps === undefined || more !== undefined) {
      say('E160', where, 'Esperava-se um InfRps.');
      continue;
    }
    const read = readRps(infRps);
    const identificacao = identificacaoOf(read.rps);
    const sobre = identificacao === undefined ? where : rpsNamed(identificacao);
    for (const falta of read.faltas)
      if (mensagens.length < MENSAGENS_MAX) mensagens.push(mensagemOfFalta(falta, sobre));
    const own = read.rps.get('Prestador/Cnpj');
    if (own !== undefined && own !== cnpj) say('E159', sobre);
    const ownIm = read.rps.get('Prestador/InscricaoMunicipal');
    if (im !== undefined && ownIm !== undefined && plain(im) !== plain(ownIm)) say('E70', sobre);
    if (identificacao === undefined) continue;
    // The DPS has no type: of two with one series and number only one could be issued.
    const key = `${identificacao.serie}/${identificacao.numero}`;
    if (seen.has(key)) say('E71', sobre);
    seen.add(key);
    const substituido = identificacaoOf(read.rps, 'RpsSubstituido');
    if (substituido !== undefined) {
      const named = rpsNamed(substituido);
      if (replaced.has(named)) say('E7', sobre, `Outro RPS deste lote também substitui o ${named}.`);
      replaced.add(named);
    }
    rps.push({ elemento, infRps, rps: read.rps, identificacao });
  }
  if (mensagens.length >= MENSAGENS_MAX) mensagens.splice(MENSAGENS_MAX - 1, mensagens.length, mensagemOf('E49'));
  return mensagens.length > 0
    ? { mensagens }
    : { loteRps, numero: bare(numero!), cnpj: cnpj!, inscricaoMunicipal: im, rps };
}

const CNPJ = /^[0-9A-Z]{14}$/;

export type PrestadorAsked = { readonly cnpj: string; readonly inscricaoMunicipal: string | undefined };

/** Who asks, in the documents of the questions. */
export function prestadorOf(root: Elemento): PrestadorAsked | { readonly mensagens: readonly Mensagem[] } {
  const [prestador] = childrenOf(root, 'Prestador');
  const cnpj = prestador && textOf(prestador, 'Cnpj');
  if (cnpj === undefined) return { mensagens: [mensagemOf('E46')] };
  const inscricaoMunicipal = prestador && textOf(prestador, 'InscricaoMunicipal');
  return CNPJ.test(cnpj)
    ? { cnpj, inscricaoMunicipal }
    : { mensagens: [mensagemOf('E149', '', `(${cnpj.slice(0, 40)})`)] };
}

/** Text of a child without the space around it; empty is the same as nothing. */
export function textOf(element: Elemento, path: string): string | undefined {
  let place: Elemento | undefined = element;
  for (const step of path.split('/')) place = place?.children.find(({ name }) => name === step);
  const text = place?.text.trim();
  return text === '' ? undefined : text;
}

export function childrenOf(element: Elemento, name: string): readonly Elemento[] {
  return element.children.filter((child) => child.name === name);
}

/** Municipal registrations are compared without punctuation or zeros on the left. */
export function plain(im: string): string {
  return bare(im.replace(/[^0-9A-Za-z]/g, ''));
}
