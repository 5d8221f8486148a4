/** The list of deductions that a municipality admits: what each column may be. */
import { FORMAS_DEDUCAO } from '../fiscal/cadastros.ts';
import { severalOf } from './lista-beneficios.ts';
import type { ListaCsv } from './lista-csv.ts';
import { bareCodigo, nationalOf } from './lista-servicos.ts';

const FORMAS = Object.keys(FORMAS_DEDUCAO);

export const DEDUCOES: ListaCsv = {
  titulo: 'Deduções',
  colunas: ['codigo_tributacao_nacional', 'formas'],
  read: (line) => {
    const formas = severalOf(
      line,
      'formas',
      (text) => text.toLowerCase(),
      (forma) => (Object.hasOwn(FORMAS_DEDUCAO, forma) ? undefined : `não existe; use ${FORMAS.join(', ')}`),
      (forma) => forma,
    );
    if (line.text('formas') === '') line.refuse(`formas está vazio; use ${FORMAS.join(', ')}`);
    return { codigo_tributacao_nacional: nationalOf(line), formas };
  },
  chave: (line) => bareCodigo(line.text('codigo_tributacao_nacional')),
  reparos: [],
};
