/** Certificate and key of the service's own TLS, checked before anything is opened with them. */
import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import type { TlsKeys } from '../base/http/http.ts';
import { type Config, ConfigError } from './config.ts';

/** Undefined: the service answers in plain HTTP. */
export async function readTls({ tls }: Pick<Config, 'tls'>): Promise<TlsKeys | undefined> {
  if (tls === undefined) return undefined;
  const { certificado, chave } = tls;
  // One after the other: if both are missing, the same one is always reported.
  const cert = await contentOf('NFSE_TLS_CERTIFICADO', certificado);
  const key = await contentOf('NFSE_TLS_CHAVE', chave);
  try {
    createSecureContext({ cert, key });
  } catch {
    throw new ConfigError(
      `NFSE_TLS_CERTIFICADO e NFSE_TLS_CHAVE não são um certificado em PEM (com as autoridades abaixo dele) e a chave privada dele, sem senha: ${certificado}, ${chave}.`,
    );
  }
  return { cert, key };
}

async function contentOf(name: string, file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new ConfigError(
      `${name}: o arquivo ${file} ${code === 'ENOENT' ? 'não existe' : `não pôde ser lido (${code})`}.`,
    );
  }
}
