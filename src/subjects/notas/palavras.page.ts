/** The console's words about notes: states, and the reasons of their moves. */
import type { Estado } from '../../base/pages/fields.ts';
import type { NotaEstado, NotaTrigger } from '../../fiscal/nota.ts';

export const ESTADOS: Readonly<Record<NotaEstado, Estado>> = {
  emitida: { nome: 'à espera do ADN', tom: 'aviso' },
  retida: { nome: 'retida: falta uma alíquota', tom: 'aviso' },
  transmitida: { nome: 'enviada ao ADN, sem resposta', tom: 'aviso' },
  autorizada: { nome: 'autorizada', tom: 'bom' },
  recusada: { nome: 'recusada', tom: 'erro' },
  cancelada: { nome: 'cancelada', tom: 'erro' },
};

/** The reason of each move. */
export const GATILHOS: Readonly<Record<NotaTrigger, string>> = {
  emissao: 'a declaração foi aceita',
  retencao: 'falta uma alíquota publicada',
  publicacao: 'a alíquota foi publicada',
  divergencia: 'o que declara diverge do cálculo oficial',
  anuncio: 'vai ao ADN',
  autorizacao: 'o ADN a autorizou',
  recusa: 'o ADN a recusou',
  adiamento: 'o ADN não respondeu, e se tenta de novo',
  espera: 'espera o evento da nota que substitui',
  cancelamento: 'um evento a cancelou',
  retirada: 'a prefeitura a retirou',
};
