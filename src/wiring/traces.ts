/**
 * Sends traces to the collector of `OTEL_EXPORTER_OTLP_ENDPOINT`. Without one nothing of OpenTelemetry is loaded. The SDK reads the other
 * standard variables itself. A collector that does not answer costs its spans and nothing else: the queue is bounded (2,048 spans), the
 * oldest trouble is told once, and the end waits for nobody.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace-node';
import { beginTracing } from '../base/traces/traces.ts';
import { type Config, ConfigError } from './config.ts';
import type { Logger } from './log.ts';

/** The last spans are waited for so long at the end; of a collector that did not take those before, this long. */
const END_MAX_MS = 1_000;
const END_FAILING_MS = 100;
/** A collector that comes and goes is told of this often at most. */
const TELL_EVERY_MS = 600_000;

export type Traces = {
  /** Whether there are any: then requests to the collector may be under way after the end, and keep the process from ending by itself. */
  readonly areSent: boolean;
  /** Sends what is left. */
  end(): Promise<void>;
};

const NO_TRACES: Traces = { areSent: false, end: async () => undefined };

/** To be called in each process and thread that works, before it begins. `thread`: what it is, in Portuguese. */
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
  // Which spans work is in, `base/traces/traces.ts` keeps itself.
  provider.register({ contextManager: null });
  await beginTracing();
  return {
    areSent: true,
    end: async () => {
      const ended = provider.shutdown().catch(() => undefined);
      await Promise.race([ended, pause(exporter.isFailing ? END_FAILING_MS : END_MAX_MS)]);
    },
  };
}

/** Optional packages: who installed without them is told. */
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

/** Tells in the log when spans are not taken, and when they are again. The SDK itself would say nothing. */
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
      // 0: taken.
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
    // A status of HTTP, or a code of the network; a text may be anything that the collector answered.
    const { code } = (error ?? {}) as NodeJS.ErrnoException;
    this.log.warn(
      { coletor: this.host, code, spans },
      'o coletor não recebe os rastros, que se perdem; o serviço segue',
    );
  }

  private tellSuccess(): void {
    if (!this.isTold) return;
    this.isTold = false;
    this.log.info({ coletor: this.host }, 'o coletor voltou a receber os rastros');
  }
}
