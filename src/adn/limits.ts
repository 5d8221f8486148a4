/** The time limit of each step of an exchange with the national environment, and the size limits of both directions. */
import { LOTE_BODY_MAX_BYTES, LOTE_DOCUMENTS_MAX } from './wire.ts';

/** All durations together stay below the lease of a claim (60 s): first the query, then the sending, then the storing. */
export const LIMITS = {
  connectMs: 4_000,
  /** The time in which a new connection shows whether our certificate is accepted; after it the certificate counts as accepted. */
  verdictMs: 150,
  /** The time until the first line of the answer, and between two pieces of it. */
  headersMs: 15_000,
  bodyMs: 5_000,
  /** The time of one request in total. */
  requestMs: 18_000,
  /** The time of a whole `share`, including lots that are sent again in parts. */
  shareMs: 28_000,
  /** The time of a whole `find`. */
  findMs: 14_000,
  /** A request is not begun with less time than this. */
  requestMinMs: 3_000,
  /** Simultaneous lots, each on a connection of its own. */
  lotsAtOnce: 4,
  lotDocumentsMax: LOTE_DOCUMENTS_MAX,
  lotBodyMaxBytes: LOTE_BODY_MAX_BYTES,
  /** Fifty entries with long reasons stay far below. */
  answerMaxBytes: 4_000_000,
  /** A hundred documents, each many times the usual size. */
  pageMaxBytes: 16_000_000,
  pagesMax: 2_000,
  /** Notes in doubt in one search: their documents are composed when they are found. */
  searchMax: 2_000,
  /** The pause after a refusal of the municipality's certificate or permission. */
  refusedFirstMs: 60_000,
  refusedMaxMs: 900_000,
  /** The pause of this municipality after several failures that others may not have. */
  troubledFirstMs: 1_000,
  troubledMaxMs: 30_000,
};

export type Limits = typeof LIMITS;
