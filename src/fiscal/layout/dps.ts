/**
 * The whole DPS 1.01 as one table, in the national order; our specification prevails.
 *
 * `need`/`may` follow the national schema; `sent` says what is required of a sender if that differs (D-12, D-15, D-17, D-34). Elements of
 * the NFS-e alone stand in `nfse.ts`, value types in `simple-types.ts`, rules between fields in `../rules/`.
 */
import { DO_LEIAUTE_FUTURO, ELEMENTOS_FUTUROS } from './leiaute-futuro.ts';
import { T } from './simple-types.ts';
import { atMostOneOf, type Codes, may, mayGroup, need, needGroup, oneOf, type Path, type Shape } from './vocabulary.ts';

/** The end of every address. */
export const ruaFields = [
  need('xLgr', T.xLgr, 'Logradouro'),
  need('nro', T.nro, 'Número'),
  may('xCpl', T.xCpl, 'Complemento'),
  need('xBairro', T.xBairro, 'Bairro'),
] as const;

/** A place abroad, without its country. */
const exteriorFields = [
  need('cEndPost', T.cEndPost, 'Código postal'),
  need('xCidade', T.xCidade, 'Cidade'),
  need('xEstProvReg', T.xEstProvReg, 'Estado, província ou região'),
] as const;

/** Address A: parties. */
const enderecoFields = [
  oneOf([
    needGroup('endNac', 'Endereço no Brasil', [
      need('cMun', T.cMun, 'Município (código IBGE)'),
      need('CEP', T.cep, 'CEP'),
    ]),
    needGroup('endExt', 'Endereço no exterior', [
      need('cPais', T.cPais, 'País (ISO 3166-1), diferente do Brasil', {
        codes: { missing: 'E0235', empty: 'E0235', format: 'E0246' },
      }),
      ...exteriorFields,
    ]),
  ]),
  ...ruaFields,
] as const;

/** Address B: a work, a property, an event. */
const localFields = [
  oneOf(
    [need('CEP', T.cep, 'CEP, quando no Brasil'), needGroup('endExt', 'Endereço no exterior', [...exteriorFields])],
    { many: 'E0382' },
  ),
  ...ruaFields,
] as const;

const contatoFields = [
  mayGroup('end', 'Endereço', enderecoFields),
  may('fone', T.fone, 'Telefone'),
  may('email', T.email, 'E-mail'),
] as const;

const nif = need('NIF', T.nif, 'Identificação fiscal no exterior', { codes: { empty: 'E0191' } });
const cNaoNIF = need('cNaoNIF', T.cNaoNIF, 'Motivo de não haver NIF: 0 sem NIF, 1 dispensado, 2 não exigido', {
  codes: { empty: 'E0193' },
});

/** The one identifier of a person. */
const identificacao = (codes?: Codes) =>
  oneOf(
    [need('CNPJ', T.cnpj, 'CNPJ'), need('CPF', T.cpf, 'CPF'), nif, cNaoNIF],
    codes,
    'Com endereço no exterior ficam o NIF ou o motivo de não o ter, e saem CNPJ e CPF; com endereço no Brasil, o contrário.',
  );

/** The rest of the person block after its identifier. */
const pessoaFields = [
  may('CAEPF', T.caepf, 'Cadastro de atividade econômica da pessoa física'),
  may('IM', T.im, 'Inscrição municipal'),
  need('xNome', T.xNome, 'Nome ou razão social'),
  ...contatoFields,
] as const;

const comExtCode = { codes: { missing: 'E1235', empty: 'E1235' } } as const;
const ibscbsCode = { codes: { missing: 'E802', empty: 'E802' } } as const;

/** Series of a DPS that names none (D-17). */
export const DEFAULT_SERIE = '70000';

export const INF_DPS = [
  need('tpAmb', T.tpAmb, 'Ambiente: 1 produção, 2 homologação'),
  need('dhEmi', T.dataHora, 'Data e hora da emissão; quem a escreve é o serviço', { sent: 'refused' }),
  need('verAplic', T.verAplic, 'Versão do programa que gerou a DPS'),
  need('serie', T.serie, `Série; sem ela, ${DEFAULT_SERIE}`, {
    sent: 'optional',
    codes: { format: 'E002', empty: 'E002' },
  }),
  need('nDPS', T.nDPS, 'Número dentro da série; sem ele, o número sequencial da NFS-e, ou o próximo livre', {
    sent: 'optional',
    codes: { format: 'E002', empty: 'E002' },
  }),
  need('dCompet', T.data, 'Competência: o dia do fato gerador'),
  need('tpEmit', T.tpEmit, 'Quem emite: 1 prestador, 2 tomador, 3 intermediário'),
  may('cMotivoEmisTI', T.cMotivoEmisTI, 'Motivo da emissão pelo tomador ou intermediário'),
  may('chNFSeRej', T.chaveNFSe, 'Chave da NFS-e rejeitada'),
  need('cLocEmi', T.cMun, 'Município emissor (código IBGE)'),
  mayGroup('subst', 'Nota substituída', [
    need('chSubstda', T.chaveNFSe, 'Chave da NFS-e substituída'),
    need('cMotivo', T.cMotivoSubst, 'Motivo da substituição'),
    may('xMotivo', T.xMotivo, 'Descrição do motivo, com 99'),
  ]),
  needGroup('prest', 'Prestador', [
    oneOf([need('CNPJ', T.cnpjPrest, 'CNPJ'), need('CPF', T.cpfPrest, 'CPF'), nif, cNaoNIF]),
    may('CAEPF', T.caepf, 'Cadastro de atividade econômica da pessoa física'),
    may('IM', T.im, 'Inscrição municipal'),
    may('xNome', T.xNome, 'Nome ou razão social', { emptyIsRead: true }),
    ...contatoFields,
    needGroup('regTrib', 'Regimes de tributação', [
      need('opSimpNac', T.opSimpNac, 'Simples Nacional: 1 não optante, 2 MEI, 3 ME/EPP'),
      may('regApTribSN', T.regApTribSN, 'Regime de apuração dos tributos do Simples Nacional'),
      need('regEspTrib', T.regEspTrib, 'Regime especial municipal; 0 nenhum'),
    ]),
  ]),
  mayGroup('toma', 'Tomador', [identificacao({ missing: 'E0188', many: 'E0188' }), ...pessoaFields]),
  mayGroup('interm', 'Intermediário', [identificacao(), ...pessoaFields]),
  needGroup('serv', 'Serviço', [
    needGroup('locPrest', 'Local da prestação', [
      oneOf([
        need('cLocPrestacao', T.cMun, 'Município da prestação; 0000000 em águas marítimas'),
        need('cPaisPrestacao', T.cPais, 'País da prestação, quando no exterior'),
      ]),
    ]),
    needGroup('cServ', 'Códigos do serviço', [
      need('cTribNac', T.cTribNac, 'Código de tributação nacional (item, subitem, desdobro)'),
      may('cTribMun', T.cTribMun, 'Código de tributação municipal'),
      need('xDescServ', T.xDescServ, 'Descrição do serviço'),
      may('cNBS', T.cNBS, 'Código NBS', { sent: 'required' }),
      may('cIntContrib', T.cIntContrib, 'Código interno do contribuinte'),
    ]),
    mayGroup('comExt', 'Comércio exterior', [
      need('mdPrestacao', T.mdPrestacao, 'Modo de prestação', comExtCode),
      need('vincPrest', T.vincPrest, 'Vínculo entre as partes', comExtCode),
      need('tpMoeda', T.tpMoeda, 'Moeda (tabela do Banco Central)', comExtCode),
      need('vServMoeda', T.valor, 'Valor na moeda estrangeira', { codes: { ...comExtCode.codes, value: 'E401' } }),
      need('mecAFComexP', T.mecAFComexP, 'Mecanismo de apoio usado pelo prestador', comExtCode),
      need('mecAFComexT', T.mecAFComexT, 'Mecanismo de apoio usado pelo tomador', comExtCode),
      need('movTempBens', T.movTempBens, 'Movimentação temporária de bens', comExtCode),
      may('nDI', T.nDI, 'Declaração de importação'),
      may('nRE', T.nRE, 'Registro de exportação'),
      need('mdic', T.mdic, 'Compartilhar com a Secretaria de Comércio Exterior', { sent: 'optional' }),
    ]),
    mayGroup('obra', 'Obra de construção civil', [
      may('inscImobFisc', T.inscImobFisc, 'Inscrição imobiliária municipal', { anywhere: true }),
      oneOf(
        [
          need('cObra', T.cObra, 'Número da obra (CNO ou CEI)'),
          need('cCIB', T.cCIB, 'Cadastro imobiliário brasileiro', { codes: { format: 'E0373', empty: 'E0373' } }),
          needGroup('end', 'Endereço da obra', localFields),
        ],
        { missing: 'E0011', many: 'E0011' },
      ),
    ]),
    mayGroup('atvEvento', 'Atividade de evento', [
      need('xNome', T.desc255, 'Nome do evento'),
      need('dtIni', T.data, 'Primeiro dia'),
      need('dtFim', T.data, 'Último dia'),
      oneOf([
        need('idAtvEvt', T.idAtvEvt, 'Código do evento dado pelo município'),
        needGroup('end', 'Endereço do evento', localFields),
      ]),
    ]),
    mayGroup('infoCompl', 'Informações complementares', [
      may('idDocTec', T.idDocTec, 'Documento de responsabilidade técnica'),
      may('docRef', T.desc255, 'Documento de referência'),
      may('xPed', T.nro, 'Número do pedido; só pela porta nacional', { sent: 'refused' }),
      mayGroup(
        'gItemPed',
        'Itens do pedido; só pela porta nacional',
        [need('xItemPed', T.nro, 'Item do pedido', { max: 99 })],
        { sent: 'refused' },
      ),
      may('xInfComp', T.xInfComp, 'Texto livre'),
    ]),
  ]),
  needGroup('valores', 'Valores', [
    needGroup('vServPrest', 'Valor do serviço', [
      may('vReceb', T.valor, 'Valor recebido pelo intermediário'),
      need('vServ', T.valor, 'Valor do serviço', { codes: { value: 'E401' } }),
    ]),
    mayGroup(
      'vDescCondIncond',
      'Descontos',
      [
        may('vDescIncond', T.valor, 'Desconto incondicionado (reduz a base)'),
        may('vDescCond', T.valor, 'Desconto condicionado (reduz só o líquido)'),
      ],
      { anywhere: true },
    ),
    mayGroup(
      'vDedRed',
      'Dedução ou redução da base do ISSQN',
      [
        oneOf([
          need('pDR', T.percentual3, 'Percentual'),
          need('vDR', T.valor, 'Valor'),
          needGroup('documentos', 'Documentos da dedução', [
            needGroup(
              'docDedRed',
              'Um documento',
              [
                oneOf([
                  need('chNFSe', T.chaveNFSe, 'Chave de NFS-e nacional'),
                  need('chNFe', T.chaveNFe, 'Chave de NF-e'),
                  needGroup('NFSeMun', 'Nota eletrônica municipal', [
                    need('cMunNFSeMun', T.cMun, 'Município emissor'),
                    need('nNFSeMun', T.num15, 'Número'),
                    need('cVerifNFSeMun', T.cVerifNFSeMun, 'Código de verificação'),
                  ]),
                  needGroup('NFNFS', 'Nota em papel', [
                    need('nNFS', T.num7, 'Número'),
                    need('modNFS', T.num15, 'Modelo'),
                    need('serieNFS', T.serieNFNFS, 'Série'),
                  ]),
                  need('nDocFisc', T.desc255, 'Outro documento fiscal'),
                  need('nDoc', T.desc255, 'Documento não fiscal'),
                ]),
                need('tpDedRed', T.tpDedRed, 'Tipo da dedução'),
                may('xDescOutDed', T.desc150, 'Descrição, com tipo 99'),
                need('dtEmiDoc', T.data, 'Data do documento'),
                need('vDedutivelRedutivel', T.valor, 'Valor que poderia ser deduzido'),
                need('vDeducaoReducao', T.valor, 'Valor deduzido aqui'),
                mayGroup('fornec', 'Fornecedor', [identificacao(), ...pessoaFields]),
              ],
              { max: 1000 },
            ),
          ]),
        ]),
      ],
      { anywhere: true },
    ),
    needGroup('trib', 'Tributos', [
      needGroup('tribMun', 'ISSQN', [
        need('tribISSQN', T.tribISSQN, 'Tributação: 1 tributável, 2 imunidade, 3 exportação, 4 não incidência'),
        may('cPaisResult', T.cPais, 'País do resultado, na exportação'),
        may('tpImunidade', T.tpImunidade, 'Tipo de imunidade'),
        mayGroup('exigSusp', 'Exigibilidade suspensa', [
          need('tpSusp', T.tpSusp, '1 decisão judicial, 2 processo administrativo'),
          need('nProcesso', T.nProcesso, 'Número do processo'),
        ]),
        mayGroup(
          'BM',
          'Benefício municipal',
          [
            need('nBM', T.nBM, 'Número do benefício', { sent: 'optional' }),
            atMostOneOf([
              need('vRedBCBM', T.valor, 'Redução da base em valor'),
              need('pRedBCBM', T.percentual3, 'Redução da base em percentual'),
            ]),
          ],
          { alias: 'bM' },
        ),
        need('tpRetISSQN', T.tpRetISSQN, 'Retenção: 1 não retido, 2 pelo tomador, 3 pelo intermediário'),
        may('pAliq', T.pAliq, 'Alíquota'),
      ]),
      mayGroup('tribFed', 'Tributos federais', [
        mayGroup('piscofins', 'PIS e COFINS, apuração própria', [
          need('CST', T.cstPisCofins, 'Situação tributária'),
          may('vBCPisCofins', T.valor, 'Base de cálculo'),
          may('pAliqPis', T.pAliqFederal, 'Alíquota do PIS', { codes: { value: 'E0686' } }),
          may('pAliqCofins', T.pAliqFederal, 'Alíquota da COFINS', { codes: { value: 'E0692' } }),
          may('vPis', T.valor, 'Débito do PIS'),
          may('vCofins', T.valor, 'Débito da COFINS'),
          may('tpRetPisCofins', T.tpRetPisCofins, 'O que está retido em vRetCSLL'),
        ]),
        may('vRetCP', T.valor, 'Contribuição previdenciária retida'),
        may('vRetIRRF', T.valor, 'Imposto de renda retido'),
        may('vRetCSLL', T.valor, 'PIS, COFINS e CSLL retidos'),
      ]),
      needGroup('totTrib', 'Total aproximado dos tributos', [
        oneOf([
          needGroup('vTotTrib', 'Em valores', [
            need('vTotTribFed', T.valor, 'Federais'),
            need('vTotTribEst', T.valor, 'Estaduais'),
            need('vTotTribMun', T.valor, 'Municipais'),
          ]),
          needGroup('pTotTrib', 'Em percentuais', [
            need('pTotTribFed', T.percentual3, 'Federais'),
            need('pTotTribEst', T.percentual3, 'Estaduais'),
            need('pTotTribMun', T.percentual3, 'Municipais'),
          ]),
          need('indTotTrib', T.indTotTrib, '0: sem estimativa'),
          need('pTotTribSN', T.percentual2, 'Percentual do Simples Nacional'),
        ]),
      ]),
    ]),
  ]),
  mayGroup(
    'IBSCBS',
    'IBS e CBS',
    [
      need('finNFSe', T.finNFSe, 'Finalidade: 0 regular', { sent: 'optional' }),
      may('indFinal', T.indFinal, 'Uso ou consumo pessoal'),
      need('cIndOp', T.cIndOp, 'Indicador da operação', { sent: 'optional' }),
      may('tpOper', T.tpOper, 'Ordem entre fornecimento e pagamento'),
      mayGroup('gRefNFSe', 'Notas referenciadas', [need('refNFSe', T.chaveNFSe, 'Chave', { max: 99 })]),
      may('tpEnteGov', T.tpEnteGov, 'Ente governamental comprador'),
      need('indDest', T.indDest, 'Destinatário: 0 é o tomador, 1 é outro', { sent: 'optional' }),
      mayGroup('dest', 'Destinatário', [
        identificacao(),
        need('xNome', T.desc150, 'Nome ou razão social'),
        ...contatoFields,
      ]),
      mayGroup('imovel', 'Imóvel', [
        may('inscImobFisc', T.inscImobFisc, 'Inscrição imobiliária municipal'),
        oneOf([
          need('cCIB', T.cCIB, 'Cadastro imobiliário brasileiro', { codes: { format: 'E0373', empty: 'E0373' } }),
          needGroup('end', 'Endereço do imóvel', localFields),
        ]),
      ]),
      needGroup(
        'valores',
        'Valores',
        [
          mayGroup('gReeRepRes', 'Reembolso, repasse e ressarcimento', [
            needGroup(
              'documentos',
              'Um documento',
              [
                oneOf([
                  needGroup('dFeNacional', 'Documento do repositório nacional', [
                    need('tipoChaveDFe', T.tipoChaveDFe, '1 NFS-e, 2 NF-e, 3 CT-e, 9 outro'),
                    may('xTipoChaveDFe', T.desc255, 'Descrição, com 9'),
                    need('chaveDFe', T.chaveDFe, 'Chave'),
                  ]),
                  needGroup('docFiscalOutro', 'Outro documento fiscal', [
                    need('cMunDocFiscal', T.num7, 'Município'),
                    need('nDocFiscal', T.desc255, 'Número'),
                    need('xDocFiscal', T.desc255, 'Descrição'),
                  ]),
                  needGroup('docOutro', 'Documento não fiscal', [
                    need('nDoc', T.desc255, 'Número'),
                    need('xDoc', T.desc255, 'Descrição'),
                  ]),
                ]),
                mayGroup('fornec', 'Fornecedor', [identificacao(), need('xNome', T.desc150, 'Nome ou razão social')]),
                need('dtEmiDoc', T.data, 'Emissão'),
                need('dtCompDoc', T.data, 'Competência'),
                need('tpReeRepRes', T.tpReeRepRes, 'Tipo'),
                may('xTpReeRepRes', T.desc150, 'Descrição, com 99'),
                need('vlrReeRepRes', T.valor, 'Valor fora da base'),
              ],
              { max: 1000 },
            ),
          ]),
          needGroup(
            'trib',
            'Tributos',
            [
              needGroup(
                'gIBSCBS',
                'IBS e CBS',
                [
                  need('CST', T.cst, 'Situação tributária', ibscbsCode),
                  need('cClassTrib', T.cClassTrib, 'Classificação tributária', ibscbsCode),
                  may('cCredPres', T.cCredPres, 'Crédito presumido'),
                  mayGroup('gTribRegular', 'Tributação regular', [
                    need('CSTReg', T.cst, 'Situação tributária'),
                    need('cClassTribReg', T.cClassTrib, 'Classificação tributária'),
                  ]),
                  mayGroup('gDif', 'Diferimento', [
                    need('pDifUF', T.percentual3, 'IBS estadual'),
                    need('pDifMun', T.percentual3, 'IBS municipal'),
                    need('pDifCBS', T.percentual3, 'CBS'),
                  ]),
                ],
                ibscbsCode,
              ),
            ],
            ibscbsCode,
          ),
        ],
        ibscbsCode,
      ),
    ],
    { alias: 'ibscbs' },
  ),
] as const;

/** The DPS as the service reads it: strings, and exact decimals for the numbers of the layout. */
export type Dps = Shape<typeof INF_DPS>;

/** A path of the layout below `infDPS`; the compiler checks every use. */
export type DpsPath = Path<typeof INF_DPS>;

export const DPS_NAMESPACE = 'http://www.sped.fazenda.gov.br/nfse';
export const DPS_VERSAO = '1.01';

/** Addresses that have a CEP, or a place abroad, and no municipality. */
const SEM_MUNICIPIO = [
  ['serv/obra', 'a obra'],
  ['serv/atvEvento', 'o evento'],
  ['IBSCBS/imovel', 'o imóvel'],
] as const;

/**
 * Names that were never, or are no longer, elements of the layout 1.01, each with its advice (specification, Versioning 4; reference,
 * layouts 1.00 and 1.01). `within` is the end of the parent's path. `replaces` names the elements that the sender meant, so that one
 * mistake is not also reported as a missing element.
 */
export type ForeignTag = {
  readonly name: string;
  readonly within?: string;
  readonly say: string;
  readonly replaces?: DpsPath;
  /** The correct name; the element stands at its place in the layout, which may be elsewhere. */
  readonly rename?: string;
  /** The element holds information that its removal would lose, so the sender must decide. */
  readonly carries?: true;
};

export const FOREIGN_TAGS: readonly ForeignTag[] = [
  {
    name: 'cMunPrest',
    within: 'serv',
    say: 'use serv/locPrest/cLocPrestacao',
    replaces: 'serv/locPrest/cLocPrestacao',
  },
  {
    name: 'cMunInc',
    within: 'serv',
    say: 'retire-o; o município de incidência (infNFSe/cLocIncid) é calculado, não se envia',
  },
  { name: 'tom', say: 'use toma', replaces: 'toma' },
  { name: 'tomador', say: 'use toma', replaces: 'toma' },
  { name: 'prestador', say: 'use prest', replaces: 'prest' },
  { name: 'intermediario', say: 'use interm', replaces: 'interm' },
  { name: 'servico', say: 'use serv', replaces: 'serv' },
  { name: 'xEmail', say: 'use email', rename: 'email' },
  { name: 'xDescServ', within: 'serv', say: 'ponha dentro de serv/cServ', replaces: 'serv/cServ/xDescServ' },
  { name: 'dhEmi', say: 'retire-o; a data e hora da emissão é escrita pelo serviço; envie só dCompet' },
  { name: 'vISSQN', say: 'retire-o; o valor do ISSQN é calculado, não se envia' },
  { name: 'vISSQNRet', say: 'retire-o; o ISSQN retido é calculado a partir de tpRetISSQN' },
  { name: 'vBC', say: 'retire-o; a base de cálculo é calculada, não se envia' },
  { name: 'vLiq', say: 'retire-o; o valor líquido é calculado, não se envia' },
  { name: 'cLocIncid', say: 'retire-o; o município de incidência é calculado, não se envia' },
  { name: 'xPed', within: 'infoCompl', say: 'retire-o; este serviço não recebe o número do pedido; use xInfComp' },
  { name: 'gItemPed', within: 'infoCompl', say: 'retire-o; este serviço não recebe os itens do pedido; use xInfComp' },
  { name: 'opConsumServ', within: 'locPrest', say: 'retire-o; existia só no leiaute 1.00' },
  { name: 'lsadppu', within: 'serv', say: 'retire-o; o grupo de locação e sublocação existia só no leiaute 1.00' },
  { name: 'explRod', within: 'serv', say: 'retire-o; exploração de rodovia é documento próprio, a NFS-e Via' },
  ...ELEMENTOS_FUTUROS.map(
    ([name, instead]): ForeignTag => ({
      name,
      say: `${DO_LEIAUTE_FUTURO}; ${instead === undefined ? `no ${DPS_VERSAO} não há onde dizê-lo, retire-o` : `no ${DPS_VERSAO} ${instead}`}`,
      carries: true,
    }),
  ),
  ...(['CST', 'cClassTrib'] as const).map(
    (name): ForeignTag => ({
      name,
      within: 'IBSCBS/valores/trib',
      say: `ponha dentro de gIBSCBS; fora dele ${DO_LEIAUTE_FUTURO}`,
      replaces: `IBSCBS/valores/trib/gIBSCBS/${name}`,
    }),
  ),
  ...(['finNFSe', 'indDest', 'dest'] as const).map(
    (name): ForeignTag => ({
      name,
      say: `ponha dentro de IBSCBS; em infDPS ${DO_LEIAUTE_FUTURO}`,
      replaces: `IBSCBS/${name}`,
    }),
  ),
  { name: 'tpBM', within: 'BM', say: 'retire-o; o tipo do benefício é calculado a partir de nBM' },
  { name: 'desc', within: 'atvEvento', say: 'use xNome', replaces: 'serv/atvEvento/xNome' },
  { name: 'id', within: 'atvEvento', say: 'use idAtvEvt', replaces: 'serv/atvEvento/idAtvEvt' },
  ...SEM_MUNICIPIO.flatMap(([group, o]): readonly ForeignTag[] => [
    { name: 'cMun', within: `${group}/end`, say: `retire-o; ${o} não tem município, e o endereço se dá pelo CEP` },
    {
      name: 'endNac',
      within: `${group}/end`,
      say: `ponha o CEP direto em end; ${o} não tem município`,
      replaces: `${group}/end/CEP`,
    },
  ]),
];
