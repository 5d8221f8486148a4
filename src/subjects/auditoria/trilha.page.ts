/** The trail of the municipality as a page: the author, the time and the reason of each act. */

import { field, link, nextPage, table } from '../../base/pages/fields.ts';
import { type Answer, forRole, type InMunicipio, type PageShown, pathIn, type Row } from '../../base/pages/visit.ts';
import { mayAs } from '../../base/world/papeis.ts';
import { dotCnpjsIn } from '../../fiscal/chave.ts';
import { type Html, html, type Inserted } from '../../published/site/page-shell.ts';
import { type AtoLido, type BuscaNaTrilha, exportTrilha, listTrilha, OBJETOS } from './trilha.ts';

const HERE = 'trilha';
const PATH = '/trilha';

const VIAS: Readonly<Record<AtoLido['via'], string>> = { painel: 'console', comando: 'comando' };

function readBusca({ query }: InMunicipio): Required<BuscaNaTrilha> {
  const text = (name: string): string => query.get(name) ?? '';
  return { quem: text('quem'), objeto: text('objeto'), chave: text('chave'), de: text('de'), ate: text('ate') };
}

async function trilhaPage(call: InMunicipio): Promise<PageShown> {
  const { world, slug, query, papel } = call;
  const busca = readBusca(call);
  const found = await listTrilha(world, slug, busca, query.get('depois') ?? undefined);
  const problems = 'problems' in found ? found.problems : {};
  const filters = html`<form method="get" class="filtros" role="search">
${field({ name: 'quem', label: 'Quem', value: busca.quem })}${field({
  name: 'objeto',
  label: 'O quê',
  value: busca.objeto,
  choices: [['', 'tudo'], ...Object.entries(OBJETOS)],
  problem: problems.objeto,
})}${field({ name: 'chave', label: 'Chave, CNPJ ou login', value: busca.chave })}${field({
  name: 'de',
  label: 'De',
  type: 'date',
  value: busca.de,
  problem: problems.de,
})}${field({ name: 'ate', label: 'Até', type: 'date', value: busca.ate, problem: problems.ate })}<button>Filtrar</button>
</form>
`;
  if ('problems' in found) return { title: 'Histórico', here: HERE, status: 422, main: filters };
  const isWhole = mayAs(papel, 'administracao');
  const exported = mayAs(papel, 'administracao')
    ? html`<p>${link(pathIn(slug, `${PATH}/exportar`, busca), 'Baixar em CSV o que o filtro mostra')}</p>\n`
    : undefined;
  const rows = found.atos.map((ato) => [
    ato.em,
    ato.quem,
    html`${ato.objeto} <code class="largo">${dotCnpjsIn(ato.chave)}</code>`,
    actOf(ato),
    ato.objeto === OBJETOS.acesso && !isWhole ? '' : changesOf(ato),
    VIAS[ato.via],
  ]);
  const shown =
    rows.length === 0
      ? html`<p>Nada foi feito à mão que este filtro mostre.</p>`
      : table(
          'O que foi feito à mão, do mais novo ao mais antigo',
          ['Quando', 'Quem', 'O quê', 'Ato e motivo', 'Mudança', 'Por'],
          rows,
        );
  return {
    title: 'Histórico',
    here: HERE,
    main: html`${filters}${exported}${shown}${nextPage(slug, PATH, busca, found.seguinte)}`,
  };
}

/** The acts on one object. */
export function actsTable(atos: readonly AtoLido[]): Html {
  if (atos.length === 0) return html`<p>Nada foi feito à mão ainda.</p>\n`;
  return table(
    'O que foi feito à mão, do mais novo ao mais antigo',
    ['Quando', 'Quem', 'Ato e motivo', 'Mudança', 'Por'],
    atos.map((ato) => [ato.em, ato.quem, actOf(ato), changesOf(ato), VIAS[ato.via]]),
  );
}

function actOf({ acao, motivo }: AtoLido): Html {
  return html`${acao}${motivo === null ? undefined : html`<br><small>${motivo}</small>`}`;
}

function changesOf({ mudancas }: AtoLido): Inserted {
  return mudancas.map(([nome, antes, depois]): Html => {
    const was = antes === '' ? undefined : html`<del>${dotCnpjsIn(antes)}</del> `;
    return html`${nome}: ${was}${depois === '' ? undefined : html`<ins>${dotCnpjsIn(depois)}</ins>`}<br>`;
  });
}

async function downloadTrilha(call: InMunicipio): Promise<Answer> {
  const { world, slug } = call;
  const file = await exportTrilha(world, slug, readBusca(call));
  if (file === undefined) return trilhaPage(call);
  return { file, type: 'text/csv; charset=utf-8', name: `trilha-${slug}.csv` };
}

export const TRILHA_ROUTES: readonly Row[] = [
  forRole('leitura', 'GET', PATH, trilhaPage),
  forRole('administracao', 'GET', `${PATH}/exportar`, downloadTrilha),
];
