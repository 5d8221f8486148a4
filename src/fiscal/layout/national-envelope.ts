/** The JSON in which the national environment takes its documents, compressed and in Base64; this service takes the documents directly. */
import type { Fault } from '../fault.ts';

/** `dpsXmlGZipB64`, `pedidoRegistroEventoXmlGZipB64`, `LoteXmlGZipB64`. */
export function isNationalEnvelope(name: string): boolean {
  return ENVELOPE.test(name);
}

const ENVELOPE = /^[A-Za-z]{0,40}XmlGZipB64$/i;

/** The one fault of such a body; `instead`: how the document is sent here. */
export function nationalEnvelope(name: string, instead: string): Fault {
  const mensagem = `${name} é ${isNationalEnvelope(name) ? 'o envelope' : 'do documento'} da API do ambiente nacional, que este serviço não recebe assim. Aqui ${instead}; /docs/migrar o abre e diz o que muda.`;
  return { codigo: 'E0010', xpath: '', campo: name, mensagem, encontrado: `"${name}"` };
}
