import { type Operacao } from './tipos.ts';
import { type Resposta, type Transporte } from './transporte.ts';
/** Quanto se insiste em uma chamada. */
export type Insistencia = {
    /** Quantas vezes a requisição pode sair. */
    readonly tentativas: number;
    /** Tempo de uma chamada com todas as suas tentativas. */
    readonly prazoMs: number;
    /** Tempo de uma tentativa. */
    readonly tempoLimiteMs: number;
    /** Entre duas tentativas, se o serviço não diz outra coisa: um tempo que dobra, até um máximo. */
    readonly primeiraEsperaMs: number;
    readonly esperaMaximaMs: number;
    /** false: quem não alcança o serviço é avisado logo. Uma dúvida se tira sempre. */
    readonly semConexao: boolean;
};
/** O que `aoRepetir` recebe antes de cada espera. */
export type AvisoDeRepeticao = {
    readonly operacao: Operacao;
    /** A que acabou de falhar, a partir de 1. */
    readonly tentativa: number;
    readonly esperaMs: number;
    readonly motivo: string;
};
export type Chamada = {
    readonly operacao: Operacao;
    readonly url: string;
    readonly cabecalhos: Readonly<Record<string, string>>;
    readonly corpo?: Uint8Array;
    /** Of an operation that does something: what it is repeated under. */
    readonly repeticao?: {
        readonly chave: string;
        readonly assinatura: string | undefined;
    };
    /** Of a request that serves once: what is sent in the next try. */
    readonly renovar?: () => Pick<Chamada, 'cabecalhos' | 'corpo'>;
    /** What is done anew by every try: in doubt there is no other. */
    readonly isOnce?: boolean;
    /** Statuses besides 2xx that are an answer to the question. */
    readonly aceita?: readonly number[];
    /** Whether a body is JSON, read where the answer is taken for whole. */
    readonly isJson: boolean;
    /** Um campo de texto sem o qual a resposta não é deste serviço. */
    readonly exige?: string;
    /** Octets of the longest answer, where it is not the usual. */
    readonly respostaMax?: number;
    readonly signal: AbortSignal | undefined;
};
export type Respondida = Resposta & {
    readonly json: unknown;
};
/** Chama até haver resposta; rejeita com {@link Recusado}, {@link NaoEntregue} ou {@link Indeterminado}. */
export declare function chamar(transporte: Transporte, chamada: Chamada, insistencia: Insistencia, aoRepetir: (aviso: AvisoDeRepeticao) => void): Promise<Respondida>;
