/** Webhook addresses: of a CNPJ or CPF, by its token, or of the municipality, in the console and by command. */
import { randomBytes } from 'node:crypto';
import type { Municipio } from '../../base/book/municipios.ts';
import { isoMoment, MINUTE_MS } from '../../fiscal/moment.ts';
import {
  MES_FECHADO,
  TIPOS_DE_AVISO,
  TIPOS_MUDANCA,
  type TipoDeAviso,
  type TipoMudanca,
} from '../../fiscal/mudanca.ts';
import { makeSegredo, writeSegredo } from './assinatura.ts';
import { readLineOfEnsaio, writeLineOfEnsaio } from './ensaio.ts';
import { readLineOfMes } from './meses.ts';
import { CONTADAS_MAX, type EntregaRow, type EstadoEntrega, type Tentativa, type WebhookRow } from './webhooks.rows.ts';

export { ESTADOS_ENTREGA } from './webhooks.rows.ts';

import { type Campo, type Lidos, readCampos, required, someOf, textOf } from '../../base/world/campos.ts';
import { refuseExcess } from '../../base/world/excess.ts';
import { municipalMoment } from '../../base/world/gather-facts.ts';
import type { Refused } from '../../base/world/idempotency.ts';
import type { PorMao } from '../../base/world/operator.ts';
import type { World } from '../../base/world/world.ts';
import { quoted } from '../../fiscal/fault.ts';
import { whyNeverTold } from './enderecos.ts';

type AvisosWorld = Pick<World, 'store' | 'now' | 'wake' | 'avisosPrivados'>;

/** Addresses of one document, or of a municipality. */
export const WEBHOOKS_MAX = 10;
/** Addresses of all documents of one root of a CNPJ. */
export const WEBHOOKS_POR_RAIZ = 100;
/** Time for which a replaced secret still signs, while its receiver learns the new one. */
export const SEGREDO_ANTERIOR_HORAS = 24;

const URL_MAX = 2_000;
const DESCRICAO_MAX = 100;

const url: Campo<string> = {
  esperado: `um endereço https de até ${URL_MAX} caracteres, sem usuário nem senha dentro, como https://erp.exemplo.com.br/nfse`,
  read: (value) => readUrl(textOf(value) ?? ''),
};

function readUrl(text: string): string | undefined {
  if (text.length > URL_MAX || !URL.canParse(text)) return undefined;
  const { protocol, username, password, href, hostname } = new URL(text);
  const isHttp = protocol === 'https:' || protocol === 'http:';
  return isHttp && username === '' && password === '' && hostname !== '' ? href.replace(/#.*$/, '') : undefined;
}

function anyOf(all: readonly TipoDeAviso[]): Campo<readonly TipoDeAviso[]> {
  const some = someOf(all);
  return { ...some, read: (value) => (value.kind === 'array' && value.items.length === 0 ? [] : some.read(value)) };
}

/** The kinds that an owner may choose: a party has no months. */
function tiposOf(dono: Dono): Campo<readonly TipoDeAviso[]> {
  return anyOf(dono === DO_MUNICIPIO ? TIPOS_DE_AVISO : TIPOS_MUDANCA);
}

const descricao: Campo<string> = {
  esperado: `um texto de até ${DESCRICAO_MAX} caracteres`,
  read: (value) => {
    const text = textOf(value)?.trim();
    return text !== undefined && text.length <= DESCRICAO_MAX && !text.includes('\0') ? text : undefined;
  },
};

const ativo: Campo<boolean> = {
  esperado: 'true ou false',
  read: (value) => (value.kind === 'boolean' ? value.text === 'true' : undefined),
};

const camposDoNovo = (dono: Dono) => ({ url: required(url), tipos: tiposOf(dono), descricao });
const camposDaAlteracao = (dono: Dono) => ({ url, tipos: tiposOf(dono), descricao, ativo });

/** States of an address: not yet proved, receiving messages, switched off. */
export const ESTADOS_DO_ENDERECO = ['pendente', 'ativo', 'desligado'] as const;
type EstadoDoEndereco = (typeof ESTADOS_DO_ENDERECO)[number];

/** The names and the order are those of the public answer. */
export type WebhookPublico = {
  readonly id: string;
  readonly documento: string | null;
  readonly url: string;
  readonly tipos: readonly TipoDeAviso[];
  readonly descricao: string | null;
  readonly ativo: boolean;
  readonly estado: EstadoDoEndereco;
  readonly criado_em: string;
  readonly segredo_anterior_ate: string | null;
  /** Failures in a row. */
  readonly falhas: number;
  readonly ultimo_problema: string | null;
  readonly ultimo_problema_em: string | null;
};

export type EntregaPublica = {
  readonly id: string;
  readonly estado: EstadoEntrega;
  readonly criada_em: string;
  readonly entregue_em: string | null;
  readonly proxima_tentativa: string | null;
  readonly tentativas: number;
  readonly registro: readonly TentativaPublica[];
};

export type TentativaPublica = {
  readonly em: string;
  readonly ms: number;
  readonly status: number | null;
  readonly problema: string | null;
};

/** Owner of addresses: a document, or the municipality, which is the empty text. */
export type Dono = string;

export const DO_MUNICIPIO: Dono = '';

/** Registers an address. Its secret is answered only this once. */
export async function createWebhook(
  world: AvisosWorld,
  municipio: Municipio,
  dono: Dono,
  body: Uint8Array,
): Promise<{ readonly webhook: WebhookPublico; readonly segredo: string } | Refused> {
  const read = readCampos(body, camposDoNovo(dono));
  if ('faults' in read) return read;
  return refuseNeverTold(world, read.lidos.url) ?? addWebhook(world, municipio, dono, read.lidos);
}

/** An unusable address is refused at registration, not when a message is sent. */
function refuseNeverTold({ avisosPrivados = false }: AvisosWorld, url: string): Refused | undefined {
  const why = whyNeverTold(new URL(url), avisosPrivados);
  if (why === undefined) return undefined;
  const mensagem = `O campo url tem um endereço que nunca seria avisado: ${why}. Cadastre um endereço https da Internet pública.`;
  return { faults: [{ codigo: 'E0002', xpath: '', mensagem, campo: 'url', encontrado: quoted(url) }], status: 400 };
}

async function addWebhook(
  { store, now, wake }: AvisosWorld,
  municipio: Municipio,
  dono: Dono,
  lidos: Lidos<ReturnType<typeof camposDoNovo>>,
): Promise<{ readonly webhook: WebhookPublico; readonly segredo: string } | Refused> {
  const { tenant } = municipio;
  const id = `wh_${randomBytes(9).toString('base64url')}`;
  const segredo = makeSegredo();
  const novo = { id, documento: dono, url: lidos.url, tipos: lidos.tipos ?? [], descricao: lidos.descricao };
  const row = await store.webhooks.insert(tenant, { ...novo, segredo, criadoEm: now() }, MOST);
  if (typeof row === 'string') return refuseMore(row);
  wake(tenant);
  return { webhook: webhookPublico(municipio, row), segredo: writeSegredo(segredo) };
}

const MOST = { documento: WEBHOOKS_MAX, raiz: WEBHOOKS_POR_RAIZ } as const;

function refuseMore(of: keyof typeof MOST): Refused {
  const whose = of === 'raiz' ? ' dos documentos desta raiz de CNPJ (os 8 primeiros caracteres)' : '';
  const mensagem = `Já são ${MOST[of]} endereços${whose}, que é o máximo. Retire ou altere um dos que há.`;
  return { faults: [{ codigo: 'E703', xpath: '', mensagem }], status: 422 };
}

export async function listWebhooks(
  { store }: Pick<World, 'store'>,
  municipio: Municipio,
  dono: Dono | undefined,
): Promise<readonly WebhookPublico[]> {
  return (await store.webhooks.list(municipio.tenant, dono)).map((row) => webhookPublico(municipio, row));
}

/** A page of the addresses of its documents, without the municipality's own, after an id. */
export async function listWebhooksDePartes(
  { store }: Pick<World, 'store'>,
  municipio: Municipio,
  depois: string | undefined,
  max: number,
): Promise<readonly WebhookPublico[]> {
  const rows = await store.webhooks.listOfPartes(municipio.tenant, depois ?? '', max);
  return rows.map((row) => webhookPublico(municipio, row));
}

export async function changeWebhook(
  world: AvisosWorld,
  municipio: Municipio,
  { id, dono }: { readonly id: string; readonly dono: Dono },
  body: Uint8Array,
): Promise<WebhookPublico | 'not_found' | Refused> {
  const read = readCampos(body, camposDaAlteracao(dono));
  if ('faults' in read) return read;
  const refused = read.lidos.url === undefined ? undefined : refuseNeverTold(world, read.lidos.url);
  if (refused !== undefined) return refused;
  const { store, now, wake } = world;
  const row = await store.webhooks.change(municipio.tenant, { id, documento: dono }, read.lidos, now());
  if (row === undefined) return 'not_found';
  wake(municipio.tenant);
  return webhookPublico(municipio, row);
}

export async function rotateSegredo(
  { store, now }: AvisosWorld,
  municipio: Municipio,
  { id, dono }: { readonly id: string; readonly dono: Dono },
): Promise<{ readonly webhook: WebhookPublico; readonly segredo: string } | 'not_found'> {
  const segredo = makeSegredo();
  const until = now() + SEGREDO_ANTERIOR_HORAS * 3_600_000;
  const row = await store.webhooks.rotate(municipio.tenant, { id, documento: dono }, segredo, until);
  return row === undefined ? 'not_found' : { webhook: webhookPublico(municipio, row), segredo: writeSegredo(segredo) };
}

export function removeWebhook(
  { store }: Pick<World, 'store'>,
  { tenant }: Municipio,
  { id, dono }: { readonly id: string; readonly dono: Dono },
): Promise<boolean> {
  return store.webhooks.remove(tenant, { id, documento: dono });
}

/** An address of a document, or of any owner if none is given; undefined: there is none of this `id`. */
export async function findWebhook(
  { store }: Pick<World, 'store'>,
  municipio: Municipio,
  { id, dono }: { readonly id: string; readonly dono?: Dono },
): Promise<WebhookPublico | undefined> {
  const row = await store.webhooks.find(municipio.tenant, id);
  return row !== undefined && row.documento === (dono ?? row.documento) ? webhookPublico(municipio, row) : undefined;
}

/** Trials of an address in a minute: no more than a person reads, so that nobody is flooded. */
export const ENSAIOS_POR_MINUTO = 10;

/** Sends a trial message to an address, so that its receiver can be tested. `tipo`: the kind of change that it rehearses. */
export async function tryWebhook(
  { store, now, wake }: AvisosWorld,
  { tenant }: Municipio,
  id: string,
  tipo?: TipoMudanca,
): Promise<Refused | undefined> {
  const at = now();
  const mudanca = tipo === undefined ? null : writeLineOfEnsaio(tipo);
  const added = await store.webhooks.addTrial(tenant, id, mudanca, at, { max: ENSAIOS_POR_MINUTO, emMs: MINUTE_MS });
  if (added !== 'added') {
    const mensagem = `Já são ${ENSAIOS_POR_MINUTO} ensaios deste endereço em um minuto, que é o máximo. Espere até que o primeiro deles tenha um minuto.`;
    return refuseExcess(mensagem, { nome: 'ensaios', max: ENSAIOS_POR_MINUTO, janelaS: 60 }, added.livreEm - at);
  }
  wake(tenant);
  return undefined;
}

/** Sends deliveries again that were given up: one, or all; returns their number. */
export async function sendAgain(
  { store, now, wake }: AvisosWorld,
  { tenant }: Municipio,
  id: string,
  entrega?: string,
): Promise<number> {
  const ordem = entrega === undefined ? undefined : /^-?\d{1,18}$/.exec(entrega)?.[0];
  if (entrega !== undefined && ordem === undefined) return 0;
  const again = await store.webhooks.sendAgain(tenant, id, ordem, now());
  if (again > 0) wake(tenant);
  return again;
}

export type PaginaDeEntregas = { readonly entregas: readonly EntregaPublica[]; readonly cursor: string | null };

type EntregasPedidas = {
  readonly estado?: EstadoEntrega | undefined;
  readonly cursor?: string | undefined;
  readonly max: number;
};

/** Deliveries of an address, the newest first. */
export async function listEntregas(
  world: Pick<World, 'store'>,
  municipio: Municipio,
  id: string,
  asked: EntregasPedidas,
): Promise<PaginaDeEntregas> {
  const { rows, cursor } = await readEntregas(world, municipio, id, asked);
  return { entregas: rows.map((row) => entregaPublica(municipio, row)), cursor };
}

/** A delivery with its kind of change and its note. null: a trial, or the change was forgotten. */
export type EntregaContada = EntregaPublica & {
  readonly tipo: TipoDeAviso | 'ensaio' | null;
  readonly chave_acesso: string | null;
};

/** The same, each with its kind of change and its note. */
export async function listEntregasContadas(
  world: Pick<World, 'store'>,
  municipio: Municipio,
  id: string,
  asked: EntregasPedidas,
): Promise<{ readonly entregas: readonly EntregaContada[]; readonly cursor: string | null }> {
  const { rows, cursor } = await readEntregas(world, municipio, id, asked);
  const lines = rows.flatMap(({ mudanca }) => mudanca ?? []);
  const known = await world.store.mudancas.resolve(municipio.tenant, lines);
  const entregas = rows.map((row): EntregaContada => {
    const mudou = row.mudanca === null ? undefined : known.get(row.mudanca);
    const tipo = mudou === undefined ? null : (mudou.tipo as TipoDeAviso);
    const isOfMes = row.mudanca !== null && readLineOfMes(row.mudanca) !== undefined;
    const isEnsaio = row.mudanca === null || readLineOfEnsaio(row.mudanca) !== undefined;
    return {
      ...entregaPublica(municipio, row),
      tipo: isEnsaio ? 'ensaio' : isOfMes ? MES_FECHADO : tipo,
      chave_acesso: mudou?.nota.chave_acesso ?? null,
    };
  });
  return { entregas, cursor };
}

async function readEntregas(
  { store }: Pick<World, 'store'>,
  { tenant }: Municipio,
  id: string,
  { estado, cursor, max }: EntregasPedidas,
): Promise<{ readonly rows: readonly EntregaRow[]; readonly cursor: string | null }> {
  const before = /^-?\d{1,18}$/.exec(cursor ?? '')?.[0];
  const asked = { max, ...(estado === undefined ? {} : { estado }), ...(before === undefined ? {} : { before }) };
  const rows = await store.webhooks.listEntregas(tenant, id, asked);
  return { rows, cursor: rows.length === max ? rows.at(-1)!.ordem : null };
}

/** Number of pending and of given-up deliveries, each counted up to a limit that is answered too. */
export async function countEntregas(
  { store }: Pick<World, 'store'>,
  { tenant }: Municipio,
  id: string,
): Promise<Readonly<Record<'pendentes' | 'mortas' | 'ate', number>>> {
  const [pendentes, mortas] = await Promise.all([
    store.webhooks.countEntregas(tenant, id, 'pendente'),
    store.webhooks.countEntregas(tenant, id, 'morta'),
  ]);
  return { pendentes, mortas, ate: CONTADAS_MAX };
}

/** Records an act of a municipality on its addresses in its trail. The address is named by its host alone. */
export function recordAviso(
  { store, now }: AvisosWorld,
  { tenant }: Municipio,
  webhook: Pick<WebhookPublico, 'id' | 'url'>,
  acao: string,
  { quem, via, motivo }: PorMao,
): Promise<void> {
  const { origin } = new URL(webhook.url);
  const ato = {
    em: now(),
    quem,
    via,
    objeto: 'aviso',
    chave: webhook.id,
    acao,
    motivo,
    depois: { endereço: origin },
  } as const;
  return store.atos.record(tenant, [ato]);
}

function webhookPublico(municipio: Municipio, row: WebhookRow): WebhookPublico {
  const at = momentTeller(municipio);
  return {
    id: row.id,
    documento: row.documento === DO_MUNICIPIO ? null : row.documento,
    url: row.url,
    tipos: row.tipos,
    descricao: row.descricao,
    ativo: row.ativo,
    estado: row.ativo ? (row.pendente ? 'pendente' : 'ativo') : 'desligado',
    criado_em: at(row.criado_em),
    segredo_anterior_ate: row.anterior_ate && at(row.anterior_ate),
    falhas: row.falhas,
    ultimo_problema: row.problema,
    ultimo_problema_em: row.problema_em && at(row.problema_em),
  };
}

function entregaPublica(municipio: Municipio, row: EntregaRow): EntregaPublica {
  const at = momentTeller(municipio);
  const told = ({ em, ms, status, problema }: Tentativa): TentativaPublica => ({
    em: at(new Date(em)),
    ms,
    status: status ?? null,
    problema: problema ?? null,
  });
  return {
    id: row.ordem,
    estado: row.estado,
    criada_em: at(row.criada_em),
    entregue_em: row.entregue_em && at(row.entregue_em),
    proxima_tentativa: row.estado === 'pendente' ? at(row.due_at) : null,
    tentativas: row.tentativas,
    registro: row.registro.map(told),
  };
}

function momentTeller({ codigoIbge }: Municipio): (moment: Date) => string {
  return (moment) => isoMoment(municipalMoment(codigoIbge, +moment));
}
