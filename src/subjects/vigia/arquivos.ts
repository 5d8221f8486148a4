/**
 * The files that municipalities name, for monitoring: the expiry of each certificate and list, and the files that cannot be read. A key
 * file is opened once, and again after a change: the password of a PFX costs time, and there may be thousands.
 */
import { readFile, stat } from 'node:fs/promises';
import type { AcessoAdn, Confianca, Municipio } from '../../base/book/municipios.ts';
import type { Labels, Sample } from '../../base/measures/metrics.ts';
import { inspectConfianca } from '../../base/world/municipio-files.ts';
import { certificatesOfPem } from '../../documents/certificate.ts';
import { loadSigner } from '../../documents/key-files.ts';
import { SECOND_MS } from '../../fiscal/moment.ts';
import { joinSamples, nameMunicipios, transmits, type VigiaWorld } from './rotulos.ts';

/** Time for opening key files in one look; a later look opens the others. A PFX takes 7 ms, or 21 in the old form. */
const OPENING_MAX_MS = 20_000;

/** `fim`: in milliseconds; undefined: the files cannot be used. `stamp`: changes with any of the files. */
type Known = { readonly stamp: string; readonly fim: number | undefined };
const opened = new WeakMap<VigiaWorld['store'], Map<string, Known>>();

type Pair = readonly [Labels, number];

export async function lookAtFiles(world: VigiaWorld): Promise<readonly Sample[]> {
  const municipios = await world.store.municipios.list();
  const names = nameMunicipios(municipios);
  const known = opened.getOrInsertComputed(world.store, () => new Map());
  const folders = new Map<string, Promise<boolean>>();
  const [ends, lacking, lists]: [Pair[], Pair[], Pair[]] = [[], [], []];
  const end = performance.now() + OPENING_MAX_MS;
  for (const one of municipios) {
    const { tenant, confianca, adn } = one;
    const municipio = names.get(tenant)!;
    const isRead = await folders.getOrInsertComputed(JSON.stringify(confianca), () => areFoldersRead(confianca));
    const own =
      transmits(one) && adn !== undefined ? await lookAtKeys(known, tenant, adn, performance.now() < end) : undefined;
    if (own?.fim !== undefined) ends.push([{ municipio, uso: 'adn' }, own.fim / SECOND_MS]);
    lacking.push([{ municipio }, isRead && own?.isUsable !== false ? 0 : 1]);
    const next = isRead ? earliestOf(world, one) : undefined;
    if (next !== undefined) lists.push([{ municipio }, next / SECOND_MS]);
  }
  return [
    ...joinSamples('nfse_certificado_vence_timestamp_seconds', [...ends, ...(await ownEnd(world))], Math.min),
    ...joinSamples('nfse_arquivos_em_falta', lacking, Math.max),
    ...joinSamples('nfse_lista_revogados_vence_timestamp_seconds', lists, Math.min),
  ];
}

async function areFoldersRead(confianca: Confianca): Promise<boolean> {
  return (await inspectConfianca(confianca)).problems.length === 0;
}

/** Undefined: another look will open the files. */
type Keys = { readonly fim: number | undefined; readonly isUsable: boolean };

async function lookAtKeys(
  known: Map<string, Known>,
  tenant: string,
  adn: AcessoAdn,
  mayOpen: boolean,
): Promise<Keys | undefined> {
  const stamp = await stampOf(adn);
  if (stamp === undefined) return { fim: undefined, isUsable: false };
  const before = known.get(tenant);
  if (before?.stamp === stamp) return { fim: before.fim, isUsable: before.fim !== undefined };
  if (!mayOpen) return undefined;
  const fim = await loadSigner(adn.chaves).then(
    ({ certificate }) => certificate.fim,
    () => undefined,
  );
  known.set(tenant, { stamp, fim });
  return { fim, isUsable: fim !== undefined };
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

/** The moment when the first list of a municipality expires, in milliseconds. */
function earliestOf(world: VigiaWorld, municipio: Municipio): number | undefined {
  const ends = (world.trust(municipio).lists() ?? []).flatMap(({ proxima }) => proxima ?? []);
  return ends.length === 0 ? undefined : Math.min(...ends);
}

/** The expiry of the service's own TLS certificate. */
async function ownEnd({ certificado }: VigiaWorld): Promise<readonly Pair[]> {
  if (certificado === undefined) return [];
  const [own] = certificatesOfPem(await readFile(certificado, 'latin1').catch(() => ''));
  return own === undefined ? [] : [[{ municipio: 'todos', uso: 'tls' }, own.fim / SECOND_MS]];
}
