/** The search of notes. */

import { field, folded, link, nextPage, notice, table, tokenField } from '../../base/pages/fields.ts';
import { forRole, type InMunicipio, type PageShown, pathIn, type Row } from '../../base/pages/visit.ts';
import { tellMoment } from '../../base/world/gather-facts.ts';
import { mayAs } from '../../base/world/papeis.ts';
import { showDocumento } from '../../fiscal/chave.ts';
import { groupDecimal, groupDigits } from '../../fiscal/group-digits.ts';
import { brazilianDate } from '../../fiscal/moment.ts';
import { type Html, html, type Inserted } from '../../published/site/page-shell.ts';
import { formTokenOf } from '../contas/entrada.ts';
import {
  type BuscaEscrita,
  countBusca,
  type NotasContadas,
  type PaginaDeNotas,
  type ProblemasDaBusca,
  searchNotas,
} from './buscar.ts';
import { NOMES_DE_FORMATO, readBusca } from './exportacoes.page.ts';
import { FORMATOS } from './exportar.ts';
import { FILTROS, NOMES_DE_FILTROS } from './filtros.ts';
import { markEstado } from './palavras.page.ts';

const HERE = 'notas';
const PATH = '/notas';

function searchForm(busca: BuscaEscrita, problems: ProblemasDaBusca): Html {
  const isOpen = NOMES_DE_FILTROS.some((name) => busca[name] !== '' || problems[name] !== undefined);
  const free = field({
    name: 'q',
    label: 'Procurar',
    type: 'search',
    value: busca.q,
    problem: problems.q,
    help: 'Chave de acesso ou endereço do QR Code, CNPJ, CPF, número, valor, dia, mês, ou parte do nome do prestador ou do tomador.',
  });
  const more = NOMES_DE_FILTROS.map((name) =>
    field({ name, ...FILTROS[name].console, value: busca[name], problem: problems[name] }),
  );
  return html`<form method="get" role="search" class="busca">
${free}${folded('Mais filtros', html`<div class="filtros">${more}</div>`, isOpen)}<p class="botoes"><button>Procurar</button></p>
</form>
`;
}

async function searchPage(call: InMunicipio): Promise<PageShown> {
  const { world, slug, query } = call;
  const busca = readBusca((name) => query.get(name));
  const found = await searchNotas(world, slug, busca, query.get('depois') ?? undefined);
  if ('problems' in found) {
    return { title: 'Notas', here: HERE, status: 422, main: searchForm(busca, found.problems) };
  }
  const counted = found.notas.length === 0 ? undefined : await countBusca(world, slug, busca);
  return {
    title: 'Notas',
    here: HERE,
    main: html`${searchForm(busca, {})}${understood(slug, busca, found)}${found.avisos.map((aviso) => notice('aviso', aviso))}${summed(counted)}${listed(call, busca, found)}${moreOf(slug, busca, found)}${exportForm(call, busca, found)}`,
  };
}

/** The reading of the free text, and links to others. */
function understood(slug: string, busca: BuscaEscrita, { leitura, outras = [] }: PaginaDeNotas): Inserted {
  if (leitura === undefined) return undefined;
  const others = outras.map(
    ({ rotulo, filtros }) => html` ${link(pathIn(slug, PATH, { ...busca, q: '', ...filtros }), `Procurar ${rotulo}`)}`,
  );
  return html`<p>Notas ${leitura.rotulo}.${others}</p>\n`;
}

function summed(counted: NotasContadas | undefined): Inserted {
  if (counted === undefined) return undefined;
  const { notas, valor, isWhole } = counted;
  if (!isWhole)
    return html`<p class="quieto">Mais de ${groupDigits(notas)} notas. Um período ou outro filtro mostra a soma.</p>\n`;
  return html`<p class="quieto">${notas === 1 ? '1 nota' : `${groupDigits(notas)} notas`}, R$ ${groupDecimal(valor)} em serviços.</p>\n`;
}

function listed({ slug }: InMunicipio, busca: BuscaEscrita, { notas, seguinte }: PaginaDeNotas): Html {
  if (notas.length === 0) {
    return seguinte === undefined
      ? html`<p>Nenhuma nota assim. Confira o que escreveu, ou procure por menos.</p>\n`
      : html``;
  }
  // The page of a note leads back to the search.
  const asked = Object.fromEntries(Object.entries(busca).filter(([, value]) => value !== ''));
  return table(
    'Notas',
    ['Emitida', 'Número', 'Estado', 'Prestador', 'Tomador', 'Valor (R$)'],
    notas.map((nota) => [
      link(pathIn(slug, `${PATH}/${nota.chave_acesso}`, asked), tellMoment(nota.chave_acesso, nota.data_emissao)),
      nota.numero_dps,
      markEstado(nota.estado),
      party(nota.prestador_cpf_cnpj, nota.prestador_razao_social),
      party(nota.tomador_cpf_cnpj, nota.tomador_razao_social),
      groupDecimal(nota.valor_servico),
    ]),
    [1, 5],
  );
}

function party(documento: string | null, nome: string | null): Inserted {
  if (documento === null) return nome ?? 'não informado';
  return html`${nome ?? ''}<br><small>${showDocumento(documento)}</small>`;
}

function moreOf(slug: string, busca: BuscaEscrita, { seguinte, procuradoAte, notas }: PaginaDeNotas): Inserted {
  const label = busca.ordem === 'antigas' ? 'Mais novas' : 'Mais antigas';
  if (procuradoAte === undefined) return nextPage(slug, PATH, busca, seguinte, label);
  const said = `Procurado até ${brazilianDate(procuradoAte)}; ${notas.length === 0 ? 'nada foi achado' : 'há mais para procurar'}. Um período, ou um CNPJ, acha depressa.`;
  return html`${notice('aviso', said)}${nextPage(slug, PATH, busca, seguinte, 'Continuar a procura')}`;
}

function exportForm({ slug, papel, visitor }: InMunicipio, busca: BuscaEscrita, { notas }: PaginaDeNotas): Inserted {
  if (notas.length === 0 || !mayAs(papel, 'atendimento')) return undefined;
  const asked = Object.entries(busca).map(([name, value]) =>
    value === '' ? undefined : html`<input type="hidden" name="${name}" value="${value}">`,
  );
  return html`<form method="post" action="${pathIn(slug, '/exportacoes')}">${tokenField(formTokenOf(visitor))}${asked}
<p class="botoes">Exportar tudo o que a busca encontra: ${FORMATOS.map((formato) => html`<button class="simples" name="formato" value="${formato}">${NOMES_DE_FORMATO[formato]}</button>\n`)}${link(pathIn(slug, '/exportacoes'), 'Minhas exportações')}</p></form>
`;
}

export const NOTAS_ROUTES: readonly Row[] = [forRole('leitura', 'GET', PATH, searchPage)];
