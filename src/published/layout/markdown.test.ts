import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readJson } from '../../documents/json.ts';
import { readXml } from '../../documents/xml.ts';
import { FOREIGN_TAGS, INF_DPS } from '../../fiscal/layout/dps.ts';
import { INF_NFSE_OWN } from '../../fiscal/layout/nfse.ts';
import { HOSTS } from '../../fiscal/layout/plan-corpo.ts';
import { readDps } from '../../fiscal/layout/read.ts';
import { readCorpo } from '../../fiscal/layout/read-corpo.ts';
import { elementsOf, type Item } from '../../fiscal/layout/vocabulary.ts';
import { LEFT_TO_US, layoutMarkdown } from './markdown.ts';
import { SMALLEST_BODY, SMALLEST_DPS } from './smallest.ts';

const PAGE = layoutMarkdown();

/** Each heading with the text below it, down to the next heading of any level. */
const SECTIONS = new Map(
  PAGE.split(/^(?=#{1,3} )/m).map((text) => [/^#+ `?(.*?)`?$/m.exec(text)?.[1] ?? '', text] as const),
);

/** Each group described once for several places, with the heading of its description. */
const TWINS = new Map(
  [...SECTIONS].flatMap(([heading, text]) =>
    [...(/Igual em (.*)\.$/m.exec(text)?.[1]?.matchAll(/`([^`]+)`/g) ?? [])].map(
      ([, twin]) => [twin!, heading] as const,
    ),
  ),
);

/** The text about a group: under its own heading, or under that of an equal group or of one that encloses it. */
function sectionOf(path: string): string {
  const steps = path.split('/');
  for (let length = steps.length; length > 0; length -= 1) {
    const twin = TWINS.get(steps.slice(0, length).join('/'));
    if (twin !== undefined) return sectionOf([twin, ...steps.slice(length)].join('/'));
  }
  return SECTIONS.get(path) ?? assert.fail(`no section ${path}`);
}

function rowsOf(section: string): string[][] {
  const lines = section.split('\n').filter((line) => line.startsWith('| '));
  return lines.slice(2).map((line) => line.slice(2, -2).split(/ \| /));
}

function checkGroup(items: readonly Item[], title: string, path: string): void {
  const rows = rowsOf(sectionOf(title));
  const elements = elementsOf(items);
  assert.deepEqual(
    rows.map(([name]) => name),
    elements.map(({ name }) => `\`${name}\``),
    title,
  );
  for (const [place, element] of elements.entries()) {
    const row = rows[place]!.join(' | ');
    assert.ok(row.includes(element.doc), `${title}: ${element.doc}`);
    const inside = path === '' ? element.name : `${path}/${element.name}`;
    if (element.kind === 'group') checkGroup(element.items, inside, inside);
    else if (title.startsWith('infNFSe')) assert.ok(row.includes((element.type.national ?? element.type).expected));
    else {
      const { expected, refusedValues = {} } = element.type;
      for (const words of [expected, ...Object.values(refusedValues), ...Object.values(element.codes ?? {})]) {
        assert.ok(row.includes(words.replaceAll('|', '\\|')), `${inside}: ${words}`);
      }
    }
  }
}

test('every element stands in the table of its group, in order, with its meaning, values and codes', () => {
  checkGroup(INF_DPS, 'infDPS', '');
  checkGroup(INF_NFSE_OWN, 'infNFSe', 'infNFSe');
});

test('the codes of a choice stand above its table', () => {
  for (const [path, codes] of [
    ['toma', ['E0188']],
    ['serv/obra', ['E0011']],
    ['serv/obra/end', ['E0382']],
  ] as const) {
    const rule = /^Exatamente um de: .*$/m.exec(sectionOf(path))?.[0] ?? '';
    for (const code of codes) assert.ok(rule.includes(code), `${path}: ${rule}`);
  }
});

test('every tag of another layout is named with what to do', () => {
  const rows = rowsOf(sectionOf('Tags que não são deste leiaute'));
  assert.equal(rows.length, FOREIGN_TAGS.length);
  for (const { name, say } of FOREIGN_TAGS) {
    assert.ok(
      rows.some(([tag, , advice]) => tag === `\`${name}\`` && advice === say),
      name,
    );
  }
});

test('what a sender may leave to us is told, all of it and nothing else', () => {
  const told = rowsOf(sectionOf('O que o serviço completa')).map(([path, , instead]) => [path, instead]);
  assert.deepEqual(
    told,
    Object.entries(LEFT_TO_US).map(([path, instead]) => [`\`${path}\``, instead]),
  );
});

test('every link of the page leads somewhere in it or to a file beside it', () => {
  const anchors = new Set(
    [...PAGE.matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
      heading!
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
  for (const [, target] of PAGE.matchAll(/\]\(([^)]+)\)/g)) {
    const known = target!.startsWith('#') ? anchors.has(target!.slice(1)) : /^(dps|nfse)-1\.01\.xsd$/.test(target!);
    assert.ok(known, `no target ${target}`);
  }
  assert.equal(anchors.size, [...PAGE.matchAll(/^#+ /gm)].length, 'two headings have one anchor');
});

test('every property of the JSON body has its row, with the path that it becomes', () => {
  const json = PAGE.slice(PAGE.indexOf('## Corpo JSON, grupo a grupo'));
  for (const { campo, items } of HOSTS) {
    const name = campo.replaceAll('[]', '');
    const start = json.indexOf(name === '' ? '### O próprio corpo' : `### JSON \`${name}\`\n`);
    const section = start < 0 ? sharedBy(json, name) : json.slice(start, json.indexOf('\n### ', start + 1));
    for (const item of items.values()) {
      const row = section.split('\n').find((line) => line.startsWith(`| \`${item.name}\` |`));
      const path: string = item.kind === 'campo' ? item.paths[0] : item.kind === 'grupo' ? item.path : item.note;
      assert.ok(row?.includes(`\`${path}\``), `${campo}.${item.name}`);
      assert.doesNotMatch(row!, /undefined|\[object/);
    }
  }
});

/** The section of an object that shares its description with others. */
function sharedBy(json: string, name: string): string {
  const alike = json.split('\n### ').find((section) => /^Igual em .*$/m.exec(section)?.[0].includes(`\`${name}\``));
  return alike ?? assert.fail(`no section ${name}`);
}

test('the smallest JSON body is the smallest DPS', () => {
  const xml = readXml(Buffer.from(SMALLEST_DPS));
  const json = readJson(Buffer.from(SMALLEST_BODY));
  assert.ok('root' in xml && 'value' in json);
  const [fromXml, fromJson] = [readDps(xml.root), readCorpo(json, { tpAmb: '2' })];
  assert.ok('dps' in fromXml && 'dps' in fromJson);
  assert.deepEqual({ ...fromJson.dps, verAplic: 'x' }, { ...fromXml.dps, verAplic: 'x' });
});
