/**
 * An attacker with access to the database changes it by SQL. The test changes each column of each table, one after the other. It also
 * deletes rows, inserts rows and changes the chain itself. The test counts the changes that the verification finds; the reasons in
 * `tabelas.ts` explain the others.
 */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { balcao, CANCELAMENTO } from '../../../test/support/eventos.ts';
import { MES } from '../../../test/support/nota-keys.ts';
import { NOON, startTestService, type TestService } from '../../../test/support/service.ts';
import { until } from '../../../test/support/until.ts';
import { autenticadorOfFim, CHAVE_BYTES, holdChaves, type Prazo } from '../../base/book/auditoria-chave.ts';
import { eloOf, momentoOf, ZERO } from '../../base/book/auditoria-hash.ts';
import { AUDITADAS, rowInSql, VISTAS, type Vista } from '../../base/book/auditoria-tabelas.ts';
import { openPacote } from '../../base/book/pacote.ts';
import { type Tabela as Declarada, TABELAS } from '../../base/book/tabelas.ts';
import type { PoolClient } from '../../base/pg/pg.ts';
import { readTabelas, type Tabela } from '../../base/pg/tabelas.ts';
import { DAY_MS } from '../../fiscal/moment.ts';
import { achadoPor, COM_O_BANCO, type ComOBanco } from '../../published/com-o-banco.ts';
import { ADVANCED } from '../copias/numeros.rows.ts';
import { CAMPOS, contraditasOf } from '../notas/nota-da-nfse.ts';
import { ACEITO, idOfAchado } from './aceites.rows.ts';
import { describeAchado } from './auditoria.ts';
import { readPlainly } from './catalogo.rows.ts';
import { conferirEm, type Fim } from './conferir.rows.ts';
import { findContraditas } from './notas.rows.ts';

const SLUG = 'integracao';
const CNPJ = '11222333000181';
const UUID = '00000000-0000-4000-8000-000000000001';
const DER = Buffer.from('um certificado');
const PRINT = hash('sha256', DER);
const CHAVE = Buffer.alloc(CHAVE_BYTES, 7);
/** The moment of the key: before everything else, by the clock of the service and by that of the database. */
const FEITA = Math.min(NOON, Date.now()) - DAY_MS;
const PRAZO: Prazo = { entradas: FEITA, lugares: FEITA };
/** Another municipality of the same service. */
const OUTRA = 'outra';

/** Rows of tables that no request of this test fills, older than the chain. $1 is the municipality. */
const FILL = [
  `insert into certificados select $1, decode('${PRINT}', 'hex'), decode('${DER.toString('hex')}', 'hex')`,
  `update notas set certificado = decode('${PRINT}', 'hex'), assinatura = '\\x01' where tenant = $1`,
  `update eventos set certificado = decode('${PRINT}', 'hex'), assinatura = '\\x01' where tenant = $1`,
  `update notas set estado = 'retida', tabela_aliquotas = 1 where tenant = $1 and numero_dps = 3`,
  `update trilha_notas set para = 'retida' where tenant = $1 and nota = (select id from notas where tenant = $1 and numero_dps = 3)`,
  `delete from fila where tenant = $1 and tipo = 'nota' and id = (select id from notas where tenant = $1 and numero_dps = 3)`,
  `insert into retidas select tenant, id, mes, 1 from notas where tenant = $1 and numero_dps = 3`,
  `update notas set substitui = (select chave_acesso from notas where tenant = $1 and numero_dps = 1) where tenant = $1 and numero_dps = 2`,
  `update documentos d set nfse = convert_to(replace(convert_from(d.nfse, 'UTF8'), '<prest>', '<subst><chSubstda>' || n.substitui || '</chSubstda></subst><prest>'), 'UTF8')
    from notas n where d.tenant = $1 and n.tenant = $1 and n.mes = d.mes and n.id = d.nota and n.numero_dps = 2`,
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

/** Constraints are dropped, as an attacker could do. */
const FREE = `select 'alter table ' || conrelid::regclass || ' drop constraint ' || quote_ident(conname) as sql from pg_constraint
  where contype in ('c', 'f') and conparentid = 0 and connamespace = current_schema()::regnamespace and conrelid <> 0
    and not (select relispartition from pg_class where oid = conrelid)`;

/** Tables without entries; the verification derives their expected rows. */
const RECKONED: ReadonlySet<string> = new Set(
  'auditoria auditoria_ate identidades substituicoes retidas certificados listas_revogados numeracao fila'.split(' '),
);

/** Tables whose rows are recorded in entries, with their names in entries. */
const AUDITED: ReadonlyMap<string, readonly string[]> = new Map(
  [...Map.groupBy(Object.entries(AUDITADAS), ([, { tabela }]) => tabela)].map(([tabela, vistas]) => [
    tabela,
    vistas.map(([vista]) => vista),
  ]),
);

/** Names of rows that never change once they are written. */
const UNCHANGING: ReadonlySet<string> = new Set(
  'notas documentos trilha_notas documentos_eventos trilha_eventos documentos_lotes atos fundamentos auditoria_selos'.split(
    ' ',
  ),
);
/** Rows deleted without an act: they expire, or their owner removes them. */
const GOING_FREELY: ReadonlySet<string> = new Set('tokens webhooks arquivos importacoes'.split(' '));
/** Rows deleted only by an act: registers, and the hold of a month. */
const GOING_BY_ACT: ReadonlySet<string> = new Set(
  `prestadores simples_nacional servicos_municipais beneficios_municipais deducoes_admitidas regimes_especiais nao_incidencias
  correlacoes_legadas retencoes`.split(/\s+/),
);

/** One column of the first row of a table. */
type Change = { readonly tabela: Tabela; readonly nome: string; readonly tipo: string };

/** A value of a column that differs from the stored one. */
function otherThan(nome: string, tipo: string): string {
  if (tipo === 'boolean') return `not coalesce(${nome}, false)`;
  if (tipo === 'integer[]') return `array_append(${nome}, 7)`;
  // The next month has partitions too.
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

  /** Findings after `change`, in a transaction that is rolled back, so that each test finds the database as it was. */
  const tryChange = (change: (client: PoolClient) => Promise<unknown>): Promise<readonly string[]> =>
    changing(change, (client) => foundIn(client, []));

  const changing = async <Result>(
    change: (client: PoolClient) => Promise<unknown>,
    judge: (client: PoolClient) => Promise<Result>,
  ): Promise<Result> => {
    const client = await service.pool.connect();
    try {
      await client.query(`begin; set local timezone = 'UTC'`);
      await change(client);
      return await judge(client);
    } finally {
      await client.query('rollback');
      client.release();
    }
  };

  /** Findings of a verifier that has these keys and seals. */
  const foundIn = async (
    client: PoolClient,
    chaves: readonly Buffer[],
    fins: readonly Fim[] = [],
    prazo: Prazo = PRAZO,
  ): Promise<readonly string[]> => {
    holdChaves(chaves, chaves.length === 0 ? {} : prazo);
    try {
      const { achados } = await conferirEm(client, SLUG, { kept: fins, comparar: contraditasOf });
      return achados.map(({ tipo, tabela, lugar }) => `${tipo} ${tabela ?? lugar}`);
    } finally {
      holdChaves([CHAVE], PRAZO);
    }
  };
  const trying = (text: string, values: readonly unknown[] = []): Promise<readonly string[]> =>
    tryChange((client) => client.query(text, [SLUG, ...values]));

  /** An earlier end of the chain, and the last one, whose seal is kept elsewhere. */
  let antes: Record<string, unknown>;
  let kept: Fim;

  // Other files of this process have no key.
  after(() => holdChaves([]));
  before(async () => {
    holdChaves([CHAVE], PRAZO);
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
    // Only documents of production are compressed.
    await pool.query(`update municipios set ambiente = 'producao' where tenant = $1`, [SLUG]);
    for (const text of FILL) await pool.query(text, [SLUG]);
    await store.documentos.compress(clock.now + 8 * DAY_MS);
    await pool.query(`delete from auditoria where tenant = $1`, [SLUG]);
    await pool.query(`delete from auditoria_ate where tenant = $1`, [SLUG]);
    // The chain begins here as the service begins one.
    const beginning = autenticadorOfFim(SLUG, { lugar: 0, elo: null });
    await pool.query('insert into auditoria_ate (tenant, autenticador) values ($1, $2)', [SLUG, beginning]);
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
    antes = (await pool.query('select lugar, elo, autenticador from auditoria_ate where tenant = $1', [SLUG])).rows[0];
    for (const acao of ['primeiro', 'segundo']) await store.atos.record(SLUG, [{ ...ato, acao }]);
    const municipio = (await store.municipios.readFresh(SLUG))!;
    for (const limiteEndereco of [7, 8]) await store.municipios.update({ ...municipio, limiteEndereco });
    await store.municipios.create({ tenant: OUTRA, ambiente: 'homologacao', codigoIbge: undefined }, clock.now);
    await store.municipios.update({ ...(await store.municipios.readFresh(OUTRA))!, limiteEndereco: 5 });
    while ((await store.auditoria.place(SLUG)) > 0);
    kept = (await store.auditoria.readFim(SLUG))!;
    assert.deepEqual((await store.auditoria.verify(SLUG, [], { comparar: contraditasOf })).achados, []);
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

  /** Makes changes together in rows of different tables. The result has those that the verification finds by the names of their tables. */
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
    const nameOf = ({ tabela, nome }: Change): string => `${tabela.nome}.${nome}`;
    const tried = columns.filter(({ tabela: { nome } }) => AUDITED.has(nome) || RECKONED.has(nome));
    // An entry records each row by itself, so changes of other rows hide nothing.
    const inEntries = tried.filter(({ tabela }) => AUDITED.has(tabela.nome));
    const rounds = Map.groupBy(inEntries, ({ tabela, nome }) => tabela.colunas.findIndex((one) => one.nome === nome));
    for (const round of rounds.values()) {
      for (const change of await findTogether(round)) found.add(nameOf(change));
    }
    for (const change of tried.filter((one) => !found.has(nameOf(one)))) {
      if ((await tryChange((client) => alter(client, change))).length > 0) found.add(nameOf(change));
    }
    const rest = columns.filter((one) => !found.has(nameOf(one)));
    const isListed = ({ tabela, nome }: Change): boolean => {
      const { semEntrada } = (TABELAS as Readonly<Record<string, Declarada>>)[tabela.nome]!;
      return typeof semEntrada === 'string' || semEntrada?.[nome] !== undefined;
    };
    t.diagnostic(`${found.size} columns found, and on the list: ${rest.filter(isListed).map(nameOf).join(', ')}`);
    assert.deepEqual(rest.filter((one) => !isListed(one)).map(nameOf), []);
    assert.ok(found.size > 250, `${found.size}`);
  });

  test('a row that is taken away, from each table', async () => {
    const inEntries = tabelas.filter(({ nome }) => AUDITED.has(nome));
    const reckoned = tabelas.filter(({ nome }) => RECKONED.has(nome));
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

  /** A forged entry for all rows of a table: as they stand now, or as deleted. */
  const tellByHand = (client: PoolClient, vista: Vista, isGone: boolean, which = 'true'): Promise<unknown> => {
    const { item, resumo } = rowInSql(vista);
    const gone = {
      item: `'-' || ${item}`,
      resumo: `sha256(convert_to('apagada' || chr(10) || '-' || ${item}, 'UTF8'))`,
    };
    const said = isGone ? gone : { item, resumo };
    return client.query(
      `insert into auditoria (tenant, id, em, itens, resumos)
        select $1, gen_random_uuid(), now() + interval '1 hour', string_agg(r.item, chr(10) order by r.item), string_agg(r.resumo, ''::bytea order by r.item)
        from (select ${said.item} as item, ${said.resumo} as resumo from ${AUDITADAS[vista].tabela} t where t.tenant = $1 and (${which})) r having count(*) > 0`,
      [SLUG],
    );
  };
  const foundOf = (said: readonly string[], ...tipos: readonly string[]): readonly string[] =>
    VISTAS.filter((vista) => tipos.some((tipo) => said.includes(`${tipo} ${vista}`)));

  test('a row that is changed and told anew by an entry of their own: found where nothing changes once it is written', async () => {
    const said = await tryChange(async (client) => {
      for (const vista of VISTAS) {
        const { tabela: nome, colunas, chave } = AUDITADAS[vista];
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
    // An act beside it shows the deletion in the trail, where everybody can read it.
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

  test('a state or a moment of a note that its trail does not say, whatever entries say', async () => {
    for (const change of [
      `estado = 'recusada'`,
      'movimentos = movimentos + 1',
      'data_autorizacao = now()',
      'data_cancelamento = null',
    ]) {
      const said = await tryChange(async (client) => {
        await client.query(`update notas set ${change} where tenant = $1 and numero_dps = 1`, [SLUG]);
        await tellByHand(client, 'notas_estado', false);
      });
      assert.deepEqual(
        said.filter((one) => one === 'linha_nao_segue notas'),
        ['linha_nao_segue notas'],
        `${change}: ${said}`,
      );
    }
  });

  test('a number of a provider that no note has, but for those that a restoration has left out', async () => {
    const lacking = (client: PoolClient) =>
      client.query('delete from notas where tenant = $1 and numero_dps = 2', [SLUG]);
    assert.ok((await tryChange(lacking)).includes('linha_nao_segue notas'));
    const eliminated = async (client: PoolClient) => {
      await lacking(client);
      await client.query(`insert into meses (mes, eliminado_em) values (201501, now())`);
    };
    assert.ok(
      (await tryChange(eliminated)).includes('linha_nao_segue notas'),
      'an act of the municipality alone says so',
    );
    const leftOut = (ultimo: number) => async (client: PoolClient) => {
      await lacking(client);
      await client.query(
        `insert into atos (tenant, em, id, quem, via, objeto, chave, acao, antes, depois)
          values ($1, now(), gen_random_uuid(), 'x', 'comando', 'prestador', '${CNPJ}', '${ADVANCED}', '{"ultimo": 1}', $2)`,
        [SLUG, { ultimo }],
      );
    };
    assert.ok(!(await tryChange(leftOut(2))).includes('linha_nao_segue notas'));
    assert.ok((await tryChange(leftOut(1))).includes('linha_nao_segue notas'));
  });

  /** Copies a row, with other values in some of its columns. */
  const copyRow = (client: PoolClient, tabela: string, which: string, others: string): Promise<unknown> =>
    client.query(
      `insert into ${tabela} select (jsonb_populate_record(t, jsonb_build_object(${others}))).* from ${tabela} t where t.tenant = $1 and ${which}`,
      [SLUG],
    );
  const FOURTH = '(select n.id from notas n where n.tenant = $1 and n.numero_dps = 4)';
  const FORGED = `t.id = 1000 + ${FOURTH}`;
  const UNUSED = "'9' || substr";

  /** Forged acts that accept every finding. */
  const acceptAll = async (client: PoolClient, isTold: boolean): Promise<void> => {
    await client.query('update notas set valor_servico = 7 where tenant = $1 and numero_dps = 4', [SLUG]);
    const { achados } = await conferirEm(client, SLUG, { comparar: contraditasOf });
    for (const achado of achados) {
      await client.query(
        `insert into atos (tenant, em, id, quem, via, objeto, chave, acao, motivo) values ($1, now(), gen_random_uuid(), 'x', 'comando', 'auditoria', $2, '${ACEITO}', 'x')`,
        [SLUG, idOfAchado(achado)],
      );
    }
    if (isTold) await tellByHand(client, 'atos', false, `t.objeto = 'auditoria'`);
  };

  /** The act is deleted with its entry, and the later entries are linked anew. */
  const relink = async (client: PoolClient): Promise<void> => {
    await client.query(`delete from atos where tenant = $1 and acao = 'primeiro'`, [SLUG]);
    const gone = 1 + Number(antes['lugar']);
    await client.query(`delete from auditoria where tenant = $1 and lugar = $2`, [SLUG, gone]);
    const fim = await tieAnew(client, antes as unknown as FimLido, gone);
    await client.query('update auditoria_ate set lugar = $2, elo = $3 where tenant = $1', [SLUG, fim.lugar, fim.elo]);
  };

  type FimLido = { readonly lugar: number; readonly elo: Buffer };

  /** Links the entries after a place to an earlier end, one after the other; returns the new end. */
  const tieAnew = async (client: PoolClient, { lugar, elo }: FimLido, after: number): Promise<FimLido> => {
    const { rows } = await client.query(
      `select id, ${momentoOf('em')} as em, coalesce(sobre, '') as sobre, encode(raiz, 'hex') as raiz,
        octet_length(resumos) / 32 as folhas from auditoria where tenant = $1 and lugar > $2 order by lugar`,
      [SLUG, after],
    );
    let fim = { lugar: Number(lugar), elo };
    for (const row of rows) {
      const entrada = { ...row, lugar: fim.lugar + 1 };
      fim = { lugar: entrada.lugar, elo: eloOf(fim.elo, entrada) };
      const text = 'update auditoria set lugar = $3, elo = $4 where tenant = $1 and id = $2';
      await client.query(text, [SLUG, row.id, fim.lugar, fim.elo]);
    }
    return fim;
  };

  /** Forges a row and its entry, and gives all entries and the end the same authenticator; `em`: their moment. */
  const disown = async (client: PoolClient, autenticador: Buffer | null, em = 'a.em'): Promise<void> => {
    await TRIED.contarMovel(client);
    // The seal of the database would reveal the change.
    await client.query('delete from auditoria_selos where tenant = $1', [SLUG]);
    await client.query(`delete from auditoria where tenant = $1 and itens like '["auditoria_selos"%'`, [SLUG]);
    await client.query(
      `update auditoria a set autenticador = $2, autenticador_lugar = case when lugar is not null then $2::bytea end, em = ${em} where tenant = $1`,
      [SLUG, autenticador],
    );
    const { lugar, elo } = await tieAnew(client, { lugar: 0, elo: ZERO }, 0);
    const text = 'update auditoria_ate set lugar = $2, elo = $3, autenticador = $4 where tenant = $1';
    await client.query(text, [SLUG, lugar, elo, autenticador]);
  };
  const BEFORE_THE_KEY = `a.em - interval '1000 days'`;

  /** Attacks on the places, made before the service gives the next place. */
  const WAITED = {
    refazerEsperar: () => Promise.resolve(),
    semLugares: async (client: PoolClient) => {
      await client.query('update auditoria_ate set autenticador = null where tenant = $1', [SLUG]);
      await client.query('update auditoria set autenticador_lugar = null where tenant = $1', [SLUG]);
    },
    lugaresDeNovo: async (client: PoolClient) => {
      await client.query(`delete from auditoria_selos where tenant = $1`, [SLUG]);
      await client.query(`delete from auditoria where tenant = $1 and itens like '%auditoria_selos%'`, [SLUG]);
      const none = 'lugar = null, sal = null, raiz = null, elo = null, autenticador_lugar = null';
      await client.query(`update auditoria set ${none} where tenant = $1`, [SLUG]);
      await client.query('update auditoria_ate set lugar = 0, elo = null, autenticador = null where tenant = $1', [
        SLUG,
      ]);
    },
  } as const satisfies Partial<Record<ComOBanco, (client: PoolClient) => Promise<unknown>>>;

  /** Makes the NFS-e of a forged note agree with the row. */
  const forgeDocument = async (client: PoolClient): Promise<void> => {
    const { rows } = await client.query(
      `select d.nfse, d.pacote, d.dicionario, n.chave_acesso as chave, n.id_dps from documentos d
        join notas n on n.tenant = $1 and n.id = d.nota where d.tenant = $1 and d.nota = ${FOURTH}`,
      [SLUG],
    );
    const { nfse, pacote, dicionario, chave, id_dps } = rows[0];
    const text = String(nfse ?? openPacote(pacote, dicionario).nfse)
      .replace(chave, `9${chave.slice(1)}`)
      .replace(id_dps, `9${id_dps.slice(1)}`)
      .replace('<nNFSe>4<', '<nNFSe>5<');
    await client.query(
      `update documentos set nfse = $2, recebido = 'x', pacote = null, dicionario = null, certificado = null, partes = null
        where tenant = $1 and nota = 1000 + ${FOURTH}`,
      [SLUG, Buffer.from(text)],
    );
  };

  /** Counts the columns of a changed note that the comparison with the NFS-e finds when no entry can. */
  test('each column of a note beside its NFS-e', async (t) => {
    const notas = tabelas.find(({ nome }) => nome === 'notas')!;
    const by: [string, string][] = [];
    for (const { nome, tipo } of notas.colunas.filter(({ nome }) => !['tenant', 'id', 'mes'].includes(nome))) {
      const change = (client: PoolClient) =>
        client.query(
          `update notas n set ${nome} = ${nome === 'data_emissao' ? `n.${nome} + interval '1 second'` : otherThan(`n.${nome}`, tipo)}
            where n.tenant = $1 and n.numero_dps = 4`,
          [SLUG],
        );
      const found = await changing(change, (client) =>
        Array.fromAsync(findContraditas(client, SLUG, contraditasOf), ({ coluna, como }) => `${coluna}: ${como}`),
      );
      by.push([nome, found.join(', ') || 'not by it']);
    }
    t.diagnostic(by.map((one) => one.join(' → ')).join('\n'));
    const known = by.flatMap(([nome, found]) => (found === 'not by it' ? [] : [nome]));
    assert.deepEqual(
      known,
      notas.colunas.flatMap(({ nome }) => (CAMPOS.some(({ coluna }) => coluna === nome) ? [nome] : [])),
    );
    for (const [nome, found] of by.filter(([, one]) => one !== 'not by it')) {
      assert.match(found, new RegExp(`^${nome}: a coluna (e a NFS-e )?traz(em)? [^,]*(, e a NFS-e nada)?$`));
    }
    const emptied = await changing(
      (client) => client.query('update notas set tomador_cpf_cnpj = null where tenant = $1 and numero_dps = 4', [SLUG]),
      (client) => Array.fromAsync(findContraditas(client, SLUG, contraditasOf), ({ como }) => como),
    );
    assert.deepEqual(emptied, ['a coluna está vazia, e a NFS-e traz um CNPJ ou CPF']);
    const torn = await changing(
      (client) => client.query(`update documentos set nfse = '<NFSe>', pacote = null where tenant = $1`, [SLUG]),
      (client) => Array.fromAsync(findContraditas(client, SLUG, contraditasOf), ({ coluna }) => coluna),
    );
    assert.deepEqual(torn, [undefined, undefined, undefined, undefined]);
  });

  /** Objects that hide rows, each with the table that the finding names. */
  const HIDING = {
    política: [`create policy so_um on notas using (numero_dps > 1)`, 'notas'],
    'segurança por linha': ['alter table atos enable row level security', 'atos'],
    visão: [
      `alter table notas rename to notas_; create view notas as select * from notas_ where numero_dps > 1 or current_setting('application_name') <> 'nfse-migrar'`,
      'notas',
    ],
    regra: ['create rule nada as on delete to atos do instead nothing', 'atos'],
    'gatilho de um mês': [
      `create function nada() returns trigger language plpgsql as 'begin return null; end';
      create trigger nada before insert on notas_${MES} for each row execute function nada()`,
      `notas_${MES}`,
    ],
    'gatilho de um mês de outro nome': [
      `create function nada() returns trigger language plpgsql as 'begin return null; end';
      alter table notas_${MES} rename to outro_nome;
      create trigger nada before insert on outro_nome for each row execute function nada()`,
      'outro_nome',
    ],
    'tabela herdeira': ['create table mais () inherits (atos)', 'mais'],
    'função de outro esquema': [
      `create schema outro; create function outro.sha256(text) returns bytea language sql as 'select null::bytea';
      set local search_path = public, outro`,
      'pg_proc',
    ],
    função: [
      `create function sha256(text) returns bytea language sql as 'select sha256(convert_to($1, ''UTF8''))'`,
      'pg_proc',
    ],
    operador: [
      `create function nunca(text, text) returns boolean language sql as 'select false';
      create operator <> (leftarg = text, rightarg = text, function = nunca)`,
      'pg_operator',
    ],
    esquema: [
      `create schema outro; create view outro.atos as select * from public.atos where false; set local search_path = outro, public`,
      'atos',
    ],
  } as const;

  test('what hides rows of whoever verifies, or changes what is written, is named with the way out', async () => {
    for (const [what, [text, tabela]] of Object.entries(HIDING)) {
      const { achados } = await changing(
        (client) => client.query(text),
        (client) => conferirEm(client, SLUG),
      );
      const found = achados.filter(({ tipo }) => tipo === 'objeto_estranho');
      assert.deepEqual(
        found.map((one) => one.tabela),
        [tabela],
        `${what}: ${JSON.stringify(achados)}`,
      );
      assert.match(describeAchado(found[0]!), /: .*(drop|alter table .* disable|no inherit|tire-a|tire o esquema) ?/);
    }
    // Objects that the service made in any of its migrations are its own.
    assert.deepEqual((await service.store.auditoria.verify(SLUG, [])).achados, []);
  });

  test('rows of another database among those of a table are named', async () => {
    const fora = `create foreign data wrapper fora; create server fora foreign data wrapper fora; create foreign table mais`;
    const roads = {
      'tabela herdeira public.mais': `${fora} (like atos) server fora; alter foreign table mais inherit atos`,
      'tabela de fora public.mais': `create table meses_ (tenant text) partition by list (tenant); alter table fila rename to fila_;
        alter table meses_ rename to fila; ${fora} partition of fila for values in ('outro') server fora`,
    };
    for (const [objeto, text] of Object.entries(roads)) {
      const found = await changing((client) => client.query(text), readPlainly);
      assert.deepEqual(
        found.map(({ tabela, chave }) => [tabela, ...chave]),
        [['mais', objeto]],
      );
    }
  });

  test('a policy that comes while somebody verifies ends the verification', async () => {
    const { pool } = service;
    const client = await pool.connect();
    try {
      await client.query(`begin; create role leitor; grant usage on schema public to leitor;
        grant select on all tables in schema public to leitor; set local role leitor`);
      await readPlainly(client);
      await client.query('reset role; alter table notas enable row level security; set local role leitor');
      await assert.rejects(client.query('select count(*) from notas'), { code: '42501' });
    } finally {
      await client.query('rollback');
      client.release();
    }
  });

  const ofMunicipio = `a.tenant = $1 and a.itens = '["municipios"]' and a.sobre is null`;
  /** Changes to a row of the municipality, as a row of another one or as an earlier state. */
  const TRIED: Readonly<
    Record<
      Exclude<ComOBanco, keyof typeof WAITED | 'antesDoServico' | 'antesDoLugar' | 'recomecar' | 'recomecarNota'>,
      (client: PoolClient) => Promise<unknown>
    >
  > = {
    mudar: (client) => client.query('update notas set valor_servico = 7 where tenant = $1', [SLUG]),
    apagar: (client) => client.query('delete from prestadores where tenant = $1', [SLUG]),
    inserir: (client) => copyRow(client, 'webhooks', 'true', "'id', 'w2'"),
    inserirNota: async (client) => {
      const others = `'id', 1000 + t.id, 'numero_dps', 5, 'id_dps', ${UNUSED}(t.id_dps, 2), 'chave_acesso', ${UNUSED}(t.chave_acesso, 2), 'numero_protocolo', ${UNUSED}(t.numero_protocolo, 2)`;
      await copyRow(client, 'notas', 't.numero_dps = 4', others);
      for (const tabela of ['documentos', 'trilha_notas']) {
        await copyRow(client, tabela, `t.nota = ${FOURTH}`, "'nota', 1000 + t.nota");
        if (tabela === 'documentos') await forgeDocument(client);
        await tellByHand(client, tabela as Vista, false, `t.nota = 1000 + ${FOURTH}`);
      }
      await copyRow(client, 'fila', `t.id = ${FOURTH}`, "'id', 1000 + t.id");
      await copyRow(
        client,
        'identidades',
        `t.nota = ${FOURTH}`,
        `'nota', 1000 + t.nota, 'id_dps', ${UNUSED}(t.id_dps, 2)`,
      );
      await client.query('update numeracao set ultimo = 5 where tenant = $1', [SLUG]);
      for (const vista of ['notas', 'notas_estado'] as const) await tellByHand(client, vista, false, FORGED);
    },
    contarFixo: async (client) => {
      await client.query('update notas set valor_servico = 7 where tenant = $1', [SLUG]);
      await tellByHand(client, 'notas', false);
    },
    contarMovel: async (client) => {
      await client.query(`update tokens set escopos = '{tudo}' where tenant = $1`, [SLUG]);
      await client.query(`update notas set mensagem_retorno = 'x' where tenant = $1`, [SLUG]);
      for (const vista of ['tokens', 'notas_estado'] as const) await tellByHand(client, vista, false);
    },
    apagarContado: async (client) => {
      await tellByHand(client, 'atos', true);
      await client.query('delete from atos where tenant = $1', [SLUG]);
    },
    apagarComAto: async (client) => {
      await tellByHand(client, 'simples_nacional', true);
      await client.query('delete from simples_nacional where tenant = $1', [SLUG]);
      await copyRow(client, 'atos', `t.acao = 'primeiro'`, "'id', gen_random_uuid(), 'acao', 'x'");
      await tellByHand(client, 'atos', false, `t.acao = 'x'`);
    },
    apagarLivre: async (client) => {
      for (const vista of ['tokens', 'webhooks', 'importacoes'] as const) {
        await tellByHand(client, vista, true);
        await client.query(`delete from ${vista} where tenant = $1`, [SLUG]);
      }
    },
    aceite: (client) => acceptAll(client, false),
    aceiteContado: (client) => acceptAll(client, true),
    entrada: (client) => client.query('delete from auditoria where tenant = $1 and lugar = 2', [SLUG]),
    duasCorrentes: async (client) => {
      await client.query('drop index auditoria_lugar');
      await copyRow(client, 'auditoria', 't.lugar = 3', "'id', gen_random_uuid()");
    },
    repetir: async (client) => {
      await client.query('update municipios set limite_endereco = 7 where tenant = $1', [SLUG]);
      await client.query(
        `insert into auditoria (tenant, id, itens, resumos, autenticador) select tenant, gen_random_uuid(), itens, resumos, autenticador
          from auditoria a where ${ofMunicipio} order by a.lugar limit 1`,
        [SLUG],
      );
    },
    deOutro: async (client) => {
      const columns = tabelas.find(({ nome }) => nome === 'municipios')!.colunas.map(({ nome }) => nome);
      const copied = columns.filter((nome) => nome !== 'tenant').join(', ');
      await client.query(
        `update municipios m set (${copied}) = (select ${copied} from municipios o where o.tenant = $2) where m.tenant = $1`,
        [SLUG, OUTRA],
      );
      await client.query(
        `insert into auditoria (tenant, id, itens, resumos, autenticador) select $2, id, itens, resumos, autenticador
          from auditoria a where ${ofMunicipio} limit 1`,
        [OUTRA, SLUG],
      );
    },
    refazer: relink,
    semChave: (client) => disown(client, null),
    semChaveAntes: (client) => disown(client, null, BEFORE_THE_KEY),
    outraChave: (client) => disown(client, Buffer.alloc(40, 9), BEFORE_THE_KEY),
    migracoes: async (client) => {
      await TRIED.contarMovel(client);
      await client.query(
        `update migracoes set aplicada_em = now() where nome like '%-autenticador.sql' or nome like '%-lugar-autenticado.sql'`,
      );
    },
    esconder: (client) => client.query(HIDING.visão[0]),
    gatilho: (client) => client.query(HIDING['gatilho de um mês'][0]),
    cortar: async (client) => {
      await client.query(`delete from atos where tenant = $1 and acao in ('primeiro', 'segundo')`, [SLUG]);
      await client.query('update municipios set limite_endereco = null where tenant = $1', [SLUG]);
      await client.query('delete from auditoria where tenant = $1 and lugar > $2', [SLUG, antes['lugar']]);
      const text = 'update auditoria_ate set lugar = $2, elo = $3, autenticador = $4 where tenant = $1';
      await client.query(text, [SLUG, antes['lugar'], antes['elo'], antes['autenticador']]);
    },
    reabrir: async (client) => {
      await client.query(`update tokens set escopos = '{tudo}' where tenant = $1`, [SLUG]);
      await tellByHand(client, 'tokens', false);
      await client.query(`update auditoria set sobre = 'abertura' where tenant = $1 and lugar is null`, [SLUG]);
    },
    naoContado: (client) => client.query('update sequencias set proximo = proximo + 1 where tenant = $1', [SLUG]),
  };

  const ACHAM = {
    corrente: [true, true, true],
    chave: [false, true, true],
    selo: [false, false, true],
    nada: [false, false, false],
  } as const;

  for (const [name, change] of Object.entries(TRIED) as [keyof typeof TRIED, (typeof TRIED)['mudar']][]) {
    test(`with the database somebody tries to ${name}`, async () => {
      const said = await changing(change, async (client) => [
        await foundIn(client, []),
        await foundIn(client, [CHAVE]),
        await foundIn(client, [CHAVE], [kept]),
      ]);
      assert.deepEqual(
        said.map((one) => one.length > 0),
        ACHAM[achadoPor(name)],
        JSON.stringify(said),
      );
    });
  }

  test('what a process of the version before has written before the key counts alone is no finding', async () => {
    const writtenAt = (moment: string) => async (client: PoolClient) => {
      await TRIED.contarMovel(client);
      await client.query(`update auditoria set em = ${moment} where tenant = $1 and lugar is null`, [SLUG]);
    };
    const prazo = { entradas: Date.now() + 1_800_000 };
    const found = (client: PoolClient) => foundIn(client, [CHAVE], [], prazo);
    assert.deepEqual(await changing(writtenAt('now()'), found), []);
    assert.notDeepEqual(await changing(writtenAt("now() + interval '1 hour'"), found), []);
  });

  /** Tables that are written by attacks that wait for the service, and by the service itself. */
  const WRITTEN = ['atos', 'municipios', 'auditoria', 'auditoria_ate', 'auditoria_selos'];
  /** Runs `work` and restores the previous state. */
  const puttingBack = async (work: () => Promise<void>): Promise<void> => {
    const { pool } = service;
    await pool.query(`create schema antes`);
    for (const tabela of WRITTEN) await pool.query(`create table antes.${tabela} as table ${tabela}`);
    try {
      await work();
    } finally {
      for (const tabela of WRITTEN) {
        await pool.query(`delete from ${tabela}`);
        await pool.query(`insert into ${tabela} select * from antes.${tabela}`);
      }
      await pool.query('drop schema antes cascade');
    }
  };

  for (const [name, change] of Object.entries(WAITED) as [keyof typeof WAITED, (typeof WAITED)['semLugares']][]) {
    test(`with the database somebody tries to ${name}, and the service goes on`, () =>
      puttingBack(async () => {
        const { pool, store } = service;
        const client = await pool.connect();
        try {
          await relink(client);
          await change(client);
          const municipio = (await store.municipios.readFresh(SLUG))!;
          await store.municipios.update({ ...municipio, limiteEndereco: 9 });
          while ((await store.auditoria.place(SLUG)) > 0);
          const said = [
            await foundIn(client, []),
            await foundIn(client, [CHAVE]),
            await foundIn(client, [CHAVE], [kept]),
          ];
          const acham = said.map((one) => one.length > 0);
          assert.deepEqual(acham, ACHAM[achadoPor(name)], JSON.stringify(said));
        } finally {
          client.release();
        }
      }));
  }

  test('with the database somebody changes the order of entries that have no place yet, or takes one away', () =>
    puttingBack(async () => {
      const { pool, store } = service;
      const set = async (limiteEndereco: number): Promise<unknown> =>
        store.municipios.update({ ...(await store.municipios.readFresh(SLUG))!, limiteEndereco });
      const ofLast = '(select max(em) from auditoria where tenant = $1 and lugar is null)';
      for (const change of [
        `update auditoria a set em = (select min(em) from auditoria where tenant = $1 and lugar is null) - interval '1 ms'
          where tenant = $1 and lugar is null and em = ${ofLast}`,
        `delete from auditoria where tenant = $1 and lugar is null and em = ${ofLast}`,
      ]) {
        for (const limite of [20, 21]) await set(limite);
        await pool.query(change, [SLUG]);
        await pool.query('update municipios set limite_endereco = 20 where tenant = $1', [SLUG]);
        while ((await store.auditoria.place(SLUG)) > 0);
        const said = (await store.auditoria.verify(SLUG, [kept])).achados;
        assert.deepEqual([false, false, said.length > 0], ACHAM[achadoPor('antesDoLugar')], JSON.stringify(said));
      }
    }));

  test('with the database somebody lets the service tell what was changed: before it writes, and by taking the chain away', async () => {
    const { pool, store, clock } = service;
    const acham = async (): Promise<readonly boolean[]> => {
      while ((await store.auditoria.place(SLUG)) > 0);
      const client = await pool.connect();
      try {
        const said = [
          await foundIn(client, []),
          await foundIn(client, [CHAVE]),
          await foundIn(client, [CHAVE], [kept]),
        ];
        return said.map((one) => one.length > 0);
      } finally {
        client.release();
      }
    };
    await pool.query(`update municipios set limite_prestador = 9 where tenant = $1`, [SLUG]);
    await store.municipios.update((await store.municipios.readFresh(SLUG))!);
    assert.deepEqual(await acham(), ACHAM[achadoPor('antesDoServico')]);
    for (const [name, change] of [
      ['recomecar', `update notas set mensagem_retorno = 'x' where tenant = $1`],
      ['recomecarNota', 'update notas set valor_servico = 7 where tenant = $1'],
    ] as const) {
      await pool.query(change, [SLUG]);
      for (const tabela of ['auditoria', 'auditoria_ate', 'auditoria_selos']) {
        await pool.query(`delete from ${tabela} where tenant = $1`, [SLUG]);
      }
      while (await store.auditoria.openEtapa(SLUG, clock.now));
      assert.deepEqual(await acham(), ACHAM[achadoPor(name)]);
    }
    const tried = [
      ...Object.keys(TRIED),
      ...Object.keys(WAITED),
      'antesDoServico',
      'antesDoLugar',
      'recomecar',
      'recomecarNota',
    ];
    assert.deepEqual(tried.toSorted(), Object.keys(COM_O_BANCO).toSorted());
  });
});
