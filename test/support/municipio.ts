/** A municipality for tests that do not depend on its settings, and its registered providers. */
import type { Municipio } from '../../src/base/book/municipios.ts';
import type { Db } from '../../src/base/pg/open.ts';

/** A municipality like the sandbox, under any name: no signatures, no settings, and no check of the registry. */
export function asSandbox(tenant: string): Municipio {
  return {
    tenant,
    ambiente: 'homologacao',
    codigoIbge: undefined,
    aliquotaPadrao: undefined,
    confianca: { ancoras: undefined, revogados: undefined },
    adn: undefined,
    regrasNacionais: undefined,
    consultaDps: undefined,
  };
}

export type RegisteredPrestador = {
  readonly im?: string;
  readonly nome?: string;
  readonly autorizado?: boolean;
  /** The origin of the entry: the registry of the municipality, or a first DPS in the sandbox. */
  readonly origem?: 'cadastro' | 'dps';
};

/** Adds an establishment to the registry of a municipality. */
export async function addPrestador(
  db: Pick<Db, 'query'>,
  tenant: string,
  documento: string,
  { im = '', nome = 'Empresa Exemplo Ltda', autorizado = true, origem = 'cadastro' }: RegisteredPrestador = {},
): Promise<void> {
  const text = `insert into prestadores (tenant, documento, inscricao_municipal, razao_social, autorizado, logradouro, numero, bairro,
      cep, origem, criado_em) values ($1, $2, $3, $4, $5, 'Rua A', '1', 'Sé', '01001000', $6, now())`;
  await db.query(text, [tenant, documento, im, nome, autorizado, origem]);
}
