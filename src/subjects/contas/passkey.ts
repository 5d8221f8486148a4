/**
 * Passkeys (WebAuthn) as a second factor: what the browser is asked, and whether its answer holds. The only importer of
 * @simplewebauthn/server, whose 300 modules are loaded when somebody first uses a passkey.
 */
import type { verifyAuthenticationResponse, verifyRegistrationResponse } from '@simplewebauthn/server';

/** A key as it is kept. `id`: credential identifier in Base64url; `chave`: public key in COSE. */
export type Passkey = {
  readonly id: string;
  readonly chave: Uint8Array<ArrayBuffer>;
  /** Uses that the authenticator counts; 0 where it counts none. */
  readonly contador: number;
  readonly transportes: readonly string[];
};

/** Where keys are made and used: the origin of the console. A key serves no other name. */
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

/** What the browser is to make a key of. `challenge`: to be kept until its answer. */
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

/** The key that a browser has made; undefined: its answer does not hold. */
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

/** What the browser is asked to prove. */
export async function askPasskey(place: Place, known: readonly Known[]) {
  const { generateAuthenticationOptions } = await loadWebauthn();
  const options = await generateAuthenticationOptions({
    rpID: nameOf(place),
    allowCredentials: listed(known),
    userVerification: 'preferred',
  });
  return { options, challenge: options.challenge };
}

/** The new count of the key that has proved itself; undefined: the answer does not hold, or the key was copied. */
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

/** The library throws what is wrong with an answer; to whom it came it is a refusal. */
async function held<Verified>(verify: () => Promise<Verified>): Promise<Verified | undefined> {
  try {
    return await verify();
  } catch {
    return undefined;
  }
}
