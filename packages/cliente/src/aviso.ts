/** Verifies that a message to an address (webhook) comes from the service: its signature, by Standard Webhooks 1.0. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Mudanca } from './tipos.ts';

/** O corpo de um aviso. */
export type Aviso =
  | { readonly type: Mudanca['tipo']; readonly timestamp: string; readonly data: Mudanca }
  /** Pergunta se o endereço quer avisos: responda 2xx com o desafio como corpo. */
  | {
      readonly type: 'confirmacao';
      readonly timestamp: string;
      readonly data: { readonly desafio: string; readonly mensagem: string };
    }
  /** De `ensaiarWebhook`: nada mudou. */
  | { readonly type: 'ensaio'; readonly timestamp: string; readonly data: { readonly mensagem: string } };

/** Por que um aviso não se aceita. `momento`: foi assinado há mais de cinco minutos, ou no futuro; `corpo`: não é JSON. */
export type MotivoDoAviso = 'cabecalhos' | 'momento' | 'assinatura' | 'corpo';

export type AvisoConferido =
  /** `id`: o mesmo em cada tentativa; quem o guarda reconhece um aviso repetido. */
  | { readonly valido: true; readonly id: string; readonly assinadoEm: Date; readonly aviso: Aviso }
  | { readonly valido: false; readonly motivo: MotivoDoAviso };

/** Tolerance of the standard. */
const TOLERANCIA_MS = 5 * 60_000;

type Cabecalhos = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * Confere um aviso: `segredo` é o do cadastro (`whsec_…`), ou os dois enquanto se troca; `corpo`, o que chegou, byte por byte, antes
 * de qualquer leitura. Responda 2xx só ao que é `valido`.
 */
export function conferirAviso(
  segredo: string | readonly string[],
  cabecalhos: Cabecalhos,
  corpo: string | Uint8Array,
  agora = Date.now(),
): AvisoConferido {
  const segredos = (typeof segredo === 'string' ? [segredo] : segredo).map(readSegredo);
  const [id, timestamp, signature] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) =>
    headerOf(cabecalhos, name),
  );
  if (!id || !signature || timestamp === undefined || !/^\d{1,12}$/.test(timestamp)) {
    return { valido: false, motivo: 'cabecalhos' };
  }
  const em = Number(timestamp) * 1_000;
  if (Math.abs(agora - em) > TOLERANCIA_MS) return { valido: false, motivo: 'momento' };
  const bytes = typeof corpo === 'string' ? Buffer.from(corpo) : corpo;
  const expected = segredos.map((one) =>
    createHmac('sha256', one).update(`${id}.${timestamp}.`).update(bytes).digest('base64'),
  );
  const given = signature.split(' ').flatMap((one) => (one.startsWith('v1,') ? [one.slice(3)] : []));
  // All pairs are compared even after a match or a mismatch: the duration reveals nothing.
  const equal = expected.flatMap((one) => given.filter((other) => isSame(one, other)));
  if (equal.length === 0) return { valido: false, motivo: 'assinatura' };
  try {
    const aviso = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as Aviso;
    return { valido: true, id, assinadoEm: new Date(em), aviso };
  } catch {
    return { valido: false, motivo: 'corpo' };
  }
}

function readSegredo(segredo: string): Buffer {
  const [, base64] = /^whsec_([A-Za-z0-9+/]{22,}={0,2})$/.exec(segredo) ?? [];
  // The value is not repeated: it would stand in a log.
  if (base64 === undefined) throw new TypeError('segredo é o texto que o cadastro mostrou, que começa por whsec_.');
  return Buffer.from(base64, 'base64');
}

function headerOf(cabecalhos: Cabecalhos, name: string): string | undefined {
  if (cabecalhos instanceof Headers) return cabecalhos.get(name) ?? undefined;
  const [, value] = Object.entries(cabecalhos).find(([one]) => one.toLowerCase() === name) ?? [];
  return typeof value === 'string' ? value : value?.join(' ');
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
