/** `nfse servicos importar`: the municipality's list of services, with their rates and dates. */
import { COLUNAS_SERVICO, importServicos } from '../../flows/import-servicos.ts';
import type { Command } from './command.ts';
import { IMPORT_OPTIONS, IMPORT_OPTIONS_HELP, importing } from './importar.ts';
import { grouped } from './municipio.ts';

export const SERVICOS_COMMANDS: readonly Command[] = [
  {
    name: 'servicos importar',
    arguments: 'ARQUIVO',
    summary:
      'Importa a lista municipal de serviços, em CSV. Com ela, o município só administra os códigos que estão na lista.',
    options: IMPORT_OPTIONS,
    optionsHelp: [
      ...IMPORT_OPTIONS_HELP,
      ['', ''],
      ['Colunas', COLUNAS_SERVICO.required.join(', ')],
      ['Vigência', 'de cada código do arquivo valem as linhas do arquivo; códigos ausentes ficam como estão'],
    ],
    takes: 1,
    run: (world, values, [arquivo]) =>
      world.registry((registry) => {
        let [unsendable, unusual] = [0, 0];
        return importing(
          world,
          values,
          arquivo!,
          async (request) => {
            const imported = await importServicos(registry, request);
            ({ unsendable, unusual } = imported);
            return imported;
          },
          ({ novos, alterados, iguais, retirados }, municipio) => [
            `Serviços de ${municipio}: novos ${grouped(novos)}, alterados ${grouped(alterados)}, iguais ${grouped(iguais)}, retirados ${grouped(retirados)}.`,
            'Os códigos que não estão no arquivo ficaram como estavam; para encerrar um, importe-o com a data em fim.',
            ...(unsendable === 0
              ? []
              : [
                  `Linhas com código que não cabe em cTribMun (3 algarismos), que valem só pelo código nacional: ${grouped(unsendable)}.`,
                ]),
            ...(unusual === 0
              ? []
              : [
                  `Linhas com alíquota acima de 5 % ou abaixo de 2 %, que a LC 116/2003 (art. 8º e 8º-A) só admite em poucos casos: ${grouped(unusual)}. Confira-as.`,
                ]),
          ],
        );
      }),
  },
];
