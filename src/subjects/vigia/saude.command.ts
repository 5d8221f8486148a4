/**
 * `nfse saude`: the state of the service on this machine, in the format of a monitoring plugin. Exit codes are those of Nagios. 0: well; 1:
 * a warning; 2: a part is down, or the service itself; 3: the service is up but cannot judge its state.
 */
import { X509Certificate } from 'node:crypto';
import { request as tlsRequest } from 'node:https';
import type { TLSSocket } from 'node:tls';
import {
  type CliWorld,
  type Command,
  JSON_OPTION,
  type Values,
  type Vigia,
  type Vigiado,
} from '../../base/terminal/command.ts';
import { jsonText } from '../../base/terminal/text.ts';
import type { Problema, Saude, Verificacao } from './saude.ts';

/** An `import` of node:http would load the undici inside Node, because node:http exports its names. */
const { request: plainRequest } = process.getBuiltinModule('node:http');

export const SAUDE: Command = {
  name: 'saude',
  summary:
    'Diz como está o serviço desta máquina, para um monitor como o Nagios: 0 bem, 1 aviso, 2 crítico ou fora do ar, 3 não se sabe.',
  options: {
    transmitir: { help: 'do transmissor desta máquina (NFSE_TRANSMITIR_PORTA), em vez do serviço' },
    ...JSON_OPTION,
  },
  run: tellSaude,
};

/** A monitor waits longer than this for its plugin. */
const WAIT_MS = 8_000;

const EXITS = { ok: 0, aviso: 1, critico: 2, desconhecido: 3 } as const;
const WORDS = { ok: 'OK', aviso: 'WARNING', critico: 'CRITICAL', desconhecido: 'UNKNOWN' } as const;

async function tellSaude(world: CliWorld, values: Values): Promise<number> {
  const saude = await readAsMonitored(world, values['transmitir'] === true ? 'transmitir' : 'servico');
  world.out(values['json'] === true ? jsonText(saude) : textOfSaude(saude));
  return EXITS[saude.status];
}

type Told = Pick<Saude, 'status' | 'problemas'> & Partial<Saude>;

/** The name of the watched process, the variable of its port, and the command that starts it. */
const WATCHED = {
  servico: { nome: 'O serviço', porta: 'NFSE_VIGIA_PORTA', com: ' ou NFSE_PAINEL_PORTA=0', comando: 'nfse serve' },
  transmitir: { nome: 'O transmissor', porta: 'NFSE_TRANSMITIR_PORTA', com: '', comando: 'nfse transmitir' },
} as const satisfies Readonly<Record<Vigiado, object>>;

/**
 * Unreadable settings are no warning: the state of the service is unknown then. The answer goes to standard output, which a monitor reads.
 */
function readAsMonitored(world: CliWorld, quem: Vigiado): Promise<Told> | Told {
  let vigia: Vigia | undefined;
  try {
    vigia = world.vigia(quem);
  } catch (error) {
    return outage(
      `Os ajustes não servem, e sem eles não se sabe como está o que vigiar: ${(error as Error).message}`,
      'Corrija-os: nfse config, como a conta do serviço, diz o que vale e o que não.',
    );
  }
  return readSaude(vigia, WATCHED[quem]);
}

async function readSaude(
  vigia: Vigia | undefined,
  { nome, porta, com, comando }: (typeof WATCHED)[Vigiado],
): Promise<Told> {
  if (vigia === undefined) {
    return outage(
      `O ouvinte que se vigia está desligado (${porta}=0${com}), e é nele que ${comando} diz como está.`,
      `Dê-lhe uma porta em ${porta}; ele escuta só nesta máquina, se NFSE_PAINEL_HOST não diz outra coisa.`,
    );
  }
  const where = `${vigia.url}/health/detalhe`;
  try {
    const { status, text } = await ask(vigia);
    if (status === 200) return JSON.parse(text) as Saude;
    if (status !== 404) return outage(`${nome} respondeu com HTTP ${status} em ${where}.`, 'Veja o registro dele.');
    return outage(
      `Quem responde em ${where} não diz a esta máquina como está.`,
      `Se é ${comando}, ponha o endereço desta máquina em NFSE_VIGIA_REDES; se é outro programa, confira ${porta}.`,
    );
  } catch (error) {
    const { code, message, name } = error as NodeJS.ErrnoException;
    if (name === 'AbortError') {
      return outage(
        `${nome} aceita a conexão em ${where}, e não responde em ${WAIT_MS / 1_000} s.`,
        `Veja se o processo (${comando}) está parado, ou a máquina sem processador ou memória; se dura, reinicie-o.`,
      );
    }
    return outage(
      `${nome} não responde em ${where} (${code ?? message}).`,
      `Suba-o (${comando}), ou confira NFSE_PAINEL_HOST e ${porta}, que este comando lê como ele.`,
    );
  }
}

function outage(oQue: string, fazer: string): Told {
  const known = { rotulos: {}, valor: 0, limite: 1, unidade: '' };
  return {
    status: 'critico',
    problemas: [{ nome: 'NfseForaDoAr', gravidade: 'critico', o_que: oQue, fazer, ...known }],
  };
}

/** The certificate is for the public name, and may have expired: the command trusts it because the settings name the very same one. */
function ask({ url, certificado }: Vigia): Promise<{ readonly status: number; readonly text: string }> {
  const target = new URL('/health/detalhe', url);
  return new Promise((resolve, reject) => {
    const options = { signal: AbortSignal.timeout(WAIT_MS), rejectUnauthorized: false, agent: false };
    const send = target.protocol === 'https:' ? tlsRequest : plainRequest;
    const asked = send(target, options, (answer) => {
      if (certificado !== undefined && !isShownBy(answer.socket as TLSSocket, certificado)) {
        asked.destroy(new Error('quem responde mostra outro certificado'));
        return;
      }
      let text = '';
      answer.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      answer.on('error', reject).on('end', () => resolve({ status: answer.statusCode!, text }));
    });
    asked.on('error', reject);
    asked.end();
  });
}

function isShownBy(socket: TLSSocket, certificado: string): boolean {
  return socket.getPeerX509Certificate()?.raw.equals(new X509Certificate(certificado).raw) === true;
}

/** The line of a plugin with its performance data, and the problems beneath. */
function textOfSaude({ status, problemas, verificacoes = [], versao }: Told): string {
  const [first, ...others] = problemas;
  const said =
    first === undefined
      ? `${verificacoes.length} verificações, nada a fazer (versão ${versao})`
      : `${withoutBars(first.o_que)}${others.length === 0 ? '' : ` (e mais ${others.length})`}`;
  const drawn = verificacoes.flatMap(perfdataOf);
  const line = `NFSE ${WORDS[status]} - ${said}${drawn.length === 0 ? '' : ` | ${drawn.join(' ')}`}`;
  return `${[line, ...problemas.map(linesOf)].join('\n')}\n`;
}

/** A bar starts the performance data, and a line break ends it. */
function withoutBars(text: string): string {
  return text.replaceAll(/[|\r\n]/g, ' ');
}

function linesOf({ gravidade, o_que, fazer }: Problema): string {
  return `${WORDS[gravidade]}: ${withoutBars(o_que)}\n  ${withoutBars(fazer)}`;
}

/** Format of the plugin guidelines: name=value and unit, then the limits; a colon makes a lower limit. */
function perfdataOf({ nome, valor, lado, aviso, critico, unidade }: Verificacao): readonly string[] {
  if (valor === null) return [];
  const limit = (one: number | null): string =>
    one === null ? '' : `${Math.round(one)}${lado === 'abaixo' ? ':' : ''}`;
  const name = nome
    .replace(/^Nfse/, '')
    .replaceAll(/[A-Z]/g, (one, at) => `${at === 0 ? '' : '_'}${one.toLowerCase()}`);
  return [`${name}=${Math.round(valor * 1_000) / 1_000}${unidade};${limit(aviso)};${limit(critico)}`];
}
