/**
 * `docs/layout.md`: the layout for client developers, one table per group, made of the tables.
 *
 * This file adds in words only facts outside the tables. They are the reading guide, the smallest document, and the service's value for an
 * element that a sender omits.
 */

import type { Campo } from '../../fiscal/layout/corpo.ts';
import { DEFAULT_SERIE, DPS_VERSAO, type DpsPath, FOREIGN_TAGS, INF_DPS } from '../../fiscal/layout/dps.ts';
import { DPS, INF_NFSE_OWN, NFSE } from '../../fiscal/layout/nfse.ts';
import { HOSTS, joinCampo } from '../../fiscal/layout/plan-corpo.ts';
import { type SimpleType, T } from '../../fiscal/layout/simple-types.ts';
import { dropBrackets } from '../../fiscal/layout/strange-property.ts';
import { elementsOf, type Item, joinPath } from '../../fiscal/layout/vocabulary.ts';
import { code, table } from '../markdown.ts';
import { bodySections } from './body-sections.ts';
import { groupSections } from './group-sections.ts';
import { SMALLEST_BODY, SMALLEST_DPS } from './smallest.ts';

/** The note's content for an element that the national layout requires and the sender omitted. */
export const LEFT_TO_US: Partial<Record<DpsPath, string>> = {
  dhEmi: 'o instante da emissão, no fuso do município; só pela porta nacional se envia',
  serie: `\`${DEFAULT_SERIE}\``,
  nDPS: 'o número sequencial da NFS-e, ou o próximo livre da série',
  'serv/comExt/mdic': '`0`',
  'valores/trib/tribMun/BM/nBM': 'nada: o número não pode ser deduzido, e em produção a DPS é recusada sem ele',
  'IBSCBS/finNFSe': '`0`',
  'IBSCBS/cIndOp': 'o indicador que a correlação nacional dá ao serviço, quando há',
  'IBSCBS/indDest': '`0`; quando há `dest`, `1`',
};

/** The types that admit Latin-1 alone, without a space at either end. */
function latinTypes(): string {
  const types: readonly SimpleType[] = Object.values(T);
  return [...new Set(types.filter(({ latin }) => latin).map(({ name }) => `\`${name}\``))].join(', ');
}

export function layoutMarkdown(): string {
  return HEAD + essentials() + smallestDps() + dpsGroups() + jsonBody() + nfseGroups();
}

const HEAD = `<!-- Gerado por scripts/generate.ts a partir das tabelas do leiaute; não edite. -->

# Leiaute ${DPS_VERSAO}

A DPS que se envia para emitir uma NFS-e, campo a campo, e a NFS-e que volta. Os mesmos campos estão nos esquemas
[dps-${DPS_VERSAO}.xsd](dps-${DPS_VERSAO}.xsd) e [nfse-${DPS_VERSAO}.xsd](nfse-${DPS_VERSAO}.xsd).

- [O essencial](#o-essencial)
- [A menor DPS](#a-menor-dps)
- [O que o serviço completa](#o-que-o-serviço-completa)
- [DPS, grupo a grupo](#dps-grupo-a-grupo)
- [Tags que não são deste leiaute](#tags-que-não-são-deste-leiaute)
- [O corpo JSON](#o-corpo-json)
- [Corpo JSON, grupo a grupo](#corpo-json-grupo-a-grupo)
- [NFS-e, grupo a grupo](#nfs-e-grupo-a-grupo)

`;

function essentials(): string {
  return `## O essencial

- **Raiz**: \`DPS\` com \`versao="${DPS_VERSAO}"\`, no namespace \`http://www.sped.fazenda.gov.br/nfse\`; dentro, \`infDPS\` com o
  atributo \`Id\`, que é \`DPS\` seguido de dígitos (um \`Id\` diferente do identificador nacional gera um aviso). Em
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
- **Códigos e documentos**: só os dígitos (ou as letras), sem pontuação, com os zeros à esquerda.
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

`;
}

function smallestDps(): string {
  return `## A menor DPS

\`\`\`xml
${SMALLEST_DPS}\`\`\`

## O que o serviço completa

O leiaute nacional exige estes campos na nota; aqui quem envia pode deixá-los fora.

${table(['Campo', 'Significado', 'Sem ele, a nota leva'], leftToUsRows(INF_DPS, ''))}

Quando o emitente é o prestador, \`prest/xNome\` e \`prest/end\` são lidos e não vão para a nota: ali valem os do cadastro
municipal, em \`emit\`.

`;
}

function dpsGroups(): string {
  return `## DPS, grupo a grupo

Os caminhos são relativos a \`DPS/infDPS\`. Na coluna Envio, **sim** é obrigatório dentro do grupo, *escolha* é um dos
elementos citados acima da tabela, e um número diz quantas vezes o elemento pode repetir-se. Um tipo terminado em
\`Lido\` aceita mais do que o nacional de mesmo nome; na nota o valor sai na forma nacional.

${groupSections('infDPS', DPS.items[0], 'sender')}
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

`;
}

function jsonBody(): string {
  return `## O corpo JSON

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
- **Valores e percentuais**: número ou texto (\`1000.00\`, \`1000\`, \`"1000.00"\`), lidos dígito por dígito, sem
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
        ? [[code(joinCampo(dropBrackets(campo), item.name)), padraoText(item)]]
        : [],
    ),
  ),
)}

## Corpo JSON, grupo a grupo

Na coluna Envio, **sim** é obrigatório dentro do grupo, *escolha* é um dos campos de uma escolha da DPS. A coluna Na DPS tem o
caminho a partir de \`DPS/infDPS\`, ou do grupo; o que cada valor significa está na tabela desse caminho, acima.

${bodySections()}
`;
}

function nfseGroups(): string {
  return `## NFS-e, grupo a grupo

O que a nota acrescenta à DPS. Os caminhos são relativos a \`NFSe\`; o atributo \`Id\` de \`infNFSe\` é \`NFS\` seguido da
chave de acesso. Depois destes elementos vem \`DPS\`, a declaração na forma nacional, e depois de \`infNFSe\`, em produção, a
assinatura do município.

${groupSections('infNFSe', { ...NFSE.items[0], items: INF_NFSE_OWN }, 'national')}`;
}

function leftToUsRows(items: readonly Item[], above: string): string[][] {
  return elementsOf(items).flatMap((item) => {
    const path = joinPath(above, item.name);
    const own = item.min === 1 && (item.sent === 'optional' || item.sent === 'refused');
    const row = own ? [[code(path), item.doc, LEFT_TO_US[path as DpsPath] ?? '']] : [];
    return item.kind === 'group' ? [...row, ...leftToUsRows(item.items, path)] : row;
  });
}

function padraoText({ padrao }: Campo): string {
  if (padrao === 'ambiente') return 'em homologação, o do endereço (`2`); em produção é preciso informá-lo (`1`)';
  return code((padrao as { readonly texto: string }).texto);
}
