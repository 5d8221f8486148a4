/** Who entered the console, who tried, and who was refused what: written into the trail of each municipality that the account works for. */

import { tellTrouble } from '../../base/world/store-trouble.ts';
import type { World } from '../../base/world/world.ts';
import type { Conta } from './contas.rows.ts';

type AcessoWorld = Pick<World, 'store' | 'now' | 'log'>;

/** Acts a minute that the trail takes of one account; the rest is in the log. `ACESSOS_MAX`: of each kind at the entrance. */
const REFUSED_MAX = 60;
const ACESSOS_MAX = 10;

/** Writes down what an account did at the entrance. It is waited for by nobody, and fails for nobody. */
export function recordAcesso(
  world: AcessoWorld,
  conta: Conta,
  acao: string,
  { rede }: { readonly rede: string },
): void {
  // Without the name of a passkey: a flood of one kind of act hides none of another.
  const kind = acao.split(' ', 3).join(' ');
  void writeAcesso(world, conta, Object.keys(conta.papeis), { acao, depois: { rede } }, [kind, ACESSOS_MAX]);
}

/** Writes down that an account asked for what it may not: in the trail of `tenant`, or where it has none there, in those of its own. */
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
    tellTrouble(log, error, {}, 'um acesso ao painel não pôde ser escrito na trilha');
  }
}
