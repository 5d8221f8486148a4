/** Events that the municipality registers by office: the municipality is their author, and signs them when it sends them. */

import type { Municipio } from '../../base/book/municipios.ts';
import { toEventoNaNota } from '../../base/world/gather-facts.ts';
import { municipioNamed, type RegistryWorld } from '../../base/world/municipios.ts';
import { noNota, type PorMao, type Problem } from '../../base/world/operator.ts';
import { isHeldBy, maskedDocument } from '../../documents/certificate.ts';
import { readJson } from '../../documents/json.ts';
import { loadSigner } from '../../documents/key-files.ts';
import { bareDocumento, documentoKind, whyNoChave, whyNoDocumento } from '../../fiscal/chave.ts';
import { conflictOf, type EventoNaNota, listStanding } from '../../fiscal/conflitos-evento.ts';
import type { Aviso, Fault } from '../../fiscal/fault.ts';
import { eventoId } from '../../fiscal/layout/evento.ts';
import { T } from '../../fiscal/layout/simple-types.ts';
import { type PedidoEvento, readPedido } from '../../fiscal/pedido-evento.ts';
import { TIPOS_EVENTO, type TipoEvento } from '../../fiscal/tipos-evento.ts';
import { isOpenCancelamento } from './contra-evento.ts';
import { type EventoPublico, identificadorOf, publicEvento } from './queries.ts';
import { type Confirmado, findConfirmed, judgePedido, registerPedido } from './register.ts';

export type PedidoDoMunicipio = {
  readonly chave: string;
  /** The request, in the form of the integrators' body. */
  readonly corpo: Uint8Array;
  /** CNPJ of the municipality, when no certificate has it. */
  readonly cnpj: string | undefined;
  readonly porMao: PorMao;
  /** The second step of the form, which registers one event. */
  readonly confirmado?: Confirmado | undefined;
};

export type RegistradoDeOficio = {
  readonly evento: EventoPublico;
  readonly identificador: string;
  readonly avisos: readonly Aviso[];
};

type Refused = { readonly faults: readonly Fault[] } | Problem;

/** Registers an event by office. Throws an Error in Portuguese when there is no such municipality. */
export async function registrarDeOficio(
  world: RegistryWorld,
  slug: string,
  asked: PedidoDoMunicipio,
): Promise<RegistradoDeOficio | Refused> {
  const municipio = await municipioNamed(world, slug);
  const read = await readDeOficio(municipio, asked);
  if (!('pedido' in read)) return read;
  // A command has no worker to wake: another process transmits, and finds the event by polling.
  const worldHere = { wake: () => undefined, ...world };
  const { chave, porMao, confirmado } = asked;
  const registered = await registerPedido(worldHere, municipio, { chave }, { ...read, porMao, confirmado });
  if (registered === 'not_found') return { problem: noNota(slug) };
  if ('faults' in registered) return registered;
  const { evento, avisos } = registered;
  return { evento, identificador: identificadorOf(evento), avisos };
}

/** Judges an event by office as its registration would, and stores nothing. `autor`: the CNPJ that would sign it. */
export async function foreseeDeOficio(
  world: RegistryWorld,
  slug: string,
  asked: PedidoDoMunicipio,
): Promise<
  { readonly autor: string; readonly campos: PedidoEvento['campos']; readonly avisos: readonly Aviso[] } | Refused
> {
  const municipio = await municipioNamed(world, slug);
  const read = await readDeOficio(municipio, asked);
  if (!('pedido' in read)) return read;
  const judged = await judgePedido(world, municipio, { chave: asked.chave }, read);
  if (judged === 'not_found') return { problem: noNota(slug) };
  return 'faults' in judged ? judged : { ...judged, campos: read.pedido.campos };
}

/** The event that a confirmed form has registered already. `impressao`: of its request. */
export async function findRegistrado(
  world: RegistryWorld,
  slug: string,
  impressao: Buffer,
): Promise<EventoPublico | undefined> {
  const row = await findConfirmed(world, await municipioNamed(world, slug), impressao);
  return row && publicEvento(row, world.now());
}

/** The types of events by office that the events on a note allow now, in the order of the specification. */
export async function listDeOficio(world: RegistryWorld, slug: string, chave: string): Promise<readonly TipoEvento[]> {
  const { tenant } = await municipioNamed(world, slug);
  const nota = whyNoChave(chave) === undefined ? await world.store.eventos.findNota(tenant, { chave }) : undefined;
  if (nota === undefined || nota.estado === 'cancelada' || nota.estado === 'recusada') return [];
  const onNote = listStanding(nota.eventos.map(toEventoNaNota));
  const hasOpen = nota.eventos.some(isOpenCancelamento);
  return TIPOS_DE_OFICIO.filter(
    (tipo) =>
      !(tipo.cancela && hasOpen) &&
      listVariants(tipo, chave, onNote).some(
        (campos) => conflictOf(onNote, { codigo: tipo.codigo, autor: '', campos, chave_acesso: chave }) === undefined,
      ),
  );
}

/** The requests of a type that may differ in their judgement: by the event or the kind of event that they name. */
function listVariants(
  { campos }: TipoEvento,
  chave: string,
  onNote: readonly EventoNaNota[],
): readonly PedidoEvento['campos'][] {
  const named = campos.find(({ tipo }) => tipo === T.idEventoReferido);
  if (named !== undefined) {
    return onNote.map(({ codigo, numero_sequencial }) => ({
      [named.nome]: eventoId(chave, codigo, numero_sequencial),
    }));
  }
  const kinds = campos.find(({ tipo }) => tipo === T.codEvento);
  return kinds?.opcoes?.map(({ codigo }) => ({ [kinds.nome]: codigo })) ?? [{}];
}

const TIPOS_DE_OFICIO: readonly TipoEvento[] = TIPOS_EVENTO.filter(({ porOficio }) => porOficio);

/** The request and the CNPJ of its author. */
async function readDeOficio(
  municipio: Municipio,
  { chave, corpo, cnpj, porMao }: PedidoDoMunicipio,
): Promise<{ readonly pedido: PedidoEvento; readonly municipio: string } | Refused> {
  const problem = whyNoChave(chave);
  if (problem !== undefined) return { problem };
  const json = readJson(corpo);
  if ('fault' in json) return { faults: [json.fault] };
  const read = readPedido(json, 'municipio');
  if ('faults' in read) return read;
  const own = await cnpjOf(municipio, cnpj, porMao.via === 'painel' ? 'o campo CNPJ do município' : '--cnpj');
  return 'problem' in own ? own : { pedido: read.pedido, municipio: own.cnpj };
}

/** The author: the holder of the certificate that will sign the event, or the CNPJ that the operator names. */
async function cnpjOf(
  { tenant, adn }: Municipio,
  named: string | undefined,
  field: string,
): Promise<{ cnpj: string } | Problem> {
  const cnpj = named === undefined ? undefined : bareDocumento(named);
  const wrong = cnpj === undefined ? undefined : whyNoCnpj(cnpj);
  if (wrong !== undefined) return { problem: `${field} ${wrong}.` };
  if (adn === undefined) {
    const problem = `O município ${tenant} não tem certificado, que diria o seu CNPJ: informe-o com ${field}.`;
    return cnpj === undefined ? { problem } : { cnpj };
  }
  const holder = await loadSigner(adn.chaves).then(
    ({ certificate }) => certificate.holder,
    (error: Error) => ({ problem: error.message }),
  );
  if (holder === undefined || 'problem' in holder) {
    // An operator without access to the service's files may still know the CNPJ.
    const why = holder?.problem ?? 'o certificado do município não traz CNPJ';
    return cnpj === undefined
      ? { problem: `${why.replace(/\.$/, '')}. Informe o CNPJ do município com ${field}.` }
      : { cnpj };
  }
  if (holder.tipo !== 'CNPJ') return { problem: 'O certificado do município é de um CPF; o autor é um CNPJ.' };
  if (cnpj === undefined) return { cnpj: holder.documento };
  if (isHeldBy(holder, cnpj)) return { cnpj };
  return {
    problem: `${field} ${cnpj} não é o do certificado com que ${tenant} assina, ${maskedDocument(holder.documento)}: o ADN recusaria o evento. Sem ele vale o do certificado.`,
  };
}

function whyNoCnpj(text: string): string | undefined {
  return whyNoDocumento(text) ?? (documentoKind(text) === 'CNPJ' ? undefined : 'é um CPF, e o do município é um CNPJ');
}
