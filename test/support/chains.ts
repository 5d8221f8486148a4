/** Chains of certificates that openssl made: the trust store of our code over them, and openssl's verdict on the same question. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { type Certificate, readCertificate } from '../../src/documents/certificate.ts';
import { openTrust, type Trust, type Verdict } from '../../src/documents/trust.ts';
import { freshFolder, type Issued } from './openssl.ts';

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

/** A question to openssl: does a certificate lead to an anchor, through other certificates, at a moment? */
export type Question = {
  readonly anchors: readonly Issued[];
  readonly extra: readonly Issued[];
  readonly end: Issued;
  readonly at: number;
};

/**
 * openssl's verdict on each question: does it trust the certificate for e-mail signatures or for a TLS client? Those are the purposes that
 * our code accepts. One call of openssl answers all questions with the same anchors, other certificates and moment.
 */
export function opensslTrustsEach(questions: readonly Question[]): readonly boolean[] {
  const alike = Map.groupBy(questions, ({ anchors, extra, at }) =>
    JSON.stringify([anchors.map(({ file }) => file), extra.map(({ file }) => file), at]),
  );
  const trusted = new Set([...alike.values()].flatMap(trustedAlike));
  return questions.map((question) => trusted.has(question));
}

/** Answers for questions that differ in the certificate alone. */
function trustedAlike(questions: readonly Question[]): readonly Question[] {
  const { anchors, extra, at } = questions[0]!;
  const untrusted = extra.length === 0 ? [] : ['-untrusted', bundleOf(extra)];
  const when = ['-attime', String(Math.floor(at / 1000))];
  const args = ['-no-CApath', '-no-CAstore', '-CAfile', bundleOf(anchors), ...untrusted, ...when];
  const said = new Set<string>();
  for (const purpose of ['smimesign', 'sslclient']) {
    const files = questions.map(({ end }) => end.file).filter((file) => !said.has(`${file}: OK`));
    if (files.length === 0) break;
    const strict = ['-partial_chain', '-auth_level', '2', '-purpose', purpose];
    // openssl continues after a certificate that it does not trust, and then exits with a failure.
    const { stdout } = spawnSync('openssl', ['verify', ...strict, ...args, ...files], { encoding: 'utf8' });
    for (const line of stdout.split('\n')) said.add(line);
  }
  return questions.filter(({ end }) => said.has(`${end.file}: OK`));
}

function bundleOf(list: readonly Issued[]): string {
  return path.join(folderOf({ 'a.pem': list.map(({ pem }) => pem).join('') }), 'a.pem');
}
