/** A backup during service, the loss of the disk, and a restoration: every answered note exists. */
import { setTimeout as pause } from 'node:timers/promises';
import { findNotes, issueNotes } from './emitir.ts';
import { isReady } from './instalar.ts';
import { until } from './maquina.ts';
import { hasCommand, type Life, type Step } from './vida.ts';

/** The only folder of backups into which the unit lets the service write. */
const COPIES = '/srv/nfse-copias';
/** The key of the audit is in no backup: `copias.md` has it kept apart, and put back before a restoration. */
const [KEY, KEPT_KEY] = ['/var/lib/nfse/auditoria.chave', '/srv/auditoria.chave'];
/** A WAL segment is closed after thirty seconds, and archived within five more. */
const ARCHIVED_WITHIN_MS = 45_000;

async function needsCopies(life: Life): Promise<string | undefined> {
  return (await hasCommand(life, 'copia fazer')) ? undefined : 'nfse copia';
}

/** A command of the service's account, which owns the backups. */
function copia(command: string): string {
  return `runuser -u nfse -- nfse copia ${command}\n`;
}

export const COPY: Step = {
  name: 'cópia com o serviço no ar, conferida',
  needs: needsCopies,
  run: async (life) => {
    const { machine } = life;
    await machine.do(`install -d -o nfse -g nfse -m 700 ${COPIES}
      echo NFSE_COPIAS=${COPIES} >> /etc/nfse.env
      systemctl restart nfse`);
    await until('o serviço parte', () => isReady(life));
    await machine.do(`${copia('fazer')}${copia('conferir')}install -m 600 ${KEY} ${KEPT_KEY}`);
    // The archived WAL has the changes after the backup.
    await issueNotes(life, 3);
    await pause(ARCHIVED_WITHIN_MS);
    await machine.do(copia('listar'));
  },
};

export const DESTROY: Step = {
  name: 'destruído: os processos mortos, os dados apagados',
  needs: needsCopies,
  run: async ({ machine }) => {
    await machine.do(`systemctl kill -s KILL --kill-whom=all nfse
      systemctl stop nfse.socket nfse.service
      find /var/lib/nfse -mindepth 1 -delete`);
  },
};

export const RESTORE: Step = {
  name: 'restaurado da cópia: todas as notas estão lá',
  needs: needsCopies,
  run: async (life) => {
    await life.machine.do(`install -o nfse -g nfse -m 600 ${KEPT_KEY} ${KEY}
      ${copia('restaurar')}systemctl start nfse.socket nfse.service`);
    await until('o serviço parte', () => isReady(life));
    await findNotes(life);
    // A restoration leaves the municipalities closed until an operator has checked them.
    await life.machine.do('runuser -u nfse -- nfse municipio alterar exemplo --sem-fechar');
    await issueNotes(life, 1);
  },
};
