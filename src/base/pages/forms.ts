/** The content of a form that a browser sends: its fields and its files. */
const URLENCODED = 'application/x-www-form-urlencoded';
const MULTIPART = 'multipart/form-data';

type SentFile = { readonly name: string; readonly content: Buffer };

export type Form = {
  /** The first value of a field; '' if it was not sent. */
  text(name: string): string;
  /** All values of a field, such as ticked boxes. */
  texts(name: string): readonly string[];
  /** A file that was chosen. */
  file(name: string): SentFile | undefined;
};

export const noForm: Form = { text: () => '', texts: () => [], file: () => undefined };

/** The text without NUL, which databases reject, and without lone surrogates. */
export function cleanText(text: string): string {
  return text.replaceAll('\0', '').toWellFormed();
}

/** The most parts of a form with files; the largest form has ten. A body has room for millions, and each takes time (D-854). */
const PARTS_MAX = 100;
/** The content type as browsers write it: the reader and this count find the same boundary. */
const BOUNDARY = /^multipart\/form-data;\s*boundary=([\w'()+./:=?-]{1,70})$/i;

function hasFewParts(type: string, body: Buffer): boolean {
  const [, boundary] = BOUNDARY.exec(type) ?? [];
  if (boundary === undefined) return false;
  const mark = `--${boundary}`;
  let at = body.indexOf(mark);
  for (let parts = 0; at >= 0 && parts <= PARTS_MAX; parts += 1) at = body.indexOf(mark, at + mark.length);
  return at < 0;
}

/** Reads a form by its content type. Returns a sentence in Portuguese on failure. */
export async function readForm(type: string | undefined, body: Buffer): Promise<Form | { readonly problem: string }> {
  if (type === undefined && body.length === 0) return noForm;
  const kind = (type ?? '').split(';', 1)[0]!.trim().toLowerCase();
  if (kind !== URLENCODED && kind !== MULTIPART) {
    return { problem: `O envio não é de um formulário: o tipo dele deve ser ${URLENCODED} ou ${MULTIPART}.` };
  }
  if (kind === MULTIPART && !hasFewParts(type!, body)) {
    return { problem: 'O formulário não pôde ser lido: as partes dele não são as de um navegador.' };
  }
  let data: FormData;
  try {
    data = await new Response(new Uint8Array(body), { headers: { 'Content-Type': type! } }).formData();
  } catch {
    return { problem: 'O formulário não pôde ser lido: o corpo não é do tipo que o envio declara.' };
  }
  const files = new Map<string, SentFile>();
  for (const [name, value] of data) {
    // A browser sends an empty file field as a file without name or content.
    if (typeof value === 'string' || (value.name === '' && value.size === 0) || files.has(name)) continue;
    files.set(name, { name: cleanText(value.name), content: Buffer.from(await value.arrayBuffer()) });
  }
  const texts = (name: string): readonly string[] =>
    data.getAll(name).flatMap((value) => (typeof value === 'string' ? [cleanText(value)] : []));
  return { text: (name) => texts(name)[0] ?? '', texts, file: (name) => files.get(name) };
}
