/** The page of one note. */

import { facts, field, folded, form, link, notice, table } from '../../base/pages/fields.ts';
import {
  type Answer,
  byHand,
  forRole,
  type InMunicipio,
  type PageShown,
  pathIn,
  type Row,
} from '../../base/pages/visit.ts';
import { MOTIVO_MAX } from '../../base/world/operator.ts';
import { mayAs } from '../../base/world/papeis.ts';
import { groupDecimal, groupDigits } from '../../fiscal/group-digits.ts';
import type { DescribedValue } from '../../fiscal/layout/describe-values.ts';
import type { NotaTrigger } from '../../fiscal/nota.ts';
import type { TipoEvento } from '../../fiscal/tipos-evento.ts';
import { type Html, html, type Inserted } from '../../published/site/page-shell.ts';
import { confirmForm, findChanged, goesBack, namePessoa, readSealed, tellChanged } from '../contas/confirmacao.page.ts';
import { formTokenOf } from '../contas/entrada.ts';
import { listAtos } from '../eventos/atos.page.ts';
import { listDeOficio } from '../eventos/office.ts';
import { writtenMoment } from '../eventos/palavras.page.ts';
import { CAMPOS_DA_BUSCA, CAMPOS_DO_LUGAR } from './buscar.ts';
import {
  type DocumentoDaNota,
  documentoDaNota,
  type NotaInteira,
  showNotaInteira,
  showNotaLida,
} from './nota-inteira.ts';
import { events, factsOfNota, noteSeen, parties, reais, situation, stateOfNota } from './nota-lida.page.ts';
import { retirarNota } from './operate.ts';
import { ESTADOS, GATILHOS } from './palavras.page.ts';

const HERE = 'notas';
const PATH = '/notas/:chave';

const notFound = (slug: string, problem: string): PageShown => ({
  title: 'Nota não encontrada',
  here: HERE,
  status: 404,
  main: html`<p>${problem}</p><p>${link(pathIn(slug, '/notas'), 'Procurar notas')}</p>`,
});

export async function notaPage(call: InMunicipio, refused?: string): Promise<PageShown> {
  const { world, slug, params, papel } = call;
  const nota = await showNotaInteira(world, slug, params['chave']!);
  if ('problem' in nota) return notFound(slug, nota.problem);
  const atos = mayAs(papel, 'operacao') ? await listDeOficio(world, slug, nota.operador.chave_acesso) : [];
  return {
    title: `Nota ${nota.nota.numero_dps}`,
    here: HERE,
    ...(refused === undefined ? {} : { status: 422 }),
    main: html`${refused === undefined ? undefined : notice('erro', refused)}${situation(nota)}${backTo(call)}${documents(call, nota)}${actsOnNota(call, nota, atos)}${summary(call, nota)}${parties(nota)}${amounts(nota)}${signature(nota)}${events(slug, nota)}${trail(call, nota)}${world.listSections(PATH).map((write) => write(call))}`,
  };
}

/** The search that led here, as its own address carries it. */
function backTo({ slug, query }: InMunicipio): Inserted {
  const asked = Object.fromEntries(
    [...CAMPOS_DA_BUSCA, ...CAMPOS_DO_LUGAR].flatMap((name) => (query.has(name) ? [[name, query.get(name)!]] : [])),
  );
  return Object.keys(asked).length === 0
    ? undefined
    : html`<p>${link(pathIn(slug, '/notas', asked), 'Voltar à busca')}</p>\n`;
}

function summary({ slug }: InMunicipio, nota: NotaInteira): Html {
  const { operador, nota: shown } = nota;
  const { base, aliquota, issqn, devedor, ibs, cbs, liquido } = nota.resumo;
  return facts([
    ...factsOfNota(nota),
    ['Base de cálculo', reais(base)],
    ['Alíquota', aliquota === undefined ? undefined : `${groupDecimal(aliquota)} %`],
    ['ISSQN', reais(issqn)],
    ['Quem paga o ISSQN', devedor],
    ['IBS', reais(ibs)],
    ['CBS', reais(cbs)],
    ['Valor líquido', reais(liquido)],
    [
      'Substitui a nota',
      operador.substitui === null ? undefined : link(pathIn(slug, `/notas/${operador.substitui}`), operador.substitui),
    ],
    ['DPS', `série ${shown.serie_dps}, número ${shown.numero_dps_nacional ?? shown.numero_dps}`],
    ['Chave de acesso', html`<code>${operador.chave_acesso}</code>`],
    ['Protocolo', html`<code>${operador.numero_protocolo}</code>`],
  ]);
}

function documents({ slug, params }: InMunicipio, { temDanfse, recebidoEm }: NotaInteira): Html {
  const to = (qual: DocumentoDaNota, text: string): Html =>
    html`<a class="botao simples" href="${pathIn(slug, `/notas/${params['chave']}/${qual}`)}">${text}</a> `;
  return html`<p class="botoes">${temDanfse ? to('danfse', 'DANFSe (PDF)') : undefined}${to('nfse', 'NFS-e (XML)')}${to('recebido', `Declaração recebida (${recebidoEm})`)}</p>
`;
}

function amounts({ issqn, ibsCbs, calculo }: NotaInteira): Html {
  const steps =
    calculo === undefined
      ? html`<p>O cadastro ou as alíquotas mudaram desde a emissão, e o cálculo não se refaz passo a passo. Vale o que está na nota.</p>`
      : table(
          'Passos do cálculo, refeito com o que valia no dia da emissão',
          ['Campo', 'Como se chega a ele', 'Valor'],
          calculo.map(({ campo, formula, valor }) => [campo, formula, valor ?? 'não sai na nota']),
          [2],
        );
  return html`<h2>Valores</h2>
${folded('ISSQN e valor do serviço, como estão na nota', described('ISSQN e valor do serviço', issqn))}${
  ibsCbs.length === 0 ? undefined : folded('IBS e CBS, como estão na nota', described('IBS e CBS', ibsCbs))
}${folded('Como foram calculados', steps)}`;
}

function described(caption: string, values: readonly DescribedValue[]): Html {
  return table(
    caption,
    ['O que é', 'Valor'],
    values.map(({ rotulo, campo, valor }) => [html`${rotulo} <small><code>${campo}</code></small>`, valor]),
    [1],
  );
}

function signature({ assinatura }: NotaInteira): Html {
  if ('falta' in assinatura) return html`<h2>Assinatura</h2><p>${assinatura.falta}</p>`;
  const { titular, documento, emissor, inicio, fim, cadeia, veredito } = assinatura;
  return html`<h2>Assinatura da declaração</h2>
${facts([
  ['De quem', documento === null ? titular : `${titular} (${documento})`],
  ['Certificado válido', `de ${writtenMoment(inicio)} a ${writtenMoment(fim)}`],
  ['Emitido por', emissor],
  ['Cadeia', cadeia.join(' › ') || undefined],
  ['Conferida agora', veredito],
])}`;
}

function trail({ slug }: InMunicipio, { operador, cancelou }: NotaInteira): Html {
  return html`<h2>Histórico</h2>
${table(
  'Da emissão até agora',
  ['Quando', 'De', 'Para', 'Por quê', 'Mensagem', 'Quem'],
  foldAttempts(operador.trilha).map(({ em, ate, vezes, de, para, gatilho, mensagem, quem }): Inserted[] => [
    ate === undefined ? writtenMoment(em) : html`${writtenMoment(em)}<br>até ${writtenMoment(ate)}`,
    de === null ? '' : ESTADOS[de].nome,
    ESTADOS[para].nome,
    gatilho === 'cancelamento' && cancelou !== undefined
      ? link(pathIn(slug, `/evento/${cancelou.evento.id_evento}`), cancelou.evento.descricao_evento)
      : vezes === 1
        ? GATILHOS[gatilho]
        : `${groupDigits(vezes)} tentativas: ${GATILHOS[gatilho]}`,
    mensagem ?? '',
    quem ?? (gatilho === 'cancelamento' ? cancelou?.quem : undefined) ?? 'o serviço',
  ]),
)}`;
}

type Move = NotaInteira['operador']['trilha'][number];
/** A move, or several attempts in a row with the same outcome: the last one, and the moment of the first in `em`. */
type Folded = Move & { readonly ate?: string; readonly vezes: number };

/** Moves of a sending that is tried again and again. */
const ATTEMPTS: ReadonlySet<NotaTrigger> = new Set<NotaTrigger>(['anuncio', 'adiamento']);

/** Consecutive attempts that ended the same way are one row. */
function foldAttempts(trilha: readonly Move[]): readonly Folded[] {
  const rows: Folded[] = [];
  for (const [place, move] of trilha.entries()) {
    const next = trilha[place + 1];
    // An announcement that was put off tells nothing beside its outcome.
    if (move.gatilho === 'anuncio' && next?.gatilho === 'adiamento') continue;
    const before = rows.at(-1);
    const isSame =
      before !== undefined &&
      ATTEMPTS.has(move.gatilho) &&
      before.gatilho === move.gatilho &&
      before.mensagem === move.mensagem;
    if (isSame) rows[rows.length - 1] = { ...before, ate: move.em, vezes: before.vezes + 1 };
    else rows.push({ ...move, vezes: 1 });
  }
  return rows;
}

/** The acts that the state of the note allows, each with its sentence. */
function actsOnNota(call: InMunicipio, { operador }: NotaInteira, atos: readonly TipoEvento[]): Inserted {
  const withdrawing = operador.podeRetirar && mayAs(call.papel, 'operacao') ? withdrawForm(call) : undefined;
  if (atos.length === 0 && withdrawing === undefined) return undefined;
  return html`<h2>O que a prefeitura pode fazer nesta nota</h2>
${listAtos(call.slug, operador.chave_acesso, atos)}${withdrawing}<h2>Resumo</h2>
`;
}

const RETIRAR = 'Retirar esta nota substituta';
const RETIRADA =
  'Só quando o evento da nota que ela substitui não virá: ela termina como recusada, sem ir ao ADN, e a série e o número ficam livres. Não se desfaz: o prestador teria de emitir outra.';

function withdrawForm({ slug, params, visitor, form: sent }: InMunicipio): Html {
  const motivo = sent.text('motivo');
  return folded(
    RETIRAR,
    html`<p>${RETIRADA}</p>
${form({
  action: pathIn(slug, `/notas/${params['chave']}/retirar`),
  token: formTokenOf(visitor),
  fields: field({
    name: 'motivo',
    label: 'Motivo',
    help: 'Fica no histórico, e o prestador o lê.',
    value: motivo,
    maxlength: MOTIVO_MAX,
    required: true,
  }),
  button: 'Continuar',
  isGrave: true,
})}`,
    motivo !== '',
  );
}

async function withdraw(call: InMunicipio): Promise<Answer> {
  const { world, slug, params, form: sent } = call;
  const nota = await showNotaLida(world, slug, params['chave']!);
  if ('problem' in nota) return notFound(slug, nota.problem);
  const motivo = sent.text('motivo').trim();
  const action = pathIn(slug, `/notas/${params['chave']}/retirar`);
  const [content, state] = [{ motivo }, stateOfNota(nota)];
  if (goesBack(call)) return notaPage(call);
  const isConfirmed = readSealed(call, action, content) !== undefined;
  // The second click of a double one finds the note withdrawn.
  if (isConfirmed && nota.operador.estado === 'recusada') return { goTo: pathIn(slug, `/notas/${params['chave']}`) };
  const changed = findChanged(call, state);
  if (motivo !== '' && !(isConfirmed && changed.length === 0)) {
    const { nome } = ESTADOS[nota.operador.estado];
    if (!nota.operador.podeRetirar) {
      return notaPage(call, `A nota está ${nome}, e só se retira uma substituta que ainda não foi ao ADN.`);
    }
    return {
      title: `${RETIRAR}?`,
      here: HERE,
      ...(changed.length === 0 ? {} : { status: 409 }),
      main: html`${tellChanged(changed)}<p>${RETIRADA}</p>
${facts([
  ['Motivo, que o prestador lê', motivo],
  ['Por quem', namePessoa(call)],
])}${confirmForm(call, { action, content, state, button: 'Retirar a nota' })}<h2>A nota</h2>
${noteSeen(slug, nota)}`,
    };
  }
  const refused = await retirarNota(world, slug, params['chave']!, byHand(call));
  if (refused !== undefined) return notaPage(call, refused.problem);
  return { goTo: pathIn(slug, `/notas/${params['chave']}`), recado: 'A nota foi retirada.' };
}

const document = (qual: DocumentoDaNota): Row =>
  forRole('leitura', 'GET', `/notas/:chave/${qual}`, async ({ world, slug, params }) => {
    const found = await documentoDaNota(world, slug, params['chave']!, qual);
    if ('problem' in found) return notFound(slug, found.problem);
    return { file: found.conteudo, type: found.tipo, name: found.nome };
  });

export const NOTA_ROUTES: readonly Row[] = [
  forRole('leitura', 'GET', PATH, (call) => notaPage(call)),
  document('recebido'),
  document('nfse'),
  document('danfse'),
  forRole('operacao', 'POST', '/notas/:chave/retirar', withdraw),
];
