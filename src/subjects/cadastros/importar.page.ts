/** Import of a register from a file: choice, preview, confirmation. */

import { createReadStream } from 'node:fs';
import { carried, field, folded, form, link, notice, table } from '../../base/pages/fields.ts';
import {
  type Answer,
  byHand,
  forRole,
  type InMunicipio,
  type PageShown,
  pathIn,
  type Row,
} from '../../base/pages/visit.ts';
import { needMotivo } from '../../base/world/operator.ts';
import { TOO_MANY, TOO_MANY_WAIT_S } from '../../base/world/trabalhos.ts';
import { documentoKind, dotCnpjsIn, dotDocumento, maskDocumento } from '../../fiscal/chave.ts';
import { groupDigits } from '../../fiscal/group-digits.ts';
import { brazilianDate, isDay } from '../../fiscal/moment.ts';
import { describeColumn, describeStored, REGISTERS } from '../../fiscal/registers.ts';
import { type Html, html, type Inserted } from '../../published/site/page-shell.ts';
import { formTokenOf } from '../contas/entrada.ts';
import { HERE, NO_REGISTRO } from './cadastros.page.ts';
import type { Heading } from './headings.ts';
import {
  beginImport,
  confirmImport,
  type Importacao,
  type Importacoes,
  matchHeadings,
  refusedFile,
} from './importar-arquivo.ts';
import {
  type Conta,
  describeMudanca,
  isRegistro,
  REGISTROS,
  type RegistroImported,
  type RegistroNome,
} from './registros.ts';

/** Larger than a million providers with their addresses. */
const FILE_MAX = 128 * 1024 * 1024;
/** Changes that the page shows; the rest is counted. */
const SHOWN_MAX = 200;

const registroPath = (nome: RegistroNome): string =>
  nome === 'prestadores' ? '/cadastros/prestadores' : `/cadastros/lista/${nome}`;

async function choosePage(call: InMunicipio, problem?: string): Promise<PageShown> {
  const { slug, params, visitor } = call;
  const nome = params['registro']!;
  if (!isRegistro(nome)) return NO_REGISTRO;
  const { titulo, columns, order, isWhole } = REGISTROS[nome];
  return {
    title: `Importar: ${titulo}`,
    here: HERE,
    ...(problem === undefined ? {} : { status: 422 }),
    main: html`<p>${REGISTERS[nome].sobre} ${
      isWhole
        ? 'O arquivo é o cadastro inteiro: o que não está nele sai.'
        : 'O que o arquivo nomeia fica como ele diz; o que ele não nomeia fica como está.'
    } Antes de gravar, mostra-se o que mudaria.</p>
${form({
  action: pathIn(slug, `/cadastros/importar/${nome}`),
  token: formTokenOf(visitor),
  hasFiles: true,
  fields: field({
    name: 'arquivo',
    label: 'Arquivo',
    type: 'file',
    problem,
    required: true,
    help: 'Uma planilha (.xlsx, .ods ou .xls: vale a primeira aba) ou um CSV, como o sistema da prefeitura o exporta.',
  }),
  button: 'Ver o que mudaria',
})}${folded(
  'Colunas do arquivo',
  table(
    'Colunas, em qualquer ordem. Nomes parecidos (CNPJ, Razão Social) são reconhecidos, e os outros se perguntam',
    ['Coluna', 'O que é', 'Precisa vir'],
    order.map((column) => {
      const { label, help } = describeColumn(nome, column);
      return [
        html`<code>${column}</code>`,
        help === undefined ? label : `${label}. ${help}`,
        columns.required.includes(column) ? 'sim' : 'não',
      ];
    }),
  ),
  true,
)}`,
  };
}

async function sendFile(call: InMunicipio): Promise<Answer> {
  const { world, slug, params, form: sent, visitor } = call;
  const nome = params['registro']!;
  if (!isRegistro(nome)) return NO_REGISTRO;
  const file = sent.file('arquivo');
  if (file === undefined) return choosePage(call, 'Escolha um arquivo.');
  const given = { nome: file.name, conteudo: file.content };
  const one = await beginImport(world, slug, visitor.conta.login, nome, given);
  if (one === undefined) return BUSY;
  return { goTo: pathIn(slug, `/cadastros/importacao/${one.id}`) };
}

const BUSY: PageShown = {
  title: 'Importação',
  here: HERE,
  status: 429,
  waitS: TOO_MANY_WAIT_S,
  main: notice('erro', TOO_MANY),
};

const GONE: PageShown = {
  title: 'Importação',
  here: HERE,
  status: 404,
  main: html`<p>Esta importação não existe mais: a prévia fica por uma hora, e acaba com o serviço. Envie o arquivo de novo.</p>`,
};

function importOf({ world, slug, visitor, params }: InMunicipio): Importacao | undefined {
  return world.importacoes.find(slug, visitor.conta.login, params['id']!);
}

async function importPage(call: InMunicipio, missing?: string): Promise<PageShown> {
  const one = importOf(call);
  if (one === undefined) return GONE;
  const { slug } = call;
  const { isRunning, data, hasFailed } = one;
  const { registro, problema, previa, feito } = data;
  const title = `Importar: ${REGISTROS[registro].titulo}`;
  if (isRunning) return { title, here: HERE, refreshS: 1, main: progressShown(one) };
  const again = html`<p>${link(pathIn(slug, `/cadastros/importar/${registro}`), 'Enviar outro arquivo')}</p>`;
  if (hasFailed || problema !== undefined) {
    const said =
      problema ?? 'A importação falhou, e nada foi gravado. O motivo está no registro do serviço; tente de novo.';
    return { title, here: HERE, main: html`${notice('erro', said)}${again}` };
  }
  if (data.cabecalho !== undefined)
    return { title, here: HERE, main: html`${matchForm(call, one, data.cabecalho)}${again}` };
  if (feito?.counts !== undefined) return { title, here: HERE, main: doneShown(slug, one, feito) };
  if (feito !== undefined || previa === undefined) {
    return { title, here: HERE, main: html`${notice('erro', 'Nada foi gravado: nenhuma linha é boa.')}${again}` };
  }
  return {
    title,
    here: HERE,
    ...(missing === undefined ? {} : { status: 422 }),
    main: html`${previaShown(call, one, previa, missing)}${again}`,
  };
}

/** The headings of the file, each with a choice of columns. */
function matchForm({ slug, visitor }: InMunicipio, { id, data }: Importacao, headings: readonly Heading[]): Html {
  const { order, columns } = REGISTROS[data.registro];
  const choices = [
    ['', 'não usar'] as const,
    ...order.map((column) => [column, describeColumn(data.registro, column).label] as const),
  ];
  const needed = columns.required.map((column) => describeColumn(data.registro, column).label).join(', ');
  return html`${notice('aviso', 'Diga o que é cada coluna do arquivo. As que se reconheceram já vêm escolhidas.')}<p>Precisam vir: ${needed}.</p>
${form({
  action: pathIn(slug, `/cadastros/importacao/${id}/colunas`),
  token: formTokenOf(visitor),
  fields: html`${headings.map(({ texto, column }, place) =>
    field({
      name: 'coluna',
      of: String(place),
      label: texto === '' ? `Coluna ${place + 1}, sem nome` : texto,
      value: column ?? '',
      choices,
      required: true,
    }),
  )}`,
  button: 'Ver o que mudaria',
})}`;
}

async function matchSent(call: InMunicipio): Promise<Answer> {
  const one = importOf(call);
  if (one === undefined) return GONE;
  const chosen = call.form.texts('coluna');
  const headings = one.data.cabecalho ?? [];
  const colunas = Object.fromEntries(headings.map(({ texto }, place) => [texto, chosen[place] ?? '']));
  if (!matchHeadings(call.world, one, colunas)) return BUSY;
  return { goTo: pathIn(call.slug, `/cadastros/importacao/${one.id}`) };
}

function progressShown({ data: { progresso, nome } }: Importacao): Html {
  if (progresso === undefined || progresso.etapa !== 'lendo') {
    const what = progresso?.etapa === 'gravando' ? 'Gravando' : 'Conferindo';
    return html`<p role="status">${what} ${nome}. Esta página se renova sozinha.</p><progress aria-label="${what}"></progress>`;
  }
  const { bytes, bytesTotal, linhas } = progresso;
  return html`<p role="status">Lendo ${nome}: ${groupDigits(linhas)} linhas até agora. Esta página se renova sozinha.</p>
<progress aria-label="Leitura do arquivo" value="${String(bytes)}" max="${String(bytesTotal)}"></progress>`;
}

function countsTable(caption: string, contas: readonly Conta[]): Html {
  return table(
    caption,
    ['', 'Novos', 'Mudam', 'Iguais', 'Saem'],
    contas.map(({ de, novos, alterados, iguais, retirados }) => [
      de,
      ...[novos, alterados, iguais, retirados].map(groupDigits),
    ]),
    [1, 2, 3, 4],
  );
}

function refusedShown(slug: string, id: string, { recusadas, primeiras, linhas, counts }: RegistroImported): Inserted {
  if (recusadas === 0) return undefined;
  const file = pathIn(slug, `/cadastros/importacao/${id}/recusadas`);
  const rest = recusadas - primeiras.length;
  const isDone = counts !== undefined;
  const said = `${recusadas === 1 ? '1 linha' : `${groupDigits(recusadas)} linhas`} de ${groupDigits(linhas)} não ${recusadas === 1 ? 'serve' : 'servem'}.`;
  return html`<h2>Linhas recusadas</h2>
${isDone ? notice('aviso', `${said} Não ${recusadas === 1 ? 'foi gravada' : 'foram gravadas'}: corrija e envie só ${recusadas === 1 ? 'ela' : 'elas'}.`) : notice('erro', `${said} Corrija e envie de novo, ou grave as demais.`)}<p class="botoes"><a class="botao simples" href="${file}" download>Baixar as linhas recusadas (CSV)</a></p>
<p class="quieto">O arquivo traz só elas, com o motivo de cada uma. Corrigido, envie-o como os outros.</p>
${table(
  'Linhas recusadas, com o motivo',
  ['Linha', 'Motivo'],
  primeiras.map(({ linha, motivo }) => [groupDigits(linha), motivo]),
  [0],
)}${rest > 0 ? html`<p class="quieto">E mais ${groupDigits(rest)}.</p>\n` : undefined}`;
}

function previaShown(
  { slug, visitor }: InMunicipio,
  { id, data }: Importacao,
  outcome: RegistroImported,
  problem?: string,
): Html {
  const { previa, recusadas, linhas, reparos, perguntas } = outcome;
  const { nome, registro } = data;
  const read = html`<p>${nome}: ${groupDigits(linhas)} linhas lidas. <b>Nada foi gravado ainda.</b></p>`;
  if (previa === undefined) return html`${read}${refusedShown(slug, id, outcome)}`;
  const { counts, mudancas } = previa;
  const isNothing = counts.every(({ novos, alterados, retirados }) => novos + alterados + retirados === 0);
  const confirm = form({
    action: pathIn(slug, `/cadastros/importacao/${id}/gravar`),
    token: formTokenOf(visitor),
    fields: html`${carried(recusadas > 0 ? [['parcial', 'sim']] : [])}${field({ name: 'motivo', label: 'Motivo', help: 'Fica no histórico.', required: perguntas.length > 0, problem })}`,
    button: `${recusadas === 0 ? 'Gravar' : 'Gravar as linhas boas'}${perguntas.length > 0 ? ' assim mesmo' : ''}`,
  });
  const isPossible = !isNothing && (recusadas === 0 || REGISTROS[registro].isWhole !== true);
  return html`${read}${countsTable('O que mudaria', counts)}${perguntas.map((one) => notice('erro', one))}${reparos.map((one) => notice('aviso', one))}${
    isNothing ? notice('bom', 'O cadastro já está assim: não há o que gravar.') : undefined
  }${isPossible ? confirm : undefined}${refusedShown(slug, id, outcome)}${changesShown(registro, mudancas, counts)}`;
}

const ACOES = { novo: 'novo', muda: 'muda', sai: 'sai' } as const;

function changesShown(
  registro: RegistroNome,
  mudancas: readonly Parameters<typeof describeMudanca>[0][],
  counts: readonly Conta[],
): Inserted {
  if (mudancas.length === 0) return undefined;
  const all = counts.reduce((sum, { novos, alterados, retirados }) => sum + novos + alterados + retirados, 0);
  // Changed and deleted rows come before new ones.
  const order = ['muda', 'sai', 'novo'];
  const told = mudancas
    .map(describeMudanca)
    .sort((one, other) => order.indexOf(one.acao) - order.indexOf(other.acao))
    .slice(0, SHOWN_MAX);
  const rest = all - told.length;
  return html`<h2>O que mudaria, linha a linha</h2>
${table(
  'Mudanças',
  ['', 'Qual', 'O que muda'],
  told.map(({ acao, quem, campos }) => [
    ACOES[acao],
    writeKey(quem),
    html`${campos.map(({ nome, ...values }) => {
      const [antes, depois] = [values.antes, values.depois].map((text) =>
        nome.startsWith('documento') ? writeKey(text) : dotCnpjsIn(describeStored(registro, nome, text)),
      );
      return html`${describeColumn(registro, nome).label}: ${
        acao === 'muda'
          ? html`<del>${antes || 'vazio'}</del> → <ins>${depois || 'vazio'}</ins>`
          : acao === 'novo'
            ? html`<ins>${depois}</ins>`
            : html`<del>${antes}</del>`
      }<br>`;
    })}`,
  ]),
)}${rest > 0 ? html`<p class="quieto">E mais ${groupDigits(rest)}.</p>\n` : undefined}`;
}

/** The key of a line: a CNPJ with its points, a masked CPF, and a day in the Brazilian form. */
function writeKey(text: string): string {
  return dotCnpjsIn(text)
    .split(' ')
    .map((word) =>
      isDay(word) ? brazilianDate(word) : documentoKind(word) === 'CPF' ? dotDocumento(maskDocumento(word)) : word,
    )
    .join(' ');
}

function doneShown(slug: string, { id, data: { registro, nome } }: Importacao, outcome: RegistroImported): Html {
  return html`${notice('bom', `${nome} foi importado.`)}${countsTable('O que mudou', outcome.counts!)}${refusedShown(slug, id, outcome)}<p>${link(pathIn(slug, registroPath(registro)), 'Ver o cadastro')}, onde a importação também se desfaz.</p>`;
}

async function confirmSent(call: InMunicipio): Promise<Answer> {
  const one = importOf(call);
  if (one === undefined) return GONE;
  // An import that notes contradict is stored with a reason.
  const isAsked = (one.data.previa?.perguntas.length ?? 0) > 0;
  const read = isAsked ? needMotivo(byHand(call)) : undefined;
  if (read !== undefined && 'problem' in read) return importPage(call, read.problem);
  if (!confirmImport(call.world, one, call.form.text('parcial') === 'sim', byHand(call))) return BUSY;
  return { goTo: pathIn(call.slug, `/cadastros/importacao/${one.id}`) };
}

async function refusedSent(call: InMunicipio): Promise<Answer> {
  const one = importOf(call);
  if (one === undefined || one.isRunning || (one.data.previa?.recusadas ?? 0) === 0) return GONE;
  const file = createReadStream(refusedFile(one), 'utf8');
  return { file, type: 'text/csv; charset=utf-8', name: `recusadas-${one.data.registro}.csv` };
}

export const CADASTRO_IMPORTAR_ROUTES: readonly Row[] = [
  forRole('operacao', 'GET', '/cadastros/importar/:registro', (call) => choosePage(call)),
  forRole('operacao', 'POST', '/cadastros/importar/:registro', sendFile, FILE_MAX),
  forRole('operacao', 'GET', '/cadastros/importacao/:id', (call) => importPage(call)),
  forRole('operacao', 'POST', '/cadastros/importacao/:id/gravar', confirmSent),
  forRole('operacao', 'POST', '/cadastros/importacao/:id/colunas', matchSent),
  forRole('operacao', 'GET', '/cadastros/importacao/:id/recusadas', refusedSent),
];

declare module '../../base/pages/visit.ts' {
  interface Trabalhos {
    readonly importacoes: Importacoes;
  }
}
