/**
 * Compares the IBS and the CBS to the cent with an oracle in another language, Python's decimal. Some amounts are exactly between two
 * cents, where rounding methods differ; others are random. The cases are of 2026 and from 2027 on, with reductions, and with government
 * purchases.
 *
 * NFSE_TEST_LONGO=1 draws five times as many new ones; NFSE_TEST_SEMENTE=N those of a seed again.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { test } from 'node:test';
import { type Aliquota, type TabelaIbsCbs, tabelaIbsCbs } from '../src/fiscal/aliquotas-ibs-cbs.ts';
import { classificacaoOf, type LinhaIbsCbs } from '../src/fiscal/catalogs/catalogs.ts';
import { type Decimal, decimal, formatDecimal, ZERO } from '../src/fiscal/decimal.ts';
import { assessIbsCbs } from '../src/fiscal/ibscbs.ts';
import { ROOT } from './support/process.ts';
import { LONG, SEED } from './support/seed.ts';
import { chanceOf } from './support/signatures.ts';

const TIES = LONG ? 500_000 : 100_000;
/** Amounts for one table of rates: ties of one of its tributes, if it has any, and others. */
const TIES_OF_TABLE = 1_000;
const OTHERS_OF_TABLE = 100;
const AMOUNT_MAX = 99_999_999_999n;

const HAS_PYTHON = spawnSync('python3', ['--version']).error === undefined;

type Operation = {
  readonly ano: number;
  readonly base: string;
  readonly uf: string;
  readonly mun: string;
  readonly cbs: string;
  readonly redIbs: string;
  readonly redCbs: string;
  readonly redutor: string;
  readonly transferencia: string;
  readonly ente: string | undefined;
};

/** Classifications with the kinds of reductions of the table: none, whole percents, and the one that differs by tribute. */
const CLASSIFICACOES = ['000001', '200052', '200048', '200046', '200028', '200027', '200026', '200025'];
const ANOS = [2026, 2027, 2027, 2027, 2028, 2033];
const ENTES = [undefined, undefined, '1', '2', '3', '4'];

const { below: number, pick } = chanceOf(SEED);

/** Rates with up to four decimals, as published; some have two. */
function rate(most: number): string {
  const tenThousandths = number(2) === 0 ? number(most * 100) * 100 : number(most * 10_000);
  return `${Math.floor(tenThousandths / 10_000)}.${String(tenThousandths % 10_000).padStart(4, '0')}`;
}

function table(rates: Pick<Operation, 'uf' | 'mun' | 'cbs' | 'redutor' | 'transferencia'>): TabelaIbsCbs {
  const blank = { uf: '', municipio: '', cClassTrib: '', inicio: '2026-01-01', fim: undefined, fonte: 'f', ato: 'a' };
  const of = (tributo: LinhaIbsCbs, aliquota: string): Aliquota => ({ ...blank, tributo, aliquota });
  return tabelaIbsCbs(2, [
    of('IBS-UF', rates.uf),
    of('IBS-MUN', rates.mun),
    of('CBS', rates.cbs),
    of('REDUTOR-COMPRA-GOV', rates.redutor),
    of('TRANSFERENCIA-CBS-GOV', rates.transferencia),
  ]);
}

/** The rest of a tribute's rate after a whole reduction, in ten-thousandths of a percent; undefined if it has more decimals. */
function leftOf(rateText: string, reduction: string): bigint | undefined {
  const left = BigInt(rateText.replace('.', '')) * (100n - BigInt(Number(reduction)));
  return left % 100n === 0n ? left / 100n : undefined;
}

/** Amounts in cents of which a rate gives an odd number of half cents; none if there are no such amounts. */
function* tiesOf(left: bigint): Generator<bigint> {
  const whole = 1_000_000n;
  const common = gcd(left, whole);
  if (left === 0n || (whole / 2n) % common !== 0n) return;
  const step = whole / common;
  // base × left ≡ whole / 2 (mod whole)
  const first = ((whole / 2n / common) * inverse(left / common, step)) % step;
  for (;;) yield (first + step * BigInt(number(1_000_000))) % AMOUNT_MAX;
}

function gcd(a: bigint, b: bigint): bigint {
  return b === 0n ? a : gcd(b, a % b);
}

function inverse(value: bigint, modulus: bigint): bigint {
  let [one, other, a, b] = [((value % modulus) + modulus) % modulus, modulus, 1n, 0n];
  while (one > 1n) {
    const times = other / one;
    [one, other] = [other - times * one, one];
    [a, b] = [b - times * a, a];
  }
  return ((a % modulus) + modulus) % modulus;
}

function ours(one: Operation, classificacao: string, tabela: TabelaIbsCbs): string {
  const assessed = assessIbsCbs(
    {
      dCompet: `${one.ano}-06-15`,
      vServ: decimal(one.base),
      vISSQN: ZERO,
      vLiq: decimal(one.base),
      CST: classificacao.slice(0, 3),
      cClassTrib: classificacao,
      tpEnteGov: one.ente,
    },
    tabela,
  );
  assert.ok(!('unavailable' in assessed));
  const { uf, mun, fed } = assessed.valores;
  const { gIBS, gCBS, gTribCompraGov } = assessed.totCIBS;
  const due = [gIBS.gIBSUFTot.vIBSUF, gIBS.gIBSMunTot.vIBSMun, gCBS.vCBS];
  const own = gTribCompraGov ? [gTribCompraGov.vIBSUF, gTribCompraGov.vIBSMun, gTribCompraGov.vCBS] : due;
  return [uf.pAliqEfetUF, mun.pAliqEfetMun, fed.pAliqEfetCBS, ...due, gIBS.vIBSTot, ...own]
    .map(formatDecimal)
    .join(' ');
}

test('every amount is that of the oracle, to the cent', { skip: !HAS_PYTHON && 'python3 is not there' }, (t) => {
  const operations: Operation[] = [];
  const answers: string[] = [];
  let ties = 0;
  while (ties < TIES) {
    const [ano, ente, classificacao] = [pick(ANOS), pick(ENTES), pick(CLASSIFICACOES)];
    const { pRedIBS: redIbs, pRedCBS: redCbs } = classificacaoOf(classificacao)!;
    // Equal rates of the IBS are those of 2027 and 2028.
    const uf = pick(['0.0500', '0.1000', rate(2), rate(20)]);
    const mun = pick([uf, '0.0500', rate(2)]);
    const cbs = pick(['8.4000', '8.8000', rate(12), rate(12)]);
    // 33.33 % gives more decimals than are kept.
    const redutor = ente === undefined ? '0' : pick(['0', '50', '33.33', `${number(99)}.${10 + number(90)}`]);
    const transferencia = pick(['0', '10', '40', '100', '12.5']);
    const rates = { uf, mun, cbs, redutor, transferencia };
    const tabela = table(rates);
    const kinds = (
      [
        [uf, redIbs],
        [mun, redIbs],
        [cbs, redCbs],
      ] as const
    ).flatMap(([text, reduction]) => {
      const left = redutor === '0' ? leftOf(text, reduction) : undefined;
      const found = left === undefined ? undefined : tiesOf(left);
      return found === undefined || found.next().done === true ? [] : [found];
    });
    const tied = kinds.length > 0 ? TIES_OF_TABLE : 0;
    for (let at = 0; at < tied + OTHERS_OF_TABLE; at += 1) {
      const tie = at < tied ? (pick(kinds).next().value as bigint) : undefined;
      if (tie !== undefined) ties += 1;
      const cents = (tie ?? BigInt(number(1_000_000_000))) as Decimal;
      const one = { ano, base: formatDecimal(cents), redIbs, redCbs, ente, ...rates };
      operations.push(one);
      answers.push(ours(one, classificacao, tabela));
    }
  }
  const { stdout, stderr, status } = spawnSync('python3', [path.join(ROOT, 'test/ibscbs-diferencial/oraculo.py')], {
    input: `${operations.map((one) => JSON.stringify(one)).join('\n')}\n`,
    encoding: 'utf8',
    maxBuffer: 256 * 1024 * 1024,
  });
  assert.equal(status, 0, stderr);
  const wanted = stdout.trimEnd().split('\n');
  assert.equal(wanted.length, operations.length);
  for (const [at, answer] of answers.entries()) {
    assert.equal(answer, wanted[at], `seed ${SEED}: ${JSON.stringify(operations[at])}`);
  }
  t.diagnostic(`${operations.length} amounts, ${ties} of them at a tie, seed ${SEED}`);
});
