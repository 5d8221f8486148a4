/** Removes a municipality with the certificates of it that came by the console to this machine. A later one of its name would find them. */
import { type RegistryWorld, type Removal, removalOf, removeMunicipio } from '../../base/world/municipios.ts';
import { dropCertificados, listCertificados } from './certificados.files.ts';

/** `certificados`: their number on this machine. */
export type Exclusao = Removal & { readonly certificados: number };

/** The data that a removal takes, or the reason against it. Throws an Error in Portuguese when there is no such municipality. */
export async function foreseeExclusao(
  world: RegistryWorld,
  slug: string,
): Promise<Exclusao | { readonly problem: string }> {
  const removal = await removalOf(world, slug);
  if ('problem' in removal) return removal;
  const { certificados: pasta } = world;
  return { ...removal, certificados: pasta === undefined ? 0 : (await listCertificados(pasta, slug)).length };
}

/** Removes it; the reason if it was not removed. */
export async function excluirMunicipio(world: RegistryWorld, removal: Removal): Promise<string | undefined> {
  const problem = await removeMunicipio(world, removal);
  if (problem === undefined && world.certificados !== undefined) {
    await dropCertificados(world.certificados, removal.municipio.tenant);
  }
  return problem;
}
