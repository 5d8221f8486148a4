/** The matters that wait for the municipality: each kind from a real event, its end, its person in charge, and each role. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { nfseHere } from '../../../test/support/cli.ts';
import { balcao, bancada, CANCELAMENTO, type NotaEmitida } from '../../../test/support/eventos.ts';
import { AGENTE, MUNICIPIO_CNPJ, PEDIDO_DE_ANALISE, plays, REJEICAO } from '../../../test/support/historias.ts';
import { enter, makeUsuario, type Pessoa, startTestPainel, type Usuario } from '../../../test/support/painel.ts';
import { startTestService } from '../../../test/support/service.ts';
import { DAY_MS } from '../../fiscal/moment.ts';
import { registrarDeOficio } from '../eventos/office.ts';

const TENANT = 'integracao';
const LIST = `/m/${TENANT}/pendencias`;
const service = await startTestService({ worker: false });
const painel = await startTestPainel(service);
const { store, clock, pool, world, address } = service;
const integracao = balcao(address);
const work = bancada(world);

const users = new Map<string, Usuario>();
let operadora: Pessoa;
let atendente: Pessoa;
let leitor: Pessoa;
before(async () => {
  for (const [login, papel] of [
    ['olga', 'operacao'],
    ['alba', 'atendimento'],
    ['leo', 'leitura'],
  ] as const) {
    users.set(login, await makeUsuario(painel, login, { [TENANT]: papel }));
  }
  await enterAll();
});

async function enterAll(): Promise<void> {
  operadora = await enter(painel, users.get('olga')!);
  atendente = await enter(painel, users.get('alba')!);
  leitor = await enter(painel, users.get('leo')!);
}

async function authorised(): Promise<NotaEmitida> {
  const nota = await integracao.issue();
  await work.notas();
  return nota;
}

async function deOficio({ chave_acesso }: NotaEmitida, body: object): Promise<number> {
  const corpo = Buffer.from(JSON.stringify({ cpf_agente_tributario: AGENTE, ...body }));
  const porMao = { quem: 'teste', via: 'comando' } as const;
  const made = await registrarDeOficio(world, TENANT, { chave: chave_acesso, corpo, cnpj: MUNICIPIO_CNPJ, porMao });
  assert.ok('evento' in made, JSON.stringify(made));
  await work.eventos();
  return made.evento.id_evento;
}

const counted = async () => store.pendencias.count(TENANT, clock.now);
const NONE = { analise_fiscal: 0, rejeicao: 0, bloqueio: 0, oficio: 0, nota_recusada: 0, evento: 0, nota_retida: 0 };

/** The address of a matter, as the list links it. */
function linkTo(html: string, tipo: string): string {
  const [, path] = new RegExp(`href="(/m/${TENANT}/pendencia\\?tipo=${tipo}[^"]*)"`).exec(html) ?? assert.fail(html);
  return path!.replaceAll('&amp;', '&');
}

describe('what waits', () => {
  test('is nothing at first', async () => {
    assert.deepEqual(await counted(), NONE);
    const { html } = await leitor.open(`${LIST}?tipo=rejeicao`);
    assert.match(html, /Nada deste tipo espera pela prefeitura/);
  });

  test('a request of fiscal analysis waits until it is granted or denied', async () => {
    const nota = await authorised();
    const body = { tipo_evento: 'solicitacao_analise_fiscal_para_cancelamento', ...PEDIDO_DE_ANALISE };
    await integracao.registered(nota, body);
    await work.eventos();
    assert.deepEqual(await counted(), { ...NONE, analise_fiscal: 1 });
    const page = (await operadora.open(LIST)).html;
    assert.match(page, /Pedidos de análise fiscal: 1/);
    assert.match(page, /21\/11\/2026 12:00:00/);
    assert.match(page, /Serviço que não foi prestado/);
    const [, grant] = /href="([^"]*)">Deferir</.exec(page)!;
    const form = await operadora.open(grant!.replaceAll('&amp;', '&'));
    assert.match(form.html, /Cancelamento de NFS-e Deferido/);
    assert.match(form.html, new RegExp(`value="${nota.chave_acesso}"`));
    assert.match(page, />Indeferir</);
    assert.ok(!(await leitor.open(LIST)).html.includes('>Deferir<'), 'who reads cannot decide');
    await deOficio(nota, {
      tipo_evento: 'cancelamento_indeferido_por_analise_fiscal',
      codigo_motivo: '1',
      descricao_motivo: 'Não comprovado que o serviço deixou de ser prestado',
    });
    assert.deepEqual(await counted(), NONE);
    const other = await authorised();
    await integracao.registered(other, body);
    await work.eventos();
    assert.equal((await counted()).analise_fiscal, 1);
    const path = linkTo((await operadora.open(LIST)).html, 'analise_fiscal');
    const id = await deOficio(other, {
      tipo_evento: 'cancelamento_deferido_por_analise_fiscal',
      codigo_motivo: '1',
      descricao_motivo: 'Comprovado que o serviço não foi prestado',
    });
    assert.deepEqual(await counted(), NONE);
    // The name of the type is that of Anexo II.
    const act = `<a href="/m/${TENANT}/evento/${id}">Cancelamento de NFS-e Deferido por Análise Fiscal</a>`;
    const after = (await operadora.open(path)).html;
    assert.ok(after.includes(act), after);
    assert.match(after, /<td[^>]*>teste<\/td>/);
    const shown = (await operadora.open(`/m/${TENANT}/evento/${id}`)).html;
    assert.match(shown, /<td[^>]*>à espera de envio<\/td><td[^>]*>[^<]*<\/td><td[^>]*>[^<]*<\/td><td[^>]*>teste<\/td>/);
    const history = (await operadora.open(`/m/${TENANT}/notas/${other.chave_acesso}`)).html;
    assert.match(history, new RegExp(`<td[^>]*>${act}</td><td[^>]*></td><td[^>]*>teste</td>`));
    const trail = (await operadora.open(`/m/${TENANT}/trilha?objeto=evento&chave=${id}`)).html;
    assert.match(trail, /Tipo do evento: (?:<ins>)?Cancelamento de NFS-e Deferido por Análise Fiscal/);
  });

  test('a rejection by the taker waits until it is annulled', async () => {
    const nota = await authorised();
    const rejected = await integracao.registered(nota, { tipo_evento: 'rejeicao_tomador', ...REJEICAO });
    await work.eventos();
    assert.deepEqual(await counted(), { ...NONE, rejeicao: 1 });
    const [espera] = (await store.vigia.lookAtEsperas()).filter(({ tenant }) => tenant === TENANT);
    assert.deepEqual([espera!.analises, espera!.rejeicoes], [0, 1], 'the watch counts the same');
    const page = (await operadora.open(LIST)).html;
    const [, annul] = /href="([^"]*)">Anular a rejeição</.exec(page)!;
    const form = await operadora.open(annul!.replaceAll('&amp;', '&'));
    const id = `EVT${nota.chave_acesso}203206001`;
    assert.match(form.html, new RegExp(`value="${id}"[^>]* selected`));
    assert.ok(rejected.id_evento);
    await deOficio(nota, {
      tipo_evento: 'anulacao_rejeicao',
      id_evento_rejeicao: id,
      descricao_motivo: 'A rejeição foi registrada por engano',
    });
    assert.deepEqual(await counted(), NONE);
  });

  test('a block is in force until it is lifted, and an act of office waits until it is sent', async () => {
    const nota = await authorised();
    const block = { codigo_evento_bloqueado: 'e101101', descricao_motivo: 'Nota sob fiscalização até o fim' };
    const corpo = Buffer.from(
      JSON.stringify({ tipo_evento: 'bloqueio_por_oficio', cpf_agente_tributario: AGENTE, ...block }),
    );
    const porMao = { quem: 'teste', via: 'comando' } as const;
    await registrarDeOficio(world, TENANT, { chave: nota.chave_acesso, corpo, cnpj: MUNICIPIO_CNPJ, porMao });
    assert.deepEqual(await counted(), { ...NONE, oficio: 1 });
    await work.eventos();
    assert.deepEqual(await counted(), { ...NONE, bloqueio: 1 });
    const id_evento_bloqueio = `EVT${nota.chave_acesso}305102001`;
    const lift = { tipo_evento: 'desbloqueio_por_oficio', id_evento_bloqueio };
    await deOficio(nota, lift);
    assert.deepEqual(await counted(), NONE);
  });

  test('a note refused after its 201 stands in Hoje and here, until it is issued again', async () => {
    const patch = { serie: '77', nDPS: '7' };
    const nota = await integracao.issue(patch, plays('adn:rejeita=E1289'));
    await work.notas();
    assert.equal((await integracao.nota(nota)).body.status_transmissao ?? 'recusada', 'recusada');
    assert.deepEqual(await counted(), { ...NONE, nota_recusada: 1 });
    const today = (await leitor.open(`/m/${TENANT}/hoje`)).html;
    assert.match(today, /Uma nota foi recusada depois de emitida/);
    assert.match(today, new RegExp(`href="/m/${TENANT}/notas/${nota.chave_acesso}"`));
    assert.match(today, /Pendências da prefeitura<\/a><b>1<\/b>/);
    await integracao.issue(patch);
    await work.notas();
    assert.deepEqual(await counted(), NONE);
    assert.ok(!(await leitor.open(`/m/${TENANT}/hoje`)).html.includes('foi recusada depois de emitida'));
  });

  test('a DPS that is refused twice stands once, with its last note', async () => {
    const patch = { serie: '77', nDPS: '9' };
    const first = await integracao.issue(patch, plays('adn:rejeita=E1289'));
    await work.notas();
    clock.now += 1_000;
    const second = await integracao.issue(patch, plays('adn:rejeita=E1289'));
    await work.notas();
    assert.notEqual(first.chave_acesso, second.chave_acesso);
    assert.deepEqual(await counted(), { ...NONE, nota_recusada: 1 });
    const today = (await leitor.open(`/m/${TENANT}/hoje`)).html;
    assert.match(today, /Uma nota foi recusada depois de emitida/);
    assert.ok(today.includes(`/notas/${second.chave_acesso}"`));
    assert.ok(!today.includes(first.chave_acesso!), 'the attempt before it is no matter of its own');
    await integracao.issue(patch);
    await work.notas();
    assert.deepEqual(await counted(), NONE);
  });

  test('a refused note leaves the list after thirty days', async () => {
    await integracao.issue({ serie: '77', nDPS: '8' }, plays('adn:rejeita=E1289'));
    await work.notas();
    const { nota_recusada } = await store.pendencias.count(TENANT, clock.now + 29 * DAY_MS);
    assert.equal(nota_recusada, 1);
    assert.deepEqual(await store.pendencias.count(TENANT, clock.now + 31 * DAY_MS), NONE);
  });

  test('an event that the ADN refused waits until it is filed', async () => {
    const nota = await authorised();
    const { id_evento } = await integracao.registered(nota, CANCELAMENTO, plays('adn:rejeita=E1217'));
    await pool.query(`update eventos set estado = 'rejeitado', aberto = false where tenant = $1 and id = $2`, [
      TENANT,
      id_evento,
    ]);
    assert.equal((await counted()).evento, 1);
    await store.eventos.move(TENANT, String(id_evento), 'arquivamento', clock.now, undefined);
    assert.equal((await counted()).evento, 0);
  });
});

describe('who sees to it', () => {
  let path: string;

  test('a person is named, with a remark that colleagues read, and the filter finds it', async () => {
    path = linkTo((await atendente.open(LIST)).html, 'nota_recusada');
    const page = await atendente.open(path);
    assert.match(page.html, /<option value="olga">Pessoa olga \(olga\)<\/option>/);
    assert.ok(!page.html.includes('value="leo"'), 'who only reads sees to nothing');
    const assigned = await atendente.send(path.replace('/pendencia?', '/pendencia/atribuir?'), {
      responsavel: 'olga',
      motivo: 'ligar para o contador',
    });
    assert.match(assigned.html, /Está gravado quem cuida disto/);
    assert.match(assigned.html, /ligar para o contador/);
    const remarked = await atendente.send(path.replace('/pendencia?', '/pendencia/anotar?'), { motivo: 'não atendeu' });
    assert.match(remarked.html, /não atendeu/);
    assert.match(
      (await operadora.open(`${LIST}?de=minhas`)).html,
      /Notas recusadas depois de emitidas, por ordem de chegada/,
    );
    assert.match((await operadora.open(`${LIST}?de=sem&tipo=nota_recusada`)).html, /Nenhuma com este filtro/);
    const acts = await store.atos.list(TENANT, { objeto: 'pendencia' }, 10);
    assert.deepEqual(acts.map(({ quem, acao, motivo }) => [quem, acao, motivo]).toSorted(), [
      ['alba', 'anotada', 'não atendeu'],
      ['alba', 'atribuída', 'ligar para o contador'],
    ]);
  });

  test('nobody outside the list is named, and an empty remark is none', async () => {
    await atendente.open(path);
    for (const responsavel of ['zeca', 'leo', '__proto__']) {
      const wrong = await atendente.send(path.replace('/pendencia?', '/pendencia/atribuir?'), { responsavel });
      assert.equal(wrong.status, 422, responsavel);
    }
    const empty = await atendente.send(path.replace('/pendencia?', '/pendencia/anotar?'), { motivo: ' ' });
    assert.equal(empty.status, 422);
  });

  test('it is put aside with a reason, and its history stays', async () => {
    const ending = path.replace('/pendencia?', '/pendencia/encerrar?');
    await atendente.open(path);
    assert.equal((await atendente.send(ending, { motivo: 'visto' })).status, 403);
    await leitor.open(path);
    assert.equal((await leitor.send(path.replace('/pendencia?', '/pendencia/anotar?'), { motivo: 'x' })).status, 403);
    await operadora.open(path);
    assert.equal((await operadora.send(ending, { motivo: '' })).status, 422);
    const done = await operadora.send(ending, { motivo: 'o prestador desistiu' });
    assert.match(done.html, /saiu da lista/);
    assert.deepEqual(await counted(), NONE);
    const after = await operadora.open(path);
    assert.equal(after.status, 404);
    assert.match(after.html, /o prestador desistiu/);
    assert.match(after.html, /não atendeu/);
  });
});

test('the command lists the same, and names the kinds', async () => {
  const nota = await authorised();
  await integracao.registered(nota, { tipo_evento: 'rejeicao_tomador', ...REJEICAO });
  await work.eventos();
  const told = await nfseHere(['pendencia', 'listar', '--municipio', TENANT], pool, false, address, world.now);
  assert.equal(told.code, 0, told.err);
  assert.match(told.out, /Rejeições de tomador ou intermediário: 1\n {2}21\/11\/2026/);
  const json = await nfseHere(
    ['pendencia', 'listar', '--municipio', TENANT, '--tipo', 'rejeicao', '--json'],
    pool,
    false,
    address,
    world.now,
  );
  assert.equal(JSON.parse(json.out)[0].pendencias[0].nota, nota.chave_acesso);
  const wrong = await nfseHere(['pendencia', 'listar', '--municipio', TENANT, '--tipo', 'x'], pool);
  assert.equal(wrong.code, 2);
});
