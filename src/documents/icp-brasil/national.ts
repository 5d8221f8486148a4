/**
 * The authorities of ICP-Brasil that this project ships: the roots that certify people and companies, and the authorities below them. The
 * latter complete a chain when a sender gives its end alone.
 *
 * The certificates are `raizes.pem` and `intermediarias.pem`, the table is `autoridades.json`; `scripts/generate-icp-brasil.ts` writes all
 * three. Every certificate must match a fingerprint of the table.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { type Certificate, pemBlocks, readCertificate } from '../certificate.ts';
import autoridadesData from './autoridades.json' with { type: 'json' };

/** A line of `autoridades.json`. */
export interface Autoridade {
  readonly nome: string;
  readonly nivel: 'raiz' | 'primeiro_nivel' | 'segundo_nivel';
  readonly emissor: string;
  /** The root above it: `v5`. */
  readonly raiz: string;
  /** RFC 3339, UTC. */
  readonly inicio: string;
  readonly fim: string;
  /** SHA-256 of the DER, lower hex. */
  readonly sha256: string;
  /** The publishers of the certificate, in the words of the source table. */
  readonly fontes: string;
}

export type NationalAuthorities = {
  readonly raizes: readonly Certificate[];
  readonly intermediarias: readonly Certificate[];
  /** Contents of the files that do not match the table, and therefore do not count. Portuguese. */
  readonly problems: readonly string[];
};

/** The table, roots first. Source: `autoridades.json`. */
export function autoridades(): readonly Autoridade[] {
  const { colunas, linhas } = autoridadesData;
  const rowOf = (linha: readonly string[]): object => Object.fromEntries(colunas.map((name, at) => [name, linha[at]]));
  return linhas.map((linha) => rowOf(linha) as Autoridade);
}

let known: NationalAuthorities | undefined;

/** The certificates, read at the first call (about 20 ms). */
export function nationalAuthorities(): NationalAuthorities {
  const read = (file: string): string => readFileSync(path.join(import.meta.dirname, file), 'utf8');
  known ??= matchTable(autoridades(), read('raizes.pem'), read('intermediarias.pem'));
  return known;
}

/** Takes the certificates of the table from two PEM texts, and reports extra and missing ones. */
export function matchTable(
  table: readonly Autoridade[],
  raizesPem: string,
  intermediariasPem: string,
): NationalAuthorities {
  const problems: string[] = [];
  const missing = new Set(table);
  const take = (file: string, pem: string, isRoot: boolean): readonly Certificate[] => {
    const named = new Map(table.filter(({ nivel }) => (nivel === 'raiz') === isRoot).map((row) => [row.sha256, row]));
    return pemBlocks(pem, 'CERTIFICATE').flatMap((der) => {
      const certificate = readCertificate(der);
      const row = 'problem' in certificate ? undefined : named.get(certificate.fingerprint);
      if ('problem' in certificate || row === undefined) {
        problems.push(`${file}: há um certificado cujo resumo SHA-256 não está em autoridades.json; ele não vale`);
        return [];
      }
      missing.delete(row);
      return [certificate];
    });
  };
  const raizes = take('raizes.pem', raizesPem, true);
  const intermediarias = take('intermediarias.pem', intermediariasPem, false);
  for (const { nome, sha256 } of missing) problems.push(`falta o certificado de ${nome} (SHA-256 ${sha256})`);
  return { raizes, intermediarias, problems };
}
