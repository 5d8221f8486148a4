/** A database as years of use leave it: rows made by the server itself, in the columns that every version of the schema has. */
import type { Client } from '../../src/store/pg.ts';

/** Rows of one insert: a transaction of seconds, not of minutes. */
const PART = 50_000;

/** Length of the key of access, of a protocol and of the identifier of a DPS, as the specification has them. */
const NOTA = `insert into notas (tenant, id, chave_acesso, numero_protocolo, id_dps, estado, movimentos, numero_dps, serie_dps,
    numero_dps_nacional, data_emissao, data_competencia, data_autorizacao, prestador_cpf_cnpj, prestador_razao_social,
    tomador_cpf_cnpj, tomador_razao_social, valor_servico, valor_issqn, valor_base_calculo, aliquota_issqn)
  select $1, i, lpad(i::text, 50, '0'), lpad(i::text, 15, '0'), 'DPS' || lpad(i::text, 42, '0'),
    case when i % 50 = 0 then 'recusada' else 'autorizada' end, 3, i, '900', i::text, now() - i * interval '1 second', current_date,
    now(), lpad((i % 1000)::text, 14, '0'), 'Prestador Exemplo Ltda', '52998224725', 'Tomadora Exemplo', 1000, 20, 1000, 2
  from generate_series($2::bigint, $3::bigint) i`;

const DOCUMENTO = `insert into documentos (tenant, nota, recebido, nfse)
  select $1, i, convert_to(repeat('<DPS/>', 30), 'UTF8'), convert_to(repeat('<NFSe/>', 60), 'UTF8')
  from generate_series($2::bigint, $3::bigint) i`;

const TRILHA = `insert into trilha_notas (tenant, nota, movimento, em, de, gatilho, para)
  select $1, i, m, now(), case m when 1 then null else 'emitida' end, 'emissao', 'emitida'
  from generate_series($2::bigint, $3::bigint) i, generate_series(1, 3) m`;

/** One note in ten has a refused event. */
const EVENTO = `insert into eventos (tenant, id, nota, ordem, codigo_tipo_evento, numero_sequencial, cancela, estado, desde, criado_em,
    codigo_retorno, autor, campos)
  select $1, 1000000000 + i, i, 1, '101101', 1, true, 'rejeitado', now(), now(), case when i % 20 = 0 then 'E0840' else 'E1234' end,
    '11222333000181', '{}'
  from generate_series($2::bigint, $3::bigint) i where i % 10 = 0`;

/** Notes 1 to `count` of a tenant that exists, with their documents, moves and events, numbered as the service would. */
export async function fillNotas(client: Pick<Client, 'query'>, tenant: string, count: number): Promise<void> {
  for (let first = 1; first <= count; first += PART) {
    const values = [tenant, first, Math.min(count, first + PART - 1)];
    for (const text of [NOTA, DOCUMENTO, TRILHA, EVENTO]) await client.query(text, values);
  }
  const sequence = `insert into sequencias (tenant, nome, proximo) values ($1, 'nDFSe', $2)
    on conflict (tenant, nome) do update set proximo = $2`;
  await client.query(sequence, [tenant, 2_000_000_000]);
  await client.query('analyze');
}
