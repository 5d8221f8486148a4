/** Hostile input in every field and address of the console, and hostile names in its registries and notes. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { SALAS } from '../src/base/world/lugares.ts';
import { NOMES_DE_FILTROS } from '../src/subjects/notas/filtros.ts';
import { balcao, bancada } from './support/eventos.ts';
import { enter, makeUsuario, type Pessoa, startTestPainel } from './support/painel.ts';
import { startTestService } from './support/service.ts';

const service = await startTestService({ worker: false });
const painel = await startTestPainel(service);
const { store, pool, world, address } = service;
const integracao = balcao(address);
const at = (where: string): string => `/m/integracao${where}`;

/** Ends of strings, comments, other statements, patterns, octets that no database accepts, and far too long texts. */
const SQL = [
  `' or '1'='1`,
  `'; drop table notas; --`,
  `" union select senha from contas --`,
  `1) or true --`,
  `%' and pg_sleep(10) is null and '%'='`,
  `\\'; select 1; --`,
  '%%%___',
  '\u0000',
  '\ud800',
  '$1::text',
  '{"$ne": null}',
  '../../../etc/passwd',
  'A'.repeat(20_000),
  ...['__proto__', 'constructor', 'toString'],
];

/** Days, months, values and identifiers at the edges of their kinds, and beyond. */
const EDGES = [
  ...['0000-01-01', '0001-01-01', '2026-02-31', '9999-12-31', '01/01/0000', '31/02/2026', '31/12/9999'],
  ...['0000-01', '0001-01', '9999-12', '2026-13', '0000-01/9999-12', '12/9999', '1999-12', '2000-01'],
  ...['R$ 99999999999999999,99', '99999999999999999.99', '-1', '1e309', '0,00', 'R$ 999999999999999,99'],
  ...['ffffffff-ffff-7fff-bfff-ffffffffffff', '00000000-0000-7000-8000-000000000000'],
  ...['9'.repeat(34), '0'.repeat(34), '9'.repeat(50), '9'.repeat(18), '000000-0-0', '999999-999999999999999-9'],
  ...['-', '0'].map((one) => `999999999999999_${one.repeat(36)}`),
];

const MARKUP = [`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `' autofocus onfocus=alert(1) x='`];
const NASTY = MARKUP.join(' ').slice(0, 150);

let chefe: Pessoa;
before(async () => {
  chefe = await enter(painel, await makeUsuario(painel, 'clara', { integracao: 'administracao' }));
  await integracao.issue({ 'toma/xNome': NASTY.slice(0, 110), 'prest/xNome': NASTY.slice(0, 110) });
  await bancada(world).notas();
  while (await store.nomes.learn(0, SALAS.nomes));
});

/** Pages that search by their input, and the searched field. */
const SEARCHES: Readonly<Record<string, readonly string[]>> = {
  '/notas': [...NOMES_DE_FILTROS, ...['q', 'ordem', 'depois']],
  '/eventos': ['procurar', 'nota', 'estado', 'codigo', 'partes', 'pagina'],
  '/eventos/oficio': ['chave', 'tipo'],
  '/cadastros/prestadores': ['procurar', 'situacao', 'depois'],
  '/cadastros/lista/servicos': ['procurar', 'de'],
  '/cadastros/lista/correlacao': ['procurar', 'de'],
  '/cadastros/linha/servicos': ['id'],
  '/trilha': ['quem', 'objeto', 'chave', 'de', 'ate', 'depois'],
  '/hoje': ['tabela'],
  '/tokens': ['documento'],
  '/mes': ['mes', 'visao'],
  '/mes/planilha': ['mes', 'visao', 'tabela'],
  '/mes/grafico': ['mes', 'visao', 'grafico'],
  '/pendencias': ['tipo', 'de'],
  '/pendencia': ['tipo', 'chave'],
};

describe('what is written into a search', () => {
  for (const [where, names] of Object.entries(SEARCHES)) {
    test(`${where} looks for it as a text, and shows it as one`, async () => {
      for (const name of names) {
        for (const text of [...SQL, ...MARKUP, ...EDGES]) {
          const { status, html } = await chefe.open(
            at(`${where}?${new URLSearchParams({ [name]: text.slice(0, 1_500) })}`),
          );
          assert.ok([200, 400, 404, 422].includes(status), `${where} ${name}=${text.slice(0, 30)}: ${status}`);
          assert.ok(!html.includes('<script>alert') && !html.includes('<img src=x') && !html.includes(`' onfocus`));
          assert.doesNotMatch(html, /syntax error|PostgreSQL|at file:|node:internal/);
        }
      }
      assert.equal((await pool.query('select count(*)::int as n from notas')).rows[0].n, 1);
    });
  }
});

test('what is written into an address is looked for as a text', async () => {
  for (const text of [...SQL, ...MARKUP].map((one) => encodeURIComponent(one.toWellFormed().slice(0, 500)))) {
    for (const where of [
      `/notas/${text}`,
      `/notas/${text}/nfse`,
      `/evento/${text}`,
      `/cadastros/prestador/${text}`,
      `/cadastros/lista/${text}`,
      `/cadastros/importacao/${text}`,
      `/cadastros/exportar/${text}`,
      `/exportacoes/${text}/arquivo`,
      `/avisos/${text}`,
      `/avisos/${text}/alterar`,
      `/tokens/${text}`,
    ]) {
      const { status } = await chefe.open(at(where));
      assert.ok([400, 404, 414, 422].includes(status), `${where.slice(0, 60)}: ${status}`);
    }
  }
});

test('what is written into a form of a register is refused or kept as a text', async () => {
  for (const text of [...SQL, ...MARKUP]) {
    await chefe.open(at('/cadastros/linha/servicos'));
    const cells = { codigo: '001', descricao: text, codigo_tributacao_nacional: '010101', inicio: '2026-01-01' };
    const { status, html } = await chefe.send(at('/cadastros/linha/servicos'), cells);
    assert.ok([200, 422].includes(status), `${text.slice(0, 30)}: ${status}`);
    assert.ok(!html.includes('<script>alert') && !html.includes('<img src=x'));
    for (const { codigo } of await store.listas.list('servicos', 'integracao')) assert.equal(codigo, '001');
    await pool.query('delete from servicos_municipais');
  }
});

test('hostile names in notes and registers are shown as texts, on every page that has them', async () => {
  const [nota] = (await pool.query('select chave_acesso, prestador_razao_social as nome from notas')).rows;
  assert.ok(nota.nome.includes('<script>') || nota.nome.length > 0);
  for (const where of [
    '/notas',
    '/notas?q=script',
    `/notas/${nota.chave_acesso}`,
    '/cadastros/prestadores',
    '/cadastros/prestador/11222333000181',
    '/cadastros/prestador/11222333000181/alterar',
    '/hoje',
  ]) {
    const { status, html } = await chefe.open(at(where));
    assert.equal(status, 200, where);
    assert.ok(!html.includes('<script>alert') && !html.includes('<img src=x'), where);
  }
  const { html } = await chefe.open(at(`/notas/${nota.chave_acesso}`));
  assert.ok(html.includes('&lt;script&gt;alert(1)'), 'it is there, as a text');
});

test('a form of a hundred thousand parts is refused before it is read, and others are answered meanwhile', async () => {
  const { html } = await chefe.open(at('/cadastros/importar/prestadores'));
  const token = /name="formulario" value="([^"]*)"/.exec(html)![1]!;
  const send = async (type: string, body: string): Promise<Response> =>
    fetch(`${painel.origin}${at('/cadastros/importar/prestadores')}`, {
      method: 'POST',
      headers: { Origin: painel.origin, Cookie: chefe.cookie, 'Content-Type': type },
      body,
      redirect: 'manual',
    });
  const part = (name: string, text: string): string =>
    `--limite\r\nContent-Disposition: form-data; name="${name}"; filename="${name}"\r\n\r\n${text}\r\n`;
  const parts = Array.from({ length: 100_000 }, (_, place) => part(`a${place}`, '')).join('');
  for (const type of [
    'multipart/form-data; boundary=limite',
    'multipart/form-data; boundary="limite"',
    'multipart/form-data; a="; boundary=outra"; boundary=limite',
  ]) {
    const answer = await send(type, `${part('formulario', token)}${parts}--limite--\r\n`);
    assert.equal(answer.status, 400, type);
    assert.match(await answer.text(), /as partes dele não são as de um navegador/, type);
  }
});
