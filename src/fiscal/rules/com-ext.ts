/**
 * Rules of foreign trade, `serv/comExt`. The presence of its seven elements and their lists of values are structure (E1235 and E0002, in
 * the layout).
 */
import { moedaOf, moedas } from '../catalogs/catalogs.ts';
import { formatDecimal, ZERO } from '../decimal.ts';
import type { Dps } from '../layout/dps.ts';
import { annexHead, ofPart, type Patch, type Rule, whenPresent } from './rule.ts';
import { COMERCIO_EXTERIOR, TOMADOR_NO_EXTERIOR } from './toma.ts';

const isOfComExt = ([path]: [string, unknown]): boolean => path.startsWith('serv/comExt/');

const TOMADOR_SEM_COMEXT: Patch = Object.fromEntries(
  Object.entries(TOMADOR_NO_EXTERIOR).filter((entry) => !isOfComExt(entry)),
);

const PRESTADO_NO_EXTERIOR: Patch = { 'serv/locPrest/cPaisPrestacao': 'PT' };

const INTERMEDIARIO_NO_EXTERIOR: Patch = {
  'interm/NIF': 'PT508123456',
  'interm/xNome': 'Agência Exemplo SA',
  'interm/end/endExt/cPais': 'PT',
  'interm/end/endExt/cEndPost': '1200-109',
  'interm/end/endExt/xCidade': 'Lisboa',
  'interm/end/endExt/xEstProvReg': 'Lisboa',
  'interm/end/xLgr': 'Rua do Alecrim',
  'interm/end/nro': '20',
  'interm/end/xBairro': 'Chiado',
};

const EXPORTACAO: Patch = {
  'valores/trib/tribMun/tribISSQN': '3',
  'valores/trib/tribMun/cPaisResult': 'PT',
  'valores/trib/tribMun/pAliq': null,
};

/**
 * Numbers of ISO 4217 that are sent by mistake for the central bank's. Only 978 is the same currency in both tables. Source: ISO 4217, list
 * one, the currencies most traded with Brazil.
 */
const ISO_4217: ReadonlyMap<string, string> = new Map([
  ['032', 'ARS'],
  ['036', 'AUD'],
  ['068', 'BOB'],
  ['124', 'CAD'],
  ['152', 'CLP'],
  ['156', 'CNY'],
  ['170', 'COP'],
  ['203', 'CZK'],
  ['208', 'DKK'],
  ['344', 'HKD'],
  ['348', 'HUF'],
  ['356', 'INR'],
  ['376', 'ILS'],
  ['392', 'JPY'],
  ['410', 'KRW'],
  ['484', 'MXN'],
  ['554', 'NZD'],
  ['578', 'NOK'],
  ['600', 'PYG'],
  ['604', 'PEN'],
  ['608', 'PHP'],
  ['643', 'RUB'],
  ['682', 'SAR'],
  ['702', 'SGD'],
  ['710', 'ZAR'],
  ['752', 'SEK'],
  ['756', 'CHF'],
  ['764', 'THB'],
  ['784', 'AED'],
  ['826', 'GBP'],
  ['840', 'USD'],
  ['858', 'UYU'],
  ['901', 'TWD'],
  ['949', 'TRY'],
  ['985', 'PLN'],
  ['986', 'BRL'],
]);

const CATALOGO = 'Consulte o catálogo em /catalogo/moedas.';

export const COM_EXT: readonly Rule[] = [
  whenPresent(({ toma }) => toma, {
    code: 'E1235',
    at: 'serv/comExt',
    message: (toma) =>
      `O tomador está no exterior (${signOf(toma)}) e falta o grupo serv/comExt. Inclua-o completo: mdPrestacao, vincPrest, tpMoeda, vServMoeda, mecAFComexP, mecAFComexT e movTempBens.`,
    origin: 'Especificação, DPS: serv/comExt; Errors: E1235',
    why: 'Um serviço prestado a quem está no exterior é comércio exterior, e o grupo o descreve.',
    when: isAbroad,
    must: (_toma, { serv }) => serv.comExt !== undefined,
    expected: 'grupo comExt com os seus sete elementos',
    rejects: [
      TOMADOR_SEM_COMEXT,
      { ...TOMADOR_SEM_COMEXT, 'toma/NIF': null, 'toma/cNaoNIF': '2' },
      { dCompet: '2026-09-30', IBSCBS: null, 'toma/CPF': null, 'toma/cNaoNIF': '1', 'toma/end': null },
    ],
    accepts: [
      TOMADOR_NO_EXTERIOR,
      { ...TOMADOR_NO_EXTERIOR, 'toma/NIF': null, 'toma/cNaoNIF': '1' },
      { 'toma/CPF': null, 'toma/cNaoNIF': '1' },
    ],
  }),
  {
    ...annexHead('E0330'),
    at: 'serv/comExt',
    title: 'Exportação de serviço sem o grupo de comércio exterior',
    mend: 'Inclua serv/comExt completo, ou corrija o que diz que a operação passa pelo exterior: interm/end/endExt, serv/locPrest/cPaisPrestacao ou tribISSQN 3.',
    message: (dps) =>
      `${exportSignOf(dps)}: o grupo serv/comExt é obrigatório. Inclua-o completo: mdPrestacao, vincPrest, tpMoeda, vServMoeda, mecAFComexP, mecAFComexT e movTempBens.`,
    why: 'A exportação se conhece também pelo intermediário no exterior, pelo país da prestação e pela tributação 3; com o tomador no exterior a falta do grupo responde E1235.',
    when: ({ tpEmit, toma, interm, serv, valores }) =>
      tpEmit === '1' &&
      (serv.locPrest.cPaisPrestacao !== undefined ||
        valores.trib.tribMun.tribISSQN === '3' ||
        interm?.end?.endExt !== undefined) &&
      !isAbroad(toma),
    must: ({ serv }) => serv.comExt !== undefined,
    expected: 'grupo comExt com os seus sete elementos',
    rejects: [PRESTADO_NO_EXTERIOR, INTERMEDIARIO_NO_EXTERIOR, EXPORTACAO],
    accepts: [
      { ...PRESTADO_NO_EXTERIOR, ...COMERCIO_EXTERIOR },
      { ...INTERMEDIARIO_NO_EXTERIOR, ...COMERCIO_EXTERIOR },
      { ...EXPORTACAO, ...COMERCIO_EXTERIOR },
    ],
  },
  {
    ...annexHead('E0331'),
    at: 'serv/comExt',
    title: 'Importação de serviço sem o grupo de comércio exterior',
    mend: 'Inclua serv/comExt completo, ou corrija o endereço do prestador ou o país da prestação.',
    message: ({ prest }) =>
      `Quem emite é o tomador ou o intermediário, e ${
        prest.end?.endExt === undefined ? 'o serviço foi prestado no exterior' : 'o prestador está no exterior'
      }: o grupo serv/comExt é obrigatório. Inclua-o completo: mdPrestacao, vincPrest, tpMoeda, vServMoeda, mecAFComexP, mecAFComexT e movTempBens.`,
    why: 'A importação de um serviço é comércio exterior tanto quanto a exportação; com o tomador no exterior a falta do grupo responde E1235.',
    when: ({ tpEmit, prest, toma, serv }) =>
      tpEmit !== '1' &&
      (prest.end?.endExt !== undefined || serv.locPrest.cPaisPrestacao !== undefined) &&
      !isAbroad(toma),
    must: ({ serv }) => serv.comExt !== undefined,
    expected: 'grupo comExt com os seus sete elementos',
    also: ['E9996'],
    rejects: [{ tpEmit: '2', cMotivoEmisTI: '1', ...PRESTADO_NO_EXTERIOR, 'serv/infoCompl/docRef': 'Invoice 2026/17' }],
    accepts: [],
  },
  ...ofPart(
    ({ serv }) => serv.comExt !== undefined,
    [
      {
        code: 'E405',
        at: 'serv/comExt',
        scope: 'aviso',
        title: 'Comércio exterior numa operação toda no Brasil',
        message:
          'O grupo serv/comExt veio, e nada na DPS é do exterior: nem o tomador, nem o intermediário, nem o local da prestação, nem tribISSQN 3. O padrão nacional não admite o grupo numa operação assim. Ele segue como veio. Retire-o; se a operação passa pelo exterior, diga-o no endereço de quem está lá (endExt), em cPaisPrestacao ou em tribISSQN.',
        mend: 'Retire serv/comExt; se a operação passa pelo exterior, corrija toma/end/endExt, interm/end/endExt, serv/locPrest/cPaisPrestacao ou tribISSQN.',
        origin: 'Anexo I, planilha de exportação, cenários 1, 4, 5, 8, 9 e 12 a 14; decisão D-195',
        why: 'O grupo descreve uma exportação ou importação de serviço. Nenhuma regra do ADN o recusa numa operação interna, e a especificação o aceita: a nota é emitida, com um aviso.',
        must: ({ prest, toma, interm, serv, valores }) =>
          isAbroad(toma) ||
          isAbroad(interm) ||
          prest.end?.endExt !== undefined ||
          serv.locPrest.cPaisPrestacao !== undefined ||
          valores.trib.tribMun.tribISSQN === '3',
        rejects: [COMERCIO_EXTERIOR],
        accepts: [
          TOMADOR_NO_EXTERIOR,
          { ...PRESTADO_NO_EXTERIOR, ...COMERCIO_EXTERIOR },
          { ...INTERMEDIARIO_NO_EXTERIOR, ...COMERCIO_EXTERIOR },
          { ...EXPORTACAO, ...COMERCIO_EXTERIOR },
        ],
      },
      whenPresent(({ serv }) => serv.comExt?.tpMoeda, {
        code: 'E0002',
        at: 'serv/comExt/tpMoeda',
        message: (tpMoeda) => {
          const iso = ISO_4217.get(tpMoeda);
          const hint =
            iso === undefined
              ? 'O código é o da tabela do Banco Central, que não é o da ISO 4217: USD é 220, EUR é 978.'
              : `Na ISO 4217 é o número do ${iso}, que na tabela do Banco Central é ${codigoOf(iso)}.`;
          return `tpMoeda ${tpMoeda} não é de nenhuma moeda da tabela do Banco Central. ${hint} ${CATALOGO}`;
        },
        origin: 'Especificação, comExt enumerations: tpMoeda; decisão D-12',
        why: 'O valor na moeda estrangeira nada diz sem uma moeda que exista.',
        must: (tpMoeda) => moedaOf(tpMoeda) !== undefined,
        found: (tpMoeda) => tpMoeda,
        expected: 'código de três dígitos de /catalogo/moedas',
        rejects: [
          { ...TOMADOR_NO_EXTERIOR, 'serv/comExt/tpMoeda': '999' },
          { ...TOMADOR_NO_EXTERIOR, 'serv/comExt/tpMoeda': '986' },
        ],
        accepts: [
          { ...TOMADOR_NO_EXTERIOR, 'serv/comExt/tpMoeda': '220' },
          { ...TOMADOR_NO_EXTERIOR, 'serv/comExt/tpMoeda': '790' },
        ],
      }),
      whenPresent(({ serv }) => serv.comExt && moedaOf(serv.comExt.tpMoeda), {
        code: 'E0002',
        at: 'serv/comExt/tpMoeda',
        scope: 'aviso',
        message: ({ codigo, sigla, nome, nota }) => {
          const iso = ISO_4217.get(codigo);
          return iso === undefined
            ? `tpMoeda ${codigo} é ${nome} (${sigla}), que já não circula. ${nota ?? ''} Confira a moeda. ${CATALOGO}`
            : `tpMoeda ${codigo} é ${nome} (${sigla}) na tabela do Banco Central. Se a moeda é ${iso}, que tem esse número na ISO 4217, o código é ${codigoOf(iso)}. ${CATALOGO}`;
        },
        origin: 'Especificação, comExt enumerations: tpMoeda',
        why: 'Alguns números da ISO 4217 são, na tabela do Banco Central, os de outra moeda, e algumas moedas da tabela já não circulam: a nota é emitida, com um aviso.',
        must: ({ codigo, sigla, ativa }) => ativa && (ISO_4217.get(codigo) ?? sigla) === sigla,
        rejects: [
          { ...TOMADOR_NO_EXTERIOR, 'serv/comExt/tpMoeda': '840' },
          { ...TOMADOR_NO_EXTERIOR, 'serv/comExt/tpMoeda': '779' },
        ],
        accepts: [],
      }),
      whenPresent(({ serv }) => serv.comExt?.vServMoeda, {
        code: 'E401',
        at: 'serv/comExt/vServMoeda',
        message:
          'vServMoeda é 0.00, e o valor do serviço na moeda estrangeira tem de ser maior que zero. Informe o valor do serviço na moeda de tpMoeda.',
        mend: 'Informe em vServMoeda o valor do serviço na moeda de tpMoeda.',
        origin: 'Especificação, Errors: E401',
        why: 'Um serviço que tem preço tem preço também na moeda em que foi contratado.',
        must: (vServMoeda) => vServMoeda > ZERO,
        found: formatDecimal,
        expected: 'valor maior que 0.00, com duas casas',
        rejects: [{ ...TOMADOR_NO_EXTERIOR, 'serv/comExt/vServMoeda': '0.00' }],
        accepts: [{ ...TOMADOR_NO_EXTERIOR, 'serv/comExt/vServMoeda': '0.01' }],
      }),
      {
        code: 'E0352',
        at: 'serv/comExt/nDI',
        title: 'Falta o número da declaração de importação',
        mend: 'Informe nDI, ou movTempBens 1 quando não houve movimentação temporária de bens.',
        message:
          'movTempBens 2 vincula a operação a uma declaração de importação, e falta nDI. Informe o número dela, ou movTempBens 1 se não houve movimentação temporária de bens.',
        origin: 'Especificação, comExt enumerations: movTempBens; Anexo I, E0352',
        why: 'O vínculo com a movimentação de bens se prova pelo número da declaração.',
        when: ({ serv }) => serv.comExt?.movTempBens === '2',
        must: ({ serv }) => serv.comExt?.nDI !== undefined,
        expected: 'número da declaração de importação, até 12 caracteres',
        rejects: [
          { ...TOMADOR_NO_EXTERIOR, 'serv/comExt/movTempBens': '2' },
          { ...TOMADOR_NO_EXTERIOR, 'serv/comExt/movTempBens': '2', 'serv/comExt/nRE': '260000000001' },
        ],
        accepts: [{ ...TOMADOR_NO_EXTERIOR, 'serv/comExt/movTempBens': '2', 'serv/comExt/nDI': '2600000011' }],
      },
      whenPresent(({ serv }) => serv.comExt, {
        code: 'E0354',
        at: 'serv/comExt/movTempBens',
        scope: 'aviso',
        title: 'Declaração de importação ou de exportação sem movimentação de bens',
        mend: 'Retire nDI e nRE, ou diga em movTempBens a que declaração a operação se vincula.',
        message: ({ nDI, nRE }) => {
          const sent = nDI !== undefined && nRE !== undefined ? 'nDI e nRE' : nDI === undefined ? 'nRE' : 'nDI';
          return `movTempBens 1 diz que não houve movimentação temporária de bens, e a DPS traz ${sent}. Retire, ou use movTempBens 2 (com nDI) ou 3 (com nRE).`;
        },
        origin: 'Anexo I, E0354',
        why: 'As duas informações se contradizem. A especificação não as proíbe juntas e o ADN não confere esta regra em notas compartilhadas: a nota é emitida, com um aviso.',
        when: ({ movTempBens }) => movTempBens === '1',
        must: ({ nDI, nRE }) => nDI === undefined && nRE === undefined,
        rejects: [
          { ...TOMADOR_NO_EXTERIOR, 'serv/comExt/nDI': '2600000011' },
          { ...TOMADOR_NO_EXTERIOR, 'serv/comExt/nRE': '260000000001' },
        ],
        accepts: [TOMADOR_NO_EXTERIOR],
        national: 'No padrão nacional a emissão pelo emissor nacional é recusada.',
      }),
      {
        code: 'E0356',
        at: 'serv/comExt/nRE',
        title: 'Falta o número do registro de exportação',
        mend: 'Informe nRE, ou movTempBens 1 quando não houve movimentação temporária de bens.',
        message:
          'movTempBens 3 vincula a operação a uma declaração de exportação, e falta nRE. Informe o número do registro, ou movTempBens 1 se não houve movimentação temporária de bens.',
        origin: 'Especificação, comExt enumerations: movTempBens; Anexo I, E0356',
        why: 'O vínculo com a movimentação de bens se prova pelo número do registro.',
        when: ({ serv }) => serv.comExt?.movTempBens === '3',
        must: ({ serv }) => serv.comExt?.nRE !== undefined,
        expected: 'número do registro de exportação, até 12 caracteres',
        rejects: [
          { ...TOMADOR_NO_EXTERIOR, 'serv/comExt/movTempBens': '3' },
          { ...TOMADOR_NO_EXTERIOR, 'serv/comExt/movTempBens': '3', 'serv/comExt/nDI': '2600000011' },
        ],
        accepts: [{ ...TOMADOR_NO_EXTERIOR, 'serv/comExt/movTempBens': '3', 'serv/comExt/nRE': '260000000001' }],
      },
    ],
  ),
];

/** The address decides; without one, a party with a foreign tax number or with none at all is abroad. */
function isAbroad(party: Dps['toma'] | Dps['interm']): boolean {
  if (party === undefined) return false;
  const { end, NIF, cNaoNIF } = party;
  return end === undefined ? NIF !== undefined || cNaoNIF !== undefined : end.endExt !== undefined;
}

function signOf({ NIF, end }: NonNullable<Dps['toma']>): string {
  if (end?.endExt !== undefined) return 'toma/end/endExt';
  return NIF === undefined ? 'toma/cNaoNIF' : 'toma/NIF';
}

function exportSignOf({ serv, interm }: Dps): string {
  const { cPaisPrestacao } = serv.locPrest;
  if (cPaisPrestacao !== undefined) return `O serviço foi prestado no exterior (cPaisPrestacao ${cPaisPrestacao})`;
  return interm?.end?.endExt === undefined
    ? 'tribISSQN 3 é exportação de serviço (não incidência é 4, e imunidade, 2)'
    : 'O intermediário está no exterior (interm/end/endExt)';
}

function codigoOf(sigla: string): string {
  return moedas().find((moeda) => moeda.sigla === sigla && moeda.ativa)?.codigo ?? 'outro';
}
