/** Routes by which a party manages its webhook addresses and sees the results of their messages. */

import { findStrangeParams, numberIn, refuseParams } from '../../base/http/params.ts';
import { refuseMissingWebhook } from '../../base/http/refusals.ts';
import { refuseAsFlow } from '../../base/http/repetition.ts';
import { type Call, defineRoute, type Refused, type Route } from '../../base/http/route.ts';
import { TIPOS_MUDANCA } from '../../fiscal/mudanca.ts';
import type { Acesso } from '../../published/acesso.ts';
import { type FieldsOf, field, orAbsent, orNull, STATUS } from '../../published/openapi/field.ts';
import { CURSOR_FIELD, DOCUMENTO_PARAM, PAGE_PARAMS } from '../partes/listas.rest.ts';
import { documentoOf } from '../partes/notas.ts';
import { AS_400, ASK_COST, CAMPOS_CODES, PARTE_CODES } from '../partes/rotas.rest.ts';
import { AVISO_GUARDA_DIAS } from './tempos.ts';
import {
  changeWebhook,
  countEntregas,
  createWebhook,
  ENSAIOS_POR_MINUTO,
  type EntregaPublica,
  ESTADOS_DO_ENDERECO,
  ESTADOS_ENTREGA,
  findWebhook,
  listEntregas,
  listWebhooks,
  removeWebhook,
  rotateSegredo,
  SEGREDO_ANTERIOR_HORAS,
  sendAgain,
  type TentativaPublica,
  tryWebhook,
  WEBHOOKS_MAX,
  WEBHOOKS_POR_RAIZ,
  type WebhookPublico,
} from './webhooks.ts';

const WEBHOOK_FIELDS = {
  id: field.text('Identificador do endereço.'),
  documento: orNull(field.text('CNPJ ou CPF de quem é; null: do próprio município.')),
  url: field.text('Para onde se avisa.'),
  tipos: field.texts('De que mudanças se avisa; vazio: de todas.'),
  descricao: orNull(field.text('Um nome seu para ele.')),
  ativo: field.flag(
    'false: não se avisa. Passa a false quando o endereço responde 410, ou não confirmou que quer avisos depois de perguntado as vezes publicadas.',
  ),
  estado: field.choice(
    ESTADOS_DO_ENDERECO,
    'pendente: ainda não confirmou que quer avisos, e o que mudar espera por ele; ativo: é avisado; desligado: não se avisa.',
  ),
  criado_em: field.moment('Quando foi cadastrado.'),
  segredo_anterior_ate: orNull(field.moment('Até quando o segredo anterior também assina.')),
  falhas: field.integer('Tentativas seguidas que falharam; 0 quando a última foi aceita.'),
  ultimo_problema: orNull(field.text('O que houve na última tentativa que falhou.')),
  ultimo_problema_em: orNull(field.moment('Quando.')),
} as const satisfies FieldsOf<WebhookPublico>;

export const WEBHOOK_SHAPES = {
  Webhook: WEBHOOK_FIELDS,
  Entrega: {
    id: field.text('Identificador da entrega neste endereço.'),
    estado: field.choice(ESTADOS_ENTREGA, 'pendente, entregue, ou morta: não se tenta mais.'),
    criada_em: field.moment('Desde quando se tenta.'),
    entregue_em: orNull(field.moment('Quando foi aceita; null enquanto não foi.')),
    proxima_tentativa: orNull(field.moment('Quando se tenta de novo; null quando não se tenta mais.')),
    tentativas: field.integer('Quantas foram.'),
    registro: field.shape('TentativaDeEntrega[]', 'As últimas tentativas.'),
  } satisfies FieldsOf<EntregaPublica>,
  TentativaDeEntrega: {
    em: field.moment('Quando.'),
    ms: field.integer('Quanto durou, em milissegundos.'),
    status: orNull(field.integer('O status que o endereço respondeu; null sem resposta.')),
    problema: orNull(field.text('Por que não houve resposta.')),
  } satisfies FieldsOf<TentativaPublica>,
} as const;

const WEBHOOK = field.shape('Webhook', 'O endereço.');
const SEGREDO = field.text(
  'O segredo com que se confere a assinatura (whsec_…, Standard Webhooks); só esta resposta o mostra.',
);
const SENDS = {
  url: field.text('Endereço https para onde se avisa, com POST.'),
  tipos: orAbsent(field.texts(`De que mudanças se avisa; sem ele, ou vazio, de todas: ${TIPOS_MUDANCA.join(', ')}.`)),
  descricao: orAbsent(field.text('Um nome seu para ele.')),
} as const;

/** The owner who asks, and the id of the named address. */
type Asked = { readonly dono: string; readonly id: string; readonly query: URLSearchParams };

async function readAsked(
  { world, municipio, params, search, shown }: Call,
  names: readonly string[] = [],
): Promise<Asked | Refused> {
  const query = new URLSearchParams(search);
  const faults = findStrangeParams(query, [...Object.keys(DOCUMENTO_PARAM), ...names], 'Este endereço');
  if (faults.length > 0) return refuseParams(faults);
  const dono = await documentoOf(world, municipio, shown(), query.get('documento') ?? undefined, 'webhooks');
  return typeof dono === 'object' ? { refusal: dono, isMiss: true } : { dono, id: params['id_webhook'] ?? '', query };
}

async function create(call: Call) {
  const asked = await readAsked(call);
  if ('refusal' in asked) return asked;
  const created = await createWebhook(call.world, call.municipio, asked.dono, call.body);
  return 'faults' in created ? refuseAsFlow(created) : { body: { status: 'OK', ...created } };
}

async function list(call: Call) {
  const asked = await readAsked(call);
  if ('refusal' in asked) return asked;
  return { body: { status: 'OK', webhooks: await listWebhooks(call.world, call.municipio, asked.dono) } };
}

/** The action of a route on an existing address. */
type OnWebhook<Body> = (call: Call, asked: Asked, webhook: WebhookPublico) => Promise<Body | Refused | 'not_found'>;

function onOne<Body extends object>(work: OnWebhook<Body>, names: readonly string[] = []) {
  return async (call: Call) => {
    const asked = await readAsked(call, names);
    if ('refusal' in asked) return asked;
    const webhook = await findWebhook(call.world, call.municipio, asked);
    const done = webhook === undefined ? 'not_found' : await work(call, asked, webhook);
    if (done === 'not_found') return refuseMissingWebhook();
    return 'refusal' in done ? done : { body: { status: 'OK', ...(done as Body) } };
  };
}

const show = onOne(async ({ world, municipio }, _asked, webhook) => {
  const { pendentes, mortas } = await countEntregas(world, municipio, webhook.id);
  return { webhook, pendentes, mortas };
});

const change = onOne(async ({ world, municipio, body }, asked) => {
  const webhook = await changeWebhook(world, municipio, asked, body);
  if (webhook === 'not_found') return webhook;
  return 'faults' in webhook ? refuseAsFlow(webhook) : { webhook };
});

const remove = onOne(async ({ world, municipio }, asked) =>
  (await removeWebhook(world, municipio, asked)) ? { id: asked.id } : 'not_found',
);

const rotate = onOne(async ({ world, municipio }, asked) => rotateSegredo(world, municipio, asked));

const tryOut = onOne(
  async ({ world, municipio }, { query }, webhook) => {
    const asked = query.get('tipo') || undefined;
    const tipo = TIPOS_MUDANCA.find((one) => one === asked);
    const isOwn = municipio.ensaioAte !== undefined;
    if (asked !== undefined && (tipo === undefined || !isOwn)) {
      const esperado = isOwn ? `um de: ${TIPOS_MUDANCA.join(', ')}` : 'nada: só um ambiente próprio ensaia um tipo';
      const mensagem = `O parâmetro tipo tem de ser ${esperado}.`;
      return refuseParams([{ codigo: 'E0002', xpath: '', mensagem, campo: 'tipo', esperado }]);
    }
    const refused = await tryWebhook(world, municipio, webhook.id, tipo);
    return refused === undefined ? { webhook } : refuseAsFlow(refused);
  },
  ['tipo'],
);

const again = onOne(
  async ({ world, municipio }, { query }, webhook) => ({
    reenviadas: await sendAgain(world, municipio, webhook.id, query.get('entrega') ?? undefined),
  }),
  ['entrega'],
);

const ENTREGAS_MAX = 100;

const entregas = onOne(
  async ({ world, municipio }, { query }, webhook) => {
    const limite = numberIn(query.get('limite'), ENTREGAS_MAX) ?? 25;
    const asked = query.get('estado') || undefined;
    const estado = ESTADOS_ENTREGA.find((one) => one === asked);
    if (limite === 'outside' || (asked !== undefined && estado === undefined)) {
      const [campo, esperado] =
        limite === 'outside'
          ? ['limite', `um número de 1 a ${ENTREGAS_MAX}`]
          : ['estado', `um de: ${ESTADOS_ENTREGA.join(', ')}`];
      const mensagem = `O parâmetro ${campo} tem de ser ${esperado}.`;
      return refuseParams([{ codigo: 'E0002', xpath: '', mensagem, campo, esperado }]);
    }
    const cursor = query.get('cursor') ?? undefined;
    return listEntregas(world, municipio, webhook.id, { estado, cursor, max: limite as number });
  },
  ['estado', ...Object.keys(PAGE_PARAMS)],
);

const ONE = '/api/v1/webhooks/:id_webhook' as const;

const ROW = { query: DOCUMENTO_PARAM, headers: [], missCost: ASK_COST, asksToken: true } as const;
const ONE_CODES = ['E0003', ...PARTE_CODES, 'E601'] as const;

const DO_WEBHOOK: Omit<Acesso, 'parte'> = {
  quem: 'o dono do documento, por um token dele de escopo webhooks ou pelo certificado na conexão',
  revela: 'nada',
  estranho: 'que não é ele; um endereço de outro documento responde 404, como um que não existe',
};

export const ROTAS_DE_WEBHOOKS: readonly Route[] = [
  defineRoute({
    ...ROW,
    id: 'cadastrarWebhook',
    method: 'POST',
    path: '/api/v1/webhooks',
    summary: `Cadastra um endereço a que se avisa o que muda nas notas e nos eventos de um CNPJ ou CPF, com a assinatura de Standard Webhooks, depois que ele confirma que quer avisos. Até ${WEBHOOKS_MAX} por documento, e ${WEBHOOKS_POR_RAIZ} por raiz de CNPJ. Com um token de escopo webhooks, ou o certificado.`,
    takes: ['application/json'],
    quotaCost: 1,
    headers: ['RateLimit-Policy', 'RateLimit'],
    sends: SENDS,
    status: 201,
    fields: { status: STATUS, webhook: WEBHOOK, segredo: SEGREDO },
    codes: [...CAMPOS_CODES, 'E0003', ...PARTE_CODES, 'E703'],
    statuses: { ...AS_400, E703: [422] },
    acesso: { ...DO_WEBHOOK, parte: 'o endereço e o segredo, esta única vez' },
    handle: create,
  }),
  defineRoute({
    ...ROW,
    id: 'listarWebhooks',
    method: 'GET',
    path: '/api/v1/webhooks',
    summary: 'Os endereços de um CNPJ ou CPF.',
    status: 200,
    fields: { status: STATUS, webhooks: field.shape('Webhook[]', 'Do mais antigo ao mais novo.') },
    codes: ['E003', 'E0003', ...PARTE_CODES],
    acesso: { ...DO_WEBHOOK, parte: 'os seus endereços' },
    handle: list,
  }),
  defineRoute({
    ...ROW,
    id: 'consultarWebhook',
    method: 'GET',
    path: ONE,
    summary: 'Um endereço, com quantos avisos esperam por ele e quantos se deixou de tentar.',
    status: 200,
    fields: {
      status: STATUS,
      webhook: WEBHOOK,
      pendentes: field.integer('Avisos que ainda se tentam, contados até 10000.'),
      mortas: field.integer('Avisos que já não se tentam, contados até 10000.'),
    },
    codes: ['E003', ...ONE_CODES],
    acesso: { ...DO_WEBHOOK, parte: 'o endereço, e quanto espera por ele' },
    handle: show,
  }),
  defineRoute({
    ...ROW,
    id: 'alterarWebhook',
    method: 'PATCH',
    path: ONE,
    summary:
      'Muda um endereço: só os campos enviados. ativo true, de um que falhava, tenta logo; outra url confirma de novo que quer avisos.',
    takes: ['application/json'],
    sends: {
      ...SENDS,
      url: orAbsent(SENDS.url),
      ativo: orAbsent(field.flag('false: não se avisa; o que mudar enquanto isso não se conta a este endereço.')),
    },
    status: 200,
    fields: { status: STATUS, webhook: WEBHOOK },
    codes: [...CAMPOS_CODES, ...ONE_CODES],
    statuses: AS_400,
    acesso: { ...DO_WEBHOOK, parte: 'o endereço mudado' },
    handle: change,
  }),
  defineRoute({
    ...ROW,
    id: 'retirarWebhook',
    method: 'DELETE',
    path: ONE,
    summary: 'Retira um endereço e o que esperava por ele.',
    status: 200,
    fields: { status: STATUS, id: field.text('O endereço retirado.') },
    codes: ['E003', ...ONE_CODES],
    acesso: { ...DO_WEBHOOK, parte: 'que foi retirado' },
    handle: remove,
  }),
  defineRoute({
    ...ROW,
    id: 'trocarSegredoDoWebhook',
    method: 'POST',
    path: `${ONE}/segredo`,
    summary: `Troca o segredo de um endereço. Por ${SEGREDO_ANTERIOR_HORAS} horas os avisos vão assinados com o novo e com o anterior.`,
    status: 200,
    fields: { status: STATUS, webhook: WEBHOOK, segredo: SEGREDO },
    codes: ['E003', ...ONE_CODES],
    acesso: { ...DO_WEBHOOK, parte: 'o segredo novo, esta única vez' },
    handle: rotate,
  }),
  defineRoute({
    ...ROW,
    id: 'ensaiarWebhook',
    method: 'POST',
    path: `${ONE}/ensaio`,
    summary: `Envia um aviso de ensaio, do tipo ensaio, assinado como os outros; a um endereço pendente, antes dele, a pergunta se quer avisos. Até ${ENSAIOS_POR_MINUTO} por minuto.`,
    query: {
      ...DOCUMENTO_PARAM,
      tipo: `Só num ambiente próprio: o tipo de mudança que o aviso imita, numa nota inventada. O aviso traz ensaio true. Um de: ${TIPOS_MUDANCA.join(', ')}.`,
    },
    status: 200,
    fields: { status: STATUS, webhook: WEBHOOK },
    codes: ['E003', 'E0002', ...ONE_CODES, 'E703'],
    statuses: { E0002: [400], E703: [429] },
    acesso: { ...DO_WEBHOOK, parte: 'um aviso de ensaio no seu endereço' },
    handle: tryOut,
  }),
  defineRoute({
    ...ROW,
    id: 'listarEntregas',
    method: 'GET',
    path: `${ONE}/entregas`,
    summary: `O que se avisou e se tenta avisar a um endereço, do mais novo ao mais antigo, com as últimas tentativas; por ${AVISO_GUARDA_DIAS.mostrar} dias.`,
    query: { ...DOCUMENTO_PARAM, estado: `Só neste estado: ${ESTADOS_ENTREGA.join(', ')}.`, ...PAGE_PARAMS },
    status: 200,
    fields: { status: STATUS, entregas: field.shape('Entrega[]', 'As entregas da página.'), cursor: CURSOR_FIELD },
    codes: ['E003', 'E0002', ...ONE_CODES],
    statuses: { E0002: [400] },
    acesso: { ...DO_WEBHOOK, parte: 'o que se avisou, e o que houve em cada tentativa' },
    handle: entregas,
  }),
  defineRoute({
    ...ROW,
    id: 'reenviarEntregas',
    method: 'POST',
    path: `${ONE}/reenvio`,
    summary: 'Volta a tentar o que se deixou de tentar: todas as entregas mortas, ou uma.',
    query: { ...DOCUMENTO_PARAM, entrega: 'O id de uma entrega; sem ele, todas as mortas.' },
    status: 200,
    fields: { status: STATUS, reenviadas: field.integer('Quantas voltam a ser tentadas.') },
    codes: ['E003', ...ONE_CODES],
    acesso: { ...DO_WEBHOOK, parte: 'quantas entregas se tentam de novo' },
    handle: again,
  }),
];
