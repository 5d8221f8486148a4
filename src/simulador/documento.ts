/**
 * One document of a lot: unpacked, read, and checked by the published rules of the national environment for shared documents. A fault of
 * packing or of structure is answered alone; the faults of a readable note are answered together. The register (`registro.ts`) knows
 * whether the key is held already.
 */
import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import type { MensagemAdn } from '../adn/wire.ts';
import { type Certificate, readCertificate } from '../documents/certificate.ts';
import { EVENTO_PROFILE, NFSE_PROFILE } from '../documents/signature-shape.ts';
import { checkSignature } from '../documents/signed.ts';
import { readXml, type XmlDocumentReading, xsdErrors } from '../documents/xml.ts';
import { cnpjIsValid, cpfIsValid, parseChave } from '../fiscal/chave.ts';
import { decimal, distance, percentOf } from '../fiscal/decimal.ts';
import type { Fault } from '../fiscal/fault.ts';
import { ISS_MAX } from '../fiscal/iss.ts';
import { DPS_NAMESPACE } from '../fiscal/layout/dps.ts';
import { attributeOf, type Elemento } from '../fiscal/layout/tree.ts';
import { eventoXsd, nfseXsd } from '../published/layout/xsd.ts';
import { type Campos, PLACES, recogniseNfse, signatureHolds } from './canonical-nfse.ts';
import { type Codigo, type CodigoDeEvento, mensagem, mensagemDeEvento } from './codigos.ts';
import { type EventoLido, idIn, readEvento } from './evento.ts';

/** The national limit of one document is not published. No honest document in a lot of 1 MB is larger than this. */
const XML_BYTES_MAX = 4 * 1024 * 1024;
/** The initial buffer for unpacking; most notes need no second piece. */
const XML_BYTES_USUAL = 8_192;
const COMPLEMENTO_MAX = 1_000;
/** Cached certificates of signatures, with their verdicts; a municipality has two or three. */
const CERTIFICATES_MAX = 1_000;

/** The municipality of the connection. */
export type Cliente = { readonly cnpj: string; readonly certificate: Certificate };

type Lido = {
  /** SHA-256 of the XML, lower hex. */
  readonly sha256: string;
  readonly gzip: Buffer;
  readonly xml: () => string;
};

/** A note. */
export type DocumentoLido = Lido & {
  readonly chave: string;
  readonly idDps: string;
  /** Key of the note that it replaces. */
  readonly substitui: string | undefined;
};

/** `chave`: null if it could not be read. */
type DocumentoRecusado = { readonly chave: string | null; readonly erros: readonly MensagemAdn[] };

export type LerDocumento = (
  base64: string,
  cliente: Cliente,
  now: number,
) => DocumentoLido | (EventoLido & Lido) | DocumentoRecusado;

/** Creates the reader of documents. `authorities`: those whose certificates may sign. */
export function leitorDeDocumentos(authorities: readonly Certificate[]): LerDocumento {
  const xsds: Xsds = { NFSe: nfseXsd(), evento: eventoXsd() };
  const certificateIn = rememberCertificates();
  const vouchedFor = rememberVerdicts((certificate) => isIssuedByOneOf(authorities, certificate));
  return (base64, cliente, now) => {
    const gzip = Buffer.from(base64, 'base64');
    if (gzip.length === 0 || gzip.toString('base64') !== base64) {
      return refuseDocument(null, 'E1225', 'Use o alfabeto padrão, com preenchimento e sem quebras de linha.');
    }
    let xml: Buffer;
    try {
      xml = gunzipSync(gzip, { maxOutputLength: XML_BYTES_MAX, chunkSize: XML_BYTES_USUAL });
    } catch (error) {
      const isLarge = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
      return refuseDocument(null, 'E1226', isLarge ? `Passa de ${XML_BYTES_MAX} bytes.` : 'Não é um gzip inteiro.');
    }
    const quick = recogniseNfse(xml);
    const signer = quick && certificateIn(quick.certificado);
    // A note with an invalid signature is read by the parser, which finds the exact error.
    if (quick !== undefined && signer !== undefined && signatureHolds(quick, signer)) {
      return judgeNota(quick.campos, signer, [], () => quick.text);
    }
    const reading = readSlowly(xml, xsds);
    if ('erros' in reading) return reading;
    const { root } = reading;
    if (root.name === 'evento') {
      const { faults, certificate } = checkSignature(reading, EVENTO_PROFILE);
      const { evento, erros } = readEvento(root);
      const all = [...erros, ...seloErros(faults, certificate, SELO_DO_EVENTO)];
      return all.length > 0 ? { chave: evento.chave, erros: all } : { ...evento, ...whole(reading.text) };
    }
    const { faults, certificate } = checkSignature(reading, NFSE_PROFILE);
    return judgeNota(camposOf(root), certificate, faults, reading.text);

    function whole(text: () => string): Lido {
      return { sha256: hash('sha256', xml, 'hex'), gzip, xml: text };
    }

    function seloErros(
      faults: readonly Fault[],
      certificate: Certificate | undefined,
      selo: Selo,
    ): readonly MensagemAdn[] {
      if (faults.length > 0) return signatureErros(faults, selo);
      return certificateErros(certificate!, cliente, now, vouchedFor, selo);
    }

    function judgeNota(
      campos: Campos,
      certificate: Certificate | undefined,
      faults: readonly Fault[],
      text: () => string,
    ): DocumentoLido | DocumentoRecusado {
      const chave = campos.id.slice(3);
      const erros = [
        ...chaveErros(campos),
        ...headErros(campos),
        ...issqnErros(campos),
        ...seloErros(faults, certificate, SELO_DA_NOTA),
      ];
      if (erros.length > 0) return { chave, erros };
      return { chave, idDps: campos.idDps, substitui: campos.chSubstda, ...whole(text) };
    }
  };
}

function refuseDocument(chave: string | null, codigo: Codigo, complemento?: string): DocumentoRecusado {
  return { chave, erros: [mensagem(codigo, complemento?.slice(0, COMPLEMENTO_MAX))] };
}

/** The schemas of the accepted documents, by the name of their root. */
type Xsds = Readonly<Record<'NFSe' | 'evento', string>>;

/** Reads a document that the expression did not recognise, with the parser and the schema. */
function readSlowly(xml: Buffer, xsds: Xsds): XmlDocumentReading | DocumentoRecusado {
  if (!isUtf8(xml)) return refuseDocument(null, 'E1229');
  if (!/^(?:\uFEFF)?<\?xml[^>]*?encoding\s*=\s*["']utf-8["']/i.test(xml.toString('utf8', 0, 200))) {
    return refuseDocument(null, 'E1229', 'Comece por <?xml version="1.0" encoding="UTF-8"?>.');
  }
  const reading = readXml(xml);
  if ('fault' in reading) return refuseDocument(null, 'E1226', describeFault(reading.fault));
  const { root } = reading;
  const { name } = root;
  if ((name !== 'NFSe' && name !== 'evento') || root.namespace !== DPS_NAMESPACE) {
    return refuseDocument(null, 'E1242', STRANGE_ROOTS.get(name) ?? `Raiz: ${name}.`);
  }
  const chave =
    name === 'evento'
      ? idIn(root, 'infEvento', /^EVT[0-9A-Z]{59}$/)?.slice(3, 53)
      : idIn(root, 'infNFSe', /^NFS[0-9A-Z]{50}$/)?.slice(3);
  const prefixed = prefixIn(reading);
  if (prefixed !== undefined) return refuseDocument(chave ?? null, 'E1228', prefixed);
  const findings = xsdErrors(xsds[name], xml);
  if (findings.length > 0) return refuseDocument(chave ?? null, 'E1235', findings.join(' '));
  return reading;
}

const STRANGE_ROOTS: ReadonlyMap<string, string> = new Map([
  ['DPS', 'Uma DPS não se compartilha; envie a NFS-e.'],
  ['pedRegEvento', 'Um pedido de registro não se compartilha; envie o evento que o contém.'],
]);

function describeFault({ mensagem: text, linha, coluna }: Fault): string {
  return linha === undefined ? text : `${text} (linha ${linha}, coluna ${coluna})`;
}

/** The first prefix of a tag or an attribute. A prefix that is declared and not used is harmless. */
function prefixIn({ text, root }: XmlDocumentReading): string | undefined {
  const markup = text().replace(/<!--[\s\S]*?-->|<!\[CDATA\[[\s\S]*?\]\]>|<\?[\s\S]*?\?>/g, '');
  const tag = /<\/?([^\s<>/:"'=]+):/.exec(markup)?.[1];
  if (tag !== undefined) return `Prefixo ${tag}.`;
  const attribute = qualifiedAttributeIn(root);
  return attribute === undefined ? undefined : `Atributo ${attribute} com prefixo.`;
}

/** An attribute has a namespace only through a prefix. */
function qualifiedAttributeIn({ attributes, children }: Elemento): string | undefined {
  const own = attributes.find(({ namespace }) => namespace !== '')?.name;
  if (own !== undefined) return own;
  for (const one of children) {
    const found = qualifiedAttributeIn(one);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The fields of a note that is valid under the schema. */
function camposOf(root: Elemento): Campos {
  const fields = Object.entries(PLACES).map(([field, place]) => [field, valueAt(root, place)]);
  return Object.fromEntries(fields) as Campos;
}

function valueAt(root: Elemento, place: string): string | undefined {
  const [, ...steps] = place.split('/');
  let element: Elemento | undefined = root;
  for (const step of steps) {
    if (step.startsWith('@')) return element && attributeOf(element, step.slice(1));
    element = element?.children.find(({ name }) => name === step);
  }
  return element?.text;
}

/** E1263: the parts of the key differ from the fields of the note. */
function chaveErros({ id, cMun, ambGer, CNPJ, CPF, nNFSe, dhProc }: Campos): readonly MensagemAdn[] {
  const chave = parseChave(id.slice(3));
  if (chave === undefined) return [mensagem('E1263', 'A estrutura da chave ou o seu dígito verificador está errado.')];
  const said: readonly (readonly [string, boolean])[] = [
    ['município', chave.cMun === cMun],
    ['ambiente gerador', chave.ambGer === ambGer],
    ['documento do emitente', chave.documento === (CNPJ ?? CPF)],
    ['número', chave.nNFSe === nNFSe],
    ['ano e mês', chave.anoMes === dhProc.slice(2, 4) + dhProc.slice(5, 7)],
  ];
  const differing = said.filter(([, isSame]) => !isSame).map(([name]) => name);
  return differing.length === 0 ? [] : [mensagem('E1263', `Diferem: ${differing.join(', ')}.`)];
}

/** Faults in the head of a note, except those of the key. */
function headErros({ ambGer, procEmi, CNPJ, CPF, cMun, cLocEmi }: Campos): readonly MensagemAdn[] {
  const erros: MensagemAdn[] = [];
  if (ambGer !== '1') erros.push(mensagem('E1274'));
  if (procEmi !== undefined) erros.push(mensagem('E1276'));
  if (CNPJ !== undefined && !cnpjIsValid(CNPJ)) erros.push(mensagem('E1280'));
  if (CPF !== undefined && !cpfIsValid(CPF)) erros.push(mensagem('E1284'));
  if (cMun !== cLocEmi) erros.push(mensagem('E1286'));
  return erros;
}

/** Faults of the ISSQN of a note. A cent of rounding is tolerated. */
function issqnErros({ vBC, pAliqAplic, vISSQN, pAliq }: Campos): readonly MensagemAdn[] {
  const erros: MensagemAdn[] = [];
  if (pAliq !== undefined && decimal(pAliq) > ISS_MAX) erros.push(mensagem('E0595'));
  if (pAliqAplic === undefined) return erros;
  const rate = decimal(pAliqAplic);
  if (rate > ISS_MAX) erros.push(mensagem('E1300'));
  const right = percentOf(decimal(vBC ?? '0'), rate);
  if (distance(decimal(vISSQN ?? '0'), right) > ONE_CENT) erros.push(mensagem('E1289'));
  return erros;
}

const ONE_CENT = decimal('0.01');

/** The possible defects of a signature, or of its certificate. */
type Defeito = 'ausente' | 'nao_confere' | 'perfil' | 'invalido' | 'alheio';

/** The message of a defect, which differs between notes and events. */
type Selo = (defeito: Defeito, complemento: string) => MensagemAdn;

/** The code of each defect of a note, and of an event. */
const CODES: Readonly<Record<Defeito, readonly [nota: Codigo, evento: CodigoDeEvento]>> = {
  ausente: ['E1636', 'E2029'],
  nao_confere: ['E1630', 'E2020'],
  perfil: ['E1634', 'E2026'],
  invalido: ['E1632', 'E2023'],
  alheio: ['E1638', 'E2032'],
};
const SELO_DA_NOTA: Selo = (defeito, complemento) => mensagem(CODES[defeito][0], complemento);
const SELO_DO_EVENTO: Selo = (defeito, complemento) => mensagemDeEvento(CODES[defeito][1], complemento);

/** The defect that each code of `checkSignature` means. */
const DEFEITOS: Readonly<Record<string, Defeito>> = {
  E901: 'ausente',
  E902: 'nao_confere',
  E904: 'perfil',
  E905: 'perfil',
};

function signatureErros([first]: readonly Fault[], selo: Selo): readonly MensagemAdn[] {
  if (first === undefined) return [];
  return [selo(DEFEITOS[first.codigo] ?? 'nao_confere', first.mensagem.slice(0, COMPLEMENTO_MAX))];
}

function certificateErros(
  certificate: Certificate,
  cliente: Cliente,
  now: number,
  vouchedFor: (certificate: Certificate) => boolean,
  selo: Selo,
): readonly MensagemAdn[] {
  const { inicio, fim, isCa, keyUsage, holder, fingerprint } = certificate;
  if (isCa) return [selo('perfil', 'É o certificado de uma autoridade.')];
  if (keyUsage !== undefined && !keyUsage.includes('digitalSignature')) {
    return [selo('perfil', 'O certificado não serve para assinar.')];
  }
  if (now < inicio || now > fim) return [selo('invalido', 'O certificado está fora da validade.')];
  // TLS has already verified the certificate of the connection.
  if (fingerprint !== cliente.certificate.fingerprint && !vouchedFor(certificate)) {
    return [selo('invalido', 'O certificado não foi emitido por uma autoridade aceita.')];
  }
  if (holder?.tipo !== 'CNPJ' || holder.documento !== cliente.cnpj) {
    return [selo('alheio', 'O CNPJ da assinatura não é o do certificado da conexão.')];
  }
  return [];
}

function isIssuedByOneOf(authorities: readonly Certificate[], { x509 }: Certificate): boolean {
  return authorities.some((one) => one.isCa && x509.checkIssued(one.x509) && x509.verify(one.publicKey));
}

/** The certificate of an already seen text, without parsing it again. */
function rememberCertificates(): (base64: string) => Certificate | undefined {
  const certificates = new Map<string, Certificate>();
  return (base64) => {
    const known = certificates.get(base64);
    if (known !== undefined) return known;
    const der = Buffer.from(base64, 'base64');
    const certificate = readCertificate(der);
    if ('problem' in certificate || der.toString('base64') !== base64) return undefined;
    if (certificates.size >= CERTIFICATES_MAX) certificates.clear();
    certificates.set(der.toString('base64'), certificate);
    return certificate;
  };
}

function rememberVerdicts(judge: (certificate: Certificate) => boolean): (certificate: Certificate) => boolean {
  const verdicts = new Map<string, boolean>();
  return (certificate) => {
    const known = verdicts.get(certificate.fingerprint);
    if (known !== undefined) return known;
    if (verdicts.size >= CERTIFICATES_MAX) verdicts.clear();
    const verdict = judge(certificate);
    verdicts.set(certificate.fingerprint, verdict);
    return verdict;
  };
}
