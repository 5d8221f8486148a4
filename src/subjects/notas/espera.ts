/** The cause for which a note waits: in full for the municipality, and in general words for the holder of the key. */

import type { Municipio } from '../../base/book/municipios.ts';
import type { NotaRow } from '../../base/book/nota-columns.ts';
import { tellMoment } from '../../base/world/gather-facts.ts';
import type { World } from '../../base/world/world.ts';

/** Sentences. `geral`: names no certificate, address or person. */
export type CausaDaEspera = { readonly diz: string; readonly geral: string };

/** Undefined: the note does not wait, or waits for its turn alone. */
export async function explainEspera(
  { store }: Pick<World, 'store'>,
  { tenant, fechado }: Pick<Municipio, 'tenant' | 'fechado'>,
  { estado, chave_acesso }: Pick<NotaRow, 'estado' | 'chave_acesso'>,
): Promise<CausaDaEspera | undefined> {
  if (estado !== 'emitida' && estado !== 'transmitida') return undefined;
  if (fechado === true) {
    return {
      diz: 'O município está fechado a gravações por quem opera o serviço, para mudar de servidor ou depois de uma restauração: ela segue quando ele for reaberto.',
      geral: 'O serviço do município está em manutenção.',
    };
  }
  const [circuito, problem] = await Promise.all([store.circuitos.find(tenant), store.municipios.findProblem(tenant)]);
  const since = (instant: number): string => `desde ${tellMoment(chave_acesso, new Date(instant))}`;
  if (circuito?.abertoEm !== undefined) {
    const geral = `O ambiente nacional não responde ${since(circuito.abertoEm)}.`;
    const why = circuito.motivo === undefined ? '' : ` (${circuito.motivo})`;
    return { diz: `O ADN não responde ${since(circuito.abertoEm)}${why}.`, geral };
  }
  if (problem === undefined) return undefined;
  const problema = problem.problema.replace(/[.\s]*$/, '');
  return {
    diz: `As notas do município não seguem ${since(problem.desde)}: ${problema}.`,
    geral: `O município não transmite ao ambiente nacional ${since(problem.desde)}.`,
  };
}
