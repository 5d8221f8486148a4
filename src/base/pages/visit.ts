/** What a request to the console is once it was looked at: where it comes from, who asks, and what is answered. */

import type { Html } from '../../published/site/page-shell.ts';
import type { Importacoes } from '../../subjects/cadastros/importar-arquivo.ts';
import type { From, Visitor } from '../../subjects/contas/entrada.ts';
import type { Place } from '../../subjects/contas/passkey.ts';
import type { Provider } from '../../subjects/contas/provider.ts';
import type { Exportacoes } from '../../subjects/notas/exportar.ts';
import type { HttpRequest } from '../http/message.ts';
import type { PorMao } from '../world/operator.ts';
import type { Papel } from '../world/papeis.ts';
import type { World } from '../world/world.ts';
import type { Form } from './forms.ts';

/** What the console is opened with. */
export type PainelSetup = World & {
  /** Where the console is opened, which passkeys and forms are held against. */
  readonly place: Place;
  /** Who else says who somebody is; undefined: nobody. */
  readonly provider: Provider | undefined;
  /** Folder of the database, where it is one of this machine. */
  readonly dados?: string | undefined;
  /** Public address of the service, as the settings of this machine have it. */
  readonly baseUrl: string | undefined;
};

/** What the pages of the console may touch. */
export type PainelWorld = PainelSetup & { readonly exportacoes: Exportacoes; readonly importacoes: Importacoes };

/** A request as every page sees it. */
export type Visit = {
  readonly world: PainelWorld;
  readonly request: HttpRequest;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly from: From;
  /** Of a POST. */
  readonly form: Form;
};

/** A request of somebody who has given a password, or all. */
export type Inside = Visit & { readonly visitor: Visitor };

/** A request about a municipality, of somebody with a role in it. */
export type InMunicipio = Inside & { readonly slug: string; readonly papel: Papel };

/** Who acts by a form, with the reason that it has. */
export function byHand({ visitor, form }: Inside): PorMao {
  return { quem: visitor.conta.login, via: 'painel', motivo: form.text('motivo').trim() || undefined };
}

/** A page in the frame of the console. `here`: the entry of the menu that it belongs to. */
export type PageShown = {
  readonly title: string;
  readonly main: Html;
  readonly here?: string;
  readonly status?: number;
  /** After so many seconds the browser asks again: something is under way. */
  readonly refreshS?: number;
};

export type Answer =
  | PageShown
  /** `recado`: what the next page says once. `token`: the cookie of a new session; '' takes it away. */
  | { readonly goTo: string; readonly recado?: string; readonly token?: string; readonly passing?: string }
  | { readonly json: object; readonly status?: number; readonly token?: string }
  | { readonly file: string | Buffer | AsyncIterable<string | Buffer>; readonly type: string; readonly name?: string };

/** Who may ask: anybody; who has given a password; who is in; who has at least this role in the municipality of the path. */
export type Quem = 'todos' | 'entrando' | 'dentro' | Papel;

export type Row = {
  readonly method: 'GET' | 'POST';
  /** With `:municipio`, where `quem` is a role. */
  readonly path: string;
  readonly quem: Quem;
  /** Handles whatever `quem` has let in: the makers below type it. */
  readonly handle: (call: InMunicipio) => Promise<Answer>;
  /** Octets of its form at most, where not as usual. */
  readonly bodyMax?: number;
};

type Method = Row['method'];
type Handler<Call> = (call: Call) => Promise<Answer>;

export const forAll = (
  method: Method,
  path: string,
  handle: Handler<Visit & { readonly visitor: Visitor | undefined }>,
): Row => ({
  method,
  path,
  quem: 'todos',
  handle,
});

export const forEntering = (method: Method, path: string, handle: Handler<Inside>): Row => ({
  method,
  path,
  quem: 'entrando',
  handle,
});

export const forInside = (method: Method, path: string, handle: Handler<Inside>): Row => ({
  method,
  path,
  quem: 'dentro',
  handle,
});

/** `path`: below the municipality. */
export const forRole = (
  quem: Papel,
  method: Method,
  path: string,
  handle: Handler<InMunicipio>,
  bodyMax?: number,
): Row => ({
  method,
  path: `/m/:municipio${path}`,
  quem,
  handle,
  ...(bodyMax === undefined ? {} : { bodyMax }),
});

/** Address of a page of a municipality. */
export function pathIn(slug: string, path: string, query: Readonly<Record<string, string | undefined>> = {}): string {
  const given = Object.entries(query).filter(
    (pair): pair is [string, string] => pair[1] !== undefined && pair[1] !== '',
  );
  const search = given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
  return `/m/${slug}${path}${search}`;
}
