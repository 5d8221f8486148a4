/** The search of notes. */

import { carried, type Field, field, folded, link, notice, table, tokenField } from '../../base/pages/fields.ts';
import { type Answer, forRole, type InMunicipio, pathIn, type Row } from '../../base/pages/visit.ts';
import { tellMoment } from '../../base/world/gather-facts.ts';
import { mayAs } from '../../base/world/papeis.ts';
import { groupDecimal, groupDigits } from '../../fiscal/group-digits.ts';
import { brazilianDate } from '../../fiscal/moment.ts';
import { type Html, html, type Inserted } from '../../published/site/page-shell.ts';
import { formTokenOf } from '../contas/entrada.ts';
import {
  type BuscaEscrita,
  CAMPOS_DO_LUGAR,
  countBusca,
  type NotasContadas,
  type PaginaDeNotas,
  type ProblemasDaBusca,
  searchPagina,
} from './buscar.ts';
import { chosenColumns, columnsForm } from './colunas-da-busca.page.ts';
import { type Escolhas, listEscolhas, nameServico } from './escolhas.ts';
import { NOMES_DE_FORMATO, readBusca } from './exportacoes.page.ts';
import { FORMATOS } from './exportar.ts';
import { FILTROS, NOMES_DE_FILTROS, type NomeDeFiltro } from './filtros.ts';
import { ESTADOS } from './palavras.page.ts';

const HERE = 'notas';
const PATH = '/notas';

/** Words of a filter of the console that are known only here. */
type Offered = Partial<Record<NomeDeFiltro, Pick<Field, 'choices' | 'suggestions' | 'help'>>>;

function offer({ servicos, aliquotas }: Escolhas): Offered {
  return {
    estado: {
      choices: [['', 'qualquer'], ...Object.entries(ESTADOS).map(([estado, { nome }]) => [estado, nome] as const)],
    },
    servico: { suggestions: servicos },
    aliquota: { suggestions: aliquotas },
  };
}

function searchForm(busca: BuscaEscrita, problems: ProblemasDaBusca, escolhas: Escolhas): Html {
  const isOpen = NOMES_DE_FILTROS.some((name) => busca[name] !== '' || problems[name] !== undefined);
  const free = field({
    name: 'q',
    label: 'Procurar',
    type: 'search',
    value: busca.q,
    problem: problems.q,
    help: 'Chave de acesso ou endereço do QR Code, CNPJ, CPF, número, valor, dia, mês, ou parte do nome do prestador ou do tomador.',
  });
  const offered = offer(escolhas);
  const shown = { ...busca, servico: nameServico(busca.servico) };
  const more = NOMES_DE_FILTROS.map((name) =>
    field({ name, ...FILTROS[name].console, ...offered[name], value: shown[name], problem: problems[name] }),
  );
  return html`<form method="get" role="search" class="busca">
<div class="procura">${free}<button>Procurar</button></div>
${folded('Mais filtros', html`<div class="filtros">${more}</div><p class="botoes"><button>Filtrar</button></p>`, isOpen)}
</form>
`;
}

async function searchPage(call: InMunicipio): Promise<Answer> {
  const { world, slug, query } = call;
  const busca = readBusca((name) => query.get(name));
  const lugar = Object.fromEntries(CAMPOS_DO_LUGAR.map((name) => [name, query.get(name) ?? undefined]));
  const [found, escolhas] = await Promise.all([searchPagina(world, slug, busca, lugar), listEscolhas(world, slug)]);
  if ('problems' in found) {
    return { title: 'Notas', here: HERE, status: 422, main: searchForm(busca, found.problems, escolhas) };
  }
  const [only] = found.notas;
  if (only !== undefined && found.isNamed) return { goTo: pathIn(slug, `${PATH}/${only.chave_acesso}`) };
  const counted = found.notas.length === 0 ? undefined : await countBusca(world, slug, busca);
  return {
    title: 'Notas',
    here: HERE,
    main: html`${searchForm(busca, {}, escolhas)}${understood(slug, busca, found)}${found.avisos.map((aviso) => notice('aviso', aviso))}${summed(counted)}${listed(call, busca, found)}${moreOf(slug, busca, found)}${columnsForm(call, writtenIn(busca))}${exportForm(call, busca, found)}`,
  };
}

/** The fields that say something. */
function writtenIn(busca: BuscaEscrita): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(busca).filter(([, value]) => value !== ''));
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
  const { notas, valor, issqn, isWhole } = counted;
  if (!isWhole)
    return html`<p class="quieto">Mais de ${groupDigits(notas)} notas. Um período ou outro filtro mostra a soma.</p>\n`;
  return html`<p class="quieto">${notas === 1 ? '1 nota' : `${groupDigits(notas)} notas`}, R$ ${groupDecimal(valor)} em serviços, R$ ${groupDecimal(issqn)} de ISSQN.</p>\n`;
}

function listed(call: InMunicipio, busca: BuscaEscrita, { notas, seguinte }: PaginaDeNotas): Html {
  const { slug, query } = call;
  if (notas.length === 0) {
    return seguinte === undefined
      ? html`<p>Nenhuma nota assim. Confira o que escreveu, ou procure por menos.</p>\n`
      : html``;
  }
  // The page of a note leads back to this page of the search.
  const lugar = CAMPOS_DO_LUGAR.map((name) => [name, query.get(name) ?? undefined] as const);
  const asked = { ...busca, ...Object.fromEntries(lugar) };
  const columns = chosenColumns(call);
  return table(
    'Notas',
    ['Emitida', ...columns.map(({ titulo }) => titulo)],
    notas.map((nota) => [
      link(pathIn(slug, `${PATH}/${nota.chave_acesso}`, asked), tellMoment(nota.chave_acesso, nota.data_emissao)),
      ...columns.map(({ write }) => write(nota)),
    ]),
    columns.flatMap(({ isNumeric }, place) => (isNumeric ? [place + 1] : [])),
  );
}

function moreOf(slug: string, busca: BuscaEscrita, found: PaginaDeNotas & { anterior: string | undefined }): Inserted {
  const { anterior, seguinte, procuradoAte, notas } = found;
  const back = anterior && link(pathIn(slug, PATH, { ...busca, antes: anterior }), 'Página anterior');
  const on = procuradoAte === undefined ? 'Página seguinte' : 'Continuar a procura';
  const next = seguinte && link(pathIn(slug, PATH, { ...busca, depois: seguinte }), on);
  const said = `Procurado até ${procuradoAte && brazilianDate(procuradoAte)}; ${notas.length === 0 ? 'nada foi achado' : 'há mais para procurar'}. Um período, ou um CNPJ, acha depressa.`;
  return html`${procuradoAte && notice('aviso', said)}${(back || next) && html`<p class="botoes">${back} ${next}</p>\n`}`;
}

function exportForm({ slug, papel, visitor }: InMunicipio, busca: BuscaEscrita, { notas }: PaginaDeNotas): Inserted {
  if (notas.length === 0 || !mayAs(papel, 'atendimento')) return undefined;
  const asked = carried(Object.entries(writtenIn(busca)));
  return html`<form method="post" action="${pathIn(slug, '/exportacoes')}">${tokenField(formTokenOf(visitor))}${asked}
<p class="botoes">Exportar tudo o que a busca encontra: ${FORMATOS.map((formato) => html`<button class="simples" name="formato" value="${formato}">${NOMES_DE_FORMATO[formato]}</button>\n`)}${link(pathIn(slug, '/exportacoes'), 'Minhas exportações')}</p></form>
`;
}

export const NOTAS_ROUTES: readonly Row[] = [forRole('leitura', 'GET', PATH, searchPage)];
