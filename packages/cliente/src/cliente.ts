/**
 * The client: each operation of the service as a typed function. `acompanhar.ts` waits until a note or an event changes
 * no more by itself.
 */
import { type Acompanhamento, acompanhar } from './acompanhar.ts';
import { type ClienteDoAmbiente, doAmbienteBy } from './ambiente.ts';
import { corpoDe, type Dps } from './corpo.ts';
import { AindaEmAndamento, NaoEntregue, Recusado } from './erros.ts';
import { conferirTempos } from './espera.ts';
import { ESPERA_S, perguntar } from './longas.ts';
import { type ClienteDaParte, daParteBy } from './parte.ts';
import {
  type Assinada,
  createPedidos,
  type Envio,
  type Interrompivel,
  type OpcoesDoCliente,
  type Pedidos,
} from './pedidos.ts';
import type { CodigoDaTabela, Consultas, Evento, Operacao, PedidoDeEvento, Respostas } from './tipos.ts';

export type NotaEmitida = {
  readonly chave_acesso: string;
  readonly numero_protocolo: string;
  /** A NFS-e como foi gerada; null quando a nota já existia de um envio com outra chave. */
  readonly xml_nfse: string | null;
  readonly avisos: Respostas['emitirNota']['avisos'];
  /** Se a resposta é de um envio de antes: nada foi emitido agora. */
  readonly repetida: boolean;
};

export type EventoRegistrado = Respostas['registrarEvento'] & {
  /** Se a resposta é de um envio de antes: nada foi registrado agora. */
  readonly repetida: boolean;
};

export type NotaEmRepouso = Respostas['consultarNota'] & {
  readonly situacao: 'autorizada' | 'cancelada' | 'rejeitada';
};

/** De que nota se fala em um evento: a chave de acesso, ou o número de protocolo. */
export type NotaNomeada = string | { readonly protocolo: string };

export type EventoNomeado = Pick<Evento, 'chave_acesso' | 'tipo_evento' | 'numero_sequencial'>;

type DoCatalogo<Nome> = Nome extends `catalogo_${infer Resto}` ? Resto : never;
export type NomeDeCatalogo = DoCatalogo<Operacao>;
export type PaginaDeCatalogo<Nome extends NomeDeCatalogo> = Respostas[`catalogo_${Nome}`];
export type ItemDeCatalogo<Nome extends NomeDeCatalogo> = PaginaDeCatalogo<Nome>['itens'][number];
export type FiltrosDeCatalogo<Nome extends NomeDeCatalogo> = Consultas[`catalogo_${Nome}`];

export type Cliente = ClienteDaParte &
  ClienteDoAmbiente & {
    /**
     * Emite a nota de uma DPS, e insiste até saber se emitiu: uma repetição nunca é uma segunda nota. Rejeita com `Recusado`,
     * `NaoEntregue` ou `Indeterminado`.
     */
    emitirNota(dps: Dps, envio?: Envio): Promise<NotaEmitida>;
    /** Ensaio: os valores com cada passo do cálculo, ou `Recusado` com todos os erros. Nada é gravado. */
    validarDps(dps: Dps, opcoes?: Interrompivel & Assinada): Promise<Respostas['validarDps']>;
    /** Diz se a produção aceitaria a assinatura, e o que mudar. */
    verificarAssinatura(dps: Dps, opcoes?: Interrompivel & Assinada): Promise<Respostas['verificarAssinatura']>;
    consultarNota(chave: string, opcoes?: Interrompivel): Promise<Respostas['consultarNota']>;
    consultarNotaPorProtocolo(
      protocolo: string,
      opcoes?: Interrompivel,
    ): Promise<Respostas['consultarNotaPorProtocolo']>;
    /** Pelo identificador da DPS ({@link identificadorDaDps}). Em produção, com o certificado de uma parte. */
    consultarNotaPorDps(id: string, opcoes?: Interrompivel): Promise<Respostas['consultarNotaPorDps']>;
    /** Se há nota da DPS; aberta também em produção. */
    existeNotaDaDps(id: string, opcoes?: Interrompivel): Promise<boolean>;
    /** Consulta até que a nota repouse: autorizada, cancelada ou rejeitada pelo ADN. */
    acompanharNota(chave: string, opcoes?: Acompanhamento<Respostas['consultarNota']>): Promise<NotaEmRepouso>;
    /**
     * Espera no próprio serviço, que responde quando a nota é decidida: como `acompanharNota`, sem perguntar de novo a cada momento.
     * `prazoMs`: como ali.
     */
    esperarDecisao(chave: string, opcoes?: Interrompivel & { readonly prazoMs?: number }): Promise<NotaEmRepouso>;
    /** Registra um evento, e insiste como `emitirNota`. */
    registrarEvento(
      nota: NotaNomeada,
      pedido: PedidoDeEvento | string | Uint8Array,
      envio?: Envio,
    ): Promise<EventoRegistrado>;
    listarEventos(chave: string, opcoes?: Interrompivel): Promise<Respostas['listarEventos']>;
    listarEventosDoTipo(
      chave: string,
      tipo: Evento['tipo_evento'],
      opcoes?: Interrompivel,
    ): Promise<Respostas['listarEventosDoTipo']>;
    consultarEvento(evento: EventoNomeado, opcoes?: Interrompivel): Promise<Evento>;
    /**
     * Consulta até que o evento repouse, ou que `acao_sugerida` diga que esperar não adianta (`consultar_suporte`). O que foi feito
     * dele diz `status_evento`.
     */
    acompanharEvento(evento: EventoNomeado, opcoes?: Acompanhamento<Evento>): Promise<Evento>;
    /** O PDF de uma nota autorizada. */
    baixarDanfse(chave: string, opcoes?: Interrompivel): Promise<Uint8Array>;
    /** Se um prestador pode emitir, e o que falta. Em produção, com o certificado dele. */
    consultarSituacaoDoPrestador(
      documento: string,
      opcoes?: Interrompivel & Consultas['consultarSituacaoDoPrestador'],
    ): Promise<Respostas['consultarSituacaoDoPrestador']>;
    /** Uma página de um catálogo. */
    catalogo<Nome extends NomeDeCatalogo>(
      nome: Nome,
      filtros?: FiltrosDeCatalogo<Nome>,
      opcoes?: Interrompivel,
    ): Promise<PaginaDeCatalogo<Nome>>;
    /** Todos os itens de um catálogo, página por página. */
    itensDoCatalogo<Nome extends NomeDeCatalogo>(
      nome: Nome,
      filtros?: Omit<FiltrosDeCatalogo<Nome>, 'page' | 'per_page'>,
      opcoes?: Interrompivel,
    ): AsyncIterableIterator<ItemDeCatalogo<Nome>>;
    /** O que significa um código e como resolver; undefined se o serviço não o conhece. A tabela é pedida uma vez. */
    explicar(codigo: string | undefined, opcoes?: Interrompivel): Promise<CodigoDaTabela | undefined>;
  };

/** Um cliente de um município. Rejeita logo um endereço ou um certificado que não serve. */
export function createCliente(opcoes: OpcoesDoCliente): Cliente {
  const pedidos = createPedidos(opcoes);
  return {
    ...notasBy(pedidos),
    ...eventosBy(pedidos),
    ...tabelasBy(pedidos),
    ...daParteBy(pedidos),
    ...doAmbienteBy(pedidos),
  };
}

type Alheios = keyof ClienteDaParte | keyof ClienteDoAmbiente;
type DeEventos = Extract<Exclude<keyof Cliente, Alheios>, `${string}Evento${string}`>;
type DeTabelas = 'consultarSituacaoDoPrestador' | 'catalogo' | 'itensDoCatalogo' | 'explicar';

function notasBy(pedidos: Pedidos): Omit<Cliente, DeEventos | DeTabelas | Alheios> {
  const { base, assinante, pedir, ler } = pedidos;
  return {
    emitirNota: async (dps, envio = {}) => {
      const corpo = corpoDe(dps, envio.assinatura, assinante);
      try {
        const asked = { corpo, envio, exige: 'chave_acesso', signal: envio.signal };
        const { json, cabecalhos } = await pedir('emitirNota', asked);
        const { chave_acesso, numero_protocolo, xml_nfse, avisos = [] } = json as Respostas['emitirNota'];
        return { chave_acesso, numero_protocolo, xml_nfse, avisos, repetida: isRepeated(cabecalhos) };
      } catch (error) {
        const already = findIssued(error);
        if (already === undefined) throw error;
        return already;
      }
    },
    validarDps: async (dps, { assinatura, ...own } = {}) =>
      ler('validarDps', { corpo: corpoDe(dps, assinatura, assinante), ...own }),
    verificarAssinatura: async (dps, { assinatura, ...own } = {}) =>
      ler('verificarAssinatura', { corpo: corpoDe(dps, assinatura, assinante), ...own }),
    consultarNota: (chave_acesso, own) => ler('consultarNota', { params: { chave_acesso }, ...own }),
    consultarNotaPorProtocolo: (numero_protocolo, own) =>
      ler('consultarNotaPorProtocolo', { params: { numero_protocolo }, ...own }),
    consultarNotaPorDps: (id, own) => ler('consultarNotaPorDps', { params: { id }, ...own }),
    existeNotaDaDps: async (id, own) => {
      const { status, cabecalhos } = await pedir('existeNotaDaDps', { params: { id }, aceita: [404], ...own });
      if (status === 404 && !cabecalhos.has('x-nfse-ambiente')) {
        const mensagem = `${base} não é de nenhum município atendido. Confira url e municipio.`;
        throw new NaoEntregue(mensagem, { operacao: 'existeNotaDaDps', tentativas: 1, status });
      }
      return status === 200;
    },
    acompanharNota: async (chave_acesso, own = {}) => {
      const atRest = await acompanhar<Respostas['consultarNota']>(
        {
          ler: async (signal) => {
            const asked = { params: { chave_acesso }, more: ONCE, signal };
            const { json, cabecalhos } = await pedir('consultarNota', asked);
            return { leitura: json as Respostas['consultarNota'], cabecalhos };
          },
          situacao: situacaoDaNota,
          repousa: (leitura) => situacaoDaNota(leitura) !== 'rascunho',
        },
        own,
      );
      return { ...atRest, situacao: situacaoDaNota(atRest) as NotaEmRepouso['situacao'] };
    },
    esperarDecisao: (chave_acesso, own = {}) => esperarDecisao(pedidos, chave_acesso, own),
    baixarDanfse: async (chave_acesso, own) =>
      (await pedir('baixarDanfse', { params: { chave_acesso }, gives: 'application/pdf', ...own })).corpo,
  };
}

function eventosBy({ assinante, pedir, ler }: Pedidos): Pick<Cliente, DeEventos> {
  return {
    registrarEvento: async (nota, pedido, envio = {}) => {
      const corpo = corpoDe(comNota(pedido, nota), envio.assinatura, assinante);
      if (corpo.tipo !== 'json') throw new TypeError('Um evento se registra com um corpo JSON.');
      const asked = { corpo, envio, exige: 'chave_acesso', signal: envio.signal };
      const { json, cabecalhos } = await (typeof nota === 'string'
        ? pedir('registrarEvento', { params: { chave_acesso: nota }, ...asked })
        : pedir('registrarEventoPorProtocolo', { params: { numero_protocolo: nota.protocolo }, ...asked }));
      return { ...(json as Respostas['registrarEvento']), repetida: isRepeated(cabecalhos) };
    },
    listarEventos: (chave_acesso, own) => ler('listarEventos', { params: { chave_acesso }, ...own }),
    listarEventosDoTipo: (chave_acesso, tipo_evento, own) =>
      ler('listarEventosDoTipo', { params: { chave_acesso, tipo_evento }, ...own }),
    consultarEvento: async (evento, own) => (await ler('consultarEvento', { params: paramsOf(evento), ...own })).evento,
    acompanharEvento: (evento, own = {}) =>
      acompanhar<Evento>(
        {
          ler: async (signal) => {
            const asked = { params: paramsOf(evento), more: ONCE, signal };
            const { json, cabecalhos } = await pedir('consultarEvento', asked);
            return { leitura: (json as Respostas['consultarEvento']).evento, cabecalhos };
          },
          situacao: ({ status_evento }) => status_evento,
          repousa: ({ acao_sugerida }) => acao_sugerida !== 'aguardar' && acao_sugerida !== 'retentar',
        },
        own,
      ),
  };
}

function tabelasBy({ ler }: Pedidos): Pick<Cliente, DeTabelas> {
  let codes: ReadonlyMap<string, CodigoDaTabela> | undefined;
  const catalogo: Cliente['catalogo'] = async (nome, filtros, { signal } = {}) =>
    ler(`catalogo_${nome}`, { query: filtros, signal });
  return {
    consultarSituacaoDoPrestador: (documento, { signal, ...query } = {}) =>
      ler('consultarSituacaoDoPrestador', { params: { documento }, query, signal }),
    catalogo,
    itensDoCatalogo: async function* <Nome extends NomeDeCatalogo>(
      nome: Nome,
      filtros?: Omit<FiltrosDeCatalogo<Nome>, 'page' | 'per_page'>,
      own?: Interrompivel,
    ) {
      const paged = nome === 'motivos_evento' ? {} : { per_page: PAGE_MAX };
      for (let page = 1, last = 1; page <= last; page += 1) {
        const asked = { ...filtros, ...paged, ...(page === 1 ? {} : { page }) } as FiltrosDeCatalogo<Nome>;
        const answer = await catalogo(nome, asked, own);
        yield* answer.itens as readonly ItemDeCatalogo<Nome>[];
        last = 'paginacao' in answer ? answer.paginacao.total_paginas : 1;
      }
    },
    explicar: async (codigo, own) => {
      if (codigo === undefined) return undefined;
      codes ??= new Map((await ler('tabelaDeErros', own)).map((row) => [row.codigo, row]));
      return codes.get(codigo);
    },
  };
}

/** The largest page that the service gives. */
const PAGE_MAX = 100;

/** The client polls the note anyway, so a single attempt is enough. */
const ONCE = { tentativas: 1 } as const;

/** An object names its note, so that its signature is valid for that note alone; text and bytes are sent unchanged. */
function comNota(pedido: object | string, nota: NotaNomeada): object | string {
  if (typeof pedido === 'string' || pedido instanceof Uint8Array) return pedido;
  return { ...(typeof nota === 'string' ? { chave_acesso: nota } : { numero_protocolo: nota.protocolo }), ...pedido };
}

function isRepeated(cabecalhos: Headers): boolean {
  return cabecalhos.get('x-nfse-repetida') === 'true';
}

/** The note of a DPS issued before, when a refusal reports the same content. */
function findIssued(error: unknown): NotaEmitida | undefined {
  if (!(error instanceof Recusado)) return undefined;
  const [erro] = error.erros;
  const { codigo, mesmo_conteudo, chave_acesso, numero_protocolo } = erro ?? {};
  if (codigo !== 'E0014' || mesmo_conteudo !== true || chave_acesso === undefined || numero_protocolo === undefined) {
    return undefined;
  }
  return { chave_acesso, numero_protocolo, xml_nfse: null, avisos: [], repetida: true };
}

/** The note of a refused protocol stays a draft; its outcome is the refusal. */
function situacaoDaNota({ nota, protocolo }: Respostas['consultarNota']): NotaEmRepouso['situacao'] | 'rascunho' {
  return protocolo.status === 'rejeitado' ? 'rejeitada' : nota.status;
}

const DECISAO_PRAZO_MS = 5 * 60_000;

async function esperarDecisao(
  pedidos: Pedidos,
  chave_acesso: string,
  { signal, prazoMs = DECISAO_PRAZO_MS }: Interrompivel & { readonly prazoMs?: number },
): Promise<NotaEmRepouso> {
  conferirTempos({ prazoMs });
  const end = performance.now() + prazoMs;
  let ultima: Respostas['consultarNota'] | undefined;
  const leituras = perguntar(pedidos, {
    operacao: 'consultarNota',
    esperaS: () => Math.min(ESPERA_S.usual, Math.max(0, Math.ceil((end - performance.now()) / 1_000))),
    ler: (espera, more) => pedidos.ler('consultarNota', { params: { chave_acesso }, query: { espera }, more, signal }),
    isEmpty: (leitura) => situacaoDaNota(leitura) === 'rascunho',
    end,
    signal,
  });
  for await (const leitura of leituras) {
    ultima = leitura;
    const situacao = situacaoDaNota(leitura);
    if (situacao !== 'rascunho') return { ...leitura, situacao };
  }
  throw new AindaEmAndamento(`A nota não foi decidida em ${prazoMs} ms. Consulte mais tarde.`, ultima);
}

function paramsOf({ chave_acesso, tipo_evento, numero_sequencial }: EventoNomeado): Readonly<Record<string, string>> {
  return { chave_acesso, tipo_evento, num_seq_evento: String(numero_sequencial) };
}

/** De que DPS se fala, pelo que está nela. */
export type PartesDaDps = {
  /** Município emissor, 7 dígitos. */
  readonly municipio: string;
  /** CNPJ ou CPF do prestador, sem pontuação. */
  readonly documento: string;
  readonly serie: string;
  readonly numero: string | number;
};

/** O identificador de uma DPS, com que se pergunta se há nota dela. */
export function identificadorDaDps({ municipio, documento, serie, numero }: PartesDaDps): string {
  const kind = documento.length === 11 ? '1' : '2';
  return `DPS${municipio}${kind}${documento.padStart(14, '0')}${serie.padStart(5, '0')}${String(numero).padStart(15, '0')}`;
}
