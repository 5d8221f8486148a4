/**
 * The items of the public catalogs (specification, "Catalogs"): the published fields of a row of a national list, and its filters.
 *
 * An item has the key field and the data that its user needs next. A service has the place where its ISSQN is due and the group that the
 * DPS must then carry. Anexo VIII adds the NBS, `cIndOp` and `cClassTrib`, as a suggestion, never a refusal (D-84). Data of a single
 * municipality is deliberately absent. Each municipality has its own list of the services that it administers and their rates.
 */
import { quoted } from '../fault.ts';
import {
  classificacaoOf,
  correlacoesOf,
  correlacoesOfSubitem,
  indicadorOf,
  moedas,
  municipios,
  nbsList,
  nbsOf,
  paises,
  servicoOf,
  servicos,
} from './catalogs.ts';
import type { Correlacao, Moeda, Municipio, Nbs, Pais, RegraIncidencia, Servico, ServicoEmissivel } from './rows.ts';
import { type Asked, type Filters, type Search, searchOf } from './search.ts';
import { sinonimosOf } from './sinonimos.ts';
import { once } from './table.ts';

/** A published national list: its items in the order of their codes, and the search over them. */
export type CatalogoNacional = {
  readonly itens: readonly object[];
  readonly search: Search;
  readonly filters: Filters<never>;
};

/** The filters of each list, in the order of the specification's table. */
export const FILTROS = {
  codigos_tributacao_nacional: ['codigo', 'descricao', 'item'],
  nbs: ['codigo', 'descricao', 'secao'],
  municipios: ['codigo_ibge', 'uf', 'nome'],
  paises: ['codigo', 'nome'],
  moedas: ['codigo', 'sigla'],
} as const;

export type NomeDeCatalogo = keyof typeof FILTROS;

/** An item of each list, with its published names. */
export type ItemNacional = {
  readonly codigos_tributacao_nacional: ReturnType<typeof servicoItem>;
  readonly nbs: ReturnType<typeof nbsItem>;
  readonly municipios: ReturnType<typeof municipioItem>;
  readonly paises: ReturnType<typeof paisItem>;
  readonly moedas: ReturnType<typeof moedaItem>;
};

/** The lists, each built at its first use. */
export const CATALOGOS_NACIONAIS: Readonly<Record<NomeDeCatalogo, () => CatalogoNacional>> = {
  codigos_tributacao_nacional: once(() =>
    makeCatalogo(
      'codigos_tributacao_nacional',
      servicos().filter((servico) => servico.emissivel),
      servicoItem,
      {
        codigo: {
          by: 'comeco',
          of: ({ codigo }) => codigo,
          key: codigoStart,
          forma: {
            isFit: (asked) => /^\d{1,6}$/.test(codigoStart(asked)),
            esperado: 'até 6 dígitos, com ou sem pontuação: 010101, 01.01.01, 1.01',
          },
        },
        descricao: { by: 'palavras', of: ({ descricao, subitem }) => `${descricao} ${sinonimosOf(subitem)}` },
        item: {
          by: 'comeco',
          of: ({ codigo }) => codigo,
          key: itemStart,
          forma: {
            isFit: (asked) => /^\d{2}(\d{2})?$/.test(itemStart(asked)),
            esperado: 'um item ou subitem da LC 116: 1, 01, 1.05',
          },
        },
      },
    ),
  ),
  nbs: once(() =>
    makeCatalogo(
      'nbs',
      nbsList().filter(({ emissivel }) => emissivel),
      nbsItem,
      {
        codigo: {
          by: 'comeco',
          of: ({ codigo }) => codigo,
          key: digitsOf,
          forma: {
            isFit: (asked) => /^\d{1,9}$/.test(digitsOf(asked)),
            esperado: 'até 9 dígitos, com ou sem pontuação: 115021000, 1.1502.10.00',
          },
        },
        descricao: { by: 'palavras', of: ({ descricao }) => descricao ?? '' },
        secao: {
          by: 'igual',
          of: ({ secao }) => secao ?? '',
          key: upperCase,
          forma: {
            isFit: (asked) => secoes().has(upperCase(asked)),
            esperado: 'a seção em dígitos romanos, de I a V',
          },
        },
      },
    ),
  ),
  municipios: once(() =>
    makeCatalogo('municipios', municipios(), municipioItem, {
      codigo_ibge: {
        by: 'igual',
        of: ({ codigoIbge }) => codigoIbge,
        forma: { isFit: (asked) => /^\d{7}$/.test(asked), esperado: 'os 7 dígitos do código IBGE: 3550308' },
      },
      uf: {
        by: 'igual',
        of: ({ uf }) => uf,
        key: upperCase,
        forma: {
          isFit: (asked) => ufs().has(upperCase(asked)),
          esperado: 'a sigla de um estado ou do Distrito Federal: SP',
        },
      },
      nome: { by: 'palavras', of: ({ nome }) => nome },
    }),
  ),
  paises: once(() =>
    makeCatalogo('paises', paises(), paisItem, {
      codigo: {
        by: 'igual',
        of: ({ codigo }) => codigo,
        key: upperCase,
        forma: {
          isFit: (asked) => /^[A-Z]{2}$/.test(upperCase(asked)),
          esperado: 'as 2 letras do código ISO 3166-1: PT. Códigos de 3 letras ou de dígitos são de outras tabelas',
        },
      },
      nome: { by: 'palavras', of: ({ nome }) => nome },
    }),
  ),
  moedas: once(() =>
    makeCatalogo('moedas', moedas(), moedaItem, {
      codigo: {
        by: 'igual',
        of: ({ codigo }) => codigo,
        forma: {
          isFit: (asked) => /^\d{3}$/.test(asked),
          esperado: 'os 3 dígitos de tpMoeda: 220. As letras são de sigla',
        },
      },
      sigla: {
        by: 'igual',
        of: ({ sigla }) => sigla,
        key: upperCase,
        forma: { isFit: (asked) => /^[A-Z]{3}$/.test(upperCase(asked)), esperado: 'as 3 letras da sigla: USD' },
      },
    }),
  ),
};

function makeCatalogo<Row, Nome extends NomeDeCatalogo>(
  _nome: Nome,
  rows: readonly Row[],
  itemOf: (row: Row) => object,
  filters: Filters<Row, (typeof FILTROS)[Nome][number]>,
): CatalogoNacional {
  return { itens: rows.map(itemOf), search: searchOf(rows, filters), filters };
}

function upperCase(asked: string): string {
  return asked.toUpperCase();
}

/** The digits of a code, however it is punctuated; a text with other characters matches no code. */
function digitsOf(asked: string): string {
  return asked.replace(/[\s.\-/]/g, '');
}

/** `1.01` is 01.01 as LC 116 writes it, and not the beginning of 10.10. */
function codigoStart(asked: string): string {
  return digitsOf(/^\d[.\-/]/.test(asked) ? `0${asked}` : asked);
}

/** `1` and `01` are an item of LC 116. `1.05` and `01.05` are a subitem, which the law also calls an item. */
function itemStart(asked: string): string {
  const [, item, subitem = ''] = /^(\d{1,2})(?:\.(\d{2}))?$/.exec(asked) ?? [];
  return item === undefined ? asked : item.padStart(2, '0') + subitem;
}

// Queries that can find nothing

const ufs = once(() => new Set(municipios().map(({ uf }) => uf)));
const secoes = once(() => new Set(nbsList().map(({ secao }) => secao)));

/** The message about filters that no item can ever pass; undefined if each may find something. */
export function semResultadoPor(filters: Filters<never>, asked: Asked): string | undefined {
  const misfits = Object.entries(filters).flatMap(([filtro, filter]) => {
    const sent = asked[filtro];
    const forma = filter.by === 'palavras' ? undefined : filter.forma;
    if (sent === undefined || forma === undefined || forma.isFit(sent)) return [];
    return [`Nada se acha com ${filtro}="${quoted(sent)}": o filtro espera ${forma.esperado}.`];
  });
  return misfits.length === 0 ? undefined : misfits.join(' ');
}

// Services

/** The place where the ISSQN of a service is due, in words. */
const INCIDENCIA: Readonly<Record<RegraIncidencia, string>> = {
  EP: 'Município do estabelecimento do prestador ou, na falta dele, do seu domicílio.',
  LP: 'Município do local da prestação (cLocPrestacao).',
  ET: 'Município do estabelecimento ou domicílio do tomador.',
  NI: 'Sem incidência de ISSQN.',
};

/** `publicada` false: the national table has no rule for the code, and the general rule of LC 116 applies (D-80). */
export type Incidencia = {
  readonly regra: RegraIncidencia;
  readonly descricao: string;
  readonly dispositivo_lc116: string | null;
  readonly publicada: boolean;
};

/** The place where the ISSQN of a service is due, in the form of the catalogs. */
export function incidenciaOf({ regra, dispositivoLC116, regraPublicada }: ServicoEmissivel): Incidencia {
  return {
    regra,
    descricao: INCIDENCIA[regra],
    dispositivo_lc116: dispositivoLC116 ?? null,
    publicada: regraPublicada,
  };
}

/** `01.01.01`. */
function codigoFormatado(codigo: string): string {
  return `${codigo.slice(0, 2)}.${codigo.slice(2, 4)}.${codigo.slice(4)}`;
}

function servicoItem(servico: ServicoEmissivel) {
  const { codigo, descricao, item, subitem, situacao, grupoObrigatorio } = servico;
  return {
    codigo,
    codigo_formatado: codigoFormatado(codigo),
    descricao,
    item,
    descricao_item: servicoOf(`${item}0000`)?.descricao ?? null,
    subitem,
    descricao_subitem: servicoOf(`${subitem.replace('.', '')}00`)?.descricao ?? null,
    situacao,
    incidencia: incidenciaOf(servico),
    grupo_obrigatorio: grupoObrigatorio ?? null,
    correlacoes: [...Map.groupBy(correlacoesOfServico(servico), ({ nbs }) => nbs)].map(([nbs, lines]) => ({
      nbs: nbs ?? null,
      descricao: (nbs === undefined ? lines[0]?.nota : nbsOf(nbs)?.descricao) ?? null,
      ibscbs: lines.map(combinacao),
    })),
  };
}

/** The annex is organised by subitem, except for item 99, where it names the code. */
function correlacoesOfServico({ codigo, subitem }: ServicoEmissivel): readonly Correlacao[] {
  return correlacoesOfSubitem(subitem).filter(({ cTribNac = codigo }) => cTribNac === codigo);
}

/** Null: the annex does not distinguish the two cases. */
function combinacao({ cIndOp, cClassTrib, psOnerosa, adqExterior }: Correlacao) {
  return {
    cIndOp: cIndOp ?? null,
    cClassTrib: cClassTrib ?? null,
    operacao_onerosa: psOnerosa ?? null,
    adquirente_no_exterior: adqExterior ?? null,
  };
}

function nbsItem({ codigo, codigoFormatado, codigoOficial, descricao, secao }: Nbs) {
  const capitulo = codigo.slice(0, CAPITULO_LENGTH);
  return {
    codigo,
    codigo_formatado: codigoFormatado ?? null,
    codigo_oficial: codigoOficial,
    descricao: descricao ?? null,
    secao: secao ?? null,
    capitulo,
    descricao_capitulo: nbsOf(capitulo)?.descricao ?? null,
    correlacoes: [...Map.groupBy(correlacoesOf(codigo), ({ subitem }) => subitem)].map(([subitem, lines]) => ({
      subitem,
      cTribNac: codesOf(subitem, lines),
      ibscbs: lines.map((line) => ({
        ...combinacao(line),
        local_da_operacao: (line.cIndOp && indicadorOf(line.cIndOp)?.localFornecimento) ?? null,
        classificacao: (line.cClassTrib && nomeDaClassificacao(line.cClassTrib)) ?? null,
      })),
    })),
  };
}

/** `1.15` of `1.1502.10.00`. */
const CAPITULO_LENGTH = 3;

const issuableBySubitem = once(() =>
  Map.groupBy(
    servicos().filter(({ emissivel }) => emissivel),
    ({ subitem }) => subitem,
  ),
);

/** The codes of a subitem that may be issued; if the annex names codes, only those. */
function codesOf(subitem: string, lines: readonly Correlacao[]): readonly string[] {
  const issuable: readonly Servico[] = issuableBySubitem().get(subitem) ?? [];
  return issuable
    .map(({ codigo }) => codigo)
    .filter((codigo) => lines.some(({ cTribNac = codigo }) => cTribNac === codigo));
}

function nomeDaClassificacao(cClassTrib: string): string | undefined {
  const classificacao = classificacaoOf(cClassTrib);
  return classificacao?.nome ?? classificacao?.descricao;
}

// Places and currencies

function municipioItem({ codigoIbge, nome, uf, fusoHorario }: Municipio) {
  return { codigo_ibge: codigoIbge, nome, uf, fuso_horario: fusoHorario };
}

function paisItem({ codigo, nome, aceitoEnderecoExterior, codigoBacen }: Pais) {
  return { codigo, nome, aceito_no_exterior: aceitoEnderecoExterior, codigo_bacen: codigoBacen ?? null };
}

function moedaItem({ codigo, sigla, nome, ativa, nota }: Moeda) {
  return { codigo, sigla, nome, ativa, observacao: nota ?? null };
}
