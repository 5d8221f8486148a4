/** `nfse nota …`: the municipality looks at a note, and withdraws a substitute that would wait for ever. */
import { type NotaDoOperador, retirarNota, showNota } from '../../flows/operate-notas.ts';
import { type CliWorld, type Command, columns, textOf, type Values } from './command.ts';
import { operatorHere } from './evento.ts';
import { printable } from './evento-lines.ts';

const MUNICIPIO = { municipio: { takes: 'SLUG', help: 'município da nota' } } as const;

export const NOTA_COMMANDS: readonly Command[] = [
  {
    name: 'nota mostrar',
    arguments: 'CHAVE',
    summary: 'Mostra uma nota com tudo o que lhe aconteceu.',
    options: { ...MUNICIPIO, json: { help: 'o mesmo que sem ela, em JSON' } },
    takes: 1,
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
    takes: 1,
    run: retirar,
  },
];

/** Exit code 2 when no municipality is named: a wrong one would be another's. */
function municipioOf(world: CliWorld, values: Values): string | undefined {
  const municipio = textOf(values, 'municipio');
  if (municipio === undefined) world.err('Falta --municipio SLUG: de que município é a nota.\n');
  return municipio;
}

async function mostrar(world: CliWorld, values: Values, [chave]: readonly string[]): Promise<number> {
  const municipio = municipioOf(world, values);
  if (municipio === undefined) return 2;
  const nota = await world.registry((registry) => showNota(registry, municipio, chave!));
  if ('problem' in nota) {
    world.err(`${nota.problem}\n`);
    return 1;
  }
  world.out(values.json === true ? `${JSON.stringify(nota, null, 2)}\n` : wholeText(municipio, nota));
  return 0;
}

function wholeText(municipio: string, { trilha, podeRetirar, protocolo, status, ...nota }: NotaDoOperador): string {
  const named = { ...nota, 'nota.status': status, 'protocolo.status': protocolo };
  const rows = Object.entries(named).flatMap(([name, value]): (readonly [string, string])[] =>
    value === null ? [] : [[name, printable(String(value))]],
  );
  const trail = trilha.map(({ em, de, gatilho, para, mensagem, quem }): [string, string] => [
    em,
    `${de === null ? '' : `${de} → `}${para} (${gatilho}${quem === null ? '' : `, por ${printable(quem)}`})${mensagem === null ? '' : `: ${printable(mensagem)}`}`,
  ]);
  const may = podeRetirar
    ? [
        `Se o evento da substituída não vier: nfse nota retirar ${nota.chave_acesso} --municipio ${municipio} --motivo TEXTO`,
      ]
    : [];
  return `${[...columns(rows), '', ...columns(trail), ...may].join('\n')}\n`;
}

async function retirar(world: CliWorld, values: Values, [chave]: readonly string[]): Promise<number> {
  const municipio = municipioOf(world, values);
  if (municipio === undefined) return 2;
  const motivo = textOf(values, 'motivo');
  if (motivo === undefined) {
    world.err('Falta --motivo TEXTO: o integrador lê por que a nota dele foi retirada.\n');
    return 2;
  }
  const by = { motivo, quem: operatorHere() };
  const result = await world.registry((registry) => retirarNota(registry, municipio, chave!, by));
  if (result !== undefined) {
    world.err(`Nada foi feito. ${result.problem}\n`);
    return 1;
  }
  world.out('Nota retirada: o protocolo está rejeitado, e a série e o número da DPS estão livres.\n');
  world.out('Ela nunca foi ao ADN. Os eventos registrados nela ficam dispensados.\n');
  return 0;
}
