/**
 * The dry run as an address (D-25): the request and the refusals are those of issuance. The amounts with every step of their calculation
 * take the place of the note. Amounts of IBS and CBS have the names under which a JSON body declares them.
 */

import { readSentDps } from '../../base/http/content.ts';
import { avisosOf } from '../../base/http/envelope.ts';
import type { Call } from '../../base/http/route.ts';
import { municipioOf } from '../../fiscal/catalogs/catalogs.ts';
import { type Decimal, formatDecimal } from '../../fiscal/decimal.ts';
import type { DeclaradoIbsCbs } from '../../fiscal/declarado.ts';
import { officialValues } from '../../fiscal/rules/ibscbs-declarado.ts';
import { type Field, type Fields, type FieldsOf, field, orAbsent, orNull } from '../../published/openapi/field.ts';
import { type Passo, type Validated, validateNota } from './validate.ts';

const AMOUNT_FIELDS = {
  municipio_incidencia: orNull(
    field.shape(
      'MunicipioIncidencia',
      'Onde o ISSQN é devido: código IBGE, nome e UF; null quando a operação não tem incidência.',
    ),
  ),
  valores: field.shape(
    'Valores',
    'Os valores do ISSQN e das retenções, em texto decimal; null o que não consta da nota.',
  ),
  ibscbs: orNull(
    field.shape(
      'ValoresIbsCbs',
      'O cálculo oficial do IBS e da CBS, com os nomes em que o corpo JSON o declara; null sem o grupo ou sem alíquota publicada.',
    ),
  ),
  calculo: field.shape('Passo[]', 'Cada passo do cálculo, na ordem: campo da nota, como se chegou a ele, e o valor.'),
  avisos: field.shape('Aviso[]', 'O que não impediria a emissão e convém saber.'),
} as const satisfies Fields;

export const VALIDACAO_FIELDS = {
  identificador_dps: orNull(
    field.text(
      'Identificador que a DPS teria, pelo qual se consulta. O de uma DPS sem número é o que ela tomaria agora: outra emissão pode tomá-lo antes. Null, raramente, quando os mil números seguintes da série estão em uso.',
    ),
  ),
  ...AMOUNT_FIELDS,
} as const satisfies Fields;

export const VALIDACAO_SHAPES = {
  MunicipioIncidencia: {
    codigo: field.text('Código IBGE, 7 dígitos.'),
    nome: field.text('Nome do município.'),
    uf: field.text('Sigla do estado.'),
  },
  Valores: {
    valor_servico: field.amount('Preço do serviço, como declarado.'),
    valor_deducao: field.amount('O que a dedução ou redução tira da base.'),
    valor_beneficio: field.amount('O que o benefício municipal tira da base.'),
    valor_base_calculo: orNull(field.amount('Base de cálculo do ISSQN.')),
    aliquota_issqn: orNull(field.amount('Alíquota aplicada, em percentual.')),
    valor_issqn: orNull(field.amount('ISSQN.')),
    valor_issqn_retido: field.amount('ISSQN retido pelo tomador ou intermediário.'),
    valor_total_retido: orNull(field.amount('Soma das retenções.')),
    valor_liquido: field.amount('O que o prestador recebe.'),
  } satisfies FieldsOf<ReturnType<typeof presentValidated>['valores']>,
  ValoresIbsCbs: {
    valores_base_calculo: field.amount('Base de cálculo.'),
    valores_aliquota_ibs_uf: field.amount('Alíquota do IBS estadual, em percentual.'),
    valores_aliquota_ibs_municipal: field.amount('Alíquota do IBS municipal, em percentual.'),
    valores_aliquota_cbs: field.amount('Alíquota da CBS, em percentual.'),
    valores_aliquota_efetiva_ibs_uf: field.amount('A do IBS estadual depois da redução da classificação.'),
    valores_aliquota_efetiva_ibs_municipal: field.amount('A do IBS municipal depois da redução.'),
    valores_aliquota_efetiva_cbs: field.amount('A da CBS depois da redução.'),
    total_ibs_uf: field.amount('IBS estadual.'),
    total_ibs_municipal: field.amount('IBS municipal.'),
    total_ibs: field.amount('IBS, os dois somados.'),
    total_cbs: field.amount('CBS.'),
    total_nota: field.amount('Total da nota.'),
  } satisfies FieldsOf<Record<keyof DeclaradoIbsCbs, unknown>>,
  Passo: {
    campo: field.text('Campo da nota, abaixo de infNFSe.'),
    campo_json: orAbsent(field.text('Para quem enviou JSON: o nome dele no corpo, ou nos valores desta resposta.')),
    formula: field.text(
      'Como se chegou a ele, em palavras, com os nomes da DPS ou, para quem enviou JSON, os do corpo.',
    ),
    valor: orNull(field.amount('O valor; null quando não consta da nota.')),
  } satisfies FieldsOf<Passo>,
} as const;

/** Additional fields of a refusal in production, when the check was incomplete. */
export const NAO_CONFERIDO_FIELDS = {
  nao_conferido: orAbsent(
    field.texts(
      'Na validação sem emitir, em produção, sem a assinatura válida do prestador ou com a estrutura errada: o que não foi olhado, e que a emissão ainda pode recusar.',
    ),
  ),
  ...Object.fromEntries(Object.entries(AMOUNT_FIELDS).map(([name, one]) => [name, describeAsSaid(one)])),
} as const satisfies Fields;

function describeAsSaid(one: Field): Field {
  const about = `Com nao_conferido, quando só falta a assinatura válida, pelo que a DPS diz e pelo que o município publica. ${one.about}`;
  return orAbsent({ ...one, about });
}

export async function validate(call: Call) {
  const { world, municipio, site } = call;
  const validated = await validateNota(world, municipio, readSentDps(call));
  if (!('faults' in validated)) {
    return { body: { status: 'OK', ...presentValidated(validated), avisos: avisosOf(validated.avisos, site) } };
  }
  const { unlooked, ...refusal } = validated;
  if (unlooked === undefined) return { refusal };
  const { isUnsigned, nao_conferido, asSaid } = unlooked;
  const amounts = asSaid && { ...amountsOf(asSaid), avisos: avisosOf(asSaid.avisos, site) };
  // A document without its provider's signature counts as a guess, so that many of them are slowed down (D-40).
  return { refusal, beside: { nao_conferido, ...amounts }, isMiss: isUnsigned };
}

/** The answer of a dry run without faults. */
export function presentValidated(validated: Validated) {
  return { identificador_dps: validated.idDps ?? null, ...amountsOf(validated) };
}

function amountsOf({ dps, amounts, ibscbs, cLocIncid, calculo }: Validated) {
  const { vBC, pAliqAplic, vISSQN, vISSQNRet, vTotalRet, vLiq, deduction, benefit } = amounts;
  const municipio = cLocIncid === undefined ? undefined : municipioOf(cLocIncid);
  return {
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
