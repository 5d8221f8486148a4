/** Copied while it serves, destroyed with its disk, restored: every note that was answered is there. */
import { setTimeout as pause } from 'node:timers/promises';
import { findNotes, issueNotes } from './emitir.ts';
import { isReady } from './instalar.ts';
import { until } from './maquina.ts';
import { hasCommand, type Life, type Step } from './vida.ts';

/** The one that the unit lets the service write into. */
const COPIES = '/srv/nfse-copias';
/** A segment of the WAL is given thirty seconds, and is carried away within five more. */
const ARCHIVED_WITHIN_MS = 45_000;

async function needsCopies(life: Life): Promise<string | undefined> {
  return (await hasCommand(life, 'copia fazer')) ? undefined : 'nfse copia';
}

/** As the account of the service, which owns the copies. */
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
    await machine.do(copia('fazer') + copia('conferir'));
    // What comes after the copy is in what is archived.
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
    await life.machine.do(`${copia('restaurar')}systemctl start nfse.socket nfse.service`);
    await until('o serviço parte', () => isReady(life));
    await findNotes(life);
    // Restoring leaves the municipalities closed, until somebody has looked.
    await life.machine.do('runuser -u nfse -- nfse municipio alterar exemplo --sem-fechar');
    await issueNotes(life, 1);
  },
};
