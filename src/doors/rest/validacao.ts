/**
 * The dry run as an address (D-25): the same request as issuance, the same refusal, and in place of the note the amounts
 * that it would have, with every step of their calculation. The amounts of IBS and CBS have the names under which a JSON body
 * declares them.
 */
import { municipioOf } from '../../fiscal/catalogs/catalogs.ts';
import { type Decimal, formatDecimal } from '../../fiscal/decimal.ts';
import { officialValues } from '../../fiscal/rules/ibscbs-declarado.ts';
import { type Validated, validateNota } from '../../flows/validate-dps.ts';
import { avisosOf } from './envelope.ts';
import type { Call, Field } from './routes.ts';
import { sentIn } from './sent.ts';

export const VALIDACAO_FIELDS = {
  identificador_dps: {
    type: 'string',
    about: 'Identificador que a DPS teria, pelo qual se consulta; null quando o número fica por conta do serviço.',
  },
  municipio_incidencia: {
    type: 'MunicipioIncidencia',
    about: 'Onde o ISSQN é devido: código IBGE, nome e UF; null quando a operação não tem incidência.',
  },
  valores: {
    type: 'Valores',
    about: 'Os valores do ISSQN e das retenções, em texto decimal; null o que não consta da nota.',
  },
  ibscbs: {
    type: 'ValoresIbsCbs',
    about:
      'O cálculo oficial do IBS e da CBS, com os nomes em que o corpo JSON o declara; null sem o grupo ou sem alíquota publicada.',
  },
  calculo: {
    type: 'Passo[]',
    about: 'Cada passo do cálculo, na ordem: campo da nota, como se chegou a ele, e o valor.',
  },
  avisos: { type: 'Aviso[]', about: 'O que não impediria a emissão e convém saber.' },
} as const satisfies Readonly<Record<string, Field>>;

export async function validate(call: Call) {
  const { world, municipio, site } = call;
  const validated = await validateNota(world, municipio, sentIn(call));
  if ('faults' in validated) return { refusal: validated };
  return { body: { status: 'OK', ...shown(validated), avisos: avisosOf(validated.avisos, site) } };
}

/** What a dry run found, as it is answered. */
export function shown({ dps, amounts, ibscbs, cLocIncid, idDps, calculo }: Validated) {
  const { vBC, pAliqAplic, vISSQN, vISSQNRet, vTotalRet, vLiq, deduction, benefit } = amounts;
  const municipio = cLocIncid === undefined ? undefined : municipioOf(cLocIncid);
  return {
    identificador_dps: idDps ?? null,
    municipio_incidencia:
      municipio === undefined ? null : { codigo: municipio.codigoIbge, nome: municipio.nome, uf: municipio.uf },
    valores: {
      valor_servico: formatDecimal(dps.valores.vServPrest.vServ),
      valor_deducao: formatDecimal(deduction),
      valor_beneficio: formatDecimal(benefit),
      valor_base_calculo: text(vBC),
      aliquota_issqn: text(pAliqAplic),
      valor_issqn: text(vISSQN),
      valor_issqn_retido: formatDecimal(vISSQNRet),
      valor_total_retido: text(vTotalRet),
      valor_liquido: formatDecimal(vLiq),
    },
    ibscbs:
      ibscbs === undefined
        ? null
        : Object.fromEntries(
            Object.entries(officialValues(ibscbs)).map(([name, value]) => [name, formatDecimal(value)]),
          ),
    calculo,
  };
}

function text(value: Decimal | undefined): string | null {
  return value === undefined ? null : formatDecimal(value);
}
