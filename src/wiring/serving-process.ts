/**
 * The entry point of an answering process. Signals are for the process that started it, which tells it by message when to end. It ends at
 * once without that process, as after a crash.
 */
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
process.on('disconnect', () => process.exit(1));
await import('./serve-handed.ts');
