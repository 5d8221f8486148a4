/**
 * Instants in the zone of a municipality (D-04). Brazil has four zones; Acre, western Amazonas and Fernando de Noronha are among them.
 * Pure: the instant is an argument, and no clock is read. Whole seconds.
 */

export type Moment = {
  /** `YYYY-MM-DD`. */
  readonly date: string;
  /** `HH:MM:SS`. */
  readonly time: string;
  /** `-03:00`. */
  readonly offset: string;
};

/** Days of a month by its number, from 1; undefined if it does not exist. */
export function daysIn(year: number, month: number): number | undefined {
  const february = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1];
}

/** Whether a text is a day of the calendar, `YYYY-MM-DD`. XML and the database have no year zero. */
export function isDay(text: string): boolean {
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text) ?? [];
  if (day === undefined || year === '0000') return false;
  return Number(day) >= 1 && Number(day) <= (daysIn(Number(year), Number(month)) ?? 0);
}

/** The zone of Brasília, used if no municipality is named. */
export const BRASILIA = 'America/Sao_Paulo';

/** Lengths of time in milliseconds, each declared here alone. */
export const SECOND_MS = 1_000;
export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;

const formatters = new Map<string, Intl.DateTimeFormat>();
const offsets = new Map<string, number>();

/** Offset of a zone in milliseconds; zone rules change on the hour, so each hour is looked up once. */
function offsetOf(instant: number, zone: string): number {
  const hour = Math.floor(instant / HOUR_MS);
  const key = `${zone} ${hour}`;
  const known = offsets.get(key);
  if (known !== undefined) return known;
  const make = () => new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'longOffset' });
  const formatter = formatters.getOrInsertComputed(zone, make);
  const name = formatter.formatToParts(hour * HOUR_MS).find((part) => part.type === 'timeZoneName')?.value ?? 'GMT';
  const match = /GMT([+-])(\d{2}):(\d{2})/.exec(name);
  const minutes = match === null ? 0 : Number(match[2]) * 60 + Number(match[3]);
  const offset = (match?.[1] === '-' ? -minutes : minutes) * 60_000;
  if (offsets.size > 1000) offsets.clear();
  offsets.set(key, offset);
  return offset;
}

/** The last result: hundreds of notes are issued within one second of one zone. */
let last: { readonly zone: string; readonly second: number; readonly moment: Moment } | undefined;

/** The instant (milliseconds since 1970) as local time of the zone (IANA name), in whole seconds. */
export function momentIn(zone: string, instant: number): Moment {
  const second = Math.floor(instant / 1000);
  if (last?.second !== second || last.zone !== zone) last = { zone, second, moment: wallClock(zone, instant) };
  return last.moment;
}

function wallClock(zone: string, instant: number): Moment {
  const offset = offsetOf(instant, zone);
  const text = new Date(instant + offset).toISOString();
  const minutes = Math.abs(offset) / 60_000;
  const hh = String(Math.floor(minutes / 60)).padStart(2, '0');
  const mm = String(minutes % 60).padStart(2, '0');
  return { date: text.slice(0, 10), time: text.slice(11, 19), offset: `${offset < 0 ? '-' : '+'}${hh}:${mm}` };
}

/** `2026-10-05T10:15:30-03:00`: date-times of the layout, of events and of error envelopes. */
export function isoMoment({ date, time, offset }: Moment): string {
  return `${date}T${time}${offset}`;
}

/** `2026-10-05 10:15:30 -0300`: `data_emissao` and `data_protocolo`. */
export function spacedMoment({ date, time, offset }: Moment): string {
  return `${date} ${time} ${offset.replace(':', '')}`;
}

/** `DD/MM/YYYY` of `YYYY-MM-DD`: `data_competencia`. */
export function brazilianDate(date: string): string {
  return `${date.slice(8, 10)}/${date.slice(5, 7)}/${date.slice(0, 4)}`;
}

/** `2026-11` of `202611`. */
export function nameMes(mes: number): string {
  return `${Math.floor(mes / 100)}-${String(mes % 100).padStart(2, '0')}`;
}

/** `11/2026` of `202611`. */
export function brazilianMes(mes: number): string {
  return nameMes(mes).replace(/(.+)-(.+)/, '$2/$1');
}

/** `2026-11` of `11/2026`; another text stays. */
export function isoMes(text: string): string {
  return text.replace(/^(\d{2})\/(\d{4})$/, '$2-$1');
}

/** The date in Brazil of an instant, in Brazilian notation. */
export function formatDayInBrazil(instant: number): string {
  return brazilianDate(momentIn(BRASILIA, instant).date);
}

/** `DD/MM/YYYY HH:MM:SS`: the form for operators. */
export function brazilianMoment({ date, time }: Moment): string {
  return `${brazilianDate(date)} ${time}`;
}

/** Days `YYYY-MM-DD`, both included; a period without `fim` has no end. */
export type Vigencia = { readonly inicio: string; readonly fim: string | undefined };

/** Whether a day lies in a period. */
export function isInForce({ inicio, fim }: Vigencia, data: string): boolean {
  return inicio <= data && (fim === undefined || data <= fim);
}

const LAST_DAY = '9999-12-31';

/** The day so many days after another, both `YYYY-MM-DD`; before it if `days` is negative. The calendar ends with the year 9999. */
export function addDays(day: string, days: number): string {
  const moved = new Date(Date.parse(`${day}T00:00:00Z`) + days * DAY_MS).toISOString();
  return moved.startsWith('+') ? LAST_DAY : moved.slice(0, 10);
}

/** The instant, in milliseconds, at which a day `YYYY-MM-DD` begins in a zone. */
export function startOfDay(zone: string, day: string): number {
  const utc = Date.parse(`${day}T00:00:00Z`);
  return utc - offsetOf(utc, zone);
}

const MOMENT = /^(\d{4}-\d{2}-\d{2})T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-](?:0\d|1[0-4]):[0-5]\d)$/;

/** Milliseconds of `2026-11-27T10:30:00-03:00`, also with `Z` and with a fraction; undefined for any other text and for an invalid day. */
export function parseMoment(text: string): number | undefined {
  const [, day] = MOMENT.exec(text) ?? [];
  return day === undefined || !isDay(day) ? undefined : Date.parse(text);
}

/** A day in the notation of XML and databases. An offset of the whole day, or a local time, may follow it. */
const DAY =
  /^(\d{4}-\d{2}-\d{2})(?:Z|[+-](?:0\d|1[0-4]):[0-5]\d|T(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?)?$/;

/**
 * The day that an external text names in a zone (D-738). A date and time with an offset is an instant, whose day is that of the zone's
 * local time. An offset after a day alone changes nothing. Undefined for any other text, for an invalid day, and for an instant without a
 * zone.
 */
export function readDay(zone: string | undefined, text: string): string | undefined {
  const instant = parseMoment(text);
  if (instant !== undefined) return zone === undefined ? undefined : momentIn(zone, instant).date;
  const [, day] = DAY.exec(text) ?? [];
  return day !== undefined && isDay(day) ? day : undefined;
}
