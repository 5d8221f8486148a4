/**
 * Acts by office on a note. The note comes first, then the fields of the act, then a page that repeats the act in words. Only that page
 * registers it (D-840).
 */

import { hash } from 'node:crypto';
import { carried, facts, field, form, link, notice } from '../../base/pages/fields.ts';
import {
  type Answer,
  byHand,
  forRole,
  type InMunicipio,
  type PageShown,
  pathIn,
  type Row,
} from '../../base/pages/visit.ts';
import { municipioNamed } from '../../base/world/municipios.ts';
import { MOTIVO_MAX } from '../../base/world/operator.ts';
import { bareDocumento, dotDocumento } from '../../fiscal/chave.ts';
import type { Fault } from '../../fiscal/fault.ts';
import { eventoId } from '../../fiscal/layout/evento.ts';
import { type SimpleType, T } from '../../fiscal/layout/simple-types.ts';
import { type CampoEvento, type TipoEvento, tipoBySlug } from '../../fiscal/tipos-evento.ts';
import { upperFirst } from '../../fiscal/words.ts';
import { type Html, html, type Inserted } from '../../published/site/page-shell.ts';
import { confirmForm, findChanged, goesBack, namePessoa, readSealed, tellChanged } from '../contas/confirmacao.page.ts';
import { keepCpfAgente } from '../contas/conta-propria.ts';
import { formTokenOf } from '../contas/entrada.ts';
import { type NotaLida, showNotaLida } from '../notas/nota-inteira.ts';
import { noteSeen, stateOfNota } from '../notas/nota-lida.page.ts';
import { describeDeOficio, listAtos, OFICIO_PATH } from './atos.page.ts';
import { findRegistrado, foreseeDeOficio, listDeOficio, type PedidoDoMunicipio, registrarDeOficio } from './office.ts';
import { showEvento } from './operate.ts';
import { describeCampos, labelOf, nameEstado, writtenMoment } from './palavras.page.ts';
import type { EventoPublico } from './queries.ts';

const HERE = 'eventos';
const TITLE = 'Registrar evento de ofício';
/** The form field of the author, which is no field of the type. */
const CNPJ = 'cnpj';
/** The form field with the address of the matter from which the reader came. */
const VOLTA = 'volta';
/** Numbers that people write with dots, dashes, slashes and spaces. */
const PUNCTUATED: ReadonlySet<SimpleType> = new Set([T.cpf, T.nProcAdm]);

type Problems = Readonly<Record<string, string>>;

/** The choice of the note. */
function choosePage(slug: string, chave: string, problem?: string): PageShown {
  return {
    title: TITLE,
    here: HERE,
    ...(problem === undefined ? {} : { status: 422 }),
    main: html`<p>De ofício registra quem é da prefeitura, em nome do município, que assina o evento ao enviá-lo. Diga a nota; o que ela admite vem a seguir.
A página de cada nota também o mostra.</p>
${problem === undefined ? undefined : notice('erro', problem)}<form method="get" action="${pathIn(slug, OFICIO_PATH)}">
${field({
  name: 'chave',
  label: 'Chave de acesso da nota',
  value: chave,
  help: '50 dígitos. Pode ser colada com espaços.',
  required: true,
})}<p class="botoes"><button>Continuar</button>${link(pathIn(slug, '/eventos'), 'Voltar aos eventos')}</p>
</form>
`,
  };
}

async function firstPage(call: InMunicipio): Promise<Answer> {
  const { world, slug, query } = call;
  const chave = bareDocumento(query.get('chave') ?? '');
  if (chave === '') return choosePage(slug, chave);
  const tipo = tipoOfOffice(query.get('tipo') ?? '');
  if (tipo !== undefined) return fieldsPage(call, chave, tipo, (nome) => query.get(nome) ?? '');
  const nota = await showNotaLida(world, slug, chave);
  if ('problem' in nota) return choosePage(slug, chave, nota.problem);
  const atos = await listDeOficio(world, slug, chave);
  const none = html`<p>Nada: como está, esta nota não admite evento de ofício.</p>\n`;
  return {
    title: TITLE,
    here: HERE,
    main: html`<h2>O que a prefeitura pode fazer nesta nota</h2>
${listAtos(slug, chave, atos) ?? none}<h2>A nota</h2>
${noteSeen(slug, nota)}`,
  };
}

function tipoOfOffice(text: string): TipoEvento | undefined {
  const tipo = tipoBySlug(text);
  return tipo?.porOficio ? tipo : undefined;
}

type Wrong = { readonly problems: Problems; readonly others: readonly string[]; readonly asksCnpj: boolean };
const NOTHING_WRONG: Wrong = { problems: {}, others: [], asksCnpj: false };

/** The fields of an act, repeated after a fault. */
async function fieldsPage(
  call: InMunicipio,
  chave: string,
  tipo: TipoEvento,
  written: (nome: string) => string,
  wrong = NOTHING_WRONG,
): Promise<PageShown> {
  const { world, slug, visitor } = call;
  const nota = await showNotaLida(world, slug, chave);
  if ('problem' in nota) return choosePage(slug, chave, nota.problem);
  const { adn } = await municipioNamed(world, slug);
  const { problems, others, asksCnpj } = wrong;
  const { nome, faz, desfaz } = describeDeOficio(tipo);
  const proposed = (campo: CampoEvento): string =>
    written(campo.nome) || (campo.tipo === T.cpf ? dotDocumento(visitor.conta.cpf_agente ?? '') : '');
  const volta = written(VOLTA).startsWith(pathIn(slug, '/pendencia?')) ? written(VOLTA) : '';
  const fields = [
    carried([
      ['chave', chave],
      ['tipo', tipo.slug],
      [VOLTA, volta],
    ]),
    adn === undefined || asksCnpj
      ? field({
          name: CNPJ,
          label: 'CNPJ do município',
          help: 'O município ainda não tem certificado configurado, que o diria. Com ou sem pontos, barra e traço.',
          value: written(CNPJ),
          problem: problems[CNPJ],
          required: true,
        })
      : undefined,
    ...tipo.campos.map((campo) => fieldOf(campo, nota.eventos, proposed(campo), problems[campo.nome])),
    field({
      name: 'motivo',
      label: 'Anotação para o histórico',
      help: 'Só quem usa este console a lê; não vai no evento.',
      maxlength: MOTIVO_MAX,
      value: written('motivo'),
    }),
  ];
  const hasFault = others.length > 0 || Object.keys(problems).length > 0;
  return {
    title: nome,
    here: HERE,
    ...(hasFault ? { status: 422 } : {}),
    main: html`${others.length === 0 ? undefined : notice('erro', html`<p>Nada foi registrado.</p><ul>${others.map((one) => html`<li>${one}</li>`)}</ul>`)}${
      hasFault && others.length === 0 ? notice('erro', 'Nada foi registrado: confira os campos marcados.') : undefined
    }<p>${faz} ${desfaz}</p>
${await answeredTo(call, tipo, nota, written)}<h2>A nota</h2>
${noteSeen(slug, nota)}<h2>O que se registra</h2>
${form({
  action: pathIn(slug, OFICIO_PATH),
  token: formTokenOf(visitor),
  fields,
  button: 'Continuar',
  beside: link(volta || pathIn(slug, `/notas/${chave}`), 'Desistir'),
})}`,
  };
}

/** The events that an act answers without naming them. */
const ANSWERS: Readonly<Record<string, string>> = { '105104': '101103', '105105': '101103' };

/** The event that the act answers, in the words of its author. */
async function answeredTo(
  { world, slug }: InMunicipio,
  { codigo, campos }: TipoEvento,
  { operador, eventos }: NotaLida,
  written: (nome: string) => string,
): Promise<Inserted> {
  const named = campos.find(({ tipo }) => tipo === T.idEventoReferido);
  const id = named && written(named.nome);
  const answered = eventos.find((one) =>
    id === undefined ? one.codigo_tipo_evento === ANSWERS[codigo] : idOf(operador.chave_acesso, one) === id,
  );
  const shown = answered && (await showEvento(world, slug, String(answered.id_evento)));
  if (answered === undefined || shown === undefined || 'problem' in shown) return undefined;
  return html`<h2>A que se responde</h2>
${facts([['Evento', nameEvento(answered)], ...describeCampos(answered.codigo_tipo_evento, shown.campos)])}`;
}

const idOf = (chave: string, one: EventoPublico): string =>
  eventoId(chave, one.codigo_tipo_evento, one.numero_sequencial);

function nameEvento(one: EventoPublico): string {
  return `${one.descricao_evento} nº ${one.numero_sequencial}, ${writtenMoment(one.data_hora_evento)}, ${nameEstado(one.status_evento)}`;
}

/** A field by the declaration of the layout. */
function fieldOf(
  campo: CampoEvento,
  eventos: readonly EventoPublico[],
  value: string,
  problem: string | undefined,
): Html {
  const { nome, obrigatorio, obrigatorioCom, opcoes, tipo } = campo;
  const needed =
    obrigatorioCom === undefined ? undefined : `Só é obrigatório com ${obrigatorioCom.valor} no campo acima.`;
  const common = { name: nome, label: labelOf(campo), value, problem, required: obrigatorio, help: needed };
  if (opcoes?.length === 1) {
    const [{ codigo, descricao }] = opcoes as readonly [(typeof opcoes)[number]];
    return html`${carried([[nome, codigo]])}${facts([[labelOf(campo), `${codigo}: ${descricao}`]])}`;
  }
  if (opcoes !== undefined) {
    const choices = opcoes.map(({ codigo, descricao }): [string, string] => [codigo, `${codigo}: ${descricao}`]);
    return field({ ...common, choices: withNone(choices) });
  }
  if (tipo === T.idEventoReferido && eventos.length > 0) {
    const choices = eventos.map((one): [string, string] => [idOf(one.chave_acesso, one), nameEvento(one)]);
    return field({ ...common, choices: withNone(choices) });
  }
  if (PUNCTUATED.has(tipo)) {
    return field({
      ...common,
      autocomplete: 'off',
      help: 'Como se escreve: pontos, traços, barras e espaços podem ficar.',
    });
  }
  const isLong = tipo === T.xMotivo;
  return field({
    ...common,
    ...(isLong ? { rows: 3 } : {}),
    maxlength: tipo.max,
    help: needed ?? (isLong ? `De ${tipo.min} a ${tipo.max} caracteres.` : `Espera-se: ${tipo.expected}.`),
  });
}

/** The message stands below its field; its JSON name is unknown to the operator and is removed. */
function withoutName({ nome, tipo }: CampoEvento, mensagem: string): string {
  const named = mensagem.startsWith(`${nome} `) ? mensagem.slice(nome.length + 1) : mensagem;
  // This form takes the punctuation that the layout refuses.
  const rest = PUNCTUATED.has(tipo) ? named.replace(', sem pontuação', '') : named;
  return upperFirst(rest);
}

/** A choice among several options has no default. */
function withNone(choices: readonly (readonly [string, string])[]): readonly (readonly [string, string])[] {
  return choices.length > 1 ? [['', 'Escolha…'], ...choices] : choices;
}

/** The faults of a request: below their fields, and the others. */
function sortFaults({ campos }: TipoEvento, faults: readonly Fault[], asksCnpj: boolean): Wrong {
  const problems: Record<string, string> = {};
  const others: string[] = [];
  for (const { campo, codigo, mensagem } of faults) {
    const known = campos.find(({ nome }) => nome === campo);
    if (known === undefined) others.push(`${mensagem} (${codigo})`);
    else problems[known.nome] ??= withoutName(known, mensagem);
  }
  return { problems, others, asksCnpj };
}

/** The content of the form, each line of it as one; it is carried as it was written. */
function readContent({ form: sent }: InMunicipio, tipo: TipoEvento, chave: string): Readonly<Record<string, string>> {
  const names = [CNPJ, ...tipo.campos.map(({ nome }) => nome), 'motivo', VOLTA];
  const written = names.map((nome) => [nome, sent.text(nome).trim().replace(/\s+/g, ' ')] as const);
  return { chave, tipo: tipo.slug, ...Object.fromEntries(written) };
}

/** The request in the form of the integrators' body, without the punctuation of numbers. */
function readPedidoEscrito(
  call: InMunicipio,
  tipo: TipoEvento,
  content: Readonly<Record<string, string>>,
): PedidoDoMunicipio {
  const campos = tipo.campos.flatMap(({ nome, tipo: type }) => {
    const text = content[nome]!;
    const value = PUNCTUATED.has(type) ? bareDocumento(text) : text;
    return value === '' ? [] : [[nome, value] as const];
  });
  return {
    chave: content['chave']!,
    corpo: Buffer.from(JSON.stringify({ tipo_evento: tipo.slug, ...Object.fromEntries(campos) })),
    cnpj: content[CNPJ] || undefined,
    porMao: byHand(call),
  };
}

async function act(call: InMunicipio): Promise<Answer> {
  const { world, slug, form: sent } = call;
  const chave = bareDocumento(sent.text('chave'));
  const tipo = tipoOfOffice(sent.text('tipo'));
  if (tipo === undefined) return choosePage(slug, chave, 'Escolha o que registrar.');
  const content = readContent(call, tipo, chave);
  if (goesBack(call)) return fieldsPage(call, chave, tipo, (nome) => content[nome] ?? '');
  const vez = readSealed(call, pathIn(slug, OFICIO_PATH), content);
  const impressao = hash('sha256', `confirmação\n${vez}`, 'buffer');
  const answer = await judgeAct(call, { chave, tipo, content, impressao: vez === undefined ? undefined : impressao });
  // The second click of a double one finds the event of the first click.
  const first = vez === undefined || 'goTo' in answer ? undefined : await findRegistrado(world, slug, impressao);
  return first === undefined ? answer : registered(slug, first);
}

/** `impressao`: of a second step that was shown with this content; undefined: none was. */
type Asked = {
  readonly chave: string;
  readonly tipo: TipoEvento;
  readonly content: Readonly<Record<string, string>>;
  readonly impressao: Buffer | undefined;
};

/** Registers a confirmed act; otherwise the page that asks for its confirmation, or tells what is wrong. */
async function judgeAct(call: InMunicipio, { chave, tipo, content, impressao }: Asked): Promise<Answer> {
  const { world, slug } = call;
  const again = (wrong: Wrong) => fieldsPage(call, chave, tipo, (nome) => content[nome] ?? '', wrong);
  const pedido = readPedidoEscrito(call, tipo, content);
  const foreseen = await foreseeDeOficio(world, slug, pedido);
  if ('problem' in foreseen) return again({ problems: {}, others: [foreseen.problem], asksCnpj: true });
  if ('faults' in foreseen) return again(sortFaults(tipo, foreseen.faults, content[CNPJ] !== ''));
  const nota = await showNotaLida(world, slug, chave);
  if ('problem' in nota) return choosePage(slug, chave, nota.problem);
  const changed = findChanged(call, stateOfNota(nota));
  if (impressao === undefined || changed.length > 0) {
    const main = html`${tellChanged(changed)}${confirmation(call, tipo, content, nota, foreseen)}`;
    const status = changed.length === 0 ? {} : { status: 409 };
    return { title: `${describeDeOficio(tipo).nome}?`, here: HERE, ...status, main };
  }
  const request = {
    impressao,
    rota: OFICIO_PATH,
    corpo: hash('sha256', pedido.corpo, 'buffer'),
    criado_em: world.now(),
  };
  const confirmado = { request, eventosVistos: nota.eventos.length };
  const made = await registrarDeOficio(world, slug, { ...pedido, confirmado });
  if ('problem' in made) return again({ problems: {}, others: [made.problem], asksCnpj: true });
  if ('faults' in made) return again(sortFaults(tipo, made.faults, content[CNPJ] !== ''));
  const agente = tipo.campos.find((campo) => campo.tipo === T.cpf);
  if (agente !== undefined && call.visitor.conta.cpf_agente === null) {
    await keepCpfAgente(world, call.visitor, content[agente.nome]!, call.from);
  }
  return registered(slug, made.evento, made.avisos);
}

function registered(slug: string, evento: EventoPublico, avisos: readonly Pick<Fault, 'mensagem'>[] = []): Answer {
  const remarks = avisos.map(({ mensagem }) => ` ${mensagem}`).join('');
  return {
    goTo: pathIn(slug, `/evento/${evento.id_evento}`),
    recado: `O evento foi registrado, e é enviado ao ADN em instantes.${remarks}`,
  };
}

type Foreseen = Extract<Awaited<ReturnType<typeof foreseeDeOficio>>, { autor: string }>;

/** The second step: the act in words, its content as it will stand in the event, and the note. */
function confirmation(
  call: InMunicipio,
  tipo: TipoEvento,
  content: Readonly<Record<string, string>>,
  nota: NotaLida,
  { autor, campos, avisos }: Foreseen,
): Html {
  const { slug, visitor } = call;
  const { faz, desfaz, veem } = describeDeOficio(tipo);
  const { cpf_agente } = visitor.conta;
  const inWords = tipo.campos.flatMap((campo): (readonly [string, Inserted])[] => {
    const value = campos[campo.nome];
    if (value === undefined) return [];
    const [[name, said] = ['', value]] = describeCampos(tipo.codigo, { [campo.nome]: value });
    if (campo.tipo === T.cpf) return [[name, dotDocumento(value)]];
    const typed = content[campo.nome]!;
    if (campo.tipo === T.nProcAdm && typed !== value) return [[name, `${typed}; no evento, só os dígitos: ${value}`]];
    const named = nota.eventos.find((one) => idOf(one.chave_acesso, one) === value);
    return [[name, named === undefined ? said : nameEvento(named)]];
  });
  const isKept = cpf_agente === null && tipo.campos.some((campo) => campo.tipo === T.cpf);
  return html`<p><b>Nada foi registrado ainda.</b> Leia o que vai acontecer, e confirme.</p>
<ul><li>${faz}</li>
<li>${desfaz}</li>
<li>${veem}</li>
${avisos.map(({ mensagem }) => html`<li>${mensagem}</li>\n`)}${isKept ? html`<li>O CPF do agente fica guardado na sua conta, e o próximo ato o propõe.</li>\n` : undefined}</ul>
<h2>O evento</h2>
${facts([
  ['O que se registra', tipo.descricao],
  ['Autor: o município', dotDocumento(autor)],
  ...inWords,
  ['Por quem', namePessoa(call)],
  ['Anotação para o histórico', content['motivo']],
])}${confirmForm(call, {
  action: pathIn(slug, OFICIO_PATH),
  content,
  state: stateOfNota(nota),
  button: 'Confirmar',
})}<h2>A nota</h2>
${noteSeen(slug, nota)}`;
}

export const OFICIO_ROUTES: readonly Row[] = [
  forRole('operacao', 'GET', OFICIO_PATH, firstPage),
  forRole('operacao', 'POST', OFICIO_PATH, act),
];
