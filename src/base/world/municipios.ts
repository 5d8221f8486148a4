/**
 * Creates a municipality and changes its settings. All settings are checked and reported together; nothing is stored while there is a
 * problem. Files are stored as absolute paths only, because the service may run elsewhere.
 */
import path from 'node:path';
import { SANDBOX_SLUG } from '../../fiscal/ambiente.ts';
import { nameMunicipio } from '../../fiscal/catalogs/catalogs.ts';
import { brazilianMoment } from '../../fiscal/moment.ts';
import type { ListaNome } from '../../fiscal/registers.ts';
import {
  type AcessoAdn,
  type ChavesAdn,
  isOfAdn,
  type Municipio,
  SETTINGS,
  type SettingName,
  type SettingValues,
  settingsOf,
  showSetting,
  withSettings,
} from '../../fiscal/settings.ts';
import type { Problem } from '../../fiscal/settings-text.ts';
import type { NovoAto, Via } from '../book/atos.ts';
import { avisosDeAliquotas } from './avisos-aliquotas.ts';
import {
  remarksOnAddress,
  remarksOnAliquota,
  remarksOnMissingAliquota,
  remarksOnSettings,
} from './avisos-municipio.ts';
import { municipalMoment } from './gather-facts.ts';
import {
  type CertificadoShown,
  changesOfCertificado,
  type Inspection,
  inspectAdn,
  inspectConfianca,
} from './municipio-files.ts';
import type { PorMao } from './operator.ts';
import { isSlug, slugProblem } from './slugs.ts';
import type { World } from './world.ts';

/** Access of the registry, which works beside a running service or without one. */
export type RegistryWorld = Pick<World, 'store' | 'now'> & {
  /** Wakes the worker after a change in the console; a command has no worker to wake. */
  readonly wake?: World['wake'];
  /** Public address of the service, from the settings of this machine. */
  readonly baseUrl?: string | undefined;
  readonly avisosPrivados?: boolean;
  /** Folder of the certificates that came by the console to this machine, of all municipalities. */
  readonly certificados?: string;
};

/** Settings as the operator writes them: paths may be relative, and a setting without text is on. */
export type Asked = {
  readonly written: Readonly<Partial<Record<SettingName, string | true>>>;
  /** Settings to remove. */
  readonly without: readonly SettingName[];
};

export type Configured =
  | {
      readonly municipio: Municipio;
      /** The previous state; undefined if it was just created. */
      readonly antes?: Municipio;
      readonly avisos: readonly string[];
      /** The certificate of the municipality, if it was given in this change. */
      readonly certificado: CertificadoShown | undefined;
    }
  | { readonly problems: readonly Recusa[] };

/** A fault in the requested settings; the sentence follows the name of its setting. */
export type Recusa = { readonly campo?: SettingName; readonly texto: string };

const refusing = (texto: string): Recusa => ({ texto });

/** The municipality with this slug, or undefined if there is none. */
export function findMunicipio({ store }: Pick<World, 'store'>, slug: string): Promise<Municipio | undefined> {
  return store.municipios.findBySlug(slug);
}

/** `previa`: everything is checked, and nothing stored. */
export async function createMunicipio(
  world: RegistryWorld,
  slug: string,
  asked: Asked,
  by: PorMao,
  previa = false,
): Promise<Configured> {
  // Settings with a default of on apply to new municipalities only (D-215).
  const atFirst = SETTINGS.flatMap(([name, { isOnAtFirst }]) => (isOnAtFirst ? [[name, true]] : []));
  const blank = withSettings(slug, { ambiente: 'producao', ...Object.fromEntries(atFirst) });
  const slugIs = slugProblem(slug);
  const { problems, ...configured } = await applyAsked(world, blank, asked, by.via);
  const missing =
    asked.written.codigoIbge === undefined ? ['Falta --ibge, com o código IBGE do município, de 7 dígitos.'] : [];
  const shared = await sharedCode(world, configured.municipio);
  const all = [...[slugIs ?? [], missing].flat().map(refusing), ...problems, ...shared.map(refusing)];
  if (all.length > 0) return { problems: all };
  if (previa) return configured;
  const act = actOn(world, slug, by, 'criado', changesOf(undefined, configured.municipio));
  if (await world.store.municipios.create(configured.municipio, world.now(), [act])) return configured;
  // Another command may have created it a moment earlier.
  const [sharedNow] = await sharedCode(world, configured.municipio);
  const there = `Já existe o município ${slug}. Para mudá-lo: nfse municipio alterar ${slug} …`;
  return { problems: [refusing(sharedNow ?? there)] };
}

/** Changes the given settings and leaves the rest. `previa`: everything is checked, and nothing stored. */
export async function alterMunicipio(
  world: RegistryWorld,
  slug: string,
  asked: Asked,
  by: PorMao,
  previa = false,
): Promise<Configured> {
  const kept = by.via === 'painel' ? keptFrom(asked) : [];
  if (kept.length > 0) return { problems: kept };
  return alterAsked(world, slug, asked, by, 'alterado', previa);
}

/** Signs and connects by another certificate of the municipality from now on; a missing address of the ADN is set to `url`. */
export async function switchCertificado(
  world: RegistryWorld,
  slug: string,
  { certificado, chave, url }: { readonly certificado: string; readonly chave: string; readonly url: string },
  by: PorMao,
): Promise<Configured> {
  const address = (await municipioNamed(world, slug)).adn === undefined ? { adnUrl: url } : {};
  const asked = { written: { adnCertificado: certificado, adnChave: chave, ...address }, without: [] };
  return alterAsked(world, slug, asked, by, 'certificado trocado');
}

async function alterAsked(
  world: RegistryWorld,
  slug: string,
  asked: Asked,
  by: PorMao,
  acao: string,
  previa = false,
): Promise<Configured> {
  const current = await readMunicipio(world, slug);
  const { problems, ...configured } = await applyAsked(world, current, asked, by.via);
  const { municipio } = configured;
  const moved = municipio.codigoIbge !== current.codigoIbge || municipio.ambiente !== current.ambiente;
  const fixed = moved ? await whyFixed(world, slug) : undefined;
  const shared = moved && fixed === undefined ? await sharedCode(world, municipio) : [];
  const all = [...[fixed ?? []].flat().map(refusing), ...problems, ...shared.map(refusing)];
  if (all.length > 0) return { problems: all };
  if (previa) return { ...configured, antes: current };
  const named = await changesOfCertificado(current, configured.certificado, world.now());
  const changes = [...named, ...changesOf(current, municipio)];
  const acts = changes.length === 0 ? [] : [actOn(world, slug, by, acao, changes)];
  if (await world.store.municipios.update(municipio, acts)) {
    const everybodys = slug === SANDBOX_SLUG ? [SANDBOX_IS_EVERYBODYS] : [];
    return { ...configured, antes: current, avisos: [...everybodys, ...configured.avisos] };
  }
  // Another command was a moment earlier: it took the code, or deleted the municipality.
  await municipioNamed(world, slug);
  return { problems: (await sharedCode(world, municipio)).map(refusing) };
}

/**
 * Refuses settings that need access to the machine. The administrator of a municipality in the console does not run the machine, whose
 * files may be those of others.
 */
function keptFrom({ written, without }: Asked): readonly Recusa[] {
  return SETTINGS.flatMap(([name, { byCommand }]) =>
    byCommand && (written[name] !== undefined || without.includes(name))
      ? [{ campo: name, texto: 'só muda por comando, de quem opera o serviço.' }]
      : [],
  );
}

/** A changed setting: its title, its previous form and its new form. A secret is shown by the file that holds it. */
export type Mudanca = readonly [titulo: string, antes: string | undefined, depois: string];

/** All changed settings. `antes` undefined: all settings. */
export function changesOf(antes: Municipio | undefined, depois: Municipio): readonly Mudanca[] {
  return SETTINGS.flatMap((setting) => {
    const [title, after] = showSetting(setting, depois);
    const before = antes && showSetting(setting, antes)[1];
    return before === after ? [] : [[title, before, after] as const];
  });
}

function actOn(world: RegistryWorld, slug: string, by: PorMao, acao: string, changes: readonly Mudanca[]): NovoAto {
  const antes = Object.fromEntries(
    changes.flatMap(([title, before]) => (before === undefined ? [] : [[title, before]])),
  );
  const depois = Object.fromEntries(changes.map(([title, , after]) => [title, after]));
  return { ...by, em: world.now(), objeto: 'municipio', chave: slug, acao, antes, depois };
}

const SANDBOX_IS_EVERYBODYS = `${SANDBOX_SLUG} é o ambiente de integração de todos: a mudança vale para quem quer que teste nele. Para um ensaio só seu: nfse municipio criar SLUG --ibge CÓDIGO --ambiente homologacao.`;

/** A problem if another municipality is in production under the code. Both would number the same notes, and accept the same DPS. */
async function sharedCode(world: RegistryWorld, municipio: Municipio): Promise<readonly string[]> {
  const { tenant, ambiente, codigoIbge } = municipio;
  if (ambiente !== 'producao' || codigoIbge === undefined) return [];
  const other = await world.store.municipios.findInProducao(codigoIbge, tenant);
  if (other === undefined) return [];
  const where = `${codigoIbge} ${nameMunicipio(municipio.codigoIbge) ?? ''}`.trim();
  return [
    `${where} já está em produção no endereço ${other}, e um município só numera notas num endereço. Para mudar o que há: nfse municipio alterar ${other} …; para um ensaio ao lado: --ambiente homologacao; se ${other} foi engano e não tem notas: nfse municipio excluir ${other}.`,
  ];
}

export type Removal = {
  readonly municipio: Municipio;
  readonly nome: string | undefined;
  /** Establishments of the registry, and lines of each list, that are deleted with it. */
  readonly prestadores: number;
  readonly listas: Readonly<Record<ListaNome, number>>;
};

/** The data that a deletion would remove, or the reason against it. Throws an Error in Portuguese if there is no such municipality. */
export async function removalOf(world: RegistryWorld, slug: string): Promise<Removal | { readonly problem: string }> {
  const municipio = await municipioNamed(world, slug);
  if (slug === SANDBOX_SLUG) return { problem: `${SANDBOX_SLUG} é o ambiente de integração de todos, e fica.` };
  if (await world.store.municipios.hasIssued(slug)) return { problem: hasNotes(slug) };
  return { municipio, nome: nameMunicipio(municipio.codigoIbge), ...(await countsOf(world, slug)) };
}

async function countsOf({ store }: RegistryWorld, tenant: string): Promise<Pick<Removal, 'prestadores' | 'listas'>> {
  const [prestadores, listas] = await Promise.all([
    store.municipios.countPrestadores(tenant),
    store.listas.count(tenant),
  ]);
  return { prestadores, listas };
}

/** Deletes a municipality with its registry and settings; the files that it names stay. */
export async function removeMunicipio(world: RegistryWorld, { municipio }: Removal): Promise<string | undefined> {
  if (await world.store.municipios.delete(municipio.tenant)) {
    // A new municipality of this name must grant its roles anew.
    await world.store.contas.forgetPapeis(municipio.tenant);
    return undefined;
  }
  await municipioNamed(world, municipio.tenant);
  return hasNotes(municipio.tenant);
}

function hasNotes(slug: string): string {
  return `O município já emitiu notas, que ficam guardadas: não se exclui. Para que deixe de transmitir: nfse municipio alterar ${slug} --sem-adn`;
}

/** Keys contain the municipality's code, and numbers of one ambiente must not mix with those of the other. */
async function whyFixed(world: RegistryWorld, slug: string): Promise<string | undefined> {
  if (slug === SANDBOX_SLUG)
    return `${SANDBOX_SLUG} é o ambiente de integração de todos: ambiente e código IBGE não mudam.`;
  if (!(await world.store.municipios.hasIssued(slug))) return undefined;
  return 'O município já emitiu notas: ambiente e código IBGE não mudam mais.';
}

/** The municipality of a slug. Throws an Error in Portuguese if there is none. */
export async function municipioNamed(world: RegistryWorld, slug: string): Promise<Municipio> {
  // This also works before the first start of the service.
  if (slug === SANDBOX_SLUG) {
    await world.store.municipios.create({ tenant: slug, ambiente: 'homologacao', codigoIbge: undefined }, world.now());
  }
  const municipio = isSlug(slug) ? await world.store.municipios.findBySlug(slug) : undefined;
  if (municipio !== undefined) return municipio;
  if (slug.trim() === '')
    throw new Error('o SLUG do município veio vazio. nfse municipio listar mostra os que existem.');
  throw new Error(`não existe o município ${slug}. nfse municipio listar mostra os que existem.`);
}

/** The settings of now. A cached reading could lack what somebody else has just changed. */
export async function readMunicipio(world: RegistryWorld, slug: string): Promise<Municipio> {
  const { tenant } = await municipioNamed(world, slug);
  return (await world.store.municipios.readFresh(tenant)) ?? municipioNamed(world, slug);
}

type Applied = Omit<Inspection, 'problems'> & {
  readonly problems: readonly Recusa[];
  readonly municipio: Municipio;
  readonly certificado: CertificadoShown | undefined;
};

/** The municipality after the change, and the problems of the given settings. */
async function applyAsked(world: RegistryWorld, current: Municipio, asked: Asked, via: Via): Promise<Applied> {
  const { written } = asked;
  const problems: Recusa[] = [];
  const municipio = withAsked(current, asked, (texto, campo) => void problems.push({ texto, ...(campo && { campo }) }));
  const { confianca } = municipio;
  const speaksOfRate = written.aliquotaPadrao !== undefined || asked.without.includes('aliquotaPadrao');
  const [{ servicos }, trust, adn] = await Promise.all([
    world.store.listas.count(municipio.tenant),
    // Only folders given now must be usable, so that a missing one does not prevent another change. Lists are judged with the current
    // anchors.
    inspectConfianca(confianca, {
      named: (['ancoras', 'revogados'] as const).filter((name) => written[name] !== undefined),
      now: world.now(),
    }),
    namesAdn(asked) && municipio.adn !== undefined
      ? inspectAdn(municipio.adn, confianca, world.now())
      : { problems: [], avisos: [], certificado: undefined },
  ]);
  return {
    municipio,
    certificado: adn.certificado,
    problems: [...problems, ...[...trust.problems, ...adn.problems].map(refusing)],
    avisos: [
      ...trust.avisos,
      ...adn.avisos,
      ...(speaksOfRate ? remarksOnAliquota(servicos, via) : []),
      ...remarksOnMissingAliquota(municipio, servicos, via),
      ...remarksOnSettings(municipio, via),
      ...remarksOnAddress(world.baseUrl, municipio, via),
    ],
  };
}

type Refuse = (problem: string, campo?: SettingName) => void;

/**
 * A municipality with the requested settings. A refused value keeps the old one, except for the ADN's address, so that its keys are checked
 * too.
 */
function withAsked(current: Municipio, asked: Asked, refuse: Refuse): Municipio {
  const { written, without } = asked;
  const given: Record<string, unknown> = {};
  for (const [name, setting] of SETTINGS) {
    const text = written[name];
    if (text === undefined) continue;
    const { option, isPath, parse } = setting;
    if (without.includes(name)) refuse(`--${option} e --sem-${option} não andam juntos.`);
    const value = text === true ? true : isPath ? path.resolve(text) : parse === undefined ? text : parse(text);
    if (!isProblem(value)) given[name] = value;
    else for (const problem of value.problems) refuse(problem, name);
  }
  const gone = SETTINGS.flatMap(([name, { sql }]) =>
    without.includes(name) ? [[name, sql === 'boolean' ? false : undefined]] : [],
  );
  const municipio = withSettings(current.tenant, {
    ...settingsOf(current),
    ...given,
    ...Object.fromEntries(gone),
  });
  return { ...municipio, adn: without.includes('adnUrl') ? undefined : adnOf(current.adn, given, asked, refuse) };
}

function isProblem(value: unknown): value is Problem {
  return typeof value === 'object' && value !== null && 'problems' in value;
}

function namesAdn({ written }: Asked): boolean {
  return Object.keys(written).some((name) => isOfAdn(name as SettingName));
}

function adnOf(
  current: AcessoAdn | undefined,
  given: SettingValues,
  asked: Asked,
  refuse: Refuse,
): AcessoAdn | undefined {
  const withoutCa = asked.without.includes('adnCa');
  if (!namesAdn(asked) && !(withoutCa && current !== undefined)) return current;
  const { adnUrl } = asked.written;
  const url = given.adnUrl ?? (adnUrl as string | undefined) ?? current?.url;
  if (url === undefined) refuse('Falta --adn, com o endereço do ADN: https://…');
  const chaves = chavesOf(current?.chaves, given, refuse);
  if (url === undefined || chaves === undefined) return current;
  return { url, ca: withoutCa ? undefined : (given.adnCa ?? current?.ca), chaves };
}

function chavesOf(
  current: ChavesAdn | undefined,
  { adnCertificado, adnChave, adnPfx, adnSenhaArquivo: senha }: SettingValues,
  refuse: Refuse,
): ChavesAdn | undefined {
  if (adnPfx !== undefined && (adnCertificado !== undefined || adnChave !== undefined)) {
    refuse('Use --adn-pfx, ou --adn-certificado com --adn-chave; não os dois.');
    return undefined;
  }
  if (adnPfx === undefined && (adnCertificado ?? adnChave) !== undefined) {
    return pemOf(current, { adnCertificado, adnChave, adnSenhaArquivo: senha }, refuse);
  }
  const before = current !== undefined && 'pfx' in current ? current : undefined;
  const pfx = adnPfx ?? before?.pfx;
  if (pfx === undefined) {
    // Nothing was given about the keys: the current ones stay, and a password file may belong to them.
    if (current !== undefined) return senha === undefined ? current : { ...current, senhaArquivo: senha };
    refuse(
      'Falta o certificado do município: --adn-certificado com --adn-chave, ou --adn-pfx com --adn-senha-arquivo.',
    );
    return undefined;
  }
  const senhaArquivo = senha ?? before?.senhaArquivo;
  if (senhaArquivo !== undefined) return { pfx, senhaArquivo };
  refuse('Com --adn-pfx falta --adn-senha-arquivo: um arquivo com a senha na primeira linha.');
  return undefined;
}

function pemOf(
  current: ChavesAdn | undefined,
  { adnCertificado, adnChave, adnSenhaArquivo }: SettingValues,
  refuse: Refuse,
): ChavesAdn | undefined {
  const before = current !== undefined && 'certificado' in current ? current : undefined;
  const [certificado, chave] = [adnCertificado ?? before?.certificado, adnChave ?? before?.chave];
  if (certificado === undefined) refuse('Falta --adn-certificado, o certificado que é par de --adn-chave.');
  if (chave === undefined) refuse('Falta --adn-chave, a chave privada que é par de --adn-certificado.');
  if (certificado === undefined || chave === undefined) return undefined;
  // A new key has its own password, or none.
  const senhaArquivo = adnSenhaArquivo ?? (adnChave === undefined ? before?.senhaArquivo : undefined);
  return { certificado, chave, ...(senhaArquivo === undefined ? {} : { senhaArquivo }) };
}

export type MunicipioShown = {
  readonly municipio: Municipio;
  /** Form `São Paulo/SP`; undefined for the sandbox. */
  readonly nome: string | undefined;
  readonly certificado: CertificadoShown | undefined;
  /** Establishments of the registry, and lines of each list. */
  readonly prestadores: number;
  readonly listas: Readonly<Record<ListaNome, number>>;
  /** Undefined if no note waits for the national environment. */
  readonly espera: Espera | undefined;
  /** Notes that wait for a rate; undefined if there are none. `desde`: issue of the oldest. */
  readonly retidas: { readonly notas: number; readonly desde: string; readonly motivos: readonly string[] } | undefined;
  /** The worker's latest problem, while it lasts. */
  readonly transmissao: { readonly problema: string; readonly desde: string; readonly vistoEm: string } | undefined;
} & Inspection;

/** Moments as `DD/MM/AAAA HH:MM:SS`, in the time zone of the municipality. */
type Espera = {
  readonly notas: number;
  /** Issue of the oldest one. */
  readonly desde: string;
  /** Undefined: at any moment now. */
  readonly proxima: string | undefined;
};

/** `espera`: notes that wait for the national environment. */
export type MunicipioListed = Municipio & { readonly nome: string | undefined; readonly espera: number };

export async function listMunicipios(world: RegistryWorld): Promise<readonly MunicipioListed[]> {
  const listed = async (municipio: Municipio): Promise<MunicipioListed> => {
    const waiting = await world.store.notas.findWaiting(municipio.tenant);
    return { ...municipio, nome: nameMunicipio(municipio.codigoIbge), espera: waiting?.notas ?? 0 };
  };
  return Promise.all((await world.store.municipios.list()).map(listed));
}

/** A municipality with the current state of its files. Throws an Error in Portuguese if there is no such municipality. */
export async function showMunicipio(world: RegistryWorld, slug: string, via: Via = 'comando'): Promise<MunicipioShown> {
  const municipio = await readMunicipio(world, slug);
  const now = world.now();
  const [trust, adn, counts, waiting, problem, aliquotas, retidas] = await Promise.all([
    inspectConfianca(municipio.confianca, { now }),
    municipio.adn === undefined ? undefined : inspectAdn(municipio.adn, municipio.confianca, now),
    countsOf(world, slug),
    world.store.notas.findWaiting(slug),
    world.store.municipios.findProblem(slug),
    avisosDeAliquotas(world, via),
    world.store.retidas.count(slug),
  ]);
  const tell = (instant: number): string => brazilianMoment(municipalMoment(municipio.codigoIbge, instant));
  return {
    municipio,
    nome: nameMunicipio(municipio.codigoIbge),
    certificado: adn?.certificado,
    ...counts,
    espera: waiting && {
      notas: waiting.notas,
      desde: tell(waiting.desde),
      proxima: waiting.proxima <= now ? undefined : tell(waiting.proxima),
    },
    retidas: retidas && {
      notas: retidas.notas,
      desde: tell(retidas.desde),
      motivos: retidas.motivos.map(({ mensagem, notas }) => `${notas}: ${mensagem}`),
    },
    transmissao: problem && {
      problema: problem.problema,
      desde: tell(problem.desde),
      vistoEm: tell(problem.vistoEm),
    },
    problems: [...trust.problems, ...(adn?.problems ?? [])],
    avisos: [
      ...trust.avisos,
      ...(adn?.avisos ?? []),
      ...remarksOnMissingAliquota(municipio, counts.listas.servicos, via),
      ...remarksOnSettings(municipio, via),
      ...remarksOnAddress(world.baseUrl, municipio, via),
      ...aliquotas,
    ],
  };
}
