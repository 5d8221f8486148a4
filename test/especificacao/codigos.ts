/**
 * The error codes of the specification, copied by hand from its tables and rules alone. The service is compared with this list, never the
 * other way round. A code in several tables stands here several times. An absent status means that the specification gives none.
 */
export type SpecifiedCode = {
  readonly code: string;
  readonly status?: number;
  /** The words of the specification, shortened. */
  readonly means: string;
};

export type SpecifiedTable = { readonly section: string; readonly codes: readonly SpecifiedCode[] };

/** Most tables give one status for all of their codes. */
function all(status: number, codes: readonly (readonly [code: string, means: string])[]): readonly SpecifiedCode[] {
  return codes.map(([code, means]) => ({ code, status, means }));
}

export const SPECIFIED: readonly SpecifiedTable[] = [
  {
    section: 'Errors: General codes',
    codes: [
      { code: 'E101', status: 422, means: 'establishment not found, CNPJ not registered' },
      { code: 'E102', status: 403, means: 'establishment not authorized to issue' },
      { code: 'E103', status: 422, means: 'municipal registration invalid for the CNPJ' },
      { code: 'E201', status: 422, means: 'malformed XML' },
      { code: 'E202', status: 422, means: 'required field missing' },
      { code: 'E203', status: 422, means: 'schema invalid' },
      { code: 'E301', status: 404, means: 'note not found' },
      { code: 'E302', status: 422, means: 'note already cancelled' },
      { code: 'E303', status: 422, means: 'duplicate DPS, series and number' },
      { code: 'E401', status: 422, means: 'invalid value, must be greater than zero' },
      { code: 'E402', status: 422, means: 'taxation code invalid or not registered' },
      { code: 'E403', status: 422, means: 'municipality (IBGE code) not found' },
      { code: 'E404', status: 422, means: 'ISS does not equal base times rate' },
      { code: 'E9002', status: 401, means: 'JSON request without signature' },
      { code: 'E9003', status: 401, means: 'signature invalid or not covering the exact body bytes' },
      { code: 'E9006', status: 401, means: 'certificate outside validity' },
      { code: 'E9007', status: 401, means: 'certificate document differs from the expected party' },
      { code: 'E9016', status: 401, means: 'by-office or system event not available by webservice' },
      { code: 'E999', status: 500, means: 'internal processing error' },
      { code: 'E111', status: 410, means: 'issuance through the legacy layout endpoint' },
      {
        code: 'E003',
        status: 400,
        means: 'field format invalid, in particular body with an incompatible content type',
      },
      { code: 'E601', status: 404, means: 'note or protocol not found' },
      {
        code: 'E002',
        status: 422,
        means: 'required field not informed; cTribNac not found; series or number beyond limits',
      },
      { code: 'E0014', status: 422, means: 'series + number + CNPJ already used' },
      { code: 'E0010', status: 422, means: 'tag not accepted by the national standard (legacy tag)' },
      { code: 'E110', status: 422, means: 'DPS of 1.01 sent to the v1.00 endpoint' },
      { code: 'E1539', status: 422, means: 'IBS/CBS value or rate diverging from the official calculation' },
      { code: 'E1568', status: 422, means: 'IBS/CBS value or rate diverging from the official calculation' },
    ],
  },
  {
    section: 'Authentication: XML path',
    codes: all(422, [
      ['E901', 'no signature'],
      ['E902', 'digest or value mismatch'],
      ['E903', 'certificate outside validity'],
      ['E904', 'certificate unparsable'],
      ['E905', 'no X509Certificate in KeyInfo'],
      ['E906', 'certificate document differs from prest CNPJ/CPF'],
    ]),
  },
  {
    section: 'Authentication: JSON path',
    codes: all(401, [
      ['E9002', 'no signature header'],
      ['E9003', 'signature invalid'],
      ['E9006', 'certificate outside validity'],
      ['E9007', 'certificate of somebody else'],
      ['E9016', 'by-office event'],
    ]),
  },
  {
    section: 'Errors: Other codes named in rules',
    codes: [
      { code: 'E0242', means: 'taker identified by NIF and issuer by CNPJ requires the address-abroad group' },
      { code: 'E0532', means: 'tribISSQN must be 4 with cTribNac 990101' },
      { code: 'E0592', means: 'immunity type' },
      { code: 'E1303', means: 'named without more' },
      { code: 'E1311', means: 'named without more' },
      { code: 'E0585', means: 'named without more' },
      { code: 'E0677', means: 'named without more' },
      { code: 'E0686', means: 'named without more' },
      { code: 'E0692', means: 'named without more' },
      { code: 'E0694', means: 'named without more' },
      { code: 'E0696', means: 'named without more' },
      { code: 'E0699', means: 'named without more' },
      { code: 'E0700', means: 'named without more' },
      { code: 'E0701', means: 'named without more' },
      { code: 'E0720', means: 'named without more' },
      { code: 'E0724', means: 'named without more' },
      { code: 'E703', means: 'generic failure while processing a DPS; status not shown' },
    ],
  },
  {
    section: 'Errors: Issuance 422 code table',
    codes: all(422, [
      ['E0001', 'data type invalid (decimal, integer and so on)'],
      ['E0002', 'value outside the allowed range (rate above 100, tribISSQN outside 1 to 4)'],
      ['E0003', 'format invalid (IBGE code not 7 digits, cTribNac not 6 digits)'],
      ['E0010', 'tag not in the canonical layout 1.01'],
      ['E110', 'version routing (/DPS/@versao)'],
      ['E002', 'required field not informed'],
      ['E502', 'cTribNac invalid or not registered'],
      ['E802', 'required field of the IBSCBS group missing'],
      ['E0310', 'cTribNac not registered or not administered by the municipality'],
      ['E0011', 'obra has more than one identification'],
      ['E0370', 'obra required by cTribNac'],
      ['E0372', 'obra not allowed by cTribNac'],
      ['E0373', 'CIB invalid'],
      ['E0382', 'obra: a CEP with an address abroad'],
      ['E0384', 'obra: address abroad required when the country of the place of provision is given'],
      ['E0386', 'obra: address abroad not allowed when the municipality is given'],
      ['E0390', 'atvEvento required'],
      ['E0392', 'atvEvento not allowed'],
      ['E0928', 'inconsistency among cTribNac, operation indicator and property data'],
      ['E0931', 'property group not allowed for this cTribNac'],
      ['E0932', 'property group required when cTribNac is not construction'],
      ['E1301', 'incidence municipality not allowed'],
      ['E1305', 'incidence municipality required'],
      ['E1313', 'maritime-waters rule for cLocPrestacao and cTribNac 200101'],
      ['E1402', 'maritime-waters rule for cLocPrestacao and cTribNac 200101'],
      ['E1317', 'incidence municipality must equal the place of provision'],
      ['E1321', 'incidence municipality must equal the taker municipality'],
      ['E0188', 'not exactly one taker identifier'],
      ['E0191', 'NIF required'],
      ['E0193', 'cNaoNIF required for the foreign taker'],
      ['E0235', 'country required for an address abroad'],
      ['E0246', 'country must be a valid ISO code other than Brazil'],
      ['E1235', 'comExt incomplete'],
    ]),
  },
  {
    section: 'IBS/CBS obligation schedule',
    codes: all(422, [
      ['E1539', 'declared value diverges from the official calculation'],
      ['E1568', 'declared value diverges from the official calculation'],
    ]),
  },
  {
    section: 'Sandbox tenant',
    codes: [
      { code: 'E101', means: 'auto-registration with an invalid document or an empty xNome' },
      { code: 'E103', means: 'authorization-to-issue check, applied in production' },
    ],
  },
  {
    section: 'Resources: tribMun, tribFed and obra groups',
    codes: [
      { code: 'E0002', means: 'tribISSQN other than 1 to 4' },
      { code: 'E0532', means: 'cTribNac 990101 requires tribISSQN 4' },
      { code: 'E0585', means: 'exigSusp only with tribISSQN 1' },
      { code: 'E1311', means: 'with exigSusp only vLiq is allowed' },
      { code: 'E1305', means: 'incidence municipality mandatory for a taxable operation' },
      { code: 'E1301', means: 'incidence municipality not given for immunity, export or non-incidence' },
      { code: 'E0677', means: 'vBCPisCofins at most the service value' },
      { code: 'E0686', means: 'pAliqPis 0 to 100' },
      { code: 'E0692', means: 'pAliqCofins 0 to 100' },
      { code: 'E0694', means: 'vPis equals base times rate' },
      { code: 'E0696', means: 'vCofins equals base times rate' },
      { code: 'E0720', means: 'tpRetPisCofins 0 and vRetCSLL sent' },
      { code: 'E0724', means: 'tpRetPisCofins other than 0 and 2 without vRetCSLL' },
      { code: 'E0699', means: 'vRetCP greater than zero and less than the service value' },
      { code: 'E0700', means: 'vRetIRRF greater than zero and less than the service value' },
      { code: 'E0701', means: 'vRetCSLL greater than zero and less than the service value' },
      { code: 'E0370', means: 'obra required for the construction subitems' },
      { code: 'E0372', means: 'obra not allowed otherwise' },
      { code: 'E0011', means: 'exactly one identification of the work' },
      { code: 'E0373', means: 'cCIB of exactly 8 digits' },
      { code: 'E0382', means: 'CEP with an address abroad' },
      { code: 'E0384', means: 'address abroad required when the country of provision is given' },
      { code: 'E0386', means: 'address abroad not given when the municipality is given' },
    ],
  },
  {
    section: 'Resources: DPS document',
    codes: [
      { code: 'E0188', means: 'exactly one identifier of the taker' },
      { code: 'E0235', means: 'cPais of the address abroad' },
      { code: 'E0246', means: 'cPais of the address abroad' },
      { code: 'E0191', means: 'NIF of the foreign taker' },
      { code: 'E0193', means: 'cNaoNIF of the foreign taker without NIF' },
      { code: 'E1313', means: 'maritime waters only with 200101' },
      { code: 'E1402', means: 'maritime waters only with 200101' },
      { code: 'E1235', means: 'comExt with all its fields' },
      { code: 'E0390', means: 'atvEvento required in item 12' },
      { code: 'E0392', means: 'atvEvento outside item 12 and 99.01.01' },
    ],
  },
  {
    section: 'Endpoints: Issuance',
    codes: [
      { code: 'E003', status: 400, means: 'content type incompatible with the body' },
      { code: 'E111', status: 410, means: 'legacy layout 1.00' },
      {
        code: 'E002',
        status: 422,
        means: 'serie_dps or numero_dps beyond the limits; cTribNac not in the national catalog',
      },
      { code: 'E0014', status: 422, means: 'reuse of series + number + provider CNPJ' },
      { code: 'E0010', status: 422, means: 'legacy tags' },
      { code: 'E110', means: 'a DPS of layout 1.01 sent to the v1.00 endpoint' },
    ],
  },
  {
    section: 'Endpoints: Events',
    codes: [{ code: 'E9016', means: 'event whose author is not a party of the note' }],
  },
  {
    section: 'Versioning',
    codes: [
      { code: 'E111', status: 410, means: 'POST /api/v1/nfse' },
      { code: 'E0010', means: 'deprecated DPS tags on the 1.01 endpoint' },
    ],
  },
];

/** The codes, each once, with the status that some table gives. */
export const SPECIFIED_CODES: ReadonlyMap<string, number | undefined> = new Map(
  [
    ...Map.groupBy(
      SPECIFIED.flatMap(({ codes }) => codes),
      ({ code }) => code,
    ),
  ].map(([code, named]) => [code, named.find(({ status }) => status !== undefined)?.status]),
);

const XML_ONLY =
  'a assinatura do XML é um elemento do documento; a de um corpo JSON vem no cabeçalho e tem os seus códigos';
const JSON_ONLY = 'a assinatura do corpo JSON vem no cabeçalho; a do XML é um elemento e tem os seus códigos';
const DECLARED = 'a DPS em XML não tem onde declarar o valor, que o serviço calcula';

/** Codes that no document for issuance provokes, and the reason; in Portuguese, for the report that quotes it. */
export const WITHOUT_DOCUMENT: Readonly<Record<string, string>> = {
  E202: 'nome antigo do E002, que se envia em seu lugar (decisão D-12)',
  E303: 'nome antigo do E0014, que se envia em seu lugar (decisão D-13)',
  E502: 'nome antigo do E002, que se envia em seu lugar (decisão D-13)',
  E301: 'só nas consultas: nenhuma nota tem a chave pedida',
  E601: 'só nas consultas e em endereços que não existem',
  E703: 'falha passageira do serviço, que não depende do documento',
  E999: 'falha interna, que não depende do documento',
};

/** Codes that only an event request provokes, and when; in Portuguese, for the same report. */
export const BY_EVENTO: Readonly<Record<string, string>> = {
  E302: 'um evento para uma nota cancelada, ou outro cancelamento enquanto um está em andamento',
  E9016: 'um evento que só a prefeitura registra',
};

/** Codes that only JSON provokes, and the reason why XML does not. */
export const WITHOUT_XML: Readonly<Record<string, string>> = {
  E404: DECLARED,
  E1301: 'a DPS em XML não declara o município de incidência (decisão D-22)',
  E1317: 'a DPS em XML não declara o município de incidência (decisão D-22)',
  E1321: 'a DPS em XML não declara o município de incidência (decisão D-22)',
  E1539: DECLARED,
  E1568: DECLARED,
  E9002: JSON_ONLY,
  E9003: JSON_ONLY,
  E9006: JSON_ONLY,
  E9007: JSON_ONLY,
};

/** Codes that only XML provokes, and the reason why JSON does not. */
export const WITHOUT_JSON: Readonly<Record<string, string>> = {
  E110: 'um corpo JSON não traz versão: é sempre do leiaute 1.01',
  E201: 'um corpo JSON malformado responde E003',
  E901: XML_ONLY,
  E902: XML_ONLY,
  E903: XML_ONLY,
  E904: XML_ONLY,
  E905: XML_ONLY,
  E906: XML_ONLY,
};
