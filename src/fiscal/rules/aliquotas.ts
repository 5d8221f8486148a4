/** A remark about the rates of the IBS and the CBS: the classification of the note has its own rates. */
import { TRIBUTOS_IBS_CBS } from '../catalogs/catalogs.ts';
import { formatRate } from '../decimal.ts';
import type { Facts } from '../facts.ts';
import type { Dps } from '../layout/dps.ts';
import { aliquotasDe } from '../operation.ts';
import { type Patch, type Rule, whenPresent } from './rule.ts';

const TRIB = 'IBSCBS/valores/trib/gIBSCBS';

const LOCACAO: Patch = { [`${TRIB}/CST`]: '221', [`${TRIB}/cClassTrib`]: '221001' };

export const ALIQUOTAS: readonly Rule[] = [
  whenPresent(({ IBSCBS }) => IBSCBS?.valores.trib.gIBSCBS.cClassTrib, {
    code: 'E1539',
    at: `${TRIB}/cClassTrib`,
    scope: 'aviso',
    title: 'A alíquota do IBS estadual diverge do cálculo oficial',
    message: (cClassTrib, dps, facts) =>
      `O cClassTrib ${cClassTrib} tem alíquotas próprias na calculadora oficial: ${diferencas(dps, facts).join('; ')}. A nota leva as próprias, com que o ambiente nacional a confere. Confira se a classificação é a do serviço.`,
    mend: 'Confira o cClassTrib: se é o do serviço, não há o que corrigir, e a nota leva as alíquotas que ele tem na calculadora oficial.',
    origin: 'Anexo I, E1539, E1558, E1568 e E1582 (CALCULADORA); decisão D-115',
    why: 'A especificação dá as alíquotas gerais, reduzidas conforme a classificação; para algumas classificações a calculadora oficial tem outras, e o ambiente nacional compara a nota com ela.',
    when: (cClassTrib, _dps, { tabelaIbsCbs }) => tabelaIbsCbs.proprias.has(cClassTrib),
    must: (_cClassTrib, dps, facts) => diferencas(dps, facts).length === 0,
    rejects: [LOCACAO],
    accepts: [{}, { [`${TRIB}/CST`]: '010', [`${TRIB}/cClassTrib`]: '010002' }],
  }),
];

/** Both rates of each tribute whose own rate differs from the general one. */
function diferencas(dps: Dps, { tabelaIbsCbs }: Facts): readonly string[] {
  return TRIBUTOS_IBS_CBS.flatMap((tributo) => {
    const { propria, geral } = aliquotasDe(dps, tributo, tabelaIbsCbs) ?? {};
    if (propria === undefined || propria.rate === geral?.rate) return [];
    const instead = geral === undefined ? 'sem alíquota geral publicada' : `no lugar de ${formatRate(geral.rate)} %`;
    return [`${tributo} ${formatRate(propria.rate)} % (${instead})`];
  });
}
