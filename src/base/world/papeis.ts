/** What somebody may do in the console for a municipality. Each role includes those before it. */
import { PAPEIS, type Papel } from '../book/papeis.ts';

export { PAPEIS, type Papel } from '../book/papeis.ts';

/** What each role is for, as its giver reads it. */
export const PAPEIS_HELP: Readonly<Record<Papel, string>> = {
  leitura: 'vê notas, eventos, cadastros, avisos e tokens',
  atendimento: 'também exporta buscas, reúne as provas de uma nota e pede que um evento seja reprocessado',
  operacao: 'também age sobre notas e eventos e muda os cadastros',
  administracao: 'também muda o município, os endereços de aviso e os usuários, e revoga tokens',
};

/** Whether a role is one, or more than it. */
export function mayAs(papel: Papel, needed: Papel): boolean {
  return PAPEIS.indexOf(papel) >= PAPEIS.indexOf(needed);
}

export function isPapel(text: string): text is Papel {
  return PAPEIS.some((papel) => papel === text);
}

/** Whether a role acts, and so asks for a second factor: all but the one that only reads. */
export function needsSecondFactor(papeis: Readonly<Record<string, Papel>>): boolean {
  return Object.values(papeis).some((papel) => papel !== 'leitura');
}
