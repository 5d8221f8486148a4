/** A database as years of use leave it. The server itself makes the rows, in the columns that every version of the schema has. */
import { ensureMeses } from '../../src/base/book/meses.ts';
import type { Db } from '../../src/base/pg/open.ts';
import { MES } from './nota-keys.ts';

/** Rows of one insert, so that a transaction lasts seconds, not minutes. */
const PART = 50_000;

/**
 * Key and protocol number follow `keysOf`; the key and the DPS identifier have the length of the specification. Notes $2 to $3 are of the
 * month $4, one second apart.
 */
const NOTA = `insert into notas (tenant, mes, id, chave_acesso, numero_protocolo, id_dps, estado, movimentos, numero_dps, serie_dps,
    numero_dps_nacional, data_emissao, data_competencia, data_autorizacao, prestador_cpf_cnpj, prestador_razao_social,
    tomador_cpf_cnpj, tomador_razao_social, valor_servico, valor_issqn, valor_base_calculo, aliquota_issqn)
  select $1, $4, i, lpad(i::text, 36, '0') || ($4::int % 10000) || repeat('0', 10), $4::text || i, 'DPS' || lpad(i::text, 42, '0'),
    case when i % 50 = 0 then 'recusada' else 'autorizada' end, 3, i, '900', i::text,
    to_date($4::text, 'YYYYMM') + (i - $2) * interval '1 second', to_date($4::text, 'YYYYMM'),
    case when i % 50 <> 0 then now() end, lpad((i % 1000)::text, 14, '0'), 'Prestador Exemplo Ltda', '52998224725', 'Tomadora Exemplo', 1000, 20, 1000, 2
  from generate_series($2::bigint, $3::bigint) i`;

const IDENTIDADE = `insert into identidades (tenant, id_dps, nota, mes)
  select $1, 'DPS' || lpad(i::text, 42, '0'), i, $4 from generate_series($2::bigint, $3::bigint) i where i % 50 <> 0`;

const DOCUMENTO = `insert into documentos (tenant, mes, nota, recebido, nfse)
  select $1, $4, i, convert_to(repeat('<DPS/>', 30), 'UTF8'), convert_to(repeat('<NFSe/>', 60), 'UTF8')
  from generate_series($2::bigint, $3::bigint) i`;

const TRILHA = `insert into trilha_notas (tenant, mes, nota, movimento, em, de, gatilho, para)
  select $1, n.mes, n.id, m, coalesce(n.data_autorizacao, now()), (array[null, 'emitida', 'transmitida'])[m],
    (array['emissao', 'anuncio', case n.estado when 'recusada' then 'recusa' else 'autorizacao' end])[m],
    (array['emitida', 'transmitida', n.estado])[m]
  from notas n cross join generate_series(1, 3) m where n.tenant = $1 and n.mes = $4 and n.id between $2 and $3`;

/** One note in ten has a refused event. */
const EVENTO = `insert into eventos (tenant, id, mes, nota, mes_nota, ordem, codigo_tipo_evento, numero_sequencial, cancela, estado, aberto,
    desde, criado_em, codigo_retorno, autor, campos)
  select $1, 1000000000 + i, $4, i, $4, 1, '101101', 1, true, 'rejeitado', false, now(), now(),
    case when i % 20 = 0 then 'E0840' else 'E1234' end, '11222333000181', '{}'
  from generate_series($2::bigint, $3::bigint) i where i % 10 = 0`;

/**
 * Adds notes 1 to `count` of an existing tenant, with documents, moves and events, numbered as the service would. They are spread evenly
 * over the months, the first notes in the first month.
 */
export async function fillNotas(
  pool: Db,
  tenant: string,
  count: number,
  meses: readonly number[] = [MES],
): Promise<void> {
  await ensureMeses(pool, meses);
  const firstOf = (place: number): number => 1 + Math.floor((count * place) / meses.length);
  for (const [place, mes] of meses.entries()) {
    for (let first = firstOf(place); first < firstOf(place + 1); first += PART) {
      const values = [tenant, first, Math.min(firstOf(place + 1), first + PART) - 1, mes];
      for (const text of [NOTA, IDENTIDADE, DOCUMENTO, TRILHA, EVENTO]) await pool.query(text, values);
    }
  }
  const sequence = `insert into sequencias (tenant, nome, proximo) values ($1, 'nDFSe', $2)
    on conflict (tenant, nome) do update set proximo = $2`;
  await pool.query(sequence, [tenant, 2_000_000_000]);
  await pool.query('analyze');
}
