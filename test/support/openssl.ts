/** A certificate authority for one test, made by `openssl`: certificates and revocation lists that our code did not write. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onEnd } from './cleanup.ts';
import { readyPem } from './keys.ts';

export type Issued = {
  readonly subject: string;
  readonly pem: string;
  readonly der: Buffer;
  readonly file: string;
  readonly keyFile: string;
  readonly serial: string;
};

export type Wish = {
  /** The subject in openssl's syntax: `/O=ICP-Brasil/CN=…`. */
  readonly subject: string;
  /** Absent: the certificate is self-signed. */
  readonly issuer?: Issued;
  /** Lines of the extension section. */
  readonly extensions?: readonly string[];
  /** Lines of additional sections, each with its `[name]`. */
  readonly sections?: readonly string[];
  readonly days?: number;
  readonly serial?: string;
  readonly digest?: string;
  /** The name of a key, RSA or of another `genpkey` algorithm; a key is made once a name. */
  readonly key?: string;
};

export type RevokedEntry = { readonly serial: string; readonly date: string; readonly reason?: string };

export type CrlWish = {
  readonly issuer: Issued;
  readonly entries: readonly RevokedEntry[];
  /** Arguments of openssl for the dates: `['-crldays', '30']` or `['-crl_lastupdate', …, '-crl_nextupdate', …]`. */
  readonly dates?: readonly string[];
  readonly extensions?: readonly string[];
};

export const CA = ['basicConstraints=critical,CA:TRUE', 'keyUsage=critical,keyCertSign,cRLSign'];
export const END = ['basicConstraints=CA:FALSE', 'keyUsage=critical,digitalSignature,nonRepudiation'];

/** A folder that is removed when the test file ends. */
export function freshFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'nfse-pki-'));
  onEnd(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export function openssl(...args: readonly string[]): Buffer {
  return execFileSync('openssl', args, { stdio: ['ignore', 'pipe', 'pipe'] });
}

export const KEYS: Readonly<Record<string, readonly string[]>> = {
  rsa1024: ['-algorithm', 'RSA', '-pkeyopt', 'rsa_keygen_bits:1024'],
  ec: ['-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-256'],
  p192: ['-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-192'],
  brainpool: ['-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:brainpoolP256r1'],
  explicit: ['-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-256', '-pkeyopt', 'ec_param_enc:explicit'],
  ed25519: ['-algorithm', 'ED25519'],
};

/** Makes certificates in a folder of its own. Certificates share keys by name, because a key takes longer than all the rest. */
export function opensslAuthority(): {
  issue(wish: Wish): Issued;
  revoke(wish: CrlWish): Buffer;
  keyFile(name: string): string;
} {
  const folder = freshFolder();
  const keys = new Map<string, string>();
  const lists = new Map<string, Buffer>();
  let count = 0;

  function keyFile(name: string): string {
    const known = keys.get(name);
    if (known !== undefined) return known;
    const file = path.join(folder, `${name}.key`);
    if (name === 'dsa') {
      // The parameters of the group come first, and take longer than the key.
      openssl(
        'genpkey',
        '-genparam',
        '-algorithm',
        'DSA',
        '-pkeyopt',
        'dsa_paramgen_bits:1024',
        '-out',
        `${file}.group`,
      );
      openssl('genpkey', '-paramfile', `${file}.group`, '-out', file);
    } else if (Object.hasOwn(KEYS, name)) openssl('genpkey', ...KEYS[name]!, '-out', file);
    else writeFileSync(file, readyPem(), { mode: 0o600 });
    keys.set(name, file);
    return file;
  }

  function issue(wish: Wish): Issued {
    count += 1;
    const serial = wish.serial ?? `0x${(0x5a00 + count).toString(16)}`;
    const key = keyFile(wish.key ?? (wish.extensions === CA ? 'authority' : 'end'));
    const base = path.join(folder, String(count));
    const config = ['[req]', 'distinguished_name=dn', 'string_mask=utf8only', '[dn]', '[ext]'];
    writeFileSync(`${base}.cnf`, [...config, ...(wish.extensions ?? END), ...(wish.sections ?? []), ''].join('\n'));
    const digest = `-${wish.digest ?? 'sha256'}`;
    const named = ['-config', `${base}.cnf`, '-extensions', 'ext', '-key', key, '-subj', wish.subject, '-utf8'];
    const by = wish.issuer === undefined ? [] : ['-CA', wish.issuer.file, '-CAkey', wish.issuer.keyFile];
    const last = ['-days', String(wish.days ?? 365), '-set_serial', serial, digest, '-out', `${base}.pem`];
    openssl('req', '-x509', '-new', ...named, ...by, ...last);
    const pem = readFileSync(`${base}.pem`, 'utf8');
    const der = Buffer.from(pem.replace(/-----[^-]+-----/g, ''), 'base64');
    return { subject: wish.subject, pem, der, file: `${base}.pem`, keyFile: key, serial };
  }

  /** A revocation list in PEM; the same wish gives the same list again. */
  function revoke(wish: CrlWish): Buffer {
    const question = JSON.stringify({ ...wish, issuer: wish.issuer.file });
    const list = lists.get(question) ?? makeList(wish);
    lists.set(question, list);
    return list;
  }

  function makeList({ issuer, entries, dates = ['-crldays', '30'], extensions = [] }: CrlWish): Buffer {
    count += 1;
    const base = path.join(folder, `crl${count}`);
    const lines = entries.map(({ serial, date, reason }) => {
      const since = reason === undefined ? date : `${date},${reason}`;
      const hex = serial.replace(/^0x/, '').toUpperCase();
      return `R\t491231235959Z\t${since}\t${hex.length % 2 ? `0${hex}` : hex}\tunknown\t/CN=x\n`;
    });
    writeFileSync(`${base}.txt`, lines.join(''));
    writeFileSync(`${base}.txt.attr`, 'unique_subject = no\n');
    const config = ['[ca]', 'default_ca=own', '[own]', `database=${base}.txt`, 'default_md=sha256'];
    const section = extensions.length === 0 ? [] : ['crl_extensions=crlext', '[crlext]', ...extensions];
    writeFileSync(`${base}.cnf`, [...config, ...section, ''].join('\n'));
    const by = ['-cert', issuer.file, '-keyfile', issuer.keyFile];
    openssl('ca', '-config', `${base}.cnf`, '-gencrl', ...by, ...dates, '-out', `${base}.pem`);
    return readFileSync(`${base}.pem`);
  }

  return { issue, revoke, keyFile };
}
