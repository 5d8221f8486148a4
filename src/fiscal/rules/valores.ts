/** Rules of the values, `valores`: those of the amounts as sent, and those of what is computed from them. */
import { ZERO } from '../decimal.ts';
import type { AmountRule, Rule } from './rule.ts';

export const VALORES: readonly Rule[] = [
  {
    code: 'E401',
    at: 'valores/vServPrest/vServ',
    message: 'O valor do serviço deve ser maior que zero.',
    origin: 'Especificação, Errors: E401',
    why: 'Uma nota sem valor não documenta prestação alguma.',
    must: ({ valores }) => valores.vServPrest.vServ > ZERO,
    found: () => '0.00',
    expected: 'valor maior que 0.00',
    rejects: [{ 'valores/vServPrest/vServ': '0.00' }, { 'valores/vServPrest/vServ': '-10.00' }],
    accepts: [{ 'valores/vServPrest/vServ': '0.01' }],
  },
];

export const VALORES_CALCULADOS: readonly AmountRule[] = [
  {
    code: 'E0427',
    at: 'valores/vServPrest/vServ',
    message:
      'O valor do serviço não cobre o desconto incondicionado, a dedução ou redução e o benefício: a base de cálculo ficaria negativa.',
    origin: 'Anexo I, E0427',
    why: 'A base de cálculo não pode ser negativa, e o esquema nacional não tem como escrevê-la.',
    must: ({ negative }) => negative !== 'vBC',
    rejects: [{ 'valores/vDedRed/vDR': '1000.01' }],
    accepts: [{ 'valores/vDedRed/vDR': '1000.00' }],
  },
  {
    code: 'E0428',
    at: 'valores/vServPrest/vServ',
    message: 'O valor do serviço não cobre os descontos e as retenções: o valor líquido ficaria negativo.',
    origin: 'Anexo I, E0428',
    why: 'O valor líquido não pode ser negativo, e o esquema nacional não tem como escrevê-lo.',
    must: ({ negative }) => negative !== 'vLiq',
    rejects: [{ 'valores/vDescCondIncond/vDescCond': '990.00', 'valores/trib/tribFed/vRetIRRF': '15.00' }],
    accepts: [{ 'valores/vDescCondIncond/vDescCond': '985.00', 'valores/trib/tribFed/vRetIRRF': '15.00' }],
  },
];
