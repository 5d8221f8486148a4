/**
 * Writes each page as Markdown, and the list of all pages for language models (`llms.txt`). The text is the source of the page. A link
 * leads to the Markdown of another page if there is one.
 */

import { type TabelaIbsCbs, tabelaEmbarcada } from '../../fiscal/aliquotas-ibs-cbs.ts';
import { SANDBOX_SLUG } from '../../fiscal/ambiente.ts';
import { VERSOES } from '../../fiscal/layout/layouts.ts';
import { errorIndexMarkdown } from '../errors/markdown.ts';
import { ARQUIVOS_PATH, ERROS_JSON_PATH, ERROS_PATH, OPENAPI_PATH } from '../paths.ts';
import { ARQUIVOS, PACOTE_CLIENTE } from './files.ts';
import { addressOf, BESIDE, GROUPS, markdownOf, PAGES, type Page, relativePath } from './frame.ts';
import { type DocsRequest, linkFrom, nameSite, type Site, sourceOf } from './site.ts';

/** The page at a slug as Markdown, with the list of codes among them; undefined: there is none. */
export async function docsMarkdown(site: Site, { slug, address, tabela }: DocsRequest): Promise<string | undefined> {
  if (addressOf(slug) === ERROS_PATH) return errorIndexMarkdown(`${slug}/`);
  const page = PAGES.find((one) => one.slug === slug);
  return page && nameSite(writePage(site, page, await tabela()), address);
}

/** The place of a drawing or a form. */
const BLOCK = /^\{\{[a-z-]+\}\}$/gm;
const COMMENT = /^<!--.*-->\n+/gm;
/** A link; code, in which nothing is a link, is found before it. */
const LINK = /^ *(`{3,})[\s\S]*?^ *\1$|`[^`\n]*`|\]\(([^)\s]+)\)/gm;

function writePage(site: Site, page: Page, tabela: TabelaIbsCbs): string {
  const here = addressOf(page.slug);
  const block = `*(Aqui a [página](${relativePath(here, here)}) tem um desenho ou um formulário.)*`;
  return sourceOf(site, page, tabela)
    .replace(COMMENT, '')
    .replace(LINK, (whole, _fence, href?: string) =>
      href === undefined ? whole : `](${linkFrom(here, href, (path) => markdownOf(path) ?? path)})`,
    )
    .replace(BLOCK, block);
}

type Link = readonly [title: string, path: string, about: string];

/** The list of all pages, by the convention of llmstxt.org. */
export function llmsText(site: Site, address: string): string {
  const text = [
    '# Emissor de NFS-e',
    `> Recebe a DPS do leiaute nacional ${VERSOES} e responde com a NFS-e e a sua chave de acesso.`,
    `A API de um município está em \`${address}/{municipio}/api/v1\`. O município \`${SANDBOX_SLUG}\` é o ambiente de integração: não pede certificado nem cadastro, e nada nele tem valor fiscal. Sem \`.md\`, os mesmos endereços são páginas.`,
    section('Para programas', PROGRAMS),
    ...GROUPS.map((group) => section(group, linksOf(site, group))),
  ].join('\n\n');
  return `${nameSite(text.replaceAll('](/', `](${address}/`), address)}\n`;
}

/** The clients of one file, one for each language. */
const CLIENTE = /^emissor_?nfse\.\w+$/i;

const PROGRAMS: readonly Link[] = [
  ['OpenAPI 3.1', OPENAPI_PATH, 'Cada endereço, com parâmetros, respostas e exemplos.'],
  ['Códigos de erro em JSON', ERROS_JSON_PATH, 'O que cada código significa, como se resolve, exemplos.'],
  [PACOTE_CLIENTE, `${ARQUIVOS_PATH}/${PACOTE_CLIENTE}`, 'O cliente em TypeScript, que o npm instala.'],
  ...Object.keys(ARQUIVOS)
    .filter((name) => CLIENTE.test(name))
    .map((name): Link => [name, `${ARQUIVOS_PATH}/${name}`, 'Um cliente num arquivo, que se copia para o projeto.']),
];

function linksOf(site: Site, group: (typeof GROUPS)[number]): readonly Link[] {
  const pages = PAGES.filter((page) => page.group === group).map((page): Link => {
    const path = addressOf(page.slug);
    return [page.short, markdownOf(path) ?? path, firstSentence(writePage(site, page, tabelaEmbarcada()))];
  });
  const beside = BESIDE.filter((one) => one.group === group).map(
    ({ path, title, about }): Link => [title, markdownOf(path) ?? path, about],
  );
  return [...pages, ...beside];
}

function section(title: string, links: readonly Link[]): string {
  return `## ${title}\n\n${links.map(([name, path, about]) => `- [${name}](${path}): ${about}`).join('\n')}`;
}

/** The first sentence of the first paragraph, which says what a page is about. */
function firstSentence(markdown: string): string {
  const paragraph = markdown.split('\n\n').find((block) => /^[\p{L}*`]/u.test(block) && !block.startsWith('```'))!;
  const plain = paragraph
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll('**', '')
    .replaceAll('\n', ' ');
  return /^.+?[.:](?=\s|$)/.exec(plain)![0].replace(/:$/, '.');
}
