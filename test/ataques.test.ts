/**
 * The attack corpora (`ataques/`) against the running service: every case is sent over HTTP, and the answer must match the verdict of the
 * case. A refused request leaves nothing behind.
 */

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, test } from 'node:test';
import { errorOf } from '../src/fiscal/errors.ts';
import { ATAQUES } from '../src/published/site/files.ts';
import { type Ataque, bytesOf, CORPORA, type Corpus, type Entrada, readCorpus } from './ataques/ataque.ts';
import { onEnd } from './support/cleanup.ts';
import { addPrestador } from './support/municipio.ts';
import { startTestService, type TestService } from './support/service.ts';
import { untilTrue } from './support/until.ts';

const TENANT = 'sao-paulo';
const IBGE = '3550308';
/** The required minimum of each corpus; fewer cases mean that some were removed. */
const CASOS_MIN = 10;
/** A later answer counts as hung, even on a busy machine. */
const ANSWER_MAX_MS = 300_000;

type Resposta = { readonly status: readonly number[]; readonly codigos: readonly string[]; readonly texto: string };

/** The attacked service, one for each corpus: it trusts the corpus' authorities and knows its provider. */
async function startAttacked({ agora, ancoras, listas, prestador }: Corpus): Promise<TestService> {
  const service = await startTestService({ worker: false, clock: { now: Date.parse(agora) } });
  const folder = mkdtempSync(path.join(tmpdir(), 'nfse-ataques-'));
  onEnd(() => rmSync(folder, { recursive: true, force: true }));
  const folderWith = (name: string, pem: readonly string[]): string => {
    const made = path.join(folder, name);
    mkdirSync(made);
    writeFileSync(path.join(made, `${name}.pem`), pem.join(''));
    return made;
  };
  const confianca = {
    ancoras: folderWith('ancoras', ancoras),
    revogados: listas === undefined ? undefined : folderWith('listas', listas),
  };
  await service.store.municipios.create(
    { tenant: TENANT, ambiente: 'producao', codigoIbge: IBGE, confianca },
    service.clock.now,
  );
  await addPrestador(service.pool, TENANT, prestador);
  return service;
}

/** The counts of stored rows: a refused attack adds to none of them. */
async function heldBy({ pool }: TestService): Promise<object> {
  const { rows } = await pool.query(
    'select (select count(*) from notas) as notas, (select count(*) from eventos) as eventos, (select count(*) from lotes) as lotes, (select count(*) from documentos) as documentos',
  );
  return rows[0];
}

async function send(service: TestService, { partes }: Corpus, entrada: Entrada): Promise<Resposta> {
  if ('conexao' in entrada) return sendRaw(service.address, bytesOf(entrada.conexao, partes));
  const place = entrada.para === 'porto' ? 'soap/nfes' : 'api/v1/nfse/v101';
  const tenant = entrada.integracao ? 'integracao' : TENANT;
  const answer = await fetch(`${service.address}/${tenant}/${place}`, {
    method: 'POST',
    headers: { 'Content-Type': entrada.tipo, ...entrada.cabecalhos },
    body: new Uint8Array(bytesOf(entrada.corpo, partes)),
    signal: AbortSignal.timeout(ANSWER_MAX_MS),
  });
  const texto = await answer.text();
  return { status: [answer.status], codigos: codesIn(texto), texto };
}

/** Writes into its own connection, and reads until the other side ends it or sends no more. */
async function sendRaw(address: string, bytes: Buffer): Promise<Resposta> {
  const { hostname, port } = new URL(address);
  const socket = connect(Number(port), hostname);
  const chunks: Buffer[] = [];
  let isOver = false;
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.on('close', () => {
    isOver = true;
  });
  // The unread rest of a refused body is discarded with the connection.
  socket.on('error', () => undefined);
  socket.write(bytes);
  const text = (): string => Buffer.concat(chunks).toString('utf8');
  await untilTrue(() => isOver, 'the end of the connection');
  const status = [...text().matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, code]) => Number(code));
  return { status, codigos: codesIn(text()), texto: text() };
}

/** The distinct codes of an answer: our JSON codes, or those of the legacy port's messages. */
function codesIn(texto: string): string[] {
  const found = texto.matchAll(/"codigo":"(E\d+)"|<Codigo>(E\d+)<\/Codigo>|&lt;Codigo&gt;(E\d+)/g);
  return [...new Set([...found].map(([, json, element, escaped]) => json ?? element ?? escaped!))].sort();
}

/** Codes of a document's structure, which may be reported beside its signature (D-720). */
const BESIDE: ReadonlySet<string> = new Set(['E002', 'E203', 'E0003', 'E0010']);

function withoutBeside(codigos: readonly string[], { codigos: wanted }: Ataque['veredito']): readonly string[] {
  const isOfSignature = wanted.some((code) => /^E90\d$/.test(code));
  return codigos.filter((code) => !isOfSignature || wanted.includes(code) || !BESIDE.has(code));
}

function assertCase({ nome, porque, veredito }: Ataque): void {
  assert.match(nome, /^[a-z0-9]+(?:-[a-z0-9]+)*$/);
  for (const sentence of [porque, veredito.quer]) assert.match(sentence, /^\S[\s\S]{10,}[.?]$/, nome);
  assert.ok(veredito.status.length > 0, nome);
  assert.equal(veredito.aceita, veredito.codigos.length === 0 && veredito.status.every((one) => one < 300), nome);
  for (const code of veredito.codigos)
    assert.ok(errorOf(code) !== undefined || /^E\d{1,3}$/.test(code), `${nome}: ${code}`);
}

test('all are published', () => {
  assert.deepEqual([...ATAQUES].sort(), CORPORA);
});

for (const name of CORPORA) {
  const corpus = readCorpus(name);
  describe(`${name}: ${corpus.titulo}`, async () => {
    const service = await startAttacked(corpus);
    /** The counts after the previous case. */
    let held = await heldBy(service);

    test('is whole', () => {
      assert.equal(corpus.corpus, name);
      assert.ok(corpus.casos.length >= CASOS_MIN, `${corpus.casos.length} cases`);
      assert.ok(
        corpus.casos.some(({ veredito }) => veredito.aceita) && corpus.casos.some(({ veredito }) => !veredito.aceita),
        'some are taken and some refused, or it tells nothing apart',
      );
      assert.equal(new Set(corpus.casos.map(({ nome }) => nome)).size, corpus.casos.length);
      for (const one of corpus.casos) assertCase(one);
    });

    for (const { nome, entrada, veredito } of corpus.casos) {
      test(nome, async () => {
        const { status, codigos, texto } = await send(service, corpus, entrada);
        const told = texto.slice(0, 3_000);
        const wanted = { status: veredito.status, codigos: [...veredito.codigos].sort() };
        assert.deepEqual({ status, codigos: withoutBeside(codigos, veredito) }, wanted, told);
        if (veredito.diz !== undefined)
          assert.ok(texto.includes(veredito.diz), `it does not say "${veredito.diz}": ${told}`);
        const before = held;
        held = await heldBy(service);
        if (!veredito.aceita) assert.deepEqual(held, before);
      });
    }
  });
}
