/** A closed municipality. Every writing flow checks this at its beginning (D-436), and again in the statement that writes (D-436). */

import type { Municipio } from '../book/municipios.ts';
import { MunicipioClosed } from '../pg/unavailable.ts';

/** Throws the error that every door answers with 503 and a time to retry. */
export function needOpen({ tenant, fechado }: Municipio): void {
  if (fechado === true) throw new MunicipioClosed(tenant);
}
