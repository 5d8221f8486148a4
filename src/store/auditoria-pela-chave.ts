/** What the key of this process says of the entries of a chain that is verified: which are the service's, which are from before, which are nobody's. */
import type { Achado } from './auditoria-aceites.ts';
import { type Autoria, knownChaves } from './auditoria-chave.ts';

/** What the key of this process says of the entries. `desde`: the place of the first one by it, 0 without a place; `outras`: keys that are not known here. */
export type ContaDaChave = {
  readonly conhecidas: number;
  readonly desde: number | undefined;
  readonly autenticas: number;
  readonly antes: number;
  readonly outras: readonly string[];
};

/** Whether the database is older than the key: a process of the version before may have written for a while beside the first that had it. */
export const IS_UPGRADED = `select exists (select 1 from migracoes g where g.nome like '%-autenticador.sql'
  and g.aplicada_em > (select min(f.aplicada_em) from migracoes f) + interval '15 minutes') as "isUpgraded"`;
const UPGRADING_MS = 1_800_000;

type Julgada = { readonly lugar: number; readonly momento: string; readonly autenticador: Buffer | null };

/** Judges the entries of a chain by the key, in their order. */
export class PelaChave {
  /** The first entry by a key that is known here; undefined: there is none. */
  desde: number | undefined;
  autenticas = 0;
  /** From before that: of them seals alone show that they are what they were. */
  antes = 0;
  /** By keys that are not known here. */
  private readonly outras = new Set<string>();
  private readonly isUpgraded: boolean;
  private desdeEm = 0;
  private em = 0;

  constructor(isUpgraded: boolean) {
    this.isUpgraded = isUpgraded;
  }

  /** Whether processes of the version before may still have written here. Its own moment an entry may be given by anybody: the latest counts. */
  isUpgrading(): boolean {
    return this.isUpgraded && this.em - this.desdeEm < UPGRADING_MS;
  }

  /** Names the fault of an entry; undefined: the key finds none. */
  judge(autoria: Autoria, { lugar, momento, autenticador }: Julgada) {
    this.em = Math.max(this.em, Date.parse(momento));
    if (autoria === 'propria') {
      this.autenticas += 1;
      if (this.desde === undefined) this.desdeEm = this.em;
      this.desde ??= lugar;
      return undefined;
    }
    if (autoria === 'outra') this.outras.add(autenticador!.toString('hex', 0, CHAVE_ID_BYTES));
    if (this.desde === undefined || (autoria === 'sem_chave' && this.isUpgrading())) {
      this.antes += 1;
      return undefined;
    }
    return AUTORIAS[autoria];
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
