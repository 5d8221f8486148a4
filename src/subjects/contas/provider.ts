/** Identifies a person by an identity provider that speaks OpenID Connect (Keycloak, gov.br). The only importer of openid-client. */
import type * as Oidc from 'openid-client';

export type ProviderSettings = {
  /** Address of the issuer, at which its metadata is found. */
  readonly emissor: string;
  readonly cliente: string;
  readonly segredo: string;
};

/** A person as the provider confirms them. */
export type ProvedPerson = {
  readonly emissor: string;
  readonly sujeito: string;
  /** The provider has asked for more than one factor (RFC 8176, `mfa`). */
  readonly hasSecondFactor: boolean;
};

/** Data of a request that must be kept until its answer; a text for the session. */
type Asked = { readonly state: string; readonly nonce: string; readonly verifier: string };

export type Provider = {
  /** The address for the browser, and the data to keep until it comes back. Throws if the provider does not answer. */
  ask(back: string): Promise<{ readonly url: string; readonly kept: string }>;
  /** The person who has come back at `url`; undefined: the answer does not hold. */
  read(url: string, kept: string): Promise<ProvedPerson | undefined>;
};

const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** A provider; its metadata is read at the first request, and again after a failure. */
export function openProvider({ emissor, cliente, segredo }: ProviderSettings): Provider {
  const server = new URL(emissor);
  // A provider without TLS is allowed on this machine only, for tests.
  const isInsecure = server.protocol === 'http:' && LOOPBACK.test(server.hostname);
  const read = async () => {
    const oidc = await import('openid-client');
    // The signature of the ID token is checked as well as the connection that it came by.
    const execute = [oidc.enableNonRepudiationChecks, ...(isInsecure ? [oidc.allowInsecureRequests] : [])];
    return { oidc, config: await oidc.discovery(server, cliente, segredo, undefined, { execute }) };
  };
  let known: ReturnType<typeof read> | undefined;
  const discover = (): ReturnType<typeof read> => {
    known ??= read().catch((error) => {
      known = undefined;
      throw error;
    });
    return known;
  };
  return {
    ask: async (back) => {
      const { oidc, config } = await discover();
      const kept: Asked = {
        state: oidc.randomState(),
        nonce: oidc.randomNonce(),
        verifier: oidc.randomPKCECodeVerifier(),
      };
      const url = oidc.buildAuthorizationUrl(config, {
        redirect_uri: back,
        scope: 'openid',
        state: kept.state,
        nonce: kept.nonce,
        code_challenge: await oidc.calculatePKCECodeChallenge(kept.verifier),
        code_challenge_method: 'S256',
      });
      return { url: url.href, kept: JSON.stringify(kept) };
    },
    read: async (url, kept) => {
      const { state, nonce, verifier } = JSON.parse(kept) as Asked;
      const { oidc, config } = await discover();
      try {
        const tokens = await oidc.authorizationCodeGrant(config, new URL(url), {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
        });
        return personOf(tokens.claims()!);
      } catch (error) {
        if (error instanceof oidc.ClientError || error instanceof oidc.AuthorizationResponseError) return undefined;
        if (error instanceof oidc.ResponseBodyError) return undefined;
        throw error;
      }
    },
  };
}

function personOf({ iss, sub, amr }: Oidc.IDToken): ProvedPerson {
  return { emissor: iss, sujeito: sub, hasSecondFactor: Array.isArray(amr) && amr.includes('mfa') };
}
