/**
 * The two shapes in which the model is in use, told apart by the namespace of the question. The schema of ABRASF 1.00 has one namespace for
 * everything. Where each message has a namespace of its own (`…/consultar_nfse_envio_v1.xsd`, as SpeedGov's schemas do), only the answer's
 * root and what stands right in it are in that of the answer (`…/consultar_nfse_resposta_v1.xsd`), and the rest in `…/tipos_v1.xsd`.
 */
import { escapeAttribute } from '../layout/escape.ts';

export type Modelo = {
  /** Namespace of the answer's root and of what stands right in it; empty where the question had none. */
  readonly resposta: string;
  /** Of all that stands deeper, and of `ListaMensagemRetorno`; the same where there is one for everything. */
  readonly tipos: string;
};

/** `xxx_envio_v1.xsd` of some address: the address, and the version. */
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

/** The declaration of the answer's root; empty where there is no namespace. */
export function xmlnsResposta({ resposta }: Modelo): string {
  return resposta === '' ? '' : declaration(resposta);
}

/** The declaration of an element where the contents begin; empty where the root's namespace is theirs. */
export function xmlnsTipos(modelo: Modelo): string {
  return isSeparado(modelo) ? declaration(modelo.tipos) : '';
}

/** The attribute `versao`, which the schema of ABRASF 1.00 demands of a note, its cancellation and its replacement; the other has none. */
export function versaoOf(modelo: Modelo): string {
  return isSeparado(modelo) ? '' : ' versao="1.00"';
}

function declaration(namespace: string): string {
  return ` xmlns="${escapeAttribute(namespace)}"`;
}
