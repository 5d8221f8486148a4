/** Installed by the page, opened by the page on rehearsals, and a first note. */
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { until } from './maquina.ts';
import { commandsOf } from './pagina.ts';
import type { Life, Step } from './vida.ts';

/** The page leads from an empty machine to a service behind nginx, and covers an update and the way back. */
export const PRODUCTION = 'producao.md';
const ARCHIVE = 'instalar.md';
/** The folder of the rehearsal's authorities, keys and simulated ADN; the service's account owns it and reads them. */
export const REHEARSAL = '/srv/ensaio';

/** The folder for a delivered archive, in the machine of the rehearsal. */
const DELIVERED = '/srv/entrega';

async function carryArchive({ machine }: Life, folder: string): Promise<void> {
  const names = await readdir(folder);
  await machine.do(`rm -rf ${DELIVERED}`);
  await machine.carry(
    names.map((name) => path.join(folder, name)),
    DELIVERED,
  );
}

/** Runs the commands of a section, in the folder of the delivered archive. */
export async function followPage(life: Life, section: string, folder?: string): Promise<string> {
  if (folder !== undefined) await carryArchive(life, folder);
  const into = folder === undefined ? '' : `cd ${DELIVERED}\n`;
  return life.machine.do(into + commandsOf(ARCHIVE, section));
}

export async function isReady({ machine }: Life): Promise<boolean> {
  return (await machine.try('curl -sf http://127.0.0.1:8080/health/ready')).code === 0;
}

export const INSTALL: Step = {
  name: 'instalar do arquivo, pela página',
  run: async (life) => {
    await carryArchive(life, life.archives.first);
    // Debian's packages are installed already, and the machine has no network.
    const program = commandsOf(PRODUCTION, 'O programa e a conta').replace(/^apt-get .*$/m, '');
    await life.machine.do(`cd ${DELIVERED}\n${program}`);
    for (const section of ['Os ajustes', 'O serviço']) await life.machine.do(commandsOf(PRODUCTION, section));
    await until('o serviço parte', () => isReady(life));
    const owner = await life.machine.do('stat -c %U /proc/$(systemctl show -P MainPID nfse)');
    if (owner.trim() !== 'nfse') throw new Error(`the service is ${owner.trim()}`);
    // The service writes nothing there, nor does root, after its query for the version.
    const touched = await life.machine.do(`find /opt/ -newer ${DELIVERED} -not -name nfse | head`);
    if (touched !== '/opt/\n') throw new Error(`written in /opt: ${touched}`);
  },
};

export const OPEN: Step = {
  name: 'abrir um município, com o ADN simulado, pela página',
  run: async ({ machine }) => {
    await machine.do(
      `mkdir -p ${REHEARSAL}/data; ln -s /opt/nfse/examples ${REHEARSAL}/examples; chown -R nfse: ${REHEARSAL}`,
    );
    const chapter = commandsOf('operacao.md', 'Ensaiar antes, com um ADN simulado').replaceAll(
      'npm run -s nfse --',
      'nfse',
    );
    // It runs until it is stopped; the page gives it a separate terminal.
    const background = `systemd-run -q --collect --unit=adn --uid=nfse --working-directory=${REHEARSAL} /usr/local/bin/nfse adn-simulador`;
    await machine.do(`cd ${REHEARSAL}\n${chapter.replace(/^nfse adn-simulador/m, background)}`);
  },
};
