/** The public face of the client as one page: its declarations as the compiler writes them, in the order of `index.ts`. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { clienteTipos } from './cliente-tipos.ts';

const CLIENTE = path.resolve(import.meta.dirname, '../packages/cliente');
/** The types of answers, which are made of the public description: the page has their names alone. */
const TIPOS = 'tipos';

/** `export { a, type B } from './module.ts'`, or `export * from`. */
const EXPORT = /^export (?:type )?(?:\{([^}]*)\}|\*) from '\.\/([\w-]+)\.ts';/gm;
/** The beginning of a declaration at the top of a file, with its comment. */
const BEGINNING =
  /^(?:\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n)?(export )?(?:declare )?(?:abstract )?(?:class|const|function|type) (\w+)/gm;

/** The page in Markdown. */
export function writeClienteApi(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'nfse-cliente-api-'));
  try {
    const compiler = path.join(
      path.dirname(createRequire(import.meta.url).resolve('typescript/package.json')),
      'bin/tsc',
    );
    execFileSync(process.execPath, [compiler, '-p', CLIENTE, '--outDir', folder, '--emitDeclarationOnly']);
    const read = (module: string): string => readFileSync(path.join(folder, `${module}.d.ts`), 'utf8');
    const exported = [...read('index').matchAll(EXPORT)].map(([, names, module]) => ({ module: module!, names }));
    const sections = exported
      .filter(({ module }) => module !== TIPOS)
      .map(({ module, names }) => `## ${module}.ts\n\n\`\`\`ts\n${listDeclarations(read(module), names)}\n\`\`\`\n`);
    const tipos = [...clienteTipos().matchAll(/^export type (\w+)/gm)].map(([, name]) => `\`${name}\``);
    return `${HEAD}\n${sections.join('\n')}\n## ${TIPOS}.ts\n\nTipos das respostas e dos corpos, da descrição pública (\`docs/openapi.json\`):\n\n${tipos.join(', ')}.\n`;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The exported declarations of a module; `names`: as an export statement lists them, or all. */
function listDeclarations(text: string, names: string | undefined): string {
  const named = names?.match(/\w+/g)?.filter((name) => name !== 'type');
  const begins = [...text.matchAll(BEGINNING)];
  const found = begins.flatMap(({ index, 1: exported, 2: name = '' }, place) => {
    const isShown = named?.includes(name) ?? exported !== undefined;
    return isShown ? [{ name, text: text.slice(index, begins[place + 1]?.index) }] : [];
  });
  const missing = named?.filter((name) => !found.some((one) => one.name === name)) ?? [];
  if (missing.length > 0) throw new Error(`No declaration of ${missing.join(', ')} was found`);
  return found
    .map((one) =>
      one.text
        .replace(/^export (?:declare )?/m, '')
        .replace('export {};', '')
        .trim(),
    )
    .join('\n');
}

const HEAD = `# A face pública do cliente

O que \`import … from 'emissor-nfse-cliente'\` oferece, como o compilador o declara. Feita por \`npm run generate\`: uma mudança desta página é uma mudança
do contrato com quem usa o cliente. [O README do cliente](../packages/cliente/README.md) explica; aqui está tudo.
`;
