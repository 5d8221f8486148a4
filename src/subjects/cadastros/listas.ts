/**
 * The dated lists of a municipality as files: the import from CSV, and the export to CSV. Their columns stand in `fiscal/registers.ts`,
 * and `base/book/listas.ts` stores them.
 */

import type { ContagemLista, Entrada, Linha } from '../../base/book/listas.ts';
import type { Municipio } from '../../base/book/municipios.ts';
import type { Staging } from '../../base/book/staging.ts';
import { municipioNamed, type RegistryWorld } from '../../base/world/municipios.ts';
import { CTRIBMUN } from '../../fiscal/aliquota.ts';
import { type Decimal, parseDecimal } from '../../fiscal/decimal.ts';
import { groupDigits } from '../../fiscal/group-digits.ts';
import { ISS_MIN } from '../../fiscal/iss.ts';
import { type Line, quiet, readPeriod } from '../../fiscal/register-text.ts';
import { type ListaNome, listFileColumns, listRegisterColumns } from '../../fiscal/registers.ts';
import { WITHOUT_MINIMUM } from '../../fiscal/rules/valores.ts';
import { foreseeNotas } from './consequencias.ts';
import type { Stage } from './import-csv.ts';

/** The reader and the storage of lines of a list. `seen`: for each notice that is no question, its lines. */
export function prepareLista(world: RegistryWorld, nome: ListaNome, municipio: Municipio, header: readonly string[]) {
  const columns = listRegisterColumns(nome).toSorted(
    ([, one], [, other]) => Number(other.isReadFirst === true) - Number(one.isReadFirst === true),
  );
  const seen = (REPAROS[nome] ?? []).map((reparo) => ({ ...reparo, linhas: new Set<number>() }));
  const reading = {
    read: (line: Line): Entrada => {
      const said = Object.fromEntries(columns.map(([name, { read }]) => [name, read(line, municipio)]));
      const { inicio, fim } = readPeriod(line, 'inicio', 'fim');
      if (line.text('inicio') === '') line.refuse('inicio', 'está vazio');
      const entrada: Entrada = { linha: line.linha, ...said, inicio: inicio ?? '', fim };
      for (const { has, linhas } of seen) if (has(entrada)) linhas.add(line.linha);
      return entrada;
    },
    keyOf: (line: Line): string | undefined => keyOfLine(nome, line, municipio),
    forget: (linha: number): void => {
      for (const { linhas } of seen) linhas.delete(linha);
    },
    ask: async (staging: Pick<Staging<Entrada, unknown>, 'probe'>): Promise<readonly string[]> => [
      ...(await staging.probe((client) => foreseeNotas(world, municipio, client))),
      ...seen.flatMap(({ isPergunta, diz, linhas }) =>
        isPergunta && linhas.size > 0 ? [diz(groupDigits(linhas.size))] : [],
      ),
    ],
  };
  const stage: Stage<Entrada, ContagemLista> = (work) =>
    world.store.listas.import(nome, municipio.tenant, header, work);
  return { reading, stage, seen: seen.filter(({ isPergunta }) => isPergunta !== true) };
}

/** The list as lines of its file. */
export async function listaAsRows(
  world: RegistryWorld,
  nome: ListaNome,
  slug: string,
): Promise<readonly (readonly string[])[]> {
  const { tenant } = await municipioNamed(world, slug);
  const linhas = await world.store.listas.list(nome, tenant);
  return linhas.map((linha) => listFileColumns(nome).map((coluna) => cellOf(linha[coluna])));
}

function cellOf(value: Linha[string] | undefined): string {
  return value == null ? '' : typeof value === 'string' ? value : value.join(' ');
}

type Reparo = {
  readonly has: (entrada: Entrada) => boolean;
  /** A sentence about so many lines. */
  readonly diz: (quantas: string) => string;
  /** The lines are stored only once that is confirmed. */
  readonly isPergunta?: true;
};

const hasRate = (entrada: Entrada, of: (aliquota: Decimal) => boolean): boolean =>
  typeof entrada['aliquota'] === 'string' && of(parseDecimal(entrada['aliquota']) as Decimal);

/** Notices for the operator about accepted lines. */
const REPAROS: Readonly<Partial<Record<ListaNome, readonly Reparo[]>>> = {
  servicos: [
    {
      has: ({ codigo }) => !CTRIBMUN.test(String(codigo)),
      diz: (quantas) =>
        `Linhas com código que não cabe em cTribMun (3 dígitos), que valem só pelo código nacional: ${quantas}.`,
    },
    {
      isPergunta: true,
      has: (entrada) =>
        hasRate(entrada, (aliquota) => aliquota < ISS_MIN) &&
        !WITHOUT_MINIMUM.has(String(entrada['codigo_tributacao_nacional'])),
      diz: (quantas) =>
        `Linhas com alíquota abaixo de 2 %, o mínimo do ISSQN fora dos subitens 7.02, 7.05 e 16.01 (LC 116/2003, art. 8º-A): ${quantas}. Uma planilha que mostra 5 % pode guardar 0,05.`,
    },
  ],
  beneficios: [
    {
      isPergunta: true,
      has: (entrada) =>
        hasRate(entrada, (aliquota) => aliquota < ISS_MIN) &&
        !isEverWithoutMinimum(entrada['servicos'] as readonly string[]),
      diz: (quantas) =>
        `Linhas com alíquota diferenciada abaixo de 2 %, o mínimo do ISSQN fora dos subitens 7.02, 7.05 e 16.01 (LC 116/2003, art. 8º-A): ${quantas}.`,
    },
    {
      isPergunta: true,
      has: ({ tipo, servicos }) => tipo === 'isencao' && !isEverWithoutMinimum(servicos as readonly string[]),
      diz: (quantas) =>
        `Linhas com isenção de serviços que a LC 116/2003 (art. 8º-A) não deixa isentar, cujas notas são recusadas (E0429): ${quantas}.`,
    },
    {
      isPergunta: true,
      has: ({ fim }) => fim === undefined,
      diz: (quantas) => `Benefícios sem fim (a coluna fim está vazia): ${quantas}.`,
    },
  ],
};

function isEverWithoutMinimum(servicos: readonly string[]): boolean {
  return servicos.length > 0 && servicos.every((codigo) => WITHOUT_MINIMUM.has(codigo));
}

/** The values of the key columns, with a space between; undefined if the first cannot be read. */
function keyOfLine(nome: ListaNome, line: Line, municipio: Municipio): string | undefined {
  const key = listRegisterColumns(nome).flatMap(([, { isKey, read }]) => (isKey ? [read(quiet(line), municipio)] : []));
  return key[0] === '' ? undefined : key.join(' ');
}
