/**
 * The properties of an event request: the element of each, its name in a sentence, and the property that an unknown name evidently meant.
 */
import { type Fault, quoted } from './fault.ts';
import { propertyText, rightValue } from './layout/correct-json.ts';
import { REMOVAL } from './layout/correct-xml.ts';
import type { JsonMember, JsonValue } from './layout/json-value.ts';
import { type SimpleType, T } from './layout/simple-types.ts';
import { nearestName } from './layout/strange-tag.ts';
import { ownOf } from './own.ts';
import { type AutorEvento, type CampoEvento, TIPOS_EVENTO, type TipoEvento } from './tipos-evento.ts';

export const BASE = '/pedRegEvento/infPedReg';
export const AUTORES = ['cnpj_autor', 'cpf_autor'] as const;
export const DA_NOTA = ['chave_acesso', 'numero_protocolo'] as const;
/** Properties that every type has besides its own. */
export const COMUNS: readonly string[] = ['tipo_evento', ...AUTORES, ...DA_NOTA];
/** A longer name is not compared. */
export const NAME_MAX = 80;

/** The properties that name the note, each in words for the end of a sentence. */
export const CALLED_NOTA: Readonly<Record<(typeof DA_NOTA)[number], string>> = {
  chave_acesso: 'a chave de acesso da nota do endereço',
  numero_protocolo: 'o número de protocolo da nota do endereço',
};

export const CALLED_AUTOR: Readonly<Record<AutorEvento, string>> = {
  prestador: 'prestador',
  tomador: 'tomador',
  intermediario: 'intermediário',
};

/** The element of a field of a type. */
export function elementOf({ elemento }: CampoEvento, { codigo }: TipoEvento): string {
  return `${BASE}/e${codigo}/${elemento}`;
}

/** Values that the service knows or writes itself, each with the advice. */
const NEEDLESS: Readonly<Record<string, string>> = {
  numero_sequencial: 'o número sequencial é dado pelo serviço; retire-o',
  id_evento: 'o identificador é dado pelo serviço; retire-o',
  data_hora_evento: 'a data e hora do evento é a do registro; retire-o',
  codigo_tipo_evento: 'o código decorre de tipo_evento; retire-o',
  descricao_evento: 'a descrição decorre de tipo_evento; retire-o',
  ambiente: 'o ambiente é o do endereço; retire-o',
  tp_amb: 'o ambiente é o do endereço; retire-o',
};

/** Names that senders are likely to try, and the element that they mean in any type that has it. */
const LIKELY: Readonly<Record<string, string>> = {
  codigo_motivo: 'cMotivo',
  codigo_justificativa: 'cMotivo',
  motivo_codigo: 'cMotivo',
  motivo: 'xMotivo',
  descricao: 'xMotivo',
  descricao_motivo: 'xMotivo',
  justificativa: 'xMotivo',
  x_just: 'xMotivo',
  chave_substituta: 'chSubstituta',
  chave_nota_substituta: 'chSubstituta',
  chave_acesso_nova: 'chSubstituta',
};

const LIKELY_COMUM: Readonly<Record<string, string>> = {
  chave: 'chave_acesso',
  chave_nfse: 'chave_acesso',
  protocolo: 'numero_protocolo',
  cnpj: 'cnpj_autor',
  autor_cnpj: 'cnpj_autor',
  cpf: 'cpf_autor',
  autor_cpf: 'cpf_autor',
};

/** E0010: a property that the type does not have, and the one that was meant. */
export function describeStrangeMember(
  { name, value }: JsonMember,
  tipo: TipoEvento,
  taken: Set<string>,
): { readonly fault: Fault; readonly meant: string | undefined } {
  const shown = quoted(name);
  const names = [...COMUNS, ...tipo.campos.map(({ nome }) => nome)];
  const snake = name.length > NAME_MAX ? '' : snakeOf(name);
  const needless = ownOf(NEEDLESS, snake);
  const meant = needless === undefined && snake !== '' ? nameMeantBy(name, snake, names, tipo) : undefined;
  const say =
    needless ??
    (meant === undefined ? `retire-o; os campos deste tipo são ${names.join(', ')}` : `o nome certo é ${meant}`);
  const fault: Fault = {
    codigo: 'E0010',
    xpath: meant === undefined ? BASE : placeOfName(meant, tipo),
    campo: shown,
    mensagem: `${shown === '' ? 'A propriedade de nome vazio' : shown} não é um campo de ${tipo.slug}: ${say}.`,
    encontrado: `"${shown}"`,
    esperado: meant ?? names.join(', '),
    ...correctName(value, meant, tipo, taken),
  };
  return { fault, meant };
}

/**
 * The correction of a wrong name. A property that meant none is to be removed. No correction is offered if the correct name is taken, or if
 * the author's other document is present.
 */
function correctName(
  value: JsonValue,
  meant: string | undefined,
  tipo: TipoEvento,
  taken: Set<string>,
): Pick<Fault, 'correcao'> {
  if (meant === undefined || value.kind === 'null') return { correcao: REMOVAL };
  const isTaken = taken.has(meant) || (isAutor(meant) && AUTORES.some((nome) => taken.has(nome)));
  taken.add(meant);
  const right = isTaken ? undefined : rightValue(value, typeOf(meant, tipo));
  return right === undefined ? {} : { correcao: propertyText(meant, right) };
}

function isAutor(nome: string): boolean {
  return AUTORES.some((one) => one === nome);
}

function typeOf(nome: string, tipo: TipoEvento): SimpleType {
  const campo = tipo.campos.find((one) => one.nome === nome);
  if (campo !== undefined) return campo.tipo;
  return nome === 'cpf_autor' ? T.cpf : nome === 'cnpj_autor' ? T.cnpj : ANY_TEXT;
}

/** The type of the properties that name the note: they are compared with it, and may be any text. */
const ANY_TEXT: SimpleType = { name: '', kind: 'text', min: 1, max: Number.MAX_SAFE_INTEGER, expected: '' };

const ELEMENTOS_COMUNS: Readonly<Record<string, string>> = {
  cnpj_autor: `${BASE}/CNPJAutor`,
  cpf_autor: `${BASE}/CPFAutor`,
  chave_acesso: `${BASE}/chNFSe`,
  numero_protocolo: `${BASE}/chNFSe`,
};

/** The element that a property of this type becomes. */
function placeOfName(nome: string, tipo: TipoEvento): string {
  const campo = tipo.campos.find((one) => one.nome === nome);
  return campo === undefined ? (ELEMENTOS_COMUNS[nome] ?? BASE) : elementOf(campo, tipo);
}

function nameMeantBy(name: string, snake: string, names: readonly string[], tipo: TipoEvento): string | undefined {
  if (names.includes(snake)) return snake;
  const comum = ownOf(LIKELY_COMUM, snake);
  if (comum !== undefined) return comum;
  const likely = ownOf(LIKELY, snake);
  const elemento = likely ?? elementoOfOtherTypes(snake) ?? name;
  const byElemento = tipo.campos.find((campo) => campo.elemento === elemento)?.nome;
  return byElemento ?? nearestName(snake, names);
}

/** The element of a field that another type has: `codigo_motivo_cancelamento` on a rejection. */
function elementoOfOtherTypes(nome: string): string | undefined {
  const campos: readonly CampoEvento[] = TIPOS_EVENTO.flatMap((tipo): readonly CampoEvento[] => tipo.campos);
  return campos.find((campo) => campo.nome === nome)?.elemento;
}

/** `tipoEvento`, `Tipo Evento` and `tipo-evento` are one name. */
export function snakeOf(name: string): string {
  return name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .trim()
    .replace(/[\s.-]+/g, '_')
    .toLowerCase();
}
