/**
 * What a municipality does about events from its own side: registering those by office, looking at one with its trail, and
 * moving one by hand. It works beside a running service or without one: what is left due here the worker finds by looking.
 */
import { isHeldBy, maskedDocument } from '../documents/certificate.ts';
import { readJson } from '../documents/json.ts';
import { loadSigner } from '../documents/key-files.ts';
import { signatureElement } from '../documents/signing.ts';
import { documentoKind, maskDocumento, whyNoChave } from '../fiscal/chave.ts';
import { CODIGOS_ENTRE_PARTES, standingOn } from '../fiscal/conflitos-evento.ts';
import {
  AGUARDANDO_MAX_MS,
  EVENTO_ESTADOS,
  EVENTO_MOVES,
  EVENTO_PROBLEMAS,
  type EventoEstado,
  type EventoMove,
  type EventoTrigger,
  eventoMove,
  PENDENTE_MAX_MS,
} from '../fiscal/evento.ts';
import type { Aviso, Fault } from '../fiscal/fault.ts';
import { eventoId, signedPartOfEvento, withEventoSignature } from '../fiscal/layout/evento.ts';
import { T } from '../fiscal/layout/simple-types.ts';
import { isoMoment, momentIn } from '../fiscal/moment.ts';
import { readPedido } from '../fiscal/pedido-evento.ts';
import { type CampoEvento, tipoByCodigo } from '../fiscal/tipos-evento.ts';
import type { EventoRow } from '../store/evento-rows.ts';
import type { Municipio } from '../store/municipios.ts';
import type { OperatorTrigger, ProblemaCount, ProblemaFilter, StuckBefore } from '../store/operate-eventos.ts';
import { type EventoPublico, eventosOfNota, publicEvento } from './evento-queries.ts';
import { zoneOf } from './gather-facts.ts';
import { whyNoDocumento } from './import-prestadores.ts';
import { municipioNamed, type RegistryWorld } from './municipios.ts';
import { naNota } from './na-nota.ts';
import { registerEventoDeOficio } from './register-evento.ts';

/** What was asked cannot be done: sentences in Portuguese for the operator. */
export type Problem = { readonly problem: string };

// Registering by office.

export type PedidoDoMunicipio = {
  readonly chave: string;
  /** The request, as the body of the integrators' door has it. */
  readonly corpo: Uint8Array;
  /** CNPJ of the municipality, where no certificate says it. */
  readonly cnpj: string | undefined;
};

export type RegistradoDeOficio = {
  readonly evento: EventoPublico;
  readonly identificador: string;
  readonly avisos: readonly Aviso[];
};

/** Registers an event by office. Throws an Error in Portuguese when there is no such municipality. */
export async function registrarDeOficio(
  world: RegistryWorld,
  slug: string,
  { chave, corpo, cnpj }: PedidoDoMunicipio,
): Promise<RegistradoDeOficio | { readonly faults: readonly Fault[] } | Problem> {
  const municipio = await municipioNamed(world, slug);
  const problem = whyNoChave(chave);
  if (problem !== undefined) return { problem };
  const json = readJson(corpo);
  if ('fault' in json) return { faults: [json.fault] };
  const read = readPedido(json, 'municipio');
  if ('faults' in read) return read;
  const own = await cnpjOf(municipio, cnpj);
  if ('problem' in own) return own;
  // Whoever transmits is another process, which finds the event by looking.
  const worldHere = { ...world, wake: () => undefined };
  const pedido = { pedido: read.pedido, municipio: own.cnpj };
  const registered = await registerEventoDeOficio(worldHere, municipio, { chave }, pedido);
  if (registered === 'not_found') return { problem: noNota(slug) };
  if ('faults' in registered) return registered;
  const { evento, avisos } = registered;
  return { evento, identificador: identificadorOf(evento), avisos };
}

/** In whose name: that of the certificate with which the event will be signed, or what the operator says. */
async function cnpjOf({ tenant, adn }: Municipio, named: string | undefined): Promise<{ cnpj: string } | Problem> {
  const cnpj = named?.replace(/[./\-\s]/g, '').toUpperCase();
  const wrong = cnpj === undefined ? undefined : whyNoCnpj(cnpj);
  if (wrong !== undefined) return { problem: `--cnpj ${wrong}.` };
  if (adn === undefined) {
    const problem = `O município ${tenant} não tem certificado, que diria o seu CNPJ: informe-o com --cnpj.`;
    return cnpj === undefined ? { problem } : { cnpj };
  }
  const holder = await loadSigner(adn.chaves).then(
    ({ certificate }) => certificate.holder,
    (error: Error) => ({ problem: error.message }),
  );
  if (holder === undefined || 'problem' in holder) {
    // Who may not read the files of the service may still know whose they are.
    const why = holder?.problem ?? 'o certificado do município não traz CNPJ';
    return cnpj === undefined
      ? { problem: `${why.replace(/\.$/, '')}. Informe o CNPJ do município com --cnpj.` }
      : { cnpj };
  }
  if (holder.tipo !== 'CNPJ') return { problem: 'O certificado do município é de um CPF; o autor é um CNPJ.' };
  if (cnpj === undefined) return { cnpj: holder.documento };
  if (isHeldBy(holder, cnpj)) return { cnpj };
  return {
    problem: `--cnpj ${cnpj} não é o do certificado com que ${tenant} assina, ${maskedDocument(holder.documento)}: o ADN recusaria o evento. Sem --cnpj vale o do certificado.`,
  };
}

function whyNoCnpj(text: string): string | undefined {
  return whyNoDocumento(text) ?? (documentoKind(text) === 'CNPJ' ? undefined : 'é um CPF, e o do município é um CNPJ');
}

function noNota(slug: string): string {
  return `Não há nota com esta chave de acesso em ${slug}. Confira a chave e o município.`;
}

// Looking.

/** Events of a note, newest first. */
export async function listEventos(
  world: RegistryWorld,
  slug: string,
  chave: string,
): Promise<readonly EventoPublico[] | Problem> {
  const municipio = await municipioNamed(world, slug);
  const problem = whyNoChave(chave);
  if (problem !== undefined) return { problem };
  return (await eventosOfNota(world, municipio, chave))?.eventos ?? { problem: noNota(slug) };
}

/** Lines of a page: more than an operator looks at in one sitting. */
const PROBLEMAS_POR_PAGINA = 50;

/** As the operator names the events with a problem that are meant. */
export type FiltroDeProblemas = {
  readonly chave?: string | undefined;
  readonly estado?: string | undefined;
  readonly codigo?: string | undefined;
  /** Instead of the problems, the refusals that follow from what another party has registered. */
  readonly entrePartes?: boolean | undefined;
};

export type Problemas = {
  readonly total: number;
  /** What there is of each kind, whatever is on the page. */
  readonly resumo: readonly ProblemaCount[];
  /** Beside them, how many refusals the parties' own events have brought about; zero where these are what was asked for. */
  readonly entre_partes: number;
  readonly pagina: number;
  readonly paginas: number;
  /** `quantos`: how many events of the note have the same problem; this is the first to look at. */
  readonly eventos: readonly (EventoPublico & { readonly quantos: number })[];
};

/**
 * Events whose `acao_sugerida` is `consultar_suporte`, the gravest first, those of a note with the same problem in one line;
 * without the refusals that an operator has seen to, and those that are the parties' affair. A filter by note shows each.
 */
export async function listEventosComProblema(
  world: RegistryWorld,
  slug: string,
  filtro: FiltroDeProblemas,
  pagina: number,
): Promise<Problemas | Problem> {
  const { tenant } = await municipioNamed(world, slug);
  const filter = await filterOf(world, slug, tenant, filtro);
  if ('problem' in filter) return filter;
  const now = world.now();
  const page = { from: (pagina - 1) * PROBLEMAS_POR_PAGINA, max: PROBLEMAS_POR_PAGINA };
  const [resumo, between, { eventos, linhas }] = await Promise.all([
    world.store.eventos.countProblemas(tenant, stuckBefore(now), filter),
    filter.entrePartes
      ? []
      : world.store.eventos.countProblemas(tenant, stuckBefore(now), { ...filter, entrePartes: true }),
    world.store.eventos.listProblemas(tenant, stuckBefore(now), filter, page),
  ]);
  const sumOf = (counts: readonly ProblemaCount[]): number => counts.reduce((sum, { eventos }) => sum + eventos, 0);
  const total = sumOf(resumo);
  if (eventos.length === 0 && total > 0 && pagina > 1) {
    return { problem: `Não há página ${pagina}: a lista acaba antes. Veja-a sem --pagina.` };
  }
  return {
    total,
    resumo,
    entre_partes: sumOf(between),
    pagina,
    paginas: Math.ceil(linhas / PROBLEMAS_POR_PAGINA),
    eventos: eventos.map((row) => ({ ...publicEvento(row, now), quantos: row.quantos })),
  };
}

/** A code with which the parties' events refuse one another is looked for where such refusals are. */
async function filterOf(
  world: RegistryWorld,
  slug: string,
  tenant: string,
  { chave, estado, codigo, entrePartes }: FiltroDeProblemas,
): Promise<ProblemaFilter | Problem> {
  if (estado !== undefined && !isProblema(estado)) {
    return { problem: `--estado ${estado} não é um estado desta lista. Os dela: ${EVENTO_PROBLEMAS.join(', ')}.` };
  }
  const wrong = chave === undefined ? undefined : whyNoChave(chave);
  if (wrong !== undefined) return { problem: wrong };
  const nota = chave === undefined ? undefined : await world.store.notas.findId(tenant, chave);
  if (chave !== undefined && nota === undefined) return { problem: noNota(slug) };
  const named = codigo?.toUpperCase();
  return { nota, estado, codigo: named, entrePartes: entrePartes || CODIGOS_ENTRE_PARTES.has(named ?? '') };
}

function isProblema(estado: string): estado is (typeof EVENTO_PROBLEMAS)[number] {
  return EVENTO_PROBLEMAS.some((one) => one === estado);
}

/** By state, in the order of their life; what is zero is not there. */
export type EventosContados = {
  readonly aCaminho: readonly (readonly [EventoEstado, number])[];
  /** Their `acao_sugerida` is `consultar_suporte`, and no operator has seen to them. */
  readonly comProblema: readonly (readonly [EventoEstado, number])[];
};

/** How many events of a tenant are under way, and how many need somebody. */
export async function countEventos(world: RegistryWorld, tenant: string): Promise<EventosContados> {
  const counts = await world.store.eventos.count(tenant, stuckBefore(world.now()));
  const of = (problema: boolean): EventosContados['aCaminho'] =>
    ESTADOS.flatMap((estado) => {
      const found = counts.find((one) => one.estado === estado && one.temProblema === problema);
      return found === undefined ? [] : [[estado, found.eventos] as const];
    });
  return { aCaminho: of(false), comProblema: of(true) };
}

const ESTADOS = Object.keys(EVENTO_ESTADOS) as EventoEstado[];

/** As `acao_sugerida` has it. */
function stuckBefore(now: number): StuckBefore {
  return { pendente: now - PENDENTE_MAX_MS, aguardando: now - AGUARDANDO_MAX_MS };
}

type Passo = {
  readonly em: string;
  readonly de: EventoEstado | null;
  readonly gatilho: EventoTrigger;
  readonly para: EventoEstado;
  readonly mensagem: string | null;
  /** The operator who made it, by their name on the machine. */
  readonly quem: string | null;
};

export type EventoInteiro = {
  readonly evento: EventoPublico;
  /** `Id` of the document, by which an annulment or an unblocking names it. */
  readonly identificador: string;
  /** A CPF masked, here and among the fields. */
  readonly autor: string;
  readonly campos: Readonly<Record<string, string>>;
  readonly trilha: readonly Passo[];
  /** What an operator may do with it now. */
  readonly operacoes: readonly Operacao[];
};

/** One event with its trail. */
export async function showEvento(world: RegistryWorld, slug: string, id: string): Promise<EventoInteiro | Problem> {
  const found = await eventoNamed(world, slug, id);
  if ('problem' in found) return found;
  const { row, tenant } = found;
  const zone = zoneOf(row.chave_acesso.slice(0, 7));
  const trail = await world.store.eventos.listTrail(tenant, row.id);
  const evento = publicEvento(row, world.now());
  return {
    evento,
    identificador: identificadorOf(evento),
    autor: maskDocumento(row.autor),
    campos: shownCampos(row),
    trilha: trail.map((passo) => ({ ...passo, em: isoMoment(momentIn(zone, passo.em.getTime())) })),
    operacoes: operacoesOn(row),
  };
}

/** The document of an event: with the municipality's signature from when it was sent on. */
export async function eventoXml(
  world: RegistryWorld,
  slug: string,
  id: string,
): Promise<{ readonly xml: string } | Problem> {
  const found = await eventoNamed(world, slug, id);
  if ('problem' in found) return found;
  const { xml, assinatura, certificado_der } = (await world.store.eventos.readDocuments(found.tenant, found.row.id))!;
  const text = xml.toString('utf8');
  if (assinatura === null || certificado_der === null) return { xml: text };
  const signed = signedPartOfEvento(text);
  const value = { value: assinatura, certificate: certificado_der };
  return { xml: withEventoSignature(text, signatureElement(signed.canonical, signed.id, value)) };
}

async function eventoNamed(
  world: RegistryWorld,
  slug: string,
  id: string,
): Promise<{ readonly row: EventoRow; readonly tenant: string } | Problem> {
  const { tenant } = await municipioNamed(world, slug);
  if (!ID.test(id)) {
    return { problem: `${id} não é o número de um evento, o seu id_evento. ${HOW_TO_FIND(slug)}` };
  }
  const row = await world.store.eventos.findById(tenant, id);
  return row === undefined ? { problem: `Não há evento ${id} em ${slug}. ${HOW_TO_FIND(slug)}` } : { row, tenant };
}

/** As far as a bigint goes. */
const ID = /^[1-9]\d{0,17}$/;

const HOW_TO_FIND = (slug: string): string => `nfse evento listar CHAVE --municipio ${slug} mostra os de uma nota.`;

function identificadorOf({ chave_acesso, codigo_tipo_evento, numero_sequencial }: EventoPublico): string {
  return eventoId(chave_acesso, codigo_tipo_evento, numero_sequencial);
}

function shownCampos({ campos, codigo_tipo_evento }: EventoRow): Readonly<Record<string, string>> {
  const known: readonly CampoEvento[] = tipoByCodigo(codigo_tipo_evento)!.campos;
  const isCpf = (nome: string): boolean => known.find((campo) => campo.nome === nome)?.tipo === T.cpf;
  return Object.fromEntries(
    Object.entries(campos).map(([nome, value]) => [nome, isCpf(nome) ? maskDocumento(value) : value]),
  );
}

// Moving by hand.

/** What an operator may do, by the word of its command. */
const OPERACOES = {
  reprocessar: 'reprocessamento',
  separar: 'separacao',
  cancelar: 'retirada',
  dispensar: 'dispensa',
  arquivar: 'arquivamento',
} as const satisfies Readonly<Record<string, OperatorTrigger>>;

export type Operacao = keyof typeof OPERACOES;

const WORDS = Object.keys(OPERACOES) as readonly Operacao[];

type Movable = Pick<EventoRow, 'estado' | 'arquivado_em' | 'cancela' | 'nota_estado'>;

function operacoesOn(row: Movable): readonly Operacao[] {
  return WORDS.filter((operacao) => {
    if (operacao === 'arquivar' && row.arquivado_em !== null) return false;
    if (operacao === 'reprocessar' && row.cancela && row.nota_estado === 'cancelada') return false;
    return eventoMove(row.estado, OPERACOES[operacao]) !== undefined;
  });
}

/** States in which an operation is possible. */
function statesOf(operacao: Operacao): readonly EventoEstado[] {
  const moves: readonly EventoMove[] = EVENTO_MOVES.filter(({ on }) => on === OPERACOES[operacao]);
  return moves.flatMap(({ from }) => from ?? []);
}

export type Movido = {
  readonly evento: EventoPublico;
  /** The national environment may have received it before, and then it holds there. */
  readonly mayBeThere: boolean;
  /** It changes nothing else, but it stands on the note, and others are judged by it. */
  readonly stands: boolean;
};

/** Of `mensagem_retorno`, where the integrator reads it. */
const MOTIVO_MAX = 255;

/** What the integrator reads of an end that the operator gave no reason for; the other moves are not ends. */
const UNSAID: Readonly<Partial<Record<Operacao, string>>> = {
  cancelar: 'Retirado pela prefeitura antes do envio.',
  dispensar: 'Envio dispensado pela prefeitura.',
};

/** Why an operator does something, and who it is by their name on the machine: no more is kept of a person. */
export type PorOperador = { readonly motivo: string | undefined; readonly quem: string };

function readMotivo(motivo: string | undefined): { readonly mensagem: string | undefined } | Problem {
  const mensagem = motivo?.trim();
  if (mensagem === '') return { problem: '--motivo está vazio. Escreva-o, ou retire a opção.' };
  if (mensagem !== undefined && mensagem.length > MOTIVO_MAX) {
    return { problem: `--motivo tem ${mensagem.length} caracteres; cabem ${MOTIVO_MAX}.` };
  }
  return { mensagem };
}

/** Makes a move of the operator, or tells why the machine does not have it. */
export async function operateEvento(
  world: RegistryWorld,
  slug: string,
  id: string,
  { operacao, motivo, quem }: PorOperador & { readonly operacao: Operacao },
): Promise<Movido | Problem> {
  const read = readMotivo(motivo);
  if ('problem' in read) return read;
  const { mensagem } = read;
  const found = await eventoNamed(world, slug, id);
  if ('problem' in found) return found;
  const { row, tenant } = found;
  if (operacao === 'arquivar' && row.arquivado_em !== null) {
    const em = isoMoment(momentIn(zoneOf(row.chave_acesso.slice(0, 7)), row.arquivado_em.getTime()));
    return { problem: `${calledEvento(publicEvento(row, world.now()))} já está arquivado, desde ${em}.` };
  }
  const moved = await world.store.eventos.move(
    tenant,
    row.id,
    OPERACOES[operacao],
    world.now(),
    mensagem ?? UNSAID[operacao],
    quem,
  );
  if (moved === undefined) return { problem: `Não há evento ${id} em ${slug}. ${HOW_TO_FIND(slug)}` };
  const shown = publicEvento(row, world.now());
  if ('found' in moved) return { problem: whyNot(slug, shown, { ...row, estado: moved.found }, operacao) };
  if ('conflict' in moved) {
    if (moved.conflict === 'nota_cancelada') {
      const problem = `${calledEvento(shown)} cancelaria uma nota que já está cancelada, e o ADN o recusaria. O que se pode fazer com ele: nfse evento dispensar ${id} --municipio ${slug}.`;
      return { problem };
    }
    const other = publicEvento(moved.evento, world.now());
    return {
      problem: `${calledEvento(shown)} seria um segundo cancelamento a caminho da mesma nota: o evento ${other.id_evento} (${other.tipo_evento} nº ${other.numero_sequencial}) está ${other.status_evento}. Espere que ele conclua, ou encerre-o antes.`,
    };
  }
  const last = (await world.store.eventos.listTrail(tenant, row.id)).at(-1);
  return {
    evento: publicEvento(moved.evento, world.now()),
    mayBeThere: operacao === 'dispensar' && last?.de !== 'pendente' && last?.de !== 'aguardando_autorizacao_nota',
    stands: await standsNow(world, tenant, moved.evento),
  };
}

export type Arquivados = {
  /** Refusals that the filter names. */
  readonly eventos: number;
  readonly isDone: boolean;
};

/**
 * Files all the refusals that a filter names, where they are as many as the operator has said; otherwise nothing is done, and
 * how many there are is told.
 */
export async function arquivarEventos(
  world: RegistryWorld,
  slug: string,
  filtro: FiltroDeProblemas,
  { confirmados, motivo, quem }: PorOperador & { readonly confirmados: number | undefined },
): Promise<Arquivados | Problem> {
  const read = readMotivo(motivo);
  if ('problem' in read) return read;
  const { tenant } = await municipioNamed(world, slug);
  const filter = await filterOf(world, slug, tenant, { ...filtro, estado: 'rejeitado' });
  if ('problem' in filter) return filter;
  const now = world.now();
  if (confirmados === undefined || confirmados === 0) {
    const found = await world.store.eventos.countProblemas(tenant, stuckBefore(now), filter);
    return { eventos: found.reduce((sum, { eventos }) => sum + eventos, 0), isDone: false };
  }
  const by = { mensagem: read.mensagem, quem };
  const eventos = await world.store.eventos.archive(tenant, filter, confirmados, now, by);
  return { eventos, isDone: eventos === confirmados };
}

async function standsNow({ store }: RegistryWorld, tenant: string, { id, nota }: EventoRow): Promise<boolean> {
  const onNota = (await store.eventos.listOnNotas(tenant, [nota])).get(nota) ?? [];
  return standingOn(onNota.map(naNota)).some((one) => one.id === id);
}

/** `O evento 12 (cancelamento nº 1)` */
export function calledEvento({
  id_evento,
  tipo_evento,
  numero_sequencial,
}: Pick<EventoPublico, 'id_evento' | 'tipo_evento' | 'numero_sequencial'>): string {
  return `O evento ${id_evento} (${tipo_evento} nº ${numero_sequencial})`;
}

function whyNot(slug: string, evento: EventoPublico, row: Movable, operacao: Operacao): string {
  const { estado } = row;
  const possible = operacoesOn(row).map((one) => `nfse evento ${one} ${evento.id_evento} --municipio ${slug}`);
  const instead =
    possible.length > 0
      ? `O que se pode fazer com ele: ${possible.join('; ')}.`
      : EVENTO_ESTADOS[estado].rests
        ? 'Ele chegou ao fim, e não há mais o que fazer com ele.'
        : 'Espere a resposta do ADN: o serviço insiste sozinho.';
  return `${calledEvento(evento)} está ${estado}, e ${operacao} só se pode de ${listed(statesOf(operacao))}. ${estado}: ${lowered(EVENTO_ESTADOS[estado].significado.replaceAll('`', ''))} ${instead}`;
}

function listed(names: readonly string[]): string {
  return names.length === 1 ? names[0]! : `${names.slice(0, -1).join(', ')} ou ${names.at(-1)}`;
}

function lowered(sentence: string): string {
  return `${sentence.charAt(0).toLowerCase()}${sentence.slice(1)}`;
}
