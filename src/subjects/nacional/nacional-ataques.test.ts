/** The national door under attack: answers far larger than their requests, requests with two readings, and refusals that come late. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import { type Answer, request } from '../../../test/support/http.ts';
import { startTestService } from '../../../test/support/service.ts';
import { dpsIdOf } from '../../fiscal/chave.ts';
import { exampleXml } from '../../fiscal/rules/example.ts';

const AT = '/integracao/SefinNacional';
const { address } = await startTestService();

function post(
  path: string,
  name: string,
  xml: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  return request(address, `${AT}/${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify({ [name]: gzipSync(xml).toString('base64') }),
  });
}

let last = 0;
/** `more`: blanks, which the layout bears. */
function issue(headers: Readonly<Record<string, string>> = {}, more = ''): Promise<Answer> {
  last += 1;
  const own = { serie: '1', nDPS: String(last) };
  const id = dpsIdOf({ cLocEmi: '3550308', documento: '11222333000181', ...own });
  const xml = exampleXml({ ...own, '@Id': id, dhEmi: '2026-11-21T11:59:00-03:00' });
  return post('nfse', 'dpsXmlGZipB64', xml.replace('<prest>', `${more}<prest>`), headers);
}

async function issued(): Promise<string> {
  const { status, body } = await issue();
  assert.equal(status, 201, JSON.stringify(body));
  return body.chaveAcesso;
}

function pedidoOf(chave: string): string {
  return `<pedRegEvento xmlns="http://www.sped.fazenda.gov.br/nfse" versao="1.01"><infPedReg Id="PRE${chave}101101"><tpAmb>2</tpAmb><verAplic>x-1</verAplic><dhEvento>2026-11-21T11:59:00-03:00</dhEvento><CNPJAutor>11222333000181</CNPJAutor><chNFSe>${chave}</chNFSe><e101101><xDesc>Cancelamento de NFS-e</xDesc><cMotivo>1</cMotivo><xMotivo>Erro de digitação na emissão</xMotivo></e101101></infPedReg></pedRegEvento>`;
}

const register = (chave: string, xml = pedidoOf(chave), headers: Readonly<Record<string, string>> = {}) =>
  post(`nfse/${chave}/eventos`, 'pedidoRegistroEventoXmlGZipB64', xml, headers);
const ask = (path: string): Promise<Answer> => request(address, `${AT}/${path}`);
const stateOf = async (chave: string): Promise<string> =>
  (await request(address, `/integracao/api/v1/nfse/${chave}`)).body.nota.status;

const LONG = 'n'.repeat(19_500);
const DSIG = 'http://www.w3.org/2000/09/xmldsig#';
const nest = (name: string, depth: number, inner: string): string =>
  `${`<${name}>`.repeat(depth)}${inner}${`</${name}>`.repeat(depth)}`;

describe('an answer', () => {
  test('is no multiple of its document, whatever its names are', async () => {
    const chave = await issued();
    const twins = nest(LONG, 25, `<Signature xmlns="${DSIG}" Id="k"/>`.repeat(20));
    const strange = Array.from({ length: 40 }, (_, place) => `<${LONG}${place}/>`).join('');
    for (const xml of [
      `<DPS>${twins}</DPS>`,
      `<${LONG}/>`,
      exampleXml({ dhEmi: '2026-11-21T11:59:00-03:00' }).replace('<prest>', `${strange}<prest>`),
      pedidoOf(chave).replace('<tpAmb>', `${twins}<tpAmb>`),
      pedidoOf(chave).replace('<tpAmb>', `${strange}<tpAmb>`),
    ])
      for (const answer of [await post('nfse', 'dpsXmlGZipB64', xml), await register(chave, xml)]) {
        assert.equal(answer.status, 400, JSON.stringify(answer.body).slice(0, 500));
        const bytes = JSON.stringify(answer.body).length;
        assert.ok(bytes < 256 * 1024, `${bytes} bytes for ${xml.length}`);
      }
    const named = await request(address, `${AT}/nfse`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(
        Object.fromEntries(Array.from({ length: 5 }, (_, place) => [`${'x'.repeat(190_000)}${place}`, 1])),
      ),
    });
    assert.equal(named.status, 400);
    assert.ok(JSON.stringify(named.body).length < 16 * 1024);
  });
});

describe('a request of an event', () => {
  test('has one reading: each element once, in the national namespace, about the note of its Id', async () => {
    const chave = await issued();
    const other = await issued();
    const xml = pedidoOf(chave);
    const evil = 'xmlns:e="urn:outro"';
    const cases: readonly (readonly [string, string])[] = [
      ['no environment', xml.replace('<tpAmb>2</tpAmb>', '')],
      ['an environment of another namespace', xml.replace('<tpAmb>', `<e:tpAmb ${evil}>1</e:tpAmb><tpAmb>`)],
      ['a note of another namespace', xml.replace('<chNFSe>', `<e:chNFSe ${evil}>${chave}</e:chNFSe><chNFSe>`)],
      ['two notes', xml.replace('<chNFSe>', `<chNFSe>${other}</chNFSe><chNFSe>`)],
      ['no note', xml.replace(/<chNFSe>.*<\/chNFSe>/, '')],
      ['the Id of another note', xml.replace(/Id="PRE\d{50}/, `Id="PRE${other}`)],
      ['the Id of another type', xml.replace('101101"', '105102"')],
      ['two groups', xml.replace('<e101101>', '<e202201><xDesc>x</xDesc></e202201><e101101>')],
      ['an element inside a value', xml.replace('<cMotivo>1', '<cMotivo><cMotivo>2</cMotivo>1')],
      ['two reasons', xml.replace('<cMotivo>', '<cMotivo>2</cMotivo><cMotivo>')],
      ['an element of nobody', xml.replace('<tpAmb>', '<lixo/><tpAmb>')],
      ['another description', xml.replace('Cancelamento de NFS-e', 'Confirmação')],
      ['a day that does not exist', xml.replace('2026-11-21T', '2026-11-31T')],
      ['no moment', xml.replace('2026-11-21T11:59:00-03:00', 'ontem')],
      ['no namespace', xml.replace(' xmlns="http://www.sped.fazenda.gov.br/nfse"', '')],
    ];
    for (const [what, bent] of cases) {
      assert.notEqual(bent, xml, what);
      const { status, body } = await register(chave, bent);
      assert.equal(status, 400, `${what}: ${JSON.stringify(body)}`);
      assert.equal(body.erros[0].codigo, 'E203', what);
      assert.ok(body.erros[0].linha > 0, what);
    }
    assert.equal(await stateOf(chave), 'autorizada');
    assert.equal((await register(chave)).status, 201);
    assert.equal(await stateOf(chave), 'cancelada');
  });

  test('that the ADN refused is no event of the note, whoever asks', async () => {
    const chave = await issued();
    const refused = await register(chave, pedidoOf(chave), { 'X-NFSe-Simular': 'adn:rejeita=E0840' });
    assert.equal(refused.status, 400);
    const one = await ask(`nfse/${chave}/eventos/101101/1`);
    assert.equal(one.status, 400, JSON.stringify(one.body));
    assert.equal(one.body.erros[0].codigo, refused.body.erros[0].codigo);
    for (const path of ['', '/101101']) {
      const { status, body } = await ask(`nfse/${chave}/eventos${path}`);
      assert.deepEqual([status, body.eventos, body.eventoXmlGZipB64], [200, [], undefined], path);
    }
    for (const odd of ['0x1', '1e0', '%201'])
      assert.equal((await ask(`nfse/${chave}/eventos/101101/${odd}`)).status, 404);
  });

  test('that the ADN has not decided is told as such by each answer about it', async () => {
    const chave = await issued();
    const sent = await register(chave, pedidoOf(chave), { 'X-NFSe-Simular': 'adn:atraso=1h' });
    assert.equal(sent.status, 201, JSON.stringify(sent.body));
    assert.match(sent.body.alertas[0].descricao, /consulte o evento/);
    for (const path of ['', '/101101', '/101101/1']) {
      const { body } = await ask(`nfse/${chave}/eventos${path}`);
      assert.equal(body.eventos.length, 1);
      assert.equal(body.alertas[0].codigo, 'E703', path);
    }
  });
});

describe('a document that is answered in the thread of the large ones', () => {
  const BLANKS = ' '.repeat(40_000);

  test('waits for the ADN as any other, and is refused if the ADN refuses it', async () => {
    const { status, body } = await issue({}, BLANKS);
    assert.equal(status, 201, JSON.stringify(body).slice(0, 1_000));
    assert.deepEqual(body.alertas, []);
    assert.match(
      gunzipSync(Buffer.from(body.nfseXmlGZipB64, 'base64')).toString(),
      new RegExp(`Id="NFS${body.chaveAcesso}"`),
    );
    const refused = await issue({ 'X-NFSe-Simular': 'adn:rejeita=E0840' }, BLANKS);
    assert.equal(refused.status, 400, JSON.stringify(refused.body).slice(0, 1_000));
    assert.equal(refused.body.erros[0].codigo, 'E1831');
  });
});

test('a day that does not exist, and an offset beyond the layout, are refused in dhEmi', async () => {
  for (const dhEmi of ['2026-02-30T00:00:00-03:00', '2026-11-21T11:00:00-12:00']) {
    last += 1;
    const { status, body } = await post('nfse', 'dpsXmlGZipB64', exampleXml({ serie: '1', nDPS: String(last), dhEmi }));
    assert.equal(status, 400, dhEmi);
    assert.match(body.erros[0].xpath, /dhEmi$/);
  }
});
