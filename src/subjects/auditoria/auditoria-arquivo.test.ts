/**
 * Months in the archive are verified against the audit chain row by row. The files were rewritten with matching hashes, or are cut, missing
 * or unreachable.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { onEnd } from '../../../test/support/cleanup.ts';
import { databaseUrlOf, freshDatabase } from '../../../test/support/database.ts';
import { balcao, CANCELAMENTO } from '../../../test/support/eventos.ts';
import { emit } from '../../../test/support/http.ts';
import { nfse } from '../../../test/support/process.ts';
import { loteXml, sendLote } from '../../../test/support/rps.ts';
import { NOON, startTestService, type TestService } from '../../../test/support/service.ts';
import { signedBy, testParties } from '../../../test/support/signatures.ts';
import { until } from '../../../test/support/until.ts';
import { useArquivo } from '../../base/book/arquivo.ts';
import {
  ArquivoWriter,
  eachRegistro,
  openArquivo,
  type ReadRange,
  type Registro,
  writeHead,
} from '../../base/book/arquivo-formato.ts';
import { DAY_MS } from '../../fiscal/moment.ts';
import { exampleXml } from '../../fiscal/rules/example.ts';
import { fecharMes } from '../guarda/arquivar.ts';

const SLUG = 'integracao';

type Row = { colunas: Record<string, unknown>; bytes: Record<string, Buffer> };
/** A record that a test can change. */
type Mutavel = { tipo: Registro['tipo']; id: bigint; linhas: Record<string, Row[]> };

function copyOf({ tipo, id, linhas }: Registro): Mutavel {
  const tables = Object.entries(linhas).map(([table, rows]) => {
    return [table, rows.map(({ colunas, bytes }) => ({ colunas: { ...colunas }, bytes: { ...bytes } }))] as const;
  });
  return { tipo, id, linhas: Object.fromEntries(tables) };
}

describe('a month in the archive, before the audit chain', () => {
  let service: TestService;
  let env: NodeJS.ProcessEnv;
  let file = '';
  let good = Buffer.alloc(0);
  const folder = mkdtempSync(path.join(tmpdir(), 'nfse-auditoria-'));
  onEnd(() => rmSync(folder, { recursive: true, force: true }));

  before(async () => {
    const connection = await freshDatabase();
    env = { DATABASE_URL: databaseUrlOf(connection), NFSE_ARQUIVO: folder };
    service = await startTestService({ connection });
    const { address, pool, store } = service;
    useArquivo(pool, folder);
    await store.municipios.update({ ...(await store.municipios.readFresh(SLUG))!, guardaDias: 0 });
    const { provider } = await testParties(NOON);
    const here = balcao(address, SLUG);
    // A note compressed without its certificate, two of which one is cancelled, and a note of a lot.
    const signed = await emit(
      address,
      signedBy(exampleXml({ serie: '1', nDPS: '1' }).replace(/>\s+</g, '><'), provider),
    );
    assert.equal(signed.status, 201, JSON.stringify(signed.body));
    const notas = [
      signed.body,
      await here.issue({ serie: '1', nDPS: '2' }),
      await here.issue({ serie: '1', nDPS: '3' }),
    ];
    await sendLote(address, loteXml([{ numero: '1', serie: '2' }]));
    for (const nota of notas) {
      await until(async () => (await here.nota(nota)).body.nota?.status === 'autorizada' || undefined, 'autorizada');
    }
    await here.registered(notas[1]!, { ...CANCELAMENTO, cnpj_autor: '11222333000181' });
    await until(async () => (await here.nota(notas[1]!)).body.nota?.status === 'cancelada' || undefined, 'cancelada');
    await until(async () => {
      const { rows } = await pool.query('select count(*)::int as n from fila');
      return rows[0].n === 0 || undefined;
    }, 'nothing is under way');
    const closed = await fecharMes({ store, now: () => NOON + 100 * DAY_MS }, '2026-11', () => undefined);
    assert.ok(!('problem' in closed), JSON.stringify(closed));
    const state = () => store.auditoria.readState(SLUG);
    await until(async () => (await state())?.abertaEm ?? undefined, 'the chain was begun');
    await until(async () => (await state())?.semLugarDesde === null || undefined, 'every entry has a place');
    const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    file = path.join(folder, names.find((name) => name.endsWith('.nfse'))!);
    good = readFileSync(file);
  });

  const verify = () => service.store.auditoria.verify(SLUG, []);

  /** Writes the file anew, with matching hashes, and gives the database its length without an entry in the chain. */
  async function written(change: (registros: Mutavel[]) => readonly Registro[]): Promise<void> {
    const read: ReadRange = async (at, length) => good.subarray(at, at + length);
    const aberto = await openArquivo(read, good.length);
    const registros: Mutavel[] = [];
    for await (const one of eachRegistro(read, aberto)) registros.push(copyOf(one));
    const head = writeHead(aberto.cabecalho);
    const writer = new ArquivoWriter(head.length);
    const added = change(registros).map((one) => writer.add(one));
    const parts = [head, ...added.map(({ bytes }) => bytes), ...added.map(({ entry }) => entry), writer.end()];
    const whole = Buffer.concat(parts);
    writeFileSync(file, whole);
    await service.pool.query('update arquivos set bytes = $1', [whole.length]);
  }

  /** Findings beside the row of `arquivos`, whose length differs from the recorded one. */
  async function found(): Promise<readonly string[]> {
    const { achados } = await verify();
    const others = achados.filter(({ tabela, chave }) => !(tabela === 'arquivos' && chave?.length === 2));
    return others.map(({ tipo, tabela }) => `${tipo} ${tabela}`).toSorted();
  }

  const restored = async (): Promise<void> => {
    writeFileSync(file, good);
    await service.pool.query('update arquivos set bytes = $1', [good.length]);
  };

  test('is verified with all that is in its file', async () => {
    const { achados, noArquivo, arquivos } = await verify();
    assert.deepEqual(achados, []);
    assert.equal(noArquivo, 0);
    const { rows } = await service.pool.query('select linhas from arquivos');
    const { certificados: _, ...told } = rows[0].linhas;
    const all = Object.values(told as Record<string, number>);
    assert.equal(all.length, 5, 'documents and moves of notes and events, and lots');
    for (const count of all) assert.ok(count > 0);
    const sum = all.reduce((one, other) => one + other, 0);
    assert.deepEqual(
      arquivos.map(({ linhas, problema }) => [linhas, problema]),
      [[sum, undefined]],
    );
    const { code, out } = await nfse(['auditoria', 'verificar', SLUG], env);
    assert.equal(code, 0, out);
    assert.match(out, new RegExp(`, ${sum} em 1 arquivos`));
  });

  /** The first row of a table that is in the file. */
  const rowOf = (registros: readonly Mutavel[], table: string) =>
    registros.find(({ linhas }) => (linhas[table]?.length ?? 0) > 0)!.linhas[table]![0]!;

  const CHANGES: readonly (readonly [string, (all: Mutavel[]) => readonly Registro[], readonly string[]])[] = [
    ...(
      [
        ['documentos', 'recebido_assinatura', 'AA=='],
        ['trilha_notas', 'mensagem', 'outra'],
        ['trilha_notas', 'em', '2026-11-21T12:00:00.000001+00:00'],
        ['trilha_eventos', 'quem', 'fulano'],
        ['documentos_eventos', 'confianca', 7],
        ['documentos_lotes', 'confianca', 7],
      ] as const
    ).map(([table, column, value]) => {
      const change = (all: Mutavel[]) => {
        rowOf(all, table).colunas[column] = value;
        return all;
      };
      return [`${table}.${column}`, change, [`linha_alterada ${table}`]] as const;
    }),
    ...(
      [
        ['documentos_eventos', 'xml'],
        ['documentos_lotes', 'recebido'],
      ] as const
    ).map(([table, column]) => {
      const change = (all: Mutavel[]) => {
        rowOf(all, table).bytes[column] = Buffer.from('<outro/>');
        return all;
      };
      return [`${table}.${column}`, change, [`linha_alterada ${table}`]] as const;
    }),
    [
      'the documents of a note, of another note',
      (all) => {
        const [one, other] = all.filter(({ tipo }) => tipo === 'nota');
        const pacote = other!.linhas['documentos']![0]!;
        Object.assign(one!.linhas['documentos']![0]!, { bytes: pacote.bytes });
        Object.assign(one!.linhas['documentos']![0]!.colunas, {
          certificado: pacote.colunas['certificado'],
          partes: pacote.colunas['partes'],
        });
        return all;
      },
      ['linha_alterada documentos'],
    ],
    [
      'a note that is left out',
      (all) => all.filter(({ tipo }, at) => tipo !== 'nota' || at > 0),
      ['linha_apagada documentos', ...Array(3).fill('linha_apagada trilha_notas')],
    ],
    [
      'a note that is put in',
      (all) => {
        const last = all.findLast(({ tipo }) => tipo === 'nota')!;
        const more = copyOf(last);
        more.id += 1_000n;
        for (const rows of Object.values(more.linhas)) {
          for (const row of rows) {
            Object.assign(row.colunas, { nota: Number(more.id) });
          }
        }
        return all.toSpliced(all.indexOf(last) + 1, 0, more);
      },
      ['linha_sem_entrada documentos', ...Array(3).fill('linha_sem_entrada trilha_notas')],
    ],
    [
      'a certificate that is another',
      (all) => {
        Object.assign(rowOf(all, 'certificados').bytes, { der: Buffer.from('outro') });
        return all;
      },
      ['documento_danificado documentos', 'linha_alterada documentos'],
    ],
  ];
  for (const [name, change, expected] of CHANGES) {
    test(`whoever writes the file anew is found out: ${name}`, async () => {
      await written(change);
      try {
        assert.deepEqual(await found(), expected);
      } finally {
        await restored();
      }
    });
  }

  test('a file that is damaged is one finding, and not one a row', async () => {
    const broken = Buffer.from(good);
    const read: ReadRange = async (at, length) => good.subarray(at, at + length);
    // The damaged byte lies in the first record.
    const { cabecalho } = await openArquivo(read, good.length);
    broken[writeHead(cabecalho).length + 20]! ^= 1;
    writeFileSync(file, broken);
    const { achados, noArquivo } = await verify();
    await restored();
    assert.deepEqual(
      achados.map(({ tipo }) => tipo),
      ['arquivo_danificado'],
    );
    assert.ok(noArquivo > 0);
  });

  test('a file from before the chain is compared as a whole, and its rows are no finding', async () => {
    const { pool, store, clock } = service;
    await service.stopWorker();
    const { rows } = await pool.query('select criado_em::text as em from arquivos');
    const tables = ['auditoria', 'auditoria_ate'];
    for (const table of tables) await pool.query(`create table ${table}_antes as table ${table}`);
    try {
      for (const table of tables) await pool.query(`delete from ${table}`);
      await pool.query(`update arquivos set criado_em = now() - interval '1 day'`);
      while (await store.auditoria.openEtapa(SLUG, clock.now));
      while ((await store.auditoria.place(SLUG)) > 0);
      await pool.query(`update auditoria_ate set aberta_em = now()`);
      const { achados, arquivos } = await verify();
      assert.deepEqual(achados, []);
      assert.ok(arquivos[0]!.linhas > 0);
      await written((all) => {
        rowOf(all, 'trilha_notas').colunas['mensagem'] = 'outra';
        return all;
      });
      assert.deepEqual(await found(), ['arquivo_danificado arquivos']);
    } finally {
      await restored();
      await pool.query('update arquivos set criado_em = $1', [rows[0].em]);
      for (const table of tables) await pool.query(`delete from ${table}; insert into ${table} table ${table}_antes`);
    }
  });

  test('a file that cannot be reached is told, and nothing of it is called good', async () => {
    const verify = (settings: NodeJS.ProcessEnv) => nfse(['auditoria', 'verificar', SLUG], settings);
    const { pool, store } = service;
    const changeTo = async (ambiente: string): Promise<void> => {
      await pool.query('update municipios set ambiente = $1', [ambiente]);
      // The chain records the change, as if the service had made it.
      await store.municipios.update((await store.municipios.readFresh(SLUG))!);
    };
    renameSync(file, `${file}.fora`);
    try {
      // A file of a rehearsal may be deleted; one of production may not.
      assert.equal((await verify(env)).code, 0);
      await changeTo('producao');
      const { code, out } = await verify(env);
      assert.equal(code, 75, out);
      assert.match(out, /\.nfse não está em .*: as linhas dele não foram conferidas/);
      assert.match(out, /ainda não: falta ler .* dê NFSE_ARQUIVO .*\n(.*\n)*Ainda não se pode dizer/);
      const nowhere = await verify({ DATABASE_URL: env['DATABASE_URL'] });
      assert.equal(nowhere.code, 75, nowhere.out);
      assert.match(nowhere.out, /NFSE_ARQUIVO não diz onde está o arquivo/);
    } finally {
      renameSync(`${file}.fora`, file);
      await changeTo('homologacao');
    }
  });
});
