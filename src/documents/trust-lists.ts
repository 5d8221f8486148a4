/**
 * The revocation lists of a municipality: the lists that count, their answer on a certificate, and the warnings for the operator (D-131).
 */
import path from 'node:path';
import { BRASILIA, brazilianMoment, formatDayInBrazil, momentIn } from '../fiscal/moment.ts';
import { type Certificate, isSignedBy } from './certificate.ts';
import type { Crl, Revocation } from './crl.ts';

export type FileCrl = Crl & { readonly arquivo: string };

export type Lists = {
  /** Authorities from the operator's folder; undefined: the national ones are trusted. */
  readonly own: readonly Certificate[] | undefined;
  /** Authorities by the name of their subject. */
  readonly authorities: ReadonlyMap<string, readonly Certificate[]>;
  /** Lists by the name of their issuer, newest first. */
  readonly crls: ReadonlyMap<string, readonly FileCrl[]>;
};

export type Say = (fields: object, message: string) => void;

/** The revocation of a certificate in the lists of an authority; usually none. `extra` as in {@link currentCrls}. */
export function revocationOf(
  lists: Lists,
  child: Certificate,
  issuer: Certificate,
  extra?: readonly Certificate[],
): readonly Revocation[] {
  return currentCrls(lists, issuer, extra).flatMap((crl) => crl.find(child.serial) ?? []);
}

/**
 * The authorities of a chain without a list that proves a certificate not revoked. Such a list is signed by them, whole, and in force.
 * Other lists still revoke their entries (D-131).
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
 * The lists that an authority signed: the newest of each key and scope. An authority with a renewed key, or a separate one for lists, has
 * two signing keys (RFC 5280, 6.3.3). `extra`: certificates sent with the signature.
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

/** Certificates of the same authority with another key: of the same name, and signed by it, for it, or by its own signer. */
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

/** The date and the time in Brazil of a moment. */
export function timeInBrazil(instant: number): string {
  return brazilianMoment(momentIn(BRASILIA, instant));
}

/** Warnings for the operator about the lists that a trusted chain needs. */
export function remarkOnLists(
  lists: Lists,
  chain: readonly Certificate[],
  at: number,
  revogados: string,
  say: Say,
): void {
  for (const issuer of chain.slice(1)) {
    // A root may leave revocation lists to the authorities below it.
    remarkOnListsOf(lists, issuer, at, { revogados, isAsked: issuer !== chain.at(-1) || chain.length === 2 }, say);
  }
}

/** `isAsked`: the authority issues certificates of signers, so it must have a list. */
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
    const day = formatDayInBrazil(proxima);
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

/** Warns about all of the operator's own authorities; and about the national ones with a list, because they are many. */
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
