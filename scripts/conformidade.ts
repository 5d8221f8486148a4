/**
 * `docs/conformidade.md`: the requirements of the specification beside their implementation. Each code of its tables
 * has its cause, and each rule has a breaking and a keeping example. The examples are judged by the law during the run;
 * a deviation is marked as a failure, which its test refuses.
 */

import type { Examples } from '../src/fiscal/errors/row.ts';
import { ERRORS, errorOf, type PublicError } from '../src/fiscal/errors.ts';
import type { Facts } from '../src/fiscal/facts.ts';
import { exampleJson } from '../src/fiscal/rules/example.ts';
import type { AnyRule, Patch } from '../src/fiscal/rules/rule.ts';
import { ALL_RULES } from '../src/fiscal/rules/rules.ts';
import { avisosOn, factsOf, faultsOf, isJsonOnly } from '../src/fiscal/rules/trial.ts';
import { groupsOf } from '../src/published/errors/groups.ts';
import { errorLink } from '../src/published/errors/markdown.ts';
import { fieldsOf, xpathOf } from '../src/published/errors/page.ts';
import { escapeTags, table } from '../src/published/markdown.ts';
import { ADN_EXECUTA, ADN_NOMEADAS, type ExecutadaPeloAdn } from '../test/especificacao/adn.ts';
import {
  BY_EVENTO,
  SPECIFIED,
  SPECIFIED_CODES,
  WITHOUT_DOCUMENT,
  WITHOUT_JSON,
  WITHOUT_XML,
} from '../test/especificacao/codigos.ts';
import { PARAMETROS, type Parametro } from '../test/especificacao/parametros.ts';

/** The mark of an example with an unexpected result. */
export const FAILURE = 'FALHA';

export function conformidadeMarkdown(): string {
  const specified = ALL_RULES.filter(({ scope }) => scope === undefined).length;
  const national = ALL_RULES.filter(({ scope }) => scope === 'nacional').length;
  const examples = [...ALL_RULES, ...ERRORS.flatMap(({ exemplos }) => exemplos ?? [])];
  const rejected = examples.reduce((sum, { rejects }) => sum + rejects.length, 0);
  const accepted = examples.reduce((sum, { accepts }) => sum + accepts.length, 0);
  return `<!-- Gerado por scripts/generate.ts a partir das regras e da tabela da especificação; não edite. -->

# Conformidade

O que a especificação pede, ao lado do que lhe responde. São ${SPECIFIED_CODES.size} códigos nas tabelas da especificação e
${ALL_RULES.length} regras: ${specified} que a especificação nomeia, ${national} só do padrão nacional e ${ALL_RULES.length - specified - national} que nunca recusam. Os seus
${rejected} exemplos recusados e ${accepted} aceitos foram julgados quando este arquivo foi gerado; os testes os enviam, um a um, a um
serviço em funcionamento (\`test/journeys/regras.test.ts\`), e comparam cada regra com os exemplos aceitos de todas as
outras (\`src/fiscal/rules/rules.test.ts\`). O sentido de cada código está em [erros](erros/README.md).

## Códigos da especificação

Copiados das tabelas da especificação em \`test/especificacao/codigos.ts\`. Cada um foi recebido de um serviço em
funcionamento, em XML e em JSON, em \`test/especificacao/codigos.test.ts\`; onde isso não é possível está o motivo.

${plainTable(['Código', 'HTTP', 'Seções da especificação', 'Em XML', 'Em JSON'], [...SPECIFIED_CODES.keys()].toSorted(byNumber).map(specifiedRow))}

## Parâmetros do município

As ${PARAMETROS.length} regras nacionais que dependem do que um município cadastrou, que o ambiente nacional deixa a ele. As que pedem um cadastro de
benefícios, deduções, regimes especiais ou não incidência valem onde o município o importou; os exemplos são de um município com os
cadastros de \`examples/\`.

${plainTable(['Código', 'Sobre', 'Aqui'], PARAMETROS.map(parametroRow))}

## Regras que o ADN executa

Das ${ADN_EXECUTA.length} regras que o ADN executa sobre a nota que um município compartilha, ${ADN_EXECUTA.length - ADN_NOMEADAS.flatMap(codesOf).length} são aqui, com o mesmo código, regras que recusam em
produção. As demais:

${plainTable(['Códigos', 'Sobre', 'Aqui'], ADN_NOMEADAS.map(executadaRow))}

## Regras e exemplos

Por exemplo recusado está o que muda na DPS de exemplo e, depois da seta, o que a lei responde; \`−\` diz o que foi
retirado, e \`…\` está pelo que o recusado e o aceito têm em comum. **Alcance**: *geral* recusa em produção e no ambiente de
integração, *nacional* recusa em produção e avisa na integração, *aviso* nunca recusa.

${groupsOf(ERRORS, fieldsOf).flatMap(groupSection).join('\n\n')}
`;
}

function byNumber(a: string, b: string): number {
  return a.length - b.length || (a < b ? -1 : 1);
}

function specifiedRow(code: string): readonly string[] {
  const sections = SPECIFIED.filter(({ codes }) => codes.some((one) => one.code === code)).map(
    ({ section }) => section,
  );
  const without = WITHOUT_DOCUMENT[code];
  const evento = BY_EVENTO[code];
  const ways = without === undefined ? [WITHOUT_XML[code], WITHOUT_JSON[code]] : [without, without];
  const [xml, json] =
    evento === undefined
      ? ways.map((reason) => (reason === undefined ? 'sim' : `não: ${reason}`))
      : ['não: só nos eventos, que se registram em JSON', `sim: ${evento}`];
  const status = errorOf(code) === undefined ? FAILURE : errorOf(code)!.statuses.join(', ');
  return [errorLink(code), status, sections.join('; '), xml!, json!];
}

function parametroRow({ code, sobre, responde, fora }: Parametro): readonly string[] {
  if (fora !== undefined) return [code, sobre, `fica de fora: ${fora}`];
  if (responde !== undefined) return [code, sobre, `responde ${errorLink(responde)}`];
  const rules = ALL_RULES.filter((rule) => rule.code === code);
  const given = rules.some((rule) => rule.given !== undefined) ? ', onde há o cadastro' : '';
  return [rules.length === 0 ? `**${FAILURE}** ${code}` : errorLink(code), sobre, `regra${given}`];
}

/** The codes that share one reason. */
export function codesOf({ codes }: ExecutadaPeloAdn): readonly string[] {
  return codes.split(/\s+/);
}

function executadaRow(row: ExecutadaPeloAdn): readonly string[] {
  const { sobre, responde, fora } = row;
  const here = responde === undefined ? fora! : `responde ${responde.map(errorLink).join(', ')}`;
  return [codesOf(row).join(', '), sobre, here];
}

function groupSection({ titulo, errors }: { titulo: string; errors: readonly PublicError[] }): string[] {
  const rows = errors.flatMap(({ codigo, exemplos, regras, origem }) => [
    ...(exemplos === undefined ? [] : [structureRow(codigo, exemplos, origem)]),
    ...regras.map(ruleRow),
  ]);
  if (rows.length === 0) return [];
  const head = ['Código', 'Onde', 'Alcance', 'Recusado', 'Aceito', 'Formas', 'Origem'];
  return [`### ${titulo}`, plainTable(head, rows)];
}

function structureRow(codigo: string, { rejects, accepts }: Examples, origem: string): readonly string[] {
  const cells = exampleCells({ code: codigo, rejects, accepts });
  return [errorLink(codigo), 'estrutura', 'geral', ...cells, origem];
}

function ruleRow(rule: AnyRule): readonly string[] {
  const { code, at, scope, origin } = rule;
  return [errorLink(code), `\`${xpathOf(at)}\``, scope ?? 'geral', ...exampleCells(rule), origin];
}

type Exemplified = Pick<AnyRule, 'code' | 'rejects' | 'accepts'> & Partial<Pick<AnyRule, 'scope' | 'also' | 'given'>>;

/** The first rejected and the first accepted example in short, the number of others, and the forms of the documents. */
function exampleCells({ code, scope, given, also = [], rejects, accepts }: Exemplified): string[] {
  const facts = factsOf({ given });
  const [bad, good] = [rejects[0], accepts[0]];
  const shared = sharedBy(bad, good);
  const verdicts = rejects.map((patch) => verdictOf(patch, scope, facts));
  const wanted = [code, ...also].toSorted().join(', ');
  const isRight = verdicts.every((codes) => (scope === 'aviso' ? codes.includes(code) : codes.join(', ') === wanted));
  const refused = bad && `${describePatch(bad, shared)} → ${verdicts[0]!.join(', ') || 'nada'}${more(rejects)}`;
  const passes = accepts.every((patch) => faultsOf(patch, facts).length === 0);
  const accepted = good && `${describePatch(good, shared)}${more(accepts)}`;
  return [
    refused === undefined
      ? 'pelo cadastro, pelo ambiente ou pela data, e não só pelo documento'
      : markFailure(refused, isRight),
    accepted === undefined ? 'qualquer outra DPS' : markFailure(accepted, passes),
    formsOf([...rejects, ...accepts]),
  ];
}

function verdictOf(patch: Patch, scope: AnyRule['scope'], facts: Facts): readonly string[] {
  const said = scope === 'aviso' ? avisosOn(patch, facts) : faultsOf(patch, facts);
  return [...new Set(said.map(({ codigo }) => codigo))].toSorted();
}

function markFailure(text: string, isRight: boolean): string {
  return isRight ? text : `**${FAILURE}** ${text}`;
}

function more(patches: readonly Patch[]): string {
  return patches.length > 1 ? ` (e mais ${patches.length - 1})` : '';
}

/** The forms in which the examples can be written; JSON has one property for the two documents of a party. */
function formsOf(patches: readonly Patch[]): string {
  const forms = [
    ...(patches.some((patch) => !isJsonOnly(patch)) ? ['XML'] : []),
    ...(patches.some((patch) => exampleJson(patch) !== undefined) ? ['JSON'] : []),
  ];
  return patches.length === 0 ? 'XML, JSON' : forms.join(', ');
}

function sharedBy(bad: Patch | undefined, good: Patch | undefined): ReadonlySet<string> {
  const other = new Map(Object.entries(good ?? {}));
  return new Set(Object.entries(bad ?? {}).flatMap(([path, text]) => (other.get(path) === text ? [path] : [])));
}

/** Values longer than this are cut. */
const VALUE_MAX = 40;
/** An example with no more entries than this is shown whole. */
const SHORT_MAX = 4;

function describePatch(patch: Patch, shared: ReadonlySet<string>): string {
  const all = Object.entries(patch);
  const own = all.filter(([path]) => !shared.has(path));
  const shown = all.length <= SHORT_MAX ? all : own.length > 0 ? own : all.slice(0, SHORT_MAX);
  const parts = shown.map(([path, text]) => {
    const name = path.replace(/^[+=]/, '');
    if (text === null) return `−\`${name}\``;
    const value = text!.length > VALUE_MAX ? `${text!.slice(0, VALUE_MAX)}…` : text!;
    return `\`${name}\` ${value === '' ? 'vazio' : `= \`${value.replaceAll('`', "'")}\``}`;
  });
  if (shown.length < all.length) parts.push('…');
  return parts.length === 0 ? 'a DPS de exemplo' : parts.join(', ');
}

/** A table whose cells show XML tags unescaped. */
function plainTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return table(
    head,
    rows.map((cells) => cells.map(escapeTags)),
  );
}
