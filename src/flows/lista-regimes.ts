/** The lists of special regimes and of what is not taxed, by provider: what each column may be. */
import { enumeracaoOf } from '../fiscal/catalogs/catalogs.ts';
import type { Line } from './import-csv.ts';
import { bareDocumento, whyNoDocumento } from './import-prestadores.ts';
import { servicosOf } from './lista-beneficios.ts';
import type { ListaCsv } from './lista-csv.ts';
import { bareCodigo, nationalOf } from './lista-servicos.ts';

export const REGIMES: ListaCsv = {
  titulo: 'Regimes especiais',
  colunas: ['regime', 'documento', 'servicos'],
  read: (line) => ({ regime: regimeOf(line), documento: documentoOf(line), servicos: servicosOf(line) }),
  chave: (line) =>
    line.text('regime') === '' ? '' : `${line.text('regime')} ${bareDocumento(line.text('documento'))}`,
  reparos: [],
};

export const NAO_INCIDENCIAS: ListaCsv = {
  titulo: 'Não incidências',
  colunas: ['codigo_tributacao_nacional', 'documento'],
  read: (line) => ({ codigo_tributacao_nacional: nationalOf(line), documento: documentoOf(line) }),
  chave: (line) => {
    const codigo = bareCodigo(line.text('codigo_tributacao_nacional'));
    return codigo === '' ? '' : `${codigo} ${bareDocumento(line.text('documento'))}`;
  },
  reparos: [],
};

/** A code of `regEspTrib`; 0 is no special regime. */
function regimeOf(line: Line): string {
  const regime = line.text('regime');
  const known = enumeracaoOf('regEspTrib').filter(({ codigo }) => codigo !== '0');
  if (!known.some(({ codigo }) => codigo === regime)) {
    const codigos = known.map(({ codigo, descricao }) => `${codigo} ${descricao}`).join(', ');
    line.refuse(`regime ${regime === '' ? 'está vazio' : `${regime} não existe`}; use o código: ${codigos}`);
  }
  return regime;
}

/** Empty means every provider. */
function documentoOf(line: Line): string {
  const documento = bareDocumento(line.text('documento'));
  const problem = documento === '' ? undefined : whyNoDocumento(documento);
  if (problem !== undefined) line.refuse(`documento ${problem}`);
  return documento;
}
