/**
 * Addresses of a municipality that are told what changes, looked after by hand: in the console and by command. Each act is in the trail.
 * Addresses of providers are looked at here, and changed by nobody but their owners.
 */
import type { Municipio } from '../../base/book/municipios.ts';
import type { Refused } from '../../base/world/idempotency.ts';
import { municipioNamed, type RegistryWorld } from '../../base/world/municipios.ts';
import { needMotivo, type PorMao, type Problem, readMotivo } from '../../base/world/operator.ts';
import { bareDocumento } from '../cadastros/import-prestadores.ts';
import {
  changeWebhook,
  countEntregas,
  createWebhook,
  DO_MUNICIPIO,
  type EntregaPublica,
  findWebhook,
  listEntregasContadas,
  listWebhooks,
  listWebhooksDePartes,
  recordAviso,
  removeWebhook,
  rotateSegredo,
  sendAgain,
  tryWebhook,
  type WebhookPublico,
} from './webhooks.ts';

/** Addresses of parties in a page of the console. */
const AVISOS_POR_PAGINA = 100;

/** An address as it is written by hand. */
export type AvisoEscrito = {
  readonly url: string;
  /** Kinds of changes; none: all of them. */
  readonly tipos: readonly string[];
  readonly descricao?: string | undefined;
};

/** What keeps an address from being stored: sentences by the fields that they are about; '' of none. */
export type AvisoRecusado = { readonly problems: Readonly<Record<string, string>> };

export type ComSegredo = { readonly webhook: WebhookPublico; readonly segredo: string };

/** Those of a municipality and of its parties, or of one document. Throws an Error in Portuguese when there is no such municipality. */
export async function listAvisos(
  world: RegistryWorld,
  slug: string,
  documento?: string,
): Promise<readonly WebhookPublico[]> {
  const municipio = await municipioNamed(world, slug);
  return listWebhooks(world, municipio, documento === undefined ? undefined : bareDocumento(documento));
}

/** A page of those of its parties. `seguinte`: where the next one begins. */
export async function listAvisosDePartes(
  world: RegistryWorld,
  slug: string,
  depois: string | undefined,
): Promise<{ readonly webhooks: readonly WebhookPublico[]; readonly seguinte: string | undefined }> {
  const webhooks = await listWebhooksDePartes(world, await municipioNamed(world, slug), depois, AVISOS_POR_PAGINA);
  return { webhooks, seguinte: webhooks.length === AVISOS_POR_PAGINA ? webhooks.at(-1)!.id : undefined };
}

/** An address of whomever, with what waits for it; undefined: there is none. */
export async function showAviso(
  world: RegistryWorld,
  slug: string,
  id: string,
): Promise<({ readonly webhook: WebhookPublico } & Awaited<ReturnType<typeof countEntregas>>) | undefined> {
  const municipio = await municipioNamed(world, slug);
  const webhook = await findWebhook(world, municipio, { id });
  return webhook && { webhook, ...(await countEntregas(world, municipio, id)) };
}

/** What was told to an address and is to be, the newest first. */
export async function listEntregasDoAviso(
  world: RegistryWorld,
  slug: string,
  id: string,
  asked: {
    readonly estado: EntregaPublica['estado'] | undefined;
    readonly cursor: string | undefined;
    readonly max: number;
  },
): Promise<Awaited<ReturnType<typeof listEntregasContadas>> | Problem> {
  const municipio = await municipioNamed(world, slug);
  if ((await findWebhook(world, municipio, { id })) === undefined) return noAviso(slug, id);
  return listEntregasContadas(world, municipio, id, asked);
}

export async function cadastrarAviso(
  world: RegistryWorld,
  slug: string,
  escrito: AvisoEscrito,
  by: PorMao,
): Promise<ComSegredo | AvisoRecusado> {
  const read = readMotivo(by);
  if ('problem' in read) return { problems: { motivo: read.problem } };
  const municipio = await municipioNamed(world, slug);
  const body = jsonOf(escrito.descricao?.trim() ? written(escrito) : { ...written(escrito), descricao: undefined });
  const created = await createWebhook(awake(world), municipio, DO_MUNICIPIO, body);
  if ('faults' in created) return problemsOf(created);
  await recordAviso(awake(world), municipio, created.webhook, 'cadastrado', { ...by, ...read });
  return created;
}

/** Changes where it leads, what it is told, and its name. */
export async function alterarAviso(
  world: RegistryWorld,
  slug: string,
  id: string,
  escrito: AvisoEscrito,
  by: PorMao,
): Promise<WebhookPublico | AvisoRecusado> {
  const read = readMotivo(by);
  if ('problem' in read) return { problems: { motivo: read.problem } };
  const municipio = await municipioNamed(world, slug);
  const changed = await changeWebhook(awake(world), municipio, { id, dono: DO_MUNICIPIO }, jsonOf(written(escrito)));
  if (changed === 'not_found') return { problems: { '': noAviso(slug, id).problem } };
  if ('faults' in changed) return problemsOf(changed);
  await recordAviso(awake(world), municipio, changed, 'alterado', { ...by, ...read });
  return changed;
}

/** Switches an address on, which is tried at once then, or off. */
export function ligarAviso(
  world: RegistryWorld,
  slug: string,
  id: string,
  ativo: boolean,
  by: PorMao,
): Promise<WebhookPublico | Problem> {
  return actOn(world, { slug, id, acao: ativo ? 'ligado' : 'desligado', by }, async (municipio) => {
    const changed = await changeWebhook(awake(world), municipio, { id, dono: DO_MUNICIPIO }, jsonOf({ ativo }));
    if (changed === 'not_found') return undefined;
    if ('faults' in changed) throw new Error(changed.faults[0].mensagem);
    return changed;
  });
}

export function trocarSegredo(
  world: RegistryWorld,
  slug: string,
  id: string,
  by: PorMao,
): Promise<ComSegredo | Problem> {
  return actOn(world, { slug, id, acao: 'segredo trocado', by }, async (municipio) => {
    const rotated = await rotateSegredo(awake(world), municipio, { id, dono: DO_MUNICIPIO });
    return rotated === 'not_found' ? undefined : rotated;
  });
}

/** Takes an address away, with all that was to be told to it. */
export function retirarAviso(
  world: RegistryWorld,
  slug: string,
  id: string,
  by: PorMao,
): Promise<WebhookPublico | Problem> {
  const read = needMotivo(by);
  if ('problem' in read) return Promise.resolve(read);
  return actOn(world, { slug, id, acao: 'retirado', by }, async (municipio, webhook) =>
    (await removeWebhook(world, municipio, { id, dono: DO_MUNICIPIO })) ? webhook : undefined,
  );
}

export function ensaiarAviso(
  world: RegistryWorld,
  slug: string,
  id: string,
  by: PorMao,
): Promise<WebhookPublico | Problem> {
  return actOn(world, { slug, id, acao: 'ensaiado', by }, async (municipio, webhook) => {
    if (!webhook.ativo) return IS_OFF;
    await tryWebhook(awake(world), municipio, id);
    return webhook;
  });
}

/** Tells again what had come to its end in vain, one or all; how many. */
export function reenviarAvisos(
  world: RegistryWorld,
  slug: string,
  id: string,
  entrega: string | undefined,
  by: PorMao,
): Promise<{ readonly reenviadas: number } | Problem> {
  return actOn(
    world,
    { slug, id, acao: 'avisos reenviados', by },
    async (municipio, { ativo }) =>
      ativo ? { reenviadas: await sendAgain(awake(world), municipio, id, entrega) } : IS_OFF,
    (done) => 'reenviadas' in done && done.reenviadas > 0,
  );
}

/** What is sent to an address that is off stays where it is. */
const IS_OFF: Problem = { problem: 'O endereço está desligado. Ligue-o antes.' };

/** `acao`: what the trail calls it. */
type Act = { readonly slug: string; readonly id: string; readonly acao: string; readonly by: PorMao };

/** Does something to an address of the municipality's own, and writes it down where it did. `act` undefined: it was gone by then. */
async function actOn<Done extends object>(
  world: RegistryWorld,
  { slug, id, acao, by }: Act,
  act: (municipio: Municipio, webhook: WebhookPublico) => Promise<Done | undefined>,
  hasDone: (done: Done) => boolean = (done) => done !== IS_OFF,
): Promise<Done | Problem> {
  const read = readMotivo(by);
  if ('problem' in read) return read;
  const municipio = await municipioNamed(world, slug);
  const webhook = await findWebhook(world, municipio, { id });
  if (webhook === undefined) return noAviso(slug, id);
  if (webhook.documento !== null) return { problem: `O endereço ${id} é de um CNPJ ou CPF: só o dono dele o muda.` };
  const done = await act(municipio, webhook);
  if (done === undefined) return noAviso(slug, id);
  if (hasDone(done)) await recordAviso(awake(world), municipio, webhook, acao, { ...by, ...read });
  return done;
}

function noAviso(slug: string, id: string): Problem {
  return { problem: `Não há o endereço de aviso ${id} em ${slug}.` };
}

/** A command has nobody to wake: the service looks every second. */
function awake(world: RegistryWorld): RegistryWorld & { readonly wake: (tenant: string) => void } {
  return { ...world, wake: world.wake ?? (() => undefined) };
}

function written({ url, tipos, descricao = '' }: AvisoEscrito): AvisoEscrito {
  return { url: url.trim(), tipos, descricao };
}

function jsonOf(body: object): Buffer {
  return Buffer.from(JSON.stringify(body));
}

function problemsOf({ faults }: Refused): AvisoRecusado {
  const told = faults.map(({ campo = '', esperado, mensagem }) => [
    campo,
    campo === '' || esperado === undefined ? mensagem : `Espera-se ${esperado}.`,
  ]);
  return { problems: Object.fromEntries(told) };
}
