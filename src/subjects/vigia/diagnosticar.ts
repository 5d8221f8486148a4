/**
 * One file for the support of an operator, without personal data. No search removes personal data from it: only values known to be
 * impersonal are put in (numbers, moments, words of this program, public names of authorities).
 */
import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Municipio } from '../../base/book/municipios.ts';
import type { Certificate } from '../../documents/certificate.ts';
import { exposedFiles } from '../../documents/exposed-files.ts';
import { nationalAuthorities } from '../../documents/icp-brasil/national.ts';
import { loadSigner, secretFiles } from '../../documents/key-files.ts';
import { writeFileFor } from '../../documents/new-files.ts';
import { makeZipEnd, makeZipPiece } from '../../documents/zip-pieces.ts';
import { AMBIENTES } from '../../fiscal/ambiente.ts';
import { BRASILIA, DAY_MS, momentIn } from '../../fiscal/moment.ts';
import { codeOf, type Diagnostico, readDiagnostico } from './diagnostico.rows.ts';

export { codeOf, type Diagnostico, readDiagnostico };

/** A certificate without its holder. `emissor`: only an authority that this program ships; any other name may be anybody's. */
type CertificadoVisto = {
  readonly inicio: string;
  readonly fim: string;
  readonly dias: number;
  readonly emissor: string;
  readonly chave: string;
};

type FalhaDeArquivo = { readonly falhou: string };

export type MunicipioVisto = {
  readonly municipio: string;
  readonly certificado: CertificadoVisto | FalhaDeArquivo | undefined;
  /** Key files that other accounts of the machine may read. */
  readonly chavesExpostas: number;
  readonly ancorasProprias: boolean;
  readonly listasProprias: boolean;
};

const OTHER_AUTHORITY = '(nenhuma das que este programa traz)';

/** The view of the municipalities' certificates; a person's own sandbox is not named. */
export async function seeMunicipios(all: readonly Municipio[], now: number): Promise<readonly MunicipioVisto[]> {
  const seen: MunicipioVisto[] = [];
  for (const { tenant, ambiente, adn, confianca } of all) {
    const transmits = AMBIENTES[ambiente].transmits ? adn : undefined;
    seen.push({
      municipio: tenant,
      certificado: transmits && (await seeSigner(transmits, now)),
      chavesExpostas: transmits === undefined ? 0 : (await exposedFiles(secretFiles(transmits.chaves))).length,
      ancorasProprias: confianca.ancoras !== undefined,
      listasProprias: confianca.revogados !== undefined,
    });
  }
  return seen;
}

async function seeSigner(
  { chaves }: NonNullable<Municipio['adn']>,
  now: number,
): Promise<MunicipioVisto['certificado']> {
  try {
    const { certificate } = await loadSigner(chaves);
    return { ...validityOf(certificate.inicio, certificate.fim, now), ...authorityOf(certificate) };
  } catch (error) {
    // The command `nfse municipio mostrar` tells the fault itself, with the names of files.
    return { falhou: codeOf(error) };
  }
}

function validityOf(inicio: number, fim: number, now: number) {
  const day = (instant: number): string => momentIn(BRASILIA, instant).date;
  return { inicio: day(inicio), fim: day(fim), dias: Math.floor((fim - now) / DAY_MS) };
}

function authorityOf({ issuerName, publicKey }: Certificate): Pick<CertificadoVisto, 'emissor' | 'chave'> {
  const { raizes, intermediarias } = nationalAuthorities();
  const issuer = [...raizes, ...intermediarias].find(({ subjectName }) => subjectName === issuerName);
  return { emissor: issuer?.titular ?? OTHER_AUTHORITY, chave: publicKey.asymmetricKeyType ?? '?' };
}

/** The validity of the service's own TLS certificate. */
export async function seeTls(file: string, now: number) {
  try {
    const { validFromDate, validToDate } = new X509Certificate(await readFile(file));
    return validityOf(validFromDate.getTime(), validToDate.getTime(), now);
  } catch (error) {
    return { falhou: codeOf(error) };
  }
}

/** The parts of the file by name, with their content. */
export type Partes = Readonly<Record<string, unknown>>;

const LEIA_ME = `Diagnóstico de um serviço de emissão de NFS-e, feito por «nfse diagnostico».

Não há dados pessoais: nem documentos, nomes, endereços, chaves de notas, protocolos, senhas, tokens, endereços com senha ou textos que
alguém tenha escrito. Só entram números, datas, palavras do próprio programa e nomes de autoridades da ICP-Brasil. Os municípios aparecem
pelo nome com que o serviço os conhece. Leia antes de enviar: são arquivos de texto.

programa.json    versão e commit, Node, opções
maquina.json     sistema, memória, disco, limites
ajustes.json     cada ajuste, do ambiente ou do arquivo: o valor, se nunca é segredo; senão só se foi definido; e se o arquivo foi lido
servico.json     o que o serviço desta máquina responde sobre a sua saúde
banco.json       versão, ajustes, migrações, tamanhos, linhas mortas, filas, contagens por estado e por código, idades (em segundos)
municipios.json  validade e emissor dos certificados

Onde algo não pôde ser lido está «falhou», com o código: do sistema (ECONNREFUSED, ENOENT), do PostgreSQL (42P01), ou SEM_DADOS (não há dados na
pasta), CONFIG (um ajuste não serve, ou o arquivo deles: veja ajustes.json), TEMPO (o banco não respondeu em cinco minutos).

O registro (log) não está aqui: o serviço o escreve em stderr e não o guarda. Quem ajuda pode pedir linhas dele; ele traz o endereço de rede
de quem pediu.
`;

/** Writes the file and returns its size in bytes; it fails when the file exists. */
export async function writeDiagnostico(arquivo: string, partes: Partes, now: number): Promise<number> {
  const em = momentIn(BRASILIA, now);
  const entries = [
    { nome: 'LEIA-ME.txt', conteudo: Buffer.from(LEIA_ME) },
    ...Object.entries(partes).map(([nome, parte]) => ({
      nome: `${nome}.json`,
      conteudo: Buffer.from(`${JSON.stringify(parte, null, 2)}\n`),
    })),
  ];
  const { conteudo, diretorio, entradas } = makeZipPiece(entries, 0, em);
  const end = makeZipEnd({ entradas, bytes: conteudo.length, diretorio: diretorio.length });
  const bytes = Buffer.concat([conteudo, diretorio, end]);
  await writeFileFor(arquivo, bytes, { mode: 0o600, flag: 'wx' });
  return bytes.length;
}
