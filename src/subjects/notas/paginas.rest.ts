/** Public pages for people: check a document as in the sandbox, migrate one from the national API, or consult a note. */
import { attend, refuse } from '../../base/http/attend.ts';
import { clientOf } from '../../base/http/caller.ts';
import type { HttpAnswer } from '../../base/http/message.ts';
import { addLimits } from '../../base/http/quotas.ts';
import { refuseTrouble, refuseUnavailable } from '../../base/http/refusals.ts';
import { refuseAsFlow } from '../../base/http/repetition.ts';
import type { HttpRoute } from '../../base/http/router.ts';
import {
  CROWD_WAIT_S,
  CROWDED_BODIES,
  CROWDED_SERVICE,
  type Door,
  findMunicipio,
  type Visit,
  workInPlace,
} from '../../base/http/visit.ts';
import { noForm, readForm } from '../../base/pages/forms.ts';
import { SANDBOX_SLUG } from '../../fiscal/ambiente.ts';
import { BODY_MAX_BYTES } from '../../published/http-limits.ts';
import { CONFERIR_PATH, DOCS_PATH, ERROS_PATH, MIGRAR_PATH } from '../../published/paths.ts';
import { framePage, relativePath } from '../../published/site/frame.ts';
import { type Html, html } from '../../published/site/page-shell.ts';
import { annotated } from './annotated.page.ts';
import { conferir } from './conferir.ts';
import { consultaRoutes, page } from './consulta.rest.ts';
import { migrarDps } from './migrar-dps.ts';
import { differences, migrated } from './migrated.page.ts';
import type { Municipio } from './queries.ts';
import { weigh } from './unwrap.ts';
import { validateNota } from './validate.ts';

/** A page with a form for a document, pasted or as a file, and its result. */
type DocumentPage = {
  readonly path: string;
  readonly title: string;
  readonly lead: Html;
  readonly help: string;
  readonly button: string;
  /** The part below the form while no document was sent. */
  readonly below?: Html;
  readonly show: (door: Door, municipio: Municipio, given: Uint8Array) => Promise<Html>;
};

function documentForm({ path, help, button }: DocumentPage, texto = ''): Html {
  return html`<form method="post" action="${relativePath(path, path)}" enctype="multipart/form-data" class="conferir">
<p><label for="documento">Documento</label><br>
<small id="documento-ajuda">${help}</small></p>
<textarea id="documento" name="documento" rows="12" spellcheck="false" aria-describedby="documento-ajuda">
${texto}</textarea>
<p><label for="arquivo">Ou um arquivo</label> <input id="arquivo" name="arquivo" type="file"></p>
<p><button>${button}</button></p>
</form>
`;
}

function askPage(asked: DocumentPage): string {
  const { title, lead, path, below } = asked;
  return framePage(
    title,
    html`
<h1>${title}</h1>
${lead}${documentForm(asked)}${below}`,
    path,
  );
}

async function showSent(door: Door, visit: Visit, asked: DocumentPage): Promise<HttpAnswer> {
  const { request } = visit;
  const municipio = await findMunicipio(door, visit, SANDBOX_SLUG);
  if (municipio === undefined) return refuse(door, visit, refuseTrouble('unknown_path', undefined));
  const quota = door.quotas.of(municipio, clientOf(request, door.options.trustProxy));
  const spent = quota.isSpent();
  if (spent !== undefined) return addLimits(quota, refuse(door, visit, refuseAsFlow(spent)));
  const body = await request.readBody(BODY_MAX_BYTES);
  if (body === 'crowded') return refuse(door, visit, refuseUnavailable(CROWDED_BODIES, CROWD_WAIT_S));
  if (typeof body === 'string') return refuse(door, visit, refuseTrouble(body, undefined));
  quota.measure(body.length);
  const tooMuch = await quota.enter();
  if (tooMuch !== undefined) return addLimits(quota, refuse(door, visit, refuseAsFlow(tooMuch)));
  const form = await readForm(request.headers['content-type'], body);
  const isForm = !('problem' in form);
  const sent = isForm ? form : noForm;
  const texto = sent.text('documento');
  const given = sent.file('arquivo')?.content ?? Buffer.from(texto);
  // Compressed documents are counted by their unpacked size.
  const { documentos, bytes } = weigh(given);
  quota.measure(Math.max(body.length, bytes));
  const tooMany = await quota.enter(documentos);
  if (tooMany !== undefined) return addLimits(quota, refuse(door, visit, refuseAsFlow(tooMany)));
  const shown = isForm
    ? await workInPlace(door, municipio, () => asked.show(door, municipio, given))
    : annotated({ problema: form.problem }, errosHere);
  if (shown === undefined) return refuse(door, visit, refuseUnavailable(CROWDED_SERVICE, CROWD_WAIT_S));
  const { title, path, button } = asked;
  const main = html`
<h1>${title}</h1>
${shown}<h2>${button} outro</h2>
${documentForm(asked, sent.file('arquivo') === undefined ? texto : '')}`;
  return addLimits(quota, page(framePage(title, main, path)));
}

const ERROS_HERE = relativePath(CONFERIR_PATH, ERROS_PATH);
const errosHere = (codigo: string): string => `${ERROS_HERE}/${codigo}`;

const CONFERIR: DocumentPage = {
  path: CONFERIR_PATH,
  title: 'Conferir um documento',
  lead: html`<p class="lead">Cole um documento: a página mostra cada erro no seu lugar, o que o conserta, o texto com tudo o que é certo já corrigido, e os
valores que a nota teria. Vale o que vale no ambiente de integração. Nada é emitido, nem guardado.</p>
`,
  help: 'Uma DPS (XML ou JSON) ou um pedido de evento (JSON), como se envia; também em base64 ou gzip.',
  button: 'Conferir',
  show: async ({ world }, municipio, given) => annotated(await conferir(world, municipio, given), errosHere),
};

/** Documents of a lot that the page shows; the command shows all. */
const MIGRADOS_MAX = 5;

const MIGRAR: DocumentPage = {
  path: MIGRAR_PATH,
  title: 'Vir da API nacional',
  lead: html`<p class="lead">Cole o que o seu programa envia hoje à API nacional: a página abre o envelope passo a passo, diz o que muda naquele documento, e o mostra já
mudado, para assinar e enviar. Vale o que vale no ambiente de integração. Nada é emitido, nem guardado.</p>
`,
  help: 'O JSON da requisição (dpsXmlGZipB64 ou pedidoRegistroEventoXmlGZipB64), o Base64 ou o gzip de dentro dele, ou o XML.',
  button: 'Mudar',
  below: differences(relativePath(MIGRAR_PATH, `${DOCS_PATH}/diferencas`)),
  show: async ({ world }, municipio, given) =>
    migrated(
      await migrarDps((sent) => validateNota(world, municipio, sent), given, {
        agora: world.now(),
        documentosMax: MIGRADOS_MAX,
        bytesMax: BODY_MAX_BYTES,
      }),
      errosHere,
    ),
};

export const conferirPage = (): string => askPage(CONFERIR);
export const migrarPage = (): string => askPage(MIGRAR);

export function pageRoutes(door: Door): readonly HttpRoute[] {
  const route = (method: 'GET' | 'POST', path: string, work: (visit: Visit) => Promise<HttpAnswer>): HttpRoute => ({
    method,
    path,
    handle: (request) => attend(door, request, path, work),
  });
  return [
    ...[CONFERIR, MIGRAR].map((asked) => route('POST', asked.path, (visit) => showSent(door, visit, asked))),
    ...consultaRoutes(door),
  ];
}
