import type { Assinante } from './assinatura.ts';
/** Um certificado A1 com a sua chave: em PEM, ou o arquivo PKCS#12 inteiro. */
export type Certificado = {
    /** Um ou mais certificados em PEM; o da chave entre eles. */
    readonly certificado: string | Uint8Array;
    /** A chave em PEM; cifrada, com `senha`. */
    readonly chave: string | Uint8Array;
    readonly senha?: string;
} | {
    readonly pfx: Uint8Array;
    readonly senha: string;
};
/** Um certificado que não serve, e o que fazer. */
export declare class CertificadoRecusado extends Error {
    readonly name = "CertificadoRecusado";
}
/** Lê o certificado e a chave, e confere que são par. */
export declare function lerCertificado(from: Certificado): Assinante;
