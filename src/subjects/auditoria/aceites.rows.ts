/**
 * Findings of the audit chain that an operator has looked into and answers for. An acceptance is an act like any other, told by the chain
 * itself; it holds for what was found then, and for nothing that is changed later (D-688).
 */

import { digestOf } from '../../base/book/auditoria-hash.ts';
import type { ClientBase } from '../../base/pg/pg.ts';
import type { Diferenca } from './baldes.rows.ts';

/** What is wrong. `lugar`: of the entry, or of the one that last told the row; `em`: its moment, as the chain writes it. */
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
  /** Of a column: what it and the document have, without the values, in Portuguese. */
  readonly como?: string | undefined;
  /** What is there instead, as a digest. */
  readonly visto?: string | undefined;
};

/** What the act of an acceptance is called. Its key is the finding ({@link idOfAchado}). */
export const ACEITO = 'achado aceito';

export type Aceite = { readonly em: string; readonly quem: string; readonly motivo: string };

const ID_LENGTH = 16;

/** By what was found, and what stands there instead. */
export function idOfAchado({ tipo, tabela, chave, lugar, visto }: Achado): string {
  const said = [tipo, tabela ?? null, chave ?? null, lugar ?? null, visto ?? null];
  return digestOf(JSON.stringify(said)).slice(0, ID_LENGTH);
}

const ACEITES = `select a.chave, a.em, a.quem, coalesce(a.motivo, '') as motivo from atos a
  where a.tenant = $1 and a.objeto = 'auditoria' and a.acao = '${ACEITO}' order by a.em desc, a.id`;

/** By the finding, the first one of each. */
export async function readAceites(
  client: Pick<ClientBase, 'query'>,
  tenant: string,
): Promise<ReadonlyMap<string, Aceite>> {
  type Row = { readonly chave: string; readonly em: Date; readonly quem: string; readonly motivo: string };
  const { rows } = await client.query<Row>(ACEITES, [tenant]);
  return new Map(rows.map(({ chave, em, quem, motivo }) => [chave, { em: em.toISOString(), quem, motivo }]));
}
