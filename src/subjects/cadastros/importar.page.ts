/** Import of a register from a file: choice, preview, confirmation. */

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
import { TOO_MANY } from '../../base/world/trabalhos.ts';
import { groupDigits } from '../../fiscal/group-digits.ts';
import { describeColumn, REGISTERS } from '../../fiscal/registers.ts';
import { type Html, html, type Inserted } from '../../published/site/page-shell.ts';
import { formTokenOf } from '../contas/entrada.ts';
import { HERE, NO_REGISTRO } from './cadastros.page.ts';
import { beginImport, confirmImport, type Importacao, type Importacoes } from './importar-arquivo.ts';
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
    label: 'Arquivo CSV',
    type: 'file',
    problem,
    required: true,
    help: 'De uma planilha: "Salvar como CSV". Vírgula ou ponto e vírgula, UTF-8 ou a codificação do Windows.',
  }),
  button: 'Ver o que mudaria',
})}${folded(
  'Colunas do arquivo',
  table(
    'Colunas, com estes nomes na primeira linha, em qualquer ordem',
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

const BUSY: PageShown = { title: 'Importação', here: HERE, status: 429, main: notice('erro', TOO_MANY) };

const GONE: PageShown = {
  title: 'Importação',
  here: HERE,
  status: 404,
  main: html`<p>Esta importação não existe mais: a prévia fica por uma hora, e acaba com o serviço. Envie o arquivo de novo.</p>`,
};

function importOf({ world, slug, visitor, params }: InMunicipio): Importacao | undefined {
  return world.importacoes.find(slug, visitor.conta.login, params['id']!);
}

async function importPage(call: InMunicipio): Promise<PageShown> {
  const one = importOf(call);
  if (one === undefined) return GONE;
  const { slug } = call;
  const { isRunning, data, hasFailed } = one;
  const { registro, nome, problema, previa, feito } = data;
  const title = `Importar: ${REGISTROS[registro].titulo}`;
  if (isRunning) return { title, here: HERE, refreshS: 1, main: progressShown(one) };
  const again = html`<p>${link(pathIn(slug, `/cadastros/importar/${registro}`), 'Enviar outro arquivo')}</p>`;
  if (hasFailed || problema !== undefined) {
    const said =
      problema ?? 'A importação falhou, e nada foi gravado. O motivo está no registro do serviço; tente de novo.';
    return { title, here: HERE, main: html`${notice('erro', said)}${again}` };
  }
  if (feito?.counts !== undefined) return { title, here: HERE, main: doneShown(slug, registro, nome, feito) };
  if (feito !== undefined || previa === undefined) {
    return { title, here: HERE, main: html`${notice('erro', 'Nada foi gravado: nenhuma linha é boa.')}${again}` };
  }
  return { title, here: HERE, main: html`${previaShown(call, one, previa)}${again}` };
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

function refusedShown({ recusadas, primeiras, linhas }: RegistroImported): Inserted {
  if (recusadas === 0) return undefined;
  const rest = recusadas - primeiras.length;
  return html`<h2>Linhas recusadas</h2>
${notice('erro', `${recusadas === 1 ? '1 linha' : `${groupDigits(recusadas)} linhas`} de ${groupDigits(linhas)} não ${recusadas === 1 ? 'serve' : 'servem'}. Corrija no arquivo e envie de novo, ou grave as demais.`)}${table(
  'Linhas recusadas, com o motivo',
  ['Linha', 'Motivo'],
  primeiras.map(({ linha, motivo }) => [groupDigits(linha), motivo]),
  [0],
)}${rest > 0 ? html`<p class="quieto">E mais ${groupDigits(rest)}.</p>\n` : undefined}`;
}

function previaShown({ slug, visitor }: InMunicipio, { id, data }: Importacao, outcome: RegistroImported): Html {
  const { previa, recusadas, linhas, reparos } = outcome;
  const { nome, registro } = data;
  const read = html`<p>${nome}: ${groupDigits(linhas)} linhas lidas. <b>Nada foi gravado ainda.</b></p>`;
  if (previa === undefined) return html`${read}${refusedShown(outcome)}`;
  const { counts, mudancas } = previa;
  const isNothing = counts.every(({ novos, alterados, retirados }) => novos + alterados + retirados === 0);
  const confirm = form({
    action: pathIn(slug, `/cadastros/importacao/${id}/gravar`),
    token: formTokenOf(visitor),
    fields: html`${carried(recusadas > 0 ? [['parcial', 'sim']] : [])}${field({ name: 'motivo', label: 'Motivo', help: 'Fica na trilha.' })}`,
    button: recusadas === 0 ? 'Gravar' : 'Gravar as linhas boas',
  });
  const isPossible = !isNothing && (recusadas === 0 || REGISTROS[registro].isWhole !== true);
  return html`${read}${countsTable('O que mudaria', counts)}${reparos.map((one) => notice('aviso', one))}${
    isNothing ? notice('bom', 'O cadastro já está assim: não há o que gravar.') : undefined
  }${isPossible ? confirm : undefined}${refusedShown(outcome)}${changesShown(registro, mudancas, counts)}`;
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
    quem,
    html`${campos.map(({ nome, antes, depois }) => html`${describeColumn(registro, nome).label}: <del>${antes || 'vazio'}</del> → <ins>${depois || 'vazio'}</ins><br>`)}`,
  ]),
)}${rest > 0 ? html`<p class="quieto">E mais ${groupDigits(rest)}.</p>\n` : undefined}`;
}

function doneShown(slug: string, registro: RegistroNome, nome: string, outcome: RegistroImported): Html {
  return html`${notice('bom', `${nome} foi importado.`)}${countsTable('O que mudou', outcome.counts!)}${refusedShown(outcome)}<p>${link(pathIn(slug, registroPath(registro)), 'Ver o cadastro')}, onde a importação também se desfaz.</p>`;
}

async function confirmSent(call: InMunicipio): Promise<Answer> {
  const one = importOf(call);
  if (one === undefined) return GONE;
  if (!confirmImport(call.world, one, call.form.text('parcial') === 'sim', byHand(call))) return BUSY;
  return { goTo: pathIn(call.slug, `/cadastros/importacao/${one.id}`) };
}

export const CADASTRO_IMPORTAR_ROUTES: readonly Row[] = [
  forRole('operacao', 'GET', '/cadastros/importar/:registro', (call) => choosePage(call)),
  forRole('operacao', 'POST', '/cadastros/importar/:registro', sendFile, FILE_MAX),
  forRole('operacao', 'GET', '/cadastros/importacao/:id', importPage),
  forRole('operacao', 'POST', '/cadastros/importacao/:id/gravar', confirmSent),
];

declare module '../../base/pages/visit.ts' {
  interface Trabalhos {
    readonly importacoes: Importacoes;
  }
}
