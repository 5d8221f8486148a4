/** Each example of each rule, and of each structural code, through the real front door. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ERRORS } from '../../src/fiscal/errors.ts';
import { exampleXml } from '../../src/fiscal/rules/example.ts';
import type { Patch } from '../../src/fiscal/rules/rule.ts';
import { AMOUNT_RULES, RULES } from '../../src/fiscal/rules/rules.ts';
import { emit } from '../support/http.ts';
import { startTestService } from '../support/service.ts';

type Example = { readonly code: string; readonly patch: Patch; readonly also: readonly string[] };

const rules = [...RULES, ...AMOUNT_RULES];
const tables = ERRORS.flatMap(({ codigo, exemplos }) =>
  exemplos === undefined ? [] : [{ code: codigo, ...exemplos, also: [] as readonly string[] }],
);

const rejected: readonly Example[] = [
  ...rules.flatMap(({ code, rejects, also = [] }) => rejects.map((patch) => ({ code, patch, also }))),
  ...tables.flatMap(({ code, rejects, also }) => rejects.map((patch) => ({ code, patch, also }))),
];
const accepted: readonly Example[] = [
  ...rules.flatMap(({ code, accepts }) => accepts.map((patch) => ({ code, patch, also: [] }))),
  ...tables.flatMap(({ code, accepts }) => accepts.map((patch) => ({ code, patch, also: [] }))),
];

test('each rejected example is refused with its code and no other', async () => {
  const { address } = await startTestService({ worker: false });
  for (const { code, patch, also } of rejected) {
    const { status, body } = await emit(address, exampleXml(patch));
    const codes = body.erros?.map((fault: { codigo: string }) => fault.codigo) ?? [];
    const wanted = [code, ...also].toSorted();
    assert.deepEqual(
      [...new Set(codes)].toSorted(),
      wanted,
      `${code} ${JSON.stringify(patch)} got ${status} ${JSON.stringify(body)}`,
    );
    assert.equal(status, 422);
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
