/** The situation of a provider as an address: what may be asked, and what is answered. */
import { type Fault, quoted, type Refusal } from '../../fiscal/fault.ts';
import type { CertificadoApresentado } from '../../flows/caller.ts';
import {
  type Inscricao,
  type ObrigacaoIbsCbs,
  type Pendencia,
  type SimplesNacional,
  type Situacao,
  situacaoDoPrestador,
} from '../../flows/situacao-prestador.ts';
import type { Field } from '../../published/openapi/field.ts';
import type { Call } from './route.ts';

export const SITUACAO_FIELDS = {
  documento: { type: 'string', about: 'O CNPJ ou CPF consultado, sem máscara.' },
  data: { type: 'string', formato: 'dia', about: 'O dia de que a resposta fala, AAAA-MM-DD.' },
  pode_emitir: { type: 'boolean', about: 'Se nada falta no cadastro para emitir; pendencias diz o que falta.' },
  mensagem: { type: 'string', about: 'O mesmo em uma frase.' },
  cadastrado: { type: 'boolean', about: 'Se o prestador está no cadastro deste município.' },
  autorizado: { type: 'boolean', about: 'Se alguma das suas inscrições está autorizada a emitir.' },
  inscricoes: {
    type: 'Inscricao[]',
    about: 'As suas inscrições municipais; de um CPF, no ambiente de integração, só as últimas posições.',
  },
  simples_nacional: {
    type: 'SimplesNacional',
    about: 'Se é optante no dia, segundo o cadastro, e o período em que o dia está.',
  },
  ibscbs: {
    type: 'ObrigacaoIbsCbs[]',
    about: 'Para cada segmento de serviços, desde que competência este prestador deve o grupo IBSCBS.',
  },
  pendencias: {
    type: 'Pendencia[]',
    about: 'O que impede a emissão: o código com que ela seria recusada, o que é, e como resolver.',
  },
  certificado: {
    type: 'CertificadoApresentado',
    nullable: true,
    about: 'O certificado apresentado e a sua validade; null no ambiente de integração.',
  },
} as const satisfies Readonly<Record<keyof Situacao, Field>>;

export const SITUACAO_SHAPES = {
  Inscricao: {
    inscricao_municipal: { type: 'string', nullable: true, about: 'Número da inscrição; null quando não tem.' },
    autorizada: { type: 'boolean', about: 'Se está autorizada a emitir.' },
  } satisfies Readonly<Record<keyof Inscricao, Field>>,
  SimplesNacional: {
    optante: { type: 'boolean', about: 'Se é optante no dia consultado.' },
    desde: { type: 'string', formato: 'dia', nullable: true, about: 'Início do período; null sem opção.' },
    ate: { type: 'string', formato: 'dia', nullable: true, about: 'Último dia do período; null sem fim marcado.' },
  } satisfies Readonly<Record<keyof SimplesNacional, Field>>,
  ObrigacaoIbsCbs: {
    segmento: { type: 'string', about: 'Segmento de serviços.' },
    descricao: { type: 'string', about: 'O que está no segmento.' },
    devido_desde: { type: 'string', formato: 'dia', about: 'Competência a partir da qual o grupo IBSCBS é devido.' },
    devido_na_data: { type: 'boolean', about: 'Se já é devido no dia consultado.' },
    mensagem: { type: 'string', about: 'O mesmo em uma frase.' },
  } satisfies Readonly<Record<keyof ObrigacaoIbsCbs, Field>>,
  Pendencia: {
    codigo: { type: 'string', formato: 'codigo', about: 'Código com que a emissão seria recusada.' },
    mensagem: { type: 'string', about: 'O que falta.' },
    como_resolver: { type: 'string', about: 'O que fazer.' },
  } satisfies Readonly<Record<keyof Pendencia, Field>>,
  CertificadoApresentado: {
    titular: { type: 'string', about: 'Nome do titular, sem o documento.' },
    documento: { type: 'string', nullable: true, about: 'CNPJ ou CPF do titular, mascarado.' },
    valido_desde: { type: 'string', formato: 'momento', about: 'Início da validade.' },
    valido_ate: { type: 'string', formato: 'momento', about: 'Fim da validade.' },
    dias_restantes: { type: 'number', about: 'Dias inteiros até o fim da validade.' },
  } satisfies Readonly<Record<keyof CertificadoApresentado, Field>>,
} as const;

/** A parameter under another name, or a second one, would be passed over, and the answer be about another day than the one meant. */
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

export async function querySituacao({ world, municipio, params, query, shown }: Call) {
  const strange = findStrangeParameter(query);
  if (strange !== undefined) return { refusal: { faults: [strange] } satisfies Refusal, campo: strange.encontrado! };
  const asked = { documento: params.documento!, data: query.get('data') ?? undefined, shown: shown() };
  const situacao = await situacaoDoPrestador(world, municipio, asked);
  if (!('faults' in situacao)) return { body: { status: 'OK', ...situacao }, isMiss: !situacao.cadastrado };
  const { campo, ...refusal } = situacao;
  return { refusal, isMiss: true, ...(campo === undefined ? {} : { campo }) };
}
