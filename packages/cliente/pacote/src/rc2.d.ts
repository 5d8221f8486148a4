/**
 * RC2 in CBC (RFC 2268), to read only. Authorities still put it around the certificates of a PKCS#12, which are public, and the platform no
 * longer has it.
 */
/** The octets without their padding; throws when it is none. The effective length of the key is its length. */
export declare function decifrarRc2(octets: Buffer, key: Buffer, iv: Buffer): Buffer;
