/**
 * What a database that goes back in time must not do again: numbers that it gave after that time are with providers and in the national
 * environment. They are passed over before anybody is served, and the municipalities in production stay closed until an operator opens them.
 */
import { insertAtos, type NovoAto } from './atos.ts';
import { tellMunicipio } from './municipios.ts';
import { type Db, runTransaction } from './open.ts';

/** Far above what is ever given between a copy and a disaster; these numbers may have gaps, and nobody counts them. */
const PASSED = 1_000_000;

/** What a numbering that was moved ahead is called in the trail; who judges numbers finds it there. */
export const ADVANCED = 'numeração adiantada';

export type Adiantar = Pick<NovoAto, 'quem' | 'em' | 'motivo'> & {
  readonly tenant: string;
  readonly isProducao: boolean;
  /** The highest number of each provider's notes in the national environment. */
  readonly alem: ReadonlyMap<string, bigint>;
  /** By how much each provider's numbers are moved ahead beyond that. */
  readonly adiante: bigint;
};

export type Adiantado = { readonly isFechado: boolean; readonly prestadores: number };

const HIGHEST_NSU = `select coalesce(greatest(
    (select max(nsu_recepcao) from notas where tenant = $1), (select max(nsu_antes) from notas where tenant = $1)), 0)::text as nsu`;
const UNKNOWN = `select x.chave from unnest($2::text[]) as x (chave)
  where not exists (select 1 from notas n where n.tenant = $1 and n.chave_acesso = x.chave and n.mes = 200000 + substr(x.chave, 37, 4)::integer)`;
const READ = 'select prestador, ultimo::text from numeracao where tenant = $1 for update';
const ADVANCE = `insert into numeracao as n (tenant, prestador, ultimo) select $1, x.prestador, x.ultimo from unnest($2::text[], $3::bigint[]) as x (prestador, ultimo)
  on conflict (tenant, prestador) do update set ultimo = greatest(n.ultimo, excluded.ultimo)`;

export function copiaNumeros(pool: Db) {
  return {
    /** Up to where the environment's reception numbers are surely known here: a note is stored before it is sent. */
    highestNsu: async (tenant: string): Promise<string> =>
      (await pool.query<{ nsu: string }>(HIGHEST_NSU, [tenant])).rows[0]!.nsu,
    /** Of these keys, those of no note here. */
    unknownKeys: async (tenant: string, chaves: readonly string[]): Promise<readonly string[]> =>
      (await pool.query<{ chave: string }>(UNKNOWN, [tenant, chaves])).rows.map(({ chave }) => chave),
    /** Passes over what may have been given, and closes a municipality that is in production. */
    passOver: (asked: Adiantar): Promise<Adiantado> => runTransaction(pool, (client) => passOver(client, asked)),
  };
}

type Client = Parameters<Parameters<typeof runTransaction>[1]>[0];

async function passOver(client: Client, asked: Adiantar): Promise<Adiantado> {
  const { tenant, isProducao, alem, adiante, ...ato } = asked;
  await client.query(`update sequencias set proximo = proximo + ${PASSED} where tenant = $1`, [tenant]);
  // Whoever follows what changes has read on: a place is never given twice.
  await client.query(`update mudancas_ate set bloco = bloco + ${PASSED} where tenant = $1`, [tenant]);
  if (!isProducao) return { isFechado: false, prestadores: 0 };
  const { rows } = await client.query<{ prestador: string; ultimo: string }>(READ, [tenant]);
  const before = new Map(rows.map(({ prestador, ultimo }) => [prestador, BigInt(ultimo)]));
  const changes = [...new Set([...before.keys(), ...alem.keys()])].flatMap((prestador) => {
    const antes = before.get(prestador) ?? 0n;
    const there = alem.get(prestador) ?? 0n;
    const depois = (there > antes ? there : antes) + adiante;
    return depois === antes ? [] : [{ prestador, antes, depois }];
  });
  await client.query(ADVANCE, [
    tenant,
    changes.map(({ prestador }) => prestador),
    changes.map(({ depois }) => String(depois)),
  ]);
  const closed = await client.query('update municipios set fechado = true where tenant = $1 and not fechado', [tenant]);
  if (closed.rowCount === 1) await tellMunicipio(client, tenant);
  const by = { ...ato, via: 'comando' } as const;
  await insertAtos(client, tenant, [
    ...changes.map(
      ({ prestador, antes, depois }): NovoAto => ({
        ...by,
        objeto: 'prestador',
        chave: prestador,
        acao: ADVANCED,
        antes: { ultimo: String(antes) },
        depois: { ultimo: String(depois) },
      }),
    ),
    { ...by, objeto: 'municipio', chave: tenant, acao: 'restaurado' },
  ]);
  return { isFechado: closed.rowCount === 1, prestadores: changes.length };
}
