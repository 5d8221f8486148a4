/** Acts by office in the console, as from a browser without scripts: from the note, in two steps, once, and on the note that was seen. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { balcao, bancada, CANCELAMENTO, type NotaEmitida } from '../../../test/support/eventos.ts';
import { AGENTE, ANALISE, MUNICIPIO_CNPJ, PEDIDO_DE_ANALISE, REJEICAO } from '../../../test/support/historias.ts';
import { enter, makeUsuario, type Pessoa, startTestPainel } from '../../../test/support/painel.ts';
import { startTestService } from '../../../test/support/service.ts';
import { tipoBySlug } from '../../fiscal/tipos-evento.ts';
import { registrarDeOficio } from './office.ts';

const service = await startTestService({ worker: false });
const painel = await startTestPainel(service);
const { store, world } = service;
const { issue, registered } = balcao(service.address);
const work = bancada(world);
const OFICIO = '/m/integracao/eventos/oficio';
/** The same numbers as people write them. */
const [CNPJ_ESCRITO, CPF_ESCRITO] = ['99.999.999/0001-91', '529.982.247-25'];

let olga: Pessoa;
let otavio: Pessoa;
let tina: Pessoa;
before(async () => {
  olga = await enter(painel, await makeUsuario(painel, 'olga', { integracao: 'operacao' }));
  otavio = await enter(painel, await makeUsuario(painel, 'otavio', { integracao: 'operacao' }));
  tina = await enter(painel, await makeUsuario(painel, 'tina', { integracao: 'atendimento' }));
});

async function authorised(): Promise<NotaEmitida> {
  const nota = await issue();
  await work.notas();
  return nota;
}

async function slugsOf({ chave_acesso }: NotaEmitida, pessoa = olga): Promise<readonly string[]> {
  const { html } = await pessoa.open(`/m/integracao/notas/${chave_acesso}`);
  const links = html.matchAll(/href="[^"]*\/eventos\/oficio\?chave=(\d+)&amp;tipo=(\w+)"/g);
  return [...links].map(([, chave, tipo]) => {
    assert.equal(chave, chave_acesso);
    return tipo!;
  });
}

const eventosOf = async ({ chave_acesso }: NotaEmitida) =>
  (await store.eventos.listOf('integracao', chave_acesso, {}))!.map(({ codigo_tipo_evento, campos }) => ({
    codigo_tipo_evento,
    campos,
  }));

const DESCRICAO = 'Nota sob fiscalização até o fim do processo';
const bloqueio = ({ chave_acesso }: NotaEmitida) => ({
  ...{ chave: chave_acesso, tipo: 'bloqueio_por_oficio', cnpj: CNPJ_ESCRITO, cpf_agente_tributario: CPF_ESCRITO },
  ...{ codigo_evento_bloqueado: 'e101101', descricao_motivo: DESCRICAO },
});

/** The second step of a block, open. */
async function blocking(nota: NotaEmitida, pessoa = olga): Promise<void> {
  await pessoa.open(`${OFICIO}?tipo=bloqueio_por_oficio&chave=${nota.chave_acesso}`);
  const asked = await pessoa.send(OFICIO, bloqueio(nota));
  assert.match(asked.html, /<h1>Bloquear um tipo de evento\?<\/h1>/);
}

describe('the page of a note', () => {
  test('offers the acts that the matrix allows after its events, to those who may act', async () => {
    const nota = await authorised();
    // Anexo II: after nothing, after a request of analysis, after a rejection, and after a cancellation.
    const free = ['confirmacao_tacita', 'cancelamento_por_oficio', 'bloqueio_por_oficio'];
    assert.deepEqual(await slugsOf(nota), free);
    assert.deepEqual(await slugsOf(nota, tina), []);
    const { html } = await olga.open(`/m/integracao/notas/${nota.chave_acesso}`);
    assert.match(html, /Cancelar de ofício<\/a><\/dt><dd>Cancela a nota por um processo da prefeitura/);
    await registered(nota, { tipo_evento: ANALISE[1], ...PEDIDO_DE_ANALISE });
    await work.eventos();
    assert.deepEqual(await slugsOf(nota), [
      ...['cancelamento_deferido_por_analise_fiscal', 'cancelamento_indeferido_por_analise_fiscal'],
      ...['confirmacao_tacita', 'bloqueio_por_oficio'],
    ]);
    const rejected = await authorised();
    await registered(rejected, { tipo_evento: 'rejeicao_tomador', ...REJEICAO });
    await work.eventos();
    assert.deepEqual(await slugsOf(rejected), [
      ...['anulacao_rejeicao', 'cancelamento_por_oficio', 'bloqueio_por_oficio'],
    ]);
    const cancelled = await authorised();
    await registered(cancelled, CANCELAMENTO);
    assert.ok(!(await slugsOf(cancelled)).includes('cancelamento_por_oficio'), 'a cancellation is under way');
    await work.eventos();
    assert.deepEqual(await slugsOf(cancelled), []);
  });
});

describe('the form', () => {
  test('has the fields of the layout and shows the note; faults stand at their fields', async () => {
    const nota = await authorised();
    const first = await olga.open(OFICIO);
    assert.match(first.html, /name="chave"/);
    const spaced = nota.chave_acesso.replace(/(\d{5})/g, '$1 ');
    const offered = await olga.open(`${OFICIO}?chave=${encodeURIComponent(spaced)}`);
    assert.match(offered.html, /Cancelar de ofício/);
    assert.match(offered.html, /11\.222\.333\/0001-81/);
    const page = await olga.open(`${OFICIO}?tipo=bloqueio_por_oficio&chave=${encodeURIComponent(spaced)}`);
    for (const { nome } of tipoBySlug('bloqueio_por_oficio')!.campos) {
      assert.ok(page.html.includes(`name="${nome}"`), nome);
    }
    assert.match(page.html, /name="cnpj"/, 'this municipality has no certificate that says it');
    assert.match(page.html, /<span class="estado bom">Autorizada<\/span>/);
    assert.match(page.html, /R\$ 1\.000,00/);
    assert.match(page.html, /Nenhum evento nesta nota/);
    const wrong = await olga.send(OFICIO, {
      ...bloqueio(nota),
      cpf_agente_tributario: '529.982.247-24',
      descricao_motivo: 'curto',
    });
    assert.equal(wrong.status, 422);
    assert.match(wrong.html, /id="campo-cpf_agente_tributario-erro">Tem dígitos verificadores que não conferem/);
    assert.match(wrong.html, /id="campo-descricao_motivo-erro">[^<]*15/);
    assert.match(wrong.html, />\ncurto</, 'the text of the reader is still there');
    const process = await olga.send(OFICIO, {
      ...{ chave: nota.chave_acesso, tipo: 'cancelamento_por_oficio', cnpj: CNPJ_ESCRITO },
      ...{ cpf_agente_tributario: CPF_ESCRITO, numero_processo_administrativo: 'PA 12/2026' },
      descricao_processo_administrativo: 'Nota emitida em nome de contribuinte baixado',
    });
    assert.match(process.html, /id="campo-numero_processo_administrativo-erro">[^<]*dígitos/);
    assert.match(process.html, /value="PA 12\/2026"/);
    const noCnpj = await olga.send(OFICIO, { ...bloqueio(nota), cnpj: '99.999.999/0001-92' });
    assert.match(noCnpj.html, /O campo CNPJ do município não é um CNPJ|os dígitos verificadores não conferem/);
    assert.deepEqual(await eventosOf(nota), []);
  });

  test('asks for no punctuation where it may stay, and does not ask what has one answer', async () => {
    const nota = await authorised();
    await registered(nota, { tipo_evento: ANALISE[1], ...PEDIDO_DE_ANALISE });
    await work.eventos();
    const tipo = 'cancelamento_deferido_por_analise_fiscal';
    const page = await olga.open(`${OFICIO}?tipo=${tipo}&chave=${nota.chave_acesso}`);
    const [motivo] = tipoBySlug(tipo)!.campos.filter(({ opcoes }) => opcoes !== undefined);
    assert.match(page.html, new RegExp(`<input type="hidden" name="${motivo!.nome}" value="1">`));
    assert.match(page.html, /<dd>1: Cancelamento de NFS-e Deferido<\/dd>/);
    const short = await olga.send(OFICIO, { chave: nota.chave_acesso, tipo, cpf_agente_tributario: '529.982' });
    const [, said] = /id="campo-cpf_agente_tributario-erro">([^<]*)</.exec(short.html)!;
    assert.match(said!, /11 dígitos/);
    assert.doesNotMatch(said!, /pontuação/);
  });

  test('is given up for the matter from which it was opened, also after a fault, and for nothing outside', async () => {
    const nota = await authorised();
    await registered(nota, { tipo_evento: ANALISE[1], ...PEDIDO_DE_ANALISE });
    await work.eventos();
    const list = await olga.open('/m/integracao/pendencias?tipo=analise_fiscal');
    const buttons = [...list.html.matchAll(/href="([^"]*\/eventos\/oficio[^"]*)">Deferir</g)];
    const to = buttons
      .map(([, href]) => href!.replaceAll('&amp;', '&'))
      .find((href) => href.includes(nota.chave_acesso));
    const leaveOf = ({ html }: { readonly html: string }): string =>
      /<a href="([^"]*)">Desistir</.exec(html)![1]!.replaceAll('&amp;', '&');
    const form = await olga.open(to!);
    const matter = await olga.open(leaveOf(form));
    assert.ok(matter.path.startsWith('/m/integracao/pendencia'), matter.path);
    assert.ok(matter.html.includes(nota.chave_acesso));
    await olga.open(to!);
    const { volta, tipo } = Object.fromEntries(new URL(to!, painel.origin).searchParams);
    const wrong = await olga.send(OFICIO, { chave: nota.chave_acesso, tipo: tipo!, volta: volta! });
    assert.equal(wrong.status, 422);
    assert.equal(leaveOf(wrong), leaveOf(form));
    const lured = `${OFICIO}?chave=${nota.chave_acesso}&tipo=${tipo}&volta=https://exemplo.invalid/`;
    assert.equal(leaveOf(await olga.open(lured)), `/m/integracao/notas/${nota.chave_acesso}`);
  });

  test('a note that is not there sends back to the first step', async () => {
    const page = await olga.open(`${OFICIO}?tipo=bloqueio_por_oficio&chave=123`);
    assert.equal(page.status, 422);
    assert.match(page.html, /50/);
    assert.equal((await tina.open(OFICIO)).status, 403);
    assert.equal((await tina.send(OFICIO, { tipo: 'bloqueio_por_oficio' })).status, 403);
  });
});

describe('the second step', () => {
  test('repeats the act in words, and registers it as it was shown', async () => {
    const nota = await authorised();
    await olga.open(`${OFICIO}?tipo=cancelamento_por_oficio&chave=${nota.chave_acesso}`);
    const fields = {
      ...{ chave: nota.chave_acesso, tipo: 'cancelamento_por_oficio', cnpj: CNPJ_ESCRITO },
      ...{ cpf_agente_tributario: CPF_ESCRITO, numero_processo_administrativo: '2026/000.1234-5' },
      descricao_processo_administrativo: 'Nota emitida em nome de contribuinte baixado',
      motivo: 'despacho da chefia',
    };
    const asked = await olga.send(OFICIO, fields);
    assert.equal(asked.status, 200);
    for (const said of [
      ...['Nada foi registrado ainda', 'Não se desfaz: nenhum evento devolve uma nota cancelada', 'a veem cancelada'],
      ...['Cancelamento de NFS-e por Ofício', '99.999.999/0001-91', CPF_ESCRITO, '202600012345', 'Pessoa olga (olga)'],
      '2026/000.1234-5',
      ...['contribuinte baixado', 'despacho da chefia', '11.222.333/0001-81', 'R$ 1.000,00', 'guardado na sua conta'],
    ]) {
      assert.ok(asked.html.includes(said), said);
    }
    assert.deepEqual(await eventosOf(nota), []);
    const back = await olga.confirm({ voltar: '1' });
    for (const [name, value] of Object.entries(fields)) assert.ok(back.html.includes(value), `${name} is not lost`);
    assert.deepEqual(await eventosOf(nota), []);
    await olga.send(OFICIO, fields);
    const made = await olga.confirm();
    assert.match(made.html, /O evento foi registrado/);
    assert.match(made.html, /\*\*\*\.982\.247-\*\*/);
    assert.ok(!made.html.includes(AGENTE) && !made.html.includes(CPF_ESCRITO), 'a CPF is shown masked');
    assert.deepEqual(await eventosOf(nota), [
      {
        codigo_tipo_evento: '305101',
        campos: {
          cpf_agente_tributario: AGENTE,
          numero_processo_administrativo: '202600012345',
          descricao_processo_administrativo: 'Nota emitida em nome de contribuinte baixado',
        },
      },
    ]);
    const id = made.path.split('/').at(-1)!;
    const acts = await store.atos.list('integracao', { objeto: 'evento', chave: id }, 9);
    assert.deepEqual(
      acts.map(({ acao, quem, via, motivo }) => [acao, quem, via, motivo]),
      [['registrado de ofício', 'olga', 'painel', 'despacho da chefia']],
    );
    assert.equal((await store.eventos.findById('integracao', id))?.autor, MUNICIPIO_CNPJ);
    await work.eventos();
    assert.match(
      (await olga.open(`/m/integracao/notas/${nota.chave_acesso}`)).html,
      /<span class="estado erro">Cancelada<\/span>/,
    );
  });

  test('a block is lifted by its name; nobody types an identifier', async () => {
    const nota = await authorised();
    await blocking(nota);
    await olga.confirm();
    await work.eventos();
    const lift = await olga.open(`${OFICIO}?tipo=desbloqueio_por_oficio&chave=${nota.chave_acesso}`);
    assert.match(lift.html, /<option value="EVT\d{50}305102001"[^>]*>Bloqueio de NFS-e por Ofício nº 1/);
    const asked = await olga.send(OFICIO, {
      ...{ chave: nota.chave_acesso, tipo: 'desbloqueio_por_oficio', cnpj: CNPJ_ESCRITO },
      ...{ cpf_agente_tributario: CPF_ESCRITO, id_evento_bloqueio: `EVT${nota.chave_acesso}305102001` },
    });
    assert.match(asked.html, /<dd>Bloqueio de NFS-e por Ofício nº 1, /);
    await olga.confirm();
    assert.equal((await eventosOf(nota)).length, 2);
  });

  test('a double click registers one event, and both clicks see it', async () => {
    const nota = await authorised();
    await blocking(nota);
    const copy = () => Object.assign(Object.create(Object.getPrototypeOf(olga)), olga) as Pessoa;
    const [again, late] = [copy(), copy()];
    const [one, other] = await Promise.all([olga.confirm(), again.confirm()]);
    assert.equal((await eventosOf(nota)).length, 1);
    assert.match(one.path, /\/evento\/\d+$/);
    assert.equal(other.path, one.path);
    // The note has changed since, by the event itself.
    assert.equal((await late.confirm()).path, one.path);
    assert.equal((await eventosOf(nota)).length, 1);
  });

  test('a note that changed meanwhile is shown again, and nothing is done', async () => {
    const nota = await authorised();
    await blocking(nota);
    await registered(nota, { tipo_evento: 'rejeicao_tomador', ...REJEICAO });
    const late = await olga.confirm();
    assert.equal(late.status, 409);
    assert.match(
      late.html,
      /Eventos da nota: era «nenhum», agora é «[^»]*Rejeição do Tomador nº 1 \(à espera de envio\)»/,
    );
    assert.equal((await eventosOf(nota)).length, 1);
    const done = await olga.confirm();
    assert.match(done.html, /O evento foi registrado/);
    assert.equal((await eventosOf(nota)).length, 2);
    const cancelled = await authorised();
    await blocking(cancelled);
    await registered(cancelled, CANCELAMENTO);
    await work.eventos();
    const refused = await olga.confirm();
    assert.equal(refused.status, 422);
    assert.match(refused.html, /A nota já está cancelada/);
    assert.match(refused.html, /<span class="estado erro">Cancelada<\/span>/);
    assert.equal((await eventosOf(cancelled)).length, 1);
  });

  test('the transaction itself refuses a note with another number of events than its reader saw', async () => {
    const { chave_acesso } = await authorised();
    const corpo = Buffer.from(
      JSON.stringify({
        ...{ tipo_evento: 'bloqueio_por_oficio', cpf_agente_tributario: AGENTE },
        ...{ codigo_evento_bloqueado: 'e101101', descricao_motivo: DESCRICAO },
      }),
    );
    const request = {
      impressao: Buffer.alloc(32, 7),
      rota: '/x',
      corpo: Buffer.alloc(32),
      criado_em: service.clock.now,
    };
    const made = await registrarDeOficio(world, 'integracao', {
      ...{ chave: chave_acesso, corpo, cnpj: MUNICIPIO_CNPJ, porMao: { quem: 'teste', via: 'comando' } },
      confirmado: { request, eventosVistos: 1 },
    });
    assert.ok('faults' in made, JSON.stringify(made));
    assert.equal(made.faults[0]!.codigo, 'E703');
    assert.deepEqual(await eventosOf({ chave_acesso } as NotaEmitida), []);
  });

  test('content that the page did not show, or showed to another person, is not acted upon', async () => {
    const nota = await authorised();
    for (const changed of [
      { descricao_motivo: 'Outro motivo, que a página não mostrou' },
      { chave: (await authorised()).chave_acesso },
      { visto: '{}' },
      { selo: '' },
    ]) {
      await blocking(nota);
      const again = await olga.confirm(changed);
      assert.match(again.html, /Nada foi registrado ainda|Isto mudou/, JSON.stringify(changed));
    }
    await blocking(nota);
    await otavio.open(`${OFICIO}?tipo=bloqueio_por_oficio&chave=${nota.chave_acesso}`);
    const fields = { ...bloqueio(nota), visto: '{}', vez: 'x', selo: 'y' };
    assert.match((await otavio.send(OFICIO, fields)).html, /Nada foi registrado ainda/);
    assert.deepEqual(await eventosOf(nota), []);
  });
});

describe("the agent's CPF", () => {
  test('is kept by the first act, proposed by the next form, and changed in the own account', async () => {
    const nota = await authorised();
    await blocking(nota, otavio);
    assert.equal(
      (await store.contas.findByLogin('otavio'))!.cpf_agente,
      null,
      'an act that is not confirmed keeps nothing',
    );
    await otavio.confirm();
    assert.equal((await store.contas.findByLogin('otavio'))!.cpf_agente, AGENTE);
    const next = await otavio.open(`${OFICIO}?tipo=cancelamento_por_oficio&chave=${nota.chave_acesso}`);
    assert.match(next.html, /name="cpf_agente_tributario"[^>]*value="529\.982\.247-25"/);
    const conta = await otavio.open('/conta');
    assert.match(conta.html, /name="cpf_agente"[^>]*value="529\.982\.247-25"/);
    const wrong = await otavio.send('/conta/cpf-agente', { cpf_agente: '529.982.247-2' });
    assert.equal(wrong.status, 422);
    assert.match(wrong.html, /Não é um CPF: são 11 dígitos/);
    await otavio.send('/conta/cpf-agente', { cpf_agente: '111 444 777 35' });
    assert.equal((await store.contas.findByLogin('otavio'))!.cpf_agente, '11144477735');
    await otavio.send('/conta/cpf-agente', { cpf_agente: '' });
    assert.equal((await store.contas.findByLogin('otavio'))!.cpf_agente, null);
    const told = JSON.stringify(await store.atos.list('integracao', { quem: 'otavio' }, 99));
    assert.match(told, /guardou na conta o CPF de agente/);
    assert.ok(!told.includes(AGENTE) && !told.includes('11144477735'), 'the trail has no CPF');
    assert.ok(!(await tina.open('/conta')).html.includes('cpf_agente'), 'a role that registers nothing is not asked');
  });
});

describe('an act on a note that waits', () => {
  test('a substitute is withdrawn in two steps', async () => {
    const antiga = await authorised();
    const nova = await issue({
      'subst/chSubstda': antiga.chave_acesso,
      'subst/cMotivo': '99',
      'subst/xMotivo': 'Valor informado com erro',
    });
    await work.notas();
    const path = `/m/integracao/notas/${nova.chave_acesso}`;
    assert.match((await olga.open(path)).html, /Retirar esta nota substituta/);
    const empty = await olga.send(`${path}/retirar`, { motivo: ' ' });
    assert.match(empty.html, /O motivo está vazio/);
    const asked = await olga.send(`${path}/retirar`, { motivo: 'a substituição foi recusada' });
    assert.match(asked.html, /<h1>Retirar esta nota substituta\?<\/h1>/);
    assert.match(asked.html, /11\.222\.333\/0001-81/);
    assert.equal((await store.notas.findByChave('integracao', nova.chave_acesso))!.estado, 'emitida');
    const back = await olga.confirm({ voltar: '1' });
    assert.match(back.html, /value="a substituição foi recusada"/);
    await olga.send(`${path}/retirar`, { motivo: 'a substituição foi recusada' });
    const twice = Object.assign(Object.create(Object.getPrototypeOf(olga)), olga) as Pessoa;
    assert.match((await olga.confirm()).html, /A nota foi retirada/);
    const second = await twice.confirm();
    assert.deepEqual([second.status, second.path], [200, path]);
    assert.equal((await store.notas.findByChave('integracao', nova.chave_acesso))!.estado, 'recusada');
  });
});
