/** Receptions of a tenant's notas and eventos in the national environment: their certificates, and the highest number. */
import { hash } from 'node:crypto';
import { asArrays, planMergeable } from '../pg/mergeable.ts';
import type { PoolClient } from '../pg/pg.ts';

/** Reception of one document: its reception number, and the signature under which it was sent. */
export type Recebida = {
  readonly nsu: string | undefined;
  readonly assinatura: { readonly valor: Buffer; readonly certificado: Buffer } | undefined;
};

/** Hashes of certificates. All rows of a batch have the same buffer, so that it is hashed once. */
const PRINTS = new WeakMap<Buffer, Buffer>();

/** The SHA-256 of a signing certificate, by which rows name it. */
export function printOf(certificado: Buffer): Buffer {
  return PRINTS.getOrInsertComputed(certificado, () => hash('sha256', certificado, 'buffer'));
}

type Certificado = { readonly impressao: Buffer; readonly der: Buffer };

const INSERT_CERTIFICADOS = planMergeable<Certificado>(
  'insert_certificados',
  asArrays([
    ['impressao bytea', ({ impressao }) => impressao],
    ['der bytea', ({ der }) => der],
  ]),
  ({ rows, tenant }) => `insert into certificados (tenant, impressao, der)
  select m.tenant, x.impressao, x.der from municipios m cross join ${rows}
  where m.tenant = ${tenant} order by m.tenant, x.impressao on conflict (tenant, impressao) do nothing`,
);

/** Inserts certificates before the rows that name them, in the same transaction. */
export function insertCertificados(
  client: PoolClient,
  tenant: string,
  received: readonly (Recebida | undefined)[],
): readonly Promise<unknown>[] {
  const certificados = [...new Set(received.flatMap((one) => one?.assinatura?.certificado ?? []))];
  return keepCertificados(
    client,
    tenant,
    certificados.map((der) => ({ impressao: printOf(der), der })),
  );
}

/** Inserts certificates in one order, so that two transactions with the same ones cannot deadlock. */
export function keepCertificados(
  client: PoolClient,
  tenant: string,
  some: readonly Certificado[],
): readonly Promise<unknown>[] {
  return some.length === 0 ? [] : [client.query(INSERT_CERTIFICADOS(tenant, some))];
}

const ADVANCE_RECEPCAO = planMergeable<bigint>(
  'advance_recepcao',
  asArrays([['nsu bigint', (nsu) => nsu]]),
  ({ rows, tenant }) => `insert into recepcoes_adn as r (tenant, nsu)
  select m.tenant, x.nsu from municipios m cross join ${rows} where m.tenant = ${tenant} order by m.tenant
  on conflict (tenant) do update set nsu = greatest(r.nsu, excluded.nsu)`,
);

/** Stores the highest number after the rows. A lost answer is searched from a number that was certainly assigned before the sending. */
export function advanceRecepcao(
  client: PoolClient,
  tenant: string,
  received: readonly (Recebida | undefined)[],
): readonly Promise<unknown>[] {
  const numbers = received.map((recebida) => BigInt(recebida?.nsu ?? 0));
  const last = numbers.reduce((most, nsu) => (nsu > most ? nsu : most), 0n);
  if (last === 0n) return [];
  return [client.query(ADVANCE_RECEPCAO(tenant, [last]))];
}
