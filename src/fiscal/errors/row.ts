/** How a code is written down here, and what the table makes of it together with its rules. */
import type { AnyRule, Patch } from '../rules/rule.ts';

export type Examples = { readonly rejects: readonly Patch[]; readonly accepts: readonly Patch[] };

/**
 * What fails and what passes, as text: a request, or of a document the lines that matter. For a code that no patch on a
 * DPS can show, because it is about the request, the signature or the registry.
 */
export type Pedido = { readonly titulo?: string; readonly recusado: string; readonly aceito: string };

/** A code as its family writes it. What a rule says of itself is not said again: `significado`, `origem`, examples. */
export type Row = {
  readonly codigo: string;
  /** HTTP status of an answer whose first fault this is. `aviso`: it never refuses, it travels with a 201. */
  readonly status: number | 'aviso';
  /** All the statuses, where there is more than one; `status` is the usual one. */
  readonly statuses?: readonly number[];
  /** One line, the title of the code. */
  readonly mensagem: string;
  /** What it means and when it comes. Only a code of rules may leave it to them. */
  readonly significado?: string;
  readonly comoResolver: string;
  /** The same request, sent again, may succeed. */
  readonly transitorio: boolean;
  readonly origem?: string;
  /** What the national environment means by the number, or answers in its place, where that differs (D-85). */
  readonly nacional?: string;
  /** Of structure, which is no rule; the tests run them. */
  readonly exemplos?: Examples;
  readonly pedidos?: readonly Pedido[];
  /** What becomes of it in the sandbox, where that is not what production does: a remark, or nothing at all. */
  readonly integracao?: 'avisa' | 'nao_verifica';
  /** No line of the service sends it yet: its meaning is fixed, and nobody receives it. */
  readonly reservado?: true;
  /** An older name that is not sent; this is the code that is. */
  readonly substituidoPor?: string;
};

/**
 * Whom a code concerns (D-86). `geral`: it refuses everywhere. `nacional`: a rule of the national standard alone, which
 * refuses in production and is a remark in the sandbox. `aviso`: it never refuses.
 */
export type Alcance = 'geral' | 'nacional' | 'aviso';

/** A code as it is published: its row, with what its rules say where the row does not. */
export type PublicError = Omit<Row, 'reservado'> &
  Required<Pick<Row, 'statuses' | 'significado' | 'origem' | 'pedidos'>> & {
    readonly alcance: Alcance;
    readonly situacao: 'enviado' | 'reservado' | 'substituido';
    /** The rules that answer with it, in the order of the layout; their examples are theirs. */
    readonly regras: readonly AnyRule[];
  };

/** Codes about the document itself: 422, and the same document is refused again however often it is sent. */
export function aboutTheDocument(rows: readonly Omit<Row, 'status' | 'transitorio'>[]): readonly Row[] {
  return rows.map((row) => ({ ...row, status: 422, transitorio: false }));
}
