/**
 * Sessions of the console, by the SHA-256 of the cookie, which itself is not stored. They stay on the coordinator if the schema is
 * distributed.
 */
import type { Db } from '../../base/pg/open.ts';
import { planOnce } from '../../base/pg/planned.ts';

/** Progress of the entrance: returning from the identity provider, with a password, or complete. */
type Etapa = 'identidade' | 'segundo_fator' | 'inteira';
/** The kind of the second factor. */
export type Fator = 'codigo' | 'passkey' | 'provedor';

export type Sessao = {
  readonly impressao: Buffer;
  readonly conta: string | null;
  readonly etapa: Etapa;
  readonly criada_em: Date;
  readonly vista_em: Date;
  readonly rede: string;
  readonly navegador: string;
  readonly desafio: string | null;
  /** Secret of an app that the session is shown, in Base32. */
  readonly segredo: string | null;
  readonly fator: Fator | null;
  readonly recado: string | null;
};

export type NovaSessao = {
  readonly impressao: Uint8Array;
  readonly conta: string | undefined;
  readonly etapa: Etapa;
  readonly fator?: Fator | undefined;
  readonly rede: string;
  readonly navegador: string;
  readonly desafio?: string | undefined;
  /** The time step of the one-time code that was given. */
  readonly passo?: number | undefined;
  /** Start of the session that it replaces; undefined: now. */
  readonly criada_em?: Date | undefined;
};

const COLUMNS = 'impressao, conta, etapa, criada_em, vista_em, rede, navegador, desafio, segredo, fator, recado';
const FIND = planOnce('find_sessao', `select ${COLUMNS} from sessoes where impressao = $1 and encerrada_em is null`);

const iso = (instant: number): string => new Date(instant).toISOString();

export type Sessoes = ReturnType<typeof sessaoStore>;

export function sessaoStore(pool: Pick<Db, 'query'>) {
  return {
    /** False: the step of this code was used already. */
    create: async (
      { impressao, conta, etapa, fator, rede, navegador, desafio, passo, criada_em }: NovaSessao,
      now: number,
    ): Promise<boolean> => {
      const text = `insert into sessoes (impressao, conta, etapa, criada_em, vista_em, rede, navegador, desafio, fator, passo)
        values ($1, $2, $3, coalesce($10, $4::timestamptz), $4, $5, $6, $7, $8, $9) on conflict (conta, passo) do nothing`;
      const optional = [desafio, fator, passo, criada_em?.toISOString()].map((value) => value ?? null);
      const values = [impressao, conta ?? null, etapa, iso(now), rede, navegador, ...optional];
      return (await pool.query(text, values)).rowCount === 1;
    },
    find: async (impressao: Uint8Array): Promise<Sessao | undefined> =>
      (await pool.query<Sessao>(FIND([impressao]))).rows[0],
    see: async (impressao: Uint8Array, now: number): Promise<void> => {
      await pool.query('update sessoes set vista_em = $2 where impressao = $1', [impressao, iso(now)]);
    },
    /** Stores the challenge that the browser must answer; undefined: none. */
    challenge: async (impressao: Uint8Array, desafio: string | undefined): Promise<void> => {
      await pool.query('update sessoes set desafio = $2 where impressao = $1', [impressao, desafio ?? null]);
    },
    /** The secret that the session is shown: the one that it has, or else this one. Undefined: the session has ended. */
    offerSecret: async (impressao: Uint8Array, segredo: string): Promise<string | undefined> => {
      const text = `update sessoes set segredo = coalesce(segredo, $2) where impressao = $1 and encerrada_em is null returning segredo`;
      return (await pool.query<{ segredo: string }>(text, [impressao, segredo])).rows[0]?.segredo;
    },
    /** Returns the challenge and deletes it. */
    takeChallenge: async (impressao: Uint8Array): Promise<string | undefined> => {
      const text = `update sessoes s set desafio = null from (select impressao, desafio from sessoes where impressao = $1 for update) d
        where s.impressao = d.impressao returning d.desafio`;
      return (await pool.query<{ desafio: string | null }>(text, [impressao])).rows[0]?.desafio ?? undefined;
    },
    tell: async (impressao: Uint8Array, recado: string | undefined): Promise<void> => {
      await pool.query('update sessoes set recado = $2 where impressao = $1', [impressao, recado ?? null]);
    },
    end: async (impressao: Uint8Array, now: number): Promise<void> => {
      await pool.query('update sessoes set encerrada_em = $2, desafio = null, segredo = null where impressao = $1', [
        impressao,
        iso(now),
      ]);
    },
    /** Ends all sessions of an account but one; returns their number. */
    endAll: async (conta: string, except: Uint8Array | undefined, now: number): Promise<number> => {
      const text = `update sessoes set encerrada_em = $2, desafio = null, segredo = null where conta = $1 and encerrada_em is null
        and impressao <> coalesce($3::bytea, '')`;
      return (await pool.query(text, [conta, iso(now), except ?? null])).rowCount ?? 0;
    },
    /** Open sessions of an account, the last seen first. */
    list: async (conta: string, since: number): Promise<readonly Sessao[]> => {
      const text = `select ${COLUMNS} from sessoes where conta = $1 and encerrada_em is null and etapa = 'inteira' and vista_em > $2
        order by vista_em desc`;
      return (await pool.query<Sessao>(text, [conta, iso(since)])).rows;
    },
    /** Deletes sessions that were not used since. */
    forget: async (before: number): Promise<void> => {
      await pool.query('delete from sessoes where vista_em < $1', [iso(before)]);
    },
  };
}
