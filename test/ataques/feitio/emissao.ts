/** Certificates and revocation lists with any field changed, built here: the authorities of `pki.ts` make only valid ones. */
import { createPublicKey, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { der } from '../../../src/documents/asn1.ts';
import { pemOf } from '../../../src/documents/pki.ts';
import { DECADES, PROVIDER_CNPJ } from '../../support/signatures.ts';

export type Emitido = {
  readonly der: Buffer;
  readonly nome: Buffer;
  /** The encoded name of the issuer. */
  readonly emissor: Buffer;
  readonly serial: Buffer;
  readonly chave: KeyObject;
};

/** The fields of a certificate; an absent one is as in the honest certificates. */
export type Pedido = {
  /** The common name, or the whole name. */
  readonly nome?: string | Buffer;
  /** Absent: the certificate is self-signed. */
  readonly por?: Emitido | undefined;
  /** The written name of the issuer, if it differs from that of `por`. */
  readonly diz?: Buffer;
  readonly chave?: KeyObject;
  readonly extensoes?: readonly Buffer[];
  /** Milliseconds. */
  readonly inicio?: number;
  readonly fim?: number;
  readonly algoritmo?: Algoritmo;
  /** The outer algorithm, if it differs from the one inside. */
  readonly algoritmoDeFora?: Algoritmo;
  readonly versao1?: true;
};

/** A signature algorithm of an issuer: the digest by its name in node:crypto, and the AlgorithmIdentifier. */
export type Algoritmo = { readonly resumo: string; readonly id: Buffer };

const algoritmo = (resumo: string, oid: string, ...parameters: Buffer[]): Algoritmo => ({
  resumo,
  id: der.sequence(der.oid(oid), ...parameters),
});
export const ALGORITMOS = {
  sha256: algoritmo('sha256', '1.2.840.113549.1.1.11', der.null()),
  sha512: algoritmo('sha512', '1.2.840.113549.1.1.13', der.null()),
  sha1: algoritmo('sha1', '1.2.840.113549.1.1.5', der.null()),
  md5: algoritmo('md5', '1.2.840.113549.1.1.4', der.null()),
  dsa: algoritmo('sha256', '2.16.840.1.101.3.4.3.2'),
} as const;

export function chaveRsa(bits = 2_048): KeyObject {
  return generateKeyPairSync('rsa', { modulusLength: bits }).privateKey;
}

export function chaveDsa(): KeyObject {
  return generateKeyPairSync('dsa', { modulusLength: 2_048, divisorLength: 256 }).privateKey;
}

export function nomeDe(comum: string, organizacao = 'ICP-Brasil de Teste', ...unidades: readonly string[]): Buffer {
  const attribute = (oid: string, value: Buffer): Buffer => der.set(der.sequence(der.oid(oid), value));
  return der.sequence(
    attribute('2.5.4.6', der.printable('BR')),
    attribute('2.5.4.10', der.utf8(organizacao)),
    ...unidades.map((one) => attribute('2.5.4.11', der.utf8(one))),
    attribute('2.5.4.3', der.utf8(comum)),
  );
}

const CRITICAL = der.boolean(true);
export const extensao = (oid: string, value: Buffer): Buffer => der.sequence(der.oid(oid), der.octetString(value));
export const critica = (oid: string, value: Buffer): Buffer =>
  der.sequence(der.oid(oid), CRITICAL, der.octetString(value));

/** keyUsage with the given bits, counted from 0 (RFC 5280, 4.2.1.3). */
export function usos(...bits: readonly number[]): Buffer {
  const octet = bits.reduce((sum, bit) => sum | (0x80 >> bit), 0);
  return critica('2.5.29.15', der.bitString(Buffer.from([octet]), 7 - Math.max(...bits)));
}
export const ASSINA = usos(0, 1);
export const EMITE = usos(5, 6);

/** basicConstraints of an authority, with or without a path length. */
export const autoridade = (caminho?: number): Buffer =>
  critica('2.5.29.19', der.sequence(der.boolean(true), ...(caminho === undefined ? [] : [der.integer(caminho)])));
export const NAO_AUTORIDADE = extensao('2.5.29.19', der.sequence());

const PURPOSES = {
  serverAuth: '1.3.6.1.5.5.7.3.1',
  clientAuth: '1.3.6.1.5.5.7.3.2',
  codeSigning: '1.3.6.1.5.5.7.3.3',
  emailProtection: '1.3.6.1.5.5.7.3.4',
  timeStamping: '1.3.6.1.5.5.7.3.8',
  ocspSigning: '1.3.6.1.5.5.7.3.9',
  any: '2.5.29.37.0',
} as const;
export type Fim = keyof typeof PURPOSES;
const listaDeFins = (fins: readonly Fim[]): Buffer => der.sequence(...fins.map((one) => der.oid(PURPOSES[one])));
export const fins = (...lista: readonly Fim[]): Buffer => extensao('2.5.29.37', listaDeFins(lista));
export const finsCriticos = (...lista: readonly Fim[]): Buffer => critica('2.5.29.37', listaDeFins(lista));

/** GeneralNames: a field of ICP-Brasil, a mailbox, a host, a directory name. */
export const campo = (oid: string, text: string): Buffer =>
  der.context(0, der.oid(oid), der.context(0, der.printable(text)));
export const email = (text: string): Buffer => der.contextPrimitive(1, Buffer.from(text, 'latin1'));
export const host = (text: string): Buffer => der.contextPrimitive(2, Buffer.from(text, 'latin1'));
export const deNome = (nome: Buffer): Buffer => der.context(4, nome);
export const OID_CNPJ = '2.16.76.1.3.3';
export const alternativos = (...nomes: readonly Buffer[]): Buffer => extensao('2.5.29.17', der.sequence(...nomes));
export const doCnpj = (cnpj = PROVIDER_CNPJ): Buffer => alternativos(campo(OID_CNPJ, cnpj));

/** nameConstraints: permitted and excluded names. */
export function restricoes(permitidos: readonly Buffer[], excluidos: readonly Buffer[] = []): Buffer {
  const trees = (tag: number, nomes: readonly Buffer[]): Buffer[] =>
    nomes.length === 0 ? [] : [der.context(tag, ...nomes.map((one) => der.sequence(one)))];
  return der.sequence(...trees(0, permitidos), ...trees(1, excluidos));
}
export const restrita = (value: Buffer): Buffer => critica('2.5.29.30', value);

/** The extensions of an e-CNPJ, and those of an authority. */
export const TITULAR = [NAO_AUTORIDADE, ASSINA, fins('clientAuth', 'emailProtection')];
export const AC = [autoridade(), EMITE];

export function emitir(pedido: Pedido): Emitido {
  const { extensoes = [...TITULAR, doCnpj()], por, inicio = DECADES.inicio, fim = DECADES.fim } = pedido;
  const { nome: named = `EMPRESA EXEMPLO LTDA:${PROVIDER_CNPJ}`, algoritmo: by = ALGORITMOS.sha256 } = pedido;
  const nome = typeof named === 'string' ? nomeDe(named) : named;
  const chave = pedido.chave ?? chaveRsa();
  const octets = randomBytes(16);
  octets[0] = (octets[0]! & 0x3f) | 0x40;
  const serial = der.integer(BigInt(`0x${octets.toString('hex')}`));
  const emissor = pedido.diz ?? por?.nome ?? nome;
  const tbs = der.sequence(
    ...(pedido.versao1 ? [] : [der.context(0, der.integer(2))]),
    serial,
    by.id,
    emissor,
    der.sequence(der.time(inicio), der.time(fim)),
    nome,
    createPublicKey(chave).export({ type: 'spki', format: 'der' }),
    ...(pedido.versao1 ? [] : [der.context(3, der.sequence(...extensoes))]),
  );
  const value = sign(by.resumo, tbs, por?.chave ?? chave);
  const whole = der.sequence(tbs, (pedido.algoritmoDeFora ?? by).id, der.bitString(value));
  return { der: whole, nome, emissor, serial, chave };
}

/** A revocation list in PEM: of `nome`, signed by `por`, with these certificates. */
export function listaDe(por: Emitido, revogados: readonly Emitido[], nome = por.nome): string {
  const by = ALGORITMOS.sha256.id;
  const entries = revogados.map(({ serial }) => der.sequence(serial, der.time(Date.parse('2026-01-10'))));
  const tbs = der.sequence(
    der.integer(1),
    by,
    nome,
    der.time(Date.parse('2026-01-15')),
    der.time(DECADES.fim),
    ...(entries.length === 0 ? [] : [der.sequence(...entries)]),
    der.context(0, der.sequence(extensao('2.5.29.20', der.integer(1)))),
  );
  return pemOf('X509 CRL', der.sequence(tbs, by, der.bitString(sign('sha256', tbs, por.chave))));
}
