/** The program and the machine that it runs on, for whoever helps: nothing that a person has named. */
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
    // Of Node alone: those of the program may be anything.
    opcoes: process.execArgv.filter((one) => /^--[a-z-]+(=\d+)?$/.test(one)),
  };
}

/** `folder`: where the data lies, whose disk is of interest. */
export async function describeMachine(folder: string) {
  return {
    agora: new Date().toISOString(),
    fuso: Intl.DateTimeFormat().resolvedOptions().timeZone,
    sistema: { plataforma: os.platform(), arquitetura: os.arch(), nucleo: os.release(), ...(await distributionOf()) },
    processadores: os.availableParallelism(),
    carga: os.loadavg(),
    // Without a limit the system says more than there is.
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

/** Of the folder, or of the first one around it that is there. */
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

/** As the kernel has them for this process, and so for one started likewise. */
async function limitsOf(): Promise<Readonly<Record<string, string>>> {
  const text = await readFile('/proc/self/limits', 'utf8').catch(() => '');
  const rows = text.matchAll(/^(Max [a-z ]+?) {2,}(\d+|unlimited) +(\d+|unlimited)/gm);
  return Object.fromEntries([...rows].map(([, name, soft, hard]) => [name!, `${soft} / ${hard}`]));
}
