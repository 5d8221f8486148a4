/** De uma chamada que não acabou bem. `erros` é a lista do serviço; vazia quando ele não chegou a dizer nada. */
export class ErroDaChamada extends Error {
    constructor(mensagem, circunstancias) {
        const { operacao, tentativas, status, envelope, requisicao, esperaMs, cause } = circunstancias;
        super(mensagem, cause === undefined ? undefined : { cause });
        const { codigo_erro: codigo, erros = [] } = envelope ?? {};
        Object.assign(this, { operacao, tentativas, status, codigo, erros, envelope, requisicao, esperaMs });
    }
}
/** O serviço leu e recusou: nada foi feito. Corrija pelo que dizem `erros`; repetir sem mudar não adianta. */
export class Recusado extends ErroDaChamada {
    name = 'Recusado';
    constructor(mensagem, circunstancias) {
        super(mensagem, circunstancias);
    }
}
/** A requisição não foi atendida: nada foi feito. Repita mais tarde, igual. */
export class NaoEntregue extends ErroDaChamada {
    name = 'NaoEntregue';
}
/**
 * A requisição saiu e não se sabe se foi feita. Guarde `repeticao` e chame a mesma operação com ela: se foi feita, a resposta é a
 * da primeira vez. Nunca repita com outro número.
 */
export class Indeterminado extends ErroDaChamada {
    name = 'Indeterminado';
    repeticao;
    constructor(mensagem, circunstancias, repeticao) {
        super(mensagem, circunstancias);
        this.repeticao = repeticao;
    }
}
/**
 * A requisição saiu, não se sabe se foi feita, e repetida faria outra: outro endereço de aviso, outro segredo. Liste o que há antes de
 * repetir. Nenhuma nota e nenhum evento acaba assim: deles é {@link Indeterminado}.
 */
export class SemResposta extends ErroDaChamada {
    name = 'SemResposta';
}
/** O prazo do acompanhamento acabou antes do fim. Nada deu errado: consulte mais tarde, e não envie de novo. */
export class AindaEmAndamento extends Error {
    name = 'AindaEmAndamento';
    /** A última resposta; undefined se não houve nenhuma. */
    ultima;
    constructor(mensagem, ultima) {
        super(mensagem);
        this.ultima = ultima;
    }
}
