/**
 * The minimum retention of a note, by the national code of taxes (CTN, Lei 5.172/1966). The tax may be assessed for five years from the
 * first day of the next year (art. 173, I). An assessed tax may be collected for another five years (art. 174). Books and proofs are kept
 * until then (art. 195, sole paragraph). Events that stop or restart these periods need a person's decision: that person puts a hold on the
 * month.
 */
const LANCAMENTO_ANOS = 5;
const COBRANCA_ANOS = 5;

/** The first day, `YYYY-MM-DD`, on which the documents of a year may be deleted. */
export function eliminavelDesde(ano: number): string {
  return `${ano + 1 + LANCAMENTO_ANOS + COBRANCA_ANOS}-01-01`;
}
