/** Certificates made with the openssl command in a folder that is removed when the test file ends. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onEnd } from './cleanup.ts';

export type Pem = { readonly key: string; readonly cert: string; readonly keyFile: string; readonly certFile: string };

/** An authority and a function that issues certificates from it. */
export type TestAuthority = {
  readonly ca: string;
  readonly caFile: string;
  issue(name: string, extensions: string): Pem;
};

export const SERVER_EXTENSIONS = 'subjectAltName=DNS:localhost,IP:127.0.0.1\nextendedKeyUsage=serverAuth';
export const CLIENT_EXTENSIONS = 'extendedKeyUsage=clientAuth';

export function createAuthority(name: string): TestAuthority {
  const folder = mkdtempSync(path.join(tmpdir(), 'nfse-tls-'));
  onEnd(() => rmSync(folder, { recursive: true, force: true }));
  const openssl = (...args: readonly string[]): void => {
    execFileSync('openssl', args, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
  };
  const read = (file: string): string => readFileSync(path.join(folder, file), 'utf8');
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  openssl('req', '-x509', ...newKey, '-days', '30', '-subj', `/CN=${name}`, '-keyout', 'ca.key', '-out', 'ca.pem');
  return {
    ca: read('ca.pem'),
    caFile: path.join(folder, 'ca.pem'),
    issue: (subject, extensions) => {
      writeFileSync(path.join(folder, 'config'), `[req]\ndistinguished_name=dn\n[dn]\n[ext]\n${extensions}\n`);
      const named = ['-subj', `/CN=${subject}`, '-config', 'config', '-extensions', 'ext', '-days', '30'];
      const files = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-keyout', `${subject}.key`, '-out', `${subject}.pem`];
      openssl('req', '-x509', ...newKey, ...named, ...files);
      return {
        key: read(`${subject}.key`),
        cert: read(`${subject}.pem`),
        keyFile: path.join(folder, `${subject}.key`),
        certFile: path.join(folder, `${subject}.pem`),
      };
    },
  };
}
