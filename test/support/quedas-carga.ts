/**
 * Clients that never stop, written as integrators should write theirs. Each repeats one request until it is answered; after a 503 or no
 * answer it uses the other service. The answers are kept for the comparison.
 */
import { hash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { cnpjsOf, signedDps } from '../../bench/documents.ts';
import { signCms } from '../../src/documents/cms-sign.ts';
import { type ChainedSigner, loadSigner } from '../../src/documents/key-files.ts';
import { exampleXml } from '../../src/fiscal/rules/example.ts';
import { CANCELAMENTO } from './eventos.ts';
import { type Palco, PROVIDERS, SLUG } from './quedas-processos.ts';
import { call, first, loteXml, porProtocolo } from './rps.ts';

export const SANDBOX = 'integracao';
/** The series of the lots in the sandbox, and the number of RPS of each lot. */
export const SERIE_DOS_LOTES = '9';
export const RPS_POR_LOTE = 2;
/** Providers in the sandbox that send only DPS without a number. */
export const SEM_NUMERO = cnpjsOf(PROVIDERS + 2).slice(PROVIDERS);

/** The time after which no answer is expected any more. */
const NEVER_MS = 180_000;
const WAIT_MAX_MS = 1_000;
const PAUSE_MS = { producao: 200, integracao: 250, cancelamento: 400, lote: 1_500, pergunta: 100 } as const;
const CHUNK = 24;

export type NotaRespondida = {
  readonly tenant: string;
  readonly chave: string;
  /** Undefined if the answer said that the note exists; such an answer has only its key. */
  readonly protocolo: string | undefined;
  /** SHA-256 of the sent bytes, and of the `infNFSe` of the answer. */
  readonly enviado: string;
  readonly gerado: string | undefined;
  /** The index of the provider on the stage. */
  readonly prestador: number;
};

export type EventoRespondido = { readonly chave: string; readonly id: string; readonly sequencial: number };

/** One request that ended; status 0: its connection broke, or none was made. `what`: its path, or the operation that it called. */
export type Tentativa = {
  readonly what: string;
  readonly began: number;
  readonly ended: number;
  readonly status: number;
};

export type Carga = {
  readonly notas: readonly NotaRespondida[];
  readonly eventos: readonly EventoRespondido[];
  /** Protocol numbers of the lots. */
  readonly lotes: readonly string[];
  /** Attempts since the last call. */
  takeTentativas(): readonly Tentativa[];
  readonly tentativas: () => readonly Tentativa[];
  /** Answers that are forbidden, and required answers that did not come. */
  readonly violations: readonly string[];
  /** Repeats the request until there is an answer. */
  ask(path: string, init?: RequestInit): Promise<Told>;
  /** Begins no request during some work; requests under way go on. */
  restDuring<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Ends when every request has been answered. */
  stop(): Promise<void>;
  /** Ends at once, with requests unanswered. */
  abandon(): void;
};

// biome-ignore lint/suspicious/noExplicitAny: looked at field by field
type Told = { readonly status: number; readonly body: any; readonly isRepeated: boolean };

const INF_NFSE = /<infNFSe [\s\S]*<\/infNFSe>/;

/** SHA-256 of the part of an NFS-e that the ADN's authorisation leaves as it is. */
export function geradoOf(xml: string): string | undefined {
  const part = INF_NFSE.exec(xml)?.[0];
  return part === undefined ? undefined : hash('sha256', part);
}

/** The document of an answer, or all of it if there is none. */
async function soap(address: string, operation: string, xml: string): Promise<Response> {
  const { status, body, documento, retryAfter } = await call(address, operation, xml);
  return new Response(status === 200 ? documento : body, { status, headers: { 'Retry-After': retryAfter } });
}

export async function startCarga(
  { services, stage }: Pick<Palco, 'services' | 'stage'>,
  chance: () => number,
): Promise<Carga> {
  const providers = stage.pki.prestadores.slice(0, PROVIDERS);
  const signers = await Promise.all(providers.map(({ certificado, chave }) => loadSigner({ certificado, chave })));
  const notas: NotaRespondida[] = [];
  const eventos: EventoRespondido[] = [];
  const lotes: string[] = [];
  const violations: string[] = [];
  let tentativas: Tentativa[] = [];
  let isStopped = false;
  let isAbandoned = false;
  let resting: PromiseWithResolvers<void> | undefined;
  let turns = 0;

  /** The final answer of a service; the clients alternate between the two services for the first try. */
  const insist = async (what: string, send: (address: string) => Promise<Response>): Promise<Told> => {
    turns += 1;
    for (let turn = turns; ; turn += 1) {
      if (isAbandoned) throw new Error('abandoned');
      const began = performance.now();
      const end = (status: number): void => void tentativas.push({ what, began, ended: performance.now(), status });
      try {
        const response = await send(services[turn % 2]!);
        const text = await response.text();
        end(response.status);
        if (response.status === 503 || response.status === 429) {
          const seconds = Number(response.headers.get('retry-after'));
          if (!(seconds > 0)) violations.push(`${what}: ${response.status} without Retry-After: ${text}`);
          await pause(Math.min(seconds * 1_000 || 0, WAIT_MAX_MS));
          continue;
        }
        if (response.status >= 500) violations.push(`${what}: HTTP ${response.status} ${text}`);
        const isJson = response.headers.get('content-type')?.startsWith('application/json');
        const isRepeated = response.headers.get('x-nfse-repetida') === 'true';
        return { status: response.status, body: isJson ? JSON.parse(text) : text, isRepeated };
      } catch (error) {
        end(0);
        if ((error as Error).name === 'TimeoutError') violations.push(`${what}: no answer in ${NEVER_MS} ms`);
        await pause(50);
      }
    }
  };
  const ask = (path: string, init: RequestInit = {}): Promise<Told> =>
    insist(path, (address) => fetch(address + path, { ...init, signal: AbortSignal.timeout(NEVER_MS) }));
  const post = (
    path: string,
    type: string,
    body: Uint8Array | string,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Told> =>
    ask(path, { method: 'POST', headers: { 'Content-Type': type, ...headers }, body: body as Uint8Array<ArrayBuffer> });
  const keep = (tenant: string, sent: Uint8Array, { body }: Told, prestador: number): void => {
    const { chave_acesso, numero_protocolo, xml_nfse } = body;
    const enviado = hash('sha256', sent);
    notas.push({
      tenant,
      chave: chave_acesso,
      protocolo: numero_protocolo,
      enviado,
      gerado: geradoOf(xml_nfse),
      prestador,
    });
  };
  const wrong = (what: string, { status, body }: Told): void => {
    if (status < 500) violations.push(`${what}: HTTP ${status} ${JSON.stringify(body)}`);
  };
  const forever = async (ms: number, step: () => Promise<void>): Promise<void> => {
    while (!isStopped) {
      await resting?.promise;
      await step();
      await pause(ms * (0.5 + chance()));
    }
  };

  let chunk: Buffer[] = [];
  let number = 0;
  const template = exampleXml({ tpAmb: '1', serie: '1', nDPS: '1' });
  const issue = async (): Promise<void> => {
    if (chunk.length === 0) chunk = signedDps(template, providers, number + 1, CHUNK).toReversed();
    const document = chunk.pop()!;
    number += 1;
    const prestador = number % PROVIDERS;
    const told = await post(`/${SLUG}/api/v1/nfse/v101`, 'application/xml', document);
    const [known] = told.body.erros ?? [];
    if (told.status === 201) keep(SLUG, document, told, prestador);
    else if (known?.codigo === 'E0014' && known.mesmo_conteudo === true) {
      const enviado = hash('sha256', document);
      notas.push({
        tenant: SLUG,
        chave: known.chave_acesso,
        protocolo: undefined,
        enviado,
        gerado: undefined,
        prestador,
      });
    } else wrong('a numbered DPS', told);
  };

  let keys = 0;
  const issueUnnumbered = async (): Promise<void> => {
    keys += 1;
    const key = { 'Idempotency-Key': `nota-${keys}` };
    const body = Buffer.from(exampleXml({ 'prest/CNPJ': SEM_NUMERO[keys % SEM_NUMERO.length]! }));
    const path = `/${SANDBOX}/api/v1/nfse/v101`;
    const told = await post(path, 'application/xml', body, key);
    if (told.status !== 201) return wrong('a DPS without number', told);
    keep(SANDBOX, body, told, -1);
    if (chance() > 0.25) return;
    const again = await post(path, 'application/xml', body, key);
    if (!again.isRepeated || again.body.chave_acesso !== told.body.chave_acesso) {
      violations.push(`the key of ${told.body.chave_acesso} was answered with ${again.body.chave_acesso}`);
    }
  };

  let candidate = 0;
  const cancel = async (): Promise<void> => {
    const nota = notas[candidate];
    if (nota === undefined) return;
    candidate += 1;
    if (nota.tenant !== SLUG) return;
    const { body: found } = await ask(`/${SLUG}/api/v1/nfse/${nota.chave}`);
    if (found.nota?.status !== 'autorizada') return;
    const body = Buffer.from(JSON.stringify({ chave_acesso: nota.chave, ...CANCELAMENTO }));
    const told = await post(`/${SLUG}/api/v1/nfse/${nota.chave}/eventos`, 'application/json', body, {
      'X-Evento-Assinatura': signCms(body, signers[nota.prestador] as ChainedSigner).toString('base64'),
      'Idempotency-Key': `cancela-${nota.chave}`,
    });
    if (told.status !== 201) return wrong('a cancellation', told);
    const { id_evento, numero_sequencial } = told.body;
    eventos.push({ chave: nota.chave, id: String(id_evento), sequencial: numero_sequencial });
  };

  let sent = 0;
  const sendLot = async (): Promise<void> => {
    sent += 1;
    const numero = String(sent);
    const list = Array.from({ length: RPS_POR_LOTE }, (_, place) => ({
      numero: RPS_POR_LOTE * Number(numero) + place,
      serie: SERIE_DOS_LOTES,
    }));
    const xml = loteXml(list, { numero });
    const told = await insist('a lot', (address) => soap(address, 'RecepcionarLoteRps', xml));
    const protocolo = told.status === 200 ? first(told.body, 'Protocolo') : undefined;
    if (protocolo === undefined) wrong('a lot', { ...told, status: 422 });
    else lotes.push(protocolo);
  };

  /** Other requests during the failures; only errors are reported here. */
  let asked = 0;
  const question = async (): Promise<void> => {
    const nota = notas[Math.floor(chance() * notas.length)];
    const protocolo = lotes[Math.floor(chance() * lotes.length)];
    if (nota === undefined || protocolo === undefined) return;
    asked += 1;
    const { tenant, chave } = nota;
    const questions = [
      `/${tenant}/api/v1/nfse/${chave}/eventos`,
      `/${tenant}/api/v1/danfse/${chave}`,
      `/${tenant}/api/v1/nfse/protocolo/${nota.protocolo}`,
      `/${SANDBOX}/api/v1/prestadores/${SEM_NUMERO[0]}/situacao`,
      `/${SANDBOX}/api/v1/catalogo/codigos_tributacao_municipal`,
    ].map((path) => () => ask(path));
    const others = [
      () => post(`/${SANDBOX}/api/v1/nfse/v101/validacao`, 'application/xml', template),
      () =>
        insist('a look at a lot', (address) =>
          soap(address, 'ConsultarLoteRps', porProtocolo('ConsultarLoteRpsEnvio', protocolo)),
        ),
    ];
    const all = [...questions, ...others];
    await all[asked % all.length]!();
  };

  const clients = [
    ...Array.from({ length: 4 }, () => forever(PAUSE_MS.producao, issue)),
    ...Array.from({ length: 2 }, () => forever(PAUSE_MS.integracao, issueUnnumbered)),
    forever(PAUSE_MS.cancelamento, cancel),
    forever(PAUSE_MS.lote, sendLot),
    forever(PAUSE_MS.pergunta, question),
  ];
  const ended = Promise.all(clients).catch((error: unknown) => violations.push(`a client ended: ${error}`));
  return {
    notas,
    eventos,
    lotes,
    violations,
    tentativas: () => tentativas,
    takeTentativas: () => {
      const taken = tentativas;
      tentativas = [];
      return taken;
    },
    ask,
    restDuring: async (work) => {
      resting = Promise.withResolvers();
      try {
        return await work();
      } finally {
        resting.resolve();
        resting = undefined;
      }
    },
    stop: async () => {
      isStopped = true;
      await ended;
    },
    abandon: () => {
      isStopped = true;
      isAbandoned = true;
    },
  };
}
