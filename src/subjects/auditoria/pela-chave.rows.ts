/** Judges the entries of a chain by the key of this process: its own, from before it, or of another author. */

import {
  type Autoria,
  autoriaOfLugar,
  BROUGHT_BYTES,
  knownChaves,
  prazoDasChaves,
} from '../../base/book/auditoria-chave.ts';
import { ZERO } from '../../base/book/auditoria-hash.ts';
import { rowInSql } from '../../base/book/auditoria-tabelas.ts';
import type { ClientBase } from '../../base/pg/pg.ts';
import type { Achado } from './aceites.rows.ts';

/** Counts by the key. `desde`: the place of the first entry by it, 0 without a place; `outras`: keys that are not known here. */
export type ContaDaChave = {
  readonly conhecidas: number;
  readonly desde: number | undefined;
  readonly autenticas: number;
  readonly antes: number;
  readonly outras: readonly string[];
};

type Julgada = {
  readonly lugar: number;
  readonly momento: string;
  readonly itens: string;
  readonly autenticador: Buffer | null;
};
type Lugar = {
  readonly lugar: number;
  readonly momento: string;
  readonly elo: Buffer | null;
  readonly autenticador_lugar: Buffer | null;
};

type Client = Pick<ClientBase, 'query'>;

const TRAZIDAS = `select lugar::float8 as lugar, elo, autenticador_lugar as autenticador from auditoria w
  where w.tenant = $1 and octet_length(w.autenticador_lugar) = ${BROUGHT_BYTES} and w.lugar is not null order by w.lugar desc limit 100`;

/** The last place of the part that was imported from another service; 0: none was. */
export async function readTrazida(client: Client, tenant: string): Promise<number> {
  type Row = { readonly lugar: number; readonly elo: Buffer | null; readonly autenticador: Buffer };
  const { rows } = await client.query<Row>(TRAZIDAS, [tenant]);
  return rows.find((row) => autoriaOfLugar(tenant, row, ZERO).autoria === 'propria')?.lugar ?? 0;
}

/** Items of the first note and the first act after the moment since which every entry must have the key. */
const POSTERIORES = [
  `select ${rowInSql('notas').item} as item from notas t where t.tenant = $1 and t.data_emissao > $2 order by t.data_emissao, t.id limit 1`,
  `select ${rowInSql('atos').item} as item from atos t where t.tenant = $1 and t.em > $2 order by t.em, t.id limit 1`,
];

/** Items whose entry must have the key, even if the entry claims an earlier moment. */
export async function readPosteriores(client: Client, tenant: string): Promise<ReadonlySet<string>> {
  const { entradas } = prazoDasChaves();
  const items = new Set<string>();
  if (entradas === undefined) return items;
  for (const text of POSTERIORES) {
    const { rows } = await client.query<{ item: string }>(text, [tenant, new Date(entradas)]);
    for (const { item } of rows) items.add(item);
  }
  return items;
}

export type Testemunhos = { readonly trazida: number; readonly posteriores: ReadonlySet<string> };

/** Judges the entries of a chain by the key, in their order. */
export class PelaChave {
  /** Place of the first entry by a key that is known here; undefined: there is none. */
  desde: number | undefined;
  autenticas = 0;
  /** Number of entries older than the key; only seals show that they are unchanged. */
  antes = 0;
  /** Keys that are not known here. */
  private readonly outras = new Set<string>();
  private readonly prazo = prazoDasChaves();
  /** Last place of the imported part; the key's authenticator fixes that part as it was then. */
  private readonly trazida: number;
  private hasLugares = false;
  /** Latest moment so far. The moment of a single entry proves nothing, since anybody can write it. */
  private em = 0;

  private readonly posteriores: ReadonlySet<string>;

  constructor({ trazida, posteriores }: Testemunhos) {
    this.trazida = trazida;
    this.posteriores = posteriores;
  }

  private isTrazida(lugar: number): boolean {
    return lugar > 0 && lugar <= this.trazida;
  }

  /**
   * Whether an entry without the key's authenticator may be lawful: imported from another service, or older than the key. `isFirst`: no
   * earlier entry has the key.
   */
  private mayBe(autoria: Autoria, lugar: number, { prazo, isFirst }: { prazo: number | undefined; isFirst: boolean }) {
    if (this.isTrazida(lugar)) return true;
    const isInTime = prazo === undefined ? isFirst : this.em <= prazo;
    return isInTime && (isFirst || autoria === 'sem_chave');
  }

  /** Names the fault of an entry; undefined: the key finds none. */
  judge(autoria: Autoria, { lugar, momento, itens, autenticador }: Julgada) {
    this.em = Math.max(this.em, Date.parse(momento));
    if (autoria === 'propria') {
      this.autenticas += 1;
      this.desde ??= lugar;
      return undefined;
    }
    if (autoria === 'outra') this.seeOutra(lugar, autenticador!);
    const isEarlier = this.isTrazida(lugar) || !itens.split('\n').some((item) => this.posteriores.has(item));
    if (isEarlier && this.mayBe(autoria, lugar, this.before())) {
      this.antes += 1;
      return undefined;
    }
    return AUTORIAS[autoria];
  }

  /** Names the fault of an entry's place, before the entry is judged; undefined: there is none. `anterior`: the hash before it. */
  judgeLugar(tenant: string, { lugar, momento, elo, autenticador_lugar }: Lugar, anterior: Buffer) {
    const dito = { lugar, elo, autenticador: autenticador_lugar };
    const { autoria, fim } = autoriaOfLugar(tenant, dito, anterior);
    this.em = Math.max(this.em, Date.parse(momento));
    if (autoria === 'propria') {
      this.hasLugares = true;
      return fim === 'trazida' || this.mayEnd(fim, lugar) ? undefined : 'fim_trocado';
    }
    if (autoria === 'outra') this.seeOutra(lugar, autenticador_lugar!);
    const before = { prazo: this.prazo.lugares, isFirst: !this.hasLugares };
    return this.mayBe(autoria, lugar, before) ? undefined : 'lugar_alheio';
  }

  /** Whether the end of the chain is, or was, acceptable. */
  mayEnd(autoria: Autoria, lugar: number): boolean {
    return autoria === 'propria' || this.mayBe(autoria, lugar, this.before());
  }

  private before() {
    return { prazo: this.prazo.entradas, isFirst: this.desde === undefined };
  }

  private seeOutra(lugar: number, autenticador: Buffer): void {
    if (!this.isTrazida(lugar)) this.outras.add(autenticador.toString('hex', 0, CHAVE_ID_BYTES));
  }

  tell(): ContaDaChave {
    const { desde, autenticas, antes, outras } = this;
    return { conhecidas: knownChaves().length, desde, autenticas, antes, outras: [...outras] };
  }
}

const CHAVE_ID_BYTES = 8;
const AUTORIAS = {
  sem_chave: 'entrada_sem_chave',
  outra: 'entrada_de_outra_chave',
  falsa: 'entrada_forjada',
} as const satisfies Readonly<Record<Exclude<Autoria, 'propria'>, Achado['tipo']>>;
