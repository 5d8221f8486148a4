/** The queries of the legacy port: lots by protocol, notes by RPS or by content, and the form of a note in the model. */
import { setImmediate as turn } from 'node:timers/promises';
import type { Municipio } from '../../base/book/municipios.ts';
import { type Audience, callerOf, isDpsQueryOpen, strangerTo } from '../../base/world/caller.ts';
import { momentOfNota } from '../../base/world/gather-facts.ts';
import type { World } from '../../base/world/world.ts';
import { infNfseOf } from '../../documents/own-note.ts';
import { readXml } from '../../documents/xml.ts';
import { CNPJ, childrenOf, prestadorOf, textOf } from '../../fiscal/abrasf/lote.ts';
import { type Mensagem, mensagemOf, rpsNamed } from '../../fiscal/abrasf/mensagens.ts';
import type { Modelo } from '../../fiscal/abrasf/modelo.ts';
import { compNfse, nestLeaves } from '../../fiscal/abrasf/nota.ts';
import { mensagemPropria, mensagemRecusada, type Recusa } from '../../fiscal/abrasf/proprias.ts';
import { bare, type IdentificacaoRps } from '../../fiscal/abrasf/rps.ts';
import { zoneOf } from '../../fiscal/catalogs/catalogs.ts';
import { parseChave } from '../../fiscal/chave.ts';
import type { Elemento } from '../../fiscal/layout/tree.ts';
import { DAY_MS, momentIn, readDay, startOfDay } from '../../fiscal/moment.ts';
import { tipoBySlug } from '../../fiscal/tipos-evento.ts';
import type { NotaDoPorto } from './notas.rows.ts';
import { type Faixas, isSearched, type NotasAsked } from './notas-de-prestador.rows.ts';
import {
  formatMoment,
  isOfYear,
  listaMensagem,
  numeroAsked,
  type Pedido,
  type Resposta,
  refuseFaults,
  refuseWith,
  registrationMensagens,
} from './porto-pedido.ts';

/** Notes in one answer, at most: the model has no pages, and few providers issue more in a day. */
export const NOTAS_MAX = 50_000;
/** Larger answers are written while they are sent, so that no slow reader causes much use of memory. */
const NOTAS_WHOLE = 500;
const NOTAS_PAGE = 100;

// ConsultarSituacaoLoteRps, ConsultarLoteRps: the protocol gives access to its lot.

async function loteAsked({ world, municipio, documento }: Pedido) {
  const prestador = prestadorOf(documento.root);
  if ('mensagens' in prestador) return prestador;
  const protocolo = textOf(documento.root, 'Protocolo') ?? '';
  // The text must be safe for the database.
  const row = /^[0-9A-Za-z.-]{1,50}$/.test(protocolo)
    ? await world.store.lotes.findByProtocolo(municipio.tenant, prestador.cnpj, protocolo)
    : undefined;
  return row ?? { ...refuseWith('E86'), isMiss: true };
}

export async function situacao(pedido: Pedido): Promise<Resposta> {
  const row = await loteAsked(pedido);
  if (!('protocolo' in row)) return row;
  return {
    xml: nestLeaves([
      ['NumeroLote', row.numero_lote],
      ['Situacao', String(row.situacao)],
    ]),
  };
}

export async function lote(pedido: Pedido): Promise<Resposta> {
  const row = await loteAsked(pedido);
  if (!('protocolo' in row)) return row;
  if (row.situacao === 2) return refuseWith('E92');
  if (row.situacao === 3) return { mensagens: row.mensagens ?? [] };
  const all = await pedido.world.store.lotes.listNotas(pedido.municipio.tenant, row.protocolo);
  const [gone, valid] = [true, false].map((is) => all.filter(({ estado }) => (estado === 'recusada') === is));
  if (gone!.length === 0) return { xml: await listaNfse(valid!, pedido.modelo) };
  // The model answers notes or messages, not both. A note absent from both would never be reported to its sender (D-175).
  const mensagens = gone!.map((nota) => recusada(nota, valid!.length === 0 ? 'nenhuma_vale' : 'outras_valem'));
  return valid!.length === 0
    ? { mensagens }
    : { xml: (await listaNfse(valid!, pedido.modelo)) + listaMensagem(mensagens, pedido.modelo) };
}

async function listaNfse(all: readonly NotaDoPorto[], modelo: Modelo): Promise<string> {
  return `<ListaNfse>${await compNotas(all, modelo)}</ListaNfse>`;
}

/** Notes written in one go: each takes half a millisecond, and other requests run in between. */
const NOTAS_SLICE = 20;

async function compNotas(all: readonly NotaDoPorto[], modelo: Modelo): Promise<string> {
  const written: string[] = [];
  for (const [place, nota] of all.entries()) {
    if (place > 0 && place % NOTAS_SLICE === 0) await turn();
    written.push(compNfse(vista(nota), modelo));
  }
  return written.join('');
}

function recusada(nota: NotaDoPorto, lote?: Recusa['lote']): Mensagem {
  const { mensagem_retorno: motivo, numero_em: numeroEm, substituida_estado: substituida } = nota;
  const rps = rpsOf(nota);
  const sobre = rps === undefined ? '' : rpsNamed(rps);
  return mensagemRecusada(sobre, { motivo, numeroEm, substituida, lote });
}

/** The RPS of a note; undefined: the note came otherwise. */
function rpsOf({ numero, serie, tipo }: NotaDoPorto): IdentificacaoRps | undefined {
  return numero === null || serie === null || tipo === null ? undefined : { numero, serie, tipo };
}

// ConsultarNfsePorRps, ConsultarNfse: their criteria can be guessed, so production answers only the provider (D-41).

const PRESTADOR: Audience = {
  parte: 'prestador',
  recusa: 'Neste município esta consulta só atende ao próprio prestador, pelo certificado dele na conexão.',
};

async function refuseStranger({ world, municipio, shown }: Pedido, cnpj: string): Promise<Resposta | undefined> {
  if (isDpsQueryOpen(municipio)) return undefined;
  const caller = await callerOf(world, municipio, shown(), PRESTADOR);
  const refusal = 'faults' in caller ? caller : strangerTo([cnpj], caller, PRESTADOR);
  return refusal && { ...refuseFaults(refusal), isMiss: true };
}

export async function porRps(pedido: Pedido): Promise<Resposta> {
  const { root } = pedido.documento;
  const [numero, serie, tipo] = ['Numero', 'Serie', 'Tipo'].map((name) => textOf(root, `IdentificacaoRps/${name}`));
  const missing = [numero === undefined && 'E11', serie === undefined && 'E150'].filter((one) => one !== false);
  if (missing.length > 0) return { mensagens: missing.map((codigo) => mensagemOf(codigo)) };
  if (!/^\d{1,15}$/.test(numero!)) return refuseWith('E96');
  if (!/^\d{1,5}$/.test(serie!)) return refuseWith('E97');
  if (tipo !== undefined && !/^[123]$/.test(tipo)) return refuseWith('E13');
  const prestador = prestadorOf(root);
  if ('mensagens' in prestador) return prestador;
  const stranger = await refuseStranger(pedido, prestador.cnpj);
  if (stranger !== undefined) return stranger;
  const rps: IdentificacaoRps = { numero: bare(numero!), serie: bare(serie!), tipo: tipo ?? '1' };
  const row = await pedido.world.store.lotes.findRps(pedido.municipio.tenant, prestador.cnpj, rps);
  if (row === undefined) return refuseWith('E4');
  if (row.situacao === 2) return refuseWith('E92');
  if (row.nota === undefined) return refuseWith('E89');
  if (row.nota.estado === 'recusada') return { mensagens: [recusada(row.nota)] };
  return { xml: compNfse(vista(row.nota), pedido.modelo) };
}

const DIAS = ['DataInicial', 'DataFinal'] as const;

export async function notas(pedido: Pedido): Promise<Resposta> {
  const { world, municipio, documento } = pedido;
  const { root } = documento;
  const prestador = prestadorOf(root);
  if ('mensagens' in prestador) return prestador;
  const stranger = await refuseStranger(pedido, prestador.cnpj);
  if (stranger !== undefined) return stranger;
  const registration = await registrationMensagens(world, municipio, prestador);
  if (registration.length > 0) return { mensagens: registration };
  const numero = textOf(root, 'NumeroNfse');
  if (numero !== undefined && !/^\d{1,15}$/.test(numero)) return refuseWith('E136');
  // Some programs always write this group; without any day it sets no criterion.
  const periodo = childrenOf(root, 'PeriodoEmissao').find((one) =>
    DIAS.some((name) => textOf(one, name) !== undefined),
  );
  const between = periodo === undefined ? undefined : periodOf(periodo, municipio, world.now());
  if (between !== undefined && 'mensagens' in between) return between;
  const tomador = parteOf(root, 'Tomador', 'E155');
  const intermediario = parteOf(root, 'IntermediarioServico', 'E154');
  if ('mensagens' in tomador) return tomador;
  if ('mensagens' in intermediario) return intermediario;
  const { tenant, codigoIbge } = municipio;
  const { sequencia, ano } = numeroAsked(numero);
  const asked: NotasAsked = {
    prestador: prestador.cnpj,
    codigoIbge,
    numero: sequencia,
    de: between?.de,
    ate: between?.ate,
    tomador: tomador.documento,
    partes: [
      { grupo: 'toma', im: tomador.im },
      { grupo: 'interm', ...intermediario },
    ],
  };
  const counted = await world.store.lotes.countNotasOfPrestador(tenant, asked, NOTAS_MAX + 1);
  if (counted.notas > NOTAS_MAX) {
    const most = NOTAS_MAX.toLocaleString('pt-BR');
    const why = isSearched(asked) ? `Esta pergunta é procurada no texto de até ${most}.` : `São mais de ${most}.`;
    return { mensagens: [mensagemPropria('L998', why)] };
  }
  const found = await world.store.lotes.listNotasOfPrestador(tenant, asked, counted, NOTAS_WHOLE + 1);
  if (found.length === 0 && (await world.store.prestadores.listOf(tenant, prestador.cnpj)).length === 0)
    return refuseWith('E45');
  if (found.length > NOTAS_WHOLE) return { xml: pagesOf(world, tenant, asked, counted, found, pedido.modelo) };
  const ofYear = found.filter((nota) => isOfYear(nota, ano));
  return { xml: await listaNfse(ofYear, pedido.modelo) };
}

async function* pagesOf(
  world: World,
  tenant: string,
  asked: NotasAsked,
  counted: Faixas,
  first: readonly NotaDoPorto[],
  modelo: Modelo,
): AsyncIterable<string> {
  yield '<ListaNfse>';
  for (let page = first; page.length > 0; ) {
    yield await compNotas(page, modelo);
    page = await world.store.lotes.listNotasOfPrestador(tenant, asked, counted, NOTAS_PAGE, page.at(-1)!.ordem);
  }
  yield '</ListaNfse>';
}

type Parte = { readonly documento: string | undefined; readonly im: string | undefined };

/** A party of the criteria; an impossible document matches no note. */
function parteOf(root: Elemento, name: string, malformed: string): Parte | { readonly mensagens: readonly Mensagem[] } {
  const [cnpj, cpf, im] = ['CpfCnpj/Cnpj', 'CpfCnpj/Cpf', 'InscricaoMunicipal'].map((one) =>
    textOf(root, `${name}/${one}`),
  );
  const isWrong = (cnpj !== undefined && !CNPJ.test(cnpj)) || (cpf !== undefined && !/^\d{11}$/.test(cpf));
  if (isWrong) return refuseWith(malformed, `(${(cnpj ?? cpf)!.slice(0, 40)})`);
  return { documento: cnpj ?? cpf, im };
}

function periodOf(
  periodo: Elemento,
  municipio: Municipio,
  now: number,
): { readonly de: number; readonly ate: number } | { readonly mensagens: readonly Mensagem[] } {
  const [inicial, final] = [textOf(periodo, 'DataInicial'), textOf(periodo, 'DataFinal')];
  const missing = inicial === undefined ? 'DataInicial' : final === undefined ? 'DataFinal' : undefined;
  if (missing !== undefined)
    return refuseWith('E160', `PeriodoEmissao leva DataInicial e DataFinal; falta ${missing}.`);
  const zone = zoneOf(municipio.codigoIbge);
  const [first, last] = [inicial, final].map((text) => readDay(zone, text ?? ''));
  if (first === undefined) return refuseWith('E131');
  if (last === undefined) return refuseWith('E132');
  if (last > momentIn(zone, now).date) return refuseWith('E133');
  const [de, ate] = [startOfDay(zone, first), startOfDay(zone, last)];
  if (ate < de) return refuseWith('E134');
  // A leap year has a day more.
  if (ate - de > 366 * DAY_MS) return refuseWith('E135');
  return { de, ate: ate + DAY_MS - 1 };
}

// A note in the form of the model.

function vista(nota: NotaDoPorto): Parameters<typeof compNfse>[0] {
  const { chave_acesso, data_emissao, data_cancelamento, guardado } = nota;
  const tell = (instant: Date): string => formatMoment(momentOfNota(chave_acesso, instant.getTime()));
  return {
    infNfse: infNfseOf(nota.nfse),
    chave: chave_acesso,
    codigoVerificacao: parseChave(chave_acesso)?.codigo ?? '',
    emissao: tell(data_emissao),
    rps: rpsOf(nota),
    guardado: guardado ?? undefined,
    cancelamento:
      data_cancelamento === null
        ? undefined
        : {
            em: tell(data_cancelamento),
            codigo: codigoCancelamento(nota),
            // A refused substitute replaced nothing; the cancellation is valid all the same.
            substituta:
              nota.substituta_estado === 'recusada' ? undefined : nota.cancelamento_campos?.['chave_acesso_substituta'],
          },
  };
}

/** Other cancellations than the provider's plain one have different reasons; the model shows the national code "others". */
const OUTROS = '9';

/** The code of the request to this port, or else the code of the event; codes 1 and 2 mean the same in both. */
function codigoCancelamento({ cancelamento_tipo, cancelamento_campos, cancelamento_recebido }: NotaDoPorto): string {
  if (cancelamento_tipo !== tipoBySlug('cancelamento')!.codigo) return OUTROS;
  const asked = cancelamento_recebido === null ? undefined : readXml(cancelamento_recebido);
  const codigo =
    asked === undefined || 'fault' in asked
      ? undefined
      : textOf(asked.root, 'Pedido/InfPedidoCancelamento/CodigoCancelamento');
  return codigo ?? cancelamento_campos?.['codigo_motivo_cancelamento'] ?? OUTROS;
}
