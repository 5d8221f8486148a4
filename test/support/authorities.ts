/** Two authorities of a test, an unknown one, certificates, and the folders of a municipality's trust. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import {
  companyCertificate,
  intermediateAuthority,
  pemOf,
  personCertificate,
  revocationList,
  rootAuthority,
} from '../../src/documents/pki.ts';
import { DAY_MS } from '../../src/fiscal/moment.ts';
import { readyKeys } from './keys.ts';
import { freshFolder } from './openssl.ts';
import { companyOf, type Party, partyOf, yearAround } from './signatures.ts';

/** Certificates that are valid at a moment; `revoke` writes the revocation list of the issuing authority. */
export async function testAuthorities(now: number) {
  const [rootKeys, issuingKeys, ownKeys, personKeys, strangeKeys] = await Promise.all([
    readyKeys(),
    readyKeys(),
    readyKeys(),
    readyKeys(),
    readyKeys(),
  ]);
  const year = yearAround(now);
  const lasting = { inicio: now - 3_000 * DAY_MS, fim: now + 3_000 * DAY_MS };
  const past = { inicio: now - 400 * DAY_MS, fim: now - 35 * DAY_MS };
  const future = { inicio: now + 35 * DAY_MS, fim: now + 400 * DAY_MS };
  const root = rootAuthority('AC Raiz de Teste', rootKeys, lasting);
  const issuing = intermediateAuthority(root, 'AC de Teste', issuingKeys, lasting);
  const company = (cnpj: string, validity = year, by = issuing): Party =>
    partyOf(ownKeys, companyCertificate(by, companyOf(cnpj), ownKeys.publicKey, validity));
  const person = (cpf: string, validity = year): Party => {
    const who = { nome: 'Maria Exemplo', cpf, nascimento: '1980-01-31' };
    return partyOf(personKeys, personCertificate(issuing, who, personKeys.publicKey, validity));
  };
  const folder = freshFolder();
  const confianca = { ancoras: path.join(folder, 'ancoras'), revogados: path.join(folder, 'revogados') };
  for (const place of Object.values(confianca)) mkdirSync(place);
  for (const [name, { certificate }] of Object.entries({ raiz: root, emissora: issuing })) {
    writeFileSync(path.join(confianca.ancoras, `${name}.pem`), pemOf('CERTIFICATE', certificate));
  }
  const revoke = (...parties: readonly Party[]): void => {
    const list = revocationList(
      issuing,
      parties.map(({ der }) => der),
      { inicio: now - DAY_MS, fim: now + 30 * DAY_MS },
    );
    writeFileSync(path.join(confianca.revogados, 'emissora.crl'), list);
  };
  return {
    ...{ folder, confianca, root, issuing, issuingKeys, ownKeys, strangeKeys, company, person, revoke },
    ...{ year, lasting, past, future, stranger: rootAuthority('AC Raiz de Outros', strangeKeys, lasting) },
  };
}
