/** `nfse correlacao importar`: the codes that a municipality adds to each RPS of the legacy port, whose layout lacks them. */
import { groupDigits } from '../../fiscal/group-digits.ts';
import { COLUNAS_CORRELACAO, importCorrelacao } from '../../flows/import-correlacao.ts';
import { type CliWorld, type Command, inMunicipio } from './command.ts';
import { WHOSE_FILE } from './importar.ts';

/** Refused lines that are shown. */
const SHOWN_MAX = 100;

export const CORRELACAO_COMMANDS: readonly Command[] = [
  {
    name: 'correlacao importar',
    arguments: 'ARQUIVO',
    summary:
      'Importa a correlação do porto SOAP legado, em CSV: o que falta a um RPS (NBS, IBS e CBS) por item da lista. O arquivo substitui a correlação inteira.',
    options: { municipio: { takes: 'SLUG', help: 'município a que a correlação pertence' } },
    notes: [
      ['', ''],
      ['Colunas', `${COLUNAS_CORRELACAO.required.join(', ')}; e pode ter ${COLUNAS_CORRELACAO.optional.join(', ')}`],
      ['Código', 'codigo_municipal vazio vale para todo RPS do item que não tem linha própria'],
    ],
    run: (world, values, [arquivo]) =>
      inMunicipio(world, values, WHOSE_FILE, (municipio) => importar(world, municipio, arquivo!)),
  },
];

function importar(world: CliWorld, municipio: string, arquivo: string): Promise<number> {
  return world.registry(async (registry) => {
    const { linhas, recusadas, gravada } = await importCorrelacao(registry, { arquivo, municipio });
    if (gravada) {
      world.out(`Correlação de ${municipio} gravada: ${groupDigits(linhas)} linhas, em lugar da que havia.\n`);
      return 0;
    }
    world.err(
      `Nada foi gravado: ${linhas === 0 ? 'o arquivo só tem o cabeçalho.' : 'corrija as linhas e importe de novo.'}\n`,
    );
    for (const { linha, motivo } of recusadas.slice(0, SHOWN_MAX)) world.err(`  linha ${linha}: ${motivo}\n`);
    return 1;
  });
}
