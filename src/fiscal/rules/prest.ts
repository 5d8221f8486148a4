/**
 * Rules of the provider, `prest`. Whether the registry knows it is a fact, answered before (E101, E102, E103).
 *
 * The rules of a provider that does not issue (E0122, E0123, E0125, E0129, E0142 of the standard) are absent. Such a note is refused as a
 * whole (E9996), and following those rules would not correct it. Name and address of an issuing provider are read, and left out of the
 * shared document (E0121, E0128; decided in D-34).
 */
import { AMBIENTES } from '../ambiente.ts';
import { cnpjIsValid, cpfIsValid } from '../chave.ts';
import { isOptante } from '../facts.ts';
import { quoted } from '../fault.ts';
import type { Dps } from '../layout/dps.ts';
import { brazilianDate } from '../moment.ts';
import { addressInLisboa, checkEmail, municipioHead, paisHead } from './address.ts';
import { annexHead, type Patch, type Rule, whenPresent } from './rule.ts';

const NAO_OPTANTE = '1';
const MEI = '2';
const ME_EPP = '3';
const SEM_REGIME_ESPECIAL = '0';

/** `regApTribSN`: federal taxes and ISSQN both inside the Simples Nacional. */
const TUDO_PELO_SIMPLES = '1';

/** The source of the rule that ME and EPP issue by the national emitter alone, and its first competence (D-195). */
export const ME_EPP_FONTE = 'Resolução CGSN 191, de 04/08/2026';
export const ME_EPP_COMPETENCIA_MIN = '2026-11-01';

/** Last competence of a MEI's note that the ADN takes from a municipality (E0161). */
export const MEI_COMPETENCIA_MAX = '2023-08-31';

const ENDERECO: Patch = {
  'prest/end/endNac/cMun': '3550308',
  'prest/end/endNac/CEP': '01310100',
  'prest/end/xLgr': 'Avenida Paulista',
  'prest/end/nro': '1000',
  'prest/end/xBairro': 'Bela Vista',
};

const ENDERECO_NO_EXTERIOR: Patch = {
  ...addressInLisboa('prest/end'),
  'prest/end/endExt/cPais': 'PT',
};

/** A company of the Simples Nacional that assesses everything in it. */
const SIMPLES: Patch = {
  'prest/regTrib/opSimpNac': ME_EPP,
  'prest/regTrib/regApTribSN': TUDO_PELO_SIMPLES,
  'valores/trib/tribMun/pAliq': null,
};

export const PREST: readonly Rule[] = [
  {
    code: 'E002',
    at: 'prest',
    message: 'O prestador se identifica por CNPJ ou CPF; NIF e cNaoNIF não servem ao prestador que emite.',
    origin: 'Especificação, DPS: prest',
    why: 'A numeração das notas e a chave de acesso são do CNPJ ou CPF do prestador.',
    national: 'O prestador que vem com NIF ou cNaoNIF recebe no padrão nacional E0112, E0114 ou E0115.',
    must: ({ prest }) => prest.CNPJ !== undefined || prest.CPF !== undefined,
    expected: 'CNPJ ou CPF',
    rejects: [
      { 'prest/CNPJ': null, 'prest/NIF': 'PT123456789' },
      { 'prest/CNPJ': null, 'prest/cNaoNIF': '0' },
    ],
    accepts: [{ 'prest/CNPJ': null, 'prest/CPF': '52998224725' }],
  },
  whenPresent(({ prest }) => prest.CNPJ, {
    code: 'E0080',
    at: 'prest/CNPJ',
    title: 'Os dígitos verificadores do CNPJ do prestador não conferem',
    message: (CNPJ) =>
      `O CNPJ do prestador, ${CNPJ}, não existe: os dígitos verificadores não conferem. Copie-o do cadastro, com as 14 posições e sem pontuação.`,
    mend: 'Copie o CNPJ do cadastro do prestador, com as 14 posições e sem pontuação.',
    origin: 'Especificação, Sandbox tenant: CPF/CNPJ check-digit validation; Anexo I, E0080',
    why: 'Os dígitos verificadores denunciam o erro de digitação. No ambiente de integração o caso é do E101; em produção ele acompanha o E101 na validação sem emissão.',
    when: (_CNPJ, _dps, { ambiente }) => ambiente === 'producao',
    must: (CNPJ) => cnpjIsValid(CNPJ),
    found: (CNPJ) => CNPJ,
    expected: 'CNPJ com dígitos verificadores corretos',
    // A document that belongs to no one is in no registry: the sandbox answers E101 before any rule is applied.
    rejects: [],
    accepts: [{ 'prest/CNPJ': '12ABC34501DE35' }],
  }),
  whenPresent(({ prest }) => prest.CPF, {
    code: 'E0096',
    at: 'prest/CPF',
    title: 'Os dígitos verificadores do CPF do prestador não conferem',
    message:
      'O CPF do prestador não existe: os dígitos verificadores não conferem. Copie-o do cadastro, com os 11 dígitos e sem pontuação.',
    mend: 'Copie o CPF do cadastro do prestador, com os 11 dígitos e sem pontuação.',
    origin: 'Especificação, Sandbox tenant: CPF/CNPJ check-digit validation; Anexo I, E0096',
    why: 'Os dígitos verificadores denunciam o erro de digitação. No ambiente de integração o caso é do E101; em produção ele acompanha o E101 na validação sem emissão.',
    when: (_CPF, _dps, { ambiente }) => ambiente === 'producao',
    must: (CPF) => cpfIsValid(CPF),
    found: (CPF) => CPF,
    expected: 'CPF com dígitos verificadores corretos',
    rejects: [],
    accepts: [{ 'prest/CNPJ': null, 'prest/CPF': '52998224725' }],
  }),
  {
    code: 'E0003',
    at: 'prest/xNome',
    message: 'xNome do prestador está vazio. Informe o nome ou retire o elemento.',
    origin: 'Decisão D-34',
    why: 'Elemento vazio não existe no esquema nacional; no ambiente de integração o caso é do E101.',
    when: (_dps, { ambiente }) => ambiente === 'producao',
    must: ({ prest }) => prest.xNome !== '',
    rejects: [],
    accepts: [{ 'prest/xNome': null }, { 'prest/xNome': 'Empresa Exemplo Ltda' }],
  },
  whenPresent(({ prest }) => prest.xNome, {
    code: 'E0121',
    at: 'prest/xNome',
    scope: 'aviso',
    title: 'O nome enviado do prestador não é o do cadastro',
    message: (xNome, _dps, { prestador }) =>
      `A DPS chama o prestador de "${quoted(xNome)}", e no ambiente de integração ele está cadastrado como "${quoted(prestador.razaoSocial)}": a nota leva o nome do cadastro, e o enviado não é usado.`,
    mend: 'Não há o que corrigir na DPS: o nome da nota é o do cadastro, que no ambiente de integração é o da primeira DPS do prestador. Para ensaiar com outro nome use outro CNPJ.',
    origin: 'Especificação, Auto-registration of the provider; decisão D-195',
    why: 'O ambiente de integração cadastra o prestador com o nome da sua primeira DPS, seja de quem for que a enviou, e o mantém.',
    national: 'O padrão nacional proíbe o nome do prestador na DPS que ele mesmo emite.',
    when: (xNome, _dps, { ambiente }) => AMBIENTES[ambiente].registersPrestador && xNome !== '',
    must: (xNome, _dps, { prestador }) => xNome === prestador.razaoSocial,
    rejects: [{ 'prest/xNome': 'Outro Nome Ltda' }],
    accepts: [{}, { 'prest/xNome': null }],
  }),
  {
    ...municipioHead(
      'no endereço do prestador',
      ({ prest }: Dps) => prest.end?.endNac?.cMun,
      ', ou retire prest/end: a nota leva o endereço do cadastro',
    ),
    at: 'prest/end/endNac/cMun',
    origin: 'Especificação, Errors: E403; Anexo I, E0130',
    why: 'Um código que não é de nenhum município não é um endereço, ainda que a nota leve o do cadastro.',
    rejects: [{ ...ENDERECO, 'prest/end/endNac/cMun': '3550309' }],
    accepts: [ENDERECO],
  },
  {
    ...annexHead('E0113'),
    at: 'prest/end/endExt',
    title: 'Prestador com endereço no exterior e sem identificação de lá',
    message:
      'O prestador tem endereço no exterior e se identifica por CNPJ ou CPF, que são do Brasil. Retire prest/end: a nota leva o endereço do cadastro.',
    mend: 'Retire prest/end. O prestador que emite está cadastrado no município, e a nota leva o endereço do cadastro.',
    why: 'Quem está no exterior se identifica por NIF ou cNaoNIF, e o prestador que emite está no Brasil.',
    when: ({ prest }) => prest.end?.endExt !== undefined,
    must: ({ prest }) => prest.CNPJ === undefined && prest.CPF === undefined,
    rejects: [ENDERECO_NO_EXTERIOR],
    accepts: [ENDERECO],
  },
  {
    ...annexHead('E0146'),
    ...paisHead(
      ({ prest }: Dps) => prest.end?.endExt?.cPais,
      'para endereço no Brasil use prest/end/endNac.',
      ', no endereço do prestador,',
    ),
    at: 'prest/end/endExt/cPais',
    title: 'O país do endereço do prestador não existe ou é o Brasil',
    mend: 'Use endNac para um endereço no Brasil, ou retire prest/end: a nota leva o endereço do cadastro.',
    // An issuing provider has no address abroad, in any country.
    also: ['E0113'],
    rejects: [
      { ...ENDERECO_NO_EXTERIOR, 'prest/end/endExt/cPais': 'BR' },
      { ...ENDERECO_NO_EXTERIOR, 'prest/end/endExt/cPais': 'XQ' },
    ],
    accepts: [ENDERECO],
  },
  checkEmail(
    {
      code: 'E0148',
      at: 'prest/email',
      whose: 'do prestador',
      rejects: [
        { 'prest/email': 'contato.exemplo.com.br' },
        { 'prest/email': 'contato@exemplo' },
        { 'prest/email': 'a@exemplo.com.br; b@exemplo.com.br' },
      ],
      accepts: [{ 'prest/email': 'nota.fiscal+nfse@exemplo.com.br' }],
    },
    ({ prest }) => prest.email,
  ),
  {
    code: 'E0160',
    at: 'prest/regTrib/opSimpNac',
    scope: 'aviso',
    title: 'opSimpNac e o cadastro discordam sobre o Simples Nacional',
    message: ({ prest, dCompet }, { prestador }) => {
      const { opSimpNac } = prest.regTrib;
      return isOptante(prestador, dCompet)
        ? `opSimpNac ${opSimpNac} diz que o prestador não é optante do Simples Nacional, e no cadastro ele é, na competência ${dCompet}. Vale o cadastro para o calendário do IBS e da CBS, que nesta nota é o dos optantes. Envie opSimpNac 2 (MEI) ou 3 (ME ou EPP); se é o cadastro que erra, peça a correção à prefeitura.`
        : `opSimpNac ${opSimpNac} diz que o prestador é optante do Simples Nacional, e no cadastro ele não é, na competência ${dCompet}. Vale o cadastro para o calendário do IBS e da CBS, que nesta nota é o dos não optantes. Se ele é optante, peça à prefeitura que registre o período; se não é, envie opSimpNac 1.`;
    },
    mend: 'Acerte opSimpNac com a situação do prestador na competência; se é o cadastro que erra, peça à prefeitura que registre os períodos do Simples Nacional.',
    origin: 'Especificação, IBS/CBS obligation schedule: regra 2; Anexo I, E0160; decisão D-23',
    why: 'O calendário do IBS e da CBS segue os períodos do cadastro, e não opSimpNac; quem envia precisa saber quando os dois discordam.',
    must: ({ prest, dCompet }, { prestador }) =>
      (prest.regTrib.opSimpNac !== NAO_OPTANTE) === isOptante(prestador, dCompet),
    found: ({ prest }) => prest.regTrib.opSimpNac,
    national: 'No padrão nacional o desacordo com o cadastro do Simples Nacional recusa a DPS no emissor público.',
    rejects: [SIMPLES],
    accepts: [{ 'prest/regTrib/opSimpNac': NAO_OPTANTE }],
  },
  {
    code: 'E0161',
    at: 'prest/regTrib/opSimpNac',
    scope: 'aviso',
    title: 'O ambiente nacional pode recusar a nota de um optante do Simples Nacional',
    message: ({ dCompet }) =>
      `O prestador é MEI, e a competência é ${dCompet}. Para competências depois de 31/08/2023 o ambiente nacional recusa a nota de MEI que vem do município: o MEI a emite no portal nacional da NFS-e. Se a nota for recusada, o protocolo dirá.`,
    mend: `O MEI emite as suas notas no emissor público nacional e, desde a competência de ${brazilianDate(ME_EPP_COMPETENCIA_MIN)}, também a ME e a EPP (${ME_EPP_FONTE}). Se o prestador já não o é, corrija opSimpNac.`,
    origin: 'Anexo I, E0161; decisão D-20',
    why: 'A especificação prevê a emissão pelo MEI, e o ambiente nacional só a aceita por si mesmo: a nota é emitida e pode voltar rejeitada.',
    when: ({ prest }) => prest.regTrib.opSimpNac === MEI,
    must: ({ dCompet }) => dCompet <= MEI_COMPETENCIA_MAX,
    found: ({ dCompet }) => dCompet,
    rejects: [{ 'prest/regTrib/opSimpNac': MEI, 'valores/trib/tribMun/pAliq': null }],
    accepts: [{ 'prest/regTrib/opSimpNac': NAO_OPTANTE }],
  },
  {
    code: 'E0161',
    at: 'prest/regTrib/opSimpNac',
    scope: 'aviso',
    message: ({ dCompet }) =>
      `O prestador é ME ou EPP do Simples Nacional, e a competência é ${dCompet}. Desde a de ${brazilianDate(ME_EPP_COMPETENCIA_MIN)} ME e EPP emitem só pelo emissor nacional, na web ou por API (${ME_EPP_FONTE}). A nota é emitida; se o ambiente nacional a recusar, o protocolo dirá. Se o prestador não é optante, envie opSimpNac 1.`,
    origin: `${ME_EPP_FONTE}; decisão D-195`,
    why: 'A resolução manda a ME e a EPP ao emissor nacional, e a especificação prevê a emissão por elas aqui: a nota é emitida. Se o ADN recusa a nota que o município compartilha não se sabe.',
    when: ({ prest }) => prest.regTrib.opSimpNac === ME_EPP,
    must: ({ dCompet }) => dCompet < ME_EPP_COMPETENCIA_MIN,
    rejects: [{ ...SIMPLES, dCompet: '2026-11-01' }],
    accepts: [{ ...SIMPLES, dCompet: '2026-10-31' }],
  },
  {
    ...annexHead('E0162'),
    at: 'prest/regTrib/regApTribSN',
    title: 'Regime de apuração do Simples Nacional num prestador que não o tem',
    message: ({ prest: { regTrib } }) =>
      `regApTribSN é só das ME e EPP do Simples Nacional (opSimpNac 3), e opSimpNac é ${regTrib.opSimpNac}. Retire regApTribSN, ou corrija opSimpNac.`,
    mend: 'Retire regApTribSN, ou corrija opSimpNac.',
    why: 'Quem não é optante não apura pelo Simples Nacional, e o MEI recolhe um valor fixo.',
    when: ({ prest }) => prest.regTrib.regApTribSN !== undefined,
    must: ({ prest }) => prest.regTrib.opSimpNac === ME_EPP,
    found: ({ prest }) => prest.regTrib.regApTribSN,
    rejects: [{ 'prest/regTrib/regApTribSN': '1' }, { ...SIMPLES, 'prest/regTrib/opSimpNac': MEI }],
    accepts: [SIMPLES],
  },
  {
    ...annexHead('E0166'),
    at: 'prest/regTrib/regApTribSN',
    title: 'Falta o regime de apuração do Simples Nacional',
    message:
      'Com opSimpNac 3 (ME ou EPP) é preciso dizer em prest/regTrib/regApTribSN como os tributos são apurados: 1 todos pelo Simples Nacional, 2 os federais por ele e o ISSQN por fora, 3 todos por fora. O lugar é entre opSimpNac e regEspTrib.',
    mend: 'Inclua regApTribSN entre opSimpNac e regEspTrib. O usual é 1; 2 e 3 são de quem passou de um limite do Simples Nacional.',
    why: 'Do regime de apuração depende se o ISSQN é apurado na nota ou recolhido pelo Simples Nacional.',
    when: ({ prest }) => prest.regTrib.opSimpNac === ME_EPP,
    must: ({ prest }) => prest.regTrib.regApTribSN !== undefined,
    expected: '1, 2 ou 3',
    rejects: [{ ...SIMPLES, 'prest/regTrib/regApTribSN': null }],
    accepts: [SIMPLES, { 'prest/regTrib/opSimpNac': ME_EPP, 'prest/regTrib/regApTribSN': '2' }],
  },
  {
    ...annexHead('E0172'),
    at: 'prest/regTrib/regEspTrib',
    title: 'Regime especial numa operação sem ISSQN',
    message: ({ prest: { regTrib }, valores }) =>
      `Com tribISSQN ${valores.trib.tribMun.tribISSQN} não há ISSQN a tributar de modo especial, e regEspTrib é ${regTrib.regEspTrib}. Envie regEspTrib 0, ou corrija tribISSQN.`,
    mend: 'Envie regEspTrib 0, ou corrija tribISSQN.',
    why: 'O regime especial é um modo de calcular o ISSQN, que na imunidade, na exportação e na não incidência não existe.',
    when: ({ prest }) => prest.regTrib.regEspTrib !== SEM_REGIME_ESPECIAL,
    must: ({ valores }) => valores.trib.tribMun.tribISSQN === '1',
    found: ({ prest }) => prest.regTrib.regEspTrib,
    expected: SEM_REGIME_ESPECIAL,
    rejects: [
      {
        'prest/regTrib/regEspTrib': '4',
        'valores/trib/tribMun/tribISSQN': '2',
        'valores/trib/tribMun/tpImunidade': '1',
        'valores/trib/tribMun/pAliq': null,
      },
    ],
    accepts: [{ 'prest/regTrib/regEspTrib': '4', 'valores/trib/tribMun/pAliq': null }],
  },
  {
    ...annexHead('E0174'),
    at: 'prest/regTrib/regEspTrib',
    title: 'Regime especial num prestador MEI',
    message: ({ prest: { regTrib } }) =>
      `O MEI recolhe o ISSQN em valor fixo, sem regime especial, e regEspTrib é ${regTrib.regEspTrib}. Envie regEspTrib 0, ou corrija opSimpNac.`,
    mend: 'Envie regEspTrib 0, ou corrija opSimpNac.',
    why: 'O regime do MEI já é um regime próprio, e não se soma a outro.',
    when: ({ prest }) => prest.regTrib.opSimpNac === MEI,
    must: ({ prest }) => prest.regTrib.regEspTrib === SEM_REGIME_ESPECIAL,
    found: ({ prest }) => prest.regTrib.regEspTrib,
    expected: SEM_REGIME_ESPECIAL,
    rejects: [{ 'prest/regTrib/opSimpNac': MEI, 'prest/regTrib/regEspTrib': '3', 'valores/trib/tribMun/pAliq': null }],
    accepts: [{ 'prest/regTrib/opSimpNac': MEI, 'valores/trib/tribMun/pAliq': null }],
  },
  {
    ...annexHead('E0175'),
    at: 'prest/regTrib/regEspTrib',
    title: 'Regime especial em quem apura o ISSQN pelo Simples Nacional',
    message: ({ prest: { regTrib } }) =>
      `Com opSimpNac 3 e regApTribSN 1 o ISSQN é apurado pelo Simples Nacional, e regEspTrib é ${regTrib.regEspTrib}. Envie regEspTrib 0, ou corrija regApTribSN se o ISSQN é apurado por fora.`,
    mend: 'Envie regEspTrib 0; se o ISSQN é apurado fora do Simples Nacional, envie regApTribSN 2 ou 3.',
    why: 'O ISSQN que se apura pelo Simples Nacional segue as regras dele, e não um regime do município.',
    when: ({ prest }) => prest.regTrib.opSimpNac === ME_EPP && prest.regTrib.regApTribSN === TUDO_PELO_SIMPLES,
    must: ({ prest }) => prest.regTrib.regEspTrib === SEM_REGIME_ESPECIAL,
    found: ({ prest }) => prest.regTrib.regEspTrib,
    expected: SEM_REGIME_ESPECIAL,
    rejects: [{ ...SIMPLES, 'prest/regTrib/regEspTrib': '6' }],
    accepts: [SIMPLES, { ...SIMPLES, 'prest/regTrib/regApTribSN': '3', 'prest/regTrib/regEspTrib': '6' }],
  },
];
