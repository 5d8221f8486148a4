/**
 * Authenticates entries, places and the end of the audit chain by the key of this process. The key is in a file, never in the database. An
 * attacker with access to the database alone can only write entries without authenticator (D-761).
 */
import { createHmac, hash } from 'node:crypto';
import { RESUMO_BYTES, ZERO } from './auditoria-hash.ts';

export const CHAVE_BYTES = 32;
/** Length of the identifier of a key: the beginning of its SHA-256. */
const ID_BYTES = 8;
const BLOCK_BYTES = 64;

type Chave = { readonly id: Buffer; readonly octetos: Buffer };

/** Moments (milliseconds) from which all entries and all places are authenticated by a key of the file; undefined: not stated. */
export type Prazo = { readonly entradas?: number; readonly lugares?: number };

/** The keys of this process. The first one writes; all of them are recognised. */
let chaves: readonly Chave[] = [];
let prazo: Prazo = {};
let absence: string | undefined;

function idOfChave(octetos: Buffer): string {
  return hash('sha256', octetos, 'buffer').toString('hex', 0, ID_BYTES);
}

/** Sets the keys that were read from a file, of {@link CHAVE_BYTES} each. Entries are written without authenticator if there are none. */
export function holdChaves(octetos: readonly Buffer[], since: Prazo = {}): void {
  chaves = octetos.map((one) => ({ id: Buffer.from(idOfChave(one), 'hex'), octetos: one }));
  prazo = since;
  absence = undefined;
}

/** This process may not write entries: the chain has a key, which is missing here. `why`: the reason and the remedy, in Portuguese. */
export function lackChave(why: string): void {
  absence = why;
}

export function lacksChave(): boolean {
  return absence !== undefined;
}

/** The key of one entry, which does not disclose any other key. */
function keyOfEntrada({ octetos }: Chave, tenant: string, id: string): Buffer {
  return createHmac('sha256', octetos).update(`entrada\n${tenant}\n${id}`).digest();
}

function own(): Chave | undefined {
  if (absence !== undefined) throw new Error(absence);
  return chaves[0];
}

type Dita = { readonly id: string; readonly sobre: string; readonly itens: string; readonly resumos: Buffer };

const VERSION = 'nfse-auditoria-chave-1';

function sign(chave: Chave, tenant: string, { id, sobre, itens, resumos }: Dita): Buffer {
  const mac = createHmac('sha256', keyOfEntrada(chave, tenant, id));
  mac.update(`${VERSION}\n${sobre}\n${Buffer.byteLength(itens)}\n${itens}`).update(resumos);
  return Buffer.concat([chave.id, mac.digest()]);
}

/** Authenticator of an entry of this process; null without a key. */
export function autenticadorOf(tenant: string, dita: Dita): Buffer | null {
  const chave = own();
  return chave === undefined ? null : sign(chave, tenant, dita);
}

const pad = (key: Buffer, octet: number): Buffer => {
  const block = Buffer.alloc(BLOCK_BYTES);
  key.copy(block);
  return block.map((one) => one ^ octet) as Buffer;
};

/**
 * The key material with which the database authenticates this entry alone. Its rows are read by the statement itself ({@link
 * autenticadorInSql}).
 */
export function feitioOf(tenant: string, id: string): Buffer | null {
  const chave = own();
  if (chave === undefined) return null;
  const key = keyOfEntrada(chave, tenant, id);
  return Buffer.concat([chave.id, pad(key, 0x36), pad(key, 0x5c)]);
}

/** SQL: HMAC-SHA-256 as defined by RFC 2104. `feitio`: a parameter with {@link feitioOf}. */
export function autenticadorInSql(feitio: string, sobre: string, itens: string, resumos: string): string {
  const part = (from: number, octets: number): string => `substring(${feitio} from ${from} for ${octets})`;
  const said = `'${VERSION}' || chr(10) || coalesce(${sobre}, '') || chr(10) || octet_length(${itens})::text || chr(10) || ${itens}`;
  const inner = `sha256(${part(ID_BYTES + 1, BLOCK_BYTES)} || convert_to(${said}, 'UTF8') || ${resumos})`;
  return `${part(1, ID_BYTES)} || sha256(${part(ID_BYTES + BLOCK_BYTES + 1, BLOCK_BYTES)} || ${inner})`;
}

/** `outra`: by a key that is unknown here; `falsa`: the key is known, but the authenticator does not match. */
export type Autoria = 'propria' | 'sem_chave' | 'outra' | 'falsa';

function judge(autenticador: Buffer | null, expected: (chave: Chave) => Buffer): Autoria {
  if (autenticador === null) return 'sem_chave';
  const chave = chaves.find(({ id }) => id.equals(autenticador.subarray(0, ID_BYTES)));
  if (chave === undefined) return 'outra';
  return expected(chave).equals(autenticador) ? 'propria' : 'falsa';
}

/** The author of an entry. */
export function autoriaOf(tenant: string, entrada: Dita & { readonly autenticador: Buffer | null }): Autoria {
  return judge(entrada.autenticador, (chave) => sign(chave, tenant, entrada));
}

/** Identifiers of the keys of this process. */
export function knownChaves(): readonly Buffer[] {
  return chaves.map(({ id }) => id);
}

export function prazoDasChaves(): Prazo {
  return prazo;
}

type Fim = { readonly lugar: number; readonly elo: Buffer | null };
type FimDito = Fim & { readonly autenticador: Buffer | null };

function signFim({ id, octetos }: Chave, tenant: string, { lugar, elo }: Fim): Buffer {
  const mac = createHmac('sha256', octetos).update(`fim\n${tenant}\n${lugar}\n${(elo ?? ZERO).toString('hex')}`);
  return Buffer.concat([id, mac.digest()]);
}

/** Authenticator of a chain's end that this process wrote. */
export function autenticadorOfFim(tenant: string, fim: Fim): Buffer | null {
  const chave = own();
  return chave === undefined ? null : signFim(chave, tenant, fim);
}

export function autoriaOfFim(tenant: string, fim: FimDito): Autoria {
  return judge(fim.autenticador, (chave) => signFim(chave, tenant, fim));
}

function signCopia({ id, octetos }: Chave, dito: string): Buffer {
  const key = createHmac('sha256', octetos).update('copia').digest();
  return Buffer.concat([id, createHmac('sha256', key).update(dito).digest()]);
}

/** Authenticator of a statement about a copy, by a key derived for that use; null without a key. */
export function autenticadorOfCopia(dito: string): Buffer | null {
  const [chave] = chaves;
  return chave === undefined ? null : signCopia(chave, dito);
}

export function autoriaOfCopia(dito: string, autenticador: Buffer | null): Autoria {
  return judge(autenticador, (chave) => signCopia(chave, dito));
}

const AUTENTICADOR_BYTES = ID_BYTES + RESUMO_BYTES;
const OWN_END: Buffer = Buffer.alloc(0);
const NO_END = Buffer.alloc(AUTENTICADOR_BYTES);
/** The chain up to this place came from another service, unchanged since. */
const BROUGHT = Buffer.of(1);
export const BROUGHT_BYTES = AUTENTICADOR_BYTES + BROUGHT.length;

function signLugar({ id, octetos }: Chave, tenant: string, { lugar, elo }: Fim, base: Buffer): Buffer {
  const said = `lugar\n${tenant}\n${lugar}\n${(elo ?? ZERO).toString('hex')}\n${base.toString('hex')}`;
  return Buffer.concat([id, createHmac('sha256', octetos).update(said).digest(), base]);
}

/** Forgets the moments from which everything must be authenticated. Another service may have written this database. */
export function forgetPrazo(): void {
  prazo = {};
}

/** A foreign end, as the place that follows it stores it; empty if the end is authentic. */
export function baseOf(tenant: string, fim: FimDito): Buffer {
  if (autoriaOfFim(tenant, fim) === 'propria') return OWN_END;
  return Buffer.concat([fim.autenticador ?? NO_END, NO_END], AUTENTICADOR_BYTES);
}

/** Authenticator of a place that this process gave; null without a key. `base`: by {@link baseOf}. */
export function autenticadorOfLugar(tenant: string, fim: Fim, base = OWN_END): Buffer | null {
  const chave = own();
  return chave === undefined ? null : signLugar(chave, tenant, fim, base);
}

/** Authenticator of the last place of a chain that is imported from another service. */
export function autenticadorOfTrazida(tenant: string, fim: Fim): Buffer | null {
  return autenticadorOfLugar(tenant, fim, BROUGHT);
}

/** The author of a place. `fim`: the author of the end on which the place was built; `trazida`: the whole chain up to here was imported. */
export type LugarJulgado = { readonly autoria: Autoria; readonly fim: Autoria | 'trazida' };

export function autoriaOfLugar(tenant: string, lugar: FimDito, anterior: Buffer): LugarJulgado {
  const base = lugar.autenticador?.subarray(AUTENTICADOR_BYTES) ?? OWN_END;
  const autoria = judge(lugar.autenticador, (chave) => signLugar(chave, tenant, lugar, base));
  if (base.length === 0) return { autoria, fim: 'propria' };
  if (base.equals(BROUGHT)) return { autoria, fim: 'trazida' };
  const before = { lugar: lugar.lugar - 1, elo: anterior, autenticador: base.equals(NO_END) ? null : base };
  return { autoria, fim: autoriaOfFim(tenant, before) };
}
