/**
 * The three failures of a call, because each asks for a different reaction. The class says what became of the call; the
 * list of faults says why.
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
export abstract class ErroDaChamada extends Error {
  declare readonly operacao: Operacao;
  declare readonly tentativas: number;
  declare readonly status: number | undefined;
  declare readonly codigo: Codigo | undefined;
  declare readonly erros: readonly Erro[];
  declare readonly envelope: EnvelopeDeErro | undefined;
  declare readonly requisicao: string | undefined;
  declare readonly esperaMs: number | undefined;

  constructor(mensagem: string, circunstancias: Circunstancias) {
    const { operacao, tentativas, status, envelope, requisicao, esperaMs, cause } = circunstancias;
    super(mensagem, cause === undefined ? undefined : { cause });
    const { codigo_erro: codigo, erros = [] } = envelope ?? {};
    Object.assign(this, { operacao, tentativas, status, codigo, erros, envelope, requisicao, esperaMs });
  }
}

/** O serviço leu e recusou: nada foi feito. Corrija pelo que dizem `erros`; repetir sem mudar não adianta. */
export class Recusado extends ErroDaChamada {
  override readonly name = 'Recusado';
  declare readonly codigo: Codigo;
  declare readonly envelope: EnvelopeDeErro;

  constructor(mensagem: string, circunstancias: Circunstancias & { readonly envelope: EnvelopeDeErro }) {
    super(mensagem, circunstancias);
  }
}

/** A requisição não foi atendida: nada foi feito. Repita mais tarde, igual. */
export class NaoEntregue extends ErroDaChamada {
  override readonly name = 'NaoEntregue';
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
export class Indeterminado extends ErroDaChamada {
  override readonly name = 'Indeterminado';
  readonly repeticao: Repeticao;

  constructor(mensagem: string, circunstancias: Circunstancias, repeticao: Repeticao) {
    super(mensagem, circunstancias);
    this.repeticao = repeticao;
  }
}

/**
 * A requisição saiu, não se sabe se foi feita, e repetida faria outra: outro endereço de aviso, outro segredo. Liste o que há antes de
 * repetir. Nenhuma nota e nenhum evento acaba assim: deles é {@link Indeterminado}.
 */
export class SemResposta extends ErroDaChamada {
  override readonly name = 'SemResposta';
}

/** O prazo do acompanhamento acabou antes do fim. Nada deu errado: consulte mais tarde, e não envie de novo. */
export class AindaEmAndamento<Leitura> extends Error {
  override readonly name = 'AindaEmAndamento';
  /** A última resposta; undefined se não houve nenhuma. */
  readonly ultima: Leitura | undefined;

  constructor(mensagem: string, ultima: Leitura | undefined) {
    super(mensagem);
    this.ultima = ultima;
  }
}
