/** Chains of certificates that openssl made: how our trust is opened over them, and what openssl says of the same question. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { type Certificate, readCertificate } from '../../src/documents/certificate.ts';
import { openTrust, type Trust, type Verdict } from '../../src/documents/trust.ts';
import { freshFolder, type Issued, openssl } from './openssl.ts';

export function read(issued: { readonly der: Uint8Array }): Certificate {
  const certificate = readCertificate(issued.der);
  assert.ok(!('problem' in certificate), 'problem' in certificate ? certificate.problem : '');
  return certificate;
}

export type Files = Readonly<Record<string, string | Uint8Array>>;

export function folderOf(files: Files): string {
  const folder = freshFolder();
  for (const [name, content] of Object.entries(files)) writeFileSync(path.join(folder, name), content);
  return folder;
}

export type Opened = {
  readonly trust: Trust;
  readonly warnings: readonly string[];
  readonly ancoras: string;
  readonly revogados: string | undefined;
};

export function open(anchors: Files, crls?: Files): Opened {
  const warnings: string[] = [];
  const ancoras = folderOf(anchors);
  const revogados = crls === undefined ? undefined : folderOf(crls);
  const trust = openTrust({ ancoras, revogados }, { warn: (_, message) => void warnings.push(message) });
  return { trust, warnings, ancoras, revogados };
}

export function motivo(verdict: Verdict): string {
  return verdict.kind === 'trusted' ? `trusted: ${verdict.cadeia.join(' < ')}` : `${verdict.kind}: ${verdict.mensagem}`;
}

/** Whether openssl trusts a certificate for signing e-mail or for showing oneself to a server, which are what we ask for. */
export function opensslTrusts(anchors: readonly Issued[], extra: readonly Issued[], one: Issued, at: number): boolean {
  const bundle = (list: readonly Issued[]): string =>
    path.join(folderOf({ 'a.pem': list.map(({ pem }) => pem).join('') }), 'a.pem');
  const untrusted = extra.length === 0 ? [] : ['-untrusted', bundle(extra)];
  const when = ['-attime', String(Math.floor(at / 1000))];
  const args = ['-no-CApath', '-no-CAstore', '-CAfile', bundle(anchors), ...untrusted, ...when];
  return ['smimesign', 'sslclient'].some((purpose) => {
    try {
      openssl('verify', '-partial_chain', '-auth_level', '2', '-purpose', purpose, ...args, one.file);
      return true;
    } catch {
      return false;
    }
  });
}
