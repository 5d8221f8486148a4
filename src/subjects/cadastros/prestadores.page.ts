/** Providers of a municipality: the list, one of them, and the actions on it. */

import {
  carried,
  facts,
  field,
  folded,
  form,
  keepDocumentos,
  link,
  mark,
  nextPage,
  notice,
  table,
} from '../../base/pages/fields.ts';
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
import { showDocumento, whyNoDocumento } from '../../fiscal/chave.ts';
import { ENDERECO_NAO_INFORMADO } from '../../fiscal/facts.ts';
import { brazilianDate } from '../../fiscal/moment.ts';
import { describeColumn, PRESTADORES } from '../../fiscal/registers.ts';
import { type Html, html } from '../../published/site/page-shell.ts';
import { actsTable } from '../auditoria/trilha.page.ts';
import { listTrilha } from '../auditoria/trilha.ts';
import { formTokenOf } from '../contas/entrada.ts';
import { askAgain, columnFields, HERE, searchForm, wholeActions } from './cadastros.page.ts';
import { savePrestador } from './editar.ts';
import { type AcaoDePrestador, listPrestadores, operatePrestador, type PrestadorListado } from './prestadores.ts';
import { REGISTROS } from './registros.ts';

const PATH = '/cadastros/prestadores';
const pathOf = (documento: string): string => `/cadastros/prestador/${documento}`;

async function listPage(call: InMunicipio): Promise<PageShown> {
  const { world, slug, query, papel } = call;
  const procurar = query.get('procurar') ?? '';
  const situacao = query.get('situacao') ?? '';
  const autorizado = situacao === 'bloqueados' ? false : undefined;
  const depois = query.get('depois') ?? undefined;
  const { prestadores, seguinte } = await listPrestadores(world, slug, { texto: procurar, autorizado }, depois);
  return {
    title: 'Prestadores',
    here: HERE,
    main: html`<p>${PRESTADORES.sobre}</p>
${searchForm(procurar, 'CNPJ, CPF, inscrição municipal, ou parte do nome.')}<p class="botoes">${
      mayAs(papel, 'operacao')
        ? html`<a class="botao" href="${pathIn(slug, `${PATH}/novo`)}">Novo prestador</a> `
        : undefined
    }${link(pathIn(slug, PATH, situacao === '' ? { procurar, situacao: 'bloqueados' } : { procurar }), situacao === '' ? 'Só os bloqueados' : 'Todos')}</p>
${prestadores.length === 0 ? html`<p>Nenhum prestador assim. Confira o que escreveu.</p>\n` : listed(slug, prestadores)}${nextPage(slug, PATH, { procurar, situacao }, seguinte, 'Mais prestadores')}${await wholeActions(call, 'prestadores')}`,
  };
}

function situationOf({ autorizado }: Pick<PrestadorListado, 'autorizado'>): Html {
  return autorizado ? mark({ nome: 'autorizado', tom: 'bom' }) : mark({ nome: 'bloqueado', tom: 'erro' });
}

function listed(slug: string, prestadores: readonly PrestadorListado[]): Html {
  return table(
    'Prestadores',
    ['Documento', 'Inscrição', 'Nome', 'Situação'],
    prestadores.map((one) => [
      link(pathIn(slug, pathOf(one.documento)), keepDocumentos(showDocumento(one.documento))),
      one.inscricao_municipal,
      one.razao_social,
      situationOf(one),
    ]),
  );
}

async function establishmentsOf({ world, slug, params }: InMunicipio): Promise<readonly PrestadorListado[]> {
  const documento = params['documento']!;
  if (whyNoDocumento(documento) !== undefined) return [];
  return (await listPrestadores(world, slug, { texto: documento })).prestadores;
}

const NOT_THERE: PageShown = {
  title: 'Prestador',
  here: HERE,
  status: 404,
  main: html`<p>Este documento não está no cadastro.</p>`,
};

async function onePage(call: InMunicipio, refused?: string): Promise<PageShown> {
  const found = await establishmentsOf(call);
  const [first] = found;
  if (first === undefined) return NOT_THERE;
  const { world, slug, papel, visitor } = call;
  const { documento, simples } = first;
  const mayChange = mayAs(papel, 'operacao');
  const trilha = await listTrilha(world, slug, { objeto: 'prestador', chave: documento });
  return {
    title: first.razao_social,
    here: HERE,
    ...(refused === undefined ? {} : { status: 409 }),
    main: html`${refused === undefined ? undefined : notice('erro', refused)}${facts([
      ['Documento', showDocumento(documento)],
      [
        'Simples Nacional',
        simples.length === 0
          ? 'nenhum período'
          : simples
              .map(
                ([inicio, fim]) =>
                  `de ${brazilianDate(inicio)} ${fim === null ? 'em diante' : `a ${brazilianDate(fim)}`}`,
              )
              .join('; '),
      ],
    ])}<p class="botoes">${link(pathIn(slug, '/notas', { prestador: documento }), 'Ver as notas deste prestador')}</p>
${found.map((one) => establishment(slug, one, mayChange))}${mayChange ? actionsOn(slug, found, formTokenOf(visitor)) : undefined}<h2>Histórico</h2>
${actsTable('atos' in trilha ? trilha.atos : [])}`,
  };
}

function establishment(slug: string, one: PrestadorListado, mayChange: boolean): Html {
  const { documento, inscricao_municipal: inscricao } = one;
  const address = isAddressMissing(one)
    ? 'não informado'
    : [one.logradouro, one.numero, one.complemento, one.bairro, `CEP ${one.cep}`].filter(Boolean).join(', ');
  return html`<h2>${inscricao === '' ? 'Sem inscrição municipal' : `Inscrição ${inscricao}`}</h2>
${facts([
  ['Situação', situationOf(one)],
  ['Nome', one.razao_social],
  ['Nome fantasia', one.nome_fantasia ?? undefined],
  ['Endereço', address],
  ['Telefone', one.fone ?? undefined],
  ['E-mail', one.email ?? undefined],
])}${mayChange ? html`<p class="botoes"><a class="botao simples" href="${pathIn(slug, `${pathOf(documento)}/alterar`, { inscricao })}">Alterar</a></p>\n` : undefined}`;
}

const ACOES: Readonly<
  Record<AcaoDePrestador, { readonly nome: string; readonly diz: string; readonly feito: string }>
> = {
  bloquear: {
    nome: 'Bloquear',
    diz: 'Em segundos, tudo o que ele enviar é recusado com E102. As notas que emitiu ficam como estão.',
    feito: 'O prestador foi bloqueado.',
  },
  desbloquear: {
    nome: 'Desbloquear',
    diz: 'Em segundos, ele pode emitir outra vez.',
    feito: 'O prestador pode emitir outra vez.',
  },
  retirar: {
    nome: 'Retirar do cadastro',
    diz: 'Para um cadastro feito por engano. O que ele enviar é recusado com E101. As notas que emitiu ficam.',
    feito: 'O prestador foi retirado do cadastro.',
  },
};

function actionsOn(slug: string, found: readonly PrestadorListado[], token: string | undefined): Html {
  const [{ documento }] = found as [PrestadorListado];
  const possible: AcaoDePrestador[] = [
    ...(found.some(({ autorizado }) => autorizado) ? (['bloquear'] as const) : []),
    ...(found.some(({ autorizado }) => !autorizado) ? (['desbloquear'] as const) : []),
    'retirar',
  ];
  const choices = [
    ['', 'todos'] as const,
    ...found.map(({ inscricao_municipal: im }) => [`=${im}`, im === '' ? 'o sem inscrição' : im] as const),
  ];
  return html`<h2>O que fazer</h2>
${possible.map((acao) =>
  folded(
    ACOES[acao].nome,
    html`<p>${ACOES[acao].diz}</p>
${form({
  action: pathIn(slug, `${pathOf(documento)}/${acao}`),
  token,
  fields: html`${found.length > 1 ? field({ name: 'inscricao', label: 'Estabelecimento', choices, required: true, of: acao }) : undefined}${field({ name: 'motivo', label: 'Motivo', help: 'Fica no histórico do prestador.', required: acao !== 'desbloquear', of: acao })}`,
  button: ACOES[acao].nome,
  isGrave: acao !== 'desbloquear',
})}`,
  ),
)}`;
}

const operate = (acao: AcaoDePrestador): Row =>
  forRole('operacao', 'POST', `/cadastros/prestador/:documento/${acao}`, async (call) => {
    const { world, slug, params, form: sent } = call;
    const chosen = sent.text('inscricao');
    const alvo = { documento: params['documento']!, inscricao: chosen === '' ? undefined : chosen.slice(1) };
    const asked = { acao, confirmado: sent.text('confirmado') === 'sim' };
    const done = await operatePrestador(world, slug, alvo, asked, byHand(call));
    if ('perguntas' in done) {
      const at = pathIn(slug, pathOf(params['documento']!));
      const values = { inscricao: chosen, motivo: sent.text('motivo') };
      const again = { action: `${at}/${acao}`, values, button: `${ACOES[acao].nome} assim mesmo`, back: at };
      return { title: ACOES[acao].nome, here: HERE, status: 422, main: askAgain(call, done.perguntas, again) };
    }
    if ('problem' in done) return onePage(call, done.problem);
    const goTo = pathIn(slug, acao === 'retirar' ? PATH : pathOf(params['documento']!));
    return { goTo, recado: ACOES[acao].feito };
  });

// Forms to change and to add a provider.

const PERIOD_COLUMNS = ['simples_inicio', 'simples_fim'];
const COLUMNS = REGISTROS.prestadores.order.filter((column) => !PERIOD_COLUMNS.includes(column));
/** Empty lines for new periods. */
const SPARE = 2;

/** The name under which the periods are compared. */
const PERIODS = 'simples';

/** The problems of a form, the values stored now, and the changes of others meanwhile. */
type Shown = {
  readonly problems?: Readonly<Record<string, string>>;
  readonly perguntas?: readonly string[];
  readonly stored?: Filled | undefined;
  readonly overtaken?: readonly Overtaken[];
};

/** All values of a form as texts. */
function seenOf({ cells, periods }: Filled): Readonly<Record<string, string>> {
  const given = periods.filter(([inicio, fim]) => inicio !== '' || fim !== '');
  return { ...cells, [PERIODS]: given.map((period) => period.join(' a ')).join('; ') };
}

type Filled = {
  readonly cells: Readonly<Record<string, string>>;
  readonly periods: readonly (readonly [inicio: string, fim: string])[];
};

function readForm({ form: sent }: InMunicipio): Filled {
  const cells = Object.fromEntries(COLUMNS.map((column) => [column, sent.text(column).trim()]));
  const fins = sent.texts('simples_fim');
  return {
    cells,
    periods: sent
      .texts('simples_inicio')
      .map((inicio, place) => [inicio.trim(), (fins[place] ?? '').trim()] as const)
      .filter((period) => period.some((day) => day !== '')),
  };
}

/** Whether the register has no address: each note then has the words that stand for one. */
function isAddressMissing({ logradouro, cep }: PrestadorListado): boolean {
  return logradouro === ENDERECO_NAO_INFORMADO.xLgr && cep === ENDERECO_NAO_INFORMADO.CEP;
}

function filledOf(one: PrestadorListado): Filled {
  const address = isAddressMissing(one) ? { logradouro: '', numero: '', bairro: '', cep: '' } : {};
  const texts: Readonly<Record<string, unknown>> = { ...one, ...address, autorizado: one.autorizado ? 'sim' : 'nao' };
  const cells = Object.fromEntries(COLUMNS.map((column) => [column, String(texts[column] ?? '')]));
  return { cells, periods: one.simples.map(([inicio, fim]) => [inicio, fim ?? '']) };
}

function editPage(
  { slug, visitor }: InMunicipio,
  { cells, periods }: Filled,
  isNew: boolean,
  { problems = {}, perguntas = [], stored, overtaken = [] }: Shown = {},
): PageShown {
  const spare = Array.from({ length: SPARE }, () => ['', ''] as const);
  const wrong = Object.keys(problems).length > 0;
  const fixed = ['documento', 'inscricao_municipal'];
  const action = isNew ? `${PATH}/novo` : `${pathOf(cells['documento']!)}/alterar`;
  return {
    title: isNew ? 'Novo prestador' : `Alterar ${cells['razao_social']}`,
    here: HERE,
    ...(wrong || perguntas.length > 0 ? { status: 422 } : overtaken.length > 0 ? { status: 409 } : {}),
    main: html`${tellOvertaken(overtaken, (name) => (name === PERIODS ? 'Simples Nacional' : describeColumn('prestadores', name).label))}${wrong ? notice('erro', problems[''] ?? 'Nada foi gravado. Veja o que está errado em cada campo.') : undefined}${perguntas.map((one) => notice('aviso', one))}${form(
      {
        action: pathIn(slug, action),
        token: formTokenOf(visitor),
        fields: html`${stored === undefined ? undefined : carrySeen(seenOf(stored))}${perguntas.length > 0 ? carried([['confirmado', 'sim']]) : undefined}${
          isNew
            ? undefined
            : html`${carried(fixed.map((column) => [column, cells[column]!]))}<p>${showDocumento(cells['documento']!)}${cells['inscricao_municipal'] === '' ? '' : `, inscrição ${cells['inscricao_municipal']}`}</p>`
        }${columnFields('prestadores', isNew ? COLUMNS : COLUMNS.filter((column) => !fixed.includes(column)), cells, problems)}<fieldset><legend>Simples Nacional</legend>
<p class="ajuda">Os períodos em que foi optante. Sem data em "até", o período continua.</p>
${PERIOD_COLUMNS.flatMap((column) => (problems[column] === undefined ? [] : [html`<p class="erro">${problems[column]}</p>`]))}${[
  ...periods,
  ...spare,
].map(
  ([inicio, fim], place) =>
    html`<div class="filtros">${field({ name: 'simples_inicio', label: 'De', type: 'date', value: inicio, of: String(place) })}${field({ name: 'simples_fim', label: 'Até', type: 'date', value: fim, of: String(place) })}</div>`,
)}</fieldset>
${field({ name: 'motivo', label: 'Motivo', help: 'Fica no histórico do prestador.' })}`,
        button: perguntas.length > 0 ? 'Gravar assim mesmo' : 'Gravar',
        beside: html` ${link(pathIn(slug, isNew ? PATH : pathOf(cells['documento']!)), 'Voltar')}`,
      },
    )}`,
  };
}

/** The establishment that a form changes. */
async function storedOf(call: InMunicipio): Promise<PrestadorListado | undefined> {
  const inscricao = call.form.text('inscricao_municipal').trim();
  return (await establishmentsOf(call)).find(({ inscricao_municipal: im }) => im === inscricao);
}

async function changePage(call: InMunicipio): Promise<PageShown> {
  const inscricao = call.query.get('inscricao') ?? '';
  const one = (await establishmentsOf(call)).find(({ inscricao_municipal: im }) => im === inscricao);
  return one === undefined ? NOT_THERE : editPage(call, filledOf(one), false, { stored: filledOf(one) });
}

const save =
  (isNew: boolean) =>
  async (call: InMunicipio): Promise<Answer> => {
    const { world, slug, params } = call;
    const filled = readForm(call);
    const cells = isNew ? filled.cells : { ...filled.cells, documento: params['documento']! };
    const periods = filled.periods.map(([inicio, fim]) => ({ inicio, fim }));
    const one = isNew ? undefined : await storedOf(call);
    const stored = one && filledOf(one);
    const overtaken = stored === undefined ? [] : findOvertaken(call.form, seenOf(stored));
    if (stored !== undefined && overtaken.length > 0) {
      const arePeriodsOurs = overtaken.every(({ name, seen }) => name !== PERIODS || seen !== seenOf(filled)[PERIODS]);
      const shown = {
        cells: takeOvertaken(cells, overtaken),
        periods: arePeriodsOurs ? filled.periods : stored.periods,
      };
      return editPage(call, shown, false, { stored, overtaken });
    }
    const asked = { isNew, confirmado: call.form.text('confirmado') === 'sim' };
    const refused = await savePrestador(world, slug, cells, periods, asked, byHand(call));
    if (refused !== undefined) return editPage(call, { ...filled, cells }, isNew, { ...refused, stored });
    const documento = cells['documento']!.replace(/[\s./-]/g, '').toUpperCase();
    return { goTo: pathIn(slug, pathOf(documento)), recado: 'O cadastro foi gravado.' };
  };

const NOTHING: Filled = { cells: {}, periods: [] };

export const PRESTADORES_ROUTES: readonly Row[] = [
  forRole('leitura', 'GET', PATH, listPage),
  forRole('operacao', 'GET', `${PATH}/novo`, async (call) => editPage(call, NOTHING, true)),
  forRole('operacao', 'POST', `${PATH}/novo`, save(true)),
  forRole('leitura', 'GET', '/cadastros/prestador/:documento', (call) => onePage(call)),
  forRole('operacao', 'GET', '/cadastros/prestador/:documento/alterar', changePage),
  forRole('operacao', 'POST', '/cadastros/prestador/:documento/alterar', save(false)),
  operate('bloquear'),
  operate('desbloquear'),
  operate('retirar'),
];
