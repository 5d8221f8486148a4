/**
 * The access of each municipality to the national environment, and the authorities that it trusts. Both are made at first use, and made
 * again when the settings or their files change: a renewed certificate needs no restart.
 */
import { readFile, stat } from 'node:fs/promises';
import { type Breaker, openBreaker } from '../adn/breaker.ts';
import { localAdn } from '../adn/local.ts';
import { nationalAdn } from '../adn/national.ts';
import type { Circuito } from '../base/book/circuitos.ts';
import type { Municipio } from '../base/book/municipios.ts';
import type { NoTransmission, Transmission, World } from '../base/world/world.ts';
import { exposedFiles } from '../documents/exposed-files.ts';
import { loadSigner, secretFiles, tlsMaterialOf } from '../documents/key-files.ts';
import { openTrust, type Trust } from '../documents/trust.ts';
import { AMBIENTES } from '../fiscal/ambiente.ts';
import { formatDayInBrazil } from '../fiscal/moment.ts';

/** The minimum interval between two looks at the files of a municipality. */
const FILES_FRESH_MS = 5_000;
/**
 * The minimum interval between two equal tidings of a municipality: each is a commit, and an answer is recent for minutes. It grows with
 * their number, so that they stay few a second.
 */
const HEARD_FRESH_MS = 60_000;
const HEARD_EACH_MS = 20;

type KeptAccess = {
  readonly settings: string;
  /** The URL of its environment; undefined: it has none. */
  readonly environment: string | undefined;
  readonly made: Promise<Access>;
  checkedAt: number;
};

type Access =
  | { readonly stamp: string; readonly adn: ReturnType<typeof nationalAdn>; readonly transmission: Transmission }
  | NoTransmission;

/** Receives what a municipality is told of its environment: `circuit` as it is first known and changes, `heard` after requests. */
export type Tidings = {
  readonly circuit?: (tenant: string, circuito: Circuito) => void;
  /** `falha` undefined: the environment answered. */
  readonly heard?: (tenant: string, falha: string | undefined) => void;
};

const CLOSED: Circuito = { abertoEm: undefined, motivo: undefined };

function environmentOf({ adn }: Municipio): string | undefined {
  return adn === undefined || !URL.canParse(adn.url) ? undefined : new URL(adn.url).origin;
}

/** The connections of municipalities to the environments, kept while neither their settings nor their files change. */
export class Transmissions {
  private readonly log: World['log'];
  /** No certificate is made up for documents of the sandbox (D-925). */
  private readonly local: Transmission = { adn: localAdn(), signer: undefined };
  private readonly kept = new Map<string, KeptAccess>();
  /** One circuit for each environment, shared by all municipalities (D-52). */
  private readonly breakers = new Map<string, Breaker>();
  /** The last warnings about key files, by municipality. */
  private readonly exposed = new Map<string, string>();

  private readonly tidings: Tidings;
  /** The last tidings of each municipality, by `performance.now`. */
  private readonly told = new Map<string, { readonly falha: string | undefined; readonly at: number }>();
  /** The environments that are given up, with the time and the reason. */
  private readonly openings = new Map<string, Circuito>();

  constructor(log: World['log'], tidings: Tidings = {}) {
    this.log = log;
    this.tidings = tidings;
  }

  readonly of: World['transmission'] = async (municipio) => {
    if (!AMBIENTES[municipio.ambiente].transmits) return this.local;
    const settings = JSON.stringify([municipio.adn ?? null, municipio.adnCompressao]);
    const before = this.kept.get(municipio.tenant);
    let one = before;
    if (one === undefined || one.settings !== settings || !(await isCurrent(one, municipio))) {
      const environment = environmentOf(municipio);
      one = { settings, environment, made: this.make(municipio), checkedAt: performance.now() };
      this.kept.set(municipio.tenant, one);
      // The stored state from an earlier process concerns the circuit of that process.
      if (environment !== undefined) this.tidings.circuit?.(municipio.tenant, this.openings.get(environment) ?? CLOSED);
      // Deliveries under way over the old connections still finish.
      void before?.made.then(endConnections);
    }
    const made = await one.made;
    return 'problem' in made ? made : made.transmission;
  };

  /** Warns in the log of key files that other accounts may read; an unchanged warning is not repeated. */
  async warnOfFiles({ tenant, adn }: Municipio): Promise<void> {
    const warnings = adn === undefined ? [] : await exposedFiles(secretFiles(adn.chaves));
    const before = this.exposed.get(tenant);
    this.exposed.set(tenant, warnings.join('\n'));
    if (this.exposed.get(tenant) !== before) for (const one of warnings) this.log.warn({ tenant }, one);
  }

  /** Ends the connections. */
  async close(): Promise<void> {
    const all = await Promise.all([...this.kept.values()].map(({ made }) => made));
    await Promise.all(all.map(endConnections));
  }

  private breakerOf(environment: string): Breaker {
    const known = this.breakers.get(environment);
    if (known !== undefined) return known;
    const fresh = openBreaker({
      onOpen: ({ isAgain, why }) => {
        if (isAgain) return;
        this.log.warn({ environment, why }, 'o ADN não responde; as notas esperam até que responda');
        this.tellCircuit(environment, { abertoEm: Date.now(), motivo: why });
      },
      onClose: ({ openMs }) => {
        this.log.info({ environment, seconds: Math.round(openMs / 1_000) }, 'o ADN voltou a responder');
        this.tellCircuit(environment, CLOSED);
      },
    });
    this.breakers.set(environment, fresh);
    return fresh;
  }

  private tellCircuit(environment: string, circuito: Circuito): void {
    this.openings.set(environment, circuito);
    for (const [tenant, { environment: own }] of this.kept) {
      if (own === environment) this.tidings.circuit?.(tenant, circuito);
    }
  }

  /** A new failure, and an answer after one, are told at once. */
  private tellHeard(tenant: string, falha: string | undefined): void {
    const at = performance.now();
    const before = this.told.get(tenant);
    const freshMs = Math.max(HEARD_FRESH_MS, this.kept.size * HEARD_EACH_MS);
    if (before !== undefined && before.falha === falha && at - before.at < freshMs) return;
    this.told.set(tenant, { falha, at });
    this.tidings.heard?.(tenant, falha);
  }

  private async make(municipio: Municipio): Promise<Access> {
    const { adn: settings } = municipio;
    if (settings === undefined) return { problem: 'o município não tem endereço do ADN; rode nfse municipio alterar' };
    try {
      const [stamp, signer, ca] = await Promise.all([
        stampOf(settings),
        loadSigner(settings.chaves),
        settings.ca === undefined ? undefined : readFile(settings.ca, 'utf8'),
      ]);
      await this.warnOfFiles(municipio);
      const now = Date.now();
      const { inicio, fim } = signer.certificate;
      if (now > fim) return { problem: `o certificado do município venceu em ${formatDayInBrazil(fim)}` };
      if (now < inicio) return { problem: `o certificado do município só vale desde ${formatDayInBrazil(inicio)}` };
      const tls = { ...tlsMaterialOf(signer), ca };
      const adn = nationalAdn({
        url: settings.url,
        tls,
        breaker: this.breakerOf(environmentOf(municipio)!),
        log: logFor(this.log, municipio.tenant),
        isStored: municipio.adnCompressao === 'nenhuma',
        onHeard: (falha) => this.tellHeard(municipio.tenant, falha),
      });
      return { stamp, adn, transmission: { adn, signer } };
    } catch (error) {
      return { problem: error instanceof Error ? error.message : String(error) };
    }
  }
}

/** Whether the files are unchanged, or were looked at less than {@link FILES_FRESH_MS} ago. */
async function isCurrent(one: KeptAccess, municipio: Municipio): Promise<boolean> {
  const now = performance.now();
  if (now - one.checkedAt < FILES_FRESH_MS) return true;
  one.checkedAt = now;
  const made = await one.made;
  if ('problem' in made || municipio.adn === undefined) return false;
  return made.stamp === (await stampOf(municipio.adn).catch(() => undefined));
}

/** A log whose lines name the municipality. */
function logFor(log: World['log'], tenant: string): World['log'] {
  return {
    info: (about, message) => log.info({ tenant, ...about }, message),
    warn: (about, message) => log.warn({ tenant, ...about }, message),
    error: (about, message) => log.error({ tenant, ...about }, message),
  };
}

async function endConnections(made: Access): Promise<void> {
  if ('adn' in made) await made.adn.close();
}

/** A text that changes when one of the files does. */
async function stampOf({ ca, chaves }: NonNullable<Municipio['adn']>): Promise<string> {
  const files = [ca, ...Object.values(chaves)].filter((file) => file !== undefined);
  const stats = await Promise.all(files.map((file) => stat(file)));
  return stats.map(({ mtimeMs, size, ino, mode }) => `${mtimeMs}/${size}/${ino}/${mode}`).join(' ');
}

/** The trust of a municipality, by its settings; those with the same share one. */
export function trustOf(log: World['log']): World['trust'] {
  const opened = new Map<string, Trust>();
  return ({ confianca }) => {
    const key = `${confianca.ancoras ?? ''}\n${confianca.revogados ?? ''}`;
    const trust = opened.get(key) ?? openTrust(confianca, log);
    opened.set(key, trust);
    return trust;
  };
}
