/** All rules, in the order of the layout, which is the order of the answer. */
import { ALIQUOTAS } from './aliquotas.ts';
import { ATV_EVENTO } from './atv-evento.ts';
import { ISENCAO_ABAIXO_DO_MINIMO } from './beneficio.ts';
import { CABECALHO } from './cabecalho.ts';
import { DEDUCAO_REGISTRADA, INCIDENCIA_REGISTRADA, REGIME_REGISTRADO } from './cadastro.ts';
import { CODIFICACAO } from './codificacao.ts';
import { COM_EXT } from './com-ext.ts';
import { DED_RED } from './ded-red.ts';
import { IBSCBS } from './ibscbs.ts';
import { IBSCBS_DECLARADO } from './ibscbs-declarado.ts';
import { IMOVEL } from './imovel.ts';
import { IMPRESSAO } from './impressao.ts';
import { INCIDENCIA } from './incidencia.ts';
import { INFO_COMPL } from './info-compl.ts';
import { INTERM } from './interm.ts';
import { OBRA } from './obra.ts';
import { PREST } from './prest.ts';
import { REE_REP_RES } from './ree-rep-res.ts';
import type { AmountRule, IbsCbsRule, Rule } from './rule.ts';
import { SERV } from './serv.ts';
import { SUBST } from './subst.ts';
import { TOMA } from './toma.ts';
import { TOT_TRIB } from './tot-trib.ts';
import { TRIB_FED } from './trib-fed.ts';
import { TRIB_MUN, TRIB_MUN_CALCULADO } from './trib-mun.ts';
import { VALORES, VALORES_CALCULADOS } from './valores.ts';

export const RULES: readonly Rule[] = [
  ...CABECALHO,
  ...SUBST,
  ...PREST,
  ...REGIME_REGISTRADO,
  ...TOMA,
  ...INTERM,
  ...SERV,
  ...COM_EXT,
  ...OBRA,
  ...ATV_EVENTO,
  ...INFO_COMPL,
  ...VALORES,
  ISENCAO_ABAIXO_DO_MINIMO,
  ...DED_RED,
  ...DEDUCAO_REGISTRADA,
  ...INCIDENCIA_REGISTRADA,
  ...TRIB_MUN,
  ...INCIDENCIA,
  ...TRIB_FED,
  ...TOT_TRIB,
  ...IBSCBS,
  ...ALIQUOTAS,
  ...IMOVEL,
  ...REE_REP_RES,
  // Rules about the texts of the whole document.
  ...CODIFICACAO,
  ...IMPRESSAO,
];

/** Judged after all the rules above hold, over the amounts of the ISSQN. */
export const AMOUNT_RULES: readonly AmountRule[] = [...VALORES_CALCULADOS, ...TRIB_MUN_CALCULADO];

/** Judged last: the IBS and CBS that a JSON body declared, against the official calculation. */
export const IBSCBS_RULES: readonly IbsCbsRule[] = IBSCBS_DECLARADO;

/** The three tables together, in the order in which they are judged. */
export const ALL_RULES: readonly (Rule | AmountRule | IbsCbsRule)[] = [...RULES, ...AMOUNT_RULES, ...IBSCBS_RULES];
