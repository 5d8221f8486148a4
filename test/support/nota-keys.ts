/** Keys and protocol numbers of notes that no service made. They have the form that the database requires, with their month inside. */

/** The month of the clock of most tests. */
export const MES = 202611;

type Keys = { readonly chave_acesso: string; readonly numero_protocolo: string };

/** The keys of the note with a number; all notes have the same provider. */
export function keysOf(number: number, mes = MES): Keys {
  return {
    chave_acesso: `${String(number).padStart(36, '0')}${String(mes).slice(2)}0000000000`,
    numero_protocolo: `${mes}${number}`,
  };
}
