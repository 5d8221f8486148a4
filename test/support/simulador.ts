/**
 * The ADN simulator as a municipality meets it. It starts in this process or in its own, with a PKI of the test, over mutual TLS. Notes for
 * it are here too, signed by the municipality.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import https from 'node:https';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { readCertificate } from '../../src/documents/certificate.ts';
import { companyCertificate, pemOf, personCertificate, rootAuthority } from '../../src/documents/pki.ts';
import { type Signer, signatureOf } from '../../src/documents/signing.ts';
import { readXml } from '../../src/documents/xml.ts';
import { buildChave } from '../../src/fiscal/chave.ts';
import { composeNfse } from '../../src/fiscal/compose-nfse.ts';
import { judge } from '../../src/fiscal/judge.ts';
import { signedPartOfEvento, withEventoSignature, writeEvento } from '../../src/fiscal/layout/evento.ts';
import { readDps } from '../../src/fiscal/layout/read.ts';
import { signedPartOf, withSignature } from '../../src/fiscal/layout/write.ts';
import { DAY_MS } from '../../src/fiscal/moment.ts';
import { exampleXml } from '../../src/fiscal/rules/example.ts';
import type { Patch } from '../../src/fiscal/rules/rule.ts';
import { EXAMPLE_FACTS } from '../../src/fiscal/rules/trial.ts';
import { type Simulador, type SimuladorOptions, startSimulador } from '../../src/simulador/simulador.ts';
import { onEnd } from './cleanup.ts';
import { ask } from './http.ts';
import { readyKeys } from './keys.ts';
import { createAuthority, SERVER_EXTENSIONS } from './tls.ts';
import { onPatienceEnd, until } from './until.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const READY_WITHIN_MS = 120_000;

/** The municipality of the notes below. */
export const MUNICIPIO_CNPJ = '99999999000191';
/** The CNPJ of another municipality. */
export const OUTRO_CNPJ = '88888888000191';

/** A client that connects and signs. */
export type Holder = {
  readonly cert: string;
  readonly key: string;
  readonly certFile: string;
  readonly keyFile: string;
  readonly signer: Signer;
};

export type Palco = {
  /** Files for `--certificado`, `--chave`, `--clientes`. */
  readonly certificado: string;
  readonly chave: string;
  readonly clientes: string;
  /** The authority by which a client verifies the server, and its file. */
  readonly ca: string;
  readonly caFile: string;
  readonly municipio: Holder;
  /** The next certificate of the municipality. */
  readonly renovado: Holder;
  readonly outro: Holder;
  /** A certificate of a natural person, from the same authority. */
  readonly pessoa: Holder;
  readonly vencido: Holder;
  /** A certificate with the municipality's CNPJ, from an unknown authority. */
  readonly estranho: Holder;
};

export async function tempFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'nfse-simulador-'));
  onEnd(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Certificates for all parties. openssl makes the server's, our test PKI those of the holders. */
export async function montarPalco(now = Date.now()): Promise<Palco> {
  const folder = await tempFolder();
  const [rootKeys, otherRootKeys, ...keys] = await Promise.all(Array.from({ length: 8 }, readyKeys));
  const year = { inicio: now - 180 * DAY_MS, fim: now + 180 * DAY_MS };
  const past = { inicio: now - 180 * DAY_MS, fim: now - 35 * DAY_MS };
  const root = rootAuthority('AC de Ensaio', rootKeys!, year);
  const stranger = rootAuthority('AC Desconhecida', otherRootKeys!, year);
  const person = { nome: 'Pessoa de Teste', cpf: '11144477735', nascimento: '1980-01-31' };
  const company = (cnpj: string) => ({ razaoSocial: 'Município de Teste', cnpj, responsavel: person });
  const made = [
    ['municipio', companyCertificate(root, company(MUNICIPIO_CNPJ), keys[0]!.publicKey, year)],
    ['outro', companyCertificate(root, company(OUTRO_CNPJ), keys[1]!.publicKey, year)],
    ['pessoa', personCertificate(root, person, keys[2]!.publicKey, year)],
    ['vencido', companyCertificate(root, company(MUNICIPIO_CNPJ), keys[3]!.publicKey, past)],
    ['estranho', companyCertificate(stranger, company(MUNICIPIO_CNPJ), keys[4]!.publicKey, year)],
    ['renovado', companyCertificate(root, company(MUNICIPIO_CNPJ), keys[5]!.publicKey, year)],
  ] as const;
  const holders = await Promise.all(
    made.map(async ([name, der], place): Promise<Holder> => {
      const certificate = readCertificate(der);
      if ('problem' in certificate) throw new Error(certificate.problem);
      const { privateKey } = keys[place]!;
      const cert = pemOf('CERTIFICATE', der);
      const key = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
      const certFile = path.join(folder, `${name}.pem`);
      const keyFile = path.join(folder, `${name}.key`);
      await writeFile(certFile, cert);
      await writeFile(keyFile, key, { mode: 0o600 });
      return { cert, key, certFile, keyFile, signer: { key: privateKey, certificate } };
    }),
  );
  const clientes = path.join(folder, 'clientes.pem');
  await writeFile(clientes, pemOf('CERTIFICATE', root.certificate));
  const servers = createAuthority('servidores');
  const server = servers.issue('localhost', SERVER_EXTENSIONS);
  const [municipio, outro, pessoa, vencido, estranho, renovado] = holders as [
    Holder,
    Holder,
    Holder,
    Holder,
    Holder,
    Holder,
  ];
  return {
    certificado: server.certFile,
    chave: server.keyFile,
    clientes,
    ca: servers.ca,
    caFile: servers.caFile,
    municipio,
    renovado,
    outro,
    pessoa,
    vencido,
    estranho,
  };
}

export type Anotado = { readonly about: object; readonly message: string };

/** Starts one in this process, by default on free ports and its own folder. */
export async function simuladorAqui(
  { certificado, chave, clientes }: Palco,
  options: Partial<SimuladorOptions> = {},
  logged: Anotado[] = [],
): Promise<Simulador> {
  const note = (about: object, message: string): void => void logged.push({ about, message });
  const dados = options.dados ?? (await tempFolder());
  const simulador = await startSimulador(
    { host: '127.0.0.1', porta: 0, controle: 0, certificado, chave, clientes, ...options, dados },
    { info: note, warn: note, error: note },
  );
  onEnd(() => simulador.close());
  return simulador;
}

export type Processo = {
  readonly address: string;
  readonly controle: string;
  output(): string;
  end(signal: NodeJS.Signals): Promise<number | NodeJS.Signals | null>;
};

/** Starts one as an operator does. Rejects with its output if it ends before it is ready. */
export async function simuladorProcesso(
  { certificado, chave, clientes }: Palco,
  dados: string,
  more: readonly string[] = [],
  env: NodeJS.ProcessEnv = {},
): Promise<Processo> {
  const files = ['--certificado', certificado, '--chave', chave, '--clientes', clientes, '--dados', dados];
  const ports = more.includes('--porta') ? [] : ['--porta', '0', '--controle', '0'];
  const child = spawn(
    process.execPath,
    [path.join(ROOT, 'src/main.js'), 'adn-simulador', ...files, ...ports, ...more],
    {
      cwd: ROOT,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  onEnd(() => endOf(child, 'SIGKILL'));
  let output = '';
  await new Promise<void>((resolve, reject) => {
    const callOff = onPatienceEnd(READY_WITHIN_MS, () => reject(new Error(`not ready in time:\n${output}`)));
    const collect = (chunk: Buffer): void => {
      output += chunk;
      if (!/ADN simulado no ar em/.test(output) || !/Ctrl-C encerra/.test(output)) return;
      callOff();
      resolve();
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    child.once('close', (code) => {
      callOff();
      reject(new Error(`ended with ${code}: ${output}`));
    });
  });
  return {
    address: /ADN simulado no ar em (\S+)/.exec(output)![1]!,
    controle: /(http:\/\/127\.0\.0\.1:\d+)/.exec(output)![1]!,
    output: () => output,
    end: (signal) => endOf(child, signal),
  };
}

function endOf(child: ChildProcess, signal: NodeJS.Signals): Promise<number | NodeJS.Signals | null> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve(child.exitCode ?? child.signalCode);
  const ended = new Promise<number | NodeJS.Signals | null>((resolve) =>
    child.once('exit', (code, by) => resolve(code ?? by)),
  );
  child.kill(signal);
  return ended;
}

export type Resposta = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look at the answer field by field
  readonly body: any;
};

export type Cliente = {
  request(method: string, path: string, body?: string | Buffer, headers?: Record<string, string>): Promise<Resposta>;
  /** Posts documents, packed or not yet packed. */
  share(documents: readonly (string | Buffer)[]): Promise<Resposta>;
  received(after: number | string, query?: string): Promise<Resposta>;
  close(): void;
};

export type ClienteOptions = { readonly timeoutMs?: number; readonly maxVersion?: 'TLSv1.2' | 'TLSv1.3' };

/** `who`: undefined connects without a certificate. Connections are reused. */
export function clienteDe(
  address: string,
  ca: string,
  who: Pick<Holder, 'cert' | 'key'> | undefined,
  { timeoutMs = 120_000, maxVersion = 'TLSv1.3' }: ClienteOptions = {},
): Cliente {
  const agent = new https.Agent({ keepAlive: true, ca, cert: who?.cert, key: who?.key, maxVersion });
  onEnd(() => agent.destroy());
  const request: Cliente['request'] = (method, target, body, headers = {}) =>
    new Promise((resolve, reject) => {
      const length = body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) };
      const type = body === undefined ? {} : { 'Content-Type': 'application/json' };
      const options = { method, agent, headers: { ...length, ...type, ...headers }, timeout: timeoutMs };
      const sent = https.request(`${address}${target}`, options, (res) => {
        const chunks: Buffer[] = [];
        res.on('data', (chunk: Buffer) => chunks.push(chunk));
        res.on('error', reject);
        res.on('end', () => {
          const text = Buffer.concat(chunks).toString('utf8');
          let parsed: unknown;
          try {
            parsed = JSON.parse(text);
          } catch {
            parsed = undefined;
          }
          resolve({ status: res.statusCode!, headers: res.headers, text, body: parsed });
        });
      });
      sent.on('timeout', () => sent.destroy(Object.assign(new Error('no answer'), { code: 'NO_ANSWER' })));
      sent.on('error', reject);
      sent.end(body);
    });
  return {
    request,
    share: (documents) => {
      const LoteXmlGZipB64 = documents.map((one) => (typeof one === 'string' ? one : packed(one)));
      return request('POST', '/adn/DFe', JSON.stringify({ LoteXmlGZipB64 }));
    },
    received: (after, query = 'tipoNSU=RECEPCAO&lote=true') =>
      request('GET', `/municipios/DFe/${after}${query === '' ? '' : `?${query}`}`),
    close: () => agent.destroy(),
  };
}

/** The time after which a missing answer counts as silence. */
const SILENCE_MS = 300;

/**
 * Shares documents while a fault always strikes: returns the answer, or the error code of the connection. A silent simulator is abandoned
 * only after `work`, which may take any time.
 */
export async function shareUnder(
  client: Cliente,
  documents: readonly (string | Buffer)[],
  isSilent: boolean,
  work: () => Promise<boolean>,
  // biome-ignore lint/suspicious/noExplicitAny: answers, whole and spoilt
): Promise<any> {
  const answer = client.share(documents).catch(({ code }: NodeJS.ErrnoException) => code);
  if (!isSilent) return answer;
  await until(async () => (await work()) || undefined, 'the silent one has worked');
  const silence = Promise.race([answer, sleep(SILENCE_MS, 'NO_ANSWER')]);
  return silence.finally(() => client.close());
}

/** Sends a request to the control port. */
export async function controle(simulador: { readonly controle: string }, target: string, init?: RequestInit) {
  const { status, headers, text } = await ask(`${simulador.controle}${target}`, init);
  const isJson = headers.get('content-type')?.startsWith('application/json') === true;
  // biome-ignore lint/suspicious/noExplicitAny: tests look at the answer field by field
  return { status, text, body: (isJson ? JSON.parse(text) : undefined) as any };
}

export function ajustar(simulador: { readonly controle: string }, target: string, body: unknown) {
  return controle(simulador, target, { method: 'PUT', body: JSON.stringify(body) });
}

/** A document as a lot carries it. */
export function packed(xml: string | Buffer): string {
  return gzipSync(xml).toString('base64');
}

const EMITENTE = '11222333000181';
const CODIGO_IBGE = '3550308';

/** The access key of a note by its number, as the notes below have it. */
export function chaveDe(numero: number, codigo = '012345678'): string {
  const parts = { cMun: CODIGO_IBGE, ambGer: '1', documento: EMITENTE, anoMes: '2610', codigo } as const;
  return buildChave({ ...parts, nNFSe: numero });
}

/** An unsigned NFS-e; `patch` applies to its DPS. */
export function notaSemAssinatura(numero: number, patch: Patch = {}, codigo?: string): string {
  const reading = readXml(Buffer.from(exampleXml(patch)));
  if ('fault' in reading) throw new Error(reading.fault.mensagem);
  const read = readDps(reading.root);
  if ('faults' in read) throw new Error(read.faults[0]!.mensagem);
  const judged = judge(read.dps, EXAMPLE_FACTS);
  if ('faults' in judged) throw new Error(judged.faults[0]!.mensagem);
  return composeNfse(read.dps, EXAMPLE_FACTS, judged, {
    chave: chaveDe(numero, codigo),
    nNFSe: String(numero),
    nDFSe: String(numero),
    idDps: `DPS${CODIGO_IBGE}2${EMITENTE}70000${String(numero).padStart(15, '0')}`,
    serie: '70000',
    nDPS: String(numero),
    dhEmi: '2026-10-05T10:15:30-03:00',
    tpAmb: '1',
  });
}

/** A note signed as `src/` does it; the text may have been changed before. */
export async function assinada(unsigned: string, { signer }: Holder): Promise<Buffer> {
  const { canonical, id } = signedPartOf(unsigned);
  return Buffer.from(withSignature(unsigned, await signatureOf(canonical, id, signer)), 'utf8');
}

export async function nota(numero: number, holder: Holder, patch: Patch = {}): Promise<Buffer> {
  return assinada(notaSemAssinatura(numero, patch), holder);
}

export type EventoDeEnsaio = {
  /** The number of the note below. */
  readonly numero: number;
  readonly codigo: string;
  readonly sequencia?: number;
  /** The author; the emitter of the note by default. */
  readonly autor?: string;
  /** Fields by the names of the JSON body. */
  readonly campos?: Readonly<Record<string, string>>;
};

/** An unsigned event of the note with a number. */
export function eventoSemAssinatura({
  numero,
  codigo,
  sequencia = 1,
  autor = EMITENTE,
  campos,
}: EventoDeEnsaio): string {
  return writeEvento({
    chave_acesso: chaveDe(numero),
    codigo,
    numero_sequencial: sequencia,
    tpAmb: '1',
    verAplic: 'ensaio-1.0',
    dhEvento: '2026-10-06T09:00:00-03:00',
    dhProc: '2026-10-06T09:00:01-03:00',
    nDFSe: numero,
    autor,
    campos: campos ?? {},
  });
}

/** An event signed as `src/` does it; the text may have been changed before. */
export function eventoAssinado(unsigned: string, { signer }: Holder): Buffer {
  const { canonical, id } = signedPartOfEvento(unsigned);
  return Buffer.from(withEventoSignature(unsigned, signatureOf(canonical, id, signer)), 'utf8');
}

export function evento(ensaio: EventoDeEnsaio, holder: Holder): Buffer {
  return eventoAssinado(eventoSemAssinatura(ensaio), holder);
}

/** The content of a cancellation. */
export const CANCELAMENTO = {
  codigo: '101101',
  campos: { codigo_motivo_cancelamento: '1', descricao_motivo_cancelamento: 'Valor do serviço com erro na emissão' },
} as const;

/** The bytes of the file in which a simulator stores its documents. */
export function registroDe(dados: string): Promise<Buffer> {
  return readFile(path.join(dados, 'registro.log'));
}
