/**
 * The free text of a search, as people type it: a key, the address of a QR code, a document, a value, a date, a number, a name. It says how
 * it was understood, and how else it could be.
 */

import { servicoOf } from '../../fiscal/catalogs/catalogs.ts';
import { parseDpsId, whyNoChave } from '../../fiscal/chave.ts';
import { groupDecimal } from '../../fiscal/group-digits.ts';
import { brazilianDate, isDay } from '../../fiscal/moment.ts';
import { wordsOf } from '../../fiscal/words.ts';
import { type NomeDeFiltro, readDocumento, readValor } from './filtros.ts';

/** Names of one note, or of the notes of one request. */
export type Nomeadas = { readonly por: 'chave' | 'protocolo' | 'dps' | 'requisicao'; readonly valor: string };

/** Criteria as a user would write them in the fields of the search. */
type FiltrosEscritos = Readonly<Partial<Record<NomeDeFiltro, string>>>;

/** A reading of the text, with its words. */
export type Leitura = { readonly rotulo: string; readonly filtros: FiltrosEscritos };

export type Livre = {
  readonly nomeadas?: Nomeadas;
  readonly documento?: string;
  readonly palavras?: readonly string[];
  /** The reading that counts, if it is one of the fields of the search. */
  readonly leitura?: Leitura;
  /** Other readings of the same text. */
  readonly outras?: readonly Leitura[];
  readonly problem?: string;
};

/** A key that lacks positions, or has too many; nothing else that is searched for begins like it. */
const CUT_CHAVE = /^\d{7}[0-9A-Z]{28,42}$|^\d{7}[0-9A-Z]{44,60}$/;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab]/;
const NO_REQUISICAO =
  'Não é um X-Request-Id deste serviço de agora: os dele têm um 7 no começo do terceiro grupo. O que o cliente mandou fica no registro, em client_request, ao lado do nosso, em request.';
const NOTHING =
  'Escreva uma chave, um CNPJ ou CPF, um número, um valor, um dia, um mês, ou ao menos três letras de um nome.';

/** Recognises the kind of a text. */
export function readLivre(text: string): Livre {
  if (text === '') return {};
  return readNamed(text) ?? readWritten(text) ?? readNome(text);
}

function readNamed(text: string): Livre | undefined {
  const bare = text.replace(/[\s./-]/g, '').toUpperCase();
  const chave = findChave(text) ?? bare.replace(/^NFS(?=\d)/, '');
  if (/^\d[0-9A-Z]{49}$/.test(chave)) {
    const why = whyNoChave(chave);
    return why === undefined ? { nomeadas: { por: 'chave', valor: chave } } : { problem: why };
  }
  if (CUT_CHAVE.test(chave)) return { problem: whyNoChave(chave)! };
  const id = text.trim().toLowerCase();
  if (UUID.test(id))
    return UUID_V7.test(id) ? { nomeadas: { por: 'requisicao', valor: id } } : { problem: NO_REQUISICAO };
  if (bare.startsWith('DPS') && parseDpsId(bare) !== undefined) return { nomeadas: { por: 'dps', valor: bare } };
  if (/^\d{34}$/.test(bare)) return { nomeadas: { por: 'protocolo', valor: bare } };
  const documento = readDocumento(text);
  return documento === undefined ? undefined : { documento };
}

/** The key in an address, such as that of a QR code. */
function findChave(text: string): string | undefined {
  return /^https?:\/\//i.test(text)
    ? /(?<![0-9A-Z])\d[0-9A-Z]{49}(?![0-9A-Z])/i.exec(text)?.[0].toUpperCase()
    : undefined;
}

/** The readings of a text as a field of the search; the first one counts. */
function readWritten(text: string): Livre | undefined {
  const [leitura, ...outras] = [readDay, readMonth, readAmount, readServico, readNumber].flatMap((read) => read(text));
  return leitura && { leitura, outras };
}

function readDay(text: string): readonly Leitura[] {
  const [, day, month, year] = /^(\d{1,2})\/(\d{1,2})\/(\d{4})$/.exec(text) ?? [];
  const written = year === undefined ? text : `${year}-${month!.padStart(2, '0')}-${day!.padStart(2, '0')}`;
  if (!isDay(written)) return [];
  return [
    { rotulo: `emitidas em ${brazilianDate(written)}`, filtros: { de: written, ate: written } },
    { rotulo: `da competência ${writtenMonth(written)}`, filtros: { competencia: written.slice(0, 7) } },
  ];
}

function readMonth(text: string): readonly Leitura[] {
  const [, month, year] = /^(\d{1,2})\/(\d{4})$/.exec(text) ?? findNamedMonth(text) ?? [];
  const written = year === undefined ? text : `${year}-${month!.padStart(2, '0')}`;
  if (!/^\d{4}-\d{2}$/.test(written) || !isDay(`${written}-01`)) return [];
  return [{ rotulo: `da competência ${writtenMonth(written)}`, filtros: { competencia: written } }];
}

const MESES = ['jan', 'fev', 'mar', 'abr', 'mai', 'jun', 'jul', 'ago', 'set', 'out', 'nov', 'dez'] as const;
const NAMED_MONTH =
  /^(jan(?:eiro)?|fev(?:ereiro)?|mar(?:[çc]o)?|abr(?:il)?|mai(?:o)?|jun(?:ho)?|jul(?:ho)?|ago(?:sto)?|set(?:embro)?|out(?:ubro)?|nov(?:embro)?|dez(?:embro)?)\.?(?:\s+de\s+|\s*[/-]\s*|\s+)(\d{4})$/i;

/** The month and the year of `junho de 2026` or `jun/2026`, at the places of `06/2026`. */
function findNamedMonth(text: string): readonly string[] | undefined {
  const [, name, year] = NAMED_MONTH.exec(text.trim()) ?? [];
  const place = MESES.findIndex((mes) => name?.toLowerCase().startsWith(mes));
  return year === undefined ? undefined : [text, String(place + 1), year];
}

function writtenMonth(text: string): string {
  return `${text.slice(5, 7)}/${text.slice(0, 4)}`;
}

function readAmount(text: string): readonly Leitura[] {
  const isWritten = /^R\$/i.test(text) || /^\d[\d.]*,\d{1,2}$/.test(text) || /^\d+\.\d{2}$/.test(text);
  return isWritten ? ofAmount(text.replace(/^R\$\s*/i, '')) : [];
}

function ofAmount(text: string): readonly Leitura[] {
  const valor = readValor(text);
  if (valor === undefined) return [];
  return [{ rotulo: `de R$ ${groupDecimal(valor)}`, filtros: { valor_de: valor, valor_ate: valor } }];
}

function readServico(text: string): readonly Leitura[] {
  const bare = text.replaceAll('.', '');
  const servico = /^\d\d\.\d\d\.\d\d$/.test(text) ? servicoOf(bare) : undefined;
  return servico === undefined ? [] : [{ rotulo: `do serviço ${text}`, filtros: { servico: bare } }];
}

function readNumber(text: string): readonly Leitura[] {
  const [, said] = /^(?:nota|n[º°.o]*|nº)?\s*([\d.]{1,17})$/i.exec(text) ?? [];
  const bare = said?.replaceAll('.', '') ?? '';
  if (!/^\d{1,13}$/.test(bare)) return [];
  const number = { rotulo: `de número ${BigInt(bare)}`, filtros: { numero: bare } };
  const isNamed = !/^[\d.]/.test(text);
  const servico = bare.length === 6 && servicoOf(bare)?.emissivel;
  return [
    number,
    ...(isNamed ? [] : ofAmount(bare)),
    ...(servico ? [{ rotulo: `do serviço ${bare}`, filtros: { servico: bare } }] : []),
  ];
}

/** Digits without letters are a name of nobody: a day that no calendar has, or a value beyond every note. */
function readNome(text: string): Livre {
  const palavras = /[a-zà-ÿ]/i.test(text.replace(/^R\$/i, '')) ? wordsOf(text) : [];
  return palavras.length > 0 ? { palavras } : { problem: NOTHING };
}
