/**
 * Reads the request of an event: the JSON body becomes type, author and fields, or every fault of it with property, line and column.
 *
 * `tipos-evento.ts` has the fields of each type. A missing required field and a value outside its list are answered with 400, every other
 * fault with 422 (D-50). `judge-pedido.ts` compares the request with its note, `conflitos-evento.ts` with the events of the note.
 */
import { parseChave } from './chave.ts';
import { type Fault, quoted } from './fault.ts';
import { checkText, sayFault, type TypeFault } from './layout/check-text.ts';
import { numberForText, propertyText, wrongKind } from './layout/correct-json.ts';
import { REMOVAL } from './layout/correct-xml.ts';
import { PED_REG_EVENTO } from './layout/evento.ts';
import { type JsonDocument, type JsonMember, type JsonValue, kindOf } from './layout/json-value.ts';
import { refusePackedPedido } from './layout/national-envelope.ts';
import { orderOf } from './layout/order.ts';
import { type SimpleType, T } from './layout/simple-types.ts';
import { nearestName } from './layout/strange-tag.ts';
import {
  AUTORES,
  BASE,
  CALLED_AUTOR,
  CALLED_NOTA,
  COMUNS,
  DA_NOTA,
  describeStrangeMember,
  elementOf,
  NAME_MAX,
  snakeOf,
} from './pedido-names.ts';
import { type CampoEvento, TIPOS_EVENTO, type TipoEvento, tipoByCodigo, tipoBySlug } from './tipos-evento.ts';
import { UNKNOWN } from './unknown.ts';

/** The channel of a request: the one for integrators takes no type by office (E9016), the one for the municipality no other type. */
export type CanalEvento = 'integrador' | 'municipio';

export type PedidoEvento = {
  readonly tipo: TipoEvento;
  /** `cnpj_autor` or `cpf_autor`, if one was sent. */
  readonly autor: string | undefined;
  /** The note that the body names, which is optional. A body that names its note cannot be replayed on another one. */
  readonly nota?: NotaNomeada | undefined;
  /** The values by the names of the JSON body; a field that was not sent is absent. */
  readonly campos: Readonly<Record<string, string>>;
};

export type NotaNomeada = Readonly<Partial<Record<(typeof DA_NOTA)[number], string>>>;

export type PedidoReading =
  | { readonly pedido: PedidoEvento }
  /** `status` is that of the first fault. */
  | {
      readonly status: 400 | 401 | 422;
      readonly faults: readonly [Fault, ...Fault[]];
      /** The request with marks for unknown values (D-720); undefined if its type is unknown. */
      readonly marked?: PedidoEvento;
    };

type Found = { readonly fault: Fault; readonly status: 400 | 401 | 422; readonly offset: number };

/** The maximum number of listed faults. */
const FAULTS_MAX = 100;
/** The request that a body makes, or its faults, in the order of the layout of the event (D-113). */
export function readPedido(document: JsonDocument, canal: CanalEvento = 'integrador'): PedidoReading {
  const { value } = document;
  if (value.kind !== 'object') {
    const mensagem = `O corpo é ${kindOf(value)}; o registro de um evento pede um objeto JSON, que começa com {.`;
    const fault = { codigo: 'E003', xpath: '', mensagem, encontrado: kindOf(value), esperado: 'um objeto' };
    return refuse([faultAt(400, fault, value.offset)], document);
  }
  const packed = refusePackedPedido(document);
  if (packed !== undefined) return { status: 422, faults: [packed] };
  // null counts as absent for an existing property.
  const members = value.members.filter((member) => member.value.kind !== 'null');
  const named = new Map(members.map((member) => [member.name, member]));
  const type = readTipo(named.get('tipo_evento'), canal, value.offset);
  const autor = readAutor(named);
  const nota = readNota(named);
  if ('found' in type) {
    return refuse(type.found.status === 401 ? [type.found] : [type.found, ...autor.found, ...nota.found], document);
  }
  const { tipo } = type;
  // A correction cannot use these names: a repeated name makes the document unreadable.
  const taken = new Set(value.members.map(({ name }) => name));
  const strange: Found[] = [];
  for (const member of value.members) {
    if (COMUNS.includes(member.name) || tipo.campos.some(({ nome }) => nome === member.name)) continue;
    const { fault, meant } = describeStrangeMember(member, tipo, taken);
    strange.push(faultAt(422, fault, member.offset));
    // The property that a wrong name evidently meant counts as sent, so that it is not reported missing as well.
    if (meant !== undefined && !named.has(meant) && member.value.kind !== 'null') named.set(meant, member);
  }
  const read = readCampos(tipo, named, value.offset);
  const all = [...strange, ...autor.found, ...nota.found, ...read.found];
  if (all.length > 0) {
    const wrong = read.found.map(
      ({ fault }) => tipo.campos.find((campo) => elementOf(campo, tipo) === fault.xpath)!.nome,
    );
    const marks = Object.fromEntries(wrong.map((nome) => [nome, UNKNOWN]));
    const marked = {
      tipo,
      autor: autor.found.length > 0 ? UNKNOWN : autor.documento,
      nota: nota.found.length > 0 ? UNKNOWN : nota.nomeada,
      campos: { ...read.campos, ...marks },
    };
    return { ...refuse(all, document), marked: marked as PedidoEvento };
  }
  return { pedido: { tipo, autor: autor.documento, nota: nota.nomeada, campos: read.campos } };
}

const inLayoutOrder = orderOf([PED_REG_EVENTO]);

function refuse(all: readonly Found[], document: JsonDocument): Exclude<PedidoReading, { pedido: unknown }> {
  const inOrder = inLayoutOrder(all, ({ fault }) => fault.xpath);
  const [first, ...rest] = inOrder.slice(0, FAULTS_MAX);
  if (first === undefined) throw new RangeError('A refusal has a fault');
  const placed = ({ fault, offset }: Found): Fault => ({ ...fault, ...document.positionOf(offset) });
  return { status: first.status, faults: [placed(first), ...rest.map(placed)] };
}

function faultAt(status: Found['status'], fault: Fault, offset: number): Found {
  return { status, fault, offset };
}

// The type.

function slugsOf(canal: CanalEvento): readonly string[] {
  return TIPOS_EVENTO.filter(({ porOficio }) => porOficio === (canal === 'municipio')).map(({ slug }) => slug);
}

function readTipo(
  member: JsonMember | undefined,
  canal: CanalEvento,
  offset: number,
): { readonly tipo: TipoEvento } | { readonly found: Found } {
  const slugs = slugsOf(canal);
  const refusal = (codigo: string, mensagem: string, more: Partial<Fault> = {}, status: Found['status'] = 422) => {
    const esperado = `um de: ${slugs.join(', ')}`;
    const fault = { codigo, xpath: BASE, campo: 'tipo_evento', mensagem, esperado, ...more };
    return { found: faultAt(status, fault, member?.value.offset ?? offset) };
  };
  if (member === undefined) return refusal('E002', 'Falta tipo_evento, que diz qual evento se registra.');
  const { value } = member;
  if (value.kind !== 'string' && value.kind !== 'number') {
    const { mensagem, encontrado } = wrongKind('tipo_evento', value, 'o nome do tipo, um texto');
    return refusal('E0001', mensagem, { encontrado });
  }
  const { text } = value;
  const tipo = value.kind === 'number' ? undefined : tipoBySlug(text);
  if (tipo === undefined) {
    if (text.trim() === '') return refusal('E002', 'tipo_evento está vazio.', { encontrado: text });
    const near = text.length > NAME_MAX && value.kind === 'string' ? undefined : slugMeantBy(text, slugs);
    const encontrado = quoted(text);
    const more = near === undefined ? { encontrado } : { encontrado, correcao: `"tipo_evento": "${near}"` };
    if (value.kind === 'number') {
      const say = `tipo_evento veio como número (${encontrado}); aqui vai o nome do tipo, um texto entre aspas`;
      return refusal('E0001', `${say}${near === undefined ? '' : `: "${near}"`}.`, more);
    }
    const say = near === undefined ? 'os tipos que existem estão em esperado' : `o nome certo é ${near}`;
    return refusal('E0002', `"${encontrado}" não é um tipo de evento: ${say}.`, more);
  }
  const called = `O evento ${tipo.slug} (${tipo.codigo}) é registrado`;
  if (tipo.porOficio && canal === 'integrador') {
    const mensagem = `${called} pela prefeitura, de ofício, e não por este canal. Procure a prefeitura.`;
    return refusal('E9016', mensagem, { encontrado: tipo.slug }, 401);
  }
  if (!tipo.porOficio && canal === 'municipio') {
    const parte = CALLED_AUTOR[tipo.autor ?? 'prestador'];
    const mensagem = `${called} pelo ${parte} da nota, e não pela prefeitura, que registra os de ofício.`;
    return refusal('E0002', mensagem, { encontrado: tipo.slug });
  }
  return { tipo };
}

/** The slug that was meant: by its national code, in another spelling, misspelt, or the only one with that word. */
function slugMeantBy(text: string, slugs: readonly string[]): string | undefined {
  const snake = snakeOf(text);
  const byCode = tipoByCodigo(snake.replace(/^e/, ''))?.slug;
  if (byCode !== undefined && slugs.includes(byCode)) return byCode;
  const near = nearestName(snake, slugs);
  if (near !== undefined) return near;
  const within = slugs.filter((slug) => slug.split('_').includes(snake));
  return within.length === 1 ? within[0] : undefined;
}

// The author.

function readAutor(named: ReadonlyMap<string, JsonMember>): {
  readonly documento: string | undefined;
  readonly found: readonly Found[];
} {
  const sent = AUTORES.flatMap((nome) => named.get(nome) ?? []);
  const all = sent.flatMap((member) => faultOfAutor(member) ?? []);
  const [first, second] = sent;
  if (first !== undefined && second !== undefined) {
    const mensagem = 'cnpj_autor e cpf_autor não vão juntos: o autor do evento é um só. Deixe um deles, ou nenhum.';
    const fault = { codigo: 'E203', xpath: `${BASE}/CPFAutor`, campo: 'cpf_autor', mensagem };
    all.push(faultAt(422, { ...fault, esperado: 'cnpj_autor ou cpf_autor' }, named.get('cpf_autor')!.offset));
  }
  const documento = first?.value.kind === 'string' ? first.value.text : undefined;
  return { documento, found: all };
}

function faultOfAutor({ name, value }: JsonMember): Found | undefined {
  const [type, element] = name === 'cpf_autor' ? [T.cpf, 'CPFAutor'] : [T.cnpj, 'CNPJAutor'];
  const place = { xpath: `${BASE}/${element}`, campo: name, esperado: type.expected };
  if (value.kind !== 'string') return faultOfKind(name, value, type, place);
  const problem = checkText(type, value.text);
  if (problem === undefined) return undefined;
  const mensagem = `${name} ${sayFault(type, problem)} Sem o campo, o autor é a parte da nota que registra este tipo de evento.`;
  const fault = { codigo: 'E0003', ...place, mensagem, encontrado: quoted(value.text), ...correctionOf(name, problem) };
  return faultAt(422, fault, value.offset);
}

/** An empty optional value is to be removed. */
function correctionOf(nome: string, { kind, fix }: TypeFault): Pick<Fault, 'correcao'> {
  if (kind === 'vazio') return { correcao: REMOVAL };
  return fix === undefined ? {} : { correcao: propertyText(nome, JSON.stringify(fix)) };
}

type Place = Pick<Fault, 'xpath' | 'campo' | 'esperado'>;

/** 422 E0001: the value is no text. */
function faultOfKind(name: string, value: JsonValue, type: SimpleType, place: Place): Found {
  return faultAt(422, { codigo: 'E0001', ...describeKind(name, value, type), ...place }, value.offset);
}

function describeKind(name: string, value: JsonValue, type: SimpleType): ReturnType<typeof wrongKind> {
  return value.kind === 'number' ? numberForText(name, value.text, type) : wrongKind(name, value, type.expected);
}

// The note.

function readNota(named: ReadonlyMap<string, JsonMember>): {
  readonly nomeada: NotaNomeada;
  readonly found: readonly Found[];
} {
  const all: Found[] = [];
  const nomeada: Record<string, string> = {};
  for (const name of DA_NOTA) {
    const value = named.get(name)?.value;
    if (value?.kind === 'string') nomeada[name] = value.text;
    else if (value !== undefined) {
      const said = wrongKind(name, value, `${CALLED_NOTA[name]}, um texto entre aspas`);
      all.push(faultAt(422, { codigo: 'E0001', xpath: `${BASE}/chNFSe`, campo: name, ...said }, value.offset));
    }
  }
  return { nomeada, found: all };
}

// The fields.

function readCampos(
  tipo: TipoEvento,
  named: ReadonlyMap<string, JsonMember>,
  offset: number,
): { readonly campos: Readonly<Record<string, string>>; readonly found: readonly Found[] } {
  const campos: Record<string, string> = {};
  const all: Found[] = [];
  for (const campo of tipo.campos) {
    const member = named.get(campo.nome);
    const why = requirementOf(campo, tipo, named);
    const problem =
      member === undefined ? describeMissing(campo, tipo, why, offset) : faultOfCampo(campo, tipo, why, member);
    if (problem !== undefined) all.push(member === undefined ? problem : nameAsSent(problem, member, campo));
    else if (member?.value.kind === 'string') campos[campo.nome] = member.value.text;
  }
  return { campos, found: all };
}

/** The fault of a value under a wrong name cites that name; one correction replaces the name and the value. */
function nameAsSent(problem: Found, { name }: JsonMember, { nome }: CampoEvento): Found {
  if (name === nome) return problem;
  const { correcao: _ofTheName, ...fault } = problem.fault;
  return { ...problem, fault: { ...fault, campo: quoted(name) } };
}

/** Why a field is required, as the end of a sentence; undefined if it is optional. */
function requirementOf(
  { obrigatorio, obrigatorioCom }: CampoEvento,
  { slug }: TipoEvento,
  named: ReadonlyMap<string, JsonMember>,
): string | undefined {
  if (obrigatorio) return `obrigatório em ${slug}`;
  if (obrigatorioCom === undefined) return undefined;
  const { campo, valor } = obrigatorioCom;
  const other = named.get(campo)?.value;
  return other?.kind === 'string' && other.text === valor ? `obrigatório com ${campo} ${valor}` : undefined;
}

function describeMissing(
  campo: CampoEvento,
  tipo: TipoEvento,
  why: string | undefined,
  offset: number,
): Found | undefined {
  if (why === undefined) return undefined;
  const mensagem = `Falta ${campo.nome}, ${why}. Espera-se ${expectedOf(campo)}.`;
  return faultAt(400, { codigo: 'E002', ...placeOf(campo, tipo), mensagem }, offset);
}

function faultOfCampo(
  campo: CampoEvento,
  tipo: TipoEvento,
  why: string | undefined,
  { value }: JsonMember,
): Found | undefined {
  const place = placeOf(campo, tipo);
  if (value.kind !== 'string') return kindFault(campo, tipo, place, value);
  const { text, offset } = value;
  const problem = problemOf(campo, text);
  if (problem === undefined) return undefined;
  const said = { ...place, encontrado: quoted(text) };
  if (problem.kind === 'vazio' && why !== undefined) {
    const mensagem = `${campo.nome} está vazio, e é ${why}. Espera-se ${expectedOf(campo)}.`;
    return faultAt(400, { codigo: 'E002', ...said, mensagem }, offset);
  }
  const correcao = correctionOf(campo.nome, problem);
  if (campo.opcoes !== undefined) {
    const mensagem = `${campo.nome} ${problem.problem}: "${quoted(text)}". Em ${tipo.slug} vale ${expectedOf(campo)}.`;
    return faultAt(400, { codigo: 'E0002', ...said, mensagem, ...correcao }, offset);
  }
  const advice = problem.kind === 'vazio' ? ' Informe o valor ou retire o campo.' : '';
  const mensagem = `${campo.nome} ${sayFault(campo.tipo, problem)}${advice}`;
  return faultAt(422, { codigo: 'E0003', ...said, mensagem, ...correcao }, offset);
}

/** A value that is no text is outside any list (D-50): 400 there, with the list. */
function kindFault(campo: CampoEvento, tipo: TipoEvento, place: Place, value: JsonValue): Found {
  const { nome, opcoes } = campo;
  if (opcoes === undefined) return faultOfKind(nome, value, campo.tipo, place);
  const said = describeKind(nome, value, { ...campo.tipo, expected: 'um texto' });
  const mensagem = `${said.mensagem} Em ${tipo.slug} vale ${expectedOf(campo)}.`;
  return faultAt(400, { codigo: 'E0002', ...said, mensagem, ...place }, value.offset);
}

function problemOf({ tipo: type }: CampoEvento, text: string): ReturnType<typeof checkText> {
  const problem = checkText(type, text);
  if (problem !== undefined || type !== T.chaveNFSe || parseChave(text) !== undefined) return problem;
  return { kind: 'formato', problem: 'não é uma chave de acesso: as partes ou o dígito verificador não conferem' };
}

function placeOf(campo: CampoEvento, tipo: TipoEvento): Place {
  return { xpath: elementOf(campo, tipo), campo: campo.nome, esperado: expectedOf(campo) };
}

/** `1 (Erro na Emissão), 2 (…)`, or the expected form of the field's type. */
function expectedOf({ opcoes, tipo: { expected } }: CampoEvento): string {
  if (opcoes === undefined) return expected;
  return `um de: ${opcoes.map(({ codigo, descricao }) => `${codigo} (${descricao})`).join(', ')}`;
}
