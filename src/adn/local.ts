/**
 * The local authority of the sandbox: it authorises what the service has issued, and nothing leaves the host (D-53).
 * It keeps nothing, so a note found half way is simply authorised again.
 */
import type { Adn } from './adn.ts';

const BATCH_MAX = 500;

export function localAdn(): Adn {
  return {
    wantsDocuments: false,
    batchMax: BATCH_MAX,
    share: async (_tenant, documents) =>
      new Map(documents.map(({ chave_acesso }) => [chave_acesso, { kind: 'accepted', nsu: undefined }])),
    find: async (_tenant, notas) => new Map(notas.map(({ chave_acesso }) => [chave_acesso, { kind: 'absent' }])),
    pauseMs: () => 0,
  };
}
