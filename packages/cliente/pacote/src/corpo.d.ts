/** What is sent, as the bytes that go on the line: whatever form it was given in, and signed where somebody can. */
import { type Assinante } from './assinatura.ts';
import type { CorpoDaDps } from './tipos.ts';
/** Uma DPS: o corpo JSON como objeto, ou o texto (ou os bytes) em XML ou JSON, que segue como está. */
export type Dps = CorpoDaDps | string | Uint8Array;
export type Corpo = {
    readonly bytes: Uint8Array;
    readonly tipo: 'xml' | 'json';
    /** Of a JSON body. */
    readonly assinatura: string | undefined;
};
/** Um objeto, como corpo que não se assina. */
export declare function corpoJson(content: object): Corpo;
/** O que os bytes são, pelo seu começo. */
export declare function tipoDoCorpo(bytes: Uint8Array): 'xml' | 'json';
/** `assinatura`: of a JSON body that is signed already; the bytes are then those that were signed. */
export declare function corpoDe(content: object | string | Uint8Array, assinatura: string | undefined, assinante: Assinante | undefined): Corpo;
