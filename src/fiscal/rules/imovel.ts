/** Rules of the property, `IBSCBS/imovel`. The form of `cCIB` is structure (E0373); the algorithm of its check digit is not published. */

import type { Dps } from '../layout/dps.ts';
import { correlatedIndOp, defaultIndOp, INDICADORES_DE_IMOVEL, indOpOf } from '../operation.ts';
import { addressInLisboa } from './address.ts';
import { PRESTADO_FORA } from './obra.ts';
import { annexHead, ofPart, type Patch, type Rule } from './rule.ts';

/** Construction, for which `serv/obra` identifies the place: the list of the works without 141403 and 141404 (Anexo I, E0931). */
const CONSTRUCAO: ReadonlySet<string> = new Set(
  '070201 070202 070401 070501 070502 070601 070602 070701 070801 071701 071901'.split(' '),
);

const INDICADORES = '020101, 020201 ou 020301';

const isConstrucao = ({ serv }: Dps): boolean => CONSTRUCAO.has(serv.cServ.cTribNac);

/** A service on a property, with an indicator of properties. */
const NUM_IMOVEL: Patch = {
  'serv/cServ/cTribNac': '071001',
  'serv/cServ/cNBS': '118031000',
  'IBSCBS/cIndOp': '020201',
};

const COM_CIB: Patch = { ...NUM_IMOVEL, 'IBSCBS/imovel/cCIB': '12345678' };

const ENDERECO: Patch = {
  'IBSCBS/imovel/end/xLgr': 'Rua das Flores',
  'IBSCBS/imovel/end/nro': '10',
  'IBSCBS/imovel/end/xBairro': 'Centro',
};

const NO_EXTERIOR: Patch = {
  ...addressInLisboa('IBSCBS/imovel/end'),
  ...ENDERECO,
};

const hasImovel = ({ IBSCBS }: Dps): boolean => IBSCBS?.imovel !== undefined;

export const IMOVEL: readonly Rule[] = [
  ...ofPart(hasImovel, [
    {
      code: 'E0928',
      at: 'IBSCBS/imovel',
      title: 'Grupo de imóvel em desacordo com o serviço e o indicador da operação',
      message: (dps) =>
        dps.IBSCBS?.cIndOp === undefined
          ? `A DPS traz IBSCBS/imovel e não traz cIndOp; o indicador deste serviço é então ${indOpOf(dps)}, que não é de imóvel. Informe cIndOp ${INDICADORES}, ou retire imovel.`
          : `A DPS traz IBSCBS/imovel, e cIndOp ${dps.IBSCBS.cIndOp} não é de imóvel, nem o cTribNac ${dps.serv.cServ.cTribNac} é de construção. Informe cIndOp ${INDICADORES}, ou retire imovel.`,
      mend: `Retire IBSCBS/imovel, ou informe em cIndOp um indicador de imóvel: ${INDICADORES}.`,
      origin: 'Especificação, Errors: E0928; Anexo I, E0928',
      why: 'O imóvel só entra na nota quando a operação é com um imóvel, e quem o diz é o indicador da operação, cIndOp.',
      when: (dps) => !isConstrucao(dps),
      must: (dps) => INDICADORES_DE_IMOVEL.has(indOpOf(dps)),
      found: (dps) => dps.IBSCBS?.cIndOp,
      expected: `cIndOp ${INDICADORES}`,
      rejects: [{ 'IBSCBS/imovel/cCIB': '12345678' }, { 'IBSCBS/cIndOp': null, 'IBSCBS/imovel/cCIB': '12345678' }],
      accepts: [COM_CIB, { ...COM_CIB, 'IBSCBS/cIndOp': null }],
    },
    {
      code: 'E0931',
      at: 'IBSCBS/imovel',
      title: 'Grupo de imóvel num serviço de construção',
      message: ({ serv }) =>
        `O cTribNac ${serv.cServ.cTribNac} é de construção, e nele quem identifica o lugar é serv/obra. Retire IBSCBS/imovel.`,
      mend: 'Retire IBSCBS/imovel e identifique a obra em serv/obra.',
      origin: 'Especificação, Errors: E0931; Anexo I, E0931',
      why: `Nos serviços de construção (${[...CONSTRUCAO].join(', ')}) quem identifica o lugar é serv/obra, e IBSCBS/imovel não se envia.`,
      must: (dps) => !isConstrucao(dps),
      found: ({ serv }) => serv.cServ.cTribNac,
      rejects: [
        {
          'serv/cServ/cTribNac': '070201',
          'serv/obra/cCIB': '12345678',
          'IBSCBS/cIndOp': '020201',
          'IBSCBS/imovel/cCIB': '12345678',
        },
      ],
      accepts: [{ 'serv/cServ/cTribNac': '070201', 'serv/obra/cCIB': '12345678', 'IBSCBS/cIndOp': '020201' }],
    },
  ]),
  {
    code: 'E0932',
    at: 'IBSCBS/imovel',
    title: 'Falta o grupo de imóvel',
    message: ({ IBSCBS, serv }) =>
      `cIndOp ${IBSCBS?.cIndOp} é de operação com imóvel, e o cTribNac ${serv.cServ.cTribNac} não é de construção: identifique o imóvel em IBSCBS/imovel, com cCIB ou com o endereço, ou corrija cIndOp.`,
    mend: 'Inclua IBSCBS/imovel com cCIB ou com o endereço, ou corrija cIndOp.',
    origin: 'Especificação, Errors: E0932; Anexo I, E0932',
    why: `A operação não é de construção e o seu cIndOp diz respeito a imóvel (${INDICADORES}): IBSCBS/imovel o identifica.`,
    when: ({ IBSCBS }) => IBSCBS?.cIndOp !== undefined && INDICADORES_DE_IMOVEL.has(IBSCBS.cIndOp),
    must: (dps) => dps.IBSCBS?.imovel !== undefined || isConstrucao(dps),
    rejects: [NUM_IMOVEL, { 'IBSCBS/cIndOp': '020101' }, { 'IBSCBS/cIndOp': '020301' }],
    accepts: [COM_CIB, { ...NUM_IMOVEL, ...ENDERECO, 'IBSCBS/imovel/end/CEP': '01001000' }],
  },
  {
    code: 'E0932',
    at: 'IBSCBS/imovel',
    scope: 'aviso',
    message: (dps) =>
      `A DPS não traz cIndOp, e o Anexo VIII indica ${correlatedIndOp(dps)} para este serviço, que pede IBSCBS/imovel. Sem o imóvel a nota sai com cIndOp ${defaultIndOp(dps)}; se a operação é com um imóvel, informe cIndOp e imovel.`,
    origin: 'Decisão D-84; Anexo VIII',
    why: 'Quem não envia cIndOp recebe o que a correlação de serviços indica, mas um indicador de imóvel sem o imóvel seria recusado pelo ambiente nacional.',
    when: (dps) =>
      dps.IBSCBS !== undefined &&
      dps.IBSCBS.cIndOp === undefined &&
      dps.IBSCBS.imovel === undefined &&
      !isConstrucao(dps),
    must: (dps) => !INDICADORES_DE_IMOVEL.has(correlatedIndOp(dps) ?? ''),
    rejects: [{ ...NUM_IMOVEL, 'IBSCBS/cIndOp': null }],
    accepts: [{ 'IBSCBS/cIndOp': null }],
  },
  ...ofPart(hasImovel, [
    {
      ...annexHead('E0934'),
      at: 'IBSCBS/imovel/end/endExt',
      title: 'Serviço prestado no exterior sem o endereço do imóvel no exterior',
      message: ({ serv }) =>
        `O país da prestação é ${serv.locPrest.cPaisPrestacao}, e o imóvel não tem endereço no exterior. Identifique-o em IBSCBS/imovel/end com endExt, ou informe o município da prestação.`,
      mend: 'Identifique o imóvel por end com endExt, sem CEP nem cCIB, ou informe o município da prestação em cLocPrestacao.',
      why: 'Quando o serviço é prestado no exterior o imóvel está lá, e só o endereço no exterior o identifica.',
      when: ({ serv }) => serv.locPrest.cPaisPrestacao !== undefined,
      must: ({ IBSCBS }) => IBSCBS?.imovel?.end?.endExt !== undefined,
      rejects: [
        { ...COM_CIB, ...PRESTADO_FORA },
        { ...NUM_IMOVEL, ...PRESTADO_FORA, ...ENDERECO, 'IBSCBS/imovel/end/CEP': '01001000' },
      ],
      accepts: [{ ...NUM_IMOVEL, ...PRESTADO_FORA, ...NO_EXTERIOR }],
    },
    {
      ...annexHead('E0935'),
      at: 'IBSCBS/imovel/end/endExt',
      title: 'Serviço prestado no Brasil com endereço do imóvel no exterior',
      message: ({ serv }) =>
        `O município da prestação é ${serv.locPrest.cLocPrestacao}, no Brasil, e o imóvel tem endereço no exterior. Troque endExt pelo CEP, ou informe o país da prestação.`,
      mend: 'Troque endExt de IBSCBS/imovel/end pelo CEP, ou informe o país da prestação em cPaisPrestacao.',
      why: 'Quando o serviço é prestado num município do Brasil o imóvel está nele.',
      when: ({ IBSCBS, serv }) =>
        IBSCBS?.imovel?.end?.endExt !== undefined && serv.locPrest.cLocPrestacao !== undefined,
      must: () => false,
      rejects: [{ ...NUM_IMOVEL, ...NO_EXTERIOR }],
      accepts: [{ ...NUM_IMOVEL, ...ENDERECO, 'IBSCBS/imovel/end/CEP': '01001000' }],
    },
  ]),
];
