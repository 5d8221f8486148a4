/** The addresses of exports: a party requests its notes as one file, reads the progress, and downloads the file. */

import { findStrangeParams, refuseParams } from '../../base/http/params.ts';
import { OF_FILES } from '../../base/http/ranges.ts';
import { refuseMissingExportacao, refuseWithoutArquivo } from '../../base/http/refusals.ts';
import { refuseAsFlow } from '../../base/http/repetition.ts';
import { type Call, defineRoute, type Refused, type Route } from '../../base/http/route.ts';
import { PELO_DONO } from '../../published/acesso.ts';
import { type Field, type FieldsOf, field, orAbsent, orNull, STATUS } from '../../published/openapi/field.ts';
import {
  createExportacao,
  ESTADOS_EXPORTACAO,
  EXPORTACAO_DIAS,
  EXPORTACAO_NOTAS_MAX,
  EXPORTACOES_MAX,
  type ExportacaoPublica,
  FORMATOS_EXPORTACAO,
  findExportacao,
  listExportacoes,
  openArquivo,
} from './exportacoes.ts';
import { DOCUMENTO_PARAM, LISTA_PARAMS } from './listas.rest.ts';
import { CAMPOS_DA_LISTA, type CampoDaLista, documentoOf } from './notas.ts';
import { AS_400, ASK_COST, CAMPOS_CODES, PARTE_CODES } from './rotas.rest.ts';

const FILTROS = Object.fromEntries(
  CAMPOS_DA_LISTA.map((campo) => [campo, orAbsent(field.text(LISTA_PARAMS[campo]))]),
) as Record<CampoDaLista, Field>;

export const EXPORTACAO_SHAPES = {
  Exportacao: {
    id: field.text('Identificador da exportação.'),
    documento: field.text('CNPJ ou CPF de quem são as notas.'),
    formato: field.choice(FORMATOS_EXPORTACAO, 'xml e pdf: um ZIP; csv: uma tabela.'),
    filtros: field.shape('FiltrosDaExportacao', 'Os filtros pedidos.'),
    estado: field.choice(ESTADOS_EXPORTACAO, 'em_andamento, pronta, ou falhou: não há arquivo, e motivo diz por quê.'),
    pronta: field.flag('true quando o arquivo pode ser baixado.'),
    notas: field.integer('Notas no arquivo até agora.'),
    sem_arquivo: field.integer(
      'Notas achadas que não estão nele, por não terem sido autorizadas; o leia-me.txt diz quais.',
    ),
    bytes: orNull(field.integer('Tamanho do arquivo; null enquanto não está pronto.')),
    criada_em: field.moment('Quando foi pedida.'),
    pronta_em: orNull(field.moment('Quando ficou pronta; null enquanto não está.')),
    expira_em: field.moment('Quando o arquivo é apagado.'),
    motivo: orNull(field.text('Por que não há arquivo; null nos outros casos.')),
  } satisfies FieldsOf<ExportacaoPublica>,
  FiltrosDaExportacao: FILTROS,
} as const;

/** The document of the caller, and the export that the path names. */
type Asked = { readonly documento: string; readonly id: string };

async function readAsked({ world, municipio, params, search, shown }: Call): Promise<Asked | Refused> {
  const query = new URLSearchParams(search);
  const faults = findStrangeParams(query, Object.keys(DOCUMENTO_PARAM), 'Este endereço');
  if (faults.length > 0) return refuseParams(faults);
  const documento = await documentoOf(world, municipio, shown(), query.get('documento') ?? undefined);
  return typeof documento === 'object'
    ? { refusal: documento, isMiss: true }
    : { documento, id: params['id_exportacao'] ?? '' };
}

async function create(call: Call) {
  const asked = await readAsked(call);
  if ('refusal' in asked) return asked;
  const exportacao = await createExportacao(call.world, call.municipio, asked.documento, call.body);
  return 'faults' in exportacao ? refuseAsFlow(exportacao) : { body: { status: 'OK', exportacao } };
}

async function list(call: Call) {
  const asked = await readAsked(call);
  if ('refusal' in asked) return asked;
  return { body: { status: 'OK', exportacoes: await listExportacoes(call.world, call.municipio, asked.documento) } };
}

async function show(call: Call) {
  const asked = await readAsked(call);
  if ('refusal' in asked) return asked;
  const exportacao = await findExportacao(call.world, call.municipio, asked);
  return exportacao === undefined ? refuseMissingExportacao() : { body: { status: 'OK', exportacao } };
}

async function download(call: Call) {
  const asked = await readAsked(call);
  if ('refusal' in asked) return asked;
  const arquivo = await openArquivo(call.world, call.municipio, asked);
  if (arquivo === undefined) return refuseMissingExportacao();
  if ('estado' in arquivo) return refuseWithoutArquivo(arquivo.motivo ?? undefined);
  const { nome, tipo, file } = arquivo;
  return { file, type: tipo, headers: { 'Content-Disposition': `attachment; filename="${nome}"` } };
}

const ALL = '/api/v1/exportacoes' as const;
const ONE = `${ALL}/:id_exportacao` as const;

const ROW = { query: DOCUMENTO_PARAM, headers: [], missCost: ASK_COST, asksToken: true } as const;
/** Anyone can get a token in a sandbox, so an export of another party's document also uses storage. */
const QUOTA_COST = 1;
const CODES = ['E003', 'E0003', ...PARTE_CODES] as const;
const EXPORTACAO = field.shape('Exportacao', 'A exportação.');

export const ROTAS_DE_EXPORTACOES: readonly Route[] = [
  defineRoute({
    ...ROW,
    id: 'pedirExportacao',
    method: 'POST',
    path: ALL,
    summary: `Pede as notas de um CNPJ ou CPF num arquivo: o XML ou o DANFSe de cada nota autorizada, num ZIP com um leia-me.txt que diz quais ficaram de fora e por quê, ou a lista toda em CSV. Filtra como GET …/notas. O arquivo se faz em segundo plano, um por documento de cada vez, até ${EXPORTACAO_NOTAS_MAX} notas. Com um token de escopo consultar, ou o certificado.`,
    takes: ['application/json'],
    quotaCost: QUOTA_COST,
    headers: ['RateLimit-Policy', 'RateLimit'],
    sends: { formato: field.choice(FORMATOS_EXPORTACAO, 'O que o arquivo traz de cada nota.'), ...FILTROS },
    status: 201,
    fields: { status: STATUS, exportacao: EXPORTACAO },
    codes: [...CAMPOS_CODES, 'E0003', ...PARTE_CODES, 'E703'],
    statuses: { ...AS_400, E703: [429] },
    acesso: { ...PELO_DONO, parte: 'que o arquivo se faz' },
    handle: create,
  }),
  defineRoute({
    ...ROW,
    id: 'listarExportacoes',
    method: 'GET',
    path: ALL,
    summary: `As exportações de um CNPJ ou CPF: as ${EXPORTACOES_MAX} últimas, por ${EXPORTACAO_DIAS} dias.`,
    status: 200,
    fields: { status: STATUS, exportacoes: field.shape('Exportacao[]', 'Da mais nova à mais antiga.') },
    codes: CODES,
    acesso: { ...PELO_DONO, parte: 'as suas exportações' },
    handle: list,
  }),
  defineRoute({
    ...ROW,
    id: 'consultarExportacao',
    method: 'GET',
    path: ONE,
    summary: 'Uma exportação: em que estado está, quantas notas já tem, e até quando se guarda o arquivo.',
    status: 200,
    fields: { status: STATUS, exportacao: EXPORTACAO },
    codes: [...CODES, 'E601'],
    acesso: { ...PELO_DONO, parte: 'como está a exportação' },
    handle: show,
  }),
  defineRoute({
    ...ROW,
    id: 'baixarExportacao',
    method: 'GET',
    path: `${ONE}/arquivo`,
    summary: 'O arquivo de uma exportação pronta: um ZIP, ou uma tabela em CSV.',
    status: 200,
    gives: 'application/zip',
    givesToo: ['text/csv'],
    fields: {},
    headers: ['Content-Disposition', 'Retry-After', ...OF_FILES],
    codes: [...CODES, 'E601', 'E703'],
    statuses: { E703: [409] },
    acesso: { ...PELO_DONO, parte: 'o arquivo, com as notas de que o documento é parte' },
    handle: download,
  }),
];
