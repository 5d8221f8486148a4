/** The municipality's page: its settings and their meanings, its certificate and trust, the test of the ADN, and the change form. */

import { facts, field, form, link, notice, table } from '../../base/pages/fields.ts';
import { carrySeen, findOvertaken, type Overtaken, takeOvertaken, tellOvertaken } from '../../base/pages/seen.ts';
import {
  type Answer,
  byHand,
  forRole,
  type InMunicipio,
  type PageShown,
  pathIn,
  type Row,
} from '../../base/pages/visit.ts';
import {
  type Asked,
  alterMunicipio,
  type MunicipioShown,
  type Recusa,
  showMunicipio,
} from '../../base/world/municipios.ts';
import { MOTIVO_MAX } from '../../base/world/operator.ts';
import { mayAs } from '../../base/world/papeis.ts';
import { LISTAS, type ListaNome } from '../../fiscal/registers.ts';
import { isOn, SETTING_GROUPS, SETTINGS, type SettingName, showSetting, writeSetting } from '../../fiscal/settings.ts';
import { upperFirst } from '../../fiscal/words.ts';
import { type Html, html, type Inserted } from '../../published/site/page-shell.ts';
import { formTokenOf } from '../contas/entrada.ts';
import { BRASAO_PATH, brasaoShown } from './brasao.page.ts';
import { certificadoFacts, testeShown, timeLeft } from './certificado-shown.page.ts';
import { CERTIFICADOS_PATH } from './certificados.page.ts';
import { type TesteDoAdn, testAdn } from './testar-adn.ts';

const HERE = 'municipio';
const PATH = '/municipio';

type Municipio = MunicipioShown['municipio'];
type Group = keyof typeof SETTING_GROUPS;

const settingsIn = (group: Group): typeof SETTINGS => SETTINGS.filter(([, row]) => (row.group ?? 'regras') === group);

async function municipioPage(call: InMunicipio, teste?: TesteDoAdn): Promise<PageShown> {
  const { world, slug, papel } = call;
  const shown = await showMunicipio(world, slug, 'painel');
  const { municipio, nome, problems, avisos } = shown;
  const change = mayAs(papel, 'administracao')
    ? html`<p class="botoes"><a class="botao" href="${pathIn(slug, `${PATH}/alterar`)}">Mudar regras e limites</a></p>\n`
    : undefined;
  const title = nome ?? 'Ambiente de integração';
  return {
    title,
    here: HERE,
    main: html`${problems.map((one) => notice('erro', one))}${teste === undefined ? undefined : testeShown(teste)}${settings('municipio', municipio)}${about(call, shown)}${arms(call, municipio)}${change}${settings('regras', municipio)}${settings(
      'limites',
      municipio,
    )}${settings('soap', municipio)}${certificate(call, shown)}${settings('confianca', municipio)}${settings('adn', municipio)}${tester(call, municipio)}${remarks(avisos)}<p class="quieto">O que diz «por comando» nomeia arquivos e endereços desta máquina, ou quem o
município é: muda-o quem opera o serviço, com <code>nfse municipio alterar ${slug}</code>. O certificado também se troca em Certificados.</p>`,
  };
}

function settings(group: Group, municipio: Municipio): Html {
  const rows = settingsIn(group).map((setting): readonly Inserted[] => {
    const [, { help, byCommand }] = setting;
    const [title, value] = showSetting(setting, municipio);
    return [
      upperFirst(title),
      value,
      html`${upperFirst(help)}.${byCommand ? html` <small>(por comando)</small>` : undefined}`,
    ];
  });
  return html`<h2>${SETTING_GROUPS[group]}</h2>
<div class="empilha">${table(SETTING_GROUPS[group], ['Configuração', 'Como está', 'O que é'], rows)}</div>`;
}

function about({ world, slug }: InMunicipio, { municipio, prestadores, listas }: MunicipioShown): Html {
  const registers = Object.entries(listas).map(([nome, linhas]): [string, string] => [
    LISTAS[nome as ListaNome].titulo,
    linhas.toLocaleString('pt-BR'),
  ]);
  const base = world.baseUrl?.replace(/\/$/, '') ?? '';
  const rehearsal =
    municipio.ambiente === 'homologacao'
      ? 'Este município está em homologação: é um ensaio. O que se emite aqui não tem valor, não vai ao ADN, e é apagado depois do prazo de guarda.'
      : html`Quem integra ensaia no ambiente de integração, aberto a todos, sem valor e sem certificado: <code>${base}/integracao</code>.`;
  return html`${facts([
    ['Endereço para quem integra', html`<code>${base}/${slug}</code>`],
    ['Prestadores no cadastro', prestadores.toLocaleString('pt-BR')],
    ...registers,
  ])}<p>${rehearsal}</p>
`;
}

function arms({ slug, papel }: InMunicipio, { brasao }: Municipio): Html {
  const change = mayAs(papel, 'administracao')
    ? html`<p>${link(pathIn(slug, BRASAO_PATH), 'Trocar o brasão e a cor')}</p>\n`
    : undefined;
  return html`<h2>Brasão</h2>
${brasaoShown(slug, brasao)}${change}`;
}

function certificate({ slug, papel }: InMunicipio, { certificado }: MunicipioShown): Html {
  const change = mayAs(papel, 'administracao')
    ? html`<p>${link(pathIn(slug, CERTIFICADOS_PATH), 'Certificados: enviar outro, testar, pôr em uso')}</p>\n`
    : undefined;
  if (certificado === undefined) {
    return html`<h2>Certificado do município</h2>
<p>Nenhum que se possa ler. Com ele o município assina as notas e se identifica ao ADN.</p>
${change}`;
  }
  const { dias } = certificado;
  const late = `O certificado ${timeLeft(certificado)}: quem administra o município envia o novo em Certificados, sem reiniciar nada.`;
  return html`<h2>Certificado do município</h2>
${dias < 30 ? notice(dias < 0 ? 'erro' : 'aviso', late) : undefined}${certificadoFacts(certificado)}${change}`;
}

// The test of the ADN.

function tester({ slug, visitor, papel }: InMunicipio, { adn }: Municipio): Inserted {
  if (adn === undefined || !mayAs(papel, 'operacao')) return undefined;
  return html`<h3>Testar a conexão</h3>
<p>Abre uma conexão com o ADN, com o certificado do município, e faz uma consulta que nada muda. Nada é enviado.</p>
${form({ action: pathIn(slug, `${PATH}/testar-adn`), token: formTokenOf(visitor), fields: undefined, button: 'Testar agora' })}`;
}

function remarks(avisos: readonly string[]): Inserted {
  if (avisos.length === 0) return undefined;
  return html`<h2>Para saber</h2>
<ul>${avisos.map((one) => html`<li>${one}</li>\n`)}</ul>
`;
}

// The change of settings.

/** The colour has its picker beside the arms. */
const CHANGEABLE = SETTINGS.filter(([name, { byCommand }]) => byCommand !== true && name !== 'cor');

/** The value of a setting in its form field. */
function writtenOf(setting: (typeof SETTINGS)[number], municipio: Municipio): string {
  const [name, { takes }] = setting;
  return takes === undefined ? (isOn(name, municipio) ? 'sim' : 'nao') : writeSetting(setting, municipio);
}

/** The values of the form's fields. */
function writtenNow(municipio: Municipio): Readonly<Record<string, string>> {
  return Object.fromEntries(CHANGEABLE.map((setting) => [setting[0], writtenOf(setting, municipio)]));
}

function titleOf(name: string): string {
  const [, { title }] = CHANGEABLE.find(([one]) => one === name)!;
  return upperFirst(title);
}

async function changePage(
  call: InMunicipio,
  written?: (name: SettingName) => string,
  problems: readonly Recusa[] = [],
  overtaken: readonly Overtaken[] = [],
): Promise<PageShown> {
  const { world, slug, visitor } = call;
  const { municipio } = await showMunicipio(world, slug, 'painel');
  const groups = (Object.keys(SETTING_GROUPS) as Group[]).map((group) => {
    const rows = settingsIn(group).filter((one) => CHANGEABLE.includes(one));
    const fields = rows.map((one) => {
      const problem = problems.find(({ campo }) => campo === one[0])?.texto;
      return settingField(
        one,
        municipio,
        written?.(one[0]) ?? writtenOf(one, municipio),
        problem && upperFirst(problem),
      );
    });
    return rows.length === 0 ? undefined : html`<h2>${SETTING_GROUPS[group]}</h2>\n${fields}`;
  });
  const motivo = field({
    name: 'motivo',
    label: 'Motivo',
    help: 'Por que se muda. Fica no histórico.',
    maxlength: MOTIVO_MAX,
  });
  const others = problems.filter(({ campo }) => campo === undefined || !CHANGEABLE.some(([name]) => name === campo));
  return {
    title: 'Mudar regras e limites',
    here: HERE,
    ...(problems.length === 0 ? (overtaken.length === 0 ? {} : { status: 409 }) : { status: 422 }),
    main: html`${tellOvertaken(overtaken, titleOf)}${problems.length === 0 ? undefined : notice('erro', html`<p>Nada foi gravado.</p>${others.map(({ texto }) => html`<p>${texto}</p>`)}`)}<p>Vale em segundos, sem
reiniciar o serviço, também para quem está emitindo agora.</p>
${form({
  action: pathIn(slug, `${PATH}/alterar`),
  token: formTokenOf(visitor),
  fields: [carrySeen(writtenNow(municipio)), groups, html`<h2>Por quê</h2>\n`, motivo],
  button: 'Gravar',
  beside: link(pathIn(slug, PATH), 'Voltar sem mudar'),
})}`,
  };
}

function settingField(
  [name, { title, help, usual, takes, choices, without, show }]: (typeof SETTINGS)[number],
  municipio: Municipio,
  value: string,
  problem: string | undefined,
): Html {
  const of = { ambiente: municipio.ambiente, hasAdn: municipio.adn !== undefined };
  const said = `${upperFirst(help)}.${usual === undefined ? '' : ` Padrão: ${usual}.`}`;
  const common = { name, label: upperFirst(title), value, help: said, problem };
  if (takes === undefined) {
    const both: readonly [string, string][] = [
      ['sim', show(true, of)],
      ['nao', show(false, of)],
    ];
    return field({ ...common, choices: both, required: true });
  }
  if (choices === undefined) return field(common);
  const none: readonly [string, string][] = without === undefined ? [] : [['', `como no padrão: ${usual}`]];
  return field({
    ...common,
    choices: [...none, ...Object.keys(choices).map((one) => [one, one] as const)],
    required: without === undefined,
  });
}

async function change(call: InMunicipio): Promise<Answer> {
  const { world, slug, form: sent } = call;
  const { municipio } = await showMunicipio(world, slug, 'painel');
  const overtaken = findOvertaken(sent, writtenNow(municipio));
  if (overtaken.length > 0) {
    const now = takeOvertaken(Object.fromEntries(CHANGEABLE.map(([name]) => [name, sent.text(name)])), overtaken);
    return changePage(call, (name) => now[name] ?? '', [], overtaken);
  }
  const written: Record<string, string | true> = {};
  const without: SettingName[] = [];
  const empty: Recusa[] = [];
  for (const setting of CHANGEABLE) {
    const [name, row] = setting;
    const text = sent.text(name).trim();
    // A form without the field leaves the setting unchanged.
    if (sent.texts(name).length === 0 || text === writtenOf(setting, municipio)) continue;
    if (row.takes === undefined) {
      if (text === 'sim') written[name] = true;
      else without.push(name);
    } else if (text !== '') written[name] = text;
    else if (row.without !== undefined) without.push(name);
    else empty.push({ campo: name, texto: 'não pode ficar vazio.' });
  }
  const again = (problems: readonly Recusa[]) => changePage(call, (name) => sent.text(name), problems);
  if (empty.length > 0) return again(empty);
  const asked: Asked = { written, without };
  const changed = await alterMunicipio(world, slug, asked, byHand(call));
  if ('problems' in changed) return again(changed.problems);
  const count = Object.keys(written).length + without.length;
  const recado = count === 0 ? 'Nada mudou: o município já estava assim.' : 'O município foi alterado.';
  return { goTo: pathIn(slug, PATH), recado };
}

export const MUNICIPIO_ROUTES: readonly Row[] = [
  forRole('leitura', 'GET', PATH, (call) => municipioPage(call)),
  forRole('administracao', 'GET', `${PATH}/alterar`, (call) => changePage(call)),
  forRole('administracao', 'POST', `${PATH}/alterar`, change),
  forRole('operacao', 'POST', `${PATH}/testar-adn`, async (call) =>
    municipioPage(call, await testAdn(call.world, call.slug, byHand(call))),
  ),
];
