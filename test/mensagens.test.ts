/** Messages that a client can follow literally: the answers to well-meant requests, each said once. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { ROUTES } from '../src/doors/rest/routes.ts';
import { exampleJson } from '../src/fiscal/rules/example.ts';
import { COMERCIO_EXTERIOR } from '../src/fiscal/rules/toma.ts';
import { SPECIFIED_CATALOGS } from './support/catalogos.ts';
import { type Answer, request } from './support/http.ts';
import { NO_SUCH_KEY } from './support/notas.ts';
import { startTestService } from './support/service.ts';

const { address } = await startTestService();
const API = '/integracao/api/v1';
const JSON_TYPE = { 'Content-Type': 'application/json' };

const post = (path: string, body: unknown): Promise<Answer> =>
  request(address, API + path, { method: 'POST', headers: JSON_TYPE, body: JSON.stringify(body) });
const emit = (body: unknown): Promise<Answer> => post('/nfse/v101', body);
const ask = (path: string): Promise<Answer> => request(address, path);

const BODY = JSON.parse(exampleJson()!);

const said = ({ body }: Answer): readonly string[] => body.erros.map(({ mensagem }: { mensagem: string }) => mensagem);

describe('an address abroad written flat', () => {
  const rest = { logradouro: 'Rua Augusta', numero: '10', bairro: 'Baixa' };
  const spellings = [
    { pais: 'PT', codigo_postal: '1100-148', cidade: 'Lisboa', estado: 'Lisboa' },
    { codigo_pais: 'PT', codigo_enderecamento_postal: '1100-148', nome_cidade: 'Lisboa', provincia: 'Lisboa' },
    { cPais: 'PT', cEndPost: '1100-148', xCidade: 'Lisboa', xEstProvReg: 'Lisboa' },
  ];
  for (const flat of spellings) {
    test(`${Object.keys(flat).join(', ')}: each is told its place, and moved there the note is issued`, async () => {
      const abroad = JSON.parse(exampleJson({ 'toma/CPF': null, 'toma/NIF': 'PT123456789', ...COMERCIO_EXTERIOR })!);
      const answer = await emit({ ...abroad, tomador_endereco: { ...rest, ...flat } });
      assert.equal(answer.status, 422);
      const exterior: Record<string, string> = {};
      for (const { campo, esperado, codigo, mensagem } of answer.body.erros) {
        assert.equal(codigo, 'E0010', mensagem);
        assert.match(mensagem, /no exterior ele fica em tomador_endereco\.exterior\./);
        const [, , name] = esperado.split('.');
        exterior[name] = flat[campo.split('.')[1] as keyof typeof flat]!;
      }
      assert.equal(Object.keys(exterior).length, 4);
      const mended = await emit({ ...abroad, tomador_endereco: { ...rest, exterior } });
      assert.equal(mended.status, 201, JSON.stringify(mended.body));
    });
  }

  test('a country that is Brazil is not abroad', async () => {
    const answer = await emit({ ...BODY, tomador_endereco: { ...BODY.tomador_endereco, pais: 'BR' } });
    assert.deepEqual(said(answer), [
      'pais não é um campo de tomador_endereco: um endereço no Brasil não traz país; retire-o.',
    ]);
  });
});

describe('an unknown name', () => {
  test('in a small group names the names, and the group is not also empty', async () => {
    const answer = await emit({ ...BODY, beneficio_municipal: { zzz: 1 } });
    assert.deepEqual(said(answer), [
      'zzz não é um campo de beneficio_municipal: retire-o, ou use um dos nomes que existem ali: numero, valor_reducao, percentual_reducao.',
    ]);
  });

  test('two hundred of them tell the list of names once', async () => {
    const answer = await emit(Object.fromEntries(Array.from({ length: 200 }, (_, place) => [`q${place}x`, 1])));
    const lists = answer.body.erros.filter(({ esperado }: { esperado?: string }) =>
      esperado?.includes('versao_aplicativo'),
    );
    assert.equal(lists.length, 1);
    assert.ok(lists[0].esperado.includes('valor_servico'));
  });

  test('in XML and in an event too', async () => {
    const tags = Array.from({ length: 50 }, (_, place) => `<q${place}x>1</q${place}x>`).join('');
    const xml = `<DPS xmlns="http://www.sped.fazenda.gov.br/nfse" versao="1.01"><infDPS Id="DPS1">${tags}</infDPS></DPS>`;
    const ofXml = await request(address, `${API}/nfse/v101`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/xml' },
      body: xml,
    });
    const { body } = await emit(BODY);
    const ofEvento = await post(`/nfse/${body.chave_acesso}/eventos`, {
      tipo_evento: 'confirmacao_tomador',
      ...Object.fromEntries(Array.from({ length: 50 }, (_, place) => [`q${place}x`, '1'])),
    });
    for (const answer of [ofXml, ofEvento]) {
      const long = answer.body.erros.flatMap(({ esperado }: { esperado?: string }) => esperado ?? []);
      const repeated = long.filter((one: string, place: number) => one.length > 120 && long.indexOf(one) < place);
      assert.ok(answer.body.erros.length >= 50);
      assert.deepEqual(repeated, []);
    }
  });
});

describe('the envelope of the national API', () => {
  test('is told in one sentence, on a note and on an event', async () => {
    const [first, ...others] = said(await emit({ dpsXmlGZipB64: 'H4sIAAAA', outra: 1 }));
    assert.match(first!, /^dpsXmlGZipB64 é o envelope da API do ambiente nacional.*Content-Type: application\/xml/);
    assert.deepEqual(others, []);
    const { body } = await emit(BODY);
    const evento = await post(`/nfse/${body.chave_acesso}/eventos`, { pedidoRegistroEventoXmlGZipB64: 'H4sIAAAA' });
    assert.equal(evento.body.erros.length, 1);
    assert.match(evento.body.mensagem, /registra pelos campos dele em JSON: tipo_evento/);
  });
});

describe('an event as the national API takes it', () => {
  const xml = `<pedRegEvento xmlns="http://www.sped.fazenda.gov.br/nfse" versao="1.01"><infPedReg Id="PRE"><chNFSe>1</chNFSe></infPedReg></pedRegEvento>`;
  const packed = gzipSync(xml);
  const base64 = packed.toString('base64');
  const MIGRAR = /\/docs\/migrar/;
  type Row = readonly [what: string, type: string, body: string | Buffer, status: number, codigo: string];
  const rows: readonly Row[] = [
    ['XML', 'application/xml', xml, 400, 'E003'],
    ['XML as text', 'text/xml; charset=utf-8', `<?xml version="1.0" encoding="UTF-8"?>${xml}`, 400, 'E003'],
    ['XML announced as JSON', 'application/json', xml, 400, 'E003'],
    ['XML after a byte order mark', 'application/json', `\ufeff${xml}`, 400, 'E003'],
    ['gzip', 'application/gzip', packed, 400, 'E003'],
    ['gzip announced as JSON', 'application/json', packed, 400, 'E003'],
    ['Base64 as text', 'text/plain', base64, 400, 'E003'],
    ['Base64 announced as JSON', 'application/json', base64, 400, 'E003'],
    ['Base64 as a JSON text', 'application/json', JSON.stringify(base64), 400, 'E003'],
    ['a form', 'application/x-www-form-urlencoded', `xml=${encodeURIComponent(xml)}`, 400, 'E003'],
    ['the envelope', 'application/json', JSON.stringify({ pedidoRegistroEventoXmlGZipB64: base64 }), 422, 'E0010'],
    ['the groups as JSON', 'application/json', '{"pedRegEvento":{"infPedReg":{"chNFSe":"1"}}}', 422, 'E0010'],
    ['the inner group as JSON', 'application/json', '{"infPedReg":{"chNFSe":"1"}}', 422, 'E0010'],
  ];
  const send = (path: string, type: string, body: string | Buffer): Promise<Answer> =>
    request(address, API + path, { method: 'POST', headers: { 'Content-Type': type }, body: body as BodyInit });

  test('is told the one way, whatever it is packed in, and is led to the page that turns it into JSON', async () => {
    const { body: nota } = await emit(BODY);
    for (const path of [`/nfse/${nota.chave_acesso}/eventos`, `/nfse/protocolo/${nota.numero_protocolo}/eventos`]) {
      for (const [what, type, body, status, codigo] of rows) {
        const answer = await send(path, type, body);
        assert.deepEqual([answer.status, answer.body.codigo_erro], [status, codigo], what);
        assert.equal(answer.body.erros.length, 1, what);
        assert.match(answer.body.mensagem, MIGRAR, what);
      }
    }
  });

  test('at the address of the notes is told where events are registered', async () => {
    const answer = await send('/nfse/v101', 'application/xml', xml);
    assert.deepEqual([answer.status, answer.body.codigo_erro], [422, 'E203']);
    assert.match(answer.body.mensagem, /\/nfse\/\{chave_acesso\}\/eventos; \/docs\/migrar/);
    for (const body of [packed, base64]) {
      const wrapped = await send('/nfse/v101', 'application/json', body);
      assert.deepEqual([wrapped.status, wrapped.body.codigo_erro], [400, 'E003']);
      assert.match(wrapped.body.mensagem, /um gzip.*\/docs\/migrar/);
    }
  });
});

describe('an address that does not exist, under a municipality', () => {
  const near: readonly (readonly [asked: string, told: RegExp])[] = [
    ['/nfses', /POST \/\{municipio\}\/api\/v1\/nfse\/v101/],
    ['/nfse/v101/validar', /POST \/\{municipio\}\/api\/v1\/nfse\/v101\/validacao/],
    ['/prestador/11222333000181', /GET \/\{municipio\}\/api\/v1\/prestadores\/\{documento\}\/situacao/],
    [`/nfse/${'1'.repeat(50)}/evento`, /\/nfse\/\{chave_acesso\}\/eventos/],
    ['/danfe/1', /GET \/\{municipio\}\/api\/v1\/danfse\/\{chave_acesso\}/],
  ];
  for (const [asked, told] of near) {
    test(`${asked} is told what is near`, async () => {
      const { status, body } = await ask(API + asked);
      assert.deepEqual([status, body.codigo_erro], [404, 'E601']);
      assert.match(body.mensagem, told);
      assert.doesNotMatch(body.mensagem, /api\/v1\/nfse,/, 'the address that is closed is recommended to nobody');
    });
  }

  for (const asked of [`${API}/catalogo/x`, `${API}/catalogo`, `${API}/catalogos/nbs`, '/integracao/catalogo/nbs']) {
    test(`${asked} is told all catalogs`, async () => {
      const { mensagem } = (await ask(asked)).body;
      const catalogs = [...mensagem.matchAll(/\/catalogo\/([a-z_]+)/g)].map(([, name]) => name);
      const announced = ROUTES.flatMap(({ path }) => /\/catalogo\/([a-z_]+)$/.exec(path)?.[1] ?? []);
      assert.deepEqual(catalogs.toSorted(), announced.toSorted());
      for (const nome of SPECIFIED_CATALOGS) assert.ok(catalogs.includes(nome), nome);
    });
  }

  test('who sends a note where keys are asked for is told where notes go', async () => {
    const { status, body } = await emit(BODY).then(() => post('/nfse/v102', BODY));
    assert.equal(status, 405);
    assert.match(body.mensagem, /perto: POST \/\{municipio\}\/api\/v1\/nfse\/v101/);
    assert.match((await ask(`${API}/nfse/emitir`)).body.mensagem, /A emissão é POST .*\/nfse\/v101/);
  });
});

describe('a key with something around it', () => {
  const chave = NO_SUCH_KEY;
  const written: readonly (readonly [string, RegExp])[] = [
    [`NFS${chave}`, /retire as letras NFS do começo\.$/],
    [chave.replace(/(.{4})/g, '$1 ').trim(), /retire os espaços\.$/],
    [chave.replace(/(.{10})/g, '$1.'), /retire os pontos, traços e barras\.$/],
    [`NFSe ${chave}`, /retire as letras NFS do começo e os espaços\.$/],
  ];
  for (const [text, told] of written) {
    test(`${text} is told what to take away`, async () => {
      const { body } = await ask(`${API}/nfse/${encodeURIComponent(text)}`);
      assert.match(body.mensagem, told);
      assert.ok(body.mensagem.includes(chave));
    });
  }
});

test('what is missing keeps the capitals of a name', async () => {
  const { prestador_opcao_simples_nacional: _, ...rest } = BODY;
  assert.deepEqual(said(await emit(rest)), [
    'Falta prestador_opcao_simples_nacional: Simples Nacional: 1 não optante, 2 MEI, 3 ME/EPP.',
  ]);
});

test('a text of an event that was read in another encoding is remarked on, at its field', async () => {
  const { body } = await emit(BODY);
  const { status, body: evento } = await post(`/nfse/${body.chave_acesso}/eventos`, {
    tipo_evento: 'cancelamento',
    codigo_motivo_cancelamento: '1',
    descricao_motivo_cancelamento: 'ServiÃ§o informado com erro',
  });
  assert.equal(status, 201);
  assert.deepEqual(
    evento.avisos.map(({ codigo, campo }: { codigo: string; campo: string }) => [codigo, campo]),
    [['E0003', 'descricao_motivo_cancelamento']],
  );
  assert.match(evento.avisos[0].mensagem, /é "Serviço"\?/);
});
