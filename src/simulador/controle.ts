/**
 * The control address: plain HTTP on this machine alone, where a test or a person sets faults and refusals and reads
 * what the simulator holds. It is no part of the ADN.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import type { FaceDoAdn } from './adn.ts';
import { type Estado, novasContagens } from './estado.ts';
import { configurada, SEM_FALTAS } from './faltas.ts';
import { recusasOf } from './recusas.ts';
import type { EventoGuardado, Guardado } from './registro.ts';

export const CONTROL_HOST = '127.0.0.1';
const BODY_MAX_BYTES = 1_000_000;
const PAGE_DEFAULT = 100;
const PAGE_MAX = 10_000;

export type Controle = { readonly address: string; close(): Promise<void> };

type World = { readonly estado: Estado; readonly adn: FaceDoAdn };

type Answer = { readonly status: number; readonly body: object } | { readonly xml: Buffer };

type Route = {
  readonly method: string;
  readonly path: RegExp;
  readonly shown: string;
  /** In Portuguese, for the help. */
  readonly significado: string;
  run(world: World, request: { url: URL; part: string; body: unknown }): Answer | Promise<Answer>;
};

const ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: /^\/estado$/,
    shown: 'GET /estado',
    significado: 'o que está em vigor e o que já se recebeu',
    run: (world) => ok(estadoOf(world)),
  },
  {
    method: 'GET',
    path: /^\/documentos$/,
    shown: 'GET /documentos?depois=N&limite=N',
    significado: 'as notas guardadas, em ordem',
    run: documentos,
  },
  {
    method: 'GET',
    path: /^\/documentos\/([0-9A-Z]{50})$/,
    shown: 'GET /documentos/{chave}',
    significado: 'uma nota, em XML',
    run: documento,
  },
  {
    method: 'GET',
    path: /^\/eventos$/,
    shown: 'GET /eventos?depois=N&limite=N',
    significado: 'os eventos guardados, em ordem',
    run: eventos,
  },
  {
    method: 'GET',
    path: /^\/eventos\/(EVT[0-9A-Z]{59})$/,
    shown: 'GET /eventos/{Id}',
    significado: 'um evento, em XML',
    run: evento,
  },
  {
    method: 'PUT',
    path: /^\/faltas$/,
    shown: 'PUT /faltas',
    significado: 'muda as que indica: {"atraso":0.1,"html":0}; {"fora_do_ar":true} tira o ADN do ar, e false o traz',
    run: setFaltas,
  },
  {
    method: 'PUT',
    path: /^\/recusas$/,
    shown: 'PUT /recusas',
    significado:
      'põe esta lista no lugar da anterior: [{"codigo":"E1289","parte":0.1},{"codigo":"E0840","tipo":"101101"}]',
    run: setRecusas,
  },
  {
    method: 'POST',
    path: /^\/limpar$/,
    shown: 'POST /limpar?so=NOMES',
    significado: 'esquece o que se nomeia (documentos, faltas, recusas, contagens), ou tudo',
    run: limpar,
  },
];

/** For the help: every address of the control, with what it does. */
export const AJUDA_DE_CONTROLE = ROUTES.map(({ shown, significado }) => [shown, significado] as const);

export async function abrirControle(world: World, port: number): Promise<Controle> {
  const server = createServer((req, res) => {
    handle(world, req, res).catch((error: unknown) => {
      world.estado.log.error({ err: error }, 'pedido que o controle não soube atender');
      if (res.headersSent) res.destroy();
      else send(res, refuseRequest(500, 'Erro interno do simulador; veja o registro dele.'));
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, CONTROL_HOST, resolve);
  });
  return {
    address: `http://${CONTROL_HOST}:${(server.address() as AddressInfo).port}`,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

async function handle(world: World, req: IncomingMessage, res: ServerResponse): Promise<void> {
  // A page in a browser could reach this address under a name of its own.
  if (!/^(?:127\.0\.0\.1|localhost)(?::\d+)?$/.test(req.headers.host ?? '')) {
    return send(res, refuseRequest(403, 'O controle só atende por 127.0.0.1 ou localhost.'));
  }
  const url = new URL(req.url ?? '/', 'http://controle');
  const route = ROUTES.find(({ method, path }) => method === req.method && path.test(url.pathname));
  if (route === undefined) {
    return send(
      res,
      refuseRequest(404, `Este endereço não existe. Existem: ${ROUTES.map(({ shown }) => shown).join(', ')}.`),
    );
  }
  const text = await textOf(req);
  if (text === undefined) return send(res, refuseRequest(413, `O corpo passa de ${BODY_MAX_BYTES} bytes.`));
  let body: unknown;
  try {
    body = text === '' ? undefined : JSON.parse(text);
  } catch {
    return send(res, refuseRequest(400, 'O corpo não é JSON.'));
  }
  send(res, await route.run(world, { url, part: route.path.exec(url.pathname)?.[1] ?? '', body }));
}

async function textOf(req: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of req as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > BODY_MAX_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function send(res: ServerResponse, answer: Answer): void {
  if ('xml' in answer) res.writeHead(200, { 'Content-Type': 'application/xml' }).end(answer.xml);
  else res.writeHead(answer.status, { 'Content-Type': 'application/json' }).end(`${JSON.stringify(answer.body)}\n`);
}

function ok(body: object): Answer {
  return { status: 200, body };
}

function refuseRequest(status: number, erro: string): Answer {
  return { status, body: { erro } };
}

function estadoOf({ estado, adn }: World): object {
  const { registro, configuracao, recusas, contagens, numero } = estado;
  return {
    endereco: adn.address,
    fora_do_ar: adn.foraDoAr,
    semente: configuracao.semente,
    pedidos_desde_a_semente: numero,
    faltas: configuracao.partes,
    ajustes: configuracao.ajustes,
    recusas,
    documentos: registro.total,
    eventos: registro.totalDeEventos,
    eventos_em_dobro: registro.eventosEmDobro(),
    municipios: registro.municipios(),
    repetidos_iguais: registro.repeticoes.mesmo_documento,
    repetidos_diferentes: registro.repeticoes.outro_documento,
    eventos_repetidos_iguais: registro.repeticoesDeEventos.mesmo_documento,
    eventos_repetidos_diferentes: registro.repeticoesDeEventos.outro_documento,
    ultimas_repeticoes: registro.ultimasRepeticoes().map((one) => ({ ...one, em: new Date(one.em).toISOString() })),
    dps_com_mais_de_uma_chave: registro.dpsRepetidas(),
    desde_o_inicio: {
      ...contagens,
      erros: Object.fromEntries(contagens.erros),
      faltas: Object.fromEntries(contagens.faltas),
    },
  };
}

async function documentos({ estado }: World, { url }: { url: URL }): Promise<Answer> {
  const page = pageOf(url);
  if ('status' in page) return page;
  await estado.registro.onDisk();
  const found = estado.registro.emOrdem(page.depois, page.limite);
  return ok({ total: estado.registro.total, documentos: found.map(showDocumento) });
}

function showDocumento({ ordem, chave, nsu, cnpj, idDps, sha256, em }: Guardado): object {
  return { ordem, chave, nsu, cnpj, id_dps: idDps, sha256, em: new Date(em).toISOString() };
}

async function documento({ estado: { registro } }: World, { part }: { part: string }): Promise<Answer> {
  await registro.onDisk();
  const held = registro.documentoDe(part);
  return held === undefined
    ? refuseRequest(404, 'Não há documento com esta chave.')
    : { xml: gunzipSync(registro.gzipOf(held)) };
}

async function eventos({ estado: { registro } }: World, { url }: { url: URL }): Promise<Answer> {
  const page = pageOf(url);
  if ('status' in page) return page;
  await registro.onDisk();
  const found = registro.eventosEmOrdem(page.depois, page.limite);
  return ok({ total: registro.totalDeEventos, eventos: found.map(showEvento) });
}

function showEvento({ em, at: _at, bytes: _bytes, ...evento }: EventoGuardado): object {
  return { ...evento, em: new Date(em).toISOString() };
}

async function evento({ estado: { registro } }: World, { part }: { part: string }): Promise<Answer> {
  await registro.onDisk();
  const held = registro.eventoDe(part);
  return held === undefined
    ? refuseRequest(404, 'Não há evento com este Id.')
    : { xml: gunzipSync(registro.gzipOf(held)) };
}

function pageOf(url: URL): { readonly depois: number; readonly limite: number } | Extract<Answer, { status: number }> {
  const depois = integerOf(url.searchParams.get('depois'), 0, Number.MAX_SAFE_INTEGER);
  const limite = integerOf(url.searchParams.get('limite'), PAGE_DEFAULT, PAGE_MAX);
  if (depois !== undefined && limite !== undefined) return { depois, limite };
  return { status: 400, body: { erro: `depois e limite pedem inteiros; limite vai até ${PAGE_MAX}.` } };
}

function integerOf(text: string | null, missing: number, max: number): number | undefined {
  if (text === null) return missing;
  return /^\d{1,16}$/.test(text) && Number(text) <= max ? Number(text) : undefined;
}

/** What is named is changed, the rest stays. A seed begins its sequence again. */
async function setFaltas({ estado, adn }: World, { body }: { body: unknown }): Promise<Answer> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    return refuseRequest(400, 'O corpo deve ser um objeto, como {"atraso":0.1,"fora_do_ar":false}.');
  }
  const { fora_do_ar, ...changes } = body as Record<string, unknown>;
  if (fora_do_ar !== undefined && typeof fora_do_ar !== 'boolean') {
    return refuseRequest(400, 'fora_do_ar deve ser true ou false.');
  }
  const next = configurada(estado.configuracao, changes);
  if ('problema' in next) return refuseRequest(400, next.problema);
  if (fora_do_ar === true) await adn.sair();
  if (fora_do_ar === false) {
    try {
      await adn.voltar();
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      return refuseRequest(409, `Não foi possível voltar a ${adn.address} (${code}); outro programa tomou a porta?`);
    }
  }
  estado.configuracao = next;
  if ('semente' in changes) estado.numero = 0;
  if ('nota_desconhecida' in changes) estado.desconhecidas.clear();
  return ok(estadoOf({ estado, adn }));
}

/** The list replaces the one before. */
function setRecusas({ estado, adn }: World, { body }: { body: unknown }): Answer {
  const recusas = recusasOf(body);
  if ('problema' in recusas) return refuseRequest(400, recusas.problema);
  estado.recusas = recusas;
  return ok(estadoOf({ estado, adn }));
}

const CLEARED = ['documentos', 'faltas', 'recusas', 'contagens'] as const;

/** Forgets what is named, or everything. */
async function limpar({ estado, adn }: World, { url }: { url: URL }): Promise<Answer> {
  const only = url.searchParams.get('so')?.split(',') ?? [...CLEARED];
  const strange = only.find((one) => !CLEARED.includes(one as never));
  if (strange !== undefined) return refuseRequest(400, `so=${strange} não existe. Há: ${CLEARED.join(', ')}.`);
  if (only.includes('documentos')) await estado.registro.limpar();
  if (only.includes('faltas')) {
    estado.configuracao = { ...SEM_FALTAS, semente: estado.configuracao.semente };
    estado.numero = 0;
    estado.desconhecidas.clear();
    await adn.voltar();
  }
  if (only.includes('recusas')) estado.recusas = [];
  if (only.includes('contagens')) estado.contagens = novasContagens();
  return ok(estadoOf({ estado, adn }));
}
