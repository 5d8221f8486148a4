/** Checks a pasted or dropped document before it is sent, or after its refusal. */

import { field, form } from '../../base/pages/fields.ts';
import { forRole, type InMunicipio, type PageShown, pathIn, type Row } from '../../base/pages/visit.ts';
import { municipioNamed } from '../../base/world/municipios.ts';
import { ERROS_PATH } from '../../published/paths.ts';
import { type Html, html } from '../../published/site/page-shell.ts';
import { formTokenOf } from '../contas/entrada.ts';
import { annotated } from './annotated.page.ts';
import { conferir } from './conferir.ts';

const HERE = 'conferir';
const PATH = '/conferir';
/** The body limit of the service, with room for the form around the document. */
const BODY_MAX = 5 * 1024 * 1024;

function askForm({ slug, visitor }: InMunicipio, texto = ''): Html {
  return form({
    action: pathIn(slug, PATH),
    token: formTokenOf(visitor),
    hasFiles: true,
    fields: html`${field({
      name: 'documento',
      label: 'Documento',
      rows: 12,
      value: texto,
      help: 'Uma DPS (XML ou JSON) ou um pedido de evento (JSON), como foi enviado; também em base64 ou gzip.',
    })}${field({ name: 'arquivo', label: 'Ou um arquivo', type: 'file', help: 'Escolha, ou arraste para cá.' })}`,
    button: 'Conferir',
  });
}

async function askPage(call: InMunicipio): Promise<PageShown> {
  return {
    title: 'Conferir',
    here: HERE,
    main: html`<p>Cole o documento que o prestador enviou: a página mostra cada erro no seu lugar, o que o conserta, e os valores que a nota teria. Nada é emitido nem guardado.</p>
${askForm(call)}`,
  };
}

async function checkPage(call: InMunicipio): Promise<PageShown> {
  const { world, slug, form: sent } = call;
  const texto = sent.text('documento');
  const file = sent.file('arquivo');
  const municipio = await municipioNamed(world, slug);
  const found = await conferir(world, municipio, file?.content ?? Buffer.from(texto));
  const base = world.baseUrl?.replace(/\/$/, '') ?? '';
  const shown = annotated(found, (codigo) => `${base}${ERROS_PATH}/${codigo}`);
  return {
    title: 'Conferir',
    here: HERE,
    main: html`${shown}<h2>Conferir outro</h2>
${askForm(call, file === undefined ? texto : '')}`,
  };
}

export const CONFERIR_ROUTES: readonly Row[] = [
  forRole('leitura', 'GET', PATH, askPage),
  forRole('leitura', 'POST', PATH, checkPage, BODY_MAX),
];
