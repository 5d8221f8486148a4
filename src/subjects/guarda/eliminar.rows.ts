/**
 * Eliminates a month after its legal time: its notes with all dependent rows, of all municipalities, in one transaction. Its archive files
 * go afterwards. Months can be held by a municipality. Counters stay: no number comes twice.
 */

import { arquivoOf } from '../../base/book/arquivo.ts';
import { insertAtos, type NovoAto } from '../../base/book/atos.ts';
import { folhasApagadas, insertEntrada, insertRegistradas, takeAway } from '../../base/book/auditoria-entradas.ts';
import { apagada } from '../../base/book/auditoria-tabelas.ts';
import { withoutLimits } from '../../base/pg/migration-steps.ts';
import { type Db, runTransaction } from '../../base/pg/open.ts';
import type { PoolClient } from '../../base/pg/pg.ts';
import { isLocked } from '../../base/pg/unavailable.ts';
import { endOfMes, inTurn } from './arquivar.rows.ts';
import { countSobras, deleteSobras, findSobras } from './eliminar-fundamentos.rows.ts';
import { countTabelas, dropTabelas } from './eliminar-tabelas.rows.ts';

/** A month that a municipality holds. */
export type Retencao = {
  readonly tenant: string;
  readonly mes: number;
  readonly motivo: string;
  readonly quem: string;
  readonly desde: Date;
};

/** The result of a hold. `ocupada`: the month is being eliminated, or moved to or from the archive, at this moment. */
export type Retida = 'retida' | 'ja_retida' | 'eliminada' | 'ocupada';

/** Data of a month that decide about its elimination. */
export type MesAEliminar = {
  readonly eliminado_em: Date | null;
  /** The last year to which the notes and their events belong. */
  readonly ultimoAno: number;
  readonly retencoes: readonly Retencao[];
  /** Months of notes whose events were registered in this one. */
  readonly antes: readonly { readonly mes: number; readonly quantos: number }[];
};

/** Rows of a municipality by their tables. */
export type Eliminado = { readonly tenant: string; readonly linhas: Readonly<Record<string, number>> };

/** Tables of the month whose rows all depend on its notes and lots; they are emptied together. */
const EMPTIED = ['notas', 'documentos', 'trilha_notas', 'documentos_lotes'] as const;

const NOTAS_OF = 'select id from notas where tenant = $1 and mes = $2';
const EVENTOS_OF = 'select mes, id from eventos where tenant = $1 and mes_nota = $2';
const LOTES_OF = 'select id from lotes where tenant = $1 and mes = $2';
const PARTES_OF = ['prestador_cpf_cnpj', 'tomador_cpf_cnpj', 'intermediario_cpf_cnpj'];

/** Other dependent tables, each before the table it depends on. The condition selects the rows of a tenant ($1) and a month ($2). */
const BESIDE: readonly (readonly [table: string, condition: string])[] = [
  [
    'nomes',
    `documento in (${PARTES_OF.map((one) => `select ${one} from notas where tenant = $1 and mes = $2`).join(' union ')})
    and not exists (select 1 from notas n where n.tenant = $1 and n.mes <> $2 and (${PARTES_OF.map((one) => `n.${one} = nomes.documento`).join(' or ')}))`,
  ],
  ['documentos_eventos', `(mes, evento) in (${EVENTOS_OF})`],
  ['trilha_eventos', `(mes, evento) in (${EVENTOS_OF})`],
  ['entregas', `nota in (${NOTAS_OF})`],
  ['idempotencia', 'mes = $2'],
  ['lotes_rps', `lote in (${LOTES_OF})`],
  ['lotes', 'mes = $2'],
  ['eventos', 'mes_nota = $2'],
  ['identidades', 'mes = $2'],
  ['substituicoes', 'mes = $2'],
  ['notas_recusadas', 'mes = $2'],
  ['pendencias', 'mes = $2'],
  ['documentos_comprimidos', 'mes = $2'],
  ['nomes_lidos', 'mes = $2'],
  // The sums of the month stay, but not those of a person.
  ['receita_somas', "mes = $2 and por in ('prestador', 'tomador')"],
];

/** Queries across tenants. */
const LAST_YEAR = `select greatest(
    (select max(extract(year from criado_em))::int from eventos where mes_nota = $1),
    (select max(r.mes_nota) / 100 from lotes l join lotes_rps r on r.tenant = l.tenant and r.lote = l.id where l.mes = $1)) as ano`;
const EVENTS_OF_EARLIER = `select mes_nota as mes, count(*)::int as quantos from eventos
  where mes = $1 and mes_nota <> $1 group by 1 order by 1`;
const MES = 'select eliminado_em from meses where mes = $1';
const HELD = 'select tenant, mes, motivo, quem, desde from retencoes';

export function eliminacaoStore(pool: Db) {
  return {
    /** Undefined: this database has nothing of the month. */
    inspect: async (mes: number): Promise<MesAEliminar | undefined> => {
      type Row = Pick<MesAEliminar, 'eliminado_em'>;
      const [row] = (await pool.query<Row>(MES, [mes])).rows;
      if (row === undefined) return undefined;
      return {
        ...row,
        ultimoAno: await lastYearOf(pool, mes),
        retencoes: (await pool.query<Retencao>(`${HELD} where mes = $1 order by tenant`, [mes])).rows,
        antes: (await pool.query(EVENTS_OF_EARLIER, [mes])).rows,
      };
    },
    /** Counts the rows that would be eliminated. */
    count: (mes: number): Promise<readonly Eliminado[]> =>
      runTransaction(pool, async (client) => {
        await client.query(withoutLimits('transaction'));
        return (await eachTenant(client, mes, 'count')).filter(isSome);
      }),
    /** Returns the eliminated rows; undefined: the month has changed since its inspection. */
    eliminate: (mes: number, work: Elimination): Promise<readonly Eliminado[] | undefined> =>
      // The lock keeps the month from being closed or brought back meanwhile.
      inTurn(pool, () => runTransaction(pool, (client) => eliminateMes(client, mes, work), { lockMs: LOCK_MS })),
    /** See {@link dropTabelas}. */
    dropTabelas: (mes: number): Promise<number> => inTurn(pool, () => dropTabelas(pool, mes)),
    countTabelas: (mes: number): Promise<number> => countTabelas(pool, mes),
    /** Removes the files of an eliminated month from the archive; returns their number. */
    removeFiles: async (mes: number): Promise<number> => {
      const { rows } = await pool.query<{ nome: string }>('select nome from arquivos where mes = $1 order by nome', [
        mes,
      ]);
      const lugar = arquivoOf(pool);
      if (lugar === undefined) return 0;
      for (const { nome } of rows) await lugar.remove(nome);
      return rows.length;
    },
    countFiles: async (mes: number): Promise<number> =>
      (await pool.query<{ count: number }>('select count(*)::int as count from arquivos where mes = $1', [mes]))
        .rows[0]!.count,
    listRetencoes: async (): Promise<readonly Retencao[]> =>
      (await pool.query<Retencao>(`${HELD} order by tenant, mes`)).rows,
    /** Holds a month, unless its elimination is under way or done. */
    hold: ({ tenant, mes, motivo, quem, desde }: Retencao, ato: NovoAto): Promise<Retida> =>
      runTransaction(pool, async (client): Promise<Retida> => {
        // The elimination locks this row until its end.
        const seen = await client.query<Pick<MesAEliminar, 'eliminado_em'>>(`${MES} for share`, [mes]);
        if ((seen.rows[0]?.eliminado_em ?? null) !== null) return 'eliminada';
        const text = `insert into retencoes (tenant, mes, motivo, quem, desde) values ($1, $2, $3, $4, $5)
          on conflict (tenant, mes) do nothing`;
        const { rowCount } = await client.query(text, [tenant, mes, motivo, quem, desde]);
        if (rowCount !== 1) return 'ja_retida';
        await insertRegistradas(client, tenant, 'retencoes', { which: 't.mes = $6::int', values: [mes] });
        await insertAtos(client, tenant, [ato]);
        return 'retida';
      }).catch((error: unknown) => {
        if (isLocked(error)) return 'ocupada';
        throw error;
      }),
    /** False: the month is not held. */
    release: (tenant: string, mes: number, ato: NovoAto): Promise<boolean> =>
      runTransaction(pool, async (client) => {
        const text = takeAway('retencoes', 'delete from retencoes t where t.tenant = $1 and t.mes = $2');
        const { rows } = await client.query<{ item: string }>(text, [tenant, mes]);
        if (rows.length === 0) return false;
        await insertEntrada(client, tenant, folhasApagadas(rows));
        await insertAtos(client, tenant, [ato]);
        return true;
      }),
  };
}

/** Open queries on the month may take this long. */
const LOCK_MS = 15_000;

/** `por`: the authority for the elimination; `ultimoAno`: from the inspection; `now`: milliseconds. */
type Elimination = {
  readonly now: number;
  readonly por: string;
  readonly ultimoAno: number;
  /** The entry for the trail of each municipality. */
  readonly atoOf: (one: Eliminado) => NovoAto;
};

/** Whether the month is held or has work under way. */
const CHANGED = `select exists (select 1 from retencoes where mes = $1) or exists (select 1 from fila where mes = $1)
  or exists (select 1 from retidas where mes = $1) as changed`;

async function eliminateMes(
  client: PoolClient,
  mes: number,
  { now, por, ultimoAno, atoOf }: Elimination,
): Promise<readonly Eliminado[] | undefined> {
  await client.query(withoutLimits('transaction'));
  const tables = EMPTIED.map((name) => `${name}_${mes}`).join(', ');
  // Registrations of events lock their note, so that none happens from here on. Readers continue.
  await client.query(`lock table ${tables} in exclusive mode`);
  // This lock prevents new holds of the month.
  await client.query(`${MES} for update`, [mes]);
  const { rows } = await client.query<{ changed: boolean }>(CHANGED, [mes]);
  if (rows[0]!.changed || (await lastYearOf(client, mes)) !== ultimoAno) return undefined;
  const all = (await eachTenant(client, mes, 'delete')).filter(isSome);
  for (const one of all) await insertAtos(client, one.tenant, [atoOf(one)]);
  await client.query(`truncate table ${tables}`);
  const done = 'update meses set eliminado_em = $2, eliminado_por = $3, arquivado_em = null where mes = $1';
  await client.query(done, [mes, new Date(now), por]);
  return all;
}

async function lastYearOf(client: Pick<PoolClient, 'query'>, mes: number): Promise<number> {
  const { rows } = await client.query<{ ano: number | null }>(LAST_YEAR, [mes]);
  return Math.max(Math.floor(mes / 100), rows[0]?.ano ?? 0);
}

const isSome = ({ linhas }: Eliminado): boolean => Object.values(linhas).some((count) => count > 0);

/** Counts or deletes the rows of each tenant; tables that are emptied together are only counted. */
async function eachTenant(client: PoolClient, mes: number, how: 'count' | 'delete'): Promise<readonly Eliminado[]> {
  const { rows } = await client.query<{ tenant: string }>('select tenant from municipios order by tenant');
  const all: Eliminado[] = [];
  await client.query('set local enable_seqscan = on');
  for (const { tenant } of rows) {
    const sobras = await findSobras(client, tenant, mes, new Date(endOfMes(mes)));
    if (how === 'delete') await tellEliminated(client, tenant, mes);
    const linhas: Record<string, number> = {};
    for (const table of EMPTIED) linhas[table] = await countOf(client, table, 'mes = $2', [tenant, mes]);
    for (const [table, condition] of BESIDE) {
      linhas[table] =
        how === 'count'
          ? await countOf(client, table, condition, [tenant, mes])
          : ((await client.query(`delete from ${table} where tenant = $1 and (${condition})`, [tenant, mes]))
              .rowCount ?? 0);
    }
    if (how === 'delete') await deleteSobras(client, tenant, sobras, ELIMINADO);
    all.push({ tenant, linhas: { ...linhas, ...countSobras(sobras) } });
  }
  return all;
}

/** Records of the audit chain about lawfully removed rows, for each kind of record in batches. */
const FAMILIAS = [
  ['nota', NOTAS_OF],
  ['evento', 'select id from eventos where tenant = $1 and mes_nota = $2'],
  ['lote', LOTES_OF],
] as const;
const TOLD_TOGETHER = 5_000;
/** The reason in the audit chain. */
const ELIMINADO = 'eliminado: passou do prazo da lei';

async function tellEliminated(client: PoolClient, tenant: string, mes: number): Promise<void> {
  for (const [familia, text] of FAMILIAS) {
    const { rows } = await client.query<{ id: string }>(`${text} order by id`, [tenant, mes]);
    for (let from = 0; from < rows.length; from += TOLD_TOGETHER) {
      const folhas = rows.slice(from, from + TOLD_TOGETHER).map(({ id }) => apagada(familia, [id]));
      await insertEntrada(client, tenant, folhas, ELIMINADO);
    }
  }
}

async function countOf(
  client: PoolClient,
  table: string,
  condition: string,
  values: readonly unknown[],
): Promise<number> {
  const text = `select count(*)::int as count from ${table} where tenant = $1 and (${condition})`;
  return (await client.query<{ count: number }>(text, [...values])).rows[0]!.count;
}
