/**
 * Rules of the intermediary, `interm`. Its one identifier, its name (E0292) and the check digits of its CNPJ and CPF (E0248, E0266) are
 * structure. An intermediary that issues has no rules of its own: such a note is refused as a whole (E9996).
 */
import type { Dps } from '../layout/dps.ts';
import { addressInLisboa, askForNif, checkEmail, municipioHead, paisHead } from './address.ts';
import { cepOfParty } from './cep.ts';
import { annexHead, ofPart, type Patch, type Rule, whenPresent } from './rule.ts';
import { COMERCIO_EXTERIOR } from './toma.ts';

/** `tpRetISSQN`: the intermediary withholds. */
const RETIDO_PELO_INTERMEDIARIO = '3';

const PESSOA: Patch = {
  'interm/CNPJ': '11444777000161',
  'interm/xNome': 'Intermediária Exemplo Ltda',
};

/** An intermediary in Brazil, complete, as a patch on the valid example. */
const INTERMEDIARIO: Patch = {
  ...PESSOA,
  'interm/end/endNac/cMun': '3550308',
  'interm/end/endNac/CEP': '01310100',
  'interm/end/xLgr': 'Avenida Paulista',
  'interm/end/nro': '1000',
  'interm/end/xBairro': 'Bela Vista',
};

/** A complete intermediary abroad, as a patch. */
const INTERMEDIARIO_NO_EXTERIOR: Patch = {
  'interm/NIF': 'PT123456789',
  'interm/xNome': 'Intermediária de Lisboa',
  ...addressInLisboa('interm/end'),
  'interm/end/endExt/cPais': 'PT',
  ...COMERCIO_EXTERIOR,
};

const hasInterm = ({ interm }: Dps): boolean => interm !== undefined;

export const INTERM: readonly Rule[] = [
  ...ofPart(hasInterm, [
    whenPresent(({ interm }) => interm, {
      ...annexHead('E0281'),
      at: 'interm/NIF',
      title: 'Intermediário no exterior sem NIF e sem o motivo de não o ter',
      message: (interm) => askForNif('intermediário', 'interm', interm),
      mend: 'Informe interm/NIF; quando não existe, interm/cNaoNIF com 0 (sem NIF), 1 (dispensado) ou 2 (não exigido).',
      why: 'Quem está no exterior se identifica pelo seu número fiscal de lá, ou diz por que não o tem.',
      when: ({ end }) => end?.endExt !== undefined,
      must: ({ NIF, cNaoNIF }) => NIF !== undefined || cNaoNIF !== undefined,
      expected: 'NIF, ou cNaoNIF 0, 1 ou 2',
      rejects: [{ ...INTERMEDIARIO_NO_EXTERIOR, 'interm/NIF': null, 'interm/CPF': '11144477735' }],
      accepts: [INTERMEDIARIO_NO_EXTERIOR, { ...INTERMEDIARIO_NO_EXTERIOR, 'interm/NIF': null, 'interm/cNaoNIF': '1' }],
    }),
    {
      ...annexHead('E1388'),
      at: 'interm/end/endNac',
      title: 'Intermediário com CNPJ sem endereço no Brasil',
      message:
        'O intermediário é identificado por CNPJ, e falta o seu endereço no Brasil. Inclua interm/end com endNac, logradouro, número e bairro.',
      mend: 'Inclua interm/end com endNac (cMun e CEP), logradouro, número e bairro.',
      why: 'Quem tem CNPJ tem endereço no Brasil, e o ambiente nacional o exige na nota.',
      // A CNPJ with an address abroad is a mistake of the identification (E0281).
      when: ({ interm }) => interm?.CNPJ !== undefined && interm.end?.endExt === undefined,
      must: ({ interm }) => interm?.end?.endNac !== undefined,
      expected: 'endereço no Brasil',
      rejects: [PESSOA],
      accepts: [INTERMEDIARIO],
    },
  ]),
  {
    ...annexHead('E0293'),
    at: 'interm/end/endNac',
    title: 'ISSQN retido por um intermediário sem endereço no Brasil',
    message: ({ interm }) =>
      `tpRetISSQN 3 diz que o intermediário retém o ISSQN, e ${interm === undefined ? 'a DPS não tem intermediário' : 'falta o endereço dele no Brasil'}. Inclua interm com o endereço em endNac, ou corrija tpRetISSQN.`,
    mend: 'Inclua interm com o endereço em interm/end/endNac. Sem retenção, envie tpRetISSQN 1.',
    why: 'Quem retém o imposto o recolhe a um município, e o endereço diz de onde.',
    when: ({ valores }) => valores.trib.tribMun.tpRetISSQN === RETIDO_PELO_INTERMEDIARIO,
    must: ({ interm }) => interm?.end?.endNac !== undefined,
    expected: 'endereço no Brasil',
    rejects: [
      { 'valores/trib/tribMun/tpRetISSQN': RETIDO_PELO_INTERMEDIARIO },
      {
        'interm/CPF': '11144477735',
        'interm/xNome': 'João Exemplo',
        'valores/trib/tribMun/tpRetISSQN': RETIDO_PELO_INTERMEDIARIO,
      },
    ],
    accepts: [{ ...INTERMEDIARIO, 'valores/trib/tribMun/tpRetISSQN': RETIDO_PELO_INTERMEDIARIO }],
  },
  ...ofPart(hasInterm, [
    {
      ...municipioHead('no endereço do intermediário', ({ interm }: Dps) => interm?.end?.endNac?.cMun),
      at: 'interm/end/endNac/cMun',
      origin: 'Especificação, Errors: E403; Anexo I, E0294',
      why: 'O endereço do intermediário diz a que município ele responde quando retém o imposto.',
      rejects: [{ ...INTERMEDIARIO, 'interm/end/endNac/cMun': '3550309' }],
      accepts: [{ ...INTERMEDIARIO, 'interm/end/endNac/cMun': '3304557' }],
    },
    cepOfParty(
      { code: 'E0296', at: 'interm/end/endNac/CEP', whose: 'do intermediário', accepts: INTERMEDIARIO },
      ({ interm }) => interm?.end?.endNac,
    ),
    {
      ...annexHead('E0298'),
      at: 'interm/end/endExt',
      title: 'Intermediário com NIF sem endereço no exterior',
      message:
        'O intermediário é identificado por NIF e o prestador por CNPJ: informe o endereço no exterior, interm/end/endExt.',
      mend: 'Inclua em interm/end o grupo endExt completo: cPais, cEndPost, xCidade e xEstProvReg.',
      why: 'Quem tem identificação fiscal estrangeira está no exterior, e o endereço diz em que país.',
      when: ({ interm, prest }) => interm?.NIF !== undefined && prest.CNPJ !== undefined,
      must: ({ interm }) => interm?.end?.endExt !== undefined,
      rejects: [{ 'interm/NIF': 'PT123456789', 'interm/xNome': 'Intermediária de Lisboa', ...COMERCIO_EXTERIOR }],
      accepts: [INTERMEDIARIO_NO_EXTERIOR],
    },
    {
      ...annexHead('E0299'),
      ...paisHead(
        ({ interm }: Dps) => interm?.end?.endExt?.cPais,
        'para endereço no Brasil use interm/end/endNac.',
        ', no endereço do intermediário,',
      ),
      at: 'interm/end/endExt/cPais',
      title: 'O país do endereço do intermediário não existe ou é o Brasil',
      mend: 'Escolha o código em /catalogo/paises; para um endereço no Brasil use endNac.',
      rejects: [
        { ...INTERMEDIARIO_NO_EXTERIOR, 'interm/end/endExt/cPais': 'BR' },
        { ...INTERMEDIARIO_NO_EXTERIOR, 'interm/end/endExt/cPais': 'XQ' },
      ],
      accepts: [{ ...INTERMEDIARIO_NO_EXTERIOR, 'interm/end/endExt/cPais': 'US' }],
    },
    checkEmail(
      {
        code: 'E0300',
        at: 'interm/email',
        whose: 'do intermediário',
        rejects: [{ ...INTERMEDIARIO, 'interm/email': '@exemplo.com.br' }],
        accepts: [{ ...INTERMEDIARIO, 'interm/email': 'contato@exemplo.com.br' }],
      },
      ({ interm }) => interm?.email,
    ),
  ]),
];
