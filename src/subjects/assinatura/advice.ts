/**
 * Advice for the author of a signing program: the verdict in one sentence, and the steps that correct the faults. The faults themselves say
 * what is wrong and where; a step says only what to do.
 */
import { ENVELOPED, REQUIRED } from '../../documents/algorithms.ts';
import { adviseDigest } from '../../documents/signed.ts';
import { errorOf } from '../../fiscal/errors.ts';
import type { Fault } from '../../fiscal/fault.ts';

/** `namesParty`: whether the document says whose certificate it must be. */
export function verdictOf(faults: readonly Fault[], { namesParty }: { readonly namesParty: boolean }): string {
  if (faults.length === 0) {
    return namesParty
      ? 'A produção aceitaria esta assinatura.'
      : 'A produção aceitaria esta assinatura, se o certificado for da parte certa: o documento não diz qual é, e isso não foi conferido.';
  }
  const codes = [...new Set(faults.map(({ codigo }) => codigo))];
  const named = codes.map((codigo) => `${codigo} (${errorOf(codigo)?.mensagem ?? 'sem descrição'})`);
  return `A produção recusaria esta assinatura: ${named.join(', ')}.`;
}

type Known = {
  /** Name of the document's element; undefined for a JSON body. */
  readonly root: string | undefined;
  /** The digest as it should be declared. */
  readonly calculado: string | undefined;
};

/** Steps in the order in which they are to be taken, each once. Empty when there is nothing to correct. */
export function stepsFor(faults: readonly Fault[], known: Known): readonly string[] {
  const steps = faults.flatMap((fault) => (fault.codigo === 'E901' ? stepsToSign(known) : stepFor(fault, known)));
  if (known.root !== undefined && known.root !== 'DPS') {
    steps.unshift(
      `O documento é ${known.root}, e aqui se confere a assinatura de uma DPS: envie a DPS, sem nada em volta.`,
    );
  }
  if (faults.some(({ codigo, kind }) => codigo === 'E902' && kind !== 'signature_misplaced')) {
    steps.push(
      'Feito isso, assine de novo e por último: DigestValue, depois SignatureValue, e envie os mesmos bytes, sem reindentar nem recodificar.',
    );
  }
  return [...new Set(steps)];
}

/** Steps that lead from an unsigned document to a signed one. */
function stepsToSign({ calculado }: Known): string[] {
  const digest =
    calculado === undefined
      ? 'Em DigestValue ponha o SHA-256, em Base64, da forma canônica exclusiva de infDPS.'
      : `Em DigestValue ponha ${calculado}: é o SHA-256, em Base64, dos bytes UTF-8 de forma_canonica.`;
  return [
    digest,
    `Em SignedInfo use CanonicalizationMethod ${REQUIRED.CanonicalizationMethod}, SignatureMethod ${REQUIRED.SignatureMethod} e uma só Reference, com URI="#" e o Id de infDPS, as transformações ${ENVELOPED} e ${REQUIRED.CanonicalizationMethod}, e DigestMethod ${REQUIRED.DigestMethod}.`,
    'Canonicalize SignedInfo (C14N exclusiva, com o xmlns de Signature), assine com RSA-SHA256 e a chave do certificado, e ponha o resultado, em Base64, em SignatureValue.',
    'Em KeyInfo/X509Data/X509Certificate ponha o certificado do prestador, em DER e Base64, sem cabeçalhos nem quebras de linha.',
    'Ponha Signature depois de infDPS, dentro de DPS, e envie sem mexer mais no documento. O comando nfse assinar faz tudo isso.',
  ];
}

/** The correction that the fault itself names; else the advice of its code, if one advice fits all cases; else its message. */
function stepFor({ codigo, xpath, mensagem, change }: Fault, { calculado }: Known): string {
  if (change !== undefined) return change;
  if (OF_CERTIFICATE.has(codigo)) return errorOf(codigo)?.comoResolver ?? mensagem;
  return xpath.endsWith('/DigestValue') && calculado !== undefined ? adviseDigest(calculado) : mensagem;
}

/** Codes of the certificate's holder and validity, for which one advice fits all cases. */
const OF_CERTIFICATE: ReadonlySet<string> = new Set(['E903', 'E906', 'E9006', 'E9007']);
