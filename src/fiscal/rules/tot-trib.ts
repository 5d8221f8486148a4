/**
 * Rules of the approximate total of taxes, `valores/trib/totTrib`. Its exactly one form, and the maximum of 100 for a percentage (E0002;
 * nationally E0706, E0707 and E0708), are structure, in the layout.
 */
import { formatDecimal } from '../decimal.ts';
import { annexHead, ofPart, type Patch, type Rule, whenPresent } from './rule.ts';

const EM_VALORES: Patch = {
  'valores/trib/totTrib/indTotTrib': null,
  'valores/trib/totTrib/vTotTrib/vTotTribFed': '134.50',
  'valores/trib/totTrib/vTotTrib/vTotTribEst': '0.00',
  'valores/trib/totTrib/vTotTrib/vTotTribMun': '20.00',
};

const ESFERAS = [
  { code: 'E0702', name: 'vTotTribFed', what: 'federais' },
  { code: 'E0703', name: 'vTotTribEst', what: 'estaduais' },
  { code: 'E0704', name: 'vTotTribMun', what: 'municipais' },
] as const;

export const TOT_TRIB: readonly Rule[] = ofPart(
  ({ valores }) => valores.trib.totTrib.vTotTrib !== undefined,
  ESFERAS.map(({ code, name, what }) => {
    const at = `valores/trib/totTrib/vTotTrib/${name}` as const;
    return whenPresent(({ valores }) => valores.trib.totTrib.vTotTrib?.[name], {
      ...annexHead(code),
      at,
      title: `Total aproximado dos tributos ${what} maior que o valor do serviço`,
      message: (total, { valores }) =>
        `${name} é ${formatDecimal(total)}, mais que o valor do serviço, ${formatDecimal(valores.vServPrest.vServ)}. Corrija o total.`,
      mend: `Corrija ${name}, no máximo igual a vServ.`,
      why: 'Os tributos são uma parte do preço (Lei 12.741/2012), e não o ultrapassam.',
      must: (total, { valores }) => total <= valores.vServPrest.vServ,
      found: formatDecimal,
      expected: 'valor até vServ',
      rejects: [{ ...EM_VALORES, [at]: '1000.01' }],
      accepts: [{ ...EM_VALORES, [at]: '1000.00' }],
    });
  }),
);
