/**
 * The notes of a party as one file: the worker makes it a part at a time and survives the death of a process. The file is for its owner
 * alone, and for some days.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, test } from 'node:test';
import { onEnd } from '../../../test/support/cleanup.ts';
import { bindCall, emit, request } from '../../../test/support/http.ts';
import { startTestService } from '../../../test/support/service.ts';
import { until } from '../../../test/support/until.ts';
import { DAY_MS } from '../../fiscal/moment.ts';
import { exampleXml } from '../../fiscal/rules/example.ts';
import { startWorker } from '../../wiring/worker.ts';
import { makeExportacoes } from './exportacoes.job.ts';
import { EXPORTACAO_DIAS, EXPORTACOES_MAX } from './exportacoes.ts';

const PRESTADOR = '11222333000181';
const OUTRO = '88888888000191';
const TENANT = 'integracao';
const API = `/${TENANT}/api/v1`;
/** More than two parts of PDF, and more than one of XML. */
const NOTAS = 520;
const AT_ONCE = 16;

const service = await startTestService();
const { address, store, pool, world, clock } = service;
const municipio = (await store.municipios.findBySlug(TENANT))!;
const folder = mkdtempSync(path.join(tmpdir(), 'nfse-exportacoes-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const READERS = ['unzip', 'python3'].every((program) => spawnSync(program, ['--help']).error === undefined);

const call = bindCall(address, API);

async function tokenOf(documento: string, escopos: readonly string[] = ['consultar']): Promise<string> {
  return (await call('POST', 'token', undefined, { documento, escopos })).body.token;
}

async function ask(token: string, body: object): Promise<string> {
  const answer = await call('POST', 'exportacoes', token, body);
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  return answer.body.exportacao.id;
}

const look = async (token: string, id: string) => (await call('GET', `exportacoes/${id}`, token)).body.exportacao;

async function ready(token: string, id: string) {
  const one = await until(async () => {
    const seen = await look(token, id);
    return seen.estado === 'em_andamento' ? undefined : seen;
  }, 'the file is made');
  assert.equal(one.estado, 'pronta', JSON.stringify(one));
  return one;
}

async function fetchFile(token: string, id: string): Promise<{ readonly bytes: Buffer; readonly headers: Headers }> {
  const url = `${address}${API}/exportacoes/${id}/arquivo`;
  const answer = await fetch(url, { headers: { Authorization: `Bearer ${token}` } });
  assert.equal(answer.status, 200);
  return { bytes: Buffer.from(await answer.arrayBuffer()), headers: answer.headers };
}

/** Asks for parts of a file that came as a whole. Expected: RFC 9110, 13.1.5 and 14. */
async function resume(token: string, id: string, { bytes, tag }: { bytes: Buffer; tag: string }): Promise<void> {
  const url = `${address}${API}/exportacoes/${id}/arquivo`;
  const part = async (headers: Readonly<Record<string, string>>) => {
    const answer = await fetch(url, { headers: { Authorization: `Bearer ${token}`, ...headers } });
    const body = Buffer.from(await answer.arrayBuffer());
    return { status: answer.status, range: answer.headers.get('content-range'), body };
  };
  const size = bytes.length;
  // The places around the pieces in which the file is stored, and its directory at the end.
  const { rows } = await pool.query<{ conteudo: number }>(
    'select octet_length(conteudo) as conteudo from exportacoes_partes where exportacao = $1 order by parte',
    [id],
  );
  const sums = rows.map((_, place) => rows.slice(0, place + 1).reduce((sum, { conteudo }) => sum + conteudo, 0));
  const places = [0, 1, ...sums.flatMap((sum) => [sum - 1, sum, sum + 1]), size - 23, size - 1];
  for (const from of places.filter((place) => place < size)) {
    const rest = await part({ Range: `bytes=${from}-`, 'If-Range': tag });
    assert.deepEqual([rest.status, rest.range], [206, `bytes ${from}-${size - 1}/${size}`]);
    assert.ok(rest.body.equals(bytes.subarray(from)), `from ${from}`);
    const some = await part({ Range: `bytes=${from}-${from + 600_000}` });
    assert.ok(some.body.equals(bytes.subarray(from, from + 600_001)), `600,001 bytes from ${from}`);
  }
  const last = await part({ Range: 'bytes=-100' });
  assert.deepEqual([last.status, last.range], [206, `bytes ${size - 100}-${size - 1}/${size}`]);
  assert.ok(last.body.equals(bytes.subarray(-100)));
  for (const [headers, why] of [
    [{ Range: 'bytes=5-', 'If-Range': '"outra"' }, 'another version'],
    [{ Range: 'bytes=0-1,5-6' }, 'several ranges'],
    [{ Range: 'bytes=9-5' }, 'a range that ends before it begins'],
    [{ Range: 'lines=1-' }, 'an unknown unit'],
  ] as const) {
    const whole = await part(headers);
    assert.deepEqual([whole.status, whole.body.length], [200, size], why);
  }
  for (const Range of [`bytes=${size}-`, 'bytes=-0']) {
    const beyond = await part({ Range });
    assert.deepEqual([beyond.status, beyond.range], [416, `bytes */${size}`], Range);
    assert.equal(JSON.parse(beyond.body.toString()).campo, 'Range');
  }
  assert.equal((await part({ 'If-None-Match': tag })).status, 304);
}

const READ = `import zipfile, json, sys
z = zipfile.ZipFile(sys.argv[1])
print(json.dumps({n: z.read(n).decode('latin-1') for n in z.namelist()}))`;

/** The entries of a ZIP by name, as another program unpacks them. */
function unpack(bytes: Buffer): ReadonlyMap<string, Buffer> {
  const file = path.join(folder, 'file.zip');
  writeFileSync(file, bytes);
  assert.match(execFileSync('unzip', ['-tq', file], { encoding: 'utf8' }), /No errors/);
  const found = execFileSync('python3', ['-c', READ, file], { encoding: 'utf8', maxBuffer: 1024 ** 3 });
  return new Map(
    Object.entries(JSON.parse(found)).map(([nome, text]) => [nome, Buffer.from(text as string, 'latin1')]),
  );
}

const chaves: string[] = [];
const own = await tokenOf(PRESTADOR);
const TESTED = { skip: !READERS && 'unzip or python3 is not there' };

test('a file of notes', TESTED, async (context) => {
  await context.test('has the XML of each note of the month, though who made it died between its parts', async () => {
    let next = 0;
    const issue = async (): Promise<void> => {
      while (next < NOTAS) {
        next += 1;
        const { status, body } = await emit(address, exampleXml({ nDPS: String(next) }));
        assert.equal(status, 201, JSON.stringify(body));
        chaves.push(body.chave_acesso);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, issue));
    await until(async () => {
      const { body } = await call('GET', 'notas?estado=autorizada&contar=sim', own);
      return body.contagem.total === NOTAS || undefined;
    }, 'all are authorised');
    await service.stopWorker();
    // Issued, and not sent.
    const late = (await emit(address, exampleXml({ nDPS: String(NOTAS + 1) }))).body.chave_acesso;
    const id = await ask(own, { formato: 'xml', de: '2026-11-01', ate: '2026-11-30' });
    assert.deepEqual((await look(own, id)).filtros, { de: '2026-11-01', ate: '2026-11-30' });
    const early = await call('GET', `exportacoes/${id}/arquivo`, own);
    assert.deepEqual([early.status, early.headers.get('retry-after')], [409, '5'], JSON.stringify(early.body));
    await makeExportacoes(world, municipio, {});
    const { notas, sem_arquivo, pronta } = await look(own, id);
    assert.deepEqual([notas + sem_arquivo, pronta], [500, false]);
    // One process takes the job and dies; nobody else gets it before the lease ends.
    const row = await store.exportacoes.take(TENANT, { now: clock.now, until: clock.now + 60_000, token: DEAD });
    assert.equal(row?.id, id);
    assert.equal((await makeExportacoes(world, municipio, {})).delivered, 0);
    clock.now += 61_000;
    const worker = startWorker(world);
    onEnd(() => worker.stop());
    const one = await ready(own, id);
    const none = {
      conteudo: Buffer.alloc(1),
      diretorio: Buffer.alloc(0),
      entradas: 1,
      notas: 1,
      fora: [],
      seguinte: 'x',
    };
    const ghost = await store.exportacoes.addPart(TENANT, row!, DEAD, none, { now: clock.now, prontaAte: undefined });
    assert.equal(ghost, undefined, 'a ghost has written');
    const { bytes, headers } = await fetchFile(own, id);
    assert.deepEqual([bytes.length, headers.get('content-type')], [one.bytes, 'application/zip']);
    assert.match(headers.get('content-disposition')!, new RegExp(`notas-${PRESTADOR}-${id}\\.zip`));
    const inside = unpack(bytes);
    const files = [...inside.keys()].filter((nome) => nome.endsWith('.xml'));
    const missing = files.length === NOTAS ? [late] : [];
    assert.deepEqual(
      new Set(files),
      new Set([...chaves, ...(missing.length === 0 ? [late] : [])].map((c) => `${c}.xml`)),
    );
    assert.deepEqual([one.notas, one.sem_arquivo], [files.length, NOTAS + 1 - files.length]);
    for (const chave of chaves.slice(0, 3)) {
      const { nota } = (await call('GET', `nfse/${chave}`, undefined)).body;
      assert.equal(inside.get(`${chave}.xml`)!.toString(), nota.xml_nota);
    }
    const text = inside.get('leia-me.txt')!.toString();
    assert.match(text, new RegExp(`Notas achadas: ${NOTAS + 1}`));
    assert.match(text, /de=2026-11-01 ate=2026-11-30/);
    for (const chave of missing) assert.ok(text.includes(chave));
    chaves.push(late);
  });

  await context.test('has the PDF of the authorised ones, and says which are not', async () => {
    // Refused by the environment of the rehearsal.
    const headers = { 'Content-Type': 'application/xml', 'X-NFSe-Simular': 'adn:rejeita=E1289' };
    const body = exampleXml({ nDPS: String(NOTAS + 2) });
    const refused = await request(address, `${API}/nfse/v101`, { method: 'POST', headers, body });
    assert.equal(refused.status, 201, JSON.stringify(refused.body));
    await until(async () => {
      const { notas } = (await call('GET', 'notas?estado=recusada', own)).body;
      return notas.length === 1 || undefined;
    }, 'it is refused');
    await until(async () => {
      const { contagem } = (await call('GET', 'notas?estado=autorizada&contar=sim', own)).body;
      return contagem.total === chaves.length || undefined;
    }, 'all others are authorised');
    const id = await ask(own, { formato: 'pdf', papel: 'prestador' });
    const { notas, sem_arquivo } = await ready(own, id);
    assert.deepEqual([notas, sem_arquivo], [chaves.length, 1]);
    const { bytes, headers: whole } = await fetchFile(own, id);
    await resume(own, id, { bytes, tag: whole.get('etag')! });
    const inside = unpack(bytes);
    assert.deepEqual(new Set(inside.keys()), new Set([...chaves.map((chave) => `${chave}.pdf`), 'leia-me.txt']));
    for (const chave of chaves.slice(-2)) assert.equal(inside.get(`${chave}.pdf`)!.subarray(0, 5).toString(), '%PDF-');
    assert.match(inside.get('leia-me.txt')!.toString(), new RegExp(`${refused.body.chave_acesso}, série`));
  });

  await context.test('is the list as a table, as the list itself gives it', async () => {
    // One of them as an old version issued it, without a rate: the note has a base and no tax.
    const chave = chaves[0]!;
    await pool.query(
      'update notas set valor_issqn = null, aliquota_issqn = null where tenant = $1 and chave_acesso = $2',
      [TENANT, chave],
    );
    const id = await ask(own, { formato: 'csv', estado: 'autorizada', ordem: 'antigas' });
    await ready(own, id);
    const { bytes, headers } = await fetchFile(own, id);
    assert.equal(headers.get('content-type'), 'text/csv; charset=utf-8');
    const url = `${address}${API}/notas?estado=autorizada&ordem=antigas`;
    const whole = await fetch(url, { headers: { Authorization: `Bearer ${own}`, Accept: 'text/csv' } });
    assert.ok(bytes.equals(Buffer.from(await whole.arrayBuffer())), 'the tables differ');
    const lines = bytes.toString().split('\r\n');
    const without = lines.filter((line) => line.includes('foi emitida sem que se conhecesse a alíquota'));
    assert.deepEqual(
      without.map((line) => [line.includes(chave), line.includes(';1000,00;;1000,00;;')]),
      [[true, true]],
      without.join('\n'),
    );
    // The four fields of a note stay decimal texts, and the reason is beside them.
    const { notas } = (await call('GET', 'notas?ordem=antigas', own)).body;
    const { valor_issqn, valor_base_calculo, aliquota_issqn, motivo_sem_issqn } = notas.find(
      ({ chave_acesso }: { chave_acesso: string }) => chave_acesso === chave,
    );
    assert.deepEqual([valor_issqn, valor_base_calculo, aliquota_issqn], ['0.00', '1000.00', '0.00']);
    assert.match(motivo_sem_issqn, /^A nota foi emitida sem que se conhecesse a alíquota/);
    assert.ok(notas.some(({ motivo_sem_issqn: why }: { motivo_sem_issqn: string | null }) => why === null));
    const page = await (await fetch(`${address}/${TENANT}/nota/${chave}`)).text();
    assert.match(page, /foi emitida sem que se conhecesse a alíquota: o ISSQN, e o que dele se retém, não constam/);
  });
});

const DEAD = '00000000-0000-4000-8000-000000000000';

describe('whoever asks for a file', TESTED, () => {
  test('is its owner, with a token that is for it', async () => {
    const id = await ask(own, { formato: 'csv' });
    await ready(own, id);
    const other = await tokenOf(OUTRO);
    const webhooks = await tokenOf(PRESTADOR, ['webhooks']);
    for (const place of [`exportacoes/${id}`, `exportacoes/${id}/arquivo`]) {
      assert.equal((await call('GET', place, other)).status, 404, place);
      assert.equal((await call('GET', `${place}?documento=${PRESTADOR}`, other)).status, 401, place);
      assert.equal((await call('GET', place, webhooks)).status, 401, place);
      assert.equal((await call('GET', place, undefined)).status, 401, place);
    }
    for (const [token, status] of [
      [other, 401],
      [webhooks, 401],
      [undefined, 401],
    ] as const) {
      const asked = await call('POST', `exportacoes?documento=${PRESTADOR}`, token, { formato: 'xml' });
      assert.equal(asked.status, status, JSON.stringify(asked.body));
      assert.equal((await call('GET', `exportacoes?documento=${PRESTADOR}`, token)).status, status);
    }
    assert.deepEqual((await call('GET', 'exportacoes', other)).body.exportacoes, []);
    // A party without notes has an empty file.
    const none = await ask(other, { formato: 'xml' });
    assert.equal((await ready(other, none)).notas, 0);
    assert.deepEqual([...unpack((await fetchFile(other, none)).bytes).keys()], ['leia-me.txt']);
  });

  test('is told all that is wrong with it', async () => {
    for (const [body, campo] of [
      [{}, 'formato'],
      [{ formato: 'docx' }, 'formato'],
      [{ formato: 'xml', de: '30/11/2026' }, 'de'],
      [{ formato: 'xml', estado: 'paga' }, 'estado'],
      [{ formato: 'xml', intermediario: '123' }, 'intermediario'],
      [{ formato: 'xml', valor_de: 7 }, 'valor_de'],
      [{ formato: 'xml', q: 'x' }, 'q'],
      [{ formato: 'xml', papel: 'contador' }, 'papel'],
    ] as const) {
      const { status, body: answer } = await call('POST', 'exportacoes', own, body);
      assert.deepEqual([status, answer.campo], [400, campo], JSON.stringify(answer));
    }
    assert.equal((await call('GET', 'exportacoes/exp_nenhuma', own)).status, 404);
  });

  test('has one under way, five in all, and none past its days', async () => {
    await pool.query('delete from exportacoes where tenant = $1', [TENANT]);
    const insert = (id: string) =>
      store.exportacoes.insert(
        TENANT,
        {
          ...{ id, documento: OUTRO, formato: 'csv', pedida: {}, criadaEm: clock.now },
          expiraEm: clock.now + EXPORTACAO_DIAS * DAY_MS,
        },
        EXPORTACOES_MAX,
      );
    const other = await tokenOf(OUTRO);
    assert.equal(await insert('exp_a'), true);
    const second = await call('POST', 'exportacoes', other, { formato: 'csv' });
    assert.ok(second.status === 429 || second.status === 201, JSON.stringify(second.body));
    await ready(other, 'exp_a');
    for (let count = 0; count < EXPORTACOES_MAX + 1; count += 1) {
      clock.now += 1_000;
      const asked = await until(async () => {
        const answer = await call('POST', 'exportacoes', other, { formato: 'csv' });
        return answer.status === 429 ? undefined : answer;
      }, 'none is under way');
      await ready(other, asked.body.exportacao.id);
    }
    const { exportacoes } = (await call('GET', 'exportacoes', other)).body;
    assert.equal(exportacoes.length, EXPORTACOES_MAX);
    const last = exportacoes[0].id;
    clock.now += EXPORTACAO_DIAS * DAY_MS + 1_000;
    const later = await tokenOf(OUTRO);
    assert.equal((await call('GET', `exportacoes/${last}`, later)).status, 404);
    world.wake(TENANT);
    await until(async () => {
      const left = `select (select count(*)::int from exportacoes where tenant = $1 and documento = $2) as files,
        (select count(*)::int from exportacoes_partes p where p.tenant = $1 and p.exportacao = $3) as parts`;
      const { rows } = await pool.query<{ files: number; parts: number }>(left, [TENANT, OUTRO, last]);
      return (rows[0]!.files === 0 && rows[0]!.parts === 0) || undefined;
    }, 'they are deleted');
  });

  test('is told why there is none', async () => {
    const token = await tokenOf(PRESTADOR);
    await pool.query('delete from exportacoes where tenant = $1', [TENANT]);
    const id = `exp_falha`;
    const nova = { id, documento: PRESTADOR, formato: 'xml', pedida: {}, criadaEm: clock.now + DAY_MS } as const;
    await store.exportacoes.insert(
      TENANT,
      { ...nova, expiraEm: clock.now + EXPORTACAO_DIAS * DAY_MS },
      EXPORTACOES_MAX,
    );
    await pool.query("update exportacoes set tentativas = 5, due_at = $2 where tenant = $1 and id = 'exp_falha'", [
      TENANT,
      new Date(clock.now),
    ]);
    world.wake(TENANT);
    const seen = await until(async () => {
      const one = await look(token, id);
      return one.estado === 'falhou' ? one : undefined;
    }, 'it is given up');
    assert.match(seen.motivo, /não pôde ser feito/);
    const { status, body } = await call('GET', `exportacoes/${id}/arquivo`, token);
    assert.deepEqual([status, body.campo], [404, 'id_exportacao']);
    assert.match(body.mensagem, /terminou sem arquivo/);
  });
});
