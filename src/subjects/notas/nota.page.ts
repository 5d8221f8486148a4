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
import { groupDecimal } from '../../fiscal/group-digits.ts';
import type { NotaTrigger } from '../../fiscal/nota.ts';
import { type Html, html, type Inserted } from '../../published/site/page-shell.ts';
import { formTokenOf } from '../contas/entrada.ts';
import { writtenMoment } from '../eventos/palavras.page.ts';
import { type DocumentoDaNota, documentoDaNota, type NotaInteira, showNotaInteira } from './nota-inteira.ts';
import { retirarNota } from './operate.ts';

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
  return {
    title: `Nota ${nota.nota.numero_dps}`,
    here: HERE,
    ...(refused === undefined ? {} : { status: 422 }),
    main: html`${refused === undefined ? undefined : notice('erro', refused)}${notice(
      TONE[operador.estado] ?? 'aviso',
      html`<p><b>${operador.estado}</b>: ${nota.situacao}</p>`,
    )}${documents(call, nota)}${facts([
      ['Chave de acesso', html`<code>${operador.chave_acesso}</code>`],
      ['Protocolo', html`<code>${operador.numero_protocolo}</code>`],
      ['Emitida em', nota.emitidaEm],
      ['Competência', nota.nota.data_competencia],
      ['DPS', `série ${nota.nota.serie_dps}, número ${nota.nota.numero_dps_nacional ?? nota.nota.numero_dps}`],
      ['Valor do serviço', `R$ ${groupDecimal(nota.nota.valor_servico)}`],
      [
        'Substitui a nota',
        operador.substitui === null
          ? undefined
          : link(pathIn(slug, `/notas/${operador.substitui}`), operador.substitui),
      ],
      ['Serviço', nota.servico],
    ])}${parties(nota)}${amounts(nota)}${signature(nota)}${events(slug, nota)}${trail(nota)}${world.listSections(PATH).map((write) => write(call))}${actions(call, nota)}`,
  };
}

const TONE: Readonly<Partial<Record<NotaInteira['operador']['estado'], 'bom' | 'erro'>>> = {
  autorizada: 'bom',
  recusada: 'erro',
};

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

function amounts({ valores, calculo }: NotaInteira): Html {
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
${folded('Os valores como estão na nota', table('Valores da nota', ['Elemento', 'Valor'], valores, [1]))}${folded('Como foram calculados', steps)}`;
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
  return html`<h2>O que aconteceu com ela</h2>
${table(
  'Da emissão até agora',
  ['Quando', 'De', 'Para', 'Por quê', 'Mensagem', 'Quem'],
  operador.trilha.map(({ em, de, para, gatilho, mensagem, quem }): Inserted[] => [
    writtenMoment(em),
    de ?? '',
    para,
    GATILHOS[gatilho],
    mensagem ?? '',
    quem ?? 'o serviço',
  ]),
)}`;
}

/** The reason of each move, in words. */
const GATILHOS: Readonly<Record<NotaTrigger, string>> = {
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

function actions({ slug, papel, params, visitor }: InMunicipio, { operador }: NotaInteira): Inserted {
  if (!operador.podeRetirar || !mayAs(papel, 'operacao')) return undefined;
  return folded(
    'Retirar esta nota substituta',
    html`<p>Só quando o evento da nota que ela substitui não virá: ela termina como recusada, e a série e o número ficam livres.</p>
${form({
  action: pathIn(slug, `/notas/${params['chave']}/retirar`),
  token: formTokenOf(visitor),
  fields: field({ name: 'motivo', label: 'Motivo', help: 'Fica na trilha, e o prestador o lê.', required: true }),
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
