/** Exports of a search, which their author follows, cancels and downloads. */

import { type Estado, field, link, mark, markOpening, notice, table, tokenField } from '../../base/pages/fields.ts';
import { type Answer, forRole, type InMunicipio, type PageShown, pathIn, type Row } from '../../base/pages/visit.ts';
import { TOO_MANY, TOO_MANY_WAIT_S } from '../../base/world/trabalhos.ts';
import { groupDigits } from '../../fiscal/group-digits.ts';
import { isoMes, MINUTE_MS } from '../../fiscal/moment.ts';
import { type Html, html, type Inserted } from '../../published/site/page-shell.ts';
import { formTokenOf } from '../contas/entrada.ts';
import { type BuscaEscrita, CAMPOS_DA_BUSCA } from './buscar.ts';
import {
  beginExport,
  discardExport,
  type Exportacao,
  type Exportacoes,
  FORMATOS,
  type FormatoDeExportacao,
  readExport,
  resumeExports,
  streamMes,
} from './exportar.ts';
import { FILTROS } from './filtros.ts';

const HERE = 'notas';
const PATH = '/exportacoes';
const MES_PATH = '/mes/notas';

/** Names of the formats on buttons. */
export const NOMES_DE_FORMATO: Readonly<Record<FormatoDeExportacao, string>> = {
  xlsx: 'Planilha (Excel)',
  csv: 'Planilha (CSV)',
  zip: 'Os XML num ZIP',
};

const TYPES: Readonly<Record<FormatoDeExportacao, string>> = {
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  csv: 'text/csv; charset=utf-8',
  zip: 'application/zip',
};

/** A search as the fields of an address or of a form have it. */
export function readBusca(read: (name: string) => string | null): BuscaEscrita {
  return Object.fromEntries(CAMPOS_DA_BUSCA.map((name) => [name, read(name) ?? ''])) as BuscaEscrita;
}

async function startExport(call: InMunicipio): Promise<Answer> {
  const { world, slug, visitor, form } = call;
  const formato = form.text('formato') as FormatoDeExportacao;
  if (!FORMATOS.includes(formato)) return { goTo: pathIn(slug, '/notas') };
  const busca = readBusca((name) => form.text(name));
  const begun = await beginExport(world, slug, visitor.conta.login, busca, formato);
  if (begun === undefined) return BUSY;
  return { goTo: pathIn(slug, `${PATH}/${begun.id}`) };
}

const BUSY: PageShown = {
  title: 'Exportação',
  here: HERE,
  status: 429,
  waitS: TOO_MANY_WAIT_S,
  main: notice('erro', TOO_MANY),
};

const NO_EXPORT: PageShown = {
  title: 'Exportação',
  here: HERE,
  status: 404,
  main: html`<p>Esta exportação não existe mais: fica por uma hora. Faça a busca e peça outra.</p>`,
};

/** The export that the address names; one that ended with its process begins anew, or waits for room. */
async function findOwn({ world, slug, visitor, params }: InMunicipio): Promise<Exportacao | 'waiting' | undefined> {
  const { login } = visitor.conta;
  const id = params['id']!;
  const known = world.exportacoes.find(slug, login, id);
  if (known !== undefined) return known;
  const waiting = await resumeExports(world, slug, login);
  return waiting.includes(id) ? 'waiting' : world.exportacoes.find(slug, login, id);
}

const WAITING: PageShown = {
  title: 'Exportação',
  here: HERE,
  refreshS: 2,
  main: notice(
    'aviso',
    'O serviço recomeçou, e esta exportação espera a vez de ser refeita. Esta página se renova sozinha.',
  ),
};

async function listPage(call: InMunicipio): Promise<PageShown> {
  const { world, slug, visitor } = call;
  await resumeExports(world, slug, visitor.conta.login);
  const own = world.exportacoes.list(slug, visitor.conta.login);
  const rows = own.map((one): readonly Inserted[] => [
    link(pathIn(slug, `${PATH}/${one.id}`), describeAge(world.now() - one.em)),
    html`${mark(stateOf(one))} ${describeProgress(one)}`,
    describeBusca(one.data.busca),
    one.data.bytes === undefined ? one.data.formato.toUpperCase() : downloadLink(slug, one),
    cancelForm(call, one),
  ]);
  const none = html`<p>Nenhuma exportação sua neste município na última hora. Faça uma busca, e exporte o que ela encontra.</p>\n`;
  return {
    title: 'Minhas exportações',
    here: HERE,
    ...(own.some(({ isRunning }) => isRunning) ? { refreshS: 2 } : {}),
    main: html`${rows.length === 0 ? none : table('Minhas exportações', ['Pedida', 'Andamento', 'Busca', 'Arquivo', 'Ação'], rows)}<h2>O arquivo de um mês</h2>
<form method="get" action="${pathIn(slug, MES_PATH)}"><div class="filtros">${field({ name: 'mes', label: 'Mês da emissão (MM/AAAA)', required: true })}<p class="botoes"><button class="simples">Baixar as notas do mês (CSV)</button></p></div></form>
<p>${link(pathIn(slug, '/notas'), 'Voltar às notas')}</p>`,
  };
}

/** The notes of a month, as the message about a closed month names them. */
async function mesFile({ world, slug, query }: InMunicipio): Promise<Answer> {
  const mes = isoMes((query.get('mes') ?? '').trim());
  const isOfCompetencia = query.get('visao') === 'competencia';
  const file = await streamMes(world, slug, mes, isOfCompetencia);
  if (file === undefined) {
    const main = notice('erro', 'Escreva o mês como MM/AAAA, por exemplo 11/2026.');
    return { title: 'O arquivo de um mês', here: HERE, status: 422, main };
  }
  return { file, type: TYPES.csv, name: `notas-${slug}-${isOfCompetencia ? 'competencia-' : ''}${mes}.csv` };
}

/** `há 5 minutos`; work is kept for an hour. */
function describeAge(ms: number): string {
  const minutes = Math.floor(ms / MINUTE_MS);
  if (minutes < 1) return 'há menos de um minuto';
  return minutes === 1 ? 'há 1 minuto' : `há ${minutes} minutos`;
}

function describeBusca(busca: Partial<BuscaEscrita>): string {
  const asked = CAMPOS_DA_BUSCA.filter((name) => busca[name]);
  if (asked.length === 0) return 'todas as notas';
  return asked.map((name) => (name === 'q' ? busca.q : `${FILTROS[name].console.label}: ${busca[name]}`)).join('; ');
}

const countNotas = (notas: number): string => (notas === 1 ? '1 nota' : `${groupDigits(notas)} notas`);

function stateOf({ isRunning, data: { bytes } }: Exportacao): Estado {
  if (bytes !== undefined) return { nome: 'pronta', tom: 'bom' };
  return isRunning ? { nome: 'em andamento', tom: 'aviso' } : { nome: 'falhou', tom: 'erro' };
}

function describeProgress({ isRunning, data: { notas, total, bytes } }: Exportacao): string {
  if (bytes !== undefined) return `${countNotas(notas)}, ${groupDigits(Math.ceil(bytes / 1024))} kB`;
  if (!isRunning) return '';
  return total === undefined ? `${countNotas(notas)} até agora` : `${groupDigits(notas)} de ${countNotas(total)}`;
}

function cancelForm({ slug, visitor }: InMunicipio, { id, isRunning }: Exportacao): Html {
  const action = pathIn(slug, `${PATH}/${id}/cancelar`);
  return html`<form method="post" action="${action}">${tokenField(formTokenOf(visitor))}<p class="botoes"><button class="simples">${isRunning ? 'Cancelar' : 'Apagar'}</button></p></form>
`;
}

function downloadLink(slug: string, { id, data: { formato } }: Exportacao): Html {
  return html`<a href="${pathIn(slug, `${PATH}/${id}/arquivo`)}" download>Baixar o ${formato.toUpperCase()}</a>`;
}

async function exportPage(call: InMunicipio): Promise<PageShown> {
  const one = await findOwn(call);
  if (one === undefined) return NO_EXPORT;
  if (one === 'waiting') return WAITING;
  const list = html`<p>${link(pathIn(call.slug, PATH), 'Minhas exportações')}</p>`;
  return {
    title: 'Exportação',
    here: HERE,
    ...(one.isRunning ? { refreshS: 2 } : {}),
    main: html`<p>${describeBusca(one.data.busca)}</p>\n${progressOf(call.slug, one)}${cancelForm(call, one)}${list}`,
  };
}

function progressOf(slug: string, one: Exportacao): Html {
  const { isRunning, data } = one;
  const { notas, total, bytes } = data;
  if (bytes !== undefined) {
    return html`${notice('bom', html`${markOpening(stateOf(one))} ${describeProgress(one)}. Fica aqui por uma hora.`)}<p>${downloadLink(slug, one)}</p>\n`;
  }
  if (!isRunning)
    return notice('erro', html`${markOpening(stateOf(one))} O motivo está no registro do serviço; peça de novo.`);
  const share = total === undefined ? undefined : html` max="${String(total)}" value="${String(notas)}"`;
  const again = data.wasInterrupted
    ? 'O serviço recomeçou enquanto ela andava, e ela foi refeita desde o começo. '
    : '';
  return html`<p role="status">${markOpening(stateOf(one))} ${again}${describeProgress(one)}. Esta página se renova sozinha.</p>
<p><progress aria-label="Exportação em andamento"${share}></progress></p>`;
}

async function exportFile(call: InMunicipio): Promise<Answer> {
  const one = await findOwn(call);
  if (one === 'waiting') return WAITING;
  if (one?.data.bytes === undefined) return NO_EXPORT;
  const { formato } = one.data;
  return { file: readExport(one), type: TYPES[formato], name: `notas-${call.slug}.${formato}` };
}

async function cancelExport(call: InMunicipio): Promise<Answer> {
  const one = await findOwn(call);
  if (one === undefined) return NO_EXPORT;
  if (one === 'waiting') return WAITING;
  const recado = one.isRunning ? 'A exportação foi cancelada.' : 'A exportação foi apagada.';
  await discardExport(call.world, one);
  return { goTo: pathIn(call.slug, PATH), recado };
}

export const EXPORTACOES_ROUTES: readonly Row[] = [
  forRole('atendimento', 'GET', PATH, listPage),
  forRole('atendimento', 'GET', MES_PATH, mesFile),
  forRole('atendimento', 'POST', PATH, startExport),
  forRole('atendimento', 'GET', `${PATH}/:id`, exportPage),
  forRole('atendimento', 'GET', `${PATH}/:id/arquivo`, exportFile),
  forRole('atendimento', 'POST', `${PATH}/:id/cancelar`, cancelExport),
];

declare module '../../base/pages/visit.ts' {
  interface Trabalhos {
    readonly exportacoes: Exportacoes;
  }
}
