/** Counts the outcomes of delivered documents, under the name of each answer. */
import type { EventoAnswer, NotaAnswer } from '../../adn/adn.ts';
import { ownOf } from '../../fiscal/own.ts';
import { count, nameMunicipio } from '../measures/counters.ts';

const NAMES: Readonly<Record<NotaAnswer['kind'] | EventoAnswer['kind'], string>> = {
  accepted: 'aceita',
  refused: 'recusada',
  unknown: 'incerta',
  unavailable: 'nao_recebida',
  misconfigured: 'certificado_recusado',
  too_early: 'cedo_demais',
  note_unknown: 'nota_desconhecida',
  not_taken_here: 'tipo_nao_aceito',
  already_there: 'ja_la',
  not_understood: 'nao_entendida',
};

/** `kinds`: one for each document; undefined: the ADN gave no answer about it. */
export function countAnswers(
  documento: 'nota' | 'evento',
  tenant: string,
  kinds: readonly (string | undefined)[],
): void {
  const municipio = nameMunicipio(tenant);
  for (const [kind, some] of Map.groupBy(kinds, (one) => one ?? '')) {
    const resposta = ownOf(NAMES, kind) ?? 'sem_resposta';
    count('nfse_adn_respostas_total', { municipio, documento, resposta }, some.length);
  }
}
