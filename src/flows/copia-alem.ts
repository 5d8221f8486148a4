/** What the national environment has of a municipality that a restored database does not know: asked of it, as its list of what it received. */
import { AMBIENTES } from '../fiscal/ambiente.ts';
import { parseChave } from '../fiscal/chave.ts';
import type { Municipio } from '../store/municipios.ts';
import type { Passer } from './copia-world.ts';
import type { World } from './world.ts';

/** `ultimos`: of each provider of an unknown note, the highest number. */
export type AlemDoBanco = {
  readonly tenant: string;
  readonly chaves: readonly string[];
  readonly ultimos: ReadonlyMap<string, bigint>;
  /** Documents after the last one known that are no notes: events. */
  readonly outros: number;
  /** Why the environment could not be asked, in Portuguese. */
  readonly problem: string | undefined;
};

/** Keys that are looked up at a time. */
const PAGE = 1_000;

/** Undefined of a municipality that transmits nothing. */
export async function findAlem(
  { transmission }: Pick<World, 'transmission'>,
  passer: Passer,
  municipio: Municipio,
): Promise<AlemDoBanco | undefined> {
  const { tenant, ambiente } = municipio;
  if (!AMBIENTES[ambiente].transmits) return undefined;
  const unasked = (problem: string): AlemDoBanco => ({ tenant, chaves: [], ultimos: new Map(), outros: 0, problem });
  const access = await transmission(municipio);
  if ('problem' in access) return unasked(access.problem);
  const { received } = access.adn;
  if (received === undefined) return unasked('este ADN não lista o que recebeu');
  const answer = await received(await passer.highestNsu(tenant));
  if ('problem' in answer) return unasked(answer.problem);
  const chaves: string[] = [];
  for (let at = 0; at < answer.chaves.length; at += PAGE) {
    chaves.push(...(await passer.unknownKeys(tenant, answer.chaves.slice(at, at + PAGE))));
  }
  const ultimos = new Map<string, bigint>();
  for (const { documento, nNFSe } of chaves.map((chave) => parseChave(chave)).filter((one) => one !== undefined)) {
    const numero = BigInt(nNFSe);
    if (numero > (ultimos.get(documento) ?? 0n)) ultimos.set(documento, numero);
  }
  return { tenant, chaves, ultimos, outros: answer.outros, problem: undefined };
}
