/**
 * Moves everything from one database to another, while both refuse writes. Municipalities follow one another, each in one transaction and
 * compared before its commit. An interrupted move continues: equal rows in the target are left (D-436).
 */
import { digestRows, type Linhas, type Passed, type Resumo, readResumo } from '../../base/book/linhas.ts';
import { describeDifference, type Tabela } from '../../base/pg/tabelas.ts';
import type { RegistryWorld } from '../../base/world/municipios.ts';

/** Measured on two cores that run both servers and this program. */
const BYTES_A_SECOND = 20 * 2 ** 20;

/** The source, and the target. */
export type Lados = { readonly de: Pick<RegistryWorld, 'store'>; readonly para: Pick<RegistryWorld, 'store'> };

const storesOf = ({ de, para }: Lados) => ({ de: de.store, para: para.store });
type Stores = ReturnType<typeof storesOf>;

export type Plano = {
  readonly municipios: readonly string[];
  /** Bytes on the disk of the source. */
  readonly bytes: number;
  readonly minutos: number;
  /** An interrupted move continues. */
  readonly isResumed: boolean;
};

/** The plan of a move. Throws an Error in Portuguese when the move is impossible. */
export async function planMudanca(lados: Lados): Promise<Plano> {
  const { de, para } = storesOf(lados);
  const [municipios, there] = await Promise.all([de, para].map(({ linhas }) => linhas.read((rows) => rows.tenants())));
  const isClosed = await para.gravacao.isClosed();
  if (!isClosed && there!.length > 0) {
    throw new Error(
      `o banco de destino já tem municípios (${there!.slice(0, 5).join(', ')}). Se a mudança terminou, é ele o que se usa; se não, indique um banco vazio.`,
    );
  }
  const strangers = there!.filter((tenant) => !municipios!.includes(tenant));
  if (strangers.length > 0) {
    throw new Error(`o banco de destino tem municípios que o de origem não tem: ${strangers.slice(0, 5).join(', ')}.`);
  }
  const difference = await compareTables({ de, para });
  if (difference !== undefined) {
    throw new Error(
      `as tabelas dos dois bancos não são iguais (${difference}); rode nfse migrar em ambos, com este programa.`,
    );
  }
  const bytes = await de.linhas.size();
  return { municipios: municipios!, bytes, minutos: Math.ceil(bytes / BYTES_A_SECOND / 60), isResumed: isClosed };
}

async function compareTables({ de, para }: Stores): Promise<string | undefined> {
  const [ours, theirs] = await Promise.all([de, para].map(({ linhas }) => linhas.read((rows) => rows.tabelas())));
  return describeDifference(ours!, theirs!);
}

/** The finished part, from 0 to 1: each row is written, and read again. */
type Progresso = (part: number) => void;

/** Rows of each table, of all municipalities, equal in both databases. */
export type Mudado = readonly { readonly nome: string; readonly linhas: number }[];

/** `tell` gets a line for the operator. `signal` interrupts the move between two rows, and its reason is thrown. */
export type Ouvinte = {
  readonly show: Progresso;
  readonly tell: (line: string) => void;
  readonly signal: AbortSignal;
};

/**
 * Closes both databases, moves the rows, and opens the target. The source stays closed, so that nobody issues in it by mistake. A failure
 * opens the source again, and the moved rows stay for the next attempt. A target with known nodes is distributed before it is filled.
 */
export async function mudarBanco(lados: Lados, { show, tell, signal }: Ouvinte): Promise<Mudado> {
  const stores = storesOf(lados);
  const { de, para } = stores;
  await distributeEmpty(para, tell);
  await para.gravacao.close();
  try {
    await de.gravacao.close();
    const mudado = await moveRows(stores, show, signal);
    await para.linhas.analyze();
    await para.gravacao.open();
    return mudado;
  } catch (error) {
    await de.gravacao.open();
    throw error;
  }
}

/** A closed target was distributed before, and would refuse it. */
async function distributeEmpty({ banco }: Stores['para'], tell: (line: string) => void): Promise<void> {
  if ((await banco.listNos()).length === 0 || !(await banco.readTabelas()).some(({ falta }) => falta)) return;
  await banco.distribute({ nos: [], fragmentos: banco.fragmentos, tell });
}

/** Opens the source for writes again. Throws an Error in Portuguese when the target is already in use. */
export async function desistirDaMudanca(lados: Lados): Promise<void> {
  const { de, para } = storesOf(lados);
  const there = await para.linhas.read((rows) => rows.tenants());
  if (there.length > 0 && !(await para.gravacao.isClosed())) {
    throw new Error(
      'a mudança terminou, e o banco de destino já aceita gravações: as notas que ele tem não estariam no de origem.',
    );
  }
  await de.gravacao.open();
}

async function moveRows({ de, para }: Stores, show: Progresso, signal: AbortSignal): Promise<Mudado> {
  return de.linhas.read(async (from) => {
    const tabelas = await from.tabelas();
    await para.linhas.makeMeses(await from.meses());
    const mudado: { nome: string; linhas: number }[] = [];
    for (const tabela of tabelas) mudado.push({ nome: tabela.nome, linhas: await from.count(tabela) });
    const total = 2 * mudado.reduce((sum, { linhas }) => sum + linhas, 0);
    let over = 0;
    const note: Passed = (_bytes, linhas) => {
      signal.throwIfAborted();
      over += linhas;
      show(total === 0 ? 1 : over / total);
    };
    const [ofTenants, national] = [tabelas.filter((one) => one.isOfTenant), tabelas.filter((one) => !one.isOfTenant)];
    await para.linhas.write((to) => moveTables({ from, to, tabelas: national, tenant: undefined, note }));
    for (const tenant of await from.tenants()) {
      await para.linhas.write((to) => moveTables({ from, to, tabelas: ofTenants, tenant, note }));
    }
    await checkCounts(para, tabelas, mudado);
    return mudado;
  });
}

type Move = {
  readonly from: Linhas;
  readonly to: Linhas;
  readonly tabelas: readonly Tabela[];
  readonly tenant: string | undefined;
  readonly note: Passed;
};

/** Equal rows in the target stay; different ones are removed first. */
async function moveTables(move: Move): Promise<void> {
  const { from, to, tabelas, tenant, note } = move;
  const isThere = tenant === undefined || (await to.hasMunicipio(tenant));
  if (isThere && (await isSame(move))) {
    for (const tabela of tabelas) note(0, 2 * (await from.count(tabela, tenant)));
    return;
  }
  if (isThere) for (const tabela of tabelas.toReversed()) await to.remove(tabela, tenant);
  const sent: Resumo[] = [];
  for (const tabela of tabelas) {
    await to.write(
      tabela,
      tenant,
      digestRows(from.read(tabela, tenant), (resumo) => sent.push(resumo), note),
    );
  }
  for (const [place, tabela] of tabelas.entries()) {
    const { sha256 } = await readResumo(to.read(tabela, tenant), note);
    if (sha256 === sent[place]!.sha256) continue;
    throw new Error(
      `a tabela ${tabela.nome}${tenant === undefined ? '' : ` de ${tenant}`} não chegou igual ao destino.`,
    );
  }
}

/** Rows are counted first: the cheap count nearly always shows a difference. */
async function isSame({ from, to, tabelas, tenant, note }: Move): Promise<boolean> {
  for (const tabela of tabelas) {
    if ((await from.count(tabela, tenant)) !== (await to.count(tabela, tenant))) return false;
  }
  for (const tabela of tabelas) {
    const [one, other] = await Promise.all(
      [from, to].map((linhas) => readResumo(linhas.read(tabela, tenant), (bytes) => note(bytes, 0))),
    );
    if (one!.sha256 !== other!.sha256) return false;
  }
  return true;
}

/** A row whose tenant is no municipality would have been left behind. */
async function checkCounts(para: Stores['para'], tabelas: readonly Tabela[], mudado: Mudado): Promise<void> {
  await para.linhas.read(async (rows) => {
    for (const [place, tabela] of tabelas.entries()) {
      const [there, here] = [await rows.count(tabela), mudado[place]!.linhas];
      if (there !== here)
        throw new Error(`a tabela ${tabela.nome} tem ${here} linhas na origem, e ${there} no destino.`);
    }
  });
}
