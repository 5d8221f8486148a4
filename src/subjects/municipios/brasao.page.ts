/** The arms of the municipality: the present image, another one by its file, and its removal. */
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
import { readMunicipio } from '../../base/world/municipios.ts';
import { MOTIVO_MAX } from '../../base/world/operator.ts';
import { type Html, html } from '../../published/site/page-shell.ts';
import { formTokenOf } from '../contas/entrada.ts';

export const BRASAO_PATH = '/municipio/brasao';
const HERE = 'municipio';
/** A larger file than an image may be is still read, so that its refusal has a reason. */
const BODY_MAX = 2 * IMAGEM_BYTES_MAX;

/** The present arms on a page. */
export function brasaoShown(slug: string, brasao: string | undefined): Html {
  if (brasao === undefined) return html`<p>Nenhum: as páginas trazem só o nome.</p>\n`;
  return html`<p><img class="brasao" src="${pathIn(slug, `/brasao/${brasao}`)}" alt="Brasão do município"></p>\n`;
}

async function brasaoPage(call: InMunicipio, problem?: string): Promise<PageShown> {
  const { world, slug, visitor } = call;
  const { brasao } = await readMunicipio(world, slug);
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
    title: 'Brasão',
    here: HERE,
    ...(problem === undefined ? {} : { status: 422 }),
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
})}${removal}<p>${link(pathIn(slug, '/municipio/alterar'), 'A cor da barra')} se muda com as outras configurações. ${link(pathIn(slug, '/municipio'), 'Voltar ao município')}</p>`,
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
  forRole('leitura', 'GET', '/brasao/:impressao', showBrasao),
];
