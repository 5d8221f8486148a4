/**
 * The revocation lists of a municipality: which of them count, what they say of a certificate, and the warnings for the operator
 * (D-131).
 */
import path from 'node:path';
import { BRASILIA, brazilianDate, brazilianMoment, momentIn } from '../fiscal/moment.ts';
import { type Certificate, isSignedBy } from './certificate.ts';
import type { Crl, Revocation } from './crl.ts';

export type FileCrl = Crl & { readonly arquivo: string };

export type Lists = {
  /** Authorities that the operator put there; undefined: the national ones are trusted. */
  readonly own: readonly Certificate[] | undefined;
  /** By the name of their subject. */
  readonly authorities: ReadonlyMap<string, readonly Certificate[]>;
  /** By the name of their issuer, newest first. */
  readonly crls: ReadonlyMap<string, readonly FileCrl[]>;
};

export type Say = (fields: object, message: string) => void;

/** What the lists of an authority say of a certificate: usually nothing. `extra` as {@link currentCrls} has it. */
export function revocationOf(
  lists: Lists,
  child: Certificate,
  issuer: Certificate,
  extra?: readonly Certificate[],
): readonly Revocation[] {
  return currentCrls(lists, issuer, extra).flatMap((crl) => crl.find(child.serial) ?? []);
}

/**
 * The authorities of a chain without a list that proves a certificate not revoked: signed by them, whole, and in force. Other
 * lists still revoke what they name (D-301).
 */
export function authoritiesWithoutList(
  lists: Lists,
  chain: readonly Certificate[],
  at: number,
  extra?: readonly Certificate[],
): readonly Certificate[] {
  const inForce = ({ isWhole, proxima }: FileCrl): boolean => isWhole && (proxima === undefined || proxima >= at);
  return chain.slice(1).filter((issuer) => !currentCrls(lists, issuer, extra).some(inForce));
}

/**
 * The lists that an authority signed, of each key and scope the newest. An authority that renewed its key, or has one for lists
 * alone, signs with another than it issued with (RFC 5280, 6.3.3). `extra`: certificates that came along.
 */
export function currentCrls(lists: Lists, issuer: Certificate, extra: readonly Certificate[] = []): readonly FileCrl[] {
  const named = lists.crls.get(issuer.subjectName) ?? [];
  const seen = new Set<string>();
  return named.filter((crl) => {
    const signer = crl.isSignedBy(issuer)
      ? issuer
      : otherKeysOf(lists, issuer, extra).find((one) => crl.isSignedBy(one));
    if (signer === undefined) return false;
    // A newer list of one key does not replace the list of another key.
    const key = `${signer.fingerprint} ${crl.scope}`;
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

/** Certificates of the same authority with another key: of the same name, and signed by it, for it, or by whoever signed it. */
function otherKeysOf(
  { authorities }: Lists,
  issuer: Certificate,
  extra: readonly Certificate[],
): readonly Certificate[] {
  const called = (name: string): readonly Certificate[] => [
    ...(authorities.get(name) ?? []),
    ...extra.filter((one) => one.subjectName === name),
  ];
  const parents = called(issuer.issuerName).filter((one) => isSignedBy(issuer, one));
  return called(issuer.subjectName).filter(
    (one) =>
      one.fingerprint !== issuer.fingerprint &&
      [issuer, ...parents].some((by) => isSignedBy(one, by) || isSignedBy(issuer, one)),
  );
}

/** The day in Brazil of a moment, as people write it. */
export function dayInBrazil(instant: number): string {
  return brazilianDate(momentIn(BRASILIA, instant).date);
}

/** The day and the time in Brazil of a moment. */
export function timeInBrazil(instant: number): string {
  return brazilianMoment(momentIn(BRASILIA, instant));
}

/** What the operator should know of the lists that a trusted chain asks for. */
export function remarkOnLists(
  lists: Lists,
  chain: readonly Certificate[],
  at: number,
  revogados: string,
  say: Say,
): void {
  for (const issuer of chain.slice(1)) {
    // A root may leave it to those below it to have lists.
    remarkOnListsOf(lists, issuer, at, { revogados, isAsked: issuer !== chain.at(-1) || chain.length === 2 }, say);
  }
}

/** `isAsked`: somebody signs with what it issues, so that it must have a list. */
function remarkOnListsOf(
  known: Lists,
  issuer: Certificate,
  at: number,
  { revogados, isAsked }: { readonly revogados: string; readonly isAsked: boolean },
  say: Say,
): void {
  const lists = currentCrls(known, issuer);
  const remark = (arquivo: string, message: string): void =>
    say({ arquivo: path.join(revogados, arquivo) }, `${arquivo}: a LCR ${message}`);
  for (const { arquivo, emissor, proxima } of lists) {
    if (proxima === undefined || proxima >= at) continue;
    const day = dayInBrazil(proxima);
    remark(arquivo, `de "${emissor}" venceu em ${day}; o que ela revoga continua revogado, mas falta a lista nova`);
  }
  if (lists.length > 0) return;
  const others = known.crls.get(issuer.subjectName) ?? [];
  const namesakes = known.authorities.get(issuer.subjectName) ?? [];
  for (const crl of others) {
    if (namesakes.some((one) => crl.isSignedBy(one))) continue;
    const why = namesakes.some((one) => crl.isByKeyOf(one))
      ? `foi assinada por "${crl.emissor}", mas o uso da chave (keyUsage) do certificado dessa autoridade não traz cRLSign, e sem ele ela não assina listas`
      : `traz o nome de "${crl.emissor}", mas não foi assinada por essa autoridade`;
    remark(crl.arquivo, `${why}; ela não é usada`);
  }
  const message = `não há LCR de "${issuer.titular}" na pasta ${revogados}: a revogação do que ela emite não é verificada`;
  if (isAsked) say({ pasta: revogados }, message);
}

/** Of the operator's own authorities, all; of the national ones, which are many, those that have a list. */
export function remarkOnAll(lists: Lists, at: number, revogados: string, say: Say): void {
  const { own, crls, authorities } = lists;
  if (own === undefined && crls.size === 0) {
    say({ pasta: revogados }, `não há nenhuma LCR na pasta ${revogados}: a revogação não é verificada`);
  }
  for (const one of own ?? [...crls.keys()].flatMap((name) => authorities.get(name) ?? [])) {
    const isAsked = own !== undefined && !own.some((other) => other !== one && other.issuerName === one.subjectName);
    remarkOnListsOf(lists, one, at, { revogados, isAsked }, say);
  }
}
