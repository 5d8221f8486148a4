/** Rules of the municipality in which the ISSQN is due: derived, and compared with the declaration of a JSON body. */
import { municipioInWords, municipioOf, type RegraIncidencia, servicoOf } from '../catalogs/catalogs.ts';
import type { Declarado } from '../declarado.ts';
import type { Facts } from '../facts.ts';
import { incidenceOf, MARITIME } from '../incidence.ts';
import type { Dps } from '../layout/dps.ts';
import { annexHead, ofPart, type Patch, type Rule, whenPresent } from './rule.ts';
import { TOMADOR_NO_EXTERIOR } from './toma.ts';

/** A service provided abroad to a taker abroad. */
const ABROAD: Patch = { ...TOMADOR_NO_EXTERIOR, 'serv/locPrest/cPaisPrestacao': 'PT' };

const AT = 'NFSe/infNFSe/cLocIncid';

function regraOf({ serv }: Dps): RegraIncidencia | undefined {
  return servicoOf(serv.cServ.cTribNac)?.regra;
}

/** The declared municipality of incidence beside the derived one. */
function pairPlaces(dps: Dps, _facts: Facts, { municipio_incidencia: declared }: Declarado) {
  const derived = declared === undefined ? undefined : incidenceOf(dps);
  return declared === undefined || derived === undefined ? undefined : { declared, derived };
}

/** The municipality by the rule of the service, against the declared one. */
function compareDeclared(
  regra: RegraIncidencia,
  place: string,
  head: Pick<Rule, 'code' | 'title' | 'mend' | 'origin' | 'why' | 'scope' | 'national'>,
  examples: { readonly rejects: readonly Patch[]; readonly accepts: readonly Patch[] },
): Rule {
  return whenPresent(pairPlaces, {
    ...head,
    at: AT,
    message: ({ declared, derived }, { serv }) =>
      `O ISSQN do serviço ${serv.cServ.cTribNac} é devido ${place}, ${municipioInWords(derived)}, e o município de incidência declarado é ${municipioInWords(declared)}. Corrija-o, ou deixe-o de fora, que o serviço o calcula.`,
    // A code that is no municipality is another mistake (E403).
    when: ({ declared }, dps) => regraOf(dps) === regra && municipioOf(declared) !== undefined,
    must: ({ declared, derived }) => declared === derived,
    found: ({ declared }) => declared,
    ...examples,
  });
}

/**
 * Services that the closed list of the national E1317 puts elsewhere than the table of the same annex; this service follows the table
 * (D-22).
 */
const OTHERWISE_IN_THE_LIST: Readonly<Record<'EP' | 'LP', ReadonlySet<string>>> = {
  EP: new Set(['110301']),
  LP: new Set(['141401', '141402', '141403', '141404', '200201', '200301']),
};

/** The remark on the difference: the ADN finds another municipality of incidence if the place of provision is not the provider's. */
function remarkDoubtful(
  ours: 'EP' | 'LP',
  head: Pick<Rule, 'code' | 'origin'>,
  [due, listed]: readonly [due: string, listed: string],
  cTribNac: string,
): Rule {
  const isDoubtful = ({ serv, valores }: Dps): boolean =>
    valores.trib.tribMun.tribISSQN === '1' && OTHERWISE_IN_THE_LIST[ours].has(serv.cServ.cTribNac);
  return whenPresent((dps) => (isDoubtful(dps) ? incidenceOf(dps) : undefined), {
    ...head,
    at: 'serv/locPrest/cLocPrestacao',
    scope: 'aviso',
    message: (derived, { serv }) =>
      `O ISSQN do serviço ${serv.cServ.cTribNac} é devido ${due}, ${municipioInWords(derived)}, pela tabela de incidência do padrão nacional, e a lista com que o ADN confere a nota o põe ${listed}: ele pode recusá-la (${head.code}). Confira o local da prestação; se é esse, não há o que corrigir na DPS.`,
    why: 'Para 141401 a 141404, 200201, 200301 e 110301 o mesmo anexo diz dois lugares, na tabela de incidência e na lista fechada do E1317. A nota segue a tabela e é emitida, com um aviso de que o ADN a pode recusar.',
    must: (_derived, { serv, cLocEmi }) => {
      const { cLocPrestacao } = serv.locPrest;
      return cLocPrestacao === undefined || cLocPrestacao === MARITIME || cLocPrestacao === cLocEmi;
    },
    rejects: [{ 'serv/cServ/cTribNac': cTribNac, 'serv/locPrest/cLocPrestacao': '3304557' }],
    accepts: [{ 'serv/cServ/cTribNac': cTribNac }],
  });
}

export const INCIDENCIA: readonly Rule[] = [
  {
    code: 'E1305',
    at: 'valores/trib/tribMun/tribISSQN',
    message: (dps) => {
      const { serv, toma } = dps;
      const isTakers = regraOf(dps) === 'ET';
      if (isTakers && toma?.end?.endExt === undefined) {
        return `O ISSQN do serviço ${serv.cServ.cTribNac} é devido no município do tomador, e a DPS não traz o endereço dele. Informe toma/end.`;
      }
      return `O ISSQN do serviço ${serv.cServ.cTribNac} é devido ${isTakers ? 'onde está o tomador' : 'onde ele é prestado'}, e isso é no exterior: nenhum município o pode cobrar. Se é exportação, envie tribISSQN 3; se não, informe cLocPrestacao.`;
    },
    origin: 'Especificação, tribMun: incidência; decisão D-22',
    why: 'Uma operação tributável tem um município de incidência, derivado do serviço, do prestador, do tomador e do local.',
    national: 'No padrão nacional o serviço tributável prestado no exterior é E0530.',
    when: (dps) => {
      if (dps.valores.trib.tribMun.tribISSQN !== '1') return false;
      const regra = regraOf(dps);
      return regra !== undefined && regra !== 'NI';
    },
    must: (dps) => incidenceOf(dps) !== undefined,
    rejects: [
      { 'serv/cServ/cTribNac': '170501', 'toma/end': null, 'IBSCBS/cIndOp': '030101' },
      { ...ABROAD, 'serv/cServ/cTribNac': '171001' },
    ],
    accepts: [{ 'serv/cServ/cTribNac': '170501' }, ABROAD],
  },
  ...ofPart(
    (_dps, _facts, { municipio_incidencia }) => municipio_incidencia !== undefined,
    [
      whenPresent((_dps, _facts, { municipio_incidencia }) => municipio_incidencia, {
        code: 'E1301',
        at: AT,
        title: 'Município de incidência numa operação que não o tem',
        message: (declared, { valores }) =>
          `tribISSQN ${valores.trib.tribMun.tribISSQN} diz que não há ISSQN, e foi declarado o município de incidência ${municipioInWords(declared)}. Retire-o, ou corrija a tributação.`,
        mend: 'Retire o município de incidência, ou corrija tribISSQN.',
        origin: 'Especificação, tribMun: incidência; Errors: E1301; decisão D-22',
        why: 'Imunidade, exportação e não incidência não têm município de incidência.',
        must: (_declared, { valores }) => valores.trib.tribMun.tribISSQN === '1',
        found: (declared) => declared,
        rejects: [
          {
            'valores/trib/tribMun/tribISSQN': '4',
            'valores/trib/tribMun/pAliq': null,
            '=municipio_incidencia': '3550308',
          },
        ],
        accepts: [{ 'valores/trib/tribMun/tribISSQN': '4', 'valores/trib/tribMun/pAliq': null }],
      }),
      whenPresent((_dps, _facts, { municipio_incidencia }) => municipio_incidencia, {
        code: 'E403',
        at: AT,
        message: (declared) =>
          `O código IBGE ${declared}, declarado como município de incidência, não é de nenhum município. Corrija-o, ou deixe-o de fora, que o serviço o calcula.`,
        origin: 'Especificação, Errors: E403; decisões D-13 e D-22',
        why: 'O município de incidência declarado é comparado com o calculado, e para isso tem de existir.',
        // A declared municipality without incidence is another mistake (E1301).
        when: (_declared, { valores }) => valores.trib.tribMun.tribISSQN === '1',
        must: (declared) => municipioOf(declared) !== undefined,
        found: (declared) => declared,
        expected: 'código IBGE de um município de /catalogo/municipios',
        rejects: [
          { '=municipio_incidencia': '9999999' },
          { '=municipio_incidencia': '9999999', 'serv/cServ/cTribNac': '171001' },
          { '=municipio_incidencia': '3550309', 'serv/cServ/cTribNac': '170501' },
        ],
        accepts: [{ '=municipio_incidencia': '3550308' }],
      }),
      compareDeclared(
        'LP',
        'no local da prestação',
        {
          code: 'E1317',
          title: 'A incidência deste serviço é no local da prestação',
          mend: 'Retire o município de incidência declarado, que é calculado, ou corrija o município da prestação.',
          origin: 'Especificação, Errors: E1317; decisão D-22',
          why: 'A lei manda cobrar o ISSQN deste serviço onde ele é prestado (LC 116/2003, art. 3º), e o município declarado é outro.',
          national:
            'A lista fechada do E1317 nacional difere em poucos códigos da tabela de incidência do mesmo anexo, que é a que se aplica aqui: traz 110301 e não traz 141401 a 141404, 200101, 200201 e 200301.',
        },
        {
          rejects: [
            {
              'serv/cServ/cTribNac': '171001',
              'serv/locPrest/cLocPrestacao': '3304557',
              '=municipio_incidencia': '3550308',
            },
          ],
          accepts: [
            {
              'serv/cServ/cTribNac': '171001',
              'serv/locPrest/cLocPrestacao': '3304557',
              '=municipio_incidencia': '3304557',
            },
          ],
        },
      ),
      compareDeclared(
        'ET',
        'no município do tomador',
        {
          code: 'E1321',
          title: 'A incidência deste serviço é no município do tomador',
          mend: 'Retire o município de incidência declarado, que é calculado, ou corrija o endereço do tomador.',
          origin: 'Especificação, Errors: E1321; decisão D-22',
          why: 'A lei manda cobrar o ISSQN deste serviço onde está o tomador (LC 116/2003, art. 3º, XX), e o município declarado é outro.',
        },
        {
          rejects: [
            { 'serv/cServ/cTribNac': '170501', 'toma/end/endNac/cMun': '3304557', '=municipio_incidencia': '3550308' },
          ],
          accepts: [
            { 'serv/cServ/cTribNac': '170501', 'toma/end/endNac/cMun': '3304557', '=municipio_incidencia': '3304557' },
          ],
        },
      ),
      compareDeclared(
        'EP',
        'no município do prestador',
        {
          ...annexHead('E1325', 'decisão D-22'),
          title: 'A incidência deste serviço é no município do prestador',
          mend: 'Retire o município de incidência declarado, que é calculado, ou corrija o código do serviço.',
          why: 'A regra geral da lei é cobrar o ISSQN onde está o estabelecimento do prestador (LC 116/2003, art. 3º), e o município declarado é outro.',
        },
        {
          rejects: [{ '=municipio_incidencia': '3304557' }],
          accepts: [{ '=municipio_incidencia': '3550308' }],
        },
      ),
    ],
  ),
  remarkDoubtful(
    'EP',
    { code: 'E1317', origin: 'Anexo I, E1317; decisões D-22 e D-195' },
    ['no município do prestador', 'no local da prestação'],
    '110301',
  ),
  remarkDoubtful(
    'LP',
    { code: 'E1325', origin: 'Anexo I, E1325; decisões D-22 e D-195' },
    ['no local da prestação', 'no município do prestador'],
    '141401',
  ),
];
