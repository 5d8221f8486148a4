/** The addresses of private sandboxes: one is made in the shared sandbox, and its owner manages it below its own address. */

import { findStrangeParams, refuseParams } from '../../base/http/params.ts';
import {
  refuseMissingCenario,
  refuseMissingRequisicao,
  refuseNoAmbiente,
  refuseUnknownMunicipio,
  refuseWith,
} from '../../base/http/refusals.ts';
import { refuseAsFlow } from '../../base/http/repetition.ts';
import { type Call, defineRoute, type Refused, type Route } from '../../base/http/route.ts';
import { networksOf } from '../../base/world/redes.ts';
import { ENSAIO_DIAS } from '../../base/world/relogio.ts';
import { DO_ENSAIO, PUBLICO } from '../../published/acesso.ts';
import { type FieldsOf, field, orAbsent, orNull, STATUS } from '../../published/openapi/field.ts';
import { AS_400, CAMPOS_CODES } from '../partes/rotas.rest.ts';
import {
  type AmbientePublico,
  admitOwner,
  CADASTROS_DO_AMBIENTE,
  type CadastroImportado,
  changeAmbiente,
  createAmbiente,
  discardAmbiente,
  ENSAIOS_DA_REDE,
  importCadastro,
  resetAmbiente,
  showAmbiente,
} from './ambientes.ts';
import { type CenarioPublico, documentoDoCenario, listPersonas, type PersonaPublica } from './personas.ts';
import { findRequisicao, listRequisicoes, type RequisicaoInteira, type RequisicaoPublica } from './requisicoes.ts';

const AMBIENTE_FIELDS = {
  municipio: field.text('O município do ambiente: o primeiro segmento dos seus endereços.'),
  nome: orNull(field.text('O nome que se lhe deu.')),
  criado_em: field.moment('Quando foi feito.'),
  expira_em: field.moment('Quando some, com tudo o que há nele.'),
  reiniciado_em: orNull(field.moment('Quando foi reiniciado.')),
  relogio: field.moment('A hora do ambiente.'),
  adiantado_s: field.integer('Quantos segundos o relógio do ambiente está adiante do do serviço.'),
  regras_nacionais: orNull(
    field.choice(['recusa', 'avisa'], 'Se uma regra nacional que a especificação não nomeia recusa ou avisa.'),
  ),
  exige_cadastro: field.flag(
    'Se o prestador tem de estar cadastrado e autorizado, como em produção (E101, E102, E103).',
  ),
  exige_numero: field.flag('Se uma DPS sem número é recusada.'),
  exige_nota_no_evento: field.flag('Se o pedido de um evento tem de nomear a nota.'),
  aliquota_padrao: orNull(field.amount('Alíquota do ISSQN de um serviço sem lista.')),
} as const satisfies FieldsOf<AmbientePublico>;

const REQUISICAO_FIELDS = {
  id: field.text('O X-Request-Id da resposta.'),
  em: field.moment('Quando chegou, pelo relógio do serviço.'),
  metodo: field.text('Método HTTP.'),
  caminho: field.text('Endereço, com os parâmetros.'),
  status: field.integer('Status da resposta.'),
  ms: field.integer('Quanto durou, em milissegundos.'),
} as const satisfies FieldsOf<RequisicaoPublica>;

export const AMBIENTE_SHAPES = {
  Ambiente: AMBIENTE_FIELDS,
  Requisicao: REQUISICAO_FIELDS,
  RequisicaoInteira: {
    ...REQUISICAO_FIELDS,
    tipo: orNull(field.text('Content-Type do corpo.')),
    corpo: orNull(field.text('O corpo, como texto; null quando não veio, não é texto, ou não se guarda.')),
    corpo_bytes: orNull(
      field.integer('Tamanho do que se guarda do corpo: 0 quando não veio, null quando não se guarda.'),
    ),
    resposta: orNull(
      field.text('A resposta, sem os segredos que mostrou; null quando não é texto, ou já não se guarda.'),
    ),
  } satisfies FieldsOf<RequisicaoInteira>,
  Persona: {
    id: field.text('Identificador da persona.'),
    titulo: field.text('Quem é, em uma linha.'),
    historia: field.text('O que tem de particular, e o que olhar na resposta.'),
    documento: field.text('CNPJ ou CPF.'),
    razao_social: field.text('Nome.'),
    inscricao_municipal: field.text('Inscrição municipal.'),
    cenarios: field.shape('Cenario[]', 'O que emite.'),
  } satisfies FieldsOf<PersonaPublica>,
  Cenario: {
    id: field.text('Identificador do cenário.'),
    titulo: field.text('O cenário em uma linha.'),
    explica: field.text('O que a nota mostra.'),
    evento: orNull(field.text('O tipo do evento que se registra depois; null quando não há.')),
    substituta: field.flag('Se outra nota a substitui antes do evento.'),
  } satisfies FieldsOf<CenarioPublico>,
  ContaDeCadastro: {
    de: field.text('De que.'),
    novos: field.integer('Linhas novas.'),
    alterados: field.integer('Linhas que mudaram o que havia.'),
    iguais: field.integer('Linhas iguais ao que havia.'),
    retirados: field.integer('Linhas que saíram, onde o arquivo é o cadastro inteiro.'),
  } satisfies FieldsOf<CadastroImportado['contas'][number]>,
} as const;

const AMBIENTE = field.shape('Ambiente', 'O ambiente.');

const RIGOR_SENDS = {
  regras_nacionais: orAbsent(field.choice(['recusa', 'avisa'], 'Com que rigor valem as regras nacionais.')),
  exige_cadastro: orAbsent(field.flag('true: só emite quem está cadastrado e autorizado, como em produção.')),
  exige_numero: orAbsent(field.flag('true: uma DPS sem número é recusada.')),
  exige_nota_no_evento: orAbsent(field.flag('true: o pedido de um evento tem de nomear a nota.')),
  aliquota_padrao: orAbsent(field.text('Alíquota do ISSQN, como "2.00".')),
} as const;
const RELOGIO = field.moment('A hora que o ambiente passa a ter; dali em diante ela corre.');

/** The answer for a client that is not the owner of the sandbox; undefined: it is the owner. */
async function refuseStranger({ world, municipio, shown }: Call) {
  const admitted = await admitOwner(world, municipio, shown());
  if (admitted === 'owner') return undefined;
  if (admitted === 'not_here') return refuseNoAmbiente(false);
  return admitted === 'gone' ? refuseUnknownMunicipio(municipio.tenant) : { refusal: admitted, isMiss: true };
}

/** An operation of the owner on the sandbox. */
type OnOwn<Body> = (call: Call) => Promise<Body | Refused>;

function byOwner<Body extends object>(work: OnOwn<Body>) {
  return async (call: Call) => {
    const refused = await refuseStranger(call);
    if (refused !== undefined) return refused;
    const done = await work(call);
    return 'refusal' in done ? done : { body: { status: 'OK', ...(done as Body) } };
  };
}

async function make({ world, municipio, body, client }: Call) {
  const made = await createAmbiente(world, municipio, { body, rede: networksOf(client).at(-1)!.name });
  if (made === 'not_here') return refuseNoAmbiente(true);
  return 'faults' in made ? refuseAsFlow(made) : { body: { status: 'OK', ...made } };
}

const show = byOwner(async ({ world, municipio }) => ({ ambiente: await showAmbiente(world, municipio) }));

const answerWrite = (write: typeof changeAmbiente) =>
  byOwner(async ({ world, municipio, body }) => {
    const ambiente = await write(world, municipio, body);
    if (ambiente === 'gone') return refuseUnknownMunicipio(municipio.tenant);
    return 'faults' in ambiente ? refuseAsFlow(ambiente) : { ambiente };
  });
const change = answerWrite(changeAmbiente);
const reset = answerWrite(resetAmbiente);

const discard = byOwner(async ({ world, municipio }) => {
  await discardAmbiente(world, municipio);
  return { municipio: municipio.tenant };
});

const fill = byOwner(async ({ world, municipio, params, body }) => {
  const imported = await importCadastro(world, municipio, params['cadastro']!, body);
  if (imported === undefined) return refuseMissingCadastro();
  if (imported === 'gone') return refuseUnknownMunicipio(municipio.tenant);
  return 'faults' in imported ? refuseAsFlow(imported) : imported;
});

const personas = byOwner(async () => ({ personas: listPersonas() }));

/** The document as it is sent: the reader passes it on unchanged. */
async function personaDocument(call: Call) {
  const { world, params, search } = call;
  const refused = await refuseStranger(call);
  if (refused !== undefined) return refused;
  const query = new URLSearchParams(search);
  const strange = findStrangeParams(query, Object.keys(DOCUMENTO_QUERY), 'Este endereço');
  if (strange.length > 0) return refuseParams(strange);
  const found = documentoDoCenario(world, params['persona']!, params['cenario']!, Object.fromEntries(query));
  if (found === undefined) return refuseMissingCenario();
  if ('faults' in found) return refuseAsFlow(found);
  return { served: Buffer.from(found.text), type: `application/${found.tipo}; charset=utf-8`, headers: {} };
}

const DOCUMENTO_QUERY = {
  forma: 'xml, como sem ele; json, a mesma DPS no corpo JSON; ou evento, o pedido do evento do cenário, em JSON.',
  nota: 'Com forma=evento: a chave da nota em que ele se registra.',
  substituta: 'Com forma=evento, no cenário que tem substituta: a chave da nota que substitui.',
  substitui:
    'Com xml e json, no cenário que tem substituta: a chave da nota que se substitui; vem a DPS da que a substitui.',
} as const;

const listLast = byOwner(async ({ world, municipio }) => ({ requisicoes: await listRequisicoes(world, municipio) }));

const showLast = byOwner(async ({ world, municipio, params }) => {
  const requisicao = await findRequisicao(world, municipio, params['id_requisicao']!);
  return requisicao === undefined ? refuseMissingRequisicao() : { requisicao };
});

/** Requests to these addresses are not kept among the last requests, since they rehearse nothing. */
export const AMBIENTE_PATH = '/api/v1/ambiente';

/** The address that takes the file of a register. */
export const CADASTRO_PATH = `${AMBIENTE_PATH}/cadastros/:cadastro`;

/** Cost in documents: an imported file stays stored, and a document is one row. */
export const IMPORT_QUOTA_COST = 20;

const OWN = { headers: [], missCost: 1, asksOwner: true } as const;
const OWN_CODES = ['E9003', 'E9007', 'E601'] as const;

/** Making a sandbox costs as much as issuing this many notes, and those that are discarded count no more. */
const CRIAR_CUSTO = 10;

export const ROTAS_DE_AMBIENTES: readonly Route[] = [
  defineRoute({
    id: 'criarAmbiente',
    method: 'POST',
    path: '/api/v1/ambientes',
    summary: `Faz um ambiente só seu, ensaio-xxxxxx, com prestadores, cadastros e relógio próprios, por ${ENSAIO_DIAS} dias. Só em /integracao; até ${ENSAIOS_DA_REDE} que existem, feitos em um dia de um endereço de rede; um que se joga fora devolve o lugar. A chave da resposta o abre, e não se mostra de novo.`,
    takes: ['application/json'],
    isBodyOptional: true,
    sends: { nome: orAbsent(field.text('Um nome seu para ele.')), relogio: orAbsent(RELOGIO), ...RIGOR_SENDS },
    quotaCost: CRIAR_CUSTO,
    status: 201,
    fields: { status: STATUS, ambiente: AMBIENTE, chave: field.text('A chave do dono, para Authorization: Bearer.') },
    headers: ['RateLimit-Policy', 'RateLimit'],
    codes: [...CAMPOS_CODES, 'E601', 'E703'],
    statuses: { ...AS_400, E703: [429] },
    acesso: { ...PUBLICO, estranho: 'um ambiente só seu', custo: `${CRIAR_CUSTO} documentos; e tantos que existem` },
    handle: make,
  }),
  defineRoute({
    ...OWN,
    id: 'consultarAmbiente',
    method: 'GET',
    path: AMBIENTE_PATH,
    summary:
      'Um ambiente próprio: até quando existe, que horas são nele e com que rigor confere. Para o dono, com a chave.',
    status: 200,
    fields: { status: STATUS, ambiente: AMBIENTE },
    codes: OWN_CODES,
    acesso: { ...DO_ENSAIO, parte: 'o ambiente' },
    handle: show,
  }),
  defineRoute({
    ...OWN,
    id: 'alterarAmbiente',
    method: 'PATCH',
    path: AMBIENTE_PATH,
    summary:
      'Muda o relógio e o rigor de um ambiente próprio. O relógio só avança: passe de 31/12/2026 a 01/01/2027 e veja os prazos e o calendário do IBS e da CBS. A mudança vale em todos os processos quando a resposta chega.',
    takes: ['application/json'],
    sends: {
      relogio: orAbsent(RELOGIO),
      avancar: orAbsent(field.text('Quanto avançar: um número e m, h ou d, como 90m, 6h, 35d.')),
      ...RIGOR_SENDS,
    },
    status: 200,
    fields: { status: STATUS, ambiente: AMBIENTE },
    codes: [...CAMPOS_CODES, ...OWN_CODES, 'E703'],
    statuses: { ...AS_400, E703: [429] },
    acesso: { ...DO_ENSAIO, parte: 'o ambiente mudado' },
    handle: change,
  }),
  defineRoute({
    ...OWN,
    id: 'reiniciarAmbiente',
    method: 'POST',
    path: `${AMBIENTE_PATH}/reinicio`,
    summary:
      'Tira de um ambiente próprio tudo o que se emitiu, cadastrou e guardou, e o deixa como novo, com a hora de agora ou a que se diz.',
    takes: ['application/json'],
    isBodyOptional: true,
    sends: { relogio: orAbsent(RELOGIO) },
    status: 200,
    fields: { status: STATUS, ambiente: AMBIENTE },
    codes: [...CAMPOS_CODES, ...OWN_CODES, 'E703'],
    statuses: { ...AS_400, E703: [429] },
    acesso: { ...DO_ENSAIO, parte: 'o ambiente como novo' },
    handle: reset,
  }),
  defineRoute({
    ...OWN,
    id: 'descartarAmbiente',
    method: 'DELETE',
    path: AMBIENTE_PATH,
    summary: 'Joga fora um ambiente próprio, com tudo o que há nele.',
    status: 200,
    fields: { status: STATUS, municipio: field.text('O que se jogou fora.') },
    codes: OWN_CODES,
    acesso: { ...DO_ENSAIO, parte: 'que foi jogado fora' },
    handle: discard,
  }),
  defineRoute({
    ...OWN,
    id: 'importarCadastro',
    method: 'POST',
    path: CADASTRO_PATH,
    summary: `Importa um arquivo CSV num cadastro de um ambiente próprio: ${CADASTROS_DO_AMBIENTE.join(', ')}. Com uma linha recusada nada é gravado: a resposta é 422, com um erro para cada uma das primeiras cem.`,
    takes: ['text/csv'],
    quotaCost: IMPORT_QUOTA_COST,
    status: 200,
    fields: {
      status: STATUS,
      registro: field.text('O cadastro.'),
      linhas: field.integer('Linhas do arquivo, sem o cabeçalho.'),
      contas: field.shape('ContaDeCadastro[]', 'O que se gravou.'),
    },
    headers: ['RateLimit-Policy', 'RateLimit'],
    codes: ['E003', ...OWN_CODES, 'E703'],
    statuses: { E003: [400, 422], E703: [429] },
    acesso: { ...DO_ENSAIO, parte: 'o que se gravou' },
    handle: fill,
  }),
  defineRoute({
    ...OWN,
    id: 'listarPersonas',
    method: 'GET',
    path: `${AMBIENTE_PATH}/personas`,
    summary:
      'Os prestadores prontos de um ambiente próprio (MEI, Simples, regime geral, imune, pessoa física, CNPJ alfanumérico, obra, evento, exportação, benefício), e os cenários de cada um.',
    status: 200,
    fields: { status: STATUS, personas: field.shape('Persona[]', 'As personas.') },
    codes: OWN_CODES,
    acesso: { ...DO_ENSAIO, parte: 'as personas' },
    handle: personas,
  }),
  defineRoute({
    ...OWN,
    id: 'documentoDaPersona',
    method: 'GET',
    path: `${AMBIENTE_PATH}/personas/:persona/:cenario`,
    summary:
      'Um documento de um cenário, pronto para enviar, com as datas do relógio do ambiente: a DPS em XML ou no corpo JSON, a da nota que a substitui, ou o pedido do evento.',
    query: DOCUMENTO_QUERY,
    status: 200,
    gives: 'application/xml',
    fields: {},
    codes: ['E003', 'E0002', ...OWN_CODES],
    statuses: { E0002: [400] },
    acesso: { ...DO_ENSAIO, parte: 'o documento de um cenário' },
    handle: personaDocument,
  }),
  defineRoute({
    ...OWN,
    id: 'listarRequisicoes',
    method: 'GET',
    path: `${AMBIENTE_PATH}/requisicoes`,
    summary: 'As últimas 200 requisições a um ambiente próprio, da mais nova à mais antiga.',
    status: 200,
    fields: { status: STATUS, requisicoes: field.shape('Requisicao[]', 'Sem os corpos.') },
    codes: OWN_CODES,
    acesso: { ...DO_ENSAIO, parte: 'as últimas requisições' },
    handle: listLast,
  }),
  defineRoute({
    ...OWN,
    id: 'consultarRequisicao',
    method: 'GET',
    path: `${AMBIENTE_PATH}/requisicoes/:id_requisicao`,
    summary: 'Uma das últimas requisições, com o corpo e a resposta: cada erro e o que o conserta.',
    status: 200,
    fields: { status: STATUS, requisicao: field.shape('RequisicaoInteira', 'A requisição e a resposta.') },
    codes: OWN_CODES,
    acesso: { ...DO_ENSAIO, parte: 'uma delas, com o corpo e a resposta' },
    handle: showLast,
  }),
];

function refuseMissingCadastro(): Refused {
  const mensagem = `Não há cadastro com este nome. Os que há: ${CADASTROS_DO_AMBIENTE.join(', ')}.`;
  return refuseWith('E601', mensagem, { campo: 'cadastro' });
}
