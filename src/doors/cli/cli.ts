/**
 * The command line, in Portuguese. Each command is a row of one table, from which the help is made. Exit codes: 0 done, 1 refused or
 * failed, 2 asked wrongly; `wiring/program.ts` adds 75, the database cannot be used just now.
 */
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { DPS_VERSAO } from '../../fiscal/layout/dps.ts';
import { versionText } from '../../published/versao.ts';
import { VARIABLES_HELP } from '../variables.ts';
import { adnSimulador } from './adn-simulador.ts';
import { ALIQUOTAS_COMMANDS } from './aliquotas.ts';
import { readArguments } from './arguments.ts';
import { ARQUIVO_COMMANDS } from './arquivo.ts';
import { ASSINAR } from './assinar.ts';
import { ASSINATURA } from './assinatura.ts';
import { AUDITORIA_COMMANDS } from './auditoria.ts';
import { BANCO_COMMANDS } from './banco.ts';
import {
  type CliWorld,
  type Command,
  type EndSignal,
  type Option,
  type Options,
  type Running,
  type Transmitting,
  textOf,
} from './command.ts';
import { CONFIG } from './config.ts';
import { COPIA_COMMANDS } from './copia.ts';
import { CORRELACAO_COMMANDS } from './correlacao.ts';
import { DIAGNOSTICO } from './diagnostico.ts';
import { EMITIR } from './emitir.ts';
import { EVENTO_COMMANDS } from './evento.ts';
import { EVIDENCIA } from './evidencia.ts';
import { explicar } from './explicar.ts';
import { GUARDA_COMMANDS } from './guarda.ts';
import { LISTA_COMMANDS } from './listas.ts';
import { MIGRAR_DPS } from './migrar-dps.ts';
import { bancoMudar, MUDANCA_COMMANDS } from './mudanca.ts';
import { MUNICIPIO_COMMANDS } from './municipio.ts';
import { findNearest } from './nearest.ts';
import { NOTA_COMMANDS } from './nota.ts';
import { BUSCA_COMMANDS } from './nota-buscar.ts';
import { PKI } from './pki.ts';
import { PRESTADOR_COMMANDS } from './prestador.ts';
import { SAUDE } from './saude.ts';
import { columns, quoteArgument } from './text.ts';
import { TITULAR_COMMANDS } from './titular.ts';
import { TOKEN_COMMANDS } from './token.ts';
import { USUARIO_COMMANDS } from './usuario.ts';
import { VALIDAR } from './validar.ts';
import { webhookCommands } from './webhook.ts';

export type { CliWorld, Terminal } from './command.ts';

const COMMANDS: readonly Command[] = [
  {
    name: 'serve',
    summary: 'Sobe o serviço inteiro, com o PostgreSQL embutido se não houver DATABASE_URL.',
    run: serve,
  },
  {
    name: 'transmitir',
    summary: 'Mais um processo que transmite ao ADN, ao lado do serviço e no mesmo banco; não recebe requisições.',
    run: transmit,
  },
  SAUDE,
  EMITIR,
  VALIDAR,
  MIGRAR_DPS,
  {
    name: 'explicar',
    arguments: 'CÓDIGO',
    summary: 'Explica um código de erro, como E0370.',
    run: async (world, _values, [code]) => explicar(world, code!),
  },
  ...MUNICIPIO_COMMANDS,
  ...MUDANCA_COMMANDS,
  ...USUARIO_COMMANDS,
  ...PRESTADOR_COMMANDS,
  ...LISTA_COMMANDS,
  ...ALIQUOTAS_COMMANDS,
  ...CORRELACAO_COMMANDS,
  ...BUSCA_COMMANDS,
  ...NOTA_COMMANDS,
  EVIDENCIA,
  ...EVENTO_COMMANDS,
  ...TOKEN_COMMANDS,
  ...webhookCommands(waitForSignal),
  ASSINAR,
  ASSINATURA,
  PKI,
  adnSimulador(waitForSignal),
  ...ARQUIVO_COMMANDS,
  ...GUARDA_COMMANDS,
  ...TITULAR_COMMANDS,
  ...AUDITORIA_COMMANDS,
  ...COPIA_COMMANDS,
  ...BANCO_COMMANDS,
  {
    name: 'migrar',
    summary: 'Traz o banco de dados para a versão deste programa.',
    run: async (world) => {
      const { applied, location } = await world.migrate();
      const list = applied.map((name) => `  ${name}\n`).join('');
      world.out(
        applied.length === 0 ? `O banco em ${location} já está em dia.\n` : `Aplicadas em ${location}:\n${list}`,
      );
      return 0;
    },
  },
  bancoMudar(waitForSignal),
  CONFIG,
  DIAGNOSTICO,
];

/** What every command takes. */
const ALWAYS: Options = {
  config: { takes: 'ARQUIVO', help: 'lê os ajustes deste arquivo, e não de /etc/nfse.env' },
};

/** Runs one command; resolves with the exit code. Failures of the machine are thrown, with a message for a person. */
export async function runCli(argv: readonly string[], world: CliWorld): Promise<number> {
  const [name] = argv;
  if (name === undefined || HELP.includes(name)) {
    world.out(help());
    return name === undefined ? 2 : 0;
  }
  if (VERSION.includes(name)) {
    world.out(`${versionText()}, leiaute ${DPS_VERSAO} da NFS-e nacional\n`);
    return 0;
  }
  const command = commandOf(argv);
  if (command === undefined) return refuseCommand(argv, world);
  const rest = argv.slice(command.name.split(' ').length);
  if (asksHelp(rest)) {
    world.out(await commandHelp(command, world));
    return 0;
  }
  const asked = readArguments({ ...command, options: { ...command.options, ...ALWAYS } }, rest);
  if ('problems' in asked) {
    world.err(`${asked.problems.join('\n')}\n\n${await commandHelp(command, world)}`);
    return 2;
  }
  const file = textOf(asked.values, 'config');
  if (file !== undefined) world.useSettings(file);
  return command.run(world, asked.values, asked.args);
}

const HELP = ['ajuda', 'help', '--help', '-h'];

const VERSION = ['--version', '--versao', '-v', 'versao'];

function asksHelp(args: readonly string[]): boolean {
  return args.includes('--help') || args.includes('-h');
}

function commandOf([first, second]: readonly string[]): Command | undefined {
  return COMMANDS.find((one) => one.name === `${first} ${second}`) ?? COMMANDS.find((one) => one.name === first);
}

/** A family (`municipio`) named alone or with `--help` shows its commands; anything else does not exist. */
function refuseCommand(argv: readonly string[], world: CliWorld): number {
  const [name, second] = argv as readonly [string, string?];
  if (/^--config(?:=|$)/.test(name)) {
    world.err('--config vem depois do comando: nfse COMANDO --config ARQUIVO.\n');
    return 2;
  }
  const family = COMMANDS.filter((one) => one.name.startsWith(`${name} `));
  if (family.length > 0 && (second === undefined || HELP.includes(second) || asksHelp(argv))) {
    const isHelp = second !== undefined;
    (isHelp ? world.out : world.err)(familyHelp(name, family));
    return isHelp ? 0 : 2;
  }
  const asked = family.length > 0 ? `${name} ${second}` : name;
  const known = (family.length > 0 ? family : COMMANDS).map((one) => one.name);
  const whole = known.find((one) => one.split(' ')[1] === asked);
  const near = whole ?? findNearest(asked, [...known, ...known.map((one) => one.split(' ')[0]!)]);
  const hint = near === undefined ? '' : ` Seria ${near}?`;
  world.err(`Não existe o comando ${asked}.${hint} Os comandos são: ${known.join(', ')}.\n`);
  return 2;
}

function help(): string {
  return [
    'nfse: emissão de NFS-e do município',
    '',
    'Uso: nfse COMANDO [opções]',
    '',
    'Comandos:',
    ...columns(COMMANDS.map((command) => [nameWithArguments(command), command.summary])),
    '',
    'nfse COMANDO --help mostra as opções de um comando; nfse --version, a versão do programa e do leiaute.',
    '',
    'Ajustes, no ambiente ou em /etc/nfse.env (nfse COMANDO --config ARQUIVO lê outro); o ambiente vale mais. nfse config mostra o que vale:',
    ...columns(VARIABLES_HELP),
    '',
  ].join('\n');
}

function familyHelp(name: string, family: readonly Command[]): string {
  return [
    `Uso: nfse ${name} COMANDO`,
    '',
    ...columns(family.map((command) => [nameWithArguments(command), command.summary])),
    '',
    `nfse ${family[0]!.name} --help, e assim cada um, mostra as opções.`,
    '',
  ].join('\n');
}

function nameWithArguments({ name, arguments: taken }: Command): string {
  return taken === undefined ? name : `${name} ${taken}`;
}

async function commandHelp(command: Command, world: CliWorld): Promise<string> {
  const rows = [...Object.entries(command.options ?? {}).flatMap(optionRows), ...(command.notes ?? [])];
  const options = rows.length === 0 ? [] : ['', 'Opções:', ...columns(rows)];
  const more = (await command.moreHelp?.(world)) ?? [];
  return [`Uso: nfse ${nameWithArguments(command)}`, '', command.summary, ...options, ...more, ''].join('\n');
}

function optionRows([name, { takes, help, note }]: readonly [string, Option]): readonly (readonly [string, string])[] {
  const row = [takes === undefined ? `--${name}` : `--${name} ${takes}`, help] as const;
  return note === undefined ? [row] : [row, ['', note]];
}

async function serve(world: CliWorld): Promise<number> {
  let running: Running | undefined;
  const ended = waitForSignal();
  // A terminal that is closed ends what it started, as Ctrl-C does.
  process.on('SIGHUP', () => (world.isTerminal ? process.kill(process.pid, 'SIGINT') : running?.restart()));
  world.out('Iniciando o serviço de NFS-e…\n');
  const run = (asked: AbortSignal): Promise<void> =>
    world.serve((started) => {
      running = started;
      return tellAddress(world, started, ended);
    }, asked);
  return runToEnd(world, ended, run);
}

async function tellAddress(
  world: CliWorld,
  { address, location, painel, drainMs }: Running,
  ended: Promise<EndSignal>,
): Promise<EndSignal> {
  const url = `${address}/integracao/api/v1/nfse/v101`;
  world.out(
    [
      '',
      `Serviço no ar em ${address}`,
      `  emissão (ambiente de integração)  ${url}`,
      `  documentação                      ${address}/docs`,
      `  saúde                             ${address}/health/ready`,
      `  dados                             ${location}`,
      ...painelLines(painel),
      '',
      'Emita uma nota de exemplo (cole em outro terminal):',
      '',
      `  curl -s -X POST ${url} -H 'Content-Type: application/xml' --data-binary @${sampleFile()}`,
      '',
      'A resposta traz chave_acesso; consulte-a com:',
      '',
      `  curl -s ${address}/integracao/api/v1/nfse/CHAVE_DE_ACESSO`,
      '',
      'Ou, acompanhando até a autorização:',
      '',
      `  ${world.calledAs} emitir ${sampleFile()} --url ${address}`,
      '',
      'Ctrl-C encerra.',
      '',
    ].join('\n'),
  );
  const signal = await ended;
  const drains = signal === 'SIGTERM' && drainMs > 0;
  world.out(
    drains
      ? `\nEncerrando: por ${drainMs / 1000} s ainda se atende, e /health/ready responde 503. Outro sinal encerra já.\n`
      : '\nEncerrando…\n',
  );
  return signal;
}

function painelLines(painel: Running['painel']): readonly string[] {
  if (painel === undefined) return [];
  if ('problem' in painel) {
    return ['', `O console do município não abriu: ${painel.problem}. O serviço segue sem ele.`];
  }
  const line = `  console do município              ${painel.address}`;
  if (painel.convite === undefined) return [line];
  return [
    line,
    '',
    'Ninguém tem conta no console ainda. Abra este link e faça a do primeiro administrador:',
    '',
    `  ${painel.convite}`,
  ];
}

async function transmit(world: CliWorld): Promise<number> {
  const ended = waitForSignal();
  const waitForEnd = async ({ location, vigia }: Transmitting): Promise<void> => {
    if (vigia !== undefined) {
      world.out('address' in vigia ? `Vigiado em ${vigia.address}/metrics\n` : `Não é vigiado: ${vigia.problem}.\n`);
    }
    world.out(`Transmitindo o que está em ${location}. Ctrl-C encerra.\n`);
    await ended;
    world.out('\nEncerrando…\n');
  };
  return runToEnd(world, ended, (asked) => world.transmit(waitForEnd, asked));
}

/** Runs until the signal. An update of the database under way is broken off; the next start goes on with it. */
async function runToEnd(
  world: CliWorld,
  ended: Promise<EndSignal>,
  run: (asked: AbortSignal) => Promise<void>,
): Promise<number> {
  const asked = new AbortController();
  void ended.then(() => asked.abort());
  try {
    await run(asked.signal);
  } catch (error) {
    if (error !== asked.signal.reason) throw error;
    world.out('\nEncerrado durante a atualização do banco; a próxima partida a continua.\n');
  }
  return 0;
}

/** A second signal within this time counts as the same one. */
const AGAIN_MS = 1_000;

/**
 * The first signal asks the program to end in order, a second one ends it at once. Listening begins before anything is started: the first
 * process of a container gets no signal otherwise.
 */
function waitForSignal(): Promise<EndSignal> {
  return new Promise((resolve) => {
    let asked: number | undefined;
    const onSignal = (signal: EndSignal): void => {
      const now = performance.now();
      // One Ctrl-C may arrive twice: from the terminal, and from the program that started this one.
      if (asked !== undefined && now - asked > AGAIN_MS) process.exit(signal === 'SIGINT' ? 130 : 143);
      asked ??= now;
      resolve(signal);
    };
    process.on('SIGINT', () => onSignal('SIGINT'));
    process.on('SIGTERM', () => onSignal('SIGTERM'));
  });
}

/** The sample DPS that ships with the project. */
const SAMPLE = fileURLToPath(new URL('../../../examples/dps.xml', import.meta.url));

/** The path of the sample from where the command was given, when that is shorter to read. */
function sampleFile(): string {
  const relative = path.relative(process.cwd(), SAMPLE);
  return quoteArgument(relative.startsWith('..') ? SAMPLE : relative);
}
