/**
 * Notes and events that the national environment has and a restored database does not know. The environment is asked for the list of
 * documents that it received. This happens during a restoration, and again later if the environment did not answer then.
 */

import type { Municipio } from '../../base/book/municipios.ts';
import type { World } from '../../base/world/world.ts';
import { AMBIENTES } from '../../fiscal/ambiente.ts';
import { parseChave } from '../../fiscal/chave.ts';
import { parseEventoId } from '../../fiscal/layout/evento.ts';
import type { EventoNomeado } from './numeros.rows.ts';
import { CopiaRecusada, type CopiasWorld, type Passer } from './world.ts';

/** An event that the environment has. `em`: its moment, by the environment. */
type EventoAlem = EventoNomeado & { readonly em: string | undefined };

/** `ultimos`: the highest number of each provider of an unknown note. */
export type AlemDoBanco = {
  readonly tenant: string;
  readonly chaves: readonly string[];
  readonly eventos: readonly EventoAlem[];
  readonly ultimos: ReadonlyMap<string, bigint>;
  /** Documents after the last known one that are neither notes nor events. */
  readonly outros: number;
  /** The reason why the environment could not be asked, in Portuguese. */
  readonly problem: string | undefined;
};

/** Keys that are looked up at a time. */
const PAGE = 1_000;

/** `nsu`: the last known reception number. Undefined: the municipality transmits nothing. */
export async function findAlem(
  { transmission }: Pick<World, 'transmission'>,
  passer: Passer,
  municipio: Municipio,
  nsu: string,
): Promise<AlemDoBanco | undefined> {
  const { tenant, ambiente } = municipio;
  if (!AMBIENTES[ambiente].transmits) return undefined;
  const unasked = (problem: string): AlemDoBanco => {
    return { tenant, chaves: [], eventos: [], ultimos: new Map(), outros: 0, problem };
  };
  const access = await transmission(municipio);
  if ('problem' in access) return unasked(access.problem);
  const { received } = access.adn;
  if (received === undefined) return unasked('este ADN não lista o que recebeu');
  const answer = await received(nsu);
  if ('problem' in answer) return unasked(answer.problem);
  // A document without a well-formed key is not a note of ours.
  const named = answer.chaves.filter((chave) => parseChave(chave) !== undefined);
  const told = answer.eventos.flatMap(({ id, em }): readonly EventoAlem[] => {
    const event = parseEventoId(id);
    return event === undefined || parseChave(event.chave_acesso) === undefined ? [] : [{ ...event, em }];
  });
  const strange = answer.chaves.length - named.length + answer.eventos.length - told.length;
  const chaves: string[] = [];
  for (let at = 0; at < named.length; at += PAGE) {
    chaves.push(...(await passer.unknownKeys(tenant, named.slice(at, at + PAGE))));
  }
  const eventos: EventoAlem[] = [];
  for (let at = 0; at < told.length; at += PAGE) {
    eventos.push(...(await passer.unknownEventos(tenant, told.slice(at, at + PAGE))));
  }
  const ultimos = new Map<string, bigint>();
  for (const { documento, nNFSe } of chaves.map((chave) => parseChave(chave)!)) {
    const numero = BigInt(nNFSe);
    if (numero > (ultimos.get(documento) ?? 0n)) ultimos.set(documento, numero);
  }
  return { tenant, chaves, eventos, ultimos, outros: answer.outros + strange, problem: undefined };
}

export type Perguntar = { readonly municipio: string | undefined; readonly folga: bigint; readonly quem: string };
/** `prestadores`: number of providers whose numbers were moved ahead. */
export type Perguntado = AlemDoBanco & { readonly prestadores: number };

/**
 * Asks again, for the database in service, after the reception number that was the highest at the restoration. If the environment has
 * higher numbers of a provider than this database, the provider's numbers are moved ahead.
 */
export function perguntarAlem(
  world: CopiasWorld,
  { municipio: named, folga, quem }: Perguntar,
): Promise<readonly Perguntado[]> {
  return world.live(({ connection }) =>
    world.on(connection, async (opened, passer) => {
      const all = await opened.store.municipios.list();
      const asked = named === undefined ? all : all.filter(({ tenant }) => tenant === named);
      if (asked.length === 0 && named !== undefined) {
        throw new CopiaRecusada(`não há município ${named}: nfse municipio listar diz quais há.`);
      }
      const found: Perguntado[] = [];
      for (const municipio of asked) {
        const { tenant } = municipio;
        const alem = await findAlem(opened, passer, municipio, await passer.restoredNsu(tenant));
        if (alem === undefined) continue;
        const motivo = 'o ADN tem notas de números que este banco não deu';
        const ahead = { tenant, alem: alem.ultimos, adiante: folga, quem, em: world.now(), motivo };
        const prestadores = alem.ultimos.size === 0 ? 0 : await passer.passBeyond(ahead);
        found.push({ ...alem, prestadores });
      }
      return found;
    }),
  );
}
