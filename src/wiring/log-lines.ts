/** The lines of the log for a person at a terminal; a pipe gets JSON (D-828). */

/** The name of each level of pino. */
const LEVELS: Readonly<Record<number, string>> = {
  20: 'Detalhe',
  30: 'Informação',
  40: 'Aviso',
  50: 'Erro',
  60: 'Erro grave',
};

type Entry = {
  readonly level: number;
  readonly time: string;
  readonly msg?: string;
  readonly err?: { readonly type?: string; readonly message?: string; readonly code?: string; readonly stack?: string };
};

/** One line of JSON as a line to read: the local time, the level in words, the message, its data, and the place of an error. */
export function describeEntry(line: string): string {
  const { level, time, msg, err, ...data } = JSON.parse(line) as Entry;
  const about = Object.entries(data).map(([name, value]) => `${name}=${textOf(value)}`);
  const clock = new Date(time).toLocaleTimeString('pt-BR');
  const text = [msg, ...(err === undefined ? [] : [describeErr(err)])].filter(Boolean).join(': ');
  const details = about.length === 0 ? '' : ` (${about.join(', ')})`;
  const frames = err?.stack?.split('\n').filter((one) => /^\s+at /.test(one)) ?? [];
  return `${[`${clock} ${LEVELS[level] ?? level}: ${text}${details}`, ...frames].join('\n')}\n`;
}

function describeErr({ type, message, code }: NonNullable<Entry['err']>): string {
  return [message ?? type, code].filter(Boolean).join(' ');
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
