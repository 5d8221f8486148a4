/** The JSON body in Markdown: one section per object; objects of the same content share one. */

import type { Item as CorpoItem } from '../../fiscal/layout/corpo.ts';
import { HOSTS, type Host } from '../../fiscal/layout/plan-corpo.ts';
import { dropBrackets } from '../../fiscal/layout/strange-property.ts';
import { isRequiredOfSender } from '../../fiscal/layout/vocabulary.ts';
import { code, table } from '../markdown.ts';
import { contentOf, type Step, stepsBelow } from './elements.ts';

export function bodySections(): string {
  const sections = new Map<string, { readonly host: Host; readonly campos: string[] }>();
  for (const host of HOSTS) {
    const content = contentOf(host.items.values());
    const known = sections.get(content);
    if (known === undefined) sections.set(content, { host, campos: [host.campo] });
    else known.campos.push(host.campo);
  }
  return [...sections.values()].map(({ host, campos }) => bodySection(host, campos)).join('\n');
}

function bodySection(host: Host, [campo, ...twins]: readonly string[]): string {
  // The word JSON is needed: otherwise only capitals would distinguish the heading from that of the DPS group.
  const heading = campo === '' ? '### O próprio corpo' : `### JSON ${code(dropBrackets(campo!))}`;
  const alike = twins.length === 0 ? [] : [`Igual em ${twins.map((twin) => code(dropBrackets(twin))).join(', ')}.`];
  const many = campo!.endsWith('[]') ? ['Uma lista de objetos.'] : [];
  const rows = [...host.items.values()].map((item) => bodyRow(item, host));
  const about = [...many, ...alike].join(' ');
  const heads = ['Campo', 'Envio', 'Na DPS', 'Aceita', 'Significado'];
  return `${[heading, ...(about === '' ? [] : [about]), table(heads, rows)].join('\n\n')}\n`;
}

function bodyRow(item: CorpoItem, host: Host): string[] {
  if (item.kind === 'declaracao') {
    const meaning = 'Declarado, para ser comparado com o calculado';
    return [code(item.name), 'opcional', `na nota, ${code(item.note)}`, item.type.expected, meaning];
  }
  const paths = item.kind === 'campo' ? item.paths : ([item.path] as const);
  const steps = stepsBelow(host.path, paths[0]);
  const { element } = steps.at(-1)!;
  const where = paths.map(code).join(' ou ');
  const doc = paths.length > 1 ? 'CNPJ ou CPF' : element.doc;
  if (element.kind === 'group') {
    const kind = element.max === 1 ? 'objeto' : `lista de até ${element.max} objetos`;
    return [code(item.name), sendingText(item, steps), where, kind, element.max === 1 ? doc : 'Documentos'];
  }
  const list = element.max === 1 ? '' : `lista de até ${element.max}: `;
  const expected = paths.length > 1 ? 'CNPJ de 14 posições ou CPF de 11, sem pontuação' : element.type.expected;
  return [code(item.name), sendingText(item, steps), where, list + expected, doc];
}

function sendingText(item: CorpoItem, steps: readonly Step[]): string {
  if (item.kind === 'campo' && item.padrao === 'ambiente') return '**sim**, em produção';
  if (item.kind === 'campo' && item.padrao !== undefined) return 'opcional';
  if (steps.some(({ choice }) => choice !== undefined)) return '*escolha*';
  const { element } = steps.at(-1)!;
  const around = steps.slice(0, -1).find((step) => !isRequiredOfSender(step.element));
  // The service makes this group when the sender omits it.
  if (!isRequiredOfSender(element) || element.name === 'totTrib') return 'opcional';
  if (around === undefined) return '**sim**';
  // The group of a list holds nothing but the list.
  return element.max > 1 ? 'opcional' : `**sim**, quando há ${around.element.doc.toLowerCase()}`;
}
