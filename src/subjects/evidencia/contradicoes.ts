/**
 * The summary of a bundle's note, taken from the signed documents and not from the columns. Contradictions between the NFS-e, the
 * provider's declaration and the database are reported (D-673).
 */

import type { Municipio } from '../../base/book/municipios.ts';
import type { NotaRow } from '../../base/book/nota-columns.ts';
import { openDps, sentAsStored } from '../../base/world/sent-documents.ts';
import { infNfseOf, readInside, readOwnNote } from '../../documents/own-note.ts';
import type { Dps } from '../../fiscal/layout/dps.ts';
import { CAMPOS, type Campo, firstOf, isSame } from '../notas/nota-da-nfse.ts';

/** The provider's declaration, parsed as at the issue; undefined: it no longer parses. */
function declared(municipio: Municipio, recebido: Buffer): Dps | undefined {
  const opened = openDps(sentAsStored(recebido), municipio);
  if ('faults' in opened) return undefined;
  const read = opened.read();
  return 'faults' in read ? undefined : read.dps;
}

/** One Portuguese sentence for each contradiction; empty: all compared values agree. */
export function contradicoesOf(municipio: Municipio, row: NotaRow, recebido: Buffer): readonly string[] {
  const nfse = Buffer.from(row.nfse);
  const infNfse = infNfseOf(nfse);
  const ler = readInside(infNfse);
  const dps = declared(municipio, recebido);
  const found: string[] = dps === undefined ? [NOT_DECLARED] : [];
  const tell = (campo: Campo, nota: string, other: string, where: string): void => {
    if (!isSame(campo, nota, other)) found.push(`${campo.oQue}: ${nota} na NFS-e, e ${other} ${where}`);
  };
  for (const campo of CAMPOS) {
    const said = campo.nota(ler, infNfse);
    const stored = row[campo.coluna];
    const wanted = dps && campo.dps?.(dps);
    if (said !== undefined && stored !== null) {
      tell(campo, said, stored instanceof Date ? stored.toISOString() : String(stored), IN_ROW);
    }
    if (said !== undefined && wanted !== undefined) tell(campo, said, wanted, 'no que o prestador declarou');
  }
  return found;
}

/** An unreadable declaration is reported, not taken as equal. */
const NOT_DECLARED = 'o que o prestador declarou não se lê mais como uma DPS, e não foi comparado com a NFS-e';
const IN_ROW = 'na linha do banco';

/** Name and number of a party in the NFS-e; undefined: the NFS-e names none. */
export function parteOf(nfse: Uint8Array, path: string): string | undefined {
  const ler = readOwnNote(nfse);
  const said = [ler(`${path}/xNome`), firstOf(ler, `${path}/CNPJ`, `${path}/CPF`, `${path}/NIF`)].filter(Boolean);
  return said.length === 0 ? undefined : said.join(', ');
}
