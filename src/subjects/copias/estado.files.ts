/** How the copies of a database stand: the last one, up to when the continuous one goes, and what is missing in it. */
import { listCopias, readConferida, walOf } from './lugar.files.ts';
import { findWay, type Juiz, readAte } from './wal.files.ts';

export type Estado = {
  /** When the last copy was done; ISO texts. */
  readonly base: string | undefined;
  readonly ate: string | undefined;
  readonly segmento: string | undefined;
  /** Portuguese; undefined: there is no copy, or its timelines are told by files that only the secret key opens. */
  readonly faltas: readonly string[] | undefined;
  /** When a copy was last tried and found good. */
  readonly conferida: Date | undefined;
};

export async function readEstado(pasta: string, sistema: string, judge?: Juiz): Promise<Estado> {
  const { copias } = await listCopias(pasta);
  const last = copias.findLast(({ manifesto }) => manifesto.sistema === sistema);
  const ate = await readAte(walOf(pasta, sistema));
  const way = last && (await findWay(pasta, last, [], undefined, judge).catch(() => undefined));
  // A copy with a hole reaches up to the hole.
  const isBroken = way !== undefined && way.faltas.length > 0;
  // A server of one's own notes nothing as it archives.
  const end = way?.ate?.toISOString();
  const reached = isBroken ? (end ?? last!.manifesto.concluida) : (ate?.em ?? end);
  return {
    base: last?.manifesto.concluida,
    ate: reached,
    segmento: isBroken || ate === undefined ? way?.segmentos.at(-1) : ate.segmento,
    faltas: way?.faltas,
    conferida: await readConferida(pasta, sistema),
  };
}
