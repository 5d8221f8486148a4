/**
 * Trains the dictionary that compresses documents at rest (`src/base/book/pacote.ts`). The samples are made here from
 * the examples of the rules and invented names: `node scripts/train-dictionary.ts NUMBER`, with the `zstd` of the
 * machine. A dictionary in use is never trained again; a better one gets the next number.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { signatureElement } from '../src/documents/signing.ts';
import { declarationIn } from '../src/fiscal/layout/write.ts';
import { exampleJson } from '../src/fiscal/rules/example.ts';
import { acceptedPatches, nfseOf } from '../test/support/notas.ts';

const SAMPLES = 3_000;
const BYTES_MAX = 16_384;
const WORDS =
  'Serviços Comércio Consultoria Tecnologia Clínica Oficina Engenharia Padaria Advocacia Reformas Transportes Escola Silva Souza Lima Rocha Ltda ME EIRELI mensal referente contrato manutenção desenvolvimento'.split(
    ' ',
  );

/** The random numbers are the same at each run. */
let state = 1;
function random(below: number): number {
  state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
  return Math.floor((state / 2 ** 32) * below);
}
const digits = (count: number): string => Array.from({ length: count }, () => random(10)).join('');
const words = (count: number): string => Array.from({ length: count }, () => WORDS[random(WORDS.length)]).join(' ');
const bytes = (count: number): Buffer => Buffer.from(Array.from({ length: count }, () => random(256)));

/** A block as the service compresses it: the DPS without certificate and the note, or the JSON body and the note. */
function sampleOf(patch: ReturnType<typeof acceptedPatches>[number]): Buffer | undefined {
  const told = { ...patch, 'toma/xNome': words(4), 'serv/cServ/xDescServ': words(3 + random(12)) };
  let nfse: string;
  try {
    nfse = nfseOf(told).toString();
  } catch {
    // Some examples need a taker without a name.
    return undefined;
  }
  const [chave, id, cnpj] = [digits(50), digits(42), digits(14)];
  const invented = nfse
    .replace(/Id="NFS\d+"/, `Id="NFS${chave}"`)
    .replace(/Id="DPS\d+"/, `Id="DPS${id}"`)
    .replaceAll('11222333000181', cnpj)
    .replace(/<(nNFSe|nDFSe|nDPS)>\d+/g, (_, name) => `<${name}>${digits(1 + random(7))}`)
    .replace(/<vServ>[^<]*/, `<vServ>${random(9_999)}.${digits(2)}`);
  const json = random(5) === 0 ? exampleJson(told) : undefined;
  const signature = signatureElement(id, `DPS${id}`, { value: bytes(256), certificate: Buffer.alloc(0) });
  const dps = declarationIn(invented).replace('</DPS>', `${signature}</DPS>`);
  return Buffer.concat([bytes(8), Buffer.from(json ?? dps), Buffer.from(invented)]);
}

const number = Number(process.argv[2]);
const file = path.join(import.meta.dirname, `../src/base/book/dicionarios/${number}.zstd`);
if (!(number > 0) || existsSync(file)) throw new Error('the number of a new dictionary is missing');
const patches = acceptedPatches();
const folder = mkdtempSync(path.join(tmpdir(), 'nfse-dicionario-'));
for (let made = 0; made < SAMPLES; ) {
  const sample = sampleOf(patches[random(patches.length)]!);
  if (sample === undefined) continue;
  writeFileSync(path.join(folder, String(made)), sample);
  made += 1;
}
const told = ['--train', '-r', folder, `--maxdict=${BYTES_MAX}`, `--dictID=${number}`, '-o', file];
execFileSync('zstd', told, { stdio: 'inherit' });
rmSync(folder, { recursive: true });
