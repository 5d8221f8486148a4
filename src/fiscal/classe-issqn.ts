/** The place of a note among the sums of a month: the class of its ISSQN, and the regime of its provider. */
import type { IssqnAmounts } from './assess.ts';
import { type CadastrosFacts, isIsenta, isTaxOwn } from './cadastros.ts';
import { enumeracaoOf } from './catalogs/catalogs.ts';
import { incidenceOf } from './incidence.ts';
import type { Dps } from './layout/dps.ts';

/** Classes of the ISSQN in the order of the tables. Each note is of one class, for good (D-822). */
const CLASSES_ISSQN = {
  apurado: 'Apurado, a recolher pelo prestador',
  retido: 'Retido pelo tomador',
  retido_interm: 'Retido pelo intermediário',
  das: 'No DAS do Simples Nacional',
  especial: 'Regime especial, sem ISSQN na nota',
  suspenso: 'Suspenso',
  isento: 'Isento',
  imune: 'Imune',
  exportado: 'Exportação',
  nao_incidente: 'Não incidência',
  outro_municipio: 'De outro município',
} as const;

export type ClasseIssqn = keyof typeof CLASSES_ISSQN;

/** The classes of `tribISSQN` 2, 3 and 4, of which no ISSQN is due anywhere. */
const UNTAXED: Readonly<Record<string, ClasseIssqn>> = { '2': 'imune', '3': 'exportado', '4': 'nao_incidente' };

/** The class of an accepted DPS. The amounts decide whether its note shows an ISSQN, so that class and amount agree. */
export function classifyIssqn(
  dps: Dps,
  facts: CadastrosFacts,
  { issqnShown }: Pick<IssqnAmounts, 'issqnShown'>,
): ClasseIssqn {
  const { tribISSQN, exigSusp, tpRetISSQN } = dps.valores.trib.tribMun;
  const untaxed = UNTAXED[tribISSQN];
  if (untaxed !== undefined) return untaxed;
  if (!isTaxOwn(incidenceOf(dps), facts.cMun)) return 'outro_municipio';
  if (exigSusp !== undefined) return 'suspenso';
  if (!issqnShown) return isOfDas(dps) ? 'das' : 'especial';
  if (isIsenta(dps, facts)) return 'isento';
  return tpRetISSQN === '1' ? 'apurado' : tpRetISSQN === '2' ? 'retido' : 'retido_interm';
}

/** A MEI always pays in its DAS, with or without a special regime. */
function isOfDas({ prest }: Dps): boolean {
  const { opSimpNac, regEspTrib } = prest.regTrib;
  return opSimpNac === '2' || regEspTrib === '0';
}

/** Regimes of a provider in the order of the tables; a special one comes before the Simples. */
export const REGIMES: Readonly<Record<string, string>> = {
  normal: 'Não optante do Simples Nacional',
  simples_1: 'ME/EPP, ISSQN no Simples Nacional',
  simples_2: 'ME/EPP, ISSQN fora do Simples Nacional',
  simples_3: 'ME/EPP, tributos fora do Simples Nacional',
  simples: 'ME/EPP, apuração não informada',
  mei: 'MEI',
  ...Object.fromEntries(
    enumeracaoOf('regEspTrib').flatMap(({ codigo, descricao }) =>
      codigo === '0' ? [] : [[`especial_${codigo}`, `Regime especial: ${descricao}`]],
    ),
  ),
};

/** The regime of a provider, a key of {@link REGIMES}. */
export function nameRegime({ opSimpNac, regApTribSN, regEspTrib }: Dps['prest']['regTrib']): string {
  if (opSimpNac === '2') return 'mei';
  if (regEspTrib !== '0') return `especial_${regEspTrib}`;
  if (opSimpNac === '1') return 'normal';
  return regApTribSN === undefined ? 'simples' : `simples_${regApTribSN}`;
}

/** A note from before the columns existed has neither class nor regime. */
export const SEM_CLASSE = 'sem_classe';

/** Values of the filter by the ISSQN: a class of the notes that stand, both withheld ones, all, or the cancelled notes. */
export const SITUACOES_ISSQN = {
  vigente: 'Notas que valem, de qualquer classe',
  retidos: 'Retido, por qualquer dos dois',
  ...CLASSES_ISSQN,
  [SEM_CLASSE]: 'Sem classe, de antes da contagem',
  cancelada: 'Canceladas depois',
} as const;

export type SituacaoIssqn = keyof typeof SITUACOES_ISSQN;

/** The class of a note in words; null: the note is from before the classes. */
export function nameClasseIssqn(classe: string | null): string {
  return SITUACOES_ISSQN[(classe ?? SEM_CLASSE) as SituacaoIssqn];
}
