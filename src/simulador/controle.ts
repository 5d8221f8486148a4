/**
 * The control address: plain HTTP on this machine only. A test or a person sets faults and refusals there, and reads the stored documents.
 * It is no part of the ADN.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import type { FaceDoAdn } from './adn.ts';
import { type Estado, newContagens } from './estado.ts';
import { changeConfiguracao, SEM_FALTAS } from './faltas.ts';
import { bodyOf, closeServer, listen, send } from './http.ts';
import { recusasOf } from './recusas.ts';
import type { EventoGuardado, Guardado, Place, Registro } from './registro.ts';

/** An `import` of node:http would load the undici inside Node, which its exports name. */
const { createServer } = process.getBuiltinModule('node:http');

export const CONTROL_HOST = '127.0.0.1';
const BODY_MAX_BYTES = 1_000_000;
const PAGE_DEFAULT = 100;
const PAGE_MAX = 10_000;

type World = { readonly estado: Estado; readonly adn: FaceDoAdn };

type Answer = { readonly status: number; readonly body: object } | { readonly xml: Buffer };

/** `part`: the value in the place of the braces of the address. */
type Request = { readonly url: URL; readonly part: string; readonly body: unknown };

type Route = {
  /** The help shows it; method and path are derived from it. */
  readonly endereco: string;
  /** The meaning in Portuguese, for the help. */
  readonly significado: string;
  run(world: World, request: Request): Answer | Promise<Answer>;
};

const ROUTES: readonly Route[] = [
  {
    endereco: 'GET /estado',
    significado: 'o que está em vigor e o que já se recebeu',
    run: (world) => answerOk(describeEstado(world)),
  },
  {
    endereco: 'GET /documentos?depois=N&limite=N',
    significado: 'as notas guardadas, em ordem',
    run: ({ estado: { registro } }, { url }) =>
      answerPage(registro, url, ({ depois, limite }) => {
        return { total: registro.total, documentos: registro.emOrdem(depois, limite).map(showDocumento) };
      }),
  },
  {
    endereco: 'GET /documentos/{chave}',
    significado: 'uma nota, em XML',
    run: ({ estado: { registro } }, { part }) =>
      answerXml(registro, registro.documentoDe(part), 'Não há documento com esta chave.'),
  },
  {
    endereco: 'GET /eventos?depois=N&limite=N',
    significado: 'os eventos guardados, em ordem',
    run: ({ estado: { registro } }, { url }) =>
      answerPage(registro, url, ({ depois, limite }) => {
        return { total: registro.totalDeEventos, eventos: registro.eventosEmOrdem(depois, limite).map(showEvento) };
      }),
  },
  {
    endereco: 'GET /eventos/{Id}',
    significado: 'um evento, em XML',
    run: ({ estado: { registro } }, { part }) =>
      answerXml(registro, registro.eventoDe(part), 'Não há evento com este Id.'),
  },
  {
    endereco: 'PUT /faltas',
    significado: 'muda as que indica: {"atraso":0.1,"html":0}; {"fora_do_ar":true} tira o ADN do ar, e false o traz',
    run: setFaltas,
  },
  {
    endereco: 'PUT /recusas',
    significado:
      'põe esta lista no lugar da anterior: [{"codigo":"E1289","parte":0.1},{"codigo":"E0840","tipo":"101101"}]',
    run: setRecusas,
  },
  {
    endereco: 'POST /limpar?so=NOMES',
    significado: 'esquece o que se nomeia (documentos, faltas, recusas, contagens), ou tudo',
    run: clear,
  },
];

/** The allowed values for the braces. */
const PARTS: Readonly<Record<string, string>> = { '{chave}': '([0-9A-Z]{50})', '{Id}': '(EVT[0-9A-Z]{59})' };

/** The routes by a pattern of method and path. */
const PATTERNS = ROUTES.map((route) => {
  const [address = ''] = route.endereco.split('?');
  return { route, pattern: new RegExp(`^${address.replace(/\{\w+\}/, (name) => PARTS[name]!)}$`) };
});

/** Every address of the control with its effect, for the help. */
export const AJUDA_DE_CONTROLE = ROUTES.map(({ endereco, significado }) => [endereco, significado] as const);

export async function abrirControle(world: World, port: number) {
  const server = createServer((req, res) => {
    void answerTo(world, req)
      .catch((error: unknown) => {
        world.estado.log.error({ err: error }, 'pedido que o controle não soube atender');
        return refuseRequest(500, 'Erro interno do simulador; veja o registro dele.');
      })
      .then((answer) => write(res, answer));
  });
  await listen(server, port, CONTROL_HOST);
  return {
    address: `http://${CONTROL_HOST}:${(server.address() as AddressInfo).port}`,
    close: () => closeServer(server),
  };
}

async function answerTo(world: World, req: IncomingMessage): Promise<Answer> {
  // A page in a browser could reach this address under a name of its own.
  if (!/^(?:127\.0\.0\.1|localhost)(?::\d+)?$/.test(req.headers.host ?? '')) {
    return refuseRequest(403, 'O controle só atende por 127.0.0.1 ou localhost.');
  }
  const url = new URL(req.url ?? '/', 'http://controle');
  const asked = `${req.method} ${url.pathname}`;
  const found = PATTERNS.find(({ pattern }) => pattern.test(asked));
  if (found === undefined) {
    const known = ROUTES.map(({ endereco }) => endereco).join(', ');
    return refuseRequest(404, `Este endereço não existe. Existem: ${known}.`);
  }
  const sent = await bodyOf(req, BODY_MAX_BYTES);
  if (typeof sent === 'string') return refuseRequest(413, `O corpo passa de ${BODY_MAX_BYTES} bytes.`);
  let body: unknown;
  try {
    body = sent.length === 0 ? undefined : JSON.parse(sent.toString('utf8'));
  } catch {
    return refuseRequest(400, 'O corpo não é JSON.');
  }
  return found.route.run(world, { url, part: found.pattern.exec(asked)![1] ?? '', body });
}

function write(res: ServerResponse, answer: Answer): void {
  if ('xml' in answer) send(res, 200, 'application/xml', answer.xml);
  else send(res, answer.status, 'application/json', `${JSON.stringify(answer.body)}\n`);
}

function answerOk(body: object): Answer {
  return { status: 200, body };
}

function refuseRequest(status: number, erro: string): Answer {
  return { status, body: { erro } };
}

function describeEstado({ estado, adn }: World): object {
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
    ultimos_rastros: estado.rastros,
    desde_o_inicio: {
      ...contagens,
      erros: Object.fromEntries(contagens.erros),
      faltas: Object.fromEntries(contagens.faltas),
    },
  };
}

function showDocumento({ ordem, chave, nsu, cnpj, idDps, sha256, em }: Guardado): object {
  return { ordem, chave, nsu, cnpj, id_dps: idDps, sha256, em: new Date(em).toISOString() };
}

function showEvento({ em, at: _at, bytes: _bytes, ...evento }: EventoGuardado): object {
  return { ...evento, em: new Date(em).toISOString() };
}

async function answerXml(registro: Registro, held: Place | undefined, missing: string): Promise<Answer> {
  await registro.onDisk();
  return held === undefined ? refuseRequest(404, missing) : { xml: gunzipSync(registro.gzipOf(held)) };
}

type Page = { readonly depois: number; readonly limite: number };

async function answerPage({ onDisk }: Registro, { searchParams }: URL, read: (page: Page) => object): Promise<Answer> {
  const depois = integerOf(searchParams.get('depois'), 0, Number.MAX_SAFE_INTEGER);
  const limite = integerOf(searchParams.get('limite'), PAGE_DEFAULT, PAGE_MAX);
  if (depois === undefined || limite === undefined) {
    return refuseRequest(400, `depois e limite pedem inteiros; limite vai até ${PAGE_MAX}.`);
  }
  await onDisk();
  return answerOk(read({ depois, limite }));
}

function integerOf(text: string | null, missing: number, max: number): number | undefined {
  if (text === null) return missing;
  return /^\d{1,16}$/.test(text) && Number(text) <= max ? Number(text) : undefined;
}

/** Changes the faults and settings that the body names; the others stay. A seed restarts its sequence. */
async function setFaltas({ estado, adn }: World, { body }: Request): Promise<Answer> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    return refuseRequest(400, 'O corpo deve ser um objeto, como {"atraso":0.1,"fora_do_ar":false}.');
  }
  const { fora_do_ar, ...changes } = body as Record<string, unknown>;
  if (fora_do_ar !== undefined && typeof fora_do_ar !== 'boolean') {
    return refuseRequest(400, 'fora_do_ar deve ser true ou false.');
  }
  const next = changeConfiguracao(estado.configuracao, changes);
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
  return answerOk(describeEstado({ estado, adn }));
}

/** Replaces the list of refusals. */
function setRecusas({ estado, adn }: World, { body }: Request): Answer {
  const recusas = recusasOf(body);
  if ('problema' in recusas) return refuseRequest(400, recusas.problema);
  estado.recusas = recusas;
  return answerOk(describeEstado({ estado, adn }));
}

const CLEARABLE = ['documentos', 'faltas', 'recusas', 'contagens'] as const;

/** Empties the part that the address names, or everything. */
async function clear({ estado, adn }: World, { url }: Request): Promise<Answer> {
  const only = url.searchParams.get('so')?.split(',') ?? [...CLEARABLE];
  const strange = only.find((one) => !CLEARABLE.includes(one as never));
  if (strange !== undefined) return refuseRequest(400, `so=${strange} não existe. Há: ${CLEARABLE.join(', ')}.`);
  if (only.includes('documentos')) await estado.registro.limpar();
  if (only.includes('faltas')) {
    estado.configuracao = { ...SEM_FALTAS, semente: estado.configuracao.semente };
    estado.numero = 0;
    estado.desconhecidas.clear();
    await adn.voltar();
  }
  if (only.includes('recusas')) estado.recusas = [];
  if (only.includes('contagens')) estado.contagens = newContagens();
  return answerOk(describeEstado({ estado, adn }));
}
