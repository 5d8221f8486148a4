/** Webhook addresses in the console: those of the municipality, those of its providers (read only), and the form for a new one. */

import { boxes, field, form, link, mark, nextPage, notice, table, wide, withNames } from '../../base/pages/fields.ts';
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
import { mayAs } from '../../base/world/papeis.ts';
import { showDocumento } from '../../fiscal/chave.ts';
import { type ItemMudado, MES_FECHADO, MUDANCAS, SIGNIFICADO_DO_MES } from '../../fiscal/mudanca.ts';
import { type Html, html, type Inserted } from '../../published/site/page-shell.ts';
import { formTokenOf } from '../contas/entrada.ts';
import {
  type AvisoEscrito,
  alterarAviso,
  cadastrarAviso,
  listAvisos,
  listAvisosDePartes,
  showAviso,
} from './do-municipio.ts';
import { AVISO_GUARDA_DIAS } from './tempos.ts';
import { DO_MUNICIPIO, WEBHOOKS_MAX, type WebhookPublico } from './webhooks.ts';

export const HERE = 'avisos';
export const PATH = '/avisos';

export const pathOf = (slug: string, id: string): string => pathIn(slug, `${PATH}/${encodeURIComponent(id)}`);

/** The full address for its administrator, else the host alone. The path may contain a secret of the receiver. */
export function addressOf({ papel }: Pick<InMunicipio, 'papel'>, { url, documento }: WebhookPublico): Html {
  const { origin, href } = new URL(url);
  if (documento === null && mayAs(papel, 'administracao')) return html`<code class="largo">${url}</code>`;
  return html`<code>${origin}${href === `${origin}/` ? '' : '/…'}</code>`;
}

export function situationOf({ estado, falhas }: WebhookPublico): Html {
  if (estado === 'desligado') return mark({ nome: estado, tom: 'fim' });
  if (estado === 'pendente') return html`${mark({ nome: estado, tom: 'aviso' })} ainda não confirmou que quer avisos`;
  return falhas === 0
    ? mark({ nome: 'ligado', tom: 'bom' })
    : mark({ nome: `falha (${falhas} ${falhas === 1 ? 'vez' : 'vezes seguidas'})`, tom: 'erro' });
}

export const kindsOf = ({ tipos }: WebhookPublico): string => tipos.join(', ') || 'tudo';

async function listPage(call: InMunicipio): Promise<PageShown> {
  const { world, slug, papel, query } = call;
  const depois = query.get('depois') || undefined;
  const [own, { webhooks: others, seguinte }] = await Promise.all([
    listAvisos(world, slug, DO_MUNICIPIO),
    listAvisosDePartes(world, slug, depois),
  ]);
  const create = mayAs(papel, 'administracao')
    ? html`<p class="botoes"><a class="botao" href="${pathIn(slug, `${PATH}/novo`)}">Cadastrar endereço</a></p>\n`
    : undefined;
  const ofOthers =
    others.length === 0
      ? html`<p>${depois === undefined ? 'Nenhum prestador cadastrou um endereço.' : 'Não há mais endereços de prestadores.'}</p>\n`
      : html`<p>Só o dono muda o seu, com um token ou com o certificado. Aqui se vê se ele recebe.</p>
${listed(call, 'Endereços dos prestadores', others, true)}${nextPage(slug, PATH, {}, seguinte, 'Mais endereços')}`;
  return {
    title: 'Avisos',
    here: HERE,
    main: html`<p>Um programa da prefeitura pode ser avisado quando uma nota ou um evento muda: o serviço envia uma mensagem assinada ao endereço dele. Quem não
responde é tentado de novo por ${String(AVISO_GUARDA_DIAS.tentar)} dias, sem atrasar ninguém.</p>
${create}<h2>Do município</h2>
${own.length === 0 ? html`<p>Nenhum endereço ainda. Cabem ${String(WEBHOOKS_MAX)}.</p>\n` : listed(call, 'Endereços do município', own, false)}<h2>Dos prestadores</h2>
${ofOthers}`,
  };
}

function listed(call: InMunicipio, caption: string, rows: readonly WebhookPublico[], ofOthers: boolean): Html {
  const head = ['Endereço', 'Situação', 'Avisa de', 'Último problema'];
  return table(
    caption,
    ofOthers ? ['De quem', ...head] : head,
    rows.map((one) => [
      ...(ofOthers ? [showDocumento(one.documento!)] : []),
      html`${link(pathOf(call.slug, one.id), addressOf(call, one))}${one.descricao ? html`<br><small>${one.descricao}</small>` : undefined}`,
      situationOf(one),
      kindsOf(one),
      one.falhas === 0 ? '' : wide(one.ultimo_problema ?? ''),
    ]),
  );
}

// The form for a new address.

const KINDS: Readonly<Record<ItemMudado, string>> = { nota: 'Notas', evento: 'Eventos' };

function kindBoxes(ticked: readonly string[]): Inserted {
  const mes = [MES_FECHADO, html`<code>${MES_FECHADO}</code> ${SIGNIFICADO_DO_MES}`] as const;
  const ofMes = boxes({ name: 'tipos', legend: 'Meses', choices: [mes], ticked });
  const ofItems = Object.entries(KINDS).map(([item, legend]) => {
    const choices = MUDANCAS.filter((one) => one.item === item).map(
      ({ tipo, significado }) => [tipo, html`<code>${tipo}</code> ${withNames(significado)}`] as const,
    );
    return boxes({ name: 'tipos', legend, choices, ticked });
  });
  return [...ofItems, ofMes];
}

type Filled = { readonly written: AvisoEscrito; readonly problems: Readonly<Record<string, string>> };

function fieldsOf({ written, problems }: Filled): Inserted {
  const { url, tipos, descricao } = written;
  return [
    field({
      name: 'url',
      label: 'Endereço',
      value: url,
      help: 'Público e em https, como https://erp.exemplo.gov.br/avisos. Um da rede interna pede que quem opera o serviço o permita (NFSE_AVISOS_PRIVADOS).',
      problem: problems['url'],
      required: true,
    }),
    field({
      name: 'descricao',
      label: 'Nome',
      value: descricao,
      help: 'Para que a prefeitura o reconheça.',
      problem: problems['descricao'],
    }),
    html`<h2>De que avisar</h2>
<p>Sem nenhuma marca, de toda mudança.</p>
`,
    kindBoxes(tipos),
    field({
      name: 'motivo',
      label: 'Motivo',
      help: 'Fica no histórico.',
      problem: problems['motivo'],
      maxlength: MOTIVO_MAX,
    }),
  ];
}

function formPage(
  { slug, visitor }: InMunicipio,
  title: string,
  filled: Filled,
  { action, button, back }: { readonly action: string; readonly button: string; readonly back: string },
): PageShown {
  const { problems } = filled;
  const isRefused = Object.keys(problems).length > 0;
  const said = [problems[''], problems['tipos']].filter((one) => one !== undefined);
  return {
    title,
    here: HERE,
    ...(isRefused ? { status: 422 } : {}),
    main: html`${isRefused ? notice('erro', html`<p>Nada foi gravado.</p>${said.map((one) => html`<p>${one}</p>`)}`) : undefined}${form(
      {
        action: pathIn(slug, action),
        token: formTokenOf(visitor),
        fields: fieldsOf(filled),
        button,
        beside: link(back, 'Voltar sem gravar'),
      },
    )}`,
  };
}

function writtenIn({ form: sent }: InMunicipio): AvisoEscrito {
  return { url: sent.text('url'), tipos: sent.texts('tipos'), descricao: sent.text('descricao') };
}

const NEW: AvisoEscrito = { url: '', tipos: [] };

function newPage(call: InMunicipio, filled: Filled = { written: NEW, problems: {} }): PageShown {
  const ways = { action: `${PATH}/novo`, button: 'Cadastrar', back: pathIn(call.slug, PATH) };
  return formPage(call, 'Cadastrar endereço', filled, ways);
}

async function create(call: InMunicipio): Promise<Answer> {
  const { world, slug } = call;
  const written = writtenIn(call);
  const made = await cadastrarAviso(world, slug, written, byHand(call));
  return 'problems' in made ? newPage(call, { written, problems: made.problems }) : secretPage(call, made);
}

/** The secret, which is shown only once. */
export function secretPage(
  { slug }: InMunicipio,
  { webhook, segredo }: { readonly webhook: WebhookPublico; readonly segredo: string },
): PageShown {
  return {
    title: 'Segredo do endereço',
    here: HERE,
    main: html`<p>Com este segredo o programa em <code>${webhook.url}</code> confere que um aviso é deste serviço. Copie-o agora para onde o programa o lê (um clique
o seleciona inteiro): ele não é mostrado de novo, e quem o tiver pode se passar pelo serviço.</p>
<pre class="segredo">${segredo}</pre>
<p>Qualquer biblioteca de Standard Webhooks o aceita como está. Antes do primeiro aviso o serviço pergunta ao programa se quer avisos, e ele confirma devolvendo o desafio da pergunta; até então o endereço fica pendente.</p>
<p class="botoes"><a class="botao" href="${pathOf(slug, webhook.id)}">Já copiei: ver o endereço</a></p>`,
  };
}

export const notThere = (slug: string): PageShown => ({
  title: 'Endereço não encontrado',
  here: HERE,
  status: 404,
  main: html`<p>Não há este endereço de aviso em ${slug}, ou ele não é do município. ${link(pathIn(slug, PATH), 'Ver os que há')}.</p>`,
});

async function changePage(call: InMunicipio, refused?: Filled): Promise<PageShown> {
  const { world, slug, params } = call;
  const shown = await showAviso(world, slug, params['webhook']!);
  if (shown === undefined || shown.webhook.documento !== null) return notThere(slug);
  const { id, url, tipos, descricao } = shown.webhook;
  const filled = refused ?? { written: { url, tipos, descricao: descricao ?? '' }, problems: {} };
  const ways = { action: `${PATH}/${id}/alterar`, button: 'Gravar', back: pathOf(slug, id) };
  return formPage(call, 'Alterar endereço', filled, ways);
}

async function change(call: InMunicipio): Promise<Answer> {
  const { world, slug, params } = call;
  const written = writtenIn(call);
  const changed = await alterarAviso(world, slug, params['webhook']!, written, byHand(call));
  if ('problems' in changed) return changePage(call, { written, problems: changed.problems });
  return { goTo: pathOf(slug, changed.id), recado: 'O endereço foi alterado.' };
}

export const AVISOS_ROUTES: readonly Row[] = [
  forRole('leitura', 'GET', PATH, listPage),
  forRole('administracao', 'GET', `${PATH}/novo`, async (call) => newPage(call)),
  forRole('administracao', 'POST', `${PATH}/novo`, create),
  forRole('administracao', 'GET', `${PATH}/:webhook/alterar`, (call) => changePage(call)),
  forRole('administracao', 'POST', `${PATH}/:webhook/alterar`, change),
];
