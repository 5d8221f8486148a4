import type { Assinante } from './assinatura.ts';
import { type Certificado } from './certificado.ts';
import { type AvisoDeRepeticao, type Insistencia, type Respondida } from './chamada.ts';
import type { Corpo } from './corpo.ts';
import { type Operacao, type Respostas } from './tipos.ts';
export type OpcoesDoCliente = {
    /** Endereço do serviço, sem o município: https://nfse.exemplo.gov.br. */
    readonly url: string;
    /** Primeiro segmento dos endereços; `integracao` é o ambiente de integração, e `ensaio-xxxxxx` um ambiente só seu. */
    readonly municipio: string;
    /** Com ele o cliente assina o que envia, e se mostra nas consultas que em produção são de uma parte só. */
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
export type Interrompivel = {
    readonly signal?: AbortSignal | undefined;
};
/** Do que assina um corpo JSON de antemão. */
export type Assinada = {
    /** O valor do cabeçalho, quando o corpo já foi assinado por outro. */
    readonly assinatura?: string | undefined;
};
export type Envio = Interrompivel & Assinada & {
    /** A `Idempotency-Key`: sem ela o cliente faz uma. Grave-a antes de enviar, e a use em toda repetição. */
    readonly chave?: string;
    /** Só na integração: o que o ADN deve ensaiar, como `adn:rejeita=E1234`. */
    readonly simular?: string | undefined;
};
/** What one request takes besides its operation. */
type Pedido = Interrompivel & {
    readonly params?: Readonly<Record<string, string>>;
    readonly query?: object | undefined;
    readonly corpo?: Corpo;
    /** In place of a body: makes another one for every try. */
    readonly montar?: () => Corpo;
    readonly envio?: Envio;
    /** In place of the token of the client. */
    readonly token?: string | undefined;
    /** What is done anew by every try. */
    readonly isOnce?: boolean;
    /** Statuses that are an answer, besides those of success. */
    readonly aceita?: readonly number[];
    /** The media type of an answer that is no JSON. */
    readonly gives?: string;
    /** A member without which the answer is not the one of the service. */
    readonly exige?: string;
    /** Octets of the longest answer, where it is not the usual. */
    readonly respostaMax?: number;
    readonly more?: Partial<Insistencia>;
};
export type Pedidos = {
    /** Of the municipality, without a slash at the end. */
    readonly base: string;
    readonly municipio: string;
    readonly assinante: Assinante | undefined;
    readonly insistencia: Insistencia;
    readonly aoRepetir: (aviso: AvisoDeRepeticao) => void;
    pedir(operacao: Operacao, pedido?: Pedido): Promise<Respondida>;
    /** The body of an answer. */
    ler<Op extends Operacao>(operacao: Op, pedido?: Pedido): Promise<Respostas[Op]>;
};
/** Rejects at once an address or a certificate that does not serve. */
export declare function createPedidos(opcoes: OpcoesDoCliente): Pedidos;
export {};
