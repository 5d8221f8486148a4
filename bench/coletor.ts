/** A collector of traces that reads, counts and discards the spans of the service under measurement. */
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';

export type Collector = {
  /** The environment of a service that traces a share of its requests, such as 0.01. */
  envFor(part: string): NodeJS.ProcessEnv;
  /** The number of spans received. */
  readonly spans: () => number;
  end(): void;
};

export async function startCollector(): Promise<Collector> {
  let spans = 0;
  const server = http.createServer((req, res) => {
    let body = '';
    req.setEncoding('utf8').on('data', (chunk) => (body += chunk));
    req.on('end', () => {
      spans += body.split('"spanId"').length - 1;
      res.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    envFor: (part) => ({
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
      OTEL_TRACES_SAMPLER_ARG: part,
    }),
    spans: () => spans,
    end: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
