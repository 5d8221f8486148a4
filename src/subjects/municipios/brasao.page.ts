/** The arms of the municipality, another image by its file, its removal, and the colour of the bar. */
import { field, folded, form, link } from '../../base/pages/fields.ts';
import {
  type Answer,
  byHand,
  forRole,
  type InMunicipio,
  type PageShown,
  pathIn,
  type Row,
} from '../../base/pages/visit.ts';
import { findBrasao, IMAGEM_BYTES_MAX, removeBrasao, sendBrasao } from '../../base/world/brasoes.ts';
import { type Asked, alterMunicipio, readMunicipio } from '../../base/world/municipios.ts';
import { MOTIVO_MAX } from '../../base/world/operator.ts';
import { upperFirst } from '../../fiscal/words.ts';
import { type Html, html } from '../../published/site/page-shell.ts';
import { formTokenOf } from '../contas/entrada.ts';

export const BRASAO_PATH = '/municipio/brasao';
const HERE = 'municipio';
/** A larger file than an image may be is still read, so that its refusal has a reason. */
const BODY_MAX = 2 * IMAGEM_BYTES_MAX;

/** The colour that the picker shows while there is none. */
const COR_OFFERED = '#1351b4';

/** The present arms on a page. */
export function brasaoShown(slug: string, brasao: string | undefined): Html {
  if (brasao === undefined) return html`<p>Nenhum: as páginas trazem só o nome.</p>\n`;
  return html`<p><img class="brasao" src="${pathIn(slug, `/brasao/${brasao}`)}" alt="Brasão do município"></p>\n`;
}

/** `ofCor`: the fault of the colour; `problem`: that of the image. */
async function brasaoPage(call: InMunicipio, problem?: string, ofCor?: string): Promise<PageShown> {
  const { world, slug, visitor } = call;
  const { brasao, cor } = await readMunicipio(world, slug);
  const token = formTokenOf(visitor);
  const motivo = (of: string): Html =>
    field({ name: 'motivo', label: 'Motivo', help: 'Fica no histórico.', maxlength: MOTIVO_MAX, of });
  const removal =
    brasao === undefined
      ? undefined
      : folded(
          'Retirar o brasão',
          form({
            action: pathIn(slug, `${BRASAO_PATH}/retirar`),
            token,
            fields: motivo('retirar'),
            button: 'Retirar',
            isGrave: true,
          }),
        );
  return {
    title: 'Brasão e cor',
    here: HERE,
    ...((problem ?? ofCor) === undefined ? {} : { status: 422 }),
    main: html`<p>Aparece na barra do console e nas páginas públicas do município, ao lado do nome. A nota impressa (DANFSe) segue o modelo
nacional, e não o traz.</p>
<h2>Agora</h2>
${brasaoShown(slug, brasao)}<h2>Enviar outro</h2>
${form({
  action: pathIn(slug, `${BRASAO_PATH}/enviar`),
  token,
  hasFiles: true,
  fields: [
    field({
      name: 'brasao',
      label: 'Imagem',
      help: `PNG ou JPEG, até ${IMAGEM_BYTES_MAX / 1024} KB. Com fundo transparente fica bem sobre qualquer cor.`,
      type: 'file',
      required: true,
      problem,
    }),
    motivo('enviar'),
  ],
  button: 'Enviar',
})}${removal}<h2>A cor da barra</h2>
<p>Aparece na barra do console e no alto das páginas públicas; o texto sobre ela fica branco ou preto, o que mais contrasta.
${cor === undefined ? 'Agora nenhuma.' : html`Agora <code>${cor}</code>.`}</p>
${form({
  action: pathIn(slug, `${BRASAO_PATH}/cor`),
  token,
  fields: [
    field({ name: 'cor', label: 'Cor', type: 'color', value: cor ?? COR_OFFERED, required: true, problem: ofCor }),
    motivo('cor'),
  ],
  button: 'Usar esta cor',
})}${cor === undefined ? undefined : folded('Voltar à barra sem cor', form({ action: pathIn(slug, `${BRASAO_PATH}/sem-cor`), token, fields: motivo('sem-cor'), button: 'Voltar à barra sem cor' }))}<p>${link(pathIn(slug, '/municipio'), 'Voltar ao município')}</p>`,
  };
}

async function send(call: InMunicipio): Promise<Answer> {
  const { world, slug, form: sent } = call;
  const file = sent.file('brasao');
  if (file === undefined) return brasaoPage(call, 'Escolha o arquivo da imagem.');
  const done = await sendBrasao(world, slug, file.content, byHand(call));
  return done === 'feito'
    ? goBack(slug, 'O brasão foi trocado; as páginas o mostram em segundos.')
    : brasaoPage(call, done.problem);
}

async function remove(call: InMunicipio): Promise<Answer> {
  const { world, slug } = call;
  const done = await removeBrasao(world, slug, byHand(call));
  return done === 'feito' ? goBack(slug, 'O brasão foi retirado.') : brasaoPage(call, done.problem);
}

async function changeCor(call: InMunicipio, asked: Asked, recado: string): Promise<Answer> {
  const changed = await alterMunicipio(call.world, call.slug, asked, byHand(call));
  if (!('problems' in changed)) return goBack(call.slug, recado);
  return brasaoPage(call, undefined, changed.problems.map(({ texto }) => upperFirst(texto)).join(' '));
}

const goBack = (slug: string, recado: string): Answer => ({ goTo: pathIn(slug, BRASAO_PATH), recado });

const NO_BRASAO: PageShown = {
  status: 404,
  title: 'Página não encontrada',
  main: html`<p>O município tem outro brasão, ou nenhum.</p>`,
};

async function showBrasao({ world, slug, params }: InMunicipio): Promise<Answer> {
  const image = await findBrasao(world, slug, params['impressao']!);
  return image === undefined ? NO_BRASAO : { image };
}

export const BRASAO_ROUTES: readonly Row[] = [
  forRole('administracao', 'GET', BRASAO_PATH, (call) => brasaoPage(call)),
  forRole('administracao', 'POST', `${BRASAO_PATH}/enviar`, send, BODY_MAX),
  forRole('administracao', 'POST', `${BRASAO_PATH}/retirar`, remove),
  forRole('administracao', 'POST', `${BRASAO_PATH}/cor`, (call) =>
    changeCor(call, { written: { cor: call.form.text('cor') }, without: [] }, 'A cor foi trocada.'),
  ),
  forRole('administracao', 'POST', `${BRASAO_PATH}/sem-cor`, (call) =>
    changeCor(call, { written: {}, without: ['cor'] }, 'A barra voltou a não ter cor.'),
  ),
  forRole('leitura', 'GET', '/brasao/:impressao', showBrasao),
];
