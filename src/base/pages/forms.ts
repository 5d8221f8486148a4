/** What a browser sends by a form: its fields and its files. */
const URLENCODED = 'application/x-www-form-urlencoded';
const MULTIPART = 'multipart/form-data';

type SentFile = { readonly name: string; readonly content: Buffer };

export type Form = {
  /** The first value of a field, '' where it was not sent. */
  text(name: string): string;
  /** All values of a field, as of boxes that were ticked. */
  texts(name: string): readonly string[];
  /** A file that was chosen. */
  file(name: string): SentFile | undefined;
};

export const noForm: Form = { text: () => '', texts: () => [], file: () => undefined };

/** Without NUL, which no database takes, and without halves of characters. */
export function cleanText(text: string): string {
  return text.replaceAll('\0', '').toWellFormed();
}

/** Reads a form by the type that it was sent as; or a sentence in Portuguese. */
export async function readForm(type: string | undefined, body: Buffer): Promise<Form | { readonly problem: string }> {
  if (type === undefined && body.length === 0) return noForm;
  const kind = (type ?? '').split(';', 1)[0]!.trim().toLowerCase();
  if (kind !== URLENCODED && kind !== MULTIPART) {
    return { problem: `O envio não é de um formulário: o tipo dele deve ser ${URLENCODED} ou ${MULTIPART}.` };
  }
  let data: FormData;
  try {
    data = await new Response(new Uint8Array(body), { headers: { 'Content-Type': type! } }).formData();
  } catch {
    return { problem: 'O formulário não pôde ser lido: o corpo não é do tipo que o envio declara.' };
  }
  const files = new Map<string, SentFile>();
  for (const [name, value] of data) {
    // A browser sends a field of files that was left empty as a file without name or content.
    if (typeof value === 'string' || (value.name === '' && value.size === 0) || files.has(name)) continue;
    files.set(name, { name: cleanText(value.name), content: Buffer.from(await value.arrayBuffer()) });
  }
  const texts = (name: string): readonly string[] =>
    data.getAll(name).flatMap((value) => (typeof value === 'string' ? [cleanText(value)] : []));
  return { text: (name) => texts(name)[0] ?? '', texts, file: (name) => files.get(name) };
}
