/** The failure of a command in words, with the remedy, and as an exit code; loaded only when a command fails. */
import { NoServer } from '../base/pg/servers.ts';
import { EmbutidoMudo, isWithoutPassword, unavailabilityOf } from '../base/pg/unavailable.ts';
import { storeTroubleOf } from '../base/world/store-trouble.ts';
import { ownOf } from '../fiscal/own.ts';

/** The exit code for a temporary failure (EX_TEMPFAIL of sysexits.h). */
const TRY_AGAIN = 75;

/** A database that refuses these settings would refuse the same command again. */
export function chooseExitCode(error: unknown): number {
  const isDenied = unavailabilityOf(error) === 'denied';
  return storeTroubleOf(error) === undefined || isDenied ? 1 : TRY_AGAIN;
}

/** The parts of an error message. `where`: the address in the error; `given`: the setting or option that names the database. */
type Told = { readonly where: string; readonly message: string; readonly given: string };

const NO_DATABASE = ({ where, given }: Told): string =>
  `o banco de dados não responde em ${where || given}. Confira se está no ar e o endereço.`;
const NO_USER = ({ given }: Told): string => `o banco de dados recusou o usuário ou a senha de ${given}.`;

/** The operator's remedy for an error, by its code. */
const REMEDIES: Readonly<Record<string, (told: Told) => string>> = {
  EADDRINUSE: ({ where }) =>
    `o endereço ${where} já está em uso. Encerre o outro programa, ou escolha outra porta com PORT.`,
  EADDRNOTAVAIL: ({ where }) => `o endereço ${where} não é desta máquina. Confira NFSE_HOST.`,
  EACCES: ({ message }) => `falta permissão (${message}). Portas abaixo de 1024 pedem root; escolha outra com PORT.`,
  ECONNREFUSED: NO_DATABASE,
  ENOTFOUND: NO_DATABASE,
  ETIMEDOUT: NO_DATABASE,
  '28P01': NO_USER,
  '28000': NO_USER,
  // PgBouncer uses one code for everything that it does not support.
  '08P01': ({ message }) => `o PgBouncer recusou a conexão: ${message}.`,
  '3D000': ({ given }) => `o banco de dados de ${given} não existe. Crie-o antes.`,
};

/** The text for a system error of a file that a command reads or writes, after its name. */
const OF_FILES: Readonly<Record<string, string>> = {
  ENOENT: 'não existe, ou não existe a pasta em que ficaria. Confira o caminho.',
  ENOTDIR: 'não existe, ou não existe a pasta em que ficaria. Confira o caminho.',
  EISDIR: 'é uma pasta. Dê o nome de um arquivo.',
  EACCES: 'não pode ser lido ou escrito por esta conta. Dê outro caminho, ou o comando como outra conta.',
  EPERM: 'não pode ser mudado por esta conta. Dê outro caminho, ou o comando como outra conta.',
  EROFS: 'fica num disco que só se lê. Dê outro caminho.',
  ENOSPC: 'não coube: o disco está cheio. Libere espaço, ou dê outro caminho.',
};

const NO_PASSWORD = ({ given }: Told): string =>
  `o banco de dados pede senha, e ${given} não traz nenhuma. Ponha-a no arquivo de PGPASSFILE (host:porta:banco:usuário:senha, 0600) ou no endereço.`;

type DescribedError = NodeJS.ErrnoException & {
  readonly address?: string;
  readonly port?: number;
  readonly given?: string | undefined;
};

/** The error in Portuguese with the operator's remedy, if there is one; any other error unchanged. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code, address, port, message, given = 'DATABASE_URL', path: file, syscall = '' } = error as DescribedError;
  const ofFile = file === undefined || syscall.startsWith('spawn') ? undefined : ownOf(OF_FILES, code ?? '');
  if (ofFile !== undefined) return `${file} ${ofFile}`;
  const remedy = isWithoutPassword(error) ? NO_PASSWORD : ownOf(REMEDIES, code ?? '');
  if (remedy !== undefined) {
    return remedy({ where: `${address ?? ''}${port === undefined ? '' : `:${port}`}`, message, given });
  }
  const trouble = storeTroubleOf(error);
  if (trouble === undefined || error instanceof EmbutidoMudo) return message;
  const { mensagem, esperaS } = trouble;
  const why = error instanceof NoServer ? `${message}.` : `${mensagem.charAt(0).toLowerCase()}${mensagem.slice(1)}`;
  return `${why} Tente de novo em ${esperaS} s.`;
}
