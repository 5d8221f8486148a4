/** The audit chain as the operator uses it: verified by command, sealed with the certificate, and a row proved to be recorded in it. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash, hash } from 'node:crypto';
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { onEnd } from '../../../test/support/cleanup.ts';
import { nfseBeside } from '../../../test/support/cli.ts';
import { databaseUrlOf, freshDatabase, poolOn } from '../../../test/support/database.ts';
import { balcao } from '../../../test/support/eventos.ts';
import { movedBy } from '../../../test/support/moments.ts';
import { MES } from '../../../test/support/nota-keys.ts';
import { startTestService } from '../../../test/support/service.ts';
import { DECADES, testParties } from '../../../test/support/signatures.ts';
import { until } from '../../../test/support/until.ts';
import type { Elo } from '../../base/book/auditoria-hash.ts';
import { pemOf } from '../../documents/pki.ts';
import { DAY_MS } from '../../fiscal/moment.ts';
import { createStore } from '../../wiring/store.ts';
import type { Prova } from './auditoria.rows.ts';
import { sealDays } from './auditoria.ts';
import { Baldes } from './baldes.rows.ts';

/** Temporary files go to `folder` until the end of a test. */
function inTmp(t: TestContext, folder: string): void {
  const { TMPDIR } = process.env;
  process.env['TMPDIR'] = folder;
  t.after(() => {
    if (TMPDIR === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = TMPDIR;
  });
}

const SLUG = 'integracao';

function freshFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'nfse-auditoria-'));
  onEnd(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const sha256 = (...parts: readonly (string | Buffer)[]): Buffer => {
  const sum = createHash('sha256');
  for (const part of parts) sum.update(part);
  return sum.digest();
};

/** Recomputes the proof as a reader would who has the page and none of our programs: from the text of the row to the hash in the seal. */
function reckon({
  texto,
  sal,
  item,
  antes,
  depois,
  entrada,
  anterior,
  elos,
}: Prova & { readonly elos: readonly Elo[] }): string {
  const folha = sha256(Buffer.of(0), Buffer.from(sal, 'hex'), sha256(texto), item);
  const raiz = sha256(Buffer.of(1), Buffer.from(antes, 'hex'), folha, Buffer.from(depois, 'hex'));
  assert.equal(raiz.toString('hex'), entrada.raiz);
  return [entrada, ...elos].reduce((before, { lugar, raiz, folhas, em, id, sobre }) => {
    return sha256(`nfse-auditoria-1\n${lugar}\n${before}\n${raiz}\n${folhas}\n${em}\n${id}\n${sobre}\n`).toString(
      'hex',
    );
  }, anterior);
}

test('the audit chain of a municipality', async (t) => {
  const folder = freshFolder();
  const verificar = (...more: readonly string[]) => nfseBeside(['auditoria', 'verificar', SLUG, ...more], env);
  const placed = (): Promise<true> =>
    until(
      async () => (await service.store.auditoria.readState(SLUG))?.semLugarDesde === null || undefined,
      'every entry has a place',
    );

  const connection = await freshDatabase();
  const env = { DATABASE_URL: databaseUrlOf(connection) };
  const service = await startTestService({ connection });
  const here = balcao(service.address, SLUG);
  const notas = [];
  for (const number of [1, 2, 3]) notas.push(await here.issue({ serie: '1', nDPS: String(number) }));
  const chave = notas[1]!.chave_acesso;
  for (const nota of notas) {
    await until(async () => (await here.nota(nota)).body.nota?.status === 'autorizada' || undefined, 'autorizada');
  }
  await until(async () => (await service.store.auditoria.readState(SLUG))?.abertaEm ?? undefined, 'it was begun');
  await placed();

  await t.test('is placed and begun by the worker, and verified by command', async () => {
    const { code, out } = await verificar();
    assert.equal(code, 0, out);
    assert.match(out, /nenhum dia foi selado/);
    assert.match(out, /Confere: nada foi mudado/);
    const json = JSON.parse((await verificar('--json')).out);
    assert.deepEqual([json.confere, json.total, json.semLugar], [true, 0, 0]);
    const state = (await service.store.auditoria.readState(SLUG))!;
    assert.deepEqual([state.conferida?.achados, state.conferida?.ate], [0, state.lugar]);
    const unknown = await nfseBeside(['auditoria', 'verificar', 'nenhum'], env);
    assert.deepEqual(
      [unknown.code, unknown.err],
      [1, 'Não há município nenhum: nfse municipio listar diz quais há.\n'],
    );
  });

  await t.test('is sealed once a day with the certificate, which openssl verifies', async () => {
    const { root, provider } = await testParties(Date.now(), DECADES);
    const [certificado, key, ca] = ['municipio.pem', 'municipio.key', 'ca.pem'].map((name) => path.join(folder, name));
    writeFileSync(certificado!, provider.pem);
    writeFileSync(key!, provider.keyPem, { mode: 0o600 });
    writeFileSync(ca!, pemOf('CERTIFICATE', root.certificate));
    const municipio = (await service.store.municipios.readFresh(SLUG))!;
    const adn = {
      url: 'https://adn.exemplo.gov.br',
      ca: undefined,
      chaves: { certificado: certificado!, chave: key! },
    };
    await service.store.municipios.update({ ...municipio, adn });
    for (const days of [0, 0, 1]) await sealDays({ ...service.world, now: () => service.clock.now + days * DAY_MS });
    await placed();
    const kept = path.join(folder, 'selos');
    assert.equal((await nfseBeside(['auditoria', 'selos', SLUG, kept], env)).code, 0);
    assert.deepEqual(readdirSync(kept).sort(), [
      'selo-integracao-2026-11-20.json',
      'selo-integracao-2026-11-20.p7s',
      'selo-integracao-2026-11-21.json',
      'selo-integracao-2026-11-21.p7s',
    ]);
    const [texto, assinatura] = ['json', 'p7s'].map((end) => path.join(kept, `selo-integracao-2026-11-20.${end}`));
    const asked = ['cms', '-verify', '-binary', '-inform', 'DER', '-purpose', 'any', '-CAfile', ca!];
    const said = execFileSync('openssl', [...asked, '-in', assinatura!, '-content', texto!], { stdio: 'pipe' });
    assert.equal(said.toString(), readFileSync(texto!, 'utf8'));
    const { code, out } = await verificar('--selo', texto!);
    assert.equal(code, 0, out);
    assert.match(out, /20\.json: a corrente passa por ele/);
    assert.match(out, /último selo: 2026-11-21/);
    const bySignature = await verificar('--selo', assinatura!);
    assert.equal(bySignature.code, 0, bySignature.out);
    assert.match(bySignature.out, /20\.json: a corrente passa por ele/);
    const mistyped = await verificar('--selo', path.join(kept, 'nenhum.json'));
    assert.equal(mistyped.code, 1);
    assert.match(mistyped.err, /^Não há \S+nenhum\.\w+: .+ Nada foi conferido\.\n$/);
    assert.doesNotMatch(mistyped.out, /Não confere/);
  });

  await t.test('shows of one row that it was told, and nothing of others, up to a seal', async () => {
    const { pool, store } = service;
    const { rows } = await pool.query<{ id: string }>('select id from notas where chave_acesso = $1', [chave]);
    const { id } = rows[0]!;
    const documentos = (await store.auditoria.proofOf(SLUG, 'documentos', [id, String(MES)], 0))!;
    const stored = await pool.query<{ recebido: Buffer }>('select recebido from documentos where nota = $1', [id]);
    assert.match(documentos.texto, new RegExp(`"recebido":"${sha256(stored.rows[0]!.recebido).toString('hex')}"`));
    for (const [tabela, key] of [
      ['documentos', [id, String(MES)]],
      ['notas', [id, String(MES)]],
      ['notas_estado', [id, String(MES)]],
      ['trilha_notas', [id, String(MES), '2']],
    ] as const) {
      // The search may start at any moment.
      for (const desde of [0, Date.now() - 3_600_000, Date.now() + 10 * DAY_MS]) {
        const from = await store.auditoria.findLugar(SLUG, desde);
        const prova = (await store.auditoria.proofOf(SLUG, tabela, key, from))!;
        const elos = await store.auditoria.readElos(SLUG, prova.entrada.lugar + 1, prova.selo!.lugar);
        assert.equal(reckon({ ...prova, elos }), JSON.parse(prova.selo!.texto).elo, tabela);
      }
    }
    assert.equal(await store.auditoria.proofOf(SLUG, 'notas', ['99', String(MES)], 0), undefined);
  });

  await t.test('that was written anew as a whole does not go through a seal that was kept', async () => {
    const { pool, store, clock } = service;
    await service.stopWorker();
    const texto = path.join(folder, 'selos', 'selo-integracao-2026-11-20.json');
    await pool.query(`update notas set valor_servico = 1 where chave_acesso = $1`, [chave]);
    const found = await verificar();
    assert.equal(found.code, 1);
    assert.match(found.out, /notas \d+ \d+: a linha não é a que a última entrada sobre ela diz \(entrada \d+, de 20/);
    assert.match(found.out, /Não confere\. Guarde o banco como está/);
    const restart = async (): Promise<void> => {
      for (const table of ['auditoria', 'auditoria_ate', 'auditoria_selos'])
        await pool.query(`delete from ${table} where tenant = $1`, [SLUG]);
      while (await store.auditoria.openEtapa(SLUG, clock.now));
      while ((await store.auditoria.place(SLUG)) > 0);
    };
    await restart();
    const byNfse = await verificar();
    assert.equal(byNfse.code, 1);
    assert.match(
      byNfse.out,
      /^notas \d+ \d+ valor_servico: a coluna não diz o que a NFS-e guardada diz: a coluna e a NFS-e trazem valores diferentes \[/m,
    );
    // A column that the NFS-e does not contain.
    await pool.query(
      `update notas n set valor_servico = o.valor_servico from notas o where n.tenant = $1 and o.tenant = $1 and o.numero_dps = 1 and n.chave_acesso = $2`,
      [SLUG, chave],
    );
    await pool.query(`update notas set mensagem_retorno = 'x' where chave_acesso = $1`, [chave]);
    await restart();
    assert.equal((await verificar()).code, 0, 'by itself it is a chain like any other');
    const { code, out } = await verificar('--selo', texto);
    assert.equal(code, 1);
    assert.match(out, /20\.json: a corrente não passa por ele/);
  });
});

test('what cannot be said yet is no finding, and has an exit code of its own', async (t) => {
  const connection = await freshDatabase();
  const { pool, store, clock } = await startTestService({ connection, worker: false });
  const verificar = (...more: readonly string[]) =>
    nfseBeside(['auditoria', 'verificar', SLUG, ...more], { DATABASE_URL: databaseUrlOf(connection) });
  const said = async (code: number, ...words: readonly RegExp[]): Promise<void> => {
    const done = await verificar();
    assert.equal(done.code, code, done.out);
    for (const word of words) assert.match(done.out, word);
  };
  // The state that the previous version left.
  for (const tabela of ['auditoria', 'auditoria_ate'])
    await pool.query(`delete from ${tabela} where tenant = $1`, [SLUG]);
  const NOT_YET = /\nAinda não se pode dizer: .* Dê o mesmo comando de novo depois\.\n$/;
  await said(75, /^ainda não: a corrente ainda conta o que já estava no banco/m, NOT_YET);
  assert.equal((await store.auditoria.readState(SLUG))!.conferida, null);
  while (await store.auditoria.openEtapa(SLUG, clock.now));
  // An entry that was written just now gets its place in a moment.
  await said(0, /[1-9]\d* ainda sem lugar/);
  await pool.query(`update auditoria set em = ${movedBy('em', '-2 minutes')} where lugar is null`);
  await said(75, /^ainda não: \d+ entradas esperam há mais de um minuto por um lugar .*nfse serve/m, NOT_YET);
  const { situacao, confere, total, ainda_nao } = JSON.parse((await verificar('--json')).out);
  assert.deepEqual([situacao, confere, total, ainda_nao.length], ['ainda_nao', false, 0, 1]);
  await pool.query(`update municipios set limite_endereco = 7`);
  await said(1, /^municipios : a linha não é/m, /^ainda não: \d+ entradas esperam/m, /\nNão confere\./);
  await pool.query(`update municipios set limite_endereco = null`);
  while ((await store.auditoria.place(SLUG)) > 0);
  await said(0, /\nConfere: nada foi mudado/);
  // The comparison needs a writable temporary folder.
  await pool.query(`update municipios set limite_endereco = 7`);
  inTmp(t, path.join(freshFolder(), 'não há'));
  const { code, out } = await verificar();
  assert.equal(code, 75, out);
  assert.match(out, /^ainda não: as linhas não foram todas comparadas .*não há, ENOENT.* TMPDIR /m);
  assert.match(out, NOT_YET);
});

test('a part of what is compared that is gone or shorter is told, and is neither empty nor equal', async (t) => {
  const resumo = (text: string): string => hash('sha256', text);
  const TOKENS = Array.from({ length: 40 }, (_, place) => JSON.stringify(['tokens', `t${place}`]));
  const tmp = freshFolder();
  inTmp(t, tmp);
  const found = (spoil: (file: string) => void) =>
    Baldes.use(async (baldes) => {
      for (const item of TOKENS) {
        await baldes.say(item, resumo('a'), 1, false);
        await baldes.find(item, resumo('b'));
      }
      let told = 0;
      for await (const { tipo } of baldes.compare(() => false, false)) {
        assert.equal(tipo, 'linha_alterada');
        told += 1;
        if (told > 1) continue;
        const folder = path.join(tmp, readdirSync(tmp)[0]!);
        for (const name of readdirSync(folder)) spoil(path.join(folder, name));
      }
      return { told, falha: baldes.falha };
    });
  assert.deepEqual(await found(() => undefined), { told: TOKENS.length, falha: undefined });
  for (const [spoil, why] of [
    [(file: string) => rmSync(file), /nfse-auditoria-.*, ENOENT$/],
    [(file: string) => truncateSync(file, 0), /nfse-auditoria-.*, há 0 bytes de \d+$/],
    [(file: string) => appendFileSync(file, 'x'), /nfse-auditoria-.*, há \d+ bytes de \d+$/],
  ] as const) {
    const { told, falha } = await found(spoil);
    assert.ok(told < TOKENS.length, String(told));
    assert.match(falha!, why);
  }
});

test('entries of processes that write at once, and of those who place them, come to one chain', async () => {
  const connection = await freshDatabase();
  const pools = await Promise.all([1, 2, 3].map(() => poolOn(connection)));
  const stores = pools.map((pool) => createStore(pool));
  await stores[0]!.municipios.create({ tenant: SLUG, ambiente: 'homologacao', codigoIbge: undefined }, 0);
  let isDone = false;
  let written = 0;
  const placing = stores.map(async ({ auditoria }) => {
    // The placing session may be the one that dies.
    while (!isDone) await auditoria.place(SLUG).catch(() => undefined);
  });
  // Each act is a row of its own; the rate is one row that all of them write.
  const ato = { quem: 'fulano', via: 'comando', objeto: 'municipio', chave: SLUG, acao: 'alterado' } as const;
  const writing = stores.flatMap((store, of) =>
    Array.from({ length: 4 }, async (_, hand) => {
      for (let turn = 0; turn < 25; turn += 1) {
        const municipio = await until(
          async () => await store.municipios.readFresh(SLUG).catch(() => undefined),
          'the municipality is read',
        );
        const limiteEndereco = of * 1_000 + hand * 100 + turn;
        const done = store.municipios.update({ ...municipio, limiteEndereco }, [{ ...ato, em: Date.now() }]).then(
          () => 1,
          () => 0,
        );
        // Some sessions die in the middle of a write.
        if (turn % 10 === 9) {
          await pools[of]!.query(`select pg_terminate_backend(pid) from pg_stat_activity
            where datname = current_database() and pid <> pg_backend_pid() and query like 'update municipios%' limit 1`).catch(
            () => undefined,
          );
        }
        written += await done;
      }
    }),
  );
  await Promise.all(writing).finally(() => (isDone = true));
  await Promise.allSettled(placing);
  const { auditoria } = stores[0]!;
  while ((await auditoria.place(SLUG)) > 0);
  const { achados, entradas, fim } = await auditoria.verify(SLUG, []);
  assert.deepEqual(achados, []);
  assert.ok(written > 0 && entradas >= written, `${entradas} entries, ${written} writers were told of a success`);
  assert.equal(fim!.lugar, entradas);
});
