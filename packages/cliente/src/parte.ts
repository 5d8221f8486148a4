/**
 * The operations of one party: its tokens, its notes and events, their changes, and its webhook addresses. The token of
 * the client identifies the party, or else its certificate.
 */
import { randomUUID } from 'node:crypto';
import { assinarCms } from './assinatura.ts';
import { type Corpo, corpoJson } from './corpo.ts';
import { Recusado } from './erros.ts';
import { ESPERA_S, perguntar } from './longas.ts';
import type { Interrompivel, Pedidos } from './pedidos.ts';
import type { Consultas, Envios, Evento, Exportacao, Mudanca, NotaListada, Respostas } from './tipos.ts';

/** Em nome de quem: sem `documento`, o do token ou do certificado. */
export type DaParte = Interrompivel & { readonly documento?: string };

type Ambiente = NonNullable<Envios['pedirToken']['ambiente']>;

/** De que token se fala, e onde. */
type Assinavel = {
  /** CNPJ ou CPF, com ou sem pontuação. */
  readonly documento: string;
  /** O do município (padrão: `homologacao` em `integracao` e em `ensaio-xxxxxx`, `producao` nos outros). Em homologação não se assina. */
  readonly ambiente?: Ambiente;
};

export type PedidoDeToken = Assinavel & Pick<Envios['pedirToken'], 'escopos' | 'validade_dias'>;

export type TokenNomeado = Assinavel & { readonly id: string };

/** Como se segue o que muda. */
export type Seguimento = DaParte & {
  /** O cursor guardado; `agora`: só o que vier depois; sem ele, tudo o que ainda se conta. */
  readonly desde?: string | undefined;
  /** Segundos que cada pergunta espera no serviço, de 1 a 55 (padrão: 50). */
  readonly esperaS?: number;
  /** Mudanças por resposta (padrão: 1000). */
  readonly limite?: number;
  /**
   * O cursor depois de cada resposta, quando tudo o que veio nela já foi tratado, e também quando nada veio. Guarde-o: um cursor parado
   * por muito tempo deixa de servir.
   */
  readonly aoAvancar?: (cursor: string) => void | Promise<void>;
};

type PorPagina = 'limite' | 'contar';

export type ClienteDaParte = {
  /**
   * Pede um token; só esta resposta o mostra. Com `certificado`, o pedido vai assinado. Se uma resposta se perde, o cliente pede outro, e o
   * perdido fica na lista até vencer.
   */
  pedirToken(pedido: PedidoDeToken, opcoes?: Interrompivel): Promise<Respostas['pedirToken']>;
  /** Os tokens em vigor de um documento, sem o segredo deles. */
  listarTokens(de: Assinavel, opcoes?: Interrompivel): Promise<Respostas['listarTokens']['tokens']>;
  revogarToken(token: TokenNomeado, opcoes?: Interrompivel): Promise<Respostas['revogarToken']>;
  /** Uma página das notas em que o documento é prestador, tomador ou intermediário. */
  listarNotas(filtros?: Consultas['listarNotas'], opcoes?: Interrompivel): Promise<Respostas['listarNotas']>;
  /** Todas elas, página por página. */
  todasAsNotas(
    filtros?: Omit<Consultas['listarNotas'], PorPagina>,
    opcoes?: Interrompivel,
  ): AsyncIterableIterator<NotaListada>;
  /** Uma página dos eventos das notas do documento. */
  listarEventosDaParte(
    filtros?: Consultas['listarEventosDaParte'],
    opcoes?: Interrompivel,
  ): Promise<Respostas['listarEventosDaParte']>;
  /** Todos eles, página por página. */
  todosOsEventos(
    filtros?: Omit<Consultas['listarEventosDaParte'], PorPagina>,
    opcoes?: Interrompivel,
  ): AsyncIterableIterator<Evento>;
  /**
   * Pede as notas num arquivo: `xml` e `pdf` são um ZIP, `csv` uma tabela, com os filtros da lista. Faz-se uma de cada vez por documento.
   * Se a resposta se perde, o cliente pede outra.
   */
  pedirExportacao(pedido: Envios['pedirExportacao'], opcoes?: DaParte): Promise<Exportacao>;
  /** Em que estado está: `em_andamento`, `pronta` ou `falhou`, com o `motivo`. */
  consultarExportacao(id: string, opcoes?: DaParte): Promise<Exportacao>;
  /** O arquivo, inteiro na memória. Se ainda não está pronto, o cliente insiste como em toda chamada. */
  baixarExportacao(id: string, opcoes?: DaParte): Promise<Uint8Array>;
  /** Uma resposta de `mudancas`, com o cursor depois dela. */
  seguirMudancas(consulta?: Consultas['seguirMudancas'], opcoes?: Interrompivel): Promise<Respostas['seguirMudancas']>;
  /**
   * O que muda, sem fim, uma mudança de cada vez, cada uma com o `cursor` de quem já a tratou. Espera no serviço e aguenta que ele saia do
   * ar. Quem guarda o cursor depois de tratar não perde nenhuma mudança nem trata uma duas vezes. Acaba com `signal`, ou com `Recusado`: o
   * token venceu, ou o cursor não serve mais.
   */
  mudancas(seguimento?: Seguimento): AsyncIterableIterator<Mudanca & { readonly cursor: string }>;
  /** Cadastra um endereço; só esta resposta mostra o segredo. Sem resposta rejeita com `SemResposta`, e não repete. */
  cadastrarWebhook(dados: Envios['cadastrarWebhook'], opcoes?: DaParte): Promise<Respostas['cadastrarWebhook']>;
  listarWebhooks(opcoes?: DaParte): Promise<Respostas['listarWebhooks']['webhooks']>;
  consultarWebhook(id: string, opcoes?: DaParte): Promise<Respostas['consultarWebhook']>;
  /** Muda só o que se envia. */
  alterarWebhook(
    id: string,
    dados: Envios['alterarWebhook'],
    opcoes?: DaParte,
  ): Promise<Respostas['alterarWebhook']['webhook']>;
  retirarWebhook(id: string, opcoes?: DaParte): Promise<void>;
  /** Troca o segredo; por um tempo os avisos vão com os dois. Sem resposta rejeita com `SemResposta`, e não repete. */
  trocarSegredo(id: string, opcoes?: DaParte): Promise<Respostas['trocarSegredoDoWebhook']>;
  /** Pede um aviso de ensaio. */
  ensaiarWebhook(id: string, opcoes?: DaParte): Promise<void>;
  /** Uma página do que se avisou e se tenta avisar. */
  entregas(
    id: string,
    filtros?: Consultas['listarEntregas'],
    opcoes?: Interrompivel,
  ): Promise<Respostas['listarEntregas']>;
  /** Volta a tentar o que se deixou de tentar: todas as entregas mortas, ou uma; quantas são. */
  reenviar(id: string, opcoes?: DaParte & { readonly entrega?: string }): Promise<number>;
};

export function daParteBy(pedidos: Pedidos): ClienteDaParte {
  return { ...tokensBy(pedidos), ...listasBy(pedidos), ...exportacoesBy(pedidos), ...webhooksBy(pedidos) };
}

type DeTokens = Extract<keyof ClienteDaParte, `${string}Token${string}`>;
type DeExportacoes = Extract<keyof ClienteDaParte, `${string}Exportacao`>;
type DeListas =
  | 'listarNotas'
  | 'todasAsNotas'
  | 'listarEventosDaParte'
  | 'todosOsEventos'
  | 'seguirMudancas'
  | 'mudancas';

function tokensBy({ municipio, assinante, ler }: Pedidos): Pick<ClienteDaParte, DeTokens> {
  const usual: Ambiente = /^(?:integracao|ensaio-[a-z0-9]{6})$/.test(municipio) ? 'homologacao' : 'producao';
  /** A signed request names its recipient and is valid once: every attempt makes another one. */
  const montar =
    (acao: Envios['pedirToken']['acao'], { ambiente = usual, ...campos }: Assinavel) =>
    (): Corpo => {
      if (assinante === undefined || ambiente !== 'producao') return corpoJson(campos);
      const emitido_em = new Date(Date.now()).toISOString();
      const corpo = corpoJson({ ...campos, acao, municipio, ambiente, emitido_em, pedido: randomUUID() });
      return { ...corpo, assinatura: assinarCms(corpo.bytes, assinante) };
    };
  return {
    pedirToken: (pedido, own) => ler('pedirToken', { montar: montar('criar', pedido), exige: 'token', ...own }),
    listarTokens: async (de, own) => (await ler('listarTokens', { montar: montar('listar', de), ...own })).tokens,
    revogarToken: (token, own) => ler('revogarToken', { montar: montar('revogar', token), ...own }),
  };
}

function listasBy(pedidos: Pedidos): Pick<ClienteDaParte, DeListas> {
  const { ler } = pedidos;
  return {
    listarNotas: (query, own) => ler('listarNotas', { query, ...own }),
    todasAsNotas: (filtros, own) =>
      eachOf(filtros?.cursor, async (cursor) => {
        const query = { ...filtros, cursor, limite: PAGE_MAX };
        const { notas, cursor: seguinte } = await ler('listarNotas', { query, ...own });
        return { itens: notas, seguinte };
      }),
    listarEventosDaParte: (query, own) => ler('listarEventosDaParte', { query, ...own }),
    todosOsEventos: (filtros, own) =>
      eachOf(filtros?.cursor, async (cursor) => {
        const query = { ...filtros, cursor, limite: PAGE_MAX };
        const { eventos, cursor: seguinte } = await ler('listarEventosDaParte', { query, ...own });
        return { itens: eventos, seguinte };
      }),
    seguirMudancas: (query, own) => ler('seguirMudancas', { query, ...own }),
    mudancas: (seguimento = {}) => mudancas(pedidos, seguimento),
  };
}

/** The largest page that the service gives. */
const PAGE_MAX = 100;

/** Pages may be empty before the last one. */
async function* eachOf<Item>(
  from: string | undefined,
  read: (cursor: string | undefined) => Promise<{ readonly itens: readonly Item[]; readonly seguinte: string | null }>,
): AsyncGenerator<Item, void> {
  for (let cursor: string | null | undefined = from; cursor !== null; ) {
    const { itens, seguinte } = await read(cursor);
    yield* itens;
    cursor = seguinte;
  }
}

const MUDANCAS_USUAL = 1_000;

async function* mudancas(
  pedidos: Pedidos,
  { desde, documento, esperaS = ESPERA_S.usual, limite = MUDANCAS_USUAL, aoAvancar, signal }: Seguimento,
): AsyncGenerator<Mudanca & { readonly cursor: string }, void> {
  if (!Number.isInteger(esperaS) || esperaS < 1 || esperaS > ESPERA_S.maxima) {
    throw new TypeError(`esperaS são segundos, de 1 a ${ESPERA_S.maxima}.`);
  }
  let cursor = desde;
  const leituras = perguntar(pedidos, {
    operacao: 'seguirMudancas',
    esperaS: () => esperaS,
    ler: (espera, more) =>
      pedidos.ler('seguirMudancas', {
        query: { documento, desde: cursor, limite, espera },
        exige: 'cursor',
        more,
        signal,
      }),
    isEmpty: (leitura) => leitura.mudancas.length === 0,
    signal,
  });
  for await (const leitura of leituras) {
    // A party receives each change with its cursor.
    yield* leitura.mudancas as readonly (Mudanca & { readonly cursor: string })[];
    cursor = leitura.cursor;
    await aoAvancar?.(cursor);
  }
}

/** The service allows a file of 2 GiB, and the directory of the ZIP comes on top. */
const ARQUIVO_BYTES_MAX = 3 * 1024 ** 3;
/** A file takes longer to transfer than an answer. */
const ARQUIVO_MS = 600_000;

function exportacoesBy({ pedir, ler, insistencia }: Pedidos): Pick<ClienteDaParte, DeExportacoes> {
  const more = {
    tempoLimiteMs: Math.max(insistencia.tempoLimiteMs, ARQUIVO_MS),
    prazoMs: Math.max(insistencia.prazoMs, ARQUIVO_MS),
  };
  const one = (id_exportacao: string, { documento, signal }: DaParte = {}) => ({
    params: { id_exportacao },
    query: { documento },
    signal,
  });
  return {
    pedirExportacao: async (pedido, { documento, signal } = {}) =>
      (await ler('pedirExportacao', { corpo: corpoJson(pedido), query: { documento }, signal })).exportacao,
    consultarExportacao: async (id, own) => (await ler('consultarExportacao', one(id, own))).exportacao,
    baixarExportacao: async (id, own) => {
      const gives = 'application/zip, text/csv';
      return (await pedir('baixarExportacao', { ...one(id, own), gives, respostaMax: ARQUIVO_BYTES_MAX, more })).corpo;
    },
  };
}

function webhooksBy({ ler }: Pedidos): Omit<ClienteDaParte, DeTokens | DeListas | DeExportacoes> {
  const one = (id_webhook: string, { documento, signal }: DaParte = {}) => ({
    params: { id_webhook },
    query: { documento },
    signal,
  });
  return {
    cadastrarWebhook: (dados, { documento, signal } = {}) =>
      ler('cadastrarWebhook', { corpo: corpoJson(dados), query: { documento }, isOnce: true, signal }),
    listarWebhooks: async ({ documento, signal } = {}) =>
      (await ler('listarWebhooks', { query: { documento }, signal })).webhooks,
    consultarWebhook: (id, own) => ler('consultarWebhook', one(id, own)),
    alterarWebhook: async (id, dados, own) =>
      (await ler('alterarWebhook', { corpo: corpoJson(dados), ...one(id, own) })).webhook,
    retirarWebhook: async (id, own) => {
      try {
        await ler('retirarWebhook', one(id, own));
      } catch (error) {
        // An earlier attempt removed the address, and its answer was lost.
        if (!(error instanceof Recusado) || error.status !== 404 || error.tentativas === 1) throw error;
      }
    },
    trocarSegredo: (id, own) => ler('trocarSegredoDoWebhook', { isOnce: true, ...one(id, own) }),
    ensaiarWebhook: async (id, own) => void (await ler('ensaiarWebhook', one(id, own))),
    entregas: (id, query, own) => ler('listarEntregas', { params: { id_webhook: id }, query, ...own }),
    reenviar: async (id, { entrega, ...own } = {}) => {
      const asked = one(id, own);
      return (await ler('reenviarEntregas', { ...asked, query: { ...asked.query, entrega } })).reenviadas;
    },
  };
}
