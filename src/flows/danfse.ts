/** The printed form of a note: which notes have one, and what has become of them since they were authorised. */
import { consultaPublica, renderDanfse, type SituacaoImpressa } from '../documents/danfse.ts';
import type { Refusal } from '../fiscal/fault.ts';
import { NOTA_ESTADOS } from '../fiscal/nota.ts';
import { tipoNamed } from './evento-queries.ts';
import { proximaDaNota } from './proxima-consulta.ts';
import type { Municipio } from './queries.ts';
import type { World } from './world.ts';

export { consultaPublica };

export type Danfse =
  | { readonly pdf: Buffer }
  /** `proxima`: when to ask again, in milliseconds; undefined: it will not have one later either. */
  | (Refusal & { readonly proxima: number | undefined });

/** The DANFSe of a note, a refusal when the note is not authorised; undefined when there is no such note. */
export async function danfseOfNota(
  { store, now }: Pick<World, 'store' | 'now'>,
  { tenant }: Municipio,
  chave: string,
): Promise<Danfse | undefined> {
  const row = await store.notas.findByChave(tenant, chave);
  if (row === undefined) return undefined;
  const { estado, id, nfse, mensagem_retorno } = row;
  if (NOTA_ESTADOS[estado].chave_acesso_provisoria) {
    const proxima = NOTA_ESTADOS[estado].rests ? undefined : proximaDaNota(row, now());
    const about = estado === 'retida' ? held : notAuthorized;
    return about(NOTA_ESTADOS[estado], mensagem_retorno, proxima);
  }
  if (estado !== 'cancelada') return { pdf: renderDanfse(nfse) };
  const substitutions = await store.eventos.listOfTipo(tenant, id, SUBSTITUICAO);
  const wasReplaced = substitutions.some((evento) => evento.estado === 'processado');
  const situacao: SituacaoImpressa = wasReplaced ? 'substituida' : 'cancelada';
  return { pdf: renderDanfse(nfse, situacao) };
}

const SUBSTITUICAO = tipoNamed('cancelamento_por_substituicao')!.codigo;

type Shown = (typeof NOTA_ESTADOS)[keyof typeof NOTA_ESTADOS];

function held({ status, protocolo }: Shown, retorno: string | null, proxima: number | undefined): Danfse {
  const state = `nota.status é ${status}, e protocolo.status, ${protocolo}`;
  const mensagem =
    `A nota existe e ainda não foi enviada ao ADN (${state}), e só a nota autorizada tem DANFSe. ${retorno ?? ''}`.trimEnd();
  return { faults: [{ codigo: 'E703', xpath: '', mensagem }], proxima };
}

function notAuthorized({ status, protocolo }: Shown, retorno: string | null, proxima: number | undefined): Danfse {
  const state = `nota.status é ${status}, e protocolo.status, ${protocolo}`;
  if (proxima !== undefined) {
    const mensagem = `A nota existe, mas o ADN ainda não a autorizou (${state}), e só a nota autorizada tem DANFSe. Consulte a nota por esta chave até que nota.status seja autorizada, e peça o PDF de novo.`;
    return { faults: [{ codigo: 'E703', xpath: '', mensagem }], proxima };
  }
  const reason = retorno === null ? '' : ` Motivo: ${retorno.replace(/[.\s]*$/, '')}.`;
  const mensagem = `O ADN recusou esta nota, ou o município a retirou, ou o que ela declara diverge do cálculo oficial (${state}), que por isso não tem efeito nem DANFSe.${reason} Corrija a DPS e emita de novo: a série e o número estão livres.`;
  return { faults: [{ codigo: 'E1831', xpath: '', mensagem }], proxima };
}
