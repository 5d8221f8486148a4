/** `docs/erros.md`: the public table of errors, one section a code, made of the table and of the rules. */
import { type Case, type ErrorPage, type Fragment, pageOf } from './errors/page.ts';
import { ERRORS, type PublicError } from './errors.ts';
import type { Fault } from './fault.ts';

export function errosMarkdown(): string {
  const short = ERRORS.filter(({ codigo }) => codigo.length === 4);
  const long = ERRORS.filter(({ codigo }) => codigo.length > 4);
  return `<!-- Gerado por scripts/generate.ts a partir da tabela de erros e das regras; não edite. -->

# Erros

Cada código que uma resposta pode trazer em \`codigo_erro\`, em \`erros\` ou em \`avisos\`: o que significa, como resolver e,
quando ele diz respeito à DPS, um trecho que é recusado e outro que é aceito. As respostas citadas aqui são as que o
serviço dá a esses exemplos.

Decida pelo status HTTP e pelo código: o texto das mensagens pode mudar, o sentido de um código não. Uma resposta traz
todos os erros da etapa que recusou; o primeiro deles está no cabeçalho do envelope. **Repetir** diz se a mesma
requisição, sem mudança, pode dar certo depois.

## Códigos do serviço

${indexOf(short)}

## Códigos na numeração nacional, e os da assinatura em JSON

${indexOf(long)}

${ERRORS.map(section).join('\n')}`;
}

function indexOf(errors: readonly PublicError[]): string {
  const rows = errors.map((error) => {
    const { http, notice } = pageOf(error);
    const status = error.status === 'aviso' ? 'aviso' : http;
    const title = notice === undefined || error.status === 'aviso' ? error.mensagem : `*${error.mensagem}*`;
    return `| ${link(error.codigo)} | ${status} | ${cell(title)} | ${error.transitorio ? 'sim' : ''} |`;
  });
  return ['| Código | HTTP | O que diz | Repetir |', '| --- | --- | --- | --- |', ...rows].join('\n');
}

function link(codigo: string): string {
  return `[${codigo}](#${codigo})`;
}

function section(error: PublicError): string {
  const page = pageOf(error);
  return `${[
    `<a id="${error.codigo}"></a>`,
    `## ${error.codigo}`,
    `**${plain(error.mensagem)}**`,
    ...(page.notice === undefined ? [] : [`> ${linked(page.notice, error)}`]),
    ...(error.situacao === 'substituido' ? [] : [`HTTP ${page.http}. ${page.retry}`]),
    plain(error.significado),
    `**Como resolver.** ${plain(error.comoResolver)}`,
    ...fieldsOf(page),
    ...page.cases.flatMap((one) => caseText(one, page.cases.length > 1)),
    ...(error.nacional === undefined ? [] : [`**Em outros sistemas.** ${plain(error.nacional)}`]),
    `**Origem.** ${plain(error.origem)}.`,
  ].join('\n\n')}\n`;
}

function fieldsOf({ fields }: ErrorPage): string[] {
  return fields.length === 0 ? [] : [`**Onde.** ${fields.map(code).join(', ')}`];
}

function caseText({ at, why, expected, rejected, accepted }: Case, isOneOfMany: boolean): string[] {
  return [
    ...(isOneOfMany ? [`### ${at === undefined ? 'Na estrutura do documento' : `Em ${code(at)}`}`] : []),
    ...(why === undefined ? [] : [plain(why)]),
    ...(expected === undefined ? [] : [`Esperado: ${plain(expected)}.`]),
    ...rejected.flatMap(({ fragment, answers }) => ['Recusado:', xml(fragment), answers.map(answer).join('\n')]),
    ...(rejected.length === 0 ? [WITHOUT_REJECTED] : []),
    ...accepted.flatMap((fragment) => ['Aceito:', xml(fragment)]),
  ];
}

/** Said where no document alone is refused. */
export const WITHOUT_REJECTED =
  'Sem exemplo recusado: se há recusa, depende do cadastro do município ou do ambiente, e não só do documento.';

function answer({ codigo, xpath, mensagem }: Fault): string {
  return `- ${code(codigo)} em ${code(xpath)}: ${plain(mensagem)}`;
}

function xml(fragment: Fragment): string {
  return ['```xml', ...fragment.map(({ text }) => text), '```'].join('\n');
}

function code(text: string): string {
  return `\`${text}\``;
}

function cell(text: string): string {
  return plain(text).replaceAll('|', '\\|');
}

/** Running text in which a tag of the document must not become one of the page. */
function plain(text: string): string {
  return text.replace(/[<>]/g, (character) => (character === '<' ? '&lt;' : '&gt;')).replace(/&(?!lt;|gt;)/g, '&amp;');
}

function linked(text: string, { substituidoPor }: PublicError): string {
  return substituidoPor === undefined ? text : text.replace(substituidoPor, link(substituidoPor));
}
