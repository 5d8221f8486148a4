/** When a message that was not taken is tried again: what delivery does, and what the documentation says. */

/** Seconds from one attempt of a message to the next; three days and some hours in all. */
export const AVISO_TENTATIVAS_S = [5, 60, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400] as const;

/** Seconds from one question to the next, where an address has yet to prove that it wants messages: then it is asked no more. */
export const AVISO_CONFIRMAR_S = AVISO_TENTATIVAS_S.slice(0, 5);

/** Questions in a minute to one host, and to one address of the network, whoever has registered something there. */
export const AVISO_CONFIRMAR_POR_MINUTO = 30;

/** Of those, the most to addresses of one owner: as many as it may have. */
export const AVISO_CONFIRMAR_DE_UM = 10;

/** Messages under way at once to one host, and to one address of the network. */
export const AVISO_SIMULTANEOS = 16;

/** An address that fails again and again is tried with one message at a time, this far apart at most. */
export const AVISO_PARADO_MAX_S = 300;

/** Seconds from the first byte of a message to its status: a receiver keeps what it got, and works on it later. */
export const AVISO_RESPOSTA_S = 15;

/** Days that a message is tried for, and days that what was told is shown for. */
export const AVISO_GUARDA_DIAS = { tentar: 3, mostrar: 30 } as const;
