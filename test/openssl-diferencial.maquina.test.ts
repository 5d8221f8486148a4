/**
 * Compares our verdicts with those of openssl, on signatures and certificates with one change: openssl must accept all that we accept. The
 * objects that only openssl accepts are counted and reported. The issuer signs a changed certificate again, so that its content decides.
 *
 * NFSE_TEST_LONGO=1 changes ten thousand of each; NFSE_TEST_SEMENTE=N those of a seed again.
 */
import assert from 'node:assert/strict';
import { createPrivateKey, sign } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { der, readAsn1 } from '../src/documents/asn1.ts';
import { readCertificate } from '../src/documents/certificate.ts';
import { verifyCms } from '../src/documents/cms.ts';
import { CMS_CODES, signerFaults } from '../src/documents/signer-faults.ts';
import { type Draw, mutatedAsn1 } from './support/asn1-mutations.ts';
import { open } from './support/chains.ts';
import { CA, END, freshFolder, type Issued, openssl, opensslAuthority } from './support/openssl.ts';
import { LONG, SEED } from './support/seed.ts';
import { chanceOf } from './support/signatures.ts';

const CHANGES = LONG ? 10_000 : 300;
/** One in so many of our refusals is shown to openssl, for the count alone. */
const ASKED_OF = 10;
/** openssl uses the clock of this machine. */
const AT = Date.now() + 43_200_000;
const BODY = Buffer.from('{"numero_dps":"12","prestador":"São João & Cia"}');

const folder = freshFolder();
const inFolder = (name: string, content: string | Buffer): string => {
  const file = path.join(folder, name);
  writeFileSync(file, content);
  return file;
};

const pki = opensslAuthority();
/** Key identifiers only help to find an issuer: openssl compares them, and we compare keys. */
const NO_KEY_IDS = ['subjectKeyIdentifier=none', 'authorityKeyIdentifier=none'];
const root = pki.issue({ subject: '/O=ICP-Brasil/CN=AC Raiz de Teste', key: 'root', extensions: CA, days: 3_650 });
const inter = pki.issue({
  subject: '/O=ICP-Brasil/CN=AC Teste G1',
  issuer: root,
  key: 'inter',
  days: 3_650,
  extensions: [...CA, ...NO_KEY_IDS, 'extendedKeyUsage=clientAuth,emailProtection'],
});
const end = pki.issue({
  subject: '/O=ICP-Brasil/CN=EMPRESA:11222333000181',
  issuer: inter,
  extensions: [
    ...END,
    ...NO_KEY_IDS,
    'extendedKeyUsage=clientAuth,emailProtection',
    'certificatePolicies=2.16.76.1.2.1.99999',
    'subjectAltName=email:ana@example.com,DNS:www.example.com,otherName:2.16.76.1.3.3;PRINTABLESTRING:11222333000181',
  ],
});
const { trust } = open({ 'raiz.pem': root.pem });

type Tally = { agree: number; stricter: number; unasked: number };

/** Every change in turn; `ours` and `theirs` say whether the change is accepted. */
function compare(
  draw: Draw,
  make: () => { readonly ours: boolean; readonly theirs: () => boolean; readonly told: () => string },
): Tally {
  const tally = { agree: 0, stricter: 0, unasked: 0 };
  for (let count = 0; count < CHANGES; count += 1) {
    const { ours, theirs, told } = make();
    if (!ours && draw(ASKED_OF) > 0) tally.unasked += 1;
    else if (theirs() === ours) tally.agree += 1;
    else if (ours) assert.fail(`seed ${SEED}, change ${count}: taken here and refused by openssl: ${told()}`);
    else tally.stricter += 1;
  }
  return tally;
}

function succeeds(...args: readonly string[]): boolean {
  try {
    openssl(...args);
    return true;
  } catch {
    return false;
  }
}

const bundle = inFolder('raiz.pem', root.pem);
const body = inFolder('corpo.json', BODY);

test(`CMS: of ${CHANGES} changes none is taken that openssl refuses`, (context) => {
  const chance = chanceOf(SEED);
  const chain = inFolder('cadeia.pem', inter.pem);
  const by = ['-signer', end.file, '-inkey', end.keyFile, '-certfile', chain, '-outform', 'DER'];
  const base = [[], ['-noattr'], ['-nosmimecap'], ['-cades'], ['-md', 'sha512']].map((options) =>
    openssl('cms', '-sign', '-binary', '-in', body, ...by, ...options),
  );
  const taken = (cms: Buffer): boolean => {
    const { faults, certificate, extra } = verifyCms(cms.toString('base64'), BODY, 'X-DPS-Assinatura');
    return faults.length === 0 && trust.judge(certificate!, AT, extra).kind === 'trusted';
  };
  const file = path.join(folder, 'cms.der');
  const theirs = (cms: Buffer): boolean => {
    writeFileSync(file, cms);
    const asked = ['cms', '-verify', '-binary', '-inform', 'DER', '-in', file, '-content', body, '-out', '/dev/null'];
    return ['smimesign', 'sslclient'].some((purpose) =>
      succeeds(...asked, '-CAfile', bundle, '-purpose', purpose, '-attime', String(Math.floor(AT / 1000))),
    );
  };
  for (const cms of base) assert.ok(taken(cms) && theirs(cms));
  const tally = compare(chance.below, () => {
    const cms = mutatedAsn1(base[chance.below(base.length)]!, chance.below);
    return { ours: taken(cms), theirs: () => theirs(cms), told: () => cms.toString('base64') };
  });
  context.diagnostic(`semente ${SEED}: ${JSON.stringify(tally)}`);
});

/** A certificate with changed contents, signed by its issuer like any other. */
function reissued({ der: whole }: Issued, { keyFile }: Issued, draw: Draw): Buffer {
  const [tbs, algorithm] = readAsn1(whole).children.map(({ raw }) => raw);
  const changed = mutatedAsn1(tbs!, draw);
  const signature = sign('sha256', changed, createPrivateKey(readFileSync(keyFile)));
  return der.sequence(changed, algorithm!, der.bitString(signature));
}

test(`chains: of ${CHANGES} changes none is taken that openssl refuses`, (context) => {
  const chance = chanceOf(SEED + 1);
  const taken = (signer: Buffer, authority: Buffer): boolean => {
    const [certificate, issuer] = [readCertificate(signer), readCertificate(authority)];
    if ('problem' in certificate) return false;
    const extra = 'problem' in issuer ? [] : [issuer];
    const withChain = { ...trust, judge: (one: typeof certificate, at: number) => trust.judge(one, at, extra) };
    const question = { documento: undefined, parte: 'prestador', trust: withChain, at: AT, xpath: '' };
    return signerFaults(certificate, question, CMS_CODES).length === 0;
  };
  const pem = (bytes: Buffer): string =>
    `-----BEGIN CERTIFICATE-----\n${bytes.toString('base64').replace(/.{1,64}/g, '$&\n')}-----END CERTIFICATE-----\n`;
  const theirs = (signer: Buffer, authority: Buffer): boolean => {
    const [one, between] = [inFolder('um.pem', pem(signer)), inFolder('meio.pem', pem(authority))];
    const asked = ['verify', '-no-CApath', '-no-CAstore', '-auth_level', '2', '-CAfile', bundle, '-untrusted', between];
    return ['smimesign', 'sslclient'].some((purpose) =>
      succeeds(...asked, '-purpose', purpose, '-attime', String(Math.floor(AT / 1000)), one),
    );
  };
  assert.ok(taken(end.der, inter.der) && theirs(end.der, inter.der));
  const tally = compare(chance.below, () => {
    const isEnd = chance.below(2) === 0;
    const signer = isEnd ? reissued(end, inter, chance.below) : end.der;
    const authority = isEnd ? inter.der : reissued(inter, root, chance.below);
    return {
      ours: taken(signer, authority),
      theirs: () => theirs(signer, authority),
      told: () => `${pem(signer)}${pem(authority)}`,
    };
  });
  context.diagnostic(`semente ${SEED}: ${JSON.stringify(tally)}`);
});
