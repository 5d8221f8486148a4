/**
 * The documents of a note equal the sent and the answered ones. This holds for every reader and every form of the row: whole, or compressed
 * together.
 */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { documentoStore } from '../src/base/book/documentos.ts';
import { type Pacote, packPapers } from '../src/base/book/pacote.ts';
import type { Db } from '../src/base/pg/open.ts';
import { exampleJson, exampleXml } from '../src/fiscal/rules/example.ts';
import type { Patch } from '../src/fiscal/rules/rule.ts';
import { createStore } from '../src/wiring/store.ts';
import { fillNotas } from './support/cheio.ts';
import { freshPool } from './support/database.ts';
import { ask, request } from './support/http.ts';
import { keysOf } from './support/nota-keys.ts';
import { call, consultaXml } from './support/rps.ts';
import { NOON, startTestService, type TestService } from './support/service.ts';
import { signedBy, testParties } from './support/signatures.ts';
import { until } from './support/until.ts';

const SLUG = 'integracao';
const API = `/${SLUG}/api/v1`;
const INTERMEDIARIO: Patch = { 'interm/CNPJ': '11444777000161', 'interm/IM': '987', 'interm/xNome': 'Intermediário' };
const BY_INTERMEDIARIO =
  '<IntermediarioServico><RazaoSocial>X</RazaoSocial><CpfCnpj><Cnpj>11444777000161</Cnpj></CpfCnpj><InscricaoMunicipal>987</InscricaoMunicipal></IntermediarioServico>';

const { provider } = await testParties(NOON);
const tight = (xml: string): string => xml.replace(/>\s+</g, '><');
const SENT: readonly (readonly [form: string, body: Buffer])[] = [
  ['without white space', Buffer.from(tight(exampleXml({ ...INTERMEDIARIO, serie: '1', nDPS: '1' })))],
  ['with white space', Buffer.from(exampleXml({ ...INTERMEDIARIO, serie: '1', nDPS: '2' }))],
  [
    'in UTF-16',
    Buffer.from(`\ufeff${tight(exampleXml({ serie: '1', nDPS: '3' })).replace(/^<\?xml.*?\?>/, '')}`, 'utf16le'),
  ],
  ['signed', Buffer.from(signedBy(tight(exampleXml({ serie: '1', nDPS: '5' })), provider))],
  ['as JSON', Buffer.from(exampleJson({ serie: '1', nDPS: '4' })!)],
];

type Issued = { readonly chave: string; readonly nfse: string; readonly sent: Buffer; readonly key: string };

describe('the documents of a note', () => {
  let service: TestService;
  const issued: Issued[] = [];

  const send = (body: Buffer, key: string) =>
    request(service.address, `${API}/nfse/v101`, {
      method: 'POST',
      headers: {
        'Content-Type': body[0] === 0x7b ? 'application/json' : 'application/xml',
        'Idempotency-Key': key,
      },
      body: new Uint8Array(body),
    });

  before(async () => {
    service = await startTestService();
    for (const [form, sent] of SENT) {
      const { status, body } = await send(sent, `chave-${form.replaceAll(' ', '-')}`);
      assert.equal(status, 201, JSON.stringify(body));
      const { chave_acesso: chave, xml_nfse: nfse } = body;
      issued.push({ chave, nfse, sent, key: `chave-${form.replaceAll(' ', '-')}` });
      await until(async () => {
        const read = await request(service.address, `${API}/nfse/${chave}`);
        return read.body.nota.status === 'autorizada' ? true : undefined;
      }, 'the note is authorised');
    }
  });

  /** All answers about the documents of the notes. */
  async function told(): Promise<readonly unknown[]> {
    const all: unknown[] = [];
    const other = createStore(service.pool);
    for (const { chave, sent, nfse, key } of issued) {
      const row = (await other.notas.findByChave(SLUG, chave))!;
      assert.equal(row.nfse, nfse, 'the note');
      assert.ok((await other.notas.readReceived(SLUG, { id: BigInt(row.id), mes: row.mes }))?.equals(sent));
      const forEvento = await other.eventos.findNota(SLUG, { chave });
      assert.equal(forEvento?.nfse.toString(), nfse, 'by which an event is judged');
      const repeated = await send(sent, key);
      assert.deepEqual([repeated.status, repeated.body.xml_nfse], [201, nfse], 'the answer once more');
      const twice = await send(sent, `${key}-outra`);
      assert.equal(twice.body.erros[0].mesmo_conteudo, true, 'the same document again');
      const { text: pdf } = await ask(`${service.address}${API}/danfse/${chave}`);
      const { body } = await request(service.address, `${API}/nfse/${chave}`);
      all.push(row, pdf, body.nota.xml_nota);
    }
    const porto = await call(service.address, 'ConsultarNfse', consultaXml(BY_INTERMEDIARIO));
    assert.equal(porto.documento.match(/<InfNfse /g)?.length, 2, 'found by their intermediary');
    return [...all, porto.documento];
  }

  test('are the same compressed', async () => {
    const whole = await told();
    const { pool, store, clock } = service;
    const days = (count: number): number => clock.now + count * 86_400_000;
    const formOf = `select count(pacote)::int as compressed, count(nfse)::int as whole, sum(length(pacote))::int as bytes from documentos`;
    const count = SENT.length;

    await store.documentos.compress(days(8));
    assert.deepEqual(
      (await pool.query(formOf)).rows,
      [{ compressed: 0, whole: count, bytes: null }],
      'no rehearsal is',
    );
    await pool.query(`update municipios set ambiente = 'producao'`);
    assert.equal(await store.documentos.compress(days(6)), false, 'nothing is old enough');
    assert.equal(await store.documentos.compress(days(8)), true);
    assert.equal(await store.documentos.compress(days(8)), false, 'and nothing twice');
    await pool.query(`update municipios set ambiente = 'homologacao'`);
    const { bytes, ...forms } = (await pool.query(formOf)).rows[0];
    assert.deepEqual(forms, { compressed: count, whole: 0 });
    const before = issued.reduce((sum, { sent, nfse }) => sum + sent.length + Buffer.byteLength(nfse), 0);
    assert.ok(bytes < before / 5, `${before} bytes became ${bytes}`);
    assert.deepEqual(await told(), whole);
  });

  test('that are damaged are an error that names the note', async () => {
    const { chave } = issued[0]!;
    const { pool } = service;
    const papers = `select d.nota, d.recebido, d.nfse, d.pacote, d.dicionario
      from documentos d join notas n on n.id = d.nota where n.chave_acesso = $1`;
    const { nota, recebido, nfse, pacote, dicionario } = (await pool.query(papers, [chave])).rows[0];
    const put = `update documentos set recebido = $2, nfse = $3, pacote = $4, dicionario = $5 where nota = $1`;
    await pool.query(put, [nota, null, null, Buffer.from([0, 1]), 1]);
    try {
      const read = createStore(pool).notas.findByChave(SLUG, chave);
      await assert.rejects(read, new RegExp(`nota ${chave} .*danificados`));
    } finally {
      await pool.query(put, [nota, recebido, nfse, pacote, dicionario]);
    }
  });
});

describe('documents are compressed', () => {
  const OLD = Date.parse('2026-01-01T12:00:00-03:00');
  const NOW = OLD + 30 * 86_400_000;
  const TENANT = 'alfa';
  const NOTAS = 250;

  /** Notes of a year of use; one in 25 is not in its final state. */
  async function used(): Promise<Db> {
    const pool = await freshPool();
    await createStore(pool).municipios.create({ tenant: TENANT, ambiente: 'producao', codigoIbge: undefined }, OLD);
    await fillNotas(pool, TENANT, NOTAS);
    await pool.query(
      `update notas set data_emissao = $1, estado = case when id % 25 = 0 then 'retida' else estado end`,
      [new Date(OLD)],
    );
    return pool;
  }
  const documentsOf = (pool: Db) => {
    const { notas } = createStore(pool);
    const keys = Array.from({ length: NOTAS }, (_, place) => keysOf(place + 1).chave_acesso);
    return Promise.all(
      keys.map(async (key) => {
        const { id, mes, nfse } = (await notas.findByChave(TENANT, key))!;
        return [(await notas.readReceived(TENANT, { id: BigInt(id), mes }))!.toString('hex'), nfse];
      }),
    );
  };
  const countOf = async (pool: Db): Promise<number> =>
    (await pool.query<{ count: number }>('select count(pacote)::int as count from documentos')).rows[0]!.count;

  test('once, in parts, by however many processes; one that is held up holds up nobody', async () => {
    const pool = await used();
    const stores = [createStore(pool), createStore(pool)];
    while ((await Promise.all(stores.map((store) => store.documentos.compress(NOW)))).some((more) => more));
    assert.equal(await countOf(pool), NOTAS - NOTAS / 25, 'what is at its end');
    const { rows } = await pool.query('select ate from documentos_comprimidos where tenant = $1', [TENANT]);
    assert.deepEqual(rows, [{ ate: String(NOTAS) }]);
    const [whole] = (await pool.query(`select nota from documentos where pacote is null order by nota limit 1`)).rows;
    assert.equal(whole.nota, '25');
  });

  test('and what a crash leaves behind is done by the next', async () => {
    const pool = await used();
    const holder = await pool.connect();
    await createStore(pool).documentos.compress(NOW);
    await holder.query('begin');
    await holder.query('select 1 from documentos_comprimidos for update');
    assert.equal(
      await createStore(pool).documentos.compress(NOW),
      true,
      'another process has the tenant, and is left to it',
    );
    assert.equal(await countOf(pool), 96);
    await holder.query('rollback');
    holder.release();
    while (await createStore(pool).documentos.compress(NOW));
    assert.equal(await countOf(pool), NOTAS - NOTAS / 25);
  });

  test('only where both come out again to the byte', async () => {
    const pool = await used();
    const changed: readonly ((pacote: Pacote) => Pacote)[] = [
      ({ bytes, certificado }) => ({ bytes: bytes.subarray(1), certificado }),
      ({ certificado }) => ({
        ...packPapers({ recebido: Buffer.from('<DPS/>'), nfse: Buffer.from('<NFSe/>') }),
        certificado,
      }),
      (pacote) => pacote,
    ];
    let packed = 0;
    const { compress } = documentoStore(pool, (papers) => changed[packed++ % changed.length]!(packPapers(papers)));
    const before = await documentsOf(pool);
    while (await compress(NOW));
    assert.equal(await countOf(pool), packed / changed.length);
    assert.deepEqual(await documentsOf(pool), before);
  });

  test('of every tenant, though those of another cannot be', async () => {
    const pool = await used();
    const other = { tenant: 'aaaa', ambiente: 'producao', codigoIbge: undefined } as const;
    await createStore(pool).municipios.create(other, OLD);
    await fillNotas(pool, other.tenant, 5);
    await pool.query('update notas set data_emissao = $1', [new Date(OLD)]);
    let calls = 0;
    const broken = documentoStore(pool, (papers) => {
      // The first compression fails.
      calls += 1;
      if (calls === 1) throw new Error('out of memory');
      return packPapers(papers);
    });
    await assert.rejects(broken.compress(NOW), /out of memory/);
    assert.ok((await countOf(pool)) > 0);
  });
});
