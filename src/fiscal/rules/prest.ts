/** Rules of the provider, `prest`. Whether the registry knows it is a fact, answered before (E101, E102, E103). */
import type { Rule } from './rule.ts';

export const PREST: readonly Rule[] = [
  {
    code: 'E002',
    at: 'prest',
    message: 'O prestador se identifica por CNPJ ou CPF; NIF e cNaoNIF não servem ao prestador que emite.',
    origin: 'Especificação, DPS: prest',
    why: 'A numeração das notas e a chave de acesso são do CNPJ ou CPF do prestador.',
    must: ({ prest }) => prest.CNPJ !== undefined || prest.CPF !== undefined,
    expected: 'CNPJ ou CPF',
    rejects: [{ 'prest/CNPJ': null, 'prest/NIF': 'PT123456789' }],
    accepts: [{ 'prest/CNPJ': null, 'prest/CPF': '52998224725' }],
  },
  {
    code: 'E0003',
    at: 'prest/xNome',
    message: 'xNome do prestador está vazio. Informe o nome ou retire o elemento.',
    origin: 'Decisão D-34',
    why: 'Elemento vazio não existe no esquema nacional; no ambiente de integração o caso é do E101.',
    when: (_dps, { ambiente }) => ambiente === 'producao',
    must: ({ prest }) => prest.xNome !== '',
    rejects: [],
    accepts: [{ 'prest/xNome': null }, { 'prest/xNome': 'Empresa Exemplo Ltda' }],
  },
];
