// Records the OpenTelemetry modules that a process and its threads load: preloaded by `NODE_OPTIONS=--import`.
import { appendFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

registerHooks({
  load: (url, context, next) => {
    if (/@opentelemetry\//.test(url)) appendFileSync(process.env.NFSE_TEST_LOADED, `${url}\n`);
    return next(url, context);
  },
});
