/**
 * Production and sandbox, two columns of one table (specification, "Sandbox tenant"). Code that behaves differently in the two reads a row
 * here and makes no other distinction.
 */
import type { Decimal } from './decimal.ts';
import { ISS_MAX } from './iss.ts';

export type Ambiente = 'producao' | 'homologacao';

type Settings = {
  /** `tpAmb` written in the normalised DPS and in the note. */
  readonly tpAmb: '1' | '2';
  /** Any sent `tpAmb`, or its absence, is read as the value above. */
  readonly forcesTpAmb: boolean;
  /** Notes and events go to the national environment; otherwise the flow ends with the local authority (D-60). */
  readonly transmits: boolean;
  /** A missing or wrong signature refuses (D-30); in the sandbox it is a remark (D-30). */
  readonly signatureRefuses: boolean;
  /** A provider unknown to the registry is created from its first DPS, authorised, with a generic address. */
  readonly registersPrestador: boolean;
  /** E102 and E103 are applied. */
  readonly checksAuthorization: boolean;
  /** `cLocEmi` must be the tenant's own municipality; otherwise any of the catalogue (D-62). */
  readonly ownMunicipioOnly: boolean;
  /** ISSQN rate if neither the registry nor the DPS has one (D-61): the highest that the law allows. */
  readonly fallbackAliquota: Decimal | undefined;
  /** The effect of national rules that the specification does not name, unless the tenant sets another (D-86). */
  readonly regrasNacionais: 'recusa' | 'avisa';
  /** The query by DPS identifier is open; otherwise it requires the certificate of a party (D-41). */
  readonly dpsQueryIsOpen: boolean;
  readonly watermark: boolean;
  /** How much may be sent, unless the tenant sets another limit (D-263). */
  readonly limites: Limites;
  /**
   * Days after which stored documents are deleted, unless the tenant sets another number. Undefined: never, regardless of the tenant's
   * setting (D-264).
   */
  readonly guardaDias: number | undefined;
};

/** Documents per window of `janelaS` seconds; a sender that was idle for a whole window may send them all at once. */
type Limites = {
  readonly janelaS: number;
  /** Documents of one network address, refused ones included. */
  readonly endereco: number;
  /** Documents of one provider, counted for authenticated senders. */
  readonly prestador: number;
  /**
   * Refusals of one address that are kept for repetition under an idempotency key, in an environment without mandatory signatures;
   * undefined: all.
   */
  readonly recusas: number | undefined;
};

/** The size of one counted document in bytes; a longer one counts as several. */
export const BYTES_POR_DOCUMENTO = 20 * 1024;

/** The environments on screens. */
export const NOMES_DOS_AMBIENTES: Readonly<Record<Ambiente, string>> = {
  producao: 'produção',
  homologacao: 'homologação',
};

export const AMBIENTES: Readonly<Record<Ambiente, Settings>> = {
  producao: {
    tpAmb: '1',
    forcesTpAmb: false,
    transmits: true,
    signatureRefuses: true,
    registersPrestador: false,
    checksAuthorization: true,
    ownMunicipioOnly: true,
    fallbackAliquota: undefined,
    regrasNacionais: 'recusa',
    dpsQueryIsOpen: false,
    watermark: false,
    // Twice the rate that two cores issue: the whole country behind one address would pass.
    limites: { janelaS: 60, endereco: 240_000, prestador: 60_000, recusas: undefined },
    guardaDias: undefined,
  },
  homologacao: {
    tpAmb: '2',
    forcesTpAmb: true,
    transmits: false,
    signatureRefuses: false,
    registersPrestador: true,
    checksAuthorization: false,
    ownMunicipioOnly: false,
    fallbackAliquota: ISS_MAX,
    regrasNacionais: 'avisa',
    dpsQueryIsOpen: true,
    watermark: true,
    limites: { janelaS: 86_400, endereco: 10_000, prestador: 50_000, recusas: 500 },
    guardaDias: 30,
  },
};

/** Slug of the shared sandbox tenant (specification, "What the service does" 7). */
export const SANDBOX_SLUG = 'integracao';
/** Prefix of the slug of a tenant's own sandbox. */
export const ENSAIO_PREFIX = 'ensaio-';

/** The minimum time that an answer stays under its idempotency key (D-19). */
export const ANSWERS_KEPT_MIN_HOURS = 72;
/** The time that the service keeps it: three hours more, for clocks that differ or are set. */
export const ANSWERS_KEPT_HOURS = ANSWERS_KEPT_MIN_HOURS + 3;

/** A change in the registry is seen by every process on the database within this time. */
export const CADASTRO_LIDO_MS = 2_000;

/** A kept answer names its note, so a rehearsal keeps its notes longer than its answers. */
export const GUARDA_MIN_DIAS = Math.ceil(ANSWERS_KEPT_HOURS / 24);
