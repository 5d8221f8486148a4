/** The matters that wait for the municipality: the kinds, the persons in charge, and the remarks of colleagues. */

import type { NovoAto } from '../../base/book/atos.ts';
import type { Municipio } from '../../base/book/municipios.ts';
import { avisosDeAliquotas } from '../../base/world/avisos-aliquotas.ts';
import { needOpen } from '../../base/world/fechado.ts';
import { municipalMoment } from '../../base/world/gather-facts.ts';
import { inspectAdn } from '../../base/world/municipio-files.ts';
import { municipioNamed, type RegistryWorld } from '../../base/world/municipios.ts';
import { needMotivo, type PorMao, type Problem, readMotivo } from '../../base/world/operator.ts';
import { openTrust } from '../../documents/trust.ts';
import { AMBIENTES } from '../../fiscal/ambiente.ts';
import { whyNoChave } from '../../fiscal/chave.ts';
import { brazilianMoment, DAY_MS } from '../../fiscal/moment.ts';
import { tipoByCodigo } from '../../fiscal/tipos-evento.ts';
import { type EventoPublico, eventosOfNota, findRegistrador } from '../eventos/queries.ts';
import { CONTADAS_MAX, type PendenciaRow, TIPOS_NO_BANCO, type TipoNoBanco } from './pendencias.rows.ts';

/** The kinds that are read from files and tables of the municipality. */
const TIPOS_DE_ARQUIVOS = ['certificado', 'lista', 'aliquota'] as const;

export type TipoDePendencia = TipoNoBanco | (typeof TIPOS_DE_ARQUIVOS)[number];

/** `fazer`: the possible acts; `senao`: the effect of none. `encerra`: a person may put the matter aside. */
type Tipo = { readonly nome: string; readonly fazer: string; readonly senao: string; readonly encerra?: true };

/** The kinds, in the order of the page. */
export const TIPOS_DE_PENDENCIA: Readonly<Record<TipoDePendencia, Tipo>> = {
  analise_fiscal: {
    nome: 'Pedidos de análise fiscal',
    fazer: 'Deferir ou indeferir o cancelamento que o prestador pede.',
    senao: 'A nota segue valendo, e o prestador fica sem resposta.',
  },
  rejeicao: {
    nome: 'Rejeições de tomador ou intermediário',
    fazer: 'Ouvir as partes; depois anular a rejeição, cancelar a nota de ofício, ou dar o caso por visto.',
    senao: 'A nota segue valendo, e a rejeição fica registrada nela.',
    encerra: true,
  },
  nota_recusada: {
    nome: 'Notas recusadas depois de emitidas',
    fazer: 'Avisar o prestador, que corrige a declaração e emite de novo: a série e o número estão livres.',
    senao:
      'O tomador pode ter na mão uma nota que não vale. Sai da lista quando a nota é emitida de novo, ou em 30 dias.',
    encerra: true,
  },
  evento: {
    nome: 'Eventos que não deram certo',
    fazer: 'Ler o motivo na página do evento, e reprocessar, dispensar ou arquivar.',
    senao: 'O evento não vale no ADN.',
  },
  oficio: {
    nome: 'Atos de ofício a caminho',
    fazer: 'Nada, de início: o serviço os envia. Se um dura, a página do evento diz por quê.',
    senao: 'O ato não vale enquanto o ADN não o registra.',
  },
  bloqueio: {
    nome: 'Bloqueios em vigor',
    fazer: 'Desbloquear a nota quando a fiscalização acabar.',
    senao: 'A nota continua sem poder receber o evento bloqueado.',
  },
  nota_retida: {
    nome: 'Notas retidas',
    fazer: 'Pedir a quem opera o serviço que importe a alíquota que falta.',
    senao: 'A nota não vai ao ADN até lá; depois segue sozinha.',
  },
  certificado: {
    nome: 'Certificado perto do fim',
    fazer:
      'Comprar outro, do mesmo CNPJ, e enviá-lo em Município, Certificados; o administrador do município o põe em uso.',
    senao: 'Vencido o certificado, nada é transmitido.',
  },
  lista: {
    nome: 'Listas de revogados perto do fim',
    fazer: 'Pedir a quem opera o serviço que ponha a lista nova na pasta.',
    senao: 'Um certificado revogado há pouco ainda seria aceito.',
  },
  aliquota: {
    nome: 'Alíquotas que faltam',
    fazer: 'Pedir a quem opera o serviço que importe a tabela, assim que o ato é publicado.',
    senao: 'As notas que dependem dela são emitidas e ficam retidas.',
  },
};

export const TIPOS = Object.keys(TIPOS_DE_PENDENCIA) as readonly TipoDePendencia[];

export function isTipo(text: string): text is TipoDePendencia {
  return Object.hasOwn(TIPOS_DE_PENDENCIA, text);
}

function isNoBanco(tipo: TipoDePendencia): tipo is TipoNoBanco {
  return TIPOS_NO_BANCO.some((one) => one === tipo);
}

export type Pendencia = {
  readonly tipo: TipoDePendencia;
  readonly chave: string;
  /** `DD/MM/AAAA HH:MM:SS` of the municipality; undefined: not known. */
  readonly desde: string | undefined;
  readonly oQue: string;
  /** The provider of the note; undefined: the matter is of the municipality itself. */
  readonly deQuem: string | undefined;
  /** Access key of its note, and `id` of its event. */
  readonly nota: string | undefined;
  readonly evento: { readonly id: string; readonly codigo: string; readonly sequencial: number } | undefined;
  /** Login of the person who sees to it. */
  readonly responsavel: string | undefined;
};

/** `responsavel`: a login; empty: nobody. Undefined criteria match all. */
export type FiltroDePendencias = {
  readonly tipo?: TipoDePendencia | undefined;
  readonly responsavel?: string | undefined;
};

export type PendenciasDoTipo = {
  readonly tipo: TipoDePendencia;
  /** All of the kind, beyond the filter too; at most {@link CONTADAS_MAX} and one more. */
  readonly quantas: number;
  readonly pendencias: readonly Pendencia[];
};

export type PendenciasWorld = RegistryWorld & {
  readonly trust?: (municipio: Municipio) => Pick<ReturnType<typeof openTrust>, 'lists'>;
};

/** Lines of each kind where all are shown, and where one is. */
const DE_CADA_MAX = 10;
const DE_UM_MAX = 100;
const CERTIFICADO_DIAS = 30;
const LISTA_DIAS = 3;

/** The kinds that have matters. Throws an Error in Portuguese when there is no such municipality. */
export async function listPendencias(
  world: PendenciasWorld,
  slug: string,
  { tipo, responsavel }: FiltroDePendencias,
): Promise<readonly PendenciasDoTipo[]> {
  const municipio = await municipioNamed(world, slug);
  const { tenant } = municipio;
  const max = tipo === undefined ? DE_CADA_MAX : DE_UM_MAX;
  const wanted = TIPOS.filter((one) => tipo === undefined || one === tipo);
  const counts = await world.store.pendencias.count(tenant, world.now());
  const listed = wanted.map(async (one): Promise<PendenciasDoTipo> => {
    if (!isNoBanco(one)) {
      const all = await listOfFiles(world, municipio, one);
      const some = all.filter((each) => responsavel === undefined || (each.responsavel ?? '') === responsavel);
      return { tipo: one, quantas: all.length, pendencias: some };
    }
    const quantas = counts[one];
    if (quantas === 0) return { tipo: one, quantas, pendencias: [] };
    const rows = await world.store.pendencias.list(tenant, one, world.now(), { responsavel }, max);
    return { tipo: one, quantas, pendencias: rows.map((row) => readRow(municipio, one, row)) };
  });
  return (await Promise.all(listed)).filter(({ quantas }) => quantas > 0);
}

/** The number of matters of each kind in notes and events, each at most {@link CONTADAS_MAX} and one more. */
export function countPendencias(
  { store, now }: Pick<RegistryWorld, 'store' | 'now'>,
  tenant: string,
): Promise<Readonly<Record<TipoNoBanco, number>>> {
  return store.pendencias.count(tenant, now());
}

/** Matters of one kind in notes and events, the oldest first. */
export async function listOfTipo(
  { store, now }: Pick<RegistryWorld, 'store' | 'now'>,
  municipio: Municipio,
  tipo: TipoNoBanco,
  max: number,
): Promise<readonly Pendencia[]> {
  const rows = await store.pendencias.list(municipio.tenant, tipo, now(), {}, max);
  return rows.map((row) => readRow(municipio, tipo, row));
}

/** One matter; undefined: it is none any more. */
export async function findPendencia(
  world: PendenciasWorld,
  slug: string,
  tipo: TipoDePendencia,
  chave: string,
): Promise<Pendencia | undefined> {
  const municipio = await municipioNamed(world, slug);
  if (!isNoBanco(tipo)) return (await listOfFiles(world, municipio, tipo)).find((one) => one.chave === chave);
  const [row] = await world.store.pendencias.list(municipio.tenant, tipo, world.now(), { chave }, 1);
  return row && readRow(municipio, tipo, row);
}

/** A count in words, up to the limit of the counts. */
export function tellQuantas(quantas: number): string {
  return quantas > CONTADAS_MAX ? `mais de ${CONTADAS_MAX.toLocaleString('pt-BR')}` : quantas.toLocaleString('pt-BR');
}

function readRow({ codigoIbge }: Municipio, tipo: TipoNoBanco, row: PendenciaRow): Pendencia {
  const { chave, desde, chave_acesso, prestador, evento, codigo_tipo_evento, numero_sequencial, responsavel } = row;
  return {
    ...{ tipo, chave, desde: brazilianMoment(municipalMoment(codigoIbge, +desde)) },
    oQue: describeRow(tipo, row),
    ...{ deQuem: prestador, nota: chave_acesso, responsavel: responsavel ?? undefined },
    evento: evento === null ? undefined : { id: evento, codigo: codigo_tipo_evento!, sequencial: numero_sequencial! },
  };
}

/** The kind of an event with its reasons in words; of a refusal, the answer of the ADN. */
function describeRow(tipo: TipoNoBanco, { codigo_tipo_evento, campos, mensagem }: PendenciaRow): string {
  const type = codigo_tipo_evento === null ? undefined : tipoByCodigo(codigo_tipo_evento);
  if (type === undefined) return mensagem ?? '';
  const reasons = type.campos.flatMap(({ nome, opcoes }) => {
    const value = campos?.[nome];
    if (value === undefined) return [];
    const meaning = opcoes?.find(({ codigo }) => codigo === value)?.descricao;
    return meaning !== undefined ? [meaning] : nome.startsWith('descricao_') ? [value] : [];
  });
  const said = tipo === 'evento' && mensagem !== null ? [mensagem] : reasons;
  return [type.descricao, ...said].join(': ');
}

async function listOfFiles(
  world: PendenciasWorld,
  municipio: Municipio,
  tipo: (typeof TIPOS_DE_ARQUIVOS)[number],
): Promise<readonly Pendencia[]> {
  const found = await FROM_FILES[tipo](world, municipio);
  if (found.length === 0) return [];
  const responsaveis = await world.store.pendencias.findResponsaveis(municipio.tenant, tipo);
  const none = { desde: undefined, deQuem: undefined, nota: undefined, evento: undefined };
  return found.map(([chave, oQue]) => ({ tipo, chave, oQue, responsavel: responsaveis.get(chave), ...none }));
}

type Found = readonly (readonly [chave: string, oQue: string])[];

const FROM_FILES: Readonly<
  Record<(typeof TIPOS_DE_ARQUIVOS)[number], (world: PendenciasWorld, municipio: Municipio) => Promise<Found>>
> = {
  certificado: async (world, { ambiente, adn, confianca }) => {
    if (adn === undefined || !AMBIENTES[ambiente].transmits) return [];
    const { certificado } = await inspectAdn(adn, confianca, world.now());
    if (certificado === undefined || certificado.dias >= CERTIFICADO_DIAS) return [];
    const { fim, dias } = certificado;
    return [
      [
        'adn',
        dias < 0 ? `O certificado do município venceu em ${fim}.` : `O certificado do município vence em ${fim}.`,
      ],
    ];
  },
  lista: async (world, municipio) => {
    const trust = world.trust?.(municipio) ?? openTrust(municipio.confianca, { warn: () => undefined });
    return (trust.lists() ?? []).flatMap(({ emissor, proxima }): Found => {
      if (proxima === undefined || proxima - world.now() >= LISTA_DIAS * DAY_MS) return [];
      const at = brazilianMoment(municipalMoment(municipio.codigoIbge, proxima));
      return [[emissor, `A lista de "${emissor}" ${proxima < world.now() ? 'venceu' : 'vence'} em ${at}.`]];
    });
  },
  aliquota: async (world) => (await avisosDeAliquotas(world, 'painel')).map((oQue) => [oQue.split(' ', 1)[0]!, oQue]),
};

// Acts by office on the note of a matter.

/** An event by office, and the person who registered it. */
export type AtoNaNota = { readonly evento: EventoPublico; readonly quem: string | undefined };

/** Events by office on the note of a matter, the newest first; on the note of an event, those since that event. */
export async function listAtosNaNota(
  world: PendenciasWorld,
  slug: string,
  { tipo, chave }: Pick<Pendencia, 'tipo' | 'chave'>,
): Promise<readonly AtoNaNota[]> {
  const municipio = await municipioNamed(world, slug);
  if (!isNoBanco(tipo)) return [];
  const first = EVENTO_ID.test(chave) ? await world.store.eventos.findById(municipio.tenant, chave) : undefined;
  const nota = first?.chave_acesso ?? chave;
  if (whyNoChave(nota) !== undefined) return [];
  const eventos = (await eventosOfNota(world, municipio, nota))?.eventos ?? [];
  const atos = eventos.filter(
    ({ codigo_tipo_evento, id_evento }) =>
      tipoByCodigo(codigo_tipo_evento)!.porOficio && id_evento >= Number(first?.id ?? 0),
  );
  return Promise.all(
    atos.map(async (evento) => ({
      evento,
      quem: await findRegistrador(world, municipio.tenant, String(evento.id_evento)),
    })),
  );
}

/** The number of an event, within a bigint. */
const EVENTO_ID = /^[1-9]\d{0,17}$/;

// Acts on a matter.

/** An act on a matter: a new person in charge by login, a remark, or its end. */
export type AtoNaPendencia =
  | { readonly acao: 'atribuir'; readonly responsavel: string | undefined }
  | { readonly acao: 'anotar' }
  | { readonly acao: 'encerrar' };

/** The key of a matter in the trail. */
export function keyInTrail({ tipo, chave }: Pick<Pendencia, 'tipo' | 'chave'>): string {
  return `${tipo} ${chave}`;
}

/** Acts on a matter. The reason is the remark, which colleagues read in its history. */
export async function actOnPendencia(
  world: PendenciasWorld,
  slug: string,
  { tipo, chave }: { readonly tipo: TipoDePendencia; readonly chave: string },
  ato: AtoNaPendencia,
  by: PorMao,
): Promise<Problem | { readonly feito: string }> {
  const municipio = await municipioNamed(world, slug);
  needOpen(municipio);
  const read = ato.acao === 'atribuir' ? readMotivo(by) : needMotivo(by);
  if ('problem' in read) return read;
  const found = await findPendencia(world, slug, tipo, chave);
  if (found === undefined) return { problem: 'Isto já não espera por ninguém: alguém o resolveu.' };
  if (ato.acao === 'encerrar' && TIPOS_DE_PENDENCIA[tipo].encerra !== true) {
    return { problem: 'Isto não se dá por visto: sai da lista quando se resolve.' };
  }
  const act = (acao: string, more: Pick<NovoAto, 'antes' | 'depois'> = {}): NovoAto => ({
    ...{ ...by, ...read, em: world.now(), objeto: 'pendencia', chave: keyInTrail({ tipo, chave }), acao },
    ...more,
  });
  if (ato.acao === 'anotar') {
    await world.store.atos.record(slug, [act('anotada')]);
    return { feito: 'A anotação foi guardada.' };
  }
  const { tenant } = municipio;
  const of = isNoBanco(tipo)
    ? (await world.store.pendencias.list(tenant, tipo, world.now(), { chave }, 1))[0]
    : undefined;
  const isEnd = ato.acao === 'encerrar';
  const responsavel = isEnd ? found.responsavel : ato.responsavel;
  const row = { tipo, chave, nota: of?.nota, mes: of?.mes, responsavel: responsavel ?? null };
  const change = { antes: { responsavel: found.responsavel ?? null }, depois: { responsavel: responsavel ?? null } };
  const told = isEnd ? act('encerrada') : act(responsavel === undefined ? 'devolvida' : 'atribuída', change);
  await world.store.pendencias.change(tenant, { ...row, encerradaEm: isEnd ? world.now() : undefined }, told);
  return { feito: isEnd ? 'Dado por visto: saiu da lista.' : 'Está gravado quem cuida disto.' };
}
