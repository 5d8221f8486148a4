/** The program and the machine that it runs on, for support: no value chosen by a person. */
import { readFile, statfs } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { versionOf } from '../published/versao.ts';

export function describeProgram() {
  const { version: versao, commit } = versionOf();
  return {
    versao,
    commit,
    node: process.versions.node,
    v8: process.versions.v8,
    openssl: process.versions.openssl,
    // Options of Node only: those of the program may contain any text.
    opcoes: process.execArgv.filter((one) => /^--[a-z-]+(=\d+)?$/.test(one)),
  };
}

/** `folder`: the data folder, whose disk is of interest. */
export async function describeMachine(folder: string) {
  return {
    agora: new Date().toISOString(),
    fuso: Intl.DateTimeFormat().resolvedOptions().timeZone,
    sistema: { plataforma: os.platform(), arquitetura: os.arch(), nucleo: os.release(), ...(await distributionOf()) },
    processadores: os.availableParallelism(),
    carga: os.loadavg(),
    // The system reports too large a value if there is no limit.
    memoria: {
      total: os.totalmem(),
      livre: os.freemem(),
      permitida: Math.min(os.totalmem(), process.constrainedMemory()),
    },
    ligada_ha_s: Math.round(os.uptime()),
    e_root: process.getuid?.() === 0,
    disco: await diskOf(folder),
    limites: await limitsOf(),
  };
}

async function distributionOf() {
  const text = await readFile('/etc/os-release', 'utf8').catch(() => '');
  const said = (name: string): string | undefined => new RegExp(`^${name}="?([\\w.-]{1,30})"?$`, 'm').exec(text)?.[1];
  return { distribuicao: said('ID'), versao: said('VERSION_ID') };
}

/** The disk of the folder, or of its nearest existing parent. */
async function diskOf(folder: string) {
  for (let place = folder; ; place = path.dirname(place)) {
    try {
      const { bsize, blocks, bavail, files, ffree } = await statfs(place);
      return { bytes: bsize * blocks, livres: bsize * bavail, arquivos: files, arquivos_livres: ffree };
    } catch {
      if (place === path.dirname(place)) return undefined;
    }
  }
}

/** The limits of the kernel for this process, and thus for one started likewise. */
async function limitsOf(): Promise<Readonly<Record<string, string>>> {
  const text = await readFile('/proc/self/limits', 'utf8').catch(() => '');
  const rows = text.matchAll(/^(Max [a-z ]+?) {2,}(\d+|unlimited) +(\d+|unlimited)/gm);
  return Object.fromEntries([...rows].map(([, name, soft, hard]) => [name!, `${soft} / ${hard}`]));
}
