/**
 * What is one party's: its tokens, its notes and events, what changes of them, and the addresses that are told. Who asks is known by the
 * token of the client, or by its certificate.
 */
import { randomUUID } from 'node:crypto';
import { assinarCms } from './assinatura.js';
import { corpoJson } from './corpo.js';
import { Recusado } from './erros.js';
import { ESPERA_S, perguntar } from './longas.js';
export function daParteBy(pedidos) {
    return { ...tokensBy(pedidos), ...listasBy(pedidos), ...exportacoesBy(pedidos), ...webhooksBy(pedidos) };
}
function tokensBy({ municipio, assinante, ler }) {
    const usual = /^(?:integracao|ensaio-[a-z0-9]{6})$/.test(municipio) ? 'homologacao' : 'producao';
    /** Signed it says for whom it is, and serves once: every try is another one. */
    const montar = (acao, { ambiente = usual, ...campos }) => () => {
        if (assinante === undefined || ambiente !== 'producao')
            return corpoJson(campos);
        const emitido_em = new Date(Date.now()).toISOString();
        const corpo = corpoJson({ ...campos, acao, municipio, ambiente, emitido_em, pedido: randomUUID() });
        return { ...corpo, assinatura: assinarCms(corpo.bytes, assinante) };
    };
    return {
        pedirToken: (pedido, own) => ler('pedirToken', { montar: montar('criar', pedido), exige: 'token', ...own }),
        listarTokens: async (de, own) => (await ler('listarTokens', { montar: montar('listar', de), ...own })).tokens,
        revogarToken: (token, own) => ler('revogarToken', { montar: montar('revogar', token), ...own }),
    };
}
function listasBy(pedidos) {
    const { ler } = pedidos;
    return {
        listarNotas: (query, own) => ler('listarNotas', { query, ...own }),
        todasAsNotas: (filtros, own) => eachOf(filtros?.cursor, async (cursor) => {
            const query = { ...filtros, cursor, limite: PAGE_MAX };
            const { notas, cursor: seguinte } = await ler('listarNotas', { query, ...own });
            return { itens: notas, seguinte };
        }),
        listarEventosDaParte: (query, own) => ler('listarEventosDaParte', { query, ...own }),
        todosOsEventos: (filtros, own) => eachOf(filtros?.cursor, async (cursor) => {
            const query = { ...filtros, cursor, limite: PAGE_MAX };
            const { eventos, cursor: seguinte } = await ler('listarEventosDaParte', { query, ...own });
            return { itens: eventos, seguinte };
        }),
        seguirMudancas: (query, own) => ler('seguirMudancas', { query, ...own }),
        mudancas: (seguimento = {}) => mudancas(pedidos, seguimento),
    };
}
/** As many items as a page may have. */
const PAGE_MAX = 100;
/** Pages may be empty before the last one. */
async function* eachOf(from, read) {
    for (let cursor = from; cursor !== null;) {
        const { itens, seguinte } = await read(cursor);
        yield* itens;
        cursor = seguinte;
    }
}
const MUDANCAS_USUAL = 1_000;
async function* mudancas(pedidos, { desde, documento, esperaS = ESPERA_S.usual, limite = MUDANCAS_USUAL, aoAvancar, signal }) {
    if (!Number.isInteger(esperaS) || esperaS < 1 || esperaS > ESPERA_S.maxima) {
        throw new TypeError(`esperaS são segundos, de 1 a ${ESPERA_S.maxima}.`);
    }
    let cursor = desde;
    const leituras = perguntar(pedidos, {
        operacao: 'seguirMudancas',
        esperaS: () => esperaS,
        ler: (espera, more) => pedidos.ler('seguirMudancas', {
            query: { documento, desde: cursor, limite, espera },
            exige: 'cursor',
            more,
            signal,
        }),
        isEmpty: (leitura) => leitura.mudancas.length === 0,
        signal,
    });
    for await (const leitura of leituras) {
        // To a party each change is told with its place.
        yield* leitura.mudancas;
        cursor = leitura.cursor;
        await aoAvancar?.(cursor);
    }
}
/** Of a file the service lets be 2 GiB, and its directory comes on top. */
const ARQUIVO_BYTES_MAX = 3 * 1024 ** 3;
/** A file takes as long as its way, which is longer than that of an answer. */
const ARQUIVO_MS = 600_000;
function exportacoesBy({ pedir, ler, insistencia }) {
    const more = {
        tempoLimiteMs: Math.max(insistencia.tempoLimiteMs, ARQUIVO_MS),
        prazoMs: Math.max(insistencia.prazoMs, ARQUIVO_MS),
    };
    const one = (id_exportacao, { documento, signal } = {}) => ({
        params: { id_exportacao },
        query: { documento },
        signal,
    });
    return {
        pedirExportacao: async (pedido, { documento, signal } = {}) => (await ler('pedirExportacao', { corpo: corpoJson(pedido), query: { documento }, signal })).exportacao,
        consultarExportacao: async (id, own) => (await ler('consultarExportacao', one(id, own))).exportacao,
        baixarExportacao: async (id, own) => {
            const gives = 'application/zip, text/csv';
            return (await pedir('baixarExportacao', { ...one(id, own), gives, respostaMax: ARQUIVO_BYTES_MAX, more })).corpo;
        },
    };
}
function webhooksBy({ ler }) {
    const one = (id_webhook, { documento, signal } = {}) => ({
        params: { id_webhook },
        query: { documento },
        signal,
    });
    return {
        cadastrarWebhook: (dados, { documento, signal } = {}) => ler('cadastrarWebhook', { corpo: corpoJson(dados), query: { documento }, isOnce: true, signal }),
        listarWebhooks: async ({ documento, signal } = {}) => (await ler('listarWebhooks', { query: { documento }, signal })).webhooks,
        consultarWebhook: (id, own) => ler('consultarWebhook', one(id, own)),
        alterarWebhook: async (id, dados, own) => (await ler('alterarWebhook', { corpo: corpoJson(dados), ...one(id, own) })).webhook,
        retirarWebhook: async (id, own) => {
            try {
                await ler('retirarWebhook', one(id, own));
            }
            catch (error) {
                // The first try did it, and its answer was lost.
                if (!(error instanceof Recusado) || error.status !== 404 || error.tentativas === 1)
                    throw error;
            }
        },
        trocarSegredo: (id, own) => ler('trocarSegredoDoWebhook', { isOnce: true, ...one(id, own) }),
        ensaiarWebhook: async (id, own) => void (await ler('ensaiarWebhook', one(id, own))),
        entregas: (id, query, own) => ler('listarEntregas', { params: { id_webhook: id }, query, ...own }),
        reenviar: async (id, { entrega, ...own } = {}) => {
            const asked = one(id, own);
            return (await ler('reenviarEntregas', { ...asked, query: { ...asked.query, entrega } })).reenviadas;
        },
    };
}
