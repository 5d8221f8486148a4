/**
 * How each municipality reaches the national environment, and whose certificates it believes: made from its settings
 * when first asked for, kept, and made anew when the settings or the files behind them change. No restart is needed
 * to renew a certificate.
 */
import { readFile, stat } from 'node:fs/promises';
import { type Breaker, openBreaker } from '../adn/breaker.ts';
import { localAdn } from '../adn/local.ts';
import { nationalAdn } from '../adn/national.ts';
import { exposedFiles, loadSigner, secretFiles, tlsMaterialOf } from '../documents/key-files.ts';
import { openTrust, type Trust } from '../documents/trust.ts';
import { AMBIENTES } from '../fiscal/ambiente.ts';
import type { NoTransmission, Transmission, World } from '../flows/world.ts';
import type { Municipio } from '../store/municipios.ts';

/** The files of a municipality are looked at this often at most. */
const FILES_FRESH_MS = 5_000;

type Kept = {
  readonly settings: string;
  readonly made: Promise<Made>;
  checkedAt: number;
};

type Made =
  | { readonly stamp: string; readonly adn: ReturnType<typeof nationalAdn>; readonly transmission: Transmission }
  | NoTransmission;

export type Transmissions = {
  readonly of: World['transmission'];
  /** Tells in the log of key files that others may reach, once of each as it is now. */
  warnOfFiles(municipio: Municipio): Promise<void>;
  /** Ends the connections. */
  close(): Promise<void>;
};

export function openTransmissions(log: World['log']): Transmissions {
  const local: Transmission = { adn: localAdn(), signer: undefined };
  const kept = new Map<string, Kept>();
  /** One circuit for each environment, whoever sends to it (D-52). */
  const breakers = new Map<string, Breaker>();

  const breakerOf = (environment: string): Breaker => {
    const known = breakers.get(environment);
    if (known !== undefined) return known;
    const fresh = openBreaker({
      onOpen: ({ isAgain, why }) => {
        if (!isAgain) log.warn({ environment, why }, 'o ADN não responde; as notas esperam até que responda');
      },
      onClose: ({ openMs }) =>
        log.info({ environment, seconds: Math.round(openMs / 1_000) }, 'o ADN voltou a responder'),
    });
    breakers.set(environment, fresh);
    return fresh;
  };

  /** What was told of the files of a municipality. */
  const exposed = new Map<string, string>();
  const warnOfFiles = async ({ tenant, adn }: Municipio): Promise<void> => {
    const told = adn === undefined ? [] : await exposedFiles(secretFiles(adn.chaves));
    const before = exposed.get(tenant);
    exposed.set(tenant, told.join('\n'));
    if (exposed.get(tenant) !== before) for (const one of told) log.warn({ tenant }, one);
  };

  const make = async (municipio: Municipio): Promise<Made> => {
    const { adn: settings } = municipio;
    if (settings === undefined) return { problem: 'o município não tem endereço do ADN; rode nfse municipio alterar' };
    try {
      const [stamp, signer, ca] = await Promise.all([
        stampOf(settings),
        loadSigner(settings.chaves),
        settings.ca === undefined ? undefined : readFile(settings.ca, 'utf8'),
      ]);
      await warnOfFiles(municipio);
      const now = Date.now();
      const { inicio, fim } = signer.certificate;
      if (now < inicio || now > fim) return { problem: 'o certificado do município está fora da validade' };
      const origin = new URL(settings.url).origin;
      const tls = { ...tlsMaterialOf(signer), ca };
      const adn = nationalAdn({
        url: settings.url,
        tls,
        breaker: breakerOf(origin),
        log: named(log, municipio.tenant),
      });
      return { stamp, adn, transmission: { adn, signer } };
    } catch (error) {
      return { problem: error instanceof Error ? error.message : String(error) };
    }
  };

  const isCurrent = async (one: Kept, municipio: Municipio): Promise<boolean> => {
    const now = performance.now();
    if (now - one.checkedAt < FILES_FRESH_MS) return true;
    one.checkedAt = now;
    const made = await one.made;
    if ('problem' in made || municipio.adn === undefined) return false;
    return made.stamp === (await stampOf(municipio.adn).catch(() => undefined));
  };

  const of = async (municipio: Municipio): Promise<Transmission | NoTransmission> => {
    if (!AMBIENTES[municipio.ambiente].transmits) return local;
    const settings = JSON.stringify(municipio.adn ?? null);
    let one = kept.get(municipio.tenant);
    if (one === undefined || one.settings !== settings || !(await isCurrent(one, municipio))) {
      const before = one;
      one = { settings, made: make(municipio), checkedAt: performance.now() };
      kept.set(municipio.tenant, one);
      // What is on its way over the old connections comes to its end.
      void before?.made.then(closed);
    }
    const made = await one.made;
    return 'problem' in made ? made : made.transmission;
  };

  return {
    of,
    warnOfFiles,
    close: async () => {
      const all = await Promise.all([...kept.values()].map(({ made }) => made));
      await Promise.all(all.map(closed));
    },
  };
}

/** A log whose lines say whose they are. */
function named(log: World['log'], tenant: string): World['log'] {
  return {
    info: (about, message) => log.info({ tenant, ...about }, message),
    warn: (about, message) => log.warn({ tenant, ...about }, message),
    error: (about, message) => log.error({ tenant, ...about }, message),
  };
}

async function closed(made: Made): Promise<void> {
  if ('adn' in made) await made.adn.close();
}

/** What tells that the files are no longer those that were read. */
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
