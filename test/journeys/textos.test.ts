/**
 * Free text is issued, stored and shown without a changed byte, if the national schema accepts it. The test uses XML, JSON and the legacy
 * port. `producao.maquina.test.ts` tests it in production, signed by both sides.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { xsdErrors } from '../../src/documents/xml.ts';
import { exampleXml } from '../../src/fiscal/rules/example.ts';
import { dpsXsd, nfseXsd } from '../../src/published/layout/xsd.ts';
import { balcao } from '../support/eventos.ts';
import { authorised, emit, request } from '../support/http.ts';
import { jsonOf } from '../support/operacoes.ts';
import { leitor } from '../support/paginas.ts';
import { call, consultaXml, first } from '../support/rps.ts';
import { startTestService } from '../support/service.ts';

const { address } = await startTestService();
const { api } = balcao(address);
const ler = leitor();

/** The text ends in a space, like a shared note of 15/12/2025. */
const DESCRICAO = 'Licença de uso, mês 10/2026\n\t– “plano anual” \u00a0Łódź 😀 ';
const NOME = ' Łódź & Irmãos – Comércio ';
const TEXTS = { 'serv/cServ/xDescServ': DESCRICAO, 'toma/xNome': NOME, 'toma/IM': ' 12-3 ' };
const WRITTEN = [
  `<xDescServ>${DESCRICAO}</xDescServ>`,
  `<xNome>${NOME.replace('&', '&amp;')}</xNome>`,
  '<IM> 12-3 </IM>',
];

function assertWritten(xml: string): void {
  for (const text of WRITTEN) assert.ok(xml.includes(text), `${text} is not in ${xml}`);
}

async function assertShown(chave: string): Promise<void> {
  const { nota } = (await authorised(address, chave)).body;
  assertWritten(nota.xml_nota);
  assert.deepEqual(xsdErrors(nfseXsd(), Buffer.from(nota.xml_nota)), []);
  assert.equal(nota.tomador_razao_social, NOME);
}

describe('text with spaces at its ends, breaks of lines and letters beyond Latin-1', () => {
  test('as XML', async () => {
    const xml = exampleXml({ serie: '1', nDPS: '1', ...TEXTS });
    assert.deepEqual(xsdErrors(dpsXsd(), Buffer.from(xml)), []);
    const { status, body } = await emit(address, xml);
    assert.equal(status, 201, JSON.stringify(body));
    assertWritten(body.xml_nfse);
    await assertShown(body.chave_acesso);
  });

  test('as JSON, the carriage return too', async () => {
    const sent = JSON.parse(jsonOf(exampleXml({ serie: '1', nDPS: '2', ...TEXTS })));
    assert.equal(sent.descricao_servico, DESCRICAO);
    const issue = (corpo: object): ReturnType<typeof request> =>
      request(address, '/integracao/api/v1/nfse/v101', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(corpo),
      });
    const { status, body } = await issue(sent);
    assert.equal(status, 201, JSON.stringify(body));
    await assertShown(body.chave_acesso);
    const windows = await issue({ ...sent, numero_dps: '3', descricao_servico: 'Linha 1\r\nLinha 2 \r\n' });
    const { nota } = (await authorised(address, windows.body.chave_acesso)).body;
    for (const xml of [windows.body.xml_nfse, nota.xml_nota]) {
      assert.match(xml, /<xDescServ>Linha 1&#xD;\nLinha 2 &#xD;\n<\/xDescServ>/);
    }
  });

  test('what XML cannot hold is refused in JSON, wherever it stands', async () => {
    const sent = JSON.parse(jsonOf(exampleXml({ serie: '1', nDPS: '4' })));
    for (const text of ['a\u0000', '\u000b', 'a\u001fb', '\ufffe', 'a\uffff']) {
      for (const campo of ['descricao_servico', 'tomador_razao_social', 'tomador_inscricao_municipal']) {
        const { status, body } = await request(address, '/integracao/api/v1/nfse/v101', {
          method: 'POST',
          headers: { 'Content-Type': 'application/json' },
          body: JSON.stringify({ ...sent, [campo]: text }),
        });
        assert.deepEqual(
          [status, body.erros[0].codigo, body.erros[0].campo],
          [422, 'E0003', campo],
          JSON.stringify(text),
        );
      }
    }
  });

  test('in the answers of the legacy port', async () => {
    const { body } = await emit(address, exampleXml({ serie: '1', nDPS: '5', ...TEXTS }));
    await authorised(address, body.chave_acesso);
    const { documento } = await call(
      address,
      'ConsultarNfse',
      consultaXml(`<NumeroNfse>${Number(body.chave_acesso.slice(23, 36))}</NumeroNfse>`),
    );
    assert.equal(first(documento, 'Discriminacao'), DESCRICAO, documento);
    // The model has room for 115 characters of a name, and none may be cut in two.
    const long = await emit(address, exampleXml({ serie: '1', nDPS: '7', 'toma/xNome': '😀'.repeat(116) }));
    await authorised(address, long.body.chave_acesso);
    const cut = await call(
      address,
      'ConsultarNfse',
      consultaXml(`<NumeroNfse>${Number(long.body.chave_acesso.slice(23, 36))}</NumeroNfse>`),
    );
    assert.ok(cut.documento.includes(`<RazaoSocial>${'😀'.repeat(115)}</RazaoSocial>`), cut.documento);
  });

  test('on the printed note', async (t) => {
    const { body } = await emit(address, exampleXml({ serie: '1', nDPS: '6', ...TEXTS }));
    await authorised(address, body.chave_acesso);
    const response = await fetch(`${api}/danfse/${body.chave_acesso}`);
    assert.equal(response.status, 200);
    const bytes = Buffer.from(await response.arrayBuffer());
    if (ler === undefined) return t.diagnostic('poppler is not here: what the PDF says is not read');
    const words = ler.paginas(bytes).flatMap(({ palavras }) => palavras.map(({ text }) => text));
    assert.ok(words.includes('Łódź'), words.join(' '));
    assert.ok(words.includes('“plano'), words.join(' '));
  });
});
