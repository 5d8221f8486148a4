/** Installed by the page, opened as the page on rehearsing says, and a first note. */
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { until } from './maquina.ts';
import { commandsOf, hasPage } from './pagina.ts';
import { isInArchive, type Life, type Step } from './vida.ts';

const PAGE = 'instalar.md';
/** The page that goes on to the proxy, where the documentation has it. */
export const PRODUCTION = 'producao.md';
/** Where the rehearsal keeps its authorities, keys and the simulated ADN: of the account of the service, which reads them. */
export const REHEARSAL = '/srv/ensaio';

/** As little as a unit may be; only where the archive brings none. */
const LEAST_UNIT = `[Service]
User=nfse
Environment=NFSE_DATA_DIR=/var/lib/nfse NODE_COMPILE_CACHE=/var/cache/nfse
EnvironmentFile=-/etc/nfse.env
StateDirectory=nfse
CacheDirectory=nfse
ProtectSystem=strict
ExecStart=/opt/nfse/bin/nfse serve
[Install]
WantedBy=multi-user.target`;

async function carryArchive({ machine }: Life, folder: string): Promise<void> {
  const names = await readdir(folder);
  await machine.do('rm -rf /root/entrega');
  await machine.carry(
    names.map((name) => path.join(folder, name)),
    '/root/entrega',
  );
}

/** The commands of a section, in the folder into which the archive was carried. */
export async function followPage(life: Life, section: string, folder?: string): Promise<string> {
  if (folder !== undefined) await carryArchive(life, folder);
  const into = folder === undefined ? '' : 'cd /root/entrega\n';
  return life.machine.do(into + commandsOf(PAGE, section));
}

/** What Debian brings is there already, and the machine has no network. */
async function followProduction(life: Life): Promise<void> {
  await carryArchive(life, life.archives.first);
  const program = commandsOf(PRODUCTION, 'O programa e a conta').replace(/^apt-get .*$/m, '');
  await life.machine.do(`cd /root/entrega\n${program}`);
  await life.machine.do(commandsOf(PRODUCTION, 'Os ajustes'));
}

export async function isReady({ machine }: Life): Promise<boolean> {
  return (await machine.try('curl -sf http://127.0.0.1:8080/health/ready')).code === 0;
}

export const INSTALL: Step = {
  name: 'instalar do arquivo, pela página',
  run: async (life) => {
    if (hasPage(PRODUCTION)) await followProduction(life);
    else await followPage(life, 'Conferir e desempacotar', life.archives.first);
    if (hasPage(PRODUCTION)) await life.machine.do(commandsOf(PRODUCTION, 'O serviço'));
    else if (!(await isInArchive(life, 'deploy/nfse.service'))) {
      await life.machine.do(`cat > /etc/systemd/system/nfse.service <<'FIM'\n${LEAST_UNIT}\nFIM
        systemctl daemon-reload; systemctl enable --now nfse`);
    } else await followPage(life, 'Pôr no ar');
    await until('o serviço parte', () => isReady(life));
    const owner = await life.machine.do('stat -c %U /proc/$(systemctl show -P MainPID nfse)');
    if (owner.trim() !== 'nfse') throw new Error(`the service is ${owner.trim()}`);
    // Neither the service nor root, who has just asked for the version, leaves anything there.
    const touched = await life.machine.do('find /opt/ -newer /root/entrega -not -name nfse | head');
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
    // It runs until it is told to end; in the page it has a terminal of its own.
    const background = `systemd-run -q --collect --unit=adn --uid=nfse --working-directory=${REHEARSAL} /usr/local/bin/nfse adn-simulador`;
    await machine.do(`cd ${REHEARSAL}\n${chapter.replace(/^nfse adn-simulador/m, background)}`);
  },
};
