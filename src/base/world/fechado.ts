/** A municipality that is closed: whatever would write something of it begins here (D-436), and is asked once more where it writes (D-477). */

import type { Municipio } from '../book/municipios.ts';
import { MunicipioClosed } from '../pg/unavailable.ts';

/** Throws what every door tells as 503, with when to come again. */
export function needOpen({ tenant, fechado }: Municipio): void {
  if (fechado === true) throw new MunicipioClosed(tenant);
}
