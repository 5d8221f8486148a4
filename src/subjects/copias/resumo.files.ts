/** Digests beside the files of the archived log: a changed file is found without the key that opens it. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import path from 'node:path';
import type { Autoria } from '../../base/book/auditoria-chave.ts';
import { authenticate, autoriaOfDito } from './autoria.files.ts';
import type { Escrito } from './cifra.files.ts';
import { CHANGED, readSmall, writeSynced } from './lugar.files.ts';

const ENDING = '.resumo';

/** `em`: moment at which the file was complete, an ISO text. */
type Resumo = {
  readonly sistema: string;
  readonly nome: string;
  readonly em: string;
  readonly bytes: number;
  readonly sha256: string;
};

export const resumoOf = (file: string): string => `${file}${ENDING}`;

/** The digest is written before the file gets its name. */
export function writeResumo(file: string, sistema: string, em: Date, { bytes, sha256 }: Escrito): Promise<void> {
  const resumo: Resumo = { sistema, nome: path.basename(file), em: em.toISOString(), bytes, sha256 };
  return writeSynced(resumoOf(file), `${JSON.stringify(authenticate('resumo', resumo))}\n`);
}

/** `problema`: the reason why the file is useless, in Portuguese. A file without a digest cannot be judged. */
export type Julgado = {
  readonly autoria: Autoria;
  readonly sha256: string | undefined;
  readonly em: Date | undefined;
  readonly problema: string | undefined;
};

/** Reads the file to its end. */
export async function judgeArquivo(file: string, sistema: string): Promise<Julgado> {
  const judged = (autoria: Autoria, problema?: string, resumo?: Resumo): Julgado => {
    return { autoria, problema, sha256: resumo?.sha256, em: resumo && new Date(resumo.em) };
  };
  let resumo: Resumo;
  try {
    resumo = { ...JSON.parse(await readSmall(resumoOf(file))) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return judged('sem_chave');
    return judged('sem_chave', `${resumoOf(file)} está danificado, ou não pôde ser lido`);
  }
  const autoria = autoriaOfDito('resumo', resumo);
  if (autoria === 'falsa') return judged(autoria, CHANGED(resumoOf(file)));
  if (resumo.nome !== path.basename(file) || resumo.sistema !== sistema || Number.isNaN(Date.parse(resumo.em))) {
    return judged(autoria, `${resumoOf(file)} é de outro arquivo`);
  }
  const hash = createHash('sha256');
  try {
    for await (const piece of createReadStream(file)) hash.update(piece);
  } catch (error) {
    return judged(autoria, `${file} não pôde ser lido: ${(error as Error).message}`);
  }
  if (hash.digest('hex') !== resumo.sha256) {
    return judged(autoria, `${file} está danificado: não é o que foi escrito (SHA-256)`);
  }
  return judged(autoria, undefined, resumo);
}
