/** `nfse diagnostico`: one file for the support of an operator, without personal data. */

import { type CliWorld, type Command, refuseAsked } from '../../base/terminal/command.ts';
import { quoteArgument } from '../../base/terminal/text.ts';
import { groupDigits } from '../../fiscal/group-digits.ts';

export const DIAGNOSTICO: Command = {
  name: 'diagnostico',
  arguments: '[ARQUIVO]',
  summary:
    'Escreve um ZIP para quem ajuda: versões, ajustes sem segredos, tamanhos, contagens e validades; nenhum dado pessoal. Serve também com o banco fora do ar.',
  run: (world, _values, [arquivo]) => write(world, arquivo ?? nameNow()),
};

/** The file stands in the current folder, and its name has the time of the machine. */
function nameNow(): string {
  return `nfse-diagnostico-${new Date().toISOString().slice(0, 19).replace(/[-:]/g, '').replace('T', '-')}.zip`;
}

async function write(world: CliWorld, arquivo: string): Promise<number> {
  try {
    const { bytes, falhou } = await world.diagnose(arquivo);
    world.out(
      [
        `Escrito em ${quoteArgument(arquivo)} (${groupDigits(bytes)} bytes). Leia antes de enviar: são textos, e LEIA-ME.txt diz o que há em cada um.`,
        ...(falhou === undefined
          ? []
          : [`O banco não foi alcançado (${falhou}), e o arquivo o diz. O resto está nele.`]),
        '',
      ].join('\n'),
    );
    return 0;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const problem = code === undefined ? undefined : PROBLEMS[code];
    if (problem === undefined) throw error;
    return refuseAsked(world, `${quoteArgument(arquivo)} ${problem}`);
  }
}

const PROBLEMS: Readonly<Record<string, string>> = {
  EEXIST: 'já existe, e não é trocado. Dê outro nome.',
  ENOENT: 'fica numa pasta que não existe. Crie-a, ou dê outro nome.',
  ENOTDIR: 'fica numa pasta que não existe. Crie-a, ou dê outro nome.',
  EACCES: 'não pode ser escrito por este usuário. Dê outro nome, noutra pasta.',
  EROFS: 'fica num disco que só se lê. Dê outro nome, noutra pasta.',
  ENOSPC: 'não coube: o disco está cheio. Dê outro nome, noutro disco.',
};
