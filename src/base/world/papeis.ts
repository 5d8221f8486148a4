/** The permissions of a person in the console for a municipality. Each role includes those before it. */
import { PAPEIS, type Papel } from '../book/papeis.ts';

export { PAPEIS, type Papel } from '../book/papeis.ts';

/** The roles on screens. */
export const PAPEIS_NAMES: Readonly<Record<Papel, string>> = {
  leitura: 'leitura',
  atendimento: 'atendimento',
  operacao: 'operação',
  administracao: 'administração',
};

/** The purpose of each role, for the person who grants it. */
export const PAPEIS_HELP: Readonly<Record<Papel, string>> = {
  leitura: 'vê notas, eventos, cadastros, avisos e tokens',
  atendimento: 'também exporta buscas, reúne as provas de uma nota e pede que um evento seja reprocessado',
  operacao: 'também age sobre notas e eventos e muda os cadastros',
  administracao: 'também muda o município, os endereços de aviso e os usuários, e revoga tokens',
};

/** Whether a role includes another one. */
export function mayAs(papel: Papel, needed: Papel): boolean {
  return PAPEIS.indexOf(papel) >= PAPEIS.indexOf(needed);
}

export function isPapel(text: string): text is Papel {
  return PAPEIS.some((papel) => papel === text);
}

/** Whether a role can act, and therefore needs a second factor: all except the read-only one. */
export function needsSecondFactor(papeis: Readonly<Record<string, Papel>>): boolean {
  return Object.values(papeis).some((papel) => papel !== 'leitura');
}
