/** Accounts of the console: who may enter, by what they prove who they are, and their roles. They are the installation's, not a tenant's. */
import { insertAtos, type NovoAto } from './atos.ts';
import type { Db } from './open.ts';
import { planOnce } from './planned.ts';
import { type Sessoes, sessaoStore } from './sessoes.ts';
import { inTurn } from './turn.ts';

/** What somebody may do for a municipality; each includes those before it. */
export const PAPEIS = ['leitura', 'atendimento', 'operacao', 'administracao'] as const;
export type Papel = (typeof PAPEIS)[number];

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
  /** In a row. */
  readonly codigos_errados: number;
  readonly oidc_emissor: string | null;
  readonly oidc_sujeito: string | null;
  readonly bloqueada_em: Date | null;
  readonly convite_expira_em: Date | null;
  readonly criada_em: Date;
  readonly passkeys: readonly PasskeyRow[];
  /** By municipality. */
  readonly papeis: Readonly<Record<string, Papel>>;
};

const PASSKEYS = `(select coalesce(json_agg(json_build_object('id', p.id, 'chave', encode(p.chave, 'base64'), 'contador', p.contador,
    'transportes', p.transportes, 'nome', p.nome, 'criada_em', p.criada_em) order by p.criada_em), '[]')
  from passkeys p where p.conta = c.id) as passkeys`;
const PAPEIS_DA = `(select coalesce(json_object_agg(r.municipio, r.papel), '{}') from papeis r where r.conta = c.id) as papeis`;
const COLUMNS = `c.id, c.login, c.nome, c.senha, c.totp, c.codigos_errados, c.oidc_emissor, c.oidc_sujeito, c.bloqueada_em, c.convite_expira_em, c.criada_em,
  ${PASSKEYS}, ${PAPEIS_DA}`;

const reading = (name: string, condition: string) =>
  planOnce(`conta_${name}`, `select ${COLUMNS} from contas c where ${condition}`);
const BY_ID = reading('id', 'c.id = $1');
const BY_LOGIN = reading('login', 'c.login = $1');
const BY_CONVITE = reading('convite', 'c.convite = $1');
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

/** What may be set of an account; what is not named stays. */
export type Mudanca = {
  readonly login?: string;
  readonly nome?: string;
  readonly senha?: string | null;
  readonly totp?: string | null;
  readonly oidc?: { readonly emissor: string; readonly sujeito: string };
  /** Milliseconds. */
  readonly bloqueadaEm?: number | null;
  /** SHA-256 of an invitation, and its end. */
  readonly convite?: { readonly impressao: Uint8Array; readonly expiraEm: number } | null;
};

const iso = (instant: number): string => new Date(instant).toISOString();

/** Columns and values of a change. */
function columnsOf(mudanca: Mudanca, now: number): readonly (readonly [column: string, value: unknown])[] {
  const { login, nome, senha, totp, oidc, bloqueadaEm, convite } = mudanca;
  const set: (readonly [string, unknown])[] = [];
  if (login !== undefined) set.push(['login', login]);
  if (nome !== undefined) set.push(['nome', nome]);
  if (senha !== undefined) set.push(['senha', senha], ['senha_em', senha === null ? null : iso(now)]);
  if (totp !== undefined) set.push(['totp', totp]);
  if (oidc !== undefined) set.push(['oidc_emissor', oidc.emissor], ['oidc_sujeito', oidc.sujeito]);
  if (bloqueadaEm !== undefined) set.push(['bloqueada_em', bloqueadaEm === null ? null : iso(bloqueadaEm)]);
  if (convite !== undefined) {
    set.push(
      ['convite', convite?.impressao ?? null],
      ['convite_expira_em', convite === null ? null : iso(convite.expiraEm)],
    );
  }
  return set;
}

export type NovaConta = { readonly id: string; readonly login: string; readonly nome: string };

/** Login of the account that waits for the first administrator; none that somebody can choose. */
export const PRIMEIRA = ':primeira';

/** What an invitation sets. */
export type Aceita = { readonly login: string; readonly nome: string; readonly senha: string };

type Queries = Pick<Db, 'query'>;

/** Statements about accounts, alone or in a transaction. */
function contasOn(db: Queries) {
  const read = async (query: ReturnType<typeof BY_ID>): Promise<Conta | undefined> => {
    const [row] = (await db.query<Stored>(query)).rows;
    return row && contaOf(row);
  };
  return {
    find: (id: string) => read(BY_ID([id])),
    findByLogin: (login: string) => read(BY_LOGIN([login])),
    findByConvite: (impressao: Uint8Array) => read(BY_CONVITE([impressao])),
    findBySujeito: (emissor: string, sujeito: string) => read(BY_SUJEITO([emissor, sujeito])),
    /** All accounts, by their logins. */
    list: async (): Promise<readonly Conta[]> => {
      const { rows } = await db.query<Stored>(`select ${COLUMNS} from contas c order by c.login`);
      return rows.map(contaOf);
    },
    /** Changes what is named. */
    change: async (id: string, mudanca: Mudanca, now: number): Promise<void> => {
      const set = columnsOf(mudanca, now);
      const pairs = set.map(([column], place) => `${column} = $${place + 2}`);
      await db.query(`update contas set ${pairs.join(', ')} where id = $1`, [id, ...set.map(([, value]) => value)]);
    },
    /** Counts a one-time code before it is tried; false: so many were wrong in a row that none is tried any more. */
    countCode: async (id: string, max: number): Promise<boolean> => {
      const text = 'update contas set codigos_errados = codigos_errados + 1 where id = $1 and codigos_errados < $2';
      return (await db.query(text, [id, max])).rowCount === 1;
    },
    /** `papel` undefined: takes the role away. */
    setPapel: async (conta: string, municipio: string, papel: Papel | undefined): Promise<void> => {
      if (papel === undefined) {
        await db.query('delete from papeis where conta = $1 and municipio = $2', [conta, municipio]);
        return;
      }
      const text = `insert into papeis (conta, municipio, papel) values ($1, $2, $3)
        on conflict (conta, municipio) do update set papel = excluded.papel`;
      await db.query(text, [conta, municipio, papel]);
    },
    /** Takes the roles of all accounts in a municipality away. */
    forgetPapeis: async (municipio: string): Promise<void> => {
      await db.query('delete from papeis where municipio = $1', [municipio]);
    },
  };
}

/** What needs that nobody else changes an account meanwhile. */
function contasAlone(db: Queries) {
  return {
    ...contasOn(db),
    /** Whether it was made; false: the login is another account's. With it the account that waits for a first administrator is gone. */
    create: async ({ id, login, nome }: NovaConta, now: number): Promise<boolean> => {
      const text = 'insert into contas (id, login, nome, criada_em) values ($1, $2, $3, $4) on conflict do nothing';
      if ((await db.query(text, [id, login, nome, iso(now)])).rowCount !== 1) return false;
      if (login === PRIMEIRA) return true;
      await db.query('delete from papeis where conta in (select id from contas where login = $1)', [PRIMEIRA]);
      await db.query('delete from contas where login = $1', [PRIMEIRA]);
      return true;
    },
    /** Uses an invitation up: what it sets is set once, all of it. False: it serves no more. */
    acceptConvite: async (
      id: string,
      impressao: Uint8Array,
      { login, nome, senha }: Aceita,
      now: number,
    ): Promise<boolean> => {
      const text = `update contas set login = $4, nome = $5, senha = $3, senha_em = $6, convite = null, convite_expira_em = null
        where id = $1 and convite = $2 and convite_expira_em > $6 and bloqueada_em is null`;
      return (await db.query(text, [id, impressao, senha, login, nome, iso(now)])).rowCount === 1;
    },
    /** After a right one-time code. */
    forgetCodes: async (id: string): Promise<void> => {
      await db.query('update contas set codigos_errados = 0 where id = $1 and codigos_errados > 0', [id]);
    },
    /** Takes away by what an account proves who it is; its roles stay. */
    forgetProofs: async (conta: string): Promise<void> => {
      await db.query('delete from passkeys where conta = $1', [conta]);
      await db.query(
        'update contas set senha = null, senha_em = null, totp = null, codigos_errados = 0, oidc_emissor = null, oidc_sujeito = null where id = $1',
        [conta],
      );
    },
  };
}

/** Accounts, with what proves them, while nobody else changes one. */
export type Contas = ReturnType<typeof contasAlone> & {
  readonly passkeys: ReturnType<typeof passkeyStore>;
  readonly sessoes: Sessoes;
  readonly record: (tenant: string, ato: NovoAto) => Promise<void>;
};

export function contaStore(pool: Db) {
  return {
    ...contasOn(pool),
    /** Does something to accounts, all or nothing, while nobody else does: what is asked in it still stands when it is written. */
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
