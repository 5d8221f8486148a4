/** The subjects, one line each, in the order of the help and of the public description. */
import type { Subject } from './subject.ts';

export const SUBJECTS = [
  () => import('./notas/subject.ts'),
  () => import('./municipios/subject.ts'),
  () => import('./receita/subject.ts'),
  () => import('./contas/subject.ts'),
  () => import('./eventos/subject.ts'),
  () => import('./nacional/subject.ts'),
  () => import('./pendencias/subject.ts'),
  () => import('./partes/subject.ts'),
  () => import('./avisos/subject.ts'),
  () => import('./lotes/subject.ts'),
  () => import('./envio/subject.ts'),
  () => import('./assinatura/subject.ts'),
  () => import('./ensaios/subject.ts'),
  () => import('./cadastros/subject.ts'),
  () => import('./evidencia/subject.ts'),
  () => import('./guarda/subject.ts'),
  () => import('./auditoria/subject.ts'),
  () => import('./copias/subject.ts'),
  () => import('./citus/subject.ts'),
  () => import('./vigia/subject.ts'),
] as const;

/** Loads one part of every subject that announces it. */
export async function loadParts<Part>(
  choose: (subject: Subject) => (() => Promise<Part>) | undefined,
): Promise<readonly Part[]> {
  const subjects: readonly { readonly default: Subject }[] = await Promise.all(SUBJECTS.map((one) => one()));
  const parts = subjects.map((one) => choose(one.default)?.());
  return Promise.all(parts.filter((part) => part !== undefined));
}

type PartOf<One, Key extends string> = One extends {
  default: { [Own in Key]: () => Promise<(setup: never) => infer Part> };
}
  ? Part
  : never;
type Joined<Union> = (Union extends unknown ? (one: Union) => void : never) extends (all: infer All) => void
  ? All
  : never;

/** The announced parts of one kind, joined. The compiler misses here what a subject only declares. */
export type PartsOf<Key extends 'rows' | 'trabalhos'> = Joined<
  PartOf<Awaited<ReturnType<(typeof SUBJECTS)[number]>>, Key>
>;
