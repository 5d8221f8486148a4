/** `nfse nota …`: the municipality looks at a note, and withdraws a substitute that would wait for ever. */
import { type NotaDoOperador, retirarNota, showNota } from '../../flows/operate-notas.ts';
import {
  askedWrongly,
  type CliWorld,
  type Command,
  inMunicipio,
  JSON_OPTION,
  nameOperator,
  refuseAsked,
  textOf,
  type Values,
} from './command.ts';
import { columns, jsonText, printable, trailRows } from './text.ts';

const MUNICIPIO = { municipio: { takes: 'SLUG', help: 'município da nota' } } as const;

export const NOTA_COMMANDS: readonly Command[] = [
  {
    name: 'nota mostrar',
    arguments: 'CHAVE',
    summary: 'Mostra uma nota com tudo o que lhe aconteceu.',
    options: { ...MUNICIPIO, ...JSON_OPTION },
    run: mostrar,
  },
  {
    name: 'nota retirar',
    arguments: 'CHAVE',
    summary: 'Retira uma nota substituta que não foi transmitida e cujo evento não virá; série e número ficam livres.',
    options: {
      ...MUNICIPIO,
      motivo: {
        takes: 'TEXTO',
        help: 'por quê (obrigatório); fica na trilha e em mensagem_retorno, que o integrador lê',
      },
    },
    run: retirar,
  },
];

const WHICH_MUNICIPIO = 'de que município é a nota';

function mostrar(world: CliWorld, values: Values, [chave]: readonly string[]): Promise<number> {
  return inMunicipio(world, values, WHICH_MUNICIPIO, async (municipio) => {
    const nota = await world.registry((registry) => showNota(registry, municipio, chave!));
    if ('problem' in nota) return refuseAsked(world, nota.problem);
    world.out(values.json === true ? jsonText(nota) : describeNota(municipio, nota));
    return 0;
  });
}

function describeNota(municipio: string, { trilha, podeRetirar, protocolo, status, ...nota }: NotaDoOperador): string {
  const named = { ...nota, 'nota.status': status, 'protocolo.status': protocolo };
  const rows = Object.entries(named).flatMap(([name, value]): (readonly [string, string])[] =>
    value === null ? [] : [[name, printable(String(value))]],
  );
  const may = podeRetirar
    ? [
        `Se o evento da substituída não vier: nfse nota retirar ${nota.chave_acesso} --municipio ${municipio} --motivo TEXTO`,
      ]
    : [];
  return `${[...columns(rows), '', ...trailRows(trilha), ...may].join('\n')}\n`;
}

function retirar(world: CliWorld, values: Values, [chave]: readonly string[]): Promise<number> {
  return inMunicipio(world, values, WHICH_MUNICIPIO, async (municipio) => {
    const motivo = textOf(values, 'motivo');
    if (motivo === undefined) {
      return askedWrongly(world, 'Falta --motivo TEXTO: o integrador lê por que a nota dele foi retirada.\n');
    }
    const by = { motivo, quem: nameOperator() };
    const result = await world.registry((registry) => retirarNota(registry, municipio, chave!, by));
    if (result !== undefined) return refuseAsked(world, `Nada foi feito. ${result.problem}`);
    world.out('Nota retirada: o protocolo está rejeitado, e a série e o número da DPS estão livres.\n');
    world.out('Ela nunca foi ao ADN. Os eventos registrados nela ficam dispensados.\n');
    return 0;
  });
}
