/** Events that need attention: the list by problem, and one action on several of them, counted and confirmed. */

import { carried, choice, field, form, link, mark, notice, table } from '../../base/pages/fields.ts';
import { carrySeen, SEEN_FIELD, type Values } from '../../base/pages/seen.ts';
import {
  type Answer,
  byHand,
  forRole,
  type InMunicipio,
  type PageShown,
  pathIn,
  type Row,
} from '../../base/pages/visit.ts';
import { MOTIVO_MAX } from '../../base/world/operator.ts';
import { mayAs, type Papel } from '../../base/world/papeis.ts';
import { type Html, html, type Inserted } from '../../published/site/page-shell.ts';
import { findChanged, tellChanged } from '../contas/confirmacao.page.ts';
import { formTokenOf } from '../contas/entrada.ts';
import { reais } from '../notas/nota-lida.page.ts';
import { ESTADOS } from '../notas/palavras.page.ts';
import { foreseeEventos, type Operacao, operateEventos, type Previsto } from './operate.ts';
import { ATOS, countEventos, explainEvento, isOperacao, nameEstado, writtenMoment } from './palavras.page.ts';
import { arquivarEventos, type FiltroDeProblemas, listEventosComProblema, type Problemas } from './problem.ts';

const HERE = 'eventos';
const PATH = '/eventos';
/** Checkboxes of a page, and so events of one action, at most. */
const VARIOS_MAX = 50;

/** A filter in the form of a query. */
type Busca = Readonly<Record<'nota' | 'estado' | 'codigo' | 'partes', string>>;

function readBusca(text: (name: string) => string | null): Busca {
  const one = (name: keyof Busca): string => text(name)?.trim() ?? '';
  return { nota: one('nota'), estado: one('estado'), codigo: one('codigo'), partes: one('partes') };
}

function filtroOf({ nota, estado, codigo, partes }: Busca): FiltroDeProblemas {
  return {
    chave: nota.replace(/\s/g, '') || undefined,
    estado: estado || undefined,
    codigo: codigo || undefined,
    entrePartes: partes !== '',
  };
}

const EVENTO_ID = /^\d{1,18}$/;

async function listPage(call: InMunicipio): Promise<Answer> {
  const { world, slug, query, papel } = call;
  const procurado = (query.get('procurar') ?? '').replace(/\s/g, '');
  if (EVENTO_ID.test(procurado)) return { goTo: pathIn(slug, `/evento/${procurado}`) };
  const given = readBusca((name) => query.get(name));
  const busca = procurado === '' ? given : { ...given, nota: procurado };
  const asked = Number(query.get('pagina') ?? 1);
  const pagina = Number.isSafeInteger(asked) && asked > 0 ? asked : 1;
  const found = await listEventosComProblema(world, slug, filtroOf(busca), pagina);
  if ('problem' in found) {
    return { status: 422, title: 'Eventos', here: HERE, main: html`${notice('erro', found.problem)}${search(busca)}` };
  }
  return {
    title: 'Eventos',
    here: HERE,
    main: html`<p>Um evento é o que se registra numa nota depois de emitida: um cancelamento, uma rejeição, um bloqueio. Aqui estão os que pedem que
alguém da prefeitura olhe; os outros seguem sozinhos, e se veem na página da nota.</p>
${mayAs(papel, 'operacao') ? html`<p class="botoes"><a class="botao simples" href="${pathIn(slug, `${PATH}/oficio`)}">Registrar evento de ofício</a></p>\n` : undefined}${search(busca)}${kinds(slug, busca, found)}${lines(call, busca, found)}`,
  };
}

function search({ nota }: Busca): Html {
  return html`<form method="get" class="procura" role="search">
${field({
  name: 'procurar',
  label: 'Chave da nota ou número do evento',
  type: 'search',
  value: nota,
})}<button>Procurar</button></form>
`;
}

/** The number of each kind, with a link to that kind alone. */
function kinds(slug: string, busca: Busca, { resumo, entre_partes }: Problemas): Html {
  const isFiltered = Object.values(busca).some((one) => one !== '');
  const all = isFiltered ? html`<p>${link(pathIn(slug, PATH), 'Ver todos os que pedem atenção')}</p>\n` : undefined;
  const rows = resumo.map(({ estado, codigo_retorno, eventos, notas }) => {
    const to = { ...busca, estado, codigo: codigo_retorno ?? undefined };
    const name = codigo_retorno === null ? nameEstado(estado) : `${nameEstado(estado)} (${codigo_retorno})`;
    return [link(pathIn(slug, PATH, to), name), String(eventos), String(notas)];
  });
  const between =
    entre_partes === 0
      ? undefined
      : html`<p>Fora da lista, ${link(pathIn(slug, PATH, { partes: '1' }), `${countEventos(entre_partes)}`)} que o ADN recusou por causa do que a outra parte da
nota registrou antes: é assunto delas, e aqui se arquiva.</p>\n`;
  if (rows.length === 0) {
    const none = isFiltered ? 'Nenhum evento com este filtro.' : 'Nenhum evento pede atenção.';
    return html`${all}${notice('bom', none)}${between}`;
  }
  return html`${all}${table('O que há, por problema', ['Problema', 'Eventos', 'Notas'], rows, [1, 2])}${between}`;
}

function lines(call: InMunicipio, busca: Busca, found: Problemas): Inserted {
  const { slug, papel } = call;
  const { eventos, pagina, paginas } = found;
  if (eventos.length === 0) return undefined;
  const may = Object.entries(ATOS).filter(([, ato]) => mayAs(papel, ato.papel));
  const rows = eventos.map((evento) => {
    const { id_evento, quantos, chave_acesso } = evento;
    const box = html`<input type="checkbox" name="id" value="${String(id_evento)}" aria-label="Escolher o evento ${String(id_evento)}">`;
    const others =
      quantos > 1
        ? html`<br><small>${link(pathIn(slug, PATH, { ...busca, nota: chave_acesso }), `e mais ${quantos - 1} iguais na mesma nota`)}</small>`
        : undefined;
    return [
      ...(may.length === 0 ? [] : [box]),
      html`${link(pathIn(slug, `/evento/${id_evento}`), String(id_evento))}`,
      html`${evento.descricao_evento}${others}`,
      mark(explainEvento(evento)),
      html`${evento.codigo_retorno ?? ''}<br><small>${evento.mensagem_retorno ?? ''}</small>`,
      writtenMoment(evento.data_hora_evento),
      link(pathIn(slug, `/notas/${chave_acesso}`), html`<code>${chave_acesso}</code>`),
    ];
  });
  const head = ['Evento', 'O que é', 'Como está', 'O que o ADN respondeu', 'Registrado em', 'Nota'];
  const list = table(
    'Eventos que pedem atenção, os mais graves primeiro',
    may.length === 0 ? head : ['Escolher', ...head],
    rows,
  );
  const pages = [
    pagina > 1 ? link(pathIn(slug, PATH, { ...busca, pagina: String(pagina - 1) }), 'Página anterior') : undefined,
    paginas > 1 ? html`<span>Página ${String(pagina)} de ${String(paginas)}</span>` : undefined,
    pagina < paginas
      ? link(pathIn(slug, PATH, { ...busca, pagina: String(pagina + 1) }), 'Página seguinte')
      : undefined,
  ];
  const nav = paginas > 1 ? html`<p class="botoes">${pages}</p>\n` : undefined;
  if (may.length === 0) return html`${list}${nav}`;
  return html`<form method="get" action="${pathIn(slug, `${PATH}/varios`)}">
${list}${choice({
  name: 'operacao',
  legend: 'Com os escolhidos',
  choices: may.map(([operacao, { botao, faz }]) => [operacao, html`<b>${botao}</b>. ${faz}`]),
})}<p class="botoes"><button>Continuar</button></p>
</form>
${nav}${archiveAll(call, busca, found)}`;
}

/** All refusals of a kind are filed at once, beyond the present page. */
function archiveAll({ slug, papel }: InMunicipio, busca: Busca, { resumo }: Problemas): Inserted {
  const refused = resumo.filter(({ estado }) => estado === 'rejeitado').reduce((sum, { eventos }) => sum + eventos, 0);
  const isNarrow = busca.nota !== '' || busca.codigo !== '' || busca.partes !== '';
  if (!mayAs(papel, 'operacao') || !isNarrow || refused < 2) return undefined;
  const to = pathIn(slug, `${PATH}/arquivar`, busca);
  return html`<p>${link(to, `Arquivar de uma vez as ${refused.toLocaleString('pt-BR')} recusas deste filtro`)}</p>\n`;
}

// One action on several events.

function idsOf(values: readonly string[]): readonly string[] {
  return [...new Set(values.filter((one) => EVENTO_ID.test(one)))].slice(0, VARIOS_MAX);
}

function confirmPage(call: InMunicipio): Promise<Answer> {
  const operacao = call.query.get('operacao') ?? '';
  return askVarios(call, isOperacao(operacao) ? operacao : undefined, idsOf(call.query.getAll('id')));
}

/** The events and their notes, to be confirmed. */
async function askVarios(
  call: InMunicipio,
  operacao: Operacao | undefined,
  ids: readonly string[],
): Promise<PageShown> {
  const { world, slug, visitor, papel, form: sent } = call;
  if (operacao === undefined || ids.length === 0) {
    return {
      status: 422,
      title: 'Nenhum evento foi escolhido',
      here: HERE,
      main: html`<p>Marque ao menos um na lista, escolha o que fazer e continue. ${link(pathIn(slug, PATH), 'Voltar aos eventos')}.</p>`,
    };
  }
  const ato = ATOS[operacao];
  const { podem, naoPodem } = await foreseeEventos(world, slug, ids, operacao);
  const state = stateOfVarios(podem);
  const changed = findChanged(call, state);
  const back = link(pathIn(slug, PATH), 'Voltar sem fazer nada');
  const rows = podem.map(({ evento, nota }) => [
    link(pathIn(slug, `/evento/${evento.id_evento}`), String(evento.id_evento)),
    evento.descricao_evento,
    mark(explainEvento(evento)),
    link(pathIn(slug, `/notas/${evento.chave_acesso}`), `nº ${nota.numero_dps}, ${ESTADOS[nota.estado].nome}`),
    nota.prestador_razao_social,
    nota.tomador_razao_social ?? '',
    reais(nota.valor_servico),
  ]);
  const head = ['Evento', 'O que é', 'Como está', 'Nota', 'Prestador', 'Tomador', 'Valor do serviço'];
  const asked =
    podem.length === 0 || !mayAs(papel, ato.papel)
      ? html`<p>${back}</p>`
      : html`<p>${ato.faz}</p>
${table(`${ato.botao}: ${countEventos(podem.length)}`, head, rows, [6])}${form({
  action: pathIn(slug, `${PATH}/varios/${operacao}`),
  token: formTokenOf(visitor),
  fields: [
    carried(podem.map(({ evento }) => ['id', String(evento.id_evento)])),
    carrySeen(state),
    motivoField(operacao, sent.text('motivo')),
  ],
  button: `${ato.botao}: ${countEventos(podem.length)}`,
  isGrave: ato.isGrave,
  beside: back,
})}`;
  return {
    title: podem.length === 0 ? 'Nada a fazer com estes eventos' : `${ato.botao}: ${countEventos(podem.length)}?`,
    here: HERE,
    ...(changed.length === 0 ? {} : { status: 409 }),
    main: html`${tellChanged(changed)}${left(naoPodem)}${asked}`,
  };
}

/** The state of each event and of its note, by names and values in words. */
function stateOfVarios(podem: Previsto['podem']): Values {
  const states = podem.map(({ evento, nota }) => [
    `Evento ${evento.id_evento}`,
    `${nameEstado(evento.status_evento)}; nota ${ESTADOS[nota.estado].nome}`,
  ]);
  return Object.fromEntries(states);
}

function left(naoPodem: Previsto['naoPodem']): Inserted {
  if (naoPodem.length === 0) return undefined;
  const items = naoPodem.map(({ porque }) => html`<li>${porque}</li>\n`);
  return notice(
    'aviso',
    html`<p>${naoPodem.length === 1 ? 'Fica' : 'Ficam'} de fora ${countEventos(naoPodem.length)}:</p><ul>${items}</ul>`,
  );
}

/** The integrator reads the reason of every action except filing. */
export function motivoField(operacao: Operacao, value = ''): Html {
  return field({
    name: 'motivo',
    label: 'Motivo',
    help:
      operacao === 'arquivar' || operacao === 'reprocessar' || operacao === 'separar'
        ? 'Por que se faz isto. Fica no histórico.'
        : 'Por que se faz isto. Fica no histórico, e quem pediu o evento o lê.',
    value,
    maxlength: MOTIVO_MAX,
    of: operacao,
  });
}

async function actOnVarios(call: InMunicipio, operacao: Operacao): Promise<Answer> {
  const { world, slug, form: sent } = call;
  const ids = idsOf(sent.texts('id'));
  const { podem } = await foreseeEventos(world, slug, ids, operacao);
  const isSeen = sent.text(SEEN_FIELD) !== '' && findChanged(call, stateOfVarios(podem)).length === 0;
  if (ATOS[operacao].isGrave && !isSeen) {
    return askVarios(call, operacao, ids);
  }
  const { feitos, naoFeitos } = await operateEventos(world, slug, ids, { operacao, ...byHand(call) });
  const done = `${countEventos(feitos)}: ${ATOS[operacao].feito}${feitos === 1 ? '' : 's'}.`;
  if (naoFeitos.length === 0 && feitos > 0) return { goTo: pathIn(slug, PATH), recado: done };
  return {
    status: 409,
    title: feitos === 0 ? 'Nada foi feito' : done,
    here: HERE,
    main: html`${left(naoFeitos)}<p>${link(pathIn(slug, PATH), 'Voltar aos eventos')}</p>`,
  };
}

async function archivePage(call: InMunicipio, busca: Busca, isChanged = false): Promise<Answer> {
  const { world, slug, visitor } = call;
  const counted = await arquivarEventos(world, slug, filtroOf(busca), { confirmados: undefined, ...byHand(call) });
  if ('problem' in counted) {
    return { status: 422, title: 'Arquivar recusas', here: HERE, main: notice('erro', counted.problem) };
  }
  const { eventos } = counted;
  const back = link(pathIn(slug, PATH, busca), 'Voltar sem fazer nada');
  const changed = isChanged
    ? notice(
        'aviso',
        'O número de recusas mudou desde que a página foi aberta. Nada foi arquivado: confira e confirme de novo.',
      )
    : undefined;
  const asked = form({
    action: pathIn(slug, `${PATH}/arquivar`),
    token: formTokenOf(visitor),
    fields: [carried([...Object.entries(busca), ['confirmados', String(eventos)]]), motivoField('arquivar')],
    button: `Arquivar ${countEventos(eventos)}`,
    beside: back,
  });
  return {
    title: `Arquivar ${countEventos(eventos)}?`,
    here: HERE,
    ...(isChanged ? { status: 409 } : {}),
    main: html`${changed}<p>${ATOS.arquivar.faz}</p>${eventos === 0 ? html`<p>${back}</p>` : asked}`,
  };
}

async function archive(call: InMunicipio): Promise<Answer> {
  const { world, slug, form: sent } = call;
  const busca = readBusca((name) => sent.text(name));
  const given = Number(sent.text('confirmados'));
  const confirmados = Number.isSafeInteger(given) && given > 0 ? given : undefined;
  const filed = await arquivarEventos(world, slug, filtroOf(busca), { confirmados, ...byHand(call) });
  if ('problem' in filed || !filed.isDone) return archivePage(call, busca, true);
  return { goTo: pathIn(slug, PATH), recado: `${countEventos(filed.eventos)}: arquivados.` };
}

const onVarios = ([operacao, { papel }]: readonly [string, { readonly papel: Papel }]): Row =>
  forRole(papel, 'POST', `${PATH}/varios/${operacao}`, (call) => actOnVarios(call, operacao as Operacao));

export const EVENTOS_ROUTES: readonly Row[] = [
  forRole('leitura', 'GET', PATH, listPage),
  forRole('atendimento', 'GET', `${PATH}/varios`, confirmPage),
  ...Object.entries(ATOS).map(onVarios),
  forRole('operacao', 'GET', `${PATH}/arquivar`, (call) =>
    archivePage(
      call,
      readBusca((name) => call.query.get(name)),
    ),
  ),
  forRole('operacao', 'POST', `${PATH}/arquivar`, archive),
];
