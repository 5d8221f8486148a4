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
import { mayAs } from '../../base/world/papeis.ts';
import { groupDecimal, groupDigits } from '../../fiscal/group-digits.ts';
import type { DescribedValue } from '../../fiscal/layout/describe-values.ts';
import type { NotaTrigger } from '../../fiscal/nota.ts';
import { type Html, html, type Inserted } from '../../published/site/page-shell.ts';
import { formTokenOf } from '../contas/entrada.ts';
import { writtenMoment } from '../eventos/palavras.page.ts';
import { CAMPOS_DA_BUSCA, CAMPOS_DO_LUGAR } from './buscar.ts';
import { type DocumentoDaNota, documentoDaNota, type NotaInteira, showNotaInteira } from './nota-inteira.ts';
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
  const { world, slug, params } = call;
  const nota = await showNotaInteira(world, slug, params['chave']!);
  if ('problem' in nota) return notFound(slug, nota.problem);
  const { operador } = nota;
  const { nome, tom } = ESTADOS[operador.estado];
  return {
    title: `Nota ${nota.nota.numero_dps}`,
    here: HERE,
    ...(refused === undefined ? {} : { status: 422 }),
    main: html`${refused === undefined ? undefined : notice('erro', refused)}${notice(
      tom,
      html`<p><b>${nome.charAt(0).toUpperCase()}${nome.slice(1)}</b>. ${nota.situacao}</p>`,
    )}${backTo(call)}${documents(call, nota)}${summary(call, nota)}${parties(nota)}${amounts(nota)}${signature(nota)}${events(slug, nota)}${trail(nota)}${world.listSections(PATH).map((write) => write(call))}${actions(call, nota)}`,
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

function summary({ slug }: InMunicipio, { operador, nota, resumo, servico, emitidaEm, partes }: NotaInteira): Html {
  const reais = (text: string | undefined): string | undefined =>
    text === undefined ? undefined : `R$ ${groupDecimal(text)}`;
  const { base, aliquota, issqn, devedor, ibs, cbs, liquido } = resumo;
  const namely = (papel: string): string | undefined => partes.find((one) => one.papel === papel)?.nome;
  return facts([
    ['Emitida em', emitidaEm],
    ['Competência', nota.data_competencia],
    ['Prestador', namely('Prestador')],
    ['Tomador', namely('Tomador')],
    ['Serviço', servico],
    ['Valor do serviço', reais(nota.valor_servico)],
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
    ['DPS', `série ${nota.serie_dps}, número ${nota.numero_dps_nacional ?? nota.numero_dps}`],
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

function parties({ partes }: NotaInteira): Html {
  return html`<h2>Quem</h2>
${table(
  'Partes da nota',
  ['Papel', 'Documento', 'Nome', 'Inscrição municipal', 'Contato'],
  partes.map((one) => [
    one.papel,
    one.documento ?? '',
    one.nome ?? '',
    one.inscricaoMunicipal ?? '',
    one.contato ?? '',
  ]),
)}`;
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

function events(slug: string, { eventos }: NotaInteira): Html {
  if (eventos.length === 0) return html`<h2>Eventos</h2><p>Nenhum evento nesta nota.</p>`;
  return html`<h2>Eventos</h2>
${table(
  'Eventos da nota, do mais novo ao mais antigo',
  ['Evento', 'Quando', 'Situação', 'O que o ADN disse'],
  eventos.map((one) => [
    link(pathIn(slug, `/evento/${one.id_evento}`), `${one.tipo_evento} nº ${one.numero_sequencial}`),
    writtenMoment(one.data_hora_evento),
    one.status_evento,
    [one.codigo_retorno, one.mensagem_retorno].filter(Boolean).join(': '),
  ]),
)}`;
}

function trail({ operador }: NotaInteira): Html {
  return html`<h2>Histórico</h2>
${table(
  'Da emissão até agora',
  ['Quando', 'De', 'Para', 'Por quê', 'Mensagem', 'Quem'],
  foldAttempts(operador.trilha).map(({ em, ate, vezes, de, para, gatilho, mensagem, quem }): Inserted[] => [
    ate === undefined ? writtenMoment(em) : html`${writtenMoment(em)}<br>até ${writtenMoment(ate)}`,
    de === null ? '' : ESTADOS[de].nome,
    ESTADOS[para].nome,
    vezes === 1 ? GATILHOS[gatilho] : `${groupDigits(vezes)} tentativas: ${GATILHOS[gatilho]}`,
    mensagem ?? '',
    quem ?? 'o serviço',
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

function actions({ slug, papel, params, visitor }: InMunicipio, { operador }: NotaInteira): Inserted {
  if (!operador.podeRetirar || !mayAs(papel, 'operacao')) return undefined;
  return folded(
    'Retirar esta nota substituta',
    html`<p>Só quando o evento da nota que ela substitui não virá: ela termina como recusada, e a série e o número ficam livres.</p>
${form({
  action: pathIn(slug, `/notas/${params['chave']}/retirar`),
  token: formTokenOf(visitor),
  fields: field({ name: 'motivo', label: 'Motivo', help: 'Fica no histórico, e o prestador o lê.', required: true }),
  button: 'Retirar a nota',
  isGrave: true,
})}`,
  );
}

async function withdraw(call: InMunicipio): Promise<Answer> {
  const { world, slug, params } = call;
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
