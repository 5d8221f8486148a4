/** The client: each operation of the service as a function with its types. `acompanhar.ts` waits until a note or an event changes no more by itself. */
import { acompanhar } from './acompanhar.js';
import { doAmbienteBy } from './ambiente.js';
import { corpoDe } from './corpo.js';
import { AindaEmAndamento, NaoEntregue, Recusado } from './erros.js';
import { conferirTempos } from './espera.js';
import { ESPERA_S, perguntar } from './longas.js';
import { daParteBy } from './parte.js';
import { createPedidos, } from './pedidos.js';
/** Um cliente de um município. Rejeita logo um endereço ou um certificado que não serve. */
export function createCliente(opcoes) {
    const pedidos = createPedidos(opcoes);
    return {
        ...notasBy(pedidos),
        ...eventosBy(pedidos),
        ...tabelasBy(pedidos),
        ...daParteBy(pedidos),
        ...doAmbienteBy(pedidos),
    };
}
function notasBy(pedidos) {
    const { base, assinante, pedir, ler } = pedidos;
    return {
        emitirNota: async (dps, envio = {}) => {
            const corpo = corpoDe(dps, envio.assinatura, assinante);
            try {
                const asked = { corpo, envio, exige: 'chave_acesso', signal: envio.signal };
                const { json, cabecalhos } = await pedir('emitirNota', asked);
                const { chave_acesso, numero_protocolo, xml_nfse, avisos = [] } = json;
                return { chave_acesso, numero_protocolo, xml_nfse, avisos, repetida: isRepeated(cabecalhos) };
            }
            catch (error) {
                const already = findIssued(error);
                if (already === undefined)
                    throw error;
                return already;
            }
        },
        validarDps: async (dps, { assinatura, ...own } = {}) => ler('validarDps', { corpo: corpoDe(dps, assinatura, assinante), ...own }),
        verificarAssinatura: async (dps, { assinatura, ...own } = {}) => ler('verificarAssinatura', { corpo: corpoDe(dps, assinatura, assinante), ...own }),
        consultarNota: (chave_acesso, own) => ler('consultarNota', { params: { chave_acesso }, ...own }),
        consultarNotaPorProtocolo: (numero_protocolo, own) => ler('consultarNotaPorProtocolo', { params: { numero_protocolo }, ...own }),
        consultarNotaPorDps: (id, own) => ler('consultarNotaPorDps', { params: { id }, ...own }),
        existeNotaDaDps: async (id, own) => {
            const { status, cabecalhos } = await pedir('existeNotaDaDps', { params: { id }, aceita: [404], ...own });
            if (status === 404 && !cabecalhos.has('x-nfse-ambiente')) {
                const mensagem = `${base} não é de nenhum município atendido. Confira url e municipio.`;
                throw new NaoEntregue(mensagem, { operacao: 'existeNotaDaDps', tentativas: 1, status });
            }
            return status === 200;
        },
        acompanharNota: async (chave_acesso, own = {}) => {
            const atRest = await acompanhar({
                ler: async (signal) => {
                    const asked = { params: { chave_acesso }, more: ONCE, signal };
                    const { json, cabecalhos } = await pedir('consultarNota', asked);
                    return { leitura: json, cabecalhos };
                },
                situacao: situacaoDaNota,
                repousa: (leitura) => situacaoDaNota(leitura) !== 'rascunho',
            }, own);
            return { ...atRest, situacao: situacaoDaNota(atRest) };
        },
        esperarDecisao: (chave_acesso, own = {}) => esperarDecisao(pedidos, chave_acesso, own),
        baixarDanfse: async (chave_acesso, own) => (await pedir('baixarDanfse', { params: { chave_acesso }, gives: 'application/pdf', ...own })).corpo,
    };
}
function eventosBy({ assinante, pedir, ler }) {
    return {
        registrarEvento: async (nota, pedido, envio = {}) => {
            const corpo = corpoDe(comNota(pedido, nota), envio.assinatura, assinante);
            if (corpo.tipo !== 'json')
                throw new TypeError('Um evento se registra com um corpo JSON.');
            const asked = { corpo, envio, exige: 'chave_acesso', signal: envio.signal };
            const { json, cabecalhos } = await (typeof nota === 'string'
                ? pedir('registrarEvento', { params: { chave_acesso: nota }, ...asked })
                : pedir('registrarEventoPorProtocolo', { params: { numero_protocolo: nota.protocolo }, ...asked }));
            return { ...json, repetida: isRepeated(cabecalhos) };
        },
        listarEventos: (chave_acesso, own) => ler('listarEventos', { params: { chave_acesso }, ...own }),
        listarEventosDoTipo: (chave_acesso, tipo_evento, own) => ler('listarEventosDoTipo', { params: { chave_acesso, tipo_evento }, ...own }),
        consultarEvento: async (evento, own) => (await ler('consultarEvento', { params: paramsOf(evento), ...own })).evento,
        acompanharEvento: (evento, own = {}) => acompanhar({
            ler: async (signal) => {
                const asked = { params: paramsOf(evento), more: ONCE, signal };
                const { json, cabecalhos } = await pedir('consultarEvento', asked);
                return { leitura: json.evento, cabecalhos };
            },
            situacao: ({ status_evento }) => status_evento,
            repousa: ({ acao_sugerida }) => acao_sugerida !== 'aguardar' && acao_sugerida !== 'retentar',
        }, own),
    };
}
function tabelasBy({ ler }) {
    let codes;
    const catalogo = async (nome, filtros, { signal } = {}) => ler(`catalogo_${nome}`, { query: filtros, signal });
    return {
        consultarSituacaoDoPrestador: (documento, { signal, ...query } = {}) => ler('consultarSituacaoDoPrestador', { params: { documento }, query, signal }),
        catalogo,
        itensDoCatalogo: async function* (nome, filtros, own) {
            const paged = nome === 'motivos_evento' ? {} : { per_page: PAGE_MAX };
            for (let page = 1, last = 1; page <= last; page += 1) {
                const asked = { ...filtros, ...paged, ...(page === 1 ? {} : { page }) };
                const answer = await catalogo(nome, asked, own);
                yield* answer.itens;
                last = 'paginacao' in answer ? answer.paginacao.total_paginas : 1;
            }
        },
        explicar: async (codigo, own) => {
            if (codigo === undefined)
                return undefined;
            codes ??= new Map((await ler('tabelaDeErros', own)).map((row) => [row.codigo, row]));
            return codes.get(codigo);
        },
    };
}
/** As many items as a page may have. */
const PAGE_MAX = 100;
/** A client that follows a note asks again anyway. */
const ONCE = { tentativas: 1 };
/** An object says its note, so that what is signed for one serves on no other; text and bytes go as they are. */
function comNota(pedido, nota) {
    if (typeof pedido === 'string' || pedido instanceof Uint8Array)
        return pedido;
    return { ...(typeof nota === 'string' ? { chave_acesso: nota } : { numero_protocolo: nota.protocolo }), ...pedido };
}
function isRepeated(cabecalhos) {
    return cabecalhos.get('x-nfse-repetida') === 'true';
}
/** The note of a DPS that was issued before, when a refusal says that its content is the same. */
function findIssued(error) {
    if (!(error instanceof Recusado))
        return undefined;
    const [erro] = error.erros;
    const { codigo, mesmo_conteudo, chave_acesso, numero_protocolo } = erro ?? {};
    if (codigo !== 'E0014' || mesmo_conteudo !== true || chave_acesso === undefined || numero_protocolo === undefined) {
        return undefined;
    }
    return { chave_acesso, numero_protocolo, xml_nfse: null, avisos: [], repetida: true };
}
/** The note of a refused protocol stays a draft; what happened to it is the refusal. */
function situacaoDaNota({ nota, protocolo }) {
    return protocolo.status === 'rejeitado' ? 'rejeitada' : nota.status;
}
const DECISAO_PRAZO_MS = 5 * 60_000;
async function esperarDecisao(pedidos, chave_acesso, { signal, prazoMs = DECISAO_PRAZO_MS }) {
    conferirTempos({ prazoMs });
    const end = performance.now() + prazoMs;
    let ultima;
    const leituras = perguntar(pedidos, {
        operacao: 'consultarNota',
        esperaS: () => Math.min(ESPERA_S.usual, Math.max(0, Math.ceil((end - performance.now()) / 1_000))),
        ler: (espera, more) => pedidos.ler('consultarNota', { params: { chave_acesso }, query: { espera }, more, signal }),
        isEmpty: (leitura) => situacaoDaNota(leitura) === 'rascunho',
        end,
        signal,
    });
    for await (const leitura of leituras) {
        ultima = leitura;
        const situacao = situacaoDaNota(leitura);
        if (situacao !== 'rascunho')
            return { ...leitura, situacao };
    }
    throw new AindaEmAndamento(`A nota não foi decidida em ${prazoMs} ms. Consulte mais tarde.`, ultima);
}
function paramsOf({ chave_acesso, tipo_evento, numero_sequencial }) {
    return { chave_acesso, tipo_evento, num_seq_evento: String(numero_sequencial) };
}
/** O identificador de uma DPS, com que se pergunta se há nota dela. */
export function identificadorDaDps({ municipio, documento, serie, numero }) {
    const kind = documento.length === 11 ? '1' : '2';
    return `DPS${municipio}${kind}${documento.padStart(14, '0')}${serie.padStart(5, '0')}${String(numero).padStart(15, '0')}`;
}
