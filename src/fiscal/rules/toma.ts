/**
 * Rules of the taker, `toma`. Its single identifier (E0188), its name, and a NIF that is not empty (E0191) are structure. The check digits
 * of CNPJ and CPF (E0003) are structure too. A taker that issues has no rules of its own: such a note is refused as a whole (E9996).
 */
import { servicoOf } from '../catalogs/catalogs.ts';
import type { Dps } from '../layout/dps.ts';
import { indOpOf } from '../operation.ts';
import { addressInLisboa, askForNif, checkEmail, municipioHead, paisHead } from './address.ts';
import { cepOfParty } from './cep.ts';
import { annexHead, type Patch, type Rule, whenPresent } from './rule.ts';

/** Operation indicators whose place is the taker's (Anexo I, E0187 and E0234). */
const IND_OP_DO_TOMADOR: ReadonlySet<string> = new Set(
  '030102 030103 050102 050103 100101 100102 100201 100301 100302 100401 100501 100502 100601'.split(' '),
);

/** An indicator that does not depend on the taker: the place is that of the provision. */
const SEM_TOMADOR: Patch = { 'IBSCBS/cIndOp': '030101' };

/** A complete group of foreign trade, for a party abroad. */
export const COMERCIO_EXTERIOR: Patch = {
  'serv/comExt/mdPrestacao': '1',
  'serv/comExt/vincPrest': '6',
  'serv/comExt/tpMoeda': '978',
  'serv/comExt/vServMoeda': '180.00',
  'serv/comExt/mecAFComexP': '01',
  'serv/comExt/mecAFComexT': '01',
  'serv/comExt/movTempBens': '1',
};

/** A taker abroad, complete, as a patch on the valid example. */
export const TOMADOR_NO_EXTERIOR: Patch = {
  'toma/CPF': null,
  'toma/NIF': 'PT123456789',
  ...addressInLisboa('toma/end'),
  'toma/end/endExt/cPais': 'PT',
  ...COMERCIO_EXTERIOR,
};

/** `tpRetISSQN`: the taker withholds. */
const RETIDO_PELO_TOMADOR = '2';

export const TOMA: readonly Rule[] = [
  {
    ...annexHead('E0187'),
    at: 'toma',
    title: 'Falta o tomador, que o indicador da operação pede',
    message: (dps) =>
      `O indicador da operação ${indOpOf(dps)}${dps.IBSCBS?.cIndOp === undefined ? ', que o serviço usa por não ter vindo outro em IBSCBS/cIndOp,' : ''} é dos que pedem o tomador, e o grupo toma não veio. Inclua toma com o endereço, ou informe em IBSCBS/cIndOp o indicador que é o desta operação.`,
    mend: 'Inclua toma com identificação, nome e endereço. Sem tomador identificado, use um cIndOp que não dependa dele, se algum descreve a operação.',
    why: 'Nesses indicadores o local do IBS e da CBS é o do tomador, e sem ele não se sabe a quem cabe o imposto.',
    must: (dps) => dps.toma !== undefined || !wantsTaker(dps),
    rejects: [{ toma: null }, { toma: null, 'IBSCBS/cIndOp': null }],
    accepts: [{ toma: null, ...SEM_TOMADOR }],
  },
  {
    ...annexHead('E0204'),
    at: 'toma/CNPJ',
    title: 'ISSQN retido por um tomador sem CNPJ nem CPF',
    message: ({ toma }) =>
      `tpRetISSQN 2 diz que o tomador retém o ISSQN, e ${toma === undefined ? 'a DPS não tem tomador' : 'ele não traz CNPJ nem CPF'}. Identifique o tomador por CNPJ ou CPF, com o endereço no Brasil, ou envie tpRetISSQN 1.`,
    mend: 'Identifique o tomador por CNPJ ou CPF, com o endereço no Brasil. Sem retenção, envie tpRetISSQN 1.',
    why: 'Quem retém o imposto o recolhe, e para isso tem inscrição no Brasil.',
    when: ({ valores }) => valores.trib.tribMun.tpRetISSQN === RETIDO_PELO_TOMADOR,
    must: ({ toma }) => toma?.CNPJ !== undefined || toma?.CPF !== undefined,
    expected: 'CNPJ ou CPF',
    rejects: [{ toma: null, ...SEM_TOMADOR, 'valores/trib/tribMun/tpRetISSQN': RETIDO_PELO_TOMADOR }],
    accepts: [{ 'valores/trib/tribMun/tpRetISSQN': RETIDO_PELO_TOMADOR }],
  },
  whenPresent(({ toma }) => toma, {
    code: 'E0193',
    at: 'toma/cNaoNIF',
    message: (toma) => askForNif('tomador', 'toma', toma),
    origin: 'Especificação, DPS: toma/cNaoNIF; Errors: E0193',
    why: 'Quem está no exterior se identifica pelo seu número fiscal de lá, ou diz por que não o tem.',
    national: 'O padrão nacional responde E0223 ao tomador que tem endereço no exterior e nem NIF nem cNaoNIF.',
    when: ({ end }) => end?.endExt !== undefined,
    must: ({ NIF, cNaoNIF }) => NIF !== undefined || cNaoNIF !== undefined,
    expected: 'NIF, ou cNaoNIF 0, 1 ou 2',
    rejects: [{ ...TOMADOR_NO_EXTERIOR, 'toma/NIF': null, 'toma/CPF': '52998224725' }],
    accepts: [TOMADOR_NO_EXTERIOR, { ...TOMADOR_NO_EXTERIOR, 'toma/NIF': null, 'toma/cNaoNIF': '2' }],
  }),
  {
    ...annexHead('E0234'),
    at: 'toma/end',
    title: 'Falta o endereço do tomador',
    message: (dps) =>
      `O endereço do tomador é obrigatório, porque ${
        isOfTaker(dps)
          ? `a incidência do serviço ${dps.serv.cServ.cTribNac} é no município dele`
          : `o indicador da operação ${indOpOf(dps)} põe no lugar dele o IBS e a CBS`
      }. Inclua toma/end.`,
    mend: 'Inclua toma/end, com endNac ou endExt, logradouro, número e bairro.',
    why: 'O local do tomador decide a quem cabe o imposto, e só o seu endereço o diz.',
    must: (dps) => dps.toma?.end !== undefined || !(isOfTaker(dps) || (dps.toma !== undefined && wantsTaker(dps))),
    expected: 'endereço do tomador',
    rejects: [{ 'toma/end': null }],
    accepts: [{ 'toma/end': null, ...SEM_TOMADOR }],
  },
  {
    code: 'E002',
    at: 'toma/end/endNac',
    scope: 'nacional',
    message:
      'O tomador é identificado por CNPJ, e falta o seu endereço no Brasil. Inclua toma/end com endNac, logradouro, número e bairro.',
    origin: 'Anexo I, E0235',
    why: 'Quem tem CNPJ tem endereço no Brasil, e o ambiente nacional o exige na nota.',
    // A CNPJ with an address abroad is a mistake of the identification (E0193).
    when: ({ toma }) => toma?.CNPJ !== undefined && toma.end?.endExt === undefined,
    must: ({ toma }) => toma?.end?.endNac !== undefined,
    expected: 'endereço no Brasil',
    rejects: [{ 'toma/CPF': null, 'toma/CNPJ': '11444777000161', 'toma/end': null, ...SEM_TOMADOR }],
    accepts: [{ 'toma/CPF': null, 'toma/CNPJ': '11444777000161' }],
  },
  {
    ...annexHead('E0237'),
    at: 'toma/end/endNac',
    title: 'ISSQN retido por um tomador sem endereço no Brasil',
    message:
      'tpRetISSQN 2 diz que o tomador retém o ISSQN, e falta o seu endereço no Brasil. Inclua toma/end com endNac, ou envie tpRetISSQN 1.',
    mend: 'Inclua toma/end com endNac (cMun e CEP). Sem retenção, envie tpRetISSQN 1.',
    why: 'Quem retém o imposto o recolhe a um município, e o endereço diz de onde.',
    when: ({ toma, valores }) =>
      valores.trib.tribMun.tpRetISSQN === RETIDO_PELO_TOMADOR && (toma?.CNPJ ?? toma?.CPF) !== undefined,
    must: ({ toma }) => toma?.end?.endNac !== undefined,
    expected: 'endereço no Brasil',
    rejects: [{ 'toma/end': null, ...SEM_TOMADOR, 'valores/trib/tribMun/tpRetISSQN': RETIDO_PELO_TOMADOR }],
    accepts: [{ 'valores/trib/tribMun/tpRetISSQN': RETIDO_PELO_TOMADOR }],
  },
  {
    ...municipioHead('no endereço do tomador', ({ toma }: Dps) => toma?.end?.endNac?.cMun),
    at: 'toma/end/endNac/cMun',
    origin: 'Especificação, Errors: E403',
    why: 'O município do tomador pode ser o da incidência do imposto.',
    rejects: [{ 'toma/end/endNac/cMun': '3550309' }],
    accepts: [{ 'toma/end/endNac/cMun': '3304557' }],
  },
  cepOfParty(
    { code: 'E0240', at: 'toma/end/endNac/CEP', whose: 'do tomador', accepts: {} },
    ({ toma }) => toma?.end?.endNac,
  ),
  {
    code: 'E0242',
    at: 'toma/end/endExt',
    message:
      'O tomador é identificado por NIF e o prestador por CNPJ: informe o endereço no exterior, toma/end/endExt.',
    origin: 'Especificação, Errors: E0242; Anexo I, E0242',
    why: 'Um tomador com identificação fiscal estrangeira está no exterior, e o endereço diz em que país.',
    when: ({ toma, prest }) => toma?.NIF !== undefined && prest.CNPJ !== undefined,
    must: ({ toma }) => toma?.end?.endExt !== undefined,
    rejects: [{ 'toma/CPF': null, 'toma/NIF': 'PT123456789', 'toma/end': null, ...COMERCIO_EXTERIOR, ...SEM_TOMADOR }],
    accepts: [TOMADOR_NO_EXTERIOR],
  },
  {
    code: 'E0246',
    ...paisHead(({ toma }: Dps) => toma?.end?.endExt?.cPais, 'para endereço no Brasil use toma/end/endNac.'),
    at: 'toma/end/endExt/cPais',
    origin: 'Especificação, Errors: E0246; Anexo I, E0246',
    rejects: [
      { ...TOMADOR_NO_EXTERIOR, 'toma/end/endExt/cPais': 'BR' },
      { ...TOMADOR_NO_EXTERIOR, 'toma/end/endExt/cPais': 'XQ' },
    ],
    accepts: [{ ...TOMADOR_NO_EXTERIOR, 'toma/end/endExt/cPais': 'US' }],
  },
  checkEmail(
    {
      code: 'E0247',
      at: 'toma/email',
      whose: 'do tomador',
      rejects: [{ 'toma/email': 'maria' }, { 'toma/email': 'maria@exemplo..com.br' }],
      accepts: [{ 'toma/email': 'maria@exemplo.com.br' }],
    },
    ({ toma }) => toma?.email,
  ),
];

function wantsTaker(dps: Dps): boolean {
  return dps.IBSCBS !== undefined && IND_OP_DO_TOMADOR.has(indOpOf(dps));
}

/** Whether the ISSQN of the service is due at the taker's place. E1305 requires the address of a taxable operation. */
function isOfTaker({ serv, valores }: Dps): boolean {
  return valores.trib.tribMun.tribISSQN !== '1' && servicoOf(serv.cServ.cTribNac)?.regra === 'ET';
}
