/** Markdown as the generated documents and the pages write it. */

export function code(text: string): string {
  return `\`${text}\``;
}

/** A table. A vertical bar in a cell is escaped, and a line break becomes a space. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.map(cell).join(' | ')} |`).join('\n');
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}

/** A block of code with more backquotes around it than any text has in it. */
export function fenced(lang: string, text: string): string {
  return `\`\`\`\`\`${lang}\n${text.trimEnd()}\n\`\`\`\`\``;
}

/** Running text, in which a tag of a document must not become one of the page. */
export function plain(text: string): string {
  return text.replace(/[<>]/g, (character) => (character === '<' ? '&lt;' : '&gt;')).replace(/&(?!lt;|gt;)/g, '&amp;');
}

/** `a, b e c` */
export function listed(items: readonly string[]): string {
  return items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} e ${items.at(-1)}`;
}

/** A path of an address as people read it: `/nfse/{chave_acesso}` for `/nfse/:chave_acesso`. */
export function braced(path: string): string {
  return path.replace(/:(\w+)/g, '{$1}');
}
