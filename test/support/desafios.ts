/** The challenges of a refusal with 401, read as RFC 9110 (11.6.1) writes them. */
import assert from 'node:assert/strict';

export type Challenge = { readonly scheme: string; readonly params: Readonly<Record<string, string>> };

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const PARAM = `${TOKEN}=(?:${TOKEN}|"(?:[^"\\\\]|\\\\.)*")`;
const CHALLENGE = new RegExp(`(${TOKEN}) (${PARAM}(?:, ${PARAM})*)(?:, |$)`, 'y');

/** Throws when there is none, or when a part of the header is no challenge. */
export function challengesIn(headers: Headers): readonly Challenge[] {
  const text = headers.get('www-authenticate');
  assert.ok(text !== null, 'a refusal with 401 has WWW-Authenticate');
  const found: Challenge[] = [];
  for (CHALLENGE.lastIndex = 0; CHALLENGE.lastIndex < text.length; ) {
    const [, scheme, params] = CHALLENGE.exec(text) ?? assert.fail(`no challenge: ${text}`);
    const pairs = params!.matchAll(/([^ ,=]+)=(?:"([^"]*)"|([^ ,"]+))/g);
    found.push({
      scheme: scheme!,
      params: Object.fromEntries([...pairs].map(([, name, quoted, bare]) => [name, quoted ?? bare])),
    });
  }
  return found;
}
