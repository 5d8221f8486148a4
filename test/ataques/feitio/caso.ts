/** Short forms to write a case. */
import type { Ataque, Entrada, Parte, Veredito } from '../ataque.ts';

export const inicio: Parte = { parte: 'inicio' };
export const infDPS: Parte = { parte: 'infDPS' };
export const assinatura: Parte = { parte: 'assinatura' };
export const fim: Parte = { parte: 'fim' };
export const HONESTA: Parte = [inicio, infDPS, assinatura, fim];

/** The honest document with replacements in one of its parts. */
export function trocada(
  parte: 'inicio' | 'infDPS' | 'assinatura' | 'fim',
  ...trocas: [de: string, por: string][]
): Parte {
  const own = (name: typeof parte): Parte => (name === parte ? { parte, trocas } : { parte: name });
  return [own('inicio'), own('infDPS'), own('assinatura'), own('fim')];
}

export function emissao(corpo: Parte, tipo = 'application/xml'): Entrada {
  return { para: 'emissao', tipo, corpo };
}

export function aceita(quer: string, status = 201): Veredito {
  return { aceita: true, status: [status], codigos: [], quer };
}

/** `codigos`: separated by spaces. */
export function recusa(codigos: string, quer: string, diz?: string, status = 422): Veredito {
  const said = diz === undefined ? {} : { diz };
  return { aceita: false, status: [status], codigos: codigos === '' ? [] : codigos.split(' '), ...said, quer };
}

export function caso(nome: string, porque: string, entrada: Entrada | Parte, veredito: Veredito): Ataque {
  const isSent = typeof entrada === 'object' && ('para' in entrada || 'conexao' in entrada);
  return { nome, porque, entrada: isSent ? (entrada as Entrada) : emissao(entrada as Parte), veredito };
}
