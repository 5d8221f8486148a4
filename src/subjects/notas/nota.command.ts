/** `nfse nota …`: the municipality examines a note, and withdraws a substitute that would wait for ever. */
import { writeFile } from 'node:fs/promises';
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
} from '../../base/terminal/command.ts';
import { columns, jsonText, printable, trailRows } from '../../base/terminal/text.ts';
import { type DocumentoDaNota, documentoDaNota } from './nota-inteira.ts';
import { type NotaDoOperador, retirarNota, showNota } from './operate.ts';

const MUNICIPIO = { municipio: { takes: 'SLUG', help: 'município da nota' } } as const;

export const NOTA_COMMANDS: readonly Command[] = [
  {
    name: 'nota mostrar',
    arguments: 'CHAVE',
    summary: 'Mostra uma nota com tudo o que lhe aconteceu.',
    options: {
      ...MUNICIPIO,
      ...JSON_OPTION,
      xml: { help: 'em vez disso, a NFS-e em XML' },
      pdf: { takes: 'ARQUIVO', help: 'escreve o DANFSe neste arquivo' },
    },
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
        help: 'por quê (obrigatório); fica no histórico e em mensagem_retorno, que o integrador lê',
      },
    },
    run: retirar,
  },
];

const WHICH_MUNICIPIO = 'de que município é a nota';

function mostrar(world: CliWorld, values: Values, [chave]: readonly string[]): Promise<number> {
  return inMunicipio(world, values, WHICH_MUNICIPIO, async (municipio) => {
    if (values['xml'] === true) return escrever(world, municipio, chave!, 'nfse');
    const pdf = textOf(values, 'pdf');
    if (pdf !== undefined) return escrever(world, municipio, chave!, 'danfse', pdf);
    const nota = await world.registry((registry) => showNota(registry, municipio, chave!));
    if ('problem' in nota) return refuseAsked(world, nota.problem);
    world.out(values['json'] === true ? jsonText(nota) : describeNota(municipio, nota));
    return 0;
  });
}

/** Writes a document of the note; `arquivo` undefined: to the terminal. */
async function escrever(
  world: CliWorld,
  municipio: string,
  chave: string,
  qual: DocumentoDaNota,
  arquivo?: string,
): Promise<number> {
  const found = await world.registry((registry) => documentoDaNota(registry, municipio, chave, qual));
  if ('problem' in found) return refuseAsked(world, found.problem);
  if (arquivo === undefined) world.out(String(found.conteudo));
  else {
    await writeFile(arquivo, found.conteudo);
    world.out(`${found.nome} está em ${arquivo}.\n`);
  }
  return 0;
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
    const by = { motivo, quem: nameOperator(), via: 'comando' } as const;
    const result = await world.registry((registry) => retirarNota(registry, municipio, chave!, by));
    if (result !== undefined) return refuseAsked(world, `Nada foi feito. ${result.problem}`);
    world.out('Nota retirada: o protocolo está rejeitado, e a série e o número da DPS estão livres.\n');
    world.out('Ela nunca foi ao ADN. Os eventos registrados nela ficam dispensados.\n');
    return 0;
  });
}
