/** O que se envia. */
type Pedido = {
    readonly metodo: string;
    readonly url: string;
    readonly cabecalhos: Readonly<Record<string, string>>;
    readonly corpo: Uint8Array | undefined;
    /** Octets of the longest answer, where it is not the usual. */
    readonly respostaMax?: number | undefined;
    readonly signal: AbortSignal;
};
/** O que voltou. */
export type Resposta = {
    readonly status: number;
    readonly cabecalhos: Headers;
    readonly corpo: Uint8Array;
};
/** Uma ida e volta; rejeita quando não há resposta inteira. */
export type Transporte = (pedido: Pedido) => Promise<Resposta>;
/** Uma resposta que passa do limite: não é deste serviço. */
export declare class RespostaLonga extends Error {
}
/** Por `fetch`, a da plataforma ou a que se der. */
export declare function porFetch(fetcher: typeof fetch): Transporte;
/** Em PEM. */
export type Tls = {
    readonly ca: string | undefined;
    readonly cert: string | undefined;
    readonly key: string | undefined;
};
/** Por TLS mostrando um certificado, ou confiando só em `ca`. */
export declare function porTls({ ca, cert, key }: Tls): Transporte;
/** O código do sistema para o que deu errado na rede, onde há. */
export declare function codigoDaFalha(error: unknown): string | undefined;
/** Uma porta com que a `fetch` não fala, o que ela diz sem código. */
export declare function isPortaProibida(error: unknown): boolean;
/** Quem atendeu não fala TLS; o código disso depende de quem pergunta. */
export declare function isSemTls(error: unknown): boolean;
/** Se a requisição certamente não saiu. */
export declare function naoSaiu(error: unknown): boolean;
export {};
