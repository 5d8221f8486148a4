/** The access rule of an address: callers, and the disclosure to each. A route brings its own; the common ones stand here. */

/**
 * The information that a stranger gets. `nada`: the answer does not depend on the object, and nothing is looked up. `existencia`: the
 * existence of the object, and no more. `chave`: the holder of the key or protocol number counts as a party, and no other way finds the
 * object. `publico`: the answer is for everybody.
 */
type Revela = 'nada' | 'existencia' | 'chave' | 'publico';

export type Acesso = {
  readonly quem: string;
  readonly revela: Revela;
  readonly estranho: string;
  readonly parte: string;
  /** The cost of a miss, if the route does not state it. */
  readonly custo?: string;
};

export const PRESTADOR_ASSINA = 'quem assina como o prestador';
export const POR_CHAVE: Omit<Acesso, 'parte'> = {
  quem: 'quem tem a chave de acesso',
  revela: 'chave',
  estranho: 'nada: sem a chave, 9 dígitos sorteados, a resposta é 404, como a de uma nota de outro município',
};
export const POR_PROTOCOLO: Omit<Acesso, 'parte'> = {
  quem: 'quem tem o número de protocolo',
  revela: 'chave',
  estranho: 'nada: sem o protocolo, 20 dígitos sorteados, a resposta é 404',
};
export const PUBLICO: Omit<Acesso, 'estranho'> = { quem: 'qualquer um', revela: 'publico', parte: 'o mesmo' };
/** A public list of the nation or of a municipality. */
export const CATALOGO: Acesso = { ...PUBLICO, estranho: 'a lista, nacional ou do município; nada de prestador nenhum' };
/** The notes, events, changes and exports of a document. */
export const PELO_DONO: Omit<Acesso, 'parte'> = {
  quem: 'o dono do documento, por um token dele ou pelo certificado na conexão',
  revela: 'nada',
  estranho: 'que não é ele; não se olha se há alguma coisa do documento',
};
/** Everything of a private sandbox. */
export const DO_ENSAIO: Omit<Acesso, 'parte'> = {
  quem: 'o dono do ambiente, pela chave dele',
  revela: 'nada',
  estranho: 'que não é o dono; que o município é um ambiente próprio, o nome já diz',
};
