/**
 * The event 1.01 as one table, with the request to register it inside; their identifiers; and the text of both.
 *
 * The author sends JSON, so the request is written here as well. The request has no signature of its own: the sent signature covers the
 * bytes of the body. Whether an event may be registered is judged in `../conflitos-evento.ts`. The specific groups are built from
 * `../tipos-evento.ts`. The text has no white space between elements and is its own canonical form.
 */
import { documentoKind } from '../chave.ts';
import { TIPOS_EVENTO, type TipoEvento, tipoByCodigo } from '../tipos-evento.ts';
import { DPS_NAMESPACE, DPS_VERSAO } from './dps.ts';
import { type SimpleType, T } from './simple-types.ts';
import { type Group, type Item, type Leaf, may, need, needGroup, oneOf } from './vocabulary.ts';
import { ownDocument, writerOf, XML_HEAD } from './write.ts';

/** Highest sequence that fits into an identifier. */
export const NUMERO_SEQUENCIAL_MAX = 999;

/** The specific groups `e101101` to `e305103`; a request has one. */
const GRUPOS: readonly Group[] = TIPOS_EVENTO.map(grupoOf);

/** The content of the request. */
const INF_PED_REG: readonly Item[] = [
  need('tpAmb', T.tpAmb, 'Ambiente: 1 produção, 2 homologação'),
  need('verAplic', T.verAplic, 'Versão deste serviço'),
  need('dhEvento', T.dataHora, 'Data e hora do registro pedido'),
  oneOf([need('CNPJAutor', T.cnpj, 'CNPJ do autor do evento'), need('CPFAutor', T.cpf, 'CPF do autor do evento')]),
  need('chNFSe', T.chaveNFSe, 'Chave de acesso da nota'),
  { kind: 'choice', items: GRUPOS, min: 1 },
];

const versao = { name: 'versao', type: T.versao, doc: 'Versão do leiaute' } as const;

/** The request as its author would have made it. */
export const PED_REG_EVENTO: Group = needGroup(
  'pedRegEvento',
  'Pedido de registro do evento',
  [
    needGroup('infPedReg', 'O que o autor pede', INF_PED_REG, {
      attributes: [{ name: 'Id', type: T.idInfPedReg, doc: 'PRE, a chave de acesso e o código do tipo' }],
    }),
  ],
  { attributes: [versao], signed: true },
);

/** The elements that the municipality adds to the request. */
const INF_EVENTO_OWN: readonly Leaf[] = [
  need('verAplic', T.verAplic, 'Versão deste serviço'),
  need('ambGer', T.ambGerEvento, 'Ambiente gerador: 1 sistema próprio do município, 2 Sefin Nacional, 3 ADN'),
  need('nSeqEvento', T.nSeqEvento, 'Número sequencial do evento entre os do mesmo tipo na nota'),
  need('dhProc', T.dataHora, 'Data e hora do registro do evento'),
  need('nDFSe', T.nDFSe, 'Número sequencial do documento no ambiente gerador'),
];

/** The document that is stored and shared. */
export const EVENTO: Group = needGroup(
  'evento',
  'Evento de nota fiscal de serviço eletrônica',
  [
    needGroup('infEvento', 'O que o evento diz e o município assina', [...INF_EVENTO_OWN, PED_REG_EVENTO], {
      attributes: [{ name: 'Id', type: T.idInfEvento, doc: 'EVT, a chave de acesso, o código do tipo e a sequência' }],
    }),
  ],
  { attributes: [versao], signed: true },
);

function grupoOf({ codigo, descricao, campos }: TipoEvento): Group {
  const xDesc: SimpleType = {
    name: `TSDesc${codigo}`,
    kind: 'enum',
    min: descricao.length,
    max: descricao.length,
    values: [descricao],
    expected: descricao,
  };
  return needGroup(`e${codigo}`, descricao, [
    need('xDesc', xDesc, 'Descrição do tipo, sempre este texto'),
    ...campos.map(({ elemento, obrigatorio, tipo, sobre }) => (obrigatorio ? need : may)(elemento, tipo, sobre)),
  ]);
}

// Identifiers.

/** `Id` of the request; it contains no sequence. */
export function pedidoId(chave_acesso: string, codigo: string): string {
  return `PRE${chave_acesso}${codigo}`;
}

/** `Id` of the event. A sequence that does not fit is our mistake and throws. */
export function eventoId(chave_acesso: string, codigo: string, numero_sequencial: number): string {
  if (!Number.isInteger(numero_sequencial) || numero_sequencial < 1 || numero_sequencial > NUMERO_SEQUENCIAL_MAX) {
    throw new RangeError(`${numero_sequencial} is no sequence of an event`);
  }
  return `EVT${chave_acesso}${codigo}${String(numero_sequencial).padStart(3, '0')}`;
}

const EVENTO_ID = /^EVT(\d[\dA-Z]{49})(\d{6})(\d{3})$/;

/** The parts of the `Id` of an event; undefined if the text is none. */
export function parseEventoId(
  id: string,
): { readonly chave_acesso: string; readonly codigo: string; readonly numero_sequencial: number } | undefined {
  const [, chave_acesso, codigo, sequencial] = EVENTO_ID.exec(id) ?? [];
  return chave_acesso === undefined
    ? undefined
    : { chave_acesso, codigo: codigo!, numero_sequencial: Number(sequencial) };
}

/** A reference to another event. */
export type EventoReferido = {
  readonly chave_acesso: string;
  readonly codigo: string;
  /** Absent in the form of the schema. */
  readonly numero_sequencial: number | undefined;
};

const REFERIDO = /^(?:EVT)?([0-9]{9}[0-9A-Z]{14}[0-9]{27})([0-9]{6})([0-9]{3})?$/;

/** Reads an identifier with or without its prefix and its sequence. */
export function parseEventoReferido(text: string): EventoReferido | undefined {
  const match = REFERIDO.exec(text);
  if (match === null) return undefined;
  const [, chave_acesso, codigo, sequencia] = match;
  return {
    chave_acesso: chave_acesso!,
    codigo: codigo!,
    numero_sequencial: sequencia === undefined ? undefined : Number(sequencia),
  };
}

// Text.

export type EventoToWrite = {
  readonly chave_acesso: string;
  /** `101101`. */
  readonly codigo: string;
  readonly numero_sequencial: number;
  readonly tpAmb: '1' | '2';
  /** Version of this service. */
  readonly verAplic: string;
  /** `2026-10-05T10:15:30-03:00`: the time at which the request came. */
  readonly dhEvento: string;
  /** The time at which the municipality registered the event. */
  readonly dhProc: string;
  readonly nDFSe: bigint | number | string;
  /** CPF or CNPJ. */
  readonly autor: string;
  /** The values by the names of the JSON body, as the reader of the request gave them. */
  readonly campos: Readonly<Record<string, string>>;
};

const writeInfPedReg = writerOf(INF_PED_REG);
const writeInfEvento = writerOf(INF_EVENTO_OWN);

/** The inner document of an event is its request. */
export const {
  signedPart: signedPartOfEvento,
  withSignature: withEventoSignature,
  documentIn: pedidoIn,
} = ownDocument('evento', 'infEvento', 'pedRegEvento');

/** The event with its request inside, not yet signed. */
export function writeEvento(evento: EventoToWrite): string {
  const { chave_acesso, codigo, numero_sequencial, tpAmb, verAplic, dhEvento, dhProc, nDFSe, autor } = evento;
  const autorElement = documentoKind(autor) === 'CPF' ? 'CPFAutor' : 'CNPJAutor';
  const pedido = writeInfPedReg({
    tpAmb,
    verAplic,
    dhEvento,
    [autorElement]: autor,
    chNFSe: chave_acesso,
    [`e${codigo}`]: grupoValues(codigo, evento.campos),
  });
  const own = writeInfEvento({
    verAplic,
    ambGer: '1',
    nSeqEvento: String(numero_sequencial),
    dhProc,
    nDFSe: String(nDFSe),
  });
  const start = `${XML_HEAD}<evento xmlns="${DPS_NAMESPACE}" versao="${DPS_VERSAO}"><infEvento Id="${eventoId(chave_acesso, codigo, numero_sequencial)}">`;
  const request = `<pedRegEvento versao="${DPS_VERSAO}"><infPedReg Id="${pedidoId(chave_acesso, codigo)}">${pedido}</infPedReg></pedRegEvento>`;
  return `${start}${own}${request}</infEvento></evento>`;
}

function grupoValues(codigo: string, campos: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const tipo = tipoByCodigo(codigo);
  if (tipo === undefined) throw new RangeError(`${codigo} is no type of event`);
  const said = tipo.campos.flatMap(({ nome, elemento, tipo: type }) => {
    const value = campos[nome];
    if (value === undefined) return [];
    return [[elemento, type === T.idEventoReferido ? withoutSequence(value) : value] as const];
  });
  return Object.fromEntries([['xDesc', tipo.descricao], ...said]);
}

/** The form of the schema: key and code alone. */
function withoutSequence(text: string): string {
  const referido = parseEventoReferido(text);
  if (referido === undefined) throw new RangeError('Not the identifier of an event');
  return referido.chave_acesso + referido.codigo;
}
