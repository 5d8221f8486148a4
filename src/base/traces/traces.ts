/**
 * Traces (OpenTelemetry): the steps of a piece of work, and their durations. These functions only run the work before `beginTracing`, which
 * loads the library. Work that is not sampled has no span, and no trace is passed on.
 *
 * Work may serve several traces at once, as a commit or a lot serves many notes. Each trace then has its own span of the work. A span
 * contains no personal data: no document, no name, no key of a note, no text of an error (D-638).
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type * as Api from '@opentelemetry/api';

type Span = Api.Span;
type Context = Api.Context;

/** Attributes of a span. */
export type About = Readonly<Record<string, string | number | boolean | undefined>>;

/** The trace of a request or row, as `traceparent` of W3C Trace Context; absent: it is not traced (D-637). */
export type Traced = { readonly traceparent?: string | null | undefined };

/** Spans of the current work, by the caller's keys of its items. */
type Spans = ReadonlyMap<string, Span>;

/** Key of a span for work with a single item. */
const ALONE = '';

let api: typeof Api | undefined;
let tracer: Api.Tracer | undefined;
/** A context of our own. The one of the API would be looked up at each step, even without sampling. */
const current = new AsyncLocalStorage<Spans | undefined>();

/** Must be called before the first work, after the exporter of spans is registered. */
export async function beginTracing(): Promise<void> {
  const loaded = await import('@opentelemetry/api');
  tracer = loaded.trace.getTracer('emissor-nfse');
  api = loaded;
}

/** Runs work for a request; `traceparent`: as received, with any content. */
export function inRequest<Result>(name: string, traceparent: unknown, about: About, work: () => Result): Result {
  if (api === undefined) return work();
  const span = startSpan(name, contextOf(api, traceparent), about, api.SpanKind.SERVER);
  return span.isRecording() ? runIn(api, new Map([[ALONE, span]]), work) : runOutside(work);
}

/**
 * Runs work for items of several traces, some of none; `keyOf`: the key of an item. Work whose items have no trace runs outside of any
 * trace, even inside another one, which it may not serve.
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
  /** The step calls another server. */
  readonly isCall?: boolean;
  /** Keys of the items that the step serves; absent: all items of the surrounding work. */
  readonly only?: ReadonlySet<string> | undefined;
};

/** Runs a step of the current work. */
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

/** Adds attributes to the spans of the current work, or to the span of one item. */
export function noteInSpan(about: About, key?: string): void {
  const spans = api === undefined ? undefined : current.getStore();
  if (spans === undefined) return;
  for (const [own, span] of spans) if (key === undefined || key === own) span.setAttributes(about);
}

/** Marks the current work as failed, if the failure is answered and not thrown. */
export function noteFailure(): void {
  const spans = api === undefined ? undefined : current.getStore();
  for (const span of spans?.values() ?? []) span.setStatus({ code: api!.SpanStatusCode.ERROR });
}

/** The trace to pass on, so that other servers join it; the first one of several. */
export function traceparentNow(): string | undefined {
  const [first] = (api === undefined ? undefined : current.getStore())?.values() ?? [];
  if (api === undefined || first === undefined) return undefined;
  const carrier: { traceparent?: string } = {};
  api.propagation.inject(api.trace.setSpan(api.ROOT_CONTEXT, first), carrier);
  return carrier.traceparent;
}

/** A malformed value yields no trace. */
function contextOf({ propagation, ROOT_CONTEXT }: typeof Api, traceparent: unknown): Context {
  return typeof traceparent === 'string' ? propagation.extract(ROOT_CONTEXT, { traceparent }) : ROOT_CONTEXT;
}

function startSpan(name: string, parent: Context, attributes: About, kind: Api.SpanKind): Span {
  return tracer!.startSpan(name, { attributes, kind }, parent);
}

/** A span in each sampled trace. Later ones are linked to the first, which is passed on. */
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

/** Runs the work outside of any trace. */
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

/** The code or the name of an error; its text may contain personal data. */
function typeOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const { code } = error as NodeJS.ErrnoException;
  return typeof code === 'string' && /^\w{1,80}$/.test(code) ? code : error.name;
}
