/** Each example of each rule, and of each structural code, through the real front door. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ERRORS } from '../../src/fiscal/errors.ts';
import { exampleXml } from '../../src/fiscal/rules/example.ts';
import type { Patch } from '../../src/fiscal/rules/rule.ts';
import { ALL_RULES } from '../../src/fiscal/rules/rules.ts';
import { isJsonOnly } from '../../src/fiscal/rules/trial.ts';
import { emit } from '../support/http.ts';
import { startTestService } from '../support/service.ts';

type Example = {
  readonly code: string;
  readonly patch: Patch;
  readonly also: readonly string[];
  readonly refuses: boolean;
};

const tables = ERRORS.flatMap(({ codigo, exemplos }) =>
  exemplos === undefined ? [] : [{ code: codigo, ...exemplos, also: [] as readonly string[] }],
);

const NATIONAL: ReadonlySet<string> = new Set(
  [...Map.groupBy(ALL_RULES, ({ code }) => code)]
    .filter(([, rules]) => rules.every(({ scope }) => scope !== undefined))
    .map(([code]) => code),
);

const rejected: readonly Example[] = [
  ...ALL_RULES.flatMap(({ code, scope, rejects, also = [] }) =>
    rejects.map((patch) => {
      const refuses = scope === undefined || also.some((one) => !NATIONAL.has(one));
      return { code, patch, also: scope === 'aviso' ? [] : also, refuses };
    }),
  ),
  ...tables.flatMap(({ code, rejects, also }) => rejects.map((patch) => ({ code, patch, also, refuses: true }))),
].filter(({ patch }) => !isJsonOnly(patch));
const accepted: readonly Example[] = [
  ...ALL_RULES.flatMap(({ code, accepts }) => accepts.map((patch) => ({ code, patch, also: [], refuses: false }))),
  ...tables.flatMap(({ code, accepts }) => accepts.map((patch) => ({ code, patch, also: [], refuses: false }))),
].filter(({ patch }) => !isJsonOnly(patch));

test('each rejected example is refused with its code and no other, or remarked upon where the sandbox only remarks', async () => {
  const { address } = await startTestService({ worker: false });
  for (const { code, patch, also, refuses } of rejected) {
    const { status, body } = await emit(address, exampleXml(patch));
    const told = `${code} ${JSON.stringify(patch)} got ${status} ${JSON.stringify(body)}`;
    assert.equal(status, refuses ? 422 : 201, told);
    const said: readonly { readonly codigo: string }[] = refuses ? body.erros : body.avisos;
    const codes = new Set(said.map(({ codigo }) => codigo));
    const wanted = [code, ...also].filter((one) => !refuses || !NATIONAL.has(one));
    if (refuses) assert.deepEqual([...codes].toSorted(), wanted.toSorted(), told);
    else for (const one of wanted) assert.ok(codes.has(one), told);
  }
});

test('each accepted example is issued', async () => {
  const { address } = await startTestService({ worker: false });
  for (const [place, { code, patch }] of accepted.entries()) {
    const numbered: Patch = { serie: '1', nDPS: String(place + 1), ...patch };
    const { status, body } = await emit(address, exampleXml(numbered));
    const wasIssued = status === 201 || (status === 422 && body.codigo_erro === 'E0014');
    assert.ok(wasIssued, `${code} ${JSON.stringify(patch)} got ${status} ${JSON.stringify(body)}`);
  }
});
