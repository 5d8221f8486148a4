/** An identity provider of the town hall that speaks OpenID Connect as a real one does; users log in with a name alone. */

import { generateKeyPairSync } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import Provider from 'oidc-provider';
import type { ProviderSettings } from '../../src/subjects/contas/provider.ts';
import { onEnd } from './cleanup.ts';
import { ownPort } from './ports.ts';

/** The provider's data on a user, and whether it asked for a second factor. */
export type PessoaDoProvedor = { readonly email: string; readonly verificado: boolean; readonly segundoFator: boolean };

/** `volta`: the redirect address of the client. */
export async function startProvedor(
  volta: string,
  pessoas: Readonly<Record<string, PessoaDoProvedor>>,
  host: 'localhost' | '127.0.0.1' = 'localhost',
  /** Whether the published keys are those of the signatures. */
  isHonest = true,
): Promise<ProviderSettings> {
  const port = await ownPort();
  const emissor = `http://${host}:${port}`;
  const cliente = { client_id: 'painel', client_secret: 'segredo-do-painel-de-teste', redirect_uris: [volta] };
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const provider = new Provider(emissor, {
    clients: [cliente],
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), use: 'sig' }] },
    cookies: { keys: ['chave-dos-cookies-de-teste'] },
    claims: { openid: ['sub', 'amr'], email: ['email', 'email_verified'] },
    findAccount: (_ctx, accountId) => ({
      accountId,
      claims: async () => ({
        sub: accountId,
        email: pessoas[accountId]?.email,
        email_verified: pessoas[accountId]?.verificado,
      }),
    }),
    interactions: { url: (_ctx, { uid }) => `/interacao/${uid}` },
    features: { devInteractions: { enabled: false } },
    // The provider asks for no consent.
    loadExistingGrant: async ({ oidc }) => {
      const grant = new oidc.provider.Grant({ clientId: oidc.client!.clientId, accountId: oidc.session!.accountId! });
      grant.addOIDCScope('openid email profile');
      await grant.save();
      return grant;
    },
  });
  const answer = provider.callback();
  const strange = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ format: 'jwk' });
  const server = createServer(async (request, response) => {
    if (!isHonest && request.url === '/jwks') {
      response.setHeader('Content-Type', 'application/json');
      return response.end(JSON.stringify({ keys: [{ ...strange, use: 'sig', alg: 'RS256' }] }));
    }
    if (!request.url!.startsWith('/interacao/')) return answer(request, response);
    if (request.method !== 'POST') {
      response.setHeader('Content-Type', 'text/html; charset=utf-8');
      return response.end(
        `<form method="post" action="${request.url}"><input name="nome"><button>Entrar</button></form>`,
      );
    }
    const accountId = await nameIn(request);
    const amr = pessoas[accountId]!.segundoFator ? ['pwd', 'mfa'] : ['pwd'];
    return provider.interactionFinished(request, response, { login: { accountId, amr } });
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  onEnd(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { emissor, cliente: cliente.client_id, segredo: cliente.client_secret };
}

async function nameIn(request: IncomingMessage): Promise<string> {
  return new URLSearchParams(await text(request)).get('nome') ?? '';
}
