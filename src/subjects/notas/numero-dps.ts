/** The number of a DPS: the identifier by which its note is found, its use, and the next numbers. */

import type { DpsHolder } from '../../base/book/identidades.ts';
import type { Municipio } from '../../base/book/municipios.ts';
import type { NextNumbers } from '../../base/book/numeracao.ts';
import { isJson, type SentDps } from '../../base/world/sent-documents.ts';
import type { World } from '../../base/world/world.ts';
import { canonicalInfDps } from '../../documents/xml.ts';
import { AMBIENTES } from '../../fiscal/ambiente.ts';
import { dpsIdInSerie, dpsSerieOf } from '../../fiscal/chave.ts';
import type { Aviso, Fault } from '../../fiscal/fault.ts';
import { DEFAULT_SERIE, type Dps } from '../../fiscal/layout/dps.ts';
import type { Issuance } from './issue.rows.ts';

/** The canonical identifier of a DPS, with its present or future number. */
export function identifierOf(dps: Dps, nDPS: string | bigint): string {
  return dpsIdInSerie(serieOf(dps), nDPS);
}

/** The prefix of the identifiers of its series. */
function serieOf({ cLocEmi, prest, serie = DEFAULT_SERIE }: Dps): string {
  return dpsSerieOf({ cLocEmi, documento: (prest.CNPJ ?? prest.CPF)!, serie });
}

export function numberedAs(dps: Dps): Issuance['dps'] {
  return dps.nDPS === undefined ? { serie: serieOf(dps) } : { id: identifierOf(dps, dps.nDPS) };
}

/** Returns E0014 when the identifier is in use. A DPS without number takes a free one, and has no duplicate. */
export async function findDuplicate(
  world: World,
  municipio: Municipio,
  dps: Dps,
  sent: SentDps,
): Promise<readonly Fault[]> {
  if ((dps.prest.CNPJ ?? dps.prest.CPF) === undefined || dps.nDPS === undefined) return [];
  const row = await world.store.notas.findByDps(municipio.tenant, identifierOf(dps, dps.nDPS));
  if (row === undefined) return [];
  const { chave_acesso, numero_protocolo, id, mes } = row;
  return [await duplicateFault(world, municipio, dps, { chave_acesso, numero_protocolo, id: BigInt(id), mes }, sent)];
}

/** D-19: always E0014, with the existing key, and whether it is the same document. */
export async function duplicateFault(
  world: World,
  municipio: Municipio,
  dps: Dps,
  holder: DpsHolder,
  { body }: SentDps,
): Promise<Fault> {
  const before = await world.store.notas.readReceived(municipio.tenant, holder);
  const same = before !== undefined && isSameContent(before, body);
  const { chave_acesso, numero_protocolo } = holder;
  const base = { codigo: 'E0014', chave_acesso, numero_protocolo, mesmo_conteudo: same };
  const documento = dps.prest.CNPJ === undefined ? 'CPF' : 'CNPJ';
  const advice = same
    ? 'O conteúdo é o mesmo: a nota já existe, consulte-a pela chave.'
    : 'O conteúdo é outro: para emitir mais uma nota use um número novo.';
  return {
    ...base,
    xpath: '/DPS/infDPS/nDPS',
    mensagem: `A série ${dps.serie ?? DEFAULT_SERIE} e o número ${dps.nDPS} já foram usados por este ${documento}, na nota de chave ${chave_acesso}. ${advice}`,
    encontrado: `${dps.serie ?? DEFAULT_SERIE}/${dps.nDPS}`,
  };
}

function isSameContent(before: Uint8Array, now: Uint8Array): boolean {
  if (Buffer.compare(before, now) === 0) return true;
  if (isJson(before) || isJson(now)) return false;
  const canonical = canonicalInfDps(before);
  return canonical !== undefined && canonical === canonicalInfDps(now);
}

/** The next automatic numbers; undefined: the DPS has a number of a series without automatic numbering. */
export async function nextNumbersFor(world: World, { tenant }: Municipio, dps: Dps): Promise<NextNumbers | undefined> {
  const documento = dps.prest.CNPJ ?? dps.prest.CPF;
  const isOther = dps.nDPS !== undefined && (dps.serie ?? DEFAULT_SERIE) !== DEFAULT_SERIE;
  return documento === undefined || isOther
    ? undefined
    : world.store.notas.previewNumbers(tenant, documento, serieOf(dps));
}

/**
 * D-17 lets a sender leave the number out. A repeated signed DPS without number is then one more note. A manual number beyond the automatic
 * ones causes a gap: the automatic sequence later skips it (D-17).
 */
export function numberRemarks({ ambiente }: Municipio, dps: Dps, next: NextNumbers | undefined): readonly Aviso[] {
  const remark = { codigo: 'E0014', xpath: '/DPS/infDPS/nDPS' };
  if (dps.nDPS === undefined) {
    if (!AMBIENTES[ambiente].signatureRefuses) return [];
    const mensagem =
      'A DPS não traz nDPS: cada envio dela emite uma nota nova, também um reenvio. Numere as suas DPS para que uma repetida seja reconhecida.';
    return [{ ...remark, mensagem }];
  }
  if (next === undefined || BigInt(dps.nDPS) <= next.alcancado) return [];
  const mensagem = `A série ${DEFAULT_SERIE} é a da numeração automática, em que uma DPS sem nDPS recebe o número da NFS-e, e que ainda não chegou a ${dps.nDPS}: com esta nota chega a ${next.alcancado}. Quando chegar lá, o número usado à mão será pulado. Para numerar você mesmo use outra série, de 1 a 49999.`;
  return [{ ...remark, mensagem }];
}

/** D-16: the canonical identifier is stored and answered. A sender without a number could not know it. */
export function identifierRemark(sent: string | undefined, canonical: string, isNumbered: boolean): readonly Aviso[] {
  if (sent === undefined || sent === canonical || !isNumbered) return [];
  const mensagem = `O atributo Id enviado não é o identificador desta DPS; o que vale, e por que ela se consulta, é ${canonical}.`;
  return [{ codigo: 'E0004', xpath: '/DPS/infDPS/@Id', mensagem }];
}
