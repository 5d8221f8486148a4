/**
 * Makes the export files of the parties, one part at a time. Each part is committed with the cursor of the next one: a dying process loses
 * one part at most (D-596). The job also closes finished files, and deletes expired ones.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Municipio } from '../../base/book/municipios.ts';
import { LEASE_MS } from '../../base/delivery/backoff.ts';
import { type Delivered, NOTHING, type Taking } from '../../base/delivery/deliver.ts';
import type { Kind } from '../../base/delivery/lanes.ts';
import { writeTable } from '../../base/world/escrever-tabela.ts';
import { municipalMoment } from '../../base/world/gather-facts.ts';
import type { World } from '../../base/world/world.ts';
import { makeZipPiece } from '../../documents/zip-pieces.ts';
import { brazilianMoment, DAY_MS } from '../../fiscal/moment.ts';
import { danfseOfNota } from '../notas/danfse.ts';
import { notaByChave } from '../notas/queries.ts';
import type { ExportacaoRow, FormatoExportacao, Parte } from './exportacoes.rows.ts';
import { EXPORTACAO_DIAS, EXPORTACAO_NOTAS_MAX } from './exportacoes.ts';
import { COLUNAS_DA_LISTA, listNotasOf, type NotaListada, type PaginaDaParte, toLinhaDaLista } from './notas.ts';

/** The time for a part stays far below the lease. */
const NOTAS_POR_PARTE = { xml: 500, pdf: 100, csv: 2_000 } as const satisfies Record<FormatoExportacao, number>;
/** Limit of one file in the database. */
const BYTES_MAX = 2 * 1024 ** 3;
/** A file is given up after this many failed attempts at one part. */
const TENTATIVAS_MAX = 5;
/** Longest pause between two parts. */
const REST_MAX_MS = 2_000;
/** Notes without a file that are listed one by one. */
const FORA_MAX = 10_000;

const MORE: Delivered = { delivered: 1, isFull: true, pauseMs: 0 };

/** Makes one part of one file of a tenant, or deletes an expired file. */
export async function makeExportacoes(
  world: World,
  municipio: Municipio,
  { token = randomUUID() }: Taking,
): Promise<Delivered> {
  const { store, now } = world;
  const { tenant } = municipio;
  const at = now();
  const row = await store.exportacoes.take(tenant, { now: at, until: at + LEASE_MS, token });
  if (row === undefined) return NOTHING;
  if (row.estado !== 'em_andamento' || +row.expira_em <= at) {
    await store.exportacoes.discard(tenant, row, token, now());
    return MORE;
  }
  const began = performance.now();
  const problem = whyNoMore(row);
  const parte = problem ?? (await makePart(world, municipio, row));
  if (typeof parte === 'string') {
    world.log.warn({ tenant, exportacao: row.id }, 'uma exportação de notas não será feita');
    await store.exportacoes.fail(tenant, row.id, token, parte, now());
    return MORE;
  }
  const prontaAte = parte.seguinte === undefined ? now() + EXPORTACAO_DIAS * DAY_MS : undefined;
  await store.exportacoes.addPart(tenant, row, token, parte, { now: now(), prontaAte });
  // Half of the time is left to issuing: a PDF takes milliseconds of the thread that answers requests.
  await sleep(Math.min(performance.now() - began, REST_MAX_MS));
  return MORE;
}

/** The reason, for the owner, why a file cannot be finished. */
function whyNoMore({ tentativas, notas, bytes }: ExportacaoRow): string | undefined {
  if (notas >= EXPORTACAO_NOTAS_MAX || bytes >= BYTES_MAX) {
    return `São notas demais para um arquivo: até ${EXPORTACAO_NOTAS_MAX} notas e 2 GiB. Peça períodos menores, com de e ate.`;
  }
  if (tentativas <= TENTATIVAS_MAX) return undefined;
  return 'O arquivo não pôde ser feito, e quem opera o serviço foi avisado. Peça-o de novo mais tarde.';
}

/** The last part holds no notes: it holds the summary of the file. */
const END = 'fim';

async function makePart(world: World, municipio: Municipio, row: ExportacaoRow): Promise<Parte | string> {
  const { documento, formato, pedida, cursor } = row;
  if (cursor === END) return makeLeiaMe(world, municipio, row);
  const asked = { cursor: cursor ?? undefined, max: NOTAS_POR_PARTE[formato], isCounted: false };
  const page = await listNotasOf(world, municipio, documento, pedida, asked);
  if ('faults' in page) return page.faults[0].mensagem;
  return formato === 'csv' ? makeTable(page, row) : makeEntries(world, municipio, page, row);
}

async function makeTable({ notas, cursor }: PaginaDaParte, { partes }: ExportacaoRow): Promise<Parte> {
  const lines: string[] = [];
  for await (const line of writeTable('text/csv', COLUNAS_DA_LISTA, notas.map(toLinhaDaLista))) lines.push(line);
  // Only the first part has the head of the table.
  const conteudo = Buffer.from(lines.slice(partes === 0 ? 0 : 1).join(''));
  const none = { diretorio: Buffer.alloc(0), entradas: 0, fora: [] };
  return { ...none, conteudo, notas: notas.length, seguinte: cursor ?? undefined };
}

async function makeEntries(
  world: World,
  municipio: Municipio,
  { notas, cursor }: PaginaDaParte,
  { formato, bytes }: ExportacaoRow,
): Promise<Parte> {
  const entries: { readonly nome: string; readonly conteudo: Buffer }[] = [];
  const fora: string[] = [];
  for (const nota of notas) {
    const conteudo = await (formato === 'pdf' ? pdfOf : xmlOf)(world, municipio, nota.chave_acesso);
    if (conteudo === undefined) fora.push(describeFora(nota));
    else entries.push({ nome: `${nota.chave_acesso}.${formato}`, conteudo });
  }
  const piece = makeZipPiece(entries, bytes, municipalMoment(municipio.codigoIbge, world.now()));
  return { ...piece, fora, notas: notas.length, seguinte: cursor ?? END };
}

/** Undefined: the note was never authorised. A later cancellation does not matter. */
async function xmlOf(world: World, municipio: Municipio, chave: string): Promise<Buffer | undefined> {
  const reading = await notaByChave(world, municipio, chave);
  if (reading === undefined || reading.chave_acesso_provisoria) return undefined;
  return Buffer.from(reading.nota.xml_nota);
}

async function pdfOf(world: World, municipio: Municipio, chave: string): Promise<Buffer | undefined> {
  const danfse = await danfseOfNota(world, municipio, chave);
  return danfse !== undefined && 'pdf' in danfse ? danfse.pdf : undefined;
}

function describeFora({ chave_acesso, serie_dps, numero_dps, status, mensagem_retorno }: NotaListada): string {
  const told = mensagem_retorno === null ? '' : ` ${mensagem_retorno.replaceAll(/\s+/g, ' ')}`;
  return `${chave_acesso}, série ${serie_dps}, número ${numero_dps}: ${status}.${told}`;
}

async function makeLeiaMe(world: World, municipio: Municipio, row: ExportacaoRow): Promise<Parte> {
  const { id, documento, formato, pedida, criada_em, notas, entradas, bytes } = row;
  const { tenant, codigoIbge } = municipio;
  const fora = (await world.store.exportacoes.listFora(tenant, id)).slice(0, FORA_MAX);
  const filtros = Object.entries(pedida).map(([campo, value]) => `${campo}=${value}`);
  const lines = [
    `Notas de ${documento} em ${tenant}, pedidas em ${brazilianMoment(municipalMoment(codigoIbge, +criada_em))}.`,
    `Filtros: ${filtros.join(' ') || 'nenhum'}.`,
    `Notas achadas: ${notas}. Arquivos ${formato.toUpperCase()}: ${entradas}, um para cada nota autorizada, também a que foi cancelada depois.`,
    ...(fora.length === 0 ? [] : ['', 'Sem arquivo, porque não foram autorizadas, ou ainda não:', ...fora]),
    ...(notas - entradas > fora.length ? [`e mais ${notas - entradas - fora.length}.`] : []),
  ];
  const entry = { nome: 'leia-me.txt', conteudo: Buffer.from(`${lines.join('\r\n')}\r\n`) };
  const piece = makeZipPiece([entry], bytes, municipalMoment(codigoIbge, world.now()));
  return { ...piece, notas: 0, fora: [], seguinte: undefined };
}

export const JOBS: readonly Kind[] = [{ kind: 'exportacoes', lanes: 1, deliver: makeExportacoes }];
