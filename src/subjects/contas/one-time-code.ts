/** Codes of six digits that an app makes from a secret and the clock (TOTP, RFC 6238). The only importer of otpauth. */
import { Secret, TOTP } from 'otpauth';

const SECRET_BYTES = 20;
const PERIOD_S = 30;
/** Steps before and after the one of now: clocks differ, and fingers are slow. */
const WINDOW = 1;

/** A new secret, in Base32. */
export function makeSecret(): string {
  return new Secret({ size: SECRET_BYTES }).base32;
}

function codesOf(secret: string, login: string, issuer: string): TOTP {
  return new TOTP({ issuer, label: login, secret: Secret.fromBase32(secret), period: PERIOD_S });
}

/** The address that an app reads from a QR code. `issuer`: under which it shows the codes. */
export function describeSecret(secret: string, login: string, issuer: string): string {
  return codesOf(secret, login, issuer).toString();
}

/** The step that a code is of, by the clock; undefined: it is none of now. */
export function stepOf(code: string, secret: string, now: number): number | undefined {
  const token = code.replace(/\s/g, '');
  if (!/^\d{6}$/.test(token)) return undefined;
  const delta = codesOf(secret, '', '').validate({ token, timestamp: now, window: WINDOW });
  return delta === null ? undefined : Math.floor(now / 1000 / PERIOD_S) + delta;
}
