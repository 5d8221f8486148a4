/**
 * The routes of the catalogs: their filters, their items, and pages that are serialized once. A page of a national list depends on the
 * query alone. Its text is therefore cached under the query as it was sent. A page of the municipal list is built each time, from items
 * that are serialized once.
 */

import { tagOf } from '../../base/http/caching.ts';
import { findStrangeParams, numberIn, refuseParams } from '../../base/http/params.ts';
import type { Call, Refused, Written } from '../../base/http/route.ts';
import { defineRoute, type Route } from '../../base/http/route.ts';
import { EVENTO_SIGNATURE_HEADER } from '../../base/world/sent-documents.ts';
import { CATALOGOS_NACIONAIS, FILTROS, type NomeDeCatalogo, semResultadoPor } from '../../fiscal/catalogs/itens.ts';
import { type Asked, onPage, type Pagina, paginacaoOf } from '../../fiscal/catalogs/search.ts';
import { once } from '../../fiscal/catalogs/table.ts';
import { type Fault, quoted } from '../../fiscal/fault.ts';
import { exemploDe, TIPOS_EVENTO, type TipoEvento } from '../../fiscal/tipos-evento.ts';
import { CATALOGO } from '../../published/acesso.ts';
import { field, orAbsent, orNull, type ShapeName, STATUS } from '../../published/openapi/field.ts';
import { ERROS_PATH } from '../../published/paths.ts';
import { tipoNamed } from '../eventos/queries.ts';
import { FILTROS_MUNICIPAIS, listaMunicipal } from './catalogos.ts';

/** Specification, "Limits". */
export const POR_PAGINA = 25;
export const POR_PAGINA_MAX = 100;
export const FRESH_S = 3_600;
/** Nine digits: more pages than any list has, and still an exact number. */
const PAGINA_MAX = 999_999_999;

/** Cache header of pages that are the same at every address. */
const SHARED = `public, max-age=${FRESH_S}`;
/** Cache header of pages that contain the requested address: only the client may cache them. */
const OWN = `private, max-age=${FRESH_S}`;

export type Catalogo = {
  readonly nome: NomeDeCatalogo | 'codigos_tributacao_municipal';
  readonly summary: string;
  /** The shape of its items. */
  readonly item: ShapeName;
  /** The meaning of each filter. */
  readonly filtros: Readonly<Record<string, string>>;
  readonly handle: (call: Call) => Promise<Refused | Written>;
};

const SEM_ACENTO = 'sem distinguir maiúsculas nem acentos; todas as palavras, em qualquer ordem';

const CORRENTES = 'Também palavras correntes que a lista nacional não usa (software, faxina, contador).';

const DO_MUNICIPIO = {
  nome: 'codigos_tributacao_municipal',
  summary:
    'A lista de serviços do município, hoje e daqui em diante: os valores de cServ/cTribMun, com a alíquota registrada.',
  item: 'ServicoMunicipal',
  filtros: {
    descricao: `Palavras da descrição, ${SEM_ACENTO}. ${CORRENTES}`,
    cnae_codigo: 'Código CNAE inteiro, com ou sem pontuação.',
  } satisfies Readonly<Record<(typeof FILTROS_MUNICIPAIS)[number], string>>,
  handle: askMunicipal,
} as const;

type Nacional<Nome extends NomeDeCatalogo> = Pick<Catalogo, 'summary' | 'item'> & {
  readonly filtros: Readonly<Record<(typeof FILTROS)[Nome][number], string>>;
};

const NACIONAIS: { readonly [Nome in NomeDeCatalogo]: Nacional<Nome> } = {
  codigos_tributacao_nacional: {
    summary:
      'A lista nacional de serviços: os valores de cTribNac que se emitem, onde o ISSQN incide, o grupo que exigem e as correlações com NBS, cIndOp e cClassTrib.',
    item: 'ServicoNacional',
    filtros: {
      codigo: 'O código ou o seu começo, com ou sem pontuação: 010101, 01.01.01, 0101, 1.01.',
      descricao: `Palavras da descrição, ${SEM_ACENTO}. ${CORRENTES}`,
      item: 'Item ou subitem da LC 116: 1, 01, 1.05.',
    },
  },
  nbs: {
    summary: 'A NBS 2.0: os valores de cNBS, com os serviços, cIndOp e cClassTrib que lhes correspondem.',
    item: 'Nbs',
    filtros: {
      codigo: 'O código ou o seu começo, com ou sem pontuação: 115021000, 11.50.21.00-0, 1.1502.10.00, 115.',
      descricao: `Palavras da descrição, ${SEM_ACENTO}.`,
      secao: 'Seção da NBS, de I a V.',
    },
  },
  municipios: {
    summary: 'Os municípios e o Distrito Federal, pelo código IBGE.',
    item: 'MunicipioIbge',
    filtros: {
      codigo_ibge: 'O código IBGE inteiro, 7 dígitos.',
      uf: 'Sigla do estado, em maiúsculas ou minúsculas.',
      nome: `Palavras do nome, ${SEM_ACENTO}.`,
    },
  },
  paises: {
    summary: 'Os países, pelo código ISO 3166-1 de duas letras: os valores de cPais.',
    item: 'Pais',
    filtros: { codigo: 'O código ISO 3166-1, duas letras.', nome: `Palavras do nome, ${SEM_ACENTO}.` },
  },
  moedas: {
    summary: 'As moedas da tabela do Banco Central: os valores de tpMoeda, que não são os da ISO 4217.',
    item: 'Moeda',
    filtros: { codigo: 'O código inteiro, 3 dígitos: 220.', sigla: 'A sigla inteira: USD.' },
  },
};

/** The order is that of the specification's table. */
export const CATALOGOS: readonly Catalogo[] = [
  DO_MUNICIPIO,
  ...Object.entries(NACIONAIS).map(([name, rest]): Catalogo => {
    const nome = name as NomeDeCatalogo;
    return { nome, ...rest, handle: (call) => askNacional(nome, call) };
  }),
];

/** The parameters of a paged catalog besides its filters. */
export const PAGINA_PARAMS = {
  page: 'Página, a partir de 1; sem ele, a primeira.',
  per_page: `Itens por página, de 1 a ${POR_PAGINA_MAX}; sem ele, ${POR_PAGINA}.`,
} as const;

export const PAGINACAO_FIELD = field.shape(
  'Paginacao',
  'pagina_atual, por_pagina, total de itens encontrados e total_paginas.',
);

// Cached pages

/**
 * The cache has two generations. The younger has the pages that were requested since it began; when it is full, the elder one is dropped
 * whole. This is cheaper than a record of each page's last request.
 */
let younger = new Map<string, Written>();
let elder: ReadonlyMap<string, Written> = new Map();
let youngerBytes = 0;
/** Size of one generation: about a hundred pages of the longest items, or a thousand of the shortest. */
const GENERATION_MAX_BYTES = 8 * 1024 * 1024;
/** Memory of an entry besides its bytes and its query. */
const ENTRY_BYTES = 512;

function recall(question: string): Written | undefined {
  const young = younger.get(question);
  if (young !== undefined) return young;
  const old = elder.get(question);
  return old && remember(question, old);
}

function remember(question: string, written: Written): Written {
  younger.set(question, written);
  youngerBytes += written.written.bytes.length + 2 * question.length + ENTRY_BYTES;
  if (youngerBytes > GENERATION_MAX_BYTES) {
    elder = younger;
    younger = new Map();
    youngerBytes = 0;
  }
  return written;
}

function writePage(json: string, keeping: string): Written {
  const bytes = Buffer.from(json);
  return { written: { bytes, tag: tagOf(bytes) }, keeping };
}

// National lists

/** The JSON text of each list's items. */
const TEXTS: Readonly<Record<string, () => readonly string[]>> = Object.fromEntries(
  Object.entries(CATALOGOS_NACIONAIS).map(([nome, catalogo]) => [
    nome,
    once(() => catalogo().itens.map((item) => JSON.stringify(item))),
  ]),
);

async function askNacional(nome: NomeDeCatalogo, call: Call): Promise<Refused | Written> {
  const question = `${nome}${call.search}`;
  const known = recall(question);
  if (known !== undefined) return known;
  const asked = readQuery(call.search, FILTROS[nome]);
  if ('refusal' in asked) return asked;
  const items = TEXTS[nome]!();
  const found = CATALOGOS_NACIONAIS[nome]().search(asked.filtros);
  const page = onPage(found, asked.pagina).map((place) => items[place]);
  const paginacao = JSON.stringify(paginacaoOf(asked.pagina, found.length));
  const misfit = semResultadoPor(CATALOGOS_NACIONAIS[nome]().filters, asked.filtros);
  const observacao = misfit === undefined ? '' : `,"observacao":${JSON.stringify(misfit)}`;
  const json = `{"status":"OK","itens":[${page.join(',')}],"paginacao":${paginacao}${observacao}}`;
  return remember(question, writePage(json, SHARED));
}

// The municipal list

/** The JSON text of an item, for as long as the item is cached. */
const municipalTexts = new WeakMap<object, string>();

function textOf(item: object): string {
  let text = municipalTexts.get(item);
  if (text === undefined) {
    text = JSON.stringify(item);
    municipalTexts.set(item, text);
  }
  return text;
}

async function askMunicipal({ world, municipio, search }: Call): Promise<Refused | Written> {
  const asked = readQuery(search, FILTROS_MUNICIPAIS);
  if ('refusal' in asked) return asked;
  const { itens, paginacao, observacao } = await listaMunicipal(world, municipio, asked.filtros, asked.pagina);
  const rest = JSON.stringify({ paginacao, observacao }).slice(1);
  return writePage(`{"status":"OK","itens":[${itens.map(textOf).join(',')}],${rest}`, SHARED);
}

// The query

type Question = { readonly filtros: Asked; readonly pagina: Pagina };

/** Reads the query, or reports all faults of its parameters in the order in which they were sent. An empty filter counts as absent. */
export function readQuery(search: string, filters: readonly string[]): Question | Refused {
  const query = new URLSearchParams(search);
  const names = [...filters, ...Object.keys(PAGINA_PARAMS)];
  const faults = findStrangeParams(query, names);
  const filtros: Record<string, string> = {};
  for (const name of filters) {
    const value = query.get(name)?.trim() ?? '';
    if (value !== '') filtros[name] = value;
  }
  const pagina = numberIn(query.get('page'), PAGINA_MAX) ?? 1;
  const porPagina = numberIn(query.get('per_page'), POR_PAGINA_MAX) ?? POR_PAGINA;
  if (pagina === 'outside') faults.push(refuseNumber('page', query, PAGINA_MAX));
  if (porPagina === 'outside') faults.push(refuseNumber('per_page', query, POR_PAGINA_MAX));
  if (faults.length > 0) return refuseParams(faults);
  return { filtros, pagina: { pagina: pagina as number, porPagina: porPagina as number } };
}

function refuseNumber(campo: string, query: URLSearchParams, max: number): Fault {
  const esperado = max === PAGINA_MAX ? 'número inteiro a partir de 1' : `número inteiro de 1 a ${max}`;
  const sent = quoted(query.get(campo) ?? '');
  const mensagem = `O parâmetro ${campo} tem de ser um ${esperado}, e veio "${sent}".`;
  return { codigo: 'E0002', xpath: '', mensagem, encontrado: sent, esperado, campo };
}

// Events

const MOTIVOS_FILTROS = {
  tipo_evento: 'Só este tipo: o nome, como cancelamento, ou o código nacional.',
} as const;

export const MOTIVOS = {
  summary:
    'Os tipos de evento: campos obrigatórios, opções de cada campo, endereço e um exemplo de requisição. Não tem páginas.',
  query: MOTIVOS_FILTROS,
  handle: askMotivos,
} as const;

async function askMotivos(call: Call): Promise<Refused | Written> {
  const { municipio, site, search } = call;
  const base = `${site}/${municipio.tenant}`;
  const question = `motivos_evento ${base} ${search}`;
  const known = recall(question);
  if (known !== undefined) return known;
  const params = new URLSearchParams(search);
  const faults = findStrangeParams(params, Object.keys(MOTIVOS_FILTROS));
  if (faults.length > 0) return refuseParams(faults);
  const name = params.get('tipo_evento')?.trim() ?? '';
  const tipo = name === '' ? undefined : tipoNamed(name);
  if (name !== '' && tipo === undefined) return refuseUnknownTipo(name);
  const tipos: readonly TipoEvento[] = tipo === undefined ? TIPOS_EVENTO : [tipo];
  const itens = tipos.map((one) => motivoItem(one, site, base));
  return remember(question, writePage(JSON.stringify({ status: 'OK', itens }), OWN));
}

function refuseUnknownTipo(name: string): Refused {
  const shown = quoted(name);
  const mensagem = `Não há o tipo de evento "${shown}". Os nomes que valem estão em valores_validos.`;
  return {
    refusal: { faults: [{ codigo: 'E601', xpath: '', mensagem, encontrado: shown }] },
    campo: 'tipo_evento',
    beside: { valores_validos: TIPOS_EVENTO.map(({ slug }) => slug) },
  };
}

export type MotivoItem = ReturnType<typeof motivoItem>;

/** `campos_obrigatorios` are the fields that every request of the type needs. */
function motivoItem(tipo: TipoEvento, site: string, base: string) {
  const { slug, codigo, descricao, autor, porOficio, campos } = tipo;
  return {
    tipo_evento: slug,
    codigo_tipo_evento: codigo,
    descricao,
    aceito_neste_canal: !porOficio,
    observacao: porOficio
      ? 'Só a prefeitura registra este tipo; enviado pelo contribuinte, é recusado com E9016.'
      : null,
    autor_inferido: autor ?? null,
    campos_obrigatorios: ['tipo_evento', ...campos.flatMap(({ nome, obrigatorio }) => (obrigatorio ? [nome] : []))],
    campos: campos.map(({ nome, obrigatorio, obrigatorioCom, sobre, elemento }) => ({
      nome,
      elemento,
      obrigatorio,
      obrigatorio_com: obrigatorioCom ?? null,
      descricao: sobre,
    })),
    enums: Object.fromEntries(campos.flatMap(({ nome, opcoes }) => (opcoes === undefined ? [] : [[nome, opcoes]]))),
    endpoint: porOficio
      ? null
      : {
          metodo: 'POST',
          url_por_chave: `${base}/api/v1/nfse/{chave_acesso}/eventos`,
          url_por_protocolo: `${base}/api/v1/nfse/protocolo/{numero_protocolo}/eventos`,
          content_type: 'application/json',
          cabecalho_da_assinatura: EVENTO_SIGNATURE_HEADER,
        },
    exemplo_payload: exemploDe(tipo),
    doc_url: `${site}${ERROS_PATH}#eventos`,
  };
}

const SEM_LISTA = orNull(
  field.text(
    'De um município sem lista própria, o que vale em lugar dela; de um filtro de valor que nenhum item pode ter, a forma que ele espera; senão null.',
  ),
);

const SEM_RESULTADO = orAbsent(
  field.text('Só quando um filtro tem um valor que nenhum item pode ter: a forma que ele espera.'),
);

/** Headers of an answer that may be cached. */
const KEPT_HEADERS = ['Cache-Control', 'ETag'];

export const ROTAS_DE_CATALOGOS: readonly Route[] = [
  ...CATALOGOS.map(({ nome, summary, item, filtros, handle }) =>
    defineRoute({
      id: `catalogo_${nome}`,
      method: 'GET',
      path: `/api/v1/catalogo/${nome}`,
      summary,
      query: { ...filtros, ...PAGINA_PARAMS },
      status: 200,
      fields: {
        status: STATUS,
        itens: field.shape(`${item}[]` as const, 'Os itens da página.'),
        paginacao: PAGINACAO_FIELD,
        observacao: nome === 'codigos_tributacao_municipal' ? SEM_LISTA : SEM_RESULTADO,
      },
      headers: KEPT_HEADERS,
      codes: ['E0002', 'E003'],
      statuses: { E0002: [400] },
      isPublic: true,
      acesso: CATALOGO,
      handle,
    }),
  ),
  defineRoute({
    id: 'catalogo_motivos_evento',
    method: 'GET',
    path: '/api/v1/catalogo/motivos_evento',
    summary: MOTIVOS.summary,
    query: MOTIVOS.query,
    status: 200,
    fields: { status: STATUS, itens: field.shape('MotivoEvento[]', 'Um por tipo de evento.') },
    headers: KEPT_HEADERS,
    codes: ['E003', 'E601'],
    isPublic: true,
    acesso: CATALOGO,
    handle: MOTIVOS.handle,
  }),
];
