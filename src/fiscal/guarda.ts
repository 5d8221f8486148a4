/**
 * How long a note is kept at least, by the national code of taxes (CTN, Lei 5.172/1966): it may be assessed for five years from the first
 * day of the year after the one in which it could first have been (art. 173, I), and what was assessed may be collected for five years
 * from then (art. 174); books and proofs are kept until that is over (art. 195, sole paragraph). What stops or restarts these is for a
 * person to know, who holds the month.
 */
const LANCAMENTO_ANOS = 5;
const COBRANCA_ANOS = 5;

/** The first day, `YYYY-MM-DD`, on which what is of a year may be eliminated. */
export function eliminavelDesde(ano: number): string {
  return `${ano + 1 + LANCAMENTO_ANOS + COBRANCA_ANOS}-01-01`;
}
