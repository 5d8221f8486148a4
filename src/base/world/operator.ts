/** Words, reasons and trails that a municipality's work by hand with its notes and its events has in common. */
import { isoMoment } from '../../fiscal/moment.ts';
import type { Via } from '../book/atos.ts';
import { momentOfNota } from './gather-facts.ts';

/** What was asked cannot be done: sentences in Portuguese for the operator. */
export type Problem = { readonly problem: string };

export function noNota(slug: string): string {
  return `Não há nota com esta chave de acesso em ${slug}. Confira a chave e o município.`;
}

/** A sentence with a small letter first, as it goes on after a colon. */
export function lowerFirst(sentence: string): string {
  return `${sentence.charAt(0).toLowerCase()}${sentence.slice(1)}`;
}

/** Of `mensagem_retorno`, where the integrator reads it. */
export const MOTIVO_MAX = 255;

/** `instead`: what to do about one that is empty. */
export function readMotivo(
  { motivo: given, via }: Pick<PorMao, 'motivo' | 'via'>,
  instead = 'Escreva-o, ou retire a opção.',
): { readonly motivo: string | undefined } | Problem {
  const motivo = given?.trim();
  const called = via === 'painel' ? 'O motivo' : '--motivo';
  // A field of a form that was left empty says nothing.
  if (motivo === '' && via === 'painel') return { motivo: undefined };
  if (motivo === '') return { problem: `${called} está vazio. ${instead}` };
  if (motivo !== undefined && motivo.length > MOTIVO_MAX) {
    return { problem: `${called} tem ${motivo.length} caracteres; cabem ${MOTIVO_MAX}.` };
  }
  return { motivo };
}

/** The reason of an act that is not done without one. */
export function needMotivo(by: Pick<PorMao, 'motivo' | 'via'>): { readonly motivo: string } | Problem {
  const missing = { problem: 'Falta o motivo. Escreva por quê: fica na trilha.' };
  if (!by.motivo?.trim()) return missing;
  const read = readMotivo(by);
  return 'problem' in read ? read : { motivo: read.motivo! };
}

/** Who does something by hand, where, and why: by their name on the machine or their login, and no more is kept of a person. */
export type PorMao = { readonly quem: string; readonly via: Via; readonly motivo?: string | undefined };

/** A step of a trail, with its moment as it is shown. */
export type Passo<Step> = Omit<Step, 'em'> & { readonly em: string };

/** A trail in the time of the municipality that issued the note. */
export function presentTrail<Step extends { readonly em: Date }>(
  chave: string,
  trail: readonly Step[],
): readonly Passo<Step>[] {
  return trail.map((step) => ({ ...step, em: isoMoment(momentOfNota(chave, step.em.getTime())) }));
}
