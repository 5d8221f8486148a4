/** The console's words about acts by office: the name of each, its effect, its end, and its readers. */

import { facts } from '../../base/pages/fields.ts';
import { pathIn } from '../../base/pages/visit.ts';
import type { TipoEvento } from '../../fiscal/tipos-evento.ts';
import { html, type Inserted } from '../../published/site/page-shell.ts';

/** `faz`: its effect, in one sentence. `desfaz`: whether it can be undone. `veem`: its readers. */
type DeOficio = { readonly nome: string; readonly faz: string; readonly desfaz: string; readonly veem: string };

const NAO_SE_DESFAZ = 'Não se desfaz: nenhum evento devolve uma nota cancelada.';
const VEEM_CANCELADA =
  'O ADN recebe o evento. O tomador e quem mais consulta a nota a veem cancelada, e o prestador lê o evento e o motivo.';
const VEEM_EVENTO =
  'O ADN recebe o evento. O prestador e o tomador o leem entre os eventos da nota, que segue valendo.';

const DE_OFICIO: Readonly<Record<string, DeOficio>> = {
  cancelamento_deferido_por_analise_fiscal: {
    nome: 'Deferir o cancelamento',
    faz: 'Aceita o pedido de análise fiscal do prestador: a nota fica cancelada quando o ADN registra o evento.',
    desfaz: NAO_SE_DESFAZ,
    veem: VEEM_CANCELADA,
  },
  cancelamento_indeferido_por_analise_fiscal: {
    nome: 'Indeferir o cancelamento',
    faz: 'Recusa o pedido de análise fiscal do prestador: a nota segue valendo.',
    desfaz:
      'Não se desfaz: o prestador não a cancela nem a substitui mais, nem pede outra análise. A prefeitura ainda pode cancelá-la de ofício.',
    veem: VEEM_EVENTO,
  },
  confirmacao_tacita: {
    nome: 'Registrar a confirmação tácita',
    faz: 'Registra que o prazo das partes passou: elas já não confirmam nem rejeitam a nota, e o prestador não a cancela sem análise fiscal.',
    desfaz: 'Não se desfaz.',
    veem: VEEM_EVENTO,
  },
  anulacao_rejeicao: {
    nome: 'Anular uma rejeição',
    faz: 'Tira o efeito da rejeição de uma das partes: a nota segue valendo, sem ela.',
    desfaz: 'Não se desfaz: essa parte não rejeita a nota outra vez, e ainda pode confirmá-la.',
    veem: 'O prestador e o tomador leem a anulação entre os eventos da nota. O ADN só a recebe se recebeu a rejeição.',
  },
  cancelamento_por_oficio: {
    nome: 'Cancelar de ofício',
    faz: 'Cancela a nota por um processo da prefeitura, sem pedido do prestador, quando o ADN registra o evento.',
    desfaz: NAO_SE_DESFAZ,
    veem: VEEM_CANCELADA,
  },
  bloqueio_por_oficio: {
    nome: 'Bloquear um tipo de evento',
    faz: 'A nota deixa de receber o tipo de evento que você escolher, um cancelamento por exemplo, e segue valendo.',
    desfaz: 'O bloqueio fica na nota; o seu efeito acaba com um desbloqueio.',
    veem: VEEM_EVENTO,
  },
  desbloqueio_por_oficio: {
    nome: 'Desbloquear',
    faz: 'A nota volta a receber o tipo de evento que um bloqueio impedia.',
    desfaz: 'Para impedi-lo outra vez, registra-se outro bloqueio.',
    veem: VEEM_EVENTO,
  },
};

export function describeDeOficio({ slug }: TipoEvento): DeOficio {
  return DE_OFICIO[slug]!;
}

/** Address of the form of acts by office. */
export const OFICIO_PATH = '/eventos/oficio';

/** The acts by office on a note, each with its sentence; each leads to its form. */
export function listAtos(slug: string, chave: string, atos: readonly TipoEvento[]): Inserted {
  if (atos.length === 0) return undefined;
  return facts(
    atos.map((tipo): [Inserted, Inserted] => {
      const { nome, faz } = describeDeOficio(tipo);
      return [html`<a href="${pathIn(slug, OFICIO_PATH, { chave, tipo: tipo.slug })}">${nome}</a>`, faz];
    }),
  );
}
