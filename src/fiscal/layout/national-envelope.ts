/** The JSON in which the national environment takes its documents, compressed and in Base64; only the national door opens it. */
import type { Fault } from '../fault.ts';
import type { JsonDocument } from './json-value.ts';

/** `dpsXmlGZipB64`, `pedidoRegistroEventoXmlGZipB64`, `LoteXmlGZipB64`. */
export function isNationalEnvelope(name: string): boolean {
  return ENVELOPE.test(name);
}

const ENVELOPE = /^[A-Za-z]{0,40}XmlGZipB64$/i;

/** Both ways of a document: the path of the national door below the municipality, and what its address takes in place of it. */
export type Caminhos = { readonly porta: string; readonly aqui: string };

/** The one fault of a body that holds a document of the national API. `also`: further names that only such a body has. */
export function findNationalEnvelope(
  { value, positionOf }: JsonDocument,
  { porta, aqui }: Caminhos,
  also: ReadonlySet<string> = new Set(),
): Fault | undefined {
  if (value.kind !== 'object') return undefined;
  const member = value.members.find(({ name }) => isNationalEnvelope(name) || also.has(name));
  if (member === undefined) return undefined;
  const { name, offset } = member;
  const what = isNationalEnvelope(name) ? 'o envelope' : 'do documento';
  const mensagem = `${name} é ${what} da API do ambiente nacional, que este endereço não recebe. Há dois caminhos: o envelope vai, como está, a POST /{municipio}${porta}; ou aqui ${aqui}, e /docs/migrar o abre e diz o que muda.`;
  return { codigo: 'E0010', xpath: '', campo: name, mensagem, encontrado: `"${name}"`, ...positionOf(offset) };
}
