/**
 * The municipal service list as a catalog: services in force now or later, with the national data of each. The national lists need no flow;
 * they are read directly (`../../fiscal/catalogs/itens.ts`).
 */

import type { Municipio } from '../../base/book/municipios.ts';
import { municipalMoment } from '../../base/world/gather-facts.ts';
import type { World } from '../../base/world/world.ts';
import { CTRIBMUN } from '../../fiscal/aliquota.ts';
import { servicoOf } from '../../fiscal/catalogs/catalogs.ts';
import { type Incidencia, incidenciaOf, semResultadoPor } from '../../fiscal/catalogs/itens.ts';
import {
  type Asked,
  type Filters,
  onPage,
  type Pagina,
  type Paginacao,
  paginacaoOf,
  type Search,
  searchOf,
} from '../../fiscal/catalogs/search.ts';
import { sinonimosOf } from '../../fiscal/catalogs/sinonimos.ts';
import { formatDecimal } from '../../fiscal/decimal.ts';
import type { ServicoVigente } from './servicos.rows.ts';

/** The names and the order are those of the public answer. Days are `YYYY-MM-DD`. */
export type ServicoMunicipalItem = {
  /** The value of `cServ/cTribMun`. */
  readonly codigo: string;
  readonly descricao: string;
  /** False: longer than `cTribMun` may be; the code serves the municipality alone. */
  readonly cabe_em_cTribMun: boolean;
  readonly codigo_tributacao_nacional: string;
  readonly descricao_nacional: string | null;
  readonly cnae_codigo: string | null;
  /** Percent; null: none is registered, and the rate of the DPS applies. */
  readonly aliquota: string | null;
  readonly inicio_vigencia: string;
  readonly fim_vigencia: string | null;
  /** False: it begins after today. */
  readonly vigente: boolean;
  readonly incidencia: Incidencia | null;
  readonly grupo_obrigatorio: string | null;
};

export type ListaMunicipal = {
  readonly itens: readonly ServicoMunicipalItem[];
  readonly paginacao: Paginacao;
  /** The replacement of a missing list, or the reason why nothing can be found; else null. */
  readonly observacao: string | null;
};

/** The filters of the municipal list (specification, "Catalogs"). */
export const FILTROS_MUNICIPAIS = ['descricao', 'cnae_codigo'] as const;

/** A page of the municipality's services in force today or later. */
export async function listaMunicipal(
  world: World,
  municipio: Municipio,
  asked: Asked,
  pagina: Pagina,
): Promise<ListaMunicipal> {
  const hoje = municipalMoment(municipio.codigoIbge, world.now()).date;
  const lines = await world.store.servicos.listInForce(municipio.tenant, hoje);
  if (lines === undefined) {
    return { itens: [], paginacao: paginacaoOf(pagina, 0), observacao: withoutList(municipio) };
  }
  const { itens, search } = preparedOf(lines, hoje);
  const found = search(asked);
  return {
    itens: onPage(found, pagina).map((place) => itens[place]!),
    paginacao: paginacaoOf(pagina, found.length),
    observacao: semResultadoPor(FILTERS, asked) ?? null,
  };
}

type Prepared = { readonly itens: readonly ServicoMunicipalItem[]; readonly search: Search };

/** Prepared lists, each for one day, made once for as long as the store caches the list. */
const prepared = new WeakMap<readonly ServicoVigente[], Prepared>();

function preparedOf(lines: readonly ServicoVigente[], hoje: string): Prepared {
  let made = prepared.get(lines);
  if (made === undefined) {
    // The sort order of databases differs.
    const servicos = lines.toSorted((one, other) => (one.codigo < other.codigo ? -1 : 1));
    made = { itens: servicos.map((line) => itemOf(line, hoje)), search: searchOf(servicos, FILTERS) };
    prepared.set(lines, made);
  }
  return made;
}

const FILTERS: Filters<ServicoVigente, (typeof FILTROS_MUNICIPAIS)[number]> = {
  // The everyday words are those of the national service to which the municipality assigns its own.
  descricao: {
    by: 'palavras',
    of: ({ descricao, cTribNac }) => `${descricao} ${sinonimosOf(servicoOf(cTribNac)?.subitem ?? '')}`,
  },
  cnae_codigo: {
    by: 'igual',
    of: ({ cnae = '' }) => cnae,
    key: cnaeIn,
    forma: {
      isFit: (asked) => /^\d{7}$/.test(cnaeIn(asked)),
      esperado: 'os 7 dígitos do CNAE, com ou sem pontuação: 6201-5/01',
    },
  },
};

function cnaeIn(asked: string): string {
  return asked.replace(/[\s./-]/g, '') || asked;
}

function itemOf(line: ServicoVigente, hoje: string): ServicoMunicipalItem {
  const servico = servicoOf(line.cTribNac);
  return {
    codigo: line.codigo,
    descricao: line.descricao,
    cabe_em_cTribMun: CTRIBMUN.test(line.codigo),
    codigo_tributacao_nacional: line.cTribNac,
    descricao_nacional: servico?.descricao ?? null,
    cnae_codigo: line.cnae ?? null,
    aliquota: line.aliquota === undefined ? null : formatDecimal(line.aliquota),
    inicio_vigencia: line.inicio,
    fim_vigencia: line.fim ?? null,
    vigente: line.inicio <= hoje,
    incidencia: servico?.emissivel ? incidenciaOf(servico) : null,
    grupo_obrigatorio: servico?.grupoObrigatorio ?? null,
  };
}

/** The sandbox (D-61); a municipality in production without a list differs only in its rate. */
function withoutList({ aliquotaPadrao }: Municipio): string {
  const rate =
    aliquotaPadrao === undefined
      ? ''
      : ` A alíquota registrada é ${formatDecimal(aliquotaPadrao)}% para todos os serviços.`;
  return `Este município não tem lista própria de serviços: atende todos os códigos nacionais, que estão em ${NACIONAL}. Não informe cTribMun na DPS.${rate}`;
}

const NACIONAL = '/catalogo/codigos_tributacao_nacional';
