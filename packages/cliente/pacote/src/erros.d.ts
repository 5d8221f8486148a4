/**
 * The three ways in which a call fails, because each asks for something else. The class says what became of the call, the list of faults
 * what was wrong.
 */
import type { Codigo, EnvelopeDeErro, Erro, Operacao } from './tipos.ts';
/** O que se sabe de uma chamada que não acabou bem. */
export type Circunstancias = {
    readonly operacao: Operacao;
    /** Quantas vezes a requisição saiu. */
    readonly tentativas: number;
    /** Da última resposta; undefined quando não houve. */
    readonly status?: number | undefined;
    readonly envelope?: EnvelopeDeErro | undefined;
    /** `X-Request-Id` da última resposta, para o suporte. */
    readonly requisicao?: string | undefined;
    /** Quanto a última resposta pediu que se esperasse (`Retry-After`). */
    readonly esperaMs?: number | undefined;
    readonly cause?: unknown;
};
/** De uma chamada que não acabou bem. `erros` é a lista do serviço; vazia quando ele não chegou a dizer nada. */
export declare abstract class ErroDaChamada extends Error {
    readonly operacao: Operacao;
    readonly tentativas: number;
    readonly status: number | undefined;
    readonly codigo: Codigo | undefined;
    readonly erros: readonly Erro[];
    readonly envelope: EnvelopeDeErro | undefined;
    readonly requisicao: string | undefined;
    readonly esperaMs: number | undefined;
    constructor(mensagem: string, circunstancias: Circunstancias);
}
/** O serviço leu e recusou: nada foi feito. Corrija pelo que dizem `erros`; repetir sem mudar não adianta. */
export declare class Recusado extends ErroDaChamada {
    readonly name = "Recusado";
    readonly codigo: Codigo;
    readonly envelope: EnvelopeDeErro;
    constructor(mensagem: string, circunstancias: Circunstancias & {
        readonly envelope: EnvelopeDeErro;
    });
}
/** A requisição não foi atendida: nada foi feito. Repita mais tarde, igual. */
export declare class NaoEntregue extends ErroDaChamada {
    readonly name = "NaoEntregue";
}
/** Com que se repete, byte por byte, uma chamada cujo fim não se conhece. */
export type Repeticao = {
    /** Da `Idempotency-Key`. */
    readonly chave: string;
    readonly corpo: Uint8Array;
    /** De um corpo JSON. */
    readonly assinatura: string | undefined;
};
/**
 * A requisição saiu e não se sabe se foi feita. Guarde `repeticao` e chame a mesma operação com ela: se foi feita, a resposta é a
 * da primeira vez. Nunca repita com outro número.
 */
export declare class Indeterminado extends ErroDaChamada {
    readonly name = "Indeterminado";
    readonly repeticao: Repeticao;
    constructor(mensagem: string, circunstancias: Circunstancias, repeticao: Repeticao);
}
/**
 * A requisição saiu, não se sabe se foi feita, e repetida faria outra: outro endereço de aviso, outro segredo. Liste o que há antes de
 * repetir. Nenhuma nota e nenhum evento acaba assim: deles é {@link Indeterminado}.
 */
export declare class SemResposta extends ErroDaChamada {
    readonly name = "SemResposta";
}
/** O prazo do acompanhamento acabou antes do fim. Nada deu errado: consulte mais tarde, e não envie de novo. */
export declare class AindaEmAndamento<Leitura> extends Error {
    readonly name = "AindaEmAndamento";
    /** A última resposta; undefined se não houve nenhuma. */
    readonly ultima: Leitura | undefined;
    constructor(mensagem: string, ultima: Leitura | undefined);
}
