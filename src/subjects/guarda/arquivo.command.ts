/** `nfse arquivo …`: moves past months from the database into signed files, and back. */

import { type CliWorld, type Command, JSON_OPTION, refuseAsked, type Values } from '../../base/terminal/command.ts';
import { jsonText, printable, tableLines } from '../../base/terminal/text.ts';
import { groupDigits } from '../../fiscal/group-digits.ts';
import { BRASILIA, momentIn } from '../../fiscal/moment.ts';
import { conferirArquivo, fecharMes, listArquivo, type MesArquivado, trazerMes } from './arquivar.ts';

export const ARQUIVO_COMMANDS: readonly Command[] = [
  {
    name: 'arquivo listar',
    summary: 'Lista os meses do banco, e os arquivos daqueles que foram encerrados.',
    options: JSON_OPTION,
    run: listar,
  },
  {
    name: 'arquivo fechar',
    arguments: 'AAAA-MM',
    summary:
      'Leva os documentos e o histórico de um mês do banco para NFSE_ARQUIVO, uma pasta ou um bucket S3; as consultas continuam.',
    run: (world, _values, [mes]) => fechar(world, mes!),
  },
  {
    name: 'arquivo conferir',
    arguments: '[AAAA-MM …]',
    summary: 'Relê os arquivos inteiros e confere conteúdo, contagens e assinaturas.',
    run: (world, _values, meses) => conferir(world, meses),
  },
  {
    name: 'arquivo trazer',
    arguments: 'AAAA-MM',
    summary: 'Traz um mês arquivado de volta ao banco; dado outra vez, continua. Os arquivos ficam.',
    run: (world, _values, [mes]) => trazer(world, mes!),
  },
];

const tellIn =
  (world: CliWorld) =>
  (line: string): void =>
    world.out(`${printable(line)}\n`);

function fechar(world: CliWorld, mes: string): Promise<number> {
  return world.registry(async (registry) => {
    const done = await fecharMes(registry, mes, tellIn(world));
    if ('problem' in done) return refuseAsked(world, done.problem);
    world.out(
      done.lockedMs === undefined
        ? `${mes} já está no arquivo.\n`
        : `${mes} está no arquivo. As tabelas do mês ficaram presas por ${groupDigits(Math.round(done.lockedMs))} ms.\n`,
    );
    return 0;
  });
}

function conferir(world: CliWorld, meses: readonly string[]): Promise<number> {
  return world.registry(async (registry) => {
    const done = await conferirArquivo(registry, meses, tellIn(world));
    if ('problem' in done) return refuseAsked(world, done.problem);
    const { problemas, conferidos } = done;
    for (const problema of problemas) world.err(`${printable(problema)}\n`);
    const fine =
      conferidos === 0 ? 'Não há arquivo a conferir.\n' : `${conferidos} arquivos, todos como foram escritos.\n`;
    world.out(
      problemas.length === 0
        ? fine
        : `${conferidos} arquivos, ${problemas.length} problemas. Restaure de uma cópia o que está danificado, e confira de novo.\n`,
    );
    return problemas.length === 0 ? 0 : 1;
  });
}

function trazer(world: CliWorld, mes: string): Promise<number> {
  return world.registry(async (registry) => {
    const done = await trazerMes(registry, mes, tellIn(world));
    if ('problem' in done) return refuseAsked(world, done.problem);
    world.out(
      done.trazido ? `${mes} está no banco. Os arquivos ficaram onde estavam.\n` : `${mes} já está no banco.\n`,
    );
    return 0;
  });
}

async function listar(world: CliWorld, values: Values): Promise<number> {
  const meses = await world.registry(listArquivo);
  world.out(values['json'] === true ? jsonText(meses) : meses.flatMap(describeMes).join(''));
  return 0;
}

function describeMes({ mes, arquivado_em, arquivos }: MesArquivado): readonly string[] {
  const place =
    arquivado_em === null ? 'no banco' : `no arquivo desde ${momentIn(BRASILIA, Date.parse(arquivado_em)).date}`;
  const rows = arquivos.map(({ nome, bytes, assinado, linhas }) => [
    nome,
    `${groupDigits(linhas['documentos'] ?? 0)} notas`,
    `${groupDigits(bytes)} bytes`,
    assinado ? 'assinado' : 'sem assinatura',
  ]);
  return [`${mes}  ${place}\n`, ...tableLines(rows).map((line) => `    ${line}\n`)];
}
