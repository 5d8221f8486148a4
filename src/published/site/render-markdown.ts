/**
 * Markdown of this repository as HTML. Headings get an anchor, tables scroll by themselves, and error codes become links. The search gets
 * the plain text of each section. HTML in a source is shown as text. Sections between the comments `abas` and `/abas` have the same content
 * in several languages, one per heading; the script of the pages shows one of them.
 */
import { Marked, type Tokens } from 'marked';
import { ownOf } from '../../fiscal/own.ts';
import { allowBreaks, type Html, html } from './page-shell.ts';

type Heading = { readonly level: number; readonly id: string; readonly text: string };

/** The text from one heading to the next. */
export type Section = Heading & { readonly words: string };

export type Rendered = {
  /** The first heading, which is not part of `body`. */
  readonly title: string;
  readonly body: Html;
  readonly sections: readonly Section[];
};

export type Reading = {
  /** The target of a link of the source. */
  readonly link: (href: string) => string;
  /** The page of an error code; undefined: no such code exists. */
  readonly errorPage: (codigo: string) => string | undefined;
  /** HTML by name: it replaces a paragraph with only that name in double braces. */
  readonly blocks?: Readonly<Record<string, Html>>;
};

/** The form of an error code. */
const CODIGO = /^E\d{3,4}$/;
const BLOCK = /^\{\{([a-z-]+)\}\}$/;

export function renderMarkdown(source: string, { link, errorPage, blocks = {} }: Reading): Rendered {
  const ids = new Set<string>();
  const sections: { level: number; id: string; text: string; words: string[] }[] = [];
  let isLinked = false;
  const tabs = openTabs();
  const marked = new Marked({ gfm: true });
  marked.use({
    renderer: {
      heading({ tokens, depth }) {
        const text = plainOf(tokens);
        const id = uniqueSlug(slugOf(text), ids);
        const inner = this.parser.parseInline(tokens);
        sections.push({ level: depth, id, text, words: [] });
        if (depth === 1) return '';
        const anchor = html`<a class="anchor" href="#${id}" aria-label="${`Endereço de ${text}`}">#</a>`.html;
        return `${tabs.begin(text)}<h${depth} id="${id}">${inner} ${anchor}</h${depth}>\n`;
      },
      paragraph({ tokens, text }) {
        const block = blocks[BLOCK.exec(text)?.[1] ?? ''];
        return block === undefined ? `<p>${this.parser.parseInline(tokens)}</p>\n` : block.html;
      },
      table(token) {
        return tableHtml(token, (tokens) => this.parser.parseInline(tokens));
      },
      code({ text, lang }) {
        // Viewers of the source draw it; the tables beside it give the same content on the page.
        if (lang === 'mermaid') return '';
        return `${html`<pre tabindex="0"><code>${text}</code></pre>`.html}\n`;
      },
      codespan({ text }) {
        const code = html`<code>${allowBreaks(text)}</code>`;
        const page = isLinked || !CODIGO.test(text) ? undefined : errorPage(text);
        return page === undefined ? code.html : html`<a href="${page}">${code}</a>`.html;
      },
      link({ href, tokens }) {
        isLinked = true;
        const inner = this.parser.parseInline(tokens);
        isLinked = false;
        return html`<a href="${link(href)}">${{ html: inner }}</a>`.html;
      },
      html({ text, block }) {
        const tab = TABS.exec(text)?.[1];
        if (tab !== undefined) return tab === 'abas' ? tabs.open() : tabs.close();
        // A comment is meant for editors of the source.
        return /^\s*<!--[\s\S]*-->\s*$/.test(text) ? '' : html`${text}`.html + (block ? '\n' : '');
      },
    },
  });
  const tokens = marked.lexer(source);
  const body = marked.parser(tokens);
  // The renderer has met the headings in the order of the source; the words between them are taken in the same order.
  let place = -1;
  for (const token of tokens) {
    if (token.type === 'heading') place += 1;
    else if (token.type !== 'html' && !BLOCK.test(token.raw.trim())) sections[place]?.words.push(plainOf([token]));
  }
  return {
    title: sections.find(({ level }) => level === 1)?.text ?? '',
    body: { html: body },
    sections: sections.map(({ words, ...heading }) => ({ ...heading, words: words.join(' ') })),
  };
}

const TABS = /^<!-- (\/?abas) -->\s*$/;

/** Languages shown under the name of an equivalent one. */
const SAME_LANGUAGE: Readonly<Record<string, string>> = { node: 'javascript', typescript: 'javascript' };

/** The HTML around sections in different languages. */
function openTabs() {
  let state: 'none' | 'open' | 'inside' = 'none';
  const closeOne = (): string => (state === 'inside' ? '</section>\n' : '');
  return {
    open: (): string => {
      state = 'open';
      return '<div class="abas">\n';
    },
    /** The HTML before the heading of a section. */
    begin: (name: string): string => {
      if (state === 'none') return '';
      const before = closeOne();
      state = 'inside';
      const language = name.toLowerCase();
      const key = ownOf(SAME_LANGUAGE, language) ?? language;
      return before + html`<section class="aba" data-linguagem="${key}" data-nome="${name}">\n`.html;
    },
    close: (): string => {
      const before = closeOne();
      state = 'none';
      return `${before}</div>\n`;
    },
  };
}

type Inline = (tokens: Tokens.TableCell['tokens']) => string;

/** A table that scrolls by itself; `inline`: the text of a cell as HTML. */
function tableHtml({ header, rows }: Tokens.Table, inline: Inline): string {
  const head = row(header.map((cell) => `<th scope="col"${side(cell)}>${inline(cell.tokens)}</th>`));
  const isNamed = header.some(({ text }) => text !== '');
  const isWide = isNamed && header.length > NARROW_COLUMNS;
  const names = header.map(({ tokens }) => (isWide ? html` data-l="${plainOf(tokens)}"`.html : ''));
  const body = rows.map((cells) =>
    row(
      cells.map((cell, column) => {
        const name = column === 0 || cell.text === '' ? '' : names[column];
        return `<td${side(cell)}${name}>${inline(cell.tokens)}</td>`;
      }),
    ),
  );
  return `<div class="table${isWide ? ' wide' : ''}" tabindex="0" role="group" aria-label="Tabela"><table>${isNamed ? `<thead>${head}</thead>` : ''}<tbody>${body.join('')}</tbody></table></div>\n`;
}

/** A phone shows a table with more columns row by row, each cell under the name of its column. */
const NARROW_COLUMNS = 2;

function row(cells: readonly string[]): string {
  return `<tr>${cells.join('')}</tr>`;
}

function side({ align }: Tokens.TableCell): string {
  return align === 'right' ? ' class="right"' : '';
}

type Part = {
  readonly tokens?: readonly unknown[];
  readonly items?: readonly unknown[];
  /** The cells of a table; true or false for a cell: it belongs to the head or not. */
  readonly header?: unknown;
  readonly rows?: readonly (readonly unknown[])[];
  readonly text?: string;
};

/** The text without its markup. */
function plainOf(parts: readonly unknown[]): string {
  return (parts as readonly Part[])
    .map(({ tokens, items, header, rows, text }) => {
      if (rows !== undefined)
        return [header as unknown[], ...rows]
          .flat()
          .map((cell) => plainOf([cell]))
          .join(' · ');
      if (items !== undefined) return items.map((item) => plainOf([item])).join(' ');
      return tokens === undefined ? (text ?? '') : plainOf(tokens);
    })
    .join('');
}

/** The anchor of a heading, as public Markdown viewers make it: a link inside a source works in both places. */
function slugOf(text: string): string {
  return text
    .toLowerCase()
    .trim()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-');
}

function uniqueSlug(slug: string, taken: Set<string>): string {
  const name = slug === '' ? 'secao' : slug;
  let one = name;
  for (let count = 2; taken.has(one); count += 1) one = `${name}-${count}`;
  taken.add(one);
  return one;
}
