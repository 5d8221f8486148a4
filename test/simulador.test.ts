/**
 * The ADN simulator over mutual TLS, as a municipality speaks to the ADN, with notes that a municipality signed. The expected results
 * follow the reference of the ADN, and the table of faults for each fault.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { appendFile, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { connect } from 'node:tls';
import { gunzipSync, gzipSync } from 'node:zlib';
import { readCertificate } from '../src/documents/certificate.ts';
import { NFSE_PROFILE } from '../src/documents/signature-shape.ts';
import { checkSignature } from '../src/documents/signed.ts';
import { readXml, xsdErrors } from '../src/documents/xml.ts';
import { VALID_DPS } from '../src/fiscal/rules/example.ts';
import { RULES } from '../src/fiscal/rules/rules.ts';
import { nfseXsd } from '../src/published/layout/xsd.ts';
import { recogniseNfse, signatureHolds } from '../src/simulador/canonical-nfse.ts';
import { AJUDA_DE_FALTAS, type Simulador } from '../src/simulador/simulador.ts';
import { nfseHere } from './support/cli.ts';
import { ownPort } from './support/ports.ts';
import fc from './support/seed.ts';
import {
  type Anotado,
  ajustar,
  assinada,
  type Cliente,
  chaveDe,
  clienteDe,
  controle,
  MUNICIPIO_CNPJ,
  montarPalco,
  nota,
  notaSemAssinatura,
  OUTRO_CNPJ,
  type Palco,
  packed,
  registroDe,
  shareUnder,
  simuladorAqui,
  simuladorProcesso,
  tempFolder,
} from './support/simulador.ts';
import { toolOr } from './support/tools.ts';

let palco: Palco;
let simulador: Simulador;
let cliente: Cliente;
const logged: Anotado[] = [];

before(async () => {
  palco = await montarPalco();
  simulador = await simuladorAqui(palco, {}, logged);
  cliente = clienteDe(simulador.address, palco.ca, palco.municipio);
});

/** Deletes everything, for a test that counts. */
async function limpo(): Promise<void> {
  const { status } = await controle(simulador, '/limpar', { method: 'POST' });
  assert.equal(status, 200);
}

function codes({ body }: { body: { Lote: { Erros: { Codigo: string }[] }[] } }): string[][] {
  return body.Lote.map(({ Erros }) => Erros.map(({ Codigo }) => Codigo));
}

describe('the connection', () => {
  test('openssl with the certificate of a municipality is let in, and told apart from one without', async (t) => {
    const openssl = toolOr('openssl', 'openssl');
    if (openssl === undefined) return t.skip('openssl is not on this machine');
    await limpo();
    const { host } = new URL(simulador.address);
    const asked = (...files: string[]): Promise<string> =>
      new Promise((resolve) => {
        const child = spawn(openssl, ['s_client', '-connect', host, '-CAfile', palco.caFile, '-quiet', ...files]);
        let output = '';
        child.stdout.on('data', (chunk) => {
          output += chunk;
          if (!/\r\n\r\n\{.*\}$/s.test(output)) return;
          child.stdin.end();
          child.kill();
        });
        child.stderr.on('data', (chunk) => (output += chunk));
        child.once('close', () => resolve(output));
        child.stdin.on('error', () => undefined);
        child.stdin.write('GET /municipios/DFe/0?tipoNSU=RECEPCAO HTTP/1.1\r\nHost: localhost\r\n\r\n');
      });
    const { certFile, keyFile } = palco.municipio;
    const letIn = await asked('-cert', certFile, '-key', keyFile);
    assert.match(letIn, /HTTP\/1\.1 404 [\s\S]*NENHUM_DOCUMENTO_LOCALIZADO/);
    const without = await asked();
    assert.match(without, /alert certificate required/i);
    assert.doesNotMatch(without, /HTTP\/1\.1/);
  });

  for (const [who, name] of [
    [() => undefined, 'no certificate'],
    [() => palco.estranho, 'a certificate of an authority that nobody named'],
    [() => palco.vencido, 'an expired certificate'],
  ] as const) {
    for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
      test(`${name} is refused in the handshake (${maxVersion})`, async () => {
        const own = clienteDe(simulador.address, palco.ca, who(), { maxVersion });
        await assert.rejects(own.received(0), ({ code }: NodeJS.ErrnoException) => {
          assert.match(code!, /^(ECONNRESET|EPROTO|EPIPE|ERR_SSL_\w+)$/);
          return true;
        });
      });
    }
  }

  test('a person gets no further than the door', async () => {
    const { status, body } = await clienteDe(simulador.address, palco.ca, palco.pessoa).received(0);
    assert.equal(status, 403);
    assert.equal(body.Erros[0].Codigo, 'E1209');
  });

  test('a resumed session is still the session of the same municipality', async () => {
    await limpo();
    await cliente.share([await nota(1, palco.municipio)]);
    const { hostname, port } = new URL(simulador.address);
    const { cert, key } = palco.municipio;
    const ask = async (session?: Buffer): Promise<{ answer: string; session: Buffer | undefined; reused: boolean }> => {
      const own = { host: hostname, port: Number(port), ca: palco.ca, cert, key };
      const socket = connect(session === undefined ? own : { ...own, session });
      let [fresh, reused]: [Buffer | undefined, boolean] = [undefined, false];
      socket.on('secureConnect', () => {
        reused = socket.isSessionReused();
      });
      socket.on('session', (one) => {
        fresh = one;
      });
      socket.write('GET /municipios/DFe/0?tipoNSU=RECEPCAO HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
      let answer = '';
      for await (const chunk of socket) answer += chunk;
      return { answer, session: fresh, reused };
    };
    const first = await ask();
    const second = await ask(first.session);
    assert.equal(first.reused, false);
    assert.equal(second.reused, true);
    for (const { answer } of [first, second]) assert.match(answer, /HTTP\/1\.1 200 /);
  });
});

describe('sharing', () => {
  test('documents are accepted with ascending numbers, in the shape of the contract', async () => {
    await limpo();
    const notes = await Promise.all([1, 2, 3].map((numero) => nota(numero, palco.municipio)));
    const { status, headers, body } = await cliente.share(notes);
    assert.equal(status, 201);
    assert.match(String(headers['content-type']), /^application\/json/);
    assert.deepEqual(Object.keys(body).toSorted(), [
      'DataHoraProcessamento',
      'Lote',
      'TipoAmbiente',
      'VersaoAplicativo',
    ]);
    assert.equal(body.TipoAmbiente, 'HOMOLOGACAO');
    assert.match(body.DataHoraProcessamento, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{1,7}-03:00$/);
    assert.deepEqual(
      body.Lote.map(({ StatusProcessamento, ...entry }: { StatusProcessamento: string }) => {
        assert.equal(typeof StatusProcessamento, 'string');
        return entry;
      }),
      [1, 2, 3].map((numero) => ({
        ChaveAcesso: chaveDe(numero),
        NsuRecepcao: String(numero),
        Alertas: [],
        Erros: [],
      })),
    );
    const { body: again } = await cliente.share([await nota(4, palco.municipio)]);
    assert.equal(again.Lote[0].NsuRecepcao, '4');
  });

  test('each municipality has numbers of its own, and sees its own documents', async () => {
    await limpo();
    const other = clienteDe(simulador.address, palco.ca, palco.outro);
    await cliente.share([await nota(1, palco.municipio), await nota(2, palco.municipio)]);
    const { body } = await other.share([await nota(3, palco.outro)]);
    assert.equal(body.Lote[0].NsuRecepcao, '1');
    const seen = await other.received(0);
    assert.deepEqual(
      seen.body.LoteDFe.map(({ ChaveAcesso }: { ChaveAcesso: string }) => ChaveAcesso),
      [chaveDe(3)],
    );
    const { body: estado } = await controle(simulador, '/estado');
    assert.deepEqual(estado.municipios, [
      { codigo_ibge: '3550308', cnpj: MUNICIPIO_CNPJ, documentos: 2, ultimo_nsu: 2 },
      { codigo_ibge: '3550308', cnpj: OUTRO_CNPJ, documentos: 1, ultimo_nsu: 1 },
    ]);
  });

  test('recovery gives the very text that was sent, in pages of fifty, after a number', async () => {
    await limpo();
    const notes = await Promise.all(Array.from({ length: 53 }, (_, at) => nota(at + 1, palco.municipio)));
    // Other compressors give other bytes for the same document.
    const sent = notes.map((xml, at) => gzipSync(xml, { level: (at % 9) + 1 }).toString('base64'));
    await cliente.share(sent.slice(0, 50));
    await cliente.share(sent.slice(50));
    const first = await cliente.received(0);
    assert.equal(first.status, 200);
    assert.equal(first.body.StatusProcessamento, 'DOCUMENTOS_LOCALIZADOS');
    assert.equal(first.body.LoteDFe.length, 50);
    const [one] = first.body.LoteDFe;
    assert.deepEqual(
      { ...one, DataHoraGeracao: undefined },
      {
        NSU: 1,
        ChaveAcesso: chaveDe(1),
        TipoDocumento: 'NFSE',
        TipoEvento: null,
        ArquivoXml: sent[0],
        DataHoraGeracao: undefined,
      },
    );
    const rest = await cliente.received(first.body.LoteDFe.at(-1).NSU);
    const all = [...first.body.LoteDFe, ...rest.body.LoteDFe].map(
      ({ ArquivoXml }: { ArquivoXml: string }) => ArquivoXml,
    );
    assert.deepEqual(all, sent);
    const only = await cliente.received(7, 'tipoNSU=RECEPCAO&lote=false');
    assert.deepEqual(
      only.body.LoteDFe.map(({ NSU }: { NSU: number }) => NSU),
      [7],
    );
  });

  test('where there is nothing the answer is 404 with the whole body', async () => {
    await limpo();
    await cliente.share([await nota(1, palco.municipio)]);
    for (const [after, query, code] of [
      [1, 'tipoNSU=RECEPCAO&lote=true', 'E2070'],
      [99, 'tipoNSU=RECEPCAO', 'E2070'],
      [99, 'tipoNSU=RECEPCAO&lote=false', 'E2040'],
      [0, 'tipoNSU=DISTRIBUICAO&lote=true', 'E2020'],
      [0, 'tipoNSU=MEI', 'E2020'],
      [0, '', 'E2020'],
    ] as const) {
      const { status, body } = await cliente.received(after, query);
      assert.equal(status, 404, query);
      assert.equal(body.StatusProcessamento, 'NENHUM_DOCUMENTO_LOCALIZADO');
      assert.deepEqual(body.LoteDFe, []);
      assert.equal(body.Erros[0].Codigo, code);
    }
    const eventos = await cliente.request('GET', `/municipios/NFSe/${chaveDe(1)}/Eventos`);
    assert.equal(eventos.status, 404);
    assert.deepEqual([eventos.body.LoteDFe, eventos.body.Erros], [[], []]);
    const unknown = await cliente.request('GET', `/municipios/NFSe/${chaveDe(2)}/Eventos`);
    assert.equal(unknown.body.Erros[0].Codigo, 'E2060');
  });

  test('what is no lot is told so', async () => {
    const tooMany = await cliente.share(Array.from({ length: 51 }, () => 'AAAA'));
    assert.equal(tooMany.status, 400);
    assert.equal(tooMany.body.Erros[0].Codigo, 'E1219');
    assert.equal(tooMany.body.Lote, undefined);
    const large = await cliente.request(
      'POST',
      '/adn/DFe',
      JSON.stringify({ LoteXmlGZipB64: ['A'.repeat(1_000_000)] }),
    );
    assert.equal(large.status, 413);
    for (const body of ['{', '[]', 'null', '{"LoteXmlGZipB64":[]}', '{"LoteXmlGZipB64":[1]}', '{"outro":[]}']) {
      const { status, headers } = await cliente.request('POST', '/adn/DFe', body);
      assert.equal(status, 400, body);
      assert.equal(headers['content-type'], 'application/problem+json');
    }
    const text = await cliente.request('POST', '/adn/DFe', '{}', { 'Content-Type': 'text/plain' });
    assert.equal(text.status, 415);
    assert.equal((await cliente.request('GET', '/adn/DFe')).status, 405);
    assert.equal((await cliente.request('POST', '/dfe', '{}')).status, 404);
    assert.equal((await cliente.received('x')).status, 400);
    assert.equal((await cliente.received(0, 'tipoNSU=OUTRO')).status, 400);
  });
});

/** The note of a number, changed before its signature. */
function bent(numero: number, change: (xml: string) => string, holder = palco.municipio): Promise<Buffer> {
  return assinada(change(notaSemAssinatura(numero)), holder);
}

function swap(xml: string, what: string | RegExp, by: string): string {
  const changed = xml.replace(what, by);
  assert.notEqual(changed, xml, `${what} is not in the document`);
  return changed;
}

const signed = (numero: number, change: (xml: string) => string): Promise<string> =>
  nota(numero, palco.municipio).then((xml) => change(xml.toString('utf8')));

describe('what is refused', () => {
  const CASES: readonly (readonly [string, string, () => Promise<string | Buffer>])[] = [
    ['E1225', 'Base64 with line breaks', async () => packed(await nota(1, palco.municipio)).replace(/.{76}/g, '$&\n')],
    ['E1225', 'Base64 of the other alphabet', async () => `${packed(Buffer.from('?'))}_-`],
    ['E1225', 'nothing', async () => ''],
    ['E1226', 'no gzip', async () => (await nota(1, palco.municipio)).toString('base64')],
    [
      'E1226',
      'half a gzip',
      async () =>
        gzipSync(await nota(1, palco.municipio))
          .subarray(0, 900)
          .toString('base64'),
    ],
    ['E1226', 'a bomb', async () => gzipSync(Buffer.alloc(20_000_000, 0x20)).toString('base64')],
    ['E1226', 'no XML', () => signed(1, (xml) => packed(swap(xml, '</emit>', '')))],
    ['E1226', 'a DOCTYPE', () => signed(1, (xml) => packed(swap(xml, '<NFSe', '<!DOCTYPE NFSe><NFSe')))],
    [
      'E1228',
      'a prefix',
      () =>
        signed(1, (xml) =>
          packed(
            swap(
              swap(xml, '<NFSe xmlns=', '<n:NFSe xmlns:n="http://www.sped.fazenda.gov.br/nfse" xmlns='),
              '</NFSe>',
              '</n:NFSe>',
            ),
          ),
        ),
    ],
    [
      'E1228',
      'an attribute with a prefix',
      () => signed(1, (xml) => packed(swap(xml, '<NFSe ', '<NFSe xmlns:xsi="urn:x" xsi:schemaLocation="a" '))),
    ],
    [
      'E1229',
      'ISO-8859-1',
      () =>
        signed(1, (xml) =>
          gzipSync(Buffer.from(swap(xml, 'encoding="UTF-8"', 'encoding="ISO-8859-1"'), 'latin1')).toString('base64'),
        ),
    ],
    ['E1229', 'no declaration', () => signed(1, (xml) => packed(swap(xml, /^<\?xml[^>]*\?>/, '')))],
    [
      'E1242',
      'a DPS',
      async () =>
        packed(
          /<DPS [\s\S]*<\/DPS>/
            .exec(notaSemAssinatura(1))![0]
            .replace(/^/, '<?xml version="1.0" encoding="UTF-8"?>')
            .replace('<DPS ', '<DPS xmlns="http://www.sped.fazenda.gov.br/nfse" '),
        ),
    ],
    [
      'E1242',
      'an event of another namespace',
      async () => packed('<?xml version="1.0" encoding="UTF-8"?><evento xmlns="urn:outro" versao="1.01"/>'),
    ],
    ['E1242', 'the name of no document', async () => packed('<?xml version="1.0" encoding="UTF-8"?><constructor/>')],
    [
      'E1235',
      'an element too many',
      () => bent(1, (xml) => swap(xml, '<xTribNac>', '<xInventado>1</xInventado><xTribNac>')),
    ],
    ['E1235', 'a value that the type does not take', () => bent(1, (xml) => swap(xml, '<cStat>100<', '<cStat>999<'))],
    ['E1235', 'a day that is none', () => bent(1, (xml) => swap(xml, '<dCompet>2026-10-05<', '<dCompet>2026-02-30<'))],
    [
      'E1263',
      'a wrong check digit',
      () =>
        bent(1, (xml) =>
          xml.replaceAll(
            chaveDe(1),
            chaveDe(1).replace(/.$/, (d) => `${(Number(d) + 1) % 10}`),
          ),
        ),
    ],
    ['E1263', 'the key of another number', () => bent(1, (xml) => xml.replaceAll(chaveDe(1), chaveDe(2)))],
    ['E1276', 'procEmi', () => bent(1, (xml) => swap(xml, '<cStat>', '<procEmi>1</procEmi><cStat>'))],
    ['E0595', 'a rate of the DPS above 5 %', () => bent(1, (xml) => swap(xml, '<pAliq>2.00<', '<pAliq>5.01<'))],
    [
      'E1300',
      'a rate that is applied above 5 %',
      () =>
        bent(1, (xml) => swap(swap(xml, '<pAliqAplic>2.00<', '<pAliqAplic>5.01<'), '<vISSQN>20.00<', '<vISSQN>50.10<')),
    ],
    ['E1289', 'another tax', () => bent(1, (xml) => swap(xml, '<vISSQN>20.00<', '<vISSQN>20.02<'))],
    ['E1636', 'no signature', async () => packed(notaSemAssinatura(1))],
    [
      'E1630',
      'a value changed after signing',
      () => signed(1, (xml) => packed(swap(xml, '<xNome>Maria', '<xNome>Mario'))),
    ],
    [
      'E1630',
      'another signature value',
      () => signed(1, (xml) => packed(swap(xml, /<SignatureValue>..../, '<SignatureValue>AAAA'))),
    ],
    ['E1634', 'no certificate', () => signed(1, (xml) => packed(swap(xml, /<KeyInfo>.*<\/KeyInfo>/, '')))],
    ['E1632', 'an expired certificate', async () => nota(1, palco.vencido)],
    ['E1632', 'the certificate of a strange authority', async () => nota(1, palco.estranho)],
    ['E1638', 'the certificate of another municipality', async () => nota(1, palco.outro)],
    ['E1638', 'the certificate of a person', async () => nota(1, palco.pessoa)],
  ];

  test('each case with its code, in one lot that goes on for the others', async () => {
    await limpo();
    const documents = await Promise.all(CASES.map(([, , make]) => make()));
    const { status, body } = await cliente.share([...documents, await nota(77, palco.municipio)]);
    assert.equal(status, 201);
    const got = codes({ body });
    CASES.forEach(([code, what], at) => {
      assert.deepEqual(got[at], [code], `${what}: ${JSON.stringify(body.Lote[at])}`);
      assert.equal(body.Lote[at].NsuRecepcao, null);
    });
    assert.deepEqual(got.at(-1), []);
    const { body: estado } = await controle(simulador, '/estado');
    assert.equal(estado.documentos, 1);
    const e1235 = body.Lote[CASES.findIndex(([code]) => code === 'E1235')].Erros[0];
    assert.match(e1235.Complemento, /xInventado/);
  });

  test('several things wrong in the content are told together', async () => {
    await limpo();
    const wrong = await bent(1, (xml) =>
      swap(swap(xml, '<nNFSe>1<', '<nNFSe>2<'), '<cStat>', '<procEmi>1</procEmi><cStat>'),
    );
    const tampered = swap(wrong.toString('utf8'), '<xNome>Maria', '<xNome>Mario');
    const { body } = await cliente.share([Buffer.from(tampered)]);
    assert.deepEqual(codes({ body }), [['E1263', 'E1276', 'E1630']]);
    assert.match(body.Lote[0].Erros[0].Complemento, /número/);
  });

  test('a key is taken once: the same document again, and another one under the same key', async () => {
    await limpo();
    const first = await nota(1, palco.municipio);
    const other = await nota(1, palco.municipio, { 'serv/cServ/xDescServ': 'Outra descrição' });
    assert.deepEqual(codes(await cliente.share([first, first])), [[], ['E1268']]);
    assert.deepEqual(codes(await cliente.share([other])), [['E1268']]);
    const { body } = await controle(simulador, '/estado');
    assert.equal(body.documentos, 1);
    assert.equal(body.repetidos_iguais, 1);
    assert.equal(body.repetidos_diferentes, 1);
    assert.deepEqual(
      body.ultimas_repeticoes.map(({ chave, mesmo_documento }: Record<string, unknown>) => [chave, mesmo_documento]),
      [
        [chaveDe(1), true],
        [chaveDe(1), false],
      ],
    );
    const held = await controle(simulador, `/documentos/${chaveDe(1)}`);
    assert.equal(held.text, first.toString('utf8'));
  });

  test('lots at the same moment take a key once', async () => {
    await limpo();
    const [one, two] = [await nota(1, palco.municipio), await nota(2, palco.municipio)];
    const answers = await Promise.all(Array.from({ length: 8 }, () => cliente.share([one, two])));
    const accepted = answers.flatMap(codes).filter((erros) => erros.length === 0);
    assert.equal(accepted.length, 2);
  });

  test('one DPS under two keys is noted', async () => {
    await limpo();
    const again = await assinada(notaSemAssinatura(1, {}, '999999999'), palco.municipio);
    assert.deepEqual(codes(await cliente.share([await nota(1, palco.municipio), again])), [[], []]);
    const { body } = await controle(simulador, '/estado');
    assert.equal(body.dps_com_mais_de_uma_chave.length, 1);
  });

  test('a note that xmlsec1 signed, with empty tags and white space between elements, is accepted', async (t) => {
    const xmlsec1 = toolOr('xmlsec1', 'xmlsec1');
    if (xmlsec1 === undefined) return t.skip('xmlsec1 is not on this machine');
    await limpo();
    const folder = await tempFolder();
    const template =
      '<Signature xmlns="http://www.w3.org/2000/09/xmldsig#"><SignedInfo>' +
      '<CanonicalizationMethod Algorithm="http://www.w3.org/2001/10/xml-exc-c14n#"/>' +
      '<SignatureMethod Algorithm="http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"/>' +
      `<Reference URI="#NFS${chaveDe(1)}"><Transforms>` +
      '<Transform Algorithm="http://www.w3.org/2000/09/xmldsig#enveloped-signature"/>' +
      '<Transform Algorithm="http://www.w3.org/2001/10/xml-exc-c14n#"/></Transforms>' +
      '<DigestMethod Algorithm="http://www.w3.org/2001/04/xmlenc#sha256"/><DigestValue/></Reference></SignedInfo>' +
      '<SignatureValue/><KeyInfo><X509Data><X509Certificate/></X509Data></KeyInfo></Signature>';
    const xml = swap(notaSemAssinatura(1), '</NFSe>', `${template}</NFSe>`).replaceAll('><x', '>\n  <x');
    await writeFile(path.join(folder, 'nota.xml'), xml);
    const { keyFile, certFile } = palco.municipio;
    const out = execFileSync(
      xmlsec1,
      ['--sign', '--privkey-pem', `${keyFile},${certFile}`, '--id-attr:Id', 'infNFSe', 'nota.xml'],
      { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] },
    );
    const { body } = await cliente.share([out]);
    assert.deepEqual(codes({ body }), [[]], JSON.stringify(body.Lote));
  });
});

describe('the short way of recognising a note', () => {
  const XSD = nfseXsd();
  let notes: Buffer[];

  before(async () => {
    const patches = [
      VALID_DPS,
      ...RULES.flatMap(({ accepts }) => accepts),
      { 'toma/xNome': 'Irmãos <Silva> & Cia', 'serv/cServ/xDescServ': 'Linha 1\nLinha 2 – ÿ'.replace('–', '-') },
    ];
    const made = await Promise.all(
      patches.map(async (patch, at) => {
        try {
          return await nota(at + 1, palco.municipio, patch);
        } catch {
          // An example may need other facts.
          return undefined;
        }
      }),
    );
    notes = made.filter((one) => one !== undefined);
    assert.ok(notes.length > patches.length / 2, `${notes.length} of ${patches.length}`);
  });

  test('notes are recognised just when the schema takes them, and read as the parser reads them', () => {
    let valid = 0;
    for (const xml of notes) {
      const quick = recogniseNfse(xml);
      const findings = xsdErrors(XSD, xml);
      assert.equal(quick !== undefined, findings.length === 0, `${findings} ${xml}`);
      if (quick === undefined) continue;
      valid += 1;
      agrees(xml, quick);
    }
    assert.ok(valid > notes.length / 2, `${valid} of ${notes.length}`);
  });

  function agrees(xml: Buffer, quick: NonNullable<ReturnType<typeof recogniseNfse>>): void {
    const reading = readXml(xml);
    assert.ok('root' in reading, `the parser refuses ${xml}`);
    assert.deepEqual(xsdErrors(XSD, xml), [], `the schema refuses ${xml}`);
    const [infNfse, signature] = reading.root.children;
    const [signedInfo, valor, keyInfo] = signature!.children;
    assert.equal(quick.infNfse, reading.canonicalOf(infNfse!));
    assert.equal(quick.signedInfo, reading.canonicalOf(signedInfo!));
    assert.equal(quick.valor, valor!.text);
    assert.equal(quick.certificado, keyInfo!.children[0]!.children[0]!.text);
    assert.equal(quick.resumo, signedInfo!.children.at(-1)!.children.at(-1)!.text);
    assert.equal(signedInfo!.children.at(-1)!.attributes[0]!.value, `#${quick.campos.id}`);
    const { faults } = checkSignature(reading, NFSE_PROFILE);
    const der = Buffer.from(quick.certificado, 'base64');
    const signer = readCertificate(der);
    const isReadable = !('problem' in signer) && der.toString('base64') === quick.certificado;
    assert.equal(isReadable && signatureHolds(quick, signer), faults.length === 0);
    const value = (name: string): string | undefined => infNfse!.children.find((one) => one.name === name)?.text;
    assert.equal(quick.campos.id, infNfse!.attributes[0]!.value);
    assert.equal(quick.campos.nNFSe, value('nNFSe'));
    assert.equal(quick.campos.ambGer, value('ambGer'));
    assert.equal(quick.campos.procEmi, value('procEmi'));
  }

  test('whatever is recognised after a random change is valid and canonical by libxml2 too', () => {
    const pieces = [
      '<',
      '>',
      '&',
      '&amp;',
      '&gt;',
      '&#xD;',
      ' ',
      '\n',
      '\t',
      '\r',
      '"',
      "'",
      '/',
      '0',
      '9',
      'A',
      'é',
      '–',
    ];
    const more = [
      '😀',
      '\u0001',
      '\u0085',
      '\uFFFE',
      '<IM>1</IM>',
      '<!-- x -->',
      '<![CDATA[x]]>',
      '2026-02-29',
      '100.01',
    ];
    let recognised = 0;
    fc.assert(
      fc.property(
        fc.nat(),
        fc.nat(),
        fc.nat({ max: 12 }),
        fc.constantFrom('', ...pieces, ...more),
        (which, where, length, text) => {
          const xml = notes[which % notes.length]!.toString('utf8');
          const at = where % xml.length;
          const changed = Buffer.from(xml.slice(0, at) + text + xml.slice(at + length));
          const quick = recogniseNfse(changed);
          if (quick === undefined) return;
          recognised += 1;
          agrees(changed, quick);
        },
      ),
      { numRuns: 6_000 },
    );
    assert.ok(recognised > 100, `only ${recognised} changes were recognised`);
  });

  test('whole elements taken away, doubled or exchanged', () => {
    let recognised = 0;
    fc.assert(
      fc.property(fc.nat(), fc.nat(), fc.constantFrom('away', 'doubled', 'exchanged'), (which, where, how) => {
        const xml = notes[which % notes.length]!.toString('utf8');
        const leaves = [...xml.slice(0, xml.indexOf('<Signature')).matchAll(/<(\w+)>[^<]*<\/\1>/g)];
        const leaf = leaves[where % leaves.length]!;
        const next = leaves[(where + 1) % leaves.length]!;
        const by = how === 'away' ? '' : how === 'doubled' ? leaf[0] + leaf[0] : next[0];
        const changed = Buffer.from(xml.slice(0, leaf.index) + by + xml.slice(leaf.index + leaf[0].length));
        const quick = recogniseNfse(changed);
        if (quick === undefined) return;
        recognised += 1;
        agrees(changed, quick);
      }),
      { numRuns: 2_000 },
    );
    assert.ok(recognised > 20, `only ${recognised} changes were recognised`);
  });
});

describe('what it keeps', () => {
  test('a restart finds everything again, numbers going on', async () => {
    const dados = await tempFolder();
    const first = await simuladorAqui(palco, { dados });
    const sent = packed(await nota(1, palco.municipio));
    const own = clienteDe(first.address, palco.ca, palco.municipio);
    await own.share([sent, await nota(2, palco.municipio)]);
    await own.share([sent]);
    own.close();
    await first.close();
    const second = await simuladorAqui(palco, { dados });
    assert.equal(second.documentos, 2);
    assert.equal(second.descartado, 0);
    const again = clienteDe(second.address, palco.ca, palco.municipio);
    assert.deepEqual(codes(await again.share([sent])), [['E1268']]);
    const { body } = await again.share([await nota(3, palco.municipio)]);
    assert.equal(body.Lote[0].NsuRecepcao, '3');
    const { body: recovered } = await again.received(0);
    assert.equal(recovered.LoteDFe[0].ArquivoXml, sent);
    const { body: estado } = await controle(second, '/estado');
    assert.equal(estado.repetidos_iguais, 2);
  });

  test('an unfinished record at the end is dropped, wherever it was torn', async () => {
    const dados = await tempFolder();
    const first = await simuladorAqui(palco, { dados });
    const own = clienteDe(first.address, palco.ca, palco.municipio);
    await own.share([await nota(1, palco.municipio)]);
    const whole = (await registroDe(dados)).length;
    await own.share([await nota(2, palco.municipio)]);
    own.close();
    await first.close();
    const log = await registroDe(dados);
    const file = path.join(dados, 'registro.log');
    for (const length of [log.length - 1, whole + 500, whole + 13, whole + 12, whole + 5, whole + 1]) {
      await writeFile(file, log.subarray(0, length));
      const torn = await simuladorAqui(palco, { dados });
      assert.equal(torn.documentos, 1, `torn at ${length}`);
      assert.equal(torn.descartado, length - whole);
      const next = clienteDe(torn.address, palco.ca, palco.municipio);
      const { body } = await next.share([await nota(2, palco.municipio)]);
      assert.equal(body.Lote[0].NsuRecepcao, '2');
      next.close();
      await torn.close();
      assert.equal((await registroDe(dados)).length, log.length);
    }
    // The bytes of a block that was never written are zero, and a bit may have flipped.
    const damaged = Buffer.from(log);
    damaged[whole + 600]! ^= 1;
    for (const bytes of [Buffer.concat([log.subarray(0, whole), Buffer.alloc(4096)]), damaged]) {
      await writeFile(file, bytes);
      const torn = await simuladorAqui(palco, { dados });
      assert.equal(torn.documentos, 1);
      await torn.close();
      assert.equal((await registroDe(dados)).length, whole);
    }
  });

  test('what was answered is there after a kill -9 in the middle of many lots', async () => {
    const dados = await tempFolder();
    const lots = await Promise.all(
      Array.from({ length: 40 }, async (_, lot) => {
        const notes = await Promise.all(Array.from({ length: 5 }, (_, at) => nota(lot * 5 + at + 1, palco.municipio)));
        return notes.map(packed);
      }),
    );
    // About every second lot is delayed, from half a minute to ten: it is not stored yet when the others are.
    const slow = ['--faltas', 'atraso-antes=0.5,atraso_ms=600000'];
    const processo = await simuladorProcesso(palco, dados, slow, { NFSE_LOG_LEVEL: 'silent' });
    const accepted = new Map<string, string>();
    let killed: Promise<unknown> | undefined;
    const own = clienteDe(processo.address, palco.ca, palco.municipio);
    const sending = lots.map(async (lot) => {
      const { body } = await own.share(lot);
      for (const { ChaveAcesso, NsuRecepcao } of body.Lote) accepted.set(ChaveAcesso, NsuRecepcao);
      if (accepted.size > 40) killed ??= processo.end('SIGKILL');
    });
    const ended = await Promise.allSettled(sending);
    await killed;
    assert.ok(ended.some(({ status }) => status === 'rejected'));
    await appendFile(path.join(dados, 'registro.log'), Buffer.from([200, 0, 0, 0, 1]));
    const again = await simuladorProcesso(palco, dados, [], { NFSE_LOG_LEVEL: 'silent' });
    assert.match(again.output(), /registro incompleto, de \d+ bytes, foi descartado/);
    const { body } = await controle(again, '/documentos?limite=10000');
    const held = new Map(body.documentos.map(({ chave, nsu }: Record<string, unknown>) => [chave, String(nsu)]));
    for (const [chave, nsu] of accepted) assert.equal(held.get(chave), nsu, `${chave} was accepted and is not held`);
    assert.equal(await again.end('SIGINT'), 0);
  });

  test('the folder has one file of documents however many there are', async () => {
    const dados = await tempFolder();
    const one = await simuladorAqui(palco, { dados });
    const notes = await Promise.all(Array.from({ length: 20 }, (_, at) => nota(at + 1, palco.municipio)));
    await clienteDe(one.address, palco.ca, palco.municipio).share(notes);
    assert.deepEqual((await readdir(dados)).toSorted(), ['em-uso.pid', 'registro.log']);
    await one.close();
    assert.deepEqual(await readdir(dados), ['registro.log']);
  });

  test('two simulators do not share a folder', async () => {
    const dados = await tempFolder();
    const one = await simuladorAqui(palco, { dados });
    await assert.rejects(simuladorAqui(palco, { dados }), /em uso por outro simulador/);
    await one.close();
    await (await simuladorAqui(palco, { dados })).close();
  });
});

describe('faults', () => {
  /** One request under one fault that always strikes, as the client sees it. */
  async function under(name: string, faltas: Record<string, number>, documents: readonly Buffer[]): Promise<unknown> {
    await limpo();
    assert.equal((await ajustar(simulador, '/faltas', faltas)).status, 200);
    const own = clienteDe(simulador.address, palco.ca, palco.municipio);
    const answer = await shareUnder(own, documents, SILENT.includes(name), async () => {
      const { desde_o_inicio, documentos } = (await controle(simulador, '/estado')).body;
      return desde_o_inicio.faltas[name] === 1 && (name === 'pedido-perdido' || documentos === documents.length);
    });
    own.close();
    return answer;
  }

  /** No answer comes. */
  const SILENT: readonly string[] = ['pedido-perdido', 'resposta-perdida'];

  async function held(): Promise<number> {
    return (await controle(simulador, '/estado')).body.documentos;
  }

  // biome-ignore lint/suspicious/noExplicitAny: answers, whole and spoilt
  type Seen = any;

  /** The client's result for two documents, and the number of stored ones. */
  const TABLE: readonly (readonly [string, number | undefined, (seen: Seen) => void])[] = [
    ['reinicio-antes', 0, (seen) => assert.equal(seen, 'ECONNRESET')],
    ['reinicio-depois', 2, (seen) => assert.equal(seen, 'ECONNRESET')],
    ['pedido-perdido', 0, (seen) => assert.equal(seen, 'NO_ANSWER')],
    ['resposta-perdida', 2, (seen) => assert.equal(seen, 'NO_ANSWER')],
    ['erro5xx', 0, (seen) => assert.ok([500, 502, 503, 504].includes(seen.status))],
    ['erro5xx-depois', 2, (seen) => assert.ok([500, 502, 503, 504].includes(seen.status))],
    [
      'erro429',
      0,
      (seen) => {
        assert.equal(seen.status, 429);
        assert.match(seen.headers['retry-after'], /^\d+$/);
      },
    ],
    ['html', 0, (seen) => assert.deepEqual([seen.status, seen.text.startsWith('<!DOCTYPE html>')], [200, true])],
    ['html-depois', 2, (seen) => assert.deepEqual([seen.status, seen.text.startsWith('<!DOCTYPE html>')], [200, true])],
    ['manutencao', 0, (seen) => assert.deepEqual([seen.status, seen.body.Erros[0].Codigo], [503, 'E1217'])],
    ['e999', 0, (seen) => assert.deepEqual([seen.status, codes(seen)], [201, [['E999'], ['E999']]])],
    [
      'sem-lote',
      2,
      (seen) => assert.deepEqual([seen.status, 'Lote' in seen.body, 'TipoAmbiente' in seen.body], [201, false, true]),
    ],
    [
      'resposta-dupla',
      2,
      (seen) => {
        const keys = seen.body.Lote.map(({ ChaveAcesso }: Seen) => ChaveAcesso);
        assert.ok(keys.length > 2);
        assert.deepEqual([...new Set(keys)], [chaveDe(1), chaveDe(2)]);
      },
    ],
    [
      'nomes-camel',
      2,
      (seen) =>
        assert.deepEqual(
          seen.body.lote.map(({ nsuRecepcao }: Seen) => nsuRecepcao),
          ['1', '2'],
        ),
    ],
    [
      'corpo-cortado',
      2,
      (seen) => {
        if (seen === 'ECONNRESET') return;
        assert.equal(seen.status, 201);
        assert.equal(seen.body, undefined);
        assert.match(seen.text, /^\{"Lote"/);
      },
    ],
    [
      'lote-parcial',
      undefined,
      (seen) => {
        if (seen !== 'ECONNRESET') assert.ok(seen.body.Lote.length < 2);
      },
    ],
    ['atraso', 2, (seen) => assert.equal(seen.status, 201)],
    ['atraso-antes', 2, (seen) => assert.equal(seen.status, 201)],
    [
      'resposta-enorme',
      2,
      (seen) => {
        assert.ok(seen.text.length > 300_000);
        assert.equal(seen.body.Lote.length, 2);
      },
    ],
    ['reordena', 2, (seen) => assert.deepEqual(new Set(codes(seen).flat()), new Set())],
    ['base64-duplo', 2, (seen) => assert.deepEqual(codes(seen), [[], []])],
  ];

  test('the table below has every fault', () => {
    const adjustable = ['atraso_ms', 'perdida_ms', 'enorme_bytes', 'nota_desconhecida', 'manifestacoes'];
    const names = AJUDA_DE_FALTAS.map(([name]) => name).filter((name) => !adjustable.includes(name));
    assert.deepEqual(TABLE.map(([name]) => name).toSorted(), names.toSorted());
  });

  for (const [name, kept, check] of TABLE) {
    test(`${name}: what the other side sees, and what is held`, async () => {
      const documents = [await nota(1, palco.municipio), await nota(2, palco.municipio)];
      for (const semente of [1, 2]) {
        const faults = { [name]: 1, semente, atraso_ms: 50, enorme_bytes: 300_000 };
        const seen = await under(name, faults, documents);
        check(seen);
        if (kept === undefined) assert.ok((await held()) < 2);
        else assert.equal(await held(), kept);
        const { body } = await controle(simulador, '/estado');
        assert.deepEqual(body.desde_o_inicio.faltas, name === 'base64-duplo' ? {} : { [name]: 1 });
      }
      await limpo();
    });
  }

  test('queries fail too', async () => {
    await limpo();
    await cliente.share([await nota(1, palco.municipio)]);
    const ask = async (faltas: Record<string, number>): Promise<Seen> => {
      await controle(simulador, '/limpar?so=faltas', { method: 'POST' });
      await ajustar(simulador, '/faltas', { ...faltas, semente: 7 });
      const isSilent = 'pedido-perdido' in faltas;
      const own = clienteDe(simulador.address, palco.ca, palco.municipio, isSilent ? { timeoutMs: 300 } : {});
      const answer = await own.received(0).catch(({ code }: NodeJS.ErrnoException) => code);
      own.close();
      return answer;
    };
    assert.equal(await ask({ 'reinicio-antes': 1 }), 'ECONNRESET');
    assert.equal(await ask({ 'pedido-perdido': 1 }), 'NO_ANSWER');
    assert.ok((await ask({ erro5xx: 1 })).status >= 500);
    assert.match((await ask({ html: 1 })).text, /^<!DOCTYPE html>/);
    assert.equal((await ask({ 'sem-lote': 1 })).body.LoteDFe, undefined);
    const { ArquivoXml } = (await ask({ 'base64-duplo': 1 })).body.LoteDFe[0];
    const once = Buffer.from(ArquivoXml, 'base64').toString('latin1');
    assert.match(gunzipSync(Buffer.from(once, 'base64')).toString('utf8'), new RegExp(chaveDe(1)));
    await limpo();
  });

  test('the same seed and the same requests fail alike; another seed does not', async () => {
    const faltas =
      'erro5xx=0.2,html=0.15,reinicio-antes=0.2,reinicio-depois=0.2,resposta-dupla=0.3,reordena=0.5,lote-parcial=0.2';
    const documents = await Promise.all(Array.from({ length: 25 * 3 }, (_, at) => nota(at + 1, palco.municipio)));
    const story = async (semente: number): Promise<string[]> => {
      const one = await simuladorAqui(palco, { semente, faltas });
      const told: string[] = [];
      for (let at = 0; at < documents.length; at += 3) {
        const own = clienteDe(one.address, palco.ca, palco.municipio);
        const seen: Seen = await own.share(documents.slice(at, at + 3)).catch(({ code }: Seen) => code);
        const keys = seen.body?.Lote?.map(({ ChaveAcesso, NsuRecepcao }: Seen) => `${ChaveAcesso}:${NsuRecepcao}`);
        told.push(typeof seen === 'string' ? seen : `${seen.status} ${keys?.join(' ') ?? seen.text.slice(0, 15)}`);
        own.close();
      }
      told.push(JSON.stringify((await controle(one, '/estado')).body.desde_o_inicio.faltas));
      await one.close();
      return told;
    };
    const [first, again, other] = [await story(20261121), await story(20261121), await story(20261122)];
    assert.deepEqual(again, first);
    assert.notDeepEqual(other, first);
    // All requested faults happened.
    for (const name of faltas.matchAll(/[a-z0-9-]+(?==)/g)) assert.match(first.at(-1)!, new RegExp(`"${name[0]}":`));
  });

  test('one fault more changes nothing of the others', async () => {
    await limpo();
    const seen = async (faltas: Record<string, number>): Promise<number[]> => {
      await controle(simulador, '/limpar?so=faltas', { method: 'POST' });
      await ajustar(simulador, '/faltas', { ...faltas, semente: 5 });
      const statuses: number[] = [];
      for (let at = 0; at < 30; at += 1) statuses.push((await cliente.received(0)).status);
      return statuses;
    };
    const alone = await seen({ erro429: 0.3 });
    const together = await seen({ erro429: 0.3, reordena: 0.5, 'nomes-camel': 0.5 });
    assert.deepEqual(together, alone);
    assert.ok(alone.includes(429) && alone.includes(404));
    await limpo();
  });

  test('off the air: connections are refused, open ones reset; and back at the same address', async () => {
    const one = await simuladorAqui(palco, { porta: await ownPort() });
    const kept = clienteDe(one.address, palco.ca, palco.municipio);
    await kept.received(0);
    const { body } = await ajustar(one, '/faltas', { fora_do_ar: true });
    assert.equal(body.fora_do_ar, true);
    for (let attempt = 0; attempt < 2; attempt += 1) {
      const own = clienteDe(one.address, palco.ca, palco.municipio);
      await assert.rejects(own.received(0), { code: 'ECONNREFUSED' });
    }
    await assert.rejects(kept.received(0), ({ code }: NodeJS.ErrnoException) => /ECONN|EPIPE/.test(code!));
    assert.equal((await ajustar(one, '/faltas', { fora_do_ar: false })).status, 200);
    assert.deepEqual(codes(await kept.share([await nota(1, palco.municipio)])), [[]]);
  });
});

describe('refusals that were asked for', () => {
  const answers = async (recusas: unknown, numeros: readonly number[]): Promise<string[][]> => {
    assert.equal((await ajustar(simulador, '/recusas', recusas)).status, 200);
    const documents = await Promise.all(numeros.map((numero) => nota(numero, palco.municipio)));
    return codes(await cliente.share(documents));
  };

  test('by key, by a text in the document, by municipality, so many times', async () => {
    await limpo();
    const recusas = [
      { codigo: 'E1289', chave: chaveDe(1), descricao: 'Recusada por ensaio', complemento: 'veja' },
      { codigo: 'E1305', contem: '<nNFSe>2</nNFSe>', vezes: 1 },
      { codigo: 'E1313', cnpj: OUTRO_CNPJ },
    ];
    assert.deepEqual(await answers(recusas, [1, 2, 3]), [['E1289'], ['E1305'], []]);
    const { body } = await cliente.share([await nota(2, palco.municipio), await nota(1, palco.municipio)]);
    assert.deepEqual(codes({ body }), [[], ['E1289']]);
    assert.deepEqual(body.Lote[1].Erros, [{ Codigo: 'E1289', Descricao: 'Recusada por ensaio', Complemento: 'veja' }]);
    assert.deepEqual(await answers([], [1]), [[]]);
  });

  test('a share of the documents, the same ones every time', async () => {
    await limpo();
    const numeros = Array.from({ length: 50 }, (_, at) => at + 1);
    const recusas = [{ codigo: 'E1289', parte: 0.3 }];
    const first = await answers(recusas, numeros);
    const refused = numeros.filter((_, at) => first[at]![0] === 'E1289');
    assert.ok(refused.length > 5 && refused.length < 25, `${refused.length} of 50`);
    const again = await answers(recusas, numeros);
    assert.deepEqual(
      numeros.filter((_, at) => again[at]![0] === 'E1289'),
      refused,
    );
    assert.deepEqual(new Set(again.flat()), new Set(['E1289', 'E1268']));
    await limpo();
  });

  test('a code of the connection or of the lot refuses the whole lot', async () => {
    await limpo();
    for (const [codigo, status] of [
      ['E1262', 403],
      ['E1203', 403],
      ['E1217', 503],
    ] as const) {
      await ajustar(simulador, '/recusas', [{ codigo, vezes: 1 }]);
      const answer = await cliente.share([await nota(1, palco.municipio)]);
      assert.equal(answer.status, status);
      assert.equal(answer.body.Lote, undefined);
      assert.equal(answer.body.Erros[0].Codigo, codigo);
    }
    assert.deepEqual(codes(await cliente.share([await nota(1, palco.municipio)])), [[]]);
    await limpo();
  });
});

describe('the control', () => {
  test('documents in the order in which they came, a page at a time', async () => {
    await limpo();
    const notes = await Promise.all([1, 2, 3].map((numero) => nota(numero, palco.municipio)));
    const began = Date.now();
    await cliente.share(notes);
    const ended = Date.now();
    const { body } = await controle(simulador, '/documentos?depois=1&limite=1');
    assert.equal(body.total, 3);
    const [only] = body.documentos;
    assert.equal(body.documentos.length, 1);
    assert.equal(only.ordem, 2);
    assert.equal(only.chave, chaveDe(2));
    assert.equal(only.nsu, 2);
    assert.equal(only.sha256, hash('sha256', notes[1]!, 'hex'));
    assert.ok(Date.parse(only.em) >= began && Date.parse(only.em) <= ended, only.em);
    assert.equal((await controle(simulador, `/documentos/${chaveDe(9)}`)).status, 404);
  });

  test('mistakes are told plainly, and change nothing', async () => {
    await limpo();
    for (const [target, body, message] of [
      ['/faltas', { atrazo: 0.1 }, /atrazo não é uma falta\. Existem: atraso-antes, atraso/],
      ['/faltas', { html: 1.5 }, /fração de 0 a 1/],
      ['/faltas', { html: 0.5, atraso_ms: -1 }, /zero ou maior/],
      ['/faltas', { fora_do_ar: 'sim' }, /true ou false/],
      ['/faltas', [], /deve ser um objeto/],
      ['/recusas', {}, /lista de recusas/],
      ['/recusas', [{ parte: 0.1 }], /codigo deve ser um texto/],
      ['/recusas', [{ codigo: 'E1', quando: 1 }], /quando não existe/],
    ] as const) {
      const answer = await ajustar(simulador, target, body);
      assert.equal(answer.status, 400);
      assert.match(answer.body.erro, message);
    }
    assert.equal((await controle(simulador, '/faltas', { method: 'PUT', body: '{' })).status, 400);
    const missing = await controle(simulador, '/nada');
    assert.equal(missing.status, 404);
    assert.match(missing.body.erro, /GET \/estado/);
    const { body } = await controle(simulador, '/estado');
    assert.deepEqual([body.faltas, body.recusas], [{}, []]);
    assert.equal((await controle(simulador, '/limpar?so=tudo', { method: 'POST' })).status, 400);
  });

  test('a page of somebody else under a name of its own is not served', async () => {
    const { hostname, port } = new URL(simulador.controle);
    const text = await new Promise<string>((resolve, reject) => {
      import('node:http').then(({ get }) =>
        get({ hostname, port, path: '/estado', headers: { Host: 'exemplo.com' } }, (res) => {
          res.resume();
          resolve(String(res.statusCode));
        }).on('error', reject),
      );
    });
    assert.equal(text, '403');
    assert.equal(hostname, '127.0.0.1');
  });

  test('nothing of a document is logged', async () => {
    await limpo();
    await cliente.share([await nota(1, palco.municipio), await nota(2, palco.outro), packed('<NFSe>')]);
    const lot = logged.findLast(({ message }) => message === 'lote recebido')!;
    assert.deepEqual(
      { ...lot.about, ms: 0 },
      { documentos: 3, aceitos: 1, erros: { E1638: 1, E1229: 1 }, faltas: [], ms: 0 },
    );
    const text = JSON.stringify(logged);
    assert.doesNotMatch(text, /Maria|52998224725|35503081|infNFSe/);
  });
});

describe('the command', () => {
  const files = (): string[] => [
    ...['--certificado', palco.certificado, '--chave', palco.chave, '--clientes', palco.clientes],
  ];
  const run = (...args: string[]): { status: number | null; stdout: string; stderr: string } =>
    spawnSync(process.execPath, ['src/main.js', 'adn-simulador', ...args], {
      cwd: path.resolve(import.meta.dirname, '..'),
      encoding: 'utf8',
      timeout: 600_000,
    });

  test('the help has every option and every fault', () => {
    const { status, stdout } = run('--help');
    assert.equal(status, 0);
    for (const option of ['porta', 'controle', 'dados', 'certificado', 'chave', 'clientes', 'semente', 'faltas']) {
      assert.match(stdout, new RegExp(`--${option} `));
    }
    for (const [name, meaning] of AJUDA_DE_FALTAS) assert.ok(stdout.includes(name) && stdout.includes(meaning), name);
  });

  test('what is missing or wrong is said plainly', async () => {
    const dados = await tempFolder();
    const missing = await nfseHere(['adn-simulador', '--dados', dados]);
    assert.equal(missing.code, 2);
    assert.match(missing.err, /Falta --certificado, --chave, --clientes\./);
    const port = await nfseHere(['adn-simulador', ...files(), '--dados', dados, '--porta', 'x']);
    assert.equal(port.code, 2);
    assert.match(port.err, /--porta pede um número/);
    const { port: taken } = new URL(simulador.address);
    // A process of its own parses the arguments as an operator gives them.
    const busy = run(...files(), '--dados', dados, '--porta', taken, '--controle', '0');
    assert.equal(busy.status, 1);
    assert.match(busy.stderr, new RegExp(`127\\.0\\.0\\.1:${taken} já está em uso.*--porta`));
    for (const [options, message] of [
      [{ faltas: 'atrazo=0.1' }, /atrazo não é uma falta/],
      [{ faltas: 'html' }, /html pede um número/],
      [{ clientes: '/nao/ha.pem' }, /^\/nao\/ha\.pem: o arquivo não existe\..*--clientes/],
      [{ clientes: palco.municipio.keyFile }, /não traz nenhum certificado em PEM/],
      [{ certificado: '/nao/ha.pem' }, /^\/nao\/ha\.pem: o arquivo não existe\..*--certificado/],
      [{ chave: palco.municipio.keyFile }, /não são par/],
      [{ chave: palco.municipio.certFile }, /não traz uma chave privada/],
      [{ dados: palco.certificado }, /a pasta .* não pôde ser criada \(EEXIST\)/],
      [{ controle: Number(new URL(simulador.controle).port) }, /já está em uso.*--controle/],
    ] as const) {
      await assert.rejects(simuladorAqui(palco, options), { message });
    }
  });

  test('it says where it is, and Ctrl-C ends it in order with a lot under way', async () => {
    const dados = await tempFolder();
    const processo = await simuladorProcesso(palco, dados, ['--semente', '3', '--faltas', 'atraso=1,atraso_ms=60000']);
    assert.match(processo.output(), /ADN simulado no ar em https:\/\/127\.0\.0\.1:\d+\n/);
    const own = clienteDe(processo.address, palco.ca, palco.municipio);
    const waiting = assert.rejects(own.share([await nota(1, palco.municipio)]));
    for (let held = 0; held < 1; ) ({ documentos: held } = (await controle(processo, '/estado')).body);
    assert.equal(await processo.end('SIGINT'), 0);
    await waiting;
    const again = await simuladorProcesso(palco, dados);
    assert.match(again.output(), /1 documento guardado/);
    assert.equal(await again.end('SIGTERM'), 0);
  });
});
