/**
 * Faults of the DPS made from an RPS, in the terms of the model: code, message and correction. Only the faults that the tables of the RPS
 * do not cover themselves stand here.
 */

/** Code of the model, message and correction; then the element, if it is not the one that the place of the fault was made from. */
export type Dito = readonly [codigo: string, mensagem: string, correcao: string, rps?: string];

const SEM_RETENCAO = 'Use IssRetido 2.';
const SEM_BENEFICIO = 'Use a natureza 1: isenção e benefício não cabem aqui.';
const ENDERECO_DO_TOMADOR = 'Informe logradouro, número, bairro, CodigoMunicipio e Cep em Tomador/Endereco.';

const IBS_CBS =
  'Informe ControleIBSCBS com CST, cClassTrib e cIndOp, ou peça à prefeitura que os ponha na correlação do item.';

const DEDUCAO_NO_SIMPLES: Dito = [
  'A2',
  'O prestador apura o ISS pelo Simples Nacional, e este serviço não admite deduções.',
  'Retire ValorDeducoes.',
];

/** Corrections for faults whose own sentences already describe the error. */
export const CORRECOES: Readonly<Record<string, string>> = { E802: IBS_CBS };

/** The key is the code of the public table. The end of the path follows if the code alone is ambiguous. */
export const DITOS: Readonly<Record<string, Dito>> = {
  E0044: [
    'E76',
    'O RPS substituído não foi encontrado, ou não tem nota.',
    'Confira número, série e tipo do RPS substituído.',
  ],
  E0046: ['E7', 'A nota do RPS substituído já foi substituída ou cancelada.', 'Envie o RPS sem RpsSubstituido.'],
  E0068: ['0068', 'A nota do RPS substituído espera por uma análise fiscal.', 'Espere a decisão da prefeitura.'],
  E0072: ['0072', 'A nota do RPS substituído tem confirmação tácita, e não se substitui.', 'Procure a prefeitura.'],
  E0076: ['0076', 'A substituição da nota do RPS substituído está bloqueada.', 'Procure a prefeitura.'],
  E0187: [
    '0187',
    'O indicador da operação pede o tomador, e ele não veio.',
    'Informe CPF ou CNPJ e endereço do tomador, ou outro cIndOp.',
  ],
  E0204: [
    'E47',
    'O ISS é retido pelo tomador, e falta o CPF ou CNPJ dele.',
    'Informe CpfCnpj do tomador, ou use IssRetido 2.',
  ],
  E0234: ['E56', 'Falta o endereço do tomador, que o indicador da operação pede.', ENDERECO_DO_TOMADOR],
  E0237: [
    'E56',
    'O ISS é retido pelo tomador, e falta o endereço dele.',
    `${ENDERECO_DO_TOMADOR} Sem retenção, use IssRetido 2.`,
  ],
  'E002 toma/end': ['E56', 'Falta o endereço do tomador.', ENDERECO_DO_TOMADOR],
  'E002 toma/end/endNac': ['E56', 'Falta o endereço do tomador, identificado por CNPJ.', ENDERECO_DO_TOMADOR],
  E1305: [
    'E56',
    'O ISS deste serviço é devido no município do tomador, e falta o endereço dele.',
    ENDERECO_DO_TOMADOR,
    'Tomador/Endereco/CodigoMunicipio',
  ],
  E1388: [
    '1388',
    'O intermediário é identificado por CNPJ, e o modelo não tem o endereço dele.',
    'Emita pela API REST, ou envie o RPS sem o intermediário.',
  ],
  E0310: [
    '0310',
    'O município não administra este serviço.',
    'Confira ItemListaServico e CodigoTributacaoMunicipio com a prefeitura.',
  ],
  'E002 serv/cServ/cTribNac': [
    'E30',
    'O item tem mais de um código nacional, e o RPS não diz qual.',
    'Informe DadosDPS/cTribNac, de 6 dígitos, ou peça à prefeitura que ponha o item na correlação.',
  ],
  E0316: [
    '0316',
    'O código NBS não existe na NBS 2.0.',
    'Corrija Servico/cNBS, ou peça à prefeitura que corrija a correlação do item.',
  ],
  'E002 serv/cServ/cNBS': [
    'E160',
    'Falta o código NBS do serviço.',
    'Informe Servico/cNBS, ou peça à prefeitura que o ponha na correlação do item.',
  ],
  E0532: [
    'E30',
    'O item 99.01 é o dos serviços sem ISS, que o modelo não tem.',
    'Confira ItemListaServico, ou emita pela API REST.',
    'Servico/ItemListaServico',
  ],
  E0370: [
    'E67',
    'O serviço é de construção, e falta a obra.',
    'Informe ConstrucaoCivil/CodigoObra e DadosObra/inscImobFisc.',
    'ConstrucaoCivil/CodigoObra',
  ],
  E0372: [
    'E67',
    'O serviço não é de construção, e o RPS traz uma obra.',
    'Retire ConstrucaoCivil e DadosObra, ou corrija ItemListaServico.',
  ],
  'E002 serv/obra/inscImobFisc': ['E67', 'Falta a inscrição imobiliária da obra.', 'Informe DadosObra/inscImobFisc.'],
  E0390: [
    '0390',
    'O serviço é do item 12, e pede os dados do evento, que o modelo não tem.',
    'Emita pela API REST.',
    'Servico/ItemListaServico',
  ],
  E0428: ['E99', 'Os descontos e as retenções passam do valor do serviço.', 'Corrija os descontos ou as retenções.'],
  E0429: [
    '0429',
    'Com as deduções o ISS fica abaixo de 2% do valor do serviço, o mínimo da lei.',
    'Reduza ValorDeducoes.',
  ],
  E0435: ['A2', 'Uma operação imune não admite deduções.', 'Retire ValorDeducoes.'],
  E0436: ['A2', 'A nota de um MEI não admite deduções.', 'Retire ValorDeducoes.'],
  E0438: ['A2', 'Neste regime especial a nota não admite deduções.', 'Retire ValorDeducoes.'],
  E0441: DEDUCAO_NO_SIMPLES,
  E0442: DEDUCAO_NO_SIMPLES,
  E0592: ['E144', 'Falta o tipo da imunidade.', 'A prefeitura o põe na correlação, na linha do item.'],
  'E002 valores/trib/tribMun/exigSusp/nProcesso': [
    'E144',
    'Falta o número do processo que suspende a exigibilidade.',
    'Informe ExigibilidadeSuspensa/nProcesso.',
  ],
  E0533: ['E144', 'Esta operação não admite isenção.', SEM_BENEFICIO],
  E0534: ['E144', 'A nota de um MEI não leva isenção.', SEM_BENEFICIO],
  E0535: ['E144', 'Neste regime especial a nota não leva isenção.', SEM_BENEFICIO],
  E0536: ['E144', 'O prestador apura o ISS pelo Simples Nacional, e a nota não leva isenção.', SEM_BENEFICIO],
  E0541: [
    'E144',
    'A isenção pede o número do benefício.',
    'A prefeitura o põe na correlação, na linha do item.',
    'NaturezaOperacao',
  ],
  E0580: ['E37', 'Numa operação imune o ISS não se retém.', SEM_RETENCAO],
  E0583: ['E37', 'O ISS de um MEI não se retém.', SEM_RETENCAO],
  E0596: ['E37', 'Na exploração de rodovia o ISS não se retém.', SEM_RETENCAO],
  E1311: ['E37', 'Com a exigibilidade suspensa o ISS não se retém.', SEM_RETENCAO],
  E0172: [
    'E145',
    'Uma operação imune não tem regime especial.',
    'Retire RegimeEspecialTributacao, ou corrija NaturezaOperacao.',
  ],
  E0174: ['E145', 'Um MEI não tem outro regime especial.', 'Use RegimeEspecialTributacao 5.'],
  E0175: [
    'E145',
    'Quem apura o ISS pelo Simples Nacional não tem regime especial.',
    'Retire RegimeEspecialTributacao, ou use OptanteSimplesNacional 2.',
  ],
  E0621: [
    'E123',
    'O ISS é retido de quem o apura pelo Simples Nacional, e falta a alíquota dele, ou a que veio é menor que 1,80%.',
    'Informe em Aliquota a alíquota efetiva do ISS na faixa do prestador, como 0.0201.',
  ],
  E0720: [
    'E99',
    'As retenções de PIS, COFINS e CSLL não se entendem.',
    'Confira ValorPis, ValorCofins, ValorCsll e TipoRetencaoPisCofins.',
  ],
  E0724: [
    'E99',
    'As retenções de PIS, COFINS e CSLL não se entendem.',
    'Confira ValorPis, ValorCofins, ValorCsll e TipoRetencaoPisCofins.',
  ],
  'E802 IBSCBS/valores/trib/gIBSCBS/CST': [
    'E802',
    'Falta o CST do IBS e da CBS, que acompanha a classificação.',
    IBS_CBS,
    'ControleIBSCBS/CST',
  ],
  'E802 IBSCBS/valores/trib/gIBSCBS/cClassTrib': [
    'E802',
    'Falta a classificação do IBS e da CBS, que acompanha o CST.',
    IBS_CBS,
    'ControleIBSCBS/cClassTrib',
  ],
  E0901: [
    '0901',
    'O indicador da operação não existe.',
    'Corrija ControleIBSCBS/cIndOp com o Anexo C, ou peça à prefeitura que corrija a correlação.',
  ],
  E0932: [
    '0932',
    'O indicador da operação é de imóvel, e o modelo não tem onde o identificar.',
    'Corrija ControleIBSCBS/cIndOp, ou emita pela API REST.',
  ],
  E0965: [
    '0965',
    'A classificação pede a tributação regular, que o modelo não tem.',
    'Corrija ControleIBSCBS/cClassTrib, ou emita pela API REST.',
  ],
  E0972: [
    '0972',
    'A situação tributária é de diferimento, e o modelo não tem o percentual.',
    'Corrija ControleIBSCBS/CST, ou emita pela API REST.',
  ],
  E1561: [
    '1561',
    'A classificação pede o crédito presumido, que o modelo não tem.',
    'Corrija ControleIBSCBS/cClassTrib, ou emita pela API REST.',
  ],
  E0904: [
    '0904',
    'O serviço e o indicador da operação não se entendem.',
    'Corrija ControleIBSCBS/cIndOp, ou emita pela API REST.',
  ],
};
