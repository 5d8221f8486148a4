/**
 * Private sandboxes: anybody gets a municipality for some days, with the personas and an adjustable clock. The owner is known by its key,
 * which is shown once.
 */

import { createHash, randomBytes, randomInt, timingSafeEqual } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Municipio } from '../../base/book/municipios.ts';
import type { Presented } from '../../base/world/caller.ts';
import { type Campo, type Lidos, oneOf, readCampos, textOf } from '../../base/world/campos.ts';
import { refuseExcess } from '../../base/world/excess.ts';
import { municipalMoment } from '../../base/world/gather-facts.ts';
import type { Refused } from '../../base/world/idempotency.ts';
import { ENSAIO_DIAS, wasDiscarded } from '../../base/world/relogio.ts';
import type { World } from '../../base/world/world.ts';
import { CADASTRO_LIDO_MS, ENSAIO_PREFIX, SANDBOX_SLUG } from '../../fiscal/ambiente.ts';
import { type Decimal, formatDecimal, readDecimal } from '../../fiscal/decimal.ts';
import { type Fault, type Refusal, refusalOf } from '../../fiscal/fault.ts';
import { DAY_MS, isoMoment, parseMoment } from '../../fiscal/moment.ts';
import { csvDe, REGISTROS_DAS_PERSONAS } from '../../fiscal/personas.ts';
import { HeadingsUnknown } from '../cadastros/headings.ts';
import { importAliquotasDeEnsaio } from '../cadastros/import-aliquotas.ts';
import type { LinhaRecusada } from '../cadastros/import-csv.ts';
import { type Conta, importRegistro, REGISTROS, type RegistroNome } from '../cadastros/registros.ts';
import type { EnsaiosDemais, MudancaDeEnsaio, NovoEnsaio } from './ensaios.rows.ts';
import { changeInTurn } from './vagas.ts';

/** Limits of those that exist: of one network, made within a day, and of all networks. */
export const ENSAIOS_DA_REDE = 50;
const ENSAIOS_MAX = 2_000;

/** Letters and digits that are not mistaken for one another. */
const ALPHABET = 'abcdefghjkmnpqrstuvwxyz23456789';
const SLUG_CHARACTERS = 6;
const KEY_PREFIX = 'ensaio_';

/** The first day of the schedule with law in force. */
const RELOGIO_MIN = Date.parse('2026-01-01T00:00:00-03:00');

/** The names and the order are those of the public answer. */
export type AmbientePublico = {
  readonly municipio: string;
  readonly nome: string | null;
  readonly criado_em: string;
  readonly expira_em: string;
  readonly reiniciado_em: string | null;
  /** The moment of the sandbox's clock. */
  readonly relogio: string;
  /** How far the clock is ahead, in seconds. */
  readonly adiantado_s: number;
  readonly regras_nacionais: 'recusa' | 'avisa' | null;
  readonly exige_cadastro: boolean;
  readonly exige_numero: boolean;
  readonly exige_nota_no_evento: boolean;
  readonly aliquota_padrao: string | null;
};

const NOME_MAX = 60;

const nome: Campo<string> = {
  esperado: `um texto de até ${NOME_MAX} caracteres`,
  read: (value) => {
    const text = textOf(value)?.trim();
    return text !== undefined && text.length <= NOME_MAX && !text.includes('\0') ? text : undefined;
  },
};

const relogio: Campo<number> = {
  esperado: 'um momento com fuso, de 2026 ao fim do ano que vem, como 2026-12-31T23:55:00-03:00',
  read: (value) => {
    const at = parseMoment(textOf(value) ?? '');
    return at !== undefined && at >= RELOGIO_MIN ? at : undefined;
  },
};

/** The end of the next year, in Brasília. */
function latestRelogio(now: number): number {
  return Date.parse(`${new Date(now).getUTCFullYear() + 2}-01-01T00:00:00-03:00`);
}

const UNITS_MS = { m: 60_000, h: 3_600_000, d: DAY_MS } as const;

const avancar: Campo<number> = {
  esperado: 'quanto avançar: um número e m, h ou d, como 90m, 6h ou 35d',
  read: (value) => {
    const [, count, unit] = /^([1-9]\d{0,4})([mhd])$/.exec(textOf(value) ?? '') ?? [];
    return count === undefined ? undefined : Number(count) * UNITS_MS[unit as keyof typeof UNITS_MS];
  },
};

const flag: Campo<boolean> = {
  esperado: 'true ou false',
  read: (value) => (value.kind === 'boolean' ? value.text === 'true' : undefined),
};

/** Null: there is no rate. */
const percent: Campo<Decimal | null> = {
  esperado: 'uma alíquota em percentual, de 0 a 100, como "2.00", ou null, que a tira',
  read: (value) => {
    if (value.kind === 'null') return null;
    const text = value.kind === 'string' || value.kind === 'number' ? value.text : '';
    const read = /^\d{1,3}(\.\d{1,2})?$/.test(text) ? readDecimal(text) : undefined;
    return read !== undefined && Number(text) <= 100 ? read : undefined;
  },
};

const RIGOR = {
  regras_nacionais: oneOf(['recusa', 'avisa']),
  exige_cadastro: flag,
  exige_numero: flag,
  exige_nota_no_evento: flag,
  aliquota_padrao: percent,
} as const;

const NOVO = { nome, relogio, ...RIGOR };
const ALTERACAO = { relogio, avancar, ...RIGOR };

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** Makes a sandbox. `rede`: network address of the client. */
export async function createAmbiente(
  world: World,
  municipio: Municipio,
  { body, rede }: { readonly body: Uint8Array; readonly rede: string },
): Promise<{ readonly ambiente: AmbientePublico; readonly chave: string } | 'not_here' | Refused> {
  if (municipio.tenant !== SANDBOX_SLUG) return 'not_here';
  const read = readCampos(body, NOVO);
  if ('faults' in read) return read;
  const { lidos } = read;
  const { store, now } = world;
  const late = lidos.relogio === undefined ? undefined : clockMisfit(now(), undefined, lidos.relogio - now());
  if (late !== undefined) return { faults: [late], status: 400 };
  const chave = KEY_PREFIX + randomBytes(24).toString('base64url');
  const at = now();
  const slug = await openEnsaio(world, { chave: digest(chave), nome: lidos.nome, rede: digest(rede), criadoEm: at });
  if (typeof slug !== 'string') return slug;
  const relogio = lidos.relogio === undefined ? undefined : { de: 0, para: lidos.relogio - at };
  await store.ensaios.change(slug, { relogio, ...rigorOf(lidos) });
  await addPersonas(world, slug);
  await untilSeen();
  return { ambiente: await presentAmbiente(world, (await store.municipios.readFresh(slug))!, at), chave };
}

function refuseMore({ de, livreEm }: EnsaiosDemais, at: number): Refused {
  const livreMs = livreEm - at;
  if (de === 'todos') {
    const mensagem =
      'Há ambientes próprios demais neste serviço agora. Use o ambiente de integração, ou tente mais tarde.';
    return refuseExcess(mensagem, { nome: 'ambientes', max: ENSAIOS_MAX }, livreMs);
  }
  const mensagem = `Deste endereço de rede já há ${ENSAIOS_DA_REDE} ambientes feitos no último dia. Jogue fora um que não usa mais (DELETE …/api/v1/ambiente), e o lugar dele volta na hora; ou reinicie um dos que tem (POST …/api/v1/ambiente/reinicio), ou espere até que o primeiro deles tenha um dia.`;
  return refuseExcess(mensagem, { nome: 'ambientes', max: ENSAIOS_DA_REDE, janelaS: DAY_MS / 1_000 }, livreMs);
}

/** Makes a sandbox at a free address. */
async function openEnsaio(
  { store }: World,
  novo: Pick<NovoEnsaio, 'chave' | 'nome' | 'rede' | 'criadoEm'>,
): Promise<string | Refused> {
  const { criadoEm } = novo;
  const ate = criadoEm + ENSAIO_DIAS * DAY_MS;
  const max = { daRede: ENSAIOS_DA_REDE, desde: criadoEm - DAY_MS, todos: ENSAIOS_MAX };
  for (;;) {
    const word = Array.from({ length: SLUG_CHARACTERS }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
    const tenant = ENSAIO_PREFIX + word;
    const made = await store.ensaios.create(SANDBOX_SLUG, { ...novo, tenant, ate }, max);
    if (made === 'made') return tenant;
    if (made !== 'taken') return refuseMore(made, criadoEm);
  }
}

/** The cache of municipalities in every process is at most this old. */
function untilSeen(): Promise<void> {
  return sleep(CADASTRO_LIDO_MS);
}

/** Judges the key that a client shows. `not_here`: the municipality is no private sandbox. `gone`: the sandbox was just deleted. */
export async function admitOwner(
  { store }: Pick<World, 'store'>,
  { tenant, ensaioAte }: Municipio,
  shown: Presented,
): Promise<'owner' | 'not_here' | 'gone' | Refusal> {
  if (ensaioAte === undefined) return 'not_here';
  const value = shown.kind === 'token' ? shown.value : undefined;
  if (value?.startsWith(KEY_PREFIX)) {
    const ensaio = await store.ensaios.find(tenant);
    if (ensaio === undefined) return 'gone';
    if (timingSafeEqual(ensaio.chave, digest(value))) return 'owner';
  }
  const fault: Fault = {
    codigo: value === undefined ? 'E9003' : 'E9007',
    xpath: '',
    mensagem: `Este ambiente é de quem o fez: envie a chave dele (${KEY_PREFIX}…) em Authorization: Bearer. ${
      value === undefined ? 'Nenhuma veio.' : 'O que veio não é a chave deste ambiente.'
    }`,
  };
  return { faults: [fault] };
}

export async function showAmbiente(world: World, municipio: Municipio): Promise<AmbientePublico> {
  return presentAmbiente(world, municipio, machineNow(world, municipio));
}

/** The clock of the machine, from the world with the municipality's clock. */
function machineNow({ now }: Pick<World, 'now'>, { relogioMs = 0 }: Municipio): number {
  return now() - relogioMs;
}

async function presentAmbiente({ store }: World, municipio: Municipio, machine: number): Promise<AmbientePublico> {
  const { tenant, ensaioAte = 0, relogioMs = 0, codigoIbge } = municipio;
  const ensaio = await store.ensaios.find(tenant);
  const at = (instant: number): string => isoMoment(municipalMoment(codigoIbge, instant));
  return {
    municipio: tenant,
    nome: ensaio?.nome ?? null,
    criado_em: at(+(ensaio?.criado_em ?? 0)),
    expira_em: at(ensaioAte),
    reiniciado_em: ensaio?.reiniciado_em == null ? null : at(+ensaio.reiniciado_em),
    relogio: at(machine + relogioMs),
    adiantado_s: Math.round(relogioMs / 1000),
    regras_nacionais: municipio.regrasNacionais ?? null,
    exige_cadastro: municipio.exigeCadastro ?? false,
    exige_numero: municipio.exigeNumero ?? false,
    exige_nota_no_evento: municipio.exigeNotaNoEvento ?? false,
    aliquota_padrao: municipio.aliquotaPadrao === undefined ? null : formatDecimal(municipio.aliquotaPadrao),
  };
}

/**
 * Changes the named settings. The clock goes forward only: otherwise waiting documents would wait for a moment that is long past. `gone`:
 * the sandbox was deleted meanwhile.
 */
export async function changeAmbiente(
  world: World,
  municipio: Municipio,
  body: Uint8Array,
): Promise<AmbientePublico | Refused | 'gone'> {
  const read = readCampos(body, ALTERACAO);
  if ('faults' in read) return read;
  return changeInTurn(municipio.tenant, () => writeAlteracao(world, municipio, read.lidos));
}

async function writeAlteracao(
  world: World,
  municipio: Municipio,
  lidos: Lidos<typeof ALTERACAO>,
): Promise<AmbientePublico | Refused | 'gone'> {
  const { tenant } = municipio;
  const { store } = world;
  const machine = machineNow(world, municipio);
  const isMoved = lidos.relogio !== undefined || lidos.avancar !== undefined;
  for (;;) {
    const own = await store.municipios.readFresh(tenant);
    if (own === undefined) return 'gone';
    const { relogioMs: de = 0 } = own;
    const para = (lidos.relogio === undefined ? de : lidos.relogio - machine) + (lidos.avancar ?? 0);
    const misfit = isMoved ? clockMisfit(machine, de, para) : undefined;
    if (misfit !== undefined) return { faults: [misfit], status: 400 };
    // A clock that another request moved meanwhile is moved on from its new place.
    if (await store.ensaios.change(tenant, { relogio: isMoved ? { de, para } : undefined, ...rigorOf(lidos) })) break;
  }
  await untilSeen();
  world.wake(tenant);
  const changed = await store.municipios.readFresh(tenant);
  return changed === undefined ? 'gone' : presentAmbiente(world, changed, machine);
}

/** The fault of a change of the clock. `before` undefined: a reset, which may set any clock. */
function clockMisfit(machine: number, before: number | undefined, relogioMs: number): Fault | undefined {
  const campo = 'relogio';
  if (before !== undefined && relogioMs < before) {
    const mensagem =
      'O relógio de um ambiente só avança. Para voltar, reinicie-o (POST …/api/v1/ambiente/reinicio), com o relógio que quer.';
    return { codigo: 'E0002', xpath: '', mensagem, campo };
  }
  if (machine + relogioMs < latestRelogio(machine)) return undefined;
  return { codigo: 'E0002', xpath: '', mensagem: `O relógio passaria do que se aceita: ${relogio.esperado}.`, campo };
}

function rigorOf(lidos: Partial<Lidos<typeof RIGOR>>): MudancaDeEnsaio {
  const { aliquota_padrao } = lidos;
  return {
    exigeCadastro: lidos.exige_cadastro,
    regrasNacionais: lidos.regras_nacionais,
    exigeNumero: lidos.exige_numero,
    exigeNotaNoEvento: lidos.exige_nota_no_evento,
    aliquotaPadrao: aliquota_padrao && formatDecimal(aliquota_padrao),
  };
}

const REINICIO = { relogio };

/** Removes everything that was issued, registered and imported, and begins anew with the personas. */
export async function resetAmbiente(
  world: World,
  municipio: Municipio,
  body: Uint8Array,
): Promise<AmbientePublico | Refused | 'gone'> {
  const read = readCampos(body, REINICIO);
  if ('faults' in read) return read;
  const { tenant } = municipio;
  const { store } = world;
  const machine = machineNow(world, municipio);
  const relogioMs = read.lidos.relogio === undefined ? 0 : read.lidos.relogio - machine;
  const misfit = clockMisfit(machine, undefined, relogioMs);
  if (misfit !== undefined) return { faults: [misfit], status: 400 };
  return changeInTurn(tenant, async () => {
    if (!(await store.ensaios.empty(tenant, machine, relogioMs))) return 'gone';
    await addPersonas(world, tenant);
    await untilSeen();
    const fresh = await store.municipios.readFresh(tenant);
    return fresh === undefined ? 'gone' : presentAmbiente(world, fresh, machine);
  });
}

/** False: another request deleted it before. */
export function discardAmbiente({ store }: Pick<World, 'store'>, { tenant }: Municipio): Promise<boolean> {
  return store.ensaios.delete(tenant);
}

// Registers.

export type CadastroImportado = {
  readonly registro: string;
  readonly linhas: number;
  readonly contas: readonly Conta[];
};

/** The national rates: a sandbox may have its own, a municipality cannot. */
export const ALIQUOTAS = 'aliquotas_ibs_cbs';
export const ALIQUOTAS_TITULO = 'Alíquotas do IBS e da CBS';
type CadastroDoAmbiente = RegistroNome | typeof ALIQUOTAS;
export const CADASTROS_DO_AMBIENTE: readonly CadastroDoAmbiente[] = [
  ...(Object.keys(REGISTROS) as RegistroNome[]),
  ALIQUOTAS,
];

/**
 * Imports a file into a register of a sandbox; undefined: there is no such register. One bad line stops the whole import, and the bad lines
 * are reported.
 */
export async function importCadastro(
  world: World,
  municipio: Municipio,
  registro: string,
  csv: Uint8Array,
): Promise<CadastroImportado | undefined | 'gone' | Refused> {
  if (!isCadastro(registro)) return undefined;
  return changeInTurn(municipio.tenant, () => fillCadastro(world, municipio, registro, csv));
}

function isCadastro(name: string): name is CadastroDoAmbiente {
  return (CADASTROS_DO_AMBIENTE as readonly string[]).includes(name);
}

async function fillCadastro(
  world: World,
  municipio: Municipio,
  registro: CadastroDoAmbiente,
  csv: Uint8Array,
): Promise<CadastroImportado | 'gone' | Refused> {
  const { tenant } = municipio;
  try {
    const { counts, recusadas, primeiras, linhas } = await importText(world, tenant, registro, csv);
    if (recusadas > 0) return refuseLines(recusadas, linhas, primeiras);
    await untilSeen();
    if (await wasDiscarded(world, municipio)) return 'gone';
    if (registro === ALIQUOTAS && counts !== undefined) {
      await world.store.ensaios.retryRetidas(tenant);
      world.wake(tenant);
    }
    return {
      registro,
      linhas,
      contas: counts ?? [],
    };
  } catch (error) {
    // The reason to refuse the whole file is an error of this class, in Portuguese.
    if (!(error instanceof Error) || error.constructor !== Error) throw error;
    return { faults: [{ codigo: 'E003', xpath: '', mensagem: error.message }] };
  }
}

/** Reports the bad lines with their reasons, up to a limit; nothing was written. */
function refuseLines(recusadas: number, linhas: number, primeiras: readonly LinhaRecusada[]): Refused {
  const detalhes = { linhas, recusadas, gravadas: 0 };
  const faults = primeiras.map(({ linha, motivo }, place) => {
    const fault = { codigo: 'E003', xpath: '', mensagem: `Linha ${linha}: ${motivo}.`, linha };
    return place === 0 ? { ...fault, detalhes } : fault;
  });
  return { ...refusalOf(faults)!, status: 422 };
}

async function importText(world: World, municipio: string, registro: CadastroDoAmbiente, csv: string | Uint8Array) {
  const folder = await mkdtemp(path.join(tmpdir(), 'nfse-ensaio-'));
  const arquivo = path.join(folder, `${registro}.csv`);
  try {
    await writeFile(arquivo, csv, { mode: 0o600 });
    const request = {
      ...{ municipio, arquivo, nome: `${registro}.csv`, erros: undefined, onProgress: () => undefined },
      // A sandbox is there to try: no person answers a question.
      confirmado: true,
    };
    if (registro !== ALIQUOTAS) return await importRegistro(world, registro, request);
    const { counts, ...outcome } = await importAliquotasDeEnsaio(world, municipio, request);
    return { ...outcome, counts: counts && [{ de: ALIQUOTAS_TITULO, ...counts }] };
  } catch (error) {
    if (error instanceof HeadingsUnknown || (error instanceof Error && error.constructor === Error))
      throw new Error(error.message.replaceAll(arquivo, `${registro}.csv`));
    throw error;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function addPersonas(world: World, slug: string): Promise<void> {
  for (const registro of REGISTROS_DAS_PERSONAS) await importText(world, slug, registro, csvDe(registro));
}
