/** Markdown helpers for the generated documents and the pages. */

export function code(text: string): string {
  return `\`${text}\``;
}

/** A table. A vertical bar in a cell is escaped, and a line break becomes a space. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.map(cell).join(' | ')} |`).join('\n');
}

/** A table of names with their descriptions. */
export function nameTable(head: readonly [string, string], about: Readonly<Record<string, string>>): string {
  return table(
    head,
    Object.entries(about).map(([name, text]) => [code(name), text]),
  );
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}

/** A block of code within more backquotes than any text contains. */
export function fenceCode(lang: string, text: string): string {
  return `\`\`\`\`\`${lang}\n${text.trimEnd()}\n\`\`\`\`\``;
}

/** Running text whose tags a viewer shows, instead of interpreting them. */
export function escapeTags(text: string): string {
  return text.replace(/[<>]/g, (character) => (character === '<' ? '&lt;' : '&gt;')).replace(/&(?!lt;|gt;)/g, '&amp;');
}

/** `a, b e c` */
export function joinItems(items: readonly string[], last: 'e' | 'ou' = 'e'): string {
  return items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} ${last} ${items.at(-1)}`;
}

/** The text, or its shown part with an ellipsis. */
export function shorten(text: string, charsMax: number): string {
  return text.length <= charsMax ? text : `${text.slice(0, charsMax).trimEnd()}…`;
}

/** A path in readable form: `/nfse/{chave_acesso}` for `/nfse/:chave_acesso`. */
export function writeBraces(path: string): string {
  return path.replace(/:(\w+)/g, '{$1}');
}
