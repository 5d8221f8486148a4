/**
 * `npm run bench -- --custo`: the requests of `test/support/dear-requests.ts`, sent to the running service, and the
 * processor time of the serving thread for each. The kernel counts it, and the least of a few runs is taken. The
 * longest wait of `/health/live` meanwhile is measured too. The table has the thirty most expensive requests; a value
 * beyond its bound fails the command.
 */
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { openStage, registerTenant, run, startService } from '../scripts/stage.ts';
import { certificatesOfPem } from '../src/documents/certificate.ts';
import { signCms } from '../src/documents/cms-sign.ts';
import { companyCertificate, newKeys, rootAuthority } from '../src/documents/pki.ts';
import { type DearRequest, dearRequests, type Senders } from '../test/support/dear-requests.ts';
import { ABRASF, consultaXml, envelope, escaped, porProtocolo } from '../test/support/rps.ts';
import { companyOf, type Party, partyOf, yearAround } from '../test/support/signatures.ts';

/** Milliseconds of the serving thread. */
const CPU_MAX_MS = 60;
const HEALTH_MAX_MS = 100;
const RUNS = 4;
const TOLD = 30;
/** Ordinary requests sent first: the compiled code is then that of a service that has been up for a minute. */
const WARMUP = 400;
/** Pause between two requests: work after the answer belongs to the request. */
const REST_MS = 60;
const CNPJ = '11222333000181';
/** Nothing listens there: issued notes stay due. */
const ADN = 'https://127.0.0.1:9';

/** `whole`: of all threads, garbage collection and compilation included. */
type Cost = {
  readonly one: DearRequest;
  readonly cpu: number;
  readonly whole: number;
  readonly waited: number;
  readonly status: number;
};

export async function benchCusto(dataDir: string, only: string | undefined): Promise<boolean> {
  const now = Date.now();
  const stage = await openStage(path.join(dataDir, 'palco'), [CNPJ], now);
  const env = { NFSE_DATA_DIR: dataDir };
  const service = await startService(env);
  try {
    const providers = [{ documento: CNPJ, razaoSocial: 'Empresa Exemplo Ltda' }];
    const tenants = [
      { slug: 'exemplo', ibge: '3550308', adn: ADN, providers },
      { slug: 'antigo', ibge: '3509502', adn: ADN, providers },
    ];
    for (const tenant of tenants) await registerTenant(stage, tenant, env);
    await run(['municipio', 'alterar', 'antigo', '--soap-sha1', 'sim'], env);
    const [files] = stage.pki.prestadores;
    const key = createPrivateKey(readFileSync(files!.chave));
    const [certificate] = certificatesOfPem(readFileSync(files!.certificado, 'utf8'));
    const provider = partyOf({ privateKey: key, publicKey: createPublicKey(key) }, certificate!.der);
    const all = dearRequests(await sendersOf(provider, now));
    const place = placeOf(service.address);
    const ordinary = all.find(({ name }) => name === 'uma DPS comum')!;
    for (let sent = 0; sent < WARMUP; sent += 1) await send(place, ordinary);
    const costs: Cost[] = [];
    for (const one of [...all, ...(await questionsAbout(service.address, all))]) {
      if (only === undefined || one.name.includes(only)) costs.push(await costOf(place, service.pid, one));
    }
    return told(costs);
  } finally {
    await service.end('SIGINT');
  }
}

/** Queries about the longest issued documents: a note of a thousand documents, a lot of five hundred RPS. */
async function questionsAbout(address: string, all: readonly DearRequest[]): Promise<readonly DearRequest[]> {
  const named = (name: string): DearRequest => all.find((one) => one.name === name)!;
  const longest = named('a mesma, na integração');
  const issued = await fetch(`${address}${longest.path}`, {
    method: 'POST',
    headers: longest.headers,
    body: longest.body as BodyInit,
  });
  const { chave_acesso: chave } = (await issued.json()) as { readonly chave_acesso: string };
  const lot = named('lote de 500 RPS em texto');
  const ask = async (body: string | Buffer): Promise<string> =>
    (await fetch(`${address}${lot.path}`, { method: 'POST', headers: lot.headers, body: body as BodyInit })).text();
  const protocolo =
    /&lt;Protocolo>([^&]+)|&lt;Protocolo&gt;([^&]+)/
      .exec(await ask(lot.body!))
      ?.slice(1)
      .join('') ?? '';
  const about = (document: string, operacao: string): Buffer =>
    Buffer.from(
      envelope(`<n:${operacao} xmlns:n="${ABRASF}"><parameters>${escaped(document)}</parameters></n:${operacao}>`),
    );
  const ofLot = about(porProtocolo('ConsultarLoteRpsEnvio', protocolo, CNPJ), 'ConsultarLoteRps');
  for (let turn = 0; turn < 120 && !(await ask(ofLot)).includes('ListaNfse'); turn += 1) await pause(500);
  const day = new Date(Date.now() - 10_800_000).toISOString().slice(0, 10);
  const periodo = `<PeriodoEmissao><DataInicial>${day}</DataInicial><DataFinal>${day}</DataFinal></PeriodoEmissao>`;
  const about500 = (name: string, body: Buffer): DearRequest => ({ ...lot, name, body, isSliced: true });
  const get = (path: string): DearRequest => ({ ...LIVE, name: `GET ${path}`, path });
  return [
    about500('consulta de um lote de 500 RPS', ofLot),
    about500('consulta de 500 notas ou mais', about(consultaXml(periodo, CNPJ), 'ConsultarNfse')),
    get(`/integracao/api/v1/nfse/${chave}`),
    get(`/integracao/api/v1/danfse/${chave}`),
  ];
}

async function sendersOf(provider: Party, now: number): Promise<Senders> {
  const keys = await newKeys();
  const root = rootAuthority('AC de Ninguém', await newKeys(), yearAround(now));
  const stranger = partyOf(keys, companyCertificate(root, companyOf(CNPJ), keys.publicKey, yearAround(now)));
  return {
    producao: 'exemplo',
    antigo: 'antigo',
    integracao: 'integracao',
    provider,
    stranger,
    cnpj: CNPJ,
    cms: (body, { keys: { privateKey }, pem }) =>
      signCms(body, { key: privateKey, certificate: certificatesOfPem(pem)[0]! }).toString('base64'),
    emissao: new Date(now - 86_400_000).toISOString().slice(0, 19),
  };
}

type Place = { readonly host: string; readonly port: number; readonly agent: Agent; readonly watcher: Agent };

function placeOf(address: string): Place {
  const { hostname: host, port } = new URL(address);
  const kept = () => new Agent({ keepAlive: true, maxSockets: 1 });
  return { host, port: Number(port), agent: kept(), watcher: kept() };
}

/** The least of a few runs, first of processor time, then of the waiting of others; a clearly cheap request is not repeated. */
async function costOf(place: Place, pid: number, one: DearRequest): Promise<Cost> {
  let [cpu, whole, waited, status] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, 0];
  for (let turn = 0; turn < RUNS && cpu > CPU_MAX_MS / 3; turn += 1) {
    await pause(REST_MS);
    const [before, wholeBefore] = [threadMs(pid), processMs(pid)];
    status = await send(place, one);
    await pause(REST_MS);
    cpu = Math.min(cpu, threadMs(pid) - before);
    whole = Math.min(whole, processMs(pid) - wholeBefore);
  }
  for (let turn = 0; turn < RUNS && waited > HEALTH_MAX_MS / 3; turn += 1) {
    waited = Math.min(waited, await watched(place, one));
  }
  return { one, cpu, whole, waited, status };
}

/** Processor milliseconds of a thread of a process; the default is the first thread. */
function threadMs(pid: number, thread: number | string = pid): number {
  return Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
}

function processMs(pid: number): number {
  return readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => sum + threadMs(pid, thread), 0);
}

/** Sends a request, and polls the health check until it is answered: the longest wait of a poll, in milliseconds. */
async function watched(place: Place, one: DearRequest): Promise<number> {
  let isDone = false;
  const answered = send(place, one).finally(() => {
    isDone = true;
  });
  let waited = 0;
  while (!isDone) {
    const began = performance.now();
    await send({ ...place, agent: place.watcher }, LIVE);
    waited = Math.max(waited, performance.now() - began);
    await pause(1);
  }
  await answered;
  return waited;
}

const LIVE: DearRequest = {
  name: '',
  method: 'GET',
  path: '/health/live',
  headers: {},
  body: undefined,
  isHonest: true,
};

function send({ host, port, agent }: Place, { method, path: where, headers, body }: DearRequest): Promise<number> {
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { 'Content-Length': body.length };
    const sent = request({ host, port, agent, method, path: where, headers: { ...headers, ...length } }, (answer) => {
      answer
        .on('error', reject)
        .on('end', () => resolve(answer.statusCode ?? 0))
        .resume();
    });
    sent.on('error', reject).end(body);
  });
}

/** Prints the most expensive requests; true when all are within the bounds. */
function told(costs: readonly Cost[]): boolean {
  const dearest = costs.toSorted((one, other) => other.cpu - one.cpu).slice(0, TOLD);
  const beyond = costs.filter(
    ({ one, cpu, waited }) => (cpu > CPU_MAX_MS && one.isSliced !== true) || waited > HEALTH_MAX_MS,
  );
  process.stdout.write(
    `${costs.length} pedidos; os ${dearest.length} mais caros (CPU da linha que atende, menor de ${RUNS}):\n\n`,
  );
  process.stdout.write(
    '| CPU, ms | processo inteiro, ms | KiB | ms por KiB | /health/live, ms | status | pedido |\n|---:|---:|---:|---:|---:|---:|---|\n',
  );
  for (const { one, cpu, whole, waited, status } of dearest) {
    const kib = (one.body?.length ?? one.path.length) / 1024;
    const cells = [
      cpu.toFixed(1),
      whole.toFixed(0),
      kib.toFixed(0),
      (cpu / kib).toFixed(2),
      waited.toFixed(0),
      `${status}`,
      one.name,
    ];
    process.stdout.write(`| ${cells.join(' | ')} |\n`);
  }
  const heaviest = costs.toSorted((one, other) => other.whole - one.whole).slice(0, 10);
  process.stdout.write('\nos mais caros no processo inteiro (ms):\n');
  for (const { one, whole, cpu } of heaviest)
    process.stdout.write(`  ${whole.toFixed(0)} (${cpu.toFixed(0)}) ${one.name}\n`);
  process.stdout.write(`\nacima de ${CPU_MAX_MS} ms de CPU ou de ${HEALTH_MAX_MS} ms de espera: ${beyond.length}\n`);
  return beyond.length === 0;
}
