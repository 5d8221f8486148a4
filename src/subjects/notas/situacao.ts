/**
 * Whether a provider could issue now: the registry, the Simples Nacional at a date, and the due date of the IBS and CBS group. The
 * specification does not have this query; nothing is written.
 *
 * Anybody may ask in the sandbox. Production answers only the provider itself, by its certificate, so that nobody can enumerate the
 * registry.
 */

import type { Municipio } from '../../base/book/municipios.ts';
import {
  type Audience,
  type CertificadoApresentado,
  callerOf,
  certificadoApresentado,
  type Presented,
  strangerTo,
} from '../../base/world/caller.ts';
import { municipalMoment } from '../../base/world/gather-facts.ts';
import type { World } from '../../base/world/world.ts';
import { AMBIENTES } from '../../fiscal/ambiente.ts';
import { cnpjIsValid, cpfIsValid } from '../../fiscal/chave.ts';
import { obrigacoes } from '../../fiscal/cronograma.ts';
import { isOptante, type Prestador } from '../../fiscal/facts.ts';
import type { Fault, Refusal } from '../../fiscal/fault.ts';
import { brazilianDate, isDay } from '../../fiscal/moment.ts';

/** The names and the order are those of the public answer. Days are `YYYY-MM-DD`. */
export type Situacao = {
  readonly documento: string;
  /** The day of the answer. */
  readonly data: string;
  readonly pode_emitir: boolean;
  readonly mensagem: string;
  readonly cadastrado: boolean;
  readonly autorizado: boolean;
  readonly inscricoes: readonly Inscricao[];
  readonly simples_nacional: SimplesNacional;
  readonly ibscbs: readonly ObrigacaoIbsCbs[];
  readonly pendencias: readonly Pendencia[];
  readonly certificado: CertificadoApresentado | null;
};

export type Inscricao = { readonly inscricao_municipal: string | null; readonly autorizada: boolean };

/** The period that contains the day; null: there is none, or it has no end. */
export type SimplesNacional = {
  readonly optante: boolean;
  readonly desde: string | null;
  readonly ate: string | null;
};

export type ObrigacaoIbsCbs = {
  readonly segmento: string;
  readonly descricao: string;
  readonly devido_desde: string;
  readonly devido_na_data: boolean;
  readonly mensagem: string;
};

/** `codigo`: the code with which issuing would refuse. */
export type Pendencia = { readonly codigo: string; readonly mensagem: string; readonly como_resolver: string };

export type SituacaoAsked = {
  /** CNPJ or CPF, punctuated or not. */
  readonly documento: string;
  /** `YYYY-MM-DD`; undefined: today, in the municipality. */
  readonly data: string | undefined;
  readonly shown: Presented;
};

/** `campo`: the parameter at fault. */
export type SituacaoRefusal = Refusal & { readonly campo?: 'documento' | 'data' };

/** The situation of a provider, or a refusal. A wrong document is reported before a wrong date. */
export async function situacaoDoPrestador(
  world: World,
  municipio: Municipio,
  asked: SituacaoAsked,
): Promise<Situacao | SituacaoRefusal> {
  const documento = asked.documento.replace(/[.\-/ ]/g, '').toUpperCase();
  const ofDocument = documentFault(documento);
  const ofDate = dateFault(asked.data);
  if (ofDocument !== undefined) {
    return { faults: [ofDocument, ...(ofDate === undefined ? [] : [ofDate])], campo: 'documento' };
  }
  if (ofDate !== undefined) return { faults: [ofDate], campo: 'data' };

  // An ambiente that requires signatures identifies the provider by its certificate here too.
  const isOpen = !AMBIENTES[municipio.ambiente].signatureRefuses;
  const caller = isOpen ? undefined : await callerOf(world, municipio, asked.shown, SELF);
  if (caller !== undefined && 'faults' in caller) return caller;
  const stranger = caller && strangerTo([documento], caller, SELF);
  if (stranger !== undefined) return stranger;
  const data = asked.data ?? municipalMoment(municipio.codigoIbge, world.now()).date;
  const establishments = await world.store.prestadores.listOf(municipio.tenant, documento);
  const pendencias = pendenciasOf(establishments, municipio);
  const isPersonal = documento.length === 11 && caller === undefined;
  return {
    documento,
    data,
    pode_emitir: pendencias.length === 0,
    mensagem: summary(establishments, pendencias, municipio),
    cadastrado: establishments.length > 0,
    autorizado: establishments.some(({ autorizado }) => autorizado),
    inscricoes: establishments.map(({ inscricaoMunicipal, autorizado }) => ({
      inscricao_municipal: inscricaoMunicipal === undefined ? null : maskIm(inscricaoMunicipal, isPersonal),
      autorizada: autorizado,
    })),
    simples_nacional: simplesAt(establishments, data),
    ibscbs: ibscbsAt(establishments, data),
    pendencias,
    certificado:
      caller?.certificate === undefined ? null : certificadoApresentado(world, municipio, caller.certificate),
  };
}

const SELF: Audience = {
  parte: 'prestador consultado',
  recusa: 'Em produção a situação de um prestador só se mostra a ele mesmo.',
};

function documentFault(documento: string): Fault | undefined {
  const isCpf = /^\d{11}$/.test(documento);
  if (!isCpf && !/^[0-9A-Z]{12}\d{2}$/.test(documento)) {
    const mensagem =
      'O documento do prestador, no endereço, não é um CNPJ (14 posições, as duas últimas dígitos) nem um CPF (11 dígitos). Envie-o sem máscara.';
    return { codigo: 'E0003', xpath: '', mensagem, encontrado: documento.slice(0, SHOWN_MAX) };
  }
  if (isCpf ? cpfIsValid(documento) : cnpjIsValid(documento)) return undefined;
  const mensagem = `O ${isCpf ? 'CPF' : 'CNPJ'} do prestador não existe: os dígitos verificadores não conferem.`;
  return { codigo: 'E101', xpath: '', mensagem, detalhes: 'documento_invalido', encontrado: documento };
}

const SHOWN_MAX = 40;

function dateFault(data: string | undefined): Fault | undefined {
  if (data === undefined || isDay(data)) return undefined;
  const mensagem = 'O parâmetro data não é um dia do calendário na forma AAAA-MM-DD, como 2026-10-01.';
  return { codigo: 'E0003', xpath: '', mensagem, encontrado: data.slice(0, SHOWN_MAX), esperado: 'AAAA-MM-DD' };
}

function pendenciasOf(establishments: readonly Prestador[], { ambiente }: Municipio): readonly Pendencia[] {
  const { registersPrestador, checksAuthorization } = AMBIENTES[ambiente];
  if (establishments.length === 0 && !registersPrestador) {
    return [
      {
        codigo: 'E101',
        mensagem: 'O prestador não está cadastrado neste município.',
        como_resolver: 'Peça à prefeitura o cadastro; ela o importa neste serviço, e vale em segundos.',
      },
    ];
  }
  if (!checksAuthorization || establishments.length === 0 || establishments.some(({ autorizado }) => autorizado)) {
    return [];
  }
  return [
    {
      codigo: 'E102',
      mensagem: 'O prestador está cadastrado, mas nenhuma das suas inscrições está autorizada a emitir NFS-e.',
      como_resolver: 'Peça à prefeitura a autorização para emitir.',
    },
  ];
}

function summary(
  establishments: readonly Prestador[],
  pendencias: readonly Pendencia[],
  { ambiente }: Municipio,
): string {
  if (pendencias.length > 0) return 'O prestador ainda não pode emitir: veja pendencias.';
  if (establishments.length === 0) {
    return 'O prestador ainda não está cadastrado no ambiente de integração: será criado pela sua primeira DPS, já autorizado, fora do Simples Nacional e com um endereço genérico.';
  }
  return AMBIENTES[ambiente].checksAuthorization
    ? 'O prestador pode emitir.'
    : 'O prestador pode emitir no ambiente de integração, que não confere a autorização.';
}

/** A masked municipal registration; a person's shows only its last characters, enough to recognise one's own. */
function maskIm(im: string, isPersonal: boolean): string {
  return isPersonal ? im.slice(-IM_SHOWN).padStart(im.length, '*') : im;
}

const IM_SHOWN = 2;

function simplesAt(establishments: readonly Prestador[], data: string): SimplesNacional {
  const [first] = establishments;
  if (first === undefined || !isOptante(first, data)) return { optante: false, desde: null, ate: null };
  const period = first.simples.findLast(({ inicio }) => inicio <= data)!;
  return { optante: true, desde: period.inicio, ate: period.fim ?? null };
}

function ibscbsAt(establishments: readonly Prestador[], data: string): readonly ObrigacaoIbsCbs[] {
  return obrigacoes(establishments[0]?.simples ?? [], data).map(({ segmento, descricao, desde, devidoHoje }) => ({
    segmento,
    descricao,
    devido_desde: desde,
    devido_na_data: devidoHoje,
    mensagem: devidoHoje
      ? `A DPS com competência em ${brazilianDate(data)} precisa trazer o grupo IBSCBS (devido desde ${brazilianDate(desde)}).`
      : `A DPS com competência em ${brazilianDate(data)} pode vir sem o grupo IBSCBS; ele é devido a partir de ${brazilianDate(desde)}.`,
  }));
}
