/** The addresses of the notes: issue one, and read one by its key, its protocol number or its DPS. */

import { readSentDps } from '../../base/http/content.ts';
import { avisosOf } from '../../base/http/envelope.ts';
import { askerOf, readEspera } from '../../base/http/espera.ts';
import { refuseParams } from '../../base/http/params.ts';
import { refuseMissingDps, refuseMissingNota, refuseMissingProtocolo } from '../../base/http/refusals.ts';
import { headersOfRepetition, readKey, refuseAsFlow } from '../../base/http/repetition.ts';
import type { Call, Refused } from '../../base/http/route.ts';
import { retryAfter } from '../../base/http/route.ts';
import { isProtocolo, parseChave, parseDpsId } from '../../fiscal/chave.ts';
import type { Refusal } from '../../fiscal/fault.ts';
import { NOTA_ESTADOS } from '../../fiscal/nota.ts';
import { issueNota } from './issue.ts';
import { refuseLegacy } from './legacy-endpoint.ts';
import { hasDps, type NotaReading, notaByChave, notaByDps, notaByProtocolo } from './queries.ts';

/** The path below the municipality. */
export const ISSUE_PATH = '/api/v1/nfse/v101';

export async function issue({ world, municipio, headers, body, site, quota, requisicao }: Call) {
  const key = readKey({ headers, quota }, ISSUE_PATH);
  const issued = await issueNota(world, municipio, readSentDps({ headers, body, quota, requisicao }), key);
  if ('faults' in issued) return refuseAsFlow(issued);
  const { numero_protocolo, chave_acesso, xml_nfse, avisos } = issued;
  return {
    registro: { nota: parseChave(chave_acesso)!.nNFSe },
    headers: {
      Location: `${site}/${municipio.tenant}/api/v1/nfse/${chave_acesso}`,
      ...headersOfRepetition(issued),
    },
    body: {
      status: 'OK',
      numero_protocolo,
      chave_acesso,
      chave_acesso_provisoria: NOTA_ESTADOS.emitida.chave_acesso_provisoria,
      xml_nfse,
      avisos: avisosOf(avisos, site),
    },
  };
}

/** The address of layout 1.00 is closed; its answer only names the current address. */
export async function refuseLayout100({ body, municipio }: Call): Promise<Refused> {
  return { refusal: refuseLegacy(body, `/${municipio.tenant}${ISSUE_PATH}`) };
}

/** Reads a note, and waits for its decision when the reader asks for that. */
async function whenDecided<Found extends NotaReading | Refusal | undefined>(
  { municipio, search, waits, client }: Call,
  read: () => Promise<Found>,
): Promise<Found | Refused> {
  const ms = readEspera(new URLSearchParams(search));
  if (typeof ms === 'object') return refuseParams([ms]);
  const found = await read();
  if (ms === 0 || found === undefined || 'faults' in found || found.proxima === undefined) return found;
  const { chave_acesso } = found.protocolo;
  const asker = askerOf({ client }, chave_acesso);
  return (await waits.notas.wait(municipio, chave_acesso, { ms, ...asker })) ? read() : found;
}

export async function queryByChave(call: Call) {
  const { world, municipio, params } = call;
  const chave = params['chave_acesso']!;
  const find = async () => (parseChave(chave) === undefined ? undefined : notaByChave(world, municipio, chave));
  const found = await whenDecided(call, find);
  if (found !== undefined && 'refusal' in found) return found;
  if (found === undefined) return refuseMissingNota(chave);
  const { nota, protocolo, data_cancelamento } = found;
  return {
    headers: retryAfter(world, found.proxima),
    body: { status: 'OK', nota: { ...nota, data_cancelamento }, protocolo },
  };
}

export async function queryByProtocolo(call: Call) {
  const { world, municipio, params } = call;
  const numero = params['numero_protocolo']!;
  const find = async () => (isProtocolo(numero) ? notaByProtocolo(world, municipio, numero) : undefined);
  const found = await whenDecided(call, find);
  if (found !== undefined && 'refusal' in found) return found;
  if (found === undefined) return refuseMissingProtocolo(municipio);
  const { nota, protocolo, chave_acesso_provisoria } = found;
  return {
    headers: retryAfter(world, found.proxima),
    body: { status: 'OK', nota, protocolo, chave_acesso_provisoria },
  };
}

export async function queryByDps(call: Call) {
  const { world, municipio, params, shown } = call;
  const id = params['id']!;
  const find = async () => (parseDpsId(id) === undefined ? undefined : notaByDps(world, municipio, id, shown()));
  const found = await whenDecided(call, find);
  if (found !== undefined && 'refusal' in found) return found;
  if (found === undefined) return refuseMissingDps(id);
  if ('faults' in found) return { refusal: found, isMiss: true };
  const { nota, protocolo, id_dps } = found;
  const { chave_acesso, numero_protocolo } = protocolo;
  return {
    headers: retryAfter(world, found.proxima),
    body: { status: 'OK', id_dps, chave_acesso, numero_protocolo, nota },
  };
}

/** An answer without a body: its status alone says whether the DPS has become a note. */
export async function askWhetherIssued({ world, municipio, params }: Call) {
  const id = params['id']!;
  const isThere = parseDpsId(id) !== undefined && (await hasDps(world, municipio, id));
  return isThere ? { body: undefined } : refuseMissingDps(id);
}
