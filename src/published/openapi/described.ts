/** The HTTP door's data about itself, which makes the public description. */
import type { Acesso } from '../acesso.ts';
import type { Fields, Shape, ShapeName } from './field.ts';

/** A part of the description as JSON; also a schema in JSON Schema 2020-12. */
export type Json = Readonly<Record<string, unknown>>;

/** An address below a municipality. */
export type DescribedRoute = {
  /** Name of the operation, for programs generated from the public description. */
  readonly id: string;
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PATCH' | 'DELETE';
  /** The path below the segment of the municipality. */
  readonly path: `/api/v1/${string}` | `/SefinNacional/${string}` | `/danfse/${string}` | `/parametrizacao/${string}`;
  readonly summary: string;
  /** Parameters of the query, all of them optional. */
  readonly query?: Readonly<Record<string, string>>;
  /** True: existing clients still get an answer. */
  readonly deprecated?: true;
  /** Headers of the request that have a meaning here; none is required by itself. */
  readonly reads?: readonly string[];
  /** Media types of the body, checked in `content.ts`. A POST without them accepts any body. */
  readonly takes?: readonly string[];
  /** True: the body is optional, and so is every field. */
  readonly isBodyOptional?: true;
  /** Fields of the JSON body, unless it is a DPS or the request of an event. */
  readonly sends?: Fields;
  /** True: the answer needs a token or the party's certificate, in every environment. */
  readonly asksToken?: true;
  /** True: the answer is for the owner of a sandbox, known by its key. */
  readonly asksOwner?: true;
  /** True: a repetition under one `Idempotency-Key` gets the first answer, without any effect (D-19). */
  readonly takesKey?: true;
  /** Documents that a request counts against the limit of its network address (D-263); absent: none. */
  readonly quotaCost?: number;
  /** Status of success. */
  readonly status: 200 | 201 | 410;
  /** Other media types of a successful body, for clients that ask for one. */
  readonly givesToo?: readonly 'text/csv'[];
  /** Media type of a successful body, unless it is JSON. */
  readonly gives?: 'application/pdf' | 'application/xml' | 'application/zip';
  /** Fields of a successful body, in their order. */
  readonly fields: Fields;
  /** Headers of this answer beside the common ones. */
  readonly headers: readonly string[];
  /** Headers of every answer about the path, refusals before the route included; `headers` names them too. */
  readonly always?: Readonly<Record<string, string>>;
  /** Codes of refusals. E601, E003, E703 and E999 may come from any route: they stand here when the route has its own cause. */
  readonly codes: readonly string[];
  /** Statuses of codes that come with another status than usual, or with several. */
  readonly statuses?: Readonly<Record<string, readonly number[]>>;
  /** True: the address is of the contract of the national API, and refusals have its shape. */
  readonly isNacional?: true;
  /** True: every code of a rule over the DPS belongs to the route, besides `codes`. */
  readonly judges?: true;
  /** True: the answer concerns nobody and needs no credential, so a page of any site may read it (CORS). */
  readonly isPublic?: true;
  /** The cost of a miss (D-40): 1 if the identifier gives access to its object. */
  readonly missCost?: number;
  /** The access rule, which `docs/seguranca.md` publishes. */
  readonly acesso: Acesso;
};

/** A refusal that no ordinary request meets, made by the refusing code of the service. */
export type MadeRefusal = {
  /** Absent: the refusal belongs to the common response of its status. */
  readonly name?: string;
  readonly titulo: string;
  readonly status: number;
  readonly codigo: string;
  /** The body of the answer. */
  readonly value: object;
};

export type DescribedDoor = {
  readonly routes: readonly DescribedRoute[];
  /** The meanings of the path parameters. */
  readonly params: Readonly<Record<string, string>>;
  /** The shapes that answers share. */
  readonly shapes: Readonly<Record<ShapeName, Shape>>;
  /** Fields of every refusal. */
  readonly envelope: Fields;
  readonly refusals: readonly MadeRefusal[];
  /** A refusal in the shape of the national API. */
  readonly recusaNacional: Json;
};
