/** Months after their legal time: the elimination, its authority, and the holds that prevent it. */

import { MES_ELIMINADO, type NovoAto } from '../../base/book/atos.ts';
import { municipalMoment } from '../../base/world/gather-facts.ts';
import { municipioNamed, type RegistryWorld } from '../../base/world/municipios.ts';
import { type PorMao, type Problem, readMotivo } from '../../base/world/operator.ts';
import { eliminavelDesde } from '../../fiscal/guarda.ts';
import { brazilianDate, nameMes } from '../../fiscal/moment.ts';
import { orProblem, readMes, wrongMes } from './arquivar.ts';
import type { Eliminado, Retencao, Retida } from './eliminar.rows.ts';

/** `arquivos`: number of archive files; `tabelas`: number of tables, which are then empty. */
export type Contado = {
  readonly municipios: readonly Eliminado[];
  readonly arquivos: number;
  readonly tabelas: number;
};

/** Counts the rows of an elimination, or tells why it is not allowed. */
export async function rehearseElimination(world: RegistryWorld, text: string): Promise<Contado | Problem> {
  const mes = readMes(text);
  if (mes === undefined) return wrongMes(text);
  const why = await whyKept(world, mes);
  if (why !== undefined) return { problem: why };
  const { eliminacao } = world.store;
  return {
    municipios: await eliminacao.count(mes),
    arquivos: await eliminacao.countFiles(mes),
    tabelas: await eliminacao.countTabelas(mes),
  };
}

/**
 * Eliminates a month of all municipalities. `motivo`: the act that authorises it. A repeated call continues an interrupted one: the archive
 * files go last.
 */
export async function eliminateMes(world: RegistryWorld, text: string, by: PorMao): Promise<Contado | Problem> {
  const mes = readMes(text);
  if (mes === undefined) return wrongMes(text);
  const { eliminacao, arquivo } = world.store;
  if ((await eliminacao.countFiles(mes)) > 0 && arquivo.lugar() === undefined) return { problem: NOWHERE };
  const known = await eliminacao.inspect(mes);
  if (known !== undefined && known.eliminado_em !== null) {
    return finishElimination(world, mes, []);
  }
  const why = await whyKept(world, mes);
  if (why !== undefined) return { problem: why };
  const now = world.now();
  const atoOf = ({ linhas }: Eliminado): NovoAto => ({
    ...{ em: now, quem: by.quem, via: by.via, objeto: 'guarda', chave: text, acao: MES_ELIMINADO },
    ...{ motivo: by.motivo, depois: linhas },
  });
  const { ultimoAno } = known!;
  const work = { now, por: by.motivo ?? '', ultimoAno, atoOf };
  const done = await orProblem(async () => ({ municipios: await eliminacao.eliminate(mes, work) }));
  if ('problem' in done) return done;
  const { municipios } = done;
  if (municipios === undefined)
    return { problem: `Algo de ${text} mudou neste instante, e nada foi eliminado. Dê o comando outra vez.` };
  return finishElimination(world, mes, municipios);
}

/** Removes the files, which no transaction can restore, and then the tables, whose drop waits for open transactions. */
function finishElimination(
  { store: { eliminacao } }: RegistryWorld,
  mes: number,
  municipios: readonly Eliminado[],
): Promise<Contado | Problem> {
  return orProblem(async () => {
    const arquivos = await eliminacao.removeFiles(mes);
    return { municipios, arquivos, tabelas: await eliminacao.dropTabelas(mes) };
  });
}

const NOWHERE =
  'Há arquivos desse mês, e NFSE_ARQUIVO não diz onde estão: dê-a a este comando, para que sejam apagados também.';

async function whyKept(world: RegistryWorld, mes: number): Promise<string | undefined> {
  const name = nameMes(mes);
  const found = await world.store.eliminacao.inspect(mes);
  if (found === undefined) return `Não há nada de ${name} neste banco.`;
  const { eliminado_em, ultimoAno, retencoes, antes } = found;
  if (eliminado_em !== null)
    return `${name} foi eliminado em ${brazilianDate(municipalMoment(undefined, eliminado_em.getTime()).date)}.`;
  const desde = eliminavelDesde(ultimoAno);
  if (municipalMoment(undefined, world.now()).date < desde) {
    return `${name} se guarda até ${brazilianDate(desde)}: o que é de ${ultimoAno} pode ser lançado até cinco anos depois do fim desse ano (CTN, art. 173, I), e cobrado até cinco anos depois de lançado (art. 174). Nada foi eliminado.`;
  }
  if (retencoes.length > 0) {
    const each = retencoes.map(({ tenant, motivo, quem }) => `${tenant}: ${motivo} (${quem})`).join('; ');
    return `${name} está retido, e nada dele se elimina: ${each}. nfse guarda liberar o libera.`;
  }
  const underWay = await world.store.arquivo.listEmAndamento(mes);
  if (underWay.length > 0) {
    const each = underWay.map(({ tenant, tipo, quantos }) => `${tenant}: ${quantos} (${tipo})`).join(', ');
    return `${name} ainda tem o que está em andamento, e nada dele se elimina: ${each}.`;
  }
  if (antes.length === 0) return undefined;
  const each = antes.map((one) => `${nameMes(one.mes)} (${one.quantos})`).join(', ');
  return `Em ${name} foram registrados eventos de notas de outros meses, que se eliminam antes: ${each}.`;
}

const NOT_HELD: Readonly<Record<Exclude<Retida, 'retida'>, (mes: string, slug: string) => string>> = {
  ja_retida: (mes, slug) => `${mes} de ${slug} já está retido; nfse guarda listar diz por quê.`,
  eliminada: (mes) => `${mes} já foi eliminado: não há o que reter.`,
  ocupada: (mes) =>
    `${mes} está sendo eliminado ou arquivado neste instante, e não foi retido. Dê o comando de novo quando isso terminar; se a eliminação é um engano, interrompa-a antes (Ctrl-C).`,
};

/** Holds a month of a municipality: nothing of it is eliminated until its release. Undefined: done. */
export async function holdMes(
  world: RegistryWorld,
  slug: string,
  text: string,
  by: PorMao,
): Promise<Problem | undefined> {
  const asked = await readHold(world, slug, text, by);
  if ('problem' in asked) return asked;
  const { mes, motivo, ato } = asked;
  const retencao = { tenant: slug, mes, motivo, quem: by.quem, desde: new Date(world.now()) };
  const done = await world.store.eliminacao.hold(retencao, ato('mês retido'));
  return done === 'retida' ? undefined : { problem: NOT_HELD[done](text, slug) };
}

/** Undefined: done. */
export async function releaseMes(
  world: RegistryWorld,
  slug: string,
  text: string,
  by: PorMao,
): Promise<Problem | undefined> {
  const asked = await readHold(world, slug, text, by);
  if ('problem' in asked) return asked;
  const isDone = await world.store.eliminacao.release(slug, asked.mes, asked.ato('mês liberado'));
  return isDone ? undefined : { problem: `${text} de ${slug} não está retido.` };
}

type Hold = { readonly mes: number; readonly motivo: string; readonly ato: (acao: string) => NovoAto };

async function readHold(world: RegistryWorld, slug: string, text: string, by: PorMao): Promise<Hold | Problem> {
  const mes = readMes(text);
  if (mes === undefined) return wrongMes(text);
  const read = readMotivo({ ...by, motivo: by.motivo ?? '' }, 'Diga o processo ou a razão.');
  if ('problem' in read) return read;
  const { tenant } = await municipioNamed(world, slug);
  const motivo = read.motivo ?? '';
  const ato = (acao: string): NovoAto => ({
    ...{ em: world.now(), quem: by.quem, via: by.via, motivo, objeto: 'guarda', chave: text, acao },
    depois: { municipio: tenant },
  });
  return { mes, motivo, ato };
}

export function listHolds(world: RegistryWorld): Promise<readonly Retencao[]> {
  return world.store.eliminacao.listRetencoes();
}
