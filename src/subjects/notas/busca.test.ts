/** Notes are searched by any known detail in the API, at the terminal and in the console. The result is exported as a file. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { INTERMEDIARIO } from '../../../test/casos/caso.ts';
import { nfseHere } from '../../../test/support/cli.ts';
import { balcao, bancada, CANCELAMENTO, type NotaEmitida } from '../../../test/support/eventos.ts';
import { request } from '../../../test/support/http.ts';
import { NO_SUCH_KEY } from '../../../test/support/notas.ts';
import { freshFolder } from '../../../test/support/openssl.ts';
import { enter, makeUsuario, type Pessoa, startTestPainel } from '../../../test/support/painel.ts';
import { all, call, loteXml } from '../../../test/support/rps.ts';
import { startTestService } from '../../../test/support/service.ts';
import { until } from '../../../test/support/until.ts';
import { SALAS } from '../../base/world/lugares.ts';
import { DAY_MS } from '../../fiscal/moment.ts';
import { exampleXml } from '../../fiscal/rules/example.ts';
import { processLotes } from '../lotes/lotes.job.ts';
import { type BuscaEscrita, searchNotas, searchNotasOf } from './buscar.ts';

const service = await startTestService({ worker: false, clock: { now: Date.parse('2026-10-10T12:00:00-03:00') } });
const { store, clock, pool, world } = service;
const painel = await startTestPainel(service);
const integracao = balcao(service.address);
const vizinha = balcao(service.address, 'vizinha');
const work = bancada(world, 'vizinha');

const INTERMEDIADORA = INTERMEDIARIO['interm/CNPJ']!;
const PADARIA = { 'toma/CPF': null, 'toma/CNPJ': '11444777000161', 'toma/xNome': 'Padaria São João & Filhos' };
const NOTAS = '/m/integracao/notas';
/** Tests change notes of this municipality only, each in a series of its own. */
const VIZINHAS = '/m/vizinha/notas';

const notas: Record<'outubro' | 'maria' | 'padaria' | 'cara' | 'semTomador', NotaEmitida> = {} as never;
let atendente: Pessoa;
let leitor: Pessoa;

before(async () => {
  await store.municipios.create({ tenant: 'vizinha', ambiente: 'homologacao', codigoIbge: undefined }, clock.now);
  notas.outubro = await integracao.issue();
  await vizinha.issue(PADARIA);
  clock.now = Date.parse('2026-11-20T12:00:00-03:00');
  notas.maria = await integracao.issue();
  clock.now += DAY_MS;
  notas.padaria = await integracao.issue({ ...PADARIA, 'valores/vServPrest/vServ': '250.00', dCompet: '2026-11-03' });
  const cara = { 'valores/vServPrest/vServ': '98765.43', 'serv/cServ/cTribNac': '010701' };
  notas.cara = await integracao.issue({ ...INTERMEDIARIO, ...cara });
  notas.semTomador = await integracao.issue({ toma: null, serie: '77', nDPS: '4711' });
  while (await store.nomes.learn(0, SALAS.nomes));
  atendente = await enter(
    painel,
    await makeUsuario(painel, 'tina', { integracao: 'atendimento', vizinha: 'atendimento' }),
  );
  leitor = await enter(painel, await makeUsuario(painel, 'leo', { integracao: 'leitura', vizinha: 'leitura' }));
});

/** The names of the notes that a search finds, in its order. */
async function found(busca: Partial<BuscaEscrita>, slug = 'integracao'): Promise<readonly string[]> {
  const page = await searchNotas(world, slug, busca);
  assert.ok('notas' in page, JSON.stringify(page));
  return page.notas.map(nameOf);
}

function nameOf({ chave_acesso }: { readonly chave_acesso: string }): string {
  return Object.entries(notas).find(([, nota]) => nota.chave_acesso === chave_acesso)?.[0] ?? chave_acesso;
}

const NEWEST_FIRST = ['semTomador', 'cara', 'padaria', 'maria', 'outubro'];

describe('a search finds', () => {
  const cases: readonly [what: string, busca: () => Partial<BuscaEscrita>, names: readonly string[]][] = [
    ['everything, the newest first', () => ({}), NEWEST_FIRST],
    ['everything, the oldest first', () => ({ ordem: 'antigas' }), NEWEST_FIRST.toReversed()],
    ['by key', () => ({ q: notas.maria.chave_acesso }), ['maria']],
    ['by key as people copy it', () => ({ q: ` NFS${notas.maria.chave_acesso.replace(/(.{4})/g, '$1 ')}` }), ['maria']],
    ['by protocol', () => ({ q: notas.cara.numero_protocolo }), ['cara']],
    ['by the Id of the DPS', () => ({ q: 'DPS355030821122233300018100077000000000004711' }), ['semTomador']],
    ['by series and number', () => ({ serie: '77' }), ['semTomador']],
    ['by provider, with its points', () => ({ prestador: '11.222.333/0001-81' }), NEWEST_FIRST],
    ['by taker', () => ({ tomador: '529.982.247-25' }), ['cara', 'maria', 'outubro']],
    ['by intermediary, with its points', () => ({ intermediario: '00.000.000/0001-91' }), ['cara']],
    ['nothing by a provider as intermediary', () => ({ intermediario: '11222333000181' }), []],
    ['by intermediary and taker', () => ({ intermediario: INTERMEDIADORA, tomador: '52998224725' }), ['cara']],
    [
      'nothing by intermediary and another taker',
      () => ({ intermediario: INTERMEDIADORA, tomador: '11444777000161' }),
      [],
    ],
    ['by either, in the field for anything', () => ({ q: '11444777000161' }), ['padaria']],
    ['by part of a name, without accents', () => ({ q: 'padaria joao' }), ['padaria']],
    ['by the beginning of a word', () => ({ q: 'Padar' }), ['padaria']],
    ['by a period, both days inside', () => ({ de: '2026-10-10', ate: '2026-11-20' }), ['maria', 'outubro']],
    ['by competence', () => ({ competencia: '2026-11' }), ['padaria']],
    ['by state', () => ({ estado: 'autorizada' }), []],
    ['by value from', () => ({ valor_de: '1.000,01' }), ['cara']],
    ['by value to', () => ({ valor_ate: '250' }), ['padaria']],
    ['by service', () => ({ servico: '01.07.01' }), ['cara']],
    ['by several at once', () => ({ tomador: '52998224725', de: '2026-11-01', valor_ate: '1000' }), ['maria']],
    ['nothing by a name of nobody', () => ({ q: 'Confeitaria' }), []],
  ];
  for (const [what, busca, names] of cases) test(what, async () => assert.deepEqual(await found(busca()), names));

  test('by a number that stands on it', async () => {
    const page = await searchNotas(world, 'integracao', {});
    assert.ok('notas' in page);
    assert.deepEqual(await found({ numero: page.notas[0]!.numero_dps }), ['semTomador']);
  });

  test('only what is of the municipality', async () => {
    assert.deepEqual(await found({ q: 'padaria' }, 'vizinha').then((names) => names.length), 1);
    assert.deepEqual(await found({ q: notas.padaria.chave_acesso }, 'vizinha'), []);
    assert.deepEqual(await found({ q: notas.padaria.numero_protocolo }, 'vizinha'), []);
    assert.deepEqual(await found({ tomador: '52998224725' }, 'vizinha'), []);
  });

  test('page after page, each note once, in one order, whatever the filter', async () => {
    for (const busca of [
      {},
      { ordem: 'antigas' },
      { tomador: '52998224725' },
      { intermediario: INTERMEDIADORA },
      { q: '11222333000181' },
      { valor_de: '1' },
    ]) {
      const whole = await found(busca);
      const seen: string[] = [];
      let depois: string | undefined;
      do {
        const page = await searchNotas(world, 'integracao', busca, depois, 1);
        assert.ok('notas' in page);
        seen.push(...page.notas.map(nameOf));
        depois = page.seguinte;
      } while (depois !== undefined);
      assert.deepEqual(seen, whole, JSON.stringify(busca));
    }
  });

  test('nothing where what is written means nothing, and says so at its field', async () => {
    const wrong = {
      q: '..',
      prestador: '123',
      tomador: 'x',
      intermediario: '1',
      de: '31/12',
      competencia: '2026',
      estado: 'boa',
      valor_de: 'dez',
    };
    const more = { servico: '1', serie: '123456', numero: 'n', ate: '2026-02-30' };
    const page = await searchNotas(world, 'integracao', { ...wrong, ...more });
    assert.ok('problems' in page);
    assert.deepEqual(Object.keys(page.problems).sort(), Object.keys({ ...wrong, ...more }).sort());
    const back = await searchNotas(world, 'integracao', {
      de: '2026-11-02',
      ate: '2026-11-01',
      valor_de: '2',
      valor_ate: '1',
    });
    assert.ok('problems' in back);
    assert.deepEqual(Object.keys(back.problems), ['ate', 'valor_ate']);
    const digit = await searchNotas(world, 'integracao', { q: `${notas.maria.chave_acesso.slice(0, 49)}x` });
    assert.ok('problems' in digit && digit.problems.q);
  });
});

const runAt = (slug: string, ...args: string[]) =>
  nfseHere([...args, '--municipio', slug], pool, false, service.address, world.now);
const run = (...args: string[]) => runAt('integracao', ...args);

describe('at the terminal', () => {
  test('a search is a table, and the same in JSON', async () => {
    const { out, code } = await run('nota', 'buscar', 'padaria', 'são', 'joão');
    assert.equal(code, 0);
    assert.match(out, new RegExp(`${notas.padaria.chave_acesso}.*250,00.*Padaria São João`));
    assert.equal(out.trim().split('\n').length, 2);
    const json = JSON.parse((await run('nota', 'buscar', '--tomador', '52998224725', '--json')).out);
    assert.deepEqual(json.notas.map(nameOf), ['cara', 'maria', 'outubro']);
    assert.deepEqual([json.seguinte, json.notas[1].valor_servico], [null, '1000.00']);
    const of = JSON.parse((await run('nota', 'buscar', '--intermediario', INTERMEDIADORA, '--json')).out);
    assert.deepEqual(of.notas.map(nameOf), ['cara']);
    const wrong = await run('nota', 'buscar', '--valor-de', 'dez');
    assert.equal(wrong.code, 2);
    assert.match(wrong.err, /^--valor-de: /);
  });

  test('a note is shown as XML and as PDF', async () => {
    const { out, code } = await run('nota', 'mostrar', notas.maria.chave_acesso, '--xml');
    assert.equal(code, 0);
    assert.ok(out.startsWith('<?xml') && out.includes(notas.maria.chave_acesso));
    const none = await run('nota', 'mostrar', NO_SUCH_KEY, '--xml');
    assert.equal(none.code, 1);
    assert.match(none.err, /Não há nota com esta chave/);
  });

  test('a search is written as a table and as a ZIP of documents', async () => {
    const folder = freshFolder();
    const csv = path.join(folder, 'notas.csv');
    assert.equal((await run('nota', 'exportar', csv, '--texto', 'padaria')).code, 0);
    const [head = '', row = '', ...rest] = (await readFile(csv, 'utf8')).replace('\ufeff', '').trim().split(/\r?\n/);
    assert.deepEqual(head.split(';').slice(0, 3), ['chave_acesso', 'estado', 'data_emissao']);
    assert.ok(row.startsWith(`'${notas.padaria.chave_acesso};`) && row.includes(';250,00;'), row);
    assert.deepEqual(rest, []);
    assert.equal((await run('nota', 'exportar', csv, '--intermediario', INTERMEDIADORA)).code, 0);
    const lines = (await readFile(csv, 'utf8')).trim().split(/\r?\n/);
    assert.deepEqual([lines.length, lines[1]!.startsWith(`'${notas.cara.chave_acesso};`)], [2, true]);
    const zip = path.join(folder, 'notas.zip');
    assert.equal((await run('nota', 'exportar', zip)).code, 0);
    const listed = execFileSync('python3', ['-m', 'zipfile', '-l', zip], { encoding: 'utf8' });
    for (const { chave_acesso } of Object.values(notas)) assert.ok(listed.includes(`${chave_acesso}.xml`), listed);
    const wrong = await run('nota', 'exportar', path.join(folder, 'notas.doc'));
    assert.equal(wrong.code, 2);
  });
});

describe('in the console', () => {
  test('who reads finds a note and its page, which tells all of it', async () => {
    const list = await leitor.open(`${NOTAS}?q=padaria`);
    assert.equal(list.status, 200);
    const here = `${NOTAS}/${notas.padaria.chave_acesso}?q=padaria`;
    assert.ok(list.html.includes(`${here}"`));
    assert.match(list.html, /1 nota, R\$ 250,00 em serviços/);
    assert.ok(!list.html.includes(notas.maria.chave_acesso) && !list.html.includes('/exportacoes'));
    const { html, status } = await leitor.open(here);
    assert.equal(status, 200);
    assert.ok(html.includes(`href="${NOTAS}?q=padaria"`), 'the way back to the search');
    assert.match(html, /<dt>Competência<\/dt><dd>\d\d\/\d\d\/\d{4}<\/dd>/);
    for (const said of [
      'Padaria São João &amp; Filhos',
      'R$ 250,00',
      notas.padaria.numero_protocolo,
      'vISSQN',
      'emitida',
    ]) {
      assert.ok(html.includes(said), said);
    }
    const intermediated = await leitor.open(`${NOTAS}?intermediario=${INTERMEDIADORA}`);
    assert.ok(intermediated.html.includes(`${NOTAS}/${notas.cara.chave_acesso}?intermediario=${INTERMEDIADORA}"`));
    assert.ok(intermediated.html.includes('CNPJ ou CPF do intermediário'));
    assert.ok(!intermediated.html.includes(notas.maria.chave_acesso));
    const wrong = await leitor.open(`${NOTAS}?valor_de=dez`);
    assert.equal(wrong.status, 422);
    assert.equal((await leitor.open(`${NOTAS}/${NO_SUCH_KEY}`)).status, 404);
    assert.equal((await leitor.open(`${NOTAS}/../x`)).status, 404);
  });

  test('the documents of a note are handed out as they are', async () => {
    const older = await vizinha.issue({ toma: null, serie: '51', nDPS: '1' });
    const newer = await vizinha.issue({ toma: null, serie: '51', nDPS: '2' });
    const at = `${VIZINHAS}/${older.chave_acesso}`;
    assert.ok((await leitor.open(`${at}/recebido`)).html.includes('<infDPS'));
    assert.ok((await leitor.open(`${at}/nfse`)).html.includes('<infNFSe'));
    assert.equal((await leitor.open(`${at}/danfse`)).status, 404, 'it is provisional');
    assert.deepEqual(await found({ estado: 'autorizada', serie: '51' }, 'vizinha'), []);
    await work.notas();
    assert.ok((await leitor.open(`${at}/danfse`)).html.startsWith('%PDF'));
    const pdf = path.join(freshFolder(), 'nota.pdf');
    assert.equal((await runAt('vizinha', 'nota', 'mostrar', older.chave_acesso, '--pdf', pdf)).code, 0);
    assert.equal((await readFile(pdf)).subarray(0, 4).toString(), '%PDF');
    assert.match((await leitor.open(at)).html, /<span class="estado bom">Autorizada<\/span>/);
    const chaves = [newer, older].map(({ chave_acesso }) => chave_acesso);
    assert.deepEqual(await found({ estado: 'autorizada', serie: '51' }, 'vizinha'), chaves);
  });

  test('a substitute that would wait for ever is withdrawn with a reason, which the trail keeps', async () => {
    const operadora = await enter(painel, await makeUsuario(painel, 'olga', { vizinha: 'operacao' }));
    const antiga = await vizinha.issue({ toma: null, serie: '52', nDPS: '1' });
    await work.notas();
    const substitution = { 'subst/chSubstda': antiga.chave_acesso, 'subst/cMotivo': '01' };
    const nova = await vizinha.issue({ toma: null, serie: '52', nDPS: '2', ...substitution });
    const at = `${VIZINHAS}/${nova.chave_acesso}`;
    assert.ok(!(await atendente.open(at)).html.includes(`${at}/retirar`), 'that takes a higher role');
    assert.ok((await operadora.open(at)).html.includes(`${at}/retirar`));
    assert.equal((await operadora.send(`${at}/retirar`, { motivo: ' ' })).status, 422);
    await operadora.send(`${at}/retirar`, { motivo: 'o evento não virá' });
    const done = await operadora.confirm();
    assert.match(done.html, /A nota foi retirada/);
    const [ato, ...others] = await store.atos.list('vizinha', { objeto: 'nota' }, 9);
    assert.deepEqual(
      [ato?.acao, ato?.quem, ato?.chave, ato?.motivo],
      ['retirada', 'olga', nova.chave_acesso, 'o evento não virá'],
    );
    assert.deepEqual(others, []);
    assert.match((await operadora.send(`${at}/retirar`, { motivo: 'de novo' })).html, /está recusada/);
  });

  test('events of a note stand on its page', async () => {
    const nota = await vizinha.issue({ toma: null, serie: '53', nDPS: '1' });
    await work.notas();
    const { id_evento } = await vizinha.registered(nota, CANCELAMENTO);
    const { html } = await leitor.open(`${VIZINHAS}/${nota.chave_acesso}`);
    assert.ok(html.includes(`/m/vizinha/evento/${id_evento}"`), 'a link to the event');
  });

  test('a search is taken away by who attends, and by nobody else', async () => {
    for (const formato of ['xlsx', 'csv', 'zip']) {
      await atendente.open(`${NOTAS}?q=padaria`);
      const begun = await atendente.send('/m/integracao/exportacoes', { formato, q: 'padaria' });
      assert.match(begun.path, /\/exportacoes\/[0-9a-f-]{36}$/);
      const done = await until(async () => {
        const page = await atendente.open(begun.path);
        return page.html.includes('Pronta</span> 1 nota,') ? page : undefined;
      }, 'the export');
      assert.ok(done.html.includes(`${begun.path}/arquivo`));
      const file = await atendente.open(`${begun.path}/arquivo`);
      assert.ok(formato === 'csv' ? file.html.includes(notas.padaria.chave_acesso) : file.html.startsWith('PK'));
      assert.equal((await leitor.open(begun.path)).status, 403);
      const other = await enter(painel, await makeUsuario(painel, `outra-${formato}`, { integracao: 'administracao' }));
      assert.equal((await other.open(`${begun.path}/arquivo`)).status, 404, 'it is of who asked for it');
    }
  });
});

describe('the id of the request that brought a note', () => {
  const usual = Date.parse('2026-11-21T12:00:00-03:00');
  /** Issues a note at the real time of this machine, since an id begins with its moment. */
  const issueNow = async (slug: string, aheadMs = 0): Promise<readonly [id: string, chave: string]> => {
    clock.now = Date.now() + aheadMs;
    issued += 1;
    const answer = await request(service.address, `/${slug}/api/v1/nfse/v101`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/xml' },
      body: exampleXml({ serie: '4717', nDPS: String(issued) }),
    });
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    return [answer.headers.get('x-request-id')!, answer.body.chave_acesso];
  };
  let issued = 0;

  before(async () => {
    await store.municipios.create({ tenant: 'pedidos', ambiente: 'homologacao', codigoIbge: undefined }, clock.now);
  });

  test('leads to the note, at the terminal and in the console, and in no other municipality', async () => {
    const [[id, chave], [other, otherChave]] = [await issueNow('pedidos'), await issueNow('pedidos')];
    for (const [asked, expected] of [
      [id, [chave]],
      [other.toUpperCase(), [otherChave]],
      [`${id.slice(0, -1)}${id.endsWith('0') ? '1' : '0'}`, []],
    ] as const) {
      assert.deepEqual(await found({ q: asked }, 'pedidos'), expected, asked);
    }
    assert.deepEqual(await found({ q: id }, 'vizinha'), []);
    const operadora = await enter(painel, await makeUsuario(painel, 'paula', { pedidos: 'leitura' }));
    const { html } = await operadora.open(`/m/pedidos/notas?q=${id}`);
    assert.ok(html.includes(chave) && !html.includes(otherChave));
    clock.now = usual;
  });

  test('of a municipality with a clock of its own leads there too', async () => {
    const aheadMs = 3 * DAY_MS;
    const [id, chave] = await issueNow('pedidos', aheadMs);
    clock.now = usual;
    const of = async (relogioMs: number) => {
      const page = await searchNotasOf(
        world,
        { tenant: 'pedidos', codigoIbge: undefined, relogioMs },
        { q: id },
        { max: 9 },
      );
      return 'notas' in page ? page.notas.map(({ chave_acesso }) => chave_acesso) : page;
    };
    assert.deepEqual(await of(aheadMs), [chave]);
    assert.deepEqual(await of(0), []);
  });

  test('of a lot of the SOAP port leads to each of its notes, however late they were issued, and to no others', async () => {
    const send = async (numero: number): Promise<string> => {
      clock.now = Date.now();
      const lote = loteXml([{ numero }, { numero: numero + 1 }], { numero: String(numero) });
      const { requisicao, documento } = await call(service.address, 'RecepcionarLoteRps', lote, 'pedidos');
      assert.equal(all(documento, 'Protocolo').length, 1, documento);
      return requisicao;
    };
    const ids = [await send(1), await send(3)];
    for (const id of ids) assert.deepEqual(await found({ q: id }, 'pedidos'), [], 'nothing is issued yet');
    clock.now += 40 * DAY_MS;
    const municipio = (await store.municipios.findBySlug('pedidos'))!;
    while ((await processLotes(world, municipio)).delivered > 0);
    clock.now = usual;
    for (const [place, id] of ids.entries()) {
      const page = await searchNotas(world, 'pedidos', { q: id });
      assert.ok('notas' in page, JSON.stringify(page));
      const rps = page.notas.map(({ numero_dps_nacional }) => Number(numero_dps_nacional));
      assert.deepEqual(rps.toSorted(), [1 + 2 * place, 2 + 2 * place]);
      assert.ok(page.notas.every(({ requisicao }) => requisicao === id));
      assert.deepEqual((await found({ q: id, numero: page.notas[0]!.numero_dps }, 'pedidos')).length, 1);
      assert.deepEqual(await found({ q: id, prestador: '11444777000161' }, 'pedidos'), []);
      assert.deepEqual(await found({ q: id }, 'vizinha'), []);
    }
  });

  test('that this service did not make is said to be another', async () => {
    const page = await searchNotas(world, 'pedidos', { q: '7c9e6679-7425-40de-944b-e07fc1f90ae7' });
    assert.ok('problems' in page);
    assert.match(page.problems.q!, /client_request/);
  });
});
