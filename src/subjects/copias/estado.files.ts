/** The state of a database's copies: the last copy, the end of the continuous one, and its gaps. */
import { listCopias, readConferida, walOf } from './lugar.files.ts';
import { findWay, type Juiz, readAte } from './wal.files.ts';

export type Estado = {
  /** End of the last copy; ISO texts. */
  readonly base: string | undefined;
  readonly ate: string | undefined;
  readonly segmento: string | undefined;
  /** Portuguese; undefined: there is no copy, or only the secret key opens the files that describe its timelines. */
  readonly faltas: readonly string[] | undefined;
  /** Moment at which a copy was last verified as good. */
  readonly conferida: Date | undefined;
};

export async function readEstado(pasta: string, sistema: string, judge?: Juiz): Promise<Estado> {
  const { copias } = await listCopias(pasta);
  const last = copias.findLast(({ manifesto }) => manifesto.sistema === sistema);
  const ate = await readAte(walOf(pasta, sistema));
  const way = last && (await findWay(pasta, last, [], undefined, judge).catch(() => undefined));
  // A copy with a gap reaches only up to the gap.
  const isBroken = way !== undefined && way.faltas.length > 0;
  // A user's own server writes no note when it archives.
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
