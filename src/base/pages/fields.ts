/** The parts of forms and pages of the console. */

import { BRASILIA, brazilianMoment, momentIn } from '../../fiscal/moment.ts';
import { upperFirst } from '../../fiscal/words.ts';
import { type Html, html, type Inserted } from '../../published/site/page-shell.ts';
import { pathIn } from './visit.ts';

/** Name of the field with the token of the session. */
export const TOKEN_FIELD = 'formulario';

export type Field = {
  readonly name: string;
  readonly label: string;
  readonly type?: 'text' | 'password' | 'search' | 'date' | 'file' | 'email' | 'number' | 'color';
  readonly value?: string | undefined;
  /** Advice before filling it in. */
  readonly help?: string | undefined;
  /** The fault in the entered value. */
  readonly problem?: string | undefined;
  readonly required?: boolean;
  readonly autocomplete?: string;
  /** Choices by their values, with their labels. */
  readonly choices?: readonly (readonly [value: string, label: string])[];
  /** Values that the browser offers; another one may be typed. */
  readonly suggestions?: readonly string[];
  readonly rows?: number;
  readonly maxlength?: number;
  readonly inputmode?: 'numeric' | 'text';
  readonly autofocus?: boolean;
  /** Distinguishes it from a field of the same name in another form of the page. */
  readonly of?: string;
};

const given = (name: string, value: string | undefined): Inserted =>
  value === undefined ? undefined : html` ${{ html: name }}="${value}"`;
const flag = (name: string, isSet: boolean | undefined): Inserted => (isSet ? html` ${{ html: name }}` : undefined);

/** A label, its field, its advice and its fault. */
export function field(one: Field): Html {
  const { name, label, help, problem, required } = one;
  const id = one.of === undefined ? `campo-${name}` : `campo-${name}-${one.of}`;
  const said = [...(help === undefined ? [] : [`${id}-ajuda`]), ...(problem === undefined ? [] : [`${id}-erro`])].join(
    ' ',
  );
  const about = html`${given('aria-describedby', said || undefined)}${problem === undefined ? undefined : html` aria-invalid="true"`}`;
  return html`<div class="campo">
<label for="${id}">${label}${required || one.type === 'search' ? undefined : html` <small>opcional</small>`}</label>
${help === undefined ? undefined : html`<p class="ajuda" id="${id}-ajuda">${help}</p>\n`}${inputOf(one, id, about)}
${problem === undefined ? undefined : html`<p class="erro" id="${id}-erro">${problem}</p>\n`}</div>
`;
}

function inputOf(
  { name, type = 'text', value = '', choices, suggestions, rows, ...more }: Field,
  id: string,
  about: Html,
): Html {
  const { required, autocomplete, maxlength, inputmode, autofocus } = more;
  // A browser would refuse the empty choice, which is an answer: none, all.
  const isAsked = required && choices?.some(([one]) => one === '') !== true;
  const attributes = html`${given('autocomplete', autocomplete)}${given('maxlength', maxlength?.toString())}${given('inputmode', inputmode)}${flag('required', isAsked)}${flag('autofocus', autofocus)}${about}`;
  if (choices !== undefined) {
    const options = choices.map(
      ([one, label]) => html`<option value="${one}"${flag('selected', one === value)}>${label}</option>`,
    );
    return html`<select id="${id}" name="${name}"${attributes}>${options}</select>`;
  }
  if (rows !== undefined)
    return html`<textarea id="${id}" name="${name}" rows="${String(rows)}"${attributes}>\n${value}</textarea>`;
  const shown = type === 'password' || type === 'file' ? undefined : given('value', value);
  if (suggestions === undefined) return html`<input id="${id}" name="${name}" type="${type}"${shown}${attributes}>`;
  const offered = suggestions.map((one) => html`<option value="${one}"></option>`);
  return html`<input id="${id}" name="${name}" type="${type}" list="${id}-sugestoes"${shown}${attributes}><datalist id="${id}-sugestoes">${offered}</datalist>`;
}

export type Boxes = {
  readonly name: string;
  readonly legend: string;
  /** Choices by their values, with their meanings. */
  readonly choices: readonly (readonly [value: string, label: Inserted])[];
  readonly ticked: readonly string[];
};

/** Check boxes, any number of which may be ticked. */
export function boxes({ name, legend, choices, ticked }: Boxes): Html {
  const lines = choices.map(
    ([value, label]) =>
      html`<label class="marcar"><input type="checkbox" name="${name}" value="${value}"${flag('checked', ticked.includes(value))}> <span>${label}</span></label>\n`,
  );
  return html`<fieldset><legend>${legend}</legend>
${lines}</fieldset>
`;
}

/** One choice among several, each with its meaning; the first one is chosen before. */
export function choice({ name, legend, choices }: Omit<Boxes, 'ticked'>): Html {
  const lines = choices.map(
    ([value, label], place) =>
      html`<label class="marcar"><input type="radio" name="${name}" value="${value}"${flag('checked', place === 0)}> <span>${label}</span></label>\n`,
  );
  return html`<fieldset><legend>${legend}</legend>
${lines}</fieldset>
`;
}

/** A sentence whose parts between backquotes are names. */
export function withNames(text: string): Inserted {
  return text.split('`').map((part, place) => (place % 2 === 0 ? part : html`<code>${part}</code>`));
}

export type FormShown = {
  readonly action: string;
  /** Token of the session; undefined: nobody is signed in. */
  readonly token: string | undefined;
  readonly fields: Inserted;
  readonly button: string;
  /** The button does something irreversible. */
  readonly isGrave?: boolean;
  readonly hasFiles?: boolean;
  readonly beside?: Html;
};

/** A form with the method POST. */
export function form({ action, token, fields, button, isGrave, hasFiles, beside }: FormShown): Html {
  return html`<form method="post" action="${action}"${hasFiles ? html` enctype="multipart/form-data"` : undefined}>
${tokenField(token)}${fields}<p class="botoes"><button${isGrave ? html` class="grave"` : undefined}>${button}</button>${beside}</p>
</form>
`;
}

export function tokenField(token: string | undefined): Html {
  return token === undefined ? html`` : html`<input type="hidden" name="${TOKEN_FIELD}" value="${token}">\n`;
}

/** Hidden fields of a form. */
export function carried(values: readonly (readonly [name: string, value: string])[]): Html {
  return html`${values.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">\n`)}`;
}

/** `fim`: it is over, or waits for nobody. */
type Tom = 'bom' | 'aviso' | 'erro' | 'fim';
export type Estado = { readonly nome: string; readonly tom: Tom };

/** A state: its word, in the colour of its tone. */
export function mark({ nome, tom }: Estado): Html {
  return html`<span class="estado ${tom}">${nome}</span>`;
}

/** A state at the head of its page, where its word begins a sentence. */
export function markOpening({ nome, tom }: Estado): Html {
  return mark({ nome: upperFirst(nome), tom });
}

const DOCUMENTO = /([\dA-Z*]{2}\.[\dA-Z*]{3}\.[\dA-Z*]{3}\/[\dA-Z*]{4}-\d\d|[\d*]{3}\.[\d*]{3}\.[\d*]{3}-[\d*]{2})/;

/** A text in which no line ends inside a CNPJ or a CPF. */
export function keepDocumentos(text: string): Inserted {
  return text
    .split(DOCUMENTO)
    .map((part, place) => (place % 2 === 0 ? part : html`<span class="inteiro">${part}</span>`));
}

const keepIn = (one: Inserted): Inserted => (typeof one === 'string' ? keepDocumentos(one) : one);

export function notice(kind: Tom, text: Inserted): Html {
  return html`<div class="recado ${kind}" role="${kind === 'erro' ? 'alert' : 'status'}">${text}</div>\n`;
}

/** A table that scrolls by itself on a narrow screen. `numeric`: positions of columns of numbers. */
export function table(
  caption: string,
  head: readonly Inserted[],
  rows: readonly (readonly Inserted[])[],
  numeric: readonly number[] = [],
): Html {
  const side = (place: number): Inserted => (numeric.includes(place) ? html` class="num"` : undefined);
  // A telephone shows each row as a card, in which a cell has its heading beside it.
  const heading = (place: number): Inserted => {
    const name = head[place];
    return typeof name === 'string' && name !== '' ? html` data-nome="${name}"` : undefined;
  };
  return html`<div class="tabela" tabindex="0" role="region" aria-label="${caption}"><table>
<caption>${caption}</caption>
<thead><tr>${head.map((cell, place) => html`<th scope="col"${side(place)}>${cell}</th>`)}</tr></thead>
<tbody>
${rows.map((cells) => html`<tr>${cells.map((cell, place) => html`<td${side(place)}${heading(place)}>${keepIn(cell)}</td>`)}</tr>\n`)}</tbody>
</table></div>
`;
}

/** A list of names and values. */
export function facts(rows: readonly (readonly [name: Inserted, value: Inserted])[]): Html {
  const shown = rows.filter(([, value]) => value !== undefined && value !== '');
  return html`<dl class="fatos">
${shown.map(([name, value]) => html`<div><dt>${name}</dt><dd>${keepIn(value)}</dd></div>\n`)}</dl>
`;
}

export function link(to: string, text: Inserted): Html {
  return html`<a href="${to}">${text}</a>`;
}

/** A moment in the time of Brasília, for pages that belong to no municipality. */
export function momentOf(instant: Date): string {
  return brazilianMoment(momentIn(BRASILIA, +instant));
}

/** A rare action, folded behind its name. */
export function folded(summary: Inserted, body: Inserted, isOpen = false): Html {
  return html`<details class="dobra"${flag('open', isOpen)}><summary>${summary}</summary>
${body}</details>
`;
}

/** A sentence in a cell, with a minimum width on a narrow screen. */
export function wide(text: Inserted): Html {
  return html`<div class="largo">${text}</div>`;
}

/** Text for screen readers only. */
export function hidden(text: string): Html {
  return html`<span class="oculto">${text}</span>`;
}

/** The link to the next page of a truncated list. */
export function nextPage(
  slug: string,
  path: string,
  busca: Readonly<Record<string, string | undefined>>,
  seguinte: string | undefined,
  label = 'Mais antigos',
): Inserted {
  if (seguinte === undefined) return undefined;
  return html`<p class="botoes">${link(pathIn(slug, path, { ...busca, depois: seguinte }), label)}</p>\n`;
}
