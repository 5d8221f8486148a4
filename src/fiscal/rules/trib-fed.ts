/**
 * Rules of the federal taxes, `valores/trib/tribFed`. The layout checks the order (E203), the CST of `piscofins` (E002) and the range of
 * the rates (E0686, E0692).
 */
import { type Decimal, decimal, distance, formatDecimal, percentOf, ZERO } from '../decimal.ts';
import type { Dps } from '../layout/dps.ts';
import { brazilianDate } from '../moment.ts';
import { type Having, has, ofPart, type Patch, type Rule, whenPresent } from './rule.ts';

/** The tolerance between `vPis` or `vCofins` and base times rate (specification, `tribFed`). */
export const PISCOFINS_TOLERANCE = decimal('0.01');

const HUNDRED = decimal('100.00');

export const PISCOFINS = 'valores/trib/tribFed/piscofins';

/** First competence without PIS and COFINS. */
export const FIM_PISCOFINS = '2027-01-01';

/** Values of `tpRetPisCofins` that NT 007 phases out. */
const CODIGOS_ANTIGOS: ReadonlySet<string> = new Set(['1', '2']);

const COM_BASE: Patch = { [`${PISCOFINS}/CST`]: '01', [`${PISCOFINS}/vBCPisCofins`]: '1000.00' };

type PisCofins = NonNullable<NonNullable<Dps['valores']['trib']['tribFed']>['piscofins']>;

const piscofinsOf = ({ valores }: Dps): PisCofins | undefined => valores.trib.tribFed?.piscofins;

/**
 * The own debit of one contribution, rounded half to even like NT 007. A value with a rate must equal base times rate. A missing value is
 * not judged, and a value without a base cannot have come from one.
 */
function checkDebit(
  code: string,
  [rate, value, name]: readonly ['pAliqPis', 'vPis', 'PIS'] | readonly ['pAliqCofins', 'vCofins', 'COFINS'],
  examples: { readonly rejects: readonly Patch[]; readonly accepts: readonly Patch[] },
): Rule {
  type Debited = Having<PisCofins, typeof rate | typeof value>;
  const debitedIn = (dps: Dps): Debited | undefined => {
    const piscofins = piscofinsOf(dps);
    return has(piscofins, rate) && has(piscofins, value) ? piscofins : undefined;
  };
  const expected = ({ vBCPisCofins = ZERO, [rate]: pAliq }: Debited): Decimal =>
    percentOf(vBCPisCofins, pAliq, 'half-even');
  const de = name === 'PIS' ? 'do PIS' : 'da COFINS';
  return whenPresent(debitedIn, {
    code,
    at: `${PISCOFINS}/${value}`,
    title: `O valor ${de} não é a base vezes a alíquota`,
    message: (piscofins) => {
      const { vBCPisCofins } = piscofins;
      const declared = `${value} é ${formatDecimal(piscofins[value])}`;
      return vBCPisCofins === undefined
        ? `${declared}, com ${rate} e sem a base de que se calcula. Informe vBCPisCofins.`
        : `${declared}, e ${formatDecimal(vBCPisCofins)} a ${formatDecimal(piscofins[rate])}% dá ${formatDecimal(expected(piscofins))}. Corrija o valor, a base ou a alíquota.`;
    },
    mend: `Corrija ${value}, que é vBCPisCofins vezes ${rate}, ou deixe a alíquota de fora.`,
    origin: `Especificação, DPS: tribFed; Errors: ${code}; Anexo I, ${code} (NT 007)`,
    why: `Com ${rate} informado, ${value}, se vem, é vBCPisCofins vezes a alíquota, com tolerância de 0,01. Sem ${rate}, ${value} passa como vem.`,
    must: (piscofins) =>
      piscofins.vBCPisCofins !== undefined && distance(piscofins[value], expected(piscofins)) <= PISCOFINS_TOLERANCE,
    found: ({ [value]: declared }) => formatDecimal(declared),
    ...examples,
  });
}

/** A rate may be up to 100 by the specification, and up to 99.99 by the national schema. */
function limitRate(code: string, name: 'pAliqPis' | 'pAliqCofins', de: string): Rule {
  const at = `${PISCOFINS}/${name}` as const;
  return whenPresent((dps) => piscofinsOf(dps)?.[name], {
    code,
    at,
    scope: 'nacional',
    esquema: true,
    message: `${name} é 100.00, e o esquema nacional só tem alíquotas até 99.99: o ADN não recebe a nota. Corrija a alíquota ${de}.`,
    origin: 'Especificação, DPS: tribFed; esquema nacional da DPS 1.01, TSDec2V2; decisão D-192',
    why: `A especificação aceita ${name} de 0 a 100, e o esquema nacional tem dois dígitos inteiros: em produção a nota não se transmitiria.`,
    must: (pAliq) => pAliq < HUNDRED,
    found: formatDecimal,
    expected: 'percentual até 99.99',
    rejects: [{ [`${PISCOFINS}/CST`]: '01', [at]: '100.00' }],
    accepts: [{ [`${PISCOFINS}/CST`]: '01', [at]: '99.99' }],
  });
}

/** A withholding is a part of the price. */
function limitRetention(code: string, name: 'vRetCP' | 'vRetIRRF' | 'vRetCSLL', title: string): Rule {
  const at = `valores/trib/tribFed/${name}` as const;
  return whenPresent(({ valores }) => valores.trib.tribFed?.[name], {
    code,
    at,
    title,
    message: (retido, { valores }) =>
      `${name} é ${formatDecimal(retido)}, e tem de ser maior que zero e menor que o valor do serviço, ${formatDecimal(valores.vServPrest.vServ)}. Sem retenção, retire o elemento.`,
    mend: `Corrija ${name}; sem retenção, retire o elemento.`,
    origin: `Especificação, DPS: tribFed; Errors: ${code}; Anexo I, ${code}`,
    why: `${name}, quando vem, é maior que zero e menor que o valor do serviço.`,
    must: (retido, { valores }) => retido > ZERO && retido < valores.vServPrest.vServ,
    found: formatDecimal,
    expected: 'valor maior que 0.00 e menor que vServ',
    // The net value of a whole withholding is still zero, and nothing else is wrong.
    rejects: [{ [at]: '0.00' }, { [at]: '1000.00' }],
    accepts: [{ [at]: '0.01' }, { [at]: '999.99' }],
  });
}

export const TRIB_FED: readonly Rule[] = ofPart(
  ({ valores }) => valores.trib.tribFed !== undefined,
  [
    {
      code: 'E0675',
      at: 'valores/trib/tribFed',
      // The national environment has not applied this rule since 13/03/2026.
      scope: 'aviso',
      title: 'Tributos federais na DPS de uma pessoa física',
      message:
        'Quem emite é uma pessoa física (CPF), e a DPS traz tributos federais. A nota os leva; confira se são devidos, e se não são retire o grupo tribFed.',
      mend: 'Confira o grupo tribFed: retire-o se os tributos não são devidos, ou identifique o prestador pelo CNPJ.',
      origin: 'Anexo I, E0675, que o ambiente nacional desligou em 13/03/2026; decisão D-195',
      why: 'PIS, COFINS e CSLL são de pessoas jurídicas, mas de uma pessoa física se retém imposto de renda e contribuição previdenciária.',
      must: ({ tpEmit, prest, toma, interm }) =>
        (tpEmit === '1' ? prest : tpEmit === '2' ? toma : interm)?.CPF === undefined,
      rejects: [{ 'prest/CNPJ': null, 'prest/CPF': '52998224725', 'valores/trib/tribFed/vRetIRRF': '15.00' }],
      accepts: [{ 'valores/trib/tribFed/vRetIRRF': '15.00' }],
    },
    whenPresent((dps) => piscofinsOf(dps)?.vBCPisCofins, {
      code: 'E0677',
      at: `${PISCOFINS}/vBCPisCofins`,
      title: 'Base do PIS e da COFINS maior que o valor do serviço',
      message: (vBCPisCofins, { valores }) =>
        `vBCPisCofins é ${formatDecimal(vBCPisCofins)}, mais que o valor do serviço, ${formatDecimal(valores.vServPrest.vServ)}. Corrija a base.`,
      mend: 'Corrija vBCPisCofins, no máximo igual a vServ.',
      origin: 'Especificação, DPS: tribFed; Errors: E0677; Anexo I, E0677',
      why: 'vBCPisCofins é uma parte do valor do serviço, e não o ultrapassa.',
      must: (vBCPisCofins, { valores }) => vBCPisCofins <= valores.vServPrest.vServ,
      found: formatDecimal,
      expected: 'valor até vServ',
      rejects: [{ ...COM_BASE, [`${PISCOFINS}/vBCPisCofins`]: '1000.01' }],
      accepts: [COM_BASE],
    }),
    {
      code: 'E803',
      at: PISCOFINS,
      scope: 'aviso',
      title: 'PIS e COFINS numa competência em que já não existem',
      message: ({ dCompet }) =>
        `O PIS e a COFINS acabaram em 31/12/2026 (ADCT, art. 126, II, incluído pela EC 132/2023): da competência ${brazilianDate(dCompet)} deve-se a CBS, e eles já não reduzem a base do IBS e da CBS. Confira a competência; se é a certa, retire piscofins.`,
      mend: 'Confira dCompet; da competência 01/01/2027 em diante, retire piscofins.',
      origin: 'ADCT, art. 126, II (EC 132/2023); LC 214/2025; decisão D-195',
      why: 'A partir de 01/01/2027 o PIS e a COFINS estão extintos, e a CBS é devida no lugar deles.',
      when: (dps) => piscofinsOf(dps) !== undefined,
      must: ({ dCompet }) => dCompet < FIM_PISCOFINS,
      rejects: [{ ...COM_BASE, dCompet: '2027-01-05' }],
      accepts: [{ ...COM_BASE, dCompet: '2026-12-31' }],
    },
    whenPresent((dps) => piscofinsOf(dps)?.tpRetPisCofins, {
      code: 'E0002',
      at: `${PISCOFINS}/tpRetPisCofins`,
      scope: 'aviso',
      message: (tpRetPisCofins) => {
        const instead =
          tpRetPisCofins === '1'
            ? 'se foram retidos PIS e COFINS, e não CSLL, use 4; se também a CSLL, 3'
            : 'se nada foi retido, use 0, sem vRetCSLL; se só a CSLL foi retida, 8';
        return `tpRetPisCofins ${tpRetPisCofins} é um código antigo, que a Nota Técnica 007 mantém só até o grupo IBSCBS ser obrigatório no padrão nacional; há municípios que já o recusam. Ele segue como veio. Troque-o pelo novo: ${instead}.`;
      },
      origin: 'Nota Técnica SE/CGNFS-e 007, de 07/02/2026; especificação, DPS: tribFed',
      why: 'Os códigos 1 e 2 não dizem se a CSLL foi retida; os de 3 a 9 dizem quais das três contribuições foram. A especificação aceita de 0 a 9: a nota é emitida, com um aviso.',
      must: (tpRetPisCofins) => !CODIGOS_ANTIGOS.has(tpRetPisCofins),
      rejects: [
        { [`${PISCOFINS}/CST`]: '01', [`${PISCOFINS}/tpRetPisCofins`]: '1', 'valores/trib/tribFed/vRetCSLL': '36.50' },
        { [`${PISCOFINS}/CST`]: '01', [`${PISCOFINS}/tpRetPisCofins`]: '2' },
      ],
      accepts: [
        { [`${PISCOFINS}/CST`]: '01', [`${PISCOFINS}/tpRetPisCofins`]: '0' },
        { [`${PISCOFINS}/CST`]: '01', [`${PISCOFINS}/tpRetPisCofins`]: '4', 'valores/trib/tribFed/vRetCSLL': '36.50' },
      ],
    }),
    limitRate('E0686', 'pAliqPis', 'do PIS'),
    limitRate('E0692', 'pAliqCofins', 'da COFINS'),
    checkDebit('E0694', ['pAliqPis', 'vPis', 'PIS'], {
      rejects: [
        { ...COM_BASE, [`${PISCOFINS}/pAliqPis`]: '0.65', [`${PISCOFINS}/vPis`]: '6.52' },
        { [`${PISCOFINS}/CST`]: '01', [`${PISCOFINS}/pAliqPis`]: '0.65', [`${PISCOFINS}/vPis`]: '6.50' },
      ],
      accepts: [
        { ...COM_BASE, [`${PISCOFINS}/pAliqPis`]: '0.65', [`${PISCOFINS}/vPis`]: '6.51' },
        // 100.50 x 1.00 % = 1.0050, half to even 1.00; 0.99 is the tolerance below it
        {
          ...COM_BASE,
          [`${PISCOFINS}/vBCPisCofins`]: '100.50',
          [`${PISCOFINS}/pAliqPis`]: '1.00',
          [`${PISCOFINS}/vPis`]: '0.99',
        },
        { ...COM_BASE, [`${PISCOFINS}/vPis`]: '7.00' },
        { [`${PISCOFINS}/CST`]: '01', [`${PISCOFINS}/pAliqPis`]: '0.65' },
        { ...COM_BASE, [`${PISCOFINS}/pAliqPis`]: '0.65' },
        { ...COM_BASE, [`${PISCOFINS}/CST`]: '06', [`${PISCOFINS}/pAliqPis`]: '0.00' },
      ],
    }),
    checkDebit('E0696', ['pAliqCofins', 'vCofins', 'COFINS'], {
      rejects: [
        { ...COM_BASE, [`${PISCOFINS}/pAliqCofins`]: '3.00', [`${PISCOFINS}/vCofins`]: '30.02' },
        { [`${PISCOFINS}/CST`]: '01', [`${PISCOFINS}/pAliqCofins`]: '3.00', [`${PISCOFINS}/vCofins`]: '30.00' },
      ],
      accepts: [
        { ...COM_BASE, [`${PISCOFINS}/pAliqCofins`]: '3.00', [`${PISCOFINS}/vCofins`]: '29.99' },
        { ...COM_BASE, [`${PISCOFINS}/vCofins`]: '31.00' },
        { [`${PISCOFINS}/CST`]: '01', [`${PISCOFINS}/pAliqCofins`]: '3.00' },
        { ...COM_BASE, [`${PISCOFINS}/pAliqCofins`]: '3.00' },
        { ...COM_BASE, [`${PISCOFINS}/CST`]: '06', [`${PISCOFINS}/pAliqCofins`]: '0.00' },
      ],
    }),
    limitRetention('E0699', 'vRetCP', 'Contribuição previdenciária retida fora do intervalo'),
    limitRetention('E0700', 'vRetIRRF', 'Imposto de renda retido fora do intervalo'),
    limitRetention('E0701', 'vRetCSLL', 'PIS, COFINS e CSLL retidos fora do intervalo'),
    whenPresent(({ valores }) => valores.trib.tribFed?.vRetCSLL, {
      code: 'E0720',
      at: 'valores/trib/tribFed/vRetCSLL',
      title: 'Valor retido numa nota sem retenção de PIS, COFINS e CSLL',
      message: (vRetCSLL) =>
        `tpRetPisCofins 0 diz que nada foi retido, e veio vRetCSLL ${formatDecimal(vRetCSLL)}. Retire vRetCSLL, ou diga em tpRetPisCofins o que foi retido.`,
      mend: 'Retire vRetCSLL, ou diga em tpRetPisCofins o que foi retido.',
      origin: 'Especificação, DPS: tribFed; Errors: E0720; Anexo I, E0720',
      why: 'Com tpRetPisCofins 0, que é nenhuma retenção, vRetCSLL não se envia.',
      when: (_vRetCSLL, dps) => piscofinsOf(dps)?.tpRetPisCofins === '0',
      must: () => false,
      found: formatDecimal,
      rejects: [
        { [`${PISCOFINS}/CST`]: '01', [`${PISCOFINS}/tpRetPisCofins`]: '0', 'valores/trib/tribFed/vRetCSLL': '46.50' },
      ],
      accepts: [{ [`${PISCOFINS}/CST`]: '01', [`${PISCOFINS}/tpRetPisCofins`]: '0' }],
    }),
    whenPresent((dps) => piscofinsOf(dps)?.tpRetPisCofins, {
      code: 'E0724',
      at: 'valores/trib/tribFed/vRetCSLL',
      title: 'Falta o valor retido de PIS, COFINS e CSLL',
      message: (tpRetPisCofins) =>
        `tpRetPisCofins ${tpRetPisCofins} diz que houve retenção, e falta o valor. Informe vRetCSLL, ou corrija tpRetPisCofins.`,
      mend: 'Informe vRetCSLL, ou corrija tpRetPisCofins.',
      origin: 'Especificação, DPS: tribFed; Errors: E0724; Anexo I, E0724',
      why: 'Com tpRetPisCofins diferente de 0 e de 2 há retenção, e vRetCSLL a traz.',
      when: (tpRetPisCofins) => tpRetPisCofins !== '0' && tpRetPisCofins !== '2',
      must: (_tpRetPisCofins, { valores }) => valores.trib.tribFed?.vRetCSLL !== undefined,
      expected: 'valor maior que 0.00 e menor que vServ',
      rejects: [
        { [`${PISCOFINS}/CST`]: '01', [`${PISCOFINS}/tpRetPisCofins`]: '3' },
        { [`${PISCOFINS}/CST`]: '01', [`${PISCOFINS}/tpRetPisCofins`]: '9' },
      ],
      accepts: [
        { [`${PISCOFINS}/CST`]: '01', [`${PISCOFINS}/tpRetPisCofins`]: '3', 'valores/trib/tribFed/vRetCSLL': '46.50' },
        { [`${PISCOFINS}/CST`]: '01', [`${PISCOFINS}/tpRetPisCofins`]: '2' },
        { [`${PISCOFINS}/CST`]: '01', [`${PISCOFINS}/tpRetPisCofins`]: '2', 'valores/trib/tribFed/vRetCSLL': '10.00' },
      ],
    }),
  ],
);
