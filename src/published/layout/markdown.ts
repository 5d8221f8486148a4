/**
 * `docs/layout.md`: the layout for the people who program against it, one table a group, made of the tables.
 *
 * What stands here in words and nowhere else is what no table knows: how the page is read, the smallest document, and
 * what becomes of an element that a sender may leave to us.
 */
import { type CampoEnumerado, enumeracaoOf } from '../../fiscal/catalogs/catalogs.ts';
import type { Campo, Item as CorpoItem } from '../../fiscal/layout/corpo.ts';
import { DEFAULT_SERIE, type DpsPath, FOREIGN_TAGS, INF_DPS } from '../../fiscal/layout/dps.ts';
import { DPS, INF_NFSE_OWN, NFSE } from '../../fiscal/layout/nfse.ts';
import { HOSTS, type Host, joinCampo } from '../../fiscal/layout/plan-corpo.ts';
import { type SimpleType, T } from '../../fiscal/layout/simple-types.ts';
import {
  type Choice,
  type Codes,
  elementsOf,
  type Group,
  type Item,
  isRequiredOfSender,
  joinPath,
  type Leaf,
} from '../../fiscal/layout/vocabulary.ts';
import { code, table } from '../markdown.ts';
import { type Side, shortSpellings, typeName } from './xsd.ts';

/** What is in the note when the sender left an element out that the national layout requires. */
export const LEFT_TO_US: Partial<Record<DpsPath, string>> = {
  dhEmi: 'o instante da emissão, no fuso do município; enviá-lo é erro',
  serie: `\`${DEFAULT_SERIE}\``,
  nDPS: 'o número sequencial da NFS-e, ou o próximo livre da série',
  'serv/comExt/mdic': '`0`',
  'valores/trib/tribMun/BM/nBM': 'nada: o número não pode ser deduzido, e em produção a DPS é recusada sem ele',
  'IBSCBS/finNFSe': '`0`',
  'IBSCBS/cIndOp': 'o indicador que a correlação nacional dá ao serviço, quando há',
  'IBSCBS/indDest': '`0`; quando há `dest`, `1`',
};

/** The smallest DPS that is received; the tests read it. */
export const SMALLEST_DPS = `<?xml version="1.0" encoding="UTF-8"?>
<DPS xmlns="http://www.sped.fazenda.gov.br/nfse" versao="1.01">
  <infDPS Id="DPS355030821122233300018170000000000000000042">
    <tpAmb>2</tpAmb>
    <verAplic>MeuERP-3.2</verAplic>
    <dCompet>2026-11-20</dCompet>
    <tpEmit>1</tpEmit>
    <cLocEmi>3550308</cLocEmi>
    <prest>
      <CNPJ>11222333000181</CNPJ>
      <regTrib>
        <opSimpNac>1</opSimpNac>
        <regEspTrib>0</regEspTrib>
      </regTrib>
    </prest>
    <serv>
      <locPrest>
        <cLocPrestacao>3550308</cLocPrestacao>
      </locPrest>
      <cServ>
        <cTribNac>010101</cTribNac>
        <xDescServ>Desenvolvimento de sistema</xDescServ>
        <cNBS>115021000</cNBS>
      </cServ>
    </serv>
    <valores>
      <vServPrest>
        <vServ>1000.00</vServ>
      </vServPrest>
      <trib>
        <tribMun>
          <tribISSQN>1</tribISSQN>
          <tpRetISSQN>1</tpRetISSQN>
        </tribMun>
        <totTrib>
          <indTotTrib>0</indTotTrib>
        </totTrib>
      </trib>
    </valores>
    <IBSCBS>
      <valores>
        <trib>
          <gIBSCBS>
            <CST>000</CST>
            <cClassTrib>000001</cClassTrib>
          </gIBSCBS>
        </trib>
      </valores>
    </IBSCBS>
  </infDPS>
</DPS>
`;

/** The same declaration as the smallest JSON body; the tests read it. */
export const SMALLEST_BODY = `{
  "data_competencia": "2026-11-20",
  "municipio_emissor": "3550308",
  "prestador_cpf_cnpj": "11222333000181",
  "prestador_opcao_simples_nacional": "1",
  "municipio_prestacao": "3550308",
  "codigo_tributacao_nacional": "010101",
  "descricao_servico": "Desenvolvimento de sistema",
  "codigo_nbs": "115021000",
  "valor_servico": 1000.00,
  "tributacao_issqn": "1",
  "ibscbs": { "CST": "000", "cClassTrib": "000001" }
}
`;

/** The types whose schema has no room for edges of space and for what is not Latin-1. */
function latinTypes(): string {
  const types: readonly SimpleType[] = Object.values(T);
  return [...new Set(types.filter(({ latin }) => latin).map(({ name }) => `\`${name}\``))].join(', ');
}

export function layoutMarkdown(): string {
  return `<!-- Gerado por scripts/generate.ts a partir das tabelas do leiaute; não edite. -->

# Leiaute 1.01

A DPS que se envia para emitir uma NFS-e, campo a campo, e a NFS-e que volta. Os mesmos campos estão nos esquemas
[dps-1.01.xsd](dps-1.01.xsd) e [nfse-1.01.xsd](nfse-1.01.xsd).

- [O essencial](#o-essencial)
- [A menor DPS](#a-menor-dps)
- [O que o serviço completa](#o-que-o-serviço-completa)
- [DPS, grupo a grupo](#dps-grupo-a-grupo)
- [Tags que não são deste leiaute](#tags-que-não-são-deste-leiaute)
- [O corpo JSON](#o-corpo-json)
- [Corpo JSON, grupo a grupo](#corpo-json-grupo-a-grupo)
- [NFS-e, grupo a grupo](#nfs-e-grupo-a-grupo)

## O essencial

- **Raiz**: \`DPS\` com \`versao="1.01"\`, no namespace \`http://www.sped.fazenda.gov.br/nfse\`; dentro, \`infDPS\` com o
  atributo \`Id\`, que é \`DPS\` seguido de algarismos (um \`Id\` diferente do identificador nacional gera um aviso). Em
  produção \`Signature\` vem depois de \`infDPS\` e se refere a esse \`Id\`; em homologação não é preciso assinar.
- **Ordem**: a das tabelas. Um elemento fora do lugar responde E203 e diz antes de qual deve vir.
- **Sem valor, sem elemento**: elemento vazio não é aceito; deixe-o fora.
- **Valores e percentuais**: ponto decimal e duas casas (\`1000.00\`), ou nenhuma casa (\`1000\`); sem sinal, sem separador
  de milhar, sem zero à esquerda.
- **Datas**: \`AAAA-MM-DD\`.
- **Textos**: saem na nota byte a byte como vieram. Os de tipo ${latinTypes()} não começam nem terminam com espaço e só
  têm caracteres do Latin-1 (U+0020 a U+00FF): nada de travessão, aspas curvas, emoji ou quebra de linha. Nos outros
  (nomes, \`xDescServ\`, \`IM\`, cidade e estado no exterior, \`cObra\` e os mais identificadores) vale qualquer caractere
  que XML admita, com espaço onde for, desde que haja algum que não seja espaço. O tamanho conta caracteres, e não bytes.
- **Códigos e documentos**: só os algarismos (ou as letras), sem pontuação, com os zeros à esquerda.
- **\`IBSCBS\`**: opcional na estrutura; a competência (\`dCompet\`), o serviço e o regime do prestador dizem quando é
  obrigatório (E802).

Todos os erros de estrutura vêm na mesma resposta, cada um com o seu \`xpath\`. O código diz o que houve:

| O que houve | Código |
| --- | --- |
| falta um elemento obrigatório, ou ele está vazio | E002 |
| não é um número, não é uma data | E0001 |
| fora dos valores aceitos ou acima do máximo | E0002 |
| tamanho, formato ou caractere não aceito | E0003 |
| tag desconhecida, de outro leiaute ou que não se envia | E0010 |
| ordem errada, elemento repetido, mais de um de uma escolha | E203 |

Alguns campos respondem com um código próprio, que está na coluna Observações.

## A menor DPS

\`\`\`xml
${SMALLEST_DPS}\`\`\`

## O que o serviço completa

O leiaute nacional exige estes campos na nota; aqui quem envia pode deixá-los fora.

${table(['Campo', 'Significado', 'Sem ele, a nota leva'], leftToUsRows(INF_DPS, ''))}

Quando o emitente é o prestador, \`prest/xNome\` e \`prest/end\` são lidos e não vão para a nota: ali valem os do cadastro
municipal, em \`emit\`.

## DPS, grupo a grupo

Os caminhos são relativos a \`DPS/infDPS\`. Na coluna Envio, **sim** é obrigatório dentro do grupo, *escolha* é um dos
elementos citados acima da tabela, e um número diz quantas vezes o elemento pode repetir-se. Um tipo terminado em
\`Lido\` aceita mais do que o nacional de mesmo nome; na nota o valor sai na forma nacional.

${sections('infDPS', DPS.items[0], 'sender')}
## Tags que não são deste leiaute

Respondem E0010 com a forma correta.

${table(
  ['Tag', 'Dentro de', 'O que fazer'],
  FOREIGN_TAGS.map(({ name, within, say }) => [
    code(name),
    within === undefined ? 'qualquer grupo' : code(within),
    say,
  ]),
)}

## O corpo JSON

A mesma declaração em JSON, com \`Content-Type: application/json\`. Ela se torna a mesma DPS, passa pelas mesmas regras e tem
as mesmas respostas; cada erro traz, ao lado do \`xpath\` da DPS, o \`campo\` do corpo (\`tomador_endereco.cep\`,
\`deducao_reducao.documentos[2].valor\`, as listas contadas de 0).

\`\`\`json
${SMALLEST_BODY}\`\`\`

- **Forma**: um objeto plano em UTF-8; grupos só onde a tabela mostra um. \`null\` e lista vazia valem como ausência. Nome
  repetido, comentário e vírgula sobrando não são JSON (E003); nome que não existe responde E0010 com o nome certo.
- **Códigos, documentos e datas**: texto entre aspas, com os zeros à esquerda. Um número no lugar de um código responde
  E0001 com o texto a enviar. Só \`numero_dps\` pode ser número, inteiro. Na resposta ele é \`numero_dps_nacional\`; o
  \`numero_dps\` da nota é o número sequencial da NFS-e.
- **Valores e percentuais**: número ou texto (\`1000.00\`, \`1000\`, \`"1000.00"\`), lidos algarismo por algarismo, sem
  arredondar; mais de duas casas que não sejam zero respondem E0003.
- **\`*_cpf_cnpj\`**: CPF com 11 posições, CNPJ com 14, também o alfanumérico.
- **Declarados**: \`municipio_incidencia\`, \`valor_base_calculo\`, \`valor_issqn\` e os valores calculados de \`ibscbs\`
  não vão para a DPS; quem os envia os tem comparados com o cálculo do município, e uma divergência recusa a nota.

O que pode ficar de fora porque é técnico:

${table(
  ['Campo', 'Sem ele'],
  HOSTS.flatMap(({ campo, items }) =>
    [...items.values()].flatMap((item) =>
      item.kind === 'campo' && item.padrao !== undefined
        ? [[code(joinCampo(plain(campo), item.name)), padraoText(item)]]
        : [],
    ),
  ),
)}

## Corpo JSON, grupo a grupo

Na coluna Envio, **sim** é obrigatório dentro do grupo, *escolha* é um dos campos de uma escolha da DPS. A coluna Na DPS tem o
caminho a partir de \`DPS/infDPS\`, ou do grupo; o que cada valor significa está na tabela desse caminho, acima.

${bodySections()}
## NFS-e, grupo a grupo

O que a nota acrescenta à DPS. Os caminhos são relativos a \`NFSe\`; o atributo \`Id\` de \`infNFSe\` é \`NFS\` seguido da
chave de acesso. Depois destes elementos vem \`DPS\`, a declaração na forma nacional, e depois de \`infNFSe\`, em produção, a
assinatura do município.

${sections('infNFSe', { ...NFSE.items[0], items: INF_NFSE_OWN }, 'national')}`;
}

function leftToUsRows(items: readonly Item[], above: string): string[][] {
  return elementsOf(items).flatMap((item) => {
    const path = joinPath(above, item.name);
    const own = item.sent === 'optional' || item.sent === 'refused';
    const row = own ? [[code(path), item.doc, LEFT_TO_US[path as DpsPath] ?? '']] : [];
    return item.kind === 'group' ? [...row, ...leftToUsRows(item.items, path)] : row;
  });
}

// The JSON body: one section an object; objects of the same content share one.

function bodySections(): string {
  const sections = new Map<string, { readonly host: Host; readonly campos: string[] }>();
  for (const host of HOSTS) {
    const content = JSON.stringify([...host.items.values()], (_key, value) =>
      typeof value === 'bigint' ? String(value) : value,
    );
    const known = sections.get(content);
    if (known === undefined) sections.set(content, { host, campos: [host.campo] });
    else known.campos.push(host.campo);
  }
  return [...sections.values()].map(({ host, campos }) => bodySection(host, campos)).join('\n');
}

function bodySection(host: Host, [campo, ...twins]: readonly string[]): string {
  // The word tells it from the group of the DPS, whose name differs in capitals alone.
  const heading = campo === '' ? '### O próprio corpo' : `### JSON ${code(plain(campo!))}`;
  const alike = twins.length === 0 ? [] : [`Igual em ${twins.map((twin) => code(plain(twin))).join(', ')}.`];
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
  const steps = elementsAt(joinPath(host.path, paths[0]));
  const below = steps.slice(host.path === '' ? 0 : host.path.split('/').length);
  const { element } = below.at(-1)!;
  const where = paths.map(code).join(' ou ');
  const doc = paths.length > 1 ? 'CNPJ ou CPF' : element.doc;
  if (element.kind === 'group') {
    const kind = element.max === 1 ? 'objeto' : `lista de até ${element.max} objetos`;
    return [code(item.name), sending(item, below), where, kind, element.max === 1 ? doc : 'Documentos'];
  }
  const list = element.max === 1 ? '' : `lista de até ${element.max}: `;
  const expected = paths.length > 1 ? 'CNPJ de 14 posições ou CPF de 11, sem pontuação' : element.type.expected;
  return [code(item.name), sending(item, below), where, list + expected, doc];
}

type Step = { readonly element: Leaf | Group; readonly inChoice: boolean };

/** The elements on the way to a path of the DPS. */
function elementsAt(path: string): readonly Step[] {
  let items: readonly Item[] = INF_DPS;
  return path.split('/').map((name) => {
    const element = elementsOf(items).find((one) => one.name === name)!;
    const inChoice = items.some((item) => item.kind === 'choice' && item.items.includes(element));
    if (element.kind === 'group') items = element.items;
    return { element, inChoice };
  });
}

function sending(item: CorpoItem, steps: readonly Step[]): string {
  if (item.kind === 'campo' && item.padrao === 'ambiente') return '**sim**, em produção';
  if (item.kind === 'campo' && item.padrao !== undefined) return 'opcional';
  if (steps.some(({ inChoice }) => inChoice)) return '*escolha*';
  const { element } = steps.at(-1)!;
  const around = steps.slice(0, -1).find((step) => !isRequiredOfSender(step.element));
  if (!isRequiredOfSender(element) || (element.kind === 'group' && hasPadrao(element))) return 'opcional';
  if (around === undefined) return '**sim**';
  // A list is all that its group holds.
  return element.max > 1 ? 'opcional' : `**sim**, quando há ${around.element.doc.toLowerCase()}`;
}

/** Of the groups of the DPS, the one that is made when nobody sends it. */
function hasPadrao({ name }: Group): boolean {
  return name === 'totTrib';
}

function padraoText({ padrao }: Campo): string {
  if (padrao === 'ambiente') return 'em homologação, o do endereço (`2`); em produção é preciso informá-lo (`1`)';
  return code((padrao as { readonly texto: string }).texto);
}

function plain(campo: string): string {
  return campo.replaceAll('[]', '');
}

// One section a group; groups of the same content share one.

type Section = { readonly group: Group; readonly paths: [string, ...string[]] };

function sections(title: string, root: Group, side: Side): string {
  const found = new Map<string, Section>();
  collect(root, title, side === 'sender' ? '' : title, found);
  return [...found.values()].map((section) => sectionText(section, side, found)).join('\n');
}

function collect(group: Group, title: string, path: string, found: Map<string, Section>): void {
  const known = found.get(contentOf(group));
  if (known !== undefined) {
    known.paths.push(title);
    return;
  }
  found.set(contentOf(group), { group, paths: [title] });
  for (const item of elementsOf(group.items)) {
    if (item.kind === 'group') collect(item, joinPath(path, item.name), joinPath(path, item.name), found);
  }
}

/** What makes two groups alike: names, types, occurrence, codes and words of everything inside. */
function contentOf(group: Group): string {
  return JSON.stringify(group.items, (_key, value) => (typeof value === 'bigint' ? String(value) : value));
}

function sectionText({ group, paths }: Section, side: Side, found: ReadonlyMap<string, Section>): string {
  const [path, ...twins] = paths;
  const alike = twins.length === 0 ? '' : ` Igual em ${twins.map(code).join(', ')}.`;
  const choices = group.items.filter((item) => item.kind === 'choice').map(choiceText);
  const rows = elementsOf(group.items).map((item) => {
    const inChoice = group.items.some((other) => other.kind === 'choice' && other.items.includes(item));
    const type = item.kind === 'leaf' ? typeName(item.type, side) : linkTo(found.get(contentOf(item))!);
    const accepts = item.kind === 'leaf' ? acceptedText(item.type, side) : '';
    const base = [code(item.name), occurrence(item, inChoice, side), type, accepts, item.doc];
    return side === 'sender' ? [...base, remarks(item)] : base;
  });
  const head = ['Elemento', side === 'sender' ? 'Envio' : 'Presença', 'Tipo', 'Aceita', 'Significado'];
  const heads = side === 'sender' ? [...head, 'Observações'] : head;
  const meanings = elementsOf(group.items).flatMap((item) => meaningOf(item, group.name));
  const lists = meanings.length === 0 ? [] : [meanings.join('\n')];
  return `${[`### ${code(path)}`, `${group.doc}.${alike}`, ...choices, table(heads, rows), ...lists].join('\n\n')}\n`;
}

function choiceText(choice: Choice): string {
  const rule = choice.min === 1 ? 'Exatamente um de' : 'No máximo um de';
  const { missing, many } = choice.codes ?? {};
  const codes =
    missing !== undefined && missing === many ? `; senão ${missing}` : grouped({ 'mais de um': many, nenhum: missing });
  return `${rule}: ${choice.items.map(({ name }) => code(name)).join(', ')}${codes === '' ? '' : codes.replace(/^(?!;)/, '; ')}.`;
}

/** What each value of an enumerated field means, unless the line of the field has already said it. */
function meaningOf(item: Leaf | Group, parent: string): string[] {
  if (item.kind === 'group' || item.type.values === undefined) return [];
  const { values } = item.type;
  if (values.every((value) => item.doc.includes(value))) return [];
  const fields = [`${parent}/${item.name}`, item.name] as readonly CampoEnumerado[];
  const rows = fields.map(enumeracaoOf).find((found) => found.length > 0) ?? [];
  const meanings = rows.filter(({ codigo }) => values.includes(codigo));
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

function acceptedText(type: SimpleType, side: Side): string {
  return side === 'national' ? (type.national ?? type).expected : type.expected;
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
  return grouped({
    ausente: codes.missing,
    vazio: codes.empty,
    formato: codes.format,
    'fora da faixa': codes.value,
    repetido: codes.many,
  });
}

/** `ausente, vazio: E1235`: what answers with the same code stands together. */
function grouped(codes: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(codes).filter(([, codigo]) => codigo !== undefined);
  return [...Map.groupBy(given, ([, codigo]) => codigo)]
    .map(([codigo, whens]) => `${whens.map(([when]) => when).join(' ou ')}: ${codigo}`)
    .join('; ');
}

function linkTo({ paths: [path] }: Section): string {
  return `[grupo](#${path.toLowerCase().replace(/[^a-z0-9]/g, '')})`;
}
