/**
 * `nfse pki`: a folder with a private "ICP-Brasil" for trying production without a real certificate. It has trust anchors, revocation
 * lists, providers, the municipality, and the server of an ADN simulator. It also has invalid certificates, one for each reason of refusal.
 *
 * Every file is made in memory first; a folder with content is never touched.
 */
import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { makeFolder, writeFileFor } from '../../documents/new-files.ts';
import { writePfx } from '../../documents/pfx.ts';
import {
  type Authority,
  companyCertificate,
  intermediateAuthority,
  type Keys,
  newKeys,
  type Person,
  pemOf,
  personCertificate,
  revocationList,
  rootAuthority,
  serverCertificate,
  type Validity,
} from '../../documents/pki.ts';
import { cnpjIsValid, cpfIsValid } from '../../fiscal/chave.ts';
import { DAY_MS } from '../../fiscal/moment.ts';

/** The provider of the example DPS; the other numbers are invented. */
const CNPJ_PADRAO = '11222333000181';
const CPF_PADRAO = '11144477735';
export const MUNICIPIO_PADRAO = '99999999000191';
const MUNICIPIO_NOME = 'Município de Teste';
/** The stranger is the first of these whose root is no requested provider's. */
const STRANGERS = ['88888888000191', '77777777000191', '12121212000106'] as const;

const RESPONSAVEL: Person = { nome: 'Responsável de Teste', cpf: '12345678909', nascimento: '1980-01-31' };
const PROFISSIONAL = { nome: 'Profissional de Teste', nascimento: '1990-12-25' } as const;
const SERVER_NAMES = { dns: ['localhost'], ips: ['127.0.0.1', '::1'] } as const;

/** Clocks differ a little: a certificate of this minute is valid on all of them. */
const SKEW_MS = 3_600_000;
const AUTHORITY_DAYS = 3_650;
const YEAR_DAYS = 365;
/** The distance of an invalid certificate's validity from today. */
const APART_DAYS = 35;
/** Bytes of a generated password: 96 bits. */
const SENHA_BYTES = 12;
/** Keys and passwords are readable by their owner only. */
const SECRET_MODE = 0o600;
const PUBLIC_MODE = 0o644;

/** The reason to refuse a certificate; also the name of its files. */
export type Recusado = 'vencido' | 'ainda-nao-vale' | 'outro-documento' | 'revogado' | 'outra-raiz';

export type MakePkiOptions = {
  /** A folder that is empty or does not exist. */
  readonly pasta: string;
  /** Providers; the invalid certificates carry the document of the first. Default: the provider of the example DPS. */
  readonly cnpjs?: readonly string[] | undefined;
  /** A provider who is a person. */
  readonly cpf?: string | undefined;
  readonly municipioCnpj?: string | undefined;
  /** Password of all PKCS#12 files; a random one when absent. */
  readonly senha?: string | undefined;
  /** Whether to make the invalid certificates; default: yes. */
  readonly recusados?: boolean | undefined;
  /** Milliseconds since 1970. */
  readonly agora: number;
  /** Makes another key at each call; by default each key is new. */
  readonly makeKeys?: (() => Promise<Keys>) | undefined;
};

/** Paths: the certificate with its chain in PEM, the key in PEM (PKCS#8), and both in PKCS#12. */
export type CertificateFiles = {
  readonly documento: string;
  readonly certificado: string;
  readonly chave: string;
  readonly pfx: string;
};

/** The paths of all files; each path begins with the given `pasta`. */
export type Pki = {
  readonly pasta: string;
  readonly senha: string;
  readonly senhaArquivo: string;
  readonly ancoras: string;
  readonly revogados: string;
  /** Companies in the requested order, then the person. */
  readonly prestadores: readonly CertificateFiles[];
  readonly municipio: CertificateFiles;
  readonly adn: {
    readonly certificado: string;
    readonly chave: string;
    /** Authorities of the clients that the server takes. */
    readonly clientes: string;
    /** The authority by which a client knows the server. */
    readonly ca: string;
  };
  /** Empty when they were not requested. */
  readonly recusados: ReadonlyMap<Recusado, CertificateFiles>;
};

/** A certificate before it is in files: its chain in DER, its own first. */
type Made = { readonly documento: string; readonly chain: readonly Buffer[]; readonly keys: Keys };

/** Makes and writes everything. Throws an Error in Portuguese for a folder in use, or for an invalid document. */
export async function makePki(options: MakePkiOptions): Promise<Pki> {
  const { pasta, agora, cpf = CPF_PADRAO, municipioCnpj = MUNICIPIO_PADRAO, recusados = true } = options;
  const severalKeys = (count: number): Promise<Keys[]> =>
    Promise.all(Array.from({ length: count }, options.makeKeys ?? newKeys));
  const cnpjs = [...new Set(options.cnpjs?.length ? options.cnpjs : [CNPJ_PADRAO])];
  checkDocuments([...cnpjs, municipioCnpj], cpf);
  await checkFolder(pasta);

  const [rootKeys, issuingKeys, municipioKeys, serverKeys, cpfKeys, ...cnpjKeys] = await severalKeys(5 + cnpjs.length);
  const lasting = validityOf(agora, -AUTHORITY_DAYS, AUTHORITY_DAYS);
  const current = validityOf(agora, 0, AUTHORITY_DAYS);
  const year = validityOf(agora, 0, YEAR_DAYS);
  const root = rootAuthority('AC Raiz de Teste', rootKeys!, lasting);
  const issuing = intermediateAuthority(root, 'AC de Teste', issuingKeys!, lasting);
  const prestadores: Made[] = cnpjs.map((cnpj, index) =>
    companyBy(
      issuing,
      // A second certificate of the municipality, with keys of its own, serves to try a renewal.
      { cnpj, razaoSocial: cnpj === municipioCnpj ? MUNICIPIO_NOME : nameOfProvider(index) },
      cnpjKeys[index]!,
      year,
    ),
  );
  const person = personCertificate(issuing, { ...PROFISSIONAL, cpf }, cpfKeys!.publicKey, year);
  prestadores.push({ documento: cpf, chain: [person, issuing.certificate], keys: cpfKeys! });
  const refused = recusados ? refusedOnes(issuing, cnpjs, agora, await severalKeys(2)) : new Map<Recusado, Made>();
  const revoked = refused.get('revogado')?.chain.slice(0, 1) ?? [];

  const senha = options.senha ?? randomBytes(SENHA_BYTES).toString('base64url');
  const folder = new Folder(pasta, senha);
  folder.put('ancoras/ac-raiz-de-teste.pem', pemOf('CERTIFICATE', root.certificate));
  folder.put('ancoras/ac-de-teste.pem', pemOf('CERTIFICATE', issuing.certificate));
  folder.put('revogados/ac-raiz-de-teste.crl', pemOf('X509 CRL', revocationList(root, [], current)));
  folder.put('revogados/ac-de-teste.crl', pemOf('X509 CRL', revocationList(issuing, revoked, current)));
  const server = serverCertificate(issuing, SERVER_NAMES, serverKeys!.publicKey, year);
  const pki: Pki = {
    pasta,
    senha,
    senhaArquivo: folder.putSecret('senha.txt', `${senha}\n`),
    ancoras: path.join(pasta, 'ancoras'),
    revogados: path.join(pasta, 'revogados'),
    prestadores: await Promise.all(prestadores.map((made) => folder.putPair(`prestadores/${made.documento}`, made))),
    municipio: await folder.putPair(
      'municipio/municipio',
      companyBy(issuing, { cnpj: municipioCnpj, razaoSocial: MUNICIPIO_NOME }, municipioKeys!, year),
    ),
    adn: {
      certificado: folder.put('adn/servidor.pem', pemOf('CERTIFICATE', server, issuing.certificate)),
      chave: folder.putSecret('adn/servidor.key', keyPemOf(serverKeys!)),
      clientes: folder.put('adn/clientes.pem', pemOf('CERTIFICATE', root.certificate, issuing.certificate)),
      ca: folder.put('adn/ca.pem', pemOf('CERTIFICATE', root.certificate)),
    },
    recusados: new Map(
      await Promise.all(
        [...refused].map(async ([why, made]) => [why, await folder.putPair(`recusados/${why}`, made)] as const),
      ),
    ),
  };
  await folder.write();
  return pki;
}

function checkDocuments(cnpjs: readonly string[], cpf: string): void {
  const wrong = cnpjs.find((cnpj) => !cnpjIsValid(cnpj));
  if (wrong !== undefined) {
    throw new Error(`${wrong} não é um CNPJ: são 14 posições, sem pontuação, com dígitos verificadores que conferem.`);
  }
  if (!cpfIsValid(cpf)) throw new Error('o CPF pedido não é válido: são 11 dígitos, sem pontuação.');
}

async function checkFolder(pasta: string): Promise<void> {
  let names: string[];
  try {
    names = await readdir(pasta);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return;
    if (code === 'ENOTDIR') throw new Error(`${pasta} é um arquivo, e não uma pasta. Escolha outra com --pasta.`);
    throw new Error(`a pasta ${pasta} não pôde ser lida (${code}).`);
  }
  if (names.length > 0) {
    throw new Error(
      `a pasta ${pasta} já tem arquivos, e nenhum é sobrescrito: nela podem estar chaves em uso. Escolha outra com --pasta, ou apague-a antes.`,
    );
  }
}

function validityOf(agora: number, fromDays: number, toDays: number): Validity {
  return { inicio: agora + fromDays * DAY_MS - SKEW_MS, fim: agora + toDays * DAY_MS };
}

function nameOfProvider(index: number): string {
  return `Prestador ${index + 1} de Teste Ltda`;
}

function companyBy(
  by: Authority,
  { cnpj, razaoSocial }: { readonly cnpj: string; readonly razaoSocial: string },
  keys: Keys,
  validity: Validity,
): Made {
  const company = { cnpj, razaoSocial, responsavel: RESPONSAVEL };
  const certificate = companyCertificate(by, company, keys.publicKey, validity);
  return { documento: cnpj, chain: [certificate, by.certificate], keys };
}

/** Only the certificates are invalid, so one key serves all. */
function refusedOnes(
  issuing: Authority,
  cnpjs: readonly string[],
  agora: number,
  [keys, otherRootKeys]: readonly Keys[],
): ReadonlyMap<Recusado, Made> {
  const year = validityOf(agora, 0, YEAR_DAYS);
  const otherRoot = rootAuthority('AC Raiz de Outra Cadeia', otherRootKeys!, validityOf(agora, 0, AUTHORITY_DAYS));
  const first = { cnpj: cnpjs[0]!, razaoSocial: nameOfProvider(0) };
  const stranger = {
    cnpj: STRANGERS.find((cnpj) => cnpjs.every((one) => one.slice(0, 8) !== cnpj.slice(0, 8))) ?? STRANGERS[0],
    razaoSocial: 'Outra Empresa de Teste Ltda',
  };
  const past = validityOf(agora, -APART_DAYS - YEAR_DAYS, -APART_DAYS);
  const future = validityOf(agora, APART_DAYS, APART_DAYS + YEAR_DAYS);
  return new Map<Recusado, Made>([
    ['vencido', companyBy(issuing, first, keys!, past)],
    ['ainda-nao-vale', companyBy(issuing, first, keys!, future)],
    ['outro-documento', companyBy(issuing, stranger, keys!, year)],
    ['revogado', companyBy(issuing, first, keys!, year)],
    ['outra-raiz', companyBy(otherRoot, first, keys!, year)],
  ]);
}

function keyPemOf({ privateKey }: Keys): string {
  return privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
}

/** Files to be written together, after all of them are made. */
class Folder {
  readonly #pasta: string;
  readonly #senha: string;
  readonly #files: { readonly file: string; readonly content: string | Buffer; readonly mode: number }[] = [];

  constructor(pasta: string, senha: string) {
    this.#pasta = pasta;
    this.#senha = senha;
  }

  put(name: string, content: string | Buffer, mode = PUBLIC_MODE): string {
    const file = path.join(this.#pasta, name);
    this.#files.push({ file, content, mode });
    return file;
  }

  putSecret(name: string, content: string | Buffer): string {
    return this.put(name, content, SECRET_MODE);
  }

  async putPair(name: string, { documento, chain, keys }: Made): Promise<CertificateFiles> {
    return {
      documento,
      certificado: this.put(`${name}.pem`, pemOf('CERTIFICATE', ...chain)),
      chave: this.putSecret(`${name}.key`, keyPemOf(keys)),
      pfx: this.putSecret(`${name}.pfx`, await writePfx(keys.privateKey, chain, this.#senha)),
    };
  }

  async write(): Promise<void> {
    const folders = new Set(this.#files.map(({ file }) => path.dirname(file)));
    for (const folder of folders) await makeFolder(folder);
    // 'wx': files that another process wrote in between are kept.
    await Promise.all(this.#files.map(({ file, content, mode }) => writeFileFor(file, content, { mode, flag: 'wx' })));
  }
}
