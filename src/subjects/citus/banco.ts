/** The operator's work on the database itself: its distribution over nodes, its size, and the place of a municipality. */

import type { Tabela } from '../../base/pg/distributed.ts';
import { type No, nameNo } from '../../base/pg/distributed.ts';
import type { RegistryWorld } from '../../base/world/municipios.ts';
import type { Problem } from '../../base/world/operator.ts';
import type { Banco } from './banco.rows.ts';

export type { Banco };

const PORTA = 5_432;
const FRAGMENTOS_MAX = 1_024;

export type AskedDistribuicao = {
  /** `host:porta,host:porta` as it was typed. */
  readonly nos: string | undefined;
  readonly fragmentos: string | undefined;
};

/** The effect of a distribution. */
export type Plano = {
  readonly novos: readonly string[];
  /** Tables that are still on one server, in the order of their distribution. */
  readonly tabelas: readonly Tabela[];
  readonly prontas: number;
  readonly fragmentos: number;
};

type Wanted = { readonly nos: readonly No[]; readonly fragmentos: number };

/** Describes the effect of {@link distribuirBanco}, and changes nothing. */
export async function planDistribuicao(world: RegistryWorld, asked: AskedDistribuicao): Promise<Plano | Problem> {
  const wanted = readWanted(world, asked);
  if ('problem' in wanted) return wanted;
  const { banco } = world.store;
  const [known, tabelas] = [await banco.listNos(), await banco.readTabelas()];
  const novos = wanted.nos.map(nameNo).filter((name) => !known.map(nameNo).includes(name));
  if (known.length + novos.length === 0) return { problem: NO_NODES };
  const left = tabelas.filter(({ falta }) => falta);
  const prontas = tabelas.filter(({ distribuida }) => distribuida).length;
  return { novos, tabelas: left, prontas, fragmentos: wanted.fragmentos };
}

const NO_NODES =
  'Nenhum nó é conhecido. Indique-os: --nos host:porta,host:porta, como o coordenador chega a eles e eles uns aos outros.';

/** Distributes the remaining tables; `tell` gets a line for each step. A repeated call continues after an interruption. */
export async function distribuirBanco(
  world: RegistryWorld,
  asked: AskedDistribuicao,
  tell: (line: string) => void,
): Promise<Plano | Problem> {
  const plano = await planDistribuicao(world, asked);
  const wanted = readWanted(world, asked);
  if ('problem' in plano) return plano;
  if ('problem' in wanted) return wanted;
  const { banco } = world.store;
  const services = plano.tabelas.some(({ bytes }) => bytes > 0) ? await banco.countServices() : 0;
  if (services > 0) {
    return {
      problem: `O serviço está no ar neste banco (${services === 1 ? 'uma conexão' : `${services} conexões`}), e entre uma tabela distribuída e a seguinte falharia. Encerre-o, e repita.`,
    };
  }
  const problem = await banco.distribute({ ...wanted, tell });
  return problem === undefined ? plano : { problem };
}

const REPEAT_MOVE = 'quando voltar, dê o mesmo comando de novo, e ele continua.';

/** Moves a municipality to a node, in a shard of its own; returns the earlier node. */
export async function moverMunicipio(
  world: RegistryWorld,
  asked: { readonly tenant: string; readonly para: string },
  tell: (line: string) => void,
): Promise<{ readonly de: string; readonly para: string } | Problem> {
  const { tenant } = asked;
  const { banco, municipios } = world.store;
  const [no] = readNos(asked.para);
  if (no === undefined) return { problem: `--para ${asked.para} não é um nó: escreva host:porta.` };
  if ((await municipios.findBySlug(tenant)) === undefined) return { problem: `Não há município ${tenant}.` };
  const nos = await banco.listNos();
  if (!nos.some((one) => nameNo(one) === nameNo(no))) {
    const known = nos.length === 0 ? 'o banco não está distribuído' : `os nós são ${nos.map(nameNo).join(', ')}`;
    return { problem: `${nameNo(no)} não é um nó deste banco: ${known}.` };
  }
  const place = await banco.placeOf(tenant);
  if (place === undefined) return { problem: 'O banco não está distribuído: nfse banco distribuir o faz.' };
  try {
    await banco.moveMunicipio({ tenant, para: no, tell });
  } catch (error) {
    const silent = await banco.listSilentNos();
    if (silent.length === 0) throw error;
    return { problem: `Não responde: ${silent.map(nameNo).join(', ')}. Nada se perdeu; ${REPEAT_MOVE}` };
  }
  return { de: nameNo(place), para: nameNo(no) };
}

export async function showBanco(world: RegistryWorld): Promise<Banco> {
  return world.store.banco.read();
}

function readWanted(world: RegistryWorld, { nos, fragmentos }: AskedDistribuicao): Wanted | Problem {
  const count = fragmentos === undefined ? world.store.banco.fragmentos : Number(fragmentos);
  if (!Number.isInteger(count) || count < 1 || count > FRAGMENTOS_MAX) {
    return { problem: `--fragmentos ${fragmentos} não é um número de 1 a ${FRAGMENTOS_MAX}.` };
  }
  const named = nos?.split(',').map((text) => text.trim()) ?? [];
  const wrong = named.find((text) => readNos(text).length === 0);
  if (wrong !== undefined) return { problem: `--nos traz ${wrong || 'um nó vazio'}, que não é host:porta.` };
  return { nos: named.flatMap(readNos), fragmentos: count };
}

/** One node as it is typed, `host` or `host:porta`; empty if the text is invalid. */
function readNos(text: string): readonly No[] {
  const [, host, porta] = /^([\w.-]+|\[[\da-fA-F:]+\])(?::(\d{1,5}))?$/.exec(text.trim()) ?? [];
  const number = Number(porta ?? PORTA);
  return host === undefined || number < 1 || number > 65_535
    ? []
    : [{ host: host.replace(/^\[|\]$/g, ''), porta: number }];
}
