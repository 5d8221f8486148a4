/** Registers of a municipality: all of them, the lines of each, the form for one line, and the register as a file. */

import { carried, field, folded, form, link, momentOf, notice, table } from '../../base/pages/fields.ts';
import { carrySeen, findOvertaken, type Overtaken, takeOvertaken, tellOvertaken } from '../../base/pages/seen.ts';
import {
  type Answer,
  byHand,
  forRole,
  type InMunicipio,
  type PageShown,
  pathIn,
  type Row,
} from '../../base/pages/visit.ts';
import { mayAs } from '../../base/world/papeis.ts';
import { groupDigits } from '../../fiscal/group-digits.ts';
import { describeColumn, describeStored, REGISTERS } from '../../fiscal/registers.ts';
import { type Html, html, type Inserted } from '../../published/site/page-shell.ts';
import { formTokenOf } from '../contas/entrada.ts';
import { type LinhaDoRegistro, linesOf, type ProblemasDaLinha, removeLine, saveLine } from './editar.ts';
import { showAliquotas } from './import-aliquotas.ts';
import { exportRegistro, isRegistro, lastImport, REGISTROS, type RegistroNome, undoImport } from './registros.ts';

export const HERE = 'cadastros';
const PAGE = 100;

type Lista = Exclude<RegistroNome, 'prestadores'>;

export const NO_REGISTRO: PageShown = {
  title: 'Cadastro',
  here: HERE,
  status: 404,
  main: html`<p>Não há um cadastro com este nome.</p>`,
};

const listPath = (nome: RegistroNome): string =>
  nome === 'prestadores' ? '/cadastros/prestadores' : `/cadastros/lista/${nome}`;

/** The list that `:registro` of the address names. */
function listaOf({ params }: InMunicipio): Lista | undefined {
  const nome = params['registro']!;
  return isRegistro(nome) && nome !== 'prestadores' ? nome : undefined;
}

async function indexPage({ slug }: InMunicipio): Promise<PageShown> {
  const cards = (Object.keys(REGISTROS) as RegistroNome[]).map(
    (nome) =>
      html`<div class="cartao">${link(pathIn(slug, listPath(nome)), REGISTROS[nome].titulo)}<p>${REGISTERS[nome].sobre}</p></div>\n`,
  );
  return {
    title: 'Cadastros',
    here: HERE,
    main: html`<div class="cartoes">
${cards}<div class="cartao">${link(pathIn(slug, '/cadastros/aliquotas'), 'Alíquotas do IBS e da CBS')}<p>A tabela nacional, de todos os municípios deste serviço.</p></div>
</div>
`,
  };
}

/** Actions on a register as a whole. */
export async function wholeActions(call: InMunicipio, nome: RegistroNome): Promise<Html> {
  const { world, slug, papel, visitor } = call;
  const mayChange = mayAs(papel, 'operacao');
  const last = mayChange ? await lastImport(world, nome, slug) : undefined;
  const undo =
    last === undefined
      ? undefined
      : folded(
          'Desfazer a última importação',
          html`<p>${last.arquivo}, por ${last.quem}, em ${momentOf(last.em)}. O cadastro volta ao que era antes dela. Se alguém mudou depois alguma das linhas, nada é desfeito, e se diz quais.</p>
${form({
  action: pathIn(slug, `/cadastros/desfazer/${nome}`),
  token: formTokenOf(visitor),
  fields: field({ name: 'motivo', label: 'Motivo', help: 'Fica no histórico.', required: true }),
  button: 'Desfazer a importação',
  isGrave: true,
})}`,
        );
  return html`<p class="botoes">${mayChange ? html`<a class="botao simples" href="${pathIn(slug, `/cadastros/importar/${nome}`)}">Importar um arquivo</a> ` : undefined}${mayAs(papel, 'atendimento') ? html`<a class="botao simples" href="${pathIn(slug, `/cadastros/exportar/${nome}`)}" download>Exportar (CSV)</a>` : undefined}</p>
${undo}`;
}

async function listPage(call: InMunicipio): Promise<PageShown> {
  const nome = listaOf(call);
  if (nome === undefined) return NO_REGISTRO;
  const { world, slug, query, papel } = call;
  const procurar = query.get('procurar') ?? '';
  const lines = await linesOf(world, nome, slug, procurar);
  const from = Math.max(0, Number(query.get('de')) || 0);
  const shown = lines.slice(from, from + PAGE);
  const { titulo } = REGISTROS[nome];
  const mayChange = mayAs(papel, 'operacao');
  const next = from + PAGE < lines.length ? String(from + PAGE) : undefined;
  return {
    title: titulo,
    here: HERE,
    main: html`<p>${REGISTERS[nome].sobre}</p>
${searchForm(procurar, 'Parte de qualquer coluna.')}${
  mayChange
    ? html`<p class="botoes"><a class="botao" href="${pathIn(slug, `/cadastros/linha/${nome}`)}">Nova linha</a></p>\n`
    : undefined
}${shown.length === 0 ? html`<p>Nenhuma linha${procurar === '' ? '' : ' assim'}.</p>\n` : listed(slug, nome, shown, mayChange)}${
  next === undefined
    ? undefined
    : html`<p class="botoes">${link(pathIn(slug, listPath(nome), { procurar, de: next }), `Mais linhas (${groupDigits(lines.length)} ao todo)`)}</p>\n`
}${await wholeActions(call, nome)}`,
  };
}

export function searchForm(procurar: string, help: string): Html {
  return html`<form method="get" role="search" class="busca">
<div class="procura">${field({ name: 'procurar', label: 'Procurar', type: 'search', value: procurar, help })}<button>Procurar</button></div>
</form>
`;
}

function listed(slug: string, nome: Lista, lines: readonly LinhaDoRegistro[], mayChange: boolean): Html {
  const used = REGISTROS[nome].order.filter((column) => lines.some(({ cells }) => cells[column] !== ''));
  const heads: Inserted[] = used.map((column) => describeColumn(nome, column).label);
  return table(
    REGISTROS[nome].titulo,
    mayChange ? [...heads, 'O que fazer'] : heads,
    lines.map(({ cells, id }) => {
      const row: Inserted[] = used.map((column) => describeStored(nome, column, cells[column]!));
      return mayChange ? [...row, link(pathIn(slug, `/cadastros/linha/${nome}`, { id }), 'Alterar')] : row;
    }),
  );
}

/** Fields of a line, column by column. */
export function columnFields(
  nome: RegistroNome,
  columns: readonly string[],
  cells: Readonly<Record<string, string>>,
  problems: Readonly<Record<string, string>>,
): Html {
  const { required } = REGISTROS[nome].columns;
  return html`${columns.map((column) => {
    const { mayBeEmpty = false, ...words } = describeColumn(nome, column);
    return field({
      ...words,
      name: column,
      value: cells[column],
      problem: problems[column],
      required: required.includes(column) && !mayBeEmpty,
    });
  })}`;
}

async function linePage(
  call: InMunicipio,
  { problems, perguntas = [] }: ProblemasDaLinha = { problems: {} },
  overtaken: readonly Overtaken[] = [],
): Promise<PageShown> {
  const nome = listaOf(call);
  if (nome === undefined) return NO_REGISTRO;
  const { world, slug, query, request, form: sent, visitor } = call;
  const isSent = request.method === 'POST';
  const id = (isSent ? sent.text('id') : query.get('id')) || undefined;
  const { order, titulo } = REGISTROS[nome];
  const known = id === undefined ? undefined : (await linesOf(world, nome, slug)).find((line) => line.id === id);
  if (id !== undefined && known === undefined && !isSent) return NO_REGISTRO;
  const written = Object.fromEntries(order.map((column) => [column, sent.text(column).trim()]));
  const cells = isSent ? takeOvertaken(written, overtaken) : (known?.cells ?? {});
  const action = pathIn(slug, `/cadastros/linha/${nome}`);
  const token = formTokenOf(visitor);
  const motivo = field({ name: 'motivo', label: 'Motivo', help: 'Fica no histórico.' });
  return {
    title: `${titulo}: ${id === undefined ? 'nova linha' : 'alterar'}`,
    here: HERE,
    ...(isSent ? { status: overtaken.length > 0 ? 409 : 422 } : {}),
    main: html`${problems[''] === undefined ? undefined : notice('erro', problems[''])}${tellOvertaken(
      overtaken,
      (name) => describeColumn(nome, name).label,
      (name, text) => describeStored(nome, name, text),
    )}${perguntas.map((one) => notice('aviso', one))}${form({
      action,
      token,
      fields: html`${known === undefined ? undefined : carrySeen(known.cells)}${carried([['id', id ?? ''], ...(perguntas.length > 0 ? ([['confirmado', 'sim']] as const) : [])])}${columnFields(nome, order, cells, problems)}${motivo}`,
      button: perguntas.length > 0 ? 'Gravar assim mesmo' : 'Gravar',
      beside: html` ${link(pathIn(slug, listPath(nome)), 'Voltar à lista')}`,
    })}${
      id === undefined
        ? undefined
        : folded(
            'Retirar esta linha',
            html`<p>As notas emitidas ficam como estão. Para que uma linha só deixe de valer, ponha nela uma data em "Vale até".</p>
${form({
  action: pathIn(slug, `/cadastros/retirar/${nome}`),
  token,
  fields: html`${carried([['id', id]])}${field({ name: 'motivo', label: 'Motivo', help: 'Fica no histórico.', of: 'retirar' })}`,
  button: 'Retirar a linha',
  isGrave: true,
})}`,
          )
    }`,
  };
}

async function saveSent(call: InMunicipio): Promise<Answer> {
  const nome = listaOf(call);
  if (nome === undefined) return NO_REGISTRO;
  const { world, slug, form: sent } = call;
  const cells = Object.fromEntries(REGISTROS[nome].order.map((column) => [column, sent.text(column).trim()]));
  const id = sent.text('id') || undefined;
  const known = id === undefined ? undefined : (await linesOf(world, nome, slug)).find((line) => line.id === id);
  const overtaken = known === undefined ? [] : findOvertaken(sent, known.cells);
  if (overtaken.length > 0) return linePage(call, { problems: {} }, overtaken);
  const asked = { id, confirmado: sent.text('confirmado') === 'sim' };
  const refused = await saveLine(world, nome, slug, cells, asked, byHand(call));
  if (refused !== undefined) return linePage(call, refused);
  return { goTo: pathIn(slug, listPath(nome)), recado: 'A linha foi gravada.' };
}

async function removeSent(call: InMunicipio): Promise<Answer> {
  const nome = listaOf(call);
  if (nome === undefined) return NO_REGISTRO;
  const { world, slug, form: sent } = call;
  const [id, motivo] = [sent.text('id'), sent.text('motivo')];
  const refused = await removeLine(
    world,
    nome,
    slug,
    { id, confirmado: sent.text('confirmado') === 'sim' },
    byHand(call),
  );
  if (refused !== undefined && 'perguntas' in refused) {
    const again = {
      action: pathIn(slug, `/cadastros/retirar/${nome}`),
      values: { id, motivo },
      button: 'Retirar a linha assim mesmo',
      back: pathIn(slug, `/cadastros/linha/${nome}`, { id }),
    };
    return { title: 'Retirar', here: HERE, status: 422, main: askAgain(call, refused.perguntas, again) };
  }
  if (refused !== undefined) {
    return { title: 'Retirar', here: HERE, status: 409, main: notice('erro', refused.problem) };
  }
  return { goTo: pathIn(slug, listPath(nome)), recado: 'A linha foi retirada.' };
}

type Again = {
  readonly action: string;
  readonly values: Readonly<Record<string, string>>;
  readonly button: string;
  readonly back: string;
};

/** The questions about a grave change, and the form that makes it all the same. */
export function askAgain(
  { visitor }: InMunicipio,
  perguntas: readonly string[],
  { action, values, button, back }: Again,
): Html {
  return html`${perguntas.map((one) => notice('aviso', one))}${form({
    action,
    token: formTokenOf(visitor),
    fields: carried(Object.entries({ ...values, confirmado: 'sim' })),
    button,
    isGrave: true,
    beside: html` ${link(back, 'Voltar sem retirar')}`,
  })}`;
}

async function undoSent(call: InMunicipio): Promise<Answer> {
  const { world, slug, params } = call;
  const nome = params['registro']!;
  if (!isRegistro(nome)) return NO_REGISTRO;
  const done = await undoImport(world, nome, slug, byHand(call));
  if ('problem' in done) {
    const back = html`<p>${link(pathIn(slug, listPath(nome)), 'Voltar ao cadastro')}</p>`;
    return { title: 'Desfazer', here: HERE, status: 409, main: html`${notice('erro', done.problem)}${back}` };
  }
  return {
    goTo: pathIn(slug, listPath(nome)),
    recado: `A importação foi desfeita: ${groupDigits(done.linhas)} linhas voltaram ao que eram.`,
  };
}

async function exportSent({ world, slug, params }: InMunicipio): Promise<Answer> {
  const nome = params['registro']!;
  if (!isRegistro(nome)) return NO_REGISTRO;
  return {
    file: exportRegistro(world, nome, slug),
    type: 'text/csv; charset=utf-8',
    name: `${nome}-${slug}.csv`,
  };
}

async function ratesPage({ world }: InMunicipio): Promise<PageShown> {
  const { versao, linhas, avisos } = await showAliquotas(world, 'painel');
  return {
    title: 'Alíquotas do IBS e da CBS',
    here: HERE,
    main: html`<p>Versão ${String(versao)} da tabela, que é nacional. Quem opera o serviço a importa por comando: <code>nfse aliquotas importar ARQUIVO</code>.</p>
${avisos.map((aviso) => notice('aviso', aviso))}${table(
  'Alíquotas em vigor',
  ['Tributo', 'Onde', 'cClassTrib', 'De', 'Até', 'Alíquota', 'Ato'],
  linhas.map(({ tributo, lugar, cClassTrib, inicio, fim, aliquota, ato }) => [
    tributo,
    lugar,
    cClassTrib,
    inicio,
    fim === '' ? 'em diante' : fim,
    aliquota.replace('.', ','),
    ato,
  ]),
  [5],
)}`,
  };
}

export const CADASTROS_ROUTES: readonly Row[] = [
  forRole('leitura', 'GET', '/cadastros', indexPage),
  forRole('leitura', 'GET', '/cadastros/aliquotas', ratesPage),
  forRole('leitura', 'GET', '/cadastros/lista/:registro', listPage),
  forRole('operacao', 'GET', '/cadastros/linha/:registro', (call) => linePage(call)),
  forRole('operacao', 'POST', '/cadastros/linha/:registro', saveSent),
  forRole('operacao', 'POST', '/cadastros/retirar/:registro', removeSent),
  forRole('operacao', 'POST', '/cadastros/desfazer/:registro', undoSent),
  forRole('atendimento', 'GET', '/cadastros/exportar/:registro', exportSent),
];
