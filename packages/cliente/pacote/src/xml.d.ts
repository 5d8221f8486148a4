/**
 * As much XML as a DPS is written in, read strictly, and the exclusive canonical form of an element of it (W3C, Exclusive XML
 * Canonicalization 1.0, without comments).
 *
 * Read are elements, attributes, namespaces, text, CDATA sections and references to characters. Comments, processing instructions, document
 * types, names beyond ASCII and encodings other than UTF-8 are refused with their place.
 */
/** Um XML que este cliente não assina, e por quê. */
export declare class XmlRecusado extends Error {
    readonly name = "XmlRecusado";
}
type Atributo = {
    readonly prefixo: string;
    readonly nome: string;
    readonly valor: string;
};
export type Elemento = {
    readonly prefixo: string;
    readonly nome: string;
    readonly atributos: readonly Atributo[];
    /** Every prefix in force here, with its namespace; the one of names without prefix under the empty one. */
    readonly escopo: ReadonlyMap<string, string>;
    readonly conteudo: readonly (Elemento | string)[];
};
/** Lê o documento; o elemento é a sua raiz. */
export declare function lerXml(texto: string): Elemento;
/** O espaço de nomes de um elemento; vazio onde não há. */
export declare function espacoDe({ prefixo, escopo }: Elemento): string;
/** O valor de um atributo sem prefixo. */
export declare function atributoDe({ atributos }: Elemento, nome: string): string | undefined;
/** Os elementos diretamente dentro de um. */
export declare function filhosDe({ conteudo }: Elemento): readonly Elemento[];
/** A forma canônica exclusiva de um elemento como ápice: os bytes dela em UTF-8 são os que se resumem. */
export declare function formaCanonica(elemento: Elemento): string;
export {};
