/** Documents with more faults than one answer lists (D-03): it has 500 entries, and the last one gives the number of the others. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { exampleJson, exampleXml } from '../src/fiscal/rules/example.ts';
import type { Patch } from '../src/fiscal/rules/rule.ts';
import { validateDocument } from '../src/subjects/notas/validate.ts';
import { type Answer, request } from './support/http.ts';
import { startTestService } from './support/service.ts';

const LIST = 'valores/vDedRed/documentos/docDedRed';
/** Its type is 99 without a description (E0468), its deduction exceeds the limit (E0474), and it has no supplier (E0477). */
const DOCUMENTO: Patch = {
  'serv/cServ/cTribNac': '100101',
  [`${LIST}/nDocFisc`]: 'NF 123',
  [`${LIST}/tpDedRed`]: '99',
  [`${LIST}/dtEmiDoc`]: '2026-10-01',
  [`${LIST}/vDedutivelRedutivel`]: '0.01',
  [`${LIST}/vDeducaoReducao`]: '0.02',
};
const DOCUMENTOS = 1_000;
/** Each document has three faults. */
const FAULTS = 3_000;

/** A supplier in an unknown municipality (E403), which the sandbox refuses too. */
const SEM_MUNICIPIO: Patch = {
  [`${LIST}/fornec/CNPJ`]: '11444777000161',
  [`${LIST}/fornec/xNome`]: 'Fornecedor Exemplo Ltda',
  [`${LIST}/fornec/end/endNac/cMun`]: '9999999',
  [`${LIST}/fornec/end/endNac/CEP`]: '01001000',
  [`${LIST}/fornec/end/xLgr`]: 'Praça da Sé',
  [`${LIST}/fornec/end/nro`]: '2',
  [`${LIST}/fornec/end/xBairro`]: 'Sé',
};

/** `changed`: replacements in each of the documents. */
function manyXml(changed: Patch = {}): string {
  return exampleXml({ ...DOCUMENTO, ...changed }).replace(/ *<docDedRed>[\s\S]*<\/docDedRed>\n?/, (one) =>
    one.repeat(DOCUMENTOS),
  );
}

function manyJson(changed: Patch = {}): string {
  const body = JSON.parse(exampleJson({ ...DOCUMENTO, ...changed })!);
  const group = body.deducao_reducao;
  group.documentos = Array.from({ length: DOCUMENTOS }, () => group.documentos[0]);
  return JSON.stringify(body);
}

const { address, store, clock } = await startTestService({ worker: false });
await store.municipios.create(
  { tenant: 'ensaio', ambiente: 'homologacao', codigoIbge: '3550308', regrasNacionais: 'recusa' },
  clock.now,
);

function send(tenant: string, body: string, path = ''): Promise<Answer> {
  const type = body.startsWith('{') ? 'application/json' : 'application/xml';
  const headers = { 'Content-Type': type };
  return request(address, `/${tenant}/api/v1/nfse/v101${path}`, { method: 'POST', headers, body });
}

function assertCut({ status, body }: Answer, faults: number): void {
  assert.equal(status, 422);
  assert.equal(body.erros.length, 500);
  const left = faults - 499;
  assert.match(body.erros.at(-1).mensagem, new RegExp(`mais ${left} erros .*499 listados`));
  assert.match(body.detalhes, new RegExp(`^São ${faults} erros; os primeiros estão na lista`));
  assert.doesNotMatch(body.detalhes, /todos/);
}

describe('three thousand faults of the rules', () => {
  for (const path of ['', '/validacao']) {
    test(`are 500 entries of ${path === '' ? 'the issuance' : 'the dry run'}, of XML and of JSON`, async () => {
      for (const body of [manyXml(), manyJson()]) {
        const answer = await send('ensaio', body, path);
        assertCut(answer, FAULTS);
        const codes = new Set(answer.body.erros.map(({ codigo }: { codigo: string }) => codigo));
        assert.deepEqual([...codes].toSorted(), ['E0468', 'E0474', 'E0477'], 'of one document after the other (D-113)');
        assert.ok(JSON.stringify(answer.body).length < 300_000);
      }
    });
  }

  test('beside the faults of other steps of the dry run too', async () => {
    const answer = await send('ensaio', manyXml({ 'prest/CNPJ': '11222333000180' }), '/validacao');
    assert.equal(answer.body.codigo_erro, 'E101');
    assert.equal(answer.body.erros.length, 500);
    assert.match(answer.body.erros.at(-1).mensagem, /mais 2502 erros/);
  });

  test('and remarks of the sandbox are no more', async () => {
    for (const path of ['/validacao', '']) {
      const { status, body } = await send('integracao', manyXml(), path);
      assert.ok(status < 300, JSON.stringify(body).slice(0, 500));
      assert.equal(body.avisos.length, 500);
      assert.match(body.avisos.at(-1).mensagem, /Há mais \d+ avisos além dos 499 listados/);
    }
  });

  test('are cut by the command that judges by itself', () => {
    const body = Buffer.from(manyXml(SEM_MUNICIPIO));
    const validated = validateDocument({ kind: 'xml', body }, '2026-10-05');
    assert.ok('faults' in validated);
    assert.equal(validated.faults.length, 500);
    assert.match(validated.faults.at(-1)!.mensagem, /mais 501 erros/);
  });
});

test('faults of the structure are counted alike whatever the body is', async () => {
  for (const body of [manyXml({ [`${LIST}/tpDedRed`]: '77' }), manyJson({ [`${LIST}/tpDedRed`]: '77' })]) {
    const answer = await send('ensaio', body);
    assert.equal(answer.status, 422);
    assert.equal(answer.body.erros.length, 201);
    assert.match(answer.body.erros.at(-1).mensagem, /^Há mais 800 erro\(s\) de estrutura além dos 200 listados/);
    assert.match(answer.body.detalhes, /^São 1000 erros; os primeiros estão na lista/);
  }
});
