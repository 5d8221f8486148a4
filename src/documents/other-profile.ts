/** The one fault of a signature that is right by algorithms that its door does not accept. */
import { type Fault, quoted } from '../fiscal/fault.ts';
import { ownOf } from '../fiscal/own.ts';
import { URI_NAMES } from './algorithms.ts';
import type { ProfileLine } from './signature-parts.ts';
import type { SignedProfile } from './signature-shape.ts';

/** Names what the signature has, and what is accepted. `faults`: those of its algorithms; `lines`: its profile as found. */
export function describeOtherProfile(
  faults: readonly Fault[],
  lines: readonly ProfileLine[],
  { root, signed, accepted }: SignedProfile,
): Fault {
  const named = lines.filter(({ onde }) => /(?:Method|Transforms|@URI)$/.test(onde));
  const found = named.map(({ onde, encontrado }) => sayFound(onde, encontrado));
  const wanted = [accepted.SignatureMethod, accepted.DigestMethod, accepted.CanonicalizationMethod]
    .map((one) => one.map(nameOf).join(' ou '))
    .join(', ');
  const whole = accepted.mayBeWhole ? '' : `, com a Reference no Id de ${signed}`;
  const changes = faults.flatMap(({ change }) => change ?? []);
  const change = `${changes.join(' ')} Depois assine de novo, por último.`;
  return {
    codigo: 'E902',
    xpath: `/${root}/Signature/SignedInfo`,
    mensagem: `A assinatura está certa nos seus algoritmos (${found.join('; ')}), e eles não são os aceitos aqui: ${wanted}${whole}. ${change}`,
    change,
    encontrado: found.join('; '),
    esperado: wanted,
  };
}

function sayFound(onde: string, encontrado: string): string {
  const name = onde.slice(onde.lastIndexOf('/') + 1);
  if (name === '@URI') return `URI="${quoted(encontrado)}"`;
  return `${name} ${nameOf(encontrado)}`;
}

function nameOf(identifier: string): string {
  return ownOf(URI_NAMES, identifier) ?? quoted(identifier);
}
