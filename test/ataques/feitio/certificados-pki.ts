/** The authorities and keys of the corpus `certificados`, its verdicts, and the case around a certificate. */
import type { KeyObject } from 'node:crypto';
import type { Ataque, Veredito } from '../ataque.ts';
import { aceita, recusa } from './caso.ts';
import * as e from './emissao.ts';
import { type Emitido, emitir, type Pedido } from './emissao.ts';
import { bytesDoCorpo, cmsDe, corpoDe, enviado } from './envelope.ts';
import { AGORA } from './mundo.ts';

export const NOW = Date.parse(AGORA);
export const TAKEN = (quer = 'Aceitar: nada foi mudado.'): Veredito => aceita(quer);
export const NOT = (quer: string, diz?: string): Veredito => recusa('E9003', quer, diz, 401);
export const OUT_OF_DATE = (quer: string): Veredito => recusa('E9006', quer, undefined, 401);
export const OTHER_PARTY = (quer: string): Veredito => recusa('E9007', quer, undefined, 401);

/** The trusted root, an authority below it, and their revocation lists. Keys are few, since each takes long to make. */
export type Pki = {
  readonly raiz: Emitido;
  readonly meio: Emitido;
  readonly chaves: Readonly<Record<'meio' | 'abaixo' | 'titular' | 'atacante', KeyObject>>;
  /** An authority below the root that differs from the honest one. */
  elo(pedido: Pedido): Emitido;
  /** A certificate of the provider. */
  titular(pedido?: Pedido): Emitido;
};

export function makePki(): Pki {
  const raiz = emitir({ nome: 'AC Raiz de Teste', extensoes: e.AC });
  const [meioKey, abaixo, own, atacante] = [e.chaveRsa(), e.chaveRsa(), e.chaveRsa(), e.chaveRsa()];
  const elo = (pedido: Pedido): Emitido =>
    emitir({ nome: 'AC No Meio', por: raiz, chave: meioKey, extensoes: e.AC, ...pedido });
  const meio = elo({ nome: 'AC Teste G1' });
  const titular = (pedido: Pedido = {}): Emitido => emitir({ por: meio, chave: own, ...pedido });
  return { raiz, meio, chaves: { meio: meioKey, abaixo, titular: own, atacante }, elo, titular };
}

let numero = 0;

/** The signature over an honest body, by a certificate, with additional certificates. */
export function caso(
  nome: string,
  porque: string,
  quem: Emitido,
  extra: readonly Emitido[],
  veredito: Veredito,
): Ataque {
  numero += 1;
  const certificados = [quem, ...extra].map((one) => one.der);
  return enviado(nome, porque, corpoDe(numero), cmsDe(bytesDoCorpo(numero), quem, { certificados }), veredito);
}
