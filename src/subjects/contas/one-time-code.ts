/** Codes of six digits that an app makes from a secret and the clock (TOTP, RFC 6238). The only importer of otpauth. */
import { Secret, TOTP } from 'otpauth';

const SECRET_BYTES = 20;
const PERIOD_S = 30;
/** Accepted steps before and after the present one: clocks differ, and typing takes time. */
const WINDOW = 1;

/** A new secret, in Base32. */
export function makeSecret(): string {
  return new Secret({ size: SECRET_BYTES }).base32;
}

function codesOf(secret: string, login: string, issuer: string): TOTP {
  return new TOTP({ issuer, label: login, secret: Secret.fromBase32(secret), period: PERIOD_S });
}

/** The address that an app reads from a QR code. `issuer`: the name under which the app shows the codes. */
export function describeSecret(secret: string, login: string, issuer: string): string {
  return codesOf(secret, login, issuer).toString();
}

/** The code of an instant, in milliseconds since 1970. */
export function codeAt(secret: string, instant: number): string {
  return codesOf(secret, '', '').generate({ timestamp: instant });
}

/** The time step of a code; undefined: it belongs to no accepted step. */
export function stepOf(code: string, secret: string, now: number): number | undefined {
  const token = code.replace(/\s/g, '');
  if (!/^\d{6}$/.test(token)) return undefined;
  const delta = codesOf(secret, '', '').validate({ token, timestamp: now, window: WINDOW });
  return delta === null ? undefined : Math.floor(now / 1000 / PERIOD_S) + delta;
}
