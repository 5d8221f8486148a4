/**
 * Lists what changes for integrators: changes of the program by their day, and rules of the law by the day on which they begin. A page and
 * an Atom feed (RFC 4287) show the list; the feed has a rule ninety days before it begins (D-916).
 */
import { createHash } from 'node:crypto';
import { CRONOGRAMA } from '../../fiscal/cronograma.ts';
import { addDays, brazilianDate } from '../../fiscal/moment.ts';
import { ME_EPP_COMPETENCIA_MIN, ME_EPP_FONTE } from '../../fiscal/rules/prest.ts';
import type { RuleScope } from '../../fiscal/rules/rule.ts';
import { ALL_RULES } from '../../fiscal/rules/rules.ts';
import { FIM_PISCOFINS, PISCOFINS } from '../../fiscal/rules/trib-fed.ts';
import { listMudancas, type Mudanca } from '../changelog.ts';
import { code, table } from '../markdown.ts';
import { MUDANCAS_PATH } from '../paths.ts';
import { PAGES } from './frame.ts';
import { type Html, html } from './page-shell.ts';

/** A rule that depends on the competence. `at`: its place, which tells it from other rules of its code. */
type RegraComData = { readonly desde: string; readonly codigo: string; readonly at: string; readonly texto: string };

/** The rules by the day of their first competence. */
const REGRAS: readonly RegraComData[] = [
  ...CRONOGRAMA.map(({ desde, descricao }) => ({
    ...{ desde, codigo: 'E802', at: 'IBSCBS' },
    texto: `O grupo ${code('IBSCBS')} passa a ser exigido de ${descricao}.`,
  })),
  {
    ...{ desde: ME_EPP_COMPETENCIA_MIN, codigo: 'E0161', at: 'prest/regTrib/opSimpNac' },
    texto: `ME e EPP do Simples Nacional emitem só pelo emissor nacional (${ME_EPP_FONTE}).`,
  },
  {
    ...{ desde: FIM_PISCOFINS, codigo: 'E803', at: PISCOFINS },
    texto: `O PIS e a COFINS acabam: ${code('piscofins')} deixa de ser declarado.`,
  },
].toSorted((one, other) => Number(one.desde > other.desde) - Number(one.desde < other.desde));

/** The treatment of a faulty document in the sandbox and in production. */
const POR_AMBIENTE: Readonly<Record<RuleScope | 'geral', readonly [string, string]>> = {
  geral: ['recusa', 'recusa'],
  nacional: ['avisa', 'recusa'],
  aviso: ['avisa', 'avisa'],
};

export function regrasMarkdown(): string {
  const rows = REGRAS.map(({ desde, codigo, at, texto }) => {
    const scope = ALL_RULES.find((one) => one.code === codigo && one.at === at)!.scope ?? 'geral';
    return [brazilianDate(desde), texto, code(codigo), ...POR_AMBIENTE[scope]];
  });
  return table(['Competência', 'O que começa', 'Código', 'Integração', 'Produção'], rows);
}

export function mudancasMarkdown(): string {
  const days = Map.groupBy(listMudancas(), ({ dia }) => dia);
  return [...days]
    .map(([dia, some]) => `### ${brazilianDate(dia)}\n\n${some.map(({ texto }) => `- ${linkPages(texto)}`).join('\n')}`)
    .join('\n\n');
}

/** A link to a file of the repository leads to its page, or becomes text. */
function linkPages(texto: string): string {
  return texto.replace(
    /\[([^\]]*)\]\((?:docs\/(?:site\/)?)?([a-z-]+\.md)(#[^)]*)?\)/g,
    (_whole, name, file, hash = '') => (PAGES.some((page) => page.file === file) ? `[${name}](${file}${hash})` : name),
  );
}

/** The days before a rule begins on which the feed first tells it. */
const ANUNCIO_DIAS = 90;

/** `hoje`: the day of the reader, `YYYY-MM-DD`; `site`: the address of the service for the reader. */
export function mudancasFeed(site: string, hoje: string): string {
  const announced = REGRAS.map(({ desde, codigo, texto }): Entry => {
    const titulo = `Competência ${brazilianDate(desde)}: ${plainOf(texto)}`;
    return { id: `regra ${codigo} ${desde} ${texto}`, dia: addDays(desde, -ANUNCIO_DIAS), titulo, texto: titulo };
  }).filter(({ dia }) => dia <= hoje);
  const changes = listMudancas().map(({ texto, ...one }): Entry => {
    const plain = plainOf(texto);
    return { ...one, titulo: /^.+?(?=[.:](?:\s|$))/.exec(plain)?.[0] ?? plain, texto: plain };
  });
  const entries = [...announced, ...changes].toSorted(
    (one, other) => Number(one.dia < other.dia) - Number(one.dia > other.dia),
  );
  const page = `${site}${MUDANCAS_PATH}`;
  const feed = html`<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="pt-BR">
<title>Mudanças da API de NFS-e</title>
<id>${uuidOf('mudancas-da-api')}</id>
<updated>${momentOf(entries[0]?.dia ?? hoje)}</updated>
<link rel="self" type="application/atom+xml" href="${page}.atom"/>
<link rel="alternate" type="text/html" href="${page}"/>
<author><name>Emissor de NFS-e</name></author>
${entries.map((one) => entryOf(one, page))}</feed>
`.html;
  return `<?xml version="1.0" encoding="utf-8"?>\n${feed}`;
}

type Entry = Mudanca & { readonly titulo: string };

function entryOf({ id, dia, titulo, texto }: Entry, page: string): Html {
  return html`<entry>
<title>${titulo}</title>
<id>${uuidOf(id)}</id>
<updated>${momentOf(dia)}</updated>
<link rel="alternate" type="text/html" href="${page}"/>
<summary>${texto}</summary>
</entry>
`;
}

/** Markdown of one paragraph without its marks. */
function plainOf(texto: string): string {
  return texto.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/\*\*|`/g, '');
}

/** The beginning of a day in Brasília. */
function momentOf(dia: string): string {
  return `${dia}T00:00:00-03:00`;
}

/** A permanent name that does not hang on the address of the service (RFC 9562, version 8). */
function uuidOf(name: string): string {
  const hex = createHash('sha256').update(`mudanca ${name}`).digest('hex');
  return `urn:uuid:${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
