/**
 * Reads the request of an event: the JSON body becomes type, author and fields, or every fault of it with property, line and
 * column; and says in whose name it is registered.
 *
 * What a type asks is told in `tipos-evento.ts`. A required field that is missing and a value outside its list are answered
 * with 400, all else that is wrong with 422 (D-50). Whether the events of the note let it in is judged in `conflitos-evento.ts`.
 */
import { documentoKind, isSameParty, maskDocumento, parseChave } from './chave.ts';
import { type Fault, quoted } from './fault.ts';
import { checkText, sayFault, type TypeFault } from './layout/check-text.ts';
import { propertyText, rightValue } from './layout/correct-json.ts';
import { REMOVAL } from './layout/correct-xml.ts';
import { PED_REG_EVENTO } from './layout/evento.ts';
import { type JsonDocument, type JsonMember, type JsonValue, kindOf } from './layout/json-value.ts';
import { isNationalEnvelope, nationalEnvelope } from './layout/national-envelope.ts';
import { orderOf } from './layout/order.ts';
import { type SimpleType, T } from './layout/simple-types.ts';
import { nearestName } from './layout/strange-tag.ts';
import { numberForText, wrongKind } from './layout/wrong-kind.ts';
import { ownOf } from './own.ts';
import {
  type AutorEvento,
  type CampoEvento,
  TIPOS_EVENTO,
  type TipoEvento,
  tipoByCodigo,
  tipoBySlug,
} from './tipos-evento.ts';

/** Through which door a request comes: that of the integrators takes no type by office (E9016), that of the municipality no other. */
export type CanalEvento = 'integrador' | 'municipio';

export type PedidoEvento = {
  readonly tipo: TipoEvento;
  /** `cnpj_autor` or `cpf_autor`, when one was sent. */
  readonly autor: string | undefined;
  /** The note as the body names it, which need not: so that what was signed for one note is nothing on another. */
  readonly nota?: NotaNomeada | undefined;
  /** By the names of the JSON body; what was not sent is not there. */
  readonly campos: Readonly<Record<string, string>>;
};

export type NotaNomeada = Readonly<Partial<Record<(typeof DA_NOTA)[number], string>>>;

export type PedidoReading =
  | { readonly pedido: PedidoEvento }
  /** `status` is that of the first fault. */
  | { readonly status: 400 | 401 | 422; readonly faults: readonly [Fault, ...Fault[]] };

type Found = { readonly fault: Fault; readonly status: 400 | 401 | 422; readonly offset: number };

/** More faults than this are not listed. */
const FAULTS_MAX = 100;
/** A longer name is not compared with anything. */
const NAME_MAX = 80;

const BASE = '/pedRegEvento/infPedReg';
const AUTORES = ['cnpj_autor', 'cpf_autor'] as const;
const DA_NOTA = ['chave_acesso', 'numero_protocolo'] as const;
/** Properties that every type has beside its own. */
const COMUNS: readonly string[] = ['tipo_evento', ...AUTORES, ...DA_NOTA];

/** The request that a body makes, or its faults, in the order of the layout of the event (D-211). */
export function readPedido(document: JsonDocument, canal: CanalEvento = 'integrador'): PedidoReading {
  const { value } = document;
  if (value.kind !== 'object') {
    const mensagem = `O corpo é ${kindOf(value)}; o registro de um evento pede um objeto JSON, que começa com {.`;
    return refused(
      [
        found(
          400,
          { codigo: 'E003', xpath: '', mensagem, encontrado: kindOf(value), esperado: 'um objeto' },
          value.offset,
        ),
      ],
      document,
    );
  }
  const envelope = value.members.find(({ name }) => isNationalEnvelope(name));
  if (envelope !== undefined) {
    return refused([found(422, nationalEnvelope(envelope.name, EVENTO_IN_FIELDS), envelope.offset)], document);
  }
  // null is the same as nothing, where there is something that it could be.
  const members = value.members.filter((member) => member.value.kind !== 'null');
  const named = new Map(members.map((member) => [member.name, member]));
  const type = readTipo(named.get('tipo_evento'), canal, value.offset);
  const autor = readAutor(named);
  const nota = readNota(named);
  if ('found' in type) {
    return refused(type.found.status === 401 ? [type.found] : [type.found, ...autor.found, ...nota.found], document);
  }
  const { tipo } = type;
  // Under these names nothing else can be written: the document itself would no longer be read.
  const taken = new Set(value.members.map(({ name }) => name));
  const strange = value.members
    .filter(({ name }) => !COMUNS.includes(name) && !tipo.campos.some(({ nome }) => nome === name))
    .map((member) => ({ member, ...strangeMember(member, tipo, taken) }));
  for (const { member, meant } of strange) {
    // What a name evidently meant is taken as said, so that it is not also missed.
    if (meant !== undefined && !named.has(meant) && member.value.kind !== 'null') named.set(meant, member);
  }
  const read = readCampos(tipo, named, value.offset);
  const all = [...strange.map(({ found }) => found), ...autor.found, ...nota.found, ...read.found];
  if (all.length > 0) return refused(all, document);
  return { pedido: { tipo, autor: autor.documento, nota: nota.nomeada, campos: read.campos } };
}

const EVENTO_IN_FIELDS =
  'o evento se registra pelos campos dele em JSON: tipo_evento e os do tipo, que /catalogo/motivos_evento lista';

const inLayoutOrder = orderOf([PED_REG_EVENTO]);

function refused(all: readonly Found[], document: JsonDocument): PedidoReading {
  const inOrder = inLayoutOrder(all, ({ fault }) => fault.xpath);
  const [first, ...rest] = inOrder.slice(0, FAULTS_MAX);
  if (first === undefined) throw new RangeError('A refusal has a fault');
  const placed = ({ fault, offset }: Found): Fault => ({ ...fault, ...document.positionOf(offset) });
  return { status: first.status, faults: [placed(first), ...rest.map(placed)] };
}

function found(status: Found['status'], fault: Fault, offset: number): Found {
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
  const esperado = `um de: ${slugs.join(', ')}`;
  const fault = (codigo: string, mensagem: string, more: Partial<Fault> = {}): Fault => {
    return { codigo, xpath: BASE, campo: 'tipo_evento', mensagem, esperado, ...more };
  };
  if (member === undefined) {
    const mensagem = 'Falta tipo_evento, que diz qual evento se registra.';
    return { found: found(422, fault('E002', mensagem), offset) };
  }
  const { value } = member;
  if (value.kind === 'number') {
    const near = slugMeantBy(value.text, slugs);
    const mensagem = `tipo_evento veio como número (${quoted(value.text)}); aqui vai o nome do tipo, um texto entre aspas${near === undefined ? '' : `: "${near}"`}.`;
    const correcao = near === undefined ? {} : { correcao: `"tipo_evento": "${near}"` };
    return {
      found: found(422, fault('E0001', mensagem, { encontrado: quoted(value.text), ...correcao }), value.offset),
    };
  }
  if (value.kind !== 'string') {
    const { mensagem, encontrado } = wrongKind('tipo_evento', value, 'o nome do tipo, um texto');
    return { found: found(422, fault('E0001', mensagem, { encontrado }), value.offset) };
  }
  const { text } = value;
  if (text.trim() === '') {
    return { found: found(422, fault('E002', 'tipo_evento está vazio.', { encontrado: text }), value.offset) };
  }
  const tipo = tipoBySlug(text);
  if (tipo === undefined) {
    const near = text.length > NAME_MAX ? undefined : slugMeantBy(text, slugs);
    const say = near === undefined ? 'os tipos que existem estão em esperado' : `o nome certo é ${near}`;
    const mensagem = `"${quoted(text)}" não é um tipo de evento: ${say}.`;
    const correcao = near === undefined ? {} : { correcao: `"tipo_evento": "${near}"` };
    return { found: found(422, fault('E0002', mensagem, { encontrado: quoted(text), ...correcao }), value.offset) };
  }
  if (tipo.porOficio && canal === 'integrador') {
    const mensagem = `O evento ${tipo.slug} (${tipo.codigo}) é registrado pela prefeitura, de ofício, e não por este canal. Procure a prefeitura.`;
    return { found: found(401, fault('E9016', mensagem, { encontrado: tipo.slug }), value.offset) };
  }
  if (!tipo.porOficio && canal === 'municipio') {
    const parte = CALLED[tipo.autor ?? 'prestador'];
    const mensagem = `O evento ${tipo.slug} (${tipo.codigo}) é registrado pelo ${parte} da nota, e não pela prefeitura, que registra os de ofício.`;
    return { found: found(422, fault('E0002', mensagem, { encontrado: tipo.slug }), value.offset) };
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
  const all = sent.flatMap((member) => autorFault(member) ?? []);
  const [first, second] = sent;
  if (first !== undefined && second !== undefined) {
    const mensagem = 'cnpj_autor e cpf_autor não vão juntos: o autor do evento é um só. Deixe um deles, ou nenhum.';
    const fault = { codigo: 'E203', xpath: `${BASE}/CPFAutor`, campo: 'cpf_autor', mensagem };
    all.push(found(422, { ...fault, esperado: 'cnpj_autor ou cpf_autor' }, named.get('cpf_autor')!.offset));
  }
  const documento = first?.value.kind === 'string' ? first.value.text : undefined;
  return { documento, found: all };
}

function autorFault({ name, value }: JsonMember): Found | undefined {
  const [type, element] = name === 'cpf_autor' ? [T.cpf, 'CPFAutor'] : [T.cnpj, 'CNPJAutor'];
  const place = { xpath: `${BASE}/${element}`, campo: name, esperado: type.expected };
  if (value.kind !== 'string') return strangeKind(name, value, type, place);
  const problem = checkText(type, value.text);
  if (problem === undefined) return undefined;
  const mensagem = `${name} ${sayFault(type, problem)} Sem o campo, o autor é a parte da nota que registra este tipo de evento.`;
  const fault = { codigo: 'E0003', ...place, mensagem, encontrado: quoted(value.text), ...corrected(name, problem) };
  return found(422, fault, value.offset);
}

/** What is empty and need not be there is to be taken out. */
function corrected(nome: string, { kind, fix }: TypeFault): Pick<Fault, 'correcao'> {
  if (kind === 'vazio') return { correcao: REMOVAL };
  return fix === undefined ? {} : { correcao: propertyText(nome, JSON.stringify(fix)) };
}

type Place = Pick<Fault, 'xpath' | 'campo' | 'esperado'>;

/** 422 E0001: no text. */
function strangeKind(name: string, value: JsonValue, type: SimpleType, place: Place): Found {
  return found(422, { codigo: 'E0001', ...saidKind(name, value, type), ...place }, value.offset);
}

function saidKind(name: string, value: JsonValue, type: SimpleType): ReturnType<typeof wrongKind> {
  return value.kind === 'number' ? numberForText(name, value.text, type) : wrongKind(name, value, type.expected);
}

// The note.

/** What each is, as it ends a sentence. */
const CALLED_NOTA = {
  chave_acesso: 'a chave de acesso da nota do endereço',
  numero_protocolo: 'o número de protocolo da nota do endereço',
} as const satisfies Readonly<Record<keyof NotaNomeada, string>>;

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
      all.push(found(422, { codigo: 'E0001', xpath: `${BASE}/chNFSe`, campo: name, ...said }, value.offset));
    }
  }
  return { nomeada, found: all };
}

/** E002: the municipality wants the body to name its note, since a signed one would serve on any other (D-228). */
export function judgeNomeada({ nota = {} }: PedidoEvento, address: NotaNomeada): Fault | undefined {
  if (DA_NOTA.some((name) => nota[name] !== undefined)) return undefined;
  const [name, text] = Object.entries(address)[0]!;
  const line = propertyText(name, JSON.stringify(text));
  const mensagem = `Falta ${name}: este município pede que o corpo diga a nota para que foi feito, e assim não serve em outra. Acrescente ao corpo, antes de assinar: ${line}`;
  return { codigo: 'E002', xpath: `${BASE}/chNFSe`, campo: name, mensagem, esperado: text };
}

/** E0002: the body names another note than the address. */
export function judgeNota({ nota = {} }: PedidoEvento, address: Required<NotaNomeada>): Fault | undefined {
  const wrong = DA_NOTA.find((name) => nota[name] !== undefined && nota[name] !== address[name]);
  if (wrong === undefined) return undefined;
  const encontrado = quoted(nota[wrong]!);
  const mensagem = `${wrong}, no corpo, é "${encontrado}", e não ${CALLED_NOTA[wrong]}: este pedido não foi feito para esta nota. Envie-o ao endereço da nota certa, ou refaça-o com o ${wrong} desta.`;
  return { codigo: 'E0002', xpath: `${BASE}/chNFSe`, campo: wrong, mensagem, encontrado, esperado: address[wrong] };
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
    const problem = member === undefined ? missing(campo, tipo, why, offset) : campoFault(campo, tipo, why, member);
    if (problem !== undefined) all.push(member === undefined ? problem : asSent(problem, member, campo));
    else if (member?.value.kind === 'string') campos[campo.nome] = member.value.text;
  }
  return { campos, found: all };
}

/** What was sent under a wrong name is told of that name, with which its value is mended too. */
function asSent(problem: Found, { name }: JsonMember, { nome }: CampoEvento): Found {
  if (name === nome) return problem;
  const { correcao: _ofTheName, ...fault } = problem.fault;
  return { ...problem, fault: { ...fault, campo: quoted(name) } };
}

/** Why a field must be there, as it ends a sentence; undefined when it need not. */
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

function missing(campo: CampoEvento, tipo: TipoEvento, why: string | undefined, offset: number): Found | undefined {
  if (why === undefined) return undefined;
  const mensagem = `Falta ${campo.nome}, ${why}. Espera-se ${expectedOf(campo)}.`;
  return found(400, { codigo: 'E002', ...placeOf(campo, tipo), mensagem }, offset);
}

function campoFault(
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
    return found(400, { codigo: 'E002', ...said, mensagem }, offset);
  }
  const correcao = corrected(campo.nome, problem);
  if (campo.opcoes !== undefined) {
    const mensagem = `${campo.nome} ${problem.problem}: "${quoted(text)}". Em ${tipo.slug} vale ${expectedOf(campo)}.`;
    return found(400, { codigo: 'E0002', ...said, mensagem, ...correcao }, offset);
  }
  const advice = problem.kind === 'vazio' ? ' Informe o valor ou retire o campo.' : '';
  const mensagem = `${campo.nome} ${sayFault(campo.tipo, problem)}${advice}`;
  return found(422, { codigo: 'E0003', ...said, mensagem, ...correcao }, offset);
}

/** A value that is no text is outside a list whatever it is (D-50): 400 there, with what is in it. */
function kindFault(campo: CampoEvento, tipo: TipoEvento, place: Place, value: JsonValue): Found {
  const { nome, opcoes } = campo;
  if (opcoes === undefined) return strangeKind(nome, value, campo.tipo, place);
  const said = saidKind(nome, value, { ...campo.tipo, expected: 'um texto' });
  const mensagem = `${said.mensagem} Em ${tipo.slug} vale ${expectedOf(campo)}.`;
  return found(400, { codigo: 'E0002', ...said, mensagem, ...place }, value.offset);
}

function problemOf({ tipo: type }: CampoEvento, text: string): ReturnType<typeof checkText> {
  const problem = checkText(type, text);
  if (problem !== undefined || type !== T.chaveNFSe || parseChave(text) !== undefined) return problem;
  return { kind: 'formato', problem: 'não é uma chave de acesso: as partes ou o dígito verificador não conferem' };
}

function placeOf(campo: CampoEvento, { codigo }: TipoEvento): Place {
  return { xpath: `${BASE}/e${codigo}/${campo.elemento}`, campo: campo.nome, esperado: expectedOf(campo) };
}

/** `1 (Erro na Emissão), 2 (…)`, or what the type of the field says. */
function expectedOf({ opcoes, tipo: { expected } }: CampoEvento): string {
  if (opcoes === undefined) return expected;
  return `um de: ${opcoes.map(({ codigo, descricao }) => `${codigo} (${descricao})`).join(', ')}`;
}

// Names that do not exist.

/** What the service knows or writes itself, with what to do instead. */
const NEEDLESS: Readonly<Record<string, string>> = {
  numero_sequencial: 'o número sequencial é dado pelo serviço; retire-o',
  id_evento: 'o identificador é dado pelo serviço; retire-o',
  data_hora_evento: 'a data e hora do evento é a do registro; retire-o',
  codigo_tipo_evento: 'o código decorre de tipo_evento; retire-o',
  descricao_evento: 'a descrição decorre de tipo_evento; retire-o',
  ambiente: 'o ambiente é o do endereço; retire-o',
  tp_amb: 'o ambiente é o do endereço; retire-o',
};

/** Names that people are likely to try, and the element that they mean in whatever type has it. */
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
function strangeMember(
  { name, offset, value }: JsonMember,
  tipo: TipoEvento,
  taken: Set<string>,
): { readonly found: Found; readonly meant: string | undefined } {
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
    ...underRightName(value, meant, tipo, taken),
  };
  return { found: found(422, fault, offset), meant };
}

/** What has no right name is to be taken out; under one that is taken, or beside the other document of an author, nothing is offered. */
function underRightName(
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

/** What names the note is compared with it, and may be any text. */
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
  return campo === undefined ? (ELEMENTOS_COMUNS[nome] ?? BASE) : placeOf(campo, tipo).xpath;
}

function nameMeantBy(name: string, snake: string, names: readonly string[], tipo: TipoEvento): string | undefined {
  const same = names.find((one) => one === snake);
  if (same !== undefined) return same;
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
function snakeOf(name: string): string {
  return name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .trim()
    .replace(/[\s.-]+/g, '_')
    .toLowerCase();
}

// In whose name.

/** The documents of those who may be authors; of a party abroad or not identified there is none. */
export type PartesDaNota = Readonly<Record<AutorEvento, string | undefined>> & {
  /** CNPJ of the municipality, the author of what is registered by office. */
  readonly municipio?: string | undefined;
};

/** Whose document an event bears when its request names no author; undefined when the note has no such party. */
export function inferAutor({ autor }: TipoEvento, partes: PartesDaNota): string | undefined {
  return autor === undefined ? partes.municipio : partes[autor];
}

const CALLED: Readonly<Record<AutorEvento, string>> = {
  prestador: 'prestador',
  tomador: 'tomador',
  intermediario: 'intermediário',
};

/** The author of the event: the party that its type demands, under the document that was sent or else the note's. */
export function judgeAutor(
  { tipo, autor }: PedidoEvento,
  partes: PartesDaNota,
): { readonly autor: string } | { readonly fault: Fault } {
  const expected = inferAutor(tipo, partes);
  if (expected !== undefined && (autor === undefined || isSameParty(autor, expected))) {
    return { autor: autor ?? expected };
  }
  const isCpf = autor !== undefined && documentoKind(autor) === 'CPF';
  const place = isCpf
    ? { codigo: 'E0816', xpath: `${BASE}/CPFAutor`, campo: 'cpf_autor' }
    : // Who names no author is told of the type, which demands one.
      { codigo: 'E0813', xpath: `${BASE}/CNPJAutor`, campo: autor === undefined ? 'tipo_evento' : 'cnpj_autor' };
  const called = tipo.autor === undefined ? 'município' : CALLED[tipo.autor];
  if (expected === undefined) {
    const mensagem =
      tipo.autor === undefined
        ? `O município não tem CNPJ configurado, e ${tipo.slug} se registra em nome dele.`
        : `A nota não tem ${called} identificado por CNPJ ou CPF, e ${tipo.slug} se registra em nome dele.`;
    return { fault: { ...place, mensagem } };
  }
  // The document of a party is shown to whoever knows the key of the note.
  const esperado = maskDocumento(expected);
  const mensagem = `${tipo.slug} se registra em nome do ${called}, que nesta nota é ${esperado}, e ${place.campo} traz outro documento. Retire ${place.campo}, ou registre o evento da parte certa.`;
  return { fault: { ...place, mensagem, encontrado: maskDocumento(autor!), esperado } };
}
