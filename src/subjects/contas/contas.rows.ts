/**
 * Accounts of the console: the people who may enter, their proofs of identity, and their roles. They belong to the installation, not to a
 * tenant.
 */

import { insertAtos, type NovoAto } from '../../base/book/atos.ts';
import type { Papel } from '../../base/book/papeis.ts';
import type { Db } from '../../base/pg/open.ts';
import type { QueryConfig } from '../../base/pg/pg.ts';
import { planOnce } from '../../base/pg/planned.ts';
import { inTurn } from '../../base/pg/turn.ts';
import { type Sessoes, sessaoStore } from './sessoes.rows.ts';

export type PasskeyRow = {
  readonly id: string;
  readonly chave: Buffer<ArrayBuffer>;
  readonly contador: number;
  readonly transportes: readonly string[];
  readonly nome: string;
  readonly criada_em: Date;
};

export type Conta = {
  readonly id: string;
  readonly login: string;
  readonly nome: string;
  /** PHC string of argon2id. */
  readonly senha: string | null;
  readonly totp: string | null;
  /** Wrong codes in a row. */
  readonly codigos_errados: number;
  /** Recovery codes that are not used yet. */
  readonly reservas: number;
  readonly oidc_emissor: string | null;
  readonly oidc_sujeito: string | null;
  readonly bloqueada_em: Date | null;
  readonly convite: Buffer | null;
  readonly convite_expira_em: Date | null;
  readonly criada_em: Date;
  /** Name of the person who made it; null: older than this column. */
  readonly criada_por: string | null;
  /** CPF that the forms of acts by office propose. */
  readonly cpf_agente: string | null;
  readonly passkeys: readonly PasskeyRow[];
  /** Accepted roles by municipality. */
  readonly papeis: Readonly<Record<string, Papel>>;
  /** Roles by municipality that were given and not accepted yet. */
  readonly ofertas: Readonly<Record<string, Papel>>;
};

/** A role that a link lets its owner accept. */
export type Oferta = {
  readonly municipio: string;
  readonly papel: Papel;
  readonly dado_por: string | null;
};

/** A role in a municipality. `aceito_em` null: it waits for its link, which is valid until `convite_expira_em`. */
export type Direito = {
  readonly login: string;
  readonly papel: Papel;
  /** Name of the person who gave it; null: older than this column. */
  readonly dado_por: string | null;
  readonly aceito_em: Date | null;
  readonly convite_expira_em: Date | null;
};

/** A link: the SHA-256 of its secret, and its end in milliseconds. */
export type Convite = { readonly impressao: Uint8Array; readonly expiraEm: number };

const PASSKEYS = `(select coalesce(json_agg(json_build_object('id', p.id, 'chave', encode(p.chave, 'base64'), 'contador', p.contador,
    'transportes', p.transportes, 'nome', p.nome, 'criada_em', p.criada_em) order by p.criada_em), '[]')
  from passkeys p where p.conta = c.id) as passkeys`;
const papeisDa = (name: string, condition: string): string =>
  `(select coalesce(json_object_agg(r.municipio, r.papel), '{}') from papeis r where r.conta = c.id and r.aceito_em ${condition}) as ${name}`;
const PAPEIS_DA = `${papeisDa('papeis', 'is not null')}, ${papeisDa('ofertas', 'is null')}`;
const COLUMNS = `c.id, c.login, c.nome, c.senha, c.totp, c.codigos_errados, cardinality(c.codigos_reserva) as reservas, c.oidc_emissor, c.oidc_sujeito, c.bloqueada_em, c.convite, c.convite_expira_em, c.criada_em, c.criada_por, c.cpf_agente,
  ${PASSKEYS}, ${PAPEIS_DA}`;

const reading = (name: string, condition: string) =>
  planOnce(`conta_${name}`, `select ${COLUMNS} from contas c where ${condition}`);
const BY_ID = reading('id', 'c.id = $1');
const BY_LOGIN = reading('login', 'c.login = $1');
/** Not a prepared statement: a link is opened once. */
const BY_CONVITE = `select ${COLUMNS} from contas c where c.id in (
    select x.id from contas x where x.convite = $1 and x.convite_expira_em > $2
    union all select r.conta from papeis r where r.convite = $1 and r.convite_expira_em > $2)`;
const OFERTAS = `select municipio, papel, dado_por from papeis where convite = $1 and convite_expira_em > $2 and aceito_em is null
  order by municipio`;
const BY_SUJEITO = reading('sujeito', 'c.oidc_emissor = $1 and c.oidc_sujeito = $2');

type Stored = Omit<Conta, 'passkeys'> & {
  readonly passkeys: readonly (Omit<PasskeyRow, 'chave' | 'criada_em'> & {
    readonly chave: string;
    readonly criada_em: string;
  })[];
};

function contaOf({ passkeys, ...row }: Stored): Conta {
  const keys = passkeys.map(({ chave, criada_em, ...key }) => ({
    ...key,
    chave: Buffer.from(chave, 'base64'),
    criada_em: new Date(criada_em),
  }));
  return { ...row, passkeys: keys };
}

/** Fields of an account that may change; a missing field stays. */
type Mudanca = {
  readonly senha?: string | null;
  readonly totp?: string | null;
  /** Milliseconds. */
  readonly bloqueadaEm?: number | null;
  readonly convite?: Convite | null;
  readonly cpfAgente?: string | null;
};

const iso = (instant: number): string => new Date(instant).toISOString();

/** Columns and values of a change. */
function columnsOf(mudanca: Mudanca, now: number): readonly (readonly [column: string, value: unknown])[] {
  const { senha, totp, bloqueadaEm, convite, cpfAgente } = mudanca;
  const set: (readonly [string, unknown])[] = [];
  if (senha !== undefined) set.push(['senha', senha], ['senha_em', senha === null ? null : iso(now)]);
  if (totp !== undefined) set.push(['totp', totp]);
  if (cpfAgente !== undefined) set.push(['cpf_agente', cpfAgente]);
  if (bloqueadaEm !== undefined) set.push(['bloqueada_em', bloqueadaEm === null ? null : iso(bloqueadaEm)]);
  if (convite !== undefined) {
    set.push(
      ['convite', convite?.impressao ?? null],
      ['convite_expira_em', convite === null ? null : iso(convite.expiraEm)],
    );
  }
  return set;
}

type NovaConta = {
  readonly id: string;
  readonly login: string;
  readonly nome: string;
  readonly por: string | null;
};

/** Login of the account that waits for the first administrator; no person can choose it. */
export const PRIMEIRA = ':primeira';

/** First proof of an account: a password, or an identity of the provider. */
type Tomada = {
  readonly login: string;
  readonly nome: string;
  readonly senha?: string;
  readonly oidc?: { readonly emissor: string; readonly sujeito: string };
};

type Queries = Pick<Db, 'query'>;

/** Statements about accounts, alone or in a transaction. */
function contasOn(db: Queries) {
  const read = async (query: QueryConfig): Promise<Conta | undefined> => {
    const [row] = (await db.query<Stored>(query)).rows;
    return row && contaOf(row);
  };
  return {
    find: (id: string) => read(BY_ID([id])),
    findByLogin: (login: string) => read(BY_LOGIN([login])),
    /** The account of a link that is still valid. */
    findByConvite: (impressao: Uint8Array, now: number) => read({ text: BY_CONVITE, values: [impressao, iso(now)] }),
    /** The roles that a link lets its owner accept. */
    listOfertas: async (impressao: Uint8Array, now: number): Promise<readonly Oferta[]> =>
      (await db.query<Oferta>(OFERTAS, [impressao, iso(now)])).rows,
    findBySujeito: (emissor: string, sujeito: string) => read(BY_SUJEITO([emissor, sujeito])),
    /** All accounts, by their logins. */
    list: async (): Promise<readonly Conta[]> => {
      const { rows } = await db.query<Stored>(`select ${COLUMNS} from contas c order by c.login`);
      return rows.map(contaOf);
    },
    change: async (id: string, mudanca: Mudanca, now: number): Promise<void> => {
      const set = columnsOf(mudanca, now);
      const pairs = set.map(([column], place) => `${column} = $${place + 2}`);
      await db.query(`update contas set ${pairs.join(', ')} where id = $1`, [id, ...set.map(([, value]) => value)]);
    },
    /** Counts a one-time code before it is tried; false: too many were wrong in a row, and none is tried any more. */
    countCode: async (id: string, max: number): Promise<boolean> => {
      const text = 'update contas set codigos_errados = codigos_errados + 1 where id = $1 and codigos_errados < $2';
      return (await db.query(text, [id, max])).rowCount === 1;
    },
    /** Sets a role that is valid at once, given by `por`; `papel` undefined: removes it. */
    setPapel: async (conta: string, municipio: string, papel: Papel | undefined, por?: string): Promise<void> => {
      if (papel === undefined) {
        await db.query('delete from papeis where conta = $1 and municipio = $2', [conta, municipio]);
        return;
      }
      const text = `insert into papeis (conta, municipio, papel, aceito_em, dado_por) values ($1, $2, $3, now(), $4)
        on conflict (conta, municipio) do update set papel = excluded.papel, aceito_em = excluded.aceito_em, dado_por = excluded.dado_por`;
      await db.query(text, [conta, municipio, papel, por ?? null]);
    },
    /** The roles in a municipality, accepted or offered, by the login. */
    listDireitos: async (municipio: string): Promise<readonly Direito[]> => {
      const text = `select c.login, r.papel, r.dado_por, r.aceito_em, r.convite_expira_em from papeis r join contas c on c.id = r.conta
        where r.municipio = $1 order by c.login`;
      return (await db.query<Direito>(text, [municipio])).rows;
    },
    /** Removes the roles of all accounts in a municipality. */
    forgetPapeis: async (municipio: string): Promise<void> => {
      await db.query('delete from papeis where municipio = $1', [municipio]);
    },
  };
}

/** Statements that run while no other transaction changes an account. */
function contasAlone(db: Queries) {
  return {
    ...contasOn(db),
    /** Whether it was created; false: the login is another account's. Deletes the account that waits for a first administrator. */
    create: async ({ id, login, nome, por }: NovaConta, now: number): Promise<boolean> => {
      const text = `insert into contas (id, login, nome, criada_em, criada_por) values ($1, $2, $3, $4, $5) on conflict do nothing`;
      if ((await db.query(text, [id, login, nome, iso(now), por])).rowCount !== 1) return false;
      if (login === PRIMEIRA) return true;
      await db.query('delete from papeis where conta in (select id from contas where login = $1)', [PRIMEIRA]);
      await db.query('delete from contas where login = $1', [PRIMEIRA]);
      return true;
    },
    /** Offers a role that becomes valid when a link accepts it; the earlier link is no longer valid. */
    offerPapel: async (
      conta: string,
      { municipio, papel, dado_por }: Oferta,
      { impressao, expiraEm }: Convite,
    ): Promise<void> => {
      const text = `insert into papeis (conta, municipio, papel, dado_por, convite, convite_expira_em) values ($1, $2, $3, $4, $5, $6)
        on conflict (conta, municipio) do update set papel = excluded.papel, dado_por = excluded.dado_por, convite = excluded.convite,
          convite_expira_em = excluded.convite_expira_em, aceito_em = null`;
      await db.query(text, [conta, municipio, papel, dado_por, impressao, iso(expiraEm)]);
    },
    /** Gives the roles of a link to the account that was proved, even if the link was for another account. */
    acceptPapeis: async (conta: string, impressao: Uint8Array, now: number): Promise<void> => {
      const text = `update papeis set conta = $1, aceito_em = $3, convite = null, convite_expira_em = null
        where convite = $2 and convite_expira_em > $3 and aceito_em is null`;
      await db.query(text, [conta, impressao, iso(now)]);
    },
    /** Gives an account its first proof, with all fields at once. False: it has one, or is blocked. */
    takeConta: async (id: string, { login, nome, senha, oidc }: Tomada, now: number): Promise<boolean> => {
      const text = `update contas set login = $2, nome = $3, senha = $4, senha_em = $5, oidc_emissor = $6, oidc_sujeito = $7,
          convite = null, convite_expira_em = null
        where id = $1 and senha is null and oidc_sujeito is null and bloqueada_em is null`;
      const proofs = [
        senha ?? null,
        senha === undefined ? null : iso(now),
        oidc?.emissor ?? null,
        oidc?.sujeito ?? null,
      ];
      return (await db.query(text, [id, login, nome, ...proofs])).rowCount === 1;
    },
    /** Deletes an account without proof and without role, which nobody has ever entered; false: it is in use. */
    dropUnused: async (id: string): Promise<boolean> => {
      const text = `delete from contas c where c.id = $1 and c.senha is null and c.oidc_sujeito is null
        and not exists (select 1 from papeis r where r.conta = c.id)
        and not exists (select 1 from passkeys p where p.conta = c.id)`;
      return (await db.query(text, [id])).rowCount === 1;
    },
    /** Resets the count after a right one-time code. */
    forgetCodes: async (id: string): Promise<void> => {
      await db.query('update contas set codigos_errados = 0 where id = $1 and codigos_errados > 0', [id]);
    },
    /** Replaces the recovery codes of an account by others. */
    setReservas: async (id: string, impressoes: readonly Uint8Array[]): Promise<void> => {
      await db.query('update contas set codigos_reserva = $2 where id = $1', [id, impressoes]);
    },
    /** Uses up a recovery code; false: the account has no such code. */
    takeReserva: async (id: string, impressao: Uint8Array): Promise<boolean> => {
      const text = `update contas set codigos_reserva = array_remove(codigos_reserva, $2::bytea)
        where id = $1 and $2::bytea = any(codigos_reserva)`;
      return (await db.query(text, [id, impressao])).rowCount === 1;
    },
    /** Deletes all proofs of an account; its roles stay. */
    forgetProofs: async (conta: string): Promise<void> => {
      await db.query('delete from passkeys where conta = $1', [conta]);
      await db.query(
        `update contas set senha = null, senha_em = null, totp = null, codigos_errados = 0, codigos_reserva = '{}', oidc_emissor = null, oidc_sujeito = null where id = $1`,
        [conta],
      );
    },
  };
}

/** Accounts with their proofs, while no other transaction changes one. */
export type Contas = ReturnType<typeof contasAlone> & {
  readonly passkeys: ReturnType<typeof passkeyStore>;
  readonly sessoes: Sessoes;
  readonly record: (tenant: string, ato: NovoAto) => Promise<void>;
};

export function contaStore(pool: Db) {
  return {
    ...contasOn(pool),
    /** Runs work on accounts as one transaction, one at a time: conditions that it reads still hold when it writes. */
    alone: <Result>(work: (contas: Contas) => Promise<Result>): Promise<Result> =>
      inTurn(pool, 'contas', (client) =>
        work({
          ...contasAlone(client),
          passkeys: passkeyStore(client),
          sessoes: sessaoStore(client),
          record: (tenant, ato) => insertAtos(client, tenant, [ato]),
        }),
      ),
  };
}

export function passkeyStore(pool: Queries) {
  return {
    /** False: the key is known already. */
    add: async (
      conta: string,
      {
        id,
        chave,
        contador,
        transportes,
        nome,
      }: Omit<PasskeyRow, 'criada_em' | 'chave'> & { readonly chave: Uint8Array },
      now: number,
    ): Promise<boolean> => {
      const text = `insert into passkeys (id, conta, chave, contador, transportes, nome, criada_em)
        values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing`;
      return (await pool.query(text, [id, conta, chave, contador, transportes, nome, iso(now)])).rowCount === 1;
    },
    use: async (id: string, contador: number): Promise<void> => {
      await pool.query('update passkeys set contador = $2 where id = $1 and contador <> $2', [id, contador]);
    },
    remove: async (conta: string, id: string): Promise<void> => {
      await pool.query('delete from passkeys where conta = $1 and id = $2', [conta, id]);
    },
  };
}
