/** One event: its data, its state with the reason, its documents, its history, and the possible actions. */

import { facts, folded, form, link, markOpening, notice, table } from '../../base/pages/fields.ts';
import {
  type Answer,
  byHand,
  forRole,
  type InMunicipio,
  type PageShown,
  pathIn,
  type Row,
} from '../../base/pages/visit.ts';
import type { Problem } from '../../base/world/operator.ts';
import { mayAs, type Papel } from '../../base/world/papeis.ts';
import { dotDocumento } from '../../fiscal/chave.ts';
import type { EventoEstado } from '../../fiscal/evento.ts';
import { type Html, html, type Inserted } from '../../published/site/page-shell.ts';
import { EVENTO_TRIGGERS } from '../../published/states.ts';
import { confirmForm, findChanged, goesBack, namePessoa, readSealed, tellChanged } from '../contas/confirmacao.page.ts';
import { formTokenOf } from '../contas/entrada.ts';
import { showNotaLida } from '../notas/nota-inteira.ts';
import { noteSeen, stateOfNota } from '../notas/nota-lida.page.ts';
import { motivoField } from './eventos.page.ts';
import {
  type EventoInteiro,
  eventoRecebido,
  eventoXml,
  foreseeEventos,
  type Operacao,
  operateEvento,
  showEvento,
} from './operate.ts';
import { ATOS, describeCampos, explainEvento, nameEstado, writtenMoment } from './palavras.page.ts';

const HERE = 'eventos';
const pathOf = (slug: string, id: string | number, rest = ''): string => pathIn(slug, `/evento/${id}${rest}`);

async function onePage(call: InMunicipio, refused?: Problem, tried?: Operacao): Promise<PageShown> {
  const { world, slug, params } = call;
  const found = await showEvento(world, slug, params['id']!);
  if ('problem' in found) {
    return {
      status: 404,
      title: 'Evento não encontrado',
      here: HERE,
      main: html`<p>Não há evento com o número <b>${params['id']}</b> em ${slug}. O número é o <i>id_evento</i>, que está na página da nota e na lista de
eventos. ${link(pathIn(slug, '/eventos'), 'Ver os eventos')}.</p>`,
    };
  }
  const { evento } = found;
  const dito = explainEvento(evento);
  return {
    title: `${evento.descricao_evento} nº ${evento.numero_sequencial}`,
    here: HERE,
    ...(refused === undefined ? {} : { status: 409 }),
    main: html`${refused === undefined ? undefined : notice('erro', refused.problem)}${notice(
      dito.tom,
      html`<p>${markOpening(dito)} ${dito.diz}</p>${dito.fazer === '' ? undefined : html`<p>O que fazer: ${dito.fazer}</p>`}`,
    )}${about(call, found)}${answered(found)}<h2>O que se pode fazer</h2>
${acts(call, found, tried)}<h2>O que lhe aconteceu</h2>
${life(found)}`,
  };
}

function about({ slug, papel }: InMunicipio, { evento, identificador, autor, campos, temPedido }: EventoInteiro): Html {
  const { id_evento, chave_acesso } = evento;
  const files = mayAs(papel, 'atendimento')
    ? html`${link(pathOf(slug, id_evento, '/xml'), 'XML do evento')}${temPedido ? html` · ${link(pathOf(slug, id_evento, '/pedido'), 'pedido, como chegou')}` : undefined}`
    : undefined;
  return facts([
    ['Nota', link(pathIn(slug, `/notas/${chave_acesso}`), html`<code>${chave_acesso}</code>`)],
    ['Número do evento', String(id_evento)],
    ['Autor', dotDocumento(autor)],
    ...describeCampos(evento.codigo_tipo_evento, campos),
    ['Registrado em', writtenMoment(evento.data_hora_evento)],
    [
      'Decidido em',
      evento.data_hora_processamento === null ? undefined : writtenMoment(evento.data_hora_processamento),
    ],
    ['Tentativas automáticas', evento.reprocessamentos_count === 0 ? undefined : String(evento.reprocessamentos_count)],
    ['Protocolo no ADN', evento.protocolo ?? undefined],
    ['Identificador', html`<code>${identificador}</code>`],
    ['Documentos', files],
  ]);
}

type Erro = Readonly<Partial<Record<'codigo' | 'descricao' | 'complemento', unknown>>>;

/** The answer of the ADN, in its own words. */
function answered({ evento }: EventoInteiro): Inserted {
  const { erros_adn, codigo_retorno, mensagem_retorno } = evento;
  const erros = erros_adn?.['erros'];
  if (!Array.isArray(erros) && codigo_retorno === null && mensagem_retorno === null) return undefined;
  const rows = Array.isArray(erros)
    ? (erros as readonly Erro[]).map(({ codigo, descricao, complemento }) =>
        [codigo, descricao, complemento].map((text) => (text === undefined || text === null ? '' : String(text))),
      )
    : [[codigo_retorno ?? '', mensagem_retorno ?? '', '']];
  return html`<h2>O que foi respondido</h2>
${table('Do primeiro motivo ao último', ['Código', 'O que diz', 'Complemento'], rows)}`;
}

function acts(
  { slug, visitor, papel, form: sent }: InMunicipio,
  { evento, operacoes }: EventoInteiro,
  tried?: Operacao,
): Html {
  const order = Object.keys(ATOS) as Operacao[];
  const open = order.filter((operacao) => operacoes.includes(operacao));
  if (open.length === 0)
    return html`<p>Nada: ele ${evento.acao_sugerida === 'cancelado_ok' ? 'chegou ao fim' : 'segue sozinho'}.</p>\n`;
  const may = open.filter((operacao) => mayAs(papel, ATOS[operacao].papel));
  const lacking = open
    .filter((operacao) => !may.includes(operacao))
    .map((operacao) => ATOS[operacao].botao.toLowerCase());
  const forms = may.map((operacao) => {
    const { botao, faz, isGrave } = ATOS[operacao];
    const isTried = operacao === tried;
    const asked = form({
      action: pathOf(slug, evento.id_evento, `/${operacao}`),
      token: formTokenOf(visitor),
      fields: motivoField(operacao, isTried ? sent.text('motivo') : ''),
      button: isGrave ? 'Continuar' : botao,
      isGrave,
    });
    return folded(html`${botao} <small>${faz}</small>`, asked, isTried);
  });
  const others =
    lacking.length === 0
      ? undefined
      : html`<p class="quieto">Com um papel maior que o seu também se pode: ${lacking.join(', ')}.</p>\n`;
  return html`${forms}${others}`;
}

function life({ trilha, autor }: EventoInteiro): Html {
  return table(
    'Do registro até agora',
    ['Quando', 'Passou a', 'Por quê', 'O que se disse', 'Por quem'],
    trilha.map(({ em, gatilho, para, mensagem, quem }) => [
      writtenMoment(em),
      nameEstado(para),
      EVENTO_TRIGGERS[gatilho],
      mensagem ?? '',
      quem ?? (gatilho === 'registro' ? dotDocumento(autor) : 'o serviço'),
    ]),
  );
}

/** The second step of an act that is not undone. Undefined: it was confirmed, or needs none. */
async function confirmAct(call: InMunicipio, operacao: Operacao): Promise<Answer | undefined> {
  const { world, slug, params, form: sent } = call;
  const { botao, faz, isGrave } = ATOS[operacao];
  const found = await showEvento(world, slug, params['id']!);
  if (!isGrave || 'problem' in found) return undefined;
  if (goesBack(call)) return onePage(call, undefined, operacao);
  const { evento } = found;
  const nota = await showNotaLida(world, slug, evento.chave_acesso);
  if ('problem' in nota) return undefined;
  const motivo = sent.text('motivo').trim();
  const action = pathOf(slug, evento.id_evento, `/${operacao}`);
  const [content, state] = [{ motivo }, stateOfNota(nota)];
  const isConfirmed = readSealed(call, action, content) !== undefined;
  // The second click of a double one finds the act done.
  if (isConfirmed && ENDS[operacao] === evento.status_evento) return { goTo: pathOf(slug, evento.id_evento) };
  const changed = findChanged(call, state);
  if (isConfirmed && changed.length === 0) return undefined;
  const [hindrance] = (await foreseeEventos(world, slug, [params['id']!], operacao)).naoPodem;
  if (hindrance !== undefined) return onePage(call, { problem: hindrance.porque }, operacao);
  return {
    title: `${botao}?`,
    here: HERE,
    ...(changed.length === 0 ? {} : { status: 409 }),
    main: html`${tellChanged(changed)}<p>${faz}</p>
${facts([
  ['Evento', `${evento.descricao_evento} nº ${evento.numero_sequencial}, ${nameEstado(evento.status_evento)}`],
  ...describeCampos(evento.codigo_tipo_evento, found.campos),
  ['Motivo, que quem o pediu lê', motivo || 'não se disse'],
  ['Por quem', namePessoa(call)],
])}${confirmForm(call, { action, content, state, button: botao })}<h2>A nota</h2>
${noteSeen(slug, nota)}`,
  };
}

/** The states in which the acts that are not undone leave an event. */
const ENDS: Readonly<Partial<Record<Operacao, EventoEstado>>> = { cancelar: 'cancelado', dispensar: 'dispensado' };

async function act(call: InMunicipio, operacao: Operacao): Promise<Answer> {
  const { world, slug, params } = call;
  const asked = await confirmAct(call, operacao);
  if (asked !== undefined) return asked;
  const moved = await operateEvento(world, slug, params['id']!, { operacao, ...byHand(call) });
  if ('problem' in moved) return onePage(call, moved, operacao);
  const { evento, mayBeThere } = moved;
  const there = mayBeThere ? ' Se o ADN o recebeu numa tentativa anterior, lá ele vale.' : '';
  return {
    goTo: pathOf(slug, evento.id_evento),
    recado: `O evento foi ${ATOS[operacao].feito}: ${explainEvento(evento).diz}${there}`,
  };
}

async function download(call: InMunicipio, kind: 'xml' | 'pedido'): Promise<Answer> {
  const { world, slug, params } = call;
  const id = params['id']!;
  if (kind === 'xml') {
    const found = await eventoXml(world, slug, id);
    if ('problem' in found) return onePage(call);
    return { file: found.xml, type: 'application/xml; charset=utf-8', name: `evento-${id}.xml` };
  }
  const found = await eventoRecebido(world, slug, id);
  if ('problem' in found || found.recebido === undefined) return onePage(call);
  return { file: found.recebido, type: 'application/octet-stream', name: `evento-${id}-pedido.txt` };
}

const acting = ([operacao, { papel }]: readonly [string, { readonly papel: Papel }]): Row =>
  forRole(papel, 'POST', `/evento/:id/${operacao}`, (call) => act(call, operacao as Operacao));

export const EVENTO_ROUTES: readonly Row[] = [
  forRole('leitura', 'GET', '/evento/:id', (call) => onePage(call)),
  forRole('atendimento', 'GET', '/evento/:id/xml', (call) => download(call, 'xml')),
  forRole('atendimento', 'GET', '/evento/:id/pedido', (call) => download(call, 'pedido')),
  ...Object.entries(ATOS).map(acting),
];
