/** Notes of several municipalities in shared statements: each municipality has the rows that it would have alone. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import { freshPool } from '../../../test/support/database.ts';
import { keysOf, MES } from '../../../test/support/nota-keys.ts';
import { recorded, type Statements } from '../../../test/support/plans.ts';
import fc from '../../../test/support/seed.ts';
import { CNPJ, NOW, openTenants, rowOf } from '../../../test/support/stores.ts';
import { placeEntradas } from '../../base/book/auditoria-elos.ts';
import type { Db } from '../../base/pg/open.ts';
import { dpsIdInSerie, dpsSerieOf } from '../../fiscal/chave.ts';
import { notaMove } from '../../fiscal/nota.ts';
import { createStore, type Store } from '../../wiring/store.ts';
import type { Issuance, IssueResult } from './issue.rows.ts';

const PROVIDERS = [CNPJ, '52998224725'];
const TENANTS = ['alfa', 'beta', 'gama', 'delta'];

/** A DPS as its municipality gets it. `nDPS` 0: without number. `fate`: of the sending. */
type Sent = {
  readonly prestador: number;
  readonly nDPS: number;
  readonly key: number;
  readonly kind: 'plain' | 'held' | 'failing' | 'odd';
  readonly fate: 'autorizacao' | 'recusa' | 'adiamento';
};

const SENT: fc.Arbitrary<Sent> = fc.record({
  prestador: fc.nat(1),
  nDPS: fc.nat(3),
  key: fc.nat(3),
  kind: fc.constantFrom('plain', 'plain', 'plain', 'held', 'failing', 'odd'),
  fate: fc.constantFrom('autorizacao', 'autorizacao', 'recusa', 'adiamento'),
});
/** The documents of each municipality, in two groups. */
const ALL = fc.array(fc.record({ first: fc.array(SENT, { maxLength: 4 }), second: fc.array(SENT, { maxLength: 3 }) }), {
  minLength: TENANTS.length,
  maxLength: TENANTS.length,
});

function issuanceOf({ prestador: place, nDPS, key, kind }: Sent, number: number): Issuance {
  const prestador = PROVIDERS[place]!;
  const serie = dpsSerieOf({ cLocEmi: '3550308', documento: prestador, serie: '70000' });
  const impressao = hash('sha256', `chave ${key}`, 'buffer');
  return {
    prestador,
    mes: MES,
    dps: nDPS === 0 ? { serie } : { id: dpsIdInSerie(serie, nDPS) },
    novoPrestador: undefined,
    ...(key === 0 ? {} : { key: { impressao, rota: '/r', corpo: impressao, criado_em: NOW, avisos: [] } }),
    complete: ({ nDPS: given }) => {
      if (kind === 'failing') throw new Error('this note could not be made');
      return rowOf(dpsIdInSerie(serie, nDPS === 0 ? given! : nDPS), {
        ...keysOf(number),
        recebido: Buffer.from(`<DPS>${'é'.repeat(number % 50)}${number}</DPS>`),
        nfse: `<NFSe>${'ç'.repeat(number % 70)}${number}</NFSe>`,
        ...(kind === 'held' ? { retencao: 'falta a alíquota', tabela_aliquotas: 1 } : {}),
        ...(kind === 'odd' ? { tomador_razao_social: `Aspas ' " \\ e metade \ud83d de um par` } : {}),
      });
    },
  };
}

function describeResult(result: IssueResult): string {
  if ('nota' in result) return result.nota.chave_acesso;
  if ('duplicateOf' in result) return `duplicate of ${result.duplicateOf.chave_acesso}`;
  return 'error' in result ? `error ${(result.error as Error).message}` : 'repeated';
}

type Place = { readonly pool: Db; readonly store: Store; readonly told: string[] };

/** The steps of one municipality. Those of several may be taken side by side. */
function stepsOf(
  place: Place,
  tenant: string,
  rank: number,
  { first, second }: { first: readonly Sent[]; second: readonly Sent[] },
) {
  const { store, pool, told } = place;
  const fates = new Map<string, Sent['fate']>();
  const issue = (some: readonly Sent[], from: number) => async (): Promise<void> => {
    const results = await Promise.all(
      some.map((sent, at) => store.notas.issue(tenant, issuanceOf(sent, 1_000 * (rank + 1) + from + at))),
    );
    results.forEach((result, at) => {
      told.push(`${tenant} ${from + at} ${describeResult(result)}`);
      if ('nota' in result) fates.set(result.nota.chave_acesso, some[at]!.fate);
    });
  };
  const settle = async (): Promise<void> => {
    const { token, notas } = await store.notas.claim(tenant, NOW, NOW + 60_000, 100);
    const settlements = notas.map(({ id, mes, chave_acesso }) => {
      const move = notaMove('transmitida', fates.get(chave_acesso)!)!;
      const assinatura = { valor: Buffer.from(chave_acesso), certificado: Buffer.from(`certificado de ${tenant}`) };
      const recebida = move.to === 'autorizada' ? { recebida: { nsu: String(id), assinatura } } : {};
      const mensagem_retorno = move.to === 'recusada' ? 'E1: recusada' : undefined;
      const dueAt = move.due === 'never' ? undefined : NOW + 60_000;
      return { id, mes, move, dueAt, mensagem_retorno, resposta: `resposta ${chave_acesso}`, ...recebida };
    });
    told.push(`${tenant} settled ${await store.notas.settle(tenant, token, NOW + 1, settlements)}`);
  };
  const giveLugares = async (): Promise<void> => {
    const { postas } = await store.mudancas.append(tenant, NOW + 2);
    told.push(`${tenant} placed ${postas} ${await placeEntradas(pool, tenant)}`);
  };
  return [issue(first, 0), issue(second, 100), settle, giveLugares, settle, giveLugares];
}

/** Changes of several notes have no order among themselves: how many notes share a transaction is up to chance. Those of one note have. */
function gatherByNota(linha: string): string {
  const row = JSON.parse(linha) as { mudancas: string };
  const notaOf = (line: string): string => line.split(' ')[1]!;
  const lines = row.mudancas.split('\n').sort((one, other) => Number(notaOf(one)) - Number(notaOf(other)));
  return JSON.stringify({ ...row, mudancas: lines.join('\n') });
}

/** The rows of the municipalities, without what chance or the clock gives. */
async function dump({ pool, told }: Place, tenants: readonly string[]): Promise<readonly string[]> {
  const tables = [
    'notas',
    'documentos',
    'trilha_notas',
    'fila',
    'identidades',
    'numeracao',
    'numeracao_dps',
    'idempotencia',
    'retidas',
  ];
  tables.push(
    'notas_recusadas',
    'mudancas',
    'mudancas_ate',
    'receita_novas',
    'certificados',
    'recepcoes_adn',
    'auditoria',
    'auditoria_ate',
  );
  const chance = ['claims', 'sal', 'raiz', 'elo', 'autenticador', 'autenticador_lugar', 'aberta_em', 'conferida_em'];
  const read = tables.map(async (table) => {
    const own = table === 'auditoria' ? [...chance, 'id', 'em', 'lugar'] : chance;
    const text = `select (to_jsonb(t) - $1::text[])::text as linha from ${table} t where tenant = any ($2) order by 1`;
    const { rows } = await pool.query<{ linha: string }>(text, [own, tenants]);
    return rows.map(({ linha }) => `${table} ${table === 'mudancas' ? gatherByNota(linha) : linha}`);
  });
  return [...(await Promise.all(read)).flat(), ...told.toSorted()];
}

test('notes of several municipalities have the rows that each of them would have alone', async () => {
  const statements: Statements = new Map();
  const pools = [await freshPool(), recorded(await freshPool(), statements)];
  const stores = pools.map((pool) => ({ pool, store: createStore(pool) }));
  let run = 0;
  await fc.assert(
    fc.asyncProperty(ALL, async (sent) => {
      run += 1;
      const tenants = TENANTS.map((name) => `${name}${run}`);
      for (const { store } of stores) await openTenants(store, tenants);
      const [apart, together] = stores.map((one): Place => ({ ...one, told: [] }));
      for (const [rank, tenant] of tenants.entries()) {
        for (const step of stepsOf(apart!, tenant, rank, sent[rank]!)) await step();
      }
      const all = tenants.map((tenant, rank) => stepsOf(together!, tenant, rank, sent[rank]!));
      for (const place of all[0]!.keys()) await Promise.all(all.map((steps) => steps[place]!()));
      assert.deepEqual(await dump(together!, tenants), await dump(apart!, tenants));
    }),
    { numRuns: 25 },
  );
  const shared = [...statements.keys()].filter((text) => text.includes('= x.tenant'));
  const inserted = ['notas', 'documentos', 'trilha_notas', 'idempotencia', 'auditoria', 'mudancas', 'certificados'];
  const heads = [
    ...inserted.map((table) => `insert into ${table} `),
    'with due as',
    'with found as',
    'with left_queue as',
  ];
  for (const head of heads)
    assert.ok(
      shared.some((text) => text.startsWith(head)),
      `${head} was shared`,
    );
});
