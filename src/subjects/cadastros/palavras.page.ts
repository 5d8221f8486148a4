/** Labels of register columns on pages, and the help for each field. */

import { ownOf } from '../../fiscal/own.ts';
import { type ColumnWords, LISTAS, type ListaNome, PERIODO } from '../../fiscal/registers.ts';
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

const DAY = 'AAAA-MM-DD ou DD/MM/AAAA.';

const WORDS: Readonly<Record<string, ColumnWords>> = {
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
  codigo_tributacao_nacional: { label: 'Código nacional do serviço', help: 'Seis algarismos, como 01.01.01.' },
  item: { label: 'Item da lista', help: 'Como 01.01.' },
  codigo_municipal: { label: 'Código municipal', help: 'Vazio: todo RPS do item que não tem linha própria.' },
  nbs: { label: 'NBS' },
  cst: { label: 'CST do IBS e da CBS' },
  cclasstrib: { label: 'cClassTrib' },
  cindop: { label: 'cIndOp' },
  tipo_imunidade: { label: 'Tipo de imunidade' },
  numero_beneficio: { label: 'Número do benefício' },
  simples_inicio: { label: 'Simples Nacional de', help: DAY },
  simples_fim: { label: 'até', help: 'Vazio: continua.' },
};

export function wordsFor(nome: RegistroNome, column: string): ColumnWords {
  const columns: Readonly<Record<string, ColumnWords>> = nome in LISTAS ? LISTAS[nome as ListaNome].columns : WORDS;
  return columns[column] ?? ownOf(PERIODO, column) ?? { label: column };
}
