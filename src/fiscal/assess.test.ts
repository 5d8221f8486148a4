import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../test/support/seed.ts';
import { AMBIENTES } from './ambiente.ts';
import { assessIssqn, chooseAliquota, type IssqnAmounts, type IssqnInput } from './assess.ts';
import { type Decimal, decimal as d, formatDecimal, sum, ZERO } from './decimal.ts';

/** An ordinary note: R$ 1000.00, taxable, 5 %, nothing withheld. */
const PLAIN: IssqnInput = {
  vServ: d('1000.00'),
  tribISSQN: '1',
  exigSusp: false,
  opSimpNac: '1',
  regEspTrib: '0',
  tpRetISSQN: '1',
  pAliqAplic: d('5.00'),
};

/** The amounts as text, without those that are undefined. */
function printed(amounts: IssqnAmounts): Record<string, string | boolean> {
  const shown: Record<string, string | boolean> = {};
  for (const [name, value] of Object.entries(amounts)) {
    if (value !== undefined) shown[name] = typeof value === 'bigint' ? formatDecimal(value as Decimal) : value;
  }
  return shown;
}

/** Assesses PLAIN with some changes and compares the amounts named. */
function expectAmounts(change: Partial<IssqnInput>, expected: Record<string, string | boolean | undefined>): void {
  const actual = printed(assessIssqn({ ...PLAIN, ...change }));
  for (const [name, value] of Object.entries(expected)) assert.equal(actual[name], value, name);
}

test('the plain note', () => {
  // 1000.00 × 5 % = 50.00; nothing withheld, so the net value is the price
  assert.deepEqual(printed(assessIssqn(PLAIN)), {
    base: '1000.00',
    vBC: '1000.00',
    pAliqAplic: '5.00',
    vISSQN: '50.00',
    vTotalRet: '0.00',
    vLiq: '1000.00',
    vISSQNRet: '0.00',
    deduction: '0.00',
    benefit: '0.00',
    issqnShown: true,
  });
});

test('discounts, deduction, withheld ISSQN and federal withholdings together', () => {
  const amounts = assessIssqn({
    ...PLAIN,
    vDescIncond: d('50.00'),
    vDescCond: d('20.00'),
    deduction: { kind: 'vDR', v: d('100.00') },
    pAliqAplic: d('3.00'),
    tpRetISSQN: '2',
    vRetIRRF: d('15.00'),
    vRetCSLL: d('46.50'),
  });
  assert.deepEqual(printed(amounts), {
    base: '850.00',
    vBC: '850.00', // 1000.00 − 50.00 − 100.00
    pAliqAplic: '3.00',
    vISSQN: '25.50', // 850.00 × 3 %
    vTotalRet: '87.00', // 15.00 + 46.50 + 25.50
    vLiq: '843.00', // 1000.00 − 50.00 − 20.00 − 87.00
    vISSQNRet: '25.50',
    deduction: '100.00',
    benefit: '0.00',
    issqnShown: true,
  });
});

test('an exemption leaves no base and a tax of nought, with a rate and without one', () => {
  const benefit = { kind: 'isencao' } as const;
  expectAmounts({ benefit }, { vBC: '0.00', vCalcBM: '1000.00', vISSQN: '0.00', vLiq: '1000.00' });
  expectAmounts({ benefit, pAliqAplic: undefined }, { vBC: '0.00', vISSQN: '0.00', pAliqAplic: undefined });
  // A taxable service with an unknown rate has a base, and no tax.
  expectAmounts({ pAliqAplic: undefined }, { vBC: '1000.00', vISSQN: undefined });
});

test('the unconditional discount reduces base and net value, the conditional one only the net value', () => {
  // 1000.00 − 50.00 = 950.00; × 5 % = 47.50
  expectAmounts({ vDescIncond: d('50.00') }, { vBC: '950.00', vISSQN: '47.50', vLiq: '950.00' });
  // 1000.00 − 20.00 = 980.00
  expectAmounts({ vDescCond: d('20.00') }, { vBC: '1000.00', vISSQN: '50.00', vLiq: '980.00' });
});

test('a deduction in percent is computed and shown', () => {
  // 30 % of 1000.00 = 300.00; 1000.00 − 300.00 = 700.00; × 5 % = 35.00; the net value knows no deduction
  expectAmounts(
    { deduction: { kind: 'pDR', p: d('30.00') } },
    { vCalcDR: '300.00', deduction: '300.00', vBC: '700.00', vISSQN: '35.00', vLiq: '1000.00' },
  );
  // after the unconditional discount: 30 % of (1000.00 − 50.00) = 285.00; 950.00 − 285.00 = 665.00; × 5 % = 33.25
  expectAmounts(
    { vDescIncond: d('50.00'), deduction: { kind: 'pDR', p: d('30.00') } },
    { vCalcDR: '285.00', vBC: '665.00', vISSQN: '33.25', vLiq: '950.00' },
  );
});

test('a deduction in reais is not repeated on the note', () => {
  // 1000.00 − 100.00 = 900.00; × 5 % = 45.00
  expectAmounts(
    { deduction: { kind: 'vDR', v: d('100.00') } },
    { vCalcDR: undefined, deduction: '100.00', vBC: '900.00', vISSQN: '45.00', vLiq: '1000.00' },
  );
});

test('a deduction by documents is their sum, and shown', () => {
  // 100.10 + 200.20 + 0.05 = 300.35; 1000.00 − 300.35 = 699.65; × 5 % = 34.9825
  expectAmounts(
    { deduction: { kind: 'documentos', values: [d('100.10'), d('200.20'), d('0.05')] } },
    { vCalcDR: '300.35', deduction: '300.35', vBC: '699.65', vISSQN: '34.98', vLiq: '1000.00' },
  );
});

test('a benefit in percent is computed and shown', () => {
  // 40 % of 1000.00 = 400.00; 600.00 × 5 % = 30.00
  expectAmounts(
    { benefit: { kind: 'pRedBCBM', p: d('40.00') } },
    { vCalcBM: '400.00', benefit: '400.00', vBC: '600.00', vISSQN: '30.00', vLiq: '1000.00' },
  );
  // after discount and deduction: 40 % of (1000.00 − 50.00 − 150.00) = 320.00; 800.00 − 320.00 = 480.00; × 5 % = 24.00
  expectAmounts(
    {
      vDescIncond: d('50.00'),
      deduction: { kind: 'vDR', v: d('150.00') },
      benefit: { kind: 'pRedBCBM', p: d('40.00') },
    },
    { vCalcDR: undefined, vCalcBM: '320.00', vBC: '480.00', vISSQN: '24.00', vLiq: '950.00' },
  );
});

test('a benefit in reais is not repeated on the note', () => {
  // 1000.00 − 250.00 = 750.00; × 5 % = 37.50
  expectAmounts(
    { benefit: { kind: 'vRedBCBM', v: d('250.00') } },
    { vCalcBM: undefined, benefit: '250.00', vBC: '750.00', vISSQN: '37.50', vLiq: '1000.00' },
  );
});

test('amounts of third parties leave the base and stay in the net value', () => {
  // 120.00 + 80.50 = 200.50; 1000.00 − 200.50 = 799.50; × 5 % = 39.975, tie
  expectAmounts(
    { vlrReeRepRes: [d('120.00'), d('80.50')] },
    { vCalcReeRepRes: '200.50', vBC: '799.50', vISSQN: '39.98', vLiq: '1000.00' },
  );
  expectAmounts({ vlrReeRepRes: [] }, { vCalcReeRepRes: undefined, vBC: '1000.00' });
});

test('every reducer and every withholding at once', () => {
  expectAmounts(
    {
      vServ: d('2000.00'),
      vDescIncond: d('100.00'),
      vDescCond: d('30.00'),
      deduction: { kind: 'pDR', p: d('25.00') },
      benefit: { kind: 'pRedBCBM', p: d('10.00') },
      vlrReeRepRes: [d('82.50')],
      pAliqAplic: d('2.50'),
      tpRetISSQN: '3',
      vRetCP: d('220.00'),
      vRetIRRF: d('30.00'),
      vRetCSLL: d('93.00'),
    },
    {
      vCalcDR: '475.00', // 25 % of (2000.00 − 100.00)
      vCalcBM: '142.50', // 10 % of (1900.00 − 475.00)
      vCalcReeRepRes: '82.50',
      vBC: '1200.00', // 1900.00 − 475.00 − 142.50 − 82.50
      pAliqAplic: '2.50',
      vISSQN: '30.00', // 1200.00 × 2.5 %
      vISSQNRet: '30.00',
      vTotalRet: '373.00', // 220.00 + 30.00 + 93.00 + 30.00
      vLiq: '1497.00', // 2000.00 − 100.00 − 30.00 − 373.00
      base: '1200.00',
    },
  );
});

test('half a cent goes up, and each product is rounded on its own', () => {
  for (const [vServ, rate, vISSQN] of [
    ['100.50', '1.00', '1.01'], // 1.0050
    ['100.49', '1.00', '1.00'], // 1.0049
    ['0.25', '2.00', '0.01'], // 0.0050
    ['0.24', '2.00', '0.00'], // 0.0048
    ['1175.00', '3.05', '35.84'], // 35.8375
    ['651.61', '2.00', '13.03'], // 13.0322
    ['1391.92', '4.17', '58.04'], // 58.043064
    ['33.30', '2.50', '0.83'], // 0.8325
    ['33.40', '2.50', '0.84'], // 0.8350, tie
    ['33.00', '2.50', '0.83'], // 0.8250, tie, where half-even would give 0.82
  ] as const) {
    expectAmounts({ vServ: d(vServ), pAliqAplic: d(rate) }, { vISSQN });
  }
  // 50 % of 0.05 = 0.0250 → 0.03, leaves 0.02; 50 % of 0.02 = 0.01, leaves 0.01; × 5 % = 0.0005 → 0.00
  expectAmounts(
    {
      vServ: d('0.05'),
      deduction: { kind: 'pDR', p: d('50.00') },
      benefit: { kind: 'pRedBCBM', p: d('50.00') },
    },
    { vCalcDR: '0.03', vCalcBM: '0.01', vBC: '0.01', vISSQN: '0.00', vLiq: '0.05' },
  );
});

test('the ISSQN is withheld by the taker or the intermediary, or not', () => {
  expectAmounts({ tpRetISSQN: '1' }, { vISSQN: '50.00', vISSQNRet: '0.00', vTotalRet: '0.00', vLiq: '1000.00' });
  for (const tpRetISSQN of ['2', '3'] as const) {
    // 1000.00 − 50.00 = 950.00
    expectAmounts({ tpRetISSQN }, { vISSQN: '50.00', vISSQNRet: '50.00', vTotalRet: '50.00', vLiq: '950.00' });
  }
});

test('each federal withholding is part of the total', () => {
  // 1000.00 − 110.00 = 890.00, and so on; the tax itself does not change
  expectAmounts({ vRetCP: d('110.00') }, { vTotalRet: '110.00', vLiq: '890.00', vISSQN: '50.00' });
  expectAmounts({ vRetIRRF: d('15.00') }, { vTotalRet: '15.00', vLiq: '985.00', vISSQN: '50.00' });
  expectAmounts({ vRetCSLL: d('46.50') }, { vTotalRet: '46.50', vLiq: '953.50', vISSQN: '50.00' });
});

test('only the net value stands on the note, and federal withholdings still reduce it', () => {
  const cases: Record<string, Partial<IssqnInput>> = {
    MEI: { opSimpNac: '2' },
    immunity: { tribISSQN: '2' },
    export: { tribISSQN: '3' },
    'non-incidence': { tribISSQN: '4' },
    'cooperative act': { regEspTrib: '1' },
    estimate: { regEspTrib: '2' },
    'municipal micro-company': { regEspTrib: '3' },
    notary: { regEspTrib: '4' },
    'self-employed': { regEspTrib: '5' },
    partnership: { regEspTrib: '6' },
    'other regime': { regEspTrib: '9' },
    suspension: { exigSusp: true },
  };
  for (const [name, change] of Object.entries(cases)) {
    const amounts = assessIssqn({
      ...PLAIN,
      vDescIncond: d('50.00'),
      vDescCond: d('20.00'),
      deduction: { kind: 'pDR', p: d('10.00') },
      benefit: { kind: 'pRedBCBM', p: d('10.00') },
      vlrReeRepRes: [d('5.00')],
      tpRetISSQN: '2',
      vRetIRRF: d('15.00'),
      vRetCSLL: d('46.50'),
      ...change,
    });
    assert.deepEqual(
      printed(amounts),
      {
        base: '764.50', // 950.00 − 95.00 − 10 % of 855.00 − 5.00
        vLiq: '868.50', // 1000.00 − 50.00 − 20.00 − 15.00 − 46.50; no ISSQN to withhold
        vISSQNRet: '0.00',
        vCalcReeRepRes: '5.00',
        deduction: '95.00', // 10 % of 950.00
        benefit: '85.50', // 10 % of 855.00
        issqnShown: false,
      },
      name,
    );
  }
});

test('ME/EPP outside the Simples for the ISSQN shows base and tax like anybody else', () => {
  // 230.00 × 5 % = 11.50
  const outside = { opSimpNac: '3', vServ: d('230.00'), pAliqAplic: d('5.00') } as const;
  for (const regApTribSN of ['2', '3']) {
    expectAmounts({ ...outside, regApTribSN }, { vBC: '230.00', vISSQN: '11.50', vLiq: '230.00', issqnShown: true });
  }
});

test('inside the Simples the ISSQN is in the DAS: base and tax stand there for a withholding alone', () => {
  const inside = { opSimpNac: '3', regApTribSN: '1', pAliqAplic: d('2.01') } as const;
  expectAmounts(
    { ...inside, tpRetISSQN: '1', vRetCP: d('110.00'), deduction: { kind: 'pDR', p: d('10.00') } },
    {
      vCalcDR: undefined,
      vBC: undefined,
      pAliqAplic: undefined,
      vISSQN: undefined,
      vTotalRet: undefined,
      vLiq: '890.00', // 1000.00 − 110.00
      issqnShown: false,
    },
  );
  // 1000.00 × 2.01 % = 20.10
  for (const tpRetISSQN of ['2', '3'] as const) {
    expectAmounts({ ...inside, tpRetISSQN }, { vBC: '1000.00', vISSQN: '20.10', vTotalRet: '20.10', vLiq: '979.90' });
  }
});

test('without a rate the base stands alone and nothing is withheld', () => {
  expectAmounts(
    { pAliqAplic: undefined, tpRetISSQN: '2', vRetIRRF: d('15.00') },
    {
      vBC: '1000.00',
      pAliqAplic: undefined,
      vISSQN: undefined,
      vISSQNRet: '0.00',
      vTotalRet: '15.00',
      vLiq: '985.00', // 1000.00 − 15.00
      issqnShown: true,
    },
  );
});

test('a rate of zero is a rate', () => {
  expectAmounts({ pAliqAplic: ZERO }, { vBC: '1000.00', pAliqAplic: '0.00', vISSQN: '0.00' });
});

test('a negative base is given as it is', () => {
  // 1000.00 − 600.00 − 500.00 = −100.00; × 5 % = −5.00
  expectAmounts(
    { deduction: { kind: 'vDR', v: d('600.00') }, benefit: { kind: 'vRedBCBM', v: d('500.00') } },
    { base: '-100.00', vBC: '-100.00', vISSQN: '-5.00', vLiq: '1000.00' },
  );
  // 1000.00 − 1000.00 = 0.00 is still a base
  expectAmounts({ deduction: { kind: 'vDR', v: d('1000.00') } }, { base: '0.00', vBC: '0.00', vISSQN: '0.00' });
  // 1000.00 − 1000.01 = −0.01, third parties alone
  expectAmounts({ vlrReeRepRes: [d('1000.01')] }, { base: '-0.01', vBC: '-0.01' });
  // suspended: the base does not stand on the note and is returned all the same
  expectAmounts(
    { exigSusp: true, deduction: { kind: 'vDR', v: d('1000.01') } },
    { base: '-0.01', vBC: undefined, vLiq: '1000.00' },
  );
});

test('a negative net value is given as it is', () => {
  // 1000.00 − 900.00 − 100.01 = −0.01
  expectAmounts({ vDescCond: d('900.00'), vRetCP: d('100.01') }, { vLiq: '-0.01', base: '1000.00', vBC: '1000.00' });
  // 1000.00 − 900.00 − 100.00 = 0.00
  expectAmounts({ vDescCond: d('900.00'), vRetCP: d('100.00') }, { vLiq: '0.00', base: '1000.00' });
  // 1000.00 − 1100.00 = −100.00 for the base and the net value alike
  expectAmounts({ vDescIncond: d('1100.00') }, { base: '-100.00', vBC: '-100.00', vLiq: '-100.00' });
});

test('the largest amount of the layout', () => {
  // 999999999999999.99 × 5 % = 49999999999999.9995; 999999999999999.99 − 50000000000000.00 = 949999999999999.99
  expectAmounts(
    { vServ: d('999999999999999.99'), tpRetISSQN: '2' },
    { vISSQN: '50000000000000.00', vLiq: '949999999999999.99' },
  );
});

test('the registered rate goes before the declared one, and the sandbox has its own', () => {
  const registered = d('3.00');
  const declared = d('2.00');
  for (const fallback of [undefined, AMBIENTES.homologacao.fallbackAliquota]) {
    assert.equal(chooseAliquota({ registered, declared, fallback }), registered);
    assert.equal(chooseAliquota({ registered, fallback }), registered);
    assert.equal(chooseAliquota({ declared, fallback }), declared);
    assert.equal(chooseAliquota({ registered: ZERO, declared, fallback }), ZERO);
    assert.equal(chooseAliquota({ registered: undefined, declared: ZERO, fallback }), ZERO);
  }
  assert.equal(chooseAliquota({ fallback: AMBIENTES.homologacao.fallbackAliquota }), d('5.00'));
  assert.equal(chooseAliquota({ fallback: AMBIENTES.producao.fallbackAliquota }), undefined);
  // The table decides: a changed rate in it changes the rate of the note.
  assert.equal(chooseAliquota({ fallback: d('3.21') }), d('3.21'));
});

const cents = (max: bigint) => fc.bigInt({ min: 0n, max }).map((value) => value as Decimal);
const amount = cents(99_999_999n);
const percent = cents(10_000n);

const anyInput: fc.Arbitrary<IssqnInput> = fc.record(
  {
    vServ: amount,
    vDescIncond: amount,
    vDescCond: amount,
    deduction: fc.oneof(
      fc.record({ kind: fc.constant('pDR' as const), p: percent }),
      fc.record({ kind: fc.constant('vDR' as const), v: amount }),
      fc.record({ kind: fc.constant('documentos' as const), values: fc.array(amount, { maxLength: 5 }) }),
    ),
    benefit: fc.oneof(
      fc.record({ kind: fc.constant('pRedBCBM' as const), p: percent }),
      fc.record({ kind: fc.constant('vRedBCBM' as const), v: amount }),
    ),
    vlrReeRepRes: fc.array(amount, { maxLength: 3 }),
    tribISSQN: fc.constantFrom('1' as const, '1' as const, '1' as const, '2' as const, '3' as const, '4' as const),
    exigSusp: fc.constantFrom(false, false, false, true),
    opSimpNac: fc.constantFrom('1' as const, '2' as const, '3' as const),
    regApTribSN: fc.constantFrom(undefined, '1', '1', '2', '3'),
    regEspTrib: fc.constantFrom('0', '0', '0', '0', '5', '9'),
    tpRetISSQN: fc.constantFrom('1' as const, '2' as const, '3' as const),
    pAliqAplic: fc.option(cents(500n), { nil: undefined }),
    vRetCP: amount,
    vRetIRRF: amount,
    vRetCSLL: amount,
  },
  { requiredKeys: ['vServ', 'tribISSQN', 'exigSusp', 'opSimpNac', 'regEspTrib', 'tpRetISSQN', 'pAliqAplic'] },
);

test('whatever goes in, the sums agree', () => {
  fc.assert(
    fc.property(anyInput, (input) => {
      const { vBC, vISSQN, vISSQNRet, vTotalRet, vLiq, deduction, benefit, ...rest } = assessIssqn(input);
      const federal = [input.vRetCP ?? ZERO, input.vRetIRRF ?? ZERO, input.vRetCSLL ?? ZERO];

      // The price is the sum of the taker's payment, the discounts and the withholdings.
      assert.equal(sum([vLiq, vISSQNRet, ...federal, input.vDescIncond ?? ZERO, input.vDescCond ?? ZERO]), input.vServ);
      if (vTotalRet !== undefined) assert.equal(vTotalRet, sum([...federal, vISSQNRet]));
      // The base and the amounts subtracted from it add up to the price.
      if (vBC !== undefined) {
        assert.equal(
          sum([vBC, deduction, benefit, rest.vCalcReeRepRes ?? ZERO, input.vDescIncond ?? ZERO]),
          input.vServ,
        );
      }
      // The tax is within half a cent of base times rate: twice the difference, in ten-thousandths of a cent.
      if (vISSQN !== undefined) {
        const twice = 2n * (vISSQN * 10_000n - vBC! * input.pAliqAplic!);
        assert.ok(twice >= -10_000n && twice <= 10_000n);
      }
      assert.equal(vISSQNRet, input.tpRetISSQN === '1' ? ZERO : (vISSQN ?? ZERO));
    }),
  );
});

test('whatever goes in, what stands on the note is one thing or the other', () => {
  fc.assert(
    fc.property(anyInput, (input) => {
      const amounts = assessIssqn(input);
      const inDas = input.opSimpNac === '3' && input.regApTribSN === '1' && input.tpRetISSQN === '1';
      const only =
        input.opSimpNac === '2' || input.tribISSQN !== '1' || input.regEspTrib !== '0' || input.exigSusp || inDas;
      assert.equal(amounts.issqnShown, !only);
      assert.equal(amounts.vBC === undefined, only);
      assert.equal(amounts.vTotalRet === undefined, only);
      assert.equal(amounts.vISSQN === undefined, only || input.pAliqAplic === undefined);
      assert.equal(amounts.pAliqAplic === undefined, amounts.vISSQN === undefined);
      if (only) {
        assert.equal(amounts.vCalcDR, undefined);
        assert.equal(amounts.vCalcBM, undefined);
      }
      if (amounts.vBC !== undefined) assert.equal(amounts.base, amounts.vBC);
      const { base, deduction, benefit, vCalcReeRepRes = ZERO } = amounts;
      assert.equal(base + deduction + benefit + vCalcReeRepRes, input.vServ - (input.vDescIncond ?? ZERO));
    }),
  );
});
