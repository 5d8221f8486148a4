/**
 * Opens a PKCS#12 (.pfx, .p12, RFC 7292) with its password: the keys and the certificates in it. The ciphers are those of the platform, and
 * RC2 (`rc2.ts`); RC4, and a part under a public key, are not read. Which key and certificate are a pair, and the words of a refusal, are
 * for the caller.
 */
import { type KeyObject } from 'node:crypto';
export type Pkcs12 = {
    readonly keys: readonly KeyObject[];
    /** DER, in the order of the file. */
    readonly certificates: readonly Buffer[];
};
export type Pkcs12Problem = 'not_pkcs12' | 'wrong_password'
/** The password opens it, and what is inside does not read. */
 | 'corrupt' | 'under_public_key' | 'part_under_public_key' | 'unknown_cipher' | 'unknown_derivation';
/** Why a file does not open. `oid`: of the cipher that is not known. */
export declare class Pkcs12Refused extends Error {
    readonly problem: Pkcs12Problem;
    readonly oid: string | undefined;
    constructor(problem: Pkcs12Problem, more?: {
        readonly oid?: string;
        readonly cause?: unknown;
    });
}
/** A password as the two families of ciphers want it: UTF-16 with a closing zero, and plain octets. */
type Password = {
    readonly wide: Buffer;
    readonly narrow: Buffer;
};
/** Throws {@link Pkcs12Refused}. */
export declare function openPkcs12(bytes: Uint8Array, password: string): Pkcs12;
type Digest = {
    readonly name: string;
    readonly blockBytes: number;
};
export declare const SHA256: Digest;
/** RFC 7292, appendix B.3: what the derived octets are for. */
export declare const PURPOSE: {
    readonly key: 1;
    readonly iv: 2;
    readonly mac: 3;
};
type Derivation = {
    readonly password: Buffer;
    readonly salt: Buffer;
    readonly iterations: number;
    readonly purpose: number;
    readonly length: number;
};
/** The derivation of RFC 7292, appendix B.2, whose letters are kept. */
export declare function derivedKey({ name, blockBytes: v }: Digest, { password, salt, iterations, purpose, length }: Derivation): Buffer;
/**
 * The octets that a password may have become, the standard ones first: programs took it for bytes, and wrote an empty one with a closing
 * zero or without.
 */
export declare function passwordForms(password: string): readonly [Password, ...Password[]];
export {};
