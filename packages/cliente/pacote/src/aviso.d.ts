import type { Mudanca } from './tipos.ts';
/** O corpo de um aviso. */
export type Aviso = {
    readonly type: Mudanca['tipo'];
    readonly timestamp: string;
    readonly data: Mudanca;
}
/** Pergunta se o endereço quer avisos: responda 2xx com o desafio como corpo. */
 | {
    readonly type: 'confirmacao';
    readonly timestamp: string;
    readonly data: {
        readonly desafio: string;
        readonly mensagem: string;
    };
}
/** De `ensaiarWebhook`: nada mudou. */
 | {
    readonly type: 'ensaio';
    readonly timestamp: string;
    readonly data: {
        readonly mensagem: string;
    };
};
/** Por que um aviso não se aceita. `momento`: foi assinado há mais de cinco minutos, ou no futuro; `corpo`: não é JSON. */
export type MotivoDoAviso = 'cabecalhos' | 'momento' | 'assinatura' | 'corpo';
export type AvisoConferido = 
/** `id`: o mesmo em cada tentativa; quem o guarda reconhece um aviso repetido. */
{
    readonly valido: true;
    readonly id: string;
    readonly assinadoEm: Date;
    readonly aviso: Aviso;
} | {
    readonly valido: false;
    readonly motivo: MotivoDoAviso;
};
type Cabecalhos = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
/**
 * Confere um aviso: `segredo` é o do cadastro (`whsec_…`), ou os dois enquanto se troca; `corpo`, o que chegou, byte por byte, antes
 * de qualquer leitura. Responda 2xx só ao que é `valido`.
 */
export declare function conferirAviso(segredo: string | readonly string[], cabecalhos: Cabecalhos, corpo: string | Uint8Array, agora?: number): AvisoConferido;
export {};
