/**
 * The valid texts of each national type, copied by hand from the published schema alone (XSD 1.01, edition of 27/07/2026). The service is
 * compared with this list, never the other way round. Enumerations are not here, except those whose members the service reads differently.
 */

type Takes = (text: string) => boolean;

/** The length as XML Schema counts it. */
function lengthOf(text: string): number {
  return [...text].length;
}

/** A bare `xs:string` with lengths: white space is kept, and every character counts as one. */
function anything(max: number): Takes {
  return (text) => lengthOf(text) >= 1 && lengthOf(text) <= max;
}

/** `TSString`: the first and the last character are no spaces, and all are from U+0020 to U+00FF. */
function latin(max: number, min = 1): Takes {
  return (text) => /^[!-ÿ](?:[ -ÿ]*[!-ÿ])?$/.test(text) && text.length >= min && text.length <= max;
}

function like(pattern: RegExp): Takes {
  return (text) => pattern.test(text);
}

const NUMBER_15 = like(/^(?:0|0\.[0-9]{2}|[1-9][0-9]{0,14}(?:\.[0-9]{2})?)$/);

/** Any date of the Gregorian calendar, with or without a time zone. */
const XS_DATE: Takes = (text) => {
  const match = /^(\d{4})-(\d{2})-(\d{2})(?:Z|[+-]\d{2}:\d{2})?$/.exec(text);
  if (match === null) return false;
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  const date = new Date(Date.UTC(year, month - 1, day));
  return year > 0 && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
};

export const NATIONAL_TYPES: Readonly<Record<string, Takes>> = {
  'xs:date': XS_DATE,
  TSVerAplic: latin(20),
  TSSerieDPS: like(/^(?:[0-9]{1,4}|[0-8][0-9]{4})$/),
  TSNumDPS: like(/^[1-9][0-9]{0,14}$/),
  TSData: (text) => /^20\d{2}-\d{2}-\d{2}$/.test(text) && XS_DATE(text),
  TSChaveNFSe: like(/^[0-9]{6}[0-9A-Z]{14}[0-9]{30}$/),
  TSChaveNFe: like(/^[0-9]{6}[0-9A-Z]{14}[0-9]{24}$/),
  TSCodMunIBGE: like(/^[0-9]{7}$/),
  TSCodPaisISO: like(/^[A-Z]{2}$/),
  TSMotivo: latin(255, 15),
  TSCNPJ: like(/^[0-9A-Z]{14}$/),
  TSCPF: like(/^[0-9]{11}$/),
  TSCAEPF: like(/^[0-9]{14}$/),
  TSNIF: anything(40),
  TSInscMun: anything(15),
  TSNomeRazaoSocial: anything(300),
  TSLogradouro: latin(255),
  TSNumeroEndereco: latin(60),
  TSComplementoEndereco: latin(156),
  TSBairro: latin(60),
  TSCEP: like(/^[0-9]{8}$/),
  TSCodigoEndPostal: anything(11),
  TSCidade: anything(60),
  TSEstadoProvRegiao: anything(60),
  TSTelefone: like(/^[0-9]{6,20}$/),
  TSEmail: latin(80),
  TSCodTribNac: like(/^[0-9]{6}$/),
  TCCodTribMun: like(/^[0-9]{3}$/),
  /** The edition of 27/07/2026 requires one character that is not white space. */
  TSDesc2000: (text) => anything(2000)(text) && /[^ \t\n\r]/.test(text),
  TSCodNBS: like(/^[0-9]{9}$/),
  TSCodigoInternoContribuinte: like(/^[a-zA-Z0-9]{1,20}$/),
  TSCodMoeda: like(/^[0-9]{3}$/),
  TSMecAFComExPrest: like(/^0[0-8]$/),
  TSMecAFComExToma: like(/^(?:0[0-9]|1[0-9]|2[0-6])$/),
  TSNumDocImport: latin(12),
  TSNumRegExport: latin(12),
  TSCodObra: anything(30),
  TSInscImobFisc: anything(30),
  TSCodCIB: (text) => lengthOf(text) === 8,
  TSIdeEvento: anything(30),
  TSDRT: anything(40),
  TSDesc150: latin(150),
  TSDesc255: latin(255),
  TSDescInfCompl: latin(2000),
  TSDec1V2: like(/^(?:0|0\.[0-9]{2}|[1-9](?:\.[0-9]{2})?)$/),
  TSDec2V2: like(/^(?:0|0\.[0-9]{2}|[1-9][0-9]?(?:\.[0-9]{2})?)$/),
  TSDec3V2: like(/^(?:0|0\.[0-9]{2}|[1-9][0-9]{0,2}(?:\.[0-9]{2})?)$/),
  TSDec15V2: NUMBER_15,
  TSNum7Dig: like(/^[0-9]{7}$/),
  TSNum15Dig: like(/^[0-9]{15}$/),
  TSCodVerificacao: like(/^[a-zA-Z0-9]{1,9}$/),
  TSSerieNFNFS: like(/^[a-zA-Z0-9]{1,15}$/),
  TSNumProcExigSuspensa: like(/^[0-9]{30}$/),
  TSNumBeneficioMunicipal: like(/^[0-9]{14}$/),
  TSRTCCodSitTrib: like(/^[0-9]{3}$/),
  TSRTCCodClassTrib: like(/^[0-9]{6}$/),
  TSRTCCodCredPres: like(/^[0-9]{2}$/),
  TSRTCCodIndOp: like(/^[0-9]{6}$/),
  TSRTCChaveDFe: anything(50),
};
