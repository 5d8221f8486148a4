/** The documents of the answers: events with the signature of the municipality where there is one, and the moment of a note. */
import type { Municipio } from '../../base/book/municipios.ts';
import type { World } from '../../base/world/world.ts';
import { readOwnNote } from '../../documents/own-note.ts';
import { signedEvento } from '../eventos/operate.ts';
import type { EventoPublico } from '../eventos/queries.ts';

/** `dhEmi` of the DPS in a note. */
export function readDhEmi(nfse: string): string | undefined {
  return readOwnNote(Buffer.from(nfse))('DPS/infDPS/dhEmi');
}

/** Documents in the order of their events. */
export async function documentsOf(
  { store }: Pick<World, 'store'>,
  { tenant }: Municipio,
  eventos: readonly Pick<EventoPublico, 'id_evento'>[],
): Promise<readonly string[]> {
  const read = eventos.map(({ id_evento }) => store.eventos.readDocuments(tenant, String(id_evento)));
  return (await Promise.all(read)).map((documents) => signedEvento(documents!));
}
