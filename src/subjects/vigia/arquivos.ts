/** The files that municipalities name, for monitoring: the expiry of each certificate and list, and the files that cannot be read. */
import { readFile } from 'node:fs/promises';
import type { Municipio } from '../../base/book/municipios.ts';
import type { Labels, Sample } from '../../base/measures/metrics.ts';
import { seeFiles } from '../../base/world/files-seen.ts';
import { certificatesOfPem } from '../../documents/certificate.ts';
import { SECOND_MS } from '../../fiscal/moment.ts';
import { joinSamples, nameMunicipios, type VigiaWorld } from './rotulos.ts';

type Pair = readonly [Labels, number];

export async function lookAtFiles(world: VigiaWorld): Promise<readonly Sample[]> {
  const municipios = await world.store.municipios.list();
  const names = nameMunicipios(municipios);
  const [ends, lacking, lists]: [Pair[], Pair[], Pair[]] = [[], [], []];
  for await (const { municipio: one, isRead, chaves } of seeFiles(world.store, municipios)) {
    const municipio = names.get(one.tenant)!;
    const isUsable = chaves === undefined || chaves.validade !== undefined;
    if (chaves?.validade !== undefined) ends.push([{ municipio, uso: 'adn' }, chaves.validade.fim / SECOND_MS]);
    lacking.push([{ municipio }, isRead && isUsable ? 0 : 1]);
    const next = isRead ? earliestOf(world, one) : undefined;
    if (next !== undefined) lists.push([{ municipio }, next / SECOND_MS]);
  }
  return [
    ...joinSamples('nfse_certificado_vence_timestamp_seconds', [...ends, ...(await ownEnd(world))], Math.min),
    ...joinSamples('nfse_arquivos_em_falta', lacking, Math.max),
    ...joinSamples('nfse_lista_revogados_vence_timestamp_seconds', lists, Math.min),
  ];
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
