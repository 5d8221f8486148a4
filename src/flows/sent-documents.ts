/**
 * A DPS as it came in, XML or JSON, brought to where nothing knows any more how it came (D-24): one document of the layout, what
 * only a JSON body can declare, the verdict on its signature, and how to say where in the text a fault stands.
 */
import { readJson } from '../documents/json.ts';
import { readXml } from '../documents/xml.ts';
import { AMBIENTES, type Ambiente } from '../fiscal/ambiente.ts';
import { type Declarado, NADA_DECLARADO } from '../fiscal/declarado.ts';
import { type Aviso, type Fault, type Refusal, refusalOf } from '../fiscal/fault.ts';
import { type DpsReading, readDps } from '../fiscal/layout/read.ts';
import { readCorpo } from '../fiscal/layout/read-corpo.ts';
import { withText } from '../fiscal/layout/tree.ts';
import { stepInNamesOfBody } from '../fiscal/layout/words-corpo.ts';
import type { Municipio } from '../store/municipios.ts';
import { placedFaults, versionFault } from './document-faults.ts';
import type { Quota } from './quota.ts';
import { documentOfPrest, prestadorIn, verifyCorpo, verifyDps } from './verify-dps.ts';
import type { World } from './world.ts';

export { charsetContradiction } from '../documents/encoding.ts';
export { DPS_SIGNATURE_HEADER } from './verify-dps.ts';

export type SentDps = {
  /** Value of `X-NFSe-Simular`, which the sandbox alone reads (D-60). */
  readonly simular?: string | undefined;
  readonly quota?: Quota | undefined;
} & (
  | { readonly kind: 'xml'; readonly body: Uint8Array }
  /** What an RPS became: signed as an RPS, and verified when its lot was received. */
  | { readonly kind: 'rps'; readonly body: Uint8Array }
  | {
      readonly kind: 'json';
      readonly body: Uint8Array;
      /** Value of the signature header, as it came. */
      readonly assinatura: string | undefined;
    }
);

/** Faults, or the remarks of the sandbox. */
type SignatureVerdict = { readonly faults: readonly Fault[] } | { readonly avisos: readonly Aviso[] };

export type OpenedDps = {
  /** Who signed it, and whether that holds. `at`: when it was received, in milliseconds. */
  readonly verify: (world: World, municipio: Municipio, at: number) => SignatureVerdict;
  /** The typed document, or all its structural faults. */
  readonly read: () => DpsReading;
  /** CNPJ or CPF of the provider as it stands, before anything is judged. */
  readonly prestador: () => string | undefined;
  readonly declarado: Declarado;
  /** The same faults with line and column and, for JSON, the name of the field. */
  readonly placed: <Told extends Fault | Aviso>(told: readonly Told[]) => readonly Told[];
  /** Steps of a calculation in the names that the sender knows. */
  readonly named: <Step extends { readonly campo: string; readonly formula: string }>(
    steps: readonly Step[],
  ) => readonly (Step & { readonly campo_json?: string })[];
};

/** Where it was sent to, as far as a JSON body leaves that open. */
export type Destination = Pick<Municipio, 'ambiente' | 'codigoIbge'>;

/** Refuses what cannot be judged at all: E201 and E110 for XML, E003 for JSON. */
export function openDps(sent: SentDps, destination: Destination): OpenedDps | Refusal {
  return sent.kind === 'json' ? openJson(sent, destination) : openXml(sent, destination);
}

function openXml({ kind, body }: SentDps & { kind: 'xml' | 'rps' }, { ambiente }: Destination): OpenedDps | Refusal {
  const { tpAmb, forcesTpAmb } = AMBIENTES[ambiente];
  const reading = readXml(body);
  if ('fault' in reading) return { faults: [reading.fault] };
  const version = versionFault(reading.root);
  if (version !== undefined) return refusalOf(placedFaults([version], reading))!;
  return {
    verify: (world, municipio, at) => (kind === 'rps' ? { avisos: [] } : verifyDps(world, municipio, reading, at)),
    read: () => {
      const root = forcesTpAmb ? withText(reading.root, 'infDPS', 'tpAmb', tpAmb) : reading.root;
      return readDps(root, { source: reading });
    },
    prestador: () => documentOfPrest(reading.root),
    declarado: NADA_DECLARADO,
    placed: (told) => placedFaults(told, reading),
    named: (steps) => steps,
  };
}

function openJson(sent: SentDps & { kind: 'json' }, { ambiente, codigoIbge }: Destination): OpenedDps | Refusal {
  const json = readJson(sent.body);
  if ('fault' in json) return { faults: [json.fault] };
  const { tpAmb, forcesTpAmb } = AMBIENTES[ambiente];
  const corpo = readCorpo(json, { tpAmb, forcesTpAmb, lugar: lugarOf(ambiente, codigoIbge) });
  const isRead = !('faults' in corpo);
  return {
    verify: (world, municipio, at) => verifyCorpo(world, municipio, sent, prestadorIn(json.value), at),
    read: () => corpo,
    prestador: () => prestadorIn(json.value),
    declarado: isRead ? corpo.declarado : NADA_DECLARADO,
    // The faults of a body that could not be read come with their places.
    placed: (told) => (isRead ? corpo.placed(told) : told),
    named: (steps) => steps.map(stepInNamesOfBody),
  };
}

/** Where signatures are required, the municipality and the environment are signed with the rest. */
function lugarOf(ambiente: Ambiente, codigoIbge: string | undefined): Readonly<Record<string, string>> {
  const { tpAmb, signatureRefuses } = AMBIENTES[ambiente];
  if (!signatureRefuses) return {};
  return { tipo_ambiente: tpAmb, ...(codigoIbge === undefined ? {} : { municipio_emissor: codigoIbge }) };
}

/** The faults of a document that is no longer open, in their places. */
export function placedIn(sent: SentDps, destination: Destination, faults: readonly Fault[]): readonly Fault[] {
  const opened = openDps(sent, destination);
  return 'faults' in opened ? faults : opened.placed(faults);
}

/** Whether a body is a JSON one: no XML begins with a brace. */
export function isJson(body: Uint8Array): boolean {
  for (const byte of body) {
    if (byte === BRACE) return true;
    if (byte !== 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0d) return false;
  }
  return false;
}

const BRACE = 0x7b;
