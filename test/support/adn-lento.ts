/**
 * An ADN for load tests, in a process of its own. It accepts every note without validating it, after a set delay, and returns the accepted
 * notes page by page. The simulator validates each document, which costs more than the code under measurement.
 *
 * {@link adnLento} starts it with its settings as JSON. It prints its port, and its counts for each line on its standard input.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { DISTRIBUTION_PATH, RECEPTION_PATH } from '../../src/adn/wire.ts';
import { onEnd } from './cleanup.ts';

export type AjustesDoAdn = {
  /** PEM texts. `clientes`: the authorities whose certificates may connect. */
  readonly key: string;
  readonly cert: string;
  readonly clientes: string;
  /** Delay before each answer, in milliseconds. */
  readonly atraso_ms: number;
  readonly porPagina: number;
};

/** `repetidas`: notes that came again after they were accepted. `ausentes`: answers that a key does not exist. */
export type Contagens = {
  readonly envios: number;
  readonly consultas: number;
  readonly porChave: number;
  readonly notas: number;
  readonly repetidas: number;
};

export type AdnLento = {
  readonly address: string;
  contagens(): Promise<Contagens>;
  /** The mode from now on: answers; accepts notes without an answer; loses notes before it reads them; lists nothing. */
  modo(modo: 'responde' | 'perde_resposta' | 'perde_pedido' | 'nao_lista'): Promise<Contagens>;
  /** Adds so many documents of other parties after those that it holds. */
  avanca(documentos: number): Promise<Contagens>;
};

/** Starts one, which ends with the test file. */
export async function adnLento(ajustes: AjustesDoAdn): Promise<AdnLento> {
  const child: ChildProcess = spawn(process.execPath, [import.meta.filename, JSON.stringify(ajustes)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onEnd(() => child.kill());
  const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
  const next = async () => JSON.parse((await lines.next()).value ?? '');
  const { port } = await next();
  const say = async (line: string): Promise<Contagens> => {
    child.stdin!.write(`${line}\n`);
    return next();
  };
  return {
    address: `https://127.0.0.1:${port}`,
    contagens: () => say(''),
    modo: say,
    avanca: (count) => say(String(count)),
  };
}

if (import.meta.main) serve(JSON.parse(process.argv[2]!) as AjustesDoAdn);

function serve({ key, cert, clientes, atraso_ms, porPagina }: AjustesDoAdn): void {
  const order = new Map<number, { readonly chave: string; readonly arquivo: string }>();
  const held = new Set<string>();
  let last = 0;
  const counts = { envios: 0, consultas: 0, porChave: 0, notas: 0, repetidas: 0 };
  let modo = 'responde';
  const head = { Alertas: [], TipoAmbiente: 'HOMOLOGACAO', VersaoAplicativo: 'lento', DataHoraProcessamento: '' };
  const take = (arquivo: string) => {
    const chave = /Id="NFS([0-9A-Z]{50})"/.exec(gunzipSync(Buffer.from(arquivo, 'base64')).toString())![1]!;
    if (held.has(chave)) {
      counts.repetidas += 1;
      return { ChaveAcesso: chave, NsuRecepcao: null, Erros: [{ Codigo: 'E1268', Descricao: 'já existe' }] };
    }
    last += 1;
    order.set(last, { chave, arquivo });
    held.add(chave);
    counts.notas += 1;
    return { ChaveAcesso: chave, NsuRecepcao: String(last), Erros: [] };
  };
  const page = (after: number) => {
    const LoteDFe: object[] = [];
    for (let nsu = after + 1; LoteDFe.length < porPagina && nsu <= last; nsu += 1) {
      const own = order.get(nsu);
      const chave = own?.chave ?? String(nsu).padStart(50, '9');
      LoteDFe.push({
        NSU: nsu,
        ChaveAcesso: chave,
        TipoDocumento: 'NFSE',
        TipoEvento: null,
        ArquivoXml: own?.arquivo ?? '',
      });
    }
    return LoteDFe;
  };
  const server = createServer({ key, cert, ca: clientes, requestCert: true }, async (req, res) => {
    const json = (status: number, body: object): void => {
      res.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify({ ...head, ...body }));
    };
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    await sleep(atraso_ms);
    const url = new URL(req.url!, 'https://adn');
    if (url.pathname === RECEPTION_PATH) {
      counts.envios += 1;
      if (modo === 'perde_pedido') return void req.socket.destroy();
      const { LoteXmlGZipB64 } = JSON.parse(Buffer.concat(chunks).toString()) as { LoteXmlGZipB64: string[] };
      const Lote = LoteXmlGZipB64.map(take);
      return modo === 'perde_resposta' ? void req.socket.destroy() : json(201, { Lote });
    }
    if (url.pathname.startsWith(DISTRIBUTION_PATH)) {
      counts.consultas += 1;
      if (modo === 'nao_lista') return json(503, {});
      const LoteDFe = page(Number(url.pathname.slice(DISTRIBUTION_PATH.length)));
      if (LoteDFe.length > 0) return json(200, { StatusProcessamento: 'DOCUMENTOS_LOCALIZADOS', LoteDFe, Erros: [] });
      const Erros = [{ Codigo: 'E2070', Descricao: 'nada depois' }];
      return json(404, { StatusProcessamento: 'NENHUM_DOCUMENTO_LOCALIZADO', LoteDFe, Erros });
    }
    counts.porChave += 1;
    if (modo === 'nao_lista') return json(503, {});
    const isThere = held.has(url.pathname.split('/')[3]!);
    const Erros = isThere ? [] : [{ Codigo: 'E2060', Descricao: 'chave não encontrada' }];
    return json(404, { StatusProcessamento: 'NENHUM_DOCUMENTO_LOCALIZADO', LoteDFe: [], Erros });
  });
  server.keepAliveTimeout = 65_000;
  const say = (value: object): void => void process.stdout.write(`${JSON.stringify(value)}\n`);
  server.listen(0, '127.0.0.1', () => say({ port: (server.address() as AddressInfo).port }));
  createInterface({ input: process.stdin }).on('line', (line) => {
    if (/^\d+$/.test(line)) last += Number(line);
    else if (line !== '') modo = line;
    say(counts);
  });
}
