/**
 * Feito por scripts/cliente-tipos.ts a partir da descrição OpenAPI do serviço (docs/openapi.json); não se edita.
 *
 * O que se envia tem tipos que se preenchem; o que se recebe, só se lê. Valores são textos com duas casas ("1000.00").
 */
/** Onde está cada operação: abaixo do segmento do município, ou fora dele. */
export const OPERACOES = {
    emitirNota: { metodo: 'POST', caminho: '/api/v1/nfse/v101', repetivel: true },
    validarDps: { metodo: 'POST', caminho: '/api/v1/nfse/v101/validacao' },
    verificarAssinatura: { metodo: 'POST', caminho: '/api/v1/assinatura/verificacao' },
    consultarNota: { metodo: 'GET', caminho: '/api/v1/nfse/{chave_acesso}' },
    consultarNotaPorProtocolo: { metodo: 'GET', caminho: '/api/v1/nfse/protocolo/{numero_protocolo}' },
    consultarNotaPorProtocoloV101: { metodo: 'GET', caminho: '/api/v1/nfse/v101/protocolo/{numero_protocolo}' },
    listarEventos: { metodo: 'GET', caminho: '/api/v1/nfse/{chave_acesso}/eventos' },
    registrarEvento: { metodo: 'POST', caminho: '/api/v1/nfse/{chave_acesso}/eventos', repetivel: true },
    registrarEventoPorProtocolo: {
        metodo: 'POST',
        caminho: '/api/v1/nfse/protocolo/{numero_protocolo}/eventos',
        repetivel: true,
    },
    listarEventosDoTipo: { metodo: 'GET', caminho: '/api/v1/nfse/{chave_acesso}/eventos/{tipo_evento}' },
    consultarEvento: { metodo: 'GET', caminho: '/api/v1/nfse/{chave_acesso}/eventos/{tipo_evento}/{num_seq_evento}' },
    baixarDanfse: { metodo: 'GET', caminho: '/api/v1/danfse/{chave_acesso}' },
    consultarNotaPorDps: { metodo: 'GET', caminho: '/api/v1/dps/{id}', certificado: true },
    existeNotaDaDps: { metodo: 'HEAD', caminho: '/api/v1/dps/{id}' },
    consultarSituacaoDoPrestador: {
        metodo: 'GET',
        caminho: '/api/v1/prestadores/{documento}/situacao',
        certificado: true,
    },
    pedirToken: { metodo: 'POST', caminho: '/api/v1/token' },
    listarTokens: { metodo: 'POST', caminho: '/api/v1/token/lista' },
    revogarToken: { metodo: 'POST', caminho: '/api/v1/token/revogacao' },
    listarNotas: { metodo: 'GET', caminho: '/api/v1/notas', certificado: true },
    listarEventosDaParte: { metodo: 'GET', caminho: '/api/v1/eventos', certificado: true },
    seguirMudancas: { metodo: 'GET', caminho: '/api/v1/mudancas', certificado: true },
    listarWebhooks: { metodo: 'GET', caminho: '/api/v1/webhooks', certificado: true },
    cadastrarWebhook: { metodo: 'POST', caminho: '/api/v1/webhooks', certificado: true },
    consultarWebhook: { metodo: 'GET', caminho: '/api/v1/webhooks/{id_webhook}', certificado: true },
    alterarWebhook: { metodo: 'PATCH', caminho: '/api/v1/webhooks/{id_webhook}', certificado: true },
    retirarWebhook: { metodo: 'DELETE', caminho: '/api/v1/webhooks/{id_webhook}', certificado: true },
    trocarSegredoDoWebhook: { metodo: 'POST', caminho: '/api/v1/webhooks/{id_webhook}/segredo', certificado: true },
    ensaiarWebhook: { metodo: 'POST', caminho: '/api/v1/webhooks/{id_webhook}/ensaio', certificado: true },
    listarEntregas: { metodo: 'GET', caminho: '/api/v1/webhooks/{id_webhook}/entregas', certificado: true },
    reenviarEntregas: { metodo: 'POST', caminho: '/api/v1/webhooks/{id_webhook}/reenvio', certificado: true },
    catalogo_codigos_tributacao_municipal: { metodo: 'GET', caminho: '/api/v1/catalogo/codigos_tributacao_municipal' },
    catalogo_codigos_tributacao_nacional: { metodo: 'GET', caminho: '/api/v1/catalogo/codigos_tributacao_nacional' },
    catalogo_nbs: { metodo: 'GET', caminho: '/api/v1/catalogo/nbs' },
    catalogo_municipios: { metodo: 'GET', caminho: '/api/v1/catalogo/municipios' },
    catalogo_paises: { metodo: 'GET', caminho: '/api/v1/catalogo/paises' },
    catalogo_moedas: { metodo: 'GET', caminho: '/api/v1/catalogo/moedas' },
    catalogo_motivos_evento: { metodo: 'GET', caminho: '/api/v1/catalogo/motivos_evento' },
    tabelaDeErros: { metodo: 'GET', caminho: '/docs/erros.json', foraDoMunicipio: true },
};
