/**
 * The state of a CEP, by its first three digits. Source: the ranges by state that the Correios publish, as of 22/11/2026. The ranges do not
 * identify the municipality, nor whether a CEP is in use.
 */

/** State, and its ranges of the first five digits, which begin and end at full hundreds. */
const FAIXAS: readonly (readonly [uf: string, ...faixas: readonly string[]])[] = [
  ['SP', '01000-19999'],
  ['RJ', '20000-28999'],
  ['ES', '29000-29999'],
  ['MG', '30000-39999'],
  ['BA', '40000-48999'],
  ['SE', '49000-49999'],
  ['PE', '50000-56999'],
  ['AL', '57000-57999'],
  ['PB', '58000-58999'],
  ['RN', '59000-59999'],
  ['CE', '60000-63999'],
  ['PI', '64000-64999'],
  ['MA', '65000-65999'],
  ['PA', '66000-68899'],
  ['AP', '68900-68999'],
  ['AM', '69000-69299', '69400-69899'],
  ['RR', '69300-69399'],
  ['AC', '69900-69999'],
  ['DF', '70000-72799', '73000-73699'],
  ['GO', '72800-72999', '73700-76799'],
  ['RO', '76800-76999'],
  ['TO', '77000-77999'],
  ['MT', '78000-78899'],
  ['MS', '79000-79999'],
  ['PR', '80000-87999'],
  ['SC', '88000-89999'],
  ['RS', '90000-99999'],
];

/** State by the number of the first three digits; absent if no state has them. */
const UF_BY_HUNDRED: readonly (string | undefined)[] = Array.from({ length: 1000 }, (_, hundred) => {
  const within = (faixa: string): boolean =>
    Number(faixa.slice(0, 3)) <= hundred && hundred <= Number(faixa.slice(6, 9));
  return FAIXAS.find(([, ...faixas]) => faixas.some(within))?.[0];
});

/** Letters of the state of a CEP of eight digits; undefined outside every range. */
export function ufOfCep(cep: string): string | undefined {
  return UF_BY_HUNDRED[Number(cep.slice(0, 3))];
}
