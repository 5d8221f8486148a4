/** The last requests to a sandbox of one's own, for its owner: what was sent and what was answered. */

import { isUtf8 } from 'node:buffer';
import type { Municipio } from '../../base/book/municipios.ts';
import { municipalMoment } from '../../base/world/gather-facts.ts';
import { wasDiscarded } from '../../base/world/relogio.ts';
import type { World } from '../../base/world/world.ts';
import { isoMoment } from '../../fiscal/moment.ts';
import { REQUISICOES_BYTES, REQUISICOES_MAX, type Requisicao } from './ensaios.rows.ts';

export const REQUISICOES_GUARDADAS = REQUISICOES_MAX;
/** Of all their bodies and answers together. */
export const GUARDADO_BYTES = REQUISICOES_BYTES;

/** What is kept of a body and of an answer. */
export const KEPT_BYTES = 64 * 1024;
const CAMINHO_MAX = 2_000;

/** In the names and the order of the public answer. */
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
  /** As text; null: there was none, it is no text, or it is not kept. */
  readonly corpo: string | null;
  /** Of what is kept of it; null: it is not kept. */
  readonly corpo_bytes: number | null;
  /** As it was answered; null: it is no text, too long, or not kept any more. */
  readonly resposta: string | null;
};

/** A request and its answer, as the door has them. */
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

/** What was shown once is kept nowhere: of tokens and of secrets that sign there stays how they begin. */
function withoutSecrets(text: string): string {
  return text.replace(/\b(nfse_|whsec_)[A-Za-z0-9+/=_-]{20,}/g, '$1…');
}

/** The beginning of a text, at most so many bytes, without half a character at its end. */
function cutText(bytes: Buffer, max: number): Buffer {
  if (bytes.length <= max) return bytes;
  const isWithin = (at: number): boolean => (bytes[at]! & 0xc0) === 0x80;
  const end = [max, max - 1, max - 2, max - 3].find((at) => !isWithin(at));
  return bytes.subarray(0, end ?? max);
}

/** Keeps a request to a sandbox of one's own for its owner. Nobody waits for it, and nothing fails by it. */
export function keepRequisicao({ store, log }: World, municipio: Municipio, atendida: Atendida): void {
  const { tenant, ensaioAte } = municipio;
  if (ensaioAte === undefined) return;
  const { id, metodo, caminho, tipo, corpo, status, ms, resposta } = atendida;
  const text = typeof resposta === 'string' ? resposta : undefined;
  const row = {
    id,
    // By the clock of the machine: they are told in the order in which they came.
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
    // Of one that is gone there is nothing to keep.
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
