/** The JSON in which the national environment takes its documents, compressed and in Base64; only the national door opens it. */
import type { Fault } from '../fault.ts';
import type { JsonDocument } from './json-value.ts';

/** `dpsXmlGZipB64`, `pedidoRegistroEventoXmlGZipB64`, `LoteXmlGZipB64`. */
export function isNationalEnvelope(name: string): boolean {
  return ENVELOPE.test(name);
}

const ENVELOPE = /^[A-Za-z]{0,40}XmlGZipB64$/i;

/** Both ways of a document: the path of the national door below the municipality, and what its address takes in place of it. */
type Caminhos = { readonly porta: string; readonly aqui: string };

/** The one fault of a body that holds a document of the national API. `also`: further names that only such a body has. */
function findNationalEnvelope(
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

/** The fault of a body that holds a DPS of the national API: no signature of it would help. */
export function refusePackedDps(document: JsonDocument): Fault | undefined {
  return findNationalEnvelope(document, {
    porta: '/SefinNacional/nfse',
    aqui: 'a DPS vai inteira, sem gzip nem Base64: o XML assinado como corpo, com Content-Type: application/xml, ou os campos dela em JSON',
  });
}

/** Groups of the national document that a program turned into properties. */
const NATIONAL_ROOTS: ReadonlySet<string> = new Set(['evento', 'infEvento', 'pedRegEvento', 'infPedReg']);

/** The fault of a body that holds the request of an event as the national API takes it. */
export function refusePackedPedido(document: JsonDocument): Fault | undefined {
  const caminhos = {
    porta: '/SefinNacional/nfse/{chave_acesso}/eventos',
    aqui: 'o evento se registra pelos campos dele em JSON: tipo_evento e os do tipo, que /catalogo/motivos_evento lista',
  };
  return findNationalEnvelope(document, caminhos, NATIONAL_ROOTS);
}
