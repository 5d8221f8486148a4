/**
 * The yardstick: the same issuing as a good team would write it in Node with the usual libraries: Fastify,
 * @xmldom/xmldom, xml-crypto, a table of fields, and `pg`. Each row is one statement, and each note one transaction.
 * The program checks the provider's signature, the fields and a few rules, numbers the note, signs it and stores it; it
 * sends nothing. It has none of our optimisations and no mistakes either: connections are kept, statements are
 * prepared, keys are read once.
 *
 * Argument: a {@link YardstickOrder} as JSON. It sends its port when it is ready.
 */
import { createHash, randomInt, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { DOMParser, XMLSerializer } from '@xmldom/xmldom';
import { SignedXml } from 'xml-crypto';
import { openEmbedded } from '../src/base/pg/embedded.ts';
import { Pool, type PoolClient } from '../src/base/pg/pg.ts';
import type { ProviderKeys } from './documents.ts';

export type YardstickOrder = {
  readonly dataDir: string;
  /** Folder in which Fastify is installed. */
  readonly packages: string;
  readonly providers: readonly ProviderKeys[];
  readonly municipio: ProviderKeys;
  /** The certificates of the authorities, in PEM. */
  readonly autoridades: readonly string[];
};

/** The used part of Fastify. */
type Request = { readonly body: string };
type Reply = { code(status: number): Reply; send(body: unknown): Reply };
type Fastify = {
  addContentTypeParser(
    type: string,
    options: object,
    parse: (request: unknown, body: string, done: Done) => void,
  ): void;
  post(path: string, handler: (request: Request, reply: Reply) => Promise<unknown>): void;
  listen(options: object): Promise<string>;
};
type Done = (error: Error | null, body: string) => void;

const NAMESPACE = 'http://www.sped.fazenda.gov.br/nfse';
const DSIG = 'http://www.w3.org/2000/09/xmldsig#';
const EXCLUSIVE = 'http://www.w3.org/2001/10/xml-exc-c14n#';
const ENVELOPED = `${DSIG}enveloped-signature`;
const SHA256 = 'http://www.w3.org/2001/04/xmlenc#sha256';
const RSA_SHA256 = 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256';

const SCHEMA = `
  create table prestadores (documento text primary key, razao_social text not null, ultima_nota bigint not null default 0);
  create table notas (
    id bigint generated always as identity primary key, chave text not null unique, protocolo text not null unique, id_dps text not null unique,
    prestador text not null references prestadores, numero bigint not null, competencia date not null, tomador text,
    valor numeric(17, 2) not null, base numeric(17, 2) not null, aliquota numeric(5, 2) not null, issqn numeric(17, 2) not null,
    situacao text not null, dps text not null, nfse text not null, criada timestamptz not null default now());
  create index on notas (prestador, criada);
  create index on notas (situacao) where situacao = 'emitida';
  create table historico (nota bigint not null references notas, em timestamptz not null default now(), situacao text not null, primary key (nota, em));`;

class Refusal extends Error {}

/** The fields that are read, and the allowed values of each. */
const FIELDS = [
  ['tpAmb', /^[12]$/],
  ['serie', /^\d{1,5}$/],
  ['nDPS', /^\d{1,15}$/],
  ['dCompet', /^\d{4}-\d\d-\d\d$/],
  ['tpEmit', /^[123]$/],
  ['cLocEmi', /^\d{7}$/],
  ['opSimpNac', /^[123]$/],
  ['regEspTrib', /^[0-69]$/],
  ['cLocPrestacao', /^\d{7}$/],
  ['cTribNac', /^\d{6}$/],
  ['xDescServ', /^[\s\S]{1,2000}$/],
  ['cNBS', /^\d{9}$/],
  ['vServ', /^\d{1,15}\.\d\d$/],
  ['tribISSQN', /^[1-4]$/],
  ['tpRetISSQN', /^[123]$/],
  ['pAliq', /^\d{1,3}\.\d\d$/],
] as const;
type Fields = Readonly<Record<(typeof FIELDS)[number][0], string>>;
type Dps = Fields & {
  readonly id: string;
  readonly cnpj: string;
  readonly tomador: string | null;
  readonly element: Element;
};

async function serve(order: YardstickOrder): Promise<string> {
  const authorities = order.autoridades.map((pem) => new X509Certificate(pem));
  const [privateKey, publicCert] = [
    readFileSync(order.municipio.chave),
    readFileSync(order.municipio.certificado, 'utf8'),
  ];
  const database = await openEmbedded({ dataDir: order.dataDir, log: { info() {}, warn() {}, error() {} } });
  const pool = new Pool({ ...database.connection, max: 10 });
  await pool.query(SCHEMA);
  process.on('disconnect', () => void database.stop().finally(() => process.exit()));
  for (const { documento } of order.providers) {
    await pool.query('insert into prestadores values ($1, $2)', [documento, `Prestador ${documento} Ltda`]);
  }
  const fastify = createRequire(path.join(order.packages, 'package.json'))('fastify') as (options: object) => Fastify;
  const app = fastify({ logger: false });
  app.addContentTypeParser('application/xml', { parseAs: 'string' }, (_request, body, done) => done(null, body));
  app.post('/nfse', async ({ body }, reply) => {
    try {
      const document = new DOMParser().parseFromString(body, 'text/xml');
      const certificate = verifySignature(body, document);
      const dps = readDps(document);
      checkSigner(certificate, dps, authorities);
      const amounts = computeAmounts(dps);
      const stored = await inTransaction(pool, async (client) => {
        const { numero, razaoSocial } = await nextNumber(client, dps.cnpj);
        const chave = composeChave(dps, numero);
        const nfse = signNote(composeNote(dps, amounts, { chave, numero, razaoSocial }), { privateKey, publicCert });
        const protocolo = `${Date.now()}${randomInt(1e12)}`;
        await insertNote(client, dps, amounts, { chave, protocolo, numero, nfse, recebido: body });
        return { chave, protocolo, nfse };
      });
      const { chave: chave_acesso, protocolo: numero_protocolo, nfse: xml_nfse } = stored;
      return reply.code(201).send({ status: 'OK', numero_protocolo, chave_acesso, avisos: [], xml_nfse });
    } catch (error) {
      if (error instanceof Refusal) return reply.code(422).send({ mensagem: error.message });
      throw error;
    }
  });
  return app.listen({ host: '127.0.0.1', port: 0 });
}

function verifySignature(xml: string, document: Document): X509Certificate {
  const node = document.getElementsByTagNameNS(DSIG, 'Signature')[0];
  const base64 = document.getElementsByTagNameNS(DSIG, 'X509Certificate')[0]?.textContent;
  if (node === undefined || !base64) throw new Refusal('sem assinatura');
  const certificate = new X509Certificate(Buffer.from(base64, 'base64'));
  const verifier = new SignedXml({ publicCert: certificate.toString() });
  verifier.loadSignature(node as never);
  if (!verifier.checkSignature(xml)) throw new Refusal('a assinatura não confere');
  return certificate;
}

function checkSigner(certificate: X509Certificate, { cnpj }: Dps, authorities: readonly X509Certificate[]): void {
  const now = new Date();
  if (certificate.validFromDate > now || certificate.validToDate < now)
    throw new Refusal('certificado fora da validade');
  if (!certificate.subject.includes(cnpj)) throw new Refusal('certificado de outro');
  const isTrusted = authorities.some((one) => certificate.checkIssued(one) && certificate.verify(one.publicKey));
  if (!isTrusted) throw new Refusal('certificado de autoridade desconhecida');
}

function textOf(parent: Document | Element, name: string): string | undefined {
  return parent.getElementsByTagNameNS(NAMESPACE, name)[0]?.textContent ?? undefined;
}

function readDps(document: Document): Dps {
  const element = document.getElementsByTagNameNS(NAMESPACE, 'infDPS')[0];
  const prest = document.getElementsByTagNameNS(NAMESPACE, 'prest')[0];
  if (element === undefined || prest === undefined) throw new Refusal('sem infDPS ou prest');
  const fields = Object.fromEntries(
    FIELDS.map(([name, form]) => {
      const text = textOf(element, name);
      if (text === undefined || !form.test(text)) throw new Refusal(`${name} falta ou tem outra forma`);
      return [name, text];
    }),
  ) as Fields;
  const toma = document.getElementsByTagNameNS(NAMESPACE, 'toma')[0];
  const tomador = toma === undefined ? null : (textOf(toma, 'CNPJ') ?? textOf(toma, 'CPF') ?? null);
  return { ...fields, id: element.getAttribute('Id') ?? '', cnpj: textOf(prest, 'CNPJ') ?? '', tomador, element };
}

type Amounts = { readonly base: string; readonly aliquota: string; readonly issqn: string; readonly liquido: string };

function computeAmounts({ vServ, pAliq, cLocEmi, dCompet }: Dps): Amounts {
  if (dCompet > new Date().toISOString()) throw new Refusal('competência futura');
  if (cLocEmi !== '3550308') throw new Refusal('outro município');
  const cents = Math.round(Number(vServ) * 100);
  const issqn = (Math.round((cents * Number(pAliq)) / 100) / 100).toFixed(2);
  return { base: vServ, aliquota: pAliq, issqn, liquido: vServ };
}

async function inTransaction<Result>(pool: Pool, work: (client: PoolClient) => Promise<Result>): Promise<Result> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    const result = await work(client);
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback');
    throw error;
  } finally {
    client.release();
  }
}

async function nextNumber(client: PoolClient, cnpj: string) {
  const { rows } = await client.query({
    name: 'numero',
    text: 'update prestadores set ultima_nota = ultima_nota + 1 where documento = $1 returning ultima_nota, razao_social',
    values: [cnpj],
  });
  const [row] = rows as { readonly ultima_nota: string; readonly razao_social: string }[];
  if (row === undefined) throw new Refusal('prestador desconhecido');
  return { numero: Number(row.ultima_nota), razaoSocial: row.razao_social };
}

type Stored = {
  readonly chave: string;
  readonly protocolo: string;
  readonly numero: number;
  readonly nfse: string;
  readonly recebido: string;
};

async function insertNote(client: PoolClient, dps: Dps, amounts: Amounts, stored: Stored): Promise<void> {
  const { chave, protocolo, numero, nfse, recebido } = stored;
  const { base, aliquota, issqn } = amounts;
  const { rows } = await client.query({
    name: 'nota',
    text: `insert into notas (chave, protocolo, id_dps, prestador, numero, competencia, tomador, valor, base, aliquota, issqn, situacao, dps, nfse)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 'emitida', $12, $13) returning id`,
    values: [
      ...[chave, protocolo, dps.id, dps.cnpj, numero, dps.dCompet, dps.tomador],
      ...[dps.vServ, base, aliquota, issqn, recebido, nfse],
    ],
  });
  await client.query({
    name: 'historico',
    text: "insert into historico (nota, situacao) values ($1, 'emitida')",
    values: [(rows as { readonly id: string }[])[0]!.id],
  });
}

function composeChave({ cLocEmi, cnpj, dCompet }: Dps, numero: number): string {
  const anoMes = dCompet.slice(2, 4) + dCompet.slice(5, 7);
  const start = `${cLocEmi}12${cnpj}${String(numero).padStart(13, '0')}${anoMes}${randomInt(1e9).toString().padStart(9, '0')}`;
  return start + (createHash('sha1').update(start).digest()[0]! % 10);
}

type Numbered = { readonly chave: string; readonly numero: number; readonly razaoSocial: string };

function composeNote(
  dps: Dps,
  { base, aliquota, issqn, liquido }: Amounts,
  { chave, numero, razaoSocial }: Numbered,
): string {
  const note = new DOMParser().parseFromString(
    `<NFSe xmlns="${NAMESPACE}" versao="1.01"><infNFSe Id="NFS${chave}"/></NFSe>`,
    'text/xml',
  );
  const add = (parent: Element, name: string, text?: string): Element => {
    const element = parent.appendChild(note.createElementNS(NAMESPACE, name));
    if (text !== undefined) element.appendChild(note.createTextNode(text));
    return element;
  };
  const infNfse = note.documentElement!.firstChild as Element;
  const now = new Date().toISOString();
  const own = { xLocEmi: 'São Paulo', xLocPrestacao: 'São Paulo', nNFSe: `${numero}`, cLocIncid: dps.cLocEmi };
  const more = { verAplic: 'regua', ambGer: '1', tpEmis: '1', cStat: '100', dhProc: now, nDFSe: `${numero}` };
  for (const [name, text] of Object.entries({ ...own, ...more })) add(infNfse, name, text);
  const emit = add(infNfse, 'emit');
  add(emit, 'CNPJ', dps.cnpj);
  add(emit, 'xNome', razaoSocial);
  const valores = add(infNfse, 'valores');
  for (const [name, text] of Object.entries({ vBC: base, pAliqAplic: aliquota, vISSQN: issqn, vLiq: liquido })) {
    add(valores, name, text);
  }
  const inner = add(infNfse, 'DPS');
  inner.setAttribute('versao', '1.01');
  inner.appendChild(note.importNode(dps.element, true));
  return new XMLSerializer().serializeToString(note);
}

function signNote(xml: string, keys: { readonly privateKey: Buffer; readonly publicCert: string }): string {
  const signer = new SignedXml({
    ...keys,
    signatureAlgorithm: RSA_SHA256,
    canonicalizationAlgorithm: EXCLUSIVE,
  });
  signer.addReference({
    xpath: "/*/*[local-name(.)='infNFSe']",
    transforms: [ENVELOPED, EXCLUSIVE],
    digestAlgorithm: SHA256,
  });
  signer.computeSignature(xml, { location: { reference: '/*', action: 'append' } });
  return signer.getSignedXml();
}

process.send!(await serve(JSON.parse(process.argv[2]!) as YardstickOrder));
