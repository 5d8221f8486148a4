/** The printed form of a note: which notes have one, and the later changes that it shows. */

import type { NotaRow } from '../../base/book/nota-columns.ts';
import { proximaDaNota } from '../../base/world/proxima-consulta.ts';
import type { World } from '../../base/world/world.ts';
import { consultaPublica, renderDanfse, type SituacaoImpressa } from '../../documents/danfse.ts';
import { printAside } from '../../documents/print-aside.ts';
import type { Fault, Refusal } from '../../fiscal/fault.ts';
import { NOTA_ESTADOS } from '../../fiscal/nota.ts';
import { tipoNamed } from '../eventos/queries.ts';
import type { Municipio } from './queries.ts';

export { consultaPublica };

export type Danfse =
  | { readonly pdf: Buffer }
  /** `proxima`: when to ask again, in milliseconds; undefined: the note will never have one. */
  | (Refusal & { readonly proxima: number | undefined });

type Print = (nfse: string, situacao: SituacaoImpressa | undefined) => Buffer | Promise<Buffer>;

/** The DANFSe of a note, made in this thread; a refusal: the note is not authorised; undefined: there is no such note. */
export async function danfseOfNota(
  world: Pick<World, 'store' | 'now'>,
  municipio: Municipio,
  chave: string,
): Promise<Danfse | undefined> {
  return findDanfse(world, municipio, chave, (nfse, situacao) => renderDanfse(Buffer.from(nfse), situacao));
}

/** The same for a thread that issues: the page is made in another one. */
export async function danfseAside(
  world: Pick<World, 'store' | 'now'>,
  municipio: Municipio,
  chave: string,
): Promise<Danfse | undefined> {
  return findDanfse(world, municipio, chave, printAside);
}

async function findDanfse(
  { store, now }: Pick<World, 'store' | 'now'>,
  { tenant }: Municipio,
  chave: string,
  print: Print,
): Promise<Danfse | undefined> {
  const row = await store.notas.findByChave(tenant, chave);
  if (row === undefined) return undefined;
  const { estado, nfse } = row;
  const { chave_acesso_provisoria, rests } = NOTA_ESTADOS[estado];
  if (chave_acesso_provisoria) {
    const proxima = rests ? undefined : proximaDaNota(row, now());
    return { faults: [whyNoDanfse(row, proxima !== undefined)], proxima };
  }
  if (estado !== 'cancelada') return { pdf: await print(nfse, undefined) };
  const substitutions = await store.eventos.listOf(tenant, chave, { codigo: SUBSTITUICAO });
  const wasReplaced = substitutions!.some((evento) => evento.estado === 'processado');
  const situacao: SituacaoImpressa = wasReplaced ? 'substituida' : 'cancelada';
  return { pdf: await print(nfse, situacao) };
}

const SUBSTITUICAO = tipoNamed('cancelamento_por_substituicao')!.codigo;

/** `goesOn`: the note may still be authorised. */
function whyNoDanfse({ estado, mensagem_retorno: retorno }: NotaRow, goesOn: boolean): Fault {
  const { status, protocolo } = NOTA_ESTADOS[estado];
  const state = `nota.status é ${status}, e protocolo.status, ${protocolo}`;
  if (estado === 'retida') {
    const mensagem = `A nota existe e ainda não foi enviada ao ADN (${state}), e só a nota autorizada tem DANFSe. ${retorno ?? ''}`;
    return { codigo: 'E703', xpath: '', mensagem: mensagem.trimEnd() };
  }
  if (goesOn) {
    const mensagem = `A nota existe, mas o ADN ainda não a autorizou (${state}), e só a nota autorizada tem DANFSe. Consulte a nota por esta chave até que nota.status seja autorizada, e peça o PDF de novo.`;
    return { codigo: 'E703', xpath: '', mensagem };
  }
  const reason = retorno === null ? '' : ` Motivo: ${retorno.replace(/[.\s]*$/, '')}.`;
  const mensagem = `O ADN recusou esta nota, ou o município a retirou, ou o que ela declara diverge do cálculo oficial (${state}), que por isso não tem efeito nem DANFSe.${reason} Corrija a DPS e emita de novo: a série e o número estão livres.`;
  return { codigo: 'E1831', xpath: '', mensagem };
}
