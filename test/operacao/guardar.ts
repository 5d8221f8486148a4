/** Copied while it serves, destroyed with its disk, restored: every note that was answered is there. */
import { findNotes, issueNotes } from './emitir.ts';
import { isReady } from './instalar.ts';
import { until } from './maquina.ts';
import { hasCommand, type Life, type Step } from './vida.ts';

const COPIES = '/var/backups/nfse';

async function needsCopies(life: Life): Promise<string | undefined> {
  return (await hasCommand(life, 'copia fazer')) ? undefined : 'nfse copia';
}

export const COPY: Step = {
  name: 'cópia com o serviço no ar, conferida',
  needs: needsCopies,
  run: async (life) => {
    const { machine } = life;
    await machine.do(
      `install -d -o nfse -g nfse -m 700 ${COPIES}; echo NFSE_COPIAS=${COPIES} >> /etc/nfse.env; systemctl restart nfse`,
    );
    await until('o serviço parte', () => isReady(life));
    await machine.do(`${withCopies('fazer')}; ${withCopies('conferir')}; ${withCopies('listar')}`);
    // What comes after the copy is in what is archived.
    await issueNotes(life, 3);
  },
};

export const DESTROY: Step = {
  name: 'destruído: o processo morto, o disco do banco apagado',
  needs: needsCopies,
  run: async ({ machine }) => {
    await machine.do(
      'systemctl kill -s KILL --kill-whom=all nfse; systemctl stop nfse; rm -rf /var/lib/nfse/* /var/lib/nfse/.[!.]*',
    );
  },
};

export const RESTORE: Step = {
  name: 'restaurado da cópia: todas as notas estão lá',
  needs: needsCopies,
  run: async (life) => {
    await life.machine.do(`${withCopies('restaurar')}; systemctl start nfse`);
    await until('o serviço parte', () => isReady(life));
    await findNotes(life);
    await issueNotes(life, 1);
  },
};

/** Commands that root gives beside the service have its settings. */
function withCopies(command: string): string {
  return `NFSE_COPIAS=${COPIES} nfse copia ${command}`;
}
