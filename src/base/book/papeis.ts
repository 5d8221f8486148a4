/** Roles in the console for a municipality; each role includes those before it. */
export const PAPEIS = ['leitura', 'atendimento', 'operacao', 'administracao'] as const;
export type Papel = (typeof PAPEIS)[number];
