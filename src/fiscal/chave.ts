/**
 * The identifiers that have a check digit or are composed of parts: CPF, CNPJ, the municipality's code, the access key (`chave_acesso`) and
 * the identifier of the DPS.
 *
 * Builders throw on parts that do not fit: the document was judged before, so a misfit is our bug. Parsers and checks return an answer,
 * because their text comes from outside. The caller draws the random digits and knows the date.
 */

/** The issuer of the note: 1 the municipality's own system, 2 the national Sefin (TSAmbGeradorNFSe). */
type AmbGer = '1' | '2';

export type DocumentoKind = 'CPF' | 'CNPJ';

export type ChaveParts = {
  readonly cMun: string;
  readonly ambGer: AmbGer;
  /** CPF of 11 digits or CNPJ of 14 positions, without the kind and the three zeros of the key. */
  readonly documento: string;
  readonly nNFSe: bigint | number | string;
  /** Year and month of the emission, `AAMM`. */
  readonly anoMes: string;
  /** Nine digits that make the key unguessable; the caller draws them from a cryptographic source. */
  readonly codigo: string;
};

export type Chave = ChaveParts & {
  /** The number as in the element: without leading zeros. */
  readonly nNFSe: string;
  readonly dv: string;
};

export type DpsIdParts = {
  readonly cLocEmi: string;
  readonly documento: string;
  readonly serie: bigint | number | string;
  readonly nDPS: bigint | number | string;
};

/** Series and number without leading zeros: `00001` and `1` are the same series. */
export type DpsId = DpsIdParts & { readonly serie: string; readonly nDPS: string };

/** Widths of the parts; Anexo I v1.01, Id of infNFSe and Id of infDPS. */
const NNFSE_WIDTH = 13;
const SERIE_WIDTH = 5;
export const NDPS_WIDTH = 15;

export const CHAVE_LENGTH = 50;
/** Length of the key of an NF-e (Manual de Orientação do Contribuinte), which letters of a CNPJ do not change. */
const CHAVE_NFE_LENGTH = 44;

/** The weights of the key and of the CNPJ return to 2 after 9; the sums of a CPF are too short to need that. */
const WEIGHT_MAX = 9;
const WEIGHT_MAX_CPF = 11;

const CPF = /^\d{11}$/;

/** The format of IN RFB 2.229/2024: capital letters allowed in the first twelve positions, then two numeric check digits. */
const CNPJ = /^[\dA-Z]{12}\d{2}$/;

const MUNICIPIO = /^\d{7}$/;
const ANO_MES = /^\d{2}(?:0[1-9]|1[0-2])$/;
const CODIGO = /^\d{9}$/;

/**
 * The structure of the key, not the pattern of the XSD of 27/07/2026. The XSD allows letters in positions 7 to 20, as in the key of an
 * NF-e. Here the CNPJ stands in 10 to 23 (decided in D-16).
 */
const CHAVE = /^(\d{7})([12])(1000\d{11}|2[\dA-Z]{12}\d{2})(\d{13})(\d{2}(?:0[1-9]|1[0-2]))(\d{9})(\d)$/;

const DPS_ID = /^DPS(\d{7})(1000\d{11}|2[\dA-Z]{12}\d{2})(\d{5})(\d{15})$/;

/** Whether a text has the shape of a CPF or of a CNPJ; the check digits are not verified. */
export function documentoKind(documento: string): DocumentoKind | undefined {
  if (CPF.test(documento)) return 'CPF';
  return CNPJ.test(documento) ? 'CNPJ' : undefined;
}

export function cpfIsValid(cpf: string): boolean {
  // Eleven equal digits satisfy the arithmetic, and are no real CPF.
  if (!CPF.test(cpf) || cpf === cpf.charAt(0).repeat(11)) return false;
  return digitIs(cpf, 9, WEIGHT_MAX_CPF) && digitIs(cpf, 10, WEIGHT_MAX_CPF);
}

export function cnpjIsValid(cnpj: string): boolean {
  if (!CNPJ.test(cnpj) || cnpj === '0'.repeat(14)) return false;
  return digitIs(cnpj, 12, WEIGHT_MAX) && digitIs(cnpj, 13, WEIGHT_MAX);
}

/**
 * The check digit for the first six digits of a municipality's code: weights 1 and 2 in turn, the digits of each product added, up to the
 * next ten. Nine of the 5571 codes in use do not follow the rule. It may therefore suggest a code, but never refuse one.
 */
export function ibgeDigit(codigo6: string): string {
  let total = 0;
  for (let index = 0; index < 6; index += 1) {
    const product = valueAt(codigo6, index) * (1 + (index % 2));
    total += product > 9 ? product - 9 : product;
  }
  return String((10 - (total % 10)) % 10);
}

/**
 * A CPF as the public administration shows it: the six digits in the middle. A CNPJ is public and stays whole. Any other text is hidden,
 * since a mistyped CPF may belong to another person.
 */
export function maskDocumento(documento: string): string {
  const kind = documentoKind(documento);
  if (kind === 'CPF') return `***.${documento.slice(3, 6)}.${documento.slice(6, 9)}-**`;
  return kind === 'CNPJ' ? documento : '***';
}

/** A text of the trail, in which each CNPJ has its points; a number of as many digits has other check digits. */
export function dotCnpjsIn(text: string): string {
  return text.replace(/(?<![\w.-])[\dA-Z]{12}\d{2}(?![\w.-])/g, (word) =>
    cnpjIsValid(word) ? dotDocumento(word) : word,
  );
}

/** A document as a page shows it: a CNPJ with its points, a CPF by the six digits in the middle. */
export function showDocumento(documento: string): string {
  return dotDocumento(maskDocumento(documento));
}

/** The month of an access key as a number, `202611`; 0 if the text has no month in its place. */
export function mesOfChave(chave: string): number {
  const anoMes = chave.slice(36, 40);
  return ANO_MES.test(anoMes) ? 200_000 + Number(anoMes) : 0;
}

/** The month of a protocol number, which begins with its date and time. */
export function mesOfProtocolo(protocolo: string): number {
  const mes = protocolo.slice(0, 6);
  return /^\d{6}$/.test(mes) ? Number(mes) : 0;
}

export function buildChave({ cMun, ambGer, documento, nNFSe, anoMes, codigo }: ChaveParts): string {
  const first49 =
    chavePrefixOf({ cMun, ambGer, documento, nNFSe }) +
    requireFit('anoMes', ANO_MES, anoMes) +
    requireFit('codigo', CODIGO, codigo);
  return first49 + chaveDigit(first49);
}

/** The beginning of every key of a note with this number: the month and the random digits follow. */
export function chavePrefixOf({ cMun, ambGer, documento, nNFSe }: Omit<ChaveParts, 'anoMes' | 'codigo'>): string {
  return (
    requireFit('cMun', MUNICIPIO, cMun) + ambGer + registration(documento) + padNumber('nNFSe', nNFSe, NNFSE_WIDTH)
  );
}

export function chaveDigit(first49: string): string {
  return String(modulo11(first49, 49, WEIGHT_MAX));
}

/** Undefined if the structure or the check digit is wrong; the registration's own check digits are not verified. */
export function parseChave(chave: string): Chave | undefined {
  const match = CHAVE.exec(chave);
  if (match === null || !digitIs(chave, 49, WEIGHT_MAX)) return undefined;
  const [, cMun, ambGer, kindAndDocumento, nNFSe, anoMes, codigo, dv] = match;
  return {
    cMun: cMun!,
    ambGer: ambGer as AmbGer,
    documento: documentoOf(kindAndDocumento!),
    nNFSe: trimZeros(nNFSe!),
    anoMes: anoMes!,
    codigo: codigo!,
    dv: dv!,
  };
}

const CNPJ_LENGTH = 14;
const ROOT_LENGTH = 8;

/** A CPF is compared in full, a CNPJ by its root (D-31): the head office may act for a branch. */
export function isSameParty(one: string, other: string): boolean {
  const kind = documentoKind(one);
  return kind !== undefined && kind === documentoKind(other) && raizOf(one) === raizOf(other);
}

/** The root of a CNPJ; any other text in full. */
export function raizOf(documento: string): string {
  return documento.length === CNPJ_LENGTH ? documento.slice(0, ROOT_LENGTH) : documento;
}

/** Whether a key belongs to a provider other than this document: its sender must then learn nothing of the note (D-293). */
export function isKeyOfOther(chave: string, documento: string): boolean {
  const parts = parseChave(chave);
  return parts !== undefined && !isSameParty(parts.documento, documento);
}

/** The extra characters around the fifty positions in the Id of a note and in a printed key. */
const AROUND_CHAVE = /^\s*NFS(?:-?e)?|[\s.\-/]+/gi;

/** Why a text is no key, as a sentence in Portuguese; undefined for the key of any note. */
export function whyNoChave(text: string): string | undefined {
  const bare = text.replace(AROUND_CHAVE, '');
  if (bare !== text && parseChave(bare) !== undefined) {
    const surplus = [
      ...(/^\s*NFS/i.test(text) ? ['as letras NFS do começo'] : []),
      ...(/\s/.test(text) ? ['os espaços'] : []),
      ...(/[.\-/]/.test(text) ? ['os pontos, traços e barras'] : []),
    ];
    return `A chave de acesso são só as 50 posições, ${bare}: retire ${surplus.join(' e ')}.`;
  }
  if (text.length !== CHAVE_LENGTH) {
    return `A chave de acesso tem ${CHAVE_LENGTH} posições; a que veio tem ${text.length}. Confira se foi copiada inteira.`;
  }
  if (parseChave(text) !== undefined) return undefined;
  const first49 = text.slice(0, CHAVE_LENGTH - 1);
  if (/^[0-9A-Z]{49}$/.test(first49) && chaveDigit(first49) !== text.at(-1)) {
    return 'O dígito verificador da chave de acesso, a última posição, não confere: há posição trocada ou errada na chave.';
  }
  return 'O texto enviado não tem a forma de uma chave de acesso: 50 posições, só dígitos (letras maiúsculas, só no CNPJ).';
}

/** Whether the 44 positions of the key of an NF-e or NFC-e end in their check digit; nothing else is verified. */
export function chaveNFeIsValid(chave: string): boolean {
  return chave.length === CHAVE_NFE_LENGTH && digitIs(chave, CHAVE_NFE_LENGTH - 1, WEIGHT_MAX);
}

/** The canonical identifier, regardless of the `Id` that the sender wrote (decided in D-16). */
export function dpsIdOf({ nDPS, ...serie }: DpsIdParts): string {
  return dpsIdInSerie(dpsSerieOf(serie), nDPS);
}

/** The common prefix of the identifiers of a provider's DPS in one series: all but the number. */
export function dpsSerieOf({ cLocEmi, documento, serie }: Omit<DpsIdParts, 'nDPS'>): string {
  return `DPS${requireFit('cLocEmi', MUNICIPIO, cLocEmi)}${registration(documento)}${padNumber('serie', serie, SERIE_WIDTH)}`;
}

/** `serie`: the result of {@link dpsSerieOf}. */
export function dpsIdInSerie(serie: string, nDPS: DpsIdParts['nDPS']): string {
  return serie + padNumber('nDPS', nDPS, NDPS_WIDTH);
}

export function parseDpsId(id: string): DpsId | undefined {
  const match = DPS_ID.exec(id);
  if (match === null) return undefined;
  const [, cLocEmi, kindAndDocumento, serie, nDPS] = match;
  return {
    cLocEmi: cLocEmi!,
    documento: documentoOf(kindAndDocumento!),
    serie: trimZeros(serie!),
    nDPS: trimZeros(nDPS!),
  };
}

/** ASCII code minus 48: digits keep their value, A to Z count 17 to 42. */
function valueAt(text: string, index: number): number {
  return text.charCodeAt(index) - 48;
}

/** The check digit over the first `length` characters: weights 2, 3, … from the right, remainder 0 or 1 gives 0. */
function modulo11(text: string, length: number, weightMax: number): number {
  let total = 0;
  let weight = 2;
  for (let index = length - 1; index >= 0; index -= 1) {
    total += valueAt(text, index) * weight;
    weight = weight === weightMax ? 2 : weight + 1;
  }
  const rest = total % 11;
  return rest < 2 ? 0 : 11 - rest;
}

function digitIs(text: string, position: number, weightMax: number): boolean {
  return valueAt(text, position) === modulo11(text, position, weightMax);
}

/** Kind and registration, 15 positions, the same in the key and in the identifier of the DPS. */
function registration(documento: string): string {
  const kind = documentoKind(documento);
  if (kind === undefined) throw new RangeError('documento is neither a CPF nor a CNPJ');
  return kind === 'CPF' ? `1000${documento}` : `2${documento}`;
}

function documentoOf(kindAndDocumento: string): string {
  return kindAndDocumento.slice(kindAndDocumento.startsWith('1') ? 4 : 1);
}

function padNumber(name: string, value: bigint | number | string, width: number): string {
  const digits = String(value);
  if (!/^\d+$/.test(digits) || digits.length > width) throw new RangeError(`${name} is not 1 to ${width} digits`);
  return digits.padStart(width, '0');
}

function requireFit(name: string, pattern: RegExp, text: string): string {
  if (!pattern.test(text)) throw new RangeError(`${name} does not fit ${pattern.source}`);
  return text;
}

function trimZeros(digits: string): string {
  return digits.replace(/^0+(?=\d)/, '');
}

/** Whether a text has the form of a protocol number. A text of any other form is not looked up: a database may reject it as text. */
export function isProtocolo(text: string): boolean {
  return /^[0-9A-Za-z._-]{1,64}$/.test(text);
}

/** A number as people write it, without its spaces, dots, dashes and slashes, letters in capitals. */
export function bareDocumento(text: string): string {
  return text.replace(/[\s./\p{Pd}]/gu, '').toUpperCase();
}

/** A CPF or CNPJ with its usual punctuation; any other text as it is. */
export function dotDocumento(documento: string): string {
  const kind = documentoKind(documento);
  if (kind === 'CPF') return documento.replace(/^(.{3})(.{3})(.{3})/, '$1.$2.$3-');
  return kind === 'CNPJ' ? documento.replace(/^(.{2})(.{3})(.{3})(.{4})/, '$1.$2.$3/$4-') : documento;
}

/** The reason why a text, with or without punctuation, is neither CNPJ nor CPF, as the end of a sentence. */
export function whyNoDocumento(text: string): string | undefined {
  const documento = bareDocumento(text);
  const { length } = documento;
  if (length === 11) return cpfIsValid(documento) ? undefined : 'não é um CPF: os dígitos verificadores não conferem';
  if (length === 14) return cnpjIsValid(documento) ? undefined : 'não é um CNPJ: os dígitos verificadores não conferem';
  const positions = length === 1 ? '1 posição' : `${length} posições`;
  return `não é CNPJ nem CPF: tem ${positions}; um CPF tem 11, e um CNPJ 14`;
}
