/** Journeys of the auditor's desk, in a browser without scripts. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { SALAS } from '../src/base/world/lugares.ts';
import { MINUTE_MS } from '../src/fiscal/moment.ts';
import type { Patch } from '../src/fiscal/rules/rule.ts';
import { placeMudancas } from '../src/subjects/avisos/mudancas.job.ts';
import { openBrowser, type Page } from './support/browser.ts';
import { nfseHere } from './support/cli.ts';
import { cellsOf } from './support/csv.ts';
import { balcao, bancada, CANCELAMENTO, type NotaEmitida } from './support/eventos.ts';
import { REJEICAO } from './support/historias.ts';
import { freshFolder } from './support/openssl.ts';
import { enterInBrowser, makeUsuario, startTestPainel } from './support/painel.ts';
import { startTestService } from './support/service.ts';

const browser = await openBrowser();
const skip = browser === undefined ? 'there is no Chromium' : false;
const SLUG = 'vila';
const service = await startTestService({ worker: false, clock: { now: Date.parse('2026-10-20T12:00:00-03:00') } });
const { address, clock, pool, store, world } = service;
const painel = await startTestPainel(service);
const vila = balcao(address, SLUG);
const work = bancada(world, SLUG);
const folder = freshFolder();
const at = (where: string): string => `${painel.origin}/m/${SLUG}${where}`;

type Emitida = NotaEmitida & { readonly xml_nfse: string };

const says = (page: Page, text: string): Promise<void> =>
  page.until(`document.body.innerText.includes(${JSON.stringify(text)})`);

/** A page without scripts, with a signed-in operator. */
async function openDesk(login: string): Promise<Page> {
  const page = await browser!.newPage(true);
  await page.resize(1_280, 900);
  await page.scripts(false);
  clock.now += MINUTE_MS;
  await enterInBrowser(page, painel, await makeUsuario(painel, login, { [SLUG]: 'operacao' }));
  return page;
}

/** Cents of an amount, as the national layout and Brazilians write it. */
const cents = (text: string): bigint => BigInt(text.replace(/\D/g, ''));
/** `1.234,56` of so many cents. */
function writeCents(amount: bigint): string {
  const text = amount.toString().padStart(3, '0');
  return `${text.slice(0, -2).replace(/\B(?=(?:\d{3})+$)/g, '.')},${text.slice(-2)}`;
}

const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((one, other) => one + other, 0n);

/** The service's and the ISSQN's value in an NFS-e; the first group of values is that of the NFS-e. */
function readAmounts({ xml_nfse }: Emitida): Readonly<Record<'servicos' | 'issqn', bigint>> {
  const read = (text: string, tag: string): bigint =>
    cents(new RegExp(`<${tag}>([^<]*)</${tag}>`).exec(text)?.[1] ?? '0.00');
  const [valores = ''] = /<valores>.*?<\/valores>/s.exec(xml_nfse) ?? [];
  return { servicos: read(xml_nfse, 'vServ'), issqn: read(valores, 'vISSQN') };
}

const EMPRESA: Patch = { 'toma/CPF': null, 'toma/CNPJ': '11444777000161', 'toma/xNome': 'Padaria São João' };
const NOTAS = 60;
const emitidas: Emitida[] = [];
let cancelada: Emitida;

before(async () => {
  const settings = ['--ibge', '3550308', '--ambiente', 'homologacao', '--sem-exigir-numero'];
  const made = await nfseHere(['municipio', 'criar', SLUG, ...settings], pool, false, address, world.now);
  assert.equal(made.code, 0, made.err);
  for (let nota = 0; nota < NOTAS; nota += 1) {
    const patch: Patch = {
      'valores/vServPrest/vServ': `${100 + 37 * nota}.${String((nota * 13) % 100).padStart(2, '0')}`,
      ...(nota % 3 === 0 ? { ...EMPRESA, 'valores/trib/tribMun/tpRetISSQN': '2' } : {}),
    };
    emitidas.push((await vila.issue(patch)) as Emitida);
  }
  cancelada = emitidas.at(-1)!;
  await work.notas();
  await vila.registered(cancelada, { ...CANCELAMENTO, chave_acesso: cancelada.chave_acesso });
  await work.eventos();
  await placeMudancas(world, (await store.municipios.findBySlug(SLUG))!);
  while (await store.contagemDaReceita.countDue(clock.now, SALAS.receita, 0));
});

describe('the desk', { skip }, () => {
  test('reads the month, opens the notes of a figure, and takes them home: the sums are those of the notes', async () => {
    const page = await openDesk('maria');
    const valem = emitidas.slice(0, -1);
    const isRetida = (_: Emitida, place: number): boolean => place % 3 === 0;
    const retidas = valem.filter(isRetida).map(readAmounts);
    const apuradas = valem.filter((nota, place) => !isRetida(nota, place)).map(readAmounts);
    const [servicos, apurado, retido] = [
      sum([...retidas, ...apuradas].map((one) => one.servicos)),
      sum(apuradas.map((one) => one.issqn)),
      sum(retidas.map((one) => one.issqn)),
    ];
    // Every note has a rate, so that no sum is trivially right.
    assert.ok(apurado > 0n && retido > 0n);
    await page.open(at('/mes'));
    const competencia = /<dCompet>(\d{4}-\d{2})/.exec(cancelada.xml_nfse)![1]!;
    await page.fill('#campo-mes', competencia);
    await page.click('main form button');
    const cards = await page.evaluate<readonly string[]>(
      `[...document.querySelectorAll('.cartao')].map((one) => one.innerText.replace(/\\s+/g, ' '))`,
    );
    const told = [
      `Notas que valem ${NOTAS - 1} R$ ${writeCents(servicos)} em serviços`,
      `ISSQN apurado (R$) ${writeCents(apurado)} a recolher pelo prestador, em ${apuradas.length} notas`,
      `ISSQN retido (R$) ${writeCents(retido)} pelo tomador ou intermediário, em ${retidas.length} notas`,
      'Canceladas depois 1 não estão nas outras somas',
    ];
    assert.deepEqual(cards, told);
    await page.click('.cartao a[href*="issqn=apurado"]');
    await says(
      page,
      `${apuradas.length} notas, R$ ${writeCents(sum(apuradas.map((one) => one.servicos)))} em serviços`,
    );
    await page.click('button[value=csv]');
    await page.until(`document.querySelector('a[download]') !== null`);
    const text = await page.evaluate<string>(
      `fetch(document.querySelector('a[download]').href).then((answer) => answer.text())`,
    );
    const file = path.join(folder, 'apuradas.csv');
    writeFileSync(file, text);
    const [head, ...rows] = await cellsOf(file);
    const column = (name: string): readonly string[] => rows.map((row) => row[head!.indexOf(name)]!);
    assert.deepEqual(
      column('chave_acesso').toSorted(),
      valem.flatMap((nota, place) => (isRetida(nota, place) ? [] : [nota.chave_acesso])).toSorted(),
    );
    assert.equal(sum(column('valor_issqn').map(cents)), apurado);
    assert.equal(sum(column('valor_servico').map(cents)), sum(apuradas.map((one) => one.servicos)));
  });

  test('imports a register as Excel saves it, tells its columns, and mends the refused lines', async () => {
    const page = await openDesk('olga');
    const file = path.join(folder, 'clientes.csv');
    // A mark, semicolons, names of a town, a CNPJ without its zeros, and a line without a name.
    const lines = ['394460005887;Autarquia;10;ativa', '11222333000181;Oficina São Jorge;11;ativa', '52998224725;;12;'];
    writeFileSync(file, `\uFEFFCNPJ/CPF;Nome do cliente;Inscrição Municipal;Situação\r\n${lines.join('\r\n')}\r\n`);
    await page.open(at('/cadastros/importar/prestadores'));
    await page.choose('#campo-arquivo', file);
    await page.click('main form button');
    await says(page, 'Diga o que é cada coluna do arquivo');
    const choose = async (heading: string, column: string): Promise<void> => {
      const id = await page.evaluate<string>(
        `[...document.querySelectorAll('main label')].find((one) => one.innerText.includes(${JSON.stringify(heading)})).htmlFor`,
      );
      await page.fill(`#${id}`, column);
    };
    await choose('Nome do cliente', 'razao_social');
    await choose('Situação', '');
    await page.click('form[action$="/colunas"] button');
    await says(page, 'Nada foi gravado ainda.');
    await says(page, '1 linha de 3 não serve');
    const refused = await page.evaluate<string>(
      `fetch(document.querySelector('a[download]').href).then((answer) => answer.text())`,
    );
    await page.click('form[action$="/gravar"] button');
    await says(page, 'clientes.csv foi importado.');
    writeFileSync(path.join(folder, 'recusadas.csv'), refused.replace(';;', ';Maria Exemplo;'));
    await page.open(at('/cadastros/importar/prestadores'));
    await page.choose('#campo-arquivo', path.join(folder, 'recusadas.csv'));
    await page.click('main form button');
    await says(page, 'Diga o que é cada coluna do arquivo');
    await choose('Nome do cliente', 'razao_social');
    await choose('Situação', '');
    await page.click('form[action$="/colunas"] button');
    await says(page, 'Nada foi gravado ainda.');
    await page.click('form[action$="/gravar"] button');
    await says(page, 'recusadas.csv foi importado.');
    const { rows } = await pool.query({
      text: 'select documento, razao_social, inscricao_municipal from prestadores where tenant = $1 order by 1',
      values: [SLUG],
      rowMode: 'array',
    });
    assert.deepEqual(rows, [
      ['00394460005887', 'Autarquia', '10'],
      ['11222333000181', 'Oficina São Jorge', '11'],
      ['52998224725', 'Maria Exemplo', '12'],
    ]);
  });

  test('sees that a list would have stopped notes, and leaves it', async () => {
    const page = await openDesk('rita');
    const file = path.join(folder, 'servicos.csv');
    const head = 'codigo;descricao;codigo_tributacao_nacional;aliquota;inicio';
    writeFileSync(file, `${head}\n001;Consultoria;170101;5,00;2020-01-01\n`);
    await page.open(at('/cadastros/importar/servicos'));
    await page.choose('#campo-arquivo', file);
    await page.click('main form button');
    await says(page, `${NOTAS} das ${NOTAS} notas dos últimos 30 dias seriam recusadas`);
    await says(page, 'Gravar assim mesmo');
    await page.click('.menu a[href$="/notas"]');
    const { rows } = await pool.query('select count(*)::int as n from servicos_municipais where tenant = $1', [SLUG]);
    assert.equal(rows[0].n, 0);
    const nota = await vila.issue();
    assert.match(nota.chave_acesso, /^\d{50}$/);
  });

  test('answers a complaint by the address in the QR code, with what the taker reads of the same note', async () => {
    const page = await openDesk('lia');
    const { chave_acesso } = cancelada;
    await page.open(at('/notas'));
    await page.fill('#campo-q', `https://www.nfse.gov.br/ConsultaPublica/?tpc=1&chave=${chave_acesso}`);
    await page.click('.busca button');
    await says(page, 'Cancelamento de NFS-e');
    await says(page, 'cancelada');
    const taker = await browser!.newPage(true);
    await taker.scripts(false);
    await taker.open(`${address}/${SLUG}/`);
    await taker.fill('#chave', chave_acesso.replace(/(.{4})/g, '$1 '));
    await taker.click('main button, form.consulta button');
    await says(taker, 'Cancelada.');
    await says(taker, 'Foi cancelada, e não tem mais efeito.');
    assert.deepEqual([...page.complaints, ...taker.complaints], []);
  });

  test('has two clerks at one matter: the second one learns that it is done, and both remarks stay', async () => {
    const nota = emitidas[1]!;
    await vila.registered(nota, { tipo_evento: 'rejeicao_tomador', ...REJEICAO, chave_acesso: nota.chave_acesso });
    await work.eventos();
    const [ana, bia] = [await openDesk('ana'), await openDesk('bia')];
    for (const page of [ana, bia]) {
      await page.open(at('/pendencias'));
      await page.click('a[href*="/pendencia?tipo=rejeicao"]');
      await says(page, 'Rejeições de tomador ou intermediário');
    }
    await bia.fill('#campo-motivo-anotar', 'liguei para o tomador');
    await bia.click('form[action*="/anotar"] button');
    await says(bia, 'A anotação foi guardada.');
    for (const page of [ana, bia]) {
      await page.click('details:has(form[action*="/encerrar"]) summary');
      await page.fill('#campo-motivo-encerrar', 'as partes se entenderam');
    }
    await ana.click('form[action*="/encerrar"] button');
    await says(ana, 'Dado por visto: saiu da lista.');
    await bia.click('form[action*="/encerrar"] button');
    await says(bia, 'Isto não espera mais');
    await says(bia, 'liguei para o tomador');
    const acts = await store.atos.list(SLUG, { objeto: 'pendencia' }, 10);
    assert.deepEqual(acts.map(({ quem, acao }) => [quem, acao]).toSorted(), [
      ['ana', 'encerrada'],
      ['bia', 'anotada'],
    ]);
  });
});
