/** `nfse receita …`: the ISSQN of a month at the terminal, and the proof of its sums. */
import {
  askedWrongly,
  type CliWorld,
  type Command,
  JSON_OPTION,
  textOf,
  type Values,
} from '../../base/terminal/command.ts';
import { jsonText, tableLines } from '../../base/terminal/text.ts';
import { SITUACOES_ISSQN } from '../../fiscal/classe-issqn.ts';
import { formatDecimal } from '../../fiscal/decimal.ts';
import { groupDecimal, groupDigits } from '../../fiscal/group-digits.ts';
import { nameMes } from '../../fiscal/moment.ts';
import { proveReceita } from './conferir.ts';
import { readMes, summariseMes, VISOES } from './mes.ts';

export const RECEITA_COMMANDS: readonly Command[] = [
  {
    name: 'receita mes',
    arguments: 'SLUG AAAA-MM',
    summary: 'Mostra o ISSQN de um mês: apurado, retido, suspenso e o mais, com as notas e os serviços de cada um.',
    options: {
      visao: { takes: 'VISÃO', help: 'competencia, como sem ela; ou emissao, o mês em que se emitiu' },
      ...JSON_OPTION,
    },
    run: (world, values, [slug, mes]) => mostrar(world, values, slug!, mes!),
  },
  {
    name: 'receita conferir',
    arguments: 'SLUG',
    summary: 'Compara as somas de cada mês com as notas; com --refazer, grava as que diferem.',
    options: { refazer: { help: 'grava o que as notas somam' }, ...JSON_OPTION },
    run: (world, values, [slug]) => conferir(world, values, slug!),
  },
];

async function mostrar(world: CliWorld, values: Values, slug: string, written: string): Promise<number> {
  const mes = readMes(written);
  const visao = VISOES.find((one) => one === (textOf(values, 'visao') ?? 'competencia'));
  if (mes === undefined) return askedWrongly(world, 'Escreva o mês como AAAA-MM, por exemplo 2026-11.\n');
  if (visao === undefined) return askedWrongly(world, `--visao é uma de: ${VISOES.join(', ')}.\n`);
  const { classes } = await world.registry((registry) => summariseMes(registry, slug, { visao, mes }));
  if (values['json'] === true) {
    const told = classes.map(({ classe, notas, ...valores }) => {
      const texts = Object.entries(valores).map(([name, value]) => [name, formatDecimal(value)]);
      return { situacao: classe, notas, ...Object.fromEntries(texts) };
    });
    world.out(jsonText(told));
    return 0;
  }
  const rows = classes.map(({ classe, notas, servicos, issqn }) => [
    SITUACOES_ISSQN[classe],
    groupDigits(notas),
    groupDecimal(formatDecimal(servicos)),
    groupDecimal(formatDecimal(issqn)),
  ]);
  world.out(
    `${tableLines([['Situação', 'Notas', 'Serviços (R$)', 'ISSQN (R$)'], ...rows], world.columns).join('\n')}\n`,
  );
  return 0;
}

async function conferir(world: CliWorld, values: Values, slug: string): Promise<number> {
  const isMending = values['refazer'] === true;
  const meses = await world.registry((registry) => proveReceita(registry, slug, isMending));
  const isRight = isMending || meses.every(({ diferentes }) => diferentes === 0);
  if (values['json'] === true) {
    world.out(jsonText(meses));
    return isRight ? 0 : 1;
  }
  for (const { mes, somas, diferentes } of meses) {
    const found = diferentes === 0 ? 'conferem com as notas' : `${groupDigits(diferentes)} diferentes das notas`;
    world.out(
      `${nameMes(mes)}: ${groupDigits(somas)} somas, ${found}${diferentes > 0 && isMending ? ', e foram refeitas' : ''}\n`,
    );
  }
  if (meses.length === 0) world.out('Não há notas por somar.\n');
  return isRight ? 0 : 1;
}
