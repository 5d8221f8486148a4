/** A collector of traces as third parties run it: an HTTP server that accepts OTLP in JSON, read by the field names of the protocol. */
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { onEnd } from './cleanup.ts';

export type Rastro = {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly name: string;
  readonly kind: number;
  readonly startMs: number;
  readonly endMs: number;
  /** The span's attributes, and those of the process that sent it. */
  readonly about: Readonly<Record<string, unknown>>;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  /** 2: the span failed. */
  readonly status: number;
};

export type Coletor = {
  readonly address: string;
  /** Spans of a trace, ordered by their start. */
  of(traceId: string): readonly Rastro[];
  readonly all: readonly Rastro[];
  /** The raw bodies of all requests. */
  readonly bodies: readonly string[];
  readonly headers: readonly http.IncomingHttpHeaders[];
};

// The names of opentelemetry-proto (trace/v1/trace.proto), as JSON has them.
type Value = { readonly stringValue?: string; readonly intValue?: string | number; readonly boolValue?: boolean };
type Attributes = readonly { readonly key: string; readonly value: Value }[];
type Span = Pick<Rastro, 'traceId' | 'spanId' | 'name' | 'kind'> & {
  readonly parentSpanId?: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes?: Attributes;
  readonly links?: Rastro['links'];
  readonly status?: { readonly code?: number };
};
type Request = {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: Attributes };
    readonly scopeSpans: readonly { readonly spans: readonly Span[] }[];
  }[];
};

export async function startColetor(): Promise<Coletor> {
  const all: Rastro[] = [];
  const bodies: string[] = [];
  const headers: http.IncomingHttpHeaders[] = [];
  const server = http.createServer((req, res) => {
    let body = '';
    req.setEncoding('utf8').on('data', (chunk) => (body += chunk));
    req.on('end', () => {
      const isOurs = req.method === 'POST' && req.url === '/v1/traces';
      if (isOurs) {
        bodies.push(body);
        headers.push(req.headers);
        all.push(...spansIn(JSON.parse(body)));
      }
      res.writeHead(isOurs ? 200 : 404, { 'Content-Type': 'application/json' }).end('{"partialSuccess":{}}');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onEnd(() => server.close().closeAllConnections());
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    all,
    bodies,
    headers,
    of: (traceId) => all.filter((one) => one.traceId === traceId).sort((one, other) => one.startMs - other.startMs),
  };
}

function spansIn({ resourceSpans }: Request): readonly Rastro[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({
        ...span,
        parentSpanId: span.parentSpanId ?? '',
        startMs: Number(span.startTimeUnixNano) / 1e6,
        endMs: Number(span.endTimeUnixNano) / 1e6,
        about: { ...toldIn(resource.attributes), ...toldIn(span.attributes ?? []) },
        links: span.links ?? [],
        status: span.status?.code ?? 0,
      })),
    ),
  );
}

function toldIn(attributes: Attributes): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [key, value.stringValue ?? value.boolValue ?? Number(value.intValue)]),
  );
}
