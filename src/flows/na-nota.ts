import type { EventoComEstado } from '../fiscal/conflitos-evento.ts';
import type { EventoOnNota } from '../store/on-notas.ts';

/** An event of a note as it is judged by. */
export function naNota(evento: EventoOnNota): EventoComEstado & Pick<EventoOnNota, 'id'> {
  const { id, codigo_tipo_evento, numero_sequencial, estado, autor, campos } = evento;
  return { id, codigo: codigo_tipo_evento, numero_sequencial, estado, autor, campos };
}
