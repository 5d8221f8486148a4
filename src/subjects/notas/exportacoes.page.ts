/** Exports of a search, which their author follows, cancels and downloads. */

import { link, notice, table, tokenField } from '../../base/pages/fields.ts';
import { type Answer, forRole, type InMunicipio, type PageShown, pathIn, type Row } from '../../base/pages/visit.ts';
import { TOO_MANY } from '../../base/world/trabalhos.ts';
import { groupDigits } from '../../fiscal/group-digits.ts';
import { MINUTE_MS } from '../../fiscal/moment.ts';
import { type Html, html, type Inserted } from '../../published/site/page-shell.ts';
import { formTokenOf } from '../contas/entrada.ts';
import { type BuscaEscrita, CAMPOS_DA_BUSCA } from './buscar.ts';
import {
  beginExport,
  type Exportacao,
  type Exportacoes,
  FORMATOS,
  type FormatoDeExportacao,
  readExport,
} from './exportar.ts';
import { FILTROS } from './filtros.ts';

const HERE = 'notas';
const PATH = '/exportacoes';

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
  if (begun === undefined) return { title: 'Exportação', here: HERE, status: 429, main: notice('erro', TOO_MANY) };
  return { goTo: pathIn(slug, `${PATH}/${begun.id}`) };
}

const NO_EXPORT: PageShown = {
  title: 'Exportação',
  here: HERE,
  status: 404,
  main: html`<p>Esta exportação não existe mais: fica por uma hora, e acaba com o serviço. Faça a busca e peça outra.</p>`,
};

function findOwn({ world, slug, visitor, params }: InMunicipio): Exportacao | undefined {
  return world.exportacoes.find(slug, visitor.conta.login, params['id']!);
}

function listPage(call: InMunicipio): PageShown {
  const { world, slug, visitor } = call;
  const own = world.exportacoes.list(slug, visitor.conta.login);
  const rows = own.map((one): readonly Inserted[] => [
    link(pathIn(slug, `${PATH}/${one.id}`), describeAge(world.now() - one.em)),
    describeProgress(one),
    describeBusca(one.data.busca),
    one.data.bytes === undefined ? one.data.formato.toUpperCase() : downloadLink(slug, one),
    cancelForm(call, one),
  ]);
  const none = html`<p>Nenhuma exportação sua neste município na última hora. Faça uma busca, e exporte o que ela encontra.</p>\n`;
  return {
    title: 'Minhas exportações',
    here: HERE,
    ...(own.some(({ isRunning }) => isRunning) ? { refreshS: 2 } : {}),
    main: html`${rows.length === 0 ? none : table('Minhas exportações', ['Pedida', 'Andamento', 'Busca', 'Arquivo', 'Ação'], rows)}<p>${link(pathIn(slug, '/notas'), 'Voltar às notas')}</p>`,
  };
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

function describeProgress({ isRunning, data: { notas, total, bytes } }: Exportacao): string {
  if (bytes !== undefined) return `Pronta: ${countNotas(notas)}, ${groupDigits(Math.ceil(bytes / 1024))} kB`;
  if (!isRunning) return 'Falhou';
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

function exportPage(call: InMunicipio): PageShown {
  const one = findOwn(call);
  if (one === undefined) return NO_EXPORT;
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
    return html`${notice('bom', `${describeProgress(one)}. Fica aqui por uma hora.`)}<p>${downloadLink(slug, one)}</p>\n`;
  }
  if (!isRunning) return notice('erro', 'A exportação falhou. O motivo está no registro do serviço; peça de novo.');
  const share = total === undefined ? undefined : html` max="${String(total)}" value="${String(notas)}"`;
  return html`<p role="status">${describeProgress(one)}. Esta página se renova sozinha.</p>
<p><progress aria-label="Exportação em andamento"${share}></progress></p>`;
}

function exportFile(call: InMunicipio): Answer {
  const one = findOwn(call);
  if (one?.data.bytes === undefined) return NO_EXPORT;
  const { formato } = one.data;
  return { file: readExport(one), type: TYPES[formato], name: `notas-${call.slug}.${formato}` };
}

async function cancelExport(call: InMunicipio): Promise<Answer> {
  const one = findOwn(call);
  if (one === undefined) return NO_EXPORT;
  const recado = one.isRunning ? 'A exportação foi cancelada.' : 'A exportação foi apagada.';
  await call.world.exportacoes.discard(one);
  return { goTo: pathIn(call.slug, PATH), recado };
}

export const EXPORTACOES_ROUTES: readonly Row[] = [
  forRole('atendimento', 'GET', PATH, async (call) => listPage(call)),
  forRole('atendimento', 'POST', PATH, startExport),
  forRole('atendimento', 'GET', `${PATH}/:id`, async (call) => exportPage(call)),
  forRole('atendimento', 'GET', `${PATH}/:id/arquivo`, async (call) => exportFile(call)),
  forRole('atendimento', 'POST', `${PATH}/:id/cancelar`, cancelExport),
];

declare module '../../base/pages/visit.ts' {
  interface Trabalhos {
    readonly exportacoes: Exportacoes;
  }
}
