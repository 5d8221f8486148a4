/**
 * Verifies the audit chain of a municipality against its rows, in one snapshot. Each entry must match its hash and follow the one before.
 * Each row must match the last entry about it. Memory is bounded for any number of rows.
 */
import { arquivoOf } from '../../base/book/arquivo.ts';
import type { ArquivoLugar } from '../../base/book/arquivo-lugar.ts';
import { MES_ELIMINADO } from '../../base/book/atos.ts';
import { autoriaOf, autoriaOfFim } from '../../base/book/auditoria-chave.ts';
import { ABERTA, ABERTURA } from '../../base/book/auditoria-elos.ts';
import { digestOf, eloOf, momentoOf, RESUMO_BYTES, raizOf, splitFolhas, ZERO } from '../../base/book/auditoria-hash.ts';
import { readPagina } from '../../base/book/auditoria-linhas.ts';
import { apagavelOf, VISTAS } from '../../base/book/auditoria-tabelas.ts';
import { readSnapshot } from '../../base/book/linhas.ts';
import type { Db } from '../../base/pg/open.ts';
import type { ClientBase } from '../../base/pg/pg.ts';
import { type Aceite, type Achado, idOfAchado, readAceites } from './aceites.rows.ts';
import { type ArquivoLido, type NaoLidas, readArquivos } from './arquivo.rows.ts';
import { Baldes } from './baldes.rows.ts';
import { readPlainly } from './catalogo.rows.ts';
import { findNaoSegue } from './derivadas.rows.ts';
import { type CompararNota, findContraditas } from './notas.rows.ts';
import { type ContaDaChave, PelaChave, readPosteriores, readTrazida, type Testemunhos } from './pela-chave.rows.ts';

/** `id`: the name by which an operator accepts it. */
export type AchadoDito = Achado & { readonly id: string };
/** A finding that an operator has accepted. */
type AchadoAceito = AchadoDito & { readonly aceite: Aceite };

type Client = Pick<ClientBase, 'query'>;

/** An end of the chain that was kept: the hash of a place. */
export type Fim = { readonly lugar: number; readonly elo: string };

export type Conferida = {
  readonly entradas: number;
  readonly semLugar: number;
  /** Entries without a place that have waited longer than a placement takes. */
  readonly esperando: number;
  readonly linhas: number;
  /** Rows in files of the archive that could not be read to their end; their state is unknown. */
  readonly noArquivo: number;
  /** The reason why not all rows could be compared with the entries, in Portuguese; undefined: all were compared. */
  readonly naoComparadas: string | undefined;
  /** The files of the archive, whose rows are verified like those of the database. */
  readonly arquivos: readonly ArquivoLido[];
  readonly chave: ContaDaChave;
  /** The moment at which all rows older than the chain had been recorded; null: not yet, and rows without an entry are no finding. */
  readonly abertaEm: Date | null;
  readonly fim: Fim | undefined;
  /** The first findings that are not accepted; `total`: their number. */
  readonly achados: readonly AchadoDito[];
  readonly total: number;
  /** Accepted findings that are unchanged since. */
  readonly aceitos: readonly AchadoAceito[];
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

/** Progress: the number done of the number expected; entries first, then rows. */
export type Andamento = (what: 'entradas' | 'linhas', done: number, all: number | undefined) => void;

/** Whether the signature of a seal is right, which this module cannot judge. */
export type JulgarSelo = (selo: Omit<Selo, 'elo'>) => boolean;

const ACHADOS_MAX = 1_000;
const ENTRIES_AT_ONCE = 100;
const ROWS_AT_ONCE = 1_000;
const HELD_AT_ONCE = 50_000;

/** Ordered by the table's column instead of the output column, so that the index serves the order. */
const PLACED = `select w.lugar::float8 as lugar, id, ${momentoOf('em')} as momento, coalesce(sobre, '') as sobre, itens, resumos, sal, raiz, elo, autenticador, autenticador_lugar
  from auditoria w where w.tenant = $1 and w.lugar > $2 order by w.lugar limit ${ENTRIES_AT_ONCE}`;
/** Time that a running service never exceeds, however busy it is. */
const PLACED_WITHIN = "interval '1 minute'";
const UNPLACED = `select id, ${momentoOf('em')} as momento, coalesce(sobre, '') as sobre, itens, resumos, autenticador,
    em < now() - ${PLACED_WITHIN} as "isWaiting" from auditoria
  where tenant = $1 and lugar is null and (em, id) > ($2::timestamptz, $3::uuid) order by em, id limit ${ENTRIES_AT_ONCE}`;
const ATE = 'select lugar::float8 as lugar, elo, autenticador, aberta_em from auditoria_ate where tenant = $1';
const SELOS = `select to_char(dia, 'YYYY-MM-DD') as dia, lugar::float8 as lugar, texto, assinatura from auditoria_selos
  where tenant = $1 order by lugar`;
const MOMENTOS = `select lugar::float8 as lugar, ${momentoOf('em')} as momento from auditoria where tenant = $1 and lugar = any ($2::bigint[])`;
/** Gives the planner its freedom for joins and sorts back. */
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
  readonly autenticador: Buffer | null;
  readonly autenticador_lugar: Buffer | null;
};

type Dita = Omit<Entrada, 'sal' | 'raiz' | 'elo' | 'autenticador_lugar'>;
type SemLugar = Omit<Dita, 'lugar'> & { readonly isWaiting: boolean };

type Ate = {
  readonly lugar: number;
  readonly elo: Buffer | null;
  readonly autenticador: Buffer | null;
  readonly aberta_em: Date | null;
};

type Regras = { readonly isRehearsal: boolean; readonly eliminados: readonly number[] };

const REGRAS = `select m.ambiente = 'homologacao' as "isRehearsal", array(select replace(a.chave, '-', '')::int from atos a
    where a.tenant = $1 and a.objeto = 'guarda' and a.acao = '${MES_ELIMINADO}' and a.chave ~ '^\\d{4}-\\d\\d$') as eliminados
  from municipios m where m.tenant = $1`;
/** Notes that were held when they were issued. */
const RETIDAS = `select t.nota, t.mes from trilha_notas t where t.tenant = $1 and t.movimento = 1 and t.para = 'retida' and t.nota > $2::bigint
  order by t.nota limit ${HELD_AT_ONCE}`;

/**
 * Whether the database is older than the chain. A process of the previous version may have changed rows beside the chain before it began
 * (D-666).
 */
const IS_OLDER = `select exists (select 1 from migracoes g where g.nome like '%-auditoria.sql'
  and g.aplicada_em > (select min(f.aplicada_em) from migracoes f) + interval '15 minutes') as "isOlder"`;

type Apagada = { readonly item: string; readonly lugar: number; readonly em: number };

/** Longest time between an act and the deletion that it explains, in one transaction. */
const BESIDE_MS = 900_000;

/** Deletions without an act near them, collected while the chain is read. */
class SemAto {
  private ato = Number.NEGATIVE_INFINITY;
  private waiting: Apagada[] = [];
  private readonly found: Apagada[] = [];

  see(item: string, { lugar, momento }: { readonly lugar: number; readonly momento: string }): void {
    const isAto = item.startsWith('["atos",');
    if (!isAto && !(item.startsWith('-') && apagavelOf(item) === 'ato')) return;
    const em = Date.parse(momento);
    if (isAto) {
      this.ato = em;
      this.found.push(...this.waiting.filter((one) => em - one.em > BESIDE_MS));
      this.waiting = [];
    } else if (em - this.ato > BESIDE_MS) this.waiting.push({ item, lugar, em });
  }

  left(): readonly Apagada[] {
    return [...this.found, ...this.waiting];
  }
}

/** Findings so far. */
class Achados {
  readonly first: Achado[] = [];
  readonly aceitos: (Achado & { readonly aceite: Aceite })[] = [];
  total = 0;
  private readonly aceites: ReadonlyMap<string, Aceite>;

  constructor(aceites: ReadonlyMap<string, Aceite>) {
    this.aceites = aceites;
  }

  add(achado: Achado): void {
    const aceite = this.aceites.size === 0 ? undefined : this.aceites.get(idOfAchado(achado));
    if (aceite !== undefined) {
      this.aceitos.push({ ...achado, aceite });
      return;
    }
    this.total += 1;
    if (this.first.length < ACHADOS_MAX) this.first.push(achado);
  }
}

/** The state of one verification: its sources and its findings. */
class Conferencia {
  private readonly client: Client;
  private readonly tenant: string;
  private readonly baldes: Baldes;
  private readonly andamento: Andamento;
  readonly achados: Achados;
  entradas = 0;
  semLugar = 0;
  esperando = 0;
  linhas = 0;
  noArquivo = 0;
  arquivos: readonly ArquivoLido[] = [];
  private naoLidas: NaoLidas = new Map();
  fim: Fim | undefined;
  private isAberta = false;
  private readonly semAto = new SemAto();
  readonly chave: PelaChave;
  private regras: Regras | undefined;

  constructor(
    { client, tenant, andamento }: { client: Client; tenant: string; andamento: Andamento },
    { baldes, ...testemunhos }: Testemunhos & { readonly baldes: Baldes },
    aceites: ReadonlyMap<string, Aceite>,
  ) {
    this.achados = new Achados(aceites);
    this.client = client;
    this.tenant = tenant;
    this.baldes = baldes;
    this.chave = new PelaChave(testemunhos);
    this.andamento = andamento;
  }

  /** Reads the chain, entry by entry. `kept`: ends that it must go through. */
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
          // A long gap is reported as one missing entry, and the next one that does not follow.
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
      const visto = `${ate?.elo?.toString('hex')} ${last} ${before.toString('hex')}`;
      this.achados.add({ tipo: 'fim_alterado', lugar: ate?.lugar, visto });
    }
    if (ate !== undefined && !this.chave.mayEnd(autoriaOfFim(this.tenant, ate), last)) {
      const visto = `${ate.autenticador?.toString('hex')} ${last} ${before.toString('hex')}`;
      this.achados.add({ tipo: 'fim_alterado', lugar: ate.lugar, visto });
    }
    if (last > 0) this.fim = { lugar: last, elo: before.toString('hex') };
    await this.readUnplaced();
  }

  private checkEntrada(entrada: Entrada, before: Buffer): void {
    const { lugar, id, momento, sobre, itens, resumos, sal, raiz, elo } = entrada;
    const em = momento;
    // The digest of the entry as it stands: one more change makes another finding.
    const visto = (): string => digestOf(JSON.stringify([entrada, before]));
    const folhas = splitFolhas(itens, resumos);
    if (folhas === undefined || sal === null || raiz === null || !raizOf(sal, folhas).equals(raiz)) {
      this.achados.add({ tipo: 'entrada_alterada', lugar, em, visto: visto() });
    }
    const count = resumos.length / RESUMO_BYTES;
    const hex = raiz?.toString('hex') ?? '';
    const is = elo !== null && eloOf(before, { lugar, raiz: hex, folhas: count, em, id, sobre }).equals(elo);
    if (!is) this.achados.add({ tipo: 'elo_quebrado', lugar, em, visto: visto() });
    const alheio = this.chave.judgeLugar(this.tenant, entrada, before);
    if (alheio !== undefined) this.achados.add({ tipo: alheio, lugar, em, visto: visto() });
  }

  private checkKept(kept: readonly Fim[], elo: Buffer): void {
    for (const fim of kept) {
      const visto = elo.toString('hex');
      if (fim.elo !== visto) this.achados.add({ tipo: 'selo_alterado', lugar: fim.lugar, visto });
    }
  }

  private async readUnplaced(): Promise<void> {
    let after: readonly [string, string] = ['-infinity', '00000000-0000-0000-0000-000000000000'];
    for (;;) {
      const { rows } = await this.client.query<SemLugar>(UNPLACED, [this.tenant, ...after]);
      for (const row of rows) {
        this.semLugar += 1;
        if (row.isWaiting) this.esperando += 1;
        await this.sayAll({ ...row, lugar: 0 });
      }
      const end = rows.at(-1);
      if (end === undefined || rows.length < ENTRIES_AT_ONCE) return;
      after = [end.momento, end.id];
    }
  }

  private async sayAll(entrada: Dita): Promise<void> {
    const { lugar, momento, sobre, itens, resumos, autenticador } = entrada;
    this.entradas += 1;
    const tipo = this.chave.judge(autoriaOf(this.tenant, entrada), entrada);
    if (tipo !== undefined) {
      // A foreign entry changes nothing: the one before it counts.
      const said = [lugar, momento, sobre, itens, resumos.toString('hex'), autenticador?.toString('hex')];
      this.achados.add({ tipo, lugar, em: momento, visto: digestOf(JSON.stringify(said)) });
      return;
    }
    if (this.isAberta && (sobre === ABERTURA || sobre === ABERTA)) {
      // A repeated beginning would record rows that an attacker changed: the earlier entries count.
      this.achados.add({ tipo: 'abertura_repetida', lugar, em: momento, visto: digestOf(JSON.stringify(entrada)) });
      return;
    }
    if (sobre === ABERTA) this.isAberta = true;
    const isAbertura = sobre === ABERTURA || sobre === ABERTA;
    for (const { item, resumo } of splitFolhas(itens, resumos) ?? []) {
      if (isItem(item)) {
        if (!isAbertura) this.semAto.see(item, { lugar, momento });
        await this.baldes.say(item, resumo, lugar, isAbertura);
      } else this.achados.add({ tipo: 'entrada_alterada', lugar });
    }
  }

  /** Reads deletions that need an act beside them, and notes whose documents were written twice. */
  async readRegras(): Promise<void> {
    const { rows } = await this.client.query<Regras>(REGRAS, [this.tenant]);
    this.regras = rows[0];
    if (this.regras?.isRehearsal !== true) {
      for (const { item, lugar } of this.semAto.left()) {
        this.achados.add({ tipo: 'apagada_sem_ato', ...nameOf(item.slice(1)), lugar });
      }
    }
    let after = '0';
    for (let more = true; more; ) {
      const { rows: held } = await this.client.query<{ nota: string; mes: number }>(RETIDAS, [this.tenant, after]);
      for (const { nota, mes } of held) await this.baldes.hold(nota, String(mes));
      more = held.length === HELD_AT_ONCE;
      after = held.at(-1)?.nota ?? after;
    }
  }

  /** A rehearsal may forget all rows. Elsewhere rows of a month may go once that month or an earlier one was eliminated. */
  private mayGo(meses: readonly number[]): boolean {
    const { isRehearsal, eliminados } = this.regras ?? { isRehearsal: false, eliminados: [] };
    return isRehearsal || (eliminados.length > 0 && meses.every((mes) => eliminados.some((one) => one <= mes)));
  }

  /** Reads all stored rows. */
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

  /** Reads the rows that are in files of the archive instead of the database. */
  async readArquivos(lugar: ArquivoLugar | undefined): Promise<void> {
    const { arquivos, naoLidas } = await readArquivos(this.client, this.tenant, lugar, {
      found: (item, resumo) => this.baldes.find(item, resumo),
      older: (item, resumo) => this.baldes.findOlder(item, resumo),
      held: (nota, mes) => this.baldes.hold(nota, mes),
      damaged: (item) => this.achados.add({ tipo: 'documento_danificado', ...nameOf(item) }),
      passed: (linhas) => this.andamento('linhas', this.linhas + linhas, undefined),
    });
    for (const { nome, isDanificado } of arquivos) {
      if (isDanificado) this.achados.add({ tipo: 'arquivo_danificado', tabela: 'arquivos', chave: [nome] });
    }
    this.arquivos = arquivos;
    this.naoLidas = naoLidas;
  }

  /** Columns of each note that its NFS-e contradicts. */
  async readContraditas(comparar: CompararNota): Promise<void> {
    for await (const { chave, coluna, como, visto } of findContraditas(this.client, this.tenant, comparar)) {
      const named =
        coluna === undefined
          ? ({ tipo: 'documento_danificado', tabela: 'documentos', chave } as const)
          : ({ tipo: 'nota_contradita', tabela: 'notas', chave: [...chave, coluna], como } as const);
      this.achados.add({ ...named, visto });
    }
  }

  checkSelos(selos: readonly Omit<Selo, 'elo'>[], isSelo: JulgarSelo): void {
    for (const selo of selos.filter((one) => !isSelo(one))) {
      const { dia, lugar, texto, assinatura } = selo;
      // The digest of the seal as it stands: one more change makes another finding.
      const visto = digestOf(JSON.stringify([texto, assinatura.toString('hex')]));
      this.achados.add({ tipo: 'selo_invalido', tabela: 'auditoria_selos', chave: [dia], lugar, visto });
    }
  }

  async compare(abertaEm: Date | null, mayDiffer: boolean): Promise<void> {
    for await (const { tipo, item, lugar, visto } of this.baldes.compare((meses) => this.mayGo(meses), mayDiffer)) {
      const named = nameOf(item);
      // The missing rows of a month are at most those that its file records; the month is second in these keys.
      const inFile = tipo === 'linha_apagada' ? this.naoLidas.get(`${named.tabela} ${named.chave[1]}`) : undefined;
      if (inFile !== undefined && inFile.left > 0) {
        inFile.left -= 1;
        this.noArquivo += 1;
      } else if (tipo !== 'linha_sem_entrada' || abertaEm !== null) this.achados.add({ tipo, ...named, lugar, visto });
    }
    await this.client.query(PLANNED_FREELY);
    for (const { tabela, chave } of await findNaoSegue(this.client, this.tenant)) {
      this.achados.add({ tipo: 'linha_nao_segue', tabela, chave: [chave] });
    }
  }

  /** The findings, each with the moment of its entry. */
  async tell(): Promise<Pick<Conferida, 'achados' | 'aceitos'>> {
    const { first, aceitos } = this.achados;
    const all = [...first, ...aceitos].flatMap(({ lugar, em }) => (em === undefined ? (lugar ?? []) : []));
    const lugares = [...new Set(all)].filter(Number.isSafeInteger);
    const { rows } = await this.client.query<{ lugar: number; momento: string }>(MOMENTOS, [this.tenant, lugares]);
    const momentos = new Map(rows.map(({ lugar, momento }) => [lugar, momento]));
    const told = <One extends Achado>(one: One): One & AchadoDito => {
      return { ...one, id: idOfAchado(one), em: one.em ?? momentos.get(one.lugar ?? -1) };
    };
    return { achados: first.map(told), aceitos: aceitos.map(told) };
  }
}

/** Whether a line of an entry is a key of ours. */
function isItem(item: string): boolean {
  try {
    const read: unknown = JSON.parse(item.startsWith('-') ? item.slice(1) : item);
    const isKey = Array.isArray(read) && read.length > 0 && read.every((part) => typeof part === 'string');
    // The text must be exactly as the service writes it; any other characters come from an attacker.
    return isKey && item.replace(/^-/, '') === JSON.stringify(read);
  } catch {
    return false;
  }
}

function nameOf(item: string): { readonly tabela: string; readonly chave: readonly string[] } {
  const [tabela, ...chave] = JSON.parse(item) as [string, ...string[]];
  return { tabela, chave };
}

type Com = {
  readonly kept?: readonly Fim[];
  readonly andamento?: Andamento | undefined;
  readonly isSelo?: JulgarSelo | undefined;
  /** Undefined: columns of notes are not compared with the documents. */
  readonly comparar?: CompararNota | undefined;
  readonly lugar?: ArquivoLugar | undefined;
};

export type Conferencias = Omit<Com, 'lugar'>;

/** `kept`: ends of the chain that were kept elsewhere. */
export function conferirCorrente(pool: Db, tenant: string, com: Conferencias): Promise<Conferida> {
  return readSnapshot(pool, (client) => conferirEm(client, tenant, { ...com, lugar: arquivoOf(pool) }));
}

/** The same, in a transaction with one snapshot. `lugar`: place of the archive; undefined: its files are not read. */
export function conferirEm(
  client: Client,
  tenant: string,
  { kept = [], andamento = () => undefined, isSelo = () => true, comparar, lugar }: Com = {},
): Promise<Conferida> {
  return Baldes.use(async (baldes) => {
    const estranhos = await readPlainly(client);
    const [trazida, posteriores] = [await readTrazida(client, tenant), await readPosteriores(client, tenant)];
    const { isOlder } = (await client.query<{ isOlder: boolean }>(IS_OLDER)).rows[0]!;
    const aceites = await readAceites(client, tenant);
    const conferencia = new Conferencia({ client, tenant, andamento }, { baldes, trazida, posteriores }, aceites);
    for (const estranho of estranhos) conferencia.achados.add({ tipo: 'objeto_estranho', ...estranho });
    const [ate] = (await client.query<Ate>(ATE, [tenant])).rows;
    const { rows: stored } = await client.query<Omit<Selo, 'elo'>>(SELOS, [tenant]);
    const selos = stored.map((selo) => ({ ...selo, elo: eloOfTexto(selo.texto) }));
    const ends = selos.map(({ lugar, elo }) => ({ lugar, elo: elo.toString('hex') }));
    await conferencia.readChain(ate, [...ends, ...kept]);
    conferencia.checkSelos(stored, isSelo);
    await conferencia.readRegras();
    await conferencia.readRows();
    if (comparar !== undefined) await conferencia.readContraditas(comparar);
    await conferencia.readArquivos(lugar);
    const abertaEm = ate?.aberta_em ?? null;
    await conferencia.compare(abertaEm, isOlder);
    const told = await conferencia.tell();
    const { entradas, semLugar, esperando, linhas, noArquivo, arquivos, fim, achados: found } = conferencia;
    const counts = { entradas, semLugar, esperando, linhas, noArquivo, chave: conferencia.chave.tell() };
    return { ...counts, naoComparadas: baldes.falha, arquivos, abertaEm, fim, ...told, total: found.total, selos };
  });
}

/** The hash that a seal names; empty if the text is not a seal of ours. */
export function eloOfTexto(texto: string): Buffer {
  try {
    const { elo } = JSON.parse(texto) as { readonly elo?: unknown };
    return typeof elo === 'string' ? Buffer.from(elo, 'hex') : Buffer.alloc(0);
  } catch {
    return Buffer.alloc(0);
  }
}
