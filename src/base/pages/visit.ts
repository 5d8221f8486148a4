/** A request to the console after its checks: its origin, its visitor, and the possible answers. */

import type { Html, Inserted } from '../../published/site/page-shell.ts';
import type { From, Visitor } from '../../subjects/contas/entrada.ts';
import type { Place } from '../../subjects/contas/passkey.ts';
import type { Provider } from '../../subjects/contas/provider.ts';
import type { HttpRequest } from '../http/message.ts';
import type { PorMao } from '../world/operator.ts';
import type { Papel } from '../world/papeis.ts';
import type { World } from '../world/world.ts';
import type { Form } from './forms.ts';
import type { Kept } from './headers.ts';
import type { Here } from './menu.ts';

/** Setup of the console. */
export type PainelSetup = World & {
  /** Public place of the console, with which passkeys and forms must agree. */
  readonly place: Place;
  /** The external identity provider; undefined: none. */
  readonly provider: Provider | undefined;
  /** Folder of the database, if it is on this machine. */
  readonly dados?: string | undefined;
  /** Folder of the certificates that came by the console, absolute: each municipality has its own inside. */
  readonly certificados: string;
  /** Public address of the service, from the settings of this machine. */
  readonly baseUrl: string | undefined;
};

/** Work of the console that outlives a request; each subject adds its own. */
// biome-ignore lint/suspicious/noEmptyInterface: the subjects add to it.
export interface Trabalhos {}

export type PainelWorld = PainelSetup &
  Trabalhos & {
    /** Parts of a page that other rows bring. `of`: its path below the municipality. */
    listSections(of: string): readonly Section['write'][];
  };

/** A request as every page sees it. */
export type Visit = {
  readonly world: PainelWorld;
  readonly request: HttpRequest;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly from: From;
  /** Form of a POST. */
  readonly form: Form;
};

/** A request whose visitor has given a password, or is fully signed in. */
export type Inside = Visit & { readonly visitor: Visitor };

/** A request about a municipality, whose visitor has a role in it. */
export type InMunicipio = Inside & { readonly slug: string; readonly papel: Papel };

/** The author of an act by a form, and its reason. */
export function byHand({ visitor, form }: Inside): PorMao {
  return { quem: visitor.conta.login, via: 'painel', motivo: form.text('motivo').trim() || undefined };
}

/** A page in the frame of the console. `here`: the menu entry to which it belongs. */
export type PageShown = {
  readonly title: string;
  readonly main: Html;
  readonly here?: Here;
  readonly status?: number;
  /** The browser reloads after so many seconds, because work is in progress. */
  readonly refreshS?: number;
  /** Seconds after which a refused request may be sent again. */
  readonly waitS?: number;
};

export type Answer =
  | PageShown
  /**
   * `recado`: message that the next page shows once. `token`: the cookie of a new session; '' deletes it. `keep`: a preference that the
   * browser brings back.
   */
  | {
      readonly goTo: string;
      readonly recado?: string;
      readonly token?: string;
      readonly passing?: string;
      readonly keep?: Kept;
    }
  | { readonly json: object; readonly status?: number; readonly token?: string }
  /** An image of our own making, whose address has its digest. */
  | { readonly image: Buffer }
  | { readonly file: string | Buffer | AsyncIterable<string | Buffer>; readonly type: string; readonly name?: string };

/** Required visitor: anybody; one who has given a password; one who is signed in; one with at least this role in the municipality. */
export type Quem = 'todos' | 'entrando' | 'dentro' | Papel;

export type Row = {
  readonly method: 'GET' | 'POST';
  /** Path, with `:municipio` if `quem` is a role. */
  readonly path: string;
  readonly quem: Quem;
  /** Handles a request that passed `quem`; the functions below set its type. */
  readonly handle: (call: InMunicipio) => Promise<Answer>;
  /** Maximum octets of its form, if they differ from the usual limit. */
  readonly bodyMax?: number;
  readonly section?: Section;
};

/** A part of another page that leads to a row. `of`: the path of that page, below the municipality. */
type Section = { readonly of: string; readonly write: (call: InMunicipio) => Inserted };

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
