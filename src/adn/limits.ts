/** How long each step of an exchange with the national environment may take, and how much is sent and read. */
import { LOTE_BODY_MAX_BYTES, LOTE_DOCUMENTS_MAX } from './wire.ts';

/** All durations together stay below the lease of a claim (60 s): asking first, then sending, then writing it down. */
export const LIMITS = {
  connectMs: 4_000,
  /** How long a new connection may take to tell whether our certificate is accepted; then it is taken to be. */
  verdictMs: 150,
  /** Until the first line of the answer, and between two pieces of it. */
  headersMs: 15_000,
  bodyMs: 5_000,
  /** One request, whatever happens in it. */
  requestMs: 18_000,
  /** A whole `share`, lots sent again in parts included. */
  shareMs: 28_000,
  /** A whole `find`. */
  findMs: 14_000,
  /** A request that has less time than this is not begun. */
  requestMinMs: 3_000,
  /** Lots on their way at once, each on a connection of its own. */
  lotsAtOnce: 4,
  lotDocumentsMax: LOTE_DOCUMENTS_MAX,
  lotBodyMaxBytes: LOTE_BODY_MAX_BYTES,
  /** Fifty entries with long reasons stay far below. */
  answerMaxBytes: 4_000_000,
  /** A hundred documents, each many times the usual size. */
  pageMaxBytes: 16_000_000,
  pagesMax: 2_000,
  /** Notes in doubt that one look is for: their documents are put together when they are found. */
  searchMax: 2_000,
  /** How long nothing is sent after the municipality's certificate or permission was refused. */
  refusedFirstMs: 60_000,
  refusedMaxMs: 900_000,
  /** How long nothing is sent for this municipality after several tries came to nothing that may work for others. */
  troubledFirstMs: 1_000,
  troubledMaxMs: 30_000,
};

export type Limits = typeof LIMITS;
