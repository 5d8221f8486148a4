/** Registers an event by office: the note and the type first, then the fields of that type. */

import { carried, field, form, link, notice } from '../../base/pages/fields.ts';
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
import { eventoId } from '../../fiscal/layout/evento.ts';
import { T } from '../../fiscal/layout/simple-types.ts';
import { type CampoEvento, TIPOS_EVENTO, type TipoEvento, tipoBySlug } from '../../fiscal/tipos-evento.ts';
import { type Html, html, type Inserted } from '../../published/site/page-shell.ts';
import { formTokenOf } from '../contas/entrada.ts';
import { registrarDeOficio } from './office.ts';
import { listEventos } from './operate.ts';
import { nameEstado, writtenMoment } from './palavras.page.ts';
import type { EventoPublico } from './queries.ts';

const HERE = 'eventos';
const PATH = '/eventos/oficio';
const TITLE = 'Registrar evento de ofício';
const OFICIO: readonly TipoEvento[] = TIPOS_EVENTO.filter(({ porOficio }) => porOficio);
/** The form field of the author, which is no field of the type. */
const CNPJ = 'cnpj';

type Problems = Readonly<Record<string, string>>;

/** The first step: the choice of the note and of the type. */
function choosePage(slug: string, chave: string, tipo: string, problem?: string): PageShown {
  return {
    title: TITLE,
    here: HERE,
    ...(problem === undefined ? {} : { status: 422 }),
    main: html`<p>De ofício registra quem é da prefeitura, em nome do município, que assina o evento ao enviá-lo. Escolha a nota e o que se registra nela;
os campos vêm a seguir.</p>
${problem === undefined ? undefined : notice('erro', problem)}<form method="get" action="${pathIn(slug, PATH)}">
${field({
  name: 'chave',
  label: 'Chave de acesso da nota',
  value: chave,
  help: '50 dígitos. Pode ser colada com espaços.',
  required: true,
})}${field({
  name: 'tipo',
  label: 'O que registrar',
  value: tipo,
  choices: OFICIO.map(({ slug: one, descricao }) => [one, descricao]),
  required: true,
})}<p class="botoes"><button>Continuar</button>${link(pathIn(slug, '/eventos'), 'Voltar aos eventos')}</p>
</form>
`,
  };
}

async function firstPage(call: InMunicipio): Promise<Answer> {
  const { slug, query } = call;
  const chave = (query.get('chave') ?? '').replace(/\s/g, '');
  const tipo = tipoOfOffice(query.get('tipo') ?? '');
  if (chave === '' || tipo === undefined) return choosePage(slug, chave, tipo?.slug ?? '');
  return fieldsPage(call, chave, tipo, (nome) => query.get(nome) ?? '');
}

function tipoOfOffice(text: string): TipoEvento | undefined {
  const tipo = tipoBySlug(text);
  return tipo?.porOficio ? tipo : undefined;
}

/** The second step, repeated after a fault. */
async function fieldsPage(
  call: InMunicipio,
  chave: string,
  tipo: TipoEvento,
  written: (nome: string) => string,
  wrong: {
    readonly problems: Problems;
    readonly others: readonly string[];
    readonly asksCnpj: boolean;
  } = NOTHING_WRONG,
): Promise<PageShown> {
  const { world, slug, visitor } = call;
  const eventos = await listEventos(world, slug, chave);
  if ('problem' in eventos) return choosePage(slug, chave, tipo.slug, eventos.problem);
  const { adn } = await municipioNamed(world, slug);
  const { problems, others, asksCnpj } = wrong;
  const fields = [
    carried([
      ['chave', chave],
      ['tipo', tipo.slug],
    ]),
    adn === undefined || asksCnpj
      ? field({
          name: CNPJ,
          label: 'CNPJ do município',
          help: 'O município ainda não tem certificado configurado, que o diria. Só dígitos e letras.',
          value: written(CNPJ),
          problem: problems[CNPJ],
          required: true,
        })
      : undefined,
    ...tipo.campos.map((campo) => fieldOf(campo, eventos, written(campo.nome), problems[campo.nome])),
    field({
      name: 'motivo',
      label: 'Anotação para o histórico',
      help: 'Só quem usa este console a lê; não vai no evento.',
      maxlength: 255,
      value: written('motivo'),
    }),
  ];
  return {
    title: tipo.descricao,
    here: HERE,
    ...(wrong === NOTHING_WRONG ? {} : { status: 422 }),
    main: html`${others.length === 0 ? undefined : notice('erro', html`<p>Nada foi registrado.</p><ul>${others.map((one) => html`<li>${one}</li>`)}</ul>`)}${
      wrong !== NOTHING_WRONG && others.length === 0
        ? notice('erro', 'Nada foi registrado: confira os campos marcados.')
        : undefined
    }<p>Na nota ${link(pathIn(slug, `/notas/${chave}`), html`<code>${chave}</code>`)}.${tipo.cancela ? ' Registrado no ADN, este evento cancela a nota, e não se desfaz.' : undefined}</p>
${form({
  action: pathIn(slug, PATH),
  token: formTokenOf(visitor),
  fields,
  button: 'Registrar',
  isGrave: tipo.cancela,
  beside: link(pathIn(slug, PATH, { chave, tipo: tipo.slug }), 'Limpar'),
})}`,
  };
}

const NOTHING_WRONG = { problems: {}, others: [], asksCnpj: false } as const;

/** A field by the declaration of the layout. */
function fieldOf(
  campo: CampoEvento,
  eventos: readonly EventoPublico[],
  value: string,
  problem: string | undefined,
): Html {
  const { nome, sobre, obrigatorio, obrigatorioCom, opcoes, tipo } = campo;
  const named = sobre.replace(/\.$/, '');
  const needed =
    obrigatorioCom === undefined ? undefined : `Só é obrigatório com ${obrigatorioCom.valor} no campo acima.`;
  const common = { name: nome, label: named, value, problem, required: obrigatorio, help: needed };
  if (opcoes !== undefined) {
    const choices = opcoes.map(({ codigo, descricao }): [string, string] => [codigo, `${codigo}: ${descricao}`]);
    return field({ ...common, choices: withNone(choices) });
  }
  if (tipo === T.idEventoReferido && eventos.length > 0) {
    const choices = eventos.map((one): [string, string] => [
      eventoId(one.chave_acesso, one.codigo_tipo_evento, one.numero_sequencial),
      `${one.descricao_evento} nº ${one.numero_sequencial}, ${writtenMoment(one.data_hora_evento)}, ${nameEstado(one.status_evento)}`,
    ]);
    return field({ ...common, choices: withNone(choices) });
  }
  const numeric = tipo.kind === 'digits' ? ({ inputmode: 'numeric' } as const) : {};
  const isLong = tipo === T.xMotivo;
  return field({
    ...common,
    ...numeric,
    ...(isLong ? { rows: 3 } : {}),
    maxlength: tipo.max,
    help: needed ?? (isLong ? undefined : `Espera-se: ${tipo.expected}.`),
  });
}

/** The message stands below its field; its JSON name is unknown to the operator and is removed. */
function withoutName(campo: string, mensagem: string): string {
  const rest = mensagem.startsWith(`${campo} `) ? mensagem.slice(campo.length + 1) : mensagem;
  return `${rest.charAt(0).toUpperCase()}${rest.slice(1)}`;
}

/** A choice among several options has no default. */
function withNone(choices: readonly (readonly [string, string])[]): readonly (readonly [string, string])[] {
  return choices.length > 1 ? [['', 'Escolha…'], ...choices] : choices;
}

async function register(call: InMunicipio): Promise<Answer> {
  const { world, slug, form: sent } = call;
  const chave = sent.text('chave');
  const tipo = tipoOfOffice(sent.text('tipo'));
  if (tipo === undefined) return choosePage(slug, chave, '', 'Escolha o que registrar.');
  const campos = tipo.campos
    .map(({ nome }) => [nome, sent.text(nome).trim().replace(/\s+/g, ' ')] as const)
    .filter(([, value]) => value !== '');
  const corpo = Buffer.from(JSON.stringify({ tipo_evento: tipo.slug, ...Object.fromEntries(campos) }));
  const cnpj = sent.text(CNPJ).trim() || undefined;
  const registered = await registrarDeOficio(world, slug, { chave, corpo, cnpj, porMao: byHand(call) });
  const again = (problems: Problems, others: readonly string[], asksCnpj = false) =>
    fieldsPage(call, chave, tipo, sent.text, { problems, others, asksCnpj });
  if ('problem' in registered) return again({}, [registered.problem], true);
  if ('faults' in registered) {
    const names = new Set(tipo.campos.map(({ nome }) => nome));
    const problems: Record<string, string> = {};
    const others: string[] = [];
    for (const { campo, codigo, mensagem } of registered.faults) {
      if (campo === undefined || !names.has(campo)) others.push(`${mensagem} (${codigo})`);
      else problems[campo] ??= withoutName(campo, mensagem);
    }
    return again(problems, others, cnpj !== undefined);
  }
  const { evento, avisos } = registered;
  const remarks: Inserted = avisos.map(({ mensagem }) => ` ${mensagem}`);
  return {
    goTo: pathIn(slug, `/evento/${evento.id_evento}`),
    recado: `O evento foi registrado, e é enviado ao ADN em instantes.${(remarks as readonly string[]).join('')}`,
  };
}

export const OFICIO_ROUTES: readonly Row[] = [
  forRole('operacao', 'GET', PATH, firstPage),
  forRole('operacao', 'POST', PATH, register),
];
