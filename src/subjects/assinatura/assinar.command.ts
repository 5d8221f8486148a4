/**
 * `nfse assinar` signs a DPS, a lot of RPS or a request of the legacy port. A JSON body gets the value of the header instead. The key comes
 * from the files of an A1 certificate.
 */
import path from 'node:path';
import {
  askedWrongly,
  bytesOf,
  type Command,
  type Options,
  type Terminal,
  textOf,
  type Values,
} from '../../base/terminal/command.ts';
import { ownOf } from '../../fiscal/own.ts';
import { type KeyFiles, signDocument, writeFileFor } from './sign.ts';

/** The files of an A1 certificate as options; {@link readKeyFiles} reads them. */
export const KEY_OPTIONS = {
  pfx: { takes: 'ARQUIVO', help: 'certificado A1 com a chave, em PKCS#12 (.pfx, .p12)' },
  certificado: { takes: 'ARQUIVO', help: 'em vez do .pfx, com --chave: o certificado, em PEM' },
  chave: { takes: 'ARQUIVO', help: 'a chave dele, em PEM' },
  'senha-arquivo': { takes: 'ARQUIVO', help: 'arquivo com a senha do .pfx ou da chave' },
  senha: { takes: 'SENHA', help: 'a senha; fica à vista na lista de processos e no histórico' },
} as const satisfies Options;

export const ASSINAR: Command = {
  name: 'assinar',
  arguments: 'ARQUIVO',
  summary:
    'Assina uma DPS em XML, um lote de RPS ou um CancelarNfseEnvio do serviço SOAP, ou um corpo JSON (o valor do cabeçalho).',
  options: { ...KEY_OPTIONS, saida: { takes: 'ARQUIVO', help: 'grava nesse arquivo, e não na saída padrão' } },
  run: async (terminal, values, [file]) => {
    const files = readKeyFiles(values);
    if (files === undefined) {
      return askedWrongly(terminal, 'Informe --pfx ARQUIVO, ou --certificado ARQUIVO e --chave ARQUIVO.\n');
    }
    return assinar(terminal, await bytesOf(file!), files, textOf(values, 'saida'));
  },
};

export function hasKeyOptions(values: Values): boolean {
  return Object.keys(KEY_OPTIONS).some((name) => values[name] !== undefined);
}

/** The files of the options; undefined unless they name either a PKCS#12 or a pair of PEM files. */
export function readKeyFiles(values: Values): KeyFiles | undefined {
  const [pfx, certificado, chave] = ['pfx', 'certificado', 'chave'].map((name) => textOf(values, name));
  const secret = { senha: textOf(values, 'senha'), senhaArquivo: textOf(values, 'senha-arquivo') };
  if (pfx !== undefined) return certificado === undefined && chave === undefined ? { pfx, ...secret } : undefined;
  return certificado === undefined || chave === undefined ? undefined : { certificado, chave, ...secret };
}

async function assinar(
  terminal: Terminal,
  bytes: Uint8Array,
  files: KeyFiles,
  saida: string | undefined,
): Promise<number> {
  const { kind, text, avisos } = await signDocument(bytes, files, Date.now());
  for (const aviso of avisos) terminal.err(`Aviso: ${aviso}\n`);
  // The value of the header is written as a line; a document is written byte for byte.
  const written = kind === 'json' ? `${text}\n` : text;
  if (saida === undefined) {
    terminal.out(written);
    return 0;
  }
  try {
    await writeFileFor(saida, written);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why = ownOf(NOT_WRITTEN, code ?? '')?.(path.dirname(path.resolve(saida)));
    throw new Error(`o arquivo ${saida}, de --saida, ${why ?? `não pôde ser gravado (${code})`}.`);
  }
  terminal.out(
    kind === 'xml'
      ? `Documento assinado em ${saida}\n`
      : `Valor do cabeçalho X-DPS-Assinatura (ou X-Evento-Assinatura) em ${saida}\n`,
  );
  return 0;
}

const NOT_ALLOWED = (): string => 'não pôde ser gravado: falta permissão de escrita. Escolha outro caminho';

/** Why a file in a folder cannot be written, by the code of the system. */
const NOT_WRITTEN: Readonly<Record<string, (folder: string) => string>> = {
  ENOENT: (folder) => `não pôde ser gravado: a pasta ${folder} não existe. Crie-a ou escolha outra`,
  ENOTDIR: (folder) => `não pôde ser gravado: ${folder} não é uma pasta. Escolha outro caminho`,
  EISDIR: () => 'é uma pasta. Indique o nome de um arquivo',
  EACCES: NOT_ALLOWED,
  EPERM: NOT_ALLOWED,
  EROFS: NOT_ALLOWED,
};
