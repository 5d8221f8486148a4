/**
 * Rules of the construction work, `serv/obra`. The layout checks its structure: the single identification (E0011), the form of the CIB
 * (E0373), the sizes. A CEP beside an address abroad (E0382) is structure too.
 */
import { servicoOf } from '../catalogs/catalogs.ts';
import { addressInLisboa } from './address.ts';
import { cepOfPlace } from './cep.ts';
import { ofPart, type Patch, type Rule, whenPresent } from './rule.ts';
import { COMERCIO_EXTERIOR } from './toma.ts';

/** The code of services without ISSQN: it may carry a work or an event, and must carry neither. */
export const SEM_ISSQN = '990101';

export const PRESTADO_SEM_ISSQN: Patch = {
  'serv/cServ/cTribNac': SEM_ISSQN,
  'valores/trib/tribMun/tribISSQN': '4',
  'valores/trib/tribMun/pAliq': null,
};

const CONSTRUCAO: Patch = { 'serv/cServ/cTribNac': '070201' };

const NO_BRASIL: Patch = {
  'serv/obra/end/CEP': '01001000',
  'serv/obra/end/xLgr': 'Praça da Sé',
  'serv/obra/end/nro': '1',
  'serv/obra/end/xBairro': 'Sé',
};

const NO_EXTERIOR: Patch = {
  ...addressInLisboa('serv/obra/end'),
};

/** A service provided abroad: an export, which therefore has the group of foreign trade. */
export const PRESTADO_FORA: Patch = {
  'serv/locPrest/cPaisPrestacao': 'PT',
  ...COMERCIO_EXTERIOR,
  'serv/comExt/mdPrestacao': '4',
  'valores/trib/tribMun/tribISSQN': '3',
  'valores/trib/tribMun/pAliq': null,
};

const SUBITENS =
  '07.02.01, 07.02.02, 07.04.01, 07.05.01, 07.05.02, 07.06.01, 07.06.02, 07.07.01, 07.08.01, 07.17.01, 07.19.01, 14.14.03 e 14.14.04';

export const OBRA: readonly Rule[] = [
  {
    code: 'E0370',
    at: 'serv/obra',
    title: 'Falta o grupo da obra',
    mend: 'Inclua serv/obra com uma identificação: cObra (e inscImobFisc), cCIB ou end. Se o serviço não é de construção, corrija o cTribNac.',
    message: ({ serv }) =>
      `O serviço ${serv.cServ.cTribNac} exige o grupo serv/obra, que falta. Inclua-o com uma destas identificações: cObra com inscImobFisc, cCIB ou end.`,
    origin: 'Especificação, DPS: serv/obra; Errors: E0370; Anexo I, E0370',
    why: `Nos serviços de construção (${SUBITENS}) a obra identifica o imóvel e o responsável.`,
    when: ({ serv }) => servicoOf(serv.cServ.cTribNac)?.grupoObrigatorio === 'obra',
    must: ({ serv }) => serv.obra !== undefined,
    expected: 'grupo obra com cObra e inscImobFisc, com cCIB ou com end',
    rejects: [CONSTRUCAO, { 'serv/cServ/cTribNac': '141403' }, { 'serv/cServ/cTribNac': '141404' }],
    accepts: [
      { ...CONSTRUCAO, 'serv/obra/cCIB': '12345678' },
      { ...CONSTRUCAO, 'serv/obra/cObra': '900012345678', 'serv/obra/inscImobFisc': '001.002.0003-4' },
      { ...CONSTRUCAO, ...NO_BRASIL },
      { ...CONSTRUCAO, ...NO_BRASIL, 'serv/obra/inscImobFisc': '001.002.0003-4' },
      { 'serv/cServ/cTribNac': '141404', 'serv/obra/cCIB': '12345678' },
      PRESTADO_SEM_ISSQN,
    ],
  },
  ...ofPart(
    ({ serv }) => serv.obra !== undefined,
    [
      {
        code: 'E0372',
        at: 'serv/obra',
        title: 'Grupo da obra num serviço que não é de construção',
        mend: 'Retire serv/obra, ou corrija o cTribNac.',
        message: ({ serv }) =>
          `O serviço ${serv.cServ.cTribNac} não é de construção, e a DPS traz o grupo serv/obra. Retire o grupo, ou corrija o cTribNac.`,
        origin: 'Especificação, DPS: serv/obra; Errors: E0372; Anexo I, E0372',
        why: 'O grupo serv/obra só cabe nos serviços de construção que o exigem e no 99.01.01, que o pode trazer.',
        when: ({ serv }) => servicoOf(serv.cServ.cTribNac)?.emissivel === true,
        must: ({ serv: { cServ } }) =>
          servicoOf(cServ.cTribNac)?.grupoObrigatorio === 'obra' || cServ.cTribNac === SEM_ISSQN,
        found: ({ serv }) => serv.cServ.cTribNac,
        expected: 'DPS sem o grupo obra',
        rejects: [{ 'serv/obra/cCIB': '12345678' }, { 'serv/cServ/cTribNac': '070301', 'serv/obra/cCIB': '12345678' }],
        accepts: [{ ...PRESTADO_SEM_ISSQN, 'serv/obra/cCIB': '12345678' }],
      },
      {
        code: 'E002',
        at: 'serv/obra/inscImobFisc',
        message:
          'A obra está identificada por cObra, e falta inscImobFisc. Informe a inscrição imobiliária municipal, ou identifique a obra por cCIB ou end.',
        origin: 'Especificação, DPS: serv/obra (cObra, inscImobFisc)',
        why: 'O número do cadastro nacional de obras vem sempre com a inscrição imobiliária do município.',
        when: ({ serv }) => serv.obra?.cObra !== undefined,
        must: ({ serv }) => serv.obra?.inscImobFisc !== undefined,
        expected: 'inscrição imobiliária municipal, até 30 caracteres',
        rejects: [{ ...CONSTRUCAO, 'serv/obra/cObra': '900012345678' }],
        accepts: [
          { ...CONSTRUCAO, 'serv/obra/cObra': '900012345678', 'serv/obra/inscImobFisc': '001.002.0003-4' },
          { ...CONSTRUCAO, 'serv/obra/cCIB': '12345678' },
        ],
      },
      cepOfPlace(
        { code: 'E0380', at: 'serv/obra/end/CEP', whose: 'da obra', accepts: { ...CONSTRUCAO, ...NO_BRASIL } },
        ({ serv }) => serv.obra?.end?.CEP,
      ),
      whenPresent(({ serv }) => serv.obra, {
        code: 'E0384',
        at: 'serv/obra/end/endExt',
        title: 'Serviço prestado no exterior sem o endereço da obra no exterior',
        mend: 'Identifique a obra por end com endExt, sem CEP, cCIB ou cObra; ou informe o município da prestação em cLocPrestacao.',
        message: ({ end, cCIB }, { serv }) => {
          const sent = end === undefined ? (cCIB === undefined ? 'cObra' : 'cCIB') : 'um CEP do Brasil';
          return `O serviço foi prestado no exterior (cPaisPrestacao ${serv.locPrest.cPaisPrestacao}), e a obra vem identificada por ${sent}. Informe o endereço dela em serv/obra/end com endExt; se a obra é no Brasil, troque cPaisPrestacao por cLocPrestacao.`;
        },
        origin: 'Especificação, DPS: serv/obra; Errors: E0384; Anexo I, E0384',
        why: 'Com o país da prestação em cPaisPrestacao a obra está no exterior, onde não há CEP nem cadastro brasileiro que a identifique.',
        when: (_obra, { serv }) => serv.locPrest.cPaisPrestacao !== undefined,
        must: ({ end }) => end?.endExt !== undefined,
        expected: 'serv/obra/end com endExt',
        rejects: [
          { ...CONSTRUCAO, ...PRESTADO_FORA, ...NO_BRASIL },
          { ...CONSTRUCAO, ...PRESTADO_FORA, 'serv/obra/cCIB': '12345678' },
        ],
        accepts: [{ ...CONSTRUCAO, ...PRESTADO_FORA, ...NO_EXTERIOR }],
      }),
      {
        code: 'E0386',
        at: 'serv/obra/end/endExt',
        title: 'Serviço prestado no Brasil com endereço da obra no exterior',
        mend: 'Troque endExt de serv/obra/end pelo CEP, ou informe o país da prestação em cPaisPrestacao.',
        message: ({ serv }) =>
          `O serviço foi prestado no Brasil (cLocPrestacao ${serv.locPrest.cLocPrestacao}), e o endereço da obra é no exterior. Troque endExt pelo CEP da obra, ou cLocPrestacao por cPaisPrestacao.`,
        origin: 'Especificação, DPS: serv/obra; Errors: E0386; Anexo I, E0386',
        why: 'Com o município da prestação em cLocPrestacao a obra está no Brasil, e o seu endereço também.',
        when: ({ serv }) => serv.obra?.end?.endExt !== undefined,
        must: ({ serv }) => serv.locPrest.cLocPrestacao === undefined,
        expected: 'serv/obra/end com CEP',
        rejects: [{ ...CONSTRUCAO, ...NO_EXTERIOR }],
        accepts: [{ ...CONSTRUCAO, ...NO_BRASIL }],
      },
    ],
  ),
];
