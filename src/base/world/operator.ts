/** Common texts, reasons and trails of manual acts on notes and events. */
import { isoMoment } from '../../fiscal/moment.ts';
import type { Via } from '../book/atos.ts';
import { momentOfNota } from './gather-facts.ts';

/** The request is impossible: sentences in Portuguese for the operator. */
export type Problem = { readonly problem: string };

export function noNota(slug: string): string {
  return `Não há nota com esta chave de acesso em ${slug}. Confira a chave e o município.`;
}

/** A sentence whose first letter is lower case, to follow a colon. */
export function lowerFirst(sentence: string): string {
  return `${sentence.charAt(0).toLowerCase()}${sentence.slice(1)}`;
}

/** Limit of `mensagem_retorno`, in which the integrator reads the reason. */
export const MOTIVO_MAX = 255;

/** `instead`: advice about an empty reason. */
export function readMotivo(
  { motivo: given, via }: Pick<PorMao, 'motivo' | 'via'>,
  instead = 'Escreva-o, ou retire a opção.',
): { readonly motivo: string | undefined } | Problem {
  const motivo = given?.trim();
  const called = via === 'painel' ? 'O motivo' : '--motivo';
  // An empty form field counts as no reason.
  if (motivo === '' && via === 'painel') return { motivo: undefined };
  if (motivo === '') return { problem: `${called} está vazio. ${instead}` };
  if (motivo !== undefined && motivo.length > MOTIVO_MAX) {
    return { problem: `${called} tem ${motivo.length} caracteres; cabem ${MOTIVO_MAX}.` };
  }
  return { motivo };
}

/** The mandatory reason of an act. */
export function needMotivo(by: Pick<PorMao, 'motivo' | 'via'>): { readonly motivo: string } | Problem {
  const missing = { problem: 'Falta o motivo. Escreva por quê: fica no histórico.' };
  if (!by.motivo?.trim()) return missing;
  const read = readMotivo(by);
  return 'problem' in read ? read : { motivo: read.motivo! };
}

/**
 * The author of a manual act, the interface, and the reason. The author is a user name on the machine or a login; no other personal data is
 * kept.
 */
export type PorMao = { readonly quem: string; readonly via: Via; readonly motivo?: string | undefined };

/** A step of a trail, with its moment as text. */
export type Passo<Step> = Omit<Step, 'em'> & { readonly em: string };

/** A trail in the time zone of the municipality that issued the note. */
export function presentTrail<Step extends { readonly em: Date }>(
  chave: string,
  trail: readonly Step[],
): readonly Passo<Step>[] {
  return trail.map((step) => ({ ...step, em: isoMoment(momentOfNota(chave, step.em.getTime())) }));
}
