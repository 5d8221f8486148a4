/**
 * The trust of a municipality (D-30): the authorities and the revocation lists of its folders, and the verdict on a certificate.
 *
 * A municipality without a folder trusts the roots of ICP-Brasil that come with this project. A root in its folder is an anchor. An
 * authority whose issuer is not in the folder is an anchor too: the operator put it there to be trusted. Any other authority only helps to
 * build chains. Revocation lists are a second folder.
 *
 * Nothing is asked over the network: no OCSP, no download. `signer-faults.ts` judges the validity and the holder of the certificate itself:
 * those refusals have separate codes.
 */
import path from 'node:path';
import { once } from '../fiscal/catalogs/table.ts';
import { type Certificate, isSignedBy, pemBlocks, readCertificate } from './certificate.ts';
import {
  type Authorities,
  type Chain,
  CLOCK_SKEW_MS,
  describeUnprocessed,
  findChain,
  hasCertificate,
  misuseOf,
  type Refused,
} from './chain.ts';
import { type Crl, readCrl } from './crl.ts';
import { type Contents, type FileOf, type Folder, type FolderLog, openFolder } from './folder.ts';
import { type Fundamento, makeFundamento } from './fundamento.ts';
import { nationalAuthorities } from './icp-brasil/national.ts';
import {
  authoritiesWithoutList,
  currentCrls,
  remarkOnAll,
  remarkOnLists,
  revocationOf,
  type Say,
} from './trust-lists.ts';

/** The number of certificates read from a signature: no chain needs more. */
const EXTRA_MAX = 16;

export type TrustSettings = {
  /** Folder of certificates (PEM or DER); undefined: the national roots that come with this project. */
  readonly ancoras: string | undefined;
  /** Folder of revocation lists (PEM or DER); undefined: revocation is not checked. */
  readonly revogados: string | undefined;
};

export type Verdict =
  | { readonly kind: 'trusted'; readonly cadeia: readonly string[]; readonly semLista: readonly string[] }
  | Refused;

export type Trust = {
  /**
   * The verdict on a signer's certificate. `at` is in milliseconds. `extra`: certificates sent with the signature, which may be
   * intermediates. `cadeia`: the names from the certificate to its anchor. `semLista`: the authorities of `cadeia` without a list of their
   * revoked certificates; all of them without a folder of lists. `mensagem` is Portuguese, for the signer: it names authorities and dates,
   * no path of this machine.
   */
  judge(certificate: Certificate, at: number, extra?: readonly Certificate[]): Verdict;
  /** The ground of a trusted certificate's verdict, asked right after {@link judge}; undefined for any other. */
  fundamento(certificate: Certificate, at: number, extra?: readonly Certificate[]): Fundamento | undefined;
  /** Warns of authorities without a list and of expired lists (D-131), before the first signature. */
  warnOfLists(at: number): void;
  /**
   * The revocation lists in the folder, the newest of each authority, with the date until which each is complete; undefined: no folder is
   * named.
   */
  lists(): readonly { readonly emissor: string; readonly proxima: number | undefined }[] | undefined;
};

/** The contents of the folders at a moment. A changed file makes a new state, without the kept verdicts. */
type State = Authorities & {
  readonly anchorFiles: readonly FileOf<Certificate>[] | undefined;
  readonly crlFiles: readonly FileOf<Crl>[] | undefined;
  readonly found: WeakMap<Certificate, Found>;
};

/** A kept verdict: it is valid between two moments. `needs`: fingerprints of certificates that must be sent again. */
type Found = {
  readonly verdict: Verdict;
  /** Made on demand. */
  readonly fundamento: () => Fundamento;
  readonly from: number;
  readonly until: number;
  readonly needs: readonly string[];
};

/** Folders are read once, however many municipalities share them. */
const anchorFolders = new Map<string, Folder<Certificate>>();
const crlFolders = new Map<string, Folder<Crl>>();

/**
 * Opens the folders and reads them. A changed file counts a few seconds later. It never throws: an unreadable file does not count, and a
 * warning names it to the operator.
 */
export function openTrust(settings: TrustSettings, log: FolderLog): Trust {
  const anchorFolder = folderAt(anchorFolders, settings.ancoras, readAnchors, log);
  const crlFolder = folderAt(crlFolders, settings.revogados, readCrls, log);
  const said = new Set<string>();
  const sayOnce = (fields: object, message: string): void => {
    if (said.has(message)) return;
    said.add(message);
    log.warn(fields, message);
  };
  let state: State | undefined;
  let isPreparing = false;

  /** The current state. The state before counts while the signatures of long lists are checked beside the requests. */
  function current(): State {
    const anchorFiles = anchorFolder?.current();
    const crlFiles = crlFolder?.current();
    if (state !== undefined && state.anchorFiles === anchorFiles && state.crlFiles === crlFiles) return state;
    const slow = crlFiles?.flatMap(({ values }) => values.filter((crl) => !crl.isReady())) ?? [];
    if (state === undefined || slow.length === 0) state = stateOf(anchorFiles, crlFiles, settings, sayOnce);
    else if (!isPreparing) {
      isPreparing = true;
      const { authorities } = state;
      Promise.all(slow.map((crl) => crl.prepare(authorities.get(crl.issuerName) ?? []))).finally(() => {
        isPreparing = false;
      });
    }
    return state;
  }

  function find(certificate: Certificate, at: number, extra?: readonly Certificate[]): Found | Refused {
    const now = current();
    const known = now.found.get(certificate);
    if (known !== undefined && isStillSo(known, at, extra)) return known;
    const misuse = misuseOf(certificate);
    if (misuse !== undefined) return { kind: 'misused', ...misuse };
    const sent = extra?.slice(0, EXTRA_MAX);
    const chain = findChain(now, certificate, at, sent);
    if ('kind' in chain) return chain;
    if (settings.revogados !== undefined) remarkOnLists(now, chain, at, settings.revogados, sayOnce);
    const found = rememberVerdict(now, chain, at, sent);
    now.found.set(certificate, found);
    return found;
  }

  current();
  return {
    warnOfLists(at) {
      if (settings.revogados !== undefined) remarkOnAll(current(), at, settings.revogados, sayOnce);
    },
    lists() {
      if (settings.revogados === undefined) return undefined;
      const newest = [...current().crls.values()].flatMap(([one]) => one ?? []);
      return newest.map(({ emissor, proxima }) => ({ emissor, proxima }));
    },
    judge(certificate, at, extra) {
      const found = find(certificate, at, extra);
      return 'kind' in found ? found : found.verdict;
    },
    fundamento(certificate, at, extra) {
      const found = find(certificate, at, extra);
      return 'kind' in found ? undefined : found.fundamento();
    },
  };
}

function folderAt<Value>(
  folders: Map<string, Folder<Value>>,
  where: string | undefined,
  read: (bytes: Buffer) => Generator<void, Contents<Value>, void>,
  log: FolderLog,
): Folder<Value> | undefined {
  if (where === undefined) return undefined;
  const place = path.resolve(where);
  const folder = folders.get(place) ?? openFolder(place, read, log);
  folders.set(place, folder);
  return folder;
}

// The contents of the folders.

function* readAnchors(bytes: Buffer): Generator<void, Contents<Certificate>, void> {
  const values: Certificate[] = [];
  const problems: string[] = [];
  const blocks = blocksOf(bytes, 'CERTIFICATE');
  if (blocks.length === 0) problems.push(noBlocks(bytes, 'certificado'));
  for (const [at, block] of blocks.entries()) {
    const certificate = readCertificate(block);
    const which = blocks.length === 1 ? '' : `certificado ${at + 1} do arquivo: `;
    if ('problem' in certificate) problems.push(`${which}${certificate.problem}`);
    else if (certificate.isCa) values.push(certificate);
    else problems.push(`${which}não é de uma autoridade certificadora (CA:TRUE), por isso não serve de âncora`);
    yield;
  }
  return { values, problems };
}

function* readCrls(bytes: Buffer): Generator<void, Contents<Crl>, void> {
  const values: Crl[] = [];
  const problems: string[] = [];
  const blocks = blocksOf(bytes, 'X509 CRL');
  if (blocks.length === 0) problems.push(noBlocks(bytes, 'lista de revogados (LCR)'));
  for (const block of blocks) {
    const crl = yield* readCrl(block);
    if ('problem' in crl) problems.push(crl.problem);
    else values.push(crl);
  }
  return { values, problems };
}

/** A file is PEM with any number of blocks, or one value in DER. */
function blocksOf(bytes: Buffer, label: string): readonly Buffer[] {
  return bytes[0] === 0x30 ? [bytes] : pemBlocks(bytes.toString('latin1'), label);
}

function noBlocks(bytes: Buffer, what: string): string {
  const label = /-----BEGIN ([A-Z0-9 ]+)-----/.exec(bytes.toString('latin1', 0, 65_536))?.[1];
  if (label === undefined) return `não há ${what} em PEM ou DER no arquivo; ele não é usado`;
  const hint = label === 'PKCS7' ? ' (converta-o com: openssl pkcs7 -print_certs -in ARQUIVO -out NOVO.pem)' : '';
  return `o arquivo tem ${label}, não ${what}; ele não é usado${hint}`;
}

function stateOf(
  anchorFiles: readonly FileOf<Certificate>[] | undefined,
  crlFiles: readonly FileOf<Crl>[] | undefined,
  { ancoras, revogados }: TrustSettings,
  say: Say,
): State {
  const national = nationalAuthorities();
  for (const problem of national.problems) say({}, `autoridades da ICP-Brasil que acompanham o serviço: ${problem}`);
  const { anchors, others } =
    anchorFiles === undefined
      ? { anchors: national.raizes, others: national.intermediarias }
      : anchorsOf(anchorFiles, ancoras, say);
  // The national authorities help to build a chain to any anchor.
  const all = [...anchors, ...others, ...national.intermediarias];
  const unique = [...new Map(all.toReversed().map((one) => [one.fingerprint, one])).values()].reverse();
  const authorities = Map.groupBy(unique, (one) => one.subjectName);
  const lists = (crlFiles ?? []).flatMap(({ arquivo, values }) => values.map((crl) => ({ ...crl, arquivo })));
  for (const { arquivo, emissor, issuerName } of lists) {
    if (authorities.has(issuerName)) continue;
    const file = path.join(revogados ?? '', arquivo);
    say({ arquivo: file }, `${arquivo}: a LCR é de "${emissor}", cujo certificado não está na pasta de âncoras`);
  }
  return {
    anchorFiles,
    crlFiles,
    own: anchorFiles?.flatMap(({ values }) => values),
    anchors: new Set(anchors.map(({ fingerprint }) => fingerprint)),
    authorities,
    crls: Map.groupBy(
      lists.sort((one, other) => other.emitida - one.emitida),
      (crl) => crl.issuerName,
    ),
    found: new WeakMap(),
  };
}

/** A root is an anchor; so is an authority whose issuer is not in the folder. */
function anchorsOf(
  files: readonly FileOf<Certificate>[],
  ancoras: string | undefined,
  say: Say,
): { readonly anchors: readonly Certificate[]; readonly others: readonly Certificate[] } {
  const anchors: Certificate[] = [];
  const others: Certificate[] = [];
  const byName = Map.groupBy(
    files.flatMap(({ values }) => values),
    (one) => one.subjectName,
  );
  for (const { arquivo, values } of files) {
    const fields = { arquivo: path.join(ancoras ?? '', arquivo) };
    for (const one of values) {
      if (one.unprocessed.length > 0) {
        const what = `"${one.titular}" ${describeUnprocessed(one.unprocessed)}`;
        say(fields, `${arquivo}: ${what}; toda assinatura que dependa dessa autoridade será recusada`);
      }
      const issuers = byName.get(one.issuerName)?.filter((issuer) => isSignedBy(one, issuer)) ?? [];
      const isRoot = issuers.some((issuer) => issuer.fingerprint === one.fingerprint);
      if (!isRoot && issuers.length > 0) {
        others.push(one);
        continue;
      }
      anchors.push(one);
      if (isRoot) continue;
      const what = `"${one.titular}" não é uma raiz, e o emissor "${one.emissor}" não está na pasta`;
      say(fields, `${arquivo}: ${what}; passa a ser âncora por si. Se não é o que se quer, junte a raiz ou retire-o`);
    }
  }
  if (anchors.length === 0) {
    say({ pasta: ancoras }, `não há nenhuma âncora na pasta ${ancoras}: toda assinatura será recusada`);
  }
  return { anchors, others };
}

/** True when a kept verdict is valid at a moment, with the certificates sent along. */
function isStillSo({ from, until, needs }: Found, at: number, extra: readonly Certificate[] | undefined): boolean {
  return at >= from && at <= until && needs.every((one) => hasCertificate(extra, one));
}

/** The verdict on a found chain, and the two moments between which it needs no new search. */
function rememberVerdict(state: State, chain: Chain, at: number, extra?: readonly Certificate[]): Found {
  const above = chain.slice(1);
  const isKnown = (one: Certificate): boolean =>
    hasCertificate(state.authorities.get(one.subjectName), one.fingerprint);
  const lists = above.flatMap((issuer) => currentCrls(state, issuer, extra));
  // The operator is warned when a list expires; an entry with a later date revokes from that date on.
  const turns = [
    ...lists.flatMap(({ proxima }) => (proxima === undefined || proxima < at ? [] : proxima)),
    ...above.flatMap((issuer, place) =>
      revocationOf(state, chain[place]!, issuer, extra).map(({ em }) => em - CLOCK_SKEW_MS - 1),
    ),
  ];
  return {
    verdict: {
      kind: 'trusted',
      cadeia: chain.map(({ titular }) => titular),
      semLista: authoritiesWithoutList(state, chain, at, extra).map(({ titular }) => titular),
    },
    fundamento: once(() => makeFundamento(above, lists)),
    from: Math.max(...above.map(({ inicio }) => inicio)),
    until: Math.min(...above.map(({ fim }) => fim), ...turns),
    needs: above.filter((one) => !isKnown(one)).map(({ fingerprint }) => fingerprint),
  };
}
