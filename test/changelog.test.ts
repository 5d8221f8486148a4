/** The changelog by fragments: one file a change, joined at a release. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { joinFragments, readFragments, release } from '../scripts/changelog.ts';
import { DE_QUEM_INTEGRA, readFragment, SECTIONS } from '../src/published/changelog.ts';

const ROOT = path.resolve(import.meta.dirname, '..');
const [INTEGRA, OPERA] = SECTIONS as [string, string];

test('the fragments of the tree join', () => {
  assert.match(joinFragments(readFragments(path.join(ROOT, 'changes')), '9.9.9'), /^# O que muda na 9\.9\.9\n/);
});

test('a change for integrators has its day, by which its page and its feed tell it', () => {
  for (const fragment of readFragments(path.join(ROOT, 'changes'))) {
    const { section, dia } = readFragment(fragment);
    const line = `${fragment.name}: the first line is "## ${section} (2026-12-31)", with the day of the change`;
    assert.ok(section !== DE_QUEM_INTEGRA || dia !== undefined, line);
  }
});

test('the sections are those of the published changelog', () => {
  const published = readFileSync(path.join(ROOT, 'CHANGELOG.md'), 'utf8').matchAll(/^## (.+)$/gm);
  assert.deepEqual([...new Set([...published].map(([, section]) => section))], SECTIONS);
});

test('a release joins by section and number, on top of the published text, and removes the fragments', () => {
  const root = mkdtempSync(path.join(tmpdir(), 'nfse-changelog-'));
  try {
    mkdirSync(path.join(root, 'changes'));
    const write = (name: string, text: string): void => writeFileSync(path.join(root, name), text);
    write('CHANGELOG.md', `# O que há na 0.1.0\n\n## ${INTEGRA}\n\n- **Emissão**.\n`);
    write('changes/README.md', 'how\n');
    write('changes/010-espera.md', `## ${INTEGRA} (2026-12-01)\n\n- **Espera** menor.\n`);
    write('changes/002-cores.md', `## ${OPERA}\n- **Cores** no console.\n`);
    write('changes/001-consultas.md', `## ${INTEGRA}\n\n- **Consultas** com a hora,\n  e o fuso.\n\n`);
    release(root, '0.2.0', '2026-12-02');
    const joined =
      `# O que muda na 0.2.0 (2026-12-02)\n\n## ${INTEGRA}\n\n- **Consultas** com a hora,\n  e o fuso.\n- **Espera** menor.\n\n` +
      `## ${OPERA}\n\n- **Cores** no console.\n\n## O que há na 0.1.0\n\n### ${INTEGRA}\n\n- **Emissão**.\n`;
    assert.equal(readFileSync(path.join(root, 'CHANGELOG.md'), 'utf8'), joined);
    assert.deepEqual(readdirSync(path.join(root, 'changes')), ['README.md']);
    assert.throws(() => release(root, '0.3.0', '2026-12-03'), /nothing to release/);
    write('changes/001-mais.md', `## ${OPERA}\n\n- Mais.\n`);
    assert.throws(() => release(root, '0.2.0', '2026-12-03'), /already/);
    assert.throws(() => release(root, 'amanhã', '2026-12-03'), /a version is called/);
    release(root, '0.3.0', '2026-12-03');
    const later = joined.replaceAll(/^#{1,2} (?=O que muda|Para.*\n\n- \*\*(?:Con|Cor))/gm, '#$&');
    const added = `# O que muda na 0.3.0 (2026-12-03)\n\n## ${OPERA}\n\n- Mais.\n\n`;
    assert.equal(readFileSync(path.join(root, 'CHANGELOG.md'), 'utf8'), added + later);
  } finally {
    rmSync(root, { recursive: true });
  }
});

test('a faulty fragment is named, with what it lacks', () => {
  const join = (name: string, text: string) => () => joinFragments([{ name, text }], '0.2.0');
  assert.throws(join('consultas.md', `## ${INTEGRA}\n\n- Sim.\n`), /consultas\.md: a fragment is called/);
  assert.throws(join('001-consultas.md', '## Novidades\n\n- Sim.\n'), /001-consultas\.md: the first line is one of/);
  assert.throws(join('001-consultas.md', `## ${INTEGRA}\n\nSim.\n`), /begins with "- "/);
  assert.throws(join('001-consultas.md', `## ${INTEGRA}\n\n- Sim.\n\n## ${OPERA}\n\n- Sim.\n`), /one section/);
});
