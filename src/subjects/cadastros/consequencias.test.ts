/** A changed list tells what it would have done to the notes of the last days, before it is stored. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { nfseHere } from '../../../test/support/cli.ts';
import { request } from '../../../test/support/http.ts';
import { freshFolder } from '../../../test/support/openssl.ts';
import { enter, makeUsuario, startTestPainel } from '../../../test/support/painel.ts';
import type { Said } from '../../../test/support/process.ts';
import { startTestService } from '../../../test/support/service.ts';
import { exampleXml } from '../../fiscal/rules/example.ts';

const service = await startTestService({ worker: false });
const painel = await startTestPainel(service);
const { address, pool, world, clock } = service;
const folder = freshFolder();

let towns = 0;

/** A rehearsal of São Paulo with notes of this service and of no other. */
async function town(notas: number): Promise<string> {
  towns += 1;
  const slug = `lista${towns}`;
  const settings = ['--ibge', '3550308', '--ambiente', 'homologacao', '--sem-exigir-numero'];
  const made = await nfseHere(['municipio', 'criar', slug, ...settings], pool, false, address, world.now);
  assert.equal(made.code, 0, made.err);
  for (let nota = 0; nota < notas; nota += 1) await issue(slug);
  return slug;
}

let last = 0;
async function issue(slug: string): Promise<void> {
  last += 1;
  const init = {
    method: 'POST',
    headers: { 'Content-Type': 'application/xml' },
    body: exampleXml({ nDPS: String(last), 'serv/cServ/cTribNac': '010101' }),
  };
  const { status, body } = await request(address, `/${slug}/api/v1/nfse/v101`, init);
  assert.equal(status, 201, JSON.stringify(body));
}

const HEAD = 'codigo,descricao,codigo_tributacao_nacional,aliquota,inicio,fim';

function importList(slug: string, lines: readonly string[], ...more: readonly string[]): Promise<Said> {
  const file = path.join(folder, 'servicos.csv');
  writeFileSync(file, `${[HEAD, ...lines].join('\n')}\n`);
  return nfseHere(['servicos', 'importar', file, '--municipio', slug, ...more], pool, false, address, world.now);
}

async function linesOf(slug: string): Promise<number> {
  const text = 'select count(*)::int as n from servicos_municipais where tenant = $1';
  return (await pool.query<{ n: number }>(text, [slug])).rows[0]!.n;
}

const REFUSED =
  /Com esta lista, 2 das 2 notas dos últimos 30 dias seriam recusadas: o código do serviço não estaria na lista em 2 \(E0310\)\. Serviços: 01\.01\.01 – Análise e desenvolvimento de sistemas; prestadores: 1\./;

describe('a list of services', () => {
  test('that would have refused notes says how many, and is stored once that is confirmed', async () => {
    const slug = await town(2);
    const lines = ['001,Consultoria,170101,5.00,2020-01-01,'];
    const preview = await importList(slug, lines, '--previa');
    assert.match(preview.err, REFUSED);
    const asked = await importList(slug, lines);
    assert.equal(asked.code, 1);
    assert.match(asked.err, REFUSED);
    assert.equal(await linesOf(slug), 0);
    await issue(slug);
    const sure = await importList(slug, lines, '--confirmar');
    assert.equal(sure.code, 0, sure.err);
    assert.equal(await linesOf(slug), 1);
  });

  test('that ends a service today says so; one that changes nothing asks nothing', async () => {
    const slug = await town(2);
    const open = '001,Análise,010101,,2020-01-01,';
    assert.equal((await importList(slug, [open])).code, 0);
    const ended = await importList(slug, ['001,Análise,010101,,2020-01-01,2020-12-31']);
    assert.match(ended.err, REFUSED);
    const again = await importList(slug, [open]);
    assert.deepEqual([again.code, again.err], [0, '']);
  });

  test('with another rate says how many notes it would have reckoned otherwise', async () => {
    const slug = await town(2);
    const asked = await importList(slug, ['001,Análise,010101,3.33,2020-01-01,']);
    assert.match(
      asked.err,
      /Com esta lista, 2 das 2 notas dos últimos 30 dias teriam outro ISSQN\. Serviços: 01\.01\.01 – Análise e desenvolvimento de sistemas; prestadores: 1\./,
    );
  });

  test('counts no code that refuses a note without the list too', async () => {
    const slug = await town(2);
    assert.equal((await importList(slug, ['001,Consultoria,170101,5.00,2020-01-01,'], '--confirmar')).code, 0);
    const other = await importList(slug, ['002,Assessoria,170102,5.00,2020-01-01,']);
    assert.deepEqual([other.code, other.err], [0, '']);
  });

  test('looks at the last thirty days alone', async () => {
    const slug = await town(2);
    clock.now += 31 * 86_400_000;
    const said = await importList(slug, ['001,Consultoria,170101,5.00,2020-01-01,']);
    assert.deepEqual([said.code, said.err], [0, '']);
  });

  test('in the console: the line of a form, and the button that stores it all the same', async () => {
    const slug = await town(2);
    const operadora = await enter(painel, await makeUsuario(painel, 'olga', { [slug]: 'operacao' }));
    const line = {
      codigo: '001',
      descricao: 'Consultoria',
      codigo_tributacao_nacional: '170101',
      aliquota: '5,00',
      inicio: '2020-01-01',
    };
    const at = `/m/${slug}/cadastros/linha/servicos`;
    await operadora.open(at);
    const asked = await operadora.send(at, line);
    assert.match(asked.html, REFUSED);
    assert.match(asked.html, /<button[^>]*>Gravar assim mesmo<\/button>/);
    assert.equal(await linesOf(slug), 0);
    await operadora.send(at, { ...line, confirmado: 'sim' });
    assert.equal(await linesOf(slug), 1);
  });
});

/** A sentence about all notes of the last days, of which some have these codes. */
const refusedBy = (com: string, whose: string, codigo: string): RegExp =>
  new RegExp(`${com}, 2 das 2 notas${whose} dos últimos 30 dias seriam recusadas: [^:.]* em 2 \\(${codigo}\\)\\.`);

describe('a line that is removed', () => {
  test('asks again where notes would have been refused without it, and not where none would', async () => {
    const slug = await town(2);
    const other = '002,Consultoria,170101,5.00,2020-01-01,';
    assert.equal((await importList(slug, ['001,Análise,010101,,2020-01-01,', other])).code, 0);
    const operadora = await enter(painel, await makeUsuario(painel, `ruth-${slug}`, { [slug]: 'operacao' }));
    const remove = async (id: string, more = {}) => {
      await operadora.open(`/m/${slug}/cadastros/linha/servicos?id=${encodeURIComponent(id)}`);
      return operadora.send(`/m/${slug}/cadastros/retirar/servicos`, { id, motivo: 'engano', ...more });
    };
    const asked = await remove('001 2020-01-01');
    assert.match(asked.html, refusedBy('Sem esta linha', '', 'E0310'));
    assert.match(asked.html, /name="confirmado" value="sim"/);
    assert.equal(await linesOf(slug), 2);
    assert.match((await remove('002 2020-01-01')).html, /A linha foi retirada/);
    assert.match((await remove('001 2020-01-01', { confirmado: 'sim' })).html, /A linha foi retirada/);
    assert.equal(await linesOf(slug), 0);
  });
});

describe('a provider', () => {
  const PROVIDER = '11222333000181';
  /** A town that asks for registration, with the provider of its two notes, and another one without notes. */
  async function registered(): Promise<string> {
    towns += 1;
    const slug = `cadastro${towns}`;
    await world.store.municipios.create({ tenant: slug, ambiente: 'homologacao', codigoIbge: '3550308' }, clock.now);
    await pool.query('update municipios set exige_cadastro = true where tenant = $1', [slug]);
    for (const [documento, nome] of [
      [PROVIDER, 'Empresa Exemplo Ltda'],
      ['11444777000161', 'Outra Ltda'],
    ] as const) {
      const made = await command(slug, 'cadastrar', documento, '--razao-social', nome);
      assert.equal(made.code, 0, made.err);
    }
    for (let nota = 0; nota < 2; nota += 1) await issue(slug);
    return slug;
  }
  const command = (slug: string, ...words: readonly string[]): Promise<Said> =>
    nfseHere(['prestador', ...words, '--municipio', slug], pool, false, address, world.now);
  const countOf = async (slug: string): Promise<number> =>
    (await pool.query<{ n: number }>('select count(*)::int as n from prestadores where tenant = $1', [slug])).rows[0]!
      .n;

  test('that is removed says how many of its notes would have been refused, and goes once that is confirmed', async () => {
    const slug = await registered();
    const asked = await command(slug, 'retirar', PROVIDER, '--motivo', 'engano');
    assert.equal(asked.code, 1);
    assert.match(asked.err, refusedBy('Sem este cadastro', ' deste prestador', 'E101'));
    assert.equal(await countOf(slug), 2);
    const none = await command(slug, 'retirar', '11444777000161', '--motivo', 'engano');
    assert.deepEqual([none.code, none.err], [0, '']);
    const sure = await command(slug, 'retirar', PROVIDER, '--motivo', 'engano', '--confirmar');
    assert.equal(sure.code, 0, sure.err);
    assert.equal(await countOf(slug), 0);
  });

  test('in the console: its removal, and a change that its notes contradict, ask again', async () => {
    const slug = await registered();
    const operadora = await enter(painel, await makeUsuario(painel, `vera-${slug}`, { [slug]: 'operacao' }));
    const at = `/m/${slug}/cadastros/prestador/${PROVIDER}`;
    await operadora.open(at);
    const removal = await operadora.send(`${at}/retirar`, { motivo: 'engano' });
    assert.match(removal.html, refusedBy('Sem este cadastro', ' deste prestador', 'E101'));
    assert.match(removal.html, /name="motivo" value="engano"/);
    assert.match(removal.html, /<button class="grave">Retirar do cadastro assim mesmo<\/button>/);
    await operadora.open(`${at}/alterar`);
    const cells = { inscricao_municipal: '', razao_social: 'Empresa Exemplo Ltda', autorizado: 'nao' };
    const change = await operadora.send(`${at}/alterar`, cells);
    assert.match(change.html, refusedBy('Com esta mudança', ' deste prestador', 'E102'));
    assert.match(change.html, /<button>Gravar assim mesmo<\/button>/);
    assert.match(
      (await operadora.send(`${at}/alterar`, { ...cells, autorizado: 'sim' })).html,
      /O cadastro foi gravado/,
    );
    assert.match(
      (await operadora.send(`${at}/alterar`, { ...cells, confirmado: 'sim' })).html,
      /O cadastro foi gravado/,
    );
    await operadora.open(at);
    assert.match((await operadora.send(`${at}/retirar`, { motivo: 'engano', confirmado: 'sim' })).html, /foi retirado/);
    assert.equal(await countOf(slug), 1);
  });
});
