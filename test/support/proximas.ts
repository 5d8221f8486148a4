/**
 * Small migrations as later versions may bring them. They have a step of each kind on full tables, with and without months. Tests of
 * migrations apply them on top of the program's own, so that no history is needed.
 */
import { type Migration, migrationOf, shippedMigrations } from '../../src/base/pg/migrations.ts';

/** A column that is filled, and then mandatory; the version before leaves it at its default. */
const COLUNA = `
alter table notas add column proxima bigint default 0;

-- passo
-- lotes: notas mes id
update notas set proxima = id where tenant = $1 and mes = $4 and id > $2 and id <= $3;

-- passo
alter table notas add constraint notas_proxima_ha check (proxima is not null) not valid;

-- passo
alter table notas validate constraint notas_proxima_ha;

-- passo
alter table notas alter column proxima set not null;

-- passo
alter table notas drop constraint notas_proxima_ha;
`;

const INDICE = `
create index concurrently eventos_proxima on eventos (tenant, criado_em);

-- passo
drop index concurrently if exists eventos_entre_partes;

-- passo
create index concurrently eventos_entre_partes on eventos (tenant, codigo_retorno) where entre_partes and arquivado_em is null;
`;

const INDICES_POR_MES = `
create unique index concurrently notas_proxima on notas (tenant, mes, proxima, id);

-- passo
-- Only; these
create index concurrently trilha_notas_proxima on trilha_notas (tenant, em)
  where movimento > 1;

-- passo
drop index concurrently if exists notas_periodo;

-- passo
create index concurrently notas_periodo on notas (tenant, prestador_cpf_cnpj, data_emissao);
`;

const OUTRAS = `
alter table eventos add column proxima text;

-- passo
-- lotes: eventos id
update eventos set proxima = 'de ' || nota where tenant = $1 and id > $2 and id <= $3;

-- passo
alter table eventos add constraint eventos_proxima check (proxima <> '') not valid;

-- passo
alter table eventos validate constraint eventos_proxima;

-- passo
alter table documentos add column proxima text;
alter table documentos alter column proxima set storage external;

-- passo
create table proximas (tenant text not null, id bigint not null, primary key (tenant, id));
create index proximas_id on proximas (tenant, id);
insert into proximas (tenant, id) values ('', 1);
`;

export const PROXIMAS: readonly Migration[] = [
  migrationOf('901-coluna.sql', COLUNA),
  migrationOf('902-indice.sql', INDICE),
  migrationOf('903-indices-por-mes.sql', INDICES_POR_MES),
  migrationOf('904-outras.sql', OUTRAS),
];

/** The migrations of a later version, up to the migration `last`. */
export async function withProximas(last = PROXIMAS.at(-1)!.nome): Promise<readonly Migration[]> {
  return [...(await shippedMigrations()), ...PROXIMAS.filter(({ nome }) => nome <= last)];
}
