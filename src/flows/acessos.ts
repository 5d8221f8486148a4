/** Who entered the console, who tried, and who was refused what: written into the trail of each municipality that the account works for. */
import type { Conta } from '../store/contas.ts';
import { tellTrouble } from './store-trouble.ts';
import type { World } from './world.ts';

type AcessoWorld = Pick<World, 'store' | 'now' | 'log'>;

/** Refusals of an account that the trail takes in a minute; the rest is counted in the log alone. */
const REFUSED_MAX = 60;

/** Writes down what an account did at the entrance. It is waited for by nobody, and fails for nobody. */
export function recordAcesso(
  world: AcessoWorld,
  conta: Conta,
  acao: string,
  { rede }: { readonly rede: string },
): void {
  void writeAcesso(world, conta, Object.keys(conta.papeis), acao, { rede });
}

/** Writes down that an account asked for what it may not: in the trail of `tenant`, or where it has none there, in those of its own. */
export async function recordRefusal(
  world: AcessoWorld,
  conta: Conta,
  tenant: string | undefined,
  what: { readonly pedido: string; readonly motivo: string; readonly rede: string },
): Promise<void> {
  world.log.warn({ conta: conta.id, ...what }, 'o painel recusou um pedido de quem está dentro dele');
  const bucket = [{ rede: conta.id, tamanho: REFUSED_MAX, custo: 1 }];
  const [taken] = await world.store.contagens.take('recusas do painel', bucket);
  if (taken?.coube === false) return;
  const tenants = tenant === undefined ? Object.keys(conta.papeis) : [tenant];
  await writeAcesso(world, conta, tenants, 'recusado', what);
}

async function writeAcesso(
  { store, now, log }: AcessoWorld,
  { login }: Conta,
  tenants: readonly string[],
  acao: string,
  depois: object,
): Promise<void> {
  const ato = { em: now(), quem: login, via: 'painel', objeto: 'acesso', chave: login, acao, depois } as const;
  try {
    for (const tenant of tenants) await store.atos.record(tenant, [ato]);
  } catch (error) {
    tellTrouble(log, error, {}, 'um acesso ao painel não pôde ser escrito na trilha');
  }
}
