/** The groups of a document in Markdown: one section per group; groups of the same content share one. */
import type { SimpleType } from '../../fiscal/layout/simple-types.ts';
import {
  type Choice,
  type Codes,
  elementsOf,
  type Group,
  isRequiredOfSender,
  joinPath,
  type Leaf,
} from '../../fiscal/layout/vocabulary.ts';
import { code, table } from '../markdown.ts';
import { contentOf, meaningsOf } from './elements.ts';
import { nationalType, type Side, shortSpellings, typeName } from './xsd.ts';

type Section = { readonly group: Group; readonly paths: [string, ...string[]] };

export function groupSections(title: string, root: Group, side: Side): string {
  const found = new Map<string, Section>();
  collect(root, title, side === 'sender' ? '' : title, found);
  return [...found.values()].map((section) => sectionText(section, side, found)).join('\n');
}

function collect(group: Group, title: string, path: string, found: Map<string, Section>): void {
  const known = found.get(contentOf(group.items));
  if (known !== undefined) {
    known.paths.push(title);
    return;
  }
  found.set(contentOf(group.items), { group, paths: [title] });
  for (const item of elementsOf(group.items)) {
    if (item.kind === 'group') collect(item, joinPath(path, item.name), joinPath(path, item.name), found);
  }
}

function sectionText({ group, paths }: Section, side: Side, found: ReadonlyMap<string, Section>): string {
  const [path, ...twins] = paths;
  const alike = twins.length === 0 ? '' : ` Igual em ${twins.map(code).join(', ')}.`;
  const choices = group.items.filter((item) => item.kind === 'choice').map(choiceText);
  const rows = elementsOf(group.items).map((item) => {
    const inChoice = group.items.some((other) => other.kind === 'choice' && other.items.includes(item));
    const type = item.kind === 'leaf' ? typeName(item.type, side) : linkTo(found.get(contentOf(item.items))!);
    const accepts = item.kind === 'leaf' ? (side === 'national' ? nationalType(item.type) : item.type).expected : '';
    const base = [code(item.name), occurrence(item, inChoice, side), type, accepts, item.doc];
    return side === 'sender' ? [...base, remarks(item)] : base;
  });
  const head = ['Elemento', side === 'sender' ? 'Envio' : 'Presença', 'Tipo', 'Aceita', 'Significado'];
  const heads = side === 'sender' ? [...head, 'Observações'] : head;
  const meanings = elementsOf(group.items).flatMap((item) => meaningLines(item, group.name));
  const lists = meanings.length === 0 ? [] : [meanings.join('\n')];
  return `${[`### ${code(path)}`, `${group.doc}.${alike}`, ...choices, table(heads, rows), ...lists].join('\n\n')}\n`;
}

function choiceText(choice: Choice): string {
  const rule = choice.min === 1 ? 'Exatamente um de' : 'No máximo um de';
  const { missing, many } = choice.codes ?? {};
  const codes =
    missing !== undefined && missing === many
      ? `; senão ${missing}`
      : groupCodes({ 'mais de um': many, nenhum: missing });
  return `${rule}: ${choice.items.map(({ name }) => code(name)).join(', ')}${codes === '' ? '' : codes.replace(/^(?!;)/, '; ')}.`;
}

function meaningLines(item: Leaf | Group, parent: string): string[] {
  const meanings = item.kind === 'group' ? [] : meaningsOf(item, parent);
  if (meanings.length === 0) return [];
  return [`- ${code(item.name)}: ${meanings.map(({ codigo, descricao }) => `**${codigo}** ${descricao}`).join('; ')}`];
}

function occurrence(item: Leaf | Group, inChoice: boolean, side: Side): string {
  if (side === 'sender' && item.sent === 'refused') return 'não se envia';
  if (inChoice) return '*escolha*';
  const required = side === 'sender' ? isRequiredOfSender(item) : item.min === 1;
  const times = item.max === 1 ? '' : `, até ${item.max}`;
  return `${required ? '**sim**' : 'opcional'}${times}`;
}

function remarks(item: Leaf | Group): string {
  const all = [
    item.alias === undefined ? '' : `lido também como ${code(item.alias)}`,
    item.anywhere ? 'lido em qualquer posição entre os irmãos' : '',
    item.sent === 'required' && item.min === 0 ? 'opcional no leiaute nacional' : '',
    ...(item.kind === 'leaf' ? typeRemarks(item.type) : []),
    item.kind === 'leaf' && item.emptyIsRead ? 'vazio: E101' : '',
    codeRemarks(item.codes),
  ];
  return all.filter((remark) => remark !== '').join('; ');
}

function typeRemarks(type: SimpleType): string[] {
  const short = type.kind === 'enum' ? shortSpellings(type) : [];
  return [
    short.length === 0
      ? ''
      : `lido também sem o zero à esquerda (${code(short[0]!)} é ${code(type.reads!.as(short[0]!))})`,
    type.national === undefined ? '' : `na nota, ${type.national.expected}`,
    ...Map.groupBy(Object.entries(type.refusedValues ?? {}), ([, why]) => why)
      .entries()
      .map(([why, values]) => `${values.map(([value]) => code(value)).join(' e ')} não: ${why}`),
  ];
}

function codeRemarks(codes: Codes = {}): string {
  return groupCodes({
    ausente: codes.missing,
    vazio: codes.empty,
    formato: codes.format,
    'fora da faixa': codes.value,
    repetido: codes.many,
  });
}

/** `ausente ou vazio: E1235`: faults with the same code stand together. */
function groupCodes(codes: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(codes).filter(([, codigo]) => codigo !== undefined);
  return [...Map.groupBy(given, ([, codigo]) => codigo)]
    .map(([codigo, whens]) => `${whens.map(([when]) => when).join(' ou ')}: ${codigo}`)
    .join('; ');
}

function linkTo({ paths: [path] }: Section): string {
  return `[grupo](#${path.toLowerCase().replace(/[^a-z0-9]/g, '')})`;
}
