/** What the national environment has taken of a tenant's notas and eventos: under which certificates, and up to which number. */
import { hash } from 'node:crypto';
import type { PoolClient } from './pg.ts';

/** Of one document: the reception number that it was given, and the signature under which it was sent. */
export type Recebida = {
  readonly nsu: string | undefined;
  readonly assinatura: { readonly valor: Buffer; readonly certificado: Buffer } | undefined;
};

/** The SHA-256 of each certificate that signed, by which rows name it. */
export type Prints = ReadonlyMap<Buffer, Buffer>;

/** Hashes each certificate once: of a batch there is one, the same buffer in every row. */
export function printsOf(received: readonly (Recebida | undefined)[]): Prints {
  const prints = new Map<Buffer, Buffer>();
  for (const recebida of received) {
    const certificado = recebida?.assinatura?.certificado;
    if (certificado !== undefined && !prints.has(certificado)) {
      prints.set(certificado, hash('sha256', certificado, 'buffer'));
    }
  }
  return prints;
}

const INSERT_CERTIFICADOS = `insert into certificados (tenant, impressao, der)
  select $1, x.impressao, x.der from unnest($2::bytea[], $3::bytea[]) as x (impressao, der)
  on conflict (tenant, impressao) do nothing`;

/** Before the rows, in the same transaction: a certificate that a row names is there. */
export function insertCertificados(client: PoolClient, tenant: string, prints: Prints): readonly Promise<unknown>[] {
  if (prints.size === 0) return [];
  const values = [tenant, [...prints.values()], [...prints.keys()]];
  return [client.query({ name: 'insert_certificados', text: INSERT_CERTIFICADOS, values })];
}

const ADVANCE_RECEPCAO = `insert into recepcoes_adn as r (tenant, nsu) values ($1, $2)
  on conflict (tenant) do update set nsu = greatest(r.nsu, excluded.nsu)`;

/** After them: a lost answer is looked for from a number that was certainly given before it was sent. */
export function advanceRecepcao(
  client: PoolClient,
  tenant: string,
  received: readonly (Recebida | undefined)[],
): readonly Promise<unknown>[] {
  let last = 0n;
  for (const recebida of received) {
    const nsu = BigInt(recebida?.nsu ?? 0);
    if (nsu > last) last = nsu;
  }
  if (last === 0n) return [];
  return [client.query({ name: 'advance_recepcao', text: ADVANCE_RECEPCAO, values: [tenant, String(last)] })];
}
