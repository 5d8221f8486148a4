/**
 * Traces (OpenTelemetry): the steps of a piece of work, and how long each took. Until `beginTracing` nothing of it is loaded, and each of
 * these functions does the work and nothing else. What is not sampled leaves no span, and nothing of it is passed on.
 *
 * Work may serve several traces at once, as a commit or a lot serves many notes: each trace has a span of its own for it. What is said in a
 * span is never personal: no document, no name, no key of a note, no text of an error.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type * as Api from '@opentelemetry/api';

type Span = Api.Span;
type Context = Api.Context;

/** What a span says of its work. */
export type About = Readonly<Record<string, string | number | boolean | undefined>>;

/** The trace that something belongs to, as `traceparent` of W3C Trace Context; absent: it is not traced. */
export type Traced = { readonly traceparent?: string | null | undefined };

/** Spans of the work under way, by what it is for, as the caller calls that. */
type Spans = ReadonlyMap<string, Span>;

/** A span that is for one thing alone. */
const ALONE = '';

let api: typeof Api | undefined;
let tracer: Api.Tracer | undefined;
/** A context of our own: the one of the API is looked up anew at each step, also of what is not sampled. */
const current = new AsyncLocalStorage<Spans | undefined>();

/** To be called before the first work, when what takes the spans is registered. */
export async function beginTracing(): Promise<void> {
  const loaded = await import('@opentelemetry/api');
  tracer = loaded.trace.getTracer('emissor-nfse');
  api = loaded;
}

/** Work that somebody else asked for; `traceparent`: as it came, which may be anything. */
export function inRequest<Result>(name: string, traceparent: unknown, about: About, work: () => Result): Result {
  if (api === undefined) return work();
  const span = startSpan(name, contextOf(api, traceparent), about, api.SpanKind.SERVER);
  return span.isRecording() ? runIn(api, new Map([[ALONE, span]]), work) : runOutside(work);
}

/**
 * Work for things of several traces, some of none; `keyOf`: what each is called. Where none is traced, the work is outside of any trace:
 * what began it, it may not be for.
 */
export function inTraces<Row extends Traced, Result>(
  name: string,
  rows: readonly Row[],
  about: About,
  work: () => Result,
  keyOf: (row: Row) => string = ({ traceparent }) => traceparent ?? ALONE,
): Result {
  if (api === undefined) return work();
  const parents = new Map<string, Context>();
  for (const row of rows) if (row.traceparent != null) parents.set(keyOf(row), contextOf(api, row.traceparent));
  return runIn(api, startSpans(name, parents, about, api.SpanKind.INTERNAL), work);
}

type StepOptions = {
  /** It asks another server. */
  readonly isCall?: boolean;
  /** For which of the things that the work around it is for; absent: for all. */
  readonly only?: ReadonlySet<string> | undefined;
};

/** A step of the work under way. */
export function inSpan<Result>(
  name: string,
  about: About,
  work: () => Result,
  { isCall = false, only }: StepOptions = {},
): Result {
  if (api === undefined) return work();
  const around = current.getStore();
  if (around === undefined) return work();
  const { ROOT_CONTEXT, trace, SpanKind } = api;
  const some = only === undefined ? [...around] : [...around].filter(([key]) => key === ALONE || only.has(key));
  const parents = new Map(some.map(([key, span]) => [key, trace.setSpan(ROOT_CONTEXT, span)]));
  return runIn(api, startSpans(name, parents, about, isCall ? SpanKind.CLIENT : SpanKind.INTERNAL), work);
}

/** Adds to the spans of the work under way, or to that of one of the things that it is for. */
export function noteInSpan(about: About, key?: string): void {
  const spans = api === undefined ? undefined : current.getStore();
  if (spans === undefined) return;
  for (const [own, span] of spans) if (key === undefined || key === own) span.setAttributes(about);
}

/** The work under way came to a failure that is answered rather than thrown. */
export function noteFailure(): void {
  const spans = api === undefined ? undefined : current.getStore();
  for (const span of spans?.values() ?? []) span.setStatus({ code: api!.SpanStatusCode.ERROR });
}

/** What is passed on, so that others join the trace of the work under way; of several, the first. */
export function traceparentNow(): string | undefined {
  const [first] = (api === undefined ? undefined : current.getStore())?.values() ?? [];
  if (api === undefined || first === undefined) return undefined;
  const carrier: { traceparent?: string } = {};
  api.propagation.inject(api.trace.setSpan(api.ROOT_CONTEXT, first), carrier);
  return carrier.traceparent;
}

/** Malformed, it says nothing. */
function contextOf({ propagation, ROOT_CONTEXT }: typeof Api, traceparent: unknown): Context {
  return typeof traceparent === 'string' ? propagation.extract(ROOT_CONTEXT, { traceparent }) : ROOT_CONTEXT;
}

function startSpan(name: string, parent: Context, attributes: About, kind: Api.SpanKind): Span {
  return tracer!.startSpan(name, { attributes, kind }, parent);
}

/** A span in each trace that is sampled. Those after the first are linked to it, which is the one that is passed on. */
function startSpans(name: string, parents: ReadonlyMap<string, Context>, about: About, kind: Api.SpanKind): Spans {
  const spans = new Map<string, Span>();
  let first: Span | undefined;
  for (const [key, parent] of parents) {
    const span = startSpan(name, parent, about, kind);
    if (!span.isRecording()) continue;
    if (first === undefined) first = span;
    else span.addLink({ context: first.spanContext() });
    spans.set(key, span);
  }
  return spans;
}

/** Outside of any trace. */
function runOutside<Result>(work: () => Result): Result {
  return current.getStore() === undefined ? work() : current.run(undefined, work);
}

/** Runs the work in its spans, which end with it. */
function runIn<Result>({ SpanStatusCode }: typeof Api, spans: Spans, work: () => Result): Result {
  if (spans.size === 0) return runOutside(work);
  const end = (): void => {
    for (const span of spans.values()) span.end();
  };
  const fail = (error: unknown): never => {
    for (const span of spans.values()) {
      span.setAttribute('error.type', typeOf(error));
      span.setStatus({ code: SpanStatusCode.ERROR });
    }
    end();
    throw error;
  };
  let result: Result;
  try {
    result = current.run(spans, work);
  } catch (error) {
    return fail(error);
  }
  if (!(result instanceof Promise)) {
    end();
    return result;
  }
  return result.then((value) => {
    end();
    return value;
  }, fail) as Result;
}

/** The code or the name of an error; its text may quote what it was about. */
function typeOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const { code } = error as NodeJS.ErrnoException;
  return typeof code === 'string' && /^\w{1,80}$/.test(code) ? code : error.name;
}
