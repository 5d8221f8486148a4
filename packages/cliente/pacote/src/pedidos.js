/**
 * The requests of a client: the address, the headers and the certificate of each operation. What follows a missing answer, `chamada.ts`
 * decides.
 */
import { randomUUID } from 'node:crypto';
import { lerCertificado } from './certificado.js';
import { chamar } from './chamada.js';
import { conferirTempos } from './espera.js';
import { OPERACOES } from './tipos.js';
import { porFetch, porTls } from './transporte.js';
const INSISTENCIA = {
    tentativas: 6,
    prazoMs: 120_000,
    tempoLimiteMs: 30_000,
    primeiraEsperaMs: 1_000,
    esperaMaximaMs: 60_000,
    semConexao: true,
};
/** Rejects at once an address or a certificate that does not serve. */
export function createPedidos(opcoes) {
    const raiz = rootOf(opcoes.url);
    const base = `${raiz}/${segment('municipio', opcoes.municipio)}`;
    const assinante = opcoes.certificado && lerCertificado(opcoes.certificado);
    const insistencia = insistenciaOf(opcoes.insistencia);
    const aoRepetir = opcoes.aoRepetir ?? (() => undefined);
    const [plain, identified] = transportes(opcoes, assinante);
    async function pedir(operacao, pedido = {}) {
        const facts = OPERACOES[operacao];
        const isIdentified = 'certificado' in facts;
        const token = isIdentified ? (pedido.token ?? tokenOf(opcoes.token)) : undefined;
        const chamada = chamadaOf(operacao, 'foraDoMunicipio' in facts ? raiz : base, { ...pedido, token });
        // What is no header would fail while it is sent, and look like a broken line.
        for (const [name, value] of Object.entries(chamada.cabecalhos)) {
            if (!/^[ -~]*$/.test(value))
                throw new TypeError(`${name} só leva caracteres ASCII.`);
        }
        // A token says who asks; the service would not look at the certificate.
        const transporte = isIdentified && token === undefined ? identified : plain;
        return chamar(transporte, chamada, { ...insistencia, ...pedido.more }, aoRepetir);
    }
    return {
        base,
        municipio: opcoes.municipio,
        assinante,
        insistencia,
        aoRepetir,
        pedir,
        ler: async (operacao, pedido) => (await pedir(operacao, pedido)).json,
    };
}
function chamadaOf(operacao, base, pedido) {
    const { params = {}, query = {}, montar, envio = {}, aceita, gives, exige, isOnce = false, token, signal } = pedido;
    const { respostaMax } = pedido;
    const corpo = montar?.() ?? pedido.corpo;
    const { caminho, ...facts } = OPERACOES[operacao];
    const path = caminho.replace(/\{(\w+)\}/g, (_, name) => segment(name, params[name]));
    const isRepeatable = 'repetivel' in facts;
    const chave = envio.chave ?? randomUUID();
    // At its ends a header loses its blanks, and the key would be another one.
    if (chave === '' || chave.length > KEY_MAX || chave !== chave.trim()) {
        throw new TypeError(`chave tem de 1 a ${KEY_MAX} caracteres, sem espaço no começo nem no fim.`);
    }
    return {
        operacao,
        url: `${base}${path}${searchOf(query)}`,
        cabecalhos: {
            Accept: gives ?? 'application/json',
            ...(corpo && { 'Content-Type': `application/${corpo.tipo}` }),
            ...(corpo?.assinatura !== undefined && { [signatureHeaderOf(operacao)]: corpo.assinatura }),
            ...(token !== undefined && { Authorization: `Bearer ${token}` }),
            ...(isRepeatable && { 'Idempotency-Key': chave }),
            ...(envio.simular !== undefined && { 'X-NFSe-Simular': envio.simular }),
        },
        ...(corpo && { corpo: corpo.bytes }),
        ...(isRepeatable && { repeticao: { chave, assinatura: corpo?.assinatura } }),
        ...(montar && { renovar: () => renovada(operacao, base, pedido) }),
        isOnce,
        ...(aceita && { aceita }),
        ...(exige !== undefined && { exige }),
        ...(respostaMax !== undefined && { respostaMax }),
        isJson: gives === undefined && facts.metodo !== 'HEAD',
        signal,
    };
}
function renovada(...pedida) {
    const { cabecalhos, corpo } = chamadaOf(...pedida);
    return { cabecalhos, ...(corpo && { corpo }) };
}
function signatureHeaderOf(operacao) {
    if (operacao.endsWith('Token') || operacao.endsWith('Tokens'))
        return 'X-Token-Assinatura';
    return operacao.startsWith('registrar') ? 'X-Evento-Assinatura' : 'X-DPS-Assinatura';
}
function tokenOf(token) {
    return typeof token === 'function' ? token() : token;
}
/** Of the service, in characters. */
const KEY_MAX = 255;
function rootOf(url) {
    if (!/^https?:\/\/./.test(url) || !URL.canParse(url)) {
        throw new TypeError(`url ${url} não é um endereço. Exemplo: https://nfse.exemplo.gov.br`);
    }
    const { username, password, search, hash } = new URL(url);
    // Nor is it repeated: it may hold a password.
    if (username + password + search + hash !== '') {
        throw new TypeError('url vai sem usuário, senha, ? nem #. Exemplo: https://nfse.exemplo.gov.br');
    }
    return url.replace(/\/+$/, '');
}
/** One segment of an address: what is nothing, or points elsewhere, would be the address of something else. */
function segment(name, value) {
    if (typeof value !== 'string' || /^\.{0,2}$/.test(value))
        throw new TypeError(`${name} não foi informado.`);
    return encodeURIComponent(value);
}
/** What is left undefined is as usual. */
function insistenciaOf(own = {}) {
    const said = Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined));
    const whole = { ...INSISTENCIA, ...said };
    const { tentativas, semConexao: _, ...tempos } = whole;
    conferirTempos(tempos);
    if (!(tentativas >= 1))
        throw new TypeError('tentativas é um número, a partir de 1.');
    return whole;
}
/** One for all, and one that shows the certificate to whom it is for. */
function transportes({ url, fetch: own, ca, certificado }, assinante) {
    const isTls = own === undefined && url.startsWith('https:');
    const plain = isTls && ca !== undefined ? porTls({ ca, cert: undefined, key: undefined }) : porFetch(own ?? fetch);
    if (!isTls || certificado === undefined || assinante === undefined)
        return [plain, plain];
    const cert = [assinante.certificado, ...assinante.cadeia].map(String).join('');
    const key = assinante.chave.export({ type: 'pkcs8', format: 'pem' });
    return [plain, porTls({ ca, cert, key })];
}
function searchOf(query) {
    const pairs = Object.entries(query).flatMap(([name, value]) => value === undefined ? [] : [[name, String(value)]]);
    return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs)}`;
}
