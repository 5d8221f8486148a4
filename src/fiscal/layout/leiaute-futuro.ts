/**
 * Elements of the next national layout, announced by technical notes and absent from every schema in production; the fault tells the sender
 * so (D-748). An element moves to a layout of its own here once that layout is published.
 */

/** The phrase of every message. */
export const DO_LEIAUTE_FUTURO = 'é do leiaute futuro (Notas Técnicas 007 e 009), que ainda não está em produção';

/** Elements that 1.01 does not have, each with the place of the same information in 1.01, if any. */
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
