/** Documents of a patch with more than one member of a repeated group, which a patch alone cannot express. */
import assert from 'node:assert/strict';
import { exampleXml } from '../../src/fiscal/rules/example.ts';
import type { Patch } from '../../src/fiscal/rules/rule.ts';

/** The path of a group, and the differences of each further member from the first one. */
export type Membros = Readonly<Record<string, readonly Patch[] | undefined>>;

export function xmlWithMembers(patch: Patch, members: Membros = {}): string {
  let xml = exampleXml(patch);
  for (const [group, more = []] of Object.entries(members)) {
    if (more.length === 0) continue;
    const [first] = blocksOf(xml, group);
    assert.ok(first !== undefined, `there is no ${group}`);
    const others = more.flatMap((one) => blocksOf(exampleXml({ ...patch, ...one }), group));
    xml = xml.replace(first, () => [first, ...others].join(''));
  }
  return xml;
}

const TAG = /^ *<(\/?)([A-Za-z]+)[^>]*>(.*<\/[A-Za-z]+>)?$/;

/** The lines of each member of a group, by its path below `infDPS`, in the text that `exampleXml` writes. */
export function blocksOf(xml: string, group: string): readonly string[] {
  const path = `DPS/infDPS/${group}`;
  const blocks: string[] = [];
  const open: string[] = [];
  let block: string[] | undefined;
  for (const line of xml.split('\n')) {
    const [, end, name, leaf] = TAG.exec(line) ?? [];
    if (name !== undefined && end === '' && leaf === undefined) {
      open.push(name);
      if (open.join('/') === path) block = [];
    }
    block?.push(line);
    if (end === '/') {
      if (block !== undefined && open.join('/') === path) {
        blocks.push(`${block.join('\n')}\n`);
        block = undefined;
      }
      open.pop();
    }
  }
  return blocks;
}
