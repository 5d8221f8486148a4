/** `nfse guarda …`: months past their legal time, and holds. */

import {
  askedWrongly,
  byHand,
  type CliWorld,
  type Command,
  inMunicipio,
  JSON_OPTION,
  nameOperator,
  refuseAsked,
  textOf,
  type Values,
} from '../../base/terminal/command.ts';
import { jsonText, printable, tableLines } from '../../base/terminal/text.ts';
import { groupDigits } from '../../fiscal/group-digits.ts';
import { BRASILIA, momentIn, nameMes } from '../../fiscal/moment.ts';
import { type Contado, eliminateMes, holdMes, listHolds, rehearseElimination, releaseMes } from './eliminar.ts';

const HOLD_OPTIONS = {
  municipio: { takes: 'SLUG', help: 'município do mês' },
  motivo: { takes: 'TEXTO', help: 'por quê (obrigatório); fica no histórico' },
} as const;

export const GUARDA_COMMANDS: readonly Command[] = [
  {
    name: 'guarda eliminar',
    arguments: 'AAAA-MM',
    summary: 'Elimina um mês de que passou o prazo da lei, do banco e do arquivo, de todos os municípios.',
    options: {
      ensaio: { help: 'só conta o que seria eliminado, ou diz o que impede' },
      autorizacao: { takes: 'TEXTO', help: 'o ato que autoriza a eliminação; sem ele nada é eliminado' },
    },
    run: eliminar,
  },
  {
    name: 'guarda reter',
    arguments: 'AAAA-MM',
    summary: 'Retém um mês de um município: nada dele se elimina até que seja liberado.',
    options: HOLD_OPTIONS,
    run: (world, values, [mes]) => mover(world, values, mes!, holdMes, 'retido: nada dele se elimina'),
  },
  {
    name: 'guarda liberar',
    arguments: 'AAAA-MM',
    summary: 'Libera um mês retido.',
    options: HOLD_OPTIONS,
    run: (world, values, [mes]) => mover(world, values, mes!, releaseMes, 'liberado'),
  },
  {
    name: 'guarda listar',
    summary: 'Lista os meses retidos, com o motivo e quem os reteve.',
    options: JSON_OPTION,
    run: listar,
  },
];

async function eliminar(world: CliWorld, values: Values, [mes]: readonly string[]): Promise<number> {
  const autorizacao = textOf(values, 'autorizacao')?.trim();
  if (values['ensaio'] !== true && !autorizacao) {
    return askedWrongly(
      world,
      'Dê antes --ensaio, que só conta. Para eliminar, --autorizacao TEXTO nomeia o ato que o autoriza (Lei 8.159/1991, art. 9º).\n',
    );
  }
  const by = { quem: nameOperator(), via: 'comando', motivo: autorizacao } as const;
  const done = await world.registry((registry) =>
    values['ensaio'] === true ? rehearseElimination(registry, mes!) : eliminateMes(registry, mes!, by),
  );
  if ('problem' in done) return refuseAsked(world, done.problem);
  world.out(describeContado(done));
  world.out(values['ensaio'] === true ? `Ensaio: nada de ${mes} foi eliminado.\n` : `${mes} foi eliminado.\n`);
  return 0;
}

function describeContado({ municipios, arquivos, tabelas }: Contado): string {
  const rows = municipios.flatMap(({ tenant, linhas }) =>
    Object.entries(linhas).flatMap(([table, count]) => (count === 0 ? [] : [[tenant, table, groupDigits(count)]])),
  );
  return `${[...tableLines(rows), `${groupDigits(arquivos)} arquivos`, `${groupDigits(tabelas)} tabelas`].join('\n')}\n`;
}

type Move = typeof holdMes;

function mover(world: CliWorld, values: Values, mes: string, move: Move, done: string): Promise<number> {
  return inMunicipio(world, values, 'de que município é o mês', async (municipio) => {
    if (textOf(values, 'motivo') === undefined) return askedWrongly(world, 'Falta --motivo TEXTO: diga por quê.\n');
    const refused = await world.registry((registry) => move(registry, municipio, mes, byHand(values)));
    if (refused !== undefined) return refuseAsked(world, refused.problem);
    world.out(`${mes} de ${municipio} está ${done}.\n`);
    return 0;
  });
}

async function listar(world: CliWorld, values: Values): Promise<number> {
  const held = (await world.registry(listHolds)).map(({ tenant, mes, motivo, quem, desde }) => ({
    mes: nameMes(mes),
    municipio: tenant,
    desde: desde.toISOString(),
    quem,
    motivo,
  }));
  if (values['json'] === true) {
    world.out(jsonText(held));
    return 0;
  }
  const rows = held.map(({ mes, municipio, desde, quem, motivo }) => [
    ...[mes, municipio, momentIn(BRASILIA, Date.parse(desde)).date],
    ...[printable(quem), printable(motivo)],
  ]);
  world.out(rows.length === 0 ? 'Nenhum mês está retido.\n' : `${tableLines(rows).join('\n')}\n`);
  return 0;
}
