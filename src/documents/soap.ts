/**
 * Reads and writes SOAP envelopes, 1.1 and 1.2: the operation and the document inside. `xml.ts` reads them, with its limits.
 *
 * The document stands as text inside `parameters` (escaped or CDATA), as the service of this name publishes it. It may also stand as
 * elements in place of the text.
 */
import { escapeAttribute, escapeText } from '../fiscal/layout/escape.ts';
import type { Elemento } from '../fiscal/layout/tree.ts';
import { readXml, type XmlDocumentReading } from './xml.ts';

const SOAP_NAMESPACES = {
  '1.1': 'http://schemas.xmlsoap.org/soap/envelope/',
  '1.2': 'http://www.w3.org/2003/05/soap-envelope',
} as const;

export type SoapVersao = keyof typeof SOAP_NAMESPACES;

/** The reason why an envelope is not answered; a mistake of the client, or ours. */
export type SoapFalha = {
  readonly versao: SoapVersao;
  readonly de: 'cliente' | 'servidor' | 'versao' | 'cabecalho';
  readonly mensagem: string;
};

/** The document of an operation. */
export type SoapDocumento = {
  readonly reading: XmlDocumentReading;
  /** The document itself: the root, or an element of the envelope. */
  readonly root: Elemento;
  readonly forma: 'texto' | 'elementos';
};

/** A document that cannot be read. */
export type SoapIlegivel = {
  /** The reason, in a sentence. */
  readonly problema: string;
  /** Namespace of its root, taken from its first tag; or empty. */
  readonly namespace: string;
};

export type SoapPedido = {
  readonly versao: SoapVersao;
  readonly operacao: string;
  /** Namespace of the operation's element. */
  readonly namespace: string;
  readonly documento: SoapDocumento | SoapIlegivel;
};

/** Reads a request. `faultsIn`: the version for the message that nothing could be read. */
export function readSoap(bytes: Uint8Array, faultsIn: SoapVersao = '1.1'): SoapPedido | { readonly falha: SoapFalha } {
  const fail = (de: SoapFalha['de'], mensagem: string, versao = faultsIn): { readonly falha: SoapFalha } => ({
    falha: { versao, de, mensagem },
  });
  const reading = readXml(bytes);
  if ('fault' in reading) return fail('cliente', reading.withoutDps);
  const { root } = reading;
  if (root.name !== 'Envelope') return fail('cliente', 'O corpo não é um envelope SOAP: a raiz deve ser Envelope.');
  const versao = (['1.1', '1.2'] as const).find((one) => SOAP_NAMESPACES[one] === root.namespace);
  if (versao === undefined) {
    return fail('versao', 'O envelope não é SOAP 1.1 nem 1.2: confira o espaço de nomes de Envelope.');
  }
  const parts = (name: string): readonly Elemento[] =>
    root.children.filter((child) => child.name === name && child.namespace === root.namespace);
  const strange = parts('Header').flatMap(({ children }) => children.filter((child) => isDemanded(child, versao)));
  if (strange.length > 0) {
    return fail('cabecalho', `O cabeçalho ${strange[0]!.name} pede para ser entendido, e não é.`, versao);
  }
  const [body, ...more] = parts('Body');
  if (body === undefined || more.length > 0) return fail('cliente', 'O envelope deve ter um Body.', versao);
  const [operation, ...others] = body.children;
  if (operation === undefined || others.length > 0) {
    return fail('cliente', 'O Body deve ter um elemento: o da operação.', versao);
  }
  const { name: operacao, namespace } = operation;
  return { versao, operacao, namespace, documento: documentOf(operation, reading) };
}

function isDemanded({ attributes }: Elemento, versao: SoapVersao): boolean {
  const namespace = SOAP_NAMESPACES[versao];
  return attributes.some(
    (one) => one.name === 'mustUnderstand' && one.namespace === namespace && /^(?:1|true)$/.test(one.value),
  );
}

/** Names of the elements beside the document in an operation. */
const HEADER = 'header';
const PARAMETERS = 'parameters';
/** The name of `parameters` in other versions of the model. */
const DADOS = 'nfseDadosMsg';
/** Root of what the model puts into the header: the versions of the data. */
const CABECALHO = 'cabecalho';

function documentOf(operation: Elemento, reading: XmlDocumentReading): SoapPedido['documento'] {
  const named = (wanted: string) => operation.children.find(({ name }) => name === wanted);
  if (named(DADOS) !== undefined) {
    const problema = `O documento veio em ${DADOS}, que é nome de outra versão do modelo: aqui é ${PARAMETERS}, e ${HEADER} o do ${CABECALHO}.`;
    return { problema, namespace: '' };
  }
  const [header, parameters] = [named(HEADER), named(PARAMETERS)];
  const only = operation.children.find(({ name }) => name !== HEADER);
  const found = contentOf(parameters, reading) ?? (parameters === undefined ? asElements(only, reading) : undefined);
  if (found !== undefined && !isCabecalho(found)) return found;
  const instead = contentOf(header, reading);
  if (instead !== undefined && 'root' in instead && !isCabecalho(instead)) {
    const other = found === undefined ? '' : `, e o ${CABECALHO} em ${PARAMETERS}`;
    const problema = `O documento (${instead.root.name.slice(0, 60)}) veio em ${HEADER}${other}: ponha o documento em ${PARAMETERS}, e em ${HEADER} o ${CABECALHO}, ou nada.`;
    return { problema, namespace: instead.root.namespace };
  }
  const came = found === undefined ? '' : ` O que veio nele é o ${CABECALHO}, que vai em ${HEADER}.`;
  return { problema: `Falta o documento: ponha-o, como texto, em ${PARAMETERS}.${came}`, namespace: '' };
}

/** The document in an element, as elements or as text; undefined: there is none. */
function contentOf(element: Elemento | undefined, reading: XmlDocumentReading): SoapPedido['documento'] | undefined {
  const typed = asElements(element?.children[0], reading);
  const text = element?.text.trim() ?? '';
  return typed ?? (text === '' ? undefined : readText(text));
}

function asElements(root: Elemento | undefined, reading: XmlDocumentReading): SoapDocumento | undefined {
  return root && { reading, root, forma: 'elementos' };
}

function isCabecalho(documento: SoapPedido['documento']): boolean {
  return 'root' in documento && documento.root.name === CABECALHO;
}

function readText(text: string): SoapPedido['documento'] {
  // The text has the encoding of its envelope, even if its own declaration names another.
  const own = text.replace(/^(<\?xml\s[^>]*?)\sencoding\s*=\s*(?:"[^">]*"|'[^'>]*')/, '$1');
  const inner = readXml(Buffer.from(own, 'utf8'));
  if ('fault' in inner) return { problema: inner.withoutDps, namespace: namespaceIn(own) };
  return { reading: inner, root: inner.root, forma: 'texto' };
}

/** The namespace of a malformed document, from its first tag: the client reads the refusal in this namespace. */
function namespaceIn(text: string): string {
  const [, prefix, attributes = ''] = /^(?:<\?xml\s[^>]*>\s*)?<(?:([\w.-]+):)?[\w.-]+([^<>]*)>/.exec(text) ?? [];
  const wanted = prefix === undefined ? 'xmlns' : `xmlns:${prefix}`;
  const declared = attributes.matchAll(/([\w:.-]+)\s*=\s*(?:"([^"&]*)"|'([^'&]*)')/g);
  const [, , twice, once] = declared.find(([, name]) => name === wanted) ?? [];
  return twice ?? once ?? '';
}

/** The answer of an operation, with its document as text or as elements. */
export function writeSoap(
  { versao, operacao, namespace }: Pick<SoapPedido, 'versao' | 'operacao' | 'namespace'>,
  documento: string,
  forma: SoapDocumento['forma'],
): string {
  const content = forma === 'texto' ? escapeText(documento) : documento;
  const name = `${operacao}Response`;
  const inside = `<return>${content}</return>`;
  const answer =
    namespace === ''
      ? `<${name}>${inside}</${name}>`
      : `<n:${name} xmlns:n="${escapeAttribute(namespace)}">${inside}</n:${name}>`;
  return envelope(versao, answer);
}

const CODES = {
  '1.1': { cliente: 'Client', servidor: 'Server', versao: 'VersionMismatch', cabecalho: 'MustUnderstand' },
  '1.2': { cliente: 'Sender', servidor: 'Receiver', versao: 'VersionMismatch', cabecalho: 'MustUnderstand' },
} as const;

export function writeFalha({ versao, de, mensagem }: SoapFalha): string {
  const code = `soap:${CODES[versao][de]}`;
  const text = escapeText(mensagem);
  return envelope(
    versao,
    versao === '1.1'
      ? `<soap:Fault><faultcode>${code}</faultcode><faultstring>${text}</faultstring></soap:Fault>`
      : `<soap:Fault><soap:Code><soap:Value>${code}</soap:Value></soap:Code><soap:Reason><soap:Text xml:lang="pt-BR">${text}</soap:Text></soap:Reason></soap:Fault>`,
  );
}

function envelope(versao: SoapVersao, inside: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?><soap:Envelope xmlns:soap="${SOAP_NAMESPACES[versao]}"><soap:Body>${inside}</soap:Body></soap:Envelope>`;
}
