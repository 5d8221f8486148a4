/** What a command of the terminal is, and the little that several of them need. */
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
  /** Whether a line may be written over. */
  readonly isTerminal: boolean;
  /** Characters of a line of the terminal; undefined: nobody looks. */
  readonly columns?: number | undefined;
  /** Where the service of this machine listens, by the environment of the command. */
  serviceUrl(): string;
  /** Where the service of this machine, or its `nfse transmitir`, says how it is, likewise; undefined: nowhere. */
  vigia(quem: Vigiado): Vigia | undefined;
  /** Where the console of this machine is opened, likewise. */
  painelUrl(): string;
};

/** Where the service says how it is to who watches it; `certificado`: the one that it shows, in PEM, where it speaks TLS itself. */
export type Vigia = { readonly url: string; readonly certificado: string | undefined };

/** What of a machine may be watched. */
export type Vigiado = 'servico' | 'transmitir';

/** What `transmitir` has running. `vigia`: where it is watched, or why it is not; undefined: nobody wants it. */
export type Transmitting = Pick<Running, 'location'> & {
  readonly vigia: { readonly address: string } | { readonly problem: string } | undefined;
};

/** What asks a program to end in order. */
export type EndSignal = 'SIGINT' | 'SIGTERM';

/** What `serve` has running. */
export type Running = {
  readonly address: string;
  readonly location: string;
  /** The console: where it is, and the link for its first administrator while there is none; or why it is not open; undefined: it is off. */
  readonly painel:
    | { readonly address: string; readonly convite: string | undefined }
    | { readonly problem: string }
    | undefined;
  /** How long it serves on after a SIGTERM, in milliseconds. */
  readonly drainMs: number;
  /** Puts new processes in the place of those that answer, one by one. */
  restart(): void;
};

/** What the simulator is started with. Ports: 0 chooses a free one. */
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
  /** Bytes of an unfinished record that were dropped at the start. */
  readonly descartado: number;
};

/** What there is to know of the settings of this command. */
export type SettingsKnown = {
  readonly file: string;
  /** Undefined: there is no such file. */
  readonly text: SettingsText | undefined;
  /** The environment as the command was given it. */
  readonly env: NodeJS.ProcessEnv;
  /** What is wrong with the settings together, where each of them is right. */
  readonly problem: string | undefined;
  readonly warnings: readonly string[];
};

export type CliWorld = Terminal & {
  /** How this program is called where it was started, for lines that are copied into another terminal. */
  readonly calledAs: string;
  /** Names the settings file of this command in place of the usual one; before anything else is asked for. */
  useSettings(file: string): void;
  settings(): Promise<SettingsKnown>;
  /**
   * Starts the service, calls back, and takes it down in the way of the signal with which the callback ends. `asked` ends an update of the
   * database that comes before, which may take an hour; its reason is thrown.
   */
  serve(waitForEnd: (service: Running) => Promise<EndSignal>, asked: AbortSignal): Promise<void>;
  /** The same for a worker without doors. */
  transmit(waitForEnd: (running: Transmitting) => Promise<void>, asked: AbortSignal): Promise<void>;
  migrate(): Promise<{ readonly applied: readonly string[]; readonly location: string }>;
  /**
   * Opens the database, beside a running service or without one, and closes it when the callback ends. `isBeginning`: creates a database
   * that is not there; otherwise that is an error.
   */
  registry<Result>(work: (registry: RegistryWorld) => Promise<Result>, isBeginning?: boolean): Promise<Result>;
  /** What the commands of copies work on; opens no database by itself. */
  copias<Result>(work: (copias: CopiasWorld) => Promise<Result>): Promise<Result>;
  /** Opens two databases by their addresses, the second one new; without the first, that of the environment. */
  databases<Result>(
    de: DatabaseUrl | undefined,
    para: DatabaseUrl,
    work: (source: RegistryWorld, target: RegistryWorld) => Promise<Result>,
  ): Promise<Result>;
  /**
   * Writes what helps whoever helps; the file must not be there. Throws what the system says of it. `falhou`: the code with which the database
   * was not reached.
   */
  diagnose(arquivo: string): Promise<{ readonly bytes: number; readonly falhou: string | undefined }>;
  readonly simulador: {
    ajuda(): Promise<{
      /** Every fault that it knows, with its meaning. */
      readonly faltas: readonly (readonly [string, string])[];
      /** Every address of its control, with what it does. */
      readonly controle: readonly (readonly [string, string])[];
    }>;
    /** Starts it, calls back, and takes it down when the callback ends. */
    start(asked: SimuladorAsked, waitForEnd: (running: SimuladorRunning) => Promise<void>): Promise<void>;
  };
};

export type Values = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;

export type Option = {
  /** What it takes, as the help names it; none: it takes nothing. */
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
  /** What it takes besides options, as the help names it: `ARQUIVO`, `SLUG ID`, or `[ID …]` for any number. Absent: nothing. */
  readonly arguments?: string;
  readonly summary: string;
  /** By their names without hyphens, in the order of the help. */
  readonly options?: Options;
  /** What the help says below the options, in their two columns. */
  readonly notes?: readonly (readonly [string, string])[];
  /** Lines that the help has after that. */
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

/** A file as it is, byte for byte: what was signed is what is sent. */
export async function bytesOf(file: string): Promise<Uint8Array> {
  try {
    return await readFile(file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why = code === 'ENOENT' ? 'não existe' : code === 'EISDIR' ? 'é uma pasta' : `não pôde ser lido (${code})`;
    throw new Error(`o arquivo ${file} ${why}.`);
  }
}

/** Runs what is not done without a reason. */
export function withMotivo(world: Terminal, values: Values, run: () => Promise<number>): Promise<number> | number {
  const isGiven = textOf(values, 'motivo') !== undefined;
  return isGiven ? run() : askedWrongly(world, 'Falta --motivo TEXTO: diga por quê; fica na trilha.\n');
}

/** The exit code of a command that was asked wrongly; says how. */
export function askedWrongly(terminal: Terminal, problem: string): number {
  terminal.err(problem);
  return 2;
}

/** Runs for the municipality of `--municipio`; without one the exit code is 2. `why`: what it is needed for, for the operator. */
export async function inMunicipio(
  terminal: Terminal,
  values: Values,
  why: string,
  run: (municipio: string) => Promise<number>,
): Promise<number> {
  const municipio = textOf(values, 'municipio');
  return municipio === undefined ? askedWrongly(terminal, `Falta --municipio SLUG: ${why}.\n`) : run(municipio);
}

/** The exit code of a command whose request was refused; says why. */
export function refuseAsked(terminal: Terminal, problem: string): number {
  terminal.err(`${problem}\n`);
  return 1;
}

export const JSON_OPTION = { json: { help: 'o mesmo que sem ela, em JSON' } } as const satisfies Options;

/** The name under which this machine knows who gives the command. */
export function nameOperator(): string {
  try {
    return userInfo().username;
  } catch {
    // In a container the user may have a number and no name.
    return `uid ${process.getuid?.()}`;
  }
}

/** Who gives the command, with the reason of `--motivo`: what the trail has of it. */
export function byHand(values: Values): PorMao {
  return { quem: nameOperator(), via: 'comando', motivo: textOf(values, 'motivo') };
}
