/** The history of a note, the operators' actions, and the proof of both. */
import type { Municipio } from '../../base/book/municipios.ts';
import type { NotaRow } from '../../base/book/nota-columns.ts';
import { presentTrail } from '../../base/world/operator.ts';
import type { World } from '../../base/world/world.ts';
import type { NotaStep } from '../notas/notas.rows.ts';
import { jsonFile, type Parte } from './partes.ts';

/** A note or an event has few manual actions. */
const ATOS_MAX = 1_000;

/** `eventos`: numbers of the events of the note. */
export async function gatherTrilha(
  { store }: Pick<World, 'store'>,
  { tenant }: Municipio,
  row: NotaRow,
  { trilha, eventos }: { readonly trilha: readonly NotaStep[]; readonly eventos: readonly string[] },
): Promise<Parte> {
  const ofNota = store.atos.list(tenant, { objeto: 'nota', chave: row.chave_acesso }, ATOS_MAX);
  const ofEventos = eventos.map((chave) => store.atos.list(tenant, { objeto: 'evento', chave }, ATOS_MAX));
  const atos = (await Promise.all([ofNota, ...ofEventos])).flat();
  return {
    titulo: 'O que aconteceu com a nota, e quem agiu sobre ela',
    paragrafos: [
      'Cada mudança de situação da nota, da emissão até agora, com o momento no relógio do serviço; e cada ato feito à mão por alguém do município, com o nome com que entrou no sistema.',
    ],
    arquivos: [
      jsonFile('6-trilha/movimentos.json', presentTrail(row.chave_acesso, trilha), 'Os movimentos da nota.'),
      jsonFile('6-trilha/atos.json', atos, 'Os atos feitos à mão sobre a nota e os seus eventos.'),
    ],
    conferencias: [],
  };
}
