/** The button on the page of a note that makes the bundle, and the bundle itself. */
import { field, folded, form } from '../../base/pages/fields.ts';
import { type Answer, byHand, forRole, type InMunicipio, pathIn, type Row } from '../../base/pages/visit.ts';
import { mayAs } from '../../base/world/papeis.ts';
import { html, type Inserted } from '../../published/site/page-shell.ts';
import { formTokenOf } from '../contas/entrada.ts';
import { notaPage } from '../notas/nota.page.ts';
import { makeEvidencia } from './evidencia.ts';

function evidence({ slug, papel, params, visitor }: InMunicipio): Inserted {
  if (!mayAs(papel, 'atendimento')) return undefined;
  return folded(
    'Reunir as provas desta nota',
    html`<p>Um ZIP com tudo o que se guarda dela, e uma página que diz a um perito como conferir cada documento sem este serviço. Tem dados pessoais das partes: entregue-o só a quem deve tê-lo.</p>
${form({
  action: pathIn(slug, `/notas/${params['chave']}/evidencia`),
  token: formTokenOf(visitor),
  fields: field({ name: 'motivo', label: 'Para quê', help: 'O processo ou o ofício, por exemplo. Fica no histórico.' }),
  button: 'Baixar o conjunto de provas',
})}`,
  );
}

async function download(call: InMunicipio): Promise<Answer> {
  const { world, slug, params } = call;
  const made = await makeEvidencia(world, slug, params['chave']!, byHand(call));
  if ('problem' in made) return notaPage(call, made.problem);
  return { file: made.zip, type: 'application/zip', name: made.nome };
}

export const EVIDENCIA_PAGES: readonly Row[] = [
  {
    ...forRole('atendimento', 'POST', '/notas/:chave/evidencia', download),
    section: { of: '/notas/:chave', write: evidence },
  },
];
