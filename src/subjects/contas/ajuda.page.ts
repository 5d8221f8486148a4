/** The help of the console: the page of the documentation for people of a town hall, also where no public page is reached. */

import { link } from '../../base/pages/fields.ts';
import { AJUDA_PATH } from '../../base/pages/frame.ts';
import { type Answer, forAll, type Row, type Visit } from '../../base/pages/visit.ts';
import { DOCS_PATH } from '../../published/paths.ts';
import { projectText } from '../../published/project-text.ts';
import { html } from '../../published/site/page-shell.ts';
import { renderMarkdown } from '../../published/site/render-markdown.ts';

const { title, body } = renderMarkdown(projectText('docs/site/prefeitura.md'), {
  link: (href) => href,
  errorPage: () => undefined,
});

async function helpPage({ world: { baseUrl } }: Visit): Promise<Answer> {
  const whole =
    baseUrl && html`<p class="quieto">${link(`${baseUrl}${DOCS_PATH}`, 'Toda a documentação do serviço')}</p>\n`;
  return { title, main: html`${body}${whole}` };
}

export const AJUDA_ROUTES: readonly Row[] = [forAll('GET', AJUDA_PATH, helpPage)];
