/**
 * Trust: from a certificate up to an authority that the municipality trusts, and whether any of them was revoked (D-30).
 *
 * Anchors are a folder of certificates that the operator keeps, or else the roots of ICP-Brasil that this project brings
 * along. An authority in the folder that is no root, and whose own issuer is not there, was put there to be trusted, and
 * is an anchor too; one whose issuer is there only helps to build chains. Revocation lists are a second folder.
 *
 * It does not look at the validity of the end certificate itself, nor at whose it is: other refusals, with codes of
 * their own. It asks nobody: no OCSP, no download.
 */
import path from 'node:path';
import { told } from '../fiscal/fault.ts';
import { type Certificate, pemBlocks, readCertificate } from './certificate.ts';
import { type Crl, readCrl } from './crl.ts';
import { type Contents, type FileOf, type Folder, type FolderLog, openFolder } from './folder.ts';
import { nationalAuthorities } from './icp-brasil/national.ts';
import { isSignedBy } from './issued.ts';
import { constraintFault } from './name-constraints.ts';
import { PURPOSES_TAKEN, purposesIn, purposesShown } from './purposes.ts';
import {
  authoritiesWithoutList,
  currentCrls,
  dated,
  type Lists,
  remarkOnAll,
  remarkOnLists,
  revocationOf,
  type Say,
} from './trust-lists.ts';

/** Chains of ICP-Brasil have three or four certificates. */
const CHAIN_MAX = 8;
/** Certificates that came along and are looked at; a sender has no use for more. */
const EXTRA_MAX = 16;
/** Steps of one search: made-up authorities that vouch for one another must not keep us busy. */
const STEPS_MAX = 200;
/** A list that names a certificate counts although its clock is a little ahead of ours. */
const CLOCK_SKEW_MS = 3_600_000;

export type TrustSettings = {
  /** Folder of certificates (PEM or DER); undefined: the national roots we ship. */
  readonly ancoras: string | undefined;
  /** Folder of revocation lists (PEM or DER); undefined: revocation is not looked at. */
  readonly revogados: string | undefined;
};

export type Verdict =
  | { readonly kind: 'trusted'; readonly cadeia: readonly string[]; readonly semLista: readonly string[] }
  | ({ readonly kind: 'untrusted' | 'revoked' | 'misused' } & Why);

/** In Portuguese, for whoever signed. `change`: what mends it, as a step. */
type Why = { readonly motivo: string; readonly change?: string };

/** What was found, and what mends it: the reason says both. */
function because(found: string, change: string): Why {
  const { mensagem: motivo, ...rest } = told(found, change);
  return { motivo, ...rest };
}

export type Trust = {
  /**
   * Whether a trusted authority vouches for a certificate that signs. `at` in milliseconds; `extra`: certificates that
   * came along with the signature and may stand in between. The names of `cadeia` go from the certificate to its anchor;
   * `semLista`: those of them whose lists could not tell whether what they issued is revoked; all, where no folder has lists.
   * `motivo` is Portuguese, for whoever signed: it names authorities and dates, no path of this machine.
   */
  judge(certificate: Certificate, at: number, extra?: readonly Certificate[]): Verdict;
  /** Warns of the authorities for which revocation is not checked, or by a list that has run out (D-131), before anybody signs. */
  warnOfLists(at: number): void;
};

/** Warnings for the operator, each given once. A logger of pino is one. */
export type TrustLog = FolderLog;

/** What the folders say at a moment. A change makes a new one, and with it everything that was remembered is gone. */
type State = Lists & {
  readonly anchorFiles: readonly FileOf<Certificate>[] | undefined;
  readonly crlFiles: readonly FileOf<Crl>[] | undefined;
  /** By fingerprint. */
  readonly anchors: ReadonlySet<string>;
  readonly found: WeakMap<Certificate, Found>;
};

/** A chain that was found: it holds between two moments, for whoever brings along what was not known here. */
type Found = {
  readonly verdict: Verdict;
  readonly from: number;
  readonly until: number;
  readonly needs: readonly string[];
};

/** Folders are read once, however many municipalities share them. */
const anchorFolders = new Map<string, Folder<Certificate>>();
const crlFolders = new Map<string, Folder<Crl>>();

/**
 * Opens the folders and reads them. They are followed: what changes counts a few seconds later. Never throws: what
 * cannot be read is warned about by name and does not count.
 */
export function openTrust(settings: TrustSettings, log: TrustLog): Trust {
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

  /** What the folders said before counts until the signatures of long lists have been checked beside the requests. */
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

  current();
  return {
    warnOfLists(at) {
      if (settings.revogados !== undefined) remarkOnAll(current(), at, settings.revogados, sayOnce);
    },
    judge(certificate, at, extra) {
      const misuse = misuseOf(certificate);
      if (misuse !== undefined) return { kind: 'misused', ...misuse };
      const now = current();
      const known = now.found.get(certificate);
      if (known !== undefined && at >= known.from && at <= known.until && known.needs.every((one) => has(extra, one))) {
        return known.verdict;
      }
      const search: Search = {
        state: now,
        isNational: settings.ancoras === undefined,
        at,
        extra: extra?.slice(0, EXTRA_MAX),
        steps: 0,
        deadEnd: undefined,
      };
      const chain = climb(search, [certificate]);
      if (chain === undefined) {
        const { depth: _depth, weight: _weight, ...verdict } = search.deadEnd!;
        return verdict;
      }
      if (settings.revogados !== undefined) remarkOnLists(now, chain, at, settings.revogados, sayOnce);
      const found = foundOf(search, chain);
      now.found.set(certificate, found);
      return found.verdict;
    },
  };
}

function has(certificates: readonly Certificate[] | undefined, fingerprint: string): boolean {
  return certificates?.some((one) => one.fingerprint === fingerprint) ?? false;
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

// What is in the folders.

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
  // The national authorities help to build a chain, wherever it must end.
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

/** A root is an anchor; so is an authority whose issuer the operator did not put beside it. */
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
    for (const one of values) {
      const issuers = byName.get(one.issuerName)?.filter((issuer) => isSignedBy(one, issuer)) ?? [];
      const isRoot = issuers.some((issuer) => issuer.fingerprint === one.fingerprint);
      if (!isRoot && issuers.length > 0) {
        others.push(one);
        continue;
      }
      anchors.push(one);
      if (isRoot) continue;
      const fields = { arquivo: path.join(ancoras ?? '', arquivo) };
      const what = `"${one.titular}" não é uma raiz, e o emissor "${one.emissor}" não está na pasta`;
      say(fields, `${arquivo}: ${what}; passa a ser âncora por si. Se não é o que se quer, junte a raiz ou retire-o`);
    }
  }
  if (anchors.length === 0) {
    say({ pasta: ancoras }, `não há nenhuma âncora na pasta ${ancoras}: toda assinatura será recusada`);
  }
  return { anchors, others };
}

// One certificate.

/** Why a certificate must not sign documents, whoever vouches for it. */
function misuseOf(certificate: Certificate): Why | undefined {
  const { isCa, titular, keyUsage, extKeyUsage, nameConstraints, unknownCritical } = certificate;
  if (isCa) {
    return because(
      `O certificado é de uma autoridade certificadora ("${titular}");`,
      'assine com o e-CNPJ ou e-CPF de quem emite.',
    );
  }
  if (keyUsage !== undefined && !keyUsage.includes('digitalSignature') && !keyUsage.includes('nonRepudiation')) {
    const uses = keyUsage.length === 0 ? 'nenhum uso' : keyUsage.join(', ');
    return {
      motivo: `O certificado não serve para assinar: o uso da chave (keyUsage) admite ${uses}, e precisa admitir digitalSignature ou nonRepudiation.`,
    };
  }
  if (purposesIn(extKeyUsage).length === 0) {
    return because(
      `O certificado não serve para assinar: o uso estendido da chave (extendedKeyUsage) admite ${purposesShown(extKeyUsage)}, e precisa admitir ${PURPOSES_TAKEN}.`,
      'Assine com o e-CNPJ ou e-CPF de quem emite.',
    );
  }
  if (nameConstraints !== undefined) {
    return because(
      'O certificado traz restrições de nomes (nameConstraints), que só têm sentido no de uma autoridade;',
      'peça outro a quem o emitiu.',
    );
  }
  if (unknownCritical.length > 0) {
    return {
      motivo: `O certificado traz a extensão crítica ${unknownCritical[0]}, que este serviço não conhece e por isso não pode aceitar.`,
    };
  }
  return undefined;
}

// The way up.

type Refused = { readonly kind: 'untrusted' | 'revoked' } & Why;

/** How far a way led, and why no further; of several the most telling one is answered. */
type DeadEnd = Refused & { readonly depth: number; readonly weight: number };

/** One search for a chain that holds at a moment: depth first, anchors before others, bounded. */
type Search = {
  readonly state: State;
  readonly isNational: boolean;
  readonly at: number;
  readonly extra: readonly Certificate[] | undefined;
  steps: number;
  deadEnd: DeadEnd | undefined;
};

type Chain = readonly [Certificate, ...Certificate[]];

function climb(search: Search, chain: Chain): Chain | undefined {
  const child = chain.at(-1)!;
  // Above a root there is nobody.
  const isRoot = child.subjectName === child.issuerName && isSignedBy(child, child);
  const issuers = isRoot ? [] : issuersOf(search, child).filter((one) => !has(chain, one.fingerprint));
  if (issuers.length === 0) giveUp(search, chain.length, 0, 'untrusted', missing(search, chain));
  for (const issuer of issuers) {
    search.steps += 1;
    if (search.steps > STEPS_MAX || chain.length >= CHAIN_MAX) {
      const why = because(
        `A cadeia do certificado passa de ${CHAIN_MAX} autoridades ou tem voltas demais;`,
        'envie só os certificados que levam à raiz.',
      );
      giveUp(search, chain.length, 0, 'untrusted', why);
      return undefined;
    }
    const obstacle = obstacleTo(search, chain, issuer);
    if (obstacle !== undefined) {
      giveUp(search, chain.length, ...obstacle);
      continue;
    }
    const longer: Chain = [...chain, issuer];
    const whole = search.state.anchors.has(issuer.fingerprint) ? withinNames(search, longer) : climb(search, longer);
    if (whole !== undefined) return whole;
  }
  return undefined;
}

function withinNames(search: Search, chain: Chain): Chain | undefined {
  const fault = nameFault(chain);
  if (fault === undefined) return chain;
  giveUp(search, chain.length, 0, 'untrusted', fault);
  return undefined;
}

function giveUp(search: Search, depth: number, weight: number, kind: Refused['kind'], why: Why): void {
  const best = search.deadEnd;
  const isHeavier = best === undefined || depth > best.depth || (depth === best.depth && weight > best.weight);
  // That something was revoked is never hidden by a way that led further.
  if (kind === 'revoked' ? best?.kind !== 'revoked' || isHeavier : best?.kind !== 'revoked' && isHeavier) {
    search.deadEnd = { kind, ...why, depth, weight };
  }
}

function issuersOf({ state, extra = [] }: Search, { issuerName }: Certificate): readonly Certificate[] {
  const known = state.authorities.get(issuerName) ?? [];
  return [...known, ...extra.filter((one) => one.subjectName === issuerName && !has(known, one.fingerprint))];
}

/** Why the last of a chain was not issued by an authority, or must not have been; the later, the nearer to the truth. */
function obstacleTo(
  { state, at, extra }: Search,
  chain: Chain,
  issuer: Certificate,
): [weight: number, kind: Refused['kind'], why: Why] | undefined {
  const child = chain.at(-1)!;
  const [whose, authority] = [nameIn(chain), `"${issuer.titular}"`];
  if (!isSignedBy(child, issuer)) {
    const why = because(
      `${whose} diz ter sido emitido por ${authority}, mas a assinatura não confere com a chave dessa autoridade. Se ela trocou de chave,`,
      'peça ao município que ponha o certificado novo dela, em PEM, na sua pasta de âncoras; se não trocou, o certificado não é dela: assine com outro.',
    );
    return [1, 'untrusted', why];
  }
  if (child.weakDigest !== undefined) {
    const motivo = `${whose} foi assinado por ${authority} com ${child.weakDigest}, que não é mais aceito.`;
    return [2, 'untrusted', { motivo }];
  }
  if (!issuer.isCa) {
    const motivo = `${whose} foi emitido por ${authority}, que não é autoridade certificadora.`;
    return [3, 'untrusted', { motivo }];
  }
  if (issuer.keyUsage?.includes('keyCertSign') === false) {
    const motivo = `${authority} emitiu um certificado, mas o uso da sua chave (keyUsage) não o permite.`;
    return [4, 'untrusted', { motivo }];
  }
  if (issuer.unknownCritical.length > 0) {
    const motivo = `O certificado de ${authority} traz a extensão crítica ${issuer.unknownCritical[0]}, que este serviço não conhece e por isso não pode aceitar.`;
    return [5, 'untrusted', { motivo }];
  }
  if (purposesOf([...chain, issuer]).length === 0) {
    const why = because(
      `${authority} só responde por certificados para ${purposesShown(issuer.extKeyUsage)} (extendedKeyUsage), e o de quem assina é para outro uso.`,
      `Assine com um certificado de uma autoridade que responda por ${PURPOSES_TAKEN}.`,
    );
    return [6, 'untrusted', why];
  }
  const between = chain.slice(1).filter(({ subjectName, issuerName }) => subjectName !== issuerName).length;
  if (issuer.pathLength !== undefined && between > issuer.pathLength) {
    const motivo = `${authority} admite até ${issuer.pathLength} autoridade(s) abaixo de si, e a cadeia tem ${between}.`;
    return [7, 'untrusted', { motivo }];
  }
  if (at < issuer.inicio || at > issuer.fim) {
    const when = at < issuer.inicio ? `só vale a partir de ${dated(issuer.inicio)}` : `venceu em ${dated(issuer.fim)}`;
    const motivo = `O certificado da autoridade ${authority}, na cadeia, ${when}. Use um certificado emitido por uma autoridade em vigor.`;
    return [8, 'untrusted', { motivo }];
  }
  const revoked = revocationOf(state, child, issuer, extra).find(({ em }) => em <= at + CLOCK_SKEW_MS);
  if (revoked !== undefined) {
    const reason = revoked.motivo === undefined ? '' : ` (${revoked.motivo})`;
    const found = `${whose} foi revogado por ${authority} em ${dated(revoked.em)}${reason}.`;
    return [9, 'revoked', because(found, 'Assine com um certificado em vigor.')];
  }
  return undefined;
}

/** What every certificate of a chain admits: an authority that answers for one purpose gives no other (D-232). */
function purposesOf(chain: readonly Certificate[]): readonly string[] {
  return chain
    .map(({ extKeyUsage }) => purposesIn(extKeyUsage))
    .reduce((all, own) => all.filter((one) => own.includes(one)));
}

/**
 * Why the names along a whole chain break what an authority in it constrains. Only of a chain that reached an anchor, so
 * that made-up authorities cost no comparison. A self-issued one in between renews a key, and is exempt (RFC 5280, 6.1.3).
 */
function nameFault(chain: Chain): Why | undefined {
  for (const [place, { nameConstraints, titular }] of chain.entries()) {
    if (nameConstraints === undefined) continue;
    for (const [below, certificate] of chain.slice(0, place).entries()) {
      if (below > 0 && certificate.subjectName === certificate.issuerName) continue;
      const fault = constraintFault(certificate, nameConstraints);
      if (fault !== undefined) {
        const whose = nameIn(chain.slice(0, below + 1));
        return because(
          `A autoridade "${titular}" só responde pelos nomes das suas restrições (nameConstraints). ${whose} ${fault}.`,
          'Assine com um certificado de outra autoridade.',
        );
      }
    }
  }
  return undefined;
}

/** Where the search ended, and what would let it go on. */
function missing({ state, isNational, extra }: Search, chain: Chain): Why {
  const child = chain.at(-1)!;
  const anchors = isNational ? 'as raízes da ICP-Brasil' : 'as âncoras do município';
  if (child.subjectName === child.issuerName) {
    if (chain.length === 1) {
      return because(
        'O certificado é autoassinado: nenhuma autoridade responde por ele.',
        'Assine com um certificado ICP-Brasil.',
      );
    }
    const isNamesake = state.authorities.get(child.subjectName)?.some((one) => state.anchors.has(one.fingerprint));
    const namesake = isNamesake ? ' (há uma com o mesmo nome, mas de outra chave)' : '';
    return {
      motivo: `A cadeia do certificado termina na raiz "${child.titular}" (SHA-256 ${child.fingerprint}), que não está entre ${anchors}${namesake}. Confira se o certificado é mesmo da ICP-Brasil; se é, peça ao município que ponha o certificado dela, em PEM, na sua pasta de âncoras.`,
      change: anchorChange(`raiz "${child.titular}"`, 'peça'),
    };
  }
  const send = extra === undefined ? 'peça' : 'envie-o junto com a assinatura, ou peça';
  return {
    motivo: `Falta o certificado da autoridade "${child.emissor}", que emitiu ${chain.length === 1 ? 'o certificado usado na assinatura' : `o de "${child.titular}"`}; sem ele a cadeia não chega a nenhuma entre ${anchors}. Confira se o certificado é mesmo da ICP-Brasil; se é, ${send} ao município que o ponha, em PEM, na sua pasta de âncoras.`,
    change: anchorChange(
      `autoridade "${child.emissor}"`,
      extra === undefined ? 'peça' : 'envie o certificado dela junto com a assinatura, ou peça',
    ),
  };
}

/** A certificate of an authority that nobody knows is, most of the time, one that cannot sign at all. */
function anchorChange(authority: string, send: string): string {
  return `Veja primeiro se o certificado é mesmo da ICP-Brasil: se não é, assine com um que seja. Se é, e a ${authority} também, ${send} ao município que ponha o certificado dela, em PEM, na sua pasta de âncoras.`;
}

/** The end certificate is not named: its name often carries a CPF. */
function nameIn(chain: readonly Certificate[]): string {
  return chain.length === 1 ? 'O certificado' : `O certificado da autoridade "${chain.at(-1)!.titular}"`;
}

/** A chain that was found, and for how long the answer may be given without looking again. */
function foundOf({ state, at, extra }: Search, chain: Chain): Found {
  const above = chain.slice(1);
  const isKnown = (one: Certificate): boolean => has(state.authorities.get(one.subjectName), one.fingerprint);
  const lists = above.flatMap((issuer) => currentCrls(state, issuer, extra));
  // A list that runs out is warned about, and an entry that is still to come counts when its time comes.
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
    from: Math.max(...above.map(({ inicio }) => inicio)),
    until: Math.min(...above.map(({ fim }) => fim), ...turns),
    needs: above.filter((one) => !isKnown(one)).map(({ fingerprint }) => fingerprint),
  };
}
