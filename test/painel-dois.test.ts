/** Two clerks with the same form open: neither overwrites the other in silence. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { enter, makeUsuario, type Pessoa, startTestPainel } from './support/painel.ts';
import { startTestService } from './support/service.ts';

const service = await startTestService({ worker: false });
const painel = await startTestPainel(service);
const M = '/m/integracao';

let ana: Pessoa;
let bia: Pessoa;
before(async () => {
  ana = await enter(painel, await makeUsuario(painel, 'ana', { integracao: 'administracao' }));
  bia = await enter(painel, await makeUsuario(painel, 'bia', { integracao: 'administracao' }));
});

/** The fields of the form of the page, as a browser would send them. */
function readFields(html: string): Record<string, string> {
  const decode = (text: string): string =>
    text.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&lt;', '<').replaceAll('&amp;', '&');
  const [inside = ''] = /<main[\s\S]*<\/main>/.exec(html) ?? [];
  const inputs = [...inside.matchAll(/<input\b[^>]*>/g)].flatMap(([tag]) => {
    const name = /name="([^"]*)"/.exec(tag)?.[1];
    if (name === undefined || name === 'formulario') return [];
    return [[name, decode(/value="([^"]*)"/.exec(tag)?.[1] ?? '')] as const];
  });
  const choices = [...inside.matchAll(/<select\b[^>]*name="([^"]*)"[\s\S]*?<\/select>/g)].map(
    ([tag, name]) => [name!, /<option value="([^"]*)" selected/.exec(tag)?.[1] ?? ''] as const,
  );
  return Object.fromEntries([...inputs, ...choices]);
}

async function told(page: string, first: Record<string, string>, second: Record<string, string>) {
  const [hers, mine] = [await ana.open(page), await bia.open(page)];
  assert.deepEqual([hers.status, mine.status], [200, 200]);
  const action = /<form[^>]*method="post"[^>]*action="([^"]*)"/.exec(hers.html.slice(hers.html.indexOf('<main')))![1]!;
  const saved = await ana.send(action, { ...readFields(hers.html), ...first });
  assert.equal(saved.status, 200, saved.html);
  const stopped = await bia.send(action, { ...readFields(mine.html), ...second });
  assert.equal(stopped.status, 409, stopped.html);
  assert.match(stopped.html, /outra pessoa alterou/);
  return { action, stopped };
}

describe('two clerks', () => {
  test('the settings of the municipality', async () => {
    const page = `${M}/municipio/alterar`;
    const { action, stopped } = await told(
      page,
      { limitePrestador: '77' },
      { limiteEndereco: '55', motivo: 'mutirão' },
    );
    assert.match(stopped.html, /: era vazio, agora é 77|agora é 77/);
    const fields = readFields(stopped.html);
    assert.deepEqual([fields['limitePrestador'], fields['limiteEndereco']], ['77', '55'], 'both stand in the form');
    const again = await bia.send(action, fields);
    assert.match(again.html, /O município foi alterado/);
    const { rows } = await service.pool.query(
      "select limite_prestador, limite_endereco from municipios where tenant = 'integracao'",
    );
    assert.deepEqual(rows, [{ limite_prestador: 77, limite_endereco: 55 }]);
  });

  test('a provider', async () => {
    const page = `${M}/cadastros/prestador/11222333000181/alterar?inscricao=1`;
    await ana.open(`${M}/cadastros/prestadores/novo`);
    const made = await ana.send(`${M}/cadastros/prestadores/novo`, {
      documento: '11222333000181',
      razao_social: 'Oficina São Jorge',
      inscricao_municipal: '1',
      autorizado: 'sim',
      simples_inicio: '',
      simples_fim: '',
    });
    assert.equal(made.status, 200, made.html);
    const { action, stopped } = await told(page, { fone: '1133334444' }, { email: 'oficina@exemplo.com.br' });
    assert.match(stopped.html, /era vazio, agora é 1133334444/);
    await bia.send(action, readFields(stopped.html));
    const { rows } = await service.pool.query(
      "select fone, email from prestadores where tenant = 'integracao' and documento = '11222333000181'",
    );
    assert.deepEqual(rows, [{ fone: '1133334444', email: 'oficina@exemplo.com.br' }]);
  });

  test('a line of a list', async () => {
    const list = `${M}/cadastros/lista/beneficios`;
    await ana.open(`${M}/cadastros/linha/beneficios`);
    const line = { numero: '35503080400001', descricao: 'Tecnologia', tipo: 'reducao_percentual', reducao: '10' };
    const made = await ana.send(`${M}/cadastros/linha/beneficios`, {
      ...line,
      inicio: '2026-01-01',
      fim: '2026-12-31',
    });
    assert.equal(made.path, list, made.html);
    const page = /href="([^"]*linha\/beneficios\?id=[^"]*)"/.exec(made.html)![1]!.replaceAll('&amp;', '&');
    const { action, stopped } = await told(page, { reducao: '20' }, { descricao: 'Tecnologia e ensino' });
    assert.match(stopped.html, /agora é 20/);
    const done = await bia.send(action, readFields(stopped.html));
    assert.ok(done.html.includes('20,00') || done.html.includes('20.00'), done.html);
    assert.match(done.html, /Tecnologia e ensino/);
  });

  test('a form that comes back untouched by others is saved at once', async () => {
    const page = `${M}/municipio/alterar`;
    const { html } = await bia.open(page);
    const saved = await bia.send(page, { ...readFields(html), limitePrestador: '66' });
    assert.match(saved.html, /O município foi alterado/);
  });
});
