/** The signers of the corpus `cms`, its verdicts, and the case around a changed CMS. */
import { der } from '../../../src/documents/asn1.ts';
import type { Ataque, Veredito } from '../ataque.ts';
import { aceita, recusa } from './caso.ts';
import * as e from './emissao.ts';
import { type Emitido, emitir } from './emissao.ts';
import * as c from './envelope.ts';
import { cmsDe, corpoDe, enviado, type Torto } from './envelope.ts';

export const TAKEN = (quer = 'Aceitar: nada foi mudado.'): Veredito => aceita(quer);
export const NOT = (quer: string, diz?: string): Veredito => recusa('E9003', quer, diz, 401);

/** One authority; the provider; the same key in another certificate; another company. */
export type Gente = {
  readonly raiz: Emitido;
  readonly dona: Emitido;
  readonly outra: Emitido;
  readonly alheia: Emitido;
};

export function makeGente(): Gente {
  const raiz = emitir({ nome: 'AC Raiz de Teste', extensoes: e.AC });
  const chave = e.chaveRsa();
  const keyId = e.extensao('2.5.29.14', der.octetString(c.idDaChave(chave)));
  const own = { por: raiz, chave, extensoes: [...e.TITULAR, e.doCnpj(), keyId] };
  const alheia = emitir({
    nome: 'EMPRESA ALHEIA LTDA:88888888000191',
    por: raiz,
    extensoes: [...e.TITULAR, e.doCnpj('88888888000191')],
  });
  return { raiz, dona: emitir(own), outra: emitir(own), alheia };
}

/** A case over an honest body of its own; the function receives the bytes of the body and makes the CMS. */
export type Fazer = (corpo: Buffer) => Buffer | string | undefined;
let numero = 0;

export function feito(nome: string, porque: string, fazer: Fazer, veredito: Veredito): Ataque {
  numero += 1;
  return enviado(nome, porque, corpoDe(numero), fazer(c.bytesDoCorpo(numero)), veredito);
}

export type Dobrado = (
  nome: string,
  porque: string,
  torto: Torto | ((corpo: Buffer) => Torto),
  veredito: Veredito,
) => Ataque;

export const dobradoPor =
  (dona: Emitido): Dobrado =>
  (nome, porque, torto, veredito) =>
    feito(nome, porque, (corpo) => cmsDe(corpo, dona, typeof torto === 'function' ? torto(corpo) : torto), veredito);
