/** `nfse aliquotas …` imports the rates of the IBS and the CBS as a file for all municipalities of this service. */

import {
  type CliWorld,
  type Command,
  JSON_OPTION,
  nameOperator,
  textOf,
  type Values,
} from '../../base/terminal/command.ts';
import { jsonText, printable, tableLines } from '../../base/terminal/text.ts';
import { groupDigits } from '../../fiscal/group-digits.ts';
import {
  type AliquotaShown,
  COLUNAS_ALIQUOTA,
  importAliquotas,
  showAliquotas,
  type TabelaShown,
  TRIBUTO_EM_PALAVRAS,
} from './import-aliquotas.ts';
import { IMPORT_OPTIONS, runFileImport } from './importar.command.ts';

export const ALIQUOTAS_COMMANDS: readonly Command[] = [
  {
    name: 'aliquotas importar',
    arguments: 'ARQUIVO',
    summary:
      'Importa alíquotas do IBS e da CBS, em CSV, para todos os municípios; as notas retidas por falta delas seguem sozinhas.',
    options: { erros: IMPORT_OPTIONS.erros },
    notes: [
      ['', ''],
      ['Colunas', COLUNAS_ALIQUOTA.required.join(', ')],
      ['e podem vir', `${COLUNAS_ALIQUOTA.optional.join(', ')} (vazia: vale para todos)`],
      ['tributo', TRIBUTO_EM_PALAVRAS],
      ['uf', 'só com IBS-UF; municipio (código IBGE) só com IBS-MUN; cclasstrib só com estes dois e CBS'],
      ['Vigência', 'uma linha toma o lugar da que começa no mesmo dia; as demais ficam, e períodos não se sobrepõem'],
    ],
    run: importar,
  },
  {
    name: 'aliquotas listar',
    summary: 'Lista as alíquotas do IBS e da CBS em vigor, as que foram substituídas, e cada importação.',
    options: JSON_OPTION,
    run: listar,
  },
];

function importar(world: CliWorld, values: Values, [arquivo]: readonly string[]): Promise<number> {
  const asked = { arquivo: arquivo!, erros: textOf(values, 'erros') };
  return world.registry((registry) =>
    runFileImport(
      world,
      asked,
      (request) => importAliquotas(registry, request, nameOperator()),
      ({ versao, novas, alteradas, iguais, retroativas }) => [
        `Tabela de alíquotas ${versao}: novas ${groupDigits(novas)}, alteradas ${groupDigits(alteradas)}, iguais ${groupDigits(iguais)}.`,
        ...(retroativas === 0
          ? []
          : [
              `Linhas que mudam competências que já começaram: ${groupDigits(retroativas)}. As notas já emitidas ficam como estão; nfse nota mostrar diz por que versão cada uma foi julgada.`,
            ]),
        novas + alteradas === 0
          ? 'O arquivo diz o que a tabela já dizia: a versão continua a mesma.'
          : 'As notas retidas por falta destas alíquotas seguem sozinhas, em segundos, enquanto o serviço (ou nfse transmitir) roda.',
      ],
    ),
  );
}

async function listar(world: CliWorld, values: Values): Promise<number> {
  const tabela = await world.registry((registry) => showAliquotas(registry));
  world.out(values['json'] === true ? jsonText(tabela) : describeTabela(tabela));
  return 0;
}

function describeTabela({ versao, linhas, substituidas, importacoes, avisos }: TabelaShown): string {
  const lines = [`Tabela de alíquotas do IBS e da CBS, versão ${versao}:`, ...rowsOf(linhas)];
  if (substituidas.length > 0) {
    lines.push('', 'Substituídas, pelas quais notas podem ter sido julgadas:', ...rowsOf(substituidas));
  }
  lines.push('', 'Importações:');
  for (const { versao: of, em, arquivo, quem, novas, alteradas, retroativas } of importacoes) {
    const whence =
      arquivo === null ? 'a que acompanha o programa' : `${printable(arquivo)}, por ${printable(quem ?? '')}`;
    const past = retroativas === 0 || of === 1 ? '' : `; ${retroativas} de competências já começadas`;
    lines.push(`  ${of}  ${em}  ${whence}: ${novas} novas, ${alteradas} alteradas${past}`);
  }
  for (const aviso of avisos) lines.push('', `AVISO: ${aviso}`);
  return `${lines.join('\n')}\n`;
}

function rowsOf(linhas: readonly AliquotaShown[]): readonly string[] {
  const cells = linhas.map(({ tributo, lugar, cClassTrib, inicio, fim, aliquota, ato, fonte, versao, substituida }) => [
    tributo,
    lugar,
    cClassTrib === 'todas' ? '' : `cClassTrib ${cClassTrib}`,
    fim === '' ? `${inicio} em diante` : `${inicio} a ${fim}`,
    aliquota,
    substituida === null ? `versão ${versao}` : `versões ${versao} a ${substituida - 1}`,
    printable(`${ato} (${fonte})`),
  ]);
  return tableLines(cells).map((line) => `  ${line}`);
}
