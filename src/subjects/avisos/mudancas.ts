/** Changes of the notes and events of one CNPJ or CPF, in one permanent order. */

import { isMove } from '../../base/book/mudancas-novas.ts';
import type { Municipio } from '../../base/book/municipios.ts';
import { Waits } from '../../base/world/esperar.ts';
import { momentOfNota } from '../../base/world/gather-facts.ts';
import type { World } from '../../base/world/world.ts';
import { quoted, type Refusal } from '../../fiscal/fault.ts';
import { isoMoment } from '../../fiscal/moment.ts';
import { type ParteDaNota, TIPOS_MUDANCA, type TipoMudanca } from '../../fiscal/mudanca.ts';
import { NOTA_ESTADOS, type NotaEstado } from '../../fiscal/nota.ts';
import { tipoByCodigo } from '../../fiscal/tipos-evento.ts';
import { papeisOf } from '../partes/notas.ts';
import { type Lugar, type Mudanca, writeLugar } from './mudancas.rows.ts';
import { voltaOfBloco } from './voltas.rows.ts';

/** The names and the order are those of the public answer. */
export type MudancaPublica = {
  /** The same in every answer and message. */
  readonly id: string;
  readonly tipo: TipoMudanca;
  readonly em: string;
  /** The cursor after this change. */
  readonly cursor: string | null;
  readonly papeis: readonly ParteDaNota[];
  readonly chave_acesso: string;
  readonly numero_protocolo: string;
  readonly id_dps: string;
  readonly numero: string;
  readonly status: string;
  readonly evento: EventoMudado | null;
  /** Message of the state when the note reached it; null without one. */
  readonly mensagem: string | null;
};

export type EventoMudado = {
  readonly id_evento: number;
  readonly tipo_evento: string;
  readonly codigo_tipo_evento: string;
  readonly numero_sequencial: number;
  readonly status_evento: string;
};

const TIPOS: ReadonlySet<string> = new Set(TIPOS_MUDANCA);

/**
 * `cursor`: only where changes are listed in order. `bloco`: block of the place of a change. A database restored from a copy may repeat a
 * move's number, and the block tells both apart. `tipos`: names of the known kinds.
 */
type Contando = { readonly cursor: string | null; readonly bloco: number; readonly tipos?: ReadonlySet<string> };

/** The public form of a change; undefined: only a newer version can read it. Several changes that are no moves may share one number. */
export function mudancaPublica(
  mudou: Omit<Mudanca, 'ate'>,
  documento: string,
  { cursor, bloco, tipos = TIPOS }: Contando,
): MudancaPublica | undefined {
  const { item, id, movimento, em, para, nota, evento, estado, mensagem } = mudou;
  const tipo = evento && tipoByCodigo(evento.codigo_tipo_evento);
  const isKnown =
    tipos.has(mudou.tipo) && Object.hasOwn(NOTA_ESTADOS, estado) && (evento === undefined || tipo !== undefined);
  if (!isKnown) return undefined;
  return {
    id: [isMove(mudou) ? [item, id, movimento] : [mudou.tipo, id, movimento, em], voltaOfBloco(bloco) ?? []]
      .flat()
      .join('-'),
    tipo: mudou.tipo as TipoMudanca,
    em: isoMoment(momentOfNota(nota.chave_acesso, em)),
    cursor,
    papeis: papeisOf(nota, documento),
    chave_acesso: nota.chave_acesso,
    numero_protocolo: nota.numero_protocolo,
    id_dps: nota.id_dps,
    numero: nota.numero_dps,
    status: NOTA_ESTADOS[estado as NotaEstado].status,
    evento:
      evento === undefined || tipo === undefined
        ? null
        : {
            id_evento: Number(evento.id),
            tipo_evento: tipo.slug,
            codigo_tipo_evento: evento.codigo_tipo_evento,
            numero_sequencial: evento.numero_sequencial,
            status_evento: para,
          },
    mensagem,
  };
}

export type PaginaDeMudancas = {
  readonly mudancas: readonly MudancaPublica[];
  /** The cursor after them, to continue from. */
  readonly cursor: string;
  /** Whether there are more changes already. */
  readonly mais: boolean;
};

/** Start of a reader that wants new changes only. */
export const DESDE_AGORA = 'agora';

const CURSOR = /^m(\d{1,15})-(\d{1,9})$/;

/** The place of a reader's cursor, or the refusal. */
export async function readDesde(
  { store }: Pick<World, 'store'>,
  { tenant }: Municipio,
  desde: string | undefined,
): Promise<Lugar | Refusal> {
  const { ultimo, maisAntigo } = await store.mudancas.readBlocos(tenant);
  if (desde === undefined || desde === '') return { bloco: maisAntigo, lidas: 0 };
  if (desde === DESDE_AGORA) return { bloco: ultimo + 1, lidas: 0 };
  const [, bloco, lidas] = CURSOR.exec(desde) ?? [];
  if (bloco === undefined) {
    const mensagem = `O parâmetro desde é o cursor de uma resposta anterior, ou a palavra ${DESDE_AGORA}; sem ele, tudo desde o começo.`;
    return refuseDesde(mensagem, desde);
  }
  const place = { bloco: Number(bloco), lidas: Number(lidas) };
  if (place.bloco > ultimo + 1) {
    const mensagem =
      'Este cursor é de depois do que este município já contou: é de outro município, ou o banco de dados voltou a uma cópia anterior. Liste as notas do período (GET …/api/v1/notas), confira-as com as que tem, e continue de desde=agora.';
    return refuseDesde(mensagem, desde);
  }
  if (place.bloco < maisAntigo && (place.bloco < maisAntigo - 1 || place.lidas === 0)) {
    const mensagem =
      'Este cursor é de antes das mudanças mais antigas que ainda se contam. Liste as notas do período que falta (GET …/api/v1/notas) e continue daqui sem desde, ou de desde=agora.';
    return refuseDesde(mensagem, desde);
  }
  return place;
}

function refuseDesde(mensagem: string, sent: string): Refusal {
  return { faults: [{ codigo: 'E0002', xpath: '', mensagem, campo: 'desde', encontrado: quoted(sent) }] };
}

function tellAt(mudou: Mudanca, documento: string): MudancaPublica | undefined {
  return mudancaPublica(mudou, documento, { cursor: writeLugar(mudou.ate), bloco: mudou.ate.bloco });
}

/** A page, which ends before a change that only a newer version can read, with the place after it; 'newer': it would begin with one. */
type PaginaLida = (PaginaDeMudancas & { readonly lugar: Lugar }) | 'newer';

/** The changes of a document from a place on, at most `max`. */
export async function listMudancas(
  { store }: Pick<World, 'store'>,
  { tenant }: Municipio,
  documento: string,
  from: Lugar,
  max: number,
): Promise<PaginaLida> {
  // Read first: the list that is read next has all changes up to this block.
  const { ultimo } = await store.mudancas.readBlocos(tenant);
  const { mudancas, ate, isAll, isNewer } = await store.mudancas.list(tenant, documento, from, max);
  const told = mudancas.map((mudou) => tellAt(mudou, documento));
  const unknown = told.indexOf(undefined);
  if (unknown === 0 || (isNewer && told.length === 0)) return 'newer';
  if (unknown > 0) {
    const lugar = mudancas[unknown - 1]!.ate;
    return { mudancas: told.slice(0, unknown) as MudancaPublica[], cursor: writeLugar(lugar), mais: true, lugar };
  }
  const isBehind = ate === undefined || ate.bloco <= ultimo;
  const lugar = isAll && isBehind ? { bloco: Math.max(ultimo + 1, from.bloco), lidas: 0 } : (ate ?? from);
  return { mudancas: told as MudancaPublica[], cursor: writeLugar(lugar), mais: !isAll, lugar };
}

/** Key of a request that waits for changes of a document after a place. */
export function keyOfEspera(documento: string, { bloco, lidas }: Lugar): string {
  // A partly read block gets no more changes, so a new one comes in a later block.
  return `${documento} ${lidas > 0 ? bloco + 1 : bloco}`;
}

/** The keys whose document has changes. */
async function lookForMudancas(
  { store }: Pick<World, 'store'>,
  tenant: string,
  keys: readonly string[],
): Promise<readonly string[]> {
  const asked = keys.map((key) => {
    const [documento, bloco] = key.split(' ') as [string, string];
    return { key, documento, bloco: Number(bloco) };
  });
  const changed = await store.mudancas.listChanged(tenant, asked);
  return changed.map(({ key }) => key);
}

/** Waiting requests: for a note to be decided, by its key; for an event, by its id; for changes of a document, by `keyOfEspera`. */
export function openWaits(world: Pick<World, 'store'>): Readonly<Record<'notas' | 'eventos' | 'mudancas', Waits>> {
  return {
    eventos: new Waits((tenant, ids) => world.store.eventos.listDecided(tenant, ids)),
    notas: new Waits((tenant, chaves) => world.store.notas.listDecided(tenant, chaves)),
    mudancas: new Waits((tenant, keys) => lookForMudancas(world, tenant, keys)),
  };
}
