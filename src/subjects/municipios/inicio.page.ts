/** The first page, and the municipalities of an account. */

import { link, table } from '../../base/pages/fields.ts';
import { MENU } from '../../base/pages/menu.ts';
import { type Answer, forInside, forRole, type Inside, pathIn, type Row } from '../../base/pages/visit.ts';
import { PAPEIS_HELP, PAPEIS_NAMES } from '../../base/world/papeis.ts';
import { html } from '../../published/site/page-shell.ts';

async function openFirst({ visitor }: Inside): Promise<Answer> {
  const [only, ...others] = Object.keys(visitor.conta.papeis);
  return { goTo: only !== undefined && others.length === 0 ? pathIn(only, FIRST) : '/municipios' };
}

const FIRST = MENU[0].path;

async function listMunicipios({ visitor }: Inside): Promise<Answer> {
  const rows = Object.entries(visitor.conta.papeis).sort(([one], [other]) => one.localeCompare(other));
  if (rows.length === 0) {
    return {
      title: 'Nenhum município',
      main: html`<p>Esta conta ainda não trabalha para nenhum município. Quem administra os usuários do seu lhe dá um papel; o seu login é
<b>${visitor.conta.login}</b>.</p>`,
    };
  }
  return {
    title: 'Municípios',
    main: table(
      'Municípios para os quais esta conta trabalha',
      ['Município', 'Seu papel', 'O que ele permite'],
      rows.map(([slug, papel]) => [link(pathIn(slug, FIRST), slug), PAPEIS_NAMES[papel], PAPEIS_HELP[papel]]),
    ),
  };
}

export const INICIO_ROUTES: readonly Row[] = [
  forInside('GET', '/', openFirst),
  forInside('GET', '/municipios', listMunicipios),
  forRole('leitura', 'GET', '', async ({ slug }) => ({ goTo: pathIn(slug, FIRST) })),
];
