/** Reasons against an event: the events on its note, and an unsuitable substitute. */

import type { Municipio } from '../../base/book/municipios.ts';
import type { EventoOnNota, NotaForEvento } from '../../base/book/on-notas.ts';
import { answerInTime, toEventoNaNota } from '../../base/world/gather-facts.ts';
import type { World } from '../../base/world/world.ts';
import { readOwnNote } from '../../documents/own-note.ts';
import { isKeyOfOther } from '../../fiscal/chave.ts';
import {
  conflictOf,
  type EventoAchado,
  type EventoSuposto,
  explainMissing,
  findMissing,
  listStanding,
  refuseBesideOpen,
  refuseOnCancelled,
} from '../../fiscal/conflitos-evento.ts';
import type { Aviso, Fault } from '../../fiscal/fault.ts';
import type { PedidoEvento } from '../../fiscal/pedido-evento.ts';
import { BASE } from '../../fiscal/pedido-names.ts';
import { type TipoEvento, tipoByCodigo } from '../../fiscal/tipos-evento.ts';
import type { EventoNovo } from './register.rows.ts';

/** The faults from the events on the note and from an unsuitable substitute, as far as the request is known. */
export async function reasonsAgainst(
  world: Pick<World, 'store'>,
  municipio: Municipio,
  nota: NotaForEvento,
  { tipo, campos }: PedidoEvento,
  autor: string,
): Promise<readonly Fault[]> {
  const { codigo } = tipo;
  const [conflict, substitution] = await Promise.all([
    answerInTime(async () => findConflict(world, municipio, nota, { codigo, autor, campos })),
    answerInTime(async () => judgeSubstituta(world, municipio, nota, tipo, campos)),
  ]);
  const answers = [
    conflict?.answer,
    substitution && 'fault' in substitution.answer ? substitution.answer.fault : undefined,
  ];
  return answers.filter((fault) => fault !== undefined);
}

export const AT_TIPO = { xpath: BASE, campo: 'tipo_evento' } as const;

/** E302, an open cancellation, or a conflict with the events on the note. */
export async function findConflict(
  { store }: Pick<World, 'store'>,
  { tenant }: Municipio,
  nota: NotaForEvento,
  chega: Pick<EventoNovo, 'autor' | 'campos'> & { readonly codigo: string },
): Promise<Fault | undefined> {
  const tipo = tipoByCodigo(chega.codigo)!;
  if (nota.estado === 'cancelada') return { ...refuseOnCancelled(tipo.codigo), ...AT_TIPO };
  if (nota.estado === 'recusada') return describeRefusedNota(tipo);
  const open = tipo.cancela ? nota.eventos.find(isOpenCancelamento) : undefined;
  if (open !== undefined) return { ...refuseBesideOpen(toEventoNaNota(open)), ...AT_TIPO };
  const onNote = listStanding(nota.eventos.map(toEventoNaNota));
  const arriving = { ...chega, chave_acesso: nota.chave_acesso };
  const conflict = conflictOf(onNote, arriving);
  if (conflict === undefined) return undefined;
  const missed = findMissing(conflict, arriving);
  const found = missed && (await missedEvento(store, tenant, nota.chave_acesso, missed));
  return { ...(found === undefined ? conflict : explainMissing(conflict, arriving, found)), ...AT_TIPO };
}

/**
 * The last event that the refused one requires, without effect so far. Undefined: there is none, or one is processed and the refusal has
 * another reason.
 */
async function missedEvento(
  store: World['store'],
  tenant: string,
  chave: string,
  { codigo, numero_sequencial }: EventoSuposto,
): Promise<EventoAchado | undefined> {
  const rows = (await store.eventos.listOf(tenant, chave, { codigo, sequencial: numero_sequencial }))!;
  const row = rows.at(-1);
  if (row === undefined || rows.some(({ estado }) => estado === 'processado')) return undefined;
  return { ...toEventoNaNota(row), hasRetry: row.due_at !== null };
}

/** The reference of a replacement is checked both ways: the substitute's own DPS must name the replaced note. */
export async function judgeSubstituta(
  world: Pick<World, 'store'>,
  { tenant }: Municipio,
  nota: NotaForEvento,
  { codigo }: TipoEvento,
  campos: PedidoEvento['campos'],
): Promise<{ readonly fault: Fault } | { readonly avisos: readonly Aviso[] }> {
  const chave = campos['chave_acesso_substituta'];
  if (chave === undefined) return { avisos: [] };
  const campo = 'chave_acesso_substituta';
  const place = { xpath: `${BASE}/e${codigo}/chSubstituta`, campo };
  const fault = (mensagem: string) => ({ fault: { codigo: 'E1310', ...place, mensagem, encontrado: chave } });
  if (chave === nota.chave_acesso) {
    return fault(`${campo} é a chave da própria nota que se cancela; informe a da nota que a substitui.`);
  }
  if (isKeyOfOther(chave, nota.prestador_cpf_cnpj)) {
    return fault(
      `A chave de ${campo} é de uma nota de outro prestador, e uma nota só se substitui por outra do mesmo. Copie a chave inteira da substituta.`,
    );
  }
  const substituta = await world.store.notas.findByChave(tenant, chave);
  if (substituta === undefined) {
    return fault(
      `Não há nota com a chave de ${campo} neste município. Emita primeiro a substituta, com o grupo subst.`,
    );
  }
  if (substituta.estado === 'recusada' || substituta.estado === 'cancelada') {
    const what = substituta.estado === 'recusada' ? 'foi recusada pelo ADN, ou retirada' : 'está cancelada';
    return fault(`A nota de ${campo} ${what}, e não substitui outra. Emita uma nova substituta, com o grupo subst.`);
  }
  const inSubstituta = readOwnNote(Buffer.from(substituta.nfse));
  const [substitui, motivo] = ['chSubstda', 'cMotivo'].map((name) => inSubstituta(`DPS/infDPS/subst/${name}`));
  const declared = campos['codigo_motivo_cancelamento'];
  if (substitui === nota.chave_acesso && declared === motivo) {
    return {
      avisos: substituta.estado === 'autorizada' ? [] : [{ codigo: 'E1308', ...place, mensagem: SUBSTITUTA_AFTER }],
    };
  }
  if (substitui === nota.chave_acesso) {
    const fault = {
      codigo: 'E1310',
      xpath: `${BASE}/e${codigo}/cMotivo`,
      campo: 'codigo_motivo_cancelamento',
      mensagem: `O motivo do evento é ${declared}, e a DPS da nota substituta diz subst/cMotivo ${motivo}: é um só motivo. Registre o evento com ${motivo}.`,
      encontrado: declared ?? '',
      esperado: motivo ?? '',
    };
    return { fault };
  }
  return fault(
    substitui === undefined
      ? `A DPS da nota de ${campo} não traz o grupo subst, que diz qual nota ela substitui. Emita a substituta com subst/chSubstda igual a ${nota.chave_acesso}.`
      : `A nota de ${campo} substitui outra: a sua DPS traz subst/chSubstda ${substitui}, e esta nota é ${nota.chave_acesso}.`,
  );
}

/** The national environment requires this order (E1308); whether it will take the substitute is still unknown. */
const SUBSTITUTA_AFTER =
  'A nota substituta ainda não foi autorizada: ela segue depois deste evento, que é a ordem do ADN. Se o ADN então a recusar, esta nota continua cancelada; emita a nota corrigida sem o grupo subst, que já não há o que substituir.';

/**
 * Warns when substitutes lose the note that they replace, by another cancellation or another substitute. The environment then refuses them
 * (E0046, E1310).
 */
export function warnOfSubstitutas(
  { substitutas }: NotaForEvento,
  { cancela }: TipoEvento,
  { chave_acesso_substituta }: PedidoEvento['campos'],
): readonly Aviso[] {
  const left = cancela ? substitutas.filter((chave) => chave !== chave_acesso_substituta) : [];
  const isPlain = chave_acesso_substituta === undefined;
  return left.map((chave) => ({
    codigo: isPlain ? 'E0046' : 'E1310',
    xpath: BASE,
    campo: isPlain ? 'tipo_evento' : 'chave_acesso_substituta',
    mensagem: `A nota ${chave} substitui esta e espera pelo evento cancelamento_por_substituicao que traga a chave dela. Com este evento processado o ADN a recusa, e a série e o número dela ficam livres: emita-a então sem o grupo subst.`,
  }));
}

export function describeRefusedNota({ slug }: TipoEvento): Fault {
  const mensagem = `O ADN recusou esta nota, ou o município a retirou, e não se registra ${slug} nela: ela não tem efeito. A sua série e o seu número estão livres.`;
  return { codigo: 'E1831', xpath: `${BASE}/chNFSe`, mensagem };
}

/** Whether an event is a cancellation under way. */
export function isOpenCancelamento({ codigo_tipo_evento, isDue }: EventoOnNota): boolean {
  return isDue && tipoByCodigo(codigo_tipo_evento)?.cancela === true;
}
