/**
 * Checks the files that a municipality names: whether each exists, is readable and has the right content. The findings are for the
 * operator, in Portuguese; they never contain a key or a password.
 */

import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import {
  type Certificate,
  certificatesOfPem,
  type Holder,
  maskedDocument,
  pemBlocks,
  readCertificate,
} from '../../documents/certificate.ts';
import { readCrl } from '../../documents/crl.ts';
import { exposedFiles } from '../../documents/exposed-files.ts';
import { type ChainedSigner, loadSigner, secretFiles } from '../../documents/key-files.ts';
import { PURPOSE } from '../../documents/oids.ts';
import { openTrust, type Trust, type Verdict } from '../../documents/trust.ts';
import { dotDocumento } from '../../fiscal/chave.ts';
import { DAY_MS, formatDayInBrazil } from '../../fiscal/moment.ts';
import type { AcessoAdn, Confianca } from '../book/municipios.ts';

/** `problems` prevent the change, `avisos` do not. */
export type Inspection = { readonly problems: readonly string[]; readonly avisos: readonly string[] };

/** Contents of the municipality's certificate; a CNPJ is whole, a CPF is masked. */
export type CertificadoShown = {
  readonly titular: string;
  readonly documento: string | undefined;
  readonly emissor: string;
  /** Hexadecimal. */
  readonly serie: string;
  /** Form `DD/MM/AAAA`. */
  readonly inicio: string;
  readonly fim: string;
  /** Whole days until it expires; negative: since it expired. */
  readonly dias: number;
  /** Names from the certificate up to its root, as far as they are known here. */
  readonly cadeia: readonly string[];
};

/** Time that an operator needs to buy a new certificate. */
const RENEWAL_MS = 30 * DAY_MS;
/** The limit exceeds any list of authorities. */
const PEM_BYTES_MAX = 16 * 1024 * 1024;

/**
 * Checks the directories of anchors and of revocation lists. `named`: settings given now, which must be usable. `now`: also checks whether
 * each authority has a revocation list, for an operator who does not sign here.
 */
export async function inspectConfianca(
  confianca: Confianca,
  {
    named = ['ancoras', 'revogados'],
    now,
  }: { readonly named?: readonly (keyof Confianca)[]; readonly now?: number } = {},
): Promise<Inspection> {
  const { ancoras, revogados } = confianca;
  if (named.length === 0) return { problems: [], avisos: [] };
  const problems = [
    ...(ancoras === undefined || !named.includes('ancoras')
      ? []
      : await directoryProblems(ancoras, '--ancoras', 'uma autoridade certificadora', isAnchor)),
    ...(revogados === undefined || !named.includes('revogados')
      ? []
      : await directoryProblems(revogados, '--revogados', 'uma lista de revogados', isCrl)),
  ];
  if (problems.length > 0) return { problems, avisos: [] };
  const avisos: string[] = [];
  // The judge itself reports the files that it will ignore.
  const trust = openTrust(confianca, { warn: (_fields, message) => void avisos.push(message) });
  if (now !== undefined) trust.warnOfLists(now);
  return { problems, avisos };
}

/** The directory must exist and be readable; at least one of its files, if any, must be usable. */
async function directoryProblems(
  directory: string,
  option: string,
  what: string,
  isOne: (bytes: Buffer) => boolean,
): Promise<readonly string[]> {
  try {
    const names = (await readdir(directory)).filter((name) => !name.startsWith('.'));
    for (const name of names) {
      const file = path.join(directory, name);
      if ((await stat(file)).isFile() && isOne(await readFile(file))) return [];
    }
    // Lists may come later than the directory; no certificate is trusted without anchors.
    if (names.length === 0 && option === '--revogados') return [];
    return [`${option}: a pasta ${directory} não tem ${what}, em PEM ou DER.`];
  } catch (error) {
    return [`${option}: ${reasonOf(error, directory, 'a pasta')}`];
  }
}

function isAnchor(bytes: Buffer): boolean {
  const certificates =
    bytes[0] === DER_SEQUENCE ? [readCertificate(bytes)] : certificatesOfPem(bytes.toString('latin1'));
  return certificates.some((one) => !('problem' in one) && one.isCa);
}

function isCrl(bytes: Buffer): boolean {
  const lists = bytes[0] === DER_SEQUENCE ? [bytes] : pemBlocks(bytes.toString('latin1'), 'X509 CRL');
  return lists.some((list) => {
    const reading = readCrl(list);
    let step = reading.next();
    while (!step.done) step = reading.next();
    return !('problem' in step.value);
  });
}

const DER_SEQUENCE = 0x30;

/** Checks the files for access to the ADN, and its certificate. `now`: milliseconds; `lacking`: problems of the files alone. */
export async function inspectAdn(
  { ca, chaves }: AcessoAdn,
  confianca: Confianca,
  now: number,
): Promise<Inspection & { readonly lacking: readonly string[]; readonly certificado: CertificadoShown | undefined }> {
  const problems: string[] = [];
  if (ca !== undefined) problems.push(...(await caProblems(ca)));
  let signer: ChainedSigner | undefined;
  try {
    signer = await loadSigner(chaves);
  } catch (error) {
    problems.push(sentence(error instanceof Error ? error.message : String(error)));
  }
  const exposed = await exposedFiles(secretFiles(chaves));
  if (signer === undefined) return { problems, lacking: problems, avisos: exposed, certificado: undefined };
  const judged = validityOf(signer.certificate, now);
  const verdicts = judgeOwn(signer, confianca, now);
  return {
    problems: [...problems, ...judged.problems],
    lacking: problems,
    avisos: [...judged.avisos, ...unfitness(signer, confianca, verdicts), ...exposed],
    certificado: describeCertificado(signer, verdicts, now),
  };
}

async function caProblems(ca: string): Promise<readonly string[]> {
  try {
    const { size } = await stat(ca);
    if (size > PEM_BYTES_MAX) return [`--adn-ca: ${ca} tem ${size} bytes; não é um certificado.`];
    if (certificatesOfPem(await readFile(ca, 'latin1')).length > 0) return [];
    return [`--adn-ca: ${ca} não tem nenhum certificado em PEM.`];
  } catch (error) {
    return [`--adn-ca: ${reasonOf(error, ca, 'o arquivo')}`];
  }
}

/** Times are compared with those of the certificate without tolerance. */
function validityOf({ inicio, fim }: Certificate, now: number): Inspection {
  if (now < inicio) {
    return { problems: [`O certificado do município só vale a partir de ${formatDayInBrazil(inicio)}.`], avisos: [] };
  }
  if (now > fim) {
    const problem = `O certificado do município venceu em ${formatDayInBrazil(fim)}. Informe um que esteja em vigor.`;
    return { problems: [problem], avisos: [] };
  }
  const avisos: string[] = [];
  if (fim - now < RENEWAL_MS) {
    const days = Math.floor((fim - now) / DAY_MS);
    const when = days === 0 ? 'hoje ou amanhã' : days === 1 ? 'em 1 dia' : `em ${days} dias`;
    avisos.push(`O certificado do município vence ${when}, em ${formatDayInBrazil(fim)}. Providencie outro.`);
  }
  return { problems: [], avisos };
}

const FOR_CLIENTS: readonly string[] = [PURPOSE.clientAuth, PURPOSE.anyExtendedKeyUsage];

/** The municipality's own trust, and the national one. Neither warns about its files. */
export function openOwnTrusts(confianca: Confianca): readonly Trust[] {
  const silent = { warn: () => undefined };
  return [confianca, { ...confianca, ancoras: undefined }].map((settings) => openTrust(settings, silent));
}

function judgeOwn({ certificate, chain }: ChainedSigner, confianca: Confianca, now: number): readonly Verdict[] {
  return openOwnTrusts(confianca).map((trust) => trust.judge(certificate, now, chain));
}

/** Reasons for which the ADN may refuse a certificate. A rehearsal may use such a certificate on purpose, so none of them is a problem. */
function unfitness(
  { certificate }: ChainedSigner,
  confianca: Confianca,
  verdicts: readonly Verdict[],
): readonly string[] {
  const { holder, emissor, keyUsage, extKeyUsage, isCa } = certificate;
  const avisos: string[] = [];
  if (holder?.tipo !== 'CNPJ') {
    avisos.push('O certificado do município não traz CNPJ; o ADN só aceita um certificado ICP-Brasil de CNPJ.');
  }
  if (isCa) avisos.push('O certificado do município é de uma autoridade certificadora, que não assina notas.');
  if (keyUsage !== undefined && !keyUsage.includes('digitalSignature')) {
    const uses = keyUsage.length === 0 ? 'nenhum uso' : `só ${keyUsage.join(', ')}`;
    avisos.push(
      `O certificado do município não é de assinatura: o uso da chave (keyUsage) admite ${uses}, e falta digitalSignature.`,
    );
  }
  if (extKeyUsage !== undefined && !extKeyUsage.some((oid) => FOR_CLIENTS.includes(oid))) {
    avisos.push(
      'O certificado do município não serve para abrir conexões: o uso estendido da chave (extendedKeyUsage) não traz clientAuth, e o ADN pode recusá-lo.',
    );
  }
  const revoked = verdicts.find(({ kind }) => kind === 'revoked');
  if (revoked !== undefined && 'mensagem' in revoked) avisos.push(`Do certificado do município: ${revoked.mensagem}`);
  else if (verdicts.every(({ kind }) => kind === 'untrusted')) {
    const own = confianca.ancoras === undefined ? '' : 'as âncoras do município ou ';
    avisos.push(
      `O certificado do município, emitido por "${emissor}", não tem cadeia até ${own}as raízes da ICP-Brasil; o ADN só aceita ICP-Brasil. Se o que falta é uma autoridade intermediária, junte o certificado dela ao arquivo.`,
    );
  }
  return avisos;
}

/** `CNPJ 99.999.999/0001-91`. The CNPJ of a town hall is public, and must be checked whole; a CPF is masked. */
export function nameHolder({ tipo, documento }: Holder): string {
  return `${tipo} ${tipo === 'CNPJ' ? dotDocumento(documento) : maskedDocument(documento)}`;
}

/** Holder, document, end and serial number of a certificate, in one line. */
export function nameCertificado({ titular, documento, fim, serie }: CertificadoShown): string {
  return [titular, documento, `até ${fim}`, `série ${serie}`].filter((part) => part !== undefined).join(', ');
}

/** The change of a certificate for the trail: title, the one of before, the new one. `novo` undefined: there is none. */
export async function changesOfCertificado(
  { adn, confianca }: { readonly adn?: AcessoAdn | undefined; readonly confianca: Confianca },
  novo: CertificadoShown | undefined,
  now: number,
): Promise<readonly (readonly [titulo: string, antes: string | undefined, depois: string])[]> {
  if (novo === undefined) return [];
  const before = adn === undefined ? undefined : (await inspectAdn(adn, confianca, now)).certificado;
  const [antes, depois] = [before && nameCertificado(before), nameCertificado(novo)];
  return antes === depois ? [] : [['certificado do município', antes, depois]];
}

const HOLDERS_DOCUMENT = /:[0-9A-Z]{11,14}$/;

function describeCertificado(
  { certificate, chain }: ChainedSigner,
  verdicts: readonly Verdict[],
  now: number,
): CertificadoShown {
  const { titular, holder, emissor, serial, inicio, fim } = certificate;
  const documento = holder === undefined ? undefined : nameHolder(holder);
  // The name of the holder usually ends with the document, which is shown apart.
  const named = titular.replace(HOLDERS_DOCUMENT, '');
  const known = verdicts.find((one) => one.kind === 'trusted');
  const above = known === undefined ? chain.map((one) => one.titular) : known.cadeia.slice(1);
  return {
    titular: named,
    documento,
    emissor,
    serie: serial.toUpperCase(),
    inicio: formatDayInBrazil(inicio),
    fim: formatDayInBrazil(fim),
    dias: Math.floor((fim - now) / DAY_MS),
    cadeia: [named, ...above],
  };
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'não existe',
  ENOTDIR: 'não é uma pasta',
  EISDIR: 'é uma pasta, e não um arquivo',
  EACCES: 'está sem permissão de leitura para este usuário',
  EPERM: 'está sem permissão de leitura para este usuário',
};

function reasonOf(error: unknown, where: string, what: string): string {
  const { code = String(error) } = error as NodeJS.ErrnoException;
  return `${what} ${where} ${REASONS[code] ?? `não se deixa ler (${code})`}.`;
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
