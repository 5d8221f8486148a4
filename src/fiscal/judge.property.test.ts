/**
 * Properties of the amounts of any operation: nothing below zero, sums that agree, independence of the order of the input. The sums are
 * done here in whole cents.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { blocksOf } from '../../test/support/membros.ts';
import {
  APURADOS,
  DEDUCTIONS,
  hundredths,
  type Operacao,
  operacaoOf,
  operacoes,
  THIRD_PARTIES,
  xmlOf,
} from '../../test/support/operacoes.ts';
import fc, { LONG } from '../../test/support/seed.ts';
import { readXml } from '../documents/xml.ts';
import type { Facts } from './facts.ts';
import { type Judged, judge } from './judge.ts';
import type { Dps } from './layout/dps.ts';
import { readDps } from './layout/read.ts';
import { EXAMPLE_FACTS } from './rules/trial.ts';

const RUNS = { numRuns: LONG ? 2_500 : 120 };
const FACTS: Facts = { ...EXAMPLE_FACTS, hoje: '2026-11-21' };

/** Tests draw the same operations from one seed: each is read and judged once. */
const dpsByXml = new Map<string, Dps>();
const judgedByDps = new Map<Dps, Judged>();

const dpsOf = (xml: string): Dps => dpsByXml.getOrInsertComputed(xml, readOne);
const judged = (dps: Dps): Judged => judgedByDps.getOrInsertComputed(dps, judgeOne);

function readOne(xml: string): Dps {
  const reading = readXml(Buffer.from(xml));
  assert.ok('root' in reading, xml);
  const read = readDps(reading.root);
  if ('faults' in read) assert.fail(`${JSON.stringify(read.faults)}\n${xml}`);
  return read.dps;
}

function judgeOne(dps: Dps): Judged {
  const judgement = judge(dps, FACTS);
  if ('faults' in judgement) assert.fail(JSON.stringify(judgement.faults));
  return judgement;
}

const judgedXml = (xml: string): Judged => judged(dpsOf(xml));
const amountsOf = (operacao: Operacao): Judged => judgedXml(xmlOf(operacao));

type Numbers = Readonly<Record<string, bigint>>;

/** Every amount and rate by its path. */
function numbersOf({ amounts, ibscbs }: Judged): Numbers {
  return { ...flat(amounts, 'valores/'), ...flat(ibscbs ?? {}, 'IBSCBS/') };
}

function flat(group: object, base: string): Numbers {
  const numbers: Record<string, bigint> = {};
  for (const [name, value] of Object.entries(group)) {
    if (typeof value === 'bigint') numbers[base + name] = value;
    else if (typeof value === 'object' && value !== null) Object.assign(numbers, flat(value, `${base}${name}/`));
  }
  return numbers;
}

/** Twice the distance in cents between a product and its rounding to the cent, in ten-thousandths of a cent. */
const isRounded = (value: bigint, base: bigint, rate: bigint): boolean => {
  const off = 2n * (value * 10_000n - base * rate);
  return -10_000n < off && off <= 10_000n;
};

test('every operation drawn is one that the law accepts, national rules included', () => {
  fc.assert(
    fc.property(operacoes, (operacao) => {
      amountsOf(operacao);
    }),
    RUNS,
  );
});

test('no amount is below zero', () => {
  fc.assert(
    fc.property(operacoes, (operacao) => {
      for (const [path, value] of Object.entries(numbersOf(amountsOf(operacao)))) assert.ok(value >= 0n, path);
    }),
    RUNS,
  );
});

test('base, tax, withholdings and net value agree', () => {
  fc.assert(
    fc.property(operacoes, (operacao) => {
      const dps = dpsOf(xmlOf(operacao));
      const { amounts } = judged(dps);
      const { valores, IBSCBS } = dps;
      const { vDescIncond = 0n, vDescCond = 0n } = valores.vDescCondIncond ?? {};
      const { vRetCP = 0n, vRetIRRF = 0n, vRetCSLL = 0n } = valores.trib.tribFed ?? {};
      const { vServ } = valores.vServPrest;
      const withheld = valores.trib.tribMun.tpRetISSQN === '1' ? 0n : (amounts.vISSQN ?? 0n);
      const total = vRetCP + vRetIRRF + vRetCSLL + withheld;
      assert.equal(amounts.vLiq, vServ - vDescIncond - vDescCond - total);
      assert.equal(amounts.issqnShown, APURADOS.includes(operacao.sorteio.regime), operacao.sorteio.regime);
      if (!amounts.issqnShown) {
        for (const absent of ['vCalcDR', 'vCalcBM', 'vBC', 'pAliqAplic', 'vISSQN', 'vTotalRet'] as const)
          assert.equal(amounts[absent], undefined, absent);
        return;
      }
      assert.equal(amounts.vTotalRet, total);
      const deduction = amounts.vCalcDR ?? valores.vDedRed?.vDR ?? 0n;
      const benefit = amounts.vCalcBM ?? valores.trib.tribMun.BM?.vRedBCBM ?? 0n;
      const documentos = IBSCBS?.valores.gReeRepRes?.documentos ?? [];
      const reimbursed = documentos.reduce((sum, { vlrReeRepRes }) => sum + vlrReeRepRes, 0n);
      assert.equal(amounts.vBC, vServ - vDescIncond - deduction - benefit - reimbursed);
      assert.ok(isRounded(amounts.vISSQN!, amounts.vBC!, amounts.pAliqAplic!));
      if (valores.vDedRed?.pDR) assert.ok(isRounded(deduction, vServ - vDescIncond, valores.vDedRed.pDR));
    }),
    RUNS,
  );
});

test('the tributes of the group are products of one base and sum to the totals', () => {
  fc.assert(
    fc.property(operacoes, (operacao) => {
      const dps = dpsOf(xmlOf(operacao));
      const { amounts, ibscbs } = judged(dps);
      assert.equal(ibscbs === undefined, dps.IBSCBS === undefined);
      if (ibscbs === undefined) return;
      const { valores, totCIBS } = ibscbs;
      const { vBC, uf, mun, fed } = valores;
      const { gIBS, gCBS } = totCIBS;
      const { vPis = 0n, vCofins = 0n } = dps.valores.trib.tribFed?.piscofins ?? {};
      const { vServ } = dps.valores.vServPrest;
      const { vDescIncond = 0n } = dps.valores.vDescCondIncond ?? {};
      const taken = vDescIncond + (valores.vCalcReeRepRes ?? 0n) + (amounts.vISSQN ?? 0n) + vPis + vCofins;
      assert.equal(vBC, vServ - taken);
      assert.equal(gIBS.vIBSTot, gIBS.gIBSUFTot.vIBSUF + gIBS.gIBSMunTot.vIBSMun);
      assert.equal(totCIBS.vTotNF, amounts.vLiq);
      const tributes = [
        [gIBS.gIBSUFTot.vDifUF, gIBS.gIBSUFTot.vIBSUF, uf.pAliqEfetUF, uf.pIBSUF],
        [gIBS.gIBSMunTot.vDifMun, gIBS.gIBSMunTot.vIBSMun, mun.pAliqEfetMun, mun.pIBSMun],
        [gCBS.vDifCBS, gCBS.vCBS, fed.pAliqEfetCBS, fed.pCBS],
      ] as const;
      for (const [deferred, due, effective, rate] of tributes) {
        assert.ok(isRounded(deferred ?? due, vBC, effective));
        assert.ok(effective <= rate);
        if (deferred !== undefined) assert.equal(due, 0n);
      }
    }),
    RUNS,
  );
});

test('the order of the documents changes no amount and no remark', () => {
  const withDocuments = operacoes.filter(({ membros }) => Object.values(membros).some((more) => more!.length > 0));
  fc.assert(
    fc.property(withDocuments, (operacao) => {
      const xml = xmlOf(operacao);
      let turned = xml;
      for (const group of [DEDUCTIONS, THIRD_PARTIES]) {
        const blocks = blocksOf(xml, group);
        turned = turned.replace(blocks.join(''), () => blocks.toReversed().join(''));
      }
      assert.notEqual(turned, xml);
      const told = (text: string): object => {
        const { amounts, ibscbs, avisos } = judgedXml(text);
        return { amounts, ibscbs, avisos: avisos.map(({ codigo }) => codigo).toSorted() };
      };
      assert.deepEqual(told(turned), told(xml));
    }),
    { numRuns: LONG ? 1_000 : 50 },
  );
});

test('siblings that are read in both orders say the same in both', () => {
  fc.assert(
    fc.property(operacoes, (operacao) => {
      const xml = xmlOf(operacao);
      assert.deepEqual(dpsOf(otherwise(xml)), dpsOf(xml));
    }),
    RUNS,
  );
});

/** Moves the deduction before the discounts, and uses the second spellings (D-12, D-15). */
function otherwise(xml: string): string {
  return xml
    .replace(/( *<vDescCondIncond>[\s\S]*?<\/vDescCondIncond>\n)( *<vDedRed>[\s\S]*?<\/vDedRed>\n)/, '$2$1')
    .replaceAll(/<(\/?)BM>/g, '<$1bM>')
    .replaceAll(/<(\/?)IBSCBS>/g, '<$1ibscbs>');
}

test('in another size every amount is that many times as much, up to the roundings', () => {
  fc.assert(
    fc.property(operacoes, fc.bigInt({ min: 2n, max: 9n }), (operacao, times) => {
      const one = numbersOf(amountsOf(operacao));
      const many = numbersOf(amountsOf(operacaoOf(operacao.sorteio, times)));
      assert.deepEqual(Object.keys(many), Object.keys(one));
      // Deduction, benefit and tax are rounded one after the other, each by half a cent at most.
      const slack = 2n * (times + 1n);
      for (const [path, value] of Object.entries(one)) {
        const isRate = /\/p[A-Z][^/]*$/.test(path);
        const wanted = isRate ? value : value * times;
        const off = many[path]! - wanted;
        const text = `${path}: ${hundredths(many[path]!)} for ${hundredths(wanted)}`;
        assert.ok(isRate ? off === 0n : -slack <= off && off <= slack, text);
      }
    }),
    RUNS,
  );
});

test('a conditional discount changes the net value and what is read off it, and nothing else', () => {
  fc.assert(
    fc.property(operacoes, (operacao) => {
      const without = amountsOf(operacaoOf({ ...operacao.sorteio, vDescCond: undefined }));
      const withIt = amountsOf(operacaoOf({ ...operacao.sorteio, vDescCond: 100n }));
      const differing = (): string[] => {
        const [before, after] = [numbersOf(without), numbersOf(withIt)];
        return Object.keys(before).filter((path) => before[path] !== after[path]);
      };
      const read = without.ibscbs === undefined ? [] : ['IBSCBS/totCIBS/vTotNF'];
      assert.deepEqual(differing(), ['valores/vLiq', ...read]);
    }),
    RUNS,
  );
});

test('a larger unconditional discount never leaves more to be taxed or to be paid', () => {
  fc.assert(
    fc.property(operacoes, (operacao) => {
      const small = amountsOf(operacaoOf({ ...operacao.sorteio, vDescIncond: 50n })).amounts;
      const large = amountsOf(operacaoOf({ ...operacao.sorteio, vDescIncond: 950n })).amounts;
      assert.ok((large.vBC ?? 0n) <= (small.vBC ?? 0n));
      assert.ok((large.vISSQN ?? 0n) <= (small.vISSQN ?? 0n));
      assert.ok(large.vLiq <= small.vLiq);
    }),
    RUNS,
  );
});
