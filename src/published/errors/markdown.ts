/** `docs/erros/`: the public table of errors, an index and one file per group, made of the table and of the rules. */
import type { Pedido } from '../../fiscal/errors/row.ts';
import { type Alcance, ERRORS, errorOf, type PublicError } from '../../fiscal/errors.ts';
import { code, escapeTags, table } from '../markdown.ts';
import { type ErrorGroup, groupsOf } from './groups.ts';
import {
  type Answer,
  type Case,
  type ErrorPage,
  type Fragment,
  fieldsOf,
  type Place,
  pageOf,
  type Sample,
} from './page.ts';

const GENERATED = '<!-- Gerado por scripts/generate.ts a partir da tabela de erros e das regras; não edite. -->';

const INTRODUCTION = `# Erros

Cada código que uma resposta pode trazer em \`codigo_erro\`, em \`erros\` ou em \`avisos\`: o que significa, como resolver, a
quem diz respeito e, quando ele é sobre a DPS, um trecho que é recusado e outro que é aceito, em XML e em JSON. As
respostas citadas aqui são as que o serviço dá a esses exemplos. A mesma tabela, para programas, está em
\`/docs/erros.json\`; com busca, em \`/docs/erros\`.

Decida pelo status HTTP e pelo código: o texto das mensagens pode mudar, o sentido de um código não. Uma resposta traz
todos os erros que se acharam; o primeiro deles está no cabeçalho do envelope. **Repetir** diz se a mesma
requisição, sem mudança, pode dar certo depois. Um código **nacional** é de uma regra do padrão nacional que a
especificação deste serviço não nomeia: em produção recusa, no ambiente de integração é um aviso.`;

const GROUPS = groupsOf(ERRORS, fieldsOf);

const FILE_BY_CODE: ReadonlyMap<string, string> = new Map(
  GROUPS.flatMap((group) => group.errors.map(({ codigo }) => [codigo, fileOf(group)] as const)),
);

function fileOf({ id }: ErrorGroup): string {
  return `${id}.md`;
}

/** The files of `docs/erros` by their names. */
export function errorsMarkdown(): ReadonlyMap<string, string> {
  return new Map([['README.md', indexText()], ...GROUPS.map((group) => [fileOf(group), groupText(group)] as const)]);
}

/** The text of a code at an address of its own, which stands beside those of the other codes. */
export function errorMarkdown(codigo: string): string | undefined {
  const error = errorOf(codigo);
  if (error === undefined) return undefined;
  return linkAddresses(section(error).replace(/^<a .*\n\n## /, '# '), '');
}

/** The index at an address of its own; `folder`: of the codes, relative to it. */
export function errorIndexMarkdown(folder: string): string {
  const text = indexText().replace(/^## \[(.+)\]\(.+\)$/gm, '## $1');
  return linkAddresses(text.slice(GENERATED.length).trimStart(), folder);
}

/** Links to places in these files become links to addresses of the service. */
function linkAddresses(text: string, folder: string): string {
  return text.replace(/\([a-z-]+\.md#(E\d+)\)/g, `(${folder}$1.md)`);
}

/** A link to a code from a file of `docs`. */
export function errorLink(codigo: string): string {
  return `[${codigo}](erros/${placeOf(codigo)})`;
}

function placeOf(codigo: string): string {
  return `${FILE_BY_CODE.get(codigo)}#${codigo}`;
}

function indexText(): string {
  const groups = GROUPS.map((group) => `## [${group.titulo}](${fileOf(group)})\n\n${codesTable(group.errors)}`);
  return `${[GENERATED, INTRODUCTION, ...groups].join('\n\n')}\n`;
}

function groupText({ titulo, errors }: (typeof GROUPS)[number]): string {
  const head = `${GENERATED}\n\n# ${titulo}\n\n[Todos os códigos](README.md)`;
  return `${head}\n\n${errors.map(section).join('\n')}`;
}

function codesTable(errors: readonly PublicError[]): string {
  const rows = errors.map((error) => {
    const { codigo, situacao, transitorio } = error;
    const title = situacao === 'enviado' ? escapeTags(error.mensagem) : `*${escapeTags(error.mensagem)}*`;
    return [link(codigo), statusCell(error), title, transitorio ? 'sim' : ''];
  });
  return table(['Código', 'HTTP', 'O que diz', 'Repetir'], rows);
}

function statusCell({ status, statuses, alcance }: PublicError): string {
  if (status === 'aviso') return 'aviso';
  return alcance === 'nacional' ? `${status}, nacional` : statuses.join(', ');
}

/** A link from another file of `docs/erros`, or within the same file. */
function link(codigo: string): string {
  return `[${codigo}](${placeOf(codigo)})`;
}

function section(error: PublicError): string {
  const page = pageOf(error);
  return `${[
    `<a id="${error.codigo}"></a>`,
    `## ${error.codigo}`,
    `**${escapeTags(error.mensagem)}**`,
    ...(page.notice === undefined ? [] : [`> ${linkReplacement(page.notice, error)}`]),
    ...(error.situacao === 'substituido' ? [] : [`HTTP ${page.http}. ${page.retry}`]),
    escapeTags(error.significado),
    ...(error.situacao === 'substituido' ? [] : [`**A quem diz respeito.** ${page.reach}`]),
    `**Como resolver.** ${escapeTags(error.comoResolver)}`,
    ...whereText(page),
    ...error.pedidos.flatMap((pedido) => requestText(pedido, error.status !== 'aviso')),
    ...page.cases.flatMap((one) => caseText(one, page.cases.length > 1)),
    ...(error.nacional === undefined ? [] : [`**Em outros sistemas.** ${escapeTags(error.nacional)}`]),
    `**Origem.** ${escapeTags(error.origem)}.`,
  ].join('\n\n')}\n`;
}

function whereText({ fields }: ErrorPage): string[] {
  return fields.length === 0 ? [] : [`**Onde.** ${fields.map(place).join(', ')}`];
}

function requestText({ titulo, recusado, aceito }: Pedido, refuses: boolean): string[] {
  const heading = titulo === undefined ? [] : [`${escapeTags(titulo)}.`];
  const verdict = refuses ? 'Recusado:' : 'Aceito, com aviso:';
  return [...heading, verdict, `\`\`\`text\n${recusado}\n\`\`\``, 'Aceito:', `\`\`\`text\n${aceito}\n\`\`\``];
}

function caseText(one: Case, isOneOfMany: boolean): string[] {
  const { at, title, why, mend, alcance, expected, rejected, refuses, accepted } = one;
  return [
    ...(isOneOfMany ? [`### ${at === undefined ? 'Na estrutura do documento' : `Em ${code(at)}`}`] : []),
    ...(title === undefined ? [] : [`${escapeTags(title)}.`]),
    ...(why === undefined ? [] : [escapeTags(why)]),
    ...(mend === undefined ? [] : [`Como resolver: ${escapeTags(mend)}`]),
    ...(alcance === undefined ? [] : [ALCANCE_DA_REGRA[alcance]]),
    ...(expected === undefined ? [] : [`Esperado: ${escapeTags(expected)}.`]),
    ...rejected
      .slice(0, EXAMPLES_MAX)
      .flatMap(({ sample, answers }) => [
        refuses ? 'Recusado:' : 'Aceito, com aviso:',
        ...bodies(sample),
        answers.map(answer).join('\n'),
      ]),
    ...(rejected.length === 0 ? [WITHOUT_REJECTED] : []),
    ...accepted.slice(0, EXAMPLES_MAX).flatMap((sample) => ['Aceito:', ...bodies(sample)]),
    ...(Math.max(rejected.length, accepted.length) > EXAMPLES_MAX ? [MORE_EXAMPLES] : []),
  ];
}

/** Examples of each kind in these files. The page of a code shows all. */
export const EXAMPLES_MAX = 2;
const MORE_EXAMPLES = 'Há mais exemplos na página do código, em `/docs/erros`.';

/** Added to a rule whose reach differs from that of its code. */
export const ALCANCE_DA_REGRA: Readonly<Record<Alcance, string>> = {
  geral: 'Esta regra recusa em produção e no ambiente de integração.',
  nacional: 'Esta regra é nacional: em produção recusa, no ambiente de integração é um aviso.',
  aviso: 'Esta regra nunca recusa: é um aviso.',
};

/** Replaces the rejected example when the document alone is never refused. */
export const WITHOUT_REJECTED =
  'Sem exemplo recusado: se há recusa, depende do cadastro do município ou do ambiente, e não só do documento.';

/** A path, and its name in a JSON body. */
function place({ path, campo }: Place): string {
  return campo === undefined ? code(path) : `${code(path)} (JSON: ${code(campo)})`;
}

function answer({ codigo, xpath, mensagem }: Answer): string {
  return `- ${code(codigo)} em ${code(xpath)}: ${escapeTags(mensagem)}`;
}

function bodies({ xml, json }: Sample): string[] {
  return [...(xml === undefined ? [] : [block('xml', xml)]), ...(json === undefined ? [] : [block('json', json)])];
}

function block(language: 'xml' | 'json', fragment: Fragment): string {
  return [`\`\`\`${language}`, ...fragment.map(({ text }) => text), '```'].join('\n');
}

function linkReplacement(text: string, { substituidoPor }: PublicError): string {
  return substituidoPor === undefined ? text : text.replace(substituidoPor, link(substituidoPor));
}
