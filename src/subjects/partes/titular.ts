/**
 * The data held about a person (LGPD, Lei 13.709/2018): shown and exported for the person, and erased as far as the law allows. The trail
 * and the log never have the CPF: each request has a number of its own.
 */
import { randomUUID } from 'node:crypto';
import type { NovoAto } from '../../base/book/atos.ts';
import { municipioNamed, type RegistryWorld } from '../../base/world/municipios.ts';
import { type PorMao, type Problem, readMotivo } from '../../base/world/operator.ts';
import { writeZip, type ZipEntry } from '../../documents/write-zip.ts';
import { cpfIsValid } from '../../fiscal/chave.ts';
import { documentoDaNota } from '../notas/nota-inteira.ts';
import type { Achado } from './titular.rows.ts';

/** The legal ground to keep a table, or the lack of one. Articles are of the LGPD (Lei 13.709/2018) unless named otherwise. */
const BASES: Readonly<Record<Achado['base'], string>> = {
  fiscal:
    'documento fiscal: obrigação legal, até passar o prazo (art. 7º, II; art. 16, I; CTN, arts. 173, 174 e 195); depois, nfse guarda eliminar',
  cadastro:
    'cadastro fiscal do município: obrigação legal e competência do ente público (art. 7º, II; art. 23); corrige-se no cadastro',
  trilha: 'registro de quem fez o quê, de que o município presta contas (art. 16, I; art. 37)',
  acesso: 'acesso que a própria pessoa pediu: o que já não vale se apaga; o que vale, encerra-se antes (art. 16)',
  auxiliar: 'índice ou cópia que o serviço fez dos documentos: pode ser apagado (art. 16; art. 18, VI)',
  ensaio: 'de um ambiente de ensaio, e não documento fiscal: pode ser apagado (art. 16; art. 18, VI)',
  passageiro: 'passagem: o serviço o apaga sozinho em horas ou dias (art. 16)',
};

/** A place with data of a person, and the legal ground to keep it. */
export type LugarDoTitular = Omit<Achado, 'tenant' | 'base'> & {
  /** Null: the place belongs to the installation. */
  readonly municipio: string | null;
  readonly por_que: string;
};

/** `slug`: the only municipality; undefined: the whole installation. */
type Asked = { readonly cpf: string; readonly slug: string | undefined };

export async function showTitular(
  world: RegistryWorld,
  text: string,
  slug: string | undefined,
): Promise<readonly LugarDoTitular[] | Problem> {
  const asked = await readAsked(world, text, slug);
  if ('problem' in asked) return asked;
  const found = await world.store.titular.find(asked.cpf, world.now(), asked.slug);
  return found.map(lugarOf);
}

function lugarOf({ tenant, base, ...one }: Achado): LugarDoTitular {
  return { municipio: tenant ?? null, ...one, por_que: BASES[base] };
}

/** `protocolo`: the number of the request in the trail. */
type Feito = { readonly protocolo: string; readonly lugares: readonly LugarDoTitular[] };

/** Writes all data held about a person, and the notes, to a ZIP. */
export async function exportTitular(
  world: RegistryWorld,
  text: string,
  slug: string | undefined,
  { arquivo, by }: { readonly arquivo: string; readonly by: PorMao },
): Promise<Feito | Problem> {
  const asked = await readAsked(world, text, slug, by);
  if ('problem' in asked) return asked;
  const found = await world.store.titular.find(asked.cpf, world.now(), asked.slug);
  const protocolo = randomUUID();
  // A file of this name may belong to someone else and be readable by others.
  const problem = await writeZip(arquivo, entriesOf(world, asked.cpf, found), 'wx').then(
    () => undefined,
    problemOfFile,
  );
  if (problem !== undefined) return problem;
  const counts = (tenant: string) =>
    Object.fromEntries(found.filter((one) => one.tenant === tenant).map(({ tabela, linhas }) => [tabela, linhas]));
  const tenants = [...new Set(found.flatMap(({ tenant }) => tenant ?? []))];
  const write = (tenant: string): NovoAto => atoOf(world, by, protocolo, 'dados exportados', counts(tenant));
  await world.store.titular.record(tenants, write);
  return { protocolo, lugares: found.map(lugarOf) };
}

function problemOfFile(error: NodeJS.ErrnoException): Problem {
  const { code, path: file } = error;
  if (code === undefined || file === undefined) throw error;
  return {
    problem:
      code === 'EEXIST'
        ? `${file} já existe, e fica como está: dê outro nome com --saida.`
        : `${file} não pôde ser escrito (${code}): veja se a pasta de --saida existe e é desta conta.`,
  };
}

async function* entriesOf(world: RegistryWorld, cpf: string, found: readonly Achado[]): AsyncGenerator<ZipEntry> {
  const json = (nome: string, valor: unknown): ZipEntry => ({
    nome,
    conteudo: Buffer.from(`${JSON.stringify(valor, null, 2)}\n`),
  });
  yield json('resumo.json', { cpf, lugares: found.map(lugarOf) });
  // The notes bring the contents of files.
  for (const { tenant, tabela } of found.filter((one) => one.tabela !== 'arquivo')) {
    const rows = await world.store.titular.readRows(cpf, tabela, tenant);
    yield json(`${tenant ?? 'instalacao'}/${tabela}.json`, rows);
    if (tabela !== 'notas' || tenant === undefined) continue;
    for (const chave of await world.store.titular.listChaves(cpf, tenant)) {
      const nfse = await documentoDaNota(world, tenant, chave, 'nfse');
      if ('problem' in nfse) throw new Error(nfse.problem);
      yield { nome: `${tenant}/notas/${chave}.xml`, conteudo: Buffer.from(nfse.conteudo) };
    }
  }
}

/** Erases the rows that may be erased, and returns them by place. */
export async function eraseTitular(
  world: RegistryWorld,
  text: string,
  slug: string | undefined,
  by: PorMao,
): Promise<Feito | Problem> {
  const asked = await readAsked(world, text, slug, by);
  if ('problem' in asked) return asked;
  const protocolo = randomUUID();
  const write = (linhas: Readonly<Record<string, number>>): NovoAto =>
    atoOf(world, by, protocolo, 'dados apagados', linhas);
  const erased = await world.store.titular.erase(asked.cpf, world.now(), write, asked.slug);
  return { protocolo, lugares: erased.map(lugarOf) };
}

function atoOf(
  world: RegistryWorld,
  { quem, via, motivo }: PorMao,
  protocolo: string,
  acao: string,
  depois: Readonly<Record<string, number>>,
): NovoAto {
  return { em: world.now(), quem, via, motivo, objeto: 'titular', chave: protocolo, acao, depois };
}

async function readAsked(
  world: RegistryWorld,
  text: string,
  slug: string | undefined,
  by?: PorMao,
): Promise<Asked | Problem> {
  const cpf = text.replace(/[.\-\s]/g, '');
  if (!/^\d{11}$/.test(cpf) || !cpfIsValid(cpf)) {
    return { problem: 'Isto não é um CPF: escreva os 11 dígitos, com os dígitos verificadores certos.' };
  }
  if (slug !== undefined) await municipioNamed(world, slug);
  if (by === undefined) return { cpf, slug };
  const read = readMotivo(by);
  if ('problem' in read) return read;
  const isNamed = (read.motivo ?? '').replace(/[.\-\s]/g, '').includes(cpf);
  return isNamed
    ? { problem: 'O motivo traz o CPF, e o histórico não o guarda: diga o número do pedido.' }
    : { cpf, slug };
}
