/**
 * Production and sandbox, two columns of one table (specification, "Sandbox tenant"). Whoever must behave differently
 * in the two reads a row here and asks no other question.
 */
import type { Decimal } from './decimal.ts';
import { ISS_MAX } from './iss.ts';

export type Ambiente = 'producao' | 'homologacao';

type Settings = {
  /** `tpAmb` written in the normalised DPS and in the note. */
  readonly tpAmb: '1' | '2';
  /** Whatever was sent as `tpAmb` is read as the one above, its absence too. */
  readonly forcesTpAmb: boolean;
  /** Notes and events go to the national environment; otherwise the flow ends with the local authority (D-53). */
  readonly transmits: boolean;
  /** A missing or wrong signature refuses (D-30); in the sandbox it is a remark (D-32). */
  readonly signatureRefuses: boolean;
  /** A provider unknown to the registry is created from its first DPS, authorised, with a generic address. */
  readonly registersPrestador: boolean;
  /** E102 and E103 are applied. */
  readonly checksAuthorization: boolean;
  /** `cLocEmi` must be the tenant's own municipality; otherwise any of the catalogue (D-87). */
  readonly ownMunicipioOnly: boolean;
  /** ISSQN rate when neither the registry nor the DPS has one (D-61): the highest that the law allows. */
  readonly fallbackAliquota: Decimal | undefined;
  /** What the national rules do that the specification does not name, unless the tenant sets it otherwise (D-86). */
  readonly regrasNacionais: 'recusa' | 'avisa';
  /** The reading by DPS identifier wants a party's certificate (D-41). */
  readonly dpsQueryIsOpen: boolean;
  readonly watermark: boolean;
  /** How much may be sent, unless the tenant sets it otherwise (D-263). */
  readonly limites: Limites;
  /** Days after which what was stored is deleted, unless the tenant sets it otherwise; undefined: never, whatever it sets (D-264). */
  readonly guardaDias: number | undefined;
};

/** Documents in a time, in seconds; whoever has sent nothing for that time may send them at once. */
type Limites = {
  readonly janelaS: number;
  /** Of one address of the network, refused ones too. */
  readonly endereco: number;
  /** Of one provider, by whoever is known to ask. */
  readonly prestador: number;
  /** Refusals of one address that are kept for a repetition under a key, where nobody has to sign; undefined: all. */
  readonly recusas: number | undefined;
};

/** What a document counts as at most, in bytes; a longer one counts as several. */
export const BYTES_POR_DOCUMENTO = 20 * 1024;

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
    // Twice what two cores issue: the whole country behind one address would pass.
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
/** How the slug of a sandbox of one's own begins. */
export const ENSAIO_PREFIX = 'ensaio-';

/** How long an answer stands under its idempotency key, at least (D-19). */
export const ANSWERS_KEPT_MIN_HOURS = 72;
/** How long it is kept: three hours more, for clocks that differ or are set. */
export const ANSWERS_KEPT_HOURS = ANSWERS_KEPT_MIN_HOURS + 3;

/** A change in the registry is seen by every process on the database in this time. */
export const CADASTRO_LIDO_MS = 2_000;

/** An answer that is kept names its note: a rehearsal keeps its notes longer. */
export const GUARDA_MIN_DIAS = Math.ceil(ANSWERS_KEPT_HOURS / 24);
