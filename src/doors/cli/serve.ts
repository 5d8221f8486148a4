/** `nfse serve`, `transmitir` and `migrar`: the service itself, and the update of its database. */
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { CliWorld, Command, EndSignal, Running, Transmitting } from '../../base/terminal/command.ts';
import { waitForSignal } from '../../base/terminal/signals.ts';
import { quoteArgument } from '../../base/terminal/text.ts';

export const SERVE_COMMANDS: readonly Command[] = [
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
];

export const MIGRAR: Command = {
  name: 'migrar',
  summary: 'Traz o banco de dados para a versão deste programa.',
  run: async (world) => {
    const { applied, location } = await world.migrate();
    const list = applied.map((name) => `  ${name}\n`).join('');
    world.out(applied.length === 0 ? `O banco em ${location} já está em dia.\n` : `Aplicadas em ${location}:\n${list}`);
    return 0;
  },
};

async function serve(world: CliWorld): Promise<number> {
  let running: Running | undefined;
  const ended = waitForSignal();
  // A closed terminal ends the programs it started, as Ctrl-C does.
  process.on('SIGHUP', () => (world.isTerminal ? process.kill(process.pid, 'SIGINT') : running?.restart()));
  world.out('Iniciando o serviço de NFS-e…\n');
  const run = (asked: AbortSignal): Promise<void> =>
    world.serve((started) => {
      running = started;
      return tellAddress(world, started, ended);
    }, asked);
  return runToEnd(world, ended, run, () => running !== undefined);
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
  let hasStarted = false;
  const ended = waitForSignal();
  const waitForEnd = async ({ location, vigia }: Transmitting): Promise<void> => {
    hasStarted = true;
    if (vigia !== undefined) {
      world.out('address' in vigia ? `Vigiado em ${vigia.address}/metrics\n` : `Não é vigiado: ${vigia.problem}.\n`);
    }
    world.out(`Transmitindo o que está em ${location}. Ctrl-C encerra.\n`);
    await ended;
    world.out('\nEncerrando…\n');
  };
  return runToEnd(
    world,
    ended,
    (asked) => world.transmit(waitForEnd, asked),
    () => hasStarted,
  );
}

/**
 * Runs until the signal. A signal interrupts an update of the database; the next start continues it. A Ctrl-C also reaches the programs that
 * make the database: their failure during a start is the end that was asked for.
 */
async function runToEnd(
  world: CliWorld,
  ended: Promise<EndSignal>,
  run: (asked: AbortSignal) => Promise<void>,
  hasStarted: () => boolean,
): Promise<number> {
  const asked = new AbortController();
  void ended.then(() => asked.abort());
  try {
    await run(asked.signal);
  } catch (error) {
    const isUpdate = error === asked.signal.reason;
    if (!isUpdate && (!asked.signal.aborted || hasStarted())) throw error;
    world.out(
      isUpdate
        ? '\nEncerrado durante a atualização do banco; a próxima partida a continua.\n'
        : '\nEncerrado antes de ficar pronto, como se pediu; a próxima partida recomeça.\n',
    );
  }
  return 0;
}

/** The sample DPS that ships with the project. */
const SAMPLE = fileURLToPath(new URL('../../../examples/dps.xml', import.meta.url));

/** The path of the sample, relative to the current folder when that is shorter. */
function sampleFile(): string {
  const relative = path.relative(process.cwd(), SAMPLE);
  return quoteArgument(relative.startsWith('..') ? SAMPLE : relative);
}
