/** `nfse titular …`: the data held about a person, by CPF, for the person and for the data controller (LGPD). */

import {
  askedWrongly,
  byHand,
  type CliWorld,
  type Command,
  JSON_OPTION,
  refuseAsked,
  textOf,
  type Values,
} from '../../base/terminal/command.ts';
import { jsonText, printable } from '../../base/terminal/text.ts';
import { groupDigits } from '../../fiscal/group-digits.ts';
import { eraseTitular, exportTitular, type LugarDoTitular, showTitular } from './titular.ts';

const MUNICIPIO = { takes: 'SLUG', help: 'só deste município; sem ela, da instalação inteira' } as const;
const MOTIVO = { takes: 'TEXTO', help: 'o número do pedido, sem o CPF; fica no histórico' } as const;

export const TITULAR_COMMANDS: readonly Command[] = [
  {
    name: 'titular mostrar',
    arguments: 'CPF',
    summary: 'Mostra o que se guarda de uma pessoa, em que tabelas, e a base legal de cada guarda.',
    options: { municipio: MUNICIPIO, ...JSON_OPTION },
    run: mostrar,
  },
  {
    name: 'titular exportar',
    arguments: 'CPF',
    summary: 'Escreve num ZIP, em JSON e XML, tudo o que se guarda de uma pessoa, para ela.',
    options: { municipio: MUNICIPIO, saida: { takes: 'ARQUIVO', help: 'onde escrever (obrigatório)' }, motivo: MOTIVO },
    run: exportar,
  },
  {
    name: 'titular apagar',
    arguments: 'CPF',
    summary: 'Apaga o que se pode apagar de uma pessoa; documentos fiscais dentro do prazo ficam.',
    options: {
      municipio: MUNICIPIO,
      confirmar: { help: 'apaga; sem ela só se mostra o que seria apagado' },
      motivo: MOTIVO,
    },
    run: apagar,
  },
];

const NOTHING = 'Nada se guarda deste CPF.\n';

async function mostrar(world: CliWorld, values: Values, [cpf]: readonly string[]): Promise<number> {
  const found = await world.registry((registry) => showTitular(registry, cpf!, textOf(values, 'municipio')));
  if ('problem' in found) return refuseAsked(world, found.problem);
  if (values['json'] === true) world.out(jsonText(found));
  else world.out(found.length === 0 ? NOTHING : describe(found));
  return 0;
}

function describe(lugares: readonly LugarDoTitular[]): string {
  const byMunicipio = Map.groupBy(lugares, ({ municipio }) => municipio);
  const lines = [...byMunicipio].flatMap(([municipio, some]) => [
    municipio === null ? 'Da instalação:' : `Em ${municipio}:`,
    ...some.flatMap(({ tabela, oQue, linhas, apagaveis, por_que }) => [
      `  ${tabela}: ${groupDigits(linhas)}, ${printable(oQue)}${apagaveis === 0 ? '' : `; podem ser apagadas: ${groupDigits(apagaveis)}`}`,
      `      ${por_que}`,
    ]),
  ]);
  return `${lines.join('\n')}\n`;
}

async function exportar(world: CliWorld, values: Values, [cpf]: readonly string[]): Promise<number> {
  const arquivo = textOf(values, 'saida');
  if (arquivo === undefined) return askedWrongly(world, 'Falta --saida ARQUIVO: onde escrever.\n');
  const asked = { arquivo, by: byHand(values) };
  const done = await world.registry((registry) => exportTitular(registry, cpf!, textOf(values, 'municipio'), asked));
  if ('problem' in done) return refuseAsked(world, done.problem);
  world.out(`${groupDigits(sumOf(done.lugares))} linhas de ${done.lugares.length} tabelas em ${arquivo}.\n`);
  world.out(`No histórico, sem o CPF, com o número ${done.protocolo}. Entregue o arquivo só à própria pessoa.\n`);
  return 0;
}

const sumOf = (lugares: readonly LugarDoTitular[]): number => lugares.reduce((sum, { linhas }) => sum + linhas, 0);

async function apagar(world: CliWorld, values: Values, [cpf]: readonly string[]): Promise<number> {
  const slug = textOf(values, 'municipio');
  if (values['confirmar'] !== true) {
    const found = await world.registry((registry) => showTitular(registry, cpf!, slug));
    if ('problem' in found) return refuseAsked(world, found.problem);
    world.out(found.length === 0 ? NOTHING : describe(found));
    world.out('Nada foi apagado. Com --confirmar apaga-se o que pode ser apagado, e nada mais.\n');
    return 0;
  }
  const done = await world.registry((registry) => eraseTitular(registry, cpf!, slug, byHand(values)));
  if ('problem' in done) return refuseAsked(world, done.problem);
  const rows = done.lugares.map(
    ({ municipio, tabela, linhas }) => `  ${municipio ?? 'instalação'}, ${tabela}: ${groupDigits(linhas)}\n`,
  );
  world.out(rows.length === 0 ? 'Não havia o que apagar.\n' : `Apagadas:\n${rows.join('')}`);
  if (rows.length > 0) world.out(`No histórico, sem o CPF, com o número ${done.protocolo}.\n`);
  world.out('O que fica, e por quê, diz nfse titular mostrar.\n');
  return 0;
}
