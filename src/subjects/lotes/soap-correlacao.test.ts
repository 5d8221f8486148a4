/**
 * An RPS in the form of a 2010 program, without NBS, national codes, IBS and CBS. The shared sandbox issues it unchanged, and the note
 * names the chosen codes. A municipality, even a rehearsing one, has only the correlation that it imports.
 */

import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { storeCorrelacao } from '../../../test/support/correlacao.ts';
import { request } from '../../../test/support/http.ts';
import { all, first, IBSCBS, loteXml, type RpsDeTeste, sendLote } from '../../../test/support/rps.ts';
import { startTestService, type TestService } from '../../../test/support/service.ts';
import { correlacoesOfSubitem, nbsOf, servicoOf, servicos } from '../../fiscal/catalogs/catalogs.ts';

let service: TestService;
before(async () => {
  service = await startTestService();
});

const PURO = { nbs: '', extensao: '' };
let turn = 0;

/** Sends one RPS, in a series of its own. */
async function issued(rps: Partial<RpsDeTeste>, tenant?: string) {
  turn += 1;
  const xml = loteXml([{ ...PURO, numero: 1, serie: String(turn), ...rps }], { numero: String(turn) });
  return sendLote(service.address, xml, tenant);
}

/** The note's text about the sandbox's choices. */
const chosenIn = (documento: string): string | undefined =>
  / Escolhido na integração, porque o RPS não o traz: (.*)$/.exec(first(documento, 'OutrasInformacoes') ?? '')?.[1];

/** Services that the model cannot express, for any choice of codes. */
const NOT_IN_THE_MODEL: readonly (readonly [items: RegExp, codigo: string, porque: RegExp])[] = [
  [/^07\.(0[245678]|17|19)$/, 'E67', /construção, e falta a obra/],
  [/^12\./, '0390', /dados do evento, que o modelo não tem/],
  [/^99\.01$/, 'E160', /Falta o código NBS/],
];

describe('the shared sandbox', () => {
  test('issues an RPS of 2010 of every item of the list, but for what the model has no words for', async () => {
    const items = [...new Set(servicos().flatMap((one) => (one.emissivel ? [one.subitem] : [])))];
    assert.equal(items.length, 201);
    const numbers = Object.fromEntries(items.map((item, place) => [item, place + 1]));
    const known = (item: string) => NOT_IN_THE_MODEL.find(([pattern]) => pattern.test(item));
    const sound = items.filter((item) => known(item) === undefined);
    const { situacao, documento } = await sendLote(
      service.address,
      loteXml(
        sound.map((item) => ({ ...PURO, numero: numbers[item]!, serie: '900', item })),
        { numero: '900' },
      ),
    );
    assert.equal(situacao, '4', documento);
    const notas = documento.split('<CompNfse>').slice(1);
    assert.equal(notas.length, sound.length);
    for (const [place, nota] of notas.entries()) {
      const item = sound[place]!;
      assert.equal(first(nota, 'ItemListaServico'), item);
      const { cTribNac, cNBS, CST, cClassTrib } = Object.fromEntries(
        chosenIn(nota)!
          .split(', ')
          .map((one) => one.split(' ')),
      );
      // The annex contains the combination, and the code belongs to the item; a single code needs no choice.
      const codes = servicos().filter((one) => one.emissivel && one.subitem === item);
      assert.equal(cTribNac === undefined, codes.length === 1, item);
      if (cTribNac !== undefined) assert.equal(servicoOf(cTribNac)?.subitem, item);
      assert.equal(nbsOf(cNBS)?.emissivel, true, item);
      assert.equal(CST, cClassTrib.slice(0, 3));
      const lines = correlacoesOfSubitem(item).filter((line) => line.nbs === cNBS && line.cClassTrib === cClassTrib);
      assert.ok(lines.length > 0, `${item}: ${cNBS} ${cClassTrib}`);
      const isIntegral = correlacoesOfSubitem(item).some(
        ({ cClassTrib: one, nbs, psOnerosa }) => one === '000001' && nbs !== undefined && psOnerosa !== false,
      );
      if (isIntegral && codes.length === 1) assert.equal(cClassTrib, '000001', item);
    }
    for (const item of items.filter((one) => known(one) !== undefined)) {
      const [, codigo, porque] = known(item)!;
      const { documento: refused } = await issued({ item });
      assert.equal(first(refused, 'Codigo'), codigo, item);
      assert.match(first(refused, 'Mensagem')!, porque, item);
    }
  });

  test('chooses the same for the same, in full taxation, and says it on the note of both doors', async () => {
    const said = 'cNBS 115021000, cIndOp 100301, CST 000, cClassTrib 000001';
    for (const item of ['1.01', '01.01', '101', '010101']) {
      assert.equal(chosenIn((await issued({ item })).documento), said, item);
    }
    const { documento } = await issued({ item: '14.01' });
    assert.equal(chosenIn(documento), 'cNBS 118032900, cIndOp 050101, CST 000, cClassTrib 000001');
    const [, chave] = /Id="NFS(\d{50})"/.exec(documento)!;
    const { body } = await request(service.address, `/integracao/api/v1/nfse/${chave}`);
    assert.match(
      body.nota.xml_nota,
      /<xInfComp>Escolhido na integração, porque o RPS não o traz: cNBS 118032900,[^<]*\.</,
    );
    assert.match(body.nota.xml_nota, /<cNBS>118032900<\/cNBS>/);
    assert.match(body.nota.xml_nota, /<CST>000<\/CST><cClassTrib>000001<\/cClassTrib>/);
  });

  test('chooses nothing that the RPS says, and nothing of a group of which it says a part', async () => {
    const full = await issued({ nbs: '115021000', extensao: IBSCBS });
    assert.equal(full.situacao, '4', full.documento);
    assert.match(first(full.documento, 'OutrasInformacoes')!, /^Chave de acesso da NFS-e: \d{50}$/);
    assert.equal(chosenIn((await issued({ nbs: '115022000' })).documento), 'cIndOp 100301, CST 000, cClassTrib 000001');
    const part = await issued({ extensao: '<ControleIBSCBS><CST>000</CST></ControleIBSCBS>' });
    assert.equal(first(part.documento, 'Codigo'), 'E802');
    assert.match(first(part.documento, 'Mensagem')!, /Falta a classificação/);
  });

  test('issues what is immune, exempt, of the Simples, of a MEI, of every special regime, and of a day before IBS and CBS', async () => {
    for (const [rps, wanted] of [
      [{ natureza: '4' }, /, tpImunidade 3$/],
      [{ natureza: '3' }, /^cNBS/],
      [{ simples: '1' }, /^cNBS/],
      [{ simples: '1', regime: '5' }, /^cNBS/],
      ...['1', '2', '3', '4'].map((regime) => [{ regime }, /^cNBS/] as const),
      [{ emissao: '2010-05-01T10:00:00' }, /^cNBS 115021000$/],
    ] as const) {
      const { situacao, documento } = await issued(rps);
      assert.equal(situacao, '4', documento);
      assert.match(chosenIn(documento)!, wanted, JSON.stringify(rps));
    }
    // The number of a lawsuit cannot be chosen.
    const suspended = await issued({ natureza: '5' });
    assert.match(first(suspended.documento, 'Mensagem')!, /Falta o número do processo/);
  });

  test('has what was imported in place of its own, once something was', async () => {
    const own = await startTestService();
    const linha = {
      item: '01.02',
      codigo_municipal: '',
      nbs: '115022000',
      cst: '000',
      c_class_trib: '000001',
      c_ind_op: '100301',
    };
    await storeCorrelacao(own.store, 'integracao', [linha]);
    const done = await sendLote(own.address, loteXml([{ ...PURO, numero: 1, item: '1.02' }]));
    assert.equal(done.situacao, '4', done.documento);
    assert.match(first(done.documento, 'OutrasInformacoes')!, /^Chave de acesso da NFS-e: \d{50}$/);
    const other = await sendLote(own.address, loteXml([{ ...PURO, numero: 2, item: '1.01' }], { numero: '2' }));
    // Neither the NBS code nor the group of the IBS and the CBS can be made.
    assert.deepEqual(all(other.documento, 'Codigo'), ['E160', 'E802']);
  });
});

test('a municipality that rehearses has only what it imports', async () => {
  await service.store.municipios.create(
    { tenant: 'ensaio', ambiente: 'homologacao', codigoIbge: '3550308' },
    service.clock.now,
  );
  const { situacao, documento } = await issued({}, 'ensaio');
  assert.equal(situacao, '3');
  assert.match(first(documento, 'Mensagem')!, /Falta o código NBS/);
});
