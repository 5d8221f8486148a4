/**
 * Judges the certificate of a signature: it must be valid now, issued by a trusted authority, not revoked, and held by the required signer
 * (D-30, D-31). XML, CMS and client connections have separate codes.
 */
import type { Fault } from '../fiscal/fault.ts';
import { type Certificate, isHeldBy, maskedDocument } from './certificate.ts';
import { ICP_BRASIL_NAME } from './oids.ts';
import { nameOf } from './signed.ts';
import type { Trust } from './trust.ts';
import { timeInBrazil } from './trust-lists.ts';

/** The codes for one use of a certificate, and the words that ask for another one. */
export type SignerCodes = {
  readonly expired: string;
  readonly untrusted: string;
  readonly otherParty: string;
  readonly useWith: string;
  readonly again: string;
};

const SIGNING = { useWith: 'Assine com o', again: 'assine de novo' } as const;

/** Codes for the XML signature; for the header of a JSON request; for the certificate of a client connection. */
export const XML_CODES: SignerCodes = { expired: 'E903', untrusted: 'E904', otherParty: 'E906', ...SIGNING };
export const CMS_CODES: SignerCodes = { expired: 'E9006', untrusted: 'E9003', otherParty: 'E9007', ...SIGNING };
export const CLIENT_CODES: SignerCodes = {
  ...CMS_CODES,
  useWith: 'Apresente o',
  again: 'apresente o novo',
};

export type SignerQuestion = {
  /** CNPJ or CPF of the required signer; undefined: the document does not name it. */
  readonly documento: string | undefined;
  /** The role of the required signer, in the sender's words: `prestador`. */
  readonly parte: string;
  readonly trust: Trust;
  /** Milliseconds. */
  readonly at: number;
  /** The place of the certificate, for the faults. */
  readonly xpath: string;
};

const CLOCK = 'Confira o relógio de quem emitiu, ou espere que o certificado comece a valer.';

/** Every fault of the certificate. */
export function signerFaults(certificate: Certificate, question: SignerQuestion, codes: SignerCodes): readonly Fault[] {
  const { documento, trust, at, xpath } = question;
  const faults: Fault[] = [];
  const { inicio, fim } = certificate;
  if (at < inicio || at > fim) {
    const [problem, como] =
      at < inicio
        ? [`só vale a partir de ${timeInBrazil(inicio)}`, 'Confira o relógio de quem emitiu, ou aguarde.']
        : [`venceu em ${timeInBrazil(fim)}`, `Renove o certificado e ${codes.again}.`];
    faults.push({
      codigo: codes.expired,
      xpath,
      mensagem: `O certificado de ${nameOf(certificate)} ${problem}. ${como}`,
      ...(at < inicio ? { change: CLOCK } : {}),
      encontrado: `${timeInBrazil(inicio)} a ${timeInBrazil(fim)}`,
      esperado: `válido em ${timeInBrazil(at)}`,
    });
  }
  const verdict = trust.judge(certificate, at);
  if (verdict.kind !== 'trusted') {
    const { kind: _kind, ...why } = verdict;
    faults.push({ codigo: codes.untrusted, xpath, ...why });
  }
  return documento === undefined ? faults : [...faults, ...partyFaults(certificate, { ...question, documento }, codes)];
}

/** The fault when the certificate belongs to another party: a CNPJ is compared by its first eight characters, a CPF as a whole (D-31). */
export function partyFaults(
  { holder }: Certificate,
  { documento, parte, xpath }: Pick<SignerQuestion, 'parte' | 'xpath'> & { readonly documento: string },
  codes: SignerCodes,
): readonly Fault[] {
  if (holder !== undefined && isHeldBy(holder, documento)) return [];
  const esperado = maskedDocument(documento);
  if (holder === undefined) {
    const mensagem = `O certificado não diz de quem é: não há CNPJ (${ICP_BRASIL_NAME.cnpj}) nem CPF (${ICP_BRASIL_NAME.pessoa}) no nome alternativo, nem depois do último : do CN. ${codes.useWith} certificado ICP-Brasil do ${parte}.`;
    return [{ codigo: codes.otherParty, xpath, mensagem, esperado }];
  }
  const rule =
    documento.length === 11 ? 'o CPF se compara por inteiro' : 'o CNPJ se compara pelos 8 primeiros caracteres';
  const encontrado = maskedDocument(holder.documento);
  const mensagem = `O certificado é do ${holder.tipo} ${encontrado} (lido em ${holder.onde}), e o ${parte} é ${esperado}; ${rule}. ${codes.useWith} certificado do ${parte}.`;
  return [{ codigo: codes.otherParty, xpath, mensagem, encontrado, esperado }];
}
