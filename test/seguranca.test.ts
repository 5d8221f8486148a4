/**
 * The disclosures to each reader: every row of `src/published/security.ts` in production. The readers are a stranger without a certificate
 * or with another party's, a party, and another municipality's party. Real HTTP over TLS.
 *
 * A stranger gets the same answer for an existing and for a missing object. The database does the same work for both, so that timing does
 * not distinguish them either.
 */

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { Agent, request as httpsRequest } from 'node:https';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { SignedXml } from 'xml-crypto';
import { assinarCms, lerCertificado } from '../packages/cliente/src/index.ts';
import { companyCertificate, pemOf, personCertificate, rootAuthority } from '../src/documents/pki.ts';
import { GUARDED_DOOR } from '../src/doors/rest/described-door.ts';
import { SITE_PATHS } from '../src/doors/rest/site-routes.ts';
import { dpsIdOf } from '../src/fiscal/chave.ts';
import { decimal } from '../src/fiscal/decimal.ts';
import { exampleXml } from '../src/fiscal/rules/example.ts';
import type { Patch } from '../src/fiscal/rules/rule.ts';
import { ENSAIO_PATH } from '../src/published/paths.ts';
import { listAddresses } from '../src/published/security.ts';
import { makeExportacoes } from '../src/subjects/partes/exportacoes.job.ts';
import { createStore } from '../src/wiring/store.ts';
import { nfseHere } from './support/cli.ts';
import { readyKeys } from './support/keys.ts';
import { addPrestador } from './support/municipio.ts';
import { freshFolder } from './support/openssl.ts';
import { jsonOf } from './support/operacoes.ts';
import { ABRASF, cancelamentoXml, consultaXml, envelope, loteXml, porProtocolo, porRpsXml } from './support/rps.ts';
import { secureDoor } from './support/secure-door.ts';
import { NOON, startTestService } from './support/service.ts';
import {
  companyOf,
  DECADES,
  ENVELOPED,
  EXCLUSIVE,
  type Party,
  partyOf,
  RSA_SHA256,
  SHA256,
  signedBy,
} from './support/signatures.ts';
import { until } from './support/until.ts';

const [TENANT, IBGE] = ['sao-paulo', '3550308'];
const OUTRO_TENANT = 'campinas';
const ENSAIO = 'integracao';
const PRESTADOR = '11222333000181';
/** A CNPJ that is registered nowhere. */
const NINGUEM = '12121212000106';
const ALHEIO = '88888888000191';
const TOMADOR = '86042713922';
/** Data that only a party may read. */
const NOME_TOMADOR = 'Tomadora Reservada de Tal';
const IM = '90817263';

const folder = freshFolder();
const [rootKeys, keys] = await Promise.all([readyKeys(), readyKeys()]);
const root = rootAuthority('AC Raiz de Teste', rootKeys, DECADES);
const company = (cnpj: string): Party =>
  partyOf(keys, companyCertificate(root, companyOf(cnpj), keys.publicKey, DECADES));
const prestador = company(PRESTADOR);
const alheio = company(ALHEIO);
const tomador = partyOf(
  keys,
  personCertificate(root, { nome: NOME_TOMADOR, cpf: TOMADOR, nascimento: '1980-01-31' }, keys.publicKey, DECADES),
);
const ca = pemOf('CERTIFICATE', root.certificate);
writeFileSync(path.join(folder, 'raiz.pem'), ca);
const confianca = { ancoras: folder, revogados: undefined };

const { world, store, pool, clock, logged } = await startTestService({ worker: false });
await store.municipios.create({ tenant: TENANT, ambiente: 'producao', codigoIbge: IBGE, confianca }, clock.now);
await store.municipios.create(
  { tenant: OUTRO_TENANT, ambiente: 'producao', codigoIbge: '3509502', confianca },
  clock.now,
);
/** The arms of the municipality, under the digest that stands for them. */
const IMPRESSAO = 'a'.repeat(64);
await store.brasoes.set(TENANT, { impressao: IMPRESSAO, png: Buffer.from('\x89PNG', 'latin1') }, []);
await addPrestador(pool, TENANT, PRESTADOR, { im: IM, nome: 'Razao Reservada Ltda' });

/** The queries to the database, by name. */
let asked: string[] = [];
/** Replaced by a store without caches where a test changes rows. */
let remembering = store;
const watched = new Proxy(store, {
  get: (_target, name) => {
    const value = Reflect.get(remembering, name);
    if (typeof value !== 'function') return value;
    return (...args: unknown[]) => {
      asked.push(String(name));
      return value.apply(remembering, args);
    };
  },
});
const door = await secureDoor({ ...world, store: watched }, root, prestador, { trustProxy: true });

type Pergunta = {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
};
type Resposta = { readonly status: number; readonly text: string; readonly asked: readonly string[] };

let client = 0;

/** Each request comes from a new network: the limits on failed requests have another test. */
function ask(
  { method = 'GET', path: url, headers = {}, body }: Pergunta,
  who?: Party,
  from?: string,
): Promise<Resposta> {
  client += 1;
  const agent = new Agent({ ca, ...(who === undefined ? {} : { cert: who.pem, key: who.keyPem }) });
  const forwarded = from ?? `2001:db8:${client.toString(16)}::1`;
  asked = [];
  return new Promise<Resposta>((resolve, reject) => {
    const sent = httpsRequest(
      `${door.address}${url}`,
      { agent, method, headers: { 'X-Forwarded-For': forwarded, ...headers } },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk) => (text += chunk));
        response.on('end', () => resolve({ status: response.statusCode!, text, asked: [...asked] }));
      },
    );
    sent.on('error', reject).end(body);
  }).finally(() => agent.destroy());
}

// Documents.

const API = 'api/v1';

type Dps = { readonly nDPS?: string; readonly cnpj?: string; readonly more?: Patch };

function xmlDps({ nDPS = '1', cnpj = PRESTADOR, more = {} }: Dps): string {
  const id = dpsIdOf({ cLocEmi: IBGE, documento: cnpj, serie: '1', nDPS });
  return exampleXml({ tpAmb: '1', '@Id': id, serie: '1', nDPS, 'prest/CNPJ': cnpj, ...more });
}

const XML = { 'Content-Type': 'application/xml' };
const JSON_TYPE = { 'Content-Type': 'application/json' };

/** The document is signed if there is a signer. */
const xmlTo =
  (where: string) =>
  (dps: Dps, who?: Party, tenant = TENANT): Pergunta => {
    const xml = xmlDps(dps);
    const body = who === undefined ? xml : signedBy(xml, who);
    return { method: 'POST', path: `/${tenant}/${API}/${where}`, headers: XML, body };
  };

const cms = (body: string, who: Party): string =>
  assinarCms(Buffer.from(body), lerCertificado({ certificado: who.pem, chave: who.keyPem }), NOON);

const jsonTo =
  (where: string) =>
  (dps: Dps, who?: Party, tenant = TENANT): Pergunta => {
    const body = jsonOf(xmlDps(dps));
    const signature = who === undefined ? {} : { 'X-DPS-Assinatura': cms(body, who) };
    return { method: 'POST', path: `/${tenant}/${API}/${where}`, headers: { ...JSON_TYPE, ...signature }, body };
  };

const EVENTO = JSON.stringify({ tipo_evento: 'confirmacao_prestador' });
const eventoAt = (where: string, who?: Party, tenant = TENANT): Pergunta => ({
  method: 'POST',
  path: `/${tenant}/${API}/nfse/${where}/eventos`,
  headers: { ...JSON_TYPE, ...(who === undefined ? {} : { 'X-Evento-Assinatura': cms(EVENTO, who) }) },
  body: EVENTO,
});

const at = (where: string, tenant = TENANT): Pergunta => ({ path: `/${tenant}/${API}/${where}` });

/** The same document as programs of the national API send it. */
const nacionalTo = (dps: Dps, who?: Party, tenant = TENANT): Pergunta => {
  const xml = xmlDps({ ...dps, more: { dhEmi: '2026-11-21T11:00:00-03:00', ...dps.more } });
  return packed('nfse', 'dpsXmlGZipB64', who === undefined ? xml : signedBy(xml, who), tenant);
};

const packed = (where: string, name: string, xml: string, tenant: string): Pergunta => ({
  method: 'POST',
  path: `/${tenant}/SefinNacional/${where}`,
  headers: JSON_TYPE,
  body: JSON.stringify({ [name]: gzipSync(xml).toString('base64') }),
});

const naRaizAt = (chave: string, tenant = TENANT): Pergunta => ({ path: `/${tenant}/danfse/${chave}` });
const parametrosAt = (below: string): Pergunta => ({ path: `/${TENANT}/parametrizacao/3550308/${below}` });
const naPortaAt = (where: string, tenant = TENANT): Pergunta => ({ path: `/${tenant}/SefinNacional/${where}` });

function pedidoAt(chave: string, who?: Party, tenant = TENANT): Pergunta {
  const inf = `<infPedReg Id="PRE${chave}202201"><tpAmb>1</tpAmb><verAplic>exemplo-1.0</verAplic><dhEvento>2026-11-21T11:59:00-03:00</dhEvento><CNPJAutor>${PRESTADOR}</CNPJAutor><chNFSe>${chave}</chNFSe><e202201><xDesc>Manifestação de NFS-e - Confirmação do Prestador</xDesc></e202201></infPedReg>`;
  const xml = `<pedRegEvento xmlns="http://www.sped.fazenda.gov.br/nfse" versao="1.01">${inf}</pedRegEvento>`;
  const name = 'pedidoRegistroEventoXmlGZipB64';
  return packed(`nfse/${chave}/eventos`, name, signedAbrasf(xml, 'infPedReg', who), tenant);
}

function soap(operacao: string, documento: string, tenant = TENANT): Pergunta {
  const inside = `<n:${operacao} xmlns:n="${ABRASF}"><parameters><![CDATA[${documento}]]></parameters></n:${operacao}>`;
  const headers = { 'Content-Type': 'text/xml', SOAPAction: '""' };
  return { method: 'POST', path: `/${tenant}/soap/nfes`, headers, body: envelope(inside) };
}

function signedAbrasf(xml: string, name: string, who?: Party): string {
  if (who === undefined) return xml;
  const signature = new SignedXml({
    privateKey: who.keyPem,
    publicCert: who.pem,
    signatureAlgorithm: RSA_SHA256,
    canonicalizationAlgorithm: EXCLUSIVE,
  });
  const reference = `//*[local-name()='${name}']`;
  signature.addReference({ xpath: reference, transforms: [ENVELOPED, EXCLUSIVE], digestAlgorithm: SHA256 });
  signature.computeSignature(xml, { location: { reference, action: 'after' } });
  return signature.getSignedXml();
}

const lote = (numero: string, cnpj = PRESTADOR, who?: Party): string =>
  signedAbrasf(loteXml([{ numero }], { numero, cnpj }).replace('>123<', `>${IM}<`), 'LoteRps', who);
const cancelamento = (numero: string, who?: Party): string =>
  signedAbrasf(cancelamentoXml(numero), 'InfPedidoCancelamento', who);

// Existing objects: a note with its taker, its event, and a lot.

const issued = await ask(xmlTo('nfse/v101')({ more: { 'toma/CPF': TOMADOR, 'toma/xNome': NOME_TOMADOR } }, prestador));
assert.equal(issued.status, 201, issued.text);
const { chave_acesso: CHAVE, numero_protocolo: PROTOCOLO } = JSON.parse(issued.text);
const NUMERO = String(Number(CHAVE.slice(23, 36)));
const sentLote = await ask(soap('RecepcionarLoteRps', lote('1', PRESTADOR, prestador)));
const [, LOTE] = /Protocolo(?:>|&gt;)(\d+)/.exec(sentLote.text) ?? assert.fail(sentLote.text);
assert.equal((await ask(eventoAt(CHAVE, prestador))).status, 201);

/** An unused key, or number, of the same form; its check digits are valid. */
const OUTRA_CHAVE = otherKey(CHAVE);
const OUTRO_PROTOCOLO = `${PROTOCOLO.slice(0, -1)}${(Number(PROTOCOLO.at(-1)) + 1) % 10}`;
const OUTRO_LOTE = `${LOTE!.slice(0, -1)}${(Number(LOTE!.at(-1)) + 1) % 10}`;

function otherKey(chave: string): string {
  // The eight digits before the last are random; the last one is modulo 11 of all (weights 2 to 9 from the right).
  const body = `${chave.slice(0, 41)}${String((Number(chave.slice(41, 49)) + 1) % 10 ** 8).padStart(8, '0')}`;
  const sum = [...body].toReversed().reduce((total, digit, place) => total + Number(digit) * ((place % 8) + 2), 0);
  const check = 11 - (sum % 11);
  return body + (check > 9 ? 0 : check);
}

const idOf = (nDPS: string): string => dpsIdOf({ cLocEmi: IBGE, documento: PRESTADOR, serie: '1', nDPS });

// The requests of each address.

/** Two requests of a stranger, one about an existing object and one about a missing one; and the differences of their texts. */
type Par = {
  readonly ha: Pergunta;
  readonly naoHa: Pergunta;
  readonly dito: readonly (readonly [string, string])[];
  /** The request names two providers: a signer of one is a stranger to the other. */
  readonly deDois?: true;
};

type Prova = {
  /** Requests with or without a signature; `tenant`: at another municipality. */
  readonly pares: (who: Party | undefined, tenant?: string) => readonly Par[];
  /** The request of a party, and a text of its answer. */
  readonly parte: { readonly pergunta: Pergunta; readonly who?: Party; readonly traz: string };
};

/** The two CNPJs in full, and as the message about a certificate of another holder shows them. */
const DOIS: Par['dito'] = [
  [PRESTADOR, NINGUEM],
  ['11.222.333', '12.121.212'],
];

type DpsTo = ReturnType<typeof xmlTo>;

/** The number, the provider, the registration and the replaced note of a document; in XML and in JSON. */
function paresOfDps(...tos: readonly DpsTo[]): Prova['pares'] {
  const subst = (chave: string): Patch => ({ 'subst/chSubstda': chave, 'subst/cMotivo': '01' });
  return (who, tenant) =>
    tos.flatMap((to): Par[] => {
      const par = (ha: Dps, naoHa: Dps, ...dito: readonly (readonly [string, string])[]): Par => {
        return { ha: to(ha, who, tenant), naoHa: to(naoHa, who, tenant), dito };
      };
      return [
        par({ nDPS: '1' }, { nDPS: '9' }, ['/1', '/9']),
        { ...par({ cnpj: PRESTADOR }, { cnpj: NINGUEM }, ...DOIS), deDois: true },
        par({ more: { 'prest/IM': IM } }, { more: { 'prest/IM': '12345678' } }, [IM, '12345678']),
        par({ more: subst(CHAVE) }, { more: subst(OUTRA_CHAVE) }, [CHAVE, OUTRA_CHAVE]),
      ];
    });
}

const paresAt =
  (ha: (tenant?: string) => Pergunta, naoHa: (tenant?: string) => Pergunta, ...dito: Par['dito']): Prova['pares'] =>
  (_who, tenant) => [{ ha: ha(tenant), naoHa: naoHa(tenant), dito }];

const byChave = (where: (chave: string) => string, traz: string): Prova => ({
  pares: paresAt(
    (tenant) => at(where(CHAVE), tenant),
    (tenant) => at(where(OUTRA_CHAVE), tenant),
    [CHAVE, OUTRA_CHAVE],
  ),
  parte: { pergunta: at(where(CHAVE)), traz },
});
const naPorta = (where: (chave: string) => string, traz: string): Prova => ({
  pares: paresAt(
    (tenant) => naPortaAt(where(CHAVE), tenant),
    (tenant) => naPortaAt(where(OUTRA_CHAVE), tenant),
    [CHAVE, OUTRA_CHAVE],
  ),
  parte: { pergunta: naPortaAt(where(CHAVE)), traz },
});
const byProtocolo = (where: string): Prova => ({
  pares: paresAt(
    (tenant) => at(`${where}/${PROTOCOLO}`, tenant),
    (tenant) => at(`${where}/${OUTRO_PROTOCOLO}`, tenant),
    [PROTOCOLO, OUTRO_PROTOCOLO],
  ),
  parte: { pergunta: at(`${where}/${PROTOCOLO}`), traz: CHAVE },
});
const registering = (ha: string, naoHa: string): Prova => ({
  pares: (who, tenant) => [{ ha: eventoAt(ha, who, tenant), naoHa: eventoAt(naoHa, who, tenant), dito: [[ha, naoHa]] }],
  parte: { pergunta: eventoAt(ha, prestador), traz: '"status_evento":"pendente"' },
});
const porto = (
  operacao: string,
  documentos: (who?: Party) => readonly [string, string],
  dito: Par['dito'],
  traz: string,
): Prova => ({
  pares: (who, tenant) => {
    const [ha, naoHa] = documentos(who);
    return [{ ha: soap(operacao, ha, tenant), naoHa: soap(operacao, naoHa, tenant), dito }];
  },
  parte: { pergunta: soap(operacao, documentos(prestador)[0]), who: prestador, traz },
});
/** An operation with the same answer for everybody: `parte` is any client with a certificate. */
const publico = (pergunta: Pergunta, traz = ''): Prova => ({
  pares: () => [{ ha: pergunta, naoHa: pergunta, dito: [] }],
  parte: { pergunta, who: prestador, traz },
});

// Operations of one party alone: the certificate identifies the client.

const tokenAt = (
  where: string,
  documento: string,
  who: Party | undefined,
  tenant: string,
  more: object = {},
): Pergunta => {
  const acao = { token: 'criar', 'token/lista': 'listar', 'token/revogacao': 'revogar' }[where];
  const signed = { acao, municipio: tenant, ambiente: 'producao', emitido_em: new Date(clock.now).toISOString() };
  const body = JSON.stringify({
    documento,
    ...signed,
    pedido: `pedido-${documento}-${++client}`.padEnd(40, '0'),
    ...more,
  });
  const signature = who === undefined ? {} : { 'X-Token-Assinatura': cms(body, who) };
  return { method: 'POST', path: `/${tenant}/${API}/${where}`, headers: { ...JSON_TYPE, ...signature }, body };
};
const ofToken = (where: string, traz: string, more: object = {}): Prova => ({
  pares: (who, tenant = TENANT) => {
    const [ha, naoHa] = [PRESTADOR, NINGUEM].map((one) => tokenAt(where, one, who, tenant, more));
    return [{ ha: ha!, naoHa: naoHa!, dito: DOIS, deDois: true }];
  },
  parte: { pergunta: tokenAt(where, PRESTADOR, prestador, TENANT, more), traz },
});
const token = async (): Promise<string> =>
  JSON.parse((await ask(tokenAt('token', PRESTADOR, prestador, TENANT))).text).id;
const [listed, revoked] = [await token(), await token()];

/** Requests of the owner of a document that the address names. */
const ofDono = (where: string, traz: string, more: Partial<Pergunta> = {}): Prova => ({
  pares: (_who, tenant) => {
    const [ha, naoHa] = [PRESTADOR, NINGUEM].map((one) => ({ ...at(`${where}?documento=${one}`, tenant), ...more }));
    return [{ ha: ha!, naoHa: naoHa!, dito: DOIS, deDois: true }];
  },
  parte: { pergunta: { ...at(where), ...more }, who: prestador, traz },
});

const ADDRESS = { method: 'POST', headers: JSON_TYPE, body: JSON.stringify({ url: 'https://erp.exemplo.com.br/x' }) };
async function webhook(): Promise<string> {
  const { text } = await ask({ ...at('webhooks'), ...ADDRESS }, prestador);
  return JSON.parse(text).webhook.id;
}
const NO_WEBHOOK = 'wh_naohaeste000';
/** Requests of a webhook's owner. Strangers ask about the webhook that no test removes. */
const ofWebhook = (id: string, traz: string, method: string, more: Partial<Pergunta> = {}, below = ''): Prova => {
  const of = (one: string, tenant?: string): Pergunta => ({
    ...at(`webhooks/${one}${below}`, tenant),
    method,
    ...more,
  });
  return {
    pares: (_who, tenant) => [{ ha: of(own, tenant), naoHa: of(NO_WEBHOOK, tenant), dito: [[own, NO_WEBHOOK]] }],
    parte: { pergunta: of(id), who: prestador, traz },
  };
};
const [own, removed, tried] = [await webhook(), await webhook(), await webhook()];
const ASKED_FILE = { method: 'POST', headers: JSON_TYPE, body: JSON.stringify({ formato: 'csv' }) };
const file: string = JSON.parse((await ask({ ...at('exportacoes'), ...ASKED_FILE }, prestador)).text).exportacao.id;
await makeExportacoes(world, (await store.municipios.findBySlug(TENANT))!, {});
/** Requests of the owner of a file of notes. */
const ofFile = (traz: string, below = ''): Prova => {
  const of = (one: string, tenant?: string): Pergunta => at(`exportacoes/${one}${below}`, tenant);
  return {
    pares: (_who, tenant) => [{ ha: of(file, tenant), naoHa: of(NO_FILE, tenant), dito: [[file, NO_FILE]] }],
    parte: { pergunta: of(file), who: prestador, traz },
  };
};
const NO_FILE = 'exp_naohaeste000';
const CHANGE = { headers: JSON_TYPE, body: JSON.stringify({ ativo: true }) };

/** A new sandbox with a request in it, and its key. */
async function ensaio(): Promise<{ readonly slug: string; readonly chave: string }> {
  const { text } = await ask({ ...at('ambientes', ENSAIO), method: 'POST' });
  const { ambiente, chave } = JSON.parse(text);
  return { slug: ambiente.municipio, chave };
}
const [meu, reiniciado, descartado] = await Promise.all([ensaio(), ensaio(), ensaio()]);
await ask(at('dps/x', meu.slug));
/** Requests of a sandbox's owner. Strangers ask about the sandbox that stays: an answer must not tell that it exists. */
const ofEnsaio = (below: string, traz: string, method = 'GET', more: Partial<Pergunta> = {}, own = meu): Prova => {
  const of = (tenant: string, headers: Readonly<Record<string, string>> = {}): Pergunta => ({
    ...at(`ambiente${below}`, tenant),
    method,
    ...more,
    headers: { ...more.headers, ...headers },
  });
  return {
    // The answer at a municipality that is no sandbox says so; its name shows the same.
    pares: (_who, tenant = meu.slug) => [{ ha: of(tenant), naoHa: of(tenant), dito: [] }],
    parte: { pergunta: of(own.slug, { Authorization: `Bearer ${own.chave}` }), traz },
  };
};
const lastRequest = await until(async () => {
  const asked = { ...at('ambiente/requisicoes', meu.slug), headers: { Authorization: `Bearer ${meu.chave}` } };
  return JSON.parse((await ask(asked)).text).requisicoes[0]?.id as string | undefined;
}, 'the request is kept');

/** A line of a list of services, as a form sends it. */
const SERVICO = encodeURIComponent(
  'codigo;descricao;codigo_tributacao_nacional;aliquota;inicio\n777;Aulas;080201;5,00;2026-01-01\n',
);
const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };
/** Requests to the pages of a sandbox: the key is in a cookie that has the sandbox in its name. */
function atPage({ slug, chave }: typeof meu, below = '', { headers, ...more }: Partial<Pergunta> = {}): Pergunta {
  const all = { Cookie: `ensaio-${slug}=${chave}`, ...FORM, ...headers };
  return { path: `${ENSAIO_PATH}/${slug}${below}`, ...more, headers: all };
}
/** Requests of its owner; an existing sandbox and a missing one look alike without the key. */
const daPagina = (traz: string, below?: string, more?: Partial<Pergunta>): Prova => {
  const [chave, away] = ['ensaio_errada', 'ensaio-222222'];
  const [ha, naoHa] = [meu.slug, away].map((slug) => atPage({ slug, chave }, below, more));
  return {
    pares: () => [{ ha: ha!, naoHa: naoHa!, dito: [[meu.slug, away]] }],
    parte: { pergunta: atPage(meu, below, more), traz },
  };
};

/** The form for a note without its key, filled in from the paper. */
const procurar = (numero: string, tenant = TENANT): Pergunta => ({
  path: `/${tenant}/`,
  method: 'POST',
  headers: FORM,
  body: String(new URLSearchParams({ numero, documento: PRESTADOR, valor: '1.000,00' })),
});

const emitir = [xmlTo('nfse/v101'), jsonTo('nfse/v101')];
const validar = [xmlTo('nfse/v101/validacao'), jsonTo('nfse/v101/validacao')];
const PROVAS: Readonly<Record<string, Prova>> = {
  pedirToken: ofToken('token', '"token":"nfse_'),
  listarTokens: ofToken('token/lista', listed),
  revogarToken: ofToken('token/revogacao', '"revogado_em"', { id: revoked }),
  listarNotas: ofDono('notas', CHAVE),
  listarEventosDaParte: ofDono('eventos', '"confirmacao_prestador"'),
  criarAmbiente: publico({ ...at('ambientes', ENSAIO), method: 'POST', headers: JSON_TYPE, body: '{"nome":7}' }),
  consultarAmbiente: ofEnsaio('', meu.slug),
  alterarAmbiente: ofEnsaio('', '"exige_numero":true', 'PATCH', { headers: JSON_TYPE, body: '{"exige_numero":true}' }),
  importarCadastro: ofEnsaio('/cadastros/clientes', 'Não há cadastro', 'POST', {
    headers: { 'Content-Type': 'text/csv' },
    body: 'a',
  }),
  listarPersonas: ofEnsaio('/personas', '"cenarios"'),
  documentoDaPersona: ofEnsaio('/personas/x/y', 'Não há cenário'),
  listarRequisicoes: ofEnsaio('/requisicoes', lastRequest),
  consultarRequisicao: ofEnsaio(`/requisicoes/${lastRequest}`, '"resposta"'),
  reiniciarAmbiente: ofEnsaio('/reinicio', '"reiniciado_em"', 'POST', {}, reiniciado),
  descartarAmbiente: ofEnsaio('', descartado.slug, 'DELETE', {}, descartado),
  fazerAmbiente: publico({ path: ENSAIO_PATH, method: 'POST', headers: FORM, body: 'ambiente=x&chave=y' }),
  mostrarAmbiente: daPagina('A chave do dono'),
  agirNoAmbiente: daPagina('O botão não é nenhum', '', { method: 'POST', body: 'acao=voar' }),
  mostrarRequisicao: daPagina('O que se respondeu', `/requisicoes/${lastRequest}`),
  mostrarCadastro: daPagina('O que há nele', '/cadastros/servicos'),
  encherCadastro: daPagina('Não veio nada', '/cadastros/servicos', { method: 'POST', body: 'csv=' }),
  baixarCadastro: daPagina('inscricao_municipal', '/cadastros/prestadores/csv'),
  seguirMudancas: ofDono('mudancas', '"mudancas":['),
  pedirExportacao: ofDono('exportacoes', '"exportacao":{', ASKED_FILE),
  listarExportacoes: ofDono('exportacoes', file),
  consultarExportacao: ofFile('"estado":'),
  baixarExportacao: ofFile('chave_acesso', '/arquivo'),
  cadastrarWebhook: ofDono('webhooks', '"segredo":"whsec_', ADDRESS),
  listarWebhooks: ofDono('webhooks', own),
  consultarWebhook: ofWebhook(own, '"pendentes":0', 'GET'),
  alterarWebhook: ofWebhook(own, '"ativo":true', 'PATCH', CHANGE),
  retirarWebhook: ofWebhook(removed, removed, 'DELETE'),
  trocarSegredoDoWebhook: ofWebhook(own, '"segredo":"whsec_', 'POST', {}, '/segredo'),
  ensaiarWebhook: ofWebhook(tried, tried, 'POST', {}, '/ensaio'),
  listarEntregas: ofWebhook(own, '"entregas":[', 'GET', {}, '/entregas'),
  reenviarEntregas: ofWebhook(own, '"reenviadas":0', 'POST', {}, '/reenvio'),
  emitirNota: {
    pares: paresOfDps(...emitir),
    parte: { pergunta: emitir[0]!({}, prestador), traz: `"chave_acesso":"${CHAVE}"` },
  },
  validarDps: {
    pares: paresOfDps(...validar),
    parte: { pergunta: validar[1]!({}, prestador), traz: `"chave_acesso":"${CHAVE}"` },
  },
  verificarAssinatura: {
    pares: paresOfDps(xmlTo('assinatura/verificacao')),
    parte: { pergunta: xmlTo('assinatura/verificacao')({}, prestador), traz: '"valida":true' },
  },
  nacionalEmitirNota: {
    pares: paresOfDps(nacionalTo),
    parte: { pergunta: nacionalTo({}, prestador), traz: `"chave_acesso":"${CHAVE}"` },
  },
  nacionalConsultarNota: naPorta((chave) => `nfse/${chave}`, '"nfseXmlGZipB64"'),
  nacionalListarEventos: naPorta((chave) => `nfse/${chave}/eventos`, '"arquivoXml"'),
  nacionalListarEventosDoTipo: naPorta((chave) => `nfse/${chave}/eventos/202201`, '"arquivoXml"'),
  nacionalConsultarEvento: naPorta((chave) => `nfse/${chave}/eventos/202201/1`, '"arquivoXml"'),
  nacionalConsultarDps: {
    pares: paresAt(
      (tenant) => naPortaAt(`dps/${idOf('1')}`, tenant),
      (tenant) => naPortaAt(`dps/${idOf('9')}`, tenant),
      [idOf('1'), idOf('9')],
    ),
    parte: { pergunta: naPortaAt(`dps/${idOf('1')}`), who: tomador, traz: CHAVE },
  },
  nacionalExisteDps: {
    pares: paresAt(
      (tenant) => ({ ...naPortaAt(`dps/${idOf('1')}`, tenant), method: 'HEAD' }),
      (tenant) => ({ ...naPortaAt(`dps/${idOf('9')}`, tenant), method: 'HEAD' }),
    ),
    parte: { pergunta: { ...naPortaAt(`dps/${idOf('1')}`), method: 'HEAD' }, traz: '' },
  },
  nacionalRegistrarEvento: {
    pares: (who, tenant) => [
      { ha: pedidoAt(CHAVE, who, tenant), naoHa: pedidoAt(OUTRA_CHAVE, who, tenant), dito: [[CHAVE, OUTRA_CHAVE]] },
    ],
    parte: { pergunta: pedidoAt(CHAVE, prestador), traz: '"eventoXmlGZipB64"' },
  },
  nacionalConvenio: publico(parametrosAt('convenio'), 'aderenteAmbienteNacional'),
  nacionalAliquota: publico(parametrosAt('01.01.01.000/2026-11-21/aliquota'), 'E601'),
  nacionalHistoricoAliquotas: publico(parametrosAt('01.01.01.000/historicoaliquotas'), 'E601'),
  nacionalBeneficio: publico(parametrosAt('35503080200001/2026-11-21/beneficio'), 'E601'),
  emitirNotaLeiaute100: {
    pares: paresOfDps(xmlTo('nfse')),
    parte: { pergunta: xmlTo('nfse')({}, prestador), traz: '/sao-paulo/api/v1/nfse/v101' },
  },
  consultarNota: byChave((chave) => `nfse/${chave}`, NOME_TOMADOR),
  mostrarNotaAoTomador: {
    pares: paresAt(
      (tenant = TENANT) => ({ path: `/${tenant}/nota/${CHAVE}` }),
      (tenant = TENANT) => ({ path: `/${tenant}/nota/${OUTRA_CHAVE}` }),
      [CHAVE, OUTRA_CHAVE],
    ),
    parte: { pergunta: { path: `/${TENANT}/nota/${CHAVE}` }, traz: NOME_TOMADOR },
  },
  mostrarBalcao: publico({ path: `/${TENANT}/` }),
  mostrarBrasao: publico({ path: `/${TENANT}/brasao/${IMPRESSAO}` }, 'PNG'),
  procurarNota: {
    pares: paresAt(
      (tenant) => procurar(NUMERO, tenant),
      (tenant) => procurar('999', tenant),
    ),
    parte: { pergunta: procurar(NUMERO), traz: 'Em processamento' },
  },
  conferirDocumento: publico({
    path: '/docs/conferir',
    body: 'documento=oi',
    method: 'POST',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
  }),
  migrarDocumento: publico({
    path: '/docs/migrar',
    body: 'documento=oi',
    method: 'POST',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
  }),
  consultarNotaPorProtocolo: byProtocolo('nfse/protocolo'),
  consultarNotaPorProtocoloV101: byProtocolo('nfse/v101/protocolo'),
  registrarEvento: registering(CHAVE, OUTRA_CHAVE),
  registrarEventoPorProtocolo: registering(`protocolo/${PROTOCOLO}`, `protocolo/${OUTRO_PROTOCOLO}`),
  listarEventos: byChave((chave) => `nfse/${chave}/eventos`, '"confirmacao_prestador"'),
  listarEventosDoTipo: byChave((chave) => `nfse/${chave}/eventos/confirmacao_prestador`, '"numero_sequencial":1'),
  consultarEvento: byChave((chave) => `nfse/${chave}/eventos/confirmacao_prestador/1`, '"numero_sequencial":1'),
  // The note is not authorised yet: a party is told to wait.
  baixarDanfse: byChave((chave) => `danfse/${chave}`, 'E703'),
  nacionalBaixarDanfse: {
    pares: paresAt(
      (tenant) => naRaizAt(CHAVE, tenant),
      (tenant) => naRaizAt(OUTRA_CHAVE, tenant),
      [CHAVE, OUTRA_CHAVE],
    ),
    parte: { pergunta: naRaizAt(CHAVE), traz: 'E703' },
  },
  consultarNotaPorDps: {
    pares: paresAt(
      (tenant) => at(`dps/${idOf('1')}`, tenant),
      (tenant) => at(`dps/${idOf('9')}`, tenant),
      [idOf('1'), idOf('9')],
    ),
    parte: { pergunta: at(`dps/${idOf('1')}`), who: tomador, traz: CHAVE },
  },
  existeNotaDaDps: {
    pares: paresAt(
      (tenant) => ({ ...at(`dps/${idOf('1')}`, tenant), method: 'HEAD' }),
      (tenant) => ({ ...at(`dps/${idOf('9')}`, tenant), method: 'HEAD' }),
    ),
    parte: { pergunta: { ...at(`dps/${idOf('1')}`), method: 'HEAD' }, traz: '' },
  },
  consultarSituacaoDoPrestador: {
    pares: (_who, tenant) => {
      const [ha, naoHa] = [PRESTADOR, NINGUEM].map((one) => at(`prestadores/${one}/situacao`, tenant));
      return [{ ha: ha!, naoHa: naoHa!, dito: DOIS, deDois: true }];
    },
    parte: { pergunta: at(`prestadores/${PRESTADOR}/situacao`), who: prestador, traz: IM },
  },
  RecepcionarLoteRps: {
    pares: (who, tenant) => {
      const [ha, naoHa] = [PRESTADOR, NINGUEM].map((one) => soap('RecepcionarLoteRps', lote('2', one, who), tenant));
      return [{ ha: ha!, naoHa: naoHa!, dito: DOIS, deDois: true }];
    },
    parte: { pergunta: soap('RecepcionarLoteRps', lote('3', PRESTADOR, prestador)), traz: 'Protocolo' },
  },
  ConsultarSituacaoLoteRps: porto(
    'ConsultarSituacaoLoteRps',
    () => [
      porProtocolo('ConsultarSituacaoLoteRpsEnvio', LOTE!),
      porProtocolo('ConsultarSituacaoLoteRpsEnvio', OUTRO_LOTE),
    ],
    [],
    'Situacao',
  ),
  ConsultarLoteRps: porto(
    'ConsultarLoteRps',
    () => [porProtocolo('ConsultarLoteRpsEnvio', LOTE!), porProtocolo('ConsultarLoteRpsEnvio', OUTRO_LOTE)],
    [],
    // The lot waits for its worker.
    'E92',
  ),
  ConsultarNfsePorRps: porto('ConsultarNfsePorRps', () => [porRpsXml(1), porRpsXml(9)], [], 'E92'),
  ConsultarNfse: porto(
    'ConsultarNfse',
    () => [consultaXml(`<NumeroNfse>${NUMERO}</NumeroNfse>`), consultaXml('<NumeroNfse>99</NumeroNfse>')],
    [],
    NOME_TOMADOR,
  ),
  CancelarNfse: porto('CancelarNfse', (who) => [cancelamento(NUMERO, who), cancelamento('99', who)], [], 'DataHora'),
};

/** Every client gets the same answer, so there is nothing to hide. */
const PUBLICAS: Readonly<Record<string, Pergunta>> = {
  '/:municipio/soap/nfes': { path: `/${TENANT}/soap/nfes?wsdl` },
  ...Object.fromEntries(
    SITE_PATHS.map((one) => [
      one,
      {
        path: one
          .replace('/erros/:codigo', '/erros/E0014')
          .replace(':pagina', 'limites')
          .replace('arquivos/:arquivo', 'arquivos/dps.xml')
          .replace(':arquivo', 'inicio.js'),
      },
    ]),
  ),
};

const ALL = listAddresses(GUARDED_DOOR, SITE_PATHS);

function provaOf(id: string): Prova {
  if (id.startsWith('catalogo_')) return publico(at(`catalogo/${id.slice('catalogo_'.length)}`), 'itens');
  const found = PROVAS[id] ?? (PUBLICAS[id] && publico(PUBLICAS[id]));
  assert.ok(found, `nobody asks ${id} here`);
  return found;
}

const SEGREDOS = [CHAVE, PROTOCOLO, LOTE!, TOMADOR, NOME_TOMADOR, IM, 'Razao Reservada'];

/** The answer has nothing of the note or the registry that was not in the request. */
function assertSilent({ text }: Resposta, { path: url, body = '' }: Pergunta): void {
  for (const secret of SEGREDOS)
    if (!`${url} ${body}`.includes(secret)) assert.ok(!text.includes(secret), `${secret} in ${text.slice(0, 500)}`);
}

function assertOne(ha: Resposta, naoHa: Resposta, dito: Par['dito'], where: string): void {
  const masked = (text: string): string => dito.flat().reduce((left, word) => left.replaceAll(word, '·'), text);
  assert.equal(ha.status, naoHa.status, `${where}: ${ha.text} / ${naoHa.text}`);
  assert.equal(masked(ha.text), masked(naoHa.text), where);
}

/** Addresses that tell everybody whether something exists. */
const TOLD_TO_ALL = ['existeNotaDaDps', 'nacionalExisteDps', 'procurarNota'];

describe('an address says who may ask', () => {
  test('each of those that listen has a row, and each row is asked here', () => {
    for (const { id } of ALL) provaOf(id);
    const unused = Object.keys(PROVAS).filter((id) => !ALL.some((one) => one.id === id));
    assert.deepEqual(unused, []);
    assert.throws(() => listAddresses(GUARDED_DOOR, [...SITE_PATHS, '/novo']), /\/novo/);
    assert.throws(() => listAddresses(GUARDED_DOOR, SITE_PATHS.slice(1)), /No address/);
  });

  for (const { id, acesso } of ALL) {
    const { revela } = acesso;
    test(`${id}: to a stranger ${revela}`, async () => {
      const { pares } = provaOf(id);
      for (const who of [undefined, alheio]) {
        for (const { ha, naoHa, dito } of pares(who)) {
          const [there, away] = [await ask(ha, who), await ask(naoHa, who)];
          const where = `${id} ${who === undefined ? 'without certificate' : 'with one of somebody else'}`;
          if (revela === 'chave') {
            // A client with the key is no stranger.
            assertSilent(away, naoHa);
            assert.ok(/"(?:E301|E601)"|\(E301\)|E86/.test(away.text), away.text);
            continue;
          }
          assertSilent(there, ha);
          assertSilent(away, naoHa);
          if (revela === 'publico') {
            // The answer repeats the request.
            if (ha === naoHa) assert.equal(there.text, away.text);
            assert.deepEqual(there.asked, away.asked, where);
          } else if (revela === 'existencia' && (who !== undefined || TOLD_TO_ALL.includes(id))) {
            assert.deepEqual([there.status, away.status], [TOLD_TO_ALL.includes(id) ? 200 : 401, 404]);
          } else if (id === 'nacionalRegistrarEvento' && who !== undefined) {
            assert.deepEqual([there.status, away.status], [400, 404], there.text);
            assert.match(there.text, /"E906"/);
          } else if (id.startsWith('registrarEvento') && who !== undefined) {
            assert.deepEqual([there.status, away.status], [401, 404], there.text);
            assert.match(there.text, /"E9007"/);
          } else {
            assertOne(there, away, dito, where);
            // The work is the same too, down to the queries to the database.
            assert.deepEqual(there.asked, away.asked, where);
          }
        }
      }
    });

    test(`${id}: a party`, async () => {
      const { parte } = provaOf(id);
      const { text, status } = await ask(parte.pergunta, parte.who);
      assert.ok(text.includes(parte.traz), `${status} ${text.slice(0, 500)}`);
      assert.ok(status < 500, text);
    });

    test(`${id}: nothing of it at another municipality`, async () => {
      for (const { ha, naoHa, dito, deDois } of provaOf(id).pares(prestador, OUTRO_TENANT)) {
        const there = await ask(ha, prestador);
        assertSilent(there, ha);
        if (deDois || acesso.revela === 'publico') continue;
        const away = await ask(naoHa, prestador);
        assertOne(there, away, dito, id);
      }
    });
  }
});

describe('a dry run without its provider’s signature (D-25)', () => {
  /** Belo Horizonte. */
  const IBGE_CADASTRO = '3106200';
  /** A rate for the provider alone, and registries in which its document has another meaning. */
  const REGISTERS = (nBM: string): readonly (readonly string[])[] => [
    [
      'beneficios',
      'numero,descricao,tipo,reducao,aliquota,servicos,documentos,inicio,fim',
      `${nBM},Alíquota de um só,aliquota_diferenciada,,2.00,,${PRESTADOR},2026-01-01,2030-12-31`,
    ],
    ['deducoes', 'codigo_tributacao_nacional,formas,inicio,fim', '010101,percentual,2026-01-01,'],
    ['regimes', 'regime,documento,servicos,inicio,fim', `1,${ALHEIO},,2026-01-01,`],
    ['nao-incidencias', 'codigo_tributacao_nacional,documento,inicio,fim', `010101,${ALHEIO},2026-01-01,`],
  ];
  const LOOKED = /prestador|nota|cadastros|nextNumbers|received|Dps/;
  const COM_ASSINATURA = 'Com a assinatura válida do prestador tudo isso se confere.';
  const LIDA_EM_PARTE =
    /^A DPS não pôde ser lida inteira: das regras, dos valores, do cadastro e das notas já emitidas só se olhou/;
  const STATUS = { XML: 422, JSON: 401 } as const;

  for (const [form, to, emitir] of [
    ['XML', validar[0]!, xmlTo('nfse/v101')],
    ['JSON', validar[1]!, jsonTo('nfse/v101')],
  ] as const) {
    test(`${form}: the rest is told, by what the document says, and that nothing else was looked at`, async () => {
      const wrong: Dps = { more: { 'serv/cServ/cTribNac': '999999', IBSCBS: null, 'prest/regTrib/opSimpNac': '1' } };
      for (const who of [undefined, alheio, tomador]) {
        const { status, text, asked: looked } = await ask(to(wrong, who));
        const { erros, nao_conferido } = JSON.parse(text);
        const codes: readonly string[] = erros.map(({ codigo }: { codigo: string }) => codigo);
        assert.equal(status, form === 'XML' ? 422 : 401, text);
        assert.match(codes[0]!, /^E9/);
        assert.ok(codes.includes('E002'), text);
        assert.match(nao_conferido[0], /^Sem a assinatura válida do prestador não se olhou o cadastro/);
        assert.equal(nao_conferido.at(-1), COM_ASSINATURA);
        assert.doesNotMatch(text, /"valores"/);
        assert.deepEqual(
          looked.filter((name) => LOOKED.test(name)),
          [],
        );
      }
    });

    test(`${form}: an issuance is told structure and rules beside the signature, and asks nothing of the database`, async () => {
      const wrong: Dps = { more: { verAplic: 'x'.repeat(21), IBSCBS: null } };
      const ofEverybody = (await ask(emitir({}, alheio))).asked;
      for (const who of [undefined, alheio]) {
        const { text, asked } = await ask(emitir(wrong, who));
        const codes = JSON.parse(text).erros.map(({ codigo }: { codigo: string }) => codigo);
        assert.match(codes[0], /^E9/);
        assert.deepEqual(codes.slice(-2), ['E0003', 'E802'], text);
        assert.deepEqual(asked, ofEverybody);
        assert.ok(!asked.some((name) => LOOKED.test(name) || /servicos|aliquotas/.test(name)), asked.join());
      }
    });

    test(`${form}: of a good document the amounts are told, as they are to its provider`, async () => {
      const good: Dps = { nDPS: '9' };
      const own = JSON.parse((await ask(to(good, prestador))).text);
      // 1000.00 × 2.00 %
      assert.deepEqual([own.status, own.valores.valor_issqn], ['OK', '20.00']);
      for (const who of [undefined, alheio, tomador]) {
        const { status, text, asked: looked } = await ask(to(good, who));
        const { codigo_erro, mensagem, detalhes, timestamp, campo, erros, nao_conferido, ...asSaid } = JSON.parse(text);
        // The identifier belongs to the notes, not to the amounts.
        assert.deepEqual({ status: 'OK', identificador_dps: idOf('9'), ...asSaid }, own);
        assert.equal(status, STATUS[form], text);
        for (const { codigo } of erros) assert.match(codigo, /^E9/);
        assert.ok(mensagem !== '' && detalhes !== '' && timestamp !== '' && campo === erros[0].campo);
        assert.equal(erros[0].codigo, codigo_erro);
        assert.match(nao_conferido.at(-2), /^Os valores são os do que a DPS diz/);
        assert.equal(nao_conferido.at(-1), COM_ASSINATURA);
        assert.deepEqual(
          looked.filter((name) => LOOKED.test(name)),
          [],
        );
      }
    });

    test(`${form}: where the structure is at fault it says that it did not look, signed or not`, async () => {
      const broken: Dps = { more: { 'toma/CPF': '1', 'valores/vServPrest/vServ': null } };
      for (const who of [undefined, alheio, prestador]) {
        const { text } = await ask(to(broken, who));
        const { erros, nao_conferido, valores } = JSON.parse(text);
        assert.ok(
          erros.some(({ codigo }: { codigo: string }) => !codigo.startsWith('E9')),
          text,
        );
        assert.match(nao_conferido[0], LIDA_EM_PARTE);
        assert.equal(nao_conferido.at(-1) === COM_ASSINATURA, who !== prestador, text);
        assert.equal(valores, undefined);
      }
      const malformed = { ...to({}, prestador), body: form === 'XML' ? '<DPS' : '{"a":' };
      const { nao_conferido } = JSON.parse((await ask(malformed)).text);
      assert.match(nao_conferido[0], /^A DPS não pôde ser lida: não se olharam/);
      // A rehearsal checks the body, signed or not, and has no remark of this kind.
      for (const sent of [to(broken, undefined, ENSAIO), { ...to({}, undefined, ENSAIO), body: malformed.body }]) {
        const { status, text } = await ask(sent);
        assert.ok(status >= 400 && !text.includes('nao_conferido'), text);
      }
    });

    test(`${form}: signed, it is what issuance would answer`, async () => {
      const { text } = await ask(to({ nDPS: '1' }, prestador));
      const { erros, nao_conferido } = JSON.parse(text);
      assert.deepEqual([erros[0].codigo, erros[0].chave_acesso, nao_conferido], ['E0014', CHAVE, undefined]);
      const free = await ask(to({ nDPS: '9' }, prestador));
      assert.equal(free.status, 200, free.text);
    });
  }

  test('is the same, byte for byte, whatever the registry, the registers and the notes hold', async () => {
    const SLUG = 'ensaio-do-cadastro';
    await store.municipios.create(
      { tenant: SLUG, ambiente: 'producao', codigoIbge: IBGE_CADASTRO, confianca, aliquotaPadrao: decimal('3.00') },
      clock.now,
    );
    const place = { cLocEmi: IBGE_CADASTRO, 'serv/locPrest/cLocPrestacao': IBGE_CADASTRO };
    const nBM = `${IBGE_CADASTRO}0400001`;
    const tried: readonly Patch[] = [
      {},
      { 'valores/trib/tribMun/BM/nBM': nBM, 'valores/trib/tribMun/pAliq': null },
      { 'prest/IM': IM },
      { 'prest/regTrib/opSimpNac': '3', 'prest/regTrib/regApTribSN': '1' },
      { 'prest/regTrib/regEspTrib': '1' },
      { 'valores/vDedRed/vDR': '100.00' },
      { 'valores/trib/tribMun/tribISSQN': '4', 'valores/trib/tribMun/pAliq': null },
      { 'subst/chSubstda': CHAVE, 'subst/cMotivo': '01' },
      { 'toma/CPF': '1' },
    ];
    const documents = tried.map((more): Dps => {
      const id = dpsIdOf({ cLocEmi: IBGE_CADASTRO, documento: PRESTADOR, serie: '1', nDPS: '1' });
      return { more: { ...place, '@Id': id, ...more } };
    });
    const answers = async (): Promise<readonly string[]> => {
      const texts: string[] = [];
      for (const to of validar)
        for (const document of documents)
          for (const who of [undefined, alheio]) {
            const { status, text } = await ask(to(document, who, SLUG));
            texts.push(`${status} ${text.replace(/"timestamp":"[^"]+"/, '')}`);
          }
      return texts;
    };
    const ofNobody = await answers();
    assert.ok(ofNobody.filter((text) => text.includes('"valores"')).length >= ofNobody.length / 2, ofNobody.join('\n'));
    const signed = async (): Promise<string> => (await ask(validar[0]!(documents[1]!, prestador, SLUG))).text;
    assert.match(await signed(), /"E101"/);

    await addPrestador(pool, SLUG, PRESTADOR, { im: IM, nome: 'Razao Reservada Ltda' });
    const file = (name: string, lines: readonly string[]): string => {
      writeFileSync(path.join(folder, name), `${lines.join('\n')}\n`);
      return path.join(folder, name);
    };
    for (const [what = '', ...lines] of REGISTERS(nBM)) {
      const { code, out, err } = await nfseHere(
        [what, 'importar', file(`${what}.csv`, lines), '--municipio', SLUG],
        pool,
      );
      assert.equal(code, 0, out + err);
    }
    remembering = createStore(pool);
    // 1000.00 × 2.00 %, and for strangers × the 3.00 % of the general rate
    const own = JSON.parse(await signed());
    assert.equal(own.valores?.valor_issqn, '20.00', JSON.stringify(own));
    assert.match(ofNobody[2]!, /"valor_issqn":"30.00"/);
    const issuedThere = await ask(xmlTo('nfse/v101')(documents[0]!, prestador, SLUG));
    assert.equal(issuedThere.status, 201, issuedThere.text);
    assert.match(await signed(), /"E0014"/);
    assert.deepEqual(await answers(), ofNobody);
  });

  for (const [what, more] of [
    ['of a good document', {}],
    ['with faults of structure', { 'valores/vServPrest/vServ': null }],
  ] as const) {
    test(`counts as a miss ${what}: sixty a minute of one network are told, and the signed ones always`, async () => {
      const from = `198.51.100.${Object.keys(more).length + 7}`;
      const statuses: number[] = [];
      // The bucket refills with time, one a second.
      while (statuses.at(-1) !== 429 && statuses.length < 1_000) {
        statuses.push((await ask(validar[0]!({ nDPS: String(statuses.length + 100), more }), undefined, from)).status);
      }
      assert.ok(statuses.length > 60, `${statuses.length}`);
      assert.deepEqual(new Set(statuses), new Set([422, 429]));
      assert.equal((await ask(validar[0]!({ nDPS: '9' }, prestador), undefined, from)).status, 200);
    });
  }
});

describe('what is signed says its place', () => {
  const RIO = '3304557';
  const STRICT = 'rio';
  before(async () => {
    // The municipality has the settings of a new one, and the national rules as remarks: the place is none of those.
    await store.municipios.create(
      {
        ...{ tenant: STRICT, ambiente: 'producao', codigoIbge: RIO, confianca, regrasNacionais: 'avisa' },
        ...{ exigeNumero: true, exigeNotaNoEvento: true },
      },
      clock.now,
    );
    await addPrestador(pool, STRICT, PRESTADOR, { im: IM, nome: 'Razao Reservada Ltda' });
  });

  type Erro = { codigo: string; campo?: string; mensagem: string };
  const body = (changes: Readonly<Record<string, unknown>>): string =>
    JSON.stringify({ ...JSON.parse(jsonOf(xmlDps({ nDPS: '5' }))), municipio_emissor: RIO, ...changes });

  async function sendJson(
    text: string,
    where = 'nfse/v101',
  ): Promise<{ status: number; erros: Erro[]; chave_acesso: string }> {
    const headers = { ...JSON_TYPE, 'X-DPS-Assinatura': cms(text, prestador) };
    const { status, text: answer } = await ask({
      method: 'POST',
      path: `/${STRICT}/${API}/${where}`,
      headers,
      body: text,
    });
    return { ...JSON.parse(answer), status };
  }

  for (const [where, numero_dps] of [
    ['nfse/v101/validacao', '8'],
    ['nfse/v101', '9'],
  ] as const) {
    test(`${where}: a JSON body without municipality and environment is refused with the lines to add`, async () => {
      const missing = body({ numero_dps, tipo_ambiente: undefined, municipio_emissor: null });
      const { status, erros } = await sendJson(missing, where);
      assert.equal(status, 422);
      const lines = erros.map(({ codigo, campo, mensagem }) => [
        codigo,
        campo,
        /("[a-z_]+": "\d+")$/.exec(mensagem)?.[1],
      ]);
      assert.deepEqual(lines, [
        ['E002', 'tipo_ambiente', '"tipo_ambiente": "1"'],
        ['E002', 'municipio_emissor', `"municipio_emissor": "${RIO}"`],
      ]);
      // The answer's missing parts, pasted into the document, complete it.
      const pasted = missing
        .replace('{', `{${lines.map(([, , line]) => line).join(', ')}, `)
        .replace(',"municipio_emissor":null', '');
      assert.ok([200, 201].includes((await sendJson(pasted, where)).status));
    });

    test(`${where}: one signed for the sandbox, or for another municipality, is refused by what it says`, async () => {
      const rehearsal = await sendJson(body({ tipo_ambiente: '2' }), where);
      assert.deepEqual(
        rehearsal.erros.map(({ codigo, campo }) => [codigo, campo]),
        [['E0006', 'tipo_ambiente']],
      );
      const elsewhere = await sendJson(body({ municipio_emissor: IBGE }), where);
      assert.deepEqual(
        elsewhere.erros.map(({ codigo, campo }) => [codigo, campo]),
        [['E403', 'municipio_emissor']],
      );
    });

    test(`${where}: and so is an XML one`, async () => {
      for (const [codigo, more] of [
        ['E0006', { tpAmb: '2', cLocEmi: RIO }],
        ['E403', { cLocEmi: IBGE }],
      ] as const) {
        const id = dpsIdOf({ cLocEmi: more.cLocEmi, documento: PRESTADOR, serie: '1', nDPS: '7' });
        const { text } = await ask(xmlTo(where)({ nDPS: '7', more: { ...more, '@Id': id } }, prestador, STRICT));
        assert.deepEqual(
          JSON.parse(text).erros.map((erro: Erro) => erro.codigo),
          [codigo],
          text,
        );
      }
    });
  }

  test('the request of an event that names no note is refused with the line to add, and one that names another is', async () => {
    const answer = await sendJson(body({ numero_dps: '6' }));
    assert.equal(answer.status, 201);
    const { chave_acesso, numero_protocolo } = answer as unknown as Record<string, string>;
    const register = async (where: string, evento: object): Promise<{ status: number; erros: Erro[] }> => {
      const sent = JSON.stringify({ tipo_evento: 'confirmacao_prestador', ...evento });
      const headers = { ...JSON_TYPE, 'X-Evento-Assinatura': cms(sent, prestador) };
      const { status, text } = await ask({
        method: 'POST',
        path: `/${STRICT}/${API}/nfse/${where}/eventos`,
        headers,
        body: sent,
      });
      return { ...JSON.parse(text), status };
    };
    for (const [where, line] of [
      [chave_acesso!, `"chave_acesso": "${chave_acesso}"`],
      [`protocolo/${numero_protocolo}`, `"numero_protocolo": "${numero_protocolo}"`],
    ] as const) {
      const { status, erros } = await register(where, {});
      assert.deepEqual([status, erros.length, erros[0]!.codigo], [400, 1, 'E002']);
      assert.ok(erros[0]!.mensagem.endsWith(line), erros[0]!.mensagem);
      const other = await register(where, { chave_acesso: CHAVE });
      assert.deepEqual([other.status, other.erros[0]!.codigo], [422, 'E0002']);
    }
    assert.equal((await register(`protocolo/${numero_protocolo}`, { chave_acesso })).status, 201);
    assert.equal((await pool.query('select 1 from eventos where tenant = $1', [STRICT])).rowCount, 1);
  });
});

describe('the key of somebody else’s note, named in what one signs oneself (D-293)', () => {
  const [VITORIA, HERE] = ['3205309', 'vitoria'];
  let chave: string;
  let own: string;
  let nDPS = 10;
  const send = (who: Party, where: string, header: string, fields: object): Promise<Resposta> => {
    const body = JSON.stringify(fields);
    const headers = { ...JSON_TYPE, [header]: cms(body, who) };
    return ask({ method: 'POST', path: `/${HERE}/${API}/${where}`, headers, body });
  };
  const dps = (who: Party, fields: object, where = 'nfse/v101'): Promise<Resposta> => {
    const cnpj = who === alheio ? ALHEIO : PRESTADOR;
    const base = JSON.parse(jsonOf(xmlDps({ nDPS: '1', cnpj })));
    return send(who, where, 'X-DPS-Assinatura', { ...base, municipio_emissor: VITORIA, ...fields });
  };
  before(async () => {
    // The national rules are remarks: a substitute of another party's note is then not refused.
    const municipio = { tenant: HERE, ambiente: 'producao', codigoIbge: VITORIA, confianca } as const;
    await store.municipios.create({ ...municipio, regrasNacionais: 'avisa' }, clock.now);
    for (const documento of [PRESTADOR, ALHEIO]) await addPrestador(pool, HERE, documento);
    const [theirs, mine] = [await dps(prestador, {}), await dps(alheio, {})];
    assert.deepEqual([theirs.status, mine.status], [201, 201], `${theirs.text} ${mine.text}`);
    chave = JSON.parse(theirs.text).chave_acesso;
    own = JSON.parse(mine.text).chave_acesso;
    // A refused note would be reported if the service searched for it.
    await pool.query(`update notas set estado = 'recusada' where tenant = $1 and chave_acesso = $2`, [HERE, chave]);
    await pool.query(`delete from fila where tenant = $1 and id in (select id from notas where estado = 'recusada')`, [
      HERE,
    ]);
  });

  const alike = async (asked: (named: string) => Promise<Resposta>): Promise<void> => {
    const [there, away] = [await asked(chave), await asked(otherKey(chave))];
    assertOne(there, away, [[chave, otherKey(chave)]], 'a key of somebody else');
    assert.deepEqual(there.asked, away.asked);
    assert.match(there.text, /outro prestador/);
  };

  for (const where of ['nfse/v101/validacao', 'nfse/v101']) {
    test(`${where}: as the note that is replaced`, async () => {
      await alike(async (chave_substituida) => {
        nDPS += 1;
        const substituicao = { chave_substituida, codigo_motivo: '01' };
        const { status, text, asked: looked } = await dps(alheio, { numero_dps: String(nDPS), substituicao }, where);
        const { erros = [], avisos = [] } = JSON.parse(text);
        return { status, text: JSON.stringify([erros, avisos]), asked: looked };
      });
    });
  }

  test('as the substitute in an event', async () => {
    const tipo_evento = 'cancelamento_por_substituicao';
    await alike((chave_acesso_substituta) =>
      send(alheio, `nfse/${own}/eventos`, 'X-Evento-Assinatura', {
        ...{ tipo_evento, codigo_motivo_cancelamento: '01', chave_acesso: own },
        chave_acesso_substituta,
      }),
    );
  });
});

describe('a signed JSON body is taken as it was signed, and by its own header alone', () => {
  const where = `/${TENANT}/${API}/nfse/v101/validacao`;
  const signed = jsonOf(xmlDps({ nDPS: '70' }));
  const [own, theirs] = [cms(signed, prestador), cms(signed, alheio)];
  const DPS = 'X-DPS-Assinatura';

  type Envio = { readonly body?: string; readonly headers?: Record<string, string | string[]>; readonly who?: Party };
  async function codeOf({ body = signed, headers = { [DPS]: own }, who }: Envio): Promise<string | undefined> {
    const all = { ...JSON_TYPE, ...headers } as Record<string, string>;
    const { text } = await ask({ method: 'POST', path: where, headers: all, body }, who);
    return JSON.parse(text).codigo_erro;
  }

  for (const [what, envio, codigo] of [
    ['as it was signed', {}, undefined],
    ['with a charset', { headers: { [DPS]: own, 'Content-Type': 'Application/JSON; charset=UTF-8' } }, undefined],
    [
      'with a charset that it does not have',
      { headers: { [DPS]: own, 'Content-Type': 'application/json; charset=utf-16' } },
      'E003',
    ],
    ['announced as XML', { headers: { [DPS]: own, 'Content-Type': 'application/xml' } }, 'E003'],
    ['over the connection of somebody else', { who: alheio }, undefined],
    ['with a space before it', { body: ` ${signed}` }, 'E9003'],
    ['with a line break behind it', { body: `${signed}\n` }, 'E9003'],
    ['with a byte order mark', { body: `\ufeff${signed}` }, 'E9003'],
    ['with its signature twice', { headers: { [DPS]: [own, own] } }, 'E9003'],
    ['with two signatures', { headers: { [DPS]: [theirs, own] } }, 'E9003'],
    ['with its signature in the header of events', { headers: { 'X-Evento-Assinatura': own } }, 'E9002'],
    ['without one, over the connection of its provider', { headers: {}, who: prestador }, 'E9002'],
  ] as const satisfies readonly (readonly [string, Envio, string | undefined])[])
    test(`${what}: ${codigo ?? 'taken'}`, async () => assert.equal(await codeOf(envio as Envio), codigo));

  test('names each thing once: a second provider, however it is written, is no provider', async () => {
    for (const name of ['prestador_cpf_cnpj', 'prestador_\\u0063pf_cnpj']) {
      const body = signed.replace('{', `{"${name}": "${ALHEIO}", `);
      assert.equal(await codeOf({ body, headers: { [DPS]: cms(body, alheio) } }), 'E003');
    }
  });
});

describe('the pages of a sandbox of one’s own', () => {
  const act = (headers: Readonly<Record<string, string>>, body = 'acao=avancar&avancar=1d'): Pergunta =>
    atPage(meu, '', { method: 'POST', headers, body });
  const shown = async (): Promise<string> =>
    (await ask({ ...at('ambiente', meu.slug), headers: { Authorization: `Bearer ${meu.chave}` } })).text;

  test('open to no key of another sandbox, under whatever name it comes', async () => {
    const other = await ensaio();
    for (const Cookie of [
      `ensaio-${meu.slug}=${other.chave}`,
      `ensaio-${other.slug}=${other.chave}`,
      `ensaio=${meu.chave}`,
    ]) {
      for (const [below, more] of [
        ['', {}],
        [`/requisicoes/${lastRequest}`, {}],
        ['', { method: 'POST', body: 'acao=descartar' }],
        ['', { method: 'POST', body: 'acao=rigor&exige_numero=sim' }],
        ['/cadastros/prestadores', {}],
        ['/cadastros/prestadores/csv', {}],
        ['/cadastros/servicos', { method: 'POST', body: 'csv=codigo' }],
      ] as const) {
        const { status, text } = await ask(atPage(meu, below, { ...more, headers: { Cookie } }));
        assert.equal(status, 401);
        assert.doesNotMatch(text, /Personas|O que se respondeu|O que há nele|inscricao_municipal/);
      }
    }
    assert.match(await shown(), new RegExp(meu.slug));
  });

  test('do nothing for what a page of another site sends', async () => {
    const before = JSON.parse(await shown()).ambiente.adiantado_s;
    for (const headers of [
      { 'Sec-Fetch-Site': 'cross-site' },
      { 'Sec-Fetch-Site': 'same-site' },
      { Origin: 'https://outro.exemplo.com.br' },
      { Origin: 'null' },
      { Origin: 'nenhum' },
    ]) {
      const { status, text } = await ask(act(headers));
      assert.deepEqual([status, /outro site/.test(text)], [403, true], JSON.stringify(headers));
      const made = await ask({ path: ENSAIO_PATH, method: 'POST', headers: { ...FORM, ...headers }, body: '' });
      assert.equal(made.status, 403);
      const filled = await ask(atPage(meu, '/cadastros/servicos', { method: 'POST', headers, body: `csv=${SERVICO}` }));
      assert.equal(filled.status, 403);
    }
    assert.doesNotMatch((await ask(atPage(meu, '/cadastros/servicos/csv'))).text, /777;Aulas/);
    assert.equal(JSON.parse(await shown()).ambiente.adiantado_s, before);
    const own = await ask(act({ Origin: door.address, 'Sec-Fetch-Site': 'same-origin' }));
    assert.equal(own.status, 303, own.text);
    assert.equal(JSON.parse(await shown()).ambiente.adiantado_s, before + 86_400);
  });

  test('say the key where its owner asks for it, and nowhere else', async () => {
    const opened = await ask({
      path: ENSAIO_PATH,
      method: 'POST',
      headers: FORM,
      body: String(new URLSearchParams({ ambiente: meu.slug, chave: meu.chave })),
    });
    assert.deepEqual([opened.status, opened.text], [303, '']);
    await ask(act({}, 'acao=emitir&cenario=mei/consumidor&forma=xml'));
    const kept = (await store.ensaios.listRequisicoes(meu.slug)).map(({ id }) => id);
    for (const id of kept) {
      assert.ok(!JSON.stringify(await store.ensaios.findRequisicao(meu.slug, id)).includes(meu.chave), id);
    }
    assert.ok(!JSON.stringify(logged).includes('ensaio_'), 'no line of the log has a key');
  });

  test('escape what was sent, and what was answered to it', async () => {
    const hostile = `<script>alert(1)</script>"'&`;
    const document = exampleXml({ 'prest/xNome': 'NOME', 'toma/CPF': '1' }).replace('NOME', hostile);
    const sent = { method: 'POST', body: document.replace('&', '&amp;'), headers: XML };
    await ask({ path: `/${meu.slug}/${API}/nfse/v101?x=${encodeURIComponent(hostile)}`, ...sent });
    await ask({
      path: `/${meu.slug}/${API}/nfse/v101`,
      method: 'POST',
      headers: JSON_TYPE,
      body: `{"${hostile.replaceAll('"', '')}":1}`,
    });
    await ask({ path: `/${meu.slug}/${API}/dps/<script>`, headers: {} }).catch(() => undefined);
    const kept = await until(async () => {
      const all = await store.ensaios.listRequisicoes(meu.slug);
      return all.some(({ caminho }) => caminho.includes('?x=%3Cscript%3E')) ? all : undefined;
    }, 'they are kept');
    for (const { id } of kept) {
      const { status, text } = await ask(atPage(meu, `/requisicoes/${id}`));
      assert.equal(status, 200);
      assert.equal(text.match(/<script/g)?.length, 1, 'the script of the page, and no other');
    }
    const list = await ask(atPage(meu));
    assert.equal(list.text.match(/<script/g)?.length, 1);
    const named = await ask(
      atPage(meu, `/requisicoes/${kept[0]!.id}?cenario=mei/cancelada&substitui=${encodeURIComponent('"><script>')}`),
    );
    assert.equal(named.text.match(/<script/g)?.length, 1);
  });
});
