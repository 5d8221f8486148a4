/** What the HTTP door says of itself, of which the public description is made. */
import type { Fields, Shape, ShapeName } from './field.ts';

/** A part of the description, as it is written; also a schema in JSON Schema 2020-12. */
export type Json = Readonly<Record<string, unknown>>;

/** An address below a municipality. */
export type DescribedRoute = {
  /** Name of the operation, by which programs that are made of the public description call it. */
  readonly id: string;
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PATCH' | 'DELETE';
  /** Below the segment of the municipality. */
  readonly path: `/api/v1/${string}`;
  readonly summary: string;
  /** Parameters of the query, none of which is required. */
  readonly query?: Readonly<Record<string, string>>;
  /** Still answered, for those who use it already. */
  readonly deprecated?: true;
  /** Headers of the request that have a meaning here; none is required by itself. */
  readonly reads?: readonly string[];
  /** Media types of the body, checked in `content.ts`. A POST without them takes whatever comes. */
  readonly takes?: readonly string[];
  /** Nothing need be sent: every field may be left out. */
  readonly isBodyOptional?: true;
  /** Fields of the JSON body, where it is neither a DPS nor the request of an event. */
  readonly sends?: Fields;
  /** In every environment the answer is for who shows a token, or its certificate. */
  readonly asksToken?: true;
  /** The answer is for the owner of a sandbox, who is known by its key. */
  readonly asksOwner?: true;
  /** Repeated under one `Idempotency-Key` it is answered as it was, and does nothing again (D-19). */
  readonly takesKey?: true;
  /** Documents that a request counts as against the limit of its network address (D-263); absent: none. */
  readonly quotaCost?: number;
  /** Status of success. */
  readonly status: 200 | 201 | 410;
  /** Other media types of the body of success, given to whoever asks for one. */
  readonly givesToo?: readonly ('text/plain' | 'text/csv' | 'application/x-ndjson')[];
  /** Media type of the body of success, where that is no JSON. */
  readonly gives?: 'application/pdf' | 'application/xml' | 'application/zip';
  /** Fields of the body of success, in their order. */
  readonly fields: Fields;
  /** Headers of this answer beside those of every answer. */
  readonly headers: readonly string[];
  /** Headers of every answer about the path, also of a refusal that comes before the route; `headers` names them too. */
  readonly always?: Readonly<Record<string, string>>;
  /** Codes of refusals. E601, E003, E703 and E999, which any route may answer, stand here where the row has a cause of its own. */
  readonly codes: readonly string[];
  /** Statuses of those codes that come with another one than usual, or with more than one. */
  readonly statuses?: Readonly<Record<string, readonly number[]>>;
  /** Besides `codes`, every code of a rule over the DPS. */
  readonly judges?: true;
  /** The answer is about nobody and needs no credential: a page of any site may read it (CORS). */
  readonly isPublic?: true;
  /** What a miss costs (D-40): 1 where the identifier opens what it names. */
  readonly missCost?: number;
};

/** A refusal that no ordinary request meets, made by what refuses it in the service. */
export type MadeRefusal = {
  /** Absent: that of the response which every operation has with this status. */
  readonly name?: string;
  readonly titulo: string;
  readonly status: number;
  readonly codigo: string;
  /** The body of the answer. */
  readonly value: object;
};

export type DescribedDoor = {
  readonly routes: readonly DescribedRoute[];
  /** What the parameters of the paths are. */
  readonly params: Readonly<Record<string, string>>;
  /** The shapes that answers share. */
  readonly shapes: Readonly<Record<ShapeName, Shape>>;
  /** Fields of every refusal. */
  readonly envelope: Fields;
  readonly refusals: readonly MadeRefusal[];
};
