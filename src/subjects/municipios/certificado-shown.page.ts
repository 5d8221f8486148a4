/** A certificate, and the test by one, as the pages of the municipality show them. */

import { facts, notice, table } from '../../base/pages/fields.ts';
import type { CertificadoShown } from '../../base/world/municipio-files.ts';
import { type Html, html } from '../../published/site/page-shell.ts';
import type { PassoDoTeste, TesteDoAdn } from './testar-adn.ts';

/** The time left to a certificate, in words. */
export function timeLeft({ dias }: CertificadoShown): string {
  if (dias < 0) return 'venceu';
  if (dias === 0) return 'vence hoje ou amanhã';
  return dias === 1 ? 'falta 1 dia' : `faltam ${dias} dias`;
}

export function certificadoFacts(certificado: CertificadoShown): Html {
  const { titular, documento, emissor, serie, inicio, fim, cadeia } = certificado;
  return facts([
    ['De quem é', titular],
    ['Documento', documento],
    ['Emitido por', emissor],
    ['Número de série', html`<code>${serie}</code>`],
    ['Vale de', `${inicio} a ${fim} (${timeLeft(certificado)})`],
    ['Cadeia, até em quem se confia', cadeia.join(' ← ')],
  ]);
}

const SITUACOES: Readonly<Record<PassoDoTeste['situacao'], string>> = {
  bom: 'certo',
  aviso: 'certo, com aviso',
  erro: 'não deu certo',
  nao_feito: 'não foi tentado',
};

/** The result of a test of the ADN, step by step. */
export function testeShown({ passou, passos }: TesteDoAdn): Html {
  const said = passou ? 'O município alcança o ADN.' : 'O município não alcança o ADN.';
  const rows = passos.map(({ passo, situacao, diz }) => [
    passo,
    SITUACOES[situacao],
    html`${diz.map((one) => html`${one}<br>`)}`,
  ]);
  return html`${notice(passou ? 'bom' : 'erro', said)}${table('O teste, passo a passo', ['Passo', 'Resultado', 'O que se viu'], rows)}`;
}
