/**
 * Judges the request of an event against the note that it was sent to: whether the body names that note, and who the author of the event
 * is.
 */
import { documentoKind, isSameParty, maskDocumento } from './chave.ts';
import { type Fault, quoted } from './fault.ts';
import { propertyText } from './layout/correct-json.ts';
import type { NotaNomeada, PedidoEvento } from './pedido-evento.ts';
import { BASE, CALLED_AUTOR, CALLED_NOTA, DA_NOTA } from './pedido-names.ts';
import type { AutorEvento, TipoEvento } from './tipos-evento.ts';

/** E002: the municipality requires the body to name its note, because a signed body could otherwise be reused elsewhere (D-215). */
export function judgeNomeada({ nota = {} }: PedidoEvento, address: NotaNomeada): Fault | undefined {
  if (DA_NOTA.some((name) => nota[name] !== undefined)) return undefined;
  const [name, text] = Object.entries(address)[0]!;
  const line = propertyText(name, JSON.stringify(text));
  const mensagem = `Falta ${name}: este município pede que o corpo diga a nota para que foi feito, e assim não serve em outra. Acrescente ao corpo, antes de assinar: ${line}`;
  return { codigo: 'E002', xpath: `${BASE}/chNFSe`, campo: name, mensagem, esperado: text };
}

/** E0002: the body names another note than the address does. */
export function judgeNota({ nota = {} }: PedidoEvento, address: Required<NotaNomeada>): Fault | undefined {
  const wrong = DA_NOTA.find((name) => nota[name] !== undefined && nota[name] !== address[name]);
  if (wrong === undefined) return undefined;
  const encontrado = quoted(nota[wrong]!);
  const mensagem = `${wrong}, no corpo, é "${encontrado}", e não ${CALLED_NOTA[wrong]}: este pedido não foi feito para esta nota. Envie-o ao endereço da nota certa, ou refaça-o com o ${wrong} desta.`;
  return { codigo: 'E0002', xpath: `${BASE}/chNFSe`, campo: wrong, mensagem, encontrado, esperado: address[wrong] };
}

/** The documents of the possible authors; a party that is abroad or not identified has none. */
export type PartesDaNota = Readonly<Record<AutorEvento, string | undefined>> & {
  /** CNPJ of the municipality, the author of events that it registers by office. */
  readonly municipio?: string | undefined;
};

/** The document of the author if the request names none; undefined if the note has no such party. */
export function inferAutor({ autor }: TipoEvento, partes: PartesDaNota): string | undefined {
  return autor === undefined ? partes.municipio : partes[autor];
}

/** The author of the event: the party that its type requires, with the sent document or else the note's. */
export function judgeAutor(
  { tipo, autor }: PedidoEvento,
  partes: PartesDaNota,
): { readonly autor: string } | { readonly fault: Fault } {
  const expected = inferAutor(tipo, partes);
  // Another establishment of the party is no party of the note (Anexo II, E0813); its certificate may sign (E0812, by root; D-747).
  if (expected !== undefined && (autor ?? expected) === expected) return { autor: expected };
  const isCpf = autor !== undefined && documentoKind(autor) === 'CPF';
  const place = isCpf
    ? { codigo: 'E0816', xpath: `${BASE}/CPFAutor`, campo: 'cpf_autor' }
    : // Who names no author is told of the type, which demands one.
      { codigo: 'E0813', xpath: `${BASE}/CNPJAutor`, campo: autor === undefined ? 'tipo_evento' : 'cnpj_autor' };
  const called = tipo.autor === undefined ? 'município' : CALLED_AUTOR[tipo.autor];
  if (expected === undefined) {
    const mensagem =
      tipo.autor === undefined
        ? `O município não tem CNPJ configurado, e ${tipo.slug} se registra em nome dele.`
        : `A nota não tem ${called} identificado por CNPJ ou CPF, e ${tipo.slug} se registra em nome dele.`;
    return { fault: { ...place, mensagem } };
  }
  // The document of a party is masked, because any holder of the note's key would see it.
  const esperado = maskDocumento(expected);
  const found = isSameParty(autor!, expected)
    ? 'o de outro estabelecimento da mesma empresa, cujo certificado pode assinar, mas que não é parte da nota'
    : 'outro documento';
  const mensagem = `${tipo.slug} se registra em nome do ${called}, que nesta nota é ${esperado}, e ${place.campo} traz ${found}. Retire ${place.campo}, ou registre o evento da parte certa.`;
  return { fault: { ...place, mensagem, encontrado: maskDocumento(autor!), esperado } };
}
