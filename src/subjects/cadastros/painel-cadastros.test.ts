/**
 * Registers changed by hand and by file, at the terminal and in the console. Changes are previewed, written once, undone, and recorded in
 * the trail.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { nfseHere } from '../../../test/support/cli.ts';
import { cellsOf } from '../../../test/support/csv.ts';
import { freshFolder } from '../../../test/support/openssl.ts';
import { enter, makeUsuario, type Pessoa, type Shown, startTestPainel } from '../../../test/support/painel.ts';
import { startTestService } from '../../../test/support/service.ts';
import { until } from '../../../test/support/until.ts';

const service = await startTestService({ worker: false });
const painel = await startTestPainel(service);
const { store, clock, pool, world } = service;
const folder = freshFolder();
const IBGE = '3550308';

/** CNPJ with right check digits (Receita Federal) that belong to nobody. */
const [A, B, C] = ['11222333000181', '11444777000161', '12ABC34501DE35'] as const;

let towns = 0;
async function town(): Promise<string> {
  towns += 1;
  const tenant = `vila-${towns}`;
  await store.municipios.create({ tenant, ambiente: 'homologacao', codigoIbge: IBGE }, clock.now);
  return tenant;
}

let files = 0;
function file(...lines: readonly string[]): string {
  files += 1;
  const name = path.join(folder, `arquivo${files}.csv`);
  writeFileSync(name, `${lines.join('\n')}\n`);
  return name;
}

const run = (slug: string, ...args: readonly string[]) => {
  clock.now += 1_000;
  return nfseHere([...args, '--municipio', slug], pool, false, service.address, world.now);
};

async function done(slug: string, ...args: readonly string[]): Promise<string> {
  const { code, out, err } = await run(slug, ...args);
  assert.equal(code, 0, `${args.join(' ')}: ${err}`);
  return out;
}

/** The register's rows in the database, without their creation time. */
async function registerOf(slug: string): Promise<unknown> {
  const text = `select (to_jsonb(p) - 'criado_em') as linha from prestadores p where tenant = $1
    union all select to_jsonb(s) from simples_nacional s where tenant = $1 order by 1`;
  return (await pool.query(text, [slug])).rows;
}

async function actsOf(slug: string, objeto: string) {
  const atos = await store.atos.list(slug, { objeto }, 50);
  return atos.map(({ acao, chave, quem, via, motivo }) =>
    [acao, chave, via, motivo, quem === '' ? '' : 'x'].slice(0, 4),
  );
}

const HEAD = 'documento,razao_social,inscricao_municipal,simples_inicio,simples_fim';

describe('a provider by command', () => {
  test('is registered, changed, blocked, let issue and taken out, each act with who, why and what changed', async () => {
    const slug = await town();
    const wrong = await run(slug, 'prestador', 'cadastrar', '11222333000180', '--cep', '1');
    assert.equal(wrong.code, 1);
    assert.match(wrong.err, /DOCUMENTO: Não é um CNPJ: os dígitos verificadores não conferem\./);
    assert.match(wrong.err, /--razao-social: Está vazio\./);
    await done(
      slug,
      'prestador',
      'cadastrar',
      '11.222.333/0001-81',
      '--razao-social',
      'Oficina São Jorge',
      '--inscricao',
      '77',
    );
    const again = await run(slug, 'prestador', 'cadastrar', A, '--razao-social', 'X', '--inscricao', '77');
    assert.match(again.err, /já está no cadastro com esta inscrição/i);
    const periods = ['--simples', '2020-01-01 a 2022-12-31', '--simples', '01/07/2024 em diante'];
    await done(slug, 'prestador', 'alterar', A, '--inscricao', '77', '--razao-social', 'Oficina Jorge', ...periods);
    const overlap = ['--simples', '2020-01-01 a 2022-12-31', '--simples', '2022-12-31 em diante'];
    const over = await run(slug, 'prestador', 'alterar', A, '--inscricao', '77', '--razao-social', 'X', ...overlap);
    assert.match(over.err, /o período se sobrepõe/);
    const shown = JSON.parse(await done(slug, 'prestador', 'mostrar', A, '--json'));
    assert.equal(shown[0].razaoSocial, 'Oficina Jorge');
    assert.deepEqual(shown[0].simples, [{ inicio: '2020-01-01', fim: '2022-12-31' }, { inicio: '2024-07-01' }]);
    assert.match((await run(slug, 'prestador', 'bloquear', A)).err, /Falta o motivo/);
    assert.match(await done(slug, 'prestador', 'bloquear', A, '--motivo', 'ofício 3'), /respondida com E102/);
    assert.match((await run(slug, 'prestador', 'bloquear', A, '--motivo', 'x')).err, /já está assim/);
    assert.match(
      await done(slug, 'prestador', 'listar', '--bloqueados'),
      /11222333000181 +77 +bloqueado +Oficina Jorge/,
    );
    await done(slug, 'prestador', 'desbloquear', A);
    await done(slug, 'prestador', 'retirar', A, '--motivo', 'engano');
    assert.deepEqual(await registerOf(slug), []);
    assert.deepEqual(await actsOf(slug, 'prestador'), [
      ['retirado', A, 'comando', 'engano'],
      ['desbloqueado', A, 'comando', null],
      ['bloqueado', A, 'comando', 'ofício 3'],
      ['alterado', A, 'comando', null],
      ['cadastrado', A, 'comando', null],
    ]);
    const changed = (await store.atos.list(slug, { objeto: 'prestador' }, 50)).find(({ acao }) => acao === 'alterado')!;
    assert.deepEqual(Object.keys(changed.depois as object).sort(), ['razao_social', 'simples']);
  });

  test('is found by document, registration and part of the name, page by page', async () => {
    const slug = await town();
    const rows = [`${A},Padaria Pão & Mel,12,,`, `${B},Açougue Central,0034,,`, `${C},Oficina Central,,2024-01-01,`];
    await done(slug, 'prestador', 'importar', file(HEAD, ...rows));
    const found = async (text: string) =>
      JSON.parse(await done(slug, 'prestador', 'listar', '--procurar', text, '--json')).prestadores.map(
        ({ documento }: { documento: string }) => documento,
      );
    assert.deepEqual(await found('pao MEL'), [A]);
    assert.deepEqual(await found('central'), [B, C]);
    assert.deepEqual(await found('34'), [B]);
    assert.deepEqual(await found('12.ABC.345/01DE-35'), [C]);
    assert.deepEqual(await found('112'), [A]);
    assert.deepEqual(await found('nada'), []);
    assert.deepEqual(JSON.parse(await done(await town(), 'prestador', 'listar', '--json')), {
      prestadores: [],
      seguinte: null,
    });
  });
});

describe('a file', () => {
  test('is seen before: what is new, what changes and from what, what goes; and nothing is written', async () => {
    const slug = await town();
    await done(slug, 'prestador', 'importar', file(HEAD, `${A},Antes,1,2020-01-01,`, `${B},Igual,2,,`));
    const rows = await registerOf(slug);
    const next = file(HEAD, `${A},Depois,1,2021-01-01,`, `${B},Igual,2,,`, `${C},Nova,,,`);
    const told = await done(slug, 'prestador', 'importar', next, '--previa');
    assert.match(told, /Estabelecimentos de \S+: novos 1, alterados 1, iguais 1, retirados 0/);
    assert.match(told, /Períodos do Simples Nacional de \S+: novos 1, alterados 0, iguais 0, retirados 1/);
    assert.match(told, new RegExp(`muda ${A} 1: razao_social Antes → Depois`));
    assert.match(told, /Nada foi gravado: era uma prévia/);
    assert.deepEqual(await registerOf(slug), rows);
  });

  test('needs no column that it may do without: what is there stays, and who is new may issue', async () => {
    const slug = await town();
    const head = 'documento,razao_social,inscricao_municipal,autorizado,simples_inicio,simples_fim,email';
    await done(slug, 'prestador', 'importar', file(head, `${A},A,1,nao,2020-01-01,,a@exemplo.com.br`));
    await done(
      slug,
      'prestador',
      'importar',
      file('documento,razao_social,inscricao_municipal', `${A},Outra,1`, `${B},B,`),
    );
    const [a, b] = JSON.parse(await done(slug, 'prestador', 'listar', '--json')).prestadores;
    assert.deepEqual(
      [a.razao_social, a.autorizado, a.email, a.simples],
      ['Outra', false, 'a@exemplo.com.br', [['2020-01-01', null]]],
    );
    assert.deepEqual([b.autorizado, b.email, b.simples], [true, null, []]);
    await done(
      slug,
      'servicos',
      'importar',
      file('codigo,descricao,codigo_tributacao_nacional,inicio,aliquota', '001,A,010101,2026-01-01,5'),
    );
    await done(
      slug,
      'servicos',
      'importar',
      file('codigo,descricao,codigo_tributacao_nacional,inicio', '001,B,010101,2026-01-01'),
    );
    const [line] = JSON.parse(await done(slug, 'servicos', 'listar', '--json'));
    assert.deepEqual([line.descricao, line.aliquota], ['B', '5.00']);
  });

  test('is undone whole: what was new goes, what changed and what went comes back', async () => {
    const slug = await town();
    await done(
      slug,
      'prestador',
      'importar',
      file(HEAD, `${A},A,1,2020-01-01,2020-12-31`, `${A},A,1,2022-01-01,`, `${B},B,2,,`),
    );
    const rows = await registerOf(slug);
    await done(
      slug,
      'prestador',
      'importar',
      file(HEAD, `${A},AA,1,2021-01-01,`, `${C},C,,2021-01-01,`, `${B},B,2,,`),
      '--motivo',
      'carga',
    );
    assert.notDeepEqual(await registerOf(slug), rows);
    assert.match(await done(slug, 'prestador', 'desfazer', '--motivo', 'arquivo errado'), /Voltaram ao que eram: /);
    assert.deepEqual(await registerOf(slug), rows);
    assert.equal((await run(slug, 'prestador', 'desfazer')).code, 2, 'without a reason');
    const twice = await run(slug, 'prestador', 'desfazer', '--motivo', 'outra vez');
    assert.equal(twice.code, 1);
    assert.match(twice.err, /não há importação que se possa desfazer/);
    assert.deepEqual((await actsOf(slug, 'importacao')).slice(0, 2), [
      ['desfeita', 'prestadores', 'comando', 'arquivo errado'],
      ['importada', 'prestadores', 'comando', 'carga'],
    ]);
  });

  test('is not undone where somebody has changed a row since, who is named, and then nothing is', async () => {
    const slug = await town();
    await done(slug, 'prestador', 'importar', file(HEAD, `${A},A,1,,`, `${B},B,2,,`));
    await done(slug, 'prestador', 'bloquear', B, '--motivo', 'x');
    const rows = await registerOf(slug);
    const { code, err } = await run(slug, 'prestador', 'desfazer', '--motivo', 'errado');
    assert.equal(code, 1);
    assert.match(err, new RegExp(`Nada foi desfeito: depois da importação alguém mudou ${B} 2\\.`));
    assert.deepEqual(await registerOf(slug), rows);
  });

  test('is not undone over a period that somebody has added since', async () => {
    const slug = await town();
    await done(slug, 'prestador', 'importar', file(HEAD, `${A},A,1,2020-01-01,`));
    await done(slug, 'prestador', 'importar', file(HEAD, `${A},A,1,,`));
    await done(
      slug,
      'prestador',
      'alterar',
      A,
      '--inscricao',
      '1',
      '--razao-social',
      'A',
      '--simples',
      '2024-01-01 em diante',
    );
    assert.match((await run(slug, 'prestador', 'desfazer', '--motivo', 'errado')).err, /Nada foi desfeito/);
    const { simples } = JSON.parse(await done(slug, 'prestador', 'listar', '--json')).prestadores[0];
    assert.deepEqual(simples, [['2024-01-01', null]]);
  });

  test('of every register is written out, read again without a change, and undone', async () => {
    const slug = await town();
    const samples: Readonly<Record<string, readonly string[]>> = {
      prestador: [
        HEAD,
        `${A},"=Nome; ""de"" fora",1,2020-01-01,2020-12-31`,
        `${A},"=Nome; ""de"" fora",1,2022-01-01,`,
        `${B},B,,,`,
      ],
      servicos: ['codigo,descricao,codigo_tributacao_nacional,inicio,fim', '001,A,010101,2026-01-01,'],
      regimes: ['regime,documento,servicos,inicio,fim', `1,${A},010101 010201,2026-01-01,`],
      'nao-incidencias': ['codigo_tributacao_nacional,documento,inicio,fim', '010101,,2026-01-01,'],
      correlacao: ['item,codigo_municipal,nbs,cst,cclasstrib', '1.01,,115021000,000,000001', '1.02,A b,,,'],
    };
    for (const [what, lines] of Object.entries(samples)) {
      await done(slug, what, 'importar', file(...lines));
      const out = path.join(folder, `${what}.csv`);
      await done(slug, what, 'exportar', out);
      assert.equal((await cellsOf(out)).length, lines.length, what);
      assert.match(await done(slug, what, 'importar', out), /novos 0, alterados 0, iguais \d+, retirados 0/);
      // The command undoes the last import, which changed nothing.
      assert.match(await done(slug, what, 'desfazer', '--motivo', 'errado'), /Voltaram ao que eram: 0\./);
    }
    await done(slug, 'correlacao', 'importar', file('item,codigo_municipal', '1.03,'));
    assert.equal(JSON.parse(await done(slug, 'correlacao', 'mostrar', '--json')).length, 1);
    await done(slug, 'correlacao', 'desfazer', '--motivo', 'errado');
    assert.equal(JSON.parse(await done(slug, 'correlacao', 'mostrar', '--json')).length, 2);
  });
});

test('a municipality that is deleted leaves nothing behind but its trail', async () => {
  const slug = await town();
  await done(slug, 'prestador', 'importar', file(HEAD, `${A},A,1,2020-01-01,`));
  store.movimento.countNotas(slug, 1, clock.now);
  await store.movimento.flush();
  await store.circuitos.note(slug, { abertoEm: undefined, motivo: undefined }, clock.now);
  await pool.query("insert into nomes values ($1, 'PALAVRA', $2)", [slug, A]);
  await pool.query('insert into nomes_lidos values ($1, 202611, 1)', [slug]);
  const { code, err } = await nfseHere(
    ['municipio', 'excluir', slug, '--confirmar'],
    pool,
    false,
    service.address,
    world.now,
  );
  assert.equal(code, 0, err);
  const tables = await pool.query(`select c.table_name as name from information_schema.columns c
    join information_schema.tables t using (table_schema, table_name)
    where c.table_schema = 'public' and c.column_name = 'tenant' and t.table_type = 'BASE TABLE'`);
  assert.ok(tables.rows.length > 20);
  for (const { name } of tables.rows) {
    const { rows } = await pool.query(`select count(*)::int as n from ${name} where tenant = $1`, [slug]);
    if (name !== 'atos') assert.equal(rows[0].n, 0, name);
  }
});

describe('in the console', () => {
  let slug: string;
  let operadora: Pessoa;
  let leitor: Pessoa;
  const at = (where: string): string => `/m/${slug}/cadastros${where}`;

  before(async () => {
    slug = await town();
    operadora = await enter(painel, await makeUsuario(painel, 'olga', { [slug]: 'operacao' }));
    leitor = await enter(painel, await makeUsuario(painel, 'leo', { [slug]: 'leitura' }));
  });

  const FILLED = { documento: A, razao_social: 'Oficina <b>Jorge</b>', inscricao_municipal: '9', autorizado: 'sim' };

  test('the national rates are written as in Portuguese', async () => {
    const { html } = await leitor.open(at('/aliquotas'));
    // Lei Complementar 214/2025, art. 346: CBS of 0,9 % in 2026.
    assert.match(html, />0,90 %</);
    assert.doesNotMatch(html, />\d+\.\d+ %</);
  });

  test('a line of a list is written, moved in time and taken out', async () => {
    const list = at('/lista/servicos');
    await operadora.open(at('/linha/servicos'));
    const cells = {
      codigo: '001',
      descricao: 'Análise',
      codigo_tributacao_nacional: '01.01.01',
      aliquota: '5,00',
      inicio: '01/01/2026',
    };
    const wrong = await operadora.send(at('/linha/servicos'), { ...cells, aliquota: 'dez' });
    assert.match(wrong.html, /id="campo-aliquota-erro">Não é um percentual/);
    assert.equal((await operadora.send(at('/linha/servicos'), cells)).path, list);
    assert.match((await leitor.open(list)).html, /<td[^>]*>5,00<\/td>/);
    const id = '001 2026-01-01';
    assert.match((await operadora.open(at(`/linha/servicos?id=${encodeURIComponent(id)}`))).html, /value="2026-01-01"/);
    const ended = { ...cells, inicio: '2026-01-01', fim: '2026-06-30', id };
    assert.equal((await operadora.send(at('/linha/servicos'), ended)).path, list);
    await operadora.open(at('/linha/servicos'));
    assert.equal((await operadora.send(at('/linha/servicos'), { ...cells, inicio: '2026-07-01' })).path, list);
    assert.equal((await store.listas.list('servicos', slug)).length, 2);
    await operadora.open(at(`/linha/servicos?id=${encodeURIComponent(id)}`));
    assert.equal((await operadora.send(at('/retirar/servicos'), { id, motivo: 'x' })).path, list);
    assert.deepEqual(
      (await store.listas.list('servicos', slug)).map(({ inicio }) => inicio),
      ['2026-07-01'],
    );
  });

  test('a line of another period stays, however the key of a new one is spelt', async () => {
    const at2026 = { codigo_tributacao_nacional: '01.01.01', formas: 'valor', inicio: '01/01/2026', fim: '30/06/2026' };
    const save = async (cells: Readonly<Record<string, string>>): Promise<Shown> => {
      await operadora.open(at('/linha/deducoes'));
      return operadora.send(at('/linha/deducoes'), cells);
    };
    assert.equal((await save(at2026)).path, at('/lista/deducoes'));
    assert.equal((await save({ ...at2026, inicio: '2026-07-01', fim: '' })).path, at('/lista/deducoes'));
    const lines = async () => (await store.listas.list('deducoes', slug)).map(({ inicio, fim }) => [inicio, fim]);
    const both = [
      ['2026-01-01', '2026-06-30'],
      ['2026-07-01', null],
    ];
    assert.deepEqual(await lines(), both);
    assert.match((await save({ ...at2026, inicio: '2026-07-01', fim: '' })).html, /Já há uma linha igual/);
    assert.match((await save({ ...at2026, inicio: '2026-06-01', fim: '' })).html, /o período se sobrepõe/);
    assert.deepEqual(await lines(), both);
  });

  async function upload(registro: string, ...lines: readonly string[]): Promise<Shown> {
    await operadora.open(at(`/importar/${registro}`));
    const sent = await operadora.send(at(`/importar/${registro}`), {
      arquivo: new File([`${lines.join('\n')}\n`], 'carga.csv', { type: 'text/csv' }),
    });
    return settled(sent.path);
  }

  const settled = (where: string): Promise<Shown> =>
    until(async () => {
      const page = await operadora.open(where);
      return page.html.includes('se renova sozinha') ? undefined : page;
    }, 'the import');

  test('a provider of the register, from the first page to the file', async (t) => {
    await t.test('a provider is registered, with each problem at its field, and found', async () => {
      await operadora.open(at('/prestadores/novo'));
      const wrong = await operadora.send(at('/prestadores/novo'), {
        ...FILLED,
        documento: '123',
        simples_inicio: ['2024-01-01'],
        simples_fim: ['2023-01-01'],
      });
      assert.equal(wrong.status, 422);
      assert.match(wrong.html, /id="campo-documento-erro">Não é CNPJ nem CPF/);
      assert.match(wrong.html, /É anterior a simples_inicio/);
      assert.match(wrong.html, /value="2024-01-01"/, 'what was written stays');
      const made = await operadora.send(at('/prestadores/novo'), {
        ...FILLED,
        simples_inicio: ['2024-01-01', ''],
        simples_fim: ['', ''],
      });
      assert.equal(made.path, at(`/prestador/${A}`));
      assert.match(made.html, /O cadastro foi gravado/);
      assert.match(made.html, /Oficina &lt;b&gt;Jorge/);
      assert.match(made.html, /de 01\/01\/2024 em diante/);
      const list = await leitor.open(at('/prestadores?procurar=jorge'));
      assert.ok(list.html.includes(at(`/prestador/${A}"`)));
      assert.ok(!list.html.includes('/novo"'), 'who reads adds nobody');
    });

    await t.test('it is changed, blocked with a reason, and the page tells who did it', async () => {
      await operadora.open(at(`/prestador/${A}/alterar?inscricao=9`));
      await operadora.send(at(`/prestador/${A}/alterar`), {
        ...FILLED,
        razao_social: 'Jorge',
        simples_inicio: [''],
        simples_fim: [''],
        motivo: 'mudou',
      });
      assert.equal((await operadora.send(at(`/prestador/${A}/bloquear`))).status, 409, 'without a reason');
      const blocked = await operadora.send(at(`/prestador/${A}/bloquear`), { motivo: 'processo 12' });
      assert.match(blocked.html, /O prestador foi bloqueado/);
      assert.match(blocked.html, /bloqueado<br><small>processo 12/);
      assert.match(blocked.html, /nenhum período/);
      assert.match((await leitor.open(at('/prestadores?situacao=bloqueados'))).html, /Jorge/);
    });

    await t.test('a file is looked at, confirmed and undone', async () => {
      const page = await upload(
        'prestadores',
        HEAD,
        `${A},Novo nome,9,,`,
        `${B},Padaria,1,,`,
        `${C},,2,,`,
        '52998224725,Pessoa,7,,',
      );
      assert.match(page.html, /<b>Nada foi gravado ainda\.<\/b>/);
      assert.match(page.html, /razao_social está vazio/);
      assert.match(page.html, /<del>Jorge<\/del> → <ins>Novo nome<\/ins>/);
      assert.match(page.html, /\.982\.247-/);
      assert.doesNotMatch(page.html, /52998224725|529\.982/, 'a CPF is masked as in the list');
      assert.doesNotMatch(page.html, /Centro|00000000/, 'an unknown address has no parts');
      const before = await registerOf(slug);
      const written = await settled(
        (await operadora.send(`${page.path}/gravar`, { parcial: 'sim', motivo: 'carga' })).path,
      );
      assert.match(written.html, /carga\.csv foi importado/);
      assert.match(written.html, /1 linha de 4 não serve\. Não foi gravada: corrija/);
      assert.doesNotMatch(written.html, /ou grave as demais/);
      assert.notDeepEqual(await registerOf(slug), before);
      const list = await operadora.open(at('/prestadores'));
      assert.match(list.html, /Desfazer a última importação/);
      assert.match((await operadora.send(at('/desfazer/prestadores'), { motivo: ' ' })).html, /Falta o motivo/);
      assert.match(
        (await operadora.send(at('/desfazer/prestadores'), { motivo: 'errado' })).html,
        /A importação foi desfeita/,
      );
      assert.deepEqual(await registerOf(slug), before);
    });

    await t.test('what changed since it was looked at is not written over', async () => {
      const page = await upload('prestadores', HEAD, `${A},Outro,9,,`);
      await done(slug, 'prestador', 'alterar', A, '--inscricao', '9', '--razao-social', 'Mudado entretanto');
      const refused = await settled((await operadora.send(`${page.path}/gravar`)).path);
      assert.match(refused.html, /alguém mudou o cadastro/);
      assert.match(await done(slug, 'prestador', 'mostrar', A), /Mudado entretanto/);
    });

    await t.test('a file that is none is told so, and a register is handed out', async () => {
      const bad = await upload('prestadores', 'nome,idade', 'x,1');
      assert.match(bad.html, /Diga o que é cada coluna do arquivo[\s\S]*Precisam vir: CNPJ ou CPF, /);
      assert.match(bad.html, /<label for="campo-coluna-0">nome<\/label>/);
      assert.equal((await leitor.open(at('/exportar/prestadores'))).status, 403);
      const csv = await operadora.open(at('/exportar/prestadores'));
      assert.match(csv.html, new RegExp(`^\\ufeff?documento;.*\\r\\n'${A};`));
      assert.equal((await operadora.open(at('/lista/nada'))).status, 404);
      assert.match((await leitor.open(at('/aliquotas'))).html, /IBS-UF/);
      assert.match((await leitor.open(at(''))).html, /Regimes especiais/);
    });
  });
});
