/**
 * The update to a version with a migration, by the page, and the way back. The link alone is refused at first; then the refusal's
 * instructions work.
 */

import { VERSION } from '../support/pacote-servico.ts';
import { MIGRATION, NEXT } from './arquivos.ts';
import { findNotes, issueNotes } from './emitir.ts';
import { followPage, isReady } from './instalar.ts';
import { until } from './maquina.ts';
import type { Life, Step } from './vida.ts';

async function assertVersion({ machine }: Life, version: string): Promise<void> {
  const said = await machine.do('nfse --version');
  if (!said.startsWith(`emissor-nfse ${version}`)) throw new Error(`wanted ${version}, and it is ${said}`);
}

export const UPDATE: Step = {
  name: 'atualizado a uma versão com migração, pela página',
  run: async (life) => {
    await issueNotes(life, 3);
    const said = await followPage(life, 'Atualizar por um arquivo', life.archives.next);
    if (!said.includes(MIGRATION)) throw new Error(`the migration is not told:\n${said}`);
    await until('o serviço parte', () => isReady(life));
    await assertVersion(life, NEXT);
    await findNotes(life);
  },
};

export const GO_BACK: Step = {
  name: 'de volta à versão anterior, pela página',
  run: async (life) => {
    const { machine } = life;
    await machine.do(
      `systemctl stop nfse.socket nfse.service; ln -sfn nfse-servico-${VERSION}-linux-${process.arch} /opt/nfse`,
    );
    const refused = await machine.try('nfse migrar');
    if (refused.code !== 1 || !/mais nova do que este programa[\s\S]*restaure a cópia/.test(refused.err))
      throw new Error(`the version before does not say what to do: ${refused.code} ${refused.err}`);
    await followPage(life, 'Voltar à versão anterior');
    await until('o serviço parte', () => isReady(life));
    await assertVersion(life, VERSION);
    await findNotes(life);
    await issueNotes(life, 1);
  },
};
