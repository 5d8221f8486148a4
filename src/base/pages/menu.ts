/** The menu of a municipality. */
import type { Papel } from '../world/papeis.ts';

/** Pages of a municipality, in the order of the menu, and the role that sees them there. */
export const MENU = [
  { here: 'hoje', path: '/hoje', name: 'Hoje', papel: 'leitura' },
  { here: 'pendencias', path: '/pendencias', name: 'Pendências', papel: 'leitura' },
  { here: 'mes', path: '/mes', name: 'Mês', papel: 'leitura' },
  { here: 'notas', path: '/notas', name: 'Notas', papel: 'leitura' },
  { here: 'eventos', path: '/eventos', name: 'Eventos', papel: 'leitura' },
  { here: 'cadastros', path: '/cadastros', name: 'Cadastros', papel: 'leitura' },
  { here: 'conferir', path: '/conferir', name: 'Conferir', papel: 'leitura' },
  { here: 'avisos', path: '/avisos', name: 'Avisos', papel: 'leitura' },
  { here: 'tokens', path: '/tokens', name: 'Tokens', papel: 'leitura' },
  { here: 'municipio', path: '/municipio', name: 'Município', papel: 'leitura' },
  { here: 'trilha', path: '/trilha', name: 'Histórico', papel: 'leitura' },
  { here: 'usuarios', path: '/usuarios', name: 'Usuários', papel: 'administracao' },
] as const satisfies readonly { here: string; path: string; name: string; papel: Papel }[];

export type Here = (typeof MENU)[number]['here'];
