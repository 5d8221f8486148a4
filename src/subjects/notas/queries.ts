/** Reads notas, and maps each state to its public form. Nothing is written here. */

import type { Municipio } from '../../base/book/municipios.ts';
import type { NotaRow } from '../../base/book/nota-columns.ts';
import { type Audience, callerOf, isDpsQueryOpen, type Presented, strangerTo } from '../../base/world/caller.ts';
import { momentOfNota, tellMoment } from '../../base/world/gather-facts.ts';
import { fullSecond, proximaDaNota } from '../../base/world/proxima-consulta.ts';
import { isJson } from '../../base/world/sent-documents.ts';
import type { World } from '../../base/world/world.ts';
import { decodeXml } from '../../documents/encoding.ts';
import { signatureElement } from '../../documents/signing.ts';
import { readXml } from '../../documents/xml.ts';
import { type TabelaIbsCbs, tabelaEmbarcada } from '../../fiscal/aliquotas-ibs-cbs.ts';
import type { Refusal } from '../../fiscal/fault.ts';
import { DPS_VERSAO } from '../../fiscal/layout/dps.ts';
import { childOf } from '../../fiscal/layout/tree.ts';
import { codigoSituacaoIn, declarationIn, signedPartOf, withSignature } from '../../fiscal/layout/write.ts';
import { brazilianDate, spacedMoment } from '../../fiscal/moment.ts';
import { CODIGOS_SITUACAO, NOTA_ESTADOS } from '../../fiscal/nota.ts';
import { trimStop } from '../../fiscal/words.ts';
import type { NotaAchada } from './buscar.rows.ts';

export type { Municipio } from '../../base/book/municipios.ts';

/** The `nota` object (specification, "Note"), without `data_cancelamento`. */
export type Nota = ReturnType<typeof notaOf>;

export type Protocolo = {
  readonly numero_protocolo: string;
  readonly status: string;
  readonly acao_sugerida: string | null;
  readonly proxima_consulta: string | null;
  readonly mensagem_retorno: string | null;
  readonly data_protocolo: string;
  readonly chave_acesso: string;
};

export type NotaReading = {
  readonly nota: Nota;
  readonly protocolo: Protocolo;
  readonly chave_acesso_provisoria: boolean;
  readonly data_cancelamento: string | null;
  readonly id_dps: string;
  /** When another request may show a change, in milliseconds; undefined: nothing more changes by itself. */
  readonly proxima: number | undefined;
};

/** The IBS and CBS rates in force; the rates shipped with the program when the database does not answer. */
export function tabelaEmVigor({ store }: World): Promise<TabelaIbsCbs> {
  return store.aliquotas.readTabela().catch(tabelaEmbarcada);
}

export async function notaByChave(
  world: Pick<World, 'store' | 'now'>,
  municipio: Municipio,
  chave: string,
): Promise<NotaReading | undefined> {
  return readingOf(world, municipio, await world.store.notas.findByChave(municipio.tenant, chave));
}

/** The NFS-e of a note in every state, with the signature of the municipality from its sending on. */
export type NotaDocumento = Pick<NotaRow, 'chave_acesso' | 'id_dps' | 'estado' | 'mensagem_retorno'> & {
  readonly nfse: string;
  readonly isProvisoria: boolean;
  /** Milliseconds. */
  readonly emissao: number;
};

/** The document of a note by its key; undefined: there is no such note. */
export async function documentoByChave(
  world: Pick<World, 'store' | 'now'>,
  municipio: Municipio,
  chave: string,
): Promise<NotaDocumento | undefined> {
  const row = await world.store.notas.findByChave(municipio.tenant, chave);
  if (row === undefined) return undefined;
  const { chave_acesso, id_dps, estado } = row;
  const isProvisoria = NOTA_ESTADOS[estado].chave_acesso_provisoria;
  const causa = row.mensagem_retorno === null ? await explainEspera(world, municipio, row) : undefined;
  return {
    ...{ chave_acesso, id_dps, estado, isProvisoria },
    mensagem_retorno: row.mensagem_retorno ?? causa?.geral ?? null,
    nfse: authorizedNfse(row),
    emissao: row.data_emissao.getTime(),
  };
}

export async function notaByProtocolo(
  world: World,
  municipio: Municipio,
  protocolo: string,
): Promise<NotaReading | undefined> {
  return readingOf(world, municipio, await world.store.notas.findByProtocolo(municipio.tenant, protocolo));
}

/** A note by the `Id` of its DPS; only for its parties when the query is not open. */
export async function notaByDps(
  world: World,
  municipio: Municipio,
  idDps: string,
  shown: Presented,
): Promise<NotaReading | Refusal | undefined> {
  const find = () => world.store.notas.findByDps(municipio.tenant, idDps);
  if (isDpsQueryOpen(municipio)) return readingOf(world, municipio, await find());
  const caller = await callerOf(world, municipio, shown, PARTIES);
  if ('faults' in caller) return caller;
  const row = await find();
  return (row && strangerTo(partiesOf(row), caller, PARTIES)) ?? readingOf(world, municipio, row);
}

const PARTIES: Audience = {
  parte: 'prestador, do tomador nem do intermediário da nota',
  recusa:
    'Neste município a consulta por DPS só atende ao prestador, ao tomador e ao intermediário da nota, pelo certificado deles; sem ele, use a chave de acesso, ou HEAD neste mesmo endereço para saber se a nota existe.',
};

/** The Brazilian documents of the three parties. These parties may read a note by its DPS. */
function partiesOf({ nfse }: NotaRow): readonly string[] {
  const reading = readXml(Buffer.from(nfse));
  if ('fault' in reading) throw new Error('a note that we wrote does not read');
  const infDps = childOf(childOf(childOf(reading.root, 'infNFSe'), 'DPS'), 'infDPS');
  return ['prest', 'toma', 'interm'].flatMap((name) => {
    const party = childOf(infDps, name);
    const documento = childOf(party, 'CNPJ') ?? childOf(party, 'CPF');
    return documento === undefined ? [] : [documento.text];
  });
}

export async function hasDps(world: World, { tenant }: Municipio, idDps: string): Promise<boolean> {
  return world.store.notas.hasDps(tenant, idDps);
}

/**
 * The reason why a note has a base and no tax: an early version issued it without a rate (D-188). An exemption has a tax of 0.00, and an
 * operation without calculation has no base. Null: the amounts are complete.
 */
export function motivoSemIssqn({
  valor_base_calculo,
  valor_issqn,
}: Pick<NotaAchada, 'valor_base_calculo' | 'valor_issqn'>): string | null {
  return valor_base_calculo !== null && valor_issqn === null ? SEM_ALIQUOTA : null;
}

const SEM_ALIQUOTA =
  'A nota foi emitida sem que se conhecesse a alíquota: o ISSQN, e o que dele se retém, não constam dela. Emitida hoje, a DPS seria recusada (E0619).';

/** Amounts that are absent from the note have this value: the published type is a decimal text. */
const NOT_SHOWN = '0.00';

async function readingOf(
  world: Pick<World, 'store' | 'now'>,
  municipio: Municipio,
  row: NotaRow | undefined,
): Promise<NotaReading | undefined> {
  if (row === undefined) return undefined;
  const causa = row.mensagem_retorno === null ? await explainEspera(world, municipio, row) : undefined;
  const estado = NOTA_ESTADOS[row.estado];
  const tell = (instant: number): string => spacedMoment(momentOfNota(row.chave_acesso, instant));
  const at = (instant: Date): string => tell(instant.getTime());
  const proxima = estado.rests ? undefined : proximaDaNota(row, world.now());
  return {
    nota: notaOf(row, at),
    protocolo: {
      numero_protocolo: row.numero_protocolo,
      status: estado.protocolo,
      acao_sugerida: estado.acao_sugerida,
      proxima_consulta: proxima === undefined ? null : tell(fullSecond(proxima)),
      mensagem_retorno: row.mensagem_retorno ?? causa?.geral ?? null,
      data_protocolo: at(row.data_emissao),
      chave_acesso: row.chave_acesso,
    },
    chave_acesso_provisoria: estado.chave_acesso_provisoria,
    data_cancelamento: row.data_cancelamento && at(row.data_cancelamento),
    id_dps: row.id_dps,
    proxima,
  };
}

function notaOf(row: NotaRow, at: (instant: Date) => string) {
  const authorized = !NOTA_ESTADOS[row.estado].chave_acesso_provisoria;
  return { ...notaSemXml(row, at), xml_nota: authorized ? authorizedNfse(row) : sentDps(row) };
}

/** A note of a list, or with its document. */
type Listed = Omit<NotaAchada, 'mes'> & { readonly nfse?: string };

/** The public fields of a note without its document. */
export function notaSemXml(row: Listed, at: (instant: Date) => string) {
  const estado = NOTA_ESTADOS[row.estado];
  const authorized = !estado.chave_acesso_provisoria;
  const transmitted = row.estado !== 'emitida' && row.estado !== 'retida';
  return {
    id: Number(row.id),
    numero: authorized ? row.numero_dps : null,
    serie_dps: row.serie_dps,
    numero_dps: Number(row.numero_dps),
    serie_dps_nacional: transmitted ? row.serie_dps : null,
    numero_dps_nacional: transmitted ? row.numero_dps_nacional : null,
    chave_acesso: row.chave_acesso,
    identificador: `NFS${row.chave_acesso}`,
    status: estado.status,
    versao: DPS_VERSAO,
    data_emissao: at(row.data_emissao),
    data_competencia: brazilianDate(row.data_competencia),
    codigo_situacao_nfse: authorized ? codigoSituacaoOf(row) : null,
    prestador_cpf_cnpj: row.prestador_cpf_cnpj,
    prestador_razao_social: row.prestador_razao_social,
    prestador_inscricao_municipal: row.prestador_inscricao_municipal,
    tomador_cpf_cnpj: row.tomador_cpf_cnpj,
    tomador_razao_social: row.tomador_razao_social,
    valor_servico: row.valor_servico,
    valor_issqn: row.valor_issqn ?? NOT_SHOWN,
    valor_base_calculo: row.valor_base_calculo ?? NOT_SHOWN,
    aliquota_issqn: row.aliquota_issqn ?? NOT_SHOWN,
  };
}

/** `cStat` of a note. A row from before this column takes it from the document. A row without a base needs no document: it is of a MEI. */
function codigoSituacaoOf({ codigo_situacao_nfse, valor_base_calculo, nfse }: Listed): number | null {
  if (codigo_situacao_nfse !== null) return codigo_situacao_nfse;
  if (nfse !== undefined) return codigoSituacaoIn(nfse);
  return valor_base_calculo === null ? null : CODIGOS_SITUACAO.gerada;
}

/** The sent DPS; a JSON body is shown as the DPS that it became (D-42). */
function sentDps({ recebido, nfse }: NotaRow): string {
  return isJson(recebido!) ? declarationIn(nfse) : decodeXml(recebido!);
}

/** The note as the national environment holds it, with the municipality's signature if there is one. */
function authorizedNfse({ nfse, assinatura, certificado_der }: NotaRow): string {
  if (assinatura === null || certificado_der === null) return nfse;
  const { canonical, id } = signedPartOf(nfse);
  return withSignature(nfse, signatureElement(canonical, id, { value: assinatura, certificate: certificado_der }));
}

// The cause for which a note waits.

/** Sentences. `geral`: names no certificate, address or person. */
export type CausaDaEspera = { readonly diz: string; readonly geral: string };

/** Undefined: the note does not wait, or waits for its turn alone. */
export async function explainEspera(
  { store }: Pick<World, 'store'>,
  { tenant, fechado }: Pick<Municipio, 'tenant' | 'fechado'>,
  { estado, chave_acesso, substitui }: Pick<NotaRow, 'estado' | 'chave_acesso' | 'substitui'>,
): Promise<CausaDaEspera | undefined> {
  // A substitute waits for the event of the note before it.
  if (substitui !== null || (estado !== 'emitida' && estado !== 'transmitida')) return undefined;
  if (fechado === true) {
    return {
      diz: 'O município está fechado a gravações por quem opera o serviço, para mudar de servidor ou depois de uma restauração: ela segue quando ele for reaberto.',
      geral: 'O serviço do município está em manutenção.',
    };
  }
  const [circuito, problem] = await Promise.all([store.circuitos.find(tenant), store.municipios.findProblem(tenant)]);
  const since = (instant: number): string => `desde ${tellMoment(chave_acesso, new Date(instant))}`;
  if (circuito?.abertoEm !== undefined) {
    const geral = `O ambiente nacional não responde ${since(circuito.abertoEm)}.`;
    const why = circuito.motivo === undefined ? '' : ` (${circuito.motivo})`;
    return { diz: `O ADN não responde ${since(circuito.abertoEm)}${why}.`, geral };
  }
  if (problem === undefined) return undefined;
  const problema = trimStop(problem.problema);
  return {
    diz: `As notas do município não seguem ${since(problem.desde)}: ${problema}.`,
    geral: `O município não transmite ao ambiente nacional ${since(problem.desde)}.`,
  };
}
