/** The limits of the HTTP door for a request. Its refusals, the API description and the pages state the same values. */

/** D-02. A DPS has 3 KiB, and a very long one several hundred. */
export const BODY_MAX_BYTES = 1024 * 1024;
/** The longest path with the longest identifier stays below 200 characters; queries are short. */
export const URL_MAX = 2_048;
/** A detached signature with its certificate chain travels in one header and has about 12 KiB. */
export const HEADERS_MAX_BYTES = 32 * 1024;

export const BODY_MAX_TEXT = `${BODY_MAX_BYTES / 2 ** 20} MiB`;
export const URL_MAX_TEXT = `${URL_MAX} caracteres`;
export const HEADERS_MAX_TEXT = `${HEADERS_MAX_BYTES / 2 ** 10} KiB`;

/**
 * Time for which new connections are served after a SIGTERM, by default. A load balancer that checks every two seconds has noticed twice by
 * then. `docker stop` waits ten seconds in all.
 */
export const DRAIN_DEFAULT_S = 5;
