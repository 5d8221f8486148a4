/**
 * Opens a PKCS#12 (.pfx, .p12, RFC 7292) with its password: the keys and the certificates in it. The ciphers are those of the platform, and
 * RC2 (`rc2.ts`); RC4, and a part under a public key, are not read. Which key and certificate are a pair, and the words of a refusal, are
 * for the caller.
 */
import { createDecipheriv, createHash, createHmac, createPrivateKey, pbkdf2Sync, timingSafeEqual, } from 'node:crypto';
import { Asn1Ilegivel, ID, lerAsn1, octetosDe, oidDe } from './asn1.js';
import { OID } from './oids.js';
import { decifrarRc2 } from './rc2.js';
/** OpenSSL writes 2,048, Windows 2,000, the most careful program a million. */
const ITERATIONS_MAX = 10_000_000;
/** A chain is three certificates; a key store with all of ICP-Brasil in it is a mistake. */
const CERTIFICATES_MAX = 100;
/** SafeContents may hold SafeContents. */
const NESTING_MAX = 4;
/** Why a file does not open. `oid`: of the cipher that is not known. */
export class Pkcs12Refused extends Error {
    problem;
    oid;
    constructor(problem, more = {}) {
        super(problem, { cause: more.cause });
        this.problem = problem;
        this.oid = more.oid;
    }
}
/** These octets did not open with this form of the password: another one may open them. */
class NotOpened extends Error {
}
/** Throws {@link Pkcs12Refused}. */
export function openPkcs12(bytes, password) {
    const { safe, mac } = containerOf(bytes);
    for (const form of passwordForms(password)) {
        if (mac !== undefined && !isMacRight(mac, safe, form))
            continue;
        try {
            return openSafe(safe, form);
        }
        catch (cause) {
            if (cause instanceof NotOpened)
                continue;
            throw cause instanceof Asn1Ilegivel ? new Pkcs12Refused('corrupt', { cause }) : cause;
        }
    }
    throw new Pkcs12Refused('wrong_password');
}
/** What the outermost layer holds, before any password. */
function containerOf(bytes) {
    try {
        const [version, authSafe, macData] = lerAsn1(bytes).filhos;
        if (version?.id !== ID.inteiro || authSafe === undefined)
            throw new Asn1Ilegivel('no PFX');
        const kind = oidDe(authSafe.filhos[0]);
        if (kind === OID.signedData)
            throw new Pkcs12Refused('under_public_key');
        if (kind !== OID.data)
            throw new Asn1Ilegivel('no PFX');
        return { safe: octetosDe(inside(authSafe.filhos[1])), mac: macData === undefined ? undefined : macOf(macData) };
    }
    catch (cause) {
        throw cause instanceof Asn1Ilegivel ? new Pkcs12Refused('not_pkcs12', { cause }) : cause;
    }
}
/** A MAC of another kind (RFC 9579) is left unchecked: decryption and the key's certificate say whether it opened. */
function macOf({ filhos: [digestInfo, salt, iterations] }) {
    const [algorithm, value] = demand(digestInfo).filhos;
    const digest = DIGESTS[oidDe(algorithm?.filhos[0])];
    if (digest === undefined)
        return undefined;
    return {
        digest,
        value: octetosDe(demand(value)),
        salt: octetosDe(demand(salt)),
        iterations: iterations === undefined ? 1 : iterationsOf(iterations),
    };
}
function isMacRight({ digest, value, salt, iterations }, safe, { wide }) {
    const length = createHash(digest.name).digest().length;
    const key = derivedKey(digest, { password: wide, salt, iterations, purpose: PURPOSE.mac, length });
    const computed = createHmac(digest.name, key).update(safe).digest();
    return computed.length === value.length && timingSafeEqual(computed, value);
}
function openSafe(safe, password) {
    const bags = { keys: [], certificates: [] };
    for (const info of readDecrypted(safe).filhos) {
        const kind = oidDe(info.filhos[0]);
        const content = inside(info.filhos[1]);
        if (kind === OID.data)
            readBags(lerAsn1(octetosDe(content)), password, bags, 1);
        else if (kind === OID.encryptedData) {
            const [, algorithm, octets] = demand(content.filhos[1]).filhos;
            if (octets?.id !== ID.contexto0 && octets?.id !== ID.contexto0Simples)
                throw new Asn1Ilegivel('nothing encrypted');
            readBags(readDecrypted(decrypt(demand(algorithm), octetosDe(demand(octets)), password)), password, bags, 1);
        }
        else
            throw new Pkcs12Refused('part_under_public_key');
    }
    return bags;
}
/** Octets that a wrong password made look well padded are still no ASN.1. */
function readDecrypted(octets) {
    try {
        return lerAsn1(octets);
    }
    catch {
        throw new NotOpened();
    }
}
function readBags(contents, password, bags, depth) {
    if (depth > NESTING_MAX)
        throw new Asn1Ilegivel('nested too deep');
    for (const { filhos } of contents.filhos) {
        const value = inside(filhos[1]);
        const [first, second] = value.filhos;
        switch (oidDe(filhos[0])) {
            case OID.keyBag:
                bags.keys.push(keyOf(value.inteiro));
                break;
            case OID.shroudedKeyBag:
                bags.keys.push(keyOf(decrypt(demand(first), octetosDe(demand(second)), password)));
                break;
            case OID.certBag:
                if (oidDe(first) === OID.x509Certificate && bags.certificates.length < CERTIFICATES_MAX)
                    bags.certificates.push(octetosDe(inside(second)));
                break;
            case OID.safeContentsBag:
                readBags(value, password, bags, depth + 1);
                break;
            default: // Revocation lists and secrets are not read.
        }
    }
}
function keyOf(pkcs8) {
    try {
        return createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' });
    }
    catch {
        throw new NotOpened();
    }
}
/** Of PBES2, RFC 8018. */
const CIPHERS = {
    [OID.aes128]: { name: 'aes-128-cbc', keyBytes: 16 },
    [OID.aes192]: { name: 'aes-192-cbc', keyBytes: 24 },
    [OID.aes256]: { name: 'aes-256-cbc', keyBytes: 32 },
    [OID.tripleDes]: { name: 'des-ede3-cbc', keyBytes: 24 },
};
/** Of RFC 7292, appendix C, all with SHA-1. */
const OLD_CIPHERS = {
    [OID.pbeSha1TripleDes]: { name: 'des-ede3-cbc', keyBytes: 24 },
    [OID.pbeSha1TwoKeyDes]: { name: 'des-ede-cbc', keyBytes: 16 },
    [OID.pbeSha1Rc2Of128]: { name: 'rc2', keyBytes: 16 },
    [OID.pbeSha1Rc2Of40]: { name: 'rc2', keyBytes: 5 },
};
const OLD_IV_BYTES = 8;
/** The pseudo-random functions of PBKDF2. */
const PRFS = {
    [OID.hmacSha1]: 'sha1',
    [OID.hmacSha224]: 'sha224',
    [OID.hmacSha256]: 'sha256',
    [OID.hmacSha384]: 'sha384',
    [OID.hmacSha512]: 'sha512',
};
function decrypt({ filhos: [name, parameters] }, octets, password) {
    const oid = oidDe(name);
    if (oid === OID.pbes2)
        return decryptPbes2(demand(parameters), octets, password);
    const cipher = OLD_CIPHERS[oid];
    if (cipher === undefined)
        throw new Pkcs12Refused('unknown_cipher', { oid });
    const salt = octetosDe(demand(parameters?.filhos[0]));
    const iterations = iterationsOf(parameters?.filhos[1]);
    const derive = (purpose, length) => derivedKey(SHA1, { password: password.wide, salt, iterations, purpose, length });
    return decipher(cipher.name, derive(PURPOSE.key, cipher.keyBytes), derive(PURPOSE.iv, OLD_IV_BYTES), octets);
}
function decryptPbes2({ filhos: [derivation, scheme] }, octets, { narrow }) {
    const [schemeOid, iv] = demand(scheme).filhos;
    const cipher = CIPHERS[oidDe(schemeOid)];
    const [derivationOid, settings] = demand(derivation).filhos;
    const [salt, iterations, ...rest] = demand(settings).filhos;
    const prfOid = rest.find(({ id }) => id === ID.sequencia)?.filhos[0];
    const prf = prfOid === undefined ? 'sha1' : PRFS[oidDe(prfOid)];
    if (cipher === undefined || prf === undefined || oidDe(derivationOid) !== OID.pbkdf2)
        throw new Pkcs12Refused('unknown_derivation');
    const key = pbkdf2Sync(narrow, octetosDe(demand(salt)), iterationsOf(iterations), cipher.keyBytes, prf);
    return decipher(cipher.name, key, octetosDe(demand(iv)), octets);
}
function decipher(cipher, key, iv, octets) {
    try {
        if (cipher === 'rc2')
            return decifrarRc2(octets, key, iv);
        const decipher = createDecipheriv(cipher, key, iv);
        return Buffer.concat([decipher.update(octets), decipher.final()]);
    }
    catch {
        throw new NotOpened();
    }
}
function iterationsOf(value) {
    const { id, conteudo } = demand(value);
    if (id !== ID.inteiro || conteudo.length === 0 || conteudo.length > 6)
        throw new Asn1Ilegivel('no number of iterations');
    const iterations = conteudo.readUIntBE(0, conteudo.length);
    if (iterations < 1 || iterations > ITERATIONS_MAX)
        throw new Asn1Ilegivel('an absurd number of iterations');
    return iterations;
}
function demand(value) {
    if (value === undefined)
        throw new Asn1Ilegivel('something is missing');
    return value;
}
/** What an explicit tag is around. */
function inside(value) {
    return demand(value?.filhos[0]);
}
const SHA1 = { name: 'sha1', blockBytes: 64 };
export const SHA256 = { name: 'sha256', blockBytes: 64 };
/** Digests of the MAC, with the block that the derivation of RFC 7292 fills. */
const DIGESTS = {
    [OID.sha1]: SHA1,
    [OID.sha224]: { name: 'sha224', blockBytes: 64 },
    [OID.sha256]: SHA256,
    [OID.sha384]: { name: 'sha384', blockBytes: 128 },
    [OID.sha512]: { name: 'sha512', blockBytes: 128 },
};
/** RFC 7292, appendix B.3: what the derived octets are for. */
export const PURPOSE = { key: 1, iv: 2, mac: 3 };
/** The derivation of RFC 7292, appendix B.2, whose letters are kept. */
export function derivedKey({ name, blockBytes: v }, { password, salt, iterations, purpose, length }) {
    const D = Buffer.alloc(v, purpose);
    const I = Buffer.concat([fillBlocks(salt, v), fillBlocks(password, v)]);
    const parts = [];
    for (let have = 0; have < length;) {
        let A = Buffer.concat([D, I]);
        for (let round = 0; round < iterations; round += 1)
            A = createHash(name).update(A).digest();
        parts.push(A);
        have += A.length;
        const B = Buffer.alloc(v, A);
        for (let block = 0; block < I.length; block += v)
            addPlusOne(I.subarray(block, block + v), B);
    }
    return Buffer.concat(parts).subarray(0, length);
}
/** Repeated to whole blocks; nothing stays nothing. */
function fillBlocks(octets, block) {
    return octets.length === 0 ? octets : Buffer.alloc(Math.ceil(octets.length / block) * block, octets);
}
/** `number` + `addend` + 1, in its own octets. */
function addPlusOne(number, addend) {
    let carry = 1;
    for (let i = number.length - 1; i >= 0; i -= 1) {
        const sum = number[i] + addend[i] + carry;
        number[i] = sum & 0xff;
        carry = sum >> 8;
    }
}
/**
 * The octets that a password may have become, the standard ones first: programs took it for bytes, and wrote an empty one with a closing
 * zero or without.
 */
export function passwordForms(password) {
    const narrow = Buffer.from(password, 'utf8');
    const standard = { wide: wideOf(password), narrow };
    if (password === '')
        return [standard, { wide: Buffer.alloc(0), narrow }];
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the range is that of ASCII
    if (/^[\x00-\x7f]*$/.test(password))
        return [standard];
    return [
        standard,
        { wide: wideOf(narrow.toString('latin1')), narrow },
        { wide: standard.wide, narrow: Buffer.from(password, 'latin1') },
    ];
}
function wideOf(text) {
    return Buffer.from(`${text}\0`, 'utf16le').swap16();
}
