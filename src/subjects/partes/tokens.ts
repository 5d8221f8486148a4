/**
 * Tokens: the certificate holder of a CNPJ or CPF gets one, by a signed request or by the connection's certificate. Later requests need
 * only the token (D-585). A sandbox holds nobody's data, so it gives a token to every caller.
 *
 * A signed request names its municipality, its environment and its moment. Its own identifier makes it valid once: an interceptor gains
 * nothing by sending it again.
 */

import type { Municipio } from '../../base/book/municipios.ts';
import { ESCOPOS, type Escopo, makeToken } from '../../base/world/token.ts';
import { AMBIENTES } from '../../fiscal/ambiente.ts';
import { cnpjIsValid, cpfIsValid } from '../../fiscal/chave.ts';
import type { Fault } from '../../fiscal/fault.ts';
import { DAY_MS, isoMoment, parseMoment } from '../../fiscal/moment.ts';
import type { NovoToken, TokenRow } from './tokens.rows.ts';

export { TOKENS_MAX } from './tokens.rows.ts';

import type { Audience, Presented } from '../../base/world/caller.ts';
import { type Campo, oneOf, readCampos, required, someOf, textOf, wholeBetween } from '../../base/world/campos.ts';
import { refuseExcess } from '../../base/world/excess.ts';
import { municipalMoment } from '../../base/world/gather-facts.ts';
import type { Refused } from '../../base/world/idempotency.ts';
import { municipioNamed } from '../../base/world/municipios.ts';
import { needMotivo, type PorMao, type Problem } from '../../base/world/operator.ts';
import type { World } from '../../base/world/world.ts';
import { bareDocumento } from '../../fiscal/chave.ts';

/** Header with the signature of such a request. */
export const TOKEN_SIGNATURE_HEADER = 'X-Token-Assinatura';

export const VALIDADE_DIAS_MAX = 90;
export const VALIDADE_DIAS_USUAL = 30;
/** Largest difference between the moment of a signed request and our clock. */
export const PEDIDO_MAX_MINUTES = 5;
/** Valid tokens of one document at once. */
export const TOKENS_POR_DOCUMENTO = 50;

export type SentPedidoDeToken = {
  readonly body: Uint8Array;
  /** Value of the signature header, as received. */
  readonly assinatura: string | undefined;
  readonly shown: () => Presented;
};

/** The fields have the names and the order of the public answer. */
export type TokenPublico = {
  readonly id: string;
  readonly documento: string;
  readonly escopos: readonly Escopo[];
  readonly criado_em: string;
  readonly expira_em: string;
};

const documento: Campo<string> = {
  esperado: 'um CNPJ de 14 posições ou um CPF de 11, com os dígitos verificadores certos',
  read: (value) => {
    const bare = textOf(value)
      ?.replace(/[\s./-]/g, '')
      .toUpperCase();
    return bare !== undefined && (cnpjIsValid(bare) || cpfIsValid(bare)) ? bare : undefined;
  },
};

const momento: Campo<number> = {
  esperado: 'um momento com fuso, como 2026-11-27T10:30:00-03:00',
  read: (value) => parseMoment(textOf(value) ?? ''),
};

const pedido: Campo<string> = {
  esperado: 'um texto de 16 a 64 letras, dígitos, hifens ou sublinhados, outro em cada pedido, como um UUID',
  read: (value) => /^[A-Za-z0-9_-]{16,64}$/.exec(textOf(value) ?? '')?.[0],
};

const id: Campo<string> = {
  esperado: 'o id de um token, como a lista o mostra',
  read: (value) => /^tok_[A-Za-z0-9_-]{1,40}$/.exec(textOf(value) ?? '')?.[0],
};

const ACOES = {
  criar: { validade_dias: wholeBetween(1, VALIDADE_DIAS_MAX), escopos: someOf(Object.keys(ESCOPOS) as Escopo[]) },
  listar: {},
  revogar: { id: required(id) },
} as const;
type Acao = keyof typeof ACOES;

/** Fields of every such request. The check of the signature covers the other fields of a signed request. */
const COMUNS = {
  documento: required(documento),
  acao: oneOf(Object.keys(ACOES) as Acao[]),
  municipio: { esperado: 'o município deste endereço', read: textOf } as Campo<string>,
  ambiente: { esperado: 'producao ou homologacao', read: textOf } as Campo<string>,
  emitido_em: momento,
  pedido,
};

type Pedido = {
  readonly documento: string;
  readonly acao: Acao | undefined;
  readonly municipio: string | undefined;
  readonly ambiente: string | undefined;
  readonly emitido_em: number | undefined;
  readonly pedido: string | undefined;
};

/** How the caller was identified. `pedido`: the identifier of a signed request. */
type Admitido = { readonly por: NovoToken['por']; readonly pedido: string | undefined };

const DONO: Audience = {
  parte: 'documento do pedido',
  recusa: 'Um token só se dá, se lista e se revoga a pedido do dono do documento.',
};

/** Gives a token. Only this answer has it: the token itself is not stored. */
export async function createToken(
  world: World,
  municipio: Municipio,
  sent: SentPedidoDeToken,
): Promise<(TokenPublico & { readonly token: string }) | Refused> {
  const read = readCampos(sent.body, { ...COMUNS, ...ACOES.criar });
  if ('faults' in read) return read;
  const { lidos } = read;
  const admitted = await admit(world, municipio, sent, lidos, 'criar');
  if ('faults' in admitted) return admitted;
  const { store, now } = world;
  const { tenant } = municipio;
  const at = now();
  const made = makeToken();
  const novo: NovoToken = {
    id: made.id,
    documento: lidos.documento,
    impressao: made.impressao,
    escopos: lidos.escopos ?? ['consultar'],
    criadoEm: at,
    expiraEm: at + (lidos.validade_dias ?? VALIDADE_DIAS_USUAL) * DAY_MS,
    ...admitted,
  };
  const outcome = await store.tokens.insert(tenant, novo, TOKENS_POR_DOCUMENTO);
  if (outcome === 'used') return { faults: [usedPedido()], status: 409 };
  if (outcome !== 'made') return refuseMore(outcome.livreEm - at);
  await store.tokens.forget(tenant, lidos.documento, at - VALIDADE_DIAS_MAX * DAY_MS);
  const { escopos, criadoEm, expiraEm } = novo;
  const row = {
    id: novo.id,
    documento: novo.documento,
    escopos,
    criado_em: new Date(criadoEm),
    expira_em: new Date(expiraEm),
  };
  return { ...tokenPublico(municipio, row), token: made.token };
}

function refuseMore(livreMs: number): Refused {
  const mensagem = `Este documento já tem ${TOKENS_POR_DOCUMENTO} tokens em vigor, que é o máximo. Revogue os que já não usa (POST …/token/revogacao) ou espere que vençam.`;
  return refuseExcess(mensagem, { nome: 'tokens', max: TOKENS_POR_DOCUMENTO }, livreMs);
}

function usedPedido(): Fault {
  const mensagem =
    'Este pedido já serviu uma vez. Faça outro, com outro texto em pedido e emitido_em de agora, e assine-o de novo.';
  return { codigo: 'E703', xpath: '', mensagem, campo: 'pedido' };
}

/** The tokens in force of a document, the newest first. */
export async function listTokens(
  world: World,
  municipio: Municipio,
  sent: SentPedidoDeToken,
): Promise<{ readonly tokens: readonly TokenPublico[] } | Refused> {
  const read = readCampos(sent.body, { ...COMUNS, ...ACOES.listar });
  if ('faults' in read) return read;
  const admitted = await admit(world, municipio, sent, read.lidos, 'listar');
  if ('faults' in admitted) return admitted;
  const rows = await world.store.tokens.list(municipio.tenant, read.lidos.documento, world.now());
  return { tokens: rows.map((row) => tokenPublico(municipio, row)) };
}

/** Revokes a token of a document: no request is accepted with it after this answer. */
export async function revokeToken(
  world: World,
  municipio: Municipio,
  sent: SentPedidoDeToken,
): Promise<{ readonly id: string; readonly revogado_em: string } | 'not_found' | Refused> {
  const read = readCampos(sent.body, { ...COMUNS, ...ACOES.revogar });
  if ('faults' in read) return read;
  const { lidos } = read;
  const admitted = await admit(world, municipio, sent, lidos, 'revogar');
  if ('faults' in admitted) return admitted;
  const row = await world.store.tokens.revoke(municipio.tenant, lidos.id, lidos.documento, world.now());
  return row === undefined ? 'not_found' : { id: row.id, revogado_em: tellMomento(municipio, row.revogado_em!) };
}

/** Identifies the caller as the holder of a document: by signature, by the certificate of the connection, or freely in a sandbox. */
async function admit(
  world: World,
  municipio: Municipio,
  { body, assinatura, shown }: SentPedidoDeToken,
  lido: Pedido,
  acao: Acao,
): Promise<Admitido | Refused> {
  const isOpen = !AMBIENTES[municipio.ambiente].signatureRefuses;
  const presented = shown();
  if (assinatura === undefined) {
    if (isOpen) return { por: 'ensaio', pedido: undefined };
    if (presented.kind === 'tls' || presented.kind === 'header') {
      const { callerOf, strangerTo } = await import('../../base/world/caller.ts');
      const caller = await callerOf(world, municipio, presented, DONO);
      const stranger = 'faults' in caller ? caller : strangerTo([lido.documento], caller, DONO);
      return stranger ?? { por: 'certificado', pedido: undefined };
    }
  }
  const question = {
    campo: TOKEN_SIGNATURE_HEADER,
    documento: lido.documento,
    trust: world.trust(municipio),
    at: world.now(),
  };
  // A command that lists tokens reads no signature, so this module is loaded late.
  const { readCorpoSignature } = await import('../../base/world/sent-documents.ts');
  const { faults } = readCorpoSignature(body, assinatura, question);
  const [first, ...rest] = faults;
  if (first !== undefined) return { faults: [first, ...rest] };
  const unfit = describeUnfit(world, municipio, lido, acao);
  return unfit ?? { por: 'assinatura', pedido: lido.pedido };
}

/** The faults of a request with a valid signature: meant for another service, for another purpose, or out of date. */
function describeUnfit(
  { now }: World,
  { tenant, ambiente, codigoIbge }: Municipio,
  lido: Pedido,
  acao: Acao,
): Refused | undefined {
  const expected = { acao, municipio: tenant, ambiente } as const;
  const faults: Fault[] = Object.entries(expected).flatMap(([campo, esperado]) => {
    const encontrado = lido[campo as keyof typeof expected];
    if (encontrado === esperado) return [];
    const mensagem = `Num pedido assinado ${campo} diz a que ele serve, e neste endereço é "${esperado}". Escreva-o e assine de novo.`;
    return [
      { codigo: 'E0002', xpath: '', mensagem, campo, esperado, ...(encontrado === undefined ? {} : { encontrado }) },
    ];
  });
  if (lido.pedido === undefined) {
    const mensagem = `Falta o campo pedido: espera-se ${pedido.esperado}.`;
    faults.push({ codigo: 'E002', xpath: '', mensagem, campo: 'pedido', esperado: pedido.esperado });
  }
  if (lido.emitido_em === undefined || Math.abs(lido.emitido_em - now()) > PEDIDO_MAX_MINUTES * 60_000) {
    const agora = isoMoment(municipalMoment(codigoIbge, now()));
    const mensagem = `Num pedido assinado emitido_em é o momento da assinatura, e vale por ${PEDIDO_MAX_MINUTES} minutos; agora são ${agora}. Confira o relógio e assine de novo.`;
    faults.push({ codigo: 'E0002', xpath: '', mensagem, campo: 'emitido_em', esperado: agora });
  }
  const [first, ...rest] = faults;
  return first === undefined ? undefined : { faults: [first, ...rest], status: 400 };
}

function tokenPublico(municipio: Municipio, row: Omit<TokenRow, 'revogado_em' | 'por'>): TokenPublico {
  return {
    id: row.id,
    documento: row.documento,
    escopos: row.escopos as readonly Escopo[],
    criado_em: tellMomento(municipio, row.criado_em),
    expira_em: tellMomento(municipio, row.expira_em),
  };
}

function tellMomento({ codigoIbge }: Municipio, moment: Date): string {
  return isoMoment(municipalMoment(codigoIbge, +moment));
}

// The functions below serve the operator, in the console and by command.

export type TokenDoMunicipio = TokenPublico & { readonly por: NovoToken['por'] };

/** The origin of a token, as the operator reads it. */
export const TOKEN_POR: Readonly<Record<NovoToken['por'], string>> = {
  assinatura: 'pedido assinado',
  certificado: 'certificado na conexão',
  ensaio: 'ensaio, sem prova',
};

/** The tokens in force of a municipality, or of a document in it. Throws an Error in Portuguese for an unknown municipality. */
export async function listTokensDoMunicipio(
  world: Pick<World, 'store' | 'now'>,
  slug: string,
  ofDocumento?: string,
): Promise<readonly TokenDoMunicipio[]> {
  const municipio = await municipioNamed(world, slug);
  const bare = ofDocumento === undefined ? undefined : bareDocumento(ofDocumento);
  const rows = await world.store.tokens.list(municipio.tenant, bare, world.now());
  return rows.map((row) => ({ ...tokenPublico(municipio, row), por: row.por }));
}

/** A token that is in force. */
export async function findTokenDoMunicipio(
  world: Pick<World, 'store' | 'now'>,
  slug: string,
  tokenId: string,
): Promise<TokenDoMunicipio | undefined> {
  const municipio = await municipioNamed(world, slug);
  const row = await world.store.tokens.findById(municipio.tenant, tokenId, world.now());
  return row && { ...tokenPublico(municipio, row), por: row.por };
}

/** Revokes a token by hand; returns a sentence when no such token is in force. */
export async function revokeTokenByHand(
  world: Pick<World, 'store' | 'now'>,
  slug: string,
  tokenId: string,
  by: PorMao,
): Promise<TokenDoMunicipio | Problem> {
  const read = needMotivo(by);
  if ('problem' in read) return read;
  const municipio = await municipioNamed(world, slug);
  const { store, now } = world;
  const { tenant } = municipio;
  const found = await store.tokens.findById(tenant, tokenId, now());
  const row = found && (await store.tokens.revoke(tenant, tokenId, undefined, now()));
  if (row === undefined) {
    const where = by.via === 'painel' ? 'A lista' : 'nfse token listar';
    return { problem: `Não há token ${tokenId} em vigor em ${slug}. ${where} mostra os que há.` };
  }
  const antes = { documento: row.documento };
  const { quem, via } = by;
  const ato = { em: now(), quem, via, objeto: 'token', chave: row.id, acao: 'revogado', ...read, antes } as const;
  await store.atos.record(tenant, [ato]);
  return { ...tokenPublico(municipio, row), por: row.por };
}
