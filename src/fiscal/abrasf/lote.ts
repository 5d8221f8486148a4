/** Reads the lot of RPS and the queries of ABRASF 1.00. Faults against the model are found before anything is judged. */
import type { Elemento } from '../layout/tree.ts';
import { ownOf } from '../own.ts';
import { type Esquema, esquemaOf, listEstranhos } from './esquema.ts';
import { MENSAGENS_MAX, type Mensagem, mensagemOf, mensagemOfFalta, rpsNamed } from './mensagens.ts';
import { bare, type FaltaRps, type IdentificacaoRps, identificacaoOf, type Rps, readRps } from './rps.ts';

/** RPS in one lot: all of them are issued in one transaction. */
export const LOTE_RPS_MAX = 500;

/** `QuantidadeRps` has room for 4 digits. */
const QUANTIDADE = /^\d{1,4}$/;

export type RpsDoLote = {
  /** `Rps`, which holds the signature of the RPS. */
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

/** The elements of each document that this port takes. Those of an `InfRps` are checked with each RPS. */
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

/** The elements of a document that its schema does not have. */
export function estranhosOf(root: Elemento): readonly Mensagem[] {
  const esquema = ownOf(ESQUEMAS, root.name);
  if (esquema === undefined) return [];
  return listEstranhos(root, esquema).map(({ detalhe }) => mensagemOf('E160', '', detalhe));
}

/** Reads `EnviarLoteRpsEnvio`. */
export function readLote(root: Elemento): Lote | { readonly mensagens: readonly Mensagem[] } {
  const [loteRps, ...others] = childrenOf(root, 'LoteRps');
  if (root.name !== 'EnviarLoteRpsEnvio' || loteRps === undefined || others.length > 0) {
    return { mensagens: [mensagemOf('E160', '', `Esperava-se EnviarLoteRpsEnvio com um LoteRps; veio ${root.name}.`)] };
  }
  const elements = childrenOf(loteRps, 'ListaRps').flatMap((lista) => childrenOf(lista, 'Rps'));
  const ofHead = [...headMensagens(loteRps, elements.length)];
  if (ofHead.length > 0) return { mensagens: ofHead };
  const head = {
    numero: bare(textOf(loteRps, 'NumeroLote')!),
    cnpj: textOf(loteRps, 'Cnpj')!,
    inscricaoMunicipal: textOf(loteRps, 'InscricaoMunicipal'),
  };
  const read = elements.map(readRpsOfLote);
  const mensagens = [...rpsMensagens(read, head).take(MENSAGENS_MAX)];
  if (mensagens.length === MENSAGENS_MAX) mensagens[MENSAGENS_MAX - 1] = mensagemOf('E49');
  return mensagens.length > 0 ? { mensagens } : { loteRps, ...head, rps: read.filter(isIdentified) };
}

/** Faults in the fields of a lot, its RPS aside. */
function* headMensagens(loteRps: Elemento, rpsCount: number): Generator<Mensagem> {
  const [numero, cnpj, quantidade] = ['NumeroLote', 'Cnpj', 'QuantidadeRps'].map((name) => textOf(loteRps, name));
  if (numero === undefined) yield mensagemOf('E88');
  else if (!/^\d{1,15}$/.test(numero)) yield mensagemOf('E160', '', `NumeroLote: ${numero.slice(0, 40)}.`);
  if (cnpj === undefined) yield mensagemOf('E46');
  else if (!CNPJ.test(cnpj)) yield mensagemOf('E149', '', `(${cnpj.slice(0, 40)})`);
  if (rpsCount === 0) yield mensagemOf('E160', '', 'ListaRps não traz nenhum Rps.');
  if (rpsCount > LOTE_RPS_MAX) {
    yield mensagemOf('E160', '', `Um lote leva até ${LOTE_RPS_MAX} RPS, e este traz ${rpsCount}.`);
  }
  if (quantidade === undefined) yield mensagemOf('E151');
  else if (!QUANTIDADE.test(quantidade)) yield mensagemOf('E72', '', `(${quantidade.slice(0, 40)})`);
  else if (Number(quantidade) !== rpsCount) {
    yield mensagemOf('E69', '', `QuantidadeRps é ${bare(quantidade)}, e a lista tem ${rpsCount}.`);
  }
}

/** An RPS as far as it could be read. `sobre`: its name in a message. */
type RpsRead = Pick<RpsDoLote, 'elemento'> &
  Partial<RpsDoLote> & { readonly sobre: string; readonly faltas: readonly FaltaRps[] };

function readRpsOfLote(elemento: Elemento, place: number): RpsRead {
  const where = `RPS na posição ${place + 1} do lote`;
  const [infRps, more] = childrenOf(elemento, 'InfRps');
  if (infRps === undefined || more !== undefined) return { elemento, sobre: where, faltas: [] };
  const { rps, faltas } = readRps(infRps);
  const identificacao = identificacaoOf(rps);
  return identificacao === undefined
    ? { elemento, infRps, rps, faltas, sobre: where }
    : { elemento, infRps, rps, faltas, identificacao, sobre: rpsNamed(identificacao) };
}

function isIdentified(one: RpsRead): one is RpsRead & RpsDoLote {
  return one.identificacao !== undefined;
}

/** Faults of the RPS of a lot, each by itself and against those before it. */
function* rpsMensagens(
  read: readonly RpsRead[],
  { cnpj, inscricaoMunicipal: im }: PrestadorAsked,
): Generator<Mensagem> {
  const seen = new Set<string>();
  const replaced = new Set<string>();
  for (const { rps, identificacao, sobre, faltas } of read) {
    if (rps === undefined) {
      yield mensagemOf('E160', sobre, 'Esperava-se um InfRps.');
      continue;
    }
    for (const falta of faltas) yield mensagemOfFalta(falta, sobre);
    const own = rps.get('Prestador/Cnpj');
    if (own !== undefined && own !== cnpj) yield mensagemOf('E159', sobre);
    const ownIm = rps.get('Prestador/InscricaoMunicipal');
    if (im !== undefined && ownIm !== undefined && plainRegistration(im) !== plainRegistration(ownIm))
      yield mensagemOf('E70', sobre);
    if (identificacao === undefined) continue;
    // A DPS has no type: of two RPS with the same series and number only one could be issued.
    const key = `${identificacao.serie}/${identificacao.numero}`;
    if (seen.has(key)) yield mensagemOf('E71', sobre);
    seen.add(key);
    const substituido = identificacaoOf(rps, 'RpsSubstituido');
    if (substituido === undefined) continue;
    const named = rpsNamed(substituido);
    if (replaced.has(named)) yield mensagemOf('E7', sobre, `Outro RPS deste lote também substitui o ${named}.`);
    replaced.add(named);
  }
}

export const CNPJ = /^[0-9A-Z]{14}$/;

export type PrestadorAsked = { readonly cnpj: string; readonly inscricaoMunicipal: string | undefined };

/** The provider that a query names. */
export function prestadorOf(root: Elemento): PrestadorAsked | { readonly mensagens: readonly Mensagem[] } {
  const [prestador] = childrenOf(root, 'Prestador');
  const cnpj = prestador && textOf(prestador, 'Cnpj');
  if (cnpj === undefined) return { mensagens: [mensagemOf('E46')] };
  const inscricaoMunicipal = prestador && textOf(prestador, 'InscricaoMunicipal');
  return CNPJ.test(cnpj)
    ? { cnpj, inscricaoMunicipal }
    : { mensagens: [mensagemOf('E149', '', `(${cnpj.slice(0, 40)})`)] };
}

/** Text of an element below this one, without surrounding space; undefined if it is empty or missing. */
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
export function plainRegistration(im: string): string {
  return bare(im.replace(/[^0-9A-Za-z]/g, ''));
}
