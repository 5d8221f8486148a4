/**
 * Checks the files that municipalities name, at each look. A key file is opened once, and again after a change: opening one takes
 * milliseconds, and there may be thousands.
 */
import { stat } from 'node:fs/promises';
import { loadSigner } from '../../documents/key-files.ts';
import { AMBIENTES } from '../../fiscal/ambiente.ts';
import type { AcessoAdn, Confianca, Municipio } from '../book/municipios.ts';
import { inspectConfianca } from './municipio-files.ts';

/** Limit of the time in which one look opens key files; a later look opens the rest. A PFX takes 7 ms, one with RC2 21 ms. */
const OPENING_MAX_MS = 20_000;

/** The validity of a municipality's certificate, in milliseconds. */
type Validade = { readonly inicio: number; readonly fim: number };

/** `validade` undefined: the files cannot be used. */
type Chaves = { readonly validade: Validade | undefined };

export type FilesSeen = {
  readonly municipio: Municipio;
  /** The folders of authorities and of revocation lists can be read. */
  readonly isRead: boolean;
  /** Undefined: the municipality does not transmit, or a later look opens its files. */
  readonly chaves: Chaves | undefined;
};

/** `stamp`: changes with any of the files. */
type Known = Chaves & { readonly stamp: string };
const opened = new WeakMap<object, Map<string, Known>>();

/** Looks at the files of each municipality. `store`: the one of this thread, under which opened files are known. */
export async function* seeFiles(store: object, municipios: readonly Municipio[]): AsyncGenerator<FilesSeen, void> {
  const known = opened.getOrInsertComputed(store, () => new Map());
  const folders = new Map<string, Promise<boolean>>();
  const end = performance.now() + OPENING_MAX_MS;
  for (const municipio of municipios) {
    const { tenant, ambiente, confianca, adn } = municipio;
    const isRead = await folders.getOrInsertComputed(JSON.stringify(confianca), () => areFoldersRead(confianca));
    const used = AMBIENTES[ambiente].transmits ? adn : undefined;
    const chaves = used && (await lookAtKeys(known, tenant, used, performance.now() < end));
    yield { municipio, isRead, chaves };
  }
}

async function areFoldersRead(confianca: Confianca): Promise<boolean> {
  return (await inspectConfianca(confianca)).problems.length === 0;
}

async function lookAtKeys(
  known: Map<string, Known>,
  tenant: string,
  adn: AcessoAdn,
  mayOpen: boolean,
): Promise<Chaves | undefined> {
  const stamp = await stampOf(adn);
  if (stamp === undefined) return { validade: undefined };
  const before = known.get(tenant);
  if (before?.stamp === stamp) return before;
  if (!mayOpen) return undefined;
  const validade = await loadSigner(adn.chaves).then(
    ({ certificate: { inicio, fim } }) => ({ inicio, fim }),
    () => undefined,
  );
  const one = { stamp, validade };
  known.set(tenant, one);
  return one;
}

/** Undefined: one of the files is missing or cannot be read. */
async function stampOf({ ca, chaves }: AcessoAdn): Promise<string | undefined> {
  try {
    const files = [ca, ...Object.values(chaves)].filter((file) => file !== undefined);
    const stats = await Promise.all(files.map((file) => stat(file)));
    const each = stats.map(({ mtimeMs, size, ino, mode }) => `${mtimeMs}/${size}/${ino}/${mode}`);
    return [...files, ...each].join(' ');
  } catch {
    return undefined;
  }
}
