/**
 * The client of `packages/cliente` against the running service: every operation once, and its behaviour over a bad network. A proxy between
 * them loses answers, cuts connections and answers that it is busy; then the test counts the rows of the database.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net';
import path from 'node:path';
import { describe, test } from 'node:test';
import {
  AindaEmAndamento,
  type AvisoDeRepeticao,
  type CorpoDaDps,
  createCliente,
  Indeterminado,
  identificadorDaDps,
  NaoEntregue,
  type OpcoesDoCliente,
  Recusado,
  type Respostas,
} from '../packages/cliente/src/index.ts';
import { onEnd } from './support/cleanup.ts';
import { nfseHere } from './support/cli.ts';
import { type Bad, type Line, lineBefore as standBefore } from './support/linha.ts';
import { SEED } from './support/seed.ts';
import { startTestService } from './support/service.ts';
import { chanceOf } from './support/signatures.ts';

const ROOT = path.resolve(import.meta.dirname, '..');
const XML = await readFile(path.join(ROOT, 'examples/dps.xml'), 'utf8');
const {
  numero_dps: _,
  serie_dps: __,
  ...DPS
}: CorpoDaDps = JSON.parse(await readFile(path.join(ROOT, 'examples/dps.json'), 'utf8'));
const MUNICIPIO = '3550308';
const CNPJ = '11222333000181';

const { address, pool } = await startTestService();
/** The pauses between two tries are short: production waits up to a minute. An answer may take as long as a slow machine needs. */
const QUICK = { primeiraEsperaMs: 5, esperaMaximaMs: 20, tempoLimiteMs: 60_000 };
const clienteAt = (url: string, more: Partial<OpcoesDoCliente> = {}) =>
  createCliente({ url, municipio: 'integracao', insistencia: QUICK, ...more });
const cliente = clienteAt(address);

let last = 0;
/** A DPS with a unique number. */
function numbered(): CorpoDaDps & { readonly numero_dps: string } {
  last += 1;
  return { ...DPS, serie_dps: '7', numero_dps: String(last) };
}

const idOf = ({ numero_dps: numero }: { readonly numero_dps: string }): string =>
  identificadorDaDps({ municipio: MUNICIPIO, documento: CNPJ, serie: '7', numero });

async function countOf(table: 'notas' | 'eventos'): Promise<number> {
  return (await pool.query(`select count(*)::int as count from ${table}`)).rows[0].count;
}

/** The error of a failed operation. */
async function endOf<Kind extends Error>(
  call: Promise<unknown>,
  kind: abstract new (...args: never[]) => Kind,
): Promise<Kind> {
  const error = await call.then(
    (value) => assert.fail(`it did not fail: ${JSON.stringify(value)}`),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof kind, `${error}`);
  return error;
}

describe('the operations', () => {
  test('a note from an object, followed to its authorisation, and found in every way', async () => {
    const dps = numbered();
    assert.equal(await cliente.existeNotaDaDps(idOf(dps)), false);
    const ensaio = await cliente.validarDps(dps);
    assert.deepEqual([ensaio.identificador_dps, ensaio.valores.valor_issqn], [idOf(dps), '20.00']);
    const emitida = await cliente.emitirNota(dps);
    assert.equal(emitida.repetida, false);
    assert.match(emitida.xml_nfse ?? '', /<infNFSe Id="NFS/);
    const seen: string[] = [];
    const nota = await cliente.acompanharNota(emitida.chave_acesso, {
      primeiraEsperaMs: 250,
      aCada: ({ situacao, repousa }) => seen.push(`${situacao} ${repousa}`),
    });
    assert.deepEqual([nota.situacao, nota.nota.chave_acesso], ['autorizada', emitida.chave_acesso]);
    assert.equal(seen.at(-1), 'autorizada true');
    const { chave_acesso_provisoria } = await cliente.consultarNotaPorProtocolo(emitida.numero_protocolo);
    assert.equal(chave_acesso_provisoria, false);
    assert.equal((await cliente.consultarNotaPorDps(idOf(dps))).chave_acesso, emitida.chave_acesso);
    assert.equal(await cliente.existeNotaDaDps(idOf(dps)), true);
    const pdf = await cliente.baixarDanfse(emitida.chave_acesso);
    assert.equal(Buffer.from(pdf.subarray(0, 5)).toString(), '%PDF-');
    const situacao = await cliente.consultarSituacaoDoPrestador(CNPJ, { data: '2026-11-21' });
    assert.equal(situacao.pode_emitir, true);
  });

  test('a note from XML as text and as bytes', async () => {
    for (const xml of [XML, Buffer.from(XML)]) {
      const { chave_acesso } = await cliente.emitirNota(xml);
      assert.match((await cliente.consultarNota(chave_acesso)).nota.xml_nota, /<infDPS/);
    }
    const { valida, assinatura } = await cliente.verificarAssinatura(XML);
    assert.deepEqual([valida, assinatura], [false, 'XML']);
  });

  test('events by the key and by the protocol, followed to their end, and listed', async () => {
    const { chave_acesso, numero_protocolo } = await cliente.emitirNota(numbered());
    const rejeicao = await cliente.registrarEvento(
      { protocolo: numero_protocolo },
      {
        tipo_evento: 'rejeicao_tomador',
        codigo_motivo_rejeicao: '3',
      },
    );
    assert.deepEqual([rejeicao.tipo_evento, rejeicao.repetida], ['rejeicao_tomador', false]);
    const fim = await cliente.acompanharEvento(rejeicao, { primeiraEsperaMs: 250 });
    assert.deepEqual([fim.status_evento, fim.acao_sugerida], ['processado', 'cancelado_ok']);
    const recusado = await cliente.registrarEvento(
      chave_acesso,
      { tipo_evento: 'confirmacao_prestador' },
      { simular: 'adn:rejeita=E1833' },
    );
    assert.equal((await cliente.acompanharEvento(recusado, { primeiraEsperaMs: 250 })).codigo_retorno, 'E1833');
    const { total, eventos } = await cliente.listarEventos(chave_acesso);
    assert.deepEqual(
      [total, eventos.map((one) => one.tipo_evento)],
      [2, ['confirmacao_prestador', 'rejeicao_tomador']],
    );
    const listed = await cliente.listarEventosDoTipo(chave_acesso, 'rejeicao_tomador');
    assert.deepEqual(listed.eventos[0], await cliente.consultarEvento(rejeicao));
  });

  test('a catalog in pages, and all of it', async () => {
    const page = await cliente.catalogo('paises', { nome: 'ilha', per_page: 5, page: 1 });
    assert.ok(page.itens.length > 1 && page.itens.length <= 5);
    const all: string[] = [];
    for await (const { codigo } of cliente.itensDoCatalogo('paises')) all.push(codigo);
    assert.ok(all.length > 200);
    assert.deepEqual([all.length, new Set(all).size], [(await cliente.catalogo('paises')).paginacao.total, all.length]);
    const [motivo] = await Array.fromAsync(cliente.itensDoCatalogo('motivos_evento', { tipo_evento: 'cancelamento' }));
    assert.equal(motivo?.codigo_tipo_evento, '101101');
  });

  test('what a code means, from one reading of the table', async () => {
    const asked: unknown[] = [];
    const table = [{ codigo: 'E0014', como_resolver: 'Use outro número.' }];
    const counting = clienteAt(address, {
      fetch: async (url) => {
        asked.push(url);
        return Response.json(table);
      },
    });
    assert.equal((await counting.explicar('E0014'))?.como_resolver, 'Use outro número.');
    assert.equal(await counting.explicar('E9999'), undefined);
    assert.deepEqual(asked, [`${address}/docs/erros.json`]);
    assert.equal(await counting.explicar(undefined), undefined);
    // A caller that stops waiting stops only its own wait.
    const stopping = Promise.withResolvers<void>();
    const slow = clienteAt(address, {
      fetch: async (_, init) => {
        await stopping.promise;
        init?.signal?.throwIfAborted();
        return Response.json(table);
      },
    });
    const stop = new AbortController();
    const [stopped, other] = [slow.explicar('E0014', { signal: stop.signal }), slow.explicar('E0014')];
    stop.abort();
    stopping.resolve();
    await assert.rejects(stopped, { name: 'AbortError' });
    assert.equal((await other)?.codigo, 'E0014');
  });
});

const lineBefore = (...script: readonly Bad[]): Promise<Line> => standBefore(address, script);
const retryAfter = (seconds: string) => ({ headers: { 'Retry-After': seconds } });

/** The port of a server that does not speak HTTP. */
async function tcpServer(onConnection: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket.on('error', () => undefined));
    onConnection(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onEnd(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** A URL on which no server listens, nor can begin to: the port is that of a connection's other end. */
async function deadUrl(): Promise<string> {
  const socket = connect(await tcpServer(() => undefined), '127.0.0.1');
  await once(socket, 'connect');
  onEnd(() => socket.destroy());
  return `http://127.0.0.1:${socket.localPort}`;
}

describe('a bad line', () => {
  test('whatever it does, a note is issued once and an event registered once', async (t) => {
    const chance = chanceOf(SEED);
    t.diagnostic(`seed ${SEED}`);
    const ills: readonly Bad[] = [
      'pass',
      'lose',
      'cut',
      'truncate',
      { status: 503, ...retryAfter('0') },
      { status: 502 },
      { status: 429, ...retryAfter('0') },
    ];
    const [notas, eventos] = [await countOf('notas'), await countOf('eventos')];
    const rounds = 12;
    await Promise.all(
      Array.from({ length: rounds }, async () => {
        const { url } = await lineBefore(...Array.from({ length: 8 }, () => chance.pick(ills)));
        const insistent = clienteAt(url, { insistencia: { ...QUICK, tentativas: 12 } });
        // A DPS without a number: only the key distinguishes a repetition from a second note.
        const { chave_acesso } = await insistent.emitirNota(DPS);
        const evento = await insistent.registrarEvento(chave_acesso, { tipo_evento: 'confirmacao_tomador' });
        assert.equal(evento.numero_sequencial, 1);
      }),
    );
    assert.deepEqual(
      [(await countOf('notas')) - notas, (await countOf('eventos')) - eventos],
      [rounds, rounds],
      `seed ${SEED}`,
    );
  });

  test('every repetition has the key of the first try, and the answer says that it is one', async () => {
    const { url, keys } = await lineBefore('lose', 'cut', 'lose');
    const told: AvisoDeRepeticao[] = [];
    const { repetida } = await clienteAt(url, { aoRepetir: (one) => told.push(one) }).emitirNota(DPS);
    assert.equal(repetida, true);
    assert.equal(keys.length, 4);
    assert.equal(new Set(keys).size, 1);
    assert.deepEqual(
      told.map(({ operacao, tentativa }) => [operacao, tentativa]),
      [1, 2, 3].map((tentativa) => ['emitirNota', tentativa]),
    );
    assert.match(told[0]!.motivo, /^Não houve resposta: a conexão caiu/);
  });

  test('what the service asks for is waited for: Retry-After', async () => {
    for (const [status, isMoment, ms] of [
      [429, false, 7_000],
      [503, true, 60_000],
    ] as const) {
      const began = Date.now();
      const after = isMoment ? new Date(began + ms).toUTCString() : String(ms / 1_000);
      const { url } = await lineBefore({ status, ...retryAfter(after) });
      const stop = new AbortController();
      let waited = 0;
      const asked = clienteAt(url, {
        aoRepetir: ({ esperaMs }) => {
          waited = esperaMs;
          stop.abort();
        },
      }).consultarNota('x', { signal: stop.signal });
      await assert.rejects(asked, { name: 'AbortError' });
      // The moment has whole seconds, and the time until its reading is not waited for again.
      const least = isMoment ? began + ms - 1_000 - Date.now() : ms;
      assert.ok(waited >= least && waited <= ms, `${waited}`);
    }
    // A value that is neither seconds nor an HTTP date is ignored; the client waits by its own rule.
    const waits: number[] = [];
    const { url } = await lineBefore({ status: 503, ...retryAfter('1.5') }, { status: 503, ...retryAfter('-1') });
    await clienteAt(url, { aoRepetir: ({ esperaMs }) => waits.push(esperaMs) }).catalogo('paises');
    assert.ok(waits.length === 2 && waits.every((ms) => ms > 0 && ms <= 20), `${waits}`);
  });
});

describe('the three outcomes', () => {
  test('refused: the list of the service, and nothing is sent twice', async () => {
    const { url, keys } = await lineBefore();
    const wrong = { ...numbered(), data_competencia: '2026-13-01', tomador_cpf_cnpj: '5299822472' };
    const error = await endOf(clienteAt(url).emitirNota(wrong), Recusado);
    assert.deepEqual([error.status, error.tentativas, keys.length], [422, 1, 1]);
    assert.deepEqual(error.erros.map(({ campo }) => campo).sort(), ['data_competencia', 'tomador_cpf_cnpj']);
    for (const { codigo, mensagem, doc_url } of error.erros) {
      assert.ok(doc_url.endsWith(`/docs/erros/${codigo}`) && mensagem.length > 20, `${codigo} ${doc_url} ${mensagem}`);
    }
    assert.equal(error.codigo, error.erros[0]?.codigo);
    assert.match(error.requisicao ?? '', /\S/);
    assert.equal((await endOf(cliente.consultarNota('1'.repeat(50)), Recusado)).status, 404);
    assert.equal((await endOf(clienteAt(address, { municipio: 'nenhum' }).emitirNota(DPS), Recusado)).codigo, 'E601');
    await endOf(clienteAt(address, { municipio: 'nenhum' }).existeNotaDaDps('x'), NaoEntregue);
  });

  test('a DPS that was issued before is told apart from a number that another has', async () => {
    const dps = numbered();
    const { chave_acesso } = await cliente.emitirNota(dps);
    const again = await cliente.emitirNota(dps);
    assert.deepEqual([again.chave_acesso, again.repetida, again.xml_nfse], [chave_acesso, true, null]);
    const error = await endOf(cliente.emitirNota({ ...dps, valor_servico: '2.00' }), Recusado);
    assert.deepEqual([error.codigo, error.erros[0]?.chave_acesso], ['E0014', chave_acesso]);
    const reused = await endOf(cliente.emitirNota(numbered(), { chave: await usedKey() }), Recusado);
    assert.deepEqual([reused.codigo, reused.erros[0]?.campo], ['E003', 'Idempotency-Key']);
  });

  async function usedKey(): Promise<string> {
    await cliente.emitirNota(numbered(), { chave: 'uma chave usada' });
    return 'uma chave usada';
  }

  test('not delivered: nobody there, sent elsewhere, not this service, busy to the end', async () => {
    const dead = await deadUrl();
    const error = await endOf(clienteAt(dead).emitirNota(DPS), NaoEntregue);
    assert.deepEqual([error.tentativas, error.status, error.erros], [6, undefined, []]);
    assert.match(error.message, /ECONNREFUSED/);
    const hasty = clienteAt(dead, { insistencia: { ...QUICK, semConexao: false } });
    assert.equal((await endOf(hasty.emitirNota(DPS), NaoEntregue)).tentativas, 1);
    for (const [bad, says] of [
      [
        { status: 302, headers: { Location: 'https://entrada.exemplo/?token=segredo' } },
        /leva a outro \(HTTP 302, [^?]*exemplo\/\)/,
      ],
      [{ status: 404 }, /não é deste serviço/],
      [{ status: 413 }, /grande demais/],
    ] as const) {
      const { url } = await lineBefore(bad);
      const { message, tentativas } = await endOf(clienteAt(url).emitirNota(DPS), NaoEntregue);
      assert.match(message, says);
      assert.equal(tentativas, 1);
    }
    const { url } = await lineBefore(...Array<Bad>(6).fill({ status: 429, ...retryAfter('0') }));
    assert.deepEqual((await endOf(clienteAt(url).emitirNota(DPS), NaoEntregue)).esperaMs, 0);
    // A failed reading leaves nothing in doubt.
    const cut = await lineBefore(...Array<Bad>(6).fill('cut'));
    await endOf(clienteAt(cut.url).consultarNota('x'), NaoEntregue);
  });

  test('not delivered: a connection that never stood, by fetch and with an authority of its own', async () => {
    const plain = await lineBefore();
    const closing = await tcpServer((socket) => socket.destroy());
    const silent = await tcpServer(() => undefined);
    const single = { insistencia: { ...QUICK, tentativas: 1 } };
    for (const own of [{}, { ca: '' }]) {
      const noTls = await endOf(
        clienteAt(plain.url.replace('http:', 'https:'), { ...single, ...own }).emitirNota(DPS),
        NaoEntregue,
      );
      assert.match(noTls.message, /não se fala TLS: confira o https/);
      await endOf(clienteAt(`https://127.0.0.1:${closing}`, { ...single, ...own }).emitirNota(DPS), NaoEntregue);
    }
    const late = clienteAt(`https://127.0.0.1:${silent}`, {
      insistencia: { tentativas: 1, tempoLimiteMs: 100 },
      ca: '',
    });
    assert.match((await endOf(late.emitirNota(DPS), NaoEntregue)).message, /o tempo se esgotou/);
    // The connection was established without TLS, so its server may have executed the request.
    await endOf(clienteAt(`http://127.0.0.1:${closing}`, single).emitirNota(DPS), Indeterminado);
    const forbidden = await endOf(clienteAt('http://127.0.0.1:9').emitirNota(DPS), NaoEntregue);
    assert.deepEqual([forbidden.tentativas, /não fala com essa porta/.test(forbidden.message)], [1, true]);
  });

  test('an answer that nobody of this service gives is a doubt, told as that', async () => {
    const chunk = new Uint8Array(8 * 1024 * 1024);
    let sent = 0;
    const endless = clienteAt(address, {
      fetch: async () =>
        new Response(new ReadableStream({ pull: (to) => (++sent > 100 ? to.close() : to.enqueue(chunk)) })),
    });
    const error = await endOf(endless.emitirNota(DPS), Indeterminado);
    assert.deepEqual([error.tentativas, sent < 10], [1, true]);
    assert.match(error.message, /passa de 32 MiB/);
    const { url } = await lineBefore(...Array<Bad>(6).fill({ status: 201, body: '{"ok":true}' }));
    assert.match((await endOf(clienteAt(url).emitirNota(DPS), Indeterminado)).message, /falta chave_acesso/);
  });

  test('a doubt outlives a log that fails', async () => {
    const { url } = await lineBefore('lose');
    const aoRepetir = (): never => {
      throw new Error('disco cheio');
    };
    const error = await endOf(clienteAt(url, { aoRepetir }).emitirNota(DPS, { chave: 'de um log' }), Indeterminado);
    assert.deepEqual([error.repeticao.chave, `${error.cause}`], ['de um log', 'Error: disco cheio']);
  });

  test('in doubt: what is kept of it finds out later, and a doubt outlives what comes after', async () => {
    const { url } = await lineBefore('lose', ...Array<Bad>(5).fill({ status: 429, ...retryAfter('0') }));
    const before = await countOf('notas');
    const error = await endOf(clienteAt(url).emitirNota(DPS), Indeterminado);
    assert.equal(error.tentativas, 6);
    assert.match(error.message, new RegExp(error.repeticao.chave));
    assert.equal(await countOf('notas'), before + 1);
    const { corpo, ...repeticao } = error.repeticao;
    const found = await cliente.emitirNota(corpo, repeticao);
    assert.deepEqual([found.repetida, await countOf('notas')], [true, before + 1]);

    // A proxy that has meanwhile lost the service gives no information about the first try; the service does.
    const forgetful = await lineBefore('lose', { status: 404 });
    await endOf(clienteAt(forgetful.url).emitirNota(DPS), Indeterminado);
    const refusing = await lineBefore('cut', 'pass');
    await endOf(clienteAt(refusing.url).emitirNota({ ...DPS, valor_servico: '0' }), Recusado);
  });

  test('an interruption: before sending nothing is in doubt, after it everything is', async () => {
    const early = new AbortController();
    early.abort();
    await assert.rejects(cliente.emitirNota(DPS, { signal: early.signal }), { name: 'AbortError' });
    const late = new AbortController();
    const sending: typeof fetch = (input, init) => {
      late.abort();
      return fetch(input, init);
    };
    await endOf(clienteAt(address, { fetch: sending }).emitirNota(DPS, { signal: late.signal }), Indeterminado);
  });

  test('an answer that does not come is waited for once, and then asked for again', async () => {
    const { url, keys } = await lineBefore('hang');
    const motives: string[] = [];
    const impatient = clienteAt(url, {
      insistencia: { ...QUICK, tempoLimiteMs: 1_000 },
      aoRepetir: ({ motivo }) => motives.push(motivo),
    });
    await impatient.emitirNota(DPS);
    assert.deepEqual([new Set(motives), new Set(keys).size], [new Set(['Não houve resposta: o tempo se esgotou.']), 1]);
    // If a second try is also late because of the machine, there is a third.
    assert.ok(
      keys.length > 1 && keys.length <= motives.length + 1,
      `${keys.length} requests, ${motives.length} motives`,
    );
  });

  test('what cannot be sent is told as that, and leaves no doubt', async () => {
    await assert.rejects(cliente.emitirNota(DPS, { chave: 'ção' }), {
      name: 'TypeError',
      message: /Idempotency-Key só leva/,
    });
    await assert.rejects(cliente.emitirNota(DPS, { chave: '' }), /de 1 a 255/);
    await assert.rejects(cliente.emitirNota(DPS, { chave: ' a' }), /sem espaço/);
    // These paths would be the addresses of other resources.
    for (const chave of ['', '..']) await assert.rejects(cliente.consultarNota(chave), /chave_acesso não foi/);
    await assert.rejects(cliente.emitirNota(XML, { assinatura: 'MII' }), /corpo JSON/);
    await assert.rejects(cliente.registrarEvento('1', XML), /corpo JSON/);
  });

  test('a deadline is for all tries together', async () => {
    const { url } = await lineBefore(...Array<Bad>(6).fill('cut'));
    // The pauses are 1.25 s or more, then 2.5 s or more: a third one never fits into the time.
    const patient = clienteAt(url, { insistencia: { tentativas: 100, prazoMs: 2_500, primeiraEsperaMs: 2_500 } });
    const error = await endOf(patient.emitirNota(DPS), Indeterminado);
    assert.ok(error.tentativas < 3, `${error.tentativas}`);
  });
});

describe('following', () => {
  test('goes on while the service is away, keeps to Retry-After, and ends with the deadline', async () => {
    const { chave_acesso } = await cliente.emitirNota(DPS, { simular: 'adn:atraso=1h' });
    const { url } = await lineBefore('cut', { status: 503 });
    const seen: string[] = [];
    const following = clienteAt(url).acompanharNota(chave_acesso, {
      primeiraEsperaMs: 5,
      prazoMs: 2_500,
      aCada: ({ situacao }) => seen.push(situacao),
    });
    const error = await endOf(following, AindaEmAndamento);
    assert.deepEqual(seen.slice(0, 3), ['sem resposta', 'HTTP 503', 'rascunho']);
    // Each answer has a Retry-After: a second at first, then the rest of the hour. So there is room for few answers; otherwise there would
    // be a hundred.
    const others = seen.slice(3);
    assert.ok(others.length > 0 && others.length <= 3 && others.every((one) => one === 'rascunho'), seen.join());
    const ultima = (error as AindaEmAndamento<Respostas['consultarNota']>).ultima;
    assert.equal(ultima?.nota.status, 'rascunho');
    const stop = new AbortController();
    const stopped = cliente.acompanharNota(chave_acesso, {
      primeiraEsperaMs: 0,
      aCada: () => stop.abort(),
      signal: stop.signal,
    });
    await assert.rejects(stopped, { name: 'AbortError' });
    await endOf(cliente.acompanharNota('1'.repeat(50), { primeiraEsperaMs: 0 }), Recusado);
  });

  test('ends at once when a refusal asks for more time than there is', async () => {
    const busy = { status: 429, ...retryAfter('3600') };
    const { url } = await lineBefore(busy, busy, busy);
    const patient = clienteAt(url, { insistencia: { tentativas: 100, prazoMs: 3_000_000 } });
    const { tentativas, esperaMs } = await endOf(patient.consultarNota('1'.repeat(50)), NaoEntregue);
    assert.deepEqual([tentativas, esperaMs], [1, 3_600_000]);
    const following = patient.acompanharNota('1'.repeat(50), { primeiraEsperaMs: 0, prazoMs: 3_000_000 });
    assert.match((await endOf(following, AindaEmAndamento)).message, /3600 s de espera \(HTTP 429\)/);
    await endOf(patient.esperarDecisao('1'.repeat(50), { prazoMs: 3_000_000 }), AindaEmAndamento);
  });

  test('tells a note that the ADN refused', async () => {
    const { chave_acesso } = await cliente.emitirNota(DPS, { simular: 'adn:rejeita=E1234' });
    const { situacao, protocolo } = await cliente.acompanharNota(chave_acesso, { primeiraEsperaMs: 250 });
    assert.equal(situacao, 'rejeitada');
    assert.match(protocolo.mensagem_retorno ?? '', /E1234/);
  });
});

describe('the commands, which use it', () => {
  const busy: Bad = { status: 503, ...retryAfter('0') };
  const file = path.join(ROOT, 'examples/dps.xml');

  test('a note whose answer is lost is issued once, and the repetition is told', async () => {
    const { url, keys } = await lineBefore('lose', busy);
    const before = await countOf('notas');
    const { code, out, err } = await nfseHere(['emitir', file, '--url', url]);
    assert.equal(code, 0, out + err);
    assert.match(out, /^Nota já emitida antes\n {2}chave {6}\d{50}\n/);
    assert.match(
      err,
      /^Não houve resposta: a conexão caiu.* Nova tentativa em 0\.\d s\.\nO serviço falhou \(HTTP 503\)/,
    );
    assert.deepEqual([keys.length, new Set(keys).size, await countOf('notas')], [3, 1, before + 1]);
  });

  test('a doubt is told as one, with what to type', async () => {
    const { url } = await lineBefore('lose', busy, busy, busy, busy);
    const before = await countOf('notas');
    const doubt = await nfseHere(['emitir', file, '--url', url]);
    assert.deepEqual([doubt.code, doubt.out], [4, '']);
    const [, option] = /Dê o mesmo comando com (--repeticao \S+): /.exec(doubt.err)!;
    const again = await nfseHere(['emitir', file, '--url', url, ...option!.split(' ')]);
    assert.deepEqual([again.code, await countOf('notas')], [0, before + 1], again.err);
    const [, chave] = /^ {2}chave {6}(\d{50})$/m.exec(again.out)!;

    const line = await lineBefore('lose', busy, busy, busy, busy);
    const evento = ['evento', 'enviar', chave!, '--tipo', 'confirmacao_tomador', '--url', line.url];
    const lost = await nfseHere(evento);
    assert.equal(lost.code, 4, lost.err);
    const [, same] = /Dê o mesmo comando com (--repeticao \S+): /.exec(lost.err)!;
    const found = await nfseHere([...evento, ...same!.split(' ')]);
    assert.equal(found.code, 0, found.err);
    assert.match(found.out, /^Evento já registrado antes: confirmacao_tomador nº 1; /);
  });

  test('a service that is not there is told at once', async () => {
    const { code, err } = await nfseHere(['emitir', file, '--url', await deadUrl()]);
    assert.equal(code, 1);
    assert.match(err, /não houve resposta de http:\/\/127\.0\.0\.1:\d+\/integracao\. O serviço está no ar\?/);
    const withPassword = await nfseHere(['emitir', file, '--url', 'http://ana:segredo@x']);
    assert.match(withPassword.err, /^--url vai sem usuário(?!.*segredo)/);
    assert.equal(withPassword.code, 2);
  });
});

test('what is wrong with the settings is told before anything is sent', () => {
  assert.throws(() => clienteAt('localhost:8080'), /não é um endereço/);
  for (const url of ['http://ana:segredo@x', 'http://x?a=segredo', 'http://x/#segredo']) {
    assert.throws(() => clienteAt(url), /^TypeError: url vai sem usuário(?!.*segredo)/);
  }
  for (const municipio of ['', '..']) assert.throws(() => clienteAt(address, { municipio }), /municipio não foi/);
  for (const insistencia of [{ prazoMs: Number.NaN }, { tempoLimiteMs: -1 }, { tentativas: 0 }]) {
    assert.throws(() => clienteAt(address, { insistencia }), new RegExp(`${Object.keys(insistencia)[0]} é um número`));
  }
});

test('no limit is one too, and what is left undefined is as usual', async () => {
  const endless = { prazoMs: Infinity, tempoLimiteMs: Infinity, primeiraEsperaMs: undefined } as object;
  const { chave_acesso } = await clienteAt(address, { insistencia: endless }).emitirNota(DPS);
  assert.match(chave_acesso, /^\d{50}$/);
});
