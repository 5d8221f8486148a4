/** What is sent, as the bytes that go on the line: whatever form it was given in, and signed where somebody can. */
import { assinarCms, assinarXml, estaAssinado } from './assinatura.js';
import { XmlRecusado } from './xml.js';
/** Um objeto, como corpo que não se assina. */
export function corpoJson(content) {
    return { bytes: Buffer.from(JSON.stringify(content)), tipo: 'json', assinatura: undefined };
}
/** How far a look at the beginning goes. */
const START_BYTES = 256;
/** O que os bytes são, pelo seu começo. */
export function tipoDoCorpo(bytes) {
    // Of an XML in UTF-16 every other byte is zero.
    const start = Buffer.from(bytes.subarray(0, START_BYTES))
        .toString('latin1')
        .replace(/^(ï»¿|ÿþ|þÿ)/, '')
        .replace(/[\0\s]/g, '');
    return start.startsWith('{') || start.startsWith('[') ? 'json' : 'xml';
}
/** `assinatura`: of a JSON body that is signed already; the bytes are then those that were signed. */
export function corpoDe(content, assinatura, assinante) {
    const bytes = bytesOf(content);
    const tipo = tipoDoCorpo(bytes);
    if (tipo === 'json') {
        return { bytes, tipo, assinatura: assinatura ?? (assinante && assinarCms(bytes, assinante)) };
    }
    if (assinatura !== undefined)
        throw new TypeError('assinatura é de um corpo JSON; a de um XML vai dentro dele.');
    return { bytes: assinante === undefined ? bytes : signedXml(bytes, assinante), tipo, assinatura: undefined };
}
function bytesOf(content) {
    if (content instanceof Uint8Array)
        return content;
    return Buffer.from(typeof content === 'string' ? content : JSON.stringify(content), 'utf8');
}
/** What somebody has signed already goes as it is. */
function signedXml(bytes, assinante) {
    if (estaAssinado(Buffer.from(bytes).toString('latin1').replaceAll('\0', '')))
        return bytes;
    let text;
    try {
        text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    }
    catch (cause) {
        throw new XmlRecusado('o documento não está em UTF-8; converta-o antes de assinar.', { cause });
    }
    return Buffer.from(assinarXml(text, assinante), 'utf8');
}
