/**
 * Imports a municipality's file into this database: all of it in one transaction, checked before the commit, or nothing. The municipality
 * is closed at first, so that two services never issue and transmit at once: the operator opens it (D-436).
 */

import { type Linhas, readResumo } from '../../base/book/linhas.ts';
import { describeDifference } from '../../base/pg/tabelas.ts';
import type { RegistryWorld } from '../../base/world/municipios.ts';
import { slugProblem } from '../../base/world/slugs.ts';
import { nameMes } from '../../fiscal/moment.ts';
import { Arquivo, checkArquivo, type Manifesto, type ResumoDeTabela } from './arquivo.ts';
import type { Andamento } from './exportar.ts';

export type Importado = {
  readonly tenant: string;
  readonly manifesto: Manifesto;
  readonly tabelas: readonly ResumoDeTabela[];
};

/** `como`: the slug in this database; undefined: the original one. Throws an Error in Portuguese; nothing is imported then. */
export async function importMunicipio(
  { store }: RegistryWorld,
  file: string,
  como: string | undefined,
  { rows, tell }: Andamento,
): Promise<Importado> {
  tell('confere o arquivo');
  await checkArquivo(file, rows);
  const work = async (arquivo: Arquivo): Promise<Importado> => {
    const { manifesto } = arquivo;
    const tenant = como ?? manifesto.municipio;
    const wrong = slugProblem(tenant);
    if (wrong !== undefined) throw new Error(wrong);
    await store.linhas.read((linhas) => checkFit(linhas, tenant, manifesto));
    const { ambiente, codigo_ibge } = manifesto;
    const taken =
      ambiente === 'producao' && codigo_ibge !== null
        ? await store.municipios.findInProducao(codigo_ibge, tenant)
        : undefined;
    if (taken !== undefined) throw new Error(codeInUse(manifesto, taken));
    await store.linhas.makeMeses(manifesto.meses);
    const tabelas = await store.linhas.write(async (linhas) => {
      const written = await writeTables(linhas, tenant, arquivo);
      tell('tudo está gravado, e é conferido antes de valer');
      for (const tabela of manifesto.tabelas) {
        const there = await readResumo(linhas.read(tabela, tenant), rows);
        const said = written.find(({ nome }) => nome === tabela.nome)!;
        if (there.sha256 !== said.sha256) throw new Error(`a tabela ${tabela.nome} não ficou como está no arquivo.`);
      }
      await linhas.adoptCorrente(tenant);
      const other = await linhas.closeMunicipio(tenant);
      if (other !== undefined) throw new Error(codeInUse(manifesto, other));
      return written;
    });
    return { tenant, manifesto, tabelas };
  };
  return Arquivo.open(file, work, rows);
}

async function writeTables(linhas: Linhas, tenant: string, arquivo: Arquivo): Promise<readonly ResumoDeTabela[]> {
  for (const tabela of arquivo.manifesto.tabelas) {
    try {
      await linhas.write(tabela, tenant, arquivo.rows(tabela));
    } catch (error) {
      const why = whyNot(error as DatabaseError);
      if (why === undefined) throw error;
      throw new Error(`a tabela ${tabela.nome} ${why}`, { cause: error });
    }
  }
  return arquivo.check();
}

type DatabaseError = { readonly code?: string; readonly detail?: string };

function whyNot({ code, detail = '' }: DatabaseError): string | undefined {
  if (code === TAKEN)
    return 'já tem uma linha igual: este município já está aqui, ou outro comando o importa neste momento.';
  const mes = code === REFUSED ? NO_PARTITION.exec(detail)?.[1] : undefined;
  if (mes === undefined) return undefined;
  const name = nameMes(Number(mes));
  return `tem, no arquivo, linhas de ${name}, mês que este banco já eliminou. Elimine-o também na origem (nfse guarda eliminar ${name}) e exporte de novo, ou importe num banco que não o eliminou. Nada foi importado.`;
}

const TAKEN = '23505';
/** The SQLSTATE of a table's check constraint, or of a row without a partition. */
const REFUSED = '23514';
const NO_PARTITION = /\(mes\) = \((\d{6})\)/;

/** Whether this database takes the file. Throws an Error in Portuguese. */
async function checkFit(linhas: Linhas, tenant: string, { esquema, tabelas }: Manifesto): Promise<void> {
  if (await linhas.hasMunicipio(tenant)) {
    throw new Error(
      `já existe o município ${tenant} neste banco. Se foi esta importação que terminou, nada falta fazer; para trazê-lo ao lado, indique outro endereço com --como.`,
    );
  }
  const ours = await linhas.esquema();
  const apart = [...new Set(esquema).symmetricDifference(new Set(ours))].sort();
  const difference =
    apart.length > 0
      ? apart.join(', ')
      : describeDifference(
          tabelas,
          (await linhas.tabelas()).filter(({ isOfTenant }) => isOfTenant),
        );
  if (difference === undefined) return;
  throw new Error(
    `o arquivo é de outra versão do banco de dados (difere em ${difference}). Traga os dois serviços à mesma versão do programa, e exporte de novo.`,
  );
}

function codeInUse({ codigo_ibge }: Manifesto, other: string): string {
  return `o município ${codigo_ibge} já está em produção neste banco, no endereço ${other}, e só numera notas num endereço. Nada foi importado.`;
}
