/** Labels of register columns on pages, and the help for each field. */

import type { Field } from '../../base/pages/fields.ts';
import { FORMAS_DEDUCAO, TIPOS_BENEFICIO } from '../../fiscal/cadastros.ts';
import type { RegistroNome } from './registros.ts';

/** Description of each register, for new users. */
export const SOBRE: Readonly<Record<RegistroNome, string>> = {
  prestadores: 'Quem pode emitir nota neste município, com inscrição, endereço e períodos do Simples Nacional.',
  servicos: 'A lista municipal de serviços e as suas alíquotas. Com ela, só se emite pelos códigos que estão na lista.',
  beneficios: 'Benefícios municipais (nBM). Com eles, uma nota só leva um benefício que está aqui.',
  deducoes: 'Serviços que admitem dedução da base de cálculo. Com eles, os demais não admitem nenhuma.',
  regimes: 'Regimes especiais de tributação atribuídos a prestadores. Com eles, uma nota só leva o que está aqui.',
  nao_incidencias: 'Serviços em que o ISSQN não incide. Com eles, nos demais ele incide.',
  correlacao: 'O que falta a um RPS do porto SOAP antigo (NBS, IBS e CBS), por item da lista de serviços.',
};

type Words = Pick<Field, 'label' | 'help' | 'type' | 'inputmode' | 'choices'>;

const DAY = 'AAAA-MM-DD ou DD/MM/AAAA.';
const SEVERAL = 'Vários: com espaço entre eles. Vazio: todos.';

const WORDS: Readonly<Record<string, Words>> = {
  documento: { label: 'CNPJ ou CPF', help: 'Com ou sem pontos.' },
  inscricao_municipal: { label: 'Inscrição municipal', help: 'Vazia, quando não tem.' },
  razao_social: { label: 'Razão social ou nome' },
  nome_fantasia: { label: 'Nome fantasia' },
  autorizado: {
    label: 'Pode emitir',
    choices: [
      ['sim', 'sim'],
      ['nao', 'não'],
    ],
  },
  logradouro: { label: 'Logradouro', help: 'Sem endereço, sai na nota que ele não foi informado.' },
  numero: { label: 'Número' },
  complemento: { label: 'Complemento' },
  bairro: { label: 'Bairro' },
  cep: { label: 'CEP' },
  fone: { label: 'Telefone' },
  email: { label: 'E-mail' },
  codigo: { label: 'Código municipal', help: 'Com três algarismos, é o cTribMun da DPS.' },
  descricao: { label: 'Descrição', help: 'Sai na nota.' },
  codigo_tributacao_nacional: { label: 'Código nacional do serviço', help: 'Seis algarismos, como 01.01.01.' },
  cnae_codigo: { label: 'CNAE' },
  aliquota: { label: 'Alíquota (%)', help: 'Como 5,00.' },
  tipo: { label: 'Tipo', choices: Object.keys(TIPOS_BENEFICIO).map((tipo) => [tipo, tipo.replaceAll('_', ' ')]) },
  reducao: { label: 'Redução da base (%)', help: 'Só da redução percentual.' },
  servicos: { label: 'Serviços', help: `Códigos nacionais. ${SEVERAL}` },
  documentos: { label: 'CNPJ e CPF de quem pode usar', help: SEVERAL },
  formas: { label: 'Formas', help: `${Object.keys(FORMAS_DEDUCAO).join(', ')}; várias com espaço entre elas.` },
  regime: { label: 'Regime', help: 'O código de regEspTrib.' },
  item: { label: 'Item da lista', help: 'Como 01.01.' },
  codigo_municipal: { label: 'Código municipal', help: 'Vazio: todo RPS do item que não tem linha própria.' },
  nbs: { label: 'NBS' },
  cst: { label: 'CST do IBS e da CBS' },
  cclasstrib: { label: 'cClassTrib' },
  cindop: { label: 'cIndOp' },
  tipo_imunidade: { label: 'Tipo de imunidade' },
  numero_beneficio: { label: 'Número do benefício' },
  inicio: { label: 'Vale de', help: DAY },
  fim: { label: 'Vale até', help: `${DAY} Vazio: sem fim.` },
  simples_inicio: { label: 'Simples Nacional de', help: DAY },
  simples_fim: { label: 'até', help: 'Vazio: continua.' },
};

/** Labels of columns that mean something else in a register: `numero` of a benefit is no street number. */
const OWN: Readonly<Partial<Record<RegistroNome, Readonly<Record<string, Words>>>>> = {
  beneficios: {
    numero: { label: 'Número (nBM)', help: 'Quatorze algarismos, que começam com o código IBGE do município.' },
    aliquota: { label: 'Alíquota diferenciada (%)', help: 'Só da alíquota diferenciada.' },
  },
  regimes: { documento: { label: 'CNPJ ou CPF do prestador', help: 'Vazio: qualquer um.' } },
  nao_incidencias: { documento: { label: 'CNPJ ou CPF do prestador', help: 'Vazio: qualquer um.' } },
};

export function wordsFor(nome: RegistroNome, column: string): Words {
  return OWN[nome]?.[column] ?? WORDS[column] ?? { label: column };
}
