/** The month of a municipality: its ISSQN by class, against the months before, and by each kind of key; every figure opens its notes. */
import { field, keepDocumentos, link, notice, table } from '../../base/pages/fields.ts';
import { type Answer, forRole, type InMunicipio, type PageShown, pathIn, type Row } from '../../base/pages/visit.ts';
import { mayAs } from '../../base/world/papeis.ts';
import { showDocumento } from '../../fiscal/chave.ts';
import { SEM_CLASSE, SITUACOES_ISSQN } from '../../fiscal/classe-issqn.ts';
import { type Decimal, formatDecimal, ZERO } from '../../fiscal/decimal.ts';
import { groupDecimal, groupDigits } from '../../fiscal/group-digits.ts';
import { brazilianDate, brazilianMes } from '../../fiscal/moment.ts';
import { type Html, html, type Inserted } from '../../published/site/page-shell.ts';
import { COLOURS } from '../../published/site/palette.ts';
import { plot } from '../municipios/plot.page.ts';
import {
  currentMes,
  dayOf,
  exportPlanilha,
  MAIORES,
  type MesPedido,
  owedOf,
  PLANILHAS,
  type Planilha,
  type Por,
  type ResumoDoMes,
  readMes,
  type SomaDaChave,
  shiftMes,
  summariseMes,
  VISOES,
  writeMes,
} from './mes.ts';

const HERE = 'mes';
const PATH = '/mes';

const NOMES_DAS_VISOES = { competencia: 'da competência', emissao: 'da emissão' } as const;

/** Titles of the tables by a key, and the name of the key. */
const TABELAS: Readonly<Record<Exclude<Por, 'dia'>, readonly [title: string, head: string]>> = {
  servico: ['Por serviço', 'Serviço'],
  prestador: ['Por prestador', 'Prestador'],
  tomador: ['ISSQN retido, por tomador', 'Tomador'],
  aliquota: ['Por alíquota', 'Alíquota'],
  regime: ['Por regime', 'Regime'],
};

type Asked = MesPedido & { readonly slug: string };

/** The month that a request names; the current one in place of one that cannot be read. */
async function readAsked({ world, slug, query }: InMunicipio): Promise<Asked & { readonly problem?: string }> {
  const visao = VISOES.find((one) => one === query.get('visao')) ?? 'competencia';
  const written = (query.get('mes') ?? '').trim();
  const mes = readMes(written);
  if (mes !== undefined) return { slug, visao, mes };
  const current = { slug, visao, mes: await currentMes(world, slug) };
  return written === '' ? current : { ...current, problem: 'Escreva o mês como MM/AAAA, por exemplo 11/2026.' };
}

const queryOf = ({ visao, mes }: MesPedido) => ({ visao: visao === 'emissao' ? visao : undefined, mes: writeMes(mes) });

async function mesPage(call: InMunicipio): Promise<PageShown> {
  const { problem, ...asked } = await readAsked(call);
  const shown = await summariseMes(call.world, call.slug, asked);
  return {
    title: `Mês ${NOMES_DAS_VISOES[asked.visao]} ${brazilianMes(asked.mes)}`,
    here: HERE,
    ...(problem === undefined ? {} : { status: 422 }),
    main: html`${choice(asked, problem)}${counted(asked, shown)}${cards(asked, shown)}${notasLink(call, asked)}${classTable(asked, shown)}${before(asked, shown)}${byDay(asked, shown)}${(
      Object.keys(TABELAS) as (keyof typeof TABELAS)[]
    ).map(
      (por) =>
        html`${keyTable(asked, por, shown.tabelas[por])}${por === 'tomador' ? besideTakers(asked, shown) : undefined}`,
    )}`,
  };
}

function choice(asked: Asked, problem: string | undefined): Html {
  const near = (months: number): Html => {
    const mes = shiftMes(asked.mes, months);
    return link(pathIn(asked.slug, PATH, queryOf({ ...asked, mes })), brazilianMes(mes));
  };
  return html`<form method="get"><div class="filtros">${field({
    name: 'visao',
    label: 'O mês é o',
    value: asked.visao,
    choices: VISOES.map((visao) => [visao, NOMES_DAS_VISOES[visao]] as const),
  })}${field({ name: 'mes', label: 'Mês (MM/AAAA)', value: brazilianMes(asked.mes), problem })}<p class="botoes"><button>Ver</button></p></div></form>
<p>${near(-1)} · ${near(1)}</p>
`;
}

/** A taker of the sums must know what is not in them. */
function counted(asked: Asked, { contadoAte, isPartial, isBehind }: ResumoDoMes): Html {
  const again = link(pathIn(asked.slug, PATH, queryOf(asked)), 'Atualizar');
  return html`<p class="quieto">Somas das notas emitidas aqui, contadas até ${contadoAte.time.slice(0, 5)} de ${brazilianDate(contadoAte.date)}. O que as empresas do Simples Nacional emitem no emissor nacional não está nelas. ${again}</p>
${isPartial ? notice('aviso', 'Há notas deste mês ainda por contar: as somas estão incompletas por alguns minutos.') : undefined}${isBehind ? notice('aviso', 'Há notas mais novas que ainda não estão nestas somas: entram em até cinco minutos.') : undefined}`;
}

function reais(value: Decimal): string {
  return groupDecimal(formatDecimal(value));
}

/** Filters by which the search of notes finds those of the month. */
function filtersOf({ visao, mes }: MesPedido): Readonly<Record<string, string>> {
  if (visao === 'competencia') return { competencia: writeMes(mes) };
  const last = new Date(Date.UTC(Math.floor(mes / 100), mes % 100, 0)).getUTCDate();
  return { de: `${writeMes(mes)}-01`, ate: `${writeMes(mes)}-${last}` };
}

/** A figure that opens the notes behind it; nothing opens where there is none. */
function figure(asked: Asked, notas: number, text: string, filters: Readonly<Record<string, string>>): Inserted {
  return notas === 0 ? text : link(pathIn(asked.slug, '/notas', { ...filtersOf(asked), ...filters }), text);
}

function cards(asked: Asked, { total, classes, isPartial, isBehind }: ResumoDoMes): Html {
  // A zero would be taken for the sum of the month.
  if (classes.length === 0 && (isPartial || isBehind))
    return html`<p>As notas deste mês ainda estão a ser contadas.</p>\n`;
  const card = (name: string, value: Inserted, about: string): Html =>
    html`<div class="cartao">${name}<b>${value}</b><small>${about}</small></div>\n`;
  const notasOf = (classe: string): number => classes.find((one) => one.classe === classe)?.notas ?? 0;
  const retidas = notasOf('retido') + notasOf('retido_interm');
  return html`<div class="cartoes">
${card('Notas que valem', figure(asked, total.notas, groupDigits(total.notas), { issqn: 'vigente' }), `R$ ${reais(total.servicos)} em serviços`)}${card(
  'ISSQN apurado (R$)',
  figure(asked, notasOf('apurado'), reais(total.apurado), { issqn: 'apurado' }),
  `a recolher pelo prestador, em ${tellNotas(notasOf('apurado'))}`,
)}${card('ISSQN retido (R$)', figure(asked, retidas, reais(total.retido), { issqn: 'retidos' }), `pelo tomador ou intermediário, em ${tellNotas(retidas)}`)}${card(
  'Canceladas depois',
  figure(asked, total.canceladas, groupDigits(total.canceladas), { issqn: 'cancelada' }),
  'não estão nas outras somas',
)}</div>
`;
}

/** The file of the notes, for those who may export. */
function notasLink({ slug, papel }: InMunicipio, { visao, mes }: Asked): Inserted {
  if (!mayAs(papel, 'atendimento')) return undefined;
  return html`<p>${link(pathIn(slug, `${PATH}/notas`, { visao, mes: writeMes(mes) }), 'Baixar as notas do mês (CSV)')}</p>\n`;
}

/** ISSQN that intermediaries withhold has no taker who owes it. */
function besideTakers(asked: Asked, { classes }: ResumoDoMes): Inserted {
  const found = classes.find(({ classe }) => classe === 'retido_interm');
  if (found === undefined) return undefined;
  const amount = figure(asked, found.notas, `R$ ${reais(found.issqn)}`, { issqn: 'retido_interm' });
  return html`<p class="quieto">O que o intermediário retém não está nesta tabela: mais ${amount}, em ${tellNotas(found.notas)}.</p>\n`;
}

const tellNotas = (notas: number): string => (notas === 1 ? '1 nota' : `${groupDigits(notas)} notas`);

function exportLink(asked: Asked, tabela: Planilha): Html {
  return html`<p class="quieto">${link(pathIn(asked.slug, `${PATH}/planilha`, { ...queryOf(asked), tabela }), `Baixar em planilha (CSV)`)}</p>\n`;
}

/** Classes whose notes show no ISSQN by the layout. */
const WITHOUT_ISSQN: ReadonlySet<string> = new Set([
  'das',
  'especial',
  'suspenso',
  'imune',
  'exportado',
  'nao_incidente',
]);

function classTable(asked: Asked, { classes, isPartial, isBehind }: ResumoDoMes): Html {
  const rows = classes.map(({ classe, notas, servicos, base, issqn, ibs, cbs }) => {
    const open = (text: string): Inserted => figure(asked, notas, text, { issqn: classe });
    const isShown = !WITHOUT_ISSQN.has(classe) || issqn !== ZERO;
    return [
      SITUACOES_ISSQN[classe],
      open(groupDigits(notas)),
      open(reais(servicos)),
      isShown ? open(reais(base)) : '–',
      isShown ? open(reais(issqn)) : '–',
      open(reais(ibs)),
      open(reais(cbs)),
    ];
  });
  const hasOld = classes.some(({ classe }) => classe === SEM_CLASSE);
  return html`<h2>O ISSQN do mês</h2>
${
  rows.length === 0
    ? html`<p>Nenhuma nota ${isPartial || isBehind ? 'contada ' : ''}neste mês.</p>\n`
    : html`${table('O ISSQN das notas, por situação', ['Situação', 'Notas', 'Serviços (R$)', 'Base (R$)', 'ISSQN (R$)', 'IBS (R$)', 'CBS (R$)'], rows, [1, 2, 3, 4, 5, 6])}<p class="quieto">Um traço: a nota destas situações não traz ISSQN. IBS e CBS são os que a nota informa.</p>
${exportLink(asked, 'classe')}`
}${hasOld ? html`<p class="quieto">As notas de antes desta contagem não têm classe, nem regime, IBS e CBS nestas somas; o ISSQN delas está na linha sem classe.</p>\n` : undefined}`;
}

/** How much more than the average, in percent; whole numbers are exact enough to read. */
function compare(owed: Decimal, media: Decimal): string {
  if (media === ZERO) return '';
  const percent = Number(((owed - media) * 1000n) / media) / 10;
  return ` (${percent > 0 ? '+' : ''}${percent.toLocaleString('pt-BR', { maximumFractionDigits: 1 })} %)`;
}

/** The chart of the months before, or of the days. */
const GRAFICOS = {
  meses: {
    title: 'ISSQN apurado e retido por mês, em reais',
    rowsOf: ({ meses }: ResumoDoMes) => meses.map((one) => ({ ...one, nome: brazilianMes(Number(one.chave)) })),
    labelEvery: 2,
  },
  dias: {
    title: 'ISSQN apurado e retido por dia de emissão, em reais',
    rowsOf: ({ dias }: ResumoDoMes) => dias,
    labelEvery: 6,
  },
} as const;
type Grafico = keyof typeof GRAFICOS;

function draw(of: Grafico, shown: ResumoDoMes): Html {
  const { title, rowsOf, labelEvery } = GRAFICOS[of];
  const bars = rowsOf(shown).map((one) => ({ label: one.nome, value: Number(formatDecimal(owedOf(one))) }));
  const highest = bars.reduce((one, other) => (other.value > one.value ? other : one));
  const desc = highest.value === 0 ? 'Nenhum ISSQN apurado nem retido.' : `O maior: ${highest.label}.`;
  return plot({ id: of, title, desc, bars, labelEvery });
}

function drawn(asked: Asked, of: Grafico, shown: ResumoDoMes): Html {
  const path = pathIn(asked.slug, `${PATH}/grafico`, { ...queryOf(asked), grafico: of });
  return html`${draw(of, shown)}<p class="quieto">${GRAFICOS[of].title}. ${link(path, 'Baixar o gráfico (SVG)')}</p>\n`;
}

const COLUMNS = [
  'Notas',
  'Serviços (R$)',
  'ISSQN apurado (R$)',
  'ISSQN retido (R$)',
  'IBS (R$)',
  'CBS (R$)',
  'Canceladas',
];
const NUMERIC = COLUMNS.map((_, place) => place + 1);

/** The figures of a key. `filters`: those of the key; undefined: no filter finds its notes. */
function figures(asked: Asked, one: SomaDaChave, filters: Readonly<Record<string, string>> | undefined): Inserted[] {
  const { notas, servicos, apurado, retido, ibs, cbs, canceladas } = one;
  const open = (count: number, text: string, issqn: string): Inserted =>
    filters === undefined ? text : figure(asked, count, text, { issqn, ...filters });
  return [
    open(notas, groupDigits(notas), 'vigente'),
    open(notas, reais(servicos), 'vigente'),
    open(apurado === ZERO ? 0 : notas, reais(apurado), 'apurado'),
    open(retido === ZERO ? 0 : notas, reais(retido), 'retidos'),
    open(ibs === ZERO ? 0 : notas, reais(ibs), 'vigente'),
    open(cbs === ZERO ? 0 : notas, reais(cbs), 'vigente'),
    open(canceladas, groupDigits(canceladas), 'cancelada'),
  ];
}

function before(asked: Asked, shown: ResumoDoMes): Html {
  const { total, media, meses } = shown;
  const owed = owedOf(total);
  const said =
    media === undefined
      ? 'Não há notas nos doze meses anteriores.'
      : `ISSQN apurado e retido neste mês: R$ ${reais(owed)}. Média dos doze meses anteriores, desde o primeiro com notas: R$ ${reais(media)}${compare(owed, media)}.`;
  const rows = meses.map((one) => {
    const mes = Number(one.chave);
    const of = { ...asked, mes };
    return [link(pathIn(asked.slug, PATH, queryOf(of)), brazilianMes(mes)), ...figures(of, one, {})];
  });
  return html`<h2>Com os doze meses anteriores</h2>
<p>${said}</p>
${drawn(asked, 'meses', shown)}${table('Este mês e os doze anteriores', ['Mês', ...COLUMNS], rows, NUMERIC)}${exportLink(asked, 'meses')}`;
}

function byDay(asked: Asked, shown: ResumoDoMes): Html {
  const rows = shown.dias
    .filter(({ notas, canceladas }) => notas + canceladas > 0)
    .map((one) => [one.nome, ...figures(asked, one, { de: dayOf(one.chave), ate: dayOf(one.chave) })]);
  return html`<h2>Por dia de emissão</h2>
${drawn(asked, 'dias', shown)}${rows.length === 0 ? undefined : html`${table('Por dia de emissão', ['Dia', ...COLUMNS], rows, NUMERIC)}${exportLink(asked, 'dia')}`}`;
}

/** Columns of notes of other classes. */
const OF_ALL_CLASSES: readonly number[] = [2, 6];

function keyTable(asked: Asked, por: Exclude<Por, 'dia'>, found: readonly SomaDaChave[]): Html {
  const [title, head] = TABELAS[por];
  const all = por === 'tomador' ? found.filter(({ notas }) => notas > 0) : found;
  if (all.length === 0) return html`<h2>${title}</h2>\n<p>Nada neste mês.</p>\n`;
  // Takers are summed where they withhold: no figure but those of the withheld notes is theirs.
  const isShown = (_: unknown, place: number): boolean => por !== 'tomador' || !OF_ALL_CLASSES.includes(place);
  const rows = all.map((one) => [nameRow(por, one), ...figures(asked, one, filterOf(por, one.chave)).filter(isShown)]);
  const isLarge = por === 'prestador' || por === 'tomador';
  return html`<h2>${title}</h2>
${isLarge && all.length >= MAIORES ? html`<p class="quieto">Os ${String(MAIORES)} com mais ISSQN; a planilha tem todos.</p>\n` : undefined}${table(title, [head, ...COLUMNS.filter(isShown)], rows, NUMERIC)}${exportLink(asked, por)}`;
}

function nameRow(por: Por, { chave, nome }: SomaDaChave): Inserted {
  if (por === 'servico' && chave !== '') return html`<code>${chave.replace(/(..)(?=.)/g, '$1.')}</code> ${nome}`;
  if ((por !== 'prestador' && por !== 'tomador') || chave === '') return nome;
  const documento = showDocumento(chave);
  return nome === chave ? documento : html`${nome}<br><small>${keepDocumentos(documento)}</small>`;
}

/** The filter of a key; undefined: notes without one, which no filter finds. Takers are summed where they withhold. */
function filterOf(por: Exclude<Por, 'dia'>, chave: string): Readonly<Record<string, string>> | undefined {
  if (por === 'aliquota') return { aliquota: chave === '' ? 'nenhuma' : chave };
  if (chave === '') return undefined;
  return por === 'tomador' ? { tomador: chave, issqn: 'retido' } : { [por]: chave };
}

async function planilhaFile(call: InMunicipio): Promise<Answer> {
  const { world, slug, query } = call;
  const asked = await readAsked(call);
  const tabela = PLANILHAS.find((one) => one === query.get('tabela')) ?? 'classe';
  const file = await exportPlanilha(world, slug, asked, tabela);
  return { file, type: 'text/csv; charset=utf-8', name: `mes-${slug}-${writeMes(asked.mes)}-${tabela}.csv` };
}

/** The style of a chart outside of the page. */
const [LINE, QUIET, LINK] = [COLOURS.line[0], COLOURS.quiet[0], COLOURS.link[0]];
const STYLE = `<style>.malha{stroke:${LINE}}.eixo{fill:${QUIET};font:11px sans-serif}.barra-do-grafico{fill:${LINK}}</style>`;

async function graficoFile(call: InMunicipio): Promise<Answer> {
  const { world, slug, query } = call;
  const asked = await readAsked(call);
  const of: Grafico = query.get('grafico') === 'dias' ? 'dias' : 'meses';
  const { html: svg } = draw(of, await summariseMes(world, slug, asked));
  const file = svg.replace('<svg class="grafico"', '<svg xmlns="http://www.w3.org/2000/svg"').replace('>', `>${STYLE}`);
  return { file, type: 'image/svg+xml', name: `mes-${slug}-${writeMes(asked.mes)}-${of}.svg` };
}

export const MES_ROUTES: readonly Row[] = [
  forRole('leitura', 'GET', PATH, mesPage),
  forRole('leitura', 'GET', `${PATH}/planilha`, planilhaFile),
  forRole('leitura', 'GET', `${PATH}/grafico`, graficoFile),
];
