/**
 * The values that a form showed when it was opened. They come back with it, so that a change by somebody else meanwhile is told, and
 * overwritten only on purpose (D-815).
 */
import type { Html } from '../../published/site/page-shell.ts';
import { html } from '../../published/site/page-shell.ts';
import { carried, notice } from './fields.ts';
import type { Form } from './forms.ts';

export const SEEN_FIELD = 'visto';

export type Values = Readonly<Record<string, string>>;

/** A value that somebody else changed while the form was open. */
export type Overtaken = { readonly name: string; readonly seen: string; readonly now: string };

export function carrySeen(values: Values): Html {
  return carried([[SEEN_FIELD, JSON.stringify(values)]]);
}

/** The values that changed since the form was opened. A form that carries none is compared with nothing. */
export function findOvertaken(sent: Form, now: Values): readonly Overtaken[] {
  const seen = readSeen(sent);
  if (seen === undefined) return [];
  return Object.keys(now).flatMap((name) => {
    const [before, after] = [seen[name] ?? '', now[name] ?? ''];
    return before === after ? [] : [{ name, seen: before, now: after }];
  });
}

/** The values of the form: a field that its reader left alone takes the value of now. */
export function takeOvertaken(written: Values, overtaken: readonly Overtaken[]): Values {
  const untouched = overtaken.filter(({ name, seen }) => (written[name] ?? '') === seen);
  return { ...written, ...Object.fromEntries(untouched.map(({ name, now }) => [name, now])) };
}

/** A notice of the changes; nothing was stored, and the form stands below it. */
export function tellOvertaken(
  overtaken: readonly Overtaken[],
  labelOf: (name: string) => string,
  describe: (name: string, text: string) => string = (_name, text) => text,
): Html | undefined {
  if (overtaken.length === 0) return undefined;
  const lines = overtaken.map(
    ({ name, seen, now }) =>
      html`<li>${labelOf(name)}: era ${seen === '' ? 'vazio' : describe(name, seen)}, agora é ${now === '' ? 'vazio' : describe(name, now)}</li>\n`,
  );
  return notice(
    'aviso',
    html`<p>Enquanto este formulário estava aberto, outra pessoa alterou o que está nele, e nada foi gravado:</p>
<ul>${lines}</ul>
<p>O que você escreveu está abaixo; nos campos em que você não mexeu está o valor de agora. Grave de novo se é o que quer.</p>`,
  );
}

function readSeen(sent: Form): Values | undefined {
  try {
    const seen: unknown = JSON.parse(sent.text(SEEN_FIELD));
    return typeof seen === 'object' && seen !== null ? (seen as Values) : undefined;
  } catch {
    return undefined;
  }
}
