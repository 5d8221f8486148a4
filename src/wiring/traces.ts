/**
 * Sends traces to the collector of `OTEL_EXPORTER_OTLP_ENDPOINT`. Nothing of OpenTelemetry is loaded if there is none. The SDK reads the
 * other standard variables itself. A silent collector costs its spans and nothing else. The queue is bounded (2,048 spans), a failure is
 * logged once, and the end waits only briefly.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace-node';
import { ignoring } from '../base/traces/ignoring.ts';
import { beginTracing } from '../base/traces/traces.ts';
import { type Config, ConfigError } from './config.ts';
import type { Logger } from './log.ts';

/** The time limit for the last spans at the end; shorter for a collector that did not accept the previous ones. */
const END_MAX_MS = 1_000;
const END_FAILING_MS = 100;
/** The minimum interval between two log entries about an unreliable collector. */
const TELL_EVERY_MS = 600_000;

export type Traces = {
  /** Whether traces are sent: requests to the collector may then be under way after the end, and keep the process from ending by itself. */
  readonly areSent: boolean;
  /** Sends the remaining spans. */
  end(): Promise<void>;
};

const NO_TRACES: Traces = { areSent: false, end: async () => undefined };

/** Called in each working process and thread, before its work begins. `thread`: its name, in Portuguese. */
export async function startTraces({ traces }: Config, log: Logger, thread: string): Promise<Traces> {
  if (traces === undefined) return NO_TRACES;
  const { sdk, otlp, resources } = await loadSdk();
  const exporter = new TellingExporter(new otlp.OTLPTraceExporter(), new URL(traces.collector).host, log);
  const own = { 'service.name': traces.serviceName, 'process.pid': process.pid, 'thread.name': thread };
  const said = resources.detectResources({ detectors: [resources.envDetector] });
  const provider = new sdk.NodeTracerProvider({
    resource: resources.defaultResource().merge(resources.resourceFromAttributes(own)).merge(said),
    spanProcessors: [new sdk.BatchSpanProcessor(exporter)],
  });
  // `base/traces/traces.ts` itself keeps the current span of each piece of work.
  provider.register({ contextManager: null });
  await beginTracing();
  return {
    areSent: true,
    end: async () => {
      const ended = provider.shutdown().catch(ignoring('the exporter has told that the collector is away'));
      await Promise.race([ended, pause(exporter.isFailing ? END_FAILING_MS : END_MAX_MS)]);
    },
  };
}

/** The packages are optional: an installation without them gets an error message. */
async function loadSdk() {
  try {
    const [sdk, otlp, resources] = await Promise.all([
      import('@opentelemetry/sdk-trace-node'),
      import('@opentelemetry/exporter-trace-otlp-http'),
      import('@opentelemetry/resources'),
    ]);
    return { sdk, otlp, resources };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new ConfigError(
      'OTEL_EXPORTER_OTLP_ENDPOINT pede pacotes que não foram instalados. Instale-os com npm ci --omit=dev (sem --omit=optional), ou retire a variável.',
    );
  }
}

type Taken = Parameters<SpanExporter['export']>[1];

/** Logs when spans are refused, and when they are accepted again. The SDK itself would log nothing. */
class TellingExporter implements SpanExporter {
  isFailing = false;
  private readonly inner: SpanExporter;
  private readonly host: string;
  private readonly log: Logger;
  private toldAt = Number.NEGATIVE_INFINITY;
  private isTold = false;

  constructor(inner: SpanExporter, host: string, log: Logger) {
    this.inner = inner;
    this.host = host;
    this.log = log;
  }

  export(spans: ReadableSpan[], done: Taken): void {
    this.inner.export(spans, (result) => {
      // 0: accepted.
      this.isFailing = result.code !== 0;
      if (this.isFailing) this.tellFailure(result.error, spans.length);
      else this.tellSuccess();
      done(result);
    });
  }

  shutdown(): Promise<void> {
    return this.inner.shutdown();
  }

  private tellFailure(error: unknown, spans: number): void {
    if (performance.now() - this.toldAt < TELL_EVERY_MS) return;
    this.toldAt = performance.now();
    this.isTold = true;
    // An HTTP status, or a code of the network; a text is not logged, because the collector may have put anything there.
    const { code } = (error ?? {}) as NodeJS.ErrnoException;
    this.log.warn(
      { coletor: this.host, code, spans },
      'o coletor não recebe os traces, que se perdem; o serviço segue',
    );
  }

  private tellSuccess(): void {
    if (!this.isTold) return;
    this.isTold = false;
    this.log.info({ coletor: this.host }, 'o coletor voltou a receber os traces');
  }
}
