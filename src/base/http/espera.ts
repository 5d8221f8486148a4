/** `espera`: seconds that a query waits for something to happen, so that its sender need not poll. */
import type { Fault } from '../../fiscal/fault.ts';
import { quoted } from '../../fiscal/fault.ts';
import type { Asker } from '../world/esperar.ts';
import { networksOf } from '../world/redes.ts';

/** The limit is below the usual time-outs of proxies and clients. */
export const ESPERA_MAX_S = 55;

/** Milliseconds; 0 without the parameter. */
export function readEspera(query: URLSearchParams): number | Fault {
  const text = query.get('espera') ?? '';
  if (text === '' || text === '0') return 0;
  if (/^[1-9]\d?$/.test(text) && Number(text) <= ESPERA_MAX_S) return Number(text) * 1000;
  const esperado = `segundos, de 0 a ${ESPERA_MAX_S}`;
  const encontrado = quoted(text);
  const mensagem = `O parâmetro espera são ${esperado}, e veio "${encontrado}".`;
  return { codigo: 'E0002', xpath: '', mensagem, campo: 'espera', encontrado, esperado };
}

/** The waiting client: its name, and the largest network that is counted together. */
export function askerOf({ client }: { readonly client: string }, who: string): Asker {
  return { who, rede: networksOf(client).at(-1)!.name };
}
