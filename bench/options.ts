/** The options of the benchmark, one row each: the help and the parser are made of them. */
import { parseArgs } from 'node:util';

type Option = {
  /** The placeholder of the value in the help; undefined: the option is a flag. */
  readonly value?: string;
  readonly usual?: string;
  readonly help: string;
};

const OPTIONS = {
  comparar: { value: 'REF', help: 'põe ao lado deste o serviço de outro commit, nos mesmos segundos, e diz as razões' },
  rastros: {
    value: 'PARTE',
    help: 'com --comparar: este serviço deixa rastros dessa parte das notas (0.01 é uma em cem), o outro não',
  },
  partes: { help: 'a conta de cada parte: este serviço ao lado de si mesmo sem ela, nos mesmos segundos' },
  cerca: { help: 'ao lado do commit de referência; falha se uma nota custa mais do que a cerca permite' },
  cheio: { value: 'N', help: 'põe um banco com N notas já encerradas ao lado de um quase vazio, nos mesmos segundos' },
  municipios: { value: 'N', usual: '1', help: 'com --cheio: municípios que têm as notas; um deles emite' },
  banco: {
    value: 'URL',
    help: 'põe o serviço sobre esse servidor (um Citus também), num banco que se faz para isso, ao lado do mesmo sobre o embutido',
  },
  'ao-lado': { value: 'URL', help: 'com --banco: outro servidor no lugar do embutido; todos nesta máquina' },
  emissores: {
    value: 'N',
    usual: '1',
    help: 'municípios que emitem, de 1 a 5570; sem --banco, ao lado do maior deles sozinho, nos mesmos segundos',
  },
  distribuicao: {
    value: 'NOME',
    usual: 'real',
    help: 'as notas dos emissores: real, como o ISSQN se reparte, ou igual',
  },
  documento: { value: 'NOME', usual: 'comum', help: 'o que se envia: comum, longo, obra, json, ibscbs' },
  json: { help: 'o mesmo que --documento json' },
  sandbox: { help: 'sem assinatura, no ambiente de integração; nada é transmitido' },
  partidas: { value: 'N', usual: '2', help: 'vezes em que tudo é posto no ar de novo' },
  janelas: { value: 'N', usual: '4', help: 'medidas em cada partida' },
  notas: {
    value: 'N',
    usual: '1000',
    help: 'notas de cada serviço em cada janela; no pico o quádruplo',
  },
  ritmo: {
    value: 'N',
    usual: '150',
    help: 'notas por segundo a cada serviço, sem esperar as respostas; no pico não há ritmo',
  },
  rajada: { value: 'N', usual: '16', help: 'em rajadas, notas que chegam de uma vez' },
  conexoes: { value: 'N', usual: '64', help: 'no pico, clientes que enviam uma nota depois da outra' },
  prestadores: { value: 'N', usual: '20', help: 'prestadores que emitem' },
  graficos: { help: 'grava figuras e números em docs/desempenho' },
  perfil: { help: 'onde os dois fios gastam o tempo, por passo; o perfil do V8 custa, e não serve para comparar' },
  fora: { value: 'N', help: 'com o ADN fora do ar enquanto N notas são emitidas' },
  minutos: { value: 'N', help: 'notas a --ritmo por tanto tempo; a cada dez segundos a memória, o banco e a latência' },
  leituras: {
    value: 'N',
    help: 'N notas, lidas pela chave, pelos eventos e impressas, com o serviço sozinho num processador',
  },
  busca: {
    value: 'N',
    help: 'quanto se espera por uma busca e por um mês no console, com N notas de um município; e o que a soma de um mês custa a cada nota',
  },
  mudancas: { value: 'N', help: 'quanto leva quem lê N mudanças de um documento, em linhas, de cursor em cursor' },
  julgar: { help: 'só o julgamento de uma DPS' },
  danfse: { help: 'só a nota impressa' },
  catalogos: { help: 'só as páginas filtradas dos catálogos' },
  segundos: { value: 'N', usual: '15', help: 'com --catalogos e --leituras: duração de cada medida' },
  custo: { help: 'os pedidos mais caros, e o que cada um toma do fio que atende' },
  so: { value: 'TEXTO', help: 'com --custo e --partes: só o que tem TEXTO no nome' },
  help: { help: 'mostra esta ajuda' },
} as const satisfies Readonly<Record<string, Option>>;

type Name = keyof typeof OPTIONS;
type Valued = { [Each in Name]: (typeof OPTIONS)[Each] extends { readonly value: string } ? Each : never }[Name];
type Usual = { [Each in Name]: (typeof OPTIONS)[Each] extends { readonly usual: string } ? Each : never }[Name];
export type Options = { readonly [Each in Exclude<Name, Valued>]: boolean } & {
  readonly [Each in Usual]: string;
} & { readonly [Each in Exclude<Valued, Usual>]: string | undefined };

/** Parses the options. An option outside the table throws in Portuguese. */
export function readOptions(args: readonly string[]): Options {
  const options = Object.fromEntries(
    Object.entries<Option>(OPTIONS).map(([name, { value, usual }]) => {
      if (value === undefined) return [name, { type: 'boolean' as const, default: false }];
      return [name, { type: 'string' as const, ...(usual === undefined ? {} : { default: usual }) }];
    }),
  );
  try {
    return parseArgs({ args: [...args], options }).values as Options;
  } catch (error) {
    throw new Error(`opção que não existe, ou sem o seu valor (${(error as Error).message}). Veja --help.`);
  }
}

/** A whole number from 1 on. Throws in Portuguese. */
export function countOf(
  options: Options,
  name: Usual | 'fora' | 'cheio' | 'busca' | 'mudancas' | 'minutos' | 'leituras',
): number {
  const text = options[name] ?? '';
  if (!/^[1-9]\d{0,7}$/.test(text)) throw new Error(`--${name} pede um número inteiro a partir de 1, e veio ${text}.`);
  return Number(text);
}

export function describeOptions(): string {
  const rows = Object.entries<Option>(OPTIONS).map(([name, { value, usual, help }]) => {
    const left = `  --${name}${value === undefined ? '' : ` ${value}`}`;
    return `${left.padEnd(20)}${help}${usual === undefined ? '' : ` (${usual})`}`;
  });
  return [
    'npm run bench -- [opções]',
    '',
    'Mede o tempo de processador que cada nota custa, contado pelo núcleo do sistema por fio e por processo: o do serviço e o do banco, do',
    'pedido até a autorização. Sem opções, ao lado do piso desta máquina e de uma régua, e também o pico e a latência a 70 % dele. Números',
    'de máquinas ou de horas diferentes não se comparam; as razões, dentro de uma medida, sim.',
    '',
    ...rows,
  ].join('\n');
}
