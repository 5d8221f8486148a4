/** The address of the situation of a provider: its parameter, its fields and its refusals. */

import type { Call } from '../../base/http/route.ts';
import type { CertificadoApresentado } from '../../base/world/caller.ts';
import { type Fault, quoted, type Refusal } from '../../fiscal/fault.ts';
import { type FieldsOf, field, orNull } from '../../published/openapi/field.ts';
import {
  type Inscricao,
  type ObrigacaoIbsCbs,
  type Pendencia,
  type SimplesNacional,
  type Situacao,
  situacaoDoPrestador,
} from './situacao.ts';

export const SITUACAO_FIELDS = {
  documento: field.text('O CNPJ ou CPF consultado, sem máscara.'),
  data: field.day('O dia de que a resposta fala, AAAA-MM-DD.'),
  pode_emitir: field.flag('Se nada falta no cadastro para emitir; pendencias diz o que falta.'),
  mensagem: field.text('O mesmo em uma frase.'),
  cadastrado: field.flag('Se o prestador está no cadastro deste município.'),
  autorizado: field.flag('Se alguma das suas inscrições está autorizada a emitir.'),
  inscricoes: field.shape(
    'Inscricao[]',
    'As suas inscrições municipais; de um CPF, no ambiente de integração, só as últimas posições.',
  ),
  simples_nacional: field.shape(
    'SimplesNacional',
    'Se é optante no dia, segundo o cadastro, e o período em que o dia está.',
  ),
  ibscbs: field.shape(
    'ObrigacaoIbsCbs[]',
    'Para cada segmento de serviços, desde que competência este prestador deve o grupo IBSCBS.',
  ),
  pendencias: field.shape(
    'Pendencia[]',
    'O que impede a emissão: o código com que ela seria recusada, o que é, e como resolver.',
  ),
  certificado: orNull(
    field.shape(
      'CertificadoApresentado',
      'O certificado apresentado e a sua validade; null no ambiente de integração.',
    ),
  ),
} as const satisfies FieldsOf<Situacao>;

export const SITUACAO_SHAPES = {
  Inscricao: {
    inscricao_municipal: orNull(field.text('Número da inscrição; null quando não tem.')),
    autorizada: field.flag('Se está autorizada a emitir.'),
  } satisfies FieldsOf<Inscricao>,
  SimplesNacional: {
    optante: field.flag('Se é optante no dia consultado.'),
    desde: orNull(field.day('Início do período; null sem opção.')),
    ate: orNull(field.day('Último dia do período; null sem fim marcado.')),
  } satisfies FieldsOf<SimplesNacional>,
  ObrigacaoIbsCbs: {
    segmento: field.text('Segmento de serviços.'),
    descricao: field.text('O que está no segmento.'),
    devido_desde: field.day('Competência a partir da qual o grupo IBSCBS é devido.'),
    devido_na_data: field.flag('Se já é devido no dia consultado.'),
    mensagem: field.text('O mesmo em uma frase.'),
  } satisfies FieldsOf<ObrigacaoIbsCbs>,
  Pendencia: {
    codigo: field.errorCode('Código com que a emissão seria recusada.'),
    mensagem: field.text('O que falta.'),
    como_resolver: field.text('O que fazer.'),
  } satisfies FieldsOf<Pendencia>,
  CertificadoApresentado: {
    titular: field.text('Nome do titular, sem o documento.'),
    documento: orNull(field.text('CNPJ ou CPF do titular, mascarado.')),
    valido_desde: field.moment('Início da validade.'),
    valido_ate: field.moment('Fim da validade.'),
    dias_restantes: field.integer('Dias inteiros até o fim da validade.'),
  } satisfies FieldsOf<CertificadoApresentado>,
} as const;

/** An unknown or repeated parameter is refused. Ignoring it would answer about another day than the intended one. */
function findStrangeParameter(query: URLSearchParams): Fault | undefined {
  const strange = [...query.keys()].find((name) => name !== 'data');
  if (strange === undefined) {
    if (query.getAll('data').length < 2) return undefined;
    const mensagem = 'O parâmetro data veio mais de uma vez. Esta consulta fala de um dia só: envie um.';
    return { codigo: 'E003', xpath: '', mensagem, encontrado: 'data', esperado: 'data' };
  }
  const shown = quoted(strange);
  const mensagem = `Esta consulta não tem o parâmetro "${shown}". O único que ela tem é data, o dia de que se quer saber, na forma AAAA-MM-DD.`;
  return { codigo: 'E003', xpath: '', mensagem, encontrado: shown, esperado: 'data' };
}

export async function querySituacao({ world, municipio, params, search, shown }: Call) {
  const query = new URLSearchParams(search);
  const strange = findStrangeParameter(query);
  if (strange !== undefined) return { refusal: { faults: [strange] } satisfies Refusal, campo: strange.encontrado! };
  const asked = { documento: params['documento']!, data: query.get('data') ?? undefined, shown: shown() };
  const situacao = await situacaoDoPrestador(world, municipio, asked);
  if (!('faults' in situacao)) return { body: { status: 'OK', ...situacao }, isMiss: !situacao.cadastrado };
  const { campo, ...refusal } = situacao;
  return { refusal, isMiss: true, ...(campo === undefined ? {} : { campo }) };
}
