/**
 * The chain from a certificate up to an anchor: the issuer of each certificate, and the obstacles of each step (D-30). The search goes
 * depth first, tries anchors of the municipality first, and is bounded: anybody can send made-up authorities.
 */

import { describeFault, type FaultText } from '../fiscal/fault.ts';
import { formatDayInBrazil } from '../fiscal/moment.ts';
import { type Certificate, isSignedBy } from './certificate.ts';
import { EXTENSION, PURPOSE, PURPOSE_NAMES } from './oids.ts';
import { type Lists, revocationOf } from './trust-lists.ts';

/** Chains of ICP-Brasil have three or four certificates. */
const CHAIN_MAX = 8;
/** Steps of one search: made-up authorities that certify one another must not keep the service busy. */
const STEPS_MAX = 200;
/** A revocation counts up to this long before its date: the clock of the authority may be ahead of ours. */
export const CLOCK_SKEW_MS = 3_600_000;

/** The authorities known to a municipality: `anchors` by fingerprint. */
export type Authorities = Lists & { readonly anchors: ReadonlySet<string> };

/** The reason why a certificate is not trusted, for the signer. */
export type Refused = { readonly kind: 'untrusted' | 'revoked' | 'misused' } & FaultText;

/** The certificates from the signer to an anchor. */
export type Chain = readonly [Certificate, ...Certificate[]];

/** The reason why a certificate must not sign documents, whichever authority issued it. */
export function misuseOf(certificate: Certificate): FaultText | undefined {
  const { isCa, titular, keyUsage, extKeyUsage, unprocessed } = certificate;
  if (isCa) {
    return describeFault(
      `O certificado é de uma autoridade certificadora ("${titular}");`,
      'assine com o e-CNPJ ou e-CPF de quem emite.',
    );
  }
  if (keyUsage !== undefined && !keyUsage.includes('digitalSignature') && !keyUsage.includes('nonRepudiation')) {
    const uses = keyUsage.length === 0 ? 'nenhum uso' : keyUsage.join(', ');
    return {
      mensagem: `O certificado não serve para assinar: o uso da chave (keyUsage) admite ${uses}, e precisa admitir digitalSignature ou nonRepudiation.`,
    };
  }
  if (signingPurposesOf(extKeyUsage).length === 0) {
    return describeFault(
      `O certificado não serve para assinar: o uso estendido da chave (extendedKeyUsage) admite ${describePurposes(extKeyUsage)}, e precisa admitir ${PURPOSES_TAKEN}.`,
      'Assine com o e-CNPJ ou e-CPF de quem emite.',
    );
  }
  return unprocessed.length === 0 ? undefined : refuseUnprocessed('O certificado', unprocessed);
}

/** The first extension that this service does not process, as a clause (D-819). */
export function describeUnprocessed([oid]: readonly string[]): string {
  return oid === EXTENSION.nameConstraints
    ? 'traz restrições de nomes (nameConstraints), que este serviço não confere'
    : `traz a extensão crítica ${oid}, que este serviço não conhece`;
}

function refuseUnprocessed(whose: string, unprocessed: readonly string[]): FaultText {
  return describeFault(
    `${whose} ${describeUnprocessed(unprocessed)} e por isso não pode aceitar.`,
    'Assine com um certificado sem tal extensão, nem nas autoridades dele.',
  );
}

/** Purposes of a signer's extendedKeyUsage; ICP-Brasil writes these into certificates of persons and companies (D-232). */
const SIGNING_PURPOSES: readonly string[] = [PURPOSE.emailProtection, PURPOSE.clientAuth];
const PURPOSES_LISTED_MAX = 5;

/** The accepted purposes in messages. */
const PURPOSES_TAKEN = 'emailProtection, clientAuth ou anyExtendedKeyUsage';

/** The signing purposes that an extension admits; without an extension, all of them. */
function signingPurposesOf(extKeyUsage: readonly string[] | undefined): readonly string[] {
  const isAny = extKeyUsage === undefined || extKeyUsage.includes(PURPOSE.anyExtendedKeyUsage);
  return isAny ? SIGNING_PURPOSES : SIGNING_PURPOSES.filter((oid) => extKeyUsage.includes(oid));
}

/** The purposes in words; an unknown one by its identifier. */
function describePurposes(extKeyUsage: readonly string[] = [PURPOSE.anyExtendedKeyUsage]): string {
  if (extKeyUsage.length === 0) return 'nenhum uso';
  const listed = extKeyUsage.slice(0, PURPOSES_LISTED_MAX).map((oid) => PURPOSE_NAMES[oid] ?? oid);
  return extKeyUsage.length > PURPOSES_LISTED_MAX ? `${listed.join(', ')} e outros` : listed.join(', ');
}

/**
 * One search for a chain that is valid at a moment. `extra`: certificates sent with the signature; undefined: the form of the signature
 * admits none.
 */
type Search = {
  readonly known: Authorities;
  readonly at: number;
  readonly extra: readonly Certificate[] | undefined;
  steps: number;
  deadEnd: DeadEnd | undefined;
};

/** The reason why an authority did not or must not issue a certificate. The weight grows with each check. */
type Obstacle = Refused & { readonly weight: number };

/** The end of a failed way up. The longest of several dead ends is answered, then the one with the greater weight. */
type DeadEnd = Obstacle & { readonly depth: number };

function untrusted(weight: number, why: FaultText): Obstacle {
  return { kind: 'untrusted', weight, ...why };
}

/** The chain of a certificate, or the reason why none is valid. */
export function findChain(
  known: Authorities,
  certificate: Certificate,
  at: number,
  extra?: readonly Certificate[],
): Chain | Refused {
  const search: Search = { known, at, extra, steps: 0, deadEnd: undefined };
  const chain = climb(search, [certificate]);
  if (chain !== undefined) return chain;
  const { depth: _depth, weight: _weight, ...refused } = search.deadEnd!;
  return refused;
}

/** True when a certificate of this fingerprint is among the others. */
export function hasCertificate(certificates: readonly Certificate[] | undefined, fingerprint: string): boolean {
  return certificates?.some((one) => one.fingerprint === fingerprint) ?? false;
}

/** The first chain that reaches an anchor from the last certificate of this beginning. */
function climb(search: Search, chain: Chain): Chain | undefined {
  const child = chain.at(-1)!;
  const isRoot = child.subjectName === child.issuerName && isSignedBy(child, child);
  const issuers = isRoot ? [] : issuersOf(search, child).filter((one) => !hasCertificate(chain, one.fingerprint));
  if (issuers.length === 0) giveUp(search, chain, untrusted(0, describeMissing(search, chain)));
  for (const issuer of issuers) {
    search.steps += 1;
    if (search.steps > STEPS_MAX || chain.length >= CHAIN_MAX) {
      const found = `A cadeia do certificado passa de ${CHAIN_MAX} autoridades ou tem voltas demais;`;
      return giveUp(search, chain, untrusted(0, describeFault(found, 'envie só os certificados que levam à raiz.')));
    }
    const obstacle = findObstacle(search, chain, issuer);
    if (obstacle !== undefined) giveUp(search, chain, obstacle);
    else {
      const longer: Chain = [...chain, issuer];
      const whole = search.known.anchors.has(issuer.fingerprint) ? longer : climb(search, longer);
      if (whole !== undefined) return whole;
    }
  }
  return undefined;
}

/** Keeps a dead end if it says more than the one before. A longer way never hides a revocation. */
function giveUp(search: Search, { length: depth }: Chain, obstacle: Obstacle): undefined {
  const best = search.deadEnd;
  const isRevoked = obstacle.kind === 'revoked';
  const wasRevoked = best?.kind === 'revoked';
  const isHeavier = best === undefined || depth > best.depth || (depth === best.depth && obstacle.weight > best.weight);
  if (isRevoked === wasRevoked ? isHeavier : isRevoked) search.deadEnd = { ...obstacle, depth };
}

/** The certificates that may have issued this one, by name: the municipality's first. */
function issuersOf({ known, extra = [] }: Search, { issuerName }: Certificate): readonly Certificate[] {
  const own = known.authorities.get(issuerName) ?? [];
  return [...own, ...extra.filter((one) => one.subjectName === issuerName && !hasCertificate(own, one.fingerprint))];
}

/** The first failed check of an authority as the issuer of the last certificate of a chain. */
function findObstacle({ known, at, extra }: Search, chain: Chain, issuer: Certificate): Obstacle | undefined {
  const child = chain.at(-1)!;
  const [whose, authority] = [nameIn(chain), `"${issuer.titular}"`];
  const obstacle = (weight: number, mensagem: string): Obstacle => untrusted(weight, { mensagem });
  if (!isSignedBy(child, issuer)) {
    const why = describeFault(
      `${whose} diz ter sido emitido por ${authority}, mas a assinatura não confere com a chave dessa autoridade. Se ela trocou de chave,`,
      'peça ao município que ponha o certificado novo dela, em PEM, na sua pasta de âncoras; se não trocou, o certificado não é dela: assine com outro.',
    );
    return untrusted(1, why);
  }
  if (child.weakDigest !== undefined) {
    return obstacle(2, `${whose} foi assinado por ${authority} com ${child.weakDigest}, que não é mais aceito.`);
  }
  if (!issuer.isCa) return obstacle(3, `${whose} foi emitido por ${authority}, que não é autoridade certificadora.`);
  if (issuer.keyUsage?.includes('keyCertSign') === false) {
    return obstacle(4, `${authority} emitiu um certificado, mas o uso da sua chave (keyUsage) não o permite.`);
  }
  if (issuer.unprocessed.length > 0) {
    return untrusted(5, refuseUnprocessed(`O certificado de ${authority}`, issuer.unprocessed));
  }
  if (signingPurposesAlong([...chain, issuer]).length === 0) {
    const why = describeFault(
      `${authority} só responde por certificados para ${describePurposes(issuer.extKeyUsage)} (extendedKeyUsage), e o de quem assina é para outro uso.`,
      `Assine com um certificado de uma autoridade que responda por ${PURPOSES_TAKEN}.`,
    );
    return untrusted(6, why);
  }
  const between = chain.slice(1).filter(({ subjectName, issuerName }) => subjectName !== issuerName).length;
  if (issuer.pathLength !== undefined && between > issuer.pathLength) {
    const most = `${authority} admite até ${issuer.pathLength} autoridade(s) abaixo de si`;
    return obstacle(7, `${most}, e a cadeia tem ${between}.`);
  }
  if (at < issuer.inicio || at > issuer.fim) {
    const when =
      at < issuer.inicio
        ? `só vale a partir de ${formatDayInBrazil(issuer.inicio)}`
        : `venceu em ${formatDayInBrazil(issuer.fim)}`;
    const found = `O certificado da autoridade ${authority}, na cadeia, ${when}.`;
    return obstacle(8, `${found} Use um certificado emitido por uma autoridade em vigor.`);
  }
  const revoked = revocationOf(known, child, issuer, extra).find(({ em }) => em <= at + CLOCK_SKEW_MS);
  if (revoked === undefined) return undefined;
  const reason = revoked.motivo === undefined ? '' : ` (${revoked.motivo})`;
  const found = `${whose} foi revogado por ${authority} em ${formatDayInBrazil(revoked.em)}${reason}.`;
  return { kind: 'revoked', weight: 9, ...describeFault(found, 'Assine com um certificado em vigor.') };
}

/** The purposes that every certificate of a chain admits: an authority for one purpose gives no other (D-232). */
function signingPurposesAlong(chain: readonly Certificate[]): readonly string[] {
  return chain
    .map(({ extKeyUsage }) => signingPurposesOf(extKeyUsage))
    .reduce((all, own) => all.filter((one) => own.includes(one)));
}

/** The unknown authority, and the remedy that would let the search go on. */
function describeMissing({ known, extra }: Search, chain: Chain): FaultText {
  const child = chain.at(-1)!;
  const anchors = known.own === undefined ? 'as raízes da ICP-Brasil' : 'as âncoras do município';
  if (child.subjectName === child.issuerName) {
    if (chain.length === 1) {
      return describeFault(
        'O certificado é autoassinado: nenhuma autoridade responde por ele.',
        'Assine com um certificado ICP-Brasil.',
      );
    }
    const isNamesake = known.authorities.get(child.subjectName)?.some((one) => known.anchors.has(one.fingerprint));
    const namesake = isNamesake ? ' (há uma com o mesmo nome, mas de outra chave)' : '';
    return {
      mensagem: `A cadeia do certificado termina na raiz "${child.titular}" (SHA-256 ${child.fingerprint}), que não está entre ${anchors}${namesake}. Confira se o certificado é mesmo da ICP-Brasil; se é, peça ao município que ponha o certificado dela, em PEM, na sua pasta de âncoras.`,
      change: askForAnchor(`raiz "${child.titular}"`, 'peça'),
    };
  }
  const send = extra === undefined ? 'peça' : 'envie-o junto com a assinatura, ou peça';
  return {
    mensagem: `Falta o certificado da autoridade "${child.emissor}", que emitiu ${chain.length === 1 ? 'o certificado usado na assinatura' : `o de "${child.titular}"`}; sem ele a cadeia não chega a nenhuma entre ${anchors}. Confira se o certificado é mesmo da ICP-Brasil; se é, ${send} ao município que o ponha, em PEM, na sua pasta de âncoras.`,
    change: askForAnchor(
      `autoridade "${child.emissor}"`,
      extra === undefined ? 'peça' : 'envie o certificado dela junto com a assinatura, ou peça',
    ),
  };
}

/** The remedy for an unknown authority. Most of the time the certificate is one that cannot sign at all. */
function askForAnchor(authority: string, send: string): string {
  return `Veja primeiro se o certificado é mesmo da ICP-Brasil: se não é, assine com um que seja. Se é, e a ${authority} também, ${send} ao município que ponha o certificado dela, em PEM, na sua pasta de âncoras.`;
}

/** The end certificate is not named: its name often contains a CPF. */
function nameIn(chain: readonly Certificate[]): string {
  return chain.length === 1 ? 'O certificado' : `O certificado da autoridade "${chain.at(-1)!.titular}"`;
}
