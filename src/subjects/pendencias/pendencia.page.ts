/** One matter that waits: its meaning, the person in charge, the remarks of colleagues, and its history. */

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
import { type Html, html, type Inserted } from '../../published/site/page-shell.ts';
import { actsTable } from '../auditoria/trilha.page.ts';
import { listTrilha } from '../auditoria/trilha.ts';
import { formTokenOf } from '../contas/entrada.ts';
import { listUsuarios, type Usuario } from '../contas/usuarios.ts';
import { nameEstado, writtenMoment } from '../eventos/palavras.page.ts';
import { actionsOf, HERE, PATH, pathOf, placesOf, takenBy } from './pendencias.page.ts';
import {
  type AtoNaPendencia,
  actOnPendencia,
  findPendencia,
  isTipo,
  keyInTrail,
  listAtosNaNota,
  type Pendencia,
  TIPOS_DE_PENDENCIA,
} from './pendencias.ts';

async function onePage(call: InMunicipio, refused?: string): Promise<PageShown> {
  const { world, slug, query } = call;
  const [tipo, chave] = [query.get('tipo') ?? '', query.get('chave') ?? ''];
  const found = isTipo(tipo) ? await findPendencia(world, slug, tipo, chave) : undefined;
  if (!isTipo(tipo) || found === undefined) {
    return {
      status: 404,
      title: 'Isto não espera mais',
      here: HERE,
      main: html`<p>Foi resolvido, ou dado por visto. ${link(pathIn(slug, PATH), 'Ver as pendências')}.</p>
${isTipo(tipo) ? html`${await officeActs(call, { tipo, chave })}${await history(call, { tipo, chave })}` : undefined}`,
    };
  }
  const { fazer, senao, nome } = TIPOS_DE_PENDENCIA[tipo];
  return {
    title: nome,
    here: HERE,
    ...(refused === undefined ? {} : { status: 422 }),
    main: html`${refused === undefined ? undefined : notice('erro', refused)}${facts([
      ['O que é', found.oQue],
      ['Desde', found.desde],
      ['De quem', found.deQuem],
      ['Onde', placesOf(slug, found)],
      ['O que se pode fazer', fazer],
      ['Se nada for feito', senao],
      ['Quem cuida', takenBy(found)],
    ])}<p class="botoes">${actionsOf(call, found)}${link(pathIn(slug, PATH), 'Voltar às pendências')}</p>
${await officeActs(call, found)}${await forms(call, found)}${await history(call, found)}`,
  };
}

async function officeActs({ world, slug }: InMunicipio, one: Pick<Pendencia, 'tipo' | 'chave'>): Promise<Inserted> {
  const atos = await listAtosNaNota(world, slug, one);
  if (atos.length === 0) return undefined;
  return html`<h2>O que a prefeitura fez nesta nota</h2>
${table(
  'Atos de ofício, do mais novo ao mais antigo',
  ['Ato', 'Quando', 'Situação', 'O que o ADN disse', 'Por quem'],
  atos.map(({ evento, quem }) => [
    link(pathIn(slug, `/evento/${evento.id_evento}`), evento.descricao_evento),
    writtenMoment(evento.data_hora_evento),
    nameEstado(evento.status_evento),
    [evento.codigo_retorno, evento.mensagem_retorno].filter(Boolean).join(': '),
    quem ?? 'não se guardou',
  ]),
)}`;
}

async function history({ world, slug }: InMunicipio, one: Pick<Pendencia, 'tipo' | 'chave'>): Promise<Html> {
  const trilha = await listTrilha(world, slug, { objeto: 'pendencia', chave: keyInTrail(one) });
  return html`<h2>Anotações e história</h2>
${'atos' in trilha && trilha.atos.length > 0 ? actsTable(trilha.atos) : html`<p>Ninguém anotou nada.</p>\n`}`;
}

/** The users who may see to a matter. */
async function listPeople(world: InMunicipio['world'], slug: string): Promise<readonly Usuario[]> {
  return (await listUsuarios(world, slug)).filter(({ situacao, papeis }) => {
    const papel = Object.hasOwn(papeis, slug) ? papeis[slug] : undefined;
    return situacao === 'ativo' && papel !== undefined && mayAs(papel, 'atendimento');
  });
}

async function forms(call: InMunicipio, found: Pendencia): Promise<Inserted> {
  const { world, slug, papel, visitor } = call;
  if (!mayAs(papel, 'atendimento')) return undefined;
  const token = formTokenOf(visitor);
  const people = await listPeople(world, slug);
  const remark = (label: string, of: string, required: boolean): Html =>
    field({
      name: 'motivo',
      label,
      help: 'Fica na história e no histórico.',
      maxlength: MOTIVO_MAX,
      rows: 2,
      required,
      of,
    });
  const assigning = form({
    action: pathOf(slug, found, '/atribuir'),
    token,
    fields: [
      field({
        name: 'responsavel',
        label: 'Quem cuida',
        value: found.responsavel ?? '',
        choices: [['', 'ninguém'], ...people.map(({ login, nome }) => [login, `${nome} (${login})`] as const)],
        required: true,
      }),
      remark('Anotação', 'atribuir', false),
    ],
    button: 'Gravar quem cuida',
  });
  const remarking = form({
    action: pathOf(slug, found, '/anotar'),
    token,
    fields: remark('Anotação para os colegas', 'anotar', true),
    button: 'Anotar',
  });
  const ending =
    TIPOS_DE_PENDENCIA[found.tipo].encerra === true && mayAs(papel, 'operacao')
      ? folded(
          'Dar por visto',
          form({
            action: pathOf(slug, found, '/encerrar'),
            token,
            fields: [
              html`<p>Sai da lista. A nota e os eventos ficam como estão.</p>\n`,
              remark('Por quê', 'encerrar', true),
            ],
            button: 'Dar por visto',
          }),
        )
      : undefined;
  return html`<h2>Quem cuida, e anotações</h2>
${assigning}${remarking}${ending}`;
}

async function act(call: InMunicipio, ato: AtoNaPendencia): Promise<Answer> {
  const { world, slug, query } = call;
  const [tipo, chave] = [query.get('tipo') ?? '', query.get('chave') ?? ''];
  if (!isTipo(tipo)) return onePage(call);
  const done = await actOnPendencia(world, slug, { tipo, chave }, ato, byHand(call));
  if ('problem' in done) return onePage(call, done.problem);
  return { goTo: ato.acao === 'encerrar' ? pathIn(slug, PATH) : pathOf(slug, { tipo, chave }), recado: done.feito };
}

async function assign(call: InMunicipio): Promise<Answer> {
  const { world, slug, form: sent } = call;
  const login = sent.text('responsavel').trim();
  const isKnown = login === '' || (await listPeople(world, slug)).some((one) => one.login === login);
  if (!isKnown) return onePage(call, 'Escolha alguém da lista.');
  return act(call, { acao: 'atribuir', responsavel: login || undefined });
}

export const PENDENCIA_ROUTES: readonly Row[] = [
  forRole('leitura', 'GET', '/pendencia', (call) => onePage(call)),
  forRole('atendimento', 'POST', '/pendencia/atribuir', assign),
  forRole('atendimento', 'POST', '/pendencia/anotar', (call) => act(call, { acao: 'anotar' })),
  forRole('operacao', 'POST', '/pendencia/encerrar', (call) => act(call, { acao: 'encerrar' })),
];
