/**
 * Verifies the audit chain of a municipality against its rows, all as they stand at one moment: that each entry is what its hash says and
 * follows the one before, and that each row is what the last entry about it says. Memory is bounded, however much there is.
 */
import { Baldes, type Diferenca } from './auditoria-baldes.ts';
import { findNaoSegue } from './auditoria-derivadas.ts';
import { eloOf, momentoOf, RESUMO_BYTES, raizOf, splitFolhas, ZERO } from './auditoria-hash.ts';
import { readPagina } from './auditoria-linhas.ts';
import { VISTAS } from './auditoria-tabelas.ts';
import { readSnapshot } from './linhas.ts';
import type { Db } from './open.ts';
import type { ClientBase } from './pg.ts';

/** What is wrong. `lugar`: of the entry, or of the one that last told the row; `em`: its moment, as the chain writes it. */
export type Achado = {
  readonly tipo:
    | 'entrada_alterada'
    | 'elo_quebrado'
    | 'entrada_ausente'
    | 'fim_alterado'
    | 'linha_nao_segue'
    | 'documento_danificado'
    | 'selo_alterado'
    | Diferenca['tipo'];
  readonly tabela?: string | undefined;
  readonly chave?: readonly string[] | undefined;
  readonly lugar?: number | undefined;
  readonly em?: string | undefined;
};

type Client = Pick<ClientBase, 'query'>;

/** An end of the chain that somebody has kept: the hash of a place. */
export type Fim = { readonly lugar: number; readonly elo: string };

export type Conferida = {
  readonly entradas: number;
  readonly semLugar: number;
  readonly linhas: number;
  /** Rows that the archive has instead of the database, which `nfse arquivo conferir` reads. */
  readonly noArquivo: number;
  /** When all rows from before the chain had been told; null: they are not yet, and those that are not are no finding. */
  readonly abertaEm: Date | null;
  readonly fim: Fim | undefined;
  /** The first ones. */
  readonly achados: readonly Achado[];
  readonly total: number;
  /** Seals of the database, and whether the chain goes through each. */
  readonly selos: readonly Selo[];
};

export type Selo = {
  readonly dia: string;
  readonly lugar: number;
  readonly elo: Buffer;
  readonly texto: string;
  readonly assinatura: Buffer;
};

/** What has passed so far, of how much: entries, then rows. */
export type Andamento = (what: 'entradas' | 'linhas', done: number, all: number | undefined) => void;

const ACHADOS_MAX = 1_000;
const ENTRIES_AT_ONCE = 100;
const ROWS_AT_ONCE = 1_000;

/** Ordered by the column, not by what is shown of it: an index has that order. */
const PLACED = `select w.lugar::float8 as lugar, id, ${momentoOf('em')} as momento, coalesce(sobre, '') as sobre, itens, resumos, sal, raiz, elo
  from auditoria w where w.tenant = $1 and w.lugar > $2 order by w.lugar limit ${ENTRIES_AT_ONCE}`;
const UNPLACED = `select id, ${momentoOf('em')} as momento, itens, resumos from auditoria
  where tenant = $1 and lugar is null and (em, id) > ($2::timestamptz, $3::uuid) order by em, id limit ${ENTRIES_AT_ONCE}`;
const ATE = 'select lugar::float8 as lugar, elo, aberta_em from auditoria_ate where tenant = $1';
const SELOS = `select to_char(dia, 'YYYY-MM-DD') as dia, lugar::float8 as lugar, texto, assinatura from auditoria_selos
  where tenant = $1 order by lugar`;
const MOMENTOS = `select lugar::float8 as lugar, ${momentoOf('em')} as momento from auditoria where tenant = $1 and lugar = any ($2::bigint[])`;
/** The file that counts of each month that is in the archive; of `documentos`, `trilha_notas` and the others the month is second in the key. */
const ARQUIVADOS = `select distinct on (a.mes) a.mes, a.linhas from arquivos a join meses m on m.mes = a.mes and m.arquivado_em is not null
  where a.tenant = $1 and a.pronto_em is not null order by a.mes, a.geracao desc`;
/** Joins and sorts may be planned as they please again. */
const PLANNED_FREELY = 'set local enable_sort = on; set local enable_seqscan = on; set local enable_bitmapscan = on';

type Entrada = {
  readonly lugar: number;
  readonly id: string;
  readonly momento: string;
  readonly sobre: string;
  readonly itens: string;
  readonly resumos: Buffer;
  readonly sal: Buffer | null;
  readonly raiz: Buffer | null;
  readonly elo: Buffer | null;
};

type Ate = { readonly lugar: number; readonly elo: Buffer | null; readonly aberta_em: Date | null };

/** Found so far. */
class Achados {
  readonly first: Achado[] = [];
  total = 0;

  add(achado: Achado): void {
    this.total += 1;
    if (this.first.length < ACHADOS_MAX) this.first.push(achado);
  }
}

/** One verification: what is looked at, and what was found. */
class Conferencia {
  private readonly client: Client;
  private readonly tenant: string;
  private readonly baldes: Baldes;
  private readonly andamento: Andamento;
  readonly achados = new Achados();
  entradas = 0;
  semLugar = 0;
  linhas = 0;
  noArquivo = 0;
  fim: Fim | undefined;

  constructor(client: Client, tenant: string, baldes: Baldes, andamento: Andamento) {
    this.client = client;
    this.tenant = tenant;
    this.baldes = baldes;
    this.andamento = andamento;
  }

  /** The chain, entry by entry. `kept`: ends that it must go through. */
  async readChain(ate: Ate | undefined, kept: readonly Fim[]): Promise<void> {
    const wanted = Map.groupBy(kept, ({ lugar }) => lugar);
    let before: Buffer = ZERO;
    let last = 0;
    for (;;) {
      const { rows } = await this.client.query<Entrada>(PLACED, [this.tenant, last]);
      for (const entrada of rows) {
        const { lugar } = entrada;
        for (let missing = last + 1; missing < lugar; missing += 1) {
          this.achados.add({ tipo: 'entrada_ausente', lugar: missing });
          // Many in a row are told as one that is missing and the next that does not follow.
          if (missing - last > ENTRIES_AT_ONCE) break;
        }
        this.checkEntrada(entrada, before);
        await this.sayAll(entrada);
        before = entrada.elo ?? ZERO;
        last = lugar;
        this.checkKept(wanted.get(lugar) ?? [], before);
        wanted.delete(lugar);
      }
      this.andamento('entradas', this.entradas, ate?.lugar);
      if (rows.length < ENTRIES_AT_ONCE || last > Number.MAX_SAFE_INTEGER) break;
    }
    for (const [lugar] of wanted) this.achados.add({ tipo: 'selo_alterado', lugar });
    if ((ate?.lugar ?? 0) !== last || !(ate?.elo ?? ZERO).equals(before)) {
      this.achados.add({ tipo: 'fim_alterado', lugar: ate?.lugar });
    }
    if (last > 0) this.fim = { lugar: last, elo: before.toString('hex') };
    await this.readUnplaced();
  }

  private checkEntrada(entrada: Entrada, before: Buffer): void {
    const { lugar, id, momento, sobre, itens, resumos, sal, raiz, elo } = entrada;
    const em = momento;
    const folhas = splitFolhas(itens, resumos);
    if (folhas === undefined || sal === null || raiz === null || !raizOf(sal, folhas).equals(raiz)) {
      this.achados.add({ tipo: 'entrada_alterada', lugar, em });
    }
    const count = resumos.length / RESUMO_BYTES;
    const hex = raiz?.toString('hex') ?? '';
    const is = elo !== null && eloOf(before, { lugar, raiz: hex, folhas: count, em, id, sobre }).equals(elo);
    if (!is) this.achados.add({ tipo: 'elo_quebrado', lugar, em });
  }

  private checkKept(kept: readonly Fim[], elo: Buffer): void {
    for (const fim of kept) {
      if (fim.elo !== elo.toString('hex')) this.achados.add({ tipo: 'selo_alterado', lugar: fim.lugar });
    }
  }

  private async readUnplaced(): Promise<void> {
    let after: readonly [string, string] = ['-infinity', '00000000-0000-0000-0000-000000000000'];
    for (;;) {
      const { rows } = await this.client.query<Omit<Entrada, 'lugar'>>(UNPLACED, [this.tenant, ...after]);
      for (const row of rows) {
        this.semLugar += 1;
        await this.sayAll({ ...row, lugar: 0 });
      }
      const end = rows.at(-1);
      if (end === undefined || rows.length < ENTRIES_AT_ONCE) return;
      after = [end.momento, end.id];
    }
  }

  private async sayAll({ lugar, itens, resumos }: Pick<Entrada, 'lugar' | 'itens' | 'resumos'>): Promise<void> {
    this.entradas += 1;
    for (const { item, resumo } of splitFolhas(itens, resumos) ?? []) {
      if (isItem(item)) await this.baldes.say(item, resumo, lugar);
      else this.achados.add({ tipo: 'entrada_alterada', lugar });
    }
  }

  /** All rows that are there. */
  async readRows(): Promise<void> {
    for (const vista of VISTAS) {
      let depois: readonly string[] | undefined;
      do {
        const pagina = await readPagina(this.client, this.tenant, vista, { depois, max: ROWS_AT_ONCE });
        for (const { item, resumo } of pagina.folhas) await this.baldes.find(item, resumo);
        for (const item of pagina.danificadas) this.achados.add({ tipo: 'documento_danificado', ...nameOf(item) });
        this.linhas += pagina.folhas.length;
        depois = pagina.depois;
        this.andamento('linhas', this.linhas, undefined);
      } while (depois !== undefined);
    }
  }

  /** Rows of each table and month that a file of the archive has instead of the database: what is told of these files is verified too. */
  private async readArquivados(): Promise<ReadonlyMap<string, { left: number }>> {
    type Row = { readonly mes: number; readonly linhas: Readonly<Record<string, number>> };
    const { rows } = await this.client.query<Row>(ARQUIVADOS, [this.tenant]);
    const each = rows.flatMap(({ mes, linhas }) =>
      Object.entries(linhas).map(([tabela, left]) => [`${tabela} ${mes}`, { left }] as const),
    );
    return new Map(each);
  }

  async compare(abertaEm: Date | null): Promise<void> {
    const archived = await this.readArquivados();
    for await (const { tipo, item, lugar } of this.baldes.compare()) {
      const named = nameOf(item);
      // No more is missing of a month than its file says that it has.
      const inFile = tipo === 'linha_apagada' ? archived.get(`${named.tabela} ${named.chave[1]}`) : undefined;
      if (inFile !== undefined && inFile.left > 0) {
        inFile.left -= 1;
        this.noArquivo += 1;
      } else if (tipo !== 'linha_sem_entrada' || abertaEm !== null) this.achados.add({ tipo, ...named, lugar });
    }
    await this.client.query(PLANNED_FREELY);
    for (const { tabela, chave } of await findNaoSegue(this.client, this.tenant)) {
      this.achados.add({ tipo: 'linha_nao_segue', tabela, chave: [chave] });
    }
  }

  /** With the moment of each entry that is named. */
  async tell(): Promise<readonly Achado[]> {
    const all = this.achados.first.flatMap(({ lugar, em }) => (em === undefined ? (lugar ?? []) : []));
    const lugares = [...new Set(all)].filter(Number.isSafeInteger);
    const { rows } = await this.client.query<{ lugar: number; momento: string }>(MOMENTOS, [this.tenant, lugares]);
    const momentos = new Map(rows.map(({ lugar, momento }) => [lugar, momento]));
    return this.achados.first.map((achado) => ({ ...achado, em: achado.em ?? momentos.get(achado.lugar ?? -1) }));
  }
}

/** Whether a line of an entry is a key of ours. */
function isItem(item: string): boolean {
  try {
    const read: unknown = JSON.parse(item.startsWith('-') ? item.slice(1) : item);
    const isKey = Array.isArray(read) && read.length > 0 && read.every((part) => typeof part === 'string');
    // As we write it, and in no other way: what is between is of whoever changed it.
    return isKey && item.replace(/^-/, '') === JSON.stringify(read);
  } catch {
    return false;
  }
}

function nameOf(item: string): { readonly tabela: string; readonly chave: readonly string[] } {
  const [tabela, ...chave] = JSON.parse(item) as [string, ...string[]];
  return { tabela, chave };
}

/** `kept`: ends of the chain that somebody has kept elsewhere. */
export function conferirCorrente(
  pool: Db,
  tenant: string,
  kept: readonly Fim[],
  andamento: Andamento,
): Promise<Conferida> {
  return readSnapshot(pool, (client) => conferirEm(client, tenant, kept, andamento));
}

/** The same, in a transaction that sees one moment. */
export function conferirEm(
  client: Client,
  tenant: string,
  kept: readonly Fim[] = [],
  andamento: Andamento = () => undefined,
): Promise<Conferida> {
  return Baldes.use(async (baldes) => {
    const conferencia = new Conferencia(client, tenant, baldes, andamento);
    const [ate] = (await client.query<Ate>(ATE, [tenant])).rows;
    const { rows: stored } = await client.query<Omit<Selo, 'elo'>>(SELOS, [tenant]);
    const selos = stored.map((selo) => ({ ...selo, elo: eloOfTexto(selo.texto) }));
    const ends = selos.map(({ lugar, elo }) => ({ lugar, elo: elo.toString('hex') }));
    await conferencia.readChain(ate, [...ends, ...kept]);
    await conferencia.readRows();
    const abertaEm = ate?.aberta_em ?? null;
    await conferencia.compare(abertaEm);
    const achados = await conferencia.tell();
    const { entradas, semLugar, linhas, noArquivo, fim } = conferencia;
    return { entradas, semLugar, linhas, noArquivo, abertaEm, fim, achados, total: conferencia.achados.total, selos };
  });
}

/** The hash that a seal names; empty where the text is none of ours. */
export function eloOfTexto(texto: string): Buffer {
  try {
    const { elo } = JSON.parse(texto) as { readonly elo?: unknown };
    return typeof elo === 'string' ? Buffer.from(elo, 'hex') : Buffer.alloc(0);
  } catch {
    return Buffer.alloc(0);
  }
}
