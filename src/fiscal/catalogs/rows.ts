/**
 * The columns of each national catalog, and the closed lists of their values.
 *
 * It imports no data, so `scripts/generate-catalogs.ts` can write the files against these very types before they exist. Property names are
 * the columns of the files: published names unchanged, the others ours.
 */

// Services

/**
 * The rules of ISSQN incidence (LC 116 art. 3): EP provider's establishment, LP place of provision, ET taker's establishment, NI nobody. An
 * import (provider or provision abroad) is due at the domicile of the emitting taker or intermediary. That domicile prevails over EP, LP
 * and ET. The generator fails if the national table ever makes an exception to that.
 */
export const REGRAS_INCIDENCIA = ['EP', 'LP', 'ET', 'NI'] as const;
export type RegraIncidencia = (typeof REGRAS_INCIDENCIA)[number];

/** `cabecalho` heads a group of codes; `futuro` is named by the tax reform and not yet in any edition of Anexo B. */
export const SITUACOES_SERVICO = ['vigente', 'cabecalho', 'futuro'] as const;
export const NIVEIS_SERVICO = ['item', 'subitem', 'desdobro'] as const;
export const GRUPOS_OBRIGATORIOS = ['obra', 'atvEvento'] as const;

/** A line of `servicos.json`, before `emissivel` decides which optional columns it must have. */
export interface ServicoLinha {
  /** Six digits: the value of `cTribNac`. */
  readonly codigo: string;
  readonly descricao: string;
  /** Two digits. */
  readonly item: string;
  /** `01.01`, as LC 116 writes it; an item has none. */
  readonly subitem?: string;
  readonly nivel: (typeof NIVEIS_SERVICO)[number];
  readonly emissivel: boolean;
  readonly situacao: (typeof SITUACOES_SERVICO)[number];
  readonly regra?: RegraIncidencia;
  /** False if the national table has no rule: headings, future codes, and 200102 (decided in D-80). */
  readonly regraPublicada: boolean;
  /** The provision of LC 116 with the place of this service: `Art. 3º, XXII`. LC 116 says EP for 14.14, the table LP. */
  readonly dispositivoLC116?: string;
  /** The group that a DPS with this code must carry. 990101 may carry either and must carry none. */
  readonly grupoObrigatorio?: (typeof GRUPOS_OBRIGATORIOS)[number];
}

/** A code that a note may carry; its place of incidence is therefore known. */
export interface ServicoEmissivel extends ServicoLinha {
  readonly emissivel: true;
  readonly subitem: string;
  readonly regra: RegraIncidencia;
}

/** A heading or a future code: it exists, and no note may carry it. */
interface ServicoNaoEmissivel extends ServicoLinha {
  readonly emissivel: false;
}

export type Servico = ServicoEmissivel | ServicoNaoEmissivel;

export const NIVEIS_NBS = ['capitulo', 'posicao', 'subposicao1', 'subposicao2', 'item', 'codigo'] as const;

/** A line of the Nomenclatura Brasileira de Serviços 2.0. */
export interface Nbs {
  /** Digits alone, as `cNBS` has them: nine in a leaf, fewer in a heading. */
  readonly codigo: string;
  /** `XX.XX.XX.XX-X`; leaves only. */
  readonly codigoFormatado?: string;
  /** The official spelling, `1.XXXX.XX.XX`, shorter in a heading. */
  readonly codigoOficial: string;
  /** Absent only in 999999999, which Anexo B lists without a text. */
  readonly descricao?: string;
  /** I to V; absent only in 999999999. */
  readonly secao?: string;
  readonly nivel: (typeof NIVEIS_NBS)[number];
  /** Whether Anexo B lists the leaf; four codes of nine digits are not listed. */
  readonly emissivel: boolean;
}

/**
 * The fields of DPS, NFS-e and evento whose values are enumerated, spelled as in the layout. The parent precedes a name that would
 * otherwise mean two fields. The generator fails if the national table has other fields.
 */
export const CAMPOS_ENUMERADOS = [
  'ambGer',
  'cMotivoEmisTI',
  'cNaoNIF',
  'cStat',
  'evento/ambGer',
  'finNFSe',
  'indDest',
  'indFinal',
  'indTotTrib',
  'mdic',
  'mdPrestacao',
  'mecAFComexP',
  'mecAFComexT',
  'movTempBens',
  'opSimpNac',
  'piscofins/CST',
  'procEmi',
  'regApTribSN',
  'regEspTrib',
  'subst/cMotivo',
  'tipoChaveDFe',
  'tpAmb',
  'tpBM',
  'tpDedRed',
  'tpEmis',
  'tpEmit',
  'tpEnteGov',
  'tpImunidade',
  'tpOper',
  'tpReeRepRes',
  'tpRetISSQN',
  'tpRetPisCofins',
  'tpSusp',
  'tribISSQN',
  'vincPrest',
] as const;
export type CampoEnumerado = (typeof CAMPOS_ENUMERADOS)[number];

/** One value of an enumerated field of layout 1.01. */
export interface ValorEnumerado {
  readonly campo: CampoEnumerado;
  /** The exact spelling of the schema: `01` where it has two digits. */
  readonly codigo: string;
  readonly descricao: string;
  /**
   * No DPS may carry the value nationally: it is for notes that a municipality shares with the ADN. The specification of the service
   * prevails where it differs, as for `cNaoNIF` 0.
   */
  readonly soCompartilhamento: boolean;
}

// Places and currencies

/** A municipality, or the Distrito Federal. */
export interface Municipio {
  /** Seven digits, state first. The last is a check digit, except in nine real codes that do not follow the rule. */
  readonly codigoIbge: string;
  readonly nome: string;
  readonly uf: string;
  /** IANA zone: the notes of a municipality bear its own local time, and Brazil has four. */
  readonly fusoHorario: string;
}

/** A country of `cPais`: ISO 3166-1 and the reserved `ZZ`. */
export interface Pais {
  /** ISO 3166-1 alpha-2. */
  readonly codigo: string;
  readonly nome: string;
  /** The central bank's four digits, which the NF-e uses; absent if the sources disagree. No DPS carries it. */
  readonly codigoBacen?: string;
  /** False for `BR`, which is not abroad, and for `ZZ`. */
  readonly aceitoEnderecoExterior: boolean;
}

/** A currency of `tpMoeda`. */
export interface Moeda {
  /** The central bank's three digits, not those of ISO 4217: USD is 220, and 840 is another currency. */
  readonly codigo: string;
  readonly sigla: string;
  readonly nome: string;
  /** False for a currency that is no longer in circulation; the national table still lists it. */
  readonly ativa: boolean;
  /** Why the code or the letters are in doubt or out of use. */
  readonly nota?: string;
}

// IBS and CBS

export const TIPOS_ALIQUOTA = ['Padrão', 'Uniforme setorial', 'Uniforme nacional', 'Fixa', 'Sem alíquota'] as const;

/** A cClassTrib. The whole table is kept, so that a message can say "exists, but not for services". */
export interface Classificacao {
  /** Six digits: the value of `cClassTrib`. The first three are its CST. */
  readonly codigo: string;
  readonly cst: string;
  /** The short name; absent in codes that only the portal has so far. */
  readonly nome?: string;
  readonly descricao: string;
  readonly tipoAliquota: (typeof TIPOS_ALIQUOTA)[number];
  /** Reduction of the rate in percent, decimal text. The two differ in 200025 (60 and 100). */
  readonly pRedIBS: string;
  readonly pRedCBS: string;
  readonly ind_gTribRegular: boolean;
  readonly ind_gCredPresOper: boolean;
  /** Absent, like `tpRBSN`, in the nine codes of 01/10/2026: no public source states them. */
  readonly ind_gEstornoCred?: boolean;
  /** Treatment of the revenue in the base of the Simples Nacional; the source does not say what each value means. */
  readonly tpRBSN?: string;
  readonly indNFSe: boolean;
  /** Valid only in the NFS-e of toll roads. */
  readonly indNFSeVia: boolean;
  /** The documents that it is valid in, by their short names, separated by spaces; absent if none. */
  readonly documentos?: string;
  readonly artigoLC214?: string;
  /** `YYYY-MM-DD`. */
  readonly inicioVigencia: string;
  readonly fimVigencia?: string;
}

/** A CST of IBS and CBS, and the groups that it opens. */
export interface Cst {
  /** Three digits. */
  readonly codigo: string;
  readonly descricao: string;
  readonly ind_gIBSCBS: boolean;
  readonly ind_gIBSCBSMono: boolean;
  readonly ind_gRed: boolean;
  readonly ind_gDif: boolean;
  readonly ind_gTransfCred: boolean;
  readonly ind_gCredPresIBSZFM: boolean;
  readonly ind_gAjusteCompet: boolean;
  readonly ind_RedutorBC: boolean;
}

/** A presumed credit of `cCredPres`. Its amount is absent here, because the source states it only in prose. */
export interface CreditoPresumido {
  /** Two digits. */
  readonly codigo: string;
  readonly descricao: string;
  readonly ind_gIBSCredPres: boolean;
  readonly ind_gCBSCredPres: boolean;
  readonly indNFSe: boolean;
  readonly documentos: string;
  /** `YYYY-MM-DD`. */
  readonly inicioIBS?: string;
  readonly inicioCBS?: string;
}

/**
 * The address of the DPS that gives the place of the operation. `destOuToma` is `IBSCBS/dest` when `indDest` is 1 and `toma` otherwise;
 * `destOuTomaExterior` is the same with the address abroad.
 */
export const CAMPOS_LOCAL = [
  'cLocPrestacao',
  'prest',
  'dest',
  'destOuToma',
  'destOuTomaExterior',
  'atvEvento',
] as const;

/** An operation indicator: which operation, and where it takes place. */
export interface Indicador {
  /** Six digits: the value of `cIndOp`. */
  readonly codigo: string;
  readonly tipoOperacao: string;
  readonly caracteristicaFornecimento: string;
  readonly localFornecimento: string;
  readonly dispositivoLC214?: string;
  /** Known for the codes of Anexo C, except 080101, which only the NFS-e Via uses. */
  readonly campoLocal?: (typeof CAMPOS_LOCAL)[number];
  readonly observacao?: string;
  /** Whether it is in Anexo C, which the national environment checks (E0901). */
  readonly emAnexoC: boolean;
  /** Absent in 020102, because the sources do not say. */
  readonly validoNFSe?: boolean;
}

/**
 * One allowed combination of service, NBS, operation indicator and classification (Anexo VIII). Its publisher calls it initial work, so it
 * yields warnings and suggestions, never refusals (decided in D-84).
 */
export interface Correlacao {
  /** `01.01`. */
  readonly subitem: string;
  /** Only in item 99, where the annex is more specific than the subitem. */
  readonly cTribNac?: string;
  readonly nbs?: string;
  readonly cIndOp?: string;
  readonly cClassTrib?: string;
  /** The combination holds only for an onerous (or only for a non-onerous) operation; absent: for either. */
  readonly psOnerosa?: boolean;
  /** The combination holds only for an acquirer abroad (or only for one in the country); absent: for either. */
  readonly adqExterior?: boolean;
  /** Names the service if the annex gives no NBS. */
  readonly nota?: string;
}

export const TRIBUTOS_IBS_CBS = ['IBS-UF', 'IBS-MUN', 'CBS'] as const;
export type TributoIbsCbs = (typeof TRIBUTOS_IBS_CBS)[number];

/**
 * Percentages that the calculation uses besides the rates, the same for everybody. Government purchases have the reducer and the shares of
 * the CBS that go to a buying state or municipality. Each presumed credit of an NFS-e has its own, by `cCredPres`.
 */
const PERCENTUAIS_IBS_CBS = [
  'REDUTOR-COMPRA-GOV',
  'TRANSFERENCIA-CBS-GOV',
  'CRED-PRES-01-IBS',
  'CRED-PRES-01-CBS',
  'CRED-PRES-02-IBS',
  'CRED-PRES-02-CBS',
] as const;
export type PercentualIbsCbs = (typeof PERCENTUAIS_IBS_CBS)[number];

/** All subjects of a row of the table of rates, and all that a note may wait for. */
export const LINHAS_IBS_CBS = [...TRIBUTOS_IBS_CBS, ...PERCENTUAIS_IBS_CBS] as const;
export type LinhaIbsCbs = (typeof LINHAS_IBS_CBS)[number];

/** `pendente`: the law says who shall fix the rate, and the rate is not fixed yet. */
export const SITUACOES_ALIQUOTA = ['confirmada', 'texto_legal', 'pendente'] as const;

/** A rate of the shipped table, and its days in force, both included. */
export interface AliquotaIbsCbs {
  readonly tributo: LinhaIbsCbs;
  /** The classification that has its own rate; absent: the rate is general. */
  readonly cClassTrib?: string;
  /** `YYYY-MM-DD`; a row without an end holds until another row begins. */
  readonly inicio: string;
  readonly fim?: string;
  /** Percent, decimal text of up to four decimals; absent while `pendente`. */
  readonly aliquota?: string;
  /** The source of the rate. */
  readonly fonte: string;
  readonly baseLegal: string;
  readonly situacao: (typeof SITUACOES_ALIQUOTA)[number];
}
