/** As much ASN.1 as signing takes: values in DER written, and read where a certificate or a PKCS#12 is taken apart. */
export type Asn1 = {
    /** The identifier octet: class, whether constructed, and tag, which has one octet in all that is read here. */
    readonly id: number;
    readonly conteudo: Buffer;
    /** Empty for a primitive value. */
    readonly filhos: readonly Asn1[];
    /** The whole value. */
    readonly inteiro: Buffer;
};
/** Bytes that are no ASN.1. */
export declare class Asn1Ilegivel extends Error {
}
export declare function lerAsn1(bytes: Uint8Array): Asn1;
export declare const ID: {
    readonly inteiro: 2;
    readonly octetos: 4;
    readonly oid: 6;
    readonly sequencia: 48;
    readonly conjunto: 49;
    readonly contexto0: 160;
    /** The same around no complete values. */
    readonly contexto0Simples: 128;
};
/** The octets of an OCTET STRING, put together where BER has cut them. */
export declare function octetosDe({ filhos, conteudo }: Asn1): Buffer;
/** Dotted text of an OBJECT IDENTIFIER whose arcs are small, as those of all algorithms are. */
export declare function oidDe(value: Asn1 | undefined): string;
/** Values in DER. */
export declare const der: {
    readonly sequencia: (...parts: readonly Uint8Array[]) => Buffer;
    /** In the order that DER wants of a SET OF. */
    readonly conjunto: (...parts: readonly Uint8Array[]) => Buffer;
    /** From 0 to 127. */
    readonly inteiro: (value: number) => Buffer;
    readonly octetos: (octets: Uint8Array) => Buffer;
    readonly nulo: () => Buffer;
    readonly oid: (dotted: string) => Buffer;
    /** UTCTime, which CMS wants until 2049. */
    readonly momento: (instant: number) => Buffer;
    /** [0] around complete values, or implicit over those of a SET. */
    readonly contexto0: (...parts: readonly Uint8Array[]) => Buffer;
};
