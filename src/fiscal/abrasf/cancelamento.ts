/** The request to cancel a note, read from `CancelarNfseEnvio`: its content, its faults by the model, and the event that it asks for. */
import type { Elemento } from '../layout/tree.ts';
import { ownOf } from '../own.ts';
import { CNPJ, childrenOf, textOf } from './lote.ts';
import { type Mensagem, mensagemOf } from './mensagens.ts';
import type { Modelo } from './modelo.ts';
import type { PedidoDeCancelamento } from './nota.ts';

export type PedidoLido = {
  /** `Pedido`, which holds the signature. */
  readonly pedido: Elemento;
  /** `InfPedidoCancelamento`. */
  readonly inf: Elemento;
  readonly dito: PedidoDeCancelamento;
};

export function readPedido(root: Elemento): PedidoLido | { readonly mensagens: readonly Mensagem[] } {
  const refused = (codigo: string, detalhe = '') => ({ mensagens: [mensagemOf(codigo, '', detalhe)] });
  const [pedido, ...others] = childrenOf(root, 'Pedido');
  const [inf, ...more] = pedido === undefined ? [] : childrenOf(pedido, 'InfPedidoCancelamento');
  if (pedido === undefined || inf === undefined || others.length + more.length > 0) {
    return refused('E160', 'Esperava-se um Pedido com um InfPedidoCancelamento.');
  }
  const [numero, cnpj, inscricaoMunicipal, codigoMunicipio] = [
    'Numero',
    'Cnpj',
    'InscricaoMunicipal',
    'CodigoMunicipio',
  ].map((name) => textOf(inf, `IdentificacaoNfse/${name}`));
  const codigo = textOf(inf, 'CodigoCancelamento');
  if (numero === undefined) return refused('E77');
  if (!/^\d{1,15}$/.test(numero)) return refused('E136');
  if (cnpj === undefined) return refused('E46');
  if (!CNPJ.test(cnpj)) return refused('E149');
  if (codigoMunicipio === undefined) return refused('E160', 'Falta CodigoMunicipio em IdentificacaoNfse.');
  if (codigo === undefined) return refused('E160', 'Falta CodigoCancelamento.');
  if (!/^[0-9A-Za-z]{1,4}$/.test(codigo)) return refused('E160', 'CodigoCancelamento tem até 4 letras ou dígitos.');
  return { pedido, inf, dito: { numero, cnpj, inscricaoMunicipal, codigoMunicipio, codigo } };
}

/** The reasons of the model's later versions, and of the national event. */
const MOTIVOS: Readonly<Record<string, readonly [codigo: string, descricao: string]>> = {
  '1': ['1', 'Erro na emissão da nota'],
  '2': ['2', 'Serviço não prestado'],
  '4': ['9', 'Nota emitida em duplicidade'],
};

/** The national reason of a `CodigoCancelamento`, with its description. */
export function motivoOf(codigo: string): readonly [codigo: string, descricao: string] {
  return ownOf(MOTIVOS, codigo) ?? ['9', `Cancelamento pedido pelo código ${codigo}`];
}

const NAMES =
  /^InfPedidoCancelamento IdentificacaoNfse Numero Cnpj( InscricaoMunicipal)? CodigoMunicipio CodigoCancelamento$/;

/** Whether the request follows the schema of the answer; requests are read in any order and any namespace. */
export function isPedidoWhole(inf: Elemento, { tipos }: Modelo): boolean {
  const all = (one: Elemento): readonly Elemento[] => [one, ...one.children.flatMap(all)];
  const elements = all(inf);
  return (
    NAMES.test(elements.map(({ name }) => name).join(' ')) &&
    elements.every(
      ({ namespace, children, text }) => namespace === tipos && (children.length > 0 || text.trim() !== ''),
    )
  );
}
