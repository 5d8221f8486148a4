/**
 * Findings of the audit chain that an operator has investigated and accepted. An acceptance is an act like any other, recorded in the chain
 * itself. It covers the finding as it was then, and no later change (D-688).
 */

import { digestOf } from '../../base/book/auditoria-hash.ts';
import type { ClientBase } from '../../base/pg/pg.ts';
import type { Diferenca } from './baldes.rows.ts';

/**
 * A fault that a verification found. `lugar`: place of the entry, or of the last entry about the row; `em`: its moment, as the chain writes
 * it.
 */
export type Achado = {
  readonly tipo:
    | 'entrada_alterada'
    | 'elo_quebrado'
    | 'entrada_ausente'
    | 'entrada_forjada'
    | 'entrada_sem_chave'
    | 'entrada_de_outra_chave'
    | 'abertura_repetida'
    | 'apagada_sem_ato'
    | 'fim_alterado'
    | 'fim_trocado'
    | 'lugar_alheio'
    | 'linha_nao_segue'
    | 'documento_danificado'
    | 'nota_contradita'
    | 'arquivo_danificado'
    | 'selo_alterado'
    | 'selo_invalido'
    | 'objeto_estranho'
    | Diferenca['tipo'];
  readonly tabela?: string | undefined;
  readonly chave?: readonly string[] | undefined;
  readonly lugar?: number | undefined;
  readonly em?: string | undefined;
  /** The difference between a column and the document, without the values, in Portuguese. */
  readonly como?: string | undefined;
  /** Digest of the stored content. */
  readonly visto?: string | undefined;
};

/** Name of the act of an acceptance. Its key is the finding ({@link idOfAchado}). */
export const ACEITO = 'achado aceito';

export type Aceite = { readonly em: string; readonly quem: string; readonly motivo: string };

const ID_LENGTH = 16;

/** Identifier made from the finding and the digest of the stored content. */
export function idOfAchado({ tipo, tabela, chave, lugar, visto }: Achado): string {
  const said = [tipo, tabela ?? null, chave ?? null, lugar ?? null, visto ?? null];
  return digestOf(JSON.stringify(said)).slice(0, ID_LENGTH);
}

const ACEITES = `select a.chave, a.em, a.quem, coalesce(a.motivo, '') as motivo from atos a
  where a.tenant = $1 and a.objeto = 'auditoria' and a.acao = '${ACEITO}' order by a.em desc, a.id`;

/** Acceptances by finding; the earliest one of each. */
export async function readAceites(
  client: Pick<ClientBase, 'query'>,
  tenant: string,
): Promise<ReadonlyMap<string, Aceite>> {
  type Row = { readonly chave: string; readonly em: Date; readonly quem: string; readonly motivo: string };
  const { rows } = await client.query<Row>(ACEITES, [tenant]);
  return new Map(rows.map(({ chave, em, quem, motivo }) => [chave, { em: em.toISOString(), quem, motivo }]));
}
