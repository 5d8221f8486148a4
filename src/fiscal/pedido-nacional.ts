/** The request of an event in the XML of the national environment, converted to the JSON body of this service. */
import type { Elemento } from './layout/tree.ts';
import { type TipoEvento, tipoByCodigo } from './tipos-evento.ts';

export type PedidoNacional = {
  readonly tipo: TipoEvento;
  /** Key of the note, which is also in the address; '' if the request names none. */
  readonly chave: string;
  /** The values by the names of the JSON body, in its order. */
  readonly corpo: Readonly<Record<string, string>>;
  /** Elements that have no place in the body. */
  readonly deixados: readonly string[];
};

const AUTORES: Readonly<Record<string, string>> = { CNPJAutor: 'cnpj_autor', CPFAutor: 'cpf_autor' };
const GROUP = /^e(\d{6})$/;

/** Reads the tree of a `pedRegEvento`; its content is judged later, in the body. */
export function corpoOfPedido(root: Elemento): PedidoNacional | { readonly problema: string } {
  const inf = root.children.find(({ name }) => name === 'infPedReg');
  const group = inf?.children.find(({ name }) => GROUP.test(name));
  if (inf === undefined || group === undefined) {
    return { problema: 'O pedRegEvento não tem, dentro de infPedReg, o grupo do tipo do evento, como e101101.' };
  }
  const tipo = tipoByCodigo(GROUP.exec(group.name)![1]!);
  if (tipo === undefined) {
    return { problema: `O evento ${group.name} não se registra por este serviço; /docs/eventos diz quais são.` };
  }
  const textOf = (name: string): string | undefined => inf.children.find((one) => one.name === name)?.text.trim();
  const autores = Object.entries(AUTORES).map(([name, nome]) => [nome, textOf(name)]);
  const chave = textOf('chNFSe') ?? '';
  const campos = tipo.campos.map(({ nome, elemento }) => [
    nome,
    group.children.find(({ name }) => name === elemento)?.text.trim(),
  ]);
  const said = [...autores, ['chave_acesso', chave], ...campos].filter(([, text]) => text !== undefined && text !== '');
  const taken = new Set([
    ...Object.keys(AUTORES),
    'chNFSe',
    group.name,
    ...tipo.campos.map(({ elemento }) => elemento),
  ]);
  const deixados = [...inf.children, ...group.children].map(({ name }) => name).filter((name) => !taken.has(name));
  return { tipo, chave, corpo: Object.fromEntries([['tipo_evento', tipo.slug], ...said]), deixados };
}
