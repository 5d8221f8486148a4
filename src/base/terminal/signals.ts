/** The signals that ask a program to end. */
import type { EndSignal } from './command.ts';

/** A second signal within this time counts as the same one. */
const AGAIN_MS = 1_000;

/**
 * The first signal asks the program to end in order, a second one ends it at once. Listening begins before anything is started, because the
 * first process of a container gets no signal otherwise.
 */
export function waitForSignal(): Promise<EndSignal> {
  return new Promise((resolve) => {
    let asked: number | undefined;
    const onSignal = (signal: EndSignal): void => {
      const now = performance.now();
      // One Ctrl-C may arrive twice: from the terminal, and from the parent program.
      if (asked !== undefined && now - asked > AGAIN_MS) process.exit(signal === 'SIGINT' ? 130 : 143);
      asked ??= now;
      resolve(signal);
    };
    process.on('SIGINT', () => onSignal('SIGINT'));
    process.on('SIGTERM', () => onSignal('SIGTERM'));
  });
}
