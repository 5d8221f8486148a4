/** Pages of the public port for people: a document checked as in the sandbox, and a note shown to who has its key. */
import { setTimeout as pause } from 'node:timers/promises';
import { SANDBOX_SLUG } from '../../fiscal/ambiente.ts';
import { conferir } from '../../flows/conferir.ts';
import { findNotaPublica, type NotaPublica } from '../../flows/consulta-publica.ts';
import { BODY_MAX_BYTES } from '../../published/http-limits.ts';
import { CONFERIR_PATH, CONSULTA_PATH, ERROS_PATH } from '../../published/paths.ts';
import { framePage, relativePath } from '../../published/site/frame.ts';
import { document, type Html, html, PAGE_POLICY } from '../../published/site/page-shell.ts';
import { annotated } from '../html/annotated.ts';
import { noForm, readForm } from '../html/forms.ts';
import { API_HEADERS, attend, refuse } from './attend.ts';
import { clientOf } from './caller.ts';
import type { HttpAnswer } from './message.ts';
import { addLimits } from './quotas.ts';
import { refuseTooManyMisses, refuseTrouble, refuseUnavailable } from './refusals.ts';
import { refuseAsFlow } from './repetition.ts';
import type { HttpRoute } from './router.ts';
import {
  CROWD_WAIT_S,
  CROWDED_BODIES,
  CROWDED_QUESTIONS,
  CROWDED_SERVICE,
  type Door,
  findMunicipio,
  type Visit,
  workInPlace,
} from './visit.ts';

const HEADERS: Readonly<Record<string, string>> = {
  ...API_HEADERS,
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': PAGE_POLICY,
  'Referrer-Policy': 'no-referrer',
  'X-Robots-Tag': 'noindex',
};

const page = (text: string, status = 200): HttpAnswer => ({ status, headers: HEADERS, body: text });

// Checking a document.

const ERROS_HERE = relativePath(CONFERIR_PATH, ERROS_PATH);

function conferirForm(texto = ''): Html {
  return html`<form method="post" action="${relativePath(CONFERIR_PATH, CONFERIR_PATH)}" enctype="multipart/form-data" class="conferir">
<p><label for="documento">Documento</label><br>
<small id="documento-ajuda">Uma DPS (XML ou JSON) ou um pedido de evento (JSON), como se envia; também em base64 ou gzip.</small></p>
<textarea id="documento" name="documento" rows="12" spellcheck="false" aria-describedby="documento-ajuda">
${texto}</textarea>
<p><label for="arquivo">Ou um arquivo</label> <input id="arquivo" name="arquivo" type="file"></p>
<p><button>Conferir</button></p>
</form>
`;
}

const LEAD = html`<p class="lead">Cole um documento: a página mostra cada erro no seu lugar, o que o conserta, o texto com tudo o que é certo já corrigido, e os
valores que a nota teria. Vale o que vale no ambiente de integração. Nada é emitido, nem guardado.</p>
`;

export function conferirPage(): string {
  return framePage(
    'Conferir um documento',
    html`
<h1>Conferir um documento</h1>
${LEAD}${conferirForm()}`,
    CONFERIR_PATH,
  );
}

async function checkSent(door: Door, visit: Visit): Promise<HttpAnswer> {
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
  const found = isForm
    ? await workInPlace(door, () => conferir(door.world, municipio, given))
    : { problema: form.problem };
  if (found === undefined) return refuse(door, visit, refuseUnavailable(CROWDED_SERVICE, CROWD_WAIT_S));
  const main = html`
<h1>Conferir um documento</h1>
${annotated(found, (codigo) => `${ERROS_HERE}/${codigo}`)}<h2>Conferir outro</h2>
${conferirForm(sent.file('arquivo') === undefined ? texto : '')}`;
  return addLimits(quota, page(framePage('Conferir um documento', main, CONFERIR_PATH)));
}

// One note.

async function consult(door: Door, visit: Visit): Promise<HttpAnswer> {
  const { request } = visit;
  const { municipio: slug, chave } = request.params;
  const client = clientOf(request, door.options.trustProxy);
  const turn = door.misses.turnOf(client);
  if (turn === undefined) return refuse(door, visit, refuseUnavailable(CROWDED_QUESTIONS, CROWD_WAIT_S));
  if (turn > 0) await pause(turn);
  const municipio = await findMunicipio(door, visit, slug!);
  const nota = municipio && (await findNotaPublica(door.world, municipio, chave!.replace(/^NFS/, '')));
  if (nota !== undefined) return page(notaPage(nota));
  const wait = await door.misses.count(client, 1);
  if (wait !== undefined) return refuse(door, visit, refuseTooManyMisses(wait));
  return page(UNKNOWN, 404);
}

/** The same whether there is no such municipality, no such note, or no such key. */
const UNKNOWN = document(
  'Nota não encontrada',
  html`
<h1>Nota não encontrada</h1>
<p>Neste endereço não há nota com esta chave de acesso (E301). Confira os 50 algarismos, que estão na nota impressa, e o município que a emitiu.</p>
<p>Toda nota autorizada se consulta também no <a href="https://www.nfse.gov.br/ConsultaPublica/" rel="noreferrer">portal nacional da NFS-e</a>.</p>
`,
);

function notaPage({
  chave,
  municipio,
  tom,
  situacao,
  diz,
  substituidaPor,
  fatos,
  temDanfse,
  nacional,
}: NotaPublica): string {
  const danfse = `../api/v1/danfse/${chave}`;
  return document(
    `Nota ${situacao.toLowerCase()}`,
    html`
<h1>Nota fiscal de serviço eletrônica</h1>
<p class="situacao ${tom}"><b>${situacao}.</b> ${diz}${
      substituidaPor === undefined ? undefined : html` A que vale é <a href="${substituidaPor}">${substituidaPor}</a>.`
    }</p>
<dl class="nota">
${fatos.map(([nome, valor]) => html`<div><dt>${nome}</dt><dd>${valor}</dd></div>\n`)}<div><dt>Chave de acesso</dt><dd><code>${chave}</code></dd></div>
</dl>
${temDanfse ? html`<p><a href="${danfse}">Nota impressa (DANFSe, em PDF)</a></p>\n` : undefined}${
  nacional === undefined
    ? html`<p class="quiet">Emitida em ${municipio}. Não está no portal nacional.</p>`
    : html`<p><a href="${nacional}" rel="noreferrer">Conferir no portal nacional da NFS-e</a>, que diz o mesmo. Emitida em ${municipio}.</p>`
}`,
  );
}

export function pageRoutes(door: Door): readonly HttpRoute[] {
  const route = (method: 'GET' | 'POST', path: string, work: (visit: Visit) => Promise<HttpAnswer>): HttpRoute => ({
    method,
    path,
    handle: (request) => attend(door, request, path, work),
  });
  return [
    route('POST', CONFERIR_PATH, (visit) => checkSent(door, visit)),
    route('GET', CONSULTA_PATH, (visit) => consult(door, visit)),
  ];
}
