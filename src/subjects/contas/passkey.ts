/**
 * Passkeys (WebAuthn) as a second factor: the challenge for the browser, and the check of its answer. The only importer of
 * @simplewebauthn/server, whose 300 modules are loaded at the first use of a passkey.
 */
import type { verifyAuthenticationResponse, verifyRegistrationResponse } from '@simplewebauthn/server';

/** A stored key. `id`: credential identifier in Base64url; `chave`: public key in COSE. */
export type Passkey = {
  readonly id: string;
  readonly chave: Uint8Array<ArrayBuffer>;
  /** Uses that the authenticator counts; 0: it counts none. */
  readonly contador: number;
  readonly transportes: readonly string[];
};

/** The origin of the console, for which keys are made. A key is valid for no other name. */
export type Place = { readonly origin: string; readonly issuer: string };

type Known = Pick<Passkey, 'id' | 'transportes'>;
type Registration = Parameters<typeof verifyRegistrationResponse>[0]['response'];
type Authentication = Parameters<typeof verifyAuthenticationResponse>[0]['response'];
type Transport = NonNullable<Parameters<typeof verifyAuthenticationResponse>[0]['credential']['transports']>[number];

const loadWebauthn = () => import('@simplewebauthn/server');

function nameOf({ origin }: Place): string {
  return new URL(origin).hostname;
}

const listed = (known: readonly Known[]) =>
  known.map(({ id, transportes }) => ({ id, transports: transportes as Transport[] }));

/** The options with which the browser creates a key. `challenge`: to be kept until the answer. */
export async function askNewPasskey(place: Place, login: string, nome: string, known: readonly Known[]) {
  const { generateRegistrationOptions } = await loadWebauthn();
  const options = await generateRegistrationOptions({
    rpName: place.issuer,
    rpID: nameOf(place),
    userName: login,
    userDisplayName: nome,
    excludeCredentials: listed(known),
    authenticatorSelection: { residentKey: 'discouraged', userVerification: 'preferred' },
  });
  return { options, challenge: options.challenge };
}

/** The key that a browser has created; undefined: its answer does not hold. */
export async function readNewPasskey(place: Place, challenge: string, answer: unknown): Promise<Passkey | undefined> {
  const { verifyRegistrationResponse: verify } = await loadWebauthn();
  const verified = await held(() =>
    verify({
      response: answer as Registration,
      expectedChallenge: challenge,
      expectedOrigin: place.origin,
      expectedRPID: nameOf(place),
      requireUserVerification: false,
    }),
  );
  if (verified?.verified !== true) return undefined;
  const { id, publicKey, counter, transports = [] } = verified.registrationInfo.credential;
  return { id, chave: publicKey, contador: counter, transportes: transports };
}

/** The options with which the browser proves a key. */
export async function askPasskey(place: Place, known: readonly Known[]) {
  const { generateAuthenticationOptions } = await loadWebauthn();
  const options = await generateAuthenticationOptions({
    rpID: nameOf(place),
    allowCredentials: listed(known),
    userVerification: 'preferred',
  });
  return { options, challenge: options.challenge };
}

/** The new count of the proved key; undefined: the answer does not hold, or the key was copied. */
export async function verifyPasskey(
  place: Place,
  challenge: string,
  answer: unknown,
  known: readonly Passkey[],
): Promise<{ readonly id: string; readonly contador: number } | undefined> {
  const key = known.find(({ id }) => id === (answer as { readonly id?: unknown } | null)?.id);
  if (key === undefined) return undefined;
  const { verifyAuthenticationResponse: verify } = await loadWebauthn();
  const verified = await held(() =>
    verify({
      response: answer as Authentication,
      expectedChallenge: challenge,
      expectedOrigin: place.origin,
      expectedRPID: nameOf(place),
      credential: { id: key.id, publicKey: key.chave, counter: key.contador },
      requireUserVerification: false,
    }),
  );
  return verified?.verified === true ? { id: key.id, contador: verified.authenticationInfo.newCounter } : undefined;
}

/** The library throws the faults of an answer; callers treat them as a refusal. */
async function held<Verified>(verify: () => Promise<Verified>): Promise<Verified | undefined> {
  try {
    return await verify();
  } catch {
    return undefined;
  }
}
