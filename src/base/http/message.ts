/** One HTTP request, its answer, and the obstacles between a request and its route. */
import type { IncomingHttpHeaders } from 'node:http';

export type BodyTrouble = 'body_too_large' | 'malformed' | 'timeout' | 'gone';
export type Trouble =
  | BodyTrouble
  | 'unknown_path'
  | 'method_not_allowed'
  | 'bad_url'
  | 'url_too_long'
  | 'no_host'
  | 'many_hosts'
  | 'many_types'
  | 'expectation'
  | 'headers_too_large';

export type HttpRequest = {
  /** Id made by the service, so that no caller chooses the id in the log. It begins with its moment, by which it is found. */
  readonly id: string;
  /** The `X-Request-Id` of the request, if it is suitable for the log. */
  readonly sentId: string | undefined;
  /** Milliseconds on the clock of `performance`. */
  readonly began: number;
  readonly method: string;
  /** Path and query as sent, still encoded. Empty if the bytes were no request. */
  readonly url: string;
  readonly params: Readonly<Record<string, string>>;
  readonly headers: IncomingHttpHeaders;
  readonly encrypted: boolean;
  readonly remoteAddress: string;
  /** Certificates that the client presented in the TLS handshake, in DER, its own first; unverified, and possibly empty. */
  peerCertificates(): readonly Buffer[];
  /**
   * Reads the body; it may be called once. A body longer than `max` bytes is not read to its end; `crowded`: too many bodies come in at
   * once.
   */
  readBody(max: number): Promise<Buffer | BodyTrouble | 'crowded'>;
};

export type HttpAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** A long body is made while it is sent, as fast as the client reads; such an answer has no Content-Length. */
  readonly body: string | Buffer | AsyncIterable<string | Buffer>;
  /** The connection ends in place of the answer: its sender rehearses that. */
  readonly isLost?: true;
};

/** An answer of the legacy SOAP port. */
export type SoapAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** A long body is made while it is sent. */
  readonly body: string | AsyncIterable<string>;
  /** The query found nothing, and counts as a miss (D-40). */
  readonly isMiss: boolean;
  /** Codes of the messages, for the log line; undefined: there is none. */
  readonly erro?: string;
};
