/**
 * Webhook addresses of a municipality, managed in the console and by command. Each act is in the trail. Addresses of providers can only be
 * read here; their owners change them.
 */
import type { Municipio } from '../../base/book/municipios.ts';
import type { Refused } from '../../base/world/idempotency.ts';
import { municipioNamed, type RegistryWorld } from '../../base/world/municipios.ts';
import { needMotivo, type PorMao, type Problem, readMotivo } from '../../base/world/operator.ts';
import { bareDocumento } from '../../fiscal/chave.ts';
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

/** An address as it is typed. */
export type AvisoEscrito = {
  readonly url: string;
  /** Kinds of changes; none: all of them. */
  readonly tipos: readonly string[];
  readonly descricao?: string | undefined;
};

/** Reasons why an address is not stored: sentences by field; the key '' is for no field. */
export type AvisoRecusado = { readonly problems: Readonly<Record<string, string>> };

export type ComSegredo = { readonly webhook: WebhookPublico; readonly segredo: string };

/** Addresses of a municipality and of its parties, or of one document. Throws an Error in Portuguese if the municipality does not exist. */
export async function listAvisos(
  world: RegistryWorld,
  slug: string,
  documento?: string,
): Promise<readonly WebhookPublico[]> {
  const municipio = await municipioNamed(world, slug);
  return listWebhooks(world, municipio, documento === undefined ? undefined : bareDocumento(documento));
}

/** A page of the addresses of its parties. `seguinte`: the start of the next page. */
export async function listAvisosDePartes(
  world: RegistryWorld,
  slug: string,
  depois: string | undefined,
): Promise<{ readonly webhooks: readonly WebhookPublico[]; readonly seguinte: string | undefined }> {
  const webhooks = await listWebhooksDePartes(world, await municipioNamed(world, slug), depois, AVISOS_POR_PAGINA);
  return { webhooks, seguinte: webhooks.length === AVISOS_POR_PAGINA ? webhooks.at(-1)!.id : undefined };
}

/** An address of any owner, with the number of its deliveries; undefined: there is none. */
export async function showAviso(
  world: RegistryWorld,
  slug: string,
  id: string,
): Promise<({ readonly webhook: WebhookPublico } & Awaited<ReturnType<typeof countEntregas>>) | undefined> {
  const municipio = await municipioNamed(world, slug);
  const webhook = await findWebhook(world, municipio, { id });
  return webhook && { webhook, ...(await countEntregas(world, municipio, id)) };
}

/** Deliveries of an address, the newest first. */
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

/** Changes its URL, its kinds of changes, and its description. */
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

/** Switches an address on or off; an address that is switched on is tried at once. */
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

/** Deletes an address and all its deliveries. */
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

/** Sends deliveries again that were given up, one or all; returns their number. */
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

/** A message to an address that is off would stay unsent. */
const IS_OFF: Problem = { problem: 'O endereço está desligado. Ligue-o antes.' };

/** `acao`: name of the act in the trail. */
type Act = { readonly slug: string; readonly id: string; readonly acao: string; readonly by: PorMao };

/** Acts on an address of the municipality and records the act if it was done. `act` undefined: the address was deleted meanwhile. */
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

/** A command has no worker to wake: the service looks every second. */
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
