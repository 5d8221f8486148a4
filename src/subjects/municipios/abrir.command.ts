/** `nfse municipio abrir`: many municipalities by one file. */
import { byHand, type CliWorld, type Command, type Values } from '../../base/terminal/command.ts';
import { printable } from '../../base/terminal/text.ts';
import { groupDigits } from '../../fiscal/group-digits.ts';
import type { LinhaAberta } from './abrir.ts';

export const ABRIR_COMMAND: Command = {
  name: 'municipio abrir',
  arguments: 'ARQUIVO',
  summary:
    'Abre muitos municípios de uma vez, um por linha de uma planilha, com os seus cadastros; dado outra vez, continua de onde parou.',
  options: {
    previa: { help: 'confere tudo e diz o que faria, e não grava nada' },
    confirmar: { help: 'grava ainda que haja o que confirmar num cadastro, como uma alíquota abaixo de 2 %' },
    motivo: { takes: 'TEXTO', help: 'por quê; fica no histórico de cada município' },
  },
  moreHelp: async () => {
    const { COLUNAS } = await import('./abrir.ts');
    const optional = COLUNAS.optional.filter((column) => column !== 'ibge');
    return [
      '',
      'Colunas: slug e, para um município novo, ibge.',
      `E podem vir: ${optional.join(', ')}.`,
      'Um ajuste é a opção de mesmo nome de municipio criar (sem argumento: sim ou nao); uma célula vazia deixa como está.',
      'Um cadastro é o nome do seu arquivo. Os caminhos começam na pasta da planilha.',
    ];
  },
  run: abrir,
};

function abrir(world: CliWorld, values: Values, [arquivo]: readonly string[]): Promise<number> {
  const previa = values['previa'] === true;
  const request = { arquivo: arquivo!, previa, confirmado: values['confirmar'] === true };
  return world.registry(async (registry) => {
    const { abrirMunicipios } = await import('./abrir.ts');
    const counts = new Map<string, number>();
    const seen = new Set<string>();
    for await (const one of abrirMunicipios(registry, request, byHand(values))) {
      for (const line of describeLinha(one, seen)) world.out(`${printable(line)}\n`);
      const outcome = one.problemas.length === 0 ? one.feito! : 'com problema';
      counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
    }
    if (counts.size === 0) world.err('O arquivo só tem o cabeçalho.\n');
    for (const [outcome, count] of counts) world.out(`${outcome}: ${groupDigits(count)}\n`);
    const failed = counts.get('com problema') ?? 0;
    if (previa) world.out('Nada foi gravado: era uma prévia.\n');
    else if (failed > 0)
      world.err('Corrija as linhas com problema e dê o mesmo arquivo de novo: o que está certo fica.\n');
    return failed > 0 || counts.size === 0 ? 1 : 0;
  }, !previa);
}

/** The lines about one municipality. `seen`: remarks that were shown already; many municipalities have the same. */
function describeLinha({ linha, slug, feito, contas, problemas, avisos }: LinhaAberta, seen: Set<string>): string[] {
  const told = contas.flatMap(({ de, ...counts }) => {
    const some = Object.entries(counts).filter(([, count]) => count > 0);
    const parts = some.map(([nome, count]) => `${nome} ${groupDigits(count)}`);
    return parts.length === 0 ? [] : [`${de.toLowerCase()}: ${parts.join(', ')}`];
  });
  const fresh = avisos.filter((aviso) => !seen.has(aviso));
  for (const aviso of fresh) seen.add(aviso);
  return [
    `${slug || '(sem slug)'}: ${[feito ?? `linha ${linha}, nada gravado`, ...told].join('; ')}`,
    ...problemas.map((problema) => `  PROBLEMA  ${problema}`),
    ...fresh.map((aviso) => `  aviso     ${aviso}`),
  ];
}
