/**
 * The floor: the cost of the least Node program that does the same work on this machine. Each piece is written for this
 * alone, and measured by its own CPU time. The program keeps no rule of ours but the law itself; it reports no fault
 * and survives no failure. It is a separate process, so that it runs in the same seconds as the service it is compared
 * with.
 *
 * Argument: a {@link FloorOrder} as JSON. Each message asks for one measure, and is answered by a {@link Floor}.
 */
import { fork } from 'node:child_process';
import { createPrivateKey, hash, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer as createHttp } from 'node:http';
import { Agent, createServer as createHttps, request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { openEmbedded } from '../src/base/pg/embedded.ts';
import { Client } from '../src/base/pg/pg.ts';
import { startSender } from './children.ts';
import { cpuTimesOf } from './cpu.ts';
import { type ProviderKeys, signedDps } from './documents.ts';
import type { Floor } from './floor-pieces.ts';
import { checkLayout, composeNote, judgeExample, readOnce, verifySignature } from './floor-reading.ts';
import type { SenderOrder } from './sender.ts';

export type FloorOrder = {
  readonly dataDir: string;
  /** The document, unsigned. */
  readonly template: string;
  readonly providers: readonly ProviderKeys[];
  /** The signer of the notes, and their receiver. */
  readonly municipio: ProviderKeys;
  readonly servidor: { readonly certificado: string; readonly chave: string };
};

const DOCUMENTS = 300;
/** The kernel's count of a thread may lag by four milliseconds: short work is repeated until that hardly matters. */
const ROUNDS = 2_000;
const RSA_ROUNDS = 300;
const REQUESTS = 400;
/** Notes of a transaction and of a lot: the maximum of a lot. */
const GROUP = 50;
const GROUPS = 12;
/** Bytes of our answer to an issuance, with the note in it. */
const ANSWER_BYTES = 5_600;

async function openFloor(order: FloorOrder) {
  const documents = signedDps(order.template, order.providers, 1, DOCUMENTS);
  const database = await openRows(order.dataDir);
  const lot = await openLot(order);
  const http = await openHttp(order);
  return async (): Promise<Floor> => {
    const reading = measureReading(documents, order.municipio);
    return { ...reading.floor, ...(await http()), ...(await database(reading.notes)), ...(await lot(reading.parcels)) };
  };
}

/** The mean over the rounds, in microseconds of this thread, and the results of the last round of each document. */
function timed<Result>(round: (place: number) => Result, rounds = ROUNDS) {
  const results: Result[] = [];
  const before = process.threadCpuUsage();
  for (let turn = 0; turn < rounds; turn += 1) results[turn % DOCUMENTS] = round(turn % DOCUMENTS);
  return { micros: microsSince(before) / rounds, results };
}

function microsSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.threadCpuUsage(before);
  return user + system;
}

/** The pieces that need only this thread. */
function measureReading(documents: readonly Buffer[], { chave }: ProviderKeys) {
  const key = createPrivateKey(readFileSync(chave));
  const leitura = timed((place) => readOnce(documents[place]!));
  const assinatura = timed((place) => verifySignature(leitura.results[place]!));
  const leiaute = timed((place) => checkLayout(leitura.results[place]!));
  const julgamento = timed(judgeExample());
  const composicao = timed((place) => composeNote(leitura.results[place]!));
  const notes = composicao.results;
  const resumos = timed((place) => hash('sha256', notes[place]!, 'base64'));
  const rsa = timed((place) => sign('sha256', Buffer.from(resumos.results[place]!.padEnd(700)), key), RSA_ROUNDS);
  const envelope = timed((place) => gzipSync(notes[place]!, { level: 0 }).toString('base64'));
  const floor = {
    leitura: leitura.micros,
    assinatura: assinatura.micros,
    leiaute: leiaute.micros,
    julgamento: julgamento.micros,
    composicao: composicao.micros,
    resumos: resumos.micros,
    rsa: rsa.micros,
    envelope: envelope.micros,
  };
  return { floor, notes, parcels: envelope.results };
}

/** A server that answers the same requests with as many bytes, and does nothing else. */
async function openHttp({ providers }: FloorOrder): Promise<() => Promise<Pick<Floor, 'http'>>> {
  const head = '{"status":"OK","chave_acesso":"0","avisos":[],"xml_nfse":"';
  const answer = `${head}${'a'.repeat(ANSWER_BYTES - head.length - 2)}"}`;
  const server = createHttp((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      const headers = { 'Content-Type': 'application/json; charset=utf-8', 'Content-Length': ANSWER_BYTES };
      res.writeHead(201, headers).end(Buffer.concat(chunks).length > 0 ? answer : '');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const order: SenderOrder = {
    host: '127.0.0.1',
    port,
    target: '/',
    providers,
    isSigned: true,
    firstNumber: 1,
  };
  const sender = startSender(order);
  return async () => {
    await sender.make(REQUESTS, 'comum');
    const before = process.threadCpuUsage();
    await sender.send({ kind: 'closed', count: REQUESTS, connections: 16 });
    return { http: microsSince(before) / REQUESTS };
  };
}

/** The least row of a note: its documents, and the three indexes for look-up, uniqueness and due time. */
const TABLE = `
  create table piso (tenant text not null, chave text not null, protocolo text not null, dps text not null, prestador text not null,
    valor numeric(17, 2) not null, competencia date not null, estado text not null, due_at timestamptz, nsu bigint,
    recebido bytea not null, nfse bytea not null, primary key (tenant, chave));
  alter table piso alter recebido set storage external, alter nfse set storage external;
  create unique index on piso (tenant, dps);
  create index on piso (tenant, due_at) where due_at is not null;`;
const INSERT = `
  insert into piso select 'a', chave, protocolo, dps, prestador, valor, '2026-10-05', 'transmitida', now(), null, recebido, nfse
  from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::numeric[], $6::bytea[], $7::bytea[])
    as t (chave, protocolo, dps, prestador, valor, recebido, nfse)`;
const SETTLE = `
  update piso set estado = 'autorizada', due_at = null, nsu = t.nsu
  from unnest($1::text[], $2::bigint[]) as t (chave, nsu) where tenant = 'a' and piso.chave = t.chave`;

type OfRows = 'clienteInsercao' | 'clienteAssentamento' | 'insercao' | 'assentamento';

/** Rows inserted and settled, many in one durable statement. */
async function openRows(dataDir: string): Promise<(notes: readonly Buffer[]) => Promise<Pick<Floor, OfRows>>> {
  const server = await openEmbedded({ dataDir, log: { info() {}, warn() {}, error() {} } });
  const client = new Client(server.connection);
  await client.connect();
  await client.query(TABLE);
  process.on('disconnect', () => void server.stop().finally(() => process.exit()));
  let number = 10_000_000;
  const databaseSeconds = (): number => cpuTimesOf(0, dataDir).banco;
  const measure = async (statements: readonly { name: string; text: string; values: unknown[] }[]) => {
    const [database, thread] = [databaseSeconds(), process.threadCpuUsage()];
    for (const one of statements) await client.query(one);
    const micros = microsSince(thread);
    const each = GROUPS * GROUP;
    return { cliente: micros / each, banco: ((databaseSeconds() - database) * 1e6) / each };
  };
  return async (notes) => {
    const first = number;
    number += GROUPS * GROUP;
    const groups = Array.from({ length: GROUPS }, (_, group) =>
      Array.from({ length: GROUP }, (_, place) => `${first + group * GROUP + place}`),
    );
    const column = (group: readonly string[], length: number) => group.map((one) => one.padEnd(length, '0'));
    const some = (group: readonly string[]) => group.map((_, place) => notes[place % notes.length]);
    const inserting = await measure(
      groups.map((group) => ({
        name: 'piso-inserir',
        text: INSERT,
        values: [
          column(group, 50),
          column(group, 31),
          column(group, 45),
          column(group, 14),
          column(group, 9),
          some(group).map((one) => one!.subarray(0, 2_600)),
          some(group),
        ],
      })),
    );
    const settling = await measure(
      groups.map((group) => ({ name: 'piso-assentar', text: SETTLE, values: [column(group, 50), group] })),
    );
    return {
      clienteInsercao: inserting.cliente,
      insercao: inserting.banco,
      clienteAssentamento: settling.cliente,
      assentamento: settling.banco,
    };
  };
}

/** Lots to a server in another process, over TLS with certificates on both sides. */
async function openLot({ municipio, servidor }: FloorOrder) {
  const receiver = fork(import.meta.filename, ['receber', servidor.certificado, servidor.chave]);
  const port = await new Promise<number>((resolve) =>
    receiver.once('message', (message) => resolve(message as number)),
  );
  const [cert, key] = [readFileSync(municipio.certificado), readFileSync(municipio.chave)];
  // Verifying the peer costs once per connection, and nothing per lot.
  const agent = new Agent({ keepAlive: true, maxSockets: 1, cert, key, rejectUnauthorized: false });
  const send = (lot: readonly string[]): Promise<void> =>
    new Promise((resolve, reject) => {
      const body = Buffer.from(`{"LoteXmlGZipB64":["${lot.join('","')}"]}`, 'latin1');
      const headers = { 'Content-Type': 'application/json', 'Content-Length': body.length };
      const sent = request({ host: '127.0.0.1', port, agent, method: 'POST', path: '/adn/DFe', headers }, (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.on('end', () => {
          const { Lote } = JSON.parse(Buffer.concat(chunks).toString('utf8')) as { readonly Lote: readonly unknown[] };
          if (Lote.length === GROUP) resolve();
          else reject(new Error('an answer is too short'));
        });
      });
      sent.on('error', reject).end(body);
    });
  await send([]);
  return async (parcels: readonly string[]): Promise<Pick<Floor, 'tls'>> => {
    const before = process.threadCpuUsage();
    for (let lot = 0; lot < GROUPS; lot += 1) {
      await send(Array.from({ length: GROUP }, (_, place) => parcels[(lot * GROUP + place) % parcels.length]!));
    }
    return { tls: microsSince(before) / (GROUPS * GROUP) };
  };
}

/** The server of {@link openLot}. */
function receive(certificado: string, chave: string): void {
  const entry = { ChaveAcesso: '0'.repeat(50), NsuRecepcao: '1', StatusProcessamento: 'OK', Alertas: [], Erros: [] };
  const answer = JSON.stringify({ Lote: Array.from({ length: GROUP }, () => entry) });
  const tls = {
    cert: readFileSync(certificado),
    key: readFileSync(chave),
    requestCert: true,
    rejectUnauthorized: false,
  };
  const server = createHttps(tls, (req, res) => {
    req.resume().on('end', () => res.writeHead(201, { 'Content-Type': 'application/json' }).end(answer));
  });
  server.listen(0, '127.0.0.1', () => process.send!((server.address() as AddressInfo).port));
  process.on('disconnect', () => process.exit());
}

if (process.argv[2] === 'receber') receive(process.argv[3]!, process.argv[4]!);
else {
  const measure = openFloor(JSON.parse(process.argv[2]!) as FloorOrder);
  process.on('message', () => {
    measure
      .then((one) => one())
      .then(
        (floor) => process.send!(floor),
        (error: unknown) => {
          console.error(error);
          process.exit(1);
        },
      );
  });
}
