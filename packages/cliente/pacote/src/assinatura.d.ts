/**
 * The two signatures that the service takes: XML-DSig in the one profile of the DPS (enveloped, exclusive canonical form, RSA-SHA256), and
 * a detached CMS over the bytes of a JSON body. The key stays an opaque object.
 */
import { type KeyObject, type X509Certificate } from 'node:crypto';
/** Uma chave e o certificado dela; `cadeia`: as autoridades acima, se vieram. */
export type Assinante = {
    readonly chave: KeyObject;
    readonly certificado: X509Certificate;
    readonly cadeia: readonly X509Certificate[];
};
/** Se o XML traz uma assinatura, de quem quer que seja. */
export declare function estaAssinado(xml: string): boolean;
/**
 * Assina uma DPS: o texto como é, com `Signature` depois de `infDPS`. Rejeita com `XmlRecusado`, e o lugar, o que não se pode
 * assinar: uma DPS já assinada, comentários, DOCTYPE, outra codificação que UTF-8.
 */
export declare function assinarXml(xml: string, { chave, certificado }: Assinante): string;
/**
 * O valor de `X-DPS-Assinatura` ou `X-Evento-Assinatura`: CMS destacado (RFC 5652) sobre estes bytes, com o certificado dentro, em
 * DER e Base64. Envie exatamente os mesmos bytes.
 */
export declare function assinarCms(corpo: Uint8Array, { chave, certificado, cadeia }: Assinante, agora?: number): string;
