/** The notes of one CNPJ or CPF, for its holder: listed by their fields, a page at a time or all in one answer. */

import type { Municipio } from '../../base/book/municipios.ts';
import { type Audience, callerOf, type Presented, strangerTo } from '../../base/world/caller.ts';
import { momentOfNota } from '../../base/world/gather-facts.ts';
import type { Escopo } from '../../base/world/token.ts';
import type { World } from '../../base/world/world.ts';
import { documentoKind, whyNoDocumento } from '../../fiscal/chave.ts';
import { type Fault, quoted, type Refusal } from '../../fiscal/fault.ts';
import { spacedMoment } from '../../fiscal/moment.ts';
import { PARTES_DA_NOTA, type ParteDaNota } from '../../fiscal/mudanca.ts';
import { countNotasOf, type De, type NotaAchada, readLugar, searchNotasOf } from '../notas/buscar.ts';
import { NOMES_DE_FILTROS, type NomeDeFiltro } from '../notas/filtros.ts';
import { motivoSemIssqn, notaSemXml } from '../notas/queries.ts';

const DONO: Audience = {
  parte: 'documento pedido',
  recusa:
    'Listas e mudanças só se mostram ao dono do documento: envie um token em Authorization: Bearer (POST …/api/v1/token; na integração basta pedi-lo), ou o certificado na conexão.',
  comToken: true,
};

/** The document that the caller names, or else the caller's own. `campo`: the field that a refusal names. */
export async function documentoOf(
  world: World,
  municipio: Municipio,
  shown: Presented,
  asked: string | undefined,
  escopo: Escopo = 'consultar',
): Promise<string | Refusal> {
  const caller = await callerOf(world, municipio, shown, DONO, escopo);
  if ('faults' in caller) return caller;
  const own = caller.holder?.documento;
  const documento = asked === undefined || asked === '' ? own : asked.replace(/[\s./-]/g, '').toUpperCase();
  const mensagem = whyNoParty(documento);
  if (documento === undefined || mensagem !== undefined) {
    return { faults: [{ codigo: 'E0003', xpath: '', mensagem: mensagem!, campo: 'documento' }] };
  }
  return strangerTo([documento], caller, DONO) ?? documento;
}

/** A CNPJ is compared by its root: an unchecked number would let one token stand for endless branches. */
function whyNoParty(documento: string | undefined): string | undefined {
  if (documento === undefined) {
    return 'O certificado apresentado não diz de que CNPJ ou CPF é: escreva o documento no parâmetro documento.';
  }
  if (documentoKind(documento) === undefined)
    return 'O parâmetro documento não é um CNPJ (14 posições) nem um CPF (11).';
  const why = whyNoDocumento(documento);
  return why && `O parâmetro documento ${why}.`;
}

/** The fields have the names and the order of the public answer. */
export type NotaListada = ReturnType<typeof notaListada>;

function notaListada(row: NotaAchada, documento: string) {
  const at = (instant: Date): string => spacedMoment(momentOfNota(row.chave_acesso, instant.getTime()));
  return {
    ...notaSemXml(row, at),
    intermediario_cpf_cnpj: row.intermediario_cpf_cnpj,
    codigo_tributacao_nacional: row.servico,
    data_cancelamento: row.data_cancelamento && at(row.data_cancelamento),
    estado: row.estado,
    numero_protocolo: row.numero_protocolo,
    id_dps: row.id_dps,
    mensagem_retorno: row.mensagem_retorno,
    papeis: papeisOf(row, documento),
    motivo_sem_issqn: motivoSemIssqn(row),
  };
}

/** The columns of the list as a table, in the order of the answer. */
export const COLUNAS_DA_LISTA = [
  ...['id', 'numero', 'serie_dps', 'numero_dps', 'serie_dps_nacional', 'numero_dps_nacional', 'chave_acesso'],
  ...['identificador', 'status', 'versao', 'data_emissao', 'data_competencia', 'codigo_situacao_nfse'],
  ...['prestador_cpf_cnpj', 'prestador_razao_social', 'prestador_inscricao_municipal', 'tomador_cpf_cnpj'],
  ...['tomador_razao_social', 'valor_servico', 'valor_issqn', 'valor_base_calculo', 'aliquota_issqn'],
  ...['intermediario_cpf_cnpj', 'codigo_tributacao_nacional', 'data_cancelamento', 'estado', 'numero_protocolo'],
  ...['id_dps', 'mensagem_retorno', 'papeis', 'motivo_sem_issqn'],
] as readonly (keyof NotaListada)[];

/** A note as a row of the table. An unknown value has no type in a table, and is left out. */
export function toLinhaDaLista(nota: NotaListada) {
  return nota.motivo_sem_issqn === null ? nota : { ...nota, valor_issqn: null, aliquota_issqn: null };
}

/** The roles of a document in a note. */
export function papeisOf(
  nota: Readonly<Record<`${ParteDaNota}_cpf_cnpj`, string | null>>,
  documento: string,
): readonly ParteDaNota[] {
  return PARTES_DA_NOTA.filter((parte) => nota[`${parte}_cpf_cnpj`] === documento);
}

/** A search as its parameters give it: those of the console, with `texto` for the free text, and the role. */
export type ListaPedida = Readonly<Partial<Record<CampoDaLista, string>>>;
export type CampoDaLista = 'papel' | 'texto' | NomeDeFiltro;

export const CAMPOS_DA_LISTA: readonly CampoDaLista[] = ['papel', 'texto', ...NOMES_DE_FILTROS];

/** `total`: at most {@link CONTADAS_MAX}; `total_exato`: false when more notes exist. */
export type Contagem = { readonly total: number; readonly total_exato: boolean };

export type PaginaDaParte = {
  readonly notas: readonly NotaListada[];
  /** The place of the next page; null: this page is the last. */
  readonly cursor: string | null;
  readonly contagem: Contagem | null;
  readonly observacoes: readonly string[];
};

/** The count of notes stops here. */
export const CONTADAS_MAX = 10_000;

/** A page of the notes of a document, or all faults of the request. */
export async function listNotasOf(
  world: World,
  municipio: Municipio,
  documento: string,
  pedida: ListaPedida,
  {
    cursor,
    max,
    isCounted,
  }: { readonly cursor?: string | undefined; readonly max: number; readonly isCounted: boolean },
): Promise<PaginaDaParte | Refusal> {
  const papel = readPapel(pedida.papel);
  if (typeof papel === 'object') return papel;
  if (cursor && readLugar(cursor) === undefined) return refuseCursor(cursor);
  const { texto, papel: _papel, ...rest } = pedida;
  const busca = { ...rest, q: texto ?? '' };
  const de: De = { documento, papel };
  const page = await searchNotasOf(world, municipio, busca, { de, depois: cursor, max });
  if ('problems' in page) return problemFaults(page.problems);
  const counted = isCounted ? await countNotasOf(world, municipio, busca, { de, max: CONTADAS_MAX }) : undefined;
  return {
    notas: page.notas.map((nota) => notaListada(nota, documento)),
    cursor: page.seguinte ?? null,
    contagem:
      counted === undefined || 'problems' in counted ? null : { total: counted.notas, total_exato: counted.isWhole },
    observacoes: page.procuradoAte === undefined ? page.avisos : [...page.avisos, CUT],
  };
}

const CUT =
  'Esta página não está cheia, e a lista continua: muitas notas foram olhadas para achar estas. Peça a seguinte com cursor.';

/** Continues a list: `next` reads the page at a cursor; `mayGoOn` says whether the caller may still see it. */
export type Onward<Page> = {
  readonly next: (cursor: string) => Promise<Page | Refusal>;
  readonly mayGoOn: () => Promise<boolean>;
};

/**
 * Every item from a page on, as the pages are read. A list that cannot be read to its end is aborted, so that no client takes it for the
 * whole.
 */
export async function* eachOfPages<Page extends { readonly cursor: string | null }, Item>(
  first: Page,
  itemsOf: (page: Page) => Iterable<Item>,
  { next, mayGoOn }: Onward<Page>,
): AsyncGenerator<Item> {
  for (let page = first; ; ) {
    yield* itemsOf(page);
    if (page.cursor === null) return;
    if (!(await mayGoOn())) throw new Error('quem pediu a lista já não pode vê-la');
    const read = await next(page.cursor);
    if ('faults' in read) throw new Error(read.faults[0].mensagem);
    page = read;
  }
}

/** Notes per page when all of them are requested. */
export const STREAM_PAGE = 500;

export function readPapel(text: string | undefined): ParteDaNota | undefined | Refusal {
  if (text === undefined || text === '') return undefined;
  const papel = PARTES_DA_NOTA.find((one) => one === text);
  return papel ?? refuseValue('papel', text, `um de: ${PARTES_DA_NOTA.join(', ')}`);
}

function problemFaults(problems: Readonly<Record<string, string>>): Refusal {
  const faults = Object.entries(problems).map(
    ([campo, mensagem]): Fault => ({ codigo: 'E0002', xpath: '', mensagem, campo: campo === 'q' ? 'texto' : campo }),
  );
  return { faults: faults as [Fault, ...Fault[]] };
}

/** Refuses a cursor that no answer gave. */
export function refuseCursor(sent: string): Refusal {
  return refuseValue('cursor', sent, 'o cursor de uma resposta a esta mesma pergunta');
}

export function refuseValue(campo: string, sent: string, esperado: string): Refusal {
  const encontrado = quoted(sent);
  const mensagem = `O parâmetro ${campo} tem de ser ${esperado}, e veio "${encontrado}".`;
  return { faults: [{ codigo: 'E0002', xpath: '', mensagem, campo, encontrado, esperado }] };
}
