/** The last requests to a private sandbox with their answers, for its owner. */

import { isUtf8 } from 'node:buffer';
import type { Municipio } from '../../base/book/municipios.ts';
import { municipalMoment } from '../../base/world/gather-facts.ts';
import { wasDiscarded } from '../../base/world/relogio.ts';
import type { World } from '../../base/world/world.ts';
import { isoMoment } from '../../fiscal/moment.ts';
import { REQUISICOES_BYTES, REQUISICOES_MAX, type Requisicao } from './ensaios.rows.ts';

export const REQUISICOES_GUARDADAS = REQUISICOES_MAX;
/** Bytes of all bodies and answers together. */
export const GUARDADO_BYTES = REQUISICOES_BYTES;

/** Kept bytes of one body or answer. */
export const KEPT_BYTES = 64 * 1024;
const CAMINHO_MAX = 2_000;

/** The names and the order are those of the public answer. */
export type RequisicaoPublica = {
  readonly id: string;
  readonly em: string;
  readonly metodo: string;
  readonly caminho: string;
  readonly status: number;
  readonly ms: number;
};

export type RequisicaoInteira = RequisicaoPublica & {
  readonly tipo: string | null;
  /** The body as text; null: there was none, it is no text, or it is not kept. */
  readonly corpo: string | null;
  /** Bytes of the kept body; null: it is not kept. */
  readonly corpo_bytes: number | null;
  /** The answer as it was sent; null: it is no text, too long, or no longer kept. */
  readonly resposta: string | null;
};

/** A request and its answer, as the door passes them. */
export type Atendida = {
  readonly id: string;
  readonly metodo: string;
  readonly caminho: string;
  readonly tipo: string | undefined;
  /** Empty: none was sent; undefined: it was not read. */
  readonly corpo: Buffer | undefined;
  readonly status: number;
  readonly ms: number;
  readonly resposta: string | Buffer | undefined;
};

/** Secrets are shown once and stored nowhere: only the prefix of a token or a signing secret is kept. */
function withoutSecrets(text: string): string {
  return text.replace(/\b(nfse_|whsec_)[A-Za-z0-9+/=_-]{20,}/g, '$1…');
}

/** The beginning of a text, up to `max` bytes, without half a character at its end. */
function cutText(bytes: Buffer, max: number): Buffer {
  if (bytes.length <= max) return bytes;
  const isWithin = (at: number): boolean => (bytes[at]! & 0xc0) === 0x80;
  const end = [max, max - 1, max - 2, max - 3].find((at) => !isWithin(at));
  return bytes.subarray(0, end ?? max);
}

/** Keeps a request to a private sandbox for its owner. The answer does not wait for it, and a failure is only logged. */
export function keepRequisicao({ store, log }: World, municipio: Municipio, atendida: Atendida): void {
  const { tenant, ensaioAte } = municipio;
  if (ensaioAte === undefined) return;
  const { id, metodo, caminho, tipo, corpo, status, ms, resposta } = atendida;
  const text = typeof resposta === 'string' ? resposta : undefined;
  const row = {
    id,
    // The machine's clock keeps the requests in the order of arrival.
    em: new Date(),
    metodo,
    caminho: caminho.slice(0, CAMINHO_MAX),
    tipo: tipo?.slice(0, 100) ?? null,
    corpo: corpo === undefined ? null : cutText(corpo, KEPT_BYTES),
    status,
    ms: Math.round(ms),
    resposta: text === undefined || text.length > KEPT_BYTES ? null : withoutSecrets(text).replaceAll('\0', ''),
  };
  store.ensaios.record(tenant, row).catch(async (err: unknown) => {
    // A deleted sandbox keeps no requests.
    if (!(await wasDiscarded({ store }, municipio)))
      log.warn({ err, tenant }, 'uma requisição de ensaio não foi guardada');
  });
}

export async function listRequisicoes({ store }: World, municipio: Municipio): Promise<readonly RequisicaoPublica[]> {
  return (await store.ensaios.listRequisicoes(municipio.tenant)).map((one) => requisicaoPublica(municipio, one));
}

export async function findRequisicao(
  { store }: World,
  municipio: Municipio,
  id: string,
): Promise<RequisicaoInteira | undefined> {
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id)) return undefined;
  const one = await store.ensaios.findRequisicao(municipio.tenant, id);
  if (one === undefined) return undefined;
  const { tipo, corpo, resposta } = one;
  return {
    ...requisicaoPublica(municipio, one),
    tipo,
    corpo: corpo === null || corpo.length === 0 || !isUtf8(corpo) ? null : corpo.toString('utf8'),
    corpo_bytes: corpo?.length ?? null,
    resposta,
  };
}

function requisicaoPublica(
  { codigoIbge }: Municipio,
  { id, em, metodo, caminho, status, ms }: Requisicao,
): RequisicaoPublica {
  return { id, em: isoMoment(municipalMoment(codigoIbge, +em)), metodo, caminho, status, ms };
}
