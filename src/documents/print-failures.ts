/** The channel for failures of the thread that prints. The log of each thread subscribes; the channel itself loads no module for it. */
import { channel } from 'node:diagnostics_channel';

/** Each message is the error that ended the thread. */
export const PRINT_FAILURES = channel('nfse:impressao');
