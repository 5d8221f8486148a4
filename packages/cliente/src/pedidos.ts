/**
 * The requests of a client: the address, the headers and the certificate of each operation. `chamada.ts` decides what
 * follows a missing answer.
 */
import { randomUUID } from 'node:crypto';
import type { Assinante } from './assinatura.ts';
import { type Certificado, lerCertificado } from './certificado.ts';
import { type AvisoDeRepeticao, type Chamada, chamar, type Insistencia, type Respondida } from './chamada.ts';
import type { Corpo } from './corpo.ts';
import { conferirTempos } from './espera.ts';
import { OPERACOES, type Operacao, type Respostas } from './tipos.ts';
import { porFetch, porTls, type Transporte } from './transporte.ts';

export type OpcoesDoCliente = {
  /** Endereço do serviço, sem o município: https://nfse.exemplo.gov.br. */
  readonly url: string;
  /** Primeiro segmento dos endereços; `integracao` é o ambiente de integração, e `ensaio-xxxxxx` um ambiente só seu. */
  readonly municipio: string;
  /** Com ele o cliente assina o que envia. Também se mostra nas consultas que em produção são de uma parte só. */
  readonly certificado?: Certificado;
  /**
   * Com ele se pergunta sem certificado: listas, mudanças, endereços de aviso, e as consultas que em produção são de uma parte só.
   * Como função, é pedido de novo em cada chamada. `pedirToken` o dá.
   */
  readonly token?: string | (() => string);
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

export type Interrompivel = { readonly signal?: AbortSignal | undefined };

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

/** The parts of one request besides its operation. */
type Pedido = Interrompivel & {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: object | undefined;
  readonly corpo?: Corpo;
  /** Replaces the body: makes another one for every attempt. */
  readonly montar?: () => Corpo;
  readonly envio?: Envio;
  /** Replaces the token of the client. */
  readonly token?: string | undefined;
  /** True: every attempt does it anew. */
  readonly isOnce?: boolean;
  /** Statuses that count as an answer, besides those of success. */
  readonly aceita?: readonly number[];
  /** The media type of an answer other than JSON. */
  readonly gives?: string;
  /** A field that every answer of this service has. */
  readonly exige?: string;
  /** Octets of the longest answer, unless it is the usual limit. */
  readonly respostaMax?: number;
  readonly more?: Partial<Insistencia>;
};

export type Pedidos = {
  /** The address of the municipality, without a slash at the end. */
  readonly base: string;
  readonly municipio: string;
  readonly assinante: Assinante | undefined;
  readonly insistencia: Insistencia;
  readonly aoRepetir: (aviso: AvisoDeRepeticao) => void;
  pedir(operacao: Operacao, pedido?: Pedido): Promise<Respondida>;
  /** The body of an answer. */
  ler<Op extends Operacao>(operacao: Op, pedido?: Pedido): Promise<Respostas[Op]>;
};

/** Throws at once for an unusable address or certificate. */
export function createPedidos(opcoes: OpcoesDoCliente): Pedidos {
  const raiz = rootOf(opcoes.url);
  const base = `${raiz}/${segment('municipio', opcoes.municipio)}`;
  const assinante = opcoes.certificado && lerCertificado(opcoes.certificado);
  const insistencia = insistenciaOf(opcoes.insistencia);
  const aoRepetir = opcoes.aoRepetir ?? (() => undefined);
  const [plain, identified] = transportes(opcoes, assinante);

  async function pedir(operacao: Operacao, pedido: Pedido = {}): Promise<Respondida> {
    const facts = OPERACOES[operacao];
    const isIdentified = 'certificado' in facts;
    const token = isIdentified ? (pedido.token ?? tokenOf(opcoes.token)) : undefined;
    const chamada = chamadaOf(operacao, 'foraDoMunicipio' in facts ? raiz : base, { ...pedido, token });
    // An invalid header would fail during sending, and look like a broken connection.
    for (const [name, value] of Object.entries(chamada.cabecalhos)) {
      if (!/^[ -~]*$/.test(value)) throw new TypeError(`${name} só leva caracteres ASCII.`);
    }
    // The token identifies the caller, so the service would not look at the certificate.
    const transporte = isIdentified && token === undefined ? identified : plain;
    return chamar(transporte, chamada, { ...insistencia, ...pedido.more }, aoRepetir);
  }

  return {
    base,
    municipio: opcoes.municipio,
    assinante,
    insistencia,
    aoRepetir,
    pedir,
    ler: async <Op extends Operacao>(operacao: Op, pedido?: Pedido) =>
      (await pedir(operacao, pedido)).json as Respostas[Op],
  };
}

function chamadaOf(operacao: Operacao, base: string, pedido: Pedido): Chamada {
  const { params = {}, query = {}, montar, envio = {}, aceita, gives, exige, isOnce = false, token, signal } = pedido;
  const { respostaMax } = pedido;
  const corpo = montar?.() ?? pedido.corpo;
  const { caminho, ...facts } = OPERACOES[operacao];
  const path = caminho.replace(/\{(\w+)\}/g, (_, name: string) => segment(name, params[name]));
  const isRepeatable = 'repetivel' in facts;
  const chave = envio.chave ?? randomUUID();
  // HTTP trims the spaces around a header value, and the key would be another one.
  if (chave === '' || chave.length > KEY_MAX || chave !== chave.trim()) {
    throw new TypeError(`chave tem de 1 a ${KEY_MAX} caracteres, sem espaço no começo nem no fim.`);
  }
  return {
    operacao,
    url: `${base}${path}${searchOf(query)}`,
    cabecalhos: {
      Accept: gives ?? 'application/json',
      ...(corpo && { 'Content-Type': `application/${corpo.tipo}` }),
      ...(corpo?.assinatura !== undefined && { [signatureHeaderOf(operacao)]: corpo.assinatura }),
      ...(token !== undefined && { Authorization: `Bearer ${token}` }),
      ...(isRepeatable && { 'Idempotency-Key': chave }),
      ...(envio.simular !== undefined && { 'X-NFSe-Simular': envio.simular }),
    },
    ...(corpo && { corpo: corpo.bytes }),
    ...(isRepeatable && { repeticao: { chave, assinatura: corpo?.assinatura } }),
    ...(montar && { renovar: () => renovada(operacao, base, pedido) }),
    isOnce,
    ...(aceita && { aceita }),
    ...(exige !== undefined && { exige }),
    ...(respostaMax !== undefined && { respostaMax }),
    isJson: gives === undefined && facts.metodo !== 'HEAD',
    signal,
  };
}

function renovada(...pedida: Parameters<typeof chamadaOf>): Pick<Chamada, 'cabecalhos' | 'corpo'> {
  const { cabecalhos, corpo } = chamadaOf(...pedida);
  return { cabecalhos, ...(corpo && { corpo }) };
}

function signatureHeaderOf(operacao: Operacao): string {
  if (operacao.endsWith('Token') || operacao.endsWith('Tokens')) return 'X-Token-Assinatura';
  return operacao.startsWith('registrar') ? 'X-Evento-Assinatura' : 'X-DPS-Assinatura';
}

function tokenOf(token: OpcoesDoCliente['token']): string | undefined {
  return typeof token === 'function' ? token() : token;
}

/** Characters that the service accepts. */
const KEY_MAX = 255;

function rootOf(url: string): string {
  if (!/^https?:\/\/./.test(url) || !URL.canParse(url)) {
    throw new TypeError(`url ${url} não é um endereço. Exemplo: https://nfse.exemplo.gov.br`);
  }
  const { username, password, search, hash } = new URL(url);
  // The address is not repeated: it may hold a password.
  if (username + password + search + hash !== '') {
    throw new TypeError('url vai sem usuário, senha, ? nem #. Exemplo: https://nfse.exemplo.gov.br');
  }
  return url.replace(/\/+$/, '');
}

/** One segment of a path: an empty or relative one would change the address. */
function segment(name: string, value: string | undefined): string {
  if (typeof value !== 'string' || /^\.{0,2}$/.test(value)) throw new TypeError(`${name} não foi informado.`);
  return encodeURIComponent(value);
}

/** An undefined value means the default. */
function insistenciaOf(own: OpcoesDoCliente['insistencia'] = {}): Insistencia {
  const said = Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined));
  const whole = { ...INSISTENCIA, ...said };
  const { tentativas, semConexao: _, ...tempos } = whole;
  conferirTempos(tempos);
  if (!(tentativas >= 1)) throw new TypeError('tentativas é um número, a partir de 1.');
  return whole;
}

/** One transport for every request, and one that shows the certificate to this service alone. */
function transportes(
  { url, fetch: own, ca, certificado }: OpcoesDoCliente,
  assinante: Assinante | undefined,
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
