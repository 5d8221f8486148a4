/** A note as people read it: its situation, number, parties, value and events. Every form of an act on a note shows it. */

import { facts, link, mark, markOpening, notice, table } from '../../base/pages/fields.ts';
import type { Values } from '../../base/pages/seen.ts';
import { pathIn } from '../../base/pages/visit.ts';
import { groupDecimal } from '../../fiscal/group-digits.ts';
import { type Html, html, type Inserted } from '../../published/site/page-shell.ts';
import { explainEvento, nameEstado, writtenMoment } from '../eventos/palavras.page.ts';
import type { NotaLida } from './nota-inteira.ts';
import { ESTADOS } from './palavras.page.ts';

export function reais(text: string | undefined): string | undefined {
  return text === undefined ? undefined : `R$ ${groupDecimal(text)}`;
}

export function situation({ operador, situacao }: NotaLida): Html {
  const estado = ESTADOS[operador.estado];
  return notice(estado.tom, html`<p>${markOpening(estado)} ${situacao}</p>`);
}

/** Names and values that a reader looks for first. */
export function factsOfNota({
  nota,
  emitidaEm,
  partes,
  servico,
}: NotaLida): readonly (readonly [name: string, value: Inserted])[] {
  const namely = (papel: string): string | undefined => partes.find((one) => one.papel === papel)?.nome;
  return [
    ['Emitida em', emitidaEm],
    ['Competência', nota.data_competencia],
    ['Prestador', namely('Prestador')],
    ['Tomador', namely('Tomador')],
    ['Serviço', servico],
    ['Valor do serviço', reais(nota.valor_servico)],
  ];
}

export function parties({ partes }: NotaLida): Html {
  return html`<h2>Quem</h2>
${table(
  'Partes da nota',
  ['Papel', 'Documento', 'Nome', 'Inscrição municipal', 'Contato'],
  partes.map((one) => [
    one.papel,
    html`<span class="num">${one.documento ?? ''}</span>`,
    one.nome ?? '',
    one.inscricaoMunicipal ?? '',
    one.contato ?? '',
  ]),
)}`;
}

export function events(slug: string, { eventos }: NotaLida): Html {
  if (eventos.length === 0) return html`<h2>Eventos</h2><p>Nenhum evento nesta nota.</p>`;
  return html`<h2>Eventos</h2>
${table(
  'Eventos da nota, do mais novo ao mais antigo',
  ['Evento', 'Quando', 'Situação', 'O que o ADN disse'],
  eventos.map((one) => [
    link(pathIn(slug, `/evento/${one.id_evento}`), `${one.descricao_evento} nº ${one.numero_sequencial}`),
    writtenMoment(one.data_hora_evento),
    mark(explainEvento(one)),
    [one.codigo_retorno, one.mensagem_retorno].filter(Boolean).join(': '),
  ]),
)}`;
}

/** The whole of it, for the forms of acts. */
export function noteSeen(slug: string, nota: NotaLida): Html {
  const { chave_acesso } = nota.operador;
  return html`${situation(nota)}${facts([
    ['Nota', link(pathIn(slug, `/notas/${chave_acesso}`), `nº ${nota.nota.numero_dps}`)],
    ...factsOfNota(nota),
    ['Chave de acesso', html`<code>${chave_acesso}</code>`],
  ])}${parties(nota)}${events(slug, nota)}`;
}

/** The state of a note on which an act depends, by names and values in words. */
export function stateOfNota({ operador, eventos }: NotaLida): Values {
  const events = eventos.map(
    (one) => `${one.descricao_evento} nº ${one.numero_sequencial} (${nameEstado(one.status_evento)})`,
  );
  return { 'Situação da nota': ESTADOS[operador.estado].nome, 'Eventos da nota': events.join('; ') };
}
