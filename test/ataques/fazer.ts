/**
 * Writes the named corpora, or all of them, anew: `npx node test/ataques/fazer.ts [corpus…]`.
 *
 * Their keys are new each time and never stored. So the signatures differ in each run, and no further document can be signed with them.
 */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { type Corpus, FOLDER } from './ataque.ts';

const FEITIOS: Readonly<Record<string, () => Promise<Corpus>>> = {
  'xml-assinatura': async () => (await import('./feitio/xml-assinatura.ts')).makeCorpus(),
  canonicalizacao: async () => (await import('./feitio/canonicalizacao.ts')).makeCorpus(),
  bombas: async () => (await import('./feitio/bombas.ts')).makeCorpus(),
  json: async () => (await import('./feitio/json.ts')).makeCorpus(),
  cms: async () => (await import('./feitio/cms.ts')).makeCorpus(),
  certificados: async () => (await import('./feitio/certificados.ts')).makeCorpus(),
  http: async () => (await import('./feitio/http.ts')).makeCorpus(),
  soap: async () => (await import('./feitio/soap.ts')).makeCorpus(),
};

/** The corpus as JSON, a line for each case, part and authority. */
function formatCorpus(corpus: Corpus): string {
  const members = Object.entries(corpus).map(([key, value]) => `"${key}": ${formatMember(value)}`);
  return `{\n${members.join(',\n')}\n}\n`;
}

function formatMember(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const isList = Array.isArray(value);
  const lines = Object.entries(value).map(
    ([key, one]) => `${isList ? '' : `${JSON.stringify(key)}: `}${JSON.stringify(one)}`,
  );
  const [open, close] = isList ? '[]' : '{}';
  return lines.length === 0 ? `${open}${close}` : `${open}\n${lines.join(',\n')}\n${close}`;
}

const asked = process.argv.slice(2);
for (const name of asked.length > 0 ? asked : Object.keys(FEITIOS)) {
  const make = FEITIOS[name];
  if (make === undefined) throw new RangeError(`no such corpus: ${name}; there are ${Object.keys(FEITIOS).join(', ')}`);
  const corpus = await make();
  writeFileSync(path.join(FOLDER, `${name}.json`), formatCorpus(corpus));
  console.log(`${name}: ${corpus.casos.length} casos`);
}
