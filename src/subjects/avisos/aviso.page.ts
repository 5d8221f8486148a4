/** The page of one webhook address: its state, the actions on it, and its messages. */

import {
  carried,
  type Estado,
  facts,
  field,
  folded,
  form,
  hidden,
  link,
  mark,
  nextPage,
  notice,
  table,
  tokenField,
  wide,
} from '../../base/pages/fields.ts';
import {
  type Answer,
  byHand,
  forRole,
  type InMunicipio,
  type PageShown,
  pathIn,
  type Row,
} from '../../base/pages/visit.ts';
import { MOTIVO_MAX, type PorMao, type Problem } from '../../base/world/operator.ts';
import { mayAs } from '../../base/world/papeis.ts';
import { showDocumento } from '../../fiscal/chave.ts';
import { type Html, html, type Inserted } from '../../published/site/page-shell.ts';
import { actsTable } from '../auditoria/trilha.page.ts';
import { listTrilha } from '../auditoria/trilha.ts';
import { formTokenOf } from '../contas/entrada.ts';
import { writtenMoment } from '../eventos/palavras.page.ts';
import { addressOf, HERE, kindsOf, notThere, PATH, pathOf, secretPage, situationOf } from './avisos.page.ts';
import {
  ensaiarAviso,
  ligarAviso,
  listEntregasDoAviso,
  reenviarAvisos,
  retirarAviso,
  showAviso,
  trocarSegredo,
} from './do-municipio.ts';
import { AVISO_GUARDA_DIAS } from './tempos.ts';
import {
  type EntregaContada,
  type EntregaPublica,
  ESTADOS_ENTREGA,
  SEGREDO_ANTERIOR_HORAS,
  type TentativaPublica,
  type WebhookPublico,
} from './webhooks.ts';

const ENTREGAS_MAX = 25;

const ESTADOS: Readonly<Record<EntregaPublica['estado'], Estado>> = {
  pendente: { nome: 'espera', tom: 'aviso' },
  entregue: { nome: 'entregue', tom: 'bom' },
  morta: { nome: 'não se tenta mais', tom: 'erro' },
};

type Shown = NonNullable<Awaited<ReturnType<typeof showAviso>>>;

async function onePage(call: InMunicipio, refused?: string): Promise<PageShown> {
  const { world, slug, params, papel } = call;
  const shown = await showAviso(world, slug, params['webhook']!);
  if (shown === undefined) return notThere(slug);
  const { webhook } = shown;
  const isOwn = webhook.documento === null;
  const mayAct = isOwn && mayAs(papel, 'administracao');
  const trilha = isOwn ? await listTrilha(world, slug, { objeto: 'aviso', chave: webhook.id }) : undefined;
  const acts =
    trilha !== undefined && 'atos' in trilha ? html`<h2>Histórico</h2>\n${actsTable(trilha.atos)}` : undefined;
  return {
    title: webhook.descricao || 'Endereço de aviso',
    here: HERE,
    ...(refused === undefined ? {} : { status: 422 }),
    main: html`${refused === undefined ? undefined : notice('erro', refused)}${about(call, shown)}${mayAct ? actions(call, webhook) : undefined}${await entregas(call, shown, mayAct)}${acts}`,
  };
}

function about(call: InMunicipio, { webhook, pendentes, mortas, ate }: Shown): Html {
  const { documento, falhas, ultimo_problema, ultimo_problema_em, segredo_anterior_ate } = webhook;
  const count = (number: number): string => `${number.toLocaleString('pt-BR')}${number >= ate ? ' ou mais' : ''}`;
  const asks =
    webhook.estado === 'pendente'
      ? notice(
          'aviso',
          'O endereço ainda não confirmou que quer avisos, e o que mudar espera por ele. Com o programa no ar, um ensaio pergunta logo.',
        )
      : undefined;
  const trouble =
    falhas === 0 || ultimo_problema === null
      ? undefined
      : notice('aviso', `Na última tentativa: ${ultimo_problema} (${writtenMoment(ultimo_problema_em ?? '')}).`);
  return html`${asks}${trouble}${facts([
    ['Endereço', addressOf(call, webhook)],
    ['De quem', documento === null ? 'do município' : showDocumento(documento)],
    ['Situação', situationOf(webhook)],
    ['Avisa de', kindsOf(webhook)],
    ['Cadastrado em', writtenMoment(webhook.criado_em)],
    [
      'O segredo anterior também assina até',
      segredo_anterior_ate === null ? undefined : writtenMoment(segredo_anterior_ate),
    ],
    ['Avisos que esperam', count(pendentes)],
    ['Avisos que não se tentam mais', count(mortas)],
  ])}`;
}

// The actions on the address.

function actions(call: InMunicipio, webhook: WebhookPublico): Html {
  const { slug, visitor, request } = call;
  const token = formTokenOf(visitor);
  const at = pathOf(slug, webhook.id);
  const act = (path: string, button: string, isGrave: boolean, diz: string, more: Inserted = undefined): Html => {
    const motivo = field({
      name: 'motivo',
      label: 'Motivo',
      help: 'Fica no histórico.',
      required: path === 'retirar',
      maxlength: MOTIVO_MAX,
      of: path,
    });
    const shown = form({ action: `${at}/${path}`, token, fields: [more, motivo], button, isGrave });
    return folded(button, html`<p>${diz}</p>${shown}`, request.method === 'POST' && request.url.endsWith(`/${path}`));
  };
  const confirm = html`<p><label class="marcar"><input type="checkbox" name="confirmar" value="sim" required> <span>Sim, retire este endereço e o que espera por ele.</span></label></p>\n`;
  const turn = webhook.ativo
    ? act(
        'desligar',
        'Desligar',
        false,
        'Não se avisa mais. O que mudar enquanto isso não se conta depois a este endereço.',
      )
    : act('ligar', 'Ligar outra vez', false, 'Avisa-se do que mudar daqui em diante, e o que esperava é tentado logo.');
  const trial = html`<form method="post" action="${at}/ensaiar">
${tokenField(token)}<button>Enviar um ensaio</button></form> `;
  const about = html`<p class="quieto">O ensaio é um aviso assinado como os outros, de que nada mudou. Em segundos ele aparece nas entregas abaixo; carregue a página de novo.</p>
`;
  return html`<div class="botoes">${webhook.ativo ? trial : undefined}<a class="botao simples" href="${at}/alterar">Alterar</a></div>
${webhook.ativo ? about : undefined}${turn}${act(
  'segredo',
  'Trocar o segredo',
  false,
  `Dá um segredo novo, mostrado uma vez. Por ${SEGREDO_ANTERIOR_HORAS} horas os avisos vão assinados com os dois, para que o programa troque sem perder nenhum.`,
)}${act('retirar', 'Retirar', true, 'O endereço, as suas entregas e o que esperava por ele são apagados. Para só parar, desligue-o.', confirm)}`;
}

// The messages of the address.

async function entregas(call: InMunicipio, { webhook, mortas }: Shown, mayAct: boolean): Promise<Html> {
  const { world, slug, query } = call;
  const estado = ESTADOS_ENTREGA.find((one) => one === query.get('estado'));
  const asked = { estado, cursor: query.get('depois') ?? undefined, max: ENTREGAS_MAX };
  const page = await listEntregasDoAviso(world, slug, webhook.id, asked);
  if ('problem' in page) return notice('erro', page.problem);
  const all: readonly [string, string][] = [
    ['', 'todas'],
    ...ESTADOS_ENTREGA.map((one) => [one, ESTADOS[one].nome] as [string, string]),
  ];
  const filter = html`<form method="get" action="${pathOf(slug, webhook.id)}" class="filtros" role="search">
${field({ name: 'estado', label: 'Mostrar', value: estado ?? '', choices: all })}<button>Filtrar</button>
</form>
`;
  const again =
    mayAct && mortas > 0
      ? form({
          action: `${pathOf(slug, webhook.id)}/reenviar`,
          token: formTokenOf(call.visitor),
          fields: undefined,
          button: 'Reenviar todas as que não se tentam mais',
        })
      : undefined;
  const none =
    estado === undefined
      ? html`<p>Nada foi avisado a este endereço nos últimos ${String(AVISO_GUARDA_DIAS.mostrar)} dias.</p>\n`
      : html`<p>Nenhuma entrega assim.</p>\n`;
  const next = nextPage(slug, `${PATH}/${webhook.id}`, { estado }, page.cursor ?? undefined);
  const list = page.entregas.length === 0 ? none : entregasTable(call, webhook, page.entregas, mayAct);
  return html`<h2>Entregas</h2>
${filter}${again}${list}${next}`;
}

function entregasTable(
  call: InMunicipio,
  webhook: WebhookPublico,
  all: readonly EntregaContada[],
  mayAct: boolean,
): Html {
  const { slug } = call;
  const hasDead = mayAct && all.some(({ estado }) => estado === 'morta');
  const head = ['O que conta', 'Como está', 'Desde', 'Entregue, ou próxima tentativa', 'Tentativas'];
  const rows = all.map((one) => {
    const { id, estado, criada_em, entregue_em, proxima_tentativa } = one;
    const then = entregue_em ?? proxima_tentativa;
    return [
      saying(slug, one),
      mark(ESTADOS[estado]),
      writtenMoment(criada_em),
      then === null ? '' : writtenMoment(then),
      wide(attempts(one)),
      ...(hasDead ? [estado === 'morta' ? resend(call, webhook, id) : ''] : []),
    ];
  });
  return table('Entregas, da mais nova à mais antiga', hasDead ? [...head, 'O que fazer'] : head, rows);
}

function saying(slug: string, { tipo, chave_acesso }: EntregaContada): Inserted {
  if (tipo === null) return 'algo que já se apagou';
  return chave_acesso === null ? tipo : link(pathIn(slug, `/notas/${chave_acesso}`), tipo);
}

function attempts({ tentativas, registro }: EntregaPublica): Inserted {
  if (registro.length === 0) return 'nenhuma ainda';
  const [last] = registro.slice(-1) as [TentativaPublica];
  if (registro.length === 1 && tentativas === 1) return sayAttempt(last);
  const lines = registro.map((one) => html`<li>${writtenMoment(one.em)}: ${sayAttempt(one)}</li>\n`);
  const more = registro.length < tentativas ? html`<p><small>As últimas.</small></p>` : undefined;
  return html`<details><summary>${String(tentativas)}: ${sayAttempt(last)}</summary>${more}<ol>
${lines}</ol></details>`;
}

function sayAttempt({ status, problema, ms }: TentativaPublica): string {
  return status === null ? (problema ?? '') : `respondeu ${status} em ${ms.toLocaleString('pt-BR')} ms`;
}

function resend({ slug, visitor }: InMunicipio, webhook: WebhookPublico, id: string): Html {
  return html`<form method="post" action="${pathOf(slug, webhook.id)}/reenviar">
${tokenField(formTokenOf(visitor))}${carried([['entrega', id]])}<button class="simples">Reenviar${hidden(` a entrega ${id}`)}</button></form>`;
}

/** Acts on the address and shows the result on its page. */
async function actOn<Done extends object>(
  call: InMunicipio,
  act: (id: string, by: PorMao) => Promise<Done | Problem>,
  then: (done: Done) => Answer,
): Promise<Answer> {
  const done = await act(call.params['webhook']!, byHand(call));
  return 'problem' in done ? onePage(call, done.problem) : then(done);
}

const turn =
  (ativo: boolean) =>
  (call: InMunicipio): Promise<Answer> =>
    actOn(
      call,
      (id, by) => ligarAviso(call.world, call.slug, id, ativo, by),
      ({ id }) => ({
        goTo: pathOf(call.slug, id),
        recado: ativo ? 'O endereço foi ligado.' : 'O endereço foi desligado.',
      }),
    );

async function remove(call: InMunicipio): Promise<Answer> {
  const { world, slug, form: sent } = call;
  if (sent.text('confirmar') !== 'sim')
    return onePage(call, 'Marque que é isso mesmo que quer: retirar não tem volta.');
  if (byHand(call).motivo === undefined) return onePage(call, 'Escreva por que se retira.');
  return actOn(
    call,
    (id, by) => retirarAviso(world, slug, id, by),
    () => ({ goTo: pathIn(slug, PATH), recado: 'O endereço foi retirado.' }),
  );
}

function again(call: InMunicipio): Promise<Answer> {
  const { world, slug, form: sent, params } = call;
  return actOn(
    call,
    (id, by) => reenviarAvisos(world, slug, id, sent.text('entrega') || undefined, by),
    ({ reenviadas }) => ({ goTo: pathOf(slug, params['webhook']!), recado: sayAgain(reenviadas) }),
  );
}

function sayAgain(count: number): string {
  if (count === 0) return 'Não havia o que reenviar.';
  return count === 1
    ? '1 entrega volta a ser tentada.'
    : `${count.toLocaleString('pt-BR')} entregas voltam a ser tentadas.`;
}

const one = (path: string, handle: (call: InMunicipio) => Promise<Answer>): Row =>
  forRole('administracao', 'POST', `${PATH}/:webhook${path}`, handle);

export const AVISO_ROUTES: readonly Row[] = [
  forRole('leitura', 'GET', `${PATH}/:webhook`, (call) => onePage(call)),
  one('/ligar', turn(true)),
  one('/desligar', turn(false)),
  one('/retirar', remove),
  one('/reenviar', again),
  one('/segredo', (call) =>
    actOn(
      call,
      (id, by) => trocarSegredo(call.world, call.slug, id, by),
      (done) => secretPage(call, done),
    ),
  ),
  one('/ensaiar', (call) =>
    actOn(
      call,
      (id, by) => ensaiarAviso(call.world, call.slug, id, by),
      ({ id }) => ({ goTo: pathOf(call.slug, id), recado: 'O ensaio está a caminho.' }),
    ),
  ),
];
