/** Exports of notes: the cells of a spreadsheet, and the export that its author follows and cancels in the console. */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { type CellObject, read } from '@e965/xlsx';
import { INTERMEDIARIO } from '../../../test/casos/caso.ts';
import { onEnd } from '../../../test/support/cleanup.ts';
import { nfseHere } from '../../../test/support/cli.ts';
import { cellsOf } from '../../../test/support/csv.ts';
import { balcao, bancada, CANCELAMENTO, type NotaEmitida } from '../../../test/support/eventos.ts';
import { freshFolder } from '../../../test/support/openssl.ts';
import { enter, makeUsuario, type Pessoa, startTestPainel } from '../../../test/support/painel.ts';
import { startTestService } from '../../../test/support/service.ts';
import { until } from '../../../test/support/until.ts';
import { openTrabalhos } from '../../base/world/trabalhos.ts';
import { COLUNAS_DA_NOTA } from './colunas-da-nota.ts';
import { beginExport, discardExport, exportNotas, openExportacoes, readExport, resumeExports } from './exportar.ts';

const service = await startTestService({ worker: false, clock: { now: Date.parse('2026-11-20T12:00:00-03:00') } });
const { store, clock, pool, world } = service;
const painel = await startTestPainel(service);
const SLUG = 'exporta';
const municipio = balcao(service.address, SLUG);
const work = bancada(world, SLUG);

const FORMULA = '=HYPERLINK("http://exemplo.invalid","ver")';
let cheia: NotaEmitida;
let cancelada: NotaEmitida;
let formula: NotaEmitida;
let atendente: Pessoa;

before(async () => {
  await store.municipios.create({ tenant: SLUG, ambiente: 'homologacao', codigoIbge: undefined }, clock.now);
  cancelada = await municipio.issue({ 'valores/vServPrest/vServ': '0.10' });
  await work.notas();
  clock.now = Date.parse('2026-11-20T23:30:15-03:00');
  await municipio.registered(cancelada, CANCELAMENTO);
  await work.eventos();
  clock.now = Date.parse('2026-11-21T08:00:00-03:00');
  cheia = await municipio.issue({
    ...INTERMEDIARIO,
    'toma/CPF': null,
    'toma/CNPJ': '11444777000161',
    'toma/xNome': 'Padaria São João & Filhos',
    'valores/vServPrest/vServ': '12345.67',
    'valores/vDescCondIncond/vDescIncond': '345.67',
    'valores/trib/tribMun/tpRetISSQN': '2',
    'valores/trib/tribFed/vRetCP': '100.00',
    'valores/trib/tribFed/vRetIRRF': '180.50',
  });
  formula = await municipio.issue({ 'toma/xNome': FORMULA, 'serv/cServ/xDescServ': "@SOMA(A1)\n'-1+1" });
  const usuario = await makeUsuario(painel, 'tina', { [SLUG]: 'atendimento' });
  atendente = await enter(painel, usuario);
});

type Linha = Readonly<Record<string, CellObject | undefined>>;

/** Rows of the spreadsheet of a search, by the names of their columns. */
async function exportRows(busca = {}): Promise<readonly Linha[]> {
  const arquivo = path.join(freshFolder(), 'notas.xlsx');
  const done = await exportNotas(world, SLUG, { busca, formato: 'xlsx', arquivo }, () => {});
  assert.ok('notas' in done, JSON.stringify(done));
  const sheet = read(readFileSync(arquivo), { dense: true, cellNF: true, cellFormula: true }).Sheets['Notas'];
  const [head, ...rows] = (sheet as unknown as { '!data': (CellObject | undefined)[][] })['!data'];
  assert.deepEqual(
    head!.map((cell) => cell?.v),
    COLUNAS_DA_NOTA.map(({ titulo }) => titulo),
  );
  return rows.map((cells) => Object.fromEntries(COLUNAS_DA_NOTA.map(({ coluna }, at) => [coluna, cells[at]])));
}

const valuesOf = (linha: Linha): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(linha).flatMap(([nome, cell]) => (cell === undefined ? [] : [[nome, cell.v]])));

describe('a spreadsheet of notes', () => {
  test('says of a note all that it has, in cells of its kind', async () => {
    const [, linha] = await exportRows({ ordem: 'novas' });
    const { numero_dps, numero_dps_nacional, ...others } = valuesOf(linha!);
    assert.deepEqual([typeof numero_dps, typeof numero_dps_nacional], ['number', 'string']);
    // The base is 12345.67 - 345.67 at 2 %; the ISSQN and 100.00 + 180.50 are withheld of 12000.00.
    // IBS and CBS: the base without the ISSQN, 12000.00 - 240.00, at 0.10 % and 0.90 %. The total of a note of 2026 is its net value.
    assert.deepEqual(others, {
      chave_acesso: cheia.chave_acesso,
      estado: 'emitida',
      // 46347 is 2026-11-21, and 8 of 24 hours have passed.
      data_emissao: 46347.3333333333,
      // 46300 is 2026-10-05.
      data_competencia: 46300,
      serie_dps: '70000',
      prestador_cpf_cnpj: '11222333000181',
      prestador_razao_social: 'Empresa Exemplo Ltda',
      tomador_cpf_cnpj: '11444777000161',
      tomador_razao_social: 'Padaria São João & Filhos',
      valor_servico: 12345.67,
      simples_nacional: 'Não Optante (1)',
      regime_especial: 'Nenhum (0)',
      tomador_municipio: '3550308',
      intermediario_cpf_cnpj: '00000000000191',
      intermediario_razao_social: 'Intermediadora Exemplo Ltda',
      codigo_tributacao_nacional: '010101',
      codigo_nbs: '115021000',
      descricao_servico: 'Desenvolvimento de sistema de gestão',
      codigo_local_prestacao: '3550308',
      local_prestacao: 'São Paulo',
      codigo_local_incidencia: '3550308',
      local_incidencia: 'São Paulo',
      tributacao_issqn: 'Operação tributável (1)',
      desconto_incondicionado: 345.67,
      valor_base_calculo: 12000,
      aliquota_issqn: 0.02,
      valor_issqn: 240,
      devedor_issqn: 'o tomador, que o retém',
      issqn_retido: 240,
      retencao_previdencia: 100,
      retencao_irrf: 180.5,
      total_retido: 520.5,
      valor_liquido: 11479.5,
      cst_ibs_cbs: '000',
      classificacao_ibs_cbs: '000001',
      base_ibs_cbs: 11760,
      ibs_estado: 11.76,
      ibs_municipio: 0,
      valor_ibs: 11.76,
      valor_cbs: 105.84,
      valor_total: 11479.5,
      situacao_issqn: 'Retido pelo tomador',
      regime_prestador: 'Não optante do Simples Nacional',
    });
    const kinds = { texto: 's', data: 'n', momento: 'n', numero: 'n', valor: 'n', percentual: 'n' } as const;
    for (const { coluna, tipo } of COLUNAS_DA_NOTA) {
      const cell = linha![coluna];
      if (cell !== undefined) assert.deepEqual([coluna, cell.t], [coluna, kinds[tipo]]);
    }
  });

  test('says when a note was cancelled, by the clock of its municipality', async () => {
    const linha = (await exportRows()).at(-1)!;
    assert.deepEqual([linha['chave_acesso']!.v, linha['estado']!.v], [cancelada.chave_acesso, 'cancelada']);
    // 46346 is 2026-11-20; 23:30:15 is 84615 of 86400 seconds.
    assert.ok(Math.abs(Number(linha['data_cancelamento']!.v) - (46346 + 84_615 / 86_400)) < 1e-8);
    assert.equal(linha['data_cancelamento']!.z, 'dd/mm/yyyy\\ hh:mm:ss');
  });

  test('adds up to the notes', async () => {
    const { rows } = await pool.query<{ servico: number; issqn: number }>(
      'select sum(valor_servico)::float8 as servico, sum(valor_issqn)::float8 as issqn from notas where tenant = $1',
      [SLUG],
    );
    const linhas = await exportRows();
    const sum = (coluna: string): number => linhas.reduce((all, linha) => all + Number(linha[coluna]?.v ?? 0), 0);
    assert.deepEqual(
      [sum('valor_servico'), sum('valor_issqn')].map((one) => one.toFixed(2)),
      [rows[0]!.servico.toFixed(2), rows[0]!.issqn.toFixed(2)],
    );
    assert.equal(linhas.length, 3);
  });

  test('runs no formula that a party wrote, and neither does the CSV, which has the same cells', async () => {
    const [linha] = await exportRows();
    assert.equal(linha!['chave_acesso']!.v, formula.chave_acesso);
    for (const [coluna, text] of [
      ['tomador_razao_social', FORMULA],
      ['descricao_servico', "@SOMA(A1) '-1+1"],
    ] as const) {
      const { t, v, f, z } = linha![coluna]!;
      assert.deepEqual([t, String(v).replace(/\s/g, ' '), f, z], ['s', text, undefined, '@']);
    }
    const csv = path.join(freshFolder(), 'notas.csv');
    const { code } = await nfseHere(
      ['nota', 'exportar', csv, '--municipio', SLUG],
      pool,
      false,
      service.address,
      world.now,
    );
    assert.equal(code, 0);
    assert.ok(readFileSync(csv, 'utf8').includes(`;"'${FORMULA.replaceAll('"', '""')}";`));
    const [head, first, second] = await cellsOf(csv);
    assert.deepEqual(
      head,
      COLUNAS_DA_NOTA.map(({ coluna }) => coluna),
    );
    const told = Object.fromEntries(head!.map((coluna, at) => [coluna, [first![at], second![at]]]));
    assert.deepEqual(told['tomador_razao_social'], [FORMULA, 'Padaria São João & Filhos']);
    assert.deepEqual(told['valor_servico'], ['1000,00', '12345,67']);
    assert.deepEqual(told['aliquota_issqn'], ['2,00', '2,00']);
    assert.deepEqual(told['data_emissao'], ['2026-11-21T08:00:00-03:00', '2026-11-21T08:00:00-03:00']);
    assert.deepEqual(told['data_competencia'], ['2026-10-05', '2026-10-05']);
    assert.equal(told['chave_acesso']![1], cheia.chave_acesso);
  });

  test('of a month for the tax system is written by the command', async () => {
    const file = path.join(freshFolder(), 'iss.xlsx');
    const words = ['nota', 'exportar', file, '--municipio', SLUG, '--competencia', '2026-10', '--ordem', 'antigas'];
    const { code, out } = await nfseHere(words, pool, false, service.address, world.now);
    assert.deepEqual([code, out], [0, `3 notas em ${file}.\n`]);
    const listed = execFileSync('python3', ['-m', 'zipfile', '-t', file], { encoding: 'utf8' });
    assert.match(listed, /Done testing/);
    const [, first] = read(readFileSync(file), { dense: true }).Sheets['Notas']!['!data'] as { v: unknown }[][];
    assert.equal(first![0]!.v, cancelada.chave_acesso);
  });

  test('of a name that nobody has says so', async () => {
    const telling = await nfseHere(
      ['nota', 'exportar', path.join(freshFolder(), 'n.csv'), '--municipio', SLUG, '--texto', 'ninguém assim'],
      ...([pool, false, service.address, world.now] as const),
    );
    assert.equal(telling.code, 1);
    assert.match(telling.err, /Ninguém com este nome/);
  });
});

describe('in the console', () => {
  const LIST = `/m/${SLUG}/exportacoes`;
  const begin = async (pessoa: Pessoa, formato = 'xlsx', busca = {}): Promise<string> => {
    await pessoa.open(`/m/${SLUG}/notas`);
    const { path: place } = await pessoa.send(LIST, { formato, ...busca });
    assert.match(place, /\/exportacoes\/[0-9a-f-]{36}$/);
    return place;
  };
  const finish = (pessoa: Pessoa, place: string) =>
    until(async () => ((await pessoa.open(place)).html.includes('Pronta</span> ') ? true : undefined), 'the export');

  test('an export stands in the list of its author with its age, search and size, and is downloaded', async () => {
    const place = await begin(atendente, 'xlsx', { competencia: '2026-10' });
    await finish(atendente, place);
    clock.now += 5 * 60_000;
    const { html } = await atendente.open(LIST);
    assert.match(html, /há 5 minutos/);
    assert.match(html, /Competência \(MM\/AAAA\): 2026-10/);
    assert.match(html, /pronta<\/span> 3 notas, \d+ kB/);
    const { headers, html: body } = await atendente.open(`${place}/arquivo`);
    assert.equal(headers.get('content-type'), 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet');
    assert.match(headers.get('content-disposition')!, /notas-exporta\.xlsx/);
    assert.ok(body.startsWith('PK'));
  });

  test('two users see, download and cancel only what is theirs', async () => {
    const place = await begin(atendente);
    await finish(atendente, place);
    const outra = await enter(painel, await makeUsuario(painel, 'rita', { [SLUG]: 'administracao' }));
    assert.match((await outra.open(LIST)).html, /Nenhuma exportação sua/);
    for (const one of [place, `${place}/arquivo`]) assert.equal((await outra.open(one)).status, 404);
    await outra.open(`/m/${SLUG}/notas`);
    assert.equal((await outra.send(`${place}/cancelar`)).status, 404);
    assert.equal((await atendente.open(`${place}/arquivo`)).status, 200);
  });

  test('an export is cancelled or deleted: its page and its file are gone', async () => {
    const place = await begin(atendente);
    await finish(atendente, place);
    const { html } = await atendente.send(`${place}/cancelar`);
    assert.match(html, /A exportação foi apagada/);
    assert.equal((await atendente.open(place)).status, 404);
    assert.equal((await atendente.open(`${place}/arquivo`)).status, 404);
  });
});

describe('an export under way', () => {
  test('tells how many of how many, and stops where it is cancelled', async () => {
    const trabalhos = openExportacoes(world);
    const busca = {};
    const data = {
      formato: 'xlsx',
      busca,
      wasInterrupted: false,
      notas: 0,
      total: undefined,
      bytes: undefined,
    } as const;
    const one = (await trabalhos.begin(SLUG, 'tina', { ...data }))!;
    const arquivo = path.join(one.folder, 'notas.xlsx');
    const told: unknown[] = [];
    let ended: unknown;
    trabalhos.run(one, async () => {
      const tell = (notas: number, total: number | undefined): void => {
        told.push([notas, total]);
        void trabalhos.discard(one);
      };
      await exportNotas(world, SLUG, { busca, formato: 'xlsx', arquivo }, tell, one.signal).catch((error: Error) => {
        ended = error;
        throw error;
      });
    });
    await until(async () => (one.isRunning ? undefined : true), 'the end of the export');
    // All notes are one block, which was handed on before the cancellation.
    assert.deepEqual(told, [[0, 3]]);
    assert.ok(
      ended === undefined || (ended as Error).name === 'AbortError' || /ENOENT/.test(String(ended)),
      String(ended),
    );
    assert.deepEqual(trabalhos.list(SLUG, 'tina'), []);
    await until(async () => (existsSync(one.folder) ? undefined : true), 'the folder is gone');
  });
});

describe('a service that restarts', () => {
  test('in the midst of an export stops it, deletes its file, and knows it no more', async () => {
    const trabalhos = openExportacoes(world);
    const data = {
      formato: 'csv',
      busca: {},
      wasInterrupted: false,
      notas: 0,
      total: undefined,
      bytes: undefined,
    } as const;
    const one = (await trabalhos.begin(SLUG, 'tina', { ...data }))!;
    const stopped = Promise.withResolvers<void>();
    one.signal.addEventListener('abort', () => stopped.resolve());
    writeFileSync(path.join(one.folder, 'notas.csv'), 'dados');
    trabalhos.run(one, () => stopped.promise);
    await trabalhos.close();
    await until(async () => (one.isRunning ? undefined : true), 'the end of the export');
    assert.deepEqual([existsSync(one.folder), trabalhos.list(SLUG, 'tina')], [false, []]);
    assert.equal(openExportacoes(world).find(SLUG, 'tina', one.id), undefined);
  });
});

describe('an export whose process ended', () => {
  test('is made anew under its name by the next process, when its author looks', async () => {
    const first = { ...world, exportacoes: openExportacoes(world) };
    const asked = (await beginExport(first, SLUG, 'nina', { competencia: '2026-10' }, 'csv'))!;
    await first.exportacoes.close();
    const { id } = asked;
    const next = { ...world, exportacoes: openExportacoes(world) };
    onEnd(() => next.exportacoes.close());
    const looks = await Promise.all([resumeExports(next, SLUG, 'nina'), resumeExports(next, SLUG, 'rita')]);
    assert.deepEqual(looks, [[], []]);
    assert.equal(next.exportacoes.find(SLUG, 'rita', id), undefined);
    const again = next.exportacoes.find(SLUG, 'nina', id)!;
    await until(async () => (again.isRunning ? undefined : true), 'the end of the export');
    assert.deepEqual(
      [again.em, again.data.wasInterrupted, again.data.notas, again.data.busca],
      [asked.em, true, 3, { competencia: '2026-10' }],
    );
    const file = path.join(freshFolder(), 'notas.csv');
    await writeFile(file, readExport(again));
    assert.equal((await cellsOf(file)).length, 4);
    await discardExport(next, again);
    await resumeExports(next, SLUG, 'nina');
    assert.equal(next.exportacoes.find(SLUG, 'nina', id), undefined, 'a deleted one is not made again');
  });
});

describe('a process that was killed', () => {
  test('leaves no file of an export: the next one deletes it, and not those of a process that runs', async () => {
    const left = async (): Promise<number> => {
      const child = spawn('true');
      const { pid } = child;
      await once(child, 'exit');
      return pid!;
    };
    const folderOf = (pid: number): string => {
      const folder = mkdtempSync(path.join(tmpdir(), `nfse-console-${pid}-`));
      writeFileSync(path.join(folder, 'notas.csv'), 'dados');
      return folder;
    };
    const [dead, living] = [folderOf(await left()), folderOf(process.ppid)];
    const own = folderOf(process.pid);
    const trabalhos = openTrabalhos<undefined>(world, 'um trabalho de teste falhou');
    await until(async () => (existsSync(dead) ? undefined : true), 'the folder of the dead process');
    assert.deepEqual([existsSync(living), existsSync(own)], [true, true]);
    execFileSync('rm', ['-r', living, own]);
    await trabalhos.close();
  });
});
