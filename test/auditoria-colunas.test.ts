/**
 * Somebody with the database changes it by SQL: each column of each table, one after the other, rows that are taken away or put in, and the
 * chain itself. What of it the verification finds is counted; what it does not is on the list that says why (`SEM_ENTRADA`).
 */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { before, describe, test } from 'node:test';
import { conferirEm } from '../src/store/auditoria-conferir.ts';
import { AUDITADAS, type Auditada, rowInSql, SEM_ENTRADA, VISTAS, type Vista } from '../src/store/auditoria-tabelas.ts';
import type { PoolClient } from '../src/store/pg.ts';
import { readTabelas, type Tabela } from '../src/store/tabelas.ts';
import { balcao, CANCELAMENTO } from './support/eventos.ts';
import { MES } from './support/nota-keys.ts';
import { startTestService, type TestService } from './support/service.ts';
import { until } from './support/until.ts';

const SLUG = 'integracao';
const CNPJ = '11222333000181';
const UUID = '00000000-0000-4000-8000-000000000001';
const DER = Buffer.from('um certificado');
const PRINT = hash('sha256', DER);
const DAY_MS = 86_400_000;

/** Rows of tables that no request of this test fills, from before the chain. $1 is the municipality. */
const FILL = [
  `insert into certificados select $1, decode('${PRINT}', 'hex'), decode('${DER.toString('hex')}', 'hex')`,
  `update notas set certificado = decode('${PRINT}', 'hex'), assinatura = '\\x01' where tenant = $1`,
  `update eventos set certificado = decode('${PRINT}', 'hex'), assinatura = '\\x01' where tenant = $1`,
  `update notas set estado = 'retida', tabela_aliquotas = 1 where tenant = $1 and numero_dps = 3`,
  `delete from fila where tenant = $1 and tipo = 'nota' and id = (select id from notas where tenant = $1 and numero_dps = 3)`,
  `insert into retidas select tenant, id, mes, 1 from notas where tenant = $1 and numero_dps = 3`,
  `update notas set substitui = (select chave_acesso from notas where tenant = $1 and numero_dps = 1) where tenant = $1 and numero_dps = 2`,
  `insert into substituicoes select tenant, substitui, id, mes from notas where tenant = $1 and numero_dps = 2`,
  `insert into lotes (tenant, id, mes, protocolo, prestador, numero_lote, impressao, situacao, aberto, recebido_em)
    select $1, 1, ${MES}, 'L1', '${CNPJ}', '1', sha256('1'), 4, false, now()`,
  `insert into documentos_lotes select $1, ${MES}, 1, 'x'`,
  `insert into lotes_rps (tenant, lote, ordem, prestador, serie, numero, tipo, guardado) select $1, 1, 0, '${CNPJ}', '1', '1', '1', '{"a" : 1}'`,
  `insert into listas_revogados select $1, sha256('lista'), 'lista'`,
  `insert into fundamentos select $1, 1, sha256('f'), now(), '{}', array[sha256('lista')]`,
  `insert into retencoes select $1, 202611, 'processo', 'fulano', now()`,
  `insert into simples_nacional select $1, '${CNPJ}', '2026-01-01', '2026-12-31'`,
  `insert into servicos_municipais select $1, '01', '2026-01-01', null, 'Serviço', '010101', null, 2.5`,
  `insert into beneficios_municipais select $1, '35503080000001', '2026-01-01', null, 'Isenção', 'isencao', null, null, '{010101}', '{}'`,
  `insert into deducoes_admitidas select $1, '010101', '2026-01-01', null, '{valor}'`,
  `insert into regimes_especiais select $1, '1', '${CNPJ}', '2026-01-01', null, '{}'`,
  `insert into nao_incidencias select $1, '010101', '', '2026-01-01', null`,
  `insert into correlacoes_legadas (tenant, item, codigo_tributacao_nacional) select $1, '01.01', '010101'`,
  `insert into importacoes select $1, '${UUID}', now(), 'servicos', 1, 'servicos.csv', 'fulano', 'comando', null`,
  `insert into tokens select $1, 't1', '${CNPJ}', sha256('t'), '{notas}', now(), now(), null, 'ensaio', null`,
  `insert into webhooks (tenant, id, documento, url, tipos, segredo, criado_em) select $1, 'w1', '', 'https://a.br', '{}', 's', now()`,
  `insert into arquivos (tenant, mes, geracao, nome, bytes, sha256, linhas, criado_em) select $1, 202001, 1, 'a', 1, sha256('a'), '{}', now()`,
];

/** Nobody who changes a database by hand is kept by a check or a reference. */
const FREE = `select 'alter table ' || conrelid::regclass || ' drop constraint ' || quote_ident(conname) as sql from pg_constraint
  where contype in ('c', 'f') and conparentid = 0 and connamespace = current_schema()::regnamespace and conrelid <> 0
    and not (select relispartition from pg_class where oid = conrelid)`;

/** Tables without entries of which the verification reckons what must be there. */
const RECKONED: ReadonlySet<string> = new Set(
  'auditoria auditoria_ate identidades substituicoes retidas certificados listas_revogados numeracao fila'.split(' '),
);

/** Tables whose rows stand in entries, by what entries call them. */
const AUDITED: ReadonlyMap<string, readonly string[]> = new Map(
  [...Map.groupBy(Object.entries(AUDITADAS), ([, { tabela }]) => tabela)].map(([tabela, vistas]) => [
    tabela,
    vistas.map(([vista]) => vista),
  ]),
);

/** What entries tell of rows that nothing changes once they are written. */
const UNCHANGING: ReadonlySet<string> = new Set(
  'notas documentos trilha_notas documentos_eventos trilha_eventos documentos_lotes atos fundamentos auditoria_selos'.split(
    ' ',
  ),
);
/** What goes without an act: what runs out, and what its owner takes back. */
const GOING_FREELY: ReadonlySet<string> = new Set('tokens webhooks arquivos importacoes'.split(' '));
/** What goes by an act: registers, and the hold of a month. */
const GOING_BY_ACT: ReadonlySet<string> = new Set(
  `prestadores simples_nacional servicos_municipais beneficios_municipais deducoes_admitidas regimes_especiais nao_incidencias
  correlacoes_legadas retencoes`.split(/\s+/),
);

/** One column of the first row of a table. */
type Change = { readonly tabela: Tabela; readonly nome: string; readonly tipo: string };

/** Another value of a column than the one that is there. */
function otherThan(nome: string, tipo: string): string {
  if (tipo === 'boolean') return `not coalesce(${nome}, false)`;
  if (tipo === 'integer[]') return `array_append(${nome}, 7)`;
  // A month that has partitions.
  if (nome === 't.mes') return `${nome} + 1`;
  if (/^(integer|bigint|smallint|numeric)/.test(tipo)) return `coalesce(${nome}, 0) + 100`;
  if (tipo.startsWith('timestamp')) return `coalesce(${nome}, now()) + interval '1 microsecond'`;
  if (tipo === 'date') return `coalesce(${nome}, '2026-01-01') + 1`;
  if (tipo === 'bytea') return `coalesce(${nome}, '') || '\\x00'::bytea`;
  if (tipo === 'bytea[]') return `array_append(${nome}, 'x'::bytea)`;
  if (tipo === 'text[]') return `array_append(${nome}, 'x')`;
  if (tipo === 'json' || tipo === 'jsonb') return `'{"outra": 1}'::${tipo}`;
  if (tipo === 'uuid') return 'gen_random_uuid()';
  return `coalesce(${nome}, '') || 'x'`;
}

describe('a database that is changed by hand', () => {
  let service: TestService;
  let tabelas: readonly Tabela[];

  /** What is found once `change` was made, in a transaction that is rolled back: each test finds the database as it was. */
  const tryChange = async (change: (client: PoolClient) => Promise<unknown>): Promise<readonly string[]> => {
    const client = await service.pool.connect();
    try {
      await client.query(`begin; set local timezone = 'UTC'`);
      await change(client);
      const { achados } = await conferirEm(client, SLUG);
      return achados.map(({ tipo, tabela, lugar }) => `${tipo} ${tabela ?? lugar}`);
    } finally {
      await client.query('rollback');
      client.release();
    }
  };
  const trying = (text: string, values: readonly unknown[] = []): Promise<readonly string[]> =>
    tryChange((client) => client.query(text, [SLUG, ...values]));

  before(async () => {
    service = await startTestService();
    const { pool, store, address, clock } = service;
    const here = balcao(address, SLUG);
    const nota = await here.issue({ serie: '1', nDPS: '1' });
    const outra = await here.issue({ serie: '1', nDPS: '2' });
    for (const one of [nota, outra]) {
      await until(async () => (await here.nota(one)).body.nota?.status === 'autorizada' || undefined, 'autorizada');
    }
    await here.registered(nota, CANCELAMENTO);
    await until(async () => (await here.nota(nota)).body.nota?.status === 'cancelada' || undefined, 'cancelada');
    await service.stopWorker();
    await here.issue({ serie: '1', nDPS: '3' });
    await here.issue({ serie: '1', nDPS: '4' });
    const ato = {
      em: clock.now,
      quem: 'fulano',
      via: 'comando',
      objeto: 'municipio',
      chave: SLUG,
      acao: 'alterado',
    } as const;
    await store.atos.record(SLUG, [{ ...ato, antes: { a: 1 }, depois: { a: 2 } }]);
    for (const { sql } of (await pool.query<{ sql: string }>(FREE)).rows) await pool.query(sql);
    // It compresses what production stored.
    await pool.query(`update municipios set ambiente = 'producao' where tenant = $1`, [SLUG]);
    for (const text of FILL) await pool.query(text, [SLUG]);
    await store.documentos.compress(clock.now + 8 * DAY_MS);
    await pool.query(`delete from auditoria where tenant = $1`, [SLUG]);
    await pool.query(`delete from auditoria_ate where tenant = $1`, [SLUG]);
    while (await store.auditoria.openEtapa(SLUG, clock.now));
    while ((await store.auditoria.place(SLUG)) > 0);
    const fim = (await store.auditoria.readFim(SLUG))!;
    const selo = {
      dia: '2026-11-20',
      lugar: fim.lugar,
      texto: JSON.stringify(fim),
      assinatura: Buffer.from('s'),
      em: clock.now,
    };
    await store.auditoria.keepSelo(SLUG, selo);
    while ((await store.auditoria.place(SLUG)) > 0);
    assert.deepEqual((await store.auditoria.verify(SLUG, [])).achados, []);
    tabelas = (await readTabelas(pool)).filter(({ isOfTenant }) => isOfTenant);
  });

  /** Gives a column another value, in the first row of its table. */
  const alter = async (client: PoolClient, { tabela, nome, tipo }: Change): Promise<void> => {
    const order = [...tabela.chave.map((one) => one.nome), 'tenant'].join(', ');
    const { rows } = await client.query<{ old: string | null; now: string | null }>(
      `update ${tabela.nome} t set ${nome} = ${otherThan(`t.${nome}`, tipo)}
        from (select ctid, tableoid, ${nome} from ${tabela.nome} where tenant = $1 order by ${order} limit 1) x
        where t.ctid = x.ctid and t.tableoid = x.tableoid returning x.${nome}::text as old, t.${nome}::text as now`,
      [SLUG],
    );
    assert.equal(rows.length, 1, `${tabela.nome} has a row here`);
    assert.notEqual(rows[0]!.now, rows[0]!.old, `${tabela.nome}.${nome}`);
  };

  /** Those of some changes, made together in rows of different tables, that are found by what entries call their tables. */
  const findTogether = async (changes: readonly Change[]): Promise<readonly Change[]> => {
    const said = await tryChange(async (client) => {
      for (const change of changes) await alter(client, change);
    });
    const named = new Set(said.map((one) => one.split(' ')[1]));
    return changes.filter(({ tabela }) => AUDITED.get(tabela.nome)?.some((vista) => named.has(vista)));
  };

  test('each column of each table', async (t) => {
    const found = new Set<string>();
    const columns: Change[] = tabelas.flatMap((tabela) => tabela.colunas.map((coluna) => ({ tabela, ...coluna })));
    const isTried = ({ tabela: { nome } }: Change): boolean => !(nome in SEM_ENTRADA) || RECKONED.has(nome);
    const nameOf = ({ tabela, nome }: Change): string => `${tabela.nome}.${nome}`;
    const tried = columns.filter(isTried);
    // An entry tells a row by itself, so what is changed in others hides nothing of it.
    const inEntries = tried.filter(({ tabela }) => AUDITED.has(tabela.nome));
    const rounds = Map.groupBy(inEntries, ({ tabela, nome }) => tabela.colunas.findIndex((one) => one.nome === nome));
    for (const round of rounds.values()) {
      for (const change of await findTogether(round)) found.add(nameOf(change));
    }
    for (const change of tried.filter((one) => !found.has(nameOf(one)))) {
      if ((await tryChange((client) => alter(client, change))).length > 0) found.add(nameOf(change));
    }
    const rest = columns.filter((one) => !found.has(nameOf(one)));
    const isListed = (one: Change): boolean => nameOf(one) in SEM_ENTRADA || one.tabela.nome in SEM_ENTRADA;
    t.diagnostic(`${found.size} columns found, and on the list: ${rest.filter(isListed).map(nameOf).join(', ')}`);
    assert.deepEqual(rest.filter((one) => !isListed(one)).map(nameOf), []);
    assert.ok(found.size > 250, `${found.size}`);
  });

  test('a row that is taken away, from each table', async () => {
    const tried = tabelas.filter(({ nome }) => !(nome in SEM_ENTRADA) || RECKONED.has(nome));
    const [inEntries, reckoned] = [
      tried.filter(({ nome }) => AUDITED.has(nome)),
      tried.filter(({ nome }) => !AUDITED.has(nome)),
    ];
    const said = await tryChange(async (client) => {
      for (const { nome } of inEntries) await client.query(`delete from ${nome} where tenant = $1`, [SLUG]);
    });
    for (const vista of inEntries.flatMap(({ nome }) => AUDITED.get(nome)!)) {
      assert.ok(said.includes(`linha_apagada ${vista}`), vista);
    }
    for (const { nome } of reckoned) {
      assert.ok((await trying(`delete from ${nome} where tenant = $1`)).length > 0, nome);
    }
  });

  /** An entry of one's own, of all rows of a table: as they stand now, or as gone. */
  const tellByHand = (client: PoolClient, vista: Vista, isGone: boolean): Promise<unknown> => {
    const { item, resumo } = rowInSql(vista);
    const gone = {
      item: `'-' || ${item}`,
      resumo: `sha256(convert_to('apagada' || chr(10) || '-' || ${item}, 'UTF8'))`,
    };
    const said = isGone ? gone : { item, resumo };
    return client.query(
      `insert into auditoria (tenant, id, em, itens, resumos)
        select $1, gen_random_uuid(), now() + interval '1 hour', string_agg(r.item, chr(10) order by r.item), string_agg(r.resumo, ''::bytea order by r.item)
        from (select ${said.item} as item, ${said.resumo} as resumo from ${AUDITADAS[vista].tabela} t where t.tenant = $1) r having count(*) > 0`,
      [SLUG],
    );
  };
  const foundOf = (said: readonly string[], ...tipos: readonly string[]): readonly string[] =>
    VISTAS.filter((vista) => tipos.some((tipo) => said.includes(`${tipo} ${vista}`)));

  test('a row that is changed and told anew by an entry of their own: found where nothing changes once it is written', async () => {
    const said = await tryChange(async (client) => {
      for (const vista of VISTAS) {
        const { tabela: nome, colunas, chave } = AUDITADAS[vista] as Auditada;
        const tabela = tabelas.find((one) => one.nome === nome)!;
        const coluna = colunas.findLast((one) => one.nome !== 'tenant' && !chave.includes(one.nome))!;
        await alter(client, { tabela, ...tabela.colunas.find((one) => one.nome === coluna.nome)! });
        await tellByHand(client, vista, false);
      }
    });
    const unchanging = VISTAS.filter((vista) => UNCHANGING.has(vista));
    assert.deepEqual(foundOf(said, 'linha_recontada'), unchanging);
    assert.deepEqual(foundOf(said, 'linha_alterada', 'documento_danificado'), unchanging);
  });

  test('a row that is taken away and told as gone by an entry of their own: found where it goes by an act, with its month, or never', async () => {
    const takeAll = async (client: PoolClient): Promise<void> => {
      for (const vista of VISTAS) await tellByHand(client, vista, true);
      for (const { tabela } of Object.values(AUDITADAS).filter((one) => one.tabela !== 'atos')) {
        await client.query(`delete from ${tabela} where tenant = $1`, [SLUG]);
      }
    };
    const said = await tryChange(takeAll);
    const going = VISTAS.filter((vista) => !GOING_FREELY.has(vista));
    assert.deepEqual(foundOf(said, 'apagada_sem_ato'), going);
    // An act beside it says so in the trail, for everybody to read.
    const told = await tryChange(async (client) => {
      await takeAll(client);
      await client.query(
        `insert into atos (tenant, em, id, quem, via, objeto, chave, acao) values ($1, now(), gen_random_uuid(), 'x', 'comando', 'x', 'x', 'x')`,
        [SLUG],
      );
      await client.query(
        `insert into auditoria (tenant, id, em, itens, resumos) values ($1, gen_random_uuid(), now() + interval '1 hour', '["atos","1","x"]', sha256('x'))`,
        [SLUG],
      );
    });
    const registers = going.filter((vista) => GOING_BY_ACT.has(vista));
    assert.ok(registers.length > 5);
    assert.deepEqual(
      foundOf(told, 'apagada_sem_ato'),
      going.filter((vista) => !GOING_BY_ACT.has(vista)),
    );
    for (const familia of ['nota', 'evento', 'lote']) {
      const whole = await tryChange((client) =>
        client.query(
          `insert into auditoria (tenant, id, itens, resumos) values ($1, gen_random_uuid(), $2, sha256('x'))`,
          [SLUG, `-["${familia}","1"]`],
        ),
      );
      assert.ok(whole.includes(`apagada_sem_ato ${familia}`), `${familia}: ${whole}`);
    }
  });

  test('a row that is put in', async () => {
    const said = await trying(
      `insert into notas select tenant, mes, id + 1000, overlay(chave_acesso placing translate(substr(chave_acesso, 46, 1), '0123456789', '1234567890') from 46), numero_protocolo || '9', id_dps || '9', estado,
        movimentos, numero_dps, serie_dps, numero_dps_nacional, data_emissao, data_competencia, data_autorizacao, data_cancelamento,
        mensagem_retorno, prestador_cpf_cnpj, prestador_razao_social, prestador_inscricao_municipal, tomador_cpf_cnpj, tomador_razao_social,
        valor_servico, valor_issqn from notas where tenant = $1 and numero_dps = 1`,
    );
    assert.ok(said.includes('linha_sem_entrada notas'), String(said));
    assert.ok(said.includes('linha_sem_entrada notas_estado'), String(said));
  });

  test('an entry that is taken away, changed, or put in the place of another', async () => {
    const { lugar } = (await service.store.auditoria.readFim(SLUG))!;
    const middle = Math.ceil(lugar / 2);
    const gone = await trying('delete from auditoria where tenant = $1 and lugar = $2', [middle]);
    assert.ok(gone.includes(`entrada_ausente ${middle}`) && gone.includes(`elo_quebrado ${middle + 1}`), String(gone));
    const last = await trying('delete from auditoria where tenant = $1 and lugar = $2', [lugar]);
    assert.ok(last.includes(`fim_alterado ${lugar}`), String(last));
    const first = await trying('delete from auditoria where tenant = $1 and lugar = 1');
    assert.ok(first.includes('entrada_ausente 1') && first.includes('elo_quebrado 2'), String(first));
    const order = await trying(
      `update auditoria a set em = b.em, itens = b.itens, resumos = b.resumos, sal = b.sal, raiz = b.raiz, id = gen_random_uuid()
        from auditoria b where a.tenant = $1 and b.tenant = $1 and a.lugar in (1, 2) and b.lugar = 3 - a.lugar`,
    );
    assert.ok(order.includes('elo_quebrado 1') && order.includes('elo_quebrado 2'), String(order));
    const none = await trying('delete from auditoria where tenant = $1');
    assert.ok(
      none.some((one) => one.startsWith('fim_alterado')),
      String(none),
    );
  });

  test('a note that is gone with all that belongs to it, and with its entries', async () => {
    const said = await trying(
      `with n as (delete from notas where tenant = $1 and numero_dps = 4 returning id),
        d as (delete from documentos where tenant = $1 and nota in (select id from n)),
        t as (delete from trilha_notas where tenant = $1 and nota in (select id from n)),
        f as (delete from fila where tenant = $1 and id in (select id from n))
      delete from identidades where tenant = $1 and nota in (select id from n)`,
    );
    for (const tabela of ['notas', 'notas_estado', 'documentos', 'trilha_notas']) {
      assert.ok(said.includes(`linha_apagada ${tabela}`), String(said));
    }
    assert.ok(said.includes('linha_nao_segue numeracao'), String(said));
  });
});
