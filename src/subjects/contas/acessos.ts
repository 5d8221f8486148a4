/** Entries, failed attempts and refusals of the console. Each is recorded in the trail of each municipality that the account works for. */

import { tellTrouble } from '../../base/world/store-trouble.ts';
import type { World } from '../../base/world/world.ts';
import type { Conta } from './contas.rows.ts';

type AcessoWorld = Pick<World, 'store' | 'now' | 'log'>;

/** Acts a minute that the trail takes of one account; the rest is in the log. `ACESSOS_MAX`: of each kind at the entrance. */
const REFUSED_MAX = 60;
const ACESSOS_MAX = 10;

/** Records an account's act at the entrance. No caller waits for the write, and its failure affects no caller. */
export function recordAcesso(
  world: AcessoWorld,
  conta: Conta,
  acao: string,
  { rede }: { readonly rede: string },
): void {
  // The kind leaves out the name of a passkey: a flood of one kind of act hides none of another.
  const kind = acao.split(' ', 3).join(' ');
  void writeAcesso(world, conta, Object.keys(conta.papeis), { acao, depois: { rede } }, [kind, ACESSOS_MAX]);
}

/** Records a forbidden request of an account: in the trail of `tenant`, or of its own municipalities if none is given. */
export async function recordRefusal(
  world: AcessoWorld,
  conta: Conta,
  tenant: string | undefined,
  what: { readonly pedido: string; readonly motivo: string; readonly rede: string },
): Promise<void> {
  const tenants = tenant === undefined ? Object.keys(conta.papeis) : [tenant];
  world.log.warn({ conta: conta.id, ...what }, 'o painel recusou um pedido de quem está dentro dele');
  await writeAcesso(world, conta, tenants, { acao: 'recusado', depois: what }, ['pedido', REFUSED_MAX]);
}

async function writeAcesso(
  { store, now, log }: AcessoWorld,
  { id, login }: Conta,
  tenants: readonly string[],
  what: { readonly acao: string; readonly depois: object },
  [kind, tamanho]: readonly [kind: string, max: number],
): Promise<void> {
  const ato = { em: now(), quem: login, via: 'painel', objeto: 'acesso', chave: login, ...what } as const;
  try {
    const [taken] = await store.contagens.take('acessos do painel', [{ rede: `${id} ${kind}`, tamanho, custo: 1 }]);
    if (taken?.coube === false) {
      log.warn({ conta: id, ...what }, 'a trilha não toma mais acessos desta conta neste minuto');
      return;
    }
    for (const tenant of tenants) await store.atos.record(tenant, [ato]);
  } catch (error) {
    tellTrouble(log, error, {}, 'um acesso ao painel não pôde ser escrito no histórico');
  }
}
