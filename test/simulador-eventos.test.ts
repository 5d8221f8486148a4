/**
 * Events in the ADN simulator, over mutual TLS: acceptance, refusals with their codes, storage and queries, and every fault. The expected
 * results follow the reference of the ADN (annex of events 1.01, manual of the APIs for municipalities).
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { EventoAnswer, EventoToShare } from '../src/adn/adn.ts';
import { openBreaker } from '../src/adn/breaker.ts';
import { nationalAdn } from '../src/adn/national.ts';
import { FALTAS } from '../src/simulador/faltas.ts';
import type { Simulador } from '../src/simulador/simulador.ts';
import { onEnd } from './support/cleanup.ts';
import {
  ajustar,
  CANCELAMENTO,
  type Cliente,
  chaveDe,
  clienteDe,
  controle,
  type EventoDeEnsaio,
  evento,
  eventoAssinado,
  eventoSemAssinatura,
  MUNICIPIO_CNPJ,
  montarPalco,
  nota,
  OUTRO_CNPJ,
  type Palco,
  packed,
  registroDe,
  shareUnder,
  simuladorAqui,
  tempFolder,
} from './support/simulador.ts';
import { toolOr } from './support/tools.ts';

let palco: Palco;
let simulador: Simulador;
let cliente: Cliente;

before(async () => {
  palco = await montarPalco();
  simulador = await simuladorAqui(palco);
  cliente = clienteDe(simulador.address, palco.ca, palco.municipio);
});

/** Deletes everything, and stores the notes of these numbers. */
async function comNotas(...numeros: readonly number[]): Promise<void> {
  await controle(simulador, '/limpar', { method: 'POST' });
  if (numeros.length === 0) return;
  const { body } = await cliente.share(await Promise.all(numeros.map((numero) => nota(numero, palco.municipio))));
  assert.deepEqual(codes({ body }).flat(), []);
}

// biome-ignore lint/suspicious/noExplicitAny: answers, whole and spoilt
type Seen = any;

function codes({ body }: Seen): string[][] {
  return body.Lote.map(({ Erros }: Seen) => Erros.map(({ Codigo }: Seen) => Codigo));
}

const ofNote = (ensaio: EventoDeEnsaio): Buffer => evento(ensaio, palco.municipio);
const cancelamento = (numero: number, more: Partial<EventoDeEnsaio> = {}): Buffer =>
  ofNote({ numero, ...CANCELAMENTO, ...more });
const idDe = (numero: number, codigo: string, sequencia = 1): string =>
  `EVT${chaveDe(numero)}${codigo}${String(sequencia).padStart(3, '0')}`;
const eventosDe = (numero: number, who = cliente): Promise<Seen> =>
  who.request('GET', `/municipios/NFSe/${chaveDe(numero)}/Eventos`);
const estado = async (): Promise<Seen> => (await controle(simulador, '/estado')).body;

const MUNICIPAL = { autor: MUNICIPIO_CNPJ };
const AGENTE = { cpf_agente_tributario: '11144477735' };
const MOTIVO = { descricao_motivo: 'Decisão no processo do contribuinte' };
const SOLICITACAO = { ...CANCELAMENTO, codigo: '101103' };
const DEFERIMENTO = { ...MUNICIPAL, codigo: '105104', campos: { ...AGENTE, codigo_motivo: '1', ...MOTIVO } };
const bloqueio = (tipo: string) => ({
  ...MUNICIPAL,
  codigo: '305102',
  campos: { ...AGENTE, codigo_evento_bloqueado: tipo, ...MOTIVO },
});
const desbloqueio = (numero: number) => ({
  ...MUNICIPAL,
  codigo: '305103',
  campos: { ...AGENTE, id_evento_bloqueio: idDe(numero, '305102') },
});

describe('what is taken', () => {
  test('an event of a note that is held: numbers go on over notes and events', async () => {
    await comNotas(1, 2);
    const xml = cancelamento(1);
    const { status, body } = await cliente.share([xml]);
    assert.equal(status, 201);
    const [{ StatusProcessamento, ...entry }] = body.Lote;
    assert.equal(typeof StatusProcessamento, 'string');
    assert.deepEqual(entry, { ChaveAcesso: chaveDe(1), NsuRecepcao: '3', Alertas: [], Erros: [] });
    assert.equal((await cliente.share([await nota(3, palco.municipio)])).body.Lote[0].NsuRecepcao, '4');
    const seen = await estado();
    assert.deepEqual([seen.documentos, seen.eventos, seen.eventos_em_dobro], [3, 1, []]);
    assert.equal(seen.municipios[0].ultimo_nsu, 4);
    assert.equal(seen.desde_o_inicio.eventos_aceitos, 1);
  });

  test('an event written by hand in the national layout and signed by xmlsec1', async (t) => {
    const xmlsec1 = toolOr('xmlsec1', 'xmlsec1');
    if (xmlsec1 === undefined) return t.skip('xmlsec1 is not on this machine');
    await comNotas(1);
    const folder = await tempFolder();
    const xml = `<?xml version="1.0" encoding="UTF-8"?>
<evento xmlns="http://www.sped.fazenda.gov.br/nfse" versao="1.01">
  <infEvento Id="EVT${chaveDe(1)}101101001">
    <verAplic>prefeitura-2</verAplic>
    <ambGer>1</ambGer>
    <nSeqEvento>1</nSeqEvento>
    <dhProc>2026-10-06T09:00:01-03:00</dhProc>
    <nDFSe>12</nDFSe>
    <pedRegEvento versao="1.01">
      <infPedReg Id="PRE${chaveDe(1)}101101">
        <tpAmb>1</tpAmb>
        <verAplic>emissor 1.0</verAplic>
        <dhEvento>2026-10-06T09:00:00-03:00</dhEvento>
        <CNPJAutor>11222333000181</CNPJAutor>
        <chNFSe>${chaveDe(1)}</chNFSe>
        <e101101>
          <xDesc>Cancelamento de NFS-e</xDesc>
          <cMotivo>1</cMotivo>
          <xMotivo>Valor do serviço informado com erro</xMotivo>
        </e101101>
      </infPedReg>
    </pedRegEvento>
  </infEvento>
<Signature xmlns="http://www.w3.org/2000/09/xmldsig#"><SignedInfo><CanonicalizationMethod Algorithm="http://www.w3.org/2001/10/xml-exc-c14n#"/><SignatureMethod Algorithm="http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"/><Reference URI="#EVT${chaveDe(1)}101101001"><Transforms><Transform Algorithm="http://www.w3.org/2000/09/xmldsig#enveloped-signature"/><Transform Algorithm="http://www.w3.org/2001/10/xml-exc-c14n#"/></Transforms><DigestMethod Algorithm="http://www.w3.org/2001/04/xmlenc#sha256"/><DigestValue/></Reference></SignedInfo><SignatureValue/><KeyInfo><X509Data><X509Certificate/></X509Data></KeyInfo></Signature></evento>`;
    await writeFile(path.join(folder, 'evento.xml'), xml);
    const { keyFile, certFile } = palco.municipio;
    const out = execFileSync(
      xmlsec1,
      ['--sign', '--privkey-pem', `${keyFile},${certFile}`, '--id-attr:Id', 'infEvento', 'evento.xml'],
      { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] },
    );
    const began = Date.now();
    const { body } = await cliente.share([out]);
    const ended = Date.now();
    assert.deepEqual(codes({ body }), [[]], JSON.stringify(body.Lote));
    const { body: kept } = await controle(simulador, '/eventos');
    const [{ sha256, em, ...rest }] = kept.eventos;
    assert.match(sha256, /^[0-9a-f]{64}$/);
    assert.ok(Date.parse(em) >= began && Date.parse(em) <= ended, em);
    assert.deepEqual(rest, {
      id: idDe(1, '101101'),
      chave: chaveDe(1),
      cnpj: MUNICIPIO_CNPJ,
      codigo: '101101',
      numero_sequencial: 1,
      autor: '11222333000181',
      campos: {
        codigo_motivo_cancelamento: '1',
        descricao_motivo_cancelamento: 'Valor do serviço informado com erro',
      },
      nsu: 2,
      ordem: 1,
    });
  });

  test('the life of a note in one lot, in order: request, block, unblock, decision', async () => {
    await comNotas(1);
    const lot = [SOLICITACAO, bloqueio('e105104'), desbloqueio(1), DEFERIMENTO].map((one) =>
      ofNote({ numero: 1, ...one }),
    );
    const { body } = await cliente.share(lot);
    assert.deepEqual(codes({ body }), [[], [], [], []], JSON.stringify(body.Lote));
    assert.equal((await estado()).eventos, 4);
  });

  test('a note and its event in one lot', async () => {
    await comNotas();
    assert.deepEqual(codes(await cliente.share([await nota(1, palco.municipio), cancelamento(1)])), [[], []]);
    assert.deepEqual(codes(await cliente.share([cancelamento(2), await nota(2, palco.municipio)])), [['E1831'], []]);
  });
});

describe('what is told', () => {
  test('all events of a note, each the very text that was sent, with the name of its type', async () => {
    await comNotas(1, 2);
    const sent = [SOLICITACAO, DEFERIMENTO].map((one, at) =>
      gzipSync(ofNote({ numero: 1, ...one }), { level: at + 1 }).toString('base64'),
    );
    await cliente.share(sent);
    const { status, body } = await eventosDe(1);
    assert.equal(status, 200);
    assert.equal(body.StatusProcessamento, 'DOCUMENTOS_LOCALIZADOS');
    assert.deepEqual(
      body.LoteDFe.map(({ DataHoraGeracao, ...one }: Seen) => {
        assert.match(DataHoraGeracao, /^\d{4}-\d\d-\d\dT/);
        return one;
      }),
      sent.map((ArquivoXml, at) => ({
        NSU: at + 3,
        ChaveAcesso: chaveDe(1),
        TipoDocumento: 'EVENTO',
        TipoEvento: ['SOLICITACAO_CANCELAMENTO_ANALISE_FISCAL', 'CANCELAMENTO_DEFERIDO_ANALISE_FISCAL'][at],
        ArquivoXml,
      })),
    );
    const none = await eventosDe(2);
    assert.deepEqual(
      [none.status, none.body.StatusProcessamento, none.body.LoteDFe, none.body.Erros],
      [404, 'NENHUM_DOCUMENTO_LOCALIZADO', [], []],
    );
  });

  test('of an unknown note, and to another municipality, nothing', async () => {
    await comNotas(1);
    await cliente.share([cancelamento(1)]);
    assert.deepEqual((await eventosDe(9)).body.Erros[0].Codigo, 'E2060');
    const other = await eventosDe(1, clienteDe(simulador.address, palco.ca, palco.outro));
    assert.deepEqual([other.status, other.body.LoteDFe, other.body.Erros[0].Codigo], [404, [], 'E2061']);
  });

  test('the documents after a number are notes and events, each as what it is', async () => {
    await comNotas(1);
    await cliente.share([cancelamento(1), await nota(2, palco.municipio)]);
    const { body } = await cliente.received(0);
    assert.deepEqual(
      body.LoteDFe.map(({ NSU, ChaveAcesso, TipoDocumento, TipoEvento }: Seen) => [
        NSU,
        ChaveAcesso,
        TipoDocumento,
        TipoEvento,
      ]),
      [
        [1, chaveDe(1), 'NFSE', null],
        [2, chaveDe(1), 'EVENTO', 'CANCELAMENTO'],
        [3, chaveDe(2), 'NFSE', null],
      ],
    );
  });

  test('the control gives an event by its Id, and tells apart notes and events', async () => {
    await comNotas(1);
    const xml = cancelamento(1);
    await cliente.share([xml]);
    assert.equal((await controle(simulador, `/eventos/${idDe(1, '101101')}`)).text, xml.toString('utf8'));
    assert.equal((await controle(simulador, `/eventos/${idDe(1, '101101', 2)}`)).status, 404);
    const { body: notes } = await controle(simulador, '/documentos');
    assert.deepEqual([notes.total, notes.documentos.length], [1, 1]);
    const { body: page } = await controle(simulador, '/eventos?depois=1');
    assert.deepEqual([page.total, page.eventos], [1, []]);
    assert.equal((await controle(simulador, '/eventos?limite=x')).status, 400);
  });
});

function swap(xml: string, what: string | RegExp, by: string): string {
  const changed = xml.replace(what, by);
  assert.notEqual(changed, xml, `${what} is not in the document`);
  return changed;
}

const bent = (change: (xml: string) => string): Buffer =>
  eventoAssinado(change(eventoSemAssinatura({ numero: 1, ...CANCELAMENTO })), palco.municipio);
const after = (change: (xml: string) => string): Buffer => Buffer.from(change(cancelamento(1).toString('utf8')));

describe('what is refused', () => {
  const CASES: readonly (readonly [string, string, () => string | Buffer])[] = [
    [
      'E1242',
      'a request without its event',
      () =>
        Buffer.from(
          `<?xml version="1.0" encoding="UTF-8"?>${swap(/<pedRegEvento[\s\S]*<\/pedRegEvento>/.exec(eventoSemAssinatura({ numero: 1, ...CANCELAMENTO }))![0], '<pedRegEvento', '<pedRegEvento xmlns="http://www.sped.fazenda.gov.br/nfse"')}`,
        ),
    ],
    [
      'E1228',
      'a prefix',
      () =>
        after((xml) =>
          swap(
            swap(xml, '<evento xmlns=', '<n:evento xmlns:n="http://www.sped.fazenda.gov.br/nfse" xmlns='),
            /<\/evento>$/,
            '</n:evento>',
          ),
        ),
    ],
    ['E1235', 'another xDesc', () => bent((xml) => swap(xml, '>Cancelamento de NFS-e<', '>Cancelamento<'))],
    [
      'E1235',
      'an old nPedRegEvento',
      () => bent((xml) => swap(xml, '<e101101>', '<nPedRegEvento>1</nPedRegEvento><e101101>')),
    ],
    [
      'E1235',
      'layout 1.00',
      () => bent((xml) => swap(xml, '<pedRegEvento versao="1.01">', '<pedRegEvento versao="9.99">')),
    ],
    [
      'E1235',
      'a reason of fourteen characters',
      () => bent((xml) => swap(xml, /<xMotivo>[^<]*/, '<xMotivo>Errado demais.')),
    ],
    ['E1235', 'a sequence of zero', () => bent((xml) => swap(xml, '<nSeqEvento>1<', '<nSeqEvento>0<'))],
    ['E1235', 'no sequence in the Id', () => bent((xml) => swap(xml, '101101001"', '101101"'))],
    ['E1802', 'the Id of another sequence', () => bent((xml) => swap(xml, '<nSeqEvento>1<', '<nSeqEvento>2<'))],
    [
      'E1827',
      'the request of another type',
      () => bent((xml) => swap(xml, `PRE${chaveDe(1)}101101`, `PRE${chaveDe(1)}101103`)),
    ],
    ['E1827', 'the request of another note', () => bent((xml) => swap(xml, `PRE${chaveDe(1)}`, `PRE${chaveDe(2)}`))],
    ['E1274', 'an event of the national emitter', () => bent((xml) => swap(xml, '<ambGer>1<', '<ambGer>2<'))],
    ['E2029', 'no signature', () => Buffer.from(eventoSemAssinatura({ numero: 1, ...CANCELAMENTO }))],
    ['E2020', 'a reason changed after signing', () => after((xml) => swap(xml, 'com erro', 'sem erro'))],
    [
      'E2020',
      'another signature value',
      () => after((xml) => swap(xml, /<SignatureValue>..../, '<SignatureValue>AAAA')),
    ],
    ['E2026', 'no certificate', () => after((xml) => swap(xml, /<KeyInfo>.*<\/KeyInfo>/, ''))],
    ['E2023', 'an expired certificate', () => evento({ numero: 1, ...CANCELAMENTO }, palco.vencido)],
    ['E2023', 'the certificate of a strange authority', () => evento({ numero: 1, ...CANCELAMENTO }, palco.estranho)],
    ['E2032', 'the certificate of another municipality', () => evento({ numero: 1, ...CANCELAMENTO }, palco.outro)],
    ['E1831', 'an event of a note that is not there', () => cancelamento(9)],
    ...['202201', '203202', '204203'].map(
      (codigo) => ['E1818', `confirmation ${codigo}`, () => ofNote({ numero: 1, codigo })] as const,
    ),
    ...['202205', '203206', '204207'].map(
      (codigo) =>
        [
          'E1818',
          `rejection ${codigo}`,
          () => ofNote({ numero: 1, codigo, campos: { codigo_motivo_rejeicao: '1' } }),
        ] as const,
    ),
    ['E0813', 'a cancellation by somebody else', () => cancelamento(1, { autor: '99888777000190' })],
    ['E0816', 'a cancellation by a person', () => cancelamento(1, { autor: '52998224725' })],
    [
      'E0813',
      'an act of office by the emitter',
      () => ofNote({ numero: 1, ...bloqueio('e101101'), autor: '11222333000181' }),
    ],
    ['E0853', 'a decision that nobody asked for', () => ofNote({ numero: 1, ...DEFERIMENTO })],
    ['E1976', 'the end of a block that there is not', () => ofNote({ numero: 1, ...desbloqueio(1) })],
  ];

  test('each case with its code, in one lot that goes on for the others', async () => {
    await comNotas(1, 2);
    const { status, body } = await cliente.share([...CASES.map(([, , make]) => make()), cancelamento(2)]);
    assert.equal(status, 201);
    const got = codes({ body });
    CASES.forEach(([code, what], at) => {
      assert.deepEqual(got[at], [code], `${what}: ${JSON.stringify(body.Lote[at])}`);
      assert.equal(body.Lote[at].NsuRecepcao, null);
    });
    assert.deepEqual(got.at(-1), []);
    // An answer has the key of the note whenever it can be read from the document.
    const keyless = CASES.flatMap(([, what], at) => (body.Lote[at].ChaveAcesso === null ? [what] : []));
    assert.deepEqual(keyless, ['a request without its event', 'no sequence in the Id']);
    assert.equal((await estado()).eventos, 1);
  });

  test('an event of a note that another municipality shared (E0831)', async () => {
    await comNotas();
    await clienteDe(simulador.address, palco.ca, palco.outro).share([await nota(1, palco.outro)]);
    assert.deepEqual(codes(await cliente.share([cancelamento(1)])), [['E0831']]);
    assert.equal((await estado()).municipios[0].cnpj, OUTRO_CNPJ);
  });

  test('what the events on the note rule out, with the code of the annex', async () => {
    const STORIES: readonly (readonly [string, readonly Omit<EventoDeEnsaio, 'numero'>[]])[] = [
      ['E0840', [CANCELAMENTO, { ...CANCELAMENTO, sequencia: 2 }]],
      ['E0840', [SOLICITACAO, CANCELAMENTO]],
      ['E0840', [bloqueio('e101101'), CANCELAMENTO]],
      ['E0848', [SOLICITACAO, { ...SOLICITACAO, sequencia: 2 }]],
      ['E0852', [SOLICITACAO, bloqueio('e105104'), DEFERIMENTO]],
      ['E1965', [CANCELAMENTO, bloqueio('e105102')]],
      ['E1967', [bloqueio('e101101'), { ...bloqueio('e101101'), sequencia: 2 }]],
      ['E1978', [bloqueio('e101101'), desbloqueio(1), { ...desbloqueio(1), sequencia: 2 }]],
    ];
    for (const [code, story] of STORIES) {
      await comNotas(1);
      const { body } = await cliente.share(story.map((one) => ofNote({ numero: 1, ...one })));
      const expected = story.map((_, at) => (at === story.length - 1 ? [code] : []));
      assert.deepEqual(codes({ body }), expected, JSON.stringify(story.map(({ codigo }) => codigo)));
    }
  });

  test('an Id is taken once: the same event again, and another one under the same Id (E1805)', async () => {
    await comNotas(1);
    const other = cancelamento(1, {
      campos: { codigo_motivo_cancelamento: '2', descricao_motivo_cancelamento: 'O serviço não foi prestado' },
    });
    assert.deepEqual(codes(await cliente.share([cancelamento(1), cancelamento(1)])), [[], ['E1805']]);
    assert.deepEqual(codes(await cliente.share([other])), [['E1805']]);
    const seen = await estado();
    assert.deepEqual([seen.eventos, seen.eventos_em_dobro], [1, []]);
    assert.deepEqual([seen.eventos_repetidos_iguais, seen.eventos_repetidos_diferentes], [1, 1]);
    assert.deepEqual([seen.repetidos_iguais, seen.repetidos_diferentes], [0, 0]);
    assert.deepEqual(
      seen.ultimas_repeticoes.map(({ evento: id, mesmo_documento }: Seen) => [id, mesmo_documento]),
      [
        [idDe(1, '101101'), true],
        [idDe(1, '101101'), false],
      ],
    );
  });

  test('lots at the same moment take an Id once', async () => {
    await comNotas(1);
    const one = packed(cancelamento(1));
    const answers = await Promise.all(Array.from({ length: 8 }, () => cliente.share([one])));
    assert.equal(answers.flatMap(codes).filter((erros) => erros.length === 0).length, 1);
    assert.equal((await estado()).eventos, 1);
  });
});

describe('a replacement', () => {
  const substituta = (numero: number, substituida: number): Promise<Buffer> =>
    nota(numero, palco.municipio, {
      'subst/chSubstda': chaveDe(substituida),
      'subst/cMotivo': '99',
      'subst/xMotivo': 'Descrição do serviço incorreta',
    });
  const substituicao = (numero: number, por: number): EventoDeEnsaio => ({
    numero,
    codigo: '105102',
    campos: {
      codigo_motivo_cancelamento: '99',
      descricao_motivo_cancelamento: 'Descrição do serviço incorreta',
      chave_acesso_substituta: chaveDe(por),
    },
  });

  test('the order is the old note, the event on it with the key of the new one, the new one', async () => {
    await comNotas();
    const lot = [await nota(1, palco.municipio), ofNote(substituicao(1, 2)), await substituta(2, 1)];
    assert.deepEqual(codes(await cliente.share(lot)), [[], [], []]);
  });

  test('the new one before its event (E1308): refused now, taken once the event is there', async () => {
    await comNotas(1);
    const nova = await substituta(2, 1);
    assert.deepEqual(codes(await cliente.share([nova])), [['E1308']]);
    // Other events that leave the note standing do not replace it either.
    assert.deepEqual(codes(await cliente.share([ofNote({ numero: 1, ...SOLICITACAO }), nova])), [[], ['E1308']]);
    await comNotas(1);
    assert.deepEqual(codes(await cliente.share([nova, ofNote(substituicao(1, 2)), nova])), [['E1308'], [], []]);
    assert.deepEqual(codes(await cliente.share([nova])), [['E1268']]);
    assert.equal((await estado()).documentos, 2);
  });

  test('an event that names another (E1310), a cancelled note (E0046), a note that is not there (E0044)', async () => {
    await comNotas(1, 2);
    await cliente.share([ofNote(substituicao(1, 3)), cancelamento(2)]);
    const lot = [await substituta(4, 1), await substituta(5, 2), await substituta(6, 9), await substituta(3, 1)];
    assert.deepEqual(codes(await cliente.share(lot)), [['E1310'], ['E0046'], ['E0044'], []]);
  });

  test('is recognised by the long way too', async () => {
    await comNotas(1);
    const spaced = swap((await substituta(2, 1)).toString(), '<Signature ', '\n<Signature ');
    assert.deepEqual(codes(await cliente.share([Buffer.from(spaced)])), [['E1308']]);
  });
});

describe('what is set at the control', () => {
  test('nota_desconhecida: each event is told so many times that its note is not known', async () => {
    await comNotas(1, 2);
    assert.equal((await ajustar(simulador, '/faltas', { nota_desconhecida: 2 })).status, 200);
    const [one, two] = [cancelamento(1), cancelamento(2)];
    assert.deepEqual(codes(await cliente.share([one])), [['E1831']]);
    assert.deepEqual(codes(await cliente.share([one, two])), [['E1831'], ['E1831']]);
    assert.deepEqual(codes(await cliente.share([one, two])), [[], ['E1831']]);
    assert.deepEqual(codes(await cliente.share([one, two])), [['E1805'], []]);
    assert.deepEqual(codes(await cliente.share([await nota(3, palco.municipio)])), [[]], 'notes are not concerned');
  });

  test('manifestacoes: 1 takes what the parties say, one manifestation each', async () => {
    await comNotas(1);
    await ajustar(simulador, '/faltas', { manifestacoes: 1 });
    const rejeicao = (codigo: string, autor: string) => ({ codigo, autor, campos: { codigo_motivo_rejeicao: '1' } });
    const anulacao = {
      ...MUNICIPAL,
      codigo: '205208',
      campos: { ...AGENTE, id_evento_rejeicao: idDe(1, '203206'), ...MOTIVO },
    };
    const story = [
      { codigo: '202201' },
      rejeicao('203206', '52998224725'),
      rejeicao('204207', '52998224725'),
      anulacao,
      { ...anulacao, sequencia: 2 },
      CANCELAMENTO,
    ];
    const { body } = await cliente.share(story.map((one) => ofNote({ numero: 1, ...one })));
    assert.deepEqual(codes({ body }), [[], [], ['E1833'], [], ['E1835'], ['E0840']], JSON.stringify(body.Lote));
  });

  test('refusals by tipo: notes, events, or one type of events', async () => {
    await comNotas(1, 2);
    const set = async (recusas: unknown): Promise<void> =>
      assert.equal((await ajustar(simulador, '/recusas', recusas)).status, 200);
    await set([{ codigo: 'E0822', tipo: '101101', vezes: 1 }]);
    const lot = [await nota(3, palco.municipio), ofNote({ numero: 2, ...SOLICITACAO }), cancelamento(1)];
    assert.deepEqual(codes(await cliente.share(lot)), [[], [], ['E0822']]);
    await set([
      { codigo: 'E1289', tipo: 'nota' },
      { codigo: 'E0824', tipo: 'evento', contem: 'com erro na emissão' },
    ]);
    assert.deepEqual(codes(await cliente.share([await nota(4, palco.municipio), cancelamento(1)])), [
      ['E1289'],
      ['E0824'],
    ]);
    const wrong = await ajustar(simulador, '/recusas', [{ codigo: 'E0822', tipo: 'cancelamento' }]);
    assert.match(wrong.body.erro, /tipo deve ser nota, evento ou o código/);
  });
});

describe('what it keeps', () => {
  test('a restart finds events again, and an unfinished one is dropped', async () => {
    const dados = await tempFolder();
    const first = await simuladorAqui(palco, { dados });
    const own = clienteDe(first.address, palco.ca, palco.municipio);
    await own.share([await nota(1, palco.municipio)]);
    await own.share([ofNote({ numero: 1, ...SOLICITACAO })]);
    const whole = (await registroDe(dados)).length;
    await own.share([ofNote({ numero: 1, ...DEFERIMENTO })]);
    own.close();
    await first.close();

    const log = await registroDe(dados);
    const again = await simuladorAqui(palco, { dados });
    const next = clienteDe(again.address, palco.ca, palco.municipio);
    const lot = [ofNote({ numero: 1, ...DEFERIMENTO }), cancelamento(1)];
    assert.deepEqual(codes(await next.share(lot)), [['E1805'], ['E0840']]);
    const { body } = await next.request('GET', `/municipios/NFSe/${chaveDe(1)}/Eventos`);
    assert.equal(body.LoteDFe.length, 2);
    assert.equal((await next.share([await nota(2, palco.municipio)])).body.Lote[0].NsuRecepcao, '4');
    next.close();
    await again.close();

    await writeFile(path.join(dados, 'registro.log'), log.subarray(0, log.length - 1));
    const torn = await simuladorAqui(palco, { dados });
    assert.deepEqual([torn.documentos, torn.descartado], [1, log.length - 1 - whole]);
    assert.equal((await controle(torn, '/estado')).body.eventos, 1);
    await torn.close();

    // The simulator never stores an event twice itself; a duplicate record in its file shows that it would report one.
    await writeFile(path.join(dados, 'registro.log'), Buffer.concat([log, log.subarray(whole)]));
    const double = await simuladorAqui(palco, { dados });
    const { body: seen } = await controle(double, '/estado');
    assert.deepEqual([seen.eventos, seen.eventos_em_dobro], [3, [idDe(1, '105104')]]);
    await double.close();
  });
});

describe('faults', () => {
  /** The number of stored events of two, by the moment of the fault. */
  const HELD = { antes: [0], depois: [2], resposta: [2] } as const;

  for (const [name, falta] of Object.entries(FALTAS)) {
    if ('em' in falta && falta.em === 'consulta') continue;
    const { momento } = falta;
    test(`${name}: strikes a lot of events as one of notes`, async () => {
      await comNotas(1, 2);
      await ajustar(simulador, '/faltas', { [name]: 1, atraso_ms: 20, enorme_bytes: 300_000 });
      const own = clienteDe(simulador.address, palco.ca, palco.municipio);
      const isSilent = name === 'pedido-perdido' || name === 'resposta-perdida';
      const seen: Seen = await shareUnder(own, [cancelamento(1), cancelamento(2)], isSilent, async () => {
        const { eventos: taken, desde_o_inicio: since } = await estado();
        return since.faltas[name] === 1 && (momento === 'antes' || taken === 2);
      });
      own.close();
      const { eventos, desde_o_inicio } = await estado();
      const expected: readonly number[] = name === 'lote-parcial' ? [0, 1] : HELD[momento];
      assert.ok(expected.includes(eventos), `${eventos} held`);
      assert.deepEqual(desde_o_inicio.faltas, { [name]: 1 });
      if (name === 'e999') assert.deepEqual(codes(seen), [['E999'], ['E999']]);
      if (name === 'erro429') assert.equal(seen.status, 429);
      if (name.startsWith('reinicio')) assert.equal(seen, 'ECONNRESET');
      if (name.endsWith('perdida') || name === 'pedido-perdido') assert.equal(seen, 'NO_ANSWER');
      if (name.startsWith('html')) assert.match(seen.text, /^<!DOCTYPE html>/);
      if (name === 'resposta-dupla') assert.ok(seen.body.Lote.length > 2);
      await comNotas();
    });
  }

  test('the query for events fails too', async () => {
    await comNotas(1);
    await cliente.share([cancelamento(1)]);
    await ajustar(simulador, '/faltas', { 'base64-duplo': 1 });
    const { ArquivoXml } = (await eventosDe(1)).body.LoteDFe[0];
    const once = Buffer.from(ArquivoXml, 'base64').toString('latin1');
    assert.equal(gunzipSync(Buffer.from(once, 'base64')).toString('utf8'), cancelamento(1).toString('utf8'));
    await ajustar(simulador, '/faltas', { 'base64-duplo': 0, 'sem-lote': 1 });
    assert.equal((await eventosDe(1)).body.LoteDFe, undefined);
    await comNotas();
  });
});

describe('the client of the ADN over the simulator', () => {
  /** Our own client with long timeouts: silent calls end by themselves, and a slow machine needs time. */
  function client() {
    const { key, cert } = palco.municipio;
    const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };
    const adn = nationalAdn({
      url: simulador.address.replace('127.0.0.1', 'localhost'),
      tls: { key, cert, ca: palco.ca },
      breaker: openBreaker({ pauseFirstMs: 5, pauseMaxMs: 20 }),
      log: quiet,
      limits: {
        connectMs: 60_000,
        verdictMs: 60_000,
        headersMs: 60_000,
        bodyMs: 60_000,
        requestMs: 60_000,
        shareMs: 120_000,
        findMs: 120_000,
        requestMinMs: 20,
        troubledFirstMs: 5,
        troubledMaxMs: 20,
        answerMaxBytes: 200_000,
      },
    });
    onEnd(() => adn.close());
    return adn;
  }

  const toShare = (ensaio: EventoDeEnsaio): EventoToShare => {
    const { numero, codigo, sequencia = 1, campos = {}, autor = '11222333000181' } = ensaio;
    return {
      id: idDe(numero, codigo, sequencia),
      chave_acesso: chaveDe(numero),
      xml: ofNote(ensaio),
      evento: { codigo, numero_sequencial: sequencia, autor, campos },
      naNota: [],
    };
  };

  test('accepted, refused, not known, not taken from here, there already: each is told as what it is', async () => {
    await comNotas(1, 2, 3);
    const adn = client();
    const eventos = [
      toShare({ numero: 1, ...CANCELAMENTO }),
      toShare({ numero: 1, ...CANCELAMENTO, sequencia: 2 }),
      toShare({ numero: 9, ...CANCELAMENTO }),
      toShare({ numero: 2, codigo: '203202', autor: '52998224725' }),
      toShare({ numero: 3, ...SOLICITACAO }),
      toShare({ numero: 3, ...DEFERIMENTO }),
    ];
    const kinds = async (): Promise<unknown> => {
      const answers = await adn.shareEventos('alfa', eventos);
      return eventos.map(({ id }) => answers.get(id)?.kind);
    };
    assert.deepEqual(await kinds(), ['accepted', 'refused', 'note_unknown', 'not_taken_here', 'accepted', 'accepted']);
    const again = ['already_there', 'refused', 'note_unknown', 'not_taken_here', 'already_there', 'already_there'];
    assert.deepEqual(await kinds(), again);
    const found = await adn.findEventos('alfa', eventos);
    assert.deepEqual(
      eventos.map(({ id }) => found.get(id)?.kind),
      ['known', 'absent', 'absent', 'absent', 'known', 'known'],
    );
    const first = found.get(eventos[0]!.id);
    assert.ok(first?.kind === 'known');
    assert.deepEqual([Buffer.from(first.xml!), first.nsu], [Buffer.from(eventos[0]!.xml!), '4']);
  });

  test('a substitute is too early until the event on the replaced note was taken', async () => {
    await comNotas(1);
    const adn = client();
    const subst = { 'subst/chSubstda': chaveDe(1), 'subst/cMotivo': '01' };
    const nova = { chave_acesso: chaveDe(2), xml: await nota(2, palco.municipio, subst) };
    const answer = async () => (await adn.share('alfa', [nova])).get(nova.chave_acesso);
    const early = await answer();
    assert.ok(early?.kind === 'too_early');
    assert.deepEqual(
      early.erros.map(({ codigo }) => codigo),
      ['E1308'],
    );
    assert.equal(adn.pauseMs(), 0);
    const campos = { codigo_motivo_cancelamento: '01', chave_acesso_substituta: nova.chave_acesso };
    const event = toShare({ numero: 1, codigo: '105102', campos });
    assert.equal((await adn.shareEventos('alfa', [event])).get(event.id)?.kind, 'accepted');
    const late = await answer();
    assert.ok(late?.kind === 'accepted');
    assert.equal(late.nsu, '3');
  });

  for (const semente of [20261121, 20261122, 20261123]) {
    test(`seed ${semente}: through all faults every event is decided rightly, and none is held twice`, async () => {
      const numeros = Array.from({ length: 15 }, (_, at) => at + 1);
      await comNotas(...numeros);
      // Each note has a request, its decision, and a cancellation that comes too late; one in five notes does not exist.
      const eventos = numeros.flatMap((numero) => {
        const asked = numero % 5 === 0 ? numero + 100 : numero;
        return [SOLICITACAO, DEFERIMENTO, CANCELAMENTO].map((one) => toShare({ numero: asked, ...one }));
      });
      const faults = Object.keys(FALTAS).map((name) => [name, 0.04]);
      const { status } = await ajustar(simulador, '/faltas', {
        ...Object.fromEntries(faults),
        ...{ semente, atraso_ms: 30, perdida_ms: 200, enorme_bytes: 300_000, nota_desconhecida: 1 },
      });
      assert.equal(status, 200);
      const adn = client();
      const decided = new Map<string, string>();
      const unknown = new Map<string, number>();
      const announced = new Set<string>();
      const asked = (): EventoToShare[] => eventos.filter(({ id }) => announced.has(id) && !decided.has(id));
      for (let round = 0; decided.size < eventos.length; round += 1) {
        assert.ok(round < 300, `${decided.size} of ${eventos.length} decided`);
        const found = await adn.findEventos('alfa', asked());
        for (const [id, { kind }] of found) if (kind === 'known') decided.set(id, 'accepted');
        const uncertain = new Set([...found].flatMap(([id, { kind }]) => (kind === 'unavailable' ? [id] : [])));
        // The worker's rule: nothing is sent for a note while one of its events is in doubt.
        const doubtful = new Set(eventos.flatMap((one) => (uncertain.has(one.id) ? [one.chave_acesso] : [])));
        const lot = eventos.filter((one) => !decided.has(one.id) && !doubtful.has(one.chave_acesso));
        for (const { id } of lot) announced.add(id);
        for (const [id, answer] of await adn.shareEventos('alfa', lot)) decide(id, answer);
      }

      function decide(id: string, answer: EventoAnswer): void {
        if (answer.kind === 'accepted' || answer.kind === 'refused') decided.set(id, answer.kind);
        if (answer.kind !== 'note_unknown') return;
        // Each of a note's three events gets this false answer once, and so do the events after it.
        unknown.set(id, (unknown.get(id) ?? 0) + 1);
        if (unknown.get(id) === 4) decided.set(id, answer.kind);
      }

      await ajustar(simulador, '/faltas', { ...Object.fromEntries(faults.map(([name]) => [name, 0])) });
      const { body } = await controle(simulador, '/eventos?limite=1000');
      const held = body.eventos.map(({ id }: Seen) => id);
      assert.deepEqual((await estado()).eventos_em_dobro, []);
      assert.equal(new Set(held).size, held.length);
      const accepted = [...decided].flatMap(([id, kind]) => (kind === 'accepted' ? [id] : []));
      assert.deepEqual(held.toSorted(), accepted.toSorted(), 'what is held is what was told to be accepted');
      for (const [id, kind] of decided) {
        const isThere = id.startsWith(`EVT${chaveDe(1).slice(0, 23)}`) && Number(id.slice(26, 39)) <= 15;
        const expected = !isThere ? 'note_unknown' : id.includes('101101001') ? 'refused' : 'accepted';
        assert.equal(kind, expected, id);
      }
    });
  }
});
