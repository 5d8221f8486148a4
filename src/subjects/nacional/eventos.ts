/** The documents of events, with the signature of the municipality where there is one. */
import type { Municipio } from '../../base/book/municipios.ts';
import type { World } from '../../base/world/world.ts';
import { signedEvento } from '../eventos/operate.ts';
import type { EventoPublico } from '../eventos/queries.ts';

/** In the order of the events. */
export async function documentsOf(
  { store }: Pick<World, 'store'>,
  { tenant }: Municipio,
  eventos: readonly Pick<EventoPublico, 'id_evento'>[],
): Promise<readonly string[]> {
  const read = eventos.map(({ id_evento }) => store.eventos.readDocuments(tenant, String(id_evento)));
  return (await Promise.all(read)).map((documents) => signedEvento(documents!));
}
