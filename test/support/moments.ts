/** The expression of a moment moved by an interval. A moment in UTC depends on no setting, as Citus demands of an update. */
export function movedBy(column: string, interval: string): string {
  return `(${column} at time zone 'utc' + interval '${interval}') at time zone 'utc'`;
}
