/** What a sender of the sandbox asks the local authority to play (D-60): in a header, or in a free text of the document. */
import { AMBIENTES } from '../fiscal/ambiente.ts';
import type { Aviso } from '../fiscal/fault.ts';
import { readSimular, SIMULAR_HEADER, simularText } from '../fiscal/simular.ts';
import type { Municipio } from '../store/municipios.ts';

export type Rehearsal = {
  /** As it is kept with the note or the event; undefined in production, where none of it means anything. */
  readonly simular: string | undefined;
  readonly avisos: readonly Aviso[];
};

const NONE: Rehearsal = { simular: undefined, avisos: [] };

/** `texts`: where it may be asked for, the one that goes before first. */
export function rehearsalIn(
  { ambiente }: Pick<Municipio, 'ambiente'>,
  texts: readonly (string | undefined)[],
): Rehearsal {
  if (AMBIENTES[ambiente].transmits) return NONE;
  const text = texts.filter((one) => one !== undefined).join(' ');
  if (!text.includes('adn:')) return NONE;
  const { simulacao, problemas } = readSimular(text);
  return {
    simular: simulacao && simularText(simulacao),
    avisos: problemas.map((mensagem) => ({ codigo: 'E0002', xpath: '', campo: SIMULAR_HEADER, mensagem })),
  };
}
