/** `nfse prestador …`: importing the register of providers of a municipality, and showing one of them. */

import { maskDocumento } from '../../fiscal/chave.ts';
import { groupDigits } from '../../fiscal/group-digits.ts';
import { brazilianDate } from '../../fiscal/moment.ts';
import { COLUNAS_PRESTADOR, importPrestadores, showPrestador, whyNoDocumento } from '../../flows/import-prestadores.ts';
import { askedWrongly, type CliWorld, type Command, inMunicipio, refuseAsked, type Values } from './command.ts';
import { IMPORT_OPTIONS, runImport } from './importar.ts';

export const PRESTADOR_COMMANDS: readonly Command[] = [
  {
    name: 'prestador importar',
    arguments: 'ARQUIVO',
    summary:
      'Importa o cadastro de prestadores, em CSV. O mesmo arquivo de novo não muda nada; quem não está nele fica como está.',
    options: IMPORT_OPTIONS,
    notes: [
      ['', ''],
      ['Colunas', COLUNAS_PRESTADOR.required.join(', ')],
      ['Também', COLUNAS_PRESTADOR.optional.join(', ')],
      ['Simples', 'de cada documento do arquivo valem os períodos do arquivo; para mais de um, repita a linha'],
    ],
    run: importar,
  },
  {
    name: 'prestador mostrar',
    arguments: 'DOCUMENTO',
    summary: 'Mostra o que o cadastro tem de um CNPJ ou CPF.',
    options: { municipio: { takes: 'SLUG', help: 'município do cadastro' } },
    run: (world, values, [documento]) =>
      inMunicipio(world, values, 'em que cadastro procurar', (slug) => tellPrestador(world, slug, documento!)),
  },
];

function importar(world: CliWorld, values: Values, [arquivo]: readonly string[]): Promise<number> {
  return runImport(
    world,
    values,
    arquivo!,
    importPrestadores,
    ({ novos, alterados, iguais, simples }, municipio, { hasAddress }) => [
      `Estabelecimentos em ${municipio}: novos ${groupDigits(novos)}, alterados ${groupDigits(alterados)}, iguais ${groupDigits(iguais)}.`,
      `Períodos do Simples Nacional: novos ${groupDigits(simples.novos)}, alterados ${groupDigits(simples.alterados)}, retirados ${groupDigits(simples.retirados)}.`,
      'Os prestadores que não estão no arquivo ficaram como estavam.',
      ...(hasAddress
        ? []
        : [
            'O arquivo não traz endereço: nas notas de quem é novo sai "Endereço não informado". As colunas opcionais o trazem.',
          ]),
    ],
  );
}

async function tellPrestador(world: CliWorld, municipio: string, documento: string): Promise<number> {
  const problem = whyNoDocumento(documento);
  if (problem !== undefined) return askedWrongly(world, `O documento indicado ${problem}.\n`);
  return world.registry(async (registry) => {
    const prestadores = await showPrestador(registry, municipio, documento);
    if (prestadores.length === 0) return refuseAsked(world, `O documento não está no cadastro de ${municipio}.`);
    const [{ documento: bare, simples }] = prestadores as [(typeof prestadores)[number]];
    world.out(`${maskDocumento(bare)}\n`);
    for (const { inscricaoMunicipal, razaoSocial, autorizado, endereco } of prestadores) {
      world.out(
        `  inscrição ${inscricaoMunicipal ?? '(sem)'}: ${razaoSocial}, ${autorizado ? 'autorizado' : 'não autorizado'}\n`,
      );
      world.out(`    ${endereco.xLgr}, ${endereco.nro}, ${endereco.xBairro}, CEP ${endereco.CEP}\n`);
    }
    for (const { inicio, fim } of simples) {
      const end = fim === undefined ? 'em diante' : `a ${brazilianDate(fim)}`;
      world.out(`  Simples Nacional: ${brazilianDate(inicio)} ${end}\n`);
    }
    if (simples.length === 0) world.out('  Simples Nacional: nenhum período\n');
    return 0;
  });
}
