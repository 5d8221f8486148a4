/** The addresses of the notes: issuing one, and asking for it by its key, its protocol number or its DPS. */
import { isProtocolo, parseChave, parseDpsId } from '../../fiscal/chave.ts';
import { NOTA_ESTADOS } from '../../fiscal/nota.ts';
import { issueNota } from '../../flows/issue-nota.ts';
import { refuseLegacy } from '../../flows/legacy-endpoint.ts';
import { hasDps, notaByChave, notaByDps, notaByProtocolo } from '../../flows/queries.ts';
import { readSentDps } from './content.ts';
import { avisosOf } from './envelope.ts';
import { refuseMissingDps, refuseMissingNota, refuseMissingProtocolo } from './refusals.ts';
import { headersOfRepetition, readKey, refuseAsFlow } from './repetition.ts';
import type { Call, Refused } from './route.ts';
import { retryAfter } from './route.ts';

/** Below the municipality. */
export const ISSUE_PATH = '/api/v1/nfse/v101';

export async function issue({ world, municipio, headers, body, site, quota }: Call) {
  const key = readKey({ headers, quota }, ISSUE_PATH);
  const issued = await issueNota(world, municipio, readSentDps({ headers, body, quota }), key);
  if ('faults' in issued) return refuseAsFlow(issued);
  const { numero_protocolo, chave_acesso, xml_nfse, avisos } = issued;
  return {
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

export async function queryByChave({ world, municipio, params }: Call) {
  const chave = params.chave_acesso!;
  const found = parseChave(chave) === undefined ? undefined : await notaByChave(world, municipio, chave);
  if (found === undefined) return refuseMissingNota(chave);
  const { nota, protocolo, data_cancelamento } = found;
  return {
    headers: retryAfter(world, found.proxima),
    body: { status: 'OK', nota: { ...nota, data_cancelamento }, protocolo },
  };
}

export async function queryByProtocolo({ world, municipio, params }: Call) {
  const numero = params.numero_protocolo!;
  const found = isProtocolo(numero) ? await notaByProtocolo(world, municipio, numero) : undefined;
  if (found === undefined) return refuseMissingProtocolo(municipio);
  const { nota, protocolo, chave_acesso_provisoria } = found;
  return {
    headers: retryAfter(world, found.proxima),
    body: { status: 'OK', nota, protocolo, chave_acesso_provisoria },
  };
}

export async function queryByDps({ world, municipio, params, shown }: Call) {
  const id = params.id!;
  const found = parseDpsId(id) === undefined ? undefined : await notaByDps(world, municipio, id, shown());
  if (found === undefined) return refuseMissingDps(id);
  if ('faults' in found) return { refusal: found, isMiss: true };
  const { nota, protocolo, id_dps } = found;
  const { chave_acesso, numero_protocolo } = protocolo;
  return {
    headers: retryAfter(world, found.proxima),
    body: { status: 'OK', id_dps, chave_acesso, numero_protocolo, nota },
  };
}

/** An answer without a body: only its status says whether the DPS has become a note. */
export async function askWhetherIssued({ world, municipio, params }: Call) {
  const id = params.id!;
  const isThere = parseDpsId(id) !== undefined && (await hasDps(world, municipio, id));
  return isThere ? { body: undefined } : refuseMissingDps(id);
}
