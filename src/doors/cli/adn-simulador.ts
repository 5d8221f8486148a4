/** `nfse adn-simulador`: a rehearsal of the national environment, in a separate process, until a signal ends it. */
import { type CliWorld, type Command, type SimuladorAsked, textOf, type Values } from '../../base/terminal/command.ts';
import { waitForSignal } from '../../base/terminal/signals.ts';
import { columns } from '../../base/terminal/text.ts';

const DEFAULT_PORT = '9443';
const DEFAULT_CONTROL_PORT = '9444';
const DEFAULT_HOST = '127.0.0.1';
const PORT_MAX = 65_535;

const NEEDED = ['dados', 'certificado', 'chave', 'clientes'] as const;

export const ADN_SIMULADOR: Command = {
  name: 'adn-simulador',
  summary: 'Sobe um ADN de ensaio, com certificados dos dois lados, que falha quando se pede.',
  options: {
    porta: { takes: 'N', help: `porta HTTPS do ADN simulado (padrão ${DEFAULT_PORT}; 0 escolhe uma livre)` },
    controle: {
      takes: 'N',
      help: `porta HTTP do controle, só nesta máquina (padrão ${DEFAULT_CONTROL_PORT}; 0 escolhe uma livre)`,
    },
    host: { takes: 'ENDEREÇO', help: `endereço em que o ADN simulado escuta (padrão ${DEFAULT_HOST})` },
    dados: { takes: 'PASTA', help: 'pasta em que guarda o que recebe' },
    certificado: { takes: 'ARQUIVO', help: 'certificado do servidor, PEM, com a cadeia' },
    chave: { takes: 'ARQUIVO', help: 'chave privada do servidor, PEM' },
    clientes: { takes: 'ARQUIVO', help: 'PEM das autoridades que emitem os certificados dos municípios' },
    semente: { takes: 'N', help: 'de onde se sorteiam as faltas (padrão 1): a mesma semente falha igual' },
    faltas: { takes: 'LISTA', help: 'nome=fração separados por vírgula, como atraso=0.1,html=0.02' },
  },
  moreHelp: async ({ simulador }) => {
    const { controle, faltas } = await simulador.ajuda();
    return [
      '',
      'Controle, enquanto ele está no ar:',
      ...columns(controle),
      '',
      'Faltas, e o que delas se ajusta:',
      ...columns(faltas),
    ];
  },
  run,
};

async function run(world: CliWorld, values: Values): Promise<number> {
  const asked = readAsked(values);
  if ('problem' in asked) {
    world.err(`${asked.problem}\nVeja: nfse adn-simulador --help\n`);
    return 2;
  }
  const ended = waitForSignal();
  await world.simulador.start(asked, async ({ address, controle, documentos, descartado }) => {
    const held = documentos === 1 ? '1 documento guardado' : `${documentos} documentos guardados`;
    world.out(
      [
        `ADN simulado no ar em ${address}`,
        `  controle  ${controle}/estado`,
        `  dados     ${asked.dados} (${held})`,
        ...(descartado > 0 ? [`Um registro incompleto, de ${descartado} bytes, foi descartado.`] : []),
        'Ctrl-C encerra.',
        '',
      ].join('\n'),
    );
    await ended;
    world.out('\nEncerrando…\n');
  });
  return 0;
}

function readAsked(values: Values): SimuladorAsked | { readonly problem: string } {
  const text = (name: string): string | undefined => textOf(values, name) || undefined;
  const missing = NEEDED.filter((name) => text(name) === undefined);
  if (missing.length > 0) return { problem: `Falta ${missing.map((name) => `--${name}`).join(', ')}.` };
  const porta = readPort(text('porta') ?? DEFAULT_PORT);
  const controle = readPort(text('controle') ?? DEFAULT_CONTROL_PORT);
  if (porta === undefined || controle === undefined) {
    return { problem: `--${porta === undefined ? 'porta' : 'controle'} pede um número de 0 a ${PORT_MAX}.` };
  }
  const semente = text('semente');
  if (semente !== undefined && !/^\d{1,15}$/.test(semente)) {
    return { problem: '--semente pede um número inteiro de até 15 dígitos.' };
  }
  return {
    host: text('host') ?? DEFAULT_HOST,
    porta,
    controle,
    dados: text('dados')!,
    certificado: text('certificado')!,
    chave: text('chave')!,
    clientes: text('clientes')!,
    semente: semente === undefined ? undefined : Number(semente),
    faltas: text('faltas'),
  };
}

function readPort(text: string): number | undefined {
  return /^\d{1,5}$/.test(text) && Number(text) <= PORT_MAX ? Number(text) : undefined;
}
