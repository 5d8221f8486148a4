/**
 * The client: each operation of the service as a function with its types. What is done with an answer that did not come is told in
 * `chamada.ts`, how one waits in `acompanhar.ts`; here it is decided what is sent where.
 */
import { randomUUID } from 'node:crypto';
import { type Acompanhamento, acompanhar } from './acompanhar.ts';
import { type Certificado, lerCertificado } from './certificado.ts';
import { type AvisoDeRepeticao, type Chamada, chamar, type Insistencia, type Respondida } from './chamada.ts';
import { type Corpo, corpoDe, type Dps } from './corpo.ts';
import { NaoEntregue, Recusado } from './erros.ts';
import { conferirTempos } from './espera.ts';
import {
  type CodigoDaTabela,
  type Consultas,
  type Evento,
  OPERACOES,
  type Operacao,
  type PedidoDeEvento,
  type Respostas,
} from './tipos.ts';
import { porFetch, porTls, type Transporte } from './transporte.ts';

export type OpcoesDoCliente = {
  /** Endereço do serviço, sem o município: https://nfse.exemplo.gov.br. */
  readonly url: string;
  /** Primeiro segmento dos endereços; `integracao` é o ambiente de integração. */
  readonly municipio: string;
  /** Com ele o cliente assina o que envia, e se mostra nas consultas que em produção são de uma parte só. */
  readonly certificado?: Certificado;
  /** Autoridades do servidor, em PEM, no lugar das do sistema. */
  readonly ca?: string;
  /** No lugar da `fetch` da plataforma; então `ca` e o certificado da conexão são assunto dela. */
  readonly fetch?: typeof fetch;
  /** Quanto se insiste em uma chamada (padrão: 6 tentativas em 2 minutos, cada uma de até 30 segundos). */
  readonly insistencia?: Partial<Insistencia>;
  /** Antes de cada repetição, para o seu log. */
  readonly aoRepetir?: (aviso: AvisoDeRepeticao) => void;
};

const INSISTENCIA: Insistencia = {
  tentativas: 6,
  prazoMs: 120_000,
  tempoLimiteMs: 30_000,
  primeiraEsperaMs: 1_000,
  esperaMaximaMs: 60_000,
  semConexao: true,
};

export type Interrompivel = { readonly signal?: AbortSignal };

/** Do que assina um corpo JSON de antemão. */
export type Assinada = {
  /** O valor do cabeçalho, quando o corpo já foi assinado por outro. */
  readonly assinatura?: string | undefined;
};

export type Envio = Interrompivel &
  Assinada & {
    /** A `Idempotency-Key`: sem ela o cliente faz uma. Grave-a antes de enviar, e a use em toda repetição. */
    readonly chave?: string;
    /** Só na integração: o que o ADN deve ensaiar, como `adn:rejeita=E1234`. */
    readonly simular?: string | undefined;
  };

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

export type Cliente = {
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
  consultarNotaPorProtocolo(protocolo: string, opcoes?: Interrompivel): Promise<Respostas['consultarNotaPorProtocolo']>;
  /** Pelo identificador da DPS ({@link identificadorDaDps}). Em produção, com o certificado de uma parte. */
  consultarNotaPorDps(id: string, opcoes?: Interrompivel): Promise<Respostas['consultarNotaPorDps']>;
  /** Se há nota da DPS; aberta também em produção. */
  existeNotaDaDps(id: string, opcoes?: Interrompivel): Promise<boolean>;
  /** Consulta até que a nota repouse: autorizada, cancelada ou rejeitada pelo ADN. */
  acompanharNota(chave: string, opcoes?: Acompanhamento<Respostas['consultarNota']>): Promise<NotaEmRepouso>;
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
  const raiz = rootOf(opcoes.url);
  const base = `${raiz}/${segment('municipio', opcoes.municipio)}`;
  const assinante = opcoes.certificado && lerCertificado(opcoes.certificado);
  const insistencia = insistenciaOf(opcoes.insistencia);
  const aoRepetir = opcoes.aoRepetir ?? (() => undefined);
  const [plain, shown] = transportes(opcoes, assinante);

  type Asked<Op extends Operacao> = Interrompivel & {
    readonly params?: Readonly<Record<string, string>>;
    readonly query?: object | undefined;
    readonly corpo?: Corpo;
    readonly envio?: Envio;
    readonly aceita?: readonly number[];
    readonly gives?: Op extends 'baixarDanfse' ? string : never;
    readonly exige?: string;
    readonly more?: Partial<Insistencia>;
  };

  async function pedir<Op extends Operacao>(operacao: Op, asked: Asked<Op> = {}): Promise<Respondida> {
    const { params = {}, query = {}, corpo, envio = {}, aceita, gives, exige, signal, more } = asked;
    const { caminho, ...facts } = OPERACOES[operacao];
    const path = caminho.replace(/\{(\w+)\}/g, (_, name: string) => segment(name, params[name]));
    const isRepeatable = 'repetivel' in facts;
    const chave = envio.chave ?? randomUUID();
    // At its ends a header loses its blanks, and the key would be another one.
    if (chave === '' || chave.length > KEY_MAX || chave !== chave.trim()) {
      throw new TypeError(`chave tem de 1 a ${KEY_MAX} caracteres, sem espaço no começo nem no fim.`);
    }
    const signatureHeader = operacao.startsWith('registrar') ? 'X-Evento-Assinatura' : 'X-DPS-Assinatura';
    const chamada: Chamada = {
      operacao,
      url: `${'foraDoMunicipio' in facts ? raiz : base}${path}${searchOf(query)}`,
      cabecalhos: {
        Accept: gives ?? 'application/json',
        ...(corpo && { 'Content-Type': `application/${corpo.tipo}` }),
        ...(corpo?.assinatura !== undefined && { [signatureHeader]: corpo.assinatura }),
        ...(isRepeatable && { 'Idempotency-Key': chave }),
        ...(envio.simular !== undefined && { 'X-NFSe-Simular': envio.simular }),
      },
      ...(corpo && { corpo: corpo.bytes }),
      ...(isRepeatable && { repeticao: { chave, assinatura: corpo?.assinatura } }),
      ...(aceita && { aceita }),
      ...(exige !== undefined && { exige }),
      isJson: gives === undefined && facts.metodo !== 'HEAD',
      signal,
    };
    // What is no header would fail while it is sent, and look like a broken line.
    for (const [name, value] of Object.entries(chamada.cabecalhos)) {
      if (!/^[ -~]*$/.test(value)) throw new TypeError(`${name} só leva caracteres ASCII.`);
    }
    return chamar('certificado' in facts ? shown : plain, chamada, { ...insistencia, ...more }, aoRepetir);
  }

  /** The body of an answer. */
  async function ler<Op extends Operacao>(operacao: Op, asked?: Asked<Op>): Promise<Respostas[Op]> {
    return (await pedir(operacao, asked)).json as Respostas[Op];
  }

  async function catalogo<Nome extends NomeDeCatalogo>(
    nome: Nome,
    filtros?: FiltrosDeCatalogo<Nome>,
    { signal }: Interrompivel = {},
  ): Promise<PaginaDeCatalogo<Nome>> {
    return ler(`catalogo_${nome}`, { query: filtros, ...given({ signal }) });
  }

  let codes: ReadonlyMap<string, CodigoDaTabela> | undefined;

  return {
    emitirNota: async (dps, envio = {}) => {
      const corpo = corpoDe(dps, envio.assinatura, assinante);
      try {
        const { json, cabecalhos } = await pedir('emitirNota', {
          corpo,
          envio,
          exige: 'chave_acesso',
          ...given(envio),
        });
        const { chave_acesso, numero_protocolo, xml_nfse, avisos = [] } = json as Respostas['emitirNota'];
        return { chave_acesso, numero_protocolo, xml_nfse, avisos, repetida: isRepeated(cabecalhos) };
      } catch (error) {
        const already = existing(error);
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
      const rests = await acompanhar<Respostas['consultarNota']>(
        {
          ler: async (signal) => {
            const { json, cabecalhos } = await pedir('consultarNota', {
              params: { chave_acesso },
              ...ONCE,
              ...given({ signal }),
            });
            return { leitura: json as Respostas['consultarNota'], cabecalhos };
          },
          situacao: situacaoDaNota,
          repousa: (leitura) => situacaoDaNota(leitura) !== 'rascunho',
        },
        own,
      );
      return { ...rests, situacao: situacaoDaNota(rests) as NotaEmRepouso['situacao'] };
    },
    registrarEvento: async (nota, pedido, envio = {}) => {
      const corpo = corpoDe(comNota(pedido, nota), envio.assinatura, assinante);
      if (corpo.tipo !== 'json') throw new TypeError('Um evento se registra com um corpo JSON.');
      const asked = { corpo, envio, exige: 'chave_acesso', ...given(envio) };
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
            const { json, cabecalhos } = await pedir('consultarEvento', {
              params: paramsOf(evento),
              ...ONCE,
              ...given({ signal }),
            });
            return { leitura: (json as Respostas['consultarEvento']).evento, cabecalhos };
          },
          situacao: ({ status_evento }) => status_evento,
          repousa: ({ acao_sugerida }) => acao_sugerida !== 'aguardar' && acao_sugerida !== 'retentar',
        },
        own,
      ),
    baixarDanfse: async (chave_acesso, own) =>
      (await pedir('baixarDanfse', { params: { chave_acesso }, gives: 'application/pdf', ...own })).corpo,
    consultarSituacaoDoPrestador: (documento, { signal, ...query } = {}) =>
      ler('consultarSituacaoDoPrestador', { params: { documento }, query, ...given({ signal }) }),
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

/** Of the service, in characters. */
const KEY_MAX = 255;

/** As many items as a page may have. */
const PAGE_MAX = 100;

/** Who follows asks again anyway. */
const ONCE = { more: { tentativas: 1 } } as const;

function rootOf(url: string): string {
  if (!/^https?:\/\/./.test(url) || !URL.canParse(url)) {
    throw new TypeError(`url ${url} não é um endereço. Exemplo: https://nfse.exemplo.gov.br`);
  }
  const { username, password, search, hash } = new URL(url);
  // Nor is it repeated: it may hold a password.
  if (username + password + search + hash !== '') {
    throw new TypeError('url vai sem usuário, senha, ? nem #. Exemplo: https://nfse.exemplo.gov.br');
  }
  return url.replace(/\/+$/, '');
}

/** One segment of an address: what is nothing, or points elsewhere, would be the address of something else. */
function segment(name: string, value: string | undefined): string {
  if (typeof value !== 'string' || /^\.{0,2}$/.test(value)) throw new TypeError(`${name} não foi informado.`);
  return encodeURIComponent(value);
}

/** What is left undefined is as usual. */
function insistenciaOf(own: OpcoesDoCliente['insistencia'] = {}): Insistencia {
  const said = Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined));
  const whole = { ...INSISTENCIA, ...said };
  const { tentativas, semConexao: _, ...tempos } = whole;
  conferirTempos(tempos);
  if (!(tentativas >= 1)) throw new TypeError('tentativas é um número, a partir de 1.');
  return whole;
}

/** One for all, and one that shows the certificate to whom it is for. */
function transportes(
  { url, fetch: own, ca, certificado }: OpcoesDoCliente,
  assinante: ReturnType<typeof lerCertificado> | undefined,
): readonly [Transporte, Transporte] {
  const isTls = own === undefined && url.startsWith('https:');
  const plain = isTls && ca !== undefined ? porTls({ ca, cert: undefined, key: undefined }) : porFetch(own ?? fetch);
  if (!isTls || certificado === undefined || assinante === undefined) return [plain, plain];
  const cert = [assinante.certificado, ...assinante.cadeia].map(String).join('');
  const key = assinante.chave.export({ type: 'pkcs8', format: 'pem' }) as string;
  return [plain, porTls({ ca, cert, key })];
}

function searchOf(query: object): string {
  const pairs = Object.entries(query).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, String(value)]],
  );
  return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs)}`;
}

/** The signal, where there is one. */
function given({ signal }: { readonly signal?: AbortSignal | undefined }): Interrompivel {
  return signal === undefined ? {} : { signal };
}

/** An object says its note, so that what is signed for one serves on no other; text and bytes go as they are. */
function comNota(pedido: object | string, nota: NotaNomeada): object | string {
  if (typeof pedido === 'string' || pedido instanceof Uint8Array) return pedido;
  return { ...(typeof nota === 'string' ? { chave_acesso: nota } : { numero_protocolo: nota.protocolo }), ...pedido };
}

function isRepeated(cabecalhos: Headers): boolean {
  return cabecalhos.get('x-nfse-repetida') === 'true';
}

/** A refusal that says that this very DPS was issued before is the answer to who asks for its note. */
function existing(error: unknown): NotaEmitida | undefined {
  if (!(error instanceof Recusado)) return undefined;
  const [erro] = error.erros;
  const { codigo, mesmo_conteudo, chave_acesso, numero_protocolo } = erro ?? {};
  if (codigo !== 'E0014' || mesmo_conteudo !== true || chave_acesso === undefined || numero_protocolo === undefined) {
    return undefined;
  }
  return { chave_acesso, numero_protocolo, xml_nfse: null, avisos: [], repetida: true };
}

/** The note of a refused protocol stays a draft; what happened to it is the refusal. */
function situacaoDaNota({ nota, protocolo }: Respostas['consultarNota']): NotaEmRepouso['situacao'] | 'rascunho' {
  return protocolo.status === 'rejeitado' ? 'rejeitada' : nota.status;
}

function paramsOf({ chave_acesso, tipo_evento, numero_sequencial }: EventoNomeado): Readonly<Record<string, string>> {
  return { chave_acesso, tipo_evento, num_seq_evento: String(numero_sequencial) };
}

/** De que DPS se fala, pelo que está nela. */
export type PartesDaDps = {
  /** Município emissor, 7 algarismos. */
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
