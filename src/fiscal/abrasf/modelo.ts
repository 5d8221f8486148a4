/**
 * The two shapes in which the model is in use, told apart by the namespace of the question (D-218). The schema of ABRASF 1.00 has one
 * namespace for everything. Other schemas, such as SpeedGov's, give each message a namespace of its own (`…/consultar_nfse_envio_v1.xsd`).
 * There the answer's root and its direct children are in the answer's namespace (`…/consultar_nfse_resposta_v1.xsd`). All deeper elements
 * are in `…/tipos_v1.xsd`.
 */
import { escapeAttribute } from '../layout/escape.ts';

export type Modelo = {
  /** Namespace of the answer's root and of its direct children; empty if the question had none. */
  readonly resposta: string;
  /** Namespace of all deeper elements and of `ListaMensagemRetorno`; the same if one namespace serves everything. */
  readonly tipos: string;
};

/** `xxx_envio_v1.xsd` after any address: the address, and the version. */
const MENSAGEM = /^(.*[/:])?([^/:]*)_envio(_v\d+\.xsd)$/;

/** The shape of an answer. `namespace`: the one of the question's root. */
export function modeloOf(namespace: string): Modelo {
  const [isOwn, address = '', name, version] = MENSAGEM.exec(namespace) ?? [];
  if (isOwn === undefined) return { resposta: namespace, tipos: namespace };
  return { resposta: `${address}${name}_resposta${version}`, tipos: `${address}tipos${version}` };
}

/** Whether each message has a namespace of its own. */
export function isSeparado({ resposta, tipos }: Modelo): boolean {
  return resposta !== tipos;
}

/** The namespace declaration of the answer's root; empty if there is no namespace. */
export function xmlnsResposta({ resposta }: Modelo): string {
  return resposta === '' ? '' : declaration(resposta);
}

/** The namespace declaration of an element where the contents begin; empty if the root's namespace is theirs. */
export function xmlnsTipos(modelo: Modelo): string {
  return isSeparado(modelo) ? declaration(modelo.tipos) : '';
}

/**
 * The attribute `versao`. The schema of ABRASF 1.00 requires it of a note, its cancellation and its replacement; the other shape has none.
 */
export function versaoOf(modelo: Modelo): string {
  return isSeparado(modelo) ? '' : ' versao="1.00"';
}

function declaration(namespace: string): string {
  return ` xmlns="${escapeAttribute(namespace)}"`;
}
