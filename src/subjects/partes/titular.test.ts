/**
 * The data held about a person, by CPF: every table of the catalogue with the CPF is named. The erasable rows are erased, and no others;
 * the trail does not have the CPF. Real PostgreSQL.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { freshPool } from '../../../test/support/database.ts';
import { mentionsOf } from '../../../test/support/mencoes.ts';
import { freshFolder } from '../../../test/support/openssl.ts';
import { toolOr } from '../../../test/support/tools.ts';
import { ensureMeses } from '../../base/book/meses.ts';
import type { Db } from '../../base/pg/open.ts';
import { buildChave } from '../../fiscal/chave.ts';
import { createStore } from '../../wiring/store.ts';
import { LUGARES, LUGARES_DA_INSTALACAO } from './titular.rows.ts';
import { eraseTitular, exportTitular, type LugarDoTitular, showTitular } from './titular.ts';

const CPF = '11144477735';
/** CPF of another person, whose data no test erases. */
const OTHER = '52998224725';
/** CPF of the person whose data one test erases. */
const ERASED = '12345678909';
const MES = 202611;
const NOW = Date.parse('2026-11-28T12:00:00-03:00');
const BY = { quem: 'maria', via: 'comando', motivo: 'pedido 12/2026' } as const;

const chaveOf = (documento: string, nota: number): string =>
  buildChave({ cMun: '3550308', ambGer: '1', documento, nNFSe: BigInt(nota), anoMes: '2611', codigo: '123456789' });

/** A row of a person in every table that may have one. `n`: makes the rows of two persons differ. */
function seedOf(tenant: string, cpf: string, n: number): readonly string[] {
  const chave = chaveOf(cpf, n);
  assert.equal(chave.length, 50);
  const dps = `DPS3550308100${'0'}${cpf}00001${String(n).padStart(15, '0')}`;
  const nota = `'${tenant}', ${MES}, ${n}`;
  return [
    `insert into prestadores (tenant, documento, razao_social, autorizado, logradouro, numero, bairro, cep, origem, criado_em)
      values ('${tenant}', '${cpf}', 'Pessoa', true, 'Rua', '1', 'Sé', '01001000', 'cadastro', now())`,
    `insert into simples_nacional (tenant, documento, inicio) values ('${tenant}', '${cpf}', '2020-01-01')`,
    `insert into beneficios_municipais (tenant, numero, inicio, descricao, tipo, servicos, documentos)
      values ('${tenant}', '${String(n).padStart(14, '0')}', '2020-01-01', 'x', 'isencao', '{}', '{${cpf}}')`,
    `insert into regimes_especiais (tenant, regime, documento, inicio, servicos) values ('${tenant}', '5', '${cpf}', '2020-01-01', '{}')`,
    `insert into nao_incidencias (tenant, codigo_tributacao_nacional, documento, inicio) values ('${tenant}', '010101', '${cpf}', '2020-01-01')`,
    `insert into numeracao values ('${tenant}', '${cpf}', 1)`,
    `insert into numeracao_dps values ('${tenant}', 'DPS35503081000${cpf}00001', 5)`,
    `insert into identidades values ('${tenant}', '${dps}', ${n}, ${MES})`,
    `insert into notas (tenant, mes, id, chave_acesso, numero_protocolo, id_dps, estado, numero_dps, serie_dps, numero_dps_nacional,
      data_emissao, data_competencia, prestador_cpf_cnpj, prestador_razao_social, tomador_cpf_cnpj, valor_servico)
      values (${nota}, '${chave}', '${MES}${n}', '${dps}', 'autorizada', 1, '1', '1', now(), now(), '${cpf}', 'Pessoa', '${cpf}', 1)`,
    `insert into documentos (tenant, mes, nota, recebido, nfse)
      values (${nota}, '<CPF>${cpf}</CPF>'::bytea, '<NFSe><infNFSe><CPF>${cpf}</CPF></infNFSe></NFSe>'::bytea)`,
    `insert into trilha_notas (tenant, mes, nota, movimento, em, gatilho, para, mensagem) values (${nota}, 1, now(), 'recusa', 'recusada', 'CPF ${cpf}')`,
    `insert into substituicoes values ('${tenant}', '${chave}', ${n}, ${MES})`,
    `insert into retidas values ('${tenant}', ${n}, ${MES}, 1)`,
    `insert into notas_recusadas values ('${tenant}', ${n}, ${MES}, now())`,
    `insert into pendencias (tenant, tipo, chave, nota, mes) values ('${tenant}', 'nota_recusada', '${chave}', ${n}, ${MES})`,
    `insert into fila (tenant, tipo, id, mes, due_at) values ('${tenant}', 'nota', ${n}, ${MES}, now() + interval '9 days')`,
    `insert into eventos (tenant, id, mes, nota, mes_nota, ordem, codigo_tipo_evento, numero_sequencial, cancela, estado, aberto, desde,
      criado_em, autor, campos) values ('${tenant}', ${n}, ${MES}, ${n}, ${MES}, 1, '101101', 1, true, 'processado', false, now(), now(), '${cpf}', '{"a": "${cpf}"}')`,
    `insert into documentos_eventos (tenant, mes, evento, xml) values (${nota}, '<CPF>${cpf}</CPF>'::bytea)`,
    `insert into trilha_eventos (tenant, mes, evento, movimento, em, gatilho, para, mensagem) values (${nota}, 1, now(), 'registro', 'pendente', '${cpf}')`,
    `insert into lotes (tenant, id, mes, protocolo, prestador, numero_lote, impressao, situacao, aberto, recebido_em)
      values ('${tenant}', ${n}, ${MES}, '${MES}${n}', '${cpf}', '1', sha256('${tenant}${n}'), 4, false, now())`,
    `insert into documentos_lotes (tenant, mes, lote, recebido) values (${nota}, '<Cpf>${cpf}</Cpf>'::bytea)`,
    `insert into lotes_rps values ('${tenant}', ${n}, 0, '${cpf}', '1', '1', '1', ${n}, ${MES}, '{"a": "${cpf}"}')`,
    `insert into idempotencia (tenant, impressao, rota, corpo, status, recusa, criado_em)
      values ('${tenant}', sha256('k${n}'), '/x', sha256('b'), 422, '{"a": "${cpf}"}', now())`,
    `insert into mudancas_novas values ('${tenant}', gen_random_uuid(), 'n 1 ${cpf}')`,
    `insert into mudancas values ('${tenant}', '${cpf}', ${n}, now(), 'n 1')`,
    // One row of each kind that has ended, and one that has not.
    ...[
      ['velho', "now() - interval '2 years'", 'false', 'pronta', 'entregue'],
      ['novo', "now() + interval '2 years'", 'true', 'em_andamento', 'pendente'],
    ].flatMap(([id, expira, ativo, estado, entrega], place) => [
      `insert into tokens (tenant, id, documento, impressao, escopos, criado_em, expira_em, por)
        values ('${tenant}', '${id}${n}', '${cpf}', sha256('${id}${n}'), '{}', now(), ${expira}, 'certificado')`,
      `insert into webhooks (tenant, id, documento, url, tipos, segredo, ativo, criado_em)
        values ('${tenant}', '${id}${n}', '${cpf}', 'https://exemplo.com.br/${cpf}', '{}', 'x', ${ativo}, now())`,
      `insert into entregas (tenant, webhook, ordem, nota, mudanca, estado, due_at, criada_em)
        values ('${tenant}', '${id}${n}', ${place}, ${n}, '${chave}', '${entrega}', now(), now())`,
      `insert into exportacoes (tenant, id, documento, formato, pedida, estado, criada_em, expira_em)
        values ('${tenant}', '${id}${n}', '${cpf}', 'csv', '{"documento": "${cpf}"}', '${estado}', now(), now())`,
      `insert into exportacoes_partes values ('${tenant}', '${id}${n}', 1, '${cpf}'::bytea, '', '')`,
    ]),
    `insert into nomes values ('${tenant}', 'PESSOA', '${cpf}')`,
    `insert into receita_somas values ('${tenant}', 'municipio', 'prestador', ${MES}, ${MES}, '${cpf}', 'apurado', 1, 1, 1, 1, 1, 1)`,
    `insert into importacoes values ('${tenant}', gen_random_uuid(), now(), 'prestadores', ${n}, '${cpf}.csv', 'x', 'comando', null)`,
    `insert into mudancas_importadas values ('${tenant}', gen_random_uuid(), 'prestadores', '${cpf} ', null, '{"documento": "${cpf}"}')`,
    `insert into certificados values ('${tenant}', sha256('c${n}'), 'CN=PESSOA:${cpf}'::bytea)`,
    `insert into ensaio_requisicoes (tenant, em, id, metodo, caminho, corpo, status, ms, resposta)
      values ('${tenant}', now(), gen_random_uuid(), 'POST', '/x', '${cpf}'::bytea, 201, 1, '${chave}')`,
    `insert into retencoes values ('${tenant}', ${MES + n}, 'processo de ${cpf}', 'x', now())`,
    `insert into auditoria (tenant, id, itens, resumos) values ('${tenant}', gen_random_uuid(), '["prestadores","${cpf}",""]', sha256('x'))`,
    `insert into atos (tenant, em, id, quem, via, objeto, chave, acao) values ('${tenant}', now(), gen_random_uuid(), 'x', 'comando', 'prestador', '${cpf}', 'bloqueado')`,
  ];
}

const ACCOUNTS = (cpf: string, isBlocked: boolean, id: string): readonly string[] => [
  `insert into contas (id, login, nome, senha, bloqueada_em, criada_em) values ('${id}', '${isBlocked ? cpf : `${cpf}@x.br`}', 'CPF ${cpf}', 'x', ${isBlocked ? 'now()' : 'null'}, now())`,
  `insert into passkeys values ('${id}-k', '${id}', 'x', 0, '{}', 'chave de ${cpf}', now())`,
  `insert into papeis values ('${id}', 'sao-paulo', 'leitura')`,
  `insert into sessoes (impressao, conta, etapa, criada_em, vista_em, rede, navegador) values (sha256('${id}'), '${id}', 'inteira', now(), now(), '', '${cpf}')`,
];

describe('what is held about a person', () => {
  let pool: Db;
  let world: { readonly store: ReturnType<typeof createStore>; readonly now: () => number };

  before(async () => {
    pool = await freshPool();
    world = { store: createStore(pool), now: () => NOW };
    const { municipios } = world.store;
    await municipios.create({ tenant: 'sao-paulo', ambiente: 'producao', codigoIbge: '3550308' }, NOW);
    await municipios.create({ tenant: 'ensaio', ambiente: 'homologacao', codigoIbge: undefined }, NOW);
    await ensureMeses(pool, [MES]);
    const seeds = [
      ...seedOf('sao-paulo', CPF, 1),
      ...seedOf('sao-paulo', OTHER, 2),
      ...seedOf('sao-paulo', ERASED, 3),
      ...seedOf('ensaio', CPF, 1),
      ...seedOf('ensaio', OTHER, 2),
      ...seedOf('ensaio', ERASED, 3),
      ...ACCOUNTS(CPF, true, '00000000-0000-0000-0000-000000000001'),
      ...ACCOUNTS(CPF, false, '00000000-0000-0000-0000-000000000002'),
      ...ACCOUNTS(OTHER, true, '00000000-0000-0000-0000-000000000003'),
      ...ACCOUNTS(ERASED, true, '00000000-0000-0000-0000-000000000004'),
      ...ACCOUNTS(ERASED, false, '00000000-0000-0000-0000-000000000005'),
    ];
    for (const text of seeds) await pool.query(text);
  });

  const show = async (cpf: string): Promise<readonly LugarDoTitular[]> => {
    const found = await showTitular(world, cpf, undefined);
    if ('problem' in found) assert.fail(found.problem);
    return found;
  };
  const counts = (found: readonly LugarDoTitular[]) =>
    Object.fromEntries(found.map(({ municipio, tabela, linhas }) => [`${municipio}/${tabela}`, linhas]));

  test('every table in which the CPF stands is named, each with its legal ground', async () => {
    const found = await show('111.444.777-35');
    const named = new Set(found.map(({ tabela }) => tabela));
    const mentioned = await mentionsOf(pool, CPF);
    assert.deepEqual(
      mentioned.filter((table) => !named.has(table)),
      [],
    );
    for (const { tabela } of [...LUGARES, ...LUGARES_DA_INSTALACAO])
      assert.ok(named.has(tabela), `${tabela} was seeded`);
    assert.ok(found.every(({ por_que }) => /art\./.test(por_que)));
    const notas = found.filter(({ tabela }) => tabela === 'notas');
    assert.deepEqual(
      notas.map(({ municipio, linhas, apagaveis }) => [municipio, linhas, apagaveis]),
      [
        ['ensaio', 1, 1],
        ['sao-paulo', 1, 0],
      ],
    );
    assert.match(notas[1]!.por_que, /^documento fiscal/);
    // A rehearsal is no fiscal document, and may be erased whole but for the trail.
    const rehearsed = found.filter(({ municipio, apagaveis }) => municipio === 'ensaio' && apagaveis > 0);
    assert.ok(rehearsed.length > 0 && !rehearsed.some(({ por_que }) => /obrigação legal/.test(por_que)));
    const only = await showTitular(world, CPF, 'sao-paulo');
    assert.ok(!('problem' in only) && only.every(({ municipio }) => municipio === 'sao-paulo'));
  });

  test('is found as people write it, with points and a dash', async () => {
    const before = counts(await show(CPF));
    const written = '111.444.777-35';
    for (const text of [
      `insert into atos (tenant, em, id, quem, via, objeto, chave, acao, motivo)
        values ('sao-paulo', now(), gen_random_uuid(), 'x', 'comando', 'nota', 'z', 'anotado', 'a pedido de ${written}')`,
      `insert into retencoes values ('sao-paulo', ${MES + 7}, 'execução contra ${written}', 'x', now())`,
      `insert into webhooks (tenant, id, documento, url, tipos, segredo, ativo, criado_em, descricao)
        values ('sao-paulo', 'pontos', '00000000000', 'https://exemplo.com.br/', '{}', 'x', true, now(), 'ERP de ${written}')`,
      `insert into contas (id, login, nome, criada_em) values ('00000000-0000-0000-0000-000000000009', 'z@x.br', 'Z (${written})', now())`,
      `insert into contas (id, login, nome, criada_em, cpf_agente) values ('00000000-0000-0000-0000-000000000008', 'y@x.br', 'Y', now(), '${CPF}')`,
    ])
      await pool.query(text);
    const found = counts(await show(CPF));
    for (const place of ['sao-paulo/atos', 'sao-paulo/retencoes', 'sao-paulo/webhooks']) {
      assert.equal(found[place], before[place]! + 1, place);
    }
    assert.equal(found['null/contas'], before['null/contas']! + 2, 'by its name, and as the agent of acts by office');
    await pool.query(`delete from contas where login in ('z@x.br', 'y@x.br')`);
    for (const [tabela, where] of [
      ['atos', `chave = 'z'`],
      ['retencoes', `mes = ${MES + 7}`],
      ['webhooks', `id = 'pontos'`],
    ])
      await pool.query(`delete from ${tabela} where tenant = 'sao-paulo' and ${where}`);
    assert.deepEqual(counts(await show(CPF)), before);
  });

  test('what is no CPF is refused, and a reason that has it', async () => {
    for (const text of ['', '1', '11144477734', '11222333000181', "1' or '1"]) {
      assert.ok('problem' in (await showTitular(world, text, undefined)), text);
    }
    const motivo = `pedido do CPF 111.444.777-35`;
    assert.ok('problem' in (await eraseTitular(world, CPF, undefined, { ...BY, motivo })));
    await assert.rejects(showTitular(world, CPF, 'nenhum'));
  });

  test('is exported without secrets', { skip: toolOr('unzip', 'unzip') === undefined }, async () => {
    const folder = freshFolder();
    const arquivo = path.join(folder, 'pessoa.zip');
    const acts = () => world.store.atos.list('sao-paulo', { objeto: 'titular' }, 9);
    const earlier = (await acts()).length;
    const done = await exportTitular(world, CPF, undefined, { arquivo, by: BY });
    assert.ok(!('problem' in done), JSON.stringify(done));
    execFileSync('unzip', ['-q', arquivo, '-d', path.join(folder, 'tudo')]);
    const files = readdirSync(path.join(folder, 'tudo'), { recursive: true, encoding: 'utf8' });
    const read = (name: string): string => readFileSync(path.join(folder, 'tudo', name), 'utf8');
    for (const name of ['resumo.json', 'sao-paulo/prestadores.json', 'instalacao/contas.json', 'ensaio/eventos.json']) {
      assert.ok(files.includes(name), name);
    }
    assert.match(read(`sao-paulo/notas/${chaveOf(CPF, 1)}.xml`), /<CPF>11144477735/);
    const [webhook] = JSON.parse(read('sao-paulo/webhooks.json'));
    assert.deepEqual([webhook.documento, 'segredo' in webhook], [CPF, false]);
    assert.ok(!('senha' in JSON.parse(read('instalacao/contas.json'))[0]));
    for (const name of files.filter((one) => one.endsWith('.json'))) assert.ok(!read(name).includes(OTHER), name);
    const ato = (await acts()).find(({ acao }) => acao === 'dados exportados');
    assert.deepEqual([ato?.chave, ato?.motivo], [done.protocolo, BY.motivo]);
    assert.ok(!JSON.stringify(ato).includes(CPF), 'the trail does not have the CPF');
    const before = readFileSync(arquivo);
    for (const [there, said] of [
      [arquivo, /já existe, e fica como está/],
      [path.join(folder, 'nenhuma', 'p.zip'), /não pôde ser escrito \(ENOENT\)/],
    ] as const) {
      const refused = await exportTitular(world, CPF, undefined, { arquivo: there, by: BY });
      assert.match('problem' in refused ? refused.problem : '', said);
    }
    assert.deepEqual(readFileSync(arquivo), before);
    assert.equal((await acts()).length, earlier + 1);
  });

  test('is erased as far as it may be: fiscal documents stay, and nobody else loses anything', async () => {
    const [others, ofAll] = [counts(await show(OTHER)), await show(ERASED)];
    const done = await eraseTitular(world, ERASED, undefined, BY);
    assert.ok(!('problem' in done), JSON.stringify(done));
    const foreseen = ofAll.filter(({ apagaveis }) => apagaveis > 0);
    assert.deepEqual(
      counts(done.lugares),
      Object.fromEntries(foreseen.map(({ municipio, tabela, apagaveis }) => [`${municipio}/${tabela}`, apagaveis])),
      'what was foreseen is what was erased',
    );
    const after = await show(ERASED);
    assert.ok(after.every(({ apagaveis }) => apagaveis === 0));
    // The catalogue again: the CPF remains only in rows that the law keeps, rows in use, and the trail.
    const named = new Set(after.map(({ tabela }) => tabela));
    const mentioned = await mentionsOf(pool, ERASED);
    assert.deepEqual(
      mentioned.filter((table) => !named.has(table)),
      [],
    );
    assert.deepEqual(
      after.filter(({ municipio }) => municipio === 'ensaio').map(({ tabela }) => tabela),
      ['retencoes', 'auditoria', 'atos'],
      'of a rehearsal the trail alone',
    );
    const kept = counts(after);
    for (const [place, linhas] of [
      ['sao-paulo/notas', 1],
      ['sao-paulo/documentos', 1],
      ['sao-paulo/eventos', 1],
      ['sao-paulo/prestadores', 1],
      // The token, the address, the export and the account that are still in use.
      ['sao-paulo/tokens', 1],
      ['sao-paulo/webhooks', 1],
      ['sao-paulo/exportacoes', 1],
      ['null/contas', 1],
      ['sao-paulo/nomes', undefined],
      ['sao-paulo/ensaio_requisicoes', undefined],
    ] as const) {
      assert.equal(kept[place], linhas, place);
    }
    assert.deepEqual(counts(await show(OTHER)), others);
    const acts = await world.store.atos.list('sao-paulo', { objeto: 'titular' }, 9);
    const erased = acts.find(({ acao }) => acao === 'dados apagados');
    assert.equal(erased?.chave, done.protocolo);
    assert.ok(!JSON.stringify(acts).includes(ERASED), 'the trail does not have the CPF');
  });
});
