/** The names in the types of the client that the public description does not have. */

/** Names of lists of values that the name of the field alone does not tell. */
export const UNION_NAMES: Readonly<Record<string, string>> = { CST: 'CstPisCofins', tipo: 'TipoDeMudanca' };

/** The groups of fields without a schema: a group has the fields that two places write alike. */
export const GROUPS: readonly {
  readonly name: string;
  readonly about: string;
  readonly of: readonly [string, string];
}[] = [
  { name: 'Logradouro', about: 'O fim de todo endereço.', of: ['Endereco', 'EnderecoDoLocal'] },
  {
    name: 'Identificacao',
    about: 'Quem é a parte.',
    of: ['IbscbsReembolsosFornecedor', 'DeducaoReducaoDocumentosFornecedor'],
  },
  {
    name: 'AutorENota',
    about: 'O que todo registro de evento pode trazer.',
    of: ['EventoConfirmacaoPrestador', 'EventoConfirmacaoTomador'],
  },
  {
    name: 'Rejeicao',
    about: 'O que traz a rejeição de qualquer das partes.',
    of: ['EventoRejeicaoPrestador', 'EventoRejeicaoTomador'],
  },
  { name: 'NotaSemXml', about: 'O que se diz de uma nota em toda resposta.', of: ['Nota', 'NotaListada'] },
  {
    name: 'EventoDaNota',
    about: 'O que se diz de um evento em toda resposta.',
    of: ['Evento', 'Respostas.registrarEvento'],
  },
  {
    name: 'RespostaDoRegistro',
    about: 'A resposta ao registro de um evento.',
    of: ['Respostas.registrarEvento', 'Respostas.registrarEventoPorProtocolo'],
  },
  {
    name: 'NotaDoProtocolo',
    about: 'A resposta à consulta pelo protocolo.',
    of: ['Respostas.consultarNotaPorProtocolo', 'Respostas.consultarNotaPorProtocoloV101'],
  },
  {
    name: 'ComSucesso',
    about: 'O que traz toda resposta de sucesso.',
    of: ['Respostas.revogarToken', 'Respostas.importarCadastro'],
  },
  {
    name: 'ComWebhook',
    about: 'A resposta com um endereço.',
    of: ['Respostas.alterarWebhook', 'Respostas.ensaiarWebhook'],
  },
  {
    name: 'ComAmbiente',
    about: 'A resposta com um ambiente.',
    of: ['Respostas.consultarAmbiente', 'Respostas.alterarAmbiente'],
  },
  {
    name: 'ComExportacao',
    about: 'A resposta com uma exportação.',
    of: ['Respostas.pedirExportacao', 'Respostas.consultarExportacao'],
  },
  {
    name: 'ComPaginacao',
    about: 'O que traz cada página de um catálogo nacional.',
    of: ['Respostas.catalogo_paises', 'Respostas.catalogo_moedas'],
  },
  {
    name: 'Pagina',
    about: 'A página que se pede de um catálogo.',
    of: ['Consultas.catalogo_municipios', 'Consultas.catalogo_moedas'],
  },
  {
    name: 'Espera',
    about: 'Quanto a resposta pode esperar.',
    of: ['Consultas.consultarNota', 'Consultas.consultarNotaPorDps'],
  },
  { name: 'Parte', about: 'Quem pergunta.', of: ['Consultas.listarWebhooks', 'Consultas.baixarExportacao'] },
  {
    name: 'PorCursor',
    about: 'Quem pergunta, e que parte da lista.',
    of: ['Consultas.listarNotas', 'Consultas.listarEntregas'],
  },
  { name: 'FiltrosDeNotas', about: 'De que notas se fala.', of: ['Consultas.listarNotas', 'Envios.pedirExportacao'] },
  {
    name: 'PedidoAssinado',
    about: 'O que traz todo pedido de tokens.',
    of: ['Envios.pedirToken', 'Envios.revogarToken'],
  },
  {
    name: 'DadosDoWebhook',
    about: 'O que se pode dizer de um endereço.',
    of: ['Envios.cadastrarWebhook', 'Envios.alterarWebhook'],
  },
  {
    name: 'Rigor',
    about: 'A hora de um ambiente e o seu rigor.',
    of: ['Envios.criarAmbiente', 'Envios.alterarAmbiente'],
  },
];
