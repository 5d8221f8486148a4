/** The arms of a municipality: sent, made anew, shown and removed. They are on the pages, and never on the printed note (D-845). */
import { createHash } from 'node:crypto';
import { makeImagem } from '../../documents/imagem.ts';
import { MunicipioClosed } from '../pg/unavailable.ts';
import { needOpen } from './fechado.ts';
import { type RegistryWorld, readMunicipio } from './municipios.ts';
import { type PorMao, type Problem, readMotivo } from './operator.ts';
import type { World } from './world.ts';

export { IMAGEM_BYTES_MAX } from '../../documents/imagem.ts';

/** Makes the sent image the arms of a municipality. Throws an Error in Portuguese if there is no such municipality. */
export async function sendBrasao(
  world: RegistryWorld,
  slug: string,
  bytes: Buffer,
  by: PorMao,
): Promise<'feito' | Problem> {
  const read = readMotivo(by);
  if ('problem' in read) return read;
  needOpen(await readMunicipio(world, slug));
  const made = await makeImagem(bytes);
  if ('problem' in made) return made;
  const { png } = made;
  const impressao = createHash('sha256').update(png).digest('hex');
  return setBrasao(world, slug, { impressao, png }, { ...by, motivo: read.motivo });
}

/** Removes the arms. Throws an Error in Portuguese if there is no such municipality. */
export async function removeBrasao(world: RegistryWorld, slug: string, by: PorMao): Promise<'feito' | Problem> {
  const read = readMotivo(by);
  if ('problem' in read) return read;
  const municipio = await readMunicipio(world, slug);
  needOpen(municipio);
  if (municipio.brasao === undefined) return { problem: 'O município não tem brasão.' };
  return setBrasao(world, slug, undefined, { ...by, motivo: read.motivo });
}

type Brasao = NonNullable<Awaited<ReturnType<World['store']['brasoes']['find']>>>;

async function setBrasao(world: RegistryWorld, slug: string, brasao: Brasao | undefined, by: PorMao): Promise<'feito'> {
  const { brasao: before } = await readMunicipio(world, slug);
  const act = {
    ...by,
    em: world.now(),
    objeto: 'municipio' as const,
    chave: slug,
    acao: brasao === undefined ? 'brasão retirado' : 'brasão trocado',
    antes: before === undefined ? undefined : { brasao: before },
    depois: brasao && { brasao: brasao.impressao },
  };
  if (!(await world.store.brasoes.set(slug, brasao, [act]))) throw new MunicipioClosed(slug);
  return 'feito';
}

/** The image under its digest; undefined: the municipality has other arms, or none. */
export async function findBrasao(
  { store }: Pick<World, 'store'>,
  tenant: string,
  impressao: string,
): Promise<Buffer | undefined> {
  const brasao = await store.brasoes.find(tenant);
  return brasao?.impressao === impressao ? brasao.png : undefined;
}
