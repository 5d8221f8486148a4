/** The XML of events against the schema (libxml2) and against the layout of the reference; the signed part against xml-crypto. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CHAVE, OUTRA, SHAPES } from '../../../test/especificacao/eventos.ts';
import { canonicalByXmlCrypto } from '../../../test/support/signatures.ts';
import { xsdErrors } from '../../documents/xml.ts';
import { eventoXsd } from '../../published/layout/xsd.ts';
import { exemploDe, TIPOS_EVENTO } from '../tipos-evento.ts';
import {
  type EventoToWrite,
  eventoId,
  parseEventoReferido,
  pedidoId,
  pedidoIn,
  signedPartOfEvento,
  withEventoSignature,
  writeEvento,
} from './evento.ts';

const XSD = eventoXsd();
/** The same place, number and date, of a CPF and of a CNPJ with letters. */
const CHAVE_CPF = `35503081100052998224725${CHAVE.slice(23)}`;
const CHAVE_LETRAS = `3550308121A2B3C4D5E6F78${CHAVE.slice(23)}`;
const MOMENT = '2026-10-05T10:15:30-03:00';

function document(codigo: string, more: Partial<EventoToWrite> = {}): EventoToWrite {
  return {
    chave_acesso: CHAVE,
    codigo,
    numero_sequencial: 1,
    tpAmb: '1',
    verAplic: 'emissor-1.0',
    dhEvento: MOMENT,
    dhProc: '2026-10-05T10:15:31-03:00',
    nDFSe: 1042,
    autor: '11222333000181',
    campos: SHAPES[codigo]!.campos,
    ...more,
  };
}

function schemaFindings(xml: string): readonly string[] {
  return xsdErrors(XSD, Buffer.from(xml));
}

describe('the text', () => {
  for (const { codigo } of TIPOS_EVENTO) {
    const { xDesc, text } = SHAPES[codigo]!;
    test(`${codigo}, whole, in the order of the layout, and right by the schema`, () => {
      const xml = writeEvento(document(codigo));
      const expected =
        '<?xml version="1.0" encoding="UTF-8"?><evento xmlns="http://www.sped.fazenda.gov.br/nfse" versao="1.01">' +
        `<infEvento Id="EVT${CHAVE}${codigo}001"><verAplic>emissor-1.0</verAplic><ambGer>1</ambGer>` +
        '<nSeqEvento>1</nSeqEvento><dhProc>2026-10-05T10:15:31-03:00</dhProc><nDFSe>1042</nDFSe>' +
        `<pedRegEvento versao="1.01"><infPedReg Id="PRE${CHAVE}${codigo}"><tpAmb>1</tpAmb>` +
        `<verAplic>emissor-1.0</verAplic><dhEvento>${MOMENT}</dhEvento><CNPJAutor>11222333000181</CNPJAutor>` +
        `<chNFSe>${CHAVE}</chNFSe><e${codigo}><xDesc>${xDesc}</xDesc>${text}</e${codigo}></infPedReg></pedRegEvento></infEvento></evento>`;
      assert.equal(xml, expected);
      assert.deepEqual(schemaFindings(xml), []);
    });
  }

  test('the example of every type is right by the schema', () => {
    for (const tipo of TIPOS_EVENTO) {
      const { tipo_evento: _slug, ...campos } = exemploDe(tipo);
      assert.deepEqual(schemaFindings(writeEvento(document(tipo.codigo, { campos }))), [], tipo.slug);
    }
  });

  test('a person as author, the sandbox, a high sequence, keys of other kinds', () => {
    const cases: Partial<EventoToWrite>[] = [
      { autor: '52998224725' },
      { tpAmb: '2' },
      { numero_sequencial: 999 },
      { chave_acesso: CHAVE_CPF },
      { chave_acesso: CHAVE_LETRAS, autor: '1A2B3C4D5E6F78' },
      { nDFSe: 9_999_999_999_999n },
    ];
    for (const more of cases) assert.deepEqual(schemaFindings(writeEvento(document('101101', more))), []);
    assert.match(writeEvento(document('101101', cases[0])), /<CPFAutor>52998224725<\/CPFAutor><chNFSe>/);
    assert.match(writeEvento(document('101101', cases[1])), /<tpAmb>2<\/tpAmb>/);
    assert.match(writeEvento(document('101101', cases[2])), /<nSeqEvento>999<\/nSeqEvento>/);
  });

  test('markup in a reason is escaped', () => {
    const campos = { codigo_motivo_cancelamento: '9', descricao_motivo_cancelamento: 'Erro </xMotivo> & <outros>' };
    const xml = writeEvento(document('101101', { campos }));
    assert.match(xml, /<xMotivo>Erro &lt;\/xMotivo&gt; &amp; &lt;outros&gt;<\/xMotivo>/);
    assert.deepEqual(schemaFindings(xml), []);
  });

  test('a field of another type is not written', () => {
    const xml = writeEvento(document('202201', { campos: { codigo_motivo_rejeicao: '1' } }));
    assert.equal(xml, writeEvento(document('202201')));
  });

  test('what is no type, no sequence, no identifier is our mistake', () => {
    assert.throws(() => writeEvento({ ...document('101101'), codigo: '110110' }), RangeError);
    for (const numero_sequencial of [0, -1, 1.5, 1000]) {
      assert.throws(() => writeEvento(document('101101', { numero_sequencial })), RangeError);
    }
    const campos = { ...SHAPES['305103']!.campos, id_evento_bloqueio: 'EVT1' };
    assert.throws(() => writeEvento(document('305103', { campos })), RangeError);
  });
});

describe('the schema', () => {
  const good = writeEvento(document('105102'));

  test('takes no other order, text, list or length, and no element of ours that the layout does not have', () => {
    const wrong: Readonly<Record<string, readonly [string, string]>> = {
      'xDesc in other words': ['<xDesc>Cancelamento de NFS-e por Substituição', '<xDesc>Cancelamento por Substituição'],
      'xDesc of another type': ['<xDesc>Cancelamento de NFS-e por Substituição', '<xDesc>Cancelamento de NFS-e'],
      'a reason that does not exist': ['<cMotivo>99', '<cMotivo>06'],
      'a short reason in words': ['Descrição corrigida na outra', 'Muito curto'],
      'no substitute': [`<chSubstituta>${OUTRA}</chSubstituta>`, ''],
      'a sequence in the request': ['<chNFSe>', '<nPedRegEvento>1</nPedRegEvento><chNFSe>'],
      'another version': ['versao="1.01"><infEvento', 'versao="1.00"><infEvento'],
      'a sequence in the Id of the request': [`PRE${CHAVE}105102"`, `PRE${CHAVE}105102001"`],
      'no sequence in the Id of the event': [`EVT${CHAVE}105102001"`, `EVT${CHAVE}105102"`],
      'two authors': ['<chNFSe>', '<CPFAutor>52998224725</CPFAutor><chNFSe>'],
      'no author': ['<CNPJAutor>11222333000181</CNPJAutor>', ''],
      'a date without offset': [`<dhEvento>${MOMENT}`, '<dhEvento>2026-10-05T10:15:30'],
      'the other group': ['e105102>', 'e101101>'],
      'an unknown environment': ['<ambGer>1', '<ambGer>4'],
    };
    for (const [what, [from, to]] of Object.entries(wrong)) {
      assert.ok(good.includes(from), what);
      assert.notDeepEqual(schemaFindings(good.replaceAll(from, to)), [], what);
    }
    const swapped = good.replace(/(<cMotivo>.*<\/cMotivo>)(<xMotivo>.*<\/xMotivo>)/, '$2$1');
    assert.notDeepEqual(schemaFindings(swapped), []);
    const withoutReason = good.replace(/<xMotivo>.*<\/xMotivo>/, '');
    assert.deepEqual(schemaFindings(withoutReason), [], 'optional in a substitution');
  });
});

describe('identifiers', () => {
  test('PRE, key and code: 59; EVT, key, code and sequence: 62', () => {
    assert.equal(pedidoId(CHAVE, '101101'), `PRE${CHAVE}101101`);
    assert.equal(pedidoId(CHAVE, '101101').length, 59);
    assert.equal(eventoId(CHAVE, '305102', 7), `EVT${CHAVE}305102007`);
    assert.equal(eventoId(CHAVE, '305102', 7).length, 62);
  });

  test('are read with and without prefix and sequence, and nothing else is', () => {
    const wanted = { chave_acesso: CHAVE, codigo: '305102', numero_sequencial: 7 };
    assert.deepEqual(parseEventoReferido(`EVT${CHAVE}305102007`), wanted);
    assert.deepEqual(parseEventoReferido(`${CHAVE}305102007`), wanted);
    assert.deepEqual(parseEventoReferido(`${CHAVE}305102`), { ...wanted, numero_sequencial: undefined });
    assert.deepEqual(parseEventoReferido(`EVT${CHAVE_LETRAS}305102007`)?.chave_acesso, CHAVE_LETRAS);
    for (const text of [
      '',
      CHAVE,
      `PRE${CHAVE}305102`,
      `EVT${CHAVE}30510200`,
      `${CHAVE}3051020070`,
      `${CHAVE}305102\n`,
    ]) {
      assert.equal(parseEventoReferido(text), undefined, text);
    }
  });
});

describe('the signature', () => {
  const SIGNATURE = '<Signature xmlns="http://www.w3.org/2000/09/xmldsig#"><SignedInfo/></Signature>';

  test('covers infEvento as xml-crypto canonicalises it', () => {
    for (const { codigo } of TIPOS_EVENTO) {
      const xml = writeEvento(document(codigo));
      const { canonical, id } = signedPartOfEvento(xml);
      assert.equal(canonical, canonicalByXmlCrypto(xml, 'infEvento'), codigo);
      assert.equal(id, `EVT${CHAVE}${codigo}001`);
    }
  });

  test('goes after infEvento, and the schema takes it there', () => {
    const xml = writeEvento(document('101101'));
    const signed = withEventoSignature(xml, SIGNATURE);
    assert.equal(signed, xml.replace('</infEvento></evento>', `</infEvento>${SIGNATURE}</evento>`));
    assert.deepEqual(schemaFindings(signed), []);
    assert.throws(() => withEventoSignature(signed, SIGNATURE), RangeError);
    assert.throws(() => signedPartOfEvento(signed), RangeError);
    assert.throws(() => signedPartOfEvento('<evento/>'), RangeError);
  });
});

test('the request is found again inside the event, as a document of its own', () => {
  const pedido = pedidoIn(writeEvento(document('202201')));
  assert.ok(
    pedido.startsWith(
      `<?xml version="1.0" encoding="UTF-8"?><pedRegEvento xmlns="http://www.sped.fazenda.gov.br/nfse" versao="1.01"><infPedReg Id="PRE${CHAVE}202201">`,
    ),
  );
  assert.ok(pedido.endsWith('</infPedReg></pedRegEvento>'));
  assert.throws(() => pedidoIn('<evento/>'), RangeError);
});
