/**
 * The request of an event as received: JSON with a signature in a header, or the `pedRegEvento` of the national environment. Both become one
 * reading, with faults in the names of their sender.
 */
import type { Municipio } from '../../base/book/municipios.ts';
import type { Quota } from '../../base/world/quota.ts';
import { type EventoSignature, verifyEvento, verifyPedidoNacional } from '../../base/world/sent-documents.ts';
import type { World } from '../../base/world/world.ts';
import { readJson } from '../../documents/json.ts';
import { PEDIDO_PROFILE } from '../../documents/signature-shape.ts';
import { readXml, type XmlDocumentReading } from '../../documents/xml.ts';
import { AMBIENTES, type Ambiente } from '../../fiscal/ambiente.ts';
import { type Fault, limitFaults, quoted } from '../../fiscal/fault.ts';
import { DPS_VERSAO } from '../../fiscal/layout/dps.ts';
import { refusePackedPedido } from '../../fiscal/layout/national-envelope.ts';
import { attributeOf, childOf, locate } from '../../fiscal/layout/tree.ts';
import { type PedidoReading, readPedido } from '../../fiscal/pedido-evento.ts';
import { faultsOfPedido } from '../../fiscal/pedido-layout.ts';
import { corpoOfPedido, type PedidoNacional } from '../../fiscal/pedido-nacional.ts';
import { BASE } from '../../fiscal/pedido-names.ts';

export type SentEvento = {
  readonly body: Uint8Array;
  /** Value of `X-NFSe-Simular` (D-60). */
  readonly simular: string | undefined;
  readonly quota?: Quota | undefined;
} & (
  | {
      readonly kind: 'json';
      /** Value of the signature header, as received. */
      readonly assinatura: string | undefined;
    }
  | { readonly kind: 'nacional' }
);

type OpenedEvento = {
  readonly read: PedidoReading;
  /** `at`: when it was received, in milliseconds. */
  readonly verify: (world: World, municipio: Municipio, at: number) => EventoSignature;
};

type Faults = readonly [Fault, ...Fault[]];

function placeFault(fault: Fault, { root, positionOf }: XmlDocumentReading): Fault {
  return { ...fault, ...positionOf(locate(root, fault.xpath)) };
}

/** Refuses what cannot be judged at all: E003 for JSON; E201, E203, E110 and E0006 for XML. */
export function openEvento(
  sent: SentEvento,
  destination: Pick<Municipio, 'ambiente'>,
): OpenedEvento | { readonly faults: Faults } {
  if (sent.kind === 'nacional') return openNacional(sent.body, destination);
  const json = readJson(sent.body);
  const refused = 'fault' in json ? json.fault : refusePackedPedido(json);
  if ('fault' in json || refused !== undefined) return { faults: [refused!] };
  return { read: readPedido(json), verify: (world, municipio, at) => verifyEvento(world, municipio, sent, at) };
}

function openNacional(
  body: Uint8Array,
  { ambiente }: Pick<Municipio, 'ambiente'>,
): OpenedEvento | { readonly faults: Faults } {
  const reading = readXml(body);
  if ('fault' in reading) return { faults: [reading.fault] };
  const refusal = refuseForm(reading) ?? refuseAmbiente(reading, AMBIENTES[ambiente]);
  if (refusal !== undefined) return { faults: [refusal] };
  const pedido = corpoOfPedido(reading.root);
  if ('problema' in pedido) return { faults: [{ codigo: 'E0002', xpath: BASE, mensagem: pedido.problema }] };
  const strange = limitFaults(faultsOfPedido(reading.root, pedido.tipo)).map((fault) => placeFault(fault, reading));
  const [first, ...others] = strange;
  if (first !== undefined) return { faults: [first, ...others] };
  const json = readJson(Buffer.from(JSON.stringify(pedido.corpo)));
  if ('fault' in json) throw new Error('a body that we wrote does not read');
  return {
    read: inElements(readPedido(json), pedido, reading),
    verify: (world, municipio, at) => verifyPedidoNacional(world, municipio, reading, at),
  };
}

/** The request has the same elements in both layouts; programs still write the older number. */
const VERSOES_DO_PEDIDO: readonly string[] = [DPS_VERSAO, '1.00'];

function refuseForm({ root }: XmlDocumentReading): Fault | undefined {
  const { root: name } = PEDIDO_PROFILE;
  if (root.name !== name) {
    const mensagem = `O elemento raiz é ${quoted(root.name)}; o pedido de registro de um evento começa com ${name}.`;
    return { codigo: 'E203', xpath: `/${quoted(root.name)}`, mensagem, encontrado: quoted(root.name), esperado: name };
  }
  const versao = attributeOf(root, 'versao');
  if (VERSOES_DO_PEDIDO.includes(versao ?? '')) return undefined;
  const found = versao === undefined ? 'não traz o atributo versao' : `é do leiaute ${quoted(versao)}`;
  const mensagem = `O pedido ${found}; este endereço registra o ${VERSOES_DO_PEDIDO.join(' e o ')}. Envie versao="${DPS_VERSAO}", e assine de novo.`;
  return { codigo: 'E110', xpath: `/${name}/@versao`, mensagem, esperado: DPS_VERSAO };
}

/** A rehearsal that reached a municipality in production by mistake would cancel a note. */
function refuseAmbiente(
  { root, positionOf }: XmlDocumentReading,
  { tpAmb, forcesTpAmb }: (typeof AMBIENTES)[Ambiente],
): Fault | undefined {
  const element = childOf(childOf(root, PEDIDO_PROFILE.signed), 'tpAmb');
  const said = element?.text.trim();
  if (forcesTpAmb || element === undefined || said === tpAmb) return undefined;
  const mensagem = `O pedido traz tpAmb ${quoted(said!)}, e este endereço é o de um município em produção. Se o pedido é um ensaio, envie-o ao ambiente de integração; se é para valer, envie tpAmb ${tpAmb}, e assine de novo.`;
  return {
    codigo: 'E0006',
    xpath: `${BASE}/tpAmb`,
    mensagem,
    encontrado: quoted(said!),
    esperado: tpAmb,
    ...positionOf(element),
  };
}

/** The faults at elements of the document, in place of properties of a body that nobody sent. */
function inElements(read: PedidoReading, { tipo }: PedidoNacional, reading: XmlDocumentReading): PedidoReading {
  if (!('faults' in read)) return read;
  const names = tipo.campos.map(({ nome, elemento }) => [nome, elemento] as const);
  const [first, ...others] = read.faults.map(({ campo: _property, correcao: _text, ...fault }): Fault => {
    const mensagem = names.reduce((text, [nome, elemento]) => text.replaceAll(nome, elemento), fault.mensagem);
    return placeFault({ ...fault, mensagem }, reading);
  });
  return { ...read, faults: [first!, ...others] };
}
