/** Compares rows of notes with their stored NFS-e, some at a time, and reports the differences (D-666). */
import { digestOf } from '../../base/book/auditoria-hash.ts';
import { NOTA_TYPES } from '../../base/book/nota-columns.ts';
import { openPacote } from '../../base/book/pacote.ts';
import type { ClientBase } from '../../base/pg/pg.ts';

type Linha = Readonly<Record<string, string | null>>;

/** Compares the NFS-e with the columns of its row, which are given as text. Throws if the NFS-e cannot be read. */
export type CompararNota = (
  linha: Linha,
  nfse: Uint8Array,
) => readonly { readonly coluna: string; readonly como: string }[];

/** `coluna` undefined: the NFS-e cannot be read. `visto`: the digest of both sides. */
export type NotaContradita = {
  readonly chave: readonly [id: string, mes: string];
  readonly coluna: string | undefined;
  readonly como: string | undefined;
  readonly visto: string;
};

/** Notes read at a time: some megabytes. */
const AT_ONCE = 200;

const COLUMNS = [['numero_dps', 'bigint'], ['prestador_cpf_cnpj', 'text'], ...NOTA_TYPES]
  .map(([nome, sql]) =>
    sql === 'timestamptz'
      ? `to_char(n.${nome} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as ${nome}`
      : `n.${nome}::text as ${nome}`,
  )
  .join(', ');

type Row = { readonly id: string; readonly mes: string; readonly nfse: Buffer | null } & {
  readonly pacote: Buffer | null;
  readonly dicionario: number | null;
  readonly linha: Linha;
};

/** Compares the notes whose documents stand in the database. */
export async function* findContraditas(
  client: Pick<ClientBase, 'query'>,
  tenant: string,
  comparar: CompararNota,
): AsyncGenerator<NotaContradita> {
  const text = `select n.id::text as id, n.mes::text as mes, d.nfse, d.pacote, d.dicionario,
      (select row_to_json(c) from (select ${COLUMNS}) c) as linha
    from notas n join documentos d on d.tenant = $1 and d.mes = n.mes and d.nota = n.id
    where n.tenant = $1 and (n.id, n.mes) > ($2::bigint, $3::int) order by n.id, n.mes limit ${AT_ONCE}`;
  for (let after: readonly [string, string] = ['0', '0'], more = true; more; ) {
    const { rows } = await client.query<Row>(text, [tenant, ...after]);
    for (const row of rows) yield* contraditasIn(row, comparar);
    const last = rows.at(-1);
    more = last !== undefined && rows.length === AT_ONCE;
    if (last !== undefined) after = [last.id, last.mes];
  }
}

function contraditasIn({ id, mes, nfse, pacote, dicionario, linha }: Row, comparar: CompararNota): NotaContradita[] {
  const chave = [id, mes] as const;
  const visto = (document: Buffer | null): string => digestOf(JSON.stringify([linha, document && digestOf(document)]));
  // A pack that does not open is a finding of its own (`documento_danificado`).
  let document = nfse;
  try {
    document ??= openPacote(pacote!, dicionario!).nfse;
  } catch {
    return [{ chave, coluna: undefined, como: undefined, visto: visto(pacote) }];
  }
  try {
    return comparar(linha, document).map(({ coluna, como }) => ({ chave, coluna, como, visto: visto(document) }));
  } catch {
    return [{ chave, coluna: undefined, como: undefined, visto: visto(document) }];
  }
}
