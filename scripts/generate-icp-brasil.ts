/**
 * Writes `src/documents/icp-brasil/`: the authorities of ICP-Brasil that certify people and companies. The source is a
 * folder of certificates with their manifest, kept outside this project.
 *
 *
 *     npx node scripts/generate-icp-brasil.ts [--check] FOLDER
 *
 * FOLDER holds `manifesto.csv` and the PEM files it names; the rows whose `bundle` is `assinatura` are taken. Each
 * certificate must match the manifest (fingerprint, names, dates), be an authority, and be signed by one of the others.
 * Anything else stops the run with all faults at once. The option `--check` writes nothing, and gives exit code 1 when
 * a committed file differs. The script fetches nothing: `README.md` there says where to get a newer package.
 */
import { X509Certificate } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Autoridade } from '../src/documents/icp-brasil/national.ts';
import { catalog, cell, match, oneOf, parseCsv, type Row, text } from './csv.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const OUTPUT = join(ROOT, 'src/documents/icp-brasil');
const MANIFEST = 'manifesto.csv';
/** The day the certificates were compiled and verified; it changes with them, not with the day of the run. */
const COMPILED_ON = '2026-11-21';
const FONTE =
  'Pacote de certificados publicado pelo ITI em 25/06/2026; v4 e v13 de um projeto público, com resumos conferidos em outro';

const NIVEIS = ['raiz', 'primeiro_nivel', 'segundo_nivel'] as const;
const INSTANT = match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);

const AUTORIDADES = catalog<Autoridade>({
  file: 'autoridades.json',
  fonte: FONTE,
  rows: (read) => inOrder(read(MANIFEST)),
  key: ['sha256'],
  columns: {
    nome: cell('cn', text),
    nivel: cell('nivel', oneOf(NIVEIS)),
    emissor: cell('emissor_cn', text),
    raiz: cell('raiz', match(/^v\d{1,2}$/)),
    inicio: cell('inicio', INSTANT),
    fim: cell('fim', INSTANT),
    sha256: cell('sha256', match(/^[0-9a-f]{64}$/)),
    fontes: cell('fontes', text),
  },
  assume: [
    ['it is in force', (row) => row('situacao') === 'vigente'],
    ['it is of general use', (row) => row('uso') === 'geral'],
    ['its chain was verified', (row) => row('verificado_openssl') === 'true'],
    [
      'a root, and a root alone, signed itself',
      (row) => (row('nivel') === 'raiz') === (row('autoassinado') === 'true'),
    ],
  ],
  covers: ['nivel', NIVEIS],
});

/**
 * The authorities for signatures, roots first, by name and then by fingerprint: a refreshed package then shows only its
 * new entries.
 */
function inOrder(rows: readonly Row[]): readonly Row[] {
  const place = (row: Row): string => `${NIVEIS.indexOf(oneOf(NIVEIS)(row('nivel')))} ${row('cn')} ${row('sha256')}`;
  return rows
    .filter((row) => row('bundle') === 'assinatura')
    .sort((one, other) => (place(one) < place(other) ? -1 : 1));
}

type Found = { readonly row: Row; readonly x509: X509Certificate };

/** The faults of a certificate, by the manifest and by itself. */
function faultsOf({ row, x509 }: Found, all: readonly Found[]): readonly string[] {
  const name = (part: string): string | undefined => /(?:^|\n)CN=(.*)/.exec(part)?.[1];
  const instant = (date: Date): string => date.toISOString().replace('.000Z', 'Z');
  const checks: readonly (readonly [string, string | undefined, string])[] = [
    ['sha256', x509.fingerprint256.replaceAll(':', '').toLowerCase(), row('sha256')],
    ['cn', name(x509.subject), row('cn')],
    ['emissor_cn', name(x509.issuer), row('emissor_cn')],
    ['inicio', instant(x509.validFromDate), row('inicio')],
    ['fim', instant(x509.validToDate), row('fim')],
  ];
  const faults = checks
    .filter(([, found, said]) => found !== said)
    .map(([column, found, said]) => `${row('arquivo')}: ${column} is ${found}, the manifest says ${said}`);
  if (!x509.ca) faults.push(`${row('arquivo')}: is no authority`);
  const isSigned = all.some((one) => x509.checkIssued(one.x509) && x509.verify(one.x509.publicKey));
  if (!isSigned) faults.push(`${row('arquivo')}: none of the others has signed it`);
  return faults;
}

function pemOf(found: readonly Found[]): string {
  return found
    .map(({ row, x509 }) => {
      const lines = x509.raw.toString('base64').match(/.{1,64}/g)!;
      return `# ${row('cn')}\n-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
    })
    .join('\n');
}

/** The exit code: 0 done or equal, 1 different, 2 the folder cannot be used. */
function main(args: readonly string[]): number {
  const check = args.includes('--check');
  const [given, ...others] = args.filter((arg) => arg !== '--check');
  if (given === undefined || given.startsWith('-') || others.length > 0) {
    console.error('Usage: npx node scripts/generate-icp-brasil.ts [--check] FOLDER');
    return 2;
  }
  const folder = resolve(given);
  if (!existsSync(join(folder, MANIFEST))) {
    console.error(`No ${MANIFEST} in ${folder}.`);
    return 2;
  }
  const read = (table: string): readonly Row[] => parseCsv(readFileSync(join(folder, table), 'utf8'), table);
  const table = AUTORIDADES.write(read, COMPILED_ON, 'scripts/generate-icp-brasil.ts');
  const found = inOrder(read(MANIFEST)).map((row) => ({
    row,
    x509: new X509Certificate(readFileSync(join(folder, row('arquivo')))),
  }));
  const faults = [...table.faults, ...found.flatMap((one) => faultsOf(one, found))];
  if (faults.length > 0) {
    for (const fault of faults) console.error(fault);
    console.error(`${faults.length} faults in ${folder}; nothing written.`);
    return 2;
  }
  const isRoot = ({ row }: Found): boolean => row('nivel') === 'raiz';
  const files: readonly (readonly [string, string])[] = [
    ['autoridades.json', table.text],
    ['raizes.pem', pemOf(found.filter(isRoot))],
    ['intermediarias.pem', pemOf(found.filter((one) => !isRoot(one)))],
  ];
  return check ? compare(files) : write(files);
}

function write(files: readonly (readonly [name: string, content: string])[]): number {
  for (const [name, content] of files) writeFileSync(join(OUTPUT, name), content);
  console.log(`${files.length} files written to ${OUTPUT}`);
  return 0;
}

function compare(files: readonly (readonly [name: string, content: string])[]): number {
  const stale = files.filter(
    ([name, content]) => !existsSync(join(OUTPUT, name)) || readFileSync(join(OUTPUT, name), 'utf8') !== content,
  );
  for (const [name] of stale) console.error(`${name}: differs from the source`);
  return stale.length === 0 ? 0 : 1;
}

if (import.meta.main) {
  try {
    process.exitCode = main(process.argv.slice(2));
  } catch (error) {
    // The file is missing, or is no CSV or no certificate at all.
    console.error((error as Error).message);
    process.exitCode = 2;
  }
}
