/** Whether a message that came to an address (webhook) is one of the service: its signature, by Standard Webhooks 1.0. */
import { createHmac, timingSafeEqual } from 'node:crypto';
/** Of the standard. */
const TOLERANCIA_MS = 5 * 60_000;
/**
 * Confere um aviso: `segredo` é o do cadastro (`whsec_…`), ou os dois enquanto se troca; `corpo`, o que chegou, byte por byte, antes
 * de qualquer leitura. Responda 2xx só ao que é `valido`.
 */
export function conferirAviso(segredo, cabecalhos, corpo, agora = Date.now()) {
    const segredos = (typeof segredo === 'string' ? [segredo] : segredo).map(readSegredo);
    const [id, timestamp, signature] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => headerOf(cabecalhos, name));
    if (!id || !signature || timestamp === undefined || !/^\d{1,12}$/.test(timestamp)) {
        return { valido: false, motivo: 'cabecalhos' };
    }
    const em = Number(timestamp) * 1_000;
    if (Math.abs(agora - em) > TOLERANCIA_MS)
        return { valido: false, motivo: 'momento' };
    const bytes = typeof corpo === 'string' ? Buffer.from(corpo) : corpo;
    const expected = segredos.map((one) => createHmac('sha256', one).update(`${id}.${timestamp}.`).update(bytes).digest('base64'));
    const given = signature.split(' ').flatMap((one) => (one.startsWith('v1,') ? [one.slice(3)] : []));
    // All pairs, whatever the first ones say: how long it takes tells nothing.
    const equal = expected.flatMap((one) => given.filter((other) => isSame(one, other)));
    if (equal.length === 0)
        return { valido: false, motivo: 'assinatura' };
    try {
        const aviso = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
        return { valido: true, id, assinadoEm: new Date(em), aviso };
    }
    catch {
        return { valido: false, motivo: 'corpo' };
    }
}
function readSegredo(segredo) {
    const [, base64] = /^whsec_([A-Za-z0-9+/]{22,}={0,2})$/.exec(segredo) ?? [];
    // Nor is it repeated: it would stand in a log.
    if (base64 === undefined)
        throw new TypeError('segredo é o texto que o cadastro mostrou, que começa por whsec_.');
    return Buffer.from(base64, 'base64');
}
function headerOf(cabecalhos, name) {
    if (cabecalhos instanceof Headers)
        return cabecalhos.get(name) ?? undefined;
    const [, value] = Object.entries(cabecalhos).find(([one]) => one.toLowerCase() === name) ?? [];
    return typeof value === 'string' ? value : value?.join(' ');
}
function isSame(one, other) {
    const [a, b] = [Buffer.from(one), Buffer.from(other)];
    return a.length === b.length && timingSafeEqual(a, b);
}
