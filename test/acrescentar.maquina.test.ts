/**
 * Tests six checklists of CONTRIBUTING. A copy gets a setting, a type of event, a column, a layout, a subject and a table.
 * Only the places that the lists name change. The copy stores and shows them, and its types hold. Then two wings are taken out of it.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { AUDITADAS } from '../src/base/book/auditoria-tabelas.ts';
import { onEnd } from './support/cleanup.ts';
import { databaseUrlOf, freshDatabase } from './support/database.ts';
import { freshDataDir, ROOT, type Said, type ServiceProcess, startServiceProcess } from './support/process.ts';
import { until } from './support/until.ts';

/** The maximum number of places to edit by hand. */
const PLACES_MAX = 5;

/** A line, and the text added below it; or a pattern replaced everywhere, and its replacement. A new file has neither. */
type Edit = readonly [file: string, line: string | RegExp | undefined, added: string];

const A_SETTING: readonly Edit[] = [
  ['src/base/pg/migrations/990-contato.sql', undefined, 'alter table municipios add column contato text;\n'],
  [
    'src/fiscal/settings.ts',
    'const SETTINGS_ROWS = {',
    `  contato: text({
    column: 'contato',
    option: 'contato',
    takes: 'TEXTO',
    help: 'onde quem integra encontra a prefeitura',
    without: 'deixa de dizê-lo',
    parse: (written) => (written.includes('@') ? written : problem(\`\${written} não tem @.\`)),
    title: 'contato',
    show: (contato) => contato ?? 'nenhum',
  }),`,
  ],
  [
    'src/base/world/avisos-municipio.ts',
    'export function remarksOnSettings(municipio: Municipio, via: Via): string[] {',
    `  if (municipio.contato === undefined) return ['Sem --contato ninguém sabe a quem perguntar.'];`,
  ],
  ['docs/site/operacao.md', '## Trocar o certificado', '\n`--contato` diz a quem integra onde perguntar.\n'],
];

const A_COLUMN: readonly Edit[] = [
  ['src/base/pg/migrations/991-codigo-servico.sql', undefined, 'alter table notas add column codigo_servico text;\n'],
  ['src/base/book/nota-columns.ts', 'const COLUMNS = {', '  codigo_servico: orNull(TEXT),'],
  ['src/subjects/notas/issue.ts', '    const nota: NotaNova = {', '      codigo_servico: dps.serv.cServ.cTribNac,'],
  ['src/subjects/notas/queries.ts', '    chave_acesso: row.chave_acesso,', '    codigo_servico: row.codigo_servico,'],
  [
    'src/subjects/notas/fields.rest.ts',
    'export const NOTA_SEM_XML = {',
    `  codigo_servico: orNull(field.text('O código de tributação nacional.')),`,
  ],
];

/** The event arrives on every note that takes any event. Nothing but its own cancellation can follow it. */
const AN_EVENT: readonly Edit[] = [
  [
    'src/fiscal/tipos-evento.ts',
    'const ROWS: readonly Row[] = [',
    `  {
    slug: 'extravio_tomador',
    codigo: '205999',
    descricao: 'Manifestação de NFS-e - Extravio pelo Tomador',
    recusa: 'E0872',
    autor: 'tomador',
    soAqui: true,
    campos: [descricao('descricao_motivo_extravio', 'Perdida na mudança')],
  },`,
  ],
  ['src/fiscal/conflitos-evento.ts', 'const CHEGAM: readonly string[] = [', "  '205999',"],
  ['src/fiscal/conflitos-evento.ts', /: '(-{16})'/g, ": '-$1'"],
  ['src/fiscal/conflitos-evento.ts', /: '(?=[^']*Y)([Y\-c]{16})'/g, ": 'Y$1'"],
  [
    'src/fiscal/conflitos-evento.ts',
    'const MATRIZ: Readonly<Record<string, string>> = {',
    "  '205999': '-YYYYYYYYYYYYYYYY',",
  ],
  [
    'src/fiscal/errors/eventos.ts',
    'const ROWS: readonly EventoRow[] = [',
    "  depoisDe('E0872', 'O extravio', 'A nota está cancelada, ou já tem o extravio.', 'Consulte os eventos da nota.'),",
  ],
  [
    'src/fiscal/errors/eventos.ts',
    'export const CASOS_DE_EVENTO: Readonly<Record<string, CasoDeEvento>> = {',
    "  E0872: { recusado: em(['extravio_tomador'], 'extravio_tomador'), aceito: em([], 'extravio_tomador') },",
  ],
  ['test/especificacao/eventos.ts', 'export const SPECIFIED = `', '  205999 extravio_tomador tomador - - soAqui E0872'],
  [
    'test/especificacao/eventos.ts',
    'export const SHAPES: Readonly<Record<string, Shape>> = {',
    `  '205999': {
    xDesc: 'Manifestação de NFS-e - Extravio pelo Tomador',
    elements: 'xMotivo!15-255',
    names: 'descricao_motivo_extravio',
    campos: { descricao_motivo_extravio: 'Perdida na mudança' },
    text: '<xMotivo>Perdida na mudança</xMotivo>',
  },`,
  ],
  ['src/fiscal/conflitos-evento.test.ts', /---------- 101101(?= 101103)/g, '---------- 205999 101101'],
  ['src/fiscal/conflitos-evento.test.ts', /^( {2}(?:nenhum|[\d:]+) +)(-{24})$/gm, '$1-$2'],
  ['src/fiscal/conflitos-evento.test.ts', /^( {2}(?:nenhum|[\d:]+) +)(?=[Y\-c]*Y)/gm, '$1Y'],
  [
    'src/fiscal/conflitos-evento.test.ts',
    '                ---------- 305103:101101 305103:105102 305103:105104 305103:105105 305103:305101',
    '  205999        -YYYYYYYYYYYYYYYYYYYYYYYY',
  ],
];

/** The layout removes an element, renames another, and gives a third a new meaning. */
const A_LAYOUT: readonly Edit[] = [
  [
    'src/fiscal/layout/dps-1-02.ts',
    undefined,
    `import { type Dps, FOREIGN_TAGS, INF_DPS } from './dps.ts';
import { T } from './simple-types.ts';
import { need, type Shape } from './vocabulary.ts';

const [tpAmb, dhEmi, , serie, nDPS, , , ...rest] = INF_DPS;

const INF_DPS_1_02 = [
  tpAmb,
  dhEmi,
  serie,
  nDPS,
  need('dFato', T.data, 'O dia do fato gerador'),
  need('tpEmit', T.indTotTrib, 'Quem emite: 0 prestador'),
  ...rest,
] as const;

export const DPS_1_02 = {
  versao: '1.02',
  items: INF_DPS_1_02,
  foreignTags: [...FOREIGN_TAGS, { name: 'dCompet', say: 'use dFato', rename: 'dFato' }],
  toDps: (read: object): Dps => {
    const { dFato, ...same } = read as Shape<typeof INF_DPS_1_02>;
    return { ...same, verAplic: '1.02', dCompet: dFato, tpEmit: '1' };
  },
};
`,
  ],
  [
    'src/fiscal/layout/layouts.ts',
    "import { attributeOf, type Elemento } from './tree.ts';",
    "import { DPS_1_02 } from './dps-1-02.ts';",
  ],
  [
    'src/fiscal/layout/layouts.ts',
    '  { versao: DPS_VERSAO, items: INF_DPS, foreignTags: FOREIGN_TAGS, toDps: (read) => read as Dps },',
    '  DPS_1_02,',
  ],
  [
    'src/fiscal/layout/elements.test.ts',
    "import { DPS, INF_NFSE, INF_NFSE_OWN, NFSE } from './nfse.ts';",
    `import { DPS_1_02 } from './dps-1-02.ts';
test('1.02', () => assert.ok(elementsOf(DPS_1_02.items).every(({ name }) => name !== 'verAplic')));`,
  ],
];

/** A register of days with a command, an address and a page. */
const AMOSTRAS = 'src/subjects/amostras';
const A_SUBJECT: readonly Edit[] = [
  [
    `${AMOSTRAS}/subject.ts`,
    undefined,
    `import type { StoreSetup } from '../../base/book/store.ts';
import type { RowsOf, Subject } from '../subject.ts';

const rows = async () => {
  const { amostraStore } = await import('./amostras.rows.ts');
  return ({ pool }: StoreSetup) => ({ amostras: amostraStore(pool) });
};

export default {
  rows,
  routes: async () => (await import('./amostras.rest.ts')).ROTAS_DE_AMOSTRAS,
  shapes: async () => (await import('./amostras.rest.ts')).AMOSTRA_SHAPES,
  pages: async () => (await import('./amostras.page.ts')).AMOSTRAS_PAGES,
  commands: [{ words: ['amostra'], load: async () => (await import('./amostra.command.ts')).AMOSTRA_COMMANDS }],
} satisfies Subject;

declare module '../../base/book/store.ts' {
  interface Store extends RowsOf<typeof rows> {}
}
`,
  ],
  [
    `${AMOSTRAS}/amostras.rows.ts`,
    undefined,
    `import { insertRegistradas } from '../../base/book/auditoria-entradas.ts';
import { type Db, runTransaction } from '../../base/pg/open.ts';

export type Amostra = { readonly dia: string; readonly nome: string };

export function amostraStore(pool: Db) {
  return {
    list: async (tenant: string): Promise<readonly Amostra[]> =>
      (await pool.query<Amostra>('select dia::text, nome from amostras where tenant = $1 order by dia', [tenant])).rows,
    add: (tenant: string, { dia, nome }: Amostra): Promise<void> =>
      runTransaction(pool, async (client) => {
        await client.query('insert into amostras (tenant, dia, nome) values ($1, $2, $3)', [tenant, dia, nome]);
        await insertRegistradas(client, tenant, 'amostras', { which: 't.dia = $6::date', values: [dia] });
      }),
  };
}
`,
  ],
  [
    `${AMOSTRAS}/amostras.ts`,
    undefined,
    `import type { Store } from '../../base/book/store.ts';
import type { Amostra } from './amostras.rows.ts';

type AmostrasWorld = { readonly store: Pick<Store, 'amostras'> };

export const listAmostras = ({ store }: AmostrasWorld, tenant: string): Promise<readonly Amostra[]> =>
  store.amostras.list(tenant);
export const addAmostra = ({ store }: AmostrasWorld, tenant: string, amostra: Amostra): Promise<void> =>
  store.amostras.add(tenant, amostra);
`,
  ],
  [
    `${AMOSTRAS}/amostras.rest.ts`,
    undefined,
    `import { defineRoute, type Route } from '../../base/http/route.ts';
import { CATALOGO } from '../../published/acesso.ts';
import { field, STATUS } from '../../published/openapi/field.ts';
import { listAmostras } from './amostras.ts';

export const AMOSTRA_SHAPES = {
  Amostra: { dia: field.text('O dia, AAAA-MM-DD.'), nome: field.text('O nome.') },
} as const;

export const ROTAS_DE_AMOSTRAS: readonly Route[] = [
  defineRoute({
    id: 'catalogo_amostras',
    method: 'GET',
    path: '/api/v1/catalogo/amostras',
    query: { page: 'A página.', per_page: 'Quantas por página.' },
    summary: 'As amostras do município.',
    status: 200,
    fields: { status: STATUS, itens: field.shape('Amostra[]', 'As amostras.') },
    headers: [],
    codes: [],
    isPublic: true,
    acesso: CATALOGO,
    handle: async ({ world, municipio }) => ({
      body: { status: 'OK', itens: await listAmostras(world, municipio.tenant) },
    }),
  }),
];
`,
  ],
  [
    `${AMOSTRAS}/amostras.page.ts`,
    undefined,
    `import { forRole, type Row } from '../../base/pages/visit.ts';
import { html } from '../../published/site/page-shell.ts';
import { listAmostras } from './amostras.ts';

export const AMOSTRAS_PAGES: readonly Row[] = [
  forRole('leitura', 'GET', '/amostras', async ({ world, slug }) => ({
    title: 'Amostras',
    main: html\`<ul>\${(await listAmostras(world, slug)).map(({ nome }) => html\`<li>\${nome}</li>\`)}</ul>\`,
  })),
];
`,
  ],
  [
    `${AMOSTRAS}/amostra.command.ts`,
    undefined,
    `import { type Command, inMunicipio } from '../../base/terminal/command.ts';
import { addAmostra } from './amostras.ts';

export const AMOSTRA_COMMANDS: readonly Command[] = [
  {
    name: 'amostra incluir',
    arguments: 'DIA NOME',
    summary: 'Inclui uma amostra.',
    options: { municipio: { takes: 'SLUG', help: 'município da amostra' } },
    run: (world, values, [dia, nome]) =>
      inMunicipio(world, values, 'de que município é a amostra', async (tenant) => {
        await world.registry((registry) => addAmostra(registry, tenant, { dia: dia!, nome: nome! }));
        return 0;
      }),
  },
];
`,
  ],
  ['src/subjects/subjects.ts', "  () => import('./vigia/subject.ts'),", "  () => import('./amostras/subject.ts'),"],
];

const A_TABLE: readonly Edit[] = [
  [
    'src/base/pg/migrations/992-amostras.sql',
    undefined,
    'create table amostras (tenant text not null references municipios, dia date not null, nome text not null, primary key (tenant, dia));\n',
  ],
  [
    'src/base/book/tabelas.ts',
    /(?<=\n) {2}importacoes: \{/g,
    `  amostras: {
    corrente: { ordem: ${Object.keys(AUDITADAS).length + 1}, chave: 'dia', sai: 'livre' },
    colunas: 'dia:d nome',
    pessoas: 'dias',
  },
  importacoes: {`,
  ],
];

let copy: string;

before(() => {
  copy = mkdtempSync(path.join(tmpdir(), 'nfse-copia-'));
  onEnd(() => rmSync(copy, { recursive: true, force: true }));
  const files = execFileSync('git', ['ls-files', '-z'], { cwd: ROOT, encoding: 'utf8', maxBuffer: 2 ** 26 });
  const kept = files.split('\0').filter((file) => file !== '' && existsSync(path.join(ROOT, file)));
  for (const folder of new Set(kept.map((file) => path.dirname(file)))) {
    mkdirSync(path.join(copy, folder), { recursive: true });
  }
  for (const file of kept) copyFileSync(path.join(ROOT, file), path.join(copy, file));
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(copy, 'node_modules'));
});

function apply([file, line, added]: Edit): void {
  const place = path.join(copy, file);
  if (line === undefined) {
    mkdirSync(path.dirname(place), { recursive: true });
    writeFileSync(place, added, { flag: 'wx' });
    return;
  }
  const text = readFileSync(place, 'utf8');
  if (line instanceof RegExp) {
    assert.match(text, line);
    writeFileSync(place, text.replaceAll(line, added));
    return;
  }
  const lines = text.split('\n');
  assert.equal(lines.filter((one) => one === line).length, 1, `${file} has the line once: ${line}`);
  writeFileSync(place, lines.flatMap((one) => (one === line ? [one, added] : [one])).join('\n'));
}

/** The steps of a section of CONTRIBUTING, or of its second part. */
function stepsOf(title: string): readonly string[] {
  const parts = ['CONTRIBUTING.md', 'docs/contributing-more.md'];
  const text = parts.map((file) => readFileSync(path.join(ROOT, file), 'utf8')).join('\n');
  const section = text.split(/^## /m).find((one) => one.startsWith(`${title}\n`)) ?? '';
  return section.split(/^\d+\. /m).slice(1);
}

/** Every place stands in the list, in order, and there are no others. */
function followsList(title: string, edits: readonly Edit[]): void {
  const steps = stepsOf(title);
  const files = new Set(edits.map(([file]) => (file.startsWith(AMOSTRAS) ? 'src/subjects/NAME/' : file)));
  assert.equal(steps.length, files.size, `steps of "${title}"`);
  assert.ok(files.size <= PLACES_MAX);
  for (const [place, file] of [...files].entries()) {
    const named = file.includes('/migrations/') ? 'src/base/pg/migrations/' : file;
    assert.ok(steps[place]!.includes(named), `step ${place + 1} of "${title}" names ${named}`);
  }
}

/** The compile cache of Node is removed with the copy. */
const ownCache = (): NodeJS.ProcessEnv => ({ NODE_COMPILE_CACHE: path.join(copy, 'compiled') });

function inCopy(env: NodeJS.ProcessEnv, ...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [path.join(copy, args[0]!), ...args.slice(1)], {
    cwd: copy,
    env: { ...process.env, ...ownCache(), ...env },
    encoding: 'utf8',
  });
  return { code: status, out: stdout, err: stderr };
}

/** Runs the copy's program with several argument lists in turn, in one process. */
const COMMANDS_IN_TURN = `
import { writeFileSync } from 'node:fs';
const said = [];
for (const [turn, args] of JSON.parse(process.argv[2]).entries()) {
  const one = { code: 0, out: '', err: '' };
  process.stdout.write = (text) => (one.out += text, true);
  process.stderr.write = (text) => (one.err += text, true);
  process.argv.splice(2, Infinity, ...args);
  process.exitCode = 0;
  await import('./src/wiring/program.ts?' + turn);
  said.push({ ...one, code: process.exitCode });
}
process.exitCode = 0;
writeFileSync(1, JSON.stringify(said));
`;

function commandsInCopy(env: NodeJS.ProcessEnv, commands: readonly (readonly string[])[]): readonly Said[] {
  writeFileSync(path.join(copy, 'em-seguida.mjs'), COMMANDS_IN_TURN);
  const { code, out, err } = inCopy(env, 'em-seguida.mjs', JSON.stringify(commands));
  rmSync(path.join(copy, 'em-seguida.mjs'));
  assert.equal(code, 0, err);
  return JSON.parse(out);
}

test('a setting of a municipality is added at the places of the list: it is kept, shown, refused and taken away', async () => {
  followsList('A setting of a municipality', A_SETTING);
  for (const edit of A_SETTING) apply(edit);
  const where = ['--ibge', '3509502', '--ambiente', 'homologacao'];
  const [help, created, first, refused, other, second, taken, third] = commandsInCopy(
    { DATABASE_URL: databaseUrlOf(await freshDatabase()) },
    [
      ['municipio', 'criar', '--help'],
      ['municipio', 'criar', 'novo', ...where, '--contato', 'a@b.gov.br'],
      ['municipio', 'mostrar', 'novo'],
      ['municipio', 'alterar', 'novo', '--contato', 'ninguém'],
      ['municipio', 'alterar', 'novo', '--aliquota', '3'],
      ['municipio', 'mostrar', 'novo'],
      ['municipio', 'alterar', 'novo', '--sem-contato'],
      ['municipio', 'mostrar', 'novo'],
    ],
  );
  assert.match(help!.out, /^ {2}--contato TEXTO +onde quem integra encontra a prefeitura$/m);
  assert.equal(created!.code, 0, created!.err);
  assert.match(first!.out, /^ {2}contato +a@b\.gov\.br$/m);
  assert.match(refused!.err, /--contato ninguém não tem @\./);
  assert.match(other!.out, /alíquota/);
  assert.match(second!.out, /^ {2}contato +a@b\.gov\.br$/m);
  assert.match(taken!.out, /^ {2}contato +a@b\.gov\.br → nenhum$/m);
  assert.match(third!.out, /aviso +Sem --contato ninguém sabe a quem perguntar\./);
});

describe('beside a service of the copy', () => {
  let service: ServiceProcess;
  let base: string;
  let env: NodeJS.ProcessEnv;

  before(async () => {
    for (const edit of [...A_COLUMN, ...A_LAYOUT, ...A_SUBJECT, ...A_TABLE]) apply(edit);
    const NFSE_DATA_DIR = await freshDataDir();
    env = { ...ownCache(), NFSE_DATA_DIR, DATABASE_URL: databaseUrlOf(await freshDatabase()) };
    service = await startServiceProcess(env, copy);
    base = `${service.address}/integracao/api/v1/nfse`;
  });

  const current = readFileSync(path.join(ROOT, 'examples/dps.xml'), 'utf8');
  const headers = { 'content-type': 'application/xml' };
  const issue = async (body: string) => {
    const answer = await fetch(`${base}/v101`, { method: 'POST', headers, body });
    return { status: answer.status, text: await answer.text() };
  };
  const issuedBy = async (body: string): Promise<string> => {
    const { status, text } = await issue(body);
    assert.equal(status, 201, text);
    return (JSON.parse(text) as { chave_acesso: string }).chave_acesso;
  };

  test('a type of event is added at the places of the list: its own tests and those of the table of errors hold', () => {
    followsList('A type of event', AN_EVENT);
    for (const edit of AN_EVENT) apply(edit);
    const tests = ['tipos-evento', 'conflitos-evento', 'pedido-evento', 'layout/evento', 'errors'];
    const files = tests.map((name) => path.join(copy, `src/fiscal/${name}.test.ts`));
    const tried = spawnSync(process.execPath, ['--test', '--test-isolation=none', '--test-reporter=spec', ...files], {
      cwd: copy,
      env: { ...process.env, ...ownCache(), NODE_TEST_CONTEXT: undefined },
      encoding: 'utf8',
    });
    assert.equal(tried.status, 0, tried.stdout.slice(-4_000));
    assert.match(tried.stdout, /205999 extravio_tomador/);
  });

  test('a column of a note is added at the places of the list: it is stored, read back and described', async () => {
    followsList('A column of a note', A_COLUMN);
    const chave = await issuedBy(current);
    const read = (await (await fetch(`${base}/${chave}`)).json()) as { nota: { codigo_servico: string } };
    assert.equal(read.nota.codigo_servico, /<cTribNac>(\d{6})</.exec(current)![1]);
  });

  test('a layout of the DPS is added at the places of the list: its documents are issued beside those of 1.01, by its own elements', async () => {
    followsList('Another version of the layout', A_LAYOUT);
    const next = current
      .replace('versao="1.01"', 'versao="1.02"')
      .replace(/<verAplic>.*<\/verAplic>/, '')
      .replaceAll('dCompet>', 'dFato>')
      .replace('<tpEmit>1', '<tpEmit>0');
    const chave = await issuedBy(next);
    const xml = await until(async () => {
      const { nota } = (await (await fetch(`${base}/${chave}`)).json()) as { nota: { xml_nota: string } };
      return nota.xml_nota.includes('<NFSe ') ? nota.xml_nota : undefined;
    }, 'the note is written');
    const [, dCompet] = /<dCompet>([^<]*)</.exec(current)!;
    assert.match(xml, new RegExp(`<dCompet>${dCompet}</dCompet><tpEmit>1</tpEmit>`));
    assert.equal((await issue(current)).status, 201);
    assert.match(
      (await issue(current.replace('1.01', '1.02'))).text,
      /verAplic não é um elemento do leiaute nacional 1\.02/,
    );
    assert.match((await issue(next.replace('1.02', '1.01'))).text, /dFato não é um elemento do leiaute nacional 1\.01/);
    assert.match((await issue(next.replace('1.02', '1.03'))).text, /este endereço emite só o 1\.01 ou 1\.02\./);
  });

  test('a subject is added by its folder and its line, its table by two: a command writes what an address answers, and a removal takes', async () => {
    followsList('A subject', A_SUBJECT);
    followsList('A table', A_TABLE);
    const done = commandsInCopy(env, [
      ['amostra', 'incluir', '2026-12-08', 'Imaculada', '--municipio', 'integracao'],
      ['municipio', 'criar', 'engano', '--ibge', '3509502', '--ambiente', 'homologacao'],
      ['amostra', 'incluir', '2026-12-08', 'Imaculada', '--municipio', 'engano'],
      ['municipio', 'excluir', 'engano', '--confirmar'],
    ]);
    for (const { code, err } of done) assert.equal(code, 0, err);
    const told = await fetch(`${service.address}/integracao/api/v1/catalogo/amostras`);
    assert.deepEqual(await told.json(), { status: 'OK', itens: [{ dia: '2026-12-08', nome: 'Imaculada' }] });
    // Exit code 75: the entries have no places yet.
    const verified = await until(async () => {
      const [one] = commandsInCopy(env, [['auditoria', 'verificar', 'integracao']]);
      return one!.code === 75 ? undefined : one;
    }, 'the chain is verified');
    assert.equal(verified.code, 0, `${verified.out}${verified.err}`);
  });

  test('it ends in order', async () => assert.equal(await service.end('SIGTERM'), 0));
});

test('with all of them the generated files are made, and the types hold', () => {
  const generated = inCopy({}, 'scripts/generate.ts');
  assert.equal(generated.code, 0, generated.err);
  const schema = readFileSync(path.join(copy, 'docs/dps-1.02.xsd'), 'utf8');
  assert.match(schema, /version="1\.02"/);
  assert.doesNotMatch(schema, /name="verAplic"|value="1\.01"/);
  assert.match(readFileSync(path.join(copy, 'packages/cliente/src/tipos.ts'), 'utf8'), /codigo_servico/);
  const types = inCopy({}, 'node_modules/typescript/bin/tsc', '--noEmit');
  assert.equal(types.code, 0, types.out);
});

/** Wings that one might leave out: their folders, and the one line that announces each. */
const WINGS = [
  [['src/subjects/evidencia'], 'src/subjects/subjects.ts', "  () => import('./evidencia/subject.ts'),"],
  [
    ['src/published/clientes', 'packages/clientes'],
    'src/published/site/files.ts',
    "  ...(await import('../clientes/modelos.ts')).ARQUIVOS_DOS_CLIENTES,",
  ],
] as const;

test('a wing is taken out by deleting its folder and the line that announces it: the types hold, and the service serves', async () => {
  const evidence = ['evidencia', '--help'];
  const [here] = commandsInCopy({}, [evidence]);
  assert.equal(here!.code, 0, here!.err);
  for (const [folders, file, line] of WINGS) {
    for (const folder of folders) rmSync(path.join(copy, folder), { recursive: true });
    const text = readFileSync(path.join(copy, file), 'utf8');
    assert.equal(text.split(`${line}\n`).length, 2, `${file} has the line once: ${line}`);
    writeFileSync(path.join(copy, file), text.replace(`${line}\n`, ''));
  }
  // Tests of the whole use every wing.
  const { exclude } = JSON.parse(readFileSync(path.join(copy, 'tsconfig.json'), 'utf8'));
  const project = { extends: './tsconfig.json', include: ['src', 'packages'], exclude: [...exclude, '**/*.test.ts'] };
  writeFileSync(path.join(copy, 'tsconfig.asas.json'), JSON.stringify(project));
  const types = inCopy({}, 'node_modules/typescript/bin/tsc', '--noEmit', '-p', 'tsconfig.asas.json');
  assert.equal(types.code, 0, types.out);
  const [gone] = commandsInCopy({}, [evidence]);
  assert.match(gone!.err, /Não existe o comando evidencia/);
  const service = await startServiceProcess(
    { ...ownCache(), DATABASE_URL: databaseUrlOf(await freshDatabase()) },
    copy,
  );
  const body = readFileSync(path.join(ROOT, 'examples/dps.json'), 'utf8');
  const headers = { 'content-type': 'application/json' };
  const issued = await fetch(`${service.address}/integracao/api/v1/nfse/v101`, { method: 'POST', headers, body });
  assert.equal(issued.status, 201, await issued.text());
  assert.equal((await fetch(`${service.address}/docs/arquivos/EmissorNfse.cs`)).status, 404);
  assert.equal(await service.end('SIGTERM'), 0);
});
