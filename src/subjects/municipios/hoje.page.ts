/** The first page of a municipality: the present work, and each problem with its remedy. */

import { facts, link, notice, table, wide } from '../../base/pages/fields.ts';
import { forRole, type InMunicipio, type PageShown, pathIn, type Row } from '../../base/pages/visit.ts';
import { sizeText } from '../../fiscal/group-digits.ts';
import { ERROS_PATH } from '../../published/paths.ts';
import { type Html, html, type Inserted } from '../../published/site/page-shell.ts';
import { tellQuantas } from '../pendencias/pendencias.ts';
import { type Apuro, CERTIFICADO_DIAS, type Hoje, type Onde, overviewOf } from './hoje.ts';
import { plot, shortNumber } from './plot.page.ts';

const HERE = 'hoje';
const PATH = '/hoje';
/** One label for every three hours. */
const LABEL_EVERY = 12;
const RECUSAS_MAX = 15;

async function hojePage({ world, slug, query }: InMunicipio): Promise<PageShown> {
  const hoje = await overviewOf(world, slug);
  const isTable = query.get('tabela') !== null;
  const own = pathIn(slug, PATH, { tabela: isTable ? '1' : undefined });
  const { agora, apuros } = hoje;
  // The page does not refresh without scripts, and shows its own time.
  return {
    title: 'Hoje',
    here: HERE,
    main: html`<div id="hoje" hx-get="${own}" hx-trigger="every 15s" hx-select="#hoje" hx-swap="outerHTML">
<p class="quieto">Como estava em ${agora}. ${link(own, 'Atualizar')}</p>
${
  apuros.length === 0
    ? notice('bom', 'Nada pede atenção.')
    : html`<h2>O que pede atenção</h2>\n${apuros.map((one) => apuroShown(slug, one))}`
}${cards(slug, hoje)}<h2>Notas por minuto, nas últimas 24 horas</h2>
${drawn(slug, hoje, isTable)}${refusals(hoje, world.baseUrl)}${refusedLater(slug, hoje)}<h2>Prazos, auditoria e espaço</h2>
${limits(hoje)}</div>
`,
  };
}

const PAGES: Readonly<Record<'eventos' | 'municipio' | 'notas' | 'pendencias', string>> = {
  eventos: '/eventos',
  municipio: '/municipio',
  notas: '/notas',
  pendencias: '/pendencias',
};

function apuroShown(slug: string, { gravidade, oQue, fazer, onde }: Apuro): Html {
  return notice(
    gravidade,
    html`<p><b>${oQue}</b></p><p>${fazer}${onde === undefined ? undefined : html` ${where(slug, onde)}`}</p>`,
  );
}

function where(slug: string, onde: Onde): Html {
  if ('comando' in onde) return html`<span class="quieto">Por comando: <code>${onde.comando}</code></span>`;
  return html`${link(pathIn(slug, PAGES[onde.pagina]), onde.nome)}.`;
}

function cards(slug: string, { notas, espera, adn, eventos, pendencias }: Hoje): Html {
  const troubled = eventos.comProblema.reduce((sum, [, count]) => sum + count, 0);
  const underWay = eventos.aCaminho.reduce((sum, [, count]) => sum + count, 0);
  const { oficio, evento, ...open } = pendencias;
  const matters = Object.values(open).reduce((sum, count) => sum + count, 0);
  const card = (name: Inserted, value: string, about: Inserted): Html =>
    html`<div class="cartao">${name}<b>${value}</b><small>${about}</small></div>\n`;
  return html`<div class="cartoes">
${card('Notas em 24 horas', notas.total.toLocaleString('pt-BR'), `${notas.recentes.notas.toLocaleString('pt-BR')} desde as ${notas.recentes.desde}`)}${card(
  'À espera do ADN',
  (espera?.notas ?? 0).toLocaleString('pt-BR'),
  espera === undefined ? 'nenhuma nota espera' : `a mais antiga há ${espera.ha}`,
)}${card('ADN', adn.estado, adn.diz)}${card(
  link(pathIn(slug, '/eventos'), 'Eventos que pedem atenção'),
  troubled.toLocaleString('pt-BR'),
  underWay === 0 ? 'nenhum outro a caminho' : `e ${underWay.toLocaleString('pt-BR')} a caminho, que seguem sozinhos`,
)}${card(
  link(pathIn(slug, PAGES.pendencias), 'Pendências da prefeitura'),
  tellQuantas(matters),
  'pedidos, rejeições, bloqueios, notas recusadas e retidas',
)}</div>
`;
}

function drawn(slug: string, { notas: { quartos, total } }: Hoje, isTable: boolean): Html {
  const highest = quartos.reduce((one, other) => (other.porMinuto > one.porMinuto ? other : one));
  const desc =
    total === 0
      ? 'Nenhuma nota foi emitida.'
      : `${total === 1 ? '1 nota' : `${total.toLocaleString('pt-BR')} notas`} ao todo. O quarto de hora com mais começou às ${highest.hora}, com ${shortNumber(highest.porMinuto)} notas por minuto.`;
  const bars = quartos.map(({ hora, porMinuto }) => ({ label: hora, value: porMinuto }));
  const picture = plot({
    id: 'notas',
    title: 'Notas por minuto, por quarto de hora',
    desc,
    bars,
    labelEvery: LABEL_EVERY,
  });
  const figures = isTable
    ? table(
        'Notas por minuto, por quarto de hora',
        ['Desde', 'Notas por minuto'],
        quartos.map(({ hora, porMinuto }) => [hora, shortNumber(porMinuto)]),
        [1],
      )
    : undefined;
  const way = isTable
    ? link(pathIn(slug, PATH), 'Esconder a tabela')
    : link(pathIn(slug, PATH, { tabela: '1' }), 'Ver em tabela');
  return html`${picture}<p class="quieto">${desc} ${way}</p>
${figures}`;
}

function refusals({ recusas }: Hoje, baseUrl: string | undefined): Html {
  if (recusas.length === 0) {
    return html`<h2>Recusas em 24 horas</h2>
<p>Este serviço não devolveu nenhuma DPS e nenhum evento a quem enviou.</p>
`;
  }
  const rows = recusas.slice(0, RECUSAS_MAX).map(({ codigo, quantas, diz }) => {
    const page = baseUrl === undefined ? codigo : link(`${baseUrl.replace(/\/$/, '')}${ERROS_PATH}/${codigo}`, codigo);
    return [page, (diz ?? '').replaceAll('`', ''), quantas.toLocaleString('pt-BR')];
  });
  const rest = recusas.length - rows.length;
  return html`<h2>Recusas em 24 horas</h2>
<p class="quieto">O que este serviço devolveu a quem enviou, com o motivo. Uma DPS recusada por três códigos conta em cada um deles.</p>
${table('Pedidos recusados, por código', ['Código', 'O que é', 'Vezes'], rows, [2])}${rest === 0 ? undefined : html`<p class="quieto">E mais ${String(rest)} códigos, com menos vezes.</p>\n`}`;
}

/** Documents that were accepted here and refused afterwards: notes with their pages, and the events, which have their own page. */
function refusedLater(slug: string, { recusadas, pendencias }: Hoje): Html {
  const { nota_recusada: notas, evento: eventos } = pendencias;
  const rows = recusadas.map(({ desde, nota, oQue, deQuem }) => [
    desde,
    wide(html`${deQuem}<br><small>${oQue}</small>`),
    link(pathIn(slug, `/notas/${nota}`), html`<code>${nota}</code>`),
  ]);
  const list =
    rows.length === 0
      ? html`<p>Nenhuma nota recusada espera por uma nova emissão.</p>\n`
      : table('Notas recusadas e não emitidas de novo, em 30 dias', ['Quando', 'De quem, e por quê', 'Nota'], rows);
  const rest =
    notas <= rows.length
      ? undefined
      : html`<p>${link(pathIn(slug, PAGES.pendencias, { tipo: 'nota_recusada' }), `Ao todo ${tellQuantas(notas)}`)}</p>\n`;
  const failed =
    eventos === 0
      ? html`<p>Nenhum evento recusado espera por alguém.</p>\n`
      : html`<p>Eventos que não deram certo: ${link(pathIn(slug, PAGES.eventos), tellQuantas(eventos))}.</p>\n`;
  return html`<h2>Recusado depois de aceito aqui</h2>
${list}${rest}${failed}`;
}

/** The last verification with its result, and the last seal. */
function auditoriaShown({ conferida, selo }: Hoje['auditoria']): string {
  const seal = selo === undefined ? 'nenhum dia selado' : `último dia selado: ${selo}`;
  if (conferida === undefined) return `nunca conferida; ${seal}`;
  const { em, achados } = conferida;
  const found =
    achados === 0 ? 'sem achados' : achados === 1 ? '1 achado' : `${achados.toLocaleString('pt-BR')} achados`;
  return `conferida em ${em}, ${found}; ${seal}`;
}

function limits({ certificado, listas, disco, auditoria }: Hoje): Html {
  const days = (dias: number): string => (dias < 0 ? 'venceu' : dias === 1 ? 'falta 1 dia' : `faltam ${dias} dias`);
  const { banco, livre, total } = disco;
  const lists = listas?.map(({ emissor, dias }): [string, string] => [
    `Lista de revogados de ${emissor}`,
    dias === undefined ? 'não diz até quando vale' : days(dias),
  ]);
  return facts([
    // A near end is told above, with its remedy.
    [
      'Certificado do município',
      certificado && certificado.dias >= CERTIFICADO_DIAS
        ? `até ${certificado.fim} (${days(certificado.dias)})`
        : undefined,
    ],
    ...(lists ?? [['Listas de revogados', 'não consultadas: nenhuma pasta foi configurada'] as const]),
    ['Auditoria', auditoriaShown(auditoria)],
    ['Banco de dados', sizeText(banco)],
    [
      'Disco do banco',
      livre === undefined || total === undefined
        ? 'fica em outra máquina, e daqui não se vê'
        : `${sizeText(livre)} livres de ${sizeText(total)}`,
    ],
  ]);
}

export const HOJE_ROUTES: readonly Row[] = [forRole('leitura', 'GET', PATH, hojePage)];
