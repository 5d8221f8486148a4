/** The exchanges that the public description shows of what is one party's: tokens, lists, changes, addresses that are told. */
import type { Answered, Done, Passo } from './exemplos.ts';

const DOCUMENTO = '11222333000181';
const JSON_TYPE = { 'Content-Type': 'application/json' };

function answered(done: Done, name: string): Answered {
  return done.get(name)!.resposta;
}

const byToken = (done: Done): Readonly<Record<string, string>> => ({
  Authorization: `Bearer ${answered(done, 'pedirToken/integracao').token}`,
});
const byTokenWithBody = (done: Done): Readonly<Record<string, string>> => ({ ...JSON_TYPE, ...byToken(done) });
const webhookOf = (done: Done): Readonly<Record<string, string>> => ({
  id_webhook: answered(done, 'cadastrarWebhook/novo').webhook.id,
});
const NONE = { id_webhook: 'wh_naohaeste000' };

const LISTS = ['listarEventosDaParte', 'seguirMudancas', 'listarWebhooks'];
const OF_ONE = ['retirarWebhook', 'trocarSegredoDoWebhook', 'ensaiarWebhook', 'listarEntregas', 'reenviarEntregas'];

/** The same of several operations, each on its own: what they are sent hangs on what was answered before. */
function each(ids: readonly string[], passo: Omit<Passo, 'id'>): readonly Passo[] {
  return ids.map((id) => ({ id, ...passo }));
}

/** What is wrong with a body of JSON, of each that takes one. */
function wrongBodies(): readonly Passo[] {
  const token = (id: string): Passo => ({
    id,
    nome: 'campos',
    titulo: 'O que está errado no corpo, de uma vez',
    status: 400,
    cabecalhos: JSON_TYPE,
    corpo: { documento: '123', token: 'x', ...(id === 'revogarToken' ? { id: 'tok_1' } : {}) },
  });
  const webhook = (id: string): Passo => ({
    id,
    nome: 'campos',
    titulo: 'O endereço não é um endereço',
    status: 400,
    parametros: id === 'alterarWebhook' ? webhookOf : () => ({}),
    cabecalhos: byTokenWithBody,
    corpo: { url: 'ftp://erp.exemplo.com.br', tipos: ['nota.paga'] },
  });
  return [
    ...['pedirToken', 'listarTokens', 'revogarToken'].map(token),
    ...['cadastrarWebhook', 'alterarWebhook'].map(webhook),
  ];
}

export const DA_PARTE: readonly Passo[] = [
  {
    id: 'pedirToken',
    nome: 'integracao',
    titulo: 'Na integração, sem assinatura',
    status: 201,
    cabecalhos: JSON_TYPE,
    corpo: { documento: DOCUMENTO, escopos: ['consultar', 'webhooks'], validade_dias: 90 },
  },
  {
    id: 'pedirToken',
    nome: 'sem_assinatura',
    titulo: 'Em produção, sem assinatura nem certificado',
    municipio: 'sao-paulo',
    status: 401,
    cabecalhos: JSON_TYPE,
    corpo: { documento: DOCUMENTO },
    tambem: ['listarTokens'],
  },
  {
    id: 'revogarToken',
    nome: 'sem_assinatura',
    titulo: 'Em produção, sem assinatura nem certificado',
    municipio: 'sao-paulo',
    status: 401,
    cabecalhos: JSON_TYPE,
    corpo: { documento: DOCUMENTO, id: 'tok_Xy7aQ2bLm0Zt' },
  },
  {
    id: 'listarTokens',
    nome: 'integracao',
    titulo: 'Os que estão em vigor',
    status: 200,
    cabecalhos: JSON_TYPE,
    corpo: { documento: DOCUMENTO },
  },
  {
    id: 'listarNotas',
    nome: 'primeira',
    titulo: 'A mais antiga, e quantas são',
    status: 200,
    cabecalhos: byToken,
    consulta: { limite: '1', ordem: 'antigas', contar: 'sim' },
    until: ({ notas }) => notas[0]?.status === 'cancelada' || notas[0]?.status === 'autorizada',
  },
  {
    id: 'listarNotas',
    nome: 'sem_token',
    titulo: 'Sem token nem certificado',
    status: 401,
    parametros: () => NONE,
    tambem: [...LISTS, 'consultarWebhook', ...OF_ONE],
  },
  {
    id: 'listarNotas',
    nome: 'parametros',
    titulo: 'O que está errado nos parâmetros, de uma vez',
    status: 400,
    cabecalhos: byToken,
    consulta: { estado: 'paga', de: 'ontem' },
  },
  ...each(['listarNotas', ...LISTS], {
    nome: 'documento',
    titulo: 'O documento não é um CNPJ nem um CPF',
    status: 422,
    cabecalhos: byToken,
    consulta: { documento: '123' },
  }),
  {
    id: 'listarEventosDaParte',
    nome: 'cancelamentos',
    titulo: 'O cancelamento mais novo',
    status: 200,
    cabecalhos: byToken,
    consulta: { tipo_evento: 'cancelamento', limite: '1' },
    until: ({ eventos }) => eventos.length === 1 && eventos[0].status_evento === 'processado',
  },
  {
    id: 'listarEventosDaParte',
    nome: 'parametros',
    titulo: 'Um tipo que não há',
    status: 400,
    cabecalhos: byToken,
    consulta: { tipo_evento: 'estorno' },
  },
  {
    id: 'seguirMudancas',
    nome: 'primeira',
    titulo: 'A primeira mudança que ainda se conta',
    status: 200,
    cabecalhos: byToken,
    consulta: { limite: '1' },
    until: ({ mudancas }) => mudancas.length === 1,
  },
  {
    id: 'seguirMudancas',
    nome: 'cursor',
    titulo: 'Um cursor que não é nenhum',
    status: 400,
    cabecalhos: byToken,
    consulta: { desde: 'ontem' },
  },
  {
    id: 'consultarNota',
    nome: 'espera',
    titulo: 'Uma espera longa demais',
    status: 400,
    parametros: (done) => ({
      chave_acesso: answered(done, 'emitirNota/xml').chave_acesso,
      numero_protocolo: answered(done, 'emitirNota/xml').numero_protocolo,
      id: 'DPS355030821122233300018100001000000000000001',
    }),
    consulta: { espera: '600' },
    tambem: ['consultarNotaPorProtocolo', 'consultarNotaPorProtocoloV101', 'consultarNotaPorDps'],
  },
  {
    id: 'cadastrarWebhook',
    nome: 'novo',
    titulo: 'Um endereço novo',
    status: 201,
    cabecalhos: byTokenWithBody,
    corpo: { url: 'https://erp.exemplo.com.br/nfse', tipos: ['nota.recusada'], descricao: 'ERP da matriz' },
  },
  {
    id: 'cadastrarWebhook',
    nome: 'sem_token',
    titulo: 'Sem token nem certificado',
    status: 401,
    cabecalhos: JSON_TYPE,
    corpo: { url: 'https://erp.exemplo.com.br/nfse' },
  },
  {
    id: 'alterarWebhook',
    nome: 'sem_token',
    titulo: 'Sem token nem certificado',
    status: 401,
    parametros: () => NONE,
    cabecalhos: JSON_TYPE,
    corpo: { ativo: true },
  },
  {
    id: 'cadastrarWebhook',
    nome: 'documento',
    titulo: 'O documento não é um CNPJ nem um CPF',
    status: 422,
    cabecalhos: byTokenWithBody,
    consulta: { documento: '123' },
    corpo: { url: 'https://erp.exemplo.com.br/nfse' },
  },
  {
    id: 'alterarWebhook',
    nome: 'documento',
    titulo: 'O documento não é um CNPJ nem um CPF',
    status: 422,
    parametros: () => NONE,
    cabecalhos: byTokenWithBody,
    consulta: { documento: '123' },
    corpo: { ativo: true },
  },
  ...each(['consultarWebhook', ...OF_ONE], {
    nome: 'documento',
    titulo: 'O documento não é um CNPJ nem um CPF',
    status: 422,
    parametros: () => NONE,
    cabecalhos: byToken,
    consulta: { documento: '123' },
  }),
  ...wrongBodies(),
  { id: 'listarWebhooks', nome: 'um', titulo: 'Os endereços', status: 200, cabecalhos: byToken },
  {
    id: 'listarWebhooks',
    nome: 'parametro',
    titulo: 'Um parâmetro que o endereço não tem',
    status: 400,
    cabecalhos: byToken,
    consulta: { ativo: 'true' },
  },
  {
    id: 'consultarWebhook',
    nome: 'um',
    titulo: 'Um endereço',
    status: 200,
    parametros: webhookOf,
    cabecalhos: byToken,
  },
  ...each(['consultarWebhook', ...OF_ONE], {
    nome: 'nao_ha',
    titulo: 'O documento não tem este endereço',
    status: 404,
    parametros: () => NONE,
    cabecalhos: byToken,
  }),
  ...each(['consultarWebhook', 'retirarWebhook', 'trocarSegredoDoWebhook', 'ensaiarWebhook'], {
    nome: 'parametro',
    titulo: 'Um parâmetro que o endereço não tem',
    status: 400,
    parametros: () => NONE,
    cabecalhos: byToken,
    consulta: { ativo: 'true' },
  }),
  {
    id: 'alterarWebhook',
    nome: 'nao_ha',
    titulo: 'O documento não tem este endereço',
    status: 404,
    parametros: () => NONE,
    cabecalhos: byTokenWithBody,
    corpo: { ativo: true },
  },
  {
    id: 'alterarWebhook',
    nome: 'tipos',
    titulo: 'Outras mudanças',
    status: 200,
    parametros: webhookOf,
    cabecalhos: byTokenWithBody,
    corpo: { tipos: ['nota.recusada', 'evento.rejeitado'] },
  },
  {
    id: 'trocarSegredoDoWebhook',
    nome: 'novo',
    titulo: 'Outro segredo',
    status: 200,
    parametros: webhookOf,
    cabecalhos: byToken,
  },
  {
    id: 'ensaiarWebhook',
    nome: 'ensaio',
    titulo: 'Um aviso de ensaio',
    status: 200,
    parametros: webhookOf,
    cabecalhos: byToken,
  },
  {
    id: 'listarEntregas',
    nome: 'ensaio',
    titulo: 'O ensaio, entregue',
    status: 200,
    parametros: webhookOf,
    cabecalhos: byToken,
    consulta: { estado: 'entregue' },
    until: ({ entregas }) => entregas.length === 1,
  },
  {
    id: 'listarEntregas',
    nome: 'estado',
    titulo: 'Um estado que não há',
    status: 400,
    parametros: webhookOf,
    cabecalhos: byToken,
    consulta: { estado: 'perdida' },
  },
  {
    id: 'reenviarEntregas',
    nome: 'nenhuma',
    titulo: 'Nada se deixou de tentar',
    status: 200,
    parametros: webhookOf,
    cabecalhos: byToken,
  },
  {
    id: 'reenviarEntregas',
    nome: 'parametro',
    titulo: 'Um parâmetro que o endereço não tem',
    status: 400,
    parametros: webhookOf,
    cabecalhos: byToken,
    consulta: { ativo: 'true' },
  },
  {
    id: 'retirarWebhook',
    nome: 'retirado',
    titulo: 'Um endereço retirado',
    status: 200,
    parametros: webhookOf,
    cabecalhos: byToken,
  },
  {
    id: 'revogarToken',
    nome: 'nao_ha',
    titulo: 'O documento não tem este token',
    status: 404,
    cabecalhos: JSON_TYPE,
    corpo: { documento: DOCUMENTO, id: 'tok_naohaeste000' },
  },
  {
    id: 'revogarToken',
    nome: 'revogado',
    titulo: 'Um token revogado',
    status: 200,
    cabecalhos: JSON_TYPE,
    corpo: (done: Done) => ({ documento: DOCUMENTO, id: answered(done, 'pedirToken/integracao').id }),
  },
];
