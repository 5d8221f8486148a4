/**
 * The sums of a month against the notes themselves. The class of each note is known by the DPS that was sent. The amounts are read in the
 * NFS-e that the provider got, and added up by the arithmetic of the test.
 */
import assert from 'node:assert/strict';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { INTERMEDIARIO } from '../../../test/casos/caso.ts';
import { nfseHere } from '../../../test/support/cli.ts';
import { balcao, bancada, CANCELAMENTO, type NotaEmitida } from '../../../test/support/eventos.ts';
import { substituicaoPor } from '../../../test/support/historias.ts';
import { enter, makeUsuario, type Pessoa, startTestPainel, type Usuario } from '../../../test/support/painel.ts';
import { startTestService } from '../../../test/support/service.ts';
import { SALAS } from '../../base/world/lugares.ts';
import type { Patch } from '../../fiscal/rules/rule.ts';
import { placeMudancas } from '../avisos/mudancas.job.ts';
import { summariseMes } from './mes.ts';
import { POR, VISOES, type Visao } from './somas.rows.ts';

const SLUG = 'vila';
const service = await startTestService({ worker: false, clock: { now: Date.parse('2026-10-20T12:00:00-03:00') } });
const { store, clock, pool, world } = service;
const painel = await startTestPainel(service);
const vila = balcao(service.address, SLUG);
const work = bancada(world, SLUG);

const TRIB = 'valores/trib/tribMun';
const SEM_ALIQUOTA: Patch = { [`${TRIB}/pAliq`]: null };
const EMPRESA: Patch = { 'toma/CPF': null, 'toma/CNPJ': '11444777000161', 'toma/xNome': 'Padaria São João & Filhos' };
const CPF_DO_PRESTADOR: Patch = { 'prest/CNPJ': null, 'prest/CPF': '11144477735', 'prest/xNome': 'Psicóloga de Souza' };
const NO_EXTERIOR: Patch = {
  'toma/CPF': null,
  'toma/NIF': 'US-123456789',
  'toma/xNome': 'Fictitious Client Inc',
  'toma/end/endExt/cPais': 'US',
  'toma/end/endExt/cEndPost': '10001',
  'toma/end/endExt/xCidade': 'New York',
  'toma/end/endExt/xEstProvReg': 'NY',
  'serv/comExt/mdPrestacao': '1',
  'serv/comExt/vincPrest': '6',
  'serv/comExt/tpMoeda': '220',
  'serv/comExt/vServMoeda': '100.00',
  'serv/comExt/mecAFComexP': '01',
  'serv/comExt/mecAFComexT': '01',
  'serv/comExt/movTempBens': '1',
  'serv/comExt/mdic': '0',
};

const valor = (vServ: string): Patch => ({ 'valores/vServPrest/vServ': vServ });

/** The class of the ISSQN of a DPS (NFS-e 1.01, E1295 to E1311), and the regime of its provider. */
type Caso = { readonly patch: Patch; readonly classe: string; readonly regime: string };
const CASOS: Readonly<Record<string, Caso>> = {
  comum: { patch: valor('1000.01'), classe: 'apurado', regime: 'normal' },
  cara: {
    patch: { ...EMPRESA, ...valor('98765.43'), [`${TRIB}/pAliq`]: '5.00', 'serv/cServ/cTribNac': '010701' },
    classe: 'apurado',
    regime: 'normal',
  },
  retida: {
    patch: { ...EMPRESA, ...valor('333.33'), [`${TRIB}/tpRetISSQN`]: '2' },
    classe: 'retido',
    regime: 'normal',
  },
  intermediada: {
    patch: { ...INTERMEDIARIO, ...valor('5000.00'), [`${TRIB}/tpRetISSQN`]: '3' },
    classe: 'retido_interm',
    regime: 'normal',
  },
  suspensa: {
    patch: {
      ...SEM_ALIQUOTA,
      [`${TRIB}/exigSusp/tpSusp`]: '1',
      [`${TRIB}/exigSusp/nProcesso`]: '000000000012345678901234567890',
    },
    classe: 'suspenso',
    regime: 'normal',
  },
  isenta: {
    patch: { ...SEM_ALIQUOTA, 'serv/cServ/cTribNac': '170601', [`${TRIB}/BM/nBM`]: '35503080400002' },
    classe: 'isento',
    regime: 'normal',
  },
  imune: {
    patch: { ...SEM_ALIQUOTA, [`${TRIB}/tribISSQN`]: '2', [`${TRIB}/tpImunidade`]: '3' },
    classe: 'imune',
    regime: 'normal',
  },
  exportada: {
    patch: { ...SEM_ALIQUOTA, ...NO_EXTERIOR, [`${TRIB}/tribISSQN`]: '3' },
    classe: 'exportado',
    regime: 'normal',
  },
  alheia: {
    patch: { 'serv/cServ/cTribNac': '170501', 'toma/end/endNac/cMun': '3304557', [`${TRIB}/pAliq`]: '5.00' },
    classe: 'outro_municipio',
    regime: 'normal',
  },
  mei: { patch: { ...SEM_ALIQUOTA, 'prest/regTrib/opSimpNac': '2' }, classe: 'das', regime: 'mei' },
  simples: {
    patch: { ...SEM_ALIQUOTA, 'prest/regTrib/opSimpNac': '3', 'prest/regTrib/regApTribSN': '1' },
    classe: 'das',
    regime: 'simples_1',
  },
  simplesFora: {
    patch: { 'prest/regTrib/opSimpNac': '3', 'prest/regTrib/regApTribSN': '2' },
    classe: 'apurado',
    regime: 'simples_2',
  },
  autonoma: {
    patch: { ...CPF_DO_PRESTADOR, ...SEM_ALIQUOTA, 'prest/regTrib/regEspTrib': '5', 'serv/cServ/cTribNac': '041601' },
    classe: 'especial',
    regime: 'especial_5',
  },
};

/** A note as the oracle has it: amounts in cents, read in its NFS-e. */
type Nota = Omit<Caso, 'patch'> & {
  readonly nota: NotaEmitida;
  readonly competencia: string;
  readonly dia: string;
  readonly servico: string;
  readonly prestador: string;
  readonly tomador: string;
  readonly aliquota: string;
  readonly valores: Readonly<Record<'servicos' | 'base' | 'issqn' | 'ibs' | 'cbs', bigint>>;
  estado: 'vale' | 'cancelada' | 'recusada';
};
const emitidas: Nota[] = [];

const textIn = (xml: string, tag: string): string => new RegExp(`<${tag}>([^<]*)</${tag}>`).exec(xml)?.[1] ?? '';
const cents = (text: string): bigint => BigInt((text || '0.00').replace('.', ''));

function readNota(nota: NotaEmitida, xml: string, { classe, regime }: Omit<Caso, 'patch'>, dia: string): Nota {
  const toma = /<toma>.*?<\/toma>/s.exec(xml)?.[0] ?? '';
  // The first is that of the NFS-e; the groups of IBS and CBS, and of the DPS, have others.
  const valores = /<valores>.*?<\/valores>/s.exec(xml)![0];
  const prest = /<prest>.*?<\/prest>/s.exec(xml)![0];
  return {
    ...{ nota, classe, regime, dia, estado: 'vale' },
    competencia: textIn(xml, 'dCompet').slice(0, 7),
    servico: textIn(xml, 'cTribNac'),
    prestador: textIn(prest, 'CNPJ') || textIn(prest, 'CPF'),
    tomador: textIn(toma, 'CNPJ') || textIn(toma, 'CPF'),
    aliquota: textIn(valores, 'pAliqAplic'),
    valores: {
      servicos: cents(textIn(xml, 'vServ')),
      base: cents(textIn(valores, 'vBC')),
      issqn: cents(textIn(valores, 'vISSQN')),
      ibs: cents(textIn(xml, 'vIBSTot')),
      cbs: cents(textIn(xml, 'vCBS')),
    },
  };
}

async function emitir(
  caso: keyof typeof CASOS,
  more: Patch = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<Nota> {
  const { patch, classe, regime } = CASOS[caso]!;
  const nota = (await vila.issue({ ...patch, ...more }, headers)) as NotaEmitida & { readonly xml_nfse: string };
  // The clock of this test stands at noon in Brasília, so that the day is that of UTC.
  const made = readNota(nota, nota.xml_nfse, { classe, regime }, new Date(clock.now).toISOString().slice(0, 10));
  emitidas.push(made);
  return made;
}

async function contar(): Promise<void> {
  await placeMudancas(world, (await store.municipios.findBySlug(SLUG))!);
  while (await store.contagemDaReceita.countDue(clock.now, SALAS.receita, 0));
}

/** Sums of the oracle's notes, written out. */
function somar(notas: readonly Nota[]) {
  const total = { servicos: 0n, base: 0n, issqn: 0n, ibs: 0n, cbs: 0n };
  for (const { valores } of notas)
    for (const name of Object.keys(total) as (keyof typeof total)[]) total[name] += valores[name];
  return { notas: notas.length, ...total };
}

const isDoMes =
  (visao: Visao, mes: string) =>
  (nota: Nota): boolean =>
    nota.estado !== 'recusada' && (visao === 'competencia' ? nota.competencia : nota.dia.slice(0, 7)) === mes;

/** Compares a month with the oracle: each class, each key, and the months before. */
async function confere(visao: Visao, mes: string): Promise<void> {
  const shown = await summariseMes(world, SLUG, { visao, mes: Number(mes.replace('-', '')) });
  const doMes = emitidas.filter(isDoMes(visao, mes));
  const valem = doMes.filter(({ estado }) => estado === 'vale');
  const classes = Object.fromEntries(shown.classes.map(({ classe, ...somada }) => [classe, somada]));
  const wanted = [...Map.groupBy(doMes, ({ estado, classe }) => (estado === 'cancelada' ? 'cancelada' : classe))];
  assert.deepEqual(classes, Object.fromEntries(wanted.map(([classe, own]) => [classe, somar(own)])));
  for (const por of POR) {
    const rows = por === 'dia' ? shown.dias : shown.tabelas[por];
    const found = rows.filter(({ notas, canceladas }) => notas + canceladas > 0).map(({ nome: _, ...row }) => row);
    const of = por === 'tomador' ? doMes.filter(({ classe }) => classe === 'retido') : doMes;
    const keys = Map.groupBy(of, (nota) => nota[por].replaceAll(por === 'dia' ? '-' : '\0', ''));
    const expected = [...keys].map(([chave, own]) => {
      const standing = own.filter(({ estado }) => estado === 'vale');
      const issqnOf = (...which: readonly string[]): bigint =>
        somar(standing.filter(({ classe }) => which.includes(classe))).issqn;
      return {
        ...{ ...somar(standing), chave, apurado: issqnOf('apurado'), retido: issqnOf('retido', 'retido_interm') },
        canceladas: own.length - standing.length,
      };
    });
    const byChave = (one: { readonly chave: string }, other: { readonly chave: string }): number =>
      one.chave < other.chave ? -1 : 1;
    assert.deepEqual(found.toSorted(byChave), expected.toSorted(byChave), `${visao} ${mes} por ${por}`);
  }
  assert.equal(shown.total.notas, valem.length);
  for (const { chave, notas } of shown.meses) {
    const own = emitidas.filter(isDoMes(visao, `${chave.slice(0, 4)}-${chave.slice(4)}`));
    assert.equal(notas, own.filter(({ estado }) => estado === 'vale').length, chave);
  }
}

async function confereTudo(): Promise<void> {
  await contar();
  await confere('competencia', '2026-10');
  await confere('competencia', '2026-11');
  await confere('emissao', '2026-10');
  await confere('emissao', '2026-11');
  assert.deepEqual(
    (await store.contagemDaReceita.prove(SLUG, clock.now, false)).filter(({ diferentes }) => diferentes > 0),
    [],
  );
}

/** Cents in the Brazilian form. */
const writeReais = (value: bigint): string =>
  (Number(value) / 100).toLocaleString('pt-BR', { minimumFractionDigits: 2 });

let leo: Usuario;
let leitor: Pessoa;

before(async () => {
  await store.municipios.create({ tenant: SLUG, ambiente: 'homologacao', codigoIbge: '3550308' }, clock.now);
  const beneficios = path.resolve(import.meta.dirname, '../../../examples/beneficios.csv');
  const said = await nfseHere(['beneficios', 'importar', beneficios, '--municipio', SLUG, '--confirmar'], pool);
  assert.equal(said.code, 0, said.err);
  for (const caso of Object.keys(CASOS)) await emitir(caso);
  await contar();
  clock.now = Date.parse('2026-11-21T12:00:00-03:00');
  for (const caso of Object.keys(CASOS)) await emitir(caso, { dCompet: '2026-11-03' });
  await emitir('comum', { dCompet: '2026-10-31' });
  leo = await makeUsuario(painel, 'leo', { [SLUG]: 'leitura' });
});

describe('the sums of a month are those of its notes, to the cent', () => {
  test('by class and by each key, of the competence and of the month of issue', confereTudo);

  test('once notes were cancelled, refused and replaced', async () => {
    await work.notas();
    for (const place of [0, 2, 3]) {
      await vila.registered(emitidas[place]!.nota, CANCELAMENTO);
      emitidas[place]!.estado = 'cancelada';
    }
    const refused = await emitir('cara', {}, { 'X-NFSe-Simular': 'adn:rejeita=E1235' });
    refused.estado = 'recusada';
    const old = emitidas.find(({ classe, estado }) => classe === 'retido' && estado === 'vale')!;
    const subst = {
      'subst/chSubstda': old.nota.chave_acesso,
      'subst/cMotivo': '99',
      'subst/xMotivo': 'Descrição errada',
    };
    const nova = await emitir('retida', { ...subst, dCompet: '2026-11-03' });
    await work.notas();
    await vila.registered(old.nota, substituicaoPor(nova.nota));
    await work.eventos();
    old.estado = 'cancelada';
    clock.now += 3_600_000;
    await work.notas();
    const { rows } = await pool.query<{ estado: string; count: number }>(
      'select estado, count(*)::int as count from notas where tenant = $1 group by estado order by estado',
      [SLUG],
    );
    assert.deepEqual(rows, [
      { estado: 'autorizada', count: emitidas.length - 5 },
      { estado: 'cancelada', count: 4 },
      { estado: 'recusada', count: 1 },
    ]);
    await confereTudo();
  });

  test('once changes had their place without a word to the sums, as from a version before them', async () => {
    await emitir('comum', { dCompet: '2026-11-04' });
    await placeMudancas(world, (await store.municipios.findBySlug(SLUG))!);
    await pool.query('delete from receita_novas where tenant = $1', [SLUG]);
    await pool.query('update mudancas_ate set receita_bloco = bloco - 1 where tenant = $1', [SLUG]);
    await emitir('comum', { dCompet: '2026-11-05' });
    await confereTudo();
  });

  test('while changes wait: a count takes each note once, placed or not', async () => {
    await emitir('comum', { dCompet: '2026-11-06' });
    await placeMudancas(world, (await store.municipios.findBySlug(SLUG))!);
    await emitir('cara', { dCompet: '2026-11-06' });
    await pool.query('update receita_meses set pedida = pedida + 1 where tenant = $1', [SLUG]);
    while (await store.contagemDaReceita.countDue(clock.now, SALAS.receita, 0));
    const { total } = await summariseMes(world, SLUG, { visao: 'emissao', mes: 202611 });
    assert.equal(
      total.notas,
      emitidas.filter(isDoMes('emissao', '2026-11')).filter(({ estado }) => estado === 'vale').length - 1,
    );
    await confereTudo();
  });
});

test('a pause lies between two counts, but not of a young municipality', async () => {
  const pauseMs = 300_000;
  const count = () => store.contagemDaReceita.countDue(clock.now, SALAS.receita, pauseMs);
  const waits = async (): Promise<boolean> => (await store.somas.readContagem(SLUG)).contadaAte !== undefined;
  const issue = async (): Promise<void> => {
    await emitir('comum', { dCompet: '2026-11-07' });
    await placeMudancas(world, (await store.municipios.findBySlug(SLUG))!);
    assert.ok(await waits());
  };
  await issue();
  await count();
  assert.equal(await waits(), false);
  await pool.query('update mudancas_ate set bloco = bloco + 1000, receita_bloco = bloco + 1000 where tenant = $1', [
    SLUG,
  ]);
  await issue();
  await count();
  assert.ok(await waits());
  clock.now += pauseMs;
  await count();
  assert.equal(await waits(), false);
  clock.now -= pauseMs;
});

test('a sum that somebody changed is found, and made anew', async () => {
  await pool.query(
    "update receita_somas set issqn = issqn + 1 where tenant = $1 and mes = 202611 and por = 'regime' and chave = 'mei'",
    [SLUG],
  );
  const run = (...args: string[]) => nfseHere(['receita', ...args], pool, false, undefined, () => clock.now);
  const found = await run('conferir', SLUG);
  assert.equal(found.code, 1);
  assert.match(found.out, /2026-11: \d+ somas, 1 diferentes das notas\n/);
  assert.equal((await run('conferir', SLUG, '--refazer')).code, 0);
  assert.equal((await run('conferir', SLUG)).code, 0);
  await confere('emissao', '2026-11');
});

describe('in the console', () => {
  before(async () => {
    leitor = await enter(painel, leo);
  });

  test('every figure opens the notes behind it, and they are as many', async () => {
    for (const query of ['mes=2026-11', 'visao=emissao&mes=2026-11']) {
      const { html, status } = await leitor.open(`/m/${SLUG}/mes?${query}`);
      assert.equal(status, 200);
      const links = [...html.matchAll(/href="(\/m\/vila\/notas\?[^"]+)">([\d.]+)<\/a>/g)];
      assert.ok(links.length > 30, `${links.length} counts`);
      for (const [, href, count] of links) {
        const list = await leitor.open(href!.replaceAll('&amp;', '&'));
        assert.match(list.html, new RegExp(`>${count} notas?, R\\$`), href!);
        const [, servicos] = html.split(
          `href="${href}">${count}</a></td><td class="num" data-nome="Serviços (R$)"><a href="${href}">`,
        );
        // The price of these notes stands beside their number.
        if (servicos !== undefined) assert.ok(list.html.includes(`R$ ${servicos.split('<')[0]} em serviços`), href!);
      }
    }
  });

  test('the amounts open notes too, and sum up to what the page says', async () => {
    const { html } = await leitor.open(`/m/${SLUG}/mes?mes=2026-11`);
    const { total } = await summariseMes(world, SLUG, { visao: 'competencia', mes: 202611 });
    const [, href] = /href="([^"]*issqn=retidos)"/.exec(html)!;
    const list = await leitor.open(href!.replaceAll('&amp;', '&'));
    const retidas = emitidas.filter(
      ({ classe, estado, competencia }) =>
        classe.startsWith('retido') && estado === 'vale' && competencia === '2026-11',
    );
    assert.equal(total.retido, somar(retidas).issqn);
    assert.match(list.html, new RegExp(`>${retidas.length} notas?, R\\$`));
    const issqn = writeReais(somar(retidas).issqn);
    assert.ok(list.html.includes(`R$ ${issqn} de ISSQN.`), issqn);
    assert.match(list.html, /<th scope="col"[^>]*>ISSQN \(R\$\)<\/th>/);
  });

  test('a table is taken away as a sheet, and a chart as a file that stands alone', async () => {
    const sheet = await leitor.open(`/m/${SLUG}/mes/planilha?mes=2026-11&tabela=servico`);
    assert.match(sheet.headers.get('content-type')!, /^text\/csv/);
    const servicos = new Set(emitidas.filter(isDoMes('competencia', '2026-11')).map(({ servico }) => servico));
    assert.equal(sheet.html.trim().split('\r\n').length, 1 + servicos.size);
    const chart = await leitor.open(`/m/${SLUG}/mes/grafico?mes=2026-11&grafico=meses`);
    assert.equal(chart.headers.get('content-type'), 'image/svg+xml');
    assert.match(chart.html, /^<svg xmlns="http:\/\/www.w3.org\/2000\/svg"[^>]*><style>/);
    assert.equal(chart.html.match(/class="barra-do-grafico"/g)!.length, 2, 'October and November');
  });

  test('a sheet has words for headings, names of parties, and numbers and months of Brazil', async () => {
    const linesOf = async (tabela: string): Promise<readonly string[]> =>
      (await leitor.open(`/m/${SLUG}/mes/planilha?mes=2026-11&tabela=${tabela}`)).html.trim().split('\r\n');
    const [head, ...prestadores] = await linesOf('prestador');
    assert.match(head!, /CNPJ ou CPF;Prestador;ISSQN apurado \(R\$\);ISSQN retido \(R\$\);/);
    assert.deepEqual(prestadores.map((line) => line.split(';').slice(0, 2).join(';')).toSorted(), [
      "'11144477735;Psicóloga de Souza",
      "'11222333000181;Empresa Exemplo Ltda",
    ]);
    const [, tomador] = await linesOf('tomador');
    assert.ok(tomador!.startsWith("'11444777000161;Padaria São João & Filhos;"), `${tomador}`);
    assert.ok((await linesOf('aliquota')).some((line) => line.startsWith('5,00;')));
    assert.ok((await linesOf('meses')).at(-1)!.startsWith('11/2026;'));
  });

  test('the tax that intermediaries withhold stands beside the table of takers', async () => {
    const { html } = await leitor.open(`/m/${SLUG}/mes?mes=2026-11`);
    const own = emitidas.filter(isDoMes('competencia', '2026-11')).filter(({ classe }) => classe === 'retido_interm');
    const issqn = writeReais(somar(own).issqn);
    assert.match(html, new RegExp(`mais <a href="[^"]*issqn=retido_interm">R\\$ ${issqn}</a>, em 1 nota\\.`));
  });

  test('the notes of the month are taken away by those who may export, of the competence or of the issue', async () => {
    assert.ok(!(await leitor.open(`/m/${SLUG}/mes?mes=2026-11`)).html.includes('Baixar as notas do mês'));
    const atendente = await enter(painel, await makeUsuario(painel, 'tina', { [SLUG]: 'atendimento' }));
    for (const visao of VISOES) {
      const { html } = await atendente.open(`/m/${SLUG}/mes?mes=2026-10&visao=${visao}`);
      const [, href] = /href="([^"]+)">Baixar as notas do mês/.exec(html)!;
      const file = await atendente.open(href!.replaceAll('&amp;', '&'));
      const keys = [...file.html.matchAll(/^'(\d{50});/gm)].map(([, chave]) => chave!);
      const isDaVisao = ({ competencia, dia }: Nota): boolean =>
        (visao === 'competencia' ? competencia : dia.slice(0, 7)) === '2026-10';
      assert.deepEqual(
        keys.toSorted(),
        emitidas
          .filter(isDaVisao)
          .map(({ nota }) => nota.chave_acesso)
          .toSorted(),
      );
    }
  });

  test('says until when it counted, and what is not in it', async () => {
    await emitir('comum', { dCompet: '2026-11-20' });
    await placeMudancas(world, (await store.municipios.findBySlug(SLUG))!);
    clock.now += 600_000;
    leitor = await enter(painel, leo);
    const { html } = await leitor.open(`/m/${SLUG}/mes`);
    assert.match(
      html,
      /contadas até 13:00 de 21\/11\/2026\. O que as empresas do Simples Nacional emitem no emissor nacional não está nelas/,
    );
    assert.match(html, /Há notas mais novas que ainda não estão nestas somas/);
    const empty = await leitor.open(`/m/${SLUG}/mes?mes=09/2026`);
    assert.match(empty.html, /ainda estão a ser contadas/);
    assert.doesNotMatch(empty.html, /Notas que valem/);
    await contar();
    const after = await leitor.open(`/m/${SLUG}/mes?mes=09/2026`);
    assert.doesNotMatch(after.html, /Há notas mais novas|ainda estão a ser contadas/);
    assert.match((await leitor.open(`/m/${SLUG}/mes`)).html, /contadas até 13:10 de 21\/11\/2026/);
  });

  test('a month that cannot be read is refused in its field', async () => {
    const { status, html } = await leitor.open(`/m/${SLUG}/mes?mes=13/2026`);
    assert.equal(status, 422);
    assert.match(html, /Escreva o mês como MM\/AAAA/);
    const read = await leitor.open(`/m/${SLUG}/mes?mes=10/2026`);
    assert.match(read.html, /<h1>Mês da competência 10\/2026</);
  });
});
