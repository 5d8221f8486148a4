/**
 * The certificates that came by the console: a folder of a municipality has one folder for each, with the certificate and its key in PEM. A
 * folder is never changed: another certificate has another name. Only the account of the service reads them.
 */
import { randomUUID } from 'node:crypto';
import { chmod, mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';

const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;

/** The first hexadecimal digits of the SHA-256 of the certificate. */
const ID = /^[0-9a-f]{16}$/;

/** PEM; the key is not encrypted: a password would have to lie beside it. */
export type Conteudo = { readonly certificado: string; readonly chave: string };

/** Absolute paths. */
export type Arquivos = { readonly id: string; readonly certificado: string; readonly chave: string };

export function isCertificadoId(id: string): boolean {
  return ID.test(id);
}

/** The paths of a certificate. `pasta`: the folder of all; `tenant` names an existing municipality. */
export function arquivosOf(pasta: string, tenant: string, id: string): Arquivos {
  const own = path.join(pasta, tenant, id);
  return { id, certificado: path.join(own, 'certificado.pem'), chave: path.join(own, 'chave.pem') };
}

/** Writes both files, or none. False: this certificate is there already, and stays as it is. */
export async function keepCertificado(
  pasta: string,
  tenant: string,
  id: string,
  { certificado, chave }: Conteudo,
): Promise<boolean> {
  const files = arquivosOf(pasta, tenant, id);
  const [own, whole] = [path.join(pasta, tenant), path.dirname(files.certificado)];
  await mkdir(own, { recursive: true, mode: FOLDER_MODE });
  // A folder that an operator made may be open to others.
  for (const folder of [pasta, own]) await chmod(folder, FOLDER_MODE);
  const draft = path.join(own, `.${randomUUID()}`);
  await mkdir(draft, { mode: FOLDER_MODE });
  const options = { mode: FILE_MODE, flag: 'wx', flush: true } as const;
  try {
    await writeFile(path.join(draft, path.basename(files.chave)), chave, options);
    await writeFile(path.join(draft, path.basename(files.certificado)), certificado, options);
    await rename(draft, whole);
    return true;
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOTEMPTY' || code === 'EEXIST') return false;
    throw error;
  }
}

/** The certificates of a municipality on this machine. */
export async function listCertificados(pasta: string, tenant: string): Promise<readonly Arquivos[]> {
  try {
    const names = await readdir(path.join(pasta, tenant));
    return names.filter(isCertificadoId).map((id) => arquivosOf(pasta, tenant, id));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** The moment at which a certificate was kept here, in milliseconds. */
export async function readKeptAt({ certificado }: Arquivos): Promise<number> {
  return (await stat(certificado)).mtimeMs;
}

/** Deletes all certificates of a municipality with their keys. */
export async function dropCertificados(pasta: string, tenant: string): Promise<void> {
  await rm(path.join(pasta, tenant), { recursive: true, force: true });
}

/** Deletes a certificate with its key. */
export async function dropCertificado({ certificado }: Arquivos): Promise<void> {
  await rm(path.dirname(certificado), { recursive: true, force: true });
}
