/**
 * Exports all rows of a municipality as a file, from one snapshot. The file of a closed municipality is made to continue elsewhere. It is
 * made when nothing is under way, and given up after a write meanwhile (D-436).
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { access, rename, rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Passed } from '../../base/book/linhas.ts';
import { municipioNamed, type RegistryWorld } from '../../base/world/municipios.ts';
import { SANDBOX_SLUG } from '../../fiscal/ambiente.ts';
import type { Municipio } from '../../fiscal/settings.ts';
import { checkArquivo, manifestoOf, type ResumoDeTabela, writeArquivo } from './arquivo.ts';

/** No new work begins in a closed municipality. The server ends a transaction of a stalled process after ten seconds. */
const SETTLED_MS = 12_000;
const LOOK_EVERY_MS = 1_000;

export type Andamento = {
  /** Rows that are read, written or read again. */
  readonly rows: Passed;
  /** A line for the operator. */
  readonly tell: (text: string) => void;
};

export type Exportado = {
  readonly municipio: Municipio;
  readonly tabelas: readonly ResumoDeTabela[];
  readonly bytes: number;
  /** Digest of the file. */
  readonly sha256: string;
};

/** Writes a new file. Throws an Error in Portuguese. */
export async function exportMunicipio(
  world: RegistryWorld,
  slug: string,
  file: string,
  { rows, tell }: Andamento,
): Promise<Exportado> {
  const municipio = await municipioNamed(world, slug);
  if (slug === SANDBOX_SLUG)
    throw new Error(`${SANDBOX_SLUG} é o ambiente de integração de todos, e cada serviço tem o seu.`);
  if (await isThere(file)) throw new Error(`o arquivo ${file} já existe; indique outro.`);
  const isClosed = municipio.fechado === true;
  if (isClosed) await untilSettled(world, slug, tell);
  const unfinished = `${file}.parte`;
  await rm(unfinished, { force: true });
  const fechados = await world.store.linhas.readFechados();
  try {
    const tabelas = await writeRows(world, municipio, unfinished, rows);
    tell('o arquivo está escrito, e é lido de volta');
    await checkArquivo(unfinished, rows);
    if ((await world.store.linhas.readFechados()) !== fechados) throw new Error(MES_FECHADO);
    if (isClosed) await checkUnchanged(world, slug, tabelas);
    await rename(unfinished, file);
    return { municipio, tabelas, ...(await digestFile(file)) };
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
}

/** Tables that are emptied together are empty for earlier snapshots too. */
const MES_FECHADO =
  'um mês foi fechado, trazido de volta ou eliminado enquanto se exportava, e o arquivo não teria todas as linhas dele. Nada foi escrito; rode de novo.';

async function isThere(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}

function writeRows(
  { store, now }: RegistryWorld,
  { tenant, ambiente, codigoIbge, fechado }: Municipio,
  file: string,
  note: Passed,
): Promise<readonly ResumoDeTabela[]> {
  return store.linhas.read(async (linhas) => {
    const tabelas = (await linhas.tabelas()).filter(({ isOfTenant }) => isOfTenant);
    const manifesto = manifestoOf({
      municipio: tenant,
      ambiente,
      codigo_ibge: codigoIbge ?? null,
      fechado: fechado === true,
      em: new Date(now()).toISOString(),
      esquema: await linhas.esquema(),
      meses: await linhas.meses(),
      tabelas,
    });
    return writeArquivo(file, manifesto, store.dicionarios(), (tabela) => linhas.read(tabela, tenant), note);
  });
}

/** Waits for processes that saw the municipality open, and until no worker holds a claim of it. */
async function untilSettled({ store }: RegistryWorld, tenant: string, tell: (text: string) => void): Promise<void> {
  tell(`o município está fechado; espera ${SETTLED_MS / 1000} s pelo que estava a caminho`);
  await sleep(SETTLED_MS);
  for (let told = false; ; told = true) {
    const claimed = await store.linhas.read(async (linhas) => {
      let count = 0;
      for (const tabela of await linhas.tabelas())
        count += tabela.isOfTenant ? await linhas.countClaimed(tabela, tenant) : 0;
      return count;
    });
    if (claimed === 0) return;
    if (!told) tell(`espera por ${claimed} documentos que estão sendo transmitidos, no máximo um minuto`);
    await sleep(LOOK_EVERY_MS);
  }
}

/** A write to a closed tenant always adds a row somewhere: a note, an event, a move. */
async function checkUnchanged(
  { store }: RegistryWorld,
  tenant: string,
  tabelas: readonly ResumoDeTabela[],
): Promise<void> {
  const grown = await store.linhas.read(async (linhas) => {
    for (const tabela of await linhas.tabelas()) {
      const before = tabelas.find(({ nome }) => nome === tabela.nome);
      if (before !== undefined && (await linhas.count(tabela, tenant)) > before.linhas) return tabela.nome;
    }
    return undefined;
  });
  if (grown === undefined) return;
  throw new Error(
    `a tabela ${grown} cresceu enquanto se exportava, embora o município esteja fechado: um processo ainda o tinha aberto. Nada foi escrito; rode de novo.`,
  );
}

/** The digest in the form of `sha256sum`. */
export async function digestFile(file: string): Promise<{ readonly bytes: number; readonly sha256: string }> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const piece of createReadStream(file)) {
    hash.update(piece);
    bytes += piece.length;
  }
  return { bytes, sha256: hash.digest('hex') };
}
