/**
 * Feito por scripts/cliente-tipos.ts a partir da descrição OpenAPI do serviço (docs/openapi.json); não se edita.
 *
 * O que se envia tem tipos que se preenchem; o que se recebe, só se lê. Valores são textos com duas casas ("1000.00").
 */

/** Os códigos que o serviço responde. O que cada um significa está em `/docs/erros`. */
export type CodigoDeErro =
  | 'E002' | 'E003'
  | 'E101' | 'E102' | 'E103' | 'E110' | 'E111'
  | 'E201' | 'E203'
  | 'E301' | 'E302'
  | 'E401' | 'E402' | 'E403' | 'E404'
  | 'E601'
  | 'E703'
  | 'E802'
  | 'E901' | 'E902' | 'E903' | 'E904' | 'E905' | 'E906' | 'E999'
  | 'E0001' | 'E0002' | 'E0003' | 'E0006' | 'E0008' | 'E0010' | 'E0011' | 'E0014' | 'E0015' | 'E0029' | 'E0042'
  | 'E0044' | 'E0046' | 'E0065' | 'E0068' | 'E0072' | 'E0076' | 'E0078' | 'E0080' | 'E0096'
  | 'E0113' | 'E0146' | 'E0148' | 'E0162' | 'E0166' | 'E0172' | 'E0174' | 'E0175' | 'E0176' | 'E0177' | 'E0178'
  | 'E0187' | 'E0188' | 'E0191' | 'E0193'
  | 'E0204' | 'E0234' | 'E0235' | 'E0237' | 'E0242' | 'E0246' | 'E0247' | 'E0281' | 'E0293' | 'E0298' | 'E0299'
  | 'E0300' | 'E0304' | 'E0310' | 'E0315' | 'E0316' | 'E0330' | 'E0331' | 'E0352' | 'E0356' | 'E0370' | 'E0372'
  | 'E0373' | 'E0382' | 'E0384' | 'E0386' | 'E0390' | 'E0392' | 'E0398'
  | 'E0400' | 'E0402' | 'E0404' | 'E0420' | 'E0423' | 'E0424' | 'E0425' | 'E0427' | 'E0428' | 'E0429' | 'E0431'
  | 'E0432' | 'E0435' | 'E0436' | 'E0438' | 'E0439' | 'E0440' | 'E0441' | 'E0442' | 'E0446' | 'E0449' | 'E0453'
  | 'E0454' | 'E0455' | 'E0460' | 'E0468' | 'E0470' | 'E0472' | 'E0474' | 'E0477' | 'E0492' | 'E0498' | 'E0499'
  | 'E0529' | 'E0532' | 'E0533' | 'E0534' | 'E0535' | 'E0536' | 'E0539' | 'E0540' | 'E0541' | 'E0544' | 'E0550'
  | 'E0565' | 'E0567' | 'E0574' | 'E0577' | 'E0579' | 'E0580' | 'E0583' | 'E0585' | 'E0586' | 'E0588' | 'E0590'
  | 'E0591' | 'E0592' | 'E0594' | 'E0595' | 'E0596'
  | 'E0600' | 'E0604' | 'E0612' | 'E0619' | 'E0621' | 'E0625' | 'E0640' | 'E0677' | 'E0686' | 'E0692' | 'E0694'
  | 'E0696' | 'E0699'
  | 'E0700' | 'E0701' | 'E0702' | 'E0703' | 'E0704' | 'E0720' | 'E0724'
  | 'E0813' | 'E0816' | 'E0840' | 'E0845' | 'E0848' | 'E0850' | 'E0860' | 'E0861' | 'E0862' | 'E0864' | 'E0866'
  | 'E0868'
  | 'E0901' | 'E0903' | 'E0904' | 'E0905' | 'E0906' | 'E0907' | 'E0910' | 'E0928' | 'E0930' | 'E0931' | 'E0932'
  | 'E0934' | 'E0935' | 'E0940' | 'E0942' | 'E0950' | 'E0952' | 'E0953' | 'E0958' | 'E0959' | 'E0964' | 'E0965'
  | 'E0969' | 'E0970' | 'E0971' | 'E0972'
  | 'E1235' | 'E1294'
  | 'E1300' | 'E1301' | 'E1302' | 'E1303' | 'E1305' | 'E1307' | 'E1310' | 'E1311' | 'E1313' | 'E1317' | 'E1321'
  | 'E1325' | 'E1388'
  | 'E1402'
  | 'E1530' | 'E1534' | 'E1538' | 'E1539' | 'E1549' | 'E1554' | 'E1555' | 'E1556' | 'E1558' | 'E1561' | 'E1567'
  | 'E1568' | 'E1572' | 'E1577' | 'E1578' | 'E1582'
  | 'E1831' | 'E1833'
  | 'E9002' | 'E9003' | 'E9006' | 'E9007' | 'E9016'
  | 'E9996';

/** Um deles, ou um que um serviço mais novo conheça. */
export type Codigo = CodigoDeErro | (string & {});

export type MecanismoApoioPrestador =
  | '01' | '02' | '03' | '04' | '05' | '06' | '07' | '08' | '1' | '2' | '3' | '4' | '5' | '6' | '7' | '8';

export type MecanismoApoioTomador =
  | '01' | '02' | '03' | '04' | '05' | '06' | '07' | '08' | '09' | '10' | '11' | '12' | '13' | '14' | '15' | '16' | '17'
  | '18' | '19' | '20' | '21' | '22' | '23' | '24' | '25' | '26' | '1' | '2' | '3' | '4' | '5' | '6' | '7' | '8' | '9';

export type CstPisCofins =
  | '00' | '01' | '02' | '03' | '04' | '05' | '06' | '07' | '08' | '09' | '49' | '50' | '51' | '52' | '53' | '54' | '55'
  | '56' | '60' | '61' | '62' | '63' | '64' | '65' | '66' | '67' | '70' | '71' | '72' | '73' | '74' | '75' | '98' | '99';

export type CodigoTipoEvento =
  | '101101' | '105102' | '101103' | '105104' | '105105' | '202201' | '203202' | '204203' | '205204' | '202205'
  | '203206' | '204207' | '205208' | '305101' | '305102' | '305103';

export type TipoEvento =
  | 'cancelamento' | 'cancelamento_por_substituicao' | 'solicitacao_analise_fiscal_para_cancelamento'
  | 'cancelamento_deferido_por_analise_fiscal' | 'cancelamento_indeferido_por_analise_fiscal' | 'confirmacao_prestador'
  | 'confirmacao_tomador' | 'confirmacao_intermediario' | 'confirmacao_tacita' | 'rejeicao_prestador'
  | 'rejeicao_tomador' | 'rejeicao_intermediario' | 'anulacao_rejeicao' | 'cancelamento_por_oficio'
  | 'bloqueio_por_oficio' | 'desbloqueio_por_oficio';

export type StatusEvento =
  | 'pendente' | 'enviado' | 'aguardando_autorizacao_nota' | 'processado' | 'rejeitado' | 'erro'
  | 'erro_reprocessamento' | 'cancelado' | 'dispensado';

export type Desfecho =
  | 'em_andamento' | 'registrado' | 'valido_no_municipio' | 'recusado' | 'retirado' | 'dispensado' | 'parado';

export type TipoDeMudanca =
  | 'nota.emitida' | 'nota.retida' | 'nota.transmitida' | 'nota.autorizada' | 'nota.recusada' | 'nota.cancelada'
  | 'evento.pendente' | 'evento.enviado' | 'evento.aguardando_autorizacao_nota' | 'evento.processado'
  | 'evento.rejeitado' | 'evento.erro' | 'evento.erro_reprocessamento' | 'evento.cancelado' | 'evento.dispensado';

/** O fim de todo endereço. */
export type Logradouro = {
  /** Logradouro. Texto de 1 a 255 caracteres. Na DPS: xLgr. */
  logradouro: string;
  /** Número. Texto de 1 a 60 caracteres. Na DPS: nro. */
  numero: string;
  /** Complemento. Texto de 1 a 156 caracteres. Na DPS: xCpl. */
  complemento?: string | null;
  /** Bairro. Texto de 1 a 60 caracteres. Na DPS: xBairro. */
  bairro: string;
};

/** Quem é a parte. */
export type Identificacao = {
  /** CNPJ de 14 posições ou CPF de 11 dígitos, sem pontuação. Exatamente um de: cpf_cnpj, nif, motivo_sem_nif. Na DPS: CNPJ ou CPF. */
  cpf_cnpj?: string | null;
  /** Identificação fiscal no exterior. Texto de 1 a 40 caracteres. Exatamente um de: cpf_cnpj, nif, motivo_sem_nif. Na DPS: NIF. */
  nif?: string | null;
  /** Motivo de não haver NIF: 0 sem NIF, 1 dispensado, 2 não exigido. Exatamente um de: cpf_cnpj, nif, motivo_sem_nif. Na DPS: cNaoNIF. */
  motivo_sem_nif?: '0' | '1' | '2' | null;
};

/** O que todo registro de evento pode trazer. */
export type AutorENota = {
  /** CNPJ do autor; no máximo um de cnpj_autor e cpf_autor. */
  cnpj_autor?: string | null;
  /** CPF do autor; no máximo um de cnpj_autor e cpf_autor. */
  cpf_autor?: string | null;
  /** Chave da nota, opcional: se vem, tem de ser a do endereço, e o corpo assinado não vale em outra nota. */
  chave_acesso?: string | null;
  /** Número de protocolo da nota, opcional: se vem, tem de ser o da nota do endereço. */
  numero_protocolo?: string | null;
};

/** O que traz a rejeição de qualquer das partes. */
export type Rejeicao = AutorENota & {
  /** Por que a parte rejeita a nota. 1 NFS-e em duplicidade; 2 NFS-e já emitida pelo tomador; 3 Não ocorrência do fato gerador; 4 Erro quanto a responsabilidade tributária; 5 Erro quanto ao valor do serviço, valor das deduções ou serviço prestado ou data do fato gerador; 9 Outros. */
  codigo_motivo_rejeicao: '1' | '2' | '3' | '4' | '5' | '9';
  /** O motivo em palavras, de 15 a 255 caracteres. Obrigatório com codigo_motivo_rejeicao 9. */
  descricao_motivo_rejeicao?: string | null;
};

/** O que se diz de uma nota em toda resposta. */
export type NotaSemXml = {
  /** Identificador da nota neste serviço. */
  readonly id: number;
  /** Número sequencial da NFS-e (nNFSe), em texto: o de numero_dps, a partir da autorização; null até lá. */
  readonly numero: string | null;
  /** Série da DPS: a enviada, ou 70000. */
  readonly serie_dps: string;
  /** Apesar do nome, o número sequencial da NFS-e (nNFSe). O número da própria DPS está em numero_dps_nacional. */
  readonly numero_dps: number;
  /** Série da DPS como foi ao ADN: a enviada, ou 70000; null até o envio. */
  readonly serie_dps_nacional: string | null;
  /** O número da própria DPS (nDPS) como foi ao ADN: o enviado, ou o que o serviço lhe deu; é o da consulta por DPS. Null até o envio. */
  readonly numero_dps_nacional: string | null;
  /** Chave de acesso da NFS-e. */
  readonly chave_acesso: string;
  /** Identificador de infNFSe: NFS e a chave de acesso. */
  readonly identificador: string;
  /** rascunho até a autorização, e também da nota que o ADN recusou (protocolo.status diz qual). */
  readonly status: 'rascunho' | 'autorizada' | 'cancelada';
  /** Versão do leiaute: 1.01. */
  readonly versao: string;
  /** Quando foi emitida, no fuso do município. */
  readonly data_emissao: string;
  /** Competência. */
  readonly data_competencia: string;
  /** cStat da NFS-e: 100, ou 107 a de um MEI; null até a autorização. */
  readonly codigo_situacao_nfse: 100 | 107 | null;
  /** CNPJ ou CPF do prestador, sem pontuação. */
  readonly prestador_cpf_cnpj: string;
  /** Nome do prestador. */
  readonly prestador_razao_social: string;
  /** Inscrição municipal do prestador. */
  readonly prestador_inscricao_municipal: string | null;
  /** CNPJ ou CPF do tomador; null quando não tem. */
  readonly tomador_cpf_cnpj: string | null;
  /** Nome do tomador; null sem tomador. */
  readonly tomador_razao_social: string | null;
  /** Preço do serviço. */
  readonly valor_servico: string;
  /** ISSQN; 0.00 quando não consta da nota. */
  readonly valor_issqn: string;
  /** Base do ISSQN; 0.00 quando não consta da nota. */
  readonly valor_base_calculo: string;
  /** Alíquota em percentual; 0.00 quando não consta. */
  readonly aliquota_issqn: string;
};

/** O que se diz de um evento em toda resposta. */
export type EventoDaNota = {
  /** Identificador do evento neste município. Dá saltos e não segue o tempo: para ordenar use data_hora_evento, ou numero_sequencial entre os do mesmo tipo. */
  readonly id_evento: number;
  /** Código nacional do tipo, 6 dígitos. */
  readonly codigo_tipo_evento: CodigoTipoEvento;
  /** Nome do tipo, como em tipo_evento da requisição. */
  readonly tipo_evento: TipoEvento;
  /** Sequência entre os eventos do tipo na nota, a partir de 1. */
  readonly numero_sequencial: number;
  /** Protocolo da nota. */
  readonly numero_protocolo: string;
  /** Chave da nota. */
  readonly chave_acesso: string;
  /** Quando foi registrado, ISO 8601. */
  readonly data_hora_evento: string;
  /** Quando o ADN deu a palavra final; null até lá. */
  readonly data_hora_processamento: string | null;
  /** Desde quando espera a autorização da nota; null se não espera. */
  readonly aguardando_desde: string | null;
  /** Estado do evento. */
  readonly status_evento: StatusEvento;
  /** Número com que o ADN o recebeu; null até lá e na integração. */
  readonly protocolo: string | null;
  /** Código do primeiro motivo do ADN, ou null. */
  readonly codigo_retorno: string | null;
  /** O que o ADN disse, ou null. */
  readonly mensagem_retorno: string | null;
  /** Os motivos do ADN, sem segredos, cortados em 1000 caracteres e 3 níveis. */
  readonly erros_adn: ErrosAdn | null;
  /** Novas tentativas automáticas feitas, de 0 a 3. */
  readonly reprocessamentos_count: number;
  /** Quando foi a última; null sem nenhuma. */
  readonly ultimo_reprocessamento_em: string | null;
  /** aguardar, retentar, consultar_suporte ou cancelado_ok. */
  readonly acao_sugerida: 'aguardar' | 'retentar' | 'consultar_suporte' | 'cancelado_ok';
  /** Quando vale a pena perguntar de novo, ISO 8601; null quando nada mais muda por si. Retry-After diz o mesmo em segundos. */
  readonly proxima_consulta: string | null;
  /** O que foi feito do evento; distingue o que cancelado_ok, em acao_sugerida, diz de uma só maneira. */
  readonly desfecho: Desfecho;
  /** Nome nacional do tipo. */
  readonly descricao_evento: string;
};

/** A resposta ao registro de um evento. */
export type RespostaDoRegistro = EventoDaNota & ComSucesso & {
  /** O que aconteceu, em uma frase. */
  readonly mensagem: string;
  /** O que não impediu o registro e convém saber; quase sempre vazio. */
  readonly avisos: readonly Aviso[];
};

/** A resposta à consulta pelo protocolo. */
export type NotaDoProtocolo = ComSucesso & {
  /** A nota. */
  readonly nota: Nota;
  /** O protocolo da nota. */
  readonly protocolo: Protocolo;
  /** true enquanto o ADN não autorizou a nota. O valor da chave é definitivo nos dois casos. */
  readonly chave_acesso_provisoria: boolean;
};

/** O que traz toda resposta de sucesso. */
export type ComSucesso = {
  /** OK em toda resposta de sucesso. */
  readonly status: string;
};

/** A resposta com um endereço. */
export type ComWebhook = ComSucesso & {
  /** O endereço. */
  readonly webhook: Webhook;
};

/** A resposta com um ambiente. */
export type ComAmbiente = ComSucesso & {
  /** O ambiente. */
  readonly ambiente: Ambiente;
};

/** A resposta com uma exportação. */
export type ComExportacao = ComSucesso & {
  /** A exportação. */
  readonly exportacao: Exportacao;
};

/** O que traz cada página de um catálogo nacional. */
export type ComPaginacao = ComSucesso & {
  /** pagina_atual, por_pagina, total de itens encontrados e total_paginas. */
  readonly paginacao: Paginacao;
  /** Só quando um filtro tem um valor que nenhum item pode ter: a forma que ele espera. */
  readonly observacao?: string;
};

/** A página que se pede de um catálogo. */
export type Pagina = {
  /** Página, a partir de 1; sem ele, a primeira. */
  page?: number;
  /** Itens por página, de 1 a 100; sem ele, 25. */
  per_page?: number;
};

/** Quanto a resposta pode esperar. */
export type Espera = {
  /** Segundos, até 55, que a resposta espera pela decisão do ADN quando a nota ainda não a tem; sem ele, nenhum. */
  espera?: number;
};

/** Quem pergunta. */
export type Parte = {
  /** CNPJ ou CPF de quem pergunta, com ou sem pontuação; sem ele, o do token ou do certificado. O CNPJ se compara pela raiz: a matriz pergunta pelas filiais. */
  documento?: string;
};

/** Quem pergunta, e que parte da lista. */
export type PorCursor = Parte & {
  /** O cursor da resposta anterior: continua depois dela. */
  cursor?: string;
  /** Itens por página, de 1 a 100; sem ele, 25. */
  limite?: number;
};

/** De que notas se fala. */
export type FiltrosDeNotas = {
  /** O que o documento é na nota: prestador, tomador, intermediario; sem ele, qualquer um. */
  papel?: string;
  /** Chave, protocolo, Id da DPS, CNPJ, CPF, número da nota, ou palavras do nome de outra parte. */
  texto?: string;
  /** CNPJ ou CPF do prestador. */
  prestador?: string;
  /** CNPJ ou CPF do tomador. */
  tomador?: string;
  /** CNPJ ou CPF do intermediário. */
  intermediario?: string;
  /** Primeiro dia da emissão, AAAA-MM-DD. */
  de?: string;
  /** Último dia da emissão, AAAA-MM-DD. */
  ate?: string;
  /** Mês da competência, AAAA-MM; ou o primeiro e o último, AAAA-MM/AAAA-MM. */
  competencia?: string;
  /** Estado da nota: emitida, retida, transmitida, autorizada, recusada, cancelada. */
  estado?: string;
  /** Valor mínimo do serviço. */
  valor_de?: string;
  /** Valor máximo do serviço. */
  valor_ate?: string;
  /** Código de tributação nacional, seis dígitos. */
  servico?: string;
  /** O que é do ISSQN da nota: vigente, retidos, apurado, retido, retido_interm, das, especial, suspenso, isento, imune, exportado, nao_incidente, outro_municipio, sem_classe, cancelada. */
  issqn?: string;
  /** Regime do prestador: normal, simples_1, simples_2, simples_3, simples, mei, especial_1, especial_2, especial_3, especial_4, especial_5, especial_6, especial_9, sem_classe. */
  regime?: string;
  /** Alíquota do ISSQN em porcentagem, como 2.00; ou nenhuma. */
  aliquota?: string;
  /** Tipo de um evento processado da nota: cancelamento, cancelamento_por_substituicao, solicitacao_analise_fiscal_para_cancelamento, cancelamento_deferido_por_analise_fiscal, cancelamento_indeferido_por_analise_fiscal, confirmacao_prestador, confirmacao_tomador, confirmacao_intermediario, confirmacao_tacita, rejeicao_prestador, rejeicao_tomador, rejeicao_intermediario, anulacao_rejeicao, cancelamento_por_oficio, bloqueio_por_oficio, desbloqueio_por_oficio. */
  evento?: string;
  /** Série da DPS. */
  serie?: string;
  /** Número da NFS-e. */
  numero?: string;
  /** novas, da mais nova para a mais antiga, como sem ele; ou antigas. */
  ordem?: string;
};

/** O que traz todo pedido de tokens. */
export type PedidoAssinado = {
  /** CNPJ ou CPF em nome de quem se pede. */
  documento: string;
  /** O que se pede; obrigatório num pedido assinado. */
  acao?: 'criar' | 'listar' | 'revogar';
  /** O município deste endereço; obrigatório num pedido assinado. */
  municipio?: string;
  /** O ambiente do município; obrigatório num pedido assinado. */
  ambiente?: 'producao' | 'homologacao';
  /** Quando foi assinado; vale por 5 minutos. Obrigatório num pedido assinado. */
  emitido_em?: string;
  /** Um texto só deste pedido, como um UUID: serve uma vez. Obrigatório num pedido assinado. */
  pedido?: string;
};

/** O que se pode dizer de um endereço. */
export type DadosDoWebhook = {
  /** De que mudanças se avisa; sem ele, ou vazio, de todas: nota.emitida, nota.retida, nota.transmitida, nota.autorizada, nota.recusada, nota.cancelada, evento.pendente, evento.enviado, evento.aguardando_autorizacao_nota, evento.processado, evento.rejeitado, evento.erro, evento.erro_reprocessamento, evento.cancelado, evento.dispensado. */
  tipos?: string[];
  /** Um nome seu para ele. */
  descricao?: string;
};

/** A hora de um ambiente e o seu rigor. */
export type Rigor = {
  /** A hora que o ambiente passa a ter; dali em diante ela corre. */
  relogio?: string;
  /** Com que rigor valem as regras nacionais. */
  regras_nacionais?: 'recusa' | 'avisa';
  /** true: só emite quem está cadastrado e autorizado, como em produção. */
  exige_cadastro?: boolean;
  /** true: uma DPS sem número é recusada. */
  exige_numero?: boolean;
  /** true: o pedido de um evento tem de nomear a nota. */
  exige_nota_no_evento?: boolean;
  /** Alíquota do ISSQN, como "2.00". */
  aliquota_padrao?: string;
};

export type CorpoDaDps = {
  /** Ambiente: 1 produção, 2 homologação. Obrigatório em produção, com 1; sem ele, na integração, o ambiente é o do endereço. Na DPS: tpAmb. */
  tipo_ambiente?: '1' | '2' | null;
  /** Versão do programa que gerou a DPS. Texto de 1 a 20 caracteres. Sem ele, API JSON v1. Na DPS: verAplic. */
  versao_aplicativo?: string | null;
  /** Série; sem ela, 70000. Série de 1 a 5 dígitos. Na DPS: serie. */
  serie_dps?: string | null;
  /** Número dentro da série; sem ele, o número sequencial da NFS-e, ou o próximo livre. Número inteiro de 1 a 15 dígitos, sem zeros à esquerda. Na DPS: nDPS. */
  numero_dps?: string | number | null;
  /** Competência: o dia do fato gerador. Data AAAA-MM-DD, de 2000 a 2099. Na DPS: dCompet. */
  data_competencia: string;
  /** Quem emite: 1 prestador, 2 tomador, 3 intermediário. Sem ele, 1. Na DPS: tpEmit. */
  tipo_emitente?: '1' | '2' | '3' | null;
  /** Motivo da emissão pelo tomador ou intermediário. 1 Importação de Serviço; 2 Tomador/Intermediário obrigado a emitir NFS-e por legislação municipal; 3 Tomador/Intermediário emitindo NFS-e por recusa de emissão pelo prestador; 4 Tomador/Intermediário emitindo por rejeitar a NFS-e emitida pelo prestador. Na DPS: cMotivoEmisTI. */
  motivo_emissao?: '1' | '2' | '3' | '4' | null;
  /** Chave da NFS-e rejeitada. Chave de acesso de NFS-e, 50 posições. Na DPS: chNFSeRej. */
  chave_nfse_rejeitada?: string | null;
  /** Município emissor (código IBGE). Código IBGE do município, 7 dígitos. Na DPS: cLocEmi. */
  municipio_emissor: string;
  /** Nota substituída. Na DPS: subst. */
  substituicao?: Substituicao | null;
  /** CNPJ de 14 posições ou CPF de 11 dígitos, sem pontuação. Exatamente um de: prestador_cpf_cnpj, prestador_nif, prestador_motivo_sem_nif. Na DPS: prest/CNPJ ou prest/CPF. */
  prestador_cpf_cnpj?: string | null;
  /** Identificação fiscal no exterior. Texto de 1 a 40 caracteres. Exatamente um de: prestador_cpf_cnpj, prestador_nif, prestador_motivo_sem_nif. Na DPS: prest/NIF. */
  prestador_nif?: string | null;
  /** Motivo de não haver NIF: 0 sem NIF, 1 dispensado, 2 não exigido. Exatamente um de: prestador_cpf_cnpj, prestador_nif, prestador_motivo_sem_nif. Na DPS: prest/cNaoNIF. */
  prestador_motivo_sem_nif?: '0' | '1' | '2' | null;
  /** Cadastro de atividade econômica da pessoa física. CAEPF de 14 dígitos. Na DPS: prest/CAEPF. */
  prestador_caepf?: string | null;
  /** Inscrição municipal. Texto de 1 a 15 caracteres. Na DPS: prest/IM. */
  prestador_inscricao_municipal?: string | null;
  /** Nome ou razão social. Texto de 1 a 300 caracteres. Na DPS: prest/xNome. */
  prestador_razao_social?: string | null;
  /** Endereço. Na DPS: prest/end. */
  prestador_endereco?: Endereco | null;
  /** Telefone de 6 a 20 dígitos, com DDD e sem pontuação. Na DPS: prest/fone. */
  prestador_telefone?: string | null;
  /** E-mail. Texto de 1 a 80 caracteres. Na DPS: prest/email. */
  prestador_email?: string | null;
  /** Simples Nacional: 1 não optante, 2 MEI, 3 ME/EPP. Na DPS: prest/regTrib/opSimpNac. */
  prestador_opcao_simples_nacional: '1' | '2' | '3';
  /** Regime de apuração dos tributos do Simples Nacional. 1 Regime de apuração dos tributos federais e municipal pelo SN; 2 Regime de apuração dos tributos federais pelo SN e o ISSQN pela NFS-e conforme respectiva legislação municipal do tributo; 3 Regime de apuração dos tributos federais e municipal pela NFS-e conforme respectivas legislações federal e municipal de cada tributo. Na DPS: prest/regTrib/regApTribSN. */
  prestador_regime_apuracao_simples?: '1' | '2' | '3' | null;
  /** Regime especial municipal; 0 nenhum. 0 Nenhum; 1 Ato Cooperado (Cooperativa); 2 Estimativa; 3 Microempresa Municipal; 4 Notário ou Registrador; 5 Profissional Autônomo; 6 Sociedade de Profissionais; 9 Outros. Sem ele, 0. Na DPS: prest/regTrib/regEspTrib. */
  prestador_regime_especial?: '0' | '1' | '2' | '3' | '4' | '5' | '6' | '9' | null;
  /** CNPJ de 14 posições ou CPF de 11 dígitos, sem pontuação. Exatamente um de: tomador_cpf_cnpj, tomador_nif, tomador_motivo_sem_nif. Na DPS: toma/CNPJ ou toma/CPF. */
  tomador_cpf_cnpj?: string | null;
  /** Identificação fiscal no exterior. Texto de 1 a 40 caracteres. Exatamente um de: tomador_cpf_cnpj, tomador_nif, tomador_motivo_sem_nif. Na DPS: toma/NIF. */
  tomador_nif?: string | null;
  /** Motivo de não haver NIF: 0 sem NIF, 1 dispensado, 2 não exigido. Exatamente um de: tomador_cpf_cnpj, tomador_nif, tomador_motivo_sem_nif. Na DPS: toma/cNaoNIF. */
  tomador_motivo_sem_nif?: '0' | '1' | '2' | null;
  /** Cadastro de atividade econômica da pessoa física. CAEPF de 14 dígitos. Na DPS: toma/CAEPF. */
  tomador_caepf?: string | null;
  /** Inscrição municipal. Texto de 1 a 15 caracteres. Na DPS: toma/IM. */
  tomador_inscricao_municipal?: string | null;
  /** Nome ou razão social. Texto de 1 a 300 caracteres. Obrigatório quando há tomador. Na DPS: toma/xNome. */
  tomador_razao_social?: string | null;
  /** Endereço. Na DPS: toma/end. */
  tomador_endereco?: Endereco | null;
  /** Telefone de 6 a 20 dígitos, com DDD e sem pontuação. Na DPS: toma/fone. */
  tomador_telefone?: string | null;
  /** E-mail. Texto de 1 a 80 caracteres. Na DPS: toma/email. */
  tomador_email?: string | null;
  /** CNPJ de 14 posições ou CPF de 11 dígitos, sem pontuação. Exatamente um de: intermediario_cpf_cnpj, intermediario_nif, intermediario_motivo_sem_nif. Na DPS: interm/CNPJ ou interm/CPF. */
  intermediario_cpf_cnpj?: string | null;
  /** Identificação fiscal no exterior. Texto de 1 a 40 caracteres. Exatamente um de: intermediario_cpf_cnpj, intermediario_nif, intermediario_motivo_sem_nif. Na DPS: interm/NIF. */
  intermediario_nif?: string | null;
  /** Motivo de não haver NIF: 0 sem NIF, 1 dispensado, 2 não exigido. Exatamente um de: intermediario_cpf_cnpj, intermediario_nif, intermediario_motivo_sem_nif. Na DPS: interm/cNaoNIF. */
  intermediario_motivo_sem_nif?: '0' | '1' | '2' | null;
  /** Cadastro de atividade econômica da pessoa física. CAEPF de 14 dígitos. Na DPS: interm/CAEPF. */
  intermediario_caepf?: string | null;
  /** Inscrição municipal. Texto de 1 a 15 caracteres. Na DPS: interm/IM. */
  intermediario_inscricao_municipal?: string | null;
  /** Nome ou razão social. Texto de 1 a 300 caracteres. Obrigatório quando há intermediário. Na DPS: interm/xNome. */
  intermediario_razao_social?: string | null;
  /** Endereço. Na DPS: interm/end. */
  intermediario_endereco?: Endereco | null;
  /** Telefone de 6 a 20 dígitos, com DDD e sem pontuação. Na DPS: interm/fone. */
  intermediario_telefone?: string | null;
  /** E-mail. Texto de 1 a 80 caracteres. Na DPS: interm/email. */
  intermediario_email?: string | null;
  /** Município da prestação; 0000000 em águas marítimas. Código IBGE do município, 7 dígitos. Exatamente um de: municipio_prestacao, pais_prestacao. Na DPS: serv/locPrest/cLocPrestacao. */
  municipio_prestacao?: string | null;
  /** País da prestação, quando no exterior. Código do país ISO 3166-1, duas letras maiúsculas. Exatamente um de: municipio_prestacao, pais_prestacao. Na DPS: serv/locPrest/cPaisPrestacao. */
  pais_prestacao?: string | null;
  /** Código de tributação nacional (item, subitem, desdobro). Código de tributação nacional, 6 dígitos. Na DPS: serv/cServ/cTribNac. */
  codigo_tributacao_nacional: string;
  /** Código de tributação municipal, 3 dígitos. Na DPS: serv/cServ/cTribMun. */
  codigo_tributacao_municipal?: string | null;
  /** Descrição do serviço. Texto de 1 a 2000 caracteres. Na DPS: serv/cServ/xDescServ. */
  descricao_servico: string;
  /** Código NBS, 9 dígitos, sem pontuação. Na DPS: serv/cServ/cNBS. */
  codigo_nbs: string;
  /** Código interno do contribuinte. Código de 1 a 20 letras ou dígitos. Na DPS: serv/cServ/cIntContrib. */
  codigo_interno_contribuinte?: string | null;
  /** Comércio exterior. Na DPS: serv/comExt. */
  comercio_exterior?: ComercioExterior | null;
  /** Obra de construção civil. Na DPS: serv/obra. */
  obra?: Obra | null;
  /** Atividade de evento. Na DPS: serv/atvEvento. */
  atividade_evento?: AtividadeEvento | null;
  /** Informações complementares. Na DPS: serv/infoCompl. */
  informacoes_complementares?: InformacoesComplementares | null;
  /** Valor recebido pelo intermediário. Valor com até 15 dígitos inteiros e duas casas, como 1000.00. Na DPS: valores/vServPrest/vReceb. */
  valor_recebido?: string | number | null;
  /** Valor do serviço. Valor com até 15 dígitos inteiros e duas casas, como 1000.00. Na DPS: valores/vServPrest/vServ. */
  valor_servico: string | number;
  /** Desconto incondicionado (reduz a base). Valor com até 15 dígitos inteiros e duas casas, como 1000.00. Na DPS: valores/vDescCondIncond/vDescIncond. */
  desconto_incondicionado?: string | number | null;
  /** Desconto condicionado (reduz só o líquido). Valor com até 15 dígitos inteiros e duas casas, como 1000.00. Na DPS: valores/vDescCondIncond/vDescCond. */
  desconto_condicionado?: string | number | null;
  /** Dedução ou redução da base do ISSQN. Na DPS: valores/vDedRed. */
  deducao_reducao?: DeducaoReducao | null;
  /** Tributação: 1 tributável, 2 imunidade, 3 exportação, 4 não incidência. Na DPS: valores/trib/tribMun/tribISSQN. */
  tributacao_issqn: '1' | '2' | '3' | '4';
  /** País do resultado, na exportação. Código do país ISO 3166-1, duas letras maiúsculas. Na DPS: valores/trib/tribMun/cPaisResult. */
  pais_resultado?: string | null;
  /** Tipo de imunidade. 1 Patrimônio, renda ou serviços, uns dos outros (CF88, Art 150, VI, a); 2 Entidades religiosas e templos de qualquer culto, inclusive suas organizações assistenciais e beneficentes (CF88, Art 150, VI, b); 3 Patrimônio, renda ou serviços dos partidos políticos, inclusive suas fundações, das entidades sindicais dos trabalhadores, das instituições de educação e de assistência social, sem fins lucrativos, atendidos os requisitos da lei (CF88, Art 150, VI, c); 4 Livros, jornais, periódicos e o papel destinado a sua impressão (CF88, Art 150, VI, d); 5 Fonogramas e videofonogramas musicais produzidos no Brasil contendo obras musicais ou literomusicais de autores brasileiros e/ou obras em geral interpretadas por artistas brasileiros bem como os suportes materiais ou arquivos digitais que os contenham, salvo na etapa de replicação industrial de mídias ópticas de leitura a laser. (CF88, Art 150, VI, e). Na DPS: valores/trib/tribMun/tpImunidade. */
  tipo_imunidade?: '1' | '2' | '3' | '4' | '5' | null;
  /** Exigibilidade suspensa. Na DPS: valores/trib/tribMun/exigSusp. */
  exigibilidade_suspensa?: ExigibilidadeSuspensa | null;
  /** Benefício municipal. Na DPS: valores/trib/tribMun/BM. */
  beneficio_municipal?: BeneficioMunicipal | null;
  /** Retenção: 1 não retido, 2 pelo tomador, 3 pelo intermediário. Sem ele, 1. Na DPS: valores/trib/tribMun/tpRetISSQN. */
  retencao_issqn?: '1' | '2' | '3' | null;
  /** Alíquota em percentual com duas casas, de 0 a 100.00. Na DPS: valores/trib/tribMun/pAliq. */
  aliquota_issqn?: string | number | null;
  /** Declarado, para ser comparado com o calculado (na nota, cLocIncid). Código IBGE do município, 7 dígitos. */
  municipio_incidencia?: string | null;
  /** Declarado, para ser comparado com o calculado (na nota, valores/vBC). Valor com até 15 dígitos inteiros e duas casas, como 1000.00. */
  valor_base_calculo?: string | number | null;
  /** Declarado, para ser comparado com o calculado (na nota, valores/vISSQN). Valor com até 15 dígitos inteiros e duas casas, como 1000.00. */
  valor_issqn?: string | number | null;
  /** Tributos federais. Na DPS: valores/trib/tribFed. */
  tributos_federais?: TributosFederais | null;
  /** Total aproximado dos tributos. Na DPS: valores/trib/totTrib. */
  total_tributos?: TotalTributos | null;
  /** IBS e CBS. Na DPS: IBSCBS. */
  ibscbs?: Ibscbs | null;
};

export type Substituicao = {
  /** Chave da NFS-e substituída. Chave de acesso de NFS-e, 50 posições. Na DPS: chSubstda. */
  chave_substituida: string;
  /** Motivo da substituição. 01 Desenquadramento de NFS-e do Simples Nacional; 02 Enquadramento de NFS-e no Simples Nacional; 03 Inclusão Retroativa de Imunidade/Isenção para NFS-e; 04 Exclusão Retroativa de Imunidade/Isenção para NFS-e; 05 Rejeição de NFS-e pelo tomador ou pelo intermediário se responsável pelo recolhimento do tributo; 99 Outros. Na DPS: cMotivo. */
  codigo_motivo: '01' | '02' | '03' | '04' | '05' | '99';
  /** Descrição do motivo, com 99. Texto de 15 a 255 caracteres. Na DPS: xMotivo. */
  descricao_motivo?: string | null;
};

export type ComercioExterior = {
  /** Modo de prestação. Um de: 1 (transfronteiriço), 2 (consumo no Brasil), 3 (movimento temporário de pessoas físicas), 4 (consumo no exterior). Na DPS: mdPrestacao. */
  modo_prestacao: '1' | '2' | '3' | '4';
  /** Vínculo entre as partes. Um de: 1 (controlada), 2 (controladora), 3 (coligada), 4 (matriz), 5 (filial ou sucursal), 6 (outro vínculo, ou nenhum). Na DPS: vincPrest. */
  vinculo_partes: '1' | '2' | '3' | '4' | '5' | '6';
  /** Moeda (tabela do Banco Central). Código da moeda na tabela do Banco Central, 3 dígitos. Na DPS: tpMoeda. */
  codigo_moeda: string;
  /** Valor na moeda estrangeira. Valor com até 15 dígitos inteiros e duas casas, como 1000.00. Na DPS: vServMoeda. */
  valor_moeda_estrangeira: string | number;
  /** Mecanismo de apoio usado pelo prestador. Um de: 01 (nenhum), 02 (ACC), 03 (ACE), 04 (BNDES-Exim pós-embarque), 05 (BNDES-Exim pré-embarque), 06 (FGE), 07 (PROEX equalização), 08 (PROEX financiamento). Na DPS: mecAFComexP. */
  mecanismo_apoio_prestador: MecanismoApoioPrestador;
  /** Mecanismo de apoio usado pelo tomador. Código de 01 (nenhum) a 26 da lista de mecanismos de apoio, que o leiaute enumera. 01 Nenhum; 02 Adm. Pública e Repr. Internacional; 03 Alugueis e Arrend. Mercantil de maquinas, equip., embarc. e aeronaves; 04 Arrendamento Mercantil de aeronave para empresa de transporte aéreo público; 05 Comissão a agentes externos na exportação; 06 Despesas de armazenagem, mov. e transporte de carga no exterior; 07 Eventos FIFA (subsidiária); 08 Eventos FIFA; 09 Fretes, arrendamentos de embarcações ou aeronaves e outros; 10 Material Aeronáutico; 11 Promoção de Bens no Exterior; 12 Promoção de Dest. Turísticos Brasileiros; 13 Promoção do Brasil no Exterior; 14 Promoção Serviços no Exterior; 15 RECINE; 16 RECOPA; 17 Registro e Manutenção de marcas, patentes e cultivares; 18 REICOMP; 19 REIDI; 20 REPENEC; 21 REPES; 22 RETAERO; 23 RETID; 24 Royalties, Assistência Técnica, Científica e Assemelhados; 25 Serviços de avaliação da conformidade vinculados aos Acordos da OMC; 26 ZPE. Na DPS: mecAFComexT. */
  mecanismo_apoio_tomador: MecanismoApoioTomador;
  /** Movimentação temporária de bens. Um de: 1 (não), 2 (vinculada a declaração de importação), 3 (vinculada a declaração de exportação). Na DPS: movTempBens. */
  movimentacao_temporaria_bens: '1' | '2' | '3';
  /** Declaração de importação. Texto de 1 a 12 caracteres. Na DPS: nDI. */
  numero_declaracao_importacao?: string | null;
  /** Registro de exportação. Texto de 1 a 12 caracteres. Na DPS: nRE. */
  numero_registro_exportacao?: string | null;
  /** Compartilhar com a Secretaria de Comércio Exterior. 0 Não enviar para o MDIC; 1 Enviar para o MDIC. Na DPS: mdic. */
  compartilhar_mdic?: '0' | '1' | null;
};

export type Obra = {
  /** Inscrição imobiliária municipal. Texto de 1 a 30 caracteres. Na DPS: inscImobFisc. */
  inscricao_imobiliaria?: string | null;
  /** Número da obra (CNO ou CEI). Texto de 1 a 30 caracteres. Exatamente um de: numero_obra, codigo_cib, endereco. Na DPS: cObra. */
  numero_obra?: string | null;
  /** Cadastro imobiliário brasileiro. Código CIB, 8 dígitos. Exatamente um de: numero_obra, codigo_cib, endereco. Na DPS: cCIB. */
  codigo_cib?: string | null;
  /** Endereço da obra. Exatamente um de: numero_obra, codigo_cib, endereco. Na DPS: end. */
  endereco?: EnderecoDoLocal | null;
};

export type AtividadeEvento = {
  /** Nome do evento. Texto de 1 a 255 caracteres. Na DPS: xNome. */
  nome: string;
  /** Primeiro dia. Data AAAA-MM-DD, de 2000 a 2099. Na DPS: dtIni. */
  data_inicio: string;
  /** Último dia. Data AAAA-MM-DD, de 2000 a 2099. Na DPS: dtFim. */
  data_fim: string;
  /** Código do evento dado pelo município. Texto de 1 a 30 caracteres. Exatamente um de: codigo_evento, endereco. Na DPS: idAtvEvt. */
  codigo_evento?: string | null;
  /** Endereço do evento. Exatamente um de: codigo_evento, endereco. Na DPS: end. */
  endereco?: EnderecoDoLocal | null;
};

export type InformacoesComplementares = {
  /** Documento de responsabilidade técnica. Texto de 1 a 40 caracteres. Na DPS: idDocTec. */
  documento_tecnico?: string | null;
  /** Documento de referência. Texto de 1 a 255 caracteres. Na DPS: docRef. */
  documento_referencia?: string | null;
  /** Texto livre. Texto de 1 a 2000 caracteres. Na DPS: xInfComp. */
  texto?: string | null;
};

export type DeducaoReducao = {
  /** Percentual com duas casas, de 0 a 100.00. Exatamente um de: percentual, valor, documentos. Na DPS: pDR. */
  percentual?: string | number | null;
  /** Valor com até 15 dígitos inteiros e duas casas, como 1000.00. Exatamente um de: percentual, valor, documentos. Na DPS: vDR. */
  valor?: string | number | null;
  /** Um documento, de uma lista. Exatamente um de: percentual, valor, documentos. Na DPS: documentos/docDedRed. */
  documentos?: DeducaoReducaoDocumentos[] | null;
};

export type DeducaoReducaoDocumentos = {
  /** Chave de NFS-e nacional. Chave de acesso de NFS-e, 50 posições. Exatamente um de: chave_nfse, chave_nfe, nfse_municipal, nota_papel, numero_documento_fiscal, numero_documento_nao_fiscal. Na DPS: chNFSe. */
  chave_nfse?: string | null;
  /** Chave de NF-e. Chave de acesso de NF-e, 44 posições. Exatamente um de: chave_nfse, chave_nfe, nfse_municipal, nota_papel, numero_documento_fiscal, numero_documento_nao_fiscal. Na DPS: chNFe. */
  chave_nfe?: string | null;
  /** Nota eletrônica municipal. Exatamente um de: chave_nfse, chave_nfe, nfse_municipal, nota_papel, numero_documento_fiscal, numero_documento_nao_fiscal. Na DPS: NFSeMun. */
  nfse_municipal?: DeducaoReducaoDocumentosNfseMunicipal | null;
  /** Nota em papel. Exatamente um de: chave_nfse, chave_nfe, nfse_municipal, nota_papel, numero_documento_fiscal, numero_documento_nao_fiscal. Na DPS: NFNFS. */
  nota_papel?: DeducaoReducaoDocumentosNotaPapel | null;
  /** Outro documento fiscal. Texto de 1 a 255 caracteres. Exatamente um de: chave_nfse, chave_nfe, nfse_municipal, nota_papel, numero_documento_fiscal, numero_documento_nao_fiscal. Na DPS: nDocFisc. */
  numero_documento_fiscal?: string | null;
  /** Documento não fiscal. Texto de 1 a 255 caracteres. Exatamente um de: chave_nfse, chave_nfe, nfse_municipal, nota_papel, numero_documento_fiscal, numero_documento_nao_fiscal. Na DPS: nDoc. */
  numero_documento_nao_fiscal?: string | null;
  /** Tipo da dedução. 1 Alimentação e bebidas/frigobar; 2 Materiais; 3 Produção Externa; 4 Reembolso de despesas; 5 Repasse consorciado; 6 Repasse plano de saúde; 7 Serviços; 8 Subempreitada de mão de obra; 9 Profissional parceiro; 99 Outras deduções. Na DPS: tpDedRed. */
  tipo: '1' | '2' | '3' | '4' | '5' | '6' | '7' | '8' | '9' | '99';
  /** Descrição, com tipo 99. Texto de 1 a 150 caracteres. Na DPS: xDescOutDed. */
  descricao_tipo?: string | null;
  /** Data do documento. Data AAAA-MM-DD, de 2000 a 2099. Na DPS: dtEmiDoc. */
  data_emissao: string;
  /** Valor que poderia ser deduzido. Valor com até 15 dígitos inteiros e duas casas, como 1000.00. Na DPS: vDedutivelRedutivel. */
  valor_dedutivel: string | number;
  /** Valor deduzido aqui. Valor com até 15 dígitos inteiros e duas casas, como 1000.00. Na DPS: vDeducaoReducao. */
  valor: string | number;
  /** Fornecedor. Na DPS: fornec. */
  fornecedor?: DeducaoReducaoDocumentosFornecedor | null;
};

export type DeducaoReducaoDocumentosNfseMunicipal = {
  /** Município emissor. Código IBGE do município, 7 dígitos. Na DPS: cMunNFSeMun. */
  codigo_municipio: string;
  /** Número. 15 dígitos, com zeros à esquerda. Na DPS: nNFSeMun. */
  numero: string;
  /** Código de verificação. Código de 1 a 9 letras ou dígitos. Na DPS: cVerifNFSeMun. */
  codigo_verificacao: string;
};

export type DeducaoReducaoDocumentosNotaPapel = {
  /** Número. 7 dígitos, com zeros à esquerda. Na DPS: nNFS. */
  numero: string;
  /** Modelo. 15 dígitos, com zeros à esquerda. Na DPS: modNFS. */
  modelo: string;
  /** Série de 1 a 15 letras ou dígitos. Na DPS: serieNFS. */
  serie: string;
};

export type DeducaoReducaoDocumentosFornecedor = Identificacao & {
  /** Cadastro de atividade econômica da pessoa física. CAEPF de 14 dígitos. Na DPS: CAEPF. */
  caepf?: string | null;
  /** Inscrição municipal. Texto de 1 a 15 caracteres. Na DPS: IM. */
  inscricao_municipal?: string | null;
  /** Nome ou razão social. Texto de 1 a 300 caracteres. Na DPS: xNome. */
  razao_social: string;
  /** Endereço. Na DPS: end. */
  endereco?: Endereco | null;
  /** Telefone de 6 a 20 dígitos, com DDD e sem pontuação. Na DPS: fone. */
  telefone?: string | null;
  /** E-mail. Texto de 1 a 80 caracteres. Na DPS: email. */
  email?: string | null;
};

export type ExigibilidadeSuspensa = {
  /** 1 decisão judicial, 2 processo administrativo. Na DPS: tpSusp. */
  tipo: '1' | '2';
  /** Número do processo. 30 dígitos sem pontuação; o número judicial de 20 dígitos é completado com zeros à esquerda. Na DPS: nProcesso. */
  numero_processo: string;
};

export type BeneficioMunicipal = {
  /** Número do benefício municipal, 14 dígitos. Na DPS: nBM. */
  numero?: string | null;
  /** Redução da base em valor. Valor com até 15 dígitos inteiros e duas casas, como 1000.00. No máximo um de: valor_reducao, percentual_reducao. Na DPS: vRedBCBM. */
  valor_reducao?: string | number | null;
  /** Redução da base em percentual. Percentual com duas casas, de 0 a 100.00. No máximo um de: valor_reducao, percentual_reducao. Na DPS: pRedBCBM. */
  percentual_reducao?: string | number | null;
};

export type TributosFederais = {
  /** PIS e COFINS, apuração própria. Na DPS: piscofins. */
  pis_cofins?: TributosFederaisPisCofins | null;
  /** Contribuição previdenciária retida. Valor com até 15 dígitos inteiros e duas casas, como 1000.00. Na DPS: vRetCP. */
  valor_retido_cp?: string | number | null;
  /** Imposto de renda retido. Valor com até 15 dígitos inteiros e duas casas, como 1000.00. Na DPS: vRetIRRF. */
  valor_retido_irrf?: string | number | null;
  /** PIS, COFINS e CSLL retidos. Valor com até 15 dígitos inteiros e duas casas, como 1000.00. Na DPS: vRetCSLL. */
  valor_retido_csll?: string | number | null;
};

export type TributosFederaisPisCofins = {
  /** Situação tributária. 00 Nenhum; 01 Operação Tributável com Alíquota Básica; 02 Operação Tributável com Alíquota Diferenciada; 03 Operação Tributável com Alíquota por Unidade de Medida de Produto; 04 Operação Tributável monofásica - Revenda a Alíquota Zero; 05 Operação Tributável por Substituição Tributária; 06 Operação Tributável a Alíquota Zero; 07 Operação Isenta da Contribuição; 08 Operação sem Incidência da Contribuição; 09 Operação com Suspensão da Contribuição; 49 Outras Operações de Saída; 50 Operação com Direito a Crédito – Vinculada Exclusivamente a Receita Tributada no Mercado Interno; 51 Operação com Direito a Crédito – Vinculada Exclusivamente a Receita Não-Tributada no Mercado Interno; 52 Operação com Direito a Crédito – Vinculada Exclusivamente a Receita de Exportação; 53 Operação com Direito a Crédito – Vinculada a Receitas Tributadas e Não-Tributadas no Mercado Interno; 54 Operação com Direito a Crédito – Vinculada a Receitas Tributadas no Mercado Interno e de Exportação; 55 Operação com Direito a Crédito – Vinculada a Receitas Não Tributadas no Mercado Interno e de Exportação; 56 Operação com Direito a Crédito – Vinculada a Receitas Tributadas e Não-Tributadas no Mercado Interno e de Exportação; 60 Crédito Presumido – Operação de Aquisição Vinculada Exclusivamente a Receita Tributada no Mercado Interno; 61 Crédito Presumido – Operação de Aquisição Vinculada Exclusivamente a Receita Não-Tributada no Mercado Interno; 62 Crédito Presumido – Operação de Aquisição Vinculada Exclusivamente a Receita de Exportação; 63 Crédito Presumido – Operação de Aquisição Vinculada a Receitas Tributadas e Não-Tributadas no Mercado Interno; 64 Crédito Presumido – Operação de Aquisição Vinculada a Receitas Tributadas no Mercado Interno e de Exportação; 65 Crédito Presumido – Operação de Aquisição Vinculada a Receitas Não-Tributadas no Mercado Interno e de Exportação; 66 Crédito Presumido – Operação de Aquisição Vinculada a Receitas Tributadas e Não-Tributadas no Mercado Interno e de Exportação; 67 Crédito Presumido – Outras Operações; 70 Operação de Aquisição sem Direito a Crédito; 71 Operação de Aquisição com Isenção; 72 Operação de Aquisição com Suspensão; 73 Operação de Aquisição a Alíquota Zero; 74 Operação de Aquisição sem Incidência da Contribuição; 75 Operação de Aquisição por Substituição Tributária; 98 Outras Operações de Entrada; 99 Outras Operações. Na DPS: CST. */
  CST: CstPisCofins;
  /** Base de cálculo. Valor com até 15 dígitos inteiros e duas casas, como 1000.00. Na DPS: vBCPisCofins. */
  valor_base_calculo?: string | number | null;
  /** Alíquota do PIS. Alíquota em percentual com duas casas, de 0 a 100.00. Na DPS: pAliqPis. */
  aliquota_pis?: string | number | null;
  /** Alíquota da COFINS. Alíquota em percentual com duas casas, de 0 a 100.00. Na DPS: pAliqCofins. */
  aliquota_cofins?: string | number | null;
  /** Débito do PIS. Valor com até 15 dígitos inteiros e duas casas, como 1000.00. Na DPS: vPis. */
  valor_pis?: string | number | null;
  /** Débito da COFINS. Valor com até 15 dígitos inteiros e duas casas, como 1000.00. Na DPS: vCofins. */
  valor_cofins?: string | number | null;
  /** O que está retido em vRetCSLL. 0 PIS/COFINS/CSLL Não Retidos; 1 PIS/COFINS Retido; 2 PIS/COFINS Não Retido; 3 PIS/COFINS/CSLL Retidos; 4 PIS/COFINS Retidos, CSLL Não Retido; 5 PIS Retido, COFINS/CSLL Não Retido; 6 COFINS Retido, PIS/CSLL Não Retido; 7 PIS Não Retido, COFINS/CSLL Retidos; 8 PIS/COFINS Não Retidos, CSLL Retido; 9 COFINS Não Retido, PIS/CSLL Retidos. Na DPS: tpRetPisCofins. */
  tipo_retencao?: '0' | '1' | '2' | '3' | '4' | '5' | '6' | '7' | '8' | '9' | null;
};

export type TotalTributos = {
  /** Em valores. Exatamente um de: valores, percentuais, indicador, percentual_simples_nacional. Na DPS: vTotTrib. */
  valores?: TotalTributosValores | null;
  /** Em percentuais. Exatamente um de: valores, percentuais, indicador, percentual_simples_nacional. Na DPS: pTotTrib. */
  percentuais?: TotalTributosPercentuais | null;
  /** 0: sem estimativa. Exatamente um de: valores, percentuais, indicador, percentual_simples_nacional. Sem nenhum dos outros, 0. Na DPS: indTotTrib. */
  indicador?: '0' | null;
  /** Percentual do Simples Nacional. Percentual até 99.99, com duas casas. Exatamente um de: valores, percentuais, indicador, percentual_simples_nacional. Na DPS: pTotTribSN. */
  percentual_simples_nacional?: string | number | null;
};

export type TotalTributosValores = {
  /** Federais. Valor com até 15 dígitos inteiros e duas casas, como 1000.00. Na DPS: vTotTribFed. */
  federal: string | number;
  /** Estaduais. Valor com até 15 dígitos inteiros e duas casas, como 1000.00. Na DPS: vTotTribEst. */
  estadual: string | number;
  /** Municipais. Valor com até 15 dígitos inteiros e duas casas, como 1000.00. Na DPS: vTotTribMun. */
  municipal: string | number;
};

export type TotalTributosPercentuais = {
  /** Federais. Percentual com duas casas, de 0 a 100.00. Na DPS: pTotTribFed. */
  federal: string | number;
  /** Estaduais. Percentual com duas casas, de 0 a 100.00. Na DPS: pTotTribEst. */
  estadual: string | number;
  /** Municipais. Percentual com duas casas, de 0 a 100.00. Na DPS: pTotTribMun. */
  municipal: string | number;
};

export type Ibscbs = {
  /** Situação tributária. CST do IBS/CBS, 3 dígitos. Na DPS: valores/trib/gIBSCBS/CST. */
  CST: string;
  /** Classificação tributária do IBS/CBS, 6 dígitos. Na DPS: valores/trib/gIBSCBS/cClassTrib. */
  cClassTrib: string;
  /** Finalidade: 0 regular. Na DPS: finNFSe. */
  finalidade?: '0' | null;
  /** Uso ou consumo pessoal. 0 Não; 1 Sim. Na DPS: indFinal. */
  uso_consumo_pessoal?: '0' | '1' | null;
  /** Indicador da operação. Indicador de operação, 6 dígitos. Na DPS: cIndOp. */
  codigo_indicador_operacao?: string | null;
  /** Ordem entre fornecimento e pagamento. 1 Fornecimento com pagamento posterior; 2 Recebimento do pagamento com fornecimento já realizado; 3 Fornecimento com pagamento já realizado; 4 Recebimento do pagamento com fornecimento posterior; 5 Fornecimento e recebimento do pagamento concomitantes. Na DPS: tpOper. */
  tipo_operacao?: '1' | '2' | '3' | '4' | '5' | null;
  /** Chave de acesso de NFS-e, 50 posições. Obrigatório quando há notas referenciadas. Na DPS: gRefNFSe/refNFSe. */
  notas_referenciadas?: string[] | null;
  /** Ente governamental comprador. 1 União; 2 Estado; 3 Distrito Federal; 4 Município. Na DPS: tpEnteGov. */
  tipo_ente_governamental?: '1' | '2' | '3' | '4' | null;
  /** Destinatário: 0 é o tomador, 1 é outro. Na DPS: indDest. */
  indicador_destinatario?: '0' | '1' | null;
  /** Destinatário. Na DPS: dest. */
  destinatario?: IbscbsDestinatario | null;
  /** Imóvel. Na DPS: imovel. */
  imovel?: IbscbsImovel | null;
  /** Um documento, de uma lista. Obrigatório quando há reembolso, repasse e ressarcimento. Na DPS: valores/gReeRepRes/documentos. */
  reembolsos?: IbscbsReembolsos[] | null;
  /** Crédito presumido. Código do crédito presumido, 2 dígitos. Na DPS: valores/trib/gIBSCBS/cCredPres. */
  codigo_credito_presumido?: string | null;
  /** Tributação regular. Na DPS: valores/trib/gIBSCBS/gTribRegular. */
  tributacao_regular?: IbscbsTributacaoRegular | null;
  /** Diferimento. Na DPS: valores/trib/gIBSCBS/gDif. */
  diferimento?: IbscbsDiferimento | null;
  /** Declarado, para ser comparado com o calculado (na nota, IBSCBS/valores/vBC). Valor com até 15 dígitos inteiros e duas casas, como 1000.00. */
  valores_base_calculo?: string | number | null;
  /** Declarado, para ser comparado com o calculado (na nota, IBSCBS/valores/uf/pIBSUF). Percentual com duas casas, de 0 a 100.00. */
  valores_aliquota_ibs_uf?: string | number | null;
  /** Declarado, para ser comparado com o calculado (na nota, IBSCBS/valores/mun/pIBSMun). Percentual com duas casas, de 0 a 100.00. */
  valores_aliquota_ibs_municipal?: string | number | null;
  /** Declarado, para ser comparado com o calculado (na nota, IBSCBS/valores/fed/pCBS). Percentual com duas casas, de 0 a 100.00. */
  valores_aliquota_cbs?: string | number | null;
  /** Declarado, para ser comparado com o calculado (na nota, IBSCBS/valores/uf/pAliqEfetUF). Percentual com duas casas, de 0 a 100.00. */
  valores_aliquota_efetiva_ibs_uf?: string | number | null;
  /** Declarado, para ser comparado com o calculado (na nota, IBSCBS/valores/mun/pAliqEfetMun). Percentual com duas casas, de 0 a 100.00. */
  valores_aliquota_efetiva_ibs_municipal?: string | number | null;
  /** Declarado, para ser comparado com o calculado (na nota, IBSCBS/valores/fed/pAliqEfetCBS). Percentual com duas casas, de 0 a 100.00. */
  valores_aliquota_efetiva_cbs?: string | number | null;
  /** Declarado, para ser comparado com o calculado (na nota, IBSCBS/totCIBS/gIBS/gIBSUFTot/vIBSUF). Valor com até 15 dígitos inteiros e duas casas, como 1000.00. */
  total_ibs_uf?: string | number | null;
  /** Declarado, para ser comparado com o calculado (na nota, IBSCBS/totCIBS/gIBS/gIBSMunTot/vIBSMun). Valor com até 15 dígitos inteiros e duas casas, como 1000.00. */
  total_ibs_municipal?: string | number | null;
  /** Declarado, para ser comparado com o calculado (na nota, IBSCBS/totCIBS/gIBS/vIBSTot). Valor com até 15 dígitos inteiros e duas casas, como 1000.00. */
  total_ibs?: string | number | null;
  /** Declarado, para ser comparado com o calculado (na nota, IBSCBS/totCIBS/gCBS/vCBS). Valor com até 15 dígitos inteiros e duas casas, como 1000.00. */
  total_cbs?: string | number | null;
  /** Declarado, para ser comparado com o calculado (na nota, IBSCBS/totCIBS/vTotNF). Valor com até 15 dígitos inteiros e duas casas, como 1000.00. */
  total_nota?: string | number | null;
};

export type IbscbsDestinatario = IbscbsReembolsosFornecedor & {
  /** Endereço. Na DPS: end. */
  endereco?: Endereco | null;
  /** Telefone de 6 a 20 dígitos, com DDD e sem pontuação. Na DPS: fone. */
  telefone?: string | null;
  /** E-mail. Texto de 1 a 80 caracteres. Na DPS: email. */
  email?: string | null;
};

export type Endereco = Logradouro & {
  /** Município (código IBGE). Código IBGE do município, 7 dígitos. Exatamente um de: codigo_municipio e cep, exterior. Na DPS: endNac/cMun. */
  codigo_municipio?: string | null;
  /** CEP de 8 dígitos, sem hífen. Exatamente um de: codigo_municipio e cep, exterior. Na DPS: endNac/CEP. */
  cep?: string | null;
  /** Endereço no exterior. Exatamente um de: codigo_municipio e cep, exterior. Na DPS: endExt. */
  exterior?: EnderecoNoExterior | null;
};

export type EnderecoNoExterior = EnderecoDoLocalNoExterior & {
  /** País (ISO 3166-1), diferente do Brasil. Código do país ISO 3166-1, duas letras maiúsculas. Na DPS: cPais. */
  codigo_pais: string;
};

export type IbscbsImovel = {
  /** Inscrição imobiliária municipal. Texto de 1 a 30 caracteres. Na DPS: inscImobFisc. */
  inscricao_imobiliaria?: string | null;
  /** Cadastro imobiliário brasileiro. Código CIB, 8 dígitos. Exatamente um de: codigo_cib, endereco. Na DPS: cCIB. */
  codigo_cib?: string | null;
  /** Endereço do imóvel. Exatamente um de: codigo_cib, endereco. Na DPS: end. */
  endereco?: EnderecoDoLocal | null;
};

export type EnderecoDoLocal = Logradouro & {
  /** CEP, quando no Brasil. CEP de 8 dígitos, sem hífen. Exatamente um de: cep, exterior. Na DPS: CEP. */
  cep?: string | null;
  /** Endereço no exterior. Exatamente um de: cep, exterior. Na DPS: endExt. */
  exterior?: EnderecoDoLocalNoExterior | null;
};

export type EnderecoDoLocalNoExterior = {
  /** Código postal de 1 a 11 letras sem acento, dígitos, hífens ou espaços. Na DPS: cEndPost. */
  codigo_postal: string;
  /** Cidade. Texto de 1 a 60 caracteres. Na DPS: xCidade. */
  cidade: string;
  /** Estado, província ou região. Texto de 1 a 60 caracteres. Na DPS: xEstProvReg. */
  estado_provincia_regiao: string;
};

export type IbscbsReembolsos = {
  /** Documento do repositório nacional. Exatamente um de: documento_nacional, documento_fiscal_outro, documento_nao_fiscal. Na DPS: dFeNacional. */
  documento_nacional?: IbscbsReembolsosDocumentoNacional | null;
  /** Outro documento fiscal. Exatamente um de: documento_nacional, documento_fiscal_outro, documento_nao_fiscal. Na DPS: docFiscalOutro. */
  documento_fiscal_outro?: IbscbsReembolsosDocumentoFiscalOutro | null;
  /** Documento não fiscal. Exatamente um de: documento_nacional, documento_fiscal_outro, documento_nao_fiscal. Na DPS: docOutro. */
  documento_nao_fiscal?: IbscbsReembolsosDocumentoNaoFiscal | null;
  /** Fornecedor. Na DPS: fornec. */
  fornecedor?: IbscbsReembolsosFornecedor | null;
  /** Emissão. Data AAAA-MM-DD, de 2000 a 2099. Na DPS: dtEmiDoc. */
  data_emissao: string;
  /** Competência. Data AAAA-MM-DD, de 2000 a 2099. Na DPS: dtCompDoc. */
  data_competencia: string;
  /** Tipo. 01 Repasse de remuneração por intermediação de imóveis a demais corretores envolvidos na operação; 02 Repasse de valores a fornecedor relativo a fornecimento intermediado por agência de turismo; 03 Reembolso ou ressarcimento recebido por agência de propaganda e publicidade por valores pagos relativos a serviços de produção externa por conta e ordem de terceiro; 04 Reembolso ou ressarcimento recebido por agência de propaganda e publicidade por valores pagos relativos a serviços de mídia por conta e ordem de terceiro; 99 Outros reembolsos ou ressarcimentos recebidos por valores pagos relativos a operações por conta e ordem de terceiro. Na DPS: tpReeRepRes. */
  tipo: '01' | '02' | '03' | '04' | '99';
  /** Descrição, com 99. Texto de 1 a 150 caracteres. Na DPS: xTpReeRepRes. */
  descricao_tipo?: string | null;
  /** Valor fora da base. Valor com até 15 dígitos inteiros e duas casas, como 1000.00. Na DPS: vlrReeRepRes. */
  valor: string | number;
};

export type IbscbsReembolsosDocumentoNacional = {
  /** 1 NFS-e, 2 NF-e, 3 CT-e, 9 outro. Na DPS: tipoChaveDFe. */
  tipo_chave: '1' | '2' | '3' | '9';
  /** Descrição, com 9. Texto de 1 a 255 caracteres. Na DPS: xTipoChaveDFe. */
  descricao_tipo_chave?: string | null;
  /** Chave. Texto de 1 a 50 caracteres. Na DPS: chaveDFe. */
  chave: string;
};

export type IbscbsReembolsosDocumentoFiscalOutro = {
  /** Município. 7 dígitos, com zeros à esquerda. Na DPS: cMunDocFiscal. */
  codigo_municipio: string;
  /** Número. Texto de 1 a 255 caracteres. Na DPS: nDocFiscal. */
  numero: string;
  /** Descrição. Texto de 1 a 255 caracteres. Na DPS: xDocFiscal. */
  descricao: string;
};

export type IbscbsReembolsosDocumentoNaoFiscal = {
  /** Número. Texto de 1 a 255 caracteres. Na DPS: nDoc. */
  numero: string;
  /** Descrição. Texto de 1 a 255 caracteres. Na DPS: xDoc. */
  descricao: string;
};

export type IbscbsReembolsosFornecedor = Identificacao & {
  /** Nome ou razão social. Texto de 1 a 150 caracteres. Na DPS: xNome. */
  razao_social: string;
};

export type IbscbsTributacaoRegular = {
  /** Situação tributária. CST do IBS/CBS, 3 dígitos. Na DPS: CSTReg. */
  CST: string;
  /** Classificação tributária do IBS/CBS, 6 dígitos. Na DPS: cClassTribReg. */
  cClassTrib: string;
};

export type IbscbsDiferimento = {
  /** IBS estadual. Percentual com duas casas, de 0 a 100.00. Na DPS: pDifUF. */
  percentual_ibs_uf: string | number;
  /** IBS municipal. Percentual com duas casas, de 0 a 100.00. Na DPS: pDifMun. */
  percentual_ibs_municipal: string | number;
  /** CBS. Percentual com duas casas, de 0 a 100.00. Na DPS: pDifCBS. */
  percentual_cbs: string | number;
};

/** Registro de evento. Os campos dependem de tipo_evento. */
export type PedidoDeEvento =
  | EventoCancelamento
  | EventoCancelamentoPorSubstituicao
  | EventoSolicitacaoAnaliseFiscalParaCancelamento
  | EventoConfirmacaoPrestador
  | EventoConfirmacaoTomador
  | EventoConfirmacaoIntermediario
  | EventoRejeicaoPrestador
  | EventoRejeicaoTomador
  | EventoRejeicaoIntermediario;

/** Cancelamento de NFS-e. Evento 101101. Sem autor, vale o documento do prestador da nota. */
export type EventoCancelamento = AutorENota & {
  /** O tipo do evento. */
  tipo_evento: 'cancelamento';
  /** Por que a nota é cancelada. 1 Erro na Emissão; 2 Serviço não Prestado; 9 Outros. */
  codigo_motivo_cancelamento: '1' | '2' | '9';
  /** O motivo em palavras, de 15 a 255 caracteres. */
  descricao_motivo_cancelamento: string;
};

/** Cancelamento de NFS-e por Substituição. Evento 105102. Sem autor, vale o documento do prestador da nota. */
export type EventoCancelamentoPorSubstituicao = AutorENota & {
  /** O tipo do evento. */
  tipo_evento: 'cancelamento_por_substituicao';
  /** Por que a nota é substituída; o mesmo de subst/cMotivo na DPS da substituta. 01 Desenquadramento de NFS-e do Simples Nacional; 02 Enquadramento de NFS-e no Simples Nacional; 03 Inclusão Retroativa de Imunidade/Isenção para NFS-e; 04 Exclusão Retroativa de Imunidade/Isenção para NFS-e; 05 Rejeição de NFS-e pelo tomador ou pelo intermediário se responsável pelo recolhimento do tributo; 99 Outros. */
  codigo_motivo_cancelamento: '01' | '02' | '03' | '04' | '05' | '99';
  /** O motivo em palavras, de 15 a 255 caracteres. Obrigatório com codigo_motivo_cancelamento 99. */
  descricao_motivo_cancelamento?: string | null;
  /** Chave de acesso da nota que substitui esta. */
  chave_acesso_substituta: string;
};

/** Solicitação de Análise Fiscal para Cancelamento de NFS-e. Evento 101103. Sem autor, vale o documento do prestador da nota. */
export type EventoSolicitacaoAnaliseFiscalParaCancelamento = AutorENota & {
  /** O tipo do evento. */
  tipo_evento: 'solicitacao_analise_fiscal_para_cancelamento';
  /** Por que se pede o cancelamento. 1 Erro na Emissão; 2 Serviço não Prestado; 9 Outros. */
  codigo_motivo_cancelamento: '1' | '2' | '9';
  /** O motivo em palavras, de 15 a 255 caracteres. */
  descricao_motivo_cancelamento: string;
};

/** Manifestação de NFS-e - Confirmação do Prestador. Evento 202201. Sem autor, vale o documento do prestador da nota. */
export type EventoConfirmacaoPrestador = AutorENota & {
  /** O tipo do evento. */
  tipo_evento: 'confirmacao_prestador';
};

/** Manifestação de NFS-e - Confirmação do Tomador. Evento 203202. Sem autor, vale o documento do tomador da nota. */
export type EventoConfirmacaoTomador = AutorENota & {
  /** O tipo do evento. */
  tipo_evento: 'confirmacao_tomador';
};

/** Manifestação de NFS-e - Confirmação do Intermediário. Evento 204203. Sem autor, vale o documento do intermediario da nota. */
export type EventoConfirmacaoIntermediario = AutorENota & {
  /** O tipo do evento. */
  tipo_evento: 'confirmacao_intermediario';
};

/** Manifestação de NFS-e - Rejeição do Prestador. Evento 202205. Sem autor, vale o documento do prestador da nota. */
export type EventoRejeicaoPrestador = Rejeicao & {
  /** O tipo do evento. */
  tipo_evento: 'rejeicao_prestador';
};

/** Manifestação de NFS-e - Rejeição do Tomador. Evento 203206. Sem autor, vale o documento do tomador da nota. */
export type EventoRejeicaoTomador = Rejeicao & {
  /** O tipo do evento. */
  tipo_evento: 'rejeicao_tomador';
};

/** Manifestação de NFS-e - Rejeição do Intermediário. Evento 204207. Sem autor, vale o documento do intermediario da nota. */
export type EventoRejeicaoIntermediario = Rejeicao & {
  /** O tipo do evento. */
  tipo_evento: 'rejeicao_intermediario';
};

export type EnvelopeDeErro = {
  /** Código do primeiro erro. Decida por ele e pelo status HTTP. */
  readonly codigo_erro: Codigo;
  /** O primeiro erro em uma frase; o texto pode mudar. */
  readonly mensagem: string;
  /** Pormenores do primeiro erro: um texto, ou um objeto com dados. */
  readonly detalhes: Detalhes;
  /** Quando foi respondido, no fuso do município. */
  readonly timestamp: string;
  /** Campo, parâmetro ou cabeçalho de que o primeiro erro fala. */
  readonly campo?: string;
  /** Todos os erros da etapa que recusou, na ordem do leiaute. */
  readonly erros: readonly Erro[];
  /** Os nomes que valem, quando o pedido não é um deles. */
  readonly valores_validos?: readonly string[];
  /** Na validação sem emitir, em produção, sem a assinatura válida do prestador ou com a estrutura errada: o que não foi olhado, e que a emissão ainda pode recusar. */
  readonly nao_conferido?: readonly string[];
  /** Com nao_conferido, quando só falta a assinatura válida, pelo que a DPS diz e pelo que o município publica. Onde o ISSQN é devido: código IBGE, nome e UF; null quando a operação não tem incidência. */
  readonly municipio_incidencia?: MunicipioIncidencia | null;
  /** Com nao_conferido, quando só falta a assinatura válida, pelo que a DPS diz e pelo que o município publica. Os valores do ISSQN e das retenções, em texto decimal; null o que não consta da nota. */
  readonly valores?: Valores;
  /** Com nao_conferido, quando só falta a assinatura válida, pelo que a DPS diz e pelo que o município publica. O cálculo oficial do IBS e da CBS, com os nomes em que o corpo JSON o declara; null sem o grupo ou sem alíquota publicada. */
  readonly ibscbs?: ValoresIbsCbs | null;
  /** Com nao_conferido, quando só falta a assinatura válida, pelo que a DPS diz e pelo que o município publica. Cada passo do cálculo, na ordem: campo da nota, como se chegou a ele, e o valor. */
  readonly calculo?: readonly Passo[];
  /** Com nao_conferido, quando só falta a assinatura válida, pelo que a DPS diz e pelo que o município publica. O que não impediria a emissão e convém saber. */
  readonly avisos?: readonly Aviso[];
};

export type Erro = {
  /** Código da tabela pública. */
  readonly codigo: Codigo;
  /** Elemento da DPS de que o erro fala; vazio quando não é da DPS. */
  readonly xpath: string;
  /** Propriedade do corpo JSON, ou parâmetro, de que o erro fala. */
  readonly campo?: string;
  /** O que está errado e como se corrige. */
  readonly mensagem: string;
  /** De onde vem a regra. */
  readonly origem_moc: string;
  /** Página do código. */
  readonly doc_url: string;
  /** Exemplos na página do código, no primeiro erro que o traz. */
  readonly exemplo_ref?: string;
  /** Linha do documento enviado, a partir de 1. */
  readonly linha?: number;
  /** Coluna, em caracteres, a partir de 1. */
  readonly coluna?: number;
  /** O que veio. */
  readonly encontrado?: string;
  /** O que se esperava; uma lista longa vem só no primeiro erro que a tem. */
  readonly esperado?: string;
  /** Texto que se cola, como está, no lugar do que veio: em XML, do elemento inteiro que xpath nomeia e que começa em linha e coluna, ou do atributo, se xpath acaba em @nome (o que falta se acrescenta à marca); em JSON, da propriedade que campo nomeia, nome e valor, ou do item, se campo acaba em [n]. Vazio: retire o que está ali, em JSON com a vírgula que o separa. Sem correcao, a correção pede uma decisão. */
  readonly correcao?: string;
  /** E0014: chave da nota que já existe. */
  readonly chave_acesso?: string;
  /** E0014: protocolo da nota que já existe. */
  readonly numero_protocolo?: string;
  /** E0014: se a DPS é a mesma que a emitiu. */
  readonly mesmo_conteudo?: boolean;
};

export type Aviso = {
  /** Código da tabela pública. */
  readonly codigo: Codigo;
  /** Elemento da DPS de que o aviso fala; vazio quando não é da DPS. */
  readonly xpath: string;
  /** O que convém saber. */
  readonly mensagem: string;
  /** Propriedade do corpo JSON, ou cabeçalho, de que o aviso fala. */
  readonly campo?: string;
  /** Linha do documento enviado, a partir de 1. */
  readonly linha?: number;
  /** Coluna, em caracteres, a partir de 1. */
  readonly coluna?: number;
  /** Página do código. */
  readonly doc_url: string;
};

export type Detalhes = string | Readonly<Record<string, unknown>>;

export type CodigoDaTabela = {
  /** O código. */
  readonly codigo: Codigo;
  /** Se alguma resposta o traz. */
  readonly situacao: 'enviado' | 'reservado' | 'substituido';
  /** O código que tomou o seu lugar. */
  readonly substituido_por?: Codigo;
  /** Status HTTP usual; null para um aviso. */
  readonly status: number | null;
  /** Todos os status com que ele vem. */
  readonly todos_os_status: readonly number[];
  /** O código em uma linha. */
  readonly titulo: string;
  /** O que significa e quando vem. */
  readonly significado: string;
  /** O que fazer. */
  readonly como_resolver: string;
  /** Se a mesma requisição, enviada de novo, pode ter sucesso. */
  readonly transitorio: boolean;
  /** geral, nacional (na integração, aviso) ou aviso. */
  readonly alcance: 'geral' | 'nacional' | 'aviso';
  /** O alcance em palavras. */
  readonly a_quem_diz_respeito: string;
  /** De onde vem a regra. */
  readonly origem: string;
  /** O que o número quer dizer no padrão nacional. */
  readonly em_outros_sistemas?: string;
  /** Lugares da DPS de que o código fala. */
  readonly caminhos: readonly LugarDoCodigo[];
  /** Página do código. */
  readonly doc_url: string;
  /** Requisições recusadas e aceitas, como texto. */
  readonly pedidos?: readonly PedidoDeExemplo[];
  /** Trechos recusados e aceitos. */
  readonly exemplos: readonly ExemplosDoCodigo[];
};

export type LugarDoCodigo = {
  /** Caminho na DPS ou na nota. */
  readonly caminho: string;
  /** O que está em lugar dele no corpo JSON. */
  readonly campo?: string;
};

export type ExemplosDoCodigo = {
  /** O lugar de que os exemplos falam. */
  readonly caminho?: string;
  /** O alcance da regra. */
  readonly alcance: 'geral' | 'nacional' | 'aviso';
  /** O que é recusado. */
  readonly recusados: readonly TrechoRecusado[];
  /** O que é aceito. */
  readonly aceitos: readonly Trecho[];
};

export type PedidoDeExemplo = {
  /** O que o exemplo mostra. */
  readonly titulo?: string;
  /** A requisição recusada. */
  readonly recusado: string;
  /** A aceita. */
  readonly aceito: string;
};

export type Trecho = {
  /** Trecho da DPS em XML. */
  readonly xml?: string;
  /** O mesmo no corpo JSON. */
  readonly json?: string;
};

export type TrechoRecusado = Trecho & {
  /** Os códigos da resposta. */
  readonly respostas: readonly string[];
};

export type Nota = NotaSemXml & {
  /** A NFS-e autorizada; até a autorização, a DPS recebida. */
  readonly xml_nota: string;
};

export type NotaComCancelamento = Nota & {
  /** Quando foi cancelada; null enquanto não foi. */
  readonly data_cancelamento: string | null;
};

export type Protocolo = {
  /** Número de protocolo da nota. */
  readonly numero_protocolo: string;
  /** Andamento no ADN. */
  readonly status: 'processando' | 'autorizado' | 'rejeitado' | 'cancelado';
  /** aguardar enquanto a nota muda por si, e também da que espera a publicação de uma alíquota; null depois. */
  readonly acao_sugerida: 'aguardar' | null;
  /** Quando vale a pena perguntar de novo; null quando a nota não muda mais por si. Retry-After diz o mesmo em segundos. */
  readonly proxima_consulta: string | null;
  /** O que o ADN disse, ou por que a nota espera sem ser enviada; null quando não há o que dizer. */
  readonly mensagem_retorno: string | null;
  /** Quando a nota foi recebida. */
  readonly data_protocolo: string;
  /** Chave de acesso da NFS-e. */
  readonly chave_acesso: string;
};

export type MunicipioIncidencia = {
  /** Código IBGE, 7 dígitos. */
  readonly codigo: string;
  /** Nome do município. */
  readonly nome: string;
  /** Sigla do estado. */
  readonly uf: string;
};

export type Valores = {
  /** Preço do serviço, como declarado. */
  readonly valor_servico: string;
  /** O que a dedução ou redução tira da base. */
  readonly valor_deducao: string;
  /** O que o benefício municipal tira da base. */
  readonly valor_beneficio: string;
  /** Base de cálculo do ISSQN. */
  readonly valor_base_calculo: string | null;
  /** Alíquota aplicada, em percentual. */
  readonly aliquota_issqn: string | null;
  /** ISSQN. */
  readonly valor_issqn: string | null;
  /** ISSQN retido pelo tomador ou intermediário. */
  readonly valor_issqn_retido: string;
  /** Soma das retenções. */
  readonly valor_total_retido: string | null;
  /** O que o prestador recebe. */
  readonly valor_liquido: string;
};

export type ValoresIbsCbs = {
  /** Base de cálculo. */
  readonly valores_base_calculo: string;
  /** Alíquota do IBS estadual, em percentual. */
  readonly valores_aliquota_ibs_uf: string;
  /** Alíquota do IBS municipal, em percentual. */
  readonly valores_aliquota_ibs_municipal: string;
  /** Alíquota da CBS, em percentual. */
  readonly valores_aliquota_cbs: string;
  /** A do IBS estadual depois da redução da classificação. */
  readonly valores_aliquota_efetiva_ibs_uf: string;
  /** A do IBS municipal depois da redução. */
  readonly valores_aliquota_efetiva_ibs_municipal: string;
  /** A da CBS depois da redução. */
  readonly valores_aliquota_efetiva_cbs: string;
  /** IBS estadual. */
  readonly total_ibs_uf: string;
  /** IBS municipal. */
  readonly total_ibs_municipal: string;
  /** IBS, os dois somados. */
  readonly total_ibs: string;
  /** CBS. */
  readonly total_cbs: string;
  /** Total da nota. */
  readonly total_nota: string;
};

export type Passo = {
  /** Campo da nota, abaixo de infNFSe. */
  readonly campo: string;
  /** Para quem enviou JSON: o nome dele no corpo, ou nos valores desta resposta. */
  readonly campo_json?: string;
  /** Como se chegou a ele, em palavras, com os nomes da DPS ou, para quem enviou JSON, os do corpo. */
  readonly formula: string;
  /** O valor; null quando não consta da nota. */
  readonly valor: string | null;
};

export type Inscricao = {
  /** Número da inscrição; null quando não tem. */
  readonly inscricao_municipal: string | null;
  /** Se está autorizada a emitir. */
  readonly autorizada: boolean;
};

export type SimplesNacional = {
  /** Se é optante no dia consultado. */
  readonly optante: boolean;
  /** Início do período; null sem opção. */
  readonly desde: string | null;
  /** Último dia do período; null sem fim marcado. */
  readonly ate: string | null;
};

export type ObrigacaoIbsCbs = {
  /** Segmento de serviços. */
  readonly segmento: string;
  /** O que está no segmento. */
  readonly descricao: string;
  /** Competência a partir da qual o grupo IBSCBS é devido. */
  readonly devido_desde: string;
  /** Se já é devido no dia consultado. */
  readonly devido_na_data: boolean;
  /** O mesmo em uma frase. */
  readonly mensagem: string;
};

export type Pendencia = {
  /** Código com que a emissão seria recusada. */
  readonly codigo: Codigo;
  /** O que falta. */
  readonly mensagem: string;
  /** O que fazer. */
  readonly como_resolver: string;
};

export type CertificadoApresentado = {
  /** Nome do titular, sem o documento. */
  readonly titular: string;
  /** CNPJ ou CPF do titular, mascarado. */
  readonly documento: string | null;
  /** Início da validade. */
  readonly valido_desde: string;
  /** Fim da validade. */
  readonly valido_ate: string;
  /** Dias inteiros até o fim da validade. */
  readonly dias_restantes: number;
};

export type Evento = EventoDaNota & {
  /** OK em todo evento. */
  readonly status: 'OK';
};

export type ErrosAdn = Readonly<Record<string, unknown>>;

export type MensagemNacional = {
  /** Código da tabela pública. */
  readonly codigo: Codigo;
  /** O que está errado e como se corrige. */
  readonly descricao: string;
  /** Onde está, e o que veio; vazio quando nada há a dizer. */
  readonly complemento: string;
  /** O mesmo que codigo. */
  readonly Codigo: Codigo;
  /** O mesmo que descricao. */
  readonly Descricao: string;
  /** O mesmo que complemento. */
  readonly Complemento: string;
  /** Elemento da DPS de que o erro fala; vazio quando não é da DPS. */
  readonly xpath?: string;
  /** Propriedade do corpo JSON, ou parâmetro, de que o erro fala. */
  readonly campo?: string;
  /** De onde vem a regra. */
  readonly origem_moc?: string;
  /** Página do código. */
  readonly doc_url?: string;
  /** Exemplos na página do código, no primeiro erro que o traz. */
  readonly exemplo_ref?: string;
  /** Linha do documento enviado, a partir de 1. */
  readonly linha?: number;
  /** Coluna, em caracteres, a partir de 1. */
  readonly coluna?: number;
  /** O que veio. */
  readonly encontrado?: string;
  /** O que se esperava; uma lista longa vem só no primeiro erro que a tem. */
  readonly esperado?: string;
  /** Texto que se cola, como está, no lugar do que veio: em XML, do elemento inteiro que xpath nomeia e que começa em linha e coluna, ou do atributo, se xpath acaba em @nome (o que falta se acrescenta à marca); em JSON, da propriedade que campo nomeia, nome e valor, ou do item, se campo acaba em [n]. Vazio: retire o que está ali, em JSON com a vírgula que o separa. Sem correcao, a correção pede uma decisão. */
  readonly correcao?: string;
  /** E0014: chave da nota que já existe. */
  readonly chave_acesso?: string;
  /** E0014: protocolo da nota que já existe. */
  readonly numero_protocolo?: string;
  /** E0014: se a DPS é a mesma que a emitiu. */
  readonly mesmo_conteudo?: boolean;
};

export type EnvelopeNacional = {
  /** 1 produção, 2 homologação; falta quando o município não existe. */
  readonly tipoAmbiente?: 1 | 2;
  /** Versão deste serviço. */
  readonly versaoAplicativo: string;
  /** Quando foi respondido, no fuso do município. */
  readonly dataHoraProcessamento: string;
  /** Todos os erros, na ordem do leiaute. */
  readonly erros: readonly MensagemNacional[];
  /** O primeiro deles, como as consultas e os eventos da API nacional o trazem. */
  readonly erro: MensagemNacional;
  /** Código do primeiro erro. */
  readonly codigo: Codigo;
  /** O primeiro erro em uma frase. */
  readonly mensagem: string;
};

export type EventoNacional = {
  /** Chave de acesso da NFS-e; não muda mais. */
  readonly chaveAcesso: string;
  /** Código nacional do tipo. */
  readonly tipoEvento: number;
  /** Sequência entre os eventos do tipo na nota. */
  readonly numeroPedidoRegistroEvento: number;
  /** Quando foi registrado. */
  readonly dataHoraRecebimento: string;
  /** O evento, em gzip e Base64. */
  readonly arquivoXml: string;
};

export type ConvenioNacional = {
  /** 1: as notas vão ao ambiente nacional. */
  readonly aderenteAmbienteNacional: 1;
};

export type AliquotasNacionais = Readonly<Record<string, unknown>>;

export type BeneficioNacional = Readonly<Record<string, unknown>>;

export type NotaListada = NotaSemXml & {
  /** CNPJ ou CPF do intermediário; null quando não há. */
  readonly intermediario_cpf_cnpj: string | null;
  /** Código do serviço na lista nacional. */
  readonly codigo_tributacao_nacional: string | null;
  /** Quando foi cancelada; null enquanto não foi. */
  readonly data_cancelamento: string | null;
  /** Estado da nota, como em /docs/estados. */
  readonly estado: 'emitida' | 'retida' | 'transmitida' | 'autorizada' | 'recusada' | 'cancelada';
  /** Número de protocolo da nota. */
  readonly numero_protocolo: string;
  /** Identificador da DPS. */
  readonly id_dps: string;
  /** O que o ADN disse, ou por que a nota espera; null quando não há o que dizer. */
  readonly mensagem_retorno: string | null;
  /** O que o documento é nesta nota. */
  readonly papeis: readonly string[];
  /** Por que a nota tem base e não tem ISSQN, se é assim: foi emitida sem alíquota; valor_issqn e aliquota_issqn são aí 0.00, e vazios no CSV. Null nas demais. */
  readonly motivo_sem_issqn: string | null;
};

export type Contagem = {
  /** Quantos itens há, contados até 10000. */
  readonly total: number;
  /** false: pode haver mais do que os contados. */
  readonly total_exato: boolean;
};

export type Mudanca = {
  /** Identificador da mudança, o mesmo sempre que é contada: com o município na frente, também o webhook-id de um aviso. */
  readonly id: string;
  /** De que é, e a que estado chegou. */
  readonly tipo: TipoDeMudanca;
  /** Quando mudou. */
  readonly em: string;
  /** O lugar de quem já tem esta mudança, para desde; num aviso ao próprio município, o do prestador da nota. Null num aviso a ele de antes desta versão. */
  readonly cursor: string | null;
  /** O que o documento é na nota. */
  readonly papeis: readonly string[];
  /** Chave de acesso da NFS-e. */
  readonly chave_acesso: string;
  /** Número de protocolo da nota. */
  readonly numero_protocolo: string;
  /** Identificador da DPS. */
  readonly id_dps: string;
  /** Número sequencial da NFS-e. */
  readonly numero: string;
  /** O status da nota nesta mudança: o mesmo sempre que ela é contada. */
  readonly status: string;
  /** O evento que mudou; null quando quem mudou foi a nota. */
  readonly evento: EventoMudado | null;
  /** O que se disse da nota quando chegou a este estado; null quando não houve o que dizer. */
  readonly mensagem: string | null;
};

export type EventoMudado = {
  /** Identificador do evento neste serviço. */
  readonly id_evento: number;
  /** Nome do tipo. */
  readonly tipo_evento: string;
  /** Código nacional do tipo. */
  readonly codigo_tipo_evento: string;
  /** Sequência entre os do seu tipo na nota. */
  readonly numero_sequencial: number;
  /** O estado a que chegou. */
  readonly status_evento: string;
};

export type Token = {
  /** Identificador do token, pelo qual se revoga; não é segredo. */
  readonly id: string;
  /** CNPJ ou CPF em nome de quem o token pergunta. */
  readonly documento: string;
  /** Para que serve: consultar, webhooks. */
  readonly escopos: readonly string[];
  /** Quando foi dado. */
  readonly criado_em: string;
  /** Até quando vale. */
  readonly expira_em: string;
};

export type Exportacao = {
  /** Identificador da exportação. */
  readonly id: string;
  /** CNPJ ou CPF de quem são as notas. */
  readonly documento: string;
  /** xml e pdf: um ZIP; csv: uma tabela. */
  readonly formato: 'xml' | 'pdf' | 'csv';
  /** Os filtros pedidos. */
  readonly filtros: FiltrosDaExportacao;
  /** em_andamento, pronta, ou falhou: não há arquivo, e motivo diz por quê. */
  readonly estado: 'em_andamento' | 'pronta' | 'falhou';
  /** true quando o arquivo pode ser baixado. */
  readonly pronta: boolean;
  /** Notas no arquivo até agora. */
  readonly notas: number;
  /** Notas achadas que não estão nele, por não terem sido autorizadas; o leia-me.txt diz quais. */
  readonly sem_arquivo: number;
  /** Tamanho do arquivo; null enquanto não está pronto. */
  readonly bytes: number | null;
  /** Quando foi pedida. */
  readonly criada_em: string;
  /** Quando ficou pronta; null enquanto não está. */
  readonly pronta_em: string | null;
  /** Quando o arquivo é apagado. */
  readonly expira_em: string;
  /** Por que não há arquivo; null nos outros casos. */
  readonly motivo: string | null;
};

export type FiltrosDaExportacao = Readonly<FiltrosDeNotas>;

export type Webhook = {
  /** Identificador do endereço. */
  readonly id: string;
  /** CNPJ ou CPF de quem é; null: do próprio município. */
  readonly documento: string | null;
  /** Para onde se avisa. */
  readonly url: string;
  /** De que mudanças se avisa; vazio: de todas. */
  readonly tipos: readonly string[];
  /** Um nome seu para ele. */
  readonly descricao: string | null;
  /** false: não se avisa. Passa a false quando o endereço responde 410, ou não confirmou que quer avisos depois de perguntado as vezes publicadas. */
  readonly ativo: boolean;
  /** pendente: ainda não confirmou que quer avisos, e o que mudar espera por ele; ativo: é avisado; desligado: não se avisa. */
  readonly estado: 'pendente' | 'ativo' | 'desligado';
  /** Quando foi cadastrado. */
  readonly criado_em: string;
  /** Até quando o segredo anterior também assina. */
  readonly segredo_anterior_ate: string | null;
  /** Tentativas seguidas que falharam; 0 quando a última foi aceita. */
  readonly falhas: number;
  /** O que houve na última tentativa que falhou. */
  readonly ultimo_problema: string | null;
  /** Quando. */
  readonly ultimo_problema_em: string | null;
};

export type Entrega = {
  /** Identificador da entrega neste endereço. */
  readonly id: string;
  /** pendente, entregue, ou morta: não se tenta mais. */
  readonly estado: 'pendente' | 'entregue' | 'morta';
  /** Desde quando se tenta. */
  readonly criada_em: string;
  /** Quando foi aceita; null enquanto não foi. */
  readonly entregue_em: string | null;
  /** Quando se tenta de novo; null quando não se tenta mais. */
  readonly proxima_tentativa: string | null;
  /** Quantas foram. */
  readonly tentativas: number;
  /** As últimas tentativas. */
  readonly registro: readonly TentativaDeEntrega[];
};

export type TentativaDeEntrega = {
  /** Quando. */
  readonly em: string;
  /** Quanto durou, em milissegundos. */
  readonly ms: number;
  /** O status que o endereço respondeu; null sem resposta. */
  readonly status: number | null;
  /** Por que não houve resposta. */
  readonly problema: string | null;
};

export type Resumo = {
  /** Algoritmo do resumo. */
  readonly algoritmo: string;
  /** Como os dois estão escritos. */
  readonly codificacao: 'base64' | 'hexadecimal';
  /** O que a assinatura declara; null quando não se pôde ler. */
  readonly declarado: string | null;
  /** O da forma canônica; null quando não há o que resumir. */
  readonly calculado: string | null;
  /** Se são iguais. */
  readonly confere: boolean | null;
};

export type AtributoAssinado = {
  /** Identificador do atributo. */
  readonly oid: string;
  /** Nome do atributo. */
  readonly nome: string;
  /** O seu valor. */
  readonly valor: string;
};

export type Algoritmo = {
  /** O que o algoritmo faz na assinatura, ou a referência. */
  readonly onde: string;
  /** O que veio; null quando falta. */
  readonly encontrado: string | null;
  /** O que se aceita. */
  readonly exigido: string;
  /** Se o que veio se aceita. */
  readonly confere: boolean;
};

export type Valor = {
  /** null quando não se pôde saber. */
  readonly confere: boolean | null;
};

export type CertificadoDaAssinatura = {
  /** Nome do titular, sem o documento. */
  readonly titular: string;
  /** CNPJ ou CPF do titular, mascarado. */
  readonly documento: string | null;
  /** De quem é. */
  readonly tipo: 'CNPJ' | 'CPF' | null;
  /** Em que campo do certificado o documento está. */
  readonly onde: string | null;
  /** Autoridade que o emitiu. */
  readonly emissor: string;
  /** Número de série. */
  readonly serie: string;
  /** SHA-256 do certificado, em hexadecimal. */
  readonly sha256: string;
  /** Início da validade. */
  readonly inicio: string;
  /** Fim da validade. */
  readonly fim: string;
  /** Se está na validade. */
  readonly valido_agora: boolean;
  /** Usos da chave; null quando não os diz. */
  readonly uso_de_chave: readonly string[] | null;
  /** Políticas de certificação. */
  readonly politicas: readonly string[];
  /** Se vem de uma autoridade em que este município confia. */
  readonly confiavel: boolean;
  /** As autoridades até a raiz; null quando não há cadeia. */
  readonly cadeia: readonly string[] | null;
  /** Por que não é confiável. */
  readonly motivo: string | null;
  /** false só quando cada autoridade da cadeia tem uma lista completa e em vigor, e nenhuma o traz; null quando não se pôde saber. */
  readonly revogado: boolean | null;
  /** As autoridades da cadeia de que falta uma lista de revogados completa e em vigor; null quando não há cadeia. */
  readonly sem_lista_de_revogados: readonly string[] | null;
};

export type ParteDaAssinatura = {
  /** Documento do prestador no corpo enviado. */
  readonly documento: string | null;
  /** Se o certificado é dele. */
  readonly confere: boolean | null;
};

export type Ambiente = {
  /** O município do ambiente: o primeiro segmento dos seus endereços. */
  readonly municipio: string;
  /** O nome que se lhe deu. */
  readonly nome: string | null;
  /** Quando foi feito. */
  readonly criado_em: string;
  /** Quando some, com tudo o que há nele. */
  readonly expira_em: string;
  /** Quando foi reiniciado. */
  readonly reiniciado_em: string | null;
  /** A hora do ambiente. */
  readonly relogio: string;
  /** Quantos segundos o relógio do ambiente está adiante do do serviço. */
  readonly adiantado_s: number;
  /** Se uma regra nacional que a especificação não nomeia recusa ou avisa. */
  readonly regras_nacionais: 'recusa' | 'avisa' | null;
  /** Se o prestador tem de estar cadastrado e autorizado, como em produção (E101, E102, E103). */
  readonly exige_cadastro: boolean;
  /** Se uma DPS sem número é recusada. */
  readonly exige_numero: boolean;
  /** Se o pedido de um evento tem de nomear a nota. */
  readonly exige_nota_no_evento: boolean;
  /** Alíquota do ISSQN de um serviço sem lista. */
  readonly aliquota_padrao: string | null;
};

export type Requisicao = {
  /** O X-Request-Id da resposta. */
  readonly id: string;
  /** Quando chegou, pelo relógio do serviço. */
  readonly em: string;
  /** Método HTTP. */
  readonly metodo: string;
  /** Endereço, com os parâmetros. */
  readonly caminho: string;
  /** Status da resposta. */
  readonly status: number;
  /** Quanto durou, em milissegundos. */
  readonly ms: number;
};

export type RequisicaoInteira = Requisicao & {
  /** Content-Type do corpo. */
  readonly tipo: string | null;
  /** O corpo, como texto; null quando não veio, não é texto, ou não se guarda. */
  readonly corpo: string | null;
  /** Tamanho do que se guarda do corpo: 0 quando não veio, null quando não se guarda. */
  readonly corpo_bytes: number | null;
  /** A resposta, sem os segredos que mostrou; null quando não é texto, ou já não se guarda. */
  readonly resposta: string | null;
};

export type Persona = {
  /** Identificador da persona. */
  readonly id: string;
  /** Quem é, em uma linha. */
  readonly titulo: string;
  /** O que tem de particular, e o que olhar na resposta. */
  readonly historia: string;
  /** CNPJ ou CPF. */
  readonly documento: string;
  /** Nome. */
  readonly razao_social: string;
  /** Inscrição municipal. */
  readonly inscricao_municipal: string;
  /** O que emite. */
  readonly cenarios: readonly Cenario[];
};

export type Cenario = {
  /** Identificador do cenário. */
  readonly id: string;
  /** O cenário em uma linha. */
  readonly titulo: string;
  /** O que a nota mostra. */
  readonly explica: string;
  /** O tipo do evento que se registra depois; null quando não há. */
  readonly evento: string | null;
  /** Se outra nota a substitui antes do evento. */
  readonly substituta: boolean;
};

export type ContaDeCadastro = {
  /** De que. */
  readonly de: string;
  /** Linhas novas. */
  readonly novos: number;
  /** Linhas que mudaram o que havia. */
  readonly alterados: number;
  /** Linhas iguais ao que havia. */
  readonly iguais: number;
  /** Linhas que saíram, onde o arquivo é o cadastro inteiro. */
  readonly retirados: number;
};

export type Paginacao = {
  /** A página respondida. */
  readonly pagina_atual: number;
  /** Itens por página. */
  readonly por_pagina: number;
  /** Itens encontrados, em todas as páginas. */
  readonly total: number;
  /** Páginas que eles enchem. */
  readonly total_paginas: number;
};

export type ServicoMunicipal = {
  /** O valor de cServ/cTribMun. */
  readonly codigo: string;
  /** O serviço, como o município o descreve. */
  readonly descricao: string;
  /** false: o código não tem os 3 dígitos de cTribMun e não se envia na DPS. */
  readonly cabe_em_cTribMun: boolean;
  /** O cTribNac a que o serviço pertence. */
  readonly codigo_tributacao_nacional: string;
  /** A descrição dele na lista nacional. */
  readonly descricao_nacional: string | null;
  /** CNAE, 7 dígitos, ou null. */
  readonly cnae_codigo: string | null;
  /** Alíquota do ISSQN registrada, em percentual; null: vale a da DPS. */
  readonly aliquota: string | null;
  /** Primeiro dia em que a linha vale, AAAA-MM-DD. */
  readonly inicio_vigencia: string;
  /** Último dia; null enquanto não tem fim. */
  readonly fim_vigencia: string | null;
  /** Se vale hoje; false: começa depois. */
  readonly vigente: boolean;
  /** Onde o ISSQN é devido: regra (EP, LP, ET, NI), descricao, dispositivo_lc116, publicada. */
  readonly incidencia: Incidencia | null;
  /** Grupo que a DPS deste serviço tem de trazer: obra, atvEvento, ou null. */
  readonly grupo_obrigatorio: string | null;
};

export type ServicoNacional = {
  /** O valor de cTribNac, 6 dígitos. */
  readonly codigo: string;
  /** O mesmo com pontos: 01.01.01. */
  readonly codigo_formatado: string;
  /** O serviço. */
  readonly descricao: string;
  /** Item da LC 116, 2 dígitos. */
  readonly item: string;
  /** Título do item. */
  readonly descricao_item: string | null;
  /** Subitem da LC 116: 01.01. */
  readonly subitem: string;
  /** Título do subitem. */
  readonly descricao_subitem: string | null;
  /** vigente. As fontes nacionais não publicam datas de vigência destes códigos. */
  readonly situacao: string;
  /** Onde o ISSQN é devido: regra (EP, LP, ET, NI), descricao, dispositivo_lc116, publicada. */
  readonly incidencia: Incidencia;
  /** Grupo que a DPS deste serviço tem de trazer: obra, atvEvento, ou null. */
  readonly grupo_obrigatorio: string | null;
  /** NBS que o Anexo VIII põe ao lado do subitem: nbs, descricao e, em ibscbs, cada combinação de cIndOp, cClassTrib, operacao_onerosa e adquirente_no_exterior. Sugestão, nunca recusa. */
  readonly correlacoes: readonly CorrelacaoDoServico[];
};

export type Nbs = {
  /** O valor de cNBS, 9 dígitos. */
  readonly codigo: string;
  /** O mesmo na forma XX.XX.XX.XX-X. */
  readonly codigo_formatado: string | null;
  /** A grafia oficial: 1.1502.10.00. */
  readonly codigo_oficial: string;
  /** O serviço. */
  readonly descricao: string | null;
  /** Seção da NBS, de I a V. */
  readonly secao: string | null;
  /** Capítulo, 3 dígitos. */
  readonly capitulo: string;
  /** Título do capítulo. */
  readonly descricao_capitulo: string | null;
  /** Serviços que o Anexo VIII põe ao lado desta NBS: subitem, cTribNac (os códigos dele) e, em ibscbs, cada combinação de cIndOp e cClassTrib com o seu sentido. Sugestão, nunca recusa. */
  readonly correlacoes: readonly CorrelacaoDaNbs[];
};

export type MunicipioIbge = {
  /** Código IBGE, 7 dígitos. */
  readonly codigo_ibge: string;
  /** Nome. */
  readonly nome: string;
  /** Sigla do estado. */
  readonly uf: string;
  /** Fuso da base IANA, que é o das datas das suas notas. */
  readonly fuso_horario: string;
};

export type Pais = {
  /** O valor de cPais, ISO 3166-1 de duas letras. */
  readonly codigo: string;
  /** Nome. */
  readonly nome: string;
  /** Se serve num endereço no exterior; false para BR e ZZ. */
  readonly aceito_no_exterior: boolean;
  /** Código do Banco Central, que a DPS não usa; null onde as fontes divergem. */
  readonly codigo_bacen: string | null;
};

export type Moeda = {
  /** O valor de tpMoeda, 3 dígitos; não é o da ISO 4217. */
  readonly codigo: string;
  /** Sigla de três letras. */
  readonly sigla: string;
  /** Nome. */
  readonly nome: string;
  /** false para a que deixou de circular. */
  readonly ativa: boolean;
  /** O que se sabe da que saiu de uso ou está em dúvida, ou null. */
  readonly observacao: string | null;
};

export type MotivoEvento = {
  /** Nome do tipo, o valor de tipo_evento na requisição. */
  readonly tipo_evento: TipoEvento;
  /** Código nacional, 6 dígitos. */
  readonly codigo_tipo_evento: CodigoTipoEvento;
  /** Nome nacional do tipo. */
  readonly descricao: string;
  /** false: só a prefeitura o registra (E9016). */
  readonly aceito_neste_canal: boolean;
  /** Por que não é aceito neste canal, ou null. */
  readonly observacao: string | null;
  /** A parte da nota cujo documento vale quando a requisição não traz autor, ou null. */
  readonly autor_inferido: 'prestador' | 'tomador' | 'intermediario' | null;
  /** Campos sem os quais a requisição é recusada. */
  readonly campos_obrigatorios: readonly string[];
  /** Todos os campos do tipo: nome, elemento do leiaute, obrigatorio, obrigatorio_com e descricao. */
  readonly campos: readonly CampoDeEvento[];
  /** Por campo, as opções: codigo (o que se envia), valor (o inteiro gravado) e descricao. */
  readonly enums: OpcoesPorCampo;
  /** metodo, url_por_chave, url_por_protocolo, content_type e cabecalho_da_assinatura; null de um tipo que este canal não recebe. */
  readonly endpoint: EnderecoDeEvento | null;
  /** Uma requisição do tipo, com todos os campos. */
  readonly exemplo_payload: ExemploDeEvento;
  /** Onde se lê sobre eventos. */
  readonly doc_url: string;
};

export type Incidencia = {
  /** EP estabelecimento do prestador, LP local da prestação, ET estabelecimento do tomador, NI sem incidência. */
  readonly regra: 'EP' | 'LP' | 'ET' | 'NI';
  /** O mesmo em palavras. */
  readonly descricao: string;
  /** Dispositivo da LC 116. */
  readonly dispositivo_lc116: string | null;
  /** false: vale a regra geral, porque a tabela nacional não traz o código. */
  readonly publicada: boolean;
};

export type CorrelacaoDoServico = {
  /** Código NBS; null quando o anexo não aponta um. */
  readonly nbs: string | null;
  /** O que a NBS descreve, ou a nota do anexo. */
  readonly descricao: string | null;
  /** Combinações de cIndOp e cClassTrib. */
  readonly ibscbs: readonly CombinacaoIbsCbs[];
};

export type CorrelacaoDaNbs = {
  /** Subitem da LC 116: 01.01. */
  readonly subitem: string;
  /** Códigos do subitem que se emitem. */
  readonly cTribNac: readonly string[];
  /** Combinações de cIndOp e cClassTrib. */
  readonly ibscbs: readonly CombinacaoDaNbs[];
};

export type CombinacaoIbsCbs = {
  /** Indicador da operação; null quando o anexo não distingue. */
  readonly cIndOp: string | null;
  /** Classificação tributária; null quando o anexo não distingue. */
  readonly cClassTrib: string | null;
  /** Só para a prestação onerosa, ou só para a que não é; null: para as duas. */
  readonly operacao_onerosa: boolean | null;
  /** Só para o adquirente no exterior, ou só para o que não está; null: para os dois. */
  readonly adquirente_no_exterior: boolean | null;
};

export type CombinacaoDaNbs = CombinacaoIbsCbs & {
  /** Onde a operação se considera feita, por cIndOp. */
  readonly local_da_operacao: string | null;
  /** Nome da classificação tributária. */
  readonly classificacao: string | null;
};

export type CampoDeEvento = {
  /** Propriedade da requisição. */
  readonly nome: string;
  /** Elemento do leiaute do evento. */
  readonly elemento: string;
  /** Se a requisição o tem de trazer. */
  readonly obrigatorio: boolean;
  /** Valor de outro campo que o torna obrigatório, ou null. */
  readonly obrigatorio_com: ObrigatorioCom | null;
  /** O que é. */
  readonly descricao: string;
};

export type ObrigatorioCom = {
  /** O outro campo. */
  readonly campo: string;
  /** O valor dele. */
  readonly valor: string;
};

export type OpcoesPorCampo = Readonly<Record<string, unknown>>;

export type EnderecoDeEvento = {
  /** Método HTTP. */
  readonly metodo: 'POST';
  /** Endereço pela chave de acesso. */
  readonly url_por_chave: string;
  /** Endereço pelo número de protocolo. */
  readonly url_por_protocolo: string;
  /** Content-Type da requisição. */
  readonly content_type: 'application/json';
  /** Cabeçalho em que vai a assinatura. */
  readonly cabecalho_da_assinatura: string;
};

export type ExemploDeEvento = Readonly<Record<string, unknown>>;

/** Onde está cada operação: abaixo do segmento do município, ou fora dele. */
export const OPERACOES = {
  emitirNota: { metodo: 'POST', caminho: '/api/v1/nfse/v101', repetivel: true },
  validarDps: { metodo: 'POST', caminho: '/api/v1/nfse/v101/validacao' },
  consultarNota: { metodo: 'GET', caminho: '/api/v1/nfse/{chave_acesso}' },
  consultarNotaPorProtocolo: { metodo: 'GET', caminho: '/api/v1/nfse/protocolo/{numero_protocolo}' },
  consultarNotaPorProtocoloV101: { metodo: 'GET', caminho: '/api/v1/nfse/v101/protocolo/{numero_protocolo}' },
  baixarDanfse: { metodo: 'GET', caminho: '/api/v1/danfse/{chave_acesso}' },
  consultarNotaPorDps: { metodo: 'GET', caminho: '/api/v1/dps/{id}', certificado: true },
  existeNotaDaDps: { metodo: 'HEAD', caminho: '/api/v1/dps/{id}' },
  consultarSituacaoDoPrestador: { metodo: 'GET', caminho: '/api/v1/prestadores/{documento}/situacao', certificado: true },
  listarEventos: { metodo: 'GET', caminho: '/api/v1/nfse/{chave_acesso}/eventos' },
  registrarEvento: { metodo: 'POST', caminho: '/api/v1/nfse/{chave_acesso}/eventos', repetivel: true },
  registrarEventoPorProtocolo: { metodo: 'POST', caminho: '/api/v1/nfse/protocolo/{numero_protocolo}/eventos', repetivel: true },
  listarEventosDoTipo: { metodo: 'GET', caminho: '/api/v1/nfse/{chave_acesso}/eventos/{tipo_evento}' },
  consultarEvento: { metodo: 'GET', caminho: '/api/v1/nfse/{chave_acesso}/eventos/{tipo_evento}/{num_seq_evento}' },
  pedirToken: { metodo: 'POST', caminho: '/api/v1/token' },
  listarTokens: { metodo: 'POST', caminho: '/api/v1/token/lista' },
  revogarToken: { metodo: 'POST', caminho: '/api/v1/token/revogacao' },
  listarNotas: { metodo: 'GET', caminho: '/api/v1/notas', certificado: true },
  listarEventosDaParte: { metodo: 'GET', caminho: '/api/v1/eventos', certificado: true },
  seguirMudancas: { metodo: 'GET', caminho: '/api/v1/mudancas', certificado: true },
  listarExportacoes: { metodo: 'GET', caminho: '/api/v1/exportacoes', certificado: true },
  pedirExportacao: { metodo: 'POST', caminho: '/api/v1/exportacoes', certificado: true },
  consultarExportacao: { metodo: 'GET', caminho: '/api/v1/exportacoes/{id_exportacao}', certificado: true },
  baixarExportacao: { metodo: 'GET', caminho: '/api/v1/exportacoes/{id_exportacao}/arquivo', certificado: true },
  listarWebhooks: { metodo: 'GET', caminho: '/api/v1/webhooks', certificado: true },
  cadastrarWebhook: { metodo: 'POST', caminho: '/api/v1/webhooks', certificado: true },
  consultarWebhook: { metodo: 'GET', caminho: '/api/v1/webhooks/{id_webhook}', certificado: true },
  alterarWebhook: { metodo: 'PATCH', caminho: '/api/v1/webhooks/{id_webhook}', certificado: true },
  retirarWebhook: { metodo: 'DELETE', caminho: '/api/v1/webhooks/{id_webhook}', certificado: true },
  trocarSegredoDoWebhook: { metodo: 'POST', caminho: '/api/v1/webhooks/{id_webhook}/segredo', certificado: true },
  ensaiarWebhook: { metodo: 'POST', caminho: '/api/v1/webhooks/{id_webhook}/ensaio', certificado: true },
  listarEntregas: { metodo: 'GET', caminho: '/api/v1/webhooks/{id_webhook}/entregas', certificado: true },
  reenviarEntregas: { metodo: 'POST', caminho: '/api/v1/webhooks/{id_webhook}/reenvio', certificado: true },
  verificarAssinatura: { metodo: 'POST', caminho: '/api/v1/assinatura/verificacao' },
  criarAmbiente: { metodo: 'POST', caminho: '/api/v1/ambientes' },
  consultarAmbiente: { metodo: 'GET', caminho: '/api/v1/ambiente', certificado: true },
  alterarAmbiente: { metodo: 'PATCH', caminho: '/api/v1/ambiente', certificado: true },
  descartarAmbiente: { metodo: 'DELETE', caminho: '/api/v1/ambiente', certificado: true },
  reiniciarAmbiente: { metodo: 'POST', caminho: '/api/v1/ambiente/reinicio', certificado: true },
  importarCadastro: { metodo: 'POST', caminho: '/api/v1/ambiente/cadastros/{cadastro}', certificado: true },
  listarPersonas: { metodo: 'GET', caminho: '/api/v1/ambiente/personas', certificado: true },
  documentoDaPersona: { metodo: 'GET', caminho: '/api/v1/ambiente/personas/{persona}/{cenario}', certificado: true },
  listarRequisicoes: { metodo: 'GET', caminho: '/api/v1/ambiente/requisicoes', certificado: true },
  consultarRequisicao: { metodo: 'GET', caminho: '/api/v1/ambiente/requisicoes/{id_requisicao}', certificado: true },
  catalogo_codigos_tributacao_municipal: { metodo: 'GET', caminho: '/api/v1/catalogo/codigos_tributacao_municipal' },
  catalogo_codigos_tributacao_nacional: { metodo: 'GET', caminho: '/api/v1/catalogo/codigos_tributacao_nacional' },
  catalogo_nbs: { metodo: 'GET', caminho: '/api/v1/catalogo/nbs' },
  catalogo_municipios: { metodo: 'GET', caminho: '/api/v1/catalogo/municipios' },
  catalogo_paises: { metodo: 'GET', caminho: '/api/v1/catalogo/paises' },
  catalogo_moedas: { metodo: 'GET', caminho: '/api/v1/catalogo/moedas' },
  catalogo_motivos_evento: { metodo: 'GET', caminho: '/api/v1/catalogo/motivos_evento' },
  tabelaDeErros: { metodo: 'GET', caminho: '/docs/erros.json', foraDoMunicipio: true },
} as const;

export type Operacao = keyof typeof OPERACOES;

/** O corpo da resposta de sucesso de cada operação; undefined onde não é JSON. */
export type Respostas = {
  /** Emite a NFS-e de uma DPS do leiaute 1.01, em XML ou em JSON */
  readonly emitirNota: ComSucesso & {
    /** Segundo identificador da nota, estável. */
    readonly numero_protocolo: string;
    /** Chave de acesso da NFS-e; não muda mais. */
    readonly chave_acesso: string;
    /** true enquanto o ADN não autorizou a nota. O valor da chave é definitivo nos dois casos. */
    readonly chave_acesso_provisoria: boolean;
    /** A NFS-e como foi gerada, ainda não autorizada, com a DPS dentro. */
    readonly xml_nfse: string;
    /** O que não impediu a emissão e convém saber; quase sempre vazio. */
    readonly avisos: readonly Aviso[];
  };
  /** Confere uma DPS sem emitir */
  readonly validarDps: ComSucesso & {
    /** Identificador que a DPS teria, pelo qual se consulta. O de uma DPS sem número é o que ela tomaria agora: outra emissão pode tomá-lo antes. Null, raramente, quando os mil números seguintes da série estão em uso. */
    readonly identificador_dps: string | null;
    /** Onde o ISSQN é devido: código IBGE, nome e UF; null quando a operação não tem incidência. */
    readonly municipio_incidencia: MunicipioIncidencia | null;
    /** Os valores do ISSQN e das retenções, em texto decimal; null o que não consta da nota. */
    readonly valores: Valores;
    /** O cálculo oficial do IBS e da CBS, com os nomes em que o corpo JSON o declara; null sem o grupo ou sem alíquota publicada. */
    readonly ibscbs: ValoresIbsCbs | null;
    /** Cada passo do cálculo, na ordem: campo da nota, como se chegou a ele, e o valor. */
    readonly calculo: readonly Passo[];
    /** O que não impediria a emissão e convém saber. */
    readonly avisos: readonly Aviso[];
  };
  /** Consulta uma nota pela chave de acesso */
  readonly consultarNota: ComSucesso & {
    /** A nota. */
    readonly nota: NotaComCancelamento;
    /** O protocolo da nota. */
    readonly protocolo: Protocolo;
  };
  /** Consulta uma nota pelo número de protocolo */
  readonly consultarNotaPorProtocolo: NotaDoProtocolo;
  /** Consulta uma nota pelo número de protocolo */
  readonly consultarNotaPorProtocoloV101: NotaDoProtocolo;
  /** O DANFSe de uma nota autorizada, em PDF */
  readonly baixarDanfse: undefined;
  /** Consulta a nota de uma DPS pelo identificador da DPS */
  readonly consultarNotaPorDps: ComSucesso & {
    /** Identificador da DPS na forma canônica. */
    readonly id_dps: string;
    /** Chave de acesso da NFS-e; não muda mais. */
    readonly chave_acesso: string;
    /** Segundo identificador da nota, estável. */
    readonly numero_protocolo: string;
    /** A nota. */
    readonly nota: Nota;
  };
  /** Diz se há nota de uma DPS */
  readonly existeNotaDaDps: undefined;
  /** Diz se um prestador pode emitir, e o que falta */
  readonly consultarSituacaoDoPrestador: ComSucesso & {
    /** O CNPJ ou CPF consultado, sem máscara. */
    readonly documento: string;
    /** O dia de que a resposta fala, AAAA-MM-DD. */
    readonly data: string;
    /** Se nada falta no cadastro para emitir; pendencias diz o que falta. */
    readonly pode_emitir: boolean;
    /** O mesmo em uma frase. */
    readonly mensagem: string;
    /** Se o prestador está no cadastro deste município. */
    readonly cadastrado: boolean;
    /** Se alguma das suas inscrições está autorizada a emitir. */
    readonly autorizado: boolean;
    /** As suas inscrições municipais; de um CPF, no ambiente de integração, só as últimas posições. */
    readonly inscricoes: readonly Inscricao[];
    /** Se é optante no dia, segundo o cadastro, e o período em que o dia está. */
    readonly simples_nacional: SimplesNacional;
    /** Para cada segmento de serviços, desde que competência este prestador deve o grupo IBSCBS. */
    readonly ibscbs: readonly ObrigacaoIbsCbs[];
    /** O que impede a emissão: o código com que ela seria recusada, o que é, e como resolver. */
    readonly pendencias: readonly Pendencia[];
    /** O certificado apresentado e a sua validade; null no ambiente de integração. */
    readonly certificado: CertificadoApresentado | null;
  };
  /** Os eventos de uma nota, do mais novo ao mais antigo */
  readonly listarEventos: ComSucesso & {
    /** Quantos são. */
    readonly total: number;
    /** Os eventos. */
    readonly eventos: readonly Evento[];
  };
  /** Registra um evento na nota */
  readonly registrarEvento: RespostaDoRegistro;
  /** Registra um evento na nota, pelo número de protocolo dela */
  readonly registrarEventoPorProtocolo: RespostaDoRegistro;
  /** Os eventos de um tipo, pela sequência */
  readonly listarEventosDoTipo: ComSucesso & {
    /** Quantos são. */
    readonly total: number;
    /** O tipo pedido. */
    readonly tipo_evento: string;
    /** Os eventos. */
    readonly eventos: readonly Evento[];
  };
  /** Um evento, pelo tipo e pela sequência */
  readonly consultarEvento: ComSucesso & {
    /** O evento. */
    readonly evento: Evento;
  };
  /** Dá um token para um CNPJ ou CPF, que pergunta com ele sem certificado, em Authorization */
  readonly pedirToken: Token & ComSucesso & {
    /** O token, que só esta resposta mostra. */
    readonly token: string;
  };
  /** Os tokens em vigor de um documento, sem o segredo deles */
  readonly listarTokens: ComSucesso & {
    /** Do mais novo ao mais antigo. */
    readonly tokens: readonly Token[];
  };
  /** Revoga um token: desta resposta em diante ninguém entra com ele, em nenhum processo */
  readonly revogarToken: ComSucesso & {
    /** O id do token. */
    readonly id: string;
    /** Desde quando não vale. */
    readonly revogado_em: string;
  };
  /** As notas de um CNPJ ou CPF, como prestador, tomador ou intermediário, sem o XML */
  readonly listarNotas: ComSucesso & {
    /** As notas da página, sem o XML. */
    readonly notas: readonly NotaListada[];
    /** Para pedir a página seguinte; null quando não há. */
    readonly cursor: string | null;
    /** Quantos itens há, se contar=sim; senão null. */
    readonly contagem: Contagem | null;
    /** O que convém saber da busca; quase sempre vazio. */
    readonly observacoes: readonly string[];
  };
  /** Os eventos das notas de um CNPJ ou CPF */
  readonly listarEventosDaParte: ComSucesso & {
    /** Os eventos da página. */
    readonly eventos: readonly Evento[];
    /** Para pedir a página seguinte; null quando não há. */
    readonly cursor: string | null;
    /** Quantos itens há, se contar=sim; senão null. */
    readonly contagem: Contagem | null;
  };
  /** O que mudou nas notas e nos eventos de um CNPJ ou CPF, na ordem em que se conta a todos */
  readonly seguirMudancas: ComSucesso & {
    /** As mudanças, na ordem em que se contam a todos. */
    readonly mudancas: readonly Mudanca[];
    /** O lugar depois delas: guarde-o, e peça desde ele na próxima vez. */
    readonly cursor: string;
    /** true quando já há mais a contar. */
    readonly mais: boolean;
  };
  /** As exportações de um CNPJ ou CPF */
  readonly listarExportacoes: ComSucesso & {
    /** Da mais nova à mais antiga. */
    readonly exportacoes: readonly Exportacao[];
  };
  /** Pede as notas de um CNPJ ou CPF num arquivo */
  readonly pedirExportacao: ComExportacao;
  /** Uma exportação: em que estado está, quantas notas já tem, e até quando se guarda o arquivo */
  readonly consultarExportacao: ComExportacao;
  /** O arquivo de uma exportação pronta */
  readonly baixarExportacao: undefined;
  /** Os endereços de um CNPJ ou CPF */
  readonly listarWebhooks: ComSucesso & {
    /** Do mais antigo ao mais novo. */
    readonly webhooks: readonly Webhook[];
  };
  /** Cadastra um endereço a que se avisa o que muda nas notas e nos eventos de um CNPJ ou CPF */
  readonly cadastrarWebhook: ComWebhook & {
    /** O segredo com que se confere a assinatura (whsec_…, Standard Webhooks); só esta resposta o mostra. */
    readonly segredo: string;
  };
  /** Um endereço, com quantos avisos esperam por ele e quantos se deixou de tentar */
  readonly consultarWebhook: ComWebhook & {
    /** Avisos que ainda se tentam, contados até 10000. */
    readonly pendentes: number;
    /** Avisos que já não se tentam, contados até 10000. */
    readonly mortas: number;
  };
  /** Muda um endereço: só os campos enviados */
  readonly alterarWebhook: ComWebhook;
  /** Retira um endereço e o que esperava por ele */
  readonly retirarWebhook: ComSucesso & {
    /** O endereço retirado. */
    readonly id: string;
  };
  /** Troca o segredo de um endereço */
  readonly trocarSegredoDoWebhook: ComWebhook & {
    /** O segredo com que se confere a assinatura (whsec_…, Standard Webhooks); só esta resposta o mostra. */
    readonly segredo: string;
  };
  /** Envia um aviso de ensaio, do tipo ensaio, assinado como os outros; a um endereço pendente */
  readonly ensaiarWebhook: ComWebhook;
  /** O que se avisou e se tenta avisar a um endereço, do mais novo ao mais antigo */
  readonly listarEntregas: ComSucesso & {
    /** As entregas da página. */
    readonly entregas: readonly Entrega[];
    /** Para pedir a página seguinte; null quando não há. */
    readonly cursor: string | null;
  };
  /** Volta a tentar o que se deixou de tentar */
  readonly reenviarEntregas: ComSucesso & {
    /** Quantas voltam a ser tentadas. */
    readonly reenviadas: number;
  };
  /** Confere a assinatura de uma DPS em XML, ou de um corpo JSON com X-DPS-Assinatura */
  readonly verificarAssinatura: ComSucesso & {
    /** Se a produção aceitaria esta assinatura, com as âncoras deste município. */
    readonly valida: boolean;
    /** O mesmo em uma frase, com os códigos. */
    readonly veredito: string;
    /** Os passos que resolvem, em ordem; vazio quando não há o que mudar. */
    readonly o_que_mudar: readonly string[];
    /** O que a produção responderia em erros. */
    readonly erros: readonly Erro[];
    /** XML: dentro do documento. CMS: em cabeçalho, sobre um corpo JSON. */
    readonly assinatura: 'XML' | 'CMS';
    /** O texto que foi resumido, em UTF-8: a forma canônica exclusiva de infDPS, ou o corpo JSON como chegou. */
    readonly forma_canonica: string | null;
    /** Quantos bytes ela tem. */
    readonly forma_canonica_bytes: number | null;
    /** O SHA-256 dela em hexadecimal, como sha256sum o mostra. */
    readonly forma_canonica_sha256: string | null;
    /** O resumo declarado pela assinatura e o calculado; null o que não se pôde ler ou calcular. */
    readonly resumo: Resumo | null;
    /** O texto que a chave assina, na assinatura XML. */
    readonly signed_info_canonico: string | null;
    /** Os atributos que a chave assina, no CMS que os tem. */
    readonly atributos_assinados: readonly AtributoAssinado[] | null;
    /** Cada algoritmo e a referência: o encontrado e o exigido. */
    readonly algoritmos: readonly Algoritmo[];
    /** Se o valor da assinatura foi feito pela chave do certificado. */
    readonly valor: Valor;
    /** O que se leu no certificado; documentos mascarados. */
    readonly certificado: CertificadoDaAssinatura | null;
    /** De quem o certificado tem de ser, e se é. */
    readonly prestador: ParteDaAssinatura;
  };
  /** Faz um ambiente só seu, ensaio-xxxxxx, com prestadores, cadastros e relógio próprios, por 30 dias */
  readonly criarAmbiente: ComAmbiente & {
    /** A chave do dono, para Authorization: Bearer. */
    readonly chave: string;
  };
  /** Um ambiente próprio: até quando existe, que horas são nele e com que rigor confere */
  readonly consultarAmbiente: ComAmbiente;
  /** Muda o relógio e o rigor de um ambiente próprio */
  readonly alterarAmbiente: ComAmbiente;
  /** Joga fora um ambiente próprio, com tudo o que há nele */
  readonly descartarAmbiente: ComSucesso & {
    /** O que se jogou fora. */
    readonly municipio: string;
  };
  /** Tira de um ambiente próprio tudo o que se emitiu, cadastrou e guardou, e o deixa como novo */
  readonly reiniciarAmbiente: ComAmbiente;
  /** Importa um arquivo CSV num cadastro de um ambiente próprio */
  readonly importarCadastro: ComSucesso & {
    /** O cadastro. */
    readonly registro: string;
    /** Linhas do arquivo, sem o cabeçalho. */
    readonly linhas: number;
    /** O que se gravou. */
    readonly contas: readonly ContaDeCadastro[];
  };
  /** Os prestadores prontos de um ambiente próprio (MEI, Simples, regime geral, imune, pessoa física */
  readonly listarPersonas: ComSucesso & {
    /** As personas. */
    readonly personas: readonly Persona[];
  };
  /** Um documento de um cenário, pronto para enviar, com as datas do relógio do ambiente */
  readonly documentoDaPersona: undefined;
  /** As últimas 200 requisições a um ambiente próprio, da mais nova à mais antiga */
  readonly listarRequisicoes: ComSucesso & {
    /** Sem os corpos. */
    readonly requisicoes: readonly Requisicao[];
  };
  /** Uma das últimas requisições, com o corpo e a resposta */
  readonly consultarRequisicao: ComSucesso & {
    /** A requisição e a resposta. */
    readonly requisicao: RequisicaoInteira;
  };
  /** A lista de serviços do município, hoje e daqui em diante */
  readonly catalogo_codigos_tributacao_municipal: ComSucesso & {
    /** Os itens da página. */
    readonly itens: readonly ServicoMunicipal[];
    /** pagina_atual, por_pagina, total de itens encontrados e total_paginas. */
    readonly paginacao: Paginacao;
    /** De um município sem lista própria, o que vale em lugar dela; de um filtro de valor que nenhum item pode ter, a forma que ele espera; senão null. */
    readonly observacao: string | null;
  };
  /** A lista nacional de serviços */
  readonly catalogo_codigos_tributacao_nacional: ComPaginacao & {
    /** Os itens da página. */
    readonly itens: readonly ServicoNacional[];
  };
  /** A NBS 2.0: os valores de cNBS, com os serviços, cIndOp e cClassTrib que lhes correspondem */
  readonly catalogo_nbs: ComPaginacao & {
    /** Os itens da página. */
    readonly itens: readonly Nbs[];
  };
  /** Os municípios e o Distrito Federal, pelo código IBGE */
  readonly catalogo_municipios: ComPaginacao & {
    /** Os itens da página. */
    readonly itens: readonly MunicipioIbge[];
  };
  /** Os países, pelo código ISO 3166-1 de duas letras */
  readonly catalogo_paises: ComPaginacao & {
    /** Os itens da página. */
    readonly itens: readonly Pais[];
  };
  /** As moedas da tabela do Banco Central */
  readonly catalogo_moedas: ComPaginacao & {
    /** Os itens da página. */
    readonly itens: readonly Moeda[];
  };
  /** Os tipos de evento */
  readonly catalogo_motivos_evento: ComSucesso & {
    /** Um por tipo de evento. */
    readonly itens: readonly MotivoEvento[];
  };
  /** A tabela de códigos, com significado, solução e exemplos */
  readonly tabelaDeErros: readonly CodigoDaTabela[];
};

/** O que se pode perguntar a cada operação no endereço. */
export type Consultas = {
  readonly consultarNota: Espera;
  readonly consultarNotaPorProtocolo: Espera;
  readonly consultarNotaPorProtocoloV101: Espera;
  readonly consultarNotaPorDps: Espera;
  readonly consultarSituacaoDoPrestador: {
    /** Dia de que se quer saber, AAAA-MM-DD; sem ele, hoje no município. */
    data?: string;
  };
  readonly listarNotas: FiltrosDeNotas & PorCursor & {
    /** sim: contagem traz o total, contado até 10000; nao, como sem ele: não conta. */
    contar?: string;
  };
  readonly listarEventosDaParte: PorCursor & {
    /** O que o documento é na nota: prestador, tomador, intermediario; sem ele, qualquer um. */
    papel?: string;
    /** Só este tipo: o nome, como cancelamento, ou o código nacional. */
    tipo_evento?: string;
    /** Estado do evento, como status_evento. */
    estado?: string;
    /** Primeiro dia do registro, AAAA-MM-DD. */
    de?: string;
    /** Último dia do registro, AAAA-MM-DD. */
    ate?: string;
    /** novas, da mais nova para a mais antiga, como sem ele; ou antigas. */
    ordem?: string;
    /** sim: contagem traz o total, contado até 10000; nao, como sem ele: não conta. */
    contar?: string;
  };
  readonly seguirMudancas: Parte & {
    /** O cursor guardado da última resposta; agora: só o que vier depois; sem ele, tudo o que ainda se conta. */
    desde?: string;
    /** Segundos, até 55, que a resposta espera pela primeira mudança quando ainda não há nenhuma; sem ele, nenhum. */
    espera?: number;
    /** Mudanças por resposta, de 1 a 10000; sem ele, 100. */
    limite?: number;
  };
  readonly listarExportacoes: Parte;
  readonly pedirExportacao: Parte;
  readonly consultarExportacao: Parte;
  readonly baixarExportacao: Parte;
  readonly listarWebhooks: Parte;
  readonly cadastrarWebhook: Parte;
  readonly consultarWebhook: Parte;
  readonly alterarWebhook: Parte;
  readonly retirarWebhook: Parte;
  readonly trocarSegredoDoWebhook: Parte;
  readonly ensaiarWebhook: Parte & {
    /** Só num ambiente próprio: o tipo de mudança que o aviso imita, numa nota inventada. O aviso traz ensaio true. Um de: nota.emitida, nota.retida, nota.transmitida, nota.autorizada, nota.recusada, nota.cancelada, evento.pendente, evento.enviado, evento.aguardando_autorizacao_nota, evento.processado, evento.rejeitado, evento.erro, evento.erro_reprocessamento, evento.cancelado, evento.dispensado. */
    tipo?: string;
  };
  readonly listarEntregas: PorCursor & {
    /** Só neste estado: pendente, entregue, morta. */
    estado?: string;
  };
  readonly reenviarEntregas: Parte & {
    /** O id de uma entrega; sem ele, todas as mortas. */
    entrega?: string;
  };
  readonly documentoDaPersona: {
    /** xml, como sem ele; json, a mesma DPS no corpo JSON; ou evento, o pedido do evento do cenário, em JSON. */
    forma?: string;
    /** Com forma=evento: a chave da nota em que ele se registra. */
    nota?: string;
    /** Com forma=evento, no cenário que tem substituta: a chave da nota que substitui. */
    substituta?: string;
    /** Com xml e json, no cenário que tem substituta: a chave da nota que se substitui; vem a DPS da que a substitui. */
    substitui?: string;
  };
  readonly catalogo_codigos_tributacao_municipal: Pagina & {
    /** Palavras da descrição, sem distinguir maiúsculas nem acentos; todas as palavras, em qualquer ordem. Também palavras correntes que a lista nacional não usa (software, faxina, contador). */
    descricao?: string;
    /** Código CNAE inteiro, com ou sem pontuação. */
    cnae_codigo?: string;
  };
  readonly catalogo_codigos_tributacao_nacional: Pagina & {
    /** O código ou o seu começo, com ou sem pontuação: 010101, 01.01.01, 0101, 1.01. */
    codigo?: string;
    /** Palavras da descrição, sem distinguir maiúsculas nem acentos; todas as palavras, em qualquer ordem. Também palavras correntes que a lista nacional não usa (software, faxina, contador). */
    descricao?: string;
    /** Item ou subitem da LC 116: 1, 01, 1.05. */
    item?: string;
  };
  readonly catalogo_nbs: Pagina & {
    /** O código ou o seu começo, com ou sem pontuação: 115021000, 11.50.21.00-0, 1.1502.10.00, 115. */
    codigo?: string;
    /** Palavras da descrição, sem distinguir maiúsculas nem acentos; todas as palavras, em qualquer ordem. */
    descricao?: string;
    /** Seção da NBS, de I a V. */
    secao?: string;
  };
  readonly catalogo_municipios: Pagina & {
    /** O código IBGE inteiro, 7 dígitos. */
    codigo_ibge?: string;
    /** Sigla do estado, em maiúsculas ou minúsculas. */
    uf?: string;
    /** Palavras do nome, sem distinguir maiúsculas nem acentos; todas as palavras, em qualquer ordem. */
    nome?: string;
  };
  readonly catalogo_paises: Pagina & {
    /** O código ISO 3166-1, duas letras. */
    codigo?: string;
    /** Palavras do nome, sem distinguir maiúsculas nem acentos; todas as palavras, em qualquer ordem. */
    nome?: string;
  };
  readonly catalogo_moedas: Pagina & {
    /** O código inteiro, 3 dígitos: 220. */
    codigo?: string;
    /** A sigla inteira: USD. */
    sigla?: string;
  };
  readonly catalogo_motivos_evento: {
    /** Só este tipo: o nome, como cancelamento, ou o código nacional. */
    tipo_evento?: string;
  };
};

/** O que se envia no corpo de cada operação que não tem um tipo com nome. */
export type Envios = {
  readonly pedirToken: PedidoAssinado & {
    /** Para que serve; sem ele, consultar. consultar: Listar e consultar notas, eventos e mudanças do documento. webhooks: Cadastrar, mudar e retirar endereços de aviso do documento. */
    escopos?: string[];
    /** Por quantos dias vale, de 1 a 90; sem ele, 30. */
    validade_dias?: number;
  };
  readonly listarTokens: PedidoAssinado;
  readonly revogarToken: PedidoAssinado & {
    /** O id do token. */
    id: string;
  };
  readonly pedirExportacao: FiltrosDeNotas & {
    /** O que o arquivo traz de cada nota. */
    formato: 'xml' | 'pdf' | 'csv';
  };
  readonly cadastrarWebhook: DadosDoWebhook & {
    /** Endereço https para onde se avisa, com POST. */
    url: string;
  };
  readonly alterarWebhook: DadosDoWebhook & {
    /** Endereço https para onde se avisa, com POST. */
    url?: string;
    /** false: não se avisa; o que mudar enquanto isso não se conta a este endereço. */
    ativo?: boolean;
  };
  readonly criarAmbiente: Rigor & {
    /** Um nome seu para ele. */
    nome?: string;
  };
  readonly alterarAmbiente: Rigor & {
    /** Quanto avançar: um número e m, h ou d, como 90m, 6h, 35d. */
    avancar?: string;
  };
  readonly reiniciarAmbiente: {
    /** A hora que o ambiente passa a ter; dali em diante ela corre. */
    relogio?: string;
  };
};
