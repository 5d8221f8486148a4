/** Reads rows of a municipality as the audit chain tells them, in pages by their keys: to begin a chain, and to verify one. */

import { type ClientBase, escapeLiteral } from '../pg/pg.ts';
import { digestOf, type Folha } from './auditoria-hash.ts';
import { AUDITADAS, folhaOf, rowInSql, textoOf, type Vista } from './auditoria-tabelas.ts';
import { partesOf } from './documentos.ts';
import { openPacote } from './pacote.ts';

/** `depois`: the key after which the next page begins; undefined: there is none. `danificadas`: documents that cannot be decompressed. */
export type Pagina = {
  readonly folhas: readonly Folha[];
  readonly depois: readonly string[] | undefined;
  readonly danificadas: readonly string[];
};

type Row = { readonly item: string; readonly resumo: string | null; readonly chave: readonly string[] };

type DocumentoRow = Row & {
  readonly recebido_assinatura: string | null;
  readonly confianca: string | null;
  readonly pacote: Buffer | null;
  readonly dicionario: number | null;
  readonly partes: string | null;
  readonly inteiros: number;
  readonly certificado_recebido: Buffer | null;
};

/** Further columns for documents that are stored compressed. */
const COMPRESSED = `, t.recebido_assinatura, t.confianca::text as confianca, t.partes, t.pacote, t.dicionario, num_nonnulls(t.recebido, t.nfse) as inteiros,
      (select c.der from certificados c where c.tenant = $1 and c.impressao = t.certificado) as certificado_recebido`;

/** `lock`: such as `for share`, so that no row changes before its entry is written. */
export async function readPagina(
  client: Pick<ClientBase, 'query'>,
  tenant: string,
  vista: Vista,
  {
    depois,
    max,
    lock = '',
  }: { readonly depois: readonly string[] | undefined; readonly max: number; readonly lock?: string },
): Promise<Pagina> {
  const { tabela, chave } = AUDITADAS[vista];
  const { item, resumo: octetos } = rowInSql(vista);
  const resumo = `encode(${octetos}, 'hex')`;
  const columns = chave.map((column) => `t.${column}`).join(', ');
  const isDocumentos = vista === 'documentos';
  // Literals have the types of the columns, so that the index is used.
  const after = depois === undefined ? '' : ` and (${columns}) > (${depois.map(escapeLiteral).join(', ')})`;
  const text = `select ${item} as item, array[${chave.map((column) => `t.${column}::text`).join(', ')}] as chave,
      ${isDocumentos ? `case when t.pacote is null then ${resumo} end` : resumo} as resumo${isDocumentos ? COMPRESSED : ''}
    from ${tabela} t where t.tenant = $1${after} order by ${columns} limit ${max}${lock && ` ${lock} of t`}`;
  const { rows } = await client.query<Row>(text, [tenant]);
  const danificadas: string[] = [];
  const folhas = rows.map((row): Folha => {
    if (row.resumo !== null) return { item: row.item, resumo: row.resumo };
    const folha = folhaOfCompressed(row as DocumentoRow);
    if (folha === undefined) danificadas.push(row.item);
    return folha ?? { item: row.item, resumo: '' };
  });
  return { folhas, depois: rows.length < max ? undefined : rows.at(-1)!.chave, danificadas };
}

/** Undefined: the pack does not open, or its search text differs from the note. */
function folhaOfCompressed(row: DocumentoRow): Folha | undefined {
  const [nota, mes] = row.chave as [string, string];
  try {
    const { received, nfse } = openPacote(row.pacote!, row.dicionario!);
    // A whole document beside the pack would be read in its place.
    if (partesOf(nfse.toString()) !== row.partes || row.inteiros > 0) return undefined;
    const recebido = digestOf(received(row.certificado_recebido));
    return folhaOf('documentos', [nota, mes], {
      ...{ nota, mes, recebido, nfse: digestOf(nfse) },
      ...{ recebido_assinatura: row.recebido_assinatura, confianca: row.confianca },
    });
  } catch {
    return undefined;
  }
}

/** The text of one row, as it was digested; undefined: the row is missing. `chave`: as text, in the order of the key. */
export async function readTexto(
  client: Pick<ClientBase, 'query'>,
  tenant: string,
  vista: Vista,
  chave: readonly string[],
): Promise<string | undefined> {
  const { tabela, chave: columns } = AUDITADAS[vista];
  const isDocumentos = vista === 'documentos';
  const where = columns.map((column, place) => `t.${column} = ${escapeLiteral(chave[place] ?? '')}`).join(' and ');
  const { rows } = await client.query<{ texto: string | null } & DocumentoRow>(
    `select ${isDocumentos ? 'case when t.pacote is null then ' : ''}${rowInSql(vista).texto}${isDocumentos ? ' end' : ''} as texto
      ${isDocumentos ? COMPRESSED : ''} from ${tabela} t where t.tenant = $1 and ${where}`,
    [tenant],
  );
  const [row] = rows;
  if (row === undefined || row.texto !== null) return row?.texto ?? undefined;
  const { received, nfse } = openPacote(row.pacote!, row.dicionario!);
  const [nota, mes] = chave;
  const said = { nota, mes, recebido_assinatura: row.recebido_assinatura, confianca: row.confianca };
  return textoOf(vista, {
    ...said,
    recebido: digestOf(received(row.certificado_recebido)),
    nfse: digestOf(nfse),
  });
}
