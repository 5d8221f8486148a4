/**
 * Passes over numbers that a restored database must not give again: the providers and the national environment already have them. This
 * happens before anything is served. The municipalities in production stay closed until an operator opens them.
 */
import { insertAtos, type NovoAto } from '../../base/book/atos.ts';
import { tellMunicipio } from '../../base/book/municipios.ts';
import { SEQUENCIAS } from '../../base/book/sequencias.ts';
import { type Db, runTransaction } from '../../base/pg/open.ts';
import { POR_LINHA } from '../avisos/voltas.rows.ts';

/**
 * A restoration, as sources outside the database know it. `em`: the latest moment known, in milliseconds; `linha`: timeline of the server,
 * higher with each restoration over the same archive.
 */
export type Volta = { readonly em: number; readonly linha: number };

/**
 * Numbers that may have gaps go on at a start that the clock yields. An earlier restoration began at an earlier moment, and gave fewer than
 * these numbers for each millisecond since. The timeline separates two restorations at the same time of the clock. `max`: limit of the
 * clock's part.
 */
const DESDE = Date.UTC(2026, 0, 1);
const NUMEROS = { porMs: 2, max: 5_000_000_000_000 };
const BLOCOS = { porMs: 0.1, max: 500_000_000_000 };

function startOf({ em, linha }: Volta, { porMs, max }: typeof NUMEROS): number {
  return Math.min(max, Math.max(0, Math.floor((em - DESDE) * porMs))) + linha * POR_LINHA;
}

/** Name in the trail of a numbering that was moved ahead; the checks of numbers look it up. */
export const ADVANCED = 'numeração adiantada';

export type Adiantar = Pick<NovoAto, 'quem' | 'em' | 'motivo'> & {
  readonly tenant: string;
  readonly isProducao: boolean;
  /** The highest number of each provider's notes in the national environment. */
  readonly alem: ReadonlyMap<string, bigint>;
  /** Distance by which each provider's numbers are moved ahead beyond that. */
  readonly adiante: bigint;
  readonly volta: Volta;
  /** The reception number after which the environment is asked; it is stored, so that the question can be repeated later. */
  readonly nsu: string;
};

export type Adiantado = { readonly isFechado: boolean; readonly prestadores: number };

/** An event by its note, its type and its place among those of the type. */
export type EventoNomeado = {
  readonly chave_acesso: string;
  readonly codigo: string;
  readonly numero_sequencial: number;
};

const HIGHEST_NSU = `select coalesce(greatest(
    (select max(nsu_recepcao) from notas where tenant = $1), (select max(nsu_antes) from notas where tenant = $1)), 0)::text as nsu`;
const UNKNOWN = `select x.chave from unnest($2::text[]) as x (chave)
  where not exists (select 1 from notas n where n.tenant = $1 and n.chave_acesso = x.chave and n.mes = 200000 + substr(x.chave, 37, 4)::integer)`;
/** The highest reception number at the last restoration, if there was one; later documents hide nothing. */
const RESTORED_NSU = `select a.depois->>'nsu' as nsu from atos a where a.tenant = $1 and a.objeto = 'municipio' and a.chave = $1
  and a.acao = 'restaurado' order by a.em desc limit 1`;
const UNKNOWN_EVENTOS = `select x.place::int as place
  from unnest($2::text[], $3::text[], $4::int[]) with ordinality x (chave, codigo, sequencial, place)
  where not exists (select 1 from notas n join eventos e on e.tenant = $1 and e.nota = n.id and e.codigo_tipo_evento = x.codigo
      and e.numero_sequencial = x.sequencial
    where n.tenant = $1 and n.chave_acesso = x.chave and n.mes = 200000 + substr(x.chave, 37, 4)::integer) order by x.place`;
/** $3: the start by clock and timeline; $4: the smallest distance. A sequence without a number in the copy may have given some since. */
const PASS_SEQUENCIAS = `insert into sequencias as s (tenant, nome, proximo) select $1, x.nome, $3::bigint from unnest($2::text[]) as x (nome)
  on conflict (tenant, nome) do update set proximo = greatest(s.proximo + $4::bigint, excluded.proximo)`;
/** Cursors given before the restore stay valid: block numbers go on. */
const PASS_BLOCOS = `insert into mudancas_ate as a (tenant, bloco) values ($1, $2::bigint)
  on conflict (tenant) do update set bloco = greatest(a.bloco + $3::bigint, excluded.bloco)`;
const LINHA = `select ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int as linha`;
const READ = 'select prestador, ultimo::text from numeracao where tenant = $1 for update';
const ADVANCE = `insert into numeracao as n (tenant, prestador, ultimo) select $1, x.prestador, x.ultimo from unnest($2::text[], $3::bigint[]) as x (prestador, ultimo)
  on conflict (tenant, prestador) do update set ultimo = greatest(n.ultimo, excluded.ultimo)`;

export function copiaNumeros(pool: Db) {
  return {
    /** The timeline of a server that accepts writes. */
    readLinha: async (): Promise<number> => (await pool.query<{ linha: number }>(LINHA)).rows[0]!.linha,
    /** The reception number up to which this database surely knows all documents: a note is stored before it is sent. */
    highestNsu: async (tenant: string): Promise<string> =>
      (await pool.query<{ nsu: string }>(HIGHEST_NSU, [tenant])).rows[0]!.nsu,
    /** The reception number after which the environment is asked about a restored database; else as {@link highestNsu}. */
    restoredNsu: async (tenant: string): Promise<string> => {
      const [row] = (await pool.query<{ nsu: string | null }>(RESTORED_NSU, [tenant])).rows;
      return row?.nsu ?? (await pool.query<{ nsu: string }>(HIGHEST_NSU, [tenant])).rows[0]!.nsu;
    },
    /** The events that this database does not have. Their keys are well-formed. */
    unknownEventos: async <One extends EventoNomeado>(
      tenant: string,
      eventos: readonly One[],
    ): Promise<readonly One[]> => {
      const columns = [
        eventos.map(({ chave_acesso }) => chave_acesso),
        eventos.map(({ codigo }) => codigo),
        eventos.map(({ numero_sequencial }) => numero_sequencial),
      ];
      const { rows } = await pool.query<{ place: number }>(UNKNOWN_EVENTOS, [tenant, ...columns]);
      return rows.map(({ place }) => eventos[place - 1]!);
    },
    /** The keys that no note of this database has. */
    unknownKeys: async (tenant: string, chaves: readonly string[]): Promise<readonly string[]> =>
      (await pool.query<{ chave: string }>(UNKNOWN, [tenant, chaves])).rows.map(({ chave }) => chave),
    /** Passes over numbers that may have been given, and closes a municipality in production. */
    passOver: (asked: Adiantar): Promise<Adiantado> => runTransaction(pool, (client) => passOver(client, asked)),
    /** Moves the numbers ahead of each provider with higher numbers in the environment than here; returns their number. */
    passBeyond: (asked: Omit<Adiantar, 'isProducao' | 'nsu' | 'volta'>): Promise<number> =>
      runTransaction(pool, (client) => advance(client, asked, true)),
  };
}

type Client = Parameters<Parameters<typeof runTransaction>[1]>[0];

async function passOver(client: Client, asked: Adiantar): Promise<Adiantado> {
  const { tenant, isProducao, nsu, quem, em, motivo, volta } = asked;
  const passed = volta.linha * POR_LINHA;
  await client.query(PASS_SEQUENCIAS, [tenant, SEQUENCIAS, startOf(volta, NUMEROS), passed]);
  await client.query(PASS_BLOCOS, [tenant, startOf(volta, BLOCOS), passed]);
  if (!isProducao) return { isFechado: false, prestadores: 0 };
  const prestadores = await advance(client, asked, false);
  const closed = await client.query('update municipios set fechado = true where tenant = $1 and not fechado', [tenant]);
  if (closed.rowCount === 1) await tellMunicipio(client, tenant);
  const ato = { quem, em, motivo, via: 'comando', objeto: 'municipio', chave: tenant, acao: 'restaurado' } as const;
  await insertAtos(client, tenant, [{ ...ato, depois: { nsu } }]);
  return { isFechado: closed.rowCount === 1, prestadores };
}

/** `isOnlyBeyond`: only providers with higher numbers in the environment. */
async function advance(
  client: Client,
  { tenant, alem, adiante, quem, em, motivo }: Omit<Adiantar, 'isProducao' | 'nsu' | 'volta'>,
  isOnlyBeyond: boolean,
): Promise<number> {
  const { rows } = await client.query<{ prestador: string; ultimo: string }>(READ, [tenant]);
  const before = new Map(rows.map(({ prestador, ultimo }) => [prestador, BigInt(ultimo)]));
  const changes = [...new Set([...before.keys(), ...alem.keys()])].flatMap((prestador) => {
    const antes = before.get(prestador) ?? 0n;
    const there = alem.get(prestador) ?? 0n;
    if (isOnlyBeyond && there <= antes) return [];
    const depois = (there > antes ? there : antes) + adiante;
    return depois === antes ? [] : [{ prestador, antes, depois }];
  });
  await client.query(ADVANCE, [
    tenant,
    changes.map(({ prestador }) => prestador),
    changes.map(({ depois }) => String(depois)),
  ]);
  const by = { quem, em, motivo, via: 'comando', objeto: 'prestador', acao: ADVANCED } as const;
  const atos = changes.map(({ prestador, antes, depois }): NovoAto => {
    return { ...by, chave: prestador, antes: { ultimo: String(antes) }, depois: { ultimo: String(depois) } };
  });
  await insertAtos(client, tenant, atos);
  return changes.length;
}
