/** What xmlsec1 says of a signed DPS, with the certificate of the provider as the one key it trusts; whatever stands in KeyInfo. */
import { spawnSync } from 'node:child_process';
import { inFolder, NAMESPACE, provider } from './signed-documents.ts';
import { toolOr } from './tools.ts';

export const XMLSEC = toolOr('xmlsec1', 'xmlsec1');
export const CERTIFICATE_PEM = inFolder('certificado.pem', provider.pem);

export const XMLSEC_VERIFY = [
  '--verify',
  '--id-attr:Id',
  `${NAMESPACE}:infDPS`,
  '--pubkey-cert-pem',
  CERTIFICATE_PEM,
  '--enabled-key-data',
  'rsa',
];

/** Of each file, whether it verifies: a process each, several at a time. */
export function xmlsecVerdicts(files: readonly string[]): ReadonlyMap<string, boolean> {
  const script = `"$@" >/dev/null 2>&1 && echo "OK $F" || echo "NO $F"`;
  const run = spawnSync(
    'xargs',
    ['-P', '2', '-I', '{}', 'env', 'F={}', 'sh', '-c', script, 'sh', XMLSEC!, ...XMLSEC_VERIFY, '{}'],
    { input: files.join('\n'), encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 },
  );
  return new Map(
    run.stdout
      .split('\n')
      .filter(Boolean)
      .map((line) => [line.slice(3), line.startsWith('OK')]),
  );
}
