/** The definition of a terminal command, and helpers that several commands need. */
import { readFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import type { CopiasWorld } from '../../subjects/copias/world.ts';
import type { RegistryWorld } from '../world/municipios.ts';
import type { PorMao } from '../world/operator.ts';
import type { DatabaseUrl } from './database-url.ts';
import type { SettingsText } from './settings-file.ts';

export type Terminal = {
  out(text: string): void;
  err(text: string): void;
  /** Whether a line may be overwritten. */
  readonly isTerminal: boolean;
  /** Width of the terminal in characters; undefined: the output is no terminal. */
  readonly columns?: number | undefined;
  /** Address of the service on this machine, by the environment of the command. */
  serviceUrl(): string;
  /** Address at which the service of this machine, or its `nfse transmitir`, reports its state; undefined: none. */
  vigia(quem: Vigiado): Vigia | undefined;
  /** Address of the console on this machine. */
  painelUrl(): string;
};

/** Address at which the service reports its state to monitors. `certificado`: its own one in PEM, if it speaks TLS itself. */
export type Vigia = { readonly url: string; readonly certificado: string | undefined };

/** Programs of a machine that may be watched. */
export type Vigiado = 'servico' | 'transmitir';

/** Running parts of `transmitir`. `vigia`: its monitoring address, or why it has none; undefined: not configured. */
export type Transmitting = Pick<Running, 'location'> & {
  readonly vigia: { readonly address: string } | { readonly problem: string } | undefined;
};

/** Signals that ask a program to end in order. */
export type EndSignal = 'SIGINT' | 'SIGTERM';

/** Running parts of `serve`. */
export type Running = {
  readonly address: string;
  readonly location: string;
  /**
   * The console: its address, and the invitation link while there is no administrator; or the reason why it is not open. Undefined: it is
   * off.
   */
  readonly painel:
    | { readonly address: string; readonly convite: string | undefined }
    | { readonly problem: string }
    | undefined;
  /** Time for which it still serves after a SIGTERM, in milliseconds. */
  readonly drainMs: number;
  /** Replaces the answering processes by new ones, one by one. */
  restart(): void;
};

/** Options of the simulator. Ports: 0 chooses a free one. */
export type SimuladorAsked = {
  readonly host: string;
  readonly porta: number;
  readonly controle: number;
  readonly dados: string;
  readonly certificado: string;
  readonly chave: string;
  readonly clientes: string;
  readonly semente: number | undefined;
  readonly faltas: string | undefined;
};

type SimuladorRunning = {
  readonly address: string;
  readonly controle: string;
  readonly documentos: number;
  /** Bytes of an incomplete record that were dropped at the start. */
  readonly descartado: number;
};

/** The settings of this command. */
export type SettingsKnown = {
  readonly file: string;
  /** Undefined: the file does not exist. */
  readonly text: SettingsText | undefined;
  /** The environment of the command. */
  readonly env: NodeJS.ProcessEnv;
  /** A conflict between settings that are each valid. */
  readonly problem: string | undefined;
  readonly warnings: readonly string[];
};

export type CliWorld = Terminal & {
  /** The name by which this program was started, for lines that are copied into another terminal. */
  readonly calledAs: string;
  /** Sets the settings file of this command in place of the usual one. It must be called before any other method. */
  useSettings(file: string): void;
  settings(): Promise<SettingsKnown>;
  /**
   * Starts the service, calls back, and ends it by the signal that the callback returns. `asked` aborts the preceding update of the
   * database, which may take an hour; its reason is thrown.
   */
  serve(waitForEnd: (service: Running) => Promise<EndSignal>, asked: AbortSignal): Promise<void>;
  /** The same for a worker without HTTP doors. */
  transmit(waitForEnd: (running: Transmitting) => Promise<void>, asked: AbortSignal): Promise<void>;
  migrate(): Promise<{ readonly applied: readonly string[]; readonly location: string }>;
  /**
   * Opens the database, beside a running service or without one, and closes it when the callback ends. `isBeginning`: creates a missing
   * database; otherwise that is an error.
   */
  registry<Result>(work: (registry: RegistryWorld) => Promise<Result>, isBeginning?: boolean): Promise<Result>;
  /** Tools of the backup commands; no database is opened. */
  copias<Result>(work: (copias: CopiasWorld) => Promise<Result>): Promise<Result>;
  /** Opens two databases by their addresses, the second one new. The environment names the first one if `de` is undefined. */
  databases<Result>(
    de: DatabaseUrl | undefined,
    para: DatabaseUrl,
    work: (source: RegistryWorld, target: RegistryWorld) => Promise<Result>,
  ): Promise<Result>;
  /**
   * Writes a diagnostic file for support; the file must not exist. Throws the error of the system. `falhou`: the code of the failure to
   * reach the database.
   */
  diagnose(arquivo: string): Promise<{ readonly bytes: number; readonly falhou: string | undefined }>;
  readonly simulador: {
    ajuda(): Promise<{
      /** Every fault that it can simulate, with its meaning. */
      readonly faltas: readonly (readonly [string, string])[];
      /** Every address of its control interface, with its effect. */
      readonly controle: readonly (readonly [string, string])[];
    }>;
    /** Starts it, calls back, and ends it when the callback ends. */
    start(asked: SimuladorAsked, waitForEnd: (running: SimuladorRunning) => Promise<void>): Promise<void>;
  };
};

export type Values = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;

export type Option = {
  /** Name of its value in the help; undefined: it takes none. */
  readonly takes?: string | undefined;
  readonly help: string;
  /** It may be given several times. */
  readonly isRepeated?: true;
  /** A line of the help below it. */
  readonly note?: string;
};

export type Options = Readonly<Record<string, Option>>;

export type Command = {
  /** One word, or two: `municipio criar`. */
  readonly name: string;
  /** Arguments besides options, in the form of the help: `ARQUIVO`, `SLUG ID`, or `[ID …]` for any number. Absent: none. */
  readonly arguments?: string;
  readonly summary: string;
  /** Options by their names without hyphens, in the order of the help. */
  readonly options?: Options;
  /** Two-column lines of the help below the options. */
  readonly notes?: readonly (readonly [string, string])[];
  /** Further lines at the end of the help. */
  readonly moreHelp?: (world: CliWorld) => readonly string[] | Promise<readonly string[]>;
  run(world: CliWorld, values: Values, args: readonly string[]): Promise<number>;
};

/** The text of an option that takes one. */
export function textOf(values: Values, name: string): string | undefined {
  const value = values[name];
  return typeof value === 'string' ? value : undefined;
}

/** The texts of an option that may be given several times. */
export function textsOf(values: Values, name: string): readonly string[] {
  const value = values[name];
  return Array.isArray(value) ? value : [];
}

/** The bytes of a file unchanged, so that the sent bytes are the signed ones. */
export async function bytesOf(file: string): Promise<Uint8Array> {
  try {
    return await readFile(file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why = code === 'ENOENT' ? 'não existe' : code === 'EISDIR' ? 'é uma pasta' : `não pôde ser lido (${code})`;
    throw new Error(`o arquivo ${file} ${why}.`);
  }
}

/** Runs a command that requires a reason. */
export function withMotivo(world: Terminal, values: Values, run: () => Promise<number>): Promise<number> | number {
  const isGiven = textOf(values, 'motivo') !== undefined;
  return isGiven ? run() : askedWrongly(world, 'Falta --motivo TEXTO: diga por quê; fica no histórico.\n');
}

/** Writes the problem of wrong arguments, and returns the exit code. */
export function askedWrongly(terminal: Terminal, problem: string): number {
  terminal.err(problem);
  return 2;
}

/** Runs for the municipality of `--municipio`; without one the exit code is 2. `why`: its purpose, for the operator. */
export async function inMunicipio(
  terminal: Terminal,
  values: Values,
  why: string,
  run: (municipio: string) => Promise<number>,
): Promise<number> {
  const municipio = textOf(values, 'municipio');
  return municipio === undefined ? askedWrongly(terminal, `Falta --municipio SLUG: ${why}.\n`) : run(municipio);
}

/** Writes why a request was refused, and returns the exit code. */
export function refuseAsked(terminal: Terminal, problem: string): number {
  terminal.err(`${problem}\n`);
  return 1;
}

export const JSON_OPTION = { json: { help: 'o mesmo que sem ela, em JSON' } } as const satisfies Options;

/** The user name of the operator on this machine. */
export function nameOperator(): string {
  try {
    return userInfo().username;
  } catch {
    // The user of a container may have a number and no name.
    return `uid ${process.getuid?.()}`;
  }
}

/** The operator and the reason of `--motivo`, for the trail. */
export function byHand(values: Values): PorMao {
  return { quem: nameOperator(), via: 'comando', motivo: textOf(values, 'motivo') };
}
