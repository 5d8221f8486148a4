/** The matters that wait for the municipality, kind by kind, with the possible acts on each line. */

import { field, link, mark, notice, table, wide } from '../../base/pages/fields.ts';
import { type Answer, forRole, type InMunicipio, pathIn, type Row } from '../../base/pages/visit.ts';
import { mayAs, PAPEIS_NAMES } from '../../base/world/papeis.ts';
import { eventoId } from '../../fiscal/layout/evento.ts';
import { TIPOS_EVENTO } from '../../fiscal/tipos-evento.ts';
import { type Html, html, type Inserted } from '../../published/site/page-shell.ts';
import {
  isTipo,
  listPendencias,
  type Pendencia,
  type PendenciasDoTipo,
  TIPOS,
  TIPOS_DE_PENDENCIA,
  type TipoDePendencia,
  tellQuantas,
} from './pendencias.ts';

export const HERE = 'pendencias';
export const PATH = '/pendencias';

/** The choices of the filter by person: all, the reader's own, and those of nobody. */
const DE = { todas: 'de todos', minhas: 'minhas', sem: 'sem responsável' } as const;

async function listPage({ world, slug, query, visitor, papel }: InMunicipio): Promise<Answer> {
  const asked = query.get('tipo') ?? '';
  const tipo = isTipo(asked) ? asked : undefined;
  const de = query.get('de') ?? 'todas';
  const responsavel = de === 'minhas' ? visitor.conta.login : de === 'sem' ? '' : undefined;
  const found = await listPendencias(world, slug, { tipo, responsavel });
  const filters = html`<form method="get" class="filtros" role="search">
${field({
  name: 'tipo',
  label: 'O que espera',
  value: tipo ?? '',
  choices: [['', 'tudo'], ...TIPOS.map((one) => [one, TIPOS_DE_PENDENCIA[one].nome] as const)],
  required: true,
})}${field({ name: 'de', label: 'De quem', value: de, choices: Object.entries(DE), required: true })}<button>Filtrar</button>
</form>
`;
  const nothing = tipo === undefined ? 'Nada espera pela prefeitura.' : 'Nada deste tipo espera pela prefeitura.';
  return {
    title: 'Pendências',
    here: HERE,
    main: html`<p>O que espera por alguém da prefeitura: desde quando, de quem é, o que se pode fazer, e o que acontece se nada for feito.</p>
${filters}${found.length === 0 ? notice('bom', nothing) : found.map((one) => kindShown({ slug, papel }, one, { isAlone: tipo !== undefined, de }))}`,
  };
}

type Where = Pick<InMunicipio, 'slug' | 'papel'>;

function kindShown(
  { slug, papel }: Where,
  { tipo, quantas, pendencias }: PendenciasDoTipo,
  { isAlone, de }: { readonly isAlone: boolean; readonly de: string },
): Html {
  const { nome, fazer, senao } = TIPOS_DE_PENDENCIA[tipo];
  const rows = pendencias.map((one) => [
    one.desde ?? '',
    wide(
      html`${one.oQue}${one.deQuem === undefined ? undefined : html`<br><small>${one.deQuem}</small>`}${buttonsOf({ slug, papel }, one)}`,
    ),
    placesOf(slug, one),
    html`${takenBy(one)}<br><small>${link(pathOf(slug, one), 'Abrir')}</small>`,
  ]);
  const rest =
    isAlone || quantas <= pendencias.length || de !== 'todas'
      ? undefined
      : html`<p>${link(pathIn(slug, PATH, { tipo }), `Ver mais: ao todo ${tellQuantas(quantas)}`)}</p>\n`;
  const list =
    rows.length === 0
      ? html`<p>Nenhuma com este filtro.</p>\n`
      : table(`${nome}, por ordem de chegada`, ['Desde', 'O que é', 'Onde', 'Quem cuida'], rows);
  return html`<h2>${nome}: ${tellQuantas(quantas)}</h2>
<p>${fazer} <span class="quieto">Se nada for feito: ${senao.charAt(0).toLowerCase()}${senao.slice(1)}</span></p>
${list}${rest}`;
}

/** Address of the page of one matter. */
export function pathOf(slug: string, { tipo, chave }: Pick<Pendencia, 'tipo' | 'chave'>, rest = ''): string {
  return pathIn(slug, `/pendencia${rest}`, { tipo, chave });
}

/** The person in charge; a matter of nobody is marked. */
export function takenBy({ responsavel }: Pendencia): Inserted {
  return responsavel ?? mark({ nome: 'ninguém', tom: 'aviso' });
}

export function placesOf(slug: string, { nota, evento }: Pendencia): Inserted {
  if (nota === undefined) return link(pathIn(slug, '/municipio'), 'Município');
  return html`${link(pathIn(slug, `/notas/${nota}`), 'Nota')}${evento === undefined ? undefined : html` · ${link(pathIn(slug, `/evento/${evento.id}`), `Evento ${evento.id}`)}`}`;
}

/** The events by office that answer a kind, with their buttons. */
const ANSWERS: Readonly<Partial<Record<TipoDePendencia, readonly (readonly [codigo: string, nome: string])[]>>> = {
  analise_fiscal: [
    ['105104', 'Deferir'],
    ['105105', 'Indeferir'],
  ],
  rejeicao: [
    ['205208', 'Anular a rejeição'],
    ['305101', 'Cancelar de ofício'],
  ],
  bloqueio: [['305103', 'Desbloquear']],
};

/** Fields in which an answer names the event that it answers. */
const NAMED: Readonly<Record<string, string>> = { '205208': 'id_evento_rejeicao', '305103': 'id_evento_bloqueio' };

function buttonsOf(where: Where, one: Pendencia): Inserted {
  const actions = actionsOf(where, one);
  return actions === undefined ? undefined : html`<div class="botoes">${actions}</div>`;
}

/** Buttons that lead to the form of the event by office, for a reader who may register one. */
export function actionsOf({ slug, papel }: Where, one: Pendencia): Inserted {
  const { tipo, nota, evento } = one;
  const answers = ANSWERS[tipo];
  if (answers === undefined || nota === undefined || evento === undefined) return undefined;
  if (!mayAs(papel, 'operacao')) return html`<small>com o papel ${PAPEIS_NAMES.operacao}</small>`;
  const whole = eventoId(nota, evento.codigo, evento.sequencial);
  return answers.map(([codigo, nome]): Html => {
    const { slug: type } = TIPOS_EVENTO.find((type) => type.codigo === codigo)!;
    const named = NAMED[codigo];
    const volta = pathOf(slug, one);
    const asked = { chave: nota, tipo: type, volta, ...(named === undefined ? {} : { [named]: whole }) };
    return html`<a class="botao simples" href="${pathIn(slug, '/eventos/oficio', asked)}">${nome}</a> `;
  });
}

export const PENDENCIAS_ROUTES: readonly Row[] = [forRole('leitura', 'GET', PATH, listPage)];
