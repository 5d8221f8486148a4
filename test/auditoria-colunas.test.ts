/**
 * Somebody with the database changes it by SQL: each column of each table, one after the other, rows that are taken away or put in, and the
 * chain itself. What of it the verification finds is counted; what it does not is on the list that says why (`SEM_ENTRADA`).
 */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { before, describe, test } from 'node:test';
import { SEM_ENTRADA } from '../src/store/auditoria-tabelas.ts';
import { readTabelas } from '../src/store/tabelas.ts';
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
  const verify = async (): Promise<readonly string[]> => {
    const { achados } = await service.store.auditoria.verify(SLUG, []);
    return achados.map(({ tipo, tabela, lugar }) => `${tipo} ${tabela ?? lugar}`);
  };

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
    assert.deepEqual(await verify(), []);
  });

  test('each column of each table', async (t) => {
    const { pool } = service;
    const missed: string[] = [];
    const listed: string[] = [];
    let found = 0;
    for (const { nome: tabela, isOfTenant, colunas, chave } of await readTabelas(pool)) {
      if (!isOfTenant) continue;
      if (tabela in SEM_ENTRADA && !RECKONED.has(tabela)) {
        listed.push(...colunas.map(({ nome }) => `${tabela}.${nome}`));
        continue;
      }
      const keys = chave.map((one) => one.nome);
      const k = `json_build_object(${keys.map((one) => `'${one}', t.${one}::text`).join(', ')})::text`;
      const isIt = ['true', ...keys.map((one) => `t.${one}::text is not distinct from (x.k ->> '${one}')`)].join(
        ' and ',
      );
      const first = `select ${k} as k from ${tabela} t where tenant = $1 order by ${[...keys, 'tenant'].join(', ')} limit 1`;
      const [row] = (await pool.query<{ k: string }>(first, [SLUG])).rows;
      if (row === undefined) missed.push(`${tabela} has no row here`);
      for (const { nome, tipo } of row === undefined ? [] : colunas) {
        const name = `${tabela}.${nome}`;
        const set = (value: string): string => `update ${tabela} t set ${nome} = ${value} from (select $2::json as k) x
          where t.tenant = $1 and ${isIt} returning ${k} as k, t.${nome}::text as now`;
        const old = `select t.${nome}::text as old from ${tabela} t cross join (select $2::json as k) x where t.tenant = $1 and ${isIt}`;
        const before = (await pool.query<{ old: string | null }>(old, [SLUG, row!.k])).rows[0]!.old;
        const changed = (
          await pool.query<{ k: string; now: string }>(set(otherThan(`t.${nome}`, tipo)), [SLUG, row!.k])
        ).rows[0]!;
        assert.notEqual(changed.now, before, name);
        if ((await verify()).length > 0) found += 1;
        else if (name in SEM_ENTRADA || tabela in SEM_ENTRADA) listed.push(name);
        else missed.push(name);
        await pool.query(set(`$3::${tipo}`), [SLUG, changed.k, before]);
      }
      assert.deepEqual(await verify(), [], tabela);
    }
    t.diagnostic(`${found} columns found, ${listed.length} on the list: ${listed.join(', ')}`);
    assert.deepEqual(missed, []);
    assert.ok(found > 250, `${found}`);
  });

  /** Does something to the database, and puts it back as it was. */
  const trying = async (change: string, values: readonly unknown[] = []): Promise<readonly string[]> => {
    const { pool } = service;
    await pool.query('create schema copia');
    const tables = (await readTabelas(pool)).filter(({ isOfTenant }) => isOfTenant).map(({ nome }) => nome);
    for (const table of tables)
      await pool.query(`create table copia.${table} as select * from ${table} where tenant = $1`, [SLUG]);
    await pool.query(change, [SLUG, ...values]);
    const said = await verify();
    for (const table of tables.toReversed()) await pool.query(`delete from ${table} where tenant = $1`, [SLUG]);
    for (const table of tables) {
      const { colunas } = (await readTabelas(pool)).find(({ nome }) => nome === table)!;
      const names = ['tenant', ...colunas.map(({ nome }) => nome)].join(', ');
      await pool.query(`insert into ${table} (${names}) select ${names} from copia.${table}`);
      await pool.query(`drop table copia.${table}`);
    }
    await pool.query('drop schema copia');
    assert.deepEqual(await verify(), [], `it is as it was: ${change}`);
    return said;
  };

  test('a row that is taken away, from each table', async () => {
    for (const { nome, isOfTenant } of await readTabelas(service.pool)) {
      if (!isOfTenant || (nome in SEM_ENTRADA && !RECKONED.has(nome))) continue;
      const said = await trying(`delete from ${nome} where tenant = $1`);
      assert.ok(said.length > 0, nome);
    }
  });

  test('a row that is put in', async () => {
    const said = await trying(
      `insert into notas select tenant, mes, id + 1000, overlay(chave_acesso placing '9' from 46), numero_protocolo || '9', id_dps || '9', estado,
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
