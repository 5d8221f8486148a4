/** The assessment of IBS and CBS as its tests ask for it. */
import assert from 'node:assert/strict';
import { tabelaIbsCbs } from '../../src/fiscal/aliquotas-ibs-cbs.ts';
import { classificacoes } from '../../src/fiscal/catalogs/catalogs.ts';
import { type Decimal, decimal as d, formatDecimal, ZERO } from '../../src/fiscal/decimal.ts';
import { assessIbsCbs, type IbsCbsAmounts, type IbsCbsInput } from '../../src/fiscal/ibscbs.ts';
import type { Dps } from '../../src/fiscal/layout/dps.ts';
import fc from './seed.ts';

/** An ordinary note of the test year: base R$ 1000.00, no ISSQN shown, fully taxed. */
export const PLAIN: IbsCbsInput = {
  dCompet: '2026-10-05',
  vServ: d('1000.00'),
  vISSQN: ZERO,
  vLiq: d('1000.00'),
  CST: '000',
  cClassTrib: '000001',
};

export function amountsOf(change: Partial<IbsCbsInput>): IbsCbsAmounts {
  const result = assessIbsCbs({ ...PLAIN, ...change });
  if ('unavailable' in result) assert.fail(`${result.unavailable} is not published`);
  return result;
}

/** Every leaf by its path below `base`, as the note prints it. */
export function printed(group: object, base = ''): Record<string, string> {
  const leaves: Record<string, string> = {};
  for (const [name, value] of Object.entries(group)) {
    if (typeof value === 'bigint') leaves[`${base}${name}`] = formatDecimal(value as Decimal);
    else if (value !== undefined) Object.assign(leaves, printed(value, `${base}${name}/`));
  }
  return leaves;
}

/** Assesses PLAIN with some changes and compares the fields named, by the last part of their path. */
export function expectFields(change: Partial<IbsCbsInput>, expected: Record<string, string | undefined>): void {
  const fields = Object.entries(printed(amountsOf(change)));
  const byName = Object.fromEntries(fields.map(([path, text]) => [path.split('/').at(-1), text]));
  for (const [name, text] of Object.entries(expected)) assert.equal(byName[name], text, name);
}

/** The rates that 2027 needs: those of the law for the IBS, and a published CBS. */
export const PUBLISHED = tabelaIbsCbs(
  2,
  (['IBS-UF', 'IBS-MUN', 'CBS'] as const).map((tributo) => ({
    tributo,
    uf: '',
    municipio: '',
    cClassTrib: '',
    inicio: '2027-01-01',
    fim: '2027-12-31',
    aliquota: tributo === 'CBS' ? '8.40' : '0.05',
    fonte: 'exemplo',
    ato: 'exemplo',
  })),
);

const amount = fc.bigInt({ min: 0n, max: 99_999_999_999n }).map((cents) => cents as Decimal);

const service = fc.constantFrom(...classificacoes().filter(({ indNFSe }) => indNFSe));

export const note = fc.record({
  vServ: amount,
  vLiq: amount,
  service,
  tpEnteGov: fc.constantFrom(undefined, '1', '4'),
});

const GIBSCBS = { CST: '000', cClassTrib: '000001' };

/** Provider in São Paulo, taker in Rio de Janeiro, provided in Brasília. */
export const DPS: Dps = {
  tpAmb: '2',
  verAplic: 'exemplo-1.0',
  dCompet: '2026-10-05',
  tpEmit: '1',
  cLocEmi: '3550308',
  prest: { CNPJ: '11222333000181', regTrib: { opSimpNac: '1', regEspTrib: '0' } },
  toma: { CPF: '52998224725', xNome: 'Maria Exemplo', end: inBrazil('3304557') },
  serv: {
    locPrest: { cLocPrestacao: '5300108' },
    cServ: { cTribNac: '010101', xDescServ: 'Desenvolvimento de sistema', cNBS: '115021000' },
  },
  valores: {
    vServPrest: { vServ: d('1000.00') },
    trib: { tribMun: { tribISSQN: '1', tpRetISSQN: '1' }, totTrib: { indTotTrib: '0' } },
  },
  IBSCBS: { valores: { trib: { gIBSCBS: GIBSCBS } } },
};

export function inBrazil(cMun: string) {
  return { endNac: { cMun, CEP: '01001000' }, xLgr: 'Rua A', nro: '1', xBairro: 'Centro' };
}

export function withIbscbs(group: Partial<NonNullable<Dps['IBSCBS']>>): Dps {
  return { ...DPS, IBSCBS: { valores: { trib: { gIBSCBS: GIBSCBS } }, ...group } };
}
