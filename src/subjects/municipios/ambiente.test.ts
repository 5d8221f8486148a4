// The environment of a municipality in its accepted documents. `tpAmb` is always forced in the sandbox (specification, "Sandbox tenant");
// production is compared. The documents are XML and JSON, also in the dry run.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Answer, request } from '../../../test/support/http.ts';
import { jsonOf } from '../../../test/support/operacoes.ts';
import { startTestService } from '../../../test/support/service.ts';
import { exampleXml } from '../../fiscal/rules/example.ts';

const { address } = await startTestService({ worker: false });
const EMISSAO = '/integracao/api/v1/nfse/v101';

/** Each DPS has a new number, so that none is a repetition. */
let last = 0;
function numbered(): string {
  last += 1;
  return exampleXml({ serie: '1', nDPS: String(last) });
}

const post = (path: string, type: string, body: string): Promise<Answer> =>
  request(address, path, { method: 'POST', headers: { 'Content-Type': type }, body });

const TP_AMB = /<tpAmb>[^<]*<\/tpAmb>/;

describe('tpAmb in the sandbox is 2, whatever was sent', () => {
  const sent: readonly (readonly [string, string])[] = [
    ['production', '<tpAmb>1</tpAmb>'],
    ['homologation', '<tpAmb>2</tpAmb>'],
    ['no environment', '<tpAmb>3</tpAmb>'],
    ['letters', '<tpAmb>produção</tpAmb>'],
    ['nothing in it', '<tpAmb/>'],
    ['absent', ''],
  ];
  for (const [name, element] of sent) {
    test(`XML: ${name}`, async () => {
      const xml = numbered().replace(TP_AMB, element);
      const dry = await post(`${EMISSAO}/validacao`, 'application/xml', xml);
      assert.equal(dry.status, 200, JSON.stringify(dry.body));
      const issued = await post(EMISSAO, 'application/xml', xml);
      assert.equal(issued.status, 201, JSON.stringify(issued.body));
      assert.deepEqual(issued.body.xml_nfse.match(/<tpAmb>[^<]*/g), ['<tpAmb>2']);
    });
  }

  for (const [name, value] of [
    ['production', '1'],
    ['no environment', '3'],
    ['a number', 3],
    ['null', null],
    ['an object', {}],
    ['absent', undefined],
  ] as const) {
    test(`JSON: ${name}`, async () => {
      const body = { ...JSON.parse(jsonOf(numbered())), tipo_ambiente: value };
      const issued = await post(EMISSAO, 'application/json', JSON.stringify(body));
      assert.equal(issued.status, 201, JSON.stringify(issued.body));
      assert.deepEqual(issued.body.xml_nfse.match(/<tpAmb>[^<]*/g), ['<tpAmb>2']);
    });
  }

  test('what else is wrong with the element is told', async () => {
    const foreign = numbered().replace(TP_AMB, '<tpAmb a="1">2</tpAmb>');
    assert.equal((await post(EMISSAO, 'application/xml', foreign)).body.erros[0].codigo, 'E0010');
    const twice = numbered().replace(TP_AMB, '<tpAmb>2</tpAmb><tpAmb>2</tpAmb>');
    assert.equal((await post(EMISSAO, 'application/xml', twice)).body.erros[0].xpath, '/DPS/infDPS/tpAmb[2]');
  });
});

describe('tpAmb in production is what was sent', () => {
  test('3 and absence are faults of structure', async () => {
    const { address: there, store, clock } = await startTestService({ worker: false });
    await store.municipios.create({ tenant: 'exemplo', ambiente: 'producao', codigoIbge: '3550308' }, clock.now);
    // The dry run reports the structure without a signature.
    const validated = async (element: string): Promise<readonly string[]> => {
      const body = numbered().replace(TP_AMB, element);
      const init = { method: 'POST', headers: { 'Content-Type': 'application/xml' }, body };
      const answer = await request(there, '/exemplo/api/v1/nfse/v101/validacao', init);
      return answer.body.erros.map((erro: Answer['body']) => `${erro.codigo} ${erro.xpath}`);
    };
    assert.ok((await validated('<tpAmb>3</tpAmb>')).includes('E0002 /DPS/infDPS/tpAmb'));
    assert.ok((await validated('')).includes('E002 /DPS/infDPS/tpAmb'));
  });
});
