/** Each example of each rule and structural code, through the public interface, in each form that can express it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ERRORS } from '../../src/fiscal/errors.ts';
import { exampleJson, exampleXml } from '../../src/fiscal/rules/example.ts';
import type { Patch } from '../../src/fiscal/rules/rule.ts';
import { ALL_RULES } from '../../src/fiscal/rules/rules.ts';
import { isJsonOnly } from '../../src/fiscal/rules/trial.ts';
import { type Answer, emit, request } from '../support/http.ts';
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
    .filter(
      ([code, rules]) => rules.every(({ scope }) => scope !== undefined) && !tables.some((one) => one.code === code),
    )
    .map(([code]) => code),
);

/** Rules that need the registry are sent to a municipality that has it, in `src/subjects/cadastros/cadastros.test.ts`. */
const RULES = ALL_RULES.filter(({ given }) => given === undefined);

const rejected: readonly (Example & { readonly isOwn: boolean })[] = [
  ...RULES.flatMap(({ code, scope, rejects, also = [] }) =>
    rejects.map((patch) => {
      const refuses = scope === undefined || also.some((one) => !NATIONAL.has(one));
      // A code may have rules of both kinds, and may stand beside others in a table: this example says which kind it is.
      return { code, patch, also: scope === 'aviso' ? [] : also, refuses, isOwn: scope === undefined || !refuses };
    }),
  ),
  ...tables.flatMap(({ code, rejects, also }) =>
    rejects.map((patch) => ({ code, patch, also, refuses: true, isOwn: true })),
  ),
];
const accepted: readonly Example[] = [
  ...RULES.flatMap(({ code, accepts }) => accepts.map((patch) => ({ code, patch, also: [], refuses: false }))),
  ...tables.flatMap(({ code, accepts }) => accepts.map((patch) => ({ code, patch, also: [], refuses: false }))),
];

type Form = {
  readonly name: 'XML' | 'JSON';
  /** Undefined if this form cannot express it. */
  readonly write: (patch: Patch) => string | undefined;
  readonly send: (address: string, body: string) => Promise<Answer>;
};

const FORMS: readonly Form[] = [
  { name: 'XML', write: (patch) => (isJsonOnly(patch) ? undefined : exampleXml(patch)), send: emit },
  {
    name: 'JSON',
    write: (patch) => exampleJson(patch),
    send: (address, body) =>
      request(address, '/integracao/api/v1/nfse/v101', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body,
      }),
  },
];

/** A body has one property for the two documents of a party, and no version. */
const UNSAYABLE_MAX = 5;

for (const { name, write, send } of FORMS) {
  test(`${name}: each rejected example is refused with its code and no other, or remarked upon where the sandbox only remarks`, async () => {
    const { address } = await startTestService({ worker: false });
    let unsaid = 0;
    for (const { code, patch, also, refuses, isOwn } of rejected) {
      const document = write(patch);
      if (document === undefined) {
        unsaid += isJsonOnly(patch) ? 0 : 1;
        continue;
      }
      const { status, body } = await send(address, document);
      const told = `${code} ${JSON.stringify(patch)} got ${status} ${JSON.stringify(body)}`;
      assert.equal(status, refuses ? 422 : 201, told);
      const said: readonly { readonly codigo: string }[] = refuses ? body.erros : body.avisos;
      const codes = new Set(said.map(({ codigo }) => codigo));
      const wanted = [...(isOwn ? [code] : []), ...also.filter((one) => !refuses || !NATIONAL.has(one))];
      if (refuses) assert.deepEqual([...codes].toSorted(), wanted.toSorted(), told);
      else for (const one of wanted) assert.ok(codes.has(one), told);
    }
    assert.ok(unsaid <= UNSAYABLE_MAX, `${unsaid} examples were not sent`);
  });

  test(`${name}: each accepted example is issued`, async () => {
    const { address } = await startTestService({ worker: false });
    for (const [place, { code, patch }] of accepted.entries()) {
      const document = write({ serie: '1', nDPS: String(place + 1), ...patch });
      if (document === undefined) continue;
      const { status, body } = await send(address, document);
      const wasIssued = status === 201 || (status === 422 && body.codigo_erro === 'E0014');
      assert.ok(wasIssued, `${code} ${JSON.stringify(patch)} got ${status} ${JSON.stringify(body)}`);
    }
  });
}
