/**
 * The contract of the national API through the public interface, with documents that have the habits of six public libraries: their
 * algorithms, prefixes, references and envelopes, and `dhEmi`. Signatures are made by xml-crypto.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import { testAuthorities } from '../../../test/support/authorities.ts';
import { HABITS, type Habit, SHA1, signWith as signBy } from '../../../test/support/habitos.ts';
import { type Answer, ask, request } from '../../../test/support/http.ts';
import { addPrestador } from '../../../test/support/municipio.ts';
import { NOON, startTestService } from '../../../test/support/service.ts';
import { PROVIDER_CNPJ } from '../../../test/support/signatures.ts';
import { dpsIdOf } from '../../fiscal/chave.ts';
import { exampleXml } from '../../fiscal/rules/example.ts';
import type { Patch } from '../../fiscal/rules/rule.ts';

const TENANT = 'sao-paulo';
const OLD = 'osasco';
const IBGE = { [TENANT]: '3550308', [OLD]: '3534401' } as const;
const { confianca, company } = await testAuthorities(NOON);
const own = company(PROVIDER_CNPJ);
const { address, store, pool, clock } = await startTestService();
for (const [tenant, more] of [
  [TENANT, {}],
  [OLD, { assinaturaNacional: 'sha1' }],
] as const) {
  await store.municipios.create(
    { tenant, ambiente: 'producao', codigoIbge: IBGE[tenant], confianca, ...more },
    clock.now,
  );
  await addPrestador(pool, tenant, PROVIDER_CNPJ);
}

const DH_EMI = '2026-11-21T11:59:00-03:00';
let last = 0;

/** An unused DPS as a library writes it: with `dhEmi`, in one line. */
function freshDps(patch: Patch = {}, tenant: keyof typeof IBGE = TENANT): string {
  last += 1;
  const [serie, nDPS] = ['1', String(last)];
  const id = dpsIdOf({ cLocEmi: IBGE[tenant], documento: PROVIDER_CNPJ, serie, nDPS });
  const xml = exampleXml({ tpAmb: '1', dhEmi: DH_EMI, cLocEmi: IBGE[tenant], ...patch, '@Id': id, serie, nDPS });
  return xml.replace(/>\s+</g, '><');
}

const signWith = (xml: string, element: string, habit: Habit, party = own): string =>
  signBy(xml, element, habit, party);

const pack = (xml: string): string => gzipSync(xml).toString('base64');
const unpack = (text: string): string => gunzipSync(Buffer.from(text, 'base64')).toString('utf8');
const envelope = (name: string, xml: string): string => JSON.stringify({ [name]: pack(xml) });

function post(path: string, body: string, tenant = TENANT): Promise<Answer> {
  const headers = { 'Content-Type': 'application/json; charset=utf-8' };
  return request(address, `/${tenant}/SefinNacional/${path}`, { method: 'POST', headers, body });
}

const issue = (xml: string, tenant = TENANT): Promise<Answer> => post('nfse', envelope('dpsXmlGZipB64', xml), tenant);

const noteOf = (chave: string): Promise<Answer> => request(address, `/${TENANT}/api/v1/nfse/${chave}`);

function assertIssued(answer: Answer): string {
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  const { tipoAmbiente, idDps, chaveAcesso, nfseXmlGZipB64, alertas } = answer.body;
  assert.equal(tipoAmbiente, 1);
  assert.match(idDps, /^DPS\d{42}$/);
  assert.match(unpack(nfseXmlGZipB64), new RegExp(`Id="NFS${chaveAcesso}"`));
  assert.deepEqual(alertas, [], 'the note is authorised');
  return chaveAcesso;
}

/** Refused with these codes, which programs read under several names. */
function assertRefused({ status, body }: Answer, codes: readonly string[], says?: RegExp): void {
  const told = JSON.stringify(body);
  assert.equal(status, 400, told);
  assert.deepEqual(
    body.erros.map(({ Codigo }: { Codigo: string }) => Codigo),
    codes,
    told,
  );
  for (const erro of body.erros) {
    assert.deepEqual([erro.codigo, erro.descricao, erro.complemento], [erro.Codigo, erro.Descricao, erro.Complemento]);
    assert.match(erro.doc_url, new RegExp(`/docs/erros/${erro.codigo}$`));
  }
  assert.deepEqual(body.erro, body.erros[0]);
  assert.deepEqual([body.codigo, body.mensagem], [codes[0], body.erro.descricao]);
  assert.equal(body.tipoAmbiente, 1);
  if (says !== undefined) assert.match(body.erros[0].Descricao, says);
}

describe('a DPS as a library of the national API sends it', () => {
  for (const [name, habit] of Object.entries(HABITS)) {
    test(`${name}: it is issued and authorised`, async () => {
      const chave = assertIssued(await issue(signWith(freshDps(), 'infDPS', habit)));
      const { body } = await noteOf(chave);
      assert.equal(body.nota.status, 'autorizada', 'the note is the same note');
    });
  }

  test('SHA-1 is one fault that names it, unless the municipality takes it', async () => {
    const xml = signWith(freshDps(), 'infDPS', SHA1);
    const old = signWith(freshDps({}, OLD), 'infDPS', SHA1);
    assertRefused(
      await issue(xml),
      ['E902'],
      /certa nos seus algoritmos .*RSA-SHA1.*aceitos aqui: RSA-SHA256, SHA-256/,
    );
    assertIssued(await issue(old, OLD));
  });

  test('a changed document is refused in every profile', async () => {
    for (const habit of Object.values(HABITS)) {
      const xml = signWith(freshDps(), 'infDPS', habit).replace('1000.00', '10.00');
      assertRefused(await issue(xml), ['E902']);
    }
    assertRefused(await issue(signWith(freshDps(), 'infDPS', {}, company('11444777000161'))), ['E906']);
    assertRefused(await issue(freshDps()), ['E901']);
  });

  test('dhEmi is kept as signed, and judged', async () => {
    const chave = assertIssued(await issue(signWith(freshDps(), 'infDPS', {})));
    const { body } = await request(address, `/${TENANT}/SefinNacional/nfse/${chave}`);
    assert.match(unpack(body.nfseXmlGZipB64), new RegExp(`<dhEmi>${DH_EMI}</dhEmi>`));
    const late = signWith(freshDps({ dhEmi: '2026-11-21T12:01:00-03:00' }), 'infDPS', {});
    assertRefused(await issue(late), ['E0008'], /Acerte o relógio/);
    const none = signWith(freshDps({ dhEmi: null }), 'infDPS', {});
    assertRefused(await issue(none), ['E002'], /Falta dhEmi/);
    const before = signWith(freshDps({ dhEmi: '2026-10-04T23:00:00-03:00' }), 'infDPS', {});
    assertRefused(await issue(before), ['E0015'], /posterior ao dia da emissão, 2026-10-04/);
  });

  test('what the national layout has beside is taken: order and items', async () => {
    const patch = { 'serv/infoCompl/xPed': 'PED-1', 'serv/infoCompl/xInfComp': 'x' };
    const xml = freshDps(patch).replace('<xInfComp>', '<gItemPed><xItemPed>1</xItemPed></gItemPed><xInfComp>');
    const { body } = await issue(signWith(xml, 'infDPS', {}));
    assert.match(unpack(body.nfseXmlGZipB64), /<xPed>PED-1<\/xPed><gItemPed><xItemPed>1<\/xItemPed><\/gItemPed>/);
  });

  test('an Id of another form is taken, with a remark that says which one counts', async () => {
    const right = freshDps();
    const [, id = ''] = /Id="(DPS\d+)"/.exec(right)!;
    const reversed = id.replace(/^(DPS\d{7})2/, '$11');
    const { status, body } = await issue(signWith(right.replace(id, reversed), 'infDPS', {}));
    assert.deepEqual([status, body.idDps], [201, id]);
    assert.equal(body.alertas[0].codigo, 'E0004');
  });

  test('layout 1.00 gets the guidance of the specification', async () => {
    const xml = signWith(freshDps().replace('versao="1.01"', 'versao="1.00"'), 'infDPS', {});
    assertRefused(await issue(xml), ['E110'], /leiaute 1\.00/);
  });

  test('the second time it names the note that exists', async () => {
    const xml = signWith(freshDps(), 'infDPS', {});
    const chave = assertIssued(await issue(xml));
    const again = await issue(xml);
    assertRefused(again, ['E0014'], new RegExp(chave));
    assert.equal(again.body.erros[0].chave_acesso, chave);
  });

  test('REST v1 stays to the letter', async () => {
    const { status, body } = await request(address, `/${TENANT}/api/v1/nfse/v101`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/xml' },
      body: signWith(freshDps(), 'infDPS', {}),
    });
    assert.equal(status, 422);
    assert.deepEqual([body.codigo_erro, body.erros[0].xpath], ['E0010', '/DPS/infDPS/dhEmi']);
  });
});

describe('the envelope', () => {
  test('a name without quotes is taken, and the segment in small letters', async () => {
    const body = `{dpsXmlGZipB64:"${pack(signWith(freshDps(), 'infDPS', {}))}"}`;
    const headers = { 'Content-Type': 'application/json' };
    assertIssued(await request(address, `/${TENANT}/sefinnacional/nfse`, { method: 'POST', headers, body }));
  });

  for (const [name, body, says] of [
    ['no JSON', 'olá', /JSON/],
    ['another name', '{"dps":"x"}', /deve ser um objeto JSON com dpsXmlGZipB64.*traz dps/],
    ['no text', '{"dpsXmlGZipB64":1}', /não é um texto/],
    ['no Base64', '{"dpsXmlGZipB64":"ção"}', /não é Base64/],
    ['plain XML', JSON.stringify({ dpsXmlGZipB64: Buffer.from('<DPS/>').toString('base64') }), /XML sem compressão/],
    [
      'a cut gzip',
      JSON.stringify({ dpsXmlGZipB64: gzipSync('<DPS/>').subarray(0, 15).toString('base64') }),
      /gzip inteiro/,
    ],
    ['a bomb', JSON.stringify({ dpsXmlGZipB64: gzipSync(Buffer.alloc(1 << 26)).toString('base64') }), /passa de/],
  ] as const) {
    test(`${name} is told as such`, async () => {
      const { status, body: answer } = await post('nfse', body);
      assert.equal(status, 400);
      assert.equal(answer.erros[0].Codigo, 'E003');
      assert.match(answer.erros[0].Descricao, says);
    });
  }

  test('an unknown municipality and an unknown path are told in the same shape', async () => {
    for (const path of ['/ninguem/SefinNacional/nfse/1', `/${TENANT}/SefinNacional/nada`]) {
      const { status, body } = await request(address, path);
      assert.equal(status, 404);
      assert.equal(body.erros[0].Codigo, 'E601');
    }
  });
});

describe('queries and events', () => {
  test('a note is found by its key and by its DPS', async () => {
    const { body } = await issue(signWith(freshDps(), 'infDPS', {}));
    const at = `/${TENANT}/SefinNacional`;
    const byKey = await request(address, `${at}/nfse/${body.chaveAcesso}`);
    assert.equal(byKey.status, 200);
    assert.equal(unpack(byKey.body.nfseXmlGZipB64), unpack(body.nfseXmlGZipB64));
    const head = await ask(`${address}${at}/dps/${body.idDps}`, { method: 'HEAD' });
    assert.equal(head.status, 200);
    assert.equal((await ask(`${address}${at}/dps/${body.idDps.replace(/.$/, '9')}`, { method: 'HEAD' })).status, 404);
    // The digit of a CPF before the CNPJ, as a library writes it.
    const written = body.idDps.replace(/^(DPS\d{7})2/, '$11');
    assert.notEqual(written, body.idDps);
    assert.equal((await ask(`${address}${at}/dps/${written}`, { method: 'HEAD' })).status, 200);
    assert.equal((await request(address, `${at}/dps/${written}`)).status, 401);
    // The key of a DPS is for the parties of its note in production.
    assert.equal((await request(address, `${at}/dps/${body.idDps}`)).status, 401);
    assert.equal((await request(address, `${at}/nfse/${'1'.repeat(50)}`)).status, 404);
  });

  for (const [name, habit] of Object.entries(HABITS)) {
    test(`a cancellation, ${name}`, async () => {
      const { body } = await issue(signWith(freshDps(), 'infDPS', {}));
      const { chaveAcesso } = body;
      const answer = await post(
        `nfse/${chaveAcesso}/eventos`,
        envelope('pedidoRegistroEventoXmlGZipB64', signWith(pedido(chaveAcesso), 'infPedReg', habit)),
      );
      assert.equal(answer.status, 201, JSON.stringify(answer.body));
      assert.match(unpack(answer.body.eventoXmlGZipB64), /<e101101>/);
      assert.deepEqual(answer.body.alertas, [], 'the event is decided');
      assert.equal((await noteOf(chaveAcesso)).body.nota.status, 'cancelada');
      for (const path of ['', '/101101', '/101101/1']) {
        const list = await request(address, `/${TENANT}/SefinNacional/nfse/${chaveAcesso}/eventos${path}`);
        assert.equal(list.status, 200);
        assert.equal(list.body.eventos[0].tipoEvento, 101101);
        assert.match(unpack(list.body.eventos[0].arquivoXml), /<e101101>/);
      }
    });
  }

  test('a cancellation as the layout of before has it: version 1.00, with nPedRegEvento', async () => {
    const { body } = await issue(signWith(freshDps(), 'infDPS', {}));
    const xml = pedido(body.chaveAcesso)
      .replace('versao="1.01"', 'versao="1.00"')
      .replace(/Id="PRE(\d+)"/, 'Id="PRE$1001"')
      .replace('</chNFSe>', '</chNFSe><nPedRegEvento>1</nPedRegEvento>');
    const path = `nfse/${body.chaveAcesso}/eventos`;
    const answer = await post(path, envelope('pedidoRegistroEventoXmlGZipB64', signWith(xml, 'infPedReg', {})));
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
  });

  test('a request is refused in elements, by its signature, and by its author', async () => {
    const { body } = await issue(signWith(freshDps(), 'infDPS', {}));
    const send = (xml: string): Promise<Answer> =>
      post(`nfse/${body.chaveAcesso}/eventos`, envelope('pedidoRegistroEventoXmlGZipB64', xml));
    const xml = pedido(body.chaveAcesso);
    assertRefused(
      await send(signWith(xml.replace('<cMotivo>1<', '<cMotivo>7<'), 'infPedReg', {})),
      ['E0002'],
      /cMotivo/,
    );
    assertRefused(await send(xml), ['E901']);
    assertRefused(await send(signWith(xml, 'infPedReg', {}, company('11444777000161'))), ['E906']);
    assertRefused(await send(signWith(xml, 'infPedReg', {}).replace('Erro de', 'Outro de')), ['E902']);
    assertRefused(await send(signWith(xml.replace('<tpAmb>1', '<tpAmb>2'), 'infPedReg', {})), ['E0006']);
    assertRefused(await send(signWith(xml.replace('versao="1.01"', 'versao="2.00"'), 'infPedReg', {})), ['E110']);
    assertRefused(await send('<evento/>'), ['E203']);
    assert.equal((await noteOf(body.chaveAcesso)).body.nota.status, 'autorizada');
  });
});

/** A cancellation as libraries write it. */
function pedido(chave: string): string {
  return `<pedRegEvento xmlns="http://www.sped.fazenda.gov.br/nfse" versao="1.01"><infPedReg Id="PRE${chave}101101"><tpAmb>1</tpAmb><verAplic>exemplo-1.0</verAplic><dhEvento>${DH_EMI}</dhEvento><CNPJAutor>${PROVIDER_CNPJ}</CNPJAutor><chNFSe>${chave}</chNFSe><e101101><xDesc>Cancelamento de NFS-e</xDesc><cMotivo>1</cMotivo><xMotivo>Erro de digitação na emissão</xMotivo></e101101></infPedReg></pedRegEvento>`;
}
