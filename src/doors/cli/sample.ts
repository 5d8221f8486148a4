/** The sample DPS that ships with the project, as somebody in a terminal names it. */
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const SAMPLE = fileURLToPath(new URL('../../../examples/dps.xml', import.meta.url));

/** The path of the sample from where the command was given, when that is shorter to read. */
export function sampleFile(): string {
  const relative = path.relative(process.cwd(), SAMPLE);
  return quoted(relative.startsWith('..') ? SAMPLE : relative);
}

/** One line that issues the sample in the sandbox. */
export function sampleCurl(address: string): string {
  const url = `${address}/integracao/api/v1/nfse/v101`;
  return `curl -s -X POST ${url} -H 'Content-Type: application/xml' --data-binary @${sampleFile()}`;
}

function quoted(file: string): string {
  return /^[\w./-]+$/.test(file) ? file : `'${file.replaceAll("'", `'\\''`)}'`;
}
