/** A CMS over the body of a request, with any of its parts changed (RFC 5652, 5), and its case. */
import { createPublicKey, hash, type KeyObject, sign } from 'node:crypto';
import { der } from '../../../src/documents/asn1.ts';
import { CMS_OID } from '../../../src/documents/oids.ts';
import { exampleJson } from '../../../src/fiscal/rules/example.ts';
import { type Ataque, bytesOf, type Parte, type Veredito } from '../ataque.ts';
import type { Emitido } from './emissao.ts';
import { AGORA } from './mundo.ts';

/** The DPS that all signers sign, in one line; its number is 1. */
export const CORPO = JSON.stringify(JSON.parse(exampleJson({ tpAmb: '1', serie: '1', nDPS: '1' })!));

export const OID = {
  ...CMS_OID,
  envelopedData: '1.2.840.113549.1.7.3',
  sha1: '1.3.14.3.2.26',
  md5: '1.2.840.113549.2.5',
  sha224: '2.16.840.1.101.3.4.2.4',
  sha384: '2.16.840.1.101.3.4.2.2',
  sha512: '2.16.840.1.101.3.4.2.3',
  rsaSha1: '1.2.840.113549.1.1.5',
  rsaPss: '1.2.840.113549.1.1.10',
  rsaSha512: '1.2.840.113549.1.1.13',
} as const;

export const atributo = (oid: string, ...values: readonly Buffer[]): Buffer =>
  der.sequence(der.oid(oid), der.set(...values));
export const deConteudo = (oid: string = OID.data): Buffer => atributo(OID.contentType, der.oid(oid));
export const deResumo = (corpo: Buffer, resumo = 'sha256'): Buffer =>
  atributo(OID.messageDigest, der.octetString(hash(resumo, corpo, 'buffer')));
export const deHora = (...more: readonly Buffer[]): Buffer => atributo(OID.signingTime, hora(0), ...more);
export const hora = (depoisMs: number): Buffer => der.time(Date.parse(AGORA) + depoisMs);
/** signingCertificateV2 (RFC 5035) of a certificate, or its predecessor with SHA-1 (RFC 2634). */
export const deCertificado = (one: Emitido, oid: string = OID.signingCertificateV2): Buffer => {
  const resumo = hash(oid === OID.signingCertificateV2 ? 'sha256' : 'sha1', one.der, 'buffer');
  return atributo(oid, der.sequence(der.sequence(der.sequence(der.octetString(resumo)))));
};
export const idDe = (oid: string, parameters: Buffer = der.null()): Buffer => der.sequence(der.oid(oid), parameters);
export const porNome = ({ emissor, serial }: Emitido): Buffer => der.sequence(emissor, serial);

/** Deviations from the output of `openssl cms -sign`; an absent one means none. */
export type Torto = {
  readonly resumo?: string;
  readonly resumoId?: Buffer;
  readonly resumosIds?: readonly Buffer[];
  readonly assinaturaId?: Buffer;
  /** Undefined: contentType and messageDigest. `false`: none at all. */
  readonly atributos?: readonly Buffer[] | false;
  /** The bytes that the key signs, if they are not the attributes or the body. */
  readonly assinado?: (atributos: readonly Buffer[]) => Buffer;
  readonly valor?: (assinado: Buffer) => Buffer;
  readonly chave?: KeyObject;
  readonly sid?: Buffer;
  readonly versao?: number;
  readonly versaoDoSignatario?: number;
  readonly tipo?: string;
  readonly dentro?: Buffer;
  readonly certificados?: readonly Buffer[];
  readonly listas?: readonly Buffer[];
  readonly naoAssinados?: readonly Buffer[];
  readonly signatarios?: (um: Buffer) => readonly Buffer[];
  readonly envoltorio?: string;
};

/** A detached CMS in DER. */
export function cmsDe(corpo: Buffer, quem: Emitido, torto: Torto = {}): Buffer {
  const { resumo = 'sha256', certificados = [quem.der], tipo = OID.data } = torto;
  const resumoId = torto.resumoId ?? idDe(OID[resumo as 'sha256']);
  const padrao = [deConteudo(tipo), deResumo(torto.dentro ?? corpo, resumo)];
  const atributos = (torto.atributos === false ? [] : (torto.atributos ?? padrao)).toSorted(Buffer.compare);
  const whole = torto.atributos === false ? corpo : der.set(...atributos);
  const assinado = torto.assinado?.(atributos) ?? whole;
  const make = torto.valor ?? ((bytes: Buffer): Buffer => sign(resumo, bytes, torto.chave ?? quem.chave));
  const um = der.sequence(
    der.integer(torto.versaoDoSignatario ?? 1),
    torto.sid ?? porNome(quem),
    resumoId,
    ...(torto.atributos === false ? [] : [der.context(0, ...atributos)]),
    torto.assinaturaId ?? idDe(OID.rsa),
    der.octetString(make(assinado)),
    ...(torto.naoAssinados === undefined ? [] : [der.context(1, ...torto.naoAssinados)]),
  );
  const dentro = torto.dentro === undefined ? [] : [der.context(0, der.octetString(torto.dentro))];
  const signedData = der.sequence(
    der.integer(torto.versao ?? 1),
    der.set(...(torto.resumosIds ?? [resumoId])),
    der.sequence(der.oid(tipo), ...dentro),
    ...(certificados.length === 0 ? [] : [der.context(0, ...certificados)]),
    ...(torto.listas === undefined ? [] : [der.context(1, ...torto.listas)]),
    der.set(...(torto.signatarios?.(um) ?? [um])),
  );
  return der.sequence(der.oid(torto.envoltorio ?? OID.signedData), der.context(0, signedData));
}

/** The identifier of a key, as a certificate writes it (RFC 5280, 4.2.1.2). */
export function idDaChave(chave: KeyObject): Buffer {
  return hash('sha1', createPublicKey(chave).export({ type: 'spki', format: 'der' }), 'buffer');
}

/** A body with its own number, so that each accepted one is another note. */
export function corpoDe(numero: number): Parte {
  return { parte: 'corpo', trocas: [['"numero_dps":"1"', `"numero_dps":"${numero}"`]] };
}

export const bytesDoCorpo = (numero: number): Buffer => bytesOf(corpoDe(numero), { corpo: CORPO });

/** A case that sends a JSON body; undefined: without a signature header. */
export function enviado(
  nome: string,
  porque: string,
  corpo: Parte,
  cms: Buffer | string | undefined,
  veredito: Veredito,
): Ataque {
  const value = cms === undefined || typeof cms === 'string' ? cms : cms.toString('base64');
  const cabecalhos = value === undefined ? {} : { cabecalhos: { 'X-DPS-Assinatura': value } };
  return { nome, porque, entrada: { para: 'emissao', tipo: 'application/json', ...cabecalhos, corpo }, veredito };
}
