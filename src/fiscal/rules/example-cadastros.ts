/**
 * The registers of the example municipality for `given: 'cadastros'`: the content of `examples/beneficios.csv` and its siblings. The tests
 * import the files and send the same examples.
 */
import type { Beneficio, Cadastros } from '../cadastros.ts';
import { decimal } from '../decimal.ts';

const DESDE_JANEIRO = { inicio: '2026-01-01', fim: undefined };

function beneficio(numero: string, says: Pick<Beneficio, 'tipo'> & Partial<Beneficio>): Beneficio {
  return {
    numero,
    reducao: undefined,
    aliquota: undefined,
    servicos: new Set(),
    documentos: new Set(),
    ...DESDE_JANEIRO,
    ...says,
  };
}

export const EXAMPLE_CADASTROS: Cadastros = {
  beneficios: [
    beneficio('35503080400001', { tipo: 'reducao_percentual', reducao: decimal('50.00') }),
    beneficio('35503080400002', { tipo: 'isencao', servicos: new Set(['170601']) }),
    beneficio('35503080400003', { tipo: 'reducao_valor', servicos: new Set(['010101', '010201']) }),
    beneficio('35503080400004', {
      tipo: 'aliquota_diferenciada',
      aliquota: decimal('2.00'),
      servicos: new Set(['010101']),
      documentos: new Set(['11222333000181']),
    }),
    beneficio('35503080400005', {
      tipo: 'reducao_percentual',
      reducao: decimal('40.00'),
      inicio: '2024-01-01',
      fim: '2025-12-31',
    }),
    beneficio('35503080400006', {
      tipo: 'reducao_percentual',
      reducao: decimal('60.00'),
      documentos: new Set(['11444777000161']),
    }),
  ],
  deducoes: [
    { cTribNac: '010101', formas: new Set(['documentos', 'valor']), ...DESDE_JANEIRO },
    { cTribNac: '060101', formas: new Set(['valor']), ...DESDE_JANEIRO },
    { cTribNac: '170601', formas: new Set(['percentual']), ...DESDE_JANEIRO },
  ],
  regimes: {
    admitidos: new Set(['1', '4', '5', '6']),
    linhas: [
      { regime: '1', documento: '11444777000161', servicos: new Set(), ...DESDE_JANEIRO },
      { regime: '4', documento: '', servicos: new Set(), ...DESDE_JANEIRO },
      { regime: '5', documento: '52998224725', servicos: new Set(), ...DESDE_JANEIRO },
      { regime: '6', documento: '11222333000181', servicos: new Set(['010101', '010201']), ...DESDE_JANEIRO },
    ],
  },
  naoIncidencias: [
    { cTribNac: '010101', documento: '11444777000161', ...DESDE_JANEIRO },
    { cTribNac: '010701', documento: '', ...DESDE_JANEIRO },
  ],
};
