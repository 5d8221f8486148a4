/** The addresses of a municipality's parameters, beside the national door, as the national environment has them (D-924). */
import { refuseWith } from '../../base/http/refusals.ts';
import { type Call, defineRoute, type Refused, type Route } from '../../base/http/route.ts';
import { municipioInWords, municipioOf } from '../../fiscal/catalogs/catalogs.ts';
import { quoted } from '../../fiscal/fault.ts';
import { PUBLICO } from '../../published/acesso.ts';
import { field, type Shape } from '../../published/openapi/field.ts';
import { PARAMETROS_PATH } from '../../published/paths.ts';
import { aliquotasOf, beneficioOn, readCompetencia, readServico, type Servico } from './parametros.ts';

/** `undefined`: the shared sandbox, which answers for every municipality as it issues for every one. */
function refuseOther({ codigoIbge }: Call['municipio'], asked: string): Refused | undefined {
  if (codigoIbge === undefined ? municipioOf(asked) !== undefined : asked === codigoIbge) return undefined;
  const whose = codigoIbge === undefined ? 'dos municípios que existem' : `só de ${municipioInWords(codigoIbge)}`;
  const mensagem = `Este endereço diz os parâmetros ${whose}, e o código pedido é ${quoted(asked)}.`;
  return refuseWith('E601', mensagem, { campo: 'codigo_municipio' });
}

async function showConvenio({ municipio, params }: Call) {
  const refused = refuseOther(municipio, params['codigo_municipio']!);
  if (refused !== undefined) return refused;
  const mensagem = 'O município emite por este serviço, que leva as notas ao ambiente nacional.';
  return { body: { parametrosConvenio: { aderenteAmbienteNacional: 1 }, mensagem } };
}

/** The service of an address; `competencia` is absent from the history. */
type Asked = { readonly servico: Servico; readonly competencia?: string };

function askedIn({ municipio, params }: Call): Asked | Refused {
  const other = refuseOther(municipio, params['codigo_municipio']!);
  if (other !== undefined) return other;
  const servico = readServico(params['codigo_servico']!);
  if (servico === undefined) {
    const mensagem = `O código do serviço tem 6 ou 9 dígitos, com ou sem pontos, como 01.01.01.000; veio ${quoted(params['codigo_servico']!)}.`;
    return refuseWith('E003', mensagem, { campo: 'codigo_servico' });
  }
  if (params['competencia'] === undefined) return { servico };
  const competencia = competenciaIn(params['competencia']);
  return typeof competencia === 'string' ? { servico, competencia } : competencia;
}

function competenciaIn(text: string): string | Refused {
  const mensagem = `A competência é um dia, como 2026-11-21; veio ${quoted(text)}.`;
  return readCompetencia(text) ?? refuseWith('E003', mensagem, { campo: 'competencia' });
}

async function showAliquotas(call: Call) {
  const asked = askedIn(call);
  if ('refusal' in asked) return asked;
  const aliquotas = await aliquotasOf(call.world, call.municipio, asked.servico, asked.competencia);
  if (aliquotas === undefined) {
    const mensagem = 'O município não tem aqui alíquota deste serviço; sem ela, vale a que a DPS diz em pAliq.';
    return refuseWith('E601', mensagem, { campo: 'codigo_servico' });
  }
  return { body: { aliquotas, mensagem: 'A alíquota é a da lista do município, em percentual.' } };
}

async function showBeneficio({ world, municipio, params }: Call) {
  const other = refuseOther(municipio, params['codigo_municipio']!);
  if (other !== undefined) return other;
  const competencia = competenciaIn(params['competencia']!);
  if (typeof competencia !== 'string') return competencia;
  const beneficio = await beneficioOn(world, municipio, params['numero_beneficio']!, competencia);
  if (beneficio === undefined) {
    const mensagem =
      'O município não tem aqui benefício deste número que sirva a qualquer prestador nesta competência; os de prestadores nomeados não se dizem.';
    return refuseWith('E601', mensagem, { campo: 'numero_beneficio' });
  }
  return { body: { beneficio, mensagem: 'O benefício é o do cadastro do município; sem servicos, serve a todos.' } };
}

const MENSAGEM = field.text('O que se achou, em uma frase.');
const ALIQUOTAS = field.shape(
  'AliquotasNacionais',
  'As alíquotas por código de serviço: listas de Incidencia, Aliq (em percentual), DtIni e DtFim.',
);

export const SHAPES_DE_PARAMETROS: Readonly<Record<string, Shape>> = {
  ConvenioNacional: {
    aderenteAmbienteNacional: { ...field.integer('1: as notas vão ao ambiente nacional.'), values: [1] },
  },
  AliquotasNacionais: 'objeto',
  BeneficioNacional: 'objeto',
};

/** The parts that every row shares. No answer has a field that the contract lacks: programs refuse those. */
const PARAMETROS = {
  isNacional: true,
  method: 'GET',
  status: 200,
  headers: [],
  acesso: { ...PUBLICO, estranho: 'o que o município publica; nada de prestador nenhum' },
} as const;

export const ROTAS_DE_PARAMETROS: readonly Route[] = [
  defineRoute({
    ...PARAMETROS,
    id: 'nacionalConvenio',
    path: `${PARAMETROS_PATH}/:codigo_municipio/convenio`,
    summary:
      'Que o município compartilha as notas com o ambiente nacional. O que este serviço não sabe do convênio, não vem.',
    fields: {
      parametrosConvenio: field.shape('ConvenioNacional', 'O que se sabe do convênio.'),
      mensagem: MENSAGEM,
    },
    codes: ['E601'],
    handle: showConvenio,
  }),
  defineRoute({
    ...PARAMETROS,
    id: 'nacionalAliquota',
    path: `${PARAMETROS_PATH}/:codigo_municipio/:codigo_servico/:competencia/aliquota`,
    summary: 'A alíquota do ISSQN de um serviço numa competência, da lista do município.',
    fields: { aliquotas: ALIQUOTAS, mensagem: MENSAGEM },
    codes: ['E003', 'E601'],
    handle: showAliquotas,
  }),
  defineRoute({
    ...PARAMETROS,
    id: 'nacionalHistoricoAliquotas',
    path: `${PARAMETROS_PATH}/:codigo_municipio/:codigo_servico/historicoaliquotas`,
    summary: 'As alíquotas do ISSQN que um serviço tem na lista do município, de todas as datas.',
    fields: { aliquotas: ALIQUOTAS, mensagem: MENSAGEM },
    codes: ['E003', 'E601'],
    handle: showAliquotas,
  }),
  defineRoute({
    ...PARAMETROS,
    id: 'nacionalBeneficio',
    path: `${PARAMETROS_PATH}/:codigo_municipio/:numero_beneficio/:competencia/beneficio`,
    summary: 'Um benefício municipal numa competência, se serve a qualquer prestador.',
    fields: {
      beneficio: field.shape(
        'BeneficioNacional',
        'codigoBeneficio, tipoBeneficio (como tpBM), a vigência, reducaoPercentualBC ou aliquotaDiferenciada, e servicos.',
      ),
      mensagem: MENSAGEM,
    },
    codes: ['E003', 'E601'],
    handle: showBeneficio,
  }),
];
