/**
 * The example exchanges of the public description, in order. They run on a new service with a fixed clock and fixed random numbers. A
 * second run gives the same text. `npm run exemplos` writes them down.
 */

import assert from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import type { World } from '../../src/base/world/world.ts';
import { createRestDoor } from '../../src/doors/rest/door.ts';
import { ROUTES } from '../../src/doors/rest/routes.ts';
import { SANDBOX_SLUG } from '../../src/fiscal/ambiente.ts';
import { exampleXml } from '../../src/fiscal/rules/example.ts';
import type { Patch } from '../../src/fiscal/rules/rule.ts';
import { exemploDe, tipoBySlug } from '../../src/fiscal/tipos-evento.ts';
import { EXAMPLE_SITE, type Exemplo } from '../../src/published/openapi/examples.ts';
import { CATALOGOS } from '../../src/subjects/cadastros/catalogos.rest.ts';
import { onEnd } from './cleanup.ts';
import { takesAll } from './desafio.ts';
import { DA_PARTE } from './exemplos-da-parte.ts';
import { ask, type Head } from './http.ts';
import { NO_SUCH_KEY } from './notas.ts';
import { jsonOf } from './operacoes.ts';
import { startTestService, type TestService } from './service.ts';
import { until } from './until.ts';

/** A municipality in production, for refusals that only production has. */
export const PRODUCTION_SLUG = 'sao-paulo';

const XML = { 'Content-Type': 'application/xml' };
const JSON_TYPE = { 'Content-Type': 'application/json' };

export type Done = ReadonlyMap<string, Exemplo>;

export type Passo = Pick<Exemplo, 'id' | 'nome' | 'titulo' | 'status'> & {
  readonly municipio?: string | ((done: Done) => string);
  readonly parametros?: (done: Done) => Readonly<Record<string, string>>;
  readonly consulta?: Readonly<Record<string, string>>;
  readonly cabecalhos?: Readonly<Record<string, string>> | ((done: Done) => Readonly<Record<string, string>>);
  readonly corpo?: unknown | ((done: Done) => unknown);
  /** The condition on the answer to wait for. */
  readonly until?: (resposta: Answered) => boolean;
  /** The answer is not JSON, or is too long to show. */
  readonly unseen?: true;
  /** The exchange only prepares those that follow, and is not written down. */
  readonly prepares?: true;
  /** Other operations that give exactly the same answer to the same request. */
  readonly tambem?: readonly string[];
};

// biome-ignore lint/suspicious/noExplicitAny: an answer is looked at field by field
export type Answered = any;

export function answerOf(done: Done, name: string): Answered {
  const found = done.get(name);
  assert.ok(found !== undefined, `${name} was not made before`);
  return found.resposta;
}

const chaveOf =
  (name: string) =>
  (done: Done): Readonly<Record<string, string>> => ({ chave_acesso: answerOf(done, name).chave_acesso });

const protocoloOf =
  (name: string) =>
  (done: Done): Readonly<Record<string, string>> => ({ numero_protocolo: answerOf(done, name).numero_protocolo });

const bothOf =
  (name: string) =>
  (done: Done): Readonly<Record<string, string>> => ({ ...chaveOf(name)(done), ...protocoloOf(name)(done) });

const json = (patch: Patch): unknown => JSON.parse(jsonOf(exampleXml(patch)));
const evento = (slug: string): Readonly<Record<string, string>> => exemploDe(tipoBySlug(slug)!);

const NUMBERED: Patch = { serie: '1', nDPS: '1' };
/** A series that no other example uses: a dry run never has the same number twice. */
const TRIED: Patch = { serie: '2', nDPS: '1' };
const DPS_ID = 'DPS355030821122233300018100001000000000000001';
const NO_SUCH_PROTOCOLO = '2026112112000000000000000000000000';

const isAuthorised = ({ nota }: Answered): boolean => nota?.status === 'autorizada';
const isDone = (resposta: Answered): boolean =>
  (resposta.eventos ?? [resposta.evento]).every((one: Answered) => one.acao_sugerida === 'cancelado_ok');

/** A document as programs of the national API send it. */
const embrulhar = (name: string, xml: string): unknown => ({ [name]: gzipSync(xml).toString('base64') });

const NACIONAL_ID = 'DPS355030821122233300018100003000000000000001';
const chaveNacional = (done: Done): Readonly<Record<string, string>> => ({
  chave_acesso: answerOf(done, 'nacionalEmitirNota/nota').chaveAcesso,
});
const pedidoNacional = (done: Done): unknown => {
  const { chave_acesso: chave } = chaveNacional(done);
  const campos = '<cMotivo>1</cMotivo><xMotivo>Erro de digitação na emissão</xMotivo>';
  const inf = `<infPedReg Id="PRE${chave}101101"><tpAmb>2</tpAmb><verAplic>exemplo-1.0</verAplic><dhEvento>2026-11-21T11:59:00-03:00</dhEvento><CNPJAutor>11222333000181</CNPJAutor><chNFSe>${chave}</chNFSe><e101101><xDesc>Cancelamento de NFS-e</xDesc>${campos}</e101101></infPedReg>`;
  return embrulhar(
    'pedidoRegistroEventoXmlGZipB64',
    `<pedRegEvento xmlns="http://www.sped.fazenda.gov.br/nfse" versao="1.01">${inf}</pedRegEvento>`,
  );
};

/** The contract of the national API, from the issue to a cancelled note. */
const NACIONAIS: readonly Passo[] = [
  {
    id: 'nacionalEmitirNota',
    nome: 'nota',
    titulo: 'Uma DPS com dhEmi, em gzip e Base64',
    status: 201,
    cabecalhos: JSON_TYPE,
    corpo: embrulhar(
      'dpsXmlGZipB64',
      exampleXml({ '@Id': NACIONAL_ID, serie: '3', nDPS: '1', dhEmi: '2026-11-21T11:59:00-03:00' }),
    ),
  },
  { id: 'nacionalConsultarNota', nome: 'nota', titulo: 'A nota', status: 200, parametros: chaveNacional },
  { id: 'nacionalConsultarDps', nome: 'dps', titulo: 'A chave', status: 200, parametros: () => ({ id: NACIONAL_ID }) },
  { id: 'nacionalExisteDps', nome: 'ha', titulo: 'Há nota', status: 200, parametros: () => ({ id: NACIONAL_ID }) },
  {
    id: 'nacionalRegistrarEvento',
    nome: 'cancelamento',
    titulo: 'Um cancelamento',
    status: 201,
    cabecalhos: JSON_TYPE,
    parametros: chaveNacional,
    corpo: pedidoNacional,
  },
  { id: 'nacionalListarEventos', nome: 'todos', titulo: 'Todos', status: 200, parametros: chaveNacional },
  {
    id: 'nacionalListarEventosDoTipo',
    nome: 'cancelamentos',
    titulo: 'Os cancelamentos',
    status: 200,
    parametros: (done) => ({ ...chaveNacional(done), tipo_evento: '101101' }),
  },
  {
    id: 'nacionalConsultarEvento',
    nome: 'cancelamento',
    titulo: 'O cancelamento',
    status: 200,
    parametros: (done) => ({ ...chaveNacional(done), tipo_evento: '101101', num_seq_evento: '1' }),
  },
];

export const PASSOS: readonly Passo[] = [
  {
    id: 'validarDps',
    nome: 'xml',
    titulo: 'Uma DPS aceita',
    status: 200,
    cabecalhos: XML,
    corpo: exampleXml(TRIED),
  },
  {
    id: 'validarDps',
    nome: 'json',
    titulo: 'O mesmo em JSON',
    status: 200,
    cabecalhos: JSON_TYPE,
    corpo: json(TRIED),
  },
  {
    id: 'validarDps',
    nome: 'todos_os_erros',
    titulo: 'Vários erros de uma vez',
    status: 422,
    cabecalhos: JSON_TYPE,
    corpo: json({ ...TRIED, 'valores/vServPrest/vServ': '0', 'serv/cServ/cTribNac': '999999', cLocEmi: '0000000' }),
  },
  {
    id: 'emitirNota',
    nome: 'xml',
    titulo: 'Uma DPS em XML, numerada pelo serviço',
    status: 201,
    cabecalhos: XML,
    corpo: exampleXml(),
  },
  {
    id: 'emitirNota',
    nome: 'json',
    titulo: 'Uma DPS em JSON, numerada pelo serviço, com chave de repetição',
    status: 201,
    cabecalhos: { ...JSON_TYPE, 'Idempotency-Key': '7f1c3a52-90de-4c1b-8a4e-2f6d0b1c9e55' },
    corpo: json({}),
  },
  {
    id: 'emitirNota',
    nome: 'numerada',
    titulo: 'Uma DPS com série e número',
    status: 201,
    cabecalhos: XML,
    corpo: exampleXml(NUMBERED),
    prepares: true,
  },
  {
    id: 'emitirNota',
    nome: 'repetida',
    titulo: 'A série e o número de uma nota que já existe',
    status: 422,
    cabecalhos: XML,
    corpo: exampleXml(NUMBERED),
  },
  {
    id: 'emitirNota',
    nome: 'campos',
    titulo: 'Campos com valor errado',
    status: 422,
    cabecalhos: JSON_TYPE,
    corpo: json({ serie: '1', nDPS: '3', 'serv/cServ/cNBS': null, 'toma/end/endNac/CEP': '01001-000' }),
  },
  {
    id: 'emitirNota',
    nome: 'tipo_errado',
    titulo: 'O corpo é JSON e foi anunciado como XML',
    status: 400,
    cabecalhos: XML,
    corpo: '{"serie_dps": "1"}',
    tambem: ['validarDps', 'verificarAssinatura'],
  },
  {
    id: 'emitirNota',
    nome: 'sem_assinatura',
    titulo: 'Em produção, um corpo JSON sem assinatura',
    municipio: PRODUCTION_SLUG,
    status: 401,
    cabecalhos: JSON_TYPE,
    corpo: json({ ...NUMBERED, tpAmb: '1' }),
  },
  {
    id: 'validarDps',
    nome: 'sem_assinatura',
    titulo: 'Em produção, um corpo JSON sem assinatura, de quem não está cadastrado: os valores do que ele diz',
    municipio: PRODUCTION_SLUG,
    status: 401,
    cabecalhos: JSON_TYPE,
    corpo: json({ ...TRIED, tpAmb: '1' }),
  },
  {
    id: 'validarDps',
    nome: 'sem_assinatura_estrutura',
    titulo: 'Em produção, sem assinatura e com a estrutura errada: o que não se olhou',
    municipio: PRODUCTION_SLUG,
    status: 401,
    cabecalhos: JSON_TYPE,
    corpo: json({ ...TRIED, tpAmb: '1', 'valores/vServPrest/vServ': null }),
  },
  {
    id: 'verificarAssinatura',
    nome: 'sem_assinatura',
    titulo: 'Uma DPS sem assinatura',
    status: 200,
    cabecalhos: XML,
    corpo: exampleXml(NUMBERED),
  },
  {
    id: 'verificarAssinatura',
    nome: 'xml_malformado',
    titulo: 'O documento não é XML bem-formado',
    status: 422,
    cabecalhos: XML,
    corpo: '<DPS versao="1.01"><infDPS></DPS>',
  },
  {
    id: 'emitirNotaLeiaute100',
    nome: 'encerrado',
    titulo: 'O endereço certo está em detalhes',
    status: 410,
    cabecalhos: XML,
    corpo: exampleXml({ '@versao': '1.00' }),
  },
  {
    id: 'consultarNota',
    nome: 'autorizada',
    titulo: 'Uma nota autorizada',
    status: 200,
    parametros: chaveOf('emitirNota/xml'),
    until: isAuthorised,
  },
  {
    id: 'consultarNota',
    nome: 'nao_encontrada',
    titulo: 'Não há nota com a chave',
    status: 404,
    parametros: () => ({ chave_acesso: NO_SUCH_KEY, tipo_evento: 'cancelamento', num_seq_evento: '1' }),
    tambem: ['listarEventos', 'listarEventosDoTipo', 'consultarEvento', 'baixarDanfse', 'nacionalBaixarDanfse'],
  },
  {
    id: 'consultarNotaPorProtocolo',
    nome: 'autorizada',
    titulo: 'Uma nota autorizada',
    status: 200,
    parametros: protocoloOf('emitirNota/json'),
    until: isAuthorised,
  },
  {
    id: 'consultarNotaPorProtocolo',
    nome: 'nao_encontrada',
    titulo: 'Não há nota com o protocolo',
    status: 404,
    parametros: () => ({ numero_protocolo: NO_SUCH_PROTOCOLO }),
    tambem: ['consultarNotaPorProtocoloV101'],
  },
  {
    id: 'consultarNotaPorProtocoloV101',
    nome: 'autorizada',
    titulo: 'Uma nota autorizada',
    status: 200,
    parametros: protocoloOf('emitirNota/xml'),
  },
  {
    id: 'baixarDanfse',
    nome: 'pdf',
    titulo: 'O PDF',
    status: 200,
    parametros: chaveOf('emitirNota/xml'),
    unseen: true,
  },
  {
    id: 'nacionalBaixarDanfse',
    nome: 'pdf',
    titulo: 'O PDF',
    status: 200,
    parametros: chaveOf('emitirNota/xml'),
    unseen: true,
  },
  {
    id: 'consultarNotaPorDps',
    nome: 'autorizada',
    titulo: 'A nota da DPS',
    status: 200,
    parametros: () => ({ id: DPS_ID }),
    until: isAuthorised,
  },
  {
    id: 'consultarNotaPorDps',
    nome: 'nao_encontrada',
    titulo: 'Não há nota da DPS',
    status: 404,
    parametros: () => ({ id: DPS_ID.replace(/1$/, '9') }),
  },
  {
    id: 'consultarNotaPorDps',
    nome: 'sem_certificado',
    titulo: 'Em produção, sem certificado na conexão',
    municipio: PRODUCTION_SLUG,
    status: 401,
    parametros: () => ({ id: DPS_ID }),
  },
  { id: 'existeNotaDaDps', nome: 'ha', titulo: 'Há nota', status: 200, parametros: () => ({ id: DPS_ID }) },
  {
    id: 'registrarEvento',
    nome: 'cancelamento',
    titulo: 'O prestador cancela a nota',
    status: 201,
    cabecalhos: JSON_TYPE,
    parametros: chaveOf('emitirNota/xml'),
    corpo: evento('cancelamento'),
  },
  {
    id: 'registrarEvento',
    nome: 'sem_motivo',
    titulo: 'Falta um campo que o tipo exige',
    status: 400,
    cabecalhos: JSON_TYPE,
    parametros: bothOf('emitirNota/numerada'),
    tambem: ['registrarEventoPorProtocolo'],
    corpo: { tipo_evento: 'cancelamento', codigo_motivo_cancelamento: '1' },
  },
  {
    id: 'registrarEvento',
    nome: 'tipo_desconhecido',
    titulo: 'O tipo não existe',
    status: 422,
    cabecalhos: JSON_TYPE,
    parametros: bothOf('emitirNota/json'),
    tambem: ['registrarEventoPorProtocolo'],
    corpo: { tipo_evento: 'cancelar' },
  },
  {
    id: 'registrarEvento',
    nome: 'nao_encontrada',
    titulo: 'Não há nota com a chave',
    status: 404,
    cabecalhos: JSON_TYPE,
    parametros: () => ({ chave_acesso: NO_SUCH_KEY }),
    corpo: evento('cancelamento'),
  },
  {
    id: 'registrarEventoPorProtocolo',
    nome: 'nao_encontrada',
    titulo: 'Não há nota com o protocolo',
    status: 404,
    cabecalhos: JSON_TYPE,
    parametros: () => ({ numero_protocolo: NO_SUCH_PROTOCOLO }),
    corpo: evento('cancelamento'),
  },
  {
    id: 'registrarEvento',
    nome: 'sem_assinatura',
    titulo: 'Em produção, sem assinatura',
    municipio: PRODUCTION_SLUG,
    status: 401,
    cabecalhos: JSON_TYPE,
    parametros: () => ({ chave_acesso: NO_SUCH_KEY, numero_protocolo: NO_SUCH_PROTOCOLO }),
    tambem: ['registrarEventoPorProtocolo'],
    corpo: evento('cancelamento'),
  },
  {
    id: 'registrarEventoPorProtocolo',
    nome: 'confirmacao',
    titulo: 'O tomador confirma a nota',
    status: 201,
    cabecalhos: JSON_TYPE,
    parametros: protocoloOf('emitirNota/json'),
    corpo: evento('confirmacao_tomador'),
  },
  {
    id: 'registrarEventoPorProtocolo',
    nome: 'rejeicao',
    titulo: 'O prestador rejeita a nota',
    status: 201,
    cabecalhos: JSON_TYPE,
    parametros: protocoloOf('emitirNota/json'),
    corpo: evento('rejeicao_prestador'),
  },
  {
    id: 'listarEventos',
    nome: 'processado',
    titulo: 'Um cancelamento processado',
    status: 200,
    parametros: chaveOf('emitirNota/xml'),
    until: isDone,
  },
  {
    id: 'listarEventosDoTipo',
    nome: 'confirmacao',
    titulo: 'Uma confirmação',
    status: 200,
    parametros: (done) => ({ ...chaveOf('emitirNota/json')(done), tipo_evento: 'confirmacao_tomador' }),
    until: isDone,
  },
  {
    id: 'listarEventosDoTipo',
    nome: 'tipo_desconhecido',
    titulo: 'O tipo não existe',
    status: 404,
    parametros: (done) => ({ ...chaveOf('emitirNota/json')(done), tipo_evento: 'cancelar' }),
  },
  {
    id: 'consultarEvento',
    nome: 'cancelamento',
    titulo: 'O primeiro cancelamento da nota',
    status: 200,
    parametros: (done) => ({ ...chaveOf('emitirNota/xml')(done), tipo_evento: 'cancelamento', num_seq_evento: '1' }),
    until: isDone,
  },
  {
    id: 'consultarEvento',
    nome: 'nao_ha',
    titulo: 'A nota não tem o evento',
    status: 404,
    parametros: (done) => ({ ...chaveOf('emitirNota/xml')(done), tipo_evento: 'cancelamento', num_seq_evento: '9' }),
  },
  {
    id: 'consultarSituacaoDoPrestador',
    nome: 'pode_emitir',
    titulo: 'Um prestador que pode emitir',
    status: 200,
    parametros: () => ({ documento: '11222333000181' }),
    consulta: { data: '2026-11-21' },
  },
  {
    id: 'consultarSituacaoDoPrestador',
    nome: 'documento',
    titulo: 'Os dígitos verificadores não conferem',
    status: 422,
    parametros: () => ({ documento: '11222333000182' }),
  },
  {
    id: 'consultarSituacaoDoPrestador',
    nome: 'sem_certificado',
    titulo: 'Em produção, sem certificado na conexão',
    municipio: PRODUCTION_SLUG,
    status: 401,
    parametros: () => ({ documento: '11222333000181' }),
  },
  { id: 'catalogo_codigos_tributacao_municipal', nome: 'sem_lista', titulo: 'A integração', status: 200 },
  {
    id: 'catalogo_codigos_tributacao_nacional',
    nome: 'por_palavra',
    titulo: 'Os serviços de desenvolvimento de programas',
    status: 200,
    consulta: { codigo: '010101' },
  },
  { id: 'catalogo_nbs', nome: 'por_codigo', titulo: 'Um código', status: 200, consulta: { codigo: '115021000' } },
  {
    id: 'catalogo_municipios',
    nome: 'por_nome',
    titulo: 'Por uma palavra do nome, sem acento',
    status: 200,
    consulta: { nome: 'sao paulo', per_page: '5' },
  },
  {
    id: 'catalogo_municipios',
    nome: 'pagina',
    titulo: 'Mais itens do que uma página pode ter',
    status: 400,
    consulta: { per_page: '500' },
    tambem: CATALOGOS.map(({ nome }) => `catalogo_${nome}`).filter((id) => id !== 'catalogo_municipios'),
  },
  { id: 'catalogo_paises', nome: 'por_codigo', titulo: 'Um país', status: 200, consulta: { codigo: 'PT' } },
  { id: 'catalogo_moedas', nome: 'por_sigla', titulo: 'Uma moeda', status: 200, consulta: { sigla: 'USD' } },
  {
    id: 'catalogo_motivos_evento',
    nome: 'cancelamento',
    titulo: 'Um tipo',
    status: 200,
    consulta: { tipo_evento: 'cancelamento' },
  },
  {
    id: 'catalogo_motivos_evento',
    nome: 'tipo_desconhecido',
    titulo: 'O tipo não existe',
    status: 404,
    consulta: { tipo_evento: 'cancelar' },
  },
  {
    id: 'catalogo_motivos_evento',
    nome: 'parametro',
    titulo: 'Um parâmetro que o catálogo não tem',
    status: 400,
    consulta: { tipo: 'cancelamento' },
  },
  ...DA_PARTE,
  ...NACIONAIS,
  {
    id: 'emitirNota',
    nome: 'demorada',
    titulo: 'O ADN demora',
    status: 201,
    cabecalhos: { ...XML, 'X-NFSe-Simular': 'adn:atraso=1h' },
    corpo: exampleXml(),
    prepares: true,
  },
  {
    id: 'baixarDanfse',
    nome: 'nao_autorizada',
    titulo: 'A nota ainda não foi autorizada',
    status: 422,
    parametros: chaveOf('emitirNota/demorada'),
    tambem: ['nacionalBaixarDanfse'],
  },
];

/** The result of a step: the example, and the raw answer. */
export type Made = { readonly exemplo: Exemplo; readonly response: Head; readonly text: string };

/** A service with the same answers each time, at the address of the examples. */
export async function exampleService(): Promise<TestService> {
  // No receiver exists at the addresses of the examples.
  const service = await startTestService({ postAviso: takesAll });
  // The digits are the same in every run: each is one step of a generator.
  let state = 20_261_121;
  const digit = (): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 16) % 10;
  };
  const world = { ...service.world, randomDigits: (count: number) => Array.from({ length: count }, digit).join('') };
  await service.store.municipios.create(
    { tenant: PRODUCTION_SLUG, ambiente: 'producao', codigoIbge: '3550308' },
    service.clock.now,
  );
  return { ...service, world, address: await exampleDoor(world) };
}

/** The address of a server that answers as if at the address of the examples. */
export async function exampleDoor(world: World): Promise<string> {
  const door = await createRestDoor(world, {
    host: '127.0.0.1',
    port: 0,
    baseUrl: EXAMPLE_SITE,
    trustProxy: false,
    accessLog: false,
  });
  onEnd(() => door.close());
  return door.address;
}

/** Runs steps in order, and returns all exchanges as they were. */
export async function runPassos(
  address: string,
  passos: readonly Passo[],
): Promise<readonly (Made & { readonly passo: Passo })[]> {
  const done = new Map<string, Exemplo>();
  const made: (Made & { readonly passo: Passo })[] = [];
  for (const passo of passos) {
    const one = await make(address, passo, done);
    done.set(`${passo.id}/${passo.nome}`, one.exemplo);
    made.push({ ...one, passo });
  }
  return made;
}

/** The exchanges that are written down. */
export async function makeExemplos(address: string): Promise<readonly Made[]> {
  const all = await runPassos(address, PASSOS);
  return all.flatMap(({ passo, exemplo, response, text }) =>
    passo.prepares ? [] : [{ exemplo: withoutChance(exemplo), response, text }],
  );
}

/** The request id that replaces that of each run. */
const REQUEST_ID = '0d8f6e0a-5a0b-4a57-9d4a-2f7a1c6c5b11';

/** Replaces random values, and those that depend on the worker's timing, by a fixed text of the same form. */
function withoutChance(exemplo: Exemplo): Exemplo {
  const text = JSON.stringify(exemplo)
    .replace(/nfse_[\w-]{43}/g, `nfse_${'tK3'.repeat(14)}x`)
    .replace(/whsec_[\w+/=]{44}/g, `whsec_${'sE7'.repeat(14)}8=`)
    .replace(/(tok|wh|exp)_[\w-]{12}/g, '$1_Xy7aQ2bLm0Zt')
    .replace(/ensaio_[\w-]{32}/g, `ensaio_${'kY5'.repeat(10)}q8`)
    .replace(/ensaio-[a-z0-9]{6}/g, 'ensaio-k7m2qd')
    .replace(/"m\d+-\d+"/g, '"m12-3"');
  const written = JSON.parse(text) as Exemplo;
  const { requisicoes, requisicao } = (written.resposta ?? {}) as Answered;
  for (const one of requisicoes ?? (requisicao === undefined ? [] : [requisicao])) {
    Object.assign(one, { id: REQUEST_ID, em: '2026-11-21T12:00:00-03:00', ms: 4 });
  }
  if (requisicao === undefined) return written;
  return { ...written, pedido: { ...written.pedido, parametros: { id_requisicao: REQUEST_ID } } };
}

async function make(address: string, passo: Passo, done: Done): Promise<Made> {
  const { id, nome, titulo, status, consulta } = passo;
  const { municipio: named = SANDBOX_SLUG } = passo;
  const municipio = typeof named === 'function' ? named(done) : named;
  const cabecalhos = typeof passo.cabecalhos === 'function' ? passo.cabecalhos(done) : passo.cabecalhos;
  const corpo: unknown = typeof passo.corpo === 'function' ? passo.corpo(done) : passo.corpo;
  const parametros = passo.parametros?.(done);
  const pedido = {
    municipio,
    ...(parametros && { parametros }),
    ...(consulta && { consulta }),
    ...(cabecalhos && { cabecalhos }),
    ...(corpo === undefined ? {} : { corpo }),
  };
  let last = '';
  const look = async (): Promise<Made | undefined> => {
    const { response, text } = await send(address, id, pedido);
    last = text.slice(0, 500);
    const isJson = response.headers.get('content-type')?.startsWith('application/json') && text !== '';
    const resposta = isJson ? JSON.parse(text) : undefined;
    assert.equal(response.status, status, `${id}/${nome}: ${text.slice(0, 1_000)}`);
    if (passo.until !== undefined && !passo.until(resposta)) return undefined;
    const seen = passo.unseen || resposta === undefined ? {} : { resposta };
    const shared = passo.tambem === undefined ? {} : { tambem: passo.tambem };
    return { exemplo: { id, nome, titulo, pedido, status, ...seen, ...shared }, response, text };
  };
  return until(look, `${id}/${nome} as it is waited for`).catch((error: Error) => {
    throw new Error(`${error.message} ${last}`);
  });
}

/** The method of an operation, and the path and query of a request to it. */
export function locate(
  id: string,
  { municipio, parametros = {}, consulta }: Pick<Exemplo['pedido'], 'municipio' | 'parametros' | 'consulta'>,
): { readonly method: string; readonly path: string } {
  const route = ROUTES.find((one) => one.id === id);
  assert.ok(route !== undefined, `there is no operation ${id}`);
  const path = route.path.replace(/:(\w+)/g, (_, name) => encodeURIComponent(parametros[name] ?? ''));
  const query = consulta === undefined ? '' : `?${new URLSearchParams(consulta)}`;
  return { method: route.method, path: `/${municipio}${path}${query}` };
}

/** Sends a request as an example has it. */
export async function send(
  address: string,
  id: string,
  { municipio, parametros = {}, consulta, cabecalhos, corpo }: Exemplo['pedido'],
): Promise<Pick<Made, 'response' | 'text'>> {
  const { method, path } = locate(id, { municipio, parametros, ...(consulta && { consulta }) });
  const { text, ...response } = await ask(`${address}${path}`, {
    method,
    headers: cabecalhos ?? {},
    ...(corpo === undefined ? {} : { body: typeof corpo === 'string' ? corpo : JSON.stringify(corpo) }),
  });
  return { response, text };
}
