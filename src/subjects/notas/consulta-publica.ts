/**
 * A note for its taker: whole for the holder of the key. Number, provider and value tell its validity alone (D-829).
 */

import type { NotaRow } from '../../base/book/nota-columns.ts';
import { municipalMoment, tellMoment } from '../../base/world/gather-facts.ts';
import type { World } from '../../base/world/world.ts';
import { nameMunicipio, servicoOf } from '../../fiscal/catalogs/catalogs.ts';
import { bareDocumento, chavePrefixOf, showDocumento, whyNoChave, whyNoDocumento } from '../../fiscal/chave.ts';
import { formatDecimal, parseDecimal } from '../../fiscal/decimal.ts';
import { groupDecimal } from '../../fiscal/group-digits.ts';
import { brazilianDate, brazilianMoment } from '../../fiscal/moment.ts';
import type { NotaEstado } from '../../fiscal/nota.ts';
import { tipoNamed } from '../eventos/queries.ts';
import { consultaPublica } from './danfse.ts';
import { type CausaDaEspera, explainEspera, type Municipio, motivoSemIssqn } from './queries.ts';

export type NotaPublica = {
  /** Undefined: it was found by its number, and the page leads no further. */
  readonly chave: string | undefined;
  /** Name of the municipality that issued it. */
  readonly municipio: string;
  /** `bom`: the note is valid. */
  readonly tom: 'bom' | 'aviso' | 'erro';
  /** The present state, in a word and in a sentence. */
  readonly situacao: string;
  readonly diz: string;
  /** Key of the note that replaced it. */
  readonly substituidaPor: string | undefined;
  readonly fatos: readonly (readonly [nome: string, valor: string])[];
  readonly temDanfse: boolean;
  /** The taker may confirm or reject it: it is authorised. */
  readonly admiteManifestacao: boolean;
  /** Moment of the consult in the municipality, in words. */
  readonly consultadaEm: string;
  /** Address of the national consult; undefined: the national environment does not have the note. */
  readonly nacional: string | undefined;
};

const SUBSTITUICAO = tipoNamed('cancelamento_por_substituicao')!.codigo;

type Dito = Pick<NotaPublica, 'tom' | 'situacao' | 'diz'>;

const ESTADOS: Readonly<Record<NotaEstado, Dito>> = {
  emitida: {
    tom: 'aviso',
    situacao: 'Em processamento',
    diz: 'Foi emitida, e o ambiente nacional ainda não a autorizou. Veja de novo mais tarde.',
  },
  transmitida: {
    tom: 'aviso',
    situacao: 'Em processamento',
    diz: 'Foi enviada ao ambiente nacional, que ainda não a autorizou. Veja de novo mais tarde.',
  },
  retida: {
    tom: 'aviso',
    situacao: 'Em processamento',
    diz: 'Espera por uma alíquota que ainda não foi publicada. Veja de novo mais tarde.',
  },
  autorizada: { tom: 'bom', situacao: 'Válida', diz: 'Está autorizada.' },
  cancelada: { tom: 'erro', situacao: 'Cancelada', diz: 'Foi cancelada, e não tem mais efeito.' },
  recusada: { tom: 'erro', situacao: 'Sem efeito', diz: 'Não foi autorizada, e nunca teve efeito.' },
};

type Consulta = Pick<World, 'store' | 'now'>;

/** Undefined: there is no such note here; the reason is not told. */
export async function findNotaPublica(
  world: Consulta,
  municipio: Municipio,
  chave: string,
): Promise<NotaPublica | undefined> {
  if (whyNoChave(chave) !== undefined) return undefined;
  const row = await world.store.notas.findByChave(municipio.tenant, chave);
  return row && showNota(world, municipio, row);
}

/** The fields of the form for a note without its key, as they were typed. */
export type NumeroPedido = Readonly<Record<'numero' | 'documento' | 'valor', string>>;

/** Why a field is no number, document or value, as a sentence; the database is not asked. */
export function whyNoNumero({ numero, documento, valor }: NumeroPedido): string | undefined {
  if (!/^\d{1,13}$/.test(numero.trim())) return 'O número da nota são de 1 a 13 dígitos, como está impresso nela.';
  const wrong = whyNoDocumento(documento);
  if (wrong !== undefined) return `O documento do prestador ${wrong}.`;
  return readValor(valor) === undefined ? 'O valor do serviço se escreve como 1.234,56.' : undefined;
}

/** A value as Brazilians write it, or with a point before the cents. */
function readValor(text: string): string | undefined {
  const bare = text.replace(/[R$\s]/g, '');
  const value = parseDecimal(bare.includes(',') ? bare.replaceAll('.', '').replace(',', '.') : bare);
  return value === undefined ? undefined : formatDecimal(value);
}

/** The note of a number, without its key and without anything of its taker: a guess finds a validity, and no more. */
export async function findNotaPeloNumero(
  world: Consulta,
  municipio: Municipio & { readonly codigoIbge: string },
  { numero, documento, valor }: NumeroPedido,
): Promise<NotaPublica | undefined> {
  const { tenant, codigoIbge: cMun } = municipio;
  const prefix = chavePrefixOf({ cMun, ambGer: '1', documento: bareDocumento(documento), nNFSe: numero.trim() });
  const chave = await world.store.notas.findChave(tenant, prefix, readValor(valor)!);
  const found = chave === undefined ? undefined : await findNotaPublica(world, municipio, chave);
  if (found === undefined) return undefined;
  const fatos = found.fatos.filter(([nome]) => DO_NUMERO.includes(nome));
  const closed = { chave: undefined, substituidaPor: undefined, temDanfse: false, nacional: undefined };
  return { ...found, ...closed, fatos };
}

/** Facts of a note that is found by its number, besides the state. */
const DO_NUMERO = ['Número', 'Emitida em', 'Cancelada em', 'Serviço', 'Valor do serviço'];

async function showNota({ store, now }: Consulta, municipio: Municipio, row: NotaRow): Promise<NotaPublica> {
  const { tenant, ambiente, codigoIbge } = municipio;
  const { chave_acesso: chave } = row;
  const events = row.estado === 'cancelada' ? await store.eventos.listOf(tenant, chave, { codigo: SUBSTITUICAO }) : [];
  const replaced = events?.find(({ estado }) => estado === 'processado');
  const substituidaPor = replaced?.campos['chave_acesso_substituta'];
  const causa = await explainEspera({ store }, municipio, row);
  const said: Dito =
    replaced === undefined
      ? withCausa(ESTADOS[row.estado], causa)
      : { tom: 'erro', situacao: 'Substituída', diz: 'Outra nota tomou o lugar desta.' };
  const isAuthorised = row.estado === 'autorizada' || row.estado === 'cancelada';
  return {
    chave,
    municipio: nameMunicipio(codigoIbge) ?? tenant,
    ...said,
    substituidaPor,
    fatos: factsOf(row, isAuthorised),
    temDanfse: isAuthorised,
    admiteManifestacao: row.estado === 'autorizada',
    consultadaEm: brazilianMoment(municipalMoment(codigoIbge, now())),
    nacional: isAuthorised && ambiente === 'producao' ? consultaPublica(chave) : undefined,
  };
}

function withCausa(dito: Dito, causa: CausaDaEspera | undefined): Dito {
  return causa === undefined ? dito : { ...dito, diz: `${dito.diz} ${causa.geral}` };
}

function factsOf(row: NotaRow, isAuthorised: boolean): NotaPublica['fatos'] {
  const party = (documento: string | null, nome: string | null): string =>
    [nome, documento && showDocumento(documento)].filter(Boolean).join(', ') || 'não informado';
  const amount = (value: string | null): string | undefined =>
    value === null ? undefined : `R$ ${groupDecimal(value)}`;
  const facts: [string, string | undefined][] = [
    ['Número', isAuthorised ? row.numero_dps : undefined],
    ['Emitida em', tellMoment(row.chave_acesso, row.data_emissao)],
    ['Cancelada em', row.data_cancelamento === null ? undefined : tellMoment(row.chave_acesso, row.data_cancelamento)],
    ['Competência', brazilianDate(row.data_competencia)],
    ['Prestador', party(row.prestador_cpf_cnpj, row.prestador_razao_social)],
    ['Tomador', party(row.tomador_cpf_cnpj, row.tomador_razao_social)],
    ['Serviço', row.servico === null ? undefined : describeServico(row.servico)],
    ['Valor do serviço', amount(row.valor_servico)],
    ['Base de cálculo do ISSQN', amount(row.valor_base_calculo)],
    ['Alíquota do ISSQN', row.aliquota_issqn === null ? undefined : `${groupDecimal(row.aliquota_issqn)} %`],
    ['ISSQN', motivoSemIssqn(row) ?? amount(row.valor_issqn)],
  ];
  return facts.flatMap(([nome, valor]): [string, string][] => (valor === undefined ? [] : [[nome, valor]]));
}

function describeServico(codigo: string): string {
  const dotted = codigo.replace(/^(\d\d)(\d\d)(\d\d)$/, '$1.$2.$3');
  const found = servicoOf(codigo);
  return found === undefined ? dotted : `${dotted}, ${found.descricao}`;
}
