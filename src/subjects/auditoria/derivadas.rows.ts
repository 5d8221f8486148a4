/**
 * Finds rows that contradict the recorded rows from which they must follow. No entry of the audit chain records them, because they are
 * derived (D-666).
 */
import { MES_ELIMINADO } from '../../base/book/atos.ts';
import type { ClientBase } from '../../base/pg/pg.ts';
import { quoteWords } from '../../base/pg/sql.ts';
import { ADVANCED } from '../copias/numeros.rows.ts';

/** A row that does not follow, or is missing, by its table and key. */
export type NaoSegue = { readonly tabela: string; readonly chave: string };

/** Highest number of findings of each kind. */
const EACH_MAX = 1_000;

/** States in which a nota has a row in the queue. */
const A_FAZER = quoteWords(['emitida', 'transmitida']);
/** Same parties, by the rule of `isKeyOfSameParty` (`substituicao.ts`). */
const partyOf = (chave: string): string =>
  `substr(${chave}, 9, case when substr(${chave}, 9, 1) = '2' then 9 else 15 end)`;

const inQueue = (tipo: string): string =>
  `exists (select 1 from fila f where f.tenant = $1 and f.id = t.id and f.tipo = '${tipo}' and f.mes = t.mes)`;

/** The number up to which a provider's numbers, by `x` or `n`, were moved ahead after a restoration. A recorded act says so. */
const ADIANTADO = `select max((a.depois->>'ultimo')::bigint) from atos a where a.tenant = $1 and a.objeto = 'prestador'
  and a.chave = coalesce(x.prestador, n.prestador) and a.acao = '${ADVANCED}'`;

/** Numbers of a provider, by `p`, that were left out after restorations between two notes. Recorded acts say so. */
const PULADOS = `coalesce((select sum((a.depois->>'ultimo')::bigint - (a.antes->>'ultimo')::bigint) from atos a
    where a.tenant = $1 and a.objeto = 'prestador' and a.chave = p.prestador and a.acao = '${ADVANCED}'
      and (a.antes->>'ultimo')::bigint >= p.antes and (a.depois->>'ultimo')::bigint < p.numero), 0)`;

/** Whether a gap in the numbers is a fault. A rehearsal forgets notes, and an eliminated month has none, as a recorded act says. */
const KEEPS_ALL = `exists (select 1 from municipios m where m.tenant = $1 and m.ambiente = 'producao')
  and not exists (select 1 from atos a where a.tenant = $1 and a.objeto = 'guarda' and a.acao = '${MES_ELIMINADO}')`;

/** Only a user's own sandbox retries held notes when no rate table is newer. */
const IS_RETRIED = `(r.tabela_aliquotas = 0
  and exists (select 1 from municipios m where m.tenant = $1 and m.ensaio_ate is not null))`;

/** Queries by table; each finds rows `chave` that are not as they must be. $1 is the tenant. */
const CHECKS: readonly (readonly [tabela: string, text: string])[] = [
  [
    'identidades',
    `select i.id_dps as chave from identidades i left join notas n on n.tenant = $1 and n.mes = i.mes and n.id = i.nota
      where i.tenant = $1 and (n.id is null or n.id_dps <> i.id_dps or n.estado = 'recusada')`,
  ],
  [
    'identidades',
    `select n.id_dps as chave from notas n left join identidades i
        on i.tenant = $1 and i.id_dps = n.id_dps and i.nota = n.id and i.mes = n.mes
      where n.tenant = $1 and n.estado <> 'recusada' and i.nota is null`,
  ],
  [
    'substituicoes',
    `select s.substituida || ' ' || s.nota as chave from substituicoes s
        left join notas n on n.tenant = $1 and n.mes = s.mes and n.id = s.nota
      where s.tenant = $1 and n.substitui is distinct from s.substituida`,
  ],
  [
    'substituicoes',
    `select n.substitui || ' ' || n.id as chave from notas n where n.tenant = $1 and n.substitui is not null
        and ${partyOf('n.substitui')} = ${partyOf('n.chave_acesso')}
        and not exists (select 1 from substituicoes s where s.tenant = $1 and s.substituida = n.substitui and s.nota = n.id)`,
  ],
  [
    'retidas',
    `select r.nota::text as chave from retidas r left join notas n on n.tenant = $1 and n.mes = r.mes and n.id = r.nota
      where r.tenant = $1 and (n.estado is distinct from 'retida' or (n.tabela_aliquotas <> r.tabela_aliquotas and not ${IS_RETRIED}))`,
  ],
  [
    'retidas',
    `select n.id::text as chave from notas n where n.tenant = $1 and n.estado = 'retida'
        and not exists (select 1 from retidas r where r.tenant = $1 and r.nota = n.id)`,
  ],
  [
    'certificados',
    `select encode(c.impressao, 'hex') as chave from certificados c where c.tenant = $1 and sha256(c.der) <> c.impressao`,
  ],
  [
    'certificados',
    `select distinct encode(x.certificado, 'hex') as chave from (
        select certificado from notas where tenant = $1 and certificado is not null
        union select certificado from eventos where tenant = $1 and certificado is not null
        union select certificado from documentos where tenant = $1 and certificado is not null
      ) x where not exists (select 1 from certificados c where c.tenant = $1 and c.impressao = x.certificado)`,
  ],
  [
    'listas_revogados',
    `select encode(l.impressao, 'hex') as chave from listas_revogados l where l.tenant = $1 and sha256(l.der) <> l.impressao`,
  ],
  [
    'listas_revogados',
    `select distinct encode(x.lista, 'hex') as chave from fundamentos f cross join unnest(f.listas) as x (lista)
      where f.tenant = $1 and not exists (select 1 from listas_revogados l where l.tenant = $1 and l.impressao = x.lista)`,
  ],
  [
    'numeracao',
    `select coalesce(x.prestador, n.prestador) as chave
      from (select prestador, ultimo from numeracao where tenant = $1) x
        full join (select prestador_cpf_cnpj as prestador, max(numero_dps) as ultimo from notas where tenant = $1 group by 1) n
          on n.prestador = x.prestador
      where coalesce(x.ultimo, -1) < coalesce(n.ultimo, 0)
        or (x.ultimo is distinct from greatest(coalesce(n.ultimo, 0), (${ADIANTADO}))
          and ${KEEPS_ALL})`,
  ],
  [
    'notas',
    `select p.prestador || ' ' || (p.antes + 1) as chave from (
        select prestador_cpf_cnpj as prestador, numero_dps as numero,
          lag(numero_dps, 1, 0::bigint) over (partition by prestador_cpf_cnpj order by numero_dps) as antes from notas where tenant = $1
      ) p where p.numero > p.antes + 1 and p.numero - p.antes - 1 > ${PULADOS} and ${KEEPS_ALL}`,
  ],
  [
    'notas',
    `select n.id || ' ' || n.mes as chave from notas n left join (
        select nota, mes, max(movimento) as movimentos, (array_agg(para order by movimento desc))[1] as estado,
          max(em) filter (where gatilho = 'autorizacao') as autorizada, max(em) filter (where gatilho = 'cancelamento') as cancelada
        from trilha_notas where tenant = $1 group by nota, mes
      ) t on t.nota = n.id and t.mes = n.mes
      where n.tenant = $1 and n.mes not in (select mes from meses where arquivado_em is not null)
        and (n.estado, n.movimentos, n.data_autorizacao, n.data_cancelamento)
          is distinct from (t.estado, t.movimentos, t.autorizada, t.cancelada)`,
  ],
  [
    'fila',
    `select 'nota ' || t.id as chave from notas t where t.tenant = $1 and t.estado in (${A_FAZER}) and not ${inQueue('nota')}
      union all select 'evento ' || t.id from eventos t where t.tenant = $1 and t.aberto and not ${inQueue('evento')}
      union all select 'lote ' || t.id from lotes t where t.tenant = $1 and t.aberto and not ${inQueue('lote')}`,
  ],
  [
    'fila',
    `select f.tipo || ' ' || f.id as chave from fila f where f.tenant = $1 and not case f.tipo
        when 'nota' then exists (select 1 from notas t where t.tenant = $1 and t.mes = f.mes and t.id = f.id and t.estado in (${A_FAZER}))
        when 'evento' then exists (select 1 from eventos t where t.tenant = $1 and t.id = f.id and t.mes = f.mes and t.aberto)
        else exists (select 1 from lotes t where t.tenant = $1 and t.id = f.id and t.mes = f.mes and t.aberto) end`,
  ],
];

/** Rows of a tenant that do not follow, at most some of each kind. */
export async function findNaoSegue(client: Pick<ClientBase, 'query'>, tenant: string): Promise<readonly NaoSegue[]> {
  const found: NaoSegue[] = [];
  for (const [tabela, text] of CHECKS) {
    const { rows } = await client.query<{ chave: string }>(`${text} limit ${EACH_MAX}`, [tenant]);
    found.push(...rows.map(({ chave }) => ({ tabela, chave })));
  }
  return found;
}
