/** xmlsec1's verdict on a signed DPS. The provider's certificate is its only trusted key; it ignores KeyInfo. */
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

/** Processor seconds after which a file counts as not verified: some files are made to take hours. */
const CPU_MAX_S = 5;
/** Files of one shell; several shells run concurrently. */
const FILES_OF_A_SHELL = '50';

/** The verdict on each file, by one process each. */
export function xmlsecVerdicts(files: readonly string[]): ReadonlyMap<string, boolean> {
  const command = [XMLSEC!, ...XMLSEC_VERIFY].map((word) => `'${word}'`).join(' ');
  const script = `ulimit -t ${CPU_MAX_S}; for F; do ${command} "$F" >/dev/null 2>&1 && echo "OK $F" || echo "NO $F"; done`;
  const run = spawnSync('xargs', ['-P', '2', '-n', FILES_OF_A_SHELL, 'sh', '-c', script, 'sh'], {
    input: files.join('\n'),
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  return new Map(
    run.stdout
      .split('\n')
      .filter(Boolean)
      .map((line) => [line.slice(3), line.startsWith('OK')]),
  );
}
