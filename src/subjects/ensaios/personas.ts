/** The personas of a sandbox for its owner, with the documents of each scenario: the note, its substitute, and its event. */

import type { Refused } from '../../base/world/idempotency.ts';
import type { World } from '../../base/world/world.ts';
import { whyNoChave } from '../../fiscal/chave.ts';
import type { Fault } from '../../fiscal/fault.ts';
import { type Cenario, eventoDe, jsonDe, PERSONAS, substitutaDe, xmlDe } from '../../fiscal/personas.ts';

/** The names and the order are those of the public answer. */
export type PersonaPublica = {
  readonly id: string;
  readonly titulo: string;
  readonly historia: string;
  readonly documento: string;
  readonly razao_social: string;
  readonly inscricao_municipal: string;
  readonly cenarios: readonly CenarioPublico[];
};

export type CenarioPublico = {
  readonly id: string;
  readonly titulo: string;
  readonly explica: string;
  /** Type of the following event; null: there is none. */
  readonly evento: string | null;
  /** Whether another note replaces it before the event. */
  readonly substituta: boolean;
};

export function listPersonas(): readonly PersonaPublica[] {
  return PERSONAS.map(({ id, titulo, historia, prestador, cenarios }) => ({
    id,
    titulo,
    historia,
    documento: prestador.documento,
    razao_social: prestador.razao_social,
    inscricao_municipal: prestador.inscricao_municipal,
    cenarios: cenarios.map(cenarioPublico),
  }));
}

function cenarioPublico({ id, titulo, explica, evento, substituta }: Cenario): CenarioPublico {
  return { id, titulo, explica, evento: evento?.tipo ?? null, substituta: substituta !== undefined };
}

function findCenario(persona: string, cenario: string): Cenario | undefined {
  return PERSONAS.find(({ id }) => id === persona)?.cenarios.find(({ id }) => id === cenario);
}

/** The public form of a scenario; undefined: there is none with these names. */
export function showCenario(persona: string, cenario: string): CenarioPublico | undefined {
  const found = findCenario(persona, cenario);
  return found && cenarioPublico(found);
}

const FORMAS = ['xml', 'json', 'evento'] as const;
type Forma = (typeof FORMAS)[number];

/** The requested document of a scenario, in the names of the query; the keys are of notes issued before. */
type PedidoDeDocumento = {
  readonly forma?: string | undefined;
  /** The note of the event. */
  readonly nota?: string | undefined;
  /** The substitute that the event names. */
  readonly substituta?: string | undefined;
  /** The note that the document replaces. */
  readonly substitui?: string | undefined;
};

type DocumentoDoCenario = { readonly text: string; readonly tipo: 'xml' | 'json' };

/** The document of a scenario, by the caller's clock; undefined: there is none with these names. */
export function documentoDoCenario(
  { now }: Pick<World, 'now'>,
  persona: string,
  cenario: string,
  pedido: PedidoDeDocumento,
): DocumentoDoCenario | undefined | Refused {
  const found = findCenario(persona, cenario);
  if (found === undefined) return undefined;
  const { forma = 'xml' } = pedido;
  if (!isForma(forma)) return refuse('forma', `Espera-se um de: ${FORMAS.join(', ')}.`);
  for (const campo of ['nota', 'substituta', 'substitui'] as const) {
    const chave = pedido[campo];
    const wrong = chave === undefined ? undefined : whyNoChave(chave);
    if (wrong !== undefined) return refuse(campo, wrong);
  }
  return forma === 'evento' ? evento(found, pedido) : dps(found, forma, pedido, now());
}

function isForma(text: string): text is Forma {
  return FORMAS.some((one) => one === text);
}

function evento(cenario: Cenario, { nota, substituta, substitui }: PedidoDeDocumento): DocumentoDoCenario | Refused {
  if (cenario.evento === undefined)
    return refuse('forma', 'Este cenário não tem evento. Os que têm trazem evento na lista das personas.');
  if (substitui !== undefined) return refuse('substitui', 'Só vale com forma=xml e forma=json. Retire-o.');
  if (nota === undefined) return refuse('nota', 'Falta a chave da nota em que o evento se registra.');
  if (cenario.substituta !== undefined && substituta === undefined)
    return refuse(
      'substituta',
      'Falta a chave da nota que substitui. Emita-a antes: o documento dela vem com substitui=CHAVE, a desta nota.',
    );
  if (cenario.substituta === undefined && substituta !== undefined)
    return refuse('substituta', 'O evento deste cenário não nomeia outra nota. Retire-o.');
  return { text: eventoDe(cenario, { nota, substituta })!, tipo: 'json' };
}

function dps(
  cenario: Cenario,
  forma: 'xml' | 'json',
  { nota, substituta, substitui }: PedidoDeDocumento,
  at: number,
): DocumentoDoCenario | Refused {
  if (nota !== undefined) return refuse('nota', 'Só vale com forma=evento. Retire-o.');
  if (substituta !== undefined) return refuse('substituta', 'Só vale com forma=evento. Retire-o.');
  const meant = substitui === undefined ? cenario : substitutaDe(cenario, substitui);
  if (meant === undefined)
    return refuse('substitui', 'Este cenário não tem nota que o substitua. O que tem traz substituta na lista.');
  return { text: forma === 'xml' ? xmlDe(meant, at) : jsonDe(meant, at), tipo: forma };
}

function refuse(campo: string, porque: string): Refused {
  const fault: Fault = { codigo: 'E0002', xpath: '', mensagem: `Parâmetro ${campo}: ${porque}`, campo };
  return { faults: [fault], status: 400 };
}
