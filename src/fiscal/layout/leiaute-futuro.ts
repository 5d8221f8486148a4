/**
 * Elements of the next national layout, announced by technical notes and in no schema in production: their senders are told so. An
 * element moves to a layout of its own here once that is published.
 */

/** As every message says it. */
export const DO_LEIAUTE_FUTURO = 'é do leiaute futuro (Notas Técnicas 007 e 009), que ainda não está em produção';

/** Elements that 1.01 has nowhere, each with where 1.01 says the same, if it does. */
export const ELEMENTOS_FUTUROS: readonly (readonly [name: string, instead?: string])[] = [
  ['cAtvSN'],
  ['gIBSCBSAjuste'],
  ['gLocacao'],
  ['gPgtoVinc'],
  ['gTribSN'],
  ['gUnidImob'],
  ['indDoacao'],
  ['indZFMALC'],
  ['pAjusteBCISSQN', 'o percentual da dedução vai em valores/vDedRed/pDR'],
  ['regApIBSCBSSN'],
  ['tpAjusteBC', 'o tipo da dedução vai em tpDedRed, e o do reembolso em tpReeRepRes'],
  ['tpAjusteBCLocImoveis'],
  ['tpMeioPgto'],
  ['tpNFSeCredito'],
  ['tpNFSeDebito'],
  ['vAjusteBC', 'a dedução do ISSQN vai em valores/vDedRed, e o reembolso em IBSCBS/valores/gReeRepRes'],
  ['vAjusteBCISSQN', 'o valor da dedução vai em valores/vDedRed/vDR'],
  ['vCalcAjusteBCIBSCBS'],
  ['vCalcAjusteBCISSQN'],
  ['vReceitaBrutaSN'],
  ['verCalcIBSCBS'],
];
