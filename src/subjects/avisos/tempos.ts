/** Times of repeated attempts, for the delivery and for the documentation. */

/** Seconds from one attempt of a message to the next; three days and some hours in all. */
export const AVISO_TENTATIVAS_S = [5, 60, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400] as const;

/** Seconds from one question to the next, while an address is not yet proved; no question follows the last. */
export const AVISO_CONFIRMAR_S = AVISO_TENTATIVAS_S.slice(0, 5);

/** Questions in a minute to one host, and to one network address, for all owners together. */
export const AVISO_CONFIRMAR_POR_MINUTO = 30;

/** The part of them for addresses of one owner: as many as one owner may have. */
export const AVISO_CONFIRMAR_DE_UM = 10;

/** Concurrent messages to one host, and to one network address. */
export const AVISO_SIMULTANEOS = 16;

/** Longest interval between attempts of an address that keeps failing; each attempt is one message. */
export const AVISO_PARADO_MAX_S = 300;

/** Seconds from the first byte of a message to its status: a receiver stores the message first, and works on it later. */
export const AVISO_RESPOSTA_S = 15;

/** Days for which a message is tried, and days for which sent messages are shown. */
export const AVISO_GUARDA_DIAS = { tentar: 3, mostrar: 30 } as const;
