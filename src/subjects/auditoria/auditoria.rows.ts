/** The audit chain of a municipality records all writes in an order that cannot be changed undetected (D-664). */

import { autoriaOf, knownChaves } from '../../base/book/auditoria-chave.ts';
import { listSemAbertura, openEtapa, placeEntradas } from '../../base/book/auditoria-elos.ts';
import { insertRegistradas } from '../../base/book/auditoria-entradas.ts';
import {
  type Caminho,
  caminhoOf,
  type Elo,
  momentoOf,
  RESUMO_BYTES,
  resumoOf,
  splitFolhas,
} from '../../base/book/auditoria-hash.ts';
import { readTexto } from '../../base/book/auditoria-linhas.ts';
import { itemOf, type Vista } from '../../base/book/auditoria-tabelas.ts';
import { type Db, runTransaction } from '../../base/pg/open.ts';
import { readTextoArquivado } from './arquivo.rows.ts';
import { type Conferencias, type Conferida, conferirCorrente, type Fim, type Selo } from './conferir.rows.ts';

/** A new seal. Moments in milliseconds. */
export type NovoSelo = {
  /** `YYYY-MM-DD`, in the time zone of the municipality. */
  readonly dia: string;
  readonly lugar: number;
  readonly texto: string;
  readonly assinatura: Buffer;
  readonly em: number;
};

/**
 * The state of a chain, as far as it is known without a verification. Moments are of the database's clock, except those of seals and
 * verifications.
 */
export type EstadoDaCorrente = {
  readonly lugar: number;
  /** The moment since which the oldest entry waits for its place; null: none waits. */
  readonly semLugarDesde: Date | null;
  readonly abertaEm: Date | null;
  readonly ultimoSelo: { readonly dia: string; readonly em: Date } | null;
  readonly conferida: { readonly em: Date; readonly ate: number; readonly achados: number } | null;
};

/** Proof that a row was in an entry, and the entry in the chain up to a seal. A verifier recomputes it from this alone. */
export type Prova = Caminho & {
  readonly tabela: Vista;
  readonly chave: readonly string[];
  /** Text whose SHA-256 the entry records for the row. */
  readonly texto: string;
  readonly item: string;
  readonly entrada: Elo;
  /** The hash before the entry. */
  readonly anterior: string;
  /** The first seal after the entry; undefined: none was made since. */
  readonly selo: Selo | undefined;
};

const STATE = `select coalesce(a.lugar, 0)::float8 as lugar, a.aberta_em, a.conferida_em, a.conferida_ate::float8 as conferida_ate, a.achados,
    (select em from auditoria w where w.tenant = $1 and w.lugar is null order by w.em limit 1) as sem_lugar,
    (select json_build_object('dia', s.dia, 'em', s.em) from auditoria_selos s where s.tenant = $1 order by s.dia desc limit 1) as selo
  from municipios m left join auditoria_ate a on a.tenant = $1 where m.tenant = $1`;

type State = {
  readonly lugar: number;
  readonly aberta_em: Date | null;
  readonly conferida_em: Date | null;
  readonly conferida_ate: number | null;
  readonly achados: number | null;
  readonly sem_lugar: Date | null;
  readonly selo: { readonly dia: string; readonly em: string } | null;
};

/** Columns of `auditoria w`. The prefix matters: `order by lugar` would sort by the output column and use no index. */
const ELO = `w.lugar::float8 as lugar, id, ${momentoOf('em')} as em, coalesce(sobre, '') as sobre, encode(raiz, 'hex') as raiz,
  octet_length(resumos) / ${RESUMO_BYTES} as folhas`;
/** Looks at authenticated ends and at entries without a place. */
const POR_CHAVE = [
  'select 1 from auditoria_ate where autenticador is not null limit 1',
  'select 1 from auditoria where lugar is null and autenticador is not null limit 1',
];
const SELO = `select to_char(dia, 'YYYY-MM-DD') as dia, lugar::float8 as lugar, texto, assinatura from auditoria_selos where tenant = $1`;

export function auditoriaStore(pool: Db) {
  return {
    /** See {@link placeEntradas}. */
    place: (tenant: string): Promise<number> => placeEntradas(pool, tenant),
    /** Tenants whose chain has not yet recorded the rows that existed before it. */
    listSemAbertura: (): Promise<readonly string[]> => listSemAbertura(pool),
    /** See {@link openEtapa}. */
    openEtapa: (tenant: string, now: number): Promise<boolean> => openEtapa(pool, tenant, now),
    readState: async (tenant: string): Promise<EstadoDaCorrente | undefined> => {
      const [row] = (await pool.query<State>(STATE, [tenant])).rows;
      if (row === undefined) return undefined;
      const { lugar, aberta_em, conferida_em, conferida_ate, achados, sem_lugar, selo } = row;
      return {
        ...{ lugar, abertaEm: aberta_em, semLugarDesde: sem_lugar },
        ultimoSelo: selo && { dia: selo.dia, em: new Date(selo.em) },
        conferida: conferida_em === null ? null : { em: conferida_em, ate: conferida_ate ?? 0, achados: achados ?? 0 },
      };
    },
    /** The end of the chain; undefined: it has no entry with a place. */
    readFim: async (tenant: string): Promise<Fim | undefined> => {
      const text = `select lugar::float8 as lugar, encode(elo, 'hex') as elo from auditoria_ate where tenant = $1 and lugar > 0`;
      return (await pool.query<Fim>(text, [tenant])).rows[0];
    },
    /** Stores a seal; a seal that the day already has stays. */
    keepSelo: (tenant: string, { dia, lugar, texto, assinatura, em }: NovoSelo): Promise<void> =>
      runTransaction(pool, async (client) => {
        const text = `insert into auditoria_selos (tenant, dia, lugar, texto, assinatura, em) values ($1, $2, $3, $4, $5, $6)
          on conflict (tenant, dia) do nothing`;
        const { rowCount } = await client.query(text, [tenant, dia, lugar, texto, assinatura, new Date(em)]);
        const quais = { which: 't.dia = $6::date', values: [dia] };
        if (rowCount === 1) await insertRegistradas(client, tenant, 'auditoria_selos', quais);
      }),
    /** Whether a process that has a key has written entries here, with a place or without one. */
    hasChave: async (): Promise<boolean> => {
      for (const text of POR_CHAVE) if ((await pool.query(text)).rows.length > 0) return true;
      return false;
    },
    /** Whether a process has written entries here, with a key or without. */
    hasEntradas: async (): Promise<boolean> => (await pool.query('select 1 from auditoria limit 1')).rows.length > 0,
    /** The oldest first. */
    listSelos: async (tenant: string): Promise<readonly Omit<Selo, 'elo'>[]> =>
      (await pool.query<Omit<Selo, 'elo'>>(`${SELO} order by dia`, [tenant])).rows,
    /** See {@link conferirCorrente}. */
    verify: (tenant: string, kept: readonly Fim[], com: Omit<Conferencias, 'kept'> = {}): Promise<Conferida> =>
      conferirCorrente(pool, tenant, { kept, ...com }),
    /** Stores the time of a verification and the number of its findings. `now`: milliseconds. */
    noteVerified: async (tenant: string, now: number, ate: number, achados: number): Promise<void> => {
      const text = `update auditoria_ate set conferida_em = $2, conferida_ate = $3, achados = $4 where tenant = $1`;
      await pool.query(text, [tenant, new Date(now), ate, achados]);
    },
    /** See {@link proofOf}. */
    proofOf: (tenant: string, tabela: Vista, chave: readonly string[], from: number): Promise<Prova | undefined> =>
      proofOf(pool, tenant, { tabela, chave, from }),
    /** The place of the first entry of a moment (milliseconds), or somewhat before. */
    findLugar: (tenant: string, desde: number): Promise<number> => firstLugarSince(pool, tenant, desde - CLOCKS_MS),
    /** Entries by their places; both ends are included. */
    readElos: async (tenant: string, from: number, to: number): Promise<readonly Elo[]> => {
      const text = `select ${ELO} from auditoria w where w.tenant = $1 and w.lugar between $2 and $3 order by w.lugar`;
      return (await pool.query<Elo>(text, [tenant, from, to])).rows;
    },
  };
}

/** Largest difference between the clocks of service and database, and largest disorder of entries against their moments. */
const CLOCKS_MS = 600_000;

/** Binary search for the first entry at or after a moment (milliseconds): places follow moments. */
async function firstLugarSince(pool: Db, tenant: string, since: number): Promise<number> {
  type Row = { readonly lugar: number; readonly em: Date };
  const end = 'select coalesce(max(lugar), 0)::float8 as lugar from auditoria where tenant = $1 and lugar is not null';
  const at = `select w.lugar::float8 as lugar, w.em from auditoria w where w.tenant = $1 and w.lugar >= $2
    order by w.lugar limit 1`;
  let [low, high] = [1, (await pool.query<Row>(end, [tenant])).rows[0]!.lugar + 1];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const [found] = (await pool.query<Row>(at, [tenant, middle])).rows;
    if (found === undefined || found.em.getTime() >= since) high = middle;
    else low = found.lugar + 1;
  }
  return low;
}

/** Two searches around a place: from it onwards, then backwards, each nearest first. $4 continues after the last result. */
const FIND = ['>= $3 and w.lugar > $4 order by w.lugar', '< $3 and w.lugar < $4 order by w.lugar desc'].map(
  (where) => `select itens, resumos, sal, autenticador, ${ELO} from auditoria w
    where w.tenant = $1 and position($2::bytea in w.resumos) > 0 and w.lugar ${where} limit 1`,
);
const FIRST = [-1, Number.MAX_SAFE_INTEGER] as const;

type Encontrada = Elo & {
  readonly itens: string;
  readonly resumos: Buffer;
  readonly sal: Buffer;
  readonly autenticador: Buffer | null;
};

/** Entries that record a row by its digest, the nearest first. */
async function* eachEntrada(pool: Db, tenant: string, resumo: string, from: number): AsyncGenerator<Encontrada> {
  for (const [place, find] of FIND.entries()) {
    for (let after: number = FIRST[place]!; ; ) {
      const values = [tenant, Buffer.from(resumo, 'hex'), from, after];
      const [found] = (await pool.query<Encontrada>(find, values)).rows;
      if (found === undefined) break;
      yield found;
      after = found.lugar;
    }
  }
}

/** Whether any entry before a place has a key that is known here. */
const KEYED_BEFORE = `select true from auditoria w where w.tenant = $1 and w.lugar < $2
  and substring(w.autenticador from 1 for 8) = any ($3::bytea[]) order by w.lugar limit 1`;

/** Whether this service wrote an entry, as far as the key shows: it has its authenticator, or is older than the key. */
async function isOwn(pool: Db, tenant: string, entrada: Encontrada): Promise<boolean> {
  const autoria = autoriaOf(tenant, entrada);
  if (autoria === 'propria' || knownChaves().length === 0) return true;
  return (await pool.query(KEYED_BEFORE, [tenant, entrada.lugar, knownChaves()])).rowCount === 0;
}

/** `from`: the place at which the search starts. */
type Provada = { readonly tabela: Vista; readonly chave: readonly string[]; readonly from: number };

/**
 * Proof that a row is as an entry records it. Undefined: the row is neither in the database nor in the archive, or no entry with a place
 * records it. The search goes from a place onwards, then through all earlier entries. A row older than the chain has a later entry. A wrong
 * clock may have put the entry anywhere.
 */
async function proofOf(pool: Db, tenant: string, { tabela, chave, from }: Provada): Promise<Prova | undefined> {
  const texto =
    (await readTexto(pool, tenant, tabela, chave)) ?? (await readTextoArquivado(pool, tenant, tabela, chave));
  if (texto === undefined) return undefined;
  const [item, resumo] = [itemOf(tabela, chave), resumoOf(texto)];
  for await (const found of eachEntrada(pool, tenant, resumo, from)) {
    const folhas = splitFolhas(found.itens, found.resumos);
    const place = folhas?.findIndex((folha) => folha.item === item && folha.resumo === resumo) ?? -1;
    if (folhas === undefined || place < 0 || !(await isOwn(pool, tenant, found))) continue;
    const { itens: _itens, resumos: _resumos, sal, autenticador: _autenticador, ...entrada } = found;
    return {
      tabela,
      chave,
      texto,
      item,
      entrada,
      ...caminhoOf(sal, folhas, place),
      ...(await sealedOf(pool, tenant, entrada.lugar)),
    };
  }
  return undefined;
}

/** The hash before an entry, and the first seal after it. */
async function sealedOf(pool: Db, tenant: string, lugar: number): Promise<Pick<Prova, 'anterior' | 'selo'>> {
  const before = `select encode(elo, 'hex') as elo from auditoria where tenant = $1 and lugar = $2`;
  const [previous] = (await pool.query<{ elo: string }>(before, [tenant, lugar - 1])).rows;
  const sealed = `${SELO} and lugar >= $2 order by lugar limit 1`;
  const [selo] = (await pool.query<Omit<Selo, 'elo'>>(sealed, [tenant, lugar])).rows;
  return {
    anterior: previous?.elo ?? '0'.repeat(2 * RESUMO_BYTES),
    selo: selo && { ...selo, elo: Buffer.from(JSON.parse(selo.texto).elo, 'hex') },
  };
}
