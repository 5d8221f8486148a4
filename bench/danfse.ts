/**
 * The number of printed notes per processor second, from the bytes of the NFS-e to those of the PDF: an ordinary note,
 * and the longest texts.
 */
import { renderDanfse } from '../src/documents/danfse.ts';
import type { Patch } from '../src/fiscal/rules/rule.ts';
import { nfseOf } from '../test/support/notas.ts';

const WARMUP = 100;
const BLOCKS = 31;
const PER_BLOCK = 20;

const LONGEST: Patch = {
  'serv/cServ/xDescServ': 'DESENVOLVIMENTO DE MÓDULOS DE GESTÃO. '.repeat(60).slice(0, 1999).trimEnd(),
  'serv/infoCompl/xInfComp': 'CONTRATO Nº 1234/2026, PARCELA 3 DE 12. '.repeat(60).slice(0, 1999).trimEnd(),
};

export type DanfseFigures = {
  /** Pages per second, median of the blocks. */
  readonly ordinary: number;
  readonly longest: number;
  readonly bytes: number;
};

export function danfseFigures(): DanfseFigures {
  const ordinary = nfseOf();
  return { ordinary: rateOf(ordinary), longest: rateOf(nfseOf(LONGEST)), bytes: renderDanfse(ordinary).length };
}

function rateOf(nfse: Buffer): number {
  for (let count = 0; count < WARMUP; count += 1) renderDanfse(nfse);
  const rates: number[] = [];
  for (let block = 0; block < BLOCKS; block += 1) {
    const before = process.threadCpuUsage();
    for (let count = 0; count < PER_BLOCK; count += 1) renderDanfse(nfse);
    const { user, system } = process.threadCpuUsage(before);
    rates.push((PER_BLOCK * 1e6) / (user + system));
  }
  return rates.toSorted((a, b) => a - b)[Math.floor(BLOCKS / 2)]!;
}
