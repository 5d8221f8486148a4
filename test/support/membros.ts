/** Documents of a patch with more than one member of a repeated group, which a patch by itself cannot say. */
import assert from 'node:assert/strict';
import { exampleXml } from '../../src/fiscal/rules/example.ts';
import type { Patch } from '../../src/fiscal/rules/rule.ts';

/** Path of a group, and what makes each further member differ from the first one. */
export type Membros = Readonly<Record<string, readonly Patch[] | undefined>>;

export function xmlWithMembers(patch: Patch, members: Membros = {}): string {
  let xml = exampleXml(patch);
  for (const [group, more] of Object.entries(members)) {
    const blocks = (more ?? []).map((one) => blockOf(exampleXml({ ...patch, ...one }), group));
    const first = blockOf(xml, group);
    xml = xml.replace(first, () => [first, ...blocks].join(''));
  }
  return xml;
}

/** The lines of a group: its parent and its own name tell it from others of the same name. */
export function blockOf(xml: string, group: string): string {
  const [parent, name] = group.split('/').slice(-2) as [string, string];
  const block = new RegExp(
    `(?<=<${parent}>\\n(?:[^<]*<(?!${parent}>)[^>]*>[^<\\n]*(?:</[^>]*>)?\\n)*?)( *)<${name}>\\n[\\s\\S]*?\\n\\1</${name}>\\n`,
  );
  const found = block.exec(xml);
  assert.ok(found, `there is no ${group}`);
  return found[0];
}
