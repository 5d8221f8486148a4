/** Searches notes by any known detail: a key, a document, a name, a period, a value. */

import type { Ref } from '../../base/book/fila.ts';
import type { Municipio } from '../../base/book/municipios.ts';
import { municipioNamed } from '../../base/world/municipios.ts';
import type { World } from '../../base/world/world.ts';
import { zoneOf } from '../../fiscal/catalogs/catalogs.ts';
import { momentIn } from '../../fiscal/moment.ts';
import type { ParteDaNota } from '../../fiscal/mudanca.ts';
import type { Lugar, NotaAchada, NotasContadas, NotasProcuradas } from './buscar.rows.ts';
import { NOMES_DE_FILTROS, type NomeDeFiltro, readFiltros } from './filtros.ts';
import { type Leitura, type Livre, type Nomeadas, readLivre } from './livre.ts';
import { DOCUMENTOS_MAX } from './nomes.rows.ts';

export type { NotaAchada, NotasContadas } from './buscar.rows.ts';

type BuscaWorld = Pick<World, 'store' | 'now'>;
type DoMunicipio = Pick<Municipio, 'tenant' | 'codigoIbge' | 'relogioMs'>;

/** `q` is free text: a key, a protocol, the Id of a DPS, a CNPJ, a CPF, a number, or words of a name. */
export type CampoDaBusca = 'q' | NomeDeFiltro;

export const CAMPOS_DA_BUSCA: readonly CampoDaBusca[] = ['q', ...NOMES_DE_FILTROS];

/** Fields of an address that name a place in the result: the page after a note, or the one before it. */
export const CAMPOS_DO_LUGAR = ['depois', 'antes'] as const;

/** A search as the user wrote it; an empty text sets no criterion. */
export type BuscaEscrita = Readonly<Record<CampoDaBusca, string>>;

export type ProblemasDaBusca = Readonly<Partial<Record<CampoDaBusca, string>>>;

/** Notes of a page, with remarks about the search. */
export type PaginaDeNotas = {
  readonly notas: readonly NotaAchada[];
  /** Start of the next page; undefined: the search is complete. */
  readonly seguinte: string | undefined;
  /** The day of the municipality up to which notes were examined. It is set when a page is short and the search may go on. */
  readonly procuradoAte: string | undefined;
  /** Sentences. */
  readonly avisos: readonly string[];
  /** The reading of the free text, and others of the same text. */
  readonly leitura?: Leitura | undefined;
  readonly outras?: readonly Leitura[] | undefined;
  /** The free text is the key of the only note. */
  readonly isNamed?: boolean;
};

type Lida = Pick<Livre, 'nomeadas' | 'leitura' | 'outras'> & {
  readonly palavras: readonly string[];
  readonly asked: NotasProcuradas;
};

const PAGINA_DE_NOTAS = 25;

/** A page of a search, or its problems by field. `depois`: `seguinte` of the page before. */
export async function searchNotas(
  world: BuscaWorld,
  slug: string,
  busca: Partial<BuscaEscrita>,
  depois?: string,
  max = PAGINA_DE_NOTAS,
): Promise<PaginaDeNotas | { readonly problems: ProblemasDaBusca }> {
  return searchNotasOf(world, await municipioNamed(world, slug), busca, { depois, max });
}

/** `anterior`: end of the page before; undefined: this is the first page. */
type PaginaComVolta = PaginaDeNotas & { readonly anterior: string | undefined };

type LugarPedido = { readonly [Name in (typeof CAMPOS_DO_LUGAR)[number]]?: string | undefined };

/** A page of a search with the ways on and back, or its problems by field. */
export async function searchPagina(
  world: BuscaWorld,
  slug: string,
  busca: BuscaEscrita,
  { depois, antes }: LugarPedido,
): Promise<PaginaComVolta | { readonly problems: ProblemasDaBusca }> {
  if (readLugar(antes) === undefined) {
    const found = await searchNotas(world, slug, busca, depois);
    if ('problems' in found) return found;
    const isFirst = readLugar(depois) === undefined;
    return { ...found, anterior: isFirst ? undefined : (placeAt(found.notas[0]) ?? depois) };
  }
  const backwards = { ...busca, ordem: busca.ordem === 'antigas' ? '' : 'antigas' };
  const found = await searchNotas(world, slug, backwards, antes, PAGINA_DE_NOTAS + 1);
  if ('problems' in found) return found;
  // Fewer notes than a page are the beginning of the first one.
  if (found.notas.length <= PAGINA_DE_NOTAS && found.seguinte === undefined) {
    return searchPagina(world, slug, busca, {});
  }
  const notas = found.notas.slice(0, PAGINA_DE_NOTAS).reverse();
  const anterior = found.notas.length > PAGINA_DE_NOTAS ? placeAt(notas[0]) : found.seguinte;
  return { ...found, notas, anterior, seguinte: placeAt(notas.at(-1)) ?? antes, procuradoAte: undefined };
}

function placeAt(nota: NotaAchada | undefined): string | undefined {
  return nota && writeLugar({ mes: nota.mes, em: +nota.data_emissao, id: nota.id });
}

/** The count of a search as a page shows it: beyond this it says that there are more. */
const CONTADAS_MAX = 10_000;

/** Counts what a search of the console finds; undefined: the search has problems. */
export async function countBusca(
  world: BuscaWorld,
  slug: string,
  busca: Partial<BuscaEscrita>,
): Promise<NotasContadas | undefined> {
  const counted = await countNotasOf(world, await municipioNamed(world, slug), busca, { max: CONTADAS_MAX });
  return 'problems' in counted ? undefined : counted;
}

/** The notes of one document, in one role or in any. */
export type De = { readonly documento: string; readonly papel: ParteDaNota | undefined };

/** `de` undefined: the notes of everybody. */
export async function searchNotasOf(
  world: BuscaWorld,
  municipio: DoMunicipio,
  busca: Partial<BuscaEscrita>,
  { de, depois, max }: { readonly de?: De; readonly depois?: string | undefined; readonly max: number },
): Promise<PaginaDeNotas | { readonly problems: ProblemasDaBusca }> {
  const { tenant, codigoIbge } = municipio;
  const read = readBusca(busca, codigoIbge);
  if ('problems' in read) return read;
  const { own, avisos } = await resolveBusca(world, municipio, read, de);
  const { leitura, outras } = read;
  if (own === undefined) return { ...NOTHING, avisos, leitura, outras };
  const { notas, seguinte } = await world.store.busca.buscar(tenant, own, max, readLugar(depois));
  const isCut = seguinte !== undefined && notas.length < max;
  const procuradoAte = isCut ? momentIn(zoneOf(codigoIbge), seguinte.em).date : undefined;
  const isNamed = read.nomeadas?.por === 'chave';
  return { notas, seguinte: seguinte && writeLugar(seguinte), procuradoAte, avisos, leitura, outras, isNamed };
}

const NOTHING: PaginaDeNotas = { notas: [], seguinte: undefined, procuradoAte: undefined, avisos: [] };

/** `own`: criteria for each note; undefined: no note can match. `isPart`: more people have the name than are searched. */
type Resolvida = {
  readonly own: NotasProcuradas | undefined;
  readonly isPart: boolean;
  readonly avisos: readonly string[];
};

/** The search after its key, protocol, DPS or name was looked up. */
async function resolveBusca(
  world: BuscaWorld,
  municipio: DoMunicipio,
  { nomeadas, palavras, asked }: Lida,
  de: De | undefined,
): Promise<Resolvida> {
  const of = (own: NotasProcuradas | undefined) => (own === undefined || de === undefined ? own : ofOne(own, de));
  if (nomeadas !== undefined) {
    const notas = await listNamed(world, municipio, nomeadas);
    return { own: notas.length === 0 ? undefined : of({ ...asked, notas }), isPart: false, avisos: [] };
  }
  if (palavras.length === 0) return { own: of(asked), isPart: false, avisos: [] };
  const found = await world.store.nomes.find(municipio.tenant, palavras);
  if (found.length === 0) return { own: undefined, isPart: false, avisos: [NOBODY] };
  const isPart = found.length > DOCUMENTOS_MAX;
  return { own: of({ ...asked, partes: found.slice(0, DOCUMENTOS_MAX) }), isPart, avisos: isPart ? [TOO_MANY] : [] };
}

const TOO_MANY = `Mais de ${DOCUMENTOS_MAX} pessoas têm este nome, e só as notas de ${DOCUMENTOS_MAX} delas foram procuradas. Escreva mais do nome, ou o CNPJ ou CPF.`;
const NOBODY =
  'Ninguém com este nome é prestador ou tomador de uma nota daqui. O nome de uma nota nova é conhecido em cerca de um minuto; quem não tem CNPJ nem CPF na nota não é achado pelo nome.';

/** The protocol of a note begins with its second; a body may take minutes to come. */
const REQUISICAO_BEFORE_MS = 2_000;
const REQUISICAO_AFTER_MS = 600_000;
/** The largest difference between a time zone of the country and that of its capital. */
const ZONES_MS = 2 * 3_600_000;

/** Limits the criteria to the notes of one document; undefined: no note can match. */
function ofOne(asked: NotasProcuradas, { documento, papel }: De): NotasProcuradas | undefined {
  const { partes: comParte, ...rest } = asked;
  if (papel === undefined) return { ...rest, comParte, partes: [documento] };
  const other = asked[papel];
  return other === undefined || other === documento ? { ...rest, comParte, [papel]: documento } : undefined;
}

/** Counts and adds up the notes that a search finds, up to `max`, or tells its problems. `de` undefined: the notes of everybody. */
export async function countNotasOf(
  world: BuscaWorld,
  municipio: DoMunicipio,
  busca: Partial<BuscaEscrita>,
  { de, max }: { readonly de?: De; readonly max: number },
): Promise<NotasContadas | { readonly problems: ProblemasDaBusca }> {
  const { tenant, codigoIbge } = municipio;
  const read = readBusca(busca, codigoIbge);
  if ('problems' in read) return read;
  const { own, isPart } = await resolveBusca(world, municipio, read, de);
  if (own === undefined) return { notas: 0, valor: '0.00', issqn: '0.00', isWhole: true };
  const counted = await world.store.busca.contar(tenant, own, max);
  return { ...counted, isWhole: counted.isWhole && !isPart };
}

async function listNamed(
  { store }: BuscaWorld,
  { tenant, codigoIbge, relogioMs = 0 }: DoMunicipio,
  { por, valor }: Nomeadas,
): Promise<readonly Ref[]> {
  const { notas } = store;
  if (por === 'requisicao') {
    // The first 48 bits of the X-Request-Id are milliseconds (RFC 9562). The note or its lot is stored later, after its body has arrived.
    const asked = Number.parseInt(valor.replaceAll('-', '').slice(0, 12), 16) + relogioMs;
    // A municipality without an IBGE code writes protocols in the time of the place that the DPS names.
    const other = codigoIbge === undefined ? ZONES_MS : 0;
    const [de, ate] = [asked - REQUISICAO_BEFORE_MS - other, asked + REQUISICAO_AFTER_MS + other].map((ms) => {
      const { date, time } = momentIn(zoneOf(codigoIbge), ms);
      return `${date}${time}`.replace(/\D/g, '');
    });
    return notas.listByRequisicao(tenant, valor, { de: de!, ate: ate! });
  }
  const finders = { chave: notas.findByChave, protocolo: notas.findByProtocolo, dps: notas.findByDps };
  const nota = await finders[por](tenant, valor);
  return nota === undefined ? [] : [nota];
}

const LUGAR = /^(\d{6})-(\d{1,15})-(\d{1,18})$/;

function writeLugar({ mes, em, id }: Lugar): string {
  return `${mes}-${em}-${id}`;
}

/** The place that a `seguinte` names; undefined: an invalid text, which means the beginning. */
export function readLugar(text: string | undefined): Lugar | undefined {
  const [, mes, em, id] = LUGAR.exec(text ?? '') ?? [];
  return id === undefined ? undefined : { mes: Number(mes), em: Number(em), id };
}

function readBusca(
  busca: Partial<BuscaEscrita>,
  codigoIbge: string | undefined,
): Lida | { readonly problems: ProblemasDaBusca } {
  const written = (name: CampoDaBusca): string => (busca[name] ?? '').trim();
  const { problem, nomeadas, documento, palavras = [], leitura, outras } = readLivre(written('q'));
  // A field that was filled in counts more than the free text.
  const text = (name: NomeDeFiltro): string => written(name) || (leitura?.filtros[name] ?? '');
  const { filtros, problems } = readFiltros(text, zoneOf(codigoIbge));
  if (problem !== undefined) return { problems: { ...problems, q: problem } };
  if (Object.keys(problems).length > 0) return { problems };
  const asked: NotasProcuradas = { ...filtros, partes: documento === undefined ? undefined : [documento] };
  return {
    asked,
    palavras,
    ...(nomeadas && { nomeadas }),
    ...(leitura && { leitura }),
    ...(outras && { outras }),
  };
}
