/** `nfse banco …`: the database for its operator, its distribution over the nodes of Citus, and the move of a municipality. */

import {
  askedWrongly,
  type CliWorld,
  type Command,
  JSON_OPTION,
  refuseAsked,
  textOf,
  type Values,
} from '../../base/terminal/command.ts';
import { columns, jsonText, printable, tableLines } from '../../base/terminal/text.ts';
import { formatSeconds, groupDigits, sizeText } from '../../fiscal/group-digits.ts';
import { BANCO_MUDAR } from '../municipios/mudanca.command.ts';
import { type Banco, distribuirBanco, moverMunicipio, type Plano, planDistribuicao, showBanco } from './banco.ts';

export const BANCO_COMMANDS: readonly Command[] = [
  {
    name: 'banco mostrar',
    summary: 'Mostra o banco: versão, papel, réplicas e atraso, tamanho de cada tabela e município, nós e fragmentos.',
    options: JSON_OPTION,
    run: mostrar,
  },
  {
    name: 'banco distribuir',
    summary: 'Distribui o banco de DATABASE_URL por município entre os nós de um Citus; dado outra vez, continua.',
    options: {
      nos: { takes: 'HOST:PORTA,…', help: 'nós que entram; os que já são dele não precisam vir' },
      fragmentos: { takes: 'N', help: 'em quantos fragmentos, na primeira vez (padrão: 32)' },
      ensaio: { help: 'só diz o que faria' },
    },
    run: distribuir,
  },
  {
    name: 'banco mover',
    arguments: 'SLUG',
    summary: 'Dá a um município um fragmento só seu e o leva a outro nó, enquanto ele emite.',
    options: { para: { takes: 'HOST:PORTA', help: 'nó de destino' } },
    run: (world, values, [slug]) => mover(world, values, slug!),
  },
  BANCO_MUDAR,
];

function distribuir(world: CliWorld, values: Values): Promise<number> {
  const asked = { nos: textOf(values, 'nos'), fragmentos: textOf(values, 'fragmentos') };
  return world.registry(async (registry) => {
    if (values['ensaio'] === true) {
      const plano = await planDistribuicao(registry, asked);
      if ('problem' in plano) return refuseAsked(world, plano.problem);
      world.out(describePlano(plano));
      return 0;
    }
    const done = await distribuirBanco(registry, asked, (line) => world.out(`${printable(line)}\n`));
    if ('problem' in done) return refuseAsked(world, done.problem);
    const { length } = done.tabelas;
    world.out(
      length === 0
        ? `O banco já está distribuído: ${done.prontas} tabelas.\n`
        : `Distribuído. ${done.prontas + length} tabelas, ${length} agora. nfse banco mostrar mostra onde está cada município.\n`,
    );
    return 0;
  });
}

const LUGARES = {
  tenant: 'por município',
  referencia: 'inteira em cada nó',
  coordenador: 'no coordenador',
} as const;

function describePlano({ novos, tabelas, prontas, fragmentos }: Plano): string {
  if (novos.length === 0 && tabelas.length === 0) return `Nada a fazer: as ${prontas} tabelas já estão distribuídas.\n`;
  const first = prontas === 0 ? `, em ${fragmentos} fragmentos` : '';
  const rows = tabelas.map(({ nome, lugar, bytes }) => [nome, LUGARES[lugar], sizeText(bytes)]);
  return [
    'Nada foi mudado. Seria feito:',
    ...novos.map((no) => `  entra o nó ${no}, com o banco e a extensão criados nele se faltarem`),
    `  ${tabelas.length} tabelas são distribuídas${first}; ${prontas} já estão:`,
    ...tableLines(rows).map((line) => `    ${line}`),
    '',
  ].join('\n');
}

async function mover(world: CliWorld, values: Values, tenant: string): Promise<number> {
  const para = textOf(values, 'para');
  if (para === undefined) return askedWrongly(world, 'Falta --para HOST:PORTA: o nó de destino.\n');
  return world.registry(async (registry) => {
    const moved = await moverMunicipio(registry, { tenant, para }, (line) => world.out(`${printable(line)}\n`));
    if ('problem' in moved) return refuseAsked(world, moved.problem);
    world.out(
      moved.de === moved.para
        ? `${tenant} já estava em ${moved.para}, e tem um fragmento só seu.\n`
        : `${tenant} está em ${moved.para}, num fragmento só seu; antes, em ${moved.de}.\n`,
    );
    return 0;
  });
}

async function mostrar(world: CliWorld, values: Values): Promise<number> {
  const banco = await world.registry((registry) => showBanco(registry));
  world.out(values['json'] === true ? jsonText(banco) : describeBanco(banco));
  return banco.nos.every(({ responde }) => responde) ? 0 : 1;
}

/** Municipalities that the list names; the others share one line. */
const MUNICIPIOS_SHOWN = 30;

function describeBanco(banco: Banco): string {
  const { versao, citus, isReplica, atrasoMs, replicas, nos, tabelas, municipios } = banco;
  const lag = atrasoMs === null ? '' : `, a ${formatSeconds(atrasoMs)} da última transação que recebeu`;
  const head = columns([
    ['PostgreSQL', printable(versao)],
    ['Citus', citus ?? 'não; um servidor só'],
    ['papel', isReplica ? `réplica${lag}` : 'principal'],
    ['réplicas', replicas.length === 0 ? 'nenhuma ligada a este servidor' : ''],
  ]);
  const lines = [
    ...head,
    ...replicas.map(
      ({ nome, estado, sincronia, atrasoBytes, atrasoMs: behind }) =>
        `    ${printable(nome)}  ${estado}, ${sincronia}, atraso ${sizeText(atrasoBytes)}, ${formatSeconds(behind)}`,
    ),
  ];
  if (nos.length > 0) lines.push('', 'Nós', ...indent(nos.map(noRow)));
  const rows = tabelas.toSorted((a, b) => b.bytes - a.bytes).map((tabela) => tabelaRow(tabela, nos.length > 0));
  lines.push('', 'Tabelas, com índices', ...indent(rows));
  lines.push('', 'Municípios, por amostra', ...municipioLines(municipios));
  return `${lines.join('\n')}\n`;
}

function noRow({ host, porta, papel, responde, fragmentos, bytes }: Banco['nos'][number]): string[] {
  const state = responde ? 'responde' : 'NÃO RESPONDE';
  return [`${host}:${porta}`, papel, state, `${groupDigits(fragmentos)} fragmentos`, sizeText(bytes)];
}

function tabelaRow({ nome, bytes, particoes, lugar, falta }: Banco['tabelas'][number], isCitus: boolean): string[] {
  const parts = particoes === 0 ? '' : `${particoes} partições`;
  const place = falta ? 'SÓ NESTE SERVIDOR: nfse banco distribuir' : LUGARES[lugar];
  return [nome, sizeText(bytes), parts, isCitus ? place : ''];
}

function municipioLines(municipios: Banco['municipios']): readonly string[] {
  if (municipios === undefined) return ['  um nó não responde: não se sabe'];
  if (municipios.length === 0) return ['  nenhum'];
  const rest = municipios.slice(MUNICIPIOS_SHOWN);
  const rows = municipios.slice(0, MUNICIPIOS_SHOWN).map(({ tenant, bytes, fragmento }) => {
    const alone = fragmento?.isolado ? ', num fragmento só seu' : '';
    return [tenant, sizeText(bytes), fragmento === undefined ? '' : `${fragmento.no}${alone}`];
  });
  const sum = rest.reduce((whole, { bytes }) => whole + bytes, 0);
  return [...indent(rows), ...(rest.length === 0 ? [] : [`  e outros ${rest.length}, ${sizeText(sum)}`])];
}

function indent(rows: readonly (readonly string[])[]): readonly string[] {
  return tableLines(rows).map((line) => `  ${line}`);
}
