/** The lists of one document through their addresses: each filter, the roles, the count, the order, and the refusals. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { INTERMEDIARIO } from '../../../test/casos/caso.ts';
import { balcao, bancada, CANCELAMENTO, type NotaEmitida } from '../../../test/support/eventos.ts';
import { request } from '../../../test/support/http.ts';
import { startTestService } from '../../../test/support/service.ts';
import { SALAS } from '../../base/world/lugares.ts';

const service = await startTestService({ worker: false, clock: { now: Date.parse('2026-10-10T12:00:00-03:00') } });
const { clock, store, address, world } = service;
const integracao = balcao(address);
const work = bancada(world);

const [PRESTADOR, TOMADOR] = ['11222333000181', '11444777000161'];
const INTERMEDIADORA = INTERMEDIARIO['interm/CNPJ']!;
const PADARIA = { 'toma/CPF': null, 'toma/CNPJ': TOMADOR, 'toma/xNome': 'Padaria São João & Filhos' };
const NEWEST_FIRST = ['semTomador', 'cara', 'padaria', 'maria', 'outubro'];

const notas: Record<string, NotaEmitida> = {};
const tokens = new Map<string, string>();

before(async () => {
  notas['outubro'] = await integracao.issue({ dCompet: '2026-10-09' });
  clock.now = Date.parse('2026-11-20T12:00:00-03:00');
  notas['maria'] = await integracao.issue({ dCompet: '2026-09-30' });
  clock.now += 86_400_000;
  notas['padaria'] = await integracao.issue({
    ...PADARIA,
    'valores/vServPrest/vServ': '250.00',
    dCompet: '2026-11-03',
  });
  const cara = { 'valores/vServPrest/vServ': '98765.43', 'serv/cServ/cTribNac': '010701' };
  notas['cara'] = await integracao.issue({ ...INTERMEDIARIO, ...cara });
  notas['semTomador'] = await integracao.issue({ toma: null, serie: '77', nDPS: '4711' });
  while (await store.nomes.learn(0, SALAS.nomes));
  for (const documento of [PRESTADOR, TOMADOR, INTERMEDIADORA]) {
    const headers = { 'Content-Type': 'application/json' };
    const asked = { method: 'POST', headers, body: JSON.stringify({ documento }) };
    const { body } = await request(address, '/integracao/api/v1/token', asked);
    tokens.set(documento, body.token);
  }
});

async function ask(list: string, query: Readonly<Record<string, string>>, documento = PRESTADOR, accept?: string) {
  const headers = { Authorization: `Bearer ${tokens.get(documento)}`, ...(accept === undefined ? {} : { accept }) };
  return request(address, `/integracao/api/v1/${list}?${new URLSearchParams(query)}`, { headers });
}

/** The notes of a list in its order; their count must be that of the same question. */
async function found(query: Readonly<Record<string, string>>, documento?: string): Promise<readonly string[]> {
  const { status, body } = await ask('notas', { ...query, contar: 'sim' }, documento);
  assert.equal(status, 200, JSON.stringify(body));
  const names = body.notas.map((nota: { readonly chave_acesso: string }) => nameOf(nota.chave_acesso));
  assert.deepEqual(body.contagem, { total: names.length, total_exato: true });
  return names;
}

function nameOf(chave: string): string {
  return Object.entries(notas).find(([, nota]) => nota.chave_acesso === chave)?.[0] ?? chave;
}

describe('the notes of a document', () => {
  const maria = (): NotaEmitida => notas['maria']!;
  const cases: readonly [what: string, query: () => Readonly<Record<string, string>>, names: readonly string[]][] = [
    ['all, the newest first', () => ({}), NEWEST_FIRST],
    ['all, the oldest first', () => ({ ordem: 'antigas' }), NEWEST_FIRST.toReversed()],
    ['by the days of issuing', () => ({ de: '2026-10-10', ate: '2026-11-20' }), ['maria', 'outubro']],
    ['by one month of competence', () => ({ competencia: '2026-11' }), ['padaria']],
    ['by several months', () => ({ competencia: '2026-09/2026-10' }), NEWEST_FIRST.filter((one) => one !== 'padaria')],
    ['by state', () => ({ estado: 'cancelada' }), []],
    ['by value from', () => ({ valor_de: '1000.01' }), ['cara']],
    ['by value to', () => ({ valor_ate: '250' }), ['padaria']],
    ['by taker', () => ({ tomador: TOMADOR }), ['padaria']],
    ['by intermediary', () => ({ intermediario: INTERMEDIADORA }), ['cara']],
    ['by intermediary and another value', () => ({ intermediario: INTERMEDIADORA, valor_ate: '1' }), []],
    ['by the taker as intermediary', () => ({ intermediario: TOMADOR }), []],
    ['by series', () => ({ serie: '77' }), ['semTomador']],
    ['by service', () => ({ servico: '010701' }), ['cara']],
    ['by what becomes of the ISSQN', () => ({ issqn: 'apurado' }), NEWEST_FIRST],
    ['by standing and service', () => ({ issqn: 'vigente', servico: '010701' }), ['cara']],
    ['nothing cancelled', () => ({ issqn: 'cancelada' }), []],
    ['nothing withheld', () => ({ issqn: 'retidos' }), []],
    ['by regime', () => ({ regime: 'normal', servico: '010701' }), ['cara']],
    ['nothing of another regime', () => ({ regime: 'mei' }), []],
    ['by rate', () => ({ aliquota: '2.00', servico: '010701' }), ['cara']],
    ['nothing without a rate', () => ({ aliquota: 'nenhuma' }), []],
    ['nothing with an event of a type', () => ({ evento: 'cancelamento' }), []],
    ['by a name', () => ({ texto: 'padaria joao' }), ['padaria']],
    ['by a name and a value that is another', () => ({ texto: 'padaria joao', valor_de: '251' }), []],
    ['by a name of nobody', () => ({ texto: 'Confeitaria' }), []],
    ['by a document', () => ({ texto: TOMADOR }), ['padaria']],
    ['by key', () => ({ texto: maria().chave_acesso }), ['maria']],
    ['by protocol', () => ({ texto: maria().numero_protocolo }), ['maria']],
    ['by the Id of the DPS', () => ({ texto: 'DPS355030821122233300018100077000000000004711' }), ['semTomador']],
    ['by key and all that the note is', () => whatIs(notas['padaria']!), ['padaria']],
    ['by key and another state', () => ({ texto: maria().chave_acesso, estado: 'cancelada' }), []],
    ['by key and a later day', () => ({ texto: maria().chave_acesso, de: '2026-11-21' }), []],
    ['by key and an earlier day', () => ({ texto: maria().chave_acesso, ate: '2026-11-19' }), []],
    [
      'by key and the same day',
      () => ({ texto: maria().chave_acesso, de: '2026-11-20', ate: '2026-11-20' }),
      ['maria'],
    ],
    ['by key and another value', () => ({ texto: maria().chave_acesso, valor_ate: '1' }), []],
    ['by key and another number', () => ({ texto: maria().chave_acesso, numero: '999999' }), []],
    ['by key and another provider', () => ({ texto: maria().chave_acesso, prestador: TOMADOR }), []],
    ['by key in another role', () => ({ texto: maria().chave_acesso, papel: 'tomador' }), []],
  ];
  for (const [what, query, names] of cases) test(what, async () => assert.deepEqual(await found(query()), names));

  test('are, of its taker, those that he took alone, in that role alone', async () => {
    assert.deepEqual(await found({}, TOMADOR), ['padaria']);
    assert.deepEqual(await found({ papel: 'tomador', prestador: PRESTADOR }, TOMADOR), ['padaria']);
    assert.deepEqual(await found({ papel: 'prestador' }, TOMADOR), []);
    assert.deepEqual(await found({ papel: 'tomador', tomador: PRESTADOR }, TOMADOR), []);
    assert.deepEqual(await found({ texto: notas['maria']!.chave_acesso }, TOMADOR), []);
  });

  test('are, of its intermediary, those between others alone', async () => {
    assert.deepEqual(await found({}, INTERMEDIADORA), ['cara']);
    assert.deepEqual(await found({ papel: 'intermediario', prestador: PRESTADOR }, INTERMEDIADORA), ['cara']);
    assert.deepEqual(await found({ papel: 'intermediario', intermediario: TOMADOR }, INTERMEDIADORA), []);
    assert.deepEqual(await found({ intermediario: INTERMEDIADORA }, TOMADOR), []);
  });
});

function whatIs({ chave_acesso }: NotaEmitida): Readonly<Record<string, string>> {
  const parties = { prestador: PRESTADOR, tomador: TOMADOR, papel: 'prestador' };
  const day = { de: '2026-11-21', ate: '2026-11-21', competencia: '2026-11' };
  return { texto: chave_acesso, ...parties, ...day, valor_de: '250', valor_ate: '250' };
}

describe('what a list cannot read', () => {
  const cases: readonly [list: string, campo: string, sent: string][] = [
    ...['notas', 'eventos'].flatMap((list): readonly [string, string, string][] => [
      [list, 'cursor', 'outro'],
      [list, 'cursor', '-1'],
      [list, 'ordem', 'velhas'],
      [list, 'contar', 'talvez'],
      [list, 'papel', 'dono'],
      [list, 'limite', '0'],
      [list, 'de', '31/12'],
    ]),
    ['notas', 'intermediario', '00000000000192x'],
    ['notas', 'competencia', '2026-13'],
    ['notas', 'competencia', '2026-11/2026-10'],
    ['notas', 'competencia', '2026-11/2026-12/2027-01'],
  ];
  for (const [list, campo, sent] of cases) {
    test(`is refused at its name: ${list}?${campo}=${sent}`, async () => {
      for (const accept of [undefined, 'text/csv']) {
        const { status, body } = await ask(list, { [campo]: sent }, PRESTADOR, accept);
        assert.equal(status, 400, JSON.stringify(body));
        assert.deepEqual(
          body.erros.map(({ codigo, campo }: { codigo: string; campo: string }) => `${codigo} ${campo}`),
          [`E0002 ${campo}`],
        );
      }
    });
  }
});

test('the list as a table has the numbers and the texts of the list as a spreadsheet of Brazil keeps them', async () => {
  const { notas: listed } = (await ask('notas', { ordem: 'antigas' })).body;
  const { body } = await ask('notas', { ordem: 'antigas' }, PRESTADOR, 'text/csv');
  const [head, ...rows] = body.replace('\ufeff', '').trimEnd().split('\r\n');
  assert.ok(rows.length > 0);
  assert.equal(rows.length, listed.length);
  for (const [at, nota] of listed.entries()) {
    const cells: readonly string[] = rows[at]!.split(';');
    const cell = (column: string): string => cells[head!.split(';').indexOf(column)]!;
    assert.equal(cell('chave_acesso'), `'${nota.chave_acesso}`);
    assert.equal(cell('prestador_cpf_cnpj'), `'${nota.prestador_cpf_cnpj}`);
    assert.equal(cell('codigo_tributacao_nacional'), `'${nota.codigo_tributacao_nacional}`);
    assert.equal(cell('valor_servico'), nota.valor_servico.replace('.', ','));
    assert.equal(cell('numero_dps'), String(nota.numero_dps));
    assert.equal(cell('data_competencia'), `'${nota.data_competencia.split('/').toReversed().join('-')}`);
    assert.equal(
      cell('data_emissao'),
      nota.data_emissao.replace(
        /^(\S+) (\S+) (...)(..)$/,
        (_: string, day: string, time: string, h: string, m: string) => `${day}T${time}${h}:${m}`,
      ),
    );
  }
});

describe('the events of the notes of a document', () => {
  let ids: readonly string[] = [];

  before(async () => {
    for (const name of ['maria', 'padaria', 'cara']) {
      const evento = await integracao.registered(notas[name]!, CANCELAMENTO);
      ids = [...ids, String(evento.id_evento)];
    }
    await work.eventos();
  });

  const idsOf = (eventos: readonly { readonly id_evento: number }[]) => eventos.map((one) => String(one.id_evento));

  test('come in the order that is asked for, page after page, each once', async () => {
    for (const ordem of ['novas', 'antigas']) {
      const seen: string[] = [];
      let cursor = '';
      for (let pages = 0; pages < 10; pages += 1) {
        const { body } = await ask('eventos', { ordem, limite: '1', ...(cursor === '' ? {} : { cursor }) });
        seen.push(...idsOf(body.eventos));
        if (body.cursor === null) break;
        cursor = body.cursor;
      }
      assert.deepEqual(seen, ordem === 'antigas' ? ids : ids.toReversed());
    }
  });

  test('are counted, and are of a role', async () => {
    const { contagem, eventos } = (await ask('eventos', { contar: 'sim', limite: '1' })).body;
    assert.deepEqual(contagem, { total: 3, total_exato: true });
    assert.equal(eventos.length, 1);
    assert.equal((await ask('eventos', {})).body.contagem, null);
    const taken = (await ask('eventos', { papel: 'tomador', contar: 'sim' }, TOMADOR)).body;
    assert.deepEqual([idsOf(taken.eventos), taken.contagem.total], [[ids[1]], 1]);
    const provided = (await ask('eventos', { papel: 'prestador', contar: 'sim' }, TOMADOR)).body;
    assert.deepEqual([provided.eventos, provided.contagem.total], [[], 0]);
  });

  test('come all in one go, as a table and as lines', async () => {
    const { eventos } = (await ask('eventos', { ordem: 'antigas' })).body;
    const lines = await ask('eventos', { ordem: 'antigas', limite: '1' }, PRESTADOR, 'application/x-ndjson');
    assert.match(String(lines.headers.get('content-type')), /^application\/x-ndjson/);
    assert.deepEqual(
      lines.body
        .trim()
        .split('\n')
        .map((line: string) => JSON.parse(line)),
      eventos,
    );
    const table = await ask('eventos', { ordem: 'antigas' }, PRESTADOR, 'text/csv');
    assert.match(String(table.headers.get('content-disposition')), /eventos\.csv/);
    const [head, ...rows] = table.body.trim().split(/\r?\n/);
    assert.deepEqual(
      head!.replace('\ufeff', '').split(/[;,]/).sort(),
      Object.keys(eventos[0])
        .filter((one) => one !== 'status')
        .sort(),
    );
    assert.equal(rows.length, 3);
    for (const [index, row] of rows.entries()) assert.ok(row.startsWith(ids[index]!), row);
  });
});
