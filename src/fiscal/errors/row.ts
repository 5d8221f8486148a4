/** The form in which a code is declared, and in which the table publishes it together with its rules. */
import type { AnyRule, Patch } from '../rules/rule.ts';

export type Examples = { readonly rejects: readonly Patch[]; readonly accepts: readonly Patch[] };

/**
 * The refused and the accepted form, as text: a request, or the relevant lines of a document. No patch on a DPS can show these codes,
 * because they concern the request, the signature or the registry.
 */
export type Pedido = { readonly titulo?: string; readonly recusado: string; readonly aceito: string };

/** A code as its family declares it. The texts of its rules are not repeated: `significado`, `origem`, examples. */
export type Row = {
  readonly codigo: string;
  /** HTTP status of an answer whose first fault this is. `aviso`: the code never refuses, and is sent with a 201. */
  readonly status: number | 'aviso';
  /** All the statuses, if there is more than one; `status` is the usual one. */
  readonly statuses?: readonly number[];
  /** One line, the title of the code. */
  readonly mensagem: string;
  /** The meaning of the code, and when it is sent. Only a code of rules may omit it. */
  readonly significado?: string;
  readonly comoResolver: string;
  /** Whether the same request may succeed when it is sent again. */
  readonly transitorio: boolean;
  readonly origem?: string;
  /** The national meaning of the number, or the national answer in its place, if it differs (D-13). */
  readonly nacional?: string;
  /** Examples of a fault of structure, which is no rule; the tests run them. */
  readonly exemplos?: Examples;
  readonly pedidos?: readonly Pedido[];
  /** The effect in the sandbox, if it differs from production: a remark, or no check at all. */
  readonly integracao?: 'avisa' | 'nao_verifica';
  /** The service does not send it yet: its meaning is reserved. */
  readonly reservado?: true;
  /** The code that is sent instead of this older name. */
  readonly substituidoPor?: string;
};

/**
 * The scope of a code (D-86). `geral`: it refuses everywhere. `nacional`: a rule of the national standard alone, which refuses in
 * production and is a remark in the sandbox. `aviso`: it never refuses.
 */
export type Alcance = 'geral' | 'nacional' | 'aviso';

/** A code as it is published: its row, completed with the texts of its rules. */
export type PublicError = Omit<Row, 'reservado'> &
  Required<Pick<Row, 'statuses' | 'significado' | 'origem' | 'pedidos'>> & {
    readonly alcance: Alcance;
    readonly situacao: 'enviado' | 'reservado' | 'substituido';
    /** The rules that answer with it, in the order of the layout; their examples are theirs. */
    readonly regras: readonly AnyRule[];
  };

/** Codes about the document itself: 422, and the same document is refused again each time. */
export function aboutTheDocument(rows: readonly Omit<Row, 'status' | 'transitorio'>[]): readonly Row[] {
  return rows.map((row) => ({ ...row, status: 422, transitorio: false }));
}
