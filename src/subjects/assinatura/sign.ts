/**
 * `nfse assinar`: the step that a provider's program takes before it sends. A document in XML (a DPS, a lot of RPS or the request of a
 * cancellation) gets its `Signature`. A JSON body gets the value of the header that goes with it. The kind of a file is read from its
 * content. The only faults reported are those that make the signature useless: a certificate out of validity, or of another holder.
 */
import { isHeldBy, maskedDocument } from '../../documents/certificate.ts';
import { signCms } from '../../documents/cms-sign.ts';
import { type ChainedSigner, type KeyFiles, loadSigner } from '../../documents/key-files.ts';
import { isSigned, signXml } from '../../documents/signing.ts';
import { timeInBrazil } from '../../documents/trust-lists.ts';
import { readXml } from '../../documents/xml.ts';
import { documentoKind } from '../../fiscal/chave.ts';
import type { Elemento } from '../../fiscal/layout/tree.ts';

export type { KeyFiles } from '../../documents/key-files.ts';
export { writeFileFor } from '../../documents/new-files.ts';

export type SignedDocument = {
  /** `xml`: the whole document; `json`: the value of the header, one line of Base64. */
  readonly kind: 'xml' | 'json';
  readonly text: string;
  /** Faults that lead to a refusal despite the signature, and signatures that were replaced, in Portuguese. */
  readonly avisos: readonly string[];
};

/** `agora` in milliseconds. Throws an Error in Portuguese when the content or the key files cannot be used. */
export async function signDocument(bytes: Uint8Array, files: KeyFiles, agora: number): Promise<SignedDocument> {
  const kind = kindOf(bytes);
  const provider = kind === 'xml' ? providerOfXml(bytes) : providerOfJson(bytes);
  const signer = await loadSigner(files);
  const avisos = [...validityWarnings(signer, agora), ...holderWarnings(signer, provider)];
  if (kind === 'xml' && isSigned(bytes)) avisos.push('a assinatura que havia foi substituída.');
  if (kind === 'xml') return { kind, text: signXml(bytes, signer).toString('utf8'), avisos };
  return { kind, text: signCms(bytes, signer).toString('base64'), avisos };
}

function kindOf(bytes: Uint8Array): 'xml' | 'json' {
  // Every other byte of an XML in UTF-16 is zero.
  const start = Buffer.from(bytes.subarray(0, 256))
    .toString('latin1')
    .replace(/^(ï»¿|ÿþ|þÿ)/, '')
    .replace(/[\0\s]/g, '');
  if (start.startsWith('<')) return 'xml';
  if (start.startsWith('{')) return 'json';
  throw new Error(
    start === ''
      ? 'o arquivo está vazio; não há o que assinar.'
      : 'o arquivo não é um documento em XML nem um corpo em JSON. Assine o arquivo como ele vai ser enviado.',
  );
}

/** Paths at which the documents in XML name the provider. */
const XML_PROVIDER_PATHS = [
  ['infDPS', 'prest', 'CNPJ'],
  ['infDPS', 'prest', 'CPF'],
  ['LoteRps', 'Cnpj'],
  ['Pedido', 'InfPedidoCancelamento', 'IdentificacaoNfse', 'Cnpj'],
] as const;

function providerOfXml(bytes: Uint8Array): string | undefined {
  const reading = readXml(bytes);
  if ('fault' in reading) throw new Error(reading.fault.mensagem);
  for (const path of XML_PROVIDER_PATHS) {
    let place: Elemento | undefined = reading.root;
    for (const step of path) place = place?.children.find(({ name }) => name === step);
    if (place !== undefined) return place.text.trim();
  }
  return undefined;
}

/** Paths at which a JSON body may name the provider; an event names nobody that could be compared here. */
const PROVIDER_PATHS = [
  ['prestador_cpf_cnpj'],
  ['prest', 'CNPJ'],
  ['prest', 'CPF'],
  ['infDPS', 'prest', 'CNPJ'],
  ['infDPS', 'prest', 'CPF'],
  ['DPS', 'infDPS', 'prest', 'CNPJ'],
  ['DPS', 'infDPS', 'prest', 'CPF'],
] as const;

function providerOfJson(bytes: Uint8Array): string | undefined {
  let body: unknown;
  try {
    body = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    const why = error instanceof SyntaxError ? 'não é JSON bem formado' : 'não está em UTF-8';
    throw new Error(`o corpo ${why}, e seria recusado depois de assinado. Corrija-o antes.`);
  }
  for (const path of PROVIDER_PATHS) {
    let value: unknown = body;
    for (const name of path) value = (value as Record<string, unknown> | null | undefined)?.[name];
    if (typeof value === 'string') return value.replace(/[.\-/\s]/g, '').toUpperCase();
  }
  return undefined;
}

function validityWarnings({ certificate }: ChainedSigner, agora: number): string[] {
  const { inicio, fim } = certificate;
  if (agora > fim) return [`o certificado venceu em ${timeInBrazil(fim)}; em produção a assinatura é recusada.`];
  if (agora < inicio)
    return [`o certificado só vale a partir de ${timeInBrazil(inicio)}; até lá a assinatura é recusada.`];
  return [];
}

function holderWarnings({ certificate }: ChainedSigner, provider: string | undefined): string[] {
  if (provider === undefined || documentoKind(provider) === undefined) return [];
  const { holder } = certificate;
  if (holder === undefined) {
    return ['o certificado não traz CNPJ nem CPF do titular; em produção a assinatura é recusada.'];
  }
  if (isHeldBy(holder, provider)) return [];
  return [
    `o certificado é do ${holder.tipo} ${maskedDocument(holder.documento)}, e o prestador do documento é ${maskedDocument(provider)}; em produção a assinatura é recusada.`,
  ];
}
