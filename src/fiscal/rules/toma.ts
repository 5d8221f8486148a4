/** Rules of the taker, `toma`. That it has exactly one identifier is structure (E0188, in the layout). */
import { municipioOf, paisOf } from '../catalogs/catalogs.ts';
import type { Patch, Rule } from './rule.ts';

/** A taker abroad, complete, as a patch on the valid example. */
export const TOMADOR_NO_EXTERIOR: Patch = {
  'toma/CPF': null,
  'toma/NIF': 'PT123456789',
  'toma/end/endExt/cPais': 'PT',
  'toma/end/endExt/cEndPost': '1100-148',
  'toma/end/endExt/xCidade': 'Lisboa',
  'toma/end/endExt/xEstProvReg': 'Lisboa',
  'toma/end/xLgr': 'Rua Augusta',
  'toma/end/nro': '10',
  'toma/end/xBairro': 'Baixa',
  'serv/comExt/mdPrestacao': '1',
  'serv/comExt/vincPrest': '6',
  'serv/comExt/tpMoeda': '978',
  'serv/comExt/vServMoeda': '180.00',
  'serv/comExt/mecAFComexP': '01',
  'serv/comExt/mecAFComexT': '01',
  'serv/comExt/movTempBens': '1',
};

export const TOMA: readonly Rule[] = [
  {
    code: 'E0193',
    at: 'toma/cNaoNIF',
    message:
      'O tomador tem endereço no exterior e não traz NIF. Informe toma/NIF ou, se não há NIF, toma/cNaoNIF com o motivo (0 sem NIF, 1 dispensado, 2 não exigido).',
    origin: 'Especificação, DPS: toma/cNaoNIF; Errors: E0193',
    why: 'Quem está no exterior se identifica pelo seu número fiscal de lá, ou diz por que não o tem.',
    when: ({ toma }) => toma?.end?.endExt !== undefined,
    must: ({ toma }) => toma?.NIF !== undefined || toma?.cNaoNIF !== undefined,
    expected: 'NIF, ou cNaoNIF 0, 1 ou 2',
    rejects: [{ ...TOMADOR_NO_EXTERIOR, 'toma/NIF': null, 'toma/CPF': '52998224725' }],
    accepts: [TOMADOR_NO_EXTERIOR, { ...TOMADOR_NO_EXTERIOR, 'toma/NIF': null, 'toma/cNaoNIF': '2' }],
  },
  {
    code: 'E403',
    at: 'toma/end/endNac/cMun',
    message: ({ toma }) =>
      `O código IBGE ${toma?.end?.endNac?.cMun}, no endereço do tomador, não é de nenhum município. Consulte o catálogo de municípios.`,
    origin: 'Especificação, Errors: E403',
    why: 'O município do tomador pode ser o da incidência do imposto.',
    when: ({ toma }) => toma?.end?.endNac !== undefined,
    must: ({ toma }) => municipioOf(toma!.end!.endNac!.cMun) !== undefined,
    found: ({ toma }) => toma?.end?.endNac?.cMun,
    expected: 'código IBGE de um município do catálogo',
    rejects: [{ 'toma/end/endNac/cMun': '3550309' }],
    accepts: [{ 'toma/end/endNac/cMun': '3304557' }],
  },
  {
    code: 'E0242',
    at: 'toma/end/endExt',
    message:
      'O tomador é identificado por NIF e o prestador por CNPJ: informe o endereço no exterior, toma/end/endExt.',
    origin: 'Especificação, Errors: E0242; Anexo I, E0242',
    why: 'Um tomador com identificação fiscal estrangeira está no exterior, e o endereço diz em que país.',
    when: ({ toma, prest }) => toma?.NIF !== undefined && prest.CNPJ !== undefined,
    must: ({ toma }) => toma?.end?.endExt !== undefined,
    rejects: [
      {
        'toma/CPF': null,
        'toma/NIF': 'PT123456789',
        'toma/end': null,
      },
    ],
    accepts: [TOMADOR_NO_EXTERIOR],
  },
  {
    code: 'E0246',
    at: 'toma/end/endExt/cPais',
    message: ({ toma }) => {
      const cPais = toma?.end?.endExt?.cPais;
      return cPais === 'BR'
        ? 'cPais BR não é exterior: para endereço no Brasil use toma/end/endNac.'
        : `cPais ${cPais} não é um código de país ISO 3166-1. Consulte o catálogo de países.`;
    },
    origin: 'Especificação, Errors: E0246; Anexo I, E0246',
    why: 'O endereço no exterior exige um país que exista e não seja o Brasil.',
    when: ({ toma }) => toma?.end?.endExt !== undefined,
    must: ({ toma }) => paisOf(toma!.end!.endExt!.cPais)?.aceitoEnderecoExterior === true,
    found: ({ toma }) => toma?.end?.endExt?.cPais,
    expected: 'código ISO 3166-1 de duas letras, diferente de BR',
    rejects: [
      { ...TOMADOR_NO_EXTERIOR, 'toma/end/endExt/cPais': 'BR' },
      { ...TOMADOR_NO_EXTERIOR, 'toma/end/endExt/cPais': 'XQ' },
    ],
    accepts: [{ ...TOMADOR_NO_EXTERIOR, 'toma/end/endExt/cPais': 'US' }],
  },
];
