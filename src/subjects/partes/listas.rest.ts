/** The addresses by which a party reads its own data: its notes, its events, and the changes of either. */

import { askerOf, ESPERA_MAX_S, readEspera } from '../../base/http/espera.ts';
import { findStrangeParams, numberIn, refuseParams } from '../../base/http/params.ts';
import { refuseUnavailable } from '../../base/http/refusals.ts';
import type { Call, Refused } from '../../base/http/route.ts';
import { preferredType, streamed } from '../../base/http/streams.ts';
import { type StreamType, writeTable } from '../../base/world/escrever-tabela.ts';
import type { Fault, Refusal } from '../../fiscal/fault.ts';
import { PARTES_DA_NOTA, TIPOS_MUDANCA } from '../../fiscal/mudanca.ts';
import { NOTA_ESTADOS } from '../../fiscal/nota.ts';
import { type FieldsOf, field, orNull } from '../../published/openapi/field.ts';
import {
  DESDE_AGORA,
  type EventoMudado,
  keyOfEspera,
  listMudancas,
  type MudancaPublica,
  type PaginaDeMudancas,
  readDesde,
} from '../avisos/mudancas.ts';
import { EVENTO_FIELDS } from '../eventos/eventos.rest.ts';
import { NOTA_SEM_XML } from '../notas/fields.rest.ts';
import { FILTROS, NOMES_DE_FILTROS, type NomeDeFiltro } from '../notas/filtros.ts';
import { CAMPOS_DOS_EVENTOS, listEventosOf, type PaginaDeEventos } from './eventos.ts';
import {
  CAMPOS_DA_LISTA,
  type CampoDaLista,
  COLUNAS_DA_LISTA,
  CONTADAS_MAX,
  documentoOf,
  eachOfPages,
  type ListaPedida,
  listNotasOf,
  type NotaListada,
  type PaginaDaParte,
  refuseValue,
  STREAM_PAGE,
  toLinhaDaLista,
} from './notas.ts';

export const DOCUMENTO_PARAM = {
  documento:
    'CNPJ ou CPF de quem pergunta, com ou sem pontuação; sem ele, o do token ou do certificado. O CNPJ se compara pela raiz: a matriz pergunta pelas filiais.',
} as const;

export const PAGE_PARAMS = {
  cursor: 'O cursor da resposta anterior: continua depois dela.',
  limite: 'Itens por página, de 1 a 100; sem ele, 25.',
} as const;

const CONTAR_PARAMS = {
  contar: `sim: contagem traz o total, contado até ${CONTADAS_MAX}; nao, como sem ele: não conta.`,
  ...PAGE_PARAMS,
} as const;

const PAPEL_PARAM = {
  papel: `O que o documento é na nota: ${PARTES_DA_NOTA.join(', ')}; sem ele, qualquer um.`,
} as const;

const FILTRO_PARAMS = Object.fromEntries(NOMES_DE_FILTROS.map((name) => [name, FILTROS[name].api])) as Readonly<
  Record<NomeDeFiltro, string>
>;

export const LISTA_PARAMS = {
  ...DOCUMENTO_PARAM,
  ...PAPEL_PARAM,
  texto: 'Chave, protocolo, Id da DPS, CNPJ, CPF, número da nota, ou palavras do nome de outra parte.',
  ...FILTRO_PARAMS,
  ...CONTAR_PARAMS,
} as const satisfies Readonly<Record<CampoDaLista, string>>;

export const EVENTOS_PARAMS = {
  ...DOCUMENTO_PARAM,
  ...PAPEL_PARAM,
  tipo_evento: 'Só este tipo: o nome, como cancelamento, ou o código nacional.',
  estado: 'Estado do evento, como status_evento.',
  de: 'Primeiro dia do registro, AAAA-MM-DD.',
  ate: 'Último dia do registro, AAAA-MM-DD.',
  ordem: FILTROS.ordem.api,
  ...CONTAR_PARAMS,
} as const;

export const MUDANCAS_MAX = 10_000;

export const MUDANCAS_PARAMS = {
  ...DOCUMENTO_PARAM,
  desde: `O cursor guardado da última resposta; ${DESDE_AGORA}: só o que vier depois; sem ele, tudo o que ainda se conta.`,
  espera: `Segundos, até ${ESPERA_MAX_S}, que a resposta espera pela primeira mudança quando ainda não há nenhuma; sem ele, nenhum.`,
  limite: `Mudanças por resposta, de 1 a ${MUDANCAS_MAX}; sem ele, 100.`,
} as const;

export const CURSOR_FIELD = orNull(field.text('Para pedir a página seguinte; null quando não há.'));

const CONTAGEM_FIELD = orNull(field.shape('Contagem', 'Quantos itens há, se contar=sim; senão null.'));

export const LIMITE_MAX = 100;
export const LIMITE_USUAL = 25;

/** The document of the caller, and the parameters. */
type Asked = { readonly documento: string; readonly query: URLSearchParams; readonly limite: number };

async function readAsked(
  { world, municipio, search, shown }: Call,
  names: readonly string[],
  { max, usual }: { readonly max: number; readonly usual: number },
): Promise<Asked | Refused> {
  const query = new URLSearchParams(search);
  const faults = findStrangeParams(query, names, 'Este endereço');
  const limite = numberIn(query.get('limite'), max) ?? usual;
  if (limite === 'outside') {
    faults.push(...refuseValue('limite', query.get('limite')!, `um número inteiro de 1 a ${max}`).faults);
  }
  if (faults.length > 0) return refuseParams(faults);
  const documento = await documentoOf(world, municipio, shown(), query.get('documento') ?? undefined);
  if (typeof documento === 'object') return { refusal: documento, isMiss: true };
  return { documento, query, limite: limite as number };
}

function pick<Name extends string>(query: URLSearchParams, names: readonly Name[]): Partial<Record<Name, string>> {
  return Object.fromEntries(names.map((name) => [name, query.get(name) ?? ''])) as Partial<Record<Name, string>>;
}

/** A requested list: one page as JSON, or all pages as a stream. */
type ListaAsked = Asked & { readonly type: StreamType | undefined; readonly isCounted: boolean };

async function readLista(call: Call, names: readonly string[]): Promise<ListaAsked | Refused> {
  const asked = await readAsked(call, names, { max: LIMITE_MAX, usual: LIMITE_USUAL });
  if ('refusal' in asked) return asked;
  const contar = asked.query.get('contar') ?? '';
  const isCounted = CONTAR.get(contar);
  if (isCounted === undefined) {
    return { refusal: refuseValue('contar', contar, `um de: ${[...CONTAR.keys()].slice(1).join(', ')}`), status: 400 };
  }
  const type = preferredType(call.headers);
  return { ...asked, type, isCounted, limite: type === undefined ? asked.limite : STREAM_PAGE };
}

const CONTAR: ReadonlyMap<string, boolean> = new Map([
  ['', false],
  ['sim', true],
  ['nao', false],
]);

/** A page, or the page and all that follow. `read`: reads the page at a cursor. */
async function answerLista<Page extends { readonly cursor: string | null }>(
  call: Call,
  { type, documento, query, isCounted }: ListaAsked,
  {
    nome,
    columns,
    itemsOf,
    read,
  }: {
    readonly nome: string;
    readonly columns: readonly string[];
    readonly itemsOf: (page: Page) => readonly object[];
    readonly read: (at: {
      readonly cursor: string | undefined;
      readonly isCounted: boolean;
    }) => Promise<Page | Refusal>;
  },
) {
  const page = await read({ cursor: query.get('cursor') ?? undefined, isCounted });
  if ('faults' in page) return { refusal: page, status: 400 };
  if (type === undefined) return { body: { status: 'OK', ...page } };
  const onward = {
    next: (cursor: string) => read({ cursor, isCounted: false }),
    mayGoOn: async () => typeof (await documentoOf(call.world, call.municipio, call.shown(), documento)) === 'string',
  };
  return streamed(type, writeTable(type, columns, eachOfPages(page, itemsOf, onward)), nome);
}

export async function listNotas(call: Call) {
  const asked = await readLista(call, Object.keys(LISTA_PARAMS));
  if ('refusal' in asked) return asked;
  const { documento, query, limite: max } = asked;
  const pedida: ListaPedida = pick(query, CAMPOS_DA_LISTA);
  return answerLista<PaginaDaParte>(call, asked, {
    nome: 'notas',
    columns: COLUNAS_DA_LISTA,
    itemsOf: ({ notas }) => (asked.type === 'text/csv' ? notas.map(toLinhaDaLista) : notas),
    read: (at) => listNotasOf(call.world, call.municipio, documento, pedida, { ...at, max }),
  });
}

export async function listEventosDaParte(call: Call) {
  const asked = await readLista(call, Object.keys(EVENTOS_PARAMS));
  if ('refusal' in asked) return asked;
  const { documento, query, limite: max } = asked;
  const pedidos = pick(query, CAMPOS_DOS_EVENTOS);
  return answerLista<PaginaDeEventos>(call, asked, {
    nome: 'eventos',
    columns: Object.keys(EVENTO_FIELDS),
    itemsOf: ({ eventos }) => eventos,
    read: async (at) => {
      const page = await listEventosOf(call.world, call.municipio, documento, pedidos, { ...at, max });
      if ('faults' in page) return page;
      return { ...page, eventos: page.eventos.map((evento) => ({ ...evento, status: 'OK' })) };
    },
  });
}

/** An older process runs beside a newer one during an update of the service. */
const NEWER =
  'A próxima mudança foi gravada por uma versão mais nova do serviço, que este processo ainda não é: ele está em atualização, e o seu cursor continua bom.';
const NEWER_WAIT_S = 5;

export async function followMudancas(call: Call) {
  const asked = await readAsked(call, Object.keys(MUDANCAS_PARAMS), { max: MUDANCAS_MAX, usual: 100 });
  if ('refusal' in asked) return asked;
  const { world, municipio, waits, headers } = call;
  const { documento, query, limite } = asked;
  const ms = readEspera(query);
  if (typeof ms === 'object') return refuseParams([ms satisfies Fault]);
  const place = await readDesde(world, municipio, query.get('desde') ?? undefined);
  if ('faults' in place) return { refusal: place, status: 400 };
  let page = await listMudancas(world, municipio, documento, place, limite);
  if (page === 'newer') return refuseUnavailable(NEWER, NEWER_WAIT_S);
  if (page.mudancas.length === 0 && ms > 0) {
    const key = keyOfEspera(documento, page.lugar);
    const hasChanged = await waits.mudancas.wait(municipio, key, { ms, ...askerOf(call, documento) });
    if (hasChanged) {
      const still = await documentoOf(world, municipio, call.shown(), documento);
      if (typeof still === 'object') return { refusal: still, isMiss: true };
      page = await listMudancas(world, municipio, documento, page.lugar, limite);
      if (page === 'newer') return refuseUnavailable(NEWER, NEWER_WAIT_S);
    }
  }
  const { mudancas, cursor, mais } = page;
  const type = preferredType(headers, ['application/x-ndjson']);
  if (type === undefined) return { body: { status: 'OK', mudancas, cursor, mais } };
  return streamed(type, writeTable(type, [], mudancas), 'mudancas', { 'X-Cursor': cursor, 'X-Mais': String(mais) });
}

const NOTA_LISTADA = {
  ...NOTA_SEM_XML,
  intermediario_cpf_cnpj: orNull(field.text('CNPJ ou CPF do intermediário; null quando não há.')),
  codigo_tributacao_nacional: orNull(field.text('Código do serviço na lista nacional.')),
  data_cancelamento: orNull(field.spacedMoment('Quando foi cancelada; null enquanto não foi.')),
  estado: field.choice(Object.keys(NOTA_ESTADOS), 'Estado da nota, como em /docs/estados.'),
  numero_protocolo: field.text('Número de protocolo da nota.'),
  id_dps: field.text('Identificador da DPS.'),
  mensagem_retorno: orNull(field.text('O que o ADN disse, ou por que a nota espera; null quando não há o que dizer.')),
  papeis: field.texts('O que o documento é nesta nota.'),
  motivo_sem_issqn: orNull(
    field.text(
      'Por que a nota tem base e não tem ISSQN, se é assim: foi emitida sem alíquota; valor_issqn e aliquota_issqn são aí 0.00, e vazios no CSV. Null nas demais.',
    ),
  ),
} as const satisfies FieldsOf<NotaListada>;

export const LISTA_SHAPES = {
  NotaListada: NOTA_LISTADA,
  Contagem: {
    total: field.integer(`Quantos itens há, contados até ${CONTADAS_MAX}.`),
    total_exato: field.flag('false: pode haver mais do que os contados.'),
  } satisfies FieldsOf<NonNullable<PaginaDaParte['contagem']>>,
  Mudanca: {
    id: field.text(
      'Identificador da mudança, o mesmo sempre que é contada: com o município na frente, também o webhook-id de um aviso.',
    ),
    tipo: field.choice(TIPOS_MUDANCA, 'De que é, e a que estado chegou.'),
    em: field.moment('Quando mudou.'),
    cursor: orNull(
      field.text(
        'O lugar de quem já tem esta mudança, para desde; num aviso ao próprio município, o do prestador da nota. Null num aviso a ele de antes desta versão.',
      ),
    ),
    papeis: field.texts('O que o documento é na nota.'),
    chave_acesso: field.accessKey('Chave de acesso da NFS-e.'),
    numero_protocolo: field.text('Número de protocolo da nota.'),
    id_dps: field.text('Identificador da DPS.'),
    numero: field.text('Número sequencial da NFS-e.'),
    status: field.text('O status da nota nesta mudança: o mesmo sempre que ela é contada.'),
    evento: orNull(field.shape('EventoMudado', 'O evento que mudou; null quando quem mudou foi a nota.')),
    mensagem: orNull(
      field.text('O que se disse da nota quando chegou a este estado; null quando não houve o que dizer.'),
    ),
  } satisfies FieldsOf<MudancaPublica>,
  EventoMudado: {
    id_evento: field.integer('Identificador do evento neste serviço.'),
    tipo_evento: field.text('Nome do tipo.'),
    codigo_tipo_evento: field.text('Código nacional do tipo.'),
    numero_sequencial: field.integer('Sequência entre os do seu tipo na nota.'),
    status_evento: field.text('O estado a que chegou.'),
  } satisfies FieldsOf<EventoMudado>,
} as const;

export const LISTA_FIELDS = {
  notas: field.shape('NotaListada[]', 'As notas da página, sem o XML.'),
  cursor: CURSOR_FIELD,
  contagem: CONTAGEM_FIELD,
  observacoes: field.texts('O que convém saber da busca; quase sempre vazio.'),
} as const satisfies FieldsOf<PaginaDaParte>;

export const EVENTOS_DA_PARTE_FIELDS = {
  eventos: field.shape('Evento[]', 'Os eventos da página.'),
  cursor: CURSOR_FIELD,
  contagem: CONTAGEM_FIELD,
} as const satisfies FieldsOf<PaginaDeEventos>;

export const MUDANCAS_FIELDS = {
  mudancas: field.shape('Mudanca[]', 'As mudanças, na ordem em que se contam a todos.'),
  cursor: field.text('O lugar depois delas: guarde-o, e peça desde ele na próxima vez.'),
  mais: field.flag('true quando já há mais a contar.'),
} as const satisfies FieldsOf<PaginaDeMudancas>;
