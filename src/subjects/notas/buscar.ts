/** Searches notes by any known detail: a key, a document, a name, a period, a value. */

import type { Ref } from '../../base/book/fila.ts';
import type { Municipio } from '../../base/book/municipios.ts';
import { municipioNamed } from '../../base/world/municipios.ts';
import type { World } from '../../base/world/world.ts';
import { zoneOf } from '../../fiscal/catalogs/catalogs.ts';
import { documentoKind, parseDpsId, whyNoChave } from '../../fiscal/chave.ts';
import { formatDecimal, readDecimal } from '../../fiscal/decimal.ts';
import { addDays, isDay, momentIn, startOfDay } from '../../fiscal/moment.ts';
import type { ParteDaNota } from '../../fiscal/mudanca.ts';
import { NOTA_ESTADOS, type NotaEstado } from '../../fiscal/nota.ts';
import { wordsOf } from '../../fiscal/words.ts';
import type { Lugar, NotaAchada, NotasProcuradas } from './buscar.rows.ts';
import { DOCUMENTOS_MAX } from './nomes.rows.ts';

export type { NotaAchada } from './buscar.rows.ts';

type BuscaWorld = Pick<World, 'store' | 'now'>;
type DoMunicipio = Pick<Municipio, 'tenant' | 'codigoIbge' | 'relogioMs'>;

/** A search as the user wrote it; an empty text sets no criterion. Days are in the time of the municipality, both inclusive. */
export type BuscaEscrita = {
  /** Free text: a key, a protocol, the Id of a DPS, a CNPJ, a CPF, a number, or words of a name. */
  readonly q: string;
  readonly prestador: string;
  readonly tomador: string;
  readonly de: string;
  readonly ate: string;
  /** `YYYY-MM`, or the first and the last, `YYYY-MM/YYYY-MM`. */
  readonly competencia: string;
  readonly estado: string;
  readonly valor_de: string;
  readonly valor_ate: string;
  readonly servico: string;
  readonly serie: string;
  readonly numero: string;
  /** `novas` (the default) or `antigas` first. */
  readonly ordem: string;
};

export const CAMPOS_DA_BUSCA = [
  'q',
  'prestador',
  'tomador',
  'de',
  'ate',
  'competencia',
  'estado',
  'valor_de',
  'valor_ate',
  'servico',
  'serie',
  'numero',
  'ordem',
] as const satisfies readonly (keyof BuscaEscrita)[];

export type ProblemasDaBusca = Readonly<Partial<Record<keyof BuscaEscrita, string>>>;

/** Notes of a page, with remarks about the search. */
export type PaginaDeNotas = {
  readonly notas: readonly NotaAchada[];
  /** Start of the next page; undefined: the search is complete. */
  readonly seguinte: string | undefined;
  /** The day of the municipality up to which notes were examined. It is set when a page is short and the search may go on. */
  readonly procuradoAte: string | undefined;
  /** Sentences. */
  readonly avisos: readonly string[];
};

/** Names of one note, or of the notes of one request. */
type Nomeadas = { readonly por: 'chave' | 'protocolo' | 'dps' | 'requisicao'; readonly valor: string };

type Lida = { readonly nomeadas?: Nomeadas; readonly palavras: readonly string[]; readonly asked: NotasProcuradas };

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
  if (own === undefined) return { ...NOTHING, avisos };
  const { notas, seguinte } = await world.store.busca.buscar(tenant, own, max, readLugar(depois));
  const isCut = seguinte !== undefined && notas.length < max;
  const procuradoAte = isCut ? momentIn(zoneOf(codigoIbge), seguinte.em).date : undefined;
  return { notas, seguinte: seguinte && writeLugar(seguinte), procuradoAte, avisos };
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

/** Counts the notes of a document that a search finds, up to `max`, or tells its problems. `isWhole`: there are no others. */
export async function countNotasOf(
  world: BuscaWorld,
  municipio: DoMunicipio,
  busca: Partial<BuscaEscrita>,
  { de, max }: { readonly de: De; readonly max: number },
): Promise<{ readonly notas: number; readonly isWhole: boolean } | { readonly problems: ProblemasDaBusca }> {
  const { tenant, codigoIbge } = municipio;
  const read = readBusca(busca, codigoIbge);
  if ('problems' in read) return read;
  const { own, isPart } = await resolveBusca(world, municipio, read, de);
  if (own === undefined) return { notas: 0, isWhole: true };
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

/** Whether a text is a valid `seguinte`. */
export function isLugar(text: string): boolean {
  return readLugar(text) !== undefined;
}

/** An invalid place means the beginning. */
function readLugar(text: string | undefined): Lugar | undefined {
  const [, mes, em, id] = LUGAR.exec(text ?? '') ?? [];
  return id === undefined ? undefined : { mes: Number(mes), em: Number(em), id };
}

function readBusca(
  busca: Partial<BuscaEscrita>,
  codigoIbge: string | undefined,
): Lida | { readonly problems: ProblemasDaBusca } {
  const problems: Partial<Record<keyof BuscaEscrita, string>> = {};
  const text = (name: keyof BuscaEscrita): string => (busca[name] ?? '').trim();
  /** The parsed value of a field; undefined: it is empty, or its problem was recorded. */
  const read = <Value>(name: keyof BuscaEscrita, parse: (text: string) => Value | undefined, why: string) => {
    const given = text(name);
    if (given === '') return undefined;
    const value = parse(given);
    if (value === undefined) problems[name] = why;
    return value;
  };
  const day = (name: 'de' | 'ate') => read(name, (one) => (isDay(one) ? one : undefined), NO_DAY);
  const [de, ate] = [day('de'), day('ate')];
  if (de !== undefined && ate !== undefined && ate < de) problems.ate = 'O fim do período é antes do começo.';
  const valorDe = read('valor_de', readValor, NO_VALOR);
  const valorAte = read('valor_ate', readValor, NO_VALOR);
  const free = readFree(text('q'));
  const zone = zoneOf(codigoIbge);
  const asked: NotasProcuradas = {
    prestador: read('prestador', readDocumento, NO_DOCUMENTO),
    tomador: read('tomador', readDocumento, NO_DOCUMENTO),
    desde: de === undefined ? undefined : startOfDay(zone, de),
    ate: ate === undefined ? undefined : startOfDay(zone, addDays(ate, 1)),
    competencia: read('competencia', readCompetencia, NO_COMPETENCIA),
    estado: read('estado', readEstado, `Escolha um de: ${Object.keys(NOTA_ESTADOS).join(', ')}.`),
    valorDe,
    valorAte,
    servico: read('servico', readServico, 'Escreva os seis algarismos do código nacional, como 010101 ou 01.01.01.'),
    serie: read('serie', readSerie, 'A série tem até cinco algarismos.'),
    numero: read('numero', readNumero, 'O número da nota tem até 13 algarismos.') ?? free.numero,
    partes: free.documento === undefined ? undefined : [free.documento],
    antigasAntes: read('ordem', readOrdem, `Escolha uma de: ${ORDENS.join(', ')}.`) === 'antigas',
  };
  if (valorDe !== undefined && valorAte !== undefined && Number(valorAte) < Number(valorDe)) {
    problems.valor_ate = 'O valor máximo é menor que o mínimo.';
  }
  if (free.problem !== undefined) problems.q = free.problem;
  if (Object.keys(problems).length > 0) return { problems };
  return { asked, palavras: free.palavras ?? [], ...(free.nomeadas === undefined ? {} : { nomeadas: free.nomeadas }) };
}

const NO_DAY = 'Escreva o dia como AAAA-MM-DD, por exemplo 2026-11-30.';
const NO_COMPETENCIA =
  'Escreva a competência como AAAA-MM, por exemplo 2026-11, ou a primeira e a última, como 2026-10/2026-12.';
const NO_VALOR = 'Escreva o valor com até duas casas, como 1.234,56.';
const NO_DOCUMENTO = 'Não é um CNPJ (14 posições) nem um CPF (11).';

type Livre = {
  readonly nomeadas?: Nomeadas;
  readonly documento?: string;
  readonly numero?: string;
  readonly palavras?: readonly string[];
  readonly problem?: string;
};

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab]/;
const NO_REQUISICAO =
  'Não é um X-Request-Id deste serviço de agora: os dele têm um 7 no começo do terceiro grupo. O que o cliente mandou fica no registro, em client_request, ao lado do nosso, em request.';

/** Recognises the kind of the free text. */
function readFree(text: string): Livre {
  if (text === '') return {};
  const bare = text.replace(/[\s./-]/g, '').toUpperCase();
  const chave = bare.replace(/^NFS(?=\d)/, '');
  if (/^\d[0-9A-Z]{49}$/.test(chave)) {
    const why = whyNoChave(chave);
    return why === undefined ? { nomeadas: { por: 'chave', valor: chave } } : { problem: why };
  }
  const id = text.trim().toLowerCase();
  if (UUID.test(id))
    return UUID_V7.test(id) ? { nomeadas: { por: 'requisicao', valor: id } } : { problem: NO_REQUISICAO };
  if (bare.startsWith('DPS') && parseDpsId(bare) !== undefined) return { nomeadas: { por: 'dps', valor: bare } };
  const documento = readDocumento(text);
  if (documento !== undefined) return { documento };
  if (/^\d{34}$/.test(bare)) return { nomeadas: { por: 'protocolo', valor: bare } };
  if (/^\d{1,13}$/.test(bare)) return { numero: String(BigInt(bare)) };
  const palavras = wordsOf(text);
  return palavras.length > 0
    ? { palavras }
    : { problem: 'Escreva uma chave, um CNPJ ou CPF, um número, ou ao menos três letras de um nome.' };
}

function readDocumento(text: string): string | undefined {
  const bare = text.replace(/[\s./-]/g, '').toUpperCase();
  return documentoKind(bare) === undefined ? undefined : bare;
}

/** Both notations are accepted: the Brazilian `1.234,56` and the plain `1234.56`. */
function readValor(text: string): string | undefined {
  const plain = text.includes(',') ? text.replaceAll('.', '').replace(',', '.') : text;
  const value = readDecimal(plain.replace(/^R\$\s*/, ''));
  return value === undefined || value < 0n ? undefined : formatDecimal(value);
}

function readCompetencia(text: string): { readonly de: string; readonly ate: string } | undefined {
  const [, first, last = first] = /^(\d{4}-\d{2})(?:\/(\d{4}-\d{2}))?$/.exec(text) ?? [];
  const de = `${first}-01`;
  if (!isDay(de) || !isDay(`${last}-01`) || last! < first!) return undefined;
  // The last day of the month: the first day of the next month, less one.
  return { de, ate: addDays(`${addDays(`${last}-01`, 31).slice(0, 7)}-01`, -1) };
}

export const ORDENS = ['novas', 'antigas'] as const;

/** An order of a list, `novas` first or `antigas`. */
export function readOrdem(text: string): (typeof ORDENS)[number] | undefined {
  return ORDENS.find((ordem) => ordem === text);
}

function readEstado(text: string): NotaEstado | undefined {
  return Object.hasOwn(NOTA_ESTADOS, text) ? (text as NotaEstado) : undefined;
}

function readServico(text: string): string | undefined {
  const bare = text.replace(/\D/g, '');
  return bare.length === 6 ? bare : undefined;
}

function readSerie(text: string): string | undefined {
  return /^\d{1,5}$/.test(text) ? text : undefined;
}

function readNumero(text: string): string | undefined {
  return /^\d{1,13}$/.test(text) ? String(BigInt(text)) : undefined;
}
