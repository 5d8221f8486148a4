/**
 * The JSON body of issuance as one table: every property, and its place in the DPS (D-24).
 *
 * The names are flat snake_case like those of the `nota`, with groups for the parts that senders see as groups. The allowed values, the
 * required elements and their order are defined in `dps.ts` alone. A path that is missing there is a bug, found when the table is loaded.
 * Reading is in `read-corpo.ts`, writing in `write-corpo.ts`.
 */
import type { NfsePath } from './nfse.ts';
import { type SimpleType, T } from './simple-types.ts';

/** A technical default for an omitted property; the service itself knows `ambiente`. */
type Padrao = { readonly texto: string } | 'ambiente';

/** A property with one value. */
export type Campo = {
  readonly kind: 'campo';
  readonly name: string;
  /** Paths below the group around it; more than one only for `cpf_cnpj`, which is a CNPJ or a CPF by its length. */
  readonly paths: readonly [string, ...string[]];
  readonly padrao?: Padrao;
  /** A whole number may also be written without quotes. */
  readonly integer?: boolean;
  /** A list of values. */
  readonly many?: boolean;
};

/** A property with an object, or with a list of them. */
export type Grupo = {
  readonly kind: 'grupo';
  readonly name: string;
  readonly path: string;
  readonly items: readonly Item[];
  readonly many?: boolean;
};

/** A property without an element of the DPS: it is compared with the value that the service computes. */
export type Declaracao = {
  readonly kind: 'declaracao';
  readonly name: string;
  /** The field of the note that the value is compared with, below `NFSe/infNFSe`. */
  readonly note: NfsePath;
  readonly type: SimpleType;
};

export type Item = Campo | Grupo | Declaracao;

type CampoMore = Partial<Pick<Campo, 'padrao' | 'integer' | 'many'>>;

function campo(name: string, path: string, more: CampoMore = {}): Campo {
  return { kind: 'campo', name, paths: [path], ...more };
}

function cpfCnpj(name: string, path: string): Campo {
  return { kind: 'campo', name, paths: [`${path}CNPJ`, `${path}CPF`] };
}

function grupo(name: string, path: string, items: readonly Item[]): Grupo {
  return { kind: 'grupo', name, path, items };
}

function lista(name: string, path: string, items: readonly Item[]): Grupo {
  return { kind: 'grupo', name, path, items, many: true };
}

function declaracao(name: string, note: NfsePath, type: SimpleType): Declaracao {
  return { kind: 'declaracao', name, note, type };
}

const RUA: readonly Item[] = [
  campo('logradouro', 'xLgr'),
  campo('numero', 'nro'),
  campo('complemento', 'xCpl'),
  campo('bairro', 'xBairro'),
];

const EXTERIOR: readonly Item[] = [
  campo('codigo_postal', 'cEndPost'),
  campo('cidade', 'xCidade'),
  campo('estado_provincia_regiao', 'xEstProvReg'),
];

/** The address of a party: within the country the fields of `endNac` stand beside the others. */
const ENDERECO: readonly Item[] = [
  campo('codigo_municipio', 'endNac/cMun'),
  campo('cep', 'endNac/CEP'),
  grupo('exterior', 'endExt', [campo('codigo_pais', 'cPais'), ...EXTERIOR]),
  ...RUA,
];

/** The address of a work, a property, an event. */
const LOCAL: readonly Item[] = [campo('cep', 'CEP'), grupo('exterior', 'endExt', EXTERIOR), ...RUA];

/** The names have a prefix in the body itself, and none in a group of their own. */
function identificacao(prefix: string, path: string): readonly Item[] {
  return [
    cpfCnpj(`${prefix}cpf_cnpj`, path),
    campo(`${prefix}nif`, `${path}NIF`),
    campo(`${prefix}motivo_sem_nif`, `${path}cNaoNIF`),
  ];
}

function contato(prefix: string, path: string): readonly Item[] {
  return [
    grupo(`${prefix}endereco`, `${path}end`, ENDERECO),
    campo(`${prefix}telefone`, `${path}fone`),
    campo(`${prefix}email`, `${path}email`),
  ];
}

function pessoa(prefix: string, path: string): readonly Item[] {
  return [
    ...identificacao(prefix, path),
    campo(`${prefix}caepf`, `${path}CAEPF`),
    campo(`${prefix}inscricao_municipal`, `${path}IM`),
    campo(`${prefix}razao_social`, `${path}xNome`),
    ...contato(prefix, path),
  ];
}

const DOCUMENTO_DEDUCAO: readonly Item[] = [
  campo('chave_nfse', 'chNFSe'),
  campo('chave_nfe', 'chNFe'),
  grupo('nfse_municipal', 'NFSeMun', [
    campo('codigo_municipio', 'cMunNFSeMun'),
    campo('numero', 'nNFSeMun'),
    campo('codigo_verificacao', 'cVerifNFSeMun'),
  ]),
  grupo('nota_papel', 'NFNFS', [campo('numero', 'nNFS'), campo('modelo', 'modNFS'), campo('serie', 'serieNFS')]),
  campo('numero_documento_fiscal', 'nDocFisc'),
  campo('numero_documento_nao_fiscal', 'nDoc'),
  campo('tipo', 'tpDedRed'),
  campo('descricao_tipo', 'xDescOutDed'),
  campo('data_emissao', 'dtEmiDoc'),
  campo('valor_dedutivel', 'vDedutivelRedutivel'),
  campo('valor', 'vDeducaoReducao'),
  grupo('fornecedor', 'fornec', pessoa('', '')),
];

const DOCUMENTO_REEMBOLSO: readonly Item[] = [
  grupo('documento_nacional', 'dFeNacional', [
    campo('tipo_chave', 'tipoChaveDFe'),
    campo('descricao_tipo_chave', 'xTipoChaveDFe'),
    campo('chave', 'chaveDFe'),
  ]),
  grupo('documento_fiscal_outro', 'docFiscalOutro', [
    campo('codigo_municipio', 'cMunDocFiscal'),
    campo('numero', 'nDocFiscal'),
    campo('descricao', 'xDocFiscal'),
  ]),
  grupo('documento_nao_fiscal', 'docOutro', [campo('numero', 'nDoc'), campo('descricao', 'xDoc')]),
  grupo('fornecedor', 'fornec', [...identificacao('', ''), campo('razao_social', 'xNome')]),
  campo('data_emissao', 'dtEmiDoc'),
  campo('data_competencia', 'dtCompDoc'),
  campo('tipo', 'tpReeRepRes'),
  campo('descricao_tipo', 'xTpReeRepRes'),
  campo('valor', 'vlrReeRepRes'),
];

/** The values of `ibscbs` that a sender may declare, each with the field of the note for its comparison. */
export const DECLARADOS_IBSCBS = {
  valores_base_calculo: ['IBSCBS/valores/vBC', T.valor],
  valores_aliquota_ibs_uf: ['IBSCBS/valores/uf/pIBSUF', T.percentual3],
  valores_aliquota_ibs_municipal: ['IBSCBS/valores/mun/pIBSMun', T.percentual3],
  valores_aliquota_cbs: ['IBSCBS/valores/fed/pCBS', T.percentual3],
  valores_aliquota_efetiva_ibs_uf: ['IBSCBS/valores/uf/pAliqEfetUF', T.percentual3],
  valores_aliquota_efetiva_ibs_municipal: ['IBSCBS/valores/mun/pAliqEfetMun', T.percentual3],
  valores_aliquota_efetiva_cbs: ['IBSCBS/valores/fed/pAliqEfetCBS', T.percentual3],
  total_ibs_uf: ['IBSCBS/totCIBS/gIBS/gIBSUFTot/vIBSUF', T.valor],
  total_ibs_municipal: ['IBSCBS/totCIBS/gIBS/gIBSMunTot/vIBSMun', T.valor],
  total_ibs: ['IBSCBS/totCIBS/gIBS/vIBSTot', T.valor],
  total_cbs: ['IBSCBS/totCIBS/gCBS/vCBS', T.valor],
  total_nota: ['IBSCBS/totCIBS/vTotNF', T.valor],
} as const satisfies Readonly<Record<string, readonly [NfsePath, SimpleType]>>;

const GIBSCBS = 'valores/trib/gIBSCBS';

const IBSCBS: readonly Item[] = [
  campo('CST', `${GIBSCBS}/CST`),
  campo('cClassTrib', `${GIBSCBS}/cClassTrib`),
  campo('finalidade', 'finNFSe'),
  campo('uso_consumo_pessoal', 'indFinal'),
  campo('codigo_indicador_operacao', 'cIndOp'),
  campo('tipo_operacao', 'tpOper'),
  campo('notas_referenciadas', 'gRefNFSe/refNFSe', { many: true }),
  campo('tipo_ente_governamental', 'tpEnteGov'),
  campo('indicador_destinatario', 'indDest'),
  grupo('destinatario', 'dest', [...identificacao('', ''), campo('razao_social', 'xNome'), ...contato('', '')]),
  grupo('imovel', 'imovel', [
    campo('inscricao_imobiliaria', 'inscImobFisc'),
    campo('codigo_cib', 'cCIB'),
    grupo('endereco', 'end', LOCAL),
  ]),
  lista('reembolsos', 'valores/gReeRepRes/documentos', DOCUMENTO_REEMBOLSO),
  campo('codigo_credito_presumido', `${GIBSCBS}/cCredPres`),
  grupo('tributacao_regular', `${GIBSCBS}/gTribRegular`, [
    campo('CST', 'CSTReg'),
    campo('cClassTrib', 'cClassTribReg'),
  ]),
  grupo('diferimento', `${GIBSCBS}/gDif`, [
    campo('percentual_ibs_uf', 'pDifUF'),
    campo('percentual_ibs_municipal', 'pDifMun'),
    campo('percentual_cbs', 'pDifCBS'),
  ]),
  ...Object.entries(DECLARADOS_IBSCBS).map(([name, [note, type]]) => declaracao(name, note, type)),
];

const TRIB_MUN = 'valores/trib/tribMun';
const TOT_TRIB = 'valores/trib/totTrib';

/** The `verAplic` of a sender whose program does not name itself. */
const VER_APLIC = 'API JSON v1';

/** The body, in the order in which a sender thinks: that of the DPS, with `ibscbs` as the specification has it. */
export const CORPO: readonly Item[] = [
  campo('tipo_ambiente', 'tpAmb', { padrao: 'ambiente' }),
  campo('versao_aplicativo', 'verAplic', { padrao: { texto: VER_APLIC } }),
  campo('serie_dps', 'serie'),
  campo('numero_dps', 'nDPS', { integer: true }),
  campo('data_competencia', 'dCompet'),
  campo('tipo_emitente', 'tpEmit', { padrao: { texto: '1' } }),
  campo('motivo_emissao', 'cMotivoEmisTI'),
  campo('chave_nfse_rejeitada', 'chNFSeRej'),
  campo('municipio_emissor', 'cLocEmi'),
  grupo('substituicao', 'subst', [
    campo('chave_substituida', 'chSubstda'),
    campo('codigo_motivo', 'cMotivo'),
    campo('descricao_motivo', 'xMotivo'),
  ]),
  ...pessoa('prestador_', 'prest/'),
  campo('prestador_opcao_simples_nacional', 'prest/regTrib/opSimpNac'),
  campo('prestador_regime_apuracao_simples', 'prest/regTrib/regApTribSN'),
  campo('prestador_regime_especial', 'prest/regTrib/regEspTrib', { padrao: { texto: '0' } }),
  ...pessoa('tomador_', 'toma/'),
  ...pessoa('intermediario_', 'interm/'),
  campo('municipio_prestacao', 'serv/locPrest/cLocPrestacao'),
  campo('pais_prestacao', 'serv/locPrest/cPaisPrestacao'),
  campo('codigo_tributacao_nacional', 'serv/cServ/cTribNac'),
  campo('codigo_tributacao_municipal', 'serv/cServ/cTribMun'),
  campo('descricao_servico', 'serv/cServ/xDescServ'),
  campo('codigo_nbs', 'serv/cServ/cNBS'),
  campo('codigo_interno_contribuinte', 'serv/cServ/cIntContrib'),
  grupo('comercio_exterior', 'serv/comExt', [
    campo('modo_prestacao', 'mdPrestacao'),
    campo('vinculo_partes', 'vincPrest'),
    campo('codigo_moeda', 'tpMoeda'),
    campo('valor_moeda_estrangeira', 'vServMoeda'),
    campo('mecanismo_apoio_prestador', 'mecAFComexP'),
    campo('mecanismo_apoio_tomador', 'mecAFComexT'),
    campo('movimentacao_temporaria_bens', 'movTempBens'),
    campo('numero_declaracao_importacao', 'nDI'),
    campo('numero_registro_exportacao', 'nRE'),
    campo('compartilhar_mdic', 'mdic'),
  ]),
  grupo('obra', 'serv/obra', [
    campo('inscricao_imobiliaria', 'inscImobFisc'),
    campo('numero_obra', 'cObra'),
    campo('codigo_cib', 'cCIB'),
    grupo('endereco', 'end', LOCAL),
  ]),
  grupo('atividade_evento', 'serv/atvEvento', [
    campo('nome', 'xNome'),
    campo('data_inicio', 'dtIni'),
    campo('data_fim', 'dtFim'),
    campo('codigo_evento', 'idAtvEvt'),
    grupo('endereco', 'end', LOCAL),
  ]),
  grupo('informacoes_complementares', 'serv/infoCompl', [
    campo('documento_tecnico', 'idDocTec'),
    campo('documento_referencia', 'docRef'),
    campo('texto', 'xInfComp'),
  ]),
  campo('valor_recebido', 'valores/vServPrest/vReceb'),
  campo('valor_servico', 'valores/vServPrest/vServ'),
  campo('desconto_incondicionado', 'valores/vDescCondIncond/vDescIncond'),
  campo('desconto_condicionado', 'valores/vDescCondIncond/vDescCond'),
  grupo('deducao_reducao', 'valores/vDedRed', [
    campo('percentual', 'pDR'),
    campo('valor', 'vDR'),
    lista('documentos', 'documentos/docDedRed', DOCUMENTO_DEDUCAO),
  ]),
  campo('tributacao_issqn', `${TRIB_MUN}/tribISSQN`),
  campo('pais_resultado', `${TRIB_MUN}/cPaisResult`),
  campo('tipo_imunidade', `${TRIB_MUN}/tpImunidade`),
  grupo('exigibilidade_suspensa', `${TRIB_MUN}/exigSusp`, [
    campo('tipo', 'tpSusp'),
    campo('numero_processo', 'nProcesso'),
  ]),
  grupo('beneficio_municipal', `${TRIB_MUN}/BM`, [
    campo('numero', 'nBM'),
    campo('valor_reducao', 'vRedBCBM'),
    campo('percentual_reducao', 'pRedBCBM'),
  ]),
  campo('retencao_issqn', `${TRIB_MUN}/tpRetISSQN`, { padrao: { texto: '1' } }),
  campo('aliquota_issqn', `${TRIB_MUN}/pAliq`),
  declaracao('municipio_incidencia', 'cLocIncid', T.cMun),
  declaracao('valor_base_calculo', 'valores/vBC', T.valor),
  declaracao('valor_issqn', 'valores/vISSQN', T.valor),
  grupo('tributos_federais', 'valores/trib/tribFed', [
    grupo('pis_cofins', 'piscofins', [
      campo('CST', 'CST'),
      campo('valor_base_calculo', 'vBCPisCofins'),
      campo('aliquota_pis', 'pAliqPis'),
      campo('aliquota_cofins', 'pAliqCofins'),
      campo('valor_pis', 'vPis'),
      campo('valor_cofins', 'vCofins'),
      campo('tipo_retencao', 'tpRetPisCofins'),
    ]),
    campo('valor_retido_cp', 'vRetCP'),
    campo('valor_retido_irrf', 'vRetIRRF'),
    campo('valor_retido_csll', 'vRetCSLL'),
  ]),
  grupo('total_tributos', TOT_TRIB, [
    grupo('valores', 'vTotTrib', [
      campo('federal', 'vTotTribFed'),
      campo('estadual', 'vTotTribEst'),
      campo('municipal', 'vTotTribMun'),
    ]),
    grupo('percentuais', 'pTotTrib', [
      campo('federal', 'pTotTribFed'),
      campo('estadual', 'pTotTribEst'),
      campo('municipal', 'pTotTribMun'),
    ]),
    campo('indicador', 'indTotTrib', { padrao: { texto: '0' } }),
    campo('percentual_simples_nacional', 'pTotTribSN'),
  ]),
  grupo('ibscbs', 'IBSCBS', IBSCBS),
];

/**
 * Names that senders are likely to try, and the property that they mean in the same group. Tags of the DPS are omitted: a property is also
 * found by its tag.
 */
export const LIKELY: Readonly<Record<string, string>> = {
  serie: 'serie_dps',
  numero: 'numero_dps',
  competencia: 'data_competencia',
  ambiente: 'tipo_ambiente',
  municipio: 'codigo_municipio',
  codigo_ibge: 'codigo_municipio',
  prestador_cnpj: 'prestador_cpf_cnpj',
  prestador_cpf: 'prestador_cpf_cnpj',
  prestador_nome: 'prestador_razao_social',
  tomador_cnpj: 'tomador_cpf_cnpj',
  tomador_cpf: 'tomador_cpf_cnpj',
  tomador_nome: 'tomador_razao_social',
  intermediario_cnpj: 'intermediario_cpf_cnpj',
  intermediario_cpf: 'intermediario_cpf_cnpj',
  intermediario_nome: 'intermediario_razao_social',
  cnpj: 'cpf_cnpj',
  cpf: 'cpf_cnpj',
  nome: 'razao_social',
  inscricao_municipal: 'prestador_inscricao_municipal',
  optante_simples_nacional: 'prestador_opcao_simples_nacional',
  simples_nacional: 'prestador_opcao_simples_nacional',
  regime_especial_tributacao: 'prestador_regime_especial',
  codigo_municipio_prestacao: 'municipio_prestacao',
  local_prestacao: 'municipio_prestacao',
  codigo_municipio_emissor: 'municipio_emissor',
  codigo_servico: 'codigo_tributacao_nacional',
  item_lista_servico: 'codigo_tributacao_nacional',
  codigo_tributacao_municipio: 'codigo_tributacao_municipal',
  nbs: 'codigo_nbs',
  discriminacao: 'descricao_servico',
  descricao: 'descricao_servico',
  valor: 'valor_servico',
  valor_servicos: 'valor_servico',
  valor_total: 'valor_servico',
  base_calculo: 'valor_base_calculo',
  valor_base_calculo: 'valores_base_calculo',
  valor_ibs: 'total_ibs',
  valor_ibs_uf: 'total_ibs_uf',
  valor_ibs_municipio: 'total_ibs_municipal',
  valor_ibs_municipal: 'total_ibs_municipal',
  valor_cbs: 'total_cbs',
  total_nf: 'total_nota',
  valor_iss: 'valor_issqn',
  aliquota: 'aliquota_issqn',
  aliquota_iss: 'aliquota_issqn',
  iss_retido: 'retencao_issqn',
  tributacao_iss: 'tributacao_issqn',
  informacoes_adicionais: 'informacoes_complementares',
  rua: 'logradouro',
  estado: 'estado_provincia_regiao',
  provincia: 'estado_provincia_regiao',
  pais: 'codigo_pais',
  cst: 'CST',
  classificacao_tributaria: 'cClassTrib',
  codigo_classificacao_tributaria: 'cClassTrib',
};

/** Interchangeable words of names, in the spelling of the body; empty: a word that may be left out. */
export const SYNONYMS: Readonly<Record<string, string>> = {
  mun: 'municipal',
  municipio: 'municipal',
  estado: 'uf',
  estadual: 'uf',
  valores: '',
  de: '',
  da: '',
  do: '',
};

/** Properties that a sender may expect and that do not exist, with the advice for each. */
export const NEEDLESS: Readonly<Record<string, string>> = {
  versao: 'o corpo JSON é sempre do leiaute 1.01; retire-o',
  data_emissao: 'a data e hora da emissão é escrita pelo serviço; retire-o e envie data_competencia',
  uf: 'a unidade da federação vem do município; retire-o',
  estado: 'a unidade da federação vem do município; retire-o',
  cidade: 'o nome da cidade vem de codigo_municipio; retire-o',
};
