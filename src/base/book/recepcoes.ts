/** Receptions of a tenant's notas and eventos in the national environment: their certificates, and the highest number. */
import { hash } from 'node:crypto';
import type { PoolClient } from '../pg/pg.ts';
import { planOnce } from '../pg/planned.ts';

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

const INSERT_CERTIFICADOS = planOnce(
  'insert_certificados',
  `insert into certificados (tenant, impressao, der)
  select m.tenant, x.impressao, x.der from municipios m cross join unnest($2::bytea[], $3::bytea[]) as x (impressao, der)
  where m.tenant = $1 on conflict (tenant, impressao) do nothing`,
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
  some: readonly { readonly impressao: Buffer; readonly der: Buffer }[],
): readonly Promise<unknown>[] {
  if (some.length === 0) return [];
  const certificados = some.toSorted((one, other) => one.impressao.compare(other.impressao));
  const values = [certificados.map(({ impressao }) => impressao), certificados.map(({ der }) => der)];
  return [client.query(INSERT_CERTIFICADOS([tenant, ...values]))];
}

const ADVANCE_RECEPCAO = planOnce(
  'advance_recepcao',
  `insert into recepcoes_adn as r (tenant, nsu) values ($1, $2)
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
  return [client.query(ADVANCE_RECEPCAO([tenant, String(last)]))];
}
