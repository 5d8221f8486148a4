/** Shared parts of all corpora: an authority, a provider, and its DPS in parts that each case combines in its own way. */
import { pemOf } from '../../../src/documents/pki.ts';
import { dpsIdOf } from '../../../src/fiscal/chave.ts';
import { exampleXml } from '../../../src/fiscal/rules/example.ts';
import type { Patch } from '../../../src/fiscal/rules/rule.ts';
import { DECADES, type Party, PROVIDER_CNPJ, signedBy, testParties } from '../../support/signatures.ts';
import type { Corpus } from '../ataque.ts';

export const AGORA = '2026-11-21T12:00:00-03:00';
const SERIE = '1';

export type Mundo = {
  readonly provider: Party;
  /** A party of the same name, from the same authority, with another key. */
  readonly namesake: Party;
  readonly base: Pick<Corpus, 'agora' | 'prestador' | 'ancoras'>;
};

export async function makeMundo(): Promise<Mundo> {
  const { root, provider, namesake } = await testParties(Date.parse(AGORA), DECADES);
  const ancoras = [pemOf('CERTIFICATE', root.certificate)];
  return { provider, namesake, base: { agora: AGORA, prestador: PROVIDER_CNPJ, ancoras } };
}

/** A DPS that production accepts, unsigned, in one line; its number is `numero`. */
export function dpsXml(numero: number, patch: Patch = {}): string {
  const id = dpsIdOf({ cLocEmi: '3550308', documento: PROVIDER_CNPJ, serie: SERIE, nDPS: String(numero) });
  return exampleXml({ tpAmb: '1', serie: SERIE, nDPS: String(numero), ...patch })
    .replace(/>\s+</g, '><')
    .trim()
    .replace(/ Id="[^"]*"/, ` Id="${id}"`);
}

/** The parts of a signed DPS; joined, they are the document. */
export type Pedacos = {
  readonly inicio: string;
  readonly infDPS: string;
  readonly assinatura: string;
  readonly fim: string;
};

export function cut(signed: string): Pedacos {
  const [, inicio, infDPS, assinatura, fim] =
    /^([\s\S]*?)(<infDPS[\s\S]*<\/infDPS>)(<Signature[\s\S]*<\/Signature>)([\s\S]*)$/.exec(signed)!;
  return { inicio: inicio!, infDPS: infDPS!, assinatura: assinatura!, fim: fim! };
}

export function signedParts(numero: number, party: Party): Pedacos {
  return cut(signedBy(dpsXml(numero), party));
}
