/**
 * Rules of the classification that the IBS/CBS calculation stands on. The schedule and the comparison of declared
 * values are not here.
 */
import { type Classificacao, classificacaoOf } from '../catalogs/catalogs.ts';
import type { Dps } from '../layout/dps.ts';
import type { Rule } from './rule.ts';

type Declared = NonNullable<Dps['IBSCBS']>['valores']['trib']['gIBSCBS'];

const declaredIn = (dps: Dps): Declared | undefined => dps.IBSCBS?.valores.trib.gIBSCBS;

export const IBSCBS: readonly Rule[] = [
  {
    code: 'E0958',
    at: 'IBSCBS/valores/trib/gIBSCBS/cClassTrib',
    message: (dps) => {
      const { cClassTrib } = declaredIn(dps)!;
      const classificacao = classificacaoOf(cClassTrib);
      const problem =
        classificacao === undefined
          ? 'não existe na tabela de classificação tributária do IBS e da CBS'
          : classificacao.indNFSe
            ? `não está em vigor na competência ${dps.dCompet}`
            : 'existe, mas não se usa em NFS-e';
      return `cClassTrib ${cClassTrib} ${problem}. Escolha na tabela vigente uma classificação válida para serviços.`;
    },
    origin: 'Especificação, Issuance: regra 3; Anexo I, E0958',
    why: 'A classificação decide alíquota, redução e os grupos do IBS e da CBS na nota.',
    when: (dps) => dps.IBSCBS !== undefined,
    must: (dps) => isUsable(classificacaoOf(declaredIn(dps)!.cClassTrib), dps.dCompet),
    found: (dps) => declaredIn(dps)?.cClassTrib,
    expected: 'cClassTrib vigente e válida para NFS-e, 6 algarismos',
    rejects: [
      { 'IBSCBS/valores/trib/gIBSCBS/cClassTrib': '000999' },
      { 'IBSCBS/valores/trib/gIBSCBS/cClassTrib': '000002' },
    ],
    accepts: [{ 'IBSCBS/valores/trib/gIBSCBS/CST': '200', 'IBSCBS/valores/trib/gIBSCBS/cClassTrib': '200052' }],
  },
  {
    code: 'E0959',
    at: 'IBSCBS/valores/trib/gIBSCBS/cClassTrib',
    message: (dps) => {
      const { CST, cClassTrib } = declaredIn(dps)!;
      return `cClassTrib ${cClassTrib} é do CST ${cClassTrib.slice(0, 3)}, e o CST informado é ${CST}. Os três primeiros algarismos devem ser o CST.`;
    },
    origin: 'Anexo I, E0959',
    why: 'Cada classificação pertence a um só CST; com dois que discordam não há o que calcular.',
    when: (dps) => dps.IBSCBS !== undefined,
    must: (dps) => declaredIn(dps)!.cClassTrib.startsWith(declaredIn(dps)!.CST),
    found: (dps) => `CST ${declaredIn(dps)?.CST}, cClassTrib ${declaredIn(dps)?.cClassTrib}`,
    rejects: [{ 'IBSCBS/valores/trib/gIBSCBS/CST': '200' }],
    accepts: [{ 'IBSCBS/valores/trib/gIBSCBS/CST': '410', 'IBSCBS/valores/trib/gIBSCBS/cClassTrib': '410004' }],
  },
];

function isUsable(classificacao: Classificacao | undefined, dCompet: string): boolean {
  if (classificacao === undefined || !classificacao.indNFSe) return false;
  const { inicioVigencia, fimVigencia } = classificacao;
  return inicioVigencia <= dCompet && (fimVigencia === undefined || dCompet <= fimVigencia);
}
