/** The lines of a municipality's registers for one DPS. Each list may be long, so only the lines of its own keys are read. */

import { decimalOf, lookUpLines, type Mantidas } from '../../base/book/listas.ts';
import { cacheReads } from '../../base/pg/cache-reads.ts';
import type { Db } from '../../base/pg/open.ts';
import { planOnce } from '../../base/pg/planned.ts';
import type { Cadastros, FormaDeducao, NomeadoPelaDps, TipoBeneficio } from '../../fiscal/cadastros.ts';

const NADA: readonly never[] = [];
/** Value of `regEspTrib` for no special regime. */
const SEM_REGIME = '0';

const ADMITIDOS = planOnce(
  'regimes_admitidos',
  `select r.regime from unnest('{1,2,3,4,5,6,9}'::text[]) as r (regime)
    where exists (select 1 from regimes_especiais s where s.tenant = $1 and s.regime = r.regime offset 0)`,
);

export function cadastroStore(pool: Db, mantidas: Mantidas) {
  const beneficio = lookUpLines(pool, 'beneficios', (linha) => ({
    numero: linha.numero,
    tipo: linha.tipo as TipoBeneficio,
    reducao: decimalOf(linha.reducao),
    aliquota: decimalOf(linha.aliquota),
    servicos: new Set(linha.servicos),
    documentos: new Set(linha.documentos),
  }));
  const deducao = lookUpLines(pool, 'deducoes', ({ codigo_tributacao_nacional: cTribNac, formas }) => ({
    cTribNac,
    formas: new Set(formas as readonly FormaDeducao[]),
  }));
  const regime = lookUpLines(pool, 'regimes', ({ regime, documento, servicos }) => ({
    regime,
    documento,
    servicos: new Set(servicos),
  }));
  const naoIncidencia = lookUpLines(pool, 'nao_incidencias', ({ codigo_tributacao_nacional: cTribNac, documento }) => ({
    cTribNac,
    documento,
  }));
  const admitidos = cacheReads(async (tenant: string): Promise<ReadonlySet<string>> => {
    const { rows } = await pool.query<{ regime: string }>(ADMITIDOS([tenant]));
    return new Set(rows.map((row) => row.regime));
  });
  const regimesOf = async (
    tenant: string,
    operacao: NomeadoPelaDps['operacao'],
  ): Promise<NonNullable<Cadastros['regimes']>> => {
    if (operacao === undefined || operacao.regime === SEM_REGIME) return { admitidos: new Set(), linhas: [] };
    const [known, linhas] = await Promise.all([
      admitidos(tenant),
      ofDocumento(regime, tenant, operacao.regime, operacao.documento),
    ]);
    return { admitidos: known, linhas };
  };
  return {
    find: async (tenant: string, { nBM, operacao }: NomeadoPelaDps): Promise<Cadastros> => {
      const has = await mantidas(tenant);
      const [beneficios, deducoes, regimes, naoIncidencias] = await Promise.all([
        has.beneficios ? (nBM === undefined ? NADA : beneficio(tenant, nBM)) : undefined,
        has.deducoes ? (operacao?.deduz === true ? deducao(tenant, operacao.cTribNac) : NADA) : undefined,
        has.regimes ? regimesOf(tenant, operacao) : undefined,
        has.nao_incidencias
          ? operacao === undefined
            ? NADA
            : ofDocumento(naoIncidencia, tenant, operacao.cTribNac, operacao.documento)
          : undefined,
      ]);
      return { beneficios, deducoes, regimes, naoIncidencias };
    },
  };
}

/** The lines for every provider, and those of one provider. */
async function ofDocumento<Line>(
  lines: (tenant: string, ...key: readonly string[]) => Promise<readonly Line[]>,
  tenant: string,
  key: string,
  documento: string,
): Promise<readonly Line[]> {
  return (await Promise.all([lines(tenant, key, ''), lines(tenant, key, documento)])).flat();
}
