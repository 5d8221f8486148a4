/**
 * An event that a municipality shares: the content of its document, and the objections of the ADN. The register (`registro.ts`) knows
 * whether its `Id` is held already, and which events the note has.
 */
import type { MensagemAdn } from '../adn/wire.ts';
import { parseChave } from '../fiscal/chave.ts';
import { conflictOf, type EventoNaNota } from '../fiscal/conflitos-evento.ts';
import { eventoId, pedidoId } from '../fiscal/layout/evento.ts';
import { attributeOf, type Elemento } from '../fiscal/layout/tree.ts';
import { tipoByCodigo } from '../fiscal/tipos-evento.ts';
import { mensagem, mensagemDeEvento } from './codigos.ts';

export type EventoLido = EventoNaNota & {
  /** `Id` of its `infEvento`. */
  readonly id: string;
  /** The key of its note. */
  readonly chave: string;
};

/** The `Id` of an element of a document that may lack anything else; undefined if it has no such `Id`. */
export function idIn(root: Elemento, name: string, form: RegExp): string | undefined {
  const element = root.children.find((child) => child.name === name);
  const id = element && attributeOf(element, 'Id');
  return id !== undefined && form.test(id) ? id : undefined;
}

/** The event in a document that is valid under the schema, and the faults of its head. */
export function readEvento(root: Elemento): { readonly evento: EventoLido; readonly erros: readonly MensagemAdn[] } {
  const infEvento = childOf(root, 'infEvento');
  const infPedReg = childOf(childOf(infEvento, 'pedRegEvento'), 'infPedReg');
  const grupo = infPedReg.children.find(({ name }) => /^e\d{6}$/.test(name))!;
  const id = attributeOf(infEvento, 'Id')!;
  const codigo = grupo.name.slice(1);
  const chave = textOf(infPedReg, 'chNFSe')!;
  const numero_sequencial = Number(textOf(infEvento, 'nSeqEvento'));
  const autor = (textOf(infPedReg, 'CNPJAutor') ?? textOf(infPedReg, 'CPFAutor'))!;

  const erros: MensagemAdn[] = [];
  if (id !== eventoId(chave, codigo, numero_sequencial)) {
    erros.push(mensagemDeEvento('E1802', 'Confira chNFSe, o grupo do tipo e nSeqEvento.'));
  }
  if (attributeOf(infPedReg, 'Id') !== pedidoId(chave, codigo)) {
    erros.push(mensagemDeEvento('E1827', 'Confira chNFSe e o grupo do tipo.'));
  }
  if (textOf(infEvento, 'ambGer') !== '1') erros.push(mensagem('E1274'));
  return { evento: { id, chave, codigo, numero_sequencial, autor, campos: camposOf(codigo, grupo) }, erros };
}

function childOf(parent: Elemento, name: string): Elemento {
  return parent.children.find((child) => child.name === name)!;
}

function textOf(parent: Elemento, name: string): string | undefined {
  return parent.children.find((child) => child.name === name)?.text;
}

/** The fields of the group of the type, under the names that conflicts are judged by. */
function camposOf(codigo: string, grupo: Elemento): Readonly<Record<string, string>> {
  const { campos } = tipoByCodigo(codigo)!;
  const said = campos.flatMap(({ nome, elemento }) => {
    const text = textOf(grupo, elemento);
    return text === undefined ? [] : [[nome, text] as const];
  });
  return Object.fromEntries(said);
}

/** Types whose author is the emitter of the note, whose document is in the key. */
const OF_THE_EMITTER = new Set(['101101', '101103']);

/**
 * The objection of the ADN to an event, by its author and by the events on the note. The author of a substitution is the emitter here and
 * the municipality in the annex: either is accepted.
 */
export function objectionTo(
  evento: EventoLido,
  municipio: string,
  onNote: readonly EventoNaNota[],
): MensagemAdn | undefined {
  const { chave, codigo, autor } = evento;
  const tipo = tipoByCodigo(codigo)!;
  const emitente = parseChave(chave)?.documento ?? '';
  const isOther = OF_THE_EMITTER.has(codigo)
    ? autor !== emitente
    : tipo.porOficio && rootOf(autor) !== rootOf(municipio);
  if (isOther) {
    return mensagemDeEvento(autor.length === 11 ? 'E0816' : 'E0813');
  }
  const conflict = conflictOf(onNote, { codigo, autor, campos: evento.campos, chave_acesso: chave });
  return conflict && { Codigo: conflict.codigo, Descricao: conflict.mensagem };
}

/** The objection of the ADN to a note that replaces another one. `onReplaced`: the events on the replaced note. */
export function objectionToSubstitute(chave: string, onReplaced: readonly EventoNaNota[]): MensagemAdn | undefined {
  const cancelling = onReplaced.find(({ codigo }) => tipoByCodigo(codigo)?.cancela);
  if (cancelling === undefined) return mensagem('E1308');
  const substituta = cancelling.campos['chave_acesso_substituta'];
  if (substituta === undefined) return mensagem('E0046');
  return substituta === chave ? undefined : mensagem('E1310', `O evento traz ${substituta}.`);
}

/** The municipality may share with any of its certificates. */
function rootOf(documento: string): string {
  return documento.length === 11 ? documento : documento.slice(0, 8);
}
